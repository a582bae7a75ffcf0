// SPDX-License-Identifier: GPL-2.0
/*
 * rocepath rdma discover: as `path discover` (discover.c), for a device whose data the
 * kernel does not send. rdma_hops.c asks, fabric.c concludes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "graph.h"
#include "policy/apply.h"
#include "rdma.h"
#include "rdma_hops.h"
#include "rdma_ports.h"
#include "routers.h"

#define EVS_TRIED 64
#define FAR 8
#define PER_SECOND 500

/**
 * struct discovery - one run of the command
 * @device: name of the RDMA device
 * @peer: as it was typed
 * @port: of the device
 * @from: 16 bytes
 * @to: the same
 * @evs: the entropy values, by the number that the fabric has
 * @hops: what was asked
 * @fabric: what was found
 * @applied: the module plans by it
 */
struct discovery {
	const char *device;
	const char *peer;
	const struct rp_rdma_port *port;
	uint8_t from[RP_ADDRESS_LEN], to[RP_ADDRESS_LEN];
	uint16_t evs[RP_EVS_MAX];
	struct rp_rdma_hops hops;
	struct rp_fabric fabric;
	bool applied;
};

static const struct rp_rdma_port *find_port(const struct rp_rdma_ports *ports, const char *name)
{
	for (unsigned int i = 0; i < ports->count; i++)
		if (rp_rdma_port_is(&ports->at[i], name))
			return &ports->at[i];
	return NULL;
}

/* the address that was named, or the first that is good for more than a link */
static bool find_from(struct discovery *d, const char *from)
{
	for (unsigned int i = 0; i < d->port->gid_count; i++) {
		const struct rp_rdma_gid *gid = &d->port->gids[i];
		bool local = gid->address[0] == 0xfe && (gid->address[1] & 0xc0) == 0x80;

		if (!gid->v2 || (from ? memcmp(gid->address, d->from, RP_ADDRESS_LEN) :
				 local || rp_address_is_ipv4(gid->address) !=
				 rp_address_is_ipv4(d->to)))
			continue;
		memcpy(d->from, gid->address, RP_ADDRESS_LEN);
		return true;
	}
	return false;
}

/* of the class that what no rule matches belongs to */
static uint8_t dscp_of(const struct rp_args *args)
{
	const struct rp_value *asked = rp_args_get(args, "dscp");
	uint8_t dscp = asked ? asked->number : 0;
	struct rp_spec *spec = NULL;
	int class;

	if (!asked && !rp_in_force_if_any(&spec) && spec) {
		rp_spec_fill(spec);
		class = rp_spec_class_index(spec, rp_spec_default(spec));
		if (class >= 0)
			dscp = rp_spec_class_at(spec, class)->dscp;
	}
	rp_spec_release(spec);
	return dscp;
}

static void show_progress(unsigned int hops, unsigned int answered, unsigned int asked)
{
	fprintf(stderr, "\rhop %u: %u of %u answered\033[K", hops, answered, asked);
}

static int ask(struct discovery *d, const struct rp_args *args, struct rp_error *error)
{
	const struct rp_value *evs = rp_args_get(args, "evs"), *far = rp_args_get(args, "hops");
	int err;

	d->hops = (struct rp_rdma_hops){
		.netdev = d->port->netdev, .ifindex = d->port->ifindex, .from = d->from,
		.to = d->to, .tos = dscp_of(args) << 2, .far = far ? far->number : FAR,
		.per_second = PER_SECOND, .evs = d->evs, .count = evs ? evs->number : EVS_TRIED,
		.progress = isatty(STDERR_FILENO) ? show_progress : NULL,
	};
	d->hops.traces = calloc(d->hops.count, sizeof(*d->hops.traces));
	if (!d->hops.traces)
		return rp_error_set(error, "out of memory");
	for (unsigned int i = 0; i < d->hops.count; i++) {
		d->hops.traces[i].ev = i;
		d->evs[i] = rp_rdma_sequence(i);
	}
	err = rp_rdma_hops_trace(&d->hops, error);
	if (d->hops.progress)
		fputs("\r\033[K", stderr);
	if (!err && rp_fabric_group(&d->fabric, d->hops.traces, d->hops.count))
		err = rp_error_set(error, "out of memory");
	if (!err)
		rp_fabric_choose(&d->fabric, 0, RP_EVS_MAX);
	return err;
}

