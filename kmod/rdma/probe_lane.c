// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: ways to send with the flow label of an EV, so that the fabric sees a
 * probe as it sees the data of a QP with that EV.
 *
 * The source port of a UD message comes from the label of its address handle in
 * mlx5 (mlx5_ah_get_udp_sport(), where the label is not 0) and hns
 * (get_ah_udp_sport()). In rdma_rxe it does not: UD's is a hash of the QPN, and only
 * where a connected QP gets its address vector (rxe_modify_qp(), seen in 6.1 and 6.12) the label
 * decides. So where UD is not known to follow, a lane is a UC QP, one for each EV, that
 * sends to a QP that the peer made for us: its sink. All lanes send to the
 * same sink, each with PSNs of its own; for UC a message of one packet begins
 * anew whatever its PSN (IBTA 9.8, unreliable service).
 *
 * A lane lives as long as messages are on their way by it; a work frees it, since
 * the last of them completes in softirq.
 */
#include "probe_verbs.h"

#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "probe.h"

/* messages are shorter than the least MTU */
#define LANE_MTU IB_MTU_256

static struct rdma_ah_attr lane_attr(const struct rdma_ah_attr *attr, u32 label, u8 traffic_class)
{
	struct rdma_ah_attr with = *attr;

	with.grh.flow_label = label;
	with.grh.traffic_class = traffic_class;
	return with;
}

/* INIT, then RTR with @attr */
static int uc_to_rtr(struct ib_qp *qp, u32 port, const struct rdma_ah_attr *ah_attr, u32 dest)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = port };
	int err;

	err = ib_modify_qp(qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTR;
	attr.path_mtu = LANE_MTU;
	attr.dest_qp_num = dest;
	attr.ah_attr = *ah_attr;
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
				       IB_QP_RQ_PSN);
}

static struct ib_qp *uc_new(struct rp_rdma_verbs *v, struct ib_cq *cq, u32 sends, u32 recvs)
{
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_UC, .send_cq = cq, .recv_cq = cq,
		.sq_sig_type = IB_SIGNAL_ALL_WR, .port_num = v->port,
		.qp_context = (void *)&rp_rdma_probe_mark,
		.cap = {
			.max_send_wr = sends, .max_send_sge = 1,
			.max_recv_wr = recvs, .max_recv_sge = 1,
		},
	};

	return ib_create_qp(v->pd, &attr);
}

/* --- lanes --- */

static int lane_connect(struct rp_rdma_lane *lane, struct rdma_ah_attr *attr, u32 sink)
{
	struct ib_qp_attr rts = { .qp_state = IB_QPS_RTS };
	struct rp_rdma_verbs *v = lane->verbs;
	int err;

	lane->qp = uc_new(v, v->cq, RP_LANE_SENDS, 1);
	if (IS_ERR(lane->qp))
		return PTR_ERR(lane->qp);
	lane->sink = sink;
	err = uc_to_rtr(lane->qp, v->port, attr, sink);
	if (!err)
		err = ib_modify_qp(lane->qp, &rts, IB_QP_STATE | IB_QP_SQ_PSN);
	if (err)
		ib_destroy_qp(lane->qp);
	return err;
}

/**
 * rp_rdma_lane_new() - make a lane
 * @v: of the device
 * @attr: to the peer
 * @label: the flow label
 * @traffic_class: of the data
 * @sink: the peer's QPN for a UC lane, 0: make a UD lane
 *
 * Context: process.
 * Return: the lane, to be given to rp_rdma_lane_end(), or an ERR_PTR().
 */
struct rp_rdma_lane *rp_rdma_lane_new(struct rp_rdma_verbs *v, const struct rdma_ah_attr *attr,
				      u32 label, u8 traffic_class, u32 sink)
{
	struct rdma_ah_attr with = lane_attr(attr, label, traffic_class);
	struct rp_rdma_lane *lane = kzalloc(sizeof(*lane), GFP_KERNEL);
	int err = 0;

	if (!lane)
		return ERR_PTR(-ENOMEM);
	refcount_set(&lane->refs, 1);
	lane->verbs = v;
	if (sink) {
		err = lane_connect(lane, &with, sink);
	} else {
		lane->ah = rdma_create_ah(v->pd, &with, RDMA_CREATE_AH_SLEEPABLE);
		err = PTR_ERR_OR_ZERO(lane->ah);
	}
	if (err) {
		kfree(lane);
		return ERR_PTR(err);
	}
	atomic_inc(&v->lanes);
	return lane;
}

/**
 * rp_rdma_lane_get() - hold a lane to send by it
 * @lane: that is not ended yet
 *
 * Context: any.
 * Return: false if it has no room.
 */
bool rp_rdma_lane_get(struct rp_rdma_lane *lane)
{
	if (lane->qp && refcount_read(&lane->refs) > RP_LANE_SENDS)
		return false;
	refcount_inc(&lane->refs);
	return true;
}

/** rp_rdma_lane_put() - nothing is sent by it, or it was sent. Context: any. */
void rp_rdma_lane_put(struct rp_rdma_lane *lane)
{
	struct rp_rdma_verbs *v = lane->verbs;

	if (refcount_dec_and_test(&lane->refs) && llist_add(&lane->dead, &v->dead))
		schedule_work(&v->bury);
}

