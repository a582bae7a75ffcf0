// SPDX-License-Identifier: GPL-2.0
/* From a policy file to what the maps hold; and whose a cgroup is. */
/* SOURCES: user/policy/model.c user/policy/read.c user/policy/schema.c user/policy/value.c */
/* SOURCES: user/policy/source.c user/policy/check.c user/policy/print.c user/policy/compile.c */
/* SOURCES: user/units.c user/words.c user/error.c user/owner.c user/json.c */
/* LIBS: -lyaml */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "../../user/owner.h"
#include "../../user/policy/compile.h"

#define LINE_RATE 12500000000ull

/* a policy of its files; both must be right */
static struct rp_policy *compile(const char *text, const struct rp_policy *before)
{
	struct rp_policy *policy = calloc(1, sizeof(*policy));
	struct rp_report report = { .out = stderr };
	struct rp_spec *spec = rp_spec_new();

	rp_spec_read(spec, rp_source_new("test", text, strlen(text)), &report);
	rp_spec_check(spec, &report);
	assert_int_equal(report.errors, 0);
	rp_spec_fill(spec);
	rp_compile(spec, before, LINE_RATE, policy);
	rp_spec_release(spec);
	return policy;
}

static const struct rp_class *class_of(const struct rp_policy *policy, const char *name)
{
	for (u32 i = 0; i < policy->class_count; i++)
		if (!strcmp(policy->class[i].name, name))
			return &policy->class[i];
	fail_msg("no class %s", name);
	return NULL;
}

static void test_defaults(void **state)
{
	struct rp_policy *p = compile("version: 1\n", NULL);

	assert_int_equal(p->version, RP_POLICY_VERSION);
	assert_int_equal(p->class_count, 1);
	assert_string_equal(p->class[p->default_class].name, "default");
	assert_int_equal(p->class[p->default_class].flags, 0);
	assert_int_equal(p->rule_count, 0);
	assert_int_equal(p->mark_mask, 0x3f00);
	assert_int_equal(p->mark_shift, 8);
	assert_int_equal(p->malformed, RP_ACTION_DROP);
	assert_int_equal(p->unknown_sender, RP_ACTION_DROP);
	assert_int_equal(p->unknown_peer, RP_ACTION_PASS);
	assert_int_equal(p->unknown_qp, RP_ACTION_PASS);
	assert_int_equal(p->flags, RP_POLICY_PATTERNS);
	assert_int_equal(p->total_rate.rate_bytes_per_s, 0);
	assert_int_equal(p->horizon_ns, 8000000000ull);
	assert_int_equal(p->dcqcn.line_rate_bytes_per_s, LINE_RATE);
	assert_int_equal(p->dcqcn.rpg_time_reset_us, 300);
	assert_int_equal(p->dcqcn.rpg_ai_rate_bytes_per_s, 625000);
	assert_int_equal(p->dcqcn.min_time_between_cnps_us, 4);
	free(p);
}

static void test_class(void **state)
{
	static const char text[] =
		"version: 1\n"
		"classes:\n"
		"  - {name: a, dscp: 26, ecn: on, dcqcn: on, rate: 40Gbit, qp-rate: 10Mbit,\n"
		"     qp-burst: 4KiB, pcp: 3, priority: 6}\n"
		"  - {name: b, dscp: 1, ack-dscp: 2, cnp-dscp: 3, management-dscp: 4}\n"
		"default-class: b\n";
	struct rp_policy *p = compile(text, NULL);
	const struct rp_class *a = class_of(p, "a"), *b = class_of(p, "b");

	assert_int_equal(a->flags, RP_CLASS_DSCP | RP_CLASS_PCP | RP_CLASS_PRIORITY | RP_CLASS_ECN |
			 RP_CLASS_DCQCN);
	assert_int_equal(a->dscp, 26);
	assert_int_equal(a->ack_dscp, 26);
	assert_int_equal(a->cnp_dscp, 48);
	assert_int_equal(a->class_rate.rate_bytes_per_s, 5000000000ull);
	assert_int_equal(a->class_rate.burst_bytes, 65536);
	assert_true(a->class_rate.ns_per_byte_q20 > 0);
	assert_int_equal(a->qp_rate.rate_bytes_per_s, 1250000);
	assert_int_equal(a->qp_rate.burst_bytes, 4096);
	assert_int_equal(a->pcp, 3);
	assert_int_equal(a->priority, 6);
	assert_int_equal(b->flags, RP_CLASS_DSCP);
	assert_int_equal(b->ack_dscp, 2);
	assert_int_equal(b->cnp_dscp, 3);
	assert_int_equal(b->management_dscp, 4);
	assert_ptr_equal(&p->class[p->default_class], b);
	assert_true(p->flags & RP_POLICY_NOTIFY);
	free(p);
}

