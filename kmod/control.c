// SPDX-License-Identifier: GPL-2.0
/*
 * Control packets: sent in the envelope of data, received ahead of the stack.
 *
 * What they mean is in core/hello.c, how they are made and checked in
 * core/wire.c; here are socket buffers, keys, peers and timers.
 */
#include "control.h"

#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <net/ipv6.h>
#include <rocepath/roce.h>

#include "core/hello.h"
#include "device.h"
#include "heard.h"
#include "netlink.h"
#include "path.h"
#include "peer.h"
#include "probe.h"
#include "qp.h"
#include "report.h"
#include "tx.h"

/* hellos of different peers are spread over this many rounds of the work in one interval */
#define RP_HELLO_ROUNDS 8
/* a peer without QPs, unheard for so many intervals, is forgotten */
#define RP_PEER_IDLE_INTERVALS 60

/* the addresses of an IP header, as a MAC covers them */
static void control_addrs(const u8 *l3, struct rp_wire_addrs *addrs)
{
	struct in6_addr a;

	if (l3[0] >> 4 == 4) {
		const struct iphdr *ip = (const struct iphdr *)l3;

		ipv6_addr_set_v4mapped(ip->saddr, &a);
		memcpy(addrs->src, &a, sizeof(a));
		ipv6_addr_set_v4mapped(ip->daddr, &a);
		memcpy(addrs->dst, &a, sizeof(a));
	} else {
		const struct ipv6hdr *ip = (const struct ipv6hdr *)l3;

		memcpy(addrs->src, &ip->saddr, sizeof(a));
		memcpy(addrs->dst, &ip->daddr, sizeof(a));
	}
}

/* a path that works now: of the peer's, else of the ports' */
static bool control_path(struct rp_device *rp, struct rp_peer *peer, struct rp_path *path)
{
	const struct rp_peer_paths *paths = rcu_dereference(peer->paths);
	u32 turn = hash_32(READ_ONCE(peer->turn), 32);
	u16 index;

	/* they go round the paths, so one of them gets through */
	WRITE_ONCE(peer->turn, peer->turn + 1);
	index = paths ? rp_pathset_pin(paths->set, turn) : RP_PATHSET_NONE;
	if (index == RP_PATHSET_NONE)
		return rp_tx_any_path(rp, turn, path);
	*path = paths->set->entry[index].path;
	return true;
}

/**
 * control_send() - a control packet in a peer's envelope, sealed
 * @rp: the device
 * @peer: to whom
 * @letter: path, body, and what else there is to say
 * @type: enum rp_wire_type
 * @seq: number to seal it with
 *
 * Return: true if a port took it.
 */
static bool control_send(struct rp_device *rp, struct rp_peer *peer, struct rp_letter *letter,
			 u8 type, u64 seq)
{
	const struct rp_keyring *ring = rcu_dereference(rp->keyring);
	const void *body = letter->body;
	u16 body_len = letter->len;
	struct rp_wire_addrs addrs;
	struct rp_envelope e;
	struct sk_buff *skb;
	struct rp_wire *w;

	if (!ring)
		return false;
	spin_lock_bh(&peer->lock);
	e = peer->envelope;
	spin_unlock_bh(&peer->lock);
	if (!e.len)
		return false;
	letter->body = NULL;
	letter->len = sizeof(*w) + body_len;
	rp_letter_bth(letter, RP_OPCODE_CONTROL, RP_WIRE_QPN, 0);
	skb = rp_envelope_fill(&e, rp, letter);
	if (!skb)
		return false;
	w = rp_envelope_body(skb, letter);
	memcpy(w + 1, body, body_len);
	control_addrs(e.data + e.l3, &addrs);
	rp_wire_seal(w, type, body_len, rp->instance, seq, &ring->keys.key[ring->keys.active],
		     &addrs);
	if (!rp_envelope_close(skb)) {
		kfree_skb(skb);
		return false;
	}
	return rp_tx_made(rp, skb, letter->path.port, RP_TX_CONTROL);
}

static u64 control_next_seq(struct rp_peer *peer)
{
	u64 seq;

	spin_lock_bh(&peer->lock);
	seq = rp_hello_next_seq(&peer->hello, ktime_get_ns());
	spin_unlock_bh(&peer->lock);
	return seq;
}

/**
 * rp_control_send() - send a control packet that is not a hello
 * @rp: the device
 * @peer: to whom
 * @type: enum rp_wire_type
 * @body: of it
 * @len: bytes of it, a multiple of 4
 * @path: to go by, NULL: any that works
 *
 * Context: bottom halves off, RCU.
 * Return: true if a port took it.
 */
