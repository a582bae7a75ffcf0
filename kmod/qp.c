// SPDX-License-Identifier: GPL-2.0
/*
 * The QPs of this host, as ib_core is told of them.
 *
 * A packet names only the QPN that it goes to. To restore order one must know
 * with which PSN a QP starts, and which ACK leaving belongs to which requests
 * arriving: that (local QPN, remote QPN, peer) are one QP. Both are arguments
 * of the modify-QP call that takes a QP to RTR. So this file puts probes on
 * ib_core's entry points, where user and kernel QPs of every driver pass, and
 * keeps a table. What is not in it is never held back: nobody on the wire can
 * make us keep state.
 *
 * Probe handlers run with preemption off, maybe with interrupts off. That is
 * why the table is plain hash buckets under an irq-safe lock: rhashtable's
 * buckets lock against bottom halves only, before 6.2.
 *
 * Removal takes three steps. The probe sees the beginning of the end: the QP may
 * still receive, and what the peer still sends must stay in order, or the QP's
 * last act is a NAK. So it stays in the table for a moment more; then a work
 * takes it out, and frees it after a grace period, when no packet can know it.
 */
#include "qp.h"

#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "netlink.h"
#include "peer.h"
#include "tick.h"

#define RP_QP_HASH_BITS 16	/* a bucket for each, 1 MiB in all */
#define RP_QP_BUCKETS BIT(RP_QP_HASH_BITS)
/* as many as rdma_rxe allows for a device; beyond, we stop claiming that we reorder */
#define RP_QPS_MAX 65536

static struct hlist_head *by_local;
static struct hlist_head *by_remote;
static DEFINE_SPINLOCK(qp_lock);	/* writers of the tables, and binding */
static u32 qp_count;
static u32 qp_hash_seed;
static bool qp_untracked;		/* there was one without a place in the table */
static bool qp_probed;
static LLIST_HEAD(qp_dying);

/* how long a driver may take from the beginning of destroy to its end */
#define RP_QP_LEAVE (HZ / 5)

static void qp_reap(struct work_struct *work);
static DECLARE_DELAYED_WORK(qp_reap_work, qp_reap);

static struct hlist_head *local_bucket(u32 qpn)
{
	return &by_local[hash_32(qpn, RP_QP_HASH_BITS)];
}

static u32 remote_hash(const struct in6_addr *peer, u32 qpn)
{
	return jhash2((const u32 *)peer, 4, qp_hash_seed ^ qpn);
}

static struct hlist_head *remote_bucket(const struct in6_addr *peer, u32 qpn)
{
	return &by_remote[remote_hash(peer, qpn) & (RP_QP_BUCKETS - 1)];
}

/**
 * rp_qp_by_local() - the QP that a received packet is for
 * @peer: who sent it
 * @qpn: its destination QPN
 *
 * Context: RCU.
 * Return: the QP or NULL.
 */
struct rp_qp *rp_qp_by_local(const struct in6_addr *peer, u32 qpn)
{
	struct rp_qp *qp;

	hlist_for_each_entry_rcu(qp, local_bucket(qpn), by_local)
		if (qp->local_qpn == qpn && ipv6_addr_equal(&qp->peer_address, peer))
			return qp;
	return NULL;
}

/**
 * rp_qp_by_remote() - the QP that a sent packet is from
 * @peer: whom it goes to
 * @qpn: its destination QPN
 *
 * Context: RCU.
 * Return: the QP or NULL.
 */
struct rp_qp *rp_qp_by_remote(const struct in6_addr *peer, u32 qpn)
{
	struct rp_qp *qp;

	hlist_for_each_entry_rcu(qp, remote_bucket(peer, qpn), by_remote)
		if (qp->remote_qpn == qpn && ipv6_addr_equal(&qp->peer_address, peer))
			return qp;
	return NULL;
}

/**
 * rp_qp_seen() - are all QPs of this host seen?
 *
 * Only then may we tell peers that we restore order.
 *
 * Context: any.
 */
bool rp_qp_seen(void)
{
	return READ_ONCE(qp_probed) && !READ_ONCE(qp_untracked);
}

static void qp_leave(struct rp_qp *qp, unsigned long delay)
{
	lockdep_assert_held(&qp_lock);
	if (qp->leaving) {
		if (!delay)
			qp->leave_at = jiffies;
		return;
	}
	qp->leaving = true;
	qp->leave_at = jiffies + delay;
	llist_add(&qp->dying, &qp_dying);
	queue_delayed_work(system_wq, &qp_reap_work, delay);
}

