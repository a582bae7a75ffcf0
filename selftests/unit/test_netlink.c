// SPDX-License-Identifier: GPL-2.0
/*
 * The tool against kernels of our own making: right answers give the output
 * that is expected, wrong and broken ones an error, and never more than that.
 *
 * The functions of libmnl that touch the socket are replaced here; requests
 * come to answer(), which queues the datagrams that are to be received.
 */
/* SOURCES: user/units.c user/error.c user/words.c user/args.c user/help.c user/json.c */
/* SOURCES: user/netlink.c user/attrs.c user/sets.c user/table.c user/cli.c user/commands.c */
/* SOURCES: user/device.c user/port.c user/peer.c user/path.c user/flow.c user/key.c user/class.c */
/* SOURCES: user/stats.c user/monitor.c user/overview.c user/advice.c */
/* LIBS: -lmnl -lsmartcols */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "unit.h"
#include "../../user/commands.h"

#define PORTID 7
#define FAMILY 0x20
#define LOOPBACK 1	/* the ifindex of lo, which there always is */
#define DATAGRAM 16384
#define QUEUE 16

/* these want more than the tests link */
#define ABSENT(name) int name(struct rp_cli *cli, const struct rp_args *args) { return 0; }
ABSENT(rp_version)
ABSENT(rp_help)
ABSENT(rp_check)
ABSENT(rp_policy_apply)
ABSENT(rp_policy_try)
ABSENT(rp_policy_diff)
ABSENT(rp_policy_show)
ABSENT(rp_policy_clean)
ABSENT(rp_rule_show)
ABSENT(rp_drop_show)
ABSENT(rp_qp_show)
ABSENT(rp_job_show)
ABSENT(rp_status)
ABSENT(rp_run)

int rp_policy_classes(struct rp_cli *cli) { return 0; }
bool rp_policy_is_in_force(void) { return false; }

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
	struct nlmsghdr *request;
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

static void add_ack(void)
{
	struct nlmsghdr *nlh = add_message(NLMSG_ERROR, NLM_F_CAPPED);
	struct nlmsgerr *error = mnl_nlmsg_put_extra_header(nlh, sizeof(*error));

	error->error = kernel.error;
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
	mnl_attr_nest_end(nlh, stats);
}

static void answer_device(void)
{
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_DEVICE_GET, 0);

	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_IFINDEX, LOOPBACK);
	mnl_attr_put_strz(nlh, ROCEPATH_A_DEVICE_NAME, "lo");
	mnl_attr_put_strz(nlh, ROCEPATH_A_DEVICE_SCHEDULER, "spray");
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_ENTROPY, ROCEPATH_ENTROPY_FLOWLABEL);
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_GAP_TIMEOUT_US, 0);
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_REORDER_BYTES, 1536 << 10);
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_MARK_MASK, 0x3f00);
	mnl_attr_put_u8(nlh, ROCEPATH_A_DEVICE_REORDERS, 1);
	mnl_attr_put_u64(nlh, ROCEPATH_A_DEVICE_INSTANCE, 0xabc);
	put_stats(nlh, ROCEPATH_A_DEVICE_STATS);
}

static void answer_port(void)
{
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_PORT_GET, 0);

	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_DEVICE, LOOPBACK);
	mnl_attr_put_strz(nlh, ROCEPATH_A_PORT_NAME, "no \"such\" port");
	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_STATE, ROCEPATH_PORT_DOWN);
	mnl_attr_put_strz(nlh, ROCEPATH_A_PORT_REASON, "no carrier");
	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_SHARE, 125);
}

static void answer_flow(void)
{
	static const uint8_t address[16] = { [10] = 0xff, [11] = 0xff, 192, 0, 2, 1 };
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_FLOW_GET, 0);
	struct nlattr *window;

	mnl_attr_put_u32(nlh, ROCEPATH_A_FLOW_DEVICE, LOOPBACK);
	mnl_attr_put(nlh, ROCEPATH_A_FLOW_PEER, sizeof(address), address);
	mnl_attr_put_u32(nlh, ROCEPATH_A_FLOW_QP_TYPE, 9);
	window = mnl_attr_nest_start(nlh, ROCEPATH_A_FLOW_RESPONSES);
	mnl_attr_put_u32(nlh, ROCEPATH_A_WINDOW_HELD, 5);
	mnl_attr_put_u64(nlh, ROCEPATH_A_WINDOW_GAPS_FILLED, 6);
	mnl_attr_nest_end(nlh, window);
	/* from a kernel that knows more */
	mnl_attr_put_u32(nlh, 200, 1);
}

static void answer_event(void)
{
	static const uint8_t address[16] = { 0xfd, [15] = 1 };
	struct nlmsghdr *nlh = add_answer(ROCEPATH_CMD_EVENT, 0);

	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_TYPE, ROCEPATH_EVENT_PEER_LOST);
	mnl_attr_put_u32(nlh, ROCEPATH_A_EVENT_DEVICE, LOOPBACK);
	mnl_attr_put_strz(nlh, ROCEPATH_A_EVENT_DEVICE_NAME, "lo");
	mnl_attr_put(nlh, ROCEPATH_A_EVENT_PEER, sizeof(address), address);
	mnl_attr_put_strz(nlh, ROCEPATH_A_EVENT_REASON, "its hellos stopped");
	mnl_attr_put_u64(nlh, ROCEPATH_A_EVENT_TIME_NS, 86400000000123456);
}

