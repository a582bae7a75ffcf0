// SPDX-License-Identifier: GPL-2.0
/*
 * nlfuzz [-u UID] [-s SEED] [-i IFINDEX]... FAMILY COUNT: messages to a generic netlink family.
 * nlfuzz [-u UID] [-s SEED] -l KIND COUNT: RTM_NEWLINK that make a device of a kind, and take it away.
 *
 * What an attribute may be is asked of the kernel (CTRL_CMD_GETPOLICY): most messages keep to it, with values at
 * the ends of their ranges, and go on to the family's code; the others are of wrong lengths, twice there,
 * nested wrongly, cut off, or noise. Numbers are often those of the IFINDEXes. Without -u it stays who it is.
 *
 * Prints how many messages there were of each answer: "ok N EPERM N ...".
 */
/* LIBS: -lmnl */

#include <errno.h>
#include <grp.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BUFFER		(1 << 16)
#define POLICIES	32
#define ATTRS		64
#define COMMANDS	64
#define DEPTH		3	/* of nests; the kernel's own limit is 10 */
#define ERRNOS		134	/* EHWPOISON is 133 */
#define PATIENCE_S	10	/* a message that is not answered within it is a fault */

/* An attribute as NL_POLICY_TYPE_ATTR_* tell of it. */
struct attr {
	uint32_t type;		/* enum netlink_attribute_type, 0: there is none */
	uint32_t policy;	/* of a nest */
	uint64_t min, max;
	uint32_t min_len, max_len;
};

struct family {
	struct attr attr[POLICIES][ATTRS];
	int policy[COMMANDS][2];	/* of each command, when it does and when it dumps; -1: it cannot */
	uint16_t id;
};

static struct family family;
static uint32_t ifindex[16];
static unsigned int ifindexes;
static unsigned long answers[ERRNOS];
static uint64_t dice = 1;
static struct mnl_socket *nl;
static uint32_t seq;
static char message[BUFFER], answer[BUFFER];

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* xorshift64*, Vigna 2016 */
static uint32_t rnd(void)
{
	dice ^= dice >> 12;
	dice ^= dice << 25;
	dice ^= dice >> 27;
	return dice * 0x2545f4914f6cdd1dULL >> 32;
}

static uint32_t below(uint32_t n)
{
	return (uint64_t)rnd() * n >> 32;
}

static bool one_in(uint32_t n)
{
	return !below(n);
}

static void noise(void *to, size_t len)
{
	uint8_t *bytes = to;

	while (len--)
		*bytes++ = one_in(4) ? 0 : rnd();
}

/* Asks, and hands each answer to `each`. */
static void ask(struct nlmsghdr *nlh, mnl_cb_t each)
{
	ssize_t len;
	int rc;

	nlh->nlmsg_seq = ++seq;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		die("send: %s", strerror(errno));
	do {
		len = mnl_socket_recvfrom(nl, answer, sizeof(answer));
		if (len < 0)
			die("receive: %s", strerror(errno));
		rc = mnl_cb_run(answer, len, seq, mnl_socket_get_portid(nl), each, NULL);
	} while (rc > MNL_CB_STOP);
	if (rc < 0)
		die("GENL_ID_CTRL: %s", strerror(errno));
}

static struct nlmsghdr *to_family(uint16_t id, uint8_t command, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(message);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = id;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = 1;
	return nlh;
}

static int read_id(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *a;

	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == CTRL_ATTR_FAMILY_ID)
			family.id = mnl_attr_get_u16(a);
	return MNL_CB_STOP;
}

