// SPDX-License-Identifier: GPL-2.0
/*
 * Control packets: sent in the envelope of data, received ahead of the stack.
 *
 * What they mean is in core/hello.c, how they are made and checked in
 * core/wire.c; here are socket buffers, keys, peers and timers.
 */
#include "control.h"

#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <rocepath/roce.h>

#include "core/hello.h"
#include "core/icrc.h"
#include "device.h"
#include "netlink.h"
#include "peer.h"
#include "port.h"
#include "qp.h"
#include "tx.h"

/* hellos of different peers are spread over this many rounds of the work in one interval */
#define RP_HELLO_ROUNDS 8
/* a peer without QPs, unheard for so many intervals, is forgotten */
#define RP_PEER_IDLE_INTERVALS 60

#define RP_BTH_CONTROL_PKEY 0xffff

/* the addresses of an IP header, as a MAC covers them */
static void control_addrs(const u8 *l3, struct rp_wire_addrs *addrs)
{
	struct in6_addr a;

	if (l3[0] >> 4 == 4) {
		const struct iphdr *ip = (const struct iphdr *)l3;

		ipv6_addr_set_v4mapped(ip->saddr, &a);
		memcpy(addrs->src, &a, sizeof(a));
		ipv6_addr_set_v4mapped(ip->daddr, &a);
		memcpy(addrs->dst, &a, sizeof(a));
	} else {
		const struct ipv6hdr *ip = (const struct ipv6hdr *)l3;

		memcpy(addrs->src, &ip->saddr, sizeof(a));
		memcpy(addrs->dst, &ip->daddr, sizeof(a));
	}
}

static void control_ip(u8 *l3, u16 payload)
{
	if (l3[0] >> 4 == 4) {
		struct iphdr *ip = (struct iphdr *)l3;

		ip->tot_len = htons(sizeof(*ip) + payload);
		ip->id = 0;
		ip->frag_off = htons(IP_DF);
		ip->ttl = 64;
		ip->protocol = IPPROTO_UDP;
		ip_send_check(ip);
	} else {
		struct ipv6hdr *ip = (struct ipv6hdr *)l3;

		ip->payload_len = htons(payload);
		ip->nexthdr = IPPROTO_UDP;
		ip->hop_limit = 64;
	}
}

static void control_bth(u8 *bth)
{
	memset(bth, 0, RP_BTH_LEN);
	bth[0] = RP_OPCODE_CONTROL;
	put_unaligned_be16(RP_BTH_CONTROL_PKEY, bth + 2);
	put_unaligned_be32(RP_WIRE_QPN, bth + 4);
}

/**
 * control_build() - a control packet in a peer's envelope, sealed
 * @rp: the device
 * @e: the envelope
 * @sport: entropy
 * @type: enum rp_wire_type
 * @body: behind struct rp_wire
 * @body_len: bytes of it
 * @seq: number to seal it with
 * @key: to seal it with
 *
 * UDP checksum 0, as rdma_rxe and NICs send it: the ICRC covers the packet.
 *
 * Return: the packet, data at the Ethernet header, or NULL.
 */
static struct sk_buff *control_build(struct rp_device *rp, const struct rp_envelope *e, u16 sport,
				     u8 type, const void *body, u16 body_len, u64 seq,
				     const struct rp_key *key)
{
	u16 payload = RP_UDP_LEN + RP_BTH_LEN + sizeof(struct rp_wire) + body_len + RP_ICRC_LEN;
	u32 headroom = LL_RESERVED_SPACE(rp->dev) + VLAN_HLEN;
	struct rp_wire_addrs addrs;
	struct udphdr *udp;
	struct sk_buff *skb;
	struct rp_roce r;
	u8 *l3;

	skb = alloc_skb(headroom + e->len + payload, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	skb_put_data(skb, e->data, e->len);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, e->l3);
	skb_set_transport_header(skb, e->len);
	skb->protocol = eth_hdr(skb)->h_proto;
	l3 = skb_network_header(skb);
	control_ip(l3, payload);

	udp = skb_put(skb, RP_UDP_LEN);
	udp->source = htons(sport);
	udp->dest = htons(RP_ROCE_PORT);
	udp->len = htons(payload);
	udp->check = 0;
	control_bth(skb_put(skb, RP_BTH_LEN));
	skb_put(skb, sizeof(struct rp_wire));
	skb_put_data(skb, body, body_len);
	control_addrs(l3, &addrs);
	rp_wire_seal((struct rp_wire *)((u8 *)udp + RP_UDP_LEN + RP_BTH_LEN), type, body_len,
		     rp->instance, seq, key, &addrs);

	put_unaligned_le32(0, skb_put(skb, RP_ICRC_LEN));
	if (rp_roce_parse(l3, skb_tail_pointer(skb) - l3, skb_tail_pointer(skb) - l3, &r) !=
	    RP_ROCE_OK) {
		kfree_skb(skb);
		return NULL;
	}
	put_unaligned_le32(rp_icrc(l3, &r), l3 + r.icrc);

	skb->dev = rp->dev;
	if (e->vlan_proto)
		__vlan_hwaccel_put_tag(skb, e->vlan_proto, e->vlan_tci);
	return skb;
}

