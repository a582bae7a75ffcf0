// SPDX-License-Identifier: GPL-2.0
/*
 * What probes tell of the EVs between two hosts, on a simulated fabric: EVs are
 * hashed onto spines; probes and answers take a time that varies, and are lost.
 */
/* SOURCES: kmod/core/probes.c kmod/core/budget.c kmod/core/health.c kmod/core/holddown.c */
#include "unit.h"
#include "probes.h"

#include <linux/rocepath_rdma.h>

#define US 1000ull
#define MS 1000000ull
#define I (10 * MS)
#define TICK (I / 8)
#define EVS_MAX 64
#define SPINES 4
#define FLIGHT 4096

static const struct rp_probes_knobs knobs = {
	.interval_ns = I,
	.health = {
		.interval_ns = I * 3 / 4,
		.loss_ppm = 10000,
		.holddown_ms = 100,
		.holddown_max_ms = 1600,
	},
	.slow_factor = 4,
	.slow_floor_us = 20,
};

/* on its way: a probe, or the answer to it */
struct flight {
	bool there;
	bool answer;
	u64 at_ns;
	u32 number;
	struct rp_probes_seen seen;
};

/* both hosts, and what is between them */
struct fabric {
	struct rp_probes p;
	struct rp_probes_path path[EVS_MAX];
	u32 n;
	struct rp_probes_seen seen;	/* the peer's */
	u32 turn;			/* of its answers, over spines */
	u64 now;
	u64 delay_ns[SPINES];
	u64 jitter_ns;
	u32 loss[SPINES];		/* in a hundred */
	bool dead[SPINES];
	bool knows;			/* the peer sends no answer by dead spines */
	bool peer_dead;
	u64 stalled_ns;			/* we stand still until then */
	struct flight flight[FLIGHT];
	u32 changes, downs, ups, degraded;
	u64 down_ns[EVS_MAX];
};

static struct fabric f;

static u32 spine_of(u16 ev)
{
	return ev % SPINES;
}

static void changed(void *arg, struct rp_probes_path *path, u8 before)
{
	u8 state = rp_probes_state(path);
	u32 i = path - f.path;

	assert_ptr_equal(arg, &f);
	require(state != before, "no news");
	f.changes++;
	if (state == ROCEPATH_RDMA_PATH_DOWN && before != ROCEPATH_RDMA_PATH_PROBATION) {
		f.downs++;
		f.down_ns[i] = f.now;
	}
	f.ups += state == ROCEPATH_RDMA_PATH_UP && before == ROCEPATH_RDMA_PATH_PROBATION;
	f.degraded += state == ROCEPATH_RDMA_PATH_DEGRADED;
}

static const struct rp_probes_news news = { changed, &f };

static void start(u32 evs)
{
	u32 i;

	memset(&f, 0, sizeof(f));
	f.now = 1000 * MS + rnd_below(10 * MS);
	f.n = evs;
	f.jitter_ns = 20 * US;
	f.knows = true;
	rp_probes_init(&f.p, rnd(), f.now);
	for (i = 0; i < evs; i++)
		rp_probes_add(&f.p, &f.path[i], i, &knobs, f.now);
	for (i = 0; i < SPINES; i++)
		f.delay_ns[i] = 50 * US + rnd_below(50 * US);
}

static void fly(u32 spine, bool answer, u32 number)
{
	u32 i;

	if (f.dead[spine] || f.peer_dead || rnd_below(100) < f.loss[spine])
		return;
	for (i = 0; i < FLIGHT && f.flight[i].there; i++)
		;
	require(i < FLIGHT, "too many packets on their way");
	f.flight[i].there = true;
	f.flight[i].answer = answer;
	f.flight[i].number = number;
	f.flight[i].seen = f.seen;
	f.flight[i].at_ns = f.now + f.delay_ns[spine] + rnd_below(f.jitter_ns + 1);
}

/* the peer gets a probe and answers, by each of the spines in its turn */
static void land_probe(u32 number)
{
	u32 tries;

	rp_probes_saw(&f.seen, number);
	for (tries = 0; tries < SPINES; tries++) {
		f.turn = (f.turn + 1) % SPINES;
		if (!f.knows || !f.dead[f.turn])
			break;
	}
	fly(f.turn, true, number);
}

