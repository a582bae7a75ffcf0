// SPDX-License-Identifier: GPL-2.0
/* What is kept for repair, what is lost and when: each rule, then random steps beside a model. */
/* SOURCES: kmod/core/repair.c selftests/unit/repair_model.c selftests/unit/repair_pair.c */
#include "unit.h"
#include "repair_pair.h"

#define US 1000ull
#define PACKETS 64
#define SLACK 10
#define SPREAD 400
#define ROUND 900
#define TAIL 2000

static const struct rp_repair_caps roomy = { .packets = PACKETS, .bytes = 1 << 20 };

/* a queue, its packets by number, and what came out of it: numbers, in order */
struct bench {
	struct rp_repair r;
	struct rp_repair_caps caps;
	struct rp_repair_path path[4];
	struct rp_sent sent[PACKETS];
	u32 n;
	u32 out[PACKETS];
	u32 outs;
	u64 now;
};

static void start(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	b->caps = roomy;
	b->now = 1000000 * US;
}

static void list_out(struct bench *b, struct rp_sent *s)
{
	struct rp_sent *next;

	for (; s; s = next) {
		next = s->next;
		assert_true(b->outs < PACKETS);
		b->out[b->outs++] = s - b->sent;
	}
}

static void put_span(struct bench *b, u32 psn, u32 span, u16 path)
{
	struct rp_sent *s = &b->sent[b->n++];

	*s = (struct rp_sent) {
		.psn = psn & RP_PSN_MASK, .span = span, .bytes = 1000, .path = path,
		.sent_ns = b->now,
	};
	list_out(b, rp_repair_sent(&b->r, s, &b->caps));
}

/* one a microsecond */
static void put(struct bench *b, u32 psn, u16 path)
{
	put_span(b, psn, 1, path);
	b->now += US;
}

static void acked(struct bench *b, u32 psn)
{
	list_out(b, rp_repair_acked(&b->r, psn & RP_PSN_MASK, b->path));
}

static void reported(struct bench *b, u32 expected, u32 held)
{
	list_out(b, rp_repair_reported(&b->r, expected & RP_PSN_MASK, &held, 1, b->path));
}

static void find_lost(struct bench *b, u32 horizon)
{
	struct rp_repair_clock clock = {
		.now_ns = b->now, .slack_us = SLACK, .spread_us = SPREAD, .round_us = ROUND,
		.tail_us = TAIL,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(b->path); i++)
		clock.arrived_ns = max(clock.arrived_ns, b->path[i].arrived_ns);
	list_out(b, rp_repair_find_lost(&b->r, horizon & RP_PSN_MASK, &clock, b->path));
}

static void expect_out(struct bench *b, u32 n, const u32 *want)
{
	u32 i;

	assert_int_equal(b->outs, n);
	for (i = 0; i < n; i++)
		assert_int_equal(b->out[i], want[i]);
	b->outs = 0;
}

#define expect(b, ...) \
	expect_out(b, sizeof((u32[]) { __VA_ARGS__ }) / sizeof(u32), (u32[]) { __VA_ARGS__ })
#define expect_nothing(b) expect_out(b, 0, NULL)

/* these wait to be sent again, oldest first; they are, on that path */
static void expect_lost(struct bench *b, u32 n, const u32 *want, u16 path)
{
	struct rp_sent *s;
	u32 i;

	assert_int_equal(b->r.lost, n);
	for (i = 0; i < n; i++) {
		s = rp_repair_next(&b->r);
		assert_non_null(s);
		assert_int_equal(s - b->sent, want[i]);
		rp_repair_resent(&b->r, s, path, b->now);
	}
	assert_null(rp_repair_next(&b->r));
	assert_int_equal(b->r.lost, 0);
}

#define expect_repaired(b, path, ...) \
	expect_lost(b, sizeof((u32[]) { __VA_ARGS__ }) / sizeof(u32), (u32[]) { __VA_ARGS__ }, path)

