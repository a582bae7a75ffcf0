// SPDX-License-Identifier: GPL-2.0
#include "model.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SCHEMA(w, table, type) \
	{ .what = w, .keys = table, .count = COUNT(table), .size = sizeof(type) }
#define U32 UINT32_MAX
#define MAX_RATE 500000000000ull	/* 4 Tbit/s */
#define MAX_BURST (256u << 20)
#define MAX_MESSAGE (1ull << 31)	/* of InfiniBand */
#define MAX_GAP_US 10000000
#define MAX_HOLDDOWN_MS 3600000
#define MAX_REPORT_US 1000000
#define MAX_PROBE_MS 3600000
#define MAX_DCQCN_US 1000000
#define MAX_TIMEOUT_US 8796093022ull	/* 4.096 us times 2^31 */
#define MAX_PROBE_US 3600000000ull
#define MAX_SERVICE_LEVEL 7
#define MAX_RETRY 7

static const char *const schedulers[] = { "flow", "flowlet", "spray", "adaptive", NULL };
static const char *const entropies[] = { "sport", "flowlabel", "keep", NULL };
/* indices are those of include/uapi/linux/rocepath_rdma.h */
static const char *const qp_entropies[] = { "asked", "plan", NULL };
static const char *const actions[] = { "notify", "move", "error", NULL };
static const char *const verdicts[] = { "pass", "drop", NULL };
/* indices are those of include/rocepath/policy.h */
static const char *const qp_types[] = { "smi", "gsi", "rc", "uc", "ud", NULL };
static const char *const opcodes[] = {
	"send", "write", "read", "atomic", "response", "ack", "cnp", "management", "other", NULL
};

static const char *const patterns[] = {
	"unknown", "idle", "point-to-point", "ring", "tree", "all-to-all", "incast", "broadcast",
	NULL
};

#define AT(type, member) .offset = offsetof(struct type, member)
#define DSCP(type, member) .kind = RP_KIND_DSCP, AT(type, member), .max = 63
#define SWITCH(type, member, e) .kind = RP_KIND_SWITCH, AT(type, member), .example = e
#define RATE(type, member, e) \
	.kind = RP_KIND_RATE, AT(type, member), .min = 1, .max = MAX_RATE, .example = e
#define SIZE(type, member, least, most, e) \
	.kind = RP_KIND_BYTES, AT(type, member), .min = least, .max = most, .example = e
#define NUMBER(type, member, least, most, e) \
	.kind = RP_KIND_NUMBER, AT(type, member), .min = least, .max = most, .example = e
#define US(type, member, least, most, e) \
	.kind = RP_KIND_US, AT(type, member), .min = least, .max = most, .example = e
#define MS(type, member, least, most, e) \
	.kind = RP_KIND_MS, AT(type, member), .min = least, .max = most, .example = e
#define PPM(type, member, e) \
	.kind = RP_KIND_PPM, AT(type, member), .max = 1000000, .example = e
#define NAME(type, member, e) \
	.kind = RP_KIND_NAME, AT(type, member), .max = RP_SPEC_NAME_MAX, .example = e
#define INTERFACE(type, member, e) \
	.kind = RP_KIND_INTERFACE, AT(type, member), .max = 15, .example = e
#define TEXT(type, member, most, e) \
	.kind = RP_KIND_TEXT, AT(type, member), .max = most, .example = e
#define CHOICE(type, member, c, e) \
	.kind = RP_KIND_CHOICE, AT(type, member), .choices = c, .example = e
#define CHOICES(type, member, c, e) \
	.kind = RP_KIND_CHOICES, AT(type, member), .choices = c, .example = e
#define MAP(type, member, schema) .kind = RP_KIND_MAP, AT(type, member), .map = &(schema)

