// SPDX-License-Identifier: GPL-2.0
/*
 * The plan of EVs: what its words promise (each path the same number of QPs, jobs apart,
 * weights, places given back), and a long random life beside a naive model that
 * counts anew each time.
 */
/* SOURCES: kmod/core/plan.c */
#include "unit.h"
#include "plan.h"

#define QPS 2100
#define PATHS 8
#define EPSILON (1.0 / (1ull << 40))

struct bed {
	struct rp_plan plan;
	struct rp_plan_chunk chunk[RP_PLAN_CHUNKS];
	struct rp_plan_path path[RP_PLAN_EVS_MAX];
	struct rp_plan_place place[QPS];
};

static void room(struct bed *b)
{
	while (rp_plan_wants_room(&b->plan))
		rp_plan_give_room(&b->plan, &b->chunk[b->plan.count / RP_PLAN_CHUNK]);
}

static struct bed *bed_sequence(u32 start)
{
	struct bed *b = test_calloc(1, sizeof(*b));

	rp_plan_init(&b->plan, start);
	return b;
}

/* @evs EVs on each of @paths paths, paths mixed; numbers of paths are no indices */
static struct bed *bed_paths(u32 paths, u32 evs, const u16 *weight)
{
	struct bed *b = bed_sequence(0);
	u32 i;

	rp_plan_of_paths(&b->plan, b->path);
	for (i = 0; i < paths * evs; i++) {
		room(b);
		assert_true(rp_plan_add(&b->plan, i * 3, 1000 + 7 * (i % paths),
					weight ? weight[i % paths] : RP_PLAN_WEIGHT_MAX));
	}
	return b;
}

static void take(struct bed *b, u32 qp, u64 job)
{
	room(b);
	assert_true(rp_plan_take(&b->plan, &b->place[qp], job));
}

/* QPs on a path, of one job or, with 0, of all */
static u32 on_path(const struct bed *b, u32 path, u64 job)
{
	const struct rp_plan_place *p;
	u32 n = 0;

	for (p = b->plan.places; p; p = p->next)
		n += p->index != RP_PLAN_NONE && rp_plan_at(&b->plan, p->index)->path == path &&
		     (!job || p->job == job);
	return n;
}

static void sixty_four_over_eight(void **state)
{
	struct bed *b = bed_paths(PATHS, 4, NULL);
	u32 i;

	for (i = 0; i < 64; i++)
		take(b, i, 1);
	for (i = 0; i < PATHS; i++)
		assert_int_equal(on_path(b, i, 0), 8);
	for (i = 0; i < b->plan.count; i++)
		assert_int_equal(rp_plan_at(&b->plan, i)->qps, 2);
	for (i = 64; i < 128; i++)
		take(b, i, 2);
	for (i = 0; i < PATHS; i++) {
		assert_int_equal(on_path(b, i, 1), 8);
		assert_int_equal(on_path(b, i, 2), 8);
	}
	test_free(b);
}

/* A job has a QP on each path before it has two on one, whatever others have there. */
static void jobs_are_apart(void **state)
{
	struct bed *b = bed_paths(PATHS, 2, NULL);
	u32 i;

	for (i = 0; i < 4; i++)
		take(b, i, 1);
	for (; i < 4 + PATHS; i++)
		take(b, i, 2);
	for (i = 0; i < PATHS; i++)
		assert_int_equal(on_path(b, i, 2), 1);
	/* and where that leaves a choice, the emptier path */
	for (i = 20; i < 24; i++)
		take(b, i, 3);
	for (i = 0; i < PATHS; i++)
		assert_int_equal(on_path(b, i, 0), 2);
	test_free(b);
}

static void weights_count(void **state)
{
	static const u16 weight[PATHS] = { 256, 256, 128, 64, 256, 256, 128, 64 };
	struct bed *b = bed_paths(PATHS, 3, weight);
	u32 i;

	for (i = 0; i < 110; i++)
		take(b, i, 1);
	for (i = 0; i < PATHS; i++)
		assert_in_range(on_path(b, i, 0), weight[i] * 20 / 256 - 1,
				weight[i] * 20 / 256 + 1);
	/* jobs of one QP each, too: it is not only the job's own that counts */
	for (i = 110; i < 1110; i++)
		take(b, i, 1000 + i);
	for (i = 0; i < PATHS; i++)
		assert_in_range(on_path(b, i, 0), weight[i] * 201 / 256 - 3,
				weight[i] * 201 / 256 + 3);
	test_free(b);
}