static void test_rule(void **state)
{
	static const char text[] =
		"version: 1\n"
		"rules:\n"
		"  - {name: u, match: {unit: vllm@*.service}, class: default}\n"
		"  - {name: m, match: {message-min: 4KiB, message-max: 1MiB, dscp: 10,\n"
		"     remote: 10.1.0.0/16, uid: 7, comm: nccl*, device: mlx5_*}, class: default}\n"
		"  - {name: all, class: default}\n";
	struct rp_policy *p = compile(text, NULL);
	const struct rp_rule *r = p->rule;

	assert_int_equal(p->rule_count, 4);
	assert_string_equal(r[0].cgroup, "*/vllm@*.service");
	assert_string_equal(r[1].cgroup, "*/vllm@*.service/*");
	assert_int_equal(r[0].number, r[1].number);
	assert_int_equal(r[0].match, RP_MATCH_CGROUP);
	assert_int_equal(r[2].match, RP_MATCH_SIZE | RP_MATCH_DSCP | RP_MATCH_REMOTE |
			 RP_MATCH_UID | RP_MATCH_COMM | RP_MATCH_DEVICE);
	assert_int_equal(r[2].size_min_bytes, 4096);
	assert_int_equal(r[2].size_max_bytes, 1 << 20);
	assert_int_equal(r[2].dscps, 1 << 10);
	assert_int_equal(r[2].remote_bits, 112);
	assert_int_equal(r[2].uid_min, 7);
	assert_int_equal(r[2].uid_max, 7);
	assert_int_equal(r[3].match, 0);
	assert_true(p->flags & RP_POLICY_SIZES);
	free(p);
}

/* each word of the file is the bit of the map that it names */
static void check_words(const char *key, const char *const *words, const int *bits, u32 match,
			size_t offset)
{
	for (int i = 0; words[i]; i++) {
		struct rp_policy *p;
		char text[256];

		snprintf(text, sizeof(text),
			 "version: 1\n"
			 "rules: [{name: a, match: {%s: %s}, class: default}]\n",
			 key, words[i]);
		p = compile(text, NULL);
		assert_int_equal(p->rule[0].match, match);
		assert_int_equal(*(u32 *)((char *)&p->rule[0] + offset), 1u << bits[i]);
		free(p);
	}
}

static void test_words(void **state)
{
	static const char *const types[] = { "smi", "gsi", "rc", "uc", "ud", NULL };
	static const int type_bits[] = { RP_QP_SMI, RP_QP_GSI, RP_QP_RC, RP_QP_UC, RP_QP_UD };
	static const char *const groups[] = { "send", "write", "read", "atomic", "response", "ack",
					      "cnp", "management", "other", NULL };
	static const int group_bits[] = { RP_GROUP_SEND, RP_GROUP_WRITE, RP_GROUP_READ,
					  RP_GROUP_ATOMIC, RP_GROUP_RESPONSE, RP_GROUP_ACK,
					  RP_GROUP_CNP, RP_GROUP_MANAGEMENT, RP_GROUP_OTHER };
	static const char *const patterns[] = { "unknown", "idle", "point-to-point", "ring", "tree",
						"all-to-all", "incast", "broadcast", NULL };
	static const int pattern_bits[] = { RP_PATTERN_UNKNOWN, RP_PATTERN_IDLE,
					    RP_PATTERN_POINT_TO_POINT, RP_PATTERN_RING,
					    RP_PATTERN_TREE, RP_PATTERN_ALL_TO_ALL,
					    RP_PATTERN_INCAST, RP_PATTERN_BROADCAST };

	assert_int_equal(ARRAY_SIZE(group_bits), RP_GROUPS);
	assert_int_equal(ARRAY_SIZE(pattern_bits), RP_PATTERNS);
	check_words("qp-type", types, type_bits, RP_MATCH_QP_TYPE,
		    offsetof(struct rp_rule, qp_types));
	check_words("opcode", groups, group_bits, RP_MATCH_GROUP, offsetof(struct rp_rule, groups));
	check_words("pattern", patterns, pattern_bits, RP_MATCH_PATTERN,
		    offsetof(struct rp_rule, patterns));
}

