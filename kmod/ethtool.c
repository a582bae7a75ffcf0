// SPDX-License-Identifier: GPL-2.0
/* ethtool: the counters of the device and of each port, link speed as the sum of the ports. */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/utsname.h>

#include "device.h"
#include "port.h"

static void rp_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "rocepath", sizeof(info->driver));
	strscpy(info->version, RP_VERSION, sizeof(info->version));
}

static int rp_get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *cmd)
{
	struct rp_device *rp = netdev_priv(dev);
	struct ethtool_link_ksettings port_cmd;
	struct rp_port *port;
	u32 speed = 0;

	ASSERT_RTNL();
	cmd->base.duplex = DUPLEX_UNKNOWN;
	cmd->base.port = PORT_OTHER;
	list_for_each_entry(port, &rp->port_list, list) {
		if (!rp_port_has_carrier(port) ||
		    __ethtool_get_link_ksettings(port->dev, &port_cmd))
			continue;
		if (port_cmd.base.speed != SPEED_UNKNOWN)
			speed += port_cmd.base.speed;
		if (cmd->base.duplex == DUPLEX_UNKNOWN)
			cmd->base.duplex = port_cmd.base.duplex;
	}
	cmd->base.speed = speed ? speed : SPEED_UNKNOWN;
	return 0;
}

static unsigned int port_count(const struct rp_device *rp)
{
	const struct rp_port *port;
	unsigned int n = 0;

	list_for_each_entry(port, &rp->port_list, list)
		n++;
	return n;
}

static int rp_get_sset_count(struct net_device *dev, int sset)
{
	if (sset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return RP_COUNTS + port_count(netdev_priv(dev)) * RP_PORT_COUNTS;
}

static void rp_get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	struct rp_device *rp = netdev_priv(dev);
	struct rp_port *port;
	int i;

	if (sset != ETH_SS_STATS)
		return;
	for (i = 0; i < RP_COUNTS; i++)
		ethtool_sprintf(&data, "%s", rp_count_name[i]);
	list_for_each_entry(port, &rp->port_list, list)
		for (i = 0; i < RP_PORT_COUNTS; i++)
			ethtool_sprintf(&data, "%s_%s", port->dev->name, rp_port_count_name[i]);
}

static void rp_get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct rp_device *rp = netdev_priv(dev);
	struct rp_port *port;

	rp_stats_read(rp->stats, data);
	data += RP_COUNTS;
	list_for_each_entry(port, &rp->port_list, list) {
		rp_port_stats_read(port->stats, data);
		data += RP_PORT_COUNTS;
	}
}

const struct ethtool_ops rp_ethtool_ops = {
	.get_drvinfo		= rp_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= rp_get_link_ksettings,
	.get_sset_count		= rp_get_sset_count,
	.get_strings		= rp_get_strings,
	.get_ethtool_stats	= rp_get_ethtool_stats,
};
