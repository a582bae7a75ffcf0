// SPDX-License-Identifier: GPL-2.0
/* The reorder window beside a naive model of it, over random steps. */
/* SOURCES: kmod/core/window.c kmod/core/repaired.c */
/* SOURCES: selftests/unit/window_model.c selftests/unit/window_pair.c */
#include "unit.h"
#include "window_pair.h"

/* what a walk is like */
struct flavour {
	const char *name;
	bool responses;
	bool skips;
	bool reads;		/* spans */
	bool repairs;		/* a part of all are repairs */
	bool no_memory;		/* buckets are mostly refused */
	bool rough;		/* far jumps of everything, often */
	u32 packets;
	u32 bytes;
};

static const struct flavour *flavour;
static u32 tail;		/* PSN behind the last awaited one */

void pair_failed(const char *how)
{
	fail_msg("%s", how);
	abort();
}

static struct pair *start(void)
{
	u32 psn = rnd_below(4) ? rnd() & RP_PSN_MASK : RP_PSN_MASK - rnd_below(50);
	struct rp_window_caps caps = { flavour->packets, flavour->bytes, 0, 100, 5000 };

	tail = psn;
	return pair_new(flavour->responses, psn, flavour->skips, &caps);
}

static u32 some_psn(const struct pair *p)
{
	u32 e = p->w.expected;

	switch (rnd_below(flavour->rough ? 12 : 100)) {
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

static u32 some_span(void)
{
	if (flavour->rough && !rnd_below(200))
		return rnd_below(3) ? 0x7ffff0 + rnd_below(0x20) : 0;
	if (!flavour->reads || rnd_below(4))
		return 1;
	return rnd_range(1, rnd_below(5) ? 16 : 2000);
}

static void step_rx(struct pair *p)
{
	u32 psn = some_psn(p), wants = rp_window_wants(&p->w, psn);

	if (wants && (!flavour->no_memory || !rnd_below(50)))
		pair_buckets(p, wants);
	pair_rx(p, psn, some_span(), rnd_range(64, 4200), flavour->repairs && !rnd_below(4));
	/* what was repaired comes, too, or is repaired again */
	if (flavour->repairs && !rnd_below(8))
		pair_rx(p, psn, 1, 1000, rnd_below(4));
}

static void step_seek(struct pair *p)
{
	u32 psn = rp_psn_add(p->w.expected, (s32)rnd_below(60) - 30);

	if (flavour->rough && !rnd_below(4))
		psn = some_psn(p);
	pair_seek(p, psn, rnd_below(2));
}

static void step_await(struct pair *p)
{
	u32 psn = tail, count = rnd_below(3) ? rnd_range(1, 4) : rnd_range(1, 80);

	switch (rnd_below(flavour->rough ? 16 : 160)) {
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
	pair_await(p, psn, count);
	tail = rp_psn_add(psn, (s32)count);
}

static void step(struct pair *p)
{
	u32 dice = rnd_below(100);

	p->now += rnd_below(2000);
	if (dice < 4) {
		p->now += rnd_below(200000);
		pair_expire(p);
	} else if (dice < 7 && !flavour->responses) {
		step_seek(p);
	} else if (dice < 16 && flavour->responses) {
		step_await(p);
	} else if (dice == 16) {
		pair_release(p, false);
	} else if (dice == 17 && p->w.held && !rnd_below(8)) {
		pair_buckets(p, 1u << rnd_below(9));
	} else {
		step_rx(p);
	}
	pair_compare(p);
}

static void test_walk(void **state)
{
	const u32 lives = 20, steps = ROUNDS(15000);
	struct rp_window_stats sum = { 0 };
	u32 life, i;

	flavour = *state;
	for (life = 0; life < lives; life++) {
		struct pair *p = start();

		for (i = 0; i < steps; i++)
			step(p);
		sum.held += p->w.stats.held;
		sum.filled += p->w.stats.filled;
		sum.expired += p->w.stats.expired;
		sum.rewinds += p->w.stats.rewinds;
		sum.repairs += p->w.stats.repairs;
		sum.needless += p->w.stats.needless;
		sum.overtaken += p->w.stats.overtaken;
		pair_free(p);
	}
	print_message("# %u steps, %llu held, %llu gaps filled, %llu expired, %llu rewinds\n",
		      lives * steps, (unsigned long long)sum.held, (unsigned long long)sum.filled,
		      (unsigned long long)sum.expired, (unsigned long long)sum.rewinds);
	/* a walk that never gets there tests nothing */
	assert_true(sum.held && sum.filled && sum.expired && sum.rewinds);
	if (flavour->repairs)
		print_message("#   %llu repairs, %llu needless, %llu overtaken\n",
			      (unsigned long long)sum.repairs, (unsigned long long)sum.needless,
			      (unsigned long long)sum.overtaken);
	assert_int_equal(!flavour->repairs, !(sum.repairs && sum.needless && sum.overtaken));
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
	{ "repairs", .repairs = true, MANY },
	{ "repairs, rough", .repairs = true, .reads = true, .rough = true, MANY },
	{ "repairs, responses", .responses = true, .repairs = true, MANY },
	{ "repairs, few packets", .repairs = true, .packets = 8, .bytes = 1 << 20 },
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
