// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "commands.h"
#include "path.h"
#include "units.h"

/**
 * rp_path_show() - rocepath path show [dev DEV] [peer ADDRESS]
 * @cli: this run
 * @args: the command line
 */
int rp_path_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_listing all = {
		ROCEPATH_CMD_PATH_GET, &rp_path_attrs, ROCEPATH_A_PATH_DEVICE,
		"there is no path; add a port: ip link set eth0 master rp0",
	};
	static const struct rp_listing of_peer = {
		ROCEPATH_CMD_PATH_GET, &rp_path_attrs, ROCEPATH_A_PATH_DEVICE,
		"no paths of that peer are known: it does not report; see: rocepath peer show",
	};

	return rp_cli_list(cli, args, rp_args_get(args, "peer") ? &of_peer : &all);
}

/**
 * rp_path_request() - choose the entropy values of a port towards a peer
 * @nl: where the request is begun
 * @device: ifindex
 * @peer: 16 bytes
 * @port: ifindex
 * @evs: to be used, in that order
 * @count: of them, 0: the usual ones
 */
void rp_path_request(struct rp_nl *nl, uint32_t device, const uint8_t *peer, uint32_t port,
		     const uint8_t *evs, unsigned int count)
{
	struct nlmsghdr *nlh = rp_nl_request(nl, ROCEPATH_CMD_PATH_SET);

	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_DEVICE, device);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_PORT, port);
	mnl_attr_put(nlh, ROCEPATH_A_PATH_PEER, RP_ADDRESS_LEN, peer);
	mnl_attr_put(nlh, ROCEPATH_A_PATH_EVS, count, evs);
}

/**
 * rp_path_set() - rocepath path set dev DEV peer ADDRESS port PORT evs LIST|default
 * @cli: this run
 * @args: the command line
 */
int rp_path_set(struct rp_cli *cli, const struct rp_args *args)
{
	const struct rp_value *list = rp_args_get(args, "evs");
	uint8_t peer[RP_ADDRESS_LEN], evs[RP_EVS_MAX];
	uint32_t device, port;
	int count = 0;

	if (rp_cli_connect(cli) ||
	    rp_cli_ifindex(rp_args_text(args, "dev"), RP_ARG_DEVICE, &device) ||
	    rp_cli_ifindex(rp_args_text(args, "port"), RP_ARG_PORT, &port))
		return RP_EXIT_FAILURE;
	rp_address_parse(rp_args_text(args, "peer"), peer, NULL);
	if (strcmp(list->text, list->keyword->zero))
		count = rp_evs_parse(list->text, evs, NULL);
	rp_path_request(cli->nl, device, peer, port, evs, count);
	return rp_cli_change(cli, args, rp_args_text(args, "dev"));
}
