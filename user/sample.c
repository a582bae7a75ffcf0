// SPDX-License-Identifier: GPL-2.0
/*
 * Rows are compared by the bytes of their keys, which are at their beginning:
 * so they are zeroed first, and keys have no padding.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attrs.h"
#include "netlink.h"
#include "sample.h"

_Static_assert(offsetof(struct rp_path_row, port_name) == 28, "a key has no padding");
_Static_assert(offsetof(struct rp_flow_row, type) == 28, "a key has no padding");

/* one dump on its way into rows */
struct gathering {
	const struct rp_set *set;
	void (*fill)(void *row, const struct rp_attrs *attrs);
	struct rp_rows *rows;
	uint16_t device_attr;
	uint32_t device;	/* ifindex, 0: all */
};

static void copy_string(char *to, size_t size, const struct rp_attrs *attrs, uint16_t attr)
{
	strncpy(to, rp_attr_string(attrs, attr), size - 1);
}

static void copy_address(uint8_t *to, const struct rp_attrs *attrs, uint16_t attr)
{
	if (attrs->at[attr])
		memcpy(to, mnl_attr_get_payload(attrs->at[attr]), RP_ADDRESS_LEN);
}

/* the sum of the counters whose names begin like that */
static uint64_t counters(const struct nlattr *list, const char *prefix)
{
	const struct nlattr *stat;
	struct rp_attrs attrs;
	uint64_t sum = 0;

	if (!list)
		return 0;
	mnl_attr_for_each_nested(stat, list)
		if (mnl_attr_get_type(stat) == ROCEPATH_A_STATS_STAT &&
		    !rp_attrs_nested(&rp_stat_attrs, stat, &attrs) &&
		    !strncmp(rp_attr_string(&attrs, ROCEPATH_A_STAT_NAME), prefix, strlen(prefix)))
			sum += rp_attr_number(&attrs, ROCEPATH_A_STAT_VALUE);
	return sum;
}

static void fill_device(void *row, const struct rp_attrs *a)
{
	const struct nlattr *stats = a->at[ROCEPATH_A_DEVICE_STATS];
	struct rp_device_row *r = row;

	r->ifindex = rp_attr_number(a, ROCEPATH_A_DEVICE_IFINDEX);
	copy_string(r->name, sizeof(r->name), a, ROCEPATH_A_DEVICE_NAME);
	copy_string(r->scheduler, sizeof(r->scheduler), a, ROCEPATH_A_DEVICE_SCHEDULER);
	r->ports = rp_attr_number(a, ROCEPATH_A_DEVICE_PORTS);
	r->ports_up = rp_attr_number(a, ROCEPATH_A_DEVICE_PORTS_UP);
	r->peers = rp_attr_number(a, ROCEPATH_A_DEVICE_PEERS);
	r->flows = rp_attr_number(a, ROCEPATH_A_DEVICE_FLOWS);
	r->held_bytes = rp_attr_number(a, ROCEPATH_A_DEVICE_HELD_BYTES);
	r->kept_bytes = rp_attr_number(a, ROCEPATH_A_DEVICE_KEPT_BYTES);
	r->tx_bytes = counters(stats, "tx_bytes");
	r->rx_bytes = counters(stats, "rx_bytes");
	r->rerouted = counters(stats, "tx_rerouted");
	r->repaired = counters(stats, "tx_repaired");
	r->held = counters(stats, "rx_held");
	r->dropped = counters(stats, "tx_drop_") + counters(stats, "rx_drop_");
}

static void fill_port(void *row, const struct rp_attrs *a)
{
	const struct nlattr *stats = a->at[ROCEPATH_A_PORT_STATS];
	struct rp_port_row *r = row;

	r->device = rp_attr_number(a, ROCEPATH_A_PORT_DEVICE);
	r->ifindex = rp_attr_number(a, ROCEPATH_A_PORT_IFINDEX);
	copy_string(r->name, sizeof(r->name), a, ROCEPATH_A_PORT_NAME);
	r->state = rp_attr_number(a, ROCEPATH_A_PORT_STATE);
	r->share_permille = rp_attr_number(a, ROCEPATH_A_PORT_SHARE);
	r->since_ms = rp_attr_number(a, ROCEPATH_A_PORT_SINCE_MS);
	r->tx_bytes = counters(stats, "tx_bytes");
	r->rx_bytes = counters(stats, "rx_bytes");
	r->tx_packets = counters(stats, "tx_packets");
	r->rx_packets = counters(stats, "rx_packets");
	r->lost = counters(stats, "tx_lost") + counters(stats, "tx_dropped");
}

