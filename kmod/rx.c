// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving: what comes in on a port goes up as if it had come in on the device.
 *
 *   our own frames, looped back by a switch     dropped
 *   control packets                             control.c, never the stack
 *   RoCEv2 requests and responses with data     their flow's window, flow.c
 *   all else: ACK, NAK, CNP, UD, QP1, other     straight on
 */
#include "rx.h"

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/unaligned.h>
#include <net/gso.h>
#include <net/ip.h>

#include "core/icrc.h"
#include "device.h"
#include "flow.h"
#include "control.h"
#include "heard.h"
#include "parse.h"
#include "peer.h"
#include "port.h"
#include "qp.h"
#include "repair.h"
#include "tick.h"

/**
 * rp_rx_deliver() - give a packet to the stack
 * @rp: the device, skb->dev is it already
 * @skb: the packet
 *
 * Context: softirq; no lock held, for the stack may answer from here.
 */
void rp_rx_deliver(struct rp_device *rp, struct sk_buff *skb)
{
	if (unlikely(!netif_running(rp->dev))) {
		rp_count(rp, RP_RX_DROP_DOWN);
		kfree_skb(skb);
		return;
	}
	rp_stats_packet(rp->stats, RP_RX_PACKETS, RP_RX_BYTES, skb->len);
	netif_receive_skb(skb);
}

static bool rx_is_ordered(enum rp_kind kind)
{
	return kind == RP_KIND_DATA || kind == RP_KIND_READ || kind == RP_KIND_ATOMIC ||
	       kind == RP_KIND_RESPONSE;
}

/* they never wait */
static bool rx_is_answer(enum rp_kind kind)
{
	return kind == RP_KIND_ACK || kind == RP_KIND_NAK;
}

/*
 * The peer reports and repairs, and so do we for it.
 *
 * Return: what it is to the QP; data is news to it.
 */
static enum rp_answer rx_of_reporter(const struct sk_buff *skb, u32 l3, const struct rp_roce *r,
				     struct rp_qp *qp, struct rp_peer *peer)
{
	enum rp_answer answer;

	rp_tick_wake(qp, peer);
	if (!rx_is_answer(r->kind) && r->kind != RP_KIND_RESPONSE)
		return RP_ANSWER_NEWS;
	answer = rp_repair_answered(qp, r);
	/* a response counts when its window takes it */
	if (answer == RP_ANSWER_NEWS && rx_is_answer(r->kind))
		rp_heard(peer, skb, l3, r, RP_LATE_UNKNOWN);
	return answer;
}

/* Return: true if its flow took it */
static bool rx_flow(struct rp_device *rp, struct sk_buff *skb, u32 l3, const struct rp_roce *r)
{
	struct rp_peer *peer;
	struct in6_addr from;
	struct rp_qp *qp;

	if (!rx_is_ordered(r->kind) && !rx_is_answer(r->kind))
		goto unknown;
	rp_parse_addresses(skb->data + l3, r->ipv6, &from, NULL);
	qp = rp_qp_by_local(&from, r->qpn);
	if (!qp || !rp_qp_bind(qp, rp))
		goto unknown;
	peer = rcu_dereference(qp->peer);
	if (peer)
		rp_peer_used(peer);
	if (peer && READ_ONCE(peer->reports)) {
		enum rp_answer answer = rx_of_reporter(skb, l3, r, qp, peer);

		if (answer == RP_ANSWER_STALE || answer == RP_ANSWER_EARLY) {
			rp_count(rp, answer == RP_ANSWER_STALE ? RP_RX_DROP_ACK_STALE :
				 RP_RX_DROP_ACK_EARLY);
			kfree_skb(skb);
			return true;
		}
	}
	if (!rx_is_ordered(r->kind)) {
		rp_count(rp, RP_RX_ANSWERS);
		return false;
	}
	/* the EV differs from packet to packet: steer by the flow, or RPS undoes the order */
	skb_set_hash(skb, qp->tx[RP_REQUESTS].hash, PKT_HASH_TYPE_L4);
	rp_flow_rx(&qp->rx[r->kind == RP_KIND_RESPONSE ? RP_RESPONSES : RP_REQUESTS], rp, skb, l3,
		   r, peer);
	return true;

unknown:
	rp_count(rp, RP_RX_PASSED_UNKNOWN);
	return false;
}

