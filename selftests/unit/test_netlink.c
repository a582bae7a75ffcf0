// SPDX-License-Identifier: GPL-2.0
/*
 * The tool against kernels of our own making: right answers give the output
 * that is expected, wrong and broken ones an error, and never more than that.
 *
 * The functions of libmnl that touch the socket are replaced here; requests
 * come to answer(), which queues the datagrams that are to be received. Time
 * passes only while somebody waits.
 */
/* SOURCES: user/units.c user/error.c user/words.c user/args.c user/help.c user/json.c */
/* SOURCES: selftests/unit/absent_commands.c */
/* SOURCES: user/netlink.c user/attrs.c user/sets.c user/table.c user/cli.c user/commands.c */
/* SOURCES: user/device.c user/port.c user/peer.c user/path.c user/flow.c user/key.c user/class.c */
/* SOURCES: user/stats.c user/monitor.c user/overview.c user/advice.c */
/* SOURCES: user/commands_rdma.c user/rdma_sets.c user/rdma.c user/rdma_ports.c user/files.c */
/* SOURCES: user/monitor_rdma.c user/owner.c */
/* SOURCES: user/discover.c user/hops.c user/fabric.c user/graph.c user/routers.c */
/* SOURCES: user/top.c user/sample.c user/rates.c user/rates_json.c user/view.c user/screen.c */
/* LIBS: -lmnl -lsmartcols -lncursesw */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "unit.h"
#include "../../user/commands.h"
#include "../../user/rdma.h"

#define PORTID 7
#define FAMILY 0x20
#define LOOPBACK 1	/* the ifindex of lo, which there always is */
#define DATAGRAM 16384
#define QUEUE 16

struct datagram {
	char bytes[DATAGRAM] __attribute__((aligned(8)));
	size_t len;	/* 0: as the message says */
};

static struct kernel {
	struct datagram queue[QUEUE];
	unsigned int first, count;
	int error;		/* answer of each command */
	const char *message;	/* with it */
	uint16_t bad_attr;	/* with it */
	int interrupts;		/* dumps that will be interrupted */
	unsigned int dumps;
	bool random;		/* answers hold anything */
	bool rdma;		/* it is the family of RDMA devices that is asked */
	bool reports;		/* there is a peer that reports */
	bool moves;		/* counters go on */
	bool fabric;		/* probes are answered by one: leaf, spine, leaf, peer */
	bool silent;		/* its spines are not */
	unsigned int deaf;	/* of so many answers one gets lost, 0: none */
	unsigned int busy;	/* probes that are refused first */
	int refusal;		/* and how */
	unsigned int probes;
	unsigned int dead_after;	/* so many probes nothing gets through spine 3 */
	unsigned int rounds;	/* of waiting for a change, until the connection breaks; 0: ever */
	uint64_t now_us;
	struct datagram events[QUEUE];
	unsigned int first_event, event_count;
	uint16_t event;		/* enum rocepath_event that comes */
	struct nlmsghdr *request;
	struct datagram last;	/* the request before the answer */
} kernel;

static struct nlmsghdr *add_message(uint16_t type, uint16_t flags)
{
	struct datagram *d = &kernel.queue[(kernel.first + kernel.count++) % QUEUE];
	struct nlmsghdr *nlh;

	assert_true(kernel.count <= QUEUE);
	memset(d, 0, sizeof(*d));
	nlh = mnl_nlmsg_put_header(d->bytes);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = flags;
	nlh->nlmsg_seq = kernel.request ? kernel.request->nlmsg_seq : 0;
	nlh->nlmsg_pid = kernel.request ? PORTID : 0;
	return nlh;
}

/* what @per_second has come to */
static uint64_t moved(uint64_t per_second)
{
	return kernel.moves ? per_second * kernel.now_us / 1000000 : 0;
}

static struct nlmsghdr *add_answer(uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *nlh = add_message(FAMILY, flags);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));

	genl->cmd = cmd;
	return nlh;
}

static uint32_t offset_of(const struct nlmsghdr *nlh, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == type)
			return (const char *)attr - (const char *)nlh;
	fail_msg("the request lacks attribute %u", type);
	return 0;
}

static void put_extack(struct nlmsghdr *nlh)
{
	if (!kernel.message && !kernel.bad_attr)
		return;
	nlh->nlmsg_flags |= NLM_F_ACK_TLVS;
	if (kernel.message)
		mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, kernel.message);
	if (kernel.bad_attr)
		mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS,
				 offset_of(kernel.request, kernel.bad_attr));
}

static bool is_probe(void)
{
	return ((struct genlmsghdr *)mnl_nlmsg_get_payload(kernel.request))->cmd ==
	       ROCEPATH_CMD_PROBE;
}

static void add_ack(void)
{
	struct nlmsghdr *nlh = add_message(NLMSG_ERROR, NLM_F_CAPPED);
	struct nlmsgerr *error = mnl_nlmsg_put_extra_header(nlh, sizeof(*error));

	error->error = kernel.error;
	if (kernel.busy && !kernel.error && is_probe()) {
		error->error = -kernel.refusal;
		kernel.busy--;
	}
	error->msg = *kernel.request;
	put_extack(nlh);
}

static void add_done(void)
{
	struct nlmsghdr *nlh = add_message(NLMSG_DONE, NLM_F_MULTI);

	*(int *)mnl_nlmsg_put_extra_header(nlh, sizeof(int)) = kernel.error;
	put_extack(nlh);
}

static void answer_family(void)
{
	struct nlmsghdr *nlh = add_answer(CTRL_CMD_NEWFAMILY, 0);
	struct nlattr *groups, *group;

	nlh->nlmsg_type = GENL_ID_CTRL;
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, FAMILY);
	mnl_attr_put_u32(nlh, CTRL_ATTR_VERSION, ROCEPATH_FAMILY_VERSION);
	groups = mnl_attr_nest_start(nlh, CTRL_ATTR_MCAST_GROUPS);
	group = mnl_attr_nest_start(nlh, 1);
	mnl_attr_put_strz(nlh, CTRL_ATTR_MCAST_GRP_NAME, ROCEPATH_MCGRP_EVENTS);
	mnl_attr_put_u32(nlh, CTRL_ATTR_MCAST_GRP_ID, 3);
	mnl_attr_nest_end(nlh, group);
	mnl_attr_nest_end(nlh, groups);
}

