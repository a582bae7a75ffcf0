// SPDX-License-Identifier: GPL-2.0
/*
 * From what the files say to one message, which puts classes and rules into force at
 * once. It is made from the same struct as the maps: rules are in their order, classes
 * have their numbers. A rule that asks for something in packets cannot be decided when
 * a QP connects, and is left to those who see packets.
 */
#include <inttypes.h>
#include <string.h>

#include <linux/rocepath_rdma.h>

#include "rdma.h"

#define TIMEOUT_NS 4096		/* IBTA 9.7.6.1.3: times 2 to the power of the number */
#define TIMEOUT_MAX 31

/**
 * rp_rdma_exponent() - a timeout as QPs have it
 * @us: the timeout, 0: never
 *
 * Return: the least that is not shorter; 0, which means never, only for 0.
 */
uint8_t rp_rdma_exponent(uint64_t us)
{
	uint8_t exponent = 1;

	if (!us)
		return 0;
	while (exponent < TIMEOUT_MAX && rp_rdma_exponent_ns(exponent) < us * 1000)
		exponent++;
	return exponent;
}

/**
 * rp_rdma_exponent_ns() - how long that is
 * @exponent: of a QP, 1 to 31
 */
uint64_t rp_rdma_exponent_ns(uint8_t exponent)
{
	return (uint64_t)TIMEOUT_NS << exponent;
}

static bool class_wants(const struct rp_spec_class *class)
{
	return class->given >> RP_KEY_CLASS_RDMA;
}

/**
 * rp_rdma_wanted() - whether a policy says something that only the module can do
 * @spec: the policy, before rp_spec_fill()
 */
bool rp_rdma_wanted(const struct rp_spec *spec)
{
	bool wanted = rp_given(spec, RP_KEY_POLICY_RDMA);

	for (unsigned int i = 0; i < spec->classes.count; i++)
		wanted |= class_wants(rp_spec_class_at(spec, i));
	return wanted;
}

static void put_class(struct nlmsghdr *nlh, const struct rp_spec_class *class,
		      const struct rp_class *compiled, uint32_t number)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, ROCEPATH_RDMA_A_POLICY_CLASS);
	uint32_t entropy = ROCEPATH_RDMA_ENTROPY_PLAN;

	mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_CLASS_NUMBER, number);
	mnl_attr_put_strz(nlh, ROCEPATH_RDMA_A_CLASS_NAME, compiled->name);
	if (compiled->flags & RP_CLASS_DSCP)
		mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_CLASS_DSCP, compiled->dscp);
	if (rp_given(class, RP_KEY_CLASS_SERVICE_LEVEL))
		mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_CLASS_SL, class->service_level);
	if (rp_given(class, RP_KEY_CLASS_TIMEOUT))
		mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_CLASS_TIMEOUT,
				rp_rdma_exponent(class->timeout));
	if (rp_given(class, RP_KEY_CLASS_RETRY))
		mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_CLASS_RETRY, class->retry);
	if (rp_given(class, RP_KEY_CLASS_ENTROPY))
		entropy = class->entropy;
	mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_CLASS_ENTROPY, entropy);
	if (rp_given(class, RP_KEY_CLASS_ON_FAILURE))
		mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_CLASS_ON_FAILURE, class->on_failure);
	if (class->exempt)
		mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_CLASS_EXEMPT, 1);
	mnl_attr_nest_end(nlh, nest);
}

static void put_rule(struct nlmsghdr *nlh, const struct rp_rule *rule)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, ROCEPATH_RDMA_A_POLICY_RULE);

	mnl_attr_put_strz(nlh, ROCEPATH_RDMA_A_RULE_NAME, rule->name);
	mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_RULE_CLASS, rule->class);
	if (rule->match & RP_MATCH_CGROUP)
		mnl_attr_put_strz(nlh, ROCEPATH_RDMA_A_RULE_CGROUP, rule->cgroup);
	if (rule->match & RP_MATCH_COMM)
		mnl_attr_put_strz(nlh, ROCEPATH_RDMA_A_RULE_COMM, rule->comm);
	if (rule->match & RP_MATCH_DEVICE)
		mnl_attr_put_strz(nlh, ROCEPATH_RDMA_A_RULE_DEVICE, rule->device);
	if (rule->match & RP_MATCH_UID) {
		mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_RULE_UID_MIN, rule->uid_min);
		mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_RULE_UID_MAX, rule->uid_max);
	}
	if (rule->match & RP_MATCH_REMOTE) {
		mnl_attr_put(nlh, ROCEPATH_RDMA_A_RULE_REMOTE, sizeof(rule->remote), &rule->remote);
		mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_RULE_REMOTE_BITS, rule->remote_bits);
	}
	if (rule->match & RP_MATCH_QP_TYPE)
		mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_RULE_QP_TYPES, rule->qp_types);
	mnl_attr_nest_end(nlh, nest);
}

/**
 * rp_rdma_put_policy() - add classes and rules to a request
 * @nlh: of CMD_POLICY_SET, with room for 96 KiB
 * @spec: the policy, filled
 * @policy: the same, compiled
 */
void rp_rdma_put_policy(struct nlmsghdr *nlh, const struct rp_spec *spec,
			const struct rp_policy *policy)
{
	mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_POLICY_DEFAULT_CLASS, policy->default_class);
	for (uint32_t i = 0; i < policy->class_count; i++) {
		int found = rp_spec_class_index(spec, policy->class[i].name);

		if (found >= 0)
			put_class(nlh, rp_spec_class_at(spec, found), &policy->class[i], i);
	}
	for (uint32_t i = 0; i < policy->rule_count; i++)
		if (!(policy->rule[i].match & ~RP_MATCH_OF_QP))
			put_rule(nlh, &policy->rule[i]);
}

/**
 * rp_rdma_put_settings() - add settings of a device to a request
 * @nlh: of CMD_DEVICE_SET
 * @set: the settings
 * @given: bit of each that was, from RP_KEY_RDMA_STEERING on
 */
void rp_rdma_put_settings(struct nlmsghdr *nlh, const struct rp_spec_steering *set,
			  uint64_t given)
{
	if (rp_given(&given, RP_KEY_RDMA_STEERING))
		mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_DEVICE_STEERING, set->steering);
	if (rp_given(&given, RP_KEY_RDMA_EXEMPT))
		mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_DEVICE_EXEMPT, set->exempt);
	if (rp_given(&given, RP_KEY_RDMA_ON_FAILURE))
		mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_DEVICE_ON_FAILURE, set->on_failure);
	if (rp_given(&given, RP_KEY_RDMA_PROBE_INTERVAL))
		mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_DEVICE_PROBE_INTERVAL_US,
				 set->probe_interval);
	if (rp_given(&given, RP_KEY_RDMA_PROBES_PER_SECOND))
		mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_DEVICE_PROBES_PER_SECOND,
				 set->probes_per_second);
	if (rp_given(&given, RP_KEY_RDMA_HOLDDOWN))
		mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_DEVICE_HOLDDOWN_MS, set->holddown);
	if (rp_given(&given, RP_KEY_RDMA_SLOW_FACTOR))
		mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_DEVICE_SLOW_FACTOR, set->slow_factor);
}
