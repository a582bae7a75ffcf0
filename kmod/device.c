// SPDX-License-Identifier: GPL-2.0
/*
 * The netdevice of kind rocepath: what the stack and the operator see.
 *
 * A packet that leaves goes ndo_start_xmit (tx.c) -> scheduler -> port. One
 * that arrives goes port -> rx_handler (rx.c) -> control, or window of its flow
 * (flow.c) -> stack, as if it had arrived on this device. There is no queue
 * here: queues are the ports'.
 */
#include "device.h"

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/random.h>
#include <net/rtnetlink.h>

#include "compat/netdev.h"
#include "control.h"
#include "flow.h"
#include "peer.h"
#include "port.h"
#include "qp.h"
#include "tx.h"

#define RP_VLAN_FEATURES (NETIF_F_HW_CSUM | NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_GSO_SOFTWARE | \
			  NETIF_F_HIGHDMA | NETIF_F_LRO)
#define RP_ENC_FEATURES (NETIF_F_HW_CSUM | NETIF_F_SG | NETIF_F_RXCSUM | NETIF_F_GSO_SOFTWARE)

/*
 * Defaults. Depth: 300 us of path difference at 400 Gb/s are 3,660 packets of
 * 4096 bytes. Bytes: as much of them for one flow, and for 16 such flows.
 * Gap timeout: what is seen decides; the floor is above what interrupt
 * moderation and a busy CPU add, the ceiling below the least retransmission
 * timer in use (IBTA local ACK timeout 14: 67 ms).
 */
static const struct rp_window_caps default_caps = {
	.packets = 4096,
	.bytes = 16 << 20,
	.gap_fixed_us = 0,
	.gap_floor_us = 1000,
	.gap_ceiling_us = 20000,
};

/*
 * Repair: what is under way for a report interval, a round trip and a queue of
 * 300 us, at 400 Gb/s, and as much again for what is lost.
 */
static const struct rp_repair_caps default_repair_caps = {
	.packets = 32768,
	.bytes = 128 << 20,
};

#define RP_DEFAULT_REORDER_BYTES (256 << 20)
#define RP_DEFAULT_REPAIR_BYTES (1024U << 20)
/* a silent path is out of use within 3 intervals: 3 ms */
#define RP_DEFAULT_REPORT_INTERVAL_US 1000
/* a link with one frame in 200 broken is taken out of service in any network */
#define RP_DEFAULT_LOSS_PPM 5000
#define RP_DEFAULT_PROBE_INTERVAL_MS 1000
#define RP_DEFAULT_PROBES_PER_SECOND 10000
#define RP_DEFAULT_EVS 16
/* events of paths a second: more than people read, fewer than fill a listener's socket */
#define RP_PATH_EVENTS 1000
#define RP_DEFAULT_PEERS_MAX 4096
#define RP_DEFAULT_HELLO_INTERVAL_MS 1000
#define RP_DEFAULT_HOLDDOWN_MS 100
#define RP_DEFAULT_HOLDDOWN_MAX_MS 60000

/* what a device without ports could do; each port then takes away or adds */
static netdev_features_t features_base(netdev_features_t features)
{
	return (features & ~NETIF_F_ONE_FOR_ALL) | NETIF_F_ALL_FOR_ALL;
}

/* all CPUs together may be off by a 64th of the cap */
static s32 device_batch(u32 cap)
{
	return clamp(cap / (64 * num_possible_cpus()), 1U, 1U << 20);
}

/**
 * rp_device_batches() - the caps on bytes have changed
 * @rp: the device
 *
 * Context: any.
 */
void rp_device_batches(struct rp_device *rp)
{
	WRITE_ONCE(rp->kept_batch, device_batch(READ_ONCE(rp->repair_bytes)));
	WRITE_ONCE(rp->held_batch, device_batch(READ_ONCE(rp->reorder_bytes)));
}

