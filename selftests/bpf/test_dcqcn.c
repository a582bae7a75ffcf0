// SPDX-License-Identifier: GPL-2.0
/*
 * The rate machine against a model of the published algorithm that shares nothing with
 * it: floating point, real timers that fire one by one, alpha updated step by step.
 */
#include "unit.h"

#include <math.h>

#include "dcqcn.h"

#define GBIT 125000000ull
#define USEC 1000ull
#define MSEC 1000000ull
#define SEC 1000000000ull

/* mlx5's defaults, 100 Gbit/s */
static const struct rp_dcqcn_params mlx5 = {
	.rpg_time_reset_us = 300,
	.rpg_byte_reset_bytes = 32767,
	.rpg_threshold = 1,
	.rpg_gd = 11,
	.rpg_ai_rate_bytes_per_s = 5 * GBIT / 1000,
	.rpg_hai_rate_bytes_per_s = 50 * GBIT / 1000,
	.rpg_min_dec_fac_pct = 50,
	.rpg_min_rate_bytes_per_s = GBIT / 1000,
	.line_rate_bytes_per_s = 100 * GBIT,
	.dce_tcp_g = 1019,
	.dce_tcp_rtt_us = 1,
	.initial_alpha_value = 1023,
	.rate_reduce_monitor_period_us = 4,
	.clamp_tgt_rate_after_time_inc = 1,
	.min_time_between_cnps_us = 4,
};

/* the paper's, 40 Gbit/s */
static const struct rp_dcqcn_params paper = {
	.rpg_time_reset_us = 55,
	.rpg_byte_reset_bytes = 10000000,
	.rpg_threshold = 5,
	.rpg_gd = 11,
	.rpg_ai_rate_bytes_per_s = 40 * GBIT / 1000,
	.rpg_hai_rate_bytes_per_s = 400 * GBIT / 1000,
	.rpg_min_dec_fac_pct = 50,
	.rpg_min_rate_bytes_per_s = 10 * GBIT / 1000,
	.line_rate_bytes_per_s = 40 * GBIT,
	.dce_tcp_g = 1020,
	.dce_tcp_rtt_us = 55,
	.initial_alpha_value = 1023,
	.rate_reduce_monitor_period_us = 50,
	.clamp_tgt_rate = 1,
	.min_time_between_cnps_us = 50,
};

struct model {
	const struct rp_dcqcn_params *p;
	double alpha, rate, target, bytes;
	u64 alpha_timer, rate_timer;	/* when they fire next */
	u32 timer_count, byte_count;
	bool limited;
};

static void model_increase(struct model *m)
{
	double line = m->p->line_rate_bytes_per_s;
	u32 f = m->p->rpg_threshold;

	if (m->timer_count < f && m->byte_count < f)
		;
	else if (m->timer_count > f && m->byte_count > f)
		m->target += m->p->rpg_hai_rate_bytes_per_s;
	else
		m->target += m->p->rpg_ai_rate_bytes_per_s;
	m->target = fmin(m->target, line);
	m->rate = (m->rate + m->target) / 2;
	if (m->target == line && line - m->rate <= line / 1024)
		m->limited = false;
}

static void model_time(struct model *m, u64 now)
{
	while (m->limited && (m->alpha_timer <= now || m->rate_timer <= now)) {
		if (m->alpha_timer <= m->rate_timer) {
			m->alpha = m->alpha * m->p->dce_tcp_g / 1024;
			m->alpha_timer += m->p->dce_tcp_rtt_us * USEC;
		} else {
			m->timer_count++;
			m->rate_timer += m->p->rpg_time_reset_us * USEC;
			model_increase(m);
		}
	}
}

static void model_sent(struct model *m, u32 bytes)
{
	if (!m->limited || !m->p->rpg_byte_reset_bytes)
		return;
	m->bytes += bytes;
	if (m->bytes >= m->p->rpg_byte_reset_bytes) {
		m->bytes -= m->p->rpg_byte_reset_bytes;
		if (m->bytes >= m->p->rpg_byte_reset_bytes)
			m->bytes = 0;
		m->byte_count++;
		model_increase(m);
	}
}

