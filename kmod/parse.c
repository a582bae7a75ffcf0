// SPDX-License-Identifier: GPL-2.0
/* From a socket buffer, of which only the Ethernet header need be linear, to the pure parser. */
#include "parse.h"

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ipv6.h>

/* 802.1Q inside 802.1ad; more tags than that are not RoCE's */
#define RP_VLAN_DEPTH 2

/* is it worth pulling headers for? Copies a few bytes, changes nothing */
static bool parse_is_udp_4791(const struct sk_buff *skb, u32 l3, __be16 proto)
{
	struct udphdr udp_copy;
	const struct udphdr *udp;
	u32 l4;

	if (proto == htons(ETH_P_IP)) {
		struct iphdr copy;
		const struct iphdr *ip = skb_header_pointer(skb, l3, sizeof(copy), &copy);

		if (!ip || ip->protocol != IPPROTO_UDP)
			return false;
		l4 = l3 + ip->ihl * 4;
	} else {
		struct ipv6hdr copy;
		const struct ipv6hdr *ip = skb_header_pointer(skb, l3, sizeof(copy), &copy);

		if (!ip || ip->nexthdr != IPPROTO_UDP)
			return false;
		l4 = l3 + sizeof(*ip);
	}
	udp = skb_header_pointer(skb, l4, sizeof(udp_copy), &udp_copy);
	return udp && udp->dest == htons(RP_ROCE_PORT);
}

/**
 * rp_parse_l3() - step over VLAN tags
 * @skb: the packet; nothing is pulled
 * @offset: bytes from skb->data to what follows the ethertype
 * @proto: the ethertype
 * @l3: filled in: bytes from skb->data to what follows the last tag
 *
 * Context: any.
 * Return: the ethertype behind the tags.
 */
__be16 rp_parse_l3(const struct sk_buff *skb, u32 offset, __be16 proto, u32 *l3)
{
	int depth;

	for (depth = 0; eth_type_vlan(proto) && depth < RP_VLAN_DEPTH; depth++) {
		struct vlan_hdr copy;
		const struct vlan_hdr *vlan = skb_header_pointer(skb, offset, sizeof(copy), &copy);

		if (!vlan)
			break;
		proto = vlan->h_vlan_encapsulated_proto;
		offset += VLAN_HLEN;
	}
	*l3 = offset;
	return proto;
}

/**
 * rp_parse() - find RoCEv2 in a socket buffer
 * @skb: the packet, not shared; headers are pulled into its linear part if it is RoCE
 * @offset: bytes from skb->data to what follows the ethertype
 * @proto: the ethertype
 * @r: filled in on RP_ROCE_OK
 * @l3: filled in: bytes from skb->data to the IP header
 *
 * Pointers into the packet are stale afterwards.
 *
 * Context: any.
 */
enum rp_roce_verdict rp_parse(struct sk_buff *skb, u32 offset, __be16 proto, struct rp_roce *r,
			      u32 *l3)
{
	proto = rp_parse_l3(skb, offset, proto, l3);
	offset = *l3;
	if (proto != htons(ETH_P_IP) && proto != htons(ETH_P_IPV6))
		return RP_ROCE_NOT;
	if (!parse_is_udp_4791(skb, offset, proto))
		return RP_ROCE_NOT;
	if (!pskb_may_pull(skb, min_t(u32, offset + RP_ROCE_PULL, skb->len)))
		return RP_ROCE_SHORT;
	return rp_roce_parse(skb->data + offset, skb_headlen(skb) - offset, skb->len - offset, r);
}

/**
 * rp_parse_addresses() - both addresses of an IP header
 * @l3: the header
 * @ipv6: which kind
 * @src: IPv4 mapped; NULL: not wanted
 * @dst: the same
 *
 * Context: any.
 */
void rp_parse_addresses(const u8 *l3, bool ipv6, struct in6_addr *src, struct in6_addr *dst)
{
	if (ipv6) {
		const struct ipv6hdr *ip = (const struct ipv6hdr *)l3;

		if (src)
			*src = ip->saddr;
		if (dst)
			*dst = ip->daddr;
	} else {
		const struct iphdr *ip = (const struct iphdr *)l3;

		if (src)
			ipv6_addr_set_v4mapped(ip->saddr, src);
		if (dst)
			ipv6_addr_set_v4mapped(ip->daddr, dst);
	}
}