/**
 * rp_rdma_lane_end() - its maker has done with it, and nobody else finds it any more
 * @lane: the lane, or NULL
 *
 * Context: process.
 */
void rp_rdma_lane_end(struct rp_rdma_lane *lane)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (!lane)
		return;
	/* what is on its way is flushed, in case the NIC cannot send */
	if (lane->qp)
		ib_modify_qp(lane->qp, &attr, IB_QP_STATE);
	rp_rdma_lane_put(lane);
}

/**
 * rp_rdma_lane_bury() - free the lanes that nobody uses any more
 * @work: of an endpoint
 *
 * Context: workqueue.
 */
void rp_rdma_lane_bury(struct work_struct *work)
{
	struct rp_rdma_verbs *v = container_of(work, struct rp_rdma_verbs, bury);
	struct rp_rdma_lane *lane, *next;

	llist_for_each_entry_safe(lane, next, llist_del_all(&v->dead), dead) {
		if (lane->qp)
			ib_destroy_qp(lane->qp);
		else
			rdma_destroy_ah(lane->ah, RDMA_DESTROY_AH_SLEEPABLE);
		kfree(lane);
		if (atomic_dec_and_test(&v->lanes))
			wake_up(&v->no_lanes);
	}
}

/**
 * rp_rdma_lane_send() - send a message
 * @lane: held; the message has it from now on
 * @slot: the message; is given back when it was sent
 * @len: bytes of it
 * @qpn: UD: to that QP of the peer's
 * @qkey: UD: of it
 *
 * Context: any but hard irq.
 * Return: false if the device did not take it; lane and slot are given back.
 */
bool rp_rdma_lane_send(struct rp_rdma_lane *lane, struct rp_rdma_slot *slot, u32 len, u32 qpn,
		       u32 qkey)
{
	struct rp_rdma_verbs *v = lane->verbs;
	struct ib_sge sge = {
		.addr = slot->addr, .length = len, .lkey = v->pd->local_dma_lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &slot->cqe, .sg_list = &sge, .num_sge = 1,
			.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
		},
		.ah = lane->ah, .remote_qpn = qpn, .remote_qkey = qkey,
	};

	slot->lane = lane;
	ib_dma_sync_single_for_device(v->ib, slot->addr, RP_SLOT_LEN, DMA_TO_DEVICE);
	if (!ib_post_send(lane->qp ? lane->qp : v->qp, &wr.wr, NULL))
		return true;
	rp_rdma_slot_put(slot);
	rp_rdma_lane_put(lane);
	return false;
}

/* --- sinks --- */

/**
 * rp_rdma_sink_new() - a UC QP for a peer to send to
 * @v: of the device
 * @attr: to the peer
 * @local: our address
 * @remote: the peer's
 *
 * Context: process.
 * Return: the sink or an ERR_PTR().
 */
struct rp_rdma_sink *rp_rdma_sink_new(struct rp_rdma_verbs *v, const struct rdma_ah_attr *attr,
				      const struct in6_addr *local, const struct in6_addr *remote)
{
	struct rp_rdma_sink *sink = kzalloc(sizeof(*sink), GFP_KERNEL);
	int err;

	if (!sink)
		return ERR_PTR(-ENOMEM);
	sink->local = *local;
	sink->remote = *remote;
	sink->cq = ib_alloc_cq(v->ib, sink, RP_SINK_RECVS, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(sink->cq)) {
		err = PTR_ERR(sink->cq);
		goto err_sink;
	}
	err = rp_rdma_ring_init(&sink->ring, v, RP_SINK_RECVS, DMA_FROM_DEVICE, rp_rdma_received);
	if (err)
		goto err_cq;
	sink->ring.sink = sink;
	sink->qp = uc_new(v, sink->cq, 1, RP_SINK_RECVS);
	if (IS_ERR(sink->qp)) {
		err = PTR_ERR(sink->qp);
		goto err_ring;
	}
	sink->ring.qp = sink->qp;
	/* it never sends: which of the peer's many lanes it is connected to does not matter */
	err = uc_to_rtr(sink->qp, v->port, attr, 1);
	if (!err)
		err = rp_rdma_ring_post(&sink->ring);
	if (err)
		goto err_qp;
	return sink;

err_qp:
	rp_rdma_ring_drain(&sink->ring);
	ib_destroy_qp(sink->qp);
err_ring:
	rp_rdma_ring_exit(&sink->ring, DMA_FROM_DEVICE);
err_cq:
	ib_free_cq(sink->cq);
err_sink:
	kfree(sink);
	return ERR_PTR(err);
}

/** rp_rdma_sink_free() - nothing more is received from that peer by UC. Context: process. */
void rp_rdma_sink_free(struct rp_rdma_sink *sink)
{
	if (!sink)
		return;
	rp_rdma_ring_drain(&sink->ring);
	ib_destroy_qp(sink->qp);
	ib_free_cq(sink->cq);
	rp_rdma_ring_exit(&sink->ring, DMA_FROM_DEVICE);
	kfree(sink);
}
