// SPDX-License-Identifier: GPL-2.0
#include "link_sim.h"

#include <assert.h>
#include <stdlib.h>

#define QPS_MAX 64
#define RING 4096	/* PSNs of a QP that may be on the way or held */
#define SUCCESSORS 8
#define NEVER (~0ull)

enum event_type { SENT, ARRIVES, ACKED, REPORT, REPORTED, MISSED, LOST };

struct packet {
	u32 qp;
	u32 path;
	u64 psn;
	u64 sent_ns;
	bool marked;
	bool repair;
};

struct event {
	u64 at;
	u64 order;
	enum event_type type;
	u32 link;
	u64 psn;
	struct packet packet;
	struct snapshot *snapshot;
};

#include "events.h"

/* what a report says */
struct snapshot {
	u32 received[RP_PATHSET_MAX];
	u32 marked[RP_PATHSET_MAX];
	u32 late_us[RP_PATHSET_MAX];
	u64 sent_ns[RP_PATHSET_MAX];
};

struct link {
	struct sim_link is;
	struct packet *queue;
	u32 head;
	u32 waiting;
	bool busy;
	u64 last_arrival;
	bool cut;
};

struct qp {
	struct rp_sched_flow flow;
	u64 next;
	u64 una;
	u64 limit;
	u64 expected;
	u64 furthest;
	u32 held;
	u64 held_ns[RING];	/* 0: not there */
};

struct heard {
	u32 received;
	u32 marked;
	u64 late_ns;
	u32 lates;
	u32 told_late_us;
	u64 sent_ns;
};

struct sim {
	struct sim_config c;
	u64 now;
	u64 stalled_until;
	u64 next_stall;
	u64 delivered;
	u64 drops;
	u64 suspicions;
	u64 order;
	u64 random;
	struct link link[SIM_LINKS];
	struct qp qp[QPS_MAX];
	struct heard heard[RP_PATHSET_MAX];
	struct rp_health_knobs knobs;
	struct rp_pathset *set;
	u32 events;
	u32 room;
	struct event *heap;
};

/* 0 to n - 1; xorshift64*, Vigna 2016 */
static u32 below(struct sim *sim, u32 n)
{
	sim->random ^= sim->random >> 12;
	sim->random ^= sim->random << 25;
	sim->random ^= sim->random >> 27;
	return (sim->random * 0x2545f4914f6cdd1dull >> 32) * n >> 32;
}

/* --- what happens next --- */

static void push(struct sim *sim, struct event e)
{
	if (sim->events == sim->room) {
		sim->room = 2 * sim->room + 1024;
		sim->heap = realloc(sim->heap, sim->room * sizeof(*sim->heap));
		assert(sim->heap);
	}
	events_push(sim->heap, &sim->events, &sim->order, e);
}

static void after(struct sim *sim, u64 ns, struct event e)
{
	e.at = sim->now + ns;
	push(sim, e);
}

/* --- links --- */

static u32 link_of(const struct sim *sim, u32 path)
{
	struct rp_path p = sim->set->entry[path].path;

	return (p.port + p.ev * sim->c.ports) % sim->c.links;
}

static void serve(struct sim *sim, u32 i)
{
	struct link *link = &sim->link[i];

	link->busy = link->waiting;
	if (link->busy)
		after(sim, sim->c.bytes * 8e3 / link->is.mbit,
		      (struct event){ .type = SENT, .link = i });
}

static bool mark(struct sim *sim, const struct sim_link *link, u32 waiting)
{
	if (!link->mark_min || waiting < link->mark_min)
		return false;
	return waiting >= link->mark_max ||
	       below(sim, link->mark_max - link->mark_min) < waiting - link->mark_min;
}

static void enqueue(struct sim *sim, struct packet p)
{
	u32 i = link_of(sim, p.path);
	struct link *link = &sim->link[i];

	p.sent_ns = sim->now + 1;
	rp_health_sent(&sim->set->entry[p.path].health, p.sent_ns);
	if (link->cut || link->waiting >= link->is.limit) {
		sim->drops++;
		after(sim, sim->c.interval_ns + 2 * sim->c.back_ns,
		      (struct event){ .type = MISSED, .packet = p });
		return;
	}
	p.marked = mark(sim, &link->is, link->waiting);
	link->queue[(link->head + link->waiting++) % link->is.limit] = p;
	if (!link->busy)
		serve(sim, i);
}

static void sent(struct sim *sim, u32 i)
{
	struct link *link = &sim->link[i];
	u64 at = sim->now + link->is.delay_ns;

	if (sim->c.jitter_ns)
		at += below(sim, sim->c.jitter_ns);
	at = max(at, link->last_arrival);
	link->last_arrival = at;
	push(sim, (struct event){ .at = at, .type = ARRIVES, .packet = link->queue[link->head] });
	link->head = (link->head + 1) % link->is.limit;
	link->waiting--;
	serve(sim, i);
}

/* --- the sender --- */

