/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses, routes and neighbours. Addresses are 16 bytes, IPv4 mapped. */
#ifndef ROCEPATH_USER_ROUTE_H
#define ROCEPATH_USER_ROUTE_H

#include "rtnl.h"
#include "units.h"

/**
 * struct rp_address_info - an address of a netdevice
 * @ifindex: of the netdevice
 * @address: 16 bytes
 * @length: of its prefix; an IPv4 prefix's and 96
 * @link_local: it is good on its link only
 */
struct rp_address_info {
	int ifindex;
	uint8_t address[RP_ADDRESS_LEN];
	uint8_t length;
	bool link_local;
};

struct rp_addresses {
	struct rp_address_info *at;
	unsigned int count;
};

int rp_addresses_read(struct rp_rtnl *rtnl, struct rp_addresses *addresses,
		      struct rp_error *error);
void rp_addresses_drop(struct rp_addresses *addresses);
int rp_route_next(struct rp_rtnl *rtnl, int ifindex, const uint8_t *from, const uint8_t *to,
		  uint8_t *next, struct rp_error *error);
int rp_neighbour_find(struct rp_rtnl *rtnl, int ifindex, const uint8_t *address, uint8_t *mac,
		      struct rp_error *error);

#endif /* ROCEPATH_USER_ROUTE_H */
