/* SPDX-License-Identifier: GPL-2.0 */
/* Rows of attributes, as a table for people or as JSON for programs. */
#ifndef ROCEPATH_USER_TABLE_H
#define ROCEPATH_USER_TABLE_H

#include <stdbool.h>

#include "attrs.h"
#include "json.h"

struct libscols_table;

struct rp_format {
	bool json;
	bool pretty;
};

/**
 * struct rp_table - rows that are being collected
 * @set: their columns
 * @json: where they go as JSON
 * @table: where they go otherwise, NULL for JSON
 */
struct rp_table {
	const struct rp_set *set;
	struct rp_json json;
	struct libscols_table *table;
};

void rp_table_begin(struct rp_table *table, const struct rp_format *format,
		    const struct rp_set *set);
void rp_table_row(struct rp_table *table, const struct rp_attrs *attrs);
void rp_table_end(struct rp_table *table, const char *none);
void rp_table_cancel(struct rp_table *table);
void rp_table_detail(const struct rp_format *format, const struct rp_set *set,
		     const struct rp_attrs *attrs);
void rp_table_json(struct rp_json *json, const struct rp_set *set, const struct rp_attrs *attrs);
const char *rp_table_cell(const struct rp_field *field, const struct nlattr *attr, char *text);

struct libscols_table *rp_table_text(const char *const *heads, const bool *right);
void rp_table_line(struct libscols_table *table, const char *const *cells, unsigned int count);
char *rp_table_string(struct libscols_table *table);
void rp_table_print(struct libscols_table *table, bool headings);

#endif /* ROCEPATH_USER_TABLE_H */