static int device_ndo_init(struct net_device *dev)
{
	struct rp_device *rp = netdev_priv(dev);
	int err;

	netdev_lockdep_set_classes(dev);
	rp->dev = dev;
	rp->sched = &rp_sched_spray_ops;
	rp->entropy = ROCEPATH_ENTROPY_SPORT;
	rp->caps = default_caps;
	rp->reorder_bytes = RP_DEFAULT_REORDER_BYTES;
	rp->repair_caps = default_repair_caps;
	rp->repair_bytes = RP_DEFAULT_REPAIR_BYTES;
	rp->report_interval_us = RP_DEFAULT_REPORT_INTERVAL_US;
	rp->loss_ppm = RP_DEFAULT_LOSS_PPM;
	rp_device_batches(rp);
	rp->probe_interval_ms = RP_DEFAULT_PROBE_INTERVAL_MS;
	rp->probes_per_second = RP_DEFAULT_PROBES_PER_SECOND;
	rp->evs = RP_DEFAULT_EVS;
	rp->peers_max = RP_DEFAULT_PEERS_MAX;
	rp->hello_interval_ms = RP_DEFAULT_HELLO_INTERVAL_MS;
	rp->holddown_ms = RP_DEFAULT_HOLDDOWN_MS;
	rp->holddown_max_ms = RP_DEFAULT_HOLDDOWN_MAX_MS;
	ratelimit_state_init(&rp->path_events, HZ, RP_PATH_EVENTS);
	/* it counts, and says nothing in the kernel's log */
	ratelimit_set_flags(&rp->path_events, RATELIMIT_MSG_ON_RELEASE);
	rp->instance = get_random_u64() | 1;
	/* it was given one when it was made */
	rp->mtu_set = dev->mtu != ETH_DATA_LEN;
	rp_probe_init(rp);
	spin_lock_init(&rp->hops.lock);
	INIT_LIST_HEAD(&rp->port_list);
	INIT_DELAYED_WORK(&rp->holddown_work, rp_port_holddown_work);
	INIT_DELAYED_WORK(&rp->gateway_work, rp_gateway_work);

	rp->stats = netdev_alloc_pcpu_stats(struct rp_stats);
	if (!rp->stats)
		return -ENOMEM;
	err = percpu_counter_init(&rp->held_bytes, 0, GFP_KERNEL);
	if (err)
		goto err_stats;
	err = percpu_counter_init(&rp->kept_bytes, 0, GFP_KERNEL);
	if (err)
		goto err_held;
	err = rp_peers_init(rp);
	if (err)
		goto err_kept;
	err = rp_ports_update(rp);
	if (err)
		goto err_peers;
	if (is_zero_ether_addr(dev->dev_addr))
		eth_hw_addr_random(dev);
	netif_carrier_off(dev);
	return 0;

err_peers:
	rp_peers_exit(rp);
err_kept:
	percpu_counter_destroy(&rp->kept_bytes);
err_held:
	percpu_counter_destroy(&rp->held_bytes);
err_stats:
	free_percpu(rp->stats);
	return err;
}

/*
 * The end of a device, in this order: no port, so no packet comes or goes and
 * the handlers are done (netdev_rx_handler_unregister() waits); no QP is bound
 * to it, so nothing is held for it and no timer of a flow runs for it; no hello
 * work; no peers. What RCU readers may still see is freed after them.
 */
static void device_ndo_uninit(struct net_device *dev)
{
	struct rp_device *rp = netdev_priv(dev);
	struct rp_port *port, *next;

	list_for_each_entry_safe(port, next, &rp->port_list, list)
		rp_port_del(port);
	cancel_delayed_work_sync(&rp->holddown_work);
	cancel_delayed_work_sync(&rp->gateway_work);
	rp_qp_unbind_device(rp);
	rp_peers_exit(rp);
}

/* after the last reference: no reader is left */
static void device_destructor(struct net_device *dev)
{
	struct rp_device *rp = netdev_priv(dev);

	kfree(rcu_dereference_protected(rp->ports, true));
	kfree_sensitive(rcu_dereference_protected(rp->keyring, true));
	percpu_counter_destroy(&rp->kept_bytes);
	percpu_counter_destroy(&rp->held_bytes);
	free_percpu(rp->stats);
}

