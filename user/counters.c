// SPDX-License-Identifier: GPL-2.0
/* What the programs count: by class, by rule, and by reason. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "commands.h"
#include "policy/state.h"
#include "rows.h"
#include "units.h"

static const struct {
	const char *name;
	bool drop;
	const char *text;
} events[] = {
#define EVENT(name, drop, text) { #name, drop, text },
	RP_EVENTS_LIST(EVENT)
#undef EVENT
};

/* the policy in force and its maps; complains */
static struct rp_policy *open_policy(struct rp_maps *maps)
{
	struct rp_policy *policy = calloc(1, sizeof(*policy));
	struct rp_error error;

	libbpf_set_print(NULL);
	if (policy && !rp_maps_open(maps, &error)) {
		if (!rp_state_policy(maps, policy))
			return policy;
		rp_maps_close(maps);
		rp_error_set(&error, "no policy is in force; apply one: rocepath apply FILE");
	}
	rp_complain("%s", policy ? error.text : "out of memory");
	free(policy);
	return NULL;
}

/* adds up what the CPUs have counted; @sum and the value are arrays of u64 */
static int add_up(int fd, uint32_t key, u64 *sum, size_t size)
{
	int cpus = libbpf_num_possible_cpus();
	u64 *values = cpus > 0 ? calloc(cpus, size) : NULL;
	int err = values ? bpf_map_lookup_elem(fd, &key, values) : -1;

	memset(sum, 0, size);
	for (int cpu = 0; !err && cpu < cpus; cpu++)
		for (size_t i = 0; i < size / sizeof(u64); i++)
			sum[i] += values[cpu * (size / sizeof(u64)) + i];
	free(values);
	return err;
}

static void print_rate(struct rp_rows *rows, uint64_t rate)
{
	char text[RP_TEXT_LEN];

	rp_unit_print(RP_UNIT_RATE, rate, text);
	rp_row_number(rows, rate, rate ? text : "-");
}

/* the last columns of classes and of rules */
static void print_counter(struct rp_rows *rows, const struct rp_counter *counter)
{
	rp_row_number(rows, counter->packets, NULL);
	rp_row_number(rows, counter->bytes, NULL);
	rp_row_number(rows, counter->paced_packets, NULL);
	rp_row_number(rows, counter->paced_ns / 1000, NULL);
	rp_row_number(rows, counter->horizon_packets, NULL);
	rp_row_number(rows, counter->ecn_packets, NULL);
}

static void print_if(struct rp_rows *rows, bool set, u64 value)
{
	if (set)
		rp_row_number(rows, value, NULL);
	else
		rp_row_text(rows, NULL);
}

/* what it writes into packets */
static void print_marks(struct rp_rows *rows, const struct rp_class *class)
{
	bool dscp = class->flags & RP_CLASS_DSCP;

	print_if(rows, dscp, class->dscp);
	print_if(rows, dscp, class->ack_dscp);
	print_if(rows, dscp, class->cnp_dscp);
	print_if(rows, dscp, class->management_dscp);
	print_if(rows, class->flags & RP_CLASS_PCP, class->pcp);
	print_if(rows, class->flags & RP_CLASS_PRIORITY, class->priority);
	rp_row_text(rows, class->flags & RP_CLASS_ECN ? "on" : "off");
}

static void print_class(struct rp_rows *rows, const struct rp_maps *maps,
			const struct rp_policy *policy, uint32_t id)
{
	const struct rp_class *class = &policy->class[id];
	struct rp_counter counter;
	char name[RP_NAME_LEN + 2];

	add_up(maps->fd[RP_MAP_CLASS_COUNTERS], id, (u64 *)&counter, sizeof(counter));
	rp_row_begin(rows);
	rp_row_number(rows, id, NULL);
	snprintf(name, sizeof(name), "%s%s", class->name,
		 rows->table && id == policy->default_class ? "*" : "");
	rp_row_text(rows, name);
	rp_row_text(rows, id == policy->default_class ? "yes" : "no");
	print_marks(rows, class);
	rp_row_text(rows, class->flags & RP_CLASS_DCQCN ? "on" : "off");
	print_rate(rows, class->class_rate.rate_bytes_per_s);
	print_if(rows, class->class_rate.rate_bytes_per_s, class->class_rate.burst_bytes);
	print_rate(rows, class->qp_rate.rate_bytes_per_s);
	print_if(rows, class->qp_rate.rate_bytes_per_s, class->qp_rate.burst_bytes);
	print_counter(rows, &counter);
	rp_row_end(rows);
}

/**
 * rp_policy_classes() - print the classes of the policy, with what they counted
 * @cli: this run
 *
 * Return: an exit code.
 */
