// SPDX-License-Identifier: GPL-2.0
#include "commands.h"
#include "policy/apply.h"
#include "policy/load.h"

/**
 * rp_policy_show() - rocepath show [effective]
 * @cli: this run
 * @args: the command line
 */
int rp_policy_show(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_spec *spec = rp_in_force();

	(void)cli;
	if (!spec)
		return RP_EXIT_FAILURE;
	if (rp_args_get(args, "effective"))
		rp_spec_fill(spec);
	rp_spec_print(spec, stdout);
	rp_spec_release(spec);
	return RP_EXIT_OK;
}

/**
 * rp_policy_diff() - rocepath diff [FILE]
 * @cli: this run
 * @args: the command line
 */
int rp_policy_diff(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_spec *spec = rp_spec_load(args->subject), *before;

	(void)cli;
	if (!spec)
		return RP_EXIT_FAILURE;
	if (rp_in_force_if_any(&before)) {
		rp_spec_release(spec);
		return RP_EXIT_FAILURE;
	}
	rp_spec_fill(spec);
	if (before)
		rp_spec_fill(before);
	rp_spec_diff(before, spec, stdout);
	rp_spec_release(before);
	rp_spec_release(spec);
	return RP_EXIT_OK;
}
