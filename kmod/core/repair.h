/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a flow has sent over its paths and does not know delivered: the queue
 * that repairs come from. One for each PSN space of a QP, at its sender.
 *
 * In the order of PSNs, which is the order of sending until the QP goes back
 * by itself: then what it will send again is dropped here, for it comes again.
 * Three things take entries out: an acknowledge of the QP that passes by, a
 * report of the receiver, and the caps. A report says which PSN the receiver
 * expects and which later ones it has. An entry that it does not have is lost,
 * not late, when
 *
 *   a packet sent later on the same path did arrive (a path keeps its order),
 *   or one sent later by more than @spread_us on any path did,
 *   or the report came more than @round_us after it was sent,
 *   or its port lost its carrier,
 *   or nothing was heard for @tail_us since it was sent: the tail of a burst.
 *
 * Lost ones are sent again over another path, RP_REPAIR_TRIES times at most;
 * then, or when caps are hit, the QP's own recovery is left to do its work.
 *
 * Entries are embedded in the caller's packets; this allocates nothing. The
 * caller serialises all calls for one queue.
 */
#ifndef ROCEPATH_CORE_REPAIR_H
#define ROCEPATH_CORE_REPAIR_H

#include <rocepath/psn.h>

/* no path in particular */
#define RP_REPAIR_NO_PATH 0xffff

/* of one packet: with one path in twenty losing, three lose it once in 8,000 times */
#define RP_REPAIR_TRIES 4

/* sent again at once: so many, or that part of what waits if it is more; see rp_repair_batch() */
#define RP_REPAIR_BATCH 32u
#define RP_REPAIR_BATCH_PART 4

/**
 * struct rp_sent - a packet that was sent; embedded in the caller's packet
 * @next: towards newer ones, or of the list that is handed out
 * @prev: towards older ones
 * @psn: its first PSN
 * @span: PSNs that it uses up
 * @bytes: what it counts against caps
 * @path: index in the peer's pathset, that it was last sent on, RP_REPAIR_NO_PATH: it is no more
 * @first: that it was first sent on, RP_REPAIR_NO_PATH: one that failed or is no more
 * @tries: times it was sent again
 * @lost: it is lost and waits to be sent again
 * @sent_ns: when it was last sent
 */
struct rp_sent {
	struct rp_sent *next;
	struct rp_sent *prev;
	u32 psn;
	u32 bytes;
	u32 span : 24;
	u32 tries : 7;
	u32 lost : 1;
	u16 path;
	u16 first;
	u64 sent_ns;
};

/**
 * struct rp_repair_caps - bounds, given with each packet
 * @packets: kept at once for a flow
 * @bytes: kept at once for a flow; 0: keep nothing
 */
struct rp_repair_caps {
	u32 packets;
	u32 bytes;
};

/* @kept = @arrived + @given_up + @let_go + @rewound + what is in the queue */
struct rp_repair_stats {
	u64 kept;		/* packets ever kept */
	u64 arrived;		/* known delivered */
	u64 repaired;		/* sent again */
	u64 given_up;		/* tried too often */
	u64 let_go;		/* for the caps, and at the end */
	u64 rewound;		/* the QP itself went back */
};

/**
 * struct rp_repair - the queue of one PSN space
 * @oldest: of the queue
 * @newest: of the queue
 * @waiting: oldest of those that wait to be sent again
 * @packets: in it
 * @bytes: in it
 * @lost: of them, that wait to be sent again
 * @told: packets that the receiver got as repairs, as it last said
 * @stats: for people
 */
struct rp_repair {
	struct rp_sent *oldest;
	struct rp_sent *newest;
	struct rp_sent *waiting;
	u32 packets;
	u32 bytes;
	u32 lost;
	u32 told;
	struct rp_repair_stats stats;
};

/**
 * struct rp_repair_path - what is known of a path, for what happened to packets on it
 * @arrived_ns: sending time of the newest packet that a report says arrived on it
 * @delivered: added to: packets that arrived
 * @lost: added to: packets that are lost
 * @delivered_sent_ns: raised to: when the newest of @delivered was sent
 * @lost_sent_ns: raised to: when the newest of those that were missing was sent
 * @repaired: arrived when they had been sent again: late or lost, see rp_repair_settle()
 * @repaired_before: the same, since before the last report
 *
 * What was sent again counts for the path that it was first sent on. One for each
 * path of the pathset, in an array of the caller's, who takes what was added and
 * sets it to 0, but for @arrived_ns and the last two.
 */
struct rp_repair_path {
	u64 arrived_ns;
	u64 delivered_sent_ns;
	u64 lost_sent_ns;
	u32 delivered;
	u32 lost;
	u32 repaired;
	u32 repaired_before;
};

/**
 * struct rp_repair_clock - when missing becomes lost
 * @now_ns: the time
 * @arrived_ns: the greatest @arrived_ns of all paths to the peer
 * @slack_us: packets of one path may overtake each other by that much (several CPUs, several flows)
 * @spread_us: and packets of different paths by that much
 * @round_us: so long after a packet was sent, a report has it if it arrived: the longest way
 *	there and back, queues included; 0: not known
 * @tail_us: nothing heard for so long since sending: @round_us and the time between two reports
 *
 * The last two count twice as much each time that a packet was sent again.
 */
struct rp_repair_clock {
	u64 now_ns;
	u64 arrived_ns;
	u32 slack_us;
	u32 spread_us;
	u32 round_us;
	u32 tail_us;
};

/**
 * rp_repair_sent() - a packet is about to be sent
 * @r: the queue
 * @s: its entry, all filled in but the links and @s->first
 * @caps: bounds
 *
 * A PSN that is not behind the newest one means that the QP goes back: entries
 * from there on are dropped. When there is no room, the oldest go; and @s itself
 * when there is none even then.
 *
 * Return: entries that are no longer kept, by @next; with @caps->bytes 0, @s
 * among them.
 */
