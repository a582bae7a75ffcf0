// SPDX-License-Identifier: GPL-2.0
/*
 * What leaves: tc egress on the device that the RDMA stack sends by.
 *
 *   not RoCE                 passes, untouched
 *   not from the RDMA stack  counted, and the policy's `unknown_sender`
 *   its QP                   by destination address and QPN
 *   its rules                the first that matches says the class
 *   marks                    DSCP, ECT(0), 802.1p, skb priority, class in skb->mark
 *   departure                skb->tstamp, for fq
 *
 * Who sends is told by the socket. rdma_rxe sends by UDP sockets of the kernel's own,
 * one for each QP. A process's UDP socket is not the kernel's; raw and packet sockets
 * are not UDP's; what was forwarded, or came out of another namespace by veth, has no
 * socket or one of another namespace. Not seen here: packet sockets with
 * PACKET_QDISC_BYPASS, and AF_XDP, which pass tc by; both want CAP_NET_RAW.
 */
#include <linux/pkt_cls.h>
#include <rocepath/rules.h>

#include "cnp.h"
#include "dcqcn.h"
#include "job.h"
#include "join.h"
#include "kernel.h"
#include "maps.h"
#include "pace.h"
#include "parse.h"
#include "wire.h"

#include <bpf/bpf_core_read.h>

#define SOCK_DGRAM 2
#define NOWHERE 0x7fffffff	/* no netdevice has that number */

/* inode of the network namespace whose sockets may send; 0: any */
const volatile u32 netns_inum;
/* tests run programs on packets without a socket */
const volatile bool trust_senders;

/*
 * The socket as the kernel sees it. That it is the kernel's own is in no field that tc
 * programs are given; its address is, and reading by address checks itself.
 */
static __always_inline const struct sock *egress_socket(struct bpf_sock *sk)
{
	u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), &sk);
	return (const struct sock *)address;
}

/* Return: RP_EVENTS: the RDMA stack; else what it is. */
__noinline int egress_judge_sender(struct __sk_buff *skb)
{
	const struct sock *socket;
	struct bpf_sock *sk;

	if (!skb->sk)
		return RP_EVENT_tx_forwarded;
	sk = bpf_sk_fullsock(skb->sk);
	if (!sk || sk->type != SOCK_DGRAM || sk->protocol != IPPROTO_UDP)
		return RP_EVENT_tx_local_process;
	socket = egress_socket(sk);
	if (!BPF_CORE_READ_BITFIELD_PROBED(socket, sk_kern_sock))
		return RP_EVENT_tx_local_process;
	if (netns_inum && BPF_CORE_READ(socket, __sk_common.skc_net.net, ns.inum) != netns_inum)
		return RP_EVENT_tx_forwarded;
	return RP_EVENTS;
}

/* A QP sends by one socket: it is judged once. Cookies of sockets are never used again. */
static __always_inline enum rp_event egress_sender(struct __sk_buff *skb, struct rp_qp_tx *tx)
{
	u64 cookie = bpf_get_socket_cookie(skb);
	int sender;

	if (tx && likely(cookie && tx->socket_cookie == cookie))
		return RP_EVENTS;
	sender = trust_senders ? RP_EVENTS : egress_judge_sender(skb);
	if (tx && sender == RP_EVENTS)
		tx->socket_cookie = cookie;
	return sender;
}

/* Return: the row that the tool left for a QP whose peer it does not know; NULL: it left none. */
static __always_inline struct rp_qp_tx *egress_hint(const struct rp_packet *p, u32 ifindex)
{
	struct rp_wire_qp hint = rp_wire_qp_learn(ifindex, p->qpn, p->source_port);
	struct rp_qp_tx *known = bpf_map_lookup_elem(&qp_tx, &hint);

	if (known)
		return known;
	hint = rp_wire_qp_learn(ifindex, p->qpn, 0);
	return bpf_map_lookup_elem(&qp_tx, &hint);
}

