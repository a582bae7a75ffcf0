// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "monitor.h"
#include "rdma.h"
#include "units.h"

#define NS_PER_S 1000000000

/**
 * rp_monitor_time() - print when something happened
 * @ns: on CLOCK_REALTIME
 * @text: RP_TEXT_LEN bytes
 */
void rp_monitor_time(uint64_t ns, char *text)
{
	time_t seconds = ns / NS_PER_S;
	struct tm tm;
	size_t len;

	if (!localtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	len = strftime(text, RP_TEXT_LEN, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(text + len, RP_TEXT_LEN - len, ".%03u", (unsigned int)(ns % NS_PER_S / 1000000));
}

/* "path eth0/3 to 10.0.0.2 down"; of other events the name, and what it is about */
static void print_what(const struct rp_attrs *attrs, const char *type)
{
	const char *port = rp_attr_string(attrs, ROCEPATH_A_EVENT_PORT_NAME);
	char peer[RP_TEXT_LEN];

	rp_attr_address(attrs, ROCEPATH_A_EVENT_PEER, peer);
	if (attrs->at[ROCEPATH_A_EVENT_EV] && !strncmp(type, "path-", 5))
		printf("path %s/%" PRIu64 " to %s %s", port,
		       rp_attr_number(attrs, ROCEPATH_A_EVENT_EV), peer, type + 5);
	else
		printf("%s%s%s%s%s", type, *port ? " " : "", port, *peer ? " " : "", peer);
}

static void print_text(const struct rp_attrs *attrs)
{
	const struct rp_field *type = rp_attr_field(&rp_event_attrs, ROCEPATH_A_EVENT_TYPE);
	const char *reason = rp_attr_string(attrs, ROCEPATH_A_EVENT_REASON);
	char when[RP_TEXT_LEN], name[RP_TEXT_LEN], took[RP_TEXT_LEN];

	rp_monitor_time(rp_attr_number(attrs, ROCEPATH_A_EVENT_TIME_NS), when);
	printf("%s %s ", when, rp_attr_string(attrs, ROCEPATH_A_EVENT_DEVICE_NAME));
	print_what(attrs, rp_table_cell(type, attrs->at[ROCEPATH_A_EVENT_TYPE], name));
	if (*reason)
		printf(": %s", reason);
	if (attrs->at[ROCEPATH_A_EVENT_TOOK_US]) {
		rp_duration_print(rp_attr_number(attrs, ROCEPATH_A_EVENT_TOOK_US), took);
		printf("%s found after %s", *reason ? "," : ":", took);
	}
	putchar('\n');
}

static void print_json(const struct rp_attrs *attrs)
{
	struct rp_json json = { stdout, false, true, 0 };

	rp_json_open(&json, NULL, '{');
	rp_table_json(&json, &rp_event_attrs, attrs);
	rp_json_close(&json, '}');
}

static int print_event(const struct nlmsghdr *nlh, void *data)
{
	const struct rp_monitored *monitor = data;
	struct rp_attrs attrs;

	if (!nlh) {
		rp_complain("events were lost: they came faster than they could be printed");
		return 0;
	}
	/* hops are answers to somebody's discovery, no news */
	if (rp_attrs_message(&rp_event_attrs, nlh, &attrs) ||
	    rp_attr_number(&attrs, ROCEPATH_A_EVENT_TYPE) == ROCEPATH_EVENT_HOP ||
	    (monitor->device &&
	     strcmp(monitor->device, rp_attr_string(&attrs, ROCEPATH_A_EVENT_DEVICE_NAME))))
		return 0;
	if (monitor->json)
		print_json(&attrs);
	else
		print_text(&attrs);
	fflush(stdout);
	return ferror(stdout);	/* the reader has gone */
}

/* events of both families, in the order in which they are heard */
static int listen_to_both(struct rp_nl *nl, struct rp_nl *rdma, struct rp_monitored *monitor)
{
	struct pollfd fds[] = {
		{ .fd = rp_nl_fd(nl), .events = POLLIN },
		{ .fd = rp_nl_fd(rdma), .events = POLLIN },
	};
	int err = 0;

	while (!err) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			err = rp_nl_wait(nl, 0, print_event, monitor);
		if (!err && fds[1].revents)
			err = rp_nl_wait(rdma, 0, rp_monitor_rdma, monitor);
	}
	return err;
}

static int listen_to(struct rp_cli *cli, const struct rp_args *args, struct rp_monitored *monitor)
{
	struct rp_nl *of = cli->nl ? cli->nl : cli->rdma;
	int err = cli->nl ? rp_nl_subscribe(cli->nl) : 0;

	if (!err && cli->rdma)
		err = rp_nl_subscribe(cli->rdma);
	if (!err && cli->nl && cli->rdma)
		err = listen_to_both(cli->nl, cli->rdma, monitor);
	else if (!err)
		err = rp_nl_listen(of, cli->nl ? print_event : rp_monitor_rdma, monitor);
	return err < 0 ? rp_nl_explain(of, err, args, NULL) : RP_EXIT_OK;
}

/* each module that is there; at least one must be */
static int connect_modules(struct rp_cli *cli, const struct rp_monitored *monitor)
{
	bool rdma = monitor->rdma || (!monitor->device &&
				      rp_rdma_is_loaded());

	if (rdma && rp_rdma_connect(cli))
		return RP_EXIT_FAILURE;
	if (monitor->rdma)
		return RP_EXIT_OK;
	if (!rdma)
		return rp_cli_connect(cli);
	cli->nl = rp_nl_new(NULL);
	return RP_EXIT_OK;
}

/**
 * rp_monitor() - rocepath monitor [dev DEV] [rdma DEV]
 * @cli: this run
 * @args: the command line
 *
 * Ends when it is interrupted, or nobody reads its output any more.
 */
int rp_monitor(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_monitored monitor = {
		cli->format.json, rp_args_text(args, "dev"), rp_args_text(args, "rdma"),
	};
	uint32_t ifindex;

	if (connect_modules(cli, &monitor) ||
	    (monitor.device && rp_cli_device(cli, monitor.device, &ifindex)))
		return RP_EXIT_FAILURE;
	return listen_to(cli, args, &monitor);
}
