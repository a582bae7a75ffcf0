/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A spec, as it was read. Numbers are in the unit that schema.c says: bytes,
 * bytes per second, microseconds. Each struct begins with the bits of the keys
 * that were given, numbered by the enum above it.
 */
#ifndef ROCEPATH_USER_POLICY_MODEL_H
#define ROCEPATH_USER_POLICY_MODEL_H

#include "schema.h"
#include "source.h"

#define RP_SPEC_VERSION 1
#define RP_SPEC_CLASSES_MAX 64	/* the default among them */
#define RP_SPEC_RULES_MAX 256
#define RP_SPEC_SIZES_MAX 15		/* different message sizes in rules */
#define RP_SPEC_PEERS_MAX 4096
#define RP_SPEC_EVS_MAX 256
#define RP_SPEC_RDMA_MAX 64		/* RDMA devices with settings of their own */
#define RP_SPEC_NAME_MAX 31
#define RP_BURST_DEFAULT (64u << 10)
#define RP_CNP_DSCP_DEFAULT 48

enum {
	RP_VERDICT_PASS,
	RP_VERDICT_DROP,
};

enum {
	RP_KEY_CLASS_NAME,
	RP_KEY_CLASS_DSCP,
	RP_KEY_CLASS_ACK_DSCP,
	RP_KEY_CLASS_CNP_DSCP,
	RP_KEY_CLASS_MANAGEMENT_DSCP,
	RP_KEY_CLASS_PCP,
	RP_KEY_CLASS_PRIORITY,
	RP_KEY_CLASS_ECN,
	RP_KEY_CLASS_RATE,
	RP_KEY_CLASS_BURST,
	RP_KEY_CLASS_QP_RATE,
	RP_KEY_CLASS_QP_BURST,
	RP_KEY_CLASS_DCQCN,
	RP_KEY_CLASS_SCHEDULER,
	RP_KEY_CLASS_RDMA,	/* those of QPs of RDMA devices follow */
	RP_KEY_CLASS_SERVICE_LEVEL = RP_KEY_CLASS_RDMA,
	RP_KEY_CLASS_TIMEOUT,
	RP_KEY_CLASS_RETRY,
	RP_KEY_CLASS_ENTROPY,
	RP_KEY_CLASS_ON_FAILURE,
	RP_KEY_CLASS_EXEMPT,
	RP_KEY_CLASS_KEYS
};

struct rp_spec_class {
	uint64_t given;
	char *name;
	uint64_t dscp, ack_dscp, cnp_dscp, management_dscp;
	uint64_t pcp, priority;
	uint64_t ecn;
	uint64_t rate, burst, qp_rate, qp_burst;
	uint64_t dcqcn;
	char *scheduler;
	uint64_t service_level, timeout, retry;
	uint64_t entropy, on_failure, exempt;
};

enum {
	RP_KEY_MATCH_CGROUP,
	RP_KEY_MATCH_UNIT,
	RP_KEY_MATCH_COMM,
	RP_KEY_MATCH_UID,
	RP_KEY_MATCH_REMOTE,
	RP_KEY_MATCH_DEVICE,
	RP_KEY_MATCH_QP_TYPE,
	RP_KEY_MATCH_OPCODE,
	RP_KEY_MATCH_MESSAGE_MIN,
	RP_KEY_MATCH_MESSAGE_MAX,
	RP_KEY_MATCH_DSCP,
	RP_KEY_MATCH_PATTERN,
	RP_KEY_MATCH_KEYS
};

/* all that is given must match */
struct rp_spec_match {
	uint64_t given;
	char *cgroup, *unit, *comm;
	uint64_t uid;
	struct rp_prefix remote;
	char *device;
	uint64_t qp_types, opcodes;	/* bits */
	uint64_t message_min, message_max;
	uint64_t dscp;
	uint64_t patterns;		/* bits */
};

enum {
	RP_KEY_RULE_NAME,
	RP_KEY_RULE_MATCH,
	RP_KEY_RULE_CLASS,
	RP_KEY_RULE_KEYS
};

