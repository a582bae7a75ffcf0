// SPDX-License-Identifier: GPL-2.0
/*
 * Two devices that say hello over a channel that loses, delays, reorders and
 * replays. The MAC is not part of it (test_wire): who replays has real packets.
 */
/* SOURCES: kmod/core/hello.c */
#include "unit.h"
#include "hello.h"

#define MS 1000000ull
#define INTERVAL 100
#define RECORDED 200000
#define AIR 256

struct packet {
	u64 at;
	u32 to;
	struct rp_wire w;
	struct rp_wire_hello body;
};

struct host {
	struct rp_hello h;
	u64 instance;
	u64 next_hello;
	u32 interval;
	bool reorders;
	bool silent;
	u32 came, lost, gone, restarted, counted, unproven, replayed;
};

struct world {
	u64 now;
	struct host host[2];
	struct packet air[AIR];
	u32 flying;
	u32 loss;	/* percent */
	u32 delay_ms;	/* at most */
	u32 replay;	/* percent of the time, one recorded packet comes again */
	struct packet *record;
	u32 recorded;
};

static u64 random64(void)
{
	return ((u64)rnd() << 32 | rnd()) | 1;
}

static void boot(struct world *t, u32 i)
{
	struct host *host = &t->host[i];

	memset(host, 0, sizeof(*host));
	rp_hello_init(&host->h, random64());
	host->instance = random64();
	host->interval = INTERVAL;
	host->reorders = true;
	host->next_hello = t->now + rnd_below(INTERVAL) * MS;
}

static struct world *world_new(void)
{
	struct world *t = calloc(1, sizeof(*t));

	t->record = calloc(RECORDED, sizeof(*t->record));
	t->now = 5000 * MS;
	t->delay_ms = 2;
	boot(t, 0);
	boot(t, 1);
	return t;
}

static void world_free(struct world *t)
{
	free(t->record);
	free(t);
}

static void fly(struct world *t, const struct packet *p)
{
	require(t->flying < AIR, "the air is full: somebody talks too much");
	t->air[t->flying] = *p;
	t->air[t->flying++].at = t->now + rnd_below(t->delay_ms * 1000 + 1) * 1000ull;
}

static void say(struct world *t, u32 from, bool reply, u64 response)
{
	struct host *host = &t->host[from];
	struct rp_hello_self self = { .reorders = host->reorders, .interval_ms = host->interval };
	struct packet p = { .to = !from };
	u64 seq;

	if (host->silent)
		return;
	seq = rp_hello_fill(&host->h, &p.body, &self, reply, response, t->now);
	p.w.type = RP_WIRE_HELLO;
	p.w.key_id = 3;
	p.w.instance = cpu_to_be64(host->instance);
	p.w.seq = cpu_to_be64(seq);
	if (t->recorded < RECORDED)
		t->record[t->recorded++] = p;
	if (rnd_below(100) >= t->loss)
		fly(t, &p);
}

static u32 hear(struct world *t, const struct packet *p)
{
	struct host *host = &t->host[p->to];
	u32 did = rp_hello_rx(&host->h, &p->w, &p->body, random64(), t->now);

	host->came += !!(did & RP_HELLO_CAME);
	host->gone += !!(did & RP_HELLO_GONE);
	host->restarted += !!(did & RP_HELLO_RESTARTED);
	host->counted += !!(did & RP_HELLO_COUNTED);
	host->unproven += !!(did & RP_HELLO_UNPROVEN);
	host->replayed += !!(did & RP_HELLO_REPLAYED);
	if (did & RP_HELLO_REPLY)
		say(t, p->to, true,
		    did & RP_HELLO_UNPROVEN ? be64_to_cpu(p->body.challenge) : host->h.theirs);
	return did;
}

static void tick(struct world *t)
{
	u32 i;

	t->now += MS / 2;
	for (i = 0; i < 2; i++) {
		if (t->now >= t->host[i].next_hello) {
			t->host[i].next_hello += t->host[i].interval * MS;
			say(t, i, false, t->host[i].h.theirs);
		}
		t->host[i].lost += rp_hello_poll(&t->host[i].h, t->now);
	}
	if (t->recorded && rnd_below(100) < t->replay)
		fly(t, &t->record[rnd_below(t->recorded)]);
	for (i = 0; i < t->flying;) {
		struct packet p = t->air[i];

		if (p.at > t->now) {
			i++;
			continue;
		}
		t->air[i] = t->air[--t->flying];
		hear(t, &p);
	}
}

