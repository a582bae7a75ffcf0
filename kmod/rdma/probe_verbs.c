// SPDX-License-Identifier: GPL-2.0
/*
 * The endpoint of a device's probes: a UD QP of the kernel's, and memory to send
 * and receive with. Messages are received in softirq and handed on.
 *
 * What is posted is ours until its completion comes. So a message on its way
 * holds its lane, and the end of all is: no lane is left, the QP is drained,
 * only then memory is unmapped.
 */
#include "probe_verbs.h"

#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "probe.h"

const u8 rp_rdma_probe_mark;

/* of a Q_Key: set, it would be a privileged one, and that of the QP be sent instead */
#define QKEY_CONTROLLED 0x80000000u

/* --- memory --- */

/**
 * rp_rdma_ring_init() - slots for messages
 * @ring: filled in
 * @v: of the device
 * @n: so many
 * @direction: to the device or from it
 * @done: called when one is completed
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rp_rdma_ring_init(struct rp_rdma_ring *ring, struct rp_rdma_verbs *v, u32 n,
		      enum dma_data_direction direction,
		      void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	u32 i;

	BUILD_BUG_ON(RP_RDMA_WIRE_MAX + sizeof(union rdma_network_hdr) > RP_SLOT_LEN);
	init_waitqueue_head(&ring->drained);
	ring->verbs = v;
	ring->n = n;
	ring->size = (size_t)n * RP_SLOT_LEN;
	ring->slot = kcalloc(n, sizeof(*ring->slot), GFP_KERNEL);
	ring->memory = kzalloc(ring->size, GFP_KERNEL);
	if (!ring->slot || !ring->memory)
		goto err_memory;
	ring->addr = ib_dma_map_single(v->ib, ring->memory, ring->size, direction);
	if (ib_dma_mapping_error(v->ib, ring->addr))
		goto err_memory;
	for (i = 0; i < n; i++) {
		ring->slot[i].cqe.done = done;
		ring->slot[i].ring = ring;
		ring->slot[i].addr = ring->addr + i * RP_SLOT_LEN;
		ring->slot[i].data = ring->memory + i * RP_SLOT_LEN;
	}
	return 0;

err_memory:
	kfree(ring->memory);
	kfree(ring->slot);
	ring->memory = NULL;
	return -ENOMEM;
}

/**
 * rp_rdma_ring_exit() - free the slots; none is posted any more
 * @ring: of rp_rdma_ring_init(), or zeroed
 * @direction: as there
 *
 * Context: process.
 */
void rp_rdma_ring_exit(struct rp_rdma_ring *ring, enum dma_data_direction direction)
{
	if (!ring->memory)
		return;
	ib_dma_unmap_single(ring->verbs->ib, ring->addr, ring->size, direction);
	kfree(ring->memory);
	kfree(ring->slot);
	ring->memory = NULL;
}

static int slot_post_recv(struct rp_rdma_slot *slot)
{
	struct rp_rdma_ring *ring = slot->ring;
	struct ib_sge sge = {
		.addr = slot->addr, .length = RP_SLOT_LEN,
		.lkey = ring->verbs->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &slot->cqe, .sg_list = &sge, .num_sge = 1 };

	ib_dma_sync_single_for_device(ring->verbs->ib, slot->addr, RP_SLOT_LEN, DMA_FROM_DEVICE);
	return ib_post_recv(ring->qp, &wr, NULL);
}

/**
 * rp_rdma_ring_post() - post all slots of a ring to receive into
 * @ring: with its QP
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rp_rdma_ring_post(struct rp_rdma_ring *ring)
{
	int err = 0;
	u32 i;

	for (i = 0; i < ring->n && !err; i++) {
		atomic_inc(&ring->posted);
		err = slot_post_recv(&ring->slot[i]);
		if (err)
			atomic_dec(&ring->posted);
	}
	return err;
}

/**
 * rp_rdma_ring_drain() - end the QP, and wait for all that was posted to it
 * @ring: with its QP
 *
 * ib_drain_qp() would post an RDMA WRITE, which no UD QP takes.
 *
 * Context: process.
 */
