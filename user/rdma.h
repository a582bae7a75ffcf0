/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The family "rocepath_rdma": what the module for RDMA devices tells, and what
 * it is told.
 */
#ifndef ROCEPATH_USER_RDMA_H
#define ROCEPATH_USER_RDMA_H

#include "attrs.h"
#include "cli.h"

extern const struct rp_set rp_rdma_device_attrs, rp_rdma_class_attrs, rp_rdma_policy_attrs,
	rp_rdma_plan_attrs, rp_rdma_qp_attrs, rp_rdma_path_attrs, rp_rdma_peer_attrs,
	rp_rdma_key_attrs, rp_rdma_event_attrs;
extern const char *const rp_rdma_action_names[], *const rp_rdma_entropy_names[];

bool rp_rdma_is_loaded(void);
int rp_rdma_connect(struct rp_cli *cli);

#endif /* ROCEPATH_USER_RDMA_H */
