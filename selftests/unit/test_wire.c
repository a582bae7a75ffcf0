// SPDX-License-Identifier: GPL-2.0
/* Control packets: sealed and checked, and all that must not pass the check. */
/* SOURCES: kmod/core/wire.c selftests/unit/siphash.c */
#include "unit.h"
#include "wire.h"

/* a packet in memory of exactly its size, so that a sanitiser sees a read behind it */
struct packet {
	struct rp_wire *w;
	u32 len;
	struct rp_wire_addrs addrs;
	struct rp_keys keys;
};

static void make(struct packet *p, u16 body_len)
{
	p->len = sizeof(*p->w) + body_len;
	p->w = malloc(p->len);
	rnd_fill(p->w, p->len);
	rnd_fill(&p->addrs, sizeof(p->addrs));
	rnd_fill(&p->keys, sizeof(p->keys));
	p->keys.key[0].id = 7;
	p->keys.key[0].valid = true;
	p->keys.key[1].id = 9;
	p->keys.key[1].valid = true;
	rp_wire_seal(p->w, RP_WIRE_HELLO, body_len, 0x1122334455667788ull, 42, &p->keys.key[1],
		     &p->addrs);
}

static enum rp_wire_verdict check(const struct packet *p)
{
	return rp_wire_check(p->w, p->len, &p->keys, &p->addrs);
}

/* Appendix A of the paper, and vectors_sip64 of the authors' reference code */
static void test_siphash_vectors(void **state)
{
	static const u8 expect[][8] = {
		[0] = { 0x31, 0x0e, 0x0e, 0xdd, 0x47, 0xdb, 0x6f, 0x72 },
		[1] = { 0xfd, 0x67, 0xdc, 0x93, 0xc5, 0x39, 0xf8, 0x74 },
		[2] = { 0x5a, 0x4f, 0xa9, 0xd9, 0x09, 0x80, 0x6c, 0x0d },
		[3] = { 0x2d, 0x7e, 0xfb, 0xd7, 0x96, 0x66, 0x67, 0x85 },
		[7] = { 0x37, 0xd1, 0x01, 0x8b, 0xf5, 0x00, 0x02, 0xab },
		[8] = { 0x62, 0x24, 0x93, 0x9a, 0x79, 0xf5, 0xf5, 0x93 },
		[15] = { 0xe5, 0x45, 0xbe, 0x49, 0x61, 0xca, 0x29, 0xa1 },
		[63] = { 0x72, 0x45, 0x06, 0xeb, 0x4c, 0x32, 0x8a, 0x95 },
	};
	struct rp_key key = { .secret = { 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull } };
	u8 in[64], out[8], zero[8] = { 0 };
	u32 i, j, checked = 0;
	u64 hash;

	for (i = 0; i < 64; i++)
		in[i] = i;
	for (i = 0; i < 64; i++) {
		if (!memcmp(expect[i], zero, 8))
			continue;
		hash = rp_siphash(in, i, &key);
		for (j = 0; j < 8; j++)
			out[j] = hash >> (8 * j);
		assert_memory_equal(out, expect[i], 8);
		checked++;
	}
	assert_int_equal(checked, 8);
	assert_true(rp_siphash(in, 15, &key) == 0xa129ca6149be45e5ull);
}

static void test_round_trip(void **state)
{
	struct packet p;
	u16 len;

	for (len = 0; len <= RP_WIRE_BODY_MAX; len += 4) {
		make(&p, len);
		assert_int_equal(check(&p), RP_WIRE_OK);
		assert_int_equal(p.w->version, RP_WIRE_VERSION);
		assert_int_equal(p.w->type, RP_WIRE_HELLO);
		assert_int_equal(p.w->key_id, 9);
		assert_int_equal(p.w->reserved, 0);
		assert_int_equal(p.w->reserved2, 0);
		assert_int_equal(be16_to_cpu(p.w->body_len), len);
		assert_true(be64_to_cpu(p.w->instance) == 0x1122334455667788ull);
		assert_int_equal(be64_to_cpu(p.w->seq), 42);
		free(p.w);
	}
}

