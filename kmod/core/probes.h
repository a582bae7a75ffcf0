/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What probes tell of the EVs between two addresses, where data passes the
 * kernel by. Pure: time is passed in, and all calls for one pair are serialised
 * by the caller.
 *
 * Each EV is probed twice in an interval. Probes of a pair have numbers in one
 * row. An answer says which number came last, and which of those before it: so
 * an answer that is lost, or comes by a path that is dead in that direction,
 * does no harm, for the next one says it again. What the EVs are like follows
 * from that alone, by the rules of health.h: an EV is overtaken when a later
 * probe of another EV arrived. Two probes in an interval, and health that counts
 * in three quarters of one, make 2 1/2 intervals from a path's death at most, and
 * as much more as somebody stands still meanwhile:
 *
 *    0         1/2       11/16                2 3/16
 *    |----------|----------|--------------------|
 *    dies       probe      overtaken: SUSPECT   DOWN, unless one of 6 probes more arrives
 *
 * Nothing heard of any EV is the peer's silence, and no EV's. So at least
 * RP_PROBES_WITNESSES EVs of a pair are to be probed, in use or not.
 *
 * A path may be slow and not dead. The round trip of an EV, the least one in a
 * window, is held against that of the others: queues that a stall of a machine
 * leaves are gone before a window is over, a link that is too slow for what it
 * is given has one all the time. Slow beside most of the others for some windows is
 * degraded. So is, for four times as many, what is slow only beside the fastest, as where
 * most are slow alike: never all of them, for then it is no path's fault. What is fast again
 * beside most of those that are not degraded ends that, at once or, while it is slower than
 * the fastest, later in the same way; between the two thresholds nothing changes.
 */
#ifndef ROCEPATH_CORE_PROBES_H
#define ROCEPATH_CORE_PROBES_H

#include <rocepath/types.h>

#include "health.h"

/* numbers back from the newest one that an answer may still speak of; a power of 2 */
#define RP_PROBES_OUT 512
/* EVs of a pair that are probed at least */
#define RP_PROBES_WITNESSES 4
/* windows in a row that make an EV degraded, or end that */
#define RP_PROBES_WINDOWS 4
/* and where it is slow, or fast, beside the fastest only, or most of the others only */
#define RP_PROBES_WINDOWS_LEAST 16
/* intervals in a window: four probes */
#define RP_PROBES_WINDOW_INTERVALS 2

/**
 * struct rp_probes_knobs - the same for all pairs of a device
 * @interval_ns: of the probes, two in one
 * @health: its interval is shorter, see rp_probes_interval()
 * @slow_factor: a round trip that is so many times that of the others is slow, 0: none is
 * @slow_floor_us: and longer than theirs by so much
 */
struct rp_probes_knobs {
	u64 interval_ns;
	struct rp_health_knobs health;
	u32 slow_factor;
	u32 slow_floor_us;
};

/** rp_probes_interval() - set the intervals: a probe more fits between health's and the next. */
static inline void rp_probes_interval(struct rp_probes_knobs *knobs, u64 interval_ns)
{
	knobs->interval_ns = interval_ns;
	knobs->health.interval_ns = interval_ns - interval_ns / 4;
}

/**
 * struct rp_probes_path - one EV
 * @next: of the pair
 * @ev: the EV
 * @degraded: it is up, and slow
 * @windows: in a row that speak against @degraded as it is, each for as much as it counts
 * @due_ns: when it is probed next, while it is up or suspect
 * @low_us: least round trip in this window, 0: none was seen
 * @rtt_us: smoothed, 0: not known
 * @sent: probes
 * @answered: of these
 * @health: of it
 */
struct rp_probes_path {
	struct rp_probes_path *next;
	u16 ev;
	bool degraded;
	u8 windows;
	u64 due_ns;
	u32 low_us;
	u32 rtt_us;
	u64 sent;
	u64 answered;
	struct rp_health health;
};

/**
 * struct rp_probes_out - a probe that was sent
 * @path: the EV, NULL: it was heard of, or is none
 * @sent_ns: when
 */
struct rp_probes_out {
	struct rp_probes_path *path;
	u64 sent_ns;
};

