// SPDX-License-Identifier: GPL-2.0
/*
 *   Ethernet | IPv4 or IPv6 | UDP EV -> 4791 | BTH | struct rp_wire, all 0 but its number | ICRC
 *
 * Routers hash it as they hash the data of a QP whose flow label makes this EV. The host
 * at the end drops it: the opcode is a manufacturer's, the QPN nobody's, and rocepath
 * there misses version and MAC. Routers quote IPv4 up to the UDP header, so the
 * number is in the IP identification as well.
 */
#include <string.h>

#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <rocepath/wire.h>

#include "../kmod/core/icrc.h"
#include "rdma_probe.h"

#define ETHERNET_LEN 14
#define IP4_LEN 20
#define IP6_LEN 40
#define ICMP_LEN 8
#define IP4_DONT_FRAGMENT 0x4000
#define UDP 17
#define MAPPED_LEN 12
#define GOLDEN 10125	/* 16384 divided by the golden ratio, made odd: it meets each EV once */
#define LABEL_BIT 0x4000	/* never 0, which would ask for a hash of the QPNs */

/**
 * rp_rdma_sequence() - entropy values that differ in many bits
 * @i: any number below RP_RDMA_EVS
 *
 * Return: a different one for each.
 */
uint16_t rp_rdma_sequence(unsigned int i)
{
	return i * GOLDEN % RP_RDMA_EVS;
}

/**
 * rp_rdma_label() - the flow label that makes an entropy value
 * @ev: the entropy value
 *
 * As rdma_flow_label_to_udp_sport() folds it: the low 14 bits and the six above them.
 */
uint32_t rp_rdma_label(uint16_t ev)
{
	return LABEL_BIT | (ev ^ LABEL_BIT >> 14);
}

static void make_ip4(const struct rp_rdma_lane *lane, uint8_t hops, uint16_t id, uint16_t len,
		     uint8_t *ip)
{
	uint32_t sum = 0;

	ip[0] = 0x45;
	ip[1] = lane->tos;
	put_unaligned_be16(IP4_LEN + len, ip + 2);
	put_unaligned_be16(id, ip + 4);
	put_unaligned_be16(IP4_DONT_FRAGMENT, ip + 6);
	ip[8] = hops;
	ip[9] = UDP;
	memcpy(ip + 12, lane->from + MAPPED_LEN, RP_ADDRESS4_LEN);
	memcpy(ip + 16, lane->to + MAPPED_LEN, RP_ADDRESS4_LEN);
	for (unsigned int i = 0; i < IP4_LEN; i += 2)
		sum += get_unaligned_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	put_unaligned_be16(~(sum + (sum >> 16)), ip + 10);
}

static void make_ip6(const struct rp_rdma_lane *lane, uint16_t ev, uint8_t hops, uint16_t len,
		     uint8_t *ip)
{
	put_unaligned_be32(6u << 28 | lane->tos << 20 | rp_rdma_label(ev), ip);
	put_unaligned_be16(len, ip + 4);
	ip[6] = UDP;
	ip[7] = hops;
	memcpy(ip + 8, lane->from, RP_ADDRESS_LEN);
	memcpy(ip + 24, lane->to, RP_ADDRESS_LEN);
}

/* returns how many bytes it has, ICRC included */
static unsigned int make_payload(uint16_t ev, uint16_t id, uint8_t *udp)
{
	unsigned int len = RP_UDP_LEN + RP_BTH_LEN + sizeof(struct rp_wire) + RP_ICRC_LEN;
	uint8_t *bth = udp + RP_UDP_LEN, *wire = bth + RP_BTH_LEN;

	put_unaligned_be16(RP_RDMA_SPORT + ev, udp);
	put_unaligned_be16(RP_ROCE_PORT, udp + 2);
	put_unaligned_be16(len, udp + 4);
	bth[0] = RP_OPCODE_CONTROL;
	put_unaligned_be16(0xffff, bth + 2);
	put_unaligned_be32(RP_WIRE_QPN, bth + 4);
	put_unaligned_be16(id, wire + offsetof(struct rp_wire, seq));
	return len;
}

/**
 * rp_rdma_probe_make() - make a probe
 * @lane: from where to where
 * @ev: its entropy value
 * @hops: its hop limit
 * @id: its number
 * @frame: RP_RDMA_PROBE_LEN bytes
 *
 * Return: how many bytes it has.
 */
