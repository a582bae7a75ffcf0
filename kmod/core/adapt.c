// SPDX-License-Identifier: GPL-2.0
/*
 * How `adaptive` finds the weights of paths.
 *
 * A QP has so many PSNs on the way at most, and its receiver delivers in order.
 * A path that gets more than its part of the capacity therefore collects the
 * whole window in its queue, and all others wait for it. Shares are right when
 * the queues of all paths delay alike, and that is what receivers tell: how much
 * later packets of a path come than those that were sent right after them.
 *
 * A share that is too great by so many percent makes a queue grow by so many
 * percent of the time that passes. To steer that by the queue alone would swing
 * for ever; it takes how the queue changes as well (a PD controller):
 *
 *   share *= 1 - (error / 32 + change of error * 3 / 4) / time
 *
 * - What was sent before a change, or met the queue from before it, says nothing
 *   about it: a path is looked at again when something sent after that arrived.
 * - On slow links a few packets more or less are a long time: the less a queue
 *   says, the calmer (CALM), unless it is far more than that (MUCH).
 * - A queue that stays however much the share falls is one that holds the whole
 *   window: push twice as hard each time.
 * - When a link has just become slow its packets still come, at its rate now: the
 *   share follows that at once.
 * - A path that is late even at the least share is not slow, but longer: that is
 *   its base, and it gets its share back.
 * - What is not late rises again: slowly where it fell before, else faster and
 *   faster. So values that were marked rest, and those that come back clean are
 *   used again.
 */
#include "pathset.h"

#define WHOLE RP_ADAPT_WHOLE
#define LEVEL_MIN (WHOLE / 32)
#define LEVEL_SHIFT 8		/* to RP_PATH_WEIGHT_MAX */
#define GAIN_MAX 7
#define WARY 8
/* at once */
#define FALL_MAX (WHOLE / 3)
#define RISE_MAX (WHOLE / 8)
#define TURN_MAX (WHOLE / 16)	/* against the direction, because of how the error changes */
#define LEAST (WHOLE / 8192)
/* a difference that small is none */
#define FLOOR_US 4u
#define FLOOR_PACKETS 8
/* 16 times 16 times that is below 2^31 */
#define TIME_MAX_US 1000000u
/* noise of one floor is averaged over so many */
#define CALM 48
/* so many floors are no noise: a queue that says that is believed at once */
#define MUCH 3
/* what falls by less of itself from look to look stays: it is told in steps */
#define STAYS 3
/* and what is as old as that many reports is */
#define LAG_MAX 4u
#define CALM_MAX 16u
/* more than that is as late as that */
#define ERROR_MAX 65535
/*
 * What was found out while the others had queues is found out again, the sooner the
 * better. But each time costs, and it may be a path that hardly carries anything.
 */
#define LEARN_NS 20000000ull
#define LEARNS_MAX 7
#define LEARN_FORGET_NS 10000000000ull
#define STUCK_LOOKS 8
/* packets that a rate is not judged by */
#define PRIOR 2
/* a difference in marks, of 256 */
#define MARKS_SAME 8
#define MARKS_MORE 16

/**
 * struct view - what all paths have in common in one report
 * @now_ns: the time
 * @interval_ns: of reports
 * @received: packets on all usable paths that it names
 * @marked: of these, or lost
 * @weight: sum of the weights
 * @mean_us: backlog of a packet
 * @floor_us: differences up to that are none
 */
struct view {
	u64 now_ns;
	u64 interval_ns;
	u32 received;
	u32 marked;
	u32 weight;
	u32 mean_us;
	u32 floor_us;
};

/* what the report says of one path */
struct news {
	u32 received;
	u32 marked;
};

void rp_adapt_init(struct rp_adapt *a, u64 now_ns)
{
	memset(a, 0, sizeof(*a));
	a->level = WHOLE;
	a->fell_at = 2 * WHOLE;
	a->looked_ns = now_ns;
}

static struct news news_of(const struct rp_pathset_entry *e)
{
	u32 lost = e->health.lost_total - e->adapt.lost;

	return (struct news){ .received = e->received - e->adapt.received,
			      .marked = e->marked - e->adapt.marked + lost };
}

static void read_news(struct rp_pathset_entry *e)
{
	e->adapt.received = e->received;
	e->adapt.marked = e->marked;
	e->adapt.lost = e->health.lost_total;
}

static bool takes_part(const struct rp_pathset *s, u32 index)
{
	return s->weight[index] && s->entry[index].received != s->entry[index].adapt.received;
}

