// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of a device: does the path of that EV work?
 *
 * Where a NIC carries the data, nothing is seen of it: a path that is silent
 * can only be found out by asking. So each EV that a QP sits on is probed, twice in an
 * interval: peers times EVs times 2 / interval, of some 150 bytes on the wire, and as many
 * answers. 16 peers with 8 EVs at 10 ms are 25,600 a second, 30 Mbit/s. The budget bounds
 * that: when more EVs are in use than it has room for, the interval of all gets
 * longer (rp_rdma_probe_knobs()), and with it the time until a dead path is found.
 * The tick goes over all paths, 8 times in an interval: 8,192 of them at most.
 *
 * Whoever has the key can make its own paths look as it likes, and nobody else's.
 * Without the key, a packet moves nothing: a MAC covers it and the addresses, its
 * number counts once, its instance has answered our challenge.
 */
#include "probe.h"

#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "../compat/hrtimer.h"
#include "device.h"
#include "probe_peer.h"

/* ticks in an interval, and their bounds */
#define TICKS 8
#define TICK_MIN_NS (250 * NSEC_PER_USEC)
#define TICK_MAX_NS (20 * NSEC_PER_MSEC)
/* probes of one peer that are made before the lock is let go */
#define BATCH 8
/* what the budget saves up: a tenth of a second's */
#define BURST_NS (NSEC_PER_SEC / 10ull)
#define WORK_MS 250
/* changes that are told at once */
#define CHANGES 32

static DEFINE_MUTEX(probes_mutex);
static LIST_HEAD(probes);
static struct workqueue_struct *probe_wq;

static ushort probe_by;
module_param(probe_by, ushort, 0444);
MODULE_PARM_DESC(probe_by, "Probes go by 0: what the driver needs, 1: UD, 2: UC");

/* --- what changed --- */

/**
 * rp_rdma_probe_news() - the state of a path has changed, maybe
 * @arg: its peer
 * @path: the path
 * @before: its state before; what was told last counts instead
 *
 * Context: the device's lock.
 */
void rp_rdma_probe_news(void *arg, struct rp_probes_path *path, u8 before)
{
	struct rp_rdma_peer *peer = arg;
	struct rp_rdma_probe *probe = peer->probe;

	lockdep_assert_held(&probe->lock);
	if (peer->gone || probe->stopping)
		return;
	if (list_empty(&peer->news))
		list_add_tail(&peer->news, &probe->news);
	queue_work(probe_wq, &probe->news_work);
}

/* is it worth telling? What is in doubt, or on probation, is still what it was */
static bool path_news(struct rp_rdma_path *path, struct rp_rdma_path_change *change)
{
	const struct rp_health *h = &path->probes.health;
	u8 state = rp_rdma_path_state(path), before = path->told;

	if (state == before || state == ROCEPATH_RDMA_PATH_SUSPECT ||
	    state == ROCEPATH_RDMA_PATH_PROBATION)
		return false;
	path->told = state;
	/* up, and nothing known yet, are alike to who has to act */
	if ((state == ROCEPATH_RDMA_PATH_UP || state == ROCEPATH_RDMA_PATH_UNKNOWN) &&
	    (before == ROCEPATH_RDMA_PATH_UP || before == ROCEPATH_RDMA_PATH_UNKNOWN))
		return false;
	*change = (struct rp_rdma_path_change){
		.ev = path->probes.ev, .state = state, .before = before,
		.reason = path->probed ? rp_probes_reason(&path->probes) :
					 (u8)ROCEPATH_RDMA_REASON_PEER,
		.rtt_us = path->probes.rtt_us,
	};
	if (state == ROCEPATH_RDMA_PATH_DOWN && h->unheard_ns && h->unheard_ns < h->since_ns)
		change->took_us = min(div_u64(h->since_ns - h->unheard_ns, NSEC_PER_USEC),
				      (u64)U32_MAX);
	return true;
}

/* Return: how many changes there are, at most CHANGES */
static u32 peer_changes(struct rp_rdma_peer *peer, struct rp_rdma_path_change *change)
{
	struct rp_rdma_path *path;
	u32 n = 0;

	lockdep_assert_held(&peer->probe->lock);
	list_for_each_entry(path, &peer->paths, on_peer) {
		n += path_news(path, &change[n]);
		if (n == CHANGES)
			break;
	}
	return n;
}

/**
 * rp_rdma_peer_tell() - tell what is left to be told of a peer's paths
 * @peer: that is being taken out
 *
 * Context: process.
 */
