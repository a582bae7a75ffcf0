/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The generic netlink family "rocepath_rdma": QPs of RDMA devices whose data
 * passes the kernel by. Documentation/netlink-style specification:
 * rocepath_rdma.yaml beside this file; a test holds the two together.
 *
 * Each object has an attribute set of its own; a message carries the set that
 * its command names. The family is that of the host: it is there in the initial
 * network namespace. What tells of QPs and keys, and all changes, need
 * CAP_NET_ADMIN there. Addresses are 16 bytes, IPv4 mapped, as in a GID.
 */
#ifndef _UAPI_LINUX_ROCEPATH_RDMA_H
#define _UAPI_LINUX_ROCEPATH_RDMA_H

#define ROCEPATH_RDMA_FAMILY_NAME	"rocepath_rdma"
#define ROCEPATH_RDMA_FAMILY_VERSION	1
#define ROCEPATH_RDMA_MCGRP_EVENTS	"events"

#define ROCEPATH_RDMA_KEY_LEN		16
#define ROCEPATH_RDMA_DEVICE_LEN	64	/* names, with the 0 at their end */
#define ROCEPATH_RDMA_NAME_LEN		32
#define ROCEPATH_RDMA_GLOB_LEN		128
#define ROCEPATH_RDMA_COMM_LEN		16
#define ROCEPATH_RDMA_GLOB_DEVICE_LEN	32
#define ROCEPATH_RDMA_CLASSES		64
#define ROCEPATH_RDMA_RULES		256
#define ROCEPATH_RDMA_EVS		16384	/* there are; EV e is UDP source port 49152 + e */
#define ROCEPATH_RDMA_PLAN_EVS		1024	/* in a plan of one pair of addresses */
#define ROCEPATH_RDMA_WEIGHT_MAX	256
#define ROCEPATH_RDMA_EVENT_QPS		32	/* in one message of an event */

enum rocepath_rdma_cmd {
	ROCEPATH_RDMA_CMD_UNSPEC,
	ROCEPATH_RDMA_CMD_DEVICE_GET,	/* do: A_DEVICE_NAME, A_DEVICE_PORT; dump: all */
	ROCEPATH_RDMA_CMD_DEVICE_SET,	/* without a name: all devices, and those to come */
	ROCEPATH_RDMA_CMD_POLICY_GET,
	ROCEPATH_RDMA_CMD_POLICY_SET,	/* classes and rules as a whole; none: no policy */
	ROCEPATH_RDMA_CMD_CLASS_GET,	/* dump */
	ROCEPATH_RDMA_CMD_RULE_GET,	/* dump, in their order; CAP_NET_ADMIN */
	ROCEPATH_RDMA_CMD_PLAN_GET,	/* dump: a message for each EV; the pair narrows */
	ROCEPATH_RDMA_CMD_PLAN_SET,	/* A_PLAN_EVS of a pair; none: back to the sequence */
	ROCEPATH_RDMA_CMD_QP_GET,	/* do: A_QP_DEVICE, A_QP_QPN; dump; CAP_NET_ADMIN */
	ROCEPATH_RDMA_CMD_QP_SET,	/* A_QP_EXEMPT */
	ROCEPATH_RDMA_CMD_PATH_GET,	/* dump: A_PATH_DEVICE narrows */
	ROCEPATH_RDMA_CMD_PATH_SET,	/* A_PATH_STATE: taken out by an operator, and put back */
	ROCEPATH_RDMA_CMD_PEER_GET,	/* dump: A_PEER_DEVICE narrows */
	ROCEPATH_RDMA_CMD_KEY_GET,	/* dump, CAP_NET_ADMIN; the secret is never given out */
	ROCEPATH_RDMA_CMD_KEY_SET,
	ROCEPATH_RDMA_CMD_KEY_DEL,	/* without an id: all keys */
	ROCEPATH_RDMA_CMD_EVENT,	/* multicast only */

	__ROCEPATH_RDMA_CMD_MAX,
	ROCEPATH_RDMA_CMD_MAX = __ROCEPATH_RDMA_CMD_MAX - 1
};

/* does the UDP source port follow the flow label of the address handle? */
enum rocepath_rdma_follows {
	ROCEPATH_RDMA_FOLLOWS_UNKNOWN,
	ROCEPATH_RDMA_FOLLOWS_NO,
	ROCEPATH_RDMA_FOLLOWS_YES,
};

