// SPDX-License-Identifier: GPL-2.0
/* Topologies and traffic of the simulator: read, written, made, and what is wrong with them. */
/* SOURCES: selftests/sim/text.c selftests/sim/topology.c selftests/sim/traffic.c */
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"
#include "../sim/chance.h"
#include "../sim/text.h"
#include "../sim/topology.h"
#include "../sim/traffic.h"

#define HEAD "Nodes 1024\nTiers 3\nPodsize 64\n\n"
#define TIER(n, down, up) "Tier " n "\nDownlink_speed_Gbps 100\nRadix_Down " down "\n" up \
	"Downlink_Latency_ns 1000\nSwitch_Latency_ns 0\nBundle 1\n\n"

static const char tree[] = "# a comment\n" HEAD TIER("0", "8", "Radix_Up 8\nOversubscribed 1\n")
	TIER("1", "8", "Radix_Up 8\n") TIER("2", "16", "");

static void with_temporary(char *name)
{
	int fd;

	strcpy(name, "/tmp/rocepath-sim-XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	close(fd);
}

/* --- topologies --- */

static bool read_topology(struct topology *top, const char *text, char *error)
{
	struct text t;
	bool ok;

	text_of(&t, "a.topo", text);
	ok = topology_read(top, &t);
	strcpy(error, t.error);
	text_close(&t);
	return ok;
}

static void test_topology_read(void **state)
{
	struct topology top, made;
	char error[256];

	assert_true(read_topology(&top, tree, error));
	assert_int_equal(top.links, 3 * 1024);
	topology_make(&made, 3, 1024, 100);
	assert_memory_equal(&top, &made, sizeof(top));
}

static void test_topology_written(void **state)
{
	static const u32 hosts[] = { 32, 128, 1024, 8192, 131072 };
	struct topology top, again;
	char name[64];
	struct text t;
	u32 i, tiers;

	for (tiers = 2; tiers <= 3; tiers++) {
		for (i = 0; i < ARRAY_SIZE(hosts); i++) {
			topology_make(&top, tiers, hosts[i], 400);
			with_temporary(name);
			topology_write(&top, name);
			assert_true(text_open(&t, name));
			assert_true(topology_read(&again, &t));
			assert_memory_equal(&top, &again, sizeof(top));
			text_close(&t);
			unlink(name);
		}
	}
}

static void test_topology_faults(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} faults[] = {
		{ "Nodes 12x\n", "a.topo:1:7: '12x' is not a number" },
		{ "\nNodes 0\n", "a.topo:2:7: 0 is not from 2 to 1048576" },
		{ "Nodes\n", "a.topo:1:6: a number is missing" },
		{ "Nodes 4 5\n", "a.topo:1:9: '5' is one word too many" },
		{ "Tiers 4\n", "a.topo:1:7: 4 is not from 2 to 3" },
		{ "Radix_Up 4\n", "a.topo:1:1: Radix_Up belongs behind a line 'Tier n'" },
		{ "Tier 0\nSpeed 4\n", "a.topo:2:1: 'Speed' is nothing that a topology has" },
		{ HEAD TIER("0", "8", ""), "a.topo:11:1: tier 0 has no Radix_Up" },
		{ "Nodes 4\n", "a.topo:1:8: Nodes, Tiers or Podsize is missing" },
		{ HEAD TIER("0", "8", "Radix_Up 8\n") TIER("1", "4", "Radix_Up 8\n")
		  TIER("2", "16", ""),
		  "a.topo:27:1: Radix_Down of tier 1 is not 8, the leaves of a pod" },
	};
	struct topology top;
	char error[256];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		assert_false(read_topology(&top, faults[i].text, error));
		assert_string_equal(error, faults[i].error);
	}
}

/* every way goes up and down again, link by link through the same switches, and all differ */
static void test_routes(void **state)
{
	struct topology top;
	u32 tiers, i, choice, choices, n;
	u32 link[TOPOLOGY_HOPS_MAX], other[TOPOLOGY_HOPS_MAX];

	for (tiers = 2; tiers <= 3; tiers++) {
		topology_make(&top, tiers, 1024, 100);
		for (i = 0; i < 2000; i++) {
			u32 from = rnd_below(1024), to = rnd_below(1024);

			choices = topology_choices(&top, from, to);
			choice = rnd_below(choices);
			n = topology_route(&top, from, to, choice, link);
			assert_int_equal(link[0], from);
			assert_int_equal(link[n - 1], top.links + to);
			assert_int_equal(topology_level(&top, link[n / 2 - 1]), n / 2 - 1);
			assert_int_equal(topology_level(&top, link[n / 2]), n / 2 - 1);
			if (choices == 1)
				continue;
			topology_route(&top, from, to, (choice + 1) % choices, other);
			assert_true(memcmp(link, other, n * sizeof(*link)));
		}
		assert_int_equal(topology_choices(&top, 0, 1023), tiers == 3 ? 64 : 32);
		assert_int_equal(topology_choices(&top, 0, 1), 1);
	}
}

/* --- traffic --- */

static bool read_traffic(struct traffic *m, const char *text, char *error)
{
	struct text t;
	bool ok;

	text_of(&t, "a.cm", text);
	ok = traffic_read(m, &t);
	strcpy(error, t.error);
	text_close(&t);
	return ok;
}

