// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA netlink (RDMA_NLDEV) knows all QPs of all drivers, but neither their peers'
 * addresses nor what happens to them later: that is what the programs see. So QPs are
 * read once, after the programs are attached; those that are known already stay as
 * they are, and those that have gone meanwhile are taken out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "census.h"

#define REPLY_LEN (64 * 1024)
#define DEVICES_MAX 256

struct rdma_device {
	u32 index;
	u32 ifindex;
	char name[RP_DEVICE_LEN];
};

/* of a QP whose peer is not known: one with the same destination QPN may be another peer's */
struct hint {
	u32 ifindex;
	u32 remote_qpn;
	struct rp_qp_key qp;
};

struct reader {
	const struct rp_maps *maps;
	struct mnl_socket *socket;
	u32 seq;
	struct rdma_device devices[DEVICES_MAX];
	unsigned int device_count;
	struct rdma_device *device;	/* whose QPs are being read */
	u64 began_ns;
	struct rp_qp_key *seen;
	unsigned int seen_count;
	struct hint *hints;
	unsigned int hint_count;
	char reply[REPLY_LEN] __attribute__((aligned(8)));
};

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static int dump(struct reader *r, unsigned int cmd, const u32 *device, mnl_cb_t fn)
{
	char request[128] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(request);
	int ret = MNL_CB_OK;

	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = ++r->seq;
	if (device)
		mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, *device);
	if (mnl_socket_sendto(r->socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	while (ret > MNL_CB_STOP) {
		ssize_t got = mnl_socket_recvfrom(r->socket, r->reply, sizeof(r->reply));

		if (got < 0)
			return -errno;
		ret = mnl_cb_run(r->reply, got, r->seq, mnl_socket_get_portid(r->socket), fn, r);
		if (ret < 0)
			return -errno;
	}
	return 0;
}

static int take_device(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;
	struct rdma_device *device = &r->devices[r->device_count];
	const struct nlattr *attr;

	if (r->device_count == DEVICES_MAX)
		return MNL_CB_OK;
	memset(device, 0, sizeof(*device));
	mnl_attr_for_each(attr, nlh, 0) {
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DEV_INDEX)
			device->index = mnl_attr_get_u32(attr);
		else if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DEV_NAME)
			snprintf(device->name, sizeof(device->name), "%s", mnl_attr_get_str(attr));
	}
	r->device_count++;
	return MNL_CB_OK;
}

/* of its first port */
static int take_port(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, 0)
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_NDEV_INDEX && !r->device->ifindex)
			r->device->ifindex = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static void read_line(u32 pid, const char *what, char *line, int size)
{
	char path[64];
	FILE *file;

	*line = '\0';
	snprintf(path, sizeof(path), "/proc/%u/%s", pid, what);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(line, size, file))
		line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

static void take_cgroup(u32 pid, struct rp_qp *qp)
{
	char line[RP_CGROUP_LEN + 8], path[RP_CGROUP_LEN + 32];
	struct stat stat_cgroup;

	/* "0::/path" on hosts with cgroup v2; on others it stands further down, or not at all */
	read_line(pid, "cgroup", line, sizeof(line));
	if (strncmp(line, "0::", 3))
		return;
	snprintf(qp->cgroup, sizeof(qp->cgroup), "%.*s", RP_CGROUP_LEN - 1, line + 3);
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s", qp->cgroup);
	if (!stat(path, &stat_cgroup))
		qp->cgroup_id = stat_cgroup.st_ino;
}

static void take_process(u32 pid, struct rp_qp *qp)
{
	struct stat stat_process;
	char path[64];

	qp->pid = pid;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (!stat(path, &stat_process))
		qp->uid = stat_process.st_uid;
	read_line(pid, "comm", qp->comm, sizeof(qp->comm));
	take_cgroup(pid, qp);
}

static void put_tx(const struct reader *r, const struct rp_qp_key *key,
		   const struct rp_wire_qp *wire)
{
	const struct rp_qp_tx tx = {
		.qp = *key, .class = RP_CLASSES_MAX, .class_told = RP_CLASSES_MAX, .job = RP_JOBS_MAX,
		.job_peer = RP_JOB_PEERS_MAX,
	};

	bpf_map_update_elem(r->maps->fd[RP_MAP_QP_TX], wire, &tx, BPF_NOEXIST);
}

static void *grow(void **array, unsigned int *count, size_t size)
{
	void *grown = reallocarray(*array, *count + 1, size);

	if (!grown)
		return NULL;
	*array = grown;
	return (char *)grown + size * (*count)++;
}

