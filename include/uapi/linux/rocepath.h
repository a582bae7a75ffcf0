/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The generic netlink family "rocepath". Documentation/netlink-style
 * specification: rocepath.yaml beside this file; a test holds the two together.
 *
 * Each object has an attribute set of its own; a message carries the set that
 * its command names. Reading needs no privilege but for keys and flows; all
 * changes need CAP_NET_ADMIN in the network namespace of the device.
 */
#ifndef _UAPI_LINUX_ROCEPATH_H
#define _UAPI_LINUX_ROCEPATH_H

#define ROCEPATH_FAMILY_NAME		"rocepath"
#define ROCEPATH_FAMILY_VERSION		1
#define ROCEPATH_MCGRP_EVENTS		"events"

#define ROCEPATH_KEY_LEN		16
#define ROCEPATH_CLASSES		64
#define ROCEPATH_EVS_MAX		256
#define ROCEPATH_PORTS_MAX		32
#define ROCEPATH_WEIGHT_MAX		256
#define ROCEPATH_SCHEDULER_NAME_LEN	16

enum rocepath_cmd {
	ROCEPATH_CMD_UNSPEC,
	ROCEPATH_CMD_DEVICE_GET,	/* do: A_DEVICE_IFINDEX; dump: all of the netns */
	ROCEPATH_CMD_DEVICE_SET,
	ROCEPATH_CMD_PORT_GET,		/* do: A_PORT_IFINDEX; dump: A_PORT_DEVICE narrows */
	ROCEPATH_CMD_PORT_SET,
	ROCEPATH_CMD_PEER_GET,		/* dump: A_PEER_DEVICE narrows */
	ROCEPATH_CMD_PATH_GET,		/* dump: A_PATH_DEVICE narrows */
	ROCEPATH_CMD_FLOW_GET,		/* dump, CAP_NET_ADMIN */
	ROCEPATH_CMD_KEY_GET,		/* dump, CAP_NET_ADMIN; the secret is never given out */
	ROCEPATH_CMD_KEY_SET,
	ROCEPATH_CMD_KEY_DEL,
	ROCEPATH_CMD_CLASS_GET,		/* dump: classes with a scheduler of their own */
	ROCEPATH_CMD_CLASS_SET,		/* an empty scheduler name: as the device */
	ROCEPATH_CMD_EVENT,		/* multicast only */
	ROCEPATH_CMD_PATH_SET,		/* the EVs of a port towards a peer; none: the usual ones */
	ROCEPATH_CMD_PROBE,		/* send one, with a hop limit; an answer is an event */

	__ROCEPATH_CMD_MAX,
	ROCEPATH_CMD_MAX = __ROCEPATH_CMD_MAX - 1
};

enum rocepath_entropy {
	ROCEPATH_ENTROPY_SPORT,		/* UDP source port, ICRC fixed up */
	ROCEPATH_ENTROPY_FLOWLABEL,	/* IPv6 flow label; IPv4 as SPORT */
	ROCEPATH_ENTROPY_KEEP,		/* leave what the RDMA stack chose */
};

enum rocepath_port_state {
	ROCEPATH_PORT_UP,
	ROCEPATH_PORT_HOLDDOWN,		/* works again, not trusted yet */
	ROCEPATH_PORT_DOWN,
};

enum rocepath_peer_state {
	ROCEPATH_PEER_PLAIN,		/* no valid hello: one path per flow */
	ROCEPATH_PEER_CAPABLE,		/* it reorders: its flows may be sprayed */
	ROCEPATH_PEER_LOST,		/* was capable, its hellos stopped */
};

enum rocepath_path_state {
	ROCEPATH_PATH_UP,
	ROCEPATH_PATH_SUSPECT,		/* something was lost, nothing heard since: being probed */
	ROCEPATH_PATH_DOWN,
	ROCEPATH_PATH_PROBATION,	/* being probed before it may carry data again */
};

enum rocepath_path_reason {
	ROCEPATH_REASON_NEW,
	ROCEPATH_REASON_CARRIER,	/* of its port, lost or back */
	ROCEPATH_REASON_SILENT,		/* what was sent on it did not arrive */
	ROCEPATH_REASON_LOSS,		/* its loss rate */
	ROCEPATH_REASON_PROBE_LOST,
	ROCEPATH_REASON_HEARD,		/* something sent on it arrived */
	ROCEPATH_REASON_HOLDDOWN_OVER,
	ROCEPATH_REASON_PROBES_ANSWERED,
};