static const struct rp_key class_keys[] = {
	[RP_KEY_CLASS_NAME] = { "name", NAME(rp_spec_class, name, "training"), .required = true },
	[RP_KEY_CLASS_DSCP] = { "dscp", DSCP(rp_spec_class, dscp), .example = "26" },
	[RP_KEY_CLASS_ACK_DSCP] = { "ack-dscp", DSCP(rp_spec_class, ack_dscp), .example = "26" },
	[RP_KEY_CLASS_CNP_DSCP] = { "cnp-dscp", DSCP(rp_spec_class, cnp_dscp), .example = "48" },
	[RP_KEY_CLASS_MANAGEMENT_DSCP] = { "management-dscp", DSCP(rp_spec_class, management_dscp),
				       .example = "26" },
	[RP_KEY_CLASS_PCP] = { "pcp", NUMBER(rp_spec_class, pcp, 0, 7, "3") },
	[RP_KEY_CLASS_PRIORITY] = { "priority", NUMBER(rp_spec_class, priority, 0, 15, "3") },
	[RP_KEY_CLASS_ECN] = { "ecn", SWITCH(rp_spec_class, ecn, "on"), .preset = "off" },
	[RP_KEY_CLASS_RATE] = { "rate", RATE(rp_spec_class, rate, "40Gbit") },
	[RP_KEY_CLASS_BURST] = { "burst", SIZE(rp_spec_class, burst, 1, MAX_BURST, "64KiB") },
	[RP_KEY_CLASS_QP_RATE] = { "qp-rate", RATE(rp_spec_class, qp_rate, "10Gbit") },
	[RP_KEY_CLASS_QP_BURST] = { "qp-burst",
		SIZE(rp_spec_class, qp_burst, 1, MAX_BURST, "16KiB") },
	[RP_KEY_CLASS_DCQCN] = { "dcqcn", SWITCH(rp_spec_class, dcqcn, "on"), .preset = "off" },
	[RP_KEY_CLASS_SCHEDULER] = { "scheduler",
		.kind = RP_KIND_INTERFACE, AT(rp_spec_class, scheduler),
				 .max = 15, .choices = schedulers, .example = "spray" },
	[RP_KEY_CLASS_SERVICE_LEVEL] = { "service-level",
		NUMBER(rp_spec_class, service_level, 0, MAX_SERVICE_LEVEL, "3") },
	[RP_KEY_CLASS_TIMEOUT] = { "timeout", .zero = "never",
		US(rp_spec_class, timeout, 1, MAX_TIMEOUT_US, "67ms") },
	[RP_KEY_CLASS_RETRY] = { "retry", NUMBER(rp_spec_class, retry, 0, MAX_RETRY, "7") },
	[RP_KEY_CLASS_ENTROPY] = { "entropy",
		CHOICE(rp_spec_class, entropy, qp_entropies, "plan") },
	[RP_KEY_CLASS_ON_FAILURE] = { "on-failure",
		CHOICE(rp_spec_class, on_failure, actions, "move") },
	[RP_KEY_CLASS_EXEMPT] = { "exempt", SWITCH(rp_spec_class, exempt, "on") },
};

static const struct rp_schema class_schema = SCHEMA("class", class_keys, struct rp_spec_class);

static const struct rp_key match_keys[] = {
	[RP_KEY_MATCH_CGROUP] = { "cgroup", TEXT(rp_spec_match, cgroup, 127, "/slurm/*") },
	[RP_KEY_MATCH_UNIT] = { "unit", TEXT(rp_spec_match, unit, 63, "trainer@*.service") },
	[RP_KEY_MATCH_COMM] = { "comm", TEXT(rp_spec_match, comm, 15, "python3") },
	[RP_KEY_MATCH_UID] = { "uid", NUMBER(rp_spec_match, uid, 0, U32 - 1, "1000") },
	[RP_KEY_MATCH_REMOTE] = { "remote", .kind = RP_KIND_PREFIX, AT(rp_spec_match, remote),
			      .example = "10.0.0.0/16" },
	[RP_KEY_MATCH_DEVICE] = { "device", TEXT(rp_spec_match, device, 63, "rxe0") },
	[RP_KEY_MATCH_QP_TYPE] = { "qp-type", CHOICES(rp_spec_match, qp_types, qp_types, "[rc]") },
	[RP_KEY_MATCH_OPCODE] = { "opcode",
		CHOICES(rp_spec_match, opcodes, opcodes, "[write, read]") },
	[RP_KEY_MATCH_MESSAGE_MIN] = { "message-min",
				   SIZE(rp_spec_match, message_min, 0, MAX_MESSAGE, "1MiB") },
	[RP_KEY_MATCH_MESSAGE_MAX] = { "message-max",
				   SIZE(rp_spec_match, message_max, 0, MAX_MESSAGE, "4KiB") },
	[RP_KEY_MATCH_DSCP] = { "dscp", DSCP(rp_spec_match, dscp), .example = "26" },
	[RP_KEY_MATCH_PATTERN] = { "pattern",
		CHOICES(rp_spec_match, patterns, patterns, "[all-to-all]") },
};