static void test_acknowledged(void **state)
{
	static struct bench b;
	u32 i;

	start(&b);
	for (i = 0; i < 6; i++)
		put(&b, 0xfffffd + i, i % 2);
	acked(&b, 0xfffffd);
	expect_nothing(&b);
	acked(&b, 0xfffffc);
	expect_nothing(&b);
	acked(&b, 1);
	expect(&b, 0, 1, 2, 3);
	assert_int_equal(b.path[0].delivered, 2);
	assert_int_equal(b.path[1].delivered, 2);
	assert_true(b.path[0].delivered_sent_ns == b.sent[2].sent_ns);
	/* newer than any report that is on its way */
	assert_true(!b.path[0].arrived_ns && !b.path[1].arrived_ns);
	/* of more than we have sent since we went back, or since we look */
	acked(&b, 100);
	expect(&b, 4, 5);
	assert_true(!b.r.oldest && !b.r.newest && !b.r.packets && !b.r.bytes);
	assert_int_equal(b.r.stats.kept, 6);
	assert_int_equal(b.r.stats.arrived, 6);
	acked(&b, 101);
	expect_nothing(&b);
}

/* A READ request has arrived when the first of its responses has. */
static void test_spans(void **state)
{
	static struct bench b;

	start(&b);
	put_span(&b, 100, 16, 0);
	put_span(&b, 116, 1, 1);
	put_span(&b, 117, 4, 0);
	acked(&b, 100);
	expect_nothing(&b);
	acked(&b, 101);
	expect(&b, 0);
	/* held is what the bit of the first PSN says */
	reported(&b, 116, 1);
	expect(&b, 2);
	assert_int_equal(b.r.packets, 1);
	/* and not those of the others, if somebody says so */
	reported(&b, 115, 0xfffffffe);
	expect_nothing(&b);
	reported(&b, 115, 1);
	expect(&b, 1);
}

static void test_report_takes_out(void **state)
{
	static struct bench b;
	u32 i;

	start(&b);
	for (i = 0; i < 8; i++)
		put(&b, 0xfffffe + i, i % 2);
	/* 0xfffffe came, 0xffffff is missing, of those behind it 1 and 3 are there */
	reported(&b, 0xffffff, 0xa);
	expect(&b, 0, 3, 5);
	assert_true(b.path[0].arrived_ns == b.sent[0].sent_ns);
	assert_true(b.path[1].arrived_ns == b.sent[5].sent_ns);
	assert_int_equal(b.path[0].delivered, 1);
	assert_int_equal(b.path[1].delivered, 2);
	/* the same again changes nothing, nor does an older one */
	reported(&b, 0xffffff, 0xa);
	reported(&b, 0xfffffe, 0);
	reported(&b, 0x800001, 0xffffffff);
	expect_nothing(&b);
	assert_int_equal(b.r.packets, 5);
	assert_int_equal(b.r.lost, 0);
}

static bool odd(void *arg, u16 path)
{
	return path & 1;
}

/* A path keeps its order: what a later one on it overtook is lost. */
static void test_lost_on_its_path(void **state)
{
	static struct bench b;

	start(&b);
	put(&b, 0, 0);
	put(&b, 1, 1);
	b.now += SLACK * US;
	put(&b, 2, 1);
	put(&b, 3, 0);
	b.now += SLACK * US;
	/* 2 came: 1 is lost, 0 is on another path, 3 was sent later */
	reported(&b, 0, 1 << 1);
	expect(&b, 2);
	find_lost(&b, rp_repair_horizon(0, 1));
	assert_true(b.path[1].lost_sent_ns == b.sent[1].sent_ns);
	assert_int_equal(b.r.lost, 1);
	/* found once */
	find_lost(&b, rp_repair_horizon(0, 1));
	assert_int_equal(b.r.lost, 1);
	expect_repaired(&b, 0, 1);
	assert_int_equal(b.r.stats.repaired, 1);
	/* 3 came on path 0: 0 is lost, but 1 was sent later now */
	reported(&b, 0, 1 << 1 | 1 << 2);
	expect(&b, 3);
	find_lost(&b, rp_repair_horizon(0, 1));
	expect_repaired(&b, 1, 0);
	assert_int_equal(b.path[0].lost + b.path[1].lost, 0);
	/* both came; nobody knows on which path, until the receiver says that repairs did it */
	reported(&b, 4, 0);
	expect(&b, 0, 1);
	assert_int_equal(b.path[0].delivered + b.path[1].delivered, 2);
	assert_int_equal(b.r.packets, 0);
	rp_repair_settle(&b.r, 2, b.path, 4);
	assert_int_equal(b.path[0].lost, 1);
	assert_int_equal(b.path[1].lost, 1);
	assert_int_equal(b.path[0].delivered + b.path[1].delivered, 2);
}

