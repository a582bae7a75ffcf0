// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

/**
 * rp_path_show() - rocepath path show [dev DEV]
 * @cli: this run
 * @args: the command line
 */
int rp_path_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_listing listing = {
		ROCEPATH_CMD_PATH_GET, &rp_path_attrs, ROCEPATH_A_PATH_DEVICE,
		"there is no path; add a port: ip link set eth0 master rp0",
	};

	return rp_cli_list(cli, args, &listing);
}
