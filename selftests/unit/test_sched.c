// SPDX-License-Identifier: GPL-2.0
/* Schedulers: what a flow, and what its packets get, while ports come and go. */
/* SOURCES: kmod/core/sched.c kmod/core/paths.c */
#include <math.h>

#include "unit.h"
#include "sched.h"

static struct rp_paths_port ports[ROCEPATH_PORTS_MAX];
static struct rp_paths paths;

static void no_ports(void)
{
	memset(ports, 0, sizeof(ports));
}

static void add_port(u32 i, u16 weight, u16 evs)
{
	ports[i] = (struct rp_paths_port){ .weight = weight, .evs = evs, .up = true };
}

static void random_ports(void)
{
	u32 i, n = rnd_range(1, 8);

	no_ports();
	for (i = 0; i < n; i++) {
		u32 at = rnd_below(ROCEPATH_PORTS_MAX);

		add_port(at, rnd() % 2 ? 1 : rnd_range(1, ROCEPATH_WEIGHT_MAX),
			 rnd_range(1, ROCEPATH_EVS_MAX));
		ports[at].up = rnd() % 4;
	}
	rp_paths_build(&paths, ports);
}

static struct rp_sched_flow new_flow(const struct rp_sched_ops *ops)
{
	struct rp_sched_flow f = { .hash = rnd() };

	if (ops->init)
		ops->init(&f);
	return f;
}

static struct rp_path pick(const struct rp_sched_ops *ops, struct rp_sched_flow *f)
{
	struct rp_path path = ops->pick(&paths, f, 1024, 0);

	require(path.port < ROCEPATH_PORTS_MAX && ports[path.port].weight && ports[path.port].up,
		"%s picked port %u, which is not up", ops->name, path.port);
	require(path.ev < ports[path.port].evs, "%s picked EV %u of %u", ops->name, path.ev,
		ports[path.port].evs);
	return path;
}

static void found_by_name(void **state)
{
	assert_ptr_equal(rp_sched_find("flow"), &rp_sched_flow_ops);
	assert_ptr_equal(rp_sched_find("spray"), &rp_sched_spray_ops);
	assert_null(rp_sched_find("spra"));
	assert_null(rp_sched_find(""));
	assert_false(rp_sched_flow_ops.sprays);
	assert_true(rp_sched_spray_ops.sprays);
}

/* Tables change under flows that know only the one before. */
static void any_table_any_flow(void **state)
{
	struct rp_sched_flow flow[2][8];
	u32 round, i, k;

	for (i = 0; i < 8; i++) {
		flow[0][i] = new_flow(&rp_sched_flow_ops);
		flow[1][i] = new_flow(&rp_sched_spray_ops);
	}
	for (round = 0; round < ROUNDS(20000); round++) {
		random_ports();
		if (!paths.ports_up)
			continue;
		for (k = rnd_below(300); k; k--) {
			pick(&rp_sched_flow_ops, &flow[0][k % 8]);
			pick(&rp_sched_spray_ops, &flow[1][k % 8]);
		}
		/* as after many packets */
		flow[1][rnd_below(8)].turn = rnd() | 0xff00;
	}
}

static void one_path_per_flow(void **state)
{
	u32 round, k;

	for (round = 0; round < ROUNDS(2000); round++) {
		struct rp_sched_flow f = new_flow(&rp_sched_flow_ops);
		struct rp_path first;

		random_ports();
		if (!paths.ports_up)
			continue;
		first = pick(&rp_sched_flow_ops, &f);
		for (k = 0; k < 16; k++) {
			struct rp_path path = pick(&rp_sched_flow_ops, &f);

			require(path.port == first.port && path.ev == first.ev, "the flow moved");
		}
	}
}

/*
 * The port fails, the flow goes to another one; it comes back, so does the flow;
 * others do not matter.
 */
static void flow_fails_over_and_back(void **state)
{
	struct rp_sched_flow f = new_flow(&rp_sched_flow_ops);
	struct rp_path home, away;
	u32 i;

	no_ports();
	for (i = 0; i < 4; i++)
		add_port(i, 1, 16);
	rp_paths_build(&paths, ports);
	home = pick(&rp_sched_flow_ops, &f);
	for (i = 0; i < 4; i++) {
		ports[i].up = false;
		rp_paths_build(&paths, ports);
		away = pick(&rp_sched_flow_ops, &f);
		assert_int_equal(away.port == home.port, i != home.port);
		ports[i].up = true;
		rp_paths_build(&paths, ports);
		away = pick(&rp_sched_flow_ops, &f);
		assert_int_equal(away.port, home.port);
		assert_int_equal(away.ev, home.ev);
	}
}