enum rocepath_event {
	ROCEPATH_EVENT_PORT_DOWN,
	ROCEPATH_EVENT_PORT_UP,
	ROCEPATH_EVENT_PORT_HOLDDOWN,
	ROCEPATH_EVENT_PEER_HELLO,
	ROCEPATH_EVENT_PEER_LOST,
	ROCEPATH_EVENT_PEER_RESTART,
	ROCEPATH_EVENT_CAP_HIT,		/* at most one a second for each device */
	ROCEPATH_EVENT_PATH_DOWN,	/* paths' events: not for what their port's carrier does */
	ROCEPATH_EVENT_PATH_PROBATION,
	ROCEPATH_EVENT_PATH_UP,
	ROCEPATH_EVENT_HOP,		/* a probe of CMD_PROBE came to an end, see A_EVENT_HOP */
};

enum rocepath_qp_type {
	ROCEPATH_QP_RC,
	ROCEPATH_QP_UC,
};

/* one counter; a STATS attribute holds a list of STAT entries of these */
enum rocepath_a_stat {
	ROCEPATH_A_STAT_UNSPEC,
	ROCEPATH_A_STAT_NAME,		/* string */
	ROCEPATH_A_STAT_VALUE,		/* u64 */

	__ROCEPATH_A_STAT_MAX,
	ROCEPATH_A_STAT_MAX = __ROCEPATH_A_STAT_MAX - 1
};

enum rocepath_a_stats {
	ROCEPATH_A_STATS_UNSPEC,
	ROCEPATH_A_STATS_STAT,		/* nest of a_stat, repeated */

	__ROCEPATH_A_STATS_MAX,
	ROCEPATH_A_STATS_MAX = __ROCEPATH_A_STATS_MAX - 1
};

enum rocepath_a_device {
	ROCEPATH_A_DEVICE_UNSPEC,
	ROCEPATH_A_DEVICE_PAD,
	ROCEPATH_A_DEVICE_IFINDEX,		/* u32 */
	ROCEPATH_A_DEVICE_NAME,			/* string */
	ROCEPATH_A_DEVICE_SCHEDULER,		/* string: flow, flowlet, spray, adaptive */
	ROCEPATH_A_DEVICE_ENTROPY,		/* u32, enum rocepath_entropy */
	ROCEPATH_A_DEVICE_EVS,			/* u32, for each port, 1 to 256 */
	ROCEPATH_A_DEVICE_GAP_TIMEOUT_US,	/* u32, 0: adaptive */
	ROCEPATH_A_DEVICE_GAP_FLOOR_US,		/* u32, least that adaptive may choose */
	ROCEPATH_A_DEVICE_GAP_CEILING_US,	/* u32, most that adaptive may choose */
	ROCEPATH_A_DEVICE_REORDER_DEPTH,	/* u32, packets for each flow */
	ROCEPATH_A_DEVICE_REORDER_FLOW_BYTES,	/* u32 */
	ROCEPATH_A_DEVICE_REORDER_BYTES,	/* u32, for the device */
	ROCEPATH_A_DEVICE_PEERS_MAX,		/* u32 */
	ROCEPATH_A_DEVICE_HELLO_INTERVAL_MS,	/* u32 */
	ROCEPATH_A_DEVICE_HOLDDOWN_MS,		/* u32, first hold-down of a port that came back */
	ROCEPATH_A_DEVICE_HOLDDOWN_MAX_MS,	/* u32, where damping ends */
	ROCEPATH_A_DEVICE_MARK_MASK,		/* u32, of the class in skb->mark; 0: nowhere */
	ROCEPATH_A_DEVICE_PORTS,		/* u32, read only, as all below */
	ROCEPATH_A_DEVICE_PORTS_UP,		/* u32 */
	ROCEPATH_A_DEVICE_PEERS,		/* u32 */
	ROCEPATH_A_DEVICE_FLOWS,		/* u32 */
	ROCEPATH_A_DEVICE_HELD_BYTES,		/* u32 */
	ROCEPATH_A_DEVICE_REORDERS,		/* u8: QPs are seen, so order can be restored */
	ROCEPATH_A_DEVICE_INSTANCE,		/* u64 */
	ROCEPATH_A_DEVICE_STATS,		/* nest of a_stats */
	ROCEPATH_A_DEVICE_REPORT_INTERVAL_US,	/* u32, and of probes in doubt; 100 to 1000000 */
	ROCEPATH_A_DEVICE_REPAIR_DEPTH,		/* u32, packets kept for each flow; 0: no repair */
	ROCEPATH_A_DEVICE_REPAIR_FLOW_BYTES,	/* u32 */
	ROCEPATH_A_DEVICE_REPAIR_BYTES,		/* u32, for the device */
	ROCEPATH_A_DEVICE_LOSS_PPM,		/* u32, what loses more is taken out; 0: never */
	ROCEPATH_A_DEVICE_PROBE_INTERVAL_MS,	/* u32, of idle paths; 0: they are not probed */
	ROCEPATH_A_DEVICE_PROBES_PER_SECOND,	/* u32, of the device, at most */
	ROCEPATH_A_DEVICE_KEPT_BYTES,		/* u32, read only: for repair, now */