/* why nothing is concluded, NULL: something is */
static const char *problem_of(const struct discovery *d)
{
	static const char *const problems[] = {
		[RP_FABRIC_SEEN] = NULL,
		[RP_FABRIC_BLIND] =
		"routers do not answer at some hop: what is distinct there is not seen",
		[RP_FABRIC_UNSURE] =
		"too many answers of routers are missing to tell paths apart",
		[RP_FABRIC_DEAD] =
		"no EV gets to the last router before the peer",
	};

	if (!d->hops.distance)
		return "neither the peer nor any router answers";
	if (d->hops.assumed)
		return "the peer answers no ping, so the last routers may be hidden";
	return problems[d->fabric.port[0].verdict];
}

static void put_plan(struct nlmsghdr *nlh, const struct discovery *d)
{
	for (unsigned int i = 0; i < d->fabric.count; i++) {
		const struct rp_fabric_path *path = &d->fabric.paths[i];

		for (unsigned int k = 0; path->reached && k < path->count; k++) {
			struct nlattr *nest = mnl_attr_nest_start(nlh, ROCEPATH_RDMA_A_PLAN_EVS);

			mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_PLAN_EV_EV, d->evs[path->evs[k]]);
			mnl_attr_put_u32(nlh, ROCEPATH_RDMA_A_PLAN_EV_PATH, i);
			mnl_attr_nest_end(nlh, nest);
		}
	}
}

/* returns an exit code */
static int apply(struct rp_cli *cli, const struct rp_args *args, struct discovery *d)
{
	struct nlmsghdr *nlh;
	int err;

	if (rp_rdma_connect(cli))
		return RP_EXIT_FAILURE;
	nlh = rp_nl_request(cli->rdma, ROCEPATH_RDMA_CMD_PLAN_SET);
	mnl_attr_put_strz(nlh, ROCEPATH_RDMA_A_PLAN_DEVICE, d->port->device);
	mnl_attr_put(nlh, ROCEPATH_RDMA_A_PLAN_LOCAL, sizeof(d->from), d->from);
	mnl_attr_put(nlh, ROCEPATH_RDMA_A_PLAN_REMOTE, sizeof(d->to), d->to);
	put_plan(nlh, d);
	err = rp_nl_do(cli->rdma, NULL, NULL);
	d->applied = !err;
	return err ? rp_nl_explain(cli->rdma, err, args, d->device) : RP_EXIT_OK;
}

static void print_text(const struct discovery *d)
{
	static const char *const heads[] = { "PATH", "HOPS", "ROUTERS", "REACHED", "RTT", "EVS",
					     NULL };
	static const bool right[] = { true, true, false, false, true, true };
	struct libscols_table *table = rp_table_text(heads, right);

	for (unsigned int i = 0; i < d->fabric.count; i++) {
		const struct rp_fabric_path *path = &d->fabric.paths[i];
		char routers[RP_ROUTERS_TEXT_LEN], rtt[RP_TEXT_LEN] = "-";
		char number[RP_TEXT_LEN], hops[RP_TEXT_LEN] = "-", count[RP_TEXT_LEN];

		rp_routers_print(path, routers);
		if (path->rtt_us)
			rp_duration_print(path->rtt_us, rtt);
		if (path->reached)
			snprintf(hops, sizeof(hops), "%u", path->hops);
		snprintf(number, sizeof(number), "%u", i);
		snprintf(count, sizeof(count), "%u", path->count);
		rp_table_line(table, (const char *const[]){
			number, hops, routers, path->reached ? "yes" : "no", rtt, count }, 6);
	}
	rp_table_print(table, true);
	if (d->applied)
		printf("QPs from %s to %s are planned by these paths from now on\n", d->device,
		       d->peer);
	else if (!problem_of(d))
		printf("to plan QPs by these paths: rocepath rdma discover %s dev %s apply\n",
		       d->peer, d->device);
}