static void land(struct flight *flight)
{
	struct flight it = *flight;

	flight->there = false;
	if (f.peer_dead)
		return;
	if (it.answer)
		assert_true(rp_probes_heard(&f.p, &it.seen, it.number, &knobs, &news, f.now));
	else
		land_probe(it.number);
}

/* all that lands up to @until, in the order of time */
static void land_all(u64 until)
{
	u32 i, first;

	for (;;) {
		first = FLIGHT;
		for (i = 0; i < FLIGHT; i++) {
			if (f.flight[i].there && f.flight[i].at_ns <= until &&
			    (first == FLIGHT || f.flight[i].at_ns < f.flight[first].at_ns))
				first = i;
		}
		if (first == FLIGHT)
			break;
		f.now = max(f.now, f.flight[first].at_ns);
		land(&f.flight[first]);
	}
	f.now = until;
}

static void tick(void)
{
	u32 i;

	rp_probes_poll(&f.p, &knobs, &news, f.now);
	for (i = 0; i < f.n; i++) {
		if (rp_probes_due(&f.path[i], &knobs, f.now))
			fly(spine_of(f.path[i].ev), false,
			    rp_probes_send(&f.p, &f.path[i], &knobs, f.now));
	}
}

static void run(u64 ns)
{
	u64 end = f.now + ns;

	while (f.now < end) {
		land_all(max(f.now + TICK, f.stalled_ns));
		tick();
	}
}

static u32 in_state(u32 state)
{
	u32 i, n = 0;

	for (i = 0; i < f.n; i++)
		n += rp_probes_state(&f.path[i]) == state;
	return n;
}

static void all_is_well(void **state)
{
	u32 i;

	start(8);
	run(60000 * MS);
	assert_int_equal(f.changes, 0);
	for (i = 0; i < f.n; i++) {
		const struct rp_probes_path *p = &f.path[i];

		/* two in an interval, and each is heard of but for the last */
		assert_in_range(p->sent, 2 * 6000 - 2, 2 * 6000 + 2);
		assert_in_range(p->sent - p->answered, 0, 1);
		assert_in_range(p->rtt_us, 100, 240);
		assert_int_equal(rp_health_loss_ppm(&p->health), 0);
	}
}

/* one spine dies: exactly its EVs go down, in 3 intervals at most */
static void dead_spine(void **state)
{
	u32 rounds, i, dead;
	u64 worst = 0;

	for (rounds = 0; rounds < ROUNDS(200); rounds++) {
		u64 died;

		start(rnd_below(2) ? 8 : 32);
		f.knows = rnd_below(2);
		run(500 * MS + rnd_below(20 * MS));
		dead = rnd_below(SPINES);
		died = f.now;
		f.dead[dead] = true;
		run(4 * I);
		for (i = 0; i < f.n; i++) {
			bool its = spine_of(f.path[i].ev) == dead;

			require(its == !!f.down_ns[i], "EV %u of spine %u, dead is %u", i,
				spine_of(f.path[i].ev), dead);
			if (its)
				worst = max(worst, f.down_ns[i] - died);
		}
		assert_int_equal(f.downs, f.n / SPINES);
		/* and come back, each after its hold-down and three probes */
		run(300 * MS);
		assert_int_equal(f.ups, 0);
		f.dead[dead] = false;
		run(1000 * MS);
		assert_int_equal(in_state(ROCEPATH_RDMA_PATH_UP), f.n);
		assert_int_equal(f.downs, f.n / SPINES);
		assert_int_equal(f.ups, f.n / SPINES);
	}
	print_message("# a dead spine: %.2f intervals at most\n", (double)worst / I);
	assert_true(worst <= 5 * I / 2);
}

/* EVs of one QP, and the witnesses: its path's silence is not the peer's */
static void few_evs(void **state)
{
	u32 rounds;

	for (rounds = 0; rounds < ROUNDS(200); rounds++) {
		start(RP_PROBES_WITNESSES);
		f.knows = false;
		run(1000 * MS + rnd_below(20 * MS));
		f.dead[1] = true;
		run(4 * I);
		assert_int_equal(f.downs, 1);
		assert_true(f.down_ns[1]);
	}
}

