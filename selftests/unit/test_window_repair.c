// SPDX-License-Identifier: GPL-2.0
/* The reorder window and repairs: nothing reaches the QP twice; and how late packets are. */
/* SOURCES: kmod/core/window.c kmod/core/repaired.c */
#include "unit.h"
#include "window.h"

#define US 1000ull
#define GAP 1000	/* us: the gap timeout, as nothing here is late */

struct bench {
	struct rp_window w;
	struct rp_window_caps caps;
	struct rp_awaited awaited[RP_WINDOW_AWAITED];
	struct rp_held *bucket[64];
	struct rp_held held[256];
	u32 n;
	u32 out;	/* packets that the QP got */
	u64 now;
};

static void start(struct bench *b, u32 psn)
{
	memset(b, 0, sizeof(*b));
	rp_window_init_requests(&b->w, psn, false);
	rp_window_buckets(&b->w, b->bucket, ARRAY_SIZE(b->bucket));
	b->caps = (struct rp_window_caps) { .packets = 64, .bytes = 1 << 20, .gap_fixed_us = GAP };
	b->now = 1000 * US;
}

static void start_responses(struct bench *b, u32 psn, u32 count)
{
	start(b, 0);
	rp_window_init_responses(&b->w, b->awaited);
	rp_window_buckets(&b->w, b->bucket, ARRAY_SIZE(b->bucket));
	rp_window_await(&b->w, psn, count);
}

static enum rp_window_verdict give(struct bench *b, u32 psn, bool repair)
{
	struct rp_held *h = &b->held[b->n++ % ARRAY_SIZE(b->held)];
	enum rp_window_verdict verdict;

	*h = (struct rp_held) {
		.psn = psn & RP_PSN_MASK, .span = 1, .bytes = 1000, .repair = repair,
	};
	verdict = rp_window_rx(&b->w, h, &b->caps, b->now);
	if (verdict == RP_WINDOW_DELIVER || verdict == RP_WINDOW_PASS)
		b->out++;
	while (verdict == RP_WINDOW_DELIVER && rp_window_next(&b->w, b->now))
		b->out++;
	return verdict;
}

#define original(b, psn, verdict) assert_int_equal(give(b, psn, false), RP_WINDOW_##verdict)
#define repair(b, psn, verdict) assert_int_equal(give(b, psn, true), RP_WINDOW_##verdict)

static void test_closes_a_gap(void **state)
{
	static struct bench b;

	start(&b, 0xfffffe);
	original(&b, 0xfffffe, DELIVER);
	original(&b, 0, HOLD);
	repair(&b, 0xffffff, DELIVER);
	assert_int_equal(b.out, 3);
	assert_int_equal(b.w.expected, 1);
	assert_int_equal(b.w.stats.repairs, 1);
	assert_int_equal(b.w.stats.filled, 1);
	/* one that is held closes one of its own later */
	repair(&b, 2, HOLD);
	original(&b, 1, DELIVER);
	assert_int_equal(b.out, 5);
	assert_int_equal(b.w.stats.repairs, 2);
	assert_int_equal(b.w.stats.needless + b.w.stats.overtaken, 0);
}

static void test_needless(void **state)
{
	static struct bench b;

	start(&b, 10);
	original(&b, 10, DELIVER);
	original(&b, 12, HOLD);
	/* the QP has it, the window has it, too far, far behind */
	repair(&b, 10, DUPLICATE);
	repair(&b, 12, DUPLICATE);
	repair(&b, 11 + 64, DUPLICATE);
	repair(&b, 10 - 0x700000, DUPLICATE);
	assert_int_equal(b.w.stats.needless, 4);
	assert_int_equal(b.w.stats.repairs, 0);
	assert_int_equal(b.out, 1);
	assert_int_equal(b.w.held, 1);
	/* nothing was repaired, so what comes again is the QP's own */
	original(&b, 10, PASS);
}