static const struct rp_schema match_schema = SCHEMA("match", match_keys, struct rp_spec_match);

static const struct rp_key rule_keys[] = {
	[RP_KEY_RULE_NAME] = { "name", NAME(rp_spec_rule, name, "trainers"), .required = true },
	[RP_KEY_RULE_MATCH] = { "match", MAP(rp_spec_rule, match, match_schema) },
	[RP_KEY_RULE_CLASS] = { "class", NAME(rp_spec_rule, class, "training"), .required = true },
};

static const struct rp_schema rule_schema = SCHEMA("rule", rule_keys, struct rp_spec_rule);

static const struct rp_key admit_keys[] = {
	[RP_KEY_ADMIT_PEERS] = { "peers", .kind = RP_KIND_PREFIX, AT(rp_spec_admit, peers),
			     .items = RP_SPEC_PEERS_MAX, .example = "[10.0.0.0/16]" },
	[RP_KEY_ADMIT_UNKNOWN_PEER] = { "unknown-peer",
		CHOICE(rp_spec_admit, unknown_peer, verdicts, "drop") },
	[RP_KEY_ADMIT_MALFORMED] = { "malformed",
		CHOICE(rp_spec_admit, malformed, verdicts, "drop"), .preset = "drop" },
	[RP_KEY_ADMIT_UNKNOWN_QP] = { "unknown-qp",
		CHOICE(rp_spec_admit, unknown_qp, verdicts, "drop") },
	[RP_KEY_ADMIT_LOCAL_SENDER] = { "local-sender",
		CHOICE(rp_spec_admit, local_sender, verdicts, "drop"), .preset = "drop" },
};

static const struct rp_schema admit_schema = {
	.what = "admit", .keys = admit_keys, .count = COUNT(admit_keys),
	.size = sizeof(struct rp_spec_admit), .presets = true,
};

static const struct rp_key pacing_keys[] = {
	[RP_KEY_PACING_RATE] = { "rate", RATE(rp_spec_pacing, rate, "400Gbit") },
	[RP_KEY_PACING_BURST] = { "burst", SIZE(rp_spec_pacing, burst, 1, MAX_BURST, "256KiB") },
	[RP_KEY_PACING_HORIZON] = { "horizon", MS(rp_spec_pacing, horizon, 10, 60000, "8s"),
				    .preset = "8s" },
};

static const struct rp_schema pacing_schema = {
	.what = "pacing", .keys = pacing_keys, .count = COUNT(pacing_keys),
	.size = sizeof(struct rp_spec_pacing), .presets = true,
};

static const struct rp_key patterns_keys[] = {
	[RP_KEY_PATTERNS_WATCH] = { "watch", SWITCH(rp_spec_patterns, watch, "on"),
				    .preset = "on" },
	[RP_KEY_PATTERNS_WINDOW] = { "window",
		US(rp_spec_patterns, window, 1000, 60000000, "100ms"),
				     .preset = "100ms" },
};

static const struct rp_schema patterns_schema = {
	.what = "patterns", .keys = patterns_keys, .count = COUNT(patterns_keys),
	.size = sizeof(struct rp_spec_patterns), .presets = true,
};

