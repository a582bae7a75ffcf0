/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is usual of a time that varies: mean and deviation, smoothed as TCP's
 * round-trip time is (RFC 6298).
 */
#ifndef ROCEPATH_CORE_USUAL_H
#define ROCEPATH_CORE_USUAL_H

#include <rocepath/types.h>

/**
 * struct rp_usual - a time, as it was lately
 * @mean_us: its mean
 * @dev_us: its deviation
 */
struct rp_usual {
	u32 mean_us;
	u32 dev_us;
};

/** rp_usual_begin() - the first time that it was seen, @us. */
static inline void rp_usual_begin(struct rp_usual *u, u32 us)
{
	u->mean_us = us;
	u->dev_us = us / 2;
}

/** rp_usual_learn() - it was @us this time; below 2^31. */
static inline void rp_usual_learn(struct rp_usual *u, u32 us)
{
	s32 mean = u->mean_us, dev = u->dev_us, error = (s32)us - mean;

	u->dev_us = dev + ((error < 0 ? -error : error) - dev) / 4;
	u->mean_us = mean + error / 8;
}

/** rp_usual_most_us() - longer than that it is not, but by a very rare chance. */
static inline u64 rp_usual_most_us(const struct rp_usual *u)
{
	return u->mean_us + 4ull * u->dev_us;
}

#endif /* ROCEPATH_CORE_USUAL_H */
