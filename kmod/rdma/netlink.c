// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: who may call what, and what its handlers share.
 * Handlers take rp_rdma_mutex, so they see devices and settings hold still.
 *
 * QPs of all network namespaces are seen, and one policy is for all of them, so
 * the family is there in the initial network namespace only.
 */
#include "netlink.h"

#include <linux/module.h>

#include "../compat/genetlink.h"
#include "device.h"

/**
 * rp_rdma_nl_device() - the port that a request names
 * @info: the request
 * @name: attribute with the name of the RDMA device
 * @port: attribute with the number of its port, absent: 1; 0: there is none
 *
 * Context: rp_rdma_mutex.
 * Return: the port, or an ERR_PTR with the reason in extack.
 */
struct rp_rdma_device *rp_rdma_nl_device(struct genl_info *info, int name, int port)
{
	struct nlattr *number = port ? info->attrs[port] : NULL;
	struct rp_rdma_device *rdev;

	lockdep_assert_held(&rp_rdma_mutex);
	if (GENL_REQ_ATTR_CHECK(info, name)) {
		NL_SET_ERR_MSG(info->extack, "Which RDMA device? Its name is missing");
		return ERR_PTR(-EINVAL);
	}
	rdev = rp_rdma_device_find(nla_data(info->attrs[name]), number ? nla_get_u32(number) : 1);
	if (rdev)
		return rdev;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[name],
			    "No such RDMA device with a port that speaks RoCEv2: see rdma link");
	return ERR_PTR(-ENODEV);
}

/**
 * rp_rdma_nl_wanted() - does a dump want this port?
 * @rdev: the port
 * @name: of the request: the only RDMA device that is wanted, NULL: all are
 */
bool rp_rdma_nl_wanted(const struct rp_rdma_device *rdev, const struct nlattr *name)
{
	return !name || !nla_strcmp(name, rdev->name);
}

/**
 * rp_rdma_nl_dump_devices() - dump something of each port
 * @skb: to write to
 * @cb: the dump. args[0] counts ports that are done; the rest is @one's, 0 at the start of each
 * @name: attribute of the request with the name of the only RDMA device wanted; may be absent
 * @one: dumps one port; -EMSGSIZE when @skb is full, with its place kept in args
 *
 * Context: takes rp_rdma_mutex.
 * Return: bytes, 0 at the end, or a negative errno.
 */
int rp_rdma_nl_dump_devices(struct sk_buff *skb, struct netlink_callback *cb, int name,
			    int (*one)(struct sk_buff *skb, struct netlink_callback *cb,
				       struct rp_rdma_device *rdev))
{
	struct nlattr **attrs = rp_genl_dump_attrs(cb);
	struct rp_rdma_device *rdev;
	long i = 0;
	int err = 0;

	mutex_lock(&rp_rdma_mutex);
	list_for_each_entry(rdev, &rp_rdma_devices, list) {
		if (i++ < cb->args[0])
			continue;
		if (rp_rdma_nl_wanted(rdev, attrs ? attrs[name] : NULL)) {
			err = one(skb, cb, rdev);
			if (err)
				break;
		}
		cb->args[0] = i;
		memset(&cb->args[1], 0, sizeof(cb->args) - sizeof(cb->args[0]));
	}
	mutex_unlock(&rp_rdma_mutex);
	return skb->len ? skb->len : err;
}

/**
 * rp_rdma_nl_dump_put() - begin one object of a dump
 * @skb: to write to
 * @cb: the dump
 * @cmd: enum rocepath_rdma_cmd
 *
 * Return: the message, NULL if @skb is full.
 */
void *rp_rdma_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &rp_rdma_family,
			   NLM_F_MULTI, cmd);
}

/**
 * rp_rdma_nl_put_stats() - counters with their names
 * @skb: to write to
 * @attr: of the object that is the list
 * @rdev: whose
 *
 * Return: 0 or -EMSGSIZE.
 */
