// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

/**
 * rp_port_show() - rocepath port show [PORT] [dev DEV]
 * @cli: this run
 * @args: the command line
 */
int rp_port_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_listing listing = {
		ROCEPATH_CMD_PORT_GET, &rp_port_attrs, ROCEPATH_A_PORT_DEVICE,
		"there is no port; add one: ip link set eth0 master rp0",
	};

	if (args->subject)
		return rp_cli_detail(cli, args, ROCEPATH_CMD_PORT_GET, &rp_port_attrs,
				     ROCEPATH_A_PORT_IFINDEX);
	return rp_cli_list(cli, args, &listing);
}

/**
 * rp_port_set() - rocepath port set PORT weight N
 * @cli: this run
 * @args: the command line
 */
int rp_port_set(struct rp_cli *cli, const struct rp_args *args)
{
	struct nlmsghdr *nlh;
	uint32_t ifindex;

	if (rp_cli_connect(cli) || rp_cli_ifindex(args->subject, RP_ARG_PORT, &ifindex))
		return RP_EXIT_FAILURE;
	nlh = rp_nl_request(cli->nl, ROCEPATH_CMD_PORT_SET);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_IFINDEX, ifindex);
	rp_cli_put(nlh, args);
	return rp_cli_change(cli, args, args->subject);
}