bool rp_control_send(struct rp_device *rp, struct rp_peer *peer, u8 type, const void *body, u16 len,
		     const struct rp_path *path)
{
	struct rp_letter letter = { .body = body, .len = len };

	if (path)
		letter.path = *path;
	else if (!control_path(rp, peer, &letter.path))
		return false;
	return control_send(rp, peer, &letter, type, control_next_seq(peer));
}

/**
 * rp_control_send_hop() - send a probe that goes no farther than so many routers
 * @rp: the device
 * @peer: towards whom
 * @body: of it
 * @path: to go by
 * @hops: the limit
 * @id: of its IPv4 header, for who quotes it
 *
 * Context: bottom halves off, RCU.
 * Return: true if a port took it.
 */
bool rp_control_send_hop(struct rp_device *rp, struct rp_peer *peer,
			 const struct rp_wire_probe *body, struct rp_path path, u8 hops, u16 id)
{
	struct rp_letter letter = {
		.path = path, .body = body, .len = sizeof(*body), .hops = hops, .id = id,
	};

	return control_send(rp, peer, &letter, RP_WIRE_PROBE, control_next_seq(peer));
}

/* our ports are numbered below that */
static u32 control_ports(const struct rp_device *rp)
{
	const struct rp_ports *ports = rcu_dereference(rp->ports);
	u32 i, n = 0;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		if (READ_ONCE(ports->port[i]))
			n = i + 1;
	return n;
}

static struct rp_hello_self control_self(const struct rp_device *rp)
{
	bool reorders = rp_qp_seen();

	return (struct rp_hello_self){
		.reorders = reorders,
		.reports = reorders,
		.labels = READ_ONCE(rp->entropy) == ROCEPATH_ENTROPY_FLOWLABEL,
		.interval_ms = READ_ONCE(rp->hello_interval_ms),
		.ports = control_ports(rp),
		.report_interval_us = READ_ONCE(rp->report_interval_us),
	};
}

/* with @stranger not 0, answer that challenge and leave the peer's own alone */
static void control_send_hello(struct rp_device *rp, struct rp_peer *peer, bool reply, u64 stranger)
{
	struct rp_hello_self self = control_self(rp);
	struct rp_wire_hello body;
	struct rp_letter letter = { .body = &body, .len = sizeof(body) };
	u64 seq, now = ktime_get_ns();

	if (!rcu_access_pointer(rp->keyring))
		return;
	spin_lock_bh(&peer->lock);
	if (!peer->envelope.len) {
		spin_unlock_bh(&peer->lock);
		return;
	}
	seq = rp_hello_fill(&peer->hello, &body, &self, reply,
			    stranger ? stranger : peer->hello.theirs, now);
	rp_peer_publish(peer, now);
	spin_unlock_bh(&peer->lock);
	if (control_path(rp, peer, &letter.path))
		control_send(rp, peer, &letter, RP_WIRE_HELLO, seq);
}

static void control_hello_rx(struct rp_device *rp, struct rp_peer *peer, const struct sk_buff *skb,
			     u32 l3, const struct rp_roce *r, const struct rp_wire *w)
{
	const struct rp_wire_hello *body = (const struct rp_wire_hello *)(w + 1);
	u64 now = ktime_get_ns(), stranger = 0;
	u32 did;

	spin_lock_bh(&peer->lock);
	/* a peer that we never sent to: answer the way it came */
	if (!peer->envelope.len)
		rp_envelope_reverse(&peer->envelope, skb, l3, r);
	did = rp_hello_rx(&peer->hello, w, body, get_random_u64() | 1, now);
	rp_peer_publish(peer, now);
	spin_unlock_bh(&peer->lock);

	if (did & RP_HELLO_REPLAYED)
		rp_count(rp, RP_RX_CONTROL_REPLAY);
	else if (did & RP_HELLO_UNPROVEN)
		rp_count(rp, RP_RX_CONTROL_UNPROVEN);
	else
		rp_count(rp, RP_RX_CONTROL_OK);
	if (did & RP_HELLO_RESTARTED) {
		rp_path_restarted(peer);
		rp_heard_restarted(peer);
		rp_count(rp, RP_PEERS_RESTARTED);
		rp_event_peer(rp, &peer->address, ROCEPATH_EVENT_PEER_RESTART, "another instance");
	}
	if (did & RP_HELLO_CAME) {
		rp_event_peer(rp, &peer->address, ROCEPATH_EVENT_PEER_HELLO, "it restores order");
		rp_path_sync(rp, peer);
	}
	if (did & RP_HELLO_UNPROVEN)
		stranger = be64_to_cpu(body->challenge);
	if (did & RP_HELLO_REPLY)
		control_send_hello(rp, peer, true, stranger);
}

