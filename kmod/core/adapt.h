/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What `adaptive` remembers of a path. See adapt.c.
 */
#ifndef ROCEPATH_CORE_ADAPT_H
#define ROCEPATH_CORE_ADAPT_H

#include <rocepath/types.h>

/**
 * struct rp_adapt - of one path
 * @level: its factor, finer: 65536 is all
 * @base_us: how late it is without a queue
 * @error_us: how much later than others, when it was last looked at
 * @fell_at: level where it last was too much
 * @received: when it was last looked at
 * @marked: when it was last looked at
 * @lost: when it was last looked at
 * @gain: log2 of how much harder it is pushed, for it does not give way
 * @rising: it was last pushed up
 * @looked_ns: when it was last looked at
 * @moved_ns: when @level last changed; what was sent before says nothing about it
 */
struct rp_adapt {
	u32 level;
	u32 base_us;
	s32 error_us;
	u32 fell_at;
	u32 received;
	u32 all;
	u32 marked;
	u64 lost;
	u8 gain;
	bool rising;
	u64 looked_ns;
	u64 moved_ns;
};

#endif /* ROCEPATH_CORE_ADAPT_H */
