// SPDX-License-Identifier: GPL-2.0
/*
 * Envelopes: the headers that data to a peer has, for packets that are made here:
 * control packets, and acknowledges that are said again.
 */
#include "envelope.h"

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "core/icrc.h"
#include "device.h"

#define RP_PKEY_DEFAULT 0xffff

/**
 * rp_envelope_take() - from a packet that leaves
 * @e: the envelope
 * @skb: the packet, data at the Ethernet header, headers linear to the UDP header
 * @l3: bytes from there to the IP header
 *
 * Context: any.
 * Return: false if it has IP options or more tags than one: then an older one will do.
 */
bool rp_envelope_take(struct rp_envelope *e, const struct sk_buff *skb, u32 l3)
{
	bool ipv4 = skb->data[l3] >> 4 == 4;
	u32 len = l3 + (ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));

	if (len > RP_ENVELOPE_MAX || (ipv4 && (skb->data[l3] & 0xf) != 5))
		return false;
	memcpy(e->data, skb->data, len);
	e->len = len;
	e->l3 = l3;
	e->sport = ntohs(((const struct udphdr *)(skb->data + len))->source);
	e->vlan_proto = skb_vlan_tag_present(skb) ? skb->vlan_proto : 0;
	e->vlan_tci = skb_vlan_tag_get(skb);
	return true;
}

/**
 * rp_envelope_reverse() - from a packet that came: back the way it did
 * @e: the envelope
 * @skb: the packet
 * @l3: bytes from its data to the IP header
 * @r: parsed
 *
 * Context: any.
 * Return: false as rp_envelope_take().
 */
bool rp_envelope_reverse(struct rp_envelope *e, const struct sk_buff *skb, u32 l3,
			 const struct rp_roce *r)
{
	const u8 *mac = skb_mac_header(skb), *from = skb->data + l3;
	u32 l2 = skb->data - mac + l3, ip = r->ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);

	if (l2 + ip > RP_ENVELOPE_MAX || r->udp != ip)
		return false;
	memcpy(e->data, mac, l2);
	ether_addr_copy(e->data, mac + ETH_ALEN);
	ether_addr_copy(e->data + ETH_ALEN, mac);
	memcpy(e->data + l2, from, ip);
	if (r->ipv6) {
		struct ipv6hdr *h = (struct ipv6hdr *)(e->data + l2);

		swap(h->saddr, h->daddr);
		h->hop_limit = IPV6_DEFAULT_HOPLIMIT;
	} else {
		struct iphdr *h = (struct iphdr *)(e->data + l2);

		swap(h->saddr, h->daddr);
		h->ttl = IPDEFTTL;
	}
	e->len = l2 + ip;
	e->l3 = l2;
	e->sport = ntohs(((const struct udphdr *)(from + r->udp))->source);
	e->vlan_proto = skb_vlan_tag_present(skb) ? skb->vlan_proto : 0;
	e->vlan_tci = skb_vlan_tag_get(skb);
	return true;
}

static void envelope_ip(u8 *l3, u16 payload, const struct rp_letter *letter, bool label)
{
	if (l3[0] >> 4 == 4) {
		struct iphdr *ip = (struct iphdr *)l3;

		ip->id = htons(letter->id);
		ip->tot_len = htons(sizeof(*ip) + payload);
		if (letter->hops)
			ip->ttl = letter->hops;
		ip_send_check(ip);
	} else {
		struct ipv6hdr *ip = (struct ipv6hdr *)l3;

		ip->payload_len = htons(payload);
		if (letter->hops)
			ip->hop_limit = letter->hops;
		if (label)
			*(__be32 *)ip = (*(__be32 *)ip & ~IPV6_FLOWLABEL_MASK) |
					htonl(rp_path_flowlabel(letter->path));
	}
}

/**
 * rp_letter_bth() - a plain base transport header
 * @letter: to put it in
 * @opcode: BTH opcode
 * @qpn: it is addressed to
 * @psn: its PSN
 */
void rp_letter_bth(struct rp_letter *letter, u8 opcode, u32 qpn, u32 psn)
{
	memset(letter->bth, 0, RP_BTH_LEN);
	letter->bth[0] = opcode;
	put_unaligned_be16(RP_PKEY_DEFAULT, letter->bth + 2);
	put_unaligned_be32(qpn, letter->bth + 4);
	put_unaligned_be32(psn, letter->bth + 8);
}

/**
 * rp_envelope_fill() - a packet with that letter in it, but for its ICRC
 * @e: the envelope, not empty
 * @rp: the device that it will leave by
 * @letter: what to put in
 *
 * UDP checksum 0, as rdma_rxe and NICs send it: the ICRC covers the packet.
 *
 * Context: any.
 * Return: the packet, data at the Ethernet header, or NULL. What is behind the BTH
 * may be changed until rp_envelope_close().
 */
struct sk_buff *rp_envelope_fill(const struct rp_envelope *e, struct rp_device *rp,
				 const struct rp_letter *letter)
{
	u16 payload = RP_UDP_LEN + RP_BTH_LEN + letter->len + RP_ICRC_LEN;
	u32 headroom = LL_RESERVED_SPACE(rp->dev) + VLAN_HLEN;
	u32 entropy = READ_ONCE(rp->entropy);
	bool ipv6 = e->data[e->l3] >> 4 == 6;
	bool label = ipv6 && entropy == ROCEPATH_ENTROPY_FLOWLABEL;
	struct sk_buff *skb;
	struct udphdr *udp;

	skb = alloc_skb(headroom + e->len + payload, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	skb_put_data(skb, e->data, e->len);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, e->l3);
	skb_set_transport_header(skb, e->len);
	skb->protocol = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	if (e->l3 > ETH_HLEN)
		skb->protocol = eth_hdr(skb)->h_proto;
	envelope_ip(skb_network_header(skb), payload, letter, label);

	udp = skb_put(skb, RP_UDP_LEN);
	udp->source = htons(label || entropy == ROCEPATH_ENTROPY_KEEP ?
				    e->sport : rp_path_sport(letter->path));
	udp->dest = htons(RP_ROCE_PORT);
	udp->len = htons(payload);
	udp->check = 0;
	skb_put_data(skb, letter->bth, RP_BTH_LEN);
	if (letter->body)
		skb_put_data(skb, letter->body, letter->len);
	else
		skb_put(skb, letter->len);
	skb_put_zero(skb, RP_ICRC_LEN);

	skb->dev = rp->dev;
	if (e->vlan_proto)
		__vlan_hwaccel_put_tag(skb, e->vlan_proto, e->vlan_tci);
	return skb;
}

/** rp_envelope_body() - where @letter's body is in the packet that was made of it. */
void *rp_envelope_body(struct sk_buff *skb, const struct rp_letter *letter)
{
	return skb_tail_pointer(skb) - RP_ICRC_LEN - letter->len;
}

/**
 * rp_envelope_close() - the packet is whole: put the ICRC in
 * @skb: from rp_envelope_fill()
 *
 * Return: false if it is no RoCE packet after all.
 */
bool rp_envelope_close(struct sk_buff *skb)
{
	u8 *l3 = skb_network_header(skb);
	u32 len = skb_tail_pointer(skb) - l3;
	struct rp_roce r;

	if (rp_roce_parse(l3, len, len, &r) != RP_ROCE_OK)
		return false;
	put_unaligned_le32(rp_icrc(l3, &r), l3 + r.icrc);
	return true;
}