static void pass(struct world *t, u32 ms)
{
	u64 until = t->now + ms * MS;

	while (t->now < until)
		tick(t);
}

static bool is_capable(const struct world *t, u32 i)
{
	return t->host[i].h.state == ROCEPATH_PEER_CAPABLE;
}

/* each knows the other's present instance */
static bool acquainted(const struct world *t)
{
	return t->host[0].h.instance == t->host[1].instance &&
	       t->host[1].h.instance == t->host[0].instance;
}

static void test_both_become_capable(void **state)
{
	struct world *t = world_new();

	/* nothing is believed before an answer came */
	assert_false(is_capable(t, 0) || is_capable(t, 1));
	pass(t, INTERVAL + 10);
	assert_true(is_capable(t, 0) && is_capable(t, 1));
	pass(t, 100 * INTERVAL);
	assert_int_equal(t->host[0].came, 1);
	assert_int_equal(t->host[1].came, 1);
	assert_int_equal(t->host[0].lost + t->host[1].lost, 0);
	assert_int_equal(t->host[0].h.restarts, 0);
	assert_true(t->host[0].h.instance == t->host[1].instance);
	assert_int_equal(t->host[0].h.key_id, 3);
	/* two ways of at most 2 ms each, in ticks of half a millisecond */
	assert_in_range(t->host[0].h.rtt_us, 500, 5500);
	/* four packets an interval: two that ask, two that answer */
	assert_in_range(t->recorded, 380, 420);
	world_free(t);
}

static void test_bad_channel(void **state)
{
	struct world *t = world_new();
	u32 i, up = 0;

	t->loss = 20;
	t->delay_ms = 150;
	t->replay = 5;
	for (i = 0; i < 1000; i++) {
		pass(t, INTERVAL);
		up += is_capable(t, 0) && is_capable(t, 1);
	}
	/* one who is lost comes again; who was not restarted, was not restarted */
	assert_in_range(up, 900, 1000);
	assert_int_equal(t->host[0].h.restarts + t->host[1].h.restarts, 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(t->host[i].came, t->host[i].lost + is_capable(t, i));
	world_free(t);
}

/* What overtakes something else is no replay, and what is overtaken is none either. */
static void test_overtaking(void **state)
{
	struct world *t = world_new();
	u32 i;

	pass(t, 5 * INTERVAL);
	for (i = 0; i < 2; i++)
		t->host[i].replayed = 0;
	t->delay_ms = 3 * INTERVAL;
	pass(t, 500 * INTERVAL);
	for (i = 0; i < 2; i++) {
		assert_int_equal(t->host[i].replayed, 0);
		assert_int_equal(t->host[i].restarted, 0);
	}
	/* each of these once more is one, whenever */
	t->host[0].silent = true;
	t->host[1].silent = true;
	while (t->flying)
		tick(t);
	for (i = t->recorded - 60; i < t->recorded; i++)
		assert_int_equal(hear(t, &t->record[i]), RP_HELLO_REPLAYED);
	world_free(t);
}

static void test_hellos_stop(void **state)
{
	struct world *t = world_new();
	u64 heard;

	pass(t, 10 * INTERVAL);
	t->host[1].silent = true;
	while (t->flying)
		tick(t);
	heard = t->host[0].h.heard_ns;
	pass(t, RP_WIRE_HELLO_MISSES * INTERVAL - 2 * INTERVAL);
	assert_true(is_capable(t, 0));
	pass(t, 2 * INTERVAL + 5);
	assert_int_equal(t->host[0].h.state, ROCEPATH_PEER_LOST);
	assert_int_equal(t->host[0].lost, 1);
	assert_true(t->host[0].h.valid_until_ns <=
		    heard + (RP_WIRE_HELLO_MISSES * INTERVAL + 5) * MS);
	t->host[1].silent = false;
	pass(t, INTERVAL + 10);
	assert_true(is_capable(t, 0));
	assert_int_equal(t->host[0].came, 2);
	assert_int_equal(t->host[0].restarted, 0);
	world_free(t);
}

/* A peer's interval is taken as it says, within reason. */
static void test_interval_of_the_peer(void **state)
{
	static const u32 says[] = { 0, 1, 10, 250, 60000, 60001, 0xffffffff };
	static const u32 means[] = { 10, 10, 10, 250, 60000, 60000, 60000 };
	struct rp_wire w = { .instance = cpu_to_be64(5), .seq = cpu_to_be64(1) };
	struct rp_wire_hello body = { .flags = cpu_to_be32(RP_HELLO_REORDERS),
				      .response = cpu_to_be64(77) };
	struct rp_hello h;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(says); i++) {
		u64 until = 1000 * MS + RP_WIRE_HELLO_MISSES * means[i] * MS;

		rp_hello_init(&h, 77);
		body.interval_ms = cpu_to_be32(says[i]);
		assert_true(rp_hello_rx(&h, &w, &body, 78, 1000 * MS) & RP_HELLO_CAME);
		assert_false(rp_hello_poll(&h, until - 1));
		assert_true(rp_hello_poll(&h, until));
		assert_false(rp_hello_poll(&h, until + 1));
		assert_int_equal(h.state, ROCEPATH_PEER_LOST);
	}
}

