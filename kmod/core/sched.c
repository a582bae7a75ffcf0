// SPDX-License-Identifier: GPL-2.0
#include "sched.h"

struct rp_path rp_sched_pin(const struct rp_paths *p, u32 hash)
{
	struct rp_path path = { .port = p->bucket[hash % RP_PATHS_BUCKETS] };

	path.ev = (hash >> 16) * p->evs[path.port] >> 16;
	return path;
}

static struct rp_path flow_pick(const struct rp_paths *p, struct rp_sched_flow *f, u32 bytes,
				u64 now_ns)
{
	return rp_sched_pin(p, f->hash);
}

const struct rp_sched_ops rp_sched_flow_ops = {
	.name = "flow",
	.pick = flow_pick,
};

/*
 * Each flow starts elsewhere, or flows of one packet would all take the first
 * path. How many slots there are is not known yet: beyond all tables, in 1/256.
 */
static void spray_init(struct rp_sched_flow *f)
{
	f->pos = RP_PATHS_SLOTS + (f->hash & 0xff);
	f->turn = f->hash >> 16;
}

/*
 * Slots come in their order, and each port's entropy values in theirs: n counts
 * the port's packets of this flow, and n % evs is the next one.
 */
static struct rp_path spray_pick(const struct rp_paths *p, struct rp_sched_flow *f, u32 bytes,
				 u64 now_ns)
{
	u32 pos = READ_ONCE(f->pos), turn = READ_ONCE(f->turn);
	struct rp_path path;
	u32 n;

	if (unlikely(pos >= p->slots))	/* a new flow, or a new and shorter table */
		pos = (pos & 0xff) * p->slots >> 8;
	path.port = p->slot[pos].port;
	n = turn * p->share[path.port] + p->slot[pos].nth;
	path.ev = rp_paths_ev(p, path.port, n);
	if (++pos >= p->slots) {
		pos = 0;
		WRITE_ONCE(f->turn, turn + 1);
	}
	WRITE_ONCE(f->pos, pos);
	return path;
}

const struct rp_sched_ops rp_sched_spray_ops = {
	.name = "spray",
	.sprays = true,
	.init = spray_init,
	.pick = spray_pick,
};

static const struct rp_sched_ops *const schedulers[] = {
	&rp_sched_flow_ops,
	&rp_sched_spray_ops,
};

const struct rp_sched_ops *rp_sched_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(schedulers); i++)
		if (!strcmp(schedulers[i]->name, name))
			return schedulers[i];
	return NULL;
}
