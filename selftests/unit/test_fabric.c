// SPDX-License-Identifier: GPL-2.0
/*
 * Path discovery against fabrics whose paths are known: leaf, spine, leaf, with
 * ECMP that hashes well or badly, routers that never answer, answers that get
 * lost, and paths that lead nowhere.
 */
/* SOURCES: user/fabric.c user/graph.c user/units.c user/error.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "../../user/fabric.h"
#include "../../user/graph.h"

#define HOPS 4		/* leaf, spine, leaf, peer */
#define TRACES_MAX (ROCEPATH_PORTS_MAX * RP_EVS_MAX)

/**
 * struct world - a fabric of our own
 * @ports: of the host, each with a leaf of its own
 * @spines: of the fabric
 * @evs: tried on each port
 * @lost_ppm: answers that get lost for good
 * @skew: of 256, how many EVs go to spine 0 whatever the hash says
 * @silent: bit of each spine that never answers
 * @dead: bit of each spine that passes nothing on
 * @silent_hop: at which no router answers, 0: none
 * @spine: that each EV of each port really takes
 */
struct world {
	unsigned int ports, spines, evs, lost_ppm, skew, silent_hop;
	uint32_t silent, dead;
	uint8_t spine[ROCEPATH_PORTS_MAX][RP_EVS_MAX];
	struct rp_trace traces[TRACES_MAX];
	unsigned int count;
};

static void address(uint8_t *router, uint8_t layer, uint8_t number)
{
	memset(router, 0, RP_ADDRESS_LEN);
	router[10] = 0xff;
	router[11] = 0xff;
	router[12] = 10;
	router[13] = layer;
	router[15] = number;
}

static void hear(struct world *w, struct rp_trace *t, unsigned int hop, uint8_t number)
{
	bool silent = hop == w->silent_hop || (hop == 2 && w->silent >> number & 1);

	if (silent || rnd_below(1000000) < w->lost_ppm)
		return;
	t->heard |= 1u << (hop - 1);
	address(t->router[hop - 1], hop, number);
}

static void build(struct world *w)
{
	memset(w->traces, 0, sizeof(w->traces));
	w->count = 0;
	for (unsigned int ev = 0; ev < w->evs; ev++)
		for (unsigned int port = 0; port < w->ports; port++) {
			struct rp_trace *t = &w->traces[w->count++];
			uint8_t spine = rnd_below(256) < w->skew ? 0 : rnd_below(w->spines);

			w->spine[port][ev] = spine;
			t->port = port;
			t->ev = ev;
			hear(w, t, 1, port);
			hear(w, t, 2, spine);
			if (w->dead >> spine & 1)
				continue;
			hear(w, t, 3, port);
			t->hops = HOPS;
			t->rtt_us = 100 + spine;
		}
}

static struct rp_fabric group(const struct world *w)
{
	struct rp_fabric fabric;

	assert_int_equal(rp_fabric_group(&fabric, w->traces, w->count), 0);
	return fabric;
}

/* spines that EVs of a port really take, as bits */
static uint32_t taken(const struct world *w, unsigned int port)
{
	uint32_t bits = 0;

	for (unsigned int ev = 0; ev < w->evs; ev++)
		bits |= 1u << w->spine[port][ev];
	return bits;
}

/* no EV is lost or counted twice */
static void check_sum(const struct rp_fabric *fabric, const struct world *w)
{
	bool seen[ROCEPATH_PORTS_MAX][RP_EVS_MAX] = { 0 };
	unsigned int sum = 0;

	for (unsigned int i = 0; i < fabric->count; i++) {
		const struct rp_fabric_path *path = &fabric->paths[i];

		require(path->count && path->chosen <= path->count, "a path has no EV");
		for (unsigned int e = 0; e < path->count; e++) {
			require(!seen[path->port][path->evs[e]], "EV %u twice", path->evs[e]);
			seen[path->port][path->evs[e]] = true;
		}
		sum += path->count;
	}
	for (unsigned int port = 0; port < ROCEPATH_PORTS_MAX; port++)
		sum += fabric->port[port].unsure;
	assert_int_equal(sum, w->count);
}

