/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue for repairs and the naive model of it, led through the same steps and
 * compared after each. Random walks and a fuzzer choose the steps.
 */
#ifndef ROCEPATH_UNIT_REPAIR_PAIR_H
#define ROCEPATH_UNIT_REPAIR_PAIR_H

#include "repair_model.h"

#define REPAIR_POOL (REPAIR_PACKETS + 1)

struct repair_pair {
	struct rp_repair r;
	struct repair_model m;
	struct rp_repair_path path[REPAIR_PATHS];
	struct rp_repair_caps caps;
	struct rp_sent pool[REPAIR_POOL];
	bool out[REPAIR_POOL];	/* in the queue */
	u32 spare[REPAIR_POOL];
	u32 spares;
	u64 now;
};

/* the caller's: the two differ, or the queue broke a promise; does not return */
void repair_pair_failed(const char *how) __attribute__((noreturn));

/* @caps: at most REPAIR_PACKETS packets */
struct repair_pair *repair_pair_new(const struct rp_repair_caps *caps);
/* all comes out at the end */
void repair_pair_free(struct repair_pair *p);

void repair_pair_sent(struct repair_pair *p, u32 psn, u32 span, u32 bytes, u16 path);
void repair_pair_acked(struct repair_pair *p, u32 psn);
void repair_pair_reported(struct repair_pair *p, u32 expected, const u32 *held, u32 words);
void repair_pair_settle(struct repair_pair *p, u32 repaired);
void repair_pair_find_lost(struct repair_pair *p, u32 horizon, const struct rp_repair_clock *clock);
void repair_pair_path_failed(struct repair_pair *p, u32 failed);
/* @now: of each path, RP_REPAIR_NO_PATH: it is no more; else each another one */
void repair_pair_renumber(struct repair_pair *p, const u16 *now);
/* up to @n that wait */
void repair_pair_resend(struct repair_pair *p, u32 n, u16 path);
void repair_pair_clear(struct repair_pair *p);
/* the caller's part: what was told of paths is taken */
void repair_pair_take_paths(struct repair_pair *p);
void repair_pair_compare(const struct repair_pair *p);

#endif /* ROCEPATH_UNIT_REPAIR_PAIR_H */
