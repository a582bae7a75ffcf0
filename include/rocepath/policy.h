/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the maps hold: the policy that programs see, and what they know and count.
 * Shared by bpf/ and the tool.
 *
 *   policy        array of maps, 1: the inner array's one entry is a struct rp_policy
 *   peers4 peers6 the allow list, for each generation of the policy: struct rp_peer
 *   peer_cache    per CPU: what it said last of an address
 *   qps           the census: struct rp_qp_key -> struct rp_qp
 *   qp_tx         what a packet that leaves finds: struct rp_wire_qp -> struct rp_qp_tx
 *   qp_rx         what a packet that arrives finds: struct rp_wire_qp -> struct rp_qp_rx
 *   jobs          by index: struct rp_job;  job_index: cgroup id -> index
 *   pacers        by class, the last one is for all: struct rp_pacer
 *   class_counters, rule_counters      per CPU, by number: struct rp_counter
 *   events        per CPU, 1: struct rp_events
 *   layout        1: struct rp_layout, of which version all of them are
 *
 * A new policy is a new inner map, peers of its generation are entered before; then
 * one update of policy[0] switches. A packet looks policy[0] up once.
 */
#ifndef ROCEPATH_POLICY_H
#define ROCEPATH_POLICY_H

#include "types.h"

/*
 * Of the layout of all maps: pins of another one are not ours to use. Only layout, documents
 * and ports are read across versions; their own layout stays.
 */
#define RP_POLICY_VERSION	4

#define RP_CLASSES_MAX		64
#define RP_RULES_MAX		256
#define RP_RULE_WORDS		(RP_RULES_MAX / 64)
#define RP_SIZE_BOUNDS_MAX	15
#define RP_NAME_LEN		32
#define RP_GLOB_LEN		128
#define RP_CGROUP_LEN		384
#define RP_COMM_LEN		16
#define RP_DEVICE_LEN		32
#define RP_JOBS_MAX		1024
#define RP_JOB_PEERS_MAX	64
#define RP_QPS_MAX		65536
#define RP_PEERS_MAX		16384

/* where the pins are, each with the name of its map */
#define RP_PIN_DIR "/sys/fs/bpf/rocepath"

/** struct rp_address - IPv6, or IPv4 as ::ffff:a.b.c.d; in network order */
struct rp_address {
	u8 bytes[16];
} __aligned(8);

/** enum rp_action - what is done with a packet that was found to be wrong */
enum rp_action {
	RP_ACTION_PASS,
	RP_ACTION_DROP,
};

/**
 * enum rp_group - opcodes, grouped as rules name them
 * @RP_GROUP_SEND: SEND of any transport, UD among them
 * @RP_GROUP_WRITE: RDMA WRITE
 * @RP_GROUP_READ: READ request
 * @RP_GROUP_ATOMIC: atomic request, FLUSH, ATOMIC WRITE
 * @RP_GROUP_RESPONSE: READ response, atomic acknowledge
 * @RP_GROUP_ACK: acknowledge, NAK, RNR NAK
 * @RP_GROUP_CNP: congestion notification
 * @RP_GROUP_MANAGEMENT: anything to QP 1
 * @RP_GROUP_OTHER: rocepath's own, and opcodes that are not looked into
 * @RP_GROUPS: how many
 */
enum rp_group {
	RP_GROUP_SEND,
	RP_GROUP_WRITE,
	RP_GROUP_READ,
	RP_GROUP_ATOMIC,
	RP_GROUP_RESPONSE,
	RP_GROUP_ACK,
	RP_GROUP_CNP,
	RP_GROUP_MANAGEMENT,
	RP_GROUP_OTHER,
	RP_GROUPS,
};

/** enum rp_pattern - what a job's traffic looks like from this host, see docs/patterns.md */
enum rp_pattern {
	RP_PATTERN_UNKNOWN,		/* nothing decided yet */
	RP_PATTERN_IDLE,
	RP_PATTERN_POINT_TO_POINT,
	RP_PATTERN_RING,
	RP_PATTERN_TREE,
	RP_PATTERN_ALL_TO_ALL,
	RP_PATTERN_INCAST,
	RP_PATTERN_BROADCAST,
	RP_PATTERNS,
};

