/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules. What one says about QPs is resolved once for each QP and policy, to a mask
 * with one bit for each rule; what it says about packets is in masks of the policy. A
 * packet's rules are the masks' intersection, and the lowest bit is the first match. It
 * is looked for word by word, so that only rules which stand late cost more.
 * Shared by bpf/, which judges packets, and kmod/rdma/, which judges QPs when they connect.
 */
#ifndef ROCEPATH_RULES_H
#define ROCEPATH_RULES_H

#include <rocepath/loop.h>
#include <rocepath/policy.h>

/*
 * A glob being matched; a `*` that does not lead on is tried with one character more.
 * No position is 8-byte aligned: what the verifier keeps exact values of it tries one
 * by one, for all positions in two texts. Of others it knows no more than it has to.
 */
struct rp_glob {
	const char *pattern;
	const char *text;
	u16 starred;
	u16 pattern_at;
	u16 text_at;
	u16 star_at;		/* behind the last `*` */
	u16 matched;
	u16 retry_at;
	u32 unused;
};

/* One step; true when it is decided. The lengths are those of the arrays, powers of 2 or not. */
rp_inline bool rp_glob_step(struct rp_glob *g, u32 pattern_len, u32 text_len)
{
	u32 p = g->pattern_at, t = g->text_at;
	char want = 0, have = 0;

	if (p < pattern_len)
		want = g->pattern[p];
	if (t < text_len)
		have = g->text[t];
	if (want == '*') {
		g->starred = true;
		g->star_at = p + 1;
		g->retry_at = t;
		g->pattern_at = p + 1;
		return false;
	}
	if (!have && !want) {
		g->matched = true;
		return true;
	}
	if (have && (want == have || want == '?')) {
		g->pattern_at = p + 1;
		g->text_at = t + 1;
		return false;
	}
	if (!g->starred || g->retry_at >= text_len || !have)
		return true;
	g->retry_at++;
	g->text_at = g->retry_at;
	g->pattern_at = g->star_at;
	return false;
}

/* Enough for what operators write; a glob with many stars that takes longer does not match. */
#define RP_GLOB_STEPS 4096

#define RP_GLOB_FUNCTIONS(name, pattern_len, text_len) \
static long rp_glob_##name##_step(u32 i, void *state) \
{ \
	return rp_glob_step(state, pattern_len, text_len); \
} \
rp_inline bool rp_glob_##name(const char *pattern, const char *text) \
{ \
	struct rp_glob g = { .pattern = pattern, .text = text }; \
\
	rp_loop(RP_GLOB_STEPS, rp_glob_##name##_step, &g); \
	return g.matched; \
}

RP_GLOB_FUNCTIONS(cgroup, RP_GLOB_LEN, RP_CGROUP_LEN)
RP_GLOB_FUNCTIONS(comm, RP_COMM_LEN, RP_COMM_LEN)
RP_GLOB_FUNCTIONS(device, RP_DEVICE_LEN, RP_DEVICE_LEN)

rp_inline bool rp_in_prefix(const struct rp_address *a, const struct rp_address *prefix, u32 bits)
{
	u32 i, rest;

	for (i = 0; i < sizeof(a->bytes); i++) {
		rest = bits > i * 8 ? min(bits - i * 8, 8u) : 0;
		if (((a->bytes[i] ^ prefix->bytes[i]) & (u8)(0xff00 >> rest)) != 0)
			return false;
	}
	return true;
}

/**
 * rp_rule_of_qp() - does a QP fulfil what a rule says about QPs?
 * @r: the rule
 * @qp: the QP
 */
rp_inline bool rp_rule_of_qp(const struct rp_rule *r, const struct rp_qp *qp)
{
	if ((r->match & RP_MATCH_UID) && (qp->uid < r->uid_min || qp->uid > r->uid_max))
		return false;
	if ((r->match & RP_MATCH_QP_TYPE) &&
	    (qp->type > RP_QP_XRC_TGT || !(r->qp_types >> qp->type & 1)))
		return false;
	if ((r->match & RP_MATCH_REMOTE) && !rp_in_prefix(&qp->remote, &r->remote, r->remote_bits))
		return false;
	if ((r->match & RP_MATCH_COMM) && !rp_glob_comm(r->comm, qp->comm))
		return false;
	if ((r->match & RP_MATCH_DEVICE) && !rp_glob_device(r->device, qp->device))
		return false;
	return !(r->match & RP_MATCH_CGROUP) || rp_glob_cgroup(r->cgroup, qp->cgroup);
}

struct rp_resolving {
	const struct rp_policy *policy;
	const struct rp_qp *qp;
	u64 rules;
	u32 first;
	u32 pad;
};

static long rp_resolve_step(u32 i, void *state)
{
	struct rp_resolving *s = state;
	u32 n = s->first + i;

	if (n >= RP_RULES_MAX || n >= s->policy->rule_count)
		return 1;
	if (rp_rule_of_qp(&s->policy->rule[n], s->qp))
		s->rules |= 1ull << (i & 63);
	return 0;
}

/**
 * rp_resolve() - one word of the rules whose part about QPs a QP fulfils
 * @policy: the policy
 * @qp: the QP
 * @word: of struct rp_rule_mask
 */
rp_inline u64 rp_resolve(const struct rp_policy *policy, const struct rp_qp *qp, u32 word)
{
	struct rp_resolving s = { .policy = policy, .qp = qp, .first = word * 64 };

	rp_loop(64, rp_resolve_step, &s);
	return s.rules;
}

/* the number of bounds of sizes that are not above @size */
rp_inline u32 rp_size_class(const struct rp_policy *policy, u64 size)
{
	u32 i, n = 0;

	for (i = 0; i < RP_SIZE_BOUNDS_MAX; i++)
		if (i < policy->size_bounds && size >= policy->size_bound_bytes[i])
			n = i + 1;
	return n & 15;
}

#define RP_NO_RULE RP_RULES_MAX

/**
 * rp_first_rule() - the lowest bit
 * @rules: one word of those that match, not 0
 * @word: which
 */
rp_inline u32 rp_first_rule(u64 rules, u32 word)
{
	/* BPF cannot count zeros: a de Bruijn sequence has each number of 6 bits once */
	static const u8 at[64] = {
		0,  1,	2,  53, 3,  7,	54, 27, 4,  38, 41, 8,	34, 55, 48, 28,
		62, 5,	39, 46, 44, 42, 22, 9,	24, 35, 59, 56, 49, 18, 29, 11,
		63, 52, 6,  26, 37, 40, 33, 47, 61, 45, 43, 21, 23, 58, 17, 10,
		51, 25, 36, 32, 60, 20, 57, 16, 50, 31, 19, 15, 30, 14, 13, 12,
	};

	return word * 64 + at[((rules & -rules) * 0x022fdd63cc95386dull) >> 58];
}

#endif /* ROCEPATH_RULES_H */
