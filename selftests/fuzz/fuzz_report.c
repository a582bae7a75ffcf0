// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of reports: whatever it opens makes sense, is read to its end and
 * not beyond, and is the same when it is written again.
 */
/* SOURCES: kmod/core/report.c kmod/core/window.c kmod/core/repaired.c */
#include <stdio.h>
#include <stdlib.h>

#include <linux/rocepath.h>

#include "report.h"

static void require(bool condition, const char *how)
{
	if (condition)
		return;
	fprintf(stderr, "%s\n", how);
	abort();
}

/* what is read goes into @w */
static void copy(struct rp_report_reader *r, struct rp_report_writer *w)
{
	struct rp_report_path p;
	struct rp_report_flow f;

	while (rp_report_next_path(r, &p)) {
		require(p.path >> 8 < ROCEPATH_PORTS_MAX, "a port that is none");
		require(rp_report_put_path(w, &p), "no room for a path that was there");
	}
	while (rp_report_next_flow(r, &f)) {
		require(f.space < 2 && f.words <= RP_REPORT_WORDS_MAX, "a flow that is none");
		require(rp_report_put_flow(w, &f), "no room for a flow that was there");
	}
	require(!r->left, "something is left");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u32 interval_at = offsetof(struct rp_wire_report, interval_us);
	u8 again[RP_WIRE_BODY_MAX], *body = malloc(size + 1);
	struct rp_report_reader r;
	struct rp_report_writer w;

	/* in memory of just its size */
	memcpy(body, data, size);
	if (rp_report_open(&r, body, size)) {
		rp_report_begin(&w, again, r.to, r.interval_us);
		copy(&r, &w);
		/* the interval was brought within bounds */
		memcpy(again + interval_at, body + interval_at, sizeof(u32));
		require(w.len == size && !memcmp(again, body, size), "it changed");
	}
	free(body);
	return 0;
}