/* as enum ib_qp_type */
enum rp_qp_type {
	RP_QP_SMI,
	RP_QP_GSI,
	RP_QP_RC,
	RP_QP_UC,
	RP_QP_UD,
	RP_QP_RAW_IPV6,
	RP_QP_RAW_ETHERTYPE,
	RP_QP_RAW_PACKET = 8,
	RP_QP_XRC_INI = 9,
	RP_QP_XRC_TGT,
	RP_QP_DRIVER = 0xff,
};

/* as enum ib_qp_state */
enum rp_qp_state {
	RP_QP_RESET,
	RP_QP_INIT,
	RP_QP_RTR,
	RP_QP_RTS,
	RP_QP_SQD,
	RP_QP_SQE,
	RP_QP_ERR,
};

/* struct rp_rule.match: which conditions a rule has, about the QP, and about the packet */
#define RP_MATCH_CGROUP		0x001
#define RP_MATCH_COMM		0x002
#define RP_MATCH_UID		0x004
#define RP_MATCH_REMOTE		0x008
#define RP_MATCH_DEVICE		0x010
#define RP_MATCH_QP_TYPE	0x020
#define RP_MATCH_OF_QP		0x0ff
#define RP_MATCH_GROUP		0x100
#define RP_MATCH_SIZE		0x200
#define RP_MATCH_DSCP		0x400
#define RP_MATCH_PATTERN	0x800

/**
 * struct rp_rule - one rule; all its conditions must hold
 * @name: a rule of the file with several values for one condition becomes several of the same
 *	@name and @number
 * @number: whose counters in rule_counters
 * @class: index into struct rp_policy.class
 * @match: RP_MATCH_*
 * @cgroup: glob of the cgroup's path from the root of the hierarchy: "/slurm/job_*"; `*` is any
 *	run of characters, slashes too, `?` is one
 * @comm: glob of the name of the process that made the QP
 * @device: glob of the RDMA device's name
 * @uid_min: least uid
 * @uid_max: greatest uid
 * @remote: address of the prefix
 * @remote_bits: its length, 0 to 128; an IPv4 prefix's and 96
 * @qp_types: bit enum rp_qp_type, up to RP_QP_XRC_TGT
 * @groups: bit enum rp_group
 * @patterns: bit enum rp_pattern
 * @size_min_bytes: least message size
 * @size_max_bytes: greatest message size
 * @dscps: bit DSCP that the application asked for
 * @pad: 0
 */
struct rp_rule {
	char name[RP_NAME_LEN];
	u32 number;
	u32 class;
	u32 match;
	u32 qp_types;
	char cgroup[RP_GLOB_LEN];
	char comm[RP_COMM_LEN];
	char device[RP_DEVICE_LEN];
	u32 uid_min;
	u32 uid_max;
	struct rp_address remote;
	u32 remote_bits;
	u32 groups;
	u32 patterns;
	u32 pad;
	u64 size_min_bytes;
	u64 size_max_bytes;
	u64 dscps;
};

/** struct rp_rule_mask - a set of rules: bit n of word w is rule 64 * w + n */
struct rp_rule_mask {
	u64 word[RP_RULE_WORDS];
};

/**
 * struct rp_rate - a rate and what follows from it
 * @rate_bytes_per_s: of the applications' data, headers not counted; 0: not paced
 * @burst_bytes: may leave at once after a pause
 * @burst_ns: derived: how long @burst_bytes take
 * @ns_per_byte_q20: derived: nanoseconds a byte, times 2^20
 */
struct rp_rate {
	u64 rate_bytes_per_s;
	u64 burst_bytes;
	u64 burst_ns;
	u64 ns_per_byte_q20;
};

/* struct rp_class.flags: what it sets; what it does not is left as the application asked */
#define RP_CLASS_DSCP		0x01	/* @dscp, and the others */
#define RP_CLASS_PCP		0x02	/* @pcp in the VLAN tag, if there is one */
#define RP_CLASS_PRIORITY	0x04	/* @priority in skb->priority */
#define RP_CLASS_ECN		0x08	/* Not-ECT becomes ECT(0) in packets with data; CE stays */
#define RP_CLASS_DCQCN		0x10	/* CNPs slow its QPs down */

