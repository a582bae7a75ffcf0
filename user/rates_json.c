// SPDX-License-Identifier: GPL-2.0
/* Rates for programs; what is drawn of them for people is in view.c. */
#include "attrs.h"
#include "json.h"
#include "rates.h"

static void json_device(struct rp_json *json, const struct rp_device_rate *rate)
{
	const struct rp_device_row *row = rate->now;

	rp_json_open(json, NULL, '{');
	rp_json_string(json, "name", row->name);
	rp_json_string(json, "scheduler", row->scheduler);
	rp_json_number(json, "ports", row->ports);
	rp_json_number(json, "ports_up", row->ports_up);
	rp_json_number(json, "peers", row->peers);
	rp_json_number(json, "flows", row->flows);
	rp_json_number(json, "held_bytes", row->held_bytes);
	rp_json_number(json, "kept_bytes", row->kept_bytes);
	rp_json_number(json, "tx_bits_per_s", rate->tx_bits);
	rp_json_number(json, "rx_bits_per_s", rate->rx_bits);
	rp_json_number(json, "held_per_s", rate->held);
	rp_json_number(json, "repaired_per_s", rate->repaired);
	rp_json_number(json, "rerouted_per_s", rate->rerouted);
	rp_json_number(json, "dropped_per_s", rate->dropped);
	rp_json_close(json, '}');
}

static void json_enum(struct rp_json *json, const char *key, const struct rp_set *set,
		      uint16_t attr, uint32_t value)
{
	const struct rp_field *field = rp_attr_field(set, attr);

	if (value < field->name_count)
		rp_json_string(json, key, field->names[value]);
	else
		rp_json_null(json, key);
}

static void json_port(struct rp_json *json, const struct rp_rates *rates,
		      const struct rp_port_rate *rate)
{
	const struct rp_port_row *row = rate->now;

	rp_json_open(json, NULL, '{');
	rp_json_string(json, "device", rp_rates_device(rates, row->device));
	rp_json_string(json, "name", row->name);
	json_enum(json, "state", &rp_port_attrs, ROCEPATH_A_PORT_STATE, row->state);
	rp_json_number(json, "since_ms", row->since_ms);
	rp_json_number(json, "share_permille", row->share_permille);
	rp_json_number(json, "tx_bits_per_s", rate->tx_bits);
	rp_json_number(json, "rx_bits_per_s", rate->rx_bits);
	rp_json_number(json, "tx_packets_per_s", rate->tx_packets);
	rp_json_number(json, "rx_packets_per_s", rate->rx_packets);
	rp_json_number(json, "lost_per_s", rate->lost);
	rp_json_close(json, '}');
}

static void json_peer(struct rp_json *json, const uint8_t *peer)
{
	char text[RP_TEXT_LEN];

	rp_address_print(peer, text);
	rp_json_string(json, "peer", text);
}

static void json_path(struct rp_json *json, const struct rp_rates *rates,
		      const struct rp_path_rate *rate)
{
	const struct rp_path_row *row = rate->now;

	rp_json_open(json, NULL, '{');
	rp_json_string(json, "device", rp_rates_device(rates, row->device));
	if (row->has_peer)
		json_peer(json, row->peer);
	rp_json_string(json, "port", row->port_name);
	rp_json_number(json, "ev", row->ev);
	json_enum(json, "state", &rp_path_attrs, ROCEPATH_A_PATH_STATE, row->state);
	rp_json_number(json, "share", row->share_ppm);
	if (row->has_peer) {
		json_enum(json, "reason", &rp_path_attrs, ROCEPATH_A_PATH_REASON, row->reason);
		rp_json_number(json, "since_ms", row->since_ms);
		rp_json_number(json, "packets_per_s", rate->packets);
		rp_json_number(json, "loss_ppm", rate->loss_ppm);
		rp_json_number(json, "marked_ppm", rate->marked_ppm);
		if (row->rtt_us) {
			rp_json_number(json, "rtt_us", row->rtt_us);
			rp_json_number(json, "rtt_age_ms", row->rtt_age_ms);
		}
		if (row->has_late)
			rp_json_number(json, "late_us", row->late_us);
	}
	rp_json_close(json, '}');
}

static void json_class(struct rp_json *json, const struct rp_rates *rates,
		       const struct rp_class_row *row)
{
	rp_json_open(json, NULL, '{');
	rp_json_string(json, "device", rp_rates_device(rates, row->device));
	rp_json_number(json, "id", row->id);
	rp_json_string(json, "scheduler", row->scheduler);
	rp_json_close(json, '}');
}

static void json_flow(struct rp_json *json, const struct rp_rates *rates,
		      const struct rp_flow_rate *rate)
{
	const struct rp_flow_row *row = rate->now;

	rp_json_open(json, NULL, '{');
	rp_json_string(json, "device", rp_rates_device(rates, row->device));
	json_peer(json, row->peer);
	rp_json_number(json, "local_qpn", row->local_qpn);
	rp_json_number(json, "remote_qpn", row->remote_qpn);
	json_enum(json, "qp_type", &rp_flow_attrs, ROCEPATH_A_FLOW_QP_TYPE, row->type);
	rp_json_number(json, "packets_per_s", rate->packets);
	rp_json_number(json, "bits_per_s", rate->bits);
	rp_json_number(json, "sprayed_ppm", rate->sprayed_ppm);
	rp_json_number(json, "held", row->held);
	rp_json_number(json, "kept", row->kept);
	rp_json_number(json, "repaired_per_s", rate->repaired);
	rp_json_close(json, '}');
}

/**
 * rp_rates_json() - write rates
 * @rates: the rates
 * @json: the writer
 */
void rp_rates_json(const struct rp_rates *rates, struct rp_json *json)
{
	const struct rp_sample *now = rates->now;

	rp_json_open(json, NULL, '{');
	rp_json_number(json, "interval_us", rates->interval_us);
	rp_json_open(json, "devices", '[');
	for (size_t i = 0; i < now->devices.count; i++)
		json_device(json, &rates->devices[i]);
	rp_json_close(json, ']');
	rp_json_open(json, "ports", '[');
	for (size_t i = 0; i < now->ports.count; i++)
		json_port(json, rates, &rates->ports[i]);
	rp_json_close(json, ']');
	rp_json_open(json, "paths", '[');
	for (size_t i = 0; i < now->paths.count; i++)
		json_path(json, rates, &rates->paths[i]);
	rp_json_close(json, ']');
	rp_json_open(json, "classes", '[');
	for (size_t i = 0; i < now->classes.count; i++)
		json_class(json, rates, (const struct rp_class_row *)now->classes.at + i);
	rp_json_close(json, ']');
	if (now->flows_hidden) {
		rp_json_null(json, "flows");
	} else {
		rp_json_open(json, "flows", '[');
		for (size_t i = 0; i < now->flows.count; i++)
			json_flow(json, rates, &rates->flows[i]);
		rp_json_close(json, ']');
	}
	rp_json_close(json, '}');
}
