// SPDX-License-Identifier: GPL-2.0
/*
 * Entropy values that take the same routers are one path. An answer that is
 * missing leaves a gap in a trace, which then may fit more than one path:
 *
 *   at that hop nobody answers at all    it is left out of the comparison (blind)
 *   it fits exactly one path             it is taken for that one
 *   it fits none                         it makes a path of its own
 *   it fits several                      nobody knows (unsure)
 *
 * Of a port that is blind, or unsure too often, nothing is chosen: one spine
 * that does not answer would otherwise be one that is never used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

/* more than one in so many that are unsure are too many */
#define UNSURE_PART 8

/* what each port sees of paths of each length */
struct sight {
	uint32_t heard[ROCEPATH_PORTS_MAX][RP_HOPS_MAX + 1];
	uint32_t blind[ROCEPATH_PORTS_MAX][RP_HOPS_MAX + 1];
};

/* of the routers before the peer */
static uint32_t routers_of(unsigned int hops)
{
	return hops ? (uint32_t)((1ull << (hops - 1)) - 1) : 0;
}

static void look(struct rp_fabric *fabric, const struct rp_trace *traces, unsigned int count,
		 struct sight *sight)
{
	memset(sight, 0, sizeof(*sight));
	for (unsigned int i = 0; i < count; i++) {
		struct rp_fabric_port *port = &fabric->port[traces[i].port];

		port->tried++;
		port->reached += !!traces[i].hops;
		sight->heard[traces[i].port][traces[i].hops] |= traces[i].heard;
	}
	for (unsigned int i = 0; i < count; i++) {
		const struct rp_trace *t = &traces[i];
		uint32_t blind = routers_of(t->hops) & ~sight->heard[t->port][t->hops];

		sight->blind[t->port][t->hops] = blind;
		fabric->port[t->port].blind |= blind & ~1u;
	}
}

/* do they agree where both are known? */
static bool agree(const struct rp_fabric_path *path, const struct rp_trace *trace)
{
	uint32_t both = path->heard & trace->heard;

	if (path->port != trace->port || !path->reached || path->hops != trace->hops)
		return false;
	for (unsigned int i = 0; both >> i; i++)
		if (both >> i & 1 && memcmp(path->router[i], trace->router[i], RP_ADDRESS_LEN))
			return false;
	return true;
}

static unsigned int last_heard(const struct rp_trace *trace)
{
	return trace->heard ? RP_HOPS_MAX - __builtin_clz(trace->heard) : 0;
}

static bool same_dead_end(const struct rp_fabric_path *path, const struct rp_trace *trace)
{
	return path->port == trace->port && !path->reached && path->heard == trace->heard &&
	       !memcmp(path->router, trace->router, sizeof(path->router));
}

static void join(struct rp_fabric_path *path, const struct rp_trace *trace)
{
	path->evs[path->count++] = trace->ev;
	if (trace->rtt_us && (!path->rtt_us || trace->rtt_us < path->rtt_us))
		path->rtt_us = trace->rtt_us;
}

static void begin(struct rp_fabric *fabric, const struct rp_trace *trace)
{
	struct rp_fabric_path *path = &fabric->paths[fabric->count++];

	path->reached = trace->hops;
	path->port = trace->port;
	path->hops = trace->hops ? trace->hops : last_heard(trace);
	path->heard = trace->heard;
	memcpy(path->router, trace->router, sizeof(path->router));
	join(path, trace);
}

static void place(struct rp_fabric *fabric, const struct rp_trace *trace)
{
	struct rp_fabric_path *fits = NULL;
	unsigned int found = 0;

	for (unsigned int i = 0; i < fabric->count; i++)
		if (trace->hops ? agree(&fabric->paths[i], trace) :
				  same_dead_end(&fabric->paths[i], trace)) {
			fits = &fabric->paths[i];
			found++;
		}
	if (!found)
		begin(fabric, trace);
	else if (found == 1)
		join(fits, trace);
	else
		fabric->port[trace->port].unsure++;
}

/* hops of the trace that somebody could have answered at, and nobody did */
static unsigned int gaps(const struct rp_trace *trace, const struct sight *sight)
{
	uint32_t known = trace->heard | sight->blind[trace->port][trace->hops];

	return __builtin_popcount(routers_of(trace->hops) & ~known);
}

static void judge(struct rp_fabric_port *port)
{
	if (!port->reached)
		port->verdict = RP_FABRIC_DEAD;
	else if (port->blind)
		port->verdict = RP_FABRIC_BLIND;
	else if (port->unsure * UNSURE_PART > port->reached)
		port->verdict = RP_FABRIC_UNSURE;
	else
		port->verdict = RP_FABRIC_SEEN;
}

/**
 * rp_fabric_group() - find the distinct paths
 * @fabric: filled in; rp_fabric_release() frees what it holds
 * @traces: what was seen, each (port, EV) once
 * @count: of them
 *
 * Return: 0 or -ENOMEM.
 */
