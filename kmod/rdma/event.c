// SPDX-License-Identifier: GPL-2.0
/*
 * Events to the multicast group: what happened, to what, why, and which QPs sit on it.
 * One event may need several messages; they have the same number, and all but the last
 * say that there are more.
 */
#include "event.h"

#include <linux/ktime.h>

#include "device.h"
#include "netlink.h"
#include "probe.h"
#include "qp.h"

/* what an event tells beside its kind; what is 0 or NULL is not there */
struct event {
	u32 type;
	const char *reason;
	const struct in6_addr *local;
	const struct in6_addr *remote;
	const struct rp_rdma_path_change *change;
	const struct rp_rdma_rows *rows;
	u32 took_us;
	int result;
};

static const char *const reason_name[] = {
	[ROCEPATH_RDMA_REASON_NEW] = "new",
	[ROCEPATH_RDMA_REASON_CARRIER] = "carrier",
	[ROCEPATH_RDMA_REASON_SILENT] = "silent",
	[ROCEPATH_RDMA_REASON_LOSS] = "loss",
	[ROCEPATH_RDMA_REASON_PROBE_LOST] = "probe-lost",
	[ROCEPATH_RDMA_REASON_HEARD] = "heard",
	[ROCEPATH_RDMA_REASON_HOLDDOWN_OVER] = "holddown-over",
	[ROCEPATH_RDMA_REASON_PROBES_ANSWERED] = "probes-answered",
	[ROCEPATH_RDMA_REASON_SLOW] = "slow",
	[ROCEPATH_RDMA_REASON_TOLD] = "told",
	[ROCEPATH_RDMA_REASON_PEER] = "peer",
};

static int event_put_path(struct sk_buff *skb, struct rp_rdma_device *rdev, const struct event *e)
{
	struct rp_rdma_ev_info info;

	if (nla_put(skb, ROCEPATH_RDMA_A_EVENT_LOCAL, sizeof(*e->local), e->local) ||
	    nla_put(skb, ROCEPATH_RDMA_A_EVENT_REMOTE, sizeof(*e->remote), e->remote) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_EV, e->change->ev))
		return -EMSGSIZE;
	if (rp_rdma_pair_ev(rdev, e->local, e->remote, e->change->ev, &info) && info.has_path &&
	    nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_PATH, info.path))
		return -EMSGSIZE;
	if (e->change->rtt_us &&
	    nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_RTT_US, e->change->rtt_us))
		return -EMSGSIZE;
	return 0;
}

static int event_put_qps(struct sk_buff *skb, const struct event *e, u32 from, u32 to)
{
	struct nlattr *nest;
	u32 i;

	for (i = from; i < to; i++) {
		nest = nla_nest_start(skb, ROCEPATH_RDMA_A_EVENT_QP);
		if (!nest || rp_rdma_nl_qp_put_brief(skb, e->rows->row[i]) ||
		    nla_put_u32(skb, ROCEPATH_RDMA_A_QP_RESULT, -e->result))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int event_put(struct sk_buff *skb, struct rp_rdma_device *rdev, const struct event *e)
{
	if (nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_TYPE, e->type) ||
	    nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_EVENT_TIME_NS, ktime_get_real_ns(),
			      ROCEPATH_RDMA_A_EVENT_PAD) ||
	    nla_put_string(skb, ROCEPATH_RDMA_A_EVENT_DEVICE, rdev->name) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_PORT, rdev->port) ||
	    nla_put_string(skb, ROCEPATH_RDMA_A_EVENT_REASON, e->reason) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_QPS, e->rows->n))
		return -EMSGSIZE;
	if (e->took_us && nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_TOOK_US, e->took_us))
		return -EMSGSIZE;
	return e->change ? event_put_path(skb, rdev, e) : 0;
}

/* the message with the QPs from @from on; Return: how many it has, or a negative errno */
static int event_send_part(struct rp_rdma_device *rdev, const struct event *e, u32 number, u32 from)
{
	u32 to = min_t(u32, from + ROCEPATH_RDMA_EVENT_QPS, e->rows->n);
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE * 4, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put(skb, 0, 0, &rp_rdma_family, 0, ROCEPATH_RDMA_CMD_EVENT);
	if (!hdr || event_put(skb, rdev, e) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_NUMBER, number) ||
	    nla_put_u8(skb, ROCEPATH_RDMA_A_EVENT_MORE, to < e->rows->n) ||
	    event_put_qps(skb, e, from, to)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast(&rp_rdma_family, skb, 0, 0, GFP_KERNEL);
	return to - from;
}

static void event_send(struct rp_rdma_device *rdev, const struct event *e)
{
	static atomic_t last;
	u32 number, from = 0;
	int n;

	if (!genl_has_listeners(&rp_rdma_family, &init_net, 0))
		return;
	number = atomic_inc_return(&last);
	do {
		n = event_send_part(rdev, e, number, from);
		if (n < 0) {
			rp_rdma_count(&rdev->stats, RP_RDMA_EVENTS_LOST);
			return;
		}
		from += n;
	} while (from < e->rows->n);
}

/**
 * rp_rdma_event_port() - a port went down, or came up
 * @rdev: the port
 * @up: which of it
 * @rows: the QPs on it
 *
 * Context: process.
 */
void rp_rdma_event_port(struct rp_rdma_device *rdev, bool up, const struct rp_rdma_rows *rows)
{
	const struct event e = {
		.type = up ? ROCEPATH_RDMA_EVENT_PORT_UP : ROCEPATH_RDMA_EVENT_PORT_DOWN,
		.reason = reason_name[ROCEPATH_RDMA_REASON_CARRIER],
		.rows = rows,
	};

	event_send(rdev, &e);
}

static u32 event_type(u8 state)
{
	switch (state) {
	case ROCEPATH_RDMA_PATH_DOWN:
		return ROCEPATH_RDMA_EVENT_PATH_DOWN;
	case ROCEPATH_RDMA_PATH_DEGRADED:
		return ROCEPATH_RDMA_EVENT_PATH_DEGRADED;
	default:
		return ROCEPATH_RDMA_EVENT_PATH_UP;
	}
}

/**
 * rp_rdma_event_path() - the state of an EV has changed
 * @rdev: the port
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @change: what it is now, and why
 * @rows: the QPs on it
 *
 * Context: process.
 */
void rp_rdma_event_path(struct rp_rdma_device *rdev, const struct in6_addr *local,
			const struct in6_addr *remote, const struct rp_rdma_path_change *change,
			const struct rp_rdma_rows *rows)
{
	const struct event e = {
		.type = event_type(change->state),
		.reason = reason_name[change->reason],
		.local = local,
		.remote = remote,
		.change = change,
		.rows = rows,
		.took_us = change->took_us,
	};

	event_send(rdev, &e);
}

/**
 * rp_rdma_event_acted() - something was done with a QP, or could not be
 * @row: the QP
 * @moved: to another EV; else put into the error state
 * @err: 0, or why not
 * @took_us: since what it sits on was found to have failed
 *
 * Context: process.
 */
void rp_rdma_event_acted(struct rp_rdma_qp *row, bool moved, int err, u32 took_us)
{
	const struct rp_rdma_rows rows = { .n = 1, .row = &row };
	const struct event e = {
		.type = moved ? ROCEPATH_RDMA_EVENT_MOVED : ROCEPATH_RDMA_EVENT_ERRORED,
		.reason = err ? "failed" : "done",
		.rows = &rows,
		.took_us = took_us,
		.result = err,
	};

	event_send(row->rdev, &e);
}
