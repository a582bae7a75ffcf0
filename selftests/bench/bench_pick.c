// SPDX-License-Identifier: GPL-2.0
/*
 * bench_pick [RATIO]: what it costs to pick a path for a packet, of 32 paths and of
 * 1,024, all alike, of many weights, and hardly any usable; beside a memcpy of 4096
 * bytes. One line of JSON; fails when the memcpy costs less than RATIO times the
 * dearest pick.
 *
 * All take turns, and of many short rounds the median counts, so that a busy
 * machine does not decide.
 */
/* SOURCES: kmod/core/sched.c kmod/core/pathset.c kmod/core/adapt.c */
/* SOURCES: kmod/core/budget.c kmod/core/health.c */
/* SOURCES: kmod/core/holddown.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "sched.h"

#define BYTES 4096
#define COPIES 64
#define ROUNDS 301
#define PICKS 4096

enum kind { ALIKE, WEIGHTED, FEW, KINDS };

static const char *const kind_names[KINDS] = { "alike", "weighted", "few" };
static const u32 sizes[] = { 32, 1024 };

static u8 from[COPIES][BYTES], to[COPIES][BYTES];

static struct rp_pathset *paths(u32 n, enum kind kind)
{
	struct rp_paths_port ports[ROCEPATH_PORTS_MAX] = { 0 };
	struct rp_pathset *s;
	u32 i;

	for (i = 0; i < 4; i++)
		ports[i] = (struct rp_paths_port){ .weight = 1, .evs = n / 4, .up = true };
	s = rp_pathset_init(calloc(1, rp_pathset_size(n)), ports, NULL, NULL, 0);
	for (i = 0; i < n; i++) {
		if (kind == WEIGHTED)
			s->entry[i].factor = 1 + random() % RP_PATH_WEIGHT_MAX;
		if (kind == FEW && i % (n / 2) != n / 3)
			s->entry[i].health.state = ROCEPATH_PATH_DOWN;
		rp_pathset_publish(s, i);
	}
	return s;
}

/* Nanoseconds a packet: each pick waits for the one before, as a flow's do. */
static double time_pick(const struct rp_sched_ops *ops, const struct rp_pathset *s)
{
	struct rp_sched_flow f;
	double start;
	u32 i, sum = 0;

	rp_sched_start(&f, random());
	start = measure_now_ns();
	for (i = 0; i < PICKS; i++)
		sum += ops->pick(s, &f, BYTES, i);
	measure_sink = sum;
	return (measure_now_ns() - start) / PICKS;
}

static double time_pin(const struct rp_pathset *s)
{
	double start = measure_now_ns();
	u32 i, sum = 0;

	for (i = 0; i < PICKS; i++)
		sum += rp_pathset_pin(s, (i ^ sum) * 0x9e3779b1u);
	measure_sink = sum;
	return (measure_now_ns() - start) / PICKS;
}

static double time_memcpy(void)
{
	double start = measure_now_ns();
	u32 i;

	for (i = 0; i < COPIES; i++)
		memcpy(to[i], from[i], BYTES);
	measure_sink = to[measure_sink % COPIES][measure_sink % BYTES];
	return (measure_now_ns() - start) / COPIES;
}

int main(int argc, char **argv)
{
	static double copy[ROUNDS], pick[2][KINDS][ROUNDS], pin[2][KINDS][ROUNDS];
	double least = argc > 1 ? atof(argv[1]) : 0, most = 0, memcpy_ns;
	struct rp_pathset *set[2][KINDS];
	u32 n, k, i;

	srandom(1);
	memset(from, 1, sizeof(from));
	for (n = 0; n < 2; n++)
		for (k = 0; k < KINDS; k++)
			set[n][k] = paths(sizes[n], k);
	for (i = 0; i < ROUNDS; i++) {
		copy[i] = time_memcpy();
		for (n = 0; n < 2; n++) {
			for (k = 0; k < KINDS; k++) {
				pick[n][k][i] = time_pick(&rp_sched_adaptive_ops, set[n][k]);
				pin[n][k][i] = time_pin(set[n][k]);
			}
		}
	}
	memcpy_ns = measure_median(copy, ROUNDS);
	printf("{\"bench\":\"pick\",\"memcpy_4096_ns\":%.0f", memcpy_ns);
	for (n = 0; n < 2; n++) {
		for (k = 0; k < KINDS; k++) {
			double pick_ns = measure_median(pick[n][k], ROUNDS);
			double pin_ns = measure_median(pin[n][k], ROUNDS);

			printf(",\"%s_%u_ns\":%.1f", kind_names[k], sizes[n], pick_ns);
			printf(",\"pin_%s_%u_ns\":%.1f", kind_names[k], sizes[n], pin_ns);
			most = most > pick_ns ? most : pick_ns;
			free(set[n][k]);
		}
	}
	printf(",\"ratio\":%.1f}\n", memcpy_ns / most);
	if (memcpy_ns / most < least) {
		fprintf(stderr, "bench_pick: the ratio is %.1f, not %.1f\n", memcpy_ns / most,
			least);
		return 1;
	}
	return 0;
}
