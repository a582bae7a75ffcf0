// SPDX-License-Identifier: GPL-2.0
/* Netlink: devices and their knobs. */
#include <linux/rtnetlink.h>

#include "device.h"
#include "netlink.h"
#include "port.h"
#include "qp.h"

static struct netlink_range_validation range_evs = { .min = 1, .max = ROCEPATH_EVS_MAX };
static struct netlink_range_validation range_entropy = { .max = ROCEPATH_ENTROPY_KEEP };
static struct netlink_range_validation range_gap_us = { .max = 10 * USEC_PER_SEC };
static struct netlink_range_validation range_depth = { .min = 1, .max = 65536 };
static struct netlink_range_validation range_bytes = { .min = 65536, .max = 1u << 31 };
static struct netlink_range_validation range_peers = { .min = 1, .max = 65536 };
static struct netlink_range_validation range_hello_ms = { .min = 10, .max = 60000 };
static struct netlink_range_validation range_repair_depth = { .max = 65536 };
static struct netlink_range_validation range_report_us = { .min = 100, .max = USEC_PER_SEC };
static struct netlink_range_validation range_loss_ppm = { .max = 1000000 };
static struct netlink_range_validation range_probe_ms = { .max = 3600000 };
static struct netlink_range_validation range_probes = { .min = 1, .max = 1000000 };
static struct netlink_range_validation range_holddown_ms = { .max = 3600000 };

const struct nla_policy rp_nl_device_policy[ROCEPATH_A_DEVICE_MAX + 1] = {
	[ROCEPATH_A_DEVICE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCEPATH_A_DEVICE_SCHEDULER] = { .type = NLA_NUL_STRING,
					  .len = ROCEPATH_SCHEDULER_NAME_LEN - 1 },
	[ROCEPATH_A_DEVICE_ENTROPY] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_entropy),
	[ROCEPATH_A_DEVICE_EVS] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_evs),
	[ROCEPATH_A_DEVICE_GAP_TIMEOUT_US] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_gap_us),
	[ROCEPATH_A_DEVICE_GAP_FLOOR_US] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_gap_us),
	[ROCEPATH_A_DEVICE_GAP_CEILING_US] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_gap_us),
	[ROCEPATH_A_DEVICE_REORDER_DEPTH] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_depth),
	[ROCEPATH_A_DEVICE_REORDER_FLOW_BYTES] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_bytes),
	[ROCEPATH_A_DEVICE_REORDER_BYTES] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_bytes),
	[ROCEPATH_A_DEVICE_PEERS_MAX] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_peers),
	[ROCEPATH_A_DEVICE_HELLO_INTERVAL_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_hello_ms),
	[ROCEPATH_A_DEVICE_HOLDDOWN_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_holddown_ms),
	[ROCEPATH_A_DEVICE_HOLDDOWN_MAX_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_holddown_ms),
	[ROCEPATH_A_DEVICE_MARK_MASK] = { .type = NLA_U32 },
	[ROCEPATH_A_DEVICE_REPORT_INTERVAL_US] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_report_us),
	[ROCEPATH_A_DEVICE_REPAIR_DEPTH] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_repair_depth),
	[ROCEPATH_A_DEVICE_REPAIR_FLOW_BYTES] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_bytes),
	[ROCEPATH_A_DEVICE_REPAIR_BYTES] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_bytes),
	[ROCEPATH_A_DEVICE_LOSS_PPM] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_loss_ppm),
	[ROCEPATH_A_DEVICE_PROBE_INTERVAL_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_probe_ms),
	[ROCEPATH_A_DEVICE_PROBES_PER_SECOND] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_probes),
};

