// SPDX-License-Identifier: GPL-2.0
/*
 * bench_policy: how what tc egress and XDP cost grows with the rules of a policy, with the QPs in
 * the census and with the peers that are let in. By test run, of one packet again and
 * again: all that it touches is in the caches.
 */
/* SOURCES: selftests/bpf/programs.c selftests/unit/packet.c */
/* LIBS: -lbpf */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "packet.h"
#include "programs.h"

#define REPEAT 5000
#define ROUNDS 15
#define US 0xc0000201u
#define PEER 0xc0000202u
#define PEERS 0x0a000000u
#define QPN 0x123
#define NCCL "nccl"

static u8 frame[2048];
static u32 frame_len;

struct subject {
	int fd;
	const char *of;
};

static void make_frame(void)
{
	struct packet p = { .opcode = 0x07, .qpn = QPN, .len = 1024, .sport = 50000 };

	memset(frame, 2, 12);
	put_unaligned_be16(0x0800, frame + 12);
	frame_len = 14 + packet_make(frame + 14, &p);
}

/* by the kernel's own clock, for a run of XDP also takes a while to begin */
static double one_round(const struct subject *s)
{
	static u8 out[sizeof(frame)];

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = frame_len,
		    .data_out = out, .data_size_out = sizeof(out), .repeat = REPEAT);

	if (bpf_prog_test_run_opts(s->fd, &opts)) {
		fprintf(stderr, "bench_policy: %s: %s\n", s->of, strerror(errno));
		exit(1);
	}
	return opts.duration;
}

/* that a flow matches the last of them only; others ask for what the census knows */
static void make_rules(struct rocepath_bpf *skel, u32 rules)
{
	static struct rp_policy p;
	struct rp_class *c;
	struct rp_rule *r;
	u32 i;

	policy_new(&p);
	p.flags = RP_POLICY_PEERS;
	p.mark_mask = 0xff00;
	c = policy_class(&p, "class");
	c->flags = RP_CLASS_PRIORITY;
	for (i = 0; i < rules; i++) {
		r = policy_rule(&p, "rule");
		r->match = RP_MATCH_COMM | RP_MATCH_DSCP;
		r->dscps = 1;
		strcpy(r->comm, i == rules - 1 ? NCCL : "other*");
	}
	policy_set(skel, &p);
}

static void add_peers(struct rocepath_bpf *skel, u32 from, u32 to)
{
	struct rp_peer4_key key = { .prefix_bits = 64, .generation = 1 };
	struct rp_peer peer = { RP_ACTION_PASS };
	struct rp_address a;
	u32 i;

	for (i = from; i < to; i++) {
		a = address4(i ? PEERS + i : US);
		memcpy(key.address, a.bytes + 12, 4);
		bpf_map_update_elem(bpf_map__fd(skel->maps.peers4), &key, &peer, 0);
	}
}

static void add_qps(struct rocepath_bpf *skel, u32 from, u32 to)
{
	struct rp_qp facts = { .comm = NCCL, .type = RP_QP_RC, .job = RP_JOBS_MAX,
			       .job_peer = RP_JOB_PEERS_MAX };
	u32 i;

	for (i = from; i < to; i++)
		qp_connect(skel, 17 + i, address4(PEER), QPN + i, &facts);
}

static void measure_at(struct rocepath_bpf *skel, const char *what, u32 n)
{
	struct subject s[] = {
		{ bpf_program__fd(skel->progs.egress), "tc-egress" },
		{ bpf_program__fd(skel->progs.admit), "xdp" },
	};
	u32 rounds = measure_quick() ? 3 : ROUNDS, i, k;
	double ns[ARRAY_SIZE(s)][ROUNDS];
	char name[64];

	for (k = 0; k < rounds; k++)
		for (i = 0; i < ARRAY_SIZE(s); i++)
			ns[i][k] = one_round(&s[i]);
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		snprintf(name, sizeof(name), "growth/%s/%u/%s", what, n, s[i].of);
		measure_print(name, "ns", measure_median(ns[i], rounds));
	}
}

int main(void)
{
	struct rocepath_bpf *skel = programs_load(true);
	u32 step = measure_quick() ? 256 : 4, n, have = 1;

	make_frame();
	make_rules(skel, 1);
	add_peers(skel, 0, 1);
	add_qps(skel, 0, 1);
	for (n = 1; n <= RP_RULES_MAX; n *= step) {
		make_rules(skel, n);
		measure_at(skel, "rules", n);
	}
	make_rules(skel, 1);
	for (n = 1; n <= 4096; n *= step) {
		add_peers(skel, have, n);
		have = n;
		measure_at(skel, "admitted", n);
	}
	for (have = 1, n = 1; n <= RP_QPS_MAX; n *= step) {
		add_qps(skel, have, n);
		have = n;
		measure_at(skel, "census", n);
	}
	return 0;
}
