// SPDX-License-Identifier: GPL-2.0
/* The unit tests of the pure logic that need no floating point, as one suite in the kernel. */
#include <linux/module.h>

#include "unit.h"

struct kunit *kunit_now;

#define CASES(C)			\
	C(test_answer)			\
	C(test_hello)			\
	C(test_icrc)			\
	C(test_repair)			\
	C(test_report)			\
	C(test_roce)			\
	C(test_window)			\
	C(test_window_model)		\
	C(test_window_qp)		\
	C(test_window_repair)		\
	C(test_wire)

#define DECLARE(name)							\
int name(void);								\
static void kunit_##name(struct kunit *test)				\
{									\
	kunit_now = test;						\
	KUNIT_EXPECT_EQ(test, name(), 0);				\
}
CASES(DECLARE)

#define CASE(name) KUNIT_CASE_SLOW(kunit_##name),
static struct kunit_case cases[] = { CASES(CASE) {} };

static struct kunit_suite suite = { .name = "rocepath", .test_cases = cases };
kunit_test_suite(suite);

MODULE_DESCRIPTION("rocepath: tests of the logic");
MODULE_LICENSE("GPL");