static void put_stats(struct nlmsghdr *nlh, uint16_t attr)
{
	struct nlattr *stats = mnl_attr_nest_start(nlh, attr);
	struct nlattr *stat = mnl_attr_nest_start(nlh, ROCEPATH_A_STATS_STAT);

	mnl_attr_put_strz(nlh, ROCEPATH_A_STAT_NAME, "tx_packets");
	mnl_attr_put_u64(nlh, ROCEPATH_A_STAT_VALUE, 1ull << 60);
	mnl_attr_nest_end(nlh, stat);
	if (kernel.moves) {
		stat = mnl_attr_nest_start(nlh, ROCEPATH_A_STATS_STAT);
		mnl_attr_put_strz(nlh, ROCEPATH_A_STAT_NAME, "tx_bytes");
		mnl_attr_put_u64(nlh, ROCEPATH_A_STAT_VALUE, moved(125000000));
		mnl_attr_nest_end(nlh, stat);
	}
	mnl_attr_nest_end(nlh, stats);
}

static void answer_device(void)
{
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_DEVICE_GET, 0);

	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_IFINDEX, LOOPBACK);
	mnl_attr_put_strz(nlh, ROCEPATH_A_DEVICE_NAME, "lo");
	mnl_attr_put_strz(nlh, ROCEPATH_A_DEVICE_SCHEDULER, "spray");
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_ENTROPY, ROCEPATH_ENTROPY_FLOWLABEL);
	if (kernel.fabric)
		mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_EVS, 8);
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_GAP_TIMEOUT_US, 0);
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_REORDER_BYTES, 1536 << 10);
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_MARK_MASK, 0x3f00);
	mnl_attr_put_u8(nlh, ROCEPATH_A_DEVICE_REORDERS, 1);
	mnl_attr_put_u64(nlh, ROCEPATH_A_DEVICE_INSTANCE, 0xabc);
	put_stats(nlh, ROCEPATH_A_DEVICE_STATS);
}

static void answer_fabric_port(uint32_t ifindex, const char *name)
{
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_PORT_GET, 0);

	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_DEVICE, LOOPBACK);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_IFINDEX, ifindex);
	mnl_attr_put_strz(nlh, ROCEPATH_A_PORT_NAME, name);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_STATE, ROCEPATH_PORT_UP);
}

static void answer_port(void)
{
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_PORT_GET, 0);

	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_DEVICE, LOOPBACK);
	mnl_attr_put_strz(nlh, ROCEPATH_A_PORT_NAME, "no \"such\" port");
	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_STATE, ROCEPATH_PORT_DOWN);
	mnl_attr_put_strz(nlh, ROCEPATH_A_PORT_REASON, "no carrier");
	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_SHARE, 125);
	if (kernel.moves)
		put_stats(nlh, ROCEPATH_A_PORT_STATS);
	if (!kernel.fabric)
		return;
	answer_fabric_port(11, "eth0");
	answer_fabric_port(12, "eth1");
}

static const uint8_t peer_address[16] = { [10] = 0xff, [11] = 0xff, 192, 0, 2, 1 };

static void answer_peer(void)
{
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_PEER_GET, 0);

	mnl_attr_put_u32(nlh, ROCEPATH_A_PEER_DEVICE, LOOPBACK);
	mnl_attr_put(nlh, ROCEPATH_A_PEER_ADDRESS, sizeof(peer_address), peer_address);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PEER_STATE, ROCEPATH_PEER_CAPABLE);
	mnl_attr_put_u8(nlh, ROCEPATH_A_PEER_REPORTS, 1);
	mnl_attr_put_u64(nlh, ROCEPATH_A_PEER_REPORT_AGE_MS, 1234);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PEER_LATENCY_US, 1500);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PEER_PATHS, 8);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PEER_PATHS_USABLE, 6);
}

/* a path of a port alone */
static struct nlmsghdr *answer_path(uint32_t ev)
{
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_PATH_GET, 0);

	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_DEVICE, LOOPBACK);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_PORT, 7);
	mnl_attr_put_strz(nlh, ROCEPATH_A_PATH_PORT_NAME, "eth0");
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_EV, ev);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_SPORT, 49152 + ev);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_FLOWLABEL, 0xff);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_STATE, ROCEPATH_PATH_SUSPECT);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_SHARE, 125000);
	return nlh;
}

/* a path towards a peer that reports */
static void answer_peer_path(void)
{
	struct nlmsghdr *nlh = answer_path(3);

	mnl_attr_put(nlh, ROCEPATH_A_PATH_PEER, sizeof(peer_address), peer_address);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_REASON, ROCEPATH_REASON_PROBE_LOST);
	mnl_attr_put_u64(nlh, ROCEPATH_A_PATH_SINCE_MS, 2500);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_RTT_US, 212);
	mnl_attr_put_u64(nlh, ROCEPATH_A_PATH_RTT_AGE_MS, 61000);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_LATE_US, 0);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_LOSS_PPM, 12500);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_RECEIVED, 4000 + moved(1500000000));
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_MARKED, 30 + moved(750000000));
	mnl_attr_put_u64(nlh, ROCEPATH_A_PATH_DELIVERED, (1ull << 60) + moved(99000));
	mnl_attr_put_u64(nlh, ROCEPATH_A_PATH_LOST, 17 + moved(1000));
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_FAILS, 2);
}

static void answer_paths(void)
{
	answer_path(9);
	if (kernel.reports)
		answer_peer_path();
}

static void answer_class(void)
{
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_CLASS_GET, 0);

	mnl_attr_put_u32(nlh, ROCEPATH_A_CLASS_DEVICE, LOOPBACK);
	mnl_attr_put_u32(nlh, ROCEPATH_A_CLASS_ID, 3);
	mnl_attr_put_strz(nlh, ROCEPATH_A_CLASS_SCHEDULER, "adaptive");
}

static void answer_flow(void)
{
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_FLOW_GET, 0);
	struct nlattr *window, *queue;

	mnl_attr_put_u32(nlh, ROCEPATH_A_FLOW_DEVICE, LOOPBACK);
	mnl_attr_put(nlh, ROCEPATH_A_FLOW_PEER, sizeof(peer_address), peer_address);
	mnl_attr_put_u32(nlh, ROCEPATH_A_FLOW_QP_TYPE, 9);
	window = mnl_attr_nest_start(nlh, ROCEPATH_A_FLOW_RESPONSES);
	mnl_attr_put_u32(nlh, ROCEPATH_A_WINDOW_HELD, 5);
	mnl_attr_put_u64(nlh, ROCEPATH_A_WINDOW_GAPS_FILLED, 6);
	mnl_attr_nest_end(nlh, window);
	queue = mnl_attr_nest_start(nlh, ROCEPATH_A_FLOW_SENT_REQUESTS);
	mnl_attr_put_u32(nlh, ROCEPATH_A_QUEUE_PACKETS, 64);
	mnl_attr_put_u64(nlh, ROCEPATH_A_QUEUE_REPAIRED, 7);
	mnl_attr_nest_end(nlh, queue);
	if (kernel.moves) {
		mnl_attr_put_u64(nlh, ROCEPATH_A_FLOW_TX_PACKETS, moved(50000));
		mnl_attr_put_u64(nlh, ROCEPATH_A_FLOW_TX_BYTES, moved(50000000));
		mnl_attr_put_u64(nlh, ROCEPATH_A_FLOW_TX_SPRAYED, moved(40000));
	}
	/* from a kernel that knows more */
	mnl_attr_put_u32(nlh, 200, 1);
}