/*
 * The base follows what is less, but not at once, and not when packets are so far
 * apart that being late does not show.
 */
static void measure(struct rp_pathset_entry *e, u32 spacing_ns)
{
	struct rp_adapt *a = &e->adapt;
	u32 late_us = e->health.late_us;

	if (late_us < a->base_us && spacing_ns < a->base_us * 250ull)
		a->base_us -= (a->base_us - late_us + 7) / 8;
	e->backlog_us = late_us > a->base_us ? late_us - a->base_us : 0;
}

/* Return: false if the report is about nothing. */
static bool survey(struct rp_pathset *s, struct view *v)
{
	u32 i, spacing_ns;
	u64 backlog = 0;

	for (i = 0; i < s->n; i++) {
		v->weight += s->adaptive[i];
		if (takes_part(s, i)) {
			v->received += news_of(&s->entry[i]).received;
			v->marked += news_of(&s->entry[i]).marked;
		}
	}
	if (!v->received)
		return false;
	spacing_ns = div_u64(v->interval_ns, v->received);
	for (i = 0; i < s->n; i++) {
		if (!takes_part(s, i))
			continue;
		measure(&s->entry[i], spacing_ns);
		backlog += (u64)s->entry[i].backlog_us * news_of(&s->entry[i]).received;
	}
	v->mean_us = div_u64(backlog, v->received);
	/* where a slow path holds up all others, what is usual is what was before */
	if (s->spacing_ns)
		spacing_ns = min(spacing_ns, s->spacing_ns + s->spacing_ns / 256 + 1);
	s->spacing_ns = spacing_ns;
	v->floor_us = FLOOR_US + (u32)div_u64(FLOOR_PACKETS * (u64)spacing_ns, 1000);
	return true;
}

static void move(struct rp_pathset_entry *e, s32 by, const struct view *v)
{
	struct rp_adapt *a = &e->adapt;

	if (by < 0)
		a->fell_at = a->level;
	a->level = max(a->level + (s64)a->level * by / WHOLE, (s64)LEVEL_MIN);
	a->settled_ns = v->now_ns + e->health.late_us * 1000ull;
}

/* Of a pull: harder each time that it goes on into that direction, or, warily, each eighth time. */
static s32 push(struct rp_adapt *a, bool up, s32 pull, bool harder)
{
	if (a->rising != up) {
		a->gain = 0;
		a->runs = 0;
	} else if ((harder || ++a->runs % WARY == 0) && a->gain < GAIN_MAX) {
		a->gain++;
	}
	a->rising = up;
	return min((s64)max(pull, LEAST) << a->gain, (s64)WHOLE);
}

/* Its share of what arrived is far below its share of what was sent: it became slow. */
static bool follow_rate(struct rp_pathset *s, u32 index, const struct news *n, s32 error,
			const struct view *v)
{
	struct rp_pathset_entry *e = &s->entry[index];
	u32 due = div_u64((u64)v->received * s->adaptive[index], v->weight);
	u32 ratio = div_u64((n->received + PRIOR) * (u64)WHOLE, due + PRIOR);

	if (error < 4 * (s32)v->floor_us || ratio > WHOLE * 3 / 4)
		return false;
	e->adapt.error_us = error;
	e->adapt.looked_ns = v->now_ns;
	move(e, (s32)max(ratio, WHOLE / 4u) - WHOLE, v);
	return true;
}

static void fall(struct rp_pathset_entry *e, s32 pull, s32 turn, bool holds_all,
		 const struct view *v)
{
	struct rp_adapt *a = &e->adapt;

	pull = push(a, false, pull, holds_all);
	move(e, -clamp(pull + turn, -TURN_MAX, FALL_MAX), v);
}

static void rise(struct rp_pathset_entry *e, s32 pull, s32 turn, const struct view *v)
{
	struct rp_adapt *a = &e->adapt;
	bool fell_here = a->level > a->fell_at - a->fell_at / 8 &&
			 a->level < a->fell_at + a->fell_at / 8;

	pull = push(a, true, pull, !fell_here);
	move(e, clamp(pull - turn, -TURN_MAX, RISE_MAX), v);
}

/* Parts of the whole: how hard the error pulls, and how its change turns that. */
static s32 pull_of(s32 error, u32 time_us, u32 calm)
{
	return error * (WHOLE / 32) / (s32)(time_us * calm * calm);
}

static s32 turn_of(s32 change, u32 time_us, u32 calm)
{
	return change * (WHOLE / 8) / (s32)(time_us * calm) * 6;
}

