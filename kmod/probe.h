/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_PROBE_H
#define ROCEPATH_PROBE_H

#include <linux/skbuff.h>

#include "core/budget.h"
#include "core/paths.h"

struct rp_device;
struct rp_peer;
struct rp_wire;

/**
 * struct rp_probe_budget - how many probes a device may send
 * @lock: for it
 * @budget: what is left
 */
struct rp_probe_budget {
	spinlock_t lock;
	struct rp_budget budget;
};

void rp_probe_init(struct rp_device *rp);
u32 rp_probe_period_ms(const struct rp_device *rp);
void rp_probe_plan(struct rp_device *rp, u32 paths, u32 round_ms);
bool rp_probe_allowed(struct rp_device *rp, u64 now_ns);
bool rp_probe_due(struct rp_device *rp, struct rp_peer *peer, u64 now_ns);
bool rp_probe_rx(struct rp_device *rp, struct rp_peer *peer, const struct rp_wire *w);
bool rp_probe_answered(struct rp_device *rp, struct rp_peer *peer, const struct rp_wire *w);

#endif /* ROCEPATH_PROBE_H */
