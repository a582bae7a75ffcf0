/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Schedulers: what picks the path for a packet, as tcp_congestion_ops picks a
 * rate. The ops take plain data and no kernel objects, so that the same ones
 * run in the module, in tests and in a simulator.
 */
#ifndef ROCEPATH_CORE_SCHED_H
#define ROCEPATH_CORE_SCHED_H

#include "paths.h"

/**
 * struct rp_sched_flow - what a scheduler keeps for one flow
 * @hash: of the flow, constant: what a flow's one path follows from
 * @pos: slot of the turn, for spray
 * @turn: turns done, for spray
 * @priv: for schedulers to come
 *
 * Written by the sender of the flow without a lock: a QP sends from one
 * context at a time. Two at once cost evenness, never correctness.
 */
struct rp_sched_flow {
	u32 hash;
	u16 pos;
	u16 turn;
	u64 priv[2];
};

/**
 * struct rp_sched_feedback - what came back about a path
 * @path: which one
 * @packets: received of those sent
 * @marked: of these with CE
 * @missing: not received
 * @rtt_us: 0 if not known
 */
struct rp_sched_feedback {
	struct rp_path path;
	u32 packets;
	u32 marked;
	u32 missing;
	u32 rtt_us;
};

/**
 * struct rp_sched_ops - a scheduler
 * @name: as netlink and the tool call it
 * @sprays: needs a receiver that restores order
 * @init: a flow starts, may be NULL
 * @pick: the path for one data packet of @bytes; @p->ports_up is not 0
 * @feedback: a report, may be NULL
 * @path_event: the table was made anew, may be NULL
 */
struct rp_sched_ops {
	const char *name;
	bool sprays;
	void (*init)(struct rp_sched_flow *f);
	struct rp_path (*pick)(const struct rp_paths *p, struct rp_sched_flow *f, u32 bytes,
			       u64 now_ns);
	void (*feedback)(struct rp_sched_flow *f, const struct rp_sched_feedback *fb);
	void (*path_event)(struct rp_sched_flow *f, const struct rp_paths *p);
};

extern const struct rp_sched_ops rp_sched_flow_ops;
extern const struct rp_sched_ops rp_sched_spray_ops;

/** rp_sched_find() - the scheduler of that name, NULL if there is none. */
const struct rp_sched_ops *rp_sched_find(const char *name);

/**
 * rp_sched_pin() - the one path of a flow
 * @p: the table, @p->ports_up not 0
 * @hash: of the flow
 *
 * What the scheduler `flow` picks, and what packets take under each scheduler
 * that must stay in order or are too small to gain: ACK, NAK, CNP, UD, READ
 * requests, atomics. Stays where it is when other ports come and go.
 */
struct rp_path rp_sched_pin(const struct rp_paths *p, u32 hash);

#endif /* ROCEPATH_CORE_SCHED_H */
