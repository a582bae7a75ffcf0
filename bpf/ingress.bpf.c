// SPDX-License-Identifier: GPL-2.0
/*
 * What arrives: tc ingress on the device that the RDMA stack hears by.
 *
 *   data with CE   a CNP to its sender, at most one for each QP per interval
 *   CNP            for a known QP of that peer, not too soon: its rate machine; taken away,
 *                  for soft-RoCE does not know it (dropped: TCX takes nothing away otherwise)
 *   data           counted for the patterns of the job
 *
 * A CNP is made of a clone of the marked packet: the packet itself goes on. Ethernet
 * addresses are turned round before it is cloned and back again after, so that what
 * leaves is a frame to the sender whatever becomes of it; egress writes the CNP.
 */
#include <linux/pkt_cls.h>

#include "dcqcn.h"
#include "job.h"
#include "maps.h"
#include "parse.h"
#include "wire.h"

#define ECN_CE 3
/* a QP's machine is moved in less than that; a CPU that waits for it is not held for longer */
#define BUSY_TRIES 256

struct ingress_ethernet {
	u8 destination[ETH_ALEN];
	u8 source[ETH_ALEN];
	__be16 proto;
};

static __always_inline bool ingress_interval_over(struct rp_qp_rx *rx,
						  const struct rp_policy *policy)
{
	u64 least = policy->dcqcn.min_time_between_cnps_us * RP_DCQCN_USEC;
	u64 last = rx->cnp_sent_ns, now = bpf_ktime_get_ns();

	return (!last || now - last >= least) &&
	       __sync_val_compare_and_swap(&rx->cnp_sent_ns, last, now) == last;
}

/* A tag that is still in the frame, that of QinQ, has no room for our EtherType. */
__noinline int ingress_notify(struct __sk_buff *skb)
{
	struct ingress_ethernet there, back;
	u32 mark = skb->mark;
	long err;

	if (bpf_skb_load_bytes(skb, 0, &there, sizeof(there)) || rp_is_vlan(there.proto))
		return -1;
	__builtin_memcpy(back.destination, there.source, ETH_ALEN);
	__builtin_memcpy(back.source, there.destination, ETH_ALEN);
	back.proto = bpf_htons(RP_CNP_ETHERTYPE);
	if (bpf_skb_store_bytes(skb, 0, &back, sizeof(back), 0))
		return -1;
	skb->mark = RP_CNP_MARK;
	err = bpf_clone_redirect(skb, skb->ifindex, 0);
	skb->mark = mark;
	/* it was writable a moment ago; if memory ran out since, the frame is nobody's */
	if (bpf_skb_store_bytes(skb, 0, &there, sizeof(there), 0))
		return -2;
	return err ? -1 : 0;
}

static __always_inline int ingress_ce(struct __sk_buff *skb, const struct rp_policy *policy,
				      struct rp_qp_rx *rx)
{
	int err;

	rp_event(RP_EVENT_ce_seen);
	if (!(policy->flags & RP_POLICY_NOTIFY) || !rx || !rx->remote_qpn)
		return TC_ACT_UNSPEC;
	if (!ingress_interval_over(rx, policy))
		return TC_ACT_UNSPEC;
	err = ingress_notify(skb);
	if (err)
		rp_event(RP_EVENT_cnp_failed);
	return err == -2 ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

struct ingress_lock {
	struct rp_qp_tx *tx;
	bool held;
};

static long ingress_lock_step(u32 i, void *state)
{
	struct ingress_lock *l = state;

	l->held = !__sync_val_compare_and_swap(&l->tx->busy, 0, 1);
	return l->held;
}

/* Return: enum rp_event. */
__noinline int ingress_cnp_for(const struct rp_policy *policy, struct rp_qp_tx *tx, u64 now)
{
	struct ingress_lock lock = { .tx = tx };
	u32 event = RP_EVENT_cnp_received, class;

	if (!tx || !policy)
		return RP_EVENT_cnp_unknown_qp;
	class = tx->class;
	if (class >= RP_CLASSES_MAX || !(policy->class[class].flags & RP_CLASS_DCQCN))
		return RP_EVENT_cnp_ignored;
	if (rp_dcqcn_too_soon(&tx->dcqcn, &policy->dcqcn, now))
		return RP_EVENT_cnp_too_soon;
	rp_loop(BUSY_TRIES, ingress_lock_step, &lock);
	if (!lock.held)
		return RP_EVENT_cnp_lock_missed;
	rp_dcqcn_advance(&tx->dcqcn, &policy->dcqcn, now);
	rp_dcqcn_cnp(&tx->dcqcn, &policy->dcqcn, now);
	tx->ns_per_byte_q20 = rp_dcqcn_ns_per_byte_q20(&tx->dcqcn);
	__sync_lock_test_and_set(&tx->busy, 0);
	return event;
}

/* It names the QP here; what slows down is found by the QP there. */
static __always_inline int ingress_cnp(const struct rp_packet *p, const struct rp_policy *policy)
{
	struct rp_wire_qp key = { .address = p->source, .qpn = p->qpn };
	struct rp_qp_tx *tx = NULL;
	struct rp_qp_rx *rx;

	rx = bpf_map_lookup_elem(&qp_rx, &key);
	if (rx) {
		key.qpn = rx->remote_qpn;
		tx = bpf_map_lookup_elem(&qp_tx, &key);
	}
	rp_event(tx ? ingress_cnp_for(policy, tx, bpf_ktime_get_ns()) : RP_EVENT_cnp_unknown_qp);
	return TC_ACT_SHOT;
}

SEC("tc")
int ingress(struct __sk_buff *skb)
{
	const struct rp_policy *policy = rp_policy_now();
	struct rp_packet p = {};
	struct rp_wire_qp key = {};
	struct rp_qp_rx *rx;

	if (!policy || !(policy->flags & (RP_POLICY_NOTIFY | RP_POLICY_PATTERNS)))
		return TC_ACT_UNSPEC;
	if (rp_parse_skb(skb, &p) != RP_ROCE_FRAME)
		return TC_ACT_UNSPEC;
	if (p.kind == RP_KIND_CNP)
		return policy->flags & RP_POLICY_NOTIFY ? ingress_cnp(&p, policy) : TC_ACT_UNSPEC;
	if (!rp_is_data(p.kind))
		return TC_ACT_UNSPEC;
	key.qpn = p.qpn;
	if (p.kind != RP_KIND_DATAGRAM)
		key.address = p.source;
	rx = bpf_map_lookup_elem(&qp_rx, &key);
	if (rx) {
		struct rp_message message = {
			.job = policy->flags & RP_POLICY_PATTERNS ? rx->job : RP_JOBS_MAX,
			.peer = rx->job_peer,
			.window_ns = policy->pattern_window_ns,
		};

		rx->packets++;
		rx->bytes += p.icrc + RP_ICRC_LEN - p.l3;
		rp_job_packet(&rx->message_bytes, &rx->message_began_ns, &message, p.opcode,
			      rp_payload(&p));
	}
	return (p.tos & 3) == ECN_CE ? ingress_ce(skb, policy, rx) : TC_ACT_UNSPEC;
}

char LICENSE[] SEC("license") = "GPL";
