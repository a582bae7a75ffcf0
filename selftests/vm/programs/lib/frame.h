/* SPDX-License-Identifier: GPL-2.0 */
/* RoCEv2 frames from scratch, and packet sockets in other network namespaces. */
#ifndef FRAME_H
#define FRAME_H

#include <rocepath/roce.h>

#define FRAME_MAX	9216
#define FRAME_PORTS	40

/**
 * struct frame - what a frame is to be
 * @smac: source MAC
 * @dmac: destination MAC
 * @vlan: VLAN id, 0: no tag
 * @ipv6: IPv6, else IPv4 in the last four bytes of the addresses
 * @saddr: source address
 * @daddr: destination address
 * @sport: UDP source port
 * @dport: UDP destination port
 * @checksum: with a UDP checksum, else 0
 * @opcode: of the BTH
 * @qpn: destination QPN
 * @psn: PSN
 * @ack_wanted: the A bit
 * @syndrome: of the AETH, where there is one
 * @dma_len: of the RETH, where there is one
 * @rkey: the same
 * @va: the same
 * @payload: behind the extended headers
 * @len: bytes of it
 */
struct frame {
	u8 smac[6];
	u8 dmac[6];
	u16 vlan;
	bool ipv6;
	u8 saddr[16];
	u8 daddr[16];
	u16 sport;
	u16 dport;
	bool checksum;
	u8 opcode;
	u32 qpn;
	u32 psn;
	bool ack_wanted;
	u8 syndrome;
	u32 dma_len;
	u32 rkey;
	u64 va;
	const u8 *payload;
	u32 len;
};

u32 frame_build(const struct frame *f, u8 *out);
u32 frame_l3(const struct frame *f);
void frame_mac(const char *text, u8 *mac);
void frame_addresses(struct frame *f, const char *text);
int frame_socket(const char *where, u16 protocol);
_Noreturn void die(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

#endif /* FRAME_H */
