// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <libsmartcols/libsmartcols.h>
#include <net/if.h>

#include "error.h"
#include "table.h"
#include "units.h"

static void need(bool done)
{
	if (done)
		return;
	rp_complain("out of memory");
	exit(RP_EXIT_FAILURE);
}

static uint64_t number_of(const struct rp_field *field, const struct nlattr *attr)
{
	switch (field->wire) {
	case MNL_TYPE_U8:
		return mnl_attr_get_u8(attr);
	case MNL_TYPE_U32:
		return mnl_attr_get_u32(attr);
	default:
		return mnl_attr_get_u64(attr);
	}
}

static void print_enum(const struct rp_field *field, uint64_t number, char *text)
{
	if (number < field->name_count && field->names[number])
		snprintf(text, RP_TEXT_LEN, "%s", field->names[number]);
	else
		snprintf(text, RP_TEXT_LEN, "unknown-%" PRIu64, number);
}

static void print_ifindex(uint32_t ifindex, char *text)
{
	char name[IF_NAMESIZE];

	if (if_indextoname(ifindex, name))
		snprintf(text, RP_TEXT_LEN, "%s", name);
	else
		snprintf(text, RP_TEXT_LEN, "if%" PRIu32, ifindex);
}

static void print_share(uint64_t number, unsigned int decimals, char *text)
{
	rp_fraction_print(number, decimals, text);
	strcat(text, "%");
}

/* the word that 0 is written as, or NULL */
static const char *zero_word(uint8_t form)
{
	switch (form) {
	case RP_FORM_US_AUTO:
		return "auto";
	case RP_FORM_MASK:
		return "none";
	case RP_FORM_MS_NEVER:
	case RP_FORM_PPM_NEVER:
		return "never";
	default:
		return NULL;
	}
}

static void print_number(const struct rp_field *field, uint64_t number, char *text)
{
	const char *zero = number ? NULL : zero_word(field->form);

	if (zero) {
		strcpy(text, zero);
		return;
	}
	switch (field->form) {
	case RP_FORM_US:
	case RP_FORM_US_AUTO:
		rp_unit_print(RP_UNIT_US, number, text);
		break;
	case RP_FORM_MS:
	case RP_FORM_MS_NEVER:
		rp_unit_print(RP_UNIT_MS, number, text);
		break;
	case RP_FORM_AGE:
		rp_age_print(number, text);
		break;
	case RP_FORM_BYTES:
		rp_unit_print(RP_UNIT_BYTES, number, text);
		break;
	case RP_FORM_MASK:
	case RP_FORM_HEX:
		snprintf(text, RP_TEXT_LEN, "0x%" PRIx64, number);
		break;
	case RP_FORM_INSTANCE:
		snprintf(text, RP_TEXT_LEN, "%016" PRIx64, number);
		break;
	case RP_FORM_PERMILLE:
		print_share(number, 1, text);
		break;
	case RP_FORM_PPM:
	case RP_FORM_PPM_NEVER:
		print_share(number, 4, text);
		break;
	case RP_FORM_BOOL:
		strcpy(text, number ? "yes" : "no");
		break;
	case RP_FORM_ENUM:
		print_enum(field, number, text);
		break;
	case RP_FORM_IFINDEX:
		print_ifindex(number, text);
		break;
	default:
		snprintf(text, RP_TEXT_LEN, "%" PRIu64, number);
	}
}

/* a gateway that is all 0 is none */
static void print_address(const struct rp_field *field, const uint8_t *address, char *text)
{
	static const uint8_t none[RP_ADDRESS_LEN];

	if (!memcmp(address, none, field->len))
		strcpy(text, "none");
	else if (field->len == RP_ADDRESS_LEN)
		rp_address_print(address, text);
	else
		inet_ntop(AF_INET, address, text, RP_TEXT_LEN);
}

/**
 * rp_table_cell() - print one attribute for people
 * @field: what it is
 * @attr: the attribute, NULL: absent
 * @text: RP_TEXT_LEN bytes, may be used or not
 *
 * Return: the text; "-" for what is absent.
 */
const char *rp_table_cell(const struct rp_field *field, const struct nlattr *attr, char *text)
{
	if (!attr)
		return "-";
	if (field->wire == MNL_TYPE_NUL_STRING)
		return mnl_attr_get_str(attr);
	if (field->wire == MNL_TYPE_BINARY)
		print_address(field, mnl_attr_get_payload(attr), text);
	else
		print_number(field, number_of(field, attr), text);
	return text;
}

/* a part of something else needs both; a part above the whole is one that wrapped */
static const char *print_part(const struct rp_set *set, const struct rp_field *field,
			      const struct rp_attrs *attrs, char *text)
{
	const struct nlattr *part = attrs->at[field->attr], *whole = attrs->at[field->of];
	uint64_t a, b;

	if (!part || !whole)
		return "-";
	a = number_of(field, part);
	b = number_of(rp_attr_field(set, field->of), whole);
	if (field->form == RP_FORM_PART && (!b || a > b))
		return "-";
	if (field->form == RP_FORM_PART)
		print_share(a * 10000 / b, 2, text);
	else
		snprintf(text, RP_TEXT_LEN, "%" PRIu64 "/%" PRIu64, a, b);
	return text;
}

