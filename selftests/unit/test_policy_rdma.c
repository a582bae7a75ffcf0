// SPDX-License-Identifier: GPL-2.0
/* What a policy says of QPs of RDMA devices, as the message that the module gets. */
/* SOURCES: user/policy/model.c user/policy/read.c user/policy/schema.c user/policy/value.c */
/* SOURCES: user/policy/source.c user/policy/check.c user/policy/print.c user/policy/compile.c */
/* SOURCES: user/policy/rdma.c user/json.c user/units.c user/words.c user/error.c */
/* SOURCES: user/attrs.c user/rdma_sets.c */
/* LIBS: -lyaml -lmnl */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>

#include "unit.h"

#include "../../user/policy/compile.h"
#include "../../user/policy/rdma.h"
#include "../../user/rdma.h"

#define REQUEST_LEN (96 * 1024)
#define MS 1000ull

/* the sets of the message that the tool only writes */
static const struct rp_field rule_fields[] = {
	{ .attr = ROCEPATH_RDMA_A_RULE_NAME, .wire = MNL_TYPE_NUL_STRING },
	{ .attr = ROCEPATH_RDMA_A_RULE_CLASS, .wire = MNL_TYPE_U32 },
	{ .attr = ROCEPATH_RDMA_A_RULE_CGROUP, .wire = MNL_TYPE_NUL_STRING },
	{ .attr = ROCEPATH_RDMA_A_RULE_COMM, .wire = MNL_TYPE_NUL_STRING },
	{ .attr = ROCEPATH_RDMA_A_RULE_DEVICE, .wire = MNL_TYPE_NUL_STRING },
	{ .attr = ROCEPATH_RDMA_A_RULE_UID_MIN, .wire = MNL_TYPE_U32 },
	{ .attr = ROCEPATH_RDMA_A_RULE_UID_MAX, .wire = MNL_TYPE_U32 },
	{ .attr = ROCEPATH_RDMA_A_RULE_REMOTE, .wire = MNL_TYPE_BINARY, .len = 16 },
	{ .attr = ROCEPATH_RDMA_A_RULE_REMOTE_BITS, .wire = MNL_TYPE_U8 },
	{ .attr = ROCEPATH_RDMA_A_RULE_QP_TYPES, .wire = MNL_TYPE_U32 },
};

static const struct rp_set rule_set = RP_SET(rule_fields);

static struct rp_spec *spec;
static struct rp_policy policy;
static char request[REQUEST_LEN] __attribute__((aligned(8)));
static struct nlmsghdr *nlh;

static struct nlmsghdr *begin(void)
{
	struct nlmsghdr *begun = mnl_nlmsg_put_header(request);

	mnl_nlmsg_put_extra_header(begun, sizeof(struct genlmsghdr));
	return begun;
}

static void make(const char *text)
{
	struct rp_report report = { .out = stderr };

	spec = rp_spec_new();
	rp_spec_read(spec, rp_source_new("test", text, strlen(text)), &report);
	rp_spec_check(spec, &report);
	assert_int_equal(report.errors, 0);
	rp_spec_fill(spec);
	rp_compile(spec, NULL, 1, &policy);
	nlh = begin();
	rp_rdma_put_policy(nlh, spec, &policy);
}

static int release(void **state)
{
	rp_spec_release(spec);
	spec = NULL;
	return 0;
}

/* the n-th nest of a kind; returns whether there is one */
static bool nth(uint16_t type, unsigned int n, const struct rp_set *set, struct rp_attrs *attrs)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == type && !n--)
			return !rp_attrs_nested(set, attr, attrs);
	return false;
}

static void class_is(const char *name, struct rp_attrs *attrs)
{
	for (unsigned int i = 0; nth(ROCEPATH_RDMA_A_POLICY_CLASS, i, &rp_rdma_class_attrs, attrs);
	     i++)
		if (!strcmp(rp_attr_string(attrs, ROCEPATH_RDMA_A_CLASS_NAME), name))
			return;
	fail_msg("no class %s", name);
}

