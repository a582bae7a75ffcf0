/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_TICK_H
#define ROCEPATH_TICK_H

#include "peer.h"
#include "qp.h"

struct rp_device;

enum hrtimer_restart rp_tick(struct hrtimer *timer);
void rp_tick_start(struct rp_peer *peer);
void rp_tick_activate(struct rp_qp *qp, struct rp_peer *peer);
void rp_tick_forget(struct rp_qp *qp);
struct rp_qp *rp_tick_next(struct rp_peer *peer);

/**
 * rp_tick_wake() - a packet of the QP came or went: its peer's clock is to run
 * @qp: the QP
 * @peer: of it, that reports
 *
 * No shared write for each packet: only for the first in an interval.
 *
 * Context: bottom halves off, RCU.
 */
static inline void rp_tick_wake(struct rp_qp *qp, struct rp_peer *peer)
{
	if (unlikely(!READ_ONCE(qp->stirred))) {
		WRITE_ONCE(qp->stirred, true);
		smp_mb();	/* pairs with tick_rest(): one of us sees the other's */
	}
	if (unlikely(!READ_ONCE(qp->active)))
		rp_tick_activate(qp, peer);
}

#endif /* ROCEPATH_TICK_H */
