// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>

#include "json.h"

static void indent(struct rp_json *json)
{
	if (!json->pretty || !json->depth)
		return;
	fputc('\n', json->out);
	for (unsigned int i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

/* how long the UTF-8 sequence at @s is, 0: it is none */
static unsigned int sequence(const unsigned char *s)
{
	unsigned int len = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 :
			   *s < 0xf5 ? 4 : 0;

	for (unsigned int i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, and what is above U+10FFFF */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static void quote(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', out);
	while (*s) {
		unsigned int len = sequence(s);

		if (!len) {
			fputs("\\ufffd", out);
			len = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(out, "\\%c", *s);
		} else if (*s < 0x20 || *s == 0x7f) {
			fprintf(out, "\\u%04x", *s);
		} else {
			fwrite(s, 1, len, out);
		}
		s += len;
	}
	fputc('"', out);
}

static void begin(struct rp_json *json, const char *key)
{
	if (!json->empty && json->depth)
		fputc(',', json->out);
	indent(json);
	if (key) {
		quote(json->out, key);
		fputs(json->pretty ? ": " : ":", json->out);
	}
	json->empty = false;
}

/**
 * rp_json_open() - begin an object or array
 * @json: the writer
 * @key: its name, NULL where it has none
 * @bracket: '{' or '['
 */
void rp_json_open(struct rp_json *json, const char *key, char bracket)
{
	begin(json, key);
	fputc(bracket, json->out);
	json->depth++;
	json->empty = true;
}

/**
 * rp_json_close() - end an object or array; after the outermost comes a newline
 * @json: the writer
 * @bracket: '}' or ']'
 */
void rp_json_close(struct rp_json *json, char bracket)
{
	bool empty = json->empty;

	json->depth--;
	json->empty = false;
	if (!empty && json->pretty && !json->depth)
		fputc('\n', json->out);
	else if (!empty)
		indent(json);
	fputc(bracket, json->out);
	if (!json->depth)
		fputc('\n', json->out);
}

/**
 * rp_json_string() - write a string
 * @json: the writer
 * @key: its name, NULL in arrays
 * @value: any bytes; what is not UTF-8 becomes U+FFFD
 */
void rp_json_string(struct rp_json *json, const char *key, const char *value)
{
	begin(json, key);
	quote(json->out, value);
}

/**
 * rp_json_number() - write a number
 * @json: the writer
 * @key: its name, NULL in arrays
 * @value: the number
 */
void rp_json_number(struct rp_json *json, const char *key, uint64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

/**
 * rp_json_bool() - write true or false
 * @json: the writer
 * @key: its name, NULL in arrays
 * @value: which
 */
void rp_json_bool(struct rp_json *json, const char *key, bool value)
{
	begin(json, key);
	fputs(value ? "true" : "false", json->out);
}

/**
 * rp_json_null() - write null: it is not known
 * @json: the writer
 * @key: its name, NULL in arrays
 */
void rp_json_null(struct rp_json *json, const char *key)
{
	begin(json, key);
	fputs("null", json->out);
}