	__ROCEPATH_A_DEVICE_MAX,
	ROCEPATH_A_DEVICE_MAX = __ROCEPATH_A_DEVICE_MAX - 1
};

enum rocepath_a_port {
	ROCEPATH_A_PORT_UNSPEC,
	ROCEPATH_A_PORT_PAD,
	ROCEPATH_A_PORT_DEVICE,			/* u32, ifindex of the device */
	ROCEPATH_A_PORT_IFINDEX,		/* u32 */
	ROCEPATH_A_PORT_NAME,			/* string */
	ROCEPATH_A_PORT_INDEX,			/* u32, its number in the device */
	ROCEPATH_A_PORT_STATE,			/* u32, enum rocepath_port_state */
	ROCEPATH_A_PORT_REASON,			/* string: why it is in that state */
	ROCEPATH_A_PORT_WEIGHT,			/* u32, 1 to 256 */
	ROCEPATH_A_PORT_SINCE_MS,		/* u64, in this state for so long */
	ROCEPATH_A_PORT_HOLDDOWN_LEFT_MS,	/* u32 */
	ROCEPATH_A_PORT_FLAPS,			/* u32, times it went down */
	ROCEPATH_A_PORT_SHARE,			/* u32, of sprayed packets, in 1/1000 */
	ROCEPATH_A_PORT_STATS,			/* nest of a_stats */
	ROCEPATH_A_PORT_VIA4,			/* 4 bytes, its gateway; all 0: none */
	ROCEPATH_A_PORT_VIA6,			/* 16 bytes, the same */

	__ROCEPATH_A_PORT_MAX,
	ROCEPATH_A_PORT_MAX = __ROCEPATH_A_PORT_MAX - 1
};

enum rocepath_a_peer {
	ROCEPATH_A_PEER_UNSPEC,
	ROCEPATH_A_PEER_PAD,
	ROCEPATH_A_PEER_DEVICE,			/* u32, ifindex */
	ROCEPATH_A_PEER_ADDRESS,		/* 16 bytes, IPv4 mapped */
	ROCEPATH_A_PEER_STATE,			/* u32, enum rocepath_peer_state */
	ROCEPATH_A_PEER_INSTANCE,		/* u64, 0: none heard */
	ROCEPATH_A_PEER_KEY_ID,			/* u8, of its last hello */
	ROCEPATH_A_PEER_HELLO_AGE_MS,		/* u64, since its last valid hello */
	ROCEPATH_A_PEER_RTT_US,			/* u32, of the last answered hello */
	ROCEPATH_A_PEER_FLOWS,			/* u32 */
	ROCEPATH_A_PEER_RESTARTS,		/* u32 */
	ROCEPATH_A_PEER_REPORTS,		/* u8: it reports what arrives */
	ROCEPATH_A_PEER_REPORT_AGE_MS,		/* u64, since its last report; absent: none yet */
	ROCEPATH_A_PEER_LATENCY_US,		/* u32, from sending to knowing of it, smoothed */
	ROCEPATH_A_PEER_PATHS,			/* u32 */
	ROCEPATH_A_PEER_PATHS_USABLE,		/* u32 */

	__ROCEPATH_A_PEER_MAX,
	ROCEPATH_A_PEER_MAX = __ROCEPATH_A_PEER_MAX - 1
};

