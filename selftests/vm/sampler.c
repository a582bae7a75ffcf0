// SPDX-License-Identifier: GPL-2.0
/*
 * sampler PERIOD_MS IFNAME...: prints, every period, one line
 *
 *	monotonic_ns rx_packets rx_bytes [rx_packets rx_bytes ...]
 *
 * until it is terminated. It runs as a real-time task, so that what it sees
 * late, the machine was late with too.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull
#define MAX_FILES 128

static volatile sig_atomic_t done;

static void stop(int sig)
{
	(void)sig;
	done = 1;
}

static int open_counter(const char *ifname, const char *counter)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", ifname, counter);
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		fprintf(stderr, "sampler: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return fd;
}

static unsigned long long read_counter(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		n = 0;		/* the interface has gone: the line says 0 */
	text[n] = 0;
	return strtoull(text, NULL, 10);
}

static void sample(const int *fds, int n)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%llu", now.tv_sec * NS_PER_S + now.tv_nsec);
	for (int i = 0; i < n; i++)
		printf(" %llu", read_counter(fds[i]));
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct sched_param prio = { .sched_priority = 1 };
	struct sigaction sa = { .sa_handler = stop };
	uint64_t period, next;
	struct timespec t;
	int fds[MAX_FILES], n = 0;

	if (argc < 3 || argc > 2 + MAX_FILES / 2 || atoi(argv[1]) < 1) {
		fprintf(stderr, "usage: sampler PERIOD_MS IFNAME...\n");
		return 2;
	}
	period = atoi(argv[1]) * 1000000ull;
	for (int i = 2; i < argc; i++) {
		fds[n++] = open_counter(argv[i], "rx_packets");
		fds[n++] = open_counter(argv[i], "rx_bytes");
	}
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	if (sched_setscheduler(0, SCHED_FIFO, &prio))
		fprintf(stderr, "sampler: not a real-time task: %s\n", strerror(errno));
	clock_gettime(CLOCK_MONOTONIC, &t);
	next = t.tv_sec * NS_PER_S + t.tv_nsec;
	while (!done) {
		sample(fds, n);
		next += period;
		t = (struct timespec){ .tv_sec = next / NS_PER_S, .tv_nsec = next % NS_PER_S };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
	sample(fds, n);
	return fflush(stdout) ? 1 : 0;
}
