// SPDX-License-Identifier: GPL-2.0
/*
 * bench_icrc [RATIO]: what it costs to mend the ICRC of a 4096-byte packet after
 * its source port changed: by difference, and by a pass over all bytes with the
 * kernel's slice-by-8; zlib's crc32 for comparison. One line of JSON; fails when
 * the pass costs less than RATIO times the difference.
 *
 * The three take turns, and of many short rounds the median counts, so that a
 * busy machine does not decide.
 */
/* SOURCES: selftests/unit/crc32.c kmod/core/icrc.c */
/* LIBS: -lz */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "crc32.h"
#include "icrc.h"
#include "measure.h"

#define PACKET 4096
#define PACKETS 64
#define ROUNDS 301
#define PASSES 2
#define DELTAS 200

static struct rp_icrc_table table;
static u8 packet[PACKETS][PACKET];
static u16 change[PACKETS];

/* Nanoseconds a packet, at the least flattering: each waits for the result of the one before. */
static double time_delta(void)
{
	double start = measure_now_ns();
	u32 i, k, sum = 0;

	for (k = 0; k < DELTAS; k++)
		for (i = 0; i < PACKETS; i++)
			sum = rp_icrc_delta(&table, change[i] ^ (u16)sum, 4 * (1024 + i % 8) + 2);
	measure_sink = sum;
	return (measure_now_ns() - start) / (DELTAS * PACKETS);
}

static double time_slice8(void)
{
	double start = measure_now_ns();
	u32 i, k, sum = 0;

	for (k = 0; k < PASSES; k++)
		for (i = 0; i < PACKETS; i++)
			sum ^= crc32_slice8(~0u, packet[i], PACKET);
	measure_sink = sum;
	return (measure_now_ns() - start) / (PASSES * PACKETS);
}

static double time_zlib(void)
{
	double start = measure_now_ns();
	u32 i, k, sum = 0;

	for (k = 0; k < PASSES; k++)
		for (i = 0; i < PACKETS; i++)
			sum ^= crc32(0, packet[i], PACKET);
	measure_sink = sum;
	return (measure_now_ns() - start) / (PASSES * PACKETS);
}

int main(int argc, char **argv)
{
	static double delta[ROUNDS], slice8[ROUNDS], zlib[ROUNDS];
	double least = argc > 1 ? atof(argv[1]) : 0, d, s, z;
	u32 i, k;

	rp_icrc_table_init(&table);
	srandom(1);
	for (i = 0; i < PACKETS; i++) {
		change[i] = random();
		for (k = 0; k < PACKET; k++)
			packet[i][k] = random();
		if (~crc32_slice8(~0u, packet[i], PACKET) != crc32(0, packet[i], PACKET)) {
			fprintf(stderr, "bench_icrc: slice-by-8 and zlib do not agree\n");
			return 1;
		}
	}
	for (i = 0; i < ROUNDS; i++) {
		delta[i] = time_delta();
		slice8[i] = time_slice8();
		zlib[i] = time_zlib();
	}
	d = measure_median(delta, ROUNDS);
	s = measure_median(slice8, ROUNDS);
	z = measure_median(zlib, ROUNDS);
	printf("{\"bench\":\"icrc\",\"bytes\":%d,\"delta_ns\":%.2f,", PACKET, d);
	printf("\"slice8_ns\":%.0f,\"zlib_ns\":%.0f,\"ratio\":%.0f}\n", s, z, s / d);
	if (s / d < least) {
		fprintf(stderr, "bench_icrc: the ratio is %.0f, not %.0f\n", s / d, least);
		return 1;
	}
	return 0;
}
