// SPDX-License-Identifier: GPL-2.0
/* The reorder window: orders, gaps and their timeout, caps, spans, awaited responses. */
/* SOURCES: kmod/core/window.c kmod/core/repaired.c */
#include "unit.h"
#include "window.h"

#define US 1000ull
#define PACKETS 512

static const struct rp_window_caps roomy = {
	.packets = 256, .bytes = 1 << 20, .gap_floor_us = 100, .gap_ceiling_us = 10000,
};

/* a window, its memory, and what came out of it: PSNs, in order */
struct bench {
	struct rp_window w;
	struct rp_window_caps caps;
	struct rp_awaited awaited[RP_WINDOW_AWAITED];
	struct rp_held *bucket[64];
	struct rp_held held[PACKETS];
	u32 n;
	u32 out[PACKETS];
	u32 outs;
	u64 now;
};

static void start(struct bench *b, u32 psn)
{
	memset(b, 0, sizeof(*b));
	rp_window_init_requests(&b->w, psn, false);
	rp_window_buckets(&b->w, b->bucket, ARRAY_SIZE(b->bucket));
	b->caps = roomy;
	b->now = 1000 * US;
}

static void start_responses(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	rp_window_init_responses(&b->w, b->awaited);
	rp_window_buckets(&b->w, b->bucket, ARRAY_SIZE(b->bucket));
	b->caps = roomy;
	b->now = 1000 * US;
}

static void drain(struct bench *b)
{
	struct rp_held *h;

	while ((h = rp_window_next(&b->w, b->now)))
		b->out[b->outs++] = h->psn;
}

static void list_out(struct bench *b, struct rp_held *h)
{
	for (; h; h = h->next)
		b->out[b->outs++] = h->psn;
}

static enum rp_window_verdict give_span(struct bench *b, u32 psn, u32 span)
{
	struct rp_held *h = &b->held[b->n++];
	enum rp_window_verdict verdict;

	*h = (struct rp_held) { .psn = psn & RP_PSN_MASK, .span = span, .bytes = 1000 };
	verdict = rp_window_rx(&b->w, h, &b->caps, b->now);
	if (verdict == RP_WINDOW_PASS || verdict == RP_WINDOW_DELIVER)
		b->out[b->outs++] = h->psn;
	if (verdict == RP_WINDOW_DELIVER)
		drain(b);
	if (verdict == RP_WINDOW_FULL)
		list_out(b, rp_window_overflow(&b->w, h));
	return verdict;
}

static enum rp_window_verdict give(struct bench *b, u32 psn)
{
	return give_span(b, psn, 1);
}

/* what came out since the last time, and only that */
static void expect_out(struct bench *b, u32 n, ...)
{
	va_list want;
	u32 i;

	assert_int_equal(b->outs, n);
	va_start(want, n);
	for (i = 0; i < n; i++)
		assert_int_equal(b->out[i], va_arg(want, u32));
	va_end(want);
	b->outs = 0;
}

/* the next permutation in lexical order; false after the last */
static bool permute(u32 *a, u32 n)
{
	u32 i = n - 1, j = n - 1, swap;

	while (i && a[i - 1] >= a[i])
		i--;
	if (!i)
		return false;
	while (a[j] <= a[i - 1])
		j--;
	swap = a[i - 1], a[i - 1] = a[j], a[j] = swap;
	for (j = n - 1; i < j; i++, j--)
		swap = a[i], a[i] = a[j], a[j] = swap;
	return true;
}

static u32 every_order(u32 n, u32 from, bool responses)
{
	u32 order[8], i, orders = 0;
	static struct bench b;

	for (i = 0; i < n; i++)
		order[i] = i;
	do {
		if (responses) {
			start_responses(&b);
			rp_window_await(&b.w, from, n);
		} else {
			start(&b, from);
		}
		for (i = 0; i < n; i++)
			give(&b, from + order[i]);
		require(b.outs == n && !b.w.held, "%u of %u packets came out", b.outs, n);
		for (i = 0; i < n; i++)
			require(b.out[i] == ((from + i) & RP_PSN_MASK),
				"PSN %06x came out as number %u", b.out[i], i);
		orders++;
	} while (permute(order, n));
	return orders;
}

static void test_every_order(void **state)
{
	assert_int_equal(every_order(7, 5, false), 5040);
	assert_int_equal(every_order(7, 0xfffffc, false), 5040);
	assert_int_equal(every_order(7, 0xfffffd, true), 5040);
	assert_int_equal(every_order(8, 0xfffffa, false), 40320);
}

