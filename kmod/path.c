// SPDX-License-Identifier: GPL-2.0
/*
 * The paths to a peer that restores order: laid out from the ports of the device, made
 * anew when these change. What they are like is in core/health.c and core/pathset.c.
 */
#include "path.h"

#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "device.h"
#include "netlink.h"
#include "peer.h"
#include "port.h"
#include "probe.h"
#include "trace.h"

/**
 * rp_path_knobs() - what the paths to a peer have in common
 * @rp: the device
 * @peer: of it
 *
 * Context: any.
 */
struct rp_health_knobs rp_path_knobs(const struct rp_device *rp, const struct rp_peer *peer)
{
	return (struct rp_health_knobs){
		.interval_ns = (u64)rp_peer_interval_us(peer, rp) * NSEC_PER_USEC,
		.patience_ns = (u64)rp_peer_patience_us(peer, rp) * NSEC_PER_USEC,
		.spread_ns = 2ull * READ_ONCE(peer->spread_us) * NSEC_PER_USEC,
		.loss_ppm = READ_ONCE(rp->loss_ppm),
		.holddown_ms = READ_ONCE(rp->holddown_ms),
		.holddown_max_ms = READ_ONCE(rp->holddown_max_ms),
		.phase = peer->phase,
	};
}

/* the ports as this peer's paths are laid out on them: discovery may have chosen fewer EVs */
static void path_ports(struct rp_paths_port *desc, const struct rp_ports *ports,
		       const struct rp_chosen_evs *chosen)
{
	int i;

	memcpy(desc, ports->desc, sizeof(ports->desc));
	for (i = 0; chosen && i < ROCEPATH_PORTS_MAX; i++)
		if (desc[i].weight && chosen->n[i])
			desc[i].evs = chosen->n[i];
}

static bool path_fits(const struct rp_pathset *set, const struct rp_paths_port *desc,
		      const struct rp_chosen_evs *chosen)
{
	u16 evs[ROCEPATH_PORTS_MAX] = {};
	u32 i;

	if (rp_pathset_count(desc) != set->n)
		return false;
	for (i = 0; i < set->n; i++) {
		struct rp_path path = set->entry[i].path;

		if (!desc[path.port].weight)
			return false;
		/* one that was chosen, or one of the usual: below their number */
		if (chosen && chosen->n[path.port] ?
			    !memchr(chosen->ev[path.port], path.ev, chosen->n[path.port]) :
			    path.ev >= desc[path.port].evs)
			return false;
		evs[path.port]++;
	}
	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		if (desc[i].weight && !evs[i])
			return false;
	return true;
}

/* Return: false if there is no memory for it; the old ones stay */
static bool path_lay_out(struct rp_peer *peer, const struct rp_paths_port *desc,
			 const struct rp_health_knobs *knobs, u64 now)
{
	struct rp_peer_paths *old = rcu_dereference_protected(peer->paths,
							      lockdep_is_held(&peer->lock));
	const struct rp_chosen_evs *chosen = peer->chosen;
	struct rp_peer_paths *paths;

	lockdep_assert_held(&peer->lock);
	paths = kzalloc(sizeof(*paths) + rp_pathset_size(rp_pathset_count(desc)),
			GFP_ATOMIC | __GFP_NOWARN);
	if (!paths)
		return false;
	paths->generation = old ? old->generation + 1 : 1;
	paths->set = rp_pathset_init(paths->memory, desc, chosen ? chosen->ev : NULL,
				     old ? old->set : NULL, now);
	rp_pathset_ports(paths->set, desc, knobs, now);
	rcu_assign_pointer(peer->paths, paths);
	if (old)
		kfree_rcu(old, rcu);
	return true;
}

/**
 * rp_path_sync() - bring a peer's paths in line with the ports of the device
 * @rp: the device
 * @peer: of it
 *
 * Context: any but hard irq; RCU.
 */
