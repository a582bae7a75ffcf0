// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: who may call what, and what its handlers share.
 * Handlers that change something take RTNL, so they are one at a time and see
 * devices and ports hold still.
 */
#include "netlink.h"

#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/sock.h>

#include "compat/genetlink.h"
#include "device.h"

/**
 * rp_nl_device() - the device that a request names
 * @info: the request
 * @attr: of it that holds the ifindex
 *
 * Context: RTNL.
 * Return: the device, or an ERR_PTR with the reason in extack.
 */
struct rp_device *rp_nl_device(struct genl_info *info, int attr)
{
	struct net_device *dev;

	ASSERT_RTNL();
	if (GENL_REQ_ATTR_CHECK(info, attr)) {
		NL_SET_ERR_MSG(info->extack, "Which device? Its ifindex is missing");
		return ERR_PTR(-EINVAL);
	}
	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(info->attrs[attr]));
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr],
				    "No such device in this network namespace");
		return ERR_PTR(-ENODEV);
	}
	if (!rp_is_device(dev)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr],
				    "Not of type rocepath: ip link add NAME type rocepath");
		return ERR_PTR(-EOPNOTSUPP);
	}
	return netdev_priv(dev);
}

/**
 * rp_nl_dump_devices() - dump something of each device of the caller's netns
 * @skb: to write to
 * @cb: args[0] counts netdevices that are done; the rest is @one's, 0 at the start of each device
 * @filter_attr: of the request, with the ifindex of the only device wanted; may be absent
 * @one: dumps one device; -EMSGSIZE when @skb is full, with its place kept in args
 *
 * Context: takes RTNL.
 * Return: bytes, 0 at the end, or a negative errno.
 */
int rp_nl_dump_devices(struct sk_buff *skb, struct netlink_callback *cb, int filter_attr,
		       int (*one)(struct sk_buff *skb, struct netlink_callback *cb,
				  struct rp_device *rp))
{
	struct nlattr **attrs = rp_genl_dump_attrs(cb);
	struct net *net = sock_net(skb->sk);
	struct net_device *dev;
	u32 only = 0;
	long i = 0;
	int err = 0;

	if (attrs && attrs[filter_attr])
		only = nla_get_u32(attrs[filter_attr]);
	rtnl_lock();
	cb->seq = net->dev_base_seq;
	for_each_netdev(net, dev) {
		if (i++ < cb->args[0])
			continue;
		if (rp_is_device(dev) && (!only || dev->ifindex == only)) {
			err = one(skb, cb, netdev_priv(dev));
			if (err)
				break;
		}
		cb->args[0] = i;
		memset(&cb->args[1], 0, sizeof(cb->args) - sizeof(cb->args[0]));
	}
	rtnl_unlock();
	return skb->len ? skb->len : err;
}

/**
 * rp_nl_dump_put() - begin one object of a dump
 * @skb: to write to
 * @cb: the dump
 * @cmd: enum rocepath_cmd
 *
 * Return: the message, NULL if @skb is full.
 */
void *rp_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&rp_genl_family, NLM_F_MULTI, cmd);

	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}

/**
 * rp_nl_put_stats() - counters with their names
 * @skb: to write to
 * @attr: of the object that is the list
 * @name: of each
 * @value: of each
 * @n: how many
 *
 * Return: 0 or -EMSGSIZE.
 */
int rp_nl_put_stats(struct sk_buff *skb, int attr, const char *const *name, const u64 *value, int n)
{
	struct nlattr *list = nla_nest_start(skb, attr), *stat;
	int i;

	if (!list)
		return -EMSGSIZE;
	for (i = 0; i < n; i++) {
		stat = nla_nest_start(skb, ROCEPATH_A_STATS_STAT);
		if (!stat || nla_put_string(skb, ROCEPATH_A_STAT_NAME, name[i]) ||
		    nla_put_u64_64bit(skb, ROCEPATH_A_STAT_VALUE, value[i],
				      ROCEPATH_A_STAT_UNSPEC)) {
			nla_nest_cancel(skb, list);
			return -EMSGSIZE;
		}
		nla_nest_end(skb, stat);
	}
	nla_nest_end(skb, list);
	return 0;
}

#define RP_OP_GET(command, set, do_it, dump_it)	{		\
	.cmd = ROCEPATH_CMD_##command,				\
	.policy = rp_nl_##set##_policy,				\
	.maxattr = ARRAY_SIZE(rp_nl_##set##_policy) - 1,	\
	.doit = do_it,						\
	.dumpit = dump_it,					\
}

#define RP_OP_ADMIN(command, set, do_it, dump_it) {		\
	.cmd = ROCEPATH_CMD_##command,				\
	.flags = GENL_UNS_ADMIN_PERM,				\
	.policy = rp_nl_##set##_policy,				\
	.maxattr = ARRAY_SIZE(rp_nl_##set##_policy) - 1,	\
	.doit = do_it,						\
	.dumpit = dump_it,					\
}

static const struct genl_ops netlink_ops[] = {
	RP_OP_GET(DEVICE_GET, device, rp_nl_device_get, rp_nl_device_dump),
	RP_OP_ADMIN(DEVICE_SET, device, rp_nl_device_set, NULL),
	RP_OP_GET(PORT_GET, port, rp_nl_port_get, rp_nl_port_dump),
	RP_OP_ADMIN(PORT_SET, port, rp_nl_port_set, NULL),
	RP_OP_GET(PEER_GET, peer, NULL, rp_nl_peer_dump),
	RP_OP_GET(PATH_GET, path, NULL, rp_nl_path_dump),
	RP_OP_ADMIN(PATH_SET, path, rp_nl_path_set, NULL),
	RP_OP_ADMIN(PROBE, path, rp_nl_probe, NULL),
	RP_OP_ADMIN(FLOW_GET, flow, NULL, rp_nl_flow_dump),
	RP_OP_ADMIN(KEY_GET, key, NULL, rp_nl_key_dump),
	RP_OP_ADMIN(KEY_SET, key, rp_nl_key_set, NULL),
	RP_OP_ADMIN(KEY_DEL, key, rp_nl_key_del, NULL),
	RP_OP_GET(CLASS_GET, class, NULL, rp_nl_class_dump),
	RP_OP_ADMIN(CLASS_SET, class, rp_nl_class_set, NULL),
};

static const struct genl_multicast_group netlink_groups[] = {
	{ .name = ROCEPATH_MCGRP_EVENTS },
};

struct genl_family rp_genl_family __ro_after_init = {
	.name = ROCEPATH_FAMILY_NAME,
	.version = ROCEPATH_FAMILY_VERSION,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = netlink_ops,
	.n_ops = ARRAY_SIZE(netlink_ops),
	.resv_start_op = __ROCEPATH_CMD_MAX,
	.mcgrps = netlink_groups,
	.n_mcgrps = ARRAY_SIZE(netlink_groups),
};

/**
 * rp_netlink_init() - register the family
 *
 * Return: 0 or a negative errno.
 */
int rp_netlink_init(void)
{
	return genl_register_family(&rp_genl_family);
}

/** rp_netlink_exit() - unregister it. */
void rp_netlink_exit(void)
{
	genl_unregister_family(&rp_genl_family);
}
