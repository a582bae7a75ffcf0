// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>

#include "rtnl.h"

#define REQUEST_LEN 1024
#define REPLY_LEN (64 * 1024)
#define FQ_LIMIT 65536		/* packets of a port */
#define FQ_FLOW_LIMIT 4096	/* and of a QP: rxe has 64 and their ACKs under way */

struct rp_rtnl {
	struct mnl_socket *socket;
	uint32_t seq;
	char message[160];	/* the kernel's reason, may be empty */
	char request[REQUEST_LEN] __attribute__((aligned(8)));
	char reply[REPLY_LEN] __attribute__((aligned(8)));
};

/**
 * rp_rtnl_new() - open a socket
 * @error: why not
 *
 * Return: the socket or NULL.
 */
struct rp_rtnl *rp_rtnl_new(struct rp_error *error)
{
	struct rp_rtnl *rtnl = calloc(1, sizeof(*rtnl));
	int on = 1;

	if (rtnl)
		rtnl->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!rtnl || !rtnl->socket || mnl_socket_bind(rtnl->socket, 0, MNL_SOCKET_AUTOPID)) {
		rp_error_set(error, "rtnetlink: %s", strerror(errno));
		rp_rtnl_release(rtnl);
		return NULL;
	}
	mnl_socket_setsockopt(rtnl->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(rtnl->socket, NETLINK_CAP_ACK, &on, sizeof(on));
	return rtnl;
}

/**
 * rp_rtnl_release() - close the socket
 * @rtnl: the socket or NULL
 */
void rp_rtnl_release(struct rp_rtnl *rtnl)
{
	if (rtnl && rtnl->socket)
		mnl_socket_close(rtnl->socket);
	free(rtnl);
}

static struct nlmsghdr *request(struct rp_rtnl *rtnl, uint16_t type, uint16_t flags, size_t size,
				void **body)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(rtnl->request);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++rtnl->seq;
	*body = mnl_nlmsg_put_extra_header(nlh, size);
	return nlh;
}

static void take_message(struct rp_rtnl *rtnl, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	size_t skip = sizeof(*error);

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += error->msg.nlmsg_len - sizeof(error->msg);
	mnl_attr_for_each(attr, nlh, skip)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
		    !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
			snprintf(rtnl->message, sizeof(rtnl->message), "%s",
				 mnl_attr_get_str(attr));
}

