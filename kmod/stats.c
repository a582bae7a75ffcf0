// SPDX-License-Identifier: GPL-2.0
#include "stats.h"

#include <linux/string.h>

#define RP_NAME(id, name) [RP_##id] = #name,
const char *const rp_count_name[RP_COUNTS] = {
	RP_DEVICE_COUNTERS(RP_NAME)
};

#undef RP_NAME
#define RP_NAME(id, name) [RP_PORT_##id] = #name,
const char *const rp_port_count_name[RP_PORT_COUNTS] = {
	RP_PORT_COUNTERS(RP_NAME)
};

/* one CPU's counters, all of one moment, added to @value */
static void stats_fold(const u64_stats_t *from, const struct u64_stats_sync *syncp, u64 *once,
		       u64 *value, int n)
{
	unsigned int start;
	int i;

	do {
		start = u64_stats_fetch_begin(syncp);
		for (i = 0; i < n; i++)
			once[i] = u64_stats_read(&from[i]);
	} while (u64_stats_fetch_retry(syncp, start));
	for (i = 0; i < n; i++)
		value[i] += once[i];
}

/**
 * rp_stats_read() - sum up a device's counters
 * @stats: per CPU
 * @value: RP_COUNTS of them
 *
 * Context: any. Counters of one CPU are of one moment, those of several are not.
 */
void rp_stats_read(const struct rp_stats __percpu *stats, u64 *value)
{
	u64 once[RP_COUNTS];
	int cpu;

	memset(value, 0, sizeof(once));
	for_each_possible_cpu(cpu) {
		const struct rp_stats *s = per_cpu_ptr(stats, cpu);

		stats_fold(s->value, &s->syncp, once, value, RP_COUNTS);
	}
}

/**
 * rp_port_stats_read() - sum up a port's counters
 * @stats: per CPU
 * @value: RP_PORT_COUNTS of them
 *
 * Context: any.
 */
void rp_port_stats_read(const struct rp_port_stats __percpu *stats, u64 *value)
{
	u64 once[RP_PORT_COUNTS];
	int cpu;

	memset(value, 0, sizeof(once));
	for_each_possible_cpu(cpu) {
		const struct rp_port_stats *s = per_cpu_ptr(stats, cpu);

		stats_fold(s->value, &s->syncp, once, value, RP_PORT_COUNTS);
	}
}
