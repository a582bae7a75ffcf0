/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ports of a device, as a table to pick from: made anew when a port comes,
 * goes, fails or changes its weight, and read only after that. And how a path is
 * written into a packet.
 */
#ifndef ROCEPATH_CORE_PATHS_H
#define ROCEPATH_CORE_PATHS_H

#include <rocepath/types.h>
#include <linux/rocepath.h>

#define RP_PATHS_BUCKETS 256

/* one path: a port and one of its entropy values, by number */
struct rp_path {
	u8 port;
	u8 ev;
};

/**
 * struct rp_paths_port - a port as the table's maker is told of it
 * @weight: 1 to ROCEPATH_WEIGHT_MAX, 0: there is no such port
 * @evs: entropy values, 1 to ROCEPATH_EVS_MAX
 * @up: may carry traffic
 */
struct rp_paths_port {
	u16 weight;
	u16 evs;
	bool up;
};

/**
 * struct rp_paths - what flows to peers without a pathset, and all else, pick from
 * @ports_up: ports that may carry traffic
 * @weights: sum of @weight
 * @weight: of each port that is up
 * @evs: entropy values of each port
 * @bucket: the port of each hash bucket. A bucket of a port that is up never moves because of
 *	another port
 */
struct rp_paths {
	u16 ports_up;
	u16 weights;
	u16 weight[ROCEPATH_PORTS_MAX];
	u16 evs[ROCEPATH_PORTS_MAX];
	u8 bucket[RP_PATHS_BUCKETS];
};

/**
 * rp_paths_build() - make the table
 * @p: filled in
 * @ports: ROCEPATH_PORTS_MAX of them
 *
 * Buckets belong by weight to all ports, up or not; those of a port that is down
 * are lent to the ports that are up. Both are shared out to within one of the
 * exact share. With no port up all is 0 but @evs.
 *
 * Context: any, but not for the data path: some 10 to 100 us.
 */
void rp_paths_build(struct rp_paths *p, const struct rp_paths_port *ports);

/** rp_paths_share() - a port's part of the weight of all that are up, in parts of @whole. */
u32 rp_paths_share(const struct rp_paths *p, u8 port, u32 whole);

/**
 * rp_path_sport() - the UDP source port that a path stands for
 * @path: port and EV
 *
 * Of the dynamic range, 0xc000 to 0xffff, as IBTA A17 wants it; distinct for
 * distinct (port, ev) with ev < 256 and port < 32, and spread over the range
 * so that fabrics which hash few bits, low or high, see them differ.
 */
u16 rp_path_sport(struct rp_path path);

/**
 * rp_path_flowlabel() - the IPv6 flow label that a path stands for
 * @path: port and EV
 *
 * 20 bits, never 0, distinct for distinct paths and spread as source ports are.
 */
u32 rp_path_flowlabel(struct rp_path path);

/** rp_path_of_sport() - the path that a source port stands for. Return: false if none does. */
bool rp_path_of_sport(u16 sport, struct rp_path *path);

/** rp_path_of_flowlabel() - the path that a flow label stands for. Return: false if none does. */
bool rp_path_of_flowlabel(u32 label, struct rp_path *path);

#endif /* ROCEPATH_CORE_PATHS_H */
