/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pacing by earliest departure time: each clock says when the next packet may leave,
 * a packet moves it on by its own length, and leaves when the slowest allows. fq on
 * the port holds it until then. No lock.
 *
 * A QP has a clock for its own rate (the policy's or DCQCN's), one for its share of
 * the class, and one for its share of all. A clock that QPs had in common would be a
 * queue, in which who has more in flight gets more, and who wants little waits behind
 * the others.
 *
 * The share is max-min fair: in each window those QPs are counted that were found
 * waiting by it, and what all others have sent is left to them. The rest of the rate,
 * divided by the number of those that waited, is what each may take in the next one;
 * but never less than an equal part for each QP that sends at all. (A departure cannot
 * be taken back: a share that is too small for a moment would be felt for seconds.)
 *
 * Nothing is dropped here, and nothing is given a departure that fq would drop. RDMA
 * stacks limit what a QP has in flight (rdma_rxe: 64 packets), so that a departure far
 * ahead slows the QP down. Where that is not enough and the horizon is reached, packets
 * leave at the horizon, and the clock waits there.
 */
#ifndef ROCEPATH_BPF_PACE_H
#define ROCEPATH_BPF_PACE_H

#include <rocepath/loop.h>
#include <rocepath/policy.h>

#define RP_PACE_TRIES 4
#define RP_PACE_WINDOW_MIN_NS 50000000ull
#define RP_PACE_WINDOW_MAX_NS 4000000000ull
/* a window is long enough for each QP that waits to send so many packets */
#define RP_PACE_WINDOW_PACKETS 16

/**
 * struct rp_time - what time it is, as exactly as somebody wanted to know
 * @tick_ns: when the kernel's clock ticked last, CLOCK_MONOTONIC: costs next to nothing
 * @now_ns: 0: nobody asked
 *
 * A clock of ours that is ahead of the tick says when to leave, and if that is past, the
 * packet leaves at once. Only what has fallen behind the tick wants to know by how much.
 */
struct rp_time {
	u64 tick_ns;
	u64 now_ns;
};

rp_inline u64 rp_time_now(struct rp_time *time)
{
#ifdef __bpf__
	if (!time->now_ns)
		time->now_ns = bpf_ktime_get_ns();
#endif
	return time->now_ns;
}

/*
 * Nanoseconds for some bytes. What is less than one is made up for by chance, or fast
 * links would be paced wrong by some per cent.
 */
rp_inline u64 rp_pace_cost(u64 ns_per_byte_q20, u32 bytes, u64 seed)
{
	u64 chance = (seed ^ seed >> 9) * 0xff51afd7ed558ccdull >> 44;

	return (ns_per_byte_q20 * bytes + chance) >> 20;
}

/*
 * Take a turn on a clock that does not run ahead of @most. Return: when it is. A QP's
 * clocks are its own: it sends its data from one CPU at a time, and if two CPUs meet on
 * one (a response and a request), one packet is not counted.
 */
rp_inline u64 rp_pace_turn(u64 *clock, struct rp_time *time, u64 cost, u64 burst, u64 most)
{
	u64 start = READ_ONCE(*clock);

	if (start < time->tick_ns)
		start = max(start, rp_time_now(time) - burst);
	if (start > most)
		return most;
	WRITE_ONCE(*clock, start + cost);
	return start;
}

/* The same on a clock that many have in common. */
rp_inline u64 rp_pace_turn_shared(u64 *clock, struct rp_time *time, u64 cost, u64 burst, u64 most)
{
	u64 old = READ_ONCE(*clock), start, seen;
	int i;

	for (i = 0; i < RP_PACE_TRIES; i++) {
		start = old;
		if (old < time->tick_ns)
			start = max(old, rp_time_now(time) - burst);
		if (start > most)
			return most;
		seen = __sync_val_compare_and_swap(clock, old, start + cost);
		if (seen == old)
			return start;
		old = seen;
	}
	/* many CPUs at once: what counts is that each byte does */
	__sync_fetch_and_add(clock, cost);
	return old;
}

/* Another window begins: what may each QP take that waits? @cost: of a packet, at the whole rate */
rp_inline void rp_pace_window(struct rp_pacer *pacer, const struct rp_rate *rate, u64 now, u64 cost)
{
	u64 end = READ_ONCE(pacer->window_end_ns), start = pacer->window_start_ns;
	u64 length, small, left, share;
	u32 sharing, active;

	if (now < end || __sync_val_compare_and_swap(&pacer->window_end_ns, end, ~0ull) != end)
		return;
	sharing = max(READ_ONCE(pacer->waiting), 1u);
	active = max(READ_ONCE(pacer->active), 1u);
	length = now - start;
	/* in bytes a second; what was sent long ago says nothing */
	small = length > 2 * RP_PACE_WINDOW_MAX_NS ?
			0 :
			pacer->small_bytes * 1000000 / (length / 1000 ?: 1);
	left = rate->rate_bytes_per_s - min(small, rate->rate_bytes_per_s);
	share = max(left / sharing, rate->rate_bytes_per_s / active);
	pacer->share_ns_per_byte_q20 = max((1000000000ull << 20) / max(share, 1ull), 1ull);
	pacer->sharing = sharing;
	pacer->waiting = 0;
	pacer->were_active = active;
	pacer->active = 0;
	pacer->small_bytes = 0;
	pacer->window_start_ns = now;
	pacer->window++;
	length = RP_PACE_WINDOW_PACKETS * sharing * cost;
	length = clamp(length, RP_PACE_WINDOW_MIN_NS, RP_PACE_WINDOW_MAX_NS);
	WRITE_ONCE(pacer->window_end_ns, now + length);
}