static void places_come_back(void **state)
{
	struct bed *b = bed_paths(PATHS, 1, NULL);
	u32 i, path;

	for (i = 0; i < 64; i++)
		take(b, i, 1);
	for (i = 0; i < 64; i++) {
		path = rp_plan_at(&b->plan, b->place[i].index)->path;
		rp_plan_give_back(&b->plan, &b->place[i]);
		rp_plan_give_back(&b->plan, &b->place[i]);
		assert_int_equal(on_path(b, path, 0), 7);
		take(b, i, 1);
		assert_int_equal(rp_plan_at(&b->plan, b->place[i].index)->path, path);
	}
	for (i = 0; i < 64; i++)
		rp_plan_give_back(&b->plan, &b->place[i]);
	assert_null(b->plan.places);
	for (i = 0; i < PATHS; i++)
		assert_int_equal(b->path[i].qps, 0);
	test_free(b);
}

static void dead_paths_get_nothing(void **state)
{
	struct bed *b = bed_paths(PATHS, 2, NULL);
	u32 i;

	/* both EVs of path 3, one of path 5 */
	assert_true(rp_plan_weigh(&b->plan, 3 * 3, 0));
	assert_true(rp_plan_weigh(&b->plan, (3 + PATHS) * 3, 0));
	assert_true(rp_plan_weigh(&b->plan, 5 * 3, 0));
	assert_false(rp_plan_weigh(&b->plan, 1, 0));
	for (i = 0; i < 70; i++)
		take(b, i, 1);
	for (i = 0; i < PATHS; i++)
		assert_int_equal(on_path(b, i, 0), i == 3 ? 0 : 10);
	assert_int_equal(rp_plan_at(&b->plan, 5)->qps, 0);
	assert_int_equal(rp_plan_at(&b->plan, 5 + PATHS)->qps, 10);
	/* no path is good: the QP must go somewhere, and they share */
	for (i = 0; i < 2 * PATHS; i++)
		rp_plan_weigh(&b->plan, i * 3, 0);
	assert_false(rp_plan_better(&b->plan, &b->place[0]));
	for (i = 70; i < 80; i++)
		take(b, i, 1);
	assert_int_equal(on_path(b, 3, 0), 10);
	/* it is well again: there it is better than where they are */
	rp_plan_weigh(&b->plan, 3 * 3, RP_PLAN_WEIGHT_MAX);
	assert_true(rp_plan_better(&b->plan, &b->place[0]));
	/* but not if an operator has taken it out */
	assert_true(rp_plan_take_out(&b->plan, 3 * 3, true));
	assert_false(rp_plan_take_out(&b->plan, 1, true));
	assert_false(rp_plan_better(&b->plan, &b->place[0]));
	assert_true(rp_plan_take_out(&b->plan, 3 * 3, false));
	take(b, 80, 2);
	assert_int_equal(rp_plan_at(&b->plan, b->place[80].index)->path, 3);
	assert_false(rp_plan_better(&b->plan, &b->place[80]));
	test_free(b);
}

static void sequence_has_each_once(void **state)
{
	u32 start = rnd_below(ROCEPATH_RDMA_EVS), i, bits = 0, bin[PATHS] = { 0 };
	struct bed *b = bed_sequence(start);
	u8 seen[ROCEPATH_RDMA_EVS] = { 0 };

	for (i = 0; i < RP_PLAN_EVS_MAX; i++) {
		take(b, i, i / 100);
		assert_false(seen[b->place[i].ev]++);
		bin[b->place[i].ev * PATHS / ROCEPATH_RDMA_EVS]++;
		if (i)
			bits += __builtin_popcount(b->place[i].ev ^ b->place[i - 1].ev);
		/* at no time is an eighth of all EVs far from its share */
		if (i == 63)
			for (u32 k = 0; k < PATHS; k++)
				assert_in_range(bin[k], 7, 9);
	}
	assert_true(bits >= (RP_PLAN_EVS_MAX - 1) * 5);
	/* then they are shared, evenly */
	for (; i < 2 * RP_PLAN_EVS_MAX; i++)
		take(b, i, 5);
	for (i = 0; i < RP_PLAN_EVS_MAX; i++)
		assert_int_equal(rp_plan_at(&b->plan, i)->qps, 2);
	test_free(b);
}

