/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A deliberately naive model of what waits for its acknowledge: an array in the
 * order of sending, gone through from end to end for everything, positions that
 * do not wrap. It shares no code and no idea with kmod/core/repair.c.
 */
#ifndef ROCEPATH_UNIT_REPAIR_MODEL_H
#define ROCEPATH_UNIT_REPAIR_MODEL_H

#include "repair.h"

#define REPAIR_PACKETS 512
#define REPAIR_PATHS 8

/* @at: its PSN as a position on a line that does not wrap */
struct repair_packet {
	s64 at;
	u32 span;
	u32 bytes;
	u32 id;
	u32 tries;
	u16 path;
	u16 first;
	bool lost;
	u64 sent_ns;
};

struct repair_model {
	u32 n;
	struct repair_packet packet[REPAIR_PACKETS];
	struct rp_repair_stats stats;
	u32 told;
	struct rp_repair_path path[REPAIR_PATHS];
};

/* As rp_repair_*; what is no longer kept goes to @ids, and is counted. */
u32 repair_model_sent(struct repair_model *m, u32 psn, const struct repair_packet *p,
		      const struct rp_repair_caps *caps, u32 *ids);
u32 repair_model_acked(struct repair_model *m, u32 psn, u32 *ids);
u32 repair_model_reported(struct repair_model *m, u32 expected, const u32 *held, u32 words,
			  u32 *ids);
u32 repair_model_find_lost(struct repair_model *m, u32 horizon,
			   const struct rp_repair_clock *clock, u32 *ids);
u32 repair_model_path_failed(struct repair_model *m, u32 failed, u32 *ids);
/* @now: of each path, RP_REPAIR_NO_PATH: it is no more */
void repair_model_renumber(struct repair_model *m, const u16 *now);
/* which packets were late and which were lost, this does not decide by path but in sum */
void repair_model_settle(struct repair_model *m, u32 repaired, u32 *lost, u32 *late);
u32 repair_model_clear(struct repair_model *m, u32 *ids);
/* index of the packet to send again, @m->n: none */
u32 repair_model_next(const struct repair_model *m);
void repair_model_resent(struct repair_model *m, u16 path, u64 now_ns);
u64 repair_model_bytes(const struct repair_model *m);
u32 repair_model_lost(const struct repair_model *m);

#endif /* ROCEPATH_UNIT_REPAIR_MODEL_H */