/* Many flows: over ports by weight to within 5 %, over the EVs of a port evenly. */
static void many_flows_are_even(void **state)
{
	static const u16 weight[] = { 100, 100, 50, 25 };
	static u32 count[4][256];
	u32 i, ev, n = ROUNDS(1000000);
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
}

/* From anywhere in a turn on, a turn gives each port its exact share. */
static void each_turn_is_exact(void **state)
{
	u32 round, i;

	for (round = 0; round < ROUNDS(5000); round++) {
		struct rp_sched_flow f = new_flow(&rp_sched_spray_ops);
		u32 count[ROCEPATH_PORTS_MAX] = { 0 };

		random_ports();
		if (!paths.ports_up)
			continue;
		for (i = 0; i < paths.slots; i++)
			count[pick(&rp_sched_spray_ops, &f).port]++;
		for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
			require(count[i] == paths.share[i], "port %u: %u of %u", i, count[i],
				paths.share[i]);
	}
}

/*
 * A port's packets go through its EVs one after the other; none is left out, none used
 * twice before all were.
 */
static void all_evs_in_their_turn(void **state)
{
	u32 round, i;

	for (round = 0; round < ROUNDS(300); round++) {
		struct rp_sched_flow f = new_flow(&rp_sched_spray_ops);
		s32 last[ROCEPATH_PORTS_MAX];

		random_ports();
		if (!paths.ports_up)
			continue;
		f.turn &= 0x3fff; /* it wraps elsewhere */
		memset(last, -1, sizeof(last));
		for (i = 0; i < 20000; i++) {
			struct rp_path path = pick(&rp_sched_spray_ops, &f);
			s32 before = last[path.port];

			require(before < 0 || path.ev == (before + 1) % ports[path.port].evs,
				"port %u: EV %u after %d", path.port, path.ev, before);
			last[path.port] = path.ev;
		}
	}
}

/* The counter of turns wraps: the EVs are one step out of turn then, once in 65,536 turns. */
static void turns_wrap(void **state)
{
	struct rp_sched_flow f = { 0 };
	u32 count[2][7] = { 0 }, i, ev, n = 1 << 20;

	no_ports();
	add_port(0, 1, 7);
	add_port(1, 1, 7);
	rp_paths_build(&paths, ports);
	for (i = 0; i < n; i++) {
		struct rp_path path = pick(&rp_sched_spray_ops, &f);

		count[path.port][path.ev]++;
	}
	for (i = 0; i < 2; i++)
		for (ev = 0; ev < 7; ev++)
			assert_in_range(count[i][ev], n / 14 - 20, n / 14 + 20);
}

/*
 * 64 QPs with one source port and little to say: each port within 5 % of its weight in
 * sum and, after a while, per QP.
 */
static void short_flows_are_even(void **state)
{
	u32 count[4] = { 0 }, own[4], i, k, n = 200000;

	no_ports();
	for (i = 0; i < 4; i++)
		add_port(i, 100, 16);
	rp_paths_build(&paths, ports);
	for (i = 0; i < n; i++) {
		struct rp_sched_flow f = new_flow(&rp_sched_spray_ops);

		count[pick(&rp_sched_spray_ops, &f).port]++;
	}
	for (i = 0; i < 4; i++)
		assert_in_range(count[i], n / 4 * 0.95, n / 4 * 1.05);
	for (i = 0; i < 64; i++) {
		struct rp_sched_flow f = new_flow(&rp_sched_spray_ops);

		memset(own, 0, sizeof(own));
		for (k = 0; k < 100; k++)
			own[pick(&rp_sched_spray_ops, &f).port]++;
		for (k = 0; k < 4; k++)
			assert_int_equal(own[k], 25);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_by_name),
		cmocka_unit_test(any_table_any_flow),
		cmocka_unit_test(one_path_per_flow),
		cmocka_unit_test(flow_fails_over_and_back),
		cmocka_unit_test(many_flows_are_even),
		cmocka_unit_test(each_turn_is_exact),
		cmocka_unit_test(all_evs_in_their_turn),
		cmocka_unit_test(turns_wrap),
		cmocka_unit_test(short_flows_are_even),
	};

	return unit_run(tests);
}
