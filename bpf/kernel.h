/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the kernel's structs that programs read: CO-RE finds the fields in the
 * running kernel's BTF, by name. Nothing here is a layout.
 */
#ifndef ROCEPATH_BPF_KERNEL_H
#define ROCEPATH_BPF_KERNEL_H

#include <linux/bpf.h>
#include <rocepath/types.h>

/* of fields CO-RE looks at the kind of type as well */
enum ib_qp_type { IB_QP_TYPE_ANY };
enum ib_qp_state { IB_QP_STATE_ANY };
enum ib_mtu { IB_MTU_ANY };
enum rdma_ah_attr_type { RDMA_AH_TYPE_ANY };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct sock_common {
	struct {
		struct net *net;
	} skc_net;
};

struct sock {
	struct sock_common __sk_common;
	unsigned int sk_kern_sock : 1;
};

struct inet_sock {
	struct sock sk;
};

struct udp_sock {
	struct inet_sock inet;
};

struct net_device {
	int ifindex;
};

struct kernfs_node {
	struct kernfs_node *parent;
	const char *name;
};

/* since 6.15 */
struct kernfs_node___rcu {
	struct kernfs_node *__parent;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	struct css_set *cgroups;
};

struct ib_port_data {
	struct net_device *netdev;
};

struct ib_device {
	char name[64];
	u32 index;
	struct ib_port_data *port_data;
};

struct ib_qp {
	struct ib_device *device;
	struct ib_qp *real_qp;
	u32 qp_num;
	u32 port;
	enum ib_qp_type qp_type;
};

union ib_gid {
	u8 raw[16];
};

struct ib_global_route {
	union ib_gid dgid;
	u32 flow_label;
};

struct rdma_ah_attr {
	struct ib_global_route grh;
	enum rdma_ah_attr_type type;
};

struct ib_qp_attr {
	enum ib_qp_state qp_state;
	enum ib_mtu path_mtu;
	u32 dest_qp_num;
	struct rdma_ah_attr ah_attr;
};

#pragma clang attribute pop

#endif /* ROCEPATH_BPF_KERNEL_H */
