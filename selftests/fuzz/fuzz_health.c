// SPDX-License-Identifier: GPL-2.0
/*
 * The health of a path: whatever happens to it in whatever order, it goes only from states to
 * states that the picture in health.h has, for the reasons given there.
 */
/* SOURCES: kmod/core/budget.c kmod/core/health.c kmod/core/holddown.c */
#include "health.h"
#include "input.h"

#define MS 1000000ull
#define NEVER (~0ull)

static const char *const state_names[] = { "up", "suspect", "down", "probation" };

struct life {
	struct rp_health h;
	struct rp_health before;
	struct rp_health_knobs knobs;
	bool carrier;
	u64 now;
};

static void require(const struct life *l, bool right, const char *how)
{
	if (right)
		return;
	fprintf(stderr, "%s -> %s: ", state_names[l->before.state & 3],
		state_names[l->h.state & 3]);
	crash(how);
}

static bool went(const struct life *l, u8 from, u8 to)
{
	return l->before.state == from && l->h.state == to;
}

/* what holds at any time */
static void check_state(const struct life *l)
{
	const struct rp_health *h = &l->h;
	u32 most = max(l->knobs.holddown_max_ms, l->knobs.holddown_ms);

	require(l, h->state <= ROCEPATH_PATH_PROBATION, "no state");
	require(l, h->ramp && h->ramp <= RP_HEALTH_RAMP_FULL, "no share");
	require(l, h->hold_ms <= most, "held down for too long");
	require(l, h->since_ns <= l->now && h->up_ns <= l->now, "in the future");
	require(l, rp_health_loss_ppm(h) <= 1000000 && rp_health_excess_ppm(h) <= 1000000,
		"it loses more than there is");
	require(l, l->carrier || h->state == ROCEPATH_PATH_DOWN, "in use without carrier");
	require(l, l->carrier == (h->state != ROCEPATH_PATH_DOWN || h->until_ns != NEVER),
		"the carrier is not known");
	require(l, h->state != ROCEPATH_PATH_DOWN || h->until_ns == NEVER ||
		h->until_ns <= l->now + most * MS, "down for too long");
	require(l, h->state == ROCEPATH_PATH_UP || !rp_health_excess_ppm(h), "lossy while not up");
	require(l, h->delivered_total >= l->before.delivered_total &&
		h->lost_total >= l->before.lost_total, "a total went back");
}

/* @changed: what the call returned */
static void check_step(const struct life *l, bool changed)
{
	require(l, changed == (l->before.state != l->h.state), "it did not say so");
	require(l, !changed || l->h.since_ns == l->now, "since another time");
	require(l, !went(l, ROCEPATH_PATH_DOWN, ROCEPATH_PATH_UP), "no probation");
	require(l, !went(l, ROCEPATH_PATH_DOWN, ROCEPATH_PATH_SUSPECT), "no probation");
	require(l, !went(l, ROCEPATH_PATH_PROBATION, ROCEPATH_PATH_SUSPECT), "it was not up");
	require(l, !went(l, ROCEPATH_PATH_PROBATION, ROCEPATH_PATH_UP) ||
		l->before.answered + 1 == RP_HEALTH_PROBES, "too few probes were answered");
	require(l, !went(l, ROCEPATH_PATH_PROBATION, ROCEPATH_PATH_UP) ||
		l->h.ramp < RP_HEALTH_RAMP_FULL, "all of its share at once");
	check_state(l);
}

static u64 ago(struct input *in, const struct life *l)
{
	return l->now - min((u64)word(in) << byte(in) % 16, l->now);
}

/* the probe that is under way, or any */
static u64 answered(struct input *in, const struct life *l)
{
	return byte(in) & 1 ? ago(in, l) : l->h.probe_sent_ns;
}

static void poll(struct input *in, struct life *l)
{
	bool silent = byte(in) & 1, changed;
	struct rp_hearing of_peer = { .silent = silent };

	of_peer.newest_ns = ago(in, l);
	of_peer.heard_ns = ago(in, l);
	changed = rp_health_poll(&l->h, &of_peer, &l->knobs, l->now);
	check_step(l, changed);
	require(l, !silent || !changed || went(l, ROCEPATH_PATH_DOWN, ROCEPATH_PATH_PROBATION),
		"the peer is silent, not the path");
	require(l, !changed || l->before.state != ROCEPATH_PATH_DOWN ||
		l->now >= l->before.until_ns, "before its hold-down was over");
	require(l, !went(l, ROCEPATH_PATH_UP, ROCEPATH_PATH_SUSPECT) || l->before.unheard_ns,
		"nothing was sent on it");
}

static void take_out(struct life *l)
{
	if (!rp_health_excess_ppm(&l->h))
		return;
	rp_health_take_out(&l->h, &l->knobs, l->now);
	check_step(l, true);
	require(l, l->h.state == ROCEPATH_PATH_DOWN && l->h.lossy, "not taken out");
}

static void try_probe(struct input *in, struct life *l)
{
	if (!rp_health_probe_due(&l->h, byte(in) * MS, &l->knobs, l->now))
		return;
	require(l, l->h.state != ROCEPATH_PATH_DOWN, "a probe while it is down");
	rp_health_probed(&l->h, &l->knobs, l->now);
	check_step(l, false);
}

static void step(struct input *in, struct life *l)
{
	u32 how = byte(in);

	l->now += how & 0x80 ? byte(in) * l->knobs.interval_ns / 64 : byte(in) * 1000ull;
	l->before = l->h;
	switch (how % 8) {
	case 0:
		rp_health_sent(&l->h, l->now);
		check_step(l, false);
		break;
	case 1:
		check_step(l, rp_health_arrived(&l->h, word(in), ago(in, l), l->now));
		break;
	case 2:
		check_step(l, rp_health_lost(&l->h, word(in), ago(in, l), &l->knobs, l->now));
		break;
	case 3:
		l->carrier = byte(in) & 1;
		check_step(l, rp_health_carrier(&l->h, l->carrier, &l->knobs, l->now));
		break;
	case 4:
		try_probe(in, l);
		break;
	case 5:
		check_step(l, rp_health_answered(&l->h, answered(in, l), &l->knobs, l->now));
		break;
	case 6:
		take_out(l);
		break;
	default:
		poll(in, l);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	u32 how = byte(&in);
	struct life l = {
		.knobs = {
			.interval_ns = (1 + word(&in)) * 10000ull,
			.patience_ns = word(&in) * 10000ull,
			.loss_ppm = word(&in) * 16,
			.holddown_ms = word(&in),
			.holddown_max_ms = word(&in),
		},
		.carrier = how & 1, .now = 1000 * MS,
	};

	rp_health_init(&l.h, l.carrier, l.now);
	while (in.left)
		step(&in, &l);
	return 0;
}
