/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The maps, weak so that each program file may name them all. What is in them, and
 * who looks up what by what: include/rocepath/policy.h.
 */
#ifndef ROCEPATH_BPF_MAPS_H
#define ROCEPATH_BPF_MAPS_H

#include <linux/bpf.h>
#include <rocepath/policy.h>

struct rp_policy_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rp_policy);
};

/* makes clang describe the struct, which it does not for what only an inner map names */
const struct rp_policy *const rp_policy_type __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct rp_policy_map);
} policy __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, RP_PEERS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct rp_peer4_key);
	__type(value, struct rp_peer);
} peers4 __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, RP_PEERS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct rp_peer6_key);
	__type(value, struct rp_peer);
} peers6 __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RP_PEER_CACHE);
	__type(key, u32);
	__type(value, struct rp_peer_cached);
} peer_cache __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RP_QPS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct rp_qp_key);
	__type(value, struct rp_qp);
} qps __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RP_QPS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct rp_wire_qp);
	__type(value, struct rp_qp_tx);
} qp_tx __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RP_QPS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct rp_wire_qp);
	__type(value, struct rp_qp_rx);
} qp_rx __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RP_JOBS_MAX);
	__uint(map_flags, BPF_F_MMAPABLE);	/* the tool takes QPs out of them, too */
	__type(key, u32);
	__type(value, struct rp_job);
} jobs __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RP_JOBS_MAX);
	__type(key, u64);
	__type(value, u32);
} job_index __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RP_CLASSES_MAX + 1);
	__type(key, u32);
	__type(value, struct rp_pacer);
} pacers __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RP_CLASSES_MAX);
	__type(key, u32);
	__type(value, struct rp_counter);
} class_counters __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RP_RULES_MAX);
	__type(key, u32);
	__type(value, struct rp_counter);
} rule_counters __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rp_events);
} events __weak SEC(".maps");

/* Only the tool's: */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct rp_document);
} documents __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u32);
	__type(value, struct rp_port_state);
} ports __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rp_layout);
} layout __weak SEC(".maps");

static __always_inline const struct rp_policy *rp_policy_now(void)
{
	u32 zero = 0;
	void *now = bpf_map_lookup_elem(&policy, &zero);

	return now ? bpf_map_lookup_elem(now, &zero) : NULL;
}

static __always_inline void rp_event(u32 event)
{
	u32 zero = 0;
	u64 *count = bpf_map_lookup_elem(&events, &zero);

	/* clang knows what functions return, and leaves the check out that the verifier wants */
	if (!__builtin_constant_p(event))
		barrier_var(event);
	if (count && event < RP_EVENTS)
		count[event]++;
}

#endif /* ROCEPATH_BPF_MAPS_H */
