/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulator for schedulers: one sender with some QPs, links with a rate, a
 * delay, and a queue that marks and drops, a receiver that delivers in order,
 * measures how late packets are as the window does, and reports.
 *
 *   QPs, each with a    scheduler    links: queue, rate, delay      in order
 *   window of PSNs  ->  path  ->   =========================  ->  delivery, ACK
 *        ^                                                            |
 *        +------------------ ACKs, reports --------------------------+
 *
 * Several paths may lead over one link. What a queue drops is sent again over
 * another path, an interval after it would have been missed.
 */
#ifndef ROCEPATH_UNIT_LINK_SIM_H
#define ROCEPATH_UNIT_LINK_SIM_H

#include "sched.h"

#define SIM_LINKS 16

/**
 * struct sim_link - one link, the slowest of the paths that lead over it
 * @mbit: its rate
 * @delay_ns: one way, without queue and transmission
 * @limit: packets that its queue holds
 * @mark_min: fewer waiting are not marked with CE, 0: none is ever
 * @mark_max: more are all marked, in between by chance
 */
struct sim_link {
	double mbit;
	u64 delay_ns;
	u32 limit;
	u32 mark_min;
	u32 mark_max;
};

/**
 * struct sim_config - what is simulated
 * @links: of them
 * @link: each
 * @ports: of the sender; path (port, EV) leads over link (port + EV * ports) % links
 * @evs: of each port
 * @qps: of the sender
 * @window: PSNs that a QP has on the way at most
 * @bytes: of a packet
 * @interval_ns: between reports
 * @patience_ns: see struct rp_health_knobs
 * @back_ns: what ACKs and reports need to come back
 * @jitter_ns: each packet is delayed by up to that more, but stays in the order of its link
 * @stall_ns: now and then the receiver stands still for up to that, as virtual machines do; 0:
 *	never
 * @seed: of its random numbers
 * @sched: the scheduler
 */
struct sim_config {
	u32 links;
	struct sim_link link[SIM_LINKS];
	u32 ports;
	u32 evs;
	u32 qps;
	u32 window;
	u32 bytes;
	u64 interval_ns;
	u64 patience_ns;
	u64 back_ns;
	u64 jitter_ns;
	u64 stall_ns;
	u64 seed;
	const struct rp_sched_ops *sched;
};

struct sim;

/** sim_new() - all idle at time 0. */
struct sim *sim_new(const struct sim_config *config);

/** sim_free() */
void sim_free(struct sim *sim);

/** sim_run() - let so much time pass. Return: bytes delivered in order meanwhile. */
u64 sim_run(struct sim *sim, u64 ns);

/** sim_set_rate() - a link becomes slower, or faster; what is being sent is not hurried. */
void sim_set_rate(struct sim *sim, u32 link, double mbit);

/** sim_set_delay() - a link becomes longer, or shorter. */
void sim_set_delay(struct sim *sim, u32 link, u64 delay_ns);

/** sim_cut() - what is sent over a link from now on vanishes. */
void sim_cut(struct sim *sim, u32 link);

/** sim_used() - of the paths over that link, how many may carry data. */
u32 sim_used(const struct sim *sim, u32 link);

/** sim_suspicions() - times that a path was suspected whose link is not cut. */
u64 sim_suspicions(const struct sim *sim);

/** sim_offer() - QPs send only that many PSNs each, then wait; ~0: no end. */
void sim_offer(struct sim *sim, u64 packets);

/** sim_paths() - the sender's paths. */
struct rp_pathset *sim_paths(struct sim *sim);

/** sim_share() - what adaptive weights give to all paths over that link, 0 to 1. */
double sim_share(const struct sim *sim, u32 link);

/** sim_capacity() - bytes that all links together carry in that time. */
double sim_capacity(const struct sim *sim, u64 ns);

/** sim_drops() - packets that queues dropped. */
u64 sim_drops(const struct sim *sim);

#endif /* ROCEPATH_UNIT_LINK_SIM_H */
