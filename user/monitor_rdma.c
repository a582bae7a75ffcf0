// SPDX-License-Identifier: GPL-2.0
/* Events of RDMA devices: what failed, and which QPs of which jobs sit on it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <linux/genetlink.h>

#include "monitor.h"
#include "owner.h"
#include "rdma.h"
#include "units.h"

/* "path 4711 to 10.0.0.2 down"; of a port and of other events the name */
static void print_what(const struct rp_attrs *attrs, const char *type)
{
	char peer[RP_TEXT_LEN];

	rp_attr_address(attrs, ROCEPATH_RDMA_A_EVENT_REMOTE, peer);
	if (!strncmp(type, "path-", 5))
		printf("path %" PRIu64 " to %s %s", rp_attr_number(attrs, ROCEPATH_RDMA_A_EVENT_EV),
		       peer, type + 5);
	else if (!strncmp(type, "port-", 5))
		printf("port %" PRIu64 " %s", rp_attr_number(attrs, ROCEPATH_RDMA_A_EVENT_PORT),
		       type + 5);
	else
		printf("%s%s%s", type, *peer ? " " : "", peer);
}

static void print_took(const struct rp_attrs *attrs)
{
	const char *reason = rp_attr_string(attrs, ROCEPATH_RDMA_A_EVENT_REASON);
	char took[RP_TEXT_LEN];

	if (*reason)
		printf(": %s", reason);
	if (!attrs->at[ROCEPATH_RDMA_A_EVENT_TOOK_US])
		return;
	rp_duration_print(rp_attr_number(attrs, ROCEPATH_RDMA_A_EVENT_TOOK_US), took);
	printf("%s found after %s", *reason ? "," : ":", took);
}

/* 17 of ib_write_bw 1234 in job 42 */
static void print_qp(const struct rp_attrs *qp, const char *separator)
{
	const char *cgroup = rp_attr_string(qp, ROCEPATH_RDMA_A_QP_CGROUP);
	char text[RP_OWNER_LEN];
	struct rp_owner owner;
	const char *name;

	rp_owner_find(cgroup, &owner);
	name = rp_owner_name(&owner, cgroup, text);
	printf("%s%" PRIu64 " of %s", separator, rp_attr_number(qp, ROCEPATH_RDMA_A_QP_QPN),
	       rp_attr_string(qp, ROCEPATH_RDMA_A_QP_COMM));
	if (rp_attr_number(qp, ROCEPATH_RDMA_A_QP_PID))
		printf(" %" PRIu64, rp_attr_number(qp, ROCEPATH_RDMA_A_QP_PID));
	if (*name)
		printf(" in %s", name);
	if (rp_attr_number(qp, ROCEPATH_RDMA_A_QP_RESULT))
		printf(" (%s)", strerror(rp_attr_number(qp, ROCEPATH_RDMA_A_QP_RESULT)));
}

static void print_qps(const struct nlmsghdr *nlh, const struct rp_attrs *attrs)
{
	uint64_t count = rp_attr_number(attrs, ROCEPATH_RDMA_A_EVENT_QPS);
	const char *separator = " ";
	const struct nlattr *attr;
	struct rp_attrs qp;

	if (attrs->at[ROCEPATH_RDMA_A_EVENT_QPS])
		printf("; %" PRIu64 " QP%s", count, count == 1 ? "" : "s");
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) != ROCEPATH_RDMA_A_EVENT_QP ||
		    rp_attrs_nested(&rp_rdma_qp_attrs, attr, &qp))
			continue;
		if (*separator == ' ')
			putchar(':');
		print_qp(&qp, separator);
		separator = ", ";
	}
	if (rp_attr_number(attrs, ROCEPATH_RDMA_A_EVENT_MORE))
		printf(", and more");
}

static void print_text(const struct nlmsghdr *nlh, const struct rp_attrs *attrs)
{
	const struct rp_field *type = rp_attr_field(&rp_rdma_event_attrs,
						    ROCEPATH_RDMA_A_EVENT_TYPE);
	char when[RP_TEXT_LEN], name[RP_TEXT_LEN];

	rp_monitor_time(rp_attr_number(attrs, ROCEPATH_RDMA_A_EVENT_TIME_NS), when);
	printf("%s %s ", when, rp_attr_string(attrs, ROCEPATH_RDMA_A_EVENT_DEVICE));
	print_what(attrs, rp_table_cell(type, attrs->at[ROCEPATH_RDMA_A_EVENT_TYPE], name));
	print_took(attrs);
	print_qps(nlh, attrs);
	putchar('\n');
}

static void print_json(const struct nlmsghdr *nlh, const struct rp_attrs *attrs)
{
	struct rp_json json = { stdout, false, true, 0 };
	const struct nlattr *attr;
	struct rp_attrs qp;

	rp_json_open(&json, NULL, '{');
	rp_table_json(&json, &rp_rdma_event_attrs, attrs);
	rp_json_open(&json, "qp_list", '[');
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) != ROCEPATH_RDMA_A_EVENT_QP ||
		    rp_attrs_nested(&rp_rdma_qp_attrs, attr, &qp))
			continue;
		rp_json_open(&json, NULL, '{');
		rp_table_json(&json, &rp_rdma_qp_attrs, &qp);
		rp_json_close(&json, '}');
	}
	rp_json_close(&json, ']');
	rp_json_close(&json, '}');
}

/**
 * rp_monitor_rdma() - print an event of an RDMA device
 * @nlh: the event; NULL: some were lost
 * @data: struct rp_monitored
 *
 * Return: 0; else nobody reads any more.
 */
int rp_monitor_rdma(const struct nlmsghdr *nlh, void *data)
{
	const struct rp_monitored *monitor = data;
	struct rp_attrs attrs;

	if (!nlh) {
		rp_complain("events were lost: they came faster than they could be printed");
		return 0;
	}
	if (rp_attrs_message(&rp_rdma_event_attrs, nlh, &attrs) ||
	    (monitor->rdma &&
	     strcmp(monitor->rdma, rp_attr_string(&attrs, ROCEPATH_RDMA_A_EVENT_DEVICE))))
		return 0;
	attrs.at[ROCEPATH_RDMA_A_EVENT_QP] = NULL;
	if (monitor->json)
		print_json(nlh, &attrs);
	else
		print_text(nlh, &attrs);
	fflush(stdout);
	return ferror(stdout);
}