static const struct rp_key dcqcn_keys[] = {
	[RP_KEY_DCQCN_TIME_RESET] = { "rpg_time_reset",
		US(rp_spec_dcqcn, rpg_time_reset, 1, MAX_DCQCN_US, "300us"), .preset = "300us" },
	[RP_KEY_DCQCN_BYTE_RESET] = { "rpg_byte_reset", .zero = "off",
		SIZE(rp_spec_dcqcn, rpg_byte_reset, 1, U32, "32767B"), .preset = "32767B" },
	[RP_KEY_DCQCN_THRESHOLD] = { "rpg_threshold",
		NUMBER(rp_spec_dcqcn, rpg_threshold, 1, 31, "1"), .preset = "1" },
	[RP_KEY_DCQCN_AI_RATE] = { "rpg_ai_rate",
		RATE(rp_spec_dcqcn, rpg_ai_rate, "5Mbit"), .preset = "5Mbit" },
	[RP_KEY_DCQCN_HAI_RATE] = { "rpg_hai_rate",
		RATE(rp_spec_dcqcn, rpg_hai_rate, "50Mbit"), .preset = "50Mbit" },
	[RP_KEY_DCQCN_MIN_RATE] = { "rpg_min_rate",
		RATE(rp_spec_dcqcn, rpg_min_rate, "1Mbit"), .preset = "1Mbit" },
	[RP_KEY_DCQCN_MAX_RATE] = { "rpg_max_rate",
		.zero = "auto", RATE(rp_spec_dcqcn, rpg_max_rate, "100Gbit"), .preset = "auto" },
	[RP_KEY_DCQCN_MIN_DEC_FAC] = { "rpg_min_dec_fac",
		NUMBER(rp_spec_dcqcn, rpg_min_dec_fac, 1, 100, "50"), .preset = "50" },
	[RP_KEY_DCQCN_GD] = { "rpg_gd",
		NUMBER(rp_spec_dcqcn, rpg_gd, 1, 15, "11"), .preset = "11" },
	[RP_KEY_DCQCN_TCP_G] = { "dce_tcp_g",
		NUMBER(rp_spec_dcqcn, dce_tcp_g, 1, 1023, "1019"), .preset = "1019" },
	[RP_KEY_DCQCN_TCP_RTT] = { "dce_tcp_rtt",
		US(rp_spec_dcqcn, dce_tcp_rtt, 1, MAX_DCQCN_US, "1us"), .preset = "1us" },
	[RP_KEY_DCQCN_INITIAL_ALPHA] = { "initial_alpha_value",
		NUMBER(rp_spec_dcqcn, initial_alpha_value, 1, 1023, "1023"), .preset = "1023" },
	[RP_KEY_DCQCN_REDUCE_PERIOD] = { "rate_reduce_monitor_period",
		US(rp_spec_dcqcn, rate_reduce_monitor_period, 1, MAX_DCQCN_US, "4us"),
		.preset = "4us" },
	[RP_KEY_DCQCN_FIRST_CNP_RATE] = { "rate_to_set_on_first_cnp", .zero = "keep",
		RATE(rp_spec_dcqcn, rate_to_set_on_first_cnp, "10Gbit"), .preset = "keep" },
	[RP_KEY_DCQCN_CLAMP] = { "clamp_tgt_rate",
		SWITCH(rp_spec_dcqcn, clamp_tgt_rate, "off"), .preset = "off" },
	[RP_KEY_DCQCN_CLAMP_AFTER_TIME] = { "clamp_tgt_rate_after_time_inc",
		SWITCH(rp_spec_dcqcn, clamp_tgt_rate_after_time_inc, "on"), .preset = "on" },
	[RP_KEY_DCQCN_CNP_INTERVAL] = { "min_time_between_cnps",
		US(rp_spec_dcqcn, min_time_between_cnps, 0, MAX_DCQCN_US, "4us"), .preset = "4us" },
	[RP_KEY_DCQCN_CNP_DSCP] = { "cnp_dscp",
		DSCP(rp_spec_dcqcn, cnp_dscp), .example = "48", .preset = "48" },
	[RP_KEY_DCQCN_CNP_PCP] = { "cnp_802p_prio",
		NUMBER(rp_spec_dcqcn, cnp_802p_prio, 0, 7, "6"), .preset = "6" },
};