void rp_path_sync(struct rp_device *rp, struct rp_peer *peer)
{
	struct rp_health_knobs knobs = rp_path_knobs(rp, peer);
	struct rp_paths_port desc[ROCEPATH_PORTS_MAX];
	const struct rp_ports *ports;
	struct rp_peer_paths *paths;
	u64 now = ktime_get_ns();

	spin_lock_bh(&peer->lock);
	/* who changes the ports calls us for each peer after that: so the newest win */
	ports = rcu_dereference(rp->ports);
	paths = rcu_dereference_protected(peer->paths, lockdep_is_held(&peer->lock));
	if (peer->hello.state != ROCEPATH_PEER_CAPABLE || peer->gone)
		goto out;
	path_ports(desc, ports, peer->chosen);
	if (!rp_pathset_count(desc))
		goto out;
	if (paths && path_fits(paths->set, desc, peer->chosen))
		rp_pathset_ports(paths->set, desc, &knobs, now);
	else if (!path_lay_out(peer, desc, &knobs, now))
		rp_count(rp, RP_PATHS_NOMEM);
out:
	spin_unlock_bh(&peer->lock);
}

/**
 * rp_path_sync_all() - the ports of a device have changed
 * @rp: the device
 *
 * Context: RTNL.
 */
void rp_path_sync_all(struct rp_device *rp)
{
	struct rp_peer *peer;

	rcu_read_lock();
	list_for_each_entry_rcu(peer, &rp->peer_list, list)
		rp_path_sync(rp, peer);
	rcu_read_unlock();
}

/* no port has a choice of its own yet: 0, 1, 2 ... for each */
static struct rp_chosen_evs *path_usual_evs(void)
{
	struct rp_chosen_evs *chosen = kzalloc(sizeof(*chosen), GFP_ATOMIC);
	u32 port, i;

	for (port = 0; chosen && port < ROCEPATH_PORTS_MAX; port++)
		for (i = 0; i < ROCEPATH_EVS_MAX; i++)
			chosen->ev[port][i] = i;
	return chosen;
}

static void path_keep(struct rp_peer *peer)
{
	lockdep_assert_held(&peer->lock);
	WRITE_ONCE(peer->kept, memchr_inv(peer->chosen->n, 0, sizeof(peer->chosen->n)));
}

/**
 * rp_path_choose() - use these EVs of a port towards a peer
 * @rp: the device
 * @peer: of it
 * @port: number of the port
 * @ev: the EVs
 * @n: how many, 0: the usual ones
 *
 * Context: any but hard irq; RCU.
 * Return: 0 or -ENOMEM.
 */
int rp_path_choose(struct rp_device *rp, struct rp_peer *peer, u8 port, const u8 *ev, u32 n)
{
	struct rp_chosen_evs *chosen = NULL;
	u32 i;

	if (!READ_ONCE(peer->chosen)) {
		chosen = path_usual_evs();
		if (!chosen)
			return -ENOMEM;
	}
	spin_lock_bh(&peer->lock);
	if (!peer->chosen) {
		peer->chosen = chosen;
		chosen = NULL;
	}
	peer->chosen->n[port] = n;
	for (i = 0; i < ROCEPATH_EVS_MAX; i++)
		peer->chosen->ev[port][i] = i < n ? ev[i] : i;
	path_keep(peer);
	spin_unlock_bh(&peer->lock);
	kfree(chosen);
	rp_path_sync(rp, peer);
	return 0;
}

/**
 * rp_path_forget_port() - what was chosen for a port that goes is not for who gets its number
 * @rp: the device
 * @port: number of the port
 *
 * Context: RTNL.
 */
void rp_path_forget_port(struct rp_device *rp, u8 port)
{
	struct rp_peer *peer;

	ASSERT_RTNL();
	rcu_read_lock();
	list_for_each_entry_rcu(peer, &rp->peer_list, list) {
		spin_lock_bh(&peer->lock);
		if (peer->chosen) {
			peer->chosen->n[port] = 0;
			path_keep(peer);
		}
		spin_unlock_bh(&peer->lock);
	}
	rcu_read_unlock();
}

/**
 * rp_path_changed() - the state of a path has changed: tell
 * @rp: the device
 * @peer: of it
 * @e: the path
 * @before: its state before
 * @now_ns: the time
 *
 * What a port's carrier does to its paths is the port's event.
 *
 * Context: @peer->lock held, RCU.
 */
