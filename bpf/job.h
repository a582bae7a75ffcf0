/* SPDX-License-Identifier: GPL-2.0 */
/* From packets to messages of jobs; what is made of them: patterns.h. */
#ifndef ROCEPATH_BPF_JOB_H
#define ROCEPATH_BPF_JOB_H

#include "maps.h"
#include "parse.h"
#include "patterns.h"

__weak __noinline int rp_job_message(u32 index, u32 peer, u32 sent, u64 bytes, u64 window_ns)
{
	struct rp_job *job = bpf_map_lookup_elem(&jobs, &index);

	if (!job)
		return 0;
	if (rp_job_window_over(job, window_ns, bpf_ktime_get_ns()))
		rp_job_close(job);
	rp_job_count(job, peer, sent, bytes);
	return 0;
}

/* @message: bytes of the running message of the QP; a packet of it came or went */
static __always_inline void rp_job_packet(u64 *message, u32 index, u32 peer, bool sent, u8 opcode,
					  u32 payload, u64 window_ns)
{
	u64 bytes = rp_begins_message(opcode) ? payload : *message + payload;

	if (!rp_ends_message(opcode)) {
		*message = bytes;
		return;
	}
	*message = 0;
	if (index < RP_JOBS_MAX && bytes)
		rp_job_message(index, peer, sent, bytes, window_ns);
}

#endif /* ROCEPATH_BPF_JOB_H */