static const struct rp_schema dcqcn_schema = {
	.what = "dcqcn", .keys = dcqcn_keys, .count = COUNT(dcqcn_keys),
	.size = sizeof(struct rp_spec_dcqcn), .presets = true,
};

static const struct rp_key paths_keys[] = {
	[RP_KEY_PATHS_PEER] = { "peer", TEXT(rp_spec_paths, peer, 63, "10.0.0.2"),
				.required = true },
	[RP_KEY_PATHS_EVS] = { "evs", TEXT(rp_spec_paths, evs, 15, "[3, 7, 16-31]"),
			       .items = RP_SPEC_EVS_MAX, .required = true },
};

static const struct rp_schema paths_schema = SCHEMA("path", paths_keys, struct rp_spec_paths);

static const struct rp_key port_keys[] = {
	[RP_KEY_PORT_NAME] = { "name", INTERFACE(rp_spec_port, name, "eth0"), .required = true },
	[RP_KEY_PORT_WEIGHT] = { "weight", NUMBER(rp_spec_port, weight, 1, 256, "1") },
	[RP_KEY_PORT_VIA] = { "via", TEXT(rp_spec_port, via, 63, "10.0.0.1"), .items = 2 },
	[RP_KEY_PORT_PATHS] = { "paths", MAP(rp_spec_port, paths, paths_schema),
				.items = RP_SPEC_PEERS_MAX },
};

static const struct rp_schema port_schema = SCHEMA("port", port_keys, struct rp_spec_port);

static const struct rp_key secret_keys[] = {
	[RP_KEY_SECRET_ID] = { "id", NUMBER(rp_spec_secret, id, 0, 255, "1"), .required = true },
	[RP_KEY_SECRET_FILE] = { "secret-file",
		TEXT(rp_spec_secret, file, 255, "/etc/rocepath/key"),
			     .required = true },
};

static const struct rp_schema secret_schema = SCHEMA("key", secret_keys, struct rp_spec_secret);