/* What a peer says of itself is taken within reason, from its newest hello. */
static void test_what_the_peer_says(void **state)
{
	static const struct { u32 says, means; } ports[] = {
		{ 0, 0 }, { 1, 1 }, { 32, 32 }, { 33, 32 }, { 0xffffffff, 32 },
	}, intervals[] = {
		{ 0, 100 }, { 99, 100 }, { 100, 100 }, { 10000, 10000 }, { 1000000, 1000000 },
		{ 1000001, 1000000 }, { 0xffffffff, 1000000 },
	};
	struct rp_hello_self self = { .reorders = true, .reports = true, .interval_ms = 100 };
	struct rp_wire w = { .instance = cpu_to_be64(5), .seq = cpu_to_be64(10) };
	struct rp_wire_hello body;
	struct rp_hello a, b;
	u32 i;

	rp_hello_init(&a, 11);
	for (i = 0; i < ARRAY_SIZE(ports) + ARRAY_SIZE(intervals); i++) {
		self.ports = ports[i % ARRAY_SIZE(ports)].says;
		self.report_interval_us = intervals[i % ARRAY_SIZE(intervals)].says;
		memset(&body, 0xff, sizeof(body));
		rp_hello_fill(&a, &body, &self, false, 77, MS);
		assert_int_equal(be32_to_cpu(body.flags),
				 RP_HELLO_REORDERS | RP_HELLO_REPLY_WANTED | RP_HELLO_REPORTS);
		rp_hello_init(&b, 77);
		assert_true(rp_hello_rx(&b, &w, &body, 78, 1000 * MS) & RP_HELLO_CAME);
		assert_true(b.reports);
		assert_int_equal(b.ports, ports[i % ARRAY_SIZE(ports)].means);
		assert_int_equal(b.report_interval_us, intervals[i % ARRAY_SIZE(intervals)].means);
	}
	/* one that was overtaken proves that it lives, and says nothing else */
	self = (struct rp_hello_self) { .interval_ms = 100, .ports = 7 };
	rp_hello_fill(&a, &body, &self, true, 78, MS);
	w.seq = cpu_to_be64(20);
	assert_true(rp_hello_rx(&b, &w, &body, 79, 1001 * MS) & RP_HELLO_GONE);
	assert_true(!b.reports && b.ports == 7);
	self = (struct rp_hello_self) { .reorders = true, .reports = true, .ports = 9 };
	rp_hello_fill(&a, &body, &self, true, 79, MS);
	body.challenge = cpu_to_be64(1234);
	w.seq = cpu_to_be64(19);
	assert_int_equal(rp_hello_rx(&b, &w, &body, 80, 1002 * MS), RP_HELLO_COUNTED);
	assert_true(!b.reports && b.ports == 7 && b.theirs == 11);
	assert_int_equal(b.state, ROCEPATH_PEER_PLAIN);
	assert_true(b.heard_ns == 1002 * MS);
	/* nothing of it is left where there is no key */
	rp_hello_forget(&b, 99);
	assert_true(!b.ports && !b.instance && !b.seen.newest && !b.report_seq);
}

static void meet(struct rp_hello *h, struct rp_wire *w, u64 instance, u64 seq, u64 now)
{
	struct rp_wire_hello body = { .flags = cpu_to_be32(RP_HELLO_REORDERS),
				      .interval_ms = cpu_to_be32(100),
				      .response = cpu_to_be64(h->challenge) };

	w->instance = cpu_to_be64(instance);
	w->seq = cpu_to_be64(seq);
	assert_true(rp_hello_rx(h, w, &body, h->challenge + 1, now) & RP_HELLO_COUNTED);
}

