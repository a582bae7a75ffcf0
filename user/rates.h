/* SPDX-License-Identifier: GPL-2.0 */
/* What happens in a second: the difference of two samples. */
#ifndef ROCEPATH_USER_RATES_H
#define ROCEPATH_USER_RATES_H

#include "sample.h"

struct rp_json;

/* all are of one second, but for shares, which are of the interval */
struct rp_device_rate {
	const struct rp_device_row *now;
	uint64_t tx_bits, rx_bits, rerouted, repaired, held, dropped;
};

struct rp_port_rate {
	const struct rp_port_row *now;
	uint64_t tx_bits, rx_bits, tx_packets, rx_packets, lost;
};

struct rp_path_rate {
	const struct rp_path_row *now;
	uint64_t packets;
	uint32_t loss_ppm, marked_ppm;
};

struct rp_flow_rate {
	const struct rp_flow_row *now;
	uint64_t packets, bits, repaired;
	uint32_t sprayed_ppm;
};

/**
 * struct rp_rates - what happened between two samples
 * @now: the later one, whose rows the others point to
 * @interval_us: between them
 * @devices: by ifindex
 * @ports: by device and ifindex
 * @paths: those that do not carry data first, then the busiest
 * @flows: the busiest first
 */
struct rp_rates {
	const struct rp_sample *now;
	uint64_t interval_us;
	struct rp_device_rate *devices;
	struct rp_port_rate *ports;
	struct rp_path_rate *paths;
	struct rp_flow_rate *flows;
};

int rp_rates_make(struct rp_rates *rates, const struct rp_sample *before,
		  const struct rp_sample *now);
void rp_rates_release(struct rp_rates *rates);
const char *rp_rates_device(const struct rp_rates *rates, uint32_t ifindex);
void rp_rates_json(const struct rp_rates *rates, struct rp_json *json);

#endif /* ROCEPATH_USER_RATES_H */
