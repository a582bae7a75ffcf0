// SPDX-License-Identifier: GPL-2.0
#include "commands.h"
#include "json.h"
#include "policy/attach.h"
#include "policy/load.h"

/* what is wrong, each with its place: nothing, where all is right */
static struct rp_spec *load(const struct rp_cli *cli, const char *path)
{
	struct rp_json json = { .out = stdout, .pretty = cli->format.pretty };
	struct rp_spec *spec;

	if (!cli->format.json)
		return rp_spec_load(path);
	rp_json_open(&json, NULL, '[');
	spec = rp_spec_load_json(path, &json);
	rp_json_close(&json, ']');
	return spec;
}

/* of this host, which may be another one than the policy is for */
static void say_kernel(void)
{
	if (!rp_has_tcx() && !rp_policy_is_in_force())
		rp_complain("note: this kernel has no TCX (Linux 6.6): the first apply may end QPs that run; see KERNELS in rocepath(8)");
}

/**
 * rp_check() - rocepath check [FILE] [effective]
 * @cli: this run
 * @args: the command line
 */
int rp_check(struct rp_cli *cli, const struct rp_args *args)
{
	bool effective = rp_args_get(args, "effective");
	struct rp_spec *spec;

	if (effective && rp_cli_text_only(cli))
		return RP_EXIT_USAGE;
	spec = load(cli, args->subject);
	if (!spec)
		return RP_EXIT_FAILURE;
	say_kernel();
	if (effective) {
		rp_spec_fill(spec);
		rp_spec_print(spec, stdout);
	}
	rp_spec_release(spec);
	return RP_EXIT_OK;
}
