/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can be known of a fabric from outside: which routers each entropy value
 * takes, how many distinct paths that makes, and which values cover them evenly.
 */
#ifndef ROCEPATH_USER_FABRIC_H
#define ROCEPATH_USER_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/rocepath.h>

#include "units.h"

#define RP_HOPS_MAX 32

/**
 * struct rp_trace - what was seen of one entropy value
 * @port: number of the port
 * @ev: the entropy value
 * @hops: hop limit that the peer answered at; 0: it never answered
 * @rtt_us: of that answer
 * @heard: bit i: the router at hop i + 1 answered
 * @router: their addresses
 */
struct rp_trace {
	uint8_t port;
	uint8_t ev;
	uint8_t hops;
	uint32_t rtt_us;
	uint32_t heard;
	uint8_t router[RP_HOPS_MAX][RP_ADDRESS_LEN];
};

/**
 * struct rp_fabric_path - entropy values of a port that take the same routers
 * @reached: it leads to the peer; if not, @hops is that of the last router heard
 * @port: number of the port
 * @hops: hop limit that the peer answers at
 * @rtt_us: the least that was seen
 * @heard: bit i: @router[i] is known
 * @router: addresses
 * @count: of @evs
 * @chosen: so many of @evs, the first ones, are to be used
 * @evs: the entropy values
 */
struct rp_fabric_path {
	bool reached;
	uint8_t port;
	uint8_t hops;
	uint32_t rtt_us;
	uint32_t heard;
	uint8_t router[RP_HOPS_MAX][RP_ADDRESS_LEN];
	unsigned int count;
	unsigned int chosen;
	uint8_t evs[RP_EVS_MAX];
};

/* whether enough was seen to choose */
enum rp_fabric_verdict {
	RP_FABRIC_SEEN,
	RP_FABRIC_BLIND,	/* at some hop no router answers: what is distinct is hidden */
	RP_FABRIC_UNSURE,	/* too many answers are missing to tell paths apart */
	RP_FABRIC_DEAD,		/* the peer answered on no entropy value */
};

/**
 * struct rp_fabric_port - how well one port can see
 * @tried: entropy values
 * @reached: of them, that lead to the peer
 * @unsure: of @reached, that may belong to more than one path
 * @blind: bit i: at hop i + 1 nobody answers; never hop 1, which is one cable away
 * @verdict: what follows
 */
struct rp_fabric_port {
	unsigned int tried;
	unsigned int reached;
	unsigned int unsure;
	uint32_t blind;
	enum rp_fabric_verdict verdict;
};

struct rp_fabric {
	struct rp_fabric_path *paths;
	unsigned int count;
	struct rp_fabric_port port[ROCEPATH_PORTS_MAX];
};

int rp_fabric_group(struct rp_fabric *fabric, const struct rp_trace *traces, unsigned int count);
unsigned int rp_fabric_choose(struct rp_fabric *fabric, unsigned int port, unsigned int evs);
unsigned int rp_fabric_chosen(const struct rp_fabric *fabric, unsigned int port, uint8_t *evs);
void rp_fabric_release(struct rp_fabric *fabric);

#endif /* ROCEPATH_USER_FABRIC_H */
