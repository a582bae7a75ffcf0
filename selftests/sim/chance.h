/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that are the same for the same seed. */
#ifndef ROCEPATH_SIM_CHANCE_H
#define ROCEPATH_SIM_CHANCE_H

#include <rocepath/types.h>

/** chance_below() - 0 to @n - 1; xorshift64*, Vigna 2016. @random is never 0. */
static inline u32 chance_below(u64 *random, u32 n)
{
	*random ^= *random >> 12;
	*random ^= *random << 25;
	*random ^= *random >> 27;
	return (u32)((*random * 0x2545f4914f6cdd1dull >> 32) * n >> 32);
}

/** chance_mix() - a hash of two numbers, as a switch makes one. */
static inline u32 chance_mix(u32 a, u32 b)
{
	u64 x = ((u64)a << 32 | b) + 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (u32)(x ^ x >> 31);
}

#endif /* ROCEPATH_SIM_CHANCE_H */
