// SPDX-License-Identifier: GPL-2.0
/*
 * Sending: which path, its entropy value, out of the port.
 *
 *   ARP, ND          a copy out of every port that is up
 *   RoCEv2           the scheduler's path, if it carries data of a known QP to
 *                    a peer that restores order; else the flow's one path
 *   anything else    by L3+L4 hash
 *
 * Runs with bottom halves off, under RCU, without a lock; what is written for a
 * packet belongs to its flow or its CPU.
 */
#include "tx.h"

#include <linux/bitops.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/icmpv6.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include <net/ndisc.h>
#include <net/sock.h>

#include "core/icrc.h"
#include "device.h"
#include "flow.h"
#include "parse.h"
#include "path.h"
#include "peer.h"
#include "port.h"
#include "qp.h"
#include "repair.h"
#include "tick.h"
#include "trace.h"

static struct rp_icrc_table *icrc_table;

/* hand it to the port: from here on it is the port's, counted there */
static void tx_port(struct rp_port *port, struct sk_buff *skb)
{
	unsigned int len = skb->len;
	int ret;

	skb->dev = port->dev;
	ret = dev_queue_xmit(skb);
	if (likely(ret == NET_XMIT_SUCCESS || ret == NET_XMIT_CN))
		rp_stats_packet(port->stats, RP_PORT_TX_PACKETS, RP_PORT_TX_BYTES, len);
	else
		rp_stats_add(port->stats, RP_PORT_TX_DROPPED, 1);
}

static struct rp_port *tx_usable(const struct rp_ports *ports, u8 index)
{
	struct rp_port *port = READ_ONCE(ports->port[index]);

	return port && rp_port_has_carrier(port) ? port : NULL;
}

/*
 * The port that was picked, or, if it lost its carrier since the table was
 * made, another one that has it: those of the table first, then any.
 */
static struct rp_port *tx_working_port(struct rp_device *rp, const struct rp_ports *ports, u8 index,
				       u32 hash)
{
	struct rp_port *port = tx_usable(ports, index);
	u32 i;

	if (likely(port))
		return port;
	/* the notifier may be a while behind; what was on that port is to be repaired now */
	if (ports->port[index])
		rp_port_look(rp);
	for (i = 0; i < RP_PATHS_BUCKETS; i++) {
		port = tx_usable(ports, ports->paths.bucket[(hash + i) % RP_PATHS_BUCKETS]);
		if (port)
			goto found;
	}
	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		port = tx_usable(ports, i);
		if (port)
			goto found;
	}
	return NULL;
found:
	rp_count(rp, RP_TX_REROUTED);
	trace_rocepath_reroute(rp->dev, index, port->index);
	return port;
}

static void tx_drop(struct rp_device *rp, struct sk_buff *skb, enum rp_count why)
{
	rp_count(rp, why);
	kfree_skb(skb);
}

/*
 * Another UDP source port: the ICRC covers it, the UDP checksum covers both.
 * Only bytes that are ours alone are written: the head is made private first,
 * and the tail is pulled into it where it is in fragments that others may have.
 */
static bool tx_set_sport(struct sk_buff *skb, u32 l3, const struct rp_roce *r, u16 sport)
{
	u32 icrc_at = l3 + r->icrc;
	__be16 from, to = htons(sport);
	struct udphdr *udp;
	__le32 icrc, before;
	u32 writable;

	from = ((struct udphdr *)(skb->data + l3 + r->udp))->source;
	if (from == to)
		return true;
	writable = l3 + r->udp + RP_UDP_LEN;
	if (icrc_at + RP_ICRC_LEN <= skb_headlen(skb) || skb_cloned(skb) ||
	    skb_has_shared_frag(skb))
		writable = icrc_at + RP_ICRC_LEN;
	if (skb_ensure_writable(skb, writable))
		return false;
	if (skb_copy_bits(skb, icrc_at, &before, sizeof(before)))
		return false;
	icrc = before ^
	       cpu_to_le32(rp_icrc_delta(icrc_table, ntohs(from) ^ sport, r->icrc - r->udp - 2));
	if (skb_store_bits(skb, icrc_at, &icrc, sizeof(icrc)))
		return false;
	udp = (struct udphdr *)(skb->data + l3 + r->udp);
	udp->source = to;
	/* a partial one is only of the pseudo header: the port's hardware adds up the rest */
	if (udp->check && skb->ip_summed != CHECKSUM_PARTIAL) {
		const __be16 *old = (const __be16 *)&before, *new = (const __be16 *)&icrc;

		udp->check = rp_csum_replace2(udp->check, from, to);
		udp->check = rp_csum_replace2(udp->check, old[0], new[0]);
		udp->check = rp_csum_replace2(udp->check, old[1], new[1]);
	}
	return true;
}

