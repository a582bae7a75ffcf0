/* SPDX-License-Identifier: GPL-2.0 */
/* What cmocka wants before it, and how each test program starts. */
#ifndef ROCEPATH_UNIT_H
#define ROCEPATH_UNIT_H

#ifdef __KERNEL__
#include "../kunit/unit.h"
#include "random.h"
#else

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random.h"

/* for loops of millions: cmocka's own asserts cost a call each */
#define require(condition, ...) do { if (unlikely(!(condition))) fail_msg(__VA_ARGS__); } while (0)

/* what a test program's main() returns: a group of tests, or those of them from one on */
#define unit_run(tests) unit_run_from(tests, 0)
#define unit_run_from(tests, first) \
	(rnd_seed(), cmocka_set_message_output(CM_OUTPUT_TAP), \
	 _cmocka_run_group_tests(#tests, (tests) + (first), ARRAY_SIZE(tests) - (first), \
				 NULL, NULL))

#endif /* __KERNEL__ */

#endif /* ROCEPATH_UNIT_H */