/* A cap stands against it: it does not let go of what is held. */
static void test_no_room(void **state)
{
	static struct bench b;

	start(&b, 0);
	b.caps.bytes = 1500;
	original(&b, 2, HOLD);
	repair(&b, 1, DUPLICATE);
	assert_int_equal(b.w.held, 1);
	original(&b, 1, FULL);
	rp_window_release(&b.w, false);
	/* nothing is held for this peer at all */
	b.caps = (struct rp_window_caps) { 0 };
	repair(&b, 1, DUPLICATE);
	repair(&b, 0, DELIVER);
}

static void test_overtaken(void **state)
{
	static struct bench b;

	start(&b, 0);
	original(&b, 1, HOLD);
	original(&b, 2, HOLD);
	repair(&b, 0, DELIVER);
	assert_int_equal(b.out, 3);
	/* it was late, not lost: dropped, but once only */
	original(&b, 0, DUPLICATE);
	assert_int_equal(b.w.stats.overtaken, 1);
	original(&b, 0, PASS);
	/* the same where the repair was held first */
	repair(&b, 4, HOLD);
	original(&b, 3, DELIVER);
	original(&b, 4, DUPLICATE);
	assert_int_equal(b.w.stats.overtaken, 2);
	/* and where both meet in the window: then it need not be remembered */
	repair(&b, 6, HOLD);
	original(&b, 6, DUPLICATE);
	assert_int_equal(b.w.stats.overtaken, 3);
	original(&b, 5, DELIVER);
	original(&b, 6, PASS);
}

/* Later than any gap may live it is the QP that sends again. */
static void test_overtaken_is_short(void **state)
{
	static struct bench b;

	start(&b, 0);
	repair(&b, 0, DELIVER);
	b.now += GAP * US - 1;
	original(&b, 0, DUPLICATE);
	repair(&b, 1, DELIVER);
	b.now += GAP * US;
	original(&b, 1, PASS);
	assert_int_equal(b.w.stats.overtaken, 1);
}

/* The QP's timer goes back behind what was repaired: all gets through from the first one on. */
static void test_qp_sends_again(void **state)
{
	static struct bench b;
	u32 i;

	start(&b, 0);
	original(&b, 0, DELIVER);
	for (i = 1; i < 4; i++)
		repair(&b, i, DELIVER);
	b.out = 0;
	for (i = 0; i < 4; i++)
		original(&b, i, PASS);
	assert_int_equal(b.out, 4);
}

/* So it does when the QP itself asked for it: a NAK, or it was not ready. */
static void test_qp_asks_again(void **state)
{
	static struct bench b;

	start(&b, 0);
	repair(&b, 0, DELIVER);
	repair(&b, 1, DELIVER);
	assert_true(rp_window_seek(&b.w, 0, true));
	original(&b, 0, DELIVER);
	original(&b, 0, PASS);
	original(&b, 1, DELIVER);
	original(&b, 1, PASS);
	assert_int_equal(b.w.stats.overtaken, 0);
}

/* As many are remembered as there is room for; what is forgotten passes. */
static void test_many(void **state)
{
	static struct bench b;
	u32 i;

	start(&b, 0);
	for (i = 0; i < RP_REPAIRED_REACH + 2; i++)
		repair(&b, i, DELIVER);
	original(&b, 0, PASS);
	for (i = RP_REPAIRED_REACH + 1; i > 1; i--)
		original(&b, i, DUPLICATE);
	original(&b, 1, PASS);
	/* round and round, over the end of the space, faster and slower than they live */
	for (i = RP_REPAIRED_REACH + 2; i < 0x1000000 + 2 * RP_REPAIRED_REACH; i++) {
		b.now += i / 5000 % 5000;
		require(give(&b, i, true) == RP_WINDOW_DELIVER, "%06x is not delivered", i);
		require(give(&b, i, true) == RP_WINDOW_DUPLICATE, "%06x is twice", i);
		if (i % 3)
			require(give(&b, i, false) == RP_WINDOW_DUPLICATE, "%06x passes", i);
	}
}

