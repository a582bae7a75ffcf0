// SPDX-License-Identifier: GPL-2.0
/*
 * The policy: which class a QP is of, when it connects. Rules are matched by the
 * very code that BPF programs match packets with. Replaced as a whole, so that a QP
 * sees the old one or the new one and never a mixture; what it was told it keeps.
 */
#include "class.h"

#include <linux/slab.h>
#include <rocepath/rules.h>

#include "device.h"

static struct rp_rdma_policy __rcu *policy_now;	/* written under rp_rdma_mutex */

static u32 policy_match(struct rp_rdma_policy *policy, const struct rp_qp *qp,
			struct rp_rdma_verdict *verdict)
{
	u32 i;

	for (i = 0; i < policy->rules; i++) {
		const struct rp_rule *rule = &policy->rule[i];

		if (!rp_rule_of_qp(rule, qp))
			continue;
		atomic64_inc(&policy->matched[i]);
		memcpy(verdict->rule, rule->name, sizeof(verdict->rule));
		return rule->class;
	}
	return policy->default_class;
}

/**
 * rp_rdma_classify() - what the policy says of a QP
 * @qp: the QP
 * @verdict: what it says
 *
 * Without a policy QPs are spread, and nothing else is set.
 *
 * Context: any.
 */
void rp_rdma_classify(const struct rp_qp *qp, struct rp_rdma_verdict *verdict)
{
	struct rp_rdma_policy *policy;

	memset(verdict, 0, sizeof(*verdict));
	verdict->number = RP_RDMA_NO_CLASS;
	rcu_read_lock();
	policy = rcu_dereference(policy_now);
	if (!policy)
		verdict->class.entropy = ROCEPATH_RDMA_ENTROPY_PLAN;
	else
		verdict->number = policy_match(policy, qp, verdict);
	if (verdict->number < ROCEPATH_RDMA_CLASSES)
		verdict->class = policy->class[verdict->number];
	rcu_read_unlock();
}

/**
 * rp_rdma_policy_get() - the policy in force
 *
 * Context: rp_rdma_mutex.
 * Return: the policy, NULL: there is none.
 */
const struct rp_rdma_policy *rp_rdma_policy_get(void)
{
	return rcu_dereference_protected(policy_now, lockdep_is_held(&rp_rdma_mutex));
}

/* rules keep their counts by name */
static void policy_inherit(struct rp_rdma_policy *policy, const struct rp_rdma_policy *old)
{
	u32 i, k;

	for (i = 0; i < policy->rules; i++)
		for (k = 0; k < old->rules; k++)
			if (!strcmp(policy->rule[i].name, old->rule[k].name) &&
			    (!i || strcmp(policy->rule[i].name, policy->rule[i - 1].name)))
				atomic64_add(atomic64_read(&old->matched[k]), &policy->matched[i]);
}

/**
 * rp_rdma_policy_put() - put a policy into force
 * @policy: the new one, kvmalloc'ed, NULL: none
 *
 * Context: rp_rdma_mutex.
 */
void rp_rdma_policy_put(struct rp_rdma_policy *policy)
{
	struct rp_rdma_policy *old = rcu_dereference_protected(policy_now,
							       lockdep_is_held(&rp_rdma_mutex));
	static u64 generation;

	if (policy) {
		policy->generation = ++generation;
		if (old)
			policy_inherit(policy, old);
	}
	rcu_assign_pointer(policy_now, policy);
	if (old)
		kvfree_rcu(old, rcu);
}

/** rp_rdma_policy_exit() - forget it; no QP connects any more. */
void rp_rdma_policy_exit(void)
{
	mutex_lock(&rp_rdma_mutex);
	rp_rdma_policy_put(NULL);
	mutex_unlock(&rp_rdma_mutex);
}
