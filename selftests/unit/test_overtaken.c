// SPDX-License-Identifier: GPL-2.0
/*
 * A link dies without a word. The sender has learned to be patient, for the
 * machines stand still now and then; what arrives by other links tells it all the same.
 */
/* SOURCES: selftests/unit/link_sim.c kmod/core/adapt.c kmod/core/pathset.c */
/* SOURCES: kmod/core/budget.c kmod/core/health.c */
/* SOURCES: kmod/core/holddown.c kmod/core/sched.c kmod/core/paths.c */
#include "unit.h"
#include "link_sim.h"

#define US 1000ull
#define MS 1000000ull

#define SETTLE 200	/* intervals */
#define CUTS ROUNDS(24)

static const struct setup {
	const char *name;
	double mbit;
	u32 links, ports, evs, qps, window, bytes;
	u64 interval_ns, jitter_ns, stall_ns;
	double slow;	/* of the rate, so much has link 1 */
} setups[] = {
	{ "400G", 100000, 4, 4, 8, 1, 128, 4096, MS, 0, 0, 1 },
	{ "100G, 64 paths", 12500, 8, 2, 32, 8, 128, 4096, MS, 0, 0, 1 },
	{ "2G, stalls", 250, 8, 2, 8, 8, 128, 4096, MS, 10 * US, 2 * MS, 1 },
	{ "20M", 10, 2, 2, 16, 1, 32, 1100, 10 * MS, 200 * US, 0, 1 },
	{ "80M, stalls", 10, 8, 2, 16, 4, 16, 1100, 10 * MS, 200 * US, 100 * MS, 1 },
	{ "20M, one slower", 10, 2, 2, 64, 1, 128, 1100, 10 * MS, 200 * US, 0, 0.5 },
	{ "80M, one slower", 10, 8, 2, 64, 4, 32, 1100, 10 * MS, 200 * US, 10 * MS, 0.25 },
};

static struct sim *start(const struct setup *s)
{
	struct sim_config c = {
		.links = s->links,
		.ports = s->ports,
		.evs = s->evs,
		.qps = s->qps,
		.window = s->window,
		.bytes = s->bytes,
		.interval_ns = s->interval_ns,
		/* what stalls and queues teach it */
		.patience_ns = s->stall_ns || s->slow < 1 ? 1000 * s->interval_ns : 0,
		.back_ns = 100 * US,
		.jitter_ns = s->jitter_ns,
		.stall_ns = s->stall_ns,
		.seed = rnd(),
		.sched = &rp_sched_spray_ops,
	};
	u32 i;

	for (i = 0; i < s->links; i++)
		c.link[i] = (struct sim_link){ s->mbit * (i == 1 ? s->slow : 1), 50 * US, 4000,
					       0, 0 };
	return sim_new(&c);
}

struct found {
	double mean, most;	/* intervals until nothing uses the link */
	u64 suspicions;
	u64 polls;
};

static void cut_once(const struct setup *s, struct found *f)
{
	u64 step = s->interval_ns / 8, took;
	struct sim *sim = start(s);
	double intervals;

	sim_run(sim, SETTLE * s->interval_ns + rnd_below(s->interval_ns));
	f->suspicions += sim_suspicions(sim);
	f->polls += (u64)SETTLE * s->ports * s->evs;
	sim_cut(sim, 1);
	for (took = 0; sim_used(sim, 1); took += step) {
		require(took < 100 * s->interval_ns, "%s: not found", s->name);
		sim_run(sim, step);
	}
	intervals = (double)took / s->interval_ns;
	f->mean += intervals / CUTS;
	f->most = max(f->most, intervals);
	sim_free(sim);
}

/* Intervals: reports, who stands still, until a path's turn comes, and what waits before a slow link. */
static double bound(const struct setup *s)
{
	double packet_ns = s->bytes * 8e3 / (s->mbit * s->slow);
	double turn_ns = packet_ns * s->ports * s->evs / s->links;
	double queue_ns = s->slow < 1 ? packet_ns * s->qps * s->window : 0;

	return 3 + (s->stall_ns + turn_ns + queue_ns) / s->interval_ns;
}

static void dead_link(void **state)
{
	const struct setup *s;

	for (s = setups; s < setups + ARRAY_SIZE(setups); s++) {
		struct found f = { 0 };
		u32 i;

		for (i = 0; i < CUTS; i++)
			cut_once(s, &f);
		print_message("# %s: after %.2f intervals, %.2f at most; %llu of %llu false\n",
			      s->name, f.mean, f.most, (unsigned long long)f.suspicions,
			      (unsigned long long)f.polls);
		require(f.most <= bound(s), "%s: later than %.2f", s->name, bound(s));
		require(f.suspicions * 2000 <= f.polls, "%s: too easily alarmed", s->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dead_link),
	};

	return unit_run(tests);
}
