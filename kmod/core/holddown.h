/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a port may carry traffic, from what its carrier does. Down counts at
 * once. A port that comes back is held down for a while first, and the while
 * doubles with each flap, up to a limit; it halves again for each such while
 * that the port stays up.
 */
#ifndef ROCEPATH_CORE_HOLDDOWN_H
#define ROCEPATH_CORE_HOLDDOWN_H

#include <rocepath/types.h>
#include <linux/rocepath.h>

/**
 * struct rp_holddown - of one port
 * @state: where it is
 * @since_ns: since when
 * @until_ns: end of the hold-down, in ROCEPATH_PORT_HOLDDOWN
 * @hold_ms: length of the last hold-down, halved since then for the time that the port stayed up
 * @flaps: times it went down from being up or held down
 */
struct rp_holddown {
	enum rocepath_port_state state;
	u64 since_ns;
	u64 until_ns;
	u32 hold_ms;
	u32 flaps;
};

/**
 * rp_holddown_forgive() - time that it stayed up speaks for it
 * @hold_ms: length of the last hold-down
 * @up_ns: up since then for so long; each hold-down's length of it halves the next hold-down
 *
 * Return: what is left of @hold_ms.
 */
u32 rp_holddown_forgive(u32 hold_ms, u64 up_ns);

/**
 * rp_holddown_double() - length of the next hold-down
 * @hold_ms: what is left of the last one
 * @first_ms: least
 * @max_ms: most, where damping ends; less than @first_ms: no damping
 */
u32 rp_holddown_double(u32 hold_ms, u32 first_ms, u32 max_ms);

/** rp_holddown_init() - a new port: no hold-down the first time that it comes up. */
void rp_holddown_init(struct rp_holddown *h, bool up, u64 now_ns);

/** rp_holddown_down() - it lost its carrier. Return: true if that is news. */
bool rp_holddown_down(struct rp_holddown *h, u64 now_ns);

/**
 * rp_holddown_up() - it has carrier
 * @h: the port
 * @first_ms: hold-down of a port that does not flap, 0: none
 * @max_ms: most, where damping ends; less than @first_ms: no damping
 * @now_ns: the time
 *
 * Return: true if that is news.
 */
bool rp_holddown_up(struct rp_holddown *h, u32 first_ms, u32 max_ms, u64 now_ns);

/** rp_holddown_poll() - time passed. Return: true if the hold-down just ended. */
bool rp_holddown_poll(struct rp_holddown *h, u64 now_ns);

#endif /* ROCEPATH_CORE_HOLDDOWN_H */