/* The bytes themselves, computed by hand from the description in rocepath/wire.h. */
static void test_format(void **state)
{
	static const u8 header[] = {
		1, 1, 5, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 0x63,
	};
	struct rp_key key = { .id = 5,
			      .valid = true,
			      .secret = { 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull } };
	struct rp_wire_addrs addrs = { .src = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
				       .dst = { [10] = 0xff, 0xff, 10, 0, 0, 2 } };
	u8 packet[sizeof(struct rp_wire) + 8] = { 0 }, covered[32 + 32 + 8] = { 0 };
	u64 mac;
	u32 i;

	assert_int_equal(sizeof(struct rp_wire), 32);
	assert_int_equal(sizeof(struct rp_wire_hello), 32);
	assert_int_equal(sizeof(struct rp_wire_report), 16);
	assert_int_equal(sizeof(struct rp_wire_report_path), 12);
	assert_int_equal(sizeof(struct rp_wire_report_flow), 12);
	assert_int_equal(sizeof(struct rp_wire_probe), 12);
	rnd_fill(covered + 64, 8);
	for (i = 0; i < 8; i++)
		packet[32 + i] = covered[64 + i];
	rp_wire_seal((struct rp_wire *)packet, 1, 8, 0x1234, 0x63, &key, &addrs);
	assert_memory_equal(packet, header, sizeof(header));
	memcpy(covered, addrs.src, 16);
	memcpy(covered + 16, addrs.dst, 16);
	memcpy(covered + 32, header, sizeof(header));
	mac = rp_siphash(covered, sizeof(covered), &key);
	for (i = 0; i < 8; i++)
		assert_int_equal(packet[24 + i], (u8)(mac >> (56 - 8 * i)));
}

static void test_each_bit_counts(void **state)
{
	static const u16 lens[] = { 0, 4, 24, 128, RP_WIRE_BODY_MAX };
	struct packet p;
	u32 l, bit;

	for (l = 0; l < ARRAY_SIZE(lens); l++) {
		make(&p, lens[l]);
		for (bit = 0; bit < p.len * 8; bit++) {
			u8 *byte = (u8 *)p.w + bit / 8;

			*byte ^= 1 << bit % 8;
			require(check(&p) != RP_WIRE_OK, "bit %u of %u may be flipped", bit,
				p.len * 8);
			*byte ^= 1 << bit % 8;
		}
		for (bit = 0; bit < sizeof(p.addrs) * 8; bit++) {
			u8 *byte = (u8 *)&p.addrs + bit / 8;

			*byte ^= 1 << bit % 8;
			assert_int_equal(check(&p), RP_WIRE_MAC_WRONG);
			*byte ^= 1 << bit % 8;
		}
		assert_int_equal(check(&p), RP_WIRE_OK);
		free(p.w);
	}
}

static void test_reflected(void **state)
{
	struct rp_wire_addrs swapped;
	struct packet p;

	make(&p, 24);
	memcpy(swapped.src, p.addrs.dst, 16);
	memcpy(swapped.dst, p.addrs.src, 16);
	p.addrs = swapped;
	assert_int_equal(check(&p), RP_WIRE_MAC_WRONG);
	free(p.w);
}