static void put_path_event(struct nlmsghdr *nlh)
{
	mnl_attr_put_strz(nlh, ROCEPATH_A_EVENT_PORT_NAME, "eth0");
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_EV, 3);
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_TOOK_US, 2937);
	mnl_attr_put_strz(nlh, ROCEPATH_A_EVENT_REASON, "silent");
}

static void answer_event(void)
{
	static const uint8_t address[16] = { 0xfd, [15] = 1 };
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_EVENT, 0);

	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_TYPE, kernel.event);
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_DEVICE, LOOPBACK);
	mnl_attr_put_strz(nlh, ROCEPATH_A_EVENT_DEVICE_NAME, "lo");
	mnl_attr_put(nlh, ROCEPATH_A_EVENT_PEER, sizeof(address), address);
	if (kernel.event == ROCEPATH_EVENT_PATH_DOWN)
		put_path_event(nlh);
	else
		mnl_attr_put_strz(nlh, ROCEPATH_A_EVENT_REASON, "its hellos stopped");
	mnl_attr_put_u64(nlh, ROCEPATH_A_EVENT_TIME_NS, 86400000000123456);
}

static const struct nlattr *asked(uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, kernel.request, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	fail_msg("the request lacks attribute %u", type);
	return NULL;
}

static struct nlmsghdr *add_event(void)
{
	struct datagram *d = &kernel.events[(kernel.first_event + kernel.event_count) % QUEUE];
	struct nlmsghdr *nlh;

	if (kernel.event_count < QUEUE)
		kernel.event_count++;
	memset(d, 0, sizeof(*d));
	nlh = mnl_nlmsg_put_header(d->bytes);
	nlh->nlmsg_type = FAMILY;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct genlmsghdr));
	return nlh;
}

static void add_path_down(void)
{
	struct nlmsghdr *nlh = add_event();

	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_TYPE, ROCEPATH_EVENT_PATH_DOWN);
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_DEVICE, LOOPBACK);
	mnl_attr_put(nlh, ROCEPATH_A_EVENT_PEER, 16, peer_address);
}

/* a hash that is even: EV 0, 4, 8 ... by spine 0 */
static void answer_probe(void)
{
	uint32_t port = mnl_attr_get_u32(asked(ROCEPATH_A_PATH_PORT));
	uint32_t ev = mnl_attr_get_u32(asked(ROCEPATH_A_PATH_EV));
	uint8_t hops = mnl_attr_get_u8(asked(ROCEPATH_A_PATH_HOPS));
	uint8_t router[16] = { [10] = 0xff, [11] = 0xff, 10, hops, 0, hops == 2 ? ev % 4 : port };
	struct nlmsghdr *nlh;

	assert_int_equal(mnl_attr_get_u32(asked(ROCEPATH_A_PATH_DEVICE)), LOOPBACK);
	assert_memory_equal(mnl_attr_get_payload(asked(ROCEPATH_A_PATH_PEER)), peer_address, 16);
	kernel.probes++;
	if (kernel.dead_after && kernel.probes > kernel.dead_after && hops > 2 && ev % 4 == 3)
		return;
	if ((kernel.silent && hops == 2) || (kernel.deaf && kernel.probes % kernel.deaf == 0))
		return;
	nlh = add_event();
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_TYPE, ROCEPATH_EVENT_HOP);
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_DEVICE, LOOPBACK);
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_PORT, port);
	mnl_attr_put(nlh, ROCEPATH_A_EVENT_PEER, 16, peer_address);
	mnl_attr_put(nlh, ROCEPATH_A_EVENT_HOP, 16, hops < 4 ? router : peer_address);
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_EV, ev);
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_HOPS, hops);
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_COOKIE,
			 mnl_attr_get_u32(asked(ROCEPATH_A_PATH_COOKIE)));
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_RTT_US, 100 * (hops < 4 ? hops : 4));
}

static void put_random(struct nlmsghdr *nlh, const struct rp_set *set, unsigned int depth)
{
	for (unsigned int i = rnd_below(12); i-- && nlh->nlmsg_len < DATAGRAM / 2;) {
		const struct rp_field *field = &set->fields[rnd_below(set->count)];
		struct nlattr *nest;
		char bytes[24];

		rnd_fill(bytes, sizeof(bytes));
		if (field->wire == MNL_TYPE_BINARY && rnd_below(8)) {
			mnl_attr_put(nlh, field->attr, field->len, bytes);
		} else if (field->wire == MNL_TYPE_NESTED && depth) {
			nest = mnl_attr_nest_start(nlh, field->attr);
			put_random(nlh, field->nested ? field->nested : &rp_stat_attrs, depth - 1);
			mnl_attr_nest_end(nlh, nest);
		} else if (field->wire == MNL_TYPE_U32 || field->wire == MNL_TYPE_U64) {
			mnl_attr_put(nlh, field->attr, field->wire == MNL_TYPE_U32 ? 4 : 8, bytes);
		} else {
			bytes[sizeof(bytes) - rnd_below(2) - 1] = '\0';
			mnl_attr_put(nlh, field->attr, rnd_below(sizeof(bytes) + 1), bytes);
		}
	}
}

static const struct rp_set *const sets[] = {
	&rp_device_attrs, &rp_port_attrs, &rp_peer_attrs, &rp_path_attrs, &rp_flow_attrs,
	&rp_key_attrs, &rp_class_attrs, &rp_event_attrs, &rp_stat_attrs,
};

/* of the other family, whose commands have the same numbers */
static const struct rp_set *rdma_set_of(uint8_t cmd)
{
	switch (cmd) {
	case ROCEPATH_RDMA_CMD_PLAN_GET:
		return &rp_rdma_plan_attrs;
	case ROCEPATH_RDMA_CMD_PATH_GET:
		return &rp_rdma_path_attrs;
	case ROCEPATH_RDMA_CMD_PEER_GET:
		return &rp_rdma_peer_attrs;
	case ROCEPATH_RDMA_CMD_KEY_GET:
		return &rp_rdma_key_attrs;
	case ROCEPATH_RDMA_CMD_EVENT:
		return &rp_rdma_event_attrs;
	default:
		return &rp_rdma_device_attrs;
	}
}

