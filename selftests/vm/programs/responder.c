// SPDX-License-Identifier: GPL-2.0
/*
 * responder -i [NETNS:]IF... -d DMAC -a OURS,THEIRS -k ID:HEX [-k ID:HEX]: a
 * peer that says hello, with the module's own code.
 *
 * Asks each half interval, and answers. Commands, a line each:
 *
 *   state        print "STATE came N restarts N key ID"
 *   active ID    make hellos with that key from now on
 *   restart      become another instance
 *   mute, speak  stop and go on answering and asking
 *   replay       send the last hello once more, as it was
 *   forge KIND   send one that is wrong: mac key version type short long plain
 *   quit
 */
/* SOURCES: selftests/vm/programs/lib/frame.c selftests/unit/siphash.c */
/* SOURCES: kmod/core/icrc.c kmod/core/roce.c kmod/core/wire.c kmod/core/hello.c */

#include <errno.h>
#include <net/ethernet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "hello.h"
#include "lib/frame.h"

#define INTERVAL_MS	1000
#define NS_PER_MS	1000000ull
#define OTHER_TYPE	99
#define OTHER_KEY	199
#define OTHER_VERSION	9

static const char usage[] =
	"usage: responder -i [NETNS:]IF... -d DMAC -a OURS,THEIRS -k ID:HEX...\n"
	"                 [-s SMAC] [-v VLAN]\n";

struct message {
	struct rp_wire header;
	u8 body[64];
};

static struct frame envelope;
static struct rp_hello hello;
static struct rp_keys keys;
static int sockets[FRAME_PORTS];
static int ports, turn;
static u64 instance;
static u32 came;
static bool muted;
static u8 last[FRAME_MAX];
static u32 last_len;

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 * NS_PER_MS + t.tv_nsec;
}

static u64 random_word(void)
{
	u64 word;

	if (getrandom(&word, sizeof(word), 0) != sizeof(word))
		die("getrandom: %s", strerror(errno));
	return word | 1;
}

static struct rp_wire_addrs addresses(bool ours)
{
	struct rp_wire_addrs addrs;

	memcpy(addrs.src, ours ? envelope.saddr : envelope.daddr, 16);
	memcpy(addrs.dst, ours ? envelope.daddr : envelope.saddr, 16);
	return addrs;
}

static void transmit(const u8 *data, u32 len)
{
	ssize_t sent = send(sockets[turn++ % ports], data, len, 0);

	if (sent < 0 && errno != ENETDOWN && errno != ENOBUFS)
		die("send: %s", strerror(errno));
}

static void wrap(const struct message *m, u32 len, u8 *data, u32 *data_len)
{
	struct frame f = envelope;

	f.payload = (const u8 *)m;
	f.len = len;
	*data_len = frame_build(&f, data);
}

static void fill(struct message *m, bool reply, u64 response)
{
	struct rp_wire_addrs addrs = addresses(true);
	const struct rp_hello_self self = { .reorders = true, .interval_ms = INTERVAL_MS };
	struct rp_wire_hello body;
	u64 seq = rp_hello_fill(&hello, &body, &self, reply, response, now_ns());

	memset(m, 0, sizeof(*m));
	memcpy(m->body, &body, sizeof(body));
	rp_wire_seal(&m->header, RP_WIRE_HELLO, sizeof(body), instance, seq,
		     &keys.key[keys.active], &addrs);
}

static void say(bool reply, u64 response)
{
	struct message m;

	if (muted)
		return;
	fill(&m, reply, response);
	wrap(&m, sizeof(m.header) + sizeof(struct rp_wire_hello), last, &last_len);
	transmit(last, last_len);
}

static void reseal(struct message *m, u8 type, u16 body_len, const struct rp_key *key)
{
	struct rp_wire_addrs addrs = addresses(true);

	rp_wire_seal(&m->header, type, body_len, instance, ++hello.seq_sent, key, &addrs);
}

static void forge(const char *kind)
{
	u32 len = sizeof(struct rp_wire) + sizeof(struct rp_wire_hello), data_len;
	struct rp_key wrong = keys.key[keys.active];
	struct message m;
	u8 data[FRAME_MAX];

	fill(&m, false, hello.theirs);
	if (!strcmp(kind, "mac")) {
		m.header.mac ^= 1;
	} else if (!strcmp(kind, "key")) {
		wrong.id = OTHER_KEY;
		reseal(&m, RP_WIRE_HELLO, sizeof(struct rp_wire_hello), &wrong);
	} else if (!strcmp(kind, "version")) {
		m.header.version = OTHER_VERSION;
	} else if (!strcmp(kind, "type")) {
		reseal(&m, OTHER_TYPE, sizeof(struct rp_wire_hello), &keys.key[keys.active]);
	} else if (!strcmp(kind, "plain")) {
		reseal(&m, RP_WIRE_HELLO, 8, &keys.key[keys.active]);
		len = sizeof(struct rp_wire) + 8;
	} else if (!strcmp(kind, "short")) {
		len -= 4;
	} else if (!strcmp(kind, "long")) {
		len += 4;
	} else {
		die("what hello is %s?", kind);
	}
	wrap(&m, len, data, &data_len);
	transmit(data, data_len);
}

static void hear_hello(const struct message *m)
{
	const struct rp_wire_hello *body = (const void *)m->body;
	u32 did = rp_hello_rx(&hello, &m->header, body, random_word(), now_ns());

	came += !!(did & RP_HELLO_CAME);
	if (did & RP_HELLO_REPLY)
		say(true, be64_to_cpu(body->challenge));
}

