/* SPDX-License-Identifier: GPL-2.0 */
/* Asking a host by ICMP: whether packets of a size get there, and how far it is. */
#ifndef ROCEPATH_USER_REACH_H
#define ROCEPATH_USER_REACH_H

#include <stdint.h>

/**
 * struct rp_reach - who asks whom
 * @netdev: that is sent by
 * @from: 16 bytes, IPv4 mapped
 * @to: the same
 * @tos: of what is sent
 */
struct rp_reach {
	const char *netdev;
	const uint8_t *from, *to;
	uint8_t tos;
};

int rp_reach_size(const struct rp_reach *reach, unsigned int bytes);
int rp_reach_hops(const struct rp_reach *reach, unsigned int far);

#endif /* ROCEPATH_USER_REACH_H */
