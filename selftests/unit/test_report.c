// SPDX-License-Identifier: GPL-2.0
/* Reports: written and read back, full ones, and bodies that are none. */
/* SOURCES: kmod/core/report.c kmod/core/window.c kmod/core/repaired.c */
#include "unit.h"

#include <linux/rocepath.h>

#include "report.h"

#define HEAD ((u32)sizeof(struct rp_wire_report))
#define PATH ((u32)sizeof(struct rp_wire_report_path))
#define FLOW ((u32)sizeof(struct rp_wire_report_flow))

static u8 body[RP_WIRE_BODY_MAX];

static struct rp_report_path some_path(void)
{
	return (struct rp_report_path) {
		.path = rnd_below(ROCEPATH_PORTS_MAX) << 8 | rnd_below(256),
		.received = rnd(),
		.marked = rnd(),
		.late_us = rnd_below(0x10000) * 10,
	};
}

static struct rp_report_flow some_flow(u32 words)
{
	struct rp_report_flow f = {
		.qpn = rnd() & 0xffffff, .space = rnd_below(2), .expected = rnd() & RP_PSN_MASK,
		.repaired = rnd(), .words = words,
	};

	rnd_fill(f.held, words * sizeof(u32));
	return f;
}

static void same_path(const struct rp_report_path *a, const struct rp_report_path *b)
{
	require(a->path == b->path && a->received == b->received && a->marked == b->marked &&
		a->late_us == b->late_us, "another path");
}

static void same_flow(const struct rp_report_flow *a, const struct rp_report_flow *b)
{
	require(a->qpn == b->qpn && a->space == b->space && a->expected == b->expected &&
		a->repaired == b->repaired && a->words == b->words, "another flow");
	require(!memcmp(a->held, b->held, a->words * sizeof(u32)), "other bits");
}

/* as the wire format says, byte by byte */
static void test_format(void **state)
{
	static const u8 want[] = {
		1, 2, 3, 4, 5, 6, 7, 8,			/* to */
		0, 0, 0x27, 0x10, 0, 1, 0, 2,		/* 10 ms, one path, two flows */
		0x1f, 0xfe, 0, 7, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 9,
		1, 0, 0x12, 0x34, 2, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98,
		0, 0, 0, 5, 0x80, 0, 0, 0,
		0, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0,
	};
	struct rp_report_path p = {
		.path = 0x1ffe, .received = 0xffffffff, .marked = 9, .late_us = 79,
	};
	struct rp_report_flow f = {
		.qpn = 0x1234, .space = 1, .expected = 0xabcdef, .words = 2,
		.repaired = 0xfedcba98, .held = { 5, 1u << 31 },
	};
	struct rp_report_flow empty = { .qpn = 0xffffff };
	struct rp_report_writer w;

	rp_report_begin(&w, body, 0x0102030405060708ull, 10000);
	assert_true(rp_report_put_path(&w, &p));
	assert_true(rp_report_put_flow(&w, &f));
	assert_true(rp_report_put_flow(&w, &empty));
	/* paths come first */
	assert_false(rp_report_put_path(&w, &p));
	assert_int_equal(w.len, sizeof(want));
	assert_memory_equal(body, want, sizeof(want));
}

static void test_round_trip(void **state)
{
	static struct rp_report_path paths[100], p;
	static struct rp_report_flow flows[200], f;
	u32 round, i, n_paths, n_flows;
	struct rp_report_writer w;
	struct rp_report_reader r;

	for (round = 0; round < ROUNDS(20000); round++) {
		u32 want = rnd_below(100);

		rp_report_begin(&w, body, 1 + round, 100 + round);
		for (n_paths = 0; n_paths < want; n_paths++) {
			paths[n_paths] = some_path();
			if (!rp_report_put_path(&w, &paths[n_paths]))
				break;
		}
		for (n_flows = 0; n_flows < ARRAY_SIZE(flows); n_flows++) {
			u32 before = w.len, fit;

			flows[n_flows] = some_flow(rnd_below(10) ? rnd_below(4) : rnd_below(129));
			if (!rp_report_put_flow(&w, &flows[n_flows]))
				break;
			fit = (RP_WIRE_BODY_MAX - before - FLOW) / 4;
			flows[n_flows].words = min(flows[n_flows].words, fit);
			require(w.len == before + FLOW + 4 * flows[n_flows].words, "length");
		}
		require(w.len % 4 == 0 && w.len <= RP_WIRE_BODY_MAX, "that long: %u", w.len);
		require(rp_report_open(&r, body, w.len), "what was written is not read");
		require(r.to == 1 + round && r.interval_us == 100 + round, "another head");
		for (i = 0; rp_report_next_path(&r, &p); i++)
			same_path(&p, &paths[i]);
		require(i == n_paths, "%u paths of %u", i, n_paths);
		for (i = 0; rp_report_next_flow(&r, &f); i++)
			same_flow(&f, &flows[i]);
		require(i == n_flows && !r.left, "%u flows of %u", i, n_flows);
		require(!rp_report_next_path(&r, &p), "a path behind all flows");
	}
}

