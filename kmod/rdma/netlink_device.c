// SPDX-License-Identifier: GPL-2.0
/* Netlink: ports of RDMA devices, and their settings. */
#include <linux/netdevice.h>

#include "device.h"
#include "hook.h"
#include "netlink.h"
#include "pair.h"
#include "probe.h"
#include "qp.h"

static struct netlink_range_validation range_action = { .max = ROCEPATH_RDMA_ACTION_ERROR };
static struct netlink_range_validation range_probe_us = { .max = 60 * USEC_PER_SEC };
static struct netlink_range_validation range_probes = { .min = 1, .max = 1000000 };
static struct netlink_range_validation range_holddown_ms = { .max = 3600000 };

const struct nla_policy rp_nl_device_policy[ROCEPATH_RDMA_A_DEVICE_MAX + 1] = {
	[ROCEPATH_RDMA_A_DEVICE_NAME] = { .type = NLA_NUL_STRING,
					  .len = ROCEPATH_RDMA_DEVICE_LEN - 1 },
	[ROCEPATH_RDMA_A_DEVICE_PORT] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCEPATH_RDMA_A_DEVICE_STEERING] = NLA_POLICY_MAX(NLA_U8, 1),
	[ROCEPATH_RDMA_A_DEVICE_EXEMPT] = NLA_POLICY_MAX(NLA_U8, 1),
	[ROCEPATH_RDMA_A_DEVICE_ON_FAILURE] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_action),
	[ROCEPATH_RDMA_A_DEVICE_PROBE_INTERVAL_US] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_probe_us),
	[ROCEPATH_RDMA_A_DEVICE_PROBES_PER_SECOND] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_probes),
	[ROCEPATH_RDMA_A_DEVICE_HOLDDOWN_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_holddown_ms),
	[ROCEPATH_RDMA_A_DEVICE_SLOW_FACTOR] = NLA_POLICY_MAX(NLA_U32, 1000),
};

/* settings that are one u32, set and shown alike */
static const struct {
	int attr;
	size_t offset;
} device_knobs[] = {
	{ ROCEPATH_RDMA_A_DEVICE_ON_FAILURE, offsetof(struct rp_rdma_settings, on_failure) },
	{ ROCEPATH_RDMA_A_DEVICE_PROBE_INTERVAL_US,
	  offsetof(struct rp_rdma_settings, probe_interval_us) },
	{ ROCEPATH_RDMA_A_DEVICE_PROBES_PER_SECOND,
	  offsetof(struct rp_rdma_settings, probes_per_second) },
	{ ROCEPATH_RDMA_A_DEVICE_HOLDDOWN_MS, offsetof(struct rp_rdma_settings, holddown_ms) },
	{ ROCEPATH_RDMA_A_DEVICE_SLOW_FACTOR, offsetof(struct rp_rdma_settings, slow_factor) },
};

static u32 *device_knob(struct rp_rdma_settings *settings, int i)
{
	return (u32 *)((char *)settings + device_knobs[i].offset);
}

static int device_put_netdev(struct sk_buff *skb, const struct rp_rdma_device *rdev)
{
	const struct net_device *dev;
	int err = 0;

	rcu_read_lock();
	dev = rcu_dereference(rdev->ib->port_data[rdev->port].netdev);
	if (dev && (nla_put_u32(skb, ROCEPATH_RDMA_A_DEVICE_IFINDEX, dev->ifindex) ||
		    nla_put_string(skb, ROCEPATH_RDMA_A_DEVICE_NETDEV, dev->name)))
		err = -EMSGSIZE;
	rcu_read_unlock();
	return err;
}

static int device_put_settings(struct sk_buff *skb, struct rp_rdma_device *rdev)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(device_knobs); i++)
		if (nla_put_u32(skb, device_knobs[i].attr, *device_knob(&rdev->settings, i)))
			return -EMSGSIZE;
	if (nla_put_u8(skb, ROCEPATH_RDMA_A_DEVICE_STEERING, rdev->settings.steering) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_DEVICE_EXEMPT, rdev->settings.exempt))
		return -EMSGSIZE;
	return 0;
}

struct device_qps {
	const struct rp_rdma_device *rdev;
	u32 all;
	u32 steered;
};

static int device_count_qp(struct rp_rdma_qp *row, void *arg)
{
	struct device_qps *n = arg;

	n->all += row->rdev == n->rdev;
	n->steered += row->rdev == n->rdev && row->steered;
	return 0;
}

static int device_put_counts(struct sk_buff *skb, struct rp_rdma_device *rdev)
{
	struct device_qps n = { .rdev = rdev };
	const char *reason = rp_rdma_hook_reason();

	rp_rdma_qp_for_each(device_count_qp, &n);
	if (nla_put_u8(skb, ROCEPATH_RDMA_A_DEVICE_HOOKED, !reason) ||
	    (reason && nla_put_string(skb, ROCEPATH_RDMA_A_DEVICE_HOOK_REASON, reason)) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_DEVICE_QPS, n.all) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_DEVICE_QPS_STEERED, n.steered) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_DEVICE_PAIRS, rp_rdma_pairs_count(rdev)) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_DEVICE_PEERS, rp_rdma_probe_peers(rdev)))
		return -EMSGSIZE;
	return 0;
}