static void model_cnp(struct model *m, u64 now)
{
	double before;

	if (!m->limited) {
		m->rate = m->p->line_rate_bytes_per_s;
		m->alpha = m->p->initial_alpha_value / 1023.0;
		m->target = m->rate;
	}
	if (!m->limited || m->p->clamp_tgt_rate || m->byte_count ||
	    (m->p->clamp_tgt_rate_after_time_inc && m->timer_count))
		m->target = m->rate;
	before = m->rate;
	m->rate *= 1 - m->alpha * 1023 / (1 << m->p->rpg_gd);
	m->rate = fmax(m->rate, before * m->p->rpg_min_dec_fac_pct / 100);
	m->rate = fmax(m->rate, m->p->rpg_min_rate_bytes_per_s);
	m->alpha = m->alpha * m->p->dce_tcp_g / 1024 + (1024.0 - m->p->dce_tcp_g) / 1024;
	m->alpha_timer = now + m->p->dce_tcp_rtt_us * USEC;
	m->rate_timer = now + m->p->rpg_time_reset_us * USEC;
	m->timer_count = 0;
	m->byte_count = 0;
	m->bytes = 0;
	m->limited = true;
}

struct pair {
	struct rp_dcqcn d;
	struct model m;
	u64 now;
	double worst;
};

static void begin(struct pair *t, const struct rp_dcqcn_params *p)
{
	memset(t, 0, sizeof(*t));
	t->m.p = p;
	t->now = 12345 * SEC;
}

static void compare(struct pair *t)
{
	bool limited;
	double off;

	/* it ends a thousandth below the line; rounding may bring that forward by one increase */
	limited = t->d.why != RP_DCQCN_UNLIMITED;
	if (limited != t->m.limited) {
		require(fabs(t->m.p->line_rate_bytes_per_s / t->m.rate - 1) < 1.05 / 1024,
			"limited: %d", t->d.why);
		t->m.limited = false;
		t->d.why = RP_DCQCN_UNLIMITED;
	}
	if (!t->m.limited)
		return;
	off = fabs(t->d.rate_bytes_per_s / t->m.rate - 1);
	t->worst = fmax(t->worst, off);
	require(off < 0.001, "rate %llu, not %.0f, at %llu us",
		(unsigned long long)t->d.rate_bytes_per_s, t->m.rate,
		(unsigned long long)(t->now / USEC));
	require(t->d.rate_bytes_per_s >= t->m.p->rpg_min_rate_bytes_per_s, "below the floor");
	require(t->d.rate_bytes_per_s <= t->m.p->line_rate_bytes_per_s, "above the line");
}

static void at(struct pair *t, u64 now)
{
	t->now = now;
	rp_dcqcn_advance(&t->d, t->m.p, now);
	model_time(&t->m, now);
	compare(t);
}

static void cnp(struct pair *t)
{
	at(t, t->now);
	rp_dcqcn_cnp(&t->d, t->m.p, t->now);
	model_cnp(&t->m, t->now);
	compare(t);
}

static void sent(struct pair *t, u32 bytes)
{
	at(t, t->now);
	rp_dcqcn_sent(&t->d, t->m.p, bytes);
	model_sent(&t->m, bytes);
	compare(t);
}

/* C15: the first CNP, one every 4 us, one every 50 us, then none for 10 s */
static void script(void **state)
{
	static const struct rp_dcqcn_params *const params[] = { &mlx5, &paper };
	struct pair t;
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(params); k++) {
		u64 last = 0, line = params[k]->line_rate_bytes_per_s;

		begin(&t, params[k]);
		cnp(&t);
		/* alpha is 1: half, and not 0, nor the whole rate */
		assert_in_range(t.d.rate_bytes_per_s, line / 2, line / 2 + line / 100);
		for (i = 0; i < 500; i++) {
			t.now += 4 * USEC;
			cnp(&t);
		}
		assert_int_equal(t.d.rate_bytes_per_s, params[k]->rpg_min_rate_bytes_per_s);
		for (i = 0; i < 500; i++) {
			t.now += 50 * USEC;
			cnp(&t);
		}
		for (i = 0; t.d.why != RP_DCQCN_UNLIMITED && i < 10000; i++) {
			at(&t, t.now + MSEC);
			require(t.d.rate_bytes_per_s >= last, "recovery goes back");
			last = t.d.rate_bytes_per_s;
		}
		print_message("# recovered after %u ms; off by at most %.1e\n", i, t.worst);
		assert_int_equal(t.d.why, RP_DCQCN_UNLIMITED);
		assert_int_equal(t.d.cnps, 1001);
	}
}

/* packets and CNPs in any order, pauses from microseconds to seconds */
static void at_random(void **state)
{
	struct pair t;
	u32 round, i;

	for (round = 0; round < ROUNDS(300); round++) {
		begin(&t, round & 1 ? &mlx5 : &paper);
		for (i = 0; i < 1000; i++) {
			switch (rnd_below(16)) {
			case 0:
				cnp(&t);
				break;
			case 1:
				at(&t, t.now + rnd_below(30 * MSEC));
				break;
			default:
				at(&t, t.now + rnd_below(60 * USEC));
				sent(&t, rnd_range(1, 65536));
			}
		}
	}
	print_message("# off by at most %.1e\n", t.worst);
}

