// SPDX-License-Identifier: GPL-2.0
#include "events.h"

#include <assert.h>
#include <stdlib.h>

static struct events_bucket *bucket_of(struct events *q, u64 at)
{
	u64 differs = at ^ q->now;

	return &q->bucket[differs ? 64 - __builtin_clzll(differs) : 0];
}

static void put(struct events_bucket *b, const struct event *e)
{
	if (b->n == b->room) {
		b->room = 2 * b->room + 16;
		b->event = realloc(b->event, b->room * sizeof(*b->event));
		assert(b->event);
	}
	b->event[b->n++] = *e;
}

void events_add(struct events *q, u64 at, u32 kind, u32 id)
{
	struct event e = { .at = at, .kind = kind, .id = id };

	assert(at >= q->now);
	put(bucket_of(q, at), &e);
	q->n++;
}

/* The first bucket that has any, and all in it go to lower ones: time goes to the earliest. */
static void advance(struct events *q)
{
	struct events_bucket *b = &q->bucket[1];
	u64 first;
	u32 i;

	while (!b->n)
		b++;
	first = b->event[0].at;
	for (i = 1; i < b->n; i++)
		first = min(first, b->event[i].at);
	q->now = first;
	for (i = 0; i < b->n; i++)
		put(bucket_of(q, b->event[i].at), &b->event[i]);
	b->n = 0;
}

bool events_take(struct events *q, struct event *e)
{
	struct events_bucket *due = &q->bucket[0];

	if (!q->n)
		return false;
	if (q->taken == due->n) {
		due->n = 0;
		q->taken = 0;
		advance(q);
	}
	*e = due->event[q->taken++];
	q->n--;
	return true;
}

void events_free(struct events *q)
{
	u32 i;

	for (i = 0; i < EVENTS_BUCKETS; i++)
		free(q->bucket[i].event);
	memset(q, 0, sizeof(*q));
}