/* returns 0 or a negative error number */
static int transact(struct rp_rtnl *rtnl, mnl_cb_t fn, void *data)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)rtnl->request;
	unsigned int portid = mnl_socket_get_portid(rtnl->socket);

	rtnl->message[0] = '\0';
	if (mnl_socket_sendto(rtnl->socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	for (;;) {
		ssize_t got = mnl_socket_recvfrom(rtnl->socket, rtnl->reply, sizeof(rtnl->reply));
		int ret;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		nlh = (const struct nlmsghdr *)rtnl->reply;
		if (nlh->nlmsg_type == NLMSG_ERROR)
			take_message(rtnl, nlh);
		ret = mnl_cb_run(rtnl->reply, got, rtnl->seq, portid, fn, data);
		if (ret < 0)
			return -errno;
		if (ret == MNL_CB_STOP)
			return 0;
	}
}

static int explain(const struct rp_rtnl *rtnl, int err, const char *what, struct rp_error *error)
{
	if (err)
		rp_error_set(error, "%s: %s%s", what,
			     *rtnl->message ? rtnl->message : strerror(-err),
			     err == -EPERM ? "; it needs CAP_NET_ADMIN: run it as root" : "");
	return err;
}

/**
 * rp_rtnl_request() - begin a request; add attributes, then run it
 * @rtnl: the socket
 * @type: RTM_*
 * @flags: NLM_F_*, beside NLM_F_REQUEST
 * @size: of the struct that it begins with
 * @body: gets a pointer to that, zeroed
 *
 * Return: the message.
 */
struct nlmsghdr *rp_rtnl_request(struct rp_rtnl *rtnl, uint16_t type, uint16_t flags,
				 size_t size, void **body)
{
	return request(rtnl, type, flags, size, body);
}

/**
 * rp_rtnl_run() - send the request and hand on what is answered
 * @rtnl: the socket
 * @fn: gets each message; returns MNL_CB_OK, MNL_CB_STOP, or MNL_CB_ERROR with errno set
 * @data: for @fn
 * @what: was asked for, for the message
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_rtnl_run(struct rp_rtnl *rtnl, int (*fn)(const struct nlmsghdr *nlh, void *data),
		void *data, const char *what, struct rp_error *error)
{
	return explain(rtnl, transact(rtnl, fn, data), what, error);
}

static void copy_kind(char *kind, const struct nlattr *attr)
{
	if (!mnl_attr_validate(attr, MNL_TYPE_STRING))
		snprintf(kind, RP_KIND_LEN, "%.*s", mnl_attr_get_payload_len(attr),
			 mnl_attr_get_str(attr));
}

static void take_info(struct rp_link_info *link, const struct nlattr *info)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, info)
		if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
			copy_kind(link->kind, attr);
}

static int take_link(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct rp_links *links = data;
	struct rp_link_info *link, *grown;
	const struct nlattr *attr;
	bool elsewhere = false;

	grown = reallocarray(links->at, links->count + 1, sizeof(*grown));
	if (!grown) {
		errno = ENOMEM;
		return MNL_CB_ERROR;
	}
	links->at = grown;
	link = &links->at[links->count++];
	*link = (struct rp_link_info){
		.ifindex = ifi->ifi_index,
		.up = ifi->ifi_flags & IFF_UP,
		.ethernet = ifi->ifi_type == ARPHRD_ETHER,
	};
	mnl_attr_for_each(attr, nlh, sizeof(*ifi)) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_IFNAME:
			snprintf(link->name, sizeof(link->name), "%s", mnl_attr_get_str(attr));
			break;
		case IFLA_MASTER:
			link->master = mnl_attr_get_u32(attr);
			break;
		case IFLA_LINK:
			link->lower = mnl_attr_get_u32(attr);
			break;
		case IFLA_LINK_NETNSID:
			elsewhere = true;
			break;
		case IFLA_MTU:
			link->mtu = mnl_attr_get_u32(attr);
			break;
		case IFLA_MAX_MTU:
			link->mtu_max = mnl_attr_get_u32(attr);
			break;
		case IFLA_CARRIER:
			link->carrier = mnl_attr_get_u8(attr);
			break;
		case IFLA_ADDRESS:
			if (mnl_attr_get_payload_len(attr) == sizeof(link->mac))
				memcpy(link->mac, mnl_attr_get_payload(attr), sizeof(link->mac));
			break;
		case IFLA_LINKINFO:
			take_info(link, attr);
			break;
		}
	}
	/* a veth's link is its other end, which it does not stand on */
	if (elsewhere || !strcmp(link->kind, "veth"))
		link->lower = 0;
	return MNL_CB_OK;
}

/**
 * rp_links_read() - read all netdevices
 * @rtnl: the socket
 * @links: empty
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_links_read(struct rp_rtnl *rtnl, struct rp_links *links, struct rp_error *error)
{
	struct ifinfomsg *ifi;

	request(rtnl, RTM_GETLINK, NLM_F_DUMP, sizeof(*ifi), (void **)&ifi);
	return explain(rtnl, transact(rtnl, take_link, links), "netdevices", error);
}

/**
 * rp_links_name() - find a netdevice by its name
 * @links: all
 * @name: its name
 *
 * Return: the netdevice or NULL.
 */
const struct rp_link_info *rp_links_name(const struct rp_links *links, const char *name)
{
	for (unsigned int i = 0; i < links->count; i++)
		if (!strcmp(links->at[i].name, name))
			return &links->at[i];
	return NULL;
}

/**
 * rp_links_index() - find a netdevice by its number
 * @links: all
 * @ifindex: its number
 *
 * Return: the netdevice or NULL.
 */
const struct rp_link_info *rp_links_index(const struct rp_links *links, int ifindex)
{
	for (unsigned int i = 0; i < links->count; i++)
		if (links->at[i].ifindex == ifindex)
			return &links->at[i];
	return NULL;
}

