// SPDX-License-Identifier: GPL-2.0
/* Netlink: QPs, whose they are, what they asked for and what was set. */
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

#include "../compat/genetlink.h"
#include "device.h"
#include "netlink.h"
#include "probe.h"
#include "qp.h"

static struct netlink_range_validation range_qpn = { .max = 0xffffff };

const struct nla_policy rp_nl_qp_policy[ROCEPATH_RDMA_A_QP_MAX + 1] = {
	[ROCEPATH_RDMA_A_QP_DEVICE] = { .type = NLA_NUL_STRING,
					.len = ROCEPATH_RDMA_DEVICE_LEN - 1 },
	[ROCEPATH_RDMA_A_QP_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_qpn),
	[ROCEPATH_RDMA_A_QP_EXEMPT] = NLA_POLICY_MAX(NLA_U8, 1),
};

static u32 qp_type(enum rp_qp_type type)
{
	return type == RP_QP_DRIVER ? ROCEPATH_RDMA_QP_DRIVER : (u32)type;
}

/**
 * rp_rdma_nl_qp_put_brief() - which QP it is, and whose
 * @skb: to write to
 * @row: the QP
 *
 * Return: 0 or -EMSGSIZE.
 */
int rp_rdma_nl_qp_put_brief(struct sk_buff *skb, const struct rp_rdma_qp *row)
{
	const struct rp_qp *who = &row->who;

	if (nla_put_string(skb, ROCEPATH_RDMA_A_QP_DEVICE, row->rdev->name) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_PORT, row->rdev->port) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_QPN, row->qpn) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_TYPE, qp_type(who->type)) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_PID, who->pid) ||
	    nla_put_string(skb, ROCEPATH_RDMA_A_QP_COMM, who->comm) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_UID, who->uid) ||
	    nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_QP_CGROUP_ID, who->cgroup_id,
			      ROCEPATH_RDMA_A_QP_PAD) ||
	    nla_put_string(skb, ROCEPATH_RDMA_A_QP_CGROUP, who->cgroup) ||
	    nla_put(skb, ROCEPATH_RDMA_A_QP_LOCAL, sizeof(row->local), &row->local) ||
	    nla_put(skb, ROCEPATH_RDMA_A_QP_REMOTE, sizeof(row->remote), &row->remote) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_REMOTE_QPN, who->remote_qpn) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_EV, row->ev))
		return -EMSGSIZE;
	return 0;
}

static int qp_put_policy(struct sk_buff *skb, const struct rp_rdma_qp *row)
{
	const struct rp_rdma_verdict *verdict = &row->verdict;

	if (nla_put_u32(skb, ROCEPATH_RDMA_A_QP_ON_FAILURE, rp_rdma_qp_action(row)) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_ENTROPY,
			row->planned ? ROCEPATH_RDMA_ENTROPY_PLAN : ROCEPATH_RDMA_ENTROPY_ASKED))
		return -EMSGSIZE;
	if (verdict->number == RP_RDMA_NO_CLASS)
		return 0;
	if (nla_put_u32(skb, ROCEPATH_RDMA_A_QP_CLASS, verdict->number) ||
	    nla_put_string(skb, ROCEPATH_RDMA_A_QP_CLASS_NAME, verdict->class.name) ||
	    (*verdict->rule && nla_put_string(skb, ROCEPATH_RDMA_A_QP_RULE, verdict->rule)))
		return -EMSGSIZE;
	return 0;
}

static int qp_put_path(struct sk_buff *skb, const struct rp_rdma_qp *row)
{
	u32 state = rp_rdma_probe_state(row->rdev, &row->local, &row->remote, row->ev);
	struct rp_rdma_ev_info info;

	if (rp_rdma_pair_ev(row->rdev, &row->local, &row->remote, row->ev, &info)) {
		if (info.told_down)
			state = ROCEPATH_RDMA_PATH_DOWN;
		if (info.has_path && nla_put_u32(skb, ROCEPATH_RDMA_A_QP_PATH, info.path))
			return -EMSGSIZE;
	}
	return nla_put_u32(skb, ROCEPATH_RDMA_A_QP_PATH_STATE, state);
}

static int qp_put_fields(struct sk_buff *skb, const struct rp_rdma_qp *row)
{
	const struct rp_rdma_asked *asked = &row->asked, *set = &row->set;

	if (nla_put_u32(skb, ROCEPATH_RDMA_A_QP_FLOW_LABEL_ASKED, asked->flow_label) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_FLOW_LABEL, set->flow_label) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_TRAFFIC_CLASS_ASKED, asked->traffic_class) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_TRAFFIC_CLASS, set->traffic_class) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_SL_ASKED, asked->sl) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_SL, set->sl))
		return -EMSGSIZE;
	if (!row->timed)
		return 0;
	if (nla_put_u8(skb, ROCEPATH_RDMA_A_QP_TIMEOUT_ASKED, asked->timeout) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_TIMEOUT, set->timeout) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_RETRY_ASKED, asked->retry) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_RETRY, set->retry))
		return -EMSGSIZE;
	return 0;
}

static int qp_put(struct sk_buff *skb, const struct rp_rdma_qp *row)
{
	if (rp_rdma_nl_qp_put_brief(skb, row) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_STATE, row->who.state) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_SEEN, 1) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_STEERED, row->steered) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_EXEMPT, row->exempt) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_MOVES, row->moves))
		return -EMSGSIZE;
	return qp_put_policy(skb, row) || qp_put_path(skb, row) || qp_put_fields(skb, row) ?
		       -EMSGSIZE : 0;
}

struct qp_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	const struct nlattr *name;
};

