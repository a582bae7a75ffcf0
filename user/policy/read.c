// SPDX-License-Identifier: GPL-2.0
/*
 * From YAML to the model, by the tables of schema.c. What is wrong is said with
 * its place, all of it in one go.
 *
 * libcyaml would fill structs by such tables too. But version 1.3 stops at the
 * first fault, names no line at all, and keeps no places for the checks that only
 * begin when all has been read: a class that a rule names, a port that two
 * devices have. So this walks the document of libyaml, which is below libcyaml
 * as well, and whose nodes keep their marks.
 */
#include <inttypes.h>
#include <string.h>
#include <yaml.h>

#include "value.h"

struct reader {
	struct rp_spec *spec;
	const struct rp_source *source;
	struct rp_report *report;
	yaml_document_t *document;
};

static void read_map(struct reader *r, const struct rp_schema *schema, const yaml_node_t *node,
		     void *map);

static struct rp_mark mark_of(const struct reader *r, const yaml_node_t *node)
{
	struct rp_mark mark = {
		.source = r->source,
		.line = node->start_mark.line + 1,
		.column = node->start_mark.column + 1,
		.width = 1,
	};

	if (node->type == YAML_SCALAR_NODE && node->end_mark.line == node->start_mark.line &&
	    node->end_mark.column > node->start_mark.column)
		mark.width = node->end_mark.column - node->start_mark.column;
	return mark;
}

static const char *text_of(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

static bool is_null(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE &&
	       node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!node->data.scalar.length || !strcmp(text_of(node), "~") ||
		!strcmp(text_of(node), "null"));
}

static const char *kind_name(const yaml_node_t *node)
{
	return node->type == YAML_MAPPING_NODE ? "a mapping" :
	       node->type == YAML_SEQUENCE_NODE ? "a list" : "a single value";
}

static void read_scalar(struct reader *r, const struct rp_key *key, const yaml_node_t *node,
			void *field)
{
	struct rp_mark mark = mark_of(r, node);
	struct rp_error error;

	if (node->type != YAML_SCALAR_NODE)
		rp_report(r->report, &mark, "%s is %s: write a single value, such as %s", key->name,
			  kind_name(node), key->example);
	else if (node->data.scalar.length != strlen(text_of(node)))
		rp_report(r->report, &mark, "%s has a NUL byte", key->name);
	else if (rp_value_parse(r->spec, key, text_of(node), field, &error))
		rp_report(r->report, &mark, "%s", error.text);
	else
		rp_spec_place(r->spec, field, &mark);
}

/* where only a name is needed the mapping may be left out: [eth0, eth1] */
static void read_item(struct reader *r, const struct rp_key *key, const yaml_node_t *node,
		      void *item)
{
	struct rp_mark mark = mark_of(r, node);

	if (key->kind != RP_KIND_MAP) {
		read_scalar(r, key, node, item);
		return;
	}
	rp_spec_place(r->spec, item, &mark);
	if (node->type == YAML_SCALAR_NODE && key->example && !is_null(node)) {
		read_scalar(r, &key->map->keys[0], node, rp_field_of(item, &key->map->keys[0]));
		*(uint64_t *)item |= 1;
	} else {
		read_map(r, key->map, node, item);
	}
}

/* the lists of several files follow each other */
static void read_list(struct reader *r, const struct rp_key *key, const yaml_node_t *node,
		      struct rp_list *list)
{
	size_t size = rp_kind_size(key);
	struct rp_mark mark = mark_of(r, node);
	const yaml_node_item_t *item;

	if (node->type == YAML_MAPPING_NODE || (node->type == YAML_SCALAR_NODE && !key->example)) {
		rp_report(r->report, &mark, "%s is %s: write a list, each item behind a '-'",
			  key->name, kind_name(node));
		return;
	}
	rp_spec_place(r->spec, list, &mark);
	if (!list->items)
		list->items = rp_spec_alloc(r->spec, key->items * size);
	if (node->type == YAML_SCALAR_NODE) {
		if (list->count < key->items)
			read_item(r, key, node, (char *)list->items + size * list->count++);
		return;
	}
	for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
		const yaml_node_t *child = yaml_document_get_node(r->document, *item);