/* Ten packets on each of four paths are missing; those of path 0 are lost, the others late. */
static void test_settle(void **state)
{
	static struct bench b;
	u32 i;

	start(&b);
	for (i = 0; i < 40; i++)
		put(&b, i, i / 10);
	b.now += TAIL * US;
	find_lost(&b, 0);
	while (rp_repair_next(&b.r))
		rp_repair_resent(&b.r, rp_repair_next(&b.r), 1, b.now);
	/* an acknowledge is ahead of the report: all that is said is what was before */
	acked(&b, 10);
	b.outs = 0;
	rp_repair_settle(&b.r, 0, b.path, 4);
	for (i = 0; i < 4; i++)
		assert_int_equal(b.path[i].lost + b.path[i].delivered, 0);
	/* the next one has it */
	rp_repair_settle(&b.r, 10, b.path, 4);
	assert_int_equal(b.path[0].lost, 10);
	assert_int_equal(b.path[0].delivered, 0);
	/* the others came without help; that is certain when two reports have passed */
	reported(&b, 40, 0);
	b.outs = 0;
	rp_repair_settle(&b.r, 10, b.path, 4);
	assert_int_equal(b.path[1].delivered, 0);
	rp_repair_settle(&b.r, 10, b.path, 4);
	for (i = 1; i < 4; i++) {
		assert_int_equal(b.path[i].lost, 0);
		assert_int_equal(b.path[i].delivered, 10);
	}
	assert_int_equal(b.path[0].lost + b.path[0].delivered, 10);
	/* what came after its repair was not lost: it is taken off the next ones */
	rp_repair_settle(&b.r, 7, b.path, 4);
	assert_int_equal(b.r.told, 10);
	b.path[2].repaired = 5;
	rp_repair_settle(&b.r, 12, b.path, 4);
	assert_int_equal(b.path[2].lost, 2);
	assert_int_equal(b.path[2].repaired_before, 3);
}

/* The port of a path failed: what was on it says nothing of the path. */
static void test_settle_failed(void **state)
{
	static struct bench b;

	start(&b);
	put(&b, 0, 1);
	list_out(&b, rp_repair_path_failed(&b.r, odd, NULL));
	expect_repaired(&b, 0, 0);
	reported(&b, 1, 0);
	expect(&b, 0);
	rp_repair_settle(&b.r, 1, b.path, 4);
	rp_repair_settle(&b.r, 1, b.path, 4);
	assert_int_equal(b.path[0].lost + b.path[0].delivered, 0);
	assert_int_equal(b.path[1].lost + b.path[1].delivered, 0);
}

/* Packets of a path may overtake each other by a little. */
static void test_slack(void **state)
{
	static struct bench b;

	start(&b);
	put(&b, 0, 0);
	b.now += (SLACK - 1) * US;
	put(&b, 1, 0);
	reported(&b, 0, 1);
	find_lost(&b, rp_repair_horizon(0, 1));
	assert_int_equal(b.r.lost, 0);
	put(&b, 2, 0);
	reported(&b, 0, 3);
	find_lost(&b, rp_repair_horizon(0, 1));
	expect_repaired(&b, 1, 0);
}

/* Paths are of different length, but not by more than that. */
static void test_spread(void **state)
{
	static struct bench b;

	start(&b);
	put(&b, 0, 0);
	b.now += (SPREAD - 1) * US;
	put(&b, 1, 1);
	reported(&b, 0, 1);
	find_lost(&b, rp_repair_horizon(0, 1));
	assert_int_equal(b.r.lost, 0);
	put(&b, 2, 1);
	reported(&b, 0, 3);
	find_lost(&b, rp_repair_horizon(0, 1));
	expect_repaired(&b, 1, 0);
}