/* another IPv6 flow label: nothing covers it */
static bool tx_set_flowlabel(struct sk_buff *skb, u32 l3, u32 label)
{
	struct ipv6hdr *ip;

	if (skb_ensure_writable(skb, l3 + sizeof(*ip)))
		return false;
	ip = (struct ipv6hdr *)(skb->data + l3);
	*(__be32 *)ip = (*(__be32 *)ip & ~IPV6_FLOWLABEL_MASK) | htonl(label);
	return true;
}

static void tx_set_entropy(struct rp_device *rp, struct sk_buff *skb, u32 l3,
			   const struct rp_roce *r, struct rp_path path)
{
	u32 entropy = READ_ONCE(rp->entropy);
	bool done = true;

	if (entropy == ROCEPATH_ENTROPY_FLOWLABEL && r->ipv6)
		done = tx_set_flowlabel(skb, l3, rp_path_flowlabel(path));
	else if (entropy != ROCEPATH_ENTROPY_KEEP)
		done = tx_set_sport(skb, l3, r, rp_path_sport(path));
	/* no memory: it keeps the EV that it has, and goes */
	if (unlikely(!done))
		rp_count(rp, RP_TX_EV_KEPT);
}

static const struct rp_sched_ops *tx_sched(const struct rp_device *rp, u32 mark)
{
	u32 mask = READ_ONCE(rp->mark_mask);
	const struct rp_sched_ops *sched = NULL;

	if (mask) {
		u32 class = (mark & mask) >> __ffs(mask);

		if (class < ROCEPATH_CLASSES)
			sched = READ_ONCE(rp->class_sched[class]);
	}
	return sched ? sched : READ_ONCE(rp->sched);
}

static enum rp_space tx_space(enum rp_kind kind)
{
	return kind == RP_KIND_DATA || kind == RP_KIND_READ || kind == RP_KIND_ATOMIC ?
		       RP_REQUESTS :
		       RP_RESPONSES;
}

/*
 * Is it from the RDMA stack? Any local user can send UDP to 4791; only the
 * kernel's own sockets speak for a QP, above all its ACKs and NAKs.
 */
static bool tx_from_kernel(const struct sk_buff *skb)
{
	return skb->sk && sk_fullsock(skb->sk) && skb->sk->sk_kern_sock;
}

/* the QP that sends this, if it is one that we know and that belongs to this device */
static struct rp_qp *tx_qp(struct rp_device *rp, const struct sk_buff *skb, const struct rp_roce *r,
			   const struct in6_addr *to)
{
	struct rp_qp *qp;

	if (!tx_from_kernel(skb))
		return NULL;
	if (r->kind == RP_KIND_DATAGRAM || r->kind == RP_KIND_CNP || r->kind == RP_KIND_OTHER ||
	    r->kind == RP_KIND_CONTROL)
		return NULL;
	qp = rp_qp_by_remote(to, r->qpn);
	return qp && rp_qp_bind(qp, rp) ? qp : NULL;
}

/* packets with data gain by all paths, and the receiver's window orders them */
static bool tx_sprays(const struct rp_sched_ops *sched, const struct rp_peer *peer,
		      const struct rp_roce *r)
{
	return sched->sprays && READ_ONCE(peer->sprayable) &&
	       (r->kind == RP_KIND_DATA || r->kind == RP_KIND_RESPONSE);
}

/* what the receiver's window puts in order can be repaired below the QP; UC has no repair */
static bool tx_is_kept(const struct rp_qp *qp, enum rp_kind kind)
{
	return qp->type == ROCEPATH_QP_RC && (kind == RP_KIND_DATA || kind == RP_KIND_READ ||
					      kind == RP_KIND_ATOMIC || kind == RP_KIND_RESPONSE);
}

