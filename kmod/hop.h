/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_HOP_H
#define ROCEPATH_HOP_H

#include <linux/jiffies.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "core/hops.h"

struct rp_device;
struct rp_peer;
struct rp_wire_probe;

/**
 * struct rp_hops_out - hop-limited probes that are out on a device
 * @lock: for all below; taken with bottom halves off
 * @hops: which
 * @until: jiffies when the last of them is not waited for any more; read without the lock
 * @any: there ever was one; the same
 */
struct rp_hops_out {
	spinlock_t lock;
	struct rp_hops hops;
	bool any;
	unsigned long until;
};

int rp_hop_probe(struct rp_device *rp, struct rp_peer *peer, struct rp_path path, u8 hops,
		 u32 cookie);
bool rp_hop_reached(struct rp_device *rp, struct rp_peer *peer, const struct rp_wire_probe *body);
void rp_hop_icmp(struct rp_device *rp, struct sk_buff *skb);

/* is any answer waited for? Packets are looked at only then */
static inline bool rp_hops_awaited(const struct rp_hops_out *h)
{
	return READ_ONCE(h->any) && time_before(jiffies, READ_ONCE(h->until));
}

#endif /* ROCEPATH_HOP_H */
