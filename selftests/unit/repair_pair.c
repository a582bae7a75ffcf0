// SPDX-License-Identifier: GPL-2.0
/* See repair_pair.h. */
#include <stdlib.h>

#include "repair_pair.h"

#define require(condition, how)				\
	do {						\
		if (unlikely(!(condition)))		\
			repair_pair_failed(how);	\
	} while (0)

struct repair_pair *repair_pair_new(const struct rp_repair_caps *caps)
{
	struct repair_pair *p = calloc(1, sizeof(*p));

	p->caps = *caps;
	p->now = 1000000;
	for (p->spares = 0; p->spares < REPAIR_POOL; p->spares++)
		p->spare[p->spares] = p->spares;
	return p;
}

void repair_pair_free(struct repair_pair *p)
{
	repair_pair_clear(p);
	repair_pair_compare(p);
	require(!p->r.packets && !p->r.oldest && !p->r.newest, "something stays for ever");
	free(p);
}

static bool is_in(u32 id, const u32 *ids, u32 n)
{
	u32 i;

	for (i = 0; i < n && ids[i] != id; i++)
		;
	return i < n;
}

/* just those that the model lets go come back, each once */
static void compare_gone(struct repair_pair *p, struct rp_sent *list, const u32 *ids, u32 n)
{
	struct rp_sent *next;
	u32 came = 0;

	for (; list; list = next, came++) {
		u32 id = list - p->pool;

		next = list->next;
		require(p->out[id], "a packet comes back twice");
		require(is_in(id, ids, n), "one comes back that the model keeps");
		p->out[id] = false;
		p->spare[p->spares++] = id;
	}
	require(came == n, "fewer come back than from the model");
}

void repair_pair_sent(struct repair_pair *p, u32 psn, u32 span, u32 bytes, u16 path)
{
	u32 id = p->spare[--p->spares], ids[REPAIR_POOL], n;
	struct rp_sent *s = &p->pool[id];
	struct repair_packet model = {
		.span = span, .bytes = bytes, .path = path, .sent_ns = p->now, .id = id,
	};

	*s = (struct rp_sent) {
		.psn = psn, .span = span, .bytes = bytes, .path = path, .sent_ns = p->now,
	};
	p->out[id] = true;
	n = repair_model_sent(&p->m, psn, &model, &p->caps, ids);
	compare_gone(p, rp_repair_sent(&p->r, s, &p->caps), ids, n);
}

void repair_pair_acked(struct repair_pair *p, u32 psn)
{
	static u32 ids[REPAIR_POOL];
	u32 n = repair_model_acked(&p->m, psn, ids);

	compare_gone(p, rp_repair_acked(&p->r, psn, p->path), ids, n);
}

void repair_pair_reported(struct repair_pair *p, u32 expected, const u32 *held, u32 words)
{
	static u32 ids[REPAIR_POOL];
	u32 n = repair_model_reported(&p->m, expected, held, words, ids);

	compare_gone(p, rp_repair_reported(&p->r, expected, held, words, p->path), ids, n);
}

/* each path as it is told, the sums as the model says */
void repair_pair_settle(struct repair_pair *p, u32 repaired)
{
	struct rp_repair_path before[REPAIR_PATHS];
	u32 lost, late, i;

	memcpy(before, p->path, sizeof(before));
	repair_model_settle(&p->m, repaired, &lost, &late);
	rp_repair_settle(&p->r, repaired, p->path, REPAIR_PATHS);
	for (i = 0; i < REPAIR_PATHS; i++) {
		const struct rp_repair_path *a = &before[i], *b = &p->path[i];
		u32 more_lost = b->lost - a->lost, more_late = b->delivered - a->delivered;

		require(more_lost + more_late + b->repaired_before ==
			a->repaired + a->repaired_before, "a path is told too much, or not all");
		require(more_late <= a->repaired_before && !b->repaired, "told too early");
		lost -= more_lost;
		late -= more_late;
	}
	require(!lost && !late, "others are lost or late than in the model");
	memcpy(p->m.path, p->path, sizeof(p->path));
}

