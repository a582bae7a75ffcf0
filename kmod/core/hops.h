/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hop-limited probes that are out, until they are answered, forgotten for newer
 * ones, or too old: an answer that names none of them moves nothing.
 *
 * Pure; the caller serialises all calls for one ring.
 */
#ifndef ROCEPATH_CORE_HOPS_H
#define ROCEPATH_CORE_HOPS_H

#include <linux/in6.h>

#include "paths.h"

/* out at once; older ones are forgotten */
#define RP_HOPS_MAX 256
/* no answer takes longer */
#define RP_HOP_LIFE_NS 5000000000ull

/**
 * struct rp_hop - a hop-limited probe that is out
 * @peer: to whom
 * @path: its path
 * @hops: its limit, 0: it is not out any more
 * @id: not to be guessed; of its IPv4 header, and the low half of its cookie
 * @cookie: of who asked
 * @sent_ns: when
 */
struct rp_hop {
	struct in6_addr peer;
	struct rp_path path;
	u8 hops;
	u16 id;
	u32 cookie;
	u64 sent_ns;
};

/**
 * struct rp_hops - those that are out
 * @hop: in the order of sending, going round
 * @next: to be used
 */
struct rp_hops {
	struct rp_hop hop[RP_HOPS_MAX];
	u16 next;
};

/** rp_hops_put() - one is about to be sent. */
void rp_hops_put(struct rp_hops *h, const struct rp_hop *hop);

/**
 * rp_hops_take() - one comes to its end
 * @h: those that are out
 * @id: of it
 * @peer: of it
 * @now_ns: the time
 * @hop: filled in
 *
 * Return: false if none of these is out.
 */
bool rp_hops_take(struct rp_hops *h, u16 id, const struct in6_addr *peer, u64 now_ns,
		  struct rp_hop *hop);

#endif /* ROCEPATH_CORE_HOPS_H */
