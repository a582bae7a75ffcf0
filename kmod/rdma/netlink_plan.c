// SPDX-License-Identifier: GPL-2.0
/* Netlink: the plans of pairs of addresses, and EVs that an operator takes out. */
#include <linux/mm.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "../compat/genetlink.h"
#include "device.h"
#include "failure.h"
#include "netlink.h"
#include "pair.h"

static struct netlink_range_validation range_ev = { .max = ROCEPATH_RDMA_EVS - 1 };
static struct netlink_range_validation range_weight = { .min = 1,
							.max = ROCEPATH_RDMA_WEIGHT_MAX };

const struct nla_policy rp_nl_plan_ev_policy[ROCEPATH_RDMA_A_PLAN_EV_MAX + 1] = {
	[ROCEPATH_RDMA_A_PLAN_EV_EV] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_ev),
	[ROCEPATH_RDMA_A_PLAN_EV_PATH] = { .type = NLA_U32 },
	[ROCEPATH_RDMA_A_PLAN_EV_WEIGHT] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_weight),
};

const struct nla_policy rp_nl_plan_policy[ROCEPATH_RDMA_A_PLAN_MAX + 1] = {
	[ROCEPATH_RDMA_A_PLAN_DEVICE] = { .type = NLA_NUL_STRING,
					  .len = ROCEPATH_RDMA_DEVICE_LEN - 1 },
	[ROCEPATH_RDMA_A_PLAN_LOCAL] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[ROCEPATH_RDMA_A_PLAN_REMOTE] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[ROCEPATH_RDMA_A_PLAN_EVS] = { .type = NLA_NESTED },
};

/* two addresses of a request; false: one is missing, and that is said */
static bool pair_of(struct genl_info *info, int local, int remote, struct in6_addr *l,
		    struct in6_addr *r)
{
	if (GENL_REQ_ATTR_CHECK(info, local) || GENL_REQ_ATTR_CHECK(info, remote)) {
		NL_SET_ERR_MSG(info->extack,
			       "Between which addresses? The local one and the remote one are needed");
		return false;
	}
	memcpy(l, nla_data(info->attrs[local]), sizeof(*l));
	memcpy(r, nla_data(info->attrs[remote]), sizeof(*r));
	return true;
}

static int plan_add(struct rp_plan *plan, struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[ROCEPATH_RDMA_A_PLAN_EV_MAX + 1], *weight;
	int err;

	err = nla_parse_nested(tb, ROCEPATH_RDMA_A_PLAN_EV_MAX, nest, rp_nl_plan_ev_policy, extack);
	if (err)
		return err;
	if (!tb[ROCEPATH_RDMA_A_PLAN_EV_EV] || !tb[ROCEPATH_RDMA_A_PLAN_EV_PATH]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "Each EV of a plan has its path");
		return -EINVAL;
	}
	err = rp_rdma_plan_room(plan, GFP_KERNEL);
	if (err)
		return err;
	weight = tb[ROCEPATH_RDMA_A_PLAN_EV_WEIGHT];
	if (rp_plan_add(plan, nla_get_u32(tb[ROCEPATH_RDMA_A_PLAN_EV_EV]),
			nla_get_u32(tb[ROCEPATH_RDMA_A_PLAN_EV_PATH]),
			weight ? nla_get_u32(weight) : RP_PLAN_WEIGHT_MAX))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, nest, "An EV is named twice");
	return -EINVAL;
}

static u32 plan_count(struct genl_info *info)
{
	struct nlattr *attr;
	u32 n = 0;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		n += nla_type(attr) == ROCEPATH_RDMA_A_PLAN_EVS;
	return n;
}

/* Return: what the request says, to be put into force, or an ERR_PTR with the reason in extack */
static struct rp_plan *plan_parse(struct genl_info *info)
{
	u32 evs = plan_count(info);
	struct rp_plan *plan;
	struct nlattr *attr;
	int rem, err = 0;

	if (evs > RP_PLAN_EVS_MAX) {
		NL_SET_ERR_MSG(info->extack, "A plan has 1024 EVs at most");
		return ERR_PTR(-E2BIG);
	}
	plan = rp_rdma_plan_new(evs);
	if (!plan)
		return ERR_PTR(-ENOMEM);
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) == ROCEPATH_RDMA_A_PLAN_EVS)
			err = plan_add(plan, attr, info->extack);
		if (err)
			break;
	}
	/* EVs that QPs have already need room, too */
	if (!err)
		err = rp_rdma_plan_room_all(plan, GFP_KERNEL);
	if (!err)
		return plan;
	rp_rdma_plan_release(plan);
	return ERR_PTR(err);
}

/* is there such an address? A plan for another one would never be used */
static bool plan_local(const struct rp_rdma_device *rdev, const struct in6_addr *local)
{
	const struct ib_gid_attr *gid =
		rdma_find_gid_by_port(rdev->ib, (const union ib_gid *)local,
				      IB_GID_TYPE_ROCE_UDP_ENCAP, rdev->port, NULL);

	if (IS_ERR(gid))
		return false;
	rdma_put_gid_attr(gid);
	return true;
}

static int plan_set(struct genl_info *info, const struct in6_addr *local,
		    const struct in6_addr *remote, struct rp_plan *plan)
{
	struct rp_rdma_device *rdev;
	int err;

	lockdep_assert_held(&rp_rdma_mutex);
	rdev = rp_rdma_nl_device(info, ROCEPATH_RDMA_A_PLAN_DEVICE, 0);
	if (IS_ERR(rdev))
		return PTR_ERR(rdev);
	if (!plan_local(rdev, local)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ROCEPATH_RDMA_A_PLAN_LOCAL],
				    "The RDMA device does not have this address");
		return -EADDRNOTAVAIL;
	}
	err = rp_rdma_pair_set(rdev, local, remote, plan);
	if (err == -ENOSPC)
		NL_SET_ERR_MSG(info->extack, "There are 4096 pairs of addresses already");
	return err;
}

