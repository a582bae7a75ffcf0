// SPDX-License-Identifier: GPL-2.0
/*
 * Who may be heard. On the ports, before the stack:
 *
 *   not RoCE                      passes, untouched
 *   UDP 4791 that is no RoCE      counted, and the policy's `malformed`
 *   from none of the peers        counted, and the policy's `unknown_peer`
 *   for no QP of that peer        counted, and the policy's `unknown_qp`
 *
 * Without a policy everything passes.
 */
#include <linux/pkt_cls.h>

#include "maps.h"
#include "parse.h"

static __always_inline enum rp_action admit_look_up(const struct rp_policy *policy,
						    const struct rp_packet *p)
{
	struct rp_peer *peer;

	if (p->ipv6) {
		struct rp_peer6_key key = { .prefix_bits = 32 + 128,
					    .generation = policy->generation };

		__builtin_memcpy(key.address, p->source.bytes, sizeof(key.address));
		peer = bpf_map_lookup_elem(&peers6, &key);
	} else {
		struct rp_peer4_key key = { .prefix_bits = 32 + 32,
					    .generation = policy->generation };

		__builtin_memcpy(key.address, p->source.bytes + 12, sizeof(key.address));
		peer = bpf_map_lookup_elem(&peers4, &key);
	}
	return peer ? peer->action : RP_ACTION_DROP;
}

/* A walk down the trie costs as much as all else here; few hosts send most of the packets. */
static __always_inline bool admit_peer(const struct rp_policy *policy, const struct rp_packet *p)
{
	const u64 *want = (const u64 *)&p->source, *have;
	struct rp_peer_cached *cached;
	u32 slot;

	slot = (u32)((want[0] ^ want[1] ^ want[1] >> 32) * 0x9e3779b1u) >> 24;
	cached = bpf_map_lookup_elem(&peer_cache, &slot);
	if (!cached)
		return false;
	have = (const u64 *)&cached->address;
	if (cached->generation != policy->generation || have[0] != want[0] || have[1] != want[1]) {
		cached->action = admit_look_up(policy, p);
		cached->address = p->source;
		cached->generation = policy->generation;
	}
	return cached->action == RP_ACTION_PASS;
}

/*
 * The QP of that peer; or one that has none, or whose peer is not known because it was
 * there before the census: anybody's. The management QP is there always.
 */
static __always_inline bool admit_qp(const struct rp_packet *p)
{
	struct rp_wire_qp key = { .address = p->source, .qpn = p->qpn };

	if (p->qpn == RP_QPN_GSI || p->kind == RP_KIND_CONTROL)
		return true;
	if (p->kind != RP_KIND_DATAGRAM && bpf_map_lookup_elem(&qp_rx, &key))
		return true;
	__builtin_memset(&key.address, 0, sizeof(key.address));
	return bpf_map_lookup_elem(&qp_rx, &key);
}

/* Return: enum rp_action. */
static __always_inline enum rp_action admit_judge(const struct rp_policy *policy, u32 verdict,
						  const struct rp_packet *p)
{
	enum rp_event event = RP_EVENT_rx_roce;
	enum rp_action action = RP_ACTION_PASS;

	switch (verdict) {
	case RP_OTHER:
		event = RP_EVENT_rx_not_roce;
		break;
	case RP_MALFORMED:
		event = RP_EVENT_rx_malformed;
		action = policy->malformed;
		break;
	case RP_FRAGMENT:
		event = RP_EVENT_rx_fragment;
		action = policy->malformed;
		break;
	case RP_EXTENDED:
		event = RP_EVENT_rx_extension_headers;
		action = policy->malformed;
		break;
	case RP_ROCE_FRAME:
		if ((policy->flags & RP_POLICY_PEERS) && !admit_peer(policy, p)) {
			event = RP_EVENT_rx_unknown_peer;
			action = policy->unknown_peer;
		} else if ((policy->flags & RP_POLICY_QPS) && !admit_qp(p)) {
			event = RP_EVENT_rx_unknown_qp;
			action = policy->unknown_qp;
		}
		break;
	}
	rp_event(event);
	return action;
}

static __always_inline int admit_xdp(struct xdp_md *ctx)
{
	struct rp_frame f = { (void *)(long)ctx->data, (void *)(long)ctx->data_end, ctx, true };
	const struct rp_policy *policy = rp_policy_now();
	struct rp_packet p = {};
	enum rp_action action;

	if (!policy)
		return XDP_PASS;
	action = admit_judge(policy, rp_parse(&f, &p, RP_WANT_SOURCE), &p);
	return action == RP_ACTION_DROP ? XDP_DROP : XDP_PASS;
}

SEC("xdp.frags")
int admit(struct xdp_md *ctx)
{
	return admit_xdp(ctx);
}

/* where a driver has no frags */
SEC("xdp")
int admit_linear(struct xdp_md *ctx)
{
	return admit_xdp(ctx);
}

/* where the XDP hook is not to be had: somebody else has it, or the driver has none */
SEC("tc")
int admit_ingress(struct __sk_buff *skb)
{
	const struct rp_policy *policy = rp_policy_now();
	struct rp_packet p = {};
	enum rp_action action;

	if (!policy)
		return TC_ACT_UNSPEC;
	action = admit_judge(policy, rp_parse_skb(skb, &p), &p);
	return action == RP_ACTION_DROP ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

char LICENSE[] SEC("license") = "GPL";
