// SPDX-License-Identifier: GPL-2.0
/*
 * The ICRC, whole and by difference, against a pass over all bytes of millions of
 * random packets.
 */
/* SOURCES: kmod/core/roce.c kmod/core/icrc.c */
/* SOURCES: selftests/unit/reference.c selftests/unit/crc32.c selftests/unit/packet.c */
#include "unit.h"
#include "crc32.h"
#include "packet.h"
#include "reference.h"

#define HEADERS (RP_UDP_LEN + RP_BTH_LEN + RP_ICRC_LEN)

static struct rp_icrc_table table;
static u8 packet[PACKET_MAX];

/* published check value of this CRC */
static void reference_is_crc32(void **state)
{
	assert_int_equal(~crc32_slice8(~0u, "123456789", 9), 0xcbf43926);
}

/* An RC SEND ONLY with all its fields, and what routers may change, at random. */
static u32 make(u32 len, bool csum)
{
	struct packet p = { .ipv6 = rnd() % 2,
			    .sport = rnd(),
			    .opcode = RP_OP_SEND_ONLY,
			    .qpn = rnd() | 2,
			    .psn = rnd(),
			    .len = len };
	u32 size;

	if (!p.ipv6)
		p.options = rnd() % 8 ? 0 : rnd_below(11) * 4;
	size = packet_make(packet, &p);
	rnd_fill(packet + size - len - RP_ICRC_LEN, len);
	if (p.ipv6) {
		rnd_fill(packet + 7, 33);
		packet[0] = 0x60 | rnd_below(16);
		rnd_fill(packet + 1, 3);
	} else {
		packet[1] = rnd();
		packet[8] = rnd();
		rnd_fill(packet + 12, 8 + p.options);
	}
	packet[size - len - HEADERS + RP_UDP_LEN + 4] = rnd();
	ref_seal(packet, csum);
	return size;
}

static void check(u32 size, bool csum)
{
	u16 sport = rnd(), had = get_unaligned_be16(packet + ref_udp(packet));
	struct rp_roce r;

	require(rp_roce_parse(packet, size, size, &r) == RP_ROCE_OK, "not parsed");
	rewrite_sport(&table, packet, &r, sport);
	require(get_unaligned_le32(packet + r.icrc) == ref_icrc(packet),
		"ICRC, %u bytes, port %u to %u", size, had, sport);
	require(!csum || get_unaligned_be16(packet + r.udp + 6) == ref_udp_csum(packet),
		"UDP, %u bytes, port %u to %u", size, had, sport);
	require(csum || !get_unaligned_be16(packet + r.udp + 6), "a UDP checksum out of none");
}

static void random_packets(void **state)
{
	u32 i;

	for (i = 0; i < ROUNDS(10000000); i++) {
		bool csum = rnd() % 2;

		check(make(rnd() % 1024 ? rnd_below(17) * 4 : rnd_below(1100) * 4, csum), csum);
	}
}

/* lengths around the end of the table, and far beyond it */
static void longer_than_the_table(void **state)
{
	u32 edge = RP_ICRC_TABLE_WORDS * 4 - HEADERS, len;

	for (len = edge - 256; len < edge + 256; len += 4)
		check(make(len, true), true);
	for (len = 0; len <= 65535 - 60 - HEADERS; len += 4 * rnd_range(1, ROUNDS(100)))
		check(make(len & ~3u, true), true);
}

static void whole_packet(void **state)
{
	struct rp_roce r;
	u32 i, size;

	for (i = 0; i < ROUNDS(200000); i++) {
		size = make(rnd() % 64 ? rnd_below(33) * 4 : rnd_below(16000) * 4, false);
		require(rp_roce_parse(packet, size, size, &r) == RP_ROCE_OK, "not parsed");
		require(rp_icrc(packet, &r) == ref_icrc(packet), "%u bytes", size);
	}
}

/* Fields that routers change do not count, each other bit of the packet does. */
static void each_bit(void **state)
{
	struct rp_roce r;
	u32 size = 0, bit, before, round;

	for (round = 0; round < 64; round++) {
		size = make(32, false);
		assert_int_equal(rp_roce_parse(packet, size, size, &r), RP_ROCE_OK);
		before = rp_icrc(packet, &r);
		for (bit = 0; bit < r.icrc * 8; bit++) {
			u32 at = bit / 8;
			bool masked = at - r.udp == 6 || at - r.udp == 7 || at - r.bth == 4;

			if (r.ipv6)
				masked |= (at == 0 && bit < 4) || (at >= 1 && at <= 3) || at == 7;
			else
				masked |= at == 1 || at == 8 || at == 10 || at == 11;
			packet[at] ^= 1 << bit % 8;
			require((rp_icrc(packet, &r) == before) == masked, "bit %u of byte %u, %s",
				bit % 8, at, r.ipv6 ? "IPv6" : "IPv4");
			packet[at] ^= 1 << bit % 8;
		}
	}
}

/* no change, no difference; two changes add up; for each length of the table */
static void is_linear(void **state)
{
	u32 words, a, b;

	for (words = 0; words < RP_ICRC_TABLE_WORDS + 100; words++) {
		u32 behind = words * 4 + 2;

		a = rnd() & 0xffff;
		b = rnd() & 0xffff;
		require(!rp_icrc_delta(&table, 0, behind), "a difference out of none");
		require(rp_icrc_delta(&table, a ^ b, behind) == (rp_icrc_delta(&table, a, behind) ^
								 rp_icrc_delta(&table, b, behind)),
			"%u words", words);
	}
}

static u16 csum_over(u16 a, u16 b)
{
	u32 sum = a + b;

	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff ? 0xffff : ~sum;
}

/* each pair of old and new, over another word: never 0, always what the sum over all gives */
static void checksum_edges(void **state)
{
	static const u16 edge[] = { 0, 1, 2, 0x7fff, 0x8000, 0xfffd, 0xfffe, 0xffff };
	u32 i, k, other;

	for (i = 0; i < ARRAY_SIZE(edge); i++) {
		for (k = 0; k < ARRAY_SIZE(edge); k++) {
			/* a pseudo header is never all zeros */
			for (other = 1; other < 0x10000; other++) {
				__sum16 check = (__sum16)cpu_to_be16(csum_over(edge[i], other));
				__sum16 got = rp_csum_replace2(check, cpu_to_be16(edge[i]),
							       cpu_to_be16(edge[k]));

				require(be16_to_cpu(got) == csum_over(edge[k], other),
					"0x%x to 0x%x with 0x%x", edge[i], edge[k], other);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference_is_crc32),
		cmocka_unit_test(checksum_edges),
		cmocka_unit_test(is_linear),
		cmocka_unit_test(each_bit),
		cmocka_unit_test(whole_packet),
		cmocka_unit_test(longer_than_the_table),
		cmocka_unit_test(random_packets),
	};

	rp_icrc_table_init(&table);
	return unit_run(tests);
}
