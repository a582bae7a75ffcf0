// SPDX-License-Identifier: GPL-2.0
/*
 * rocepath path discover: from the ports of a device to a choice of entropy
 * values. hops.c asks, fabric.c concludes; here is what people see of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <net/if.h>

#include "commands.h"
#include "fabric.h"
#include "graph.h"
#include "hops.h"
#include "path.h"
#include "routers.h"
#include "units.h"

#define EVS_TRIED 64
#define FAR 8
#define SETTLE_US 2000000	/* after the last path that failed or came back */
#define SETTLE_MAX_US 20000000
#define AGAIN_US 60000000	/* where a part of the fabric does not lead to the peer */
#define PER_SECOND_MAX 2000	/* the kernel remembers 256 that are out: 128 ms */

/**
 * struct discovery - one run of the command
 * @device: its name
 * @peer: as it was typed
 * @address: the same, 16 bytes
 * @ifindex: of the device
 * @evs: of each port, as the device is set
 * @per_second: probes
 * @port: ifindex of each port that is not down
 * @name: of the same
 * @names: pointers to them
 * @port_count: of these
 * @fabric: what was found
 * @applied: what was chosen is in use
 * @changed: a path towards the peer failed or came back
 */
struct discovery {
	const char *device;
	const char *peer;
	uint8_t address[RP_ADDRESS_LEN];
	uint32_t ifindex;
	unsigned int evs;
	unsigned int per_second;
	uint32_t port[ROCEPATH_PORTS_MAX];
	char name[ROCEPATH_PORTS_MAX][IF_NAMESIZE];
	const char *names[ROCEPATH_PORTS_MAX];
	unsigned int port_count;
	struct rp_fabric fabric;
	bool applied;
	bool changed;
};

static int take_device(const struct nlmsghdr *nlh, void *data)
{
	struct discovery *d = data;
	struct rp_attrs attrs;
	int err = rp_attrs_message(&rp_device_attrs, nlh, &attrs);

	if (err)
		return err;
	d->evs = rp_attr_number(&attrs, ROCEPATH_A_DEVICE_EVS);
	d->per_second = rp_attr_number(&attrs, ROCEPATH_A_DEVICE_PROBES_PER_SECOND);
	return 0;
}

static int take_port(const struct nlmsghdr *nlh, void *data)
{
	struct discovery *d = data;
	struct rp_attrs attrs;
	int err = rp_attrs_message(&rp_port_attrs, nlh, &attrs);
	unsigned int n = d->port_count;

	if (err || n == ROCEPATH_PORTS_MAX ||
	    rp_attr_number(&attrs, ROCEPATH_A_PORT_DEVICE) != d->ifindex ||
	    rp_attr_number(&attrs, ROCEPATH_A_PORT_STATE) == ROCEPATH_PORT_DOWN)
		return err;
	d->port[n] = rp_attr_number(&attrs, ROCEPATH_A_PORT_IFINDEX);
	snprintf(d->name[n], IF_NAMESIZE, "%s", rp_attr_string(&attrs, ROCEPATH_A_PORT_NAME));
	d->names[n] = d->name[n];
	d->port_count++;
	return 0;
}

/* half of what the device may send is left to itself */
static int look_at_device(struct rp_cli *cli, struct discovery *d)
{
	struct nlmsghdr *nlh = rp_nl_request(cli->nl, ROCEPATH_CMD_DEVICE_GET);
	int err;

	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_IFINDEX, d->ifindex);
	err = rp_nl_do(cli->nl, take_device, d);
	if (err)
		return err;
	d->per_second = d->per_second > 1 ? d->per_second / 2 : 1;
	if (d->per_second > PER_SECOND_MAX)
		d->per_second = PER_SECOND_MAX;
	nlh = rp_nl_request(cli->nl, ROCEPATH_CMD_PORT_GET);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_DEVICE, d->ifindex);
	return rp_nl_dump(cli->nl, take_port, d);
}

static void show_progress(unsigned int hops, unsigned int answered, unsigned int asked)
{
	if (hops > RP_HOPS_MAX)
		fprintf(stderr, "\rend to end: %u of %u answered\033[K", answered, asked);
	else
		fprintf(stderr, "\rhop %u: %u of %u answered\033[K", hops, answered, asked);
}

static struct rp_trace *make_traces(const struct discovery *d, unsigned int evs)
{
	struct rp_trace *traces = calloc((size_t)d->port_count * evs, sizeof(*traces));

	/* ports take turns, so that neither they nor their routers are asked in bursts */
	for (unsigned int i = 0; traces && i < d->port_count * evs; i++) {
		traces[i].port = i % d->port_count;
		traces[i].ev = i / d->port_count;
	}
	return traces;
}

