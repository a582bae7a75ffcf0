// SPDX-License-Identifier: GPL-2.0
/* What the programs do with packets: who is admitted, which class, which marks, when. */
/* SOURCES: kmod/core/roce.c kmod/core/icrc.c selftests/unit/packet.c */
#include "unit.h"

#include <bpf/bpf.h>
#include <linux/pkt_cls.h>
#include <pthread.h>

#include "icrc.h"
#include "packet.h"
#include "programs.h"

#define PEER 0xc0000202u	/* where packet_make() sends to */
#define US 0xc0000201u
#define ECT0 2
#define CE 3

static struct rocepath_bpf *skel;
static struct rp_policy policy;
static u8 frame[4096];
static u32 len;
static struct run run;

static u8 *l3(u8 *f)
{
	return f + 14;
}

static void ip4_checksum(u8 *ip)
{
	u32 sum = 0, i;

	put_unaligned_be16(0, ip + 10);
	for (i = 0; i < (ip[0] & 15u) * 4; i += 2)
		sum += get_unaligned_be16(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	put_unaligned_be16(~sum, ip + 10);
}

static bool ip4_checksum_right(const u8 *ip)
{
	u32 sum = 0, i;

	for (i = 0; i < (ip[0] & 15u) * 4; i += 2)
		sum += get_unaligned_be16(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

static void make(u8 opcode, u32 qpn, u32 bytes, u8 tos, bool ipv6)
{
	struct packet p = {
		.ipv6 = ipv6, .opcode = opcode, .qpn = qpn, .len = bytes, .sport = 50000
	};

	memset(frame, 0, 14);
	frame[5] = 1;
	frame[11] = 2;
	put_unaligned_be16(ipv6 ? 0x86dd : 0x0800, frame + 12);
	len = 14 + packet_make(l3(frame), &p);
	if (ipv6) {
		l3(frame)[0] = 0x60 | tos >> 4;
		l3(frame)[1] = tos << 4;
	} else {
		l3(frame)[1] = tos;
		ip4_checksum(l3(frame));
	}
}

static u8 tos_of(const u8 *ip)
{
	return ip[0] >> 4 == 6 ? (get_unaligned_be16(ip) >> 4 & 0xff) : ip[1];
}

/* the packet through egress; all else of it must stay */
static void out(void)
{
	u8 want[4096];

	memset(&run, 0, sizeof(run));
	assert_int_equal(run_tc(skel->progs.egress, frame, len, &run), 0);
	assert_int_equal(run.len, len);
	memcpy(want, frame, len);
	if (l3(frame)[0] >> 4 == 4) {
		assert_true(ip4_checksum_right(l3(run.out)));
		memcpy(l3(want) + 10, l3(run.out) + 10, 2);
		l3(want)[1] = l3(run.out)[1];
	} else {
		memcpy(l3(want), l3(run.out), 2);
		assert_int_equal(l3(run.out)[0] >> 4, 6);
		assert_int_equal(l3(run.out)[1] & 15, l3(frame)[1] & 15);
	}
	assert_memory_equal(run.out, want, len);
}

/* what the tool attaches first and fills in then lets everything pass until it is filled in */
static void without_a_policy(void **state)
{
	u64 roce = event_count(skel, RP_EVENT_rx_roce);

	make(0x04, 17, 64, 0, false);
	out();
	assert_int_equal(run.verdict, TC_ACT_UNSPEC);
	assert_memory_equal(run.out, frame, len);
	assert_int_equal(run_xdp(skel->progs.admit, frame, len, 0), XDP_PASS);
	assert_int_equal(run_xdp(skel->progs.admit_linear, frame, len, 0), XDP_PASS);
	assert_int_equal(run_tc(skel->progs.admit_ingress, frame, len, &run), 0);
	assert_int_equal(run.verdict, TC_ACT_UNSPEC);
	assert_int_equal(run_tc(skel->progs.ingress, frame, len, &run), 0);
	assert_int_equal(run.verdict, TC_ACT_UNSPEC);
	assert_int_equal(run_tc(skel->progs.port_egress, frame, len, &run), 0);
	assert_int_equal(run.verdict, TC_ACT_UNSPEC);
	assert_int_equal(event_count(skel, RP_EVENT_rx_roce), roce);
}

/* while a qdisc is replaced: to nowhere, which no sender is told of */
static void losing(void **state)
{
	make(0x04, 17, 64, 0, false);
	assert_int_equal(run_tc(skel->progs.lose, frame, len, &run), 0);
	assert_int_equal(run.verdict, TC_ACT_REDIRECT);
	put_unaligned_be16(4792, l3(frame) + 22);
	assert_int_equal(run_tc(skel->progs.lose, frame, len, &run), 0);
	assert_int_equal(run.verdict, TC_ACT_UNSPEC);
}

static struct rp_qp facts = {
	.device = "rxe0", .comm = "nccl", .uid = 1000, .type = RP_QP_RC, .job = RP_JOBS_MAX,
	.job_peer = RP_JOB_PEERS_MAX, .cgroup = "/slurm/job_17/step_0",
};

static struct rp_address peer6(void)
{
	struct rp_address a = { { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 } };

	return a;
}

static void generation(void)
{
	static u64 last;

	policy.generation = ++last;
	policy_set(skel, &policy);
}

/* groups to classes, by rule; ACKs and data of one QP in different ones */
static void first_match_wins(void **state)
{
	static const struct { u8 opcode; u32 bytes; enum rp_group group;
	} sends[] = {
		{ 0x04, 64, RP_GROUP_SEND },	 { 0x0a, 64, RP_GROUP_WRITE },
		{ 0x0c, 16, RP_GROUP_READ },	 { 0x13, 28, RP_GROUP_ATOMIC },
		{ 0x10, 68, RP_GROUP_RESPONSE }, { 0x11, 4, RP_GROUP_ACK },
		{ 0x81, 16, RP_GROUP_CNP },	 { 0xc1, 64, RP_GROUP_OTHER },
	};
	struct rp_counter before, after;
	u32 i, k;

	policy_new(&policy);
	policy.mark_mask = 0xff00;
	for (i = 0; i < ARRAY_SIZE(sends); i++) {
		struct rp_rule *r;

		policy_class(&policy, "class")->flags = RP_CLASS_PRIORITY;
		policy.class[i + 1].priority = 100 + i;
		for (k = 0; k < 2; k++) {	/* the second one never matches: the first wins */
			r = policy_rule(&policy, "rule");
			r->match = RP_MATCH_GROUP;
			r->groups = 1u << sends[i].group;
		}
	}
	generation();
	qp_connect(skel, 17, address4(PEER), 0x123, &facts);
	for (i = 0; i < ARRAY_SIZE(sends); i++) {
		make(sends[i].opcode, 0x123, sends[i].bytes, 0, false);
		before = counter_sum(skel->maps.rule_counters, 2 * i);
		out();
		after = counter_sum(skel->maps.rule_counters, 2 * i);
		assert_int_equal(run.verdict, TC_ACT_UNSPEC);
		assert_int_equal(run.skb.mark, (i + 1) << 8);
		assert_int_equal(run.skb.priority, 100 + i);
		assert_int_equal(after.packets - before.packets, 1);
		assert_int_equal(after.bytes - before.bytes, len - 14);
		assert_int_equal(counter_sum(skel->maps.rule_counters, 2 * i + 1).packets, 0);
	}
	make(0x64, 1, 64, 0, false);
	out();
	assert_int_equal(run.skb.mark, 0);	/* management: no rule */
}

static void check_class(u32 want)
{
	out();
	assert_int_equal(run.skb.mark, want);
}

/* each condition about the QP, resolved once, and again for another policy */
static void rules_about_qps(void **state)
{
	struct rp_rule *r;
	u64 resolved;
	u32 i;

	policy_new(&policy);
	policy.mark_mask = 0xff;
	policy_class(&policy, "match");
	r = policy_rule(&policy, "rule");
	generation();
	qp_connect(skel, 18, address4(PEER), 0x200, &facts);
	make(0x04, 0x200, 64, 0, false);
	for (i = 0; i < 14; i++) {
		memset(r, 0, sizeof(*r));
		r->class = 1;
		switch (i / 2) {
		case 0:
			r->match = RP_MATCH_CGROUP;
			strcpy(r->cgroup, i % 2 ? "/slurm/job_1/*" : "/slurm/job_?7/*");
			break;
		case 1:
			r->match = RP_MATCH_COMM;
			strcpy(r->comm, i % 2 ? "ncc" : "nc*l");
			break;
		case 2:
			r->match = RP_MATCH_UID;
			r->uid_min = i % 2 ? 1001 : 1000;
			r->uid_max = 2000;
			break;
		case 3:
			r->match = RP_MATCH_REMOTE;
			r->remote = address4(i % 2 ? 0xc0000300 : 0xc0000200);
			r->remote_bits = 96 + 24;
			break;
		case 4:
			r->match = RP_MATCH_DEVICE;
			strcpy(r->device, i % 2 ? "mlx5_*" : "rxe*");
			break;
		case 5:
			r->match = RP_MATCH_QP_TYPE;
			r->qp_types = i % 2 ? 1 << RP_QP_UD : 1 << RP_QP_RC | 1 << RP_QP_UC;
			break;
		case 6:		/* all of them, the last one wrong */
			r->match = RP_MATCH_UID | RP_MATCH_COMM | RP_MATCH_CGROUP;
			r->uid_min = 0;
			r->uid_max = 1000;
			strcpy(r->comm, "*");
			strcpy(r->cgroup, i % 2 ? "*job_18*" : "*job_17*");
			break;
		}
		generation();
		resolved = event_count(skel, RP_EVENT_qp_resolved);
		check_class(i % 2 ? 0 : 1);
		check_class(i % 2 ? 0 : 1);
		assert_int_equal(event_count(skel, RP_EVENT_qp_resolved) - resolved, 1);
	}
}

static void rules_about_packets(void **state)
{
	struct rp_rule *r;
	u8 reth[16] = {};
	u32 i;

	policy_new(&policy);
	policy.mark_mask = 0xff;
	policy_class(&policy, "small");
	r = policy_rule(&policy, "small");
	r->match = RP_MATCH_SIZE;
	r->size_max_bytes = 4095;
	policy_class(&policy, "large");
	r = policy_rule(&policy, "large");
	r->match = RP_MATCH_SIZE | RP_MATCH_DSCP;
	r->size_min_bytes = 65536;
	r->size_max_bytes = ~0ull;
	r->dscps = 1ull << 26;
	generation();
	qp_connect(skel, 19, address4(PEER), 0x300, &facts);
	/* FIRST says so in the RETH, MIDDLE and LAST are of the same message */
	for (i = 0; i < 2; i++) {
		u32 size = i ? 65536 : 2048, want = i ? 2 : 1;

		put_unaligned_be16(size >> 16, reth + 12);
		put_unaligned_be16(size & 0xffff, reth + 14);
		make(0x06, 0x300, 1024, 26 << 2, false);
		memcpy(l3(frame) + 40, reth, 16);
		check_class(want);
		make(0x07, 0x300, 1024, 26 << 2, false);
		check_class(want);
		make(0x08, 0x300, 1024, 26 << 2, false);
		check_class(want);
	}
	make(0x07, 0x300, 1024, 25 << 2, false);	/* not the DSCP */
	check_class(0);
	/* what of a SEND has been sent so far */
	make(0x00, 0x300, 1024, 0, false);
	check_class(1);
	for (i = 0; i < 3; i++) {
		make(0x01, 0x300, 1024, 0, false);
		check_class(i < 2 ? 1 : 0);
	}
	make(0x02, 0x300, 1024, 0, false);
	check_class(0);
	make(0x04, 0x300, 1024, 0, false);		/* another message */
	check_class(1);
	make(0x06, 0x300, 1024, 26 << 2, false);
	memcpy(l3(frame) + 40, reth, 16);
	check_class(2);
	make(0x04, 0x300, 1024, 26 << 2, false);	/* that one never ended */
	check_class(1);
}

/* what another CPU writes for another policy, or half of it, is not this one's */
static void rules_of_another_policy(void **state)
{
	struct rp_wire_qp key = { .address = address4(PEER), .qpn = 0x380 };
	int fd = bpf_map__fd(skel->maps.qp_tx);
	struct rp_qp_tx tx;
	struct rp_rule *r;
	u32 i;

	policy_new(&policy);
	policy.mark_mask = 0xff;
	policy_class(&policy, "wrong");
	r = policy_rule(&policy, "wrong");
	r->match = RP_MATCH_COMM;
	strcpy(r->comm, "other");
	policy_class(&policy, "right");
	r = policy_rule(&policy, "right");
	r->match = RP_MATCH_COMM;
	strcpy(r->comm, "nccl");
	generation();
	qp_connect(skel, 28, key.address, key.qpn, &facts);
	make(0x04, key.qpn, 64, 0, false);
	check_class(2);
	for (i = 0; i < 4; i++) {
		assert_int_equal(bpf_map_lookup_elem(fd, &key, &tx), 0);
		assert_int_equal(tx.resolved[0].rules, 2);
		assert_int_equal(tx.resolved[0].check, rp_rules_check(2, policy.generation));
		if (i & 1)
			tx.resolved[0].rules = 1;
		if (i & 2)
			tx.resolved[0].check = rp_rules_check(1, policy.generation + 1);
		assert_int_equal(bpf_map_update_elem(fd, &key, &tx, 0), 0);
		check_class(2);
	}
}

/* each rule of a full policy can be the first that matches, the last one too */
static void rules_of_all_words(void **state)
{
	struct rp_rule *r;
	u64 before;
	u32 n, i;

	for (n = 0; n < RP_RULES_MAX; n += n < RP_RULES_MAX - 1 ? 51 : 1) {
		policy_new(&policy);
		policy.mark_mask = 0xff;
		for (i = 0; i < RP_RULES_MAX; i++) {
			if (i == n || i == n + 1)
				policy_class(&policy, i == n ? "first" : "later");
			r = policy_rule(&policy, "rule");
			r->match = RP_MATCH_COMM | RP_MATCH_DSCP;
			r->dscps = i % 2 ? 1 : ~0ull;
			strcpy(r->comm, i < n ? "other" : "nccl");
		}
		generation();
		qp_connect(skel, 31, address4(PEER), 0x3a0, &facts);
		make(0x04, 0x3a0, 64, 0, false);
		before = counter_sum(skel->maps.rule_counters, n).packets;
		check_class(1);
		assert_int_equal(counter_sum(skel->maps.rule_counters, n).packets, before + 1);
		/* those with an odd number want another DSCP */
		make(0x04, 0x3a0, 64, 26 << 2, false);
		check_class(n % 2 ? (n == RP_RULES_MAX - 1 ? 0 : 2) : 1);
	}
}

#define SWITCHES 100

/* two policies, one after the other, and packets on all other CPUs meanwhile */
static struct switching {
	bool over;
	u32 packets;
	u32 of[2];
	u32 wrong;
} switching;

/*
 * In the one policy small messages are class 1 and large ones 2, in the other 4 and 3, with
 * rules in the other order: half of each is a class of the other size.
 */
static void switching_policy(u32 n)
{
	u32 i, small;

	policy_new(&policy);
	policy.mark_mask = 0xff;
	for (i = 0; i < 4; i++) {
		struct rp_rule *r;

		policy_class(&policy, "class")->flags = RP_CLASS_DSCP;
		policy.class[i + 1].dscp = i + 1;
		if (i / 2 != n)
			continue;
		small = i == 0 || i == 3;
		r = policy_rule(&policy, "rule");
		r->match = RP_MATCH_SIZE | RP_MATCH_COMM;
		strcpy(r->comm, "nccl");
		r->size_min_bytes = small ? 0 : 4096;
		r->size_max_bytes = small ? 4095 : ~0ull;
	}
	generation();
}

static void *send_meanwhile(void *unused)
{
	static __thread struct run mine;
	u32 mark;

	while (!READ_ONCE(switching.over)) {
		memset(&mine.skb, 0, sizeof(mine.skb));
		if (run_tc(skel->progs.egress, frame, len, &mine))
			continue;
		mark = mine.skb.mark;
		__sync_fetch_and_add(&switching.packets, 1);
		if ((mark == 1 || mark == 4) && tos_of(l3(mine.out)) >> 2 == mark)
			__sync_fetch_and_add(&switching.of[mark == 4], 1);
		else
			__sync_fetch_and_add(&switching.wrong, 1);
	}
	return NULL;
}

static void old_or_new_never_half(void **state)
{
	pthread_t senders[2];
	u32 i;

	memset(&switching, 0, sizeof(switching));
	qp_connect(skel, 29, address4(PEER), 0x390, &facts);
	make(0x04, 0x390, 64, 0, false);
	switching_policy(0);
	for (i = 0; i < ARRAY_SIZE(senders); i++)
		assert_int_equal(pthread_create(&senders[i], NULL, send_meanwhile, NULL), 0);
	for (i = 0; i < SWITCHES; i++)
		switching_policy(i & 1);
	WRITE_ONCE(switching.over, true);
	for (i = 0; i < ARRAY_SIZE(senders); i++)
		pthread_join(senders[i], NULL);
	print_message("# %u packets during %u switches: %u by one policy, %u by the other\n",
		      switching.packets, SWITCHES, switching.of[0], switching.of[1]);
	assert_true(switching.of[0] && switching.of[1]);
	assert_int_equal(switching.wrong, 0);
}

/* ECT(0) only of Not-ECT, only where the class says so; CE stays; each kind its DSCP */
static void marks(void **state)
{
	u32 ipv6, ecn, tos, on;
	struct rp_class *c;

	policy_new(&policy);
	c = policy_class(&policy, "c");
	policy_rule(&policy, "all");
	qp_connect(skel, 20, address4(PEER), 0x400, &facts);
	qp_connect(skel, 21, peer6(), 0x400, &facts);
	c->dscp = 26;
	c->ack_dscp = 44;
	c->cnp_dscp = 48;
	c->management_dscp = 63;
	for (on = 0; on < 2; on++) {
		c->flags = RP_CLASS_DSCP | (on ? RP_CLASS_ECN : 0);
		generation();
		for (ipv6 = 0; ipv6 < 2; ipv6++)
			for (ecn = 0; ecn < 4; ecn++) {
				tos = 10 << 2 | ecn;
				make(0x04, 0x400, 64, tos, ipv6);
				out();
				assert_int_equal(tos_of(l3(run.out)),
						 26 << 2 | (on && !ecn ? ECT0 : ecn));
				make(0x11, 0x400, 4, tos, ipv6);
				out();
				assert_int_equal(tos_of(l3(run.out)), 44 << 2 | ecn);
				make(0x81, 0x400, 16, tos, ipv6);
				out();
				assert_int_equal(tos_of(l3(run.out)), 48 << 2 | ecn);
				make(0x64, 1, 64, tos, ipv6);
				out();
				assert_int_equal(tos_of(l3(run.out)),
						 63 << 2 | (on && !ecn ? ECT0 : ecn));
			}
	}
	c->flags = 0;
	generation();
	make(0x04, 0x400, 64, 10 << 2, false);
	out();
	assert_memory_equal(run.out, frame, len);
}

/* UC and UD as RC; of UD the QP is told by where it comes from */
static void marks_of_other_transports(void **state)
{
	struct rp_wire_qp key = { .qpn = 0x45, .ifindex = 1 /* lo, as test runs have it */ };
	struct rp_qp_key id = { .device_index = 1, .qpn = 0x45 };
	struct rp_qp_tx tx = { .qp = id, .job = RP_JOBS_MAX, .job_peer = RP_JOB_PEERS_MAX };
	struct rp_qp qp = facts;
	struct rp_class *c;
	struct rp_rule *r;
	u32 ipv6;

	policy_new(&policy);
	policy.mark_mask = 0xff;
	c = policy_class(&policy, "uc");
	c->flags = RP_CLASS_DSCP | RP_CLASS_ECN;
	c->dscp = 11;
	r = policy_rule(&policy, "uc");
	r->match = RP_MATCH_QP_TYPE;
	r->qp_types = 1 << RP_QP_UC;
	c = policy_class(&policy, "ud");
	c->flags = RP_CLASS_DSCP | RP_CLASS_ECN;
	c->dscp = 12;
	c->management_dscp = 13;
	r = policy_rule(&policy, "ud");
	r->match = RP_MATCH_QP_TYPE;
	r->qp_types = 1 << RP_QP_UD;
	generation();
	qp.type = RP_QP_UC;
	qp_connect(skel, 0x46, address4(PEER), 0x446, &qp);
	qp_connect(skel, 0x46, peer6(), 0x446, &qp);
	qp.type = RP_QP_UD;
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.qps), &id, &qp, 0), 0);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.qp_tx), &key, &tx, 0), 0);
	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		make(0x24, 0x446, 64, 0, ipv6);			/* UC SEND ONLY */
		check_class(1);
		assert_int_equal(tos_of(l3(run.out)), 11 << 2 | ECT0);
		make(0x2a, 0x446, 80, 1, ipv6);			/* UC WRITE ONLY */
		check_class(1);
		assert_int_equal(tos_of(l3(run.out)), 11 << 2 | 1);
		make(0x64, 0x999, 64, 0, ipv6);			/* to whom does not matter */
		put_unaligned_be32(0x45, l3(frame) + (ipv6 ? 40 : 20) + 8 + 12 + 4);
		check_class(2);
		assert_int_equal(tos_of(l3(run.out)), 12 << 2 | ECT0);
		put_unaligned_be32(0x47, l3(frame) + (ipv6 ? 40 : 20) + 8 + 12 + 4);
		check_class(0);					/* another sender */
	}
}

