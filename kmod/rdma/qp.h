/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_QP_H
#define ROCEPATH_RDMA_QP_H

#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "class.h"
#include "pair.h"

struct ib_qp;
struct ib_qp_attr;
struct rp_rdma_device;
struct rp_rdma_pair_plan;

/* a field of the address or of the timers */
struct rp_rdma_asked {
	u32 flow_label;
	u8 traffic_class;
	u8 sl;
	u8 timeout;
	u8 retry;
};

/**
 * struct rp_rdma_qp - a connected QP
 * @node: in the table by @ib_qp
 * @rcu: to free it
 * @refs: the table's, and of those who act on it
 * @ib_qp: which; a name, and to be read only while ib_core is in a call about it
 * @qpn: its number
 * @rdev: the port that it is on
 * @pair: of addresses, where its place is; NULL: nowhere. Under the pairs' lock
 * @place: in the plan, the same
 * @local: address, IPv4 mapped
 * @remote: the same
 * @who: whose it is, in the words that rules match
 * @job: hash of its cgroup, 0: the kernel's
 * @verdict: what the policy said when it connected
 * @asked: what the application asked for
 * @set: what it has
 * @ev: EV that its flow label makes
 * @probed_ev: the EV that is wanted of the probes, if @probed
 * @sgid_index: of its address
 * @hop_limit: of its address
 * @static_rate: of its address
 * @connecting: to RTR, and it is not known yet whether the driver has agreed
 * @timed: timers are known
 * @steered: something was set
 * @exempt: by an operator: nothing is changed any more
 * @planned: its EV is the plan's choice
 * @probed: one is
 * @gone: it is being destroyed, or was reset
 * @moves: times it was moved
 * @action: what is to be done with it, enum rocepath_rdma_action
 * @failed_ns: when what it sits on was found to have failed
 * @acting: in the list of those that somebody acts on
 * @act: does it
 */
struct rp_rdma_qp {
	struct hlist_node node;
	struct rcu_head rcu;
	refcount_t refs;
	const struct ib_qp *ib_qp;
	u32 qpn;
	struct rp_rdma_device *rdev;
	struct rp_rdma_pair_plan *pair;
	struct rp_plan_place place;
	struct in6_addr local;
	struct in6_addr remote;
	struct rp_qp who;
	u64 job;
	struct rp_rdma_verdict verdict;
	struct rp_rdma_asked asked;
	struct rp_rdma_asked set;
	u16 ev;
	u16 probed_ev;
	u8 sgid_index;
	u8 hop_limit;
	u8 static_rate;
	bool connecting;
	bool timed;
	bool steered;
	bool exempt;
	bool planned;
	bool probed;
	bool gone;
	u32 moves;
	u32 action;
	u64 failed_ns;
	struct list_head acting;
	struct work_struct act;
};

void rp_rdma_qp_modify(struct ib_qp *qp, struct ib_qp_attr *attr, int mask);
bool rp_rdma_qp_destroy(const struct ib_qp *qp);
void rp_rdma_qp_wait(const struct ib_qp *qp);

void rp_rdma_qp_put(struct rp_rdma_qp *row);
struct ib_qp *rp_rdma_qp_hold(struct rp_rdma_qp *row);
void rp_rdma_qp_release(struct rp_rdma_qp *row, struct ib_qp *qp);
struct rp_rdma_qp *rp_rdma_qp_find(const struct rp_rdma_device *rdev, u32 qpn);
int rp_rdma_qp_walk(long *bucket, long *done, int (*fn)(struct rp_rdma_qp *q, void *arg),
		    void *arg);
int rp_rdma_qp_for_each(int (*fn)(struct rp_rdma_qp *row, void *arg), void *arg);
int rp_rdma_qp_rows(const struct rp_rdma_device *rdev, struct rp_rdma_rows *rows);
void rp_rdma_rows_release(struct rp_rdma_rows *rows);
void rp_rdma_qp_reprobe(struct rp_rdma_qp *row, u16 ev);
void rp_rdma_qp_forget_device(struct rp_rdma_device *rdev);
u32 rp_rdma_qp_action(const struct rp_rdma_qp *row);

#endif /* ROCEPATH_RDMA_QP_H */