/* The hints of a QP, and the place where packets of anybody were let in for it, are used up. */
static __always_inline void egress_forget_hints(const struct rp_qp_key *id, u32 remote_qpn,
						u32 ifindex, u32 source_port)
{
	struct rp_wire_qp key = rp_wire_qp_learn(ifindex, remote_qpn, source_port);
	struct rp_qp_rx *rx;

	bpf_map_delete_elem(&qp_tx, &key);
	key = rp_wire_qp_learn(ifindex, remote_qpn, 0);
	bpf_map_delete_elem(&qp_tx, &key);
	__builtin_memset(&key, 0, sizeof(key));
	key.qpn = id->qpn;
	rx = bpf_map_lookup_elem(&qp_rx, &key);
	if (rx && rx->qp.device_index == id->device_index)
		bpf_map_delete_elem(&qp_rx, &key);
}

/*
 * A QP that was there before the census: the tool knows its numbers, the wire its peer.
 * The row that it left is moved to where packets find it. Return: 0: it left none.
 */
__noinline int egress_learn(const struct rp_packet *p, u32 ifindex)
{
	struct rp_wire_qp key = {};
	struct rp_qp_rx rx = {};
	struct rp_qp_tx *known;
	struct rp_qp *qp;
	u32 source_port;

	if (!p || p->kind == RP_KIND_DATAGRAM)
		return 0;
	known = egress_hint(p, ifindex);
	if (!known)
		return 0;
	key.address = p->destination;
	key.qpn = p->qpn;
	rx.qp = known->qp;
	rx.remote_qpn = p->qpn;
	rx.job = known->job;
	rx.job_peer = known->job_peer;
	if (bpf_map_update_elem(&qp_tx, &key, known, BPF_NOEXIST))
		return 1;
	source_port = p->source_port;
	qp = bpf_map_lookup_elem(&qps, &rx.qp);
	if (qp) {
		source_port = qp->udp_source_port;
		qp->remote = p->destination;
		qp->udp_source_port = p->source_port;
	}
	key.qpn = rx.qp.qpn;
	bpf_map_update_elem(&qp_rx, &key, &rx, BPF_NOEXIST);
	egress_forget_hints(&rx.qp, p->qpn, ifindex, source_port);
	return 1;
}

/* One that was learned, and whose cgroup the tool has read. Of two CPUs one has it join. */
__noinline int egress_join(struct rp_qp_tx *tx)
{
	struct rp_wire_qp key = {};
	struct rp_qp_key id;
	struct rp_qp_rx *rx;
	struct rp_qp *qp;

	if (!tx)
		return 0;
	id = tx->qp;
	qp = bpf_map_lookup_elem(&qps, &id);
	if (!qp || !qp->cgroup_id || __sync_val_compare_and_swap(&qp->job, RP_JOBS_MAX,
								 RP_JOBS_MAX + 1) != RP_JOBS_MAX)
		return 0;
	key.address = qp->remote;
	key.qpn = id.qpn;
	qp->job = rp_job_join(qp->cgroup_id);
	qp->job_peer = rp_job_host(qp->job, &key.address);
	tx->job = qp->job;
	tx->job_peer = qp->job_peer;
	rx = bpf_map_lookup_elem(&qp_rx, &key);
	if (rx) {
		rx->job = qp->job;
		rx->job_peer = qp->job_peer;
	}
	return 0;
}

/* A datagram's QP is told by its source QPN, in the DETH: its destination is anybody's. */
static __always_inline void egress_key(const struct rp_packet *p, u32 ifindex,
				       struct rp_wire_qp *key)
{
	if (p->kind == RP_KIND_DATAGRAM) {
		key->qpn = p->extended;
		key->ifindex = ifindex;
	} else {
		key->qpn = p->qpn;
		key->address = p->destination;
	}
}