static void test_classes(void **state)
{
	struct rp_attrs a;

	make("version: 1\n"
	     "classes:\n"
	     "  - {name: all, dscp: 26, service-level: 3, timeout: 67ms, retry: 7, entropy: asked,\n"
	     "     on-failure: error}\n"
	     "  - {name: nothing}\n"
	     "  - {name: ours, exempt: on}\n"
	     "  - {name: patient, timeout: never, retry: 0, dscp: 0}\n"
	     "default-class: nothing\n");
	class_is("all", &a);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_CLASS_DSCP), 26);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_CLASS_SL), 3);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_CLASS_TIMEOUT), 14);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_CLASS_RETRY), 7);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_CLASS_ENTROPY),
			 ROCEPATH_RDMA_ENTROPY_ASKED);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_CLASS_ON_FAILURE),
			 ROCEPATH_RDMA_ACTION_ERROR);
	assert_null(a.at[ROCEPATH_RDMA_A_CLASS_EXEMPT]);
	class_is("nothing", &a);
	assert_null(a.at[ROCEPATH_RDMA_A_CLASS_DSCP]);
	assert_null(a.at[ROCEPATH_RDMA_A_CLASS_SL]);
	assert_null(a.at[ROCEPATH_RDMA_A_CLASS_TIMEOUT]);
	assert_null(a.at[ROCEPATH_RDMA_A_CLASS_RETRY]);
	assert_null(a.at[ROCEPATH_RDMA_A_CLASS_ON_FAILURE]);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_CLASS_ENTROPY),
			 ROCEPATH_RDMA_ENTROPY_PLAN);
	class_is("ours", &a);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_CLASS_EXEMPT), 1);
	class_is("patient", &a);
	assert_non_null(a.at[ROCEPATH_RDMA_A_CLASS_TIMEOUT]);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_CLASS_TIMEOUT), 0);
	assert_non_null(a.at[ROCEPATH_RDMA_A_CLASS_RETRY]);
	assert_non_null(a.at[ROCEPATH_RDMA_A_CLASS_DSCP]);
	assert_int_equal(rp_attrs_message(&rp_rdma_policy_attrs, nlh, &a), 0);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_POLICY_DEFAULT_CLASS),
			 policy.default_class);
}

/* rules that packets decide are left out; a unit is two rules; numbers are those of the maps */
static void test_rules(void **state)
{
	static const uint8_t remote[16] = { [10] = 0xff, [11] = 0xff, 10, 1 };
	static const char *const names[] = { "job", "unit", "unit", "net" };
	struct rp_attrs a, class;

	make("version: 1\n"
	     "classes: [{name: a}, {name: b}]\n"
	     "rules:\n"
	     "  - {name: job, match: {cgroup: '/slurm/*', comm: nccl, uid: 7}, class: b}\n"
	     "  - {name: big, match: {comm: nccl, message-min: 1MiB}, class: a}\n"
	     "  - {name: group, match: {opcode: [read]}, class: a}\n"
	     "  - {name: mark, match: {dscp: 26, remote: 10.0.0.0/8}, class: a}\n"
	     "  - {name: look, match: {pattern: [ring]}, class: a}\n"
	     "  - {name: unit, match: {unit: vllm.service}, class: a}\n"
	     "  - {name: net, match: {remote: 10.1.0.0/16, device: 'mlx5_*', qp-type: [rc, uc]},\n"
	     "     class: b}\n");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_true(nth(ROCEPATH_RDMA_A_POLICY_RULE, i, &rule_set, &a));
		assert_string_equal(rp_attr_string(&a, ROCEPATH_RDMA_A_RULE_NAME), names[i]);
	}
	assert_false(nth(ROCEPATH_RDMA_A_POLICY_RULE, ARRAY_SIZE(names), &rule_set, &a));

	nth(ROCEPATH_RDMA_A_POLICY_RULE, 0, &rule_set, &a);
	class_is("b", &class);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_RULE_CLASS),
			 rp_attr_number(&class, ROCEPATH_RDMA_A_CLASS_NUMBER));
	assert_string_equal(rp_attr_string(&a, ROCEPATH_RDMA_A_RULE_CGROUP), "/slurm/*");
	assert_string_equal(rp_attr_string(&a, ROCEPATH_RDMA_A_RULE_COMM), "nccl");
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_RULE_UID_MIN), 7);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_RULE_UID_MAX), 7);
	assert_null(a.at[ROCEPATH_RDMA_A_RULE_REMOTE]);
	assert_null(a.at[ROCEPATH_RDMA_A_RULE_QP_TYPES]);
	nth(ROCEPATH_RDMA_A_POLICY_RULE, 2, &rule_set, &a);
	assert_string_equal(rp_attr_string(&a, ROCEPATH_RDMA_A_RULE_CGROUP), "*/vllm.service/*");
	nth(ROCEPATH_RDMA_A_POLICY_RULE, 3, &rule_set, &a);
	assert_memory_equal(mnl_attr_get_payload(a.at[ROCEPATH_RDMA_A_RULE_REMOTE]), remote, 16);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_RULE_REMOTE_BITS), 112);
	assert_string_equal(rp_attr_string(&a, ROCEPATH_RDMA_A_RULE_DEVICE), "mlx5_*");
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_RULE_QP_TYPES),
			 1 << ROCEPATH_RDMA_QP_RC | 1 << ROCEPATH_RDMA_QP_UC);
}

