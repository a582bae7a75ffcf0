// SPDX-License-Identifier: GPL-2.0
/* A policy's memory, and where its values were read. */
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* freed all at once; a policy is small and short-lived */
struct rp_pool {
	struct rp_pool *next;
	max_align_t memory[];
};

struct rp_place {
	const void *value;
	struct rp_mark mark;
};

/**
 * rp_spec_new() - an empty policy
 *
 * Return: the spec, or NULL without memory.
 */
struct rp_spec *rp_spec_new(void)
{
	return calloc(1, sizeof(struct rp_spec));
}

/**
 * rp_spec_release() - free a policy and its sources
 * @spec: the policy or NULL
 */
void rp_spec_release(struct rp_spec *spec)
{
	if (!spec)
		return;
	while (spec->pool) {
		struct rp_pool *next = spec->pool->next;

		free(spec->pool);
		spec->pool = next;
	}
	rp_source_release(spec->sources);
	free(spec->marks);
	free(spec);
}

/**
 * rp_spec_alloc() - zeroed memory that lives as long as the policy
 * @spec: the policy
 * @size: bytes
 *
 * Return: the memory; the tool ends without any.
 */
void *rp_spec_alloc(struct rp_spec *spec, size_t size)
{
	struct rp_pool *pool = calloc(1, sizeof(*pool) + size);

	if (!pool) {
		rp_complain("out of memory");
		exit(RP_EXIT_FAILURE);
	}
	pool->next = spec->pool;
	spec->pool = pool;
	return pool->memory;
}

/**
 * rp_spec_text() - copy a text
 * @spec: whose it is
 * @text: the text
 */
char *rp_spec_text(struct rp_spec *spec, const char *text)
{
	return strcpy(rp_spec_alloc(spec, strlen(text) + 1), text);
}

/**
 * rp_spec_place() - remember where a value was read
 * @spec: the policy
 * @value: the value, in the model
 * @mark: its place
 */
void rp_spec_place(struct rp_spec *spec, const void *value, const struct rp_mark *mark)
{
	if (spec->mark_count == spec->mark_room) {
		unsigned int room = spec->mark_room ? 2 * spec->mark_room : 64;
		struct rp_place *grown = reallocarray(spec->marks, room, sizeof(*grown));

		if (!grown) {
			rp_complain("out of memory");
			exit(RP_EXIT_FAILURE);
		}
		spec->marks = grown;
		spec->mark_room = room;
	}
	spec->marks[spec->mark_count++] = (struct rp_place){ value, *mark };
}

/**
 * rp_spec_mark() - where a value was read
 * @spec: the policy
 * @value: the value, in the model; a struct that begins at the same address as
 *         its first value is not told from it, and stands at the same place
 *
 * Return: the place or NULL.
 */
const struct rp_mark *rp_spec_mark(const struct rp_spec *spec, const void *value)
{
	for (unsigned int i = 0; i < spec->mark_count; i++)
		if (spec->marks[i].value == value)
			return &spec->marks[i].mark;
	return NULL;
}

/**
 * rp_spec_class_index() - find a class by its name
 * @spec: the policy
 * @name: of the class
 *
 * Return: its index or -1.
 */
int rp_spec_class_index(const struct rp_spec *spec, const char *name)
{
	for (unsigned int i = 0; i < spec->classes.count; i++) {
		const struct rp_spec_class *class = rp_spec_class_at(spec, i);

		if (class->name && !strcmp(class->name, name))
			return i;
	}
	return -1;
}

/**
 * rp_spec_default() - the name of the class of what no rule matches
 * @spec: the policy
 */
const char *rp_spec_default(const struct rp_spec *spec)
{
	return spec->default_class ? spec->default_class : "default";
}
