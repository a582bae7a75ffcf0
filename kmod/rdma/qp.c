// SPDX-License-Identifier: GPL-2.0
/*
 * The QPs of this host's RoCE ports, from when they connect, and what is set in them.
 *
 * ib_core's modify-QP call gives a driver everything that a QP will have on the wire:
 * the flow label, of which the UDP source port is made; the traffic class; the service
 * level; the timers. hook.c calls here before the driver reads any of it. Two
 * transitions of the IB specification (11.2.5.2, table of modify-QP attributes) let
 * these fields be set, and only there they are changed:
 *   INIT -> RTR: required attributes are the address and its flow label, traffic class and
 *     service level. To RTR there is no other way, so the next state tells.
 *   RTR -> RTS: required attributes are, for RC and XRC initiators, timeout and retry count.
 *     SQD -> RTS, SQE -> RTS and RTS -> RTS must not have them, so the mask tells.
 * Where a caller's mask is not right, the driver refuses the call, changed or not. A QP that
 * is refused RTR, by that or for another reason, keeps its place until it is modified again or
 * destroyed: what these functions return is not seen, for that costs every QP too much.
 *
 * All this runs with preemption off, maybe with interrupts off: no sleeping, and nothing
 * that is not bounded. Rows are in plain hash buckets under an irq-safe lock, as those
 * of rocepath.ko's qp.c are, and for the same reason: rhashtable's buckets lock against
 * bottom halves only, before 6.2.
 *
 * A row is known by the address of its ib_qp, which is not looked into but while ib_core
 * is in a call about it. Who acts on a QP later asks ib_core for it by number, and
 * for a reference, as RDMA netlink does (restrack). That keeps the memory, but ib_core has the
 * driver destroy its part of a QP before it waits for references. So who acts is on a list, and
 * a QP that is on it is not destroyed before it has left; see hook.c for how that waits.
 *
 * A QP from before this module has no row, and is left alone.
 */
#include "qp.h"

#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

#include "device.h"
#include "failure.h"
#include "probe.h"

#define RP_QP_HASH_BITS 12
#define RP_QP_BUCKETS BIT(RP_QP_HASH_BITS)
#define RP_RDMA_QPS_MAX 65536

static struct hlist_head qp_table[RP_QP_BUCKETS];
static DEFINE_SPINLOCK(qp_lock);	/* writers of the table, and what is written in rows */
static u32 qp_count;
static LIST_HEAD(qp_acting);		/* those that somebody acts on */
static DECLARE_WAIT_QUEUE_HEAD(qp_acted);

static struct hlist_head *qp_bucket(const struct ib_qp *qp)
{
	return &qp_table[hash_ptr(qp, RP_QP_HASH_BITS)];
}

static struct rp_rdma_qp *qp_find(const struct ib_qp *qp)
{
	struct rp_rdma_qp *row;

	lockdep_assert_held(&qp_lock);
	hlist_for_each_entry(row, qp_bucket(qp), node)
		if (row->ib_qp == qp)
			return row;
	return NULL;
}

/**
 * rp_rdma_qp_put() - a reference is no longer needed
 * @row: the QP or NULL
 *
 * Context: any.
 */
void rp_rdma_qp_put(struct rp_rdma_qp *row)
{
	if (row && refcount_dec_and_test(&row->refs))
		kfree_rcu(row, rcu);
}

/* it sends no more: its place and its probes are free */
static void qp_leave_place(struct rp_rdma_qp *row)
{
	unsigned long flags;
	bool probed;

	spin_lock_irqsave(&qp_lock, flags);
	probed = row->probed;
	row->probed = false;
	spin_unlock_irqrestore(&qp_lock, flags);
	if (probed)
		rp_rdma_probe_unwant(row->rdev, &row->local, &row->remote, row->probed_ev);
	rp_rdma_pair_give_back(row);
}

/**
 * rp_rdma_qp_reprobe() - a QP has moved: its probes follow
 * @row: the QP
 * @ev: where it sits now
 *
 * Context: process.
 */
void rp_rdma_qp_reprobe(struct rp_rdma_qp *row, u16 ev)
{
	bool wanted = rp_rdma_probe_want(row->rdev, &row->local, &row->remote, ev,
					 row->set.traffic_class);
	u16 before = ev;
	bool probed;

	spin_lock_irq(&qp_lock);
	/* one that has left meanwhile wants none */
	probed = row->probed;
	if (probed) {
		before = row->probed_ev;
		row->probed_ev = ev;
		row->probed = wanted;
	}
	spin_unlock_irq(&qp_lock);
	if (probed || wanted)
		rp_rdma_probe_unwant(row->rdev, &row->local, &row->remote, before);
}

