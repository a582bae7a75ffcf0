// SPDX-License-Identifier: GPL-2.0
/* The attribute sets of the family "rocepath_rdma", as sets.c has those of "rocepath". */
#include "rdma.h"
#include "sets.h"

_Static_assert(ROCEPATH_RDMA_A_QP_MAX < RP_ATTRS_MAX, "the largest set");

static const char *const port_states[] = {
	[ROCEPATH_RDMA_PORT_NOP] = "none",
	[ROCEPATH_RDMA_PORT_DOWN] = "down",
	[ROCEPATH_RDMA_PORT_INIT] = "init",
	[ROCEPATH_RDMA_PORT_ARMED] = "armed",
	[ROCEPATH_RDMA_PORT_ACTIVE] = "active",
	[ROCEPATH_RDMA_PORT_ACTIVE_DEFER] = "active-defer",
};

static const char *const follows[] = {
	[ROCEPATH_RDMA_FOLLOWS_UNKNOWN] = "unknown",
	[ROCEPATH_RDMA_FOLLOWS_NO] = "no",
	[ROCEPATH_RDMA_FOLLOWS_YES] = "yes",
};

static const char *const moves[] = {
	[ROCEPATH_RDMA_MOVES_UNKNOWN] = "unknown",
	[ROCEPATH_RDMA_MOVES_NO] = "no",
	[ROCEPATH_RDMA_MOVES_YES] = "yes",
};

const char *const rp_rdma_action_names[] = {
	[ROCEPATH_RDMA_ACTION_NOTIFY] = "notify",
	[ROCEPATH_RDMA_ACTION_MOVE] = "move",
	[ROCEPATH_RDMA_ACTION_ERROR] = "error",
	NULL	/* the grammar has it as choices */
};

const char *const rp_rdma_entropy_names[] = {
	[ROCEPATH_RDMA_ENTROPY_ASKED] = "asked",
	[ROCEPATH_RDMA_ENTROPY_PLAN] = "plan",
	NULL
};

static const char *const plan_kinds[] = {
	[ROCEPATH_RDMA_PLAN_SEQUENCE] = "sequence",
	[ROCEPATH_RDMA_PLAN_PATHS] = "paths",
};

static const char *const qp_types[] = {
	[ROCEPATH_RDMA_QP_SMI] = "SMI", [ROCEPATH_RDMA_QP_GSI] = "GSI",
	[ROCEPATH_RDMA_QP_RC] = "RC", [ROCEPATH_RDMA_QP_UC] = "UC",
	[ROCEPATH_RDMA_QP_UD] = "UD", [ROCEPATH_RDMA_QP_RAW_IPV6] = "RAW_IPV6",
	[ROCEPATH_RDMA_QP_RAW_ETHERTYPE] = "RAW_ETHERTYPE",
	[ROCEPATH_RDMA_QP_RAW_PACKET] = "RAW", [ROCEPATH_RDMA_QP_XRC_INI] = "XRC_INI",
	[ROCEPATH_RDMA_QP_XRC_TGT] = "XRC_TGT", [ROCEPATH_RDMA_QP_DRIVER] = "DRIVER",
};

static const char *const qp_states[] = {
	[ROCEPATH_RDMA_QPS_RESET] = "RESET", [ROCEPATH_RDMA_QPS_INIT] = "INIT",
	[ROCEPATH_RDMA_QPS_RTR] = "RTR", [ROCEPATH_RDMA_QPS_RTS] = "RTS",
	[ROCEPATH_RDMA_QPS_SQD] = "SQD", [ROCEPATH_RDMA_QPS_SQE] = "SQE",
	[ROCEPATH_RDMA_QPS_ERR] = "ERR",
};

static const char *const path_states[] = {
	[ROCEPATH_RDMA_PATH_UP] = "up",
	[ROCEPATH_RDMA_PATH_SUSPECT] = "suspect",
	[ROCEPATH_RDMA_PATH_DOWN] = "down",
	[ROCEPATH_RDMA_PATH_PROBATION] = "probation",
	[ROCEPATH_RDMA_PATH_UNKNOWN] = "unknown",
	[ROCEPATH_RDMA_PATH_DEGRADED] = "degraded",
};

