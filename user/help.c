// SPDX-License-Identifier: GPL-2.0
/* What the grammar says about itself: usage, and completion. */
#include <string.h>

#include "args.h"
#include "units.h"

#define OPTIONAL_WRITTEN 2
#define VERBS_WIDTH 20	/* longer ones have a line of their own */

static const char *subject_metavar(enum rp_arg_type type)
{
	switch (type) {
	case RP_ARG_DEVICE:
	case RP_ARG_RDMA:
		return "DEV";
	case RP_ARG_PORT:
		return "PORT";
	case RP_ARG_INTERFACE:
		return "DEV|PORT";
	case RP_ARG_FILE:
		return "FILE";
	case RP_ARG_PEER:
		return "PEER";
	default:
		return "OBJECT";
	}
}

/* a few are written out; more are a list below */
static void usage_optional(const struct rp_verb *verb, FILE *out)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < verb->keyword_count; i++)
		count += !verb->keywords[i].required;
	if (count > OPTIONAL_WRITTEN) {
		fprintf(out, " [KEYWORD VALUE]...");
		return;
	}
	for (unsigned int i = 0; i < verb->keyword_count; i++) {
		const struct rp_keyword *keyword = &verb->keywords[i];

		if (!keyword->required)
			fprintf(out, " [%s%s%s]", keyword->name, keyword->example ? " " : "",
				keyword->example ? keyword->example : "");
	}
}

static void usage_verb(const struct rp_object *object, const struct rp_verb *verb, FILE *out)
{
	fprintf(out, "  rocepath %s%s%s", object->name, *verb->name ? " " : "", verb->name);
	if (verb->subject != RP_ARG_NONE)
		fprintf(out, verb->subject_required ? " %s" : verb->subjects ? " [%s]..." :
			" [%s]", subject_metavar(verb->subject));
	for (unsigned int i = 0; i < verb->keyword_count; i++)
		if (verb->keywords[i].required)
			fprintf(out, " %s %s", verb->keywords[i].name, verb->keywords[i].example);
	usage_optional(verb, out);
	fprintf(out, "\n      %s\n", verb->help);
}

static void usage_keyword(const struct rp_keyword *keyword, FILE *out)
{
	char left[RP_TEXT_LEN];

	snprintf(left, sizeof(left), "%s %s%s%s", keyword->name,
		 keyword->example ? keyword->example : "",
		 keyword->zero ? "|" : "", keyword->zero ? keyword->zero : "");
	fprintf(out, "        %-28s %s\n", left, keyword->help);
}

/**
 * rp_usage_object() - print all that can be said of one object
 * @object: the object
 * @out: where
 */
void rp_usage_object(const struct rp_object *object, FILE *out)
{
	for (unsigned int i = 0; i < object->verb_count; i++) {
		const struct rp_verb *verb = &object->verbs[i];

		usage_verb(object, verb, out);
		for (unsigned int k = 0; k < verb->keyword_count; k++)
			usage_keyword(&verb->keywords[k], out);
	}
	fprintf(out, "see %s\n", object->see ? object->see : "rocepath(8)");
}

/**
 * rp_usage() - print how the tool is used
 * @grammar: all objects
 * @out: where
 */
void rp_usage(const struct rp_grammar *grammar, FILE *out)
{
	fputs("usage: rocepath [-j] [-p] [OBJECT [VERB] [SUBJECT] [KEYWORD VALUE]...]\n\n"
	      "  without arguments: how the devices are, and what to do next\n"
	      "  -j, --json     JSON, numbers in the unit that their name ends with\n"
	      "  -p, --pretty   JSON, indented\n"
	      "  -h, --help     this text; `rocepath help OBJECT` says more\n"
	      "  -V, --version  the version of the tool\n\n"
	      "objects (they and their verbs may be shortened):\n", out);
	for (unsigned int i = 0; i < grammar->count; i++) {
		const struct rp_object *object = &grammar->objects[i];
		char verbs[2 * RP_TEXT_LEN] = "", own_line[RP_TEXT_LEN] = "";

		for (unsigned int v = 0; v < object->verb_count; v++)
			snprintf(verbs + strlen(verbs), sizeof(verbs) - strlen(verbs), "%s%s",
				 v ? "|" : "", object->verbs[v].name);
		if (strlen(verbs) > VERBS_WIDTH)
			snprintf(own_line, sizeof(own_line), "\n%*s", 12 + VERBS_WIDTH, "");
		fprintf(out, "  %-9s %-*s%s %s\n", object->name, VERBS_WIDTH, verbs, own_line,
			object->help);
	}
}

