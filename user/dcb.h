/* SPDX-License-Identifier: GPL-2.0 */
/* Data center bridging of a netdevice: which DSCP has which priority, and what PFC protects. */
#ifndef ROCEPATH_USER_DCB_H
#define ROCEPATH_USER_DCB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RP_DSCPS 64
#define RP_PRIORITIES 8

/**
 * struct rp_dcb - what dcbnl tells of a netdevice
 * @known: the driver has DCB of IEEE; if not, nothing below counts
 * @pfc: bit of each priority that PFC is on for
 * @dscp_mapped: bit of each DSCP that has a priority of its own; any: DSCP is trusted
 * @priority: of each of these
 */
struct rp_dcb {
	bool known;
	uint8_t pfc;
	uint64_t dscp_mapped;
	uint8_t priority[RP_DSCPS];
};

int rp_dcb_parse(const void *message, size_t len, struct rp_dcb *dcb);
int rp_dcb_read(const char *netdev, struct rp_dcb *dcb);

#endif /* ROCEPATH_USER_DCB_H */
