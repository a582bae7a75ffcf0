// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "units.h"

static const char *object_name(const void *entries, unsigned int i)
{
	return ((const struct rp_object *)entries)[i].name;
}

static const char *verb_name(const void *entries, unsigned int i)
{
	return ((const struct rp_verb *)entries)[i].name;
}

static const char *keyword_name(const void *entries, unsigned int i)
{
	return ((const struct rp_keyword *)entries)[i].name;
}

static const char *choice_name(const void *entries, unsigned int i)
{
	return ((const char *const *)entries)[i];
}

/**
 * rp_object_words() - the names of all objects
 * @grammar: all that can be said
 */
struct rp_words rp_object_words(const struct rp_grammar *grammar)
{
	return (struct rp_words){ grammar->objects, grammar->count, object_name };
}

/**
 * rp_verb_words() - the names of the verbs of an object
 * @object: the object
 */
struct rp_words rp_verb_words(const struct rp_object *object)
{
	return (struct rp_words){ object->verbs, object->verb_count, verb_name };
}

/**
 * rp_keyword_words() - the names of the keywords of a verb
 * @verb: the verb
 */
struct rp_words rp_keyword_words(const struct rp_verb *verb)
{
	return (struct rp_words){ verb->keywords, verb->keyword_count, keyword_name };
}

/**
 * rp_choice_words() - what may be, or is usually, given to a keyword
 * @keyword: one that has choices
 */
struct rp_words rp_choice_words(const struct rp_keyword *keyword)
{
	struct rp_words words = { keyword->choices, 0, choice_name };

	while (keyword->choices[words.count])
		words.count++;
	return words;
}

/**
 * rp_arg_is_interface() - whether the name of a netdevice is wanted
 * @type: what is wanted
 */
bool rp_arg_is_interface(enum rp_arg_type type)
{
	return type == RP_ARG_DEVICE || type == RP_ARG_PORT || type == RP_ARG_INTERFACE;
}

/**
 * rp_arg_is_address() - whether an address is wanted
 * @type: what is wanted
 */
bool rp_arg_is_address(enum rp_arg_type type)
{
	return type == RP_ARG_ADDRESS || type == RP_ARG_PEER;
}

static int check_name(enum rp_arg_type type, const char *text, struct rp_error *error)
{
	size_t max = type == RP_ARG_RDMA ? RP_RDMA_MAX : RP_NAME_MAX;

	if (!*text)
		return rp_error_set(error, "a name is empty");
	if (strlen(text) > max)
		return rp_error_set(error, "name '%s' is longer than %zu", text, max);
	return 0;
}

static enum rp_unit unit_of(enum rp_arg_type type)
{
	switch (type) {
	case RP_ARG_US:
		return RP_UNIT_US;
	case RP_ARG_MS:
	case RP_ARG_DELAY:
		return RP_UNIT_MS;
	case RP_ARG_PPM:
		return RP_UNIT_PPM;
	default:
		return RP_UNIT_BYTES;
	}
}

static int check_range(const struct rp_keyword *keyword, uint64_t number, struct rp_error *error)
{
	uint32_t max = keyword->max ? keyword->max : UINT32_MAX;
	char least[RP_TEXT_LEN], most[RP_TEXT_LEN];
	enum rp_unit unit = unit_of(keyword->type);

	if (number >= keyword->min && number <= max)
		return 0;
	if (keyword->type == RP_ARG_NUMBER || keyword->type == RP_ARG_SECONDS)
		return rp_error_set(error, "%s must be %u to %u", keyword->name, keyword->min, max);
	rp_unit_print(unit, keyword->min, least);
	rp_unit_print(unit, max, most);
	return rp_error_set(error, "%s must be %s to %s", keyword->name, least, most);
}

static int parse_choice(const struct rp_keyword *keyword, struct rp_value *value,
			struct rp_error *error)
{
	struct rp_words words = rp_choice_words(keyword);
	int found = rp_words_find(&words, keyword->name, value->text, error);

	if (found < 0)
		return -1;
	value->number = found;
	return 0;
}

/* as top(1) and watch(1) take it: a bare number is seconds */
static int parse_delay(const char *text, uint64_t *number, struct rp_error *error)
{
	char seconds[RP_TEXT_LEN];

	if (!*text || strspn(text, "0123456789.") != strlen(text) || strlen(text) > RP_TEXT_LEN / 2)
		return rp_unit_parse(RP_UNIT_MS, text, number, error);
	snprintf(seconds, sizeof(seconds), "%ss", text);
	return rp_unit_parse(RP_UNIT_MS, seconds, number, error);
}

