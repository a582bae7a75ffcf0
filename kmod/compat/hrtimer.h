/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_COMPAT_HRTIMER_H
#define ROCEPATH_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>

/* hrtimer_setup() came with 6.13; setting the function by hand went with 6.15 */
static inline void rp_hrtimer_setup(struct hrtimer *timer,
				    enum hrtimer_restart (*function)(struct hrtimer *),
				    enum hrtimer_mode mode)
{
#ifdef RP_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

#endif /* ROCEPATH_COMPAT_HRTIMER_H */
