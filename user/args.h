/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The grammar: rocepath OBJECT VERB [SUBJECT] [KEYWORD VALUE]...
 *
 * One table of objects says all of it; dispatch, usage and completion read it.
 */
#ifndef ROCEPATH_USER_ARGS_H
#define ROCEPATH_USER_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"
#include "words.h"

struct rp_cli;
struct rp_args;

/* what may be written after a keyword, or as the subject */
enum rp_arg_type {
	RP_ARG_NONE,
	RP_ARG_DEVICE,		/* name of a rocepath device */
	RP_ARG_PORT,		/* name of a port */
	RP_ARG_INTERFACE,	/* either */
	RP_ARG_RDMA,		/* name of an RDMA device */
	RP_ARG_OBJECT,		/* name of an object, for help */
	RP_ARG_FILE,
	RP_ARG_NAME,		/* free; the choices are only suggestions */
	RP_ARG_CHOICE,		/* one of the choices, its index is the number */
	RP_ARG_NUMBER,
	RP_ARG_US,
	RP_ARG_MS,
	RP_ARG_BYTES,
	RP_ARG_SECONDS,		/* a bare number, too */
	RP_ARG_FLAG,		/* no value */
	RP_ARG_DELAY,		/* ms; a bare number is seconds */
	RP_ARG_PPM,		/* a share, written in percent */
	RP_ARG_ADDRESS,		/* IPv4 or IPv6 */
	RP_ARG_PEER,		/* address of a peer */
	RP_ARG_EVS,		/* entropy values: 3,7,16-31 */
};

#define RP_NAME_MAX 15		/* of an interface, a scheduler */
#define RP_RDMA_MAX 63		/* of an RDMA device */
#define RP_KEYWORDS_MAX 32
#define RP_SUBJECTS_MAX 16

/**
 * struct rp_keyword - a keyword of a verb
 * @name: as it is written
 * @letter: as it may be written as well: -1; 0: none
 * @type: what its value is
 * @required: the verb needs it
 * @attr: netlink attribute that it sets
 * @min: least number
 * @max: most, 0: whatever fits into 32 bits
 * @choices: NULL-terminated, for RP_ARG_CHOICE and RP_ARG_NAME
 * @zero: word that means 0, such as "auto"
 * @example: of a value, for the usage
 * @help: half a line
 */
struct rp_keyword {
	const char *name;
	char letter;
	enum rp_arg_type type;
	bool required;
	uint16_t attr;
	uint32_t min;
	uint32_t max;
	const char *const *choices;
	const char *zero;
	const char *example;
	const char *help;
};

struct rp_verb {
	const char *name;
	const char *help;
	enum rp_arg_type subject;
	bool subject_required;
	bool subjects;		/* there may be several */
	bool changes;		/* at least one keyword is needed */
	const struct rp_keyword *keywords;
	unsigned int keyword_count;
	int (*run)(struct rp_cli *cli, const struct rp_args *args);
};

/* an object with a single nameless verb is a command by itself */
struct rp_object {
	const char *name;
	const char *help;
	const struct rp_verb *verbs;
	unsigned int verb_count;
	const char *see;	/* where more is said, NULL: in rocepath(8) */
};

struct rp_grammar {
	const struct rp_object *objects;
	unsigned int count;
};

/* addresses and entropy values stay text: rp_address_parse() and rp_evs_parse() take it again */
struct rp_value {
	const struct rp_keyword *keyword;
	const char *text;
	uint32_t number;
};

/**
 * struct rp_args - a command line, understood
 * @verb: what to do
 * @subject: to what, NULL: not given
 * @subjects: the same, where there may be several
 * @subject_count: of them
 * @values: in the order given
 * @count: of values
 */
struct rp_args {
	const struct rp_verb *verb;
	const char *subject;
	const char *subjects[RP_SUBJECTS_MAX];
	unsigned int subject_count;
	struct rp_value values[RP_KEYWORDS_MAX];
	unsigned int count;
};

typedef void (*rp_word_fn)(void *data, enum rp_arg_type type, const char *word);

int rp_args_parse(const struct rp_grammar *grammar, int argc, char *const *argv,
		  struct rp_args *args, struct rp_error *error);
const struct rp_value *rp_args_get(const struct rp_args *args, const char *keyword);
const char *rp_args_text(const struct rp_args *args, const char *keyword);
int rp_args_keyword(const struct rp_verb *verb, const char *word);
const struct rp_object *rp_args_object(const struct rp_grammar *grammar, const char *word,
				       struct rp_error *error);

const struct rp_verb *rp_args_verb(const struct rp_object *object, const char *word,
				   struct rp_error *error);
struct rp_words rp_object_words(const struct rp_grammar *grammar);
struct rp_words rp_verb_words(const struct rp_object *object);
struct rp_words rp_keyword_words(const struct rp_verb *verb);
struct rp_words rp_choice_words(const struct rp_keyword *keyword);
bool rp_arg_is_interface(enum rp_arg_type type);
bool rp_arg_is_address(enum rp_arg_type type);

void rp_usage(const struct rp_grammar *grammar, FILE *out);
void rp_usage_object(const struct rp_object *object, FILE *out);
void rp_complete(const struct rp_grammar *grammar, int argc, char *const *argv, rp_word_fn emit,
		 void *data);

#endif /* ROCEPATH_USER_ARGS_H */