/* with @stranger not 0, answer that challenge and leave the peer's own alone */
static void control_send_hello(struct rp_device *rp, struct rp_peer *peer, bool reply, u64 stranger)
{
	const struct rp_keyring *ring = rcu_dereference(rp->keyring);
	u64 seq, now = ktime_get_ns();
	struct rp_wire_hello body;
	struct rp_envelope e;
	struct sk_buff *skb;
	struct rp_path path;

	if (!ring)
		return;
	spin_lock_bh(&peer->lock);
	e = peer->envelope;
	if (!e.len) {
		spin_unlock_bh(&peer->lock);
		return;
	}
	seq = rp_hello_fill(&peer->hello, &body, rp_qp_seen(), reply,
			    stranger ? stranger : peer->hello.theirs,
			    READ_ONCE(rp->hello_interval_ms), now);
	rp_peer_publish(peer, now);
	spin_unlock_bh(&peer->lock);
	/* the number turns, so hellos go round the ports and one of them gets through */
	if (!rp_tx_any_path(rp, hash_32((u32)seq, 32), &path))
		return;
	skb = control_build(rp, &e, rp_path_sport(path), RP_WIRE_HELLO, &body, sizeof(body), seq,
			    &ring->keys.key[ring->keys.active]);
	if (skb)
		rp_tx_control(rp, skb, path.port);
}

/* a hello from a peer that we never sent to: answer the way it came */
static void control_reverse_envelope(struct rp_peer *peer, const struct sk_buff *skb, u32 l3,
				     const struct rp_roce *r)
{
	const u8 *mac = skb_mac_header(skb), *from = skb->data + l3;
	u32 l2 = skb->data - mac + l3, ip = r->ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	struct rp_envelope *e = &peer->envelope;

	lockdep_assert_held(&peer->lock);
	if (e->len || l2 + ip > RP_ENVELOPE_MAX || r->udp != ip)
		return;
	memcpy(e->data, mac, l2);
	ether_addr_copy(e->data, mac + ETH_ALEN);
	ether_addr_copy(e->data + ETH_ALEN, mac);
	memcpy(e->data + l2, from, ip);
	if (r->ipv6) {
		struct ipv6hdr *h = (struct ipv6hdr *)(e->data + l2);

		swap(h->saddr, h->daddr);
	} else {
		struct iphdr *h = (struct iphdr *)(e->data + l2);

		swap(h->saddr, h->daddr);
	}
	e->len = l2 + ip;
	e->l3 = l2;
	e->vlan_proto = skb_vlan_tag_present(skb) ? skb->vlan_proto : 0;
	e->vlan_tci = skb_vlan_tag_get(skb);
}

static void control_hello_rx(struct rp_device *rp, struct rp_peer *peer, const struct sk_buff *skb,
			     u32 l3, const struct rp_roce *r, const struct rp_wire *w)
{
	const struct rp_wire_hello *body = (const struct rp_wire_hello *)(w + 1);
	u64 now = ktime_get_ns(), stranger = 0;
	u32 did;

	spin_lock_bh(&peer->lock);
	control_reverse_envelope(peer, skb, l3, r);
	did = rp_hello_rx(&peer->hello, w, body, get_random_u64() | 1, now);
	rp_peer_publish(peer, now);
	spin_unlock_bh(&peer->lock);

	if (did & RP_HELLO_REPLAYED)
		rp_count(rp, RP_RX_CONTROL_REPLAY);
	else if (did & RP_HELLO_UNPROVEN)
		rp_count(rp, RP_RX_CONTROL_UNPROVEN);
	else
		rp_count(rp, RP_RX_CONTROL_OK);
	if (did & RP_HELLO_RESTARTED) {
		rp_count(rp, RP_PEERS_RESTARTED);
		rp_event_peer(rp, &peer->address, ROCEPATH_EVENT_PEER_RESTART, "another instance");
	}
	if (did & RP_HELLO_CAME)
		rp_event_peer(rp, &peer->address, ROCEPATH_EVENT_PEER_HELLO, "it restores order");
	if (did & RP_HELLO_UNPROVEN)
		stranger = be64_to_cpu(body->challenge);
	if (did & RP_HELLO_REPLY)
		control_send_hello(rp, peer, true, stranger);
}

static const enum rp_count verdict_count[] = {
	[RP_WIRE_MALFORMED] = RP_RX_CONTROL_MALFORMED,
	[RP_WIRE_VERSION_UNKNOWN] = RP_RX_CONTROL_VERSION,
	[RP_WIRE_KEY_UNKNOWN] = RP_RX_CONTROL_KEY,
	[RP_WIRE_MAC_WRONG] = RP_RX_CONTROL_MAC,
};

/**
 * rp_control_rx() - a control packet arrived
 * @rp: the device
 * @skb: the packet, linear up to the ICRC; stays the caller's
 * @l3: bytes from its data to the IP header
 * @r: parsed
 *
 * Each is counted once, by what became of it.
 *
 * Context: softirq, RCU.
 */