/* knobs that are one u32 of the device, set and shown alike */
static const struct {
	int attr;
	size_t offset;
} device_knobs[] = {
	{ ROCEPATH_A_DEVICE_ENTROPY, offsetof(struct rp_device, entropy) },
	{ ROCEPATH_A_DEVICE_EVS, offsetof(struct rp_device, evs) },
	{ ROCEPATH_A_DEVICE_GAP_TIMEOUT_US, offsetof(struct rp_device, caps.gap_fixed_us) },
	{ ROCEPATH_A_DEVICE_GAP_FLOOR_US, offsetof(struct rp_device, caps.gap_floor_us) },
	{ ROCEPATH_A_DEVICE_GAP_CEILING_US, offsetof(struct rp_device, caps.gap_ceiling_us) },
	{ ROCEPATH_A_DEVICE_REORDER_DEPTH, offsetof(struct rp_device, caps.packets) },
	{ ROCEPATH_A_DEVICE_REORDER_FLOW_BYTES, offsetof(struct rp_device, caps.bytes) },
	{ ROCEPATH_A_DEVICE_REORDER_BYTES, offsetof(struct rp_device, reorder_bytes) },
	{ ROCEPATH_A_DEVICE_PEERS_MAX, offsetof(struct rp_device, peers_max) },
	{ ROCEPATH_A_DEVICE_HELLO_INTERVAL_MS, offsetof(struct rp_device, hello_interval_ms) },
	{ ROCEPATH_A_DEVICE_HOLDDOWN_MS, offsetof(struct rp_device, holddown_ms) },
	{ ROCEPATH_A_DEVICE_HOLDDOWN_MAX_MS, offsetof(struct rp_device, holddown_max_ms) },
	{ ROCEPATH_A_DEVICE_MARK_MASK, offsetof(struct rp_device, mark_mask) },
	{ ROCEPATH_A_DEVICE_REPORT_INTERVAL_US, offsetof(struct rp_device, report_interval_us) },
	{ ROCEPATH_A_DEVICE_REPAIR_DEPTH, offsetof(struct rp_device, repair_caps.packets) },
	{ ROCEPATH_A_DEVICE_REPAIR_FLOW_BYTES, offsetof(struct rp_device, repair_caps.bytes) },
	{ ROCEPATH_A_DEVICE_REPAIR_BYTES, offsetof(struct rp_device, repair_bytes) },
	{ ROCEPATH_A_DEVICE_LOSS_PPM, offsetof(struct rp_device, loss_ppm) },
	{ ROCEPATH_A_DEVICE_PROBE_INTERVAL_MS, offsetof(struct rp_device, probe_interval_ms) },
	{ ROCEPATH_A_DEVICE_PROBES_PER_SECOND, offsetof(struct rp_device, probes_per_second) },
};

static u32 *device_knob(struct rp_device *rp, int i)
{
	return (u32 *)((char *)rp + device_knobs[i].offset);
}

static int device_put_knobs(struct sk_buff *skb, struct rp_device *rp)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(device_knobs); i++)
		if (nla_put_u32(skb, device_knobs[i].attr, *device_knob(rp, i)))
			return -EMSGSIZE;
	return 0;
}

static int device_put(struct sk_buff *skb, struct rp_device *rp)
{
	struct rp_ports *ports = rtnl_dereference(rp->ports);
	u64 stats[RP_COUNTS];
	struct rp_port *port;
	u32 n = 0;

	list_for_each_entry(port, &rp->port_list, list)
		n++;
	rp_stats_read(rp->stats, stats);
	if (nla_put_u32(skb, ROCEPATH_A_DEVICE_IFINDEX, rp->dev->ifindex) ||
	    nla_put_string(skb, ROCEPATH_A_DEVICE_NAME, rp->dev->name) ||
	    nla_put_string(skb, ROCEPATH_A_DEVICE_SCHEDULER, rp->sched->name) ||
	    device_put_knobs(skb, rp) || nla_put_u32(skb, ROCEPATH_A_DEVICE_PORTS, n) ||
	    nla_put_u32(skb, ROCEPATH_A_DEVICE_PORTS_UP, ports->paths.ports_up) ||
	    nla_put_u32(skb, ROCEPATH_A_DEVICE_PEERS, READ_ONCE(rp->peer_count)) ||
	    nla_put_u32(skb, ROCEPATH_A_DEVICE_FLOWS, rp_qp_count(rp)) ||
	    nla_put_u32(skb, ROCEPATH_A_DEVICE_HELD_BYTES, rp_device_held_bytes(rp)) ||
	    nla_put_u32(skb, ROCEPATH_A_DEVICE_KEPT_BYTES, rp_device_kept_bytes(rp)) ||
	    nla_put_u8(skb, ROCEPATH_A_DEVICE_REORDERS, rp_qp_seen()) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_DEVICE_INSTANCE, rp->instance,
			      ROCEPATH_A_DEVICE_PAD) ||
	    rp_nl_put_stats(skb, ROCEPATH_A_DEVICE_STATS, rp_count_name, stats, RP_COUNTS))
		return -EMSGSIZE;
	return 0;
}

/**
 * rp_nl_device_get() - ROCEPATH_CMD_DEVICE_GET, one
 * @skb: the request
 * @info: the same, parsed
 */
