// SPDX-License-Identifier: GPL-2.0
/* Netlink: ports. */
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "device.h"
#include "netlink.h"
#include "port.h"

static struct netlink_range_validation range_weight = { .min = 1, .max = ROCEPATH_WEIGHT_MAX };

const struct nla_policy rp_nl_port_policy[ROCEPATH_A_PORT_MAX + 1] = {
	[ROCEPATH_A_PORT_DEVICE] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCEPATH_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCEPATH_A_PORT_WEIGHT] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_weight),
	[ROCEPATH_A_PORT_VIA4] = NLA_POLICY_EXACT_LEN(sizeof(__be32)),
	[ROCEPATH_A_PORT_VIA6] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
};

static int port_put(struct sk_buff *skb, const struct rp_port *port)
{
	const struct rp_paths *table = &rtnl_dereference(port->rp->ports)->paths;
	u64 stats[RP_PORT_COUNTS], now = ktime_get_ns();
	u32 left = 0;

	if (port->holddown.state == ROCEPATH_PORT_HOLDDOWN && port->holddown.until_ns > now)
		left = div_u64(port->holddown.until_ns - now, NSEC_PER_MSEC) + 1;
	rp_port_stats_read(port->stats, stats);
	if (nla_put_u32(skb, ROCEPATH_A_PORT_DEVICE, port->rp->dev->ifindex) ||
	    nla_put_u32(skb, ROCEPATH_A_PORT_IFINDEX, port->dev->ifindex) ||
	    nla_put_string(skb, ROCEPATH_A_PORT_NAME, port->dev->name) ||
	    nla_put_u32(skb, ROCEPATH_A_PORT_INDEX, port->index) ||
	    nla_put_u32(skb, ROCEPATH_A_PORT_STATE, port->holddown.state) ||
	    nla_put_string(skb, ROCEPATH_A_PORT_REASON, rp_port_reason(port)) ||
	    nla_put_u32(skb, ROCEPATH_A_PORT_WEIGHT, port->weight) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_PORT_SINCE_MS,
			      div_u64(now - port->holddown.since_ns, NSEC_PER_MSEC),
			      ROCEPATH_A_PORT_PAD) ||
	    nla_put_u32(skb, ROCEPATH_A_PORT_HOLDDOWN_LEFT_MS, left) ||
	    nla_put_u32(skb, ROCEPATH_A_PORT_FLAPS, port->holddown.flaps) ||
	    nla_put_u32(skb, ROCEPATH_A_PORT_SHARE, rp_paths_share(table, port->index, 1000)) ||
	    (port->gateway.via4 &&
	     nla_put_in_addr(skb, ROCEPATH_A_PORT_VIA4, port->gateway.via4)) ||
	    (!ipv6_addr_any(&port->gateway.via6) &&
	     nla_put_in6_addr(skb, ROCEPATH_A_PORT_VIA6, &port->gateway.via6)) ||
	    rp_nl_put_stats(skb, ROCEPATH_A_PORT_STATS, rp_port_count_name, stats, RP_PORT_COUNTS))
		return -EMSGSIZE;
	return 0;
}

static struct rp_port *nl_port(struct genl_info *info)
{
	struct net_device *dev;
	struct rp_port *port;

	if (GENL_REQ_ATTR_CHECK(info, ROCEPATH_A_PORT_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack, "Which port? Its ifindex is missing");
		return ERR_PTR(-EINVAL);
	}
	dev = __dev_get_by_index(genl_info_net(info),
				 nla_get_u32(info->attrs[ROCEPATH_A_PORT_IFINDEX]));
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ROCEPATH_A_PORT_IFINDEX],
				    "No such netdevice in this network namespace");
		return ERR_PTR(-ENODEV);
	}
	port = rp_port_get_rtnl(dev);
	if (port)
		return port;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ROCEPATH_A_PORT_IFINDEX],
			    "Not a port: ip link set NAME master DEVICE makes it one");
	return ERR_PTR(-EOPNOTSUPP);
}

/**
 * rp_nl_port_get() - ROCEPATH_CMD_PORT_GET, one
 * @skb: the request
 * @info: the same, parsed
 */
int rp_nl_port_get(struct sk_buff *skb, struct genl_info *info)
{
	struct rp_port *port;
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &rp_genl_family, 0, ROCEPATH_CMD_PORT_GET);
	rtnl_lock();
	port = nl_port(info);
	err = IS_ERR(port) ? PTR_ERR(port) : hdr ? port_put(msg, port) : -EMSGSIZE;
	rtnl_unlock();
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

/* args[1]: ports of this device that are done */
static int port_dump_one(struct sk_buff *skb, struct netlink_callback *cb, struct rp_device *rp)
{
	struct rp_port *port;
	long i = 0;
	void *hdr;

	list_for_each_entry(port, &rp->port_list, list) {
		if (i++ < cb->args[1])
			continue;
		hdr = rp_nl_dump_put(skb, cb, ROCEPATH_CMD_PORT_GET);
		if (!hdr)
			return -EMSGSIZE;
		if (port_put(skb, port)) {
			genlmsg_cancel(skb, hdr);
			return -EMSGSIZE;
		}
		genlmsg_end(skb, hdr);
		cb->args[1] = i;
	}
	return 0;
}

/**
 * rp_nl_port_dump() - ROCEPATH_CMD_PORT_GET, all
 * @skb: to write to
 * @cb: the dump
 */
int rp_nl_port_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rp_nl_dump_devices(skb, cb, ROCEPATH_A_PORT_DEVICE, port_dump_one);
}

static int port_check_via(struct genl_info *info)
{
	struct nlattr *via4 = info->attrs[ROCEPATH_A_PORT_VIA4];
	struct nlattr *via6 = info->attrs[ROCEPATH_A_PORT_VIA6];

	if (via4 && ipv4_is_multicast(nla_get_in_addr(via4))) {
		NL_SET_ERR_MSG_ATTR(info->extack, via4, "A gateway has a unicast address");
		return -EINVAL;
	}
	if (via6 && ipv6_addr_is_multicast(nla_data(via6))) {
		NL_SET_ERR_MSG_ATTR(info->extack, via6, "A gateway has a unicast address");
		return -EINVAL;
	}
	return 0;
}

static int port_set(struct rp_port *port, struct genl_info *info)
{
	struct nlattr *weight = info->attrs[ROCEPATH_A_PORT_WEIGHT];
	struct nlattr *via4 = info->attrs[ROCEPATH_A_PORT_VIA4];
	struct nlattr *via6 = info->attrs[ROCEPATH_A_PORT_VIA6];
	u16 before = port->weight;
	int err;

	if (!weight && !via4 && !via6) {
		NL_SET_ERR_MSG(info->extack, "Nothing to set: a port has a weight and a gateway");
		return -EINVAL;
	}
	err = port_check_via(info);
	if (err)
		return err;
	if (weight) {
		rp_port_set_weight(port, nla_get_u32(weight));
		err = rp_ports_update(port->rp);
		if (err) {
			rp_port_set_weight(port, before);
			return err;
		}
	}
	if (via4 || via6)
		rp_gateway_set(port, via4 ? nla_data(via4) : NULL, via6 ? nla_data(via6) : NULL);
	return 0;
}

/**
 * rp_nl_port_set() - ROCEPATH_CMD_PORT_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_nl_port_set(struct sk_buff *skb, struct genl_info *info)
{
	struct rp_port *port;
	int err;

	rtnl_lock();
	port = nl_port(info);
	err = IS_ERR(port) ? PTR_ERR(port) : port_set(port, info);
	rtnl_unlock();
	return err;
}