void repair_pair_find_lost(struct repair_pair *p, u32 horizon, const struct rp_repair_clock *clock)
{
	static u32 ids[REPAIR_POOL];
	u32 n = repair_model_find_lost(&p->m, horizon, clock, ids);

	compare_gone(p, rp_repair_find_lost(&p->r, horizon, clock, p->path), ids, n);
}

static bool is_one_of(void *arg, u16 path)
{
	return *(u32 *)arg >> path & 1;
}

void repair_pair_path_failed(struct repair_pair *p, u32 failed)
{
	static u32 ids[REPAIR_POOL];
	u32 n = repair_model_path_failed(&p->m, failed, ids);

	compare_gone(p, rp_repair_path_failed(&p->r, is_one_of, &failed), ids, n);
}

static u16 number_now(const void *arg, u16 path)
{
	return ((const u16 *)arg)[path];
}

void repair_pair_renumber(struct repair_pair *p, const u16 *now)
{
	struct rp_repair_path path[REPAIR_PATHS] = { 0 };

	repair_model_renumber(&p->m, now);
	rp_repair_renumber(&p->r, number_now, now, p->path, REPAIR_PATHS, path);
	memcpy(p->path, path, sizeof(path));
}

void repair_pair_resend(struct repair_pair *p, u32 n, u16 path)
{
	struct rp_sent *s;

	while (n-- && (s = rp_repair_next(&p->r))) {
		u32 i = repair_model_next(&p->m);

		require(i < p->m.n && p->m.packet[i].id == (u32)(s - p->pool),
			"another one is next");
		rp_repair_resent(&p->r, s, path, p->now);
		repair_model_resent(&p->m, path, p->now);
	}
}

void repair_pair_clear(struct repair_pair *p)
{
	static u32 ids[REPAIR_POOL];
	u32 n = repair_model_clear(&p->m, ids);

	compare_gone(p, rp_repair_clear(&p->r), ids, n);
}

void repair_pair_take_paths(struct repair_pair *p)
{
	u32 i;

	for (i = 0; i < REPAIR_PATHS; i++) {
		p->path[i].delivered = 0;
		p->path[i].delivered_sent_ns = 0;
		p->path[i].lost = 0;
		p->path[i].lost_sent_ns = 0;
		p->m.path[i] = p->path[i];
	}
}

void repair_pair_compare(const struct repair_pair *p)
{
	const struct rp_repair_stats *stats = &p->r.stats;
	const struct repair_model *m = &p->m;
	const struct rp_sent *s, *before = NULL;
	u32 i = 0;

	for (s = p->r.oldest; s; before = s, s = s->next, i++) {
		const struct repair_packet *want = &m->packet[i];

		require(i < m->n && want->id == (u32)(s - p->pool), "the order is another one");
		require(s->prev == before, "the way back is another one");
		require(s->psn == (want->at & RP_PSN_MASK), "a PSN changed");
		require(s->lost == want->lost && s->tries == want->tries, "tries differ");
		require(s->first == want->first, "they were first sent by different paths");
		require(s->path == want->path && s->sent_ns == want->sent_ns, "sendings differ");
	}
	require(i == m->n && p->r.newest == before, "the queue ends elsewhere");
	require(p->r.packets == m->n && p->r.bytes == repair_model_bytes(m), "sums differ");
	require(p->r.lost == repair_model_lost(m), "other numbers are lost");
	require(!p->r.lost == !rp_repair_next(&p->r), "some are lost and none is next");
	require(p->r.packets <= p->caps.packets, "more packets than the cap");
	require(p->r.bytes <= p->caps.bytes, "more bytes than the cap");
	require(!memcmp(stats, &m->stats, sizeof(*stats)), "counters differ");
	require(!memcmp(p->path, m->path, sizeof(p->path)), "paths differ");
	require(stats->kept == stats->arrived + stats->given_up + stats->let_go + stats->rewound +
		p->r.packets, "counters do not add up");
}
