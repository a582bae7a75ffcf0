/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_PORT_H
#define ROCEPATH_PORT_H

#include <linux/netdevice.h>

#include "core/holddown.h"
#include "gateway.h"
#include "stats.h"

struct rp_device;
struct netlink_ext_ack;

/**
 * struct rp_port - a lower netdevice of a device
 * @rp: the device
 * @dev: the lower netdevice
 * @dev_tracker: of the reference to it
 * @stats: per CPU
 * @index: its number, 0 to ROCEPATH_PORTS_MAX - 1
 * @gateway: the router that it leads to
 * @list: in the device's port_list, RTNL
 * @weight: of its share, 1 to ROCEPATH_WEIGHT_MAX
 * @holddown: whether it may carry traffic
 * @sent_base: the lower device's tx_packets less ours, when it last was idle or came up
 * @orig_mtu: as it was before it became a port
 * @orig_addr: the same
 * @rcu: to free it
 */
struct rp_port {
	struct rp_device *rp;
	struct net_device *dev;
	netdevice_tracker dev_tracker;
	struct rp_port_stats __percpu *stats;
	u8 index;
	struct rp_gateway gateway;

	struct list_head list;
	u16 weight;
	struct rp_holddown holddown;
	u64 sent_base;
	unsigned int orig_mtu;
	unsigned char orig_addr[MAX_ADDR_LEN];
	struct rcu_head rcu;
};

/* what the driver says now, ahead of the notifier */
static inline bool rp_port_has_carrier(const struct rp_port *port)
{
	return netif_running(port->dev) && netif_carrier_ok(port->dev);
}

struct rp_port *rp_port_get_rtnl(const struct net_device *dev);
struct rp_port *rp_port_get_rcu(const struct net_device *dev);

int rp_port_add(struct rp_device *rp, struct net_device *dev, struct netlink_ext_ack *extack);
void rp_port_del(struct rp_port *port);
int rp_ports_update(struct rp_device *rp);
void rp_port_set_weight(struct rp_port *port, u16 weight);
void rp_port_look(struct rp_device *rp);
void rp_port_holddown_work(struct work_struct *work);
const char *rp_port_reason(const struct rp_port *port);

int rp_port_init(void);
void rp_port_exit(void);

#endif /* ROCEPATH_PORT_H */
