// SPDX-License-Identifier: GPL-2.0
/*
 * Reports: what arrived from a peer is told to it, and what it tells of us is
 * given to paths and repair. See struct rp_wire_report.
 */
#include "report.h"

#include "control.h"
#include "core/report.h"
#include "device.h"
#include "heard.h"
#include "path.h"
#include "peer.h"
#include "qp.h"
#include "repair.h"
#include "tick.h"

/* what the peer says of one path of ours */
static void report_path(struct rp_device *rp, struct rp_peer *peer, struct rp_pathset *set,
			const struct rp_report_path *p, u64 interval_ns, u64 now)
{
	struct rp_path path = { .port = p->path >> 8, .ev = p->path & 0xff };
	u16 index = rp_pathset_find(set, path);
	struct rp_pathset_entry *e;
	u8 state;

	if (index == RP_PATHSET_NONE)
		return;
	e = &set->entry[index];
	state = e->health.state;
	/* it has forgotten us meanwhile, and counts from 0 again */
	if ((s32)(p->received - e->received) < 0)
		rp_pathset_recount(e);
	e->health.marked_total += p->marked - e->marked;
	e->health.late_us = p->late_us;
	e->health.late_ns = now;
	e->marked = p->marked;
	/*
	 * Where the path carries data, repair knows packet by packet what arrived.
	 * Of acknowledges only the number is known; they came within the interval.
	 */
	if (p->received != e->received && now > e->traced_ns + 2 * interval_ns &&
	    rp_health_arrived(&e->health, 0, now - interval_ns / 4, now))
		rp_path_changed(rp, peer, e, state, now);
	e->received = p->received;
}

static void report_paths(struct rp_device *rp, struct rp_peer *peer, struct rp_report_reader *r,
			 u64 now)
{
	struct rp_health_knobs knobs = rp_path_knobs(rp, peer);
	struct rp_peer_paths *paths;
	struct rp_report_path p;
	u32 spread = 0, i;

	spin_lock(&peer->lock);
	paths = rcu_dereference_protected(peer->paths, lockdep_is_held(&peer->lock));
	while (rp_report_next_path(r, &p)) {
		if (paths)
			report_path(rp, peer, paths->set, &p, knobs.interval_ns, now);
	}
	if (paths) {
		rp_sched_feedback(paths->set, &knobs, now);
		for (i = 0; i < paths->set->n; i++) {
			rp_pathset_publish(paths->set, i);
			if (paths->set->entry[i].health.state == ROCEPATH_PATH_UP)
				spread = max(spread, paths->set->entry[i].health.late_us);
		}
	}
	/* a peak that decays */
	WRITE_ONCE(peer->spread_us, max(spread, peer->spread_us - peer->spread_us / 8));
	WRITE_ONCE(peer->reported_ns, now);
	WRITE_ONCE(peer->heard_ns, now);
	spin_unlock(&peer->lock);
}

/**
 * rp_report_rx() - a report came, authenticated and not a replay
 * @rp: the device
 * @peer: whose it is
 * @w: its header
 * @len: bytes of its body
 *
 * Context: softirq, RCU.
 * Return: false if it makes no sense.
 */
bool rp_report_rx(struct rp_device *rp, struct rp_peer *peer, const struct rp_wire *w, u32 len)
{
	u64 now = ktime_get_ns();
	struct rp_report_reader r;
	struct rp_report_flow f;
	struct rp_qp *qp;

	if (!rp_report_open(&r, w + 1, len))
		return false;
	/* about one that we were before we restarted */
	if (r.to != rp->instance)
		return true;
	report_paths(rp, peer, &r, now);
	while (rp_report_next_flow(&r, &f)) {
		qp = rp_qp_by_remote(&peer->address, f.qpn);
		if (qp && rcu_access_pointer(qp->rp) == rp)
			rp_repair_report(qp, peer, &f, now);
	}
	return true;
}

static bool report_put_qp(struct rp_report_writer *w, struct rp_qp *qp)
{
	struct rp_report_flow f;
	int i;

	for (i = 0; i < RP_SPACES; i++) {
		if (!rp_flow_report(&qp->rx[i], &f))
			continue;
		f.qpn = qp->local_qpn;
		f.space = i;
		if (!rp_report_put_flow(w, &f)) {
			rp_flow_news(&qp->rx[i]);
			return false;
		}
	}
	return true;
}

/**
 * rp_report_send() - tell a peer what arrived since the last report
 * @rp: the device
 * @peer: to whom
 * @now_ns: the time
 *
 * One packet at most. What finds no room is in the next one.
 *
 * Context: the peer's tick: bottom halves off, RCU.
 */
void rp_report_send(struct rp_device *rp, struct rp_peer *peer, u64 now_ns)
{
	u8 body[RP_WIRE_BODY_MAX];
	struct rp_report_writer w;
	struct rp_qp *qp;
	u32 begun, left;

	if (!READ_ONCE(peer->hello.reports))
		return;
	rp_report_begin(&w, body, READ_ONCE(peer->hello.instance),
			READ_ONCE(rp->report_interval_us));
	begun = w.len;
	rp_heard_report(peer, &w);
	for (left = READ_ONCE(peer->active_n); left && (qp = rp_tick_next(peer)); left--)
		if (!report_put_qp(&w, qp))
			break;
	if (w.len != begun && rp_control_send(rp, peer, RP_WIRE_REPORT, body, w.len, NULL))
		rp_count(rp, RP_TX_REPORTS);
}