/* Nothing was sent behind it, but a report that should have it has it not. */
static void test_round(void **state)
{
	static struct bench b;

	start(&b);
	put_span(&b, 0, 1, 0);
	b.now += ROUND * US - 1;
	find_lost(&b, rp_repair_horizon(0, 0));
	assert_int_equal(b.r.lost, 0);
	b.now++;
	find_lost(&b, 0);
	assert_int_equal(b.r.lost, 0);
	find_lost(&b, rp_repair_horizon(0, 0));
	expect_repaired(&b, 1, 0);
	/* the next time it gets twice as long */
	b.now += 2 * ROUND * US - 1;
	find_lost(&b, rp_repair_horizon(0, 0));
	assert_int_equal(b.r.lost, 0);
	b.now++;
	find_lost(&b, rp_repair_horizon(0, 0));
	expect_repaired(&b, 0, 0);
}

/* Nothing comes behind it, so only time can tell; and longer each time. */
static void test_tail(void **state)
{
	static struct bench b;
	u32 i;

	start(&b);
	assert_true(rp_repair_deadline(&b.r, TAIL) == 0);
	put_span(&b, 7, 1, 0);
	for (i = 0; i < RP_REPAIR_TRIES; i++) {
		u64 deadline = b.sent[0].sent_ns + (TAIL * US << i);

		assert_true(rp_repair_deadline(&b.r, TAIL) == deadline);
		b.now = deadline - 1;
		find_lost(&b, 7);
		assert_int_equal(b.r.lost, 0);
		b.now = deadline;
		find_lost(&b, 7);
		assert_int_equal(b.r.lost, 1);
		assert_true(rp_repair_deadline(&b.r, TAIL) == 0);
		expect_repaired(&b, i % 4, 0);
	}
	b.now += TAIL * US << RP_REPAIR_TRIES;
	find_lost(&b, 7);
	expect(&b, 0);
	assert_int_equal(b.r.stats.given_up, 1);
	assert_int_equal(b.r.stats.repaired, RP_REPAIR_TRIES);
	assert_int_equal(b.r.packets + b.r.lost, 0);
	assert_int_equal(b.path[0].lost, 1);
	assert_int_equal(b.path[1].lost + b.path[2].lost + b.path[3].lost, 0);
}

/* The oldest one waits already: the next one's time counts. */
static void test_deadline_of_the_next(void **state)
{
	static struct bench b;

	start(&b);
	put(&b, 0, 0);
	put(&b, 1, 1);
	b.now = b.sent[0].sent_ns + TAIL * US;
	find_lost(&b, 0);
	assert_int_equal(b.r.lost, 1);
	assert_true(rp_repair_deadline(&b.r, TAIL) == b.sent[1].sent_ns + TAIL * US);
}

/* Of what a report does not speak of, it says nothing: not even that others came. */
static void test_horizon(void **state)
{
	static struct bench b;
	u32 held[2] = { 0x80000000, 0 };

	assert_int_equal(rp_repair_horizon(0xffffff, 0), 0);
	assert_int_equal(rp_repair_horizon(0xfffff0, 1), 0x11);
	start(&b);
	put(&b, 0, 0);
	put(&b, 33, 0);
	b.now += SLACK * US;
	put(&b, 32, 0);
	expect(&b, 1);
	put(&b, 33, 0);
	b.now += SLACK * US;
	put(&b, 100, 0);
	list_out(&b, rp_repair_reported(&b.r, 0, held, 1, b.path));
	expect(&b, 2);
	b.path[0].arrived_ns = b.now;
	find_lost(&b, rp_repair_horizon(0, 1));
	expect_repaired(&b, 1, 0);
	b.path[0].arrived_ns = b.now + SLACK * US;
	/* one more word, and it does */
	find_lost(&b, rp_repair_horizon(0, 2));
	expect_repaired(&b, 1, 3);
	find_lost(&b, 101);
	expect_repaired(&b, 1, 4);
}