static int device_put(struct sk_buff *skb, struct rp_rdma_device *rdev)
{
	struct ib_port_attr attr = { .state = IB_PORT_NOP };

	/* one that fails has no state */
	ib_query_port(rdev->ib, rdev->port, &attr);
	if (nla_put_string(skb, ROCEPATH_RDMA_A_DEVICE_NAME, rdev->name) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_DEVICE_PORT, rdev->port) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_DEVICE_INDEX, rdev->ib->index) ||
	    device_put_netdev(skb, rdev) ||
	    nla_put_string(skb, ROCEPATH_RDMA_A_DEVICE_DRIVER, rp_rdma_device_driver(rdev)) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_DEVICE_PORT_STATE, attr.state) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_DEVICE_FOLLOWS, rp_rdma_device_follows(rdev)) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_DEVICE_MOVES, READ_ONCE(rdev->moves)) ||
	    device_put_settings(skb, rdev) || device_put_counts(skb, rdev) ||
	    rp_rdma_nl_put_stats(skb, ROCEPATH_RDMA_A_DEVICE_STATS, rdev))
		return -EMSGSIZE;
	return 0;
}

/**
 * rp_rdma_nl_device_get() - ROCEPATH_RDMA_CMD_DEVICE_GET, one
 * @skb: the request
 * @info: the same, parsed
 */
int rp_rdma_nl_device_get(struct sk_buff *skb, struct genl_info *info)
{
	struct rp_rdma_device *rdev;
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &rp_rdma_family, 0, ROCEPATH_RDMA_CMD_DEVICE_GET);
	mutex_lock(&rp_rdma_mutex);
	rdev = rp_rdma_nl_device(info, ROCEPATH_RDMA_A_DEVICE_NAME, ROCEPATH_RDMA_A_DEVICE_PORT);
	err = IS_ERR(rdev) ? PTR_ERR(rdev) : hdr ? device_put(msg, rdev) : -EMSGSIZE;
	mutex_unlock(&rp_rdma_mutex);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static int device_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			   struct rp_rdma_device *rdev)
{
	void *hdr = rp_rdma_nl_dump_put(skb, cb, ROCEPATH_RDMA_CMD_DEVICE_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (device_put(skb, rdev)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * rp_rdma_nl_device_dump() - ROCEPATH_RDMA_CMD_DEVICE_GET, all
 * @skb: to write to
 * @cb: the dump
 */
int rp_rdma_nl_device_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rp_rdma_nl_dump_devices(skb, cb, ROCEPATH_RDMA_A_DEVICE_NAME, device_dump_one);
}

static void device_set(struct rp_rdma_settings *settings, struct nlattr **attrs)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(device_knobs); i++) {
		struct nlattr *attr = attrs[device_knobs[i].attr];

		if (attr)
			WRITE_ONCE(*device_knob(settings, i), nla_get_u32(attr));
	}
	if (attrs[ROCEPATH_RDMA_A_DEVICE_STEERING])
		WRITE_ONCE(settings->steering, nla_get_u8(attrs[ROCEPATH_RDMA_A_DEVICE_STEERING]));
	if (attrs[ROCEPATH_RDMA_A_DEVICE_EXEMPT])
		WRITE_ONCE(settings->exempt, nla_get_u8(attrs[ROCEPATH_RDMA_A_DEVICE_EXEMPT]));
}

/* without a name: all ports, and those to come */
static int device_set_all(struct genl_info *info)
{
	struct nlattr *exempt = info->attrs[ROCEPATH_RDMA_A_DEVICE_EXEMPT];
	struct rp_rdma_device *rdev;

	if (exempt) {
		NL_SET_ERR_MSG_ATTR(info->extack, exempt,
				    "Which RDMA device is exempt? Its name is missing");
		return -EINVAL;
	}
	device_set(&rp_rdma_defaults, info->attrs);
	list_for_each_entry(rdev, &rp_rdma_devices, list)
		device_set(&rdev->settings, info->attrs);
	return 0;
}

/* a device without a number of a port: all its ports */
static int device_set_one(struct genl_info *info)
{
	struct nlattr *name = info->attrs[ROCEPATH_RDMA_A_DEVICE_NAME];
	struct nlattr *port = info->attrs[ROCEPATH_RDMA_A_DEVICE_PORT];
	struct rp_rdma_device *rdev;
	int n = 0;

	list_for_each_entry(rdev, &rp_rdma_devices, list) {
		if (!rp_rdma_nl_wanted(rdev, name) || (port && nla_get_u32(port) != rdev->port))
			continue;
		device_set(&rdev->settings, info->attrs);
		n++;
	}
	if (n)
		return 0;
	/* for the reason */
	rdev = rp_rdma_nl_device(info, ROCEPATH_RDMA_A_DEVICE_NAME, ROCEPATH_RDMA_A_DEVICE_PORT);
	return IS_ERR(rdev) ? PTR_ERR(rdev) : -ENODEV;
}

/**
 * rp_rdma_nl_device_set() - ROCEPATH_RDMA_CMD_DEVICE_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_rdma_nl_device_set(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	mutex_lock(&rp_rdma_mutex);
	err = info->attrs[ROCEPATH_RDMA_A_DEVICE_NAME] ? device_set_one(info) :
							  device_set_all(info);
	mutex_unlock(&rp_rdma_mutex);
	return err;
}
