/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers for tests: fast, and the same ones when ROCEPATH_SEED says so.
 * Each program prints its seed.
 */
#ifndef ROCEPATH_UNIT_RANDOM_H
#define ROCEPATH_UNIT_RANDOM_H

#ifndef __KERNEL__
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#endif

#include <rocepath/types.h>

/* Sanitised programs are slow, and emulated ones: a tenth of the rounds must do. */
#ifdef __KERNEL__
/* kunit/unit.h has it */
#elif defined(__SANITIZE_ADDRESS__) || defined(ROCEPATH_EMULATED)
#define ROUNDS(n) ((n) / 10)
#else
#define ROUNDS(n) (n)
#endif

static u64 random_state;

/* xorshift64*, Vigna 2016 */
static inline u32 rnd(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull >> 32;
}

/* 0 to n - 1 */
static inline u32 rnd_below(u32 n)
{
	return (u64)rnd() * n >> 32;
}

/* lo to hi, both included */
static inline u32 rnd_range(u32 lo, u32 hi)
{
	return lo + rnd_below(hi - lo + 1);
}

static inline void rnd_fill(void *buf, size_t len)
{
	u8 *p = buf;

	while (len--)
		*p++ = rnd();
}

#ifdef __KERNEL__
static inline void rnd_seed(void)
{
	random_state = get_random_u64() | 1;
	print_message("# ROCEPATH_SEED=0x%llx\n", random_state);
}
#else
static inline void rnd_seed(void)
{
	const char *seed = getenv("ROCEPATH_SEED");

	random_state = seed ? strtoull(seed, NULL, 0) : (u64)time(NULL) << 20 ^ clock();
	if (!random_state)
		random_state = 1;
	printf("# ROCEPATH_SEED=0x%llx\n", (unsigned long long)random_state);
	fflush(stdout);
}
#endif

#endif /* ROCEPATH_UNIT_RANDOM_H */
