// SPDX-License-Identifier: GPL-2.0
/*
 * udpinject SADDR,DADDR QPN PSN COUNT [UID]: what any local user can do: send RoCEv2
 * with a right ICRC out of a UDP socket.
 *
 * SEND_ONLY packets with PSNs from PSN on, the first word of their payload 0xbad, as
 * user UID (65534), without any privilege. Prints how many the kernel took.
 */
/* SOURCES: selftests/vm/programs/lib/frame.c kmod/core/icrc.c kmod/core/roce.c */

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/frame.h"

#define SPORT 50000
#define HEADERS (14 + 20 + 8)	/* Ethernet, IPv4, UDP: the socket makes those */

static int open_socket(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(SPORT) };
	/* DF and, as the socket is not connected, IP id 0: the ICRC covers both */
	int fd = socket(AF_INET, SOCK_DGRAM, 0), discover = IP_PMTUDISC_DO;

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover)))
		die("socket: %s", strerror(errno));
	return fd;
}

int main(int argc, char **argv)
{
	static const u8 payload[64] = { 0, 0, 0x0b, 0xad };
	struct frame f = {
		.sport = SPORT, .dport = 4791, .opcode = RP_OP_SEND_ONLY, .ack_wanted = true,
		.payload = payload, .len = sizeof(payload),
	};
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(4791) };
	uid_t uid = argc > 5 ? atoi(argv[5]) : 65534;
	u8 out[FRAME_MAX];
	int fd, i, taken = 0;

	if (argc < 5)
		die("usage: udpinject SADDR,DADDR QPN PSN COUNT [UID]");
	frame_addresses(&f, argv[1]);
	f.qpn = strtoul(argv[2], NULL, 0);
	f.psn = strtoul(argv[3], NULL, 0);
	memcpy(&to.sin_addr, f.daddr + 12, sizeof(to.sin_addr));
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		die("setuid: %s", strerror(errno));
	fd = open_socket();
	for (i = 0; i < atoi(argv[4]); i++) {
		u32 len = frame_build(&f, out);

		if (sendto(fd, out + HEADERS, len - HEADERS, 0, (struct sockaddr *)&to,
			   sizeof(to)) > 0)
			taken++;
		f.psn = (f.psn + 1) & 0xffffff;
	}
	printf("sent %d\n", taken);
	return 0;
}
