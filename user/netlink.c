// SPDX-License-Identifier: GPL-2.0
/*
 * A request is built in the one request buffer, sent, and answered by messages
 * that are kept until the kernel says that it is done. Only then are they
 * looked at: a dump that was interrupted by a change is taken again, and nobody
 * sees half of it.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include "netlink.h"

#define REQUEST_LEN (96 * 1024)		/* the largest: a policy */
#define REPLY_LEN (128 * 1024)		/* above what the kernel puts into one datagram */
#define STORE_MAX (256u << 20)
#define DUMP_TRIES 8
#define ERRNO_MAX 4095

#ifndef NETLINK_EXT_ACK
#error "linux-libc-dev is too old"
#endif

static const struct rp_family rocepath_family = {
	ROCEPATH_FAMILY_NAME, ROCEPATH_FAMILY_VERSION, ROCEPATH_MCGRP_EVENTS,
};

const struct rp_family rp_rdma_family = {
	ROCEPATH_RDMA_FAMILY_NAME, ROCEPATH_RDMA_FAMILY_VERSION, ROCEPATH_RDMA_MCGRP_EVENTS,
};

struct rp_nl {
	const struct rp_family *known_as;
	struct mnl_socket *socket;
	uint32_t seq;
	uint16_t family;
	uint32_t version;
	uint32_t group;
	uint16_t bad_attr;		/* that the kernel refused, 0: it did not say */
	bool interrupted;
	char message[256];		/* of the kernel, may be empty */
	char *store;
	size_t stored, store_size;
	char request[REQUEST_LEN] __attribute__((aligned(8)));
	char reply[REPLY_LEN] __attribute__((aligned(8)));
};

static int store(struct rp_nl *nl, const struct nlmsghdr *nlh)
{
	size_t len = MNL_ALIGN(nlh->nlmsg_len);

	if (nl->stored + len > nl->store_size) {
		size_t size = 2 * (nl->stored + len);
		char *grown = size > STORE_MAX ? NULL : realloc(nl->store, size);

		if (!grown)
			return -ENOMEM;
		nl->store = grown;
		nl->store_size = size;
	}
	memset(nl->store + nl->stored, 0, len);
	memcpy(nl->store + nl->stored, nlh, nlh->nlmsg_len);
	nl->stored += len;
	return 0;
}

/* mnl_nlmsg_ok() takes lengths above 2 GiB for negative ones, and lets them pass */
static bool is_message(const struct nlmsghdr *nlh, int left)
{
	return mnl_nlmsg_ok(nlh, left) && nlh->nlmsg_len <= (unsigned int)left;
}

static int walk(struct rp_nl *nl, rp_nl_fn fn, void *data)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)nl->store;
	int left = nl->stored, ret;

	for (; left > 0 && is_message(nlh, left); nlh = mnl_nlmsg_next(nlh, &left)) {
		if (!fn || nlh->nlmsg_len < MNL_NLMSG_HDRLEN + GENL_HDRLEN)
			continue;
		ret = fn(nlh, data);
		if (ret)
			return ret;
	}
	return 0;
}

/* which attribute of the request stands at an offset of it */
static uint16_t attr_at(const struct rp_nl *nl, uint32_t offset)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)nl->request;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		if ((const char *)attr - nl->request == offset)
			return mnl_attr_get_type(attr);
	return 0;
}

/* the extended ack, behind @skip bytes of payload */
static void take_extack(struct rp_nl *nl, const struct nlmsghdr *nlh, size_t skip)
{
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || mnl_nlmsg_get_payload_len(nlh) < skip)
		return;
	mnl_attr_for_each(attr, nlh, skip) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type == NLMSGERR_ATTR_MSG && !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
			strncpy(nl->message, mnl_attr_get_str(attr), sizeof(nl->message) - 1);
		else if (type == NLMSGERR_ATTR_OFFS && !mnl_attr_validate(attr, MNL_TYPE_U32))
			nl->bad_attr = attr_at(nl, mnl_attr_get_u32(attr));
		else if (type == NLMSGERR_ATTR_MISS_TYPE && !mnl_attr_validate(attr, MNL_TYPE_U32))
			nl->bad_attr = mnl_attr_get_u32(attr);
	}
}

static int error_of(int error)
{
	return error > 0 || error < -ERRNO_MAX ? -EBADMSG : error;
}