/* what people see of a QP: the class of its last packet with data */
static void class_of_a_qp(void **state)
{
	struct rp_qp_key id = { .device_index = 1, .qpn = 0x48 };
	struct rp_rule *r;
	struct rp_qp qp = facts;
	u32 i;

	policy_new(&policy);
	policy_class(&policy, "writes");
	r = policy_rule(&policy, "writes");
	r->match = RP_MATCH_GROUP;
	r->groups = 1 << RP_GROUP_WRITE;
	policy_class(&policy, "acks");
	r = policy_rule(&policy, "acks");
	r->match = RP_MATCH_GROUP;
	r->groups = 1 << RP_GROUP_ACK;
	generation();
	qp.class = RP_CLASSES_MAX;
	qp_connect(skel, id.qpn, address4(PEER), 0x480, &qp);
	for (i = 0; i < 7; i++) {
		static const u8 opcodes[] = { 0x11, 0x0a, 0x11, 0x04, 0x0a, 0x04, 0x04 };
		/* one packet between others is no change */
		static const u32 classes[] = { RP_CLASSES_MAX, 1, 1, 1, 1, 1, 0 };

		make(opcodes[i], 0x480, opcodes[i] == 0x11 ? 4 : 64, 0, false);
		out();
		assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.qps), &id, &qp), 0);
		assert_int_equal(qp.class, classes[i]);
	}
}

