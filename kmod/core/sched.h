/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Schedulers: what picks the path for a packet, as tcp_congestion_ops picks a
 * rate. The ops take plain data and no kernel objects, so that the same ones
 * run in the module, in tests and in a simulator.
 */
#ifndef ROCEPATH_CORE_SCHED_H
#define ROCEPATH_CORE_SCHED_H

#include "pathset.h"

/*
 * A flow that paused for longer may change its path. No receiver's buffer stands
 * for longer than that in a fabric that works (LetFlow, NSDI 2017, and CONGA,
 * SIGCOMM 2014, found 500 us to be right); where it does, the receiver restores
 * the order.
 */
#define RP_SCHED_FLOWLET_GAP_NS 500000ull

/**
 * struct rp_sched_flow - what a scheduler keeps for one flow
 * @hash: of the flow, constant: what a flow's one path follows from
 * @cursor: where in its turns it is
 * @index: the path that it is on, for flowlet
 * @sent_ns: when it last sent, for flowlet
 *
 * Written by the sender of the flow without a lock: a QP sends from one
 * context at a time. Two at once cost evenness, never correctness.
 */
struct rp_sched_flow {
	u32 hash;
	struct rp_pathset_cursor cursor;
	u16 index;
	u64 sent_ns;
};

/**
 * struct rp_sched_ops - a scheduler
 * @name: as netlink and the tool call it
 * @sprays: needs a receiver that restores order
 * @pick: the path for one data packet of @bytes: index in @s, RP_PATHSET_NONE if none is usable
 * @feedback: a report came, the entries of @s are up to date; may be NULL
 *
 * Flows may change their scheduler at any packet.
 */
struct rp_sched_ops {
	const char *name;
	bool sprays;
	u16 (*pick)(const struct rp_pathset *s, struct rp_sched_flow *f, u32 bytes, u64 now_ns);
	void (*feedback)(struct rp_pathset *s, const struct rp_health_knobs *knobs, u64 now_ns);
};

extern const struct rp_sched_ops rp_sched_flow_ops;
extern const struct rp_sched_ops rp_sched_flowlet_ops;
extern const struct rp_sched_ops rp_sched_spray_ops;
extern const struct rp_sched_ops rp_sched_adaptive_ops;

/** rp_sched_find() - the scheduler of that name, NULL if there is none. */
const struct rp_sched_ops *rp_sched_find(const char *name);

/**
 * rp_sched_start() - a flow starts
 * @f: its state, filled in
 * @hash: of the flow
 */
void rp_sched_start(struct rp_sched_flow *f, u32 hash);

/**
 * rp_sched_feedback() - a report came: let all schedulers know
 * @s: the paths of the peer that it came from, received, marked and health brought up to date
 * @knobs: of the device
 * @now_ns: the time
 */
void rp_sched_feedback(struct rp_pathset *s, const struct rp_health_knobs *knobs, u64 now_ns);

/**
 * rp_sched_pin() - the one path of a flow to a peer without a pathset
 * @p: the device's paths, @p->ports_up not 0
 * @hash: of the flow
 *
 * Stays where it is when other ports come and go.
 */
struct rp_path rp_sched_pin(const struct rp_paths *p, u32 hash);

#endif /* ROCEPATH_CORE_SCHED_H */
