// SPDX-License-Identifier: GPL-2.0
/*
 * The programs where they belong, on a netdevice:
 *
 *     test --- rp-peer ===== veth ===== rp-here: admit (XDP), ingress, egress (tc)
 *     test --- rp-wire ===== veth ===== rp-port: port_egress, as on a port of a device
 *     test --- rp-far  ===== veth ===== rp-in: what comes is forwarded to the others
 *
 * CE makes a CNP, and the marked packet goes on as it was; a CNP slows a QP down; what a
 * process sends to UDP 4791 does not leave, by any kind of socket, whole or in fragments,
 * nor what is forwarded. What the module makes does leave by a port.
 */
/* SOURCES: kmod/core/roce.c kmod/core/icrc.c selftests/unit/packet.c */
#include "unit.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/udp.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <poll.h>
#include <rocepath/wire.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "icrc.h"
#include "leave.skel.h"
#include "packet.h"
#include "programs.h"

#define US 0xc0000201u
#define PEER 0xc0000202u
#define QPN 17
#define WRITE 0x0a
#define CNP 0x81
#define WIRE_PEER 0xc0000302u
#define REMOTE_QPN 0x123456

static struct rocepath_bpf *skel;
static struct rp_policy policy;
static struct leave_bpf *leave;
static int peer_fd, stack_fd, wire_fd, far_fd;
static u8 frame[2048], got[2048];
static u32 len;

static struct rp_qp facts = { .type = RP_QP_RC, .job = RP_JOBS_MAX, .job_peer = RP_JOB_PEERS_MAX };

static void run(const char *command)
{
	assert_int_equal(system(command), 0);
}

static int packet_socket(const char *device, int type)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex = if_nametoindex(device) };
	int fd = socket(AF_PACKET, SOCK_RAW | type, htons(ETH_P_ALL));

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (void *)&to, sizeof(to)), 0);
	return fd;
}

static void attach(const char *device, const struct bpf_program *prog,
		   enum bpf_tc_attach_point point)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = if_nametoindex(device), .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = bpf_program__fd(prog));
	int err = bpf_tc_hook_create(&hook);

	assert_true(!err || err == -EEXIST);
	assert_int_equal(bpf_tc_attach(&hook, &opts), 0);
}

static void generation(void)
{
	static u64 last;

	policy.generation = ++last;
	policy_set(skel, &policy);
}

static u64 count(enum rp_event event)
{
	return event_count(skel, event);
}

static void ip_checksum(u8 *ip)
{
	u32 sum = 0, i;

	put_unaligned_be16(0, ip + 10);
	for (i = 0; i < 20; i += 2)
		sum += get_unaligned_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	put_unaligned_be16(~(sum + (sum >> 16)), ip + 10);
}

/* a packet from the peer, as it comes from the wire */
static void make(u8 opcode, u32 qpn, u32 bytes, u8 tos)
{
	struct packet p = { .opcode = opcode, .qpn = qpn, .len = bytes, .sport = 50000 };
	u8 *ip = frame + 14;

	rnd_fill(frame + 14 + 40, bytes);
	memcpy(frame, "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x08\x00", 14);
	len = 14 + packet_make(ip, &p);
	put_unaligned_be16(PEER >> 16, ip + 12);
	put_unaligned_be16(PEER & 0xffff, ip + 14);
	put_unaligned_be16(US >> 16, ip + 16);
	put_unaligned_be16(US & 0xffff, ip + 18);
	rnd_fill(ip + 40, bytes);
	ip[1] = tos;
	ip_checksum(ip);
}

static void from_peer(void)
{
	assert_int_equal(send(peer_fd, frame, len, 0), len);
}

/* a frame without extension headers, whole or the first fragment */
static bool is_roce_port(const u8 *f, ssize_t n)
{
	u16 proto = get_unaligned_be16(f + 12);
	u32 udp = proto == ETH_P_IP ? 34 : 54;

	return (proto == ETH_P_IP || proto == ETH_P_IPV6) && n >= udp + 4 &&
	       get_unaligned_be16(f + udp + 2) == RP_ROCE_PORT;
}

