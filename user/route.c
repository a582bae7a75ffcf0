// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "route.h"

#define MAPPED_BITS 96
#define MAPPED_LEN (RP_ADDRESS_LEN - RP_ADDRESS4_LEN)
#define MAC_LEN 6
#define NUD_KNOWN (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY)

/* bytes as netlink has them, or false */
static bool map(const void *bytes, size_t len, uint8_t *address)
{
	if (len == RP_ADDRESS_LEN) {
		memcpy(address, bytes, len);
		return true;
	}
	if (len != RP_ADDRESS4_LEN)
		return false;
	memset(address, 0, MAPPED_LEN);
	memset(address + MAPPED_LEN - 2, 0xff, 2);
	memcpy(address + MAPPED_LEN, bytes, len);
	return true;
}

static int family_of(const uint8_t *address)
{
	return rp_address_is_ipv4(address) ? AF_INET : AF_INET6;
}

static void put_address(struct nlmsghdr *nlh, uint16_t type, const uint8_t *address)
{
	if (rp_address_is_ipv4(address))
		mnl_attr_put(nlh, type, RP_ADDRESS4_LEN, address + MAPPED_LEN);
	else
		mnl_attr_put(nlh, type, RP_ADDRESS_LEN, address);
}

static int take_address(const struct nlmsghdr *nlh, void *data)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *local = NULL, *far = NULL;
	struct rp_addresses *addresses = data;
	struct rp_address_info *grown;

	mnl_attr_for_each(attr, nlh, sizeof(*ifa)) {
		if (mnl_attr_get_type(attr) == IFA_LOCAL)
			local = attr;
		else if (mnl_attr_get_type(attr) == IFA_ADDRESS)
			far = attr;
	}
	/* of a point-to-point link IFA_ADDRESS is the other end's */
	local = local ? local : far;
	if (!local)
		return MNL_CB_OK;
	grown = reallocarray(addresses->at, addresses->count + 1, sizeof(*grown));
	if (!grown) {
		errno = ENOMEM;
		return MNL_CB_ERROR;
	}
	addresses->at = grown;
	grown += addresses->count;
	*grown = (struct rp_address_info){
		.ifindex = ifa->ifa_index, .link_local = ifa->ifa_scope >= RT_SCOPE_LINK,
		.length = ifa->ifa_prefixlen + (ifa->ifa_family == AF_INET ? MAPPED_BITS : 0),
	};
	if (map(mnl_attr_get_payload(local), mnl_attr_get_payload_len(local), grown->address))
		addresses->count++;
	return MNL_CB_OK;
}

/**
 * rp_addresses_read() - read the addresses of all netdevices
 * @rtnl: the socket
 * @addresses: empty
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_addresses_read(struct rp_rtnl *rtnl, struct rp_addresses *addresses,
		      struct rp_error *error)
{
	struct ifaddrmsg *ifa;

	rp_rtnl_request(rtnl, RTM_GETADDR, NLM_F_DUMP, sizeof(*ifa), (void **)&ifa);
	return rp_rtnl_run(rtnl, take_address, addresses, "addresses", error);
}

/**
 * rp_addresses_drop() - free what rp_addresses_read() read
 * @addresses: all
 */
void rp_addresses_drop(struct rp_addresses *addresses)
{
	free(addresses->at);
	*addresses = (struct rp_addresses){ 0 };
}

/* an IPv4 route may lead by a neighbour that has IPv6 */
static int take_route(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	const struct rtvia *via;

	mnl_attr_for_each(attr, nlh, sizeof(struct rtmsg)) {
		size_t len = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) == RTA_GATEWAY) {
			map(mnl_attr_get_payload(attr), len, data);
		} else if (mnl_attr_get_type(attr) == RTA_VIA && len > sizeof(*via)) {
			via = mnl_attr_get_payload(attr);
			map(via->rtvia_addr, len - sizeof(*via), data);
		}
	}
	return MNL_CB_OK;
}

/**
 * rp_route_next() - who is next on the way to an address
 * @rtnl: the socket
 * @ifindex: the netdevice that is sent by
 * @from: address that is sent from
 * @to: the address
 * @next: of the gateway; @to itself, where there is none
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_route_next(struct rp_rtnl *rtnl, int ifindex, const uint8_t *from, const uint8_t *to,
		  uint8_t *next, struct rp_error *error)
{
	char text[RP_TEXT_LEN + 16] = "the way to ";
	struct rtmsg *rtm;
	struct nlmsghdr *nlh = rp_rtnl_request(rtnl, RTM_GETROUTE, NLM_F_ACK, sizeof(*rtm),
					       (void **)&rtm);
	unsigned int bits = rp_address_is_ipv4(to) ? 32 : 128;

	rtm->rtm_family = family_of(to);
	rtm->rtm_dst_len = bits;
	rtm->rtm_src_len = bits;
	put_address(nlh, RTA_DST, to);
	put_address(nlh, RTA_SRC, from);
	mnl_attr_put_u32(nlh, RTA_OIF, ifindex);
	memcpy(next, to, RP_ADDRESS_LEN);
	rp_address_print(to, text + strlen(text));
	return rp_rtnl_run(rtnl, take_route, next, text, error);
}

struct neighbour {
	int ifindex;
	const uint8_t *address;
	uint8_t *mac;
	bool found;
};

static int take_neighbour(const struct nlmsghdr *nlh, void *data)
{
	const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *mac = NULL;
	struct neighbour *n = data;
	uint8_t address[RP_ADDRESS_LEN];
	bool same = false;

	mnl_attr_for_each(attr, nlh, sizeof(*ndm)) {
		size_t len = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) == NDA_DST)
			same = map(mnl_attr_get_payload(attr), len, address) &&
			       !memcmp(address, n->address, RP_ADDRESS_LEN);
		else if (mnl_attr_get_type(attr) == NDA_LLADDR && len == MAC_LEN)
			mac = attr;
	}
	if (!same || !mac || ndm->ndm_ifindex != n->ifindex || !(ndm->ndm_state & NUD_KNOWN))
		return MNL_CB_OK;
	memcpy(n->mac, mnl_attr_get_payload(mac), MAC_LEN);
	n->found = true;
	return MNL_CB_OK;
}

/**
 * rp_neighbour_find() - the Ethernet address of a neighbour that something was sent to lately
 * @rtnl: the socket
 * @ifindex: the netdevice
 * @address: of the neighbour
 * @mac: its Ethernet address
 * @error: why not
 *
 * Return: 0 or a negative error number; -EHOSTUNREACH: it is not known.
 */
int rp_neighbour_find(struct rp_rtnl *rtnl, int ifindex, const uint8_t *address, uint8_t *mac,
		      struct rp_error *error)
{
	struct neighbour n = { ifindex, address, mac, false };
	char text[RP_TEXT_LEN];
	struct ndmsg *ndm;
	int err;

	rp_rtnl_request(rtnl, RTM_GETNEIGH, NLM_F_DUMP, sizeof(*ndm), (void **)&ndm);
	ndm->ndm_family = family_of(address);
	err = rp_rtnl_run(rtnl, take_neighbour, &n, "neighbours", error);
	if (err || n.found)
		return err;
	rp_address_print(address, text);
	rp_error_set(error, "the next hop %s does not answer", text);
	return -EHOSTUNREACH;
}
