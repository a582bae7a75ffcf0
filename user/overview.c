// SPDX-License-Identifier: GPL-2.0
/*
 * `rocepath` alone: each device with its ports, what is wrong, and what to do
 * next. Four dumps are taken one after the other; what changes between them
 * may show in one and not yet in the other.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "overview.h"
#include "units.h"

/* copies of the messages of a dump */
struct messages {
	struct nlmsghdr **at;
	size_t count;
};

struct snapshot {
	struct messages devices, ports, peers, keys;
	bool keys_hidden;
};

static int keep(const struct nlmsghdr *nlh, void *data)
{
	struct messages *messages = data;
	struct nlmsghdr **grown = reallocarray(messages->at, messages->count + 1, sizeof(*grown));
	/* the last attribute may reach into the padding */
	struct nlmsghdr *copy = calloc(1, MNL_ALIGN(nlh->nlmsg_len));

	if (grown)
		messages->at = grown;
	if (!grown || !copy) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, nlh, nlh->nlmsg_len);
	messages->at[messages->count++] = copy;
	return 0;
}

static void drop(struct messages *messages)
{
	while (messages->count)
		free(messages->at[--messages->count]);
	free(messages->at);
}

static int dump(struct rp_nl *nl, enum rocepath_cmd cmd, struct messages *messages)
{
	rp_nl_request(nl, cmd);
	return rp_nl_dump(nl, keep, messages);
}

static int take(struct rp_nl *nl, struct snapshot *s)
{
	int err = dump(nl, ROCEPATH_CMD_DEVICE_GET, &s->devices);

	if (!err)
		err = dump(nl, ROCEPATH_CMD_PORT_GET, &s->ports);
	if (!err)
		err = dump(nl, ROCEPATH_CMD_PEER_GET, &s->peers);
	if (!err)
		err = dump(nl, ROCEPATH_CMD_KEY_GET, &s->keys);
	s->keys_hidden = err == -EPERM;
	return s->keys_hidden ? 0 : err;
}

static void add_ports(struct rp_overview *o, const struct messages *ports, uint32_t ifindex)
{
	for (size_t i = 0; i < ports->count && o->port_count < ROCEPATH_PORTS_MAX; i++) {
		struct rp_attrs *port = &o->ports[o->port_count];

		if (!rp_attrs_message(&rp_port_attrs, ports->at[i], port) &&
		    rp_attr_number(port, ROCEPATH_A_PORT_DEVICE) == ifindex)
			o->port_count++;
	}
}

static void add_peers(struct rp_overview *o, const struct messages *peers, uint32_t ifindex)
{
	struct rp_attrs peer;

	for (size_t i = 0; i < peers->count; i++) {
		uint64_t state;

		if (rp_attrs_message(&rp_peer_attrs, peers->at[i], &peer) ||
		    rp_attr_number(&peer, ROCEPATH_A_PEER_DEVICE) != ifindex)
			continue;
		state = rp_attr_number(&peer, ROCEPATH_A_PEER_STATE);
		if (state < RP_PEER_STATES)
			o->peers[state]++;
	}
}

static void add_keys(struct rp_overview *o, const struct messages *keys, uint32_t ifindex)
{
	struct rp_attrs key;

	o->active_key = -1;
	for (size_t i = 0; i < keys->count && o->key_count < RP_KEYS_SHOWN; i++) {
		if (rp_attrs_message(&rp_key_attrs, keys->at[i], &key) ||
		    rp_attr_number(&key, ROCEPATH_A_KEY_DEVICE) != ifindex)
			continue;
		if (rp_attr_number(&key, ROCEPATH_A_KEY_ACTIVE))
			o->active_key = o->key_count;
		o->keys[o->key_count++] = rp_attr_number(&key, ROCEPATH_A_KEY_ID);
	}
}

static uint64_t counter(const struct nlattr *list, const char *name)
{
	const struct nlattr *stat;
	struct rp_attrs attrs;

	if (!list)
		return 0;
	mnl_attr_for_each_nested(stat, list)
		if (mnl_attr_get_type(stat) == ROCEPATH_A_STATS_STAT &&
		    !rp_attrs_nested(&rp_stat_attrs, stat, &attrs) &&
		    !strcmp(rp_attr_string(&attrs, ROCEPATH_A_STAT_NAME), name))
			return rp_attr_number(&attrs, ROCEPATH_A_STAT_VALUE);
	return 0;
}

