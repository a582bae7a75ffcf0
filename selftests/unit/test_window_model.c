// SPDX-License-Identifier: GPL-2.0
/* The reorder window beside a naive model of it, over random steps. */
/* SOURCES: kmod/core/window.c selftests/unit/window_model.c */
#include "unit.h"
#include "window_model.h"

#define POOL (MODEL_PACKETS + 1)

/* what a run of steps is like */
struct flavour {
	const char *name;
	bool responses;
	bool skips;
	bool reads;		/* spans */
	bool no_memory;		/* buckets are mostly refused */
	bool rough;		/* far jumps of everything, often */
	u32 packets;
	u32 bytes;
};

struct pair {
	const struct flavour *flavour;
	struct rp_window w;
	struct model *m;
	struct rp_window_caps caps;
	struct rp_awaited awaited[RP_WINDOW_AWAITED];
	struct rp_held pool[POOL];
	bool out[POOL];		/* handed to the window, not come back */
	u32 spare[POOL];
	u32 spares;
	u32 tail;		/* PSN behind the last awaited one */
	u64 now;
	u64 given, back;
};

static struct pair *pair_new(const struct flavour *f)
{
	struct pair *p = calloc(1, sizeof(*p));
	u32 psn = rnd_below(4) ? rnd() & RP_PSN_MASK : RP_PSN_MASK - rnd_below(50);

	p->flavour = f;
	p->m = model_new(f->responses, psn, f->skips);
	if (f->responses)
		rp_window_init_responses(&p->w, p->awaited);
	else
		rp_window_init_requests(&p->w, psn, f->skips);
	p->caps = (struct rp_window_caps) { f->packets, f->bytes, 0, 100, 5000 };
	p->tail = psn;
	p->now = 1000;
	for (p->spares = 0; p->spares < POOL; p->spares++)
		p->spare[p->spares] = p->spares;
	return p;
}

static void came_back(struct pair *p, const struct rp_held *h, s64 id)
{
	u32 i = h - p->pool;

	require(id == i, "handed out PSN %06x, the model says packet %lld", h->psn, (long long)id);
	require(p->out[i], "PSN %06x handed out twice", h->psn);
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
		require(i < n, "%u packets released, more came", n);
		came_back(p, list, ids[i]);
	}
	require(i == n, "%u packets released instead of %u", i, n);
}

static void release(struct pair *p, bool expired)
{
	u32 ids[MODEL_PACKETS];
	u32 n = model_release(p->m, expired, ids);

	compare_list(p, rp_window_release(&p->w, expired), ids, n);
}

static void give_buckets(struct pair *p, u32 n)
{
	free(rp_window_buckets(&p->w, calloc(n, sizeof(void *)), n));
}

static u32 some_psn(struct pair *p)
{
	u32 e = p->w.expected;

	switch (rnd_below(p->flavour->rough ? 12 : 100)) {
	case 0:
		return rnd() & RP_PSN_MASK;
	case 1:
		return rp_psn_add(e, 0x7ffff0 + (s32)rnd_below(0x20));
	case 2:
		return rp_psn_add(e, (s32)p->caps.packets - 3 + (s32)rnd_below(6));
	case 3:
		return rp_psn_add(e, (s32)rnd_below(4000) - 1000);
	case 4:
		return rp_psn_add(e, 0x3ffff0 + (s32)rnd_below(0x20));
	}
	switch (rnd_below(8)) {
	case 0:
		return rp_psn_add(e, -(s32)rnd_range(1, 40));
	case 1:
	case 2:
	case 3:
		return e;
	case 4:
		return rp_psn_add(e, (s32)rnd_range(1, 300));
	default:
		return rp_psn_add(e, (s32)rnd_range(1, 12));
	}
}

static u32 some_span(const struct pair *p)
{
	if (p->flavour->rough && !rnd_below(200))
		return rnd_below(3) ? 0x7ffff0 + rnd_below(0x20) : 0;
	if (!p->flavour->reads || rnd_below(4))
		return 1;
	return rnd_range(1, rnd_below(5) ? 16 : 2000);
}

static void overflow(struct pair *p, struct rp_held *h, u32 id)
{
	u32 ids[MODEL_PACKETS];
	u32 n = model_overflow(p->m, h->psn, h->span, id, ids);

	p->out[id] = true;
	p->given++;
	compare_list(p, rp_window_overflow(&p->w, h), ids, n);
}

