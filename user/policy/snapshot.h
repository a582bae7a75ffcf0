/* SPDX-License-Identifier: GPL-2.0 */
/* What the modules' devices are set to, to go back to: a policy's file does not say all of it. */
#ifndef ROCEPATH_USER_POLICY_SNAPSHOT_H
#define ROCEPATH_USER_POLICY_SNAPSHOT_H

#include "../rtnl.h"

struct rp_snapshot;

struct rp_snapshot *rp_snapshot_take(struct rp_rtnl *rtnl);
void rp_snapshot_restore(struct rp_snapshot *snapshot, struct rp_rtnl *rtnl);
void rp_snapshot_release(struct rp_snapshot *snapshot);

#endif /* ROCEPATH_USER_POLICY_SNAPSHOT_H */