/**
 * struct rp_class - how traffic of one kind is treated
 * @name: as in the file
 * @flags: RP_CLASS_*
 * @dscp: of packets with data, and READ and atomic requests: 0 to 63
 * @ack_dscp: of ACK and NAK
 * @cnp_dscp: of CNPs that come from the RDMA stack; ours: struct rp_dcqcn_params.cnp_dscp
 * @management_dscp: of packets to QP 1
 * @pcp: 802.1p priority, 0 to 7
 * @priority: skb->priority
 * @class_rate: all QPs of the class together, shared fairly by them
 * @qp_rate: each QP of it
 */
struct rp_class {
	char name[RP_NAME_LEN];
	u32 flags;
	u8 dscp;
	u8 ack_dscp;
	u8 cnp_dscp;
	u8 management_dscp;
	u32 pcp;
	u32 priority;
	struct rp_rate class_rate;
	struct rp_rate qp_rate;
};

/**
 * struct rp_dcqcn_params - DCQCN, under the names that mlx5 has for it, and units
 * @rpg_time_reset_us: time between two increases of the rate
 * @rpg_byte_reset_bytes: bytes between two increases, 0: bytes make none
 * @rpg_threshold: increases of one kind (time or bytes) until additive increase begins
 * @rpg_gd: log2 of what alpha is divided by when the rate is cut: 11
 * @rpg_ai_rate_bytes_per_s: additive increase
 * @rpg_hai_rate_bytes_per_s: hyper increase
 * @rpg_min_dec_fac_pct: a cut leaves at least so much of the rate
 * @rpg_min_rate_bytes_per_s: never slower
 * @rpg_max_rate_bytes_per_s: faster is not limited; 0: @line_rate_bytes_per_s
 * @line_rate_bytes_per_s: of the port
 * @dce_tcp_g: weight of the old alpha, of 1024
 * @dce_tcp_rtt_us: time between two updates of alpha
 * @initial_alpha_value: 0 to 1023
 * @rate_to_set_on_first_cnp_bytes_per_s: 0: the first cut is as the others, of the greatest rate
 * @rate_reduce_monitor_period_us: at most one cut in that time
 * @clamp_tgt_rate: each cut sets the target rate to the rate before it; else only the first cut
 *	after an increase by bytes does
 * @clamp_tgt_rate_after_time_inc: and the first one after an increase by time
 * @min_time_between_cnps_us: for each QP; a CNP that comes sooner does not count
 * @cnp_dscp: of the CNPs that are made here
 * @cnp_802p_prio: their 802.1p priority
 * @pad: 0
 * @pad2: 0
 */
struct rp_dcqcn_params {
	u32 rpg_time_reset_us;
	u32 rpg_byte_reset_bytes;
	u32 rpg_threshold;
	u32 rpg_gd;
	u64 rpg_ai_rate_bytes_per_s;
	u64 rpg_hai_rate_bytes_per_s;
	u32 rpg_min_dec_fac_pct;
	u32 pad;
	u64 rpg_min_rate_bytes_per_s;
	u64 rpg_max_rate_bytes_per_s;
	u64 line_rate_bytes_per_s;
	u32 dce_tcp_g;
	u32 dce_tcp_rtt_us;
	u32 initial_alpha_value;
	u32 rate_reduce_monitor_period_us;
	u64 rate_to_set_on_first_cnp_bytes_per_s;
	u32 clamp_tgt_rate;
	u32 clamp_tgt_rate_after_time_inc;
	u32 min_time_between_cnps_us;
	u32 cnp_dscp;
	u32 cnp_802p_prio;
	u32 pad2;
};

/* struct rp_policy.flags */
#define RP_POLICY_PEERS		0x01	/* there is an allow list */
#define RP_POLICY_QPS		0x02	/* a packet must be for a QP that is in qp_rx */
#define RP_POLICY_NOTIFY	0x04	/* CE in a packet with data makes a CNP */
#define RP_POLICY_PATTERNS	0x08	/* traffic of jobs is looked at */
/* derived */
#define RP_POLICY_SIZES		0x10	/* a rule asks for message sizes */
#define RP_POLICY_BY_PATTERN	0x20	/* a rule asks for patterns */