/* as enum ib_port_state */
enum rocepath_rdma_port_state {
	ROCEPATH_RDMA_PORT_NOP,
	ROCEPATH_RDMA_PORT_DOWN,
	ROCEPATH_RDMA_PORT_INIT,
	ROCEPATH_RDMA_PORT_ARMED,
	ROCEPATH_RDMA_PORT_ACTIVE,
	ROCEPATH_RDMA_PORT_ACTIVE_DEFER,
};

/* can a live QP be moved to another EV through SQD? Known once it was tried */
enum rocepath_rdma_moves {
	ROCEPATH_RDMA_MOVES_UNKNOWN,
	ROCEPATH_RDMA_MOVES_NO,
	ROCEPATH_RDMA_MOVES_YES,
};

/* what is done for QPs that sit on a path or a port that failed; each does what those before do */
enum rocepath_rdma_action {
	ROCEPATH_RDMA_ACTION_NOTIFY,	/* an event; new QPs avoid the path */
	ROCEPATH_RDMA_ACTION_MOVE,	/* live QPs move to another EV, where the driver can */
	ROCEPATH_RDMA_ACTION_ERROR,	/* QPs go to the error state at once; slow paths: as MOVE */
};

enum rocepath_rdma_entropy {
	ROCEPATH_RDMA_ENTROPY_ASKED,	/* the flow label is what the application asked for */
	ROCEPATH_RDMA_ENTROPY_PLAN,	/* it is the plan's */
};

enum rocepath_rdma_plan_kind {
	ROCEPATH_RDMA_PLAN_SEQUENCE,	/* of EVs that differ in many bits */
	ROCEPATH_RDMA_PLAN_PATHS,	/* EVs whose paths discovery found, by PLAN_SET */
};

/* as enum ib_qp_type, but for DRIVER */
enum rocepath_rdma_qp_type {
	ROCEPATH_RDMA_QP_SMI,
	ROCEPATH_RDMA_QP_GSI,
	ROCEPATH_RDMA_QP_RC,
	ROCEPATH_RDMA_QP_UC,
	ROCEPATH_RDMA_QP_UD,
	ROCEPATH_RDMA_QP_RAW_IPV6,
	ROCEPATH_RDMA_QP_RAW_ETHERTYPE,
	ROCEPATH_RDMA_QP_RESERVED,
	ROCEPATH_RDMA_QP_RAW_PACKET,
	ROCEPATH_RDMA_QP_XRC_INI,
	ROCEPATH_RDMA_QP_XRC_TGT,
	ROCEPATH_RDMA_QP_DRIVER,
};

/* as enum ib_qp_state */
enum rocepath_rdma_qp_state {
	ROCEPATH_RDMA_QPS_RESET,
	ROCEPATH_RDMA_QPS_INIT,
	ROCEPATH_RDMA_QPS_RTR,
	ROCEPATH_RDMA_QPS_RTS,
	ROCEPATH_RDMA_QPS_SQD,
	ROCEPATH_RDMA_QPS_SQE,
	ROCEPATH_RDMA_QPS_ERR,
};

/* the first four as enum rocepath_path_state */
enum rocepath_rdma_path_state {
	ROCEPATH_RDMA_PATH_UP,
	ROCEPATH_RDMA_PATH_SUSPECT,	/* a probe was lost, nothing heard since */
	ROCEPATH_RDMA_PATH_DOWN,
	ROCEPATH_RDMA_PATH_PROBATION,	/* being probed before it may be given to QPs again */
	ROCEPATH_RDMA_PATH_UNKNOWN,	/* not probed: no key, or a peer without rocepath */
	ROCEPATH_RDMA_PATH_DEGRADED,	/* works, much slower than the others to that peer */
};

