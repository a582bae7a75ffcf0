// SPDX-License-Identifier: GPL-2.0
/* The part of the table of commands.c that is about RDMA devices. */
#include "commands.h"
#include "fabric.h"
#include "rdma.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define KEYWORDS(k) .keywords = k, .keyword_count = COUNT(k)

#define MAX_PROBE_US 3600000000u
#define MAX_HOLDDOWN_MS 3600000

static const char *const off_on[] = { "off", "on", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const up_down[] = { "up", "down", NULL };

#define DEV(attribute, must) {						\
	.name = "dev", .type = RP_ARG_RDMA, .required = must, .attr = attribute, \
	.example = "DEV", .help = "the RDMA device",			\
}

#define PEER(attribute, must) {						\
	.name = "peer", .type = RP_ARG_ADDRESS, .required = must, .attr = attribute, \
	.example = "ADDRESS", .help = "towards which peer",		\
}

#define FROM(attribute, must) {						\
	.name = "from", .type = RP_ARG_ADDRESS, .required = must, .attr = attribute, \
	.example = "ADDRESS", .help = "of this host",			\
}

static const struct rp_keyword set[] = {
	{ .name = "steering", .type = RP_ARG_CHOICE, .attr = ROCEPATH_RDMA_A_DEVICE_STEERING,
	  .choices = off_on, .example = "on",
	  .help = "whether QPs that connect get entropy, class and timers" },
	{ .name = "exempt", .type = RP_ARG_CHOICE, .attr = ROCEPATH_RDMA_A_DEVICE_EXEMPT,
	  .choices = no_yes, .example = "yes", .help = "never, whatever is set for all" },
	{ .name = "on-failure", .type = RP_ARG_CHOICE,
	  .attr = ROCEPATH_RDMA_A_DEVICE_ON_FAILURE, .choices = rp_rdma_action_names,
	  .example = "move", .help = "what is done for QPs on a path or port that failed" },
	{ .name = "probe-interval", .type = RP_ARG_US,
	  .attr = ROCEPATH_RDMA_A_DEVICE_PROBE_INTERVAL_US, .max = MAX_PROBE_US,
	  .zero = "never", .example = "10ms", .help = "of probes of each EV in use" },
	{ .name = "probes-per-second", .type = RP_ARG_NUMBER,
	  .attr = ROCEPATH_RDMA_A_DEVICE_PROBES_PER_SECOND, .min = 1, .max = 1000000,
	  .example = "1000", .help = "probes that the device sends, at most" },
	{ .name = "holddown", .type = RP_ARG_MS, .attr = ROCEPATH_RDMA_A_DEVICE_HOLDDOWN_MS,
	  .max = MAX_HOLDDOWN_MS, .example = "100ms",
	  .help = "how long a path that came back is not trusted" },
	{ .name = "slow-factor", .type = RP_ARG_NUMBER,
	  .attr = ROCEPATH_RDMA_A_DEVICE_SLOW_FACTOR, .max = 1000, .zero = "never",
	  .example = "4", .help = "a path whose round trip is so many times the others' is left" },
};

static const struct rp_keyword discover[] = {
	DEV(0, true),
	FROM(0, false),
	{ .name = "dscp", .type = RP_ARG_NUMBER, .max = 63, .example = "26",
	  .help = "of the probes; by default that of the policy's default class" },
	{ .name = "hops", .type = RP_ARG_NUMBER, .min = 1, .max = RP_HOPS_MAX, .example = "8",
	  .help = "how far to look, 8 by default" },
	{ .name = "evs", .type = RP_ARG_NUMBER, .min = 1, .max = RP_EVS_MAX, .example = "64",
	  .help = "entropy values to try, 64 by default" },
	{ .name = "apply", .type = RP_ARG_FLAG, .help = "plan QPs to the peer by what was found" },
	{ .name = "dot", .type = RP_ARG_FLAG, .help = "print a graph for dot(1)" },
};

static const struct rp_keyword plan[] = {
	DEV(ROCEPATH_RDMA_A_PLAN_DEVICE, false),
	PEER(ROCEPATH_RDMA_A_PLAN_REMOTE, false),
};

static const struct rp_keyword path[] = {
	DEV(ROCEPATH_RDMA_A_PATH_DEVICE, false),
	PEER(ROCEPATH_RDMA_A_PATH_REMOTE, false),
};

