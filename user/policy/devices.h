/* SPDX-License-Identifier: GPL-2.0 */
/* The module's part of a policy: devices, ports, keys, schedulers. */
#ifndef ROCEPATH_USER_POLICY_DEVICES_H
#define ROCEPATH_USER_POLICY_DEVICES_H

#include <rocepath/policy.h>

#include "../netlink.h"
#include "../rtnl.h"
#include "model.h"

#define RP_DEVICES_MAX 16	/* in a policy */

/* devices that were not there before */
struct rp_made {
	int ifindex[RP_DEVICES_MAX];
	unsigned int count;
};

int rp_devices_check(struct rp_rtnl *rtnl, const struct rp_spec *spec);
int rp_devices_apply(struct rp_rtnl *rtnl, const struct rp_spec *before,
		     const struct rp_spec *spec, const struct rp_policy *policy,
		     struct rp_made *made);
int rp_devices_refresh(struct rp_rtnl *rtnl, const struct rp_spec *spec,
		       const struct rp_policy *policy);
void rp_devices_undo(struct rp_rtnl *rtnl, const struct rp_made *made);

#endif /* ROCEPATH_USER_POLICY_DEVICES_H */
