// SPDX-License-Identifier: GPL-2.0
/*
 * What is said between hosts: hellos, probes and answers, sent and received.
 *
 * What is in them is made under the lock of the device, sealed and sent without
 * it. An answer goes by any EV that works, each in its turn, and says of 64 probes
 * whether they came; so what a dead path does to answers is no matter. Only who
 * has proven by a hello that it is there is answered, and believed.
 */
#include "probe_peer.h"

#include <linux/random.h>

#include "device.h"
#include "probe.h"

/* of our hellos */
#define HELLO_INTERVAL_MS 1000
/* a path that loses one in a hundred probes, and the others do not */
#define LOSS_PPM 10000
#define HOLDDOWN_MAX_MS 60000
/* round trips that differ by less do not differ */
#define SLOW_FLOOR_US 20
#define INTERVAL_MIN_US 500U

/**
 * rp_rdma_probe_knobs() - what the rules of health need to know
 * @probe: of the device
 *
 * Two probes of each EV in an interval: more EVs than the budget has room for
 * make it longer.
 *
 * Context: any.
 */
struct rp_probes_knobs rp_rdma_probe_knobs(const struct rp_rdma_probe *probe)
{
	const struct rp_rdma_settings *settings = &probe->rdev->settings;
	u64 set_us = max(READ_ONCE(settings->probe_interval_us), INTERVAL_MIN_US);
	u64 budget_us = div_u64(2ull * USEC_PER_SEC * READ_ONCE(probe->n_probed),
				max(READ_ONCE(settings->probes_per_second), 1U));

	struct rp_probes_knobs knobs = {
		.health = {
			.loss_ppm = LOSS_PPM,
			.holddown_ms = READ_ONCE(settings->holddown_ms),
			.holddown_max_ms = HOLDDOWN_MAX_MS,
		},
		.slow_factor = READ_ONCE(settings->slow_factor),
		.slow_floor_us = SLOW_FLOOR_US,
	};

	rp_probes_interval(&knobs, max(set_us, budget_us) * NSEC_PER_USEC);
	return knobs;
}

/**
 * rp_rdma_letter_begin() - get what a message needs
 * @peer: to whom
 * @lane: to go by
 * @type: enum rp_rdma_wire_type
 * @letter: filled in
 *
 * Context: the device's lock.
 * Return: true if the letter can be written, and must be sent; else it has no room now.
 */
bool rp_rdma_letter_begin(struct rp_rdma_peer *peer, struct rp_rdma_lane *lane, u8 type,
			  struct rp_rdma_letter *letter)
{
	struct rp_rdma_probe *probe = peer->probe;

	lockdep_assert_held(&probe->lock);
	if (!lane || READ_ONCE(lane->broken) || !rp_rdma_lane_get(lane))
		return false;
	letter->slot = rp_rdma_slot_get(&probe->verbs);
	if (!letter->slot) {
		rp_rdma_lane_put(lane);
		return false;
	}
	letter->lane = lane;
	letter->type = type;
	letter->qpn = peer->qpn;
	letter->qkey = peer->qkey;
	letter->seq = rp_hello_next_seq(&peer->hello, ktime_get_ns());
	return true;
}

/**
 * rp_rdma_letter_send() - seal a message and send it
 * @peer: to whom
 * @letter: written
 *
 * Context: any but hard irq, no lock.
 */
void rp_rdma_letter_send(const struct rp_rdma_peer *peer, const struct rp_rdma_letter *letter)
{
	struct rp_rdma_message *m = rp_rdma_letter_message(letter);

	if (rp_rdma_wire_seal(m, letter->type, letter->seq, &peer->pair.local,
			      &peer->pair.remote)) {
		rp_rdma_lane_send(letter->lane, letter->slot, rp_rdma_wire_len(letter->type),
				  letter->qpn, letter->qkey);
		return;
	}
	rp_rdma_slot_put(letter->slot);
	rp_rdma_lane_put(letter->lane);
}

/* a lane of an EV that works, else the base */
static struct rp_rdma_lane *any_lane(struct rp_rdma_peer *peer)
{
	struct rp_probes_path *path = rp_probes_any(&peer->probes);
	struct rp_rdma_lane *lane;

	if (!path)
		return peer->base;
	lane = container_of(path, struct rp_rdma_path, probes)->lane;
	return lane && !READ_ONCE(lane->broken) ? lane : peer->base;
}

/* --- hellos --- */

/* with @stranger not 0, answer that challenge and leave the peer's own alone */
static bool hello_write(struct rp_rdma_peer *peer, bool reply, u64 stranger,
			struct rp_rdma_letter *letter, u64 now)
{
	const struct rp_hello_self self = {
		.reorders = true,	/* that is: it answers probes */
		.interval_ms = HELLO_INTERVAL_MS,
	};
	struct rp_rdma_wire_hello *body;
	/* either way may be dead, or of a peer that was */
	struct rp_rdma_lane *lane = peer->turns++ & 1 ? any_lane(peer) : peer->base;