static void answer_random(uint8_t cmd, bool multi)
{
	static const uint8_t set_of[] = { 0, 0, 0, 1, 1, 2, 3, 4, 5, 5, 5, 6, 6, 7, 3, 3 };

	for (unsigned int i = rnd_below(6); i--;) {
		struct nlmsghdr *nlh = add_answer(cmd, multi ? NLM_F_MULTI : 0);

		if (kernel.rdma)
			put_random(nlh, rdma_set_of(rnd_below(8) ? cmd : rnd_below(18)), 3);
		else
			put_random(nlh, sets[rnd_below(8) ? set_of[cmd] : rnd_below(9)], 3);
	}
}

/* break some bytes of what is queued, and the lengths of some datagrams */
static void spoil(void)
{
	for (unsigned int i = 0; i < kernel.count; i++) {
		struct datagram *d = &kernel.queue[(kernel.first + i) % QUEUE];
		struct nlmsghdr *nlh = (struct nlmsghdr *)d->bytes;

		d->len = nlh->nlmsg_len;
		for (unsigned int n = rnd_below(4); n--;)
			d->bytes[16 + rnd_below(d->len - 15)] = rnd();
		if (!rnd_below(8))
			nlh->nlmsg_len = rnd_below(2 * d->len);
		if (!rnd_below(16))
			d->len = rnd_range(1, d->len);
	}
}

static void answer(void)
{
	uint8_t cmd = ((struct genlmsghdr *)mnl_nlmsg_get_payload(kernel.request))->cmd;
	bool dump = (kernel.request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

	if (kernel.request->nlmsg_type == GENL_ID_CTRL) {
		answer_family();
		add_message(NLMSG_DONE, NLM_F_MULTI);
		return;
	}
	if (kernel.random)
		answer_random(cmd, dump);
	else if (kernel.error)
		;
	else if (cmd == ROCEPATH_CMD_DEVICE_GET)
		answer_device();
	else if (cmd == ROCEPATH_CMD_PORT_GET)
		answer_port();
	else if (cmd == ROCEPATH_CMD_PEER_GET && kernel.reports)
		answer_peer();
	else if (cmd == ROCEPATH_CMD_PATH_GET)
		answer_paths();
	else if (cmd == ROCEPATH_CMD_CLASS_GET && kernel.moves)
		answer_class();
	else if (cmd == ROCEPATH_CMD_FLOW_GET)
		answer_flow();
	else if (cmd == ROCEPATH_CMD_PROBE && kernel.busy)
		;
	else if (cmd == ROCEPATH_CMD_PROBE && kernel.fabric)
		answer_probe();
	if (dump) {
		kernel.dumps++;
		if (kernel.interrupts && kernel.interrupts--)
			add_message(FAMILY, NLM_F_DUMP_INTR);
		add_done();
	} else {
		add_ack();
	}
	if (kernel.random)
		spoil();
}

/* the first asks; the second, if there is one, listens */
static int sockets[2];
static unsigned int opened;

static bool is_listener(const struct mnl_socket *nl)
{
	return nl == (const struct mnl_socket *)&sockets[1];
}

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	assert_int_equal(bus, NETLINK_GENERIC);
	assert_true(opened < 2);
	return (struct mnl_socket *)&sockets[opened++];
}

int mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid)
{
	return 0;
}

int mnl_socket_close(struct mnl_socket *nl)
{
	return 0;
}

int mnl_socket_get_fd(const struct mnl_socket *nl)
{
	return -1;
}

unsigned int mnl_socket_get_portid(const struct mnl_socket *nl)
{
	return PORTID;
}

static void random_events(void)
{
	for (unsigned int i = rnd_below(6); i--;)
		put_random(add_event(), kernel.rdma ? &rp_rdma_event_attrs : &rp_event_attrs, 3);
}

int mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf, socklen_t len)
{
	if (type != NETLINK_ADD_MEMBERSHIP)
		return 0;
	if (is_listener(nl)) {
		if (kernel.random)
			random_events();
	} else if (kernel.random) {
		answer_random(kernel.rdma ? ROCEPATH_RDMA_CMD_EVENT : ROCEPATH_CMD_EVENT, false);
		spoil();
	} else {
		answer_event();
	}
	return 0;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *request, size_t len)
{
	kernel.request = (void *)request;
	kernel.count = 0;
	memcpy(kernel.last.bytes, request, len);
	assert_int_equal(kernel.request->nlmsg_len, len);
	answer();
	kernel.request = NULL;
	return len;
}

static ssize_t give(const struct datagram *d, void *buf, size_t size)
{
	size_t len = d->len ? d->len : ((const struct nlmsghdr *)d->bytes)->nlmsg_len;

	assert_true(len <= size);
	memcpy(buf, d->bytes, len);
	return len;
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	if (is_listener(nl) && kernel.event_count) {
		kernel.event_count--;
		return give(&kernel.events[kernel.first_event++ % QUEUE], buf, size);
	}
	if (!kernel.count) {
		errno = EIO;
		return -1;
	}
	kernel.count--;
	return give(&kernel.queue[kernel.first++ % QUEUE], buf, size);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	if (kernel.event_count)
		return 1;
	if (kernel.rounds && timeout->tv_sec >= 30 && !--kernel.rounds) {
		errno = EIO;
		return -1;
	}
	if (kernel.rounds && timeout->tv_sec >= 30)
		add_path_down();
	kernel.now_us += timeout->tv_sec * 1000000 + timeout->tv_nsec / 1000 + 1;
	return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	kernel.now_us += wanted->tv_sec * 1000000 + wanted->tv_nsec / 1000;
	return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	*now = (struct timespec){ kernel.now_us / 1000000, kernel.now_us % 1000000 * 1000 };
	return 0;
}

/* what the tool printed */
struct run {
	int ret;
	char *out, *err;
};

static struct run run(const char *line)
{
	FILE *out = stdout, *err = stderr;
	struct rp_cli cli = { .format.json = !strncmp(line, "-j", 2) };
	struct run run = { 0 };
	struct rp_error error;
	struct rp_args args;
	char copy[128], *words[16];
	size_t out_len, err_len;
	int count = 0;

	opened = 0;
	snprintf(copy, sizeof(copy), "%s", line + (cli.format.json ? 2 : 0));
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		words[count++] = w;
	if (count && rp_args_parse(&rp_grammar, count, words, &args, &error))
		fail_msg("%s: %s", line, error.text);
	stdout = open_memstream(&run.out, &out_len);
	stderr = open_memstream(&run.err, &err_len);
	run.ret = count ? args.verb->run(&cli, &args) : rp_overview(&cli);
	rp_nl_release(cli.nl);
	rp_nl_release(cli.rdma);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	return run;
}