/**
 * struct rp_policy - all that a packet may be judged by
 * @version: RP_POLICY_VERSION
 * @generation: greater with each policy; never 0
 * @flags: RP_POLICY_*
 * @class_count: classes used in @class
 * @rule_count: rules used in @rule
 * @default_class: of what no rule matches
 * @mark_mask: where in skb->mark the class goes, 0: nowhere
 * @mark_shift: derived: its lowest bit
 * @malformed: UDP 4791 that no RoCE sender makes, fragments and extension headers among it
 * @unknown_peer: sender not in the allow list
 * @unknown_qp: no such QP here
 * @unknown_sender: leaves without being from the RDMA stack: another process, or forwarded
 * @pattern_window_ns: see docs/patterns.md
 * @horizon_ns: nothing is given a departure later than that from now
 * @total_rate: all packets with data together
 * @dcqcn: its parameters
 * @size_bound_bytes: derived: message sizes at which what rules match changes, ascending
 * @size_bounds: derived: how many
 * @rules_by_size: derived: by number of bounds that are not above the message's size, the rules
 *	that allow it
 * @rules_by_group: derived: the same for the opcode group
 * @rules_by_pattern: derived: for the pattern
 * @rules_by_dscp: derived: for the DSCP
 * @rules_of_any_qp: derived: rules without a condition about the QP
 * @rule_class: derived: of each rule, for packets to find it in one cache line
 * @rule_number: derived: the same
 * @class: the classes
 * @rule: the rules in their order
 */
struct rp_policy {
	u32 version;
	u32 flags;
	u64 generation;
	u32 class_count;
	u32 rule_count;
	u32 default_class;
	u32 mark_mask;
	u32 mark_shift;
	enum rp_action malformed;
	enum rp_action unknown_peer;
	enum rp_action unknown_qp;
	enum rp_action unknown_sender;
	u32 size_bounds;
	u64 pattern_window_ns;
	u64 horizon_ns;
	struct rp_rate total_rate;
	struct rp_dcqcn_params dcqcn;
	u64 size_bound_bytes[RP_SIZE_BOUNDS_MAX + 1];
	struct rp_rule_mask rules_by_size[RP_SIZE_BOUNDS_MAX + 1];
	struct rp_rule_mask rules_by_group[16];
	struct rp_rule_mask rules_by_pattern[RP_PATTERNS];
	struct rp_rule_mask rules_by_dscp[64];
	struct rp_rule_mask rules_of_any_qp;
	u8 rule_class[RP_RULES_MAX];
	u8 rule_number[RP_RULES_MAX];
	struct rp_class class[RP_CLASSES_MAX];
	struct rp_rule rule[RP_RULES_MAX];
};

/**
 * struct rp_peer4_key - the allow list of IPv4
 * @prefix_bits: of what follows: 32 and the length of the prefix
 * @generation: low half of the policy's
 * @address: in network order
 */
struct rp_peer4_key {
	u32 prefix_bits;
	u32 generation;
	u8 address[4];
};

/** struct rp_peer6_key - the allow list of IPv6, as struct rp_peer4_key */
struct rp_peer6_key {
	u32 prefix_bits;
	u32 generation;
	u8 address[16];
};

/** struct rp_peer - a prefix that may send to us */
struct rp_peer {
	enum rp_action action;		/* pass; drop makes holes in a wider prefix */
};

#define RP_PEER_CACHE 256

/**
 * struct rp_peer_cached - what the allow list said of an address
 * @generation: of the policy; the list of a generation does not change
 * @address: whose
 * @action: of the longest prefix, drop where there is none
 * @pad: 0
 */
struct rp_peer_cached {
	u64 generation;
	struct rp_address address;
	enum rp_action action;
	u32 pad;
};

/** struct rp_qp_key - a QP of this host, @device_index as RDMA netlink numbers devices */
struct rp_qp_key {
	u32 device_index;
	u32 qpn;
};

/** enum rp_qp_source - how a QP became known */
enum rp_qp_source {
	RP_QP_SEEN,			/* by the census when it was made */
	RP_QP_READ,			/* by the tool, from RDMA netlink */
};