static void sequence_fills_gaps_first(void **state)
{
	struct bed *b = bed_sequence(77);
	u32 i, ev[3];

	for (i = 0; i < 40; i++)
		take(b, i, 1);
	ev[0] = b->place[5].ev;
	ev[1] = b->place[20].ev;
	rp_plan_give_back(&b->plan, &b->place[20]);
	rp_plan_give_back(&b->plan, &b->place[5]);
	take(b, 50, 1);
	assert_int_equal(b->place[50].ev, ev[0]);
	/* one that is not well is left out */
	rp_plan_weigh(&b->plan, ev[1], 0);
	take(b, 51, 1);
	assert_int_equal(b->plan.count, 41);
	assert_int_equal(b->place[51].ev, rp_plan_at(&b->plan, 40)->ev);
	assert_true(rp_plan_better(&b->plan, &b->place[20]));
	test_free(b);
}

static void no_room_no_place(void **state)
{
	struct bed *b = bed_sequence(0);
	u32 i;

	assert_false(rp_plan_take(&b->plan, &b->place[0], 1));
	assert_null(b->place[0].at);
	for (i = 0; i < RP_PLAN_CHUNK; i++)
		take(b, i, 1);
	/* without room the EVs that there are do */
	assert_true(rp_plan_wants_room(&b->plan));
	assert_true(rp_plan_take(&b->plan, &b->place[i], 1));
	assert_int_equal(rp_plan_at(&b->plan, b->place[i].index)->qps, 2);
	test_free(b);
}

static void a_plan_succeeds_another(void **state)
{
	struct bed *a = bed_sequence(0), *b = bed_paths(PATHS, 2, NULL);
	u32 i;

	for (i = 0; i < 10; i++) {
		room(a);
		rp_plan_take_at(&a->plan, &a->place[i], 1, i);
	}
	rp_plan_weigh(&a->plan, 3, 0);
	room(b);
	rp_plan_succeed(&b->plan, &a->plan);
	assert_null(a->plan.places);
	/* EVs 0, 3, 6 and 9 are of the new plan, on paths 0 to 3, with their health */
	for (i = 0; i < PATHS; i++)
		assert_int_equal(on_path(b, i, 0), i < 4);
	assert_int_equal(rp_plan_at(&b->plan, 1)->health, 0);
	/* the others are known, but for nothing new */
	assert_int_equal(b->plan.count, 2 * PATHS + 6);
	for (i = 2 * PATHS; i < b->plan.count; i++) {
		assert_int_equal(rp_plan_at(&b->plan, i)->qps, 1);
		assert_int_equal(rp_plan_at(&b->plan, i)->path, RP_PLAN_NONE);
	}
	for (i = 10; i < 22; i++) {
		room(b);
		assert_true(rp_plan_take(&b->plan, &a->place[i], 2));
	}
	for (i = 2 * PATHS; i < b->plan.count; i++)
		assert_int_equal(rp_plan_at(&b->plan, i)->qps, 1);
	for (i = 0; i < 22; i++)
		rp_plan_give_back(&b->plan, &a->place[i]);
	for (i = 0; i < b->plan.count; i++)
		assert_int_equal(rp_plan_at(&b->plan, i)->qps, 0);
	test_free(a);
	test_free(b);
}

/* More EVs than a plan has room for: a QP sits on one all the same, and goes again. */
static void unknown_evs_are_kept(void **state)
{
	struct bed *b = bed_sequence(0);
	u32 i;

	for (i = 0; i < RP_PLAN_EVS_MAX + 10; i++) {
		room(b);
		rp_plan_take_at(&b->plan, &b->place[i], 1, i);
		assert_int_equal(b->place[i].ev, i);
	}
	assert_int_equal(b->place[RP_PLAN_EVS_MAX].index, RP_PLAN_NONE);
	for (i = 0; i < RP_PLAN_EVS_MAX + 10; i++)
		rp_plan_give_back(&b->plan, &b->place[i]);
	assert_null(b->plan.places);
	test_free(b);
}

