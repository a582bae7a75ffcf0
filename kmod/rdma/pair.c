// SPDX-License-Identifier: GPL-2.0
/*
 * The plans of a port, one for each pair of addresses that a QP connects, or that an
 * operator has said something about. QPs take their places in probe handlers,
 * with preemption off and maybe with interrupts off, so the lock is irq-safe, and what
 * is allocated there is a page at most.
 */
#include "pair.h"

#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>

#include "device.h"
#include "qp.h"

#define RP_PAIRS_MAX 4096		/* of a port */
#define RP_PAIR_BUCKETS 256

/**
 * struct rp_rdma_pair_plan - two addresses
 * @node: in the table
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @plan: its EVs
 * @told: an operator has said something: it stays without QPs
 */
struct rp_rdma_pair_plan {
	struct hlist_node node;
	struct in6_addr local;
	struct in6_addr remote;
	struct rp_plan *plan;
	bool told;
};

/**
 * struct rp_rdma_pairs - those of a port
 * @lock: for all below, and the places of QPs
 * @count: pairs
 * @seed: of the hash
 * @bucket: the table
 */
struct rp_rdma_pairs {
	spinlock_t lock;
	u32 count;
	u32 seed;
	struct hlist_head bucket[RP_PAIR_BUCKETS];
};

/**
 * rp_rdma_pairs_new() - an empty table
 *
 * Context: process.
 * Return: the table or NULL.
 */
struct rp_rdma_pairs *rp_rdma_pairs_new(void)
{
	struct rp_rdma_pairs *pairs = kzalloc(sizeof(*pairs), GFP_KERNEL);

	if (!pairs)
		return NULL;
	spin_lock_init(&pairs->lock);
	pairs->seed = get_random_u32();
	return pairs;
}

static u32 pair_hash(const struct rp_rdma_pairs *pairs, const struct in6_addr *local,
		     const struct in6_addr *remote)
{
	return jhash2((const u32 *)remote, 4, jhash2((const u32 *)local, 4, pairs->seed));
}

static struct hlist_head *pair_bucket(struct rp_rdma_pairs *pairs, const struct in6_addr *local,
				      const struct in6_addr *remote)
{
	return &pairs->bucket[pair_hash(pairs, local, remote) % RP_PAIR_BUCKETS];
}

static struct rp_rdma_pair_plan *pair_find(struct rp_rdma_pairs *pairs,
					   const struct in6_addr *local,
					   const struct in6_addr *remote)
{
	struct rp_rdma_pair_plan *pair;

	lockdep_assert_held(&pairs->lock);
	hlist_for_each_entry(pair, pair_bucket(pairs, local, remote), node)
		if (ipv6_addr_equal(&pair->local, local) && ipv6_addr_equal(&pair->remote, remote))
			return pair;
	return NULL;
}

/**
 * rp_rdma_plan_release() - free a plan that no QP sits in
 * @plan: the plan or NULL
 *
 * Context: any.
 */
void rp_rdma_plan_release(struct rp_plan *plan)
{
	int i;

	if (!plan)
		return;
	for (i = 0; i < RP_PLAN_CHUNKS; i++)
		kfree(plan->chunk[i]);
	kfree(plan->path);
	kfree(plan);
}

/**
 * rp_rdma_plan_new() - a plan of paths, or a sequence
 * @evs: EVs that will be added; 0: the sequence
 *
 * Context: process.
 * Return: the plan or NULL.
 */
struct rp_plan *rp_rdma_plan_new(u32 evs)
{
	struct rp_plan *plan = kmalloc(sizeof(*plan), GFP_KERNEL);
	struct rp_plan_path *path;

	if (!plan)
		return NULL;
	rp_plan_init(plan, get_random_u32());
	if (!evs)
		return plan;
	path = kcalloc(evs, sizeof(*path), GFP_KERNEL);
	if (!path) {
		kfree(plan);
		return NULL;
	}
	rp_plan_of_paths(plan, path);
	return plan;
}

/**
 * rp_rdma_plan_room() - room for one more EV, if there can be one
 * @plan: the plan
 * @gfp: how to get it
 *
 * Context: that of @gfp.
 * Return: 0 or -ENOMEM.
 */