static bool accepts(struct rp_hello *h, u64 instance, u64 seq, u64 now)
{
	struct rp_wire w = { .instance = cpu_to_be64(instance), .seq = cpu_to_be64(seq) };

	return rp_hello_accepts(h, &w, now);
}

static bool accepts_report(struct rp_hello *h, u64 instance, u64 seq, u64 now)
{
	struct rp_wire w = { .instance = cpu_to_be64(instance), .seq = cpu_to_be64(seq) };

	return rp_hello_accepts_report(h, &w, now);
}

/* Probes: of the proven instance, in time, each number once as far as is remembered. */
static void test_accepts(void **state)
{
	struct rp_wire w = { 0 };
	struct rp_hello h;
	u32 i;

	rp_hello_init(&h, 77);
	assert_false(accepts(&h, 0, 1, MS));
	assert_false(accepts(&h, 5, 1, MS));
	meet(&h, &w, 5, 1000, 2 * MS);
	assert_false(accepts(&h, 6, 1001, 3 * MS));
	assert_true(accepts(&h, 5, 1001, 3 * MS));
	assert_false(accepts(&h, 5, 1001, 3 * MS));
	/* however many overtake one, it counts; and not once more */
	for (i = 0; i < 100 * RP_HELLO_SEEN; i++)
		assert_true(accepts(&h, 5, 2000 + i, 3 * MS));
	assert_true(accepts(&h, 5, 1500, 3 * MS));
	assert_false(accepts(&h, 5, 1500, 3 * MS));
	/* a second later it is too old */
	assert_true(accepts(&h, 5, 1501 + 1000 * MS, 3 * MS));
	assert_false(accepts(&h, 5, 1500, 3 * MS));
	assert_true(accepts(&h, 5, 1502, 3 * MS));
	/* it must have said hello lately */
	assert_true(accepts(&h, 5, 3000 + 1000 * MS, h.valid_until_ns - 1));
	assert_false(accepts(&h, 5, 3001 + 1000 * MS, h.valid_until_ns));
	/* another instance: its numbers start anew */
	meet(&h, &w, 6, 50, 10 * MS);
	assert_false(accepts(&h, 5, 4000, 11 * MS));
	assert_true(accepts(&h, 6, 51, 11 * MS));
}

static void test_accepts_reports(void **state)
{
	struct rp_wire w = { 0 };
	struct rp_hello h;

	rp_hello_init(&h, 77);
	meet(&h, &w, 5, 1000, 2 * MS);
	/* before what it has proven itself with, nobody knows how old it is */
	assert_false(accepts_report(&h, 5, 999, 3 * MS));
	assert_true(accepts_report(&h, 5, 1001, 3 * MS));
	/* probes in between change nothing */
	assert_true(accepts(&h, 5, 1010, 3 * MS));
	assert_true(accepts_report(&h, 5, 1003, 3 * MS));
	assert_false(accepts_report(&h, 5, 1002, 3 * MS));
	assert_false(accepts_report(&h, 5, 1003, 3 * MS));
	meet(&h, &w, 6, 5, 4 * MS);
	assert_true(accepts_report(&h, 6, 6, 5 * MS));
}

/* The numbers in an order in which up to a thousand overtake one. */
static u32 shuffled(u32 i)
{
	return i / 1000 * 1000 + i * 13 % 1000;
}

/* Numbers in any order, some of them again and again: none is refused that is new, few count twice. */
static void test_numbers(void **state)
{
	const u32 n = 200000;
	struct rp_wire w = { 0 };
	u32 i, again = 0;
	struct rp_hello h;

	rp_hello_init(&h, 77);
	meet(&h, &w, 5, 1, MS);
	for (i = 0; i < n; i++) {
		require(accepts(&h, 5, 100 + shuffled(i), 2 * MS), "number %u is refused", i);
		/* a recording of a moment ago */
		again += accepts(&h, 5, 100 + shuffled(i - rnd_below(min(i, 7u) + 1)), 2 * MS);
	}
	require(again < n / 8, "%u recordings count", again);
}

static void test_our_numbers(void **state)
{
	struct rp_hello_self self = { .interval_ms = 100 };
	struct rp_wire_hello body;
	struct rp_hello h;
	u64 seq;

	rp_hello_init(&h, 77);
	assert_true(rp_hello_next_seq(&h, 500) == 500);
	assert_true(rp_hello_next_seq(&h, 500) == 501);
	assert_true(rp_hello_fill(&h, &body, &self, false, 0, 500) == 502);
	assert_true(rp_hello_next_seq(&h, 400) == 503);
	assert_true(rp_hello_next_seq(&h, 600) == 600);
	seq = rp_hello_next_seq(&h, 600);
	rp_hello_forget(&h, 78);
	assert_true(rp_hello_next_seq(&h, 1) > seq);
}