/* how many of the chosen EVs of a port really take each spine */
static void count_chosen(const struct rp_fabric *fabric, const struct world *w, unsigned int port,
			 unsigned int *uses)
{
	uint8_t evs[RP_EVS_MAX];
	unsigned int count = rp_fabric_chosen(fabric, port, evs);

	memset(uses, 0, 32 * sizeof(*uses));
	for (unsigned int i = 0; i < count; i++) {
		require(!i || evs[i - 1] < evs[i], "not ascending");
		uses[w->spine[port][evs[i]]]++;
	}
}

/* as many as the rarest spine has, and as fit */
static unsigned int fair_share(const struct world *w, unsigned int port, unsigned int evs)
{
	unsigned int uses[32] = { 0 }, rarest = RP_EVS_MAX;

	for (unsigned int ev = 0; ev < w->evs; ev++)
		uses[w->spine[port][ev]]++;
	for (unsigned int s = 0; s < w->spines; s++)
		if (uses[s] && uses[s] < rarest)
			rarest = uses[s];
	evs /= __builtin_popcount(taken(w, port));
	return evs < rarest ? evs : rarest;
}

static struct world w;

static void test_all_answer(void **state)
{
	for (int i = 0; i < ROUNDS(2000); i++) {
		unsigned int evs = rnd_range(8, 64), uses[32];
		struct rp_fabric fabric;

		w = (struct world){
			.ports = rnd_range(1, 4), .spines = rnd_range(1, 8),
			.evs = rnd_range(32, RP_EVS_MAX), .skew = i % 2 ? rnd_below(250) : 0,
		};
		build(&w);
		fabric = group(&w);
		check_sum(&fabric, &w);
		for (unsigned int port = 0; port < w.ports; port++) {
			unsigned int each = fair_share(&w, port, evs);

			assert_int_equal(fabric.port[port].verdict, RP_FABRIC_SEEN);
			assert_int_equal(rp_fabric_choose(&fabric, port, evs),
					 each * __builtin_popcount(taken(&w, port)));
			count_chosen(&fabric, &w, port, uses);
			for (unsigned int s = 0; s < w.spines; s++)
				assert_int_equal(uses[s], taken(&w, port) >> s & 1 ? each : 0);
		}
		rp_fabric_release(&fabric);
	}
}

/* each gap is filled in from what the others say, where that is certain */
static void test_lost_answers(void **state)
{
	unsigned int seen = 0;

	for (int i = 0; i < ROUNDS(1000); i++) {
		unsigned int uses[32], least = RP_EVS_MAX, most = 0;
		struct rp_fabric fabric;

		w = (struct world){
			.ports = 2, .spines = 4, .evs = 64, .lost_ppm = rnd_below(80000),
		};
		build(&w);
		fabric = group(&w);
		check_sum(&fabric, &w);
		if (rp_fabric_choose(&fabric, 1, 16)) {
			count_chosen(&fabric, &w, 1, uses);
			for (unsigned int s = 0; s < w.spines; s++) {
				least = uses[s] < least ? uses[s] : least;
				most = uses[s] > most ? uses[s] : most;
			}
			/* only a leaf may be missing from what was chosen, never a spine */
			assert_int_equal(least, most);
			assert_true(least >= 1);
			seen++;
		} else {
			assert_int_equal(fabric.port[1].verdict, RP_FABRIC_UNSURE);
		}
		rp_fabric_release(&fabric);
	}
	assert_true(seen > ROUNDS(1000) / 2);
}

static void test_silent_hops(void **state)
{
	static const enum rp_fabric_verdict expected[] = {
		RP_FABRIC_SEEN, RP_FABRIC_SEEN, RP_FABRIC_BLIND, RP_FABRIC_BLIND,
	};

	for (unsigned int hop = 0; hop < ARRAY_SIZE(expected); hop++) {
		struct rp_fabric fabric;

		w = (struct world){ .ports = 2, .spines = 4, .evs = 64, .silent_hop = hop };
		build(&w);
		fabric = group(&w);
		check_sum(&fabric, &w);
		assert_int_equal(fabric.port[1].verdict, expected[hop]);
		assert_int_equal(fabric.port[1].blind, hop > 1 ? 1 << (hop - 1) : 0);
		assert_int_equal(rp_fabric_choose(&fabric, 1, 16),
				 expected[hop] == RP_FABRIC_SEEN ? 16 : 0);
		assert_int_equal(fabric.port[1].unsure, 0);
		rp_fabric_release(&fabric);
	}
}

