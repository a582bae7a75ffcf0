// SPDX-License-Identifier: GPL-2.0
/*
 * What is done when a path or a port fails: tell, and keep new QPs off it; and, where
 * the policy says so, act on the QPs that sit on it.
 *
 * error: the QP goes to the error state at once, so that its completions say so to whoever
 *   waits for them, instead of after all retries of the transport.
 *
 * move: RTS -> SQD, wait until what is on its way has been acknowledged, then the address
 *   with another flow label, then -> RTS (IB specification, 10.3.1.4 and 11.2.5.2: the
 *   address may be changed in SQD). A NIC sends nothing meanwhile, so nothing can overtake.
 *   A QP whose path is dead does not drain; it stays in SQD, where it can send no less than
 *   it could, until its own retries end it, or the path comes back. Many drivers cannot
 *   do it; that shows in the first step, and is said once for each device.
 *
 * Both run in a workqueue, with a reference to the QP of the kind that RDMA netlink
 * takes, and the QP's end waits for them. A QP that goes away in between is no error.
 */
#include "failure.h"

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/if_ether.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "event.h"
#include "probe.h"
#include "qp.h"

/* how often the driver is asked whether a QP has drained, and how long it may take */
#define RP_DRAIN_POLL_MS 2
#define RP_DRAIN_MS 60000
/* for a neighbour that the kernel knows: QPs send to it */
#define RP_RESOLVE_MS 1000

static struct workqueue_struct *failure_wq;