static void test_responses(void **state)
{
	static struct bench b;

	start_responses(&b, 100, 3);
	original(&b, 101, HOLD);
	/* nobody asked for that */
	repair(&b, 200, DUPLICATE);
	repair(&b, 103, DUPLICATE);
	repair(&b, 100, DELIVER);
	original(&b, 100, DUPLICATE);
	/* the last one closes the window, and is remembered all the same */
	repair(&b, 102, DELIVER);
	assert_false(b.w.open);
	original(&b, 102, DUPLICATE);
	repair(&b, 102, DUPLICATE);
	original(&b, 102, PASS);
	assert_int_equal(b.out, 4);
	/* the requester asks again: it comes again */
	repair(&b, 101, DUPLICATE);
	rp_window_await(&b.w, 101, 2);
	original(&b, 101, DELIVER);
	original(&b, 102, DELIVER);
}

/* Spans that no READ has: a repair must not get past for that. */
static void test_forged(void **state)
{
	static const u32 spans[] = { 0, 0x800000, 0xffffffff };
	static struct bench b;
	u32 i;

	start(&b, 0);
	for (i = 0; i < ARRAY_SIZE(spans); i++) {
		struct rp_held h = { .psn = 0, .span = spans[i], .bytes = 1, .repair = true };

		assert_int_equal(rp_window_rx(&b.w, &h, &b.caps, b.now), RP_WINDOW_DUPLICATE);
		assert_int_equal(b.w.expected, 0);
	}
}

static s64 late(struct bench *b, u32 psn, bool repair)
{
	give(b, psn, repair);
	return b->held[(b->n - 1) % ARRAY_SIZE(b->held)].late_ns;
}

/* By how much the one sent right after it overtook it. */
static void test_lateness(void **state)
{
	static struct bench b;

	start(&b, 0);
	/* in order: not at all, and neither is the first one behind a gap */
	assert_int_equal(late(&b, 0, false), 0);
	assert_int_equal(late(&b, 2, false), 0);
	b.now += 100 * US;
	assert_int_equal(late(&b, 4, false), 0);
	b.now += 100 * US;
	assert_int_equal(late(&b, 6, false), 0);
	b.now += 50 * US;
	/* each is measured by its own successor, not by the age of the gap */
	assert_int_equal(late(&b, 3, false), 150 * US);
	assert_int_equal(late(&b, 1, false), 250 * US);
	assert_int_equal(b.w.expected, 5);
	assert_int_equal(late(&b, 5, false), 50 * US);
	assert_int_equal(b.w.held, 0);
	/* its successor is missing as well: who knows */
	assert_int_equal(late(&b, 10, false), 0);
	assert_int_equal(late(&b, 7, false), RP_LATE_UNKNOWN);
	assert_int_equal(late(&b, 8, false), RP_LATE_UNKNOWN);
	assert_int_equal(late(&b, 9, false), 0);
	/* what comes twice, and repairs */
	assert_int_equal(late(&b, 9, false), RP_LATE_UNKNOWN);
	assert_int_equal(late(&b, 12, false), 0);
	assert_int_equal(late(&b, 12, false), RP_LATE_UNKNOWN);
	assert_int_equal(late(&b, 11, true), RP_LATE_UNKNOWN);
	assert_int_equal(late(&b, 14, true), RP_LATE_UNKNOWN);
	assert_int_equal(late(&b, 13 + 64, false), RP_LATE_UNKNOWN);
}

/* Of packets on a path that is longer by so much, each is that much late. */
static void test_lateness_of_a_longer_path(void **state)
{
	const u32 longer = 7;	/* spacings */
	static struct bench b;
	u32 t, late_ones = 0;

	start(&b, 0);
	for (t = 0; t < 1000; t++) {
		s64 ns;

		/* even ones take the short path, odd ones the longer one */
		b.now += 10 * US;
		if (t % 2 == 0)
			assert_int_equal(late(&b, t, false), 0);
		if (t < longer || (t - longer) % 2 == 0)
			continue;
		ns = late(&b, t - longer, false);
		assert_int_equal(ns, (longer - 1) * 10 * US);
		late_ones++;
	}
	assert_true(late_ones > 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closes_a_gap),
		cmocka_unit_test(test_needless),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_overtaken),
		cmocka_unit_test(test_overtaken_is_short),
		cmocka_unit_test(test_qp_sends_again),
		cmocka_unit_test(test_qp_asks_again),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_responses),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_lateness),
		cmocka_unit_test(test_lateness_of_a_longer_path),
	};

	return unit_run(tests);
}
