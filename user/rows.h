/* SPDX-License-Identifier: GPL-2.0 */
/* Rows of values, as a table for people or as JSON for programs. */
#ifndef ROCEPATH_USER_ROWS_H
#define ROCEPATH_USER_ROWS_H

#include "table.h"

#define RP_COLUMNS_MAX 48

/**
 * struct rp_column - one value of each row
 * @key: in JSON
 * @head: of its column, NULL: not in the table
 * @right: adjusted to the right
 */
struct rp_column {
	const char *key;
	const char *head;
	bool right;
};

struct rp_rows {
	const struct rp_column *columns;
	struct rp_json json;
	struct libscols_table *table;	/* NULL: JSON */
	unsigned int at;		/* the column that is next */
	unsigned int cells;
	char *cell[RP_COLUMNS_MAX];
	unsigned int count;
};

void rp_rows_begin(struct rp_rows *rows, const struct rp_format *format,
		   const struct rp_column *columns);
void rp_rows_end(struct rp_rows *rows, const char *none);
void rp_row_begin(struct rp_rows *rows);
void rp_row_end(struct rp_rows *rows);
void rp_row_text(struct rp_rows *rows, const char *text);
void rp_row_bool(struct rp_rows *rows, bool value);
void rp_row_number(struct rp_rows *rows, uint64_t number, const char *text);
struct rp_json *rp_row_list(struct rp_rows *rows, const char *text);

#endif /* ROCEPATH_USER_ROWS_H */
