// SPDX-License-Identifier: GPL-2.0
/* RoCEv2 frames from scratch, and packet sockets in other network namespaces. */
#include "frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "icrc.h"

#define PKEY	0xffff
#define QKEY	0x80010000
#define CNP_LEN	16

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static u8 *put(u8 *at, const void *data, u32 len)
{
	memcpy(at, data, len);
	return at + len;
}

static u8 *put16(u8 *at, u16 value)
{
	value = htons(value);
	return put(at, &value, sizeof(value));
}

static u8 *put32(u8 *at, u32 value)
{
	value = htonl(value);
	return put(at, &value, sizeof(value));
}

static u8 *put64(u8 *at, u64 value)
{
	return put32(put32(at, value >> 32), (u32)value);
}

static u32 sum(const u8 *data, u32 len, u32 start)
{
	u64 total = start;
	u32 i;

	for (i = 0; i < len; i++)
		total += i & 1 ? data[i] : data[i] << 8;
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return total;
}

static u8 *put_bth(u8 *at, const struct frame *f)
{
	*at++ = f->opcode;
	*at++ = (-f->len & 3) << 4;
	at = put16(at, PKEY);
	at = put32(at, f->qpn);
	return put32(at, (f->ack_wanted ? 1u << 31 : 0) | f->psn);
}

static u8 *put_reth(u8 *at, const struct frame *f)
{
	return put32(put32(put64(at, f->va), f->rkey), f->dma_len);
}

static u8 *put_atomic(u8 *at, const struct frame *f)
{
	return put64(put64(put32(put64(at, f->va), f->rkey), 1), 0);
}

static u8 *put_aeth(u8 *at, const struct frame *f)
{
	return put32(at, (u32)f->syndrome << 24);
}

static u8 *put_connected(u8 *at, const struct frame *f)
{
	switch (f->opcode & 0x1f) {
	case RP_OP_WRITE_FIRST:
	case RP_OP_WRITE_ONLY:
	case RP_OP_READ_REQUEST:
		return put_reth(at, f);
	case RP_OP_WRITE_ONLY_IMM:
		return put32(put_reth(at, f), 0);
	case RP_OP_SEND_LAST_IMM:
	case RP_OP_SEND_ONLY_IMM:
	case RP_OP_WRITE_LAST_IMM:
		return put32(at, 0);
	case RP_OP_READ_RESPONSE_FIRST:
	case RP_OP_READ_RESPONSE_LAST:
	case RP_OP_READ_RESPONSE_ONLY:
	case RP_OP_ACK:
		return put_aeth(at, f);
	case RP_OP_ATOMIC_ACK:
		return put64(put_aeth(at, f), 0);
	case RP_OP_CMP_SWAP:
	case RP_OP_FETCH_ADD:
		return put_atomic(at, f);
	}
	return at;
}

static u8 *put_extended(u8 *at, const struct frame *f)
{
	static const u8 cnp[CNP_LEN];

	switch (rp_roce_transport(f->opcode)) {
	case RP_TRANSPORT_RC:
	case RP_TRANSPORT_UC:
		return put_connected(at, f);
	case RP_TRANSPORT_UD:
		return put32(put32(at, QKEY), RP_QPN_GSI);
	case RP_TRANSPORT_CNP:
		return put(at, cnp, sizeof(cnp));
	default:
		return at;
	}
}

static u8 *put_ip(u8 *at, const struct frame *f, u16 payload)
{
	u8 *ip = at;
	u16 check;

	if (f->ipv6) {
		at = put16(put32(at, 6u << 28), payload);
		*at++ = IPPROTO_UDP;
		*at++ = 64;
		return put(put(at, f->saddr, 16), f->daddr, 16);
	}
	at = put32(put32(at, 0x45000000 | (20 + payload)), 0x00004000);
	at = put32(at, 64 << 24 | IPPROTO_UDP << 16);
	at = put(put(at, f->saddr + 12, 4), f->daddr + 12, 4);
	check = ~sum(ip, 20, 0);
	put16(ip + 10, check);
	return at;
}

