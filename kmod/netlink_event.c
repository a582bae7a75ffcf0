// SPDX-License-Identifier: GPL-2.0
/* Events to the multicast group: what happened, to what, and why. */
#include <linux/in6.h>
#include <linux/ktime.h>

#include "device.h"
#include "netlink.h"
#include "port.h"

static void event_send(const struct rp_device *rp, enum rocepath_event event,
		       const struct rp_port *port, const struct in6_addr *peer, const char *reason)
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
	if (!hdr)
		goto fail;
	if (nla_put_u32(skb, ROCEPATH_A_EVENT_TYPE, event) ||
	    nla_put_u32(skb, ROCEPATH_A_EVENT_DEVICE, rp->dev->ifindex) ||
	    nla_put_string(skb, ROCEPATH_A_EVENT_DEVICE_NAME, rp->dev->name) ||
	    nla_put_string(skb, ROCEPATH_A_EVENT_REASON, reason) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_EVENT_TIME_NS, ktime_get_real_ns(),
			      ROCEPATH_A_EVENT_PAD))
		goto fail;
	if (port && (nla_put_u32(skb, ROCEPATH_A_EVENT_PORT, port->dev->ifindex) ||
		     nla_put_string(skb, ROCEPATH_A_EVENT_PORT_NAME, port->dev->name)))
		goto fail;
	if (peer && nla_put(skb, ROCEPATH_A_EVENT_PEER, sizeof(*peer), peer))
		goto fail;
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&rp_genl_family, net, skb, 0, 0, GFP_ATOMIC);
	return;

fail:
	nlmsg_free(skb);
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
	event_send(port->rp, event, port, NULL, reason);
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
	event_send(rp, event, NULL, address, reason);
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
	unsigned long last = READ_ONCE(rp->cap_event);

	if (last && time_before(jiffies, last + HZ))
		return;
	if (cmpxchg(&rp->cap_event, last, jiffies | 1) == last)
		event_send(rp, ROCEPATH_EVENT_CAP_HIT, NULL, NULL, reason);
}
