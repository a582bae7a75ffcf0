/* SPDX-License-Identifier: GPL-2.0 */
/* Making a policy the one in force, and no longer. */
#ifndef ROCEPATH_USER_POLICY_APPLY_H
#define ROCEPATH_USER_POLICY_APPLY_H

#include "model.h"

int rp_apply(struct rp_spec *spec);
int rp_refresh(void);
int rp_remove(void);
struct rp_spec *rp_in_force(void);
int rp_in_force_if_any(struct rp_spec **spec);

#endif /* ROCEPATH_USER_POLICY_APPLY_H */