static const struct rp_keyword path_set[] = {
	DEV(ROCEPATH_RDMA_A_PATH_DEVICE, true),
	FROM(ROCEPATH_RDMA_A_PATH_LOCAL, true),
	PEER(ROCEPATH_RDMA_A_PATH_REMOTE, true),
	{ .name = "ev", .type = RP_ARG_NUMBER, .required = true, .attr = ROCEPATH_RDMA_A_PATH_EV,
	  .max = ROCEPATH_RDMA_EVS - 1, .example = "4711", .help = "its entropy value" },
	{ .name = "state", .type = RP_ARG_CHOICE, .required = true,
	  .attr = ROCEPATH_RDMA_A_PATH_STATE, .choices = up_down, .example = "down",
	  .help = "down: QPs leave it and come no more; up: as it was" },
};

static const struct rp_keyword peer[] = { DEV(ROCEPATH_RDMA_A_PEER_DEVICE, false) };

static const struct rp_keyword qp_set[] = {
	DEV(ROCEPATH_RDMA_A_QP_DEVICE, true),
	{ .name = "qpn", .type = RP_ARG_NUMBER, .required = true, .attr = ROCEPATH_RDMA_A_QP_QPN,
	  .max = 0xffffff, .example = "17", .help = "the QP" },
	{ .name = "exempt", .type = RP_ARG_CHOICE, .required = true,
	  .attr = ROCEPATH_RDMA_A_QP_EXEMPT, .choices = no_yes, .example = "yes",
	  .help = "whether nothing is changed in it any more" },
};

#define KEY_ID(must) {							\
	.name = "id", .type = RP_ARG_NUMBER, .required = must, .max = 255, \
	.attr = ROCEPATH_RDMA_A_KEY_ID, .example = "1",			\
	.help = "0 to 255, the same on all hosts",			\
}

static const struct rp_keyword key_set[] = {
	KEY_ID(true),
	{ .name = "secret-file", .type = RP_ARG_FILE, .attr = ROCEPATH_RDMA_A_KEY_SECRET,
	  .example = "FILE", .help = "32 hex digits or 16 bytes; - is standard input" },
	{ .name = "active", .type = RP_ARG_CHOICE, .attr = ROCEPATH_RDMA_A_KEY_ACTIVE,
	  .choices = no_yes, .example = "yes",
	  .help = "whether hellos are made with it; by default the newest key is" },
};

static const struct rp_keyword key_del[] = { KEY_ID(true) };

const struct rp_verb rp_rdma_verbs[RP_RDMA_VERBS] = {
	{ .name = "show", .help = "all that speak RoCE, or all that is known of one",
	  .subject = RP_ARG_RDMA, .run = rp_rdma_show },
	{ .name = "set", .help = "change settings of one, or of `all`, those to come among them",
	  .subject = RP_ARG_RDMA, .subject_required = true, .changes = true, KEYWORDS(set),
	  .run = rp_rdma_set },
	{ .name = "discover", .help = "find which entropy values take which routers to a peer",
	  .subject = RP_ARG_PEER, .subject_required = true, KEYWORDS(discover),
	  .run = rp_rdma_discover },
	{ .name = "plan", .help = "entropy values between two addresses, and the QPs on each",
	  KEYWORDS(plan), .run = rp_rdma_plan_show },
	{ .name = "path", .help = "how healthy each entropy value in use is", KEYWORDS(path),
	  .run = rp_rdma_path_show },
	{ .name = "path-set", .help = "take a path out by hand, or put it back",
	  KEYWORDS(path_set), .run = rp_rdma_path_set },
	{ .name = "peer", .help = "remote addresses, and whether they answer probes",
	  KEYWORDS(peer), .run = rp_rdma_peer_show },
	{ .name = "qp-set", .help = "exempt a QP", KEYWORDS(qp_set), .run = rp_rdma_qp_set },
	{ .name = "key-show", .help = "which keys there are; needs CAP_NET_ADMIN",
	  .run = rp_rdma_key_show },
	{ .name = "key-set", .help = "add a key, replace it, or make it the active one",
	  KEYWORDS(key_set), .run = rp_rdma_key_set },
	{ .name = "key-del", .help = "forget a key", KEYWORDS(key_del), .run = rp_rdma_key_del },
};
