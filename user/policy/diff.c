// SPDX-License-Identifier: GPL-2.0
/*
 * Two policies are compared as sets of statements, such as
 * "classes.training.rate: 40Gbit": where a file says something, and in which
 * words, makes no difference. Only of rules the order matters.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

struct statements {
	char **at;
	unsigned int count;
};

static void collect_map(struct statements *s, const char *path, const struct rp_schema *schema,
			const void *map);

static char *join(const char *format, ...) RP_PRINTF(1, 2);

static char *join(const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len >= 0)
		return text;
	rp_complain("out of memory");
	exit(RP_EXIT_FAILURE);
}

static void add(struct statements *s, const char *path, const char *text)
{
	char **grown = reallocarray(s->at, s->count + 1, sizeof(*grown));

	if (!grown) {
		rp_complain("out of memory");
		exit(RP_EXIT_FAILURE);
	}
	s->at = grown;
	s->at[s->count++] = join("%s: %s", path, text);
}

/* the first key of an item is its name */
static const char *name_of(const struct rp_key *key, const void *item)
{
	const char *name = *(char **)rp_field_of(item, &key->map->keys[0]);

	return name ? name : "";
}

static void add_order(struct statements *s, const char *path, const struct rp_key *key,
		      const struct rp_list *list)
{
	char *names = NULL;
	size_t len;
	FILE *out = open_memstream(&names, &len);

	for (unsigned int i = 0; out && i < list->count; i++)
		fprintf(out, "%s%s", i ? " " : "",
			name_of(key, (char *)list->items + i * key->map->size));
	if (out && !fclose(out))
		add(s, path, names);
	free(names);
}

static void collect_list(struct statements *s, const char *path, const struct rp_key *key,
			 const struct rp_list *list)
{
	char text[RP_VALUE_LEN];

	for (unsigned int i = 0; i < list->count; i++) {
		const void *item = (char *)list->items + i * rp_kind_size(key);

		if (key->kind == RP_KIND_MAP) {
			char *below = join("%s[%s]", path, name_of(key, item));

			collect_map(s, below, key->map, item);
			free(below);
		} else {
			rp_value_print(key, item, text);
			add(s, path, text);
		}
	}
	if (key->ordered && list->count)
		add_order(s, path, key, list);
}

static void collect_map(struct statements *s, const char *path, const struct rp_schema *schema,
			const void *map)
{
	char text[RP_VALUE_LEN];

	for (unsigned int i = 0; i < schema->count; i++) {
		const struct rp_key *key = &schema->keys[i];
		const void *field = rp_field_of(map, key);
		char *below;

		if (!rp_given(map, i))
			continue;
		below = join("%s%s%s", path, *path ? "." : "", key->name);
		if (key->items) {
			collect_list(s, below, key, field);
		} else if (key->kind == RP_KIND_MAP) {
			collect_map(s, below, key->map, field);
		} else {
			rp_value_print(key, field, text);
			add(s, below, text);
		}
		free(below);
	}
}

static void drop(struct statements *s)
{
	while (s->count)
		free(s->at[--s->count]);
	free(s->at);
}

static bool has(const struct statements *s, const char *statement)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (!strcmp(s->at[i], statement))
			return true;
	return false;
}

static int print_missing(const struct statements *s, const struct statements *other, char sign,
			 FILE *out)
{
	int lines = 0;

	for (unsigned int i = 0; i < s->count; i++)
		if (!has(other, s->at[i])) {
			fprintf(out, "%c %s\n", sign, s->at[i]);
			lines++;
		}
	return lines;
}

/**
 * rp_spec_diff() - print what differs between two policies
 * @before: the one in force, NULL: none
 * @after: the other one, NULL: none
 * @out: where; a line for each statement that goes ('-') or comes ('+')
 *
 * Return: the number of lines.
 */
int rp_spec_diff(const struct rp_spec *before, const struct rp_spec *after, FILE *out)
{
	struct statements old = { 0 }, new = { 0 };
	int lines;

	if (before)
		collect_map(&old, "", &rp_spec_schema, before);
	if (after)
		collect_map(&new, "", &rp_spec_schema, after);
	lines = print_missing(&old, &new, '-', out);
	lines += print_missing(&new, &old, '+', out);
	drop(&old);
	drop(&new);
	return lines;
}
