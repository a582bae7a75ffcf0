// SPDX-License-Identifier: GPL-2.0
#include "holddown.h"

#define NS_PER_MS 1000000ull

static void enter(struct rp_holddown *h, enum rocepath_port_state state, u64 now_ns)
{
	h->state = state;
	h->since_ns = now_ns;
}

u32 rp_holddown_forgive(u32 hold_ms, u64 up_ns)
{
	u64 while_ns = hold_ms * NS_PER_MS;

	while (hold_ms && up_ns >= while_ns) {
		up_ns -= while_ns;
		hold_ms /= 2;
		while_ns = hold_ms * NS_PER_MS;
	}
	return hold_ms;
}

u32 rp_holddown_double(u32 hold_ms, u32 first_ms, u32 max_ms)
{
	u64 least_ms = first_ms, most_ms = max_ms;

	return max(min(2ull * hold_ms, most_ms), least_ms);
}

void rp_holddown_init(struct rp_holddown *h, bool up, u64 now_ns)
{
	memset(h, 0, sizeof(*h));
	enter(h, up ? ROCEPATH_PORT_UP : ROCEPATH_PORT_DOWN, now_ns);
}

bool rp_holddown_down(struct rp_holddown *h, u64 now_ns)
{
	if (h->state == ROCEPATH_PORT_DOWN)
		return false;
	if (h->state == ROCEPATH_PORT_UP)
		h->hold_ms = rp_holddown_forgive(h->hold_ms, now_ns - h->since_ns);
	h->flaps++;
	enter(h, ROCEPATH_PORT_DOWN, now_ns);
	return true;
}

bool rp_holddown_up(struct rp_holddown *h, u32 first_ms, u32 max_ms, u64 now_ns)
{
	if (h->state != ROCEPATH_PORT_DOWN)
		return false;
	if (!h->flaps || !first_ms) {
		h->hold_ms = 0;
		enter(h, ROCEPATH_PORT_UP, now_ns);
		return true;
	}
	h->hold_ms = rp_holddown_double(h->hold_ms, first_ms, max_ms);
	h->until_ns = now_ns + h->hold_ms * NS_PER_MS;
	enter(h, ROCEPATH_PORT_HOLDDOWN, now_ns);
	return true;
}

bool rp_holddown_poll(struct rp_holddown *h, u64 now_ns)
{
	if (h->state != ROCEPATH_PORT_HOLDDOWN || now_ns < h->until_ns)
		return false;
	enter(h, ROCEPATH_PORT_UP, now_ns);
	return true;
}
