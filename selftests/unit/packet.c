// SPDX-License-Identifier: GPL-2.0
#include "packet.h"

static void put_be32(u32 v, u8 *p)
{
	put_unaligned_be16(v >> 16, p);
	put_unaligned_be16(v & 0xffff, p + 2);
}

static u32 put_ip4(u8 *l3, u32 options, u32 rest)
{
	u32 ihl = 20 + options;

	memset(l3, 0, 20);
	memset(l3 + 20, 1, options);	/* no operation */
	l3[0] = 0x40 | ihl / 4;
	put_unaligned_be16(ihl + rest, l3 + 2);
	put_unaligned_be16(0x4000, l3 + 6);
	l3[8] = 64;
	l3[9] = 17;
	put_be32(0xc0000201, l3 + 12);
	put_be32(0xc0000202, l3 + 16);
	return ihl;
}

static u32 put_ip6(u8 *l3, u32 rest)
{
	memset(l3, 0, 40);
	l3[0] = 0x60;
	put_unaligned_be16(rest, l3 + 4);
	l3[6] = 17;
	l3[7] = 64;
	put_be32(0x20010db8, l3 + 8);
	l3[23] = 1;
	put_be32(0x20010db8, l3 + 24);
	l3[39] = 2;
	return 40;
}

u32 packet_make(u8 *l3, const struct packet *p)
{
	u32 rest = RP_UDP_LEN + RP_BTH_LEN + p->len + RP_ICRC_LEN;
	u32 udp = p->ipv6 ? put_ip6(l3, rest) : put_ip4(l3, p->options, rest);
	u8 *bth = l3 + udp + RP_UDP_LEN;

	memset(l3 + udp, 0, rest);
	put_unaligned_be16(p->sport, l3 + udp);
	put_unaligned_be16(RP_ROCE_PORT, l3 + udp + 2);
	put_unaligned_be16(rest, l3 + udp + 4);
	put_be32((u32)p->opcode << 24 | 0x40ffff, bth);
	put_be32(p->qpn, bth + 4);
	put_be32(p->psn, bth + 8);
	if (p->body)
		memcpy(bth + RP_BTH_LEN, p->body, p->len);
	return udp + rest;
}