/* Return: bytes of the next frame that arrives at a socket and that is UDP 4791, 0: none */
static u32 next_at(int fd, int wait_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct sockaddr_ll from;
	socklen_t from_len = sizeof(from);
	ssize_t n;

	while (poll(&p, 1, wait_ms) > 0) {
		n = recvfrom(fd, got, sizeof(got), 0, (void *)&from, &from_len);
		if (n > 0 && from.sll_pkttype != PACKET_OUTGOING && is_roce_port(got, n))
			return n;
	}
	return 0;
}

static u32 to_peer(int wait_ms)
{
	return next_at(peer_fd, wait_ms);
}

/* Return: bytes of UDP 4791 that came up to the stack: what rdma_rxe would be given */
static int in_stack(u8 *data, u32 size)
{
	struct pollfd p = { .fd = stack_fd, .events = POLLIN };

	return poll(&p, 1, 200) > 0 ? recv(stack_fd, data, size, 0) : -1;
}

static void notify(u32 interval_us)
{
	policy_new(&policy);
	policy.flags = RP_POLICY_NOTIFY;
	policy.class[0].flags = RP_CLASS_DCQCN;
	policy.dcqcn.min_time_between_cnps_us = interval_us;
	generation();
	qp_connect(skel, QPN, address4(PEER), REMOTE_QPN, &facts);
}

static void ce_makes_a_cnp(void **state)
{
	u8 payload[2048];
	struct rp_roce r;
	u32 bytes, n;

	notify(0);
	for (bytes = 0; bytes <= 1024; bytes += 64) {
		make(0x07, QPN, bytes, 3);
		from_peer();
		n = to_peer(1000);
		assert_int_equal(n, 14 + 60);
		assert_int_equal(rp_roce_parse(got + 14, n - 14, n - 14, &r), RP_ROCE_OK);
		assert_int_equal(r.kind, RP_KIND_CNP);
		assert_int_equal(r.qpn, REMOTE_QPN);
		assert_int_equal(get_unaligned_le32(got + 14 + r.icrc), rp_icrc(got + 14, &r));
		assert_memory_equal(got, frame + 6, 6);
		assert_memory_equal(got + 6, frame, 6);
		assert_memory_equal(got + 14 + 16, frame + 14 + 12, 4);
		/* the packet itself, every byte of it */
		assert_int_equal(in_stack(payload, sizeof(payload)), len - 14 - 28);
		assert_memory_equal(payload, frame + 14 + 28, len - 14 - 28);
	}
	assert_int_equal(count(RP_EVENT_cnp_failed), 0);
}

static void at_most_one_each_interval(void **state)
{
	u64 sent = count(RP_EVENT_cnp_sent), seen = count(RP_EVENT_ce_seen);
	u32 i;

	notify(10000000);
	for (i = 0; i < 50; i++) {
		make(0x07, QPN, 256, 3);
		from_peer();
	}
	make(0x07, QPN, 256, 2);			/* not CE */
	from_peer();
	make(0x07, QPN + 1, 256, 3);			/* no such QP */
	from_peer();
	assert_true(to_peer(1000) > 0);
	assert_int_equal(to_peer(100), 0);
	assert_int_equal(count(RP_EVENT_cnp_sent) - sent, 1);
	assert_int_equal(count(RP_EVENT_ce_seen) - seen, 51);
	while (in_stack(got, sizeof(got)) >= 0)
		;
}

static struct rp_qp_tx tx_row(void)
{
	struct rp_wire_qp key = { .address = address4(PEER), .qpn = REMOTE_QPN };
	struct rp_qp_tx tx;

	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.qp_tx), &key, &tx), 0);
	return tx;
}

