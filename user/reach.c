// SPDX-License-Identifier: GPL-2.0
/*
 * An echo request that may not be fragmented either gets to the other host and back
 * whole, or not at all; one with a hop limit is answered by the host itself once the
 * limit is as far as it is.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <sys/socket.h>

#include "reach.h"
#include "units.h"

#define TRIES 3
#define WAIT_MS 400
#define REPLY_LEN 65536
#define ECHO_LEN 8
#define IP4_LEN 20
#define IP6_LEN 40

/* type, code, checksum, identifier, number: the same in both versions */
struct echo {
	uint8_t type, code;
	uint16_t checksum, id, number;
};

struct asker {
	int fd;
	bool ipv4;
	uint16_t id, number;
	uint8_t *packet, *reply;
	unsigned int len;
};

/* the address is bound, so that the answer comes back to this port and no other */
static int open_socket(struct asker *a, const struct rp_reach *reach)
{
	struct sockaddr_in6 from6 = { .sin6_family = AF_INET6 }, to6 = from6;
	struct sockaddr_in from4 = { .sin_family = AF_INET }, to4 = from4;
	int discover = IP_PMTUDISC_PROBE, tos = reach->tos, err;

	a->ipv4 = rp_address_is_ipv4(reach->to);
	a->fd = socket(a->ipv4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC,
		       a->ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	if (a->fd < 0)
		return -errno;
	if (setsockopt(a->fd, SOL_SOCKET, SO_BINDTODEVICE, reach->netdev,
		       strlen(reach->netdev) + 1))
		return -errno;
	if (a->ipv4) {
		memcpy(&from4.sin_addr, reach->from + 12, sizeof(from4.sin_addr));
		memcpy(&to4.sin_addr, reach->to + 12, sizeof(to4.sin_addr));
		setsockopt(a->fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover));
		setsockopt(a->fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
		err = bind(a->fd, (struct sockaddr *)&from4, sizeof(from4)) ||
		      connect(a->fd, (struct sockaddr *)&to4, sizeof(to4));
	} else {
		memcpy(&from6.sin6_addr, reach->from, sizeof(from6.sin6_addr));
		memcpy(&to6.sin6_addr, reach->to, sizeof(to6.sin6_addr));
		discover = IPV6_PMTUDISC_PROBE;
		setsockopt(a->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &discover, sizeof(discover));
		setsockopt(a->fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
		err = bind(a->fd, (struct sockaddr *)&from6, sizeof(from6)) ||
		      connect(a->fd, (struct sockaddr *)&to6, sizeof(to6));
	}
	return err ? -errno : 0;
}

static void close_asker(struct asker *a)
{
	if (a->fd >= 0)
		close(a->fd);
	free(a->packet);
	free(a->reply);
}

static int open_asker(struct asker *a, const struct rp_reach *reach, unsigned int len)
{
	int err;

	*a = (struct asker){ .fd = -1, .id = getpid(), .len = len };
	a->packet = calloc(1, len);
	a->reply = malloc(REPLY_LEN);
	err = a->packet && a->reply ? open_socket(a, reach) : -ENOMEM;
	if (err)
		close_asker(a);
	return err;
}

static uint16_t checksum(const uint8_t *bytes, unsigned int len)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < len; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

/* the kernel makes the checksum of ICMPv6 */
static int send_echo(struct asker *a)
{
	struct echo echo = {
		.type = a->ipv4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST, .id = htons(a->id),
		.number = htons(++a->number),
	};

	memcpy(a->packet, &echo, sizeof(echo));
	if (a->ipv4) {
		echo.checksum = checksum(a->packet, a->len);
		memcpy(a->packet, &echo, sizeof(echo));
	}
	return send(a->fd, a->packet, a->len, 0) < 0 ? -errno : 0;
}

static bool is_answer(const struct asker *a, ssize_t len)
{
	unsigned int skip = 0;
	struct echo echo;

	if (a->ipv4 && len >= IP4_LEN)
		skip = (a->reply[0] & 0xf) * 4;
	if (len < (ssize_t)(skip + sizeof(echo)) || len - skip != a->len)
		return false;
	memcpy(&echo, a->reply + skip, sizeof(echo));
	return echo.type == (a->ipv4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) &&
	       echo.id == htons(a->id) && echo.number == htons(a->number);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

/* returns 1 when it was answered, 0 when not, or a negative error number */
static int wait_answer(struct asker *a)
{
	int64_t until = now_ms() + WAIT_MS, left;

	while ((left = until - now_ms()) > 0) {
		struct pollfd fd = { a->fd, POLLIN, 0 };
		ssize_t got;

		if (poll(&fd, 1, left) <= 0)
			continue;
		got = recv(a->fd, a->reply, REPLY_LEN, MSG_DONTWAIT);
		if (got >= 0 && is_answer(a, got))
			return 1;
	}
	return 0;
}

/* what is too large for the netdevice, or known to be for the path, is refused at once */
static int ask(struct asker *a)
{
	for (int i = 0; i < TRIES; i++) {
		int err = send_echo(a), answered;

		if (err == -EMSGSIZE)
			return 0;
		if (err && err != -EHOSTUNREACH && err != -ECONNREFUSED)
			return err;
		answered = wait_answer(a);
		if (answered)
			return answered;
	}
	return 0;
}

/**
 * rp_reach_size() - whether a packet of that size gets there and back
 * @reach: who asks whom
 * @bytes: of the IP packet
 *
 * Return: 1: it does; 0: no answer; or a negative error number.
 */
int rp_reach_size(const struct rp_reach *reach, unsigned int bytes)
{
	unsigned int head = rp_address_is_ipv4(reach->to) ? IP4_LEN : IP6_LEN;
	struct asker a;
	int ret;

	if (bytes < head + ECHO_LEN)
		return -EINVAL;
	ret = open_asker(&a, reach, bytes - head);
	if (ret)
		return ret;
	ret = ask(&a);
	close_asker(&a);
	return ret;
}

static int ask_limited(struct asker *a, int limit)
{
	setsockopt(a->fd, a->ipv4 ? IPPROTO_IP : IPPROTO_IPV6,
		   a->ipv4 ? IP_TTL : IPV6_UNICAST_HOPS, &limit, sizeof(limit));
	return ask(a);
}

/**
 * rp_reach_hops() - how far it is
 * @reach: who asks whom
 * @far: greatest hop limit that is tried
 *
 * Return: the least hop limit that gets there; 0: none did; or a negative error number.
 */
int rp_reach_hops(const struct rp_reach *reach, unsigned int far)
{
	int least = 1, most = far, ret;
	struct asker a;

	ret = open_asker(&a, reach, ECHO_LEN + 56);
	if (ret)
		return ret;
	ret = ask_limited(&a, most);
	while (ret > 0 && least < most) {
		int middle = (least + most) / 2, answered = ask_limited(&a, middle);

		if (answered < 0)
			ret = answered;
		else if (answered)
			most = middle;
		else
			least = middle + 1;
	}
	close_asker(&a);
	return ret > 0 ? most : ret;
}