static int gather(const struct snapshot *s, size_t i, struct rp_overview *o)
{
	const struct nlattr *stats;
	uint32_t ifindex;
	int err;

	memset(o, 0, sizeof(*o));
	err = rp_attrs_message(&rp_device_attrs, s->devices.at[i], &o->device);
	if (err)
		return err;
	ifindex = rp_attr_number(&o->device, ROCEPATH_A_DEVICE_IFINDEX);
	o->name = rp_attr_string(&o->device, ROCEPATH_A_DEVICE_NAME);
	o->keys_hidden = s->keys_hidden;
	stats = o->device.at[ROCEPATH_A_DEVICE_STATS];
	o->hellos_refused = counter(stats, "rx_control_key") + counter(stats, "rx_control_mac");
	o->device.at[ROCEPATH_A_DEVICE_STATS] = NULL;
	add_ports(o, &s->ports, ifindex);
	add_peers(o, &s->peers, ifindex);
	add_keys(o, &s->keys, ifindex);
	return 0;
}

static void json_advice(void *data, const char *text)
{
	rp_json_string(data, NULL, text);
}

static void json_peers_keys(struct rp_json *json, const struct rp_overview *o)
{
	rp_json_open(json, "peer_states", '{');
	for (unsigned int i = 0; i < RP_PEER_STATES; i++)
		rp_json_number(json, rp_peer_state_names[i], o->peers[i]);
	rp_json_close(json, '}');
	if (o->keys_hidden) {
		rp_json_null(json, "key_ids");
		return;
	}
	rp_json_open(json, "key_ids", '[');
	for (unsigned int i = 0; i < o->key_count; i++)
		rp_json_number(json, NULL, o->keys[i]);
	rp_json_close(json, ']');
}

static void print_json(struct rp_json *json, struct rp_overview *o)
{
	rp_json_open(json, NULL, '{');
	rp_json_string(json, "name", o->name);
	rp_json_string(json, "state", rp_link_name(rp_link_state(o->name)));
	rp_json_open(json, "device", '{');
	rp_table_json(json, &rp_device_attrs, &o->device);
	rp_json_close(json, '}');
	rp_json_open(json, "port_list", '[');
	for (unsigned int i = 0; i < o->port_count; i++) {
		o->ports[i].at[ROCEPATH_A_PORT_STATS] = NULL;
		rp_json_open(json, NULL, '{');
		rp_table_json(json, &rp_port_attrs, &o->ports[i]);
		rp_json_close(json, '}');
	}
	rp_json_close(json, ']');
	json_peers_keys(json, o);
	rp_json_open(json, "advice", '[');
	rp_advise(o, json_advice, json);
	rp_json_close(json, ']');
	rp_json_close(json, '}');
}

static void print_keys(const struct rp_overview *o)
{
	if (o->keys_hidden) {
		printf("keys not shown");
		return;
	}
	printf(o->key_count ? "key" : "no key");
	for (unsigned int i = 0; i < o->key_count; i++)
		printf("%s %u%s", i ? "," : "", o->keys[i],
		       (int)i == o->active_key && o->key_count > 1 ? " (active)" : "");
}

static void print_peers(const struct rp_overview *o)
{
	const unsigned int *n = o->peers;

	printf("peers: %u capable, %u plain", n[ROCEPATH_PEER_CAPABLE], n[ROCEPATH_PEER_PLAIN]);
	if (n[ROCEPATH_PEER_LOST])
		printf(", %u lost", n[ROCEPATH_PEER_LOST]);
}

