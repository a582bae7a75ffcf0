// SPDX-License-Identifier: GPL-2.0
/* Netlink: what probes know of peers and paths, and the keys that they are made with. */
#include <linux/netdevice.h>

#include "../compat/genetlink.h"
#include "device.h"
#include "netlink.h"
#include "probe.h"
#include "wire.h"

static struct netlink_range_validation range_path_ev = { .max = ROCEPATH_RDMA_EVS - 1 };
static struct netlink_range_validation range_state = { .max = ROCEPATH_RDMA_PATH_DEGRADED };

const struct nla_policy rp_nl_path_policy[ROCEPATH_RDMA_A_PATH_MAX + 1] = {
	[ROCEPATH_RDMA_A_PATH_DEVICE] = { .type = NLA_NUL_STRING,
					  .len = ROCEPATH_RDMA_DEVICE_LEN - 1 },
	[ROCEPATH_RDMA_A_PATH_LOCAL] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[ROCEPATH_RDMA_A_PATH_REMOTE] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[ROCEPATH_RDMA_A_PATH_EV] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_path_ev),
	[ROCEPATH_RDMA_A_PATH_STATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_state),
};

const struct nla_policy rp_nl_peer_policy[ROCEPATH_RDMA_A_PEER_MAX + 1] = {
	[ROCEPATH_RDMA_A_PEER_DEVICE] = { .type = NLA_NUL_STRING,
					  .len = ROCEPATH_RDMA_DEVICE_LEN - 1 },
};

const struct nla_policy rp_nl_key_policy[ROCEPATH_RDMA_A_KEY_MAX + 1] = {
	[ROCEPATH_RDMA_A_KEY_ID] = { .type = NLA_U8 },
	[ROCEPATH_RDMA_A_KEY_SECRET] = NLA_POLICY_EXACT_LEN(ROCEPATH_RDMA_KEY_LEN),
	[ROCEPATH_RDMA_A_KEY_ACTIVE] = NLA_POLICY_MAX(NLA_U8, 1),
};

static int path_put_info(struct sk_buff *skb, const struct rp_rdma_device *rdev,
			 const struct rp_rdma_path_info *info)
{
	if (nla_put_string(skb, ROCEPATH_RDMA_A_PATH_DEVICE, rdev->name) ||
	    nla_put(skb, ROCEPATH_RDMA_A_PATH_LOCAL, sizeof(info->local), &info->local) ||
	    nla_put(skb, ROCEPATH_RDMA_A_PATH_REMOTE, sizeof(info->remote), &info->remote) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PATH_EV, info->ev) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PATH_STATE, info->state) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PATH_REASON, info->reason) ||
	    nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_PATH_SINCE_MS, info->since_ms,
			      ROCEPATH_RDMA_A_PATH_PAD) ||
	    (info->rtt_us && nla_put_u32(skb, ROCEPATH_RDMA_A_PATH_RTT_US, info->rtt_us)) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PATH_LOSS_PPM, info->loss_ppm) ||
	    nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_PATH_SENT, info->sent,
			      ROCEPATH_RDMA_A_PATH_PAD) ||
	    nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_PATH_ANSWERED, info->answered,
			      ROCEPATH_RDMA_A_PATH_PAD) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PATH_FAILS, info->fails) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PATH_QPS, info->users))
		return -EMSGSIZE;
	return 0;
}

static bool path_wanted(const struct rp_rdma_path_info *info, struct nlattr **attrs)
{
	struct nlattr *local = attrs ? attrs[ROCEPATH_RDMA_A_PATH_LOCAL] : NULL;
	struct nlattr *remote = attrs ? attrs[ROCEPATH_RDMA_A_PATH_REMOTE] : NULL;

	return (!local || !memcmp(nla_data(local), &info->local, sizeof(info->local))) &&
	       (!remote || !memcmp(nla_data(remote), &info->remote, sizeof(info->remote)));
}

/* Return: false: there are no more; *@err: the message is full */
static bool path_dump_next(struct sk_buff *skb, struct netlink_callback *cb,
			   struct rp_rdma_device *rdev, unsigned long *cursor, int *err)
{
	struct rp_rdma_path_info info;
	void *hdr;

	do {
		if (!rp_rdma_probe_path_at(rdev, cursor, &info))
			return false;
	} while (!path_wanted(&info, rp_genl_dump_attrs(cb)));
	hdr = rp_rdma_nl_dump_put(skb, cb, ROCEPATH_RDMA_CMD_PATH_GET);
	*err = hdr ? path_put_info(skb, rdev, &info) : -EMSGSIZE;
	if (*err && hdr)
		genlmsg_cancel(skb, hdr);
	else if (hdr)
		genlmsg_end(skb, hdr);
	return true;
}

