// SPDX-License-Identifier: GPL-2.0
/* Events of what probes find out. */
#include <linux/ktime.h>

#include "device.h"
#include "netlink.h"
#include "probe.h"

static const char *const reasons[] = {
	[ROCEPATH_RDMA_REASON_NEW] = "new",
	[ROCEPATH_RDMA_REASON_CARRIER] = "carrier",
	[ROCEPATH_RDMA_REASON_SILENT] = "silent",
	[ROCEPATH_RDMA_REASON_LOSS] = "loss",
	[ROCEPATH_RDMA_REASON_PROBE_LOST] = "probe lost",
	[ROCEPATH_RDMA_REASON_HEARD] = "heard",
	[ROCEPATH_RDMA_REASON_HOLDDOWN_OVER] = "holddown over",
	[ROCEPATH_RDMA_REASON_PROBES_ANSWERED] = "probes answered",
	[ROCEPATH_RDMA_REASON_SLOW] = "slow",
	[ROCEPATH_RDMA_REASON_TOLD] = "told",
	[ROCEPATH_RDMA_REASON_PEER] = "peer",
};

static u32 event_type(const struct rp_rdma_path_change *change)
{
	switch (change->state) {
	case ROCEPATH_RDMA_PATH_DOWN:
		return ROCEPATH_RDMA_EVENT_PATH_DOWN;
	case ROCEPATH_RDMA_PATH_DEGRADED:
		return ROCEPATH_RDMA_EVENT_PATH_DEGRADED;
	default:
		return ROCEPATH_RDMA_EVENT_PATH_UP;
	}
}

static int event_put(struct sk_buff *skb, const struct rp_rdma_device *rdev,
		     const struct in6_addr *local, const struct in6_addr *remote,
		     const struct rp_rdma_path_change *change)
{
	if (nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_TYPE, event_type(change)) ||
	    nla_put_u64_64bit(skb, ROCEPATH_RDMA_A_EVENT_TIME_NS, ktime_get_real_ns(),
			      ROCEPATH_RDMA_A_EVENT_PAD) ||
	    nla_put_string(skb, ROCEPATH_RDMA_A_EVENT_DEVICE, rdev->name) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_PORT, rdev->port) ||
	    nla_put(skb, ROCEPATH_RDMA_A_EVENT_LOCAL, sizeof(*local), local) ||
	    nla_put(skb, ROCEPATH_RDMA_A_EVENT_REMOTE, sizeof(*remote), remote) ||
	    nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_EV, change->ev) ||
	    nla_put_string(skb, ROCEPATH_RDMA_A_EVENT_REASON, reasons[change->reason]) ||
	    (change->took_us &&
	     nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_TOOK_US, change->took_us)) ||
	    (change->rtt_us && nla_put_u32(skb, ROCEPATH_RDMA_A_EVENT_RTT_US, change->rtt_us)))
		return -EMSGSIZE;
	return 0;
}

static void event_send(const struct rp_rdma_device *rdev, const struct in6_addr *local,
		       const struct in6_addr *remote, const struct rp_rdma_path_change *change)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &rp_rdma_family, 0, ROCEPATH_RDMA_CMD_EVENT);
	if (!hdr || event_put(skb, rdev, local, remote, change)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast(&rp_rdma_family, skb, 0, 0, GFP_KERNEL);
}

void rp_rdma_paths_changed(struct rp_rdma_device *rdev, const struct in6_addr *local,
			   const struct in6_addr *remote,
			   const struct rp_rdma_path_change *change, u32 n)
{
	static const enum rp_rdma_count count[] = {
		[ROCEPATH_RDMA_PATH_UP] = RP_RDMA_PATHS_BACK,
		[ROCEPATH_RDMA_PATH_UNKNOWN] = RP_RDMA_PATHS_BACK,
		[ROCEPATH_RDMA_PATH_DOWN] = RP_RDMA_PATHS_DOWN,
		[ROCEPATH_RDMA_PATH_DEGRADED] = RP_RDMA_PATHS_DEGRADED,
	};
	u32 i;

	for (i = 0; i < n; i++) {
		rp_rdma_count(&rdev->stats, count[change[i].state]);
		event_send(rdev, local, remote, &change[i]);
	}
}
