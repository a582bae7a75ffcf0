// SPDX-License-Identifier: GPL-2.0
#include "fabric.h"

#include <assert.h>
#include <stdlib.h>

#include "chance.h"

/* a switch that has lost links takes another of those that work */
#define REROUTES 64

void fabric_init(struct fabric *f, const struct topology *top)
{
	u32 i;

	memset(f, 0, sizeof(*f));
	f->top = *top;
	f->link = calloc(2 * top->links, sizeof(*f->link));
	assert(f->link);
	for (i = 0; i < 2 * top->links; i++) {
		const struct topology_tier *tier = &top->tier[topology_level(top, i)];

		f->link[i].latency_ps = (tier->latency_ns + tier->switch_ns) * 1000;
		f->link[i].ps_per_byte = 8000 / tier->gbps;
	}
}

void fabric_free(struct fabric *f)
{
	free(f->link);
}

void fabric_impair(struct fabric *f, u32 n, enum fabric_state state, u32 slower, u64 *random)
{
	u32 links = f->top.links, first = f->top.tier[1].first, way;

	assert(n <= (links - first) / 2);
	while (n) {
		u32 i = first + chance_below(random, links - first);
		u32 usual = 8000 / f->top.tier[topology_level(&f->top, i)].gbps;

		if (f->link[i].state != FABRIC_UP || f->link[i].ps_per_byte != usual)
			continue;
		for (way = 0; way < 2; way++) {
			f->link[way * links + i].state = state;
			f->link[way * links + i].ps_per_byte *= slower;
		}
		n--;
	}
}

static bool is_open(const struct fabric *f, const u32 *link, u32 n)
{
	while (n--)
		if (f->link[link[n]].state == FABRIC_OUT)
			return false;
	return true;
}

u32 fabric_route(const struct fabric *f, u32 from, u32 to, u32 entropy, u32 *link)
{
	const struct topology_tier *tier = f->top.tier;
	u32 flow = chance_mix(chance_mix(from, to), entropy);
	u32 choices = topology_choices(&f->top, from, to), tries, n, u, v;

	for (tries = 0; tries < REROUTES; tries++) {
		/* leaf and aggregation switch hash differently */
		u = chance_mix(flow, from / tier[0].radix_down + tries) % tier[0].radix_up;
		v = choices > tier[0].radix_up ?
		    chance_mix(flow, ~(from / f->top.podsize * tier[0].radix_up + u + tries)) %
		    tier[1].radix_up : 0;
		n = topology_route(&f->top, from, to, v * tier[0].radix_up + u, link);
		if (is_open(f, link, n))
			return n;
	}
	return 0;
}

u64 fabric_send(struct fabric *f, u32 link, u64 now_ps, u32 bytes, bool *marked)
{
	struct fabric_link *l = &f->link[link];
	u64 begin = max(now_ps, l->free_ps), queue = (begin - now_ps) / l->ps_per_byte;

	if (l->state != FABRIC_UP || (f->limit && queue + bytes > f->limit)) {
		f->drops++;
		return 0;
	}
	if (f->mark && queue > f->mark && !*marked) {
		*marked = true;
		f->marks++;
	}
	f->queue_max = max(f->queue_max, queue);
	l->free_ps = begin + (u64)bytes * l->ps_per_byte;
	return l->free_ps + l->latency_ps;
}

/* --- the bound --- */

/* bytes in 8 million ps, of links from @first on */
static double rate_of(const struct fabric *f, u32 first, u32 n)
{
	double rate = 0;
	u32 i;

	for (i = first; i < first + n; i++)
		if (f->link[i].state == FABRIC_UP)
			rate += 1.0 / f->link[i].ps_per_byte;
	return rate;
}

static u64 worst(const struct fabric *f, const u64 *bytes, u32 n, u32 first, u32 each)
{
	double most = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		double rate = rate_of(f, first + i * each, each);

		if (bytes[i] && rate)
			most = max(most, bytes[i] / rate);
	}
	return most;
}

u64 fabric_ideal_ps(const struct fabric *f, const u64 *sent, const u64 *got, const u64 *up,
		    const u64 *down, const u64 *pod_up, const u64 *pod_down)
{
	const struct topology *top = &f->top;
	u32 leaves = top->hosts / top->tier[0].radix_down, pods = top->hosts / top->podsize;
	u32 leaf_links = top->tier[0].radix_up, pod_links = top->tier[2].links / pods;
	u64 ps = worst(f, sent, top->hosts, 0, 1);

	ps = max(ps, worst(f, got, top->hosts, top->links, 1));
	ps = max(ps, worst(f, up, leaves, top->tier[1].first, leaf_links));
	ps = max(ps, worst(f, down, leaves, top->links + top->tier[1].first, leaf_links));
	if (!pod_links)
		return ps;
	ps = max(ps, worst(f, pod_up, pods, top->tier[2].first, pod_links));
	return max(ps, worst(f, pod_down, pods, top->links + top->tier[2].first, pod_links));
}