/* What a long pause comes to is what looking often comes to. */
static void pauses(void **state)
{
	struct rp_dcqcn one, many;
	u64 now = SEC, pause, k;

	for (pause = 1 * MSEC; pause < 10 * SEC; pause *= 3) {
		one = (struct rp_dcqcn) { 0 };
		for (k = 0; k < 200; k++)
			rp_dcqcn_cnp(&one, &mlx5, now);
		many = one;
		for (k = 1; k <= 1000; k++)
			rp_dcqcn_advance(&many, &mlx5, now + pause / 1000 * k);
		rp_dcqcn_advance(&one, &mlx5, now + pause / 1000 * 1000);
		assert_int_equal(one.why, many.why);
		require(fabs((double)one.rate_bytes_per_s / many.rate_bytes_per_s - 1) < 0.001,
			"pause %llu: %llu, not %llu", (unsigned long long)pause,
			(unsigned long long)one.rate_bytes_per_s,
			(unsigned long long)many.rate_bytes_per_s);
	}
}

/* no value of any parameter divides by zero, overflows, or leaves the bounds */
static void wild_parameters(void **state)
{
	struct rp_dcqcn_params p;
	struct rp_dcqcn d;
	u32 round, i;
	u64 now;

	for (round = 0; round < ROUNDS(20000); round++) {
		rnd_fill(&p, sizeof(p));
		p.line_rate_bytes_per_s = 1 + rnd() * 100ull;
		p.rpg_max_rate_bytes_per_s = 0;
		p.rpg_ai_rate_bytes_per_s = rnd() * 10ull;
		p.rpg_hai_rate_bytes_per_s = rnd() * 10ull;
		p.rpg_min_rate_bytes_per_s = rnd_below(1000);
		p.rate_to_set_on_first_cnp_bytes_per_s = rnd_below(2) ? 0 : rnd();
		if (rnd_below(2))
			p.rpg_time_reset_us = rnd_below(100);
		if (rnd_below(2))
			p.rpg_byte_reset_bytes = rnd_below(10000);
		d = (struct rp_dcqcn) { 0 };
		for (i = 0, now = rnd(); i < 50; i++) {
			now += (u64)rnd() >> rnd_below(32);
			rp_dcqcn_advance(&d, &p, now);
			if (rnd_below(2))
				rp_dcqcn_sent(&d, &p, rnd_below(100000));
			else
				rp_dcqcn_cnp(&d, &p, now);
			require(d.why == RP_DCQCN_UNLIMITED ||
				d.rate_bytes_per_s <= max(p.line_rate_bytes_per_s,
							  p.rpg_min_rate_bytes_per_s),
				"rate %llu of %llu", (unsigned long long)d.rate_bytes_per_s,
				(unsigned long long)p.line_rate_bytes_per_s);
			require(d.alpha <= RP_DCQCN_ALPHA_ONE, "alpha %x", d.alpha);
		}
	}
}

/* "rpg_byte_reset: off": packets change nothing, however many */
static void bytes_off(void **state)
{
	struct rp_dcqcn_params by_time = paper;
	struct pair t;
	u32 i;

	by_time.rpg_byte_reset_bytes = 0;
	begin(&t, &by_time);
	cnp(&t);
	for (i = 0; i < 10000; i++) {
		sent(&t, 65536);
		assert_int_equal(t.d.why, RP_DCQCN_CUT);
	}
	for (i = 0; i <= by_time.rpg_threshold; i++)
		at(&t, t.now + by_time.rpg_time_reset_us * USEC);
	assert_int_equal(t.d.why, RP_DCQCN_ADDITIVE_INCREASE);
}

static void too_soon(void **state)
{
	struct rp_dcqcn d = { 0 };

	assert_false(rp_dcqcn_too_soon(&d, &paper, 5));
	rp_dcqcn_cnp(&d, &paper, SEC);
	assert_true(rp_dcqcn_too_soon(&d, &paper, SEC + 49 * USEC));
	assert_false(rp_dcqcn_too_soon(&d, &paper, SEC + 50 * USEC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(script),
		cmocka_unit_test(at_random),
		cmocka_unit_test(pauses),
		cmocka_unit_test(wild_parameters),
		cmocka_unit_test(bytes_off),
		cmocka_unit_test(too_soon),
	};

	return unit_run(tests);
}