static int ask(struct rp_cli *cli, struct discovery *d, struct rp_nl *listener,
	       const struct rp_args *args)
{
	const struct rp_value *evs = rp_args_get(args, "evs"), *far = rp_args_get(args, "hops");
	unsigned int usual = d->evs > EVS_TRIED ? d->evs : EVS_TRIED;
	struct rp_hops hops = {
		.nl = cli->nl, .listener = listener, .device = d->ifindex, .ports = d->port,
		.port_count = d->port_count, .peer = d->address, .per_second = d->per_second,
		.far = far ? far->number : FAR,
		.count = d->port_count * (evs ? evs->number : usual),
		.progress = isatty(STDERR_FILENO) ? show_progress : NULL,
	};
	int err;

	hops.traces = make_traces(d, hops.count / d->port_count);
	if (!hops.traces)
		return -ENOMEM;
	rp_fabric_release(&d->fabric);
	err = rp_hops_trace(&hops);
	if (hops.progress)
		fputs("\r\033[K", stderr);
	if (!err)
		err = rp_fabric_group(&d->fabric, hops.traces, hops.count);
	for (unsigned int i = 0; !err && i < d->port_count; i++)
		rp_fabric_choose(&d->fabric, i, d->evs);
	free(hops.traces);
	return err;
}

static int apply(struct rp_cli *cli, struct discovery *d)
{
	uint8_t evs[RP_EVS_MAX];

	d->applied = false;
	for (unsigned int i = 0; i < d->port_count; i++) {
		unsigned int count = rp_fabric_chosen(&d->fabric, i, evs);
		int err;

		if (!count)
			continue;
		rp_path_request(cli->nl, d->ifindex, d->address, d->port[i], evs, count);
		err = rp_nl_do(cli->nl, NULL, NULL);
		if (err)
			return err;
		d->applied = true;
	}
	return 0;
}

/* what keeps a port from choosing, NULL: nothing does */
static const char *problem_of(const struct rp_fabric_port *port)
{
	static const char *const problems[] = {
		[RP_FABRIC_SEEN] = NULL,
		[RP_FABRIC_BLIND] =
		"routers do not answer at some hop: what is distinct there is not seen; random EVs stay",
		[RP_FABRIC_UNSURE] =
		"too many answers of routers are missing to tell paths apart; random EVs stay",
		[RP_FABRIC_DEAD] =
		"the peer answered by none of its paths; random EVs stay",
	};

	return problems[port->verdict];
}

static void add_line(struct libscols_table *table, const struct discovery *d,
		     const struct rp_fabric_path *path)
{
	char routers[RP_ROUTERS_TEXT_LEN], rtt[RP_TEXT_LEN] = "-";
	char hops[RP_TEXT_LEN] = "-", count[RP_TEXT_LEN], chosen[RP_EVS_TEXT_LEN] = "-";

	rp_routers_print(path, routers);
	if (path->rtt_us)
		rp_duration_print(path->rtt_us, rtt);
	if (path->reached)
		snprintf(hops, sizeof(hops), "%u", path->hops);
	snprintf(count, sizeof(count), "%u", path->count);
	if (path->chosen)
		rp_evs_print(path->evs, path->chosen, chosen, sizeof(chosen));
	rp_table_line(table, (const char *const[]){
		d->name[path->port], hops, routers, path->reached ? "yes" : "no", rtt, count,
		chosen }, 7);
}

static void print_table(const struct discovery *d)
{
	static const char *const heads[] = { "PORT", "HOPS", "ROUTERS", "REACHED", "RTT", "EVS",
					     "CHOSEN", NULL };
	static const bool right[] = { false, true, false, false, true, true, false };
	struct libscols_table *table = rp_table_text(heads, right);

	for (unsigned int port = 0; port < d->port_count; port++)
		for (unsigned int i = 0; i < d->fabric.count; i++)
			if (d->fabric.paths[i].port == port)
				add_line(table, d, &d->fabric.paths[i]);
	rp_table_print(table, true);
}

/* what was chosen, as it could be typed: for scripts, and to be kept */
static void print_commands(const struct discovery *d)
{
	char list[RP_EVS_TEXT_LEN];
	uint8_t evs[RP_EVS_MAX];

	for (unsigned int i = 0; i < d->port_count; i++) {
		unsigned int count = rp_fabric_chosen(&d->fabric, i, evs);

		if (!count)
			continue;
		rp_evs_print(evs, count, list, sizeof(list));
		printf("rocepath path set dev %s peer %s port %s evs %s\n", d->device, d->peer,
		       d->name[i], list);
	}
}

