/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probes with a hop limit that look like the data of an RDMA device, which the kernel
 * does not send: made and understood here, sent by rdma_hops.c.
 */
#ifndef ROCEPATH_USER_RDMA_PROBE_H
#define ROCEPATH_USER_RDMA_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric.h"
#include "units.h"

#define RP_MAC_LEN 6
#define RP_RDMA_PROBE_LEN 128	/* of a frame, at most */
#define RP_RDMA_EVS 16384
#define RP_RDMA_SPORT 0xc000	/* of EV 0 */

/**
 * struct rp_rdma_lane - what all probes to a peer have in common
 * @from: 16 bytes, IPv4 mapped
 * @to: the same
 * @mac: Ethernet address of the netdevice
 * @next: of the next hop
 * @tos: of the data: DSCP, and no ECN
 */
struct rp_rdma_lane {
	uint8_t from[RP_ADDRESS_LEN], to[RP_ADDRESS_LEN];
	uint8_t mac[RP_MAC_LEN], next[RP_MAC_LEN];
	uint8_t tos;
};

/**
 * struct rp_rdma_quote - the probe that an ICMP message is about
 * @ev: its entropy value
 * @id: its number
 */
struct rp_rdma_quote {
	uint16_t ev;
	uint16_t id;
};

uint16_t rp_rdma_sequence(unsigned int i);
uint32_t rp_rdma_label(uint16_t ev);
unsigned int rp_rdma_probe_make(const struct rp_rdma_lane *lane, uint16_t ev, uint8_t hops,
				uint16_t id, uint8_t *frame);
bool rp_rdma_quote_parse(const struct rp_rdma_lane *lane, const uint8_t *icmp, size_t len,
			 struct rp_rdma_quote *quote);
unsigned int rp_rdma_traces_settle(struct rp_trace *traces, unsigned int count,
				   unsigned int distance);

#endif /* ROCEPATH_USER_RDMA_PROBE_H */