static const char *cell_of(const struct rp_set *set, const struct rp_field *field,
			   const struct rp_attrs *attrs, char *text)
{
	if (field->form == RP_FORM_PART || field->form == RP_FORM_OUT_OF)
		return print_part(set, field, attrs, text);
	return rp_table_cell(field, attrs->at[field->attr], text);
}

static void json_stats(struct rp_json *json, const char *key, const struct nlattr *list)
{
	const struct nlattr *stat;
	struct rp_attrs attrs;

	rp_json_open(json, key, '{');
	mnl_attr_for_each_nested(stat, list)
		if (mnl_attr_get_type(stat) == ROCEPATH_A_STATS_STAT &&
		    !rp_attrs_nested(&rp_stat_attrs, stat, &attrs) &&
		    attrs.at[ROCEPATH_A_STAT_NAME])
			rp_json_number(json, rp_attr_string(&attrs, ROCEPATH_A_STAT_NAME),
				       rp_attr_number(&attrs, ROCEPATH_A_STAT_VALUE));
	rp_json_close(json, '}');
}

static void json_nested(struct rp_json *json, const struct rp_field *field,
			const struct nlattr *attr)
{
	struct rp_attrs attrs;

	if (rp_attrs_nested(field->nested, attr, &attrs))
		return;
	rp_json_open(json, field->key, '{');
	rp_table_json(json, field->nested, &attrs);
	rp_json_close(json, '}');
}

static void json_field(struct rp_json *json, const struct rp_field *field,
		       const struct nlattr *attr)
{
	char text[RP_TEXT_LEN];

	if (field->form == RP_FORM_STATS)
		json_stats(json, field->key, attr);
	else if (field->wire == MNL_TYPE_NESTED)
		json_nested(json, field, attr);
	else if (field->form == RP_FORM_BOOL)
		rp_json_bool(json, field->key, number_of(field, attr));
	else if (field->form == RP_FORM_ENUM || field->form == RP_FORM_IFINDEX ||
		 field->form == RP_FORM_INSTANCE || field->wire == MNL_TYPE_NUL_STRING ||
		 field->wire == MNL_TYPE_BINARY)
		rp_json_string(json, field->key, rp_table_cell(field, attr, text));
	else
		rp_json_number(json, field->key, number_of(field, attr));
}

/**
 * rp_table_json() - write attributes as members of the JSON object that is open
 * @json: the writer
 * @set: what they are
 * @attrs: the attributes; what is absent is left out
 */
void rp_table_json(struct rp_json *json, const struct rp_set *set, const struct rp_attrs *attrs)
{
	for (unsigned int i = 0; i < set->count; i++)
		if (attrs->at[set->fields[i].attr])
			json_field(json, &set->fields[i], attrs->at[set->fields[i].attr]);
}

static bool is_right(const struct rp_field *field)
{
	return field->wire != MNL_TYPE_NUL_STRING && field->wire != MNL_TYPE_BINARY &&
	       field->form != RP_FORM_ENUM && field->form != RP_FORM_IFINDEX &&
	       field->form != RP_FORM_BOOL;
}

static void add_column(struct libscols_table *table, const char *head, bool right)
{
	need(scols_table_new_column(table, head, 0, right ? SCOLS_FL_RIGHT : 0));
}

static void add_columns(struct libscols_table *table, const struct rp_set *set, const char *prefix)
{
	for (unsigned int i = 0; i < set->count; i++) {
		const struct rp_field *field = &set->fields[i];
		char head[RP_TEXT_LEN];

		if (!field->head)
			continue;
		snprintf(head, sizeof(head), "%s%s%s", prefix, *prefix ? "-" : "", field->head);
		if (field->nested)
			add_columns(table, field->nested, head);
		else
			add_column(table, head, is_right(field));
	}
}

static struct libscols_table *new_table(void)
{
	struct libscols_table *table;

	scols_init_debug(0);
	table = scols_new_table();
	need(table);
	return table;
}

/**
 * rp_table_begin() - begin a list
 * @table: to be filled by rp_table_row(), then given to rp_table_end()
 * @format: table or JSON
 * @set: what the rows hold
 */
void rp_table_begin(struct rp_table *table, const struct rp_format *format,
		    const struct rp_set *set)
{
	*table = (struct rp_table){ .set = set, .json = { stdout, format->pretty, true, 0 } };
	if (format->json)
		return;
	table->table = new_table();
	add_columns(table->table, set, "");
}