/* the tag's priority, in place */
static void vlan_priority(void **state)
{
	struct rp_class *c;

	policy_new(&policy);
	c = policy_class(&policy, "c");
	policy_rule(&policy, "all");
	c->flags = RP_CLASS_PCP;
	c->pcp = 5;
	generation();
	make(0x04, 0x400, 64, 0, false);
	memmove(frame + 16, frame + 12, len - 12);
	put_unaligned_be16(0x8100, frame + 12);
	put_unaligned_be16(0x1123, frame + 14);
	len += 4;
	memset(&run, 0, sizeof(run));
	assert_int_equal(run_tc(skel->progs.egress, frame, len, &run), 0);
	put_unaligned_be16(0xb123, frame + 14);
	assert_memory_equal(run.out, frame, len);
}

static void departures(void **state)
{
	struct rp_counter before, after;
	struct rp_class *c;
	u64 first, gap;
	u32 i;

	policy_new(&policy);
	c = policy_class(&policy, "c");
	policy_rule(&policy, "all");
	c->qp_rate.rate_bytes_per_s = 1000000;		/* 1 ms for each packet of 1000 bytes */
	c->qp_rate.burst_bytes = 1000;
	policy.horizon_ns = 10000000000ull;
	generation();
	qp_connect(skel, 22, address4(PEER), 0x500, &facts);
	make(0x04, 0x500, 1000, 0, false);
	before = counter_sum(skel->maps.class_counters, 1);
	for (i = 0, first = 0; i < 20; i++) {
		memset(&run, 0, sizeof(run));
		run.skb.tstamp = 1680000000000000000ull;	/* wall-clock, from a receiver */
		assert_int_equal(run_tc(skel->progs.egress, frame, len, &run), 0);
		if (i > 3) {
			gap = run.skb.tstamp - first;
			assert_true(gap == 1000000 || gap == 999999);
		}
		first = run.skb.tstamp;
	}
	after = counter_sum(skel->maps.class_counters, 1);
	assert_in_range(after.paced_packets - before.paced_packets, 16, 20);
	make(0x11, 0x500, 4, 0, false);			/* an ACK does not wait */
	out();
	assert_int_equal(run.skb.tstamp, 0);
	/* the horizon holds, and the clock does not run on */
	policy.horizon_ns = 5000000;
	generation();
	make(0x04, 0x500, 1000, 0, false);
	before = counter_sum(skel->maps.class_counters, 1);
	for (i = 0; i < 50; i++)
		out();
	after = counter_sum(skel->maps.class_counters, 1);
	assert_true(after.horizon_packets - before.horizon_packets > 30);
	assert_true(event_count(skel, RP_EVENT_tx_horizon) > 30);
}