/* a packet of a QP to a peer that has paths of its own: RP_PATHSET_NONE if none is usable */
static u16 tx_pick(struct rp_device *rp, const struct rp_pathset *set, const struct sk_buff *skb,
		   const struct rp_roce *r, struct rp_qp *qp, const struct rp_peer *peer, u64 now)
{
	const struct rp_sched_ops *sched = tx_sched(rp, skb->mark);
	struct rp_sched_flow *flow = &qp->tx[tx_space(r->kind)];
	bool sprays = tx_sprays(sched, peer, r);
	u16 index;

	index = sprays ? sched->pick(set, flow, skb->len, now) : rp_pathset_pin(set, flow->hash);
	if (unlikely(index == RP_PATHSET_NONE))
		return index;
	if (sprays)
		WRITE_ONCE(qp->tx_sprayed, qp->tx_sprayed + 1);
	rp_count(rp, sprays ? RP_TX_SPRAYED : RP_TX_PINNED);
	return index;
}

/* Return: the port, NULL if none works; then the packet is dropped */
static struct rp_port *tx_by_path(struct rp_device *rp, struct rp_ports *ports, struct sk_buff *skb,
				  u32 l3, const struct rp_roce *r, struct rp_path path, u32 hash)
{
	struct rp_port *port = tx_working_port(rp, ports, path.port, hash);

	if (unlikely(!port)) {
		tx_drop(rp, skb, RP_TX_DROP_NO_PORT);
		return NULL;
	}
	trace_rocepath_pick(rp->dev, r->qpn, r->psn, port->index, path.ev);
	path.port = port->index;
	tx_set_entropy(rp, skb, l3, r, path);
	rp_gateway_direct(rp, port, skb);
	return port;
}

/* no departure is later than that; a later one is by another clock (fq's horizon is 10 s) */
#define RP_DEPARTURE_MAX_NS (60ull * NSEC_PER_SEC)

/* when it leaves: what waits in the port's queue for its departure is not on the path yet */
static u64 tx_departure(const struct sk_buff *skb, u64 now)
{
	u64 waits = skb->tstamp > now ? skb->tstamp - now : 0;

	return waits < RP_DEPARTURE_MAX_NS ? now + waits : now;
}

/* by one of the peer's own paths. Return: false if all of them are down */
static bool tx_by_own_path(struct rp_device *rp, struct rp_ports *ports, struct sk_buff *skb,
			   u32 l3, const struct rp_roce *r, struct rp_qp *qp, struct rp_peer *peer)
{
	const struct rp_peer_paths *paths = rcu_dereference(peer->paths);
	struct rp_pathset_entry *e;
	u64 now = ktime_get_ns(), sent;
	struct rp_port *port;
	u16 index;

	index = tx_pick(rp, paths->set, skb, r, qp, peer, now);
	if (unlikely(index == RP_PATHSET_NONE))
		return false;
	e = &paths->set->entry[index];
	port = tx_by_path(rp, ports, skb, l3, r, e->path, qp->tx[tx_space(r->kind)].hash);
	if (unlikely(!port))
		return true;
	/* its port has just failed: another port's path of the same EV is what it goes by */
	if (unlikely(port->index != e->path.port))
		index = rp_pathset_find(paths->set, (struct rp_path){ port->index, e->path.ev });
	if (likely(READ_ONCE(peer->reports) && index != RP_PATHSET_NONE)) {
		sent = tx_departure(skb, now);
		rp_tick_wake(qp, peer);
		rp_health_sent(&paths->set->entry[index].health, sent);
		if (tx_is_kept(qp, r->kind))
			rp_repair_keep(qp, tx_space(r->kind), peer, paths, skb, r, index,
				       sent);
		else if (r->kind == RP_KIND_ACK)
			rp_ack_sent(qp, skb, l3, r, index);
		/* a response acknowledges all before it */
		if (r->kind == RP_KIND_RESPONSE && READ_ONCE(qp->last_ack.again))
			WRITE_ONCE(qp->last_ack.again, 0);
	} else if (tx_is_kept(qp, r->kind)) {
		rp_repair_pass(qp, tx_space(r->kind), r);
	}
	tx_port(port, skb);
	return true;
}