		if (list->count == key->items) {
			mark = mark_of(r, child);
			rp_report(r->report, &mark, "%s has more than %u items", key->name,
				  key->items);
			return;
		}
		read_item(r, key, child, (char *)list->items + size * list->count++);
	}
}

static void read_choices(struct reader *r, const struct rp_key *key, const yaml_node_t *node,
			 uint64_t *bits)
{
	struct rp_mark mark = mark_of(r, node);
	const yaml_node_item_t *item;

	if (node->type != YAML_SEQUENCE_NODE) {
		read_scalar(r, key, node, bits);
		return;
	}
	for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++)
		read_scalar(r, key, yaml_document_get_node(r->document, *item), bits);
	if (node->data.sequence.items.start == node->data.sequence.items.top)
		rp_report(r->report, &mark,
			  "%s is empty, so nothing would match: write some, such as %s",
			  key->name, key->example);
	rp_spec_place(r->spec, bits, &mark);
}

static void read_value(struct reader *r, const struct rp_key *key, const yaml_node_t *node,
		       void *field)
{
	struct rp_mark mark = mark_of(r, node);

	if (is_null(node)) {
		rp_report(r->report, &mark, "%s has no value: write %s%s%s", key->name,
			  key->example ? "one such as " : key->items ? "a list" : "a mapping",
			  key->example ? key->example : "",
			  key->example ? "" : ", or leave the key out");
	} else if (key->items) {
		read_list(r, key, node, field);
	} else if (key->kind == RP_KIND_MAP) {
		rp_spec_place(r->spec, field, &mark);
		read_map(r, key->map, node, field);
	} else if (key->kind == RP_KIND_CHOICES) {
		read_choices(r, key, node, field);
	} else {
		read_scalar(r, key, node, field);
	}
}

/* only lists may be continued by another file */
static bool is_repeated(struct reader *r, const struct rp_key *key, const yaml_node_t *name,
			const void *map, bool here)
{
	const struct rp_mark *first = rp_spec_mark(r->spec, rp_field_of(map, key));
	struct rp_mark mark = mark_of(r, name);

	if (key->items && !here)
		return false;
	if (here)
		rp_report(r->report, &mark,
			  "%s is given twice in one mapping: take one of them out",
			  key->name);
	else
		rp_report(r->report, &mark, "%s is already given in %s:%u: take one of them out",
			  key->name, first ? first->source->path : "another file",
			  first ? first->line : 0);
	return true;
}

static void read_pair(struct reader *r, const struct rp_schema *schema, const yaml_node_t *name,
		      const yaml_node_t *value, void *map, uint64_t *seen)
{
	struct rp_words words = rp_schema_words(schema);
	struct rp_mark mark = mark_of(r, name);
	uint64_t *given = map;
	struct rp_error error;
	int found;

	if (name->type != YAML_SCALAR_NODE) {
		rp_report(r->report, &mark, "a key must be a word");
		return;
	}
	found = rp_words_exact(&words, text_of(name));
	if (found < 0) {
		rp_words_unknown(&words, "key", text_of(name), &error);
		rp_report(r->report, &mark, "%s", error.text);
		return;
	}
	/* each file says which version it is written for */
	if (*given >> found & 1 && (schema != &rp_spec_schema || found ||
				    *seen >> found & 1) &&
	    is_repeated(r, &schema->keys[found], name, map, *seen >> found & 1))
		return;
	*given |= 1ull << found;
	*seen |= 1ull << found;
	read_value(r, &schema->keys[found], value, rp_field_of(map, &schema->keys[found]));
}