/* Lateness has 16 bits of 10 us, an interval has bounds. */
static void test_saturation(void **state)
{
	static const u32 says[] = { 0, 99, 100, 1000000, 1000001, 0xffffffff };
	static const u32 means[] = { 100, 100, 100, 1000000, 1000000, 1000000 };
	struct rp_report_path p = { .late_us = 0xffffffff };
	struct rp_report_writer w;
	struct rp_report_reader r;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(says); i++) {
		rp_report_begin(&w, body, 1, says[i]);
		assert_true(rp_report_open(&r, body, w.len));
		assert_int_equal(r.interval_us, means[i]);
		assert_false(rp_report_next_path(&r, &p));
	}
	assert_true(rp_report_put_path(&w, &p));
	assert_true(rp_report_open(&r, body, w.len));
	assert_true(rp_report_next_path(&r, &p));
	assert_int_equal(p.late_us, 655350);
}

static void test_full(void **state)
{
	struct rp_report_flow f = some_flow(1), none = some_flow(0), one;
	struct rp_report_path p = some_path();
	struct rp_report_writer w;
	struct rp_report_reader r;
	u32 n = 0;

	/* flows: until there is none any more */
	rp_report_begin(&w, body, 1, 1000);
	while (rp_report_put_flow(&w, &f))
		n++;
	assert_int_equal(n, (RP_WIRE_BODY_MAX - HEAD) / (FLOW + 4));
	assert_false(rp_report_put_flow(&w, &f));
	assert_true(rp_report_open(&r, body, w.len));
	assert_int_equal(r.flows, n);

	/* as many words as fit, if it is one; none where there are none */
	rp_report_begin(&w, body, 1, 1000);
	while (w.len + FLOW + 4 * 4 < RP_WIRE_BODY_MAX)
		assert_true(rp_report_put_flow(&w, &none));
	f = some_flow(RP_REPORT_WORDS_MAX);
	assert_true(rp_report_put_flow(&w, &f));
	assert_int_equal(w.len, RP_WIRE_BODY_MAX);
	assert_true(rp_report_open(&r, body, w.len));
	while (rp_report_next_flow(&r, &f))
		n = f.words;
	assert_in_range(n, 1, 4);
	rp_report_begin(&w, body, 1, 1000);
	one = some_flow(1);
	while ((RP_WIRE_BODY_MAX - w.len) % FLOW)
		assert_true(rp_report_put_flow(&w, &one));
	while (w.len + FLOW < RP_WIRE_BODY_MAX)
		assert_true(rp_report_put_flow(&w, &none));
	assert_int_equal(w.len, RP_WIRE_BODY_MAX - FLOW);
	assert_false(rp_report_put_flow(&w, &f));
	assert_true(rp_report_put_flow(&w, &none));
	assert_int_equal(w.len, RP_WIRE_BODY_MAX);

	/* no more words than there may be, whoever says so */
	rp_report_begin(&w, body, 1, 1000);
	f = some_flow(RP_REPORT_WORDS_MAX);
	f.words = 0xffffffff;
	assert_true(rp_report_put_flow(&w, &f));
	assert_int_equal(w.len, HEAD + FLOW + 4 * RP_REPORT_WORDS_MAX);

	/* paths */
	rp_report_begin(&w, body, 1, 1000);
	for (n = 0; rp_report_put_path(&w, &p); n++)
		;
	assert_int_equal(n, (RP_WIRE_BODY_MAX - HEAD) / PATH);
}

/* in memory of just its size */
static bool opens(const u8 *from, u32 len)
{
	struct rp_report_reader r;
	struct rp_report_path p;
	struct rp_report_flow f;
	u8 *copy = malloc(len + 1);
	bool ok;

	memcpy(copy, from, len);
	ok = rp_report_open(&r, copy, len);
	while (ok && rp_report_next_path(&r, &p))
		require(p.path >> 8 < ROCEPATH_PORTS_MAX, "a port that is none");
	while (ok && rp_report_next_flow(&r, &f))
		require(f.space < 2 && f.words <= RP_REPORT_WORDS_MAX && f.qpn <= 0xffffff &&
			f.expected <= RP_PSN_MASK, "a flow that is none");
	require(!ok || !r.left, "%u bytes are left", r.left);
	free(copy);
	return ok;
}