/* the same for the policy file */
static void print_policy(const struct discovery *d)
{
	uint8_t evs[RP_EVS_MAX];

	printf("devices:\n  - name: %s\n    ports:\n", d->device);
	for (unsigned int i = 0; i < d->port_count; i++) {
		unsigned int count = rp_fabric_chosen(&d->fabric, i, evs);
		char list[RP_EVS_TEXT_LEN];

		rp_evs_print(evs, count, list, sizeof(list));
		printf(count ? "      - {name: %s, paths: [{peer: '%s', evs: [%s]}]}\n" :
		       "      - {name: %s}\n", d->name[i], d->peer, list);
	}
}

static void print_text(const struct discovery *d)
{
	uint8_t evs[RP_EVS_MAX];
	unsigned int chosen = 0;

	print_table(d);
	for (unsigned int i = 0; i < d->port_count; i++)
		chosen += rp_fabric_chosen(&d->fabric, i, evs);
	if (!chosen)
		return;
	printf(d->applied ? "\nin use now; to do the same again:\n" :
	       "\nnot in use yet; use them by `apply`, or:\n");
	print_commands(d);
	printf("\nto have them whenever the policy is applied, in its file:\n");
	print_policy(d);
}

static void json_evs(struct rp_json *json, const char *key, const uint8_t *evs, unsigned int count)
{
	rp_json_open(json, key, '[');
	for (unsigned int i = 0; i < count; i++)
		rp_json_number(json, NULL, evs[i]);
	rp_json_close(json, ']');
}

static void json_port(struct rp_json *json, const struct discovery *d, unsigned int i)
{
	const struct rp_fabric_port *port = &d->fabric.port[i];
	const char *problem = problem_of(port);
	uint8_t evs[RP_EVS_MAX];

	rp_json_open(json, NULL, '{');
	rp_json_string(json, "port", d->name[i]);
	rp_json_number(json, "tried", port->tried);
	rp_json_number(json, "reached", port->reached);
	rp_json_number(json, "unsure", port->unsure);
	rp_json_open(json, "blind_hops", '[');
	for (unsigned int h = 0; h < RP_HOPS_MAX; h++)
		if (port->blind >> h & 1)
			rp_json_number(json, NULL, h + 1);
	rp_json_close(json, ']');
	json_evs(json, "chosen", evs, rp_fabric_chosen(&d->fabric, i, evs));
	if (problem)
		rp_json_string(json, "problem", problem);
	rp_json_close(json, '}');
}

static void json_path(struct rp_json *json, const struct discovery *d,
		      const struct rp_fabric_path *path)
{
	rp_json_open(json, NULL, '{');
	rp_json_string(json, "port", d->name[path->port]);
	rp_routers_json(path, json);
	json_evs(json, "evs", path->evs, path->count);
	json_evs(json, "chosen", path->evs, path->chosen);
	rp_json_close(json, '}');
}

static void print_json(const struct rp_format *format, const struct discovery *d)
{
	struct rp_json json = { stdout, format->pretty, true, 0 };

	rp_json_open(&json, NULL, '{');
	rp_json_string(&json, "device", d->device);
	rp_json_string(&json, "peer", d->peer);
	rp_json_bool(&json, "applied", d->applied);
	rp_json_open(&json, "ports", '[');
	for (unsigned int i = 0; i < d->port_count; i++)
		json_port(&json, d, i);
	rp_json_close(&json, ']');
	rp_json_open(&json, "paths", '[');
	for (unsigned int i = 0; i < d->fabric.count; i++)
		json_path(&json, d, &d->fabric.paths[i]);
	rp_json_close(&json, ']');
	rp_json_close(&json, '}');
}

static int print(const struct rp_cli *cli, const struct rp_args *args, const struct discovery *d)
{
	if (rp_args_get(args, "dot"))
		return rp_graph_print(&d->fabric, d->device, d->peer, d->names, stdout);
	if (cli->format.json)
		print_json(&cli->format, d);
	else
		print_text(d);
	return 0;
}

/* says what is wrong; it is a failure when no port leads to the peer */
static int complain(const struct discovery *d)
{
	unsigned int reached = 0;

	for (unsigned int i = 0; i < d->port_count; i++) {
		const struct rp_fabric_port *port = &d->fabric.port[i];
		const char *problem = problem_of(port);

		reached += port->reached;
		if (problem)
			rp_complain("%s: %s", d->name[i], problem);
		else if (port->reached < port->tried)
			rp_complain("%s: by %u of %u EVs the peer is not reached: REACHED says no",
				    d->name[i], port->tried - port->reached, port->tried);
	}
	if (reached)
		return RP_EXIT_OK;
	rp_complain("%s answers no probe; is it there? see: rocepath peer show", d->peer);
	return RP_EXIT_FAILURE;
}

