// SPDX-License-Identifier: GPL-2.0
/*
 * All paths towards a peer, while ports come, go and fail, reports come and flows pick: what
 * senders read agrees with what each path is, and whoever asks for a path gets one that may
 * carry data, as long as there is one.
 */
/* SOURCES: kmod/core/pathset.c kmod/core/adapt.c kmod/core/budget.c */
/* SOURCES: kmod/core/health.c kmod/core/holddown.c */
#include "input.h"
#include "pathset.h"

#define MS 1000000ull
#define PICKS_MAX 2048	/* or it takes too long */

struct life {
	struct rp_paths_port ports[ROCEPATH_PORTS_MAX];
	u8 evs[ROCEPATH_PORTS_MAX][ROCEPATH_EVS_MAX];
	bool chosen;
	struct rp_health_knobs knobs;
	struct rp_pathset *s;
	struct rp_pathset_cursor cursor;
	u8 *before;	/* of rp_pathset_poll(): states */
	u64 now;
};

static void require(bool right, const char *how)
{
	if (!right)
		crash(how);
}

static void choose_evs(struct input *in, struct life *l)
{
	u32 port, ev, step = byte(in) | 1;	/* odd: each EV comes once */

	l->chosen = step & 2;
	for (port = 0; l->chosen && port < ROCEPATH_PORTS_MAX; port++)
		for (ev = 0; ev < ROCEPATH_EVS_MAX; ev++)
			l->evs[port][ev] = (port + ev * step) & 0xff;
}

static void change_port(struct input *in, struct life *l)
{
	u32 how = byte(in);

	l->ports[how % ROCEPATH_PORTS_MAX] = (struct rp_paths_port){
		.weight = how & 0x80 ? 1 + byte(in) : byte(in) & 3,
		.evs = 1 + ((how & 0x60) == 0x60 ? byte(in) : byte(in) % 4), .up = byte(in) & 3,
	};
}

static void check_entry(const struct life *l, u32 i)
{
	const struct rp_pathset_entry *e = &l->s->entry[i];
	u16 weight = l->s->weight[i];

	require(rp_pathset_find(l->s, e->path) == i, "a path is not found");
	require(l->ports[e->path.port].weight, "a path of a port that is none");
	require((weight > 0) == (e->health.state == ROCEPATH_PATH_UP), "usable, but for its state");
	require(weight <= e->share && e->share <= RP_PATH_WEIGHT_MAX, "more than its share");
	require(!weight || l->s->adaptive[i], "usable, but not for adaptive");
	require(l->s->adaptive[i] <= weight, "more for adaptive than for spray");
}

static void check(const struct life *l)
{
	u32 i, usable = 0;

	require(l->s->n == rp_pathset_count(l->ports), "another number of paths");
	for (i = 0; i < l->s->n; i++) {
		check_entry(l, i);
		usable += !!l->s->weight[i];
	}
	require(usable == l->s->usable, "another number of usable paths");
}

static void lay_out(struct life *l)
{
	struct rp_pathset *old = l->s;
	void *memory;
	u32 n;

	/* without ports there is no pathset */
	if (!rp_pathset_count(l->ports))
		l->ports[0] = (struct rp_paths_port){ .weight = 1, .evs = 1 };
	n = rp_pathset_count(l->ports);
	memory = calloc(1, rp_pathset_size(n));
	l->s = rp_pathset_init(memory, l->ports, l->chosen ? l->evs : NULL, old, l->now);
	rp_pathset_ports(l->s, l->ports, &l->knobs, l->now);
	free(old);
	l->before = realloc(l->before, n + 1);
}

/* Each pick is usable; in as many turns as there are weights each path had its weight. */
static void pick(struct life *l, const struct rp_pathset_turns *turns, const u16 *weight)
{
	u32 picked[RP_PATHSET_MAX] = { 0 }, total = 0, i;
	struct rp_pathset_cursor c = { 0 };
	u16 index;

	for (i = 0; i < l->s->n; i++)
		total += weight[i];
	for (i = 0; total <= PICKS_MAX && i < total; i++) {
		index = rp_pathset_next(l->s, turns, &c);
		require(index < l->s->n && weight[index], "a path that is not usable");
		picked[index]++;
	}
	require(total || rp_pathset_next(l->s, turns, &c) == RP_PATHSET_NONE, "a path of none");
	for (i = 0; total && total <= PICKS_MAX && i < l->s->n; i++)
		require(picked[i] == weight[i], "more or less than its weight");
	/* with a cursor that any other pathset may have moved */
	index = rp_pathset_next(l->s, turns, &l->cursor);
	require(total ? index < l->s->n && weight[index] : index == RP_PATHSET_NONE,
		"a strange cursor");
}