static bool send_one(struct sim *sim, u32 i)
{
	struct qp *qp = &sim->qp[i];
	struct packet p = { .qp = i, .psn = qp->next };
	u16 index;

	if (qp->next >= qp->limit || qp->next - qp->una >= sim->c.window)
		return false;
	index = sim->c.sched->pick(sim->set, &qp->flow, sim->c.bytes, sim->now);
	if (index == RP_PATHSET_NONE)
		return false;
	p.path = index;
	qp->next++;
	enqueue(sim, p);
	return true;
}

static void send_all(struct sim *sim)
{
	bool more = true;
	u32 i;

	while (more)
		for (more = false, i = 0; i < sim->c.qps; i++)
			more |= send_one(sim, i);
}

static void missed(struct sim *sim, struct packet p)
{
	u16 other = rp_pathset_other(sim->set, p.path, sim->order);

	/* it counts when the receiver says that it was repaired */
	after(sim, sim->c.interval_ns, (struct event){ .type = LOST, .packet = p });
	if (other != RP_PATHSET_NONE)
		p.path = other;
	p.repair = true;
	enqueue(sim, p);
}

static void lost(struct sim *sim, const struct packet *p)
{
	struct rp_repair_path news = { .lost = 1, .lost_sent_ns = p->sent_ns };

	rp_pathset_account(sim->set, p->path, &news, &sim->knobs, sim->now);
}

static void reported(struct sim *sim, struct snapshot *snap)
{
	u32 i;

	for (i = 0; i < sim->set->n; i++) {
		struct rp_pathset_entry *e = &sim->set->entry[i];
		struct rp_repair_path news = {
			.delivered = snap->received[i] - e->received,
			.delivered_sent_ns = snap->sent_ns[i], .arrived_ns = snap->sent_ns[i],
		};

		if (!news.delivered)
			continue;
		rp_pathset_account(sim->set, i, &news, &sim->knobs, sim->now);
		e->received = snap->received[i];
		e->marked = snap->marked[i];
		e->health.late_us = snap->late_us[i];
	}
	free(snap);
	rp_sched_feedback(sim->set, &sim->knobs, sim->now);
	rp_pathset_poll(sim->set, sim->now, false, &sim->knobs, sim->now, NULL, NULL);
	for (i = 0; i < sim->set->n; i++) {
		struct rp_health *h = &sim->set->entry[i].health;

		sim->suspicions += !sim->link[link_of(sim, i)].cut &&
				   h->state == ROCEPATH_PATH_SUSPECT && h->since_ns == sim->now;
		if (!rp_health_probe_due(h, 0, &sim->knobs, sim->now) ||
		    sim->link[link_of(sim, i)].cut)
			continue;
		rp_health_probed(h, &sim->knobs, sim->now);
		if (rp_health_answered(h, sim->now, &sim->knobs, sim->now))
			rp_pathset_publish(sim->set, i);
	}
}

/* --- the receiver, as core/window.c --- */

static s64 lateness(const struct sim *sim, const struct qp *qp, const struct packet *p)
{
	u64 psn, held_ns;

	if (p->repair)
		return -1;
	if (!qp->held || p->psn >= qp->furthest)
		return 0;
	for (psn = p->psn + 1; psn <= p->psn + SUCCESSORS && psn < qp->expected + RING; psn++) {
		held_ns = qp->held_ns[psn % RING];
		if (held_ns)
			return sim->now - held_ns;
	}
	return -1;
}

static void arrives(struct sim *sim, const struct packet *p)
{
	struct heard *heard = &sim->heard[p->path];
	struct qp *qp = &sim->qp[p->qp];
	s64 late_ns;

	heard->received++;
	heard->marked += p->marked;
	heard->sent_ns = p->sent_ns;
	if (p->psn < qp->expected || qp->held_ns[p->psn % RING])
		return;
	assert(p->psn - qp->expected < RING);
	late_ns = lateness(sim, qp, p);
	if (late_ns >= 0) {
		heard->late_ns += late_ns;
		heard->lates++;
	}
	qp->furthest = max(qp->furthest, p->psn);
	qp->held_ns[p->psn % RING] = sim->now;
	qp->held++;
	if (p->psn != qp->expected)
		return;
	while (qp->held_ns[qp->expected % RING]) {
		qp->held_ns[qp->expected % RING] = 0;
		qp->held--;
		qp->expected++;
		sim->delivered += sim->c.bytes;
	}
	after(sim, sim->c.back_ns,
	      (struct event){ .type = ACKED, .link = p->qp, .psn = qp->expected });
}

static void report(struct sim *sim)
{
	struct snapshot *snap = malloc(sizeof(*snap));
	u32 i;

	assert(snap);
	for (i = 0; i < sim->set->n; i++) {
		struct heard *heard = &sim->heard[i];

		if (heard->lates)
			heard->told_late_us = heard->late_ns / heard->lates / 1000;
		heard->lates = 0;
		heard->late_ns = 0;
		snap->received[i] = heard->received;
		snap->marked[i] = heard->marked;
		snap->sent_ns[i] = heard->sent_ns;
		snap->late_us[i] = min(heard->told_late_us, 0xffffu);
	}
	after(sim, sim->c.back_ns, (struct event){ .type = REPORTED, .snapshot = snap });
	after(sim, sim->c.interval_ns, (struct event){ .type = REPORT });
}

