/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_REPORT_H
#define ROCEPATH_REPORT_H

#include <linux/types.h>

struct rp_device;
struct rp_peer;
struct rp_wire;

bool rp_report_rx(struct rp_device *rp, struct rp_peer *peer, const struct rp_wire *w, u32 len);
void rp_report_send(struct rp_device *rp, struct rp_peer *peer, u64 now_ns);

#endif /* ROCEPATH_REPORT_H */
