/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PSNs that a QP lately got as repairs, for what was repaired may come yet.
 *
 * A bit for each of the last PSNs before the expected one, in two halves: the
 * newer one takes what is added until half of a life is over, then the other one
 * is emptied and takes its place. So no bit lives longer than one life, and one
 * time for each half is enough.
 */
#ifndef ROCEPATH_CORE_REPAIRED_H
#define ROCEPATH_CORE_REPAIRED_H

#include <rocepath/psn.h>

/* PSNs before the expected one that are remembered; a power of two */
#define RP_REPAIRED_REACH 1024

struct rp_repaired_half {
	u64 since_ns;
	u32 n;
	u32 bit[RP_REPAIRED_REACH / 32];
};

/**
 * struct rp_repaired - of one window
 * @newer: which half takes what is added
 * @half: each with the bits in it, how many are set, and when the first one was
 */
struct rp_repaired {
	u32 newer;
	struct rp_repaired_half half[2];
};

/** rp_repaired_any() - is any remembered? */
static inline bool rp_repaired_any(const struct rp_repaired *r)
{
	return r->half[0].n || r->half[1].n;
}

/**
 * rp_repaired_add() - the QP got a repair
 * @r: what is remembered
 * @psn: of it; less than RP_REPAIRED_REACH before the expected one
 * @now_ns: the time
 * @life_ns: for so long
 */
void rp_repaired_add(struct rp_repaired *r, u32 psn, u64 now_ns, u64 life_ns);

/**
 * rp_repaired_take() - was this one repaired?
 * @r: what is remembered
 * @psn: at most RP_REPAIRED_REACH before the expected one
 * @now_ns: the time
 * @life_ns: lately means so long ago
 *
 * Return: true if it was; it is forgotten then.
 */
bool rp_repaired_take(struct rp_repaired *r, u32 psn, u64 now_ns, u64 life_ns);

/**
 * rp_repaired_pass() - the expected PSN moves on
 * @r: what is remembered
 * @psn: from this one
 * @count: by so many
 *
 * To be called for each move: bits are used again.
 */
void rp_repaired_pass(struct rp_repaired *r, u32 psn, u32 count);

/** rp_repaired_forget() - remember nothing. */
void rp_repaired_forget(struct rp_repaired *r);

#endif /* ROCEPATH_CORE_REPAIRED_H */
