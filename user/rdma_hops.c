// SPDX-License-Identifier: GPL-2.0
/*
 * A packet socket sends, past the queue and its hooks (PACKET_QDISC_BYPASS): the policy
 * drops UDP 4791 of processes, for it could be anybody's, and this is root's own. The
 * frame wants the next hop's Ethernet address; the ping that tells how far the peer is
 * has made the kernel find it. A raw socket hears the routers.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "hops.h"
#include "rdma_hops.h"
#include "reach.h"
#include "route.h"

#ifndef PACKET_QDISC_BYPASS
#define PACKET_QDISC_BYPASS 20
#endif

#define TRIES 3
#define SILENT_END 2		/* hops without any answer: there it ends, if nothing else says */
#define WAIT_US 300000		/* for answers to the last of a round */
#define MESSAGE_LEN 2048

struct asking {
	struct rp_rdma_hops *hops;
	struct rp_rdma_lane lane;
	int out, in;
	uint16_t id;		/* of this round */
	unsigned int limit;	/* of this round */
	unsigned int asked, answered;
	uint64_t *sent_us;	/* by trace, 0: not in this round */
	int16_t of_ev[RP_RDMA_EVS];	/* its trace, -1: none */
};

static int failed(const char *what, struct rp_error *error)
{
	int err = -errno;

	rp_error_set(error, "%s: %s%s", what, strerror(-err),
		     err == -EPERM ? "; it needs CAP_NET_RAW: run it as root" : "");
	return err;
}

static int open_out(struct asking *a, struct rp_error *error)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET, .sll_ifindex = a->hops->ifindex,
	};
	int on = 1;

	/* of protocol 0 it hears nothing */
	a->out = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (a->out < 0 || bind(a->out, (struct sockaddr *)&address, sizeof(address)) ||
	    setsockopt(a->out, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)))
		return failed("packet socket", error);
	return 0;
}