/* A range's end: of 8 bytes, whatever the attribute has. */
static void read_attr(const struct nlattr *nest, struct attr *attr)
{
	const struct nlattr *a;

	attr->max = UINT64_MAX;
	mnl_attr_for_each_nested(a, nest) {
		switch (mnl_attr_get_type(a)) {
		case NL_POLICY_TYPE_ATTR_TYPE:
			attr->type = mnl_attr_get_u32(a);
			break;
		case NL_POLICY_TYPE_ATTR_POLICY_IDX:
			attr->policy = mnl_attr_get_u32(a) % POLICIES;
			break;
		case NL_POLICY_TYPE_ATTR_MIN_VALUE_U:
		case NL_POLICY_TYPE_ATTR_MIN_VALUE_S:
			attr->min = mnl_attr_get_u64(a);
			break;
		case NL_POLICY_TYPE_ATTR_MAX_VALUE_U:
		case NL_POLICY_TYPE_ATTR_MAX_VALUE_S:
			attr->max = mnl_attr_get_u64(a);
			break;
		case NL_POLICY_TYPE_ATTR_MIN_LENGTH:
			attr->min_len = mnl_attr_get_u32(a);
			break;
		case NL_POLICY_TYPE_ATTR_MAX_LENGTH:
			attr->max_len = mnl_attr_get_u32(a);
			break;
		}
	}
}

static void read_policies(const struct nlattr *nest)
{
	const struct nlattr *policy, *a;

	mnl_attr_for_each_nested(policy, nest)
		mnl_attr_for_each_nested(a, policy)
			if (mnl_attr_get_type(policy) < POLICIES && mnl_attr_get_type(a) < ATTRS)
				read_attr(a, &family.attr[mnl_attr_get_type(policy)][mnl_attr_get_type(a)]);
}

static void read_commands(const struct nlattr *nest)
{
	const struct nlattr *command, *a;

	mnl_attr_for_each_nested(command, nest)
		mnl_attr_for_each_nested(a, command)
			if (mnl_attr_get_type(command) < COMMANDS)
				family.policy[mnl_attr_get_type(command)][mnl_attr_get_type(a) == CTRL_ATTR_POLICY_DUMP] =
					mnl_attr_get_u32(a) % POLICIES;
}

static int read_policy(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *a;

	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(a) == CTRL_ATTR_POLICY)
			read_policies(a);
		else if (mnl_attr_get_type(a) == CTRL_ATTR_OP_POLICY)
			read_commands(a);
	}
	return MNL_CB_OK;
}

static void learn(const char *name)
{
	struct nlmsghdr *nlh = to_family(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	unsigned int i, known = 0;

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, name);
	ask(nlh, read_id);
	memset(family.policy, 0xff, sizeof(family.policy));
	nlh = to_family(GENL_ID_CTRL, CTRL_CMD_GETPOLICY, NLM_F_DUMP);
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, family.id);
	ask(nlh, read_policy);
	for (i = 0; i < COMMANDS; i++)
		known += family.policy[i][0] >= 0 || family.policy[i][1] >= 0;
	if (!known)
		die("%s: the kernel tells of no policy", name);
}

/* At an end of the range, within it, an ifindex, or anything. */
static uint64_t number(const struct attr *attr)
{
	uint64_t span = attr->max - attr->min;

	switch (below(8)) {
	case 0:
		return attr->min;
	case 1:
		return attr->max;
	case 2:
		return attr->max + 1;
	case 3:
		return attr->min - 1;
	case 4:
	case 5:
		if (ifindexes)
			return ifindex[below(ifindexes)];
		/* fall through */
	default:
		return attr->min + (span < UINT32_MAX ? below(span + 1) : below(1 << below(32)));
	}
}

static void put_attrs(struct nlmsghdr *nlh, unsigned int policy, int depth);

