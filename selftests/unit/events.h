/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens next in a simulation: a binary heap of events, the earliest first,
 * and of those at one time in the order that they were put in. The heap is the
 * caller's, with room for one more.
 *
 * To be included behind `struct event`, which has `u64 at` and `u64 order`.
 */
#ifndef ROCEPATH_UNIT_EVENTS_H
#define ROCEPATH_UNIT_EVENTS_H

static bool events_before(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

/* @order counts those that were ever put in */
static void events_push(struct event *heap, u32 *n, u64 *order, struct event e)
{
	u32 i = (*n)++;

	e.order = (*order)++;
	while (i && events_before(&e, &heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = e;
}

static struct event events_pop(struct event *heap, u32 *n)
{
	struct event first = heap[0], last = heap[--*n];
	u32 i = 0, child;

	while ((child = 2 * i + 1) < *n) {
		if (child + 1 < *n && events_before(&heap[child + 1], &heap[child]))
			child++;
		if (!events_before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

#endif /* ROCEPATH_UNIT_EVENTS_H */
