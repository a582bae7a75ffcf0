// SPDX-License-Identifier: GPL-2.0
/*
 * Labels of the traffic that real algorithms make, seen from one host, for 2 to 64 hosts:
 * a confusion matrix, of windows. Each algorithm is played step by step, with what it must
 * wait for; between iterations something is computed, and some control traffic is about.
 */
#include "unit.h"

#include "patterns.h"

#define MSEC 1000000ull
#define USEC 1000ull
#define WINDOW (100 * MSEC)
#define WINDOWS 40
#define SETTLE 4

static const char *const names[RP_PATTERNS] = {
	"unknown", "idle", "point-to-point", "ring", "tree", "all-to-all", "incast", "broadcast",
};

/* one host's view: ranks are indices of peers */
static struct {
	struct rp_job job;
	u64 now;
	u32 hosts, rank;
	u64 size;		/* bytes of the collective */
	u64 ns_per_kib;
	u64 window_bytes;	/* since the last window was closed */
	enum rp_pattern truth;
	u32 windows, right;
	u32 seen[RP_PATTERNS];
} v;

static u64 matrix[RP_PATTERNS][RP_PATTERNS];

/* what each host sent and got in a window is all of it */
static void check_window(void)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < RP_JOB_PEERS_MAX; i++)
		bytes += v.job.peer[i].window_tx_bytes + v.job.peer[i].window_rx_bytes;
	assert_int_equal(bytes, v.window_bytes);
	v.window_bytes = 0;
}

/* a window that has just been closed counts; the first ones are warming up */
static void message(u32 peer, bool sent, u64 bytes)
{
	u64 began = v.now + rnd_below(20 * USEC);

	v.now = began + bytes / 1024 * v.ns_per_kib;
	if (rp_job_window_over(&v.job, WINDOW, v.now)) {
		rp_job_close(&v.job);
		check_window();
		if (v.job.windows > SETTLE) {
			v.windows++;
			v.right += v.job.pattern == v.truth;
			v.seen[v.job.pattern]++;
			matrix[v.truth][v.job.pattern]++;
		}
	}
	v.window_bytes += bytes;
	rp_job_count(&v.job, peer, sent, bytes, WINDOW, began, v.now);
}

static void compute(u64 ns)
{
	v.now += ns / 2 + rnd_below(ns);
	/* heartbeats, metrics */
	if (v.hosts > 2 && !rnd_below(3))
		message(rnd_below(v.hosts - 1), rnd() & 1, 64);
}

/* both directions at once: ends come in either order */
static void exchange(u32 to, u32 from, u64 bytes)
{
	bool first = rnd() & 1;

	message(first ? to : from, first, bytes);
	message(first ? from : to, !first, bytes);
}

/* the place of a rank among the others */
static u32 peer_of(u32 rank)
{
	return rank < v.rank ? rank : rank - 1;
}

/* reduce-scatter and all-gather around the ring */
static void ring(void)
{
	u32 next = (v.rank + 1) % v.hosts, before = (v.rank + v.hosts - 1) % v.hosts, i;

	v.truth = v.hosts == 2 ? RP_PATTERN_POINT_TO_POINT : RP_PATTERN_RING;
	for (i = 0; i < 2 * (v.hosts - 1); i++)
		exchange(peer_of(next), peer_of(before), v.size / v.hosts);
}

/* powers of two only, as MPI libraries have it */
static void doubling(void)
{
	u32 distance;

	while (v.hosts & (v.hosts - 1))
		v.hosts &= v.hosts - 1;
	v.rank %= v.hosts;
	v.truth = v.hosts == 2 ? RP_PATTERN_POINT_TO_POINT : RP_PATTERN_TREE;
	for (distance = 1; distance < v.hosts; distance *= 2)
		exchange(peer_of(v.rank ^ distance), peer_of(v.rank ^ distance), v.size);
}

static void pairwise(void)
{
	u32 i;

	v.truth = v.hosts == 2 ? RP_PATTERN_POINT_TO_POINT : RP_PATTERN_ALL_TO_ALL;
	for (i = 1; i < v.hosts; i++)
		exchange(peer_of((v.rank + i) % v.hosts), peer_of((v.rank + v.hosts - i) % v.hosts),
			 v.size / v.hosts);
}

