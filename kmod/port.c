// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: lower netdevices come, go, fail and return.
 *
 * Everything here is configuration, under RTNL. What packets need is put into
 * a struct rp_ports and published with RCU; a packet that still holds the old
 * one asks the driver for its carrier before it uses a port, so that a dead
 * port carries nothing from the next packet on, before any notifier ran.
 */
#include "port.h"

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/slab.h>
#include <net/rtnetlink.h>
#include <net/sch_generic.h>

#include "compat/netdev.h"
#include "control.h"
#include "device.h"
#include "flow.h"
#include "netlink.h"
#include "path.h"
#include "qp.h"
#include "repair.h"
#include "rx.h"

/**
 * rp_port_get_rtnl() - the port that a netdevice is
 * @dev: any
 *
 * Context: RTNL.
 * Return: the port, NULL if it is none of ours.
 */
struct rp_port *rp_port_get_rtnl(const struct net_device *dev)
{
	ASSERT_RTNL();
	if (rtnl_dereference(dev->rx_handler) != rp_rx_handler)
		return NULL;
	return rtnl_dereference(dev->rx_handler_data);
}

/**
 * rp_port_get_rcu() - the port that a netdevice is, for its receive handler
 * @dev: one with our handler
 *
 * Context: RCU.
 */
struct rp_port *rp_port_get_rcu(const struct net_device *dev)
{
	return rcu_dereference(dev->rx_handler_data);
}

/**
 * rp_port_reason() - why a port is in its state
 * @port: the port
 *
 * Context: RTNL.
 * Return: a constant string.
 */
const char *rp_port_reason(const struct rp_port *port)
{
	if (!netif_running(port->dev))
		return "admin down";
	if (!netif_carrier_ok(port->dev))
		return "no carrier";
	if (port->holddown.state == ROCEPATH_PORT_HOLDDOWN)
		return "held down after a flap";
	return "carrier";
}

/* with no port up, one that is held down is better than none */
static bool ports_any_up(const struct rp_device *rp)
{
	const struct rp_port *port;

	list_for_each_entry(port, &rp->port_list, list)
		if (port->holddown.state == ROCEPATH_PORT_UP)
			return true;
	return false;
}

/**
 * rp_ports_update() - publish what packets need to know of the ports
 * @rp: the device
 *
 * Context: RTNL.
 * Return: 0 or -ENOMEM, with the old ones still in place: packets go on to
 * check the carrier, so that nothing is sent into a dead port even then.
 */