static int parse_number(const struct rp_keyword *keyword, const char *text, uint64_t *number,
			struct rp_error *error)
{
	switch (keyword->type) {
	case RP_ARG_SECONDS:
		if (!rp_number_parse(text, number, NULL))
			return 0;
		if (rp_unit_parse(RP_UNIT_MS, text, number, error))
			return -1;
		if (*number % 1000)
			return rp_error_set(error, "'%s' is not a whole number of seconds", text);
		*number /= 1000;
		return 0;
	case RP_ARG_US:
	case RP_ARG_MS:
	case RP_ARG_PPM:
	case RP_ARG_BYTES:
		return rp_unit_parse(unit_of(keyword->type), text, number, error);
	case RP_ARG_DELAY:
		return parse_delay(text, number, error);
	default:
		return rp_number_parse(text, number, error);
	}
}

/* it is only looked at here, and read where it is used */
static int check_text(const struct rp_keyword *keyword, const char *text, struct rp_error *error)
{
	uint8_t evs[RP_EVS_MAX], address[RP_ADDRESS_LEN];
	struct rp_error why;
	int ret = keyword->type == RP_ARG_EVS ? rp_evs_parse(text, evs, &why) :
						rp_address_parse(text, address, &why);

	if (ret >= 0)
		return 0;
	return rp_error_set(error, "%s %s%s%s", keyword->name, why.text,
			    keyword->zero ? ", or " : "", keyword->zero ? keyword->zero : "");
}

static int parse_value(const struct rp_keyword *keyword, struct rp_value *value,
		       struct rp_error *error)
{
	struct rp_error why;
	uint64_t number;

	value->keyword = keyword;
	if (keyword->type == RP_ARG_FILE)
		return 0;
	if (rp_arg_is_interface(keyword->type) || keyword->type == RP_ARG_NAME ||
	    keyword->type == RP_ARG_RDMA)
		return check_name(keyword->type, value->text, error);
	if (keyword->type == RP_ARG_CHOICE)
		return parse_choice(keyword, value, error);
	value->number = 0;
	if (keyword->zero && !strcmp(value->text, keyword->zero))
		return 0;
	if (rp_arg_is_address(keyword->type) || keyword->type == RP_ARG_EVS)
		return check_text(keyword, value->text, error);
	if (parse_number(keyword, value->text, &number, &why))
		return rp_error_set(error, "%s %s%s%s", keyword->name, why.text,
				    keyword->zero ? ", or " : "",
				    keyword->zero ? keyword->zero : "");
	if (check_range(keyword, number, error))
		return -1;
	value->number = number;
	return 0;
}

/**
 * rp_args_keyword() - find a keyword of a verb by its name or its letter
 * @verb: whose keyword
 * @word: as it was typed, without the -- that it may begin with
 *
 * Return: its index or -1.
 */
int rp_args_keyword(const struct rp_verb *verb, const char *word)
{
	struct rp_words words = rp_keyword_words(verb);

	if (word[0] != '-' || !word[1] || word[2])
		return rp_words_exact(&words, word);
	for (unsigned int i = 0; i < verb->keyword_count; i++)
		if (verb->keywords[i].letter == word[1])
			return i;
	return -1;
}

/* returns how many words it took, or -1 */
static int parse_keyword(struct rp_args *args, const char *word, const char *text,
			 struct rp_error *error)
{
	struct rp_words words = rp_keyword_words(args->verb);
	const struct rp_keyword *keyword;
	int found;

	/* `try FILE --timeout 120` is as good */
	word += strncmp(word, "--", 2) ? 0 : 2;
	found = rp_args_keyword(args->verb, word);

	if (found < 0)
		return rp_words_unknown(&words, "keyword", word, error);
	keyword = &args->verb->keywords[found];
	if (rp_args_get(args, keyword->name))
		return rp_error_set(error, "%s is given twice", keyword->name);
	if (keyword->type == RP_ARG_FLAG) {
		args->values[args->count++] = (struct rp_value){ keyword, keyword->name, 1 };
		return 1;
	}
	if (!text)
		return rp_error_set(error, "%s needs a value, such as %s", keyword->name,
				    keyword->example);
	args->values[args->count].text = text;
	return parse_value(keyword, &args->values[args->count++], error) ? -1 : 2;
}

static int check_subject(enum rp_arg_type type, const char *text, struct rp_error *error)
{
	uint8_t address[RP_ADDRESS_LEN];

	if (rp_arg_is_address(type))
		return rp_address_parse(text, address, error);
	return rp_arg_is_interface(type) || type == RP_ARG_RDMA ? check_name(type, text, error) : 0;
}

static bool is_subject(const struct rp_words *keywords, const char *word)
{
	return rp_words_exact(keywords, word) < 0 && strncmp(word, "--", 2);
}

/* where there may be several, more may follow the first; returns how many words it took, or -1 */
static int parse_subjects(struct rp_args *args, int argc, char *const *argv,
			  struct rp_error *error)
{
	struct rp_words words = rp_keyword_words(args->verb);
	int used = 0;

	for (; used < argc && is_subject(&words, argv[used]); used++) {
		if (args->subject_count == RP_SUBJECTS_MAX)
			return rp_error_set(error, "more than %d names", RP_SUBJECTS_MAX);
		if (check_subject(args->verb->subject, argv[used], error))
			return -1;
		args->subjects[args->subject_count++] = argv[used];
	}
	return used;
}

