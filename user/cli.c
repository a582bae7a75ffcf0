// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <unistd.h>

#include <net/if.h>

#include "cli.h"
#include "units.h"

/**
 * rp_cli_text_only() - refuse -j where what is printed is a policy, or a question
 * @cli: this run
 *
 * Return: 0, or -1 after it has complained.
 */
int rp_cli_text_only(const struct rp_cli *cli)
{
	if (!cli->format.json)
		return 0;
	rp_complain("this prints no JSON: leave -j out (check, diff, status and what is shown of objects have it)");
	return -1;
}

/** rp_cli_has_module() - is the module loaded? A policy needs none. */
bool rp_cli_has_module(void)
{
	return !access("/sys/module/rocepath", F_OK);
}

/**
 * rp_cli_connect() - find the kernel's side, or complain
 * @cli: this run
 *
 * Return: an exit code.
 */
int rp_cli_connect(struct rp_cli *cli)
{
	struct rp_error error;

	if (cli->nl)
		return RP_EXIT_OK;
	cli->nl = rp_nl_new(&error);
	if (cli->nl)
		return RP_EXIT_OK;
	rp_complain("%s", error.text);
	return RP_EXIT_FAILURE;
}

/**
 * rp_cli_ifindex() - find a netdevice by its name, or complain
 * @name: its name
 * @what: whether it should be a device or a port, for the message
 * @ifindex: where its index goes
 *
 * Return: an exit code.
 */
int rp_cli_ifindex(const char *name, enum rp_arg_type what, uint32_t *ifindex)
{
	*ifindex = if_nametoindex(name);
	if (*ifindex)
		return RP_EXIT_OK;
	if (what == RP_ARG_DEVICE)
		rp_complain("there is no device %s; make it: ip link add %s type rocepath", name,
			    name);
	else
		rp_complain("there is no netdevice %s; see the ports: rocepath port show", name);
	return RP_EXIT_FAILURE;
}

/**
 * rp_cli_device() - find a rocepath device by its name, or complain
 * @cli: this run, connected
 * @name: its name
 * @ifindex: where its index goes
 *
 * A dump that is narrowed to something else would just be empty.
 *
 * Return: an exit code.
 */
int rp_cli_device(struct rp_cli *cli, const char *name, uint32_t *ifindex)
{
	struct nlmsghdr *nlh;
	int err;

	if (rp_cli_ifindex(name, RP_ARG_DEVICE, ifindex))
		return RP_EXIT_FAILURE;
	nlh = rp_nl_request(cli->nl, ROCEPATH_CMD_DEVICE_GET);
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_IFINDEX, *ifindex);
	err = rp_nl_do(cli->nl, NULL, NULL);
	return err ? rp_nl_explain(cli->nl, err, NULL, name) : RP_EXIT_OK;
}

struct list {
	struct rp_table table;
	uint16_t peer_attr;
	const uint8_t *peer;	/* rows of others are left out; NULL: none are */
};

static bool is_wanted(const struct list *list, const struct rp_attrs *attrs)
{
	const struct nlattr *peer = attrs->at[list->peer_attr];

	return !list->peer ||
	       (peer && !memcmp(mnl_attr_get_payload(peer), list->peer, RP_ADDRESS_LEN));
}

static int add_row(const struct nlmsghdr *nlh, void *data)
{
	struct list *list = data;
	struct rp_attrs attrs;
	int err = rp_attrs_message(list->table.set, nlh, &attrs);

	if (!err && is_wanted(list, &attrs))
		rp_table_row(&list->table, &attrs);
	return err;
}

/**
 * rp_cli_list() - print all objects of a kind, or those of one device or peer
 * @cli: this run
 * @args: the command line
 * @listing: what to ask for and how to print it
 *
 * Return: an exit code.
 */
int rp_cli_list(struct rp_cli *cli, const struct rp_args *args, const struct rp_listing *listing)
{
	const char *device = rp_args_text(args, "dev");
	const struct rp_value *peer = rp_args_get(args, "peer");
	struct list list = { 0 };
	uint8_t address[RP_ADDRESS_LEN];
	struct nlmsghdr *nlh;
	uint32_t ifindex;
	int err;

	if (rp_cli_connect(cli) || (device && rp_cli_device(cli, device, &ifindex)))
		return RP_EXIT_FAILURE;
	nlh = rp_nl_request(cli->nl, listing->cmd);
	if (device)
		mnl_attr_put_u32(nlh, listing->device_attr, ifindex);
	if (peer && !rp_address_parse(peer->text, address, NULL)) {
		list.peer = address;
		list.peer_attr = peer->keyword->attr;
		mnl_attr_put(nlh, list.peer_attr, sizeof(address), address);
	}
	rp_table_begin(&list.table, &cli->format, listing->set);
	err = rp_nl_dump(cli->nl, add_row, &list);
	if (err) {
		rp_table_cancel(&list.table);
		return rp_nl_explain(cli->nl, err, args, device);
	}
	rp_table_end(&list.table, listing->none);
	return RP_EXIT_OK;
}

struct detail {
	const struct rp_format *format;
	const struct rp_set *set;
};

static int print_detail(const struct nlmsghdr *nlh, void *data)
{
	const struct detail *detail = data;
	struct rp_attrs attrs;
	int err = rp_attrs_message(detail->set, nlh, &attrs);

	if (!err)
		rp_table_detail(detail->format, detail->set, &attrs);
	return err;
}

/**
 * rp_cli_detail() - print all that is known of the subject
 * @cli: this run
 * @args: the command line
 * @cmd: asks for it
 * @set: what is known
 * @ifindex_attr: names it
 *
 * Return: an exit code.
 */
int rp_cli_detail(struct rp_cli *cli, const struct rp_args *args, enum rocepath_cmd cmd,
		  const struct rp_set *set, uint16_t ifindex_attr)
{
	struct detail detail = { &cli->format, set };
	struct nlmsghdr *nlh;
	uint32_t ifindex;
	int err;

	if (rp_cli_connect(cli) || rp_cli_ifindex(args->subject, args->verb->subject, &ifindex))
		return RP_EXIT_FAILURE;
	nlh = rp_nl_request(cli->nl, cmd);
	mnl_attr_put_u32(nlh, ifindex_attr, ifindex);
	err = rp_nl_do(cli->nl, print_detail, &detail);
	return err ? rp_nl_explain(cli->nl, err, args, args->subject) : RP_EXIT_OK;
}

/**
 * rp_cli_put() - add what the keywords say to a request
 * @nlh: the request
 * @args: the command line; names become strings, numbers 32 bits, addresses are left to the caller
 */
void rp_cli_put(struct nlmsghdr *nlh, const struct rp_args *args)
{
	for (unsigned int i = 0; i < args->count; i++) {
		const struct rp_value *value = &args->values[i];

		if (value->keyword->type == RP_ARG_NAME)
			mnl_attr_put_strz(nlh, value->keyword->attr, value->text);
		else if (!rp_arg_is_address(value->keyword->type))
			mnl_attr_put_u32(nlh, value->keyword->attr, value->number);
	}
}

/**
 * rp_cli_change() - send the request that was built, and complain when it is refused
 * @cli: this run
 * @args: the command line
 * @subject: what is changed
 *
 * Return: an exit code.
 */
int rp_cli_change(struct rp_cli *cli, const struct rp_args *args, const char *subject)
{
	int err = rp_nl_do(cli->nl, NULL, NULL);

	return err ? rp_nl_explain(cli->nl, err, args, subject) : RP_EXIT_OK;
}