void rp_rdma_peer_tell(struct rp_rdma_peer *peer)
{
	struct rp_rdma_path_change change[CHANGES];
	struct rp_rdma_probe *probe = peer->probe;
	u32 n;

	do {
		spin_lock_irq(&probe->lock);
		n = probe->stopping ? 0 : peer_changes(peer, change);
		spin_unlock_irq(&probe->lock);
		if (n)
			rp_rdma_paths_changed(probe->rdev, &peer->pair.local, &peer->pair.remote,
					      change, n);
	} while (n == CHANGES);
}

static void probe_news_work(struct work_struct *work)
{
	struct rp_rdma_probe *probe = container_of(work, struct rp_rdma_probe, news_work);
	struct rp_rdma_path_change change[CHANGES];
	struct rp_rdma_pair pair;
	struct rp_rdma_peer *peer;
	u32 n;

	for (;;) {
		spin_lock_irq(&probe->lock);
		peer = list_first_entry_or_null(&probe->news, struct rp_rdma_peer, news);
		if (!peer) {
			spin_unlock_irq(&probe->lock);
			return;
		}
		pair = peer->pair;
		n = peer_changes(peer, change);
		if (n < CHANGES)
			list_del_init(&peer->news);
		spin_unlock_irq(&probe->lock);
		/* from here on the peer may be gone */
		if (n)
			rp_rdma_paths_changed(probe->rdev, &pair.local, &pair.remote, change, n);
	}
}

/* --- the tick --- */

/* Generic cell rate (ITU-T I.371): what was not used is there later, up to a burst. */
static bool budget_allows(struct rp_rdma_probe *probe, u64 now)
{
	u32 rate = max(READ_ONCE(probe->rdev->settings.probes_per_second), 1U);

	lockdep_assert_held(&probe->lock);
	if (probe->budget_ns > now)
		return false;
	probe->budget_ns = max(probe->budget_ns, now - min(now, BURST_NS)) +
			   div_u64(NSEC_PER_SEC, rate);
	return true;
}

/* Return: false: nothing more can be sent now */
static bool probe_write(struct rp_rdma_peer *peer, struct rp_probes_path *path,
			const struct rp_probes_knobs *knobs, struct rp_rdma_letter *letter,
			u64 now)
{
	struct rp_rdma_lane *lane = container_of(path, struct rp_rdma_path, probes)->lane;
	struct rp_rdma_wire_probe *body;

	if (!rp_rdma_letter_begin(peer, lane, RP_RDMA_WIRE_PROBE, letter))
		return false;
	body = &rp_rdma_letter_message(letter)->body.probe;
	body->number = cpu_to_be32(rp_probes_send(&peer->probes, path, knobs, now));
	body->ev = cpu_to_be16(path->ev);
	body->reserved = 0;
	return true;
}

/* Return: how many letters were written, at most BATCH */
static u32 probes_write(struct rp_rdma_peer *peer, const struct rp_probes_knobs *knobs,
			struct rp_rdma_letter *letter, u64 now)
{
	struct rp_rdma_probe *probe = peer->probe;
	struct rp_probes_path *path;
	u32 n = 0;

	for (path = peer->probes.paths; path && n < BATCH; path = path->next) {
		if (!rp_probes_due(path, knobs, now))
			continue;
		if (!budget_allows(probe, now)) {
			rp_rdma_count(&probe->rdev->stats, RP_RDMA_PROBES_REFUSED);
			break;
		}
		n += probe_write(peer, path, knobs, &letter[n], now);
	}
	return n;
}

/* a lane that the NIC did not send by says nothing of its path */
static void peer_drop_broken(struct rp_rdma_peer *peer)
{
	struct rp_rdma_path *path;
	bool any = false;

	list_for_each_entry(path, &peer->paths, on_peer) {
		if (!path->probed || !READ_ONCE(path->lane->broken))
			continue;
		rp_rdma_path_unprobe(path);
		any = true;
	}
	if (any)
		rp_rdma_probe_wake(peer->probe);
}

static void peer_tick(struct rp_rdma_peer *peer, const struct rp_probes_knobs *knobs, u64 now)
{
	struct rp_probes_news news = { rp_rdma_probe_news, peer };
	struct rp_rdma_probe *probe = peer->probe;
	struct rp_rdma_letter letter[BATCH];
	bool first = true;
	u32 i, n;

	do {
		spin_lock_irq(&probe->lock);
		if (first && peer->hello.state == ROCEPATH_PEER_CAPABLE) {
			peer_drop_broken(peer);
			rp_probes_poll(&peer->probes, knobs, &news, now);
		}
		first = false;
		n = peer->gone ? 0 : probes_write(peer, knobs, letter, now);
		spin_unlock_irq(&probe->lock);
		for (i = 0; i < n; i++) {
			rp_rdma_letter_send(peer, &letter[i]);
			rp_rdma_count(&probe->rdev->stats, RP_RDMA_TX_PROBES);
		}
	} while (n == BATCH);
}

