/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a job's traffic looks like from this host; docs/patterns.md tells how each label
 * is decided, and which look the same.
 *
 * Messages are counted when they end, by the host that they are to or from. The first
 * message behind the end of a window closes it: what each host sent and got in it is
 * summed up (rp_job_close), labelled (rp_pattern_of), and a label that stays the same
 * for RP_PATTERN_WINDOWS windows becomes the job's.
 */
#ifndef ROCEPATH_BPF_PATTERNS_H
#define ROCEPATH_BPF_PATTERNS_H

#include <rocepath/loop.h>
#include <rocepath/policy.h>

/* as many windows in a row as another label must be seen in */
#define RP_PATTERN_WINDOWS 3
/* hosts on both sides: more than trees and doubling have for 64 hosts */
#define RP_PATTERN_MANY 7
/* more than a tree has, but not more than doubling */
#define RP_PATTERN_SEVERAL 5
/* what is less than this part of the largest amount is control traffic, credits, monitoring */
#define RP_PATTERN_NOISE 64
/* as much in a window is no traffic yet: heartbeats, metrics */
#define RP_PATTERN_IDLE_BYTES 4096
/* a silence is this part of a window */
#define RP_PATTERN_GAP 64

/**
 * rp_pattern_of() - the label of one window
 * @w: what was seen in it
 */
rp_inline enum rp_pattern rp_pattern_of(const struct rp_job_window *w)
{
	u32 peers = max(w->tx_peers, w->rx_peers);

	if (!peers || w->tx_bytes + w->rx_bytes < RP_PATTERN_IDLE_BYTES)
		return RP_PATTERN_IDLE;
	/* many to one, one to many: little goes the other way */
	if (w->rx_peers >= 2 && w->rx_bytes / 8 > w->tx_bytes)
		return RP_PATTERN_INCAST;
	if (w->tx_peers >= 2 && w->tx_bytes / 8 > w->rx_bytes)
		return RP_PATTERN_BROADCAST;
	/* one to send to, another one to hear from */
	if (w->tx_peers == 1 && w->rx_peers == 1 && !w->both_peers)
		return RP_PATTERN_RING;
	if (peers == 1)
		return RP_PATTERN_POINT_TO_POINT;
	if (w->both_peers >= RP_PATTERN_MANY)
		return RP_PATTERN_ALL_TO_ALL;
	/* doubling waits for each partner's answer; pairwise exchange hears from others */
	if (w->both_peers >= RP_PATTERN_SEVERAL && w->echoes * 2 < w->tx_bursts)
		return RP_PATTERN_ALL_TO_ALL;
	/* two neighbours, something is computed before each message: the stages of a pipeline */
	if (peers == 2 && w->gaps * 4 > w->tx_bursts * 3)
		return RP_PATTERN_POINT_TO_POINT;
	return RP_PATTERN_TREE;
}

/* what one host sent and got since the last window */
rp_inline void rp_job_peer_since(const struct rp_job_peer *peer, u64 *tx, u64 *rx)
{
	*tx = READ_ONCE(peer->tx_bytes) - peer->tx_bytes_seen;
	*rx = READ_ONCE(peer->rx_bytes) - peer->rx_bytes_seen;
}

static long rp_job_largest_step(u32 i, void *state)
{
	struct rp_job *job = *(struct rp_job **)state;
	u64 tx, rx;

	if (i >= RP_JOB_PEERS_MAX)
		return 1;
	rp_job_peer_since(&job->peer[i], &tx, &rx);
	tx = max(tx, rx);
	if (tx > job->last.largest_bytes)
		job->last.largest_bytes = tx;
	return 0;
}

/* Amounts are like when the smaller is at least a quarter. */
static long rp_job_close_step(u32 i, void *state)
{
	struct rp_job *job = *(struct rp_job **)state;
	struct rp_job_window *w = &job->last;
	struct rp_job_peer *peer;
	u64 tx, rx, least;

	if (i >= RP_JOB_PEERS_MAX)
		return 1;
	peer = &job->peer[i];
	rp_job_peer_since(peer, &tx, &rx);
	peer->tx_bytes_seen += tx;
	peer->rx_bytes_seen += rx;
	peer->window_tx_bytes = tx;
	peer->window_rx_bytes = rx;
	least = w->largest_bytes / RP_PATTERN_NOISE;
	if (tx > least) {
		w->tx_peers++;
		w->tx_bytes += tx;
	}
	if (rx > least) {
		w->rx_peers++;
		w->rx_bytes += rx;
		if (tx / 4 <= rx && rx / 4 <= tx)
			w->both_peers++;
	}
	return 0;
}

