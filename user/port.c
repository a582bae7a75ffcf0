// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "commands.h"
#include "units.h"

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

/* a gateway of the one or the other family; without one, of neither */
static void put_via(struct nlmsghdr *nlh, const struct rp_value *via)
{
	static const uint8_t none[RP_ADDRESS_LEN];
	uint8_t address[RP_ADDRESS_LEN];

	if (!strcmp(via->text, via->keyword->zero)) {
		mnl_attr_put(nlh, ROCEPATH_A_PORT_VIA4, RP_ADDRESS4_LEN, none);
		mnl_attr_put(nlh, ROCEPATH_A_PORT_VIA6, RP_ADDRESS_LEN, none);
		return;
	}
	rp_address_parse(via->text, address, NULL);
	if (rp_address_is_ipv4(address))
		mnl_attr_put(nlh, ROCEPATH_A_PORT_VIA4, RP_ADDRESS4_LEN,
			     address + RP_ADDRESS_LEN - RP_ADDRESS4_LEN);
	else
		mnl_attr_put(nlh, ROCEPATH_A_PORT_VIA6, RP_ADDRESS_LEN, address);
}

/**
 * rp_port_set() - rocepath port set PORT [weight N] [via ADDRESS]
 * @cli: this run
 * @args: the command line
 */
int rp_port_set(struct rp_cli *cli, const struct rp_args *args)
{
	const struct rp_value *via = rp_args_get(args, "via");
	struct nlmsghdr *nlh;
	uint32_t ifindex;

	if (rp_cli_connect(cli) || rp_cli_ifindex(args->subject, RP_ARG_PORT, &ifindex))
		return RP_EXIT_FAILURE;
	nlh = rp_nl_request(cli->nl, ROCEPATH_CMD_PORT_SET);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_IFINDEX, ifindex);
	rp_cli_put(nlh, args);
	if (via)
		put_via(nlh, via);
	return rp_cli_change(cli, args, args->subject);
}