/* up to PROBES_ANSWERED as enum rocepath_path_reason */
enum rocepath_rdma_path_reason {
	ROCEPATH_RDMA_REASON_NEW,
	ROCEPATH_RDMA_REASON_CARRIER,	/* of its port, lost or back */
	ROCEPATH_RDMA_REASON_SILENT,
	ROCEPATH_RDMA_REASON_LOSS,	/* its loss rate */
	ROCEPATH_RDMA_REASON_PROBE_LOST,
	ROCEPATH_RDMA_REASON_HEARD,
	ROCEPATH_RDMA_REASON_HOLDDOWN_OVER,
	ROCEPATH_RDMA_REASON_PROBES_ANSWERED,
	ROCEPATH_RDMA_REASON_SLOW,	/* its round trip, beside that of the others */
	ROCEPATH_RDMA_REASON_TOLD,	/* by PATH_SET */
	ROCEPATH_RDMA_REASON_PEER,	/* the whole peer says nothing, or has no rocepath */
};

enum rocepath_rdma_peer_state {
	ROCEPATH_RDMA_PEER_PLAIN,	/* no valid hello: not probed */
	ROCEPATH_RDMA_PEER_CAPABLE,	/* it answers probes */
	ROCEPATH_RDMA_PEER_LOST,	/* it did */
};

enum rocepath_rdma_event {
	ROCEPATH_RDMA_EVENT_PORT_DOWN,	/* with the QPs on it, as all but PEER and CAP_HIT */
	ROCEPATH_RDMA_EVENT_PORT_UP,
	ROCEPATH_RDMA_EVENT_PATH_DOWN,
	ROCEPATH_RDMA_EVENT_PATH_DEGRADED,
	ROCEPATH_RDMA_EVENT_PATH_UP,
	ROCEPATH_RDMA_EVENT_PEER_HELLO,
	ROCEPATH_RDMA_EVENT_PEER_LOST,
	ROCEPATH_RDMA_EVENT_MOVED,	/* QPs were moved, or could not be: A_QP_RESULT */
	ROCEPATH_RDMA_EVENT_ERRORED,	/* QPs were put into the error state, the same */
	ROCEPATH_RDMA_EVENT_CAP_HIT,	/* at most one a second */
};

/* one counter; a STATS attribute holds a list of STAT entries of these */
enum rocepath_rdma_a_stat {
	ROCEPATH_RDMA_A_STAT_UNSPEC,
	ROCEPATH_RDMA_A_STAT_NAME,		/* string */
	ROCEPATH_RDMA_A_STAT_VALUE,		/* u64 */

	__ROCEPATH_RDMA_A_STAT_MAX,
	ROCEPATH_RDMA_A_STAT_MAX = __ROCEPATH_RDMA_A_STAT_MAX - 1
};

enum rocepath_rdma_a_stats {
	ROCEPATH_RDMA_A_STATS_UNSPEC,
	ROCEPATH_RDMA_A_STATS_STAT,		/* nest of a_stat, repeated */

	__ROCEPATH_RDMA_A_STATS_MAX,
	ROCEPATH_RDMA_A_STATS_MAX = __ROCEPATH_RDMA_A_STATS_MAX - 1
};

/* one port of an RDMA device that speaks RoCE */
enum rocepath_rdma_a_device {
	ROCEPATH_RDMA_A_DEVICE_UNSPEC,
	ROCEPATH_RDMA_A_DEVICE_PAD,
	ROCEPATH_RDMA_A_DEVICE_NAME,		/* string */
	ROCEPATH_RDMA_A_DEVICE_PORT,		/* u32, absent in a request: all of them, or 1 */
	ROCEPATH_RDMA_A_DEVICE_INDEX,		/* u32, as RDMA netlink numbers devices */
	ROCEPATH_RDMA_A_DEVICE_IFINDEX,		/* u32, its netdevice; absent: there is none */
	ROCEPATH_RDMA_A_DEVICE_NETDEV,		/* string, name of that */
	ROCEPATH_RDMA_A_DEVICE_DRIVER,		/* string */
	ROCEPATH_RDMA_A_DEVICE_PORT_STATE,	/* u32, enum rocepath_rdma_port_state */
	ROCEPATH_RDMA_A_DEVICE_FOLLOWS,		/* u32, enum rocepath_rdma_follows */
	ROCEPATH_RDMA_A_DEVICE_MOVES,		/* u32, enum rocepath_rdma_moves */
	ROCEPATH_RDMA_A_DEVICE_HOOKED,		/* u8: QPs are seen when they connect */
	ROCEPATH_RDMA_A_DEVICE_HOOK_REASON,	/* string, why not */
	ROCEPATH_RDMA_A_DEVICE_STEERING,	/* u8, 1: on; 0 until it is set */
	ROCEPATH_RDMA_A_DEVICE_EXEMPT,		/* u8, 1: never steered, whatever is set for all */
	ROCEPATH_RDMA_A_DEVICE_ON_FAILURE,	/* u32, enum rocepath_rdma_action, of the classes
						 * that do not say
						 */
	ROCEPATH_RDMA_A_DEVICE_PROBE_INTERVAL_US,	/* u32, of each EV in use; 0: no probes */
	ROCEPATH_RDMA_A_DEVICE_PROBES_PER_SECOND,	/* u32, of the device, at most */
	ROCEPATH_RDMA_A_DEVICE_HOLDDOWN_MS,	/* u32, first one of a path that came back */
	ROCEPATH_RDMA_A_DEVICE_SLOW_FACTOR,	/* u32, RTT so many times the others': degraded;
						 * 0: never
						 */
	ROCEPATH_RDMA_A_DEVICE_QPS,		/* u32, seen, connected now; read only, as below */
	ROCEPATH_RDMA_A_DEVICE_QPS_STEERED,	/* u32, of these */
	ROCEPATH_RDMA_A_DEVICE_PAIRS,		/* u32, of addresses */
	ROCEPATH_RDMA_A_DEVICE_PEERS,		/* u32, that answer probes */
	ROCEPATH_RDMA_A_DEVICE_STATS,		/* nest of a_stats */