static enum hrtimer_restart probe_tick(struct hrtimer *timer)
{
	struct rp_rdma_probe *probe = container_of(timer, struct rp_rdma_probe, tick);
	struct rp_probes_knobs knobs = rp_rdma_probe_knobs(probe);
	u64 tick_ns = clamp(div_u64(knobs.interval_ns, TICKS), (u64)TICK_MIN_NS,
			    (u64)TICK_MAX_NS);
	struct rp_rdma_peer *peer;

	/* the work starts it again */
	if (READ_ONCE(probe->stopping) || !READ_ONCE(probe->n_probed))
		return HRTIMER_NORESTART;
	rcu_read_lock();
	list_for_each_entry_rcu(peer, &probe->peers, list)
		peer_tick(peer, &knobs, ktime_get_ns());
	rcu_read_unlock();
	hrtimer_forward_now(timer, ns_to_ktime(tick_ns));
	return HRTIMER_RESTART;
}

/* --- the work --- */

/* a UD QP in error, as when its netdevice went down, has to be made anew */
static void probe_endpoint(struct rp_rdma_probe *probe, u64 now)
{
	struct rp_rdma_verbs *v = &probe->verbs;

	if (probe->qpn && !READ_ONCE(v->broken))
		return;
	if (probe->qpn) {
		WRITE_ONCE(probe->qpn, 0);
		rp_rdma_peers_unresolve(probe);
		rp_rdma_verbs_exit(v);
		probe->retry_ns = now + NSEC_PER_SEC;
	}
	if (now < probe->retry_ns)
		return;
	probe->retry_ns = now + NSEC_PER_SEC;
	*v = (struct rp_rdma_verbs){
		.ib = probe->rdev->ib, .port = probe->rdev->port, .by_uc = v->by_uc,
		.received = rp_rdma_message_rx, .arg = probe,
	};
	if (!rp_rdma_verbs_init(v))
		WRITE_ONCE(probe->qpn, v->qp->qp_num);
}

static void probe_work(struct work_struct *work)
{
	struct rp_rdma_probe *probe = container_of(to_delayed_work(work), struct rp_rdma_probe,
						   work);
	u64 now = ktime_get_ns();

	mutex_lock(&probe->mutex);
	/* somebody woke us before he knew */
	if (probe->stopping)
		goto out;
	probe_endpoint(probe, now);
	rp_rdma_peers_work(probe, now);
	if (READ_ONCE(probe->n_probed) && !hrtimer_active(&probe->tick))
		hrtimer_start(&probe->tick, 0, HRTIMER_MODE_REL_SOFT);
	/* without peers nothing is sent, and nothing breaks */
	if (!list_empty(&probe->peers) || !probe->qpn)
		queue_delayed_work(probe_wq, &probe->work, msecs_to_jiffies(WORK_MS));
out:
	mutex_unlock(&probe->mutex);
}

/**
 * rp_rdma_probe_wake() - there is something to do that may sleep
 * @probe: of the device
 *
 * Context: any.
 */
void rp_rdma_probe_wake(struct rp_rdma_probe *probe)
{
	if (!READ_ONCE(probe->stopping))
		mod_delayed_work(probe_wq, &probe->work, 0);
}

/* --- begin and end --- */

/* see probe_lane.c for who is known to be what */
static bool needs_uc(const struct ib_device *ib)
{
	if (probe_by)
		return probe_by == 2;
	return ib->ops.driver_id != RDMA_DRIVER_MLX5 && ib->ops.driver_id != RDMA_DRIVER_HNS;
}