static int qp_dump_one(struct rp_rdma_qp *row, void *arg)
{
	struct qp_dump *d = arg;
	void *hdr;

	if (!rp_rdma_nl_wanted(row->rdev, d->name))
		return 0;
	hdr = rp_rdma_nl_dump_put(d->skb, d->cb, ROCEPATH_RDMA_CMD_QP_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (qp_put(d->skb, row)) {
		genlmsg_cancel(d->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(d->skb, hdr);
	return 0;
}

/**
 * rp_rdma_nl_qp_dump() - ROCEPATH_RDMA_CMD_QP_GET, all that were seen
 * @skb: to write to
 * @cb: the dump
 */
int rp_rdma_nl_qp_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr **attrs = rp_genl_dump_attrs(cb);
	struct qp_dump d = {
		.skb = skb,
		.cb = cb,
		.name = attrs ? attrs[ROCEPATH_RDMA_A_QP_DEVICE] : NULL,
	};

	/* args[0]: bucket, args[1]: rows of it that are done */
	rp_rdma_qp_walk(&cb->args[0], &cb->args[1], qp_dump_one, &d);
	return skb->len;
}

/* one from before this module: what ib_core and its driver know */
static int qp_put_unseen(struct sk_buff *skb, const struct rp_rdma_device *rdev, struct ib_qp *qp)
{
	const struct ib_global_route *grh;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr = {};
	int err;

	err = ib_query_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_DEST_QPN, &init);
	if (err)
		return err;
	grh = &attr.ah_attr.grh;
	if (nla_put_string(skb, ROCEPATH_RDMA_A_QP_DEVICE, rdev->name) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_PORT, rdev->port) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_QPN, qp->qp_num) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_TYPE,
			qp->qp_type > IB_QPT_XRC_TGT ? ROCEPATH_RDMA_QP_DRIVER : qp->qp_type) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_STATE, attr.qp_state) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_SEEN, 0) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_STEERED, 0) ||
	    nla_put(skb, ROCEPATH_RDMA_A_QP_REMOTE, sizeof(grh->dgid), &grh->dgid) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_REMOTE_QPN, attr.dest_qp_num) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_FLOW_LABEL, grh->flow_label) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_QP_TRAFFIC_CLASS, grh->traffic_class))
		return -EMSGSIZE;
	return 0;
}

static int qp_get_unseen(struct sk_buff *skb, struct genl_info *info,
			 const struct rp_rdma_device *rdev, u32 qpn)
{
	struct rdma_restrack_entry *res = rdma_restrack_get_byid(rdev->ib, RDMA_RESTRACK_QP, qpn);
	int err;

	if (IS_ERR(res)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ROCEPATH_RDMA_A_QP_QPN],
				    "The RDMA device has no QP of this number");
		return -ENOENT;
	}
	err = qp_put_unseen(skb, rdev, container_of(res, struct ib_qp, res));
	rdma_restrack_put(res);
	return err;
}

/* the port and the number of a request; the port, or an ERR_PTR with the reason in extack */
static struct rp_rdma_device *qp_request(struct genl_info *info)
{
	struct rp_rdma_device *rdev = rp_rdma_nl_device(info, ROCEPATH_RDMA_A_QP_DEVICE, 0);

	if (!IS_ERR(rdev) && GENL_REQ_ATTR_CHECK(info, ROCEPATH_RDMA_A_QP_QPN)) {
		NL_SET_ERR_MSG(info->extack, "Which QP? Its number is missing");
		return ERR_PTR(-EINVAL);
	}
	return rdev;
}

static int qp_get(struct sk_buff *skb, struct genl_info *info)
{
	struct rp_rdma_device *rdev = qp_request(info);
	struct rp_rdma_qp *row;
	u32 qpn;
	int err;

	if (IS_ERR(rdev))
		return PTR_ERR(rdev);
	qpn = nla_get_u32(info->attrs[ROCEPATH_RDMA_A_QP_QPN]);
	row = rp_rdma_qp_find(rdev, qpn);
	if (!row)
		return qp_get_unseen(skb, info, rdev, qpn);
	err = qp_put(skb, row);
	rp_rdma_qp_put(row);
	return err;
}

/**
 * rp_rdma_nl_qp_get() - ROCEPATH_RDMA_CMD_QP_GET, one, also from before this module
 * @skb: the request
 * @info: the same, parsed
 */
int rp_rdma_nl_qp_get(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	int err = -EMSGSIZE;
	void *hdr;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &rp_rdma_family, 0, ROCEPATH_RDMA_CMD_QP_GET);
	if (hdr) {
		mutex_lock(&rp_rdma_mutex);
		err = qp_get(msg, info);
		mutex_unlock(&rp_rdma_mutex);
	}
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static int qp_set(struct genl_info *info)
{
	struct nlattr *exempt = info->attrs[ROCEPATH_RDMA_A_QP_EXEMPT];
	struct rp_rdma_device *rdev = qp_request(info);
	struct rp_rdma_qp *row;

	if (IS_ERR(rdev))
		return PTR_ERR(rdev);
	if (!exempt) {
		NL_SET_ERR_MSG(info->extack, "Is the QP exempt, or not?");
		return -EINVAL;
	}
	row = rp_rdma_qp_find(rdev, nla_get_u32(info->attrs[ROCEPATH_RDMA_A_QP_QPN]));
	if (!row) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ROCEPATH_RDMA_A_QP_QPN],
				    "No QP of this number has connected since the module is there");
		return -ENOENT;
	}
	WRITE_ONCE(row->exempt, nla_get_u8(exempt));
	rp_rdma_qp_put(row);
	return 0;
}

/**
 * rp_rdma_nl_qp_set() - ROCEPATH_RDMA_CMD_QP_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_rdma_nl_qp_set(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	mutex_lock(&rp_rdma_mutex);
	err = qp_set(info);
	mutex_unlock(&rp_rdma_mutex);
	return err;
}