	__ROCEPATH_RDMA_A_DEVICE_MAX,
	ROCEPATH_RDMA_A_DEVICE_MAX = __ROCEPATH_RDMA_A_DEVICE_MAX - 1
};

/* what is not there is left as the application asked for it */
enum rocepath_rdma_a_class {
	ROCEPATH_RDMA_A_CLASS_UNSPEC,
	ROCEPATH_RDMA_A_CLASS_NUMBER,		/* u32, 0 to 63 */
	ROCEPATH_RDMA_A_CLASS_NAME,		/* string */
	ROCEPATH_RDMA_A_CLASS_DSCP,		/* u8, 0 to 63 */
	ROCEPATH_RDMA_A_CLASS_SL,		/* u8, 0 to 7: the priority in a VLAN tag */
	ROCEPATH_RDMA_A_CLASS_TIMEOUT,		/* u8, 0 to 31: 4.096 us times 2 to that power */
	ROCEPATH_RDMA_A_CLASS_RETRY,		/* u8, 0 to 7 */
	ROCEPATH_RDMA_A_CLASS_ENTROPY,		/* u32, enum rocepath_rdma_entropy */
	ROCEPATH_RDMA_A_CLASS_ON_FAILURE,	/* u32, enum rocepath_rdma_action */
	ROCEPATH_RDMA_A_CLASS_EXEMPT,		/* u8, 1: nothing is changed in its QPs */
	ROCEPATH_RDMA_A_CLASS_QPS,		/* u32, connected now; read only */

	__ROCEPATH_RDMA_A_CLASS_MAX,
	ROCEPATH_RDMA_A_CLASS_MAX = __ROCEPATH_RDMA_A_CLASS_MAX - 1
};

/* all that is there must hold; the first rule that matches wins */
enum rocepath_rdma_a_rule {
	ROCEPATH_RDMA_A_RULE_UNSPEC,
	ROCEPATH_RDMA_A_RULE_PAD,
	ROCEPATH_RDMA_A_RULE_NAME,		/* string */
	ROCEPATH_RDMA_A_RULE_CLASS,		/* u32, number of a class */
	ROCEPATH_RDMA_A_RULE_CGROUP,		/* string, glob of its path */
	ROCEPATH_RDMA_A_RULE_COMM,		/* string, glob */
	ROCEPATH_RDMA_A_RULE_DEVICE,		/* string, glob of the RDMA device's name */
	ROCEPATH_RDMA_A_RULE_UID_MIN,		/* u32 */
	ROCEPATH_RDMA_A_RULE_UID_MAX,		/* u32 */
	ROCEPATH_RDMA_A_RULE_REMOTE,		/* 16 bytes */
	ROCEPATH_RDMA_A_RULE_REMOTE_BITS,	/* u8, 0 to 128; an IPv4 prefix's and 96 */
	ROCEPATH_RDMA_A_RULE_QP_TYPES,		/* u32, bit enum rocepath_rdma_qp_type */
	ROCEPATH_RDMA_A_RULE_MATCHED,		/* u64, QPs so far; read only */