static void qp_unlink(struct rp_qp *qp)
{
	lockdep_assert_held(&qp_lock);
	if (hlist_unhashed(&qp->by_local))
		return;
	hlist_del_init_rcu(&qp->by_local);
	hlist_del_rcu(&qp->by_remote);
	qp_count--;
}

/* take those out of the table whose time has come; the others go back on the list */
static struct llist_node *qp_take_due(void)
{
	struct llist_node *due = NULL;
	struct rp_qp *qp, *next;
	unsigned long flags;
	bool again = false;

	spin_lock_irqsave(&qp_lock, flags);
	llist_for_each_entry_safe(qp, next, llist_del_all(&qp_dying), dying) {
		if (time_before(jiffies, qp->leave_at)) {
			llist_add(&qp->dying, &qp_dying);
			again = true;
			continue;
		}
		qp_unlink(qp);
		qp->dying.next = due;
		due = &qp->dying;
	}
	if (again)
		queue_delayed_work(system_wq, &qp_reap_work, RP_QP_LEAVE);
	spin_unlock_irqrestore(&qp_lock, flags);
	return due;
}

static void qp_reap(struct work_struct *work)
{
	struct llist_node *due = qp_take_due();
	struct rp_qp *qp, *next;
	int i;

	if (!due)
		return;
	llist_for_each_entry(qp, due, dying)
		rp_tick_forget(qp);
	synchronize_net();
	llist_for_each_entry_safe(qp, next, due, dying) {
		for (i = 0; i < RP_SPACES; i++) {
			rp_flow_close(&qp->rx[i]);
			rp_queue_close(&qp->queue[i], rcu_dereference_protected(qp->rp, true));
		}
		rp_peer_put(rcu_dereference_protected(qp->peer, true));
		kfree(qp);
	}
}

/* those whose time has come, and wait until they are gone */
static void qp_reap_now(void)
{
	mod_delayed_work(system_wq, &qp_reap_work, 0);
	flush_delayed_work(&qp_reap_work);
}

/* ib_core says: this QP is now ready to receive */
static void qp_connected(const struct ib_qp *ib_qp, const struct ib_qp_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);
	struct rp_qp *qp, *old;
	struct hlist_node *tmp;
	unsigned long flags;
	int i;

	qp = kzalloc(sizeof(*qp), GFP_ATOMIC | __GFP_NOWARN);
	if (!qp) {
		WRITE_ONCE(qp_untracked, true);
		return;
	}
	memcpy(&qp->peer_address, grh->dgid.raw, sizeof(qp->peer_address));
	qp->local_qpn = ib_qp->qp_num;
	qp->remote_qpn = attr->dest_qp_num;
	qp->path_mtu = ib_mtu_enum_to_int(attr->path_mtu);
	qp->type = ib_qp->qp_type == IB_QPT_UC ? ROCEPATH_QP_UC : ROCEPATH_QP_RC;
	qp->ib_qp = ib_qp;
	qp->net = read_pnet(&ib_qp->device->coredev.rdma_net);
	for (i = 0; i < RP_SPACES; i++) {
		rp_flow_init(&qp->rx[i], qp);
		rp_queue_init(&qp->queue[i]);
		rp_sched_start(&qp->tx[i], remote_hash(&qp->peer_address, qp->remote_qpn) + i);
	}
	spin_lock_init(&qp->last_ack.lock);
	rp_window_init_requests(&qp->rx[RP_REQUESTS].window, attr->rq_psn & RP_PSN_MASK,
				qp->type == ROCEPATH_QP_UC);

	spin_lock_irqsave(&qp_lock, flags);
	/* one that failed on its way before, or whose end we did not see */
	hlist_for_each_entry_safe(old, tmp, local_bucket(qp->local_qpn), by_local)
		if (old->ib_qp == ib_qp) {
			qp_unlink(old);
			qp_leave(old, 0);
		}
	if (qp_count >= RP_QPS_MAX) {
		WRITE_ONCE(qp_untracked, true);
		kfree(qp);
	} else {
		hlist_add_head_rcu(&qp->by_local, local_bucket(qp->local_qpn));
		hlist_add_head_rcu(&qp->by_remote,
				   remote_bucket(&qp->peer_address, qp->remote_qpn));
		qp_count++;
	}
	spin_unlock_irqrestore(&qp_lock, flags);
}