/* Once for each QP and policy. Return: one word of its rules. */
__noinline u64 egress_resolve(const struct rp_policy *policy, struct rp_qp_tx *tx, u32 word)
{
	struct rp_qp_key key;
	struct rp_qp *qp;
	u64 rules;

	if (!policy || !tx || word >= RP_RULE_WORDS)
		return 0;
	key = tx->qp;
	qp = bpf_map_lookup_elem(&qps, &key);
	rules = qp ? rp_resolve(policy, qp, word) : policy->rules_of_any_qp.word[word];
	WRITE_ONCE(tx->resolved[word].rules, rules);
	WRITE_ONCE(tx->resolved[word].check, rp_rules_check(rules, policy->generation));
	if (!word)
		rp_event(RP_EVENT_qp_resolved);
	return rules;
}

/* What another CPU writes for another policy is not used for this one. */
static __always_inline u64 egress_qp_rules(const struct rp_policy *policy, struct rp_qp_tx *tx,
					   u32 word)
{
	const struct rp_resolved *r = &tx->resolved[word];
	u64 rules = READ_ONCE(r->rules);

	if (likely(READ_ONCE(r->check) == rp_rules_check(rules, policy->generation)))
		return rules;
	return egress_resolve(policy, tx, word);
}

/* the RETH says how long the message will be */
static __always_inline u64 egress_message_size(const struct rp_packet *p, struct rp_qp_tx *tx,
					       u32 data)
{
	bool reth = rp_has_reth(p->kind, p->opcode);
	u64 size = reth ? p->extended : data;

	if (!tx || p->kind != RP_KIND_DATA)
		return size;
	if (reth)
		return tx->message_size_bytes = size;
	if (rp_begins_message(p->opcode))
		return tx->message_size_bytes = data;
	/* of a SEND only what was sent is known */
	return max(tx->message_size_bytes, tx->message_bytes + data);
}

__noinline u32 egress_size_class(const struct rp_policy *policy, u64 size)
{
	return policy ? rp_size_class(policy, size) : 0;
}

static __always_inline u32 egress_pattern(const struct rp_qp_tx *tx)
{
	u32 index = tx ? tx->job : RP_JOBS_MAX;
	struct rp_job *job = bpf_map_lookup_elem(&jobs, &index);

	return job ? job->pattern : RP_PATTERN_UNKNOWN;
}

/* what rules may ask of a packet, each an index into the policy's masks */
struct egress_traits {
	u32 group;
	u32 dscp;
	u32 size;
	u32 pattern;
};

/* Return: the first rule that matches, or RP_NO_RULE. */
static __always_inline u32 egress_match(const struct rp_policy *policy, struct rp_qp_tx *tx,
					const struct egress_traits *t)
{
	u32 word;
	u64 rules;

	for (word = 0; word < RP_RULE_WORDS && word * 64 < policy->rule_count; word++) {
		barrier_var(tx);	/* or clang adds to it before it is known not to be NULL */
		rules = tx ? egress_qp_rules(policy, tx, word) : policy->rules_of_any_qp.word[word];
		rules &= policy->rules_by_group[t->group & 15].word[word] &
			 policy->rules_by_dscp[t->dscp & 63].word[word];
		if (policy->flags & RP_POLICY_SIZES)
			rules &= policy->rules_by_size[t->size & 15].word[word];
		if (policy->flags & RP_POLICY_BY_PATTERN)
			rules &= policy->rules_by_pattern[t->pattern & 7].word[word];
		if (rules)
			return rp_first_rule(rules, word);
	}
	return RP_NO_RULE;
}

static __always_inline u32 egress_rule(const struct rp_packet *p, const struct rp_policy *policy,
				       struct rp_qp_tx *tx, u32 data)
{
	struct egress_traits t = { .group = rp_group_of(p), .dscp = p->tos >> 2 };

	if (policy->flags & RP_POLICY_SIZES)
		t.size = egress_size_class(policy, egress_message_size(p, tx, data));
	if (policy->flags & RP_POLICY_BY_PATTERN)
		t.pattern = egress_pattern(tx);
	return egress_match(policy, tx, &t);
}