	if (!rp_rdma_letter_begin(peer, lane, RP_RDMA_WIRE_HELLO, letter))
		return false;
	body = &rp_rdma_letter_message(letter)->body.hello;
	letter->seq = rp_hello_fill(&peer->hello, &body->hello, &self, reply,
				    stranger ? stranger : peer->hello.theirs, now);
	body->sink = cpu_to_be32(peer->sink ? peer->sink->qp->qp_num : 0);
	body->flags = cpu_to_be32(peer->probe->verbs.by_uc ? RP_RDMA_HELLO_SINK_WANTED : 0);
	return true;
}

static void hello_send(struct rp_rdma_peer *peer, bool reply, u64 stranger, u64 now)
{
	struct rp_rdma_probe *probe = peer->probe;
	struct rp_rdma_letter letter;
	unsigned long flags;
	bool written;

	spin_lock_irqsave(&probe->lock, flags);
	written = hello_write(peer, reply, stranger, &letter, now);
	spin_unlock_irqrestore(&probe->lock, flags);
	if (!written)
		return;
	rp_rdma_letter_send(peer, &letter);
	rp_rdma_count(&probe->rdev->stats, RP_RDMA_TX_HELLO);
}

/**
 * rp_rdma_hello() - say hello, and ask for one
 * @peer: to whom
 * @now: the time
 *
 * Context: the device's mutex.
 */
void rp_rdma_hello(struct rp_rdma_peer *peer, u64 now)
{
	hello_send(peer, false, 0, now);
}

/* what only this kind of hello says. Return: true if there is something to do */
static bool hello_learn(struct rp_rdma_peer *peer, const struct rp_rdma_wire_hello *body)
{
	u32 sink = be32_to_cpu(body->sink) & 0xffffff;
	bool wanted = be32_to_cpu(body->flags) & RP_RDMA_HELLO_SINK_WANTED;
	bool news = sink != peer->their_sink || (wanted && !peer->sink);

	peer->their_sink = sink;
	peer->sink_wanted = wanted;
	return news;
}

static enum rp_rdma_count hello_rx(struct rp_rdma_peer *peer, const struct rp_rdma_message *m)
{
	const struct rp_rdma_wire_hello *body = &m->body.hello;
	struct rp_rdma_probe *probe = peer->probe;
	u64 now = ktime_get_ns(), stranger = 0;
	unsigned long flags;
	bool news = false;
	u32 did;

	spin_lock_irqsave(&probe->lock, flags);
	did = rp_hello_rx(&peer->hello, &m->wire, &body->hello, get_random_u64() | 1, now);
	if (did & RP_HELLO_COUNTED && be64_to_cpu(m->wire.seq) == peer->hello.seen.newest)
		news = hello_learn(peer, body);
	spin_unlock_irqrestore(&probe->lock, flags);
	if (did & RP_HELLO_UNPROVEN)
		stranger = be64_to_cpu(body->hello.challenge);
	if (did & RP_HELLO_REPLY)
		hello_send(peer, true, stranger, now);
	if (news || did & RP_HELLO_CAME)
		rp_rdma_probe_wake(probe);
	if (did & RP_HELLO_REPLAYED)
		return RP_RDMA_RX_REPLAY;
	return did & RP_HELLO_UNPROVEN ? RP_RDMA_RX_UNPROVEN : RP_RDMA_RX_HELLO;
}

/* who says hello and is not known is looked for; its next hello will be answered */
static void hello_stranger(struct rp_rdma_probe *probe, const struct rp_rdma_pair *pair)
{
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&probe->lock, flags);
	room = probe->n_strangers < RP_PROBE_STRANGERS;
	if (room)
		probe->strangers[probe->n_strangers++] = *pair;
	spin_unlock_irqrestore(&probe->lock, flags);
	if (room)
		rp_rdma_probe_wake(probe);
}

/* --- probes and answers --- */

static bool answer_write(struct rp_rdma_peer *peer, u32 number, struct rp_rdma_letter *letter)
{
	struct rp_rdma_wire_answer *body;

	if (!rp_rdma_letter_begin(peer, any_lane(peer), RP_RDMA_WIRE_ANSWER, letter))
		return false;
	body = &rp_rdma_letter_message(letter)->body.answer;
	body->to = cpu_to_be64(peer->hello.instance);
	body->number = cpu_to_be32(number);
	body->newest = cpu_to_be32(peer->seen.newest);
	body->before = cpu_to_be64(peer->seen.before);
	return true;
}

