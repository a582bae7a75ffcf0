// SPDX-License-Identifier: GPL-2.0
#include "health.h"
#include "budget.h"
#include "holddown.h"

#define NS_PER_MS 1000000ull
#define NEVER (~0ull)
#define RTT_MAX_NS 10000000000ull

/*
 * The loss rate is taken over the last 32,768 to 65,536 packets and what fades
 * behind them: at 1 % the standard deviation is 0.04 % of all packets, so that it
 * is right to 0.1 %; at 0.1 % a third of that.
 */
#define LOSS_PACKETS 65536

/*
 * Losses above the accepted rate add up (CUSUM, Page 1954) until so many speak
 * against the path: then a path that loses twice what is accepted is found after
 * some 1,200 packets, and one that loses a fifth of it is taken for bad once in
 * half a million losses. One report adds half of that at most, so that a single
 * burst, however long, does not take a path out.
 */
#define EXCESS_LIMIT (6 * 1000000u)

/* a path that comes back starts at an eighth of its share and has all of it 7 intervals later */
#define RAMP_STEP (RP_HEALTH_RAMP_FULL / 8)

/* packets of several flows may overtake each other by that part of an interval */
#define SLACK_SHARE 4

/* a probe that was not answered for so many intervals is lost */
#define PROBE_LOST_INTERVALS 3

static bool enter(struct rp_health *h, enum rocepath_path_state state,
		  enum rocepath_path_reason reason, u64 now_ns)
{
	bool changed = h->state != state;

	h->state = state;
	h->reason = reason;
	h->since_ns = now_ns;
	h->probe_sent_ns = 0;
	h->probe_due_ns = 0;
	h->answered = 0;
	return changed;
}

/* Down for a hold-down; each time that it was up and failed the next one is longer, and each time that it was tried. */
static bool fail(struct rp_health *h, enum rocepath_path_reason reason,
		 const struct rp_health_knobs *knobs, u64 now_ns)
{
	if (h->state != ROCEPATH_PATH_PROBATION) {
		u32 left = rp_holddown_forgive(h->hold_ms, now_ns - h->up_ns);

		h->hold_ms = rp_holddown_double(left, knobs->holddown_ms, knobs->holddown_max_ms);
		h->retry_ms = 0;
		h->fails++;
	} else {
		h->retry_ms = rp_holddown_double(h->retry_ms, knobs->holddown_ms,
						 min(knobs->holddown_max_ms, RP_HEALTH_RETRY_MS));
	}
	h->hold_ms = max(h->hold_ms, knobs->holddown_ms);
	h->until_ns = now_ns + max(h->hold_ms, h->retry_ms) * NS_PER_MS;
	return enter(h, ROCEPATH_PATH_DOWN, reason, now_ns);
}

/* @doubt_ns: something sent at that time is missing; what was sent before says nothing about it */
static bool suspect(struct rp_health *h, u64 doubt_ns, const struct rp_health_knobs *knobs,
		    u64 now_ns)
{
	u64 rtt_ns = h->rtt_us * 1000ull;

	h->until_ns = now_ns + max(2 * max(knobs->interval_ns, rtt_ns), knobs->patience_ns);
	WRITE_ONCE(h->unheard_ns, doubt_ns);
	return enter(h, ROCEPATH_PATH_SUSPECT, ROCEPATH_REASON_SILENT, now_ns);
}

static void forget_excess(struct rp_health *h)
{
	h->excess = 0;
	h->excess_lost = 0;
	h->excess_packets = 0;
}

/* What was counted before belongs to the time before: it starts afresh. */
static bool come_up(struct rp_health *h, u64 now_ns)
{
	h->ramp = RAMP_STEP;
	h->ramped_ns = now_ns;
	h->up_ns = now_ns;
	h->delivered = 0;
	h->lost = 0;
	h->fresh_delivered = 0;
	h->fresh_lost = 0;
	forget_excess(h);
	h->lossy = false;
	h->retry_ms = 0;
	WRITE_ONCE(h->unheard_ns, 0);
	return enter(h, ROCEPATH_PATH_UP, ROCEPATH_REASON_PROBES_ANSWERED, now_ns);
}