static const char *const path_reasons[] = {
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

static const char *const peer_states[] = {
	[ROCEPATH_RDMA_PEER_PLAIN] = "plain",
	[ROCEPATH_RDMA_PEER_CAPABLE] = "capable",
	[ROCEPATH_RDMA_PEER_LOST] = "lost",
};

static const char *const events[] = {
	[ROCEPATH_RDMA_EVENT_PORT_DOWN] = "port-down",
	[ROCEPATH_RDMA_EVENT_PORT_UP] = "port-up",
	[ROCEPATH_RDMA_EVENT_PATH_DOWN] = "path-down",
	[ROCEPATH_RDMA_EVENT_PATH_DEGRADED] = "path-degraded",
	[ROCEPATH_RDMA_EVENT_PATH_UP] = "path-up",
	[ROCEPATH_RDMA_EVENT_PEER_HELLO] = "peer-hello",
	[ROCEPATH_RDMA_EVENT_PEER_LOST] = "peer-lost",
	[ROCEPATH_RDMA_EVENT_MOVED] = "moved",
	[ROCEPATH_RDMA_EVENT_ERRORED] = "errored",
	[ROCEPATH_RDMA_EVENT_CAP_HIT] = "cap-hit",
};

static const struct rp_field device_fields[] = {
	STRING(ROCEPATH_RDMA_A_DEVICE_NAME, "device", "DEVICE"),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_PORT, U32, PLAIN, "port", "PORT"),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_INDEX, U32, PLAIN, "index", NULL),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_IFINDEX, U32, PLAIN, "ifindex", NULL),
	STRING(ROCEPATH_RDMA_A_DEVICE_NETDEV, "netdev", "NETDEV"),
	STRING(ROCEPATH_RDMA_A_DEVICE_DRIVER, "driver", "DRIVER"),
	NAMED(ROCEPATH_RDMA_A_DEVICE_PORT_STATE, port_states, "state", "STATE"),
	NAMED(ROCEPATH_RDMA_A_DEVICE_FOLLOWS, follows, "follows", "FOLLOWS"),
	NAMED(ROCEPATH_RDMA_A_DEVICE_MOVES, moves, "moves", NULL),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_HOOKED, U8, BOOL, "hooked", NULL),
	STRING(ROCEPATH_RDMA_A_DEVICE_HOOK_REASON, "hook_reason", NULL),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_STEERING, U8, BOOL, "steering", "STEERING"),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_EXEMPT, U8, BOOL, "exempt", NULL),
	NAMED(ROCEPATH_RDMA_A_DEVICE_ON_FAILURE, rp_rdma_action_names, "on_failure", NULL),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_PROBE_INTERVAL_US, U32, US, "probe_interval_us", NULL),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_PROBES_PER_SECOND, U32, PLAIN, "probes_per_second", NULL),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_HOLDDOWN_MS, U32, MS, "holddown_ms", NULL),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_SLOW_FACTOR, U32, PLAIN, "slow_factor", NULL),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_QPS, U32, PLAIN, "qps", "QPS"),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_QPS_STEERED, U32, PLAIN, "qps_steered", "STEERED"),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_PAIRS, U32, PLAIN, "pairs", NULL),
	NUMBER(ROCEPATH_RDMA_A_DEVICE_PEERS, U32, PLAIN, "peers", NULL),
	STATS(ROCEPATH_RDMA_A_DEVICE_STATS),
};

const struct rp_set rp_rdma_device_attrs = RP_SET(device_fields);