static int peer_put_info(struct sk_buff *skb, const struct rp_rdma_device *rdev,
			 const struct rp_rdma_peer_info *info)
{
	if (nla_put_string(skb, ROCEPATH_RDMA_A_PEER_DEVICE, rdev->name) ||
	    nla_put(skb, ROCEPATH_RDMA_A_PEER_LOCAL, sizeof(info->local), &info->local) ||
	    nla_put(skb, ROCEPATH_RDMA_A_PEER_REMOTE, sizeof(info->remote), &info->remote) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PEER_STATE, info->state) ||
	    nla_put_string(skb, ROCEPATH_RDMA_A_PEER_REASON, info->reason) ||
	    nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_PEER_INSTANCE, info->instance,
			      ROCEPATH_RDMA_A_PEER_PAD) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_PEER_EVS, info->evs))
		return -EMSGSIZE;
	/* there was a hello */
	if (info->hello_age_ms != U64_MAX &&
	    (nla_put_u8(skb, ROCEPATH_RDMA_A_PEER_KEY_ID, info->key_id) ||
	     nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_PEER_HELLO_AGE_MS, info->hello_age_ms,
			       ROCEPATH_RDMA_A_PEER_PAD)))
		return -EMSGSIZE;
	return 0;
}

/* the same for peers */
static bool peer_dump_next(struct sk_buff *skb, struct netlink_callback *cb,
			   struct rp_rdma_device *rdev, unsigned long *cursor, int *err)
{
	struct rp_rdma_peer_info info;
	void *hdr;

	if (!rp_rdma_probe_peer_at(rdev, cursor, &info))
		return false;
	hdr = rp_rdma_nl_dump_put(skb, cb, ROCEPATH_RDMA_CMD_PEER_GET);
	*err = hdr ? peer_put_info(skb, rdev, &info) : -EMSGSIZE;
	if (*err && hdr)
		genlmsg_cancel(skb, hdr);
	else if (hdr)
		genlmsg_end(skb, hdr);
	return true;
}

/* args[0]: ports that are done, args[1]: the cursor in the next one */
static int dump_ports(struct sk_buff *skb, struct netlink_callback *cb, const struct nlattr *name,
		      bool (*next)(struct sk_buff *skb, struct netlink_callback *cb,
				   struct rp_rdma_device *rdev, unsigned long *cursor, int *err))
{
	struct rp_rdma_device *rdev;
	int i = 0, err = 0;

	mutex_lock(&rp_rdma_mutex);
	list_for_each_entry(rdev, &rp_rdma_devices, list) {
		unsigned long cursor = cb->args[1];

		if (i++ < cb->args[0])
			continue;
		/* what did not fit comes again: only now it is done */
		while (rp_rdma_nl_wanted(rdev, name) && next(skb, cb, rdev, &cursor, &err)) {
			if (err)
				goto out;
			cb->args[1] = cursor;
		}
		cb->args[0] = i;
		cb->args[1] = 0;
	}
out:
	mutex_unlock(&rp_rdma_mutex);
	return skb->len ? skb->len : err;
}

/**
 * rp_rdma_nl_path_dump() - ROCEPATH_RDMA_CMD_PATH_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_rdma_nl_path_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr **attrs = rp_genl_dump_attrs(cb);

	return dump_ports(skb, cb, attrs ? attrs[ROCEPATH_RDMA_A_PATH_DEVICE] : NULL,
			  path_dump_next);
}

/**
 * rp_rdma_nl_peer_dump() - ROCEPATH_RDMA_CMD_PEER_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_rdma_nl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr **attrs = rp_genl_dump_attrs(cb);

	return dump_ports(skb, cb, attrs ? attrs[ROCEPATH_RDMA_A_PEER_DEVICE] : NULL,
			  peer_dump_next);
}

/**
 * rp_rdma_nl_key_dump() - ROCEPATH_RDMA_CMD_KEY_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_rdma_nl_key_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	bool active;
	void *hdr;
	u8 id;

	for (; cb->args[0] < RP_KEYS_MAX; cb->args[0]++) {
		if (!rp_rdma_key_at(cb->args[0], &id, &active))
			continue;
		hdr = rp_rdma_nl_dump_put(skb, cb, ROCEPATH_RDMA_CMD_KEY_GET);
		if (!hdr)
			break;
		if (nla_put_u8(skb, ROCEPATH_RDMA_A_KEY_ID, id) ||
		    nla_put_u8(skb, ROCEPATH_RDMA_A_KEY_ACTIVE, active)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	return skb->len;
}

/**
 * rp_rdma_nl_key_set() - ROCEPATH_RDMA_CMD_KEY_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_rdma_nl_key_set(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *secret = info->attrs[ROCEPATH_RDMA_A_KEY_SECRET],
			    *attr = info->attrs[ROCEPATH_RDMA_A_KEY_ACTIVE];
	bool active = attr && nla_get_u8(attr);

	if (GENL_REQ_ATTR_CHECK(info, ROCEPATH_RDMA_A_KEY_ID)) {
		NL_SET_ERR_MSG(info->extack, "A key needs an id, 0 to 255, the same on all hosts");
		return -EINVAL;
	}
	return rp_rdma_key_set(nla_get_u8(info->attrs[ROCEPATH_RDMA_A_KEY_ID]),
			       secret ? nla_data(secret) : NULL, attr ? &active : NULL,
			       info->extack);
}

/**
 * rp_rdma_nl_key_del() - ROCEPATH_RDMA_CMD_KEY_DEL
 * @skb: the request
 * @info: the same, parsed
 */
int rp_rdma_nl_key_del(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[ROCEPATH_RDMA_A_KEY_ID];

	if (id)
		return rp_rdma_key_del(nla_get_u8(id), info->extack);
	rp_rdma_key_flush();
	return 0;
}