static bool control_accepts(struct rp_peer *peer, const struct rp_wire *w)
{
	u64 now = ktime_get_ns();
	bool accepts;

	spin_lock(&peer->lock);
	accepts = w->type == RP_WIRE_REPORT ? rp_hello_accepts_report(&peer->hello, w, now) :
					      rp_hello_accepts(&peer->hello, w, now);
	spin_unlock(&peer->lock);
	return accepts;
}

/*
 * Reports and probes count only from who has proven by a hello that it is there.
 *
 * Return: what to count it as.
 */
static enum rp_count control_other_rx(struct rp_device *rp, struct rp_peer *peer,
				      const struct rp_wire *w)
{
	u32 len = be16_to_cpu(w->body_len);
	bool sound;

	if (w->type != RP_WIRE_REPORT && w->type != RP_WIRE_PROBE && w->type != RP_WIRE_PROBE_REPLY)
		return RP_RX_CONTROL_TYPE;
	if (w->type != RP_WIRE_REPORT && len < sizeof(struct rp_wire_probe))
		return RP_RX_CONTROL_MALFORMED;
	if (!peer || READ_ONCE(peer->hello.instance) != be64_to_cpu(w->instance))
		return RP_RX_CONTROL_UNPROVEN;
	if (!control_accepts(peer, w))
		return RP_RX_CONTROL_REPLAY;
	if (w->type == RP_WIRE_REPORT)
		sound = rp_report_rx(rp, peer, w, len);
	else if (w->type == RP_WIRE_PROBE)
		sound = rp_probe_rx(rp, peer, w);
	else
		sound = rp_probe_answered(rp, peer, w);
	return sound ? RP_RX_CONTROL_OK : RP_RX_CONTROL_MALFORMED;
}

static const enum rp_count verdict_count[] = {
	[RP_WIRE_MALFORMED] = RP_RX_CONTROL_MALFORMED,
	[RP_WIRE_VERSION_UNKNOWN] = RP_RX_CONTROL_VERSION,
	[RP_WIRE_KEY_UNKNOWN] = RP_RX_CONTROL_KEY,
	[RP_WIRE_MAC_WRONG] = RP_RX_CONTROL_MAC,
};

/**
 * rp_control_rx() - a control packet arrived
 * @rp: the device
 * @skb: the packet, linear up to the ICRC; stays the caller's
 * @l3: bytes from its data to the IP header
 * @r: parsed
 *
 * Each is counted once, by what became of it.
 *
 * Context: softirq, RCU.
 */
void rp_control_rx(struct rp_device *rp, const struct sk_buff *skb, u32 l3, const struct rp_roce *r)
{
	const struct rp_keyring *ring = rcu_dereference(rp->keyring);
	const u8 *ip = skb->data + l3;
	const struct rp_wire *w = (const struct rp_wire *)(ip + r->bth + RP_BTH_LEN);
	u32 len = r->icrc - r->bth - RP_BTH_LEN;
	static const struct rp_keys no_keys;
	enum rp_wire_verdict verdict;
	struct rp_wire_addrs addrs;
	struct in6_addr from;
	struct rp_peer *peer;

	control_addrs(ip, &addrs);
	verdict = rp_wire_check(w, len, ring ? &ring->keys : &no_keys, &addrs);
	if (verdict != RP_WIRE_OK) {
		rp_count(rp, verdict_count[verdict]);
		return;
	}
	memcpy(&from, addrs.src, sizeof(from));
	if (w->type != RP_WIRE_HELLO) {
		peer = rp_peer_get(rp, &from, false);
		rp_count(rp, control_other_rx(rp, peer, w));
		rp_peer_put(peer);
		return;
	}
	if (be16_to_cpu(w->body_len) < sizeof(struct rp_wire_hello)) {
		rp_count(rp, RP_RX_CONTROL_MALFORMED);
		return;
	}
	peer = rp_peer_get(rp, &from, true);
	if (!peer) {
		rp_count(rp, RP_RX_CONTROL_PEER);
		return;
	}
	control_hello_rx(rp, peer, skb, l3, r, w);
	rp_peer_put(peer);
}

/*
 * A round of the work. When the budget for probes is spent, the next round begins to
 * probe where this one ended, so that all have their turn. @idle_paths are those of peers
 * without traffic.
 */
struct control_round {
	unsigned long interval;
	u32 at;
	u32 from;
	u32 spent_at;
	u32 idle_paths;
};

static void control_probe(struct rp_device *rp, struct rp_peer *peer, struct control_round *round,
			  u64 now)
{
	const struct rp_peer_paths *paths = rcu_dereference(peer->paths);

	round->idle_paths += paths ? paths->set->n : 0;
	if (round->at < round->from || round->spent_at)
		return;
	if (!rp_probe_due(rp, peer, now))
		round->spent_at = round->at;
}

