// SPDX-License-Identifier: GPL-2.0
/*
 * simulate [OPTION...]: one collective on one fabric; prints one line of JSON.
 *
 *   --topology FILE | --fabric fat-tree|leaf-spine --hosts N --gbps N
 *   --traffic FILE | --pattern permutation|incast|ring|all-to-all --bytes N
 *   --rounds N                                 of a permutation, one after the other
 *   --sched ecmp|flow|flowlet|spray|adaptive   ecmp: without rocepath, one path for each QP
 *   --evs N --discovered                       entropy values, and whether they were chosen
 *   --slow N --out N --dead N                  cables between switches at a quarter of their rate,
 *                                              out of service, dead unnoticed
 *   --window PSNS --interval-us N --queue BYTES --mark BYTES --limit-ms N --seed N
 *   --write-topology FILE --write-traffic FILE
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "chance.h"
#include "sim.h"
#include "text.h"

#define SLOWER 4
#define INCAST_SENDERS 32u
#define AT_ONCE 8

/* as given */
struct options {
	const char *topology;
	const char *fabric;
	const char *traffic;
	const char *pattern;
	const char *sched;
	const char *write_topology;
	const char *write_traffic;
	u32 hosts;
	u32 gbps;
	u64 bytes;
	u32 rounds;
	u32 slow;
	u32 out;
	u32 dead;
	u32 evs;
	u32 window;
	u32 interval_us;
	u32 queue;
	u32 mark;
	u32 limit_ms;
	u64 seed;
	bool discovered;
};

static void die(const char *why)
{
	fprintf(stderr, "simulate: %s\n", why);
	exit(2);
}

static void get_topology(const struct options *o, struct topology *top)
{
	struct text t;

	if (!o->topology) {
		topology_make(top, strcmp(o->fabric, "leaf-spine") ? 3 : 2, o->hosts, o->gbps);
		return;
	}
	if (!text_open(&t, o->topology) || !topology_read(top, &t))
		die(t.error);
	text_close(&t);
}

static void get_traffic(const struct options *o, u32 hosts, struct traffic *m, u64 *random)
{
	struct text t;

	if (o->traffic) {
		if (!text_open(&t, o->traffic) || !traffic_read(m, &t))
			die(t.error);
		text_close(&t);
		if (m->hosts > hosts)
			die("the traffic is for more hosts than the topology has");
	} else if (!strcmp(o->pattern, "permutation")) {
		traffic_permutation(m, hosts, o->bytes, o->rounds, random);
	} else if (!strcmp(o->pattern, "incast")) {
		traffic_incast(m, hosts, min(INCAST_SENDERS, hosts - 1), o->bytes);
	} else if (!strcmp(o->pattern, "ring")) {
		traffic_ring(m, hosts, o->bytes, random);
	} else if (!strcmp(o->pattern, "all-to-all")) {
		traffic_all_to_all(m, hosts, o->bytes, AT_ONCE);
	} else {
		die("--pattern is permutation, incast, ring or all-to-all");
	}
}