static int device_ndo_open(struct net_device *dev)
{
	struct rp_device *rp = netdev_priv(dev);

	queue_delayed_work(system_wq, &rp->hello_work, 0);
	return 0;
}

static int device_ndo_stop(struct net_device *dev)
{
	struct rp_device *rp = netdev_priv(dev);
	struct rp_port *port;

	cancel_delayed_work_sync(&rp->hello_work);
	list_for_each_entry(port, &rp->port_list, list) {
		dev_uc_unsync(port->dev, dev);
		dev_mc_unsync(port->dev, dev);
	}
	return 0;
}

static void device_ndo_change_rx_flags(struct net_device *dev, int change)
{
	struct rp_device *rp = netdev_priv(dev);
	struct rp_port *port;

	ASSERT_RTNL();
	list_for_each_entry(port, &rp->port_list, list) {
		if (change & IFF_PROMISC)
			dev_set_promiscuity(port->dev, dev->flags & IFF_PROMISC ? 1 : -1);
		if (change & IFF_ALLMULTI)
			dev_set_allmulti(port->dev, dev->flags & IFF_ALLMULTI ? 1 : -1);
	}
}

/* under the address lock, not always under RTNL, so the ports by RCU */
static void device_ndo_set_rx_mode(struct net_device *dev)
{
	struct rp_device *rp = netdev_priv(dev);
	struct rp_ports *ports;
	int i;

	rcu_read_lock();
	ports = rcu_dereference(rp->ports);
	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		if (!ports->port[i])
			continue;
		dev_uc_sync_multiple(ports->port[i]->dev, dev);
		dev_mc_sync_multiple(ports->port[i]->dev, dev);
	}
	rcu_read_unlock();
}

static int device_ndo_set_mac_address(struct net_device *dev, void *p)
{
	struct rp_device *rp = netdev_priv(dev);
	struct sockaddr *addr = p;
	struct rp_port *port;
	int err;

	ASSERT_RTNL();
	if (!is_valid_ether_addr(addr->sa_data))
		return -EADDRNOTAVAIL;
	list_for_each_entry(port, &rp->port_list, list) {
		err = rp_netdev_set_mac_address(port->dev, addr->sa_data, NULL);
		if (err)
			goto rollback;
	}
	dev_addr_set(dev, addr->sa_data);
	return 0;

rollback:
	list_for_each_entry_continue_reverse(port, &rp->port_list, list)
		if (rp_netdev_set_mac_address(port->dev, dev->dev_addr, NULL))
			netdev_err(dev, "port %s keeps the new MAC address\n", port->dev->name);
	return err;
}

static int device_ndo_change_mtu(struct net_device *dev, int mtu)
{
	struct rp_device *rp = netdev_priv(dev);
	struct rp_port *port;
	int err;

	ASSERT_RTNL();
	rp->mtu_pushing = true;
	list_for_each_entry(port, &rp->port_list, list) {
		err = dev_set_mtu(port->dev, mtu);
		if (err) {
			netdev_err(dev, "port %s does not take MTU %d\n", port->dev->name, mtu);
			goto rollback;
		}
	}
	rp->mtu_pushing = false;
	WRITE_ONCE(dev->mtu, mtu);
	rp->mtu_set = true;
	return 0;

rollback:
	list_for_each_entry_continue_reverse(port, &rp->port_list, list) {
		if (dev_set_mtu(port->dev, dev->mtu))
			netdev_err(dev, "port %s keeps the new MTU\n", port->dev->name);
	}
	rp->mtu_pushing = false;
	return err;
}

static void device_ndo_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *s)
{
	struct rp_device *rp = netdev_priv(dev);
	u64 v[RP_COUNTS];
	int i;

	rp_stats_read(rp->stats, v);
	s->tx_packets = v[RP_TX_PACKETS];
	s->tx_bytes = v[RP_TX_BYTES];
	s->rx_packets = v[RP_RX_PACKETS];
	s->rx_bytes = v[RP_RX_BYTES];
	s->tx_dropped = v[RP_TX_DROP_NO_PORT] + v[RP_TX_DROP_NOMEM];
	for (i = RP_RX_DROP_DUPLICATE; i <= RP_RX_DROP_DOWN; i++)
		s->rx_dropped += v[i];
}

