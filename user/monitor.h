/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_USER_MONITOR_H
#define ROCEPATH_USER_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

struct nlmsghdr;

/**
 * struct rp_monitored - what is printed
 * @json: an object a line
 * @device: events of that rocepath device only; NULL: of all
 * @rdma: events of that RDMA device only; NULL: of all
 */
struct rp_monitored {
	bool json;
	const char *device, *rdma;
};

void rp_monitor_time(uint64_t ns, char *text);
int rp_monitor_rdma(const struct nlmsghdr *nlh, void *data);

#endif /* ROCEPATH_USER_MONITOR_H */