static __always_inline u8 egress_dscp(const struct rp_class *class, const struct rp_packet *p)
{
	if (p->kind == RP_KIND_ACK || p->kind == RP_KIND_NAK)
		return class->ack_dscp;
	if (p->kind == RP_KIND_CNP)
		return class->cnp_dscp;
	return p->qpn == RP_QPN_GSI ? class->management_dscp : class->dscp;
}

/* RFC 1624, equation 3; the ToS is the low half of the header's first word */
static __always_inline void egress_write_tos4(struct iphdr *ip, u8 tos)
{
	u32 sum = (u16)~bpf_ntohs(ip->check) + (u16)~ip->tos + tos;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip->check = bpf_htons(~sum);
	ip->tos = tos;
}

static __always_inline void egress_write_tos6(u8 *ip, u8 tos)
{
	ip[0] = (ip[0] & 0xf0) | tos >> 4;
	ip[1] = (ip[1] & 0x0f) | tos << 4;
}

/* The ToS and the IP checksum; nothing else of the packet covers it. In place where it can be. */
static __always_inline void egress_set_tos(struct __sk_buff *skb, const struct rp_packet *p, u8 tos)
{
	u32 l3 = p->l3 & 31;
	void *at = (void *)(long)skb->data + l3;
	struct iphdr copy;

	if (likely(at + sizeof(copy) <= (void *)(long)skb->data_end)) {
		if (p->ipv6)
			egress_write_tos6(at, tos);
		else
			egress_write_tos4(at, tos);
		return;
	}
	if (bpf_skb_load_bytes(skb, l3, &copy, sizeof(copy)))
		return;
	if (p->ipv6)
		egress_write_tos6((u8 *)&copy, tos);
	else
		egress_write_tos4(&copy, tos);
	bpf_skb_store_bytes(skb, l3, &copy, sizeof(copy), 0);
}

static __always_inline void egress_set_pcp(struct __sk_buff *skb, const struct rp_packet *p,
					   u32 pcp)
{
	u16 tci;

	if (skb->vlan_present) {
		u16 proto = skb->vlan_proto;

		tci = (skb->vlan_tci & 0x1fff) | pcp << 13;
		if (!bpf_skb_vlan_pop(skb))
			bpf_skb_vlan_push(skb, proto, tci);
	} else if (p->l3 > ETH_HLEN && !bpf_skb_load_bytes(skb, ETH_HLEN, &tci, sizeof(tci))) {
		tci = bpf_htons((bpf_ntohs(tci) & 0x1fff) | pcp << 13);
		bpf_skb_store_bytes(skb, ETH_HLEN, &tci, sizeof(tci), 0);
	}
}

static __always_inline void egress_mark(struct __sk_buff *skb, const struct rp_policy *policy,
					const struct rp_class *class, u32 index)
{
	if (policy->mark_mask)
		skb->mark = (skb->mark & ~policy->mark_mask) |
			    (index << (policy->mark_shift & 31) & policy->mark_mask);
	if (class->flags & RP_CLASS_PRIORITY)
		skb->priority = class->priority;
}

/* The machine moves when a packet leaves, on one CPU at a time; others take the rate as it is. */
__noinline int egress_dcqcn(const struct rp_policy *policy, struct rp_qp_tx *tx, u32 data, u64 now)
{
	if (!tx || !policy)
		return 0;
	if (__sync_val_compare_and_swap(&tx->busy, 0, 1)) {
		rp_event(RP_EVENT_tx_lock_missed);
		return 0;
	}
	rp_dcqcn_advance(&tx->dcqcn, &policy->dcqcn, now);
	rp_dcqcn_sent(&tx->dcqcn, &policy->dcqcn, data);
	tx->ns_per_byte_q20 = rp_dcqcn_ns_per_byte_q20(&tx->dcqcn);
	__sync_lock_test_and_set(&tx->busy, 0);
	return 0;
}

