// SPDX-License-Identifier: GPL-2.0
/*
 * rcqp -g GID_INDEX -G REMOTE_GID [options]: connected queue pairs whose other
 * ends are not there.
 *
 * Prints "qp I QPN" for each, "mr ADDRESS RKEY", then "ready". Commands, a line
 * each:
 *
 *   count         print "count N N ...": receives completed, each QP
 *   tags I        print "tags T T ...": first words of what I received, in order
 *   failed        print "failed N": completions with an error
 *   send I N      post N sends of 64 bytes
 *   read I N      post a READ of N bytes
 *   done I        print "done_I N": sends and READs of I that completed
 *   destroy I
 *   quit
 */
/* LIBS: -libverbs */

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QPS_MAX		256
#define SLOT		256
#define TARGET_LEN	(1 << 20)
#define SEND_LEN	64
#define SENDS_MAX	64
#define CQE_MAX		16384
#define TAGS_MAX	(1 << 20)
#define READS_MAX	16

struct one {
	struct ibv_qp *qp;
	uint32_t received;
	uint32_t sent;
	uint32_t *tag;
};

static const char usage[] =
	"usage: rcqp -g GID_INDEX -G REMOTE [-d DEV] [-n QPS] [-u] [-p PSN] [-q REMOTE_QPN]\n"
	"            [-m MTU] [-r RECEIVES]\n";

static struct one ones[QPS_MAX];
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static uint8_t *memory;
static uint32_t failed;

static struct {
	const char *device;
	int qps;
	int gid_index;
	union ibv_gid gid;
	enum ibv_qp_type type;
	uint32_t psn;
	uint32_t remote_qpn;
	enum ibv_mtu mtu;
	uint32_t receives;
} options = {
	.device = "rxe0", .qps = 1, .gid_index = -1, .type = IBV_QPT_RC, .remote_qpn = 0x777,
	.mtu = IBV_MTU_1024, .receives = 512,
};

static __attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
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
}

static void make_memory(void)
{
	/* QPs share the completions: they are taken at once */
	int cqe = options.qps * (options.receives + SENDS_MAX);
	size_t len = TARGET_LEN + (size_t)options.receives * SLOT;

	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, cqe < CQE_MAX ? cqe : CQE_MAX, NULL, NULL, 0);
	memory = aligned_alloc(4096, len);
	if (!pd || !cq || !memory)
		die("no memory");
	memset(memory, 0, len);
	mr = ibv_reg_mr(pd, memory, len, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr)
		die("ibv_reg_mr: %s", strerror(errno));
}

/* the slot and the QP are in the id; slots are shared by all QPs, the tag is read at once */
static void post_receive(int i, uint32_t slot)
{
	uintptr_t at = (uintptr_t)memory + TARGET_LEN + (size_t)slot * SLOT;
	struct ibv_sge sge = { at, SLOT, mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = (uint64_t)i << 32 | slot, .sg_list = &sge, .num_sge = 1,
	};

	if (ibv_post_recv(ones[i].qp, &wr, &bad))
		die("ibv_post_recv: %s", strerror(errno));
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	if (options.type == IBV_QPT_UC)
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (ibv_modify_qp(qp, &attr, mask))
		die("to INIT: %s", strerror(errno));
}

static void to_rtr(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = options.mtu, .dest_qp_num = options.remote_qpn,
		.rq_psn = options.psn, .max_dest_rd_atomic = READS_MAX, .min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = {
				.dgid = options.gid,
				.sgid_index = options.gid_index,
				.hop_limit = 64,
			},
		},
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	if (options.type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (ibv_modify_qp(qp, &attr, mask))
		die("to RTR: %s", strerror(errno));
}

static void to_rts(struct ibv_qp *qp)
{
	/* timeout 0: the other end is not there, so waits for ever */
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = options.psn, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = READS_MAX,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (options.type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	if (ibv_modify_qp(qp, &attr, mask))
		die("to RTS: %s", strerror(errno));
}

static void make_qp(int i)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = options.type, .sq_sig_all = 1,
		.cap = {
			.max_send_wr = SENDS_MAX, .max_recv_wr = options.receives,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	uint32_t slot;

	ones[i].qp = ibv_create_qp(pd, &attr);
	ones[i].tag = calloc(TAGS_MAX, sizeof(*ones[i].tag));
	if (!ones[i].qp || !ones[i].tag)
		die("ibv_create_qp: %s", strerror(errno));
	to_init(ones[i].qp);
	for (slot = 0; slot < options.receives; slot++)
		post_receive(i, slot);
	to_rtr(ones[i].qp);
	to_rts(ones[i].qp);
	printf("qp %d %u\n", i, ones[i].qp->qp_num);
}

static void complete(const struct ibv_wc *wc)
{
	int i = wc->wr_id >> 32;
	uint32_t slot = (uint32_t)wc->wr_id, tag;

	if (wc->status != IBV_WC_SUCCESS) {
		if (wc->status != IBV_WC_WR_FLUSH_ERR)
			failed++;
		return;
	}
	if (!(wc->opcode & IBV_WC_RECV)) {
		ones[i].sent++;
		return;
	}
	memcpy(&tag, memory + TARGET_LEN + (size_t)slot * SLOT, sizeof(tag));
	if (ones[i].received < TAGS_MAX)
		ones[i].tag[ones[i].received] = ntohl(tag);
	ones[i].received++;
	post_receive(i, slot);
}

static int drain(void)
{
	struct ibv_wc wc[32];
	int n, i, total = 0;

	while ((n = ibv_poll_cq(cq, 32, wc)) > 0) {
		for (i = 0; i < n; i++)
			complete(&wc[i]);
		total += n;
	}
	return total;
}

static void post_send(int i, uint32_t count, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)memory, len, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = (uint64_t)i << 32, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
	};

	wr.wr.rdma.remote_addr = (uintptr_t)memory;
	wr.wr.rdma.rkey = mr->rkey;
	while (count--)
		if (ibv_post_send(ones[i].qp, &wr, &bad))
			die("ibv_post_send: %s", strerror(errno));
}

