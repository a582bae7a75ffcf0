// SPDX-License-Identifier: GPL-2.0
/*
 * The programs move what they know of a QP when a packet leaves; here it is moved on, in a
 * copy, to where it would be if one left now.
 */
#include <rocepath/policy_derive.h>

#include "../bpf/dcqcn.h"
#include "../bpf/pace.h"

#include "limit.h"

static const char *const reasons[] = {
	[RP_DCQCN_UNLIMITED] = "unlimited", [RP_DCQCN_CUT] = "cut by a CNP",
	[RP_DCQCN_FAST_RECOVERY] = "fast recovery",
	[RP_DCQCN_ADDITIVE_INCREASE] = "additive increase",
	[RP_DCQCN_HYPER_INCREASE] = "hyper increase",
};

static void lower(struct rp_limit *limit, u64 rate, const char *why)
{
	if (rate && (!limit->rate_bytes_per_s || rate < limit->rate_bytes_per_s))
		*limit = (struct rp_limit){ rate, why };
}

/* what is shared is as much as the QP may take of it now */
static u64 share_of(const struct rp_pacer *pacer, const struct rp_rate *rate)
{
	u64 share = rp_pace_share_now(pacer, rate);

	return share ? min((RP_NSEC_PER_SEC << 20) / share, rate->rate_bytes_per_s) : 0;
}

static void lower_by_cnps(struct rp_limit *limit, const struct rp_policy *policy,
			  const struct rp_qp_tx *tx, u64 now_ns)
{
	struct rp_dcqcn dcqcn = tx->dcqcn;

	rp_dcqcn_advance(&dcqcn, &policy->dcqcn, now_ns);
	if (dcqcn.why != RP_DCQCN_UNLIMITED)
		lower(limit, dcqcn.rate_bytes_per_s,
		      dcqcn.why < ARRAY_SIZE(reasons) ? reasons[dcqcn.why] : "other");
}

/**
 * rp_limit_of() - how fast may a QP send?
 * @policy: the policy in force
 * @tx: the QP
 * @pacer: of its class
 * @total: of all classes
 * @now_ns: CLOCK_MONOTONIC
 */
struct rp_limit rp_limit_of(const struct rp_policy *policy, const struct rp_qp_tx *tx,
			    const struct rp_pacer *pacer, const struct rp_pacer *total,
			    u64 now_ns)
{
	struct rp_limit limit = { 0, reasons[RP_DCQCN_UNLIMITED] };
	const struct rp_class *class;

	lower(&limit, share_of(total, &policy->total_rate), "pacing rate");
	if (tx->class >= policy->class_count)
		return limit;
	class = &policy->class[tx->class];
	lower(&limit, share_of(pacer, &class->class_rate), "class rate");
	lower(&limit, class->qp_rate.rate_bytes_per_s, "qp-rate");
	if (class->flags & RP_CLASS_DCQCN)
		lower_by_cnps(&limit, policy, tx, now_ns);
	return limit;
}
