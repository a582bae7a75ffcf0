/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which EV a QP gets, between two addresses. A QP that a NIC offloads has one
 * EV for its life, chosen when it connects; what the fabric makes of it is chance
 * unless somebody keeps account. A plan does: of EVs, the paths that they take, and
 * the QPs that sit on each.
 *
 * Where discovery has found out which EVs take which path (PATHS), a QP goes to the
 * path on which its own job has the least for the path's weight; where that does
 * not decide, to the one that has the least in all. So one job's QPs do not meet each
 * other before there is a QP on each path, and jobs that come later fill up.
 *
 * Where nothing is known (SEQUENCE), each QP gets an EV that no other has, the
 * first free one of a row that goes by the golden ratio: neighbours differ in many
 * bits, and any run of it is spread evenly over all there are. Beyond
 * RP_PLAN_EVS_MAX QPs EVs are shared; no fabric has that many paths.
 *
 * Pure: the caller has the lock, and the memory.
 */
#ifndef ROCEPATH_CORE_PLAN_H
#define ROCEPATH_CORE_PLAN_H

#include <rocepath/types.h>
#include <linux/rocepath_rdma.h>

#define RP_PLAN_EVS_MAX ROCEPATH_RDMA_PLAN_EVS
#define RP_PLAN_WEIGHT_MAX ROCEPATH_RDMA_WEIGHT_MAX
#define RP_PLAN_CHUNK 256		/* EVs; no more than a page */
#define RP_PLAN_CHUNKS (RP_PLAN_EVS_MAX / RP_PLAN_CHUNK)
#define RP_PLAN_NONE 0xffff		/* no EV, no path */

/**
 * struct rp_plan_ev - one EV of a plan
 * @ev: 0 to 16383
 * @path: index in struct rp_plan.path; RP_PLAN_NONE: of no path that is known
 * @weight: of what is new on its path, 0: only what sits on it already
 * @health: 0 to RP_PLAN_WEIGHT_MAX, times @weight; 0: nothing new
 * @qps: that sit on it
 * @out: an operator has taken it out: nothing new, whatever its health
 */
struct rp_plan_ev {
	u16 ev;
	u16 path;
	u16 weight;
	u16 health;
	u32 qps;
	u32 out;
};

struct rp_plan_chunk {
	struct rp_plan_ev ev[RP_PLAN_CHUNK];
};

/**
 * struct rp_plan_path - one path of a plan of paths
 * @number: by which discovery knows it
 * @qps: that sit on it
 * @weight: while one is chosen: the greatest of its EVs
 * @job_qps: while one is chosen: of @qps, those of the job
 */
struct rp_plan_path {
	u32 number;
	u32 qps;
	u32 weight;
	u32 job_qps;
};

/**
 * struct rp_plan_place - where a QP sits; lives in the QP
 * @next: QP of the same plan
 * @at: who points to it; NULL: it sits nowhere
 * @job: whose QP it is, 0: the kernel's
 * @index: of its EV in the plan; RP_PLAN_NONE: the plan does not know its EV
 * @ev: its EV
 * @reserved: of the caller: for a QP that is still in another place
 */
struct rp_plan_place {
	struct rp_plan_place *next;
	struct rp_plan_place **at;
	u64 job;
	u16 index;
	u16 ev;
	bool reserved;
};

/**
 * struct rp_plan - the EVs between two addresses
 * @kind: enum rocepath_rdma_plan_kind
 * @count: EVs
 * @paths: in @path
 * @start: where the sequence begins, so that not all pairs begin alike
 * @next: how far it was used
 * @places: QPs that sit here
 * @path: for PATHS, of the caller
 * @chunk: of the caller
 */
struct rp_plan {
	u32 kind;
	u32 count;
	u32 paths;
	u32 start;
	u32 next;
	struct rp_plan_place *places;
	struct rp_plan_path *path;
	struct rp_plan_chunk *chunk[RP_PLAN_CHUNKS];
};

/** rp_plan_label() - the flow label that makes UDP source port 49152 + @ev; never 0 */
static inline u32 rp_plan_label(u16 ev)
{
	return 0x4000 | ((ev & 0x3fff) ^ 1);
}

/** rp_plan_label_ev() - the EV that a flow label makes, where the source port follows it */
static inline u16 rp_plan_label_ev(u32 label)
{
	return (label & 0x3fff) ^ ((label & 0xfffff) >> 14);
}