enum rocepath_a_path {
	ROCEPATH_A_PATH_UNSPEC,
	ROCEPATH_A_PATH_DEVICE,			/* u32, ifindex */
	ROCEPATH_A_PATH_PORT,			/* u32, ifindex */
	ROCEPATH_A_PATH_PORT_NAME,		/* string */
	ROCEPATH_A_PATH_EV,			/* u32, its number in the port */
	ROCEPATH_A_PATH_SPORT,			/* u32, UDP source port that it means */
	ROCEPATH_A_PATH_FLOWLABEL,		/* u32, IPv6 flow label that it means */
	ROCEPATH_A_PATH_STATE,			/* u32, enum rocepath_path_state */
	ROCEPATH_A_PATH_SHARE,			/* u32, of sprayed packets, in 1/1000000 */
	ROCEPATH_A_PATH_PAD,
	ROCEPATH_A_PATH_PEER,			/* 16 bytes, IPv4 mapped; all below absent where
						 * no peer reports, and a path is only its port's
						 */
	ROCEPATH_A_PATH_REASON,			/* u32, enum rocepath_path_reason */
	ROCEPATH_A_PATH_SINCE_MS,		/* u64, in this state for so long */
	ROCEPATH_A_PATH_RTT_US,			/* u32, of probes; absent: not probed yet */
	ROCEPATH_A_PATH_LATE_US,		/* u32, of data behind that of the fastest, as the
						 * peer last said; absent: not in the last second
						 */
	ROCEPATH_A_PATH_LOSS_PPM,		/* u32, lately */
	ROCEPATH_A_PATH_RECEIVED,		/* u32, packets, as the peer reported; wraps */
	ROCEPATH_A_PATH_MARKED,			/* u32, of these with CE; wraps */
	ROCEPATH_A_PATH_DELIVERED,		/* u64, data packets known delivered */
	ROCEPATH_A_PATH_LOST,			/* u64, data packets known lost */
	ROCEPATH_A_PATH_FAILS,			/* u32, times it went down */
	ROCEPATH_A_PATH_EVS,			/* binary, a byte each, for CMD_PATH_SET */
	ROCEPATH_A_PATH_HOPS,			/* u8, hop limit, for CMD_PROBE */
	ROCEPATH_A_PATH_COOKIE,			/* u32, for CMD_PROBE: comes back in the event */
	ROCEPATH_A_PATH_RTT_AGE_MS,		/* u64, since RTT_US was measured */

	__ROCEPATH_A_PATH_MAX,
	ROCEPATH_A_PATH_MAX = __ROCEPATH_A_PATH_MAX - 1
};

/* what the receiver does with one PSN space of a flow */
enum rocepath_a_window {
	ROCEPATH_A_WINDOW_UNSPEC,
	ROCEPATH_A_WINDOW_PAD,
	ROCEPATH_A_WINDOW_EXPECTED,		/* u32, next PSN */
	ROCEPATH_A_WINDOW_HELD,			/* u32, packets now */
	ROCEPATH_A_WINDOW_HELD_BYTES,		/* u32, now */
	ROCEPATH_A_WINDOW_HELD_MAX,		/* u32, most packets at once */
	ROCEPATH_A_WINDOW_HELD_TOTAL,		/* u64, packets */
	ROCEPATH_A_WINDOW_GAP_TIMEOUT_US,	/* u32, in force now */
	ROCEPATH_A_WINDOW_GAPS_FILLED,		/* u64 */
	ROCEPATH_A_WINDOW_GAPS_EXPIRED,		/* u64 */
	ROCEPATH_A_WINDOW_REWINDS,		/* u64 */

	__ROCEPATH_A_WINDOW_MAX,
	ROCEPATH_A_WINDOW_MAX = __ROCEPATH_A_WINDOW_MAX - 1
};

/* what the sender of one PSN space of a flow keeps for repair */
enum rocepath_a_queue {
	ROCEPATH_A_QUEUE_UNSPEC,
	ROCEPATH_A_QUEUE_PAD,
	ROCEPATH_A_QUEUE_PACKETS,		/* u32, now */
	ROCEPATH_A_QUEUE_BYTES,			/* u32, now */
	ROCEPATH_A_QUEUE_KEPT,			/* u64, packets ever kept */
	ROCEPATH_A_QUEUE_REPAIRED,		/* u64, sent again over another path */
	ROCEPATH_A_QUEUE_GIVEN_UP,		/* u64, tried too often */
	ROCEPATH_A_QUEUE_LET_GO,		/* u64, for the caps */
	ROCEPATH_A_QUEUE_REWOUND,		/* u64, the QP itself went back */

