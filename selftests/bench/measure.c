// SPDX-License-Identifier: GPL-2.0
#include "measure.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

volatile u32 measure_sink;

double measure_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double measure_median(double *values, u32 n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value && strcmp(value, "0");
}

bool measure_quick(void)
{
	return is_set("BENCH_QUICK");
}

/* Return: -1 where the processor, or who runs it, does not let us count. */
static int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .exclude_kernel = 1,
		.exclude_hv = 1, .config = PERF_COUNT_HW_INSTRUCTIONS,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static u64 read_counter(int fd)
{
	u64 value = 0;

	if (fd < 0 || read(fd, &value, sizeof(value)) != sizeof(value))
		return 0;
	return value;
}

__attribute__((noinline)) void measure_counted(struct measure *m)
{
	m->run(m->arg, m->packets);
}

static double one_round(struct measure *m)
{
	double start = measure_now_ns();

	m->run(m->arg, m->packets);
	return (measure_now_ns() - start) / m->packets;
}

static void count_all(struct measure *m, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		m[i].run(m[i].arg, m[i].packets);	/* what is made once is made now */
		measure_counted(&m[i]);
		printf("{\"figure\":\"%s\",\"counted\":%u}\n", m[i].name, m[i].packets);
	}
}

void measure_print(const char *name, const char *unit, double value)
{
	printf("{\"figure\":\"%s\",\"unit\":\"%s\",\"value\":%.6g}\n", name, unit, value);
}

static void print(const struct measure *m)
{
	printf("{\"figure\":\"%s\",\"unit\":\"ns\",\"value\":%.6g", m->name, m->ns);
	if (m->instructions)
		printf(",\"instructions\":%.6g", m->instructions);
	printf("}\n");
}

void measure_all(struct measure *m, u32 n, u32 rounds)
{
	double *ns;
	int fd;
	u32 i, k;

	if (is_set("MEASURE_COUNT")) {
		count_all(m, n);
		return;
	}
	if (measure_quick())
		rounds = rounds / 10 + 1;
	ns = malloc(n * rounds * sizeof(*ns));
	if (!ns)
		exit(1);
	for (k = 0; k < n; k++)
		m[k].run(m[k].arg, m[k].packets);
	for (i = 0; i < rounds; i++)
		for (k = 0; k < n; k++)
			ns[k * rounds + i] = one_round(&m[k]);
	fd = open_counter();
	for (k = 0; k < n; k++) {
		u64 before = read_counter(fd);

		measure_counted(&m[k]);
		m[k].instructions = (double)(read_counter(fd) - before) / m[k].packets;
		m[k].ns = measure_median(ns + k * rounds, rounds);
		print(&m[k]);
	}
	if (fd >= 0)
		close(fd);
	free(ns);
}
