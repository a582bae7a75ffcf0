// SPDX-License-Identifier: GPL-2.0
/* See window_pair.h. */
#include <stdlib.h>

#include "window_pair.h"

#define require(condition, how)				\
	do {						\
		if (unlikely(!(condition)))		\
			pair_failed(how);		\
	} while (0)

struct pair *pair_new(bool responses, u32 psn, bool skips, const struct rp_window_caps *caps)
{
	struct pair *p = calloc(1, sizeof(*p));

	p->m = model_new(responses, psn, skips);
	if (responses)
		rp_window_init_responses(&p->w, p->awaited);
	else
		rp_window_init_requests(&p->w, psn, skips);
	p->caps = *caps;
	p->now = 1000;
	for (p->spares = 0; p->spares < PAIR_POOL; p->spares++)
		p->spare[p->spares] = p->spares;
	return p;
}

void pair_free(struct pair *p)
{
	pair_release(p, false);
	pair_compare(p);
	free(rp_window_buckets(&p->w, NULL, 0));
	model_free(p->m);
	free(p);
}

static void came_back(struct pair *p, const struct rp_held *h, s64 id)
{
	u32 i = h - p->pool;

	require(id == i, "the window hands out another packet than the model");
	require(p->out[i], "a packet is handed out twice");
	p->out[i] = false;
	p->back++;
	p->spare[p->spares++] = i;
}

static void drain(struct pair *p)
{
	struct rp_held *h;

	while ((h = rp_window_next(&p->w, p->now)))
		came_back(p, h, model_next(p->m, p->now));
	require(model_next(p->m, p->now) == -1, "the window keeps a packet that the model lets go");
}

static void compare_list(struct pair *p, struct rp_held *list, const u32 *ids, u32 n)
{
	struct rp_held *next;
	u32 i;

	for (i = 0; list; list = next, i++) {
		next = list->next;
		require(i < n, "the window releases more than the model");
		came_back(p, list, ids[i]);
	}
	require(i == n, "the window releases less than the model");
}

void pair_release(struct pair *p, bool expired)
{
	static u32 ids[MODEL_PACKETS];
	u32 n = model_release(p->m, expired, ids);

	compare_list(p, rp_window_release(&p->w, expired), ids, n);
}

static void overflow(struct pair *p, struct rp_held *h, u32 id)
{
	static u32 ids[MODEL_PACKETS];
	u32 n = model_overflow(p->m, h->psn, h->span, id, ids);

	p->out[id] = true;
	p->given++;
	compare_list(p, rp_window_overflow(&p->w, h), ids, n);
}

/* as if there were a gap just now: to the nanosecond */
static u64 timeout_ns(const struct pair *p)
{
	struct rp_window w = p->w;

	w.gap_ns = 1;
	return rp_window_deadline(&w, &p->caps) - 1;
}

void pair_rx(struct pair *p, u32 psn, u32 span, u32 bytes, bool repair)
{
	u32 id = p->spare[--p->spares];
	struct rp_held *h = &p->pool[id];
	enum rp_window_verdict got, want;

	*h = (struct rp_held) { .psn = psn, .span = span, .bytes = bytes, .repair = repair };
	want = model_rx(p->m, h, id, p->w.bucket, &p->caps, timeout_ns(p), p->now);
	got = rp_window_rx(&p->w, h, &p->caps, p->now);
	require(got == want, "the verdicts differ");
	if (got == RP_WINDOW_HOLD) {
		p->out[id] = true;
		p->given++;
		return;
	}
	if (got == RP_WINDOW_FULL) {
		overflow(p, h, id);
		return;
	}
	p->spare[p->spares++] = id;
	if (got == RP_WINDOW_DELIVER)
		drain(p);
}

void pair_expire(struct pair *p)
{
	u64 deadline = rp_window_deadline(&p->w, &p->caps);

	require(!deadline == !p->m->gap_ns, "a deadline without a gap, or the other way round");
	if (deadline && p->now >= deadline)
		pair_release(p, true);
}

void pair_seek(struct pair *p, u32 psn, bool back)
{
	require(rp_window_seek(&p->w, psn, back) == model_seek(p->m, psn, back),
		"seek moved one of the two");
	drain(p);
}

void pair_await(struct pair *p, u32 psn, u32 count)
{
	require(rp_window_await(&p->w, psn, count) == model_await(p->m, psn, count),
		"await moved one of the two");
	drain(p);
}

void pair_buckets(struct pair *p, u32 n)
{
	free(rp_window_buckets(&p->w, calloc(n, sizeof(void *)), n));
}

void pair_compare(const struct pair *p)
{
	const struct rp_window_stats *stats = &p->w.stats;
	const struct rp_window *w = &p->w;
	const struct model *m = p->m;

	require(w->open == m->open, "one of the two is open");
	require(!w->open || w->expected == (m->expected & RP_PSN_MASK), "they expect other PSNs");
	require(w->held == m->n && w->held_bytes == model_bytes(m), "they hold other numbers");
	require(w->gap_ns == m->gap_ns, "their gaps are not of the same age");
	require(stats->filled == m->filled && stats->expired == m->expired, "gaps differ");
	require(stats->repairs == m->repairs && stats->needless == m->needless &&
		stats->overtaken == m->overtaken, "repairs differ");
	require(stats->rewinds == m->rewinds && stats->forwards == m->forwards, "moves differ");
	require(p->given - p->back == w->held, "packets are not conserved");
	require(w->held <= stats->held_max && p->given >= stats->held, "held ones are miscounted");
}