/* Return: how long it waits. */
static __always_inline u64 egress_pace(struct __sk_buff *skb, const struct rp_policy *policy,
				       const struct rp_class *class, u32 index, struct rp_qp_tx *tx,
				       u32 data)
{
	u32 last = RP_CLASSES_MAX;
	struct rp_pacer *pacer = bpf_map_lookup_elem(&pacers, &index);
	struct rp_pacer *total = bpf_map_lookup_elem(&pacers, &last);
	struct rp_time time = { .tick_ns = bpf_ktime_get_coarse_ns() };
	u64 depart;

	if (!pacer || !total)
		return 0;
	if (tx && tx->ns_per_byte_q20 && class->flags & RP_CLASS_DCQCN)
		egress_dcqcn(policy, tx, data, bpf_ktime_get_ns());
	depart = rp_pace(policy, class, pacer, total, tx, data, &time);
	if (depart <= time.tick_ns)
		return 0;
	skb->tstamp = depart;
	return depart - time.tick_ns;
}

static __always_inline bool egress_is_paced(const struct rp_policy *policy,
					    const struct rp_class *class, const struct rp_qp_tx *tx)
{
	return policy->total_rate.ns_per_byte_q20 || class->class_rate.ns_per_byte_q20 ||
	       (tx ? rp_pace_own(class, tx) : class->qp_rate.ns_per_byte_q20);
}

static __always_inline void egress_count(void *map, u32 index, u32 bytes, u64 waits, bool horizon,
					 bool ecn)
{
	struct rp_counter *c = bpf_map_lookup_elem(map, &index);

	if (!c)
		return;
	c->packets++;
	c->bytes += bytes;
	if (waits) {
		c->paced_packets++;
		c->paced_ns += waits;
		if (horizon)
			c->horizon_packets++;
	}
	if (ecn)
		c->ecn_packets++;
}

/* For people: what the census says of the QP. */
__noinline int egress_tell_class(struct rp_qp_tx *tx, u32 index)
{
	struct rp_qp_key key;
	struct rp_qp *qp;

	if (!tx)
		return 0;
	tx->class_told = index;
	key = tx->qp;
	qp = bpf_map_lookup_elem(&qps, &key);
	if (qp)
		qp->class = index;
	return 0;
}

static __always_inline int egress_roce(struct __sk_buff *skb, const struct rp_packet *p,
				       const struct rp_policy *policy, struct rp_qp_tx *tx)
{
	bool data = rp_is_data(p->kind), ecn = false, horizon = false;
	u32 bytes = p->icrc + RP_ICRC_LEN - p->l3, rule, index;
	u32 payload = rp_payload(p);
	const struct rp_class *class;
	u64 waits = 0;
	u8 tos = p->tos;

	rule = egress_rule(p, policy, tx, payload);
	index = policy->default_class;
	if (rule < RP_RULES_MAX)
		index = policy->rule_class[rule];
	index &= RP_CLASSES_MAX - 1;
	class = &policy->class[index];

	if (class->flags & RP_CLASS_DSCP)
		tos = egress_dscp(class, p) << 2 | (tos & 3);
	if (data && (class->flags & RP_CLASS_ECN) && !(tos & 3)) {
		tos |= 2;
		ecn = true;
	}
	if (tx) {
		tx->packets++;
		tx->bytes += bytes;
	}
	if (data) {
		if (tx) {
			struct rp_message message = {
				.job = policy->flags & RP_POLICY_PATTERNS ? tx->job : RP_JOBS_MAX,
				.peer = tx->job_peer,
				.sent = 1,
				.window_ns = policy->pattern_window_ns,
			};

			if (unlikely(tx->class_told != index &&
				     (tx->class == index || tx->class_told == RP_CLASSES_MAX)))
				egress_tell_class(tx, index);
			tx->class = index;
			rp_job_packet(&tx->message_bytes, &tx->message_began_ns, &message,
				      p->opcode, payload);
		}
		/* what another hook left there is no departure of ours */
		skb->tstamp = 0;
		if (egress_is_paced(policy, class, tx))
			waits = egress_pace(skb, policy, class, index, tx, payload);
		horizon = waits && waits >= policy->horizon_ns;
	}
	egress_mark(skb, policy, class, index);
	if (class->flags & RP_CLASS_PCP)
		egress_set_pcp(skb, p, class->pcp);
	if (tos != p->tos)
		egress_set_tos(skb, p, tos);
	egress_count(&class_counters, index, bytes, waits, horizon, ecn);
	if (rule < RP_RULES_MAX)
		egress_count(&rule_counters, policy->rule_number[rule], bytes, waits, horizon, ecn);
	if (horizon)
		rp_event(RP_EVENT_tx_horizon);
	return TC_ACT_UNSPEC;
}