/** rp_plan_at() - the EV of an index below count */
static inline struct rp_plan_ev *rp_plan_at(const struct rp_plan *plan, u32 index)
{
	return &plan->chunk[index / RP_PLAN_CHUNK]->ev[index % RP_PLAN_CHUNK];
}

/**
 * rp_plan_init() - no EV, no QP, the sequence
 * @plan: the plan
 * @start: of the sequence, any number
 */
void rp_plan_init(struct rp_plan *plan, u32 start);

/**
 * rp_plan_of_paths() - make it a plan of paths; EVs come by rp_plan_add()
 * @plan: after rp_plan_init()
 * @path: room for as many paths as EVs will be added
 */
void rp_plan_of_paths(struct rp_plan *plan, struct rp_plan_path *path);

/**
 * rp_plan_wants_room() - is another chunk needed before an EV can be added?
 * @plan: the plan
 *
 * A plan that can have no more does not want any.
 */
bool rp_plan_wants_room(const struct rp_plan *plan);

/**
 * rp_plan_give_room() - here it is
 * @plan: which wants it
 * @chunk: of the caller, until it takes the plan apart
 */
void rp_plan_give_room(struct rp_plan *plan, struct rp_plan_chunk *chunk);

/**
 * rp_plan_add() - another EV for a plan of paths
 * @plan: with room
 * @ev: not in it yet
 * @number: of its path
 * @weight: 1 to RP_PLAN_WEIGHT_MAX
 *
 * Return: false: it is there already, or there are too many.
 */
bool rp_plan_add(struct rp_plan *plan, u16 ev, u32 number, u16 weight);

/**
 * rp_plan_find() - an EV of a plan
 * @plan: the plan
 * @ev: which
 *
 * Return: its index, RP_PLAN_NONE: it is not there.
 */
u32 rp_plan_find(const struct rp_plan *plan, u16 ev);

/**
 * rp_plan_take() - a QP connects: the EV that is best for it
 * @plan: with room, or it makes do with the EVs that there are
 * @place: of the QP, sits nowhere
 * @job: whose QP it is
 *
 * Return: false: there is no EV at all, for want of room.
 */
bool rp_plan_take(struct rp_plan *plan, struct rp_plan_place *place, u64 job);

/**
 * rp_plan_take_at() - a QP sits on an EV that others chose
 * @plan: the plan
 * @place: of the QP, sits nowhere
 * @job: whose QP it is
 * @ev: its EV; that need not be one of the plan's
 */
void rp_plan_take_at(struct rp_plan *plan, struct rp_plan_place *place, u64 job, u16 ev);

/**
 * rp_plan_give_back() - a QP goes
 * @plan: where it sits
 * @place: of the QP; may sit nowhere
 */
void rp_plan_give_back(struct rp_plan *plan, struct rp_plan_place *place);

/**
 * rp_plan_better() - is there a better place than the one that a QP has?
 * @plan: where it sits
 * @place: of the QP
 *
 * Return: true if another EV may be given to QPs, and its own may not.
 */
bool rp_plan_better(const struct rp_plan *plan, const struct rp_plan_place *place);

/**
 * rp_plan_weigh() - the health of an EV
 * @plan: the plan
 * @ev: which
 * @health: 0 to RP_PLAN_WEIGHT_MAX
 *
 * Return: false: it is not there.
 */
bool rp_plan_weigh(struct rp_plan *plan, u16 ev, u16 health);

/**
 * rp_plan_take_out() - an operator takes an EV out, or puts it back
 * @plan: the plan
 * @ev: which
 * @out: out, or back
 *
 * Return: false: it is not there.
 */
bool rp_plan_take_out(struct rp_plan *plan, u16 ev, bool out);

/**
 * rp_plan_succeed() - a new plan takes the place of an old one
 * @plan: the new one, without QPs
 * @old: its QPs keep their EVs, and move to @plan; so does what is known of EVs
 *
 * EVs that QPs sit on, and @plan does not have, are added as long as there is room, for
 * nothing new. What is still @old's is the caller's.
 */
void rp_plan_succeed(struct rp_plan *plan, struct rp_plan *old);

#endif /* ROCEPATH_CORE_PLAN_H */
