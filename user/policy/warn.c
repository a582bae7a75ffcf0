// SPDX-License-Identifier: GPL-2.0
/*
 * What a policy may say, but will hardly do what it was written for.
 *
 * Of a QP that is paced, what is in flight leaves at its pace, and the ACK comes behind it.
 * So pace and ACK timeout belong together: one that is shorter than what is in flight takes
 * has all of it sent again, at the same pace.
 */
#include <string.h>

#include "../units.h"
#include "rdma.h"

#define MTU_MAX 4096
#define IN_FLIGHT_PACKETS 64	/* of rdma_rxe: RXE_INFLIGHT_SKBS_PER_QP_HIGH */
#define IN_FLIGHT_BYTES (IN_FLIGHT_PACKETS * MTU_MAX)
/* of perftest: DEF_QP_TIME; 4.096us x 2^14 are 67 ms, IBTA 9.7.6.1.3 */
#define USUAL_TIMEOUT 14
#define MBIT 125000		/* bytes per second */
#define SECOND_US 1000000ull
#define BURST_MAX_US SECOND_US	/* struct rp_rate.burst_ns is no longer */
#define SAY_PERCENT 1		/* what is nearer is not worth a line */

struct warner {
	const struct rp_spec *spec;
	struct rp_report *report;
};

#define warn(w, value, ...) \
	rp_warn((w)->report, rp_spec_mark((w)->spec, value), __VA_ARGS__)

/* how long bytes take at a rate */
static uint64_t take_us(uint64_t bytes, uint64_t rate)
{
	return (__uint128_t)bytes * SECOND_US / rate;
}

/* the least whole Mbit/s at which what is in flight has left within a time */
static uint64_t fast_enough(uint64_t us)
{
	uint64_t mbits = take_us(IN_FLIGHT_BYTES, MBIT) / us + 1;

	return mbits * MBIT;
}

/* @exponent: of the ACK timeout of the QPs */
static void warn_timeout(const struct warner *w, const char *what, const uint64_t *rate,
			 uint8_t exponent)
{
	uint64_t flight = take_us(IN_FLIGHT_BYTES, *rate);
	uint64_t patience = rp_rdma_exponent_ns(exponent) / 1000;
	char at[RP_TEXT_LEN], takes[RP_TEXT_LEN], waits[RP_TEXT_LEN], least[RP_TEXT_LEN];

	if (flight <= patience)
		return;
	rp_unit_print(RP_UNIT_RATE, *rate, at);
	rp_duration_print(flight, takes);
	rp_duration_print(patience, waits);
	rp_unit_print(RP_UNIT_RATE, fast_enough(patience), least);
	warn(w, rate,
	     "at %s %s the %d packets that a QP of rdma_rxe has in flight take %s if they have 4KiB each; with timeout %u%s it sends them all again after %s: give its QPs timeout %u, or write at least %s",
	     what, at, IN_FLIGHT_PACKETS, takes, exponent,
	     exponent == USUAL_TIMEOUT ? ", the usual one," : "", waits,
	     rp_rdma_exponent(2 * flight), least);
}

static void warn_horizon(const struct warner *w, const char *what, const uint64_t *rate)
{
	const struct rp_spec_pacing *all = &w->spec->pacing;
	uint64_t flight = take_us(IN_FLIGHT_BYTES, *rate);
	char at[RP_TEXT_LEN], takes[RP_TEXT_LEN], horizon[RP_TEXT_LEN];

	if (!rp_given(all, RP_KEY_PACING_HORIZON) || flight <= all->horizon * 1000)
		return;
	rp_unit_print(RP_UNIT_RATE, *rate, at);
	rp_duration_print(flight, takes);
	rp_unit_print(RP_UNIT_MS, all->horizon, horizon);
	warn(w, rate,
	     "at %s %s what a QP has in flight can take %s; what is later than the horizon of %s leaves then, faster than this: write a longer horizon",
	     what, at, takes, horizon);
}

static void warn_burst(const struct warner *w, const char *what, const uint64_t *burst,
		       uint64_t rate)
{
	uint64_t us = take_us(*burst, rate);
	char takes[RP_TEXT_LEN], at[RP_TEXT_LEN], most[RP_TEXT_LEN];

	if (us <= BURST_MAX_US)
		return;
	rp_duration_print(us, takes);
	rp_unit_print(RP_UNIT_RATE, rate, at);
	rp_unit_print(RP_UNIT_BYTES, rate * BURST_MAX_US / SECOND_US, most);
	warn(w, burst, "%s takes %s at %s, and no more than 1s of it counts: write at most %s",
	     what, takes, at, most);
}