/**
 * struct rp_qp - the census: one QP of this host
 * @device: name of the RDMA device
 * @comm: name of the process that made it; "" for the kernel's, or in rocepath_rdma its module
 * @pid: its process id, 0 for the kernel's
 * @uid: its user id
 * @cgroup_id: of its cgroup v2
 * @cgroup: the path of that, from the root of the hierarchy on
 * @type: QP type
 * @state: QP state
 * @source: how it became known
 * @ifindex: the netdevice that it sends by, 0: not known
 * @class: of its last packet with data, RP_CLASSES_MAX: none was seen
 * @remote_qpn: destination QPN
 * @remote: its address
 * @flow_label: of the address handle
 * @udp_source_port: that soft-RoCE and most hardware make of that
 * @path_mtu_bytes: 0: not known
 * @job: index into jobs, RP_JOBS_MAX: none
 * @job_peer: index of the remote address there, RP_JOB_PEERS_MAX: none
 * @created_ns: when, on CLOCK_MONOTONIC
 * @changed_ns: when its state or address changed last
 */
struct rp_qp {
	char device[RP_DEVICE_LEN];
	char comm[RP_COMM_LEN];
	u32 pid;
	u32 uid;
	u64 cgroup_id;
	enum rp_qp_type type;
	enum rp_qp_state state;
	enum rp_qp_source source;
	u32 ifindex;
	u32 class;
	u32 remote_qpn;
	struct rp_address remote;
	u32 flow_label;
	u32 udp_source_port;
	u32 path_mtu_bytes;
	u32 job;
	u32 job_peer;
	u64 created_ns;
	u64 changed_ns;
	char cgroup[RP_CGROUP_LEN];
};

/**
 * struct rp_wire_qp - how a packet names a QP
 * @address: in qp_tx where the packet goes to, in qp_rx where it is from; zeros: a QP without
 *	a peer of its own (UD, QP 1)
 * @qpn: destination QPN of the packet; in qp_tx for UD, its source QPN
 * @ifindex: in qp_tx where @address is zeros, the netdevice; else 0
 */
struct rp_wire_qp {
	struct rp_address address;
	u32 qpn;
	u32 ifindex;
};

/**
 * rp_udp_source_port() - what soft-RoCE and most hardware take for a QP
 * @flow_label: of its address handle
 * @qpn: its number
 * @remote_qpn: that of its peer
 */
static inline u16 rp_udp_source_port(u32 flow_label, u32 qpn, u32 remote_qpn)
{
	u64 v = (u64)qpn * remote_qpn;

	if (!flow_label) {
		v ^= v >> 20;
		v ^= v >> 40;
		flow_label = v & 0xfffff;
	}
	return ((flow_label & 0x3fff) ^ (flow_label & 0xfc000) >> 14) | 0xc000;
}

/**
 * rp_wire_qp_learn() - where the tool puts into qp_tx a QP whose peer it does not know
 * @ifindex: the netdevice that the QP sends by
 * @remote_qpn: destination QPN
 * @source_port: UDP, as it is without a flow label; 0: any, for the only QP with that destination
 *	QPN: the RDMA connection manager sets a label, which RDMA netlink does not tell
 *
 * The first packet of the QP moves it to the place for its peer. No address begins so.
 */
static inline struct rp_wire_qp rp_wire_qp_learn(u32 ifindex, u32 remote_qpn, u16 source_port)
{
	struct rp_wire_qp key = {
		.address = { { 0xff, 0xff, [14] = source_port >> 8, [15] = source_port & 0xff } },
		.qpn = remote_qpn,
		.ifindex = ifindex,
	};

	return key;
}

/** enum rp_dcqcn_why - why a QP has the rate that it has */
enum rp_dcqcn_why {
	RP_DCQCN_UNLIMITED,
	RP_DCQCN_CUT,			/* by a CNP */
	RP_DCQCN_FAST_RECOVERY,
	RP_DCQCN_ADDITIVE_INCREASE,
	RP_DCQCN_HYPER_INCREASE,
};

/**
 * struct rp_dcqcn - the rate machine of one QP, see bpf/dcqcn.h
 * @why: the last thing that happened to the rate
 * @alpha: congestion estimate, 0 to 1023 times 2^20
 * @rate_bytes_per_s: current rate
 * @target_bytes_per_s: target rate
 * @bytes: since the last increase by bytes
 * @time_stage: increases by time since the last cut
 * @byte_stage: increases by bytes since the last cut
 * @alpha_at_ns: last update of alpha
 * @time_at_ns: last increase by time
 * @cut_at_ns: last cut
 * @cnp_at_ns: last CNP that counted
 * @cnps: CNPs that counted
 */
