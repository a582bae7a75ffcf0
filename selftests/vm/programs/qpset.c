// SPDX-License-Identifier: GPL-2.0
/*
 * qpset -g GID_INDEX -G REMOTE [-d DEV] [-t rc|uc|ud] [-l LABEL] [-c TRAFFIC_CLASS]
 *       [-o TIMEOUT] [-r RETRY]: queue pairs, as an application would set them up.
 *
 * Prints "ready". Commands, a line each, and what they print:
 *
 *   make N            N more, in INIT: "qp I QPN" each, then "made"
 *   connect QPN...    to RTS, to these; the last number is for those that are left: "connected"
 *   refuse            to RTR with a mask that is not right: "refused I ERRNO" each, then "refused"
 *   show              "show I STATE LABEL TRAFFIC_CLASS TIMEOUT RETRY" each, then "shown"
 *   wrong             what must be refused: "wrong ERRNO ERRNO"
 *   send N            N SENDs by each, to be waited for or not: "sent"
 *   stream US         from now on one SEND by each every US microseconds, 0: stop: "streams"
 *   result            "result I SENT RECEIVED ERRORS" each, then "results"
 *   time N            N made, connected and destroyed: "time CONNECT_NS ALL_NS", medians
 *   destroy           all of them: "destroyed"
 *   quit
 *
 * When a QP's first completion with an error comes: "error I REALTIME_NS STATUS".
 */
/* LIBS: -libverbs */

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QPS_MAX 1024
#define LEN 256
#define DEPTH 32
#define NSEC 1000000000ull

struct one {
	struct ibv_qp *qp;
	uint32_t posted, sent, received, errors;
};

static struct one ones[QPS_MAX];
static int qps;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static uint8_t memory[4096] __attribute__((__aligned__(4096)));
static uint64_t stream_ns, stream_at;

static struct {
	const char *device;
	int gid_index;
	union ibv_gid gid;
	enum ibv_qp_type type;
	uint32_t label;
	uint8_t traffic_class, timeout, retry;
} options = { .device = "rxe0", .gid_index = -1, .type = IBV_QPT_RC, .timeout = 14, .retry = 7 };

static __attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **at;

	for (at = list; at && *at; at++)
		if (!strcmp(ibv_get_device_name(*at), options.device))
			context = ibv_open_device(*at);
	if (!context)
		die("no device %s", options.device);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16384, NULL, NULL, 0);
	if (pd)
		mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	if (!cq || !mr)
		die("no memory");
}

static void post_receive(int i)
{
	struct ibv_sge sge = { (uintptr_t)memory, LEN + 40, mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };

	ibv_post_recv(ones[i].qp, &wr, &bad);
}

static struct ibv_qp *create(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = options.type, .sq_sig_all = 1,
		.cap = {
			.max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp)
		die("ibv_create_qp: %s", strerror(errno));
	return qp;
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11111111,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int more = options.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | more))
		die("to INIT: %s", strerror(errno));
}

static int rtr_mask(void)
{
	int mask = IBV_QP_STATE;

	if (options.type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (options.type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return mask;
}

static int try_rtr(struct ibv_qp *qp, uint32_t remote_qpn, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = remote_qpn,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = {
				.dgid = options.gid, .sgid_index = options.gid_index,
				.hop_limit = 64, .flow_label = options.label,
				.traffic_class = options.traffic_class,
			},
		},
	};

	return ibv_modify_qp(qp, &attr, mask);
}

static void to_rtr(struct ibv_qp *qp, uint32_t remote_qpn)
{
	if (try_rtr(qp, remote_qpn, rtr_mask()))
		die("to RTR: %s", strerror(errno));
}

static int rts_mask(void)
{
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (options.type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return mask;
}

static int try_rts(struct ibv_qp *qp, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = options.timeout, .retry_cnt = options.retry,
		.rnr_retry = 7, .max_rd_atomic = 1,
	};

	return ibv_modify_qp(qp, &attr, mask);
}