unsigned int rp_rdma_probe_make(const struct rp_rdma_lane *lane, uint16_t ev, uint8_t hops,
				uint16_t id, uint8_t *frame)
{
	bool ipv4 = rp_address_is_ipv4(lane->to);
	unsigned int head = ipv4 ? IP4_LEN : IP6_LEN, len;
	uint8_t *ip = frame + ETHERNET_LEN;
	struct rp_roce roce;

	memset(frame, 0, RP_RDMA_PROBE_LEN);
	memcpy(frame, lane->next, RP_MAC_LEN);
	memcpy(frame + RP_MAC_LEN, lane->mac, RP_MAC_LEN);
	put_unaligned_be16(ipv4 ? 0x0800 : 0x86dd, frame + 2 * RP_MAC_LEN);
	len = make_payload(ev, id, ip + head);
	if (ipv4)
		make_ip4(lane, hops, id, len, ip);
	else
		make_ip6(lane, ev, hops, len, ip);
	if (rp_roce_parse(ip, head + len, head + len, &roce) != RP_ROCE_OK)
		return 0;
	put_unaligned_le32(rp_icrc(ip, &roce), ip + roce.icrc);
	return ETHERNET_LEN + head + len;
}

static bool parse_udp(const uint8_t *udp, size_t len, struct rp_rdma_quote *quote)
{
	uint16_t sport;

	if (len < RP_UDP_LEN || get_unaligned_be16(udp + 2) != RP_ROCE_PORT)
		return false;
	sport = get_unaligned_be16(udp);
	if (sport < RP_RDMA_SPORT)
		return false;
	quote->ev = sport - RP_RDMA_SPORT;
	return true;
}

static bool parse_ip4(const struct rp_rdma_lane *lane, const uint8_t *ip, size_t len,
		      struct rp_rdma_quote *quote)
{
	size_t head = len ? (ip[0] & 0xf) * 4 : 0;

	if (len < IP4_LEN || ip[0] >> 4 != 4 || head < IP4_LEN || len < head || ip[9] != UDP ||
	    memcmp(ip + 12, lane->from + MAPPED_LEN, RP_ADDRESS4_LEN) ||
	    memcmp(ip + 16, lane->to + MAPPED_LEN, RP_ADDRESS4_LEN))
		return false;
	quote->id = get_unaligned_be16(ip + 4);
	return parse_udp(ip + head, len - head, quote);
}

static bool parse_ip6(const struct rp_rdma_lane *lane, const uint8_t *ip, size_t len,
		      struct rp_rdma_quote *quote)
{
	size_t number = IP6_LEN + RP_UDP_LEN + RP_BTH_LEN + offsetof(struct rp_wire, seq);

	if (len < number + sizeof(quote->id) || ip[0] >> 4 != 6 || ip[6] != UDP ||
	    memcmp(ip + 8, lane->from, RP_ADDRESS_LEN) ||
	    memcmp(ip + 24, lane->to, RP_ADDRESS_LEN))
		return false;
	quote->id = get_unaligned_be16(ip + number);
	return parse_udp(ip + IP6_LEN, len - IP6_LEN, quote);
}

/**
 * rp_rdma_quote_parse() - which probe has ended, as an ICMP message says
 * @lane: of the probes
 * @icmp: the message, from its own header on
 * @len: of it
 * @quote: the probe
 *
 * Return: whether it is about one of these, and says that its hop limit was used up.
 */
bool rp_rdma_quote_parse(const struct rp_rdma_lane *lane, const uint8_t *icmp, size_t len,
			 struct rp_rdma_quote *quote)
{
	bool ipv4 = rp_address_is_ipv4(lane->to);

	if (len < ICMP_LEN || icmp[0] != (ipv4 ? ICMP_TIME_EXCEEDED : ICMP6_TIME_EXCEEDED) ||
	    icmp[1])
		return false;
	return ipv4 ? parse_ip4(lane, icmp + ICMP_LEN, len - ICMP_LEN, quote) :
		      parse_ip6(lane, icmp + ICMP_LEN, len - ICMP_LEN, quote);
}

/**
 * rp_rdma_traces_settle() - conclude which entropy values lead to the peer
 * @traces: what routers answered; hops are filled in
 * @count: of them
 * @distance: hop limit that gets to the peer, 0: not known
 *
 * The peer itself answers none of these probes. A value leads there if the last router
 * before it answered; where no router of that hop ever answers, if the one before did,
 * and so on. A value that the last router swallows cannot be told from one that is good.
 *
 * Return: the distance; where it was not known, one more than the last router that was heard.
 */
unsigned int rp_rdma_traces_settle(struct rp_trace *traces, unsigned int count,
				   unsigned int distance)
{
	uint32_t heard = 0, last;

	for (unsigned int i = 0; i < count; i++)
		heard |= traces[i].heard;
	if (!distance)
		distance = heard ? RP_HOPS_MAX - __builtin_clz(heard) + 1 : 0;
	if (!distance)
		return 0;
	heard &= (uint32_t)((1ull << (distance - 1)) - 1);
	last = heard ? 1u << (31 - __builtin_clz(heard)) : 0;
	for (unsigned int i = 0; i < count; i++) {
		struct rp_trace *t = &traces[i];

		t->hops = !last || t->heard & last ? distance : 0;
		for (unsigned int h = distance - 1; h < RP_HOPS_MAX; h++) {
			t->heard &= ~(1u << h);
			memset(t->router[h], 0, RP_ADDRESS_LEN);
		}
	}
	return distance;
}
