// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include <libsmartcols/libsmartcols.h>
#include <sys/utsname.h>

#include "commands.h"
#include "files.h"
#include "units.h"

/* the version of a loaded module, or "" */
static void read_module(const char *name, char *text)
{
	char path[RP_FILE_PATH_LEN];

	snprintf(path, sizeof(path), "/sys/module/%s/version", name);
	rp_file_line(path, text, RP_TEXT_LEN);
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

/* what is in the kernel */
struct loaded {
	char module[RP_TEXT_LEN], rdma[RP_TEXT_LEN];
	struct utsname kernel;
};

static void json_version(struct rp_json *json, const char *key, const char *version)
{
	if (*version)
		rp_json_string(json, key, version);
	else
		rp_json_null(json, key);
}

static int version_json(struct rp_cli *cli, const struct rp_error *error,
			const struct loaded *loaded)
{
	struct rp_json json = { stdout, cli->format.pretty, true, 0 };
	int err = 0;

	rp_json_open(&json, NULL, '{');
	rp_json_string(&json, "tool", RP_VERSION);
	rp_json_number(&json, "family_version", ROCEPATH_FAMILY_VERSION);
	rp_json_string(&json, "libmnl", RP_LIBMNL_VERSION);
	rp_json_string(&json, "libsmartcols", LIBSMARTCOLS_VERSION);
	rp_json_string(&json, "kernel", loaded->kernel.release);
	json_version(&json, "module", loaded->module);
	json_version(&json, "rdma_module", loaded->rdma);
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

static int version_text(struct rp_cli *cli, const struct rp_error *error,
			const struct loaded *loaded)
{
	const char *module = loaded->module;

	printf("%-14s %s, family version %d, libmnl %s, libsmartcols %s\n", "tool", RP_VERSION,
	       ROCEPATH_FAMILY_VERSION, RP_LIBMNL_VERSION, LIBSMARTCOLS_VERSION);
	printf("%-14s %s\n", "kernel", loaded->kernel.release);
	if (*loaded->rdma)
		printf("%-14s %s\n", "RDMA module", loaded->rdma);
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
	struct loaded loaded;
	struct rp_error error = { "" };
	int err;

	cli->nl = rp_nl_new(&error);
	read_module("rocepath", loaded.module);
	read_module("rocepath_rdma", loaded.rdma);
	uname(&loaded.kernel);
	err = cli->format.json ? version_json(cli, &error, &loaded) :
				 version_text(cli, &error, &loaded);
	return err ? rp_nl_explain(cli->nl, err, args, NULL) : RP_EXIT_OK;
}
