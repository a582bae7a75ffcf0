// SPDX-License-Identifier: GPL-2.0
/*
 * qploop -g GID_INDEX -G REMOTE COUNT KEEP: make and destroy queue pairs in a loop.
 *
 * COUNT of them, one after the other, each connected to QPN 0x1000 and its number;
 * then KEEP, which stay. Prints "qp QPN REMOTE_QPN" for each that stays, then "ready",
 * and waits for the end of its input.
 */
/* LIBS: -libverbs */

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REMOTE_QPN 0x1000

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static union ibv_gid remote;
static int gid_index;

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
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (list && *list)
		context = ibv_open_device(*list);
	if (!context)
		die("no device");
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	if (!pd || !cq)
		die("no memory");
}

static struct ibv_qp *make(uint32_t remote_qpn)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				 IBV_QP_ACCESS_FLAGS))
		die("a QP: %s", strerror(errno));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = remote_qpn,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = remote, .sgid_index = gid_index, .hop_limit = 64 },
		},
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		die("to RTR: %s", strerror(errno));
	return qp;
}

int main(int argc, char **argv)
{
	int option, count, keep, i;
	char buffer[64];

	while ((option = getopt(argc, argv, "g:G:")) != -1)
		if (option == 'g')
			gid_index = atoi(optarg);
		else if (option != 'G' || inet_pton(AF_INET6, optarg, &remote) != 1)
			die("usage: qploop -g GID_INDEX -G REMOTE COUNT KEEP");
	if (argc - optind != 2)
		die("usage: qploop -g GID_INDEX -G REMOTE COUNT KEEP");
	count = atoi(argv[optind]);
	keep = atoi(argv[optind + 1]);
	open_device();
	for (i = 0; i < count; i++)
		ibv_destroy_qp(make(REMOTE_QPN + i));
	for (i = 0; i < keep; i++)
		printf("qp %u %u\n", make(REMOTE_QPN + count + i)->qp_num, REMOTE_QPN + count + i);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, buffer, sizeof(buffer)) > 0)
		;
	return 0;
}