static const struct rp_key device_keys[] = {
	[RP_KEY_DEVICE_NAME] = { "name", INTERFACE(rp_spec_device, name, "rp0"), .required = true },
	[RP_KEY_DEVICE_PORTS] = { "ports", MAP(rp_spec_device, ports, port_schema), .items = 32,
			      .example = "[eth0, eth1]" },
	[RP_KEY_DEVICE_ADDRESSES] = { "addresses",
		TEXT(rp_spec_device, addresses, 63, "[10.0.0.1/24]"),
				  .items = 16 },
	[RP_KEY_DEVICE_KEY] = { "key", MAP(rp_spec_device, key, secret_schema) },
	[RP_KEY_DEVICE_SCHEDULER] = { "scheduler", .kind = RP_KIND_INTERFACE,
				  AT(rp_spec_device, scheduler), .max = 15,
				  .choices = schedulers, .example = "spray" },
	[RP_KEY_DEVICE_ENTROPY] = { "entropy",
		CHOICE(rp_spec_device, entropy, entropies, "sport") },
	[RP_KEY_DEVICE_EVS] = { "evs", NUMBER(rp_spec_device, evs, 1, 256, "16") },
	[RP_KEY_DEVICE_GAP_TIMEOUT] = { "gap-timeout", .zero = "auto",
				    US(rp_spec_device, gap_timeout, 0, MAX_GAP_US, "3ms") },
	[RP_KEY_DEVICE_GAP_FLOOR] = { "gap-floor",
				  US(rp_spec_device, gap_floor, 0, MAX_GAP_US, "1ms") },
	[RP_KEY_DEVICE_GAP_CEILING] = { "gap-ceiling",
				    US(rp_spec_device, gap_ceiling, 0, MAX_GAP_US, "50ms") },
	[RP_KEY_DEVICE_REORDER_DEPTH] = { "reorder-depth",
				      NUMBER(rp_spec_device, reorder_depth, 1, 65536, "4096") },
	[RP_KEY_DEVICE_REORDER_FLOW_BYTES] = { "reorder-flow-bytes",
		SIZE(rp_spec_device, reorder_flow_bytes, 65536, 1u << 31, "4MiB") },
	[RP_KEY_DEVICE_REORDER_BYTES] = { "reorder-bytes",
		SIZE(rp_spec_device, reorder_bytes, 65536, 1u << 31, "64MiB") },
	[RP_KEY_DEVICE_PEERS_MAX] = { "peers-max",
				  NUMBER(rp_spec_device, peers_max, 1, 65536, "4096") },
	[RP_KEY_DEVICE_HELLO_INTERVAL] = { "hello-interval",
				       MS(rp_spec_device, hello_interval, 10, 60000, "1s") },
	[RP_KEY_DEVICE_HOLDDOWN] = { "holddown",
				 MS(rp_spec_device, holddown, 0, MAX_HOLDDOWN_MS, "100ms") },
	[RP_KEY_DEVICE_HOLDDOWN_MAX] = { "holddown-max",
				     MS(rp_spec_device, holddown_max, 0, MAX_HOLDDOWN_MS, "60s") },
	[RP_KEY_DEVICE_MARK_MASK] = { "mark-mask", .zero = "none",
				  NUMBER(rp_spec_device, mark_mask, 0, U32, "0x3f00") },
	[RP_KEY_DEVICE_REPORT_INTERVAL] = { "report-interval",
		US(rp_spec_device, report_interval, 100, MAX_REPORT_US, "1ms") },
	[RP_KEY_DEVICE_REPAIR_DEPTH] = { "repair-depth",
				     NUMBER(rp_spec_device, repair_depth, 0, 65536, "4096") },
	[RP_KEY_DEVICE_REPAIR_FLOW_BYTES] = { "repair-flow-bytes",
		SIZE(rp_spec_device, repair_flow_bytes, 65536, 1u << 31, "8MiB") },
	[RP_KEY_DEVICE_REPAIR_BYTES] = { "repair-bytes",
		SIZE(rp_spec_device, repair_bytes, 65536, 1u << 31, "256MiB") },
	[RP_KEY_DEVICE_LOSS_THRESHOLD] = { "loss-threshold", .zero = "never",
				       PPM(rp_spec_device, loss_threshold, "0.5%") },
	[RP_KEY_DEVICE_PROBE_INTERVAL] = { "probe-interval", .zero = "never",
				       MS(rp_spec_device, probe_interval, 0, MAX_PROBE_MS, "1s") },
	[RP_KEY_DEVICE_PROBES_PER_SECOND] = { "probes-per-second",
		NUMBER(rp_spec_device, probes_per_second, 1, 1000000, "1000") },
};

static const struct rp_schema device_schema = SCHEMA("device", device_keys, struct rp_spec_device);

/* those of all devices, and of one */
#define STEERING(key, type) \
	[(key) + RP_KEY_RDMA_STEERING] = { "steering", SWITCH(type, set.steering, "on") }, \
	[(key) + RP_KEY_RDMA_EXEMPT] = { "exempt", SWITCH(type, set.exempt, "on") }, \
	[(key) + RP_KEY_RDMA_ON_FAILURE] = { "on-failure", \
		CHOICE(type, set.on_failure, actions, "move") }, \
	[(key) + RP_KEY_RDMA_PROBE_INTERVAL] = { "probe-interval", .zero = "never", \
		US(type, set.probe_interval, 0, MAX_PROBE_US, "10ms") }, \
	[(key) + RP_KEY_RDMA_PROBES_PER_SECOND] = { "probes-per-second", \
		NUMBER(type, set.probes_per_second, 1, 1000000, "1000") }, \
	[(key) + RP_KEY_RDMA_HOLDDOWN] = { "holddown", \
		MS(type, set.holddown, 0, MAX_HOLDDOWN_MS, "100ms") }, \
	[(key) + RP_KEY_RDMA_SLOW_FACTOR] = { "slow-factor", .zero = "never", \
		NUMBER(type, set.slow_factor, 0, 1000, "4") }

