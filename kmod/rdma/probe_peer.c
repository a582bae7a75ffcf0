// SPDX-License-Identifier: GPL-2.0
/*
 * Peers of a device's probes: what has to be there for the paths that QPs want (probe_path.c).
 *
 * All that sleeps is done by one work, which goes over the peers four times a second and
 * when something happened: it resolves a peer, makes lanes and a sink, and ends
 * what nobody uses.
 *
 * Peers, and paths that have one, are taken out by that work only (and by the end,
 * which waits for it). Who sends and receives finds them under the lock of the device;
 * peers are freed after a grace period, for the tick goes over their list without it.
 */
#include "probe_peer.h"

#include <linux/random.h>
#include <linux/slab.h>

#include "device.h"
#include "probe.h"

#define HELLO_NS NSEC_PER_SEC
/* a resolution, or the first hello, that takes longer has failed */
#define PATIENCE_NS (5 * NSEC_PER_SEC)
#define BACKOFF_FIRST_MS 1000U
#define BACKOFF_MAX_MS 60000U
/* who is not heard, and not used, is kept for so long */
#define PEER_IDLE_NS (60 * NSEC_PER_SEC)

/**
 * rp_rdma_peer_find() - a peer that is there
 * @probe: of the device
 * @pair: of addresses
 *
 * Context: RCU.
 */
struct rp_rdma_peer *rp_rdma_peer_find(struct rp_rdma_probe *probe,
				       const struct rp_rdma_pair *pair)
{
	struct rp_rdma_peer *peer;

	hlist_for_each_entry_rcu(peer, &probe->peer_table[rp_rdma_pair_hash(pair, 0) %
							  RP_PROBE_PEER_BUCKETS], node,
				 lockdep_is_held(&probe->mutex))
		if (rp_rdma_pair_equal(&peer->pair, pair))
			return peer;
	return NULL;
}

static struct rp_rdma_peer *peer_new(struct rp_rdma_probe *probe, const struct rp_rdma_pair *pair,
				     u64 now)
{
	struct rp_rdma_peer *peer;

	if (probe->n_peers >= RP_PROBE_PEERS_MAX) {
		rp_rdma_count(&probe->rdev->stats, RP_RDMA_PEERS_REFUSED);
		return NULL;
	}
	peer = kvzalloc(sizeof(*peer), GFP_KERNEL);
	if (!peer)
		return NULL;
	peer->probe = probe;
	peer->pair = *pair;
	peer->since_ns = now;
	peer->reason = "not looked for yet";
	INIT_LIST_HEAD(&peer->paths);
	INIT_LIST_HEAD(&peer->news);
	rp_hello_init(&peer->hello, get_random_u64() | 1);
	rp_probes_init(&peer->probes, get_random_u32(), now);
	spin_lock_irq(&probe->lock);
	hlist_add_head_rcu(&peer->node, &probe->peer_table[rp_rdma_pair_hash(pair, 0) %
							   RP_PROBE_PEER_BUCKETS]);
	list_add_tail_rcu(&peer->list, &probe->peers);
	probe->n_peers++;
	spin_unlock_irq(&probe->lock);
	return peer;
}

static void path_adopt(struct rp_rdma_path *path, struct rp_rdma_peer *peer)
{
	path->peer = peer;
	peer->n_paths++;
	list_move_tail(&path->on_peer, &peer->paths);
}

/* paths that are new get their peers; while the lock is not held they may go */
static void peers_adopt(struct rp_rdma_probe *probe, u64 now)
{
	struct rp_rdma_path *path;
	struct rp_rdma_pair pair;
	struct rp_rdma_peer *peer;
	LIST_HEAD(refused);
	bool full = false;

	spin_lock_irq(&probe->lock);
	while ((path = list_first_entry_or_null(&probe->fresh, struct rp_rdma_path, on_peer))) {
		peer = rp_rdma_peer_find(probe, &path->pair);
		if (peer && peer->n_paths < RP_PROBE_EVS_MAX) {
			path_adopt(path, peer);
		} else if (peer || full) {
			list_move_tail(&path->on_peer, &refused);
		} else {
			pair = path->pair;
			spin_unlock_irq(&probe->lock);
			full = !peer_new(probe, &pair, now);
			spin_lock_irq(&probe->lock);
		}
	}
	/* for these there is no room now */
	list_splice(&refused, &probe->fresh);
	spin_unlock_irq(&probe->lock);
}

