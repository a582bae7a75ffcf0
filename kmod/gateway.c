// SPDX-License-Identifier: GPL-2.0
/*
 * Gateways: a host whose ports lead to different routers.
 *
 * The kernel routes by the device, to one gateway; each port has its own. The
 * device resolves them as neighbours of its own (ARP and ND leave by every port,
 * and only the router on the port that has it answers), keeps them fresh, and
 * writes into a packet for a gateway the MAC address of its port's gateway.
 */
#include "gateway.h"

#include <linux/unaligned.h>
#include <net/arp.h>
#include <net/ndisc.h>
#include <net/ipv6.h>
#include <net/neighbour.h>

#include "device.h"
#include "port.h"

/* how often they are looked at; neighbours are asked again by the kernel's own timers */
#define RP_GATEWAY_PERIOD (HZ / 4)

static u64 gateway_mac(const u8 *mac)
{
	return (u64)get_unaligned_be32(mac) << 32 | (u64)get_unaligned_be16(mac + 4) << 16 | 1;
}

/* Return: bit RP_GATEWAY_*: a gateway of that family has this address */
static u32 gateway_families(const struct rp_device *rp, const u8 *mac)
{
	const struct rp_ports *ports = rcu_dereference(rp->ports);
	u64 wanted = gateway_mac(mac);
	u32 families = 0, i, k;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		const struct rp_port *port = READ_ONCE(ports->port[i]);

		for (k = 0; port && k < RP_GATEWAYS; k++)
			if (READ_ONCE(port->gateway.mac[k]) == wanted)
				families |= 1u << k;
	}
	return families;
}

/* most routers are the gateway of both families; 0: this port has none */
static u64 gateway_for(const struct rp_device *rp, const struct rp_gateway *g, const u8 *mac)
{
	u32 families, k;

	if (!READ_ONCE(g->mac[RP_GATEWAY_V4]) && !READ_ONCE(g->mac[RP_GATEWAY_V6]))
		return 0;
	families = gateway_families(rp, mac);
	for (k = 0; k < RP_GATEWAYS; k++)
		if (families & 1u << k && READ_ONCE(g->mac[k]))
			return g->mac[k];
	return 0;
}

/**
 * rp_gateway_direct() - a packet for a gateway goes to that of its port
 * @rp: the device
 * @port: that it leaves by
 * @skb: the packet, data at the Ethernet header
 *
 * Where there is no memory to write it, it goes as it is: that router may know
 * the way all the same. To be called before the packet is kept for repair, which
 * shares its bytes.
 *
 * Context: bottom halves off, RCU.
 */
void rp_gateway_direct(struct rp_device *rp, const struct rp_port *port, struct sk_buff *skb)
{
	struct ethhdr *eth = (struct ethhdr *)skb->data;
	u64 mac = gateway_for(rp, &port->gateway, eth->h_dest);

	if (likely(!mac) || mac == gateway_mac(eth->h_dest))
		return;
	if (skb_ensure_writable(skb, ETH_HLEN))
		return;
	eth = (struct ethhdr *)skb->data;
	put_unaligned_be32(mac >> 32, eth->h_dest);
	put_unaligned_be16(mac >> 16, eth->h_dest + 4);
}

/* Return: the MAC address of the neighbour, 0 while it is not known; it is asked for */
static u64 gateway_resolve(struct rp_device *rp, struct neigh_table *table, const void *address)
{
	struct neighbour *n = neigh_lookup(table, address, rp->dev);
	u8 mac[ETH_ALEN];
	u64 found = 0;

	if (!n)
		n = neigh_create(table, address, rp->dev);
	if (IS_ERR(n))
		return 0;
	if (READ_ONCE(n->nud_state) & NUD_VALID) {
		neigh_ha_snapshot(mac, n, rp->dev);
		found = gateway_mac(mac);
	}
	/* as a packet to it would: asks when it is not known, or was not heard for long */
	neigh_event_send(n, NULL);
	neigh_release(n);
	return found;
}

/* one that is not known just now was, and is better than none */
static void gateway_refresh(struct rp_device *rp, struct rp_port *port)
{
	struct rp_gateway *g = &port->gateway;
	u64 mac = 0;

	if (g->via4)
		mac = gateway_resolve(rp, &arp_tbl, &g->via4);
	if (mac)
		WRITE_ONCE(g->mac[RP_GATEWAY_V4], mac);
#if IS_ENABLED(CONFIG_IPV6)
	mac = 0;
	if (!ipv6_addr_any(&g->via6) && ipv6_mod_enabled())
		mac = gateway_resolve(rp, &nd_tbl, &g->via6);
	if (mac)
		WRITE_ONCE(g->mac[RP_GATEWAY_V6], mac);
#endif
}

/**
 * rp_gateway_work() - resolve the gateways of the ports
 * @work: of a device
 *
 * Context: workqueue; takes RTNL, but never waits for it: who deletes the
 * device holds it and waits for us.
 */
void rp_gateway_work(struct work_struct *work)
{
	struct rp_device *rp = container_of(to_delayed_work(work), struct rp_device, gateway_work);
	struct rp_port *port;
	bool any = false;

	if (!rtnl_trylock()) {
		queue_delayed_work(system_wq, &rp->gateway_work, 1);
		return;
	}
	list_for_each_entry(port, &rp->port_list, list) {
		if (!port->gateway.via4 && ipv6_addr_any(&port->gateway.via6))
			continue;
		any = true;
		if (netif_running(rp->dev))
			gateway_refresh(rp, port);
	}
	if (any)
		queue_delayed_work(system_wq, &rp->gateway_work, RP_GATEWAY_PERIOD);
	rtnl_unlock();
}

/**
 * rp_gateway_set() - give a port its gateway
 * @port: the port
 * @via4: 0: none; NULL: as it is
 * @via6: all 0: none; NULL: as it is
 *
 * Context: RTNL.
 */
void rp_gateway_set(struct rp_port *port, const __be32 *via4, const struct in6_addr *via6)
{
	ASSERT_RTNL();
	if (via4 && *via4 != port->gateway.via4) {
		port->gateway.via4 = *via4;
		WRITE_ONCE(port->gateway.mac[RP_GATEWAY_V4], 0);
	}
	if (via6 && !ipv6_addr_equal(via6, &port->gateway.via6)) {
		port->gateway.via6 = *via6;
		WRITE_ONCE(port->gateway.mac[RP_GATEWAY_V6], 0);
	}
	mod_delayed_work(system_wq, &port->rp->gateway_work, 0);
}
