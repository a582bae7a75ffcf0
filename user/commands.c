// SPDX-License-Identifier: GPL-2.0
/* The one table that dispatch, usage and completion are made from. */
#include "commands.h"
#include "fabric.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define KEYWORDS(k) .keywords = k, .keyword_count = COUNT(k)
#define VERBS(v) .verbs = v, .verb_count = COUNT(v)

#define MAX_GAP_US 10000000
#define MAX_HOLDDOWN_MS 3600000
#define MAX_REPORT_US 1000000
#define MAX_PROBE_MS 3600000
#define MAX_DELAY_MS 3600000

static const char *const schedulers[] = { "flow", "flowlet", "spray", "adaptive", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };

#define DEV(attribute, must) {						\
	.name = "dev", .type = RP_ARG_DEVICE, .required = must, .attr = attribute, \
	.example = "DEV", .help = "the device",				\
}

static const struct rp_keyword device_set[] = {
	{ .name = "scheduler", .type = RP_ARG_NAME, .attr = ROCEPATH_A_DEVICE_SCHEDULER,
	  .choices = schedulers, .example = "spray",
	  .help = "what picks the path: flow (one for each), flowlet, spray (all), adaptive" },
	{ .name = "entropy", .type = RP_ARG_CHOICE, .attr = ROCEPATH_A_DEVICE_ENTROPY,
	  .choices = rp_entropy_names, .example = "sport",
	  .help = "what makes the fabric hash: sport, flowlabel (IPv6), keep (as it came)" },
	{ .name = "evs", .type = RP_ARG_NUMBER, .attr = ROCEPATH_A_DEVICE_EVS, .min = 1,
	  .max = ROCEPATH_EVS_MAX, .example = "16", .help = "entropy values of each port" },
	{ .name = "gap-timeout", .type = RP_ARG_US, .attr = ROCEPATH_A_DEVICE_GAP_TIMEOUT_US,
	  .max = MAX_GAP_US, .zero = "auto", .example = "3ms",
	  .help = "how long a missing packet is waited for" },
	{ .name = "gap-floor", .type = RP_ARG_US, .attr = ROCEPATH_A_DEVICE_GAP_FLOOR_US,
	  .max = MAX_GAP_US, .example = "1ms", .help = "the least that auto may choose" },
	{ .name = "gap-ceiling", .type = RP_ARG_US, .attr = ROCEPATH_A_DEVICE_GAP_CEILING_US,
	  .max = MAX_GAP_US, .example = "50ms", .help = "the most that auto may choose" },
	{ .name = "reorder-depth", .type = RP_ARG_NUMBER,
	  .attr = ROCEPATH_A_DEVICE_REORDER_DEPTH, .min = 1, .max = 65536, .example = "4096",
	  .help = "packets held for one flow, at most" },
	{ .name = "reorder-flow-bytes", .type = RP_ARG_BYTES,
	  .attr = ROCEPATH_A_DEVICE_REORDER_FLOW_BYTES, .min = 65536, .max = 1u << 31,
	  .example = "4MiB", .help = "bytes held for one flow, at most" },
	{ .name = "reorder-bytes", .type = RP_ARG_BYTES,
	  .attr = ROCEPATH_A_DEVICE_REORDER_BYTES, .min = 65536, .max = 1u << 31,
	  .example = "64MiB", .help = "bytes held for all flows together, at most" },
	{ .name = "peers-max", .type = RP_ARG_NUMBER, .attr = ROCEPATH_A_DEVICE_PEERS_MAX,
	  .min = 1, .max = 65536, .example = "4096", .help = "remote addresses known, at most" },
	{ .name = "hello-interval", .type = RP_ARG_MS,
	  .attr = ROCEPATH_A_DEVICE_HELLO_INTERVAL_MS, .min = 10, .max = 60000, .example = "1s",
	  .help = "time between two hellos to a peer" },
	{ .name = "holddown", .type = RP_ARG_MS, .attr = ROCEPATH_A_DEVICE_HOLDDOWN_MS,
	  .max = MAX_HOLDDOWN_MS, .example = "100ms",
	  .help = "how long a port that came back is not trusted" },
	{ .name = "holddown-max", .type = RP_ARG_MS, .attr = ROCEPATH_A_DEVICE_HOLDDOWN_MAX_MS,
	  .max = MAX_HOLDDOWN_MS, .example = "60s",
	  .help = "the same for one that flaps, at most" },
	{ .name = "mark-mask", .type = RP_ARG_NUMBER, .attr = ROCEPATH_A_DEVICE_MARK_MASK,
	  .zero = "none", .example = "0x3f00",
	  .help = "bits of skb->mark that hold the class" },
	{ .name = "report-interval", .type = RP_ARG_US,
	  .attr = ROCEPATH_A_DEVICE_REPORT_INTERVAL_US, .min = 100, .max = MAX_REPORT_US,
	  .example = "1ms", .help = "of reports, and of probes of doubtful paths" },
	{ .name = "repair-depth", .type = RP_ARG_NUMBER,
	  .attr = ROCEPATH_A_DEVICE_REPAIR_DEPTH, .max = 65536, .example = "4096",
	  .help = "packets kept for repair of one flow, at most; 0: no repair" },
	{ .name = "repair-flow-bytes", .type = RP_ARG_BYTES,
	  .attr = ROCEPATH_A_DEVICE_REPAIR_FLOW_BYTES, .min = 65536, .max = 1u << 31,
	  .example = "8MiB", .help = "bytes kept for repair of one flow, at most" },
	{ .name = "repair-bytes", .type = RP_ARG_BYTES,
	  .attr = ROCEPATH_A_DEVICE_REPAIR_BYTES, .min = 65536, .max = 1u << 31,
	  .example = "256MiB", .help = "bytes kept for repair of all flows together, at most" },
	{ .name = "loss-threshold", .type = RP_ARG_PPM, .attr = ROCEPATH_A_DEVICE_LOSS_PPM,
	  .max = 1000000, .zero = "never", .example = "0.5%",
	  .help = "a path that loses more is taken out" },
	{ .name = "probe-interval", .type = RP_ARG_MS,
	  .attr = ROCEPATH_A_DEVICE_PROBE_INTERVAL_MS, .max = MAX_PROBE_MS, .zero = "never",
	  .example = "1s", .help = "of probes of idle paths" },
	{ .name = "probes-per-second", .type = RP_ARG_NUMBER,
	  .attr = ROCEPATH_A_DEVICE_PROBES_PER_SECOND, .min = 1, .max = 1000000, .example = "1000",
	  .help = "probes that the device sends, at most" },
};