static void to_rts(struct ibv_qp *qp)
{
	if (try_rts(qp, rts_mask()))
		die("to RTS: %s", strerror(errno));
}

static void make_qps(int n)
{
	if (n < 1 || qps + n > QPS_MAX)
		die("%d QPs?", n);
	for (; n--; qps++) {
		ones[qps] = (struct one){ .qp = create() };
		to_init(ones[qps].qp);
		printf("qp %d %u\n", qps, ones[qps].qp->qp_num);
	}
	puts("made");
}

static void connect_all(char *numbers)
{
	static const char blanks[] = { ' ', '\n', 0 };
	char *word = strtok(numbers, blanks);
	uint32_t remote_qpn = 0;
	int i, k;

	for (i = 0; i < qps; i++) {
		if (word) {
			remote_qpn = strtoul(word, NULL, 0);
			word = strtok(NULL, blanks);
		}
		for (k = 0; k < DEPTH; k++)
			post_receive(i);
		to_rtr(ones[i].qp, remote_qpn);
		to_rts(ones[i].qp);
	}
	printf("connected\n");
}

static void show_qps(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int i;

	for (i = 0; i < qps; i++) {
		memset(&attr, 0, sizeof(attr));
		if (ibv_query_qp(ones[i].qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_TIMEOUT |
				 IBV_QP_RETRY_CNT, &init))
			die("ibv_query_qp: %s", strerror(errno));
		printf("show %d %d %u %u %u %u\n", i, attr.qp_state, attr.ah_attr.grh.flow_label,
		       attr.ah_attr.grh.traffic_class, attr.timeout, attr.retry_cnt);
	}
	printf("shown\n");
}

/* to RTS without what it must have; timers where a QP must not have them */
static void try_wrong(void)
{
	struct ibv_qp *qp = create();
	int first, second;

	to_init(qp);
	to_rtr(qp, 0x777);
	first = try_rts(qp, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT);
	to_rts(qp);
	second = try_rts(qp, rts_mask());
	ibv_destroy_qp(qp);
	printf("wrong %d %d\n", first, second);
}

static void refuse_all(void)
{
	int i;

	for (i = 0; i < qps; i++)
		printf("refused %d %d\n", i,
		       try_rtr(ones[i].qp, 0x777, rtr_mask() & ~IBV_QP_RQ_PSN));
	puts("refused");
}

static void post_send(int i)
{
	struct ibv_sge sge = { (uintptr_t)memory, LEN, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = i | 1ull << 32, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	};

	if (!ibv_post_send(ones[i].qp, &wr, &bad))
		ones[i].posted++;
}

static void send_all(int n)
{
	int i, k;

	for (k = 0; k < n; k++)
		for (i = 0; i < qps; i++)
			post_send(i);
	printf("sent\n");
}

static void start_stream(int us)
{
	stream_ns = us * 1000ull;
	puts("streams");
}

static void stream(void)
{
	int i;

	if (!stream_ns || now(CLOCK_MONOTONIC) < stream_at)
		return;
	stream_at = now(CLOCK_MONOTONIC) + stream_ns;
	for (i = 0; i < qps; i++)
		if (!ones[i].errors && ones[i].posted - ones[i].sent < DEPTH / 2)
			post_send(i);
}

static void complete(const struct ibv_wc *wc)
{
	int i = (uint32_t)wc->wr_id;

	if (wc->status != IBV_WC_SUCCESS) {
		if (!ones[i].errors++)
			printf("error %d %llu %s\n", i,
			       (unsigned long long)now(CLOCK_REALTIME),
			       ibv_wc_status_str(wc->status));
	} else if (wc->wr_id >> 32) {
		ones[i].sent++;
	} else {
		ones[i].received++;
		post_receive(i);
	}
}

static void drain(void)
{
	struct ibv_wc wc[32];
	int n, i;

	while ((n = ibv_poll_cq(cq, 32, wc)) > 0)
		for (i = 0; i < n; i++)
			complete(&wc[i]);
	fflush(stdout);
}

