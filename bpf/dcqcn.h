/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCQCN, reaction point: the rate machine of one QP (Zhu et al., "Congestion Control
 * for Large-Scale RDMA Deployments", SIGCOMM 2015; parameters as mlx5 names them).
 *
 *   CNP                     target = rate, rate cut by alpha/2, alpha up, stages 0
 *   every dce_tcp_rtt       without a CNP alpha decays
 *   every rpg_time_reset    time stage + 1, increase
 *   every rpg_byte_reset    byte stage + 1, increase; 0: never
 *
 *   increase: while both stages are below rpg_threshold fast recovery, half of the way
 *   to the target; when both are above it hyper increase, the target rises by
 *   rpg_hai_rate first; else additive increase, by rpg_ai_rate.
 *
 * There are no timers. What time has done is made up for when a packet leaves, when
 * a CNP comes, and when somebody looks: rp_dcqcn_advance() first, always.
 */
#ifndef ROCEPATH_BPF_DCQCN_H
#define ROCEPATH_BPF_DCQCN_H

#include <rocepath/loop.h>
#include <rocepath/policy.h>

#define RP_DCQCN_ALPHA_SHIFT	20
#define RP_DCQCN_ALPHA_ONE	(1023u << RP_DCQCN_ALPHA_SHIFT)
#define RP_DCQCN_USEC		1000ull
/* increases that are made one by one; after as many, rate and target are one step apart */
#define RP_DCQCN_STEPS		128

rp_inline u64 rp_dcqcn_max(const struct rp_dcqcn_params *p)
{
	return p->rpg_max_rate_bytes_per_s ?: p->line_rate_bytes_per_s;
}

struct rp_dcqcn_step {
	struct rp_dcqcn *d;
	const struct rp_dcqcn_params *p;
};

/* One increase, the stages being counted already. */
rp_inline void rp_dcqcn_increase(struct rp_dcqcn *d, const struct rp_dcqcn_params *p)
{
	u32 most = max(d->time_stage, d->byte_stage), least = min(d->time_stage, d->byte_stage);
	u64 limit = rp_dcqcn_max(p), target = d->target_bytes_per_s, rate;
	enum rp_dcqcn_why why = RP_DCQCN_ADDITIVE_INCREASE;

	if (most < p->rpg_threshold) {
		why = RP_DCQCN_FAST_RECOVERY;
	} else if (least > p->rpg_threshold) {
		why = RP_DCQCN_HYPER_INCREASE;
		target += p->rpg_hai_rate_bytes_per_s;
	} else {
		target += p->rpg_ai_rate_bytes_per_s;
	}
	target = min(target, limit);
	rate = (d->rate_bytes_per_s + target) / 2;
	/* halving never gets there */
	if (target == limit && limit - rate <= limit >> 10) {
		rate = limit;
		why = RP_DCQCN_UNLIMITED;
	}
	d->target_bytes_per_s = target;
	d->rate_bytes_per_s = rate;
	d->why = why;
}

rp_inline long rp_dcqcn_time_step(u32 i, void *state)
{
	struct rp_dcqcn_step *s = state;

	(void)i;
	s->d->time_stage++;
	rp_dcqcn_increase(s->d, s->p);
	return s->d->why == RP_DCQCN_UNLIMITED;
}

#ifdef __bpf__
static long rp_dcqcn_time_callback(u32 i, void *state)
{
	return rp_dcqcn_time_step(i, state);
}
#else
#define rp_dcqcn_time_callback rp_dcqcn_time_step
#endif

struct rp_dcqcn_power {
	u64 result;
	u64 base;
	u32 exponent;
};

/* result times base^exponent, both parts of 2^20 */
rp_inline u64 rp_dcqcn_decay(u64 value, u32 g, u64 times)
{
	u64 base = (u64)min(g, 1024u) << 10;
	u32 i, n = min(times, 0xffffull);

	for (i = 0; i < 16; i++) {
		if (n & 1)
			value = value * base >> 20;
		base = base * base >> 20;
		n >>= 1;
	}
	return value;
}

/**
 * rp_dcqcn_advance() - make up for the time that has passed
 * @d: the machine; nothing happens while the QP is unlimited
 * @p: parameters
 * @now: nanoseconds, never going back
 */
rp_inline void rp_dcqcn_advance(struct rp_dcqcn *d, const struct rp_dcqcn_params *p, u64 now)
{
	u64 rtt = max(p->dce_tcp_rtt_us, 1u) * RP_DCQCN_USEC;
	u64 reset = max(p->rpg_time_reset_us, 1u) * RP_DCQCN_USEC, times, rest;
	u64 steps = RP_DCQCN_STEPS;
	struct rp_dcqcn_step step = { d, p };

	if (d->why == RP_DCQCN_UNLIMITED)
		return;
	if (now >= d->alpha_at_ns + rtt) {
		times = (now - d->alpha_at_ns) / rtt;
		d->alpha_at_ns += times * rtt;
		d->alpha = rp_dcqcn_decay(d->alpha, p->dce_tcp_g, times);
	}
	if (now < d->time_at_ns + reset)
		return;
	times = (now - d->time_at_ns) / reset;
	d->time_at_ns += times * reset;
	rp_loop(min(times, steps), rp_dcqcn_time_callback, &step);
	if (times <= RP_DCQCN_STEPS || d->why == RP_DCQCN_UNLIMITED)
		return;
	/* a long pause: one step short of the last is where all others would have come to */
	rest = min(times - RP_DCQCN_STEPS - 1, 1ull << 32);
	d->time_stage += (u32)min(rest, (u64)(RP_DCQCN_STEPS << 8));
	if (d->why != RP_DCQCN_FAST_RECOVERY) {
		rest *= d->why == RP_DCQCN_HYPER_INCREASE ? p->rpg_hai_rate_bytes_per_s :
							    p->rpg_ai_rate_bytes_per_s;
		d->target_bytes_per_s = min(d->target_bytes_per_s + rest, rp_dcqcn_max(p));
		d->rate_bytes_per_s = min(d->rate_bytes_per_s + rest, d->target_bytes_per_s);
	}
	rp_dcqcn_time_step(0, &step);
}

/**
 * rp_dcqcn_sent() - count what leaves
 * @d: the machine, advanced
 * @p: parameters
 * @bytes: of one packet
 */
rp_inline void rp_dcqcn_sent(struct rp_dcqcn *d, const struct rp_dcqcn_params *p, u32 bytes)
{
	if (d->why == RP_DCQCN_UNLIMITED || !p->rpg_byte_reset_bytes)
		return;
	d->bytes += bytes;
	/* a packet counts once, even where it is longer than the interval */
	if (d->bytes >= p->rpg_byte_reset_bytes) {
		d->bytes -= p->rpg_byte_reset_bytes;
		if (d->bytes >= p->rpg_byte_reset_bytes)
			d->bytes = 0;
		d->byte_stage++;
		rp_dcqcn_increase(d, p);
	}
}

/**
 * rp_dcqcn_too_soon() - a CNP that no notification point makes, or one cut too many
 * @d: the machine
 * @p: parameters
 * @now: nanoseconds
 */
rp_inline bool rp_dcqcn_too_soon(const struct rp_dcqcn *d, const struct rp_dcqcn_params *p, u64 now)
{
	/* they may come closer together than they were sent, but not by more than half */
	u32 least = max(p->rate_reduce_monitor_period_us, p->min_time_between_cnps_us / 2);

	return d->cnps && now < d->cnp_at_ns + least * RP_DCQCN_USEC;
}

/**
 * rp_dcqcn_cnp() - a CNP came
 * @d: the machine, advanced
 * @p: parameters
 * @now: nanoseconds
 */
rp_inline void rp_dcqcn_cnp(struct rp_dcqcn *d, const struct rp_dcqcn_params *p, u64 now)
{
	bool first = d->why == RP_DCQCN_UNLIMITED;
	u64 rate, least, gain;

	if (first) {
		d->alpha = min(p->initial_alpha_value, 1023u) << RP_DCQCN_ALPHA_SHIFT;
		d->rate_bytes_per_s = rp_dcqcn_max(p);
	}
	rate = d->rate_bytes_per_s;
	if (first || p->clamp_tgt_rate || d->byte_stage ||
	    (p->clamp_tgt_rate_after_time_inc && d->time_stage))
		d->target_bytes_per_s = rate;
	least = max(rate / 100 * min(p->rpg_min_dec_fac_pct, 100u), p->rpg_min_rate_bytes_per_s);
	if (first && p->rate_to_set_on_first_cnp_bytes_per_s)
		rate = min(rate, p->rate_to_set_on_first_cnp_bytes_per_s);
	else	/* of alpha's 30 bits 20, so that rates of up to 17 TB/s fit in */
		rate -= rate * (d->alpha >> 10) >> (min(p->rpg_gd, 31u) + 10);
	d->rate_bytes_per_s = max(rate, least);
	gain = (u64)(1024 - min(p->dce_tcp_g, 1024u)) * RP_DCQCN_ALPHA_ONE;
	d->alpha = ((u64)d->alpha * min(p->dce_tcp_g, 1024u) + gain) >> 10;
	d->alpha_at_ns = now;
	d->time_at_ns = now;
	d->cut_at_ns = now;
	d->cnp_at_ns = now;
	d->time_stage = 0;
	d->byte_stage = 0;
	d->bytes = 0;
	d->cnps++;
	d->why = RP_DCQCN_CUT;
}

/** rp_dcqcn_ns_per_byte_q20() - for pacing; 0: not limited */
rp_inline u64 rp_dcqcn_ns_per_byte_q20(const struct rp_dcqcn *d)
{
	if (d->why == RP_DCQCN_UNLIMITED || !d->rate_bytes_per_s)
		return 0;
	return (1000000000ull << 20) / d->rate_bytes_per_s ?: 1;
}

#endif /* ROCEPATH_BPF_DCQCN_H */