/* out of the table. Return: the row; the table's reference is the caller's */
static struct rp_rdma_qp *qp_take_out(struct rp_rdma_qp *row)
{
	lockdep_assert_held(&qp_lock);
	hlist_del_rcu(&row->node);
	WRITE_ONCE(row->gone, true);
	qp_count--;
	return row;
}

/* Return: the row of a QP, which is in the table no more; the table's reference is the caller's */
static struct rp_rdma_qp *qp_unlink(const struct ib_qp *qp)
{
	struct rp_rdma_qp *row;
	unsigned long flags;

	/* calls about one QP follow each other, so a row of it would be seen */
	if (hlist_empty(qp_bucket(qp)))
		return NULL;
	spin_lock_irqsave(&qp_lock, flags);
	row = qp_find(qp);
	if (row)
		qp_take_out(row);
	spin_unlock_irqrestore(&qp_lock, flags);
	return row;
}

static void qp_forget(struct rp_rdma_qp *row)
{
	if (!row)
		return;
	qp_leave_place(row);
	rp_rdma_qp_put(row);
}

static void qp_owner_task(struct rp_rdma_qp *row, struct task_struct *task)
{
	struct rp_qp *who = &row->who;

	who->pid = task->tgid;
	who->uid = from_kuid(&init_user_ns, task_uid(task));
	/* it may be renamed at this moment; the last byte is never anything but 0 */
	memcpy(who->comm, task->comm, sizeof(who->comm));
	who->comm[sizeof(who->comm) - 1] = 0;
#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	who->cgroup_id = cgroup_id(task_dfl_cgroup(task));
	cgroup_path(task_dfl_cgroup(task), who->cgroup, sizeof(who->cgroup));
	rcu_read_unlock();
#endif
	row->job = hash_64(who->cgroup_id, 64) ?: 1;
}

/* whose it is; of a kernel QP, the name of the module that made it */
static void qp_owner(struct rp_rdma_qp *row, const struct ib_qp *qp)
{
	const struct rdma_restrack_entry *res = &qp->res;

	BUILD_BUG_ON(sizeof(row->who.comm) != TASK_COMM_LEN);
	if (rdma_is_kernel_res(res))
		strscpy(row->who.comm, res->kern_name ?: "", sizeof(row->who.comm));
	else
		qp_owner_task(row, res->task ?: current);
}

/* Return: false: it is not RoCEv2 */
static bool qp_local(struct rp_rdma_qp *row, const struct ib_qp *qp, u32 port, u8 index)
{
	const struct ib_gid_attr *gid = rdma_get_gid_attr(qp->device, port, index);
	bool v2;

	if (IS_ERR(gid))
		return false;
	v2 = gid->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
	memcpy(&row->local, gid->gid.raw, sizeof(row->local));
	rdma_put_gid_attr(gid);
	return v2;
}

static enum rp_qp_type qp_type(const struct ib_qp *qp)
{
	return qp->qp_type <= IB_QPT_XRC_TGT ? (enum rp_qp_type)qp->qp_type : RP_QP_DRIVER;
}

/* Return: a row with all that is asked for, not in the table yet; NULL: not to be had */
static struct rp_rdma_qp *qp_new(struct rp_rdma_device *rdev, const struct ib_qp *qp,
				 const struct ib_qp_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);
	struct rp_rdma_qp *row = NULL;

	if (READ_ONCE(qp_count) < RP_RDMA_QPS_MAX)
		row = kzalloc(sizeof(*row), GFP_ATOMIC | __GFP_NOWARN);
	if (!row) {
		rp_rdma_count(&rdev->stats, RP_RDMA_UNTRACKED);
		return NULL;
	}
	if (!qp_local(row, qp, rdev->port, grh->sgid_index)) {
		rp_rdma_count(&rdev->stats, RP_RDMA_NOT_ROCE);
		kfree(row);
		return NULL;
	}
	refcount_set(&row->refs, 1);
	INIT_LIST_HEAD(&row->acting);
	INIT_WORK(&row->act, rp_rdma_failure_act);
	row->ib_qp = qp;
	row->rdev = rdev;
	memcpy(&row->remote, grh->dgid.raw, sizeof(row->remote));
	memcpy(&row->who.remote, grh->dgid.raw, sizeof(row->who.remote));
	strscpy(row->who.device, rdev->name, sizeof(row->who.device));
	row->who.type = qp_type(qp);
	row->who.state = RP_QP_RTR;
	row->connecting = true;
	row->who.remote_qpn = attr->dest_qp_num;
	qp_owner(row, qp);
	row->asked.flow_label = grh->flow_label;
	row->asked.traffic_class = grh->traffic_class;
	row->asked.sl = rdma_ah_get_sl(&attr->ah_attr);
	row->set = row->asked;
	row->sgid_index = grh->sgid_index;
	row->hop_limit = grh->hop_limit;
	row->static_rate = rdma_ah_get_static_rate(&attr->ah_attr);
	return row;
}

