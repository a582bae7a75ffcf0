// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

/**
 * rp_class_show() - rocepath class show [dev DEV]
 * @cli: this run
 * @args: the command line
 *
 * Those of the policy, if there is one; of a device, those that it schedules differently.
 */
int rp_class_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_listing listing = {
		ROCEPATH_CMD_CLASS_GET, &rp_class_attrs, ROCEPATH_A_CLASS_DEVICE,
		"no class has a scheduler of its own; give it one: rocepath class set dev DEV id N scheduler NAME",
	};

	if (rp_args_text(args, "dev"))
		return rp_cli_list(cli, args, &listing);
	if (rp_policy_is_in_force())
		return rp_policy_classes(cli);
	if (!rp_cli_has_module()) {
		rp_complain("no policy is in force (rocepath apply FILE), and the module is not loaded (modprobe rocepath)");
		return RP_EXIT_FAILURE;
	}
	return rp_cli_list(cli, args, &listing);
}

static int set_scheduler(struct rp_cli *cli, const struct rp_args *args, const char *scheduler)
{
	const char *device = rp_args_text(args, "dev");
	struct nlmsghdr *nlh;
	uint32_t ifindex;

	if (rp_cli_connect(cli) || rp_cli_ifindex(device, RP_ARG_DEVICE, &ifindex))
		return RP_EXIT_FAILURE;
	nlh = rp_nl_request(cli->nl, ROCEPATH_CMD_CLASS_SET);
	mnl_attr_put_u32(nlh, ROCEPATH_A_CLASS_DEVICE, ifindex);
	mnl_attr_put_u32(nlh, ROCEPATH_A_CLASS_ID, rp_args_get(args, "id")->number);
	mnl_attr_put_strz(nlh, ROCEPATH_A_CLASS_SCHEDULER, scheduler);
	return rp_cli_change(cli, args, device);
}

/**
 * rp_class_set() - rocepath class set dev DEV id N scheduler NAME
 * @cli: this run
 * @args: the command line
 */
int rp_class_set(struct rp_cli *cli, const struct rp_args *args)
{
	return set_scheduler(cli, args, rp_args_text(args, "scheduler"));
}

/**
 * rp_class_del() - rocepath class del dev DEV id N
 * @cli: this run
 * @args: the command line
 */
int rp_class_del(struct rp_cli *cli, const struct rp_args *args)
{
	return set_scheduler(cli, args, "");
}
