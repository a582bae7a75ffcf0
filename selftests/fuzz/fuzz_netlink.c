// SPDX-License-Identifier: GPL-2.0
/*
 * The tool, told anything by its kernel: messages that are nothing but bytes, and messages in
 * which each attribute is of some length and says what it likes. Whatever it says, the tool
 * shows it or complains, and comes to its end. What the kernel is told by the tool, or by
 * anybody, is checked by the tables of kmod/netlink_*.c, which are the kernel's own code.
 *
 * The first byte says what is asked for. The functions of libmnl that touch the socket are
 * replaced, and so is time: it passes only while somebody waits.
 */
/* SOURCES: user/units.c user/error.c user/words.c user/args.c user/help.c user/json.c */
/* SOURCES: selftests/unit/absent_commands.c */
/* SOURCES: user/netlink.c user/attrs.c user/sets.c user/table.c user/cli.c user/commands.c */
/* SOURCES: user/device.c user/port.c user/peer.c user/path.c user/flow.c user/key.c user/class.c */
/* SOURCES: user/stats.c user/monitor.c user/overview.c user/advice.c */
/* SOURCES: user/commands_rdma.c user/rdma_sets.c user/rdma.c user/rdma_ports.c user/files.c */
/* SOURCES: user/monitor_rdma.c user/owner.c */
/* SOURCES: user/discover.c user/hops.c user/fabric.c user/graph.c */
/* SOURCES: user/top.c user/sample.c user/rates.c user/rates_json.c user/view.c user/screen.c */
/* LIBS: -lmnl -lsmartcols -lncursesw */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/genetlink.h>

#include "../../user/commands.h"
#include "input.h"

#define PORTID 7
#define FAMILY 0x20
#define DATAGRAM_MAX 2048
#define NESTED 3

static const char *const lines[] = {
	"", "device show", "device show lo", "device set lo evs 3", "port show", "port show dev lo",
	"port set lo weight 3", "peer show", "path show", "path show peer 10.0.0.2", "flow show",
	"key show", "key del dev lo id 1", "class show", "class set dev lo id 3 scheduler flow",
	"stats show", "stats show lo", "top", "monitor", "monitor dev lo",
	"path discover 10.0.0.2 dev lo evs 2 hops 2",
	"rdma plan", "rdma path peer 10.0.0.2", "rdma peer", "rdma key-show", "monitor rdma rxe0",
	"rdma set all steering on",
};

/* what the kernel says; where it ends, no more comes */
static struct input *says;
static struct nlmsghdr request;
static u64 now_us;

static void put_attrs(struct nlmsghdr *nlh, u32 depth)
{
	static const u8 lengths[] = { 0, 1, 2, 4, 8, 4, 16, 8 };
	struct nlattr *nest;
	u8 bytes[64];
	u32 n, i;

	for (n = byte(says) % 16; n && says->left && nlh->nlmsg_len < DATAGRAM_MAX - 512; n--) {
		u32 type = byte(says) % 64, how = byte(says), len = lengths[how % 8];

		if (depth && how >= 0xc0) {
			nest = mnl_attr_nest_start(nlh, type);
			put_attrs(nlh, depth - 1);
			mnl_attr_nest_end(nlh, nest);
			continue;
		}
		if (how & 0x20)
			len = byte(says) % sizeof(bytes);
		for (i = 0; i < len; i++)
			bytes[i] = byte(says);
		if (how & 0x10 && len)
			bytes[len - 1] = '\0';
		mnl_attr_put(nlh, type, len, bytes);
	}
}

static void put_message(struct nlmsghdr *nlh, u32 how)
{
	static const u16 types[] = { FAMILY, FAMILY, NLMSG_DONE, NLMSG_ERROR };
	u32 type = types[how & 3], bytes = type == NLMSG_ERROR ? sizeof(struct nlmsgerr) : 4, i;
	u8 *extra;

	mnl_nlmsg_put_header(nlh);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = word(says);
	nlh->nlmsg_seq = request.nlmsg_seq;
	nlh->nlmsg_pid = PORTID;
	extra = mnl_nlmsg_put_extra_header(nlh, bytes);
	for (i = 0; i < bytes; i++)
		extra[i] = how & 4 ? byte(says) : 0;
	put_attrs(nlh, NESTED);
}

