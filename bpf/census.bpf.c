// SPDX-License-Identifier: GPL-2.0
/*
 * Who owns a QP: programs on the functions of ib_core by which QPs of every driver,
 * of processes and of the kernel, are made, connected and destroyed.
 *
 *   made         a row in qps: who, where, what type; its job
 *   connected    (RTR) its peer; rows in qp_tx and qp_rx, by which packets find it
 *   ready        (RTR) without a peer of its own: UD, QP 1: the same, by netdevice
 *   reset        those rows go
 *   destroyed    all rows go; a number that is used again begins anew
 *
 * Where ib_core has BTF they are fentry and fexit, and see what a call came to; else
 * kprobes, which see what it was asked for. The loader loads one set.
 */
#include <linux/ptrace.h>

#include "join.h"
#include "kernel.h"
#include "maps.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define QP_ATTR_STATE (1 << 0)		/* enum ib_qp_attr_mask */
#define QP_ATTR_AV (1 << 7)
#define QP_ATTR_PATH_MTU (1 << 8)
#define QP_ATTR_DEST_QPN (1 << 20)
#define AH_ROCE 2			/* enum rdma_ah_attr_type */
#define CGROUP_DEPTH 16
#define CGROUP_DEPTH_MAX 64
#define CGROUP_NAME 128

static const struct rp_qp new_qp;

static __always_inline struct rp_qp_key census_key(const struct ib_qp *qp)
{
	struct rp_qp_key key = {
		.device_index = BPF_CORE_READ(qp, device, index),
		.qpn = BPF_CORE_READ(qp, qp_num),
	};

	return key;
}

static __always_inline u32 census_ifindex(const struct ib_qp *qp)
{
	u32 port = BPF_CORE_READ(qp, port) ?: 1;
	const void *data = BPF_CORE_READ(qp, device, port_data);

	data += port * bpf_core_type_size(struct ib_port_data);
	return BPF_CORE_READ((const struct ib_port_data *)data, netdev, ifindex);
}

/* Not inline: the branch that this kernel has no field for must not be taken apart and merged. */
static __noinline const struct kernfs_node *census_parent(const struct kernfs_node *kn)
{
	if (bpf_core_field_exists(kn->parent))
		return BPF_CORE_READ(kn, parent);
	return BPF_CORE_READ((const struct kernfs_node___rcu *)kn, __parent);
}

/* Names from the root of the hierarchy down; of a path that is too long the end is missing. */
static __always_inline void census_cgroup(char *path)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const struct kernfs_node *kn = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn), *lowest = kn;
	const struct kernfs_node *up[CGROUP_DEPTH];
	u32 at = 0;
	long len;
	int i, n;

	for (n = 0; n < CGROUP_DEPTH_MAX && kn; n++)
		kn = census_parent(kn);
	for (kn = lowest, i = CGROUP_DEPTH; i < CGROUP_DEPTH_MAX && i < n; i++)
		kn = census_parent(kn);
	for (n = 0; n < CGROUP_DEPTH && kn; n++) {
		up[n] = kn;
		kn = census_parent(kn);
	}
	path[0] = '/';
	/* the root has no name */
	for (i = CGROUP_DEPTH - 1; i >= 0; i--) {
		if (i >= n - 1 || at >= RP_CGROUP_LEN - CGROUP_NAME - 1)
			continue;
		path[at++] = '/';
		len = bpf_probe_read_kernel_str(path + at, CGROUP_NAME, BPF_CORE_READ(up[i], name));
		if (len > 1)
			at += len - 1;
	}
}

/* Rows of an earlier QP that has the same name on the wire are not ours to take away. */
static __always_inline void census_forget_tx(const struct rp_qp_key *key,
					     const struct rp_wire_qp *wire)
{
	struct rp_qp_tx *tx = bpf_map_lookup_elem(&qp_tx, wire);

	if (tx && tx->qp.device_index == key->device_index && tx->qp.qpn == key->qpn)
		bpf_map_delete_elem(&qp_tx, wire);
}

/* What the tool left for one that was there before, and that has not sent since. */
static __always_inline void census_forget_hints(const struct rp_qp_key *key, const struct rp_qp *qp)
{
	struct rp_wire_qp hint;

	hint = rp_wire_qp_learn(qp->ifindex, qp->remote_qpn, qp->udp_source_port);
	census_forget_tx(key, &hint);
	hint = rp_wire_qp_learn(qp->ifindex, qp->remote_qpn, 0);
	census_forget_tx(key, &hint);
}