void rp_health_init(struct rp_health *h, bool carrier, u64 now_ns)
{
	memset(h, 0, sizeof(*h));
	h->ramp = RP_HEALTH_RAMP_FULL;
	h->up_ns = now_ns;
	h->until_ns = carrier ? 0 : NEVER;
	enter(h, carrier ? ROCEPATH_PATH_UP : ROCEPATH_PATH_DOWN,
	      carrier ? ROCEPATH_REASON_NEW : ROCEPATH_REASON_CARRIER, now_ns);
}

static void count(struct rp_health *h, u32 delivered, u32 lost)
{
	h->delivered_total += delivered;
	h->lost_total += lost;
	h->fresh_delivered += delivered;
	h->fresh_lost += lost;
}

static void learn_usual(struct rp_health *h)
{
	if (h->usual_of)
		rp_usual_learn(&h->usual, h->overtaken_us);
	else
		rp_usual_begin(&h->usual, h->overtaken_us);
	h->usual_of = min(h->usual_of + 1, RP_HEALTH_USUAL);
	h->overtaken_us = 0;
}

bool rp_health_arrived(struct rp_health *h, u32 packets, u64 sent_ns, u64 now_ns)
{
	count(h, packets, 0);
	sent_ns = min(sent_ns, now_ns);
	if (sent_ns <= h->arrived_ns)	/* no news of the path */
		return false;
	h->arrived_ns = sent_ns;
	if (READ_ONCE(h->unheard_ns))
		learn_usual(h);
	switch (h->state) {
	case ROCEPATH_PATH_UP:
		/*
		 * However long ago it was sent: where a queue stands, what arrives is
		 * always older than what was sent last.
		 */
		WRITE_ONCE(h->unheard_ns, 0);
		return false;
	case ROCEPATH_PATH_SUSPECT:
		if (sent_ns < h->unheard_ns)
			return false;
		WRITE_ONCE(h->unheard_ns, 0);
		return enter(h, ROCEPATH_PATH_UP, ROCEPATH_REASON_HEARD, now_ns);
	default:
		return false;
	}
}

bool rp_health_lost(struct rp_health *h, u32 packets, u64 sent_ns,
		    const struct rp_health_knobs *knobs, u64 now_ns)
{
	count(h, 0, packets);
	if (sent_ns <= h->arrived_ns)
		return false;
	if (h->state == ROCEPATH_PATH_UP)
		return suspect(h, sent_ns, knobs, now_ns);
	if (h->state == ROCEPATH_PATH_PROBATION && sent_ns > h->since_ns)
		return fail(h, ROCEPATH_REASON_SILENT, knobs, now_ns);
	return false;
}

static u32 ppm(u64 lost, u64 packets)
{
	while (packets > ~0u) {
		lost /= 2;
		packets /= 2;
	}
	return packets ? div_u64(lost * 1000000, packets) : 0;
}

u32 rp_health_loss_ppm(const struct rp_health *h)
{
	u64 lost = (u64)h->lost + h->fresh_lost;

	return ppm(lost, lost + h->delivered + h->fresh_delivered);
}

static void decay(struct rp_health *h)
{
	u64 delivered = (u64)h->delivered + h->fresh_delivered;
	u64 lost = (u64)h->lost + h->fresh_lost;

	while (delivered + lost >= LOSS_PACKETS) {
		delivered /= 2;
		lost /= 2;
	}
	h->delivered = delivered;
	h->lost = lost;
}

/*
 * Judge what came since the last time: deliveries and losses together, for they
 * are told one after the other.
 */
static void judge(struct rp_health *h, const struct rp_health_knobs *knobs)
{
	u64 packets = (u64)h->fresh_delivered + h->fresh_lost;
	s64 more = (s64)(h->fresh_lost * 1000000ull) - (s64)(packets * knobs->loss_ppm);
	s64 excess = h->excess + min(more, (s64)EXCESS_LIMIT / 2);

	if (!packets)
		return;
	if (excess > 0 && knobs->loss_ppm) {
		h->excess = min(excess, (s64)2 * EXCESS_LIMIT);
		h->excess_lost += h->fresh_lost;
		h->excess_packets += packets;
	} else {
		forget_excess(h);
	}
	decay(h);
	h->fresh_delivered = 0;
	h->fresh_lost = 0;
}