static const struct rp_key rdma_device_keys[] = {
	[RP_KEY_RDMA_DEVICE_NAME] = { "name", TEXT(rp_spec_rdma_device, name, 63, "mlx5_0"),
				      .required = true },
	STEERING(RP_KEY_RDMA_DEVICE_SETTINGS, rp_spec_rdma_device),
};

static const struct rp_schema rdma_device_schema =
	SCHEMA("RDMA device", rdma_device_keys, struct rp_spec_rdma_device);

static const struct rp_key rdma_keys[] = {
	STEERING(0, rp_spec_rdma),
	[RP_KEY_RDMA_KEY] = { "key", MAP(rp_spec_rdma, key, secret_schema) },
	[RP_KEY_RDMA_DEVICES] = { "devices", MAP(rp_spec_rdma, devices, rdma_device_schema),
				  .items = RP_SPEC_RDMA_MAX },
};

static const struct rp_schema rdma_schema = SCHEMA("rdma", rdma_keys, struct rp_spec_rdma);

static const struct rp_key policy_keys[] = {
	[RP_KEY_POLICY_VERSION] = { "version", NUMBER(rp_spec, version, 0, U32, "1"),
				    .required = true },
	[RP_KEY_POLICY_DEVICES] = { "devices", MAP(rp_spec, devices, device_schema), .items = 16 },
	[RP_KEY_POLICY_INTERFACES] = { "interfaces", INTERFACE(rp_spec, interfaces, "[eth0]"),
				   .items = 64 },
	[RP_KEY_POLICY_MARK_MASK] = { "mark-mask",
		NUMBER(rp_spec, mark_mask, 1, U32, "0x3f00"), .preset = "0x3f00" },
	[RP_KEY_POLICY_ADMIT] = { "admit", MAP(rp_spec, admit, admit_schema) },
	[RP_KEY_POLICY_PACING] = { "pacing", MAP(rp_spec, pacing, pacing_schema) },
	[RP_KEY_POLICY_DCQCN] = { "dcqcn", MAP(rp_spec, dcqcn, dcqcn_schema) },
	[RP_KEY_POLICY_PATTERNS] = { "patterns", MAP(rp_spec, patterns, patterns_schema) },
	[RP_KEY_POLICY_CLASSES] = { "classes", MAP(rp_spec, classes, class_schema),
				.items = RP_SPEC_CLASSES_MAX },
	[RP_KEY_POLICY_DEFAULT_CLASS] = { "default-class", NAME(rp_spec, default_class, "bulk") },
	[RP_KEY_POLICY_RULES] = { "rules", MAP(rp_spec, rules, rule_schema),
			      .items = RP_SPEC_RULES_MAX, .ordered = true },
	[RP_KEY_POLICY_RDMA] = { "rdma", MAP(rp_spec, rdma, rdma_schema) },
};

const struct rp_schema rp_spec_schema = SCHEMA("policy", policy_keys, struct rp_spec);

static const char *key_name(const void *entries, unsigned int i)
{
	return ((const struct rp_key *)entries)[i].name;
}

static const char *choice_name(const void *entries, unsigned int i)
{
	return ((const char *const *)entries)[i];
}

/**
 * rp_schema_words() - the keys of a mapping
 * @schema: of the mapping
 */
struct rp_words rp_schema_words(const struct rp_schema *schema)
{
	return (struct rp_words){ schema->keys, schema->count, key_name };
}

/**
 * rp_key_choices() - what may be written behind a key
 * @key: one that has choices
 */
struct rp_words rp_key_choices(const struct rp_key *key)
{
	struct rp_words words = { key->choices, 0, choice_name };

	while (key->choices[words.count])
		words.count++;
	return words;
}

/**
 * rp_kind_size() - how much room a value takes, or an item of a list
 * @key: of the value
 */
size_t rp_kind_size(const struct rp_key *key)
{
	switch (key->kind) {
	case RP_KIND_NAME:
	case RP_KIND_INTERFACE:
	case RP_KIND_TEXT:
		return sizeof(char *);
	case RP_KIND_PREFIX:
		return sizeof(struct rp_prefix);
	case RP_KIND_MAP:
		return key->map->size;
	default:
		return sizeof(uint64_t);
	}
}