/**
 * rp_rdma_probe_start() - of a device that comes
 * @rdev: the port; nobody else knows it yet
 *
 * Without an endpoint, as on a port that is down, there are no probes: it is tried
 * again every second. Where the source port does not follow the flow label, a
 * probe would tell of some other path, and there are none at all.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rp_rdma_probe_start(struct rp_rdma_device *rdev)
{
	struct rp_rdma_probe *probe;

	if (rp_rdma_device_follows(rdev) != ROCEPATH_RDMA_FOLLOWS_YES && !probe_by)
		return 0;
	probe = kvzalloc(sizeof(*probe), GFP_KERNEL);
	if (!probe)
		return -ENOMEM;
	probe->rdev = rdev;
	probe->verbs.by_uc = needs_uc(rdev->ib);
	spin_lock_init(&probe->lock);
	mutex_init(&probe->mutex);
	INIT_LIST_HEAD(&probe->peers);
	INIT_LIST_HEAD(&probe->fresh);
	INIT_LIST_HEAD(&probe->news);
	INIT_DELAYED_WORK(&probe->work, probe_work);
	INIT_WORK(&probe->news_work, probe_news_work);
	rp_hrtimer_setup(&probe->tick, probe_tick, HRTIMER_MODE_REL_SOFT);
	rdev->probe = probe;
	mutex_lock(&probes_mutex);
	list_add_tail(&probe->list, &probes);
	mutex_unlock(&probes_mutex);
	rp_rdma_probe_wake(probe);
	return 0;
}

/**
 * rp_rdma_probe_stop() - of a device that goes
 * @rdev: the port; no QP and nobody else knows it any more
 *
 * In this order: nobody is sent to us any more; no tick and no work begins;
 * peers end, and with them resolutions, lanes and sinks; then the endpoint, which
 * waits for what is on its way. Messages are received until that is done.
 *
 * Context: process.
 */
void rp_rdma_probe_stop(struct rp_rdma_device *rdev)
{
	struct rp_rdma_probe *probe = rdev->probe;

	if (!probe)
		return;
	mutex_lock(&probes_mutex);
	list_del(&probe->list);
	mutex_unlock(&probes_mutex);
	spin_lock_irq(&probe->lock);
	WRITE_ONCE(probe->stopping, true);
	spin_unlock_irq(&probe->lock);
	cancel_delayed_work_sync(&probe->work);
	hrtimer_cancel(&probe->tick);
	cancel_work_sync(&probe->news_work);
	rp_rdma_peers_free(probe);
	if (probe->qpn)
		rp_rdma_verbs_exit(&probe->verbs);
	cancel_delayed_work_sync(&probe->work);
	rdev->probe = NULL;
	kvfree(probe);
}

/**
 * rp_rdma_cm_endpoint() - where to reach the probes of a device
 * @ib: the RDMA device
 * @port: number of the port
 * @qpn: of its UD QP
 * @qkey: of that
 *
 * Context: process.
 * Return: false if there are none.
 */
bool rp_rdma_cm_endpoint(const struct ib_device *ib, u32 port, u32 *qpn, u32 *qkey)
{
	struct rp_rdma_probe *probe;
	bool found = false;

	mutex_lock(&probes_mutex);
	list_for_each_entry(probe, &probes, list) {
		if (probe->rdev->ib != ib || probe->rdev->port != port)
			continue;
		*qpn = READ_ONCE(probe->qpn);
		*qkey = READ_ONCE(probe->verbs.qkey);
		found = *qpn;
	}
	mutex_unlock(&probes_mutex);
	return found;
}

static void probe_rekeyed(struct rp_rdma_probe *probe, bool keyed)
{
	struct rp_rdma_peer *peer;

	rcu_read_lock();
	list_for_each_entry_rcu(peer, &probe->peers, list) {
		spin_lock_irq(&probe->lock);
		if (!keyed)
			rp_hello_forget(&peer->hello, get_random_u64() | 1);
		peer->hello_ns = 0;
		spin_unlock_irq(&probe->lock);
	}
	rcu_read_unlock();
	rp_rdma_probe_wake(probe);
}

/**
 * rp_rdma_probe_rekeyed() - the keys have changed
 * @keyed: there are some
 *
 * Hellos with the new key go out at once. Without a key nobody is probed any more.
 *
 * Context: process.
 */
void rp_rdma_probe_rekeyed(bool keyed)
{
	struct rp_rdma_probe *probe;

	mutex_lock(&probes_mutex);
	list_for_each_entry(probe, &probes, list)
		probe_rekeyed(probe, keyed);
	mutex_unlock(&probes_mutex);
}

/**
 * rp_rdma_probe_init() - before there are devices
 *
 * Return: 0 or a negative errno.
 */
int rp_rdma_probe_init(void)
{
	int err;

	probe_wq = alloc_workqueue("rocepath_rdma", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!probe_wq)
		return -ENOMEM;
	rp_rdma_wire_init();
	err = rp_rdma_cm_init();
	if (err)
		pr_warn("rocepath_rdma: cannot listen (error %d): peers do not find this host; is cm_port taken?\n",
			err);
	return 0;
}

/** rp_rdma_probe_exit() - no device is there any more. */
void rp_rdma_probe_exit(void)
{
	rp_rdma_cm_exit();
	rp_rdma_wire_exit();
	destroy_workqueue(probe_wq);
}
