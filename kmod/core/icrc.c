// SPDX-License-Identifier: GPL-2.0
/*
 * ICRC: the CRC-32 of Ethernet over a packet in which all that routers may
 * change is replaced by ones.
 *
 * CRC is linear over GF(2): the CRC of two packets of one length differ by what
 * a packet of zeros, with the XOR of the two in it, leaves in a register that
 * started with 0. For a changed source port that packet is 16 bits, and then
 * zeros to the end. What each bit leaves is known for each length; four
 * nibbles, looked up and added, make up any change.
 */
#include "icrc.h"

#include <rocepath/crc.h>

#define CRC_POLY 0xedb88320u	/* reflected: the coefficient of x^31 is bit 0, of x^0 bit 31 */

#define IP_MAX 60

static u32 advance_word(u32 crc)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		crc = rp_crc_nibble(crc);
	return crc;
}

/* a * b modulo the polynomial */
static u32 multiply(u32 a, u32 b)
{
	u32 product = 0;

	for (; a; a <<= 1) {
		if (a & 0x80000000u)
			product ^= b;
		b = b >> 1 ^ (b & 1 ? CRC_POLY : 0);
	}
	return product;
}

/* One word of zeros is a multiplication by x^32; many of them, by a power of that. */
static u32 advance_words(u32 crc, u32 words)
{
	u32 power = CRC_POLY;

	for (; words; words >>= 1) {
		if (words & 1)
			crc = multiply(power, crc);
		power = multiply(power, power);
	}
	return crc;
}

static void fill_words(struct rp_icrc_table *t, unsigned int nibble, unsigned int value)
{
	u16 change = value << 4 * nibble;
	u8 word[4] = { change >> 8, change & 0xff };
	u32 crc = rp_crc_bytes(0, word, sizeof(word));
	unsigned int i;

	for (i = 0; i < RP_ICRC_TABLE_WORDS; i++) {
		t->delta[i][nibble][value] = crc;
		crc = advance_word(crc);
	}
}

void rp_icrc_table_init(struct rp_icrc_table *t)
{
	unsigned int nibble, value;

	for (nibble = 0; nibble < 4; nibble++)
		for (value = 0; value < 16; value++)
			fill_words(t, nibble, value);
}

u32 rp_icrc_delta(const struct rp_icrc_table *t, u16 change, u32 behind)
{
	u32 words = behind / 4, beyond = 0, delta;
	const u32 (*d)[16];

	if (unlikely(words >= RP_ICRC_TABLE_WORDS)) {
		beyond = words - (RP_ICRC_TABLE_WORDS - 1);
		words = RP_ICRC_TABLE_WORDS - 1;
	}
	d = t->delta[words];
	delta = d[0][change & 0xf] ^ d[1][change >> 4 & 0xf] ^ d[2][change >> 8 & 0xf] ^
		d[3][change >> 12];
	return unlikely(beyond) ? advance_words(delta, beyond) : delta;
}

static void mask_ip4(u8 *ip)
{
	ip[1] = 0xff;			/* DSCP and ECN */
	ip[8] = 0xff;			/* TTL */
	ip[10] = 0xff;			/* checksum */
	ip[11] = 0xff;
}

static void mask_ip6(u8 *ip)
{
	ip[0] |= 0x0f;			/* traffic class, flow label */
	ip[1] = 0xff;
	ip[2] = 0xff;
	ip[3] = 0xff;
	ip[7] = 0xff;			/* hop limit */
}

u32 rp_icrc(const u8 *l3, const struct rp_roce *r)
{
	/* In front, what a GRH would have before the IP header starts: 8 bytes of ones */
	u8 head[8 + IP_MAX + RP_UDP_LEN + RP_BTH_LEN];
	u32 len = r->bth + RP_BTH_LEN, crc;

	memset(head, 0xff, 8);
	memcpy(head + 8, l3, len);
	if (r->ipv6)
		mask_ip6(head + 8);
	else
		mask_ip4(head + 8);
	memset(head + 8 + r->udp + 6, 0xff, 2);	/* UDP checksum */
	head[8 + r->bth + 4] = 0xff;		/* FECN, BECN, reserved */
	crc = rp_crc_bytes(~0u, head, 8 + len);
	return ~rp_crc_bytes(crc, l3 + len, r->icrc - len);
}
