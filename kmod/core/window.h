/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reorder window of one PSN space of one flow.
 *
 * The window knows what PSN the QP expects next and keeps later packets back
 * until the ones before them came. It never runs ahead of the QP: an RC QP
 * throws away what comes after a gap, asks once for the packet it misses, and
 * the sender goes back and sends all again (go-back-N). So when a gap outlives
 * its time, the held packets are let go, in order, for the QP to see the gap,
 * and the window goes on expecting the missing one. The QP's own ACKs and NAKs,
 * seen on their way out, correct the window where it guessed wrong (seek).
 *
 *   PSN before the expected one   a duplicate or a retransmission: passes
 *   the expected one              passes, and what was held behind it
 *   ahead, within @reach          held
 *   ahead, farther                passes, moves nothing
 *
 * A repair (repair.h) is there to close a gap and must not reach the QP otherwise:
 * of one that is neither the expected one nor can be held, nothing is lost. What
 * it repairs may come after all, late: it is dropped, once, for as long as a gap
 * may live. A retransmission of the QP itself looks the same, but comes later, and
 * not alone: the first one behind that no repair explains ends that.
 *
 * Requests: a READ request uses up as many PSNs as it will have responses, so
 * an entry has a span. Responses: which PSNs will come is known from the READ
 * and atomic requests that left (see rp_window_await); between them the PSNs
 * jump, for ACKs coalesce. Only an awaited PSN is held there, however far ahead.
 *
 * Entries are embedded in the caller's packets; the window allocates nothing.
 * The caller owns the hash buckets and may give larger ones (rp_window_buckets).
 */
#ifndef ROCEPATH_CORE_WINDOW_H
#define ROCEPATH_CORE_WINDOW_H

#include <rocepath/psn.h>
#include "repaired.h"

/* as many READs and atomics as a QP can have outstanding (IBTA: 8 bits) */
#define RP_WINDOW_AWAITED 256

/**
 * struct rp_held - a packet in the window; embedded in the caller's packet
 * @next: of the same bucket, or of the list that is handed out
 * @psn: its first PSN
 * @span: PSNs that it uses up
 * @bytes: what it counts against byte caps
 * @repair: it is one, see struct rp_roce
 * @held_ns: since when it is held
 * @late_ns: filled in by rp_window_rx(): how long after its successor it came, 0 when it came
 *	before all later ones, RP_LATE_UNKNOWN when that says nothing of its path
 */
struct rp_held {
	struct rp_held *next;
	u32 psn;
	u32 span;
	u32 bytes;
	bool repair;
	u64 held_ns;
	s64 late_ns;
};

#define RP_LATE_UNKNOWN (-1)

/**
 * enum rp_window_verdict - what to do with a packet that arrived
 * @RP_WINDOW_PASS: deliver it; it is none of the window's concern (old, far ahead, not awaited)
 * @RP_WINDOW_DELIVER: deliver it, it was the expected one; then take rp_window_next()
 *	until it is empty
 * @RP_WINDOW_HOLD: the window has it now
 * @RP_WINDOW_DUPLICATE: the window has that PSN already, or it is or was repaired in vain: drop
 *	and count
 * @RP_WINDOW_FULL: a cap stands against holding it; nothing changed. Deliver what
 *	rp_window_overflow() gives
 */
enum rp_window_verdict {
	RP_WINDOW_PASS,
	RP_WINDOW_DELIVER,
	RP_WINDOW_HOLD,
	RP_WINDOW_DUPLICATE,
	RP_WINDOW_FULL,
};

/**
 * struct rp_window_caps - bounds, given with each packet so that knobs take effect at once
 * @packets: held at once; also how far ahead a PSN may be to be held (reach). Where READs
 *	use up many PSNs each, the reach is longer by what RP_WINDOW_AWAITED of them use up.
 *	0: hold nothing
 * @bytes: held at once
 * @gap_fixed_us: the gap timeout, 0: adaptive, between
 * @gap_floor_us: and
 * @gap_ceiling_us:
 */
struct rp_window_caps {
	u32 packets;
	u32 bytes;
	u32 gap_fixed_us;
	u32 gap_floor_us;
	u32 gap_ceiling_us;
};

struct rp_window_stats {
	u64 held;	/* packets ever held */
	u64 filled;	/* gaps that closed in time */
	u64 expired;	/* gaps that did not */
	u64 rewinds;	/* the QP asked for older ones again */
	u64 forwards;	/* the QP was farther than the window knew */
	u64 repairs;	/* that were missing */
	u64 needless;	/* repairs that were not, or could not be held */
	u64 overtaken;	/* dropped: their repairs had come before them */
	u32 held_max;	/* most at once */
};

/* a run of response PSNs that will come */
struct rp_awaited {
	u32 psn;
	u32 count;
};

/**
 * struct rp_window - one PSN space of one flow
 * @expected: the PSN that the QP wants next
 * @open: @expected means something; always so for requests, for responses while any is awaited
 * @skips: after an expired gap the QP goes on behind it by itself (UC), so the window must as well
 * @strikes: gaps that expired since one closed in time
 * @held: packets held
 * @held_bytes: their bytes
 * @mask: buckets less one
 * @bucket: hash of the held ones by PSN
 * @ready: held ones that the QP went past, in PSN order, for rp_window_next() to hand out
 * @span_max: most PSNs that one packet used up
 * @furthest: PSN behind the last one that was held, while any is
 * @gap_ns: since when the gap before the held ones is open, 0: none is
 * @late_ns: how late the late ones lately were: peak with slow decay
 * @decayed_ns: when @late_ns was last lowered
 * @awaited: ring of response PSNs to come; NULL for requests
 * @awaited_head: the one that @expected is in
 * @awaited_n: runs in it
 * @repaired_ns: how long a repair is remembered: the gap timeout when one last came
 * @repaired: what the QP got as repairs
 * @stats: for people
 */
