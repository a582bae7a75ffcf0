// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../json.h"
#include "source.h"

#define REPORTED_MAX 20	/* more would hide the first ones */

/**
 * rp_source_new() - keep a text as if it had been read from a file
 * @path: its name, copied
 * @text: copied
 * @len: of @text
 *
 * Return: the source, or NULL without memory.
 */
struct rp_source *rp_source_new(const char *path, const char *text, size_t len)
{
	struct rp_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->path = strdup(path);
	source->text = malloc(len + 1);
	if (!source->path || !source->text) {
		rp_source_release(source);
		return NULL;
	}
	memcpy(source->text, text, len);
	source->text[len] = '\0';
	source->len = len;
	return source;
}

static struct rp_source *read_stream(const char *path, FILE *file, struct rp_error *error)
{
	struct rp_source *source = NULL;
	char *text = malloc(RP_SOURCE_MAX + 1);
	size_t len;

	if (!text) {
		rp_error_set(error, "out of memory");
		return NULL;
	}
	errno = 0;
	len = fread(text, 1, RP_SOURCE_MAX + 1, file);
	if (ferror(file))
		rp_error_set(error, "%s: %s", path, strerror(errno));
	else if (len > RP_SOURCE_MAX)
		rp_error_set(error, "%s is longer than %u KiB: use prefixes and globs", path,
			     RP_SOURCE_MAX >> 10);
	else if (memchr(text, '\0', len))
		rp_error_set(error, "%s is not text: it has NUL bytes", path);
	else
		source = rp_source_new(path, text, len);
	free(text);
	return source;
}

/**
 * rp_source_read() - read a file
 * @path: its name; "-" is standard input
 * @error: why not
 *
 * Return: the source or NULL.
 */
struct rp_source *rp_source_read(const char *path, struct rp_error *error)
{
	struct rp_source *source;
	FILE *file;

	if (!strcmp(path, "-"))
		return read_stream("<stdin>", stdin, error);
	file = fopen(path, "re");
	if (!file) {
		rp_error_set(error, "%s: %s", path, strerror(errno));
		return NULL;
	}
	source = read_stream(path, file, error);
	fclose(file);
	return source;
}

/**
 * rp_source_release() - free a source and those behind it
 * @source: the source or NULL
 */
void rp_source_release(struct rp_source *source)
{
	while (source) {
		struct rp_source *next = source->next;

		free(source->path);
		free(source->text);
		free(source);
		source = next;
	}
}

static const char *line_at(const struct rp_source *source, unsigned int line, int *len)
{
	const char *p = source->text;

	while (--line) {
		const char *end = strchr(p, '\n');

		if (!end)
			break;
		p = end + 1;
	}
	*len = strcspn(p, "\r\n");
	return p;
}

/* the same tabs as above it; bytes that continue a character take no column */
static void print_caret(FILE *out, const char *line, int len, const struct rp_mark *mark)
{
	unsigned int column = 1;

	fputs("    ", out);
	for (int i = 0; column < mark->column; i++) {
		char c = i < len ? line[i] : ' ';

		if ((c & 0xc0) == 0x80)
			continue;
		fputc(c == '\t' ? '\t' : ' ', out);
		column++;
	}
	fputc('^', out);
	for (unsigned int i = 1; i < mark->width; i++)
		fputc('~', out);
	fputc('\n', out);
}

static void report_json(struct rp_json *json, const struct rp_mark *mark, bool warning,
			const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		return;
	rp_json_open(json, NULL, '{');
	if (mark && mark->source)
		rp_json_string(json, "file", mark->source->path);
	if (mark && mark->line) {
		rp_json_number(json, "line", mark->line);
		rp_json_number(json, "column", mark->column);
		rp_json_number(json, "width", mark->width);
	}
	rp_json_bool(json, "warning", warning);
	rp_json_string(json, "text", text);
	rp_json_close(json, '}');
	free(text);
}

static void report_line(FILE *out, const struct rp_mark *mark, bool warning, const char *format,
			va_list args)
{
	int len;

	if (mark && mark->source)
		fprintf(out, "%s:", mark->source->path);
	else
		fputs("rocepath:", out);
	if (mark && mark->line)
		fprintf(out, "%u:%u:", mark->line, mark->column);
	fputs(warning ? " warning: " : " ", out);
	vfprintf(out, format, args);
	fputc('\n', out);
	if (mark && mark->source && mark->line) {
		const char *line = line_at(mark->source, mark->line, &len);

		fprintf(out, "    %.*s\n", len, line);
		print_caret(out, line, len, mark);
	}
}

static void report_any(struct rp_report *report, const struct rp_mark *mark, bool warning,
		       const char *format, va_list args)
{
	if (report->json)
		report_json(report->json, mark, warning, format, args);
	else
		report_line(report->out, mark, warning, format, args);
}

/**
 * rp_report() - complain about a place in a file
 * @report: where complaints go; they are counted
 * @mark: the place; NULL: the policy as a whole
 * @format: what is wrong and what would be right, without a newline
 */
void rp_report(struct rp_report *report, const struct rp_mark *mark, const char *format, ...)
{
	va_list args;

	if (++report->errors > REPORTED_MAX && !report->json) {
		if (report->errors == REPORTED_MAX + 1)
			fputs("rocepath: there is more; mend these first\n", report->out);
		return;
	}
	va_start(args, format);
	report_any(report, mark, false, format, args);
	va_end(args);
}

/**
 * rp_warn() - say what is allowed, but hardly meant
 * @report: where it goes; nothing is counted
 * @mark: the place
 * @format: what will happen and what would be better, without a newline
 */
void rp_warn(struct rp_report *report, const struct rp_mark *mark, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report_any(report, mark, true, format, args);
	va_end(args);
}