/* hysteresis: the label of one window is not yet the job's, but for the first one */
rp_inline void rp_job_label(struct rp_job *job, enum rp_pattern seen)
{
	if (job->pattern == RP_PATTERN_UNKNOWN)
		job->pattern = seen;
	if (seen == job->pattern) {
		job->candidate_windows = 0;
	} else if (seen != job->candidate || !job->candidate_windows) {
		job->candidate = seen;
		job->candidate_windows = 1;
	} else if (++job->candidate_windows >= RP_PATTERN_WINDOWS) {
		job->pattern = seen;
		job->candidate_windows = 0;
	}
}

/**
 * rp_job_close() - the running window is over
 * @job: the job; whoever calls has won the window
 */
rp_inline void rp_job_close(struct rp_job *job)
{
	u64 tx = READ_ONCE(job->tx_messages), rx = READ_ONCE(job->rx_messages);
	u64 bursts = READ_ONCE(job->tx_bursts), echoes = READ_ONCE(job->echoes);
	u64 gaps = READ_ONCE(job->gaps);
	struct rp_job_window *w = &job->last;
	struct rp_job *state = job;

	__builtin_memset(w, 0, sizeof(*w));
	rp_loop(RP_JOB_PEERS_MAX, rp_job_largest_step, &state);
	rp_loop(RP_JOB_PEERS_MAX, rp_job_close_step, &state);
	w->tx_messages = tx - job->tx_messages_seen;
	w->rx_messages = rx - job->rx_messages_seen;
	w->tx_bursts = bursts - job->tx_bursts_seen;
	w->echoes = echoes - job->echoes_seen;
	w->gaps = gaps - job->gaps_seen;
	job->tx_messages_seen = tx;
	job->rx_messages_seen = rx;
	job->tx_bursts_seen = bursts;
	job->echoes_seen = echoes;
	job->gaps_seen = gaps;
	job->windows++;
	rp_job_label(job, rp_pattern_of(w));
}

/* Does @now lie behind the running window? Who gets true closes it. */
rp_inline bool rp_job_window_over(struct rp_job *job, u64 window_ns, u64 now)
{
	u64 start = READ_ONCE(job->window_start_ns);

	return now > start && now - start >= window_ns &&
	       __sync_val_compare_and_swap(&job->window_start_ns, start, now) == start;
}

/**
 * rp_job_count() - a message has ended
 * @job: of the QP
 * @index: of the other host
 * @sent: sent, else received
 * @bytes: of it
 * @window_ns: length of a window
 * @began: when it began
 * @now: when it ended
 *
 * A run of messages to one host is a burst; that it was heard from just before, or before
 * the next one began, is an echo. Of small messages, such as heartbeats, no burst is made.
 * Two CPUs may count for one job: a burst more or less does not matter.
 */
rp_inline void rp_job_count(struct rp_job *job, u32 index, bool sent, u64 bytes, u64 window_ns,
			    u64 began, u64 now)
{
	bool silence = began > job->message_ns + window_ns / RP_PATTERN_GAP;
	bool small = bytes < job->message_bytes / RP_PATTERN_NOISE;
	struct rp_job_peer *peer;

	if (index >= RP_JOB_PEERS_MAX)
		return;
	peer = &job->peer[index];
	job->message_bytes = job->message_bytes - job->message_bytes / 8 + bytes / 8;
	if (!small)
		job->message_ns = now;
	if (!sent) {
		if (!small && job->burst_peer == index)
			job->burst_heard = 1;
		if (!small)
			job->heard_peer = index;
		__sync_fetch_and_add(&job->rx_messages, 1);
		__sync_fetch_and_add(&peer->rx_messages, 1);
		__sync_fetch_and_add(&peer->rx_bytes, bytes);
		return;
	}
	if (!small && job->burst_peer != index) {
		__sync_fetch_and_add(&job->tx_bursts, 1);
		if (job->burst_heard)
			__sync_fetch_and_add(&job->echoes, 1);
		if (silence)
			__sync_fetch_and_add(&job->gaps, 1);
		job->burst_peer = index;
		job->burst_heard = job->heard_peer == index;
	}
	__sync_fetch_and_add(&job->tx_messages, 1);
	__sync_fetch_and_add(&peer->tx_messages, 1);
	__sync_fetch_and_add(&peer->tx_bytes, bytes);
}

#endif /* ROCEPATH_BPF_PATTERNS_H */
