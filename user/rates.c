// SPDX-License-Identifier: GPL-2.0
/*
 * What was not there before has no rate yet; what counts backwards was made
 * anew, and has none either.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrs.h"
#include "rates.h"

#define PPM 1000000
#define BITS 8

static uint64_t per_second(const struct rp_rates *rates, uint64_t before, uint64_t now)
{
	if (now <= before || !rates->interval_us)
		return 0;
	return (__uint128_t)(now - before) * 1000000 / rates->interval_us;
}

static uint32_t part(uint64_t some, uint64_t all)
{
	return all && some <= all ? (__uint128_t)some * PPM / all : 0;
}

static void rate_devices(struct rp_rates *r, const struct rp_sample *before)
{
	const struct rp_device_row *now = r->now->devices.at;

	for (size_t i = 0; i < r->now->devices.count; i++, now++) {
		const struct rp_device_row *old = rp_rows_find(&before->devices, now);
		struct rp_device_rate *rate = &r->devices[i];

		*rate = (struct rp_device_rate){ .now = now };
		if (!old)
			continue;
		rate->tx_bits = BITS * per_second(r, old->tx_bytes, now->tx_bytes);
		rate->rx_bits = BITS * per_second(r, old->rx_bytes, now->rx_bytes);
		rate->rerouted = per_second(r, old->rerouted, now->rerouted);
		rate->repaired = per_second(r, old->repaired, now->repaired);
		rate->held = per_second(r, old->held, now->held);
		rate->dropped = per_second(r, old->dropped, now->dropped);
	}
}

static void rate_ports(struct rp_rates *r, const struct rp_sample *before)
{
	const struct rp_port_row *now = r->now->ports.at;

	for (size_t i = 0; i < r->now->ports.count; i++, now++) {
		const struct rp_port_row *old = rp_rows_find(&before->ports, now);
		struct rp_port_rate *rate = &r->ports[i];

		*rate = (struct rp_port_rate){ .now = now };
		if (!old)
			continue;
		rate->tx_bits = BITS * per_second(r, old->tx_bytes, now->tx_bytes);
		rate->rx_bits = BITS * per_second(r, old->rx_bytes, now->rx_bytes);
		rate->tx_packets = per_second(r, old->tx_packets, now->tx_packets);
		rate->rx_packets = per_second(r, old->rx_packets, now->rx_packets);
		rate->lost = per_second(r, old->lost, now->lost);
	}
}

static void rate_paths(struct rp_rates *r, const struct rp_sample *before)
{
	const struct rp_path_row *now = r->now->paths.at;

	for (size_t i = 0; i < r->now->paths.count; i++, now++) {
		const struct rp_path_row *old = rp_rows_find(&before->paths, now);
		struct rp_path_rate *rate = &r->paths[i];
		uint64_t lost;

		*rate = (struct rp_path_rate){ .now = now };
		if (!old || now->delivered < old->delivered || now->lost < old->lost)
			continue;
		lost = now->lost - old->lost;
		rate->packets = per_second(r, old->delivered, now->delivered);
		rate->loss_ppm = part(lost, lost + now->delivered - old->delivered);
		rate->marked_ppm = part(now->marked - old->marked, now->received - old->received);
	}
}

static void rate_flows(struct rp_rates *r, const struct rp_sample *before)
{
	const struct rp_flow_row *now = r->now->flows.at;

	for (size_t i = 0; i < r->now->flows.count; i++, now++) {
		const struct rp_flow_row *old = rp_rows_find(&before->flows, now);
		struct rp_flow_rate *rate = &r->flows[i];

		*rate = (struct rp_flow_rate){ .now = now };
		if (!old || now->packets < old->packets)
			continue;
		rate->packets = per_second(r, old->packets, now->packets);
		rate->bits = BITS * per_second(r, old->bytes, now->bytes);
		rate->repaired = per_second(r, old->repaired, now->repaired);
		rate->sprayed_ppm = part(now->sprayed - old->sprayed, now->packets - old->packets);
	}
}

static int busiest_first(uint64_t busy_a, uint64_t busy_b)
{
	return busy_a < busy_b ? 1 : busy_a > busy_b ? -1 : 0;
}

static int compare_paths(const void *a, const void *b)
{
	const struct rp_path_rate *x = a, *y = b;
	bool x_up = x->now->state == ROCEPATH_PATH_UP, y_up = y->now->state == ROCEPATH_PATH_UP;
	int order = x_up - y_up;

	if (!order)
		order = busiest_first(x->packets, y->packets);
	return order ? order : x->now < y->now ? -1 : 1;
}

static int compare_flows(const void *a, const void *b)
{
	const struct rp_flow_rate *x = a, *y = b;
	int order = busiest_first(x->packets, y->packets);

	return order ? order : x->now < y->now ? -1 : 1;
}

/* never NULL for nothing */
static void *room(size_t count, size_t size)
{
	return calloc(count ? count : 1, size);
}

/**
 * rp_rates_make() - compare two samples
 * @rates: filled in; rp_rates_release() frees what it holds, after an error too
 * @before: the earlier one, may have nothing in it
 * @now: the later one, which must stay as long as @rates
 *
 * Return: 0 or -ENOMEM.
 */
int rp_rates_make(struct rp_rates *rates, const struct rp_sample *before,
		  const struct rp_sample *now)
{
	struct rp_rates *r = rates;

	*r = (struct rp_rates){
		.now = now,
		.interval_us = before->time_us ? now->time_us - before->time_us : 0,
		.devices = room(now->devices.count, sizeof(*r->devices)),
		.ports = room(now->ports.count, sizeof(*r->ports)),
		.paths = room(now->paths.count, sizeof(*r->paths)),
		.flows = room(now->flows.count, sizeof(*r->flows)),
	};
	if (!r->devices || !r->ports || !r->paths || !r->flows)
		return -ENOMEM;
	rate_devices(r, before);
	rate_ports(r, before);
	rate_paths(r, before);
	rate_flows(r, before);
	qsort(r->paths, now->paths.count, sizeof(*r->paths), compare_paths);
	qsort(r->flows, now->flows.count, sizeof(*r->flows), compare_flows);
	return 0;
}

/**
 * rp_rates_release() - free what it holds
 * @rates: made, or zeroed
 */
void rp_rates_release(struct rp_rates *rates)
{
	free(rates->devices);
	free(rates->ports);
	free(rates->paths);
	free(rates->flows);
	memset(rates, 0, sizeof(*rates));
}

/**
 * rp_rates_device() - the name of a device
 * @rates: rates that it is in
 * @ifindex: of the device
 *
 * Return: "-" when it came between two dumps of one sample, or is none.
 */
const char *rp_rates_device(const struct rp_rates *rates, uint32_t ifindex)
{
	const struct rp_device_row *row = rp_rows_find(&rates->now->devices, &ifindex);

	return row ? row->name : "-";
}