static void dead_peer(void **state)
{
	u32 rounds;

	for (rounds = 0; rounds < ROUNDS(200); rounds++) {
		start(16);
		run(500 * MS + rnd_below(20 * MS));
		f.peer_dead = true;
		run(1000 * MS + rnd_below(20 * MS));
		assert_true(rp_probes_silent(&f.p, &knobs, f.now));
		assert_int_equal(f.downs, 0);
		f.peer_dead = false;
		run(500 * MS);
		assert_false(rp_probes_silent(&f.p, &knobs, f.now));
		assert_int_equal(f.downs, 0);
		assert_int_equal(in_state(ROCEPATH_RDMA_PATH_UP), f.n);
	}
}

/* who stands still gets what it has room for when it goes on; the rest is lost: no path's fault */
static void full_peer(void **state)
{
	u32 rounds, i;

	for (rounds = 0; rounds < ROUNDS(200); rounds++) {
		start(16);
		run(1000 * MS + rnd_below(20 * MS));
		for (i = 0; i < SPINES; i++)
			f.delay_ns[i] += 6 * I;
		run(I);
		for (i = 0; i < SPINES; i++)
			f.loss[i] = 50;
		run(5 * I);
		memset(f.loss, 0, sizeof(f.loss));
		for (i = 0; i < SPINES; i++)
			f.delay_ns[i] -= 6 * I;
		run(3000 * MS);
		assert_int_equal(f.downs, 0);
	}
}

/* a machine stands still, often, and for longer than it takes to call a path dead */
static void stalls(void **state)
{
	u32 i;

	start(16);
	for (i = 0; i < ROUNDS(2000); i++) {
		run(rnd_below(100 * MS));
		f.stalled_ns = f.now + rnd_below(80 * MS);
	}
	assert_int_equal(f.downs, 0);
	assert_int_equal(f.degraded, 0);
}

/* answers by a dead way back are lost, for ever: the others say it again */
static void one_way(void **state)
{
	start(8);
	f.knows = false;
	run(100 * MS);
	/* no EV is hashed there, answers are */
	rp_probes_remove(&f.p, &f.path[3]);
	rp_probes_remove(&f.p, &f.path[7]);
	f.path[3].due_ns = ~0ull;
	f.path[7].due_ns = ~0ull;
	f.dead[3] = true;
	run(60000 * MS);
	assert_int_equal(f.downs, 0);
	assert_true(rp_health_loss_ppm(&f.path[0].health) < 1000);
}

static void lossy_spine(void **state)
{
	u32 rounds;

	for (rounds = 0; rounds < ROUNDS(20); rounds++) {
		start(8);
		f.loss[2] = 10;
		run(4000 * MS);
		assert_true(f.downs >= 2);
		assert_in_range(f.path[0].health.fails, 0, 0);
		assert_in_range(f.path[1].health.fails, 0, 0);
		assert_true(f.path[2].health.fails && f.path[6].health.fails);
	}
	/* what all lose is no path's fault, but for chance */
	start(8);
	for (rounds = 0; rounds < SPINES; rounds++)
		f.loss[rounds] = 2;
	run(30000 * MS);
	assert_in_range(f.downs, 0, 4);
}

static void slow_spine(void **state)
{
	u64 was, slowed;
	u32 i;

	start(16);
	for (i = 0; i < SPINES; i++)
		f.delay_ns[i] = 50 * US;
	run(1000 * MS);
	was = f.delay_ns[1];
	/* three times as slow: not enough, however long; answers have their share of it */
	f.delay_ns[1] = 3 * was;
	run(1000 * MS);
	assert_int_equal(f.degraded, 0);
	slowed = f.now;
	f.delay_ns[1] = 20 * was;
	while (f.degraded < 4 && f.now - slowed < 100 * I)
		run(I);
	print_message("# a slow spine: %.0f intervals\n", (double)(f.now - slowed) / I);
	assert_in_range(f.now - slowed, RP_PROBES_WINDOWS * RP_PROBES_WINDOW_INTERVALS * I, 16 * I);
	assert_int_equal(f.degraded, 4);
	for (i = 0; i < f.n; i++)
		assert_int_equal(f.path[i].degraded, spine_of(i) == 1);
	/* between the two thresholds nothing changes */
	f.delay_ns[1] = 6 * was;
	run(1000 * MS);
	assert_int_equal(in_state(ROCEPATH_RDMA_PATH_DEGRADED), 4);
	f.delay_ns[1] = was;
	run(12 * I);
	assert_int_equal(in_state(ROCEPATH_RDMA_PATH_UP), f.n);
	assert_int_equal(f.degraded, 4);
	assert_int_equal(f.downs, 0);
}

