// SPDX-License-Identifier: GPL-2.0
/* Peers and paths of a device's probes, one after the other, for who shows them. */
#include "device.h"
#include "probe.h"
#include "probe_peer.h"

/* a cursor is a bucket, and how many of it are done */
#define CURSOR_SHIFT 16

static u64 ago_ms(u64 ns, u64 now)
{
	return div_u64(now - min(now, ns), NSEC_PER_MSEC);
}

static void path_fill(const struct rp_rdma_path *path, struct rp_rdma_path_info *info)
{
	const struct rp_probes_path *p = &path->probes;

	*info = (struct rp_rdma_path_info){
		.local = path->pair.local, .remote = path->pair.remote, .ev = p->ev,
		.state = rp_rdma_path_state(path), .users = path->users,
		.reason = ROCEPATH_RDMA_REASON_PEER,
		.rtt_us = p->rtt_us, .fails = p->health.fails,
		.sent = p->sent, .answered = p->answered,
	};
	if (!path->probed)
		return;
	info->reason = rp_probes_reason(p);
	info->since_ms = ago_ms(p->health.since_ns, ktime_get_ns());
	info->loss_ppm = rp_health_loss_ppm(&p->health);
}

/**
 * rp_rdma_probe_path_at() - the next path
 * @rdev: the port
 * @cursor: 0 at first; where to go on
 * @info: filled in
 *
 * While paths come and go, one may be left out, or come twice.
 *
 * Context: process.
 * Return: false if there is none.
 */
bool rp_rdma_probe_path_at(struct rp_rdma_device *rdev, unsigned long *cursor,
			   struct rp_rdma_path_info *info)
{
	unsigned long bucket = *cursor >> CURSOR_SHIFT, skip = *cursor & ((1 << CURSOR_SHIFT) - 1);
	struct rp_rdma_probe *probe = rdev->probe;
	struct rp_rdma_path *path;

	for (; probe && bucket < RP_PROBE_PATH_BUCKETS; bucket++, skip = 0) {
		unsigned long i = 0;

		spin_lock_irq(&probe->lock);
		hlist_for_each_entry(path, &probe->path_table[bucket], node) {
			if (i++ < skip)
				continue;
			path_fill(path, info);
			spin_unlock_irq(&probe->lock);
			*cursor = (bucket << CURSOR_SHIFT) + i;
			return true;
		}
		spin_unlock_irq(&probe->lock);
	}
	return false;
}

static void peer_fill(struct rp_rdma_peer *peer, struct rp_rdma_peer_info *info)
{
	const struct rp_hello *hello = &peer->hello;
	struct rp_rdma_path *path;

	*info = (struct rp_rdma_peer_info){
		.local = peer->pair.local, .remote = peer->pair.remote, .state = hello->state,
		.reason = READ_ONCE(peer->reason), .instance = hello->instance,
		.key_id = hello->key_id,
		.hello_age_ms = hello->heard_ns ? ago_ms(hello->heard_ns, ktime_get_ns()) :
						  U64_MAX,
	};
	list_for_each_entry(path, &peer->paths, on_peer)
		info->evs += !!path->users;
}

/**
 * rp_rdma_probe_peer_at() - the next peer
 * @rdev: the port
 * @cursor: 0 at first; where to go on
 * @info: filled in
 *
 * While peers come and go, one may be left out, or come twice.
 *
 * Context: process.
 * Return: false if there is none.
 */
bool rp_rdma_probe_peer_at(struct rp_rdma_device *rdev, unsigned long *cursor,
			   struct rp_rdma_peer_info *info)
{
	unsigned long bucket = *cursor >> CURSOR_SHIFT, skip = *cursor & ((1 << CURSOR_SHIFT) - 1);
	struct rp_rdma_probe *probe = rdev->probe;
	struct rp_rdma_peer *peer;

	for (; probe && bucket < RP_PROBE_PEER_BUCKETS; bucket++, skip = 0) {
		unsigned long i = 0;

		spin_lock_irq(&probe->lock);
		hlist_for_each_entry(peer, &probe->peer_table[bucket], node) {
			if (i++ < skip)
				continue;
			peer_fill(peer, info);
			spin_unlock_irq(&probe->lock);
			*cursor = (bucket << CURSOR_SHIFT) + i;
			return true;
		}
		spin_unlock_irq(&probe->lock);
	}
	return false;
}

/**
 * rp_rdma_probe_peers() - how many peers answer probes
 * @rdev: the port
 *
 * Context: any.
 */
u32 rp_rdma_probe_peers(struct rp_rdma_device *rdev)
{
	struct rp_rdma_probe *probe = rdev->probe;
	struct rp_rdma_peer *peer;
	u32 n = 0;

	if (!probe)
		return 0;
	rcu_read_lock();
	list_for_each_entry_rcu(peer, &probe->peers, list)
		n += READ_ONCE(peer->hello.state) == ROCEPATH_PEER_CAPABLE;
	rcu_read_unlock();
	return n;
}
