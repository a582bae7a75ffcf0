// SPDX-License-Identifier: GPL-2.0
/*
 * The attribute sets of the family "rocepath". Keys of JSON are the names of the
 * attributes; a key that ends in a unit is a number of that unit.
 */
#include "sets.h"

const char *const rp_entropy_names[] = {
	[ROCEPATH_ENTROPY_SPORT] = "sport",
	[ROCEPATH_ENTROPY_FLOWLABEL] = "flowlabel",
	[ROCEPATH_ENTROPY_KEEP] = "keep",
	NULL	/* the grammar has it as choices */
};

const char *const rp_port_state_names[] = {
	[ROCEPATH_PORT_UP] = "up",
	[ROCEPATH_PORT_HOLDDOWN] = "holddown",
	[ROCEPATH_PORT_DOWN] = "down",
};

const char *const rp_peer_state_names[] = {
	[ROCEPATH_PEER_PLAIN] = "plain",
	[ROCEPATH_PEER_CAPABLE] = "capable",
	[ROCEPATH_PEER_LOST] = "lost",
};

const char *const rp_path_state_names[] = {
	[ROCEPATH_PATH_UP] = "up",
	[ROCEPATH_PATH_SUSPECT] = "suspect",
	[ROCEPATH_PATH_DOWN] = "down",
	[ROCEPATH_PATH_PROBATION] = "probation",
};

const char *const rp_path_reason_names[] = {
	[ROCEPATH_REASON_NEW] = "new",
	[ROCEPATH_REASON_CARRIER] = "carrier",
	[ROCEPATH_REASON_SILENT] = "silent",
	[ROCEPATH_REASON_LOSS] = "loss",
	[ROCEPATH_REASON_PROBE_LOST] = "probe-lost",
	[ROCEPATH_REASON_HEARD] = "heard",
	[ROCEPATH_REASON_HOLDDOWN_OVER] = "holddown-over",
	[ROCEPATH_REASON_PROBES_ANSWERED] = "probes-answered",
};

const char *const rp_event_names[] = {
	[ROCEPATH_EVENT_PORT_DOWN] = "port-down",
	[ROCEPATH_EVENT_PORT_UP] = "port-up",
	[ROCEPATH_EVENT_PORT_HOLDDOWN] = "port-holddown",
	[ROCEPATH_EVENT_PEER_HELLO] = "peer-hello",
	[ROCEPATH_EVENT_PEER_LOST] = "peer-lost",
	[ROCEPATH_EVENT_PEER_RESTART] = "peer-restart",
	[ROCEPATH_EVENT_CAP_HIT] = "cap-hit",
	[ROCEPATH_EVENT_PATH_DOWN] = "path-down",
	[ROCEPATH_EVENT_PATH_PROBATION] = "path-probation",
	[ROCEPATH_EVENT_PATH_UP] = "path-up",
	[ROCEPATH_EVENT_HOP] = "hop",
};

const char *const rp_qp_type_names[] = {
	[ROCEPATH_QP_RC] = "rc",
	[ROCEPATH_QP_UC] = "uc",
};

static const struct rp_field stat_fields[] = {
	STRING(ROCEPATH_A_STAT_NAME, "name", "COUNTER"),
	NUMBER(ROCEPATH_A_STAT_VALUE, U64, PLAIN, "value", "VALUE"),
};

const struct rp_set rp_stat_attrs = RP_SET(stat_fields);

static const struct rp_field window_fields[] = {
	NUMBER(ROCEPATH_A_WINDOW_EXPECTED, U32, PLAIN, "expected", NULL),
	NUMBER(ROCEPATH_A_WINDOW_HELD, U32, PLAIN, "held", "HELD"),
	NUMBER(ROCEPATH_A_WINDOW_HELD_BYTES, U32, BYTES, "held_bytes", NULL),
	NUMBER(ROCEPATH_A_WINDOW_HELD_MAX, U32, PLAIN, "held_max", NULL),
	NUMBER(ROCEPATH_A_WINDOW_HELD_TOTAL, U64, PLAIN, "held_total", NULL),
	NUMBER(ROCEPATH_A_WINDOW_GAP_TIMEOUT_US, U32, US, "gap_timeout_us", NULL),
	NUMBER(ROCEPATH_A_WINDOW_GAPS_FILLED, U64, PLAIN, "gaps_filled", "FILLED"),
	NUMBER(ROCEPATH_A_WINDOW_GAPS_EXPIRED, U64, PLAIN, "gaps_expired", "EXPIRED"),
	NUMBER(ROCEPATH_A_WINDOW_REWINDS, U64, PLAIN, "rewinds", NULL),
};

