// SPDX-License-Identifier: GPL-2.0
/*
 * Paths of a device's probes: one for each EV between two addresses that a QP sits on.
 *
 * The hook only leaves a wish: a path in the table, or one more user of it. While it has no
 * peer yet it goes with its last user; what has one is made, probed and ended by the work
 * (probe_peer.c). It is probed while it has a lane and its peer answers; else nothing is known
 * of it, which is never "down".
 */
#include <linux/slab.h>

#include "device.h"
#include "probe.h"
#include "probe_peer.h"

/* what nobody uses is kept for so long */
#define PATH_IDLE_NS (10 * NSEC_PER_SEC)

static struct hlist_head *path_bucket(struct rp_rdma_probe *probe, const struct rp_rdma_pair *pair,
				      u16 ev)
{
	return &probe->path_table[rp_rdma_pair_hash(pair, ev) % RP_PROBE_PATH_BUCKETS];
}

/**
 * rp_rdma_path_find() - a path that is there
 * @probe: of the device
 * @pair: of addresses
 * @ev: the EV
 *
 * Context: @probe->lock.
 */
struct rp_rdma_path *rp_rdma_path_find(struct rp_rdma_probe *probe,
				       const struct rp_rdma_pair *pair, u16 ev)
{
	struct rp_rdma_path *path;

	lockdep_assert_held(&probe->lock);
	hlist_for_each_entry(path, path_bucket(probe, pair, ev), node)
		if (path->probes.ev == ev && rp_rdma_pair_equal(&path->pair, pair))
			return path;
	return NULL;
}

/**
 * rp_rdma_path_new() - one more
 * @probe: of the device
 * @pair: of addresses
 * @ev: the EV, for which there is none yet
 *
 * Context: @probe->lock.
 * Return: the path, without a peer; NULL if there is no room.
 */
struct rp_rdma_path *rp_rdma_path_new(struct rp_rdma_probe *probe, const struct rp_rdma_pair *pair,
				      u16 ev)
{
	struct rp_rdma_path *path;

	lockdep_assert_held(&probe->lock);
	if (probe->n_paths >= RP_PROBE_PATHS_MAX)
		return NULL;
	path = kzalloc(sizeof(*path), GFP_ATOMIC | __GFP_NOWARN);
	if (!path)
		return NULL;
	path->pair = *pair;
	path->probes.ev = ev;
	path->told = ROCEPATH_RDMA_PATH_UNKNOWN;
	path->unused_ns = ktime_get_ns();
	hlist_add_head(&path->node, path_bucket(probe, pair, ev));
	list_add_tail(&path->on_peer, &probe->fresh);
	probe->n_paths++;
	return path;
}

/**
 * rp_rdma_path_state() - enum rocepath_rdma_path_state
 * @path: of which nothing is known while it is not probed
 *
 * Context: the device's lock.
 */
u8 rp_rdma_path_state(const struct rp_rdma_path *path)
{
	return path->probed ? rp_probes_state(&path->probes) : (u8)ROCEPATH_RDMA_PATH_UNKNOWN;
}

/**
 * rp_rdma_path_unprobe() - nothing is known of it from now on
 * @path: the path
 *
 * Context: the device's lock.
 */
void rp_rdma_path_unprobe(struct rp_rdma_path *path)
{
	if (!path->probed)
		return;
	rp_probes_remove(&path->peer->probes, &path->probes);
	path->probed = false;
	path->peer->probe->n_probed--;
	rp_rdma_probe_news(path->peer, &path->probes, 0);
}

/**
 * rp_rdma_path_take_lane() - it is to have no lane, or another one
 * @path: the path; nothing is known of it meanwhile
 *
 * Context: the device's lock.
 * Return: the lane that it had, to be ended without that lock, or NULL.
 */
struct rp_rdma_lane *rp_rdma_path_take_lane(struct rp_rdma_path *path)
{
	struct rp_rdma_lane *lane = path->lane;

