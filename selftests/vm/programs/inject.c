// SPDX-License-Identifier: GPL-2.0
/*
 * inject -i [NETNS:]IF... [options] <LIST: send RoCEv2 packets as a list says.
 *
 * A line of the list is a packet: the number of its interface, then KEY=VALUE:
 *
 *   op qpn psn ack syndrome dma rkey va    of the BTH and its extended headers
 *   tag len                                first word of the payload, bytes of it
 *   sport dport csum vlan                  csum=1 whole, csum=2 left to the device
 *   raw=HEX                                this frame instead
 *
 * Prints how many it sent.
 */
/* SOURCES: selftests/vm/programs/lib/frame.c kmod/core/icrc.c kmod/core/roce.c */

#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/frame.h"

#define RING_FRAME	4096
#define RING_FRAMES	64
#define BLANKS		"\n\t "
#define LINE_LEN	(2 * FRAME_MAX + 64)

static const char usage[] =
	"usage: inject -i [NETNS:]IF... [-d DMAC] [-s SMAC] [-a SADDR,DADDR] [-t] [-v] [-b] [-n TIMES] [-r RANDOM] <LIST\n"
	"  -t  by a TX ring: all behind the MAC header is in shared pages\n"
	"  -v  with a virtio header, for csum=2\n"
	"  -b  past the queueing discipline, as fast as the device takes them\n"
	"  -n  each so often\n"
	"  -r  instead of a list: so many packets to random QPNs with random PSNs\n";

struct line {
	struct frame frame;
	int port;
	u32 tag;
	u32 checksum;
	u8 payload[4096];
	u8 raw[FRAME_MAX];
	u32 raw_len;
};

static int sockets[FRAME_PORTS];
static u8 *rings[FRAME_PORTS];
static int slots[FRAME_PORTS];
static int ports;
static bool use_ring, use_vnet, bypass;
static u32 times = 1;

static void set_option(int fd, int name, int value)
{
	if (setsockopt(fd, SOL_PACKET, name, &value, sizeof(value)))
		die("socket option %d: %s", name, strerror(errno));
}