/* gradients to the server; it tells everybody the version of the model, which is elsewhere */
static void parameter_server(void)
{
	u32 i, k;

	v.truth = v.hosts == 2 ? RP_PATTERN_POINT_TO_POINT : RP_PATTERN_INCAST;
	for (k = 0; k < 4; k++)
		for (i = 0; i < v.hosts - 1; i++)
			message(i, false, v.size / 4);
	for (i = 0; i < v.hosts - 1; i++)
		message(i, true, 64);
}

static void worker(void)
{
	u32 k;

	v.truth = RP_PATTERN_POINT_TO_POINT;
	for (k = 0; k < 4; k++)
		message(0, true, v.size / 4);
	message(0, false, 64);
}

static void broadcast(void)
{
	u32 i;

	v.truth = v.hosts == 2 ? RP_PATTERN_POINT_TO_POINT : RP_PATTERN_BROADCAST;
	for (i = 0; i < v.hosts - 1; i++)
		message(i, true, v.size);
}

/* the tree over @hosts that has leaves at even ranks: rank's parent and children, or -1 */
static void tree_of(s32 rank, s32 hosts, s32 *parent, s32 child[2])
{
	s32 bit = 1, up, low;

	child[0] = -1;
	child[1] = -1;
	while (bit < hosts && !(rank & bit))
		bit <<= 1;
	if (!rank) {
		*parent = -1;
		child[0] = hosts > 1 ? bit >> 1 : -1;
		return;
	}
	up = (rank ^ bit) | bit << 1;
	*parent = up >= hosts ? rank ^ bit : up;
	low = bit >> 1;
	if (low) {
		child[0] = rank - low;
		while (low && rank + low >= hosts)
			low >>= 1;
		child[1] = low ? rank + low : -1;
	}
}

/* up with what the children sent, down with what the parent sent */
static void tree_half(s32 shift, u64 bytes, u32 *peers)
{
	s32 parent, child[2], i, me = (v.rank + shift) % v.hosts;

	tree_of(me, v.hosts, &parent, child);
#define RANK(r) peer_of(((r) + v.hosts - shift) % v.hosts)
	for (i = 0; i < 2; i++)
		if (child[i] >= 0)
			message(RANK(child[i]), false, bytes);
	if (parent >= 0)
		exchange(RANK(parent), RANK(parent), bytes);
	for (i = 0; i < 2; i++)
		if (child[i] >= 0)
			message(RANK(child[i]), true, bytes);
	*peers += (parent >= 0) + (child[0] >= 0) + (child[1] >= 0);
#undef RANK
}

/* two trees, each for half of the data, the leaves of one are inside of the other; in chunks */
static void double_tree(void)
{
	u32 chunk, peers = 0;

	v.truth = v.hosts == 2 ? RP_PATTERN_POINT_TO_POINT : RP_PATTERN_TREE;
	for (chunk = 0; chunk < 4; chunk++) {
		tree_half(0, v.size / 8, &peers);
		tree_half(1, v.size / 8, &peers);
	}
}

/* one forward, one backward: activations on, gradients back */
static void pipeline(void)
{
	u32 micro;
	bool first = !v.rank, last = v.rank == v.hosts - 1;

	v.truth = RP_PATTERN_POINT_TO_POINT;
	for (micro = 0; micro < 8; micro++) {
		if (!first)
			message(peer_of(v.rank - 1), false, v.size / 8);
		compute(4 * MSEC);
		if (!last) {
			message(peer_of(v.rank + 1), true, v.size / 8);
			v.now += 5 * MSEC;
			message(peer_of(v.rank + 1), false, v.size / 8);
			compute(8 * MSEC);
		}
		if (!first)
			message(peer_of(v.rank - 1), true, v.size / 8);
	}
}

static void stream(void)
{
	v.truth = RP_PATTERN_POINT_TO_POINT;
	message(0, true, v.size);
}

static void silence(void)
{
	v.truth = RP_PATTERN_IDLE;
	v.now += WINDOW;
	message(RP_JOB_PEERS_MAX, false, 0);	/* somebody looks */
}

static const struct {
	const char *name;
	void (*play)(void);
} algorithms[] = {
	{ "ring all-reduce", ring },
	{ "recursive doubling", doubling },
	{ "double binary tree", double_tree },
	{ "pairwise all-to-all", pairwise },
	{ "parameter server", parameter_server },
	{ "parameter worker", worker },
	{ "broadcast", broadcast },
	{ "pipeline 1F1B", pipeline },
	{ "point to point", stream },
	{ "idle", silence },
};

