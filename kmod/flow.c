// SPDX-License-Identifier: GPL-2.0
/*
 * Received flows: the plumbing around the reorder window.
 *
 * A packet from a port enters by rp_flow_rx(). The window says whether it goes
 * on or waits; what goes on is put into @ready, in order, and whoever finds no
 * other CPU delivering empties it into the stack without the lock. A gap that
 * does not close in time ends by the timer. What the QP sends passes by
 * rp_flow_sent(), for its ACKs and NAKs say what it expects, and its READs what
 * it will be sent.
 */
#include "flow.h"

#include <linux/slab.h>
#include <net/dst.h>

#include "compat/hrtimer.h"
#include "device.h"
#include "heard.h"
#include "netlink.h"
#include "peer.h"
#include "qp.h"
#include "rx.h"
#include "trace.h"

/* most buckets of a window: beyond, chains grow longer */
#define RP_FLOW_BUCKETS_MAX 16384

/*
 * When a port has just failed, what was on its way over it is lost, and waiting
 * for it long is of no use: for so long after it, gaps are given this time only.
 */
#define RP_FLOW_HURRY_NS (200 * NSEC_PER_MSEC)
#define RP_FLOW_HURRY_GAP_US 2000

/*
 * A CPU that stood still finds the timer expired and the missing packet in the
 * port's receive ring. So a gap is given up when it is found overdue twice,
 * this far apart: receive comes in between.
 */
#define RP_FLOW_OVERDUE_NS (500 * NSEC_PER_USEC)

/* so many report intervals a gap lives at least where the peer repairs: one packet lost 4 times */
#define RP_FLOW_REPAIR_INTERVALS 16

/* a flow that held nothing for so long gives its memory back */
#define RP_FLOW_IDLE_NS NSEC_PER_SEC

static struct rp_held *flow_held(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct rp_held) > sizeof_field(struct sk_buff, cb));
	return (struct rp_held *)skb->cb;
}

static struct sk_buff *flow_skb(struct rp_held *h)
{
	return container_of((void *)h, struct sk_buff, cb);
}

static void flow_ready(struct rp_flow *f, struct rp_device *rp, struct sk_buff *skb)
{
	lockdep_assert_held(&f->lock);
	/* whoever delivers cannot keep up with those who add: bounded like what is held */
	if (unlikely(skb_queue_len(&f->ready) > READ_ONCE(rp->caps.packets))) {
		rp_count(rp, RP_RX_DROP_BUSY);
		kfree_skb(skb);
		return;
	}
	__skb_queue_tail(&f->ready, skb);
}

/* a held packet leaves the window, to be counted as @why */
static void flow_unhold(struct rp_flow *f, struct rp_device *rp, struct rp_held *h,
			enum rp_count why)
{
	struct sk_buff *skb = flow_skb(h);

	percpu_counter_add_batch(&rp->held_bytes, -(s64)h->bytes, READ_ONCE(rp->held_batch));
	rp_count(rp, why);
	trace_rocepath_release(rp->dev, f->qp->local_qpn, h->psn, why);
	memset(skb->cb, 0, sizeof(skb->cb));
	flow_ready(f, rp, skb);
}

static void flow_take_next(struct rp_flow *f, struct rp_device *rp, u64 now)
{
	u64 filled = f->window.stats.filled;
	struct rp_held *h;

	while ((h = rp_window_next(&f->window, now)))
		flow_unhold(f, rp, h, RP_RX_RELEASED);
	if (f->window.stats.filled != filled)
		rp_stats_add(rp->stats, RP_GAPS_FILLED, f->window.stats.filled - filled);
}

/* the gap's time is up: all that is held goes on */
static void flow_expire(struct rp_flow *f, struct rp_device *rp)
{
	struct rp_held *h = rp_window_release(&f->window, true), *next;

	for (; h; h = next) {
		next = h->next;
		flow_unhold(f, rp, h, RP_RX_EXPIRED);
	}
}

/*
 * The device's caps as they are for a packet or a timer of this moment. Where the
 * peer repairs, a gap is worth waiting for, as long as a packet takes that is lost
 * again and again.
 */
static struct rp_window_caps flow_caps(const struct rp_device *rp, const struct rp_peer *peer,
				       u64 now)
{
	struct rp_window_caps caps = rp->caps;

	if (peer && READ_ONCE(peer->reports)) {
		u32 repair = RP_FLOW_REPAIR_INTERVALS * rp_peer_interval_us(peer, rp);

		caps.gap_floor_us = max(caps.gap_floor_us, repair);
		caps.gap_ceiling_us = max(caps.gap_ceiling_us, repair);
		return caps;
	}
	if (unlikely(now < READ_ONCE(rp->port_failed_ns) + RP_FLOW_HURRY_NS) &&
	    READ_ONCE(rp->port_failed_ns))
		caps.gap_fixed_us = RP_FLOW_HURRY_GAP_US;
	return caps;
}

