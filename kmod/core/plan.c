// SPDX-License-Identifier: GPL-2.0
#include "plan.h"

#define EVS ROCEPATH_RDMA_EVS
/* odd, and next to EVS divided by the golden ratio: a row that has each EV once */
#define STRIDE 10125

void rp_plan_init(struct rp_plan *plan, u32 start)
{
	memset(plan, 0, sizeof(*plan));
	plan->kind = ROCEPATH_RDMA_PLAN_SEQUENCE;
	plan->start = start;
}

void rp_plan_of_paths(struct rp_plan *plan, struct rp_plan_path *path)
{
	plan->kind = ROCEPATH_RDMA_PLAN_PATHS;
	plan->path = path;
}

bool rp_plan_wants_room(const struct rp_plan *plan)
{
	return plan->count < RP_PLAN_EVS_MAX && !plan->chunk[plan->count / RP_PLAN_CHUNK];
}

void rp_plan_give_room(struct rp_plan *plan, struct rp_plan_chunk *chunk)
{
	plan->chunk[plan->count / RP_PLAN_CHUNK] = chunk;
}

static bool plan_has_room(const struct rp_plan *plan)
{
	return plan->count < RP_PLAN_EVS_MAX && !rp_plan_wants_room(plan);
}

u32 rp_plan_find(const struct rp_plan *plan, u16 ev)
{
	u32 i;

	for (i = 0; i < plan->count; i++)
		if (rp_plan_at(plan, i)->ev == ev)
			return i;
	return RP_PLAN_NONE;
}

static void plan_append(struct rp_plan *plan, u16 ev, u16 path, u16 weight)
{
	*rp_plan_at(plan, plan->count++) = (struct rp_plan_ev){
		.ev = ev,
		.path = path,
		.weight = weight,
		.health = RP_PLAN_WEIGHT_MAX,
	};
}

static u16 plan_path(struct rp_plan *plan, u32 number)
{
	u32 i;

	for (i = 0; i < plan->paths; i++)
		if (plan->path[i].number == number)
			return i;
	plan->path[plan->paths] = (struct rp_plan_path){ .number = number };
	return plan->paths++;
}

bool rp_plan_add(struct rp_plan *plan, u16 ev, u32 number, u16 weight)
{
	if (!plan_has_room(plan) || rp_plan_find(plan, ev) != RP_PLAN_NONE)
		return false;
	plan_append(plan, ev, plan_path(plan, number), weight);
	return true;
}

static u32 ev_weight(const struct rp_plan_ev *e)
{
	return e->out ? 0 : (u32)e->weight * e->health;
}

/* is @a of @weight_a less than @b of @weight_b, for its weight? */
static bool less(u64 a, u32 weight_a, u64 b, u32 weight_b)
{
	return a * weight_b < b * weight_a;
}

/* The weight of an EV when QPs must go somewhere though nothing is good. */
static u32 weight_or_any(const struct rp_plan_ev *e, bool any)
{
	return any ? 1 : ev_weight(e);
}

/* what each path weighs, and has of the job; true: no path is good */
static bool paths_weigh(struct rp_plan *plan, u64 job)
{
	const struct rp_plan_place *place;
	struct rp_plan_path *p;
	bool none = true;
	u32 i;

	for (i = 0; i < plan->paths; i++) {
		plan->path[i].weight = 0;
		plan->path[i].job_qps = 0;
	}
	for (i = 0; i < plan->count; i++) {
		const struct rp_plan_ev *e = rp_plan_at(plan, i);

		if (e->path == RP_PLAN_NONE)
			continue;
		p = &plan->path[e->path];
		p->weight = max(p->weight, ev_weight(e));
		none = none && !ev_weight(e);
	}
	for (i = 0; none && i < plan->paths; i++)
		plan->path[i].weight = 1;
	for (place = plan->places; place; place = place->next) {
		u16 path = place->index == RP_PLAN_NONE ? RP_PLAN_NONE :
							  rp_plan_at(plan, place->index)->path;

		if (place->job == job && path != RP_PLAN_NONE)
			plan->path[path].job_qps++;
	}
	return none;
}

/* of two paths that both have a weight: first the job's own, then all */
static bool path_better(const struct rp_plan_path *a, const struct rp_plan_path *b)
{
	if (less(a->job_qps, a->weight, b->job_qps, b->weight))
		return true;
	if (less(b->job_qps, b->weight, a->job_qps, a->weight))
		return false;
	return less(a->qps + 1ull, a->weight, b->qps + 1ull, b->weight);
}

/* the EV of a path that the fewest sit on */
static u32 path_ev(const struct rp_plan *plan, u16 path, bool any)
{
	u32 i, best = RP_PLAN_NONE;

	for (i = 0; i < plan->count; i++) {
		const struct rp_plan_ev *e = rp_plan_at(plan, i);

		if (e->path != path || !weight_or_any(e, any))
			continue;
		if (best == RP_PLAN_NONE || e->qps < rp_plan_at(plan, best)->qps)
			best = i;
	}
	return best;
}

static u32 paths_choose(struct rp_plan *plan, u64 job)
{
	bool any = paths_weigh(plan, job);
	u32 i, best = RP_PLAN_NONE;

	for (i = 0; i < plan->paths; i++) {
		if (!plan->path[i].weight)
			continue;
		if (best == RP_PLAN_NONE || path_better(&plan->path[i], &plan->path[best]))
			best = i;
	}
	return best == RP_PLAN_NONE ? RP_PLAN_NONE : path_ev(plan, best, any);
}

