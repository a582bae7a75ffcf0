// SPDX-License-Identifier: GPL-2.0
/*
 * cmids ADDRESS COUNT [connect]: connections by RDMA-CM that do nothing but
 * live, to see what becomes of them.
 *
 * Listens at ADDRESS and accepts COUNT connections, or makes them. Prints
 * "ready" when they are there, and, when each of its ids has had an event that
 * the device is being removed, or at SIGINT, a line
 *
 *   ids N told N twice N others N
 */
/* LIBS: -lrdmacm -libverbs */

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT		"18500"
#define IDS_MAX		256
#define RESOLVE_MS	5000
#define TICK_MS		200

static struct rdma_event_channel *channel;
static struct rdma_cm_id *ids[IDS_MAX];
static int told[IDS_MAX];		/* removals that an id was told of */
static int count, wanted, established, others;
static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	interrupted = 1;
}

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "cmids: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void add(struct rdma_cm_id *id)
{
	if (count == IDS_MAX)
		die("too many");
	ids[count++] = id;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap.max_send_wr = 1,
		.cap.max_recv_wr = 1,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
	};

	if (rdma_create_qp(id, NULL, &attr))
		die("create a queue pair");
}

static struct rdma_addrinfo *resolve(const char *address, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP }, *found;

	if (rdma_getaddrinfo(address, PORT, &hints, &found))
		die("address");
	return found;
}

static void start_listening(const char *address)
{
	struct rdma_addrinfo *found = resolve(address, RAI_PASSIVE);
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, found->ai_src_addr) || rdma_listen(id, IDS_MAX))
		die("listen");
	add(id);
	rdma_freeaddrinfo(found);
}

static void start_connecting(const char *address)
{
	struct rdma_addrinfo *found = resolve(address, 0);
	struct rdma_cm_id *id;

	for (int i = 0; i < wanted; i++) {
		if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
		    rdma_resolve_addr(id, NULL, found->ai_dst_addr, RESOLVE_MS))
			die("resolve");
		add(id);
	}
	rdma_freeaddrinfo(found);
}

static void note_removal(const struct rdma_cm_id *id)
{
	for (int i = 0; i < count; i++)
		if (ids[i] == id)
			told[i]++;
}

static void handle(const struct rdma_cm_event *event)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id *id = event->id;
	int err = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		err = rdma_resolve_route(id, RESOLVE_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		make_qp(id);
		err = rdma_connect(id, &param);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		add(id);
		make_qp(id);
		err = rdma_accept(id, &param);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		established++;
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		note_removal(id);
		break;
	default:
		fprintf(stderr, "cmids: %s, status %d\n", rdma_event_str(event->event),
			event->status);
		others++;
	}
	if (err)
		die(rdma_event_str(event->event));
}

static int report(int always)
{
	int once = 0, twice = 0;

	for (int i = 0; i < count; i++) {
		once += told[i] > 0;
		twice += told[i] > 1;
	}
	if (once < count && !always)
		return 0;
	printf("ids %d told %d twice %d others %d\n", count, once, twice, others);
	fflush(stdout);
	return 1;
}

static void serve(void)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int ready = 0;

	while (!interrupted) {
		if (poll(&fd, 1, TICK_MS) > 0) {
			if (rdma_get_cm_event(channel, &event))
				die("event");
			handle(event);
			rdma_ack_cm_event(event);
			continue;
		}
		if (!ready && established == wanted) {
			ready = puts("ready") >= 0;
			fflush(stdout);
		}
		/* nothing came for a while: no second removal will */
		if (report(0))
			return;
	}
	report(1);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = interrupt };

	if (argc < 3) {
		fprintf(stderr, "usage: cmids ADDRESS COUNT [connect]\n");
		return 2;
	}
	wanted = atoi(argv[2]);
	channel = rdma_create_event_channel();
	if (!channel)
		die("event channel");
	sigaction(SIGINT, &action, NULL);
	if (argc > 3)
		start_connecting(argv[1]);
	else
		start_listening(argv[1]);
	serve();
	return 0;
}