/**
 * rp_links_drop() - free what rp_links_read() read
 * @links: all
 */
void rp_links_drop(struct rp_links *links)
{
	free(links->at);
	*links = (struct rp_links){ 0 };
}

/**
 * rp_link_make() - make a netdevice
 * @rtnl: the socket
 * @name: its name
 * @kind: of it
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_link_make(struct rp_rtnl *rtnl, const char *name, const char *kind, struct rp_error *error)
{
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh = request(rtnl, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
				       sizeof(*ifi), (void **)&ifi);
	struct nlattr *info;
	int err;

	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, kind);
	mnl_attr_nest_end(nlh, info);
	err = transact(rtnl, NULL, NULL);
	if (err == -EOPNOTSUPP)
		return rp_error_set(error,
				    "%s: the kernel module is not loaded; load it: modprobe rocepath",
				    name), err;
	return explain(rtnl, err, name, error);
}

static struct nlmsghdr *link_request(struct rp_rtnl *rtnl, uint16_t type, int ifindex,
				     struct ifinfomsg **ifi)
{
	struct nlmsghdr *nlh = request(rtnl, type, NLM_F_ACK, sizeof(**ifi), (void **)ifi);

	(*ifi)->ifi_index = ifindex;
	return nlh;
}

static const char *name_of(int ifindex, char *name)
{
	return if_indextoname(ifindex, name) ? name : "a netdevice that has gone";
}

/**
 * rp_link_delete() - delete a netdevice
 * @rtnl: the socket
 * @ifindex: which
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_link_delete(struct rp_rtnl *rtnl, int ifindex, struct rp_error *error)
{
	char name[IF_NAMESIZE];
	struct ifinfomsg *ifi;

	name_of(ifindex, name);
	link_request(rtnl, RTM_DELLINK, ifindex, &ifi);
	return explain(rtnl, transact(rtnl, NULL, NULL), name, error);
}

/**
 * rp_link_set_master() - make a netdevice a port, or no longer one
 * @rtnl: the socket
 * @ifindex: the port
 * @master: the device, 0: none
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_link_set_master(struct rp_rtnl *rtnl, int ifindex, int master, struct rp_error *error)
{
	char name[IF_NAMESIZE];
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh = link_request(rtnl, RTM_NEWLINK, ifindex, &ifi);

	mnl_attr_put_u32(nlh, IFLA_MASTER, master);
	return explain(rtnl, transact(rtnl, NULL, NULL), name_of(ifindex, name), error);
}

/**
 * rp_link_set_up() - set a netdevice up
 * @rtnl: the socket
 * @ifindex: which
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_link_set_up(struct rp_rtnl *rtnl, int ifindex, struct rp_error *error)
{
	char name[IF_NAMESIZE];
	struct ifinfomsg *ifi;

	link_request(rtnl, RTM_NEWLINK, ifindex, &ifi);
	ifi->ifi_flags = IFF_UP;
	ifi->ifi_change = IFF_UP;
	return explain(rtnl, transact(rtnl, NULL, NULL), name_of(ifindex, name), error);
}

/**
 * rp_link_add_address() - give a netdevice an address, if it lacks it
 * @rtnl: the socket
 * @ifindex: which
 * @address: such as "10.0.0.1/24"; known to be right
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_link_add_address(struct rp_rtnl *rtnl, int ifindex, const char *address,
			struct rp_error *error)
{
	struct ifaddrmsg *ifa;
	struct nlmsghdr *nlh = request(rtnl, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
				       sizeof(*ifa), (void **)&ifa);
	int family = strchr(address, ':') ? AF_INET6 : AF_INET;
	const char *slash = strchr(address, '/');
	size_t len = family == AF_INET ? 4 : 16;
	char text[INET6_ADDRSTRLEN];
	unsigned char bytes[16];
	int err;

	snprintf(text, sizeof(text), "%.*s", (int)(slash - address), address);
	inet_pton(family, text, bytes);
	ifa->ifa_family = family;
	ifa->ifa_prefixlen = atoi(slash + 1);
	ifa->ifa_index = ifindex;
	mnl_attr_put(nlh, IFA_LOCAL, len, bytes);
	mnl_attr_put(nlh, IFA_ADDRESS, len, bytes);
	if (family == AF_INET6)
		mnl_attr_put_u32(nlh, IFA_FLAGS, IFA_F_NODAD);
	err = transact(rtnl, NULL, NULL);
	return err == -EEXIST ? 0 : explain(rtnl, err, address, error);
}

static int take_qdisc(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	struct rp_qdiscs *qdiscs = data;
	struct rp_qdisc *grown = reallocarray(qdiscs->at, qdiscs->count + 1, sizeof(*grown));
	const struct nlattr *attr;

	if (!grown) {
		errno = ENOMEM;
		return MNL_CB_ERROR;
	}
	qdiscs->at = grown;
	grown += qdiscs->count++;
	*grown = (struct rp_qdisc){
		.ifindex = tc->tcm_ifindex, .handle = tc->tcm_handle, .parent = tc->tcm_parent,
	};
	mnl_attr_for_each(attr, nlh, sizeof(*tc))
		if (mnl_attr_get_type(attr) == TCA_KIND)
			copy_kind(grown->kind, attr);
	return MNL_CB_OK;
}

/**
 * rp_qdiscs_read() - read the queueing disciplines of all netdevices
 * @rtnl: the socket
 * @qdiscs: empty
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_qdiscs_read(struct rp_rtnl *rtnl, struct rp_qdiscs *qdiscs, struct rp_error *error)
{
	struct tcmsg *tc;
	struct nlmsghdr *nlh = request(rtnl, RTM_GETQDISC, NLM_F_DUMP, sizeof(*tc), (void **)&tc);

	/* those that the kernel made by itself, too */
	mnl_attr_put(nlh, TCA_DUMP_INVISIBLE, 0, NULL);
	return explain(rtnl, transact(rtnl, take_qdisc, qdiscs), "qdiscs", error);
}

