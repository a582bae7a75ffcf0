// SPDX-License-Identifier: GPL-2.0
/*
 * Which routers does a path take? Probes with a hop limit, on the data's 5-tuple;
 * a router where one ends says so by ICMP and quotes it. For `rocepath path
 * discover`, which asks and puts the answers together.
 *
 * ICMP is not authenticated. A quote counts only for a probe that is out, whose
 * number it must know; and what comes of it is shown to the operator, and moves
 * no path's state.
 */
#include "hop.h"

#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rocepath/roce.h>
#include <rocepath/wire.h>

#include "control.h"
#include "device.h"
#include "netlink.h"
#include "peer.h"
#include "probe.h"

/* what is quoted: IPv4 and UDP ports at least, for IPv6 all that we sent */
#define QUOTED_IPV4 (sizeof(struct iphdr) + RP_UDP_LEN)
#define QUOTED_IPV6 (sizeof(struct ipv6hdr) + RP_UDP_LEN + RP_BTH_LEN + sizeof(struct rp_wire) + \
		     sizeof(struct rp_wire_probe))

static u16 hop_new(struct rp_device *rp, const struct rp_peer *peer, struct rp_path path, u8 hops,
		   u32 cookie)
{
	struct rp_hops_out *h = &rp->hops;
	struct rp_hop hop = {
		.peer = peer->address,
		.path = path,
		.hops = hops,
		.id = get_random_u16() | 1,
		.cookie = cookie,
		.sent_ns = ktime_get_ns(),
	};

	spin_lock_bh(&h->lock);
	rp_hops_put(&h->hops, &hop);
	WRITE_ONCE(h->until, jiffies + nsecs_to_jiffies(RP_HOP_LIFE_NS) + 1);
	WRITE_ONCE(h->any, true);
	spin_unlock_bh(&h->lock);
	return hop.id;
}

/* the probe of that number comes to its end */
static bool hop_take(struct rp_device *rp, u16 id, const struct in6_addr *peer, struct rp_hop *hop)
{
	struct rp_hops_out *h = &rp->hops;
	bool found;

	spin_lock_bh(&h->lock);
	found = rp_hops_take(&h->hops, id, peer, ktime_get_ns(), hop);
	spin_unlock_bh(&h->lock);
	return found;
}

/**
 * rp_hop_probe() - send a probe that goes no farther than so many routers
 * @rp: the device
 * @peer: towards whom
 * @path: by which path
 * @hops: the limit
 * @cookie: comes back in the event
 *
 * Context: any but hard irq; RCU.
 * Return: 0, -EBUSY if the device's budget is spent, -ENOTCONN if nothing can be
 * sent to that peer by that path now.
 */
int rp_hop_probe(struct rp_device *rp, struct rp_peer *peer, struct rp_path path, u8 hops,
		 u32 cookie)
{
	struct rp_wire_probe body = {
		.path = cpu_to_be16(path.port << 8 | path.ev),
		.hops = hops,
	};
	bool sent, allowed;
	u16 id;

	local_bh_disable();
	allowed = rp_probe_allowed(rp, ktime_get_ns());
	local_bh_enable();
	if (!allowed)
		return -EBUSY;
	id = hop_new(rp, peer, path, hops, cookie);
	body.cookie = cpu_to_be64(id);
	local_bh_disable();
	sent = rp_control_send_hop(rp, peer, &body, path, hops, id);
	if (sent)
		rp_count(rp, RP_TX_PROBES);
	local_bh_enable();
	return sent ? 0 : -ENOTCONN;
}

/**
 * rp_hop_reached() - a probe with a hop limit was answered by the peer itself
 * @rp: the device
 * @peer: who answered
 * @body: the answer
 *
 * Context: softirq, RCU.
 * Return: false if no such probe is out.
 */
bool rp_hop_reached(struct rp_device *rp, struct rp_peer *peer, const struct rp_wire_probe *body)
{
	struct rp_hop hop;

	if (!hop_take(rp, be64_to_cpu(body->cookie), &peer->address, &hop))
		return false;
	rp_event_hop(rp, &hop, &peer->address);
	return true;
}

static void hop_icmp4(struct rp_device *rp, const struct sk_buff *skb)
{
	u8 buffer[60 + sizeof(struct icmphdr) + QUOTED_IPV4];
	const struct icmphdr *icmp;
	const struct iphdr *ip, *quoted;
	const struct udphdr *udp;
	struct in6_addr peer, router;
	struct rp_hop hop;
	u32 len;

	ip = skb_header_pointer(skb, skb_network_offset(skb), sizeof(*ip), buffer);
	if (!ip || ip->protocol != IPPROTO_ICMP || ip->frag_off & htons(IP_OFFSET | IP_MF))
		return;
	len = ip->ihl * 4 + sizeof(*icmp) + QUOTED_IPV4;
	if (ip->ihl < 5 || len > sizeof(buffer))
		return;
	ip = skb_header_pointer(skb, skb_network_offset(skb), len, buffer);
	if (!ip)
		return;
	icmp = (const struct icmphdr *)((const u8 *)ip + ip->ihl * 4);
	quoted = (const struct iphdr *)(icmp + 1);
	udp = (const struct udphdr *)(quoted + 1);
	if (icmp->type != ICMP_TIME_EXCEEDED || icmp->code != ICMP_EXC_TTL || quoted->ihl != 5 ||
	    quoted->protocol != IPPROTO_UDP || udp->dest != htons(RP_ROCE_PORT))
		return;
	ipv6_addr_set_v4mapped(quoted->daddr, &peer);
	ipv6_addr_set_v4mapped(ip->saddr, &router);
	if (hop_take(rp, ntohs(quoted->id), &peer, &hop))
		rp_event_hop(rp, &hop, &router);
}

static void hop_icmp6(struct rp_device *rp, const struct sk_buff *skb)
{
	u8 buffer[sizeof(struct ipv6hdr) + sizeof(struct icmp6hdr) + QUOTED_IPV6];
	const struct rp_wire_probe *probe;
	const struct ipv6hdr *ip, *quoted;
	const struct icmp6hdr *icmp;
	const struct udphdr *udp;
	struct rp_hop hop;

	ip = skb_header_pointer(skb, skb_network_offset(skb), sizeof(buffer), buffer);
	if (!ip || ip->nexthdr != IPPROTO_ICMPV6)
		return;
	icmp = (const struct icmp6hdr *)(ip + 1);
	quoted = (const struct ipv6hdr *)(icmp + 1);
	udp = (const struct udphdr *)(quoted + 1);
	if (icmp->icmp6_type != ICMPV6_TIME_EXCEED || icmp->icmp6_code != ICMPV6_EXC_HOPLIMIT ||
	    quoted->nexthdr != IPPROTO_UDP || udp->dest != htons(RP_ROCE_PORT))
		return;
	probe = (const struct rp_wire_probe *)((const u8 *)(udp + 1) + RP_BTH_LEN +
					       sizeof(struct rp_wire));
	if (hop_take(rp, be64_to_cpu(probe->cookie), &quoted->daddr, &hop))
		rp_event_hop(rp, &hop, &ip->saddr);
}

/**
 * rp_hop_icmp() - is that a router's answer to a probe?
 * @rp: the device, that has probes with a hop limit out
 * @skb: any packet that is not RoCE; it goes on to the stack in any case
 *
 * Context: softirq, RCU.
 */
void rp_hop_icmp(struct rp_device *rp, struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		hop_icmp4(rp, skb);
	else if (skb->protocol == htons(ETH_P_IPV6))
		hop_icmp6(rp, skb);
}