/* as many as there can be, each as long as it can be, fit into one message */
static void test_largest(void **state)
{
	char *text = NULL, glob[RP_GLOB_LEN];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	memset(glob, 'x', sizeof(glob));
	glob[0] = '/';
	glob[sizeof(glob) - 1] = '\0';
	fprintf(out, "version: 1\nclasses:\n");
	for (int i = 0; i < RP_SPEC_CLASSES_MAX; i++)
		fprintf(out, "  - {name: class-of-thirty-one-letters-a%02d, dscp: 1, timeout: 1s,\n"
			"     retry: 1, service-level: 1, on-failure: move}\n", i);
	fprintf(out, "default-class: class-of-thirty-one-letters-a00\nrules:\n");
	for (int i = 0; i < RP_SPEC_RULES_MAX; i++)
		fprintf(out, "  - {name: rule-of-thirty-one-letters-a%03d,\n"
			"     class: class-of-thirty-one-letters-a00,\n"
			"     match: {cgroup: '%s', comm: xxxxxxxxxxxxxxx,\n"
			"       device: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, uid: 1,\n"
			"       remote: 10.0.0.0/8, qp-type: [rc]}}\n", i, glob);
	fclose(out);
	make(text);
	free(text);
	assert_in_range(nlh->nlmsg_len, 65536, REQUEST_LEN - 1024);
}

static void test_settings(void **state)
{
	struct rp_attrs a;

	make("version: 1\n"
	     "rdma:\n"
	     "  steering: on\n"
	     "  on-failure: move\n"
	     "  probe-interval: 10ms\n"
	     "  devices:\n"
	     "    - {name: mlx5_9, exempt: on, probe-interval: never, slow-factor: 4,\n"
	     "       holddown: 250ms, probes-per-second: 50}\n");
	assert_true(rp_rdma_wanted(spec));
	nlh = begin();
	rp_rdma_put_settings(nlh, &spec->rdma.set, spec->rdma.given);
	assert_int_equal(rp_attrs_message(&rp_rdma_device_attrs, nlh, &a), 0);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_DEVICE_STEERING), 1);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_DEVICE_ON_FAILURE),
			 ROCEPATH_RDMA_ACTION_MOVE);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_DEVICE_PROBE_INTERVAL_US), 10 * MS);
	assert_null(a.at[ROCEPATH_RDMA_A_DEVICE_EXEMPT]);
	assert_null(a.at[ROCEPATH_RDMA_A_DEVICE_HOLDDOWN_MS]);
	nlh = begin();
	rp_rdma_put_settings(nlh, &rp_spec_rdma_at(spec, 0)->set,
			     rp_spec_rdma_at(spec, 0)->given >> RP_KEY_RDMA_DEVICE_SETTINGS);
	assert_int_equal(rp_attrs_message(&rp_rdma_device_attrs, nlh, &a), 0);
	assert_null(a.at[ROCEPATH_RDMA_A_DEVICE_STEERING]);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_DEVICE_EXEMPT), 1);
	assert_non_null(a.at[ROCEPATH_RDMA_A_DEVICE_PROBE_INTERVAL_US]);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_DEVICE_PROBE_INTERVAL_US), 0);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_DEVICE_SLOW_FACTOR), 4);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_DEVICE_HOLDDOWN_MS), 250);
	assert_int_equal(rp_attr_number(&a, ROCEPATH_RDMA_A_DEVICE_PROBES_PER_SECOND), 50);
}

/* not shorter than asked, and the next one below would be */
static void test_exponents(void **state)
{
	assert_int_equal(rp_rdma_exponent(0), 0);
	assert_int_equal(rp_rdma_exponent(1), 1);
	assert_int_equal(rp_rdma_exponent(8), 1);
	assert_int_equal(rp_rdma_exponent(9), 2);
	assert_int_equal(rp_rdma_exponent(67 * MS), 14);
	assert_int_equal(rp_rdma_exponent(68 * MS), 15);
	assert_int_equal(rp_rdma_exponent(8796093022ull), 31);
	for (int i = 0; i < 100000; i++) {
		uint64_t us = 1 + rnd() % (1ull << rnd_below(34));
		uint8_t e = rp_rdma_exponent(us > 8796093022ull ? us = 8796093022ull : us);

		require(rp_rdma_exponent_ns(e) >= us * 1000, "%u is shorter", e);
		require(e == 1 || rp_rdma_exponent_ns(e - 1) < us * 1000, "%u is too long", e);
	}
}

/* an old policy asks the module for nothing */
static void test_not_wanted(void **state)
{
	make("version: 1\nclasses: [{name: a, dscp: 26}]\n");
	assert_false(rp_rdma_wanted(spec));
	release(NULL);
	make("version: 1\nclasses: [{name: a, retry: 0}]\n");
	assert_true(rp_rdma_wanted(spec));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_classes, release),
		cmocka_unit_test_teardown(test_rules, release),
		cmocka_unit_test_teardown(test_largest, release),
		cmocka_unit_test_teardown(test_settings, release),
		cmocka_unit_test_teardown(test_exponents, release),
		cmocka_unit_test_teardown(test_not_wanted, release),
	};

	return unit_run(tests);
}
