// SPDX-License-Identifier: GPL-2.0
/* Netlink: the policy, its classes and its rules. */
#include <linux/mm.h>
#include <net/ipv6.h>

#include "../compat/genetlink.h"
#include "class.h"
#include "device.h"
#include "netlink.h"
#include "qp.h"

static struct netlink_range_validation range_class = { .max = ROCEPATH_RDMA_CLASSES - 1 };
static struct netlink_range_validation range_entropy = { .max = ROCEPATH_RDMA_ENTROPY_PLAN };
static struct netlink_range_validation range_failure = { .max = ROCEPATH_RDMA_ACTION_ERROR };
static struct netlink_range_validation range_types = { .min = 1, .max = 4095 };

const struct nla_policy rp_nl_class_policy[ROCEPATH_RDMA_A_CLASS_MAX + 1] = {
	[ROCEPATH_RDMA_A_CLASS_NUMBER] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_class),
	[ROCEPATH_RDMA_A_CLASS_NAME] = { .type = NLA_NUL_STRING,
					 .len = ROCEPATH_RDMA_NAME_LEN - 1 },
	[ROCEPATH_RDMA_A_CLASS_DSCP] = NLA_POLICY_MAX(NLA_U8, 63),
	[ROCEPATH_RDMA_A_CLASS_SL] = NLA_POLICY_MAX(NLA_U8, 7),
	[ROCEPATH_RDMA_A_CLASS_TIMEOUT] = NLA_POLICY_MAX(NLA_U8, 31),
	[ROCEPATH_RDMA_A_CLASS_RETRY] = NLA_POLICY_MAX(NLA_U8, 7),
	[ROCEPATH_RDMA_A_CLASS_ENTROPY] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_entropy),
	[ROCEPATH_RDMA_A_CLASS_ON_FAILURE] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_failure),
	[ROCEPATH_RDMA_A_CLASS_EXEMPT] = NLA_POLICY_MAX(NLA_U8, 1),
};

const struct nla_policy rp_nl_rule_policy[ROCEPATH_RDMA_A_RULE_MAX + 1] = {
	[ROCEPATH_RDMA_A_RULE_NAME] = { .type = NLA_NUL_STRING,
					.len = ROCEPATH_RDMA_NAME_LEN - 1 },
	[ROCEPATH_RDMA_A_RULE_CLASS] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_class),
	[ROCEPATH_RDMA_A_RULE_CGROUP] = { .type = NLA_NUL_STRING,
					  .len = ROCEPATH_RDMA_GLOB_LEN - 1 },
	[ROCEPATH_RDMA_A_RULE_COMM] = { .type = NLA_NUL_STRING,
					.len = ROCEPATH_RDMA_COMM_LEN - 1 },
	[ROCEPATH_RDMA_A_RULE_DEVICE] = { .type = NLA_NUL_STRING,
					  .len = ROCEPATH_RDMA_GLOB_DEVICE_LEN - 1 },
	[ROCEPATH_RDMA_A_RULE_UID_MIN] = { .type = NLA_U32 },
	[ROCEPATH_RDMA_A_RULE_UID_MAX] = { .type = NLA_U32 },
	[ROCEPATH_RDMA_A_RULE_REMOTE] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[ROCEPATH_RDMA_A_RULE_REMOTE_BITS] = NLA_POLICY_MAX(NLA_U8, 128),
	[ROCEPATH_RDMA_A_RULE_QP_TYPES] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_types),
};

const struct nla_policy rp_nl_policy_policy[ROCEPATH_RDMA_A_POLICY_MAX + 1] = {
	[ROCEPATH_RDMA_A_POLICY_DEFAULT_CLASS] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_class),
	[ROCEPATH_RDMA_A_POLICY_CLASS] = { .type = NLA_NESTED },
	[ROCEPATH_RDMA_A_POLICY_RULE] = { .type = NLA_NESTED },
};

/* one u8 of a class, if it is there */
static void class_take(struct nlattr *attr, u8 flag, u8 *value, u8 *flags)
{
	if (!attr)
		return;
	*value = nla_get_u8(attr);
	*flags |= flag;
}

