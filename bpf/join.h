/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which job a QP is in, and which of its hosts the QP's peer is: the census says so of
 * QPs that are made, egress of those that were there before, with their first packet.
 */
#ifndef ROCEPATH_BPF_JOIN_H
#define ROCEPATH_BPF_JOIN_H

#include "maps.h"

struct rp_job_search {
	u64 cgroup_id;
	u32 index;
};

static long rp_job_free_step(u32 i, void *state)
{
	struct rp_job_search *s = state;
	struct rp_job *job = bpf_map_lookup_elem(&jobs, &i);

	if (!job || __sync_val_compare_and_swap(&job->qps, 0, 1))
		return 0;
	s->index = i;
	return 1;
}

static long rp_job_clear_step(u32 i, void *state)
{
	struct rp_job *job = *(struct rp_job **)state;

	if (i >= RP_JOB_PEERS_MAX)
		return 1;
	__builtin_memset(&job->peer[i], 0, sizeof(job->peer[i]));
	return 0;
}

/* The place was another cgroup's: nothing that was seen of that is this one's. */
static __always_inline void rp_job_begin(struct rp_job *job, u64 cgroup_id)
{
	u64 before = job->cgroup_id;

	bpf_map_delete_elem(&job_index, &before);
	job->cgroup_id = cgroup_id;
	__builtin_memset(&job->peer_count, 0,
			 __builtin_offsetof(struct rp_job, peer) -
			 __builtin_offsetof(struct rp_job, peer_count));
}

/* The place of a job that nobody uses any more is anybody's. Return: index, RP_JOBS_MAX: none. */
static __always_inline u32 rp_job_join(u64 cgroup_id)
{
	struct rp_job_search s = { cgroup_id, RP_JOBS_MAX };
	u32 *index = bpf_map_lookup_elem(&job_index, &cgroup_id), i;
	struct rp_job *job;

	if (index) {
		i = *index;
		job = bpf_map_lookup_elem(&jobs, &i);
		if (job) {
			__sync_fetch_and_add(&job->qps, 1);
			if (job->cgroup_id == cgroup_id)
				return i;
			__sync_fetch_and_sub(&job->qps, 1);
		}
	}
	bpf_loop(RP_JOBS_MAX, rp_job_free_step, &s, 0);
	job = bpf_map_lookup_elem(&jobs, &s.index);
	if (!job) {
		rp_event(RP_EVENT_job_table_full);
		return RP_JOBS_MAX;
	}
	if (job->cgroup_id != cgroup_id)
		rp_job_begin(job, cgroup_id);
	job->peer_count = 0;
	bpf_loop(RP_JOB_PEERS_MAX, rp_job_clear_step, &job, 0);
	bpf_map_update_elem(&job_index, &cgroup_id, &s.index, BPF_ANY);
	return s.index;
}

static __always_inline void rp_job_leave(u32 index)
{
	struct rp_job *job = bpf_map_lookup_elem(&jobs, &index);

	if (job)
		__sync_fetch_and_sub(&job->qps, 1);
}

struct rp_job_host {
	struct rp_job *job;
	const struct rp_address *address;
	u32 index;
};

static long rp_job_host_step(u32 i, void *state)
{
	struct rp_job_host *s = state;
	const u64 *want = (const u64 *)s->address, *have;

	if (i >= RP_JOB_PEERS_MAX || i >= s->job->peer_count)
		return 1;
	have = (const u64 *)&s->job->peer[i].address;
	if (have[0] != want[0] || have[1] != want[1])
		return 0;
	s->index = i;
	return 1;
}

/* Return: the index of a host in a job; RP_JOB_PEERS_MAX: no place. */
static __always_inline u32 rp_job_host(u32 index, const struct rp_address *address)
{
	struct rp_job_host s = { .address = address, .index = RP_JOB_PEERS_MAX };
	struct rp_job_peer *peer;
	u32 i;

	s.job = bpf_map_lookup_elem(&jobs, &index);
	if (!s.job)
		return RP_JOB_PEERS_MAX;
	bpf_loop(RP_JOB_PEERS_MAX, rp_job_host_step, &s, 0);
	if (s.index < RP_JOB_PEERS_MAX)
		return s.index;
	i = __sync_fetch_and_add(&s.job->peer_count, 1);
	if (i >= RP_JOB_PEERS_MAX) {
		s.job->peer_count = RP_JOB_PEERS_MAX;
		rp_event(RP_EVENT_job_peers_full);
		return RP_JOB_PEERS_MAX;
	}
	peer = &s.job->peer[i];
	__builtin_memset(peer, 0, sizeof(*peer));
	peer->address = *address;
	return i;
}

#endif /* ROCEPATH_BPF_JOIN_H */