static const struct rp_verb device_verbs[] = {
	{ .name = "show", .help = "all devices, or all that is known of one",
	  .subject = RP_ARG_DEVICE, .run = rp_device_show },
	{ .name = "set", .help = "change settings; what is not named stays",
	  .subject = RP_ARG_DEVICE, .subject_required = true, .changes = true,
	  KEYWORDS(device_set), .run = rp_device_set },
};

static const struct rp_keyword port_show[] = { DEV(ROCEPATH_A_PORT_DEVICE, false) };

static const struct rp_keyword port_set[] = {
	{ .name = "weight", .type = RP_ARG_NUMBER, .attr = ROCEPATH_A_PORT_WEIGHT, .min = 1,
	  .max = ROCEPATH_WEIGHT_MAX, .example = "1",
	  .help = "its share of sprayed packets, relative to the other ports'" },
	{ .name = "via", .type = RP_ARG_ADDRESS, .attr = ROCEPATH_A_PORT_VIA4, .zero = "none",
	  .example = "10.0.0.1",
	  .help = "its own gateway, IPv4 or IPv6, for peers behind routers" },
};

static const struct rp_verb port_verbs[] = {
	{ .name = "show", .help = "all ports, those of a device, or all that is known of one",
	  .subject = RP_ARG_PORT, KEYWORDS(port_show), .run = rp_port_show },
	{ .name = "set", .help = "change settings of a port", .subject = RP_ARG_PORT,
	  .subject_required = true, .changes = true, KEYWORDS(port_set), .run = rp_port_set },
};

static const struct rp_keyword peer_show[] = { DEV(ROCEPATH_A_PEER_DEVICE, false) };

static const struct rp_verb peer_verbs[] = {
	{ .name = "show", .help = "remote RoCE addresses, and whether they restore order",
	  KEYWORDS(peer_show), .run = rp_peer_show },
};

#define PATH_PEER(must) {						\
	.name = "peer", .type = RP_ARG_PEER, .required = must, .attr = ROCEPATH_A_PATH_PEER, \
	.example = "ADDRESS", .help = "towards which peer",		\
}

