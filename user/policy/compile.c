// SPDX-License-Identifier: GPL-2.0
/*
 * A class keeps its number, and a rule its counter, from one policy to the next if
 * they keep their names: clocks and counters are found by number, and packets that
 * are on their way carry one in their mark.
 */
#include <rocepath/policy_derive.h>

#include "compile.h"

_Static_assert(RP_SPEC_SIZES_MAX == RP_SIZE_BOUNDS_MAX && RP_SPEC_RULES_MAX == RP_RULES_MAX &&
	       RP_SPEC_CLASSES_MAX == RP_CLASSES_MAX && RP_SPEC_NAME_MAX < RP_NAME_LEN &&
	       RP_SPEC_PEERS_MAX < RP_PEERS_MAX, "what files may say fits into the maps");

/* a number that nobody had or has: there are as many as may be named */
static uint32_t take_free(bool *used)
{
	uint32_t number = 0;

	while (used[number])
		number++;
	used[number] = true;
	return number;
}

static uint32_t class_before(const struct rp_policy *before, const char *name)
{
	for (uint32_t i = 0; before && i < before->class_count; i++)
		if (!strncmp(before->class[i].name, name, RP_NAME_LEN))
			return i;
	return RP_CLASSES_MAX;
}

static uint32_t rule_before(const struct rp_policy *before, const char *name)
{
	for (uint32_t i = 0; before && i < before->rule_count; i++)
		if (!strncmp(before->rule[i].name, name, RP_NAME_LEN))
			return before->rule[i].number;
	return RP_RULES_MAX;
}

static void put_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

static void number_classes(const struct rp_spec *spec, const struct rp_policy *before,
			   uint32_t *numbers)
{
	bool used[RP_CLASSES_MAX] = { false };

	for (unsigned int i = 0; i < spec->classes.count; i++) {
		numbers[i] = class_before(before, rp_spec_class_at(spec, i)->name);
		if (numbers[i] < RP_CLASSES_MAX)
			used[numbers[i]] = true;
	}
	for (unsigned int i = 0; i < spec->classes.count; i++)
		if (numbers[i] == RP_CLASSES_MAX)
			numbers[i] = take_free(used);
}

static void compile_class(const struct rp_spec_class *from, struct rp_class *to)
{
	put_text(to->name, sizeof(to->name), from->name);
	if (rp_given(from, RP_KEY_CLASS_DSCP))
		to->flags |= RP_CLASS_DSCP;
	if (rp_given(from, RP_KEY_CLASS_PCP))
		to->flags |= RP_CLASS_PCP;
	if (rp_given(from, RP_KEY_CLASS_PRIORITY))
		to->flags |= RP_CLASS_PRIORITY;
	if (from->ecn)
		to->flags |= RP_CLASS_ECN;
	if (from->dcqcn)
		to->flags |= RP_CLASS_DCQCN;
	to->dscp = from->dscp;
	to->ack_dscp = from->ack_dscp;
	to->cnp_dscp = from->cnp_dscp;
	to->management_dscp = from->management_dscp;
	to->pcp = from->pcp;
	to->priority = from->priority;
	to->class_rate.rate_bytes_per_s = from->rate;
	to->class_rate.burst_bytes = from->burst;
	to->qp_rate.rate_bytes_per_s = from->qp_rate;
	to->qp_rate.burst_bytes = from->qp_burst;
}

static uint32_t compile_classes(const struct rp_spec *spec, const struct rp_policy *before,
				struct rp_policy *policy, uint32_t *numbers)
{
	number_classes(spec, before, numbers);
	for (unsigned int i = 0; i < spec->classes.count; i++) {
		const struct rp_spec_class *class = rp_spec_class_at(spec, i);

		compile_class(class, &policy->class[numbers[i]]);
		policy->class_count = max(policy->class_count, numbers[i] + 1);
		if (class->dcqcn)
			policy->flags |= RP_POLICY_NOTIFY;
	}
	return numbers[rp_spec_class_index(spec, spec->default_class)];
}