static void put_attr(struct nlmsghdr *nlh, uint16_t type, const struct attr *attr, int depth)
{
	static const uint8_t width[] = {
		[NL_ATTR_TYPE_U8] = 1, [NL_ATTR_TYPE_U16] = 2, [NL_ATTR_TYPE_U32] = 4, [NL_ATTR_TYPE_U64] = 8,
		[NL_ATTR_TYPE_S8] = 1, [NL_ATTR_TYPE_S16] = 2, [NL_ATTR_TYPE_S32] = 4, [NL_ATTR_TYPE_S64] = 8,
	};
	static const char *const words[] = { "spray", "flow", "adaptive", "flowlet", "rp0", "eth0", "", "%s%n" };
	uint32_t min = attr->min_len, max = attr->max_len ? attr->max_len : 64;
	uint8_t bytes[1024];
	uint64_t value;
	struct nlattr *nest;

	noise(bytes, sizeof(bytes));
	if (one_in(20)) {
		mnl_attr_put(nlh, type | (one_in(4) ? NLA_F_NESTED : 0), below(one_in(4) ? sizeof(bytes) : 20), bytes);
		return;
	}
	switch (attr->type) {
	case NL_ATTR_TYPE_FLAG:
		mnl_attr_put(nlh, type, 0, NULL);
		break;
	case NL_ATTR_TYPE_STRING:
	case NL_ATTR_TYPE_NUL_STRING:
		mnl_attr_put_strz(nlh, type, words[below(ARRAY_SIZE(words))]);
		break;
	case NL_ATTR_TYPE_NESTED:
	case NL_ATTR_TYPE_NESTED_ARRAY:
		nest = mnl_attr_nest_start(nlh, type);
		if (depth < DEPTH)
			put_attrs(nlh, attr->policy, depth + 1);
		mnl_attr_nest_end(nlh, nest);
		break;
	case NL_ATTR_TYPE_BINARY:
		if (max > sizeof(bytes))
			max = sizeof(bytes);
		if (min > max)
			min = max;
		mnl_attr_put(nlh, type, min + below(max - min + 1), bytes);
		break;
	default:
		value = number(attr);
		mnl_attr_put(nlh, type, attr->type < ARRAY_SIZE(width) && width[attr->type] ? width[attr->type] : 4,
			     &value);
	}
}

/* A few of the attributes that there are, now and then one twice or one that is not. */
static void put_attrs(struct nlmsghdr *nlh, unsigned int policy, int depth)
{
	static const struct attr unknown = { .type = NL_ATTR_TYPE_BINARY };
	uint32_t all = 1 + below(4);
	uint16_t type;

	for (type = 1; type < ATTRS; type++) {
		const struct attr *attr = &family.attr[policy][type];

		if (nlh->nlmsg_len > BUFFER / 4)
			return;
		/* the first ones say which object is meant */
		if (attr->type && (type < 4 ? !one_in(4) : one_in(all * 2)))
			put_attr(nlh, type, attr, depth);
		if (attr->type && one_in(100))
			put_attr(nlh, type, attr, depth);
	}
	if (one_in(30))
		put_attr(nlh, below(ATTRS * 2), &unknown, depth);
}

/* Sends it, and counts what the kernel says. A dump is read to its end. */
static void tell(struct nlmsghdr *nlh)
{
	const struct nlmsghdr *got;
	int len, error = 0;
	bool end = false;

	nlh->nlmsg_seq = ++seq;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		die("send: %s", strerror(errno));
	while (!end) {
		len = mnl_socket_recvfrom(nl, answer, sizeof(answer));
		if (len < 0)
			die("command %d of %u bytes: no answer: %s", nlh->nlmsg_type, nlh->nlmsg_len, strerror(errno));
		for (got = (void *)answer; mnl_nlmsg_ok(got, len); got = mnl_nlmsg_next(got, &len)) {
			if (got->nlmsg_seq != seq)
				continue;
			if (got->nlmsg_type == NLMSG_ERROR)
				error = -((const struct nlmsgerr *)mnl_nlmsg_get_payload(got))->error;
			end |= got->nlmsg_type == NLMSG_ERROR || got->nlmsg_type == NLMSG_DONE;
		}
	}
	answers[error < ERRNOS ? error : ERRNOS - 1]++;
}

/* Some bytes behind the headers are others, or the last ones are gone. */
static void spoil(struct nlmsghdr *nlh, size_t headers)
{
	uint32_t body = nlh->nlmsg_len - headers, n = 1 + below(4);

	if (!body)
		return;
	if (one_in(3))
		nlh->nlmsg_len -= below(body + 1);
	else
		while (n--)
			noise((char *)nlh + headers + below(body), 1);
}

