/* SPDX-License-Identifier: GPL-2.0 */
/* Which devices of the module and which of their ports were set up already by this process. */
#ifndef ROCEPATH_USER_POLICY_SEEN_H
#define ROCEPATH_USER_POLICY_SEEN_H

#include "../netlink.h"
#include "../rtnl.h"

/**
 * struct rp_seen - those that are there
 * @at: each device by the number of its life, with port 0, and each port of it
 * @count: of them
 */
struct rp_seen {
	struct rp_seen_one {
		int device;
		uint64_t instance;
		int port;
	} *at;
	unsigned int count;
};

int rp_seen_read(struct rp_nl *nl, const struct rp_links *links, struct rp_seen *seen);
void rp_seen_keep(struct rp_seen *seen);
bool rp_seen_before(const struct rp_seen *now, int device, int port);
void rp_seen_drop(struct rp_seen *seen);

#endif /* ROCEPATH_USER_POLICY_SEEN_H */