static const struct rp_keyword path_show[] = {
	DEV(ROCEPATH_A_PATH_DEVICE, false),
	PATH_PEER(false),
};

static const struct rp_keyword path_set[] = {
	DEV(ROCEPATH_A_PATH_DEVICE, true),
	PATH_PEER(true),
	{ .name = "port", .type = RP_ARG_PORT, .required = true, .attr = ROCEPATH_A_PATH_PORT,
	  .example = "PORT", .help = "by which port" },
	{ .name = "evs", .type = RP_ARG_EVS, .required = true, .attr = ROCEPATH_A_PATH_EVS,
	  .zero = "default", .example = "3,7,16-31", .help = "the entropy values to use" },
};

static const struct rp_keyword path_discover[] = {
	DEV(ROCEPATH_A_PATH_DEVICE, true),
	{ .name = "hops", .type = RP_ARG_NUMBER, .min = 1, .max = RP_HOPS_MAX, .example = "8",
	  .help = "how far to look, 8 by default" },
	{ .name = "evs", .type = RP_ARG_NUMBER, .min = 1, .max = ROCEPATH_EVS_MAX,
	  .example = "64", .help = "entropy values to try on each port, 64 by default" },
	{ .name = "apply", .type = RP_ARG_FLAG, .help = "use those that were chosen" },
	{ .name = "watch", .type = RP_ARG_FLAG,
	  .help = "and again whenever a path to the peer failed or came back" },
	{ .name = "dot", .type = RP_ARG_FLAG, .help = "print a graph for dot(1)" },
};

static const struct rp_verb path_verbs[] = {
	{ .name = "show", .help = "each port with each of its entropy values, towards each peer",
	  KEYWORDS(path_show), .run = rp_path_show },
	{ .name = "set", .help = "choose the entropy values of a port towards a peer",
	  KEYWORDS(path_set), .run = rp_path_set },
	{ .name = "discover", .help = "find which entropy values take which routers to a peer",
	  .subject = RP_ARG_PEER, .subject_required = true, KEYWORDS(path_discover),
	  .run = rp_path_discover },
};

static const struct rp_keyword flow_show[] = { DEV(ROCEPATH_A_FLOW_DEVICE, false) };

static const struct rp_verb flow_verbs[] = {
	{ .name = "show", .help = "queue pairs and what is held for them; needs CAP_NET_ADMIN",
	  KEYWORDS(flow_show), .run = rp_flow_show },
};

#define KEY_ID {							\
	.name = "id", .type = RP_ARG_NUMBER, .required = true, .max = 255, \
	.attr = ROCEPATH_A_KEY_ID, .example = "1", .help = "0 to 255, the same on all hosts", \
}

static const struct rp_keyword key_show[] = { DEV(ROCEPATH_A_KEY_DEVICE, false) };

static const struct rp_keyword key_set[] = {
	DEV(ROCEPATH_A_KEY_DEVICE, true),
	KEY_ID,
	{ .name = "secret-file", .type = RP_ARG_FILE, .attr = ROCEPATH_A_KEY_SECRET,
	  .example = "FILE", .help = "32 hex digits or 16 bytes; - is standard input" },
	{ .name = "active", .type = RP_ARG_CHOICE, .attr = ROCEPATH_A_KEY_ACTIVE,
	  .choices = no_yes, .example = "yes",
	  .help = "whether hellos are made with it; by default the newest key is" },
};

static const struct rp_keyword key_del[] = { DEV(ROCEPATH_A_KEY_DEVICE, true), KEY_ID };

static const struct rp_verb key_verbs[] = {
	{ .name = "show", .help = "which keys there are, never their secrets; needs CAP_NET_ADMIN",
	  KEYWORDS(key_show), .run = rp_key_show },
	{ .name = "set", .help = "add a key, replace it, or make it the active one",
	  KEYWORDS(key_set), .run = rp_key_set },
	{ .name = "del", .help = "forget a key", KEYWORDS(key_del), .run = rp_key_del },
};

#define CLASS_ID {							\
	.name = "id", .type = RP_ARG_NUMBER, .required = true, .max = ROCEPATH_CLASSES - 1, \
	.attr = ROCEPATH_A_CLASS_ID, .example = "1", .help = "the class, as in skb->mark", \
}

static const struct rp_keyword class_show[] = { DEV(ROCEPATH_A_CLASS_DEVICE, false) };

