// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "units.h"

#define NS_PER_S 1000000000

struct monitor {
	bool json;
	const char *device;	/* NULL: all */
};

static void print_time(uint64_t ns, char *text)
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

	print_time(rp_attr_number(attrs, ROCEPATH_A_EVENT_TIME_NS), when);
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
	const struct monitor *monitor = data;
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

/**
 * rp_monitor() - rocepath monitor [dev DEV]
 * @cli: this run
 * @args: the command line
 *
 * Ends when it is interrupted, or nobody reads its output any more.
 */
int rp_monitor(struct rp_cli *cli, const struct rp_args *args)
{
	struct monitor monitor = { cli->format.json, rp_args_text(args, "dev") };
	uint32_t ifindex;
	int err;

	if (rp_cli_connect(cli) ||
	    (monitor.device && rp_cli_device(cli, monitor.device, &ifindex)))
		return RP_EXIT_FAILURE;
	err = rp_nl_subscribe(cli->nl);
	if (!err)
		err = rp_nl_listen(cli->nl, print_event, &monitor);
	return err < 0 ? rp_nl_explain(cli->nl, err, args, NULL) : RP_EXIT_OK;
}