int rp_rdma_plan_room(struct rp_plan *plan, gfp_t gfp)
{
	struct rp_plan_chunk *chunk;

	if (!rp_plan_wants_room(plan))
		return 0;
	chunk = kmalloc(sizeof(*chunk), gfp | __GFP_NOWARN);
	if (!chunk)
		return -ENOMEM;
	rp_plan_give_room(plan, chunk);
	return 0;
}

/**
 * rp_rdma_plan_room_all() - room for all the EVs that there can be
 * @plan: a plan
 * @gfp: how to get it
 *
 * Context: that of @gfp.
 * Return: 0 or -ENOMEM.
 */
int rp_rdma_plan_room_all(struct rp_plan *plan, gfp_t gfp)
{
	int i;

	for (i = 0; i < RP_PLAN_CHUNKS; i++) {
		if (!plan->chunk[i])
			plan->chunk[i] = kmalloc(sizeof(*plan->chunk[i]), gfp);
		if (!plan->chunk[i])
			return -ENOMEM;
	}
	return 0;
}

static void pair_free(struct rp_rdma_pairs *pairs, struct rp_rdma_pair_plan *pair)
{
	lockdep_assert_held(&pairs->lock);
	hlist_del(&pair->node);
	pairs->count--;
	rp_rdma_plan_release(pair->plan);
	kfree(pair);
}

/* a pair that nobody uses any more, and nobody has said anything about, goes */
static void pair_tidy(struct rp_rdma_pairs *pairs, struct rp_rdma_pair_plan *pair)
{
	if (!pair->plan->places && !pair->told)
		pair_free(pairs, pair);
}

static struct rp_rdma_pair_plan *pair_new(struct rp_rdma_pairs *pairs,
					  const struct in6_addr *local,
					  const struct in6_addr *remote)
{
	struct rp_rdma_pair_plan *pair;

	lockdep_assert_held(&pairs->lock);
	if (pairs->count >= RP_PAIRS_MAX)
		return NULL;
	pair = kzalloc(sizeof(*pair), GFP_ATOMIC | __GFP_NOWARN);
	if (!pair)
		return NULL;
	pair->plan = kmalloc(sizeof(*pair->plan), GFP_ATOMIC | __GFP_NOWARN);
	if (!pair->plan) {
		kfree(pair);
		return NULL;
	}
	pair->local = *local;
	pair->remote = *remote;
	rp_plan_init(pair->plan, pair_hash(pairs, local, remote));
	hlist_add_head(&pair->node, pair_bucket(pairs, local, remote));
	pairs->count++;
	return pair;
}

static struct rp_rdma_pair_plan *pair_get(struct rp_rdma_pairs *pairs,
					  const struct in6_addr *local,
					  const struct in6_addr *remote)
{
	return pair_find(pairs, local, remote) ?: pair_new(pairs, local, remote);
}

/**
 * rp_rdma_pairs_release() - the port goes; no QP sits on it any more
 * @pairs: the table or NULL
 *
 * Context: process.
 */
void rp_rdma_pairs_release(struct rp_rdma_pairs *pairs)
{
	struct rp_rdma_pair_plan *pair;
	struct hlist_node *next;
	int i;

	if (!pairs)
		return;
	spin_lock_irq(&pairs->lock);
	for (i = 0; i < RP_PAIR_BUCKETS; i++)
		hlist_for_each_entry_safe(pair, next, &pairs->bucket[i], node) {
			WARN_ON_ONCE(pair->plan->places);
			pair_free(pairs, pair);
		}
	spin_unlock_irq(&pairs->lock);
	kfree(pairs);
}

/**
 * rp_rdma_pairs_count() - how many there are
 * @rdev: the port
 *
 * Context: any.
 */
u32 rp_rdma_pairs_count(const struct rp_rdma_device *rdev)
{
	return READ_ONCE(rdev->pairs->count);
}

/**
 * rp_rdma_pair_take() - a QP connects: the EV that is best for it
 * @row: the QP, with its addresses
 * @job: whose QP it is
 *
 * Context: any.
 * Return: true: its EV is in @row; false: there is no memory, or no place for the pair.
 */
