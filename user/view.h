/* SPDX-License-Identifier: GPL-2.0 */
/* What `rocepath top` shows, as lines: for a terminal, or to be printed. */
#ifndef ROCEPATH_USER_VIEW_H
#define ROCEPATH_USER_VIEW_H

#include <stddef.h>
#include <stdio.h>

struct rp_rates;

enum rp_tone {
	RP_TONE_PLAIN,
	RP_TONE_HEAD,
	RP_TONE_WARN,
	RP_TONE_BAD,
};

struct rp_line {
	enum rp_tone tone;
	char *text;
};

struct rp_view {
	struct rp_line *lines;
	size_t count, room;
};

void rp_view_make(struct rp_view *view, const struct rp_rates *rates);
void rp_view_print(const struct rp_view *view, FILE *out);
void rp_view_release(struct rp_view *view);

#endif /* ROCEPATH_USER_VIEW_H */