static void a_cnp_slows_down(void **state)
{
	u64 received = count(RP_EVENT_cnp_received), unknown = count(RP_EVENT_cnp_unknown_qp);
	u64 soon = count(RP_EVENT_cnp_too_soon), line;

	notify(10000000);
	policy.dcqcn.rate_reduce_monitor_period_us = 5000000;
	generation();
	line = policy.dcqcn.line_rate_bytes_per_s;
	assert_int_equal(tx_row().dcqcn.cnps, 0);
	make(0x81, QPN, 16, 48 << 2);
	from_peer();
	assert_int_equal(in_stack(got, sizeof(got)), -1);	/* it is taken away */
	assert_int_equal(tx_row().dcqcn.cnps, 1);
	assert_in_range(tx_row().dcqcn.rate_bytes_per_s, line / 2, line / 2 + line / 100);
	from_peer();						/* too soon */
	make(0x81, QPN + 1, 16, 48 << 2);			/* no such QP */
	from_peer();
	make(0x81, QPN, 16, 48 << 2);				/* another peer */
	frame[14 + 15]++;
	frame[14 + 11]--;
	from_peer();
	assert_int_equal(in_stack(got, sizeof(got)), -1);
	assert_int_equal(tx_row().dcqcn.cnps, 1);
	assert_int_equal(count(RP_EVENT_cnp_received) - received, 1);
	assert_int_equal(count(RP_EVENT_cnp_too_soon) - soon, 1);
	assert_int_equal(count(RP_EVENT_cnp_unknown_qp) - unknown, 2);
}

static int udp_socket(bool ipv6)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(RP_ROCE_PORT),
				  .sin_addr = { htonl(PEER) } };
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(RP_ROCE_PORT) };
	int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0), off = IP_PMTUDISC_DONT;

	assert_true(fd >= 0);
	inet_pton(AF_INET6, "2001:db8::2", &to6.sin6_addr);
	assert_int_equal(ipv6 ? connect(fd, (void *)&to6, sizeof(to6)) :
				connect(fd, (void *)&to, sizeof(to)), 0);
	if (ipv6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &off, sizeof(off));
	else
		setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &off, sizeof(off));
	return fd;
}

/* a process without any privilege sends what would be for a QP, in each way that it has */
static void inject_udp(void)
{
	struct packet p = { .opcode = 0x0a, .qpn = REMOTE_QPN, .len = 64 };
	static u8 ip[PACKET_MAX];
	u32 size = packet_make(ip, &p);
	int fd, segment = 1000, ipv6, i;

	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		fd = udp_socket(ipv6);
		for (i = 0; i < 100; i++)
			send(fd, ip + 28, size - 28, MSG_NOSIGNAL);
		for (i = 0; i < 10; i++)		/* in fragments */
			send(fd, ip + 28, 4000, MSG_NOSIGNAL);
		/* many in one, which the kernel takes apart later */
		if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
			_exit(2);
		for (i = 0; i < 10; i++)
			send(fd, ip + 28, 4000, MSG_NOSIGNAL);
	}
}

static void injection(void **state)
{
	u64 refused = count(RP_EVENT_tx_local_process), leaked = 0;
	char command[256];
	int status, fd;

	policy_new(&policy);
	policy.unknown_sender = RP_ACTION_DROP;
	generation();
	qp_connect(skel, QPN, address4(PEER), REMOTE_QPN, &facts);
	if (!fork()) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		inject_udp();
		_exit(0);
	}
	assert_true(wait(&status) > 0 && status == 0);
	while (to_peer(300))
		leaked++;
	refused = count(RP_EVENT_tx_local_process) - refused;
	print_message("# 240 datagrams: %llu refused, %llu left\n", (unsigned long long)refused,
		      (unsigned long long)leaked);
	assert_int_equal(refused, 240);
	/* root's raw and packet sockets: not the RDMA stack either */
	make(0x0a, REMOTE_QPN, 64, 0);
	memcpy(frame, "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01", 12);
	fd = packet_socket("rp-here", SOCK_CLOEXEC);
	assert_int_equal(send(fd, frame, len, 0), -1);
	close(fd);
	while (to_peer(100))
		leaked++;
	assert_int_equal(leaked, 0);
	snprintf(command, sizeof(command),
		 ROCEPATH_ROOT "/scripts/figure injected_leaked %llu worst-is-max",
		 (unsigned long long)leaked);
	run(command);
}