static void checksum(u8 *udp, const struct frame *f, u16 payload)
{
	u32 skip = f->ipv6 ? 0 : 12, pseudo;
	u16 check;

	pseudo = sum(f->saddr + skip, 16 - skip, IPPROTO_UDP + payload);
	pseudo = sum(f->daddr + skip, 16 - skip, pseudo);
	check = ~sum(udp, payload, pseudo);
	put16(udp + 6, check ? check : 0xffff);
}

/**
 * frame_l3() - bytes from the frame's begin to the IP header
 * @f: the frame
 */
u32 frame_l3(const struct frame *f)
{
	return f->vlan ? 18 : 14;
}

/**
 * frame_build() - make a frame
 * @f: what it is to be
 * @out: room for FRAME_MAX bytes
 *
 * Return: its bytes.
 */
u32 frame_build(const struct frame *f, u8 *out)
{
	u8 headers[64], *l3 = out + frame_l3(f), *udp, *at;
	u32 extended = put_extended(headers, f) - headers;
	u32 pad = -f->len & 3;
	u16 payload = RP_UDP_LEN + RP_BTH_LEN + extended + f->len + pad + RP_ICRC_LEN;
	struct rp_roce r;
	u32 icrc;

	at = put(put(out, f->dmac, 6), f->smac, 6);
	if (f->vlan)
		at = put16(put16(at, ETH_P_8021Q), f->vlan);
	put16(at, f->ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	udp = put_ip(l3, f, payload);
	at = put16(put16(put16(put16(udp, f->sport), f->dport), payload), 0);
	at = put(put_bth(at, f), headers, extended);
	if (f->len)
		at = put(at, f->payload, f->len);
	memset(at, 0, pad + RP_ICRC_LEN);
	at += pad + RP_ICRC_LEN;
	if (f->dport == RP_ROCE_PORT) {
		if (rp_roce_parse(l3, at - l3, at - l3, &r) != RP_ROCE_OK)
			die("opcode %#x, %u bytes: not a RoCEv2 packet", f->opcode, f->len);
		icrc = htole32(rp_icrc(l3, &r));
		memcpy(at - RP_ICRC_LEN, &icrc, sizeof(icrc));
	}
	if (f->checksum)
		checksum(udp, f, payload);
	return at - out;
}

/**
 * frame_mac() - read a MAC address
 * @text: aa:bb:cc:dd:ee:ff
 * @mac: six bytes, filled in
 */
void frame_mac(const char *text, u8 *mac)
{
	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3, mac + 4,
		   mac + 5) != 6)
		die("%s is no MAC address", text);
}

static bool address(const char *text, bool ipv6, u8 *out)
{
	memset(out, 0, 10);
	memset(out + 10, 0xff, 2);
	return inet_pton(ipv6 ? AF_INET6 : AF_INET, text, ipv6 ? out : out + 12) == 1;
}

/**
 * frame_addresses() - read source and destination
 * @f: the frame, filled in
 * @text: SOURCE,DESTINATION, both IPv4 or both IPv6
 */
void frame_addresses(struct frame *f, const char *text)
{
	char source[64], destination[64];

	f->ipv6 = strchr(text, ':');
	if (sscanf(text, "%63[^,],%63s", source, destination) != 2 ||
	    !address(source, f->ipv6, f->saddr) || !address(destination, f->ipv6, f->daddr))
		die("%s: not SOURCE,DESTINATION", text);
}

static void enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("%s: %s", path, strerror(errno));
	close(fd);
}

/**
 * frame_socket() - a packet socket on an interface
 * @where: INTERFACE, or NAMESPACE:INTERFACE; the caller's namespace stays
 * @protocol: to receive, 0: nothing
 */
int frame_socket(const char *where, u16 protocol)
{
	const char *colon = strchr(where, ':'), *ifname = colon ? colon + 1 : where;
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(protocol) };
	char path[256];
	int fd;

	if (colon) {
		snprintf(path, sizeof(path), "/var/run/netns/%.*s", (int)(colon - where), where);
		enter(path);
	}
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	at.sll_ifindex = if_nametoindex(ifname);
	if (fd < 0 || !at.sll_ifindex || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die("%s: %s", where, strerror(errno));
	if (colon)
		enter("/proc/1/ns/net");
	return fd;
}
