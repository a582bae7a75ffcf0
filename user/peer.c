// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

/**
 * rp_peer_show() - rocepath peer show [dev DEV]
 * @cli: this run
 * @args: the command line
 */
int rp_peer_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_listing listing = {
		ROCEPATH_CMD_PEER_GET, &rp_peer_attrs, ROCEPATH_A_PEER_DEVICE,
		"no peer yet: nothing was sent to a RoCE address, and no hello came",
	};

	return rp_cli_list(cli, args, &listing);
}