/* Return: true if the packet was consumed */
static bool rx_packet(struct rp_device *rp, struct sk_buff *skb)
{
	struct rp_roce r;
	u32 l3;

	switch (rp_parse(skb, 0, skb->protocol, &r, &l3)) {
	case RP_ROCE_OK:
		break;
	case RP_ROCE_MALFORMED:
		/* rdma_rxe up to 6.12 at least crashes of those that are shorter than a BTH */
		rp_count(rp, RP_RX_DROP_MALFORMED);
		kfree_skb(skb);
		return true;
	default:
		if (unlikely(rp_hops_awaited(&rp->hops)))
			rp_hop_icmp(rp, skb);
		return false;
	}
	rp_count(rp, RP_RX_ROCE);
	if (unlikely(r.kind == RP_KIND_CONTROL)) {
		if (pskb_may_pull(skb, l3 + r.icrc + RP_ICRC_LEN))
			rp_control_rx(rp, skb, l3, &r);
		else
			rp_count(rp, RP_RX_CONTROL_MALFORMED);
		consume_skb(skb);
		return true;
	}
	return rx_flow(rp, skb, l3, &r);
}

/*
 * Segmentation numbers the IPv4 packets on from the first one's id, but the
 * sender may have given all the same (with DF that is allowed), and the ICRC
 * covers it. So it tells which it was.
 */
static void rx_restore_id(struct sk_buff *skb, __be16 first)
{
	struct rp_roce r;
	struct iphdr *ip;
	__be16 numbered;
	u32 l3, wire;

	if (skb_linearize(skb) || rp_parse(skb, 0, skb->protocol, &r, &l3) != RP_ROCE_OK || r.ipv6)
		return;
	wire = get_unaligned_le32(skb->data + l3 + r.icrc);
	if (rp_icrc(skb->data + l3, &r) == wire)
		return;
	/* segments of a list may be clones: who looks at the port has them, too */
	if (skb_ensure_writable(skb, l3 + sizeof(*ip)))
		return;
	ip = (struct iphdr *)(skb->data + l3);
	numbered = ip->id;
	ip->id = first;
	if (rp_icrc(skb->data + l3, &r) == wire)
		ip_send_check(ip);
	else
		ip->id = numbered;
}

/* receive offloads may have glued RoCE packets together: take them apart again */
static void rx_aggregate(struct rp_device *rp, struct sk_buff *skb)
{
	__be16 id = skb->protocol == htons(ETH_P_IP) ? ip_hdr(skb)->id : 0;
	struct sk_buff *segs, *next;
	unsigned int n = 0;

	skb_push(skb, skb->data - skb_mac_header(skb));
	segs = skb_gso_segment(skb, 0);
	if (IS_ERR_OR_NULL(segs)) {
		rp_count(rp, RP_RX_DROP_GSO);
		kfree_skb(skb);
		return;
	}
	consume_skb(skb);
	for (; segs; segs = next) {
		next = segs->next;
		skb_mark_not_on_list(segs);
		skb_pull(segs, skb_network_offset(segs));
		n++;
		rx_restore_id(segs, id);
		if (!rx_packet(rp, segs))
			rp_rx_deliver(rp, segs);
	}
	rp_stats_add(rp->stats, RP_RX_GSO_SEGMENTS, n - 1);
}

static bool rx_is_roce_aggregate(const struct sk_buff *skb)
{
	return skb_is_gso(skb) && skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4;
}

/**
 * rp_rx_handler() - what a port received
 * @pskb: the packet
 *
 * Context: softirq, RCU.
 */
rx_handler_result_t rp_rx_handler(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct rp_port *port;
	struct rp_device *rp;

	if (unlikely(skb->pkt_type == PACKET_LOOPBACK))
		return RX_HANDLER_PASS;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (unlikely(!skb))
		return RX_HANDLER_CONSUMED;
	*pskb = skb;
	port = rp_port_get_rcu(skb->dev);
	rp = port->rp;
	rp_stats_packet(port->stats, RP_PORT_RX_PACKETS, RP_PORT_RX_BYTES, skb->len);

	if (unlikely(ether_addr_equal(eth_hdr(skb)->h_source, rp->dev->dev_addr))) {
		rp_count(rp, RP_RX_DROP_OWN);
		kfree_skb(skb);
		return RX_HANDLER_CONSUMED;
	}
	if (unlikely(!netif_running(rp->dev))) {
		rp_count(rp, RP_RX_DROP_DOWN);
		kfree_skb(skb);
		return RX_HANDLER_CONSUMED;
	}
	skb->dev = rp->dev;
	if (unlikely(rx_is_roce_aggregate(skb))) {
		rx_aggregate(rp, skb);
		return RX_HANDLER_CONSUMED;
	}
	if (rx_packet(rp, skb))
		return RX_HANDLER_CONSUMED;
	rp_stats_packet(rp->stats, RP_RX_PACKETS, RP_RX_BYTES, skb->len);
	return RX_HANDLER_ANOTHER;
}
