// SPDX-License-Identifier: GPL-2.0
/* Hold-down of ports that come back, and the damping of those that flap. */
/* SOURCES: kmod/core/holddown.c */
#include "unit.h"
#include "holddown.h"

#define MS 1000000ull
#define FIRST 100
#define MOST 1600

struct port {
	struct rp_holddown h;
	u64 now;
};

static void start(struct port *p, bool up)
{
	p->now = 12345 * MS;
	rp_holddown_init(&p->h, up, p->now);
}

/* down for @ms, then carrier again */
static void flap(struct port *p, u32 ms)
{
	assert_true(rp_holddown_down(&p->h, p->now));
	assert_int_equal(p->h.state, ROCEPATH_PORT_DOWN);
	assert_int_equal(p->h.since_ns, p->now);
	p->now += ms * MS;
	assert_false(rp_holddown_poll(&p->h, p->now));
	assert_true(rp_holddown_up(&p->h, FIRST, MOST, p->now));
}

/* wait until it is up, and count the time */
static u32 wait_up(struct port *p)
{
	u64 before = p->now, until = p->h.until_ns;

	assert_int_equal(p->h.state, ROCEPATH_PORT_HOLDDOWN);
	assert_false(rp_holddown_poll(&p->h, until - 1));
	assert_int_equal(p->h.state, ROCEPATH_PORT_HOLDDOWN);
	p->now = until;
	assert_true(rp_holddown_poll(&p->h, p->now));
	assert_false(rp_holddown_poll(&p->h, p->now));
	assert_int_equal(p->h.state, ROCEPATH_PORT_UP);
	assert_int_equal(p->h.since_ns, p->now);
	return (p->now - before) / MS;
}

static void first_time_is_free(void **state)
{
	struct port p;

	start(&p, true);
	assert_int_equal(p.h.state, ROCEPATH_PORT_UP);
	start(&p, false);
	assert_int_equal(p.h.state, ROCEPATH_PORT_DOWN);
	assert_false(rp_holddown_down(&p.h, p.now));
	assert_int_equal(p.h.flaps, 0);
	assert_true(rp_holddown_up(&p.h, FIRST, MOST, p.now));
	assert_int_equal(p.h.state, ROCEPATH_PORT_UP);
	assert_false(rp_holddown_up(&p.h, FIRST, MOST, p.now));
}

static void comes_back_after_first(void **state)
{
	struct port p;

	start(&p, true);
	flap(&p, 7000);
	assert_int_equal(wait_up(&p), FIRST);
	assert_int_equal(p.h.flaps, 1);
}

static void doubles_up_to_the_most(void **state)
{
	static const u32 want[] = { 100, 200, 400, 800, 1600, 1600, 1600 };
	unsigned int i;
	struct port p;

	start(&p, true);
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		flap(&p, 10);
		assert_int_equal(wait_up(&p), want[i]);
		p.now += 50 * MS;
	}
	assert_int_equal(p.h.flaps, ARRAY_SIZE(want));
}

static void down_again_while_held(void **state)
{
	struct port p;

	start(&p, true);
	flap(&p, 10);
	p.now += 99 * MS;
	flap(&p, 0);
	assert_int_equal(wait_up(&p), 200);
	assert_int_equal(p.h.flaps, 2);
}

static void forgives_with_time(void **state)
{
	/* up for so long after a hold-down of 1600: the next one */
	static const u32 table[][2] = {
		{ 0, 1600 },   { 1599, 1600 }, { 1600, 1600 }, { 2399, 1600 },	{ 2400, 800 },
		{ 2800, 400 }, { 3000, 200 },  { 3100, 100 },  { 100000, 100 },
	};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct port p;

		start(&p, true);
		for (k = 0; k < 5; k++) {
			flap(&p, 0);
			wait_up(&p);
		}
		assert_int_equal(p.h.hold_ms, 1600);
		p.now += table[i][0] * MS;
		flap(&p, 10);
		assert_int_equal(wait_up(&p), table[i][1]);
	}
}

static void no_holddown_wanted(void **state)
{
	struct port p;

	start(&p, true);
	assert_true(rp_holddown_down(&p.h, p.now));
	assert_true(rp_holddown_up(&p.h, 0, MOST, p.now));
	assert_int_equal(p.h.state, ROCEPATH_PORT_UP);
}

static void most_below_first(void **state)
{
	unsigned int i;
	struct port p;

	start(&p, true);
	for (i = 0; i < 4; i++) {
		assert_true(rp_holddown_down(&p.h, p.now));
		assert_true(rp_holddown_up(&p.h, 300, 0, p.now));
		assert_int_equal(wait_up(&p), 300);
	}
}

/*
 * Whatever happens: up only after a hold-down of legal length, each step is told
 * exactly when it is news.
 */
static void random_life(void **state)
{
	u64 held_since = 0, held;
	u32 flaps = 0, i;
	struct port p;

	start(&p, true);
	for (i = 0; i < ROUNDS(2000000); i++) {
		enum rocepath_port_state was = p.h.state;
		bool news;

		p.now += (u64)rnd_below(rnd() % 8 ? 200 : 5000) * MS;
		switch (rnd_below(3)) {
		case 0:
			news = rp_holddown_down(&p.h, p.now);
			require(news == (was != ROCEPATH_PORT_DOWN), "down");
			require(p.h.state == ROCEPATH_PORT_DOWN, "not down");
			flaps += news;
			break;
		case 1:
			news = rp_holddown_up(&p.h, FIRST, MOST, p.now);
			require(news == (was == ROCEPATH_PORT_DOWN), "up");
			require(!news || p.h.state == ROCEPATH_PORT_HOLDDOWN, "not held down");
			held_since = news ? p.now : held_since;
			break;
		default:
			news = rp_holddown_poll(&p.h, p.now);
			require(news == (p.h.state != was), "poll");
			if (was != ROCEPATH_PORT_HOLDDOWN)
				break;
			held = p.now - held_since;
			require(!news || held >= FIRST * MS, "up too soon");
			require(news || held < MOST * MS, "up too late");
		}
		require(p.h.flaps == flaps, "flaps");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_time_is_free),
		cmocka_unit_test(comes_back_after_first),
		cmocka_unit_test(doubles_up_to_the_most),
		cmocka_unit_test(down_again_while_held),
		cmocka_unit_test(forgives_with_time),
		cmocka_unit_test(no_holddown_wanted),
		cmocka_unit_test(most_below_first),
		cmocka_unit_test(random_life),
	};

	return unit_run(tests);
}
