// SPDX-License-Identifier: GPL-2.0
/* Schedulers: what a flow, and what its packets get, while ports and paths come and go. */
/* SOURCES: kmod/core/sched.c kmod/core/pathset.c kmod/core/budget.c */
/* SOURCES: kmod/core/health.c kmod/core/holddown.c */
/* SOURCES: kmod/core/paths.c kmod/core/adapt.c */
#include <math.h>

#include "unit.h"
#include "sched.h"

#define US 1000ull

static const struct rp_sched_ops *const all[] = {
	&rp_sched_flow_ops,
	&rp_sched_flowlet_ops,
	&rp_sched_spray_ops,
	&rp_sched_adaptive_ops,
};

static const struct rp_health_knobs knobs = { .interval_ns = 1000 * US };

static struct rp_paths_port ports[ROCEPATH_PORTS_MAX];
static struct rp_paths paths;
static struct rp_pathset *set;
static u64 now = 1000000 * US;

static void no_ports(void)
{
	memset(ports, 0, sizeof(ports));
}

static void add_port(u32 i, u16 weight, u16 evs)
{
	ports[i] = (struct rp_paths_port){ .weight = weight, .evs = evs, .up = true };
}

static void lay_out(void)
{
	free(set);
	set = rp_pathset_init(calloc(1, rp_pathset_size(rp_pathset_count(ports))), ports, NULL,
			      NULL, now);
}

static void lay_out_evenly(u32 n_ports, u32 n_evs)
{
	u32 i;

	no_ports();
	for (i = 0; i < n_ports; i++)
		add_port(i, 1, n_evs);
	lay_out();
}

static void random_paths(void)
{
	u32 i, n = rnd_range(1, 8);

	no_ports();
	for (i = 0; i < n; i++) {
		u32 at = rnd_below(ROCEPATH_PORTS_MAX);

		add_port(at, rnd() % 2 ? 1 : rnd_range(1, ROCEPATH_WEIGHT_MAX), rnd_range(1, 64));
		ports[at].up = rnd() % 4;
	}
	lay_out();
	for (i = 0; i < set->n; i++) {
		set->entry[i].factor = rnd_range(1, RP_PATH_WEIGHT_MAX);
		rp_pathset_publish(set, i);
	}
}

static void set_state(u16 index, enum rocepath_path_state state)
{
	set->entry[index].health.state = state;
	rp_pathset_publish(set, index);
}

static struct rp_sched_flow new_flow(void)
{
	struct rp_sched_flow f;

	rp_sched_start(&f, rnd());
	return f;
}

static u16 pick(const struct rp_sched_ops *ops, struct rp_sched_flow *f)
{
	u16 index = ops->pick(set, f, 1024, now);

	require(set->usable ? index < set->n && rp_pathset_usable(set, index) :
			      index == RP_PATHSET_NONE,
		"%s picked %u", ops->name, index);
	return index;
}

static void found_by_name(void **state)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		assert_ptr_equal(rp_sched_find(all[i]->name), all[i]);
		assert_int_equal(all[i]->sprays, i > 0);
	}
	assert_null(rp_sched_find("spra"));
	assert_null(rp_sched_find(""));
}

/* Paths change under flows that know only those before, and flows change their scheduler. */
static void any_paths_any_flow(void **state)
{
	struct rp_sched_flow flow[8];
	u32 round, i, k;

	for (i = 0; i < 8; i++)
		flow[i] = new_flow();
	for (round = 0; round < ROUNDS(20000); round++) {
		random_paths();
		for (k = rnd_below(300); k; k--) {
			now += rnd_below(16) ? 1 : 1000 * US;
			pick(all[rnd_below(ARRAY_SIZE(all))], &flow[k % 8]);
		}
	}
}

static void one_path_per_flow(void **state)
{
	u32 round, k;

	for (round = 0; round < ROUNDS(2000); round++) {
		struct rp_sched_flow f = new_flow();
		u16 first;

		random_paths();
		first = pick(&rp_sched_flow_ops, &f);
		for (k = 0; k < 16; k++)
			require(pick(&rp_sched_flow_ops, &f) == first, "the flow moved");
	}
}

/*
 * The path fails, the flow goes to another one; it comes back, so does the flow;
 * others do not matter.
 */
static void flow_fails_over_and_back(void **state)
{
	struct rp_sched_flow f = new_flow();
	u16 home, i;

	lay_out_evenly(4, 4);
	home = pick(&rp_sched_flow_ops, &f);
	for (i = 0; i < set->n; i++) {
		set_state(i, ROCEPATH_PATH_SUSPECT);
		assert_int_equal(pick(&rp_sched_flow_ops, &f) == home, i != home);
		set_state(i, ROCEPATH_PATH_UP);
		assert_int_equal(pick(&rp_sched_flow_ops, &f), home);
	}
}