static enum rp_rdma_count probe_rx(struct rp_rdma_peer *peer, const struct rp_rdma_message *m)
{
	u32 number = be32_to_cpu(m->body.probe.number);
	struct rp_rdma_probe *probe = peer->probe;
	struct rp_rdma_letter letter;
	bool accepts, written = false;
	unsigned long flags;

	spin_lock_irqsave(&probe->lock, flags);
	accepts = rp_hello_accepts(&peer->hello, &m->wire, ktime_get_ns());
	if (accepts) {
		/* who has restarted counts anew */
		if (peer->seen_of != peer->hello.instance)
			peer->seen = (struct rp_probes_seen){ };
		peer->seen_of = peer->hello.instance;
		rp_probes_saw(&peer->seen, number);
		written = answer_write(peer, number, &letter);
	}
	spin_unlock_irqrestore(&probe->lock, flags);
	if (written)
		rp_rdma_letter_send(peer, &letter);
	return accepts ? RP_RDMA_RX_PROBES : RP_RDMA_RX_REPLAY;
}

static enum rp_rdma_count answer_rx(struct rp_rdma_peer *peer, const struct rp_rdma_message *m)
{
	const struct rp_rdma_wire_answer *body = &m->body.answer;
	struct rp_rdma_probe *probe = peer->probe;
	struct rp_probes_knobs knobs = rp_rdma_probe_knobs(probe);
	struct rp_probes_news news = { rp_rdma_probe_news, peer };
	struct rp_probes_seen seen = {
		.newest = be32_to_cpu(body->newest), .before = be64_to_cpu(body->before),
		.any = true,
	};
	enum rp_rdma_count count = RP_RDMA_RX_ANSWERS;
	u64 now = ktime_get_ns();
	unsigned long flags;

	spin_lock_irqsave(&probe->lock, flags);
	if (!rp_hello_accepts(&peer->hello, &m->wire, now))
		count = RP_RDMA_RX_REPLAY;
	else if (be64_to_cpu(body->to) != rp_rdma_wire_instance() ||
		 !rp_probes_heard(&peer->probes, &seen, be32_to_cpu(body->number), &knobs, &news,
				  now))
		count = RP_RDMA_RX_UNKNOWN;
	spin_unlock_irqrestore(&probe->lock, flags);
	return count;
}

static enum rp_rdma_count peer_rx(struct rp_rdma_peer *peer, const struct rp_rdma_message *m)
{
	if (m->wire.type == RP_RDMA_WIRE_HELLO)
		return hello_rx(peer, m);
	if (READ_ONCE(peer->hello.instance) != be64_to_cpu(m->wire.instance))
		return RP_RDMA_RX_UNPROVEN;
	if (m->wire.type == RP_RDMA_WIRE_PROBE)
		return probe_rx(peer, m);
	return answer_rx(peer, m);
}

static const enum rp_rdma_count verdict_count[] = {
	[RP_WIRE_MALFORMED] = RP_RDMA_RX_MALFORMED,
	[RP_WIRE_VERSION_UNKNOWN] = RP_RDMA_RX_VERSION,
	[RP_WIRE_KEY_UNKNOWN] = RP_RDMA_RX_KEY,
	[RP_WIRE_MAC_WRONG] = RP_RDMA_RX_MAC,
};

static enum rp_rdma_count message_rx(struct rp_rdma_probe *probe, const struct rp_rdma_message *m,
				     u32 len, const struct rp_rdma_pair *pair)
{
	enum rp_wire_verdict verdict = rp_rdma_wire_check(m, len, &pair->local, &pair->remote);
	struct rp_rdma_peer *peer;

	if (verdict != RP_WIRE_OK)
		return verdict_count[verdict];
	if (!rp_rdma_wire_len(m->wire.type))
		return RP_RDMA_RX_UNKNOWN;
	peer = rp_rdma_peer_find(probe, pair);
	if (peer)
		return peer_rx(peer, m);
	if (m->wire.type == RP_RDMA_WIRE_HELLO)
		hello_stranger(probe, pair);
	return RP_RDMA_RX_UNKNOWN;
}

/**
 * rp_rdma_message_rx() - something came
 * @arg: the device's probes
 * @m: it
 * @len: bytes of it
 * @local: address that it came to
 * @remote: from that
 *
 * Each is counted once, by what became of it.
 *
 * Context: softirq.
 */
void rp_rdma_message_rx(void *arg, const struct rp_rdma_message *m, u32 len,
			const struct in6_addr *local, const struct in6_addr *remote)
{
	struct rp_rdma_pair pair = { .local = *local, .remote = *remote };
	struct rp_rdma_probe *probe = arg;

	rcu_read_lock();
	rp_rdma_count(&probe->rdev->stats, message_rx(probe, m, len, &pair));
	rcu_read_unlock();
}