static void test_keys(void **state)
{
	struct packet p;

	make(&p, 24);
	/* the other valid key does not do, though it is valid */
	p.w->key_id = 7;
	assert_int_equal(check(&p), RP_WIRE_MAC_WRONG);
	p.w->key_id = 8;
	assert_int_equal(check(&p), RP_WIRE_KEY_UNKNOWN);
	p.w->key_id = 9;
	assert_int_equal(check(&p), RP_WIRE_OK);
	p.keys.key[1].secret[1] ^= 1ull << 63;
	assert_int_equal(check(&p), RP_WIRE_MAC_WRONG);
	p.keys.key[1].secret[1] ^= 1ull << 63;
	p.keys.key[1].valid = false;
	assert_int_equal(check(&p), RP_WIRE_KEY_UNKNOWN);
	/* the fleet goes from 9 to 7: whoever still has both takes either */
	p.keys.key[1].valid = true;
	rp_wire_seal(p.w, RP_WIRE_HELLO, 24, 1, 43, &p.keys.key[0], &p.addrs);
	assert_int_equal(check(&p), RP_WIRE_OK);
	p.keys.key[1].valid = false;
	assert_int_equal(check(&p), RP_WIRE_OK);
	/* without any key nothing passes, not even key 0 of zeroes */
	memset(&p.keys, 0, sizeof(p.keys));
	rp_wire_seal(p.w, RP_WIRE_HELLO, 24, 1, 44, &p.keys.key[0], &p.addrs);
	assert_int_equal(check(&p), RP_WIRE_KEY_UNKNOWN);
	assert_null(rp_keys_find(&p.keys, 0));
	free(p.w);
}

static void test_version(void **state)
{
	struct packet p;
	u32 version;

	make(&p, 24);
	for (version = 0; version < 256; version++) {
		p.w->version = version;
		assert_int_equal(check(&p), version == 1 ? RP_WIRE_OK : RP_WIRE_VERSION_UNKNOWN);
	}
	/* what another version means by the length, only it knows */
	p.w->version = 2;
	p.w->body_len = cpu_to_be16(3);
	assert_int_equal(check(&p), RP_WIRE_VERSION_UNKNOWN);
	free(p.w);
}

/* cut anywhere, and in memory of just that size */
static void test_truncated(void **state)
{
	struct packet whole, cut;

	make(&whole, 24);
	cut = whole;
	for (cut.len = 0; cut.len < whole.len; cut.len++) {
		cut.w = malloc(cut.len ? cut.len : 1);
		memcpy(cut.w, whole.w, cut.len);
		assert_int_equal(check(&cut), RP_WIRE_MALFORMED);
		free(cut.w);
	}
	cut.len = whole.len + 4;
	cut.w = calloc(1, cut.len);
	memcpy(cut.w, whole.w, whole.len);
	assert_int_equal(check(&cut), RP_WIRE_MALFORMED);
	free(cut.w);
	free(whole.w);
}

static void test_length_lies(void **state)
{
	struct packet p;
	u32 len;

	make(&p, 24);
	for (len = 0; len < 65536; len++) {
		p.w->body_len = cpu_to_be16(len);
		require(check(&p) == (len == 24 ? RP_WIRE_OK : RP_WIRE_MALFORMED), "body length %u",
			len);
	}
	free(p.w);
	/* longer than a body may be, and true */
	make(&p, RP_WIRE_BODY_MAX);
	p.len += 4;
	p.w = realloc(p.w, p.len);
	p.w->body_len = cpu_to_be16(RP_WIRE_BODY_MAX + 4);
	assert_int_equal(check(&p), RP_WIRE_MALFORMED);
	free(p.w);
}

static void test_noise(void **state)
{
	struct packet p;
	u32 i, verdict[RP_WIRE_MAC_WRONG + 1] = { 0 };

	make(&p, 64);
	for (i = 0; i < ROUNDS(1000000); i++) {
		rnd_fill(p.w, sizeof(*p.w));
		/* as good as noise can be without the key */
		p.w->version = rnd_below(8) ? RP_WIRE_VERSION : rnd();
		p.w->body_len = rnd_below(8) ? cpu_to_be16(64) : rnd();
		p.w->key_id = rnd_below(4) ? 7 + 2 * rnd_below(2) : rnd();
		verdict[check(&p)]++;
	}
	assert_int_equal(verdict[RP_WIRE_OK], 0);
	assert_true(verdict[RP_WIRE_MALFORMED] && verdict[RP_WIRE_VERSION_UNKNOWN]);
	assert_true(verdict[RP_WIRE_KEY_UNKNOWN] && verdict[RP_WIRE_MAC_WRONG]);
	free(p.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siphash_vectors),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_each_bit_counts),
		cmocka_unit_test(test_reflected),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_length_lies),
		cmocka_unit_test(test_noise),
	};

	return unit_run(tests);
}