static int device_ndo_vlan_rx_add_vid(struct net_device *dev, __be16 proto, u16 vid)
{
	struct rp_device *rp = netdev_priv(dev);
	struct rp_port *port;
	int err;

	ASSERT_RTNL();
	list_for_each_entry(port, &rp->port_list, list) {
		err = vlan_vid_add(port->dev, proto, vid);
		if (err)
			goto rollback;
	}
	return 0;

rollback:
	list_for_each_entry_continue_reverse(port, &rp->port_list, list)
		vlan_vid_del(port->dev, proto, vid);
	return err;
}

static int device_ndo_vlan_rx_kill_vid(struct net_device *dev, __be16 proto, u16 vid)
{
	struct rp_device *rp = netdev_priv(dev);
	struct rp_port *port;

	ASSERT_RTNL();
	list_for_each_entry(port, &rp->port_list, list)
		vlan_vid_del(port->dev, proto, vid);
	return 0;
}

static int device_ndo_add_slave(struct net_device *dev, struct net_device *port_dev,
				struct netlink_ext_ack *extack)
{
	ASSERT_RTNL();
	return rp_port_add(netdev_priv(dev), port_dev, extack);
}

static int device_ndo_del_slave(struct net_device *dev, struct net_device *port_dev)
{
	struct rp_port *port = rp_port_get_rtnl(port_dev);

	ASSERT_RTNL();
	if (!port || port->rp != netdev_priv(dev))
		return -EINVAL;
	rp_port_del(port);
	return 0;
}

static netdev_features_t device_ndo_fix_features(struct net_device *dev, netdev_features_t features)
{
	struct rp_device *rp = netdev_priv(dev);
	netdev_features_t mask = features;
	struct rp_port *port;

	ASSERT_RTNL();
	features = features_base(features);
	list_for_each_entry(port, &rp->port_list, list)
		features = netdev_increment_features(features, port->dev->features, mask);
	return netdev_add_tso_features(features, mask);
}

static const struct net_device_ops device_ops = {
	.ndo_init		= device_ndo_init,
	.ndo_uninit		= device_ndo_uninit,
	.ndo_open		= device_ndo_open,
	.ndo_stop		= device_ndo_stop,
	.ndo_start_xmit		= rp_tx,
	.ndo_change_rx_flags	= device_ndo_change_rx_flags,
	.ndo_set_rx_mode	= device_ndo_set_rx_mode,
	.ndo_set_mac_address	= device_ndo_set_mac_address,
	.ndo_change_mtu		= device_ndo_change_mtu,
	.ndo_get_stats64	= device_ndo_get_stats64,
	.ndo_vlan_rx_add_vid	= device_ndo_vlan_rx_add_vid,
	.ndo_vlan_rx_kill_vid	= device_ndo_vlan_rx_kill_vid,
	.ndo_add_slave		= device_ndo_add_slave,
	.ndo_del_slave		= device_ndo_del_slave,
	.ndo_fix_features	= device_ndo_fix_features,
	.ndo_features_check	= passthru_features_check,
};

static void device_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &device_ops;
	dev->ethtool_ops = &rp_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = device_destructor;
	dev->max_mtu = ETH_MAX_MTU;
	dev->priv_flags &= ~(IFF_XMIT_DST_RELEASE | IFF_TX_SKB_SHARING);
	dev->priv_flags |= IFF_NO_QUEUE | IFF_UNICAST_FLT | IFF_LIVE_ADDR_CHANGE;
	dev->hw_features = RP_VLAN_FEATURES | NETIF_F_HW_VLAN_CTAG_RX |
			   NETIF_F_HW_VLAN_CTAG_FILTER | NETIF_F_HW_VLAN_STAG_RX |
			   NETIF_F_HW_VLAN_STAG_FILTER | NETIF_F_GSO_ENCAP_ALL;
	dev->features |= dev->hw_features | NETIF_F_GRO | NETIF_F_HW_VLAN_CTAG_TX |
			 NETIF_F_HW_VLAN_STAG_TX;
	rp_netdev_set_lltx(dev);
	rp_netdev_set_netns_immutable(dev);
}

