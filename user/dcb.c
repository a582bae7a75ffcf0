// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include "dcb.h"

#define SEQ 1

static void take_app(const struct nlattr *attr, struct rp_dcb *dcb)
{
	const struct dcb_app *app = mnl_attr_get_payload(attr);

	if (mnl_attr_get_payload_len(attr) < sizeof(*app) ||
	    app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= RP_DSCPS ||
	    app->priority >= RP_PRIORITIES)
		return;
	dcb->dscp_mapped |= 1ull << app->protocol;
	dcb->priority[app->protocol] = app->priority;
}

static void take_ieee(const struct nlattr *ieee, struct rp_dcb *dcb)
{
	const struct nlattr *attr, *app;

	mnl_attr_for_each_nested(attr, ieee) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type == DCB_ATTR_IEEE_PFC &&
		    mnl_attr_get_payload_len(attr) >= sizeof(struct ieee_pfc))
			dcb->pfc = ((const uint8_t *)mnl_attr_get_payload(attr))
				   [offsetof(struct ieee_pfc, pfc_en)];
		if (type != DCB_ATTR_IEEE_APP_TABLE)
			continue;
		mnl_attr_for_each_nested(app, attr)
			if (mnl_attr_get_type(app) == DCB_ATTR_IEEE_APP)
				take_app(app, dcb);
	}
}

/**
 * rp_dcb_parse() - understand an answer
 * @message: the netlink message
 * @len: bytes that were received
 * @dcb: what it tells
 *
 * Return: 0 or a negative error number, the kernel's or -EBADMSG.
 */
int rp_dcb_parse(const void *message, size_t len, struct rp_dcb *dcb)
{
	const struct nlmsghdr *nlh = message;
	const struct nlmsgerr *error;
	const struct nlattr *attr;

	memset(dcb, 0, sizeof(*dcb));
	if (len > INT32_MAX || !mnl_nlmsg_ok(nlh, len) || nlh->nlmsg_len > len)
		return -EBADMSG;
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		error = mnl_nlmsg_get_payload(nlh);
		if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*error) || error->error >= 0)
			return -EBADMSG;
		return error->error;
	}
	if (nlh->nlmsg_type != RTM_GETDCB || mnl_nlmsg_get_payload_len(nlh) < sizeof(struct dcbmsg))
		return -EBADMSG;
	mnl_attr_for_each(attr, nlh, sizeof(struct dcbmsg)) {
		if (mnl_attr_get_type(attr) != DCB_ATTR_IEEE)
			continue;
		dcb->known = true;
		take_ieee(attr, dcb);
	}
	return dcb->known ? 0 : -EOPNOTSUPP;
}

static int ask(struct mnl_socket *socket, const char *netdev, struct rp_dcb *dcb)
{
	char buffer[16 * 1024] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct dcbmsg *dcbmsg;
	ssize_t got;

	nlh->nlmsg_type = RTM_GETDCB;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	nlh->nlmsg_seq = SEQ;
	dcbmsg = mnl_nlmsg_put_extra_header(nlh, sizeof(*dcbmsg));
	dcbmsg->dcb_family = AF_UNSPEC;
	dcbmsg->cmd = DCB_CMD_IEEE_GET;
	mnl_attr_put_strz(nlh, DCB_ATTR_IFNAME, netdev);
	if (mnl_socket_sendto(socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	got = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
	return got < 0 ? -errno : rp_dcb_parse(buffer, got, dcb);
}

/**
 * rp_dcb_read() - ask for the settings of a netdevice
 * @netdev: its name
 * @dcb: what is known; nothing, when it fails
 *
 * Return: 0 or a negative error number; -EOPNOTSUPP: the driver has no DCB.
 */
int rp_dcb_read(const char *netdev, struct rp_dcb *dcb)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	int err;

	memset(dcb, 0, sizeof(*dcb));
	if (!socket || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID))
		err = -errno;
	else
		err = ask(socket, netdev, dcb);
	if (socket)
		mnl_socket_close(socket);
	return err;
}
