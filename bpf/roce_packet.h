/* SPDX-License-Identifier: GPL-2.0 */
/* What the parser finds, see parse.h. */
#ifndef ROCEPATH_BPF_ROCE_PACKET_H
#define ROCEPATH_BPF_ROCE_PACKET_H

#include <rocepath/policy.h>
#include <rocepath/roce.h>

/**
 * enum rp_verdict - what a frame is
 * @RP_ROCE_FRAME: a whole RoCEv2 packet
 * @RP_OTHER: not RoCE
 * @RP_MALFORMED: UDP 4791 with lengths or versions that no RoCE sender makes
 * @RP_FRAGMENT: the first fragment of UDP 4791: the stack would put it together
 * @RP_EXTENDED: IPv6 with extension headers, UDP 4791 behind them, or more of them than are
 *	followed
 */
enum rp_verdict {
	RP_ROCE_FRAME,
	RP_OTHER,
	RP_MALFORMED,
	RP_FRAGMENT,
	RP_EXTENDED,
};

/**
 * struct rp_packet - where things are in one frame, offsets from its first byte
 * @source: source address
 * @destination: destination address
 * @l3: IP header
 * @bth: BTH
 * @icrc: ICRC
 * @qpn: destination QPN
 * @psn: PSN
 * @kind: what it is, as in struct rp_roce
 * @ipv6: IPv6, else IPv4
 * @tos: DSCP and ECN
 * @opcode: BTH opcode
 * @syndrome: AETH syndrome, where @kind is ACK or NAK
 * @source_port: UDP source port
 * @extended: of a datagram its source QPN, of what begins with a RETH its length of data, else 0;
 *	only where the parser was asked for it
 * @pad: 0; kernels before 6.3 want no hole in what is passed to global functions
 * @pad2: 0
 */
struct rp_packet {
	struct rp_address source;
	struct rp_address destination;
	u32 l3;
	u32 bth;
	u32 icrc;
	u32 qpn;
	u32 psn;
	enum rp_kind kind;
	bool ipv6;
	u8 tos;
	u8 opcode;
	u8 syndrome;
	u16 source_port;
	u16 pad;
	u32 extended;
	u32 pad2;
};

#endif /* ROCEPATH_BPF_ROCE_PACKET_H */