void rp_rdma_ring_drain(struct rp_rdma_ring *ring)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (!WARN_ON_ONCE(ib_modify_qp(ring->qp, &attr, IB_QP_STATE)))
		wait_event(ring->drained, !atomic_read(&ring->posted));
}

static void slot_unposted(struct rp_rdma_slot *slot)
{
	if (atomic_dec_and_test(&slot->ring->posted))
		wake_up(&slot->ring->drained);
}

/* --- receiving --- */

/* the addresses that a UD message came with. Return: false: not RoCEv2 */
static bool ud_addresses(const union rdma_network_hdr *hdr, const struct ib_wc *wc,
			 struct in6_addr *local, struct in6_addr *remote)
{
	int type = wc->network_hdr_type;
	union ib_gid sgid, dgid;

	if (!(wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE))
		type = ib_get_rdma_header_version(hdr) == 4 ? RDMA_NETWORK_IPV4 :
							      RDMA_NETWORK_IPV6;
	if (ib_get_gids_from_rdma_hdr(hdr, type, &sgid, &dgid))
		return false;
	memcpy(local, &dgid, sizeof(*local));
	memcpy(remote, &sgid, sizeof(*remote));
	return true;
}

static void slot_received(struct rp_rdma_slot *slot, const struct ib_wc *wc)
{
	struct rp_rdma_verbs *v = slot->ring->verbs;
	const struct rp_rdma_sink *sink = slot->ring->sink;
	u32 header = sink ? 0 : sizeof(union rdma_network_hdr);
	struct in6_addr local, remote;

	if (wc->byte_len < header || wc->byte_len > RP_SLOT_LEN)
		return;
	ib_dma_sync_single_for_cpu(v->ib, slot->addr, RP_SLOT_LEN, DMA_FROM_DEVICE);
	if (sink) {
		local = sink->local;
		remote = sink->remote;
	} else if (!(wc->wc_flags & IB_WC_GRH) ||
		   !ud_addresses((const union rdma_network_hdr *)slot->data, wc, &local, &remote)) {
		return;
	}
	v->received(v->arg, (const struct rp_rdma_message *)(slot->data + header),
		    wc->byte_len - header, &local, &remote);
}

/**
 * rp_rdma_received() - a receive is completed
 * @cq: where
 * @wc: how
 *
 * Context: softirq.
 */
void rp_rdma_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rp_rdma_slot *slot = container_of(wc->wr_cqe, struct rp_rdma_slot, cqe);

	/* not so: it is flushed, the QP goes */
	if (wc->status == IB_WC_SUCCESS) {
		slot_received(slot, wc);
		if (!slot_post_recv(slot))
			return;
	}
	slot_unposted(slot);
}

/* --- sending --- */

static void verbs_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rp_rdma_slot *slot = container_of(wc->wr_cqe, struct rp_rdma_slot, cqe);
	struct rp_rdma_lane *lane = slot->lane;

	if (wc->status != IB_WC_SUCCESS) {
		WRITE_ONCE(lane->broken, true);
		if (lane->ah)
			WRITE_ONCE(lane->verbs->broken, true);
	}
	rp_rdma_slot_put(slot);
	rp_rdma_lane_put(lane);
}

/**
 * rp_rdma_slot_get() - room for a message to send
 * @v: of the device
 *
 * Context: any.
 * Return: the slot, NULL: there is none now.
 */
struct rp_rdma_slot *rp_rdma_slot_get(struct rp_rdma_verbs *v)
{
	struct rp_rdma_slot *slot = NULL;
	unsigned long flags;

	spin_lock_irqsave(&v->lock, flags);
	if (v->n_free)
		slot = &v->sends.slot[v->free[--v->n_free]];
	spin_unlock_irqrestore(&v->lock, flags);
	return slot;
}

/** rp_rdma_slot_put() - nothing is on its way from there any more. Context: any. */
void rp_rdma_slot_put(struct rp_rdma_slot *slot)
{
	struct rp_rdma_verbs *v = slot->ring->verbs;
	unsigned long flags;

	spin_lock_irqsave(&v->lock, flags);
	v->free[v->n_free++] = slot - v->sends.slot;
	spin_unlock_irqrestore(&v->lock, flags);
}

/* --- begin and end --- */