static void test_restart(void **state)
{
	struct world *t = world_new();
	u64 before;

	pass(t, 10 * INTERVAL);
	before = t->host[0].h.instance;
	boot(t, 1);
	pass(t, 2 * INTERVAL);
	assert_true(t->host[0].h.instance != before);
	assert_true(t->host[0].h.instance == t->host[1].instance);
	assert_int_equal(t->host[0].restarted, 1);
	assert_int_equal(t->host[0].h.restarts, 1);
	assert_int_equal(t->host[0].lost, 0);
	assert_true(is_capable(t, 0) && is_capable(t, 1));
	/* who restarted knows of no restart */
	assert_int_equal(t->host[1].restarted, 0);
	world_free(t);
}

/* A device forgets an idle peer and makes it again; the peer has not forgotten its numbers. */
static void test_forgotten_and_made_again(void **state)
{
	struct world *t = world_new();
	u32 replayed;

	pass(t, 20 * INTERVAL);
	rp_hello_init(&t->host[1].h, random64());
	replayed = t->host[0].replayed;
	pass(t, 2 * INTERVAL);
	assert_int_equal(t->host[0].replayed, replayed);
	assert_true(is_capable(t, 0) && is_capable(t, 1));
	assert_int_equal(t->host[0].restarted, 0);
	world_free(t);
}

static void test_stops_reordering(void **state)
{
	struct world *t = world_new();

	pass(t, 5 * INTERVAL);
	t->host[1].reorders = false;
	pass(t, INTERVAL + 10);
	assert_int_equal(t->host[0].h.state, ROCEPATH_PEER_PLAIN);
	assert_int_equal(t->host[0].gone, 1);
	assert_int_equal(t->host[0].lost, 0);
	assert_true(is_capable(t, 1));
	t->host[1].reorders = true;
	pass(t, INTERVAL + 10);
	assert_true(is_capable(t, 0));
	world_free(t);
}

/* what recordings must not move; the numbers of what we send ourselves may */
static void settled(const struct rp_hello *h, struct rp_hello *out)
{
	*out = *h;
	out->seq_sent = 0;
	out->stranger_ns = 0;
	out->hold_until_ns = 0;
}

static void test_replays_move_nothing(void **state)
{
	struct world *t = world_new();
	struct rp_hello before[2], after;
	u32 i, lives, replies = 0;
	u64 start;

	for (lives = 0; lives < 20; lives++) {
		pass(t, 30 * INTERVAL);
		boot(t, rnd_below(2));
	}
	pass(t, 30 * INTERVAL);
	t->host[0].silent = true;
	t->host[1].silent = true;
	while (t->flying)
		tick(t);
	assert_true(is_capable(t, 0) && is_capable(t, 1));
	assert_true(t->recorded > 2000);
	start = t->now;
	for (i = 0; i < 2; i++)
		settled(&t->host[i].h, &before[i]);
	for (i = 0; i < ROUNDS(1000000); i++) {
		u32 which = i < t->recorded ? t->recorded - 1 - i : rnd_below(t->recorded);
		struct packet *p = &t->record[which];
		u32 did;

		t->now += rnd_below(3000);
		did = hear(t, p);
		replies += !!(did & RP_HELLO_REPLY);
		require(!(did & ~(u32)(RP_HELLO_UNPROVEN | RP_HELLO_REPLAYED | RP_HELLO_REPLY)),
			"recording %u did %x", which, did);
		settled(&t->host[p->to].h, &after);
		require(!memcmp(&after, &before[p->to], sizeof(after)),
			"recording %u moved something", which);
	}
	/* a million recordings in 1.5 s make each host talk once a millisecond at most */
	assert_in_range(replies, 1, 2 * (t->now - start) / MS + 2);
	world_free(t);
}