static unsigned int fill(struct libscols_line *line, unsigned int column, const struct rp_set *set,
			 const struct rp_attrs *attrs)
{
	char text[RP_TEXT_LEN];

	for (unsigned int i = 0; i < set->count; i++) {
		const struct rp_field *field = &set->fields[i];
		const struct nlattr *attr = attrs->at[field->attr];
		struct rp_attrs inner = { 0 };

		if (!field->head)
			continue;
		if (!field->nested) {
			need(!scols_line_set_data(line, column++,
						  cell_of(set, field, attrs, text)));
			continue;
		}
		if (attr && rp_attrs_nested(field->nested, attr, &inner))
			memset(&inner, 0, sizeof(inner));
		column = fill(line, column, field->nested, &inner);
	}
	return column;
}

/* as late as possible: what fails before prints nothing */
static void open_list(struct rp_table *table)
{
	if (!table->json.depth)
		rp_json_open(&table->json, NULL, '[');
}

/**
 * rp_table_row() - add a row
 * @table: the list
 * @attrs: what the row holds; what is absent is shown as "-"
 */
void rp_table_row(struct rp_table *table, const struct rp_attrs *attrs)
{
	struct libscols_line *line;

	if (!table->table) {
		open_list(table);
		rp_json_open(&table->json, NULL, '{');
		rp_table_json(&table->json, table->set, attrs);
		rp_json_close(&table->json, '}');
		return;
	}
	line = scols_table_new_line(table->table, NULL);
	need(line);
	fill(line, 0, table->set, attrs);
}

/**
 * rp_table_end() - print the list
 * @table: the list
 * @none: said on stderr when it is empty, and not wanted as JSON
 */
void rp_table_end(struct rp_table *table, const char *none)
{
	if (!table->table) {
		open_list(table);
		rp_json_close(&table->json, ']');
		return;
	}
	if (scols_table_is_empty(table->table))
		rp_complain("%s", none);
	else
		scols_print_table(table->table);
	scols_unref_table(table->table);
}

/**
 * rp_table_cancel() - drop the list: an error came instead of its end
 * @table: the list
 */
void rp_table_cancel(struct rp_table *table)
{
	scols_unref_table(table->table);
	table->table = NULL;
}

/* the keyword that sets it: without the unit, with dashes */
static void label_of(const char *key, char *label)
{
	static const char *const units[] = { "_us", "_ms", "_permille", "_ppm" };
	char *p;

	snprintf(label, RP_TEXT_LEN, "%s", key);
	for (unsigned int i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(label), unit = strlen(units[i]);

		if (len > unit && !strcmp(label + len - unit, units[i]))
			label[len - unit] = '\0';
	}
	for (p = label; *p; p++)
		if (*p == '_')
			*p = '-';
}

/**
 * rp_table_detail() - print one object with all that is known of it, a line each
 * @format: lines or JSON
 * @set: what is known
 * @attrs: the object
 *
 * A line of a setting reads as the keyword and the value that would set it.
 */
void rp_table_detail(const struct rp_format *format, const struct rp_set *set,
		     const struct rp_attrs *attrs)
{
	static const char *const heads[] = { "NAME", "VALUE", NULL };
	char label[RP_TEXT_LEN], text[RP_TEXT_LEN];
	const char *cells[2] = { label };
	struct libscols_table *lines;
	struct rp_table table;

	if (format->json) {
		rp_table_begin(&table, format, set);
		rp_table_row(&table, attrs);
		rp_table_end(&table, "");
		return;
	}
	lines = rp_table_text(heads, NULL);
	for (unsigned int i = 0; i < set->count; i++) {
		const struct rp_field *field = &set->fields[i];
		const struct nlattr *attr = attrs->at[field->attr];

		if (!attr || field->wire == MNL_TYPE_NESTED)
			continue;
		label_of(field->key, label);
		cells[1] = rp_table_cell(field, attr, text);
		rp_table_line(lines, cells, 2);
	}
	rp_table_print(lines, false);
}

/**
 * rp_table_text() - a table of plain text
 * @heads: of the columns, NULL-terminated
 * @right: for each column whether it is adjusted to the right; NULL: none is
 */
struct libscols_table *rp_table_text(const char *const *heads, const bool *right)
{
	struct libscols_table *table = new_table();

	for (unsigned int i = 0; heads[i]; i++)
		add_column(table, heads[i], right && right[i]);
	return table;
}

/**
 * rp_table_line() - add a line to a table of plain text
 * @table: the table
 * @cells: copied
 * @count: of them
 */
void rp_table_line(struct libscols_table *table, const char *const *cells, unsigned int count)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	need(line);
	for (unsigned int i = 0; i < count; i++)
		need(!scols_line_set_data(line, i, cells[i]));
}

/**
 * rp_table_string() - print a table of plain text into memory, and free it
 * @table: the table
 *
 * Return: the text, as wide as it is, whatever the terminal; to be freed.
 */
char *rp_table_string(struct libscols_table *table)
{
	char *text = NULL;

	scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	need(!scols_print_table_to_string(table, &text));
	scols_unref_table(table);
	return text;
}

/**
 * rp_table_print() - print a table of plain text, and free it
 * @table: the table
 * @headings: whether the columns have their heads
 */
void rp_table_print(struct libscols_table *table, bool headings)
{
	scols_table_enable_noheadings(table, !headings);
	scols_print_table(table);
	scols_unref_table(table);
}
