// SPDX-License-Identifier: GPL-2.0
#include "commands.h"
#include "policy/load.h"
#include "policy/rdma.h"

/**
 * rp_check() - rocepath check [FILE] [effective]
 * @cli: this run
 * @args: the command line
 */
int rp_check(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_spec *spec = rp_spec_load(args->subject);

	(void)cli;
	if (!spec)
		return RP_EXIT_FAILURE;
	rp_rdma_say(spec, stderr);
	if (rp_args_get(args, "effective")) {
		rp_spec_fill(spec);
		rp_spec_print(spec, stdout);
	}
	rp_spec_release(spec);
	return RP_EXIT_OK;
}
