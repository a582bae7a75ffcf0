// SPDX-License-Identifier: GPL-2.0
/* Events to the multicast group: what happened, to what, and why. */
#include <linux/in6.h>
#include <linux/ktime.h>
#include <net/ipv6.h>

#include "core/pathset.h"
#include "device.h"
#include "netlink.h"
#include "port.h"

/* what an event tells beside its kind; what is 0 or NULL is not there */
struct event {
	enum rocepath_event type;
	const char *reason;
	const struct rp_port *port;
	const struct in6_addr *peer;
	const struct rp_path *path;
	const struct rp_hop *hop;
	const struct in6_addr *router;
	u32 took_us;
};

static int event_put_hop(struct sk_buff *skb, const struct event *e)
{
	u64 rtt = ktime_get_ns() - e->hop->sent_ns;

	if (nla_put_u32(skb, ROCEPATH_A_EVENT_HOPS, e->hop->hops) ||
	    nla_put_u32(skb, ROCEPATH_A_EVENT_COOKIE, e->hop->cookie) ||
	    nla_put_u32(skb, ROCEPATH_A_EVENT_RTT_US, div_u64(rtt, NSEC_PER_USEC)) ||
	    nla_put(skb, ROCEPATH_A_EVENT_HOP, sizeof(*e->router), e->router))
		return -EMSGSIZE;
	return 0;
}

static int event_put(struct sk_buff *skb, const struct rp_device *rp, const struct event *e)
{
	if (nla_put_u32(skb, ROCEPATH_A_EVENT_TYPE, e->type) ||
	    nla_put_u32(skb, ROCEPATH_A_EVENT_DEVICE, rp->dev->ifindex) ||
	    nla_put_string(skb, ROCEPATH_A_EVENT_DEVICE_NAME, rp->dev->name) ||
	    nla_put_string(skb, ROCEPATH_A_EVENT_REASON, e->reason) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_EVENT_TIME_NS, ktime_get_real_ns(),
			      ROCEPATH_A_EVENT_PAD))
		return -EMSGSIZE;
	if (e->port && (nla_put_u32(skb, ROCEPATH_A_EVENT_PORT, e->port->dev->ifindex) ||
			nla_put_string(skb, ROCEPATH_A_EVENT_PORT_NAME, e->port->dev->name)))
		return -EMSGSIZE;
	if (e->peer && nla_put(skb, ROCEPATH_A_EVENT_PEER, sizeof(*e->peer), e->peer))
		return -EMSGSIZE;
	if (e->path && nla_put_u32(skb, ROCEPATH_A_EVENT_EV, e->path->ev))
		return -EMSGSIZE;
	if (e->took_us && nla_put_u32(skb, ROCEPATH_A_EVENT_TOOK_US, e->took_us))
		return -EMSGSIZE;
	return e->hop ? event_put_hop(skb, e) : 0;
}

static void event_send(const struct rp_device *rp, const struct event *e)
{
	struct net *net = dev_net(rp->dev);
	struct sk_buff *skb;
	void *hdr;

	if (!genl_has_listeners(&rp_genl_family, net, 0))
		return;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &rp_genl_family, 0, ROCEPATH_CMD_EVENT);
	if (!hdr || event_put(skb, rp, e)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&rp_genl_family, net, skb, 0, 0, GFP_ATOMIC);
}

/**
 * rp_event_port() - something happened to a port
 * @port: the port
 * @event: what
 * @reason: why
 *
 * Context: any but hard irq.
 */
void rp_event_port(const struct rp_port *port, enum rocepath_event event, const char *reason)
{
	const struct event e = { .type = event, .reason = reason, .port = port };

	event_send(port->rp, &e);
}

/**
 * rp_event_peer() - something happened to a peer
 * @rp: the device
 * @address: of the peer
 * @event: what
 * @reason: why
 *
 * Context: any but hard irq.
 */
void rp_event_peer(const struct rp_device *rp, const struct in6_addr *address,
		   enum rocepath_event event, const char *reason)
{
	const struct event e = { .type = event, .reason = reason, .peer = address };

	event_send(rp, &e);
}

/**
 * rp_event_cap() - a bound was hit
 * @rp: the device
 * @reason: which, and the knob for it
 *
 * At most one a second, for packets may ask for it.
 *
 * Context: any but hard irq.
 */
void rp_event_cap(struct rp_device *rp, const char *reason)
{
	const struct event e = { .type = ROCEPATH_EVENT_CAP_HIT, .reason = reason };
	unsigned long last = READ_ONCE(rp->cap_event);

	if (last && time_before(jiffies, last + HZ))
		return;
	if (cmpxchg(&rp->cap_event, last, jiffies | 1) == last)
		event_send(rp, &e);
}

static const char *const reason_name[] = {
	[ROCEPATH_REASON_NEW] = "new",
	[ROCEPATH_REASON_CARRIER] = "carrier",
	[ROCEPATH_REASON_SILENT] = "silent",
	[ROCEPATH_REASON_LOSS] = "loss",
	[ROCEPATH_REASON_PROBE_LOST] = "probe-lost",
	[ROCEPATH_REASON_HEARD] = "heard",
	[ROCEPATH_REASON_HOLDDOWN_OVER] = "holddown-over",
	[ROCEPATH_REASON_PROBES_ANSWERED] = "probes-answered",
};

/**
 * rp_event_path() - the state of a path has changed
 * @port: its port
 * @peer: towards whom
 * @p: the path
 * @before: its state before
 * @took_ns: since the first packet was sent on it that nothing was heard of, 0: there is none
 *
 * That a path is doubtful for a moment is no event. When a router that thousands of
 * paths take fails, so many events a second are told of as the device allows; the
 * paths themselves can be asked for all.
 *
 * Context: any but hard irq.
 */
void rp_event_path(const struct rp_port *port, const struct in6_addr *peer,
		   const struct rp_pathset_entry *p, u8 before, u64 took_ns)
{
	struct event e = {
		.reason = reason_name[p->health.reason],
		.port = port,
		.peer = peer,
		.path = &p->path,
	};

	switch (p->health.state) {
	case ROCEPATH_PATH_DOWN:
		e.type = ROCEPATH_EVENT_PATH_DOWN;
		e.took_us = div_u64(took_ns, NSEC_PER_USEC);
		break;
	case ROCEPATH_PATH_PROBATION:
		e.type = ROCEPATH_EVENT_PATH_PROBATION;
		break;
	case ROCEPATH_PATH_UP:
		if (before == ROCEPATH_PATH_SUSPECT)
			return;
		e.type = ROCEPATH_EVENT_PATH_UP;
		break;
	default:
		return;
	}
	if (__ratelimit(&port->rp->path_events))
		event_send(port->rp, &e);
	else
		rp_count(port->rp, RP_PATHS_UNTOLD);
}

/**
 * rp_event_hop() - a probe with a hop limit came to an end
 * @rp: the device
 * @hop: the probe
 * @router: where
 *
 * Context: softirq, RCU.
 */
void rp_event_hop(const struct rp_device *rp, const struct rp_hop *hop,
		  const struct in6_addr *router)
{
	const struct rp_ports *ports = rcu_dereference(rp->ports);
	const struct event e = {
		.type = ROCEPATH_EVENT_HOP,
		.reason = ipv6_addr_equal(router, &hop->peer) ? "reached" : "hop",
		.port = READ_ONCE(ports->port[hop->path.port]),
		.peer = &hop->peer,
		.path = &hop->path,
		.hop = hop,
		.router = router,
	};

	event_send(rp, &e);
}
