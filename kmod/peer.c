// SPDX-License-Identifier: GPL-2.0
/*
 * Peers: remote RoCE addresses, each as one device sees it.
 *
 * A peer is made when a QP of this host sends to it or hears from it, or by a
 * control packet that a key of ours vouches for, or when its paths are chosen;
 * never by whoever can send a UDP packet. It goes when no QP has it, nothing was
 * heard for a while and no choice would be lost.
 */
#include "peer.h"

#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "compat/hrtimer.h"
#include "control.h"
#include "device.h"
#include "heard.h"
#include "netlink.h"
#include "path.h"
#include "tick.h"
#include "tx.h"

static const struct rhashtable_params peer_params = {
	.key_len = sizeof(struct in6_addr),
	.key_offset = offsetof(struct rp_peer, address),
	.head_offset = offsetof(struct rp_peer, node),
	.automatic_shrinking = true,
};

static struct rp_peer *peer_new(struct rp_device *rp, const struct in6_addr *address)
{
	struct rp_peer *peer = kzalloc(sizeof(*peer), GFP_ATOMIC | __GFP_NOWARN);

	if (!peer)
		return NULL;
	peer->rp = rp;
	peer->address = *address;
	peer->envelope_old = true;
	peer->probe_mask = get_random_u64();
	peer->phase = get_random_u32();
	INIT_LIST_HEAD(&peer->active_qps);
	rp_hrtimer_setup(&peer->tick, rp_tick, HRTIMER_MODE_REL_SOFT);
	peer->used = jiffies;
	peer->hello_due = jiffies;
	refcount_set(&peer->refs, 2);
	spin_lock_init(&peer->lock);
	rp_hello_init(&peer->hello, get_random_u64() | 1);

	spin_lock_bh(&rp->peer_lock);
	if (rp->peer_count >= READ_ONCE(rp->peers_max) ||
	    rhashtable_lookup_insert_fast(&rp->peer_table, &peer->node, peer_params)) {
		spin_unlock_bh(&rp->peer_lock);
		kfree(peer);
		return NULL;
	}
	rp->peer_count++;
	list_add_tail_rcu(&peer->list, &rp->peer_list);
	spin_unlock_bh(&rp->peer_lock);
	return peer;
}

/**
 * rp_peer_get() - a reference to the peer of an address
 * @rp: the device
 * @address: IPv4 mapped
 * @create: make it if it is not there
 *
 * Context: bottom halves off, RCU.
 * Return: the peer, NULL if there is none and none could be made.
 */
struct rp_peer *rp_peer_get(struct rp_device *rp, const struct in6_addr *address, bool create)
{
	struct rp_peer *peer = rhashtable_lookup(&rp->peer_table, address, peer_params);

	if (peer && refcount_inc_not_zero(&peer->refs))
		return peer;
	if (!create)
		return NULL;
	peer = peer_new(rp, address);
	/* another CPU may have been first */
	if (!peer)
		peer = rhashtable_lookup(&rp->peer_table, address, peer_params);
	else
		return peer;
	if (!peer || !refcount_inc_not_zero(&peer->refs)) {
		peer = NULL;
		rp_count(rp, RP_PEERS_REFUSED);
		rp_event_cap(rp, "no room for another peer: raise peers-max");
	}
	return peer;
}

static void peer_free_rcu(struct rcu_head *head)
{
	struct rp_peer *peer = container_of(head, struct rp_peer, rcu);

	rp_path_free(peer);
	rp_heard_free(peer);
	kfree(peer);
}

/**
 * rp_peer_put() - give a reference back
 * @peer: may be NULL
 *
 * Context: any.
 */
void rp_peer_put(struct rp_peer *peer)
{
	if (peer && refcount_dec_and_test(&peer->refs))
		call_rcu(&peer->rcu, peer_free_rcu);
}