static void show_results(void)
{
	int i;

	for (i = 0; i < qps; i++)
		printf("result %d %u %u %u\n", i, ones[i].sent, ones[i].received, ones[i].errors);
	printf("results\n");
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void measure(int n)
{
	uint64_t *connects = calloc(n, sizeof(*connects)), *all = calloc(n, sizeof(*all)), begin, t;
	struct ibv_qp *qp;
	int i;

	for (i = 0; i < n; i++) {
		begin = now(CLOCK_MONOTONIC);
		qp = create();
		to_init(qp);
		t = now(CLOCK_MONOTONIC);
		to_rtr(qp, 0x777);
		to_rts(qp);
		all[i] = now(CLOCK_MONOTONIC) - begin;
		connects[i] = now(CLOCK_MONOTONIC) - t;
		ibv_destroy_qp(qp);
	}
	qsort(connects, n, sizeof(*connects), by_value);
	qsort(all, n, sizeof(*all), by_value);
	printf("time %llu %llu\n", (unsigned long long)connects[n / 2],
	       (unsigned long long)all[n / 2]);
	free(connects);
	free(all);
}

static void destroy(void)
{
	while (qps)
		if (ibv_destroy_qp(ones[--qps].qp))
			die("ibv_destroy_qp: %s", strerror(errno));
	printf("destroyed\n");
}

static void command(char *line)
{
	char word[16] = "";
	int n = 0;

	if (sscanf(line, "%15s %d", word, &n) < 1)
		return;
	if (!strcmp(word, "make"))
		make_qps(n);
	else if (!strcmp(word, "connect"))
		connect_all(line + strlen("connect"));
	else if (!strcmp(word, "refuse"))
		refuse_all();
	else if (!strcmp(word, "show"))
		show_qps();
	else if (!strcmp(word, "wrong"))
		try_wrong();
	else if (!strcmp(word, "send"))
		send_all(n);
	else if (!strcmp(word, "stream"))
		start_stream(n);
	else if (!strcmp(word, "result"))
		show_results();
	else if (!strcmp(word, "time") && n > 0)
		measure(n);
	else if (!strcmp(word, "destroy"))
		destroy();
	else if (!strcmp(word, "quit"))
		exit(0);
	else
		die("%s?", word);
	fflush(stdout);
}

static void serve(void)
{
	struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
	static char line[16384];

	for (;;) {
		drain();
		stream();
		if (poll(&wait, 1, 1) < 0)
			die("poll: %s", strerror(errno));
		if (!wait.revents)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			return;
		command(line);
	}
}

static enum ibv_qp_type read_type(const char *text)
{
	if (!strcmp(text, "uc"))
		return IBV_QPT_UC;
	return strcmp(text, "ud") ? IBV_QPT_RC : IBV_QPT_UD;
}

static void read_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "d:g:G:t:l:c:o:r:")) >= 0) {
		switch (option) {
		case 'd':
			options.device = optarg;
			break;
		case 'g':
			options.gid_index = atoi(optarg);
			break;
		case 'G':
			if (inet_pton(AF_INET6, optarg, &options.gid) != 1)
				die("%s is no address", optarg);
			break;
		case 't':
			options.type = read_type(optarg);
			break;
		case 'l':
			options.label = strtoul(optarg, NULL, 0);
			break;
		case 'c':
			options.traffic_class = strtoul(optarg, NULL, 0);
			break;
		case 'o':
			options.timeout = atoi(optarg);
			break;
		case 'r':
			options.retry = atoi(optarg);
			break;
		default:
			exit(2);
		}
	}
	if (options.gid_index < 0)
		die("which GID index?");
}

int main(int argc, char **argv)
{
	setvbuf(stdin, NULL, _IONBF, 0);
	read_options(argc, argv);
	open_device();
	printf("ready\n");
	fflush(stdout);
	serve();
	return 0;
}