static void test_verdicts(void **state)
{
	static struct bench b;

	start(&b, 100);
	assert_int_equal(give(&b, 99), RP_WINDOW_PASS);
	assert_int_equal(give(&b, 102), RP_WINDOW_HOLD);
	assert_int_equal(give(&b, 102), RP_WINDOW_DUPLICATE);
	assert_int_equal(give(&b, 100 + 255), RP_WINDOW_HOLD);
	assert_int_equal(give(&b, 100 + 256), RP_WINDOW_PASS);
	expect_out(&b, 2, 99, 356);
	assert_int_equal(give(&b, 100), RP_WINDOW_DELIVER);
	expect_out(&b, 1, 100);
	assert_int_equal(give(&b, 101), RP_WINDOW_DELIVER);
	expect_out(&b, 2, 101, 102);
	assert_int_equal(give(&b, 101), RP_WINDOW_PASS);
	assert_int_equal(b.w.expected, 103);
	assert_int_equal(b.w.held, 1);
	assert_int_equal(b.w.held_bytes, 1000);
	assert_int_equal(b.w.stats.held, 2);
	assert_int_equal(b.w.stats.held_max, 2);
}

/* C30: whatever PSN one packet carries, what follows is delivered as if it had not been there. */
static void test_forged(void **state)
{
	static struct bench b;
	u32 step, i;

	for (step = 0; step < 4096; step++) {
		u32 psn = rnd() & RP_PSN_MASK, forged = rnd() & RP_PSN_MASK;
		u32 in_order = 0;

		if (forged == psn)
			continue;
		start(&b, psn);
		give(&b, forged);
		require(b.w.expected == psn, "PSN %06x moved the window", forged);
		for (i = 0; i < 40; i++) {
			u32 own = (psn + i) & RP_PSN_MASK;

			/* the forged one stands for its twin, and nobody could tell */
			if (own != forged)
				require(give(&b, own) == RP_WINDOW_DELIVER, "PSN %06x did not pass",
					own);
		}
		for (i = 0; i < b.outs; i++)
			in_order += b.out[i] == ((psn + in_order) & RP_PSN_MASK);
		require(in_order == 40, "%u of 40 came out in order", in_order);
	}
}

static void test_gap_expires(void **state)
{
	static struct bench b;
	u64 deadline;

	start(&b, 10);
	assert_int_equal(rp_window_deadline(&b.w, &b.caps), 0);
	give(&b, 12);
	deadline = rp_window_deadline(&b.w, &b.caps);
	assert_int_equal(deadline, b.now + 100 * US);
	b.now += 50 * US;
	give(&b, 15);
	give(&b, 13);
	assert_int_equal(rp_window_deadline(&b.w, &b.caps), deadline);
	list_out(&b, rp_window_release(&b.w, true));
	expect_out(&b, 3, 12, 13, 15);
	assert_int_equal(b.w.expected, 10);
	assert_int_equal(b.w.stats.expired, 1);
	assert_int_equal(rp_window_deadline(&b.w, &b.caps), 0);
	/* the QP asks again: all of it comes once more, in another order */
	give(&b, 11);
	assert_int_equal(rp_window_deadline(&b.w, &b.caps), b.now + 125 * US);
	give(&b, 10);
	give(&b, 12);
	expect_out(&b, 3, 10, 11, 12);
}

/* A gap that closes and another behind it: the second has its own time. */
static void test_gap_behind_gap(void **state)
{
	static struct bench b;

	start(&b, 10);
	give(&b, 11);
	give(&b, 13);
	b.now += 60 * US;
	give(&b, 10);
	expect_out(&b, 2, 10, 11);
	assert_int_equal(b.w.stats.filled, 1);
	assert_int_equal(b.w.late_ns, 60 * US);
	assert_int_equal(rp_window_deadline(&b.w, &b.caps), b.now + 120 * US);
	b.now += 10 * US;
	give(&b, 12);
	expect_out(&b, 2, 12, 13);
	assert_int_equal(b.w.late_ns, 60 * US);
	assert_int_equal(rp_window_deadline(&b.w, &b.caps), 0);
}

static void late_by(struct bench *b, u64 ns)
{
	u32 psn = b->w.expected;

	b->n = 0;
	b->outs = 0;
	give(b, psn + 1);
	b->now += ns;
	give(b, psn);
}

