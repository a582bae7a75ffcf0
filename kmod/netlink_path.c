// SPDX-License-Identifier: GPL-2.0
/* Netlink: paths, those to each peer that reports, else those that the ports make. */
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "compat/genetlink.h"
#include "device.h"
#include "hop.h"
#include "netlink.h"
#include "path.h"
#include "peer.h"
#include "port.h"

static struct netlink_range_validation range_ev = { .max = ROCEPATH_EVS_MAX - 1 };

const struct nla_policy rp_nl_path_policy[ROCEPATH_A_PATH_MAX + 1] = {
	[ROCEPATH_A_PATH_DEVICE] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCEPATH_A_PATH_PORT] = NLA_POLICY_MIN(NLA_U32, 1),
	[ROCEPATH_A_PATH_EV] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_ev),
	[ROCEPATH_A_PATH_PEER] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[ROCEPATH_A_PATH_EVS] = { .type = NLA_BINARY, .len = ROCEPATH_EVS_MAX },
	[ROCEPATH_A_PATH_HOPS] = NLA_POLICY_MIN(NLA_U8, 1),
	[ROCEPATH_A_PATH_COOKIE] = { .type = NLA_U32 },
};

static int path_put_attrs(struct sk_buff *skb, const struct rp_device *rp,
			  const struct rp_port *port, struct rp_path path, u32 state, u32 share)
{
	if (nla_put_u32(skb, ROCEPATH_A_PATH_DEVICE, rp->dev->ifindex) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_PORT, port->dev->ifindex) ||
	    nla_put_string(skb, ROCEPATH_A_PATH_PORT_NAME, port->dev->name) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_EV, path.ev) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_SPORT, rp_path_sport(path)) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_FLOWLABEL, rp_path_flowlabel(path)) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_STATE, state) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_SHARE, share))
		return -EMSGSIZE;
	return 0;
}

/* how late a path is says nothing any more when it carries no data */
#define PATH_LATE_NS NSEC_PER_SEC

static u64 path_age_ms(u64 then_ns, u64 now_ns)
{
	return div_u64(now_ns - min(then_ns, now_ns), NSEC_PER_MSEC);
}

/* what was measured, and when */
static int path_put_delay(struct sk_buff *skb, const struct rp_health *h, u64 now)
{
	if (h->rtt_us && (nla_put_u32(skb, ROCEPATH_A_PATH_RTT_US, h->rtt_us) ||
			  nla_put_u64_64bit(skb, ROCEPATH_A_PATH_RTT_AGE_MS,
					    path_age_ms(h->rtt_ns, now), ROCEPATH_A_PATH_PAD)))
		return -EMSGSIZE;
	if (h->late_ns && now < h->late_ns + PATH_LATE_NS &&
	    nla_put_u32(skb, ROCEPATH_A_PATH_LATE_US, h->late_us))
		return -EMSGSIZE;
	return 0;
}

static int path_put_health(struct sk_buff *skb, const struct rp_peer *peer,
			   const struct rp_pathset_entry *e)
{
	const struct rp_health *h = &e->health;
	u64 now = ktime_get_ns();

	if (nla_put(skb, ROCEPATH_A_PATH_PEER, sizeof(peer->address), &peer->address) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_REASON, h->reason) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_PATH_SINCE_MS, path_age_ms(h->since_ns, now),
			      ROCEPATH_A_PATH_PAD) ||
	    path_put_delay(skb, h, now) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_LOSS_PPM, rp_health_loss_ppm(h)) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_RECEIVED, e->received) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_MARKED, e->marked) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_PATH_DELIVERED, h->delivered_total,
			      ROCEPATH_A_PATH_PAD) ||
	    nla_put_u64_64bit(skb, ROCEPATH_A_PATH_LOST, h->lost_total, ROCEPATH_A_PATH_PAD) ||
	    nla_put_u32(skb, ROCEPATH_A_PATH_FAILS, h->fails))
		return -EMSGSIZE;
	return 0;
}

/* what a path gets of the packets that are sprayed by the device's scheduler */
static u32 path_share(const struct rp_device *rp, const struct rp_pathset *set, u32 index)
{
	bool adapts = rp->sched == &rp_sched_adaptive_ops || rp->sched == &rp_sched_flowlet_ops;
	const u16 *weight = adapts ? set->adaptive : set->weight;
	u32 sum = 0, i;

	for (i = 0; i < set->n; i++)
		sum += weight[i];
	return sum ? div_u64(weight[index] * 1000000ULL, sum) : 0;
}

