// SPDX-License-Identifier: GPL-2.0
#include "crc32.h"
#include "reference.h"

static bool is_ip6(const u8 *l3)
{
	return l3[0] >> 4 == 6;
}

u32 ref_udp(const u8 *l3)
{
	return is_ip6(l3) ? 40 : (l3[0] & 15) * 4;
}

u32 ref_end(const u8 *l3)
{
	return is_ip6(l3) ? 40 + get_unaligned_be16(l3 + 4) : get_unaligned_be16(l3 + 2);
}

u32 ref_icrc(const u8 *l3)
{
	u32 udp = ref_udp(l3), bth = udp + 8, end = ref_end(l3);
	u8 head[8 + 60 + 8 + 12];
	u8 *ip = head + 8;
	u32 crc;

	memset(head, 255, 8);
	memcpy(ip, l3, bth + 12);
	if (is_ip6(l3)) {
		ip[0] = 0x6f;
		ip[1] = 255;
		ip[2] = 255;
		ip[3] = 255;
		ip[7] = 255;
	} else {
		ip[1] = 255;
		ip[8] = 255;
		ip[10] = 255;
		ip[11] = 255;
	}
	ip[udp + 6] = 255;
	ip[udp + 7] = 255;
	ip[bth + 4] = 255;
	crc = crc32_slice8(0xffffffff, head, 8 + bth + 12);
	return ~crc32_slice8(crc, l3 + bth + 12, end - 4 - (bth + 12));
}

static u64 sum16(const u8 *p, u32 len)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i + 1 < len; i += 2)
		sum += p[i] << 8 | p[i + 1];
	if (len % 2)
		sum += p[len - 1] << 8;
	return sum;
}

static u16 fold(u64 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

u16 ref_udp_csum(const u8 *l3)
{
	u32 udp = ref_udp(l3), len = ref_end(l3) - udp;
	u64 sum = 17 + len;
	u16 csum;

	sum += is_ip6(l3) ? sum16(l3 + 8, 32) : sum16(l3 + 12, 8);
	sum += sum16(l3 + udp, 6) + sum16(l3 + udp + 8, len - 8);
	csum = fold(sum);
	return csum ? csum : 0xffff;
}

void ref_seal(u8 *l3, bool csum)
{
	u32 udp = ref_udp(l3);

	if (!is_ip6(l3)) {
		put_unaligned_be16(0, l3 + 10);
		put_unaligned_be16(fold(sum16(l3, udp)), l3 + 10);
	}
	put_unaligned_le32(ref_icrc(l3), l3 + ref_end(l3) - 4);
	put_unaligned_be16(csum ? ref_udp_csum(l3) : 0, l3 + udp + 6);
}

/* one 16-bit field, and what it does to the checksum */
static void replace16(u8 *field, const u8 *to, u8 *check)
{
	__be16 before, after;
	__sum16 sum;

	memcpy(&before, field, 2);
	memcpy(&after, to, 2);
	memcpy(field, to, 2);
	memcpy(&sum, check, 2);
	if (!sum)
		return;
	sum = rp_csum_replace2(sum, before, after);
	memcpy(check, &sum, 2);
}

void rewrite_sport(const struct rp_icrc_table *t, u8 *l3, const struct rp_roce *r, u16 sport)
{
	u8 *udp = l3 + r->udp, *icrc = l3 + r->icrc, bytes[4];
	u16 change = get_unaligned_be16(udp) ^ sport;
	u32 delta = rp_icrc_delta(t, change, r->icrc - r->udp - 2);

	put_unaligned_be16(sport, bytes);
	replace16(udp, bytes, udp + 6);
	put_unaligned_le32(get_unaligned_le32(icrc) ^ delta, bytes);
	replace16(icrc, bytes, udp + 6);
	replace16(icrc + 2, bytes + 2, udp + 6);
}
