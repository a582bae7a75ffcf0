/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_PEER_H
#define ROCEPATH_PEER_H

#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>

#include "core/hello.h"

struct rp_device;
struct sk_buff;

/* Ethernet, one VLAN tag in the packet, IPv6 or IPv4 without options */
#define RP_ENVELOPE_MAX (14 + 4 + 40)

/**
 * struct rp_envelope - headers of a packet to the peer, up to UDP
 * @data: Ethernet to IP
 * @len: bytes of it, 0: none known yet
 * @l3: where the IP header begins
 * @vlan_proto: of a tag that is not in @data, 0: there is none
 * @vlan_tci: the same
 *
 * Control packets are sent in the envelope of the data that they speak for, so
 * routes, neighbours and VLANs have been found by the stack already.
 */
struct rp_envelope {
	u8 data[RP_ENVELOPE_MAX];
	u8 len;
	u8 l3;
	__be16 vlan_proto;
	u16 vlan_tci;
};

/**
 * struct rp_peer - a remote RoCE address, as one device sees it
 * @node: in the device's peer_table
 * @address: IPv4 mapped
 * @sprayable: it said that it reorders, and that is still true
 * @holds: it may spray to us, so early packets are kept back
 * @envelope_old: a packet that leaves should renew @envelope
 * @used: jiffies when a packet last went to it or came from it, roughly
 * @list: in the device's peer_list
 * @refs: one for the list, one for each QP
 * @lock: for all below; taken with bottom halves off
 * @hello: what we know of each other
 * @envelope: to send control packets in
 * @hello_due: jiffies when the next hello is to be sent
 * @rcu: to free it
 */
struct rp_peer {
	struct rhash_head node;
	struct in6_addr address;
	bool sprayable;
	bool holds;
	bool envelope_old;
	unsigned long used;

	struct list_head list;
	refcount_t refs;
	spinlock_t lock;
	struct rp_hello hello;
	struct rp_envelope envelope;
	unsigned long hello_due;
	struct rcu_head rcu;
};

/* no shared write for each packet: the mark is moved once a second */
static inline void rp_peer_used(struct rp_peer *peer)
{
	unsigned long now = jiffies;

	if (time_after(now, READ_ONCE(peer->used) + HZ))
		WRITE_ONCE(peer->used, now);
}

struct rp_peer *rp_peer_get(struct rp_device *rp, const struct in6_addr *address, bool create);
void rp_peer_put(struct rp_peer *peer);
void rp_peer_remove(struct rp_device *rp, struct rp_peer *peer);
void rp_peer_publish(struct rp_peer *peer, u64 now_ns);
void rp_peer_learn_envelope(struct rp_device *rp, struct rp_peer *peer, const struct sk_buff *skb,
			    u32 l3);

int rp_peers_init(struct rp_device *rp);
void rp_peers_exit(struct rp_device *rp);

#endif /* ROCEPATH_PEER_H */