bool rp_rdma_pair_take(struct rp_rdma_qp *row, u64 job)
{
	struct rp_rdma_pairs *pairs = row->rdev->pairs;
	struct rp_rdma_pair_plan *pair;
	unsigned long flags;
	bool taken = false;

	spin_lock_irqsave(&pairs->lock, flags);
	pair = pair_get(pairs, &row->local, &row->remote);
	if (pair) {
		/* where there is no room it shares an EV */
		rp_rdma_plan_room(pair->plan, GFP_ATOMIC);
		taken = rp_plan_take(pair->plan, &row->place, job);
		if (taken) {
			row->pair = pair;
			row->ev = row->place.ev;
		} else {
			pair_tidy(pairs, pair);
		}
	}
	spin_unlock_irqrestore(&pairs->lock, flags);
	return taken;
}

/**
 * rp_rdma_pair_take_at() - a QP connects with an EV that is not the plan's choice
 * @row: the QP, with its addresses
 * @job: whose QP it is
 * @ev: its EV
 *
 * Context: any.
 * Return: true: the plan knows of it.
 */
bool rp_rdma_pair_take_at(struct rp_rdma_qp *row, u64 job, u16 ev)
{
	struct rp_rdma_pairs *pairs = row->rdev->pairs;
	struct rp_rdma_pair_plan *pair;
	unsigned long flags;

	spin_lock_irqsave(&pairs->lock, flags);
	pair = pair_get(pairs, &row->local, &row->remote);
	if (pair) {
		rp_rdma_plan_room(pair->plan, GFP_ATOMIC);
		rp_plan_take_at(pair->plan, &row->place, job, ev);
		row->pair = pair;
	}
	spin_unlock_irqrestore(&pairs->lock, flags);
	return pair;
}

/**
 * rp_rdma_pair_give_back() - a QP sends no more
 * @row: the QP; may sit nowhere
 *
 * Context: any.
 */
void rp_rdma_pair_give_back(struct rp_rdma_qp *row)
{
	struct rp_rdma_pairs *pairs = row->rdev->pairs;
	struct rp_rdma_pair_plan *pair;
	unsigned long flags;

	spin_lock_irqsave(&pairs->lock, flags);
	pair = row->pair;
	if (pair) {
		rp_plan_give_back(pair->plan, &row->place);
		row->pair = NULL;
		pair_tidy(pairs, pair);
	}
	spin_unlock_irqrestore(&pairs->lock, flags);
}

/**
 * rp_rdma_pair_move_begin() - a live QP wants a better place
 * @row: the QP; keeps its own place meanwhile
 * @to: the other one
 *
 * Context: process.
 * Return: false: there is none, or the QP sits nowhere.
 */
bool rp_rdma_pair_move_begin(struct rp_rdma_qp *row, struct rp_plan_place *to)
{
	struct rp_rdma_pairs *pairs = row->rdev->pairs;
	bool found = false;

	*to = (struct rp_plan_place){ .reserved = true };
	spin_lock_irq(&pairs->lock);
	if (row->pair && rp_plan_better(row->pair->plan, &row->place)) {
		rp_rdma_plan_room(row->pair->plan, GFP_ATOMIC);
		found = rp_plan_take(row->pair->plan, to, row->place.job);
	}
	spin_unlock_irq(&pairs->lock);
	return found;
}

/**
 * rp_rdma_pair_move_end() - it has moved, or could not
 * @row: the QP
 * @to: after rp_rdma_pair_move_begin(); sits nowhere afterwards
 * @moved: it has
 *
 * Context: process.
 */
void rp_rdma_pair_move_end(struct rp_rdma_qp *row, struct rp_plan_place *to, bool moved)
{
	struct rp_rdma_pairs *pairs = row->rdev->pairs;
	struct rp_rdma_pair_plan *pair;
	u16 ev = to->ev;

	spin_lock_irq(&pairs->lock);
	pair = pair_find(pairs, &row->local, &row->remote);
	/* the pair stays as long as a place in it is taken */
	rp_plan_give_back(pair->plan, to);
	if (moved && row->pair) {
		rp_plan_give_back(pair->plan, &row->place);
		rp_rdma_plan_room(pair->plan, GFP_ATOMIC);
		rp_plan_take_at(pair->plan, &row->place, row->job, ev);
		row->ev = ev;
	}
	pair_tidy(pairs, pair);
	spin_unlock_irq(&pairs->lock);
}

