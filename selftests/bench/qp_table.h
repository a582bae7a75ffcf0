/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the tables of kmod/qp.c, which are the kernel's lists: as many buckets,
 * the same hashes, the same chains, and entries as large.
 */
#ifndef ROCEPATH_BENCH_QP_TABLE_H
#define ROCEPATH_BENCH_QP_TABLE_H

#include "answer.h"
#include "repair.h"
#include "sched.h"
#include "window.h"

#define QP_TABLE_BITS 16

struct hot_peer;

/**
 * struct qp - what the hot path touches of a QP: requests only, sent and received
 * @by_local: next of the bucket
 * @by_remote: next of the bucket
 * @address: of the peer
 * @local_qpn: received packets name it
 * @remote_qpn: sent packets name it
 * @sent_psn: next one to send
 * @got_psn: next one to receive
 * @tx: for the scheduler
 * @answers: what was sent and answered
 * @queue: kept for repair
 * @sent: entries of @queue
 * @path: of each path, for @queue
 * @peer: that it is connected to
 * @window: of the receiver
 */
struct qp {
	struct qp *by_local;
	struct qp *by_remote;
	u8 address[16];
	u32 local_qpn;
	u32 remote_qpn;
	u32 sent_psn;
	u32 got_psn;
	struct rp_sched_flow tx;
	struct rp_answers answers;
	struct rp_repair queue;
	struct rp_sent *sent;
	struct rp_repair_path *path;
	struct hot_peer *peer;
	struct rp_window window;
} __aligned(64);

struct qp_table {
	struct qp *by_local[1 << QP_TABLE_BITS];
	struct qp *by_remote[1 << QP_TABLE_BITS];
};

/** qp_table_add() - a QP, its address and QPNs filled in. */
void qp_table_add(struct qp_table *t, struct qp *qp);

/** qp_table_local() - the QP that a received packet is for, NULL if there is none. */
struct qp *qp_table_local(const struct qp_table *t, const u8 *address, u32 qpn);

/** qp_table_remote() - the QP that a sent packet is from, NULL if there is none. */
struct qp *qp_table_remote(const struct qp_table *t, const u8 *address, u32 qpn);

#endif /* ROCEPATH_BENCH_QP_TABLE_H */
