/* SPDX-License-Identifier: GPL-2.0 */
/* linux/unaligned.h came with 6.12; before, asm/unaligned.h is the same thing. */
#ifndef ROCEPATH_COMPAT_UNALIGNED_H
#define ROCEPATH_COMPAT_UNALIGNED_H

#if __has_include_next(<linux/unaligned.h>)
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* ROCEPATH_COMPAT_UNALIGNED_H */
