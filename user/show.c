// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "policy/apply.h"
#include "policy/load.h"

/**
 * rp_policy_show() - rocepath show [effective]
 * @cli: this run
 * @args: the command line
 */
int rp_policy_show(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_spec *spec;

	if (rp_cli_text_only(cli))
		return RP_EXIT_USAGE;
	spec = rp_in_force();
	if (!spec)
		return RP_EXIT_FAILURE;
	if (rp_args_get(args, "effective"))
		rp_spec_fill(spec);
	rp_spec_print(spec, stdout);
	rp_spec_release(spec);
	return RP_EXIT_OK;
}

/* each statement that goes or comes */
static void print_diff(const struct rp_format *format, const struct rp_spec *before,
		       const struct rp_spec *after)
{
	struct rp_json json = { .out = stdout, .pretty = format->pretty };
	char *text = NULL, *line, *next;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (out)
		rp_spec_diff(before, after, out);
	if (!out || fclose(out)) {
		rp_complain("out of memory");
		exit(RP_EXIT_FAILURE);
	}
	rp_json_open(&json, NULL, '[');
	for (line = text; (next = strchr(line, '\n')); line = next + 1) {
		*next = '\0';
		rp_json_open(&json, NULL, '{');
		rp_json_string(&json, "change", *line == '-' ? "goes" : "comes");
		rp_json_string(&json, "statement", line + 2);
		rp_json_close(&json, '}');
	}
	rp_json_close(&json, ']');
	free(text);
}

/**
 * rp_policy_diff() - rocepath diff [FILE]
 * @cli: this run
 * @args: the command line
 */
int rp_policy_diff(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_spec *spec = rp_spec_load(args->subject), *before;

	if (!spec)
		return RP_EXIT_FAILURE;
	if (rp_in_force_if_any(&before)) {
		rp_spec_release(spec);
		return RP_EXIT_FAILURE;
	}
	rp_spec_fill(spec);
	if (before)
		rp_spec_fill(before);
	if (cli->format.json)
		print_diff(&cli->format, before, spec);
	else
		rp_spec_diff(before, spec, stdout);
	rp_spec_release(before);
	rp_spec_release(spec);
	return RP_EXIT_OK;
}
