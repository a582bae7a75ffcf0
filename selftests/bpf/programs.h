/* SPDX-License-Identifier: GPL-2.0 */
/* The programs, loaded, with a policy, and run on packets by the kernel. */
#ifndef ROCEPATH_SELFTESTS_PROGRAMS_H
#define ROCEPATH_SELFTESTS_PROGRAMS_H

#include <linux/bpf.h>
#include <rocepath/policy_derive.h>

#include "rocepath.skel.h"

#define FRAME_MAX 9216

/**
 * programs_load() - load all but the census
 * @trust_senders: packets without a socket count as the RDMA stack's
 *
 * Where BPF is not permitted the test program ends here, skipped.
 */
struct rocepath_bpf *programs_load(bool trust_senders);

/** programs_skip() - say why nothing is tested here, and end with 4 */
void programs_skip(const char *why, int err);

/** policy_new() - one class, "default", no rules, everything passes */
void policy_new(struct rp_policy *p);

/** policy_class() - add one. Return: it, named. */
struct rp_class *policy_class(struct rp_policy *p, const char *name);

/** policy_rule() - add one for the class added last. Return: it, named. */
struct rp_rule *policy_rule(struct rp_policy *p, const char *name);

/** policy_set() - derive, and switch over to it as the tool does. */
void policy_set(struct rocepath_bpf *skel, struct rp_policy *p);

/** policy_maximal() - as many classes, rules and conditions as there can be */
void policy_maximal(struct rp_policy *p);

/** address4() - an IPv4 address, mapped */
struct rp_address address4(u32 address);

/** qp_connect() - a QP as the census enters it; local QPN, peer and its QPN */
void qp_connect(struct rocepath_bpf *skel, u32 qpn, struct rp_address peer, u32 remote_qpn,
		const struct rp_qp *facts);

/**
 * struct run - one run of a program on a frame
 * @skb: for tc: in and out
 * @out: the frame after it
 * @len: its length
 * @verdict: what the program returned
 */
struct run {
	struct __sk_buff skb;
	u8 out[FRAME_MAX];
	u32 len;
	int verdict;
};

/**
 * run_tc() - a tc program on a frame, skb's mark, priority and tstamp as in @run
 *
 * Return: 0 or a negative errno.
 */
int run_tc(const struct bpf_program *prog, const u8 *frame, u32 len, struct run *run);

/** run_xdp() - an XDP program on a frame, @linear bytes of it linear, 0: as the kernel likes */
int run_xdp(const struct bpf_program *prog, const u8 *frame, u32 len, u32 linear);

/** event_count() - of all CPUs */
u64 event_count(struct rocepath_bpf *skel, enum rp_event event);

/** counter_sum() - of all CPUs */
struct rp_counter counter_sum(struct bpf_map *map, u32 index);

#endif /* ROCEPATH_SELFTESTS_PROGRAMS_H */