/* the peer whose packets go by paths of their own, NULL: by the ports' */
static struct rp_peer *tx_qp_sends(struct rp_device *rp, const struct sk_buff *skb, u32 l3,
				   const struct rp_roce *r, struct rp_qp *qp)
{
	struct rp_peer *peer = rcu_dereference(qp->peer);

	WRITE_ONCE(qp->tx_packets, qp->tx_packets + 1);
	WRITE_ONCE(qp->tx_bytes, qp->tx_bytes + skb->len);
	rp_flow_sent(qp, r);
	if (!peer)
		return NULL;
	rp_peer_used(peer);
	if (unlikely(READ_ONCE(peer->envelope_old)))
		rp_peer_learn_envelope(rp, peer, skb, l3);
	return READ_ONCE(peer->sprayable) && rcu_access_pointer(peer->paths) ? peer : NULL;
}

static void tx_roce(struct rp_device *rp, struct rp_ports *ports, struct sk_buff *skb, u32 l3,
		    const struct rp_roce *r)
{
	struct rp_peer *peer = NULL;
	struct rp_port *port;
	struct in6_addr to;
	struct rp_qp *qp;
	u32 hash;

	rp_count(rp, RP_TX_ROCE);
	rp_parse_addresses(skb->data + l3, r->ipv6, NULL, &to);
	qp = tx_qp(rp, skb, r, &to);
	if (qp) {
		peer = tx_qp_sends(rp, skb, l3, r, qp);
		if (peer && likely(tx_by_own_path(rp, ports, skb, l3, r, qp, peer)))
			return;
		hash = qp->tx[tx_space(r->kind)].hash;
		if (peer)
			rp_count(rp, RP_TX_FALLBACK);
		if (tx_is_kept(qp, r->kind))
			rp_repair_pass(qp, tx_space(r->kind), r);
	} else {
		hash = jhash2((const u32 *)&to, 4, r->qpn);
	}
	rp_count(rp, RP_TX_PINNED);
	port = tx_by_path(rp, ports, skb, l3, r, rp_sched_pin(&ports->paths, hash), hash);
	if (likely(port))
		tx_port(port, skb);
}

/* one plane's switches and hosts must not have to learn from another plane */
static bool tx_is_flooded(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip;
	const struct icmp6hdr *icmp;
	struct ipv6hdr ip_copy;
	struct icmp6hdr icmp_copy;
	__be16 proto;
	u32 l3;

	proto = rp_parse_l3(skb, ETH_HLEN, eth_hdr(skb)->h_proto, &l3);
	if (proto == htons(ETH_P_ARP))
		return true;
	if (proto != htons(ETH_P_IPV6))
		return false;
	ip = skb_header_pointer(skb, l3, sizeof(ip_copy), &ip_copy);
	if (!ip || ip->nexthdr != IPPROTO_ICMPV6)
		return false;
	icmp = skb_header_pointer(skb, l3 + sizeof(*ip), sizeof(icmp_copy), &icmp_copy);
	return icmp && icmp->icmp6_type >= NDISC_ROUTER_SOLICITATION &&
	       icmp->icmp6_type <= NDISC_REDIRECT;
}

static void tx_flood(struct rp_device *rp, struct rp_ports *ports, struct sk_buff *skb)
{
	struct rp_port *last = NULL, *port;
	struct sk_buff *copy;
	int i;

	rp_count(rp, RP_TX_HASHED);
	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		port = tx_usable(ports, i);
		if (!port)
			continue;
		if (last) {
			copy = skb_clone(skb, GFP_ATOMIC);
			if (copy) {
				rp_count(rp, RP_TX_FLOOD_COPIES);
				tx_port(last, copy);
			}
		}
		last = port;
	}
	if (last)
		tx_port(last, skb);
	else
		tx_drop(rp, skb, RP_TX_DROP_NO_PORT);
}

static void tx_hashed(struct rp_device *rp, struct rp_ports *ports, struct sk_buff *skb)
{
	u32 hash = skb_get_hash(skb);
	struct rp_port *port = NULL;

	rp_count(rp, RP_TX_HASHED);
	if (likely(ports->paths.ports_up))
		port = tx_working_port(rp, ports, ports->paths.bucket[hash % RP_PATHS_BUCKETS],
				       hash);
	if (unlikely(!port)) {
		tx_drop(rp, skb, RP_TX_DROP_NO_PORT);
		return;
	}
	rp_gateway_direct(rp, port, skb);
	tx_port(port, skb);
}