int rp_rdma_nl_put_stats(struct sk_buff *skb, int attr, const struct rp_rdma_device *rdev)
{
	struct nlattr *list = nla_nest_start(skb, attr), *stat;
	int i;

	if (!list)
		return -EMSGSIZE;
	for (i = 0; i < RP_RDMA_COUNTS; i++) {
		stat = nla_nest_start(skb, ROCEPATH_RDMA_A_STATS_STAT);
		if (!stat ||
		    nla_put_string(skb, ROCEPATH_RDMA_A_STAT_NAME, rp_rdma_count_name[i]) ||
		    nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_STAT_VALUE,
				      atomic64_read(&rdev->stats.value[i]),
				      ROCEPATH_RDMA_A_STAT_UNSPEC)) {
			nla_nest_cancel(skb, list);
			return -EMSGSIZE;
		}
		nla_nest_end(skb, stat);
	}
	nla_nest_end(skb, list);
	return 0;
}

#define RP_OP_GET(command, set, do_it, dump_it)	{		\
	.cmd = ROCEPATH_RDMA_CMD_##command,			\
	.policy = rp_nl_##set##_policy,				\
	.maxattr = ARRAY_SIZE(rp_nl_##set##_policy) - 1,	\
	.doit = do_it,						\
	.dumpit = dump_it,					\
}

#define RP_OP_ADMIN(command, set, do_it, dump_it) {		\
	.cmd = ROCEPATH_RDMA_CMD_##command,			\
	.flags = GENL_ADMIN_PERM,				\
	.policy = rp_nl_##set##_policy,				\
	.maxattr = ARRAY_SIZE(rp_nl_##set##_policy) - 1,	\
	.doit = do_it,						\
	.dumpit = dump_it,					\
}

static const struct genl_ops netlink_ops[] = {
	RP_OP_GET(DEVICE_GET, device, rp_rdma_nl_device_get, rp_rdma_nl_device_dump),
	RP_OP_ADMIN(DEVICE_SET, device, rp_rdma_nl_device_set, NULL),
	RP_OP_GET(POLICY_GET, policy, rp_rdma_nl_policy_get, NULL),
	RP_OP_ADMIN(POLICY_SET, policy, rp_rdma_nl_policy_set, NULL),
	RP_OP_GET(CLASS_GET, class, NULL, rp_rdma_nl_class_dump),
	RP_OP_ADMIN(RULE_GET, rule, NULL, rp_rdma_nl_rule_dump),
	RP_OP_GET(PLAN_GET, plan, NULL, rp_rdma_nl_plan_dump),
	RP_OP_ADMIN(PLAN_SET, plan, rp_rdma_nl_plan_set, NULL),
	RP_OP_ADMIN(QP_GET, qp, rp_rdma_nl_qp_get, rp_rdma_nl_qp_dump),
	RP_OP_ADMIN(QP_SET, qp, rp_rdma_nl_qp_set, NULL),
	RP_OP_ADMIN(PATH_SET, path, rp_rdma_nl_path_set, NULL),
	RP_OP_GET(PATH_GET, path, NULL, rp_rdma_nl_path_dump),
	RP_OP_GET(PEER_GET, peer, NULL, rp_rdma_nl_peer_dump),
	RP_OP_ADMIN(KEY_GET, key, NULL, rp_rdma_nl_key_dump),
	RP_OP_ADMIN(KEY_SET, key, rp_rdma_nl_key_set, NULL),
	RP_OP_ADMIN(KEY_DEL, key, rp_rdma_nl_key_del, NULL),
};

/* events tell whose QPs there are */
static const struct genl_multicast_group netlink_groups[] = {
	{ .name = ROCEPATH_RDMA_MCGRP_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

struct genl_family rp_rdma_family __ro_after_init = {
	.name = ROCEPATH_RDMA_FAMILY_NAME,
	.version = ROCEPATH_RDMA_FAMILY_VERSION,
	.module = THIS_MODULE,
	.ops = netlink_ops,
	.n_ops = ARRAY_SIZE(netlink_ops),
	.resv_start_op = __ROCEPATH_RDMA_CMD_MAX,
	.mcgrps = netlink_groups,
	.n_mcgrps = ARRAY_SIZE(netlink_groups),
};

/**
 * rp_rdma_netlink_init() - register the family
 *
 * Return: 0 or a negative errno.
 */
int rp_rdma_netlink_init(void)
{
	return genl_register_family(&rp_rdma_family);
}

/** rp_rdma_netlink_exit() - unregister it. */
void rp_rdma_netlink_exit(void)
{
	genl_unregister_family(&rp_rdma_family);
}
