/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 as it is on the wire (IBTA annex A17), and the one parser of it that
 * module, tests, fuzzers and tools share.
 *
 *   IPv4 or IPv6 | UDP to 4791 | BTH | extended headers | payload | pad | ICRC
 */
#ifndef ROCEPATH_ROCE_H
#define ROCEPATH_ROCE_H

#include "types.h"

#define RP_ROCE_PORT	4791
#define RP_UDP_LEN	8
#define RP_BTH_LEN	12
#define RP_ICRC_LEN	4
/* BTH byte 0 to the end of the longest extended header read: RETH is 16, AtomicETH 28 */
#define RP_ROCE_EXT_MAX	28
/* Bytes from the IP header on that the parser may read: IPv4 with options, or IPv6 */
#define RP_ROCE_PULL	(60 + RP_UDP_LEN + RP_BTH_LEN + RP_ROCE_EXT_MAX)

/* BTH opcodes: transport in the upper three bits, operation in the lower five */
enum rp_transport {
	RP_TRANSPORT_RC = 0,
	RP_TRANSPORT_UC = 1,
	RP_TRANSPORT_RD = 2,
	RP_TRANSPORT_UD = 3,
	RP_TRANSPORT_CNP = 4,
	RP_TRANSPORT_XRC = 5,
};

enum rp_operation {
	RP_OP_SEND_FIRST = 0x00,
	RP_OP_SEND_MIDDLE,
	RP_OP_SEND_LAST,
	RP_OP_SEND_LAST_IMM,
	RP_OP_SEND_ONLY,
	RP_OP_SEND_ONLY_IMM,
	RP_OP_WRITE_FIRST,
	RP_OP_WRITE_MIDDLE,
	RP_OP_WRITE_LAST,
	RP_OP_WRITE_LAST_IMM,
	RP_OP_WRITE_ONLY,
	RP_OP_WRITE_ONLY_IMM,
	RP_OP_READ_REQUEST,
	RP_OP_READ_RESPONSE_FIRST,
	RP_OP_READ_RESPONSE_MIDDLE,
	RP_OP_READ_RESPONSE_LAST,
	RP_OP_READ_RESPONSE_ONLY,
	RP_OP_ACK,
	RP_OP_ATOMIC_ACK,
	RP_OP_CMP_SWAP,
	RP_OP_FETCH_ADD,
	RP_OP_SEND_LAST_INV = 0x16,
	RP_OP_SEND_ONLY_INV,
	RP_OP_FLUSH = 0x1c,
	RP_OP_ATOMIC_WRITE,
};

#define RP_OPCODE_CNP		0x81
/* Of the manufacturer's range 0xc0 to 0xff, see wire.h: hosts that do not know it drop it */
#define RP_OPCODE_CONTROL	0xf2
#define RP_QPN_GSI		1

/*
 * In BTH byte 4, beside FECN and BECN: a repair, see kmod/core/repair.h. One of the six bits that
 * IBTA reserves (9.2): sent as 0, not looked at by who receives, and masked for the ICRC.
 */
#define RP_BTH_FLAGS		4
#define RP_BTH_REPAIR		0x01

/* AETH syndrome, bits 6 and 5 (IBTA table 45) */
#define RP_AETH_TYPE(syndrome)	((syndrome) & 0x60)
#define RP_AETH_ACK		0x00
#define RP_AETH_RNR_NAK		0x20
#define RP_AETH_NAK		0x60
#define RP_AETH_NAK_SEQUENCE	0x60

