/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The congestion notification packet (IBTA annex A17.9.3): BTH, 16 reserved bytes,
 * ICRC. It takes the flow's own source port, so that it goes the way that ACKs go.
 */
#ifndef ROCEPATH_BPF_CNP_H
#define ROCEPATH_BPF_CNP_H

#include <rocepath/crc.h>
#include <rocepath/loop.h>
#include <rocepath/policy.h>
#include <rocepath/roce.h>

#define RP_CNP_BODY	(RP_UDP_LEN + RP_BTH_LEN + 16 + RP_ICRC_LEN)
#define RP_CNP_LEN4	(20 + RP_CNP_BODY)
#define RP_CNP_LEN6	(40 + RP_CNP_BODY)
#define RP_CNP_TTL	64
#define RP_CNP_UDP	17

/**
 * struct rp_cnp - what to write into one
 * @source: address of the receiver of the marked packet
 * @destination: address of its sender
 * @source_port: UDP
 * @qpn: of the sender
 * @tos: DSCP, not ECN-capable
 */
struct rp_cnp {
	struct rp_address source;
	struct rp_address destination;
	u16 source_port;
	u32 qpn;
	u8 tos;
};

rp_inline void rp_cnp_be16(u8 *p, u32 v)
{
	p[0] = v >> 8;
	p[1] = v;
}

rp_inline void rp_cnp_bth(u8 *udp, const struct rp_cnp *c)
{
	u8 *bth = udp + RP_UDP_LEN;

	rp_cnp_be16(udp, c->source_port);
	rp_cnp_be16(udp + 2, RP_ROCE_PORT);
	rp_cnp_be16(udp + 4, RP_CNP_BODY);
	bth[0] = RP_OPCODE_CNP;
	rp_cnp_be16(bth + 2, 0xffff);		/* P_Key: the default partition */
	bth[4] = 0x40;				/* BECN */
	bth[5] = c->qpn >> 16;
	rp_cnp_be16(bth + 6, c->qpn);
}

/* What routers may change counts as ones in the ICRC. Return: the bits of @byte at @i that are. */
rp_inline u8 rp_cnp_mask(u32 i, u32 ip_len)
{
	/* UDP checksum; BTH: FECN, BECN, reserved */
	if (i == ip_len + 6 || i == ip_len + 7 || i == ip_len + RP_UDP_LEN + 4)
		return 0xff;
	if (ip_len == 20)	/* ToS, TTL, checksum */
		return i == 1 || i == 8 || i == 10 || i == 11 ? 0xff : 0;
	if (!i)			/* traffic class, flow label, hop limit */
		return 0x0f;
	return i < 4 || i == 7 ? 0xff : 0;
}

/* Unrolled: kernels before 6.3 are particular about the shape of loops. */
rp_inline void rp_cnp_icrc(u8 *l3, u32 ip_len, u32 len)
{
	u32 crc = ~0u, i;

#pragma clang loop unroll(full)
	for (i = 0; i < 8; i++)
		crc = rp_crc_byte(crc, 0xff);
#pragma clang loop unroll(full)
	for (i = 0; i < len - RP_ICRC_LEN; i++)
		crc = rp_crc_byte(crc, l3[i] | rp_cnp_mask(i, ip_len));
	crc = ~crc;
	l3[len - 4] = crc;
	l3[len - 3] = crc >> 8;
	l3[len - 2] = crc >> 16;
	l3[len - 1] = crc >> 24;
}

/**
 * rp_cnp_make4() - write a CNP over IPv4
 * @l3: RP_CNP_LEN4 bytes, zeros
 * @c: what to write
 */
rp_inline void rp_cnp_make4(u8 *l3, const struct rp_cnp *c)
{
	u32 sum = 0, i;

	l3[0] = 0x45;
	l3[1] = c->tos;
	l3[3] = RP_CNP_LEN4;
	l3[6] = 0x40;				/* don't fragment */
	l3[8] = RP_CNP_TTL;
	l3[9] = RP_CNP_UDP;
	__builtin_memcpy(l3 + 12, c->source.bytes + 12, 4);
	__builtin_memcpy(l3 + 16, c->destination.bytes + 12, 4);
	for (i = 0; i < 20; i += 2)
		sum += (u32)l3[i] << 8 | l3[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	rp_cnp_be16(l3 + 10, ~sum);
	rp_cnp_bth(l3 + 20, c);
	rp_cnp_icrc(l3, 20, RP_CNP_LEN4);
}

/**
 * rp_cnp_make6() - write a CNP over IPv6
 * @l3: RP_CNP_LEN6 bytes, zeros
 * @c: what to write
 */
rp_inline void rp_cnp_make6(u8 *l3, const struct rp_cnp *c)
{
	l3[0] = 0x60 | c->tos >> 4;
	l3[1] = c->tos << 4;
	l3[5] = RP_CNP_BODY;
	l3[6] = RP_CNP_UDP;
	l3[7] = RP_CNP_TTL;
	__builtin_memcpy(l3 + 8, &c->source, 16);
	__builtin_memcpy(l3 + 24, &c->destination, 16);
	rp_cnp_bth(l3 + 40, c);
	rp_cnp_icrc(l3, 40, RP_CNP_LEN6);
}

#endif /* ROCEPATH_BPF_CNP_H */