/* from a container, or another host, by way of this one: to the netdevice of an address */
static void forward(u32 address, u8 opcode)
{
	make(opcode, REMOTE_QPN, opcode == CNP ? 16 : 64, 0);
	memcpy(frame, "\x02\x00\x00\x00\x00\x05\x02\x00\x00\x00\x00\x06", 12);
	put_unaligned_be16(0xc000, frame + 14 + 12);
	put_unaligned_be16(0x0402, frame + 14 + 14);
	put_unaligned_be16(address >> 16, frame + 14 + 16);
	put_unaligned_be16(address & 0xffff, frame + 14 + 18);
	ip_checksum(frame + 14);
	assert_int_equal(send(far_fd, frame, len, 0), len);
}

static void forwarded(void **state)
{
	u64 refused = count(RP_EVENT_tx_forwarded);

	policy_new(&policy);
	policy.unknown_sender = RP_ACTION_PASS;
	generation();
	forward(PEER, WRITE);
	assert_int_equal(to_peer(1000), len);
	forward(WIRE_PEER, WRITE);
	assert_int_equal(next_at(wire_fd, 1000), len);
	assert_int_equal(count(RP_EVENT_tx_forwarded) - refused, 2);
	policy.unknown_sender = RP_ACTION_DROP;
	generation();
	forward(PEER, WRITE);
	forward(WIRE_PEER, WRITE);
	assert_int_equal(to_peer(200), 0);
	assert_int_equal(next_at(wire_fd, 200), 0);
	assert_int_equal(count(RP_EVENT_tx_forwarded) - refused, 4);
	/* on a port CNPs have come in by the device: egress makes them of what ingress cloned */
	forward(WIRE_PEER, CNP);
	assert_int_equal(next_at(wire_fd, 1000), len);
	assert_int_equal(count(RP_EVENT_tx_forwarded) - refused, 4);
}

/* a frame of the module's own */
static void leave_by(const char *device, const struct bpf_program *prog)
{
	struct __sk_buff skb = { .mark = if_nametoindex(device) };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = len, .repeat = 1,
		    .ctx_in = &skb, .ctx_size_in = sizeof(skb));

	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(prog), &opts), 0);
}

/* Return: bytes of it that arrived behind the port */
static u32 by_port(void)
{
	leave_by("rp-port", leave->progs.leave);
	return next_at(wire_fd, 200);
}

/* data once more, control packets, CNPs: the device has no socket to send them by */
static void what_the_module_sends(void **state)
{
	u64 refused = count(RP_EVENT_tx_forwarded);

	policy_new(&policy);
	policy.unknown_sender = RP_ACTION_DROP;
	policy.malformed = RP_ACTION_DROP;
	generation();
	make(0x0a, REMOTE_QPN, 64, 0);
	assert_int_equal(by_port(), len);
	frame[14 + 28 + 4] |= RP_BTH_REPAIR;
	assert_int_equal(by_port(), len);
	make(0x11, REMOTE_QPN, 4, 0);
	assert_int_equal(by_port(), len);
	make(RP_OPCODE_CONTROL, 0, 64, 0);
	assert_int_equal(by_port(), len);
	make(0x81, REMOTE_QPN, 16, 0);
	assert_int_equal(by_port(), len);
	assert_int_equal(count(RP_EVENT_tx_forwarded) - refused, 0);
}

/* Return: the tag of the next RoCE frame at a socket */
static u16 next_tag(int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
		struct cmsghdr align;
	} control;
	struct iovec data = { got, sizeof(got) };
	struct msghdr msg = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct tpacket_auxdata aux;
	ssize_t n;

	while (poll(&p, 1, 1000) > 0) {
		n = recvmsg(fd, &msg, 0);
		if (n < 0 || !is_roce_port(got, n) || !CMSG_FIRSTHDR(&msg))
			continue;
		memcpy(&aux, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(aux));
		return aux.tp_status & TP_STATUS_VLAN_VALID ? aux.tp_vlan_tci : 0;
	}
	return 0;
}