/* returns how many words it took, or -1 */
static int parse_subject(struct rp_args *args, int argc, char *const *argv, struct rp_error *error)
{
	const struct rp_verb *verb = args->verb;
	struct rp_words words = rp_keyword_words(verb);
	int used = 0;

	if (verb->subject == RP_ARG_NONE)
		return 0;
	if (verb->subjects)
		return parse_subjects(args, argc, argv, error);
	/* `device show dev rp0`, as ip(8) would have it */
	if ((verb->subject == RP_ARG_DEVICE || verb->subject == RP_ARG_RDMA) && argc > 1 &&
	    !strcmp(argv[0], "dev"))
		used++;
	if (argc > used && (used || is_subject(&words, argv[0]))) {
		args->subject = argv[used++];
		if (check_subject(verb->subject, args->subject, error))
			return -1;
	}
	if (!args->subject && verb->subject_required)
		return rp_error_set(error, "%s needs the %s of a %s",
				    *verb->name ? verb->name : "it",
				    verb->subject == RP_ARG_PEER ? "address" : "name",
				    verb->subject == RP_ARG_DEVICE ? "device" :
				    verb->subject == RP_ARG_RDMA ? "RDMA device" :
				    verb->subject == RP_ARG_FILE ? "file" :
				    verb->subject == RP_ARG_PEER ? "peer" : "port");
	return used;
}

static int check_required(const struct rp_args *args, struct rp_error *error)
{
	const struct rp_verb *verb = args->verb;

	for (unsigned int i = 0; i < verb->keyword_count; i++) {
		const struct rp_keyword *keyword = &verb->keywords[i];

		if (keyword->required && !rp_args_get(args, keyword->name))
			return rp_error_set(error, "%s needs %s, such as: %s %s", verb->name,
					    keyword->name, keyword->name,
					    keyword->example);
	}
	if (verb->changes && !args->count)
		return rp_error_set(error, "nothing to set: add a keyword, such as %s %s",
				    verb->keywords[0].name, verb->keywords[0].example);
	return 0;
}

/**
 * rp_args_verb() - find a verb by its name or the beginning of it
 * @object: whose verb
 * @word: as it was typed
 * @error: why not
 *
 * Return: the verb or NULL.
 */
const struct rp_verb *rp_args_verb(const struct rp_object *object, const char *word,
				   struct rp_error *error)
{
	struct rp_words words = rp_verb_words(object);
	int found = rp_words_find(&words, "verb", word, error);

	return found < 0 ? NULL : &object->verbs[found];
}

/**
 * rp_args_object() - find an object by its name or the beginning of it
 * @grammar: all objects
 * @word: as it was typed
 * @error: why not
 *
 * Return: the object or NULL.
 */
const struct rp_object *rp_args_object(const struct rp_grammar *grammar, const char *word,
				       struct rp_error *error)
{
	struct rp_words words = rp_object_words(grammar);
	int found = rp_words_find(&words, "object", word, error);

	return found < 0 ? NULL : &grammar->objects[found];
}

/**
 * rp_args_parse() - understand a command line
 * @grammar: all that can be said
 * @argc: number of words, without options and the name of the tool; at least 1
 * @argv: the words; @args refers to them
 * @args: what was understood
 * @error: why it was not, and what would be right
 *
 * An object without a verb is shown: `rocepath port` is `rocepath port show`.
 *
 * Return: 0 or -1.
 */
int rp_args_parse(const struct rp_grammar *grammar, int argc, char *const *argv,
		  struct rp_args *args, struct rp_error *error)
{
	const struct rp_object *object = rp_args_object(grammar, argv[0], error);
	int used = 1, taken;

	memset(args, 0, sizeof(*args));
	if (!object)
		return -1;
	args->verb = object->verbs;
	if (*object->verbs->name && argc > 1)
		args->verb = rp_args_verb(object, argv[used++], error);
	if (!args->verb)
		return -1;
	taken = parse_subject(args, argc - used, argv + used, error);
	if (taken < 0)
		return -1;
	for (used += taken; used < argc; used += taken) {
		taken = parse_keyword(args, argv[used], used + 1 < argc ? argv[used + 1] : NULL,
				      error);
		if (taken < 0)
			return -1;
	}
	return check_required(args, error);
}

/**
 * rp_args_get() - what a keyword was given
 * @args: the command line
 * @keyword: its name
 *
 * Return: NULL when it was not given.
 */
const struct rp_value *rp_args_get(const struct rp_args *args, const char *keyword)
{
	for (unsigned int i = 0; i < args->count; i++)
		if (!strcmp(args->values[i].keyword->name, keyword))
			return &args->values[i];
	return NULL;
}

/**
 * rp_args_text() - what a keyword was given, as it was typed
 * @args: the command line
 * @keyword: its name
 *
 * Return: NULL when it was not given.
 */
const char *rp_args_text(const struct rp_args *args, const char *keyword)
{
	const struct rp_value *value = rp_args_get(args, keyword);

	return value ? value->text : NULL;
}