	__ROCEPATH_RDMA_A_RULE_MAX,
	ROCEPATH_RDMA_A_RULE_MAX = __ROCEPATH_RDMA_A_RULE_MAX - 1
};

enum rocepath_rdma_a_policy {
	ROCEPATH_RDMA_A_POLICY_UNSPEC,
	ROCEPATH_RDMA_A_POLICY_PAD,
	ROCEPATH_RDMA_A_POLICY_GENERATION,	/* u64, one more with each POLICY_SET; read only */
	ROCEPATH_RDMA_A_POLICY_DEFAULT_CLASS,	/* u32, number: of what no rule matches */
	ROCEPATH_RDMA_A_POLICY_CLASS,		/* nest of a_class, repeated */
	ROCEPATH_RDMA_A_POLICY_RULE,		/* nest of a_rule, repeated, in their order */
	ROCEPATH_RDMA_A_POLICY_CLASSES,		/* u32, read only, as below */
	ROCEPATH_RDMA_A_POLICY_RULES,		/* u32 */

	__ROCEPATH_RDMA_A_POLICY_MAX,
	ROCEPATH_RDMA_A_POLICY_MAX = __ROCEPATH_RDMA_A_POLICY_MAX - 1
};

/* one EV of a PLAN_SET */
enum rocepath_rdma_a_plan_ev {
	ROCEPATH_RDMA_A_PLAN_EV_UNSPEC,
	ROCEPATH_RDMA_A_PLAN_EV_EV,		/* u32, 0 to 16383 */
	ROCEPATH_RDMA_A_PLAN_EV_PATH,		/* u32, a number; the same: the same path */
	ROCEPATH_RDMA_A_PLAN_EV_WEIGHT,		/* u32, 1 to 256; absent: 256 */

	__ROCEPATH_RDMA_A_PLAN_EV_MAX,
	ROCEPATH_RDMA_A_PLAN_EV_MAX = __ROCEPATH_RDMA_A_PLAN_EV_MAX - 1
};

enum rocepath_rdma_a_plan {
	ROCEPATH_RDMA_A_PLAN_UNSPEC,
	ROCEPATH_RDMA_A_PLAN_PAD,
	ROCEPATH_RDMA_A_PLAN_DEVICE,		/* string */
	ROCEPATH_RDMA_A_PLAN_LOCAL,		/* 16 bytes */
	ROCEPATH_RDMA_A_PLAN_REMOTE,		/* 16 bytes */
	ROCEPATH_RDMA_A_PLAN_KIND,		/* u32, enum rocepath_rdma_plan_kind */
	ROCEPATH_RDMA_A_PLAN_EV,		/* u32 */
	ROCEPATH_RDMA_A_PLAN_PATH,		/* u32 */
	ROCEPATH_RDMA_A_PLAN_WEIGHT,		/* u32, 0: not given to QPs now */
	ROCEPATH_RDMA_A_PLAN_QPS,		/* u32, on this EV */
	ROCEPATH_RDMA_A_PLAN_EVS,		/* nest of a_plan_ev, repeated; for PLAN_SET */

	__ROCEPATH_RDMA_A_PLAN_MAX,
	ROCEPATH_RDMA_A_PLAN_MAX = __ROCEPATH_RDMA_A_PLAN_MAX - 1
};