int rp_ports_update(struct rp_device *rp)
{
	struct rp_ports *ports, *old;
	struct rp_paths_port *desc;
	struct rp_port *port;
	bool any_up;

	ASSERT_RTNL();
	ports = kzalloc(sizeof(*ports), GFP_KERNEL);
	if (!ports)
		return -ENOMEM;
	desc = ports->desc;
	any_up = ports_any_up(rp);
	list_for_each_entry(port, &rp->port_list, list) {
		ports->port[port->index] = port;
		desc[port->index].weight = port->weight;
		desc[port->index].evs = rp->evs;
		desc[port->index].up = port->holddown.state == ROCEPATH_PORT_UP ||
				       (!any_up && port->holddown.state == ROCEPATH_PORT_HOLDDOWN);
	}
	rp_paths_build(&ports->paths, desc);
	old = rtnl_dereference(rp->ports);
	rcu_assign_pointer(rp->ports, ports);
	rp_path_sync_all(rp);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

/**
 * rp_port_set_weight() - change a port's share
 * @port: the port
 * @weight: 1 to ROCEPATH_WEIGHT_MAX
 *
 * Context: RTNL; rp_ports_update() makes it count.
 */
void rp_port_set_weight(struct rp_port *port, u16 weight)
{
	ASSERT_RTNL();
	port->weight = weight;
}

static u64 port_dev_sent(const struct rp_port *port)
{
	struct rtnl_link_stats64 s;

	dev_get_stats(port->dev, &s);
	return s.tx_packets;
}

static u64 port_handed(const struct rp_port *port)
{
	u64 v[RP_PORT_COUNTS];

	rp_port_stats_read(port->stats, v);
	return v[RP_PORT_TX_PACKETS];
}

/* all that was handed over so far is accounted for: start anew from here */
static void port_sent_rebase(struct rp_port *port)
{
	port->sent_base = port_dev_sent(port) - port_handed(port);
}

/*
 * A port that goes down throws its queue away, in dev_deactivate(), which
 * counts nowhere. What was handed to it and never sent was in there. (Others
 * who send on the port by themselves make it less, never more.)
 */
static void port_count_lost(struct rp_port *port)
{
	s64 lost = port_handed(port) + port->sent_base - port_dev_sent(port);

	if (lost > 0) {
		local_bh_disable();
		rp_stats_add(port->stats, RP_PORT_TX_LOST, lost);
		local_bh_enable();
	}
	port_sent_rebase(port);
}

static void port_schedule_holddown(struct rp_device *rp, const struct rp_port *port)
{
	u64 now = ktime_get_ns();
	u64 left = port->holddown.until_ns > now ? port->holddown.until_ns - now : 0;

	/* the work asks each port anew: the earliest wins, the rest follow from there */
	if (!delayed_work_pending(&rp->holddown_work))
		queue_delayed_work(system_wq, &rp->holddown_work, nsecs_to_jiffies(left) + 1);
	else
		mod_delayed_work(system_wq, &rp->holddown_work, 0);
}

static void port_publish(struct rp_port *port)
{
	struct rp_device *rp = port->rp;

	if (rp_ports_update(rp))
		netdev_err(rp->dev, "no memory to publish the state of port %s\n", port->dev->name);
}

static void port_changed(struct rp_port *port, enum rocepath_event event)
{
	struct rp_device *rp = port->rp;

	rp_device_update_carrier(rp);
	rp_event_port(port, event, rp_port_reason(port));
	netdev_info(rp->dev, "port %s: %s (%s)\n", port->dev->name,
		    event == ROCEPATH_EVENT_PORT_UP	  ? "up" :
		    event == ROCEPATH_EVENT_PORT_HOLDDOWN ? "held down" :
							    "down",
		    rp_port_reason(port));
}

static int port_hurry_qp(struct rp_qp *qp, void *arg)
{
	if (rcu_access_pointer(qp->rp) == arg) {
		rp_flow_hurry(&qp->rx[RP_REQUESTS]);
		rp_flow_hurry(&qp->rx[RP_RESPONSES]);
	}
	return 0;
}

/* what was on its way over a port that failed will not come: flows need not wait for it */
static void port_hurry_flows(struct rp_device *rp)
{
	unsigned long cursor = 0;

	WRITE_ONCE(rp->port_failed_ns, ktime_get_ns());
	rp_qp_for_each(port_hurry_qp, rp, &cursor);
}

/* bring the port's state in line with what its netdevice says now */
static void port_check(struct rp_port *port)
{
	struct rp_device *rp = port->rp;
	u64 now = ktime_get_ns();

	if (!rp_port_has_carrier(port)) {
		if (rp_holddown_down(&port->holddown, now)) {
			port_publish(port);
			port_hurry_flows(rp);
			rp_repair_port_failed(rp, port->index);
			/* who saw the carrier just before may still be filling the queue */
			synchronize_net();
			rp_repair_port_failed(rp, port->index);
			port_count_lost(port);
			port_changed(port, ROCEPATH_EVENT_PORT_DOWN);
		}
		return;
	}
	if (!rp_holddown_up(&port->holddown, rp->holddown_ms, rp->holddown_max_ms, now))
		return;
	port_publish(port);
	if (port->holddown.state == ROCEPATH_PORT_HOLDDOWN) {
		port_changed(port, ROCEPATH_EVENT_PORT_HOLDDOWN);
		port_schedule_holddown(rp, port);
	} else {
		port_changed(port, ROCEPATH_EVENT_PORT_UP);
	}
}

/**
 * rp_port_holddown_work() - end the hold-downs whose time has come, see which ports failed
 * @work: of a device
 *
 * Context: workqueue; takes RTNL, but never waits for it: who deletes the
 * device holds it and waits for us.
 */
void rp_port_holddown_work(struct work_struct *work)
{
	struct rp_device *rp = container_of(to_delayed_work(work), struct rp_device, holddown_work);
	u64 now, next = U64_MAX;
	struct rp_port *port;

	if (!rtnl_trylock()) {
		queue_delayed_work(system_wq, &rp->holddown_work, 1);
		return;
	}
	now = ktime_get_ns();
	list_for_each_entry(port, &rp->port_list, list) {
		port_check(port);
		if (rp_holddown_poll(&port->holddown, now)) {
			port_publish(port);
			port_changed(port, ROCEPATH_EVENT_PORT_UP);
		} else if (port->holddown.state == ROCEPATH_PORT_HOLDDOWN) {
			next = min(next, port->holddown.until_ns);
		}
	}
	if (next != U64_MAX)
		queue_delayed_work(system_wq, &rp->holddown_work, nsecs_to_jiffies(next - now) + 1);
	rtnl_unlock();
}

/**
 * rp_port_look() - a packet found a port without carrier: look at the ports soon
 * @rp: the device
 *
 * Context: any but hard irq.
 */
void rp_port_look(struct rp_device *rp)
{
	if (READ_ONCE(rp->dev->reg_state) == NETREG_REGISTERED)
		mod_delayed_work(system_highpri_wq, &rp->holddown_work, 0);
}

static int port_refuse(const struct rp_device *rp, struct net_device *dev,
		       struct netlink_ext_ack *extack)
{
	if (dev == rp->dev) {
		NL_SET_ERR_MSG(extack, "A device cannot be a port of itself");
		return -ELOOP;
	}
	if (dev->flags & IFF_LOOPBACK) {
		NL_SET_ERR_MSG(extack, "Loopback cannot be a port");
		return -EINVAL;
	}
	if (dev->type != ARPHRD_ETHER || dev->addr_len != ETH_ALEN) {
		NL_SET_ERR_MSG(extack, "Only Ethernet devices can be ports");
		return -EINVAL;
	}
	if (!net_eq(dev_net(dev), dev_net(rp->dev))) {
		NL_SET_ERR_MSG(extack, "Port and device must be in the same network namespace");
		return -EXDEV;
	}
	if (netdev_has_upper_dev(dev, rp->dev) || netdev_is_rx_handler_busy(dev) ||
	    netdev_master_upper_dev_get(dev)) {
		NL_SET_ERR_MSG(extack,
			       "Already a port of a device, bridge, bond or macvlan: take it out there");
		return -EBUSY;
	}
	if (netdev_has_upper_dev(rp->dev, dev)) {
		NL_SET_ERR_MSG(extack,
			       "This device is below that one: a device cannot be inside itself");
		return -ELOOP;
	}
	if (dev->features & NETIF_F_VLAN_CHALLENGED && vlan_uses_dev(rp->dev)) {
		NL_SET_ERR_MSG(extack, "The port cannot carry the VLANs that are on the device");
		return -EPERM;
	}
	return 0;
}

static int port_free_index(const struct rp_device *rp)
{
	const struct rp_port *port;
	unsigned long used = 0;

	list_for_each_entry(port, &rp->port_list, list)
		__set_bit(port->index, &used);
	return find_first_zero_bit(&used, ROCEPATH_PORTS_MAX);
}

static int port_set_address(struct net_device *dev, const u8 *address,
			    struct netlink_ext_ack *extack)
{
	if (ether_addr_equal(dev->dev_addr, address))
		return 0;
	return rp_netdev_set_mac_address(dev, address, extack);
}

/*
 * The first port gives the device its MAC address and MTU, unless the user
 * chose them; the device keeps both when that port leaves.
 */
static int port_adopt(struct rp_device *rp, struct net_device *dev)
{
	if (rp->dev->addr_assign_type == NET_ADDR_RANDOM) {
		eth_hw_addr_inherit(rp->dev, dev);
		rp->dev->addr_assign_type = NET_ADDR_STOLEN;
		call_netdevice_notifiers(NETDEV_CHANGEADDR, rp->dev);
	}
	if (list_empty(&rp->port_list) && !rp->mtu_set && rp->dev->mtu != dev->mtu) {
		int err = dev_set_mtu(rp->dev, dev->mtu);

		rp->mtu_set = false;
		return err;
	}
	return 0;
}

/* what the port must take over from the device, and give back on failure */
static int port_conform(struct rp_port *port, struct netlink_ext_ack *extack)
{
	struct rp_device *rp = port->rp;
	struct net_device *dev = port->dev;
	bool was_up = dev->flags & IFF_UP;
	int err;

	/* IPv6 addresses that it made for itself go when it is closed, and do not come again */
	dev_close(dev);
	err = dev_set_mtu(dev, rp->dev->mtu);
	if (err) {
		NL_SET_ERR_MSG(extack, "The port does not take the MTU of the device");
		goto err_close;
	}
	err = port_set_address(dev, rp->dev->dev_addr, extack);
	if (err) {
		if (extack && !extack->_msg)
			NL_SET_ERR_MSG(extack,
				       "The port does not take the MAC address of the device");
		goto err_mtu;
	}
	rp_netdev_no_addrconf(dev, true);
	err = dev_open(dev, extack);
	if (err)
		goto err_address;
	err = vlan_vids_add_by_dev(dev, rp->dev);
	if (err) {
		NL_SET_ERR_MSG(extack, "The port does not take the VLANs that are on the device");
		goto err_open;
	}
	if (!(rp->dev->features & NETIF_F_LRO))
		dev_disable_lro(dev);
	return 0;

err_open:
	dev_close(dev);
err_address:
	rp_netdev_no_addrconf(dev, false);
	if (port_set_address(dev, port->orig_addr, NULL))
		netdev_err(dev, "keeps the MAC address of %s\n", rp->dev->name);
err_mtu:
	if (dev_set_mtu(dev, port->orig_mtu))
		netdev_err(dev, "keeps the MTU of %s\n", rp->dev->name);
err_close:
	if (was_up && dev_open(dev, NULL))
		netdev_err(dev, "stays down\n");
	return err;
}

static void port_restore(struct rp_port *port)
{
	struct net_device *dev = port->dev;

	vlan_vids_del_by_dev(dev, port->rp->dev);
	dev_close(dev);
	rp_netdev_no_addrconf(dev, false);
	if (port_set_address(dev, port->orig_addr, NULL))
		netdev_err(dev, "keeps the MAC address of %s\n", port->rp->dev->name);
	if (dev_set_mtu(dev, port->orig_mtu))
		netdev_err(dev, "keeps the MTU of %s\n", port->rp->dev->name);
}

static void port_address_lists(struct rp_port *port, int on)
{
	struct net_device *upper = port->rp->dev;

	if (upper->flags & IFF_PROMISC)
		dev_set_promiscuity(port->dev, on ? 1 : -1);
	if (upper->flags & IFF_ALLMULTI)
		dev_set_allmulti(port->dev, on ? 1 : -1);
	if (!(upper->flags & IFF_UP))
		return;
	if (on) {
		netif_addr_lock_bh(upper);
		dev_uc_sync_multiple(port->dev, upper);
		dev_mc_sync_multiple(port->dev, upper);
		netif_addr_unlock_bh(upper);
	} else {
		dev_uc_unsync(port->dev, upper);
		dev_mc_unsync(port->dev, upper);
	}
}

static struct rp_port *port_alloc(struct rp_device *rp, struct net_device *dev, int index)
{
	struct rp_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	port->stats = netdev_alloc_pcpu_stats(struct rp_port_stats);
	if (!port->stats) {
		kfree(port);
		return NULL;
	}
	port->rp = rp;
	port->dev = dev;
	port->index = index;
	port->weight = 1;
	port->orig_mtu = dev->mtu;
	ether_addr_copy(port->orig_addr, dev->dev_addr);
	netdev_hold(dev, &port->dev_tracker, GFP_KERNEL);
	return port;
}

static void port_free_rcu(struct rcu_head *head)
{
	struct rp_port *port = container_of(head, struct rp_port, rcu);

	free_percpu(port->stats);
	kfree(port);
}

/**
 * rp_port_add() - make a netdevice a port
 * @rp: the device
 * @dev: the netdevice, up or not
 * @extack: why not
 *
 * Context: RTNL.
 * Return: 0 or a negative errno, with everything as it was before.
 */
int rp_port_add(struct rp_device *rp, struct net_device *dev, struct netlink_ext_ack *extack)
{
	bool was_up = dev->flags & IFF_UP;
	struct rp_port *port;
	int index, err;

	ASSERT_RTNL();
	err = port_refuse(rp, dev, extack);
	if (err)
		return err;
	index = port_free_index(rp);
	if (index >= ROCEPATH_PORTS_MAX) {
		NL_SET_ERR_MSG(extack, "A device has at most 32 ports");
		return -ENOSPC;
	}
	port = port_alloc(rp, dev, index);
	if (!port)
		return -ENOMEM;
	err = port_adopt(rp, dev);
	if (err)
		goto err_free;
	err = port_conform(port, extack);
	if (err)
		goto err_free;
	err = netdev_rx_handler_register(dev, rp_rx_handler, port);
	if (err) {
		NL_SET_ERR_MSG(extack, "The port has another receive handler");
		goto err_conform;
	}
	err = netdev_master_upper_dev_link(dev, rp->dev, NULL, NULL, extack);
	if (err)
		goto err_handler;
	port_address_lists(port, true);

	rp_holddown_init(&port->holddown, rp_port_has_carrier(port), ktime_get_ns());
	port_sent_rebase(port);
	list_add_tail(&port->list, &rp->port_list);
	err = rp_ports_update(rp);
	if (err)
		goto err_list;
	rp_control_ports_changed(rp);
	rp_device_update_features(rp);
	rp_device_update_carrier(rp);
	netdev_info(rp->dev, "port %s added\n", dev->name);
	return 0;

err_list:
	list_del(&port->list);
	port_address_lists(port, false);
	netdev_upper_dev_unlink(dev, rp->dev);
err_handler:
	netdev_rx_handler_unregister(dev);
err_conform:
	port_restore(port);
	if (was_up && dev_open(dev, NULL))
		netdev_err(dev, "stays down\n");
err_free:
	netdev_put(dev, &port->dev_tracker);
	call_rcu(&port->rcu, port_free_rcu);
	return err;
}

/* the port's counters go with it: the device keeps what its own must balance with */
static void port_count_left(const struct rp_port *port)
{
	struct rp_device *rp = port->rp;
	u64 v[RP_PORT_COUNTS];

	rp_port_stats_read(port->stats, v);
	local_bh_disable();
	rp_stats_add(rp->stats, RP_TX_LEFT, v[RP_PORT_TX_PACKETS] + v[RP_PORT_TX_DROPPED]);
	rp_stats_add(rp->stats, RP_RX_LEFT, v[RP_PORT_RX_PACKETS]);
	local_bh_enable();
}

/**
 * rp_port_del() - let a port go
 * @port: of a device
 *
 * First packets stop: the table without the port is published and the receive
 * handler goes, which waits for those under way. Only then the netdevice gets
 * back what it had.
 *
 * Context: RTNL.
 */
void rp_port_del(struct rp_port *port)
{
	struct rp_device *rp = port->rp;
	struct net_device *dev = port->dev;

	ASSERT_RTNL();
	list_del(&port->list);
	if (rp_ports_update(rp)) {
		/* no memory for a table without it: take it out of the one in use */
		struct rp_ports *ports = rtnl_dereference(rp->ports);

		WRITE_ONCE(ports->port[port->index], NULL);
	}
	netdev_rx_handler_unregister(dev);
	synchronize_net();
	rp_repair_port_failed(rp, port->index);
	rp_path_forget_port(rp, port->index);
	rp_control_ports_changed(rp);
	port_count_left(port);
	if (port->holddown.state != ROCEPATH_PORT_DOWN)
		port_hurry_flows(rp);
	port_address_lists(port, false);
	netdev_upper_dev_unlink(dev, rp->dev);
	port_restore(port);
	rp_device_update_features(rp);
	rp_device_update_carrier(rp);
	netdev_info(rp->dev, "port %s removed\n", dev->name);
	if (ether_addr_equal(port->orig_addr, rp->dev->dev_addr) &&
	    rp->dev->reg_state == NETREG_REGISTERED)
		netdev_info(rp->dev, "keeps the MAC address of %s\n", dev->name);
	netdev_put(dev, &port->dev_tracker);
	call_rcu(&port->rcu, port_free_rcu);
}

static int port_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct rp_port *port = rp_port_get_rtnl(dev);

	if (!port)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		port_check(port);
		break;
	case NETDEV_UNREGISTER:
		rp_port_del(port);
		break;
	case NETDEV_FEAT_CHANGE:
		rp_device_update_features(port->rp);
		break;
	case NETDEV_PRECHANGEMTU:
		/* ours come from the device, whose MTU is then not yet the port's */
		if (!port->rp->mtu_pushing)
			return NOTIFY_BAD;
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		return NOTIFY_BAD;
	case NETDEV_RESEND_IGMP:
		call_netdevice_notifiers(event, port->rp->dev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block port_notifier = {
	.notifier_call = port_netdev_event,
};

/**
 * rp_port_init() - listen to what happens to netdevices
 *
 * Return: 0 or a negative errno.
 */
int rp_port_init(void)
{
	return register_netdevice_notifier(&port_notifier);
}

/** rp_port_exit() - stop listening; wait for ports that are still being freed. */
void rp_port_exit(void)
{
	unregister_netdevice_notifier(&port_notifier);
	rcu_barrier();
}