static void pick_one(struct input *in, struct life *l)
{
	u32 hash = word(in) << 16 | word(in);
	u16 index = rp_pathset_pin(l->s, hash), from = hash % l->s->n, other;

	require(l->s->usable ? index < l->s->n && l->s->weight[index] : index == RP_PATHSET_NONE,
		"pinned to what is not usable");
	other = rp_pathset_other(l->s, from, word(in));
	require(l->s->usable ? other < l->s->n && l->s->weight[other] : other == RP_PATHSET_NONE,
		"a repair goes where nothing does");
	require(l->s->usable < 2 || other != from, "a repair takes the same path");
}

static u64 ago(struct input *in, const struct life *l)
{
	return l->now - min((u64)word(in) << byte(in) % 12, l->now);
}

static void happen(struct input *in, struct life *l)
{
	u16 index = word(in) % l->s->n;
	struct rp_pathset_entry *e = &l->s->entry[index];
	struct rp_repair_path p;
	bool changed = false;
	u32 how = byte(in);

	switch (how % 4) {
	case 0:
		rp_health_sent(&e->health, l->now);
		break;
	case 1:
		p = (struct rp_repair_path){
			.delivered = word(in), .delivered_sent_ns = ago(in, l),
			.arrived_ns = ago(in, l),
		};
		rp_pathset_account(l->s, index, &p, &l->knobs, l->now);
		break;
	case 2:
		p = (struct rp_repair_path){ .lost = word(in), .lost_sent_ns = ago(in, l) };
		rp_pathset_account(l->s, index, &p, &l->knobs, l->now);
		break;
	default:
		rp_health_probed(&e->health, &l->knobs, l->now);
		changed = rp_health_answered(&e->health, l->now, &l->knobs, l->now);
	}
	if (changed)
		rp_pathset_publish(l->s, index);
}

/* all of them say something */
static void report(struct input *in, struct life *l)
{
	u32 i, late = byte(in), step = byte(in), lost = byte(in);

	for (i = 0; i < l->s->n; i++) {
		struct rp_pathset_entry *e = &l->s->entry[i];

		e->received += byte(in) * 16;
		e->marked += byte(in) & e->received;
		e->health.late_us = late + i * step;
		if (rp_health_lost(&e->health, i % 8 == step % 8 ? lost : 0, l->now - MS, &l->knobs,
				   l->now))
			rp_pathset_publish(l->s, i);
	}
	rp_pathset_adapt(l->s, &l->knobs, l->now);
	for (i = 0; i < l->s->n; i++)
		rp_pathset_publish(l->s, i);
}

static void note(void *arg, u16 index, u8 before)
{
	struct life *l = arg;

	require(l->before[index] == before && l->s->entry[index].health.state != before,
		"told of a change that was none");
	l->before[index] = l->s->entry[index].health.state;
}

static void poll(struct input *in, struct life *l)
{
	bool silent = byte(in) & 1;
	u32 i, usable = l->s->usable, lossy = 0;

	for (i = 0; i < l->s->n; i++)
		l->before[i] = l->s->entry[i].health.state;
	l->knobs.spread_ns = word(in);
	rp_pathset_poll(l->s, ago(in, l), silent, &l->knobs, l->now, note, l);
	for (i = 0; i < l->s->n; i++) {
		require(l->before[i] == l->s->entry[i].health.state, "a change that was not told");
		lossy += l->s->entry[i].health.lossy;
	}
	require(!usable || l->s->usable || !lossy || !silent, "the last were taken out for loss");
}

static void step(struct input *in, struct life *l)
{
	u32 how = byte(in);

	l->now += how & 0x80 ? byte(in) * MS : byte(in) * 1000;
	switch (how % 8) {
	case 0:
		change_port(in, l);
		if (how & 0x40 || rp_pathset_count(l->ports) != l->s->n)
			lay_out(l);
		else
			rp_pathset_ports(l->s, l->ports, &l->knobs, l->now);
		break;
	case 1:
		l->ports[l->s->entry[word(in) % l->s->n].path.port].up ^= true;
		rp_pathset_ports(l->s, l->ports, &l->knobs, l->now);
		break;
	case 2:
		pick(l, &l->s->spray_turns, l->s->weight);
		break;
	case 3:
		pick(l, &l->s->adaptive_turns, l->s->adaptive);
		break;
	case 4:
		pick_one(in, l);
		break;
	case 5:
		report(in, l);
		break;
	case 6:
		happen(in, l);
		break;
	default:
		poll(in, l);
	}
	check(l);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, min_t(size_t, size, 256) };
	struct life l = {
		.knobs = {
			.interval_ns = MS, .loss_ppm = byte(&in) * 64, .holddown_ms = byte(&in),
			.holddown_max_ms = word(&in),
		},
		.now = 10000 * MS,
	};
	u32 ports = byte(&in) % 4;

	choose_evs(&in, &l);
	l.ports[0] = (struct rp_paths_port){ .weight = 1, .evs = 1 + byte(&in) % 16, .up = true };
	while (ports--)
		change_port(&in, &l);
	lay_out(&l);
	rp_pathset_start(&l.cursor, word(&in) << 16 | word(&in));
	while (in.left)
		step(&in, &l);
	free(l.before);
	free(l.s);
	return 0;
}
