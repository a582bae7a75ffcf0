/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module does for one data packet, as far as it is pure: the calls of
 * kmod/tx.c and kmod/rx.c to kmod/core/ in their order, and a stand-in for the table of
 * QPs. No skb, no lock, no counter.
 */
#ifndef ROCEPATH_BENCH_HOT_H
#define ROCEPATH_BENCH_HOT_H

#include "icrc.h"
#include "qp_table.h"

#define HOT_FRAMES 64		/* that have just been made: they fit the second level cache */
#define HOT_FRAME_MAX 4352

/**
 * struct hot_config - how much there is of everything
 * @qps: QPs
 * @peers: they go to, in turn; a power of two
 * @paths: to each of them, 4 ports if there are so many
 * @kept: packets kept of each QP before an acknowledge lets half of them go, a power of two
 */
struct hot_config {
	u32 qps;
	u32 peers;
	u32 paths;
	u32 kept;
};

struct hot_heard {
	u32 received;
	u32 late_us;
	u32 lates;
};

struct hot_peer {
	struct rp_pathset *set;
	struct hot_heard *heard;	/* by port and EV */
};

struct hot {
	struct hot_config is;
	struct rp_icrc_table icrc;
	struct qp_table table;
	struct qp *qp;
	struct rp_sent *sent;		/* of each QP @is.kept */
	struct rp_repair_path *path;	/* of each QP, @is.paths */
	struct hot_peer *peer;
	u8 *sets;			/* of each peer */
	struct hot_heard *heard;	/* of each peer */
	struct rp_window_caps caps;
	u64 bytes;			/* of all that grows */
	u8 frame[HOT_FRAMES][HOT_FRAME_MAX];
};

/** hot_memory() - zeroed, in large pages where there are any; to be freed. */
void *hot_memory(size_t bytes);

/** hot_new() - all is idle. */
struct hot *hot_new(const struct hot_config *config);

/** hot_free() */
void hot_free(struct hot *hot);

/** hot_frames() - packets of that payload, from the IP header on, to QP 0. Return: their length. */
u32 hot_frames(struct hot *hot, u32 payload);

/** hot_clock() - where the module asks for the time, so does this. */
u64 hot_clock(void);

/** hot_set_sport() - as tx_set_sport() */
void hot_set_sport(const struct hot *hot, u8 *l3, const struct rp_roce *r, u16 sport);

/** hot_keep() - as rp_repair_keep(), and the acknowledge that lets packets go */
void hot_keep(struct hot *hot, struct qp *qp, u16 path, u64 now);

/** hot_tx() - the @nth QP sends a packet of @len bytes. */
void hot_tx(struct hot *hot, const struct rp_sched_ops *sched, u8 *l3, u32 len, u32 nth);

/** hot_heard() - as rp_heard() */
void hot_heard(const struct qp *qp, const u8 *l3, const struct rp_roce *r, s64 late_ns);

/**
 * hot_rx() - a packet of the @nth QP came
 * @psn: of it
 * @held: its entry
 *
 * Return: packets that go to the QP now.
 */
u32 hot_rx(struct hot *hot, u8 *l3, u32 len, u32 nth, u32 psn, struct rp_held *held);

#endif /* ROCEPATH_BENCH_HOT_H */
