/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pacing by earliest departure time: each clock says when the next packet may leave,
 * a packet moves it on by its own length, and leaves when the slowest allows. fq on
 * the port holds it until then. No lock: clocks are moved by compare and exchange.
 *
 * Clocks: all traffic together, the class, the QP by its own rate (the policy's or
 * DCQCN's), and the QP by its share of the class. The share counts only while the
 * class has more to send than it may: its rate divided by the number of QPs that have
 * been found waiting in the last window. Who sends less leaves the rest to the others.
 *
 * Nothing is dropped here, and nothing is given a departure that fq would drop. RDMA
 * stacks limit what a QP has in flight (rdma_rxe: 64 packets), so that a departure far
 * ahead slows the QP down. Where there are so many QPs that the horizon is reached all
 * the same, packets leave at the horizon, and the clock waits there.
 */
#ifndef ROCEPATH_BPF_PACE_H
#define ROCEPATH_BPF_PACE_H

#include <rocepath/policy.h>

#include "loop.h"

#define RP_PACE_TRIES 4
#define RP_PACE_WINDOW_SHIFT 26		/* 67 ms */
/* how far a QP's share may run ahead of now: what it took while others were silent is forgotten */
#define RP_PACE_AHEAD_NS (1ull << RP_PACE_WINDOW_SHIFT)

rp_inline u64 rp_pace_cost(u64 ns_per_byte_q20, u32 bytes)
{
	return ns_per_byte_q20 * bytes >> 20;
}

/* Take a turn on a clock that does not run ahead of @most. Return: when it is. */
rp_inline u64 rp_pace_turn(u64 *clock, u64 now, u64 cost, u64 burst, u64 most)
{
	u64 old = READ_ONCE(*clock), start = 0, seen;
	int i;

	for (i = 0; i < RP_PACE_TRIES; i++) {
		start = now > burst ? max(old, now - burst) : old;
		if (start > most)
			return most;
		seen = __sync_val_compare_and_swap(clock, old, start + cost);
		if (seen == old)
			return start;
		old = seen;
	}
	/* many CPUs at once: what counts is that each byte does */
	__sync_fetch_and_add(clock, cost);
	return start;
}

/* Another window begins: those found waiting in the last one share. */
rp_inline void rp_pace_window(struct rp_pacer *pacer, u64 window)
{
	u64 old = READ_ONCE(pacer->window);

	if (old == window || __sync_val_compare_and_swap(&pacer->window, old, window) != old)
		return;
	pacer->sharing = old + 1 == window ? pacer->waiting : 0;
	pacer->waiting = 0;
}

/* Return: when the QP's share of the class has the packet leave. */
rp_inline u64 rp_pace_share(struct rp_pacer *pacer, struct rp_qp_tx *tx, u64 now, u64 cost,
			    u64 burst)
{
	u64 window = now >> RP_PACE_WINDOW_SHIFT, start, sharing;

	rp_pace_window(pacer, window);
	sharing = max(READ_ONCE(pacer->sharing), READ_ONCE(pacer->waiting));
	cost *= max(sharing, 1ull);
	start = rp_pace_turn(&tx->fair_ns, now, cost, burst, now + RP_PACE_AHEAD_NS);
	if (start > now && tx->backlog_window != window) {
		tx->backlog_window = window;
		__sync_fetch_and_add(&pacer->waiting, 1);
	}
	return start;
}

/**
 * rp_pace() - when a packet may leave
 * @policy: the policy
 * @class: its class
 * @pacer: the clock of the class
 * @total: the clock of all
 * @tx: its QP, NULL: not known
 * @bytes: of data
 * @now: nanoseconds, CLOCK_MONOTONIC
 *
 * Return: @now or later, never later than the horizon; then it is the horizon exactly.
 */
rp_inline u64 rp_pace(const struct rp_policy *policy, const struct rp_class *class,
		      struct rp_pacer *pacer, struct rp_pacer *total, struct rp_qp_tx *tx,
		      u32 bytes, u64 now)
{
	u64 most = now + policy->horizon_ns, depart = now, start, cost, per_byte;

	if (policy->total_rate.ns_per_byte_q20) {
		cost = rp_pace_cost(policy->total_rate.ns_per_byte_q20, bytes);
		start = rp_pace_turn(&total->next_ns, now, cost, policy->total_rate.burst_ns, most);
		depart = max(depart, start);
	}
	if (class->class_rate.ns_per_byte_q20) {
		cost = rp_pace_cost(class->class_rate.ns_per_byte_q20, bytes);
		start = rp_pace_turn(&pacer->next_ns, now, cost, class->class_rate.burst_ns, most);
		depart = max(depart, start);
		if (tx) {
			u64 share = rp_pace_share(pacer, tx, now, cost, class->class_rate.burst_ns);

			if (start > now)
				depart = max(depart, share);
		}
	}
	if (tx) {
		per_byte = max(class->qp_rate.ns_per_byte_q20, READ_ONCE(tx->ns_per_byte_q20));
		if (per_byte) {
			cost = rp_pace_cost(per_byte, bytes);
			start = rp_pace_turn(&tx->next_ns, now, cost, class->qp_rate.burst_ns, most);
			depart = max(depart, start);
		}
	}
	return min(depart, most);
}

#endif /* ROCEPATH_BPF_PACE_H */