	path->lane = NULL;
	rp_rdma_path_unprobe(path);
	return lane;
}

static bool lane_fits(const struct rp_rdma_path *path)
{
	return path->lane && !READ_ONCE(path->lane->broken) &&
	       path->lane->sink == (path->peer->probe->verbs.by_uc ? path->peer->their_sink : 0);
}

/* Return: true if the path is to have a (new) lane; @old: the one that it had */
static bool path_lacks_lane(struct rp_rdma_path *path, struct rp_rdma_lane **old, u32 *sink)
{
	struct rp_rdma_probe *probe = path->peer->probe;
	bool lacks = false;

	*old = NULL;
	spin_lock_irq(&probe->lock);
	*sink = probe->verbs.by_uc ? path->peer->their_sink : 0;
	if (path->peer->hello.state != ROCEPATH_PEER_CAPABLE) {
		rp_rdma_path_unprobe(path);
	} else if (!lane_fits(path)) {
		*old = rp_rdma_path_take_lane(path);
		lacks = *sink || !probe->verbs.by_uc;
	}
	spin_unlock_irq(&probe->lock);
	return lacks;
}

/**
 * rp_rdma_path_work() - with a lane, and a peer that answers, it can be probed
 * @path: of a peer
 *
 * Context: the device's mutex.
 */
void rp_rdma_path_work(struct rp_rdma_path *path)
{
	struct rp_rdma_peer *peer = path->peer;
	struct rp_rdma_probe *probe = peer->probe;
	struct rp_probes_knobs knobs = rp_rdma_probe_knobs(probe);
	struct rp_rdma_lane *lane, *old;
	u32 sink;

	if (path_lacks_lane(path, &old, &sink)) {
		lane = rp_rdma_lane_new(&probe->verbs, &peer->attr,
					rp_rdma_ev_label(path->probes.ev), path->traffic_class,
					sink);
		if (!IS_ERR(lane)) {
			spin_lock_irq(&probe->lock);
			path->lane = lane;
			spin_unlock_irq(&probe->lock);
		}
	}
	rp_rdma_lane_end(old);
	spin_lock_irq(&probe->lock);
	if (path->lane && !path->probed && peer->hello.state == ROCEPATH_PEER_CAPABLE) {
		rp_probes_add(&peer->probes, &path->probes, path->probes.ev, &knobs,
			      ktime_get_ns());
		path->probed = true;
		probe->n_probed++;
		rp_rdma_probe_news(peer, &path->probes, 0);
	}
	spin_unlock_irq(&probe->lock);
}

/**
 * rp_rdma_path_is_idle() - is it of no use any more?
 * @path: the path
 * @now: the time
 *
 * Not while it is down: then somebody is to be told when it is up again.
 *
 * Context: the device's lock.
 */
bool rp_rdma_path_is_idle(const struct rp_rdma_path *path, u64 now)
{
	u8 state = rp_rdma_path_state(path);

	return !path->users && !path->witness && now - path->unused_ns > PATH_IDLE_NS &&
	       (state == ROCEPATH_RDMA_PATH_UP || state == ROCEPATH_RDMA_PATH_UNKNOWN);
}

/**
 * rp_rdma_path_unlink() - out of table and peer
 * @probe: of the device
 * @path: for the caller to free
 *
 * Context: @probe->lock.
 * Return: its lane, to be ended without that lock, or NULL.
 */
struct rp_rdma_lane *rp_rdma_path_unlink(struct rp_rdma_probe *probe, struct rp_rdma_path *path)
{
	struct rp_rdma_lane *lane = path->peer ? rp_rdma_path_take_lane(path) : NULL;

	lockdep_assert_held(&probe->lock);
	hlist_del(&path->node);
	list_del(&path->on_peer);
	probe->n_paths--;
	if (path->peer)
		path->peer->n_paths--;
	return lane;
}