/* the same while both live, talk and restart: nobody takes a dead instance for alive */
static void test_replays_among_the_living(void **state)
{
	struct world *t = world_new();
	u32 lives, tries;

	t->replay = 100;
	t->loss = 10;
	for (lives = 0; lives < ROUNDS(400); lives++) {
		u32 which = rnd_below(2);

		boot(t, which);
		t->host[!which].restarted = 0;
		for (tries = 0; !acquainted(t); tries++) {
			require(tries < 60, "recordings keep two hosts apart");
			pass(t, INTERVAL);
		}
		/* the first life of both is no restart */
		require(t->host[!which].restarted == !!lives, "%u restarts seen",
			t->host[!which].restarted);
		t->host[!which].restarted = 0;
		for (tries = 0; tries < 5; tries++) {
			pass(t, INTERVAL);
			require(acquainted(t), "a dead instance is believed");
		}
		require(!t->host[0].restarted && !t->host[1].restarted, "a restart without one");
	}
	world_free(t);
}

/* Packets held back on the way and let go once their sender is dead prove nothing. */
static void test_suppressed_and_kept(void **state)
{
	struct world *t = world_new();
	u32 from, i, did;

	pass(t, 5 * INTERVAL);
	t->loss = 100;
	from = t->recorded;
	pass(t, INTERVAL);
	t->loss = 0;
	boot(t, 1);
	pass(t, 3 * INTERVAL);
	assert_int_equal(t->host[0].restarted, 1);
	for (i = from; i < from + 4; i++) {
		if (t->record[i].to)
			continue;
		did = hear(t, &t->record[i]);
		assert_int_equal(did & (RP_HELLO_COUNTED | RP_HELLO_CAME | RP_HELLO_RESTARTED), 0);
	}
	assert_true(t->host[0].h.instance == t->host[1].instance);
	world_free(t);
}

/* While a peer may believe that we reorder, we must: whatever becomes of its hellos to us. */
static void test_hold_outlives_belief(void **state)
{
	struct world *t = world_new();
	u32 i, j;

	for (i = 0; i < 200; i++) {
		t->loss = rnd_below(100);
		t->delay_ms = 1 + rnd_below(100);
		if (!rnd_below(10))
			t->host[rnd_below(2)].silent ^= true;
		for (j = 0; j < INTERVAL * 4; j++) {
			u32 k;

			tick(t);
			for (k = 0; k < 2; k++) {
				if (is_capable(t, k))
					require(t->host[!k].h.hold_until_ns > t->now,
						"not held, though believed");
			}
		}
	}
	/* and who never said that it reorders need not */
	boot(t, 0);
	t->host[0].reorders = false;
	t->host[0].silent = false;
	t->host[1].silent = false;
	t->loss = 0;
	pass(t, 10 * INTERVAL);
	assert_true(t->host[0].h.hold_until_ns == 0);
	assert_true(is_capable(t, 0));
	assert_false(is_capable(t, 1));
	world_free(t);
}

/* no instance, no challenge: nothing that is left out counts as an answer */
static void test_zeroes(void **state)
{
	struct rp_wire w = { .seq = cpu_to_be64(1) };
	struct rp_wire_hello body = { .flags = cpu_to_be32(RP_HELLO_REORDERS |
							   RP_HELLO_REPLY_WANTED) };
	struct rp_hello h;

	rp_hello_init(&h, 77);
	body.response = cpu_to_be64(77);
	assert_int_equal(rp_hello_rx(&h, &w, &body, 78, MS), RP_HELLO_UNPROVEN);
	w.instance = cpu_to_be64(5);
	body.response = 0;
	assert_int_equal(rp_hello_rx(&h, &w, &body, 78, MS), RP_HELLO_UNPROVEN | RP_HELLO_REPLY);
	assert_int_equal(h.state, ROCEPATH_PEER_PLAIN);
	assert_true(!h.instance && !h.seen.newest && !h.theirs && h.challenge == 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_become_capable),
		cmocka_unit_test(test_bad_channel),
		cmocka_unit_test(test_overtaking),
		cmocka_unit_test(test_hellos_stop),
		cmocka_unit_test(test_interval_of_the_peer),
		cmocka_unit_test(test_what_the_peer_says),
		cmocka_unit_test(test_accepts),
		cmocka_unit_test(test_accepts_reports),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_our_numbers),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_forgotten_and_made_again),
		cmocka_unit_test(test_stops_reordering),
		cmocka_unit_test(test_replays_move_nothing),
		cmocka_unit_test(test_replays_among_the_living),
		cmocka_unit_test(test_suppressed_and_kept),
		cmocka_unit_test(test_hold_outlives_belief),
		cmocka_unit_test(test_zeroes),
	};

	return unit_run(tests);
}
