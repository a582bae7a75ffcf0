// SPDX-License-Identifier: GPL-2.0
/*
 * `adaptive` over simulated links: what it carries, how soon, and how calmly, from
 * 10 Mbit/s to 400 Gb/s, over 2 to 64 paths, with reports each 1 or 10 ms.
 */
/* SOURCES: selftests/unit/link_sim.c kmod/core/adapt.c kmod/core/pathset.c */
/* SOURCES: kmod/core/budget.c kmod/core/health.c */
/* SOURCES: kmod/core/holddown.c kmod/core/sched.c kmod/core/paths.c */
#include <math.h>

#include "unit.h"
#include "link_sim.h"

#define US 1000ull
#define MS 1000000ull

struct queue {
	u32 limit, mark_min, mark_max;
};

static const struct queue plain = { 4000, 0, 0 };
static const struct queue marking = { 1000, 20, 100 };

struct fabric {
	const char *name;
	double mbit;
	u32 links, ports, evs, qps, window, bytes;
	u64 delay_ns, interval_ns;
	const struct queue *queue;
	u64 jitter_ns, stall_ns;
};

/* links of 10 to 100 Gb/s, reports each millisecond */
static const struct fabric fast[] = {
	{ "400G, 1 QP", 100000, 4, 4, 8, 1, 128, 4096, 3 * US, MS, &plain, 0, 0 },
	{ "400G, 8 QPs", 100000, 4, 4, 8, 8, 128, 4096, 3 * US, MS, &plain, 0, 0 },
	{ "100G, 2 paths", 50000, 2, 2, 1, 8, 128, 4096, 3 * US, MS, &plain, 0, 0 },
	{ "100G, 16 paths", 50000, 2, 2, 8, 8, 128, 4096, 3 * US, MS, &plain, 0, 0 },
	{ "40G, 64 paths, ECN", 10000, 4, 2, 32, 8, 128, 4096, 5 * US, MS, &marking, 0, 0 },
};

/* links of 10 Mbit/s, as the lab's machines have them: reports each 10 ms, jitter, and stalls */
static const struct fabric slow[] = {
	{ "40M, 1 QP of 32", 10, 4, 2, 4, 1, 32, 1100, 300 * US, 10 * MS, &plain, 200 * US, 0 },
	{ "80M, 8 QPs of 16", 10, 8, 2, 8, 8, 16, 1100, 300 * US, 10 * MS, &plain, 200 * US, 0 },
	{ "80M, stalls", 10, 8, 2, 8, 8, 16, 1100, 300 * US, 10 * MS, &plain, 200 * US, 10 * MS },
};

static struct sim *start(const struct fabric *f, const struct rp_sched_ops *sched)
{
	struct sim_config c = {
		.links = f->links,
		.ports = f->ports,
		.evs = f->evs,
		.qps = f->qps,
		.window = f->window,
		.bytes = f->bytes,
		.interval_ns = f->interval_ns,
		.back_ns = f->delay_ns,
		.jitter_ns = f->jitter_ns,
		.stall_ns = f->stall_ns,
		.seed = rnd(),
		.sched = sched,
	};
	u32 i;

	for (i = 0; i < f->links; i++)
		c.link[i] = (struct sim_link){ f->mbit, f->delay_ns, f->queue->limit,
					       f->queue->mark_min, f->queue->mark_max };
	return sim_new(&c);
}

/* what it carries, of what all links can */
static double ratio(struct sim *sim, u64 ns)
{
	return sim_run(sim, ns) / sim_capacity(sim, ns);
}

struct outcome {
	double before, spray, after, healed;
	double share, stddev;
	u64 slow_ns;
};

/* Link 1 falls to a quarter of its rate, and comes back. */
static struct outcome slow_link(const struct fabric *f, u64 settle, u64 watch, u64 recover)
{
	double share, sum = 0, squares = 0, due = 0.25 / (f->links - 0.75);
	u64 step = 10 * f->interval_ns / (f->interval_ns > 5 * MS ? 1 : 10), t;
	struct sim *sim = start(f, &rp_sched_adaptive_ops);
	struct outcome o = { 0 };
	u32 n = 0;