static void put_random(struct nlmsghdr *nlh, const struct rp_set *set, unsigned int depth)
{
	for (unsigned int i = rnd_below(12); i-- && nlh->nlmsg_len < DATAGRAM / 2;) {
		const struct rp_field *field = &set->fields[rnd_below(set->count)];
		struct nlattr *nest;
		char bytes[24];

		rnd_fill(bytes, sizeof(bytes));
		if (field->wire == MNL_TYPE_NESTED && depth) {
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

static void answer_random(uint8_t cmd, bool multi)
{
	static const uint8_t set_of[] = { 0, 0, 0, 1, 1, 2, 3, 4, 5, 5, 5, 6, 6, 7 };

	for (unsigned int i = rnd_below(6); i--;) {
		struct nlmsghdr *nlh = add_answer(cmd, multi ? NLM_F_MULTI : 0);

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
	else if (cmd == ROCEPATH_CMD_FLOW_GET)
		answer_flow();
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

static int the_socket;

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	assert_int_equal(bus, NETLINK_GENERIC);
	return (struct mnl_socket *)&the_socket;
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

int mnl_socket_setsockopt(const struct mnl_socket *nl, int type, void *buf, socklen_t len)
{
	if (type != NETLINK_ADD_MEMBERSHIP)
		return 0;
	if (kernel.random) {
		answer_random(ROCEPATH_CMD_EVENT, false);
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
	assert_int_equal(kernel.request->nlmsg_len, len);
	answer();
	kernel.request = NULL;
	return len;
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	struct datagram *d = &kernel.queue[kernel.first % QUEUE];
	size_t len;

	if (!kernel.count) {
		errno = EIO;
		return -1;
	}
	kernel.count--;
	kernel.first++;
	len = d->len ? d->len : ((struct nlmsghdr *)d->bytes)->nlmsg_len;
	assert_true(len <= size);
	memcpy(buf, d->bytes, len);
	return len;
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

	snprintf(copy, sizeof(copy), "%s", line + (cli.format.json ? 2 : 0));
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		words[count++] = w;
	if (count && rp_args_parse(&rp_grammar, count, words, &args, &error))
		fail_msg("%s: %s", line, error.text);
	stdout = open_memstream(&run.out, &out_len);
	stderr = open_memstream(&run.err, &err_len);
	run.ret = count ? args.verb->run(&cli, &args) : rp_overview(&cli);
	rp_nl_release(cli.nl);
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
	return 0;
}

static void test_show(void **state)
{
	gives("port show", 0,
	      "DEVICE PORT           STATE REASON     WEIGHT SINCE FLAPS SHARE\n"
	      "lo     no \"such\" port down  no carrier      -     -     - 12.5%\n", "");
	gives("flow", 0,
	      "DEVICE PEER      QPN PEER-QPN TYPE      MTU SENT SPRAYED REQ-HELD REQ-FILLED REQ-EXPIRED RSP-HELD RSP-FILLED RSP-EXPIRED\n"
	      "lo     192.0.2.1   -        - unknown-9   -    -       -        -          -           -        5          6           -\n",
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
	      "[{\"device\":\"lo\",\"peer\":\"192.0.2.1\",\"qp_type\":\"unknown-9\",\"responses\":{\"held\":5,\"gaps_filled\":6}}]\n",
	      "");
	gives("-j device show lo", 0,
	      "[{\"ifindex\":1,\"name\":\"lo\",\"scheduler\":\"spray\",\"entropy\":\"flowlabel\",\"gap_timeout_us\":0,\"reorder_bytes\":1572864,\"mark_mask\":16128,\"reorders\":true,\"instance\":\"0000000000000abc\",\"stats\":{\"tx_packets\":1152921504606846976}}]\n",
	      "");
	gives("-j stats show lo", 0,
	      "[{\"kind\":\"device\",\"name\":\"lo\",\"stats\":{\"tx_packets\":1152921504606846976}}]\n",
	      "");
	gives("-j peer show", 0, "[]\n", "");
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
	gives("class show", 1, "", "rocepath: Because\n");
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
		"peer show", "-j peer show", "path show", "-j path show", "flow show",
		"-j flow show", "key show", "-j key show", "class show", "-j class show",
		"stats show", "-j stats show", "stats show lo", "key del dev lo id 1",
		"class set dev lo id 3 scheduler flow",
	};
	unsigned int done = 0;

	for (int i = 0; i < ROUNDS(200000); i++) {
		const char *line = lines[rnd_below(ARRAY_SIZE(lines))];
		struct run got;

		reset(NULL);
		kernel.random = true;
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
	static const char *const lines[] = { "monitor", "-j monitor", "monitor dev lo" };

	for (int i = 0; i < ROUNDS(100000); i++) {
		const char *line = lines[rnd_below(ARRAY_SIZE(lines))];
		struct run got;

		reset(NULL);
		kernel.random = true;
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
		cmocka_unit_test_setup(test_refusals, reset),
		cmocka_unit_test_setup(test_interrupted, reset),
		cmocka_unit_test_setup(test_monitor, reset),
		cmocka_unit_test_setup(test_missing_interface, reset),
		cmocka_unit_test_setup(test_hostile, reset),
		cmocka_unit_test_setup(test_hostile_events, reset),
	};

	return unit_run(tests);
}