static void test_timeout_follows_lateness(void **state)
{
	static struct bench b;
	u32 before, i;

	start(&b, 0xfffff0);
	assert_int_equal(rp_window_timeout_us(&b.w, &b.caps), 100);
	late_by(&b, 400 * US);
	assert_int_equal(rp_window_timeout_us(&b.w, &b.caps), 800);
	late_by(&b, 300 * US);
	assert_int_equal(rp_window_timeout_us(&b.w, &b.caps), 800);
	late_by(&b, 9000 * US);
	assert_int_equal(rp_window_timeout_us(&b.w, &b.caps), 10000);
	/* nothing is later than the ceiling: it would be remembered far too long */
	late_by(&b, 60 * 1000 * 1000 * US);
	assert_int_equal(b.w.late_ns, 10000 * US);
	/* a burst of early ones does not make it forget, a second of them does */
	for (i = 0; i < 1000; i++)
		late_by(&b, US);
	assert_in_range(rp_window_timeout_us(&b.w, &b.caps), 9900, 10000);
	for (i = 0; i < 10; i++) {
		before = b.w.late_ns;
		b.now += 100 * 1000 * US;
		late_by(&b, US);
		assert_in_range(b.w.late_ns, before - before / 50, before - before / 80);
	}
	for (i = 0; i < 1000; i++) {
		b.now += 100 * 1000 * US;
		late_by(&b, US);
	}
	assert_int_equal(rp_window_timeout_us(&b.w, &b.caps), 100);
	b.caps.gap_fixed_us = 777;
	assert_int_equal(rp_window_timeout_us(&b.w, &b.caps), 777);
}

/* Lateness that always outlives the timeout is never measured: strikes find it. */
static void test_timeout_grows_by_strikes(void **state)
{
	static struct bench b;
	u32 i, was = 100, is;

	start(&b, 0);
	for (i = 0; i < 100 && was < 10000; i++) {
		b.n = 0;
		give(&b, b.w.expected + 1);
		assert_int_equal(rp_window_timeout_us(&b.w, &b.caps), was);
		assert_non_null(rp_window_release(&b.w, true));
		is = rp_window_timeout_us(&b.w, &b.caps);
		assert_in_range(is, was + 1, was + was / 4 + 1);
		was = is;
	}
	assert_int_equal(was, 10000);
	assert_in_range(i, 15, 30);
	assert_null(rp_window_release(&b.w, true));
	assert_int_equal(b.w.stats.expired, i);
	/* and one that was in time ends it */
	late_by(&b, 200 * US);
	assert_int_equal(rp_window_timeout_us(&b.w, &b.caps), 400);
}

static void test_caps(void **state)
{
	static struct bench b;
	u32 i;

	start(&b, 0);
	b.caps.packets = 8;
	for (i = 0; i < 6; i++)
		assert_int_equal(give(&b, 7 - i), RP_WINDOW_HOLD);
	b.caps.bytes = 6999;
	assert_int_equal(give(&b, 1), RP_WINDOW_FULL);
	expect_out(&b, 7, 1, 2, 3, 4, 5, 6, 7);
	assert_int_equal(b.w.expected, 0);
	assert_int_equal(b.w.held, 0);

	start(&b, 0);
	b.caps.packets = 8;
	for (i = 0; i < 8; i++)
		give_span(&b, 8 + 8 * i, 8);
	assert_int_equal(b.w.held, 8);
	assert_int_equal(give_span(&b, 2, 6), RP_WINDOW_FULL);
	expect_out(&b, 9, 2, 8, 16, 24, 32, 40, 48, 56, 64);
}

static void test_hold_nothing(void **state)
{
	static struct bench b;

	start(&b, 5);
	b.caps.packets = 0;
	assert_int_equal(give(&b, 6), RP_WINDOW_PASS);
	assert_int_equal(give_span(&b, 7, 9), RP_WINDOW_PASS);
	assert_int_equal(give(&b, 5), RP_WINDOW_DELIVER);
	start_responses(&b);
	b.caps.packets = 0;
	rp_window_await(&b.w, 50, 10);
	assert_int_equal(give(&b, 51), RP_WINDOW_PASS);
}

static void test_no_buckets(void **state)
{
	static struct bench b;

	start(&b, 5);
	assert_ptr_equal(rp_window_buckets(&b.w, NULL, 0), b.bucket);
	assert_int_equal(rp_window_wants(&b.w, 4), 0);
	assert_int_equal(rp_window_wants(&b.w, 5), 0);
	assert_int_equal(rp_window_wants(&b.w, 6), 64);
	assert_int_equal(give(&b, 6), RP_WINDOW_FULL);
	assert_int_equal(give(&b, 5), RP_WINDOW_DELIVER);
	expect_out(&b, 2, 6, 5);
}

