// SPDX-License-Identifier: GPL-2.0
/*
 * Peers: remote RoCE addresses, each as one device sees it.
 *
 * A peer is made when a QP of this host sends to it or hears from it, or by a
 * control packet that a key of ours vouches for; never by whoever can send a
 * UDP packet. It goes when no QP has it and nothing was heard for a while.
 */
#include "peer.h"

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "control.h"
#include "device.h"
#include "netlink.h"

static const struct rhashtable_params peer_params = {
	.key_len = sizeof(struct in6_addr),
	.key_offset = offsetof(struct rp_peer, address),
	.head_offset = offsetof(struct rp_peer, node),
	.automatic_shrinking = true,
};

static struct rp_peer *peer_new(struct rp_device *rp, const struct in6_addr *address)
{
	struct rp_peer *peer = kzalloc(sizeof(*peer), GFP_ATOMIC | __GFP_NOWARN);

	if (!peer)
		return NULL;
	peer->address = *address;
	peer->envelope_old = true;
	peer->used = jiffies;
	peer->hello_due = jiffies;
	refcount_set(&peer->refs, 2);
	spin_lock_init(&peer->lock);
	rp_hello_init(&peer->hello, get_random_u64() | 1);

	spin_lock_bh(&rp->peer_lock);
	if (rp->peer_count >= READ_ONCE(rp->peers_max) ||
	    rhashtable_lookup_insert_fast(&rp->peer_table, &peer->node, peer_params)) {
		spin_unlock_bh(&rp->peer_lock);
		kfree(peer);
		return NULL;
	}
	rp->peer_count++;
	list_add_tail_rcu(&peer->list, &rp->peer_list);
	spin_unlock_bh(&rp->peer_lock);
	return peer;
}

/**
 * rp_peer_get() - a reference to the peer of an address
 * @rp: the device
 * @address: IPv4 mapped
 * @create: make it if it is not there
 *
 * Context: bottom halves off, RCU.
 * Return: the peer, NULL if there is none and none could be made.
 */
struct rp_peer *rp_peer_get(struct rp_device *rp, const struct in6_addr *address, bool create)
{
	struct rp_peer *peer = rhashtable_lookup(&rp->peer_table, address, peer_params);

	if (peer && refcount_inc_not_zero(&peer->refs))
		return peer;
	if (!create)
		return NULL;
	peer = peer_new(rp, address);
	/* another CPU may have been first */
	if (!peer)
		peer = rhashtable_lookup(&rp->peer_table, address, peer_params);
	else
		return peer;
	if (!peer || !refcount_inc_not_zero(&peer->refs)) {
		peer = NULL;
		rp_count(rp, RP_PEERS_REFUSED);
		rp_event_cap(rp, "no room for another peer: raise peers-max");
	}
	return peer;
}

/**
 * rp_peer_put() - give a reference back
 * @peer: may be NULL
 *
 * Context: any.
 */
void rp_peer_put(struct rp_peer *peer)
{
	if (peer && refcount_dec_and_test(&peer->refs))
		kfree_rcu(peer, rcu);
}

/**
 * rp_peer_remove() - forget a peer; QPs may still have it
 * @rp: the device
 * @peer: of its list
 *
 * Context: process.
 */
void rp_peer_remove(struct rp_device *rp, struct rp_peer *peer)
{
	spin_lock_bh(&rp->peer_lock);
	rhashtable_remove_fast(&rp->peer_table, &peer->node, peer_params);
	list_del_rcu(&peer->list);
	rp->peer_count--;
	spin_unlock_bh(&rp->peer_lock);
	WRITE_ONCE(peer->sprayable, false);
	WRITE_ONCE(peer->holds, false);
	rp_peer_put(peer);
}

/**
 * rp_peer_publish() - let packets see what hellos have brought
 * @peer: the peer
 * @now_ns: the time
 *
 * Context: @peer->lock held.
 */
void rp_peer_publish(struct rp_peer *peer, u64 now_ns)
{
	lockdep_assert_held(&peer->lock);
	WRITE_ONCE(peer->sprayable, peer->hello.state == ROCEPATH_PEER_CAPABLE);
	WRITE_ONCE(peer->holds, peer->hello.hold_until_ns > now_ns);
}

/**
 * rp_peer_learn_envelope() - take the headers of a packet that goes to the peer
 * @rp: the device
 * @peer: the peer
 * @skb: the packet, data at the Ethernet header, headers linear
 * @l3: bytes from there to the IP header
 *
 * Context: bottom halves off.
 */
void rp_peer_learn_envelope(struct rp_device *rp, struct rp_peer *peer, const struct sk_buff *skb,
			    u32 l3)
{
	bool ipv4 = skb->data[l3] >> 4 == 4;
	u32 len = l3 + (ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	bool first;

	/* IP options or more tags than one: an older envelope will do */
	if (len > RP_ENVELOPE_MAX || (ipv4 && (skb->data[l3] & 0xf) != 5))
		return;
	spin_lock_bh(&peer->lock);
	first = !peer->envelope.len;
	memcpy(peer->envelope.data, skb->data, len);
	peer->envelope.len = len;
	peer->envelope.l3 = l3;
	peer->envelope.vlan_proto = skb_vlan_tag_present(skb) ? skb->vlan_proto : 0;
	peer->envelope.vlan_tci = skb_vlan_tag_get(skb);
	WRITE_ONCE(peer->envelope_old, false);
	spin_unlock_bh(&peer->lock);
	/* the first hello at once, so that the flow is sprayed soon */
	if (first)
		mod_delayed_work(system_wq, &rp->hello_work, 0);
}

/**
 * rp_peers_init() - of a new device
 * @rp: the device
 *
 * Return: 0 or a negative errno.
 */
int rp_peers_init(struct rp_device *rp)
{
	spin_lock_init(&rp->peer_lock);
	INIT_LIST_HEAD(&rp->peer_list);
	INIT_DELAYED_WORK(&rp->hello_work, rp_control_hello_work);
	return rhashtable_init(&rp->peer_table, &peer_params);
}

/**
 * rp_peers_exit() - of a device that goes; no QP is bound to it any more
 * @rp: the device
 *
 * Context: process.
 */
void rp_peers_exit(struct rp_device *rp)
{
	struct rp_peer *peer, *next;

	cancel_delayed_work_sync(&rp->hello_work);
	list_for_each_entry_safe(peer, next, &rp->peer_list, list)
		rp_peer_remove(rp, peer);
	rhashtable_destroy(&rp->peer_table);
}