static void gives(const char *line, int ret, const char *out, const char *err)
{
	struct run got = run(line);

	require(got.ret == ret && !strcmp(got.out, out) && !strcmp(got.err, err),
		"%s: %d\n%s\n%s", line, got.ret, got.out, got.err);
	free(got.out);
	free(got.err);
}

static int reset(void **state)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.event = ROCEPATH_EVENT_PEER_LOST;
	kernel.now_us = 1000000;
	kernel.refusal = EBUSY;
	return 0;
}

static void test_show(void **state)
{
	gives("port show", 0,
	      "DEVICE PORT           STATE REASON     WEIGHT SINCE FLAPS SHARE\n"
	      "lo     no \"such\" port down  no carrier      -     -     - 12.5%\n", "");
	gives("flow", 0,
	      "DEVICE PEER      QPN PEER-QPN TYPE      MTU SENT SPRAYED REQ-HELD REQ-FILLED REQ-EXPIRED RSP-HELD RSP-FILLED RSP-EXPIRED REQ-KEPT REQ-REPAIRED RSP-KEPT RSP-REPAIRED\n"
	      "lo     192.0.2.1   -        - unknown-9   -    -       -        -          -           -        5          6           -       64            7        -            -\n",
	      "");
	gives("device show lo", 0,
	      "ifindex       1\nname          lo\nscheduler     spray\nentropy       flowlabel\n"
	      "gap-timeout   auto\nreorder-bytes 1.5MiB\nmark-mask     0x3f00\n"
	      "reorders      yes\ninstance      0000000000000abc\n", "");
	gives("stats show lo", 0,
	      "OF COUNTER                  VALUE\nlo tx_packets 1152921504606846976\n", "");
	gives("peer show", 0, "",
	      "rocepath: no peer yet: nothing was sent to a RoCE address, and no hello came\n");
}

static void test_show_json(void **state)
{
	gives("-j port show", 0,
	      "[{\"device\":\"lo\",\"name\":\"no \\\"such\\\" port\",\"state\":\"down\",\"reason\":\"no carrier\",\"share_permille\":125}]\n",
	      "");
	gives("-j flow show dev lo", 0,
	      "[{\"device\":\"lo\",\"peer\":\"192.0.2.1\",\"qp_type\":\"unknown-9\",\"responses\":{\"held\":5,\"gaps_filled\":6},\"sent_requests\":{\"kept\":64,\"repaired\":7}}]\n",
	      "");
	gives("-j device show lo", 0,
	      "[{\"ifindex\":1,\"name\":\"lo\",\"scheduler\":\"spray\",\"entropy\":\"flowlabel\",\"gap_timeout_us\":0,\"reorder_bytes\":1572864,\"mark_mask\":16128,\"reorders\":true,\"instance\":\"0000000000000abc\",\"stats\":{\"tx_packets\":1152921504606846976}}]\n",
	      "");
	gives("-j stats show lo", 0,
	      "[{\"kind\":\"device\",\"name\":\"lo\",\"stats\":{\"tx_packets\":1152921504606846976}}]\n",
	      "");
	gives("-j peer show", 0, "[]\n", "");
}

static void test_paths(void **state)
{
	kernel.reports = true;
	gives("path show", 0,
	      "DEVICE PEER      PORT EV SPORT STATE   REASON     SINCE SHARE   RTT RTT-AGE LATE  LOSS    CE FAILS\n"
	      "lo     -         eth0  9 49161 suspect -              - 12.5%     -       -    -     -     -     -\n"
	      "lo     192.0.2.1 eth0  3 49155 suspect probe-lost  2.5s 12.5% 212us    1m1s  0us 1.25% 0.75%     2\n",
	      "");
	gives("-j path show peer 192.0.2.1", 0,
	      "[{\"device\":\"lo\",\"peer\":\"192.0.2.1\",\"port_ifindex\":7,\"port\":\"eth0\",\"ev\":3,\"sport\":49155,\"flowlabel\":255,\"state\":\"suspect\",\"reason\":\"probe-lost\",\"since_ms\":2500,\"share\":125000,\"rtt_us\":212,\"rtt_age_ms\":61000,\"late_us\":0,\"loss_ppm\":12500,\"received\":4000,\"marked\":30,\"delivered\":1152921504606846976,\"lost\":17,\"fails\":2}]\n",
	      "");
	gives("-j path show peer fd00::1", 0, "[]\n", "");
	gives("path show peer fd00::1", 0, "",
	      "rocepath: no paths of that peer are known: it does not report; see: rocepath peer show\n");
	gives("peer show", 0,
	      "DEVICE PEER      STATE   KEY HELLO RTT FLOWS RESTARTS REPORTS REPORT LATENCY PATHS\n"
	      "lo     192.0.2.1 capable   -     -   -     -        - yes       1.2s   1.5ms   6/8\n",
	      "");
	gives("-j peer show", 0,
	      "[{\"device\":\"lo\",\"address\":\"192.0.2.1\",\"state\":\"capable\",\"reports\":true,\"report_age_ms\":1234,\"latency_us\":1500,\"paths_usable\":6,\"paths\":8}]\n",
	      "");
}

/* the payload of an attribute of the last request */
static void sent(uint16_t type, const void *payload, size_t len)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)kernel.last.bytes;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) != type)
			continue;
		assert_int_equal(mnl_attr_get_payload_len(attr), len);
		assert_memory_equal(mnl_attr_get_payload(attr), payload, len);
		return;
	}
	fail_msg("the last request lacks attribute %u", type);
}

static void sent_u32(uint16_t type, uint32_t value)
{
	sent(type, &value, sizeof(value));
}

