// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include <libsmartcols/libsmartcols.h>
#include <sys/utsname.h>

#include "commands.h"
#include "units.h"

/* the version of the loaded module, or "" */
static void read_module(char *text)
{
	FILE *file = fopen("/sys/module/rocepath/version", "re");

	*text = '\0';
	if (!file)
		return;
	if (!fgets(text, RP_TEXT_LEN, file))
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

#define SEES "restores order: this kernel shows its queue pairs"
#define BLIND "cannot restore order: this kernel does not show its queue pairs"

struct features {
	struct rp_json *json;	/* NULL: text */
};

static int print_features(const struct nlmsghdr *nlh, void *data)
{
	const struct features *features = data;
	struct rp_attrs attrs;
	const char *name;
	bool reorders;
	int err = rp_attrs_message(&rp_device_attrs, nlh, &attrs);

	if (err)
		return err;
	name = rp_attr_string(&attrs, ROCEPATH_A_DEVICE_NAME);
	reorders = rp_attr_number(&attrs, ROCEPATH_A_DEVICE_REORDERS);
	if (features->json)
		rp_json_bool(features->json, name, reorders);
	else
		printf("%-14s %s\n", name, reorders ? SEES : BLIND);
	return 0;
}

static int ask_features(struct rp_nl *nl, struct rp_json *json)
{
	struct features features = { json };

	rp_nl_request(nl, ROCEPATH_CMD_DEVICE_GET);
	return rp_nl_dump(nl, print_features, &features);
}

static int version_json(struct rp_cli *cli, const struct rp_error *error, const char *module,
			const struct utsname *kernel)
{
	struct rp_json json = { stdout, cli->format.pretty, true, 0 };
	int err = 0;

	rp_json_open(&json, NULL, '{');
	rp_json_string(&json, "tool", RP_VERSION);
	rp_json_number(&json, "family_version", ROCEPATH_FAMILY_VERSION);
	rp_json_string(&json, "libmnl", RP_LIBMNL_VERSION);
	rp_json_string(&json, "libsmartcols", LIBSMARTCOLS_VERSION);
	rp_json_string(&json, "kernel", kernel->release);
	if (*module)
		rp_json_string(&json, "module", module);
	else
		rp_json_null(&json, "module");
	if (cli->nl) {
		rp_json_number(&json, "kernel_family_version", rp_nl_version(cli->nl));
		rp_json_open(&json, "reorders", '{');
		err = ask_features(cli->nl, &json);
		rp_json_close(&json, '}');
	} else {
		rp_json_null(&json, "kernel_family_version");
		rp_json_string(&json, "problem", error->text);
	}
	rp_json_close(&json, '}');
	return err;
}

static int version_text(struct rp_cli *cli, const struct rp_error *error, const char *module,
			const struct utsname *kernel)
{
	printf("%-14s %s, family version %d, libmnl %s, libsmartcols %s\n", "tool", RP_VERSION,
	       ROCEPATH_FAMILY_VERSION, RP_LIBMNL_VERSION, LIBSMARTCOLS_VERSION);
	printf("%-14s %s\n", "kernel", kernel->release);
	if (!cli->nl) {
		printf("%-14s %s\n", "module", *module ? module : error->text);
		return 0;
	}
	printf("%-14s %s, family version %u\n", "module", *module ? module : "unknown",
	       rp_nl_version(cli->nl));
	return ask_features(cli->nl, NULL);
}

/**
 * rp_version() - rocepath version
 * @cli: this run
 * @args: the command line, of which nothing is left to say
 *
 * A kernel without the module is an answer, not a failure.
 */
int rp_version(struct rp_cli *cli, const struct rp_args *args)
{
	char module[RP_TEXT_LEN];
	struct utsname kernel;
	struct rp_error error = { "" };
	int err;

	cli->nl = rp_nl_new(&error);
	read_module(module);
	uname(&kernel);
	err = cli->format.json ? version_json(cli, &error, module, &kernel) :
				 version_text(cli, &error, module, &kernel);
	return err ? rp_nl_explain(cli->nl, err, args, NULL) : RP_EXIT_OK;
}