static s32 error_of(const struct rp_pathset_entry *e, const struct view *v)
{
	return clamp((s32)e->backlog_us - (s32)v->mean_us, -ERROR_MAX, ERROR_MAX);
}

/*
 * It is late at the least share, and stays so while any queue would drain: then it
 * always is.
 */
static bool learn_base(struct rp_pathset_entry *e, bool stays, const struct view *v)
{
	struct rp_adapt *a = &e->adapt;

	if (a->level > LEVEL_MIN || !stays) {
		a->stuck = 0;
		return false;
	}
	if (++a->stuck < STUCK_LOOKS)
		return false;
	a->stuck = 0;
	if (v->now_ns < a->learn_ns)
		return false;
	a->learns = v->now_ns < a->learn_ns + LEARN_FORGET_NS ? min(a->learns + 1, LEARNS_MAX) : 0;
	a->learn_ns = v->now_ns + (LEARN_NS << a->learns);
	a->base_us = e->health.late_us;
	a->level = WHOLE;
	a->fell_at = 2 * WHOLE;
	a->gain = 0;
	a->settled_ns = v->now_ns + e->health.late_us * 1000ull;
	return true;
}

static void steer(struct rp_pathset_entry *e, s32 error, s32 change, u32 marks, u32 mean_marks,
		  u32 time_us, const struct view *v)
{
	s32 floor = min(v->floor_us + e->adapt.base_us / 4, ERROR_MAX / 4u);
	s32 mean = min(v->mean_us, ERROR_MAX + 0u);
	u32 lag = min(e->health.late_us, time_us) / max((u32)div_u64(v->interval_ns, 1000), 1u);
	u32 calm = min(1 + CALM * v->floor_us / time_us + min(lag, LAG_MAX), CALM_MAX);
	u32 more = marks > mean_marks + MARKS_MORE ? marks - mean_marks : 0;
	bool much = error > MUCH * floor, stays = much && change > -error / STAYS;
	s32 turn = 0, pull;

	if (change > floor || change < -floor)
		turn = turn_of(clamp(change, -ERROR_MAX, ERROR_MAX), time_us, calm);
	if (error > floor + mean / 8 || more) {
		if (learn_base(e, stays && !more, v))
			return;
		pull = pull_of(error - floor, time_us, much ? 1 : calm);
		pull = max(pull, (s32)more * (WHOLE / 256 / 8));
		fall(e, pull, turn, stays, v);
	} else if (e->adapt.level < WHOLE && marks <= mean_marks + MARKS_SAME) {
		rise(e, pull_of(-error, time_us, calm), turn, v);
	}
}

static void look(struct rp_pathset *s, u32 index, const struct view *v)
{
	struct rp_pathset_entry *e = &s->entry[index];
	struct rp_adapt *a = &e->adapt;
	struct news n = news_of(e);
	s32 error = error_of(e, v), before = a->error_us;
	u32 time_us;

	read_news(e);
	if (follow_rate(s, index, &n, error, v))
		return;
	if (e->health.arrived_ns <= a->settled_ns || v->now_ns - a->looked_ns < v->interval_ns / 2)
		return;
	time_us = div_u64(min(v->now_ns - a->looked_ns, TIME_MAX_US * 1000ull), 1000);
	time_us = max(time_us, min(e->health.late_us, TIME_MAX_US));
	a->error_us = error;
	a->looked_ns = v->now_ns;
	steer(e, error, error - before, div_u64(n.marked * 256ull, n.received),
	      div_u64(v->marked * 256ull, v->received), time_us, v);
}

/* Only ratios count: the highest is the whole. */
static void level_out(struct rp_pathset *s)
{
	u32 i, top = 0;

	for (i = 0; i < s->n; i++)
		if (s->weight[i])
			top = max(top, s->entry[i].adapt.level);
	for (i = 0; i < s->n; i++) {
		struct rp_pathset_entry *e = &s->entry[i];
		u32 level = top ? div_u64((u64)e->adapt.level * WHOLE, top) : WHOLE;

		e->adapt.level = clamp(level, (u32)LEVEL_MIN, (u32)WHOLE);
		e->factor = e->adapt.level >> LEVEL_SHIFT;
		rp_pathset_publish(s, i);
	}
}

void rp_pathset_adapt(struct rp_pathset *s, const struct rp_health_knobs *knobs, u64 now_ns)
{
	struct view v = { .now_ns = now_ns, .interval_ns = knobs->interval_ns };
	u32 i;

	if (!survey(s, &v))
		return;
	for (i = 0; i < s->n; i++)
		if (takes_part(s, i))
			look(s, i, &v);
	level_out(s);
}