u32 rp_health_excess_ppm(const struct rp_health *h)
{
	if (h->state != ROCEPATH_PATH_UP || h->excess < EXCESS_LIMIT)
		return 0;
	return ppm(h->excess_lost, h->excess_packets);
}

bool rp_health_exceeds(const struct rp_health *h, u32 loss_ppm)
{
	return rp_health_excess_ppm(h) &&
	       h->excess_lost * 1000000ull >= EXCESS_LIMIT + (u64)h->excess_packets * loss_ppm;
}

void rp_health_take_out(struct rp_health *h, const struct rp_health_knobs *knobs, u64 now_ns)
{
	h->lossy = true;
	fail(h, ROCEPATH_REASON_LOSS, knobs, now_ns);
}

bool rp_health_carrier(struct rp_health *h, bool carrier, const struct rp_health_knobs *knobs,
		       u64 now_ns)
{
	bool had = h->state != ROCEPATH_PATH_DOWN || h->until_ns != NEVER;
	bool changed = false;

	if (carrier == had)
		return false;
	if (carrier)	/* the port's own hold-down is over by then */
		return enter(h, ROCEPATH_PATH_PROBATION, ROCEPATH_REASON_CARRIER, now_ns);
	if (h->state != ROCEPATH_PATH_DOWN)
		changed = fail(h, ROCEPATH_REASON_CARRIER, knobs, now_ns);
	h->reason = ROCEPATH_REASON_CARRIER;
	h->until_ns = NEVER;
	return changed;
}

/* It is idle, and its turn has come. Found out once for each time that something is heard. */
static bool has_turn(struct rp_health *h, u64 idle_ns, u32 phase, u64 now_ns)
{
	u64 from_ns = h->arrived_ns + idle_ns / 2;

	if (!idle_ns || now_ns < from_ns)
		return false;
	if (h->turn_ns < from_ns || h->turn_ns > from_ns + idle_ns)
		h->turn_ns = rp_budget_turn(h->phase + phase, idle_ns, from_ns);
	return now_ns >= h->turn_ns;
}

bool rp_health_probe_due(struct rp_health *h, u64 idle_ns,
			 const struct rp_health_knobs *knobs, u64 now_ns)
{
	if (now_ns < h->probe_due_ns)
		return false;
	switch (h->state) {
	case ROCEPATH_PATH_UP:
		return has_turn(h, idle_ns, knobs->phase, now_ns);
	case ROCEPATH_PATH_SUSPECT:
		return true;
	case ROCEPATH_PATH_PROBATION:
		return !h->probe_sent_ns;
	default:
		return false;
	}
}

void rp_health_probed(struct rp_health *h, const struct rp_health_knobs *knobs, u64 now_ns)
{
	h->probe_sent_ns = now_ns;
	h->probe_due_ns = now_ns + knobs->interval_ns;
	if (h->state == ROCEPATH_PATH_UP)
		rp_health_sent(h, now_ns);
}

static void learn_rtt(struct rp_health *h, u64 rtt_ns, u64 now_ns)
{
	s32 rtt_us = max(div_u64(min(rtt_ns, RTT_MAX_NS), 1000), 1ull), is_us = h->rtt_us;

	/* rounded towards what was seen, that it comes to be that */
	h->rtt_us = is_us ? is_us + (rtt_us - is_us + (rtt_us > is_us ? 7 : -7)) / 8 : rtt_us;
	h->rtt_ns = now_ns;
}

bool rp_health_answered(struct rp_health *h, u64 sent_ns, const struct rp_health_knobs *knobs,
			u64 now_ns)
{
	bool ours = h->probe_sent_ns && sent_ns >= h->probe_sent_ns;

	if (sent_ns > now_ns)
		return false;
	/* what says nothing new may be a recording */
	if (ours || sent_ns > h->arrived_ns)
		learn_rtt(h, now_ns - sent_ns, now_ns);
	if (ours)
		h->probe_sent_ns = 0;
	if (h->state == ROCEPATH_PATH_PROBATION) {
		h->arrived_ns = max(h->arrived_ns, sent_ns);
		return ours && ++h->answered >= RP_HEALTH_PROBES && come_up(h, now_ns);
	}
	return rp_health_arrived(h, 0, sent_ns, now_ns);
}

