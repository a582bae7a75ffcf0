/* SPDX-License-Identifier: GPL-2.0 */
/* From what the files say to what the maps hold. */
#ifndef ROCEPATH_USER_POLICY_COMPILE_H
#define ROCEPATH_USER_POLICY_COMPILE_H

#include <rocepath/policy.h>

#include "model.h"

void rp_compile(const struct rp_spec *spec, const struct rp_policy *before, uint64_t line_rate,
		struct rp_policy *policy);

#endif /* ROCEPATH_USER_POLICY_COMPILE_H */