/* a burst of one in more than all of them have */
static void warn_larger_burst(const struct warner *w, const char *what, const uint64_t *burst,
			      const char *whole, uint64_t most)
{
	char text[RP_TEXT_LEN];

	if (*burst <= most)
		return;
	rp_unit_print(RP_UNIT_BYTES, most, text);
	warn(w, burst, "%s is above the burst of %s, which counts as well: write at most %s", what,
	     whole, text);
}

static uint64_t burst_of(const void *map, unsigned int key, uint64_t burst)
{
	return rp_given(map, key) ? burst : RP_BURST_DEFAULT;
}

static void warn_bursts(const struct warner *w, const struct rp_spec_class *class)
{
	const struct rp_spec_pacing *all = &w->spec->pacing;
	bool shared = rp_given(class, RP_KEY_CLASS_RATE);

	if (rp_given(class, RP_KEY_CLASS_QP_BURST)) {
		warn_burst(w, "qp-burst", &class->qp_burst, class->qp_rate);
		if (shared)
			warn_larger_burst(w, "qp-burst", &class->qp_burst, "the class",
					  burst_of(class, RP_KEY_CLASS_BURST, class->burst));
	}
	if (rp_given(class, RP_KEY_CLASS_BURST)) {
		warn_burst(w, "burst", &class->burst, class->rate);
		if (rp_given(all, RP_KEY_PACING_RATE))
			warn_larger_burst(w, "burst", &class->burst, "pacing",
					  burst_of(all, RP_KEY_PACING_BURST, all->burst));
	}
}

static void warn_pace(const struct warner *w, const char *what, const uint64_t *rate,
		      uint8_t exponent)
{
	if (exponent)
		warn_timeout(w, what, rate, exponent);
	warn_horizon(w, what, rate);
}

/* one that DCQCN cannot slow down, for it is slow already */
static void warn_dcqcn(const struct warner *w, const struct rp_spec_class *class, const char *what,
		       uint64_t rate)
{
	const struct rp_spec_dcqcn *d = &w->spec->dcqcn;
	char least[RP_TEXT_LEN], text[RP_TEXT_LEN];

	if (!class->dcqcn || !rp_given(d, RP_KEY_DCQCN_MIN_RATE) || d->rpg_min_rate < rate)
		return;
	rp_unit_print(RP_UNIT_RATE, d->rpg_min_rate, least);
	rp_unit_print(RP_UNIT_RATE, rate, text);
	warn(w, &class->dcqcn,
	     "dcqcn never slows its QPs down: rpg_min_rate, %s, is not below %s, %s: write a lower rpg_min_rate",
	     least, what, text);
}

/* hardware has powers of two */
static void warn_exponent(const struct warner *w, const struct rp_spec_class *class)
{
	uint8_t exponent = rp_rdma_exponent(class->timeout);
	uint64_t ns = rp_rdma_exponent_ns(exponent), wanted = class->timeout * 1000;
	char asked[RP_TEXT_LEN], real[RP_TEXT_LEN];

	if (!exponent || ns - wanted <= wanted * SAY_PERCENT / 100)
		return;
	rp_unit_print(RP_UNIT_US, class->timeout, asked);
	rp_duration_print(ns / 1000, real);
	warn(w, &class->timeout,
	     "QPs have no timeout of %s; they get the next, %s (4.096us x 2^%u)", asked, real,
	     exponent);
}

static void warn_class(const struct warner *w, const struct rp_spec_class *class)
{
	uint8_t exponent = USUAL_TIMEOUT;

	if (rp_given(class, RP_KEY_CLASS_TIMEOUT)) {
		exponent = rp_rdma_exponent(class->timeout);
		warn_exponent(w, class);
	}
	warn_bursts(w, class);
	/* one QP may have all of the rate of its class, so only that is too slow for sure */
	if (rp_given(class, RP_KEY_CLASS_QP_RATE)) {
		warn_pace(w, "qp-rate", &class->qp_rate, exponent);
		warn_dcqcn(w, class, "qp-rate", class->qp_rate);
	} else if (rp_given(class, RP_KEY_CLASS_RATE)) {
		warn_pace(w, "rate", &class->rate, exponent);
		warn_dcqcn(w, class, "rate", class->rate);
	}
}

/**
 * rp_spec_warn() - say where a policy hardly does what it was written for
 * @spec: one that is right, before rp_spec_fill()
 * @report: where it goes
 */
void rp_spec_warn(const struct rp_spec *spec, struct rp_report *report)
{
	const struct rp_spec_pacing *all = &spec->pacing;
	const struct warner w = { spec, report };

	for (unsigned int i = 0; i < spec->classes.count; i++)
		warn_class(&w, rp_spec_class_at(spec, i));
	if (rp_given(all, RP_KEY_PACING_RATE))
		warn_pace(&w, "rate", &all->rate, USUAL_TIMEOUT);
	if (rp_given(all, RP_KEY_PACING_BURST))
		warn_burst(&w, "burst", &all->burst, all->rate);
}
