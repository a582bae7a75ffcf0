/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What selftests/unit/unit.h is in the kernel: the words of cmocka, said to KUnit.
 *
 * A test program becomes one case of the suite in suite.c, its main() a function of
 * the program's name. What fails ends the case.
 */
#ifndef ROCEPATH_KUNIT_UNIT_H
#define ROCEPATH_KUNIT_UNIT_H

#include <kunit/test.h>
#include <linux/random.h>

#include "stdlib.h"

extern struct kunit *kunit_now;

struct CMUnitTest {
	const char *name;
	void (*test_func)(void **state);
	void *initial_state;
};

#define cmocka_unit_test(f) { #f, f, NULL }

#define fail_msg(...) kunit_end(kunit_now, __FILE__, __LINE__, __VA_ARGS__)
#define require(condition, ...) do { if (unlikely(!(condition))) fail_msg(__VA_ARGS__); } while (0)
#define print_message(...) kunit_log(KERN_INFO, kunit_now, __VA_ARGS__)

#define assert_true(c) require(c, "%s", #c)
#define assert_false(c) require(!(c), "not: %s", #c)
#define assert_null(p) assert_true(!(p))
#define assert_non_null(p) assert_true(p)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_memory_equal(a, b, n) assert_true(!memcmp(a, b, n))
#define assert_int_equal(a, b)	do {						\
	unsigned long long _a = (a), _b = (b);					\
	require(_a == _b, "%s is 0x%llx, not 0x%llx", #a, _a, _b);		\
} while (0)
#define assert_in_range(v, lo, hi) do {						\
	unsigned long long _v = (v);						\
	require(_v >= (lo) && _v <= (hi), "%s is 0x%llx", #v, _v);		\
} while (0)

/* the machine watches itself: as many as sanitised programs do, enough to come by everything */
#define ROUNDS(n) ((n) / 10)

#define unit_run(tests) (rnd_seed(), kunit_run_all(tests, ARRAY_SIZE(tests)))

static inline __noreturn __printf(4, 5)
void kunit_end(struct kunit *test, const char *file, int line, const char *format, ...)
{
	struct va_format vaf = { .fmt = format };
	va_list args;

	va_start(args, format);
	vaf.va = &args;
	kunit_err(test, "%s:%d: %pV\n", file, line, &vaf);
	va_end(args);
	kunit_set_failure(test);
	__kunit_abort(test);
	unreachable();
}

static inline int kunit_run_all(const struct CMUnitTest *tests, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		void *state = tests[i].initial_state;

		tests[i].test_func(&state);
		kunit_log(KERN_INFO, kunit_now, "# %s\n", tests[i].name);
		cond_resched();
	}
	return 0;
}

#endif /* ROCEPATH_KUNIT_UNIT_H */