static __always_inline void census_forget_wire(const struct rp_qp_key *key, const struct rp_qp *qp)
{
	struct rp_wire_qp wire = { .address = qp->remote };
	struct rp_qp_rx *rx;

	wire.qpn = qp->remote_qpn;
	if (!wire.qpn) {
		wire.qpn = key->qpn;
		wire.ifindex = qp->ifindex;
	}
	census_forget_tx(key, &wire);
	if (qp->source == RP_QP_READ)
		census_forget_hints(key, qp);
	wire.qpn = key->qpn;
	wire.ifindex = 0;
	rx = bpf_map_lookup_elem(&qp_rx, &wire);
	if (rx && rx->qp.device_index == key->device_index && rx->qp.qpn == key->qpn)
		bpf_map_delete_elem(&qp_rx, &wire);
	/* as the tool enters one whose peer it does not know */
	__builtin_memset(&wire.address, 0, sizeof(wire.address));
	rx = bpf_map_lookup_elem(&qp_rx, &wire);
	if (rx && rx->qp.device_index == key->device_index && rx->qp.qpn == key->qpn)
		bpf_map_delete_elem(&qp_rx, &wire);
}

static __always_inline void census_enter_wire(const struct rp_qp_key *key, struct rp_qp *qp)
{
	struct rp_wire_qp wire = { .address = qp->remote };
	struct rp_qp_tx tx = {};
	struct rp_qp_rx rx = {};

	tx.qp = *key;
	tx.class = RP_CLASSES_MAX;
	tx.class_told = RP_CLASSES_MAX;
	tx.job = qp->job;
	tx.job_peer = qp->job_peer;
	rx.qp = *key;
	rx.remote_qpn = qp->remote_qpn;
	rx.job = qp->job;
	rx.job_peer = qp->job_peer;
	wire.qpn = qp->remote_qpn;
	if (!wire.qpn) {
		wire.qpn = key->qpn;
		wire.ifindex = qp->ifindex;
	}
	if (bpf_map_update_elem(&qp_tx, &wire, &tx, BPF_ANY))
		rp_event(RP_EVENT_qp_table_full);
	wire.qpn = key->qpn;
	wire.ifindex = 0;		/* ports hear for their device */
	if (bpf_map_update_elem(&qp_rx, &wire, &rx, BPF_ANY))
		rp_event(RP_EVENT_qp_table_full);
}

static __always_inline int census_created(const struct ib_qp *pointer, bool kernel)
{
	struct rp_qp_key key;
	struct rp_qp *qp;
	u64 id;

	if (!pointer || (unsigned long)pointer >= (unsigned long)-4095)
		return 0;
	key = census_key(pointer);
	if (bpf_map_update_elem(&qps, &key, &new_qp, BPF_ANY)) {
		rp_event(RP_EVENT_qp_table_full);
		return 0;
	}
	qp = bpf_map_lookup_elem(&qps, &key);
	if (!qp)
		return 0;
	qp->type = (enum rp_qp_type)BPF_CORE_READ(pointer, qp_type);
	qp->ifindex = census_ifindex(pointer);
	BPF_CORE_READ_STR_INTO(&qp->device, pointer, device, name);
	qp->created_ns = bpf_ktime_get_ns();
	qp->changed_ns = qp->created_ns;
	qp->class = RP_CLASSES_MAX;
	qp->job = RP_JOBS_MAX;
	qp->job_peer = RP_JOB_PEERS_MAX;
	if (!kernel) {
		id = bpf_get_current_cgroup_id();
		qp->pid = bpf_get_current_pid_tgid() >> 32;
		qp->uid = bpf_get_current_uid_gid();
		bpf_get_current_comm(qp->comm, sizeof(qp->comm));
		qp->cgroup_id = id;
		census_cgroup(qp->cgroup);
		qp->job = rp_job_join(id);
	}
	rp_event(RP_EVENT_qp_created);
	return 0;
}

static __always_inline void census_address(struct rp_qp *qp, const struct ib_qp_attr *attr,
					   int mask)
{
	if (mask & QP_ATTR_DEST_QPN)
		qp->remote_qpn = BPF_CORE_READ(attr, dest_qp_num);
	/* IB_MTU_256 is 1 */
	if (mask & QP_ATTR_PATH_MTU)
		qp->path_mtu_bytes = 128u << (BPF_CORE_READ(attr, path_mtu) & 7);
	if (mask & QP_ATTR_AV && BPF_CORE_READ(attr, ah_attr.type) == AH_ROCE) {
		BPF_CORE_READ_INTO(&qp->remote, attr, ah_attr.grh.dgid);
		qp->flow_label = BPF_CORE_READ(attr, ah_attr.grh.flow_label);
	}
}