enum rocepath_rdma_a_qp {
	ROCEPATH_RDMA_A_QP_UNSPEC,
	ROCEPATH_RDMA_A_QP_PAD,
	ROCEPATH_RDMA_A_QP_DEVICE,		/* string */
	ROCEPATH_RDMA_A_QP_PORT,		/* u32 */
	ROCEPATH_RDMA_A_QP_QPN,			/* u32 */
	ROCEPATH_RDMA_A_QP_TYPE,		/* u32, enum rocepath_rdma_qp_type */
	ROCEPATH_RDMA_A_QP_STATE,		/* u32, enum rocepath_rdma_qp_state, as last set */
	ROCEPATH_RDMA_A_QP_PID,			/* u32, 0: the kernel's */
	ROCEPATH_RDMA_A_QP_COMM,		/* string; of a kernel QP, who made it */
	ROCEPATH_RDMA_A_QP_UID,			/* u32 */
	ROCEPATH_RDMA_A_QP_CGROUP_ID,		/* u64 */
	ROCEPATH_RDMA_A_QP_CGROUP,		/* string, its path */
	ROCEPATH_RDMA_A_QP_LOCAL,		/* 16 bytes */
	ROCEPATH_RDMA_A_QP_REMOTE,		/* 16 bytes */
	ROCEPATH_RDMA_A_QP_REMOTE_QPN,		/* u32 */
	ROCEPATH_RDMA_A_QP_SEEN,		/* u8, 0: from before the module was there */
	ROCEPATH_RDMA_A_QP_STEERED,		/* u8: something was set */
	ROCEPATH_RDMA_A_QP_EXEMPT,		/* u8, 1: nothing is changed in it */
	ROCEPATH_RDMA_A_QP_CLASS,		/* u32, number; absent: no policy */
	ROCEPATH_RDMA_A_QP_CLASS_NAME,		/* string */
	ROCEPATH_RDMA_A_QP_RULE,		/* string, name; absent: the default class */
	ROCEPATH_RDMA_A_QP_ON_FAILURE,		/* u32, enum rocepath_rdma_action */
	ROCEPATH_RDMA_A_QP_ENTROPY,		/* u32, enum rocepath_rdma_entropy */
	ROCEPATH_RDMA_A_QP_EV,			/* u32, that its flow label makes */
	ROCEPATH_RDMA_A_QP_PATH,		/* u32, of the plan; absent: not known */
	ROCEPATH_RDMA_A_QP_PATH_STATE,		/* u32, enum rocepath_rdma_path_state */
	ROCEPATH_RDMA_A_QP_FLOW_LABEL_ASKED,	/* u32 */
	ROCEPATH_RDMA_A_QP_FLOW_LABEL,		/* u32, as set, as all without ASKED */
	ROCEPATH_RDMA_A_QP_TRAFFIC_CLASS_ASKED,	/* u8, DSCP and ECN */
	ROCEPATH_RDMA_A_QP_TRAFFIC_CLASS,	/* u8 */
	ROCEPATH_RDMA_A_QP_SL_ASKED,		/* u8 */
	ROCEPATH_RDMA_A_QP_SL,			/* u8 */
	ROCEPATH_RDMA_A_QP_TIMEOUT_ASKED,	/* u8; absent, as the next three: not at RTS yet */
	ROCEPATH_RDMA_A_QP_TIMEOUT,		/* u8 */
	ROCEPATH_RDMA_A_QP_RETRY_ASKED,		/* u8 */
	ROCEPATH_RDMA_A_QP_RETRY,		/* u8 */
	ROCEPATH_RDMA_A_QP_MOVES,		/* u32, times it was moved */
	ROCEPATH_RDMA_A_QP_RESULT,		/* u32, in an event: errno, 0: done */

	__ROCEPATH_RDMA_A_QP_MAX,
	ROCEPATH_RDMA_A_QP_MAX = __ROCEPATH_RDMA_A_QP_MAX - 1
};

/* one EV between two addresses, as probes find it */
enum rocepath_rdma_a_path {
	ROCEPATH_RDMA_A_PATH_UNSPEC,
	ROCEPATH_RDMA_A_PATH_PAD,
	ROCEPATH_RDMA_A_PATH_DEVICE,		/* string */
	ROCEPATH_RDMA_A_PATH_LOCAL,		/* 16 bytes */
	ROCEPATH_RDMA_A_PATH_REMOTE,		/* 16 bytes */
	ROCEPATH_RDMA_A_PATH_EV,		/* u32 */
	ROCEPATH_RDMA_A_PATH_STATE,		/* u32, enum rocepath_rdma_path_state */
	ROCEPATH_RDMA_A_PATH_REASON,		/* u32, enum rocepath_rdma_path_reason */
	ROCEPATH_RDMA_A_PATH_SINCE_MS,		/* u64, in this state for so long */
	ROCEPATH_RDMA_A_PATH_RTT_US,		/* u32; absent: nothing was answered yet */
	ROCEPATH_RDMA_A_PATH_LOSS_PPM,		/* u32, lately */
	ROCEPATH_RDMA_A_PATH_SENT,		/* u64, probes */
	ROCEPATH_RDMA_A_PATH_ANSWERED,		/* u64, of these */
	ROCEPATH_RDMA_A_PATH_FAILS,		/* u32, times it went down */
	ROCEPATH_RDMA_A_PATH_QPS,		/* u32, on it */