static int take_error(struct rp_nl *nl, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*error);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*error))
		return -EBADMSG;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED) && error->msg.nlmsg_len >= sizeof(error->msg))
		skip += MNL_ALIGN(error->msg.nlmsg_len) - sizeof(error->msg);
	take_extack(nl, nlh, skip);
	return error_of(error->error);
}

static int take_done(struct rp_nl *nl, const struct nlmsghdr *nlh)
{
	const int *error = mnl_nlmsg_get_payload(nlh);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*error))
		return 0;
	take_extack(nl, nlh, sizeof(*error));
	return error_of(*error);
}

/* returns whether the answer is complete, or an error */
static int take(struct rp_nl *nl, const struct nlmsghdr *nlh, int *err)
{
	if (!mnl_nlmsg_portid_ok(nlh, mnl_socket_get_portid(nl->socket)) ||
	    !mnl_nlmsg_seq_ok(nlh, nl->seq))
		return 0;
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		nl->interrupted = true;
	switch (nlh->nlmsg_type) {
	case NLMSG_ERROR:
		*err = take_error(nl, nlh);
		return 1;
	case NLMSG_DONE:
		*err = take_done(nl, nlh);
		return 1;
	default:
		return nlh->nlmsg_type < NLMSG_MIN_TYPE ? 0 : store(nl, nlh);
	}
}

static int receive(struct rp_nl *nl)
{
	const struct nlmsghdr *nlh;
	int err = 0, taken = 0;

	while (!taken) {
		ssize_t got = mnl_socket_recvfrom(nl->socket, nl->reply, sizeof(nl->reply));
		int left = got;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		nlh = (const struct nlmsghdr *)nl->reply;
		for (; !taken && is_message(nlh, left); nlh = mnl_nlmsg_next(nlh, &left))
			taken = take(nl, nlh, &err);
	}
	return taken < 0 ? taken : err;
}

static int transact(struct rp_nl *nl, uint16_t flags)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)nl->request;

	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++nl->seq;
	nl->stored = 0;
	nl->interrupted = false;
	nl->bad_attr = 0;
	memset(nl->message, 0, sizeof(nl->message));
	if (mnl_socket_sendto(nl->socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	return receive(nl);
}

static struct nlmsghdr *start(struct rp_nl *nl, uint16_t type, uint8_t cmd, uint8_t version)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(nl->request);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));

	nlh->nlmsg_type = type;
	genl->cmd = cmd;
	genl->version = version;
	return nlh;
}

/**
 * rp_nl_request() - begin a request; add attributes, then send it
 * @nl: the socket
 * @cmd: what is asked for
 *
 * Return: the message, in a buffer that holds 96 KiB: more than the largest
 * request, a policy, takes.
 */
struct nlmsghdr *rp_nl_request(struct rp_nl *nl, uint8_t cmd)
{
	return start(nl, nl->family, cmd, nl->known_as->version);
}

/**
 * rp_nl_do() - send the request and wait for its answer
 * @nl: the socket
 * @fn: gets the messages of the answer, may be NULL
 * @data: for @fn
 *
 * Return: 0, a negative error number of the kernel, or what @fn returned.
 */
int rp_nl_do(struct rp_nl *nl, rp_nl_fn fn, void *data)
{
	int err = transact(nl, NLM_F_ACK);

	return err ? err : walk(nl, fn, data);
}

/**
 * rp_nl_dump() - send the request as a dump and wait for all of it
 * @nl: the socket
 * @fn: gets each message
 * @data: for @fn
 *
 * Return: as rp_nl_do(); -EAGAIN when the kernel's state never stood still.
 */
int rp_nl_dump(struct rp_nl *nl, rp_nl_fn fn, void *data)
{
	for (int i = 0; i < DUMP_TRIES; i++) {
		int err = transact(nl, NLM_F_DUMP);

		if (err)
			return err;
		if (!nl->interrupted)
			return walk(nl, fn, data);
	}
	return -EAGAIN;
}

/**
 * rp_nl_subscribe() - receive the events of this network namespace from now on
 * @nl: the socket; after this only rp_nl_listen() and rp_nl_wait() may be called
 *
 * Return: 0 or a negative error number.
 */
int rp_nl_subscribe(struct rp_nl *nl)
{
	int size = 4 << 20, fd = mnl_socket_get_fd(nl->socket);

	if (!nl->group)
		return -EOPNOTSUPP;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (mnl_socket_setsockopt(nl->socket, NETLINK_ADD_MEMBERSHIP, &nl->group,
				  sizeof(nl->group)))
		return -errno;
	return 0;
}

