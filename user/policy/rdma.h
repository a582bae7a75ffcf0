/* SPDX-License-Identifier: GPL-2.0 */
/* The part of a policy that is about QPs of RDMA devices, for the module rocepath_rdma. */
#ifndef ROCEPATH_USER_POLICY_RDMA_H
#define ROCEPATH_USER_POLICY_RDMA_H

#include <libmnl/libmnl.h>
#include <rocepath/policy.h>

#include "model.h"

uint8_t rp_rdma_exponent(uint64_t us);
uint64_t rp_rdma_exponent_ns(uint8_t exponent);
bool rp_rdma_wanted(const struct rp_spec *spec);
void rp_rdma_put_policy(struct nlmsghdr *nlh, const struct rp_spec *spec,
			const struct rp_policy *policy);
void rp_rdma_put_settings(struct nlmsghdr *nlh, const struct rp_spec_steering *set,
			  uint64_t given);

int rp_rdma_apply(const struct rp_spec *before, const struct rp_spec *spec,
		  const struct rp_policy *policy);
void rp_rdma_refresh(const struct rp_spec *spec);
void rp_rdma_remove(const struct rp_spec *before);

#endif /* ROCEPATH_USER_POLICY_RDMA_H */
