/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who sends what to whom, as htsim's connection matrices say it:
 *
 *   Nodes 8
 *   Connections 2
 *   Triggers 1
 *   0->3 id 1 start 0 size 2000000 recv_done_trigger 1
 *   3->4 id 2 trigger 1 size 2000000
 *   trigger id 1 oneshot
 *
 * start is in ps, size in bytes. A flow with a trigger starts when that is pulled:
 * oneshot by the first, barrier by all of `count`, that have it as their send_done_trigger or
 * recv_done_trigger; which are the same here, for a flow is done when all has arrived.
 */
#ifndef ROCEPATH_SIM_TRAFFIC_H
#define ROCEPATH_SIM_TRAFFIC_H

#include <rocepath/types.h>

struct text;

/* no trigger */
#define TRAFFIC_NONE 0

/**
 * struct traffic_flow - so many bytes from a host to another
 * @from: host
 * @to: host
 * @id: of it
 * @trigger: starts it, TRAFFIC_NONE: @start_ps does
 * @pulls: trigger, when it is done
 * @next: of those that wait for the same trigger, an index plus 1
 * @start_ps: when
 * @bytes: payload
 */
struct traffic_flow {
	u32 from;
	u32 to;
	u32 id;
	u32 trigger;
	u32 pulls;
	u32 next;
	u64 start_ps;
	u64 bytes;
};

/**
 * struct traffic_trigger - by number
 * @waiting: the first flow that waits for it, an index plus 1
 * @count: so often it must be pulled, 0: there is no such trigger
 */
struct traffic_trigger {
	u32 waiting;
	u32 count;
};

/**
 * struct traffic - a matrix
 * @hosts: at most
 * @n: flows
 * @triggers: highest number of a trigger, plus 1
 */
struct traffic {
	u32 hosts;
	u32 n;
	u32 triggers;
	struct traffic_flow *flow;
	struct traffic_trigger *trigger;
};

/** traffic_read() - from a text. Return: false if it is none, with @t->error. */
bool traffic_read(struct traffic *m, struct text *t);

/** traffic_write() - as a text that traffic_read() reads. */
void traffic_write(const struct traffic *m, const char *file);

/**
 * traffic_permutation() - each host sends to one, and gets from one, other host
 *
 * @rounds times, to the same one each time; a round begins when all of the one before is done.
 */
void traffic_permutation(struct traffic *m, u32 hosts, u64 bytes, u32 rounds, u64 *random);

/** traffic_incast() - @senders hosts, spread over the fabric, send to host 0. */
void traffic_incast(struct traffic *m, u32 hosts, u32 senders, u64 bytes);

/**
 * traffic_ring() - all-reduce of @bytes by a ring of all hosts
 *
 * 2 (n - 1) steps; in each a host sends a part to the next one, when it got that of the step
 * before. The ring goes through the fabric at random, or all but few of its links would be
 * those of a leaf.
 */
void traffic_ring(struct traffic *m, u32 hosts, u64 bytes, u64 *random);

/** traffic_all_to_all() - each to each, @bytes for each pair, @at_once at a time. */
void traffic_all_to_all(struct traffic *m, u32 hosts, u64 bytes, u32 at_once);

/** traffic_free() */
void traffic_free(struct traffic *m);

#endif /* ROCEPATH_SIM_TRAFFIC_H */
