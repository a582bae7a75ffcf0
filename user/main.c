// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "rdma_ports.h"
#include "units.h"

static int print_name(const struct nlmsghdr *nlh, void *data)
{
	const struct rp_set *set = data;
	struct rp_attrs attrs;
	char peer[RP_TEXT_LEN];

	if (rp_attrs_message(set, nlh, &attrs))
		return 0;
	rp_attr_address(&attrs, ROCEPATH_A_PEER_ADDRESS, peer);
	puts(set == &rp_peer_attrs ? peer :
	     rp_attr_string(&attrs, set == &rp_port_attrs ? ROCEPATH_A_PORT_NAME :
							    ROCEPATH_A_DEVICE_NAME));
	return 0;
}

static void print_names(struct rp_nl *nl, enum rocepath_cmd cmd, const struct rp_set *set)
{
	rp_nl_request(nl, cmd);
	rp_nl_dump(nl, print_name, (void *)set);
}

static void print_rdma_names(void)
{
	struct rp_rdma_ports ports = { 0 };

	rp_rdma_ports_read(&ports, NULL);
	for (unsigned int i = 0; i < ports.count; i++)
		if (!i || strcmp(ports.at[i].device, ports.at[i - 1].device))
			puts(ports.at[i].device);
	rp_rdma_ports_drop(&ports);
}

/* the shell asks while somebody types: what cannot be known is left out */
static void print_word(void *data, enum rp_arg_type type, const char *word)
{
	struct rp_cli *cli = data;

	if (type == RP_ARG_NONE)
		puts(word);
	else if (type == RP_ARG_FILE)
		puts("@file");
	else if (type == RP_ARG_RDMA)
		print_rdma_names();
	if (!rp_arg_is_interface(type) && type != RP_ARG_PEER)
		return;
	if (!cli->nl)
		cli->nl = rp_nl_new(NULL);
	if (!cli->nl)
		return;
	if (type == RP_ARG_DEVICE || type == RP_ARG_INTERFACE)
		print_names(cli->nl, ROCEPATH_CMD_DEVICE_GET, &rp_device_attrs);
	if (type == RP_ARG_PORT || type == RP_ARG_INTERFACE)
		print_names(cli->nl, ROCEPATH_CMD_PORT_GET, &rp_port_attrs);
	if (type == RP_ARG_PEER)
		print_names(cli->nl, ROCEPATH_CMD_PEER_GET, &rp_peer_attrs);
}

/**
 * rp_help() - rocepath help [OBJECT]
 * @cli: this run
 * @args: the command line
 */
int rp_help(struct rp_cli *cli, const struct rp_args *args)
{
	const struct rp_object *object;
	struct rp_error error;

	(void)cli;
	if (!args->subject) {
		rp_usage(&rp_grammar, stdout);
		return RP_EXIT_OK;
	}
	object = rp_args_object(&rp_grammar, args->subject, &error);
	if (object) {
		rp_usage_object(object, stdout);
		return RP_EXIT_OK;
	}
	rp_complain("%s", error.text);
	return RP_EXIT_USAGE;
}

static int run(struct rp_cli *cli, int argc, char **argv)
{
	struct rp_error error;
	struct rp_args args;

	if (!argc)
		return rp_overview(cli);
	if (!strcmp(argv[0], "completion-words")) {
		rp_complete(&rp_grammar, argc - 1, argv + 1, print_word, cli);
		return RP_EXIT_OK;
	}
	if (rp_args_parse(&rp_grammar, argc, argv, &args, &error)) {
		rp_complain("%s", error.text);
		return RP_EXIT_USAGE;
	}
	return args.verb->run(cli, &args);
}

/* the format may also be said behind the object; returns how many words are left */
static int take_format(struct rp_cli *cli, int argc, char **argv)
{
	int left = 0;

	for (int i = 0; i < argc; i++) {
		bool pretty = !strcmp(argv[i], "-p") || !strcmp(argv[i], "--pretty") ||
			      !strcmp(argv[i], "-jp") || !strcmp(argv[i], "-pj");

		if (pretty || !strcmp(argv[i], "-j") || !strcmp(argv[i], "--json")) {
			cli->format.json = true;
			cli->format.pretty |= pretty;
		} else {
			argv[left++] = argv[i];
		}
	}
	return left;
}

/* returns an exit code, or -1 to go on */
static int parse_options(struct rp_cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+jphV", options, NULL)) != -1) {
		switch (option) {
		case 'p':
			cli->format.pretty = true;
			/* fallthrough */
		case 'j':
			cli->format.json = true;
			break;
		case 'h':
			rp_usage(&rp_grammar, stdout);
			return RP_EXIT_OK;
		case 'V':
			puts("rocepath " RP_VERSION);
			return RP_EXIT_OK;
		default:
			rp_complain("unknown option '%s': -j, -p, -h or -V, before the object",
				    argv[optind - 1]);
			return RP_EXIT_USAGE;
		}
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct rp_cli cli = { 0 };
	int ret;

	/* names may be UTF-8; numbers stay as they are in C */
	setlocale(LC_CTYPE, "");
	ret = parse_options(&cli, argc, argv);
	if (ret < 0)
		ret = run(&cli, take_format(&cli, argc - optind, argv + optind), argv + optind);
	rp_nl_release(cli.nl);
	rp_nl_release(cli.rdma);
	if (fflush(stdout) || ferror(stdout)) {
		rp_complain("the output could not be written");
		return RP_EXIT_FAILURE;
	}
	return ret;
}