/**
 * enum rp_kind - what a packet is to scheduling and to the receiver's order
 * @RP_KIND_DATA: a request that carries data: SEND or WRITE
 * @RP_KIND_READ: a READ request: one packet, that uses as many PSNs as it will have responses
 * @RP_KIND_ATOMIC: a request of one PSN with a response of one PSN: atomics, FLUSH
 * @RP_KIND_RESPONSE: a response with data: READ response, atomic acknowledge
 * @RP_KIND_ACK: a positive acknowledge
 * @RP_KIND_NAK: a negative acknowledge, RNR NAK among them
 * @RP_KIND_CNP: congestion notification
 * @RP_KIND_DATAGRAM: UD, and management (QP1)
 * @RP_KIND_CONTROL: rocepath's own, see wire.h
 * @RP_KIND_OTHER: transports that are not looked into: RD, XRC, unknown opcodes
 */
enum rp_kind {
	RP_KIND_DATA,
	RP_KIND_READ,
	RP_KIND_ATOMIC,
	RP_KIND_RESPONSE,
	RP_KIND_ACK,
	RP_KIND_NAK,
	RP_KIND_CNP,
	RP_KIND_DATAGRAM,
	RP_KIND_CONTROL,
	RP_KIND_OTHER,
};

/**
 * struct rp_roce - where things are in one RoCEv2 packet
 * @ipv6: IPv6, else IPv4
 * @repair: sent again by rocepath, not by the QP
 * @opcode: BTH opcode
 * @syndrome: AETH syndrome, where @kind is ACK or NAK
 * @kind: what it is to us
 * @udp: bytes from the IP header to the UDP header
 * @bth: bytes from the IP header to the BTH
 * @icrc: bytes from the IP header to the ICRC; found by the IP length, never by the frame's
 * @qpn: destination QPN
 * @psn: packet sequence number
 * @dma_len: bytes asked for, where @kind is READ
 */
struct rp_roce {
	bool ipv6;
	bool repair;
	u8 opcode;
	u8 syndrome;
	enum rp_kind kind;
	u16 udp;
	u16 bth;
	u32 icrc;
	u32 qpn;
	u32 psn;
	u32 dma_len;
};

/**
 * enum rp_roce_verdict - what the parser found
 * @RP_ROCE_OK: a whole RoCEv2 packet
 * @RP_ROCE_NOT: something else: not UDP 4791, a fragment, IPv6 with extension headers
 * @RP_ROCE_MALFORMED: UDP 4791, but lengths or versions that no RoCE sender makes
 * @RP_ROCE_SHORT: the headers do not fit into the bytes given, but may be in the packet: pull and
 *	ask again
 */
enum rp_roce_verdict {
	RP_ROCE_OK,
	RP_ROCE_NOT,
	RP_ROCE_MALFORMED,
	RP_ROCE_SHORT,
};

/**
 * rp_roce_parse() - find RoCEv2 in an IP packet
 * @l3: the IP header; the version in it decides, not an ethertype
 * @avail: bytes that may be read from @l3 on, RP_ROCE_PULL are always enough
 * @len: bytes that the packet has from @l3 on, link padding included
 * @r: filled in on RP_ROCE_OK
 *
 * Context: any; reads only what is inside @avail.
 */
enum rp_roce_verdict rp_roce_parse(const u8 *l3, u32 avail, u32 len, struct rp_roce *r);

/** rp_roce_transport() - the transport of a BTH opcode. */
static inline enum rp_transport rp_roce_transport(u8 opcode)
{
	return (enum rp_transport)(opcode >> 5);
}

/**
 * rp_roce_span() - PSNs that a request uses up
 * @r: a parsed request
 * @mtu: the path MTU of the QP in bytes, 256 to 4096
 *
 * One, but for READ: as many as responses will come (IBTA 9.7.2.4), at least one.
 * A READ may ask for 2^31 bytes; what claims more (its QP will refuse it) counts
 * as less than half of the PSN space, so that ahead and behind keep their meaning.
 */
static inline u32 rp_roce_span(const struct rp_roce *r, u32 mtu)
{
	u32 span;

	if (r->kind != RP_KIND_READ || !r->dma_len)
		return 1;
	span = r->dma_len / mtu + !!(r->dma_len % mtu);
	return min(span, 0x7fffffu);
}

#endif /* ROCEPATH_ROCE_H */