/* A port lost its carrier: all that was on it goes out again, and nobody waits. */
static void test_path_failed(void **state)
{
	static struct bench b;
	u32 i;

	start(&b);
	for (i = 0; i < 6; i++)
		put(&b, i, i % 3);
	list_out(&b, rp_repair_path_failed(&b.r, odd, NULL));
	expect_nothing(&b);
	assert_int_equal(b.path[1].lost, 0);
	expect_repaired(&b, 2, 1, 4);
	list_out(&b, rp_repair_path_failed(&b.r, odd, NULL));
	assert_int_equal(b.r.lost, 0);
	assert_true(b.sent[4].path == 2 && b.sent[4].tries == 1);
	for (i = 1; i < RP_REPAIR_TRIES; i++) {
		b.sent[1].path = 1;
		list_out(&b, rp_repair_path_failed(&b.r, odd, NULL));
		expect_repaired(&b, 1, 1);
	}
	list_out(&b, rp_repair_path_failed(&b.r, odd, NULL));
	expect(&b, 1);
	assert_int_equal(b.r.stats.given_up, 1);
}

/* the path that each index stands for */
struct layout {
	u32 n;
	u32 id[4];
};

struct change {
	const struct layout *from;
	const struct layout *to;
};

static u16 after_change(const void *arg, u16 path)
{
	const struct change *c = arg;
	u16 i;

	assert_true(path < c->from->n);
	for (i = 0; i < c->to->n; i++)
		if (c->to->id[i] == c->from->id[path])
			return i;
	return RP_REPAIR_NO_PATH;
}

static void lay_out(struct bench *b, const struct layout *from, const struct layout *to)
{
	const struct change c = { from, to };
	struct rp_repair_path path[4] = { 0 };

	rp_repair_renumber(&b->r, after_change, &c, b->path, from->n, path);
	memcpy(b->path, path, sizeof(path));
}

/*
 * Paths are laid out anew, two times between two looks at the queue: what went by those that
 * stay is as it was, the rest goes out again at once, and nothing is let go.
 */
static void test_renumbered(void **state)
{
	static const struct layout first = { 3, { 10, 11, 12 } }, third = { 4, { 13, 12, 14, 10 } };
	static struct bench b;
	u32 i;

	start(&b);
	for (i = 0; i < 6; i++)
		put(&b, i, i % 3);
	reported(&b, 0, 1 << 4);
	expect(&b, 5);
	assert_int_equal(b.path[2].delivered, 1);
	lay_out(&b, &first, &third);
	assert_int_equal(b.r.packets, 5);
	assert_true(b.sent[0].path == 3 && b.sent[2].path == 1 && b.sent[3].path == 3);
	assert_true(b.path[1].delivered == 1 && b.path[1].arrived_ns == b.sent[5].sent_ns);
	expect_repaired(&b, 2, 1, 4);
	assert_true(!b.r.stats.let_go && !b.r.stats.given_up);
	/* none of them tells of the path that its index stood for before */
	acked(&b, 5);
	expect(&b, 0, 1, 2, 3, 4);
	assert_true(b.path[3].delivered == 2 && b.path[1].delivered == 2);
	for (i = 0; i < 4; i++)
		assert_true(!b.path[i].repaired && !b.path[i].lost);
}

/* No change of paths uses up what a packet may be tried. */
static void test_renumbered_again_and_again(void **state)
{
	static const struct layout odd = { 1, { 1 } }, even = { 1, { 2 } };
	static struct bench b;
	u32 i;

	start(&b);
	put(&b, 0, 0);
	for (i = 0; i < 4 * RP_REPAIR_TRIES; i++) {
		lay_out(&b, i % 2 ? &odd : &even, i % 2 ? &even : &odd);
		if (rp_repair_next(&b.r))
			rp_repair_resent(&b.r, rp_repair_next(&b.r), 0, b.now);
	}
	assert_true(b.r.packets == 1 && b.r.stats.repaired == RP_REPAIR_TRIES);
	acked(&b, 1);
	expect(&b, 0);
	/* sent by a path that is no more, when the queue knew that already */
	put(&b, 1, RP_REPAIR_NO_PATH);
	acked(&b, 2);
	expect(&b, 1);
	assert_true(!b.path[0].delivered && !b.path[0].delivered_sent_ns);
}