/* parameters of another policy hold from the next packet on, for QPs that are slow already, too */
static void dcqcn_while_running(void **state)
{
	struct rp_wire_qp key = { .address = address4(PEER), .qpn = 0x580 };
	int fd = bpf_map__fd(skel->maps.qp_tx);
	const u64 cut = 1000000;
	struct timespec ts;
	struct rp_class *c;
	struct rp_qp_tx tx;
	u64 now;

	policy_new(&policy);
	c = policy_class(&policy, "c");
	policy_rule(&policy, "all");
	c->flags = RP_CLASS_DCQCN;
	policy.dcqcn.rpg_time_reset_us = 100000000;
	policy.dcqcn.rpg_byte_reset_bytes = 0;
	generation();
	qp_connect(skel, 0x58, key.address, key.qpn, &facts);
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &tx), 0);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = ts.tv_sec * RP_NSEC_PER_SEC + ts.tv_nsec;
	tx.dcqcn = (struct rp_dcqcn){
		.why = RP_DCQCN_CUT, .rate_bytes_per_s = cut, .target_bytes_per_s = 2 * cut,
		.alpha_at_ns = now, .time_at_ns = now, .cut_at_ns = now, .cnp_at_ns = now,
		.cnps = 1,
	};
	tx.ns_per_byte_q20 = (RP_NSEC_PER_SEC << 20) / cut;
	assert_int_equal(bpf_map_update_elem(fd, &key, &tx, 0), 0);
	make(0x04, key.qpn, 1000, 0, false);
	out();
	out();
	assert_true(run.skb.tstamp);			/* the second one waits */
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &tx), 0);
	assert_int_equal(tx.dcqcn.rate_bytes_per_s, cut);
	policy.dcqcn.rpg_time_reset_us = 1;
	policy.dcqcn.rpg_max_rate_bytes_per_s = 4 * cut;
	policy.dcqcn.rpg_ai_rate_bytes_per_s = cut / 10;
	policy.dcqcn.rpg_hai_rate_bytes_per_s = cut / 10;
	generation();
	out();
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &tx), 0);
	assert_in_range(tx.dcqcn.rate_bytes_per_s, cut + cut / 2, 4 * cut);
	/* a class without DCQCN is not slowed down by what was */
	tx.dcqcn.why = RP_DCQCN_CUT;
	tx.ns_per_byte_q20 = (RP_NSEC_PER_SEC << 20) / cut;
	assert_int_equal(bpf_map_update_elem(fd, &key, &tx, 0), 0);
	c->flags = 0;
	generation();
	out();
	assert_int_equal(run.skb.tstamp, 0);
}