/* whoever says hello with a right MAC is worth a hello */
static void peers_greet(struct rp_rdma_probe *probe, u64 now)
{
	struct rp_rdma_pair strangers[RP_PROBE_STRANGERS];
	u32 i, n;

	spin_lock_irq(&probe->lock);
	n = probe->n_strangers;
	memcpy(strangers, probe->strangers, n * sizeof(strangers[0]));
	probe->n_strangers = 0;
	spin_unlock_irq(&probe->lock);
	for (i = 0; i < n; i++)
		if (!rp_rdma_peer_find(probe, &strangers[i]))
			peer_new(probe, &strangers[i], now);
}

/* nothing is known of where it is */
static void peer_unresolve(struct rp_rdma_peer *peer)
{
	struct rp_rdma_probe *probe = peer->probe;
	struct rp_rdma_sink *sink;
	struct rp_rdma_lane *lane;
	struct rp_rdma_path *path;

	rp_rdma_cm_end(&peer->cm);
	spin_lock_irq(&probe->lock);
	lane = peer->base;
	sink = peer->sink;
	peer->base = NULL;
	peer->sink = NULL;
	peer->their_sink = 0;
	spin_unlock_irq(&probe->lock);
	rp_rdma_lane_end(lane);
	list_for_each_entry(path, &peer->paths, on_peer) {
		spin_lock_irq(&probe->lock);
		lane = rp_rdma_path_take_lane(path);
		spin_unlock_irq(&probe->lock);
		rp_rdma_lane_end(lane);
	}
	rp_rdma_sink_free(sink);
	rdma_destroy_ah_attr(&peer->attr);
}

static void peer_retry(struct rp_rdma_peer *peer, const char *reason, u64 now)
{
	u32 ms = clamp(peer->backoff_ms, BACKOFF_FIRST_MS, BACKOFF_MAX_MS);

	peer->reason = reason;
	/* hosts that come back together do not ask together */
	peer->retry_ns = now + (ms / 2 + get_random_u32() % ms) * (u64)NSEC_PER_MSEC;
	peer->backoff_ms = 2 * ms;
}

static void peer_cm_done(struct rp_rdma_cm *cm)
{
	rp_rdma_probe_wake(container_of(cm, struct rp_rdma_peer, cm)->probe);
}

static void peer_resolve(struct rp_rdma_peer *peer, u64 now)
{
	peer->since_ns = now;
	peer->cm.done = peer_cm_done;
	peer->reason = "being looked for";
	if (rp_rdma_cm_resolve(&peer->cm, &peer->pair.local, &peer->pair.remote))
		peer_retry(peer, "no route to it from this address", now);
}

