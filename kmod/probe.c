// SPDX-License-Identifier: GPL-2.0
/*
 * Probes: does that path work?
 *
 * Data is its own probe. So probes go to paths that nothing was sent on lately,
 * to doubtful ones, and to those that are to come back; and never more than the
 * device's budget. Idle paths have their turns spread over probe-interval; where
 * there are too many for the budget, over a longer time, so that at most four
 * fifths of it are used: 4,096 peers of 64 idle paths, 10,000 probes a second:
 * 41 s. A probe is about 110 bytes.
 *
 * The answer to a probe goes back by any path that works, so a lost answer says
 * something of the path that the probe took, and not of the way back.
 */
#include "probe.h"

#include "control.h"
#include "device.h"
#include "hop.h"
#include "path.h"
#include "peer.h"

/**
 * rp_probe_init() - of a new device
 * @rp: the device
 */
void rp_probe_init(struct rp_device *rp)
{
	spin_lock_init(&rp->probe_budget.lock);
}

/**
 * rp_probe_allowed() - does the device's budget have room for a probe?
 * @rp: the device
 * @now_ns: the time
 *
 * Context: bottom halves off.
 */
bool rp_probe_allowed(struct rp_device *rp, u64 now_ns)
{
	struct rp_probe_budget *b = &rp->probe_budget;
	bool allowed;

	spin_lock(&b->lock);
	allowed = rp_budget_take(&b->budget, READ_ONCE(rp->probes_per_second), now_ns);
	spin_unlock(&b->lock);
	if (!allowed)
		rp_count(rp, RP_PROBES_REFUSED);
	return allowed;
}

/**
 * rp_probe_period_ms() - how often an idle path is probed, 0: never
 * @rp: the device
 *
 * Context: any.
 */
u32 rp_probe_period_ms(const struct rp_device *rp)
{
	u32 interval = READ_ONCE(rp->probe_interval_ms);

	return interval ? max(interval, READ_ONCE(rp->probe_period_ms)) : 0;
}

/**
 * rp_probe_plan() - so many paths are idle: how often each can be probed
 * @rp: the device
 * @paths: of all peers without traffic
 * @round_ms: turns are looked for that often
 *
 * Context: the device's work.
 */
void rp_probe_plan(struct rp_device *rp, u32 paths, u32 round_ms)
{
	WRITE_ONCE(rp->probe_period_ms,
		   rp_budget_period_ms(paths, READ_ONCE(rp->probes_per_second), round_ms, 0));
}

/* a path's own time comes back in the answer; masked, for it is nobody's business */
static __be64 probe_cookie(const struct rp_peer *peer, u64 sent_ns)
{
	return cpu_to_be64(sent_ns ^ peer->probe_mask);
}

static void probe_send(struct rp_device *rp, struct rp_peer *peer, struct rp_path path, u64 now)
{
	struct rp_wire_probe body = {
		.path = cpu_to_be16(path.port << 8 | path.ev),
		.cookie = probe_cookie(peer, now),
	};

	if (rp_control_send(rp, peer, RP_WIRE_PROBE, &body, sizeof(body), &path))
		rp_count(rp, RP_TX_PROBES);
}

/* Return: false if there is none, or the budget is @spent */
static bool probe_next(struct rp_device *rp, struct rp_peer *peer, u32 *at, u64 now,
		       struct rp_path *path, bool *spent)
{
	struct rp_health_knobs knobs = rp_path_knobs(rp, peer);
	u64 idle = (u64)rp_probe_period_ms(rp) * NSEC_PER_MSEC;
	struct rp_peer_paths *paths;
	bool found = false;

	spin_lock(&peer->lock);
	paths = rcu_dereference_protected(peer->paths, lockdep_is_held(&peer->lock));
	for (; paths && *at < paths->set->n; (*at)++) {
		struct rp_pathset_entry *e = &paths->set->entry[*at];

		if (!rp_health_probe_due(&e->health, idle, &knobs, now))
			continue;
		if (!rp_probe_allowed(rp, now)) {
			*spent = true;
			break;
		}
		rp_health_probed(&e->health, &knobs, now);
		*path = e->path;
		(*at)++;
		found = true;
		break;
	}
	spin_unlock(&peer->lock);
	return found;
}

/**
 * rp_probe_due() - send the probes that are due
 * @rp: the device
 * @peer: to whom
 * @now_ns: the time
 *
 * Context: bottom halves off, RCU.
 * Return: false if the budget did not suffice.
 */
bool rp_probe_due(struct rp_device *rp, struct rp_peer *peer, u64 now_ns)
{
	struct rp_path path;
	bool spent = false;
	u32 at = 0;

	while (probe_next(rp, peer, &at, now_ns, &path, &spent))
		probe_send(rp, peer, path, now_ns);
	return !spent;
}

/**
 * rp_probe_rx() - a probe came: answer
 * @rp: the device
 * @peer: whose it is
 * @w: its header, the body behind it is whole
 *
 * Context: softirq, RCU.
 * Return: true if it was answered.
 */
bool rp_probe_rx(struct rp_device *rp, struct rp_peer *peer, const struct rp_wire *w)
{
	struct rp_wire_probe body = *(const struct rp_wire_probe *)(w + 1);

	return rp_control_send(rp, peer, RP_WIRE_PROBE_REPLY, &body, sizeof(body), NULL);
}

/**
 * rp_probe_answered() - the answer to a probe came
 * @rp: the device
 * @peer: whose it is
 * @w: its header, the body behind it is whole
 *
 * Context: softirq, RCU.
 * Return: false if there is no such path, or the probe is not of our time.
 */
bool rp_probe_answered(struct rp_device *rp, struct rp_peer *peer, const struct rp_wire *w)
{
	const struct rp_wire_probe *body = (const struct rp_wire_probe *)(w + 1);
	u64 now = ktime_get_ns(), sent = be64_to_cpu(body->cookie) ^ peer->probe_mask;
	struct rp_path path = { be16_to_cpu(body->path) >> 8, be16_to_cpu(body->path) & 0xff };
	struct rp_health_knobs knobs = rp_path_knobs(rp, peer);
	u16 index = RP_PATHSET_NONE;
	struct rp_peer_paths *paths;

	if (body->hops)
		return rp_hop_reached(rp, peer, body);
	if (sent > now)
		return false;
	spin_lock(&peer->lock);
	paths = rcu_dereference_protected(peer->paths, lockdep_is_held(&peer->lock));
	if (paths)
		index = rp_pathset_find(paths->set, path);
	if (index != RP_PATHSET_NONE) {
		struct rp_pathset_entry *e = &paths->set->entry[index];
		u8 before = e->health.state;

		WRITE_ONCE(peer->heard_ns, now);
		if (rp_health_answered(&e->health, sent, &knobs, now))
			rp_path_changed(rp, peer, e, before, now);
		rp_pathset_publish(paths->set, index);
	}
	spin_unlock(&peer->lock);
	return index != RP_PATHSET_NONE;
}