/**
 * rp_rdma_pair_weigh() - the health of an EV
 * @rdev: the port
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @ev: the EV
 * @health: 0 to RP_PLAN_WEIGHT_MAX
 *
 * Context: any.
 */
void rp_rdma_pair_weigh(struct rp_rdma_device *rdev, const struct in6_addr *local,
			const struct in6_addr *remote, u16 ev, u16 health)
{
	struct rp_rdma_pairs *pairs = rdev->pairs;
	struct rp_rdma_pair_plan *pair;
	unsigned long flags;

	spin_lock_irqsave(&pairs->lock, flags);
	pair = pair_find(pairs, local, remote);
	if (pair)
		rp_plan_weigh(pair->plan, ev, health);
	spin_unlock_irqrestore(&pairs->lock, flags);
}

/**
 * rp_rdma_pair_tell() - an operator takes an EV out, or puts it back
 * @rdev: the port
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @ev: the EV
 * @down: out, or back
 *
 * Context: process.
 * Return: 0, -ENOENT: the plan does not have it.
 */
int rp_rdma_pair_tell(struct rp_rdma_device *rdev, const struct in6_addr *local,
		      const struct in6_addr *remote, u16 ev, bool down)
{
	struct rp_rdma_pairs *pairs = rdev->pairs;
	struct rp_rdma_pair_plan *pair;
	int err = -ENOENT;

	spin_lock_irq(&pairs->lock);
	pair = pair_find(pairs, local, remote);
	if (pair && rp_plan_take_out(pair->plan, ev, down)) {
		if (down)
			pair->told = true;
		err = 0;
	}
	spin_unlock_irq(&pairs->lock);
	return err;
}

static void pair_info(const struct rp_rdma_pair_plan *pair, u32 index, struct rp_rdma_ev_info *info)
{
	const struct rp_plan_ev *e = rp_plan_at(pair->plan, index);
	bool has_path = e->path != RP_PLAN_NONE;

	*info = (struct rp_rdma_ev_info){
		.local = pair->local,
		.remote = pair->remote,
		.kind = pair->plan->kind,
		.path = has_path ? pair->plan->path[e->path].number : 0,
		.ev = e->ev,
		.weight = e->health && !e->out ? e->weight : 0,
		.has_path = has_path,
		.told_down = e->out,
		.qps = e->qps,
	};
}

/**
 * rp_rdma_pair_ev() - what the plan knows of an EV
 * @rdev: the port
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @ev: the EV
 * @info: is filled
 *
 * Context: any.
 * Return: false: nothing.
 */
bool rp_rdma_pair_ev(struct rp_rdma_device *rdev, const struct in6_addr *local,
		     const struct in6_addr *remote, u16 ev, struct rp_rdma_ev_info *info)
{
	struct rp_rdma_pairs *pairs = rdev->pairs;
	struct rp_rdma_pair_plan *pair;
	u32 index = RP_PLAN_NONE;
	unsigned long flags;

	spin_lock_irqsave(&pairs->lock, flags);
	pair = pair_find(pairs, local, remote);
	if (pair)
		index = rp_plan_find(pair->plan, ev);
	if (index != RP_PLAN_NONE)
		pair_info(pair, index, info);
	spin_unlock_irqrestore(&pairs->lock, flags);
	return index != RP_PLAN_NONE;
}

/**
 * rp_rdma_pair_at() - the next EV of a port, for dumps
 * @rdev: the port
 * @bucket: to begin with; where it was found
 * @index: the same, counts EVs of the bucket
 * @info: is filled
 *
 * Add 1 to @index for the one behind it.
 *
 * Context: process.
 * Return: false: there are no more.
 */
