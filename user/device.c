// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#define MAKE_ONE "there is no rocepath device; make one: ip link add rp0 type rocepath"

/**
 * rp_device_show() - rocepath device show [DEV]
 * @cli: this run
 * @args: the command line
 */
int rp_device_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_listing listing = {
		ROCEPATH_CMD_DEVICE_GET, &rp_device_attrs, ROCEPATH_A_DEVICE_IFINDEX, MAKE_ONE,
	};

	if (args->subject)
		return rp_cli_detail(cli, args, ROCEPATH_CMD_DEVICE_GET, &rp_device_attrs,
				     ROCEPATH_A_DEVICE_IFINDEX);
	return rp_cli_list(cli, args, &listing);
}

/**
 * rp_device_set() - rocepath device set DEV KEYWORD VALUE...
 * @cli: this run
 * @args: the command line
 */
int rp_device_set(struct rp_cli *cli, const struct rp_args *args)
{
	struct nlmsghdr *nlh;
	uint32_t ifindex;

	if (rp_cli_connect(cli) || rp_cli_ifindex(args->subject, RP_ARG_DEVICE, &ifindex))
		return RP_EXIT_FAILURE;
	nlh = rp_nl_request(cli->nl, ROCEPATH_CMD_DEVICE_SET);
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_IFINDEX, ifindex);
	rp_cli_put(nlh, args);
	return rp_cli_change(cli, args, args->subject);
}