static void one_command(void)
{
	static const size_t headers = NLMSG_HDRLEN + GENL_HDRLEN;
	struct nlmsghdr *nlh;
	uint8_t command;
	bool dump;

	do {
		command = below(COMMANDS);
		dump = one_in(3);
	} while (family.policy[command][dump] < 0 && !one_in(1000));
	/* an acknowledgment tells where the answer ends */
	nlh = to_family(family.id, command, dump ? NLM_F_DUMP : NLM_F_ACK);
	if (one_in(16)) {
		noise(mnl_nlmsg_get_payload_tail(nlh), 256);
		nlh->nlmsg_len += below(256);
	} else if (family.policy[command][dump] >= 0) {
		put_attrs(nlh, family.policy[command][dump], 0);
	}
	if (one_in(8))
		spoil(nlh, headers);
	tell(nlh);
}

static struct nlmsghdr *link_message(uint16_t type, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(message);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	return nlh;
}

/* Takes a device away, if there is one of this name. */
static void unlink_device(const char *name)
{
	struct nlmsghdr *nlh;

	if (!if_nametoindex(name))
		return;
	nlh = link_message(RTM_DELLINK, 0);
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	tell(nlh);
}

static void one_link(const char *kind)
{
	static const size_t headers = NLMSG_HDRLEN + sizeof(struct ifinfomsg);
	static const char name[] = "nlfuzz0";
	struct nlmsghdr *nlh = link_message(RTM_NEWLINK, NLM_F_CREATE | (one_in(4) ? 0 : NLM_F_EXCL));
	struct nlattr *info, *data;
	char unnamed[IFNAMSIZ];
	uint8_t bytes[256];
	int n = below(4);

	noise(bytes, sizeof(bytes));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	if (one_in(3))
		mnl_attr_put(nlh, IFLA_ADDRESS, one_in(4) ? below(20) : 6, bytes);
	if (one_in(3))
		mnl_attr_put_u32(nlh, IFLA_MTU, one_in(2) ? below(10000) : rnd());
	if (one_in(4))
		mnl_attr_put_u32(nlh, IFLA_NUM_TX_QUEUES, one_in(2) ? below(64) : rnd());
	if (one_in(4))
		mnl_attr_put_u32(nlh, IFLA_MASTER, ifindexes ? ifindex[below(ifindexes)] : rnd());
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, kind);
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	while (n--)
		mnl_attr_put(nlh, below(40), below(40), bytes);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	if (one_in(4))
		spoil(nlh, headers);
	/* another name would be a device that we do not find again */
	if (!memmem(nlh, nlh->nlmsg_len, name, sizeof(name)))
		return;
	tell(nlh);
	unlink_device(name);
	/* where the name was spoilt to be no name, the kernel has made one up */
	snprintf(unnamed, sizeof(unnamed), "%.12s0", kind);
	unlink_device(unnamed);
}

static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		die("setuid: %s", strerror(errno));
}

static void open_netlink(int bus)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };

	nl = mnl_socket_open(bus);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		die("netlink: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static const char usage[] = "usage: nlfuzz [-u UID] [-s SEED] [-i IFINDEX]... FAMILY|-l KIND COUNT";
	const char *kind = NULL;
	unsigned long n;
	int option, i;
	uid_t uid = 0;

	while ((option = getopt(argc, argv, "u:s:i:l:")) != -1) {
		switch (option) {
		case 'u':
			uid = strtoul(optarg, NULL, 0);
			break;
		case 's':
			dice = strtoull(optarg, NULL, 0) << 1 | 1;
			break;
		case 'i':
			if (ifindexes < ARRAY_SIZE(ifindex))
				ifindex[ifindexes++] = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			kind = optarg;
			break;
		default:
			die("%s", usage);
		}
	}
	if (argc - optind != (kind ? 1 : 2))
		die("%s", usage);
	if (uid)
		become(uid);
	open_netlink(kind ? NETLINK_ROUTE : NETLINK_GENERIC);
	if (!kind)
		learn(argv[optind]);
	for (n = strtoul(argv[argc - 1], NULL, 0); n; n--)
		kind ? one_link(kind) : one_command();
	printf("ok %lu", answers[0]);
	for (i = 1; i < ERRNOS; i++)
		if (answers[i])
			printf(" %s %lu", strerrorname_np(i), answers[i]);
	putchar('\n');
	return 0;
}
