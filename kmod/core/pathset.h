/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All paths towards one peer: their health, their weights, and the pick.
 *
 * Paths are in an array, ports interleaved, so that going through it in order
 * is the spray. A path takes part in a turn as often as its weight says: with
 * weight w of RP_PATH_WEIGHT_MAX in w turns of RP_PATH_WEIGHT_MAX, evenly
 * spread. Which turns these are the bits of the weight say: that of 128 stands
 * for each second turn, that of 64 for each fourth, and so on; so each turn has
 * a bit map of the paths that take part in it, and the pick is the next bit set,
 * however many paths there are and however few of them are usable. Changing a
 * weight is a few stores, and no table is made anew.
 *
 * Pure. Bit maps are read by senders while they change; each sees old or new
 * bits. All else is serialised by the caller.
 */
#ifndef ROCEPATH_CORE_PATHSET_H
#define ROCEPATH_CORE_PATHSET_H

#include "adapt.h"
#include "health.h"
#include "paths.h"
#include "repair.h"

#define RP_PATH_WEIGHT_MAX 256
/* of a pathset: 32 ports x 256 EVs would be more than reports can speak of */
#define RP_PATHSET_MAX 1024
#define RP_PATHSET_NONE RP_REPAIR_NO_PATH
#define RP_PATHSET_START 0x8000
/* for each bit of a weight, from the highest on; for RP_PATH_WEIGHT_MAX; for all above 0 */
#define RP_PATHSET_PLANES 10

/**
 * struct rp_pathset_entry - one path
 * @path: port and EV
 * @share: what its port's weight makes of it, 0 to RP_PATH_WEIGHT_MAX
 * @factor: what `adaptive` makes of that, 0 to RP_PATH_WEIGHT_MAX
 * @received: as the peer last reported: packets received on it
 * @marked: as the peer last reported: of these with CE
 * @traced_ns: when packets of it were last known to have arrived one by one, from repair
 * @backlog_us: delay above the path's own, for `adaptive`
 * @published: it counts among the usable ones
 * @adapt: what @factor follows from
 * @health: of it
 */
struct rp_pathset_entry {
	struct rp_path path;
	u16 share;
	u16 factor;
	u32 received;
	u32 marked;
	u32 backlog_us;
	bool published;
	u64 traced_ns;
	struct rp_adapt adapt;
	struct rp_health health;
};

/**
 * struct rp_pathset_turns - weights as senders read them
 * @filled: bit p: plane p is not empty
 * @summary: of each plane, bit i: word i is not 0
 * @word: the planes, one after the other, a bit for each path
 */
struct rp_pathset_turns {
	u32 filled;
	u32 summary[RP_PATHSET_PLANES];
	u32 *word;
};

/**
 * struct rp_pathset_cursor - where in its turns a flow is
 * @pos: the next path; from RP_PATHSET_START on: that of 32,768th parts of all
 * @turn: the turn
 */
struct rp_pathset_cursor {
	u16 pos;
	u16 turn;
};

/**
 * struct rp_pathset - all paths towards one peer
 * @n: paths
 * @usable: of these, that may carry data: they are up
 * @failures: times that one could not any more, for who has to do something about it
 * @last_resort: none may, and those that are least in doubt have weights all the same
 * @newest_ns: when the newest packet was sent that the peer reported from that port of ours
 * @spacing_ns: between packets that arrive when all goes well, for `adaptive`
 * @spray_turns: @weight for senders
 * @adaptive_turns: @adaptive for senders
 * @weight: of each for `spray`: @share where usable, ramp counted in, else 0
 * @adaptive: of each for `adaptive`: the same times @factor
 * @order: indices in the order of (port, EV)
 * @entry: the rest of each
 */
struct rp_pathset {
	u16 n;
	u16 usable;
	bool last_resort;
	u32 failures;
	u64 newest_ns[ROCEPATH_PORTS_MAX];
	u32 spacing_ns;
	struct rp_pathset_turns spray_turns;
	struct rp_pathset_turns adaptive_turns;
	u16 *weight;
	u16 *adaptive;
	u16 *order;
	struct rp_pathset_entry *entry;
};

/** rp_pathset_size() - bytes that rp_pathset_init() needs for so many paths. */
size_t rp_pathset_size(u32 n);

/**
 * rp_pathset_count() - how many paths these ports make, at most RP_PATHSET_MAX
 * @ports: ROCEPATH_PORTS_MAX of them; EVs are shared out evenly when there are too many
 */
u32 rp_pathset_count(const struct rp_paths_port *ports);

/**
 * rp_pathset_init() - lay out a pathset in @memory
 * @memory: zeroed, of rp_pathset_size(rp_pathset_count(@ports)) bytes
 * @ports: the device's ports
 * @evs: for each port the EVs chosen for this peer (path discovery), NULL: 0, 1, 2 ...
 * @old: paths that are in it keep their health, may be NULL
 * @now_ns: the time
 *
 * Return: the pathset, at the beginning of @memory.
 */