/* the IP header of a frame, tagged or not; NULL: it has none */
static const u8 *find_l3(const u8 *data, u32 len, u32 *l3)
{
	u32 at = 12;

	while (at + 6 < len && data[at] == 0x81 && !data[at + 1])
		at += 4;
	*l3 = at + 2;
	return at + 2 < len ? data + at + 2 : NULL;
}

static void hear(int fd)
{
	struct rp_wire_addrs addrs = addresses(false);
	u8 data[FRAME_MAX];
	ssize_t len = recv(fd, data, sizeof(data), MSG_DONTWAIT);
	struct message m = {};
	struct rp_roce r;
	const u8 *ip;
	u32 l3, size;

	if (len < 14 || memcmp(data + 6, envelope.dmac, 6))
		return;
	ip = find_l3(data, len, &l3);
	if (!ip || rp_roce_parse(ip, len - l3, len - l3, &r) != RP_ROCE_OK ||
	    r.kind != RP_KIND_CONTROL)
		return;
	size = r.icrc - r.bth - RP_BTH_LEN;
	if (size > sizeof(m))
		return;
	memcpy(&m, ip + r.bth + RP_BTH_LEN, size);
	if (rp_wire_check(&m.header, size, &keys, &addrs) == RP_WIRE_OK &&
	    m.header.type == RP_WIRE_HELLO)
		hear_hello(&m);
}

static void print_state(void)
{
	static const char *const names[] = {
		[ROCEPATH_PEER_PLAIN] = "plain",
		[ROCEPATH_PEER_CAPABLE] = "capable",
		[ROCEPATH_PEER_LOST] = "lost",
	};

	printf("%s came %u restarts %u key %u\n", names[hello.state], came, hello.restarts,
	       hello.key_id);
}

static void activate(u32 id)
{
	int i;

	for (i = 0; i < RP_KEYS_MAX; i++)
		if (keys.key[i].valid && keys.key[i].id == id)
			keys.active = i;
}

static void restart(void)
{
	rp_hello_init(&hello, random_word());
	instance = random_word();
	say(false, 0);
}

static void command(const char *line)
{
	char word[16] = "", argument[16] = "";

	if (sscanf(line, "%15s %15s", word, argument) < 1)
		return;
	if (!strcmp(word, "state"))
		print_state();
	else if (!strcmp(word, "active"))
		activate(strtoul(argument, NULL, 0));
	else if (!strcmp(word, "restart"))
		restart();
	else if (!strcmp(word, "mute") || !strcmp(word, "speak"))
		muted = *word == 'm';
	else if (!strcmp(word, "replay"))
		transmit(last, last_len);
	else if (!strcmp(word, "forge"))
		forge(argument);
	else if (!strcmp(word, "quit"))
		exit(0);
	else
		die("%s?", word);
	printf("done %s", line);
	fflush(stdout);
}

static void serve(void)
{
	struct pollfd wait[FRAME_PORTS + 1];
	u64 due = 0;
	char line[128];
	int i;

	for (i = 0; i < ports; i++)
		wait[i] = (struct pollfd){ .fd = sockets[i], .events = POLLIN };
	wait[ports] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	for (;;) {
		if (now_ns() >= due) {
			rp_hello_poll(&hello, now_ns());
			say(false, hello.theirs);
			due = now_ns() + INTERVAL_MS / 2 * NS_PER_MS;
		}
		if (poll(wait, ports + 1, INTERVAL_MS / 10) < 0)
			die("poll: %s", strerror(errno));
		for (i = 0; i < ports; i++)
			if (wait[i].revents)
				hear(sockets[i]);
		if (wait[ports].revents) {
			if (!fgets(line, sizeof(line), stdin))
				return;
			command(line);
		}
	}
}

static void add_key(const char *text)
{
	static int n;
	struct rp_key *key = &keys.key[n];
	unsigned long long high, low;
	unsigned int id;

	if (n == RP_KEYS_MAX || sscanf(text, "%u:%16llx%16llx", &id, &high, &low) != 3)
		die("%s: not ID:HEX", text);
	key->id = id;
	key->valid = true;
	/* bytes in the order that they are written in */
	key->secret[0] = htobe64(high);
	key->secret[1] = htobe64(low);
	key->secret[0] = le64toh(key->secret[0]);
	key->secret[1] = le64toh(key->secret[1]);
	n++;
}

int main(int argc, char **argv)
{
	int option;

	envelope = (struct frame){
		.sport = 49152,
		.dport = RP_ROCE_PORT,
		.opcode = RP_OPCODE_CONTROL,
		.qpn = RP_WIRE_QPN,
	};
	frame_mac("02:00:00:00:00:02", envelope.smac);
	while ((option = getopt(argc, argv, "i:d:s:v:a:k:")) >= 0) {
		switch (option) {
		case 'i':
			if (ports == FRAME_PORTS)
				die("too many interfaces");
			sockets[ports++] = frame_socket(optarg, ETH_P_ALL);
			break;
		case 'd':
			frame_mac(optarg, envelope.dmac);
			break;
		case 's':
			frame_mac(optarg, envelope.smac);
			break;
		case 'v':
			envelope.vlan = strtoul(optarg, NULL, 0);
			break;
		case 'a':
			frame_addresses(&envelope, optarg);
			break;
		case 'k':
			add_key(optarg);
			break;
		default:
			die(usage);
		}
	}
	if (!ports || !keys.key[0].valid)
		die(usage);
	setvbuf(stdin, NULL, _IONBF, 0);
	rp_hello_init(&hello, random_word());
	instance = random_word();
	serve();
	return 0;
}