static int class_parse(struct rp_rdma_policy *policy, struct nlattr *nest,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[ROCEPATH_RDMA_A_CLASS_MAX + 1];
	struct rp_rdma_class *class;
	int err;

	err = nla_parse_nested(tb, ROCEPATH_RDMA_A_CLASS_MAX, nest, rp_nl_class_policy, extack);
	if (err)
		return err;
	if (!tb[ROCEPATH_RDMA_A_CLASS_NUMBER] || !tb[ROCEPATH_RDMA_A_CLASS_NAME] ||
	    !*(char *)nla_data(tb[ROCEPATH_RDMA_A_CLASS_NAME])) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "A class has a number and a name");
		return -EINVAL;
	}
	class = &policy->class[nla_get_u32(tb[ROCEPATH_RDMA_A_CLASS_NUMBER])];
	if (*class->name) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "Two classes have the same number");
		return -EINVAL;
	}
	nla_strscpy(class->name, tb[ROCEPATH_RDMA_A_CLASS_NAME], sizeof(class->name));
	class_take(tb[ROCEPATH_RDMA_A_CLASS_DSCP], RP_RDMA_CLASS_DSCP, &class->dscp,
		   &class->flags);
	class_take(tb[ROCEPATH_RDMA_A_CLASS_SL], RP_RDMA_CLASS_SL, &class->sl, &class->flags);
	class_take(tb[ROCEPATH_RDMA_A_CLASS_TIMEOUT], RP_RDMA_CLASS_TIMEOUT, &class->timeout,
		   &class->flags);
	class_take(tb[ROCEPATH_RDMA_A_CLASS_RETRY], RP_RDMA_CLASS_RETRY, &class->retry,
		   &class->flags);
	class_take(tb[ROCEPATH_RDMA_A_CLASS_EXEMPT], 0, &class->exempt, &class->flags);
	if (tb[ROCEPATH_RDMA_A_CLASS_ENTROPY])
		class->entropy = nla_get_u32(tb[ROCEPATH_RDMA_A_CLASS_ENTROPY]);
	if (tb[ROCEPATH_RDMA_A_CLASS_ON_FAILURE]) {
		class->on_failure = nla_get_u32(tb[ROCEPATH_RDMA_A_CLASS_ON_FAILURE]);
		class->flags |= RP_RDMA_CLASS_ON_FAILURE;
	}
	return 0;
}

/* one glob of a rule, if it is there */
static void rule_take_glob(struct rp_rule *rule, struct nlattr *attr, u32 match, char *glob,
			   size_t size)
{
	if (!attr)
		return;
	nla_strscpy(glob, attr, size);
	rule->match |= match;
}

static int rule_take_numbers(struct rp_rule *rule, struct nlattr **tb,
			     struct netlink_ext_ack *extack)
{
	struct nlattr *min = tb[ROCEPATH_RDMA_A_RULE_UID_MIN];
	struct nlattr *max = tb[ROCEPATH_RDMA_A_RULE_UID_MAX];
	struct nlattr *remote = tb[ROCEPATH_RDMA_A_RULE_REMOTE];
	struct nlattr *bits = tb[ROCEPATH_RDMA_A_RULE_REMOTE_BITS];

	if (min || max) {
		rule->uid_min = min ? nla_get_u32(min) : 0;
		rule->uid_max = max ? nla_get_u32(max) : U32_MAX;
		rule->match |= RP_MATCH_UID;
	}
	if (rule->uid_min > rule->uid_max) {
		NL_SET_ERR_MSG_ATTR(extack, min, "The least user id is above the greatest one");
		return -EINVAL;
	}
	if (!remote && bits) {
		NL_SET_ERR_MSG_ATTR(extack, bits, "A length without a prefix");
		return -EINVAL;
	}
	if (remote) {
		memcpy(rule->remote.bytes, nla_data(remote), sizeof(rule->remote.bytes));
		rule->remote_bits = bits ? nla_get_u8(bits) : 128;
		rule->match |= RP_MATCH_REMOTE;
	}
	if (tb[ROCEPATH_RDMA_A_RULE_QP_TYPES]) {
		rule->qp_types = nla_get_u32(tb[ROCEPATH_RDMA_A_RULE_QP_TYPES]);
		rule->match |= RP_MATCH_QP_TYPE;
	}
	return 0;
}

static int rule_parse(struct rp_rdma_policy *policy, struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[ROCEPATH_RDMA_A_RULE_MAX + 1];
	struct rp_rule *rule;
	int err;

	err = nla_parse_nested(tb, ROCEPATH_RDMA_A_RULE_MAX, nest, rp_nl_rule_policy, extack);
	if (err)
		return err;
	if (!tb[ROCEPATH_RDMA_A_RULE_NAME] || !tb[ROCEPATH_RDMA_A_RULE_CLASS]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "A rule has a name and a class");
		return -EINVAL;
	}
	if (policy->rules == ROCEPATH_RDMA_RULES) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "There are more than 256 rules");
		return -E2BIG;
	}
	rule = &policy->rule[policy->rules++];
	nla_strscpy(rule->name, tb[ROCEPATH_RDMA_A_RULE_NAME], sizeof(rule->name));
	rule->class = nla_get_u32(tb[ROCEPATH_RDMA_A_RULE_CLASS]);
	rule_take_glob(rule, tb[ROCEPATH_RDMA_A_RULE_CGROUP], RP_MATCH_CGROUP, rule->cgroup,
		       sizeof(rule->cgroup));
	rule_take_glob(rule, tb[ROCEPATH_RDMA_A_RULE_COMM], RP_MATCH_COMM, rule->comm,
		       sizeof(rule->comm));
	rule_take_glob(rule, tb[ROCEPATH_RDMA_A_RULE_DEVICE], RP_MATCH_DEVICE, rule->device,
		       sizeof(rule->device));
	return rule_take_numbers(rule, tb, extack);
}