static void test_set(void **state)
{
	static const uint8_t none[16], six[16] = { 0xfd, [15] = 1 };

	gives("device set lo report-interval 1.5ms repair-bytes 64MiB", 0, "", "");
	sent_u32(ROCEPATH_A_DEVICE_REPORT_INTERVAL_US, 1500);
	sent_u32(ROCEPATH_A_DEVICE_REPAIR_BYTES, 64 << 20);
	gives("device set lo loss-threshold 0.5% probe-interval never", 0, "", "");
	sent_u32(ROCEPATH_A_DEVICE_LOSS_PPM, 5000);
	sent_u32(ROCEPATH_A_DEVICE_PROBE_INTERVAL_MS, 0);
	gives("port set lo weight 3 via 10.0.0.1", 0, "", "");
	sent_u32(ROCEPATH_A_PORT_WEIGHT, 3);
	sent(ROCEPATH_A_PORT_VIA4, "\x0a\x00\x00\x01", 4);
	gives("port set lo via fd00::1", 0, "", "");
	sent(ROCEPATH_A_PORT_VIA6, six, sizeof(six));
	gives("port set lo via none", 0, "", "");
	sent(ROCEPATH_A_PORT_VIA4, none, 4);
	sent(ROCEPATH_A_PORT_VIA6, none, sizeof(none));
	gives("path set dev lo peer 192.0.2.1 port lo evs 3,7-9", 0, "", "");
	sent_u32(ROCEPATH_A_PATH_DEVICE, LOOPBACK);
	sent_u32(ROCEPATH_A_PATH_PORT, LOOPBACK);
	sent(ROCEPATH_A_PATH_PEER, peer_address, sizeof(peer_address));
	sent(ROCEPATH_A_PATH_EVS, "\x03\x07\x08\x09", 4);
	gives("path set dev lo peer 192.0.2.1 port lo evs default", 0, "", "");
	sent(ROCEPATH_A_PATH_EVS, "", 0);
}

static void test_top(void **state)
{
	kernel.reports = true;
	kernel.moves = true;
	gives("top -1 -d 2 dev lo", 0,
	      "rocepath top, rates over 2s\n\n"
	      "DEVICE SCHEDULER PORTS PEERS FLOWS    TX   RX HELD KEPT REORDERED/s REPAIRED/s REROUTED/s DROPPED/s\n"
	      "lo     spray       0/0     0     0 1Gbit 0bit   0B   0B           0          0          0         0\n\n"
	      "DEVICE PORT           STATE SINCE SHARE    TX   RX TX-PACKETS/s RX-PACKETS/s LOST/s\n"
	      "lo     no \"such\" port down   0.0s 12.5% 1Gbit 0bit            0            0      0\n\n"
	      "DEVICE PEER      PORT EV STATE   SHARE REASON     SINCE PACKETS/s LOSS  CE   RTT RTT-AGE LATE\n"
	      "lo     192.0.2.1 eth0  3 suspect 12.5% probe-lost  2.5s       99k   1% 50% 212us    1m1s  0us\n"
	      "lo     -         eth0  9 suspect 12.5% -              -         -    -   -     -       -    -\n\n"
	      "DEVICE CLASS SCHEDULER\n"
	      "lo         3 adaptive\n\n"
	      "DEVICE PEER      QPN PEER-QPN TYPE      PACKETS/s    RATE SPRAYED HELD KEPT REPAIRED/s\n"
	      "lo     192.0.2.1   0        0 unknown-9       50k 400Mbit     80%    5   64          0\n",
	      "");
	reset(NULL);
	kernel.reports = true;
	kernel.moves = true;
	gives("-j top", 0,
	      "{\"interval_us\":1000000,\"devices\":[{\"name\":\"lo\",\"scheduler\":\"spray\",\"ports\":0,\"ports_up\":0,\"peers\":0,\"flows\":0,\"held_bytes\":0,\"kept_bytes\":0,\"tx_bits_per_s\":1000000000,\"rx_bits_per_s\":0,\"held_per_s\":0,\"repaired_per_s\":0,\"rerouted_per_s\":0,\"dropped_per_s\":0}],\"ports\":[{\"device\":\"lo\",\"name\":\"no \\\"such\\\" port\",\"state\":\"down\",\"since_ms\":0,\"share_permille\":125,\"tx_bits_per_s\":1000000000,\"rx_bits_per_s\":0,\"tx_packets_per_s\":0,\"rx_packets_per_s\":0,\"lost_per_s\":0}],\"paths\":[{\"device\":\"lo\",\"peer\":\"192.0.2.1\",\"port\":\"eth0\",\"ev\":3,\"state\":\"suspect\",\"share\":125000,\"reason\":\"probe-lost\",\"since_ms\":2500,\"packets_per_s\":99000,\"loss_ppm\":10000,\"marked_ppm\":500000,\"rtt_us\":212,\"rtt_age_ms\":61000,\"late_us\":0},{\"device\":\"lo\",\"port\":\"eth0\",\"ev\":9,\"state\":\"suspect\",\"share\":125000}],\"classes\":[{\"device\":\"lo\",\"id\":3,\"scheduler\":\"adaptive\"}],\"flows\":[{\"device\":\"lo\",\"peer\":\"192.0.2.1\",\"local_qpn\":0,\"remote_qpn\":0,\"qp_type\":null,\"packets_per_s\":50000,\"bits_per_s\":400000000,\"sprayed_ppm\":800000,\"held\":5,\"kept\":64,\"repaired_per_s\":0}]}\n",
	      "");
}

static void test_discover(void **state)
{
	static const char paths[] =
		"PORT HOPS ROUTERS                      REACHED   RTT EVS CHOSEN\n"
		"eth0    4 10.1.0.11 10.2.0.0 10.3.0.11 yes     400us   2 0,4\n"
		"eth0    4 10.1.0.11 10.2.0.1 10.3.0.11 yes     400us   2 1,5\n"
		"eth0    4 10.1.0.11 10.2.0.2 10.3.0.11 yes     400us   2 2,6\n"
		"eth0    4 10.1.0.11 10.2.0.3 10.3.0.11 yes     400us   2 3,7\n"
		"eth1    4 10.1.0.12 10.2.0.0 10.3.0.12 yes     400us   2 0,4\n"
		"eth1    4 10.1.0.12 10.2.0.1 10.3.0.12 yes     400us   2 1,5\n"
		"eth1    4 10.1.0.12 10.2.0.2 10.3.0.12 yes     400us   2 2,6\n"
		"eth1    4 10.1.0.12 10.2.0.3 10.3.0.12 yes     400us   2 3,7\n";
	static const char commands[] =
		"rocepath path set dev lo peer 192.0.2.1 port eth0 evs 0-7\n"
		"rocepath path set dev lo peer 192.0.2.1 port eth1 evs 0-7\n"
		"\nto have them whenever the policy is applied, in its file:\n"
		"devices:\n  - name: lo\n    ports:\n"
		"      - {name: eth0, paths: [{peer: '192.0.2.1', evs: [0-7]}]}\n"
		"      - {name: eth1, paths: [{peer: '192.0.2.1', evs: [0-7]}]}\n";
	char expected[2048];

	kernel.fabric = true;
	snprintf(expected, sizeof(expected), "%s\nnot in use yet; use them by `apply`, or:\n%s",
		 paths, commands);
	gives("path discover 192.0.2.1 dev lo evs 8", 0, expected, "");
	/* each EV end to end, then each hop up to the peer, and nothing twice */
	assert_int_equal(kernel.probes, 2 * 8 * 5);
	snprintf(expected, sizeof(expected), "%s\nin use now; to do the same again:\n%s", paths,
		 commands);
	kernel.deaf = 7;
	kernel.busy = 3;
	gives("path discover 192.0.2.1 dev lo evs 8 --apply", 0, expected, "");
	sent_u32(ROCEPATH_A_PATH_PORT, 12);
	sent(ROCEPATH_A_PATH_EVS, "\x00\x01\x02\x03\x04\x05\x06\x07", 8);
}

