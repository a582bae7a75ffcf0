/* SPDX-License-Identifier: GPL-2.0 */
/* What a fuzzer gives, read a byte at a time; behind its end are zeros. */
#ifndef ROCEPATH_FUZZ_INPUT_H
#define ROCEPATH_FUZZ_INPUT_H

#include <stdio.h>
#include <stdlib.h>

#include <rocepath/types.h>

struct input {
	const u8 *at;
	size_t left;
};

static inline u32 byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static inline u32 word(struct input *in)
{
	return byte(in) | byte(in) << 8;
}

/* the models differ: that is a crash to the fuzzer */
static inline void __attribute__((__noreturn__)) crash(const char *how)
{
	fprintf(stderr, "%s\n", how);
	abort();
}

#endif /* ROCEPATH_FUZZ_INPUT_H */
