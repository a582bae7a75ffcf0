/* SPDX-License-Identifier: GPL-2.0 */
/* Packets for tests, from the IP header on. */
#ifndef ROCEPATH_UNIT_PACKET_H
#define ROCEPATH_UNIT_PACKET_H

#include <rocepath/roce.h>

#define PACKET_MAX 65536

/**
 * struct packet - a packet to make; zeros are good defaults
 * @ipv6: IPv6, else IPv4
 * @options: bytes of IPv4 options, a multiple of 4 to 40
 * @sport: UDP source port
 * @opcode: BTH opcode
 * @qpn: destination QPN
 * @psn: PSN
 * @len: bytes between BTH and ICRC, a multiple of 4
 * @body: these bytes, NULL: zeros
 */
struct packet {
	bool ipv6;
	u8 options;
	u16 sport;
	u8 opcode;
	u32 qpn;
	u32 psn;
	u32 len;
	const u8 *body;
};

/**
 * packet_make() - write a packet, checksums and ICRC zero
 * @l3: where to, PACKET_MAX bytes
 * @p: what
 *
 * Return: its length.
 */
u32 packet_make(u8 *l3, const struct packet *p);

#endif /* ROCEPATH_UNIT_PACKET_H */
