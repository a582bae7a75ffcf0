// SPDX-License-Identifier: GPL-2.0
#include "budget.h"

#define NS_PER_S 1000000000ull
#define NS_PER_US 1000u

bool rp_budget_take(struct rp_budget *b, u32 rate, u64 now_ns)
{
	u64 passed_ns = now_ns > b->filled_ns ? min(now_ns - b->filled_ns, NS_PER_S) : 0;
	u32 more = div_u64(passed_ns * rate, NS_PER_S);

	if (more) {
		b->left = min(b->left + more, max(rate / RP_BUDGET_BURST, 1u));
		/* what is not worth a whole one yet is not lost */
		b->filled_ns = now_ns - (passed_ns - div_u64(more * NS_PER_S, rate));
	}
	if (!b->left)
		return false;
	b->left--;
	return true;
}

u32 rp_budget_period_ms(u32 n, u32 rate, u32 round_ms, u32 least_ms)
{
	u64 evenly_ms = div_u64(n * 1250ull, rate);
	u64 in_rounds_ms = div_u64((u64)n * round_ms * 5 / 4, max(rate / RP_BUDGET_BURST, 1u));

	return min(max(max(evenly_ms, in_rounds_ms), (u64)least_ms), (u64)RP_BUDGET_PERIOD_MAX_MS);
}

u64 rp_budget_turn(u32 phase, u64 period_ns, u64 from_ns)
{
	u32 period_us = max(div_u64(period_ns, NS_PER_US), 1ull);
	u64 from_us = div_u64(from_ns + NS_PER_US - 1, NS_PER_US);
	u64 since_us = from_us + period_us - ((u64)period_us * phase >> 32);
	u32 after_us = since_us - div_u64(since_us, period_us) * period_us;

	return (from_us + (after_us ? period_us - after_us : 0)) * NS_PER_US;
}
