// SPDX-License-Identifier: GPL-2.0
/* Netlink: the keys that hellos are made with, and the schedulers of classes. */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "control.h"
#include "device.h"
#include "netlink.h"

static struct netlink_range_validation range_class = { .max = ROCEPATH_CLASSES - 1 };

const struct nla_policy rp_nl_key_policy[ROCEPATH_A_KEY_MAX + 1] = {
	[ROCEPATH_A_KEY_DEVICE] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCEPATH_A_KEY_ID] = { .type = NLA_U8 },
	[ROCEPATH_A_KEY_SECRET] = NLA_POLICY_EXACT_LEN(ROCEPATH_KEY_LEN),
	[ROCEPATH_A_KEY_ACTIVE] = NLA_POLICY_MAX(NLA_U8, 1),
};

const struct nla_policy rp_nl_class_policy[ROCEPATH_A_CLASS_MAX + 1] = {
	[ROCEPATH_A_CLASS_DEVICE] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCEPATH_A_CLASS_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_class),
	[ROCEPATH_A_CLASS_SCHEDULER] = { .type = NLA_NUL_STRING,
					 .len = ROCEPATH_SCHEDULER_NAME_LEN - 1 },
};

/* args[1]: keys of this device that are done */
static int key_dump_one(struct sk_buff *skb, struct netlink_callback *cb, struct rp_device *rp)
{
	const struct rp_keyring *ring = rtnl_dereference(rp->keyring);
	void *hdr;

	for (; ring && cb->args[1] < RP_KEYS_MAX; cb->args[1]++) {
		const struct rp_key *key = &ring->keys.key[cb->args[1]];

		if (!key->valid)
			continue;
		hdr = rp_nl_dump_put(skb, cb, ROCEPATH_CMD_KEY_GET);
		if (!hdr)
			return -EMSGSIZE;
		if (nla_put_u32(skb, ROCEPATH_A_KEY_DEVICE, rp->dev->ifindex) ||
		    nla_put_u8(skb, ROCEPATH_A_KEY_ID, key->id) ||
		    nla_put_u8(skb, ROCEPATH_A_KEY_ACTIVE, ring->keys.active == cb->args[1])) {
			genlmsg_cancel(skb, hdr);
			return -EMSGSIZE;
		}
		genlmsg_end(skb, hdr);
	}
	return 0;
}

/**
 * rp_nl_key_dump() - ROCEPATH_CMD_KEY_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_nl_key_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rp_nl_dump_devices(skb, cb, ROCEPATH_A_KEY_DEVICE, key_dump_one);
}

static void keyring_free_rcu(struct rcu_head *head)
{
	kfree_sensitive(container_of(head, struct rp_keyring, rcu));
}

/* publish @ring, NULL for none, and let hellos made with it go out at once */
static void keyring_replace(struct rp_device *rp, struct rp_keyring *ring)
{
	struct rp_keyring *old = rtnl_dereference(rp->keyring);

	rcu_assign_pointer(rp->keyring, ring);
	if (old)
		call_rcu(&old->rcu, keyring_free_rcu);
	rp_control_rekeyed(rp, ring);
}

static struct rp_keyring *keyring_copy(const struct rp_device *rp)
{
	struct rp_keyring *ring = kzalloc(sizeof(*ring), GFP_KERNEL),
			  *old = rtnl_dereference(rp->keyring);

	if (ring && old)
		ring->keys = old->keys;
	return ring;
}

static int key_set(struct rp_device *rp, struct genl_info *info)
{
	const struct nlattr *secret = info->attrs[ROCEPATH_A_KEY_SECRET],
			    *active = info->attrs[ROCEPATH_A_KEY_ACTIVE];
	struct rp_keyring *ring;
	struct rp_key *key;
	int slot;

	if (GENL_REQ_ATTR_CHECK(info, ROCEPATH_A_KEY_ID)) {
		NL_SET_ERR_MSG(info->extack, "A key needs an id, 0 to 255, the same on all hosts");
		return -EINVAL;
	}
	ring = keyring_copy(rp);
	if (!ring)
		return -ENOMEM;
	slot = rp_keys_slot(&ring->keys, nla_get_u8(info->attrs[ROCEPATH_A_KEY_ID]));
	if (slot < 0) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ROCEPATH_A_KEY_ID],
				    "There are two keys already: delete the older one first");
		goto refuse;
	}
	key = &ring->keys.key[slot];
	if (!secret && !key->valid) {
		NL_SET_ERR_MSG(info->extack, "A new key needs a secret of 16 bytes");
		goto refuse;
	}
	key->id = nla_get_u8(info->attrs[ROCEPATH_A_KEY_ID]);
	key->valid = true;
	if (secret) {
		key->secret[0] = get_unaligned_le64(nla_data(secret));
		key->secret[1] = get_unaligned_le64(nla_data(secret) + 8);
	}
	/* the first one must be active; after that the newest is, unless told otherwise */
	if (!rtnl_dereference(rp->keyring) || (active ? nla_get_u8(active) : !!secret))
		ring->keys.active = slot;
	keyring_replace(rp, ring);
	return 0;

