/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_CLASS_H
#define ROCEPATH_RDMA_CLASS_H

#include <linux/rcupdate.h>
#include <linux/rocepath_rdma.h>
#include <linux/types.h>
#include <rocepath/policy.h>

/* struct rp_rdma_class.flags: what it says; what it does not is left as it was asked for */
#define RP_RDMA_CLASS_DSCP		0x01
#define RP_RDMA_CLASS_SL		0x02
#define RP_RDMA_CLASS_TIMEOUT		0x04
#define RP_RDMA_CLASS_RETRY		0x08
#define RP_RDMA_CLASS_ON_FAILURE	0x10

#define RP_RDMA_NO_CLASS ROCEPATH_RDMA_CLASSES

/**
 * struct rp_rdma_class - how QPs of one kind are set up
 * @name: of the class; "": there is no such class
 * @flags: RP_RDMA_CLASS_*
 * @dscp: 0 to 63
 * @sl: service level
 * @timeout: exponent
 * @retry: count
 * @exempt: nothing is changed
 * @entropy: enum rocepath_rdma_entropy
 * @on_failure: enum rocepath_rdma_action
 */
struct rp_rdma_class {
	char name[ROCEPATH_RDMA_NAME_LEN];
	u8 flags;
	u8 dscp;
	u8 sl;
	u8 timeout;
	u8 retry;
	u8 exempt;
	u8 entropy;
	u8 on_failure;
};

/**
 * struct rp_rdma_policy - classes and rules, RCU
 * @rcu: to free it
 * @generation: one more than the one before
 * @default_class: number, RP_RDMA_NO_CLASS: what no rule matches is left alone
 * @rules: used in @rule
 * @class: by number
 * @rule: in their order; @rule.class is a number
 * @matched: by rule, QPs so far
 */
struct rp_rdma_policy {
	struct rcu_head rcu;
	u64 generation;
	u32 default_class;
	u32 rules;
	struct rp_rdma_class class[ROCEPATH_RDMA_CLASSES];
	struct rp_rule rule[ROCEPATH_RDMA_RULES];
	atomic64_t matched[ROCEPATH_RDMA_RULES];
};

/**
 * struct rp_rdma_verdict - what the policy says of a QP
 * @number: of its class, RP_RDMA_NO_CLASS: it has none
 * @rule: name of the rule that matched, "": none did
 * @class: as it was then
 */
struct rp_rdma_verdict {
	u32 number;
	char rule[ROCEPATH_RDMA_NAME_LEN];
	struct rp_rdma_class class;
};

void rp_rdma_classify(const struct rp_qp *qp, struct rp_rdma_verdict *verdict);
const struct rp_rdma_policy *rp_rdma_policy_get(void);
void rp_rdma_policy_put(struct rp_rdma_policy *policy);
void rp_rdma_policy_exit(void);

#endif /* ROCEPATH_RDMA_CLASS_H */
