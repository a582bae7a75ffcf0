// SPDX-License-Identifier: GPL-2.0
/*
 * rcstream -g GID_INDEX [options] [SERVER_ADDRESS]: streams of messages over RC
 * queue pairs, each byte and their order checked by the receiver.
 *
 * With an address it is the client, which sends for a time, or until SIGINT; at the second
 * one it does not wait for what is on its way either.
 * What perftest does not have: a flow label that all queue pairs share, and so,
 * with rdma_rxe, the UDP source port; retry counts; a receiver that is slow; and
 * a check of the data. Each end prints one line of JSON. With -G MS it has the times
 * between two completions of a queue pair that were longer, and when each began, by
 * CLOCK_MONOTONIC, as is the last one; with -B MS how many messages were completed in each
 * MS, from "begin" on.
 */
/* LIBS: -libverbs */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define QPS_MAX		256
#define DEPTH_MAX	1024
#define PERIOD		251	/* of the pattern; prime, so that a shift shows */
#define DRAIN_S		30
#define TICK_MS		100
#define GAPS_MAX	65536
#define BEATS_MAX	65536

struct end {
	uint32_t qpn;
	uint32_t psn;
	union ibv_gid gid;
};

struct stream {
	struct ibv_qp *qp;
	uint64_t posted;	/* sends, or receives */
	uint64_t completed;
	uint64_t bad;		/* received, but not what was sent */
	double progress;	/* when it last completed something */
	int failed;
};

struct gap {
	double begin;
	double seconds;
};

static struct {
	const char *device;
	const char *server;
	const char *port;
	int gid_index;
	int qps;
	uint32_t size;
	uint32_t depth;
	int mtu;
	int timeout;
	int retry;
	int rnr_timer;
	uint32_t flow_label;
	int seconds;
	int slow_us;
	double gap_ms;
	int beat_ms;
} opt = {
	.device = "rxe0",
	.port = "18400",
	.qps = 1,
	.size = 16384,
	.depth = 16,
	.mtu = 1024,
	.timeout = 14,
	.retry = 7,
	.rnr_timer = 12,
	.seconds = 4,
	.gap_ms = 1e9,
};

static struct stream streams[QPS_MAX];
static struct end ours[QPS_MAX], theirs[QPS_MAX];
static uint64_t totals[QPS_MAX];
static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static uint8_t *memory, *pattern;
static int control = -1;
static uint64_t cq_errors;
static const char *first_error = "";
static struct gap gaps[GAPS_MAX];
static int gap_count;
static double longest_gap, longest_qp_gap, last_progress, begin;
static uint32_t beats[BEATS_MAX];
static int beat_count;
static volatile sig_atomic_t interrupted;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "rcstream: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(args);
	exit(1);
}

static void interrupt(int sig)
{
	interrupted++;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* ---- the connection by TCP ---- */

static void tell(const void *data, size_t len)
{
	if (send(control, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("the other end does not listen");
}

static void hear(void *data, size_t len)
{
	if (recv(control, data, len, MSG_WAITALL) != (ssize_t)len)
		die("the other end says nothing");
}

static void tell_ready(void)
{
	tell("", 1);
}

static void wait_ready(void)
{
	char ready;

	hear(&ready, 1);
}

static struct addrinfo *resolve(void)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found;

	if (!opt.server)
		hints.ai_family = AF_INET6;
	if (getaddrinfo(opt.server, opt.port, &hints, &found))
		die("no address %s", opt.server);
	return found;
}

static void meet(void)
{
	struct addrinfo *found = resolve();
	int fd = socket(found->ai_family, SOCK_STREAM, 0), on = 1;

	if (fd < 0)
		die("socket");
	if (opt.server) {
		if (connect(fd, found->ai_addr, found->ai_addrlen))
			die("connect to %s", opt.server);
		control = fd;
	} else {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, 1))
			die("listen");
		control = accept(fd, NULL, NULL);
		close(fd);
	}
	if (control < 0)
		die("accept");
	freeaddrinfo(found);
}

