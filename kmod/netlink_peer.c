// SPDX-License-Identifier: GPL-2.0
/* Netlink: peers, and the flows of the QPs that talk to them. */
#include <linux/rtnetlink.h>

#include "device.h"
#include "flow.h"
#include "netlink.h"
#include "path.h"
#include "peer.h"
#include "qp.h"

const struct nla_policy rp_nl_peer_policy[ROCEPATH_A_PEER_MAX + 1] = {
	[ROCEPATH_A_PEER_DEVICE] = NLA_POLICY_MIN(NLA_U32, 1),
};

const struct nla_policy rp_nl_flow_policy[ROCEPATH_A_FLOW_MAX + 1] = {
	[ROCEPATH_A_FLOW_DEVICE] = NLA_POLICY_MIN(NLA_U32, 1),
};

static int peer_put(struct sk_buff *skb, struct rp_device *rp, struct rp_peer *peer)
{
	struct rp_peer_paths *paths;
	struct rp_hello h;
	u64 reported;

	spin_lock_bh(&peer->lock);
	h = peer->hello;
	reported = peer->reported_ns;
	spin_unlock_bh(&peer->lock);
	paths = rcu_dereference(peer->paths);
	if (nla_put_u8(skb, ROCEPATH_A_PEER_REPORTS, READ_ONCE(peer->reports)) ||
	    (paths && (nla_put_u32(skb, ROCEPATH_A_PEER_PATHS, paths->set->n) ||
		       nla_put_u32(skb, ROCEPATH_A_PEER_PATHS_USABLE,
				   READ_ONCE(paths->set->usable)))) ||
	    (reported && (nla_put_u64_64bit(skb, ROCEPATH_A_PEER_REPORT_AGE_MS,
					    div_u64(ktime_get_ns() - reported, NSEC_PER_MSEC),
					    ROCEPATH_A_PEER_PAD) ||
			  nla_put_u32(skb, ROCEPATH_A_PEER_LATENCY_US,
				      READ_ONCE(peer->latency.mean_us)))))
		return -EMSGSIZE;
	if (nla_put_u32(skb, ROCEPATH_A_PEER_DEVICE, rp->dev->ifindex) ||
	    nla_put(skb, ROCEPATH_A_PEER_ADDRESS, sizeof(peer->address), &peer->address) ||
	    nla_put_u32(skb, ROCEPATH_A_PEER_STATE, h.state) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_PEER_INSTANCE, h.instance, ROCEPATH_A_PEER_PAD) ||
	    nla_put_u32(skb, ROCEPATH_A_PEER_FLOWS, rp_peer_flows(peer)) ||
	    nla_put_u32(skb, ROCEPATH_A_PEER_RESTARTS, h.restarts))
		return -EMSGSIZE;
	if (!h.heard_ns)
		return 0;
	if (nla_put_u8(skb, ROCEPATH_A_PEER_KEY_ID, h.key_id) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_PEER_HELLO_AGE_MS,
			      div_u64(ktime_get_ns() - h.heard_ns, NSEC_PER_MSEC),
			      ROCEPATH_A_PEER_PAD) ||
	    nla_put_u32(skb, ROCEPATH_A_PEER_RTT_US, h.rtt_us))
		return -EMSGSIZE;
	return 0;
}