static u32 good(void)
{
	struct rp_report_path p = some_path();
	struct rp_report_flow f = some_flow(3), g = some_flow(0);
	struct rp_report_writer w;

	rp_report_begin(&w, body, 1, 1000);
	assert_true(rp_report_put_path(&w, &p));
	assert_true(rp_report_put_path(&w, &p));
	assert_true(rp_report_put_flow(&w, &f));
	assert_true(rp_report_put_flow(&w, &g));
	return w.len;
}

static void test_lengths(void **state)
{
	u32 len = good(), l;

	for (l = 0; l <= sizeof(body); l++)
		assert_int_equal(opens(body, l), l == len);
	for (l = 0; l < 8; l++) {
		u8 huge[RP_WIRE_BODY_MAX + 8] = { 0 };

		assert_false(opens(huge, RP_WIRE_BODY_MAX + l + 1));
	}
}

static void refuse_byte(u32 at, u8 value)
{
	u32 len = good();

	assert_true(opens(body, len));
	body[at] = value;
	assert_false(opens(body, len));
}

static void test_refused(void **state)
{
	u32 flow = HEAD + 2 * PATH, i;

	/* more or fewer than there are */
	for (i = 0; i < 256; i++) {
		if (i != 2) {
			refuse_byte(13, i);
			refuse_byte(15, i);
		}
		if (i) {
			refuse_byte(12, i);
			refuse_byte(14, i);
		}
		/* ports, PSN spaces, words */
		if (i >= ROCEPATH_PORTS_MAX) {
			refuse_byte(HEAD, i);
			refuse_byte(HEAD + PATH, i);
		}
		if (i > 1)
			refuse_byte(flow, i);
		if (i != 3)
			refuse_byte(flow + 4, i);
	}
}

/* Nothing is read that is not there, nothing that makes no sense is believed. */
static void test_noise(void **state)
{
	u32 i, opened = 0;

	for (i = 0; i < ROUNDS(1000000); i++) {
		u8 noise[128];
		u32 len = rnd_below(sizeof(noise) + 1), flips;

		rnd_fill(noise, len);
		if (len >= HEAD) {
			noise[12] = 0;
			noise[13] = rnd_below(4);
			noise[14] = 0;
			noise[15] = rnd_below(4);
		}
		opened += opens(noise, len);
		if (i % 16)
			continue;
		len = good();
		for (flips = rnd_below(4); flips; flips--)
			body[rnd_below(len)] ^= 1u << rnd_below(8);
		opened += opens(body, len);
	}
	assert_true(opened);
}

/* What a window holds, as a report has it. */
static void test_window(void **state)
{
	struct rp_window_caps caps = { .packets = 8192, .bytes = 1 << 30, .gap_fixed_us = 1000 };
	static struct rp_held *bucket[1024], held[600];
	struct rp_report_flow f;
	struct rp_window w;
	u32 round, i;

	for (round = 0; round < ROUNDS(2000); round++) {
		u32 first = rnd_below(2) ? rnd() & RP_PSN_MASK : RP_PSN_MASK - rnd_below(50);
		u32 n = rnd_below(ARRAY_SIZE(held)), reach = rnd_range(1, 6000), words = 0;
		static bool is_held[6001];

		memset(is_held, 0, sizeof(is_held));
		memset(bucket, 0, sizeof(bucket));
		rp_window_init_requests(&w, first, false);
		rp_window_buckets(&w, bucket, ARRAY_SIZE(bucket));
		for (i = 0; i < n; i++) {
			u32 ahead = rnd_range(1, reach);

			held[i] = (struct rp_held) {
				.psn = rp_psn_add(first, (s32)ahead), .span = 1, .bytes = 1,
			};
			if (rp_window_rx(&w, &held[i], &caps, 1000) != RP_WINDOW_HOLD)
				continue;
			is_held[ahead] = true;
			if (ahead <= RP_REPORT_WORDS_MAX * 32)
				words = max(words, (ahead + 31) / 32);
		}
		rp_report_window(&f, &w);
		require(f.expected == first && f.words == words, "%u words, not %u", f.words,
			words);
		for (i = 0; i < words * 32; i++)
			require((f.held[i / 32] >> i % 32 & 1) == is_held[i + 1],
				"the bit of PSN + %u", i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_window),
	};

	return unit_run(tests);
}