int rp_nl_device_get(struct sk_buff *skb, struct genl_info *info)
{
	struct rp_device *rp;
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &rp_genl_family, 0, ROCEPATH_CMD_DEVICE_GET);
	rtnl_lock();
	rp = rp_nl_device(info, ROCEPATH_A_DEVICE_IFINDEX);
	err = IS_ERR(rp) ? PTR_ERR(rp) : hdr ? device_put(msg, rp) : -EMSGSIZE;
	rtnl_unlock();
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static int device_dump_one(struct sk_buff *skb, struct netlink_callback *cb, struct rp_device *rp)
{
	void *hdr = rp_nl_dump_put(skb, cb, ROCEPATH_CMD_DEVICE_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (device_put(skb, rp)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * rp_nl_device_dump() - ROCEPATH_CMD_DEVICE_GET, all
 * @skb: to write to
 * @cb: the dump
 */
int rp_nl_device_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rp_nl_dump_devices(skb, cb, ROCEPATH_A_DEVICE_IFINDEX, device_dump_one);
}

static int device_check_gap(const struct rp_device *rp, struct genl_info *info)
{
	struct nlattr *floor = info->attrs[ROCEPATH_A_DEVICE_GAP_FLOOR_US];
	struct nlattr *ceiling = info->attrs[ROCEPATH_A_DEVICE_GAP_CEILING_US];
	u32 lo = floor ? nla_get_u32(floor) : rp->caps.gap_floor_us;
	u32 hi = ceiling ? nla_get_u32(ceiling) : rp->caps.gap_ceiling_us;

	if (lo <= hi)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, floor ? floor : ceiling,
			    "The floor of the gap timeout is above its ceiling: set both");
	return -EINVAL;
}

static int device_check_holddown(const struct rp_device *rp, struct genl_info *info)
{
	struct nlattr *first = info->attrs[ROCEPATH_A_DEVICE_HOLDDOWN_MS];
	struct nlattr *most = info->attrs[ROCEPATH_A_DEVICE_HOLDDOWN_MAX_MS];
	u32 lo = first ? nla_get_u32(first) : rp->holddown_ms;
	u32 hi = most ? nla_get_u32(most) : rp->holddown_max_ms;

	if (lo <= hi)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, first ? first : most,
			    "The first hold-down is longer than the longest: set both");
	return -EINVAL;
}

static int device_check_mask(struct genl_info *info)
{
	struct nlattr *attr = info->attrs[ROCEPATH_A_DEVICE_MARK_MASK];
	u32 mask = attr ? nla_get_u32(attr) : 0;

	if (!mask || is_power_of_2((mask >> __ffs(mask)) + 1ULL))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "The bits of a mark mask must be next to each other");
	return -EINVAL;
}

static int device_check_sched(struct genl_info *info, const struct rp_sched_ops **sched)
{
	struct nlattr *attr = info->attrs[ROCEPATH_A_DEVICE_SCHEDULER];

	if (!attr)
		return 0;
	*sched = rp_sched_find(nla_data(attr));
	if (*sched)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "No such scheduler: there are flow, flowlet, spray and adaptive");
	return -ENOENT;
}

/* all is checked before anything changes */
static int device_set(struct rp_device *rp, struct genl_info *info)
{
	const struct rp_sched_ops *sched = NULL;
	u32 evs = rp->evs;
	int err, i;

	err = device_check_gap(rp, info);
	if (!err)
		err = device_check_holddown(rp, info);
	if (!err)
		err = device_check_mask(info);
	if (!err)
		err = device_check_sched(info, &sched);
	if (err)
		return err;
	if (info->attrs[ROCEPATH_A_DEVICE_EVS]) {
		rp->evs = nla_get_u32(info->attrs[ROCEPATH_A_DEVICE_EVS]);
		err = rp_ports_update(rp);
		if (err) {
			rp->evs = evs;
			return err;
		}
	}
	if (sched)
		WRITE_ONCE(rp->sched, sched);
	for (i = 0; i < ARRAY_SIZE(device_knobs); i++) {
		struct nlattr *attr = info->attrs[device_knobs[i].attr];

		if (attr)
			WRITE_ONCE(*device_knob(rp, i), nla_get_u32(attr));
	}
	rp_device_batches(rp);
	return 0;
}

/**
 * rp_nl_device_set() - ROCEPATH_CMD_DEVICE_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_nl_device_set(struct sk_buff *skb, struct genl_info *info)
{
	struct rp_device *rp;
	int err;

	rtnl_lock();
	rp = rp_nl_device(info, ROCEPATH_A_DEVICE_IFINDEX);
	err = IS_ERR(rp) ? PTR_ERR(rp) : device_set(rp, info);
	rtnl_unlock();
	return err;
}
