// SPDX-License-Identifier: GPL-2.0
/*
 * bench_growth: how what a packet costs grows with the number of flows, peers and paths,
 * and how much memory they take. Packets belong to flows at random, so that what does not
 * fit the caches is not in them: which costs whoever touches as much memory. So beside each
 * there is a control, that touches as many cache lines of as much memory, and does nothing
 * else with it.
 */
/* SOURCES: kmod/core/roce.c kmod/core/icrc.c kmod/core/answer.c kmod/core/repair.c */
/* SOURCES: kmod/core/repaired.c kmod/core/window.c kmod/core/sched.c */
/* SOURCES: kmod/core/pathset.c kmod/core/paths.c */
/* SOURCES: kmod/core/adapt.c kmod/core/budget.c kmod/core/health.c kmod/core/holddown.c */
/* SOURCES: selftests/unit/packet.c selftests/bench/hot.c selftests/bench/qp_table.c */
#include <stdio.h>
#include <stdlib.h>

#include "hot.h"
#include "measure.h"

#define ROUNDS 31
#define PACKETS 16384
#define PAYLOAD 4096
#define PATHS 64
#define KEPT 8
#define LINE 64
/*
 * Cache lines that a packet touches of what grows. Of each only one leads to the next: bucket, QP,
 * peer, its pathset, the map of paths, the path; or bucket, QP, peer, what was heard of the path.
 * Others are found beside them. TX: the QP has 3, the entry that is kept, the one before it and
 * the one that is let go 2 each, their paths 2. RX: the window has 3.
 */
#define CHAIN_TX 6
#define LINES_TX 16
#define CHAIN_RX 4
#define LINES_RX 7

struct subject {
	struct hot *hot;
	u32 len;
	u32 n;
	u8 *control;
	size_t size;
};

static u32 turn[PACKETS];

static void run_tx(void *arg, u32 packets)
{
	struct subject *s = arg;
	u32 i;

	for (i = 0; i < packets; i++)
		hot_tx(s->hot, &rp_sched_adaptive_ops, s->hot->frame[i % HOT_FRAMES], s->len,
		       turn[i] % s->n);
}

static void run_rx(void *arg, u32 packets)
{
	struct subject *s = arg;
	struct rp_held held;
	u32 i, nth;

	for (i = 0; i < packets; i++) {
		nth = turn[i] % s->n;
		hot_rx(s->hot, s->hot->frame[i % HOT_FRAMES], s->len, nth,
		       s->hot->qp[nth].window.expected, &held);
	}
}

/* a line of each of so many pieces of the memory, as there are so many tables */
static void run_control(struct subject *s, u32 packets, u32 chain, u32 lines)
{
	u32 piece = s->size / lines / LINE, i, k;
	u64 line = 0;

	for (i = 0; i < packets; i++) {
		u32 random = turn[i];

		for (k = 0; k < lines; k++) {
			u8 *at = s->control + (size_t)k * piece * LINE;

			random = random * 0x9e3779b1u + k;
			/* 0 is added, but who knows before it is there? */
			at += ((u64)random * piece >> 32) * LINE + (k < chain ? line : 0);
			line = *(u64 *)at;
			at[8]++;
		}
	}
	measure_sink = line;
}

static void run_control_tx(void *arg, u32 packets)
{
	run_control(arg, packets, CHAIN_TX, LINES_TX);
}

static void run_control_rx(void *arg, u32 packets)
{
	run_control(arg, packets, CHAIN_RX, LINES_RX);
}

static void name(struct measure *m, const char *what, u32 n, const char *of)
{
	snprintf(m->name, sizeof(m->name), "growth/%s/%u/%s", what, n, of);
}

static void measure_host(const char *what, u32 n, const struct hot_config *config)
{
	struct subject s = { .hot = hot_new(config), .n = config->qps };
	struct measure m[] = {
		{ .run = run_tx, .arg = &s, .packets = PACKETS },
		{ .run = run_rx, .arg = &s, .packets = PACKETS },
		{ .run = run_control_tx, .arg = &s, .packets = PACKETS },
		{ .run = run_control_rx, .arg = &s, .packets = PACKETS },
	};
	char bytes[64];

	s.len = hot_frames(s.hot, PAYLOAD);
	s.size = s.hot->bytes;
	s.control = hot_memory(s.size + 2 * LINE);
	name(&m[0], what, n, "tx");
	name(&m[1], what, n, "rx");
	name(&m[2], what, n, "tx-control");
	name(&m[3], what, n, "rx-control");
	measure_all(m, ARRAY_SIZE(m), ROUNDS);
	snprintf(bytes, sizeof(bytes), "growth/%s/%u/bytes", what, n);
	measure_print(bytes, "bytes", s.hot->bytes);
	free(s.control);
	hot_free(s.hot);
}

int main(void)
{
	u32 step = measure_quick() ? 256 : 4, i, n;

	srandom(1);
	for (i = 0; i < PACKETS; i++)
		turn[i] = random() * 2654435761u;
	for (n = 1; n <= 65536; n *= step)
		measure_host("flows", n, &(struct hot_config){ n, 1, PATHS, KEPT });
	for (n = 1; n <= 4096; n *= step)
		measure_host("peers", n, &(struct hot_config){ n, n, PATHS, KEPT });
	for (n = 1; n <= 1024; n *= step)
		measure_host("paths", n, &(struct hot_config){ 64, 1, n, KEPT });
	return 0;
}