/* most are slow: all that are, and no other; then all of them: none is to blame */
static void slow_spines(void **state)
{
	u64 was = 50 * US, slowed;
	u32 i;

	start(16);
	for (i = 0; i < SPINES; i++)
		f.delay_ns[i] = was;
	run(1000 * MS);
	for (i = 0; i < SPINES - 1; i++)
		f.delay_ns[i] = 20 * was;
	slowed = f.now;
	while (f.degraded < 12 && f.now - slowed < 100 * I)
		run(I);
	print_message("# slow spines: %.0f intervals\n", (double)(f.now - slowed) / I);
	assert_true(f.now - slowed >= RP_PROBES_WINDOWS_LEAST * RP_PROBES_WINDOW_INTERVALS * I);
	assert_int_equal(f.degraded, 12);
	for (i = 0; i < f.n; i++)
		assert_int_equal(f.path[i].degraded, spine_of(i) != SPINES - 1);
	/* that stays so, and what is fast again is known beside the few that are */
	run(1000 * MS);
	assert_int_equal(in_state(ROCEPATH_RDMA_PATH_DEGRADED), 12);
	f.delay_ns[0] = was;
	slowed = f.now;
	while (in_state(ROCEPATH_RDMA_PATH_DEGRADED) > 8 && f.now - slowed < 100 * I)
		run(I);
	for (i = 0; i < f.n; i++)
		assert_int_equal(f.path[i].degraded, spine_of(i) == 1 || spine_of(i) == 2);
	assert_int_equal(f.degraded, 12);
	/* nobody is fast any more */
	f.delay_ns[0] = 20 * was;
	f.delay_ns[3] = 20 * was;
	run(1000 * MS);
	assert_int_equal(in_state(ROCEPATH_RDMA_PATH_DEGRADED), 0);
	assert_int_equal(f.degraded, 12);
	assert_int_equal(f.downs, 0);
}

/* round trips that vary a lot, as between busy machines: the fastest of many is no measure */
static void noise(void **state)
{
	u32 i;

	start(20);
	f.jitter_ns = 4 * MS;
	for (i = 0; i < ROUNDS(2000); i++)
		run(10 * I);
	assert_int_equal(f.degraded, 0);
}

/* a queue that comes and goes is not slow; all of them together neither */
static void queues(void **state)
{
	u32 i, k;

	start(16);
	for (i = 0; i < ROUNDS(2000); i++) {
		f.delay_ns[rnd_below(SPINES)] = (rnd_below(10) ? 60 : 2000) * US;
		run(I / 2);
		for (k = 0; i % 8 == 7 && k < SPINES; k++)
			f.delay_ns[k] = 60 * US;
	}
	assert_int_equal(f.downs, 0);
	for (i = 0; i < SPINES; i++)
		f.delay_ns[i] = 3000 * US;
	i = f.degraded;
	run(2000 * MS);
	assert_int_equal(in_state(ROCEPATH_RDMA_PATH_DEGRADED), 0);
	assert_int_equal(f.degraded, i);
}

/* without a factor nothing is slow, and what was is not any more */
static void slow_off(void **state)
{
	struct rp_probes_knobs off = knobs;

	start(8);
	f.delay_ns[1] = 5000 * US;
	run(1000 * MS);
	assert_int_equal(in_state(ROCEPATH_RDMA_PATH_DEGRADED), 2);
	off.slow_factor = 0;
	while (f.now < 10000 * MS && in_state(ROCEPATH_RDMA_PATH_DEGRADED)) {
		run(TICK);
		if (f.now >= f.p.window_ns - TICK)
			rp_probes_poll(&f.p, &off, &news, f.p.window_ns);
	}
	assert_int_equal(in_state(ROCEPATH_RDMA_PATH_DEGRADED), 0);
}