/* the types whose own transitions have all that is set here */
static bool qp_may_steer(const struct rp_rdma_qp *row)
{
	return row->who.type == RP_QP_RC || row->who.type == RP_QP_UC ||
	       row->who.type == RP_QP_XRC_INI;
}

/* why it is left alone, for the counters; 0: it is not */
static int qp_alone(const struct rp_rdma_qp *row)
{
	if (!qp_may_steer(row))
		return RP_RDMA_QP_TYPE;
	if (!rp_rdma_device_steers(row->rdev))
		return RP_RDMA_OFF;
	if (row->exempt || row->verdict.class.exempt)
		return RP_RDMA_EXEMPT;
	return 0;
}

static void qp_set_label(struct rp_rdma_qp *row, struct ib_global_route *grh)
{
	struct rp_rdma_stats *stats = &row->rdev->stats;

	if (!rp_rdma_pair_take(row, row->job)) {
		rp_rdma_count(stats, RP_RDMA_LABEL_NO_PLACE);
		return;
	}
	row->planned = true;
	row->set.flow_label = rp_plan_label(row->ev);
	grh->flow_label = row->set.flow_label;
	rp_rdma_count(stats, RP_RDMA_LABEL_SET);
	row->steered = true;
}

static void qp_set_class(struct rp_rdma_qp *row, struct ib_qp_attr *attr)
{
	const struct rp_rdma_class *class = &row->verdict.class;
	struct rp_rdma_stats *stats = &row->rdev->stats;

	if (class->flags & RP_RDMA_CLASS_DSCP) {
		/* the two bits of ECN are the application's */
		row->set.traffic_class = class->dscp << 2 | (row->asked.traffic_class & 3);
		rdma_ah_retrieve_grh(&attr->ah_attr)->traffic_class = row->set.traffic_class;
		rp_rdma_count(stats, RP_RDMA_TRAFFIC_CLASS_SET);
		row->steered = true;
	}
	if (class->flags & RP_RDMA_CLASS_SL) {
		row->set.sl = class->sl;
		rdma_ah_set_sl(&attr->ah_attr, class->sl);
		rp_rdma_count(stats, RP_RDMA_SL_SET);
		row->steered = true;
	}
}

/* one whose label is not the plan's choice sits somewhere, too */
static void qp_sit(struct rp_rdma_qp *row, const struct ib_qp *qp)
{
	u32 label = row->set.flow_label;

	if (!label)
		label = rdma_calc_flow_label(qp->qp_num, row->who.remote_qpn);
	row->ev = rp_plan_label_ev(label);
	rp_rdma_pair_take_at(row, row->job, row->ev);
}

static void qp_insert(struct rp_rdma_qp *row)
{
	unsigned long flags;

	spin_lock_irqsave(&qp_lock, flags);
	hlist_add_head_rcu(&row->node, qp_bucket(row->ib_qp));
	qp_count++;
	spin_unlock_irqrestore(&qp_lock, flags);
}

/* is it further than RTR? Then the driver will refuse to connect it once more */
static bool qp_is_connected(const struct ib_qp *qp)
{
	struct rp_rdma_qp *row;
	unsigned long flags;
	bool connected;

	if (hlist_empty(qp_bucket(qp)))
		return false;
	spin_lock_irqsave(&qp_lock, flags);
	row = qp_find(qp);
	connected = row && !row->connecting;
	spin_unlock_irqrestore(&qp_lock, flags);
	return connected;
}