/* the priority in a tag that the NIC will put into the frame; VLAN and all else stay */
static void tag_beside_the_frame(void **state)
{
	struct rocepath_bpf *strict = skel;
	int fd, on = 1;

	skel = programs_load(true);
	policy_new(&policy);
	policy.class[0].flags = RP_CLASS_PCP | RP_CLASS_DSCP;
	policy.class[0].pcp = 5;
	policy.class[0].dscp = 26;
	generation();
	attach("rp-tag", skel->progs.egress, BPF_TC_EGRESS);
	fd = packet_socket("rp-tagged", SOCK_CLOEXEC);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)), 0);
	make(0x0a, REMOTE_QPN, 64, 0);
	leave_by("rp-tag", leave->progs.leave_tagged);
	assert_int_equal(next_tag(fd), 0xb123);
	assert_int_equal(got[14 + 1], 26 << 2);
	assert_memory_equal(got + 14 + 12, frame + 14 + 12, len - 14 - 12);
	close(fd);
	rocepath_bpf__destroy(skel);
	skel = strict;
}

static void others_are_untouched(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(4792),
				  .sin_addr = { htonl(PEER) } };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct pollfd p = { .fd = peer_fd, .events = POLLIN };
	u32 left = 0;
	ssize_t n;

	assert_int_equal(sendto(fd, "hello", 5, 0, (void *)&to, sizeof(to)), 5);
	while (poll(&p, 1, 300) > 0) {
		n = recv(peer_fd, got, sizeof(got), 0);
		left += n == 14 + 28 + 5 && !memcmp(got + 42, "hello", 5);
	}
	assert_int_equal(left, 1);
	close(fd);
}

static void set_up(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(RP_ROCE_PORT) };

	if (unshare(CLONE_NEWNET))
		programs_skip("no network namespace may be made here (run as root)", errno);
	run("ip link add rp-here address 02:00:00:00:00:01 type veth peer name rp-peer");
	run("ip link set rp-peer address 02:00:00:00:00:02 up && ip link set rp-here up");
	run("ip addr add 192.0.2.1/24 dev rp-here");
	run("ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev rp-here nud permanent");
	run("ip addr add 2001:db8::1/64 dev rp-here nodad");
	run("ip neigh add 2001:db8::2 lladdr 02:00:00:00:00:02 dev rp-here nud permanent");
	run("ip link add rp-port address 02:00:00:00:00:03 type veth peer name rp-wire");
	run("ip link set rp-wire address 02:00:00:00:00:04 up && ip link set rp-port up");
	run("ip addr add 192.0.3.1/24 dev rp-port");
	run("ip neigh add 192.0.3.2 lladdr 02:00:00:00:00:04 dev rp-port nud permanent");
	run("ip link add rp-tag type veth peer name rp-tagged");
	run("ip link set rp-tag up && ip link set rp-tagged up");
	run("ip link add rp-in address 02:00:00:00:00:05 type veth peer name rp-far");
	run("ip link set rp-far address 02:00:00:00:00:06 up && ip link set rp-in up");
	run("ip addr add 192.0.4.1/24 dev rp-in");
	run("echo 1 >/proc/sys/net/ipv4/conf/rp-in/forwarding");
	skel = programs_load(false);
	leave = leave_bpf__open_and_load();
	assert_non_null(leave);
	/* egress first: it makes CNPs of what ingress sends */
	attach("rp-here", skel->progs.egress, BPF_TC_EGRESS);
	attach("rp-here", skel->progs.ingress, BPF_TC_INGRESS);
	attach("rp-port", skel->progs.port_egress, BPF_TC_EGRESS);
	assert_true(bpf_xdp_attach(if_nametoindex("rp-here"), bpf_program__fd(skel->progs.admit), 0,
				   NULL) == 0);
	peer_fd = packet_socket("rp-peer", SOCK_CLOEXEC);
	wire_fd = packet_socket("rp-wire", SOCK_CLOEXEC);
	far_fd = packet_socket("rp-far", SOCK_CLOEXEC);
	stack_fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(stack_fd, (void *)&here, sizeof(here)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ce_makes_a_cnp),
		cmocka_unit_test(at_most_one_each_interval),
		cmocka_unit_test(a_cnp_slows_down),
		cmocka_unit_test(injection),
		cmocka_unit_test(forwarded),
		cmocka_unit_test(what_the_module_sends),
		cmocka_unit_test(tag_beside_the_frame),
		cmocka_unit_test(others_are_untouched),
	};

	set_up();
	return unit_run(tests);
}