/* or it would never be used again */
static void test_silent_spine(void **state)
{
	struct rp_fabric fabric;

	w = (struct world){ .ports = 1, .spines = 4, .evs = 128, .silent = 4 };
	build(&w);
	fabric = group(&w);
	check_sum(&fabric, &w);
	assert_int_equal(fabric.port[0].verdict, RP_FABRIC_UNSURE);
	assert_int_equal(rp_fabric_choose(&fabric, 0, 16), 0);
	rp_fabric_release(&fabric);
}

static void test_dead_spine(void **state)
{
	unsigned int uses[32];
	struct rp_fabric fabric;
	bool dead = false;

	w = (struct world){ .ports = 1, .spines = 4, .evs = 128, .dead = 2 };
	build(&w);
	fabric = group(&w);
	check_sum(&fabric, &w);
	assert_int_equal(fabric.port[0].verdict, RP_FABRIC_SEEN);
	assert_int_equal(rp_fabric_choose(&fabric, 0, 16), 15);
	count_chosen(&fabric, &w, 0, uses);
	assert_int_equal(uses[1], 0);
	for (unsigned int i = 0; i < fabric.count; i++)
		if (!fabric.paths[i].reached) {
			assert_false(dead);
			dead = true;
			assert_int_equal(fabric.paths[i].hops, 2);
		}
	assert_true(dead);
	rp_fabric_release(&fabric);
	w.dead = 0xf;
	build(&w);
	fabric = group(&w);
	assert_int_equal(fabric.port[0].verdict, RP_FABRIC_DEAD);
	assert_int_equal(rp_fabric_choose(&fabric, 0, 16), 0);
	rp_fabric_release(&fabric);
}

static void test_more_paths_than_evs(void **state)
{
	unsigned int uses[32], chosen = 0;
	struct rp_fabric fabric;

	w = (struct world){ .ports = 1, .spines = 16, .evs = 256 };
	build(&w);
	fabric = group(&w);
	assert_int_equal(rp_fabric_choose(&fabric, 0, 5), 5);
	count_chosen(&fabric, &w, 0, uses);
	for (unsigned int s = 0; s < w.spines; s++) {
		assert_in_range(uses[s], 0, 1);
		chosen += uses[s];
	}
	assert_int_equal(chosen, 5);
	/* choosing again begins anew */
	assert_int_equal(rp_fabric_choose(&fabric, 0, 64), 64 < 16 * fair_share(&w, 0, 64) ? 64 :
			 16 * fair_share(&w, 0, 64));
	rp_fabric_release(&fabric);
}

/* four paths over two spines: the two that are chosen have none in common */
static void test_least_shared(void **state)
{
	struct rp_fabric fabric;
	uint8_t evs[RP_EVS_MAX];

	memset(&w, 0, sizeof(w));
	for (unsigned int ev = 0; ev < 4; ev++) {
		struct rp_trace *t = &w.traces[w.count++];

		t->ev = ev;
		t->hops = 3;
		t->heard = 3;
		address(t->router[0], 1, ev / 2);
		address(t->router[1], 2, ev % 2);
	}
	fabric = group(&w);
	assert_int_equal(rp_fabric_choose(&fabric, 0, 2), 2);
	assert_int_equal(rp_fabric_chosen(&fabric, 0, evs), 2);
	assert_memory_equal(evs, "\x00\x03", 2);
	rp_fabric_release(&fabric);
}

