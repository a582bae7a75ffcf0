/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_PATH_H
#define ROCEPATH_PATH_H

#include <linux/rcupdate.h>

#include "core/pathset.h"

struct rp_device;
struct rp_peer;

/**
 * struct rp_peer_paths - the paths to one peer, RCU
 * @rcu: to free it
 * @generation: one more than that of those before
 * @set: the paths, in @memory
 * @memory: of @set
 *
 * Made anew when the device's ports or EVs change; @set itself changes under
 * the peer's lock, and senders read its weights.
 */
struct rp_peer_paths {
	struct rcu_head rcu;
	u32 generation;
	struct rp_pathset *set;
	u8 memory[] __aligned(8);
};

/**
 * struct rp_chosen_evs - the EVs that path discovery chose for a peer
 * @n: of each port, 0: the usual ones
 * @ev: of each port
 */
struct rp_chosen_evs {
	u16 n[ROCEPATH_PORTS_MAX];
	u8 ev[ROCEPATH_PORTS_MAX][ROCEPATH_EVS_MAX];
};

struct rp_health_knobs rp_path_knobs(const struct rp_device *rp, const struct rp_peer *peer);
void rp_path_sync(struct rp_device *rp, struct rp_peer *peer);
void rp_path_sync_all(struct rp_device *rp);
void rp_path_forget_port(struct rp_device *rp, u8 port);
int rp_path_choose(struct rp_device *rp, struct rp_peer *peer, u8 port, const u8 *ev, u32 n);
void rp_path_restarted(struct rp_peer *peer);
void rp_path_poll(struct rp_device *rp, struct rp_peer *peer, u64 now_ns);
void rp_path_changed(struct rp_device *rp, struct rp_peer *peer, const struct rp_pathset_entry *e,
		     u8 before, u64 now_ns);
void rp_path_free(struct rp_peer *peer);

#endif /* ROCEPATH_PATH_H */
