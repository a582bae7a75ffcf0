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

static const struct rp_field *type_field(void)
{
	for (unsigned int i = 0; i < rp_event_attrs.count; i++)
		if (rp_event_attrs.fields[i].attr == ROCEPATH_A_EVENT_TYPE)
			return &rp_event_attrs.fields[i];
	return NULL;
}

static void print_text(const struct rp_attrs *attrs)
{
	char when[RP_TEXT_LEN], type[RP_TEXT_LEN], peer[RP_TEXT_LEN];
	const char *port = rp_attr_string(attrs, ROCEPATH_A_EVENT_PORT_NAME);
	const char *reason = rp_attr_string(attrs, ROCEPATH_A_EVENT_REASON);

	print_time(rp_attr_number(attrs, ROCEPATH_A_EVENT_TIME_NS), when);
	rp_attr_address(attrs, ROCEPATH_A_EVENT_PEER, peer);
	printf("%s %s %s%s%s%s%s%s%s\n", when, rp_attr_string(attrs, ROCEPATH_A_EVENT_DEVICE_NAME),
	       rp_table_cell(type_field(), attrs->at[ROCEPATH_A_EVENT_TYPE], type),
	       *port ? " " : "", port, *peer ? " " : "", peer, *reason ? ": " : "", reason);
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
	if (rp_attrs_message(&rp_event_attrs, nlh, &attrs) ||
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