static void peer_unlink(struct rp_device *rp, struct rp_peer *peer)
{
	spin_lock_bh(&rp->peer_lock);
	rhashtable_remove_fast(&rp->peer_table, &peer->node, peer_params);
	list_del_rcu(&peer->list);
	rp->peer_count--;
	spin_unlock_bh(&rp->peer_lock);
	spin_lock_bh(&peer->lock);
	peer->gone = true;
	WRITE_ONCE(peer->sprayable, false);
	WRITE_ONCE(peer->holds, false);
	WRITE_ONCE(peer->reports, false);
	spin_unlock_bh(&peer->lock);
	/* it is not started again, for the peer is gone */
	hrtimer_cancel(&peer->tick);
}

/**
 * rp_peer_remove() - the device goes; QPs may still have the peer
 * @rp: the device
 * @peer: of its list
 *
 * Context: process.
 */
void rp_peer_remove(struct rp_device *rp, struct rp_peer *peer)
{
	peer_unlink(rp, peer);
	rp_peer_put(peer);
}

/**
 * rp_peer_forget() - a peer that nobody has is of no use any more
 * @rp: the device
 * @peer: of its list
 *
 * Who looks it up just now may have been first: then it stays.
 *
 * Context: process, RCU.
 */
void rp_peer_forget(struct rp_device *rp, struct rp_peer *peer)
{
	if (!refcount_dec_if_one(&peer->refs))
		return;
	peer_unlink(rp, peer);
	call_rcu(&peer->rcu, peer_free_rcu);
}

/**
 * rp_peer_publish() - let packets see what hellos have brought
 * @peer: the peer
 * @now_ns: the time
 *
 * Context: @peer->lock held.
 */
void rp_peer_publish(struct rp_peer *peer, u64 now_ns)
{
	lockdep_assert_held(&peer->lock);
	WRITE_ONCE(peer->sprayable, peer->hello.state == ROCEPATH_PEER_CAPABLE);
	WRITE_ONCE(peer->holds, peer->hello.hold_until_ns > now_ns);
	WRITE_ONCE(peer->reports, peer->sprayable && peer->hello.reports);
}

/**
 * rp_peer_learn_envelope() - take the headers of a packet that goes to the peer
 * @rp: the device
 * @peer: the peer
 * @skb: the packet, data at the Ethernet header, headers linear
 * @l3: bytes from there to the IP header
 *
 * Context: bottom halves off.
 */
void rp_peer_learn_envelope(struct rp_device *rp, struct rp_peer *peer, const struct sk_buff *skb,
			    u32 l3)
{
	bool first;

	spin_lock_bh(&peer->lock);
	first = !peer->envelope.len;
	if (rp_envelope_take(&peer->envelope, skb, l3))
		WRITE_ONCE(peer->envelope_old, false);
	first = first && peer->envelope.len;
	spin_unlock_bh(&peer->lock);
	/* the first hello at once, so that the flow is sprayed soon */
	if (first)
		mod_delayed_work(system_wq, &rp->hello_work, 0);
}

/* what takes longer than this is lost, whatever was seen before */
#define RP_PATIENCE_MAX_US 1000000u
/* packets of one path may overtake each other by so much of an interval (several CPUs) */
#define RP_SLACK_SHARE 4

static struct rp_usual peer_latency(const struct rp_peer *peer)
{
	return (struct rp_usual){
		.mean_us = READ_ONCE(peer->latency.mean_us),
		.dev_us = READ_ONCE(peer->latency.dev_us),
	};
}

/**
 * rp_peer_arrived() - packets are known to have arrived at the peer
 * @peer: the peer
 * @newest_ns: when the newest of them was sent
 * @oldest_ns: of the newest ones of each path, when the oldest was sent
 * @now_ns: the time
 *
 * The latency that our patience follows from is that of the slowest path. Written
 * without a lock; a lost update costs nothing.
 *
 * Context: softirq.
 */