static void emit_words(const struct rp_words *words, rp_word_fn emit, void *data)
{
	for (unsigned int i = 0; i < words->count; i++)
		emit(data, RP_ARG_NONE, words->name(words->entries, i));
}

static void complete_value(const struct rp_keyword *keyword, rp_word_fn emit, void *data)
{
	if (keyword->choices) {
		struct rp_words words = rp_choice_words(keyword);

		emit_words(&words, emit, data);
	} else if (rp_arg_is_interface(keyword->type) || keyword->type == RP_ARG_FILE ||
		   keyword->type == RP_ARG_PEER || keyword->type == RP_ARG_RDMA) {
		emit(data, keyword->type, NULL);
	} else {
		emit(data, RP_ARG_NONE, keyword->example);
	}
	if (keyword->zero)
		emit(data, RP_ARG_NONE, keyword->zero);
}

/* a keyword may be typed with "--" before it */
static const char *bare(const char *word)
{
	return word + (strncmp(word, "--", 2) ? 0 : 2);
}

/*
 * Goes over what was typed; @open is the keyword whose value is to come, or NULL.
 * Returns whether it was understood: after a mistake nothing can be offered.
 */
static bool pass_keywords(const struct rp_verb *verb, int argc, char *const *argv, bool *given,
			  const struct rp_keyword **open)
{
	*open = NULL;
	for (int i = 0; i < argc; i++) {
		int found;

		if (*open) {
			*open = NULL;
			continue;
		}
		found = rp_args_keyword(verb, bare(argv[i]));
		if (found < 0)
			return false;
		given[found] = true;
		if (verb->keywords[found].type != RP_ARG_FLAG)
			*open = &verb->keywords[found];
	}
	return true;
}

static void complete_keyword(const struct rp_verb *verb, int argc, char *const *argv,
			     rp_word_fn emit, void *data)
{
	bool given[RP_KEYWORDS_MAX] = { false };
	const struct rp_keyword *open;

	if (!pass_keywords(verb, argc, argv, given, &open))
		return;
	if (open) {
		complete_value(open, emit, data);
		return;
	}
	for (unsigned int i = 0; i < verb->keyword_count; i++)
		if (!given[i])
			emit(data, RP_ARG_NONE, verb->keywords[i].name);
}

static void complete_verb(const struct rp_grammar *grammar, const struct rp_verb *verb, int argc,
			  char *const *argv, rp_word_fn emit, void *data)
{
	struct rp_words words;

	if (verb->subject == RP_ARG_OBJECT && !argc) {
		words = rp_object_words(grammar);
		emit_words(&words, emit, data);
		return;
	}
	while (verb->subjects && argc && rp_args_keyword(verb, bare(argv[0])) < 0) {
		argv++;
		argc--;
	}
	if (verb->subject != RP_ARG_NONE && !argc)
		emit(data, verb->subject, NULL);
	if (verb->subject != RP_ARG_NONE && argc && rp_args_keyword(verb, bare(argv[0])) < 0) {
		argv++;
		argc--;
	} else if (!argc && verb->subject_required) {
		return;
	}
	complete_keyword(verb, argc, argv, emit, data);
}

/**
 * rp_complete() - say what may come next
 * @grammar: all that can be said
 * @argc: words that stand before
 * @argv: the words
 * @emit: called with each word; for interfaces and files with only the type
 * @data: for @emit
 */
void rp_complete(const struct rp_grammar *grammar, int argc, char *const *argv, rp_word_fn emit,
		 void *data)
{
	const struct rp_object *object;
	const struct rp_verb *verb;
	struct rp_words words;

	if (!argc) {
		words = rp_object_words(grammar);
		emit_words(&words, emit, data);
		return;
	}
	object = rp_args_object(grammar, argv[0], NULL);
	if (!object)
		return;
	verb = object->verbs;
	if (!*verb->name) {
		complete_verb(grammar, verb, argc - 1, argv + 1, emit, data);
	} else if (argc == 1) {
		words = rp_verb_words(object);
		emit_words(&words, emit, data);
	} else {
		verb = rp_args_verb(object, argv[1], NULL);
		if (verb)
			complete_verb(grammar, verb, argc - 2, argv + 2, emit, data);
	}
}