	__ROCEPATH_A_QUEUE_MAX,
	ROCEPATH_A_QUEUE_MAX = __ROCEPATH_A_QUEUE_MAX - 1
};

enum rocepath_a_flow {
	ROCEPATH_A_FLOW_UNSPEC,
	ROCEPATH_A_FLOW_PAD,
	ROCEPATH_A_FLOW_DEVICE,			/* u32, ifindex; absent: no packet yet */
	ROCEPATH_A_FLOW_PEER,			/* 16 bytes, IPv4 mapped */
	ROCEPATH_A_FLOW_LOCAL_QPN,		/* u32 */
	ROCEPATH_A_FLOW_REMOTE_QPN,		/* u32 */
	ROCEPATH_A_FLOW_QP_TYPE,		/* u32, enum rocepath_qp_type */
	ROCEPATH_A_FLOW_PATH_MTU,		/* u32, bytes */
	ROCEPATH_A_FLOW_TX_PACKETS,		/* u64 */
	ROCEPATH_A_FLOW_TX_SPRAYED,		/* u64 */
	ROCEPATH_A_FLOW_REQUESTS,		/* nest of a_window */
	ROCEPATH_A_FLOW_RESPONSES,		/* nest of a_window */
	ROCEPATH_A_FLOW_SENT_REQUESTS,		/* nest of a_queue */
	ROCEPATH_A_FLOW_SENT_RESPONSES,		/* nest of a_queue */
	ROCEPATH_A_FLOW_TX_BYTES,		/* u64, headers counted in */

	__ROCEPATH_A_FLOW_MAX,
	ROCEPATH_A_FLOW_MAX = __ROCEPATH_A_FLOW_MAX - 1
};

enum rocepath_a_key {
	ROCEPATH_A_KEY_UNSPEC,
	ROCEPATH_A_KEY_DEVICE,			/* u32, ifindex */
	ROCEPATH_A_KEY_ID,			/* u8 */
	ROCEPATH_A_KEY_SECRET,			/* 16 bytes, set only */
	ROCEPATH_A_KEY_ACTIVE,			/* u8: hellos are sent with it */

	__ROCEPATH_A_KEY_MAX,
	ROCEPATH_A_KEY_MAX = __ROCEPATH_A_KEY_MAX - 1
};

enum rocepath_a_class {
	ROCEPATH_A_CLASS_UNSPEC,
	ROCEPATH_A_CLASS_DEVICE,		/* u32, ifindex */
	ROCEPATH_A_CLASS_ID,			/* u32, 0 to 63 */
	ROCEPATH_A_CLASS_SCHEDULER,		/* string */

	__ROCEPATH_A_CLASS_MAX,
	ROCEPATH_A_CLASS_MAX = __ROCEPATH_A_CLASS_MAX - 1
};

enum rocepath_a_event {
	ROCEPATH_A_EVENT_UNSPEC,
	ROCEPATH_A_EVENT_PAD,
	ROCEPATH_A_EVENT_TYPE,			/* u32, enum rocepath_event */
	ROCEPATH_A_EVENT_DEVICE,		/* u32, ifindex */
	ROCEPATH_A_EVENT_DEVICE_NAME,		/* string */
	ROCEPATH_A_EVENT_PORT,			/* u32, ifindex */
	ROCEPATH_A_EVENT_PORT_NAME,		/* string */
	ROCEPATH_A_EVENT_PEER,			/* 16 bytes, IPv4 mapped */
	ROCEPATH_A_EVENT_REASON,		/* string */
	ROCEPATH_A_EVENT_TIME_NS,		/* u64, CLOCK_REALTIME */
	ROCEPATH_A_EVENT_EV,			/* u32, of the path */
	ROCEPATH_A_EVENT_TOOK_US,		/* u32, since the first packet unheard of */
	ROCEPATH_A_EVENT_HOP,			/* 16 bytes, IPv4 mapped: who answered */
	ROCEPATH_A_EVENT_HOPS,			/* u32, hop limit that the probe was sent with */
	ROCEPATH_A_EVENT_COOKIE,		/* u32, of CMD_PROBE */
	ROCEPATH_A_EVENT_RTT_US,		/* u32 */

	__ROCEPATH_A_EVENT_MAX,
	ROCEPATH_A_EVENT_MAX = __ROCEPATH_A_EVENT_MAX - 1
};

#endif /* _UAPI_LINUX_ROCEPATH_H */