	sim_run(sim, settle / 4);
	o.before = ratio(sim, settle);
	sim_set_rate(sim, 1, f->mbit / 4);
	for (t = 0; t < settle; t += 10 * f->interval_ns)
		if (ratio(sim, 10 * f->interval_ns) < 0.95)
			o.slow_ns = t + 10 * f->interval_ns;
	for (t = 0; t < watch; t += step) {
		o.after += ratio(sim, step);
		share = sim_share(sim, 1);
		sum += share;
		squares += share * share;
		n++;
	}
	o.after /= n;
	o.share = sum / n / due;
	o.stddev = sqrt(max(squares / n - sum / n * sum / n, 0.0));
	sim_set_rate(sim, 1, f->mbit);
	sim_run(sim, recover);
	o.healed = ratio(sim, settle);
	sim_free(sim);

	sim = start(f, &rp_sched_spray_ops);
	sim_set_rate(sim, 1, f->mbit / 4);
	sim_run(sim, settle);
	o.spray = ratio(sim, settle);
	sim_free(sim);
	return o;
}

static void tell(const struct fabric *f, const struct outcome *o)
{
	printf("# %-20s %.3f before, %.3f by spray; %.3f adapted, after %llu ms; ", f->name,
	       o->before, o->spray, o->after, (unsigned long long)(o->slow_ns / MS));
	printf("share %.2f of what is right, stddev %.2f %%; healed %.3f\n", o->share,
	       o->stddev * 100, o->healed);
}

/*
 * At least 95 % of the sum of what all links can carry, in the mean of some runs, and
 * nearly so in each; and the share stands still.
 */
static void check_slow_link(const struct fabric *f, u64 settle, u64 watch, u64 recover)
{
	double before = 0, after = 0, healed = 0;
	u32 k, n = max(ROUNDS(3), 1);

	for (k = 0; k < n; k++) {
		struct outcome o = slow_link(f, settle, watch, recover);

		tell(f, &o);
		require(o.after > 0.85, "%.3f adapted", o.after);
		require(o.after > o.spray + 0.3, "spray: %.3f", o.spray);
		require(o.stddev < 0.05, "stddev %.3f", o.stddev);
		before += o.before / n;
		after += o.after / n;
		healed += o.healed / n;
	}
	require(before > 0.93, "%.3f before", before);
	require(after > (n > 1 ? 0.95 : 0.9), "%.3f adapted", after);
	/* 40 seeds at low rates: 0.850 to 0.940, 0.89 in the mean, for some paths still recover */
	require(healed > (n > 1 ? 0.85 : 0.8), "%.3f healed", healed);
}

/* Measured from 100 ms after a link became slow. */
static void slow_link_at_high_rates(void **state)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fast); i++)
		check_slow_link(&fast[i], 100 * MS, ROUNDS(300) * MS, 200 * MS);
}

/* Where a queue of the window alone takes long to drain, it takes longer to settle. */
static void slow_link_at_low_rates(void **state)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(slow); i++)
		check_slow_link(&slow[i], 2000 * MS, 30000 * MS, 5000 * MS);
}

/* Nothing is wrong: it carries what spray carries. */
static void nothing_to_do(void **state)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fast); i++) {
		struct sim *sim = start(&fast[i], &rp_sched_adaptive_ops);
		double carried;

		sim_run(sim, 20 * MS);
		carried = ratio(sim, 200 * MS);
		printf("# %-20s %.3f\n", fast[i].name, carried);
		require(carried > 0.93, "%.3f", carried);
		sim_free(sim);
	}
}

/* A path that is only longer, by 300 us, gets its full share, once that is known. */
static void longer_is_not_slower(void **state)
{
	u32 i, n, low;

	for (i = 0; i < ARRAY_SIZE(fast); i++) {
		struct sim *sim = start(&fast[i], &rp_sched_adaptive_ops);
		double least = 1, share;

		sim_set_delay(sim, 1, fast[i].delay_ns + 300 * US);
		/* it takes until then to find out */
		sim_run(sim, 250 * MS);
		for (n = 0, low = 0; n < 200; n++) {
			sim_run(sim, MS);
			share = sim_share(sim, 1) * fast[i].links;
			least = min(least, share);
			low += share < 0.9;
		}
		printf("# %-20s 300 us longer: share %.3f, at least %.3f\n", fast[i].name,
		       sim_share(sim, 1) * fast[i].links, least);
		require(low < n / 20, "below 90 %% for %u of %u ms", low, n);
		sim_free(sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_do),
		cmocka_unit_test(longer_is_not_slower),
		cmocka_unit_test(slow_link_at_high_rates),
		cmocka_unit_test(slow_link_at_low_rates),
	};

	return unit_run(tests);
}