/**
 * rp_rdma_nl_plan_set() - ROCEPATH_RDMA_CMD_PLAN_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_rdma_nl_plan_set(struct sk_buff *skb, struct genl_info *info)
{
	struct in6_addr local, remote;
	struct rp_plan *plan;
	int err;

	if (!pair_of(info, ROCEPATH_RDMA_A_PLAN_LOCAL, ROCEPATH_RDMA_A_PLAN_REMOTE, &local,
		     &remote))
		return -EINVAL;
	plan = plan_parse(info);
	if (IS_ERR(plan))
		return PTR_ERR(plan);
	mutex_lock(&rp_rdma_mutex);
	err = plan_set(info, &local, &remote, plan);
	mutex_unlock(&rp_rdma_mutex);
	if (err)
		rp_rdma_plan_release(plan);
	return err;
}

static int plan_put(struct sk_buff *skb, const struct rp_rdma_device *rdev,
		    const struct rp_rdma_ev_info *info)
{
	if (nla_put_string(skb, ROCEPATH_RDMA_A_PLAN_DEVICE, rdev->name) ||
	    nla_put(skb, ROCEPATH_RDMA_A_PLAN_LOCAL, sizeof(info->local), &info->local) ||
	    nla_put(skb, ROCEPATH_RDMA_A_PLAN_REMOTE, sizeof(info->remote), &info->remote) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PLAN_KIND, info->kind) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PLAN_EV, info->ev) ||
	    (info->has_path && nla_put_u32(skb, ROCEPATH_RDMA_A_PLAN_PATH, info->path)) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PLAN_WEIGHT, info->weight) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PLAN_QPS, info->qps))
		return -EMSGSIZE;
	return 0;
}

static bool plan_wanted(const struct rp_rdma_ev_info *info, struct nlattr **attrs)
{
	struct nlattr *local = attrs ? attrs[ROCEPATH_RDMA_A_PLAN_LOCAL] : NULL;
	struct nlattr *remote = attrs ? attrs[ROCEPATH_RDMA_A_PLAN_REMOTE] : NULL;

	return (!local || !memcmp(nla_data(local), &info->local, sizeof(info->local))) &&
	       (!remote || !memcmp(nla_data(remote), &info->remote, sizeof(info->remote)));
}

/* args[1]: bucket, args[2]: EVs of it that are done */
static int plan_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			 struct rp_rdma_device *rdev)
{
	struct nlattr **attrs = rp_genl_dump_attrs(cb);
	unsigned long bucket = cb->args[1], index = cb->args[2];
	struct rp_rdma_ev_info info;
	void *hdr;

	for (; rp_rdma_pair_at(rdev, &bucket, &index, &info); index++) {
		cb->args[1] = bucket;
		cb->args[2] = index;
		if (!plan_wanted(&info, attrs))
			continue;
		hdr = rp_rdma_nl_dump_put(skb, cb, ROCEPATH_RDMA_CMD_PLAN_GET);
		if (!hdr)
			return -EMSGSIZE;
		if (plan_put(skb, rdev, &info)) {
			genlmsg_cancel(skb, hdr);
			return -EMSGSIZE;
		}
		genlmsg_end(skb, hdr);
	}
	return 0;
}

/**
 * rp_rdma_nl_plan_dump() - ROCEPATH_RDMA_CMD_PLAN_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_rdma_nl_plan_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rp_rdma_nl_dump_devices(skb, cb, ROCEPATH_RDMA_A_PLAN_DEVICE, plan_dump_one);
}

static int path_tell(struct genl_info *info, const struct in6_addr *local,
		     const struct in6_addr *remote, u16 ev, bool down)
{
	struct rp_rdma_device *rdev;
	int err;

	lockdep_assert_held(&rp_rdma_mutex);
	rdev = rp_rdma_nl_device(info, ROCEPATH_RDMA_A_PATH_DEVICE, 0);
	if (IS_ERR(rdev))
		return PTR_ERR(rdev);
	err = rp_rdma_failure_tell(rdev, local, remote, ev, down);
	if (err)
		NL_SET_ERR_MSG(info->extack,
			       "The plan of these addresses does not have this EV: see plan-get");
	return err;
}

/**
 * rp_rdma_nl_path_set() - ROCEPATH_RDMA_CMD_PATH_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_rdma_nl_path_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *ev = info->attrs[ROCEPATH_RDMA_A_PATH_EV];
	struct nlattr *state = info->attrs[ROCEPATH_RDMA_A_PATH_STATE];
	struct in6_addr local, remote;
	bool down;
	int err;

	if (!pair_of(info, ROCEPATH_RDMA_A_PATH_LOCAL, ROCEPATH_RDMA_A_PATH_REMOTE, &local,
		     &remote))
		return -EINVAL;
	if (!ev || !state) {
		NL_SET_ERR_MSG(info->extack, "Which EV, and is it down or up?");
		return -EINVAL;
	}
	down = nla_get_u32(state) == ROCEPATH_RDMA_PATH_DOWN;
	if (!down && nla_get_u32(state) != ROCEPATH_RDMA_PATH_UP) {
		NL_SET_ERR_MSG_ATTR(info->extack, state, "A path can be told to be down, or up");
		return -EINVAL;
	}
	mutex_lock(&rp_rdma_mutex);
	err = path_tell(info, &local, &remote, nla_get_u32(ev), down);
	mutex_unlock(&rp_rdma_mutex);
	return err;
}
