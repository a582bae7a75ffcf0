// SPDX-License-Identifier: GPL-2.0
#include "pathset.h"

#define WHOLE 65536
#define LEVEL_MIN (WHOLE / 32)
#define GAIN_MAX 7
#ifndef RISE
#define RISE (WHOLE / 2048)
#endif
#ifndef BETA
#define BETA 8
#endif
#ifndef ALPHA
#define ALPHA 2
#endif
#ifndef CALM
#define CALM 48
#endif
#ifndef LAG
#define LAG 1
#endif
#ifndef LAGMAX
#define LAGMAX 3u
#endif
#ifndef PRIOR
#define PRIOR 2
#endif
#define FALL_MAX (WHOLE / 3)
#define RISE_MAX (WHOLE / 8)

struct totals {
	u32 received;
	u32 marked;
	u32 lost;
	u64 backlog;
	u32 weight;
};

struct news {
	u32 received;
	u32 marked;
	u32 lost;
};

static struct news news_of(const struct rp_pathset_entry *e)
{
	struct news n = {
		.received = e->received - e->adapt.received,
		.marked = e->marked - e->adapt.marked,
		.lost = e->health.lost_total - e->adapt.lost,
	};
	return n;
}

static bool near(u32 level, u32 other)
{
	return level > other - other / 8 && level < other + other / 8;
}

static void push(struct rp_adapt *a, bool up, bool stubborn)
{
	if (a->rising != up)
		a->gain = 0;
	else if (stubborn)
		a->gain = min(a->gain + 1, GAIN_MAX);
	a->rising = up;
}

static void move(struct rp_adapt *a, s32 by, u32 late_us, u64 now_ns)
{
	s64 level = a->level + (s64)a->level * by / WHOLE;

	if (by < 0)
		a->fell_at = a->level;
	a->level = max(level, (s64)LEVEL_MIN);
	a->moved_ns = now_ns + late_us * 1000ull;
}

void rp_pathset_adapt(struct rp_pathset *s, const struct rp_health_knobs *knobs, u64 now_ns)
{
	struct totals t = { 0 };
	u32 i, spacing, floor, mean, top = 0, all = 0;
	u32 mean_mark;

	for (i = 0; i < s->n; i++) {
		struct rp_pathset_entry *e = &s->entry[i];
		struct news n = news_of(e);

		all += e->received;
		if (!e->adapt.level) {
			e->adapt.level = WHOLE;
			e->adapt.fell_at = 2 * WHOLE;
		}
		if (!s->weight[i])
			continue;
		t.weight += s->adaptive[i];
		if (!n.received)
			continue;
		t.received += n.received;
		t.marked += n.marked;
		t.lost += n.lost;
	}
	if (!t.received)
		return;
	spacing = div_u64(knobs->interval_ns, t.received);
	if (s->spacing_ns)
		spacing = min(spacing, s->spacing_ns + s->spacing_ns / 256 + 1);
	s->spacing_ns = spacing;
	for (i = 0; i < s->n; i++) {
		struct rp_pathset_entry *e = &s->entry[i];
		struct news n = news_of(e);
		u32 late = e->health.late_us;

		if (!s->weight[i] || !n.received)
			continue;
		if (late < e->adapt.base_us && 4 * spacing < e->adapt.base_us * 1000)
			e->adapt.base_us -= (e->adapt.base_us - late + 3) / 4;
		e->backlog_us = late > e->adapt.base_us ? late - e->adapt.base_us : 0;
		t.backlog += (u64)e->backlog_us * n.received;
	}
	mean = div_u64(t.backlog, t.received);
	mean_mark = (u64)t.marked * 256 / t.received;
	floor = max(4u, 8 * spacing / 1000);
	for (i = 0; i < s->n; i++) {
		struct rp_pathset_entry *e = &s->entry[i];
		struct rp_adapt *a = &e->adapt;
		struct news n = news_of(e);
		u32 mark, t_us, slow;
		s32 error, change, by;
		u64 due, ratio;
		bool marked, high;
		s64 pull;

		if (!s->weight[i] || !n.received)
			continue;
		a->received = e->received;
		a->marked = e->marked;
		a->lost = e->health.lost_total;
		error = (s32)e->backlog_us - (s32)mean;
		high = error > (s32)(4 * floor);
		due = (u64)t.received * s->adaptive[i] / t.weight;
		ratio = (n.received + PRIOR) * (u64)WHOLE / (due + PRIOR);
		if (high && ratio < WHOLE * 3 / 4) {
			a->error_us = error;
			a->looked_ns = now_ns;
			move(a, (s32)max(ratio, (u64)WHOLE / 4) - WHOLE, e->health.late_us, now_ns);
			continue;
		}
		if (e->health.arrived_ns <= a->moved_ns || now_ns < a->moved_ns + knobs->interval_ns)
			continue;
		mark = (u64)n.marked * 256 / n.received;
		marked = mark > mean_mark + 16 && mark > mean_mark * 5 / 4;
		change = error - a->error_us;
		t_us = max((u32)min(div_u64(now_ns - a->looked_ns, 1000), (u64)1000000), e->health.late_us);
		slow = 1 + CALM * floor / t_us + min(LAG * e->health.late_us / (u32)div_u64(knobs->interval_ns, 1000), LAGMAX);
		a->error_us = error;
		a->looked_ns = now_ns;
		if (error > (s32)(floor + mean / 8) || marked) {
			if (a->level == LEVEL_MIN && !marked) {
				a->base_us = e->health.late_us;
				a->gain = 4;
				a->rising = true;
				continue;
			}
			push(a, false, high && change > -error / 8);
			pull = (s64)(error - (s32)floor) * WHOLE / t_us / BETA / slow / slow;
			pull = max(pull, (s64)RISE/2);
			pull <<= a->gain;
			pull += (s64)change * WHOLE / t_us / ALPHA / slow;
			by = -clamp(pull, (s64)-WHOLE / 16, (s64)FALL_MAX);
			move(a, by, e->health.late_us, now_ns);
		} else if (a->level < WHOLE) {
			pull = error < 0 ? (s64)-error * WHOLE / t_us / BETA / slow / slow: 0;

			push(a, true, !near(a->level, a->fell_at));
			pull = max(pull, (s64)RISE);
			pull <<= a->gain;
			pull -= (s64)change * WHOLE / t_us / ALPHA / slow;
			by = clamp(pull, (s64)-WHOLE / 16, (s64)RISE_MAX);
			move(a, by, e->health.late_us, now_ns);
		}
	}
	for (i = 0; i < s->n; i++)
		if (s->weight[i])
			top = max(top, s->entry[i].adapt.level);
	for (i = 0; i < s->n; i++) {
		struct rp_pathset_entry *e = &s->entry[i];

		if (top && top != WHOLE) {
			e->adapt.level = max((u32)((u64)e->adapt.level * WHOLE / top), (u32)LEVEL_MIN);
			e->adapt.level = min(e->adapt.level, (u32)WHOLE);
		}
		e->factor = e->adapt.level >> 8;
		rp_pathset_publish(s, i);
	}
}
