// SPDX-License-Identifier: GPL-2.0
/*
 * What is heard of a peer, by the paths that it came on: for our reports.
 *
 * A packet counts here only if its QPN and PSN are what the QP is waiting for:
 * who can guess these can do worse to the QP itself.
 */
#include "heard.h"

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <rocepath/roce.h>

#include "peer.h"

static bool heard_path(const struct rp_peer *peer, const u8 *l3, const struct rp_roce *r,
		       struct rp_path *path)
{
	if (r->ipv6 && READ_ONCE(peer->hello.labels))
		return rp_path_of_flowlabel(get_unaligned_be32(l3) & 0xfffff, path);
	return rp_path_of_sport(get_unaligned_be16(l3 + r->udp), path);
}

static bool heard_marked(const u8 *l3, bool ipv6)
{
	return INET_ECN_is_ce(ipv6 ? ipv6_get_dsfield((const struct ipv6hdr *)l3) :
				     ((const struct iphdr *)l3)->tos);
}

/* one for each port that the peer says it has: nobody else can make us keep more */
static struct rp_heard_port *heard_port(struct rp_peer *peer, u8 port)
{
	struct rp_heard_port *h = READ_ONCE(peer->heard[port]), *other;

	if (likely(h) || port >= READ_ONCE(peer->hello.ports))
		return h;
	h = kzalloc(sizeof(*h), GFP_ATOMIC | __GFP_NOWARN);
	if (!h)
		return NULL;
	other = cmpxchg(&peer->heard[port], NULL, h);
	if (!other)
		return h;
	kfree(h);
	return other;
}

/**
 * rp_heard() - a packet of a QP came from a peer
 * @peer: who reports and repairs
 * @skb: the packet, headers linear
 * @l3: bytes from its data to the IP header
 * @r: parsed
 * @late_ns: how much later than the one sent after it, negative: not known
 *
 * Context: softirq, RCU.
 */
void rp_heard(struct rp_peer *peer, const struct sk_buff *skb, u32 l3, const struct rp_roce *r,
	      s64 late_ns)
{
	const u8 *ip = skb->data + l3;
	struct rp_heard_port *port;
	struct rp_heard_path *h;
	struct rp_path path;

	if (!heard_path(peer, ip, r, &path))
		return;
	port = heard_port(peer, path.port);
	if (!port)
		return;
	h = &port->path[path.ev];
	if (unlikely(!test_bit(path.ev, port->used)))
		set_bit(path.ev, port->used);
	WRITE_ONCE(h->received, h->received + 1);
	if (heard_marked(ip, r->ipv6))
		WRITE_ONCE(h->marked, h->marked + 1);
	if (late_ns >= 0) {
		u32 late_us = min_t(u64, late_ns, NSEC_PER_SEC) / NSEC_PER_USEC;

		WRITE_ONCE(h->late_us, h->late_us + late_us);
		WRITE_ONCE(h->lates, h->lates + 1);
	}
}

/* the mean since it was last asked for, or what it was then */
static u32 heard_late(struct rp_heard_path *h)
{
	u32 lates = READ_ONCE(h->lates);

	if (lates) {
		h->told_late_us = READ_ONCE(h->late_us) / lates;
		WRITE_ONCE(h->lates, 0);
		WRITE_ONCE(h->late_us, 0);
	}
	return h->told_late_us;
}

/* Return: the EV that found no room, ROCEPATH_EVS_MAX if all up to @end did */
static u32 heard_report_port(struct rp_heard_port *port, u8 index, u32 ev, u32 end,
			     struct rp_report_writer *w)
{
	for (ev = find_next_bit(port->used, end, ev); ev < end;
	     ev = find_next_bit(port->used, end, ev + 1)) {
		struct rp_heard_path *h = &port->path[ev];
		struct rp_report_path p = {
			.path = index << 8 | ev,
			.received = READ_ONCE(h->received),
			.marked = READ_ONCE(h->marked),
		};

		if (p.received == h->told)
			continue;
		p.late_us = heard_late(h);
		/* half of the room is for the flows */
		if (w->len > RP_WIRE_BODY_MAX / 2 || !rp_report_put_path(w, &p))
			return ev;
		h->told = p.received;
	}
	return ROCEPATH_EVS_MAX;
}

/**
 * rp_heard_report() - write down the paths that something came on since the last time
 * @peer: of whom
 * @w: the report
 *
 * The next one begins with the first that finds no room.
 *
 * Context: the peer's tick, so one at a time.
 * Return: true if there was anything to say.
 */
bool rp_heard_report(struct rp_peer *peer, struct rp_report_writer *w)
{
	u32 before = w->len, first = peer->heard_next.ev;
	u32 i, port, ev;

	/* all the way round: the first port's EVs that were left out at the beginning come last */
	for (i = 0; i <= ROCEPATH_PORTS_MAX; i++) {
		port = (peer->heard_next.port + i) % ROCEPATH_PORTS_MAX;
		if (!READ_ONCE(peer->heard[port]))
			continue;
		ev = heard_report_port(peer->heard[port], port, i ? 0 : first,
				       i == ROCEPATH_PORTS_MAX ? first : ROCEPATH_EVS_MAX, w);
		if (ev < ROCEPATH_EVS_MAX) {
			peer->heard_next = (struct rp_path){ port, ev };
			break;
		}
	}
	return w->len != before;
}

/**
 * rp_heard_restarted() - the peer has restarted, and knows nothing of what we counted
 * @peer: the peer
 *
 * Context: any.
 */
void rp_heard_restarted(struct rp_peer *peer)
{
	int i, ev;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		struct rp_heard_port *port = READ_ONCE(peer->heard[i]);

		for (ev = 0; port && ev < ROCEPATH_EVS_MAX; ev++) {
			WRITE_ONCE(port->path[ev].received, 0);
			WRITE_ONCE(port->path[ev].marked, 0);
			WRITE_ONCE(port->path[ev].told, 0);
		}
	}
}

/** rp_heard_free() - the peer ends: no reader is left. */
void rp_heard_free(struct rp_peer *peer)
{
	int i;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		kfree(peer->heard[i]);
}
