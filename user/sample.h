/* SPDX-License-Identifier: GPL-2.0 */
/* What devices, ports, paths and flows have done so far: one look at the counters. */
#ifndef ROCEPATH_USER_SAMPLE_H
#define ROCEPATH_USER_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/if.h>
#include <linux/rocepath.h>

#include "units.h"

struct rp_nl;

/* each row begins with its key, by which rows are sorted and found again */
struct rp_device_row {
	uint32_t ifindex;
	char name[IFNAMSIZ], scheduler[ROCEPATH_SCHEDULER_NAME_LEN];
	uint32_t ports, ports_up, peers, flows, held_bytes, kept_bytes;
	uint64_t tx_bytes, rx_bytes, rerouted, repaired, held, dropped;
};

struct rp_port_row {
	uint32_t device, ifindex;
	char name[IFNAMSIZ];
	uint32_t state, share_permille;
	uint64_t since_ms, tx_bytes, rx_bytes, tx_packets, rx_packets, lost;
};

struct rp_path_row {
	uint32_t device;
	uint8_t peer[RP_ADDRESS_LEN];
	uint32_t port, ev;
	char port_name[IFNAMSIZ];
	bool has_peer;
	bool has_late;
	uint32_t state, reason, share_ppm, rtt_us, late_us;
	uint32_t received, marked;	/* these wrap */
	uint64_t since_ms, rtt_age_ms, delivered, lost;
};

struct rp_flow_row {
	uint32_t device;
	uint8_t peer[RP_ADDRESS_LEN];
	uint32_t local_qpn, remote_qpn;
	uint32_t type, held, kept;
	uint64_t packets, bytes, sprayed, repaired;
};

struct rp_class_row {
	uint32_t device, id;
	char scheduler[ROCEPATH_SCHEDULER_NAME_LEN];
};

/**
 * struct rp_rows - rows of one kind, sorted by their keys
 * @at: the rows
 * @count: of them
 * @room: for so many
 * @size: bytes of each
 * @key: bytes of its key
 */
struct rp_rows {
	void *at;
	size_t count, room, size, key;
};

/**
 * struct rp_sample - all of it, at one time
 * @time_us: monotonic
 * @devices: struct rp_device_row
 * @ports: struct rp_port_row
 * @paths: struct rp_path_row
 * @classes: struct rp_class_row
 * @flows: struct rp_flow_row
 * @flows_hidden: they may not be seen
 */
struct rp_sample {
	uint64_t time_us;
	struct rp_rows devices, ports, paths, classes, flows;
	bool flows_hidden;
};

int rp_sample_take(struct rp_nl *nl, uint32_t device, struct rp_sample *sample);
void rp_sample_release(struct rp_sample *sample);
const void *rp_rows_find(const struct rp_rows *rows, const void *row);

#endif /* ROCEPATH_USER_SAMPLE_H */