int rp_policy_classes(struct rp_cli *cli)
{
	static const struct rp_column columns[] = {
		{ "id", "ID", true }, { "name", "CLASS", false }, { "default", NULL, false },
		{ "dscp", "DSCP", true }, { "ack_dscp", NULL, true }, { "cnp_dscp", NULL, true },
		{ "management_dscp", NULL, true }, { "pcp", NULL, true }, { "priority", "PRIO", true },
		{ "ecn", "ECN", false }, { "dcqcn", "DCQCN", false },
		{ "rate_bytes_per_s", "RATE", true }, { "burst_bytes", NULL, true },
		{ "qp_rate_bytes_per_s", "QP-RATE", true }, { "qp_burst_bytes", NULL, true },
		{ "packets", "PACKETS", true }, { "bytes", "BYTES", true },
		{ "paced_packets", "PACED", true }, { "paced_us", NULL, true },
		{ "horizon_packets", "HORIZON", true }, { "ecn_packets", "ECT", true }, { 0 },
	};
	struct rp_policy *policy;
	struct rp_maps maps;
	struct rp_rows rows;

	policy = open_policy(&maps);
	if (!policy)
		return RP_EXIT_FAILURE;
	rp_rows_begin(&rows, &cli->format, columns);
	for (uint32_t i = 0; i < policy->class_count; i++)
		if (*policy->class[i].name)
			print_class(&rows, &maps, policy, i);
	rp_rows_end(&rows, "there is no class");
	rp_maps_close(&maps);
	free(policy);
	return RP_EXIT_OK;
}

/**
 * rp_policy_is_in_force() - whether there is a policy
 *
 * One that may not be read, or not by this version, is one.
 */
bool rp_policy_is_in_force(void)
{
	struct rp_error error;
	struct rp_maps maps;

	int err;

	libbpf_set_print(NULL);
	err = rp_maps_open(&maps, &error);
	if (!err)
		rp_maps_close(&maps);
	return err != -ENOENT;
}

static void print_rule(struct rp_rows *rows, const struct rp_maps *maps,
		       const struct rp_policy *policy, uint32_t row, unsigned int order)
{
	const struct rp_rule *rule = &policy->rule[row];
	struct rp_counter counter;

	add_up(maps->fd[RP_MAP_RULE_COUNTERS], rule->number, (u64 *)&counter, sizeof(counter));
	rp_row_begin(rows);
	rp_row_number(rows, order, NULL);
	rp_row_text(rows, rule->name);
	rp_row_text(rows, policy->class[rule->class].name);
	print_counter(rows, &counter);
	rp_row_end(rows);
}

/**
 * rp_rule_show() - rocepath rule show
 * @cli: this run
 * @args: the command line
 */
int rp_rule_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_column columns[] = {
		{ "order", "NO", true }, { "name", "RULE", false }, { "class", "CLASS", false },
		{ "packets", "PACKETS", true }, { "bytes", "BYTES", true },
		{ "paced_packets", "PACED", true }, { "paced_us", NULL, true },
		{ "horizon_packets", "HORIZON", true }, { "ecn_packets", "ECT", true }, { 0 },
	};
	struct rp_policy *policy;
	unsigned int order = 0;
	struct rp_maps maps;
	struct rp_rows rows;

	(void)args;
	policy = open_policy(&maps);
	if (!policy)
		return RP_EXIT_FAILURE;
	rp_rows_begin(&rows, &cli->format, columns);
	/* a rule of the file may take several rows */
	for (uint32_t i = 0; i < policy->rule_count; i++)
		if (!i || policy->rule[i].number != policy->rule[i - 1].number)
			print_rule(&rows, &maps, policy, i, ++order);
	rp_rows_end(&rows, "the policy has no rules: all is in its default class");
	rp_maps_close(&maps);
	free(policy);
	return RP_EXIT_OK;
}

/* how the policy judges it; NULL: it is always dropped, or not a reason to drop */
static const char *verdict(const struct rp_policy *policy, unsigned int event)
{
	enum rp_action action = RP_ACTION_DROP;

	switch (event) {
	case RP_EVENT_rx_unknown_peer:
		action = policy->unknown_peer;
		break;
	case RP_EVENT_rx_unknown_qp:
		action = policy->unknown_qp;
		break;
	case RP_EVENT_tx_local_process:
	case RP_EVENT_tx_forwarded:
		action = policy->unknown_sender;
		break;
	case RP_EVENT_cnp_unknown_qp:
	case RP_EVENT_cnp_too_soon:
	case RP_EVENT_cnp_ignored:
	case RP_EVENT_cnp_lock_missed:
		break;
	default:
		action = policy->malformed;
	}
	return action == RP_ACTION_DROP ? "drop" : "pass";
}

static void print_event(struct rp_rows *rows, const struct rp_policy *policy, unsigned int i,
			u64 count)
{
	rp_row_begin(rows);
	rp_row_text(rows, events[i].name);
	rp_row_text(rows, events[i].drop ? verdict(policy, i) : "count");
	rp_row_number(rows, count, NULL);
	rp_row_text(rows, events[i].text);
	rp_row_end(rows);
}

/**
 * rp_drop_show() - rocepath drop show [all]
 * @cli: this run
 * @args: the command line
 */
int rp_drop_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_column columns[] = {
		{ "reason", "REASON", false }, { "verdict", "VERDICT", false },
		{ "packets", "PACKETS", true }, { "text", "WHAT", false }, { 0 },
	};
	bool all = rp_args_get(args, "all");
	struct rp_policy *policy;
	u64 counts[RP_EVENTS];
	struct rp_maps maps;
	struct rp_rows rows;

	policy = open_policy(&maps);
	if (!policy)
		return RP_EXIT_FAILURE;
	add_up(maps.fd[RP_MAP_EVENTS], 0, counts, sizeof(counts));
	rp_rows_begin(&rows, &cli->format, columns);
	for (unsigned int i = 0; i < RP_EVENTS; i++)
		if (all || events[i].drop)
			print_event(&rows, policy, i, counts[i]);
	rp_rows_end(&rows, "nothing is counted");
	rp_maps_close(&maps);
	free(policy);
	return RP_EXIT_OK;
}