	__ROCEPATH_RDMA_A_PATH_MAX,
	ROCEPATH_RDMA_A_PATH_MAX = __ROCEPATH_RDMA_A_PATH_MAX - 1
};

enum rocepath_rdma_a_peer {
	ROCEPATH_RDMA_A_PEER_UNSPEC,
	ROCEPATH_RDMA_A_PEER_PAD,
	ROCEPATH_RDMA_A_PEER_DEVICE,		/* string */
	ROCEPATH_RDMA_A_PEER_LOCAL,		/* 16 bytes */
	ROCEPATH_RDMA_A_PEER_REMOTE,		/* 16 bytes */
	ROCEPATH_RDMA_A_PEER_STATE,		/* u32, enum rocepath_rdma_peer_state */
	ROCEPATH_RDMA_A_PEER_REASON,		/* string: why it is in that state */
	ROCEPATH_RDMA_A_PEER_INSTANCE,		/* u64, 0: none heard */
	ROCEPATH_RDMA_A_PEER_KEY_ID,		/* u8, of its last hello */
	ROCEPATH_RDMA_A_PEER_HELLO_AGE_MS,	/* u64, since its last valid hello */
	ROCEPATH_RDMA_A_PEER_EVS,		/* u32, in use to it */

	__ROCEPATH_RDMA_A_PEER_MAX,
	ROCEPATH_RDMA_A_PEER_MAX = __ROCEPATH_RDMA_A_PEER_MAX - 1
};

/* keys are those of all RDMA devices of the host */
enum rocepath_rdma_a_key {
	ROCEPATH_RDMA_A_KEY_UNSPEC,
	ROCEPATH_RDMA_A_KEY_ID,			/* u8 */
	ROCEPATH_RDMA_A_KEY_SECRET,		/* 16 bytes, set only */
	ROCEPATH_RDMA_A_KEY_ACTIVE,		/* u8: hellos are sent with it */

	__ROCEPATH_RDMA_A_KEY_MAX,
	ROCEPATH_RDMA_A_KEY_MAX = __ROCEPATH_RDMA_A_KEY_MAX - 1
};

enum rocepath_rdma_a_event {
	ROCEPATH_RDMA_A_EVENT_UNSPEC,
	ROCEPATH_RDMA_A_EVENT_PAD,
	ROCEPATH_RDMA_A_EVENT_TYPE,		/* u32, enum rocepath_rdma_event */
	ROCEPATH_RDMA_A_EVENT_NUMBER,		/* u32, the same in all messages of one event */
	ROCEPATH_RDMA_A_EVENT_MORE,		/* u8, 1: more QPs in the next message */
	ROCEPATH_RDMA_A_EVENT_TIME_NS,		/* u64, CLOCK_REALTIME */
	ROCEPATH_RDMA_A_EVENT_DEVICE,		/* string */
	ROCEPATH_RDMA_A_EVENT_PORT,		/* u32 */
	ROCEPATH_RDMA_A_EVENT_LOCAL,		/* 16 bytes */
	ROCEPATH_RDMA_A_EVENT_REMOTE,		/* 16 bytes */
	ROCEPATH_RDMA_A_EVENT_EV,		/* u32 */
	ROCEPATH_RDMA_A_EVENT_PATH,		/* u32, of the plan; absent: not known */
	ROCEPATH_RDMA_A_EVENT_REASON,		/* string */
	ROCEPATH_RDMA_A_EVENT_TOOK_US,		/* u32, since the first probe unheard of */
	ROCEPATH_RDMA_A_EVENT_RTT_US,		/* u32 */
	ROCEPATH_RDMA_A_EVENT_QPS,		/* u32, that sit on it, in all messages */
	ROCEPATH_RDMA_A_EVENT_QP,		/* nest of a_qp, repeated */

	__ROCEPATH_RDMA_A_EVENT_MAX,
	ROCEPATH_RDMA_A_EVENT_MAX = __ROCEPATH_RDMA_A_EVENT_MAX - 1
};

#endif /* _UAPI_LINUX_ROCEPATH_RDMA_H */