/* INIT -> RTR, with a RoCE address */
static void qp_connect(struct rp_rdma_device *rdev, struct ib_qp *qp, struct ib_qp_attr *attr)
{
	/* one that failed on its way before */
	struct rp_rdma_qp *old = qp_unlink(qp), *row = qp_new(rdev, qp, attr);
	int alone;

	rp_rdma_count(&rdev->stats, RP_RDMA_CONNECTED);
	if (row) {
		row->exempt = old && old->exempt;
		row->qpn = qp->qp_num;
	}
	qp_forget(old);
	if (!row)
		return;
	rp_rdma_classify(&row->who, &row->verdict);
	alone = qp_alone(row);
	if (alone) {
		rp_rdma_count(&rdev->stats, alone);
	} else {
		qp_set_class(row, attr);
		if (row->verdict.class.entropy == ROCEPATH_RDMA_ENTROPY_PLAN)
			qp_set_label(row, rdma_ah_retrieve_grh(&attr->ah_attr));
		if (row->steered)
			rp_rdma_count(&rdev->stats, RP_RDMA_STEERED);
	}
	if (!row->planned)
		qp_sit(row, qp);
	row->probed_ev = row->ev;
	row->probed = rp_rdma_probe_want(rdev, &row->local, &row->remote, row->ev,
					 row->set.traffic_class);
	qp_insert(row);
}

/* RTR -> RTS, with timers */
static void qp_set_timers(struct rp_rdma_qp *row, struct ib_qp_attr *attr)
{
	const struct rp_rdma_class *class = &row->verdict.class;
	struct rp_rdma_stats *stats = &row->rdev->stats;

	lockdep_assert_held(&qp_lock);
	row->timed = true;
	row->asked.timeout = attr->timeout;
	row->asked.retry = attr->retry_cnt;
	if (!qp_alone(row)) {
		if (class->flags & RP_RDMA_CLASS_TIMEOUT) {
			attr->timeout = class->timeout;
			rp_rdma_count(stats, RP_RDMA_TIMEOUT_SET);
			row->steered = true;
		}
		if (class->flags & RP_RDMA_CLASS_RETRY) {
			attr->retry_cnt = class->retry;
			rp_rdma_count(stats, RP_RDMA_RETRY_SET);
			row->steered = true;
		}
	}
	row->set.timeout = attr->timeout;
	row->set.retry = attr->retry_cnt;
}

static void qp_state(const struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	struct rp_rdma_qp *row;
	unsigned long flags;

	spin_lock_irqsave(&qp_lock, flags);
	row = qp_find(qp);
	if (row) {
		row->who.state = (enum rp_qp_state)attr->qp_state;
		row->connecting = false;
		if (attr->qp_state == IB_QPS_RTS && mask & IB_QP_TIMEOUT &&
		    mask & IB_QP_RETRY_CNT &&
		    (row->who.type == RP_QP_RC || row->who.type == RP_QP_XRC_INI))
			qp_set_timers(row, attr);
	}
	spin_unlock_irqrestore(&qp_lock, flags);
}

static void qp_to_rtr(struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	struct rp_rdma_device *rdev;

	rcu_read_lock();
	if (!(mask & IB_QP_AV)) {
		/* UD and the like: each packet has its own address */
		rdev = rp_rdma_device_of(qp->device, qp->port ?: 1);
		if (rdev)
			rp_rdma_count(&rdev->stats, RP_RDMA_QP_TYPE);
	} else {
		rdev = rp_rdma_device_of(qp->device, rdma_ah_get_port_num(&attr->ah_attr));
		if (rdev && attr->ah_attr.type == RDMA_AH_ATTR_TYPE_ROCE &&
		    rdma_ah_get_ah_flags(&attr->ah_attr) & IB_AH_GRH) {
			if (!qp_is_connected(qp))
				qp_connect(rdev, qp, attr);
		} else if (rdev) {
			rp_rdma_count(&rdev->stats, RP_RDMA_NOT_ROCE);
		}
	}
	rcu_read_unlock();
}

/* it sends nothing any more, but is still there */
static void qp_to_error(const struct ib_qp *qp)
{
	struct rp_rdma_qp *row;
	unsigned long flags;

	spin_lock_irqsave(&qp_lock, flags);
	row = qp_find(qp);
	if (row) {
		row->who.state = RP_QP_ERR;
		refcount_inc(&row->refs);
	}
	spin_unlock_irqrestore(&qp_lock, flags);
	qp_forget(row);
}

/**
 * rp_rdma_qp_modify() - ib_core was asked to modify a QP
 * @qp: the QP itself, not one that shares it
 * @attr: what it is to have; fields that @mask has are changed where the policy says so
 * @mask: enum ib_qp_attr_mask
 *
 * Context: any; @qp is in a call of ib_core.
 */