struct rp_spec_rule {
	uint64_t given;
	char *name;
	struct rp_spec_match match;
	char *class;
};

enum {
	RP_KEY_ADMIT_PEERS,
	RP_KEY_ADMIT_UNKNOWN_PEER,
	RP_KEY_ADMIT_MALFORMED,
	RP_KEY_ADMIT_UNKNOWN_QP,
	RP_KEY_ADMIT_LOCAL_SENDER,
	RP_KEY_ADMIT_KEYS
};

struct rp_spec_admit {
	uint64_t given;
	struct rp_list peers;		/* of struct rp_prefix */
	uint64_t unknown_peer, malformed, unknown_qp, local_sender;	/* 1: drop */
};

enum {
	RP_KEY_PACING_RATE,
	RP_KEY_PACING_BURST,
	RP_KEY_PACING_HORIZON,
	RP_KEY_PACING_KEYS
};

struct rp_spec_pacing {
	uint64_t given;
	uint64_t rate, burst, horizon;
};

enum {
	RP_KEY_PATTERNS_WATCH,
	RP_KEY_PATTERNS_WINDOW,
	RP_KEY_PATTERNS_COUNT
};

struct rp_spec_patterns {
	uint64_t given;
	uint64_t watch, window;
};

enum {
	RP_KEY_DCQCN_TIME_RESET,
	RP_KEY_DCQCN_BYTE_RESET,
	RP_KEY_DCQCN_THRESHOLD,
	RP_KEY_DCQCN_AI_RATE,
	RP_KEY_DCQCN_HAI_RATE,
	RP_KEY_DCQCN_MIN_RATE,
	RP_KEY_DCQCN_MAX_RATE,
	RP_KEY_DCQCN_MIN_DEC_FAC,
	RP_KEY_DCQCN_GD,
	RP_KEY_DCQCN_TCP_G,
	RP_KEY_DCQCN_TCP_RTT,
	RP_KEY_DCQCN_INITIAL_ALPHA,
	RP_KEY_DCQCN_REDUCE_PERIOD,
	RP_KEY_DCQCN_FIRST_CNP_RATE,
	RP_KEY_DCQCN_CLAMP,
	RP_KEY_DCQCN_CLAMP_AFTER_TIME,
	RP_KEY_DCQCN_CNP_INTERVAL,
	RP_KEY_DCQCN_CNP_DSCP,
	RP_KEY_DCQCN_CNP_PCP,
	RP_KEY_DCQCN_KEYS
};

/* as mlx5 calls them */
struct rp_spec_dcqcn {
	uint64_t given;
	uint64_t rpg_time_reset, rpg_byte_reset, rpg_threshold;
	uint64_t rpg_ai_rate, rpg_hai_rate, rpg_min_rate, rpg_max_rate;
	uint64_t rpg_min_dec_fac, rpg_gd;
	uint64_t dce_tcp_g, dce_tcp_rtt;
	uint64_t initial_alpha_value, rate_reduce_monitor_period, rate_to_set_on_first_cnp;
	uint64_t clamp_tgt_rate, clamp_tgt_rate_after_time_inc;
	uint64_t min_time_between_cnps, cnp_dscp, cnp_802p_prio;
};

enum {
	RP_KEY_PATHS_PEER,
	RP_KEY_PATHS_EVS,
	RP_KEY_PATHS_KEYS
};

/* of a port, towards a peer */
struct rp_spec_paths {
	uint64_t given;
	char *peer;
	struct rp_list evs;		/* of char *: N or N-M */
};

enum {
	RP_KEY_PORT_NAME,
	RP_KEY_PORT_WEIGHT,
	RP_KEY_PORT_VIA,
	RP_KEY_PORT_PATHS,
	RP_KEY_PORT_KEYS
};

struct rp_spec_port {
	uint64_t given;
	char *name;
	uint64_t weight;
	struct rp_list via;		/* of char *: one IPv4, one IPv6 */
	struct rp_list paths;		/* of struct rp_spec_paths */
};