int rp_fabric_group(struct rp_fabric *fabric, const struct rp_trace *traces, unsigned int count)
{
	struct sight *sight = malloc(sizeof(*sight));

	memset(fabric, 0, sizeof(*fabric));
	fabric->paths = calloc(count ? count : 1, sizeof(*fabric->paths));
	if (!sight || !fabric->paths) {
		free(sight);
		rp_fabric_release(fabric);
		return -ENOMEM;
	}
	look(fabric, traces, count, sight);
	/* those that say most come first, and the others find their place among them */
	for (unsigned int missing = 0; missing < RP_HOPS_MAX; missing++)
		for (unsigned int i = 0; i < count; i++)
			if (traces[i].hops && gaps(&traces[i], sight) == missing)
				place(fabric, &traces[i]);
	for (unsigned int i = 0; i < count; i++)
		if (!traces[i].hops)
			place(fabric, &traces[i]);
	for (unsigned int i = 0; i < ROCEPATH_PORTS_MAX; i++)
		judge(&fabric->port[i]);
	free(sight);
	return 0;
}

static bool is_of(const struct rp_fabric_path *path, unsigned int port)
{
	return path->port == port && path->reached;
}

/* routers that it has in common with paths that are in use already */
static unsigned int shared(const struct rp_fabric *fabric, const struct rp_fabric_path *path)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < fabric->count; i++) {
		const struct rp_fabric_path *other = &fabric->paths[i];
		uint32_t both = other->heard & path->heard;

		if (!other->chosen)
			continue;
		for (unsigned int h = 0; both >> h; h++)
			sum += both >> h & 1 &&
			       !memcmp(other->router[h], path->router[h], RP_ADDRESS_LEN);
	}
	return sum;
}

static struct rp_fabric_path *least_shared(struct rp_fabric *fabric, unsigned int port)
{
	struct rp_fabric_path *best = NULL;
	unsigned int least = 0;

	for (unsigned int i = 0; i < fabric->count; i++) {
		struct rp_fabric_path *path = &fabric->paths[i];
		unsigned int cost;

		if (!is_of(path, port) || path->chosen)
			continue;
		cost = shared(fabric, path);
		if (!best || cost < least) {
			best = path;
			least = cost;
		}
	}
	return best;
}

/**
 * rp_fabric_choose() - choose entropy values that cover the paths of a port evenly
 * @fabric: its paths
 * @port: number of the port
 * @evs: so many at most
 *
 * As many of each path as there are of the rarest: a path that few values lead
 * to would else get less than its share. Where there are more paths than values,
 * one of each of those that have the fewest routers in common.
 *
 * Return: how many were chosen; 0 when the port does not see well enough.
 */
unsigned int rp_fabric_choose(struct rp_fabric *fabric, unsigned int port, unsigned int evs)
{
	unsigned int paths = 0, rarest = RP_EVS_MAX, each;

	if (fabric->port[port].verdict != RP_FABRIC_SEEN)
		return 0;
	for (unsigned int i = 0; i < fabric->count; i++) {
		struct rp_fabric_path *path = &fabric->paths[i];

		if (!is_of(path, port))
			continue;
		path->chosen = 0;
		paths++;
		if (path->count < rarest)
			rarest = path->count;
	}
	if (!paths)
		return 0;
	if (evs < paths) {
		for (unsigned int i = 0; i < evs; i++)
			least_shared(fabric, port)->chosen = 1;
		return evs;
	}
	each = evs / paths < rarest ? evs / paths : rarest;
	for (unsigned int i = 0; i < fabric->count; i++)
		if (is_of(&fabric->paths[i], port))
			fabric->paths[i].chosen = each;
	return each * paths;
}

static int compare(const void *a, const void *b)
{
	return *(const uint8_t *)a - *(const uint8_t *)b;
}

/**
 * rp_fabric_chosen() - the entropy values that were chosen for a port
 * @fabric: its paths
 * @port: number of the port
 * @evs: RP_EVS_MAX bytes, ascending
 *
 * Return: how many.
 */
unsigned int rp_fabric_chosen(const struct rp_fabric *fabric, unsigned int port, uint8_t *evs)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < fabric->count; i++) {
		const struct rp_fabric_path *path = &fabric->paths[i];

		if (path->port != port)
			continue;
		memcpy(evs + count, path->evs, path->chosen);
		count += path->chosen;
	}
	qsort(evs, count, 1, compare);
	return count;
}

/**
 * rp_fabric_release() - free what it holds
 * @fabric: filled in by rp_fabric_group(), or zeroed
 */
void rp_fabric_release(struct rp_fabric *fabric)
{
	free(fabric->paths);
	memset(fabric, 0, sizeof(*fabric));
}