void rp_rdma_qp_modify(struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	if (!(mask & IB_QP_STATE) || rp_rdma_probe_owns(qp))
		return;
	switch (attr->qp_state) {
	case IB_QPS_RTR:
		qp_to_rtr(qp, attr, mask);
		break;
	case IB_QPS_RESET:
	case IB_QPS_INIT:
		qp_forget(qp_unlink(qp));
		break;
	case IB_QPS_ERR:
		qp_to_error(qp);
		break;
	default:
		qp_state(qp, attr, mask);
		break;
	}
}

/**
 * rp_rdma_qp_destroy() - ib_core is about to destroy a QP
 * @qp: the QP itself
 *
 * Context: any.
 * Return: true: somebody acts on it: it must not be destroyed before rp_rdma_qp_wait().
 */
bool rp_rdma_qp_destroy(const struct ib_qp *qp)
{
	struct rp_rdma_qp *row = qp_unlink(qp);
	/* now that it is gone nobody begins to; who has ended since need not be waited for */
	bool acting = row && !list_empty_careful(&row->acting);

	if (acting)
		rp_rdma_count(&row->rdev->stats, RP_RDMA_WAITED);
	qp_forget(row);
	return acting;
}

static bool qp_acts(const struct ib_qp *qp)
{
	struct rp_rdma_qp *row;
	bool found = false;

	spin_lock_irq(&qp_lock);
	list_for_each_entry(row, &qp_acting, acting)
		found = found || row->ib_qp == qp;
	spin_unlock_irq(&qp_lock);
	return found;
}

/**
 * rp_rdma_qp_wait() - wait until nobody acts on a QP
 * @qp: the QP itself, which is being destroyed: whoever acts on it stops when he sees that
 *
 * Context: process.
 */
void rp_rdma_qp_wait(const struct ib_qp *qp)
{
	wait_event(qp_acted, !qp_acts(qp));
}

/* Return: false: it is going, or gone */
static bool qp_act_begin(struct rp_rdma_qp *row)
{
	bool there;

	spin_lock_irq(&qp_lock);
	there = !row->gone;
	if (there)
		list_add(&row->acting, &qp_acting);
	spin_unlock_irq(&qp_lock);
	return there;
}

static void qp_act_end(struct rp_rdma_qp *row)
{
	spin_lock_irq(&qp_lock);
	list_del_init(&row->acting);
	spin_unlock_irq(&qp_lock);
	wake_up_all(&qp_acted);
}

/**
 * rp_rdma_qp_hold() - the QP of a row, to act on
 * @row: the row
 *
 * Context: process; one at a time for each row.
 * Return: the QP, for rp_rdma_qp_release(); NULL: it is going, or gone.
 */
struct ib_qp *rp_rdma_qp_hold(struct rp_rdma_qp *row)
{
	struct rdma_restrack_entry *res;
	struct ib_qp *qp;

	if (!qp_act_begin(row))
		return NULL;
	res = rdma_restrack_get_byid(row->rdev->ib, RDMA_RESTRACK_QP, row->qpn);
	if (!IS_ERR(res)) {
		qp = container_of(res, struct ib_qp, res);
		if (qp == row->ib_qp)
			return qp;
		rdma_restrack_put(res);
	}
	qp_act_end(row);
	return NULL;
}

/**
 * rp_rdma_qp_release() - done with it
 * @row: the row
 * @qp: of rp_rdma_qp_hold()
 *
 * Context: process.
 */
void rp_rdma_qp_release(struct rp_rdma_qp *row, struct ib_qp *qp)
{
	rdma_restrack_put(&qp->res);
	qp_act_end(row);
}

/**
 * rp_rdma_qp_find() - a QP by its number
 * @rdev: the port that it is on
 * @qpn: its number
 *
 * Context: process; looks at all QPs.
 * Return: the QP with a reference, or NULL.
 */
struct rp_rdma_qp *rp_rdma_qp_find(const struct rp_rdma_device *rdev, u32 qpn)
{
	struct rp_rdma_qp *row;
	u32 i;

	spin_lock_irq(&qp_lock);
	for (i = 0; i < RP_QP_BUCKETS; i++)
		hlist_for_each_entry(row, &qp_table[i], node)
			if (row->rdev == rdev && row->qpn == qpn)
				goto out;
	row = NULL;
out:
	if (row)
		refcount_inc(&row->refs);
	spin_unlock_irq(&qp_lock);
	return row;
}