/* hosts that share a cable */
static void test_no_router(void **state)
{
	struct rp_fabric fabric;

	memset(&w, 0, sizeof(w));
	for (unsigned int ev = 0; ev < 8; ev++)
		w.traces[w.count++] = (struct rp_trace){ .ev = ev, .hops = 1 };
	fabric = group(&w);
	assert_int_equal(fabric.count, 1);
	assert_int_equal(fabric.port[0].verdict, RP_FABRIC_SEEN);
	assert_int_equal(rp_fabric_choose(&fabric, 0, 4), 4);
	rp_fabric_release(&fabric);
	fabric = (struct rp_fabric){ 0 };
	assert_int_equal(rp_fabric_group(&fabric, NULL, 0), 0);
	assert_int_equal(rp_fabric_choose(&fabric, 0, 4), 0);
	rp_fabric_release(&fabric);
}

/* anything may have been answered */
static void test_hostile(void **state)
{
	static const char *const ports[] = { "eth0", "eth1", "eth2", "eth3" };
	FILE *out = fopen("/dev/null", "w");

	for (int i = 0; i < ROUNDS(3000); i++) {
		unsigned int ports_used = rnd_range(1, 4), evs = rnd_range(1, 40);
		struct rp_fabric fabric;

		memset(&w, 0, sizeof(w));
		for (unsigned int n = 0; n < ports_used * evs; n++) {
			struct rp_trace *t = &w.traces[w.count++];

			t->port = n % ports_used;
			t->ev = n / ports_used;
			t->hops = rnd_below(4) ? rnd_below(RP_HOPS_MAX + 1) : 0;
			t->heard = rnd() & rnd();
			if (t->hops)
				t->heard &= (1ull << (t->hops - 1)) - 1;
			for (unsigned int h = 0; h < RP_HOPS_MAX; h++)
				if (t->heard >> h & 1)
					address(t->router[h], h, rnd_below(3));
		}
		fabric = group(&w);
		for (unsigned int port = 0; port < ports_used; port++)
			assert_true(rp_fabric_choose(&fabric, port, evs) <= evs);
		check_sum(&fabric, &w);
		assert_int_equal(rp_graph_print(&fabric, "rp0", "10.0.0.2", ports, out), 0);
		rp_fabric_release(&fabric);
	}
	fclose(out);
}

static void test_graph(void **state)
{
	static const char *const ports[] = { "eth0" };
	static const char expected[] =
		"digraph fabric {\n\trankdir=LR;\n\tnode [shape=box];\n"
		"\t\"rp0\" [shape=ellipse];\n\t\"10.0.0.2\" [shape=ellipse];\n"
		"\t\"rp0\" -> \"eth0\" [label=\"3\", style=bold];\n"
		"\t\"eth0\" -> \"10.1.0.0\" [label=\"3\", style=bold];\n"
		"\t\"10.1.0.0\" -> \"10.2.0.0\" [label=\"1\", style=bold];\n"
		"\t\"10.2.0.0\" -> \"10.0.0.2\" [label=\"1\", style=bold];\n"
		"\t\"10.1.0.0\" -> \"10.2.0.1\" [label=\"1\"];\n"
		"\t\"10.2.0.1\" -> \"10.0.0.2\" [label=\"1\"];\n"
		"\t\"10.1.0.0\" -> \"10.1.0.0: lost\" [label=\"1\", style=dashed, color=red];\n"
		"}\n";
	struct rp_fabric fabric;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	memset(&w, 0, sizeof(w));
	for (unsigned int ev = 0; ev < 3; ev++) {
		struct rp_trace *t = &w.traces[w.count++];

		*t = (struct rp_trace){ .ev = ev, .hops = ev < 2 ? 3 : 0, .heard = ev < 2 ? 3 : 1 };
		address(t->router[0], 1, 0);
		if (ev < 2)
			address(t->router[1], 2, ev);
	}
	fabric = group(&w);
	assert_int_equal(rp_fabric_choose(&fabric, 0, 1), 1);
	assert_int_equal(rp_graph_print(&fabric, "rp0", "10.0.0.2", ports, out), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	rp_fabric_release(&fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_answer),
		cmocka_unit_test(test_lost_answers),
		cmocka_unit_test(test_silent_hops),
		cmocka_unit_test(test_silent_spine),
		cmocka_unit_test(test_dead_spine),
		cmocka_unit_test(test_more_paths_than_evs),
		cmocka_unit_test(test_least_shared),
		cmocka_unit_test(test_no_router),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_graph),
	};

	return unit_run(tests);
}
