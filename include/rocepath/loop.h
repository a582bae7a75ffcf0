/* SPDX-License-Identifier: GPL-2.0 */
/* bpf_loop() for pure code that also compiles natively. */
#ifndef ROCEPATH_LOOP_H
#define ROCEPATH_LOOP_H

#include <rocepath/types.h>

#ifdef __bpf__

#define rp_loop(n, step, state) bpf_loop(n, step, state, 0)
#define rp_inline static __always_inline

#else

/* calls step(i, state) for i from 0 on, up to n times, until it returns 1 */
static inline void rp_loop(u32 n, long (*step)(u32 i, void *state), void *state)
{
	u32 i;

	for (i = 0; i < n && !step(i, state); i++)
		;
}

#define rp_inline static inline

#endif

#endif /* ROCEPATH_LOOP_H */