static void play(u32 algorithm, u32 hosts)
{
	memset(&v, 0, sizeof(v));
	v.now = 1000000 * MSEC;
	v.job.window_start_ns = v.now;
	v.hosts = hosts;
	v.rank = rnd_below(hosts);
	v.size = (1u << rnd_range(20, 25)) + rnd_below(4096);
	v.ns_per_kib = rnd_range(20, 200);
	while (v.windows < WINDOWS) {
		algorithms[algorithm].play();
		compute(rnd_range(3, 20) * MSEC);
	}
}

/* at least 95 % of all windows, and of each algorithm's 90 */
static void confusion(void **state)
{
	u64 right = 0, all = 0, of, of_right;
	char command[256];
	u32 a, hosts, i, k;

	for (a = 0; a < ARRAY_SIZE(algorithms); a++) {
		of = 0;
		of_right = 0;
		for (hosts = 2; hosts <= 64; hosts++) {
			play(a, hosts);
			of += v.windows;
			of_right += v.right;
			if (v.right * 10 < v.windows * 9)
				print_message("# %s, %u hosts, rank %u: %u of %u right\n",
					      algorithms[a].name, hosts, v.rank, v.right,
					      v.windows);
		}
		print_message("# %-20s %5.1f %% of %llu windows\n", algorithms[a].name,
			      100.0 * of_right / of, (unsigned long long)of);
		require(of_right * 10 >= of * 9, "%s: too few are right", algorithms[a].name);
		right += of_right;
		all += of;
	}
	print_message("#\n# %-16s", "is \\ labelled");
	for (k = 1; k < RP_PATTERNS; k++)
		print_message("%15s", names[k]);
	print_message("\n");
	for (i = 1; i < RP_PATTERNS; i++) {
		print_message("# %-16s", names[i]);
		for (k = 1; k < RP_PATTERNS; k++)
			print_message("%15llu", (unsigned long long)matrix[i][k]);
		print_message("\n");
	}
	print_message("# %.2f %% of %llu windows right\n", 100.0 * right / all,
		      (unsigned long long)all);
	snprintf(command, sizeof(command),
		 ROCEPATH_ROOT "/scripts/figure pattern_accuracy %.4f worst-is-min",
		 100.0 * right / all);
	assert_int_equal(system(command), 0);
	require(right * 100 >= all * 95, "%.2f %%", 100.0 * right / all);
}

/* one window of something else moves nothing; three do */
static void hysteresis(void **state)
{
	struct rp_job job = { 0 };
	u32 i;

	rp_job_label(&job, RP_PATTERN_RING);
	assert_int_equal(job.pattern, RP_PATTERN_RING);
	for (i = 0; i < 100; i++)
		rp_job_label(&job, i % 3 ? RP_PATTERN_TREE : RP_PATTERN_RING);
	assert_int_equal(job.pattern, RP_PATTERN_RING);
	for (i = 0; i < RP_PATTERN_WINDOWS; i++) {
		assert_int_equal(job.pattern, RP_PATTERN_RING);
		rp_job_label(&job, RP_PATTERN_INCAST);
	}
	assert_int_equal(job.pattern, RP_PATTERN_INCAST);
	rp_job_label(&job, RP_PATTERN_RING);
	rp_job_label(&job, RP_PATTERN_TREE);
	rp_job_label(&job, RP_PATTERN_RING);
	rp_job_label(&job, RP_PATTERN_TREE);
	assert_int_equal(job.pattern, RP_PATTERN_INCAST);
}

/* another algorithm of the same job is seen after at most so many windows, and one cut in two */
static void changes(void **state)
{
	u32 windows;

	memset(&v, 0, sizeof(v));
	v.now = 1000 * MSEC;
	v.job.window_start_ns = v.now;
	v.hosts = 16;
	v.size = 1 << 22;
	v.ns_per_kib = 50;
	while (v.job.windows < 20)
		ring();
	assert_int_equal(v.job.pattern, RP_PATTERN_RING);
	for (windows = v.job.windows; v.job.pattern != RP_PATTERN_ALL_TO_ALL;)
		pairwise();
	windows = v.job.windows - windows;
	print_message("# seen after %u windows\n", windows);
	assert_in_range(windows, RP_PATTERN_WINDOWS, RP_PATTERN_WINDOWS + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(confusion),
		cmocka_unit_test(hysteresis),
		cmocka_unit_test(changes),
	};

	return unit_run(tests);
}