struct rp_window {
	u32 expected;
	bool open;
	bool skips;
	u8 strikes;
	u32 held;
	u32 held_bytes;
	u32 mask;
	struct rp_held **bucket;
	struct rp_held *ready;
	u32 span_max;
	u32 furthest;
	u64 gap_ns;
	u64 late_ns;
	u64 decayed_ns;
	struct rp_awaited *awaited;
	u16 awaited_head;
	u16 awaited_n;
	u64 repaired_ns;
	struct rp_repaired repaired;
	struct rp_window_stats stats;
};

/**
 * rp_window_init_requests() - of a responder: all PSNs come, from @psn on
 * @w: the window, empty
 * @psn: the QP's rq_psn
 * @skips: UC
 */
void rp_window_init_requests(struct rp_window *w, u32 psn, bool skips);

/**
 * rp_window_init_responses() - of a requester: PSNs come as rp_window_await() says
 * @w: the window, empty
 * @awaited: room for RP_WINDOW_AWAITED entries, the caller's
 */
void rp_window_init_responses(struct rp_window *w, struct rp_awaited *awaited);

/**
 * rp_window_buckets() - give the window (other) buckets; what is held moves over
 * @w: the window
 * @bucket: @n pointers, zeroed; NULL with @n = 0 when nothing is held
 * @n: a power of two
 *
 * Return: the old ones, for the caller to free. What is held cannot do without:
 * then @n = 0 changes nothing and NULL is returned.
 */
struct rp_held **rp_window_buckets(struct rp_window *w, struct rp_held **bucket, u32 n);

/**
 * rp_window_wants() - buckets to give before the next packet
 * @w: the window
 * @psn: its PSN
 *
 * Return: 0 when what is there is enough for a packet of this PSN, else the
 * number to give. Twice the held ones rounded up, at least 64, so that the cost
 * of growing is spread; a window that cannot get them works with the old ones,
 * or, having none at all, lets everything pass.
 */
u32 rp_window_wants(const struct rp_window *w, u32 psn);

/**
 * rp_window_rx() - a packet arrived
 * @w: the window
 * @h: its entry, psn, span, bytes and repair filled in
 * @caps: bounds
 * @now_ns: the time; only of an unmarked packet that is the expected one while nothing is held
 *	it is not looked at
 */
enum rp_window_verdict rp_window_rx(struct rp_window *w, struct rp_held *h,
				    const struct rp_window_caps *caps, u64 now_ns);

/**
 * rp_window_next() - the held packet whose turn it is
 * @w: the window
 * @now_ns: the time
 *
 * Call until it is NULL after each RP_WINDOW_DELIVER, rp_window_seek() and
 * rp_window_await(). Also hands out held packets that the QP has meanwhile gone past.
 */
struct rp_held *rp_window_next(struct rp_window *w, u64 now_ns);

/**
 * rp_window_deadline() - when the gap has lived too long
 * @w: the window
 * @caps: bounds
 *
 * Return: ns, 0 when there is no gap. Arm a timer for it; when it fires ask
 * again, for the gap may have closed and another opened.
 */
u64 rp_window_deadline(const struct rp_window *w, const struct rp_window_caps *caps);

/**
 * rp_window_timeout_us() - the gap timeout in force
 * @w: the window
 * @caps: bounds
 *
 * Twice as long as the late ones lately took, and a quarter more for each gap
 * that expired since one closed in time: lateness that was never seen to end in
 * time is found out that way. At least the floor, at most the ceiling.
 */
u32 rp_window_timeout_us(const struct rp_window *w, const struct rp_window_caps *caps);

/**
 * rp_window_release() - give up on the gap: hand out all that is held
 * @w: the window
 * @expired: the gap's time is up (else: a cap, a port event, the end)
 *
 * Return: a list by @next in PSN order. @expected stays, but for @skips, where
 * it moves behind the last one.
 */
struct rp_held *rp_window_release(struct rp_window *w, bool expired);

/**
 * rp_window_overflow() - hand out all that is held and one packet more
 * @w: the window
 * @h: for which rp_window_rx() said RP_WINDOW_FULL
 *
 * Return: a list as that of rp_window_release(), with @h in its place.
 */
struct rp_held *rp_window_overflow(struct rp_window *w, struct rp_held *h);

/**
 * rp_window_seek() - the QP itself said what it expects
 * @w: a request window
 * @psn: from an ACK (its PSN plus one), a NAK or RNR NAK (its PSN), or a response that left
 * @back: may also go back: a NAK; an ACK only moves forward
 *
 * Return: true if the window moved; then take rp_window_next() until it is empty.
 */
bool rp_window_seek(struct rp_window *w, u32 psn, bool back);

/**
 * rp_window_await() - a READ or atomic request left: responses will come
 * @w: a response window
 * @psn: of the request, the PSN of the first response
 * @count: responses
 *
 * A PSN at or before what is awaited already means that the requester goes
 * back: what was awaited from there on is forgotten, for it will ask again.
 *
 * Return: true if the window moved; then take rp_window_next() until it is empty.
 */
bool rp_window_await(struct rp_window *w, u32 psn, u32 count);

#endif /* ROCEPATH_CORE_WINDOW_H */