/* rules by pattern: both programs see what a job does, which is the class of what it does next */
#define WINDOW_NS 2000000ull
#define RING_MESSAGES 300

static struct rp_job job_now(u32 index)
{
	struct rp_job job;

	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.jobs), &index, &job), 0);
	return job;
}

static void pattern_policy(bool watch)
{
	struct rp_rule *r;

	policy_new(&policy);
	policy.mark_mask = 0xff;
	policy.flags = watch ? RP_POLICY_PATTERNS : 0;
	policy.pattern_window_ns = WINDOW_NS;
	if (watch) {
		policy_class(&policy, "ring");
		r = policy_rule(&policy, "ring");
		r->match = RP_MATCH_PATTERN;
		r->patterns = 1 << RP_PATTERN_RING;
	}
	generation();
}

static void ring_round(void)
{
	make(0x04, 0x590, 1024, 0, false);
	out();
	make(0x04, 0x5a, 1024, 0, false);
	memset(&run, 0, sizeof(run));
	assert_int_equal(run_tc(skel->progs.ingress, frame, len, &run), 0);
}

static void patterns_of_jobs(void **state)
{
	struct rp_job job = { .cgroup_id = 99, .qps = 2, .peer_count = 2 };
	struct rp_qp qp = facts;
	u32 index = 5, i;

	job.peer[0].address = address4(PEER);
	job.peer[1].address = address4(US);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.jobs), &index, &job, 0), 0);
	qp.job = index;
	qp.job_peer = 0;
	qp_connect(skel, 0x59, address4(PEER), 0x590, &qp);
	qp.job_peer = 1;
	qp_connect(skel, 0x5a, address4(US), 0x5a0, &qp);
	pattern_policy(false);
	for (i = 0; i < 20; i++)
		ring_round();
	assert_int_equal(job_now(index).tx_messages, 0);
	pattern_policy(true);
	make(0x04, 0x590, 1024, 0, false);
	check_class(0);					/* nothing is known yet */
	for (i = 0; i < RING_MESSAGES || job_now(index).windows < 4; i++)
		ring_round();
	job = job_now(index);
	assert_int_equal(job.pattern, RP_PATTERN_RING);
	assert_int_equal(job.tx_messages, i + 1);
	assert_int_equal(job.rx_messages, i);
	assert_int_equal(job.peer[0].tx_bytes, 1024 * (i + 1));
	assert_int_equal(job.peer[1].rx_bytes, 1024 * i);
	assert_int_equal(job.last.tx_peers, 1);
	assert_int_equal(job.last.rx_peers, 1);
	make(0x04, 0x590, 1024, 0, false);
	check_class(1);
	qp_connect(skel, 0x5b, address4(PEER), 0x5b0, &facts);
	make(0x04, 0x5b0, 1024, 0, false);
	check_class(0);					/* of no job */
}