/* ---- verbs ---- */

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	size_t len = (size_t)opt.qps * opt.depth * opt.size;

	for (int i = 0; list && list[i] && !context; i++)
		if (!strcmp(ibv_get_device_name(list[i]), opt.device))
			context = ibv_open_device(list[i]);
	if (!context)
		die("no device %s", opt.device);
	memory = calloc(1, len);
	pattern = malloc(opt.size + PERIOD);
	pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	if (!memory || !pattern || !pd || !channel)
		die("no memory");
	for (uint32_t i = 0; i < opt.size + PERIOD; i++)
		pattern[i] = i % PERIOD;
	mr = ibv_reg_mr(pd, memory, len, IBV_ACCESS_LOCAL_WRITE);
	cq = ibv_create_cq(context, opt.qps * opt.depth, NULL, channel, 0);
	if (!mr || !cq)
		die("no completion queue");
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
	ibv_free_device_list(list);
}

static uint8_t *slot(int i, uint64_t n)
{
	return memory + ((size_t)i * opt.depth + n % opt.depth) * opt.size;
}

static void create(int i)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap.max_send_wr = opt.depth,
		.cap.max_recv_wr = opt.depth,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	streams[i].qp = ibv_create_qp(pd, &init);
	if (!streams[i].qp)
		die("queue pair %d", i);
	if (ibv_modify_qp(streams[i].qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("init");
	ours[i].qpn = streams[i].qp->qp_num;
	/* one that wraps soon, one that does not, ... */
	ours[i].psn = i & 1 ? 0x1234 * i : 0xffff00 + i;
	if (ibv_query_gid(context, 1, opt.gid_index, &ours[i].gid))
		die("no GID %d", opt.gid_index);
}

static enum ibv_mtu mtu_enum(void)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	for (int bytes = 256; bytes < opt.mtu; bytes *= 2)
		mtu++;
	return mtu;
}