/* what is held cannot be left without buckets, and moves to others whole */
static void test_buckets_change(void **state)
{
	struct rp_held *more[256] = { NULL }, *less[1] = { NULL };
	static struct bench b;
	u32 i;

	start(&b, 0);
	for (i = 1; i <= 64; i++) {
		assert_int_equal(rp_window_wants(&b.w, i), 0);
		give(&b, i);
	}
	assert_int_equal(rp_window_wants(&b.w, 65), 128);
	assert_null(rp_window_buckets(&b.w, NULL, 0));
	assert_ptr_equal(rp_window_buckets(&b.w, more, ARRAY_SIZE(more)), b.bucket);
	give(&b, 65);
	assert_ptr_equal(rp_window_buckets(&b.w, less, ARRAY_SIZE(less)), more);
	give(&b, 0);
	assert_int_equal(b.outs, 66);
	for (i = 0; i < 66; i++)
		assert_int_equal(b.out[i], i);
}

/* READ requests: as far apart as they have responses, and none is out of reach for that. */
static void test_reads(void **state)
{
	static struct bench b;
	u32 i;

	start(&b, 0xffff00);
	for (i = 15; i; i--)
		assert_int_equal(give_span(&b, 0xffff00 + i * 1024, 1024), RP_WINDOW_HOLD);
	/* a small one between big ones: the big ones are not forgotten */
	assert_int_equal(give(&b, 0xffff00 + 16 * 1024), RP_WINDOW_HOLD);
	assert_int_equal(give_span(&b, 0xffff00, 1024), RP_WINDOW_DELIVER);
	assert_int_equal(b.outs, 17);
	for (i = 0; i < 17; i++)
		assert_int_equal(b.out[i], (0xffff00 + i * 1024) & RP_PSN_MASK);
	/* nonsense is left to the QP */
	assert_int_equal(give_span(&b, b.w.expected, 0x800000), RP_WINDOW_PASS);
	assert_int_equal(give_span(&b, b.w.expected, 0), RP_WINDOW_PASS);
}

/* A held packet whose PSN a READ turns out to use up comes out, late but not never. */
static void test_span_over_held(void **state)
{
	static struct bench b;

	start(&b, 10);
	give(&b, 12);
	give(&b, 14);
	give_span(&b, 10, 4);
	expect_out(&b, 3, 10, 12, 14);
	assert_int_equal(b.w.expected, 15);
	assert_int_equal(b.w.held, 0);
}

static void test_seek(void **state)
{
	static struct bench b;

	start(&b, 0xfffffe);
	give(&b, 2);
	give(&b, 5);
	assert_false(rp_window_seek(&b.w, 0xfffffe, true));
	assert_false(rp_window_seek(&b.w, 0xfffff0, false));
	/* an ACK of PSN 1: it and those before it came some other way */
	assert_true(rp_window_seek(&b.w, 2, false));
	drain(&b);
	expect_out(&b, 1, 2);
	/* and of 6: the held 5 is behind now */
	assert_true(rp_window_seek(&b.w, 7, false));
	drain(&b);
	expect_out(&b, 1, 5);
	assert_int_equal(b.w.stats.forwards, 2);
	/* a NAK: what comes again is put in order again */
	give(&b, 8);
	assert_true(rp_window_seek(&b.w, 4, true));
	drain(&b);
	assert_int_equal(b.w.stats.rewinds, 1);
	assert_int_equal(b.w.expected, 4);
	assert_int_equal(rp_window_deadline(&b.w, &b.caps), b.now + 100 * US);
	give(&b, 6);
	give(&b, 4);
	give(&b, 7);
	give(&b, 5);
	expect_out(&b, 5, 4, 5, 6, 7, 8);
	/* far back, more than once: what is held does not come to lie behind unseen */
	give(&b, 10);
	assert_true(rp_window_seek(&b.w, b.w.expected - 0x700000, true));
	drain(&b);
	assert_int_equal(b.w.held, 1);
	assert_true(rp_window_seek(&b.w, b.w.expected - 0x700000, true));
	drain(&b);
	expect_out(&b, 1, 10);
}

static void test_unreliable(void **state)
{
	static struct bench b;

	start(&b, 0);
	rp_window_init_requests(&b.w, 0, true);
	rp_window_buckets(&b.w, b.bucket, ARRAY_SIZE(b.bucket));
	give(&b, 3);
	give(&b, 1);
	list_out(&b, rp_window_release(&b.w, true));
	expect_out(&b, 2, 1, 3);
	assert_int_equal(b.w.expected, 4);
	assert_int_equal(give(&b, 0), RP_WINDOW_PASS);
	assert_int_equal(give(&b, 4), RP_WINDOW_DELIVER);
}

