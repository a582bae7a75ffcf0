// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

/**
 * rp_flow_show() - rocepath flow show [dev DEV]
 * @cli: this run
 * @args: the command line
 */
int rp_flow_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_listing listing = {
		ROCEPATH_CMD_FLOW_GET, &rp_flow_attrs, ROCEPATH_A_FLOW_DEVICE,
		"no queue pair uses a rocepath device",
	};

	return rp_cli_list(cli, args, &listing);
}