/* Nanoseconds a byte that each QP may take now. */
rp_inline u64 rp_pace_share_now(const struct rp_pacer *pacer, const struct rp_rate *rate)
{
	u64 share = max(READ_ONCE(pacer->share_ns_per_byte_q20), rate->ns_per_byte_q20);
	u32 sharing = READ_ONCE(pacer->sharing), waiting = READ_ONCE(pacer->waiting);
	u32 active = max(READ_ONCE(pacer->active), READ_ONCE(pacer->were_active));

	/* more than there were: at once */
	if (waiting > sharing)
		share = share * waiting / max(sharing, 1u);
	return min(share, rate->ns_per_byte_q20 * max(active, 1u));
}

/* Return: when the QP's share has the packet leave. */
rp_inline u64 rp_pace_share(struct rp_pacer *pacer, struct rp_turn *turn,
			    const struct rp_rate *rate, u32 bytes, struct rp_time *time, u64 most)
{
	u64 tick = time->tick_ns, start, window;

	if (tick >= READ_ONCE(pacer->window_end_ns))
		rp_pace_window(pacer, rate, tick, rp_pace_cost(rate->ns_per_byte_q20, bytes, tick));
	window = READ_ONCE(pacer->window);
	if (turn->active_window != window) {
		turn->active_window = window;
		__sync_fetch_and_add(&pacer->active, 1);
	}
	start = rp_pace_turn(&turn->next_ns, time,
			     rp_pace_cost(rp_pace_share_now(pacer, rate), bytes, turn->next_ns),
			     rate->burst_ns, most);
	if (turn->waiting_window == window)
		return start;
	if (start > tick && start > rp_time_now(time)) {
		turn->waiting_window = window;
		__sync_fetch_and_add(&pacer->waiting, 1);
	} else {
		__sync_fetch_and_add(&pacer->small_bytes, bytes);
	}
	return start;
}

/* Return: when a packet may leave by what its QP shares with others. */
rp_inline u64 rp_pace_shared(struct rp_pacer *pacer, struct rp_turn *turn,
			     const struct rp_rate *rate, u32 bytes, struct rp_time *time, u64 most)
{
	if (!rate->ns_per_byte_q20)
		return 0;
	if (turn)
		return rp_pace_share(pacer, turn, rate, bytes, time, most);
	/* QPs that are not known share one place */
	return rp_pace_turn_shared(&pacer->next_ns, time,
				   rp_pace_cost(rate->ns_per_byte_q20, bytes, pacer->next_ns),
				   rate->burst_ns, most);
}

/* Nanoseconds a byte of a QP's own; what CNPs made of it counts where the class says so. */
rp_inline u64 rp_pace_own(const struct rp_class *class, const struct rp_qp_tx *tx)
{
	u64 cut = class->flags & RP_CLASS_DCQCN ? READ_ONCE(tx->ns_per_byte_q20) : 0;

	return max(class->qp_rate.ns_per_byte_q20, cut);
}

/**
 * rp_pace() - when a packet may leave
 * @policy: the policy
 * @class: its class
 * @pacer: of the class
 * @total: of all
 * @tx: its QP, NULL: not known
 * @bytes: of data
 * @time: the time
 *
 * Return: nanoseconds, CLOCK_MONOTONIC; what is past means at once. Never later than the
 * horizon from the last tick; then it is that exactly.
 */
rp_inline u64 rp_pace(const struct rp_policy *policy, const struct rp_class *class,
		      struct rp_pacer *pacer, struct rp_pacer *total, struct rp_qp_tx *tx,
		      u32 bytes, struct rp_time *time)
{
	u64 most = time->tick_ns + policy->horizon_ns, depart, start, per_byte;

	depart = rp_pace_shared(total, tx ? &tx->total_turn : NULL, &policy->total_rate, bytes,
				time, most);
	start = rp_pace_shared(pacer, tx ? &tx->class_turn : NULL, &class->class_rate, bytes, time,
			       most);
	depart = max(depart, start);
	if (!tx)
		return depart;
	per_byte = rp_pace_own(class, tx);
	if (per_byte) {
		start = rp_pace_turn(&tx->next_ns, time, rp_pace_cost(per_byte, bytes, tx->next_ns),
				     class->qp_rate.burst_ns, most);
		depart = max(depart, start);
	}
	return depart;
}

#endif /* ROCEPATH_BPF_PACE_H */