static const struct rp_keyword class_set[] = {
	DEV(ROCEPATH_A_CLASS_DEVICE, true),
	CLASS_ID,
	{ .name = "scheduler", .type = RP_ARG_NAME, .required = true,
	  .attr = ROCEPATH_A_CLASS_SCHEDULER, .choices = schedulers, .example = "flow",
	  .help = "for packets of the class" },
};

static const struct rp_keyword class_del[] = { DEV(ROCEPATH_A_CLASS_DEVICE, true), CLASS_ID };

static const struct rp_verb class_verbs[] = {
	{ .name = "show",
	  .help = "classes of the policy, their marks, rates and counters; of a device, those that it schedules differently",
	  KEYWORDS(class_show), .run = rp_class_show },
	{ .name = "set",
	  .help = "give a class a scheduler of its own on a device; all else is set by a policy",
	  KEYWORDS(class_set), .run = rp_class_set },
	{ .name = "del", .help = "let a class use the scheduler of its device",
	  KEYWORDS(class_del), .run = rp_class_del },
};

static const struct rp_verb stats_verbs[] = {
	{ .name = "show", .help = "counters of all devices and ports, or of one",
	  .subject = RP_ARG_INTERFACE, .run = rp_stats_show },
};

static const struct rp_keyword top[] = {
	DEV(ROCEPATH_A_DEVICE_IFINDEX, false),
	{ .name = "once", .letter = '1', .type = RP_ARG_FLAG,
	  .help = "or -1: print it once, as text or JSON" },
	{ .name = "delay", .letter = 'd', .type = RP_ARG_DELAY, .min = 100, .max = MAX_DELAY_MS,
	  .example = "2", .help = "or -d: between two looks, 1 second by default" },
};

static const struct rp_verb top_verbs[] = {
	{ .name = "", .help = "a live view of ports, paths, classes and queue pairs, busiest first",
	  KEYWORDS(top), .run = rp_top },
};

#define EFFECTIVE(text) { .name = "effective", .type = RP_ARG_FLAG, .help = text }

static const struct rp_keyword check[] = { EFFECTIVE("print it, with all defaults") };

static const struct rp_verb check_verbs[] = {
	{ .name = "", .help = "say what is wrong in a policy, by default that in /etc/rocepath",
	  .subject = RP_ARG_FILE, KEYWORDS(check), .run = rp_check },
};

static const struct rp_verb apply_verbs[] = {
	{ .name = "", .help = "make a policy the one in force, and print what changed",
	  .subject = RP_ARG_FILE, .run = rp_policy_apply },
};

static const struct rp_keyword try[] = {
	{ .name = "timeout", .type = RP_ARG_SECONDS, .min = 1, .max = 86400, .example = "120s",
	  .help = "put the one before back after that, unless Enter is pressed" },
};

static const struct rp_verb try_verbs[] = {
	{ .name = "", .help = "apply a policy, and put the one before back unless it is confirmed",
	  .subject = RP_ARG_FILE, .subject_required = true, KEYWORDS(try), .run = rp_policy_try },
};

static const struct rp_verb diff_verbs[] = {
	{ .name = "", .help = "what apply would change", .subject = RP_ARG_FILE,
	  .run = rp_policy_diff },
};

static const struct rp_keyword show[] = { EFFECTIVE("with all defaults") };

static const struct rp_verb show_verbs[] = {
	{ .name = "", .help = "the policy in force, as a file that apply takes", KEYWORDS(show),
	  .run = rp_policy_show },
};

static const struct rp_verb clean_verbs[] = {
	{ .name = "", .help = "take the policy out of force and put back what was before",
	  .run = rp_policy_clean },
};

static const struct rp_verb rule_verbs[] = {
	{ .name = "show", .help = "rules in their order, and how much they matched",
	  .run = rp_rule_show },
};

static const struct rp_keyword drop_show[] = {
	{ .name = "all", .type = RP_ARG_FLAG, .help = "what is counted and not dropped, too" },
};

static const struct rp_verb drop_verbs[] = {
	{ .name = "show", .help = "how many packets were dropped, by reason", KEYWORDS(drop_show),
	  .run = rp_drop_show },
};

static const struct rp_verb qp_verbs[] = {
	{ .name = "show", .help = "queue pairs: whose they are, their class and their rate",
	  .run = rp_qp_show },
};

static const struct rp_verb job_verbs[] = {
	{ .name = "show", .help = "cgroups with queue pairs, and what their traffic looks like",
	  .run = rp_job_show },
};