static void compile_match(const struct rp_spec_match *from, struct rp_rule *to)
{
	static const struct {
		unsigned int key;
		uint32_t match;
	} conditions[] = {
		{ RP_KEY_MATCH_CGROUP, RP_MATCH_CGROUP },
		{ RP_KEY_MATCH_UNIT, RP_MATCH_CGROUP },
		{ RP_KEY_MATCH_COMM, RP_MATCH_COMM },
		{ RP_KEY_MATCH_UID, RP_MATCH_UID },
		{ RP_KEY_MATCH_REMOTE, RP_MATCH_REMOTE },
		{ RP_KEY_MATCH_DEVICE, RP_MATCH_DEVICE },
		{ RP_KEY_MATCH_QP_TYPE, RP_MATCH_QP_TYPE },
		{ RP_KEY_MATCH_OPCODE, RP_MATCH_GROUP },
		{ RP_KEY_MATCH_MESSAGE_MIN, RP_MATCH_SIZE },
		{ RP_KEY_MATCH_MESSAGE_MAX, RP_MATCH_SIZE },
		{ RP_KEY_MATCH_DSCP, RP_MATCH_DSCP },
		{ RP_KEY_MATCH_PATTERN, RP_MATCH_PATTERN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(conditions); i++)
		if (rp_given(from, conditions[i].key))
			to->match |= conditions[i].match;
	put_text(to->cgroup, sizeof(to->cgroup), from->cgroup);
	put_text(to->comm, sizeof(to->comm), from->comm);
	put_text(to->device, sizeof(to->device), from->device);
	to->uid_min = from->uid;
	to->uid_max = from->uid;
	memcpy(&to->remote, from->remote.address, sizeof(to->remote));
	to->remote_bits = from->remote.length;
	to->qp_types = from->qp_types;
	to->groups = from->opcodes;
	to->patterns = from->patterns;
	to->size_min_bytes = from->message_min;
	to->size_max_bytes = rp_given(from, RP_KEY_MATCH_MESSAGE_MAX) ? from->message_max : ~0ull;
	if (rp_given(from, RP_KEY_MATCH_DSCP))
		to->dscps = 1ull << from->dscp;
}

/* processes are in the unit's cgroup, or in one below it */
static void compile_rule(const struct rp_spec_rule *from, uint32_t number, uint32_t class,
			 struct rp_policy *policy)
{
	struct rp_rule *rule = &policy->rule[policy->rule_count++];

	put_text(rule->name, sizeof(rule->name), from->name);
	rule->number = number;
	rule->class = class;
	compile_match(&from->match, rule);
	if (!from->match.unit)
		return;
	policy->rule[policy->rule_count] = *rule;
	snprintf(rule->cgroup, sizeof(rule->cgroup), "*/%s", from->match.unit);
	rule = &policy->rule[policy->rule_count++];
	snprintf(rule->cgroup, sizeof(rule->cgroup), "*/%s/*", from->match.unit);
}

static void compile_rules(const struct rp_spec *spec, const struct rp_policy *before,
			  struct rp_policy *policy, const uint32_t *classes)
{
	uint32_t numbers[RP_SPEC_RULES_MAX];
	bool used[RP_RULES_MAX] = { false };

	for (unsigned int i = 0; i < spec->rules.count; i++) {
		numbers[i] = rule_before(before, rp_spec_rule_at(spec, i)->name);
		if (numbers[i] < RP_RULES_MAX)
			used[numbers[i]] = true;
	}
	for (unsigned int i = 0; i < spec->rules.count; i++) {
		const struct rp_spec_rule *rule = rp_spec_rule_at(spec, i);

		if (numbers[i] == RP_RULES_MAX)
			numbers[i] = take_free(used);
		compile_rule(rule, numbers[i], classes[rp_spec_class_index(spec, rule->class)],
			     policy);
	}
}

static void compile_dcqcn(const struct rp_spec_dcqcn *from, uint64_t line_rate,
			  struct rp_dcqcn_params *to)
{
	*to = (struct rp_dcqcn_params){
		.rpg_time_reset_us = from->rpg_time_reset,
		.rpg_byte_reset_bytes = from->rpg_byte_reset,
		.rpg_threshold = from->rpg_threshold,
		.rpg_gd = from->rpg_gd,
		.rpg_ai_rate_bytes_per_s = from->rpg_ai_rate,
		.rpg_hai_rate_bytes_per_s = from->rpg_hai_rate,
		.rpg_min_dec_fac_pct = from->rpg_min_dec_fac,
		.rpg_min_rate_bytes_per_s = from->rpg_min_rate,
		.rpg_max_rate_bytes_per_s = from->rpg_max_rate,
		.line_rate_bytes_per_s = line_rate,
		.dce_tcp_g = from->dce_tcp_g,
		.dce_tcp_rtt_us = from->dce_tcp_rtt,
		.initial_alpha_value = from->initial_alpha_value,
		.rate_reduce_monitor_period_us = from->rate_reduce_monitor_period,
		.rate_to_set_on_first_cnp_bytes_per_s = from->rate_to_set_on_first_cnp,
		.clamp_tgt_rate = from->clamp_tgt_rate,
		.clamp_tgt_rate_after_time_inc = from->clamp_tgt_rate_after_time_inc,
		.min_time_between_cnps_us = from->min_time_between_cnps,
		.cnp_dscp = from->cnp_dscp,
		.cnp_802p_prio = from->cnp_802p_prio,
	};
}

static void compile_admit(const struct rp_spec_admit *from, struct rp_policy *to)
{
	to->malformed = from->malformed == RP_VERDICT_DROP ? RP_ACTION_DROP : RP_ACTION_PASS;
	to->unknown_peer = from->unknown_peer == RP_VERDICT_DROP ? RP_ACTION_DROP : RP_ACTION_PASS;
	to->unknown_sender = from->local_sender == RP_VERDICT_DROP ? RP_ACTION_DROP :
			     RP_ACTION_PASS;
	if (from->peers.count)
		to->flags |= RP_POLICY_PEERS;
	/* to let pass and to count is one thing, not to look the other */
	if (!rp_given(from, RP_KEY_ADMIT_UNKNOWN_QP))
		return;
	to->flags |= RP_POLICY_QPS;
	to->unknown_qp = from->unknown_qp == RP_VERDICT_DROP ? RP_ACTION_DROP : RP_ACTION_PASS;
}

/**
 * rp_compile() - make the policy that packets are judged by
 * @spec: one that is right, and filled by rp_spec_fill()
 * @before: the policy in force, or NULL
 * @line_rate: of the ports, bytes per second
 * @policy: where it goes, all but its generation
 */
void rp_compile(const struct rp_spec *spec, const struct rp_policy *before, uint64_t line_rate,
		struct rp_policy *policy)
{
	uint32_t classes[RP_CLASSES_MAX];

	memset(policy, 0, sizeof(*policy));
	policy->default_class = compile_classes(spec, before, policy, classes);
	compile_rules(spec, before, policy, classes);
	compile_admit(&spec->admit, policy);
	compile_dcqcn(&spec->dcqcn, line_rate, &policy->dcqcn);
	policy->mark_mask = spec->mark_mask;
	policy->total_rate.rate_bytes_per_s = spec->pacing.rate;
	policy->total_rate.burst_bytes = spec->pacing.burst;
	policy->horizon_ns = spec->pacing.horizon * 1000000;
	policy->pattern_window_ns = spec->patterns.window * 1000;
	if (spec->patterns.watch)
		policy->flags |= RP_POLICY_PATTERNS;
	rp_policy_derive(policy);
}