static void peer_add(u32 address, u32 bits, enum rp_action action)
{
	struct rp_peer4_key key = { .prefix_bits = 32 + bits, .generation = policy.generation + 1 };
	struct rp_peer peer = { action };
	struct rp_address a = address4(address);

	memcpy(key.address, a.bytes + 12, 4);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.peers4), &key, &peer, 0), 0);
}

static void admit_as(enum rp_action action, enum rp_event event)
{
	u64 before = event_count(skel, event);
	bool drop = action == RP_ACTION_DROP;

	assert_int_equal(run_xdp(skel->progs.admit, frame, len, 0), drop ? XDP_DROP : XDP_PASS);
	memset(&run, 0, sizeof(run));
	assert_int_equal(run_tc(skel->progs.admit_ingress, frame, len, &run), 0);
	assert_int_equal(run.verdict, drop ? TC_ACT_SHOT : TC_ACT_UNSPEC);
	assert_memory_equal(run.out, frame, len);
	assert_int_equal(event_count(skel, event) - before, 2);
}

/* allow list with a hole in it; both actions; another generation's peers do not count */
static void admission(void **state)
{
	struct rp_wire_qp anybody = { .qpn = 24 };
	struct rp_qp_rx old = { .qp = { 1, 24 } };
	u32 action;

	for (action = RP_ACTION_PASS; action <= RP_ACTION_DROP; action++) {
		policy_new(&policy);
		policy.flags = RP_POLICY_PEERS;
		policy.unknown_peer = action;
		policy.malformed = action;
		policy.unknown_qp = action;
		generation();
		make(0x04, 17, 64, 0, false);
		admit_as(action, RP_EVENT_rx_unknown_peer);
		peer_add(US & ~0xffu, 24, RP_ACTION_PASS);	/* for the policy to come */
		admit_as(action, RP_EVENT_rx_unknown_peer);
		generation();
		admit_as(RP_ACTION_PASS, RP_EVENT_rx_roce);
		peer_add(US & ~0xffu, 24, RP_ACTION_PASS);
		peer_add(US, 32, RP_ACTION_DROP);
		generation();
		admit_as(action, RP_EVENT_rx_unknown_peer);
		generation();					/* none for this one */
		admit_as(action, RP_EVENT_rx_unknown_peer);

		policy.flags = RP_POLICY_QPS;
		generation();
		qp_connect(skel, 23, address4(US), 0x600, &facts);
		make(0x04, 23, 64, 0, false);
		admit_as(RP_ACTION_PASS, RP_EVENT_rx_roce);
		make(0x04, 24, 64, 0, false);
		admit_as(action, RP_EVENT_rx_unknown_qp);
		/* one that was there before: nobody knows its peer */
		bpf_map_update_elem(bpf_map__fd(skel->maps.qp_rx), &anybody, &old, 0);
		admit_as(RP_ACTION_PASS, RP_EVENT_rx_roce);
		bpf_map_delete_elem(bpf_map__fd(skel->maps.qp_rx), &anybody);
		make(0x64, 1, 64, 0, false);
		admit_as(RP_ACTION_PASS, RP_EVENT_rx_roce);
		make(0x04, 23, 64, 0, true);		/* the QP of another peer */
		admit_as(action, RP_EVENT_rx_unknown_qp);

		make(0x04, 23, 64, 0, false);
		put_unaligned_be16(0x2000, l3(frame) + 6);
		admit_as(action, RP_EVENT_rx_fragment);
		put_unaligned_be16(7, l3(frame) + 24);
		put_unaligned_be16(0, l3(frame) + 6);
		admit_as(action, RP_EVENT_rx_malformed);
		put_unaligned_be16(4792, l3(frame) + 22);
		admit_as(RP_ACTION_PASS, RP_EVENT_rx_not_roce);
	}
}

