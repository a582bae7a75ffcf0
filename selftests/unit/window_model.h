/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A deliberately naive model of the reorder window: an unsorted array that is
 * searched from end to end, one bit for each awaited PSN, positions that do not
 * wrap. It shares no code and no idea with kmod/core/window.c.
 */
#ifndef ROCEPATH_UNIT_WINDOW_MODEL_H
#define ROCEPATH_UNIT_WINDOW_MODEL_H

#include "window.h"

#define MODEL_PACKETS 4096

/* @at: its PSN as a position on a line that does not wrap; @over: the QP went past it */
struct model_packet {
	s64 at;
	u32 span;
	u32 bytes;
	u32 id;
	bool over;
	bool repair;
};

/* a repair that the QP got, in which half it is, and when the first one of that was */
struct model_repaired {
	s64 at;
	u32 half;
	u64 since_ns;
};

/* the position of the expected PSN is a PSN plus a multiple of 2^24 */
struct model {
	s64 expected;
	s64 awaited_end;
	bool open;
	bool responses;
	bool skips;
	u32 span_max;
	u64 gap_ns;
	u64 filled;
	u64 expired;
	u64 rewinds;
	u64 forwards;
	u64 repairs;
	u64 needless;
	u64 overtaken;
	u32 repaired_n;
	u32 half;
	u64 repaired_ns;	/* how long they are remembered */
	struct model_repaired repaired[RP_REPAIRED_REACH];	/* the newest is the last */
	u8 *awaited;
	u32 n;
	struct model_packet packet[MODEL_PACKETS];
};

/* one at a time */
struct model *model_new(bool responses, u32 psn, bool skips);
void model_free(struct model *m);

/*
 * As rp_window_*. Of buckets it only wants to know if any are there; an id of -1 is no packet.
 * @timeout_ns: the gap timeout in force
 */
enum rp_window_verdict model_rx(struct model *m, const struct rp_held *h, u32 id, bool buckets,
				const struct rp_window_caps *caps, u64 timeout_ns, u64 now_ns);
s64 model_next(struct model *m, u64 now_ns);
/* fills @ids, returns how many */
u32 model_release(struct model *m, bool expired, u32 *ids);
u32 model_overflow(struct model *m, u32 psn, u32 span, u32 id, u32 *ids);
bool model_seek(struct model *m, u32 psn, bool back);
bool model_await(struct model *m, u32 psn, u32 count);
u32 model_bytes(const struct model *m);

#endif /* ROCEPATH_UNIT_WINDOW_MODEL_H */