const struct rp_set rp_window_attrs = RP_SET(window_fields);

static const struct rp_field queue_fields[] = {
	NUMBER(ROCEPATH_A_QUEUE_PACKETS, U32, PLAIN, "kept", "KEPT"),
	NUMBER(ROCEPATH_A_QUEUE_BYTES, U32, BYTES, "kept_bytes", NULL),
	NUMBER(ROCEPATH_A_QUEUE_KEPT, U64, PLAIN, "kept_total", NULL),
	NUMBER(ROCEPATH_A_QUEUE_REPAIRED, U64, PLAIN, "repaired", "REPAIRED"),
	NUMBER(ROCEPATH_A_QUEUE_GIVEN_UP, U64, PLAIN, "given_up", NULL),
	NUMBER(ROCEPATH_A_QUEUE_LET_GO, U64, PLAIN, "let_go", NULL),
	NUMBER(ROCEPATH_A_QUEUE_REWOUND, U64, PLAIN, "rewound", NULL),
};

const struct rp_set rp_queue_attrs = RP_SET(queue_fields);

static const struct rp_field device_fields[] = {
	NUMBER(ROCEPATH_A_DEVICE_IFINDEX, U32, PLAIN, "ifindex", NULL),
	STRING(ROCEPATH_A_DEVICE_NAME, "name", "DEVICE"),
	STRING(ROCEPATH_A_DEVICE_SCHEDULER, "scheduler", "SCHEDULER"),
	NAMED(ROCEPATH_A_DEVICE_ENTROPY, rp_entropy_names, "entropy", "ENTROPY"),
	NUMBER(ROCEPATH_A_DEVICE_EVS, U32, PLAIN, "evs", "EVS"),
	NUMBER(ROCEPATH_A_DEVICE_GAP_TIMEOUT_US, U32, US_AUTO, "gap_timeout_us", NULL),
	NUMBER(ROCEPATH_A_DEVICE_GAP_FLOOR_US, U32, US, "gap_floor_us", NULL),
	NUMBER(ROCEPATH_A_DEVICE_GAP_CEILING_US, U32, US, "gap_ceiling_us", NULL),
	NUMBER(ROCEPATH_A_DEVICE_REORDER_DEPTH, U32, PLAIN, "reorder_depth", NULL),
	NUMBER(ROCEPATH_A_DEVICE_REORDER_FLOW_BYTES, U32, BYTES, "reorder_flow_bytes", NULL),
	NUMBER(ROCEPATH_A_DEVICE_REORDER_BYTES, U32, BYTES, "reorder_bytes", NULL),
	NUMBER(ROCEPATH_A_DEVICE_PEERS_MAX, U32, PLAIN, "peers_max", NULL),
	NUMBER(ROCEPATH_A_DEVICE_HELLO_INTERVAL_MS, U32, MS, "hello_interval_ms", NULL),
	NUMBER(ROCEPATH_A_DEVICE_HOLDDOWN_MS, U32, MS, "holddown_ms", NULL),
	NUMBER(ROCEPATH_A_DEVICE_HOLDDOWN_MAX_MS, U32, MS, "holddown_max_ms", NULL),
	NUMBER(ROCEPATH_A_DEVICE_MARK_MASK, U32, MASK, "mark_mask", NULL),
	NUMBER(ROCEPATH_A_DEVICE_REPORT_INTERVAL_US, U32, US, "report_interval_us", NULL),
	NUMBER(ROCEPATH_A_DEVICE_REPAIR_DEPTH, U32, PLAIN, "repair_depth", NULL),
	NUMBER(ROCEPATH_A_DEVICE_REPAIR_FLOW_BYTES, U32, BYTES, "repair_flow_bytes", NULL),
	NUMBER(ROCEPATH_A_DEVICE_REPAIR_BYTES, U32, BYTES, "repair_bytes", NULL),
	NUMBER(ROCEPATH_A_DEVICE_LOSS_PPM, U32, PPM_NEVER, "loss_threshold_ppm", NULL),
	NUMBER(ROCEPATH_A_DEVICE_PROBE_INTERVAL_MS, U32, MS_NEVER, "probe_interval_ms", NULL),
	NUMBER(ROCEPATH_A_DEVICE_PROBES_PER_SECOND, U32, PLAIN, "probes_per_second", NULL),
	NUMBER(ROCEPATH_A_DEVICE_PORTS, U32, PLAIN, "ports", "PORTS"),
	NUMBER(ROCEPATH_A_DEVICE_PORTS_UP, U32, PLAIN, "ports_up", "UP"),
	NUMBER(ROCEPATH_A_DEVICE_PEERS, U32, PLAIN, "peers", "PEERS"),
	NUMBER(ROCEPATH_A_DEVICE_FLOWS, U32, PLAIN, "flows", "FLOWS"),
	NUMBER(ROCEPATH_A_DEVICE_HELD_BYTES, U32, BYTES, "held_bytes", "HELD"),
	NUMBER(ROCEPATH_A_DEVICE_KEPT_BYTES, U32, BYTES, "kept_bytes", "KEPT"),
	NUMBER(ROCEPATH_A_DEVICE_REORDERS, U8, BOOL, "reorders", NULL),
	NUMBER(ROCEPATH_A_DEVICE_INSTANCE, U64, INSTANCE, "instance", NULL),
	STATS(ROCEPATH_A_DEVICE_STATS),
};