struct rp_dcqcn {
	enum rp_dcqcn_why why;
	u32 alpha;
	u64 rate_bytes_per_s;
	u64 target_bytes_per_s;
	u64 bytes;
	u32 time_stage;
	u32 byte_stage;
	u64 alpha_at_ns;
	u64 time_at_ns;
	u64 cut_at_ns;
	u64 cnp_at_ns;
	u64 cnps;
};

/**
 * struct rp_turn - a QP's place in what it shares
 * @next_ns: when its next packet may leave
 * @active_window: the last window in which it sent
 * @waiting_window: the last window in which it was found waiting
 */
struct rp_turn {
	u64 next_ns;
	u64 active_window;
	u64 waiting_window;
};

/**
 * struct rp_resolved - one word of the rules whose part about QPs a QP fulfils
 * @rules: as in struct rp_rule_mask
 * @check: rp_rules_check() of @rules and the policy that they are of; another one, or a
 *	half of what two CPUs write: resolve again
 */
struct rp_resolved {
	u64 rules;
	u64 check;
};

/**
 * struct rp_qp_tx - what a packet that leaves finds of its QP
 * @resolved: its rules
 * @qp: in qps
 * @class: of its last packet with data, RP_CLASSES_MAX: none yet
 * @class_told: as qps has it; a packet between others of another class does not change that
 * @job: as in struct rp_qp
 * @job_peer: the same
 * @busy: the rate machine is being moved
 * @pad: 0
 * @socket_cookie: of the socket that it was seen to send by, which is the RDMA stack's
 * @next_ns: when its next packet may leave by its own rate
 * @class_turn: and by its share of the class, see bpf/pace.h
 * @total_turn: and by its share of all
 * @message_bytes: of the running message, so far
 * @message_began_ns: when its first packet left
 * @message_size_bytes: of the running message, in all, where its first packet said so
 * @ns_per_byte_q20: at the rate that @dcqcn allows, 0: it does not limit
 * @packets: that left
 * @bytes: that left, IP headers included
 * @dcqcn: the rate machine
 */
struct rp_qp_tx {
	struct rp_resolved resolved[RP_RULE_WORDS];
	struct rp_qp_key qp;
	u32 class;
	u32 class_told;
	u32 job;
	u32 job_peer;
	u32 busy;
	u32 pad;
	u64 socket_cookie;
	u64 next_ns;
	struct rp_turn class_turn;
	struct rp_turn total_turn;
	u64 message_bytes;
	u64 message_began_ns;
	u64 message_size_bytes;
	u64 ns_per_byte_q20;
	u64 packets;
	u64 bytes;
	struct rp_dcqcn dcqcn;
};

/**
 * rp_rules_check() - of which policy rules are
 * @rules: of struct rp_resolved
 * @generation: of the policy, not 0
 *
 * Two CPUs may write both words for two policies at once, or one reads while another writes:
 * what does not belong together is no policy's. (The multiplier is odd and its bits look random:
 * no two masks differ by as much.)
 */
static inline u64 rp_rules_check(u64 rules, u64 generation)
{
	return rules ^ generation * 0x9e3779b97f4a7c15ull;
}

/**
 * struct rp_qp_rx - what a packet that arrives finds of its QP
 * @qp: in qps
 * @remote_qpn: where its CNPs go, 0: it has no peer of its own
 * @job: as in struct rp_qp
 * @job_peer: the same
 * @cnp_sent_ns: when a CNP was made last for it
 * @message_bytes: of the running message, so far
 * @message_began_ns: when its first packet arrived
 * @packets: that arrived
 * @bytes: that arrived, IP headers included
 * @pad: 0
 */
struct rp_qp_rx {
	struct rp_qp_key qp;
	u32 remote_qpn;
	u32 job;
	u32 job_peer;
	u32 pad;
	u64 cnp_sent_ns;
	u64 message_bytes;
	u64 message_began_ns;
	u64 packets;
	u64 bytes;
};

/**
 * struct rp_job_peer - a job's traffic with one other host, since the job began
 * @address: of the host, zeros: a free place
 * @tx_bytes: sent
 * @tx_messages: sent
 * @rx_bytes: received
 * @rx_messages: received
 * @tx_bytes_seen: @tx_bytes when the last window was closed
 * @rx_bytes_seen: the same of @rx_bytes
 * @window_tx_bytes: sent in that window
 * @window_rx_bytes: received in it
 */