void rp_peer_arrived(struct rp_peer *peer, u64 newest_ns, u64 oldest_ns, u64 now_ns)
{
	u64 took_ns = now_ns - min(oldest_ns, now_ns);
	u32 us = min_t(u64, took_ns, NSEC_PER_SEC) / NSEC_PER_USEC;
	struct rp_usual latency = peer_latency(peer);

	newest_ns = min(newest_ns, now_ns);
	if (newest_ns > READ_ONCE(peer->arrived_ns))
		WRITE_ONCE(peer->arrived_ns, newest_ns);
	if (latency.mean_us)
		rp_usual_learn(&latency, us);
	else
		rp_usual_begin(&latency, us);
	WRITE_ONCE(peer->latency.mean_us, latency.mean_us);
	WRITE_ONCE(peer->latency.dev_us, latency.dev_us);
}

/** rp_peer_interval_us() - of reports: the longer one of ours and the peer's. */
u32 rp_peer_interval_us(const struct rp_peer *peer, const struct rp_device *rp)
{
	return max(READ_ONCE(rp->report_interval_us), READ_ONCE(peer->hello.report_interval_us));
}

/**
 * rp_peer_patience_us() - what is sent to the peer is heard of by then
 * @peer: the peer
 * @rp: the device
 *
 * Before anything was heard, a round trip of three intervals is thought possible.
 */
u32 rp_peer_patience_us(const struct rp_peer *peer, const struct rp_device *rp)
{
	u32 interval = rp_peer_interval_us(peer, rp);
	struct rp_usual latency = peer_latency(peer);
	u32 us = latency.mean_us ? rp_usual_most_us(&latency) : 3 * interval;

	return clamp(us, interval, max(RP_PATIENCE_MAX_US, interval));
}

/**
 * rp_peer_clock() - when what is missing at that peer is lost
 * @peer: the peer
 * @rp: the device
 * @now_ns: the time
 * @clock: filled in
 *
 * Context: any.
 */
void rp_peer_clock(const struct rp_peer *peer, const struct rp_device *rp, u64 now_ns,
		   struct rp_repair_clock *clock)
{
	u32 interval = rp_peer_interval_us(peer, rp);
	u32 patience = rp_peer_patience_us(peer, rp);
	u32 slack = interval / RP_SLACK_SHARE;

	*clock = (struct rp_repair_clock){
		.now_ns = now_ns,
		.arrived_ns = READ_ONCE(peer->arrived_ns),
		.slack_us = slack,
		.spread_us = 2 * READ_ONCE(peer->spread_us) +
			     4 * peer_latency(peer).dev_us + slack,
		.round_us = patience,
		.tail_us = patience + interval,
	};
}

/**
 * rp_peer_send() - send a letter in the peer's envelope
 * @rp: the device
 * @peer: to whom
 * @letter: what, and by which path
 * @count: of the device that it is counted as
 *
 * Context: bottom halves off, RCU.
 * Return: true if a port took it.
 */
bool rp_peer_send(struct rp_device *rp, struct rp_peer *peer, const struct rp_letter *letter,
		  enum rp_count count)
{
	struct rp_envelope e;
	struct sk_buff *skb;

	spin_lock(&peer->lock);
	e = peer->envelope;
	spin_unlock(&peer->lock);
	if (!e.len)
		return false;
	skb = rp_envelope_fill(&e, rp, letter);
	if (!skb)
		return false;
	if (!rp_envelope_close(skb)) {
		kfree_skb(skb);
		return false;
	}
	return rp_tx_made(rp, skb, letter->path.port, count);
}

/**
 * rp_peers_init() - of a new device
 * @rp: the device
 *
 * Return: 0 or a negative errno.
 */
int rp_peers_init(struct rp_device *rp)
{
	spin_lock_init(&rp->peer_lock);
	INIT_LIST_HEAD(&rp->peer_list);
	INIT_DELAYED_WORK(&rp->hello_work, rp_control_hello_work);
	return rhashtable_init(&rp->peer_table, &peer_params);
}

/**
 * rp_peers_exit() - of a device that goes; no QP is bound to it any more
 * @rp: the device
 *
 * Context: process.
 */
void rp_peers_exit(struct rp_device *rp)
{
	struct rp_peer *peer, *next;

	cancel_delayed_work_sync(&rp->hello_work);
	list_for_each_entry_safe(peer, next, &rp->peer_list, list)
		rp_peer_remove(rp, peer);
	rhashtable_destroy(&rp->peer_table);
}
