/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Links with queues. A queue is what a link has still to send: first come, first served, so when
 * a packet joins it is known when it will be through.
 */
#ifndef ROCEPATH_SIM_FABRIC_H
#define ROCEPATH_SIM_FABRIC_H

#include "topology.h"

/**
 * enum fabric_state - of a link
 * @FABRIC_UP: works
 * @FABRIC_OUT: does not, and the switches know: no packet is sent there
 * @FABRIC_DEAD: does not, and nobody knows: what is sent there is gone
 */
enum fabric_state { FABRIC_UP, FABRIC_OUT, FABRIC_DEAD };

/**
 * struct fabric_link - one direction of a cable
 * @free_ps: when it has sent all that it has
 * @latency_ps: of it, and of the switch behind it
 * @ps_per_byte: how slow it is
 * @state: does it work?
 */
struct fabric_link {
	u64 free_ps;
	u32 latency_ps;
	u32 ps_per_byte;
	enum fabric_state state;
};

/**
 * struct fabric - all links
 * @top: who is connected with whom
 * @link: by number
 * @limit: bytes that a queue holds, 0: no limit, as with PFC
 * @mark: bytes from which on packets are marked with CE, 0: none is
 * @drops: packets that found a queue full, or a link dead
 * @marks: packets marked
 * @queue_max: most bytes that ever waited for one link
 */
struct fabric {
	struct topology top;
	struct fabric_link *link;
	u32 limit;
	u32 mark;
	u64 drops;
	u64 marks;
	u64 queue_max;
};

/** fabric_init() - all links work, at the rates of the topology. */
void fabric_init(struct fabric *f, const struct topology *top);

/** fabric_free() */
void fabric_free(struct fabric *f);

/**
 * fabric_impair() - something happens to some cables between switches, both ways
 * @f: the fabric
 * @n: so many, spread by chance
 * @state: they get
 * @slower: and so many times slower they are
 * @random: seed
 */
void fabric_impair(struct fabric *f, u32 n, enum fabric_state state, u32 slower, u64 *random);

/**
 * fabric_route() - the links that a packet takes: each switch hashes what it sees
 * @f: the fabric
 * @from: host
 * @to: host
 * @entropy: of the packet
 * @link: filled in
 *
 * Return: how many, 0 if there is no way.
 */
u32 fabric_route(const struct fabric *f, u32 from, u32 to, u32 entropy, u32 *link);

/**
 * fabric_send() - a packet comes to a link
 * @f: the fabric
 * @link: which
 * @now_ps: when
 * @bytes: of it, on the wire
 * @marked: set if it is marked
 *
 * Return: when it has come to the other end, 0: never.
 */
u64 fabric_send(struct fabric *f, u32 link, u64 now_ps, u32 bytes, bool *marked);

/**
 * fabric_ideal_ps() - no schedule is faster
 * @f: the fabric
 * @sent: bytes that each host sends
 * @got: bytes that each host gets
 * @up: bytes that leave each leaf
 * @down: bytes that come to each leaf
 * @pod_up: bytes that leave each pod
 * @pod_down: bytes that come to each pod
 *
 * Bytes over capacity, at the host, leaf or pod that has the least of it.
 */
u64 fabric_ideal_ps(const struct fabric *f, const u64 *sent, const u64 *got, const u64 *up,
		    const u64 *down, const u64 *pod_up, const u64 *pod_down);

#endif /* ROCEPATH_SIM_FABRIC_H */