/**
 * rp_tx() - ndo_start_xmit
 * @skb: the packet, data at the Ethernet header
 * @dev: a device of ours
 *
 * skb->tstamp, the departure time that tc may have set, goes on to the port's
 * queue as it is.
 *
 * Context: bottom halves off.
 */
netdev_tx_t rp_tx(struct sk_buff *skb, struct net_device *dev)
{
	struct rp_device *rp = netdev_priv(dev);
	enum rp_roce_verdict verdict = RP_ROCE_NOT;
	struct rp_ports *ports;
	struct rp_roce r;
	u32 l3;

	/* the stack's is RCU-bh, which RCU's own checks do not take for RCU */
	rcu_read_lock();
	ports = rcu_dereference(rp->ports);
	rp_stats_packet(rp->stats, RP_TX_PACKETS, RP_TX_BYTES, skb->len);
	/* an aggregate is no RoCE packet, whatever its port: it is cut up below */
	if (!skb_is_gso(skb))
		verdict = rp_parse(skb, ETH_HLEN, eth_hdr(skb)->h_proto, &r, &l3);
	if (unlikely(verdict == RP_ROCE_MALFORMED))
		rp_count(rp, RP_TX_MALFORMED);

	if (verdict == RP_ROCE_OK && likely(ports->paths.ports_up))
		tx_roce(rp, ports, skb, l3, &r);
	else if (tx_is_flooded(skb))
		tx_flood(rp, ports, skb);
	else
		tx_hashed(rp, ports, skb);
	rcu_read_unlock();
	return NETDEV_TX_OK;
}

/**
 * rp_tx_any_path() - a path that works now, for a control packet
 * @rp: the device
 * @hash: which one
 * @path: filled in
 *
 * Context: bottom halves off, RCU.
 * Return: false if there is none.
 */
bool rp_tx_any_path(struct rp_device *rp, u32 hash, struct rp_path *path)
{
	struct rp_ports *ports = rcu_dereference(rp->ports);
	struct rp_port *port;

	if (!ports->paths.ports_up)
		return false;
	*path = rp_sched_pin(&ports->paths, hash);
	port = tx_working_port(rp, ports, path->port, hash);
	if (!port)
		return false;
	path->port = port->index;
	return true;
}

/**
 * rp_tx_made() - send a packet that was made here
 * @rp: the device
 * @skb: the packet
 * @index: of the port
 * @count: of the device that it is counted as
 *
 * Context: bottom halves off, RCU.
 * Return: true if a port took it.
 */
bool rp_tx_made(struct rp_device *rp, struct sk_buff *skb, u8 index, enum rp_count count)
{
	struct rp_port *port = tx_usable(rcu_dereference(rp->ports), index);

	if (!port) {
		kfree_skb(skb);
		return false;
	}
	rp_count(rp, count);
	rp_gateway_direct(rp, port, skb);
	tx_port(port, skb);
	return true;
}

/**
 * rp_tx_repair() - send a copy of a lost packet
 * @rp: the device
 * @skb: the copy, as the lost one was sent, ours alone
 * @path: to go by
 *
 * Context: bottom halves off, RCU.
 */
void rp_tx_repair(struct rp_device *rp, struct sk_buff *skb, struct rp_path path)
{
	struct rp_roce r;
	u32 l3;

	if (rp_parse(skb, ETH_HLEN, eth_hdr(skb)->h_proto, &r, &l3) != RP_ROCE_OK) {
		kfree_skb(skb);
		return;
	}
	/* the ICRC does not cover it */
	skb->data[l3 + r.bth + RP_BTH_FLAGS] |= RP_BTH_REPAIR;
	/* when it was due first is long ago */
	skb->tstamp = 0;
	tx_set_entropy(rp, skb, l3, &r, path);
	rp_tx_made(rp, skb, path.port, RP_TX_REPAIRED);
}

/**
 * rp_tx_init() - make the ICRC table
 *
 * Return: 0 or -ENOMEM.
 */
int rp_tx_init(void)
{
	icrc_table = kvmalloc(sizeof(*icrc_table), GFP_KERNEL);
	if (!icrc_table)
		return -ENOMEM;
	rp_icrc_table_init(icrc_table);
	return 0;
}

/** rp_tx_exit() - free it. */
void rp_tx_exit(void)
{
	kvfree(icrc_table);
}
