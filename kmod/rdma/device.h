/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_DEVICE_H
#define ROCEPATH_RDMA_DEVICE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rocepath_rdma.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "stats.h"

struct rp_rdma_pairs;
struct rp_rdma_probe;

/**
 * struct rp_rdma_settings - what DEVICE_SET sets
 * @steering: QPs are changed when they connect
 * @exempt: never, whatever @steering says
 * @on_failure: enum rocepath_rdma_action, of classes that do not say
 * @probe_interval_us: of each EV in use; 0: no probes
 * @probes_per_second: at most
 * @holddown_ms: the first one of a path that came back
 * @slow_factor: a path whose RTT is so many times that of others is degraded; 0: never
 *
 * Each is read and written alone, by READ_ONCE() and WRITE_ONCE().
 */
struct rp_rdma_settings {
	u8 steering;
	u8 exempt;
	u32 on_failure;
	u32 probe_interval_us;
	u32 probes_per_second;
	u32 holddown_ms;
	u32 slow_factor;
};

/**
 * struct rp_rdma_device - one port of an RDMA device that speaks RoCEv2
 * @list: in rp_rdma_devices
 * @rcu: to free it
 * @ib: the RDMA device
 * @port: number of the port, from 1
 * @name: of the RDMA device; a rename may be seen half done
 * @moves: enum rocepath_rdma_moves
 * @settings: what an operator wants
 * @pairs: the plans, by pair of addresses; see pair.h
 * @probe: what probes it; see probe.h
 * @stats: counters
 * @events: of its port
 */
struct rp_rdma_device {
	struct list_head list;
	struct rcu_head rcu;
	struct ib_device *ib;
	u32 port;
	u32 moves;
	char name[ROCEPATH_RDMA_DEVICE_LEN];
	struct rp_rdma_settings settings;
	struct rp_rdma_pairs *pairs;
	struct rp_rdma_probe *probe;
	struct rp_rdma_stats stats;
	struct ib_event_handler events;
};

extern struct mutex rp_rdma_mutex;
extern struct list_head rp_rdma_devices;
extern struct rp_rdma_settings rp_rdma_defaults;

struct rp_rdma_device *rp_rdma_device_of(const struct ib_device *ib, u32 port);
struct rp_rdma_device *rp_rdma_device_find(const char *name, u32 port);
u32 rp_rdma_device_follows(const struct rp_rdma_device *rdev);
const char *rp_rdma_device_driver(const struct rp_rdma_device *rdev);

/** rp_rdma_device_steers() - are QPs changed when they connect? Context: any. */
static inline bool rp_rdma_device_steers(const struct rp_rdma_device *rdev)
{
	return READ_ONCE(rdev->settings.steering) && !READ_ONCE(rdev->settings.exempt);
}

int rp_rdma_device_init(void);
void rp_rdma_device_exit(void);

#endif /* ROCEPATH_RDMA_DEVICE_H */
