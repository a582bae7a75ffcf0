/* SPDX-License-Identifier: GPL-2.0 */
/* Policy files as text, and complaints that point into them. */
#ifndef ROCEPATH_USER_POLICY_SOURCE_H
#define ROCEPATH_USER_POLICY_SOURCE_H

#include <stddef.h>
#include <stdio.h>

#include "../error.h"

#define RP_SOURCE_MAX (240u << 10)	/* all files together: a pinned map keeps them */

/**
 * struct rp_source - a file
 * @path: as it is named in complaints
 * @text: all of it, NUL-terminated
 * @len: of @text
 * @next: the file that was read before it
 */
struct rp_json;

struct rp_source {
	char *path;
	char *text;
	size_t len;
	struct rp_source *next;
};

/* a place in a file; lines and columns (characters) count from 1, line 0: it has none */
struct rp_mark {
	const struct rp_source *source;
	unsigned int line;
	unsigned int column;
	unsigned int width;
};

/* where complaints go, as lines or, if @json is not NULL, as objects; how many errors there were */
struct rp_report {
	FILE *out;
	struct rp_json *json;
	unsigned int errors;
};

struct rp_source *rp_source_new(const char *path, const char *text, size_t len);
struct rp_source *rp_source_read(const char *path, struct rp_error *error);
void rp_source_release(struct rp_source *source);

void rp_report(struct rp_report *report, const struct rp_mark *mark, const char *format, ...)
	RP_PRINTF(3, 4);
void rp_warn(struct rp_report *report, const struct rp_mark *mark, const char *format, ...)
	RP_PRINTF(3, 4);

#endif /* ROCEPATH_USER_POLICY_SOURCE_H */