/* args[1]: peers of this device that are done */
static int peer_dump_one(struct sk_buff *skb, struct netlink_callback *cb, struct rp_device *rp)
{
	struct rp_peer *peer;
	int err = 0;
	long i = 0;
	void *hdr;

	rcu_read_lock();
	list_for_each_entry_rcu(peer, &rp->peer_list, list) {
		if (i++ < cb->args[1])
			continue;
		err = -EMSGSIZE;
		hdr = rp_nl_dump_put(skb, cb, ROCEPATH_CMD_PEER_GET);
		if (!hdr)
			break;
		if (peer_put(skb, rp, peer)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
		cb->args[1] = i;
		err = 0;
	}
	rcu_read_unlock();
	return err;
}

/**
 * rp_nl_peer_dump() - ROCEPATH_CMD_PEER_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_nl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rp_nl_dump_devices(skb, cb, ROCEPATH_A_PEER_DEVICE, peer_dump_one);
}

static int flow_put_window(struct sk_buff *skb, int attr, struct rp_flow *f,
			   const struct rp_window_caps *caps)
{
	struct rp_window w;
	struct nlattr *nest;

	rp_flow_snapshot(f, &w);
	nest = nla_nest_start(skb, attr);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, ROCEPATH_A_WINDOW_EXPECTED, w.expected) ||
	    nla_put_u32(skb, ROCEPATH_A_WINDOW_HELD, w.held) ||
	    nla_put_u32(skb, ROCEPATH_A_WINDOW_HELD_BYTES, w.held_bytes) ||
	    nla_put_u32(skb, ROCEPATH_A_WINDOW_HELD_MAX, w.stats.held_max) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_WINDOW_HELD_TOTAL, w.stats.held,
			      ROCEPATH_A_WINDOW_PAD) ||
	    nla_put_u32(skb, ROCEPATH_A_WINDOW_GAP_TIMEOUT_US, rp_window_timeout_us(&w, caps)) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_WINDOW_GAPS_FILLED, w.stats.filled,
			      ROCEPATH_A_WINDOW_PAD) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_WINDOW_GAPS_EXPIRED, w.stats.expired,
			      ROCEPATH_A_WINDOW_PAD) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_WINDOW_REWINDS, w.stats.rewinds,
			      ROCEPATH_A_WINDOW_PAD)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int flow_put_queue(struct sk_buff *skb, int attr, struct rp_queue *q)
{
	struct rp_repair r;
	struct nlattr *nest;

	rp_queue_snapshot(q, &r);
	nest = nla_nest_start(skb, attr);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, ROCEPATH_A_QUEUE_PACKETS, r.packets) ||
	    nla_put_u32(skb, ROCEPATH_A_QUEUE_BYTES, r.bytes) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_QUEUE_KEPT, r.stats.kept, ROCEPATH_A_QUEUE_PAD) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_QUEUE_REPAIRED, r.stats.repaired,
			      ROCEPATH_A_QUEUE_PAD) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_QUEUE_GIVEN_UP, r.stats.given_up,
			      ROCEPATH_A_QUEUE_PAD) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_QUEUE_LET_GO, r.stats.let_go,
			      ROCEPATH_A_QUEUE_PAD) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_QUEUE_REWOUND, r.stats.rewound,
			      ROCEPATH_A_QUEUE_PAD)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int flow_put(struct sk_buff *skb, struct rp_qp *qp, struct rp_device *rp)
{
	if (nla_put_u32(skb, ROCEPATH_A_FLOW_DEVICE, rp->dev->ifindex) ||
	    nla_put(skb, ROCEPATH_A_FLOW_PEER, sizeof(qp->peer_address), &qp->peer_address) ||
	    nla_put_u32(skb, ROCEPATH_A_FLOW_LOCAL_QPN, qp->local_qpn) ||
	    nla_put_u32(skb, ROCEPATH_A_FLOW_REMOTE_QPN, qp->remote_qpn) ||
	    nla_put_u32(skb, ROCEPATH_A_FLOW_QP_TYPE, qp->type) ||
	    nla_put_u32(skb, ROCEPATH_A_FLOW_PATH_MTU, qp->path_mtu) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_FLOW_TX_PACKETS, READ_ONCE(qp->tx_packets),
			      ROCEPATH_A_FLOW_PAD) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_FLOW_TX_BYTES, READ_ONCE(qp->tx_bytes),
			      ROCEPATH_A_FLOW_PAD) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_FLOW_TX_SPRAYED, READ_ONCE(qp->tx_sprayed),
			      ROCEPATH_A_FLOW_PAD) ||
	    flow_put_window(skb, ROCEPATH_A_FLOW_REQUESTS, &qp->rx[RP_REQUESTS], &rp->caps) ||
	    flow_put_window(skb, ROCEPATH_A_FLOW_RESPONSES, &qp->rx[RP_RESPONSES], &rp->caps) ||
	    flow_put_queue(skb, ROCEPATH_A_FLOW_SENT_REQUESTS, &qp->queue[RP_REQUESTS]) ||
	    flow_put_queue(skb, ROCEPATH_A_FLOW_SENT_RESPONSES, &qp->queue[RP_RESPONSES]))
		return -EMSGSIZE;
	return 0;
}

struct flow_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	struct rp_device *rp;
	unsigned long bucket;
	unsigned long in_bucket;
	unsigned long last_bucket;
};

/* args[1]: bucket, args[2]: QPs of it that are done */
static int flow_dump_qp(struct rp_qp *qp, void *arg)
{
	struct flow_dump *d = arg;
	void *hdr;

	if (d->bucket != d->last_bucket) {
		d->last_bucket = d->bucket;
		d->in_bucket = 0;
	}
	if (d->in_bucket++ < d->cb->args[2] && d->bucket == d->cb->args[1])
		return 0;
	if (rcu_access_pointer(qp->rp) != d->rp)
		return 0;
	hdr = rp_nl_dump_put(d->skb, d->cb, ROCEPATH_CMD_FLOW_GET);
	if (!hdr)
		goto full;
	if (flow_put(d->skb, qp, d->rp)) {
		genlmsg_cancel(d->skb, hdr);
		goto full;
	}
	genlmsg_end(d->skb, hdr);
	return 0;

full:
	d->cb->args[1] = d->bucket;
	d->cb->args[2] = d->in_bucket - 1;
	return -EMSGSIZE;
}

static int flow_dump_one(struct sk_buff *skb, struct netlink_callback *cb, struct rp_device *rp)
{
	struct flow_dump d = {
		.skb = skb, .cb = cb, .rp = rp, .bucket = cb->args[1], .last_bucket = ULONG_MAX
	};

	return rp_qp_for_each(flow_dump_qp, &d, &d.bucket);
}

/**
 * rp_nl_flow_dump() - ROCEPATH_CMD_FLOW_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_nl_flow_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rp_nl_dump_devices(skb, cb, ROCEPATH_A_FLOW_DEVICE, flow_dump_one);
}