static void map_put(struct bpf_map *map, const void *key, const void *value)
{
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(map), key, value, 0), 0);
}

static bool map_has(struct bpf_map *map, const void *key, void *value)
{
	return !bpf_map_lookup_elem(bpf_map__fd(map), key, value);
}

static void map_get(struct bpf_map *map, const void *key, void *value)
{
	assert_true(map_has(map, key, value));
}

/* a QP that was there before the census: its first packet tells its peer */
static void learning(void **state)
{
	struct rp_wire_qp hint = rp_wire_qp_learn(1 /* lo, as test runs have it */, 0x900, 50000);
	struct rp_wire_qp key = { .address = address4(PEER), .qpn = 0x900 };
	struct rp_qp_key id = { .device_index = 1, .qpn = 30 };
	struct rp_qp_tx tx = { .qp = id, .job = RP_JOBS_MAX, .job_peer = RP_JOB_PEERS_MAX };
	struct rp_wire_qp loose = rp_wire_qp_learn(1, 0x900, 0), anybody = { .qpn = 30 };
	struct rp_qp qp = facts, learned;
	struct rp_wire_qp here = { .qpn = 30 };
	const struct rp_qp_tx fresh = tx;
	struct rp_qp_rx rx = { .qp = id };
	u32 by_number;
	struct rp_rule *r;
	struct rp_job job;

	policy_new(&policy);
	policy.mark_mask = 0xff;
	policy_class(&policy, "c");
	r = policy_rule(&policy, "nccl");
	r->match = RP_MATCH_COMM;
	strcpy(r->comm, "nccl");
	generation();
	qp.cgroup_id = 4711;
	qp.udp_source_port = 50000;
	/* by its source port; where that is another one by its destination QPN, if one QP has it */
	for (by_number = 0; by_number < 2; by_number++) {
		map_put(skel->maps.qps, &id, &qp);
		map_put(skel->maps.qp_tx, &hint, &tx);
		map_put(skel->maps.qp_rx, &anybody, &rx);
		make(0x04, 0x900, 64, 0, false);
		put_unaligned_be16(50001, l3(frame) + 20);
		check_class(0);				/* another QP's source port */
		if (by_number)
			map_put(skel->maps.qp_tx, &loose, &tx);
		else
			put_unaligned_be16(50000, l3(frame) + 20);
		check_class(1);
		check_class(1);
		map_get(skel->maps.qp_tx, &key, &tx);
		assert_int_equal(tx.packets, 2);
		assert_true(tx.job < RP_JOBS_MAX);
		assert_int_equal(tx.job_peer, 0);
		assert_false(map_has(skel->maps.qp_tx, &hint, &tx));
		assert_false(map_has(skel->maps.qp_tx, &loose, &tx));
		/* from now on only its peer is heard */
		assert_false(map_has(skel->maps.qp_rx, &anybody, &rx));
		here.address = key.address;
		map_get(skel->maps.qp_rx, &here, &rx);
		assert_int_equal(rx.remote_qpn, 0x900);
		map_get(skel->maps.qps, &id, &learned);
		assert_memory_equal(&learned.remote, &key.address, sizeof(learned.remote));
		assert_int_equal(learned.udp_source_port, by_number ? 50001 : 50000);
		map_get(skel->maps.jobs, &learned.job, &job);
		assert_int_equal(job.cgroup_id, 4711);
		assert_int_equal(job.qps, by_number + 1);
		assert_int_equal(job.peer_count, 1);
		tx = fresh;
		bpf_map_delete_elem(bpf_map__fd(skel->maps.qp_tx), &key);
		bpf_map_delete_elem(bpf_map__fd(skel->maps.qp_rx), &here);
	}
}

