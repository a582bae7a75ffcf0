/* SPDX-License-Identifier: GPL-2.0 */
/* From packets to messages of jobs; what is made of them: patterns.h. */
#ifndef ROCEPATH_BPF_JOB_H
#define ROCEPATH_BPF_JOB_H

#include "maps.h"
#include "parse.h"
#include "patterns.h"

/* what a message was, for its job; without holes, see struct rp_packet */
struct rp_message {
	u32 job;
	u32 peer;
	u32 sent;
	u32 pad;
	u64 bytes;
	u64 began_ns;
	u64 window_ns;
};

__weak __noinline int rp_job_message(const struct rp_message *m)
{
	u64 now = bpf_ktime_get_ns();
	struct rp_job *job;
	u32 index;

	if (!m)
		return 0;
	index = m->job;
	job = bpf_map_lookup_elem(&jobs, &index);
	if (!job)
		return 0;
	if (rp_job_window_over(job, m->window_ns, now))
		rp_job_close(job);
	rp_job_count(job, m->peer, m->sent, m->bytes, m->window_ns, m->began_ns ?: now, now);
	return 0;
}

/*
 * A packet with data came or went. @bytes and @began_ns are its QP's, of the running
 * message; @m says whose it is, job RP_JOBS_MAX: nobody's.
 */
static __always_inline void rp_job_packet(u64 *bytes, u64 *began_ns, struct rp_message *m,
					  u8 opcode, u32 payload)
{
	bool begins = rp_begins_message(opcode), ends = rp_ends_message(opcode);

	m->bytes = begins ? payload : *bytes + payload;
	*bytes = ends ? 0 : m->bytes;
	if (m->job >= RP_JOBS_MAX)
		return;
	if (begins)
		*began_ns = ends ? 0 : bpf_ktime_get_ns();
	m->began_ns = *began_ns;
	if (ends && m->bytes)
		rp_job_message(m);
}

#endif /* ROCEPATH_BPF_JOB_H */
