// SPDX-License-Identifier: GPL-2.0
#include "probes.h"

#include <linux/rocepath_rdma.h>

#define RTT_MAX_NS 10000000000ull
/* probes of an EV in an interval, and of one that is suspect */
#define PROBES_UP 2
#define PROBES_SUSPECT 4
/* a window counts for so many when it speaks of most of the others, and not of the fastest only */
#define BY_ALL (RP_PROBES_WINDOWS_LEAST / RP_PROBES_WINDOWS)
/* numbers that an answer speaks of, beside the newest */
#define BITS 64

void rp_probes_init(struct rp_probes *p, u32 random, u64 now_ns)
{
	memset(p, 0, sizeof(*p));
	p->number = random;
	p->heard_ns = now_ns;
}

/* EVs that come together are not probed together. */
static u64 spread_ns(u16 ev, u64 period_ns)
{
	return (period_ns >> 16) * (u16)(ev * 0x9e37u);
}

void rp_probes_add(struct rp_probes *p, struct rp_probes_path *path, u16 ev,
		   const struct rp_probes_knobs *knobs, u64 now_ns)
{
	memset(path, 0, sizeof(*path));
	path->ev = ev;
	path->due_ns = now_ns + spread_ns(ev, knobs->interval_ns / PROBES_UP);
	rp_health_init(&path->health, true, now_ns);
	path->next = p->paths;
	p->paths = path;
	p->n++;
}

void rp_probes_remove(struct rp_probes *p, struct rp_probes_path *path)
{
	struct rp_probes_path **at = &p->paths;
	u32 i;

	while (*at && *at != path)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = path->next;
	p->n--;
	if (p->turn == path)
		p->turn = path->next;
	for (i = 0; i < RP_PROBES_OUT; i++) {
		if (p->out[i].path == path)
			p->out[i].path = NULL;
	}
}

u8 rp_probes_state(const struct rp_probes_path *path)
{
	return path->degraded ? (u8)ROCEPATH_RDMA_PATH_DEGRADED : path->health.state;
}

u8 rp_probes_reason(const struct rp_probes_path *path)
{
	return path->degraded ? (u8)ROCEPATH_RDMA_REASON_SLOW : path->health.reason;
}

/* Whatever is done to it, the caller hears of it, and a path that is not up is not slow. */
static void tell(struct rp_probes_path *path, u8 before, const struct rp_probes_news *news)
{
	if (path->health.state != ROCEPATH_PATH_UP) {
		path->degraded = false;
		path->windows = 0;
		path->low_us = 0;
	}
	if (rp_probes_state(path) != before)
		news->changed(news->arg, path, before);
}

/* --- sending --- */

bool rp_probes_due(struct rp_probes_path *path, const struct rp_probes_knobs *knobs,
		   u64 now_ns)
{
	if (path->health.state == ROCEPATH_PATH_PROBATION)
		return rp_health_probe_due(&path->health, 0, &knobs->health, now_ns);
	return path->health.state != ROCEPATH_PATH_DOWN && now_ns >= path->due_ns;
}

static void count_lost(const struct rp_probes *p, const struct rp_probes_out *out,
		       const struct rp_probes_knobs *knobs, u64 now_ns)
{
	struct rp_health *h = &out->path->health;

	/* it only counts, for silence has its own clock; and not for what was before */
	if (out->sent_ns <= h->arrived_ns && out->sent_ns >= h->up_ns &&
	    out->sent_ns > p->silent_ns)
		rp_health_lost(h, 1, out->sent_ns, &knobs->health, now_ns);
}

u32 rp_probes_send(struct rp_probes *p, struct rp_probes_path *path,
		   const struct rp_probes_knobs *knobs, u64 now_ns)
{
	bool suspect = path->health.state == ROCEPATH_PATH_SUSPECT;
	u64 period_ns = knobs->interval_ns / (suspect ? PROBES_SUSPECT : PROBES_UP);
	struct rp_probes_out *out = &p->out[++p->number % RP_PROBES_OUT];

	if (out->path)
		count_lost(p, out, knobs, now_ns);
	out->path = path;
	out->sent_ns = now_ns;
	path->due_ns = max(path->due_ns, now_ns - min(now_ns, period_ns)) + period_ns;
	path->sent++;
	rp_health_probed(&path->health, &knobs->health, now_ns);
	return p->number;
}

/* --- hearing --- */