/**
 * rp_qdiscs_drop() - free what rp_qdiscs_read() read
 * @qdiscs: all
 */
void rp_qdiscs_drop(struct rp_qdiscs *qdiscs)
{
	free(qdiscs->at);
	*qdiscs = (struct rp_qdiscs){ 0 };
}

static struct nlmsghdr *qdisc_request(struct rp_rtnl *rtnl, uint16_t type, uint16_t flags,
				      int ifindex, uint32_t parent, struct tcmsg **tc)
{
	struct nlmsghdr *nlh = request(rtnl, type, NLM_F_ACK | flags, sizeof(**tc), (void **)tc);

	(*tc)->tcm_family = AF_UNSPEC;
	(*tc)->tcm_ifindex = ifindex;
	(*tc)->tcm_parent = parent;
	return nlh;
}

/**
 * rp_qdisc_put_mq() - make mq the root, so that its classes can be named
 * @rtnl: the socket
 * @ifindex: of a netdevice with several queues
 * @handle: of the new root
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_qdisc_put_mq(struct rp_rtnl *rtnl, int ifindex, uint32_t handle, struct rp_error *error)
{
	char name[IF_NAMESIZE];
	struct tcmsg *tc;
	struct nlmsghdr *nlh = qdisc_request(rtnl, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE,
					     ifindex, TC_H_ROOT, &tc);

	tc->tcm_handle = handle;
	mnl_attr_put_strz(nlh, TCA_KIND, "mq");
	return explain(rtnl, transact(rtnl, NULL, NULL), name_of(ifindex, name), error);
}

/**
 * rp_qdisc_put_fq() - make fq the queueing discipline
 * @rtnl: the socket
 * @ifindex: of a netdevice
 * @parent: TC_H_ROOT or a class of mq
 * @horizon_us: what is to leave later leaves then
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_qdisc_put_fq(struct rp_rtnl *rtnl, int ifindex, uint32_t parent, uint64_t horizon_us,
		    struct rp_error *error)
{
	char name[IF_NAMESIZE];
	struct tcmsg *tc;
	struct nlmsghdr *nlh = qdisc_request(rtnl, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE,
					     ifindex, parent, &tc);
	struct nlattr *options;
	int err;

	mnl_attr_put_strz(nlh, TCA_KIND, "fq");
	options = mnl_attr_nest_start(nlh, TCA_OPTIONS);
	mnl_attr_put_u32(nlh, TCA_FQ_PLIMIT, FQ_LIMIT);
	mnl_attr_put_u32(nlh, TCA_FQ_FLOW_PLIMIT, FQ_FLOW_LIMIT);
	mnl_attr_put_u32(nlh, TCA_FQ_HORIZON, horizon_us);
	mnl_attr_put_u8(nlh, TCA_FQ_HORIZON_DROP, 0);
	mnl_attr_nest_end(nlh, options);
	err = transact(rtnl, NULL, NULL);
	if (err == -ENOENT)
		return rp_error_set(error,
				    "%s: this kernel has no fq, which paces: build it with CONFIG_NET_SCH_FQ",
				    name_of(ifindex, name)), err;
	return explain(rtnl, err, name_of(ifindex, name), error);
}

/**
 * rp_qdisc_delete() - let the kernel choose a queueing discipline again
 * @rtnl: the socket
 * @ifindex: of a netdevice
 * @parent: TC_H_ROOT or a class of mq
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_qdisc_delete(struct rp_rtnl *rtnl, int ifindex, uint32_t parent, struct rp_error *error)
{
	char name[IF_NAMESIZE];
	struct tcmsg *tc;

	qdisc_request(rtnl, RTM_DELQDISC, 0, ifindex, parent, &tc);
	return explain(rtnl, transact(rtnl, NULL, NULL), name_of(ifindex, name), error);
}

struct walk {
	struct rp_filters *filters;
	bool egress;
};

static void take_options(struct rp_filter *filter, const struct nlattr *options)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, options)
		if (mnl_attr_get_type(attr) == TCA_BPF_ID)
			filter->program = mnl_attr_get_u32(attr);
}

static int take_filter(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	const struct walk *walk = data;
	struct rp_filters *filters = walk->filters;
	const struct nlattr *attr, *options = NULL;
	struct rp_filter *filter, *grown;

	/* each priority is named once without a filter */
	if (!tc->tcm_handle)
		return MNL_CB_OK;
	grown = reallocarray(filters->at, filters->count + 1, sizeof(*grown));
	if (!grown) {
		errno = ENOMEM;
		return MNL_CB_ERROR;
	}
	filters->at = grown;
	filter = &filters->at[filters->count++];
	*filter = (struct rp_filter){
		.egress = walk->egress, .handle = tc->tcm_handle,
		.priority = TC_H_MAJ(tc->tcm_info) >> 16, .protocol = TC_H_MIN(tc->tcm_info),
	};
	mnl_attr_for_each(attr, nlh, sizeof(*tc))
		if (mnl_attr_get_type(attr) == TCA_KIND)
			copy_kind(filter->kind, attr);
		else if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			options = attr;
	if (options && !strcmp(filter->kind, "bpf"))
		take_options(filter, options);
	return MNL_CB_OK;
}

/**
 * rp_filters_read() - read the filters on a clsact
 * @rtnl: the socket
 * @ifindex: of a netdevice
 * @filters: empty; stays so where there is no clsact
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_filters_read(struct rp_rtnl *rtnl, int ifindex, struct rp_filters *filters,
		    struct rp_error *error)
{
	char name[IF_NAMESIZE];
	int err = 0;

	for (int egress = 0; !err && egress < 2; egress++) {
		struct walk walk = { filters, egress };
		struct tcmsg *tc;

		request(rtnl, RTM_GETTFILTER, NLM_F_DUMP, sizeof(*tc), (void **)&tc);
		tc->tcm_ifindex = ifindex;
		tc->tcm_parent = TC_H_MAKE(TC_H_CLSACT,
					   egress ? TC_H_MIN_EGRESS : TC_H_MIN_INGRESS);
		err = transact(rtnl, take_filter, &walk);
	}
	return explain(rtnl, err, name_of(ifindex, name), error);
}

/**
 * rp_filters_drop() - free what rp_filters_read() read
 * @filters: all
 */
void rp_filters_drop(struct rp_filters *filters)
{
	free(filters->at);
	*filters = (struct rp_filters){ 0 };
}
