/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_EVENT_H
#define ROCEPATH_RDMA_EVENT_H

#include <linux/in6.h>
#include <linux/types.h>

struct rp_rdma_device;
struct rp_rdma_path_change;
struct rp_rdma_qp;
struct rp_rdma_rows;

void rp_rdma_event_port(struct rp_rdma_device *rdev, bool up, const struct rp_rdma_rows *rows);
void rp_rdma_event_path(struct rp_rdma_device *rdev, const struct in6_addr *local,
			const struct in6_addr *remote, const struct rp_rdma_path_change *change,
			const struct rp_rdma_rows *rows);
void rp_rdma_event_acted(struct rp_rdma_qp *row, bool moved, int err, u32 took_us);

#endif /* ROCEPATH_RDMA_EVENT_H */