static int verbs_qp_up(struct rp_rdma_verbs *v)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = v->port, .qkey = v->qkey,
	};
	int err;

	err = ib_modify_qp(v->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	if (err)
		return err;
	err = rp_rdma_ring_post(&v->recvs);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTR;
	err = ib_modify_qp(v->qp, &attr, IB_QP_STATE);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(v->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

static struct ib_qp *verbs_qp_new(struct rp_rdma_verbs *v)
{
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_UD, .send_cq = v->cq, .recv_cq = v->cq,
		.sq_sig_type = IB_SIGNAL_ALL_WR, .port_num = v->port,
		.qp_context = (void *)&rp_rdma_probe_mark,
		.cap = {
			.max_send_wr = RP_VERBS_SENDS, .max_send_sge = 1,
			.max_recv_wr = RP_VERBS_RECVS, .max_recv_sge = 1,
		},
	};

	return ib_create_qp(v->pd, &attr);
}

static int verbs_rings_init(struct rp_rdma_verbs *v)
{
	u32 i;
	int err;

	err = rp_rdma_ring_init(&v->sends, v, RP_VERBS_SENDS, DMA_TO_DEVICE, verbs_sent);
	if (err)
		return err;
	err = rp_rdma_ring_init(&v->recvs, v, RP_VERBS_RECVS, DMA_FROM_DEVICE, rp_rdma_received);
	if (err) {
		rp_rdma_ring_exit(&v->sends, DMA_TO_DEVICE);
		return err;
	}
	for (i = 0; i < RP_VERBS_SENDS; i++)
		v->free[i] = i;
	v->n_free = RP_VERBS_SENDS;
	return 0;
}

static void verbs_rings_exit(struct rp_rdma_verbs *v)
{
	rp_rdma_ring_exit(&v->recvs, DMA_FROM_DEVICE);
	rp_rdma_ring_exit(&v->sends, DMA_TO_DEVICE);
}

/**
 * rp_rdma_verbs_init() - make the endpoint
 * @v: @ib, @port, @by_uc, @received and @arg are set, all else zeroed
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rp_rdma_verbs_init(struct rp_rdma_verbs *v)
{
	int err;

	spin_lock_init(&v->lock);
	init_waitqueue_head(&v->no_lanes);
	init_llist_head(&v->dead);
	INIT_WORK(&v->bury, rp_rdma_lane_bury);
	v->qkey = get_random_u32() & ~QKEY_CONTROLLED;
	v->pd = ib_alloc_pd(v->ib, 0);
	if (IS_ERR(v->pd))
		return PTR_ERR(v->pd);
	/* UC lanes are drained by their messages, which have slots: so many sends at most */
	v->cq = ib_alloc_cq(v->ib, v, RP_VERBS_SENDS + RP_VERBS_RECVS, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(v->cq)) {
		err = PTR_ERR(v->cq);
		goto err_pd;
	}
	err = verbs_rings_init(v);
	if (err)
		goto err_cq;
	v->qp = verbs_qp_new(v);
	if (IS_ERR(v->qp)) {
		err = PTR_ERR(v->qp);
		goto err_rings;
	}
	v->recvs.qp = v->qp;
	err = verbs_qp_up(v);
	if (err)
		goto err_qp;
	return 0;

err_qp:
	rp_rdma_ring_drain(&v->recvs);
	ib_destroy_qp(v->qp);
err_rings:
	verbs_rings_exit(v);
err_cq:
	ib_free_cq(v->cq);
err_pd:
	ib_dealloc_pd(v->pd);
	return err;
}

/**
 * rp_rdma_verbs_exit() - the end; all lanes were ended, all sinks are free
 * @v: the endpoint
 *
 * Context: process.
 */
void rp_rdma_verbs_exit(struct rp_rdma_verbs *v)
{
	/* of UD, what is on its way is flushed; UC lanes have their own QPs in error */
	rp_rdma_ring_drain(&v->recvs);
	wait_event(v->no_lanes, !atomic_read(&v->lanes));
	/* who woke us may still hold the queue of waiters */
	flush_work(&v->bury);
	ib_destroy_qp(v->qp);
	ib_free_cq(v->cq);
	verbs_rings_exit(v);
	ib_dealloc_pd(v->pd);
}