/* the next EV of the row that is not there yet, as those are that QPs had before */
static u32 sequence_extend(struct rp_plan *plan)
{
	u16 ev;

	while (plan_has_room(plan) && plan->next < EVS) {
		ev = (plan->start + plan->next++ * STRIDE) & (EVS - 1);
		if (rp_plan_find(plan, ev) != RP_PLAN_NONE)
			continue;
		plan_append(plan, ev, RP_PLAN_NONE, RP_PLAN_WEIGHT_MAX);
		return plan->count - 1;
	}
	return RP_PLAN_NONE;
}

/* the one that the fewest sit on, for its weight; @free: only those that nobody sits on */
static u32 sequence_least(const struct rp_plan *plan, bool free, bool any)
{
	u32 i, best = RP_PLAN_NONE;

	for (i = 0; i < plan->count; i++) {
		const struct rp_plan_ev *e = rp_plan_at(plan, i), *b;

		if (!weight_or_any(e, any) || (free && e->qps))
			continue;
		if (free)
			return i;
		b = best == RP_PLAN_NONE ? NULL : rp_plan_at(plan, best);
		if (!b || less(e->qps + 1ull, weight_or_any(e, any), b->qps + 1ull,
			       weight_or_any(b, any)))
			best = i;
	}
	return best;
}

static u32 sequence_choose(struct rp_plan *plan)
{
	u32 i = sequence_least(plan, true, false);

	if (i == RP_PLAN_NONE)
		i = sequence_extend(plan);
	if (i == RP_PLAN_NONE)
		i = sequence_least(plan, false, false);
	return i == RP_PLAN_NONE ? sequence_least(plan, false, true) : i;
}

static void place_link(struct rp_plan *plan, struct rp_plan_place *place)
{
	place->next = plan->places;
	place->at = &plan->places;
	if (place->next)
		place->next->at = &place->next;
	plan->places = place;
}

static void place_sit(struct rp_plan *plan, struct rp_plan_place *place, u32 index)
{
	struct rp_plan_ev *e;

	place->index = index;
	place_link(plan, place);
	if (index == RP_PLAN_NONE)
		return;
	e = rp_plan_at(plan, index);
	place->ev = e->ev;
	e->qps++;
	if (e->path != RP_PLAN_NONE)
		plan->path[e->path].qps++;
}

bool rp_plan_take(struct rp_plan *plan, struct rp_plan_place *place, u64 job)
{
	u32 index = plan->kind == ROCEPATH_RDMA_PLAN_PATHS ? paths_choose(plan, job) :
							     sequence_choose(plan);

	if (index == RP_PLAN_NONE)
		return false;
	place->job = job;
	place_sit(plan, place, index);
	return true;
}

/* its index, after it was added if there is room; among paths only for those that sit on it */
static u32 plan_find_or_append(struct rp_plan *plan, u16 ev)
{
	u32 index = rp_plan_find(plan, ev);

	if (index != RP_PLAN_NONE || !plan_has_room(plan))
		return index;
	plan_append(plan, ev, RP_PLAN_NONE,
		    plan->kind == ROCEPATH_RDMA_PLAN_PATHS ? 0 : RP_PLAN_WEIGHT_MAX);
	return plan->count - 1;
}

void rp_plan_take_at(struct rp_plan *plan, struct rp_plan_place *place, u64 job, u16 ev)
{
	place->job = job;
	place->ev = ev;
	place_sit(plan, place, plan_find_or_append(plan, ev));
}

void rp_plan_give_back(struct rp_plan *plan, struct rp_plan_place *place)
{
	struct rp_plan_ev *e;

	if (!place->at)
		return;
	*place->at = place->next;
	if (place->next)
		place->next->at = place->at;
	place->at = NULL;
	place->next = NULL;
	if (place->index == RP_PLAN_NONE)
		return;
	e = rp_plan_at(plan, place->index);
	e->qps--;
	if (e->path != RP_PLAN_NONE)
		plan->path[e->path].qps--;
}

bool rp_plan_better(const struct rp_plan *plan, const struct rp_plan_place *place)
{
	u32 i;

	if (place->index != RP_PLAN_NONE && ev_weight(rp_plan_at(plan, place->index)))
		return false;
	if (plan->kind == ROCEPATH_RDMA_PLAN_SEQUENCE && plan->count < RP_PLAN_EVS_MAX)
		return true;
	for (i = 0; i < plan->count; i++)
		if (ev_weight(rp_plan_at(plan, i)))
			return true;
	return false;
}

bool rp_plan_weigh(struct rp_plan *plan, u16 ev, u16 health)
{
	u32 index = rp_plan_find(plan, ev);

	if (index == RP_PLAN_NONE)
		return false;
	rp_plan_at(plan, index)->health = health;
	return true;
}

bool rp_plan_take_out(struct rp_plan *plan, u16 ev, bool out)
{
	u32 index = rp_plan_find(plan, ev);

	if (index == RP_PLAN_NONE)
		return false;
	rp_plan_at(plan, index)->out = out;
	return true;
}

void rp_plan_succeed(struct rp_plan *plan, struct rp_plan *old)
{
	struct rp_plan_place *place;
	u32 i, index;

	while ((place = old->places)) {
		rp_plan_give_back(old, place);
		rp_plan_take_at(plan, place, place->job, place->ev);
	}
	for (i = 0; i < old->count; i++) {
		const struct rp_plan_ev *e = rp_plan_at(old, i);

		index = rp_plan_find(plan, e->ev);
		if (index == RP_PLAN_NONE)
			continue;
		rp_plan_at(plan, index)->health = e->health;
		rp_plan_at(plan, index)->out = e->out;
	}
}