const struct rp_set rp_device_attrs = RP_SET(device_fields);

static const struct rp_field port_fields[] = {
	NUMBER(ROCEPATH_A_PORT_DEVICE, U32, IFINDEX, "device", "DEVICE"),
	NUMBER(ROCEPATH_A_PORT_IFINDEX, U32, PLAIN, "ifindex", NULL),
	STRING(ROCEPATH_A_PORT_NAME, "name", "PORT"),
	NUMBER(ROCEPATH_A_PORT_INDEX, U32, PLAIN, "index", NULL),
	NAMED(ROCEPATH_A_PORT_STATE, rp_port_state_names, "state", "STATE"),
	STRING(ROCEPATH_A_PORT_REASON, "reason", "REASON"),
	NUMBER(ROCEPATH_A_PORT_WEIGHT, U32, PLAIN, "weight", "WEIGHT"),
	NUMBER(ROCEPATH_A_PORT_SINCE_MS, U64, AGE, "since_ms", "SINCE"),
	NUMBER(ROCEPATH_A_PORT_HOLDDOWN_LEFT_MS, U32, MS, "holddown_left_ms", NULL),
	NUMBER(ROCEPATH_A_PORT_FLAPS, U32, PLAIN, "flaps", "FLAPS"),
	NUMBER(ROCEPATH_A_PORT_SHARE, U32, PERMILLE, "share_permille", "SHARE"),
	ADDRESS(ROCEPATH_A_PORT_VIA4, 4, "via4", NULL),
	ADDRESS(ROCEPATH_A_PORT_VIA6, 16, "via6", NULL),
	STATS(ROCEPATH_A_PORT_STATS),
};

const struct rp_set rp_port_attrs = RP_SET(port_fields);