static void learn_rtt(struct rp_probes *p, struct rp_probes_path *path, u64 rtt_ns)
{
	u32 rtt_us = max(div_u64(min(rtt_ns, RTT_MAX_NS), 1000), 1ull);

	if (!path->rtt_us && !p->rtt.mean_us)
		rp_usual_begin(&p->rtt, rtt_us);
	else
		rp_usual_learn(&p->rtt, rtt_us);
	path->rtt_us = path->rtt_us ? path->rtt_us - path->rtt_us / 8 + rtt_us / 8 : rtt_us;
	if (path->health.state == ROCEPATH_PATH_UP)
		path->low_us = path->low_us ? min(path->low_us, rtt_us) : rtt_us;
}

/* A probe arrived. Of a round trip only its own answer tells. */
static void arrived(struct rp_probes *p, u32 number, bool answer,
		    const struct rp_probes_knobs *knobs, const struct rp_probes_news *news,
		    u64 now_ns)
{
	struct rp_probes_out *out = &p->out[number % RP_PROBES_OUT];
	struct rp_probes_path *path = out->path;
	u8 before;

	if (!path)
		return;
	out->path = NULL;
	before = rp_probes_state(path);
	path->answered++;
	p->newest_ns = max(p->newest_ns, out->sent_ns);
	if (answer)
		learn_rtt(p, path, now_ns - min(now_ns, out->sent_ns));
	rp_health_answered(&path->health, out->sent_ns, &knobs->health, now_ns);
	rp_health_arrived(&path->health, 1, out->sent_ns, now_ns);
	tell(path, before, news);
}

bool rp_probes_heard(struct rp_probes *p, const struct rp_probes_seen *seen, u32 answers,
		     const struct rp_probes_knobs *knobs, const struct rp_probes_news *news,
		     u64 now_ns)
{
	u32 ago = p->number - seen->newest, behind = seen->newest - answers, i;
	bool silent = rp_probes_silent(p, knobs, now_ns);

	if (!seen->any || ago >= RP_PROBES_OUT || behind >= RP_PROBES_OUT - ago)
		return false;
	p->heard_ns = now_ns;
	arrived(p, answers, true, knobs, news, now_ns);
	arrived(p, seen->newest, false, knobs, news, now_ns);
	for (i = 0; i < BITS && ago + 1 + i < RP_PROBES_OUT; i++) {
		if (seen->before >> i & 1)
			arrived(p, seen->newest - 1 - i, false, knobs, news, now_ns);
	}
	/* that what was sent until now was lost, though some of it came, says nothing of paths */
	if (silent)
		p->silent_ns = now_ns;
	return true;
}

void rp_probes_saw(struct rp_probes_seen *seen, u32 number)
{
	u32 ahead = number - seen->newest, behind = seen->newest - number;

	if (!seen->any || (ahead > BITS && behind > BITS)) {
		seen->any = true;
		seen->newest = number;
		seen->before = 0;
	} else if (behind && behind <= BITS) {
		seen->before |= 1ull << (behind - 1);
	} else if (ahead) {
		/* a shift by all bits is none at all in C */
		seen->before = ahead < BITS ? seen->before << ahead : 0;
		seen->before |= 1ull << (ahead - 1);
		seen->newest = number;
	}
}

/* --- time passes --- */

bool rp_probes_silent(const struct rp_probes *p, const struct rp_probes_knobs *knobs, u64 now_ns)
{
	return now_ns - min(now_ns, p->heard_ns) > knobs->interval_ns;
}

static bool is_slower(const struct rp_probes_path *path, u32 than_us, u32 factor, u32 floor_us)
{
	return path->low_us > (u64)than_us * factor + floor_us;
}

/* Is @path slow beside more than half of the others that are not degraded, at least @least? */
static bool is_slow(const struct rp_probes *p, const struct rp_probes_path *path, u32 factor,
		    u32 floor_us, u32 least)
{
	const struct rp_probes_path *other;
	u32 others = 0, below = 0;

	for (other = p->paths; other; other = other->next) {
		if (other == path || !other->low_us || other->degraded)
			continue;
		others++;
		below += is_slower(path, other->low_us, factor, floor_us);
	}
	return others >= least && 2 * below > others;
}

/* What this window says for degraded, where the least round trip was @least_us: 0 to BY_ALL. */
static u8 slow_by(const struct rp_probes *p, const struct rp_probes_path *path, u32 least_us,
		  const struct rp_probes_knobs *knobs)
{
	u32 factor = knobs->slow_factor, floor_us = knobs->slow_floor_us;

	if (!factor || !is_slower(path, least_us, factor, floor_us))
		return 0;
	return is_slow(p, path, factor, floor_us, RP_PROBES_WITNESSES / 2) ? BY_ALL : 1;
}

