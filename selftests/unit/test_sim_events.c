// SPDX-License-Identifier: GPL-2.0
/* The simulator's queue of events, against one that looks through all of them. */
/* SOURCES: selftests/sim/events.c */
#include "unit.h"
#include "../sim/events.h"

#define EVENTS 4096

struct model {
	struct event event[EVENTS];
	u32 n;
};

/* the earliest, and of those at one time the one that was added first */
static struct event model_take(struct model *m)
{
	struct event first;
	u32 i, best = 0;

	for (i = 1; i < m->n; i++)
		if (m->event[i].at < m->event[best].at)
			best = i;
	first = m->event[best];
	memmove(&m->event[best], &m->event[best + 1], (--m->n - best) * sizeof(first));
	return first;
}

static void add(struct events *q, struct model *m, u64 at, u32 id)
{
	events_add(q, at, id % 7, id);
	m->event[m->n++] = (struct event){ .at = at, .kind = id % 7, .id = id };
}

static void take(struct events *q, struct model *m)
{
	struct event e, expected = model_take(m);

	assert_true(events_take(q, &e));
	assert_int_equal(e.at, expected.at);
	assert_int_equal(e.id, expected.id);
	assert_int_equal(e.kind, expected.kind);
}

static void test_order(void **state)
{
	static const u64 spans[] = { 1, 10, 1000, 1000000000, 1ull << 50 };
	struct events q = { 0 };
	static struct model m;
	u32 i;

	for (i = 0; i < 50000; i++) {
		u64 span = spans[rnd_below(ARRAY_SIZE(spans))];

		if (m.n < EVENTS && (!m.n || rnd_below(100) < 51))
			add(&q, &m, q.now + rnd() % span, i);
		else
			take(&q, &m);
	}
	while (m.n)
		take(&q, &m);
	assert_int_equal(q.n, 0);
	events_free(&q);
}

static void test_one_time(void **state)
{
	struct events q = { 0 };
	struct event e;
	u32 i;

	for (i = 0; i < 100; i++)
		events_add(&q, 5, 0, i);
	for (i = 0; i < 100; i++) {
		assert_true(events_take(&q, &e));
		assert_int_equal(e.id, i);
		events_add(&q, 5, 0, 100 + i);
	}
	for (i = 0; i < 100; i++) {
		assert_true(events_take(&q, &e));
		assert_int_equal(e.id, 100 + i);
	}
	assert_false(events_take(&q, &e));
	events_free(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_one_time),
	};

	return unit_run(tests);
}