/* what classes and rules say of each other */
static int policy_check(const struct rp_rdma_policy *policy, struct netlink_ext_ack *extack)
{
	u32 i;

	if (policy->default_class != RP_RDMA_NO_CLASS &&
	    !*policy->class[policy->default_class].name) {
		NL_SET_ERR_MSG(extack, "The default class is not among the classes");
		return -EINVAL;
	}
	for (i = 0; i < policy->rules; i++)
		if (!*policy->class[policy->rule[i].class].name) {
			NL_SET_ERR_MSG(extack, "A rule's class is not among the classes");
			return -EINVAL;
		}
	return 0;
}

static int policy_parse(struct rp_rdma_policy *policy, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[ROCEPATH_RDMA_A_POLICY_DEFAULT_CLASS];
	int rem, err = 0;

	policy->default_class = attr ? nla_get_u32(attr) : RP_RDMA_NO_CLASS;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) == ROCEPATH_RDMA_A_POLICY_CLASS)
			err = class_parse(policy, attr, info->extack);
		else if (nla_type(attr) == ROCEPATH_RDMA_A_POLICY_RULE)
			err = rule_parse(policy, attr, info->extack);
		if (err)
			return err;
	}
	return policy_check(policy, info->extack);
}

/**
 * rp_rdma_nl_policy_set() - ROCEPATH_RDMA_CMD_POLICY_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_rdma_nl_policy_set(struct sk_buff *skb, struct genl_info *info)
{
	struct rp_rdma_policy *policy = NULL;
	int err;

	if (info->attrs[ROCEPATH_RDMA_A_POLICY_CLASS] || info->attrs[ROCEPATH_RDMA_A_POLICY_RULE] ||
	    info->attrs[ROCEPATH_RDMA_A_POLICY_DEFAULT_CLASS]) {
		policy = kvzalloc(sizeof(*policy), GFP_KERNEL);
		if (!policy)
			return -ENOMEM;
		err = policy_parse(policy, info);
		if (err) {
			kvfree(policy);
			return err;
		}
	}
	mutex_lock(&rp_rdma_mutex);
	rp_rdma_policy_put(policy);
	mutex_unlock(&rp_rdma_mutex);
	return 0;
}

static int policy_put(struct sk_buff *skb, const struct rp_rdma_policy *policy)
{
	u32 i, classes = 0;

	for (i = 0; policy && i < ROCEPATH_RDMA_CLASSES; i++)
		classes += !!*policy->class[i].name;
	if (nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_POLICY_GENERATION,
			      policy ? policy->generation : 0, ROCEPATH_RDMA_A_POLICY_PAD) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_POLICY_CLASSES, classes) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_POLICY_RULES, policy ? policy->rules : 0))
		return -EMSGSIZE;
	if (policy && policy->default_class != RP_RDMA_NO_CLASS &&
	    nla_put_u32(skb, ROCEPATH_RDMA_A_POLICY_DEFAULT_CLASS, policy->default_class))
		return -EMSGSIZE;
	return 0;
}

/**
 * rp_rdma_nl_policy_get() - ROCEPATH_RDMA_CMD_POLICY_GET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_rdma_nl_policy_get(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	int err = -EMSGSIZE;
	void *hdr;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &rp_rdma_family, 0, ROCEPATH_RDMA_CMD_POLICY_GET);
	if (hdr) {
		mutex_lock(&rp_rdma_mutex);
		err = policy_put(msg, rp_rdma_policy_get());
		mutex_unlock(&rp_rdma_mutex);
	}
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static int class_count_qp(struct rp_rdma_qp *row, void *arg)
{
	u32 *count = arg;

	if (row->verdict.number < ROCEPATH_RDMA_CLASSES)
		count[row->verdict.number]++;
	return 0;
}

static int class_put(struct sk_buff *skb, const struct rp_rdma_class *class, u32 number, u32 qps)
{
	if (nla_put_u32(skb, ROCEPATH_RDMA_A_CLASS_NUMBER, number) ||
	    nla_put_string(skb, ROCEPATH_RDMA_A_CLASS_NAME, class->name) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_CLASS_ENTROPY, class->entropy) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_CLASS_EXEMPT, class->exempt) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_CLASS_QPS, qps))
		return -EMSGSIZE;
	if ((class->flags & RP_RDMA_CLASS_DSCP &&
	     nla_put_u8(skb, ROCEPATH_RDMA_A_CLASS_DSCP, class->dscp)) ||
	    (class->flags & RP_RDMA_CLASS_SL &&
	     nla_put_u8(skb, ROCEPATH_RDMA_A_CLASS_SL, class->sl)) ||
	    (class->flags & RP_RDMA_CLASS_TIMEOUT &&
	     nla_put_u8(skb, ROCEPATH_RDMA_A_CLASS_TIMEOUT, class->timeout)) ||
	    (class->flags & RP_RDMA_CLASS_RETRY &&
	     nla_put_u8(skb, ROCEPATH_RDMA_A_CLASS_RETRY, class->retry)) ||
	    (class->flags & RP_RDMA_CLASS_ON_FAILURE &&
	     nla_put_u32(skb, ROCEPATH_RDMA_A_CLASS_ON_FAILURE, class->on_failure)))
		return -EMSGSIZE;
	return 0;
}

/**
 * rp_rdma_nl_class_dump() - ROCEPATH_RDMA_CMD_CLASS_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_rdma_nl_class_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	u32 qps[ROCEPATH_RDMA_CLASSES] = {};
	const struct rp_rdma_policy *policy;
	void *hdr;

	rp_rdma_qp_for_each(class_count_qp, qps);
	mutex_lock(&rp_rdma_mutex);
	policy = rp_rdma_policy_get();
	for (; policy && cb->args[0] < ROCEPATH_RDMA_CLASSES; cb->args[0]++) {
		long i = cb->args[0];

		if (!*policy->class[i].name)
			continue;
		hdr = rp_rdma_nl_dump_put(skb, cb, ROCEPATH_RDMA_CMD_CLASS_GET);
		if (!hdr)
			break;
		if (class_put(skb, &policy->class[i], i, qps[i])) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	mutex_unlock(&rp_rdma_mutex);
	return skb->len;
}

static int rule_put(struct sk_buff *skb, const struct rp_rule *rule, u64 matched)
{
	u32 match = rule->match;

	if (nla_put_string(skb, ROCEPATH_RDMA_A_RULE_NAME, rule->name) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_RULE_CLASS, rule->class) ||
	    nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_RULE_MATCHED, matched,
			      ROCEPATH_RDMA_A_RULE_PAD))
		return -EMSGSIZE;
	if ((match & RP_MATCH_CGROUP &&
	     nla_put_string(skb, ROCEPATH_RDMA_A_RULE_CGROUP, rule->cgroup)) ||
	    (match & RP_MATCH_COMM && nla_put_string(skb, ROCEPATH_RDMA_A_RULE_COMM, rule->comm)) ||
	    (match & RP_MATCH_DEVICE &&
	     nla_put_string(skb, ROCEPATH_RDMA_A_RULE_DEVICE, rule->device)) ||
	    (match & RP_MATCH_UID &&
	     (nla_put_u32(skb, ROCEPATH_RDMA_A_RULE_UID_MIN, rule->uid_min) ||
	      nla_put_u32(skb, ROCEPATH_RDMA_A_RULE_UID_MAX, rule->uid_max))) ||
	    (match & RP_MATCH_REMOTE &&
	     (nla_put(skb, ROCEPATH_RDMA_A_RULE_REMOTE, sizeof(rule->remote.bytes),
		      rule->remote.bytes) ||
	      nla_put_u8(skb, ROCEPATH_RDMA_A_RULE_REMOTE_BITS, rule->remote_bits))) ||
	    (match & RP_MATCH_QP_TYPE &&
	     nla_put_u32(skb, ROCEPATH_RDMA_A_RULE_QP_TYPES, rule->qp_types)))
		return -EMSGSIZE;
	return 0;
}

/**
 * rp_rdma_nl_rule_dump() - ROCEPATH_RDMA_CMD_RULE_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_rdma_nl_rule_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct rp_rdma_policy *policy;
	void *hdr;

	mutex_lock(&rp_rdma_mutex);
	policy = rp_rdma_policy_get();
	for (; policy && cb->args[0] < policy->rules; cb->args[0]++) {
		long i = cb->args[0];

		hdr = rp_rdma_nl_dump_put(skb, cb, ROCEPATH_RDMA_CMD_RULE_GET);
		if (!hdr)
			break;
		if (rule_put(skb, &policy->rule[i], atomic64_read(&policy->matched[i]))) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	mutex_unlock(&rp_rdma_mutex);
	return skb->len;
}