struct rp_job_peer {
	struct rp_address address;
	u64 tx_bytes;
	u64 tx_messages;
	u64 rx_bytes;
	u64 rx_messages;
	u64 tx_bytes_seen;
	u64 rx_bytes_seen;
	u64 window_tx_bytes;
	u64 window_rx_bytes;
};

/**
 * struct rp_job_window - what was seen of a job in one window
 * @tx_peers: hosts that it sent to
 * @rx_peers: hosts that it heard from
 * @both_peers: hosts that it did both with, in like amounts
 * @tx_bytes: sent
 * @rx_bytes: received
 * @tx_messages: sent
 * @rx_messages: received
 * @tx_bursts: runs of messages to one host
 * @echoes: runs after which that host was heard from before another one was sent to
 * @gaps: runs that began after a silence
 * @largest_bytes: with the host that most was exchanged with
 * @pad: 0
 */
struct rp_job_window {
	u32 tx_peers;
	u32 rx_peers;
	u32 both_peers;
	u32 pad;
	u64 tx_bytes;
	u64 rx_bytes;
	u64 tx_messages;
	u64 rx_messages;
	u64 tx_bursts;
	u64 echoes;
	u64 gaps;
	u64 largest_bytes;
};

/**
 * struct rp_job - the QPs of one cgroup
 * @cgroup_id: which
 * @qps: how many, 0: a free place
 * @peer_count: places used in @peer
 * @pattern: what its traffic looks like
 * @candidate: what the last windows looked like, if different
 * @candidate_windows: for how many of them
 * @burst_peer: index of the host that the last message went to
 * @burst_heard: it was heard from since, or just before
 * @heard_peer: index of the host that was heard from last
 * @window_start_ns: of the running window
 * @windows: that were closed
 * @tx_messages: since the job began
 * @rx_messages: since the job began
 * @tx_bursts: since the job began
 * @echoes: since the job began
 * @gaps: since the job began
 * @message_ns: when the last message ended
 * @message_bytes: what is usual for one, an average that forgets
 * @tx_bursts_seen: at the end of the last window
 * @echoes_seen: at the end of the last window
 * @gaps_seen: at the end of the last window
 * @tx_messages_seen: at the end of the last window
 * @rx_messages_seen: at the end of the last window
 * @last: what was seen in the last window
 * @peer: the other hosts
 */
struct rp_job {
	u64 cgroup_id;
	u32 qps;
	u32 peer_count;
	enum rp_pattern pattern;
	enum rp_pattern candidate;
	u32 candidate_windows;
	u32 burst_peer;
	u32 burst_heard;
	u32 heard_peer;
	u64 window_start_ns;
	u64 windows;
	u64 tx_messages;
	u64 rx_messages;
	u64 tx_bursts;
	u64 echoes;
	u64 gaps;
	u64 message_ns;
	u64 message_bytes;
	u64 tx_bursts_seen;
	u64 echoes_seen;
	u64 gaps_seen;
	u64 tx_messages_seen;
	u64 rx_messages_seen;
	struct rp_job_window last;
	struct rp_job_peer peer[RP_JOB_PEERS_MAX];
};

/**
 * struct rp_pacer - how a class, or all traffic, is shared by QPs, see bpf/pace.h
 * @next_ns: when the next packet of QPs that the census does not know may leave
 * @window_start_ns: of the running window
 * @window_end_ns: of the running window
 * @window: its number
 * @share_ns_per_byte_q20: what each QP may take that wants more than that
 * @sharing: QPs found waiting in the window before
 * @waiting: QPs found waiting in this one
 * @were_active: QPs that sent in the window before
 * @active: QPs that sent in this one
 * @small_bytes: sent in this one by QPs that were not
 */
struct rp_pacer {
	u64 next_ns;
	u64 window_start_ns;
	u64 window_end_ns;
	u64 window;
	u64 share_ns_per_byte_q20;
	u32 sharing;
	u32 waiting;
	u32 were_active;
	u32 active;
	u64 small_bytes;
} __aligned(64);