static void note_overtaken(struct rp_health *h, u64 unheard_ns, u64 newest_ns)
{
	u64 ns = newest_ns - min(newest_ns, unheard_ns);

	h->overtaken_us = div_u64(min(ns, RTT_MAX_NS), 1000);
}

/* By so much that chance does not explain it. */
static bool is_overtaken(const struct rp_health *h, const struct rp_health_knobs *knobs)
{
	return h->usual_of == RP_HEALTH_USUAL &&
	       h->overtaken_us > max(div_u64(knobs->interval_ns, SLACK_SHARE * 1000),
				     rp_usual_most_us(&h->usual));
}

static bool poll_up(struct rp_health *h, const struct rp_hearing *of_peer,
		    const struct rp_health_knobs *knobs, u64 now_ns)
{
	u64 unheard_ns = READ_ONCE(h->unheard_ns);

	/* who looks may be on another CPU than who looked last, and its clock was read before */
	while (h->ramp < RP_HEALTH_RAMP_FULL && now_ns >= h->ramped_ns + knobs->interval_ns) {
		h->ramp += RAMP_STEP;
		h->ramped_ns += knobs->interval_ns;
	}
	if (!unheard_ns || now_ns <= unheard_ns)
		return false;
	if (of_peer->silent) {
		WRITE_ONCE(h->unheard_ns, now_ns);
		return false;
	}
	note_overtaken(h, unheard_ns, of_peer->newest_ns);
	/* reports come once an interval: only half of one more says that it is not in this one */
	if (!is_overtaken(h, knobs) &&
	    of_peer->heard_ns < unheard_ns + max(knobs->interval_ns + knobs->interval_ns / 2,
						 knobs->patience_ns))
		return false;
	return suspect(h, unheard_ns, knobs, now_ns);
}

static bool poll_suspect(struct rp_health *h, const struct rp_hearing *of_peer,
			 const struct rp_health_knobs *knobs, u64 now_ns)
{
	/* it may be late, which would be usual from then on */
	note_overtaken(h, READ_ONCE(h->unheard_ns), of_peer->newest_ns);
	if (of_peer->silent) {
		h->until_ns = max(h->until_ns, now_ns + 2 * knobs->interval_ns);
		return false;
	}
	if (now_ns < h->until_ns)
		return false;
	return fail(h, ROCEPATH_REASON_SILENT, knobs, now_ns);
}

static bool poll_probation(struct rp_health *h, const struct rp_hearing *of_peer,
			   const struct rp_health_knobs *knobs, u64 now_ns)
{
	if (!h->probe_sent_ns || now_ns < h->probe_sent_ns ||
	    now_ns - h->probe_sent_ns < max(PROBE_LOST_INTERVALS * knobs->interval_ns,
					    knobs->patience_ns))
		return false;
	if (of_peer->silent) {	/* it begins again */
		h->probe_sent_ns = 0;
		h->answered = 0;
		return false;
	}
	return fail(h, ROCEPATH_REASON_PROBE_LOST, knobs, now_ns);
}

bool rp_health_poll(struct rp_health *h, const struct rp_hearing *of_peer,
		    const struct rp_health_knobs *knobs, u64 now_ns)
{
	judge(h, knobs);
	switch (h->state) {
	case ROCEPATH_PATH_UP:
		return poll_up(h, of_peer, knobs, now_ns);
	case ROCEPATH_PATH_SUSPECT:
		return poll_suspect(h, of_peer, knobs, now_ns);
	case ROCEPATH_PATH_PROBATION:
		return poll_probation(h, of_peer, knobs, now_ns);
	default:
		if (now_ns < h->until_ns)
			return false;
		return enter(h, ROCEPATH_PATH_PROBATION, ROCEPATH_REASON_HOLDDOWN_OVER, now_ns);
	}
}