/**
 * rp_rdma_qp_walk() - visit the QPs, for dumps that come in parts
 * @bucket: to begin with; where it ended
 * @done: rows of that bucket that have been visited; one for which @fn ended it has not
 * @fn: called for each; not 0 ends the visit
 * @arg: its argument
 *
 * Context: takes RCU; @fn must not sleep.
 * Return: what @fn returned last.
 */
int rp_rdma_qp_walk(long *bucket, long *done, int (*fn)(struct rp_rdma_qp *q, void *arg), void *arg)
{
	struct rp_rdma_qp *row;
	int ret = 0;
	long i;

	rcu_read_lock();
	for (; *bucket < RP_QP_BUCKETS; (*bucket)++, *done = 0) {
		i = 0;
		hlist_for_each_entry_rcu(row, &qp_table[*bucket], node) {
			if (i++ < *done)
				continue;
			ret = fn(row, arg);
			if (ret)
				goto out;
			*done = i;
		}
	}
out:
	rcu_read_unlock();
	return ret;
}

/**
 * rp_rdma_qp_for_each() - visit the QPs
 * @fn: called for each; not 0 ends the visit
 * @arg: its argument
 *
 * Context: takes RCU; @fn must not sleep.
 * Return: what @fn returned last.
 */
int rp_rdma_qp_for_each(int (*fn)(struct rp_rdma_qp *row, void *arg), void *arg)
{
	long bucket = 0, done = 0;

	return rp_rdma_qp_walk(&bucket, &done, fn, arg);
}

/**
 * rp_rdma_qp_rows() - the QPs of a port
 * @rdev: the port
 * @rows: is filled; for rp_rdma_rows_release()
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int rp_rdma_qp_rows(const struct rp_rdma_device *rdev, struct rp_rdma_rows *rows)
{
	u32 room = READ_ONCE(qp_count) + 16, i;
	struct rp_rdma_qp *row;

	*rows = (struct rp_rdma_rows){};
	rows->row = kvmalloc_array(room, sizeof(*rows->row), GFP_KERNEL);
	if (!rows->row)
		return -ENOMEM;
	spin_lock_irq(&qp_lock);
	for (i = 0; i < RP_QP_BUCKETS; i++)
		hlist_for_each_entry(row, &qp_table[i], node) {
			/* those that connect at this moment see for themselves */
			if (row->rdev != rdev || row->who.state == RP_QP_ERR || rows->n == room)
				continue;
			refcount_inc(&row->refs);
			rows->row[rows->n++] = row;
		}
	spin_unlock_irq(&qp_lock);
	return 0;
}

/**
 * rp_rdma_rows_release() - done with them
 * @rows: of rp_rdma_qp_rows() or rp_rdma_pair_rows()
 *
 * Context: process.
 */
void rp_rdma_rows_release(struct rp_rdma_rows *rows)
{
	u32 i;

	for (i = 0; i < rows->n; i++)
		rp_rdma_qp_put(rows->row[i]);
	kvfree(rows->row);
}

/**
 * rp_rdma_qp_action() - what is done with a QP when what it sits on fails
 * @row: the QP
 *
 * Context: any.
 * Return: enum rocepath_rdma_action.
 */
u32 rp_rdma_qp_action(const struct rp_rdma_qp *row)
{
	const struct rp_rdma_class *class = &row->verdict.class;

	if (READ_ONCE(row->exempt) || class->exempt)
		return ROCEPATH_RDMA_ACTION_NOTIFY;
	if (class->flags & RP_RDMA_CLASS_ON_FAILURE)
		return class->on_failure;
	return READ_ONCE(row->rdev->settings.on_failure);
}

/**
 * rp_rdma_qp_forget_device() - a port goes: forget its QPs
 * @rdev: the port, which no handler finds any more
 *
 * Context: process. Afterwards no row of it is in the table; those who act on one see
 * that it is gone.
 */
void rp_rdma_qp_forget_device(struct rp_rdma_device *rdev)
{
	struct rp_rdma_qp *row, *found;
	u32 i;

	for (i = 0; i < RP_QP_BUCKETS; i++) {
		do {
			found = NULL;
			spin_lock_irq(&qp_lock);
			hlist_for_each_entry(row, &qp_table[i], node)
				if (row->rdev == rdev)
					found = row;
			if (found)
				qp_take_out(found);
			spin_unlock_irq(&qp_lock);
			qp_forget(found);
		} while (found);
	}
}