/* as rdma_flow_label_to_udp_sport() has it */
static u16 sport_of(u32 label)
{
	return ((label & 0x3fff) ^ (label & 0xfc000) >> 14) | 0xc000;
}

static void labels_make_ports(void **state)
{
	u32 ev, label;

	for (ev = 0; ev < ROCEPATH_RDMA_EVS; ev++) {
		label = rp_plan_label(ev);
		assert_true(label && label < 1 << 20);
		assert_int_equal(sport_of(label), 0xc000 + ev);
		assert_int_equal(rp_plan_label_ev(label), ev);
	}
	for (label = 0; label < 1 << 20; label++)
		require(rp_plan_label_ev(label) == (sport_of(label) & 0x3fff), "label %x", label);
}

/* The naive model: what each path has is counted anew, with fractions in floating point. */
struct model_path {
	double weight;
	double job;
	double all;
	bool good;
};

static void model_count(const struct bed *b, u64 job, struct model_path *m)
{
	bool any = false;
	u32 i;

	for (i = 0; i < PATHS; i++)
		m[i] = (struct model_path){ .job = on_path(b, i, job), .all = on_path(b, i, 0) };
	for (i = 0; i < b->plan.count; i++) {
		const struct rp_plan_ev *e = rp_plan_at(&b->plan, i);
		double weight = (double)e->weight * e->health;

		if (e->path != RP_PLAN_NONE && weight > m[e->path].weight)
			m[e->path].weight = weight;
		any = any || (e->path != RP_PLAN_NONE && weight > 0);
	}
	for (i = 0; i < PATHS; i++) {
		m[i].good = !any || m[i].weight > 0;
		if (!any)
			m[i].weight = 1;
	}
}

/* is what was chosen among the best that there were? */
static void model_check(const struct model_path *m, u32 chosen)
{
	double job = m[chosen].job / m[chosen].weight;
	double all = (m[chosen].all + 1) / m[chosen].weight;
	u32 i;

	require(m[chosen].good, "path %u is not good", chosen);
	for (i = 0; i < PATHS; i++) {
		if (!m[i].good)
			continue;
		require(m[i].job / m[i].weight >= job - EPSILON, "the job has less on %u", i);
		require(m[i].job / m[i].weight > job + EPSILON ||
			(m[i].all + 1) / m[i].weight >= all - EPSILON, "there is less on %u", i);
	}
}

static void random_life(void **state)
{
	u16 weight[PATHS];
	struct bed *b;
	u32 i, step;

	for (i = 0; i < PATHS; i++)
		weight[i] = rnd_below(2) ? RP_PLAN_WEIGHT_MAX : rnd_range(1, RP_PLAN_WEIGHT_MAX);
	b = bed_paths(PATHS, rnd_range(1, 6), weight);
	for (step = 0; step < 20000; step++) {
		u32 qp = rnd_below(200), ev = rnd_below(b->plan.count);
		u64 job = 1 + rnd_below(5);
		struct model_path m[PATHS];

		if (!rnd_below(10)) {
			rp_plan_weigh(&b->plan, rp_plan_at(&b->plan, ev)->ev,
				      rnd_below(2) ? RP_PLAN_WEIGHT_MAX : 0);
		} else if (b->place[qp].at) {
			rp_plan_give_back(&b->plan, &b->place[qp]);
		} else {
			model_count(b, job, m);
			take(b, qp, job);
			model_check(m, rp_plan_at(&b->plan, b->place[qp].index)->path);
		}
	}
	for (i = 0; i < PATHS; i++)
		assert_int_equal(b->path[i].qps, on_path(b, i, 0));
	test_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sixty_four_over_eight),
		cmocka_unit_test(jobs_are_apart),
		cmocka_unit_test(weights_count),
		cmocka_unit_test(places_come_back),
		cmocka_unit_test(dead_paths_get_nothing),
		cmocka_unit_test(sequence_has_each_once),
		cmocka_unit_test(sequence_fills_gaps_first),
		cmocka_unit_test(no_room_no_place),
		cmocka_unit_test(a_plan_succeeds_another),
		cmocka_unit_test(unknown_evs_are_kept),
		cmocka_unit_test(labels_make_ports),
		cmocka_unit_test(random_life),
	};

	return unit_run(tests);
}