static __always_inline u32 egress_cnp_write(struct __sk_buff *skb, const struct rp_packet *p,
					    const struct rp_cnp *cnp)
{
	u8 l3[RP_CNP_LEN6] = {};

	if (p->ipv6) {
		rp_cnp_make6(l3, cnp);
		if (bpf_skb_change_tail(skb, p->l3 + RP_CNP_LEN6, 0))
			return 0;
		return bpf_skb_store_bytes(skb, p->l3, l3, RP_CNP_LEN6, 0) ? 0 : RP_CNP_LEN6;
	}
	rp_cnp_make4(l3, cnp);
	if (bpf_skb_change_tail(skb, p->l3 + RP_CNP_LEN4, 0))
		return 0;
	return bpf_skb_store_bytes(skb, p->l3, l3, RP_CNP_LEN4, 0) ? 0 : RP_CNP_LEN4;
}

/* The clone of a data packet that arrived with CE, Ethernet addresses turned round by ingress. */
__noinline int egress_cnp(struct __sk_buff *skb)
{
	const struct rp_policy *policy = rp_policy_now();
	struct rp_packet p = {};
	struct rp_wire_qp key = {};
	struct rp_cnp cnp = {};
	struct egress_traits traits = { .group = RP_GROUP_CNP };
	u32 rule, index, bytes;
	struct rp_qp_rx *rx;
	u16 proto;
	u8 version;

	if (!policy || bpf_skb_load_bytes(skb, ETH_HLEN, &version, 1))
		goto failed;
	proto = version >> 4 == 6 ? bpf_htons(ETH_P_IPV6) : bpf_htons(ETH_P_IP);
	if (bpf_skb_store_bytes(skb, ETH_HLEN - 2, &proto, sizeof(proto), 0))
		goto failed;
	if (rp_parse_skb(skb, &p) != RP_ROCE_FRAME)
		goto failed;
	key.address = p.source;
	key.qpn = p.qpn;
	rx = bpf_map_lookup_elem(&qp_rx, &key);
	if (!rx)
		goto failed;
	cnp.source = p.destination;
	cnp.destination = p.source;
	cnp.source_port = p.source_port;
	cnp.qpn = rx->remote_qpn;
	cnp.tos = policy->dcqcn.cnp_dscp << 2;
	traits.dscp = policy->dcqcn.cnp_dscp;
	bytes = egress_cnp_write(skb, &p, &cnp);
	if (!bytes)
		goto failed;
	rule = egress_match(policy, NULL, &traits);
	index = rule < RP_RULES_MAX ? policy->rule_class[rule] : policy->default_class;
	index &= RP_CLASSES_MAX - 1;
	skb->tstamp = 0;
	skb->mark = 0;
	egress_mark(skb, policy, &policy->class[index], index);
	skb->priority = policy->dcqcn.cnp_802p_prio;
	egress_count(&class_counters, index, bytes, 0, false, false);
	rp_event(RP_EVENT_cnp_sent);
	return TC_ACT_UNSPEC;
failed:
	rp_event(RP_EVENT_cnp_failed);
	return TC_ACT_SHOT;
}