void rp_control_rx(struct rp_device *rp, const struct sk_buff *skb, u32 l3, const struct rp_roce *r)
{
	const struct rp_keyring *ring = rcu_dereference(rp->keyring);
	const u8 *ip = skb->data + l3;
	const struct rp_wire *w = (const struct rp_wire *)(ip + r->bth + RP_BTH_LEN);
	u32 len = r->icrc - r->bth - RP_BTH_LEN;
	static const struct rp_keys no_keys;
	enum rp_wire_verdict verdict;
	struct rp_wire_addrs addrs;
	struct in6_addr from;
	struct rp_peer *peer;

	control_addrs(ip, &addrs);
	verdict = rp_wire_check(w, len, ring ? &ring->keys : &no_keys, &addrs);
	if (verdict != RP_WIRE_OK) {
		rp_count(rp, verdict_count[verdict]);
		return;
	}
	if (w->type != RP_WIRE_HELLO) {
		rp_count(rp, RP_RX_CONTROL_TYPE);
		return;
	}
	if (be16_to_cpu(w->body_len) < sizeof(struct rp_wire_hello)) {
		rp_count(rp, RP_RX_CONTROL_MALFORMED);
		return;
	}
	memcpy(&from, addrs.src, sizeof(from));
	peer = rp_peer_get(rp, &from, true);
	if (!peer) {
		rp_count(rp, RP_RX_CONTROL_PEER);
		return;
	}
	control_hello_rx(rp, peer, skb, l3, r, w);
	rp_peer_put(peer);
}

/* one peer in one round of the work. Return: true if it is to be forgotten */
static bool control_visit(struct rp_device *rp, struct rp_peer *peer, unsigned long interval)
{
	u64 now = ktime_get_ns();
	bool lost, ready;

	spin_lock_bh(&peer->lock);
	lost = rp_hello_poll(&peer->hello, now);
	ready = peer->envelope.len;
	rp_peer_publish(peer, now);
	spin_unlock_bh(&peer->lock);
	if (lost) {
		local_bh_disable();
		rp_count(rp, RP_PEERS_LOST);
		local_bh_enable();
		rp_event_peer(rp, &peer->address, ROCEPATH_EVENT_PEER_LOST, "its hellos stopped");
	}
	if (time_after(jiffies, READ_ONCE(peer->used) + RP_PEER_IDLE_INTERVALS * interval))
		return refcount_read(&peer->refs) == 1;
	if (!ready || time_before(jiffies, peer->hello_due))
		return false;
	/* spread over the interval, so that peers which came together part */
	peer->hello_due = jiffies + interval - interval / 4 + get_random_u32() % (interval / 4 + 1);
	WRITE_ONCE(peer->envelope_old, true);
	local_bh_disable();
	control_send_hello(rp, peer, false, 0);
	local_bh_enable();
	return false;
}

/**
 * rp_control_rekeyed() - the keys of a device have changed
 * @rp: the device
 * @ring: the new ones, NULL: there are none
 *
 * Hellos with the new key go out at once. Without a key nothing is sprayed from
 * now on; what peers may still spray to us is kept in order all the same.
 *
 * Context: RTNL.
 */
void rp_control_rekeyed(struct rp_device *rp, const struct rp_keyring *ring)
{
	u64 now = ktime_get_ns();
	struct rp_peer *peer;

	rcu_read_lock();
	list_for_each_entry_rcu(peer, &rp->peer_list, list) {
		spin_lock_bh(&peer->lock);
		if (!ring)
			rp_hello_forget(&peer->hello, get_random_u64() | 1);
		peer->hello_due = jiffies;
		rp_peer_publish(peer, now);
		spin_unlock_bh(&peer->lock);
	}
	rcu_read_unlock();
	if (netif_running(rp->dev))
		mod_delayed_work(system_wq, &rp->hello_work, 0);
}

/**
 * rp_control_hello_work() - send the hellos that are due, note who fell silent
 * @work: of a device
 *
 * Context: workqueue.
 */
void rp_control_hello_work(struct work_struct *work)
{
	struct rp_device *rp = container_of(to_delayed_work(work), struct rp_device, hello_work);
	unsigned long interval = max(msecs_to_jiffies(READ_ONCE(rp->hello_interval_ms)), 1UL);
	struct rp_peer *peer, *idle;

	do {
		idle = NULL;
		rcu_read_lock();
		list_for_each_entry_rcu(peer, &rp->peer_list, list) {
			if (control_visit(rp, peer, interval)) {
				idle = peer;
				break;
			}
		}
		rcu_read_unlock();
		/* only this work and the end of the device, which waits for it, take peers out */
		if (idle)
			rp_peer_remove(rp, idle);
		cond_resched();
	} while (idle);
	if (netif_running(rp->dev))
		queue_delayed_work(system_wq, &rp->hello_work,
				   max(interval / RP_HELLO_ROUNDS, 1UL));
}
