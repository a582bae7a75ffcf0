/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices that speak RoCE, as RDMA netlink and sysfs have them: without any module of ours. */
#ifndef ROCEPATH_USER_RDMA_PORTS_H
#define ROCEPATH_USER_RDMA_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include <net/if.h>

#include "error.h"
#include "units.h"

#define RP_RDMA_NAME_LEN 64
#define RP_RDMA_DRIVER_LEN 32

/**
 * struct rp_rdma_gid - an address of a port
 * @address: IPv4 mapped
 * @index: in the port's table
 * @v2: of RoCE v2; else of the one that is not routed
 */
struct rp_rdma_gid {
	uint8_t address[RP_ADDRESS_LEN];
	uint32_t index;
	bool v2;
};

/**
 * struct rp_rdma_port - a port of an RDMA device
 * @device: name of the device
 * @index: its number in RDMA netlink
 * @port: from 1 on
 * @state: as enum ib_port_state, 0: not known
 * @ifindex: its netdevice, 0: it has none
 * @netdev: name of that
 * @driver: "mlx5_core", "rdma_rxe"; "": not known
 * @gids: the table, without what is empty
 * @gid_count: of them
 */
struct rp_rdma_port {
	char device[RP_RDMA_NAME_LEN];
	uint32_t index;
	uint32_t port;
	uint32_t state;
	uint32_t ifindex;
	char netdev[IF_NAMESIZE];
	char driver[RP_RDMA_DRIVER_LEN];
	struct rp_rdma_gid *gids;
	unsigned int gid_count;
};

struct rp_rdma_ports {
	struct rp_rdma_port *at;
	unsigned int count;
};

/* does the source port follow the flow label? Numbered as enum rocepath_rdma_follows */
enum rp_rdma_follows {
	RP_RDMA_FOLLOWS_UNKNOWN,
	RP_RDMA_FOLLOWS_NO,
	RP_RDMA_FOLLOWS_YES,
};

int rp_rdma_ports_read(struct rp_rdma_ports *ports, struct rp_error *error);
void rp_rdma_ports_drop(struct rp_rdma_ports *ports);
bool rp_rdma_port_is(const struct rp_rdma_port *port, const char *name);
const struct rp_rdma_gid *rp_rdma_port_gid(const struct rp_rdma_port *port,
					   const uint8_t *address);
enum rp_rdma_follows rp_rdma_driver_follows(const char *driver);

#endif /* ROCEPATH_USER_RDMA_PORTS_H */