static void fill_path(void *row, const struct rp_attrs *a)
{
	struct rp_path_row *r = row;

	r->device = rp_attr_number(a, ROCEPATH_A_PATH_DEVICE);
	copy_address(r->peer, a, ROCEPATH_A_PATH_PEER);
	r->has_peer = a->at[ROCEPATH_A_PATH_PEER];
	r->port = rp_attr_number(a, ROCEPATH_A_PATH_PORT);
	r->ev = rp_attr_number(a, ROCEPATH_A_PATH_EV);
	copy_string(r->port_name, sizeof(r->port_name), a, ROCEPATH_A_PATH_PORT_NAME);
	r->state = rp_attr_number(a, ROCEPATH_A_PATH_STATE);
	r->reason = rp_attr_number(a, ROCEPATH_A_PATH_REASON);
	r->share_ppm = rp_attr_number(a, ROCEPATH_A_PATH_SHARE);
	r->rtt_us = rp_attr_number(a, ROCEPATH_A_PATH_RTT_US);
	r->rtt_age_ms = rp_attr_number(a, ROCEPATH_A_PATH_RTT_AGE_MS);
	r->has_late = a->at[ROCEPATH_A_PATH_LATE_US];
	r->late_us = rp_attr_number(a, ROCEPATH_A_PATH_LATE_US);
	r->received = rp_attr_number(a, ROCEPATH_A_PATH_RECEIVED);
	r->marked = rp_attr_number(a, ROCEPATH_A_PATH_MARKED);
	r->since_ms = rp_attr_number(a, ROCEPATH_A_PATH_SINCE_MS);
	r->delivered = rp_attr_number(a, ROCEPATH_A_PATH_DELIVERED);
	r->lost = rp_attr_number(a, ROCEPATH_A_PATH_LOST);
}

static void fill_class(void *row, const struct rp_attrs *a)
{
	struct rp_class_row *r = row;

	r->device = rp_attr_number(a, ROCEPATH_A_CLASS_DEVICE);
	r->id = rp_attr_number(a, ROCEPATH_A_CLASS_ID);
	copy_string(r->scheduler, sizeof(r->scheduler), a, ROCEPATH_A_CLASS_SCHEDULER);
}

/* requests and responses together */
static uint64_t both(const struct rp_attrs *a, uint16_t requests, uint16_t responses,
		     const struct rp_set *set, uint16_t attr)
{
	const struct nlattr *nests[] = { a->at[requests], a->at[responses] };
	struct rp_attrs inner;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < 2; i++)
		if (nests[i] && !rp_attrs_nested(set, nests[i], &inner))
			sum += rp_attr_number(&inner, attr);
	return sum;
}

static void fill_flow(void *row, const struct rp_attrs *a)
{
	static const uint16_t in[] = { ROCEPATH_A_FLOW_REQUESTS, ROCEPATH_A_FLOW_RESPONSES };
	static const uint16_t out[] = {
		ROCEPATH_A_FLOW_SENT_REQUESTS, ROCEPATH_A_FLOW_SENT_RESPONSES
	};
	struct rp_flow_row *r = row;

	r->device = rp_attr_number(a, ROCEPATH_A_FLOW_DEVICE);
	copy_address(r->peer, a, ROCEPATH_A_FLOW_PEER);
	r->local_qpn = rp_attr_number(a, ROCEPATH_A_FLOW_LOCAL_QPN);
	r->remote_qpn = rp_attr_number(a, ROCEPATH_A_FLOW_REMOTE_QPN);
	r->type = rp_attr_number(a, ROCEPATH_A_FLOW_QP_TYPE);
	r->packets = rp_attr_number(a, ROCEPATH_A_FLOW_TX_PACKETS);
	r->bytes = rp_attr_number(a, ROCEPATH_A_FLOW_TX_BYTES);
	r->sprayed = rp_attr_number(a, ROCEPATH_A_FLOW_TX_SPRAYED);
	r->held = both(a, in[0], in[1], &rp_window_attrs, ROCEPATH_A_WINDOW_HELD);
	r->kept = both(a, out[0], out[1], &rp_queue_attrs, ROCEPATH_A_QUEUE_PACKETS);
	r->repaired = both(a, out[0], out[1], &rp_queue_attrs, ROCEPATH_A_QUEUE_REPAIRED);
}

