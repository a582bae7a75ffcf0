/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_QP_H
#define ROCEPATH_QP_H

#include <linux/in6.h>
#include <linux/llist.h>
#include <linux/rocepath.h>
#include <linux/types.h>

#include "core/sched.h"
#include "flow.h"
#include "repair.h"

struct ib_qp;
struct net;
struct rp_device;
struct rp_peer;

/* the two PSN spaces that meet at a QPN */
enum rp_space {
	RP_REQUESTS,	/* sent by the peer to us, or by us to the peer */
	RP_RESPONSES,	/* answers to the other's requests */
	RP_SPACES
};

/**
 * struct rp_qp - a connected QP of this host, as ib_core was told of it
 * @by_local: in the table by (peer, local QPN)
 * @by_remote: in the table by (peer, remote QPN)
 * @peer_address: IPv4 mapped
 * @local_qpn: where received packets are addressed to
 * @remote_qpn: where sent packets are addressed to
 * @path_mtu: bytes
 * @type: enum rocepath_qp_type
 * @ib_qp: identity only, never followed
 * @net: network namespace of its RDMA device; identity only
 * @rp: the device that its packets pass, NULL before the first, RCU
 * @peer: on that device, a reference, NULL if there is no room for it, RCU; set once, with @rp
 * @tx: sent flows, by space; written by who sends
 * @tx_packets: RC and UC packets sent
 * @tx_bytes: of these, with their headers
 * @tx_sprayed: of these, over all paths
 * @queue: what was sent and may be sent again, by space
 * @last_ack: the acknowledge that it sent last
 * @active: its peer's clock looks at it
 * @stirred: a packet came or went since the clock last looked
 * @forgotten: it goes, and is not looked at any more
 * @quiet: intervals in a row in which nothing happened
 * @on_peer: in the peer's active_qps
 * @rx: received flows, by space
 * @leaving: it will be taken out at @leave_at
 * @leave_at: jiffies
 * @dying: in the list of those that are leaving
 */
struct rp_qp {
	struct hlist_node by_local;
	struct hlist_node by_remote;
	struct in6_addr peer_address;
	u32 local_qpn;
	u32 remote_qpn;
	u32 path_mtu;
	u32 type;
	const struct ib_qp *ib_qp;
	const struct net *net;
	struct rp_device __rcu *rp;
	struct rp_peer __rcu *peer;

	struct rp_sched_flow tx[RP_SPACES];
	u64 tx_packets;
	u64 tx_bytes;
	u64 tx_sprayed;

	struct rp_queue queue[RP_SPACES];
	struct rp_last_ack last_ack;
	bool active;
	bool stirred;
	bool forgotten;
	u8 quiet;
	struct list_head on_peer;

	struct rp_flow rx[RP_SPACES] ____cacheline_aligned_in_smp;

	bool leaving;
	unsigned long leave_at;
	struct llist_node dying;
};

struct rp_qp *rp_qp_by_local(const struct in6_addr *peer, u32 qpn);
struct rp_qp *rp_qp_by_remote(const struct in6_addr *peer, u32 qpn);
bool rp_qp_bind(struct rp_qp *qp, struct rp_device *rp);
void rp_qp_unbind_device(struct rp_device *rp);
u32 rp_qp_count(const struct rp_device *rp);
int rp_qp_for_each(int (*fn)(struct rp_qp *qp, void *arg), void *arg, unsigned long *cursor);
bool rp_qp_seen(void);

int rp_qp_init(void);
void rp_qp_exit(void);

#endif /* ROCEPATH_QP_H */