struct rp_pathset *rp_pathset_init(void *memory, const struct rp_paths_port *ports,
				   const u8 evs[][ROCEPATH_EVS_MAX],
				   const struct rp_pathset *old, u64 now_ns);

/** rp_pathset_recount() - the peer counts from 0 again what it receives on this path. */
static inline void rp_pathset_recount(struct rp_pathset_entry *e)
{
	e->received = 0;
	e->marked = 0;
	e->adapt.received = 0;
	e->adapt.marked = 0;
}

/**
 * rp_pathset_account() - what became of packets on a path goes to its health
 * @s: the pathset
 * @index: the path
 * @p: what became of them, as a queue for repairs has it; what is added up there is taken
 * @knobs: of the device
 * @now_ns: the time
 *
 * Return: true if the state of the path changed; its weights are published.
 */
bool rp_pathset_account(struct rp_pathset *s, u16 index, struct rp_repair_path *p,
			const struct rp_health_knobs *knobs, u64 now_ns);

/** rp_pathset_find() - index of a path, RP_PATHSET_NONE if it is not in it. O(log n) or better. */
u16 rp_pathset_find(const struct rp_pathset *s, struct rp_path path);

/** rp_pathset_usable() - may it carry data? None that is up may there be, see last_resort. */
static inline bool rp_pathset_usable(const struct rp_pathset *s, u16 index)
{
	return READ_ONCE(s->weight[index]);
}

/**
 * rp_pathset_start() - each flow starts elsewhere
 * @c: filled in
 * @hash: of the flow
 *
 * Or flows of one packet would all take the first path.
 */
void rp_pathset_start(struct rp_pathset_cursor *c, u32 hash);

/**
 * rp_pathset_next() - the next path of a flow that is sprayed
 * @s: the pathset
 * @turns: of it
 * @c: where the flow is; moves on
 *
 * Costs the same however many paths there are, and may be called while weights
 * change and with a cursor that another pathset has moved.
 *
 * Return: index, RP_PATHSET_NONE if none is usable.
 */
u16 rp_pathset_next(const struct rp_pathset *s, const struct rp_pathset_turns *turns,
		    struct rp_pathset_cursor *c);

/**
 * rp_pathset_pin() - the one path of a flow, among those that may carry data
 * @s: the pathset
 * @hash: of the flow
 *
 * Each flow has paths in the order of its liking, by weight, and takes the first
 * that is usable: it stays there whatever other paths do, but for those that it
 * likes better and that come back.
 *
 * Return: index, RP_PATHSET_NONE if none is usable.
 */
u16 rp_pathset_pin(const struct rp_pathset *s, u32 hash);

/**
 * rp_pathset_other() - a usable path, not @index, and best not of its port, for a repair
 * @s: the pathset
 * @index: of the path that failed, RP_PATHSET_NONE: none of these
 * @turn: turns from call to call, so that repairs are spread
 *
 * Return: index; @index itself if no other is usable but it is; else RP_PATHSET_NONE.
 */
u16 rp_pathset_other(const struct rp_pathset *s, u16 index, u32 turn);

/**
 * rp_pathset_publish() - recompute the weights of one path from what it is now
 * @s: the pathset
 * @index: of the path
 *
 * To be called whenever a call for its health has said that its state changed.
 */
void rp_pathset_publish(struct rp_pathset *s, u16 index);

/**
 * rp_pathset_ports() - the ports have changed: carrier, weight
 * @s: the pathset
 * @ports: as they are now; the same ports and EVs that it was laid out for
 * @knobs: of the device
 * @now_ns: the time
 */
void rp_pathset_ports(struct rp_pathset *s, const struct rp_paths_port *ports,
		      const struct rp_health_knobs *knobs, u64 now_ns);

/**
 * rp_pathset_poll() - time passed: go through all paths
 * @s: the pathset
 * @heard_ns: when something was last heard of the peer
 * @silent: that is so long ago that it may be dead, see struct rp_hearing
 * @knobs: of the device
 * @now_ns: the time
 * @changed: called for each path whose state changed, with its state before
 * @arg: its argument
 *
 * Polls each, takes out those that lose more than @knobs->loss_ppm and more than
 * twice what the others lose (in the median), never more than half of those that
 * would be usable, the worst first; moves ramps on, publishes weights.
 */
void rp_pathset_poll(struct rp_pathset *s, u64 heard_ns, bool silent,
		     const struct rp_health_knobs *knobs, u64 now_ns,
		     void (*changed)(void *arg, u16 index, u8 before), void *arg);

/**
 * rp_pathset_adapt() - a report came: set the factors of `adaptive`
 * @s: the pathset, received, marked, late_us of the entries brought up to date
 * @knobs: of the device
 * @now_ns: the time
 */
void rp_pathset_adapt(struct rp_pathset *s, const struct rp_health_knobs *knobs, u64 now_ns);

#endif /* ROCEPATH_CORE_PATHSET_H */
