/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a policy file may say: one table for each mapping, from which files are
 * read and policies are printed, compared and documented.
 *
 * The struct of a mapping begins with a uint64_t of bits, one for each key that
 * was given; its keys are numbered by an enum, which indexes the table.
 */
#ifndef ROCEPATH_USER_POLICY_SCHEMA_H
#define ROCEPATH_USER_POLICY_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../words.h"

enum rp_kind {
	RP_KIND_NAME,		/* char *: letters, digits, '-', '_' and '.' */
	RP_KIND_INTERFACE,	/* char *: a netdevice */
	RP_KIND_TEXT,		/* char * */
	RP_KIND_NUMBER,		/* all numbers are uint64_t */
	RP_KIND_DSCP,
	RP_KIND_US,
	RP_KIND_MS,
	RP_KIND_BYTES,
	RP_KIND_PPM,		/* millionths, written in percent */
	RP_KIND_RATE,		/* bytes per second, written as bits */
	RP_KIND_SWITCH,		/* off: 0, on: 1 */
	RP_KIND_CHOICE,		/* index into the choices */
	RP_KIND_CHOICES,	/* a list of choices, as bits */
	RP_KIND_PREFIX,		/* struct rp_prefix */
	RP_KIND_MAP,		/* a struct by itself */
};

/* IPv4 is mapped: 10.0.0.0/8 is ::ffff:10.0.0.0/104 */
struct rp_prefix {
	uint8_t address[16];
	uint8_t length;
};

struct rp_list {
	void *items;
	unsigned int count;
};

/**
 * struct rp_key - a key of a mapping
 * @name: as it is written
 * @kind: of its value
 * @offset: of the value in the struct of the mapping
 * @items: how many the list may have, 0: it is no list
 * @required: the mapping must have it
 * @min: least number
 * @max: most; for texts their longest, in bytes
 * @zero: a word that means 0
 * @choices: NULL-terminated
 * @map: the schema of the mapping inside
 * @preset: what it is when it is not given; NULL: nothing
 * @example: a value that is right
 * @ordered: the order of the items matters
 */
struct rp_key {
	const char *name;
	enum rp_kind kind;
	size_t offset;
	unsigned int items;
	bool required;
	uint64_t min;
	uint64_t max;
	const char *zero;
	const char *const *choices;
	const struct rp_schema *map;
	const char *preset;
	const char *example;
	bool ordered;
};

/**
 * struct rp_schema - the keys of a mapping
 * @what: it is, for complaints
 * @keys: table, indexed by the mapping's enum
 * @count: of keys
 * @size: of its struct
 * @presets: its defaults hold where the mapping is not given, too
 */
struct rp_schema {
	const char *what;
	const struct rp_key *keys;
	unsigned int count;
	size_t size;
	bool presets;
};

extern const struct rp_schema rp_spec_schema;

struct rp_words rp_schema_words(const struct rp_schema *schema);
struct rp_words rp_key_choices(const struct rp_key *key);
size_t rp_kind_size(const struct rp_key *key);

static inline bool rp_given(const void *map, unsigned int key)
{
	return *(const uint64_t *)map >> key & 1;
}

static inline void *rp_field_of(const void *map, const struct rp_key *key)
{
	return (char *)map + key->offset;
}

#endif /* ROCEPATH_USER_POLICY_SCHEMA_H */
