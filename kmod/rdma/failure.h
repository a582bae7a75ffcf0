/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_FAILURE_H
#define ROCEPATH_RDMA_FAILURE_H

#include <linux/in6.h>
#include <linux/types.h>

struct ib_event;
struct ib_event_handler;
struct rp_rdma_device;
struct work_struct;

int rp_rdma_failure_tell(struct rp_rdma_device *rdev, const struct in6_addr *local,
			 const struct in6_addr *remote, u16 ev, bool down);
void rp_rdma_failure_event(struct ib_event_handler *handler, struct ib_event *event);
void rp_rdma_failure_act(struct work_struct *work);
void rp_rdma_failure_flush(void);
int rp_rdma_failure_init(void);
void rp_rdma_failure_exit(void);

#endif /* ROCEPATH_RDMA_FAILURE_H */
