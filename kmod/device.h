/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_DEVICE_H
#define ROCEPATH_DEVICE_H

#include <linux/cache.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/percpu_counter.h>
#include <linux/ratelimit.h>
#include <linux/rhashtable-types.h>
#include <linux/rocepath.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/sched.h"
#include "core/window.h"
#include "core/repair.h"
#include "core/wire.h"
#include "hop.h"
#include "probe.h"
#include "stats.h"

struct rp_port;
struct rp_peer;

/**
 * struct rp_ports - the ports of a device as packets see them, RCU
 * @rcu: to free it
 * @paths: what schedulers pick from
 * @desc: of each port, what paths are made from
 * @port: by number, NULL where there is none
 *
 * Made anew by rp_ports_update() on each change.
 */
struct rp_ports {
	struct rcu_head rcu;
	struct rp_paths paths;
	struct rp_paths_port desc[ROCEPATH_PORTS_MAX];
	struct rp_port *port[ROCEPATH_PORTS_MAX];
};

/**
 * struct rp_keyring - the keys of a device, RCU
 * @rcu: to free it
 * @keys: one or two
 */
struct rp_keyring {
	struct rcu_head rcu;
	struct rp_keys keys;
};

/**
 * struct rp_device - a netdevice of kind rocepath
 *
 * Knobs are single words, written under RTNL with WRITE_ONCE(), read by
 * packets with READ_ONCE(): each packet sees the old value or the new one.
 *
 * @dev: the netdevice that this is the private part of
 * @ports: RCU, written under RTNL
 * @stats: per CPU
 * @sched: how sprayable flows are scheduled
 * @class_sched: the same for a class, NULL: as @sched
 * @mark_mask: where in skb->mark the class is, 0: nowhere
 * @entropy: enum rocepath_entropy
 * @caps: bounds of each flow's windows
 * @reorder_bytes: bound of what all flows hold together
 * @held_bytes: what they hold; read without summing, so off by at most a batch for each CPU
 * @port_failed_ns: when a port last failed, 0: never
 * @repair_caps: bounds of what is kept for repair, for each flow
 * @repair_bytes: bound of what all flows keep together
 * @kept_bytes: what they keep; as @held_bytes
 * @report_interval_us: between reports to one peer, while there is traffic
 * @loss_ppm: a path that loses more is taken out
 * @probe_interval_ms: of paths that are up and idle
 * @probe_period_ms: the least that the budget allows for those that are, see rp_probe_plan()
 * @probes_per_second: bound
 * @probe_budget: what is left of it
 * @hops: probes with a hop limit that are out
 * @keyring: RCU, NULL without keys, written under RTNL
 * @port_list: struct rp_port, RTNL
 * @evs: entropy values of each port
 * @holddown_ms: first hold-down of a port that came back
 * @holddown_max_ms: where damping ends
 * @holddown_work: ends hold-downs
 * @gateway_work: resolves the ports' gateways
 * @mtu_set: the MTU was chosen by the user and no longer follows the first port
 * @mtu_pushing: the MTU is being changed from above: ports may
 * @peers_max: bound
 * @hello_interval_ms: between hellos to one peer
 * @peer_lock: for @peer_list, @peer_count and insertion into @peer_table
 * @peer_list: all peers, RCU for reading
 * @peer_count: of them
 * @peer_table: by address
 * @hello_work: sends hellos that are due, forgets idle peers
 * @instance: random, tells a restart
 * @kept_batch: so many bytes of @kept_bytes a CPU may count by itself
 * @held_batch: of @held_bytes
 * @probe_from: number of the peer that idle paths are probed from, in the next round
 * @cap_event: jiffies of the last cap event, for its rate
 * @path_events: the rate of events of paths
 */
struct rp_device {
	struct net_device *dev;
	struct rp_ports __rcu *ports;
	struct rp_stats __percpu *stats;
	const struct rp_sched_ops *sched;
	const struct rp_sched_ops *class_sched[ROCEPATH_CLASSES];
	u32 mark_mask;
	u32 entropy;
	struct rp_window_caps caps;
	u32 reorder_bytes;
	u64 port_failed_ns;
	struct rp_repair_caps repair_caps;
	u32 repair_bytes;
	u32 report_interval_us;
	u32 loss_ppm;
	u32 probe_interval_ms;
	u32 probe_period_ms;
	u32 probes_per_second;
	struct rp_keyring __rcu *keyring;

	struct percpu_counter held_bytes ____cacheline_aligned_in_smp;
	struct percpu_counter kept_bytes;

	struct list_head port_list;
	u32 evs;
	u32 holddown_ms;
	u32 holddown_max_ms;
	struct delayed_work holddown_work;
	struct delayed_work gateway_work;
	bool mtu_set;
	bool mtu_pushing;

	u32 peers_max;
	u32 hello_interval_ms;
	spinlock_t peer_lock;
	struct list_head peer_list;
	u32 peer_count;
	struct rhashtable peer_table;
	struct delayed_work hello_work;
	u64 instance;
	s32 kept_batch;
	s32 held_batch;
	u32 probe_from;
	unsigned long cap_event;
	struct ratelimit_state path_events;
	struct rp_probe_budget probe_budget;
	struct rp_hops_out hops;
};

static inline void rp_count(const struct rp_device *rp, enum rp_count index)
{
	rp_stats_add(rp->stats, index, 1);
}

bool rp_is_device(const struct net_device *dev);
void rp_device_update_features(struct rp_device *rp);
void rp_device_update_carrier(struct rp_device *rp);
void rp_device_batches(struct rp_device *rp);

/**
 * rp_device_left() - what a flow may have of the bytes that all have together
 * @used: by all
 * @cap: for all
 *
 * As much as it leaves to the others, so that one alone has half of the cap, and peers
 * that never acknowledge or never fill their gaps leave something to those that do
 * (dynamic threshold; Choudhury and Hahne, 1998).
 */
static inline u32 rp_device_left(struct percpu_counter *used, u32 cap)
{
	return cap - min_t(u64, percpu_counter_read_positive(used), cap);
}
u32 rp_device_held_bytes(const struct rp_device *rp);
u32 rp_device_kept_bytes(const struct rp_device *rp);

int rp_device_init(void);
void rp_device_exit(void);

extern const struct ethtool_ops rp_ethtool_ops;

#endif /* ROCEPATH_DEVICE_H */
