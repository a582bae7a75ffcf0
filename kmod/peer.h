/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_PEER_H
#define ROCEPATH_PEER_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>

#include "core/hello.h"
#include "core/repair.h"
#include "core/usual.h"
#include "envelope.h"
#include "stats.h"

struct rp_chosen_evs;
struct rp_device;
struct rp_heard_port;
struct rp_letter;
struct rp_peer_paths;
struct sk_buff;

/**
 * struct rp_peer - a remote RoCE address, as one device sees it
 * @node: in the device's peer_table
 * @rp: the device
 * @address: IPv4 mapped
 * @sprayable: it said that it reorders, and that is still true
 * @holds: it may spray to us, so early packets are kept back
 * @reports: it reports what arrives and repairs: @paths are there, or will be
 * @envelope_old: a packet that leaves should renew @envelope
 * @kept: its EVs were chosen, so it is not forgotten
 * @paths: to it, RCU, written under @lock; NULL: it has no more than the ports'
 * @spread_us: how far its packets on different paths may overtake each other
 * @latency: from sending to knowing of the arrival
 * @reported_ns: when its last report came
 * @heard_ns: when that, or its last answer to a probe did
 * @arrived_ns: sending time of the newest packet that it reported
 * @heard: what came from it, by the number of its port; allocated when it comes
 * @used: jiffies when a packet last went to it or came from it, roughly
 * @list: in the device's peer_list
 * @refs: one for the list, one for each QP
 * @lock: for all below; taken with bottom halves off
 * @hello: what we know of each other
 * @envelope: to send control packets in
 * @hello_due: jiffies when the next hello is to be sent
 * @chosen: EVs that discovery or the operator chose, may be NULL
 * @heard_next: path of the peer's to begin the next report with
 * @probe_mask: random, of probes' cookies
 * @phase: random, of the turns that its idle paths have to be probed
 * @turn: of control packets, over the paths
 * @gone: it is being taken out
 * @ticking: @tick is queued or runs
 * @odd: every second tick
 * @tick: its clock, see tick.c
 * @active_qps: QPs that the clock is to look at
 * @active_n: of them
 * @rcu: to free it
 */
struct rp_peer {
	struct rhash_head node;
	struct rp_device *rp;
	struct in6_addr address;
	bool sprayable;
	bool holds;
	bool reports;
	bool envelope_old;
	bool kept;
	unsigned long used;
	struct rp_peer_paths __rcu *paths;
	u32 spread_us;
	struct rp_usual latency;
	u64 reported_ns;
	u64 heard_ns;
	u64 arrived_ns;
	struct rp_heard_port *heard[ROCEPATH_PORTS_MAX];

	struct list_head list;
	refcount_t refs;
	spinlock_t lock;
	struct rp_hello hello;
	struct rp_envelope envelope;
	unsigned long hello_due;
	struct rp_chosen_evs *chosen;
	struct rp_path heard_next;
	u64 probe_mask;
	u32 phase;
	u32 turn;
	bool gone;
	bool ticking;
	bool odd;
	struct hrtimer tick;
	struct list_head active_qps;
	u32 active_n;
	struct rcu_head rcu;
};

/* no shared write for each packet: the mark is moved once a second */
static inline void rp_peer_used(struct rp_peer *peer)
{
	unsigned long now = jiffies;

	if (time_after(now, READ_ONCE(peer->used) + HZ))
		WRITE_ONCE(peer->used, now);
}

struct rp_peer *rp_peer_get(struct rp_device *rp, const struct in6_addr *address, bool create);
void rp_peer_put(struct rp_peer *peer);
/** rp_peer_flows() - QPs that have it. */
static inline u32 rp_peer_flows(const struct rp_peer *peer)
{
	return max(refcount_read(&peer->refs), 1U) - 1;
}

void rp_peer_forget(struct rp_device *rp, struct rp_peer *peer);
void rp_peer_remove(struct rp_device *rp, struct rp_peer *peer);
void rp_peer_publish(struct rp_peer *peer, u64 now_ns);
void rp_peer_learn_envelope(struct rp_device *rp, struct rp_peer *peer, const struct sk_buff *skb,
			    u32 l3);
void rp_peer_arrived(struct rp_peer *peer, u64 newest_ns, u64 oldest_ns, u64 now_ns);
u32 rp_peer_interval_us(const struct rp_peer *peer, const struct rp_device *rp);
u32 rp_peer_patience_us(const struct rp_peer *peer, const struct rp_device *rp);
void rp_peer_clock(const struct rp_peer *peer, const struct rp_device *rp, u64 now_ns,
		   struct rp_repair_clock *clock);
bool rp_peer_send(struct rp_device *rp, struct rp_peer *peer, const struct rp_letter *letter,
		  enum rp_count count);

int rp_peers_init(struct rp_device *rp);
void rp_peers_exit(struct rp_device *rp);

#endif /* ROCEPATH_PEER_H */