static void connect_qp(int i)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu_enum(),
		.dest_qp_num = theirs[i].qpn,
		.rq_psn = theirs[i].psn,
		.min_rnr_timer = opt.rnr_timer,
		.ah_attr.port_num = 1,
		.ah_attr.is_global = 1,
		.ah_attr.grh.dgid = theirs[i].gid,
		.ah_attr.grh.sgid_index = opt.gid_index,
		.ah_attr.grh.hop_limit = 64,
		.ah_attr.grh.flow_label = opt.flow_label,
	};

	if (ibv_modify_qp(streams[i].qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("ready to receive");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.sq_psn = ours[i].psn,
		.timeout = opt.timeout,
		.retry_cnt = opt.retry,
		.rnr_retry = 7,
	};
	if (ibv_modify_qp(streams[i].qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("ready to send");
}

static struct ibv_sge sge_of(int i, uint64_t n)
{
	return (struct ibv_sge){ (uintptr_t)slot(i, n), opt.size, mr->lkey };
}

static void post_receive(int i)
{
	struct ibv_sge sge = sge_of(i, streams[i].posted);
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	if (ibv_post_recv(streams[i].qp, &wr, &bad))
		die("post a receive");
	streams[i].posted++;
}

static void post_send(int i)
{
	struct ibv_sge sge = sge_of(i, streams[i].posted);
	struct ibv_send_wr wr = {
		.wr_id = i,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	uint8_t *p = slot(i, streams[i].posted);

	memcpy(p, pattern + (streams[i].posted + i) % PERIOD, opt.size);
	memcpy(p, &streams[i].posted, sizeof(streams[i].posted));
	if (ibv_post_send(streams[i].qp, &wr, &bad))
		die("post a send");
	streams[i].posted++;
}

/* message n of stream i, as it must be */
static int is_right(int i, uint64_t n)
{
	const uint8_t *p = slot(i, n);

	return !memcmp(p, &n, sizeof(n)) &&
	       !memcmp(p + sizeof(n), pattern + (n + i) % PERIOD + sizeof(n), opt.size - sizeof(n));
}

static void beat(double t)
{
	int i = (t - begin) * 1e3 / opt.beat_ms;

	if (i >= BEATS_MAX)
		return;
	beats[i]++;
	beat_count = i + 1;
}

static void progress(struct stream *s)
{
	double t = now(), gap = t - s->progress;

	if (opt.beat_ms)
		beat(t);
	if (last_progress && t - last_progress > longest_gap)
		longest_gap = t - last_progress;
	last_progress = t;
	if (s->progress && gap > longest_qp_gap)
		longest_qp_gap = gap;
	if (s->progress && gap * 1e3 > opt.gap_ms && gap_count < GAPS_MAX)
		gaps[gap_count++] = (struct gap){ s->progress, gap };
	s->progress = t;
}

static void completed(const struct ibv_wc *wc)
{
	struct stream *s = &streams[wc->wr_id];

	if (wc->status != IBV_WC_SUCCESS) {
		/* one error flushes all the rest of the queue pair: that is no further one */
		if (!s->failed && !cq_errors++)
			first_error = ibv_wc_status_str(wc->status);
		s->failed = 1;
		return;
	}
	progress(s);
	if (!opt.server) {
		s->bad += !is_right(wc->wr_id, s->completed);
		if (opt.slow_us)
			usleep(opt.slow_us);
		post_receive(wc->wr_id);
	}
	s->completed++;
}

static void drain_events(void)
{
	struct ibv_async_event event;
	struct ibv_cq *which;
	void *unused;

	while (!ibv_get_cq_event(channel, &which, &unused))
		ibv_ack_cq_events(which, 1);
	while (!ibv_get_async_event(context, &event))
		ibv_ack_async_event(&event);
}

/* wait for completions, but not long; take all */
static void turn(void)
{
	struct pollfd fds[] = {
		{ .fd = channel->fd, .events = POLLIN },
		{ .fd = context->async_fd, .events = POLLIN },
		{ .fd = control, .events = POLLIN },
	};
	struct ibv_wc wc[16];
	int n;

	if (ibv_req_notify_cq(cq, 0))
		die("notify");
	n = ibv_poll_cq(cq, 16, wc);
	if (!n) {
		poll(fds, 3, TICK_MS);
		drain_events();
		n = ibv_poll_cq(cq, 16, wc);
	}
	for (int i = 0; i < n; i++)
		completed(&wc[i]);
}

/* ---- the two ends ---- */

static int under_way(void)
{
	for (int i = 0; i < opt.qps; i++)
		if (!streams[i].failed && streams[i].completed < streams[i].posted)
			return 1;
	return 0;
}

static int may_send(const struct stream *s)
{
	return !s->failed && s->posted - s->completed < opt.depth;
}

static int alive(void)
{
	for (int i = 0; i < opt.qps; i++)
		if (!streams[i].failed)
			return 1;
	return 0;
}

static void client(void)
{
	double end = now() + opt.seconds;

	while (now() < end && !interrupted && alive()) {
		for (int i = 0; i < opt.qps; i++)
			while (may_send(&streams[i]))
				post_send(i);
		turn();
	}
	for (end = now() + DRAIN_S; under_way() && now() < end && interrupted < 2;)
		turn();
	for (int i = 0; i < opt.qps; i++)
		totals[i] = streams[i].completed;
	tell(totals, sizeof(totals[0]) * opt.qps);
	wait_ready();	/* the server has it all: only now the queue pairs may go */
}

static int told(void)
{
	struct pollfd fd = { .fd = control, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

static void server(void)
{
	double end;
	int i;

	while (!told())
		turn();
	hear(totals, sizeof(totals[0]) * opt.qps);
	for (end = now() + DRAIN_S; now() < end; turn()) {
		for (i = 0; i < opt.qps && streams[i].completed >= totals[i]; i++)
			;
		if (i == opt.qps)
			break;
	}
	tell_ready();
}

static void report(double took)
{
	uint64_t messages = 0, bad = 0, least = UINT64_MAX, missing = 0;

	for (int i = 0; i < opt.qps; i++) {
		messages += streams[i].completed;
		bad += streams[i].bad;
		if (streams[i].completed < least)
			least = streams[i].completed;
		if (streams[i].completed < totals[i])
			missing += totals[i] - streams[i].completed;
	}
	printf("{\"messages\":%" PRIu64 ",\"least\":%" PRIu64, messages, least);
	printf(",\"missing\":%" PRIu64 ",\"bad\":%" PRIu64, missing, bad);
	printf(",\"cq_errors\":%" PRIu64 ",\"error\":\"%s\"", cq_errors, first_error);
	printf(",\"MBps\":%.3f,\"longest_gap_ms\":%.1f", messages * opt.size / took / 1e6,
	       longest_gap * 1e3);
	printf(",\"longest_qp_gap_ms\":%.1f,\"last\":%.6f", longest_qp_gap * 1e3, last_progress);
	printf(",\"gaps\":[");
	for (int i = 0; i < gap_count; i++)
		printf("%s[%.6f,%.3f]", i ? "," : "", gaps[i].begin, gaps[i].seconds * 1e3);
	printf("],\"begin\":%.6f,\"beats\":[", begin);
	for (int i = 0; i < beat_count; i++)
		printf("%s%u", i ? "," : "", beats[i]);
	printf("]}\n");
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "d:g:p:n:s:D:m:u:r:T:f:t:S:G:B:")) != -1) {
		switch (c) {
		case 'd':
			opt.device = optarg;
			break;
		case 'g':
			opt.gid_index = atoi(optarg);
			break;
		case 'p':
			opt.port = optarg;
			break;
		case 'n':
			opt.qps = atoi(optarg);
			break;
		case 's':
			opt.size = atoi(optarg);
			break;
		case 'D':
			opt.depth = atoi(optarg);
			break;
		case 'm':
			opt.mtu = atoi(optarg);
			break;
		case 'u':
			opt.timeout = atoi(optarg);
			break;
		case 'r':
			opt.retry = atoi(optarg);
			break;
		case 'T':
			opt.rnr_timer = atoi(optarg);
			break;
		case 'f':
			opt.flow_label = strtoul(optarg, NULL, 0);
			break;
		case 't':
			opt.seconds = atoi(optarg);
			break;
		case 'S':
			opt.slow_us = atoi(optarg);
			break;
		case 'G':
			opt.gap_ms = atof(optarg);
			break;
		case 'B':
			opt.beat_ms = atoi(optarg);
			break;
		default:
			exit(2);
		}
	}
	opt.server = argv[optind];
	if (opt.qps < 1 || opt.qps > QPS_MAX || opt.depth < 1 || opt.depth > DEPTH_MAX ||
	    opt.size < 16) {
		fprintf(stderr, "rcstream: 1 to %d queue pairs, depth 1 to %d, size from 16 on\n",
			QPS_MAX, DEPTH_MAX);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	meet();
	open_device();
	for (int i = 0; i < opt.qps; i++)
		create(i);
	tell(ours, sizeof(ours[0]) * opt.qps);
	hear(theirs, sizeof(theirs[0]) * opt.qps);
	for (int i = 0; i < opt.qps; i++) {
		connect_qp(i);
		for (uint32_t n = 0; !opt.server && n < opt.depth; n++)
			post_receive(i);
	}
	/* both must be ready before either sends */
	tell_ready();
	wait_ready();
	begin = now();
	signal(SIGINT, interrupt);
	if (opt.server)
		client();
	else
		server();
	report(now() - begin);
	return !!cq_errors;
}