/* not bound to the netdevice: answers may come back by another port */
static int open_in(struct asking *a, struct rp_error *error)
{
	bool ipv4 = rp_address_is_ipv4(a->hops->to);
	struct icmp6_filter filter6;
	uint32_t filter4 = ~(1u << ICMP_TIME_EXCEEDED);
	int err, size = 1 << 20;

	a->in = socket(ipv4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC,
		       ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	if (a->in < 0)
		return failed("raw socket", error);
	setsockopt(a->in, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (ipv4) {
		err = setsockopt(a->in, SOL_RAW, 1 /* ICMP_FILTER */, &filter4, sizeof(filter4));
	} else {
		ICMP6_FILTER_SETBLOCKALL(&filter6);
		ICMP6_FILTER_SETPASS(ICMP6_TIME_EXCEEDED, &filter6);
		err = setsockopt(a->in, IPPROTO_ICMPV6, ICMP6_FILTER, &filter6, sizeof(filter6));
	}
	return err ? failed("raw socket", error) : 0;
}

/* the router's address, and where in the packet ICMP begins */
static size_t take_source(const struct sockaddr_storage *from, const uint8_t *packet, size_t len,
			  uint8_t *router)
{
	if (from->ss_family == AF_INET6) {
		memcpy(router, &((const struct sockaddr_in6 *)from)->sin6_addr, RP_ADDRESS_LEN);
		return 0;
	}
	memset(router, 0, RP_ADDRESS_LEN);
	memset(router + 10, 0xff, 2);
	memcpy(router + 12, &((const struct sockaddr_in *)from)->sin_addr, RP_ADDRESS4_LEN);
	return len ? (packet[0] & 0xf) * 4 : 0;
}

static void take_answer(struct asking *a, const struct rp_rdma_quote *quote, const uint8_t *router)
{
	int n = quote->ev < RP_RDMA_EVS ? a->of_ev[quote->ev] : -1;
	struct rp_trace *trace;

	if (n < 0 || quote->id != a->id || !a->sent_us[n])
		return;
	trace = &a->hops->traces[n];
	trace->heard |= 1u << (a->limit - 1);
	memcpy(trace->router[a->limit - 1], router, RP_ADDRESS_LEN);
	trace->rtt_us = rp_hops_now_us() - a->sent_us[n];
	a->sent_us[n] = 0;
	a->answered++;
}

static void receive(struct asking *a)
{
	struct sockaddr_storage from = { 0 };
	socklen_t from_len = sizeof(from);
	uint8_t packet[MESSAGE_LEN], router[RP_ADDRESS_LEN];
	struct rp_rdma_quote quote;
	ssize_t got = recvfrom(a->in, packet, sizeof(packet), MSG_DONTWAIT,
			       (struct sockaddr *)&from, &from_len);
	size_t skip;

	if (got < 0)
		return;
	skip = take_source(&from, packet, got, router);
	if (skip <= (size_t)got &&
	    rp_rdma_quote_parse(&a->lane, packet + skip, got - skip, &quote))
		take_answer(a, &quote, router);
}

static void listen_until(struct asking *a, uint64_t until_us)
{
	for (uint64_t now = rp_hops_now_us(); now < until_us; now = rp_hops_now_us()) {
		struct pollfd fd = { a->in, POLLIN, 0 };

		if (poll(&fd, 1, (until_us - now) / 1000 + 1) > 0)
			receive(a);
	}
}

static int send_probe(struct asking *a, unsigned int n, struct rp_error *error)
{
	uint8_t frame[RP_RDMA_PROBE_LEN];
	unsigned int len = rp_rdma_probe_make(&a->lane, a->hops->evs[a->hops->traces[n].ev],
					      a->limit, a->id, frame);

	a->sent_us[n] = rp_hops_now_us();
	a->asked++;
	/* a driver whose queue is full refuses: as good as lost, and asked again */
	if (send(a->out, frame, len, 0) < 0 && errno != ENOBUFS && errno != EAGAIN)
		return failed(a->hops->netdev, error);
	return 0;
}

/* asks all that have not answered at this hop limit once, and waits */
static int ask_round(struct asking *a, struct rp_error *error)
{
	struct rp_rdma_hops *hops = a->hops;
	uint64_t next = rp_hops_now_us(), until;
	int err = 0;

	a->id++;
	a->asked = 0;
	a->answered = 0;
	memset(a->sent_us, 0, hops->count * sizeof(*a->sent_us));
	for (unsigned int i = 0; !err && i < hops->count; i++) {
		if (hops->traces[i].heard >> (a->limit - 1) & 1)
			continue;
		err = send_probe(a, i, error);
		next += 1000000 / hops->per_second;
		listen_until(a, next);
		if (hops->progress)
			hops->progress(a->limit, a->answered, a->asked);
	}
	until = rp_hops_now_us() + WAIT_US;
	while (!err && a->answered < a->asked && rp_hops_now_us() < until)
		listen_until(a, rp_hops_now_us() + WAIT_US / 16);
	return err;
}

/* a dead end stays one: what was silent for so long is not asked further away */
static int ask_hop(struct asking *a, bool *any, struct rp_error *error)
{
	int err = 0;

	*any = false;
	for (int i = 0; i < TRIES && !err; i++) {
		err = ask_round(a, error);
		*any |= a->answered;
		if (a->answered == a->asked)
			break;
		if (i && !*any)		/* nobody at this hop: no need to insist */
			break;
	}
	return err;
}

static int ask_all(struct asking *a, struct rp_error *error)
{
	unsigned int last = a->hops->distance ? a->hops->distance - 1 : a->hops->far;
	unsigned int silent = 0;
	int err = 0;

	for (a->limit = 1; !err && a->limit <= last; a->limit++) {
		bool any;

		err = ask_hop(a, &any, error);
		silent = any ? 0 : silent + 1;
		if (!a->hops->distance && silent == SILENT_END)
			break;
	}
	return err;
}

/* what the ping, that was to tell the distance, left in the table of neighbours */
static int find_lane(struct asking *a, struct rp_error *error)
{
	struct rp_rdma_hops *hops = a->hops;
	struct rp_rtnl *rtnl = rp_rtnl_new(error);
	const struct rp_link_info *link;
	uint8_t next[RP_ADDRESS_LEN];
	struct rp_links links = { 0 };
	int err = rtnl ? rp_links_read(rtnl, &links, error) : -ENOMEM;

	memcpy(a->lane.from, hops->from, RP_ADDRESS_LEN);
	memcpy(a->lane.to, hops->to, RP_ADDRESS_LEN);
	a->lane.tos = hops->tos;
	if (!err) {
		link = rp_links_index(&links, hops->ifindex);
		if (link)
			memcpy(a->lane.mac, link->mac, RP_MAC_LEN);
		err = rp_route_next(rtnl, hops->ifindex, hops->from, hops->to, next, error);
	}
	if (!err)
		err = rp_neighbour_find(rtnl, hops->ifindex, next, a->lane.next, error);
	rp_links_drop(&links);
	rp_rtnl_release(rtnl);
	return err;
}

static int measure(struct rp_rdma_hops *hops, struct rp_error *error)
{
	const struct rp_reach reach = { hops->netdev, hops->from, hops->to, hops->tos };
	int distance = rp_reach_hops(&reach, hops->far + 1 < RP_HOPS_MAX ? hops->far + 1 :
				     RP_HOPS_MAX);

	if (distance < 0) {
		errno = -distance;
		return failed("ping", error);
	}
	hops->distance = distance;
	hops->assumed = !distance;
	return 0;
}

/**
 * rp_rdma_hops_trace() - find the routers that each entropy value takes
 * @hops: what to ask; its traces are filled in
 * @error: why not
 *
 * Needs CAP_NET_RAW.
 *
 * Return: 0 or a negative error number.
 */
int rp_rdma_hops_trace(struct rp_rdma_hops *hops, struct rp_error *error)
{
	struct asking *a = calloc(1, sizeof(*a));
	int err;

	if (!a || getrandom(&a->id, sizeof(a->id), 0) < 0) {
		free(a);
		return rp_error_set(error, "out of memory"), -ENOMEM;
	}
	a->hops = hops;
	a->out = -1;
	a->in = -1;
	a->sent_us = calloc(hops->count, sizeof(*a->sent_us));
	memset(a->of_ev, 0xff, sizeof(a->of_ev));
	for (unsigned int i = 0; i < hops->count; i++)
		a->of_ev[hops->evs[hops->traces[i].ev]] = i;
	err = a->sent_us ? measure(hops, error) : (rp_error_set(error, "out of memory"), -ENOMEM);
	if (!err)
		err = find_lane(a, error);
	if (!err)
		err = open_out(a, error);
	if (!err)
		err = open_in(a, error);
	if (!err)
		err = ask_all(a, error);
	if (!err)
		hops->distance = rp_rdma_traces_settle(hops->traces, hops->count, hops->distance);
	if (a->out >= 0)
		close(a->out);
	if (a->in >= 0)
		close(a->in);
	free(a->sent_us);
	free(a);
	return err;
}