/* one datagram */
static int take_events(struct rp_nl *nl, rp_nl_fn fn, void *data)
{
	ssize_t got = mnl_socket_recvfrom(nl->socket, nl->reply, sizeof(nl->reply));
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)nl->reply;
	int left = got, ret = 0;

	if (got < 0 && errno == ENOBUFS)
		ret = fn(NULL, data);
	else if (got < 0)
		return -errno;
	for (; !ret && is_message(nlh, left); nlh = mnl_nlmsg_next(nlh, &left))
		if (nlh->nlmsg_type == nl->family &&
		    nlh->nlmsg_len >= MNL_NLMSG_HDRLEN + GENL_HDRLEN)
			ret = fn(nlh, data);
	return ret;
}

/**
 * rp_nl_listen() - wait for events and pass them on
 * @nl: a socket that has subscribed
 * @fn: gets each event; NULL for the message says that some were lost
 * @data: for @fn
 *
 * Return: what @fn returned, when that was not 0; a negative error number.
 */
int rp_nl_listen(struct rp_nl *nl, rp_nl_fn fn, void *data)
{
	int ret;

	do {
		ret = take_events(nl, fn, data);
	} while (!ret);
	return ret;
}

/**
 * rp_nl_wait() - wait for events for some time, and pass on those that came together
 * @nl: a socket that has subscribed
 * @timeout_us: how long, 0: only those that are there
 * @fn: as for rp_nl_listen()
 * @data: for @fn
 *
 * Return: as rp_nl_listen(); 0 also when nothing came.
 */
int rp_nl_wait(struct rp_nl *nl, uint64_t timeout_us, rp_nl_fn fn, void *data)
{
	struct pollfd fd = { mnl_socket_get_fd(nl->socket), POLLIN, 0 };
	struct timespec timeout = { timeout_us / 1000000, timeout_us % 1000000 * 1000 };
	int ready = ppoll(&fd, 1, &timeout, NULL);

	if (ready < 0)
		return errno == EINTR ? 0 : -errno;
	return ready ? take_events(nl, fn, data) : 0;
}

/**
 * rp_nl_forget() - overwrite the request: it held a secret
 * @nl: the socket
 */
void rp_nl_forget(struct rp_nl *nl)
{
	explicit_bzero(nl->request, sizeof(nl->request));
	explicit_bzero(nl->reply, sizeof(nl->reply));
}

/**
 * rp_nl_fd() - to wait for events of several families at once
 * @nl: a socket that has subscribed
 */
int rp_nl_fd(const struct rp_nl *nl)
{
	return mnl_socket_get_fd(nl->socket);
}

/**
 * rp_nl_message() - the kernel's reason for what failed last
 * @nl: the socket
 *
 * Return: may be empty.
 */
const char *rp_nl_message(const struct rp_nl *nl)
{
	return nl->message;
}

/**
 * rp_nl_version() - the version of the family that the kernel offers
 * @nl: the socket
 */
uint32_t rp_nl_version(const struct rp_nl *nl)
{
	return nl->version;
}

static void take_group(struct rp_nl *nl, const struct nlattr *group)
{
	const struct nlattr *attr;
	const char *name = "";
	uint32_t id = 0;

	mnl_attr_for_each_nested(attr, group) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME &&
		    !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
			name = mnl_attr_get_str(attr);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID &&
			 !mnl_attr_validate(attr, MNL_TYPE_U32))
			id = mnl_attr_get_u32(attr);
	}
	if (!strcmp(name, nl->known_as->group))
		nl->group = id;
}

static int take_family(const struct nlmsghdr *nlh, void *data)
{
	struct rp_nl *nl = data;
	const struct nlattr *attr, *group;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		switch (mnl_attr_get_type(attr)) {
		case CTRL_ATTR_FAMILY_ID:
			if (!mnl_attr_validate(attr, MNL_TYPE_U16))
				nl->family = mnl_attr_get_u16(attr);
			break;
		case CTRL_ATTR_VERSION:
			if (!mnl_attr_validate(attr, MNL_TYPE_U32))
				nl->version = mnl_attr_get_u32(attr);
			break;
		case CTRL_ATTR_MCAST_GROUPS:
			mnl_attr_for_each_nested(group, attr)
				take_group(nl, group);
			break;
		}
	}
	return 0;
}

