/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a port of an RDMA device: each is named once, here. Nothing is
 * counted for packets, so they are shared by the CPUs.
 */
#ifndef ROCEPATH_RDMA_STATS_H
#define ROCEPATH_RDMA_STATS_H

#include <linux/atomic.h>

#define RP_RDMA_COUNTERS(C)								\
	C(CONNECTED, connected)			/* QPs taken to RTR */			\
	C(OFF, off)				/* of these: steering is off */		\
	C(EXEMPT, exempt)			/* the QP or its class is exempt */	\
	C(QP_TYPE, qp_type)			/* of a type that is left alone */	\
	C(NOT_ROCE, not_roce)			/* its address has no GRH, or is not RoCE */\
	C(STEERED, steered)			/* something was set */			\
	C(LABEL_SET, label_set)			/* the flow label */			\
	C(TRAFFIC_CLASS_SET, traffic_class_set)						\
	C(SL_SET, sl_set)			/* the service level */			\
	C(TIMEOUT_SET, timeout_set)							\
	C(RETRY_SET, retry_set)								\
	C(LABEL_NO_PLACE, label_no_place)	/* no memory, or too many pairs: left as asked */\
	C(UNTRACKED, untracked)			/* no memory for it, or too many QPs */	\
	C(PORT_DOWN, port_down)								\
	C(PATHS_DOWN, paths_down)							\
	C(PATHS_DEGRADED, paths_degraded)						\
	C(PATHS_BACK, paths_back)							\
	C(QPS_HIT, qps_hit)			/* QPs on what failed */		\
	C(MOVED, moved)				/* to another EV */			\
	C(MOVE_FAILED, move_failed)							\
	C(ERRORED, errored)			/* put into the error state */		\
	C(ERROR_FAILED, error_failed)							\
	C(GONE, gone)				/* QPs that went away before it was done */\
	C(WAITED, waited)			/* QPs whose end waited for who acted on them */\
	C(EVENTS_LOST, events_lost)		/* no memory to tell */			\
	C(TX_HELLO, tx_hello)								\
	C(TX_PROBES, tx_probes)								\
	C(RX_HELLO, rx_hello)			/* valid */				\
	C(RX_ANSWERS, rx_answers)		/* to probes, valid */			\
	C(RX_PROBES, rx_probes)			/* of others, valid */			\
	C(PROBES_REFUSED, probes_refused)	/* the budget is spent */		\
	C(PATHS_UNPROBED, paths_unprobed)	/* no memory, or too many of them */	\
	C(RX_MALFORMED, rx_malformed)							\
	C(RX_VERSION, rx_version)		/* unknown version */			\
	C(RX_KEY, rx_key)			/* made with a key we do not have */	\
	C(RX_MAC, rx_mac)			/* wrong MAC */				\
	C(RX_REPLAY, rx_replay)								\
	C(RX_UNPROVEN, rx_unproven)		/* did not answer our challenge */	\
	C(RX_UNKNOWN, rx_unknown)		/* from nobody we know, or no answer to us */\
	C(PEERS_REFUSED, peers_refused)		/* cap on peers */			\
	C(PEERS_LOST, peers_lost)

#define RP_ENUM(id, name) RP_RDMA_##id,
enum rp_rdma_count {
	RP_RDMA_COUNTERS(RP_ENUM)
	RP_RDMA_COUNTS
};

#undef RP_ENUM

struct rp_rdma_stats {
	atomic64_t value[RP_RDMA_COUNTS];
};

extern const char *const rp_rdma_count_name[RP_RDMA_COUNTS];

/** rp_rdma_count() - one more. Context: any. */
static inline void rp_rdma_count(struct rp_rdma_stats *stats, enum rp_rdma_count what)
{
	atomic64_inc(&stats->value[what]);
}

#endif /* ROCEPATH_RDMA_STATS_H */