/* where the first packet of the QP will look it up */
static void enter_tx(struct reader *r, const struct rp_qp_key *key, const struct rp_qp *qp)
{
	struct rp_wire_qp wire = { .qpn = key->qpn, .ifindex = qp->ifindex };
	struct hint *hint;

	/* they have no peer of their own: it is known already */
	if (qp->type == RP_QP_UD || qp->type == RP_QP_GSI) {
		put_tx(r, key, &wire);
		return;
	}
	if (!qp->remote_qpn)
		return;
	wire = rp_wire_qp_learn(qp->ifindex, qp->remote_qpn, qp->udp_source_port);
	put_tx(r, key, &wire);
	hint = grow((void **)&r->hints, &r->hint_count, sizeof(*hint));
	if (hint)
		*hint = (struct hint){ qp->ifindex, qp->remote_qpn, *key };
}

static int compare_hints(const void *a, const void *b)
{
	return memcmp(a, b, offsetof(struct hint, qp));
}

/* by the destination QPN alone, where only one QP has it */
static void enter_hints(struct reader *r)
{
	if (r->hint_count)
		qsort(r->hints, r->hint_count, sizeof(*r->hints), compare_hints);
	for (unsigned int i = 0; i < r->hint_count; i++) {
		const struct hint *hint = &r->hints[i];
		struct rp_wire_qp wire = rp_wire_qp_learn(hint->ifindex, hint->remote_qpn, 0);

		if ((!i || compare_hints(hint, hint - 1)) &&
		    (i + 1 == r->hint_count || compare_hints(hint, hint + 1)))
			put_tx(r, &hint->qp, &wire);
	}
}

/* whose packets are let in: its peer's, when that is known, until then anybody's */
static void enter_rx(const struct reader *r, const struct rp_qp_key *key)
{
	const struct rp_qp_rx rx = {
		.qp = *key, .job = RP_JOBS_MAX, .job_peer = RP_JOB_PEERS_MAX,
	};
	const struct rp_wire_qp wire = { .qpn = key->qpn };

	bpf_map_update_elem(r->maps->fd[RP_MAP_QP_RX], &wire, &rx, BPF_NOEXIST);
}

static void see(struct reader *r, const struct rp_qp_key *key)
{
	struct rp_qp_key *place = grow((void **)&r->seen, &r->seen_count, sizeof(*place));

	if (place)
		*place = *key;
}

static void take_entry(struct reader *r, const struct nlattr *entry)
{
	struct rp_qp qp = {
		.type = RP_QP_RC, .source = RP_QP_READ, .ifindex = r->device->ifindex,
		.class = RP_CLASSES_MAX, .job = RP_JOBS_MAX, .job_peer = RP_JOB_PEERS_MAX,
	};
	struct rp_qp_key key = { .device_index = r->device->index };
	const struct nlattr *attr;

	memcpy(qp.device, r->device->name, sizeof(qp.device));
	qp.created_ns = now_ns();
	qp.changed_ns = qp.created_ns;
	mnl_attr_for_each_nested(attr, entry) {
		switch (mnl_attr_get_type(attr)) {
		case RDMA_NLDEV_ATTR_RES_LQPN:
			key.qpn = mnl_attr_get_u32(attr);
			break;
		case RDMA_NLDEV_ATTR_RES_RQPN:
			qp.remote_qpn = mnl_attr_get_u32(attr);
			break;
		case RDMA_NLDEV_ATTR_RES_TYPE:
			qp.type = mnl_attr_get_u8(attr);
			break;
		case RDMA_NLDEV_ATTR_RES_STATE:
			qp.state = mnl_attr_get_u8(attr);
			break;
		case RDMA_NLDEV_ATTR_RES_PID:
			take_process(mnl_attr_get_u32(attr), &qp);
			break;
		}
	}
	see(r, &key);
	if (qp.remote_qpn)
		qp.udp_source_port = rp_udp_source_port(0, key.qpn, qp.remote_qpn);
	if (bpf_map_update_elem(r->maps->fd[RP_MAP_QPS], &key, &qp, BPF_NOEXIST))
		return;
	enter_rx(r, &key);
	if (qp.ifindex)
		enter_tx(r, &key, &qp);
}

static int take_qps(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr, *entry;

	mnl_attr_for_each(attr, nlh, 0)
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_RES_QP)
			mnl_attr_for_each_nested(entry, attr)
				take_entry(data, entry);
	return MNL_CB_OK;
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct rp_qp_key));
}