/* args[1]: peers that are done, args[2]: paths of the next one that are */
static int path_dump_peer(struct sk_buff *skb, struct netlink_callback *cb, struct rp_device *rp,
			  struct rp_peer *peer)
{
	const struct rp_ports *ports = rtnl_dereference(rp->ports);
	struct rp_peer_paths *paths = rcu_dereference(peer->paths);
	const struct rp_pathset *set = paths->set;

	for (; cb->args[2] < set->n; cb->args[2]++) {
		struct rp_pathset_entry e;
		const struct rp_port *port;
		void *hdr;

		spin_lock_bh(&peer->lock);
		e = set->entry[cb->args[2]];
		spin_unlock_bh(&peer->lock);
		port = ports->port[e.path.port];
		if (!port)
			continue;
		hdr = rp_nl_dump_put(skb, cb, ROCEPATH_CMD_PATH_GET);
		if (!hdr)
			return -EMSGSIZE;
		if (path_put_attrs(skb, rp, port, e.path, e.health.state,
				   path_share(rp, set, cb->args[2])) ||
		    path_put_health(skb, peer, &e)) {
			genlmsg_cancel(skb, hdr);
			return -EMSGSIZE;
		}
		genlmsg_end(skb, hdr);
	}
	return 0;
}

/* Return: 1 if there was a peer with paths of its own, 0 if there was none, or -EMSGSIZE */
static int path_dump_peers(struct sk_buff *skb, struct netlink_callback *cb, struct rp_device *rp)
{
	struct nlattr **attrs = rp_genl_dump_attrs(cb);
	struct nlattr *only = attrs ? attrs[ROCEPATH_A_PATH_PEER] : NULL;
	struct rp_peer *peer;
	int err = 0;
	long i = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(peer, &rp->peer_list, list) {
		if (!rcu_access_pointer(peer->paths) ||
		    (only && memcmp(nla_data(only), &peer->address, sizeof(peer->address))))
			continue;
		err = 1;
		if (i++ < cb->args[1])
			continue;
		err = path_dump_peer(skb, cb, rp, peer);
		if (err)
			break;
		cb->args[1] = i;
		cb->args[2] = 0;
		err = 1;
	}
	rcu_read_unlock();
	return only && !err ? 1 : err;
}

static u32 path_state_of(const struct rp_port *port)
{
	switch (port->holddown.state) {
	case ROCEPATH_PORT_UP:
		return ROCEPATH_PATH_UP;
	case ROCEPATH_PORT_HOLDDOWN:
		return ROCEPATH_PATH_PROBATION;
	default:
		return ROCEPATH_PATH_DOWN;
	}
}

/* args[3]: ports that are done, args[4]: EVs of the next one that are */
static int path_dump_ports(struct sk_buff *skb, struct netlink_callback *cb, struct rp_device *rp)
{
	const struct rp_paths *table = &rtnl_dereference(rp->ports)->paths;
	struct rp_port *port;
	long i = 0;
	void *hdr;

	list_for_each_entry(port, &rp->port_list, list) {
		if (i++ < cb->args[3])
			continue;
		for (; cb->args[4] < rp->evs; cb->args[4]++) {
			struct rp_path path = { .port = port->index, .ev = cb->args[4] };
			u32 share = rp_paths_share(table, port->index, 1000000) / rp->evs;

			hdr = rp_nl_dump_put(skb, cb, ROCEPATH_CMD_PATH_GET);
			if (!hdr)
				return -EMSGSIZE;
			if (path_put_attrs(skb, rp, port, path, path_state_of(port), share)) {
				genlmsg_cancel(skb, hdr);
				return -EMSGSIZE;
			}
			genlmsg_end(skb, hdr);
		}
		cb->args[3] = i;
		cb->args[4] = 0;
	}
	return 0;
}

static int path_dump_one(struct sk_buff *skb, struct netlink_callback *cb, struct rp_device *rp)
{
	/* a dump that has begun with the ports goes on with them */
	int err = cb->args[3] || cb->args[4] ? 0 : path_dump_peers(skb, cb, rp);

	if (err)
		return err < 0 ? err : 0;
	return path_dump_ports(skb, cb, rp);
}

/**
 * rp_nl_path_dump() - ROCEPATH_CMD_PATH_GET
 * @skb: to write to
 * @cb: the dump
 */
int rp_nl_path_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rp_nl_dump_devices(skb, cb, ROCEPATH_A_PATH_DEVICE, path_dump_one);
}