static void check_required(struct reader *r, const struct rp_schema *schema,
			   const yaml_node_t *node, uint64_t seen)
{
	struct rp_mark mark = mark_of(r, node);

	for (unsigned int i = 0; i < schema->count; i++)
		if (schema->keys[i].required && !(seen >> i & 1))
			rp_report(r->report, &mark, "the %s lacks %s: write %s: %s", schema->what,
				  schema->keys[i].name, schema->keys[i].name,
				  schema->keys[i].example);
}

static void read_map(struct reader *r, const struct rp_schema *schema, const yaml_node_t *node,
		     void *map)
{
	struct rp_mark mark = mark_of(r, node);
	const yaml_node_pair_t *pair;
	uint64_t seen = 0;

	if (node->type != YAML_MAPPING_NODE) {
		rp_report(r->report, &mark, "a %s is a mapping, not %s: write %s: VALUE",
			  schema->what, kind_name(node), schema->keys[0].name);
		return;
	}
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
		read_pair(r, schema, yaml_document_get_node(r->document, pair->key),
			  yaml_document_get_node(r->document, pair->value), map, &seen);
	check_required(r, schema, node, seen);
}

static void report_syntax(struct reader *r, const yaml_parser_t *parser)
{
	struct rp_mark mark = {
		.source = r->source, .line = parser->problem_mark.line + 1,
		.column = parser->problem_mark.column + 1, .width = 1,
	};

	if (parser->error == YAML_READER_ERROR) {
		mark.line = 0;
		rp_report(r->report, &mark, "at byte %zu: %s: write UTF-8", parser->problem_offset,
			  parser->problem);
		return;
	}
	if (parser->problem_mark.index < r->source->len &&
	    r->source->text[parser->problem_mark.index] == '\t') {
		rp_report(r->report, &mark, "a tab: YAML is indented with spaces");
		return;
	}
	rp_report(r->report, &mark,
		  "this is no YAML: %s%s%s",
		parser->context ? parser->context : "",
		  parser->context ? ", " : "", parser->problem ? parser->problem : "out of memory");
}

static void read_document(struct reader *r)
{
	yaml_node_t *root = yaml_document_get_root_node(r->document);
	struct rp_mark mark = { .source = r->source, .line = 1, .column = 1, .width = 1 };

	if (root)
		read_map(r, &rp_spec_schema, root, r->spec);
	else
		rp_report(r->report, &mark, "the file is empty: begin it with version: %d",
			  RP_SPEC_VERSION);
}

static void refuse_more(struct reader *r, yaml_parser_t *parser)
{
	yaml_document_t next;
	yaml_node_t *root;

	if (!yaml_parser_load(parser, &next)) {
		report_syntax(r, parser);
		return;
	}
	root = yaml_document_get_root_node(&next);
	if (root) {
		struct rp_mark mark = mark_of(r, root);

		rp_report(r->report, &mark,
			  "a file holds one document: put this into one of its own");
	}
	yaml_document_delete(&next);
}

/**
 * rp_spec_read() - add what a file says to a policy
 * @spec: the spec, empty or as earlier files made it
 * @source: the file; belongs to the policy from now on
 * @report: where complaints go
 *
 * Return: 0, or -1 when there were complaints.
 */
int rp_spec_read(struct rp_spec *spec, struct rp_source *source, struct rp_report *report)
{
	struct reader r = { .spec = spec, .source = source, .report = report };
	unsigned int errors = report->errors;
	yaml_document_t document;
	yaml_parser_t parser;

	source->next = spec->sources;
	spec->sources = source;
	if (!yaml_parser_initialize(&parser)) {
		rp_report(report, NULL, "out of memory");
		return -1;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->len);
	if (yaml_parser_load(&parser, &document)) {
		r.document = &document;
		read_document(&r);
		yaml_document_delete(&document);
		refuse_more(&r, &parser);
	} else {
		report_syntax(&r, &parser);
	}
	yaml_parser_delete(&parser);
	return report->errors == errors ? 0 : -1;
}