enum {
	RP_KEY_SECRET_ID,
	RP_KEY_SECRET_FILE,
	RP_KEY_SECRET_KEYS
};

struct rp_spec_secret {
	uint64_t given;
	uint64_t id;
	char *file;
};

enum {
	RP_KEY_DEVICE_NAME,
	RP_KEY_DEVICE_PORTS,
	RP_KEY_DEVICE_ADDRESSES,
	RP_KEY_DEVICE_KEY,
	RP_KEY_DEVICE_SETTINGS,	/* those of `rocepath device set` follow, by the same names */
	RP_KEY_DEVICE_SCHEDULER = RP_KEY_DEVICE_SETTINGS,
	RP_KEY_DEVICE_ENTROPY,
	RP_KEY_DEVICE_EVS,
	RP_KEY_DEVICE_GAP_TIMEOUT,
	RP_KEY_DEVICE_GAP_FLOOR,
	RP_KEY_DEVICE_GAP_CEILING,
	RP_KEY_DEVICE_REORDER_DEPTH,
	RP_KEY_DEVICE_REORDER_FLOW_BYTES,
	RP_KEY_DEVICE_REORDER_BYTES,
	RP_KEY_DEVICE_PEERS_MAX,
	RP_KEY_DEVICE_HELLO_INTERVAL,
	RP_KEY_DEVICE_HOLDDOWN,
	RP_KEY_DEVICE_HOLDDOWN_MAX,
	RP_KEY_DEVICE_MARK_MASK,
	RP_KEY_DEVICE_REPORT_INTERVAL,
	RP_KEY_DEVICE_REPAIR_DEPTH,
	RP_KEY_DEVICE_REPAIR_FLOW_BYTES,
	RP_KEY_DEVICE_REPAIR_BYTES,
	RP_KEY_DEVICE_LOSS_THRESHOLD,
	RP_KEY_DEVICE_PROBE_INTERVAL,
	RP_KEY_DEVICE_PROBES_PER_SECOND,
	RP_KEY_DEVICE_KEYS
};

struct rp_spec_device {
	uint64_t given;
	char *name;
	struct rp_list ports;		/* of struct rp_spec_port */
	struct rp_list addresses;	/* of char *: ADDRESS/LENGTH */
	struct rp_spec_secret key;
	char *scheduler;
	uint64_t entropy, evs;
	uint64_t gap_timeout, gap_floor, gap_ceiling;
	uint64_t reorder_depth, reorder_flow_bytes, reorder_bytes, peers_max;
	uint64_t hello_interval, holddown, holddown_max;
	uint64_t mark_mask;
	uint64_t report_interval;
	uint64_t repair_depth, repair_flow_bytes, repair_bytes;
	uint64_t loss_threshold, probe_interval, probes_per_second;
};

enum {
	RP_KEY_RDMA_STEERING,	/* settings are those of `rocepath rdma set`, by the same names */
	RP_KEY_RDMA_EXEMPT,
	RP_KEY_RDMA_ON_FAILURE,
	RP_KEY_RDMA_PROBE_INTERVAL,
	RP_KEY_RDMA_PROBES_PER_SECOND,
	RP_KEY_RDMA_HOLDDOWN,
	RP_KEY_RDMA_SLOW_FACTOR,
	RP_KEY_RDMA_SETTINGS,
	RP_KEY_RDMA_KEY = RP_KEY_RDMA_SETTINGS,
	RP_KEY_RDMA_DEVICES,
	RP_KEY_RDMA_KEYS
};

struct rp_spec_steering {
	uint64_t steering, exempt, on_failure;
	uint64_t probe_interval, probes_per_second, holddown, slow_factor;
};

/**
 * struct rp_spec_rdma - what holds for all RDMA devices
 * @set: settings
 * @key: of the host
 * @devices: of struct rp_spec_rdma_device: those for which something else holds
 */
struct rp_spec_rdma {
	uint64_t given;
	struct rp_spec_steering set;
	struct rp_spec_secret key;
	struct rp_list devices;
};

