// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs.h"

#define CHECK(condition, what) do { if (!(condition)) die(what); } while (0)

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	abort();
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level != LIBBPF_WARN || !getenv("ROCEPATH_LIBBPF_LOG"))
		return 0;
	return vfprintf(stderr, format, args);
}

void programs_skip(const char *why, int err)
{
	printf("1..0 # SKIP %s: %s\n", why, strerror(err));
	exit(4);
}

struct rocepath_bpf *programs_load(bool trust_senders)
{
	struct rocepath_bpf *skel;
	struct bpf_program *prog;
	int err;

	libbpf_set_print(quiet);
	skel = rocepath_bpf__open();
	CHECK(skel, "open");
	skel->rodata->trust_senders = trust_senders;
	bpf_object__for_each_program(prog, skel->obj)
		if (!strncmp(bpf_program__name(prog), "census", 6))
			bpf_program__set_autoload(prog, false);
	err = rocepath_bpf__load(skel);
	if (err == -EPERM)
		programs_skip("BPF programs may not be loaded here (run as root)", -err);
	errno = -err;
	CHECK(!err, "load (ROCEPATH_LIBBPF_LOG=1 says more)");
	return skel;
}

void policy_new(struct rp_policy *p)
{
	memset(p, 0, sizeof(*p));
	p->generation = 1;
	p->horizon_ns = 8 * RP_NSEC_PER_SEC;
	p->pattern_window_ns = RP_NSEC_PER_SEC / 10;
	p->dcqcn = (struct rp_dcqcn_params) {
		.rpg_time_reset_us = 300,
		.rpg_byte_reset_bytes = 32767,
		.rpg_threshold = 1,
		.rpg_gd = 11,
		.rpg_ai_rate_bytes_per_s = 625000,
		.rpg_hai_rate_bytes_per_s = 6250000,
		.rpg_min_dec_fac_pct = 50,
		.rpg_min_rate_bytes_per_s = 125000,
		.line_rate_bytes_per_s = 12500000000ull,
		.dce_tcp_g = 1019,
		.dce_tcp_rtt_us = 1,
		.initial_alpha_value = 1023,
		.rate_reduce_monitor_period_us = 4,
		.clamp_tgt_rate_after_time_inc = 1,
		.min_time_between_cnps_us = 4,
		.cnp_dscp = 48,
		.cnp_802p_prio = 6,
	};
	policy_class(p, "default");
}

struct rp_class *policy_class(struct rp_policy *p, const char *name)
{
	struct rp_class *class = &p->class[p->class_count++];

	snprintf(class->name, sizeof(class->name), "%s", name);
	return class;
}

struct rp_rule *policy_rule(struct rp_policy *p, const char *name)
{
	struct rp_rule *rule = &p->rule[p->rule_count];

	snprintf(rule->name, sizeof(rule->name), "%s", name);
	rule->number = p->rule_count++;
	rule->class = p->class_count - 1;
	return rule;
}

void policy_maximal(struct rp_policy *p)
{
	u32 i;

	policy_new(p);
	while (p->class_count < RP_CLASSES_MAX) {
		struct rp_class *c = policy_class(p, "class");

		c->flags = RP_CLASS_DSCP | RP_CLASS_PCP | RP_CLASS_PRIORITY | RP_CLASS_ECN |
			   RP_CLASS_DCQCN;
		c->class_rate.rate_bytes_per_s = 1250000000;
		c->qp_rate.rate_bytes_per_s = 125000000;
	}
	for (i = 0; i < RP_RULES_MAX; i++) {
		struct rp_rule *r = policy_rule(p, "rule");

		r->match = RP_MATCH_OF_QP | RP_MATCH_GROUP | RP_MATCH_SIZE | RP_MATCH_DSCP |
			   RP_MATCH_PATTERN;
		r->match &= 0x3f | 0xf00;
		memset(r->cgroup, '*', sizeof(r->cgroup) - 1);
		memset(r->comm, '?', sizeof(r->comm) - 1);
		memset(r->device, '*', sizeof(r->device) - 1);
		r->uid_max = ~0u;
		r->remote_bits = 128;
		r->qp_types = ~0u;
		r->groups = ~0u;
		r->patterns = ~0u;
		r->dscps = ~0ull;
		r->size_min_bytes = i % 7 * 4096;
		r->size_max_bytes = ~0ull;
	}
	p->flags = RP_POLICY_PEERS | RP_POLICY_QPS | RP_POLICY_NOTIFY | RP_POLICY_PATTERNS;
	p->mark_mask = 0x3f00;
	p->total_rate.rate_bytes_per_s = 12500000000ull;
	p->malformed = RP_ACTION_DROP;
	p->unknown_peer = RP_ACTION_DROP;
	p->unknown_qp = RP_ACTION_DROP;
	p->unknown_sender = RP_ACTION_DROP;
}

