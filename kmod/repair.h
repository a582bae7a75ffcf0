/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_REPAIR_H
#define ROCEPATH_REPAIR_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "core/answer.h"
#include "core/paths.h"
#include "core/repair.h"
#include "core/report.h"

struct rp_device;
struct rp_peer;
struct rp_peer_paths;
struct rp_qp;
struct rp_roce;

/* BTH and AETH of an acknowledge */
#define RP_ACK_LEN 16

/**
 * struct rp_queue - what one PSN space of a QP has sent and may send again
 * @lock: for all below; taken with bottom halves off
 * @repair: the packets
 * @path: what became of packets, for each path, until it is told to the paths
 * @is: which path each index stands for; in the memory of @path
 * @n: of @path
 * @generation: of the peer's paths that @path and the packets' indexes are of
 * @failures: of the peer's paths that have been dealt with
 * @turn: of repairs, so that they are spread over the paths
 * @answers: what the QP has sent and was told, of requests
 * @dead: the QP went away, nothing is kept any more
 */
struct rp_queue {
	spinlock_t lock;
	struct rp_repair repair;
	struct rp_repair_path *path;
	struct rp_path *is;
	u16 n;
	u32 generation;
	u32 failures;
	u32 turn;
	struct rp_answers answers;
	bool dead;
};

/**
 * struct rp_last_ack - the acknowledge that a QP sent last
 * @lock: for it
 * @again: it is to be said again, so many times
 * @bytes: its BTH and AETH
 * @index: of the path that it went by
 *
 * Nobody acknowledges an acknowledge. When the last of a burst is lost, the
 * requester waits for its timer; so it is said again by other paths.
 */
struct rp_last_ack {
	spinlock_t lock;
	u8 again;
	u8 bytes[RP_ACK_LEN];
	u16 index;
};

void rp_queue_init(struct rp_queue *q);
void rp_queue_close(struct rp_queue *q, struct rp_device *rp);
void rp_queue_snapshot(struct rp_queue *q, struct rp_repair *repair);

void rp_repair_pass(struct rp_qp *qp, u32 space, const struct rp_roce *r);
void rp_repair_keep(struct rp_qp *qp, u32 space, const struct rp_peer *peer,
		    const struct rp_peer_paths *paths, const struct sk_buff *skb,
		    const struct rp_roce *r, u16 index, u64 sent_ns);
enum rp_answer rp_repair_answered(struct rp_qp *qp, const struct rp_roce *r);
void rp_repair_report(struct rp_qp *qp, struct rp_peer *peer, const struct rp_report_flow *f,
		      u64 now_ns);
bool rp_repair_poll(struct rp_qp *qp, struct rp_peer *peer, u64 now_ns);
void rp_repair_port_failed(struct rp_device *rp, u8 port);

void rp_ack_sent(struct rp_qp *qp, const struct sk_buff *skb, u32 l3, const struct rp_roce *r,
		 u16 index);
void rp_ack_again(struct rp_qp *qp, struct rp_peer *peer);

#endif /* ROCEPATH_REPAIR_H */