static void test_admit(void **state)
{
	static const char text[] =
		"version: 1\n"
		"admit: {peers: 10.0.0.0/8, unknown-qp: drop, malformed: pass,\n"
		"        local-sender: pass}\n";
	struct rp_policy *p = compile(text, NULL);

	assert_int_equal(p->unknown_peer, RP_ACTION_DROP);
	assert_int_equal(p->unknown_qp, RP_ACTION_DROP);
	assert_int_equal(p->malformed, RP_ACTION_PASS);
	assert_int_equal(p->unknown_sender, RP_ACTION_PASS);
	assert_int_equal(p->flags, RP_POLICY_PATTERNS | RP_POLICY_PEERS | RP_POLICY_QPS);
	free(p);
}

/* numbers are kept by name; those of what is new are free ones */
static void test_numbers(void **state)
{
	struct rp_policy *p = compile("version: 1\nclasses: [{name: a}, {name: b}, {name: c}]\n"
				      "rules:\n  - {name: x, match: {uid: 1}, class: a}\n"
				      "  - {name: y, match: {uid: 2}, class: b}\n", NULL);
	struct rp_policy *q = compile("version: 1\nclasses: [{name: d}, {name: c}, {name: a}]\n"
				      "rules:\n  - {name: z, match: {uid: 3}, class: d}\n"
				      "  - {name: y, match: {uid: 2}, class: c}\n", p);

	assert_int_equal(class_of(q, "a") - q->class, class_of(p, "a") - p->class);
	assert_int_equal(class_of(q, "c") - q->class, class_of(p, "c") - p->class);
	assert_true(class_of(q, "d") - q->class != class_of(p, "a") - p->class);
	assert_int_equal(q->rule[1].number, p->rule[1].number);
	assert_true(q->rule[0].number != q->rule[1].number);
	assert_string_equal(q->class[q->rule[0].class].name, "d");
	assert_string_equal(q->class[q->rule[1].class].name, "c");
	free(p);
	free(q);
}

/* the most that a file may say fits */
static void test_full(void **state)
{
	struct rp_policy *p;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "version: 1\nclasses:\n");
	for (int i = 0; i < RP_SPEC_CLASSES_MAX; i++)
		fprintf(out, "  - {name: c%d}\n", i);
	fprintf(out, "rules:\n");
	for (int i = 0; i < RP_SPEC_RULES_MAX; i++)
		fprintf(out, "  - {name: r%d, match: {uid: %d}, class: c%d}\n", i, i,
			i % RP_SPEC_CLASSES_MAX);
	fprintf(out, "default-class: c0\n");
	fclose(out);
	p = compile(text, NULL);
	assert_int_equal(p->class_count, RP_CLASSES_MAX);
	assert_int_equal(p->rule_count, RP_RULES_MAX);
	for (u32 i = 0; i < RP_RULES_MAX; i++)
		assert_true(p->rule[i].number < RP_RULES_MAX);
	free(p);
	free(text);
}

static void check_owner(const char *cgroup, const char *unit, const char *container,
			const char *job, const char *name)
{
	char text[RP_OWNER_LEN];
	struct rp_owner owner;

	rp_owner_find(cgroup, &owner);
	assert_string_equal(owner.unit, unit);
	assert_string_equal(owner.container, container);
	assert_string_equal(owner.job, job);
	assert_string_equal(rp_owner_name(&owner, cgroup, text), name);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_owner(void **state)
{
	check_owner("", "", "", "", "");
	check_owner("/", "", "", "", "/");
	check_owner("/system.slice/vllm@7.service", "vllm@7.service", "", "", "vllm@7.service");
	check_owner("/user.slice/user-0.slice/session-3.scope", "session-3.scope", "", "",
		    "session-3.scope");
	check_owner("/system.slice/slurmstepd.scope/job_4711/step_0/task_0",
		    "slurmstepd.scope", "", "4711", "job 4711");
	check_owner("/slurm/uid_1000/job_4711/step_batch", "", "", "4711", "job 4711");
	check_owner("/slurm/job_x", "", "", "", "/slurm/job_x");
	check_owner("/docker/" ID, "", "0123456789ab", "", "container 0123456789ab");
	check_owner("/system.slice/docker-" ID ".scope", "docker-" ID ".scope", "0123456789ab", "",
		    "container 0123456789ab");
	check_owner("/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope",
		    "cri-containerd-" ID ".scope", "0123456789ab", "", "container 0123456789ab");
	check_owner("/machine.slice/libpod-" ID ".scope/container", "libpod-" ID ".scope",
		    "0123456789ab", "", "container 0123456789ab");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_class),
		cmocka_unit_test(test_rule), cmocka_unit_test(test_words),
		cmocka_unit_test(test_admit), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_full), cmocka_unit_test(test_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
