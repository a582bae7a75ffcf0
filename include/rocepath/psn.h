/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet sequence numbers: 24 bits that wrap (IBTA 1.x, 9.7.2). Of two PSNs
 * the one less than half the space ahead is the later one.
 */
#ifndef ROCEPATH_PSN_H
#define ROCEPATH_PSN_H

#include "types.h"

#define RP_PSN_MASK 0xffffffu

/** rp_psn_add() - @psn moved on by @n packets, which may be negative. */
static inline u32 rp_psn_add(u32 psn, s32 n)
{
	return (psn + (u32)n) & RP_PSN_MASK;
}

/** rp_psn_diff() - how far @a is ahead of @b: -2^23 to 2^23 - 1. */
static inline s32 rp_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif /* ROCEPATH_PSN_H */
