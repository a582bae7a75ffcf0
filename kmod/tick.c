// SPDX-License-Identifier: GPL-2.0
/*
 * A peer's clock: twice in a report interval, while there is traffic, paths are
 * looked at, tails of bursts repaired, probes sent; and every second time a
 * report. It stops when nothing has happened for a while, and the first packet
 * starts it again.
 */
#include "tick.h"

#include "device.h"
#include "path.h"
#include "probe.h"
#include "repair.h"
#include "report.h"

/* a QP that did nothing for so many ticks is not looked at any more */
#define RP_TICK_QUIET 16

/* twice in an interval, so that what is overdue by half of one is found by then */
static ktime_t tick_length(const struct rp_device *rp)
{
	return ns_to_ktime((u64)READ_ONCE(rp->report_interval_us) * NSEC_PER_USEC / 2);
}

/**
 * rp_tick_start() - let the clock of a peer run
 * @peer: that reports
 *
 * Context: @peer->lock held.
 */
void rp_tick_start(struct rp_peer *peer)
{
	lockdep_assert_held(&peer->lock);
	if (peer->ticking || peer->gone)
		return;
	peer->ticking = true;
	hrtimer_start(&peer->tick, tick_length(peer->rp), HRTIMER_MODE_REL_SOFT);
}

/**
 * rp_tick_activate() - look at this QP from now on
 * @qp: bound to a device
 * @peer: of it
 *
 * Context: any but hard irq, RCU.
 */
void rp_tick_activate(struct rp_qp *qp, struct rp_peer *peer)
{
	spin_lock_bh(&peer->lock);
	if (!qp->active && !qp->forgotten && !peer->gone) {
		WRITE_ONCE(qp->active, true);
		qp->quiet = 0;
		list_add_tail(&qp->on_peer, &peer->active_qps);
		peer->active_n++;
		rp_tick_start(peer);
	}
	spin_unlock_bh(&peer->lock);
}

/**
 * rp_tick_forget() - the QP goes: it is not looked at any more
 * @qp: the QP
 *
 * Context: process; before the grace period after which it is freed.
 */
void rp_tick_forget(struct rp_qp *qp)
{
	struct rp_peer *peer = rcu_dereference_protected(qp->peer, true);

	if (!peer)
		return;
	spin_lock_bh(&peer->lock);
	qp->forgotten = true;
	if (qp->active) {
		WRITE_ONCE(qp->active, false);
		list_del(&qp->on_peer);
		peer->active_n--;
	}
	spin_unlock_bh(&peer->lock);
}

/**
 * rp_tick_next() - the next of a peer's active QPs, going round
 * @peer: the peer
 *
 * Context: bottom halves off, RCU.
 * Return: the QP, NULL if there is none.
 */
struct rp_qp *rp_tick_next(struct rp_peer *peer)
{
	struct rp_qp *qp;

	spin_lock(&peer->lock);
	qp = list_first_entry_or_null(&peer->active_qps, struct rp_qp, on_peer);
	if (qp)
		list_move_tail(&qp->on_peer, &peer->active_qps);
	spin_unlock(&peer->lock);
	return qp;
}

/* it did nothing for long: it is looked at again when a packet of it comes or goes */
static void tick_rest(struct rp_qp *qp, struct rp_peer *peer)
{
	spin_lock(&peer->lock);
	if (qp->active) {
		WRITE_ONCE(qp->active, false);
		smp_mb();	/* pairs with rp_tick_wake() */
		if (READ_ONCE(qp->stirred)) {
			WRITE_ONCE(qp->active, true);
		} else {
			list_del(&qp->on_peer);
			peer->active_n--;
		}
	}
	spin_unlock(&peer->lock);
}

/* one QP, once a tick */
static void tick_qp(struct rp_qp *qp, struct rp_peer *peer, u64 now)
{
	bool busy = rp_repair_poll(qp, peer, now), stirred;

	if (peer->odd)
		rp_ack_again(qp, peer);
	/* what was not seen is not taken back: tick_rest() looks for it */
	stirred = READ_ONCE(qp->stirred);
	if (stirred)
		WRITE_ONCE(qp->stirred, false);
	busy |= stirred || READ_ONCE(qp->rx[RP_REQUESTS].window.held) ||
		READ_ONCE(qp->rx[RP_RESPONSES].window.held);
	if (busy) {
		qp->quiet = 0;
		return;
	}
	if (qp->quiet++ >= RP_TICK_QUIET)
		tick_rest(qp, peer);
}

/* whether the clock is to go on; who wakes it takes the same lock */
static bool tick_goes_on(struct rp_peer *peer)
{
	bool on;

	spin_lock(&peer->lock);
	on = peer->active_n && !peer->gone;
	peer->ticking = on;
	spin_unlock(&peer->lock);
	return on;
}

/**
 * rp_tick() - half an interval is over
 * @timer: of a peer
 *
 * Context: softirq.
 */
enum hrtimer_restart rp_tick(struct hrtimer *timer)
{
	struct rp_peer *peer = container_of(timer, struct rp_peer, tick);
	struct rp_device *rp = peer->rp;
	u64 now = ktime_get_ns();
	bool on;
	u32 n;

	rcu_read_lock();
	rp_path_poll(rp, peer, now);
	for (n = READ_ONCE(peer->active_n); n; n--) {
		struct rp_qp *qp = rp_tick_next(peer);

		if (!qp)
			break;
		tick_qp(qp, peer, now);
	}
	rp_probe_due(rp, peer, now);
	peer->odd = !peer->odd;
	if (peer->odd)
		rp_report_send(rp, peer, now);
	on = tick_goes_on(peer);
	rcu_read_unlock();
	if (!on)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, tick_length(rp));
	return HRTIMER_RESTART;
}
