/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What stays when the tool exits: maps, programs and links under RP_PIN_DIR.
 *
 *   MAP                     each map, by its name
 *   active                  the policy in force, for bpftool
 *   programs-HASH/PROGRAM   the programs of one build, all or none
 *   links/census_NAME       what watches QPs
 *   links/admit-IFINDEX     XDP, for each port
 *
 * What is new is made in `stage`, renamed to `next` when it is whole, and moved from there: who
 * is killed in between leaves either the old ones, or a `next` that the next one moves.
 */
#ifndef ROCEPATH_USER_POLICY_PINS_H
#define ROCEPATH_USER_POLICY_PINS_H

#include <rocepath/policy.h>

#include "../error.h"

#define RP_STAGE RP_PIN_DIR "/stage"
#define RP_NEXT RP_PIN_DIR "/next"
#define RP_PATH_LEN 128

enum rp_map {
	RP_MAP_POLICY,
	RP_MAP_PEERS4,
	RP_MAP_PEERS6,
	RP_MAP_QPS,
	RP_MAP_QP_TX,
	RP_MAP_QP_RX,
	RP_MAP_JOBS,
	RP_MAP_JOB_INDEX,
	RP_MAP_PACERS,
	RP_MAP_CLASS_COUNTERS,
	RP_MAP_RULE_COUNTERS,
	RP_MAP_EVENTS,
	RP_MAP_DOCUMENTS,
	RP_MAP_PORTS,
	RP_MAP_LAYOUT,
	RP_MAPS,
};

extern const char *const rp_map_names[RP_MAPS];

struct rp_maps {
	int fd[RP_MAPS];
};

int rp_pins_begin(struct rp_error *error);
int rp_pins_lock(struct rp_error *error);
int rp_pins_commit(struct rp_error *error);
void rp_pins_abandon(void);
int rp_pins_remove(struct rp_error *error);
int rp_pins_make_stage(const char *directory, struct rp_error *error);

uint32_t rp_netns_number(void);
bool rp_pins_are_elsewhere(void);

int rp_maps_open(struct rp_maps *maps, struct rp_error *error);
int rp_map_open(enum rp_map map);
int rp_map_inner(const struct rp_maps *maps);
void rp_maps_close(struct rp_maps *maps);

#endif /* ROCEPATH_USER_POLICY_PINS_H */