/* A peer without paths of its own: ports by weight to within 5 %, the EVs of a port evenly. */
static void pinned_by_port(void **state)
{
	static const u16 weight[] = { 100, 100, 50, 25 };
	static u32 count[4][256];
	u32 i, ev, n = ROUNDS(1000000);
	struct rp_path home, away;
	double sum, due;

	no_ports();
	for (i = 0; i < 4; i++)
		add_port(i, weight[i], 256 >> i);
	rp_paths_build(&paths, ports);
	for (i = 0; i < n; i++) {
		struct rp_path path = rp_sched_pin(&paths, rnd());

		count[path.port][path.ev]++;
	}
	for (i = 0; i < 4; i++) {
		for (sum = 0, ev = 0; ev < 256; ev++)
			sum += count[i][ev];
		due = n * weight[i] / 275.0;
		require(fabs(sum - due) < due * 0.05, "port %u: %.0f flows, not %.0f", i, sum, due);
		for (ev = 0; ev < 256u >> i; ev++) {
			due = sum / (256 >> i);
			require(fabs(count[i][ev] - due) < 6 * sqrt(due),
				"port %u, EV %u: %u, not %.0f", i, ev, count[i][ev], due);
		}
	}
	home = rp_sched_pin(&paths, 4711);
	for (i = 0; i < 4; i++) {
		ports[i].up = false;
		rp_paths_build(&paths, ports);
		away = rp_sched_pin(&paths, 4711);
		assert_int_equal(away.port == home.port, i != home.port);
		ports[i].up = true;
		rp_paths_build(&paths, ports);
		away = rp_sched_pin(&paths, 4711);
		assert_int_equal(away.port, home.port);
		assert_int_equal(away.ev, home.ev);
	}
}

/* From anywhere in a turn on, over all turns each path gets exactly what is due to it. */
static void all_turns_are_exact(void **state)
{
	u32 round, i, k, sum;

	for (round = 0; round < ROUNDS(300); round++) {
		const u16 *weight;

		random_paths();
		for (k = 2; k < 4; k++) {
			struct rp_sched_flow f = new_flow();
			u32 count[RP_PATHSET_MAX] = { 0 };

			weight = k == 2 ? set->weight : set->adaptive;
			for (sum = 0, i = 0; i < set->n; i++)
				sum += weight[i];
			for (i = 0; i < sum; i++)
				count[pick(all[k], &f)]++;
			for (i = 0; i < set->n; i++)
				require(count[i] == weight[i], "%s: path %u: %u of %u",
					all[k]->name, i, count[i], weight[i]);
		}
	}
}

/*
 * 64 QPs with one source port and little to say: each port within 5 % of its weight in
 * sum and, after a while, per QP.
 */
static void short_flows_are_even(void **state)
{
	u32 count[4] = { 0 }, own[4], i, k, n = 200000;

	lay_out_evenly(4, 16);
	for (i = 0; i < n; i++) {
		struct rp_sched_flow f = new_flow();

		count[set->entry[pick(&rp_sched_spray_ops, &f)].path.port]++;
	}
	for (i = 0; i < 4; i++)
		assert_in_range(count[i], n / 4 * 0.95, n / 4 * 1.05);
	for (i = 0; i < 64; i++) {
		struct rp_sched_flow f = new_flow();

		memset(own, 0, sizeof(own));
		for (k = 0; k < 100; k++)
			own[set->entry[pick(&rp_sched_spray_ops, &f)].path.port]++;
		for (k = 0; k < 4; k++)
			assert_int_equal(own[k], 25);
	}
}

/* As long as it does not pause it stays; then it goes on, by weight. */
static void flowlets_stay_together(void **state)
{
	struct rp_sched_flow f = new_flow();
	u32 count[8] = { 0 }, i, k;
	u16 index, moved = 0;

	lay_out_evenly(2, 4);
	set->entry[3].factor = 64;
	rp_pathset_publish(set, 3);
	for (i = 0; i < 2900; i++) {
		index = pick(&rp_sched_flowlet_ops, &f);
		count[index]++;
		for (k = 0; k < 10; k++) {
			now += RP_SCHED_FLOWLET_GAP_NS;
			assert_int_equal(pick(&rp_sched_flowlet_ops, &f), index);
		}
		now += RP_SCHED_FLOWLET_GAP_NS + 1;
	}
	for (i = 0; i < 8; i++)
		assert_in_range(count[i], i == 3 ? 95 : 395, i == 3 ? 105 : 405);

	/* its path fails: it moves at once, and then stays there */
	index = pick(&rp_sched_flowlet_ops, &f);
	set_state(index, ROCEPATH_PATH_DOWN);
	moved = pick(&rp_sched_flowlet_ops, &f);
	assert_int_not_equal(moved, index);
	set_state(index, ROCEPATH_PATH_UP);
	assert_int_equal(pick(&rp_sched_flowlet_ops, &f), moved);
}

/* A report reaches the scheduler that wants it, whichever the device uses. */
static void feedback_is_for_all(void **state)
{
	u32 i, k;

	lay_out_evenly(4, 1);
	for (k = 0; k < 20; k++) {
		now += knobs.interval_ns;
		for (i = 0; i < 4; i++) {
			set->entry[i].received += 1000;
			set->entry[i].health.arrived_ns = now - 1;
			set->entry[i].health.late_us = i == 2 ? 5000 : 0;
		}
		rp_sched_feedback(set, &knobs, now);
	}
	assert_true(set->adaptive[2] < RP_PATH_WEIGHT_MAX);
	assert_int_equal(set->weight[2], RP_PATH_WEIGHT_MAX);
	for (i = 0; i < 4; i++)
		assert_true(i == 2 || set->adaptive[i] == RP_PATH_WEIGHT_MAX);
}

static int teardown(void **state)
{
	free(set);
	set = NULL;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(found_by_name, teardown),
		cmocka_unit_test_teardown(any_paths_any_flow, teardown),
		cmocka_unit_test_teardown(one_path_per_flow, teardown),
		cmocka_unit_test_teardown(flow_fails_over_and_back, teardown),
		cmocka_unit_test_teardown(pinned_by_port, teardown),
		cmocka_unit_test_teardown(all_turns_are_exact, teardown),
		cmocka_unit_test_teardown(short_flows_are_even, teardown),
		cmocka_unit_test_teardown(flowlets_stay_together, teardown),
		cmocka_unit_test_teardown(feedback_is_for_all, teardown),
	};

	return unit_run(tests);
}