static const struct rp_field peer_fields[] = {
	NUMBER(ROCEPATH_A_PEER_DEVICE, U32, IFINDEX, "device", "DEVICE"),
	ADDRESS(ROCEPATH_A_PEER_ADDRESS, 16, "address", "PEER"),
	NAMED(ROCEPATH_A_PEER_STATE, rp_peer_state_names, "state", "STATE"),
	NUMBER(ROCEPATH_A_PEER_INSTANCE, U64, INSTANCE, "instance", NULL),
	NUMBER(ROCEPATH_A_PEER_KEY_ID, U8, PLAIN, "key_id", "KEY"),
	NUMBER(ROCEPATH_A_PEER_HELLO_AGE_MS, U64, AGE, "hello_age_ms", "HELLO"),
	NUMBER(ROCEPATH_A_PEER_RTT_US, U32, US, "rtt_us", "RTT"),
	NUMBER(ROCEPATH_A_PEER_FLOWS, U32, PLAIN, "flows", "FLOWS"),
	NUMBER(ROCEPATH_A_PEER_RESTARTS, U32, PLAIN, "restarts", "RESTARTS"),
	NUMBER(ROCEPATH_A_PEER_REPORTS, U8, BOOL, "reports", "REPORTS"),
	NUMBER(ROCEPATH_A_PEER_REPORT_AGE_MS, U64, AGE, "report_age_ms", "REPORT"),
	NUMBER(ROCEPATH_A_PEER_LATENCY_US, U32, US, "latency_us", "LATENCY"),
	RATIO(ROCEPATH_A_PEER_PATHS_USABLE, U32, OUT_OF, ROCEPATH_A_PEER_PATHS, "paths_usable",
	      "PATHS"),
	NUMBER(ROCEPATH_A_PEER_PATHS, U32, PLAIN, "paths", NULL),
};

const struct rp_set rp_peer_attrs = RP_SET(peer_fields);

static const struct rp_field path_fields[] = {
	NUMBER(ROCEPATH_A_PATH_DEVICE, U32, IFINDEX, "device", "DEVICE"),
	ADDRESS(ROCEPATH_A_PATH_PEER, 16, "peer", "PEER"),
	NUMBER(ROCEPATH_A_PATH_PORT, U32, PLAIN, "port_ifindex", NULL),
	STRING(ROCEPATH_A_PATH_PORT_NAME, "port", "PORT"),
	NUMBER(ROCEPATH_A_PATH_EV, U32, PLAIN, "ev", "EV"),
	NUMBER(ROCEPATH_A_PATH_SPORT, U32, PLAIN, "sport", "SPORT"),
	NUMBER(ROCEPATH_A_PATH_FLOWLABEL, U32, HEX, "flowlabel", NULL),
	NAMED(ROCEPATH_A_PATH_STATE, rp_path_state_names, "state", "STATE"),
	NAMED(ROCEPATH_A_PATH_REASON, rp_path_reason_names, "reason", "REASON"),
	NUMBER(ROCEPATH_A_PATH_SINCE_MS, U64, AGE, "since_ms", "SINCE"),
	NUMBER(ROCEPATH_A_PATH_SHARE, U32, PPM, "share", "SHARE"),
	NUMBER(ROCEPATH_A_PATH_RTT_US, U32, US, "rtt_us", "RTT"),
	NUMBER(ROCEPATH_A_PATH_RTT_AGE_MS, U64, AGE, "rtt_age_ms", "RTT-AGE"),
	NUMBER(ROCEPATH_A_PATH_LATE_US, U32, US, "late_us", "LATE"),
	NUMBER(ROCEPATH_A_PATH_LOSS_PPM, U32, PPM, "loss_ppm", "LOSS"),
	NUMBER(ROCEPATH_A_PATH_RECEIVED, U32, PLAIN, "received", NULL),
	RATIO(ROCEPATH_A_PATH_MARKED, U32, PART, ROCEPATH_A_PATH_RECEIVED, "marked", "CE"),
	NUMBER(ROCEPATH_A_PATH_DELIVERED, U64, PLAIN, "delivered", NULL),
	NUMBER(ROCEPATH_A_PATH_LOST, U64, PLAIN, "lost", NULL),
	NUMBER(ROCEPATH_A_PATH_FAILS, U32, PLAIN, "fails", "FAILS"),
};

const struct rp_set rp_path_attrs = RP_SET(path_fields);