struct rp_sent *rp_repair_sent(struct rp_repair *r, struct rp_sent *s,
			       const struct rp_repair_caps *caps);

/**
 * rp_repair_acked() - the QP's peer acknowledged all before a PSN
 * @r: the queue
 * @psn: the next one that it wants. A response that passes by means that its request
 *	arrived: its PSN plus one
 * @path: of each path; @delivered and @delivered_sent_ns are brought up to date
 *
 * Return: the entries that it means, by @next, for the caller to free.
 */
struct rp_sent *rp_repair_acked(struct rp_repair *r, u32 psn, struct rp_repair_path *path);

/**
 * rp_repair_reported() - a report about this flow came
 * @r: the queue
 * @expected: the PSN that the receiver wants next
 * @held: bit i of word i / 32 is set: it has PSN @expected + 1 + i
 * @words: of @held
 * @path: of each path, brought up to date
 *
 * PSNs behind the bits are not spoken of. Marks nothing lost: see rp_repair_find_lost().
 *
 * Return: the entries that have arrived, by @next, for the caller to free.
 */
struct rp_sent *rp_repair_reported(struct rp_repair *r, u32 expected, const u32 *held, u32 words,
				   struct rp_repair_path *path);

/**
 * rp_repair_settle() - what was repaired: was it lost?
 * @r: the queue
 * @repaired: packets that the receiver got as repairs up to this report, wraps
 * @path: of each path; @delivered and @lost are brought up to date
 * @n: paths
 *
 * To be called after rp_repair_reported(). Of packets that were sent again and
 * arrived, as many were lost as the receiver got as repairs; the others were
 * only late: somebody stood still, or a queue grew. An acknowledge may be ahead
 * of the report that speaks of it, so each has two reports' time.
 */
void rp_repair_settle(struct rp_repair *r, u32 repaired, struct rp_repair_path *path, u32 n);

/**
 * rp_repair_horizon() - the first PSN that a report does not speak of
 * @expected: of the report
 * @words: of the report
 */
static inline u32 rp_repair_horizon(u32 expected, u32 words)
{
	return rp_psn_add(expected, 1 + (s32)words * 32);
}

/**
 * rp_repair_find_lost() - mark what is lost
 * @r: the queue
 * @horizon: PSNs from here on were not spoken of by the report: only the tail rule counts
 *	for them. rp_repair_horizon() for a report; the oldest PSN where only time passed; that
 *	after the newest one for a flow that a report about its paths has nothing of
 * @clock: when missing becomes lost
 * @path: of each path, @lost_sent_ns is brought up to date, and @lost by those that are given up
 *
 * Return: entries that were tried too often and are no longer kept, by @next.
 */
struct rp_sent *rp_repair_find_lost(struct rp_repair *r, u32 horizon,
				    const struct rp_repair_clock *clock,
				    struct rp_repair_path *path);

/**
 * rp_repair_path_failed() - what was on these paths and is not known delivered is lost
 * @r: the queue
 * @failed: is that path one of them?
 * @arg: its argument
 *
 * Not counted against the paths: that they failed is known already.
 *
 * Return: entries that were tried too often, by @next.
 */
struct rp_sent *rp_repair_path_failed(struct rp_repair *r, bool (*failed)(void *arg, u16 path),
				      void *arg);

/**
 * rp_repair_renumber() - the paths were laid out anew, and have other indexes now
 * @r: the queue
 * @now: the index of what was @path before, RP_REPAIR_NO_PATH: it is no more
 * @arg: its argument
 * @before: of each path, by its index before
 * @n: of them
 * @path: of each path, by its index now; zeroed. What was known goes there
 *
 * What was sent by paths that are no more is to be sent again, as far as it may be.
 * Nothing is let go.
 */
void rp_repair_renumber(struct rp_repair *r, u16 (*now)(const void *arg, u16 path),
			const void *arg, const struct rp_repair_path *before, u32 n,
			struct rp_repair_path *path);

/**
 * rp_repair_batch() - how many of those that wait are to be sent again now
 * @r: the queue
 *
 * Where much is lost at once the other paths have what they can carry already, and a
 * burst of repairs would only fill their queues and be lost as well. What is left goes
 * with the next report or tick: half of it is gone within one interval, all but
 * RP_REPAIR_BATCH of 4,000 within six, long before the receiver gives the gap up.
 */
static inline u32 rp_repair_batch(const struct rp_repair *r)
{
	return max(RP_REPAIR_BATCH, r->lost / RP_REPAIR_BATCH_PART);
}

/**
 * rp_repair_next() - the oldest entry that waits to be sent again
 * @r: the queue
 *
 * Send a copy of its packet, then rp_repair_resent(). NULL if there is none.
 */
struct rp_sent *rp_repair_next(const struct rp_repair *r);

/** rp_repair_resent() - it was sent again, on that path. */
void rp_repair_resent(struct rp_repair *r, struct rp_sent *s, u16 path, u64 now_ns);

/**
 * rp_repair_deadline() - when to look again
 * @r: the queue
 * @tail_us: as in struct rp_repair_clock
 *
 * Return: when the tail rule makes the oldest entry lost that does not wait to be
 * sent again already, 0 if there is none.
 */
u64 rp_repair_deadline(const struct rp_repair *r, u32 tail_us);

/** rp_repair_clear() - let all go: the QP ends, or spraying does. Return: all entries, by @next. */
struct rp_sent *rp_repair_clear(struct rp_repair *r);

#endif /* ROCEPATH_CORE_REPAIR_H */
