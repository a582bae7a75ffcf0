// SPDX-License-Identifier: GPL-2.0
#include "holddown.h"

#define NS_PER_MS 1000000ull

static void enter(struct rp_holddown *h, enum rocepath_port_state state, u64 now_ns)
{
	h->state = state;
	h->since_ns = now_ns;
}

/*
 * Time that the port stayed up speaks for it: each hold-down's length of it halves the
 * next hold-down.
 */
static void forgive(struct rp_holddown *h, u64 up_ns)
{
	u64 while_ns = h->hold_ms * NS_PER_MS;

	while (h->hold_ms && up_ns >= while_ns) {
		up_ns -= while_ns;
		h->hold_ms /= 2;
		while_ns = h->hold_ms * NS_PER_MS;
	}
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
		forgive(h, now_ns - h->since_ns);
	h->flaps++;
	enter(h, ROCEPATH_PORT_DOWN, now_ns);
	return true;
}

bool rp_holddown_up(struct rp_holddown *h, u32 first_ms, u32 max_ms, u64 now_ns)
{
	u64 hold_ms = 2ull * h->hold_ms;

	if (h->state != ROCEPATH_PORT_DOWN)
		return false;
	if (!h->flaps || !first_ms) {
		h->hold_ms = 0;
		enter(h, ROCEPATH_PORT_UP, now_ns);
		return true;
	}
	if (hold_ms > max_ms)
		hold_ms = max_ms;
	if (hold_ms < first_ms)
		hold_ms = first_ms;
	h->hold_ms = hold_ms;
	h->until_ns = now_ns + hold_ms * NS_PER_MS;
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
