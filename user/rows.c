// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "rows.h"
#include "units.h"

/**
 * rp_rows_begin() - begin a list
 * @rows: the list
 * @format: of it
 * @columns: ended by one without a key
 */
void rp_rows_begin(struct rp_rows *rows, const struct rp_format *format,
		   const struct rp_column *columns)
{
	const char *heads[RP_COLUMNS_MAX + 1] = { NULL };
	bool right[RP_COLUMNS_MAX] = { false };
	unsigned int count = 0;

	*rows = (struct rp_rows){
		.columns = columns, .json = { stdout, format->pretty, true, 0 },
	};
	if (format->json) {
		rp_json_open(&rows->json, NULL, '[');
		return;
	}
	for (unsigned int i = 0; columns[i].key; i++)
		if (columns[i].head) {
			heads[count] = columns[i].head;
			right[count++] = columns[i].right;
		}
	rows->table = rp_table_text(heads, right);
}

/**
 * rp_rows_end() - print the list
 * @rows: the list
 * @none: what to say when it is empty
 */
void rp_rows_end(struct rp_rows *rows, const char *none)
{
	if (!rows->table) {
		rp_json_close(&rows->json, ']');
		return;
	}
	rp_table_print(rows->table, rows->count);
	if (!rows->count)
		rp_complain("%s", none);
}

/**
 * rp_row_begin() - begin a row; its values follow in the order of the columns
 * @rows: the list
 */
void rp_row_begin(struct rp_rows *rows)
{
	rows->at = 0;
	rows->cells = 0;
	rows->count++;
	if (!rows->table)
		rp_json_open(&rows->json, NULL, '{');
}

/**
 * rp_row_end() - end a row
 * @rows: the list
 */
void rp_row_end(struct rp_rows *rows)
{
	if (!rows->table) {
		rp_json_close(&rows->json, '}');
		return;
	}
	rp_table_line(rows->table, (const char *const *)rows->cell, rows->cells);
	while (rows->cells)
		free(rows->cell[--rows->cells]);
}

static void add_cell(struct rp_rows *rows, const struct rp_column *column, const char *text)
{
	if (!column->head)
		return;
	rows->cell[rows->cells] = strdup(text);
	if (!rows->cell[rows->cells++]) {
		rp_complain("out of memory");
		exit(RP_EXIT_FAILURE);
	}
}

/**
 * rp_row_text() - the next value is a text
 * @rows: the list
 * @text: the value; NULL: it is not known
 */
void rp_row_text(struct rp_rows *rows, const char *text)
{
	const struct rp_column *column = &rows->columns[rows->at++];

	if (rows->table)
		add_cell(rows, column, text && *text ? text : "-");
	else if (text)
		rp_json_string(&rows->json, column->key, text);
	else
		rp_json_null(&rows->json, column->key);
}

/**
 * rp_row_bool() - the next value is yes or no
 * @rows: the list
 * @value: the value
 */
void rp_row_bool(struct rp_rows *rows, bool value)
{
	const struct rp_column *column = &rows->columns[rows->at++];

	if (rows->table)
		add_cell(rows, column, value ? "yes" : "no");
	else
		rp_json_bool(&rows->json, column->key, value);
}

/**
 * rp_row_number() - the next value is a number
 * @rows: the list
 * @number: the value
 * @text: the same for people; NULL: plain
 */
void rp_row_number(struct rp_rows *rows, uint64_t number, const char *text)
{
	const struct rp_column *column = &rows->columns[rows->at++];
	char plain[RP_TEXT_LEN];

	if (!rows->table) {
		rp_json_number(&rows->json, column->key, number);
		return;
	}
	snprintf(plain, sizeof(plain), "%" PRIu64, number);
	add_cell(rows, column, text ? text : plain);
}

/**
 * rp_row_list() - the next value is a list
 * @rows: the list of rows
 * @text: the same for people; NULL: there is nothing in it
 *
 * Return: where its items go, to be closed with rp_json_close(); NULL: nowhere, it is a table.
 */
struct rp_json *rp_row_list(struct rp_rows *rows, const char *text)
{
	const struct rp_column *column = &rows->columns[rows->at++];

	if (!rows->table) {
		rp_json_open(&rows->json, column->key, '[');
		return &rows->json;
	}
	add_cell(rows, column, text && *text ? text : "-");
	return NULL;
}
