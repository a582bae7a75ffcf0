/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From rules and classes as they are written to what a packet looks up: masks with
 * one bit for each rule, and rates as nanoseconds. The last step before a policy goes
 * into its map.
 */
#ifndef ROCEPATH_POLICY_DERIVE_H
#define ROCEPATH_POLICY_DERIVE_H

#include "policy.h"

#define RP_NSEC_PER_SEC 1000000000ull
/* a pause shorter than that is no reason to be slow afterwards: what a timer may be late */
#define RP_BURST_NS_MIN 1000000ull

static inline void rp_derive_rate(struct rp_rate *r)
{
	unsigned __int128 burst;

	r->ns_per_byte_q20 = 0;
	r->burst_ns = 0;
	if (!r->rate_bytes_per_s)
		return;
	/* never 0: that means unlimited */
	r->ns_per_byte_q20 = max((RP_NSEC_PER_SEC << 20) / r->rate_bytes_per_s, 1ull);
	burst = (unsigned __int128)r->burst_bytes * RP_NSEC_PER_SEC / r->rate_bytes_per_s;
	r->burst_ns = r->burst_bytes ? (u64)min(burst, (unsigned __int128)RP_NSEC_PER_SEC) :
				       RP_BURST_NS_MIN;
}

/* keeps the bounds sorted, and each one once */
static inline int rp_derive_bound(struct rp_policy *p, u64 bound)
{
	u32 i, at = 0;

	while (at < p->size_bounds && p->size_bound_bytes[at] < bound)
		at++;
	if (!bound || (at < p->size_bounds && p->size_bound_bytes[at] == bound))
		return 0;
	if (p->size_bounds == RP_SIZE_BOUNDS_MAX)
		return -1;
	for (i = p->size_bounds++; i > at; i--)
		p->size_bound_bytes[i] = p->size_bound_bytes[i - 1];
	p->size_bound_bytes[at] = bound;
	return 0;
}

static inline int rp_derive_bounds(struct rp_policy *p)
{
	int err = 0;
	u32 i;

	p->size_bounds = 0;
	memset(p->size_bound_bytes, 0, sizeof(p->size_bound_bytes));
	for (i = 0; i < p->rule_count; i++) {
		const struct rp_rule *r = &p->rule[i];

		if (!(r->match & RP_MATCH_SIZE))
			continue;
		p->flags |= RP_POLICY_SIZES;
		err |= rp_derive_bound(p, r->size_min_bytes);
		if (r->size_max_bytes != ~0ull)
			err |= rp_derive_bound(p, r->size_max_bytes + 1);
	}
	return err;
}

static inline void rp_derive_bit(struct rp_rule_mask *mask, u32 n)
{
	mask->word[n / 64] |= 1ull << n % 64;
}

static inline void rp_derive_rule(struct rp_policy *p, u32 n)
{
	const struct rp_rule *r = &p->rule[n];
	u64 least;
	u32 i;

	p->rule_class[n] = r->class;
	p->rule_number[n] = r->number;
	if (!(r->match & RP_MATCH_OF_QP))
		rp_derive_bit(&p->rules_of_any_qp, n);
	for (i = 0; i < RP_GROUPS; i++)
		if (!(r->match & RP_MATCH_GROUP) || r->groups >> i & 1)
			rp_derive_bit(&p->rules_by_group[i], n);
	for (i = 0; i < ARRAY_SIZE(p->rules_by_dscp); i++)
		if (!(r->match & RP_MATCH_DSCP) || r->dscps >> i & 1)
			rp_derive_bit(&p->rules_by_dscp[i], n);
	for (i = 0; i < RP_PATTERNS; i++)
		if (!(r->match & RP_MATCH_PATTERN) || r->patterns >> i & 1)
			rp_derive_bit(&p->rules_by_pattern[i], n);
	for (i = 0; i <= p->size_bounds; i++) {
		least = i ? p->size_bound_bytes[i - 1] : 0;
		if (!(r->match & RP_MATCH_SIZE) ||
		    (least >= r->size_min_bytes && least <= r->size_max_bytes))
			rp_derive_bit(&p->rules_by_size[i], n);
	}
	if (r->match & RP_MATCH_PATTERN)
		p->flags |= RP_POLICY_BY_PATTERN | RP_POLICY_PATTERNS;
}

/**
 * rp_policy_derive() - fill in all that follows from the rest
 * @p: a policy whose other fields are set
 *
 * Return: 0, or -1 when the rules have more than RP_SIZE_BOUNDS_MAX different bounds of sizes.
 */
static inline int rp_policy_derive(struct rp_policy *p)
{
	int err;
	u32 i;

	p->version = RP_POLICY_VERSION;
	p->flags &= ~(RP_POLICY_SIZES | RP_POLICY_BY_PATTERN);
	p->mark_shift = p->mark_mask ? (u32)__builtin_ctz(p->mark_mask) : 0;
	memset(&p->rules_of_any_qp, 0, sizeof(p->rules_of_any_qp));
	memset(p->rules_by_group, 0, sizeof(p->rules_by_group));
	memset(p->rules_by_dscp, 0, sizeof(p->rules_by_dscp));
	memset(p->rules_by_pattern, 0, sizeof(p->rules_by_pattern));
	memset(p->rules_by_size, 0, sizeof(p->rules_by_size));
	rp_derive_rate(&p->total_rate);
	for (i = 0; i < p->class_count; i++) {
		rp_derive_rate(&p->class[i].class_rate);
		rp_derive_rate(&p->class[i].qp_rate);
	}
	err = rp_derive_bounds(p);
	for (i = 0; i < p->rule_count; i++)
		rp_derive_rule(p, i);
	return err;
}

#endif /* ROCEPATH_POLICY_DERIVE_H */
