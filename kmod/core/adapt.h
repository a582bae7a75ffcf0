/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the weights of `adaptive` follow from. See adapt.c.
 */
#ifndef ROCEPATH_CORE_ADAPT_H
#define ROCEPATH_CORE_ADAPT_H

#include <rocepath/types.h>

/* all of a path's share, for @level */
#define RP_ADAPT_WHOLE 65536

/**
 * struct rp_adapt - what is remembered of one path
 * @level: its factor, finer, of RP_ADAPT_WHOLE
 * @fell_at: @level when it last proved to be too much
 * @base_us: how late its packets come without a queue
 * @error_us: how much later than those of others they came, when it was last looked at
 * @received: by the report before
 * @marked: by the report before
 * @lost: by the report before
 * @gain: log2 of how much harder it is pushed because it does not give way
 * @runs: how often it was, warily
 * @stuck: how often it was late at the least level, one after the other
 * @rising: it was last pushed up
 * @learns: how often @base_us was found out lately
 * @learn_ns: when it may be again
 * @looked_ns: when it was last looked at
 * @settled_ns: what was sent before that says nothing about @level
 */
struct rp_adapt {
	u32 level;
	u32 fell_at;
	u32 base_us;
	s32 error_us;
	u32 received;
	u32 marked;
	u64 lost;
	u8 gain;
	u8 runs;
	u8 stuck;
	u8 learns;
	bool rising;
	u64 learn_ns;
	u64 looked_ns;
	u64 settled_ns;
};

/** rp_adapt_init() - a new path: all of its share. */
void rp_adapt_init(struct rp_adapt *a, u64 now_ns);

#endif /* ROCEPATH_CORE_ADAPT_H */
