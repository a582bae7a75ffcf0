// SPDX-License-Identifier: GPL-2.0
/* The simulator: what must come out of it whatever it simulates. */
/* SOURCES: selftests/sim/sim.c selftests/sim/sender.c selftests/sim/receiver.c */
/* SOURCES: selftests/sim/fabric.c selftests/sim/topology.c selftests/sim/traffic.c */
/* SOURCES: selftests/sim/text.c selftests/sim/events.c kmod/core/sched.c kmod/core/pathset.c */
/* SOURCES: kmod/core/paths.c kmod/core/adapt.c kmod/core/budget.c kmod/core/health.c kmod/core/holddown.c */
/* SOURCES: kmod/core/repair.c kmod/core/repaired.c kmod/core/window.c kmod/core/report.c */
#include "unit.h"
#include "../sim/sim.h"

#define BYTES 400000

static struct sim_config config(const struct rp_sched_ops *sched)
{
	return (struct sim_config){ .sched = sched, .evs = 32, .interval_ns = 100000,
				    .discovered = true, .limit_ps = 1000000000000ull,
				    .random = rnd() | 1 };
}

static void begin_with(struct sim *sim, struct sim_config *is, u32 hosts, u64 bytes, u32 rounds)
{
	struct topology top;
	struct traffic m;

	topology_make(&top, 3, hosts, 100);
	traffic_permutation(&m, hosts, bytes, rounds, &is->random);
	sim_init(sim, is, &top, &m);
}

static void begin(struct sim *sim, struct sim_config *is)
{
	begin_with(sim, is, 64, BYTES, 2);
}

/* all that was sent is there, and nothing faster than light */
static void end(struct sim *sim)
{
	sim_run(sim);
	assert_int_equal(sim->stats.done, sim->traffic.n);
	assert_true(sim->stats.last_ps > sim_ideal_ps(sim));
	sim_free(sim);
}

static void test_schedulers(void **state)
{
	static const struct rp_sched_ops *const scheds[] = {
		NULL, &rp_sched_flow_ops, &rp_sched_flowlet_ops, &rp_sched_spray_ops,
		&rp_sched_adaptive_ops,
	};
	u64 last_ps[ARRAY_SIZE(scheds)];
	struct sim sim;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(scheds); i++) {
		struct sim_config is = config(scheds[i]);

		is.random = 1;
		begin(&sim, &is);
		sim_run(&sim);
		assert_int_equal(sim.stats.done, sim.traffic.n);
		assert_int_equal(sim.stats.naks + sim.fabric.drops, 0);
		last_ps[i] = sim.stats.last_ps;
		sim_free(&sim);
	}
	assert_true(last_ps[0] > 3 * last_ps[3] / 2);
}

static void test_slow_links(void **state)
{
	struct sim_config is = config(&rp_sched_adaptive_ops);
	struct sim sim;

	begin(&sim, &is);
	fabric_impair(&sim.fabric, 4, FABRIC_UP, 4, &is.random);
	end(&sim);
}

/* what dies is found out, and repaired */
static void test_dead_links(void **state)
{
	struct sim_config is = config(&rp_sched_adaptive_ops);
	struct sim sim;

	begin(&sim, &is);
	fabric_impair(&sim.fabric, 2, FABRIC_DEAD, 1, &is.random);
	sim_run(&sim);
	assert_int_equal(sim.stats.done, sim.traffic.n);
	assert_int_equal(sim.stats.timeouts, 0);
	assert_true(!sim.fabric.drops == !sim.stats.repairs);
	sim_free(&sim);
}

/* queues that drop: repair, and where that is not enough the QP's own recovery */
static void test_short_queues(void **state)
{
	struct sim_config is = config(&rp_sched_spray_ops);
	struct sim sim;

	is.evs = 4;
	begin(&sim, &is);
	sim.fabric.limit = 40000;
	end(&sim);
}

/* much is lost at once: what is sent again does not drown what is left */
static void test_dead_links_and_short_queues(void **state)
{
	struct sim_config is = config(&rp_sched_adaptive_ops);
	struct sim sim;

	is.random = 1;
	is.evs = 64;
	is.window = 1024;
	is.interval_ns = 1000000;
	begin_with(&sim, &is, 128, 5 * BYTES, 1);
	sim.fabric.limit = 200000;
	fabric_impair(&sim.fabric, 8, FABRIC_DEAD, 1, &is.random);
	sim_run(&sim);
	assert_int_equal(sim.stats.done, sim.traffic.n);
	assert_int_equal(sim.stats.naks + sim.stats.timeouts, 0);
	print_message("# %.1f times the ideal, %u repairs\n",
		      (double)sim.stats.last_ps / sim_ideal_ps(&sim), (u32)sim.stats.repairs);
	assert_true(sim.stats.last_ps < 40 * sim_ideal_ps(&sim));
	sim_free(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schedulers),
		cmocka_unit_test(test_slow_links),
		cmocka_unit_test(test_dead_links),
		cmocka_unit_test(test_short_queues),
		cmocka_unit_test(test_dead_links_and_short_queues),
	};

	return unit_run(tests);
}