static void test_traffic_read(void **state)
{
	struct traffic m;
	char error[256];

	assert_true(read_traffic(&m, "# two\nNodes 8\nConnections 3\nTriggers 1\n"
				 "0->3 id 1 start 5 size 2000 recv_done_trigger 1\n"
				 "3->4 id 2 trigger 1 size 7\n4->5 id 9 trigger 1 size 8\n"
				 "trigger id 1 oneshot\n", error));
	assert_int_equal(m.hosts, 8);
	assert_int_equal(m.n, 3);
	assert_int_equal(m.flow[0].start_ps, 5);
	assert_int_equal(m.flow[0].bytes, 2000);
	assert_int_equal(m.flow[0].pulls, 1);
	assert_int_equal(m.flow[1].from, 3);
	assert_int_equal(m.flow[1].to, 4);
	assert_int_equal(m.trigger[1].waiting, 2);
	assert_int_equal(m.flow[1].next, 3);
	assert_int_equal(m.flow[2].next, 0);
	traffic_free(&m);
}

static void test_traffic_faults(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} faults[] = {
		{ "0->1 start 0\n", "a.cm:1:1: Nodes and Connections must come before '0->1'" },
		{ "Nodes 4\nConnections 1\n", "a.cm:2:13: no connection" },
		{ "Nodes 4\nConnections 1\n0-1 start 0\n",
		  "a.cm:3:1: '0-1' is no pair of hosts, as in 0->1" },
		{ "Nodes 4\nConnections 1\n0-> start 0\n",
		  "a.cm:3:1: '0->' is no pair of hosts, as in 0->1" },
		{ "Nodes 4\nConnections 1\n0->4 start 0\n",
		  "a.cm:3:1: there are 4 hosts, from 0 on" },
		{ "Nodes 4\nConnections 1\n2->2 start 0\n", "a.cm:3:1: host 2 sends to itself" },
		{ "Nodes 4\nConnections 1\n0->1 id 1 size 8\n",
		  "a.cm:3:17: no start and no trigger" },
		{ "Nodes 4\nConnections 1\n0->1 id 1 start 8\n", "a.cm:3:18: no size" },
		{ "Nodes 4\nConnections 1\n0->1 id 1 start 0 size x\n",
		  "a.cm:3:24: 'x' is not a number" },
		{ "Nodes 4\nConnections 1\n0->1 colour red\n",
		  "a.cm:3:6: 'colour' is nothing that a connection has" },
		{ "Nodes 4\nConnections 2\n0->1 start 0 size 8\n",
		  "a.cm:3:20: 1 connections, not 2" },
		{ "Nodes 4\nConnections 1\nTriggers 1\n0->1 id 7 trigger 1 size 8\n",
		  "a.cm:4:27: connection 7 waits for trigger 1: there is none" },
		{ "Nodes 4\nConnections 1\n0->1 trigger 1 size 8\n",
		  "a.cm:3:14: 1 is not from 1 to 0" },
	};
	struct traffic m;
	char error[256];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		assert_false(read_traffic(&m, faults[i].text, error));
		assert_string_equal(error, faults[i].error);
	}
}

static void check_written(const struct traffic *m)
{
	struct traffic again;
	char name[64];
	struct text t;

	with_temporary(name);
	traffic_write(m, name);
	assert_true(text_open(&t, name));
	if (!traffic_read(&again, &t))
		fail_msg("%s", t.error);
	text_close(&t);
	unlink(name);
	assert_int_equal(again.n, m->n);
	assert_memory_equal(again.flow, m->flow, m->n * sizeof(*m->flow));
	traffic_free(&again);
}

static void test_permutation(void **state)
{
	u32 got[64] = { 0 }, sent[64] = { 0 }, i;
	u64 random = rnd() | 1;
	struct traffic m;

	traffic_permutation(&m, 64, 2000000, 2, &random);
	assert_int_equal(m.n, 128);
	for (i = 0; i < 64; i++) {
		sent[m.flow[i].from]++;
		got[m.flow[i].to]++;
		assert_int_not_equal(m.flow[i].from, m.flow[i].to);
		assert_int_equal(m.flow[64 + i].to, m.flow[i].to);
	}
	for (i = 0; i < 64; i++)
		assert_true(sent[i] == 1 && got[i] == 1);
	check_written(&m);
	traffic_free(&m);
}

static void test_collectives(void **state)
{
	u64 random = rnd() | 1;
	struct traffic m;
	u32 i;

	traffic_ring(&m, 16, 16000, &random);
	assert_int_equal(m.n, 16 * 30);
	/* a step waits for what its host gets in the step before */
	for (i = 16; i < m.n; i++)
		assert_int_equal(m.flow[m.flow[i].trigger - 1].to, m.flow[i].from);
	check_written(&m);
	traffic_free(&m);
	traffic_all_to_all(&m, 16, 1000, 4);
	assert_int_equal(m.n, 16 * 15);
	for (i = 0; i < m.n; i++)
		assert_int_equal(!!m.flow[i].trigger, i >= 4 * 16);
	check_written(&m);
	traffic_free(&m);
	traffic_incast(&m, 64, 32, 1000);
	for (i = 0; i < m.n; i++)
		assert_true(!m.flow[i].to && m.flow[i].from);
	check_written(&m);
	traffic_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_topology_read),
		cmocka_unit_test(test_topology_written),
		cmocka_unit_test(test_topology_faults),
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_traffic_read),
		cmocka_unit_test(test_traffic_faults),
		cmocka_unit_test(test_permutation),
		cmocka_unit_test(test_collectives),
	};

	return unit_run(tests);
}