static const struct rp_field class_fields[] = {
	NUMBER(ROCEPATH_RDMA_A_CLASS_NUMBER, U32, PLAIN, "number", NULL),
	STRING(ROCEPATH_RDMA_A_CLASS_NAME, "name", NULL),
	NUMBER(ROCEPATH_RDMA_A_CLASS_DSCP, U8, PLAIN, "dscp", NULL),
	NUMBER(ROCEPATH_RDMA_A_CLASS_SL, U8, PLAIN, "service_level", NULL),
	NUMBER(ROCEPATH_RDMA_A_CLASS_TIMEOUT, U8, PLAIN, "timeout", NULL),
	NUMBER(ROCEPATH_RDMA_A_CLASS_RETRY, U8, PLAIN, "retry", NULL),
	NAMED(ROCEPATH_RDMA_A_CLASS_ENTROPY, rp_rdma_entropy_names, "entropy", NULL),
	NAMED(ROCEPATH_RDMA_A_CLASS_ON_FAILURE, rp_rdma_action_names, "on_failure", NULL),
	NUMBER(ROCEPATH_RDMA_A_CLASS_EXEMPT, U8, BOOL, "exempt", NULL),
	NUMBER(ROCEPATH_RDMA_A_CLASS_QPS, U32, PLAIN, "qps", NULL),
};

const struct rp_set rp_rdma_class_attrs = RP_SET(class_fields);

static const struct rp_field policy_fields[] = {
	NUMBER(ROCEPATH_RDMA_A_POLICY_GENERATION, U64, PLAIN, "generation", NULL),
	NUMBER(ROCEPATH_RDMA_A_POLICY_DEFAULT_CLASS, U32, PLAIN, "default_class", NULL),
	NUMBER(ROCEPATH_RDMA_A_POLICY_CLASSES, U32, PLAIN, "classes", NULL),
	NUMBER(ROCEPATH_RDMA_A_POLICY_RULES, U32, PLAIN, "rules", NULL),
};

const struct rp_set rp_rdma_policy_attrs = RP_SET(policy_fields);

static const struct rp_field plan_fields[] = {
	STRING(ROCEPATH_RDMA_A_PLAN_DEVICE, "device", "DEVICE"),
	ADDRESS(ROCEPATH_RDMA_A_PLAN_LOCAL, 16, "local", "LOCAL"),
	ADDRESS(ROCEPATH_RDMA_A_PLAN_REMOTE, 16, "remote", "PEER"),
	NAMED(ROCEPATH_RDMA_A_PLAN_KIND, plan_kinds, "kind", "BY"),
	NUMBER(ROCEPATH_RDMA_A_PLAN_EV, U32, PLAIN, "ev", "EV"),
	NUMBER(ROCEPATH_RDMA_A_PLAN_PATH, U32, PLAIN, "path", "PATH"),
	NUMBER(ROCEPATH_RDMA_A_PLAN_WEIGHT, U32, PLAIN, "weight", "WEIGHT"),
	NUMBER(ROCEPATH_RDMA_A_PLAN_QPS, U32, PLAIN, "qps", "QPS"),
};

const struct rp_set rp_rdma_plan_attrs = RP_SET(plan_fields);