/**
 * struct rp_counter - of a class or a rule
 * @packets: sent
 * @bytes: sent, IP headers included
 * @paced_packets: given a departure later than now
 * @paced_ns: how much later, all together; each to within a tick of the kernel's clock
 * @horizon_packets: that would have left later than the horizon
 * @ecn_packets: made ECT(0)
 */
struct rp_counter {
	u64 packets;
	u64 bytes;
	u64 paced_packets;
	u64 paced_ns;
	u64 horizon_packets;
	u64 ecn_packets;
};

/*
 * What is counted: X(name, is it a reason to drop, text). Names and order are those of
 * enum rp_event, struct rp_events and the tool.
 */
#define RP_EVENTS_LIST(X) \
	X(rx_roce, 0, "RoCE packets that arrived") \
	X(rx_not_roce, 0, "other packets that arrived") \
	X(rx_malformed, 1, "UDP 4791 that no RoCE sender makes") \
	X(rx_fragment, 1, "an IP fragment to UDP 4791") \
	X(rx_extension_headers, 1, "UDP 4791 behind IPv6 extension headers, or too many of them") \
	X(rx_unknown_peer, 1, "from an address that is not in the allow list") \
	X(rx_unknown_qp, 1, "for a QP that is not there, or not that peer's") \
	X(tx_not_roce, 0, "packets that left and are not RoCE; those that are: class_counters") \
	X(tx_malformed, 1, "UDP 4791 that no RoCE sender makes") \
	X(tx_local_process, 1, "UDP 4791 by a process, and not by the RDMA stack") \
	X(tx_forwarded, 1, "UDP 4791 that has no sender here: forwarded, or of another namespace") \
	X(tx_unknown_qp, 0, "from a QP that the census does not know") \
	X(tx_horizon, 0, "would have left later than the horizon, and was held until there") \
	X(tx_lock_missed, 0, "the rate machine was busy, the rate before was used") \
	X(ce_seen, 0, "packets with data that arrived with CE") \
	X(cnp_sent, 0, "CNPs made") \
	X(cnp_failed, 0, "CNPs that could not be made") \
	X(cnp_received, 0, "CNPs that counted") \
	X(cnp_unknown_qp, 1, "CNPs for no QP of that peer") \
	X(cnp_too_soon, 1, "CNPs sooner after the last one than allowed") \
	X(cnp_ignored, 1, "CNPs for a QP whose class has no DCQCN") \
	X(cnp_lock_missed, 1, "CNPs that found the rate machine busy") \
	X(qp_created, 0, "QPs that were made") \
	X(qp_destroyed, 0, "QPs that were destroyed") \
	X(qp_table_full, 0, "QPs without a place in the census") \
	X(job_table_full, 0, "QPs whose job has no place") \
	X(job_peers_full, 0, "QPs whose peer has no place in their job") \
	X(qp_resolved, 0, "QPs whose rules were resolved")

#define RP_EVENT_ENUM(name, drop, text) RP_EVENT_##name,
#define RP_EVENT_FIELD(name, drop, text) u64 name;

/** enum rp_event - index into struct rp_events */
enum rp_event {
	RP_EVENTS_LIST(RP_EVENT_ENUM)
	RP_EVENTS,
};

/** struct rp_events - how often each thing was seen */
struct rp_events {
	RP_EVENTS_LIST(RP_EVENT_FIELD)
};

/* What only the tool reads and writes. */

/**
 * struct rp_layout - what the pins are
 * @version: RP_POLICY_VERSION of who made them
 * @netns: inode of the network namespace whose netdevices they are about
 */
struct rp_layout {
	u32 version;
	u32 netns;
};

#define RP_DOCUMENT_MAX (256 * 1024 - 16)

/** struct rp_document - the text that the policy of @generation was made from */
struct rp_document {
	u64 generation;
	u32 len;
	u32 pad;
	char text[RP_DOCUMENT_MAX];
};

/* struct rp_port.flags */
#define RP_PORT_CLSACT_OURS	0x1
#define RP_PORT_QDISC_OURS	0x2
#define RP_PORT_ADMIT_XDP	0x4
#define RP_PORT_ADMIT_TC	0x8	/* the XDP hook was not to be had */

/** struct rp_port_state - what the tool did to a netdevice */
struct rp_port_state {
	char name[16];
	char qdisc_before[16];
	u32 flags;
	u32 pad;
};

#endif /* ROCEPATH_POLICY_H */
