/* SPDX-License-Identifier: GPL-2.0 */
/* How fast a queue pair may send, and what says so. */
#ifndef ROCEPATH_USER_LIMIT_H
#define ROCEPATH_USER_LIMIT_H

#include <rocepath/policy.h>

/**
 * struct rp_limit - the least of all rates that hold
 * @rate_bytes_per_s: 0: none holds
 * @why: in words
 */
struct rp_limit {
	u64 rate_bytes_per_s;
	const char *why;
};

struct rp_limit rp_limit_of(const struct rp_policy *policy, const struct rp_qp_tx *tx,
			    const struct rp_pacer *pacer, const struct rp_pacer *total,
			    u64 now_ns);

#endif /* ROCEPATH_USER_LIMIT_H */
