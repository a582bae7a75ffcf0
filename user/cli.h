/* SPDX-License-Identifier: GPL-2.0 */
/* What each command of the tool is given, and what most of them do. */
#ifndef ROCEPATH_USER_CLI_H
#define ROCEPATH_USER_CLI_H

#include <stdbool.h>

#include "args.h"
#include "attrs.h"
#include "netlink.h"
#include "table.h"

/**
 * struct rp_cli - one run of the tool
 * @format: of what is printed
 * @nl: opened by rp_cli_connect(), NULL before
 * @rdma: opened by rp_rdma_connect(), NULL before
 */
struct rp_cli {
	struct rp_format format;
	struct rp_nl *nl;
	struct rp_nl *rdma;
};

/**
 * struct rp_listing - what `show` of an object lists
 * @cmd: asks for it
 * @set: what the messages hold
 * @device_attr: narrows it to a device
 * @none: what to say when there is nothing
 */
struct rp_listing {
	enum rocepath_cmd cmd;
	const struct rp_set *set;
	uint16_t device_attr;
	const char *none;
};

int rp_cli_text_only(const struct rp_cli *cli);
bool rp_cli_has_module(void);
int rp_cli_connect(struct rp_cli *cli);
int rp_cli_ifindex(const char *name, enum rp_arg_type what, uint32_t *ifindex);
int rp_cli_device(struct rp_cli *cli, const char *name, uint32_t *ifindex);
int rp_cli_list(struct rp_cli *cli, const struct rp_args *args, const struct rp_listing *listing);
int rp_cli_detail(struct rp_cli *cli, const struct rp_args *args, enum rocepath_cmd cmd,
		  const struct rp_set *set, uint16_t ifindex_attr);
int rp_cli_change(struct rp_cli *cli, const struct rp_args *args, const char *subject);
void rp_cli_put(struct nlmsghdr *nlh, const struct rp_args *args);

#endif /* ROCEPATH_USER_CLI_H */