static void *add_row(struct rp_rows *rows)
{
	if (rows->count == rows->room) {
		size_t room = 2 * rows->room + 16;
		void *grown = reallocarray(rows->at, room, rows->size);

		if (!grown)
			return NULL;
		rows->at = grown;
		rows->room = room;
	}
	return memset((char *)rows->at + rows->count++ * rows->size, 0, rows->size);
}

static int take(const struct nlmsghdr *nlh, void *data)
{
	const struct gathering *g = data;
	struct rp_attrs attrs;
	int err = rp_attrs_message(g->set, nlh, &attrs);
	void *row;

	if (err || (g->device && rp_attr_number(&attrs, g->device_attr) != g->device))
		return err;
	row = add_row(g->rows);
	if (!row)
		return -ENOMEM;
	g->fill(row, &attrs);
	return 0;
}

static int compare(const void *a, const void *b, void *rows)
{
	return memcmp(a, b, ((const struct rp_rows *)rows)->key);
}

static int gather(struct rp_nl *nl, enum rocepath_cmd cmd, struct gathering g)
{
	struct nlmsghdr *nlh = rp_nl_request(nl, cmd);
	int err;

	if (g.device)
		mnl_attr_put_u32(nlh, g.device_attr, g.device);
	err = rp_nl_dump(nl, take, &g);
	if (!err && g.rows->count)
		qsort_r(g.rows->at, g.rows->count, g.rows->size, compare, g.rows);
	return err;
}

/**
 * rp_rows_find() - find a row by its key
 * @rows: where to look
 * @row: one that has the same key
 *
 * Return: the row or NULL.
 */
const void *rp_rows_find(const struct rp_rows *rows, const void *row)
{
	size_t low = 0, high = rows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *at = (const char *)rows->at + middle * rows->size;
		int order = memcmp(row, at, rows->key);

		if (!order)
			return at;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

#define ROWS(type, last) \
	{ .size = sizeof(struct type), \
	  .key = offsetof(struct type, last) + sizeof(((struct type *)0)->last) }

/**
 * rp_sample_take() - look at the counters
 * @nl: the socket
 * @device: ifindex of the only one that is wanted, 0: all are
 * @sample: filled in; rp_sample_release() frees what it holds, after an error too
 *
 * Return: 0 or a negative error number.
 */
int rp_sample_take(struct rp_nl *nl, uint32_t device, struct rp_sample *sample)
{
	struct rp_sample *s = sample;
	int err;

	*s = (struct rp_sample){
		.time_us = now_us(),
		.devices = ROWS(rp_device_row, ifindex), .ports = ROWS(rp_port_row, ifindex),
		.paths = ROWS(rp_path_row, ev), .classes = ROWS(rp_class_row, id),
		.flows = ROWS(rp_flow_row, remote_qpn),
	};
	err = gather(nl, ROCEPATH_CMD_DEVICE_GET, (struct gathering){
		&rp_device_attrs, fill_device, &s->devices, ROCEPATH_A_DEVICE_IFINDEX, device });
	if (!err)
		err = gather(nl, ROCEPATH_CMD_PORT_GET, (struct gathering){
			&rp_port_attrs, fill_port, &s->ports, ROCEPATH_A_PORT_DEVICE, device });
	if (!err)
		err = gather(nl, ROCEPATH_CMD_PATH_GET, (struct gathering){
			&rp_path_attrs, fill_path, &s->paths, ROCEPATH_A_PATH_DEVICE, device });
	if (!err)
		err = gather(nl, ROCEPATH_CMD_CLASS_GET, (struct gathering){
			&rp_class_attrs, fill_class, &s->classes, ROCEPATH_A_CLASS_DEVICE,
			device });
	if (!err)
		err = gather(nl, ROCEPATH_CMD_FLOW_GET, (struct gathering){
			&rp_flow_attrs, fill_flow, &s->flows, ROCEPATH_A_FLOW_DEVICE, device });
	s->flows_hidden = err == -EPERM;
	return s->flows_hidden ? 0 : err;
}

/**
 * rp_sample_release() - free what it holds
 * @sample: taken, or zeroed
 */
void rp_sample_release(struct rp_sample *sample)
{
	free(sample->devices.at);
	free(sample->ports.at);
	free(sample->paths.at);
	free(sample->classes.at);
	free(sample->flows.at);
	memset(sample, 0, sizeof(*sample));
}
