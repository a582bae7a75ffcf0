// SPDX-License-Identifier: GPL-2.0
/*
 * bench_bpf [XDP TC]: what the BPF programs cost per packet, by test run, beside an empty
 * program and the distribution's xdp-filter on a veth, in one run. Without bars, a figure
 * for each at each size; with bars, one line of JSON at 1 KB, and it fails when a ratio to
 * xdp-filter is above its bar. Ends with 4 where it cannot run.
 *
 * The programs take turns in many short rounds. Costs are the medians of all rounds, ratios
 * those of the ratios within each: what else the machine does then slows both down. Each
 * packet through egress is classified, has its DSCP rewritten (there and back, by two rules)
 * and is given a departure.
 */
/* SOURCES: selftests/bpf/programs.c selftests/unit/packet.c */
/* LIBS: -lbpf */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "measure.h"
#include "packet.h"
#include "programs.h"

#define ROUNDS 201
#define REPEAT 5000
#define PAYLOAD 1024		/* that the bars are about */
#define US 0xc0000201u
#define PEER 0xc0000202u
/* 1 us a packet: slower than all subjects in turn, so that each packet waits */
#define RATE 1024000000ull
#define VETH "rpbench0"
#define SUBJECTS 6

struct subject {
	const char *name;
	int fd;
	double ns[ROUNDS];
	double median;
};

/* a test run of tc takes a page at most; the programs read headers only */
static const u32 payloads[] = { 64, 1024, 3584 };
static u8 frame[4096];
static u32 frame_len;

static void shell(const char *command)
{
	int rc = system(command);

	if (rc) {
		fprintf(stderr, "bench_bpf: failed: %s\n", command);
		exit(4);
	}
}

/* a network and a /sys/fs/bpf of our own: what xdp-filter leaves goes when we end */
static void isolate(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL)) {
		fprintf(stderr, "bench_bpf: no namespaces of our own: %s\n", strerror(errno));
		exit(4);
	}
}

/* The real thing, loaded as its users do: libxdp's dispatcher and the program behind it. */
static int xdp_filter(void)
{
	u32 id = 0;
	int fd;

	shell("ip link add " VETH " type veth peer name rpbench1 && ip link set " VETH " up");
	shell("xdp-filter load -p allow " VETH " >/dev/null");
	shell("xdp-filter ip 192.0.2.77 >/dev/null && xdp-filter port 9999 >/dev/null");
	if (bpf_xdp_query_id(if_nametoindex(VETH), 0, &id) || !id) {
		fprintf(stderr, "bench_bpf: no program on %s\n", VETH);
		exit(4);
	}
	fd = bpf_prog_get_fd_by_id(id);
	return fd;
}

static int empty(enum bpf_prog_type type, int verdict)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = verdict },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(type, "empty", "GPL", insns, 2, NULL);
}

static void make_frame(u32 payload)
{
	struct packet p = { .opcode = 0x07, .qpn = 0x123, .len = payload, .sport = 50000 };

	memset(frame, 2, 12);
	put_unaligned_be16(0x0800, frame + 12);
	frame_len = 14 + packet_make(frame + 14, &p);
	frame[15] = 10 << 2;
}

/* the QP's: patterns are watched, as they are by default */
static void make_job(struct rocepath_bpf *skel)
{
	struct rp_job job = { .cgroup_id = 1, .qps = 1, .peer_count = 1 };
	u32 index = 0;

	job.peer[0].address = address4(PEER);
	bpf_map_update_elem(bpf_map__fd(skel->maps.jobs), &index, &job, 0);
}

/* as an operator's would be: several classes, rules about QPs in front of the ones that match */
static void make_policy(struct rocepath_bpf *skel, struct rp_policy *p)
{
	struct rp_peer4_key key = { .prefix_bits = 64 };
	struct rp_peer peer = { RP_ACTION_PASS };
	struct rp_address us = address4(US);
	struct rp_qp facts = { .comm = "nccl", .type = RP_QP_RC, .cgroup = "/slurm/job_1",
			       .job = 0, .job_peer = 0 };
	struct rp_class *c;
	struct rp_rule *r;
	u32 i;

	policy_new(p);
	p->flags = RP_POLICY_PEERS | RP_POLICY_PATTERNS;
	p->mark_mask = 0xff00;
	p->unknown_peer = RP_ACTION_DROP;
	for (i = 0; i < 20; i++) {
		c = policy_class(p, "class");
		c->flags = RP_CLASS_DSCP | RP_CLASS_PRIORITY | RP_CLASS_ECN;
		c->dscp = i == 18 ? 20 : 10;
		c->qp_rate.rate_bytes_per_s = RATE;
		r = policy_rule(p, "rule");
		if (i < 18) {
			r->match = RP_MATCH_COMM;
			strcpy(r->comm, "other*");
		} else {
			r->match = RP_MATCH_DSCP | RP_MATCH_COMM;
			strcpy(r->comm, "nccl");
			r->dscps = 1ull << (i == 18 ? 10 : 20);
		}
	}
	policy_set(skel, p);
	key.generation = p->generation;
	for (i = 0; i < 64; i++) {
		us = address4(US + (i << 8));
		memcpy(key.address, us.bytes + 12, 4);
		bpf_map_update_elem(bpf_map__fd(skel->maps.peers4), &key, &peer, 0);
	}
	make_job(skel);
	qp_connect(skel, 17, address4(PEER), 0x123, &facts);
}