static const struct rp_field flow_fields[] = {
	NUMBER(ROCEPATH_A_FLOW_DEVICE, U32, IFINDEX, "device", "DEVICE"),
	ADDRESS(ROCEPATH_A_FLOW_PEER, 16, "peer", "PEER"),
	NUMBER(ROCEPATH_A_FLOW_LOCAL_QPN, U32, PLAIN, "local_qpn", "QPN"),
	NUMBER(ROCEPATH_A_FLOW_REMOTE_QPN, U32, PLAIN, "remote_qpn", "PEER-QPN"),
	NAMED(ROCEPATH_A_FLOW_QP_TYPE, rp_qp_type_names, "qp_type", "TYPE"),
	NUMBER(ROCEPATH_A_FLOW_PATH_MTU, U32, PLAIN, "path_mtu", "MTU"),
	NUMBER(ROCEPATH_A_FLOW_TX_PACKETS, U64, PLAIN, "tx_packets", "SENT"),
	NUMBER(ROCEPATH_A_FLOW_TX_BYTES, U64, PLAIN, "tx_bytes", NULL),
	NUMBER(ROCEPATH_A_FLOW_TX_SPRAYED, U64, PLAIN, "tx_sprayed", "SPRAYED"),
	NESTED(ROCEPATH_A_FLOW_REQUESTS, rp_window_attrs, "requests", "REQ"),
	NESTED(ROCEPATH_A_FLOW_RESPONSES, rp_window_attrs, "responses", "RSP"),
	NESTED(ROCEPATH_A_FLOW_SENT_REQUESTS, rp_queue_attrs, "sent_requests", "REQ"),
	NESTED(ROCEPATH_A_FLOW_SENT_RESPONSES, rp_queue_attrs, "sent_responses", "RSP"),
};

const struct rp_set rp_flow_attrs = RP_SET(flow_fields);

static const struct rp_field key_fields[] = {
	NUMBER(ROCEPATH_A_KEY_DEVICE, U32, IFINDEX, "device", "DEVICE"),
	NUMBER(ROCEPATH_A_KEY_ID, U8, PLAIN, "id", "ID"),
	NUMBER(ROCEPATH_A_KEY_ACTIVE, U8, BOOL, "active", "ACTIVE"),
};

const struct rp_set rp_key_attrs = RP_SET(key_fields);

static const struct rp_field class_fields[] = {
	NUMBER(ROCEPATH_A_CLASS_DEVICE, U32, IFINDEX, "device", "DEVICE"),
	NUMBER(ROCEPATH_A_CLASS_ID, U32, PLAIN, "id", "CLASS"),
	STRING(ROCEPATH_A_CLASS_SCHEDULER, "scheduler", "SCHEDULER"),
};

const struct rp_set rp_class_attrs = RP_SET(class_fields);

static const struct rp_field event_fields[] = {
	NAMED(ROCEPATH_A_EVENT_TYPE, rp_event_names, "type", NULL),
	NUMBER(ROCEPATH_A_EVENT_DEVICE, U32, PLAIN, "device_ifindex", NULL),
	STRING(ROCEPATH_A_EVENT_DEVICE_NAME, "device", NULL),
	NUMBER(ROCEPATH_A_EVENT_PORT, U32, PLAIN, "port_ifindex", NULL),
	STRING(ROCEPATH_A_EVENT_PORT_NAME, "port", NULL),
	ADDRESS(ROCEPATH_A_EVENT_PEER, 16, "peer", NULL),
	STRING(ROCEPATH_A_EVENT_REASON, "reason", NULL),
	NUMBER(ROCEPATH_A_EVENT_TIME_NS, U64, PLAIN, "time_ns", NULL),
	NUMBER(ROCEPATH_A_EVENT_EV, U32, PLAIN, "ev", NULL),
	NUMBER(ROCEPATH_A_EVENT_TOOK_US, U32, US, "took_us", NULL),
	ADDRESS(ROCEPATH_A_EVENT_HOP, 16, "hop", NULL),
	NUMBER(ROCEPATH_A_EVENT_HOPS, U32, PLAIN, "hops", NULL),
	NUMBER(ROCEPATH_A_EVENT_COOKIE, U32, PLAIN, "cookie", NULL),
	NUMBER(ROCEPATH_A_EVENT_RTT_US, U32, US, "rtt_us", NULL),
};

const struct rp_set rp_event_attrs = RP_SET(event_fields);