/* Lost, but an acknowledge was on its way: it does not wait any more. */
static void test_arrives_while_it_waits(void **state)
{
	static struct bench b;
	u32 i;

	start(&b);
	for (i = 0; i < 4; i++)
		put(&b, i, i % 2);
	list_out(&b, rp_repair_path_failed(&b.r, odd, NULL));
	assert_int_equal(b.r.lost, 2);
	acked(&b, 2);
	expect(&b, 0, 1);
	assert_int_equal(b.r.lost, 1);
	expect_repaired(&b, 0, 3);
	assert_int_equal(b.path[1].delivered, 1);
}

/* The QP goes back by itself: what it sends again is not repaired as well. */
static void test_goes_back(void **state)
{
	static struct bench b;
	u32 i;

	start(&b);
	for (i = 0; i < 5; i++)
		put(&b, 0xffffff + i, 1);
	list_out(&b, rp_repair_path_failed(&b.r, odd, NULL));
	assert_int_equal(b.r.lost, 5);
	put(&b, 1, 0);
	expect(&b, 4, 3, 2);
	assert_int_equal(b.r.stats.rewound, 3);
	expect_repaired(&b, 0, 0, 1);
	/* before all that is there */
	put(&b, 0xfffff0, 0);
	expect(&b, 5, 1, 0);
	assert_int_equal(b.r.packets, 1);
	/* into the middle of a READ: its first half was answered */
	put_span(&b, 0xfffff1, 8, 0);
	put_span(&b, 0xfffff5, 4, 0);
	expect(&b, 7);
	assert_int_equal(b.r.stats.rewound, 7);
	assert_int_equal(b.r.packets, 2);
}

static void test_caps(void **state)
{
	static struct bench b;
	u32 i;

	start(&b);
	b.caps.packets = 3;
	for (i = 0; i < 5; i++)
		put(&b, i, 0);
	expect(&b, 0, 1);
	b.caps = (struct rp_repair_caps) { .packets = PACKETS, .bytes = 2500 };
	put(&b, 5, 0);
	expect(&b, 2, 3);
	assert_int_equal(b.r.bytes, 2000);
	/* smaller ones take effect at once */
	b.caps.bytes = 999;
	put(&b, 6, 0);
	expect(&b, 4, 5, 6);
	assert_int_equal(b.r.packets, 0);
	b.caps.bytes = 0;
	put(&b, 7, 0);
	expect(&b, 7);
	assert_int_equal(b.r.stats.let_go, 8);
	assert_int_equal(b.r.stats.kept, 8);
	b.caps = (struct rp_repair_caps) { .packets = 0, .bytes = 0xffffffff };
	put(&b, 8, 0);
	expect(&b, 8);
	/* no sum wraps */
	b.caps.packets = PACKETS;
	put(&b, 9, 0);
	b.sent[9].bytes = 1000;
	b.n = 10;
	b.sent[10] = (struct rp_sent) { .psn = 10, .span = 1, .bytes = 0xfffffff0 };
	list_out(&b, rp_repair_sent(&b.r, &b.sent[10], &b.caps));
	expect(&b, 9);
	assert_int_equal(b.r.bytes, 0xfffffff0);
}

/* No two PSNs in it are so far apart that nobody knows which is the older one. */
static void test_half_of_the_space(void **state)
{
	static struct bench b;

	start(&b);
	put_span(&b, 0, 0x300000, 0);
	put_span(&b, 0x300000, 0x300000, 0);
	expect_nothing(&b);
	put_span(&b, 0x600000, 0x1fffff, 0);
	expect_nothing(&b);
	put_span(&b, 0x7fffff, 1, 0);
	expect(&b, 0);
	put_span(&b, 0xfffffe, 1, 0);
	expect(&b, 1, 2, 3);
	assert_int_equal(b.r.packets, 1);
	assert_int_equal(b.r.stats.let_go, 4);
}