/* ib_core says: this QP will soon receive no more */
static void qp_gone(const struct ib_qp *ib_qp)
{
	struct hlist_node *tmp;
	unsigned long flags;
	struct rp_qp *qp;

	spin_lock_irqsave(&qp_lock, flags);
	hlist_for_each_entry_safe(qp, tmp, local_bucket(ib_qp->qp_num), by_local)
		if (qp->ib_qp == ib_qp)
			qp_leave(qp, RP_QP_LEAVE);
	spin_unlock_irqrestore(&qp_lock, flags);
}

/**
 * rp_qp_bind() - the QP's packets pass this device
 * @qp: from the table
 * @rp: the device
 *
 * A QP belongs to the device that its first packet passed, of its own network
 * namespace: in another one somebody else may make packets that look like its.
 *
 * Context: bottom halves off, RCU.
 * Return: true if it belongs to @rp.
 */
bool rp_qp_bind(struct rp_qp *qp, struct rp_device *rp)
{
	const struct rp_device *bound = rcu_access_pointer(qp->rp);
	struct rp_peer *peer;
	unsigned long flags;

	if (likely(bound))
		return bound == rp;
	if (!net_eq(qp->net, dev_net(rp->dev)))
		return false;
	peer = rp_peer_get(rp, &qp->peer_address, true);
	spin_lock_irqsave(&qp_lock, flags);
	if (!rcu_access_pointer(qp->rp) && !hlist_unhashed(&qp->by_local)) {
		rcu_assign_pointer(qp->peer, peer);
		peer = NULL;
		rcu_assign_pointer(qp->rp, rp);
	}
	bound = rcu_access_pointer(qp->rp);
	spin_unlock_irqrestore(&qp_lock, flags);
	rp_peer_put(peer);
	return bound == rp;
}

/**
 * rp_qp_unbind_device() - a device goes: forget its QPs
 * @rp: the device, without ports and unregistered: no packet passes it any more
 *
 * The RDMA device on it goes as well, and its QPs with it.
 *
 * Context: process; waits until none is left.
 */
void rp_qp_unbind_device(struct rp_device *rp)
{
	struct hlist_node *tmp;
	unsigned long flags;
	struct rp_qp *qp;
	u32 i;

	for (i = 0; i < RP_QP_BUCKETS; i++) {
		spin_lock_irqsave(&qp_lock, flags);
		hlist_for_each_entry_safe(qp, tmp, &by_local[i], by_local)
			if (rcu_access_pointer(qp->rp) == rp)
				qp_leave(qp, 0);
		spin_unlock_irqrestore(&qp_lock, flags);
	}
	qp_reap_now();
}

/**
 * rp_qp_for_each() - visit the QPs, for dumps
 * @fn: called for each; not 0 ends the visit
 * @arg: its argument
 * @cursor: bucket to begin with; where it ended. A bucket is visited again when @fn ended it
 *
 * Context: takes RCU; @fn must not sleep.
 * Return: what @fn returned last.
 */
int rp_qp_for_each(int (*fn)(struct rp_qp *qp, void *arg), void *arg, unsigned long *cursor)
{
	struct rp_qp *qp;
	int ret = 0;

	rcu_read_lock();
	for (; *cursor < RP_QP_BUCKETS; (*cursor)++) {
		hlist_for_each_entry_rcu(qp, &by_local[*cursor], by_local) {
			ret = fn(qp, arg);
			if (ret)
				goto out;
		}
	}
out:
	rcu_read_unlock();
	return ret;
}

struct qp_counting {
	const struct rp_device *rp;
	u32 n;
};

static int qp_count_one(struct rp_qp *qp, void *arg)
{
	struct qp_counting *c = arg;

	if (rcu_access_pointer(qp->rp) == c->rp)
		c->n++;
	return 0;
}

/**
 * rp_qp_count() - QPs of a device
 * @rp: the device
 *
 * Context: any but hard irq.
 */
u32 rp_qp_count(const struct rp_device *rp)
{
	struct qp_counting c = { .rp = rp };
	unsigned long cursor = 0;

	rp_qp_for_each(qp_count_one, &c, &cursor);
	return c.n;
}