static void ring_make(int port)
{
	struct tpacket_req req = {
		.tp_block_size = RING_FRAME * RING_FRAMES, .tp_block_nr = 1,
		.tp_frame_size = RING_FRAME, .tp_frame_nr = RING_FRAMES,
	};
	int fd = sockets[port];

	set_option(fd, PACKET_VERSION, TPACKET_V2);
	if (setsockopt(fd, SOL_PACKET, PACKET_TX_RING, &req, sizeof(req)))
		die("PACKET_TX_RING: %s", strerror(errno));
	rings[port] = mmap(NULL, req.tp_block_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (rings[port] == MAP_FAILED)
		die("mmap: %s", strerror(errno));
}

static void ring_kick(int port, struct tpacket2_hdr *slot)
{
	struct pollfd wait = { .fd = sockets[port], .events = POLLOUT };

	__atomic_store_n(&slot->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
	if (send(sockets[port], NULL, 0, 0) < 0)
		die("send: %s", strerror(errno));
	while (__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) != TP_STATUS_AVAILABLE)
		poll(&wait, 1, 1);
}

static void ring_send(int port, const u8 *data, u32 len)
{
	struct tpacket2_hdr *slot = (void *)(rings[port] + (size_t)slots[port] * RING_FRAME);
	u8 *at = (u8 *)slot + TPACKET2_HDRLEN - sizeof(struct sockaddr_ll);

	memcpy(at, data, len);
	slot->tp_len = len;
	ring_kick(port, slot);
	if (memcmp(at, data, len))
		die("the device wrote into the sender's memory");
	slots[port] = (slots[port] + 1) % RING_FRAMES;
}

static void vnet_send(const struct line *line, u8 *data, u32 len)
{
	u32 l4 = frame_l3(&line->frame) + (line->frame.ipv6 ? 40 : 20);
	struct virtio_net_hdr vnet = {};
	struct iovec iov[2] = { { &vnet, sizeof(vnet) }, { data, len } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	if (line->checksum == 2) {
		vnet.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		vnet.csum_start = l4;
		vnet.csum_offset = 6;
	}
	if (sendmsg(sockets[line->port], &msg, 0) < 0)
		die("send: %s", strerror(errno));
}

static void plain_send(int port, const u8 *data, u32 len)
{
	while (send(sockets[port], data, len, 0) < 0) {
		/* the device has no room now */
		if (!bypass || errno != ENOBUFS)
			die("send: %s", strerror(errno));
		usleep(100);
	}
}

static void transmit(const struct line *line, u8 *data, u32 len)
{
	u32 i;

	for (i = 0; i < times; i++) {
		if (use_ring)
			ring_send(line->port, data, len);
		else if (use_vnet)
			vnet_send(line, data, len);
		else
			plain_send(line->port, data, len);
	}
}

static void read_raw(struct line *line, const char *hex)
{
	for (line->raw_len = 0; hex[0] && hex[1]; hex += 2)
		if (sscanf(hex, "%2hhx", &line->raw[line->raw_len++]) != 1)
			die("raw: not hexadecimal");
}

static void read_word(struct line *line, const char *key, const char *value)
{
	struct frame *f = &line->frame;
	u64 n = strtoull(value, NULL, 0);

	if (!strcmp(key, "raw"))
		read_raw(line, value);
	else if (!strcmp(key, "op"))
		f->opcode = n;
	else if (!strcmp(key, "qpn"))
		f->qpn = n;
	else if (!strcmp(key, "psn"))
		f->psn = n & 0xffffff;
	else if (!strcmp(key, "ack"))
		f->ack_wanted = n;
	else if (!strcmp(key, "syndrome"))
		f->syndrome = n;
	else if (!strcmp(key, "dma"))
		f->dma_len = n;
	else if (!strcmp(key, "rkey"))
		f->rkey = n;
	else if (!strcmp(key, "va"))
		f->va = n;
	else if (!strcmp(key, "tag"))
		line->tag = n;
	else if (!strcmp(key, "len"))
		f->len = n;
	else if (!strcmp(key, "sport"))
		f->sport = n;
	else if (!strcmp(key, "dport"))
		f->dport = n;
	else if (!strcmp(key, "csum"))
		line->checksum = n;
	else if (!strcmp(key, "vlan"))
		f->vlan = n;
	else
		die("unknown key %s", key);
}

static void read_line(struct line *line, char *text)
{
	char *word, *save;

	word = strtok_r(text, BLANKS, &save);
	line->port = word ? atoi(word) : -1;
	if (line->port < 0 || line->port >= ports)
		die("no interface %s", word ? word : "");
	while ((word = strtok_r(NULL, BLANKS, &save))) {
		char *value = strchr(word, '=');

		if (!value)
			die("%s: not KEY=VALUE", word);
		*value++ = '\0';
		read_word(line, word, value);
	}
	if (line->frame.len > sizeof(line->payload))
		die("len: too long");
}

/* what a checksum that is left to the device begins with: the pseudo header's */
static void partial_checksum(const struct frame *f, u8 *data, u32 len)
{
	u32 l4 = frame_l3(f) + (f->ipv6 ? 40 : 20), skip = f->ipv6 ? 0 : 12, i;
	u64 total = 17 + len - l4;

	for (i = skip; i < 16; i += 2) {
		total += f->saddr[i] << 8 | f->saddr[i + 1];
		total += f->daddr[i] << 8 | f->daddr[i + 1];
	}
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	data[l4 + 6] = total >> 8;
	data[l4 + 7] = total;
}

static void emit(struct line *line)
{
	static u8 data[FRAME_MAX];
	struct frame *f = &line->frame;
	u32 len;

	if (line->raw_len) {
		transmit(line, line->raw, line->raw_len);
		return;
	}
	for (u32 i = 0; i < f->len; i++)
		line->payload[i] = i < 4 ? line->tag >> (24 - 8 * i) : i;
	f->payload = line->payload;
	f->checksum = line->checksum == 1;
	len = frame_build(f, data);
	if (line->checksum == 2)
		partial_checksum(f, data, len);
	transmit(line, data, len);
}

static u64 send_list(const struct line *defaults)
{
	static char text[LINE_LEN];
	static struct line line;
	u64 n = 0;

	while (fgets(text, sizeof(text), stdin)) {
		line = *defaults;
		read_line(&line, text);
		emit(&line);
		n++;
	}
	return n;
}

static u64 send_random(const struct line *defaults, u64 count)
{
	static struct line line;
	u64 state = 0x9e3779b97f4a7c15, n;

	line = *defaults;
	for (n = 0; n < count; n++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		line.port = n % ports;
		line.frame.qpn = state & 0xffffff;
		line.frame.psn = state >> 24 & 0xffffff;
		emit(&line);
	}
	return n;
}

static void open_port(const char *where)
{
	if (ports == FRAME_PORTS)
		die("too many interfaces");
	sockets[ports++] = frame_socket(where, 0);
}

int main(int argc, char **argv)
{
	static struct line defaults;
	u64 random = 0;
	int option, i;

	defaults.frame.opcode = RP_OP_SEND_ONLY;
	defaults.frame.dport = RP_ROCE_PORT;
	defaults.frame.sport = 49152;
	defaults.frame.len = 4;
	frame_mac("02:00:00:00:00:02", defaults.frame.smac);
	frame_mac("02:00:00:00:00:01", defaults.frame.dmac);
	frame_addresses(&defaults.frame, "10.0.0.2,10.0.0.1");
	while ((option = getopt(argc, argv, "i:d:s:a:tvbn:r:")) >= 0) {
		switch (option) {
		case 'i':
			open_port(optarg);
			break;
		case 'd':
			frame_mac(optarg, defaults.frame.dmac);
			break;
		case 's':
			frame_mac(optarg, defaults.frame.smac);
			break;
		case 'a':
			frame_addresses(&defaults.frame, optarg);
			break;
		case 't':
			use_ring = true;
			break;
		case 'v':
			use_vnet = true;
			break;
		case 'b':
			bypass = true;
			break;
		case 'n':
			times = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			random = strtoull(optarg, NULL, 0);
			break;
		default:
			die(usage);
		}
	}
	if (!ports)
		die(usage);
	for (i = 0; i < ports; i++) {
		if (use_ring)
			ring_make(i);
		if (use_vnet)
			set_option(sockets[i], PACKET_VNET_HDR, 1);
		if (bypass)
			set_option(sockets[i], PACKET_QDISC_BYPASS, 1);
	}
	random = random ? send_random(&defaults, random) : send_list(&defaults);
	printf("%llu\n", (unsigned long long)random);
	return 0;
}