void rp_path_changed(struct rp_device *rp, struct rp_peer *peer, const struct rp_pathset_entry *e,
		     u8 before, u64 now_ns)
{
	const struct rp_ports *ports = rcu_dereference(rp->ports);
	const struct rp_port *port = READ_ONCE(ports->port[e->path.port]);
	u64 unheard = e->health.unheard_ns, took = 0;

	lockdep_assert_held(&peer->lock);
	if (e->health.reason == ROCEPATH_REASON_SILENT && unheard)
		took = now_ns - min(unheard, now_ns);
	trace_rocepath_path(rp->dev, &peer->address, e->path.port, e->path.ev, before,
			    e->health.state, e->health.reason);
	/* what is tried and stays dead is no news */
	if (before == ROCEPATH_PATH_PROBATION && e->health.state == ROCEPATH_PATH_DOWN)
		return;
	if (e->health.state == ROCEPATH_PATH_PROBATION && e->health.retry_ms)
		return;
	if (e->health.state == ROCEPATH_PATH_DOWN)
		rp_count(rp, RP_PATHS_DOWN);
	else if (e->health.state == ROCEPATH_PATH_UP && before == ROCEPATH_PATH_PROBATION)
		rp_count(rp, RP_PATHS_BACK);
	else if (e->health.state == ROCEPATH_PATH_SUSPECT)
		rp_count(rp, RP_PATHS_SUSPECT);
	if (port && e->health.reason != ROCEPATH_REASON_CARRIER)
		rp_event_path(port, &peer->address, e, before, took);
}

/**
 * rp_path_restarted() - the peer has restarted, and counts from 0 again
 * @peer: the peer
 *
 * Context: any but hard irq.
 */
void rp_path_restarted(struct rp_peer *peer)
{
	struct rp_peer_paths *paths;
	u32 i;

	spin_lock_bh(&peer->lock);
	paths = rcu_dereference_protected(peer->paths, lockdep_is_held(&peer->lock));
	for (i = 0; paths && i < paths->set->n; i++)
		rp_pathset_recount(&paths->set->entry[i]);
	spin_unlock_bh(&peer->lock);
}

struct path_poll {
	struct rp_device *rp;
	struct rp_peer *peer;
	const struct rp_pathset *set;
	u64 now_ns;
};

static void path_poll_changed(void *arg, u16 index, u8 before)
{
	struct path_poll *p = arg;

	rp_path_changed(p->rp, p->peer, &p->set->entry[index], before, p->now_ns);
}

/* Nothing heard for so long: with traffic reports come, without what is probed answers. */
static u64 path_silence_ns(const struct rp_device *rp, const struct rp_peer *peer,
			   const struct rp_health_knobs *knobs)
{
	u64 probed_ms = rp_probe_period_ms(rp);

	lockdep_assert_held(&peer->lock);
	if (peer->ticking || !probed_ms)
		return 2 * knobs->interval_ns;
	/* it is looked at eight times a second or less, see rp_control_hello_work() */
	return 2 * (probed_ms + READ_ONCE(rp->hello_interval_ms)) * NSEC_PER_MSEC;
}

/**
 * rp_path_poll() - time passed
 * @rp: the device
 * @peer: of it
 * @now_ns: the time
 *
 * Context: bottom halves off, RCU.
 */
void rp_path_poll(struct rp_device *rp, struct rp_peer *peer, u64 now_ns)
{
	struct rp_health_knobs knobs = rp_path_knobs(rp, peer);
	struct rp_peer_paths *paths;

	spin_lock(&peer->lock);
	paths = rcu_dereference_protected(peer->paths, lockdep_is_held(&peer->lock));
	if (paths) {
		struct path_poll p = { rp, peer, paths->set, now_ns };
		/* that a probe was answered says that the peer is there, not what else has arrived */
		u64 heard_ns = peer->ticking ? peer->reported_ns : peer->heard_ns;
		bool silent = now_ns > heard_ns + path_silence_ns(rp, peer, &knobs);

		rp_pathset_poll(paths->set, heard_ns, silent, &knobs, now_ns, path_poll_changed,
				&p);
	}
	spin_unlock(&peer->lock);
}

/** rp_path_free() - the peer ends: no reader is left. */
void rp_path_free(struct rp_peer *peer)
{
	kfree(rcu_dereference_protected(peer->paths, true));
	kfree(peer->chosen);
}
