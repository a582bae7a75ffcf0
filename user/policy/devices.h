/* SPDX-License-Identifier: GPL-2.0 */
/* The module's part of a policy: devices, ports, keys, schedulers. */
#ifndef ROCEPATH_USER_POLICY_DEVICES_H
#define ROCEPATH_USER_POLICY_DEVICES_H

#include <rocepath/policy.h>

#include "../netlink.h"
#include "../rtnl.h"
#include "model.h"

int rp_devices_apply(struct rp_rtnl *rtnl, const struct rp_spec *before,
		     const struct rp_spec *spec, const struct rp_policy *policy);

#endif /* ROCEPATH_USER_POLICY_DEVICES_H */
