/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens next: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990). Time only goes
 * forward, so an event need only be put beside those that differ from now in the same highest bit;
 * it is moved once for each bit that is left, and never compared with more than a few.
 * What is due at one time comes in the order in which it was added.
 */
#ifndef ROCEPATH_SIM_EVENTS_H
#define ROCEPATH_SIM_EVENTS_H

#include <rocepath/types.h>

#define EVENTS_BUCKETS 65

/**
 * struct event - something that will happen
 * @at: when, ps
 * @kind: the caller's
 * @id: of whom or of what
 */
struct event {
	u64 at;
	u32 kind;
	u32 id;
};

struct events_bucket {
	struct event *event;
	u32 n;
	u32 room;
};

/**
 * struct events - all that will happen; zeroed it is empty
 * @now: when the last one was that was taken
 * @n: events
 * @taken: of bucket 0, which has those that are due at @now
 * @bucket: by the highest bit in which their time differs from @now, from 1 on
 */
struct events {
	u64 now;
	u32 n;
	u32 taken;
	struct events_bucket bucket[EVENTS_BUCKETS];
};

/** events_add() - not before what was taken last. */
void events_add(struct events *q, u64 at, u32 kind, u32 id);

/** events_take() - the next one. Return: false if there is none. */
bool events_take(struct events *q, struct event *e);

/** events_free() - forget all. */
void events_free(struct events *q);

#endif /* ROCEPATH_SIM_EVENTS_H */