static const char *cm_trouble(const struct rp_rdma_peer *peer)
{
	const struct rp_rdma_cm *cm = &peer->cm;

	if (cm->err == -ETIMEDOUT)
		return "nobody answers there";
	if (cm->err)
		return "no rocepath there";
	if (cm->attr.grh.sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return "not reached by RoCEv2: see default_roce_mode of rdma_cm";
	if (cm->attr.grh.sgid_attr->device != peer->probe->verbs.ib ||
	    cm->attr.port_num != peer->probe->verbs.port)
		return "the route to it is by another device";
	return NULL;
}

static void peer_resolved(struct rp_rdma_peer *peer, u64 now)
{
	struct rp_rdma_probe *probe = peer->probe;
	const char *trouble = cm_trouble(peer);
	struct rp_rdma_lane *lane;

	if (!trouble) {
		rdma_move_ah_attr(&peer->attr, &peer->cm.attr);
		lane = rp_rdma_lane_new(&probe->verbs, &peer->attr, 0, 0, 0);
		if (IS_ERR(lane))
			trouble = "no address handle for it";
	}
	if (trouble) {
		peer_unresolve(peer);
		peer_retry(peer, trouble, now);
		return;
	}
	spin_lock_irq(&probe->lock);
	peer->base = lane;
	peer->qpn = peer->cm.qpn;
	peer->qkey = peer->cm.qkey;
	peer->hello_ns = now;
	spin_unlock_irq(&probe->lock);
	rp_rdma_cm_end(&peer->cm);
	peer->since_ns = now;
	peer->reason = "no hello of it yet";
}

static bool peer_has_users(struct rp_rdma_peer *peer)
{
	struct rp_rdma_path *path;
	bool found = false;

	spin_lock_irq(&peer->probe->lock);
	list_for_each_entry(path, &peer->paths, on_peer)
		found |= path->users;
	spin_unlock_irq(&peer->probe->lock);
	return found;
}

/*
 * At least some EVs, in use or not: else one EV's silence would be the peer's.
 * They differ in many bits (golden ratio), so that they take different paths.
 */
static void peer_witnesses(struct rp_rdma_peer *peer)
{
	struct rp_rdma_probe *probe = peer->probe;
	struct rp_rdma_path *path;
	u32 i;

	spin_lock_irq(&probe->lock);
	for (i = 0; peer->n_paths < RP_PROBES_WITNESSES && i < 2 * RP_PROBES_WITNESSES; i++) {
		u16 ev = (u16)((i + 1) * 0x9e37u) >> 2;

		if (rp_rdma_path_find(probe, &peer->pair, ev))
			continue;
		path = rp_rdma_path_new(probe, &peer->pair, ev);
		if (!path)
			break;
		path->witness = true;
		path_adopt(path, peer);
	}
	spin_unlock_irq(&probe->lock);
}

static void peer_sink(struct rp_rdma_peer *peer)
{
	struct rp_rdma_sink *sink;

	if (peer->sink || !READ_ONCE(peer->sink_wanted))
		return;
	sink = rp_rdma_sink_new(&peer->probe->verbs, &peer->attr, &peer->pair.local,
				&peer->pair.remote);
	if (IS_ERR(sink)) {
		peer->reason = "it needs a UC QP, and this device makes none";
		return;
	}
	spin_lock_irq(&peer->probe->lock);
	peer->sink = sink;
	peer->hello_ns = 0;
	spin_unlock_irq(&peer->probe->lock);
}

/* with its hellos all began, and when they end it may be elsewhere */
static bool peer_is_lost(struct rp_rdma_peer *peer, u64 now)
{
	struct rp_rdma_probe *probe = peer->probe;
	bool lost, capable;

	spin_lock_irq(&probe->lock);
	lost = rp_hello_poll(&peer->hello, now);
	capable = peer->hello.state == ROCEPATH_PEER_CAPABLE;
	spin_unlock_irq(&probe->lock);
	if (lost)
		rp_rdma_count(&probe->rdev->stats, RP_RDMA_PEERS_LOST);
	if (capable)
		peer->backoff_ms = 0;
	return !capable && (lost || now - peer->since_ns > PATIENCE_NS);
}

static void peer_talk(struct rp_rdma_peer *peer, u64 now)
{
	struct rp_rdma_path *path, *next;

	peer_sink(peer);
	if (READ_ONCE(peer->hello.state) == ROCEPATH_PEER_CAPABLE) {
		peer->reason = "answers probes";
		peer_witnesses(peer);
	}
	list_for_each_entry_safe(path, next, &peer->paths, on_peer)
		rp_rdma_path_work(path);
	if (now < READ_ONCE(peer->hello_ns))
		return;
	/* who only answers is forgotten some time after there is nothing to answer any more */
	if (peer_has_users(peer) || !peer->hello.instance || !READ_ONCE(peer->hello_ns))
		rp_rdma_hello(peer, now);
	/* faster at first: a hello more proves what the one before asked for */
	WRITE_ONCE(peer->hello_ns, now + (READ_ONCE(peer->hello.state) == ROCEPATH_PEER_CAPABLE ?
					  HELLO_NS : HELLO_NS / 4));
}

static void peer_drop_idle_paths(struct rp_rdma_peer *peer, u64 now)
{
	struct rp_rdma_probe *probe = peer->probe;
	struct rp_rdma_path *path, *next;
	struct rp_rdma_lane *lane;

	list_for_each_entry_safe(path, next, &peer->paths, on_peer) {
		spin_lock_irq(&probe->lock);
		if (!rp_rdma_path_is_idle(path, now)) {
			spin_unlock_irq(&probe->lock);
			continue;
		}
		lane = rp_rdma_path_unlink(probe, path);
		spin_unlock_irq(&probe->lock);
		rp_rdma_lane_end(lane);
		kfree(path);
	}
}

static void peer_work(struct rp_rdma_peer *peer, bool on, u64 now)
{
	peer_drop_idle_paths(peer, now);
	if (!on) {
		peer_unresolve(peer);
		peer->retry_ns = 0;
		peer->reason = rp_rdma_wire_keyed() ? "probes are off" : "there is no key";
	} else if (peer->base) {
		if (peer_is_lost(peer, now)) {
			peer_unresolve(peer);
			peer_retry(peer, peer->hello.heard_ns ? "its hellos stopped" :
				   "its hellos are missing, or made with another key", now);
		} else {
			peer_talk(peer, now);
		}
	} else if (rp_rdma_cm_finished(&peer->cm)) {
		peer_resolved(peer, now);
		if (peer->base)
			peer_talk(peer, now);
	} else if (peer->cm.id) {
		if (now - peer->since_ns > PATIENCE_NS) {
			peer_unresolve(peer);
			peer_retry(peer, "nobody answers there", now);
		}
	} else if (now >= peer->retry_ns) {
		peer_resolve(peer, now);
	}
}

static bool peer_is_idle(struct rp_rdma_peer *peer, u64 now)
{
	u64 heard_ns = max(READ_ONCE(peer->hello.heard_ns), peer->since_ns);

	return now - heard_ns > PEER_IDLE_NS && !peer_has_users(peer);
}

/* what was told of its paths is taken back */
static void peer_remove(struct rp_rdma_peer *peer)
{
	struct rp_rdma_probe *probe = peer->probe;
	struct rp_rdma_path *path, *next;

	spin_lock_irq(&probe->lock);
	peer->gone = true;
	hlist_del_rcu(&peer->node);
	list_del_rcu(&peer->list);
	probe->n_peers--;
	spin_unlock_irq(&probe->lock);
	peer_unresolve(peer);
	rp_rdma_peer_tell(peer);
	spin_lock_irq(&probe->lock);
	list_del_init(&peer->news);
	list_for_each_entry_safe(path, next, &peer->paths, on_peer) {
		/* somebody came to want it just now */
		if (path->users) {
			path->peer = NULL;
			list_move_tail(&path->on_peer, &probe->fresh);
			continue;
		}
		rp_rdma_path_unlink(probe, path);
		kfree(path);
	}
	spin_unlock_irq(&probe->lock);
	kvfree_rcu(peer, rcu);
}

/**
 * rp_rdma_peers_work() - go over all peers
 * @probe: of the device
 * @now: the time
 *
 * Context: @probe->mutex.
 */
void rp_rdma_peers_work(struct rp_rdma_probe *probe, u64 now)
{
	bool on = rp_rdma_wire_keyed() && probe->qpn &&
		  READ_ONCE(probe->rdev->settings.probe_interval_us);
	struct rp_rdma_peer *peer, *next;

	lockdep_assert_held(&probe->mutex);
	if (rp_rdma_wire_keyed())
		peers_adopt(probe, now);
	peers_greet(probe, now);
	list_for_each_entry_safe(peer, next, &probe->peers, list) {
		peer_work(peer, on, now);
		if (peer_is_idle(peer, now))
			peer_remove(peer);
		cond_resched();
	}
}

/**
 * rp_rdma_peers_unresolve() - nothing of the endpoint is used any more
 * @probe: of the device
 *
 * Context: @probe->mutex.
 */
void rp_rdma_peers_unresolve(struct rp_rdma_probe *probe)
{
	struct rp_rdma_peer *peer;

	lockdep_assert_held(&probe->mutex);
	list_for_each_entry(peer, &probe->peers, list)
		peer_unresolve(peer);
}

/**
 * rp_rdma_peers_free() - the end of all peers and paths
 * @probe: of a device that goes; no tick and no work any more
 *
 * Context: process.
 */
void rp_rdma_peers_free(struct rp_rdma_probe *probe)
{
	struct rp_rdma_peer *peer, *next;
	struct rp_rdma_path *path, *other;

	mutex_lock(&probe->mutex);
	list_for_each_entry_safe(peer, next, &probe->peers, list)
		peer_remove(peer);
	spin_lock_irq(&probe->lock);
	list_for_each_entry_safe(path, other, &probe->fresh, on_peer) {
		rp_rdma_path_unlink(probe, path);
		kfree(path);
	}
	spin_unlock_irq(&probe->lock);
	mutex_unlock(&probe->mutex);
}
