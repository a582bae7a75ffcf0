/* SPDX-License-Identifier: GPL-2.0 */
/* The policy in force, and the one that is about to be. */
#ifndef ROCEPATH_USER_POLICY_STATE_H
#define ROCEPATH_USER_POLICY_STATE_H

#include "model.h"
#include "pins.h"

int rp_state_policy(const struct rp_maps *maps, struct rp_policy *policy);
struct rp_spec *rp_state_spec(const struct rp_maps *maps, uint64_t generation);
struct rp_spec *rp_state_latest(int documents);
int rp_state_prepare(const struct rp_maps *maps, const struct rp_spec *spec, const char *text,
		     const struct rp_policy *policy, struct rp_error *error);
int rp_state_switch(const struct rp_maps *maps, int inner, struct rp_error *error);
void rp_state_begin_counts(const struct rp_maps *maps, const struct rp_policy *old,
			   const struct rp_policy *policy);
void rp_state_forget(const struct rp_maps *maps, uint64_t kept);

#endif /* ROCEPATH_USER_POLICY_STATE_H */
