/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a job's traffic looks like from this host; docs/patterns.md tells how each label
 * is decided.
 *
 * Messages are counted when they end, by the host that they are to or from. The first
 * message behind the end of a window closes it: what each host sent and got in it is
 * summed up (rp_job_close), labelled (rp_pattern_of), and a label that stays the same
 * for RP_PATTERN_WINDOWS windows becomes the job's.
 */
#ifndef ROCEPATH_BPF_PATTERNS_H
#define ROCEPATH_BPF_PATTERNS_H

#include <rocepath/policy.h>

#include "loop.h"

/* as many windows in a row as another label must be seen in */
#define RP_PATTERN_WINDOWS 3
/* so many hosts on both sides are more than trees and doubling have for 64 hosts */
#define RP_PATTERN_MANY 7

/**
 * rp_pattern_of() - the label of one window
 * @w: what was seen in it
 */
rp_inline enum rp_pattern rp_pattern_of(const struct rp_job_window *w)
{
	if (!w->tx_messages && !w->rx_messages)
		return RP_PATTERN_IDLE;
	/* hosts that it only sends to, that it only hears from */
	if (w->tx_peers >= 2 && !w->rx_peers)
		return RP_PATTERN_BROADCAST;
	if (w->rx_peers >= 2 && !w->tx_peers)
		return RP_PATTERN_INCAST;
	/* many, and little back */
	if (w->rx_peers >= 2 && w->rx_bytes / 8 > w->tx_bytes)
		return RP_PATTERN_INCAST;
	if (w->tx_peers >= 2 && w->tx_bytes / 8 > w->rx_bytes)
		return RP_PATTERN_BROADCAST;
	if (w->both_peers >= RP_PATTERN_MANY)
		return RP_PATTERN_ALL_TO_ALL;
	/* one to send to, another one to hear from */
	if (w->tx_peers == 1 && w->rx_peers == 1 && !w->both_peers)
		return RP_PATTERN_RING;
	if (w->tx_peers <= 1 && w->rx_peers <= 1)
		return RP_PATTERN_POINT_TO_POINT;
	return RP_PATTERN_TREE;
}

/* One host of the job; amounts are like when the smaller is at least a quarter. */
static long rp_job_close_step(u32 i, void *state)
{
	struct rp_job *job = *(struct rp_job **)state;
	struct rp_job_window *w = &job->last;
	struct rp_job_peer *peer;
	u64 tx, rx;

	if (i >= RP_JOB_PEERS_MAX)
		return 1;
	peer = &job->peer[i];
	tx = READ_ONCE(peer->tx_bytes) - peer->tx_bytes_seen;
	rx = READ_ONCE(peer->rx_bytes) - peer->rx_bytes_seen;
	peer->tx_bytes_seen += tx;
	peer->rx_bytes_seen += rx;
	/* next to nothing in one direction is about the other: credits, acknowledges of software */
	if (tx && tx >= rx / 64) {
		w->tx_peers++;
		w->tx_bytes += tx;
	}
	if (rx && rx >= tx / 64) {
		w->rx_peers++;
		w->rx_bytes += rx;
	}
	if (tx && rx && tx / 4 <= rx && rx / 4 <= tx)
		w->both_peers++;
	return 0;
}

/* hysteresis: the label of one window is not yet the job's */
rp_inline void rp_job_label(struct rp_job *job, enum rp_pattern seen)
{
	if (seen == job->pattern) {
		job->candidate_windows = 0;
	} else if (seen != job->candidate || !job->candidate_windows) {
		job->candidate = seen;
		job->candidate_windows = 1;
	} else if (++job->candidate_windows >= RP_PATTERN_WINDOWS) {
		job->pattern = seen;
		job->candidate_windows = 0;
	}
	/* the first one need not wait */
	if (job->pattern == RP_PATTERN_UNKNOWN)
		job->pattern = seen;
}

/**
 * rp_job_close() - the running window is over
 * @job: the job; whoever calls has won the window
 */
rp_inline void rp_job_close(struct rp_job *job)
{
	u64 tx = READ_ONCE(job->tx_messages), rx = READ_ONCE(job->rx_messages);
	u64 bursts = READ_ONCE(job->tx_bursts), echoes = READ_ONCE(job->echoes);
	struct rp_job_window *w = &job->last;
	struct rp_job *state = job;

	__builtin_memset(w, 0, sizeof(*w));
	rp_loop(RP_JOB_PEERS_MAX, rp_job_close_step, &state);
	w->tx_messages = tx - job->tx_messages_seen;
	w->rx_messages = rx - job->rx_messages_seen;
	w->tx_bursts = bursts - job->tx_bursts_seen;
	w->echoes = echoes - job->echoes_seen;
	job->tx_messages_seen = tx;
	job->rx_messages_seen = rx;
	job->tx_bursts_seen = bursts;
	job->echoes_seen = echoes;
	job->windows++;
	rp_job_label(job, rp_pattern_of(w));
}

/* Does @now lie behind the running window? Who gets true closes it. */
rp_inline bool rp_job_window_over(struct rp_job *job, u64 window_ns, u64 now)
{
	u64 start = READ_ONCE(job->window_start_ns);

	return now - start >= window_ns && now > start &&
	       __sync_val_compare_and_swap(&job->window_start_ns, start, now) == start;
}

/**
 * rp_job_count() - a message has ended
 * @job: of the QP
 * @index: of the other host
 * @sent: sent, else received
 * @bytes: of it
 *
 * A run of messages to one host is a burst; that it was heard from before the next one
 * began is an echo.
 */
rp_inline void rp_job_count(struct rp_job *job, u32 index, bool sent, u64 bytes)
{
	struct rp_job_peer *peer;

	if (index >= RP_JOB_PEERS_MAX)
		return;
	peer = &job->peer[index];
	if (sent) {
		if (job->burst_peer != index) {
			__sync_fetch_and_add(&job->tx_bursts, 1);
			if (job->burst_heard)
				__sync_fetch_and_add(&job->echoes, 1);
			job->burst_peer = index;
			job->burst_heard = 0;
		}
		__sync_fetch_and_add(&job->tx_messages, 1);
		__sync_fetch_and_add(&peer->tx_messages, 1);
		__sync_fetch_and_add(&peer->tx_bytes, bytes);
	} else {
		if (job->burst_peer == index)
			job->burst_heard = 1;
		__sync_fetch_and_add(&job->rx_messages, 1);
		__sync_fetch_and_add(&peer->rx_messages, 1);
		__sync_fetch_and_add(&peer->rx_bytes, bytes);
	}
}

#endif /* ROCEPATH_BPF_PATTERNS_H */