static double measure(const struct subject *s)
{
	static u8 out[sizeof(frame)];

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = frame_len,
		    .data_out = out, .data_size_out = sizeof(out), .repeat = REPEAT);

	if (bpf_prog_test_run_opts(s->fd, &opts)) {
		fprintf(stderr, "bench_bpf: %s: %s\n", s->name, strerror(errno));
		exit(1);
	}
	return opts.duration;
}

static void measure_subjects(struct subject *subjects, u32 n, u32 rounds)
{
	u32 i, k;

	for (i = 0; i < rounds; i++)
		for (k = 0; k < n; k++)
			subjects[k].ns[i] = measure(&subjects[k]);
	for (k = 0; k < n; k++) {
		double ns[ROUNDS];

		memcpy(ns, subjects[k].ns, sizeof(ns));
		subjects[k].median = measure_median(ns, rounds);
	}
}

static double ratio(const struct subject *s, const struct subject *to)
{
	double ratios[ROUNDS];
	u32 i;

	for (i = 0; i < ROUNDS; i++)
		ratios[i] = s->ns[i] / to->ns[i];
	return measure_median(ratios, ROUNDS);
}

/* what it claims to measure must have happened */
static bool check_counters(struct rocepath_bpf *skel, u64 packets)
{
	struct rp_counter a = counter_sum(skel->maps.class_counters, 19);
	struct rp_counter b = counter_sum(skel->maps.class_counters, 20);

	if (event_count(skel, RP_EVENT_rx_roce) != packets || a.packets + b.packets != packets ||
	    a.packets != b.packets) {
		fprintf(stderr, "bench_bpf: not all packets were admitted and classified\n");
		return false;
	}
	return true;
}

static double paced_part(struct rocepath_bpf *skel)
{
	struct rp_counter a = counter_sum(skel->maps.class_counters, 19);
	struct rp_counter b = counter_sum(skel->maps.class_counters, 20);

	return (double)(a.paced_packets + b.paced_packets) / (a.packets + b.packets);
}

static bool print_figures(struct rocepath_bpf *skel, struct subject *subjects, u32 n)
{
	u32 rounds = measure_quick() ? 3 : ROUNDS / 5, i, k;
	char name[64];

	for (i = 0; i < ARRAY_SIZE(payloads); i++) {
		make_frame(payloads[i]);
		measure_subjects(subjects, n, rounds);
		for (k = 0; k < n; k++) {
			snprintf(name, sizeof(name), "bpf/%s/%u", subjects[k].name, payloads[i]);
			measure_print(name, "ns", subjects[k].median);
		}
	}
	return check_counters(skel, (u64)i * rounds * REPEAT);
}

/* Return: false if a ratio is above its bar. */
static bool print_ratios(struct rocepath_bpf *skel, struct subject *subjects, u32 n, double xdp_bar,
			 double tc_bar)
{
	double xdp, tc;
	u32 k;

	make_frame(PAYLOAD);
	measure_subjects(subjects, n, ROUNDS);
	printf("{\"bench\":\"bpf\",\"bytes\":%d", PAYLOAD);
	for (k = 0; k < n; k++)
		printf(",\"%s_ns\":%.0f", subjects[k].name, subjects[k].median);
	xdp = ratio(&subjects[3], &subjects[2]);
	tc = ratio(&subjects[4], &subjects[2]);
	printf(",\"xdp_cost_ratio\":%.3f,\"tc_egress_cost_ratio\":%.3f,\"paced_part\":%.3f}\n", xdp,
	       tc, paced_part(skel));
	if (xdp > xdp_bar || tc > tc_bar) {
		fprintf(stderr, "bench_bpf: above the bars, %.2f and %.2f\n", xdp_bar, tc_bar);
		return false;
	}
	return check_counters(skel, (u64)ROUNDS * REPEAT);
}

static u32 load(struct rocepath_bpf *skel, struct subject *subjects)
{
	struct subject all[] = {
		{ .name = "empty_xdp", .fd = empty(BPF_PROG_TYPE_XDP, 2) },
		{ .name = "empty_tc", .fd = empty(BPF_PROG_TYPE_SCHED_CLS, 0) },
		{ .name = "xdp_filter", .fd = xdp_filter() },
		{ .name = "admit", .fd = bpf_program__fd(skel->progs.admit) },
		{ .name = "egress", .fd = bpf_program__fd(skel->progs.egress) },
		{ .name = "ingress", .fd = bpf_program__fd(skel->progs.ingress) },
	};

	memcpy(subjects, all, sizeof(all));
	return ARRAY_SIZE(all);
}

int main(int argc, char **argv)
{
	static struct subject subjects[SUBJECTS];
	static struct rp_policy policy;
	struct rocepath_bpf *skel = programs_load(true);
	u32 n;
	bool ok;

	isolate();
	n = load(skel, subjects);
	make_policy(skel, &policy);
	if (argc > 2)
		ok = print_ratios(skel, subjects, n, atof(argv[1]), atof(argv[2]));
	else
		ok = print_figures(skel, subjects, n);
	return !ok;
}