static void print_head(const struct rp_overview *o)
{
	const struct rp_attrs *d = &o->device;
	char held[RP_TEXT_LEN];

	rp_unit_print(RP_UNIT_BYTES, rp_attr_number(d, ROCEPATH_A_DEVICE_HELD_BYTES), held);
	printf("%s: %s, %" PRIu64 " of %" PRIu64 " ports up, scheduler %s\n", o->name,
	       rp_link_name(rp_link_state(o->name)), rp_attr_number(d, ROCEPATH_A_DEVICE_PORTS_UP),
	       rp_attr_number(d, ROCEPATH_A_DEVICE_PORTS),
	       rp_attr_string(d, ROCEPATH_A_DEVICE_SCHEDULER));
	printf("  ");
	print_keys(o);
	printf("; ");
	print_peers(o);
	printf("; flows: %" PRIu64 ", %s held for order\n",
	       rp_attr_number(d, ROCEPATH_A_DEVICE_FLOWS), held);
}

static const char *port_cell(const struct rp_attrs *port, uint16_t attr, char *text)
{
	for (unsigned int i = 0; i < rp_port_attrs.count; i++)
		if (rp_port_attrs.fields[i].attr == attr)
			return rp_table_cell(&rp_port_attrs.fields[i], port->at[attr], text);
	return "";
}

/* the first column is there to indent */
static void print_ports(const struct rp_overview *o)
{
	static const char *const heads[] = { " ", "PORT", "STATE", "FOR", "SHARE", "WEIGHT",
					     "REASON", NULL };
	static const bool right[] = { false, false, false, true, true, true, false };
	static const uint16_t attrs[] = {
		ROCEPATH_A_PORT_NAME, ROCEPATH_A_PORT_STATE, ROCEPATH_A_PORT_SINCE_MS,
		ROCEPATH_A_PORT_SHARE, ROCEPATH_A_PORT_WEIGHT, ROCEPATH_A_PORT_REASON,
	};
	struct libscols_table *table = rp_table_text(heads, right);

	for (unsigned int i = 0; i < o->port_count; i++) {
		char text[7][RP_TEXT_LEN];
		const char *cells[7] = { " " };

		for (unsigned int c = 0; c < 6; c++)
			cells[c + 1] = port_cell(&o->ports[i], attrs[c], text[c]);
		rp_table_line(table, cells, 7);
	}
	rp_table_print(table, true);
}

static void text_advice(void *data, const char *text)
{
	unsigned int *count = data;

	(*count)++;
	printf("  ! %s\n", text);
}

static void print_text(const struct rp_overview *o)
{
	unsigned int advices = 0;

	print_head(o);
	print_ports(o);
	rp_advise(o, text_advice, &advices);
	if (!advices)
		printf("  nothing is wrong\n");
}

static int print_all(struct rp_cli *cli, const struct snapshot *s)
{
	struct rp_json json = { stdout, cli->format.pretty, true, 0 };
	struct rp_overview overview;
	int err = 0;

	if (cli->format.json)
		rp_json_open(&json, NULL, '[');
	for (size_t i = 0; !err && i < s->devices.count; i++) {
		err = gather(s, i, &overview);
		if (err)
			break;
		if (cli->format.json)
			print_json(&json, &overview);
		else
			print_text(&overview);
		if (!cli->format.json && i + 1 < s->devices.count)
			putchar('\n');
	}
	if (cli->format.json)
		rp_json_close(&json, ']');
	else if (!s->devices.count)
		puts("no rocepath device yet; make one and give it ports:\n"
		     "  ip link add rp0 type rocepath\n"
		     "  ip link set eth0 master rp0\n"
		     "  ip link set rp0 up");
	return err;
}

static int print_policy(struct rp_cli *cli)
{
	if (cli->format.json) {
		puts("[]");
		return RP_EXIT_OK;
	}
	puts("a policy is in force (rocepath status says where); without the module (modprobe rocepath) there are no devices");
	return rp_policy_classes(cli);
}

/**
 * rp_overview() - rocepath, without arguments
 * @cli: this run
 */
int rp_overview(struct rp_cli *cli)
{
	struct snapshot s = { 0 };
	int err;

	if (!rp_cli_has_module() && rp_policy_is_in_force())
		return print_policy(cli);
	if (rp_cli_connect(cli))
		return RP_EXIT_FAILURE;
	err = take(cli->nl, &s);
	if (!err)
		err = print_all(cli, &s);
	drop(&s.devices);
	drop(&s.ports);
	drop(&s.peers);
	drop(&s.keys);
	return err ? rp_nl_explain(cli->nl, err, NULL, NULL) : RP_EXIT_OK;
}