static int find_family(struct rp_nl *nl)
{
	struct nlmsghdr *nlh = start(nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	int err;

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, nl->known_as->name);
	err = rp_nl_do(nl, take_family, nl);
	return err ? err : nl->family ? 0 : -ENOENT;
}

static int connect_family(struct rp_nl *nl)
{
	int on = 1;

	nl->socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->socket || mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID))
		return -errno;
	mnl_socket_setsockopt(nl->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->socket, NETLINK_CAP_ACK, &on, sizeof(on));
	return find_family(nl);
}

static void explain_family(const struct rp_family *family, int err, struct rp_error *error)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/%s", family->name);
	if (err != -ENOENT)
		rp_error_set(error, "netlink: %s", strerror(-err));
	else if (access(path, F_OK))
		rp_error_set(error, "the kernel module %sis not loaded; load it: modprobe %s",
			     family == &rp_rdma_family ? "for RDMA devices " : "", family->name);
	else
		rp_error_set(error, "the module is loaded, but has no netlink family; see: dmesg");
}

/**
 * rp_nl_open() - open a socket and find a family
 * @family: which
 * @error: why not, and what to do
 *
 * Return: the socket or NULL.
 */
struct rp_nl *rp_nl_open(const struct rp_family *family, struct rp_error *error)
{
	struct rp_nl *nl = calloc(1, sizeof(*nl));
	int err = -ENOMEM;

	if (nl) {
		nl->known_as = family;
		err = connect_family(nl);
	}
	if (!err)
		return nl;
	explain_family(family, err, error);
	rp_nl_release(nl);
	return NULL;
}

/**
 * rp_nl_new() - open a socket and find the family "rocepath"
 * @error: why not, and what to do
 *
 * Return: the socket or NULL.
 */
struct rp_nl *rp_nl_new(struct rp_error *error)
{
	return rp_nl_open(&rocepath_family, error);
}

/**
 * rp_nl_release() - close the socket
 * @nl: the socket or NULL
 */
void rp_nl_release(struct rp_nl *nl)
{
	if (!nl)
		return;
	if (nl->socket)
		mnl_socket_close(nl->socket);
	free(nl->store);
	free(nl);
}

static void next_step(const struct rp_nl *nl, int err, enum rp_arg_type what,
		      const char *subject, struct rp_error *step)
{
	step->text[0] = '\0';
	if (err == -EPERM || err == -EACCES)
		rp_error_set(step, "; it needs CAP_NET_ADMIN: run it as root");
	else if (*nl->message || (err != -ENODEV && err != -EOPNOTSUPP))
		;	/* the kernel said it itself */
	else if (nl->known_as == &rp_rdma_family)
		rp_error_set(step, "; see which devices there are: rocepath rdma show");
	else if (subject && what == RP_ARG_PORT)
		rp_error_set(step, "; make it a port: ip link set %s master DEV", subject);
	else if (subject && if_nametoindex(subject))
		rp_error_set(step, "; see which devices there are: rocepath device show");
	else if (subject)
		rp_error_set(step, "; make it: ip link add %s type rocepath", subject);
}

static const char *bad_keyword(const struct rp_nl *nl, const struct rp_args *args)
{
	if (!nl->bad_attr || !args)
		return NULL;
	for (unsigned int i = 0; i < args->verb->keyword_count; i++)
		if (args->verb->keywords[i].attr == nl->bad_attr)
			return args->verb->keywords[i].name;
	return NULL;
}

/**
 * rp_nl_explain() - complain about a request that failed
 * @nl: the socket
 * @err: what rp_nl_do() or rp_nl_dump() returned
 * @args: the command line, to name the keyword that was refused; or NULL
 * @subject: the device or port that was asked for, or NULL
 *
 * Return: the exit code, always RP_EXIT_FAILURE.
 */
int rp_nl_explain(const struct rp_nl *nl, int err, const struct rp_args *args, const char *subject)
{
	const char *keyword = bad_keyword(nl, args);
	const char *why = *nl->message ? nl->message : strerror(-err);
	struct rp_error step;

	next_step(nl, err, args ? args->verb->subject : RP_ARG_NONE, subject, &step);
	rp_complain("%s%s%s%s%s%s", subject ? subject : "", subject ? ": " : "",
		    keyword ? keyword : "", keyword ? ": " : "", why, step.text);
	return RP_EXIT_FAILURE;
}