void policy_set(struct rocepath_bpf *skel, struct rp_policy *p)
{
	u32 zero = 0;
	int fd;

	LIBBPF_OPTS(bpf_map_create_opts, opts);

	CHECK(!rp_policy_derive(p), "derive");
	/* 6.1 compares even what BTF says that there is not in a map */
	opts.btf_fd = bpf_object__btf_fd(skel->obj);
	opts.btf_key_type_id = bpf_map__btf_key_type_id(skel->maps.documents);
	opts.btf_value_type_id = btf__find_by_name_kind(bpf_object__btf(skel->obj), "rp_policy",
							BTF_KIND_STRUCT);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "policy", sizeof(zero), sizeof(*p), 1, &opts);
	CHECK(fd >= 0, "create policy");
	CHECK(!bpf_map_update_elem(fd, &zero, p, 0), "fill policy");
	CHECK(!bpf_map_update_elem(bpf_map__fd(skel->maps.policy), &zero, &fd, 0), "switch policy");
	close(fd);
}

struct rp_address address4(u32 address)
{
	struct rp_address a = { { [10] = 0xff, 0xff, address >> 24, address >> 16, address >> 8,
				  address } };

	return a;
}

void qp_connect(struct rocepath_bpf *skel, u32 qpn, struct rp_address peer, u32 remote_qpn,
		const struct rp_qp *facts)
{
	struct rp_qp_key key = { .device_index = 1, .qpn = qpn };
	struct rp_wire_qp wire = { .address = peer, .qpn = remote_qpn };
	struct rp_qp_tx tx = { .qp = key, .class_told = RP_CLASSES_MAX, .job = facts->job,
			       .job_peer = facts->job_peer };
	struct rp_qp_rx rx = { .qp = key, .remote_qpn = remote_qpn, .job = facts->job,
			       .job_peer = facts->job_peer };
	struct rp_qp qp = *facts;

	qp.remote = peer;
	qp.remote_qpn = remote_qpn;
	CHECK(!bpf_map_update_elem(bpf_map__fd(skel->maps.qps), &key, &qp, 0), "qps");
	CHECK(!bpf_map_update_elem(bpf_map__fd(skel->maps.qp_tx), &wire, &tx, 0), "qp_tx");
	wire.qpn = qpn;
	CHECK(!bpf_map_update_elem(bpf_map__fd(skel->maps.qp_rx), &wire, &rx, 0), "qp_rx");
}

int run_tc(const struct bpf_program *prog, const u8 *frame, u32 len, struct run *run)
{
	/* the kernel takes no other fields */
	struct __sk_buff in = { .mark = run->skb.mark, .priority = run->skb.priority,
				.tstamp = run->skb.tstamp };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = len,
		    .data_out = run->out, .data_size_out = sizeof(run->out),
		    .ctx_in = &in, .ctx_size_in = sizeof(in),
		    .ctx_out = &run->skb, .ctx_size_out = sizeof(run->skb), .repeat = 1);

	int err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);

	run->len = opts.data_size_out;
	run->verdict = opts.retval;
	return err;
}

int run_xdp(const struct bpf_program *prog, const u8 *frame, u32 len, u32 linear)
{
	struct xdp_md ctx = { .data_end = linear };

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = len, .repeat = 1);
	int err;

	if (linear) {
		opts.ctx_in = &ctx;
		opts.ctx_size_in = sizeof(ctx);
	}
	err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
	return err ? err : (int)opts.retval;
}

u64 event_count(struct rocepath_bpf *skel, enum rp_event event)
{
	int cpus = libbpf_num_possible_cpus(), i;
	struct rp_events *each = calloc(cpus, sizeof(*each));
	u32 zero = 0;
	u64 sum = 0;

	CHECK(!bpf_map_lookup_elem(bpf_map__fd(skel->maps.events), &zero, each), "events");
	for (i = 0; i < cpus; i++)
		sum += ((u64 *)&each[i])[event];
	free(each);
	return sum;
}

struct rp_counter counter_sum(struct bpf_map *map, u32 index)
{
	int cpus = libbpf_num_possible_cpus(), i;
	struct rp_counter *each = calloc(cpus, sizeof(*each)), sum = {};

	CHECK(!bpf_map_lookup_elem(bpf_map__fd(map), &index, each), "counters");
	for (i = 0; i < cpus; i++) {
		sum.packets += each[i].packets;
		sum.bytes += each[i].bytes;
		sum.paced_packets += each[i].paced_packets;
		sum.paced_ns += each[i].paced_ns;
		sum.horizon_packets += each[i].horizon_packets;
		sum.ecn_packets += each[i].ecn_packets;
	}
	free(each);
	return sum;
}
