// SPDX-License-Identifier: GPL-2.0
/*
 * genl FAMILY COMMAND do|dump ATTRIBUTES: one request of a generic netlink family,
 * attributes as hexadecimal bytes, none: -. Prints those of each answer, a line each.
 *
 * genl FAMILY GROUP listen: prints "ready", then the attributes of each message to the
 * group, behind the time it came, CLOCK_REALTIME in ns.
 *
 * Who knows what they mean is lib/genl.py. An error is said in the kernel's words.
 */
/* LIBS: -lmnl */

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BUFFER (1 << 16)
#define PAYLOAD_MAX (BUFFER / 2)

struct family {
	const char *group;
	uint32_t id;
	uint32_t group_id;
};

static char buffer[BUFFER];
static struct mnl_socket *nl;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static struct nlmsghdr *message(uint32_t type, uint8_t command, int flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = time(NULL);
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = 1;
	return nlh;
}

static int failed(const struct nlmsghdr *nlh, void *data)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	size_t skip = sizeof(*err);

	if (!err->error)
		return MNL_CB_STOP;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += err->msg.nlmsg_len - NLMSG_HDRLEN;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS) {
		mnl_attr_for_each(attr, nlh, skip) {
			if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
				die("%s", mnl_attr_get_str(attr));
		}
	}
	die("%s", strerror(-err->error));
}

static void talk(struct nlmsghdr *nlh, mnl_cb_t answer, void *data)
{
	static mnl_cb_t control[] = { [NLMSG_ERROR] = failed };
	uint32_t seq = nlh->nlmsg_seq, port = mnl_socket_get_portid(nl);
	int n;

	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		die("send: %s", strerror(errno));
	do {
		n = mnl_socket_recvfrom(nl, buffer, sizeof(buffer));
		if (n < 0)
			die("receive: %s", strerror(errno));
		n = mnl_cb_run2(buffer, n, seq, port, answer, data, control,
				ARRAY_SIZE(control));
	} while (n > MNL_CB_STOP);
}

static int family_attribute(const struct nlattr *attr, void *data)
{
	struct family *family = data;
	const struct nlattr *group, *at;

	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		family->id = mnl_attr_get_u16(attr);
	if (mnl_attr_get_type(attr) != CTRL_ATTR_MCAST_GROUPS)
		return MNL_CB_OK;
	mnl_attr_for_each_nested(group, attr) {
		bool wanted = false;
		uint32_t id = 0;

		mnl_attr_for_each_nested(at, group) {
			if (mnl_attr_get_type(at) == CTRL_ATTR_MCAST_GRP_ID)
				id = mnl_attr_get_u32(at);
			else if (mnl_attr_get_type(at) == CTRL_ATTR_MCAST_GRP_NAME)
				wanted = !strcmp(mnl_attr_get_str(at), family->group);
		}
		if (wanted)
			family->group_id = id;
	}
	return MNL_CB_OK;
}

static int family_answer(const struct nlmsghdr *nlh, void *data)
{
	return mnl_attr_parse(nlh, sizeof(struct genlmsghdr), family_attribute, data);
}

static struct family find(const char *name, const char *group)
{
	struct nlmsghdr *nlh = message(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	struct family family = { .group = group };

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, name);
	talk(nlh, family_answer, &family);
	return family;
}

static void print(const struct nlmsghdr *nlh)
{
	const uint8_t *at = mnl_nlmsg_get_payload_offset(nlh, sizeof(struct genlmsghdr));
	const uint8_t *end = mnl_nlmsg_get_payload_tail(nlh);

	while (at < end)
		printf("%02x", *at++);
	putchar('\n');
	fflush(stdout);
}

static int print_answer(const struct nlmsghdr *nlh, void *data)
{
	print(nlh);
	return MNL_CB_OK;
}

static void put_hex(struct nlmsghdr *nlh, const char *hex)
{
	size_t len = strlen(hex) / 2, i;
	uint8_t *to;

	if (len > PAYLOAD_MAX)
		die("too many attributes");
	to = mnl_nlmsg_put_extra_header(nlh, len);
	for (i = 0; i < len; i++) {
		if (sscanf(hex + 2 * i, "%2hhx", &to[i]) != 1)
			die("not hexadecimal: %s", hex);
	}
}

static int print_event(const struct nlmsghdr *nlh, void *data)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	printf("%llu ", now.tv_sec * 1000000000ull + now.tv_nsec);
	print(nlh);
	return MNL_CB_OK;
}

static void __attribute__((noreturn)) watch(const struct family *family)
{
	int group = family->group_id, n;

	if (mnl_socket_setsockopt(nl, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
		die("cannot join %s: %s", family->group, strerror(errno));
	puts("ready");
	fflush(stdout);
	for (;;) {
		n = mnl_socket_recvfrom(nl, buffer, sizeof(buffer));
		if (n < 0)
			die("receive: %s", strerror(errno));
		mnl_cb_run(buffer, n, 0, 0, print_event, NULL);
	}
}

int main(int argc, char **argv)
{
	struct nlmsghdr *nlh;
	struct family family;
	bool dump;
	int on = 1;

	if (argc < 4)
		die("usage: genl FAMILY COMMAND do|dump ATTRIBUTES, or genl FAMILY GROUP listen");
	nl = mnl_socket_open(NETLINK_GENERIC);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		die("netlink: %s", strerror(errno));
	mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &on, sizeof(on));
	family = find(argv[1], argv[2]);
	if (!strcmp(argv[3], "listen"))
		watch(&family);
	if (argc < 5)
		die("no attributes: -");
	dump = !strcmp(argv[3], "dump");
	nlh = message(family.id, atoi(argv[2]), dump ? NLM_F_DUMP : NLM_F_ACK);
	if (strcmp(argv[4], "-"))
		put_hex(nlh, argv[4]);
	talk(nlh, print_answer, NULL);
	return 0;
}
