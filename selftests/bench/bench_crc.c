// SPDX-License-Identifier: GPL-2.0
/*
 * bench_crc: what the ICRC would cost without the difference: a pass over the packet with
 * the kernel's slice-by-8, zlib, and libdeflate, which multiplies without carries (PCLMUL)
 * where the processor can; and a copy of the payload, by which all of them can be judged.
 */
/* SOURCES: selftests/unit/crc32.c */
/* LIBS: -lz -ldeflate */
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "crc32.h"
#include "measure.h"

#define PACKETS 64
#define PACKET_MAX 4096
#define ROUNDS 101

static const u32 sizes[] = { 64, 1024, PACKET_MAX };
static u8 packet[PACKETS][PACKET_MAX], copy[PACKETS][PACKET_MAX];

static void run_slice8(void *arg, u32 packets)
{
	const u32 *size = arg;
	u32 i, sum = 0;

	for (i = 0; i < packets; i++)
		sum ^= crc32_slice8(~0u, packet[i % PACKETS], *size);
	measure_sink = sum;
}

static void run_zlib(void *arg, u32 packets)
{
	const u32 *size = arg;
	u32 i, sum = 0;

	for (i = 0; i < packets; i++)
		sum ^= crc32(0, packet[i % PACKETS], *size);
	measure_sink = sum;
}

static void run_libdeflate(void *arg, u32 packets)
{
	const u32 *size = arg;
	u32 i, sum = 0;

	for (i = 0; i < packets; i++)
		sum ^= libdeflate_crc32(0, packet[i % PACKETS], *size);
	measure_sink = sum;
}

static void run_memcpy(void *arg, u32 packets)
{
	const u32 *size = arg;
	u32 i;

	for (i = 0; i < packets; i++)
		memcpy(copy[i % PACKETS], packet[i % PACKETS], *size);
	measure_sink = copy[measure_sink % PACKETS][measure_sink % *size];
}

static const struct {
	const char *name;
	void (*run)(void *arg, u32 packets);
} kinds[] = {
	{ "crc/slice-by-8", run_slice8 },
	{ "crc/zlib", run_zlib },
	{ "crc/libdeflate", run_libdeflate },
	{ "crc/memcpy", run_memcpy },
};

static void make_packets(void)
{
	u32 i, k;

	for (i = 0; i < PACKETS; i++)
		for (k = 0; k < PACKET_MAX; k++)
			packet[i][k] = random();
}

int main(void)
{
	struct measure m[ARRAY_SIZE(kinds) * ARRAY_SIZE(sizes)] = { 0 };
	u32 i, k, n = 0;

	make_packets();
	if (crc32(0, packet[0], PACKET_MAX) != libdeflate_crc32(0, packet[0], PACKET_MAX) ||
	    crc32(0, packet[0], PACKET_MAX) != ~crc32_slice8(~0u, packet[0], PACKET_MAX)) {
		fprintf(stderr, "bench_crc: they do not agree\n");
		return 1;
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (k = 0; k < ARRAY_SIZE(kinds); k++, n++) {
			m[n] = (struct measure){ .run = kinds[k].run, .packets = 2 * PACKETS,
						 .arg = (void *)&sizes[i] };
			snprintf(m[n].name, sizeof(m[n].name), "%s/%u", kinds[k].name, sizes[i]);
		}
	}
	measure_all(m, n, ROUNDS);
	return 0;
}
