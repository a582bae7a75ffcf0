// SPDX-License-Identifier: GPL-2.0
/*
 * The programs' parser says of every frame what the module's parser says. Where that one
 * says "not RoCE" of UDP 4791 in fragments and behind extension headers, the programs'
 * says which; a walk over the headers without any limit knows.
 */
/* SOURCES: kmod/core/roce.c selftests/bpf/expected.c */
/* SOURCES: selftests/unit/packet.c selftests/unit/vectors.c */
#include "unit.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "expected.h"
#include "packet.h"
#include "parse.skel.h"
#include "programs.h"
#include "vectors.h"

static struct parse_bpf *skel;
static u32 seen[RP_EXTENDED + 1];
static bool frags_at_will;

static void same(const u8 *frame, u32 l3, const struct rp_roce *r, const char *where)
{
	const char *differs = expected_packet((const struct rp_packet *)&skel->bss->packet, frame,
					      l3, r);

	require(!differs, "%s: %s", where, differs);
}

static void agree(const u8 *frame, u32 len)
{
	static struct run run;
	struct rp_roce r;
	u32 l3, want;
	int err;

	if (len < 14)
		return;
	want = expected_verdict(frame, len, &l3, &r);
	require(want != EXPECTED_NOTHING, "the module's parser wants more than there is");
	seen[want]++;
	err = run_xdp(skel->progs.parse_xdp, frame, len, 0);
	require(err == XDP_PASS, "XDP: %d, length %u", err, len);
	require(skel->bss->verdict == want, "XDP: %u, not %u; length %u", skel->bss->verdict, want,
		len);
	if (want == RP_ROCE_FRAME)
		same(frame, l3, &r, "XDP");
	err = run_tc(skel->progs.parse_tc, frame, len, &run);
	/* kernels refuse to make an skb with less than an IP header in it, or of several pages */
	if (err == -EINVAL && (len < 14 + 40 || len > 3500))
		return;
	require(!err, "tc: %d, length %u", err, len);
	require(skel->bss->verdict == want, "tc: %u, not %u; length %u", skel->bss->verdict, want,
		len);
	if (want == RP_ROCE_FRAME)
		same(frame, l3, &r, "tc");
}

static u32 make(u8 *frame, const struct packet *p, u32 tags)
{
	u32 at = 12, i;

	memset(frame, 2, 12);
	for (i = 0; i < tags; i++, at += 4) {
		put_unaligned_be16(i + 1 < tags ? 0x88a8 : 0x8100, frame + at);
		put_unaligned_be16(100 + i, frame + at + 2);
	}
	put_unaligned_be16(p->ipv6 ? 0x86dd : 0x0800, frame + at);
	return at + 2 + packet_make(frame + at + 2, p);
}

static u8 frame[PACKET_MAX + 64];

static void each_opcode(void **state)
{
	u32 opcode, shape, len;

	for (opcode = 0; opcode < 256; opcode++)
		for (shape = 0; shape < 2 * 4 * 3; shape++) {
			struct packet p = { .ipv6 = shape & 1,
					    .opcode = opcode,
					    .psn = rnd(),
					    .options = shape & 1 ? 0 : shape % 3 * 20,
					    .sport = rnd(),
					    .qpn = rnd_below(3) ? rnd() & 0xffffff : 1,
					    .len = rnd_below(16) * 4 };

			len = make(frame, &p, shape / 2 % 4);
			agree(frame, len);
			agree(frame, len + 1 + rnd_below(46));		/* padding */
		}
}

static void each_truncation(void **state)
{
	u32 shape, len;

	for (shape = 0; shape < 24; shape++) {
		static const u8 opcodes[] = { 0x0c, 0x0a, 0x11, 0x64 };
		struct packet p = { .ipv6 = shape & 1, .opcode = opcodes[shape / 2 % 4],
				    .options = shape & 1 ? 0 : 8, .len = 64 };

		for (len = make(frame, &p, shape / 8); len >= 14; len--)
			agree(frame, len);
	}
}

/* Where the linear part ends must make no difference. */
static void each_straddle(void **state)
{
	struct rp_roce r;
	u32 shape, linear, len, l3, want;
	int err;

	for (shape = 0; shape < 12; shape++) {
		struct packet p = { .ipv6 = shape & 1,
				    .opcode = shape & 2 ? 0x0c : 0x11,
				    .len = 4096 };

		len = make(frame, &p, shape / 4);
		want = expected_verdict(frame, len, &l3, &r);
		for (linear = 14; linear < 150; linear++) {
			err = run_xdp(skel->progs.parse_xdp, frame, len, linear);
			if (err == -EINVAL && linear == 14 && !frags_at_will) {
				print_message("# this kernel runs tests with linear heads only\n");
				skip();
			}
			frags_at_will = true;
			require(err == XDP_PASS, "linear %u: %d", linear, err);
			require(skel->bss->verdict == want, "linear %u: %u", linear,
				skel->bss->verdict);
			same(frame, l3, &r, "straddle");
		}
	}
}

