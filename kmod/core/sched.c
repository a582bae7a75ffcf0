// SPDX-License-Identifier: GPL-2.0
#include "sched.h"

static u16 flow_pick(const struct rp_pathset *s, struct rp_sched_flow *f, u32 bytes, u64 now_ns)
{
	return rp_pathset_pin(s, f->hash);
}

const struct rp_sched_ops rp_sched_flow_ops = {
	.name = "flow",
	.pick = flow_pick,
};

static u16 spray_pick(const struct rp_pathset *s, struct rp_sched_flow *f, u32 bytes, u64 now_ns)
{
	return rp_pathset_next(s, &s->spray_turns, &f->cursor);
}

const struct rp_sched_ops rp_sched_spray_ops = {
	.name = "spray",
	.sprays = true,
	.pick = spray_pick,
};

static u16 adaptive_pick(const struct rp_pathset *s, struct rp_sched_flow *f, u32 bytes, u64 now_ns)
{
	return rp_pathset_next(s, &s->adaptive_turns, &f->cursor);
}

const struct rp_sched_ops rp_sched_adaptive_ops = {
	.name = "adaptive",
	.sprays = true,
	.pick = adaptive_pick,
	.feedback = rp_pathset_adapt,
};

static u16 flowlet_pick(const struct rp_pathset *s, struct rp_sched_flow *f, u32 bytes, u64 now_ns)
{
	bool paused = now_ns - READ_ONCE(f->sent_ns) > RP_SCHED_FLOWLET_GAP_NS;
	u16 index = READ_ONCE(f->index);

	if (unlikely(paused || index >= s->n || !rp_pathset_usable(s, index))) {
		index = rp_pathset_next(s, &s->adaptive_turns, &f->cursor);
		WRITE_ONCE(f->index, index);
	}
	WRITE_ONCE(f->sent_ns, now_ns);
	return index;
}

const struct rp_sched_ops rp_sched_flowlet_ops = {
	.name = "flowlet",
	.sprays = true,
	.pick = flowlet_pick,
};

static const struct rp_sched_ops *const schedulers[] = {
	&rp_sched_flow_ops,
	&rp_sched_flowlet_ops,
	&rp_sched_spray_ops,
	&rp_sched_adaptive_ops,
};

const struct rp_sched_ops *rp_sched_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(schedulers); i++)
		if (!strcmp(schedulers[i]->name, name))
			return schedulers[i];
	return NULL;
}

void rp_sched_start(struct rp_sched_flow *f, u32 hash)
{
	memset(f, 0, sizeof(*f));
	f->hash = hash;
	f->index = RP_PATHSET_NONE;
	rp_pathset_start(&f->cursor, hash);
}

void rp_sched_feedback(struct rp_pathset *s, const struct rp_health_knobs *knobs, u64 now_ns)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(schedulers); i++)
		if (schedulers[i]->feedback)
			schedulers[i]->feedback(s, knobs, now_ns);
}

struct rp_path rp_sched_pin(const struct rp_paths *p, u32 hash)
{
	struct rp_path path = { .port = p->bucket[hash % RP_PATHS_BUCKETS] };

	path.ev = (hash >> 16) * p->evs[path.port] >> 16;
	return path;
}