/* Test runs have a socket that is not UDP's: as a raw socket would. */
static void refused_senders(void **state)
{
	struct rocepath_bpf *strict = programs_load(false), *trusting = skel;
	u32 action;

	skel = strict;
	for (action = RP_ACTION_PASS; action <= RP_ACTION_DROP; action++) {
		policy_new(&policy);
		policy.unknown_sender = action;
		generation();
		qp_connect(skel, 25, address4(PEER), 0x700, &facts);
		make(0x04, 0x700, 64, 0, false);
		out();
		assert_int_equal(run.verdict, action ? TC_ACT_SHOT : TC_ACT_UNSPEC);
		/* a fragment: it would be put together again */
		put_unaligned_be16(0x2000, l3(frame) + 6);
		ip4_checksum(l3(frame));
		out();
		assert_int_equal(run.verdict, action ? TC_ACT_SHOT : TC_ACT_UNSPEC);
		put_unaligned_be16(4792, l3(frame) + 22);
		out();
		assert_int_equal(run.verdict, TC_ACT_UNSPEC);
	}
	assert_int_equal(event_count(skel, RP_EVENT_tx_local_process), 4);
	rocepath_bpf__destroy(strict);
	skel = trusting;
}

/* what ingress hands over becomes a CNP with a valid ICRC, as small as it should be */
static void notification(void **state)
{
	struct rp_roce r;
	u32 ipv6, round;
	u8 *ip;

	policy_new(&policy);
	policy.flags = RP_POLICY_NOTIFY;
	generation();
	for (round = 0; round < 200; round++) {
		ipv6 = round & 1;
		if (ipv6) {
			struct rp_address a = { { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } };

			qp_connect(skel, 26, a, 0x800000 + round, &facts);
		} else {
			qp_connect(skel, 26, address4(US), 0x800000 + round, &facts);
		}
		make(0x07, 26, rnd_below(256) * 4, CE, ipv6);
		put_unaligned_be16(0x88b5, frame + 12);
		memset(&run, 0, sizeof(run));
		run.skb.mark = 0x52504350;
		assert_int_equal(run_tc(skel->progs.egress, frame, len, &run), 0);
		assert_int_equal(run.verdict, TC_ACT_UNSPEC);
		ip = l3(run.out);
		assert_int_equal(get_unaligned_be16(run.out + 12), ipv6 ? 0x86dd : 0x0800);
		assert_int_equal(run.len, 14 + (ipv6 ? 80 : 60));
		assert_int_equal(rp_roce_parse(ip, run.len - 14, run.len - 14, &r), RP_ROCE_OK);
		assert_int_equal(r.kind, RP_KIND_CNP);
		assert_int_equal(r.qpn, 0x800000 + round);
		assert_int_equal(tos_of(ip), 48 << 2);
		assert_int_equal(get_unaligned_be16(ip + r.udp), 50000);
		assert_int_equal(get_unaligned_le32(ip + r.icrc), rp_icrc(ip, &r));
		assert_memory_equal(ip + (ipv6 ? 8 : 12), l3(frame) + (ipv6 ? 24 : 16),
				    ipv6 ? 16 : 4);
		assert_memory_equal(ip + (ipv6 ? 24 : 16), l3(frame) + (ipv6 ? 8 : 12),
				    ipv6 ? 16 : 4);
		assert_true(ipv6 || ip4_checksum_right(ip));
		assert_int_equal(run.skb.priority, 6);
		assert_int_equal(run.skb.mark, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_policy),
		cmocka_unit_test(losing),
		cmocka_unit_test(first_match_wins),
		cmocka_unit_test(rules_about_qps),
		cmocka_unit_test(rules_about_packets),
		cmocka_unit_test(rules_of_another_policy),
		cmocka_unit_test(rules_of_all_words),
		cmocka_unit_test(old_or_new_never_half),
		cmocka_unit_test(marks),
		cmocka_unit_test(marks_of_other_transports),
		cmocka_unit_test(class_of_a_qp),
		cmocka_unit_test(vlan_priority),
		cmocka_unit_test(departures),
		cmocka_unit_test(dcqcn_while_running),
		cmocka_unit_test(patterns_of_jobs),
		cmocka_unit_test(admission),
		cmocka_unit_test(learning),
		cmocka_unit_test(refused_senders),
		cmocka_unit_test(notification),
	};

	skel = programs_load(true);
	return unit_run(tests);
}