static void test_discover_json(void **state)
{
	kernel.fabric = true;
	gives("-j path discover 192.0.2.1 dev lo evs 1", 0,
	      "{\"device\":\"lo\",\"peer\":\"192.0.2.1\",\"applied\":false,\"ports\":[{\"port\":\"eth0\",\"tried\":1,\"reached\":1,\"unsure\":0,\"blind_hops\":[],\"chosen\":[0]},{\"port\":\"eth1\",\"tried\":1,\"reached\":1,\"unsure\":0,\"blind_hops\":[],\"chosen\":[0]}],\"paths\":[{\"port\":\"eth0\",\"reached\":true,\"routers\":[\"10.1.0.11\",\"10.2.0.0\",\"10.3.0.11\"],\"rtt_us\":400,\"evs\":[0],\"chosen\":[0]},{\"port\":\"eth1\",\"reached\":true,\"routers\":[\"10.1.0.12\",\"10.2.0.0\",\"10.3.0.12\"],\"rtt_us\":400,\"evs\":[0],\"chosen\":[0]}]}\n",
	      "");
	gives("path discover 192.0.2.1 dev lo evs 1 hops 2 dot", 0,
	      "digraph fabric {\n\trankdir=LR;\n\tnode [shape=box];\n"
	      "\t\"lo\" [shape=ellipse];\n\t\"192.0.2.1\" [shape=ellipse];\n"
	      "\t\"lo\" -> \"eth0\" [label=\"1\", style=bold];\n"
	      "\t\"eth0\" -> \"10.1.0.11\" [label=\"1\", style=bold];\n"
	      "\t\"10.1.0.11\" -> \"10.2.0.0\" [label=\"1\", style=bold];\n"
	      "\t\"10.2.0.0\" -> \"192.0.2.1\" [label=\"2\", style=bold];\n"
	      "\t\"lo\" -> \"eth1\" [label=\"1\", style=bold];\n"
	      "\t\"eth1\" -> \"10.1.0.12\" [label=\"1\", style=bold];\n"
	      "\t\"10.1.0.12\" -> \"10.2.0.0\" [label=\"1\", style=bold];\n}\n", "");
}

/* a path fails after the first look: the second leaves its EVs out, and that is applied */
static void test_discover_watch(void **state)
{
	static const char *const expected[] = {
		"port eth0 evs 0-7\n", "not reached", "10.2.0.3", "port eth0 evs 0-2,4-6\n",
		"Input/output error",
	};
	const char *at;
	struct run got;

	kernel.fabric = true;
	kernel.dead_after = 2 * 8 * 5;
	kernel.rounds = 2;
	got = run("path discover 192.0.2.1 dev lo evs 8 apply watch");
	assert_int_equal(got.ret, 1);
	at = got.out;
	for (unsigned int i = 0; i < ARRAY_SIZE(expected); i++) {
		if (strstr(got.err, expected[i]))
			continue;
		at = strstr(at, expected[i]);
		require(at, "'%s' is not in order in\n%s%s", expected[i], got.out, got.err);
	}
	sent(ROCEPATH_A_PATH_EVS, "\x00\x01\x02\x04\x05\x06", 6);
	free(got.out);
	free(got.err);
}

static void test_discover_silence(void **state)
{
	static const char dead[] =
		"rocepath: eth0: the peer answered by none of its paths; random EVs stay\n"
		"rocepath: eth1: the peer answered by none of its paths; random EVs stay\n"
		"rocepath: 192.0.2.1 answers no probe; is it there? see: rocepath peer show\n";

	kernel.fabric = true;
	kernel.silent = true;
	gives("path discover 192.0.2.1 dev lo evs 8 --apply", 0,
	      "PORT HOPS ROUTERS               REACHED   RTT EVS CHOSEN\n"
	      "eth0    4 10.1.0.11 * 10.3.0.11 yes     400us   8 -\n"
	      "eth1    4 10.1.0.12 * 10.3.0.12 yes     400us   8 -\n",
	      "rocepath: eth0: routers do not answer at some hop: what is distinct there is not seen; random EVs stay\n"
	      "rocepath: eth1: routers do not answer at some hop: what is distinct there is not seen; random EVs stay\n");
	kernel.deaf = 1;
	gives("path discover 192.0.2.1 dev lo evs 2", 1,
	      "PORT HOPS ROUTERS  REACHED RTT EVS CHOSEN\n"
	      "eth0    - (nobody) no        -   2 -\n"
	      "eth1    - (nobody) no        -   2 -\n",
	      dead);
	kernel.refusal = ENOTCONN;
	kernel.busy = 1000000;
	kernel.message = "Why not";
	gives("path discover 192.0.2.1 dev lo evs 2", 1, "", "rocepath: lo: Why not\n");
	kernel.message = NULL;
	kernel.refusal = EBUSY;
	gives("path discover 192.0.2.1 dev lo evs 2", 1, "",
	      "rocepath: lo: Device or resource busy\n");
	kernel.fabric = false;
	gives("path discover 192.0.2.1 dev lo", 1, "",
	      "rocepath: lo has no port that is up; see: rocepath port show dev lo\n");
}

static void test_refusals(void **state)
{
	kernel.error = -EPERM;
	gives("flow show", 1, "",
	      "rocepath: Operation not permitted; it needs CAP_NET_ADMIN: run it as root\n");
	gives("-j key show", 1, "",
	      "rocepath: Operation not permitted; it needs CAP_NET_ADMIN: run it as root\n");
	kernel.error = -EOPNOTSUPP;
	gives("port set lo weight 2", 1, "",
	      "rocepath: lo: Operation not supported; make it a port: ip link set lo master DEV\n");
	kernel.error = -EINVAL;
	kernel.message = "Because";
	kernel.bad_attr = ROCEPATH_A_DEVICE_EVS;
	gives("device set lo scheduler flow evs 3", 1, "", "rocepath: lo: evs: Because\n");
	kernel.bad_attr = 0;
	gives("class show dev lo", 1, "", "rocepath: lo: Because\n");
}