static void print_counts(void)
{
	int i;

	printf("count");
	for (i = 0; i < options.qps; i++)
		printf(" %u", ones[i].received);
	printf("\n");
}

static void print_tags(int i)
{
	uint32_t n;

	printf("tags");
	for (n = 0; n < ones[i].received && n < TAGS_MAX; n++)
		printf(" %u", ones[i].tag[n]);
	printf("\n");
}

static void destroy(int i)
{
	if (!ones[i].qp)
		return;
	if (ibv_destroy_qp(ones[i].qp))
		die("ibv_destroy_qp: %s", strerror(errno));
	ones[i].qp = NULL;
	drain();
	printf("destroyed %d\n", i);
}

static void command(const char *line)
{
	char word[16] = "";
	int i = 0, n = 0;

	if (sscanf(line, "%15s %d %d", word, &i, &n) < 1)
		return;
	if (i < 0 || i >= options.qps)
		die("no QP %d", i);
	if (!strcmp(word, "count"))
		print_counts();
	else if (!strcmp(word, "tags"))
		print_tags(i);
	else if (!strcmp(word, "failed"))
		printf("failed %u\n", failed);
	else if (!strcmp(word, "send"))
		post_send(i, n, IBV_WR_SEND, SEND_LEN);
	else if (!strcmp(word, "read"))
		post_send(i, 1, IBV_WR_RDMA_READ, n);
	else if (!strcmp(word, "done"))
		printf("done_%d %u\n", i, ones[i].sent);
	else if (!strcmp(word, "destroy"))
		destroy(i);
	else if (!strcmp(word, "quit"))
		exit(0);
	else
		die("%s?", word);
	fflush(stdout);
}

static void serve(void)
{
	struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
	char line[128];
	int idle;

	for (;;) {
		idle = !drain();
		if (poll(&wait, 1, idle) < 0)
			die("poll: %s", strerror(errno));
		if (!wait.revents)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			return;
		drain();
		command(line);
	}
}

static void read_gid(const char *text)
{
	if (strchr(text, ':')) {
		if (inet_pton(AF_INET6, text, &options.gid) != 1)
			die("%s is no address", text);
		return;
	}
	memset(options.gid.raw + 10, 0xff, 2);
	if (inet_pton(AF_INET, text, options.gid.raw + 12) != 1)
		die("%s is no address", text);
}

static enum ibv_mtu read_mtu(unsigned int bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && 128u << mtu < bytes)
		mtu++;
	return mtu;
}

static void read_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "d:n:g:G:up:q:m:r:")) >= 0) {
		switch (option) {
		case 'd':
			options.device = optarg;
			break;
		case 'n':
			options.qps = atoi(optarg);
			break;
		case 'g':
			options.gid_index = atoi(optarg);
			break;
		case 'G':
			read_gid(optarg);
			break;
		case 'u':
			options.type = IBV_QPT_UC;
			break;
		case 'p':
			options.psn = strtoul(optarg, NULL, 0) & 0xffffff;
			break;
		case 'q':
			options.remote_qpn = strtoul(optarg, NULL, 0);
			break;
		case 'm':
			options.mtu = read_mtu(atoi(optarg));
			break;
		case 'r':
			options.receives = atoi(optarg);
			break;
		default:
			die(usage);
		}
	}
	if (options.gid_index < 0 || options.qps < 1 || options.qps > QPS_MAX)
		die("which GID index, how many QPs?");
}

int main(int argc, char **argv)
{
	int i;

	setvbuf(stdin, NULL, _IONBF, 0);
	read_options(argc, argv);
	open_device();
	make_memory();
	for (i = 0; i < options.qps; i++)
		make_qp(i);
	printf("mr %llu %u\nready\n", (unsigned long long)(uintptr_t)memory, mr->rkey);
	fflush(stdout);
	serve();
	return 0;
}
