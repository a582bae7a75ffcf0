// SPDX-License-Identifier: GPL-2.0
/* A policy as a file that says the same, and what differs between two. */
#include <stdlib.h>
#include <string.h>

#include "value.h"

/* where the printer is in the tree */
struct printer {
	FILE *out;
	unsigned int depth;
	bool item;		/* the next key stands behind a '-' */
};

static void print_map(struct printer *p, const struct rp_schema *schema, const void *map);

static void indent(struct printer *p)
{
	for (unsigned int i = 1; i < p->depth; i++)
		fputs("  ", p->out);
	if (p->depth)
		fputs(p->item ? "- " : "  ", p->out);
	p->item = false;
}

static void print_scalars(struct printer *p, const struct rp_key *key, const struct rp_list *list)
{
	char text[RP_VALUE_LEN];

	fputc('\n', p->out);
	for (unsigned int i = 0; i < list->count; i++) {
		rp_value_print(key, (char *)list->items + i * rp_kind_size(key), text);
		for (unsigned int d = 0; d < p->depth; d++)
			fputs("  ", p->out);
		fprintf(p->out, "  - %s\n", text);
	}
}

static void print_maps(struct printer *p, const struct rp_key *key, const struct rp_list *list)
{
	fputc('\n', p->out);
	p->depth += 2;
	for (unsigned int i = 0; i < list->count; i++) {
		p->item = true;
		print_map(p, key->map, (char *)list->items + i * key->map->size);
	}
	p->depth -= 2;
}

static void print_key(struct printer *p, const struct rp_key *key, const void *field)
{
	char text[RP_VALUE_LEN];

	indent(p);
	fprintf(p->out, "%s:", key->name);
	if (key->items && !((const struct rp_list *)field)->count) {
		fputs(" []\n", p->out);
	} else if (key->items && key->kind == RP_KIND_MAP) {
		print_maps(p, key, field);
	} else if (key->items) {
		print_scalars(p, key, field);
	} else if (key->kind == RP_KIND_MAP) {
		fputs(*(const uint64_t *)field ? "\n" : " {}\n", p->out);
		p->depth++;
		print_map(p, key->map, field);
		p->depth--;
	} else {
		rp_value_print(key, field, text);
		fprintf(p->out, " %s\n", text);
	}
}

static void print_map(struct printer *p, const struct rp_schema *schema, const void *map)
{
	for (unsigned int i = 0; i < schema->count; i++)
		if (rp_given(map, i))
			print_key(p, &schema->keys[i], rp_field_of(map, &schema->keys[i]));
}

/**
 * rp_spec_print() - print a policy as a file that says the same
 * @spec: the policy
 * @out: where
 */
void rp_spec_print(const struct rp_spec *spec, FILE *out)
{
	struct printer printer = { .out = out };

	print_map(&printer, &rp_spec_schema, spec);
}

static void fill_map(struct rp_spec *spec, const struct rp_schema *schema, void *map);

static void fill_key(struct rp_spec *spec, const struct rp_key *key, void *map,
		     unsigned int index)
{
	struct rp_list *list = rp_field_of(map, key);

	if (key->preset && !rp_given(map, index)) {
		rp_value_parse(spec, key, key->preset, list, NULL);
		*(uint64_t *)map |= 1ull << index;
	} else if (key->kind == RP_KIND_MAP && key->items) {
		for (unsigned int i = 0; i < list->count; i++)
			fill_map(spec, key->map, (char *)list->items + i * key->map->size);
	} else if (key->kind == RP_KIND_MAP && key->map->presets) {
		fill_map(spec, key->map, list);
		*(uint64_t *)map |= 1ull << index;
	}
}

static void fill_map(struct rp_spec *spec, const struct rp_schema *schema, void *map)
{
	for (unsigned int i = 0; i < schema->count; i++)
		fill_key(spec, &schema->keys[i], map, i);
}

static void fill_default_class(struct rp_spec *spec)
{
	const struct rp_schema *schema = &rp_spec_schema;
	const struct rp_key *classes = &schema->keys[RP_KEY_POLICY_CLASSES];
	struct rp_spec_class *class;

	if (!spec->default_class)
		spec->default_class = rp_spec_text(spec, rp_spec_default(spec));
	spec->given |= 1ull << RP_KEY_POLICY_DEFAULT_CLASS | 1ull << RP_KEY_POLICY_CLASSES;
	if (rp_spec_class_index(spec, spec->default_class) >= 0)
		return;
	if (!spec->classes.items)
		spec->classes.items = rp_spec_alloc(spec, classes->items * sizeof(*class));
	class = rp_spec_class_at(spec, spec->classes.count++);
	class->name = spec->default_class;
	class->given = 1ull << RP_KEY_CLASS_NAME;
}

static void fill_dscps(struct rp_spec_class *class)
{
	if (!rp_given(class, RP_KEY_CLASS_ACK_DSCP))
		class->ack_dscp = class->dscp;
	if (!rp_given(class, RP_KEY_CLASS_CNP_DSCP))
		class->cnp_dscp = RP_CNP_DSCP_DEFAULT;
	if (!rp_given(class, RP_KEY_CLASS_MANAGEMENT_DSCP))
		class->management_dscp = class->dscp;
	class->given |= 1ull << RP_KEY_CLASS_ACK_DSCP | 1ull << RP_KEY_CLASS_CNP_DSCP |
			1ull << RP_KEY_CLASS_MANAGEMENT_DSCP;
}

/* not above that of the whole, which counts as well; @burst: of the whole, 0: it has none */
static uint64_t burst_within(uint64_t burst)
{
	return burst && burst < RP_BURST_DEFAULT ? burst : RP_BURST_DEFAULT;
}

/* defaults that depend on what else is said */
static void fill_rest(struct rp_spec *spec)
{
	if (rp_given(&spec->pacing, RP_KEY_PACING_RATE) &&
	    !rp_given(&spec->pacing, RP_KEY_PACING_BURST)) {
		spec->pacing.burst = RP_BURST_DEFAULT;
		spec->pacing.given |= 1ull << RP_KEY_PACING_BURST;
	}
	for (unsigned int i = 0; i < spec->classes.count; i++) {
		struct rp_spec_class *class = rp_spec_class_at(spec, i);

		if (rp_given(class, RP_KEY_CLASS_DSCP))
			fill_dscps(class);
		if (rp_given(class, RP_KEY_CLASS_RATE) && !rp_given(class, RP_KEY_CLASS_BURST)) {
			class->burst = burst_within(spec->pacing.burst);
			class->given |= 1ull << RP_KEY_CLASS_BURST;
		}
		if (rp_given(class, RP_KEY_CLASS_QP_RATE) &&
		    !rp_given(class, RP_KEY_CLASS_QP_BURST)) {
			class->qp_burst = burst_within(class->burst);
			class->given |= 1ull << RP_KEY_CLASS_QP_BURST;
		}
	}
	if (spec->admit.peers.count && !rp_given(&spec->admit, RP_KEY_ADMIT_UNKNOWN_PEER)) {
		spec->admit.unknown_peer = RP_VERDICT_DROP;
		spec->admit.given |= 1ull << RP_KEY_ADMIT_UNKNOWN_PEER;
	}
}

/**
 * rp_spec_fill() - write out what a policy leaves to its defaults
 * @spec: one that rp_spec_check() found right
 */
void rp_spec_fill(struct rp_spec *spec)
{
	fill_default_class(spec);
	fill_map(spec, &rp_spec_schema, spec);
	fill_rest(spec);
}