static int qp_to(struct ib_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/* Return: 0 when nothing is on its way any more, or why that will not be */
static int qp_drain(const struct rp_rdma_qp *row, struct ib_qp *qp)
{
	ktime_t end = ktime_add_ms(ktime_get(), RP_DRAIN_MS);
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	int err;

	for (;;) {
		memset(&attr, 0, sizeof(attr));
		err = ib_query_qp(qp, &attr, IB_QP_STATE, &init);
		if (err)
			return err;
		if (attr.qp_state != IB_QPS_SQD)
			return -ECONNRESET;
		if (!attr.sq_draining)
			return 0;
		if (READ_ONCE(row->gone))
			return -ENOENT;
		if (ktime_after(ktime_get(), end))
			return -ETIMEDOUT;
		msleep(RP_DRAIN_POLL_MS);
	}
}

struct resolving {
	struct completion done;
	int err;
};

static void resolved(int err, struct sockaddr *from, struct rdma_dev_addr *addr, void *arg)
{
	struct resolving *r = arg;

	r->err = err;
	complete(&r->done);
}

/*
 * The MAC address that the QP's packets go to. ib_core looks it up for users; kernel
 * callers bring it, and drivers take what looks like a user's call for one of a process.
 */
static int qp_resolve_mac(const struct rp_rdma_qp *row, u8 *mac)
{
	const struct ib_gid_attr *gid = rdma_get_gid_attr(row->rdev->ib, row->rdev->port,
							  row->sgid_index);
	struct rdma_dev_addr addr = { .net = &init_net };
	struct sockaddr_in6 from, to;	/* large enough for IPv4, too */
	struct resolving r;

	if (IS_ERR(gid))
		return PTR_ERR(gid);
	rdma_gid2ip((struct sockaddr *)&from, &gid->gid);
	rdma_gid2ip((struct sockaddr *)&to, (const union ib_gid *)&row->remote);
	addr.sgid_attr = gid;
	init_completion(&r.done);
	r.err = rdma_resolve_ip((struct sockaddr *)&from, (struct sockaddr *)&to, &addr,
				RP_RESOLVE_MS, resolved, true, &r);
	if (!r.err)
		wait_for_completion(&r.done);
	rdma_put_gid_attr(gid);
	memcpy(mac, addr.dst_dev_addr, ETH_ALEN);
	return r.err;
}

/* the address that it has, with another flow label */
static int qp_readdress(const struct rp_rdma_qp *row, struct ib_qp *qp, const u8 *mac, u16 ev)
{
	struct ib_qp_attr attr = { .ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE };

	memcpy(attr.ah_attr.roce.dmac, mac, ETH_ALEN);
	rdma_ah_set_port_num(&attr.ah_attr, row->rdev->port);
	rdma_ah_set_sl(&attr.ah_attr, row->set.sl);
	rdma_ah_set_static_rate(&attr.ah_attr, row->static_rate);
	rdma_ah_set_grh(&attr.ah_attr, NULL, rp_plan_label(ev), row->sgid_index, row->hop_limit,
			row->set.traffic_class);
	rdma_ah_set_dgid_raw(&attr.ah_attr, (void *)&row->remote);
	return ib_modify_qp(qp, &attr, IB_QP_AV);
}

static void moves_learn(struct rp_rdma_device *rdev, int err)
{
	u32 before = READ_ONCE(rdev->moves);

	WRITE_ONCE(rdev->moves, err ? ROCEPATH_RDMA_MOVES_NO : ROCEPATH_RDMA_MOVES_YES);
	if (err && before != ROCEPATH_RDMA_MOVES_NO)
		pr_info("rocepath_rdma: the driver of %s cannot move live QPs (error %d)\n",
			rdev->name, err);
}

/* Return: 0 if it has another EV now. Whatever happened, it is in RTS again, if it can be */
static int qp_change_ev(struct rp_rdma_qp *row, struct ib_qp *qp, u16 ev)
{
	u8 mac[ETH_ALEN];
	int err, back;

	/* before it stands still */
	err = qp_resolve_mac(row, mac);
	if (err)
		return err;
	err = qp_to(qp, IB_QPS_SQD);
	if (err) {
		moves_learn(row->rdev, err);
		return err;
	}
	err = qp_drain(row, qp);
	if (!err) {
		err = qp_readdress(row, qp, mac, ev);
		moves_learn(row->rdev, err);
	}
	/* its own retries have ended it */
	if (err == -ECONNRESET)
		return err;
	/* also when the module goes; one that is being destroyed needs it no more */
	back = qp_to(qp, IB_QPS_RTS);
	if (back && err != -ENOENT)
		pr_warn_ratelimited("rocepath_rdma: QP %u of %s did not come back from SQD (error %d)\n",
				    row->qpn, row->rdev->name, back);
	return err;
}

static int qp_move(struct rp_rdma_qp *row, struct ib_qp *qp)
{
	struct rp_plan_place to;
	u16 ev;
	int err;

	if (READ_ONCE(row->rdev->moves) == ROCEPATH_RDMA_MOVES_NO)
		return -EOPNOTSUPP;
	if (!rp_rdma_pair_move_begin(row, &to))
		return -ENETUNREACH;
	ev = to.ev;
	err = qp_change_ev(row, qp, ev);
	rp_rdma_pair_move_end(row, &to, !err);
	if (err)
		return err;
	row->set.flow_label = rp_plan_label(ev);
	row->planned = true;
	row->moves++;
	rp_rdma_qp_reprobe(row, ev);
	return 0;
}

/**
 * rp_rdma_failure_act() - do with a QP what its class says
 * @work: of a struct rp_rdma_qp, which it has a reference to
 */
void rp_rdma_failure_act(struct work_struct *work)
{
	struct rp_rdma_qp *row = container_of(work, struct rp_rdma_qp, act);
	bool move = READ_ONCE(row->action) == ROCEPATH_RDMA_ACTION_MOVE;
	struct rp_rdma_stats *stats = &row->rdev->stats;
	struct ib_qp *qp = rp_rdma_qp_hold(row);
	int err;

	if (qp) {
		err = move ? qp_move(row, qp) : qp_to(qp, IB_QPS_ERR);
		rp_rdma_qp_release(row, qp);
		if (err)
			rp_rdma_count(stats, move ? RP_RDMA_MOVE_FAILED : RP_RDMA_ERROR_FAILED);
		else
			rp_rdma_count(stats, move ? RP_RDMA_MOVED : RP_RDMA_ERRORED);
		rp_rdma_event_acted(row, move, err,
				    div_u64(ktime_get_ns() - row->failed_ns, NSEC_PER_USEC));
	} else {
		rp_rdma_count(stats, RP_RDMA_GONE);
	}
	rp_rdma_qp_put(row);
}

static void act_on(struct rp_rdma_qp *row, u32 action)
{
	rp_rdma_count(&row->rdev->stats, RP_RDMA_QPS_HIT);
	if (action == ROCEPATH_RDMA_ACTION_NOTIFY)
		return;
	WRITE_ONCE(row->action, action);
	row->failed_ns = ktime_get_ns();
	refcount_inc(&row->refs);
	if (!queue_work(failure_wq, &row->act))
		rp_rdma_qp_put(row);
}

/* what is slow is left by those that can leave */
static void act_on_path(const struct rp_rdma_rows *rows, bool dead)
{
	u32 i;

	for (i = 0; i < rows->n; i++) {
		u32 action = rp_rdma_qp_action(rows->row[i]);

		if (action == ROCEPATH_RDMA_ACTION_ERROR && !dead)
			action = ROCEPATH_RDMA_ACTION_MOVE;
		act_on(rows->row[i], action);
	}
}

/* and a port by none: all its paths are gone */
static void act_on_port(const struct rp_rdma_rows *rows)
{
	u32 i;

	for (i = 0; i < rows->n; i++)
		if (rp_rdma_qp_action(rows->row[i]) == ROCEPATH_RDMA_ACTION_ERROR)
			act_on(rows->row[i], ROCEPATH_RDMA_ACTION_ERROR);
}

static void path_count(struct rp_rdma_device *rdev, u8 state)
{
	switch (state) {
	case ROCEPATH_RDMA_PATH_DOWN:
		rp_rdma_count(&rdev->stats, RP_RDMA_PATHS_DOWN);
		break;
	case ROCEPATH_RDMA_PATH_DEGRADED:
		rp_rdma_count(&rdev->stats, RP_RDMA_PATHS_DEGRADED);
		break;
	default:
		rp_rdma_count(&rdev->stats, RP_RDMA_PATHS_BACK);
		break;
	}
}

static bool path_bad(const struct rp_rdma_path_change *change)
{
	return change->state == ROCEPATH_RDMA_PATH_DOWN ||
	       change->state == ROCEPATH_RDMA_PATH_DEGRADED;
}

static void path_changed(struct rp_rdma_device *rdev, const struct in6_addr *local,
			 const struct in6_addr *remote, const struct rp_rdma_path_change *change)
{
	struct rp_rdma_rows rows;

	path_count(rdev, change->state);
	if (rp_rdma_pair_rows(rdev, local, remote, change->ev, &rows))
		rp_rdma_count(&rdev->stats, RP_RDMA_EVENTS_LOST);
	/* who is to act acts first: telling takes time */
	if (path_bad(change))
		act_on_path(&rows, change->state == ROCEPATH_RDMA_PATH_DOWN);
	rp_rdma_event_path(rdev, local, remote, change, &rows);
	rp_rdma_rows_release(&rows);
}

/**
 * rp_rdma_paths_changed() - probes have found out something
 * @rdev: the port
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @change: the EVs
 * @n: how many
 *
 * Context: process.
 */
void rp_rdma_paths_changed(struct rp_rdma_device *rdev, const struct in6_addr *local,
			   const struct in6_addr *remote,
			   const struct rp_rdma_path_change *change, u32 n)
{
	u32 i;

	/* all of them first, or QPs would move from one that failed to the next */
	for (i = 0; i < n; i++)
		rp_rdma_pair_weigh(rdev, local, remote, change[i].ev,
				   path_bad(&change[i]) ? 0 : RP_PLAN_WEIGHT_MAX);
	for (i = 0; i < n; i++)
		path_changed(rdev, local, remote, &change[i]);
}

/**
 * rp_rdma_failure_tell() - an operator takes an EV out, or puts it back
 * @rdev: the port
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @ev: the EV
 * @down: out, or back
 *
 * What sits on it is treated as if it had failed.
 *
 * Context: process.
 * Return: 0, -ENOENT: no QP has ever had it, nor does the plan.
 */
int rp_rdma_failure_tell(struct rp_rdma_device *rdev, const struct in6_addr *local,
			 const struct in6_addr *remote, u16 ev, bool down)
{
	const struct rp_rdma_path_change change = {
		.ev = ev,
		.state = down ? ROCEPATH_RDMA_PATH_DOWN : ROCEPATH_RDMA_PATH_UP,
		.before = down ? ROCEPATH_RDMA_PATH_UP : ROCEPATH_RDMA_PATH_DOWN,
		.reason = ROCEPATH_RDMA_REASON_TOLD,
	};
	int err = rp_rdma_pair_tell(rdev, local, remote, ev, down);

	if (!err)
		path_changed(rdev, local, remote, &change);
	return err;
}

/**
 * rp_rdma_failure_event() - something happened to an RDMA device
 * @handler: of a struct rp_rdma_device
 * @event: what
 *
 * Context: process.
 */
void rp_rdma_failure_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct rp_rdma_device *rdev = container_of(handler, struct rp_rdma_device, events);
	bool up = event->event == IB_EVENT_PORT_ACTIVE;
	struct rp_rdma_rows rows;

	if ((!up && event->event != IB_EVENT_PORT_ERR) || event->element.port_num != rdev->port)
		return;
	if (!up)
		rp_rdma_count(&rdev->stats, RP_RDMA_PORT_DOWN);
	if (rp_rdma_qp_rows(rdev, &rows))
		rp_rdma_count(&rdev->stats, RP_RDMA_EVENTS_LOST);
	if (!up)
		act_on_port(&rows);
	rp_rdma_event_port(rdev, up, &rows);
	rp_rdma_rows_release(&rows);
}

/** rp_rdma_failure_flush() - wait until nobody acts on a QP. Context: process. */
void rp_rdma_failure_flush(void)
{
	flush_workqueue(failure_wq);
}

/**
 * rp_rdma_failure_init() - be ready to act
 *
 * Return: 0 or -ENOMEM.
 */
int rp_rdma_failure_init(void)
{
	failure_wq = alloc_workqueue("rocepath_rdma", WQ_UNBOUND, 0);
	return failure_wq ? 0 : -ENOMEM;
}

/** rp_rdma_failure_exit() - all devices are gone already. */
void rp_rdma_failure_exit(void)
{
	destroy_workqueue(failure_wq);
}