static int device_validate(struct nlattr *tb[], struct nlattr *data[],
			   struct netlink_ext_ack *extack)
{
	if (!tb[IFLA_ADDRESS])
		return 0;
	if (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS], "A MAC address has 6 bytes");
		return -EINVAL;
	}
	if (!is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS]))) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS], "Not a unicast MAC address");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

static struct rtnl_link_ops device_link_ops __read_mostly = {
	.kind		= "rocepath",
	.priv_size	= sizeof(struct rp_device),
	.setup		= device_setup,
	.validate	= device_validate,
};

/**
 * rp_is_device() - is that netdevice one of ours?
 * @dev: any
 *
 * Context: any.
 */
bool rp_is_device(const struct net_device *dev)
{
	return dev->netdev_ops == &device_ops;
}

/**
 * rp_device_update_features() - follow what the ports can do
 * @rp: the device
 *
 * Context: RTNL.
 */
void rp_device_update_features(struct rp_device *rp)
{
	netdev_features_t vlan = RP_VLAN_FEATURES, enc = RP_ENC_FEATURES;
	unsigned short hard_header_len = ETH_HLEN, headroom = 0, tailroom = 0;
	struct rp_port *port;

	ASSERT_RTNL();
	if (!list_empty(&rp->port_list)) {
		vlan = features_base(vlan);
		enc = features_base(enc);
	}
	list_for_each_entry(port, &rp->port_list, list) {
		const struct net_device *dev = port->dev;

		vlan = netdev_increment_features(vlan, dev->vlan_features, RP_VLAN_FEATURES);
		enc = netdev_increment_features(enc, dev->hw_enc_features, RP_ENC_FEATURES);
		hard_header_len = max(hard_header_len, dev->hard_header_len);
		headroom = max(headroom, dev->needed_headroom);
		tailroom = max(tailroom, dev->needed_tailroom);
	}
	rp->dev->vlan_features = vlan;
	rp->dev->hw_enc_features = enc | NETIF_F_GSO_ENCAP_ALL | NETIF_F_HW_VLAN_CTAG_TX |
				   NETIF_F_HW_VLAN_STAG_TX;
	rp->dev->hard_header_len = hard_header_len;
	rp->dev->needed_headroom = headroom;
	rp->dev->needed_tailroom = tailroom;
	netdev_change_features(rp->dev);
}

/**
 * rp_device_update_carrier() - carrier is: any port has carrier
 * @rp: the device
 *
 * A port that is held down counts: when there is no other it is used.
 *
 * Context: RTNL.
 */
void rp_device_update_carrier(struct rp_device *rp)
{
	struct rp_port *port;

	ASSERT_RTNL();
	list_for_each_entry(port, &rp->port_list, list) {
		if (port->holddown.state != ROCEPATH_PORT_DOWN) {
			netif_carrier_on(rp->dev);
			return;
		}
	}
	netif_carrier_off(rp->dev);
}

/**
 * rp_device_held_bytes() - what all flows of the device hold now
 * @rp: the device
 *
 * Context: any. Exact, hence not for each packet.
 */
u32 rp_device_held_bytes(const struct rp_device *rp)
{
	return (u32)max_t(s64, 0, percpu_counter_sum((struct percpu_counter *)&rp->held_bytes));
}

/**
 * rp_device_kept_bytes() - what all flows of the device keep for repair now
 * @rp: the device
 *
 * Context: any. Exact, hence not for each packet.
 */
u32 rp_device_kept_bytes(const struct rp_device *rp)
{
	return (u32)max_t(s64, 0, percpu_counter_sum((struct percpu_counter *)&rp->kept_bytes));
}

/**
 * rp_device_init() - make the kind known
 *
 * Return: 0 or a negative errno.
 */
int rp_device_init(void)
{
	return rtnl_link_register(&device_link_ops);
}

/** rp_device_exit() - forget the kind and delete all devices of it. */
void rp_device_exit(void)
{
	rtnl_link_unregister(&device_link_ops);
}

MODULE_ALIAS_RTNL_LINK("rocepath");
