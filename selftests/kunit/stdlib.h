/* SPDX-License-Identifier: GPL-2.0 */
/* Of that header, what unit tests want. */
#ifndef ROCEPATH_KUNIT_STDLIB_H
#define ROCEPATH_KUNIT_STDLIB_H

#include <linux/mm.h>
#include <linux/slab.h>

#define malloc(n) kvmalloc(n, GFP_KERNEL)
#define calloc(n, size) kvcalloc(n, size, GFP_KERNEL)
#define realloc(p, n) kvrealloc(p, n, GFP_KERNEL)
#define free(p) kvfree(p)

#endif /* ROCEPATH_KUNIT_STDLIB_H */
