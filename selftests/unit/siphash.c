// SPDX-License-Identifier: GPL-2.0
/*
 * SipHash-2-4 for what runs outside the kernel. Aumasson and Bernstein,
 * "SipHash: a fast short-input PRF", 2012.
 */
#include "wire.h"

struct sip {
	u64 v0, v1, v2, v3;
};

static u64 rotate(u64 x, u32 by)
{
	return x << by | x >> (64 - by);
}

static void rounds(struct sip *s, u32 n)
{
	while (n--) {
		s->v0 += s->v1;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v3;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 += s->v3;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 += s->v1;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v2 = rotate(s->v2, 32);
	}
}

static void absorb(struct sip *s, u64 word)
{
	s->v3 ^= word;
	rounds(s, 2);
	s->v0 ^= word;
}

static u64 little(const u8 *p, size_t n)
{
	u64 word = 0;

	while (n--)
		word = word << 8 | p[n];
	return word;
}

u64 rp_siphash(const void *data, size_t len, const struct rp_key *key)
{
	struct sip s = {
		key->secret[0] ^ 0x736f6d6570736575ull, key->secret[1] ^ 0x646f72616e646f6dull,
		key->secret[0] ^ 0x6c7967656e657261ull, key->secret[1] ^ 0x7465646279746573ull,
	};
	const u8 *p = data;
	size_t i;

	for (i = 0; i + 8 <= len; i += 8)
		absorb(&s, little(p + i, 8));
	absorb(&s, little(p + i, len - i) | (u64)len << 56);
	s.v2 ^= 0xff;
	rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