/* A receiver that stands still gets everything a little later, all at once. */
static bool stalled(struct sim *sim, struct event *e)
{
	if (!sim->c.stall_ns || (e->type != ARRIVES && e->type != REPORT))
		return false;
	if (sim->now >= sim->next_stall) {
		sim->stalled_until = sim->now + below(sim, sim->c.stall_ns);
		sim->next_stall = sim->stalled_until + below(sim, 50 * sim->c.stall_ns);
	}
	if (sim->now >= sim->stalled_until)
		return false;
	e->at = sim->stalled_until;
	push(sim, *e);
	return true;
}

static void happen(struct sim *sim, struct event *e)
{
	if (stalled(sim, e))
		return;
	switch (e->type) {
	case SENT:
		sent(sim, e->link);
		break;
	case ARRIVES:
		arrives(sim, &e->packet);
		break;
	case ACKED:
		sim->qp[e->link].una = max(sim->qp[e->link].una, e->psn);
		send_all(sim);
		break;
	case REPORT:
		report(sim);
		break;
	case REPORTED:
		reported(sim, e->snapshot);
		break;
	case MISSED:
		missed(sim, e->packet);
		break;
	case LOST:
		lost(sim, &e->packet);
		break;
	}
}

u64 sim_run(struct sim *sim, u64 ns)
{
	u64 until = sim->now + ns, delivered = sim->delivered;

	send_all(sim);
	while (sim->events && sim->heap[0].at <= until) {
		struct event e = events_pop(sim->heap, &sim->events);

		sim->now = e.at;
		happen(sim, &e);
	}
	sim->now = until;
	return sim->delivered - delivered;
}

struct sim *sim_new(const struct sim_config *config)
{
	struct rp_paths_port ports[ROCEPATH_PORTS_MAX] = { 0 };
	struct sim *sim = calloc(1, sizeof(*sim));
	u32 i;

	assert(sim && config->qps <= QPS_MAX && config->window < RING);
	sim->c = *config;
	sim->random = config->seed | 1;
	sim->knobs = (struct rp_health_knobs){ .interval_ns = config->interval_ns,
					       .patience_ns = config->patience_ns,
					       .loss_ppm = 5000, .holddown_ms = 100,
					       .holddown_max_ms = 1600 };
	for (i = 0; i < config->ports; i++)
		ports[i] = (struct rp_paths_port){ .weight = 1, .evs = config->evs, .up = true };
	sim->set = rp_pathset_init(calloc(1, rp_pathset_size(rp_pathset_count(ports))), ports,
				   NULL, NULL, 0);
	for (i = 0; i < config->links; i++) {
		sim->link[i].is = config->link[i];
		sim->link[i].queue = calloc(config->link[i].limit, sizeof(struct packet));
		assert(sim->link[i].queue);
	}
	for (i = 0; i < config->qps; i++) {
		rp_sched_start(&sim->qp[i].flow, below(sim, ~0u));
		sim->qp[i].limit = NEVER;
	}
	after(sim, config->interval_ns, (struct event){ .type = REPORT });
	return sim;
}

void sim_free(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->events; i++)
		if (sim->heap[i].type == REPORTED)
			free(sim->heap[i].snapshot);
	for (i = 0; i < sim->c.links; i++)
		free(sim->link[i].queue);
	free(sim->heap);
	free(sim->set);
	free(sim);
}

void sim_set_rate(struct sim *sim, u32 link, double mbit)
{
	sim->link[link].is.mbit = mbit;
}

void sim_set_delay(struct sim *sim, u32 link, u64 delay_ns)
{
	sim->link[link].is.delay_ns = delay_ns;
}

void sim_cut(struct sim *sim, u32 link)
{
	sim->link[link].cut = true;
}

u32 sim_used(const struct sim *sim, u32 link)
{
	u32 i, used = 0;

	for (i = 0; i < sim->set->n; i++)
		used += link_of(sim, i) == link && rp_pathset_usable(sim->set, i);
	return used;
}

u64 sim_suspicions(const struct sim *sim)
{
	return sim->suspicions;
}

void sim_offer(struct sim *sim, u64 packets)
{
	u32 i;

	for (i = 0; i < sim->c.qps; i++)
		sim->qp[i].limit = packets == NEVER ? NEVER : sim->qp[i].next + packets;
}

struct rp_pathset *sim_paths(struct sim *sim)
{
	return sim->set;
}

double sim_share(const struct sim *sim, u32 link)
{
	double own = 0, sum = 0;
	u32 i;

	for (i = 0; i < sim->set->n; i++) {
		sum += sim->set->adaptive[i];
		own += link_of(sim, i) == link ? sim->set->adaptive[i] : 0;
	}
	return sum ? own / sum : 0;
}

double sim_capacity(const struct sim *sim, u64 ns)
{
	double mbit = 0;
	u32 i;

	for (i = 0; i < sim->c.links; i++)
		mbit += sim->link[i].is.mbit;
	return mbit * ns / 8e3;
}

u64 sim_drops(const struct sim *sim)
{
	return sim->drops;
}