static void step_rx(struct pair *p)
{
	u32 id = p->spare[--p->spares];
	struct rp_held *h = &p->pool[id];
	u32 wants = rp_window_wants(&p->w, some_psn(p));
	enum rp_window_verdict got, want;

	*h = (struct rp_held) { NULL, some_psn(p), some_span(p), rnd_range(64, 4200) };
	if (wants && (!p->flavour->no_memory || !rnd_below(50)))
		give_buckets(p, wants);
	want = model_rx(p->m, h->psn, h->span, h->bytes, id, p->w.bucket, &p->caps, p->now);
	got = rp_window_rx(&p->w, h, &p->caps, p->now);
	require(got == want, "verdict %u instead of %u, PSN %06x, expected %06x", got, want, h->psn,
		p->w.expected);
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

static void step_time(struct pair *p)
{
	u64 deadline = rp_window_deadline(&p->w, &p->caps);

	p->now += rnd_below(200000);
	require(!deadline == !p->m->gap_ns, "a deadline without a gap, or the other way round");
	if (deadline && p->now >= deadline)
		release(p, true);
}

static void step_seek(struct pair *p)
{
	bool back = rnd_below(2);
	u32 psn = rp_psn_add(p->w.expected, (s32)rnd_below(60) - 30);

	if (p->flavour->rough && !rnd_below(4))
		psn = some_psn(p);
	require(rp_window_seek(&p->w, psn, back) == model_seek(p->m, psn, back),
		"seek moved one of the two");
	drain(p);
}

static void step_await(struct pair *p)
{
	u32 psn = p->tail, count = rnd_below(3) ? rnd_range(1, 4) : rnd_range(1, 80);

	switch (rnd_below(p->flavour->rough ? 16 : 160)) {
	case 0:
		psn = some_psn(p);
		break;
	case 1:
		psn = rp_psn_add(p->w.expected, (s32)rnd_below(200) - 100);
		break;
	case 2:
		psn = rp_psn_add(psn, (s32)rnd_below(6000));
		break;
	case 3:
		count = rnd_below(40) ? 500 : 0x7fff00 + rnd_below(0x200);
		break;
	case 4:
		psn = rp_psn_add(psn, 1);
		count = 1;
		break;
	default:
		if (rnd_below(2))
			psn = rp_psn_add(psn, (s32)rnd_range(1, 30));
	}
	require(rp_window_await(&p->w, psn, count) == model_await(p->m, psn, count),
		"await moved one of the two");
	p->tail = rp_psn_add(psn, (s32)count);
	drain(p);
}

static void same(const struct pair *p)
{
	const struct model *m = p->m;
	const struct rp_window *w = &p->w;

	require(w->open == m->open, "open: %u instead of %u", w->open, m->open);
	require(!w->open || w->expected == (m->expected & RP_PSN_MASK),
		"expected: %06x instead of %06llx", w->expected,
		(unsigned long long)m->expected & RP_PSN_MASK);
	require(w->held == m->n && w->held_bytes == model_bytes(m), "held: %u instead of %u",
		w->held, m->n);
	require(w->gap_ns == m->gap_ns, "gap since %llu instead of %llu",
		(unsigned long long)w->gap_ns, (unsigned long long)m->gap_ns);
	require(w->stats.filled == m->filled && w->stats.expired == m->expired, "gaps differ");
	require(w->stats.rewinds == m->rewinds && w->stats.forwards == m->forwards,
		"moves differ");
	require(p->given - p->back == w->held, "packets are not conserved");
	require(w->held <= w->stats.held_max && p->given >= w->stats.held,
		"statistics of held ones");
}

static void step(struct pair *p)
{
	u32 dice = rnd_below(100);

	p->now += rnd_below(2000);
	if (dice < 4)
		step_time(p);
	else if (dice < 7 && !p->flavour->responses)
		step_seek(p);
	else if (dice < 16 && p->flavour->responses)
		step_await(p);
	else if (dice == 16)
		release(p, false);
	else if (dice == 17 && p->w.held && !rnd_below(8))
		give_buckets(p, 1u << rnd_below(9));
	else
		step_rx(p);
	same(p);
}

static void test_walk(void **state)
{
	const struct flavour *f = *state;
	const u32 lives = 20, steps = ROUNDS(15000);
	struct rp_window_stats sum = { 0 };
	u32 life, i;

	for (life = 0; life < lives; life++) {
		struct pair *p = pair_new(f);

		for (i = 0; i < steps; i++)
			step(p);
		release(p, false);
		same(p);
		sum.held += p->w.stats.held;
		sum.filled += p->w.stats.filled;
		sum.expired += p->w.stats.expired;
		sum.rewinds += p->w.stats.rewinds;
		free(rp_window_buckets(&p->w, NULL, 0));
		model_free(p->m);
		free(p);
	}
	print_message("# %u steps, %llu held, %llu gaps filled, %llu expired, %llu rewinds\n",
		      lives * steps, (unsigned long long)sum.held, (unsigned long long)sum.filled,
		      (unsigned long long)sum.expired, (unsigned long long)sum.rewinds);
	/* a walk that never gets there tests nothing */
	assert_true(sum.held && sum.filled && sum.expired && sum.rewinds);
}

#define MANY .packets = 256, .bytes = 1 << 20
#define FEW .packets = 8, .bytes = 9000

static const struct flavour flavours[] = {
	{ "requests", MANY },
	{ "requests, rough", .rough = true, .packets = 1024, .bytes = 1 << 20 },
	{ "reads", .reads = true, MANY },
	{ "reads, rough", .reads = true, .rough = true, .packets = 128, .bytes = 1 << 20 },
	{ "UC", .skips = true, MANY },
	{ "responses", .responses = true, MANY },
	{ "responses, rough", .responses = true, .rough = true, MANY },
	{ "few packets", .packets = 8, .bytes = 1 << 20 },
	{ "few bytes", .packets = 256, .bytes = 9000 },
	{ "few, responses", .responses = true, FEW },
	{ "no memory", .no_memory = true, MANY },
	{ "no memory, responses", .responses = true, .no_memory = true, MANY },
};

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(flavours)] = { 0 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(flavours); i++) {
		tests[i].name = flavours[i].name;
		tests[i].test_func = test_walk;
		tests[i].initial_state = (void *)&flavours[i];
	}
	return unit_run(tests);
}
