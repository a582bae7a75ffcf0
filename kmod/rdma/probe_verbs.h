/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_PROBE_VERBS_H
#define ROCEPATH_RDMA_PROBE_VERBS_H

#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "wire.h"

struct rp_rdma_verbs;

/* messages on their way, and receives posted, of a device */
#define RP_VERBS_SENDS 256
#define RP_VERBS_RECVS 256
/* of a sink */
#define RP_SINK_RECVS 64
/* sends of a UC lane that are on their way: a path takes two in an interval */
#define RP_LANE_SENDS 8
/* room for a message, and for the headers that UD puts before it */
#define RP_SLOT_LEN 128

/**
 * struct rp_rdma_slot - room for one message
 * @cqe: of its work request
 * @ring: that it is in
 * @lane: that it is sent by, a reference
 * @addr: DMA address of @data
 * @data: RP_SLOT_LEN bytes
 */
struct rp_rdma_slot {
	struct ib_cqe cqe;
	struct rp_rdma_ring *ring;
	struct rp_rdma_lane *lane;
	u64 addr;
	u8 *data;
};

/**
 * struct rp_rdma_ring - messages of one QP in one direction
 * @verbs: of the device
 * @qp: receives are posted to it; NULL: of sends
 * @sink: whose it is, NULL: of the UD QP
 * @n: slots
 * @posted: receives that are not completed
 * @drained: woken when there are none
 * @size: bytes of @memory
 * @addr: DMA address of @memory
 * @memory: of all slots
 * @slot: the slots
 */
struct rp_rdma_ring {
	struct rp_rdma_verbs *verbs;
	struct ib_qp *qp;
	struct rp_rdma_sink *sink;
	u32 n;
	atomic_t posted;
	wait_queue_head_t drained;
	size_t size;
	u64 addr;
	u8 *memory;
	struct rp_rdma_slot *slot;
};

/**
 * struct rp_rdma_lane - a way to send with one flow label
 * @refs: one of who made it, one for each message on its way
 * @verbs: of the device
 * @ah: of UD, NULL: it is UC
 * @qp: of UC
 * @sink: of UC: the peer's QPN
 * @broken: the NIC did not send something by it
 * @dead: in the list of those that are to go
 */
struct rp_rdma_lane {
	refcount_t refs;
	struct rp_rdma_verbs *verbs;
	struct ib_ah *ah;
	struct ib_qp *qp;
	u32 sink;
	bool broken;
	struct llist_node dead;
};

/**
 * struct rp_rdma_sink - a UC QP that only receives, from one peer
 * @cq: its own: there are as many receives as there are sinks
 * @qp: connected to the peer
 * @ring: what it receives into
 * @local: our address
 * @remote: the peer's
 */
struct rp_rdma_sink {
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct rp_rdma_ring ring;
	struct in6_addr local;
	struct in6_addr remote;
};

/**
 * struct rp_rdma_verbs - what a device's probes have of ib_core
 * @ib: the RDMA device
 * @port: number of the port
 * @by_uc: messages with a flow label go by UC, not by UD
 * @broken: the UD QP is in error: all is to be made anew
 * @qkey: of the UD QP
 * @pd: of all
 * @cq: of the UD QP and of all sends
 * @qp: UD
 * @sends: messages on their way
 * @recvs: of the UD QP
 * @lock: for @free and @n_free
 * @n_free: slots of @sends that are free
 * @free: which
 * @lanes: that are there
 * @no_lanes: woken when there are none
 * @dead: lanes that nobody uses any more
 * @bury: frees these
 * @received: what to do with a message; in softirq
 * @arg: of that
 */
struct rp_rdma_verbs {
	struct ib_device *ib;
	u32 port;
	bool by_uc;
	bool broken;
	u32 qkey;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct rp_rdma_ring sends;
	struct rp_rdma_ring recvs;
	spinlock_t lock;
	u32 n_free;
	u16 free[RP_VERBS_SENDS];
	atomic_t lanes;
	wait_queue_head_t no_lanes;
	struct llist_head dead;
	struct work_struct bury;
	void (*received)(void *arg, const struct rp_rdma_message *m, u32 len,
			 const struct in6_addr *local, const struct in6_addr *remote);
	void *arg;
};

/* the flow label whose source port is that of an EV; never 0, which would mean that QPNs decide */
static inline u32 rp_rdma_ev_label(u16 ev)
{
	return 0x4000 | ((ev & 0x3fff) ^ 1);
}

int rp_rdma_verbs_init(struct rp_rdma_verbs *v);
void rp_rdma_verbs_exit(struct rp_rdma_verbs *v);

struct rp_rdma_slot *rp_rdma_slot_get(struct rp_rdma_verbs *v);
void rp_rdma_slot_put(struct rp_rdma_slot *slot);

struct rp_rdma_lane *rp_rdma_lane_new(struct rp_rdma_verbs *v, const struct rdma_ah_attr *attr,
				      u32 label, u8 traffic_class, u32 sink);
bool rp_rdma_lane_get(struct rp_rdma_lane *lane);
void rp_rdma_lane_put(struct rp_rdma_lane *lane);
void rp_rdma_lane_end(struct rp_rdma_lane *lane);
bool rp_rdma_lane_send(struct rp_rdma_lane *lane, struct rp_rdma_slot *slot, u32 len, u32 qpn,
		       u32 qkey);

struct rp_rdma_sink *rp_rdma_sink_new(struct rp_rdma_verbs *v, const struct rdma_ah_attr *attr,
				      const struct in6_addr *local, const struct in6_addr *remote);
void rp_rdma_sink_free(struct rp_rdma_sink *sink);

/* of probe_lane.c, for probe_verbs.c, and the other way round */
int rp_rdma_ring_init(struct rp_rdma_ring *ring, struct rp_rdma_verbs *v, u32 n,
		      enum dma_data_direction direction,
		      void (*done)(struct ib_cq *cq, struct ib_wc *wc));
void rp_rdma_ring_exit(struct rp_rdma_ring *ring, enum dma_data_direction direction);
int rp_rdma_ring_post(struct rp_rdma_ring *ring);
void rp_rdma_ring_drain(struct rp_rdma_ring *ring);
void rp_rdma_received(struct ib_cq *cq, struct ib_wc *wc);
void rp_rdma_lane_bury(struct work_struct *work);

#endif /* ROCEPATH_RDMA_PROBE_VERBS_H */