/* one peer in one round of the work. Return: true if it is to be forgotten */
static bool control_visit(struct rp_device *rp, struct rp_peer *peer, struct control_round *round)
{
	unsigned long interval = round->interval;
	u64 now = ktime_get_ns();
	bool lost, ready, ticking;

	spin_lock_bh(&peer->lock);
	lost = rp_hello_poll(&peer->hello, now);
	ready = peer->envelope.len;
	ticking = peer->ticking;
	rp_peer_publish(peer, now);
	spin_unlock_bh(&peer->lock);
	/* while there is traffic its own clock does that, and faster */
	if (!ticking && READ_ONCE(peer->reports)) {
		local_bh_disable();
		/* there was no memory for them when the peer came */
		if (!rcu_access_pointer(peer->paths))
			rp_path_sync(rp, peer);
		rp_path_poll(rp, peer, now);
		control_probe(rp, peer, round, now);
		local_bh_enable();
	}
	if (lost) {
		local_bh_disable();
		rp_count(rp, RP_PEERS_LOST);
		local_bh_enable();
		rp_event_peer(rp, &peer->address, ROCEPATH_EVENT_PEER_LOST, "its hellos stopped");
	}
	/* a QP may rest for hours: it is sprayed at once when it goes on, if the hellos do */
	if (refcount_read(&peer->refs) == 1 &&
	    time_after(jiffies, READ_ONCE(peer->used) + RP_PEER_IDLE_INTERVALS * interval))
		return !READ_ONCE(peer->kept);
	if (!ready || time_before(jiffies, peer->hello_due))
		return false;
	/* spread over the interval, so that peers which came together part */
	peer->hello_due = jiffies + interval - interval / 4 + get_random_u32() % (interval / 4 + 1);
	WRITE_ONCE(peer->envelope_old, true);
	local_bh_disable();
	control_send_hello(rp, peer, false, 0);
	local_bh_enable();
	return false;
}

/**
 * rp_control_ports_changed() - peers are told how many ports there are, by the next hello: now
 * @rp: the device
 *
 * Context: RTNL.
 */
void rp_control_ports_changed(struct rp_device *rp)
{
	struct rp_peer *peer;

	rcu_read_lock();
	list_for_each_entry_rcu(peer, &rp->peer_list, list)
		WRITE_ONCE(peer->hello_due, jiffies);
	rcu_read_unlock();
	if (netif_running(rp->dev))
		mod_delayed_work(system_wq, &rp->hello_work, 0);
}

/**
 * rp_control_rekeyed() - the keys of a device have changed
 * @rp: the device
 * @ring: the new ones, NULL: there are none
 *
 * Hellos with the new key go out at once. Without a key nothing is sprayed from
 * now on; what peers may still spray to us is kept in order all the same.
 *
 * Context: RTNL.
 */
void rp_control_rekeyed(struct rp_device *rp, const struct rp_keyring *ring)
{
	u64 now = ktime_get_ns();
	struct rp_peer *peer;

	rcu_read_lock();
	list_for_each_entry_rcu(peer, &rp->peer_list, list) {
		spin_lock_bh(&peer->lock);
		if (!ring)
			rp_hello_forget(&peer->hello, get_random_u64() | 1);
		peer->hello_due = jiffies;
		rp_peer_publish(peer, now);
		spin_unlock_bh(&peer->lock);
	}
	rcu_read_unlock();
	if (netif_running(rp->dev))
		mod_delayed_work(system_wq, &rp->hello_work, 0);
}

/**
 * rp_control_hello_work() - send the hellos that are due, note who fell silent
 * @work: of a device
 *
 * Context: workqueue.
 */
void rp_control_hello_work(struct work_struct *work)
{
	struct rp_device *rp = container_of(to_delayed_work(work), struct rp_device, hello_work);
	struct control_round round = {
		.interval = max(msecs_to_jiffies(READ_ONCE(rp->hello_interval_ms)), 1UL),
		.from = rp->probe_from,
	};
	unsigned long pause = max(round.interval / RP_HELLO_ROUNDS, 1UL);
	struct rp_peer *peer;

	rcu_read_lock();
	/* only this work and the end of the device, which waits for it, take peers out */
	list_for_each_entry_rcu(peer, &rp->peer_list, list) {
		round.at++;
		if (control_visit(rp, peer, &round))
			rp_peer_forget(rp, peer);
	}
	rcu_read_unlock();
	rp->probe_from = round.spent_at;
	rp_probe_plan(rp, round.idle_paths, jiffies_to_msecs(pause));
	if (netif_running(rp->dev))
		queue_delayed_work(system_wq, &rp->hello_work, pause);
}
