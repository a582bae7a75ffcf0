/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_GATEWAY_H
#define ROCEPATH_GATEWAY_H

#include <linux/etherdevice.h>
#include <linux/in6.h>
#include <linux/skbuff.h>

struct rp_device;
struct rp_port;
struct work_struct;

enum { RP_GATEWAY_V4, RP_GATEWAY_V6, RP_GATEWAYS };

/**
 * struct rp_gateway - the router that a port leads to, for hosts with one for each port
 * @via4: IPv4, 0: none
 * @via6: IPv6, all 0: none
 * @mac: of the router of each family, in the upper 48 bits as it is on the wire; 0: not resolved
 *	since it was set
 *
 * A packet is made with the MAC address of the one gateway that the route names.
 * The port that it leaves by leads to another one, so it gets that one's.
 */
struct rp_gateway {
	__be32 via4;
	struct in6_addr via6;
	u64 mac[RP_GATEWAYS];
};

void rp_gateway_direct(struct rp_device *rp, const struct rp_port *port, struct sk_buff *skb);
void rp_gateway_work(struct work_struct *work);
void rp_gateway_set(struct rp_port *port, const __be32 *via4, const struct in6_addr *via6);

#endif /* ROCEPATH_GATEWAY_H */
