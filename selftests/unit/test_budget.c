// SPDX-License-Identifier: GPL-2.0
/* Probes stay within their budget: what is taken from it, and how turns are spread. */
/* SOURCES: kmod/core/budget.c kmod/core/health.c kmod/core/holddown.c */
#include <stdlib.h>

#include "unit.h"
#include "budget.h"
#include "health.h"

#define MS 1000000ull
#define SECOND (1000 * MS)
#define RATE 10000
#define ROUND_MS 125
#define PEERS 4096
#define PATHS 64

/* Whoever asks as often as he likes gets the rate, and a tenth of a second's at once at most. */
static void test_rate(void **state)
{
	struct rp_budget b = { 0 };
	u64 now = 1000 * SECOND, at;
	u32 got = 0, at_once, i;

	for (at_once = 0; rp_budget_take(&b, RATE, now); at_once++)
		;
	assert_int_equal(at_once, RATE / RP_BUDGET_BURST);
	for (at = 1; at <= 10 * SECOND; at += 1 + rnd_below(2 * MS))
		for (i = 0; i < 3; i++)
			got += rp_budget_take(&b, RATE, now + at);
	assert_in_range(got, 9 * RATE / 10, 10 * RATE + 1);
	/* a clock that was read before does no harm, and a rate of 1 is one */
	while (rp_budget_take(&b, RATE, now + 10 * SECOND))
		;
	assert_false(rp_budget_take(&b, RATE, now));
	b = (struct rp_budget){ 0 };
	assert_true(rp_budget_take(&b, 1, now));
	assert_false(rp_budget_take(&b, 1, now + SECOND - 1));
	assert_true(rp_budget_take(&b, 1, now + SECOND));
}

/* One turn in each period, the same one, not before it is asked for. */
static void test_turns(void **state)
{
	u32 i;

	for (i = 0; i < ROUNDS(100000); i++) {
		u32 phase = rnd();
		u64 from = (u64)rnd_below(1 << 20) << 30 | rnd_below(1 << 30);
		u64 period = rnd_range(1, 100000) * 1000ull;
		u64 turn = rp_budget_turn(phase, period, from);

		assert_true(turn >= from && turn < from + period + 2000);
		require(rp_budget_turn(phase, period, turn + 1) - turn <= period + 2000 &&
			rp_budget_turn(phase, period, turn + 1) - turn + 2000 >= period,
			"%u: not one period later", i);
		period = RP_BUDGET_PERIOD_MAX_MS * 1000000ull;
		turn = rp_budget_turn(phase, period, from);
		assert_true(turn >= from && turn < from + period + 2000);
		assert_in_range(rp_budget_turn(phase, period, turn + 1) - turn, period - 2000, period + 2000);
	}
}

static void test_period(void **state)
{
	assert_int_equal(rp_budget_period_ms(0, RATE, ROUND_MS, 1000), 1000);
	assert_int_equal(rp_budget_period_ms(8000, RATE, ROUND_MS, 1), 1250);
	assert_int_equal(rp_budget_period_ms(8000, RATE, ROUND_MS, 2000), 2000);
	/* seldom looked at: no more of them at once than the budget lets go */
	assert_int_equal(rp_budget_period_ms(8000, RATE, 1000, 1), 10000);
	/* what a device may be told at most: as many paths, as small a budget */
	assert_int_equal(rp_budget_period_ms(4096 * 1024, 1, ROUND_MS, 1), RP_BUDGET_PERIOD_MAX_MS);
	assert_int_equal(rp_budget_period_ms(~0u, 1, ~0u, 1), RP_BUDGET_PERIOD_MAX_MS);
}

struct spread {
	u32 refused;	/* of all rounds */
	u32 most;	/* of a round */
	u64 longest_ns;	/* between two probes of a path */
};

/*
 * All paths of all peers fall idle at the same moment, and are looked at each round. With
 * @phases false all have their turn at the same time, as it would be without phases.
 */
static struct spread spread(bool phases)
{
	u32 period_ms = rp_budget_period_ms(PEERS * PATHS, RATE, ROUND_MS, 1000), i, sent;
	struct rp_health_knobs knobs = { .interval_ns = MS, .patience_ns = MS };
	struct rp_health *h = calloc(PEERS * PATHS, sizeof(*h));
	u32 *phase = calloc(PEERS, sizeof(*phase));
	struct rp_budget budget = { 0 };
	struct spread s = { 0 };
	u64 begun = 5000 * SECOND, now;

	assert_true(h && phase);
	for (i = 0; i < PEERS; i++)
		phase[i] = phases ? rnd() : 0;
	for (i = 0; i < PEERS * PATHS; i++) {
		rp_health_init(&h[i], true, begun);
		h[i].arrived_ns = begun;
		h[i].phase = phases ? rp_budget_phase(i % PATHS) : 0;
	}
	for (now = begun; now < begun + 3 * period_ms * MS; now += ROUND_MS * MS) {
		for (i = 0, sent = 0; i < PEERS * PATHS; i++) {
			knobs.phase = phase[i / PATHS];
			if (!rp_health_probe_due(&h[i], period_ms * MS, &knobs, now))
				continue;
			if (!rp_budget_take(&budget, RATE, now)) {
				s.refused++;
				continue;
			}
			sent++;
			s.longest_ns = max(s.longest_ns, now - h[i].arrived_ns);
			rp_health_probed(&h[i], &knobs, now);
			rp_health_answered(&h[i], now, &knobs, now);
		}
		s.most = max(s.most, sent);
	}
	free(phase);
	free(h);
	return s;
}

static void test_large_cluster(void **state)
{
	u32 period_ms = rp_budget_period_ms(PEERS * PATHS, RATE, ROUND_MS, 1000);
	struct spread even = spread(true), at_once = spread(false);

	print_message("# %u paths, each every %u ms: %u in a round of %u ms at most, %u refused\n",
		      PEERS * PATHS, period_ms, even.most, ROUND_MS, even.refused);
	assert_int_equal(even.refused, 0);
	assert_true(even.most <= RATE / RP_BUDGET_BURST);
	assert_true(even.longest_ns <= (3 * period_ms / 2 + 2 * ROUND_MS) * MS);
	print_message("# all at the same time: %u refused\n", at_once.refused);
	assert_true(at_once.refused > PEERS * PATHS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_period),
		cmocka_unit_test(test_large_cluster),
	};

	return unit_run(tests);
}