refuse:
	kfree_sensitive(ring);
	return -EINVAL;
}

static int key_del(struct rp_device *rp, struct genl_info *info)
{
	struct rp_keyring *ring;
	int slot, other;

	if (GENL_REQ_ATTR_CHECK(info, ROCEPATH_A_KEY_ID)) {
		NL_SET_ERR_MSG(info->extack, "Which key? Its id is missing");
		return -EINVAL;
	}
	ring = keyring_copy(rp);
	if (!ring)
		return -ENOMEM;
	slot = rp_keys_slot(&ring->keys, nla_get_u8(info->attrs[ROCEPATH_A_KEY_ID]));
	if (slot < 0 || !ring->keys.key[slot].valid) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ROCEPATH_A_KEY_ID],
				    "There is no key with this id");
		kfree_sensitive(ring);
		return -ENOENT;
	}
	memset(&ring->keys.key[slot], 0, sizeof(ring->keys.key[slot]));
	other = RP_KEYS_MAX - 1 - slot;
	if (ring->keys.key[other].valid) {
		ring->keys.active = other;
	} else {
		kfree_sensitive(ring);
		ring = NULL;
	}
	keyring_replace(rp, ring);
	return 0;
}

/**
 * rp_nl_key_set() - ROCEPATH_CMD_KEY_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_nl_key_set(struct sk_buff *skb, struct genl_info *info)
{
	struct rp_device *rp;
	int err;

	rtnl_lock();
	rp = rp_nl_device(info, ROCEPATH_A_KEY_DEVICE);
	err = IS_ERR(rp) ? PTR_ERR(rp) : key_set(rp, info);
	rtnl_unlock();
	return err;
}

/**
 * rp_nl_key_del() - ROCEPATH_CMD_KEY_DEL
 * @skb: the request
 * @info: the same, parsed
 */
int rp_nl_key_del(struct sk_buff *skb, struct genl_info *info)
{
	struct rp_device *rp;
	int err;

	rtnl_lock();
	rp = rp_nl_device(info, ROCEPATH_A_KEY_DEVICE);
	err = IS_ERR(rp) ? PTR_ERR(rp) : key_del(rp, info);
	rtnl_unlock();
	return err;
}

/* args[1]: classes of this device that are done */
static int class_dump_one(struct sk_buff *skb, struct netlink_callback *cb, struct rp_device *rp)
{
	void *hdr;

	for (; cb->args[1] < ROCEPATH_CLASSES; cb->args[1]++) {
		const struct rp_sched_ops *sched = rp->class_sched[cb->args[1]];

		if (!sched)
			continue;
		hdr = rp_nl_dump_put(skb, cb, ROCEPATH_CMD_CLASS_GET);
		if (!hdr)
			return -EMSGSIZE;
		if (nla_put_u32(skb, ROCEPATH_A_CLASS_DEVICE, rp->dev->ifindex) ||
		    nla_put_u32(skb, ROCEPATH_A_CLASS_ID, cb->args[1]) ||
		    nla_put_string(skb, ROCEPATH_A_CLASS_SCHEDULER, sched->name)) {
			genlmsg_cancel(skb, hdr);
			return -EMSGSIZE;
		}
		genlmsg_end(skb, hdr);
	}
	return 0;
}

/**
 * rp_nl_class_dump() - ROCEPATH_CMD_CLASS_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_nl_class_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rp_nl_dump_devices(skb, cb, ROCEPATH_A_CLASS_DEVICE, class_dump_one);
}

static int class_set(struct rp_device *rp, struct genl_info *info)
{
	const struct rp_sched_ops *sched = NULL;
	const char *name;

	if (GENL_REQ_ATTR_CHECK(info, ROCEPATH_A_CLASS_ID) ||
	    GENL_REQ_ATTR_CHECK(info, ROCEPATH_A_CLASS_SCHEDULER)) {
		NL_SET_ERR_MSG(info->extack,
			       "A class is set with its id, 0 to 63, and a scheduler");
		return -EINVAL;
	}
	name = nla_data(info->attrs[ROCEPATH_A_CLASS_SCHEDULER]);
	if (*name) {
		sched = rp_sched_find(name);
		if (!sched) {
			NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ROCEPATH_A_CLASS_SCHEDULER],
					    "No such scheduler: there are flow and spray");
			return -ENOENT;
		}
	}
	WRITE_ONCE(rp->class_sched[nla_get_u32(info->attrs[ROCEPATH_A_CLASS_ID])], sched);
	return 0;
}

/**
 * rp_nl_class_set() - ROCEPATH_CMD_CLASS_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_nl_class_set(struct sk_buff *skb, struct genl_info *info)
{
	struct rp_device *rp;
	int err;

	rtnl_lock();
	rp = rp_nl_device(info, ROCEPATH_A_CLASS_DEVICE);
	err = IS_ERR(rp) ? PTR_ERR(rp) : class_set(rp, info);
	rtnl_unlock();
	return err;
}