/* its rows, and only those that are its own */
static void take_out_wire(const struct reader *r, const struct rp_qp_key *key,
			  const struct rp_qp *qp)
{
	const struct rp_wire_qp places[] = {
		{ .address = qp->remote, .qpn = qp->remote_qpn },
		{ .qpn = key->qpn, .ifindex = qp->ifindex },
		rp_wire_qp_learn(qp->ifindex, qp->remote_qpn, qp->udp_source_port),
		rp_wire_qp_learn(qp->ifindex, qp->remote_qpn, 0),
		{ .address = qp->remote, .qpn = key->qpn },
		{ .qpn = key->qpn },
	};
	struct rp_qp_tx tx;
	struct rp_qp_rx rx;

	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		int fd = r->maps->fd[RP_MAP_QP_TX];

		if (!bpf_map_lookup_elem(fd, &places[i], &tx) && !memcmp(&tx.qp, key, sizeof(*key)))
			bpf_map_delete_elem(fd, &places[i]);
		fd = r->maps->fd[RP_MAP_QP_RX];
		if (!bpf_map_lookup_elem(fd, &places[i], &rx) && !memcmp(&rx.qp, key, sizeof(*key)))
			bpf_map_delete_elem(fd, &places[i]);
	}
}

/* programs join and leave at the same time: by the job's own memory */
static void leave_job(const struct reader *r, u32 index)
{
	struct rp_job *jobs;

	if (index >= RP_JOBS_MAX)
		return;
	jobs = mmap(NULL, RP_JOBS_MAX * sizeof(*jobs), PROT_READ | PROT_WRITE, MAP_SHARED,
		    r->maps->fd[RP_MAP_JOBS], 0);
	if (jobs == MAP_FAILED)
		return;
	__atomic_fetch_sub(&jobs[index].qps, 1, __ATOMIC_SEQ_CST);
	munmap(jobs, RP_JOBS_MAX * sizeof(*jobs));
}

static void take_out(const struct reader *r, const struct rp_qp_key *key, const struct rp_qp *qp)
{
	if (bpf_map_delete_elem(r->maps->fd[RP_MAP_QPS], key))
		return;
	take_out_wire(r, key, qp);
	leave_job(r, qp->job);
}

/* what came while we read is not among those that were seen */
static void take_out_gone(const struct reader *r)
{
	struct rp_qp_key *gone = calloc(RP_QPS_MAX, sizeof(*gone)), *last = NULL, key;
	unsigned int count = 0;
	struct rp_qp qp;

	qsort(r->seen, r->seen_count, sizeof(*r->seen), compare);
	while (gone && count < RP_QPS_MAX &&
	       !bpf_map_get_next_key(r->maps->fd[RP_MAP_QPS], last, &key)) {
		gone[count] = key;
		last = &gone[count++];
	}
	for (unsigned int i = 0; i < count; i++)
		if (!bsearch(&gone[i], r->seen, r->seen_count, sizeof(key), compare) &&
		    !bpf_map_lookup_elem(r->maps->fd[RP_MAP_QPS], &gone[i], &qp) &&
		    qp.created_ns < r->began_ns)
			take_out(r, &gone[i], &qp);
	free(gone);
}

static int read_all(struct reader *r)
{
	int err = dump(r, RDMA_NLDEV_CMD_GET, NULL, take_device);

	for (unsigned int i = 0; !err && i < r->device_count; i++) {
		r->device = &r->devices[i];
		err = dump(r, RDMA_NLDEV_CMD_PORT_GET, &r->device->index, take_port);
		if (!err)
			err = dump(r, RDMA_NLDEV_CMD_RES_QP_GET, &r->device->index, take_qps);
	}
	if (!err) {
		enter_hints(r);
		take_out_gone(r);
	}
	return err;
}

/**
 * rp_census_read() - enter the QPs that were there before the programs
 * @maps: the maps
 *
 * Return: 0 or a negative error number; -EPROTONOSUPPORT: there is no RDMA here.
 */
int rp_census_read(const struct rp_maps *maps)
{
	struct reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->maps = maps;
	r->began_ns = now_ns();
	r->socket = mnl_socket_open2(NETLINK_RDMA, SOCK_CLOEXEC);
	err = !r->socket || mnl_socket_bind(r->socket, 0, MNL_SOCKET_AUTOPID) ? -errno :
	      read_all(r);
	if (r->socket)
		mnl_socket_close(r->socket);
	free(r->hints);
	free(r->seen);
	free(r);
	return err;
}