/* the last QP that wanted it has left; with a peer it is kept, for the next may come at once */
static void path_unused(struct rp_rdma_path *path, struct rp_rdma_probe *probe)
{
	lockdep_assert_held(&probe->lock);
	path->unused_ns = ktime_get_ns();
	if (path->peer)
		return;
	rp_rdma_path_unlink(probe, path);
	kfree(path);
}

/* --- what QPs want --- */

/**
 * rp_rdma_probe_want() - a QP sits on an EV: probe it
 * @rdev: the port
 * @local: its address, IPv4 mapped
 * @remote: the peer's
 * @ev: the EV
 * @traffic_class: of its data; of several QPs that of the first
 *
 * Without a key it is only written down; rp_rdma_probe_rekeyed() has it looked at.
 *
 * Context: any, interrupts off too.
 * Return: true if it will be probed, and rp_rdma_probe_unwant() is to be called.
 */
bool rp_rdma_probe_want(struct rp_rdma_device *rdev, const struct in6_addr *local,
			const struct in6_addr *remote, u16 ev, u8 traffic_class)
{
	const struct rp_rdma_pair pair = { .local = *local, .remote = *remote };
	struct rp_rdma_probe *probe = rdev->probe;
	struct rp_rdma_path *path;
	unsigned long flags;
	bool fresh = false;

	if (!probe)
		return false;
	spin_lock_irqsave(&probe->lock, flags);
	path = rp_rdma_path_find(probe, &pair, ev);
	if (!path) {
		path = rp_rdma_path_new(probe, &pair, ev);
		if (path)
			path->traffic_class = traffic_class;
		fresh = true;
	}
	if (path)
		path->users++;
	spin_unlock_irqrestore(&probe->lock, flags);
	if (!path)
		rp_rdma_count(&rdev->stats, RP_RDMA_PATHS_UNPROBED);
	else if (fresh && rp_rdma_wire_keyed())
		rp_rdma_probe_wake(probe);
	return path;
}

/**
 * rp_rdma_probe_unwant() - that QP is gone, or elsewhere
 * @rdev: the port
 * @local: its address, IPv4 mapped
 * @remote: the peer's
 * @ev: the EV that it wanted
 *
 * Context: any, interrupts off too.
 */
void rp_rdma_probe_unwant(struct rp_rdma_device *rdev, const struct in6_addr *local,
			  const struct in6_addr *remote, u16 ev)
{
	const struct rp_rdma_pair pair = { .local = *local, .remote = *remote };
	struct rp_rdma_probe *probe = rdev->probe;
	struct rp_rdma_path *path;
	unsigned long flags;

	if (!probe)
		return;
	spin_lock_irqsave(&probe->lock, flags);
	path = rp_rdma_path_find(probe, &pair, ev);
	if (!WARN_ON_ONCE(!path || !path->users) && !--path->users)
		path_unused(path, probe);
	spin_unlock_irqrestore(&probe->lock, flags);
}

/**
 * rp_rdma_probe_state() - what is known of an EV
 * @rdev: the port
 * @local: our address, IPv4 mapped
 * @remote: the peer's
 * @ev: the EV
 *
 * Context: any, interrupts off too.
 * Return: enum rocepath_rdma_path_state.
 */
u8 rp_rdma_probe_state(struct rp_rdma_device *rdev, const struct in6_addr *local,
		       const struct in6_addr *remote, u16 ev)
{
	const struct rp_rdma_pair pair = { .local = *local, .remote = *remote };
	struct rp_rdma_probe *probe = rdev->probe;
	u8 state = ROCEPATH_RDMA_PATH_UNKNOWN;
	struct rp_rdma_path *path;
	unsigned long flags;

	if (!probe)
		return state;
	spin_lock_irqsave(&probe->lock, flags);
	path = rp_rdma_path_find(probe, &pair, ev);
	if (path)
		state = rp_rdma_path_state(path);
	spin_unlock_irqrestore(&probe->lock, flags);
	return state;
}
