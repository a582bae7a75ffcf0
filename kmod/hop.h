/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_HOP_H
#define ROCEPATH_HOP_H

#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "core/paths.h"

struct rp_device;
struct rp_peer;
struct rp_wire_probe;

/* hop-limited probes that are out at once; older ones are forgotten */
#define RP_HOPS_MAX 256
/* no answer takes longer */
#define RP_HOP_LIFE (5 * HZ)

/**
 * struct rp_hop - a hop-limited probe that is out
 * @peer: to whom
 * @path: its path
 * @hops: its limit, 0: it is not out any more
 * @id: not to be guessed; of its IPv4 header, and the low half of its cookie
 * @cookie: of who asked
 * @sent_ns: when
 */
struct rp_hop {
	struct in6_addr peer;
	struct rp_path path;
	u8 hops;
	u16 id;
	u32 cookie;
	u64 sent_ns;
};

/**
 * struct rp_hops - those that are out on a device
 * @lock: for all below; taken with bottom halves off
 * @hop: in the order of sending, going round
 * @next: to be used
 * @until: jiffies when the last of them is not waited for any more; read without the lock
 * @any: there ever was one; the same
 */
struct rp_hops {
	spinlock_t lock;
	struct rp_hop hop[RP_HOPS_MAX];
	u16 next;
	bool any;
	unsigned long until;
};

int rp_hop_probe(struct rp_device *rp, struct rp_peer *peer, struct rp_path path, u8 hops,
		 u32 cookie);
bool rp_hop_reached(struct rp_device *rp, struct rp_peer *peer, const struct rp_wire_probe *body);
void rp_hop_icmp(struct rp_device *rp, struct sk_buff *skb);

/* is any answer waited for? Packets are looked at only then */
static inline bool rp_hops_out(const struct rp_hops *h)
{
	return READ_ONCE(h->any) && time_before(jiffies, READ_ONCE(h->until));
}

#endif /* ROCEPATH_HOP_H */