/* the port that a request names, of that device */
static struct rp_port *path_port(struct rp_device *rp, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[ROCEPATH_A_PATH_PORT];
	struct rp_port *port;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "Which port? Its ifindex is missing");
		return ERR_PTR(-EINVAL);
	}
	list_for_each_entry(port, &rp->port_list, list)
		if (port->dev->ifindex == nla_get_u32(attr))
			return port;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "Not a port of this device");
	return ERR_PTR(-ENODEV);
}

/* the peer that a request names, made if there is a choice to be kept for it; to be put */
static struct rp_peer *path_peer(struct rp_device *rp, struct genl_info *info)
{
	bool create = info->attrs[ROCEPATH_A_PATH_EVS] && nla_len(info->attrs[ROCEPATH_A_PATH_EVS]);
	struct nlattr *attr = info->attrs[ROCEPATH_A_PATH_PEER];
	struct in6_addr address;
	struct rp_peer *peer;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "Which peer? Its address is missing");
		return ERR_PTR(-EINVAL);
	}
	memcpy(&address, nla_data(attr), sizeof(address));
	local_bh_disable();
	rcu_read_lock();
	peer = rp_peer_get(rp, &address, create);
	rcu_read_unlock();
	local_bh_enable();
	if (peer)
		return peer;
	if (create) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "No room for another peer: raise peers-max");
		return ERR_PTR(-ENOSPC);
	}
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "No such peer: there is one once a QP has sent to it");
	return ERR_PTR(-ENOENT);
}

struct path_request {
	struct rp_device *rp;
	struct rp_port *port;
	struct rp_peer *peer;
};

static int path_request(struct path_request *q, struct genl_info *info)
{
	q->rp = rp_nl_device(info, ROCEPATH_A_PATH_DEVICE);
	if (IS_ERR(q->rp))
		return PTR_ERR(q->rp);
	q->port = path_port(q->rp, info);
	if (IS_ERR(q->port))
		return PTR_ERR(q->port);
	q->peer = path_peer(q->rp, info);
	return PTR_ERR_OR_ZERO(q->peer);
}

static int path_set(struct genl_info *info)
{
	struct nlattr *evs = info->attrs[ROCEPATH_A_PATH_EVS];
	DECLARE_BITMAP(seen, ROCEPATH_EVS_MAX) = {};
	struct path_request q;
	int i, n, err;

	err = path_request(&q, info);
	if (err)
		return err;
	n = evs ? nla_len(evs) : 0;
	for (i = 0; i < n && !err; i++) {
		if (__test_and_set_bit(((const u8 *)nla_data(evs))[i], seen)) {
			NL_SET_ERR_MSG_ATTR(info->extack, evs, "An EV is named twice");
			err = -EINVAL;
		}
	}
	if (!err) {
		rcu_read_lock();
		err = rp_path_choose(q.rp, q.peer, q.port->index, evs ? nla_data(evs) : NULL, n);
		rcu_read_unlock();
	}
	rp_peer_put(q.peer);
	return err;
}

/**
 * rp_nl_path_set() - ROCEPATH_CMD_PATH_SET
 * @skb: the request
 * @info: the same, parsed
 */
int rp_nl_path_set(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	rtnl_lock();
	err = path_set(info);
	rtnl_unlock();
	return err;
}

static int path_probe(struct genl_info *info)
{
	struct nlattr *ev = info->attrs[ROCEPATH_A_PATH_EV];
	struct nlattr *hops = info->attrs[ROCEPATH_A_PATH_HOPS];
	struct nlattr *cookie = info->attrs[ROCEPATH_A_PATH_COOKIE];
	struct path_request q;
	struct rp_path path;
	int err;

	if (!ev || !hops) {
		NL_SET_ERR_MSG(info->extack, "A probe has an EV and a hop limit");
		return -EINVAL;
	}
	err = path_request(&q, info);
	if (err)
		return err;
	path = (struct rp_path){ .port = q.port->index, .ev = nla_get_u32(ev) };
	rcu_read_lock();
	err = rp_hop_probe(q.rp, q.peer, path, nla_get_u8(hops),
			   cookie ? nla_get_u32(cookie) : 0);
	rcu_read_unlock();
	rp_peer_put(q.peer);
	if (err == -EBUSY)
		NL_SET_ERR_MSG(info->extack,
			       "The budget is spent: try again, or raise probes-per-second");
	else if (err)
		NL_SET_ERR_MSG(info->extack,
			       "Nothing can be sent to this peer by this port now: is there a key, and traffic?");
	return err;
}

/**
 * rp_nl_probe() - ROCEPATH_CMD_PROBE
 * @skb: the request
 * @info: the same, parsed
 */
int rp_nl_probe(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	rtnl_lock();
	err = path_probe(info);
	rtnl_unlock();
	return err;
}
