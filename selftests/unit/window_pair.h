/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A reorder window and the naive model of it, led through the same steps and
 * compared after each. Random walks and a fuzzer choose the steps.
 */
#ifndef ROCEPATH_UNIT_WINDOW_PAIR_H
#define ROCEPATH_UNIT_WINDOW_PAIR_H

#include "window_model.h"

#define PAIR_POOL (MODEL_PACKETS + 1)

struct pair {
	struct rp_window w;
	struct model *m;
	struct rp_window_caps caps;
	struct rp_awaited awaited[RP_WINDOW_AWAITED];
	struct rp_held pool[PAIR_POOL];
	bool out[PAIR_POOL];	/* handed to the window, not come back */
	u32 spare[PAIR_POOL];
	u32 spares;
	u64 now;
	u64 given, back;
};

/* the caller's: the two differ, or the window broke a promise; does not return */
void pair_failed(const char *how) __attribute__((noreturn));

struct pair *pair_new(bool responses, u32 psn, bool skips, const struct rp_window_caps *caps);
/* all comes out at the end */
void pair_free(struct pair *p);

void pair_rx(struct pair *p, u32 psn, u32 span, u32 bytes, bool repair);
/* if the gap's time is up */
void pair_expire(struct pair *p);
void pair_release(struct pair *p, bool expired);
void pair_seek(struct pair *p, u32 psn, bool back);
void pair_await(struct pair *p, u32 psn, u32 count);
void pair_buckets(struct pair *p, u32 n);
void pair_compare(const struct pair *p);

#endif /* ROCEPATH_UNIT_WINDOW_PAIR_H */
