/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_FLOW_H
#define ROCEPATH_FLOW_H

#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include <rocepath/roce.h>

#include "core/report.h"
#include "core/window.h"

struct rp_device;
struct rp_peer;
struct rp_qp;

/**
 * struct rp_flow - a received flow: one PSN space of one QP
 * @qp: the QP
 * @lock: for all below; taken with bottom halves off
 * @window: what is held, what is expected
 * @ready: packets whose turn has come, on their way to the stack
 * @delivering: a CPU is emptying @ready, others only add to it: so packets of
 *	a flow reach the stack in order, whichever CPUs they came in on
 * @dead: the QP went away, nothing is held any more
 * @news: something came since it was last reported
 * @overdue_ns: the gap that was found overdue once already, by its opening
 * @held_ns: when a packet was last held
 * @timer_ns: when @timer is due, if it is queued
 * @timer: the gap's end; also does what a sender's context must not do itself
 */
struct rp_flow {
	struct rp_qp *qp;
	spinlock_t lock;
	struct rp_window window;
	struct sk_buff_head ready;
	bool delivering;
	bool dead;
	bool news;
	u64 overdue_ns;
	u64 held_ns;
	u64 timer_ns;
	struct hrtimer timer;
};

void rp_flow_init(struct rp_flow *f, struct rp_qp *qp);
void rp_flow_close(struct rp_flow *f);
void rp_flow_rx(struct rp_flow *f, struct rp_device *rp, struct sk_buff *skb, u32 l3,
		const struct rp_roce *r, struct rp_peer *peer);
bool rp_flow_report(struct rp_flow *f, struct rp_report_flow *out);
void rp_flow_news(struct rp_flow *f);
void rp_flow_sent(struct rp_qp *qp, const struct rp_roce *r);
void rp_flow_hurry(struct rp_flow *f);
void rp_flow_snapshot(struct rp_flow *f, struct rp_window *w);

#endif /* ROCEPATH_FLOW_H */
