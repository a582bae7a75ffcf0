/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How benchmarks measure: subjects take turns, and of many short rounds the median
 * counts, so that a busy machine does not decide. A figure is one line of JSON:
 *
 *   {"figure":"tx/pick/spray","unit":"ns","value":1.93}
 *
 * Instructions are counted by the processor where it lets us (perf_event); else
 * callgrind does, see measure_all().
 */
#ifndef ROCEPATH_BENCH_MEASURE_H
#define ROCEPATH_BENCH_MEASURE_H

#include <rocepath/types.h>

/**
 * struct measure - a subject
 * @name: of the figure, parts separated by slashes
 * @run: does it for so many packets
 * @arg: its argument
 * @packets: of one round
 * @ns: median, a packet; filled in
 * @instructions: a packet, 0: not counted; filled in
 */
struct measure {
	char name[64];
	void (*run)(void *arg, u32 packets);
	void *arg;
	u32 packets;
	double ns;
	double instructions;
};

/** measure_now_ns() - a clock. */
double measure_now_ns(void);

/** measure_median() - of @n values, which are sorted. */
double measure_median(double *values, u32 n);

/** measure_quick() - is this a smoke run (BENCH_QUICK=1)? */
bool measure_quick(void);

/**
 * measure_all() - measure, and print a figure for each
 * @m: the subjects
 * @n: of them
 * @rounds: turns of each; a smoke run has a tenth of them
 *
 * With MEASURE_COUNT=1 each runs once, inside of measure_counted(), and its name and
 * packets are printed: for callgrind, which writes down the instructions of each call.
 */
void measure_all(struct measure *m, u32 n, u32 rounds);

/** measure_counted() - one round of one subject. */
void measure_counted(struct measure *m);

/** measure_print() - print a figure that is no time. */
void measure_print(const char *name, const char *unit, double value);

/** measure_sink - keeps results from being optimised away. */
extern volatile u32 measure_sink;

#endif /* ROCEPATH_BENCH_MEASURE_H */
