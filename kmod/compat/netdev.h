/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where kernels differ in what a stacked netdevice says of itself. Macros are
 * probed here, struct members in Kbuild (RP_HAVE_*).
 */
#ifndef ROCEPATH_COMPAT_NETDEV_H
#define ROCEPATH_COMPAT_NETDEV_H

#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#ifdef RP_HAVE_NETDEV_LOCK	/* where netdev_lockdep_set_classes() moved */
#include <net/netdev_lock.h>
#endif

/* its transmit path needs no lock of the core's; a feature bit before 6.12 */
static inline void rp_netdev_set_lltx(struct net_device *dev)
{
#ifdef NETIF_F_LLTX
	dev->features |= NETIF_F_LLTX;
#else
	dev->lltx = true;
#endif
}

/* it stays in its network namespace; a feature bit before 6.12, renamed later */
static inline void rp_netdev_set_netns_immutable(struct net_device *dev)
{
#if defined(NETIF_F_NETNS_LOCAL)
	dev->features |= NETIF_F_NETNS_LOCAL;
#elif defined(RP_HAVE_NETNS_IMMUTABLE)
	dev->netns_immutable = true;
#else
	dev->netns_local = true;
#endif
}

/* no IPv6 addresses of its own on a port; before, the operator turns them off */
static inline void rp_netdev_no_addrconf(struct net_device *dev, bool on)
{
#ifdef RP_HAVE_NO_ADDRCONF
	if (on)
		dev->priv_flags |= IFF_NO_ADDRCONF;
	else
		dev->priv_flags &= ~IFF_NO_ADDRCONF;
#endif
}

/* dev_set_mac_address() took a sockaddr before */
static inline int rp_netdev_set_mac_address(struct net_device *dev, const void *address,
					    struct netlink_ext_ack *extack)
{
#ifdef RP_HAVE_SOCKADDR_STORAGE
	struct sockaddr_storage to = { .ss_family = dev->type };

	ether_addr_copy(to.__data, address);
#else
	struct sockaddr to = { .sa_family = dev->type };

	ether_addr_copy(to.sa_data, address);
#endif
	return dev_set_mac_address(dev, &to, extack);
}

#endif /* ROCEPATH_COMPAT_NETDEV_H */