/* And what against it: what is slow has to become a good deal faster before it counts as fast. */
static u8 fast_by(const struct rp_probes *p, const struct rp_probes_path *path, u32 least_us,
		  const struct rp_probes_knobs *knobs)
{
	u32 factor = (knobs->slow_factor + 1) / 2, floor_us = knobs->slow_floor_us;

	if (factor && is_slow(p, path, factor, floor_us, 1))
		return 0;
	return factor && is_slower(path, least_us, factor, floor_us) ? 1 : BY_ALL;
}

static void judge_slow(const struct rp_probes *p, struct rp_probes_path *path, u32 least_us,
		       const struct rp_probes_knobs *knobs, const struct rp_probes_news *news)
{
	u8 by = path->degraded ? fast_by(p, path, least_us, knobs) :
				   slow_by(p, path, least_us, knobs);
	u8 before = rp_probes_state(path);

	path->windows = by ? path->windows + by : 0;
	if (path->windows < RP_PROBES_WINDOWS_LEAST)
		return;
	path->windows = 0;
	path->degraded = !path->degraded;
	tell(path, before, news);
}

static u32 least_us(const struct rp_probes *p)
{
	const struct rp_probes_path *path;
	u32 least = 0;

	for (path = p->paths; path; path = path->next) {
		if (path->low_us && (!least || path->low_us < least))
			least = path->low_us;
	}
	return least;
}

static void end_window(struct rp_probes *p, const struct rp_probes_knobs *knobs,
		       const struct rp_probes_news *news, u64 now_ns)
{
	struct rp_probes_path *path;
	u32 least = least_us(p);

	p->window_ns = now_ns + RP_PROBES_WINDOW_INTERVALS * knobs->interval_ns;
	for (path = p->paths; path; path = path->next) {
		if (path->low_us)
			judge_slow(p, path, least, knobs, news);
	}
	for (path = p->paths; path; path = path->next)
		path->low_us = 0;
}

/* Does it lose more than twice what the other EVs lose, in the median? */
static bool stands_out(const struct rp_probes *p, const struct rp_probes_path *path)
{
	const struct rp_probes_path *other;
	u32 others = 0, below = 0;

	for (other = p->paths; other; other = other->next) {
		if (other == path || other->health.state != ROCEPATH_PATH_UP)
			continue;
		others++;
		below += rp_health_exceeds(&path->health,
					   2 * rp_health_loss_ppm(&other->health));
	}
	return 2 * below > others;
}

/* Never more than half of them: loss that most have in common is no path's fault. */
static void take_out_lossy(struct rp_probes *p, const struct rp_probes_knobs *knobs,
			   const struct rp_probes_news *news, u64 now_ns)
{
	struct rp_probes_path *path;
	u32 up = 0, lossy = 0;
	u8 before;

	for (path = p->paths; path; path = path->next) {
		up += path->health.state == ROCEPATH_PATH_UP;
		lossy += path->health.lossy;
	}
	for (path = p->paths; path; path = path->next) {
		if (!rp_health_excess_ppm(&path->health) || !stands_out(p, path))
			continue;
		if (2 * (lossy + 1) > lossy + up)
			return;
		before = rp_probes_state(path);
		rp_health_take_out(&path->health, &knobs->health, now_ns);
		tell(path, before, news);
		lossy++;
		up--;
	}
}

void rp_probes_poll(struct rp_probes *p, const struct rp_probes_knobs *knobs,
		    const struct rp_probes_news *news, u64 now_ns)
{
	const struct rp_hearing of_peer = {
		.heard_ns = p->heard_ns,
		.newest_ns = p->newest_ns,
		.silent = rp_probes_silent(p, knobs, now_ns),
	};
	struct rp_health_knobs health = knobs->health;
	struct rp_probes_path *path;
	bool lossy = false;

	health.patience_ns = max(health.patience_ns, rp_usual_most_us(&p->rtt) * 1000);
	for (path = p->paths; path; path = path->next) {
		u8 before = rp_probes_state(path);

		rp_health_poll(&path->health, &of_peer, &health, now_ns);
		tell(path, before, news);
		lossy |= rp_health_excess_ppm(&path->health);
	}
	if (lossy)
		take_out_lossy(p, knobs, news, now_ns);
	if (now_ns >= p->window_ns)
		end_window(p, knobs, news, now_ns);
}

static u32 rank(const struct rp_probes_path *path)
{
	return path->health.state == ROCEPATH_PATH_UP ? 1 + !path->degraded : 0;
}

struct rp_probes_path *rp_probes_any(struct rp_probes *p)
{
	struct rp_probes_path *path = p->turn, *best = NULL;
	u32 i;

	for (i = 0; i < p->n; i++) {
		path = path && path->next ? path->next : p->paths;
		if (!best || rank(path) > rank(best))
			best = path;
		if (rank(best) == 2)
			break;
	}
	p->turn = best;
	return best;
}