static void json_path(struct rp_json *json, const struct discovery *d, unsigned int number)
{
	const struct rp_fabric_path *path = &d->fabric.paths[number];

	rp_json_open(json, NULL, '{');
	rp_json_number(json, "path", number);
	rp_routers_json(path, json);
	rp_json_open(json, "evs", '[');
	for (unsigned int i = 0; i < path->count; i++)
		rp_json_number(json, NULL, d->evs[path->evs[i]]);
	rp_json_close(json, ']');
	rp_json_close(json, '}');
}

static void print_json(const struct rp_format *format, const struct discovery *d)
{
	struct rp_json json = { stdout, format->pretty, true, 0 };
	char from[RP_TEXT_LEN];

	rp_address_print(d->from, from);
	rp_json_open(&json, NULL, '{');
	rp_json_string(&json, "device", d->port->device);
	rp_json_string(&json, "netdev", d->port->netdev);
	rp_json_string(&json, "from", from);
	rp_json_string(&json, "peer", d->peer);
	rp_json_number(&json, "distance", d->hops.distance);
	rp_json_bool(&json, "assumed", d->hops.assumed);
	rp_json_bool(&json, "seen", !problem_of(d));
	rp_json_bool(&json, "applied", d->applied);
	rp_json_open(&json, "paths", '[');
	for (unsigned int i = 0; i < d->fabric.count; i++)
		json_path(&json, d, i);
	rp_json_close(&json, ']');
	rp_json_close(&json, '}');
}

static int print(const struct rp_cli *cli, const struct rp_args *args, const struct discovery *d)
{
	const char *const ports[] = { d->port->netdev };

	if (rp_args_get(args, "dot"))
		return rp_graph_print(&d->fabric, d->device, d->peer, ports, stdout);
	if (cli->format.json)
		print_json(&cli->format, d);
	else
		print_text(d);
	return 0;
}

/* says why the plan stays the sequence, and what is to be taken with care */
static int complain(const struct discovery *d)
{
	const struct rp_fabric_port *port = &d->fabric.port[0];
	const char *problem = problem_of(d);

	if (problem)
		rp_complain("%s: %s; the sequence of EVs stays", d->peer, problem);
	else if (port->reached < port->tried)
		rp_complain("%u of %u EVs do not get there: REACHED says no",
			    port->tried - port->reached, port->tried);
	return problem ? RP_EXIT_FAILURE : RP_EXIT_OK;
}

static int discover(struct rp_cli *cli, const struct rp_args *args, struct discovery *d)
{
	const char *from = rp_args_text(args, "from");
	struct rp_error error;
	int ret;

	if (!d->port->ifindex) {
		rp_complain("%s has no netdevice here to send by", d->device);
		return RP_EXIT_FAILURE;
	}
	if (from)
		rp_address_parse(from, d->from, NULL);
	if (!find_from(d, from)) {
		rp_complain("%s has no GID of RoCE v2 %s%s; see: rocepath doctor %s", d->device,
			    from ? "with " : "of that kind", from ? from : "", d->device);
		return RP_EXIT_FAILURE;
	}
	if (ask(d, args, &error)) {
		rp_complain("%s", error.text);
		return RP_EXIT_FAILURE;
	}
	if (rp_args_get(args, "apply") && !problem_of(d)) {
		ret = apply(cli, args, d);
		if (ret)
			return ret;
	}
	if (print(cli, args, d)) {
		rp_complain("out of memory");
		return RP_EXIT_FAILURE;
	}
	return complain(d);
}

/**
 * rp_rdma_discover() - rocepath rdma discover PEER dev DEV [from ADDRESS] [KEYWORD VALUE]...
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_discover(struct rp_cli *cli, const struct rp_args *args)
{
	struct discovery d = { .device = rp_args_text(args, "dev"), .peer = args->subject };
	struct rp_rdma_ports ports = { 0 };
	int ret = RP_EXIT_FAILURE;
	struct rp_error error;

	rp_address_parse(args->subject, d.to, NULL);
	if (rp_rdma_ports_read(&ports, &error)) {
		rp_complain("%s", error.text);
		return RP_EXIT_FAILURE;
	}
	d.port = find_port(&ports, d.device);
	if (d.port)
		ret = discover(cli, args, &d);
	else
		rp_complain("there is no RDMA device %s; see: rocepath rdma show", d.device);
	free(d.hops.traces);
	rp_fabric_release(&d.fabric);
	rp_rdma_ports_drop(&ports);
	return ret;
}