enum {
	RP_KEY_RDMA_DEVICE_NAME,
	RP_KEY_RDMA_DEVICE_SETTINGS,	/* in the order of those of all */
	RP_KEY_RDMA_DEVICE_KEYS = RP_KEY_RDMA_DEVICE_SETTINGS + RP_KEY_RDMA_SETTINGS
};

struct rp_spec_rdma_device {
	uint64_t given;
	char *name;
	struct rp_spec_steering set;
};

enum {
	RP_KEY_POLICY_VERSION,
	RP_KEY_POLICY_DEVICES,
	RP_KEY_POLICY_INTERFACES,
	RP_KEY_POLICY_MARK_MASK,
	RP_KEY_POLICY_ADMIT,
	RP_KEY_POLICY_PACING,
	RP_KEY_POLICY_DCQCN,
	RP_KEY_POLICY_PATTERNS,
	RP_KEY_POLICY_CLASSES,
	RP_KEY_POLICY_DEFAULT_CLASS,
	RP_KEY_POLICY_RULES,
	RP_KEY_POLICY_RDMA,
	RP_KEY_POLICY_KEYS
};

/**
 * struct rp_spec - what one or several files say together
 * @devices: of struct rp_spec_device
 * @interfaces: of char *: netdevices beside the devices; '*' and '?' match
 * @classes: of struct rp_spec_class
 * @rules: of struct rp_spec_rule, the first that matches wins
 * @rdma: RDMA devices whose data passes the kernel by
 * @sources: the files
 * @marks: where each value stands, see rp_spec_mark()
 * @pool: all memory of the model
 */
struct rp_spec {
	uint64_t given;
	uint64_t version;
	struct rp_list devices;
	struct rp_list interfaces;
	uint64_t mark_mask;
	struct rp_spec_admit admit;
	struct rp_spec_pacing pacing;
	struct rp_spec_dcqcn dcqcn;
	struct rp_spec_patterns patterns;
	struct rp_list classes;
	char *default_class;
	struct rp_list rules;
	struct rp_spec_rdma rdma;

	struct rp_source *sources;
	struct rp_place *marks;
	unsigned int mark_count, mark_room;
	struct rp_pool *pool;
};

struct rp_spec *rp_spec_new(void);
void rp_spec_release(struct rp_spec *spec);
void *rp_spec_alloc(struct rp_spec *spec, size_t size);
char *rp_spec_text(struct rp_spec *spec, const char *text);

void rp_spec_place(struct rp_spec *spec, const void *value, const struct rp_mark *mark);
const struct rp_mark *rp_spec_mark(const struct rp_spec *spec, const void *value);

int rp_spec_class_index(const struct rp_spec *spec, const char *name);
const char *rp_spec_default(const struct rp_spec *spec);

int rp_spec_read(struct rp_spec *spec, struct rp_source *source, struct rp_report *report);
void rp_spec_check(const struct rp_spec *spec, struct rp_report *report);
void rp_spec_warn(const struct rp_spec *spec, struct rp_report *report);
void rp_spec_fill(struct rp_spec *spec);
void rp_spec_print(const struct rp_spec *spec, FILE *out);
int rp_spec_diff(const struct rp_spec *before, const struct rp_spec *after, FILE *out);

static inline struct rp_spec_class *rp_spec_class_at(const struct rp_spec *spec, unsigned int i)
{
	return (struct rp_spec_class *)spec->classes.items + i;
}

static inline struct rp_spec_rule *rp_spec_rule_at(const struct rp_spec *spec, unsigned int i)
{
	return (struct rp_spec_rule *)spec->rules.items + i;
}

static inline struct rp_spec_rdma_device *rp_spec_rdma_at(const struct rp_spec *spec,
							  unsigned int i)
{
	return (struct rp_spec_rdma_device *)spec->rdma.devices.items + i;
}

static inline struct rp_spec_device *rp_spec_device_at(const struct rp_spec *spec, unsigned int i)
{
	return (struct rp_spec_device *)spec->devices.items + i;
}

#endif /* ROCEPATH_USER_POLICY_MODEL_H */