static void parse(int argc, char **argv, struct options *o)
{
	const struct {
		const char *name;
		void *to;
		size_t size;
	} known[] = {
		{ "topology", &o->topology, 0 }, { "fabric", &o->fabric, 0 },
		{ "traffic", &o->traffic, 0 }, { "pattern", &o->pattern, 0 },
		{ "sched", &o->sched, 0 }, { "write-topology", &o->write_topology, 0 },
		{ "write-traffic", &o->write_traffic, 0 }, { "hosts", &o->hosts, 4 },
		{ "gbps", &o->gbps, 4 }, { "bytes", &o->bytes, 8 }, { "slow", &o->slow, 4 },
		{ "out", &o->out, 4 }, { "dead", &o->dead, 4 }, { "evs", &o->evs, 4 },
		{ "window", &o->window, 4 }, { "interval-us", &o->interval_us, 4 },
		{ "queue", &o->queue, 4 }, { "mark", &o->mark, 4 }, { "rounds", &o->rounds, 4 },
		{ "limit-ms", &o->limit_ms, 4 }, { "seed", &o->seed, 8 },
		{ "discovered", &o->discovered, 1 },
	};
	struct option options[ARRAY_SIZE(known) + 1] = { 0 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		options[i].name = known[i].name;
		options[i].has_arg = known[i].size == 1 ? no_argument : required_argument;
	}
	for (;;) {
		int index = -1, found = getopt_long(argc, argv, "", options, &index);

		if (found == -1)
			return;
		if (index < 0)
			exit(2);
		if (!known[index].size)
			*(const char **)known[index].to = optarg;
		else if (known[index].size == 1)
			*(bool *)known[index].to = true;
		else if (known[index].size == 4)
			*(u32 *)known[index].to = strtoul(optarg, NULL, 10);
		else
			*(u64 *)known[index].to = strtoull(optarg, NULL, 10);
	}
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void print(const struct sim *sim, const struct options *o, double wall_s)
{
	const struct sim_stats *s = &sim->stats;
	double ideal_us = sim_ideal_ps(sim) / 1e6 / o->rounds;
	double slowest_us = (s->last_ps - s->round_ps) / 1e6;

	printf("{\"sched\":\"%s\",\"hosts\":%u,\"flows\":%u,\"done\":%u", o->sched,
	       sim->fabric.top.hosts, sim->traffic.n, s->done);
	printf(",\"ideal_us\":%.2f", ideal_us);
	if (s->done == sim->traffic.n)
		printf(",\"slowest_us\":%.2f,\"ratio\":%.4f", slowest_us, slowest_us / ideal_us);
	printf(",\"packets\":%llu,\"repairs\":%llu,\"naks\":%llu,\"timeouts\":%llu,\"drops\":%llu",
	       (unsigned long long)s->packets, (unsigned long long)s->repairs,
	       (unsigned long long)s->naks, (unsigned long long)s->timeouts,
	       (unsigned long long)sim->fabric.drops);
	printf(",\"held_max\":%u,\"queue_max\":%llu,\"bytes\":%llu", s->held_max,
	       (unsigned long long)sim->fabric.queue_max, (unsigned long long)s->bytes_max);
	printf(",\"events\":%llu,\"wall_s\":%.2f}\n", (unsigned long long)s->events, wall_s);
}

int main(int argc, char **argv)
{
	struct options o = { .fabric = "fat-tree", .pattern = "permutation", .sched = "adaptive",
			     .hosts = 128, .gbps = 100, .bytes = 2000000, .rounds = 1, .evs = 64,
			     .interval_us = 1000, .limit_ms = 1000, .seed = 1 };
	struct sim_config is;
	struct topology top;
	struct traffic m;
	struct sim sim;
	double begun;

	parse(argc, argv, &o);
	is = (struct sim_config){ .sched = rp_sched_find(o.sched), .evs = o.evs,
				  .discovered = o.discovered, .window = o.window,
				  .interval_ns = o.interval_us * 1000ull,
				  .limit_ps = o.limit_ms * 1000000000ull, .random = o.seed | 1 };
	if (!is.sched && strcmp(o.sched, "ecmp"))
		die("--sched is ecmp, flow, flowlet, spray or adaptive");
	if (!o.evs || o.evs > ROCEPATH_EVS_MAX)
		die("--evs is 1 to 256");
	get_topology(&o, &top);
	get_traffic(&o, top.hosts, &m, &is.random);
	if (o.write_topology)
		topology_write(&top, o.write_topology);
	if (o.write_traffic)
		traffic_write(&m, o.write_traffic);
	sim_init(&sim, &is, &top, &m);
	sim.fabric.limit = o.queue;
	sim.fabric.mark = o.mark;
	fabric_impair(&sim.fabric, o.slow, FABRIC_UP, SLOWER, &is.random);
	fabric_impair(&sim.fabric, o.out, FABRIC_OUT, 1, &is.random);
	fabric_impair(&sim.fabric, o.dead, FABRIC_DEAD, 1, &is.random);
	begun = now_s();
	sim_run(&sim);
	print(&sim, &o, now_s() - begun);
	sim_free(&sim);
	return 0;
}