static void test_interrupted(void **state)
{
	kernel.interrupts = 3;
	gives("-j peer show", 0, "[]\n", "");
	assert_int_equal(kernel.dumps, 4);
	kernel.interrupts = 1000;
	gives("peer show", 1, "", "rocepath: Resource temporarily unavailable\n");
}

/* after the event there is nothing more to receive: EIO */
static void test_monitor(void **state)
{
	static const char end[] = "rocepath: Input/output error\n";

	setenv("TZ", "UTC", 1);
	gives("monitor", 1,
	      "1972-09-27 00:00:00.000 lo peer-lost fd00::1: its hellos stopped\n", end);
	gives("-j monitor dev lo", 1,
	      "{\"type\":\"peer-lost\",\"device_ifindex\":1,\"device\":\"lo\",\"peer\":\"fd00::1\",\"reason\":\"its hellos stopped\",\"time_ns\":86400000000123456}\n",
	      end);
	kernel.event = ROCEPATH_EVENT_PATH_DOWN;
	gives("monitor", 1,
	      "1972-09-27 00:00:00.000 lo path eth0/3 to fd00::1 down: silent, found after 2.94ms\n",
	      end);
	gives("-j monitor", 1,
	      "{\"type\":\"path-down\",\"device_ifindex\":1,\"device\":\"lo\",\"port\":\"eth0\",\"peer\":\"fd00::1\",\"reason\":\"silent\",\"time_ns\":86400000000123456,\"ev\":3,\"took_us\":2937}\n",
	      end);
	kernel.event = ROCEPATH_EVENT_HOP;
	gives("monitor", 1, "", end);
}

static void test_missing_interface(void **state)
{
	gives("device set nosuchdevice evs 3", 1, "",
	      "rocepath: there is no device nosuchdevice; make it: ip link add nosuchdevice type rocepath\n");
	gives("port set nosuchport weight 3", 1, "",
	      "rocepath: there is no netdevice nosuchport; see the ports: rocepath port show\n");
}

static const char *skip_space(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static const char *skip_string(const char *s)
{
	for (s++; *s != '"'; s++) {
		require((unsigned char)*s >= 0x20, "a string has no end");
		if (*s == '\\')
			s++;
	}
	return s + 1;
}

/* returns where a JSON value ends; fails when it is none */
static const char *skip_value(const char *s)
{
	char closing = *s == '{' ? '}' : ']';
	bool object = *s == '{';

	if (*s == '"')
		return skip_string(s);
	if (*s != '{' && *s != '[') {
		size_t len = strspn(s, "0123456789");

		len = len ? len : strspn(s, "truefalsn");
		require(len, "no value: %.20s", s);
		return s + len;
	}
	if (*++s == closing)
		return s + 1;
	for (;; s++) {
		if (object) {
			require(*s == '"', "no key: %.20s", s);
			s = skip_string(s);
			require(*s++ == ':', "no colon");
		}
		s = skip_value(s);
		if (*s == closing)
			return s + 1;
		require(*s == ',', "no comma: %.20s", s);
	}
}

/* each line is one value */
static void check_json(const char *text)
{
	for (text = skip_space(text); *text; text = skip_space(text))
		text = skip_value(text);
}

static void test_hostile(void **state)
{
	static const char *const lines[] = {
		"", "-j", "device show", "-j device show", "device show lo", "-j device show lo",
		"device set lo evs 3", "port show", "-j port show", "port show dev lo",
		"peer show", "-j peer show", "path show", "-j path show",
		"path show peer 10.0.0.2", "flow show", "-j flow show", "key show", "-j key show",
		"class show", "-j class show",
		"stats show", "-j stats show", "stats show lo", "key del dev lo id 1",
		"class set dev lo id 3 scheduler flow", "top -1", "-j top",
		"path discover 10.0.0.2 dev lo evs 2 hops 2",
		"-j path discover 10.0.0.2 dev lo evs 2 hops 2",
		"rdma plan", "-j rdma plan dev rxe0 peer 10.0.0.2", "rdma path", "-j rdma path",
		"rdma path dev rxe0", "rdma peer", "-j rdma peer", "rdma key-show",
		"-j rdma key-show", "rdma set all steering on", "rdma key-del id 1",
		"rdma qp-set dev rxe0 qpn 17 exempt yes",
		"rdma path-set dev rxe0 from fd00::1 peer fd00::2 ev 3 state down",
	};
	unsigned int done = 0;

	for (int i = 0; i < ROUNDS(200000); i++) {
		const char *line = lines[rnd_below(ARRAY_SIZE(lines))];
		struct run got;

		reset(NULL);
		kernel.random = true;
		kernel.rdma = strstr(line, "rdma ");
		kernel.error = rnd_below(4) ? 0 : -(int)rnd_below(200);
		kernel.message = rnd_below(4) ? NULL : "Because";
		got = run(line);
		if (!got.ret) {
			done++;
			if (!strncmp(line, "-j", 2))
				check_json(got.out);
		} else {
			require(*got.err, "%s failed without a word", line);
		}
		free(got.out);
		free(got.err);
	}
	/* or nothing was tested but refusals */
	assert_true(done > ROUNDS(200000) / 50);
}

static void test_hostile_events(void **state)
{
	static const char *const lines[] = { "monitor", "-j monitor", "monitor dev lo",
					     "monitor rdma rxe0", "-j monitor rdma rxe0" };

	for (int i = 0; i < ROUNDS(100000); i++) {
		const char *line = lines[rnd_below(ARRAY_SIZE(lines))];
		struct run got;

		reset(NULL);
		kernel.random = true;
		kernel.rdma = strstr(line, "rdma ");
		got = run(line);
		assert_int_equal(got.ret, 1);
		if (!strncmp(line, "-j", 2))
			check_json(got.out);
		free(got.out);
		free(got.err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_show, reset),
		cmocka_unit_test_setup(test_show_json, reset),
		cmocka_unit_test_setup(test_paths, reset),
		cmocka_unit_test_setup(test_set, reset),
		cmocka_unit_test_setup(test_top, reset),
		cmocka_unit_test_setup(test_discover, reset),
		cmocka_unit_test_setup(test_discover_json, reset),
		cmocka_unit_test_setup(test_discover_watch, reset),
		cmocka_unit_test_setup(test_discover_silence, reset),
		cmocka_unit_test_setup(test_refusals, reset),
		cmocka_unit_test_setup(test_interrupted, reset),
		cmocka_unit_test_setup(test_monitor, reset),
		cmocka_unit_test_setup(test_missing_interface, reset),
		cmocka_unit_test_setup(test_hostile, reset),
		cmocka_unit_test_setup(test_hostile_events, reset),
	};

	return unit_run(tests);
}
