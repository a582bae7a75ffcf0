/* SPDX-License-Identifier: GPL-2.0 */
/* Asking the fabric: probes with a hop limit, one entropy value at a time. */
#ifndef ROCEPATH_USER_HOPS_H
#define ROCEPATH_USER_HOPS_H

#include "fabric.h"

struct rp_nl;

/**
 * struct rp_hops - one discovery
 * @nl: to send with
 * @listener: subscribed to events
 * @device: ifindex
 * @ports: ifindex of each port, by its number in the traces
 * @port_count: of them
 * @peer: 16 bytes
 * @far: hop limit at which it ends
 * @per_second: probes, at most
 * @traces: one for each (port, EV), zeroed but for these two
 * @count: of them
 * @progress: called now and then, may be NULL
 */
struct rp_hops {
	struct rp_nl *nl, *listener;
	uint32_t device;
	const uint32_t *ports;
	unsigned int port_count;
	const uint8_t *peer;
	unsigned int far;
	unsigned int per_second;
	struct rp_trace *traces;
	unsigned int count;
	void (*progress)(unsigned int hops, unsigned int answered, unsigned int asked);
};

int rp_hops_trace(struct rp_hops *hops);

#endif /* ROCEPATH_USER_HOPS_H */
