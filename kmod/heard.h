/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_HEARD_H
#define ROCEPATH_HEARD_H

#include <linux/types.h>
#include <linux/rocepath.h>

#include "core/report.h"

struct rp_peer;
struct rp_roce;
struct sk_buff;

/**
 * struct rp_heard_path - what came on one path of a peer
 * @received: packets
 * @marked: of these with CE
 * @late_us: sum of how late they were
 * @lates: how many of them
 * @told: @received as it was last reported
 * @told_late_us: the mean of how late, the same
 *
 * A path is one 5-tuple, which a NIC gives to one queue and so to one CPU: so
 * these are written without a lock, and one is not shared among CPUs. Where it
 * is all the same (RPS by other rules), now and then a packet is not counted.
 */
struct rp_heard_path {
	u32 received;
	u32 marked;
	u32 late_us;
	u32 lates;
	u32 told;
	u32 told_late_us;
};

/**
 * struct rp_heard_port - what came from one port of a peer
 * @used: EVs that something came on
 * @path: by EV
 */
struct rp_heard_port {
	unsigned long used[BITS_TO_LONGS(ROCEPATH_EVS_MAX)];
	struct rp_heard_path path[ROCEPATH_EVS_MAX];
};

void rp_heard(struct rp_peer *peer, const struct sk_buff *skb, u32 l3, const struct rp_roce *r,
	      s64 late_ns);
bool rp_heard_report(struct rp_peer *peer, struct rp_report_writer *w);
void rp_heard_restarted(struct rp_peer *peer);
void rp_heard_free(struct rp_peer *peer);

#endif /* ROCEPATH_HEARD_H */