static __always_inline int egress_refuse(const struct rp_policy *policy, enum rp_event event)
{
	enum rp_action action = event == RP_EVENT_tx_malformed ? policy->malformed :
								 policy->unknown_sender;

	rp_event(event);
	return action == RP_ACTION_DROP ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

__noinline int egress_packet(struct __sk_buff *skb)
{
	const struct rp_policy *policy = rp_policy_now();
	struct rp_wire_qp key = {};
	struct rp_qp_tx *tx = NULL;
	struct rp_packet p = {};
	enum rp_event sender;
	u32 verdict;

	if (!policy)
		return TC_ACT_UNSPEC;
	verdict = rp_parse_skb_quickly(skb, &p, RP_WANT_DESTINATION | RP_WANT_EXTENDED);
	if (verdict == RP_OTHER) {
		rp_event(RP_EVENT_tx_not_roce);
		return TC_ACT_UNSPEC;
	}
	if (likely(verdict == RP_ROCE_FRAME)) {
		egress_key(&p, skb->ifindex, &key);
		tx = bpf_map_lookup_elem(&qp_tx, &key);
	}
	sender = egress_sender(skb, tx);
	if (unlikely(sender != RP_EVENTS))
		return egress_refuse(policy, sender);
	if (unlikely(verdict != RP_ROCE_FRAME))
		return egress_refuse(policy, RP_EVENT_tx_malformed);
	if (unlikely(!tx)) {
		if (egress_learn(&p, skb->ifindex)) {
			tx = bpf_map_lookup_elem(&qp_tx, &key);
			egress_join(tx);
		} else {
			rp_event(RP_EVENT_tx_unknown_qp);
		}
	}
	return egress_roce(skb, &p, policy, tx);
}

SEC("tc")
int egress(struct __sk_buff *skb)
{
	if (unlikely(skb->mark == RP_CNP_MARK) && (trust_senders || !skb->sk)) {
		u16 proto = 0;

		bpf_skb_load_bytes(skb, ETH_HLEN - 2, &proto, sizeof(proto));
		if (proto == bpf_htons(RP_CNP_ETHERTYPE))
			return egress_cnp(skb);
	}
	return egress_packet(skb);
}

/*
 * On the ports of a rocepath device, so that nobody goes round it: a process can ask
 * for a port by name. What the device itself sends (control packets, repairs, ACKs once
 * more) has no socket, and was received nowhere; all that is forwarded was.
 */
SEC("tc")
int port_egress(struct __sk_buff *skb)
{
	const struct rp_policy *policy = rp_policy_now();
	u32 verdict;
	struct rp_packet p = {};
	enum rp_event sender;

	if (!policy)
		return TC_ACT_UNSPEC;
	verdict = rp_parse_skb(skb, &p);
	if (verdict == RP_OTHER)
		return TC_ACT_UNSPEC;
	if (verdict == RP_ROCE_FRAME && !skb->sk &&
	    (!skb->ingress_ifindex || p.kind == RP_KIND_CNP))
		return TC_ACT_UNSPEC;
	sender = egress_judge_sender(skb);
	return sender == RP_EVENTS ? TC_ACT_UNSPEC : egress_refuse(policy, sender);
}

/*
 * While a qdisc is replaced, and netdevices refuse what they are given: rdma_rxe ends a QP
 * whose packet is refused, and sends again what is lost. So RoCE is sent to a netdevice that
 * there is not.
 */
SEC("tc")
int lose(struct __sk_buff *skb)
{
	struct rp_packet p = {};

	return rp_parse_skb(skb, &p) == RP_ROCE_FRAME ? bpf_redirect(NOWHERE, 0) : TC_ACT_UNSPEC;
}

char LICENSE[] SEC("license") = "GPL";
