// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void text_of(struct text *t, const char *name, const char *string)
{
	memset(t, 0, sizeof(*t));
	t->name = name;
	t->all = strdup(string);
	assert(t->all);
	t->next = t->all;
	t->at = t->all;
	t->start = t->all;
}

static char *read_all(FILE *f)
{
	size_t n = 0, room = 65536, got;
	char *all = malloc(room);

	assert(all);
	while ((got = fread(all + n, 1, room - n - 1, f))) {
		n += got;
		if (n == room - 1) {
			room *= 2;
			all = realloc(all, room);
			assert(all);
		}
	}
	all[n] = 0;
	return all;
}

bool text_open(struct text *t, const char *file)
{
	FILE *f = fopen(file, "r");

	memset(t, 0, sizeof(*t));
	t->name = file;
	if (!f) {
		snprintf(t->error, sizeof(t->error), "%s: %s", file, strerror(errno));
		return false;
	}
	t->all = read_all(f);
	t->next = t->all;
	t->at = t->all;
	t->start = t->all;
	fclose(f);
	return true;
}

void text_close(struct text *t)
{
	free(t->all);
	t->all = NULL;
}

bool text_fail(struct text *t, const char *format, ...)
{
	char what[160];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(t->error, sizeof(t->error), "%.60s:%u:%u: %s", t->name, t->line, t->word_at, what);
	return false;
}

bool text_line(struct text *t)
{
	do {
		if (!*t->next)
			return false;
		t->start = t->next;
		t->next += strcspn(t->next, "\n");
		if (*t->next)
			*t->next++ = 0;
		t->line++;
		t->at = t->start;
		t->word_at = 1;
	} while (t->start[0] == '#' || t->start[strspn(t->start, " \t\r")] == 0);
	return true;
}

bool text_word(struct text *t)
{
	size_t len;

	t->at += strspn(t->at, " \t\r");
	t->word_at = t->at - t->start + 1;
	len = strcspn(t->at, " \t\r");
	if (!len)
		return false;
	snprintf(t->word, sizeof(t->word), "%.*s", (int)len, t->at);
	t->at += len;
	return true;
}

bool text_number(struct text *t, u64 from, u64 to, u64 *number)
{
	char *end;

	if (!text_word(t))
		return text_fail(t, "a number is missing");
	errno = 0;
	*number = strtoull(t->word, &end, 10);
	if (!isdigit((unsigned char)t->word[0]) || *end)
		return text_fail(t, "'%s' is not a number", t->word);
	if (errno || *number < from || *number > to)
		return text_fail(t, "%s is not from %llu to %llu", t->word,
				 (unsigned long long)from, (unsigned long long)to);
	return true;
}