static void flow_start_timer(struct rp_flow *f, u64 at)
{
	lockdep_assert_held(&f->lock);
	if (hrtimer_is_queued(&f->timer) && f->timer_ns <= at)
		return;
	f->timer_ns = at;
	hrtimer_start(&f->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

static void flow_arm(struct rp_flow *f, const struct rp_window_caps *caps)
{
	u64 deadline = rp_window_deadline(&f->window, caps);

	if (deadline)
		flow_start_timer(f, deadline);
}

/* give @ready to the stack, in order; the lock is held, and not any more afterwards */
static void flow_deliver(struct rp_flow *f, struct rp_device *rp)
	__releases(&f->lock)
{
	struct sk_buff *skb;

	lockdep_assert_held(&f->lock);
	if (!f->delivering) {
		f->delivering = true;
		while ((skb = __skb_dequeue(&f->ready))) {
			spin_unlock(&f->lock);
			rp_rx_deliver(rp, skb);
			spin_lock(&f->lock);
		}
		f->delivering = false;
	}
	spin_unlock(&f->lock);
}

/* nothing is held: free the buckets, once that has lasted */
static void flow_rest(struct rp_flow *f, u64 now)
{
	if (!f->window.bucket)
		return;
	if (now < f->held_ns + RP_FLOW_IDLE_NS)
		flow_start_timer(f, f->held_ns + RP_FLOW_IDLE_NS);
	else
		kfree(rp_window_buckets(&f->window, NULL, 0));
}

/* the gap's time may be up */
static void flow_check_gap(struct rp_flow *f, struct rp_device *rp)
{
	const struct rp_peer *peer = rcu_dereference(f->qp->peer);
	u64 now = ktime_get_ns(), deadline;
	struct rp_window_caps caps = flow_caps(rp, peer, now);

	deadline = rp_window_deadline(&f->window, &caps);
	if (!deadline) {
		flow_rest(f, now);
		return;
	}
	if (deadline > now) {
		flow_start_timer(f, deadline);
		return;
	}
	if (f->overdue_ns != f->window.gap_ns) {
		f->overdue_ns = f->window.gap_ns;
		flow_start_timer(f, now + RP_FLOW_OVERDUE_NS);
		return;
	}
	trace_rocepath_gap_expired(rp->dev, f->qp->local_qpn, f->window.expected, f->window.held);
	rp_count(rp, RP_GAPS_EXPIRED);
	flow_expire(f, rp);
}

static enum hrtimer_restart flow_timer(struct hrtimer *timer)
{
	struct rp_flow *f = container_of(timer, struct rp_flow, timer);
	struct rp_device *rp;

	rcu_read_lock();
	rp = rcu_dereference(f->qp->rp);
	spin_lock(&f->lock);
	if (f->dead || !rp) {
		spin_unlock(&f->lock);
	} else {
		flow_check_gap(f, rp);
		flow_deliver(f, rp);
	}
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/**
 * rp_flow_init() - prepare a flow; the caller initialises its window
 * @f: the flow, zeroed
 * @qp: whose it is
 *
 * Context: any.
 */
void rp_flow_init(struct rp_flow *f, struct rp_qp *qp)
{
	f->qp = qp;
	spin_lock_init(&f->lock);
	__skb_queue_head_init(&f->ready);
	rp_hrtimer_setup(&f->timer, flow_timer, HRTIMER_MODE_ABS_SOFT);
}

/**
 * rp_flow_close() - the QP is gone: drop what is held, count it, free all
 * @f: a flow that no packet can find any more
 *
 * Context: process; after a grace period since the QP was taken out of the table.
 */
void rp_flow_close(struct rp_flow *f)
{
	struct rp_device *rp = rcu_dereference_protected(f->qp->rp, true);
	struct rp_held *h, *next;
	struct sk_buff *skb;

	spin_lock_bh(&f->lock);
	f->dead = true;
	for (h = rp_window_release(&f->window, false); h; h = next) {
		next = h->next;
		percpu_counter_sub(&rp->held_bytes, h->bytes);
		rp_count(rp, RP_RX_DROP_GONE);
		kfree_skb(flow_skb(h));
	}
	while ((skb = __skb_dequeue(&f->ready))) {
		rp_count(rp, RP_RX_DROP_GONE);
		kfree_skb(skb);
	}
	spin_unlock_bh(&f->lock);
	hrtimer_cancel(&f->timer);
	kfree(rp_window_buckets(&f->window, NULL, 0));
	kfree(f->window.awaited);
}

/* more buckets as more is held, by doubling: no allocation for a packet as such */
static void flow_make_room(struct rp_flow *f, u32 psn)
{
	u32 n = rp_window_wants(&f->window, psn);
	struct rp_held **bucket;

	if (likely(!n) || n > RP_FLOW_BUCKETS_MAX)
		return;
	bucket = kcalloc(n, sizeof(*bucket), GFP_ATOMIC | __GFP_NOWARN);
	if (bucket)
		kfree(rp_window_buckets(&f->window, bucket, n));
}

static void flow_hold(struct rp_flow *f, struct rp_device *rp, struct sk_buff *skb, u64 now)
{
	f->held_ns = now;
	/* it may wait: keep no socket and no route alive meanwhile */
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	percpu_counter_add_batch(&rp->held_bytes, flow_held(skb)->bytes,
				 READ_ONCE(rp->held_batch));
	rp_count(rp, RP_RX_HELD);
	trace_rocepath_hold(rp->dev, f->qp->local_qpn, flow_held(skb)->psn, f->window.expected,
			    f->window.held);
}

static void flow_full(struct rp_flow *f, struct rp_device *rp, struct sk_buff *skb)
{
	struct rp_held *own = flow_held(skb), *h, *next;

	rp_count(rp, RP_RX_PASSED_FULL);
	for (h = rp_window_overflow(&f->window, own); h; h = next) {
		next = h->next;
		if (h == own)
			flow_ready(f, rp, skb);
		else
			flow_unhold(f, rp, h, RP_RX_FLUSHED);
	}
	rp_event_cap(rp, "reorder buffer full: see reorder-depth, -flow-bytes and -bytes");
}

static enum rp_count flow_passed(const struct rp_flow *f, u32 psn)
{
	return rp_psn_diff(psn, f->window.expected) < 0 ? RP_RX_PASSED_OLD : RP_RX_PASSED_FAR;
}

/**
 * rp_flow_rx() - a packet of the flow arrived
 * @f: the flow
 * @rp: the device, that the QP is bound to
 * @skb: the packet, unshared, ours from here on; its device is already @rp's
 * @l3: bytes from its data to the IP header
 * @r: parsed
 * @peer: who sent it, may be NULL; when it sprays, or may, early packets are kept back
 *
 * Context: softirq, RCU.
 */
void rp_flow_rx(struct rp_flow *f, struct rp_device *rp, struct sk_buff *skb, u32 l3,
		const struct rp_roce *r, struct rp_peer *peer)
{
	struct rp_held *h = flow_held(skb);
	struct rp_window_caps caps = {};
	enum rp_window_verdict verdict;
	u64 now = 0;

	h->next = NULL;
	h->psn = r->psn;
	h->span = rp_roce_span(r, f->qp->path_mtu);
	h->bytes = skb->truesize;
	h->repair = r->repair;

	spin_lock(&f->lock);
	if (f->window.held || h->psn != f->window.expected || h->repair)
		now = ktime_get_ns();
	if (peer && READ_ONCE(peer->holds)) {
		caps = flow_caps(rp, peer, now);
		caps.bytes = min(caps.bytes, rp_device_left(&rp->held_bytes,
							    READ_ONCE(rp->reorder_bytes)));
		if (h->psn != f->window.expected)
			flow_make_room(f, h->psn);
	}
	verdict = rp_window_rx(&f->window, h, &caps, now);
	/* what the QP waits for, and whoever else can guess that could harm the QP itself */
	if (peer && READ_ONCE(peer->reports) &&
	    (verdict == RP_WINDOW_DELIVER || verdict == RP_WINDOW_HOLD))
		rp_heard(peer, skb, l3, r, h->late_ns);
	f->news = true;
	switch (verdict) {
	case RP_WINDOW_DELIVER:
		rp_count(rp, RP_RX_IN_ORDER);
		flow_ready(f, rp, skb);
		if (f->window.held)
			flow_take_next(f, rp, now);
		break;
	case RP_WINDOW_PASS:
		rp_count(rp, flow_passed(f, h->psn));
		flow_ready(f, rp, skb);
		break;
	case RP_WINDOW_HOLD:
		flow_hold(f, rp, skb, now);
		break;
	case RP_WINDOW_DUPLICATE:
		rp_count(rp, rp_psn_diff(h->psn, f->window.expected) < 0 || h->repair ?
				     RP_RX_DROP_REPAIRED : RP_RX_DROP_DUPLICATE);
		kfree_skb(skb);
		break;
	case RP_WINDOW_FULL:
		flow_full(f, rp, skb);
		break;
	}
	if (f->window.held)
		flow_arm(f, &caps);
	flow_deliver(f, rp);
}

/*
 * The window moved because of something that was sent. What is ready now must
 * not be delivered from here: the sender may hold locks that the receiver
 * takes. The timer does it, at once.
 */
static void flow_moved(struct rp_flow *f, struct rp_device *rp)
{
	flow_take_next(f, rp, ktime_get_ns());
	if (f->window.held || !skb_queue_empty(&f->ready))
		flow_start_timer(f, 0);
}

static void flow_seek(struct rp_flow *f, struct rp_device *rp, u32 psn, bool back)
{
	s32 ahead = rp_psn_diff(psn, READ_ONCE(f->window.expected));
	u64 rewinds;

	/* nearly always the window knows it already, and no lock is needed to see that */
	if (back ? !ahead : ahead <= 0)
		return;
	spin_lock_bh(&f->lock);
	rewinds = f->window.stats.rewinds;
	if (!f->dead && rp_window_seek(&f->window, psn, back)) {
		rp_stats_add(rp->stats, RP_REWINDS, f->window.stats.rewinds - rewinds);
		flow_moved(f, rp);
	}
	spin_unlock_bh(&f->lock);
}

static void flow_await(struct rp_flow *f, struct rp_device *rp, u32 psn, u32 count)
{
	spin_lock_bh(&f->lock);
	if (!f->window.awaited && !f->dead) {
		struct rp_awaited *ring = kcalloc(RP_WINDOW_AWAITED, sizeof(*ring), GFP_ATOMIC);

		if (ring)
			rp_window_init_responses(&f->window, ring);
	}
	if (f->window.awaited && !f->dead && rp_window_await(&f->window, psn, count))
		flow_moved(f, rp);
	spin_unlock_bh(&f->lock);
}

/**
 * rp_flow_sent() - the QP is about to send this: learn from it
 * @qp: bound to a device
 * @r: the packet
 *
 * Context: bottom halves off, RCU; before the packet leaves, so that the answer cannot be faster.
 */
void rp_flow_sent(struct rp_qp *qp, const struct rp_roce *r)
{
	struct rp_device *rp = rcu_dereference(qp->rp);

	switch (r->kind) {
	case RP_KIND_ACK:
		flow_seek(&qp->rx[RP_REQUESTS], rp, rp_psn_add(r->psn, 1), false);
		break;
	case RP_KIND_NAK:
		if (RP_AETH_TYPE(r->syndrome) == RP_AETH_RNR_NAK ||
		    r->syndrome == RP_AETH_NAK_SEQUENCE)
			flow_seek(&qp->rx[RP_REQUESTS], rp, r->psn, true);
		break;
	case RP_KIND_READ:
	case RP_KIND_ATOMIC:
		flow_await(&qp->rx[RP_RESPONSES], rp, r->psn, rp_roce_span(r, qp->path_mtu));
		break;
	default:
		break;
	}
}

/**
 * rp_flow_hurry() - a port failed: look at the gap again, it has less time now
 * @f: the flow
 *
 * Context: any but hard irq.
 */
void rp_flow_hurry(struct rp_flow *f)
{
	spin_lock_bh(&f->lock);
	if (!f->dead && f->window.held)
		flow_start_timer(f, 0);
	spin_unlock_bh(&f->lock);
}

/**
 * rp_flow_report() - what there is to report of a flow
 * @f: the flow
 * @out: filled in but for QPN and PSN space
 *
 * While packets are held there is, whether others come or not: what was said
 * before may be lost.
 *
 * Context: bottom halves off.
 * Return: false if there is nothing new.
 */
bool rp_flow_report(struct rp_flow *f, struct rp_report_flow *out)
{
	bool news;

	if (!READ_ONCE(f->news))
		return false;
	spin_lock(&f->lock);
	news = f->news && !f->dead;
	if (news)
		rp_report_window(out, &f->window);
	f->news = f->window.held;
	spin_unlock(&f->lock);
	return news;
}

/** rp_flow_news() - it was not reported after all: the next report is to have it. */
void rp_flow_news(struct rp_flow *f)
{
	WRITE_ONCE(f->news, true);
}

/**
 * rp_flow_snapshot() - the window as it is, for people
 * @f: the flow
 * @w: its pointers must not be followed
 *
 * Context: any but hard irq.
 */
void rp_flow_snapshot(struct rp_flow *f, struct rp_window *w)
{
	spin_lock_bh(&f->lock);
	*w = f->window;
	spin_unlock_bh(&f->lock);
}
