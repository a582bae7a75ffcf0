/* SPDX-License-Identifier: GPL-2.0 */
/* Asking the fabric as the data of an RDMA device would be seen by it. */
#ifndef ROCEPATH_USER_RDMA_HOPS_H
#define ROCEPATH_USER_RDMA_HOPS_H

#include "rdma_probe.h"

/**
 * struct rp_rdma_hops - one discovery
 * @netdev: that is sent by
 * @ifindex: of it
 * @from: 16 bytes
 * @to: the same
 * @tos: of the data
 * @far: hop limit at which it ends
 * @per_second: probes, at most
 * @traces: one for each entropy value, zeroed but for its number
 * @evs: the entropy values, by that number
 * @count: of them
 * @distance: gets the hop limit that the peer is found at, 0: nobody answered
 * @assumed: the peer does not answer pings: @distance follows from the routers
 * @progress: called now and then, may be NULL
 */
struct rp_rdma_hops {
	const char *netdev;
	int ifindex;
	const uint8_t *from, *to;
	uint8_t tos;
	unsigned int far;
	unsigned int per_second;
	struct rp_trace *traces;
	const uint16_t *evs;
	unsigned int count;
	unsigned int distance;
	bool assumed;
	void (*progress)(unsigned int hops, unsigned int answered, unsigned int asked);
};

int rp_rdma_hops_trace(struct rp_rdma_hops *hops, struct rp_error *error);

#endif /* ROCEPATH_USER_RDMA_HOPS_H */
