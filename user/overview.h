/* SPDX-License-Identifier: GPL-2.0 */
/* All that is known of a device, and what follows from it. */
#ifndef ROCEPATH_USER_OVERVIEW_H
#define ROCEPATH_USER_OVERVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/rocepath.h>

#include "attrs.h"

#define RP_PEER_STATES 3
#define RP_KEYS_SHOWN 8

/**
 * struct rp_overview - a device and all that belongs to it
 * @device: its attributes
 * @name: of it
 * @ports: their attributes
 * @port_count: of them
 * @peers: how many are in each enum rocepath_peer_state
 * @keys: their ids
 * @key_count: of them
 * @active_key: index into @keys, -1: none
 * @keys_hidden: they may not be seen
 * @hellos_refused: control packets with an unknown key or a wrong MAC, since the device was made
 */
struct rp_overview {
	struct rp_attrs device;
	const char *name;
	struct rp_attrs ports[ROCEPATH_PORTS_MAX];
	unsigned int port_count;
	unsigned int peers[RP_PEER_STATES];
	uint8_t keys[RP_KEYS_SHOWN];
	unsigned int key_count;
	int active_key;
	bool keys_hidden;
	uint64_t hellos_refused;
};

/* whether a netdevice is administratively up, and has carrier */
enum rp_link {
	RP_LINK_DOWN,
	RP_LINK_NO_CARRIER,
	RP_LINK_UP,
};

typedef void (*rp_advice_fn)(void *data, const char *text);

enum rp_link rp_link_state(const char *name);
const char *rp_link_name(enum rp_link link);
void rp_advise(const struct rp_overview *overview, rp_advice_fn say, void *data);

#endif /* ROCEPATH_USER_OVERVIEW_H */