/* answers to what was never sent, or long ago, move nothing */
static void unsound(void **state)
{
	struct rp_probes_seen seen = { .any = true, .before = ~0ull };
	struct rp_probes before;

	start(8);
	run(500 * MS);
	before = f.p;
	seen.newest = f.p.number + 1;
	assert_false(rp_probes_heard(&f.p, &seen, f.p.number, &knobs, &news, f.now));
	seen.newest = f.p.number - RP_PROBES_OUT;
	assert_false(rp_probes_heard(&f.p, &seen, seen.newest, &knobs, &news, f.now));
	seen.newest = f.p.number;
	assert_false(rp_probes_heard(&f.p, &seen, seen.newest + 1, &knobs, &news, f.now));
	assert_false(rp_probes_heard(&f.p, &seen, seen.newest - RP_PROBES_OUT, &knobs, &news,
				     f.now));
	seen.any = false;
	assert_false(rp_probes_heard(&f.p, &seen, seen.newest, &knobs, &news, f.now));
	assert_memory_equal(&before, &f.p, sizeof(before));
	assert_int_equal(f.changes, 0);
}

/* against a naive model: a set of numbers */
static void saw_random(void **state)
{
	static u8 came[1 << 16];
	struct rp_probes_seen seen;
	u32 base = 0xffff8000u, newest = 0, i, k;

	memset(&seen, 0, sizeof(seen));
	memset(came, 0, sizeof(came));
	for (i = 0; i < 0xf000; i++) {
		u32 n = i > 40 && rnd_below(3) ? i - rnd_below(40) : i;

		came[n] = 1;
		newest = i && n < newest ? newest : n;
		rp_probes_saw(&seen, base + n);
		require(seen.newest == base + newest, "newest");
		for (k = 0; k < 64 && k < newest; k++)
			require((seen.before >> k & 1) == came[newest - 1 - k], "bit %u", k);
	}
	/* far away, as of one that has restarted */
	rp_probes_saw(&seen, 7);
	assert_int_equal(seen.newest, 7);
	assert_int_equal(seen.before, 0);
}

/* EVs come and go at any time, and what was out for them is forgotten */
static void come_and_go(void **state)
{
	bool in[EVS_MAX];
	u32 i, k;

	start(EVS_MAX);
	memset(in, 1, sizeof(in));
	f.p.n = 0;
	f.p.paths = NULL;
	for (i = 0; i < f.n; i++)
		rp_probes_add(&f.p, &f.path[i], i, &knobs, f.now);
	for (i = 0; i < ROUNDS(5000); i++) {
		struct rp_probes_path *any;

		k = rnd_below(f.n);
		if (in[k]) {
			rp_probes_remove(&f.p, &f.path[k]);
			memset(&f.path[k], 0xee, sizeof(f.path[k]));
			f.path[k].health.state = ROCEPATH_PATH_DOWN;
		} else {
			rp_probes_add(&f.p, &f.path[k], k, &knobs, f.now);
		}
		in[k] = !in[k];
		any = rp_probes_any(&f.p);
		require(any ? in[any - f.path] : !f.p.n, "an EV that is not there");
		run(TICK);
	}
	assert_int_equal(f.downs, 0);
}

/* what may go by any EV goes by each that works, in turn */
static void any_works(void **state)
{
	u32 used[8] = { 0 }, i;

	start(8);
	run(500 * MS);
	f.dead[1] = true;
	run(5 * I);
	for (i = 0; i < 600; i++)
		used[rp_probes_any(&f.p) - f.path]++;
	for (i = 0; i < 8; i++)
		assert_int_equal(used[i], spine_of(i) == 1 ? 0 : 100);
	/* and by none that is slow, if others are there */
	f.path[2].degraded = true;
	for (i = 0; i < 50; i++)
		assert_ptr_not_equal(rp_probes_any(&f.p), &f.path[2]);
	memset(f.dead, 1, sizeof(f.dead));
	assert_non_null(rp_probes_any(&f.p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_well),
		cmocka_unit_test(dead_spine),
		cmocka_unit_test(few_evs),
		cmocka_unit_test(dead_peer),
		cmocka_unit_test(full_peer),
		cmocka_unit_test(stalls),
		cmocka_unit_test(one_way),
		cmocka_unit_test(lossy_spine),
		cmocka_unit_test(slow_spine),
		cmocka_unit_test(slow_spines),
		cmocka_unit_test(noise),
		cmocka_unit_test(queues),
		cmocka_unit_test(slow_off),
		cmocka_unit_test(unsound),
		cmocka_unit_test(saw_random),
		cmocka_unit_test(come_and_go),
		cmocka_unit_test(any_works),
	};

	return unit_run(tests);
}