static const struct rp_field qp_fields[] = {
	STRING(ROCEPATH_RDMA_A_QP_DEVICE, "device", "DEVICE"),
	NUMBER(ROCEPATH_RDMA_A_QP_PORT, U32, PLAIN, "port", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_QPN, U32, PLAIN, "qpn", "QPN"),
	NAMED(ROCEPATH_RDMA_A_QP_TYPE, qp_types, "type", "TYPE"),
	NAMED(ROCEPATH_RDMA_A_QP_STATE, qp_states, "state", "STATE"),
	ADDRESS(ROCEPATH_RDMA_A_QP_LOCAL, 16, "local", NULL),
	ADDRESS(ROCEPATH_RDMA_A_QP_REMOTE, 16, "peer", "PEER"),
	NUMBER(ROCEPATH_RDMA_A_QP_REMOTE_QPN, U32, PLAIN, "peer_qpn", "PEER-QPN"),
	STRING(ROCEPATH_RDMA_A_QP_COMM, "comm", "PROCESS"),
	NUMBER(ROCEPATH_RDMA_A_QP_PID, U32, PLAIN, "pid", "PID"),
	NUMBER(ROCEPATH_RDMA_A_QP_UID, U32, PLAIN, "uid", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_CGROUP_ID, U64, PLAIN, "cgroup_id", NULL),
	STRING(ROCEPATH_RDMA_A_QP_CGROUP, "cgroup", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_SEEN, U8, BOOL, "seen", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_STEERED, U8, BOOL, "steered", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_EXEMPT, U8, BOOL, "exempt", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_CLASS, U32, PLAIN, "class_number", NULL),
	STRING(ROCEPATH_RDMA_A_QP_CLASS_NAME, "class", "CLASS"),
	STRING(ROCEPATH_RDMA_A_QP_RULE, "rule", NULL),
	NAMED(ROCEPATH_RDMA_A_QP_ON_FAILURE, rp_rdma_action_names, "on_failure", NULL),
	NAMED(ROCEPATH_RDMA_A_QP_ENTROPY, rp_rdma_entropy_names, "entropy", "ENTROPY"),
	NUMBER(ROCEPATH_RDMA_A_QP_EV, U32, PLAIN, "ev", "EV"),
	NUMBER(ROCEPATH_RDMA_A_QP_PATH, U32, PLAIN, "path", "PATH"),
	NAMED(ROCEPATH_RDMA_A_QP_PATH_STATE, path_states, "path_state", "HEALTH"),
	NUMBER(ROCEPATH_RDMA_A_QP_FLOW_LABEL_ASKED, U32, PLAIN, "flow_label_asked", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_FLOW_LABEL, U32, PLAIN, "flow_label", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_TRAFFIC_CLASS_ASKED, U8, PLAIN, "traffic_class_asked", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_TRAFFIC_CLASS, U8, PLAIN, "traffic_class", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_SL_ASKED, U8, PLAIN, "service_level_asked", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_SL, U8, PLAIN, "service_level", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_TIMEOUT_ASKED, U8, PLAIN, "timeout_asked", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_TIMEOUT, U8, PLAIN, "timeout", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_RETRY_ASKED, U8, PLAIN, "retry_asked", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_RETRY, U8, PLAIN, "retry", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_MOVES, U32, PLAIN, "moves", NULL),
	NUMBER(ROCEPATH_RDMA_A_QP_RESULT, U32, PLAIN, "result", NULL),
};

const struct rp_set rp_rdma_qp_attrs = RP_SET(qp_fields);

static const struct rp_field path_fields[] = {
	STRING(ROCEPATH_RDMA_A_PATH_DEVICE, "device", "DEVICE"),
	ADDRESS(ROCEPATH_RDMA_A_PATH_LOCAL, 16, "local", NULL),
	ADDRESS(ROCEPATH_RDMA_A_PATH_REMOTE, 16, "peer", "PEER"),
	NUMBER(ROCEPATH_RDMA_A_PATH_EV, U32, PLAIN, "ev", "EV"),
	NAMED(ROCEPATH_RDMA_A_PATH_STATE, path_states, "state", "STATE"),
	NAMED(ROCEPATH_RDMA_A_PATH_REASON, path_reasons, "reason", "REASON"),
	NUMBER(ROCEPATH_RDMA_A_PATH_SINCE_MS, U64, AGE, "since_ms", "SINCE"),
	NUMBER(ROCEPATH_RDMA_A_PATH_RTT_US, U32, US, "rtt_us", "RTT"),
	NUMBER(ROCEPATH_RDMA_A_PATH_LOSS_PPM, U32, PPM, "loss_ppm", "LOSS"),
	NUMBER(ROCEPATH_RDMA_A_PATH_SENT, U64, PLAIN, "sent", "SENT"),
	NUMBER(ROCEPATH_RDMA_A_PATH_ANSWERED, U64, PLAIN, "answered", "ANSWERED"),
	NUMBER(ROCEPATH_RDMA_A_PATH_FAILS, U32, PLAIN, "fails", "FAILS"),
	NUMBER(ROCEPATH_RDMA_A_PATH_QPS, U32, PLAIN, "qps", "QPS"),
};

