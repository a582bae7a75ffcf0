// SPDX-License-Identifier: GPL-2.0
/* What the QP got as repairs lately. See repaired.h. */
#include "repaired.h"

static bool clear_bit_of(struct rp_repaired_half *half, u32 psn)
{
	u32 i = psn % RP_REPAIRED_REACH, bit = 1u << i % 32;

	if (!half->n || !(half->bit[i / 32] & bit))
		return false;
	half->bit[i / 32] &= ~bit;
	half->n--;
	return true;
}

static void empty(struct rp_repaired_half *half)
{
	if (half->n)
		memset(half->bit, 0, sizeof(half->bit));
	half->n = 0;
}

void rp_repaired_add(struct rp_repaired *r, u32 psn, u64 now_ns, u64 life_ns)
{
	struct rp_repaired_half *half = &r->half[r->newer];
	u32 i = psn % RP_REPAIRED_REACH, bit = 1u << i % 32;

	if (half->n && now_ns - half->since_ns >= life_ns / 2) {
		r->newer ^= 1;
		half = &r->half[r->newer];
		empty(half);
	}
	if (!half->n)
		half->since_ns = now_ns;
	half->n += !(half->bit[i / 32] & bit);
	half->bit[i / 32] |= bit;
}

bool rp_repaired_take(struct rp_repaired *r, u32 psn, u64 now_ns, u64 life_ns)
{
	bool lately = false;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(r->half); i++) {
		if (clear_bit_of(&r->half[i], psn) && now_ns - r->half[i].since_ns < life_ns)
			lately = true;
	}
	return lately;
}

void rp_repaired_pass(struct rp_repaired *r, u32 psn, u32 count)
{
	if (likely(!rp_repaired_any(r)))
		return;
	if (count >= RP_REPAIRED_REACH) {
		rp_repaired_forget(r);
		return;
	}
	while (count--) {
		clear_bit_of(&r->half[0], psn);
		clear_bit_of(&r->half[1], psn);
		psn = rp_psn_add(psn, 1);
	}
}

void rp_repaired_forget(struct rp_repaired *r)
{
	empty(&r->half[0]);
	empty(&r->half[1]);
}