static void test_clear(void **state)
{
	static struct bench b;
	u32 i;

	start(&b);
	assert_null(rp_repair_clear(&b.r));
	for (i = 0; i < 3; i++)
		put(&b, i, 1);
	list_out(&b, rp_repair_path_failed(&b.r, odd, NULL));
	list_out(&b, rp_repair_clear(&b.r));
	expect(&b, 0, 1, 2);
	assert_true(!b.r.lost && !b.r.packets && !b.r.bytes && !rp_repair_next(&b.r));
	assert_int_equal(b.r.stats.let_go, 3);
	put(&b, 3, 1);
	assert_int_equal(b.r.packets, 1);
}

/* what a walk is like */
struct flavour {
	const char *name;
	u32 spans;		/* most PSNs of a packet */
	u32 jump;		/* most PSNs left out between two */
	bool rough;		/* far jumps of everything, often */
	struct rp_repair_caps caps;
};

static const struct flavour *flavour;
static bool quiet;	/* little is sent for a while, so that some are tried often */

void repair_pair_failed(const char *how)
{
	fail_msg("%s", how);
	abort();
}

/* around what is in the queue, mostly where it begins, or anywhere */
static u32 some_psn(const struct repair_pair *p)
{
	u32 oldest = p->r.oldest ? p->r.oldest->psn : 0;
	u32 newest = p->r.newest ? p->r.newest->psn : 0;

	switch (rnd_below(flavour->rough ? 12 : 200)) {
	case 0:
		return rnd() & RP_PSN_MASK;
	case 1:
		return rp_psn_add(oldest, 0x7ffff0 + (s32)rnd_below(0x20));
	case 2:
		return rp_psn_add(newest, 0x7ffff0 + (s32)rnd_below(0x20));
	}
	if (!rnd_below(8))
		return rp_psn_add(newest, (s32)rnd_below(40) - 30);
	return rp_psn_add(oldest, (s32)rnd_below(20) - 10);
}

static void step_send(struct repair_pair *p)
{
	u32 span = rnd_below(4) ? 1 : rnd_range(1, flavour->spans);
	const struct rp_sent *newest = p->r.newest;
	u32 psn = newest ? rp_psn_add(newest->psn, newest->span) : rnd() & RP_PSN_MASK;

	if (!rnd_below(flavour->rough ? 10 : 100))
		psn = some_psn(p);
	else if (flavour->jump && !rnd_below(4))
		psn = rp_psn_add(psn, (s32)rnd_below(flavour->jump));
	repair_pair_sent(p, psn, span, rnd_range(64, 4200), rnd_below(REPAIR_PATHS));
}

static void step_report(struct repair_pair *p)
{
	u32 held[4], words = rnd_below(ARRAY_SIZE(held) + 1), i;

	for (i = 0; i < words; i++)
		held[i] = rnd() & rnd() & (rnd_below(2) ? rnd() : 0);
	repair_pair_reported(p, some_psn(p), held, words);
	if (rnd_below(4))
		repair_pair_settle(p, p->r.told + rnd_below(8) - 2);
	else if (flavour->rough)
		repair_pair_settle(p, rnd());
}

static void step_find(struct repair_pair *p)
{
	struct rp_repair_clock clock = {
		.now_ns = p->now, .slack_us = rnd_below(20), .spread_us = rnd_below(500),
		.tail_us = rnd_below(20) ? rnd_below(300) : 0xffffffff,
	};

	if (!rnd_below(4))
		clock.round_us = rnd_below(200);
	if (rnd_below(4))
		clock.arrived_ns = p->now - rnd_below(1000) * US;
	repair_pair_find_lost(p, some_psn(p), &clock);
}

/* turned round, some of them new */
static void step_renumber(struct repair_pair *p)
{
	u32 turn = rnd_below(REPAIR_PATHS), new = rnd() & rnd() & rnd(), i;
	u16 now[REPAIR_PATHS];

	for (i = 0; i < REPAIR_PATHS; i++)
		now[i] = new >> i & 1 ? RP_REPAIR_NO_PATH : (i + turn) % REPAIR_PATHS;
	repair_pair_renumber(p, now);
}