static __always_inline int census_modified(const struct ib_qp *pointer,
					   const struct ib_qp_attr *attr, int mask)
{
	struct rp_qp_key key = census_key(BPF_CORE_READ(pointer, real_qp));
	struct rp_qp *qp = bpf_map_lookup_elem(&qps, &key);
	u32 state;

	if (!qp)
		return 0;
	if (mask & (QP_ATTR_AV | QP_ATTR_DEST_QPN) || !qp->ifindex) {
		qp->ifindex = census_ifindex(pointer);
		census_address(qp, attr, mask);
		if (qp->remote_qpn)
			qp->udp_source_port = rp_udp_source_port(qp->flow_label, key.qpn,
								 qp->remote_qpn);
	}
	qp->changed_ns = bpf_ktime_get_ns();
	if (!(mask & QP_ATTR_STATE))
		return 0;
	state = BPF_CORE_READ(attr, qp_state);
	qp->state = state;
	if (state == RP_QP_RTR) {
		if (qp->remote_qpn)
			qp->job_peer = rp_job_host(qp->job, &qp->remote);
		census_enter_wire(&key, qp);
	} else if (state == RP_QP_RESET) {
		census_forget_wire(&key, qp);
	}
	return 0;
}

static __always_inline int census_destroyed(const struct ib_qp *pointer)
{
	struct rp_qp_key key = census_key(pointer);
	struct rp_qp *qp;

	/* an XRC target that was opened a second time: the QP itself stays */
	if (BPF_CORE_READ(pointer, real_qp) != pointer)
		return 0;
	qp = bpf_map_lookup_elem(&qps, &key);
	if (!qp)
		return 0;
	census_forget_wire(&key, qp);
	rp_job_leave(qp->job);
	bpf_map_delete_elem(&qps, &key);
	rp_event(RP_EVENT_qp_destroyed);
	return 0;
}

static __always_inline const void *census_returned(void *ctx)
{
	u64 value = 0;

	return bpf_get_func_ret(ctx, &value) ? NULL : (const void *)value;
}

SEC("fexit/ib_create_qp_user")
int census_create_user(u64 *ctx)
{
	return census_created(census_returned(ctx), false);
}

SEC("fexit/ib_create_qp_kernel")
int census_create_kernel(u64 *ctx)
{
	return census_created(census_returned(ctx), true);
}

/* ib_modify_qp_with_udata(qp, attr, mask, udata) */
SEC("fexit/ib_modify_qp_with_udata")
int census_modify_user(u64 *ctx)
{
	if (census_returned(ctx))
		return 0;
	return census_modified((void *)ctx[0], (void *)ctx[1], ctx[2]);
}

/* ib_modify_qp(qp, attr, mask) */
SEC("fexit/ib_modify_qp")
int census_modify_kernel(u64 *ctx)
{
	if (census_returned(ctx))
		return 0;
	return census_modified((void *)ctx[0], (void *)ctx[1], ctx[2]);
}

/* ib_destroy_qp_user(qp, udata) */
SEC("fentry/ib_destroy_qp_user")
int census_destroy(u64 *ctx)
{
	return census_destroyed((void *)ctx[0]);
}

SEC("kretprobe/ib_create_qp_user")
int BPF_KRETPROBE(census_kprobe_create_user, void *qp)
{
	return census_created(qp, false);
}

SEC("kretprobe/ib_create_qp_kernel")
int BPF_KRETPROBE(census_kprobe_create_kernel, void *qp)
{
	return census_created(qp, true);
}

SEC("kprobe/ib_modify_qp_with_udata")
int BPF_KPROBE(census_kprobe_modify_user, void *qp, void *attr, int mask)
{
	return census_modified(qp, attr, mask);
}

SEC("kprobe/ib_modify_qp")
int BPF_KPROBE(census_kprobe_modify_kernel, void *qp, void *attr, int mask)
{
	return census_modified(qp, attr, mask);
}

SEC("kprobe/ib_destroy_qp_user")
int BPF_KPROBE(census_kprobe_destroy, void *qp)
{
	return census_destroyed(qp);
}

char LICENSE[] SEC("license") = "GPL";