/**
 * struct rp_probes - one pair of addresses
 * @paths: its EVs
 * @n: how many
 * @turn: EV that what may go by any of them went by last
 * @number: of the newest probe
 * @heard_ns: when anything was last heard of the peer
 * @silent_ns: when the peer's last silence ended
 * @newest_ns: when the newest probe was sent that is known to have arrived
 * @window_ns: end of the window
 * @rtt: what is usual of a round trip, over all EVs
 * @out: probes, by the low bits of their numbers
 */
struct rp_probes {
	struct rp_probes_path *paths;
	u32 n;
	struct rp_probes_path *turn;
	u32 number;
	u64 heard_ns;
	u64 silent_ns;
	u64 newest_ns;
	u64 window_ns;
	struct rp_usual rtt;
	struct rp_probes_out out[RP_PROBES_OUT];
};

/**
 * struct rp_probes_seen - probes that came from the peer
 * @newest: greatest number
 * @before: bit i: that of @newest - 1 - i came as well
 * @any: one came
 */
struct rp_probes_seen {
	u32 newest;
	u64 before;
	bool any;
};

/**
 * struct rp_probes_news - called for an EV whose state changed
 * @changed: called with @arg, the EV, and what rp_probes_state() was
 * @arg: for it
 */
struct rp_probes_news {
	void (*changed)(void *arg, struct rp_probes_path *path, u8 before);
	void *arg;
};

/**
 * rp_probes_init() - a new pair
 * @p: filled in
 * @random: where its numbers start
 * @now_ns: the time
 */
void rp_probes_init(struct rp_probes *p, u32 random, u64 now_ns);

/**
 * rp_probes_add() - one EV more, up
 * @p: the pair
 * @path: filled in; stays the caller's
 * @ev: the EV, not in the pair yet
 * @knobs: of the device
 * @now_ns: the time
 */
void rp_probes_add(struct rp_probes *p, struct rp_probes_path *path, u16 ev,
		   const struct rp_probes_knobs *knobs, u64 now_ns);

/** rp_probes_remove() - one EV less; what is heard of its probes from now on is ignored. */
void rp_probes_remove(struct rp_probes *p, struct rp_probes_path *path);

/** rp_probes_state() - enum rocepath_rdma_path_state of an EV. */
u8 rp_probes_state(const struct rp_probes_path *path);

/** rp_probes_reason() - enum rocepath_rdma_path_reason of that. */
u8 rp_probes_reason(const struct rp_probes_path *path);

/** rp_probes_due() - is it time for a probe of that EV? */
bool rp_probes_due(struct rp_probes_path *path, const struct rp_probes_knobs *knobs,
		   u64 now_ns);

/**
 * rp_probes_send() - a probe is sent now
 * @p: the pair
 * @path: the EV
 * @knobs: of the device
 * @now_ns: the time
 *
 * Return: its number.
 */
u32 rp_probes_send(struct rp_probes *p, struct rp_probes_path *path,
		   const struct rp_probes_knobs *knobs, u64 now_ns);

/**
 * rp_probes_heard() - an answer came
 * @p: the pair
 * @seen: what the peer has seen
 * @answers: the number that it answers
 * @knobs: of the device
 * @news: whom to tell
 * @now_ns: the time
 *
 * Return: false if it speaks of what was not sent, or long ago.
 */
bool rp_probes_heard(struct rp_probes *p, const struct rp_probes_seen *seen, u32 answers,
		     const struct rp_probes_knobs *knobs, const struct rp_probes_news *news,
		     u64 now_ns);

/**
 * rp_probes_poll() - time passed
 * @p: the pair
 * @knobs: of the device
 * @news: whom to tell
 * @now_ns: the time
 *
 * To be called several times in an interval.
 */
void rp_probes_poll(struct rp_probes *p, const struct rp_probes_knobs *knobs,
		    const struct rp_probes_news *news, u64 now_ns);

/** rp_probes_silent() - was nothing heard of the peer for an interval? */
bool rp_probes_silent(const struct rp_probes *p, const struct rp_probes_knobs *knobs, u64 now_ns);

/**
 * rp_probes_any() - an EV for what may go by any: one that works and is not slow, each in its turn
 * @p: the pair
 *
 * Return: the EV; a slow one if all that work are;
 * one that does not work if none does; NULL if there is none at all.
 */
struct rp_probes_path *rp_probes_any(struct rp_probes *p);

/** rp_probes_saw() - a probe with that number came from the peer. */
void rp_probes_saw(struct rp_probes_seen *seen, u32 number);

#endif /* ROCEPATH_CORE_PROBES_H */