static int take_change(const struct nlmsghdr *nlh, void *data)
{
	struct discovery *d = data;
	const struct nlattr *peer;
	struct rp_attrs attrs;
	uint64_t type;

	if (!nlh || rp_attrs_message(&rp_event_attrs, nlh, &attrs)) {
		d->changed |= !nlh;	/* some were lost: one may have been ours */
		return 0;
	}
	type = rp_attr_number(&attrs, ROCEPATH_A_EVENT_TYPE);
	peer = attrs.at[ROCEPATH_A_EVENT_PEER];
	if ((type == ROCEPATH_EVENT_PATH_DOWN || type == ROCEPATH_EVENT_PATH_UP) && peer &&
	    !memcmp(mnl_attr_get_payload(peer), d->address, RP_ADDRESS_LEN) &&
	    rp_attr_number(&attrs, ROCEPATH_A_EVENT_DEVICE) == d->ifindex)
		d->changed = true;
	return 0;
}

/* EVs that lead nowhere are no paths any more, and will not say when they do again */
static bool is_whole(const struct discovery *d)
{
	for (unsigned int i = 0; i < d->port_count; i++)
		if (d->fabric.port[i].reached < d->fabric.port[i].tried)
			return false;
	return true;
}

/* until something changed, and then has not for a while */
static int wait_for_change(struct discovery *d, struct rp_nl *listener)
{
	uint64_t again = is_whole(d) ? UINT64_MAX : rp_hops_now_us() + AGAIN_US, most = again;

	d->changed = false;
	for (uint64_t now = rp_hops_now_us(); now < again; now = rp_hops_now_us()) {
		uint64_t left = again - now;
		int err = rp_nl_wait(listener, left < AGAIN_US ? left : AGAIN_US, take_change, d);

		if (err)
			return err;
		if (!d->changed)
			continue;
		d->changed = false;
		now = rp_hops_now_us();
		if (most > now + SETTLE_MAX_US)
			most = now + SETTLE_MAX_US;
		again = now + SETTLE_US < most ? now + SETTLE_US : most;
	}
	return 0;
}

static int discover_once(struct rp_cli *cli, const struct rp_args *args, struct discovery *d,
			 struct rp_nl *listener)
{
	int err = ask(cli, d, listener, args);

	if (!err && rp_args_get(args, "apply"))
		err = apply(cli, d);
	if (!err)
		err = print(cli, args, d);
	fflush(stdout);
	return err;
}

static int discover(struct rp_cli *cli, const struct rp_args *args, struct discovery *d)
{
	bool watch = rp_args_get(args, "watch");
	int ret = RP_EXIT_FAILURE, err;
	struct rp_error error;
	struct rp_nl *listener = rp_nl_new(&error);

	if (!listener) {
		rp_complain("%s", error.text);
		return RP_EXIT_FAILURE;
	}
	err = rp_nl_subscribe(listener);
	do {
		if (!err)
			err = discover_once(cli, args, d, listener);
		if (err)
			break;
		ret = complain(d);
		if (watch)
			err = wait_for_change(d, listener);
	} while (watch && !err && !ferror(stdout));
	rp_nl_release(listener);
	return err ? rp_nl_explain(cli->nl, err, args, d->device) : ret;
}

/**
 * rp_path_discover() - rocepath path discover PEER dev DEV [hops N] [evs N] [apply] [watch] [dot]
 * @cli: this run
 * @args: the command line
 */
int rp_path_discover(struct rp_cli *cli, const struct rp_args *args)
{
	struct discovery d = { .device = rp_args_text(args, "dev"), .peer = args->subject };
	int ret, err;

	rp_address_parse(args->subject, d.address, NULL);
	if (rp_cli_connect(cli) || rp_cli_ifindex(d.device, RP_ARG_DEVICE, &d.ifindex))
		return RP_EXIT_FAILURE;
	err = look_at_device(cli, &d);
	if (err)
		return rp_nl_explain(cli->nl, err, args, d.device);
	if (!d.port_count) {
		rp_complain("%s has no port that is up; see: rocepath port show dev %s", d.device,
			    d.device);
		return RP_EXIT_FAILURE;
	}
	ret = discover(cli, args, &d);
	rp_fabric_release(&d.fabric);
	return ret;
}