/* ib_modify_qp(qp, attr, mask), ib_modify_qp_with_udata(qp, attr, mask, udata) */
static int qp_modify_handler(struct kprobe *probe, struct pt_regs *regs)
{
	const struct ib_qp *qp = (const struct ib_qp *)regs_get_kernel_argument(regs, 0);
	const struct ib_qp_attr *attr =
		(const struct ib_qp_attr *)regs_get_kernel_argument(regs, 1);
	int mask = (int)regs_get_kernel_argument(regs, 2);

	if (!(mask & IB_QP_STATE))
		return 0;
	qp = qp->real_qp;
	if (qp->qp_type != IB_QPT_RC && qp->qp_type != IB_QPT_UC)
		return 0;
	switch (attr->qp_state) {
	case IB_QPS_RTR:
		if (mask & IB_QP_AV && attr->ah_attr.type == RDMA_AH_ATTR_TYPE_ROCE)
			qp_connected(qp, attr);
		break;
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_ERR:
		qp_gone(qp);
		break;
	default:
		break;
	}
	return 0;
}

/* ib_destroy_qp_user(qp, udata) */
static int qp_destroy_handler(struct kprobe *probe, struct pt_regs *regs)
{
	const struct ib_qp *qp = (const struct ib_qp *)regs_get_kernel_argument(regs, 0);

	if (qp->real_qp == qp)
		qp_gone(qp);
	return 0;
}

static struct kprobe qp_probes[] = {
	{ .symbol_name = "ib_modify_qp", .pre_handler = qp_modify_handler },
	{ .symbol_name = "ib_modify_qp_with_udata", .pre_handler = qp_modify_handler },
	{ .symbol_name = "ib_destroy_qp_user", .pre_handler = qp_destroy_handler },
};

static void qp_probe_remove(void)
{
	int i;

	if (!qp_probed)
		return;
	WRITE_ONCE(qp_probed, false);
	for (i = 0; i < ARRAY_SIZE(qp_probes); i++) {
		unregister_kprobe(&qp_probes[i]);
		/* a probe must be handed over clean when it is used again */
		qp_probes[i].addr = NULL;
		qp_probes[i].flags = 0;
	}
}

static int qp_probe_add(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(qp_probes); i++) {
		err = register_kprobe(&qp_probes[i]);
		if (err)
			goto rollback;
	}
	WRITE_ONCE(qp_probed, true);
	return 0;

rollback:
	while (i--) {
		unregister_kprobe(&qp_probes[i]);
		qp_probes[i].addr = NULL;
		qp_probes[i].flags = 0;
	}
	return err;
}

/* ib_core may be loaded after us, and unloaded before us */
static int qp_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *mod = data;
	int err;

	if (strcmp(mod->name, "ib_core"))
		return NOTIFY_DONE;
	if (event == MODULE_STATE_COMING) {
		err = qp_probe_add();
		if (err)
			pr_warn("rocepath: cannot watch QPs (error %d): order is not restored, peers will not spray to this host\n",
				err);
	} else if (event == MODULE_STATE_GOING) {
		qp_probe_remove();
	}
	return NOTIFY_DONE;
}

static struct notifier_block qp_module_notifier = {
	.notifier_call = qp_module_event,
};

/**
 * rp_qp_init() - begin to watch QPs
 *
 * Without ib_core, or where its functions cannot be probed, everything but
 * restoring order works, and peers are told so.
 *
 * Return: 0 or a negative errno.
 */
int rp_qp_init(void)
{
	int err;

	qp_hash_seed = get_random_u32();
	by_local = kvcalloc(RP_QP_BUCKETS, sizeof(*by_local), GFP_KERNEL);
	by_remote = kvcalloc(RP_QP_BUCKETS, sizeof(*by_remote), GFP_KERNEL);
	if (!by_local || !by_remote) {
		err = -ENOMEM;
		goto err_tables;
	}
	err = register_module_notifier(&qp_module_notifier);
	if (err)
		goto err_tables;
	err = qp_probe_add();
	if (err)
		pr_info("rocepath: QPs are not watched yet (error %d): load ib_core\n", err);
	return 0;

err_tables:
	kvfree(by_local);
	kvfree(by_remote);
	return err;
}

/** rp_qp_exit() - stop watching; all devices are gone already. */
void rp_qp_exit(void)
{
	struct hlist_node *tmp;
	unsigned long flags;
	struct rp_qp *qp;
	u32 i;

	unregister_module_notifier(&qp_module_notifier);
	qp_probe_remove();
	spin_lock_irqsave(&qp_lock, flags);
	for (i = 0; i < RP_QP_BUCKETS; i++)
		hlist_for_each_entry_safe(qp, tmp, &by_local[i], by_local)
			qp_leave(qp, 0);
	spin_unlock_irqrestore(&qp_lock, flags);
	qp_reap_now();
	cancel_delayed_work_sync(&qp_reap_work);
	/* peers that went with the last QPs */
	rcu_barrier();
	kvfree(by_local);
	kvfree(by_remote);
}