static const struct rp_verb status_verbs[] = {
	{ .name = "", .help = "what is attached where, and by whom", .run = rp_status },
};

static const struct rp_verb run_verbs[] = {
	{ .name = "", .help = "keep the policy in force on netdevices that come later",
	  .subject = RP_ARG_FILE, .run = rp_run },
};

static const struct rp_keyword monitor[] = {
	DEV(ROCEPATH_A_EVENT_DEVICE, false),
	{ .name = "rdma", .type = RP_ARG_RDMA, .example = "DEV",
	  .help = "those of an RDMA device, and no others" },
};

static const struct rp_verb monitor_verbs[] = {
	{ .name = "", .help = "print events as they happen, a line each", KEYWORDS(monitor),
	  .run = rp_monitor },
};

static const struct rp_keyword doctor[] = {
	{ .name = "peer", .type = RP_ARG_PEER, .example = "ADDRESS",
	  .help = "and whether packets as large as QPs' get there; needs CAP_NET_RAW" },
};

static const struct rp_verb doctor_verbs[] = {
	{ .name = "", .help = "what RoCE needs of this host, and how what is wrong is mended",
	  .subject = RP_ARG_RDMA, .subjects = true, KEYWORDS(doctor), .run = rp_doctor },
};

static const struct rp_verb version_verbs[] = {
	{ .name = "", .help = "versions of the tool and of the module, and what they can do",
	  .run = rp_version },
};

static const struct rp_verb help_verbs[] = {
	{ .name = "", .help = "how the tool is used, or all that can be said of one object",
	  .subject = RP_ARG_OBJECT, .run = rp_help },
};

#define SEE_POLICY "rocepath.yaml(5) for what a policy may say, docs/examples/ for some"
#define SEE_CLASSES "rocepath.yaml(5), CLASSES, for what a policy may set in a class"
#define SEE_RULES "rocepath.yaml(5), RULES, for what a rule may ask for"
#define SEE_JOBS "docs/patterns.md for how a pattern is told"
#define SEE_ADMIT "rocepath.yaml(5), ADMIT, for what is dropped and what passes"

static const struct rp_object objects[] = {
	{ "device", "stacked netdevices, their settings and state", VERBS(device_verbs) },
	{ "port", "netdevices that a device sends and receives by", VERBS(port_verbs) },
	{ "peer", "remote hosts", VERBS(peer_verbs) },
	{ "path", "ports and their entropy values", VERBS(path_verbs) },
	{ "flow", "queue pairs of a device, what is held for them", VERBS(flow_verbs) },
	{ "key", "keys that hosts prove themselves with", VERBS(key_verbs) },
	{ "class", "classes of traffic, their counters and schedulers", VERBS(class_verbs),
	  SEE_CLASSES },
	{ "rule", "what puts traffic into a class", VERBS(rule_verbs), SEE_RULES },
	{ "qp", "queue pairs of all RDMA devices, and their owners", VERBS(qp_verbs) },
	{ "job", "cgroups and their patterns", VERBS(job_verbs), SEE_JOBS },
	{ "drop", "why packets are dropped", VERBS(drop_verbs), SEE_ADMIT },
	{ "stats", "counters, one for each reason", VERBS(stats_verbs) },
	{ "top", "what devices do now, live", VERBS(top_verbs) },
	{ "check", "whether a policy is right", VERBS(check_verbs), SEE_POLICY },
	{ "apply", "make a policy the one in force", VERBS(apply_verbs), SEE_POLICY },
	{ "try", "apply, and go back unless it is confirmed", VERBS(try_verbs), SEE_POLICY },
	{ "diff", "what apply would change", VERBS(diff_verbs) },
	{ "show", "the policy in force", VERBS(show_verbs) },
	{ "clean", "no policy", VERBS(clean_verbs) },
	{ "status", "what is attached where", VERBS(status_verbs) },
	{ "run", "follow netdevices that come and go", VERBS(run_verbs) },
	{ "monitor", "events", VERBS(monitor_verbs) },
	{ "rdma", "RDMA devices whose data passes the kernel by", VERBS(rp_rdma_verbs) },
	{ "doctor", "what is wrong with this host", VERBS(doctor_verbs) },
	{ "version", "what there is", VERBS(version_verbs) },
	{ "help", "more of this", VERBS(help_verbs) },
};

const struct rp_grammar rp_grammar = { objects, COUNT(objects) };
