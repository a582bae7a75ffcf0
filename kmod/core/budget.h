/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many probes a device may send in a second, and how those to idle paths are
 * spread, so that they stay within it in each short time, too: one path has one
 * turn in a period, and turns are spread evenly over it.
 */
#ifndef ROCEPATH_CORE_BUDGET_H
#define ROCEPATH_CORE_BUDGET_H

#include <rocepath/types.h>

/* at once at most: that part of a second's */
#define RP_BUDGET_BURST 10
/* the longest period: as the longest probe-interval, and in microseconds it fits 32 bits */
#define RP_BUDGET_PERIOD_MAX_MS 3600000u

/**
 * struct rp_budget - what is left of it
 * @filled_ns: when it was last filled up
 * @left: so many
 */
struct rp_budget {
	u64 filled_ns;
	u32 left;
};

/**
 * rp_budget_take() - one is to be sent
 * @b: the budget
 * @rate: of it, in a second
 * @now_ns: the time; another CPU's may be ahead
 *
 * Return: false if there is none left.
 */
bool rp_budget_take(struct rp_budget *b, u32 rate, u64 now_ns);

/**
 * rp_budget_period_ms() - how long it takes until each has had its turn
 * @n: so many want one
 * @rate: of the budget, in a second
 * @round_ms: their turns are looked for that often
 * @least_ms: not sooner than that
 *
 * A fifth of the budget is left for others, and no round needs more than may be sent at once.
 * Where that would take longer than RP_BUDGET_PERIOD_MAX_MS, it is that, and the budget refuses.
 */
u32 rp_budget_period_ms(u32 n, u32 rate, u32 round_ms, u32 least_ms);

/**
 * rp_budget_turn() - the next turn
 * @phase: when in the period its turn is, in parts of 2^32
 * @period_ns: of all, RP_BUDGET_PERIOD_MAX_MS at most
 * @from_ns: not before that
 */
u64 rp_budget_turn(u32 phase, u64 period_ns, u64 from_ns);

/** rp_budget_phase() - of the nth: any number of them in a row are spread evenly. */
static inline u32 rp_budget_phase(u32 n)
{
	return n * 0x9e3779b9u;	/* golden ratio */
}

#endif /* ROCEPATH_CORE_BUDGET_H */