/* a length that is wrong, now and then */
static size_t put_datagram(void *to)
{
	struct nlmsghdr *nlh = to;
	u32 how = byte(says), len = 0, i;

	if (how & 0x80) {
		len = word(says) % DATAGRAM_MAX;
		for (i = 0; i < len; i++)
			((u8 *)to)[i] = byte(says);
		if (len >= sizeof(*nlh) && how & 0x40) {
			nlh->nlmsg_seq = request.nlmsg_seq;
			nlh->nlmsg_pid = PORTID;
		}
		return len;
	}
	put_message(nlh, how);
	len = nlh->nlmsg_len;
	if (how & 0x20)
		nlh->nlmsg_len = word(says);
	return how & 0x40 ? byte(says) % (len + 1) : len;
}

static size_t put_family(void *to)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(to), *ack;
	struct nlattr *groups, *group;

	nlh->nlmsg_type = GENL_ID_CTRL;
	nlh->nlmsg_seq = request.nlmsg_seq;
	nlh->nlmsg_pid = PORTID;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct genlmsghdr));
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, FAMILY);
	groups = mnl_attr_nest_start(nlh, CTRL_ATTR_MCAST_GROUPS);
	group = mnl_attr_nest_start(nlh, 1);
	mnl_attr_put_strz(nlh, CTRL_ATTR_MCAST_GRP_NAME, ROCEPATH_MCGRP_EVENTS);
	mnl_attr_put_u32(nlh, CTRL_ATTR_MCAST_GRP_ID, 3);
	mnl_attr_nest_end(nlh, group);
	mnl_attr_nest_end(nlh, groups);
	ack = mnl_nlmsg_put_header((char *)to + nlh->nlmsg_len);
	ack->nlmsg_type = NLMSG_DONE;
	ack->nlmsg_seq = request.nlmsg_seq;
	ack->nlmsg_pid = PORTID;
	return nlh->nlmsg_len + ack->nlmsg_len;
}

static int sockets[2];
static unsigned int opened;

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	return (struct mnl_socket *)&sockets[opened++ % 2];
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
	return 0;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *message, size_t len)
{
	memcpy(&request, message, sizeof(request));
	return len;
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *to, size_t size)
{
	u64 datagram[DATAGRAM_MAX / 4] = { 0 };
	size_t len;

	if (request.nlmsg_type != GENL_ID_CTRL && !says->left) {
		errno = EIO;
		return -1;
	}
	len = request.nlmsg_type == GENL_ID_CTRL ? put_family(datagram) : put_datagram(datagram);
	request.nlmsg_type = FAMILY;
	memcpy(to, datagram, len);
	return len;
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	now_us += timeout->tv_sec * 1000000 + timeout->tv_nsec / 1000 + 1;
	return says->left > 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	now_us += wanted->tv_sec * 1000000 + wanted->tv_nsec / 1000;
	return 0;
}

/* the clock that libFuzzer looks at goes on */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	if (clock != CLOCK_MONOTONIC)
		return syscall(SYS_clock_gettime, clock, now);
	*now = (struct timespec){ now_us / 1000000, now_us % 1000000 * 1000 };
	return 0;
}

static int run(const char *line, bool json)
{
	struct rp_cli cli = { .format.json = json };
	char copy[128], *words[16];
	struct rp_error error;
	struct rp_args args;
	int count = 0, ret;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		words[count++] = w;
	if (count && rp_args_parse(&rp_grammar, count, words, &args, &error))
		crash(error.text);
	ret = count ? args.verb->run(&cli, &args) : rp_overview(&cli);
	rp_nl_release(cli.nl);
	rp_nl_release(cli.rdma);
	return ret;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	FILE *out = stdout, *err = stderr;
	static FILE *nowhere;
	u32 what = byte(&in);
	int ret;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	says = &in;
	opened = 0;
	now_us = 1000000;
	stdout = nowhere;
	stderr = nowhere;
	ret = run(lines[what / 2 % ARRAY_SIZE(lines)], what & 1);
	stdout = out;
	stderr = err;
	if (ret < 0 || ret > RP_EXIT_USAGE)
		crash("no exit code");
	return 0;
}