static void jumbo(void **state)
{
	struct packet p = { .opcode = 0x0a, .len = 8192 };
	u32 tags;

	for (tags = 0; tags < 3; tags++) {
		p.ipv6 = tags & 1;
		agree(frame, make(frame, &p, tags));
	}
}

static u32 put_extension(u8 *to, u8 kind, u8 next, u32 units)
{
	u32 len = kind == 44 ? 8 : kind == 51 ? (units + 2) * 4 : (units + 1) * 8;

	memset(to, 0, len);
	to[0] = next;
	to[1] = kind == 44 ? 0 : units;
	return len;
}

/* chains of extension headers, up to more than are followed, UDP 4791 or 4792 behind them */
static void extensions(void **state)
{
	static const u8 kinds[] = { 0, 43, 44, 51, 60, 135, 139, 140 };
	struct packet p = { .ipv6 = true, .opcode = 4, .len = 32 };
	static u8 plain[256];
	u32 n, i, len, at, round;
	u8 chain[12];

	len = make(plain, &p, 0);
	for (round = 0; round < 4000; round++) {
		n = 1 + rnd_below(10);
		memcpy(frame, plain, 54);
		for (i = 0; i < n; i++)
			chain[i] = kinds[rnd_below(ARRAY_SIZE(kinds))];
		frame[20] = chain[0];
		for (at = 54, i = 0; i < n; i++)
			at += put_extension(frame + at, chain[i], i + 1 < n ? chain[i + 1] : 17,
					    rnd_below(4));
		memcpy(frame + at, plain + 54, len - 54);
		if (rnd_below(4) == 0)
			put_unaligned_be16(4792, frame + at + 2);
		put_unaligned_be16(at - 54 + len - 54, frame + 18);
		agree(frame, at + len - 54);
		agree(frame, 14 + rnd_below(at + len - 68));
	}
	require(seen[RP_EXTENDED] > 1000, "few with extension headers: %u", seen[RP_EXTENDED]);
}

static void fragments(void **state)
{
	struct packet p = { .opcode = 4, .len = 32 };
	u32 len = make(frame, &p, 0), field;

	for (field = 0; field < 0x10000; field += 37) {
		put_unaligned_be16(field, frame + 20);
		agree(frame, len);
	}
	put_unaligned_be16(0x2000, frame + 20);
	agree(frame, len);
	require(seen[RP_FRAGMENT] > 0, "no fragment");
}

static struct frames vectors;

static void from_elsewhere(void **state)
{
	u32 i, len;

	for (i = 0; i < vectors.count; i++)
		for (len = vectors.frame[i].len; len >= 14 && len + 200 > vectors.frame[i].len;
		     len--)
			agree(vectors.frame[i].data, len);
	require(vectors.count > 0, "no captures");
	print_message("# %u frames\n", vectors.count);
}

/* bits turned over in the headers of good packets, and lengths that do not fit */
static void mutations(void **state)
{
	u32 round, len, i;

	for (round = 0; round < 60000; round++) {
		struct packet p = { .ipv6 = rnd() & 1, .opcode = rnd(), .len = rnd_below(32) * 4,
				    .qpn = rnd_below(4) };

		if (rnd_below(4)) {
			len = make(frame, &p, rnd_below(4));
		} else {
			const struct frame *f = &vectors.frame[rnd_below(vectors.count)];

			len = min(f->len, 2048u);
			memcpy(frame, f->data, len);
		}
		for (i = rnd_below(4); i; i--)
			frame[12 + rnd_below(min(len, 120u) - 12)] ^= 1 << rnd_below(8);
		if (!rnd_below(3))
			len = rnd_range(14, len);
		agree(frame, len);
	}
	print_message("# RoCE %u, other %u, malformed %u, fragments %u, extended %u\n",
		      seen[RP_ROCE_FRAME], seen[RP_OTHER], seen[RP_MALFORMED], seen[RP_FRAGMENT],
		      seen[RP_EXTENDED]);
	for (i = 0; i <= RP_EXTENDED; i++)
		require(seen[i] > 0, "verdict %u was never right", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_opcode),
		cmocka_unit_test(each_truncation),
		cmocka_unit_test(each_straddle),
		cmocka_unit_test(jumbo),
		cmocka_unit_test(extensions),
		cmocka_unit_test(fragments),
		cmocka_unit_test(from_elsewhere),
		cmocka_unit_test(mutations),
	};

	skel = parse_bpf__open_and_load();
	if (!skel) {
		if (errno != EPERM)
			return 1;
		programs_skip("BPF programs may not be loaded here (run as root)", errno);
	}
	frames_load(&vectors, captures_dir(), ".pcap");
	if (vectors_dir())
		frames_load(&vectors, vectors_dir(), ".hex");
	return unit_run(tests);
}