static void step(struct repair_pair *p)
{
	u32 dice = rnd_below(100);

	if (!rnd_below(200))
		quiet = !quiet;
	if (dice < 50 && quiet)
		dice = rnd_below(8) ? 57 + rnd_below(40) : 0;
	p->now += rnd_below(20000);
	if (dice < 50)
		step_send(p);
	else if (dice < 53)
		repair_pair_acked(p, some_psn(p));
	else if (dice < 57)
		step_report(p);
	else if (dice < 75)
		step_find(p);
	else if (dice < 95)
		repair_pair_resend(p, rnd_below(8), rnd_below(REPAIR_PATHS));
	else if (dice < 97)
		repair_pair_path_failed(p, 1u << rnd_below(REPAIR_PATHS));
	else if (dice < 98)
		step_renumber(p);
	else if (dice < 99)
		repair_pair_take_paths(p);
	else if (!rnd_below(20))
		repair_pair_clear(p);
	repair_pair_compare(p);
}

static void test_walk(void **state)
{
	const u32 lives = 20, steps = ROUNDS(20000);
	struct rp_repair_stats sum = { 0 };
	u32 life, i;

	flavour = *state;
	for (life = 0; life < lives; life++) {
		struct repair_pair *p = repair_pair_new(&flavour->caps);

		for (i = 0; i < steps; i++)
			step(p);
		sum.arrived += p->r.stats.arrived;
		sum.repaired += p->r.stats.repaired;
		sum.given_up += p->r.stats.given_up;
		sum.let_go += p->r.stats.let_go;
		sum.rewound += p->r.stats.rewound;
		repair_pair_free(p);
	}
	print_message("# %u steps, %u arrived, %u repaired, %u given up, %u let go, %u rewound\n",
		      lives * steps, (u32)sum.arrived, (u32)sum.repaired, (u32)sum.given_up,
		      (u32)sum.let_go, (u32)sum.rewound);
	/* a walk that never gets there tests nothing */
	assert_true(sum.arrived && sum.repaired && sum.given_up && sum.let_go && sum.rewound);
}

static const struct flavour flavours[] = {
	{ "requests", 1, 0, false, { 128, 1 << 20 } },
	{ "READs", 100, 0, false, { 128, 1 << 20 } },
	{ "responses", 1, 30, false, { 128, 1 << 20 } },
	{ "rough", 0x7fffff, 0x7fffff, true, { REPAIR_PACKETS, 1 << 24 } },
	{ "few packets", 2, 0, false, { 8, 1 << 20 } },
	{ "few bytes", 1, 4, false, { 128, 20000 } },
	{ "few, rough", 1000, 1000, true, { 32, 60000 } },
};

int main(void)
{
	const struct CMUnitTest rules[] = {
		cmocka_unit_test(test_acknowledged),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_report_takes_out),
		cmocka_unit_test(test_lost_on_its_path),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_settle_failed),
		cmocka_unit_test(test_slack),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_deadline_of_the_next),
		cmocka_unit_test(test_horizon),
		cmocka_unit_test(test_path_failed),
		cmocka_unit_test(test_renumbered),
		cmocka_unit_test(test_renumbered_again_and_again),
		cmocka_unit_test(test_arrives_while_it_waits),
		cmocka_unit_test(test_goes_back),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_half_of_the_space),
		cmocka_unit_test(test_clear),
	};
	struct CMUnitTest tests[ARRAY_SIZE(rules) + ARRAY_SIZE(flavours)];
	u32 i;

	memcpy(tests, rules, sizeof(rules));
	for (i = 0; i < ARRAY_SIZE(flavours); i++) {
		tests[ARRAY_SIZE(rules) + i] = (struct CMUnitTest) {
			.name = flavours[i].name,
			.test_func = test_walk,
			.initial_state = (void *)&flavours[i],
		};
	}
	return unit_run(tests);
}