const struct rp_set rp_rdma_path_attrs = RP_SET(path_fields);

static const struct rp_field peer_fields[] = {
	STRING(ROCEPATH_RDMA_A_PEER_DEVICE, "device", "DEVICE"),
	ADDRESS(ROCEPATH_RDMA_A_PEER_LOCAL, 16, "local", NULL),
	ADDRESS(ROCEPATH_RDMA_A_PEER_REMOTE, 16, "address", "PEER"),
	NAMED(ROCEPATH_RDMA_A_PEER_STATE, peer_states, "state", "STATE"),
	STRING(ROCEPATH_RDMA_A_PEER_REASON, "reason", "REASON"),
	NUMBER(ROCEPATH_RDMA_A_PEER_INSTANCE, U64, INSTANCE, "instance", NULL),
	NUMBER(ROCEPATH_RDMA_A_PEER_KEY_ID, U8, PLAIN, "key_id", "KEY"),
	NUMBER(ROCEPATH_RDMA_A_PEER_HELLO_AGE_MS, U64, AGE, "hello_age_ms", "HELLO"),
	NUMBER(ROCEPATH_RDMA_A_PEER_EVS, U32, PLAIN, "evs", "EVS"),
};

const struct rp_set rp_rdma_peer_attrs = RP_SET(peer_fields);

static const struct rp_field key_fields[] = {
	NUMBER(ROCEPATH_RDMA_A_KEY_ID, U8, PLAIN, "id", "ID"),
	NUMBER(ROCEPATH_RDMA_A_KEY_ACTIVE, U8, BOOL, "active", "ACTIVE"),
};

const struct rp_set rp_rdma_key_attrs = RP_SET(key_fields);

/* of its QPs only the last is found in this way: they are read one by one */
static const struct rp_field event_fields[] = {
	NAMED(ROCEPATH_RDMA_A_EVENT_TYPE, events, "type", NULL),
	NUMBER(ROCEPATH_RDMA_A_EVENT_NUMBER, U32, PLAIN, "number", NULL),
	NUMBER(ROCEPATH_RDMA_A_EVENT_MORE, U8, BOOL, "more", NULL),
	STRING(ROCEPATH_RDMA_A_EVENT_DEVICE, "device", NULL),
	NUMBER(ROCEPATH_RDMA_A_EVENT_PORT, U32, PLAIN, "port", NULL),
	ADDRESS(ROCEPATH_RDMA_A_EVENT_LOCAL, 16, "local", NULL),
	ADDRESS(ROCEPATH_RDMA_A_EVENT_REMOTE, 16, "peer", NULL),
	NUMBER(ROCEPATH_RDMA_A_EVENT_EV, U32, PLAIN, "ev", NULL),
	NUMBER(ROCEPATH_RDMA_A_EVENT_PATH, U32, PLAIN, "path", NULL),
	STRING(ROCEPATH_RDMA_A_EVENT_REASON, "reason", NULL),
	NUMBER(ROCEPATH_RDMA_A_EVENT_TIME_NS, U64, PLAIN, "time_ns", NULL),
	NUMBER(ROCEPATH_RDMA_A_EVENT_TOOK_US, U32, US, "took_us", NULL),
	NUMBER(ROCEPATH_RDMA_A_EVENT_RTT_US, U32, US, "rtt_us", NULL),
	NUMBER(ROCEPATH_RDMA_A_EVENT_QPS, U32, PLAIN, "qps", NULL),
	NESTED(ROCEPATH_RDMA_A_EVENT_QP, rp_rdma_qp_attrs, "qp", NULL),
};

const struct rp_set rp_rdma_event_attrs = RP_SET(event_fields);