static void test_responses(void **state)
{
	static struct bench b;

	start_responses(&b);
	assert_int_equal(give(&b, 7), RP_WINDOW_PASS);
	assert_int_equal(rp_window_wants(&b.w, 7), 0);
	assert_true(rp_window_await(&b.w, 0xfffffe, 4));
	assert_false(rp_window_await(&b.w, 2, 2));
	assert_false(rp_window_await(&b.w, 100000, 1));
	/* far ahead, but awaited: held; near, but not awaited: passes */
	assert_int_equal(give(&b, 100000), RP_WINDOW_HOLD);
	assert_int_equal(give(&b, 5), RP_WINDOW_PASS);
	assert_int_equal(give(&b, 3), RP_WINDOW_HOLD);
	b.outs = 0;
	give(&b, 0);
	give(&b, 0xffffff);
	give(&b, 0xfffffe);
	expect_out(&b, 3, 0xfffffe, 0xffffff, 0);
	give(&b, 2);
	give(&b, 1);
	expect_out(&b, 4, 1, 2, 3, 100000);
	assert_false(b.w.open);
	assert_int_equal(rp_window_deadline(&b.w, &b.caps), 0);
}

/* The requester goes back to the middle of a READ, and asks again for what is behind it. */
static void test_requester_goes_back(void **state)
{
	static struct bench b;
	u32 i;

	start_responses(&b);
	rp_window_await(&b.w, 10, 8);
	rp_window_await(&b.w, 30, 4);
	for (i = 10; i < 14; i++)
		give(&b, i);
	give(&b, 16);
	give(&b, 31);
	b.outs = 0;
	assert_true(rp_window_await(&b.w, 12, 6));
	drain(&b);
	assert_int_equal(b.w.stats.rewinds, 1);
	give(&b, 13);
	give(&b, 12);
	expect_out(&b, 2, 12, 13);
	/* 30 on is not awaited until asked for again; the held 31 waits */
	assert_int_equal(give(&b, 32), RP_WINDOW_PASS);
	assert_false(rp_window_await(&b.w, 30, 4));
	b.outs = 0;
	give(&b, 15);
	give(&b, 14);
	give(&b, 17);
	expect_out(&b, 4, 14, 15, 16, 17);
	assert_int_equal(b.w.expected, 30);
	give(&b, 30);
	expect_out(&b, 2, 30, 31);
	/* what is never asked for again does not stay for ever */
	give(&b, 33);
	assert_false(rp_window_await(&b.w, 32, 1));
	give(&b, 32);
	expect_out(&b, 2, 32, 33);
	assert_false(b.w.open);
}

static void test_too_many_awaited(void **state)
{
	static struct bench b;
	u32 i;

	start_responses(&b);
	for (i = 0; i < RP_WINDOW_AWAITED; i++)
		assert_int_equal(rp_window_await(&b.w, 10 * i, 1), !i);
	give(&b, 20);
	assert_true(rp_window_await(&b.w, 10 * i, 1));
	assert_false(b.w.open);
	drain(&b);
	expect_out(&b, 1, 20);
	/* afterwards it starts anew; a million READs that touch each other are one run */
	assert_true(rp_window_await(&b.w, 9000, 1));
	for (i = 0; i < 1000000; i++)
		require(!rp_window_await(&b.w, (9001 + i) & RP_PSN_MASK, 1), "moved");
	assert_int_equal(b.w.awaited_n, 1);
	for (i = 0; i < 0x1000100; i++) {
		u32 psn = (9000 + i) & RP_PSN_MASK;

		b.n = 0;
		b.outs = 0;
		require(!rp_window_await(&b.w, (9000 + 1000001 + i) & RP_PSN_MASK, 1), "moved");
		require(give(&b, psn) == RP_WINDOW_DELIVER, "PSN %06x did not pass", psn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_order),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_gap_expires),
		cmocka_unit_test(test_gap_behind_gap),
		cmocka_unit_test(test_timeout_follows_lateness),
		cmocka_unit_test(test_timeout_grows_by_strikes),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_hold_nothing),
		cmocka_unit_test(test_no_buckets),
		cmocka_unit_test(test_buckets_change),
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_span_over_held),
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_unreliable),
		cmocka_unit_test(test_responses),
		cmocka_unit_test(test_requester_goes_back),
		cmocka_unit_test(test_too_many_awaited),
	};

	return unit_run(tests);
}