bool rp_rdma_pair_at(struct rp_rdma_device *rdev, unsigned long *bucket, unsigned long *index,
		     struct rp_rdma_ev_info *info)
{
	struct rp_rdma_pairs *pairs = rdev->pairs;
	struct rp_rdma_pair_plan *pair;
	bool found = false;

	spin_lock_irq(&pairs->lock);
	for (; !found && *bucket < RP_PAIR_BUCKETS; (*bucket)++, *index = 0) {
		unsigned long skip = *index;

		hlist_for_each_entry(pair, &pairs->bucket[*bucket], node) {
			if (skip < pair->plan->count) {
				pair_info(pair, skip, info);
				found = true;
				break;
			}
			skip -= pair->plan->count;
		}
		if (found)
			break;
	}
	spin_unlock_irq(&pairs->lock);
	return found;
}

static u32 pair_count_rows(const struct rp_rdma_pair_plan *pair, u16 ev)
{
	const struct rp_plan_place *place;
	u32 n = 0;

	for (place = pair->plan->places; place; place = place->next)
		n += place->ev == ev && !place->reserved;
	return n;
}

static void pair_fill_rows(const struct rp_rdma_pair_plan *pair, u16 ev, struct rp_rdma_rows *rows,
			   u32 room)
{
	struct rp_plan_place *place;

	for (place = pair->plan->places; place && rows->n < room; place = place->next) {
		struct rp_rdma_qp *row = container_of(place, struct rp_rdma_qp, place);

		if (place->ev != ev || place->reserved)
			continue;
		refcount_inc(&row->refs);
		rows->row[rows->n++] = row;
	}
}

/**
 * rp_rdma_pair_rows() - the QPs that sit on an EV
 * @rdev: the port
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @ev: the EV
 * @rows: is filled; for rp_rdma_rows_release()
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int rp_rdma_pair_rows(struct rp_rdma_device *rdev, const struct in6_addr *local,
		      const struct in6_addr *remote, u16 ev, struct rp_rdma_rows *rows)
{
	struct rp_rdma_pairs *pairs = rdev->pairs;
	struct rp_rdma_pair_plan *pair;
	u32 want = 0, room = 0;

	*rows = (struct rp_rdma_rows){};
	for (;;) {
		spin_lock_irq(&pairs->lock);
		pair = pair_find(pairs, local, remote);
		want = pair ? pair_count_rows(pair, ev) : 0;
		if (want <= room) {
			if (want)
				pair_fill_rows(pair, ev, rows, room);
			spin_unlock_irq(&pairs->lock);
			return 0;
		}
		spin_unlock_irq(&pairs->lock);
		/* some more, for those that connect meanwhile */
		room = want + 16;
		kvfree(rows->row);
		rows->row = kvmalloc_array(room, sizeof(*rows->row), GFP_KERNEL);
		if (!rows->row)
			return -ENOMEM;
	}
}

/**
 * rp_rdma_pair_set() - another plan for a pair; its QPs keep their EVs
 * @rdev: the port
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @plan: of rp_rdma_plan_new(), with room; is taken over when 0 is returned
 *
 * Context: process.
 * Return: 0, -ENOMEM, or -ENOSPC: too many pairs.
 */
int rp_rdma_pair_set(struct rp_rdma_device *rdev, const struct in6_addr *local,
		     const struct in6_addr *remote, struct rp_plan *plan)
{
	struct rp_rdma_pairs *pairs = rdev->pairs;
	struct rp_plan *old = NULL;
	struct rp_rdma_pair_plan *pair;
	int err = 0;

	spin_lock_irq(&pairs->lock);
	pair = pair_get(pairs, local, remote);
	if (pair) {
		old = pair->plan;
		rp_plan_succeed(plan, old);
		pair->plan = plan;
		pair->told = plan->kind == ROCEPATH_RDMA_PLAN_PATHS;
		pair_tidy(pairs, pair);
	} else {
		err = pairs->count >= RP_PAIRS_MAX ? -ENOSPC : -ENOMEM;
	}
	spin_unlock_irq(&pairs->lock);
	rp_rdma_plan_release(old);
	return err;
}
