/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_CM_H
#define ROCEPATH_RDMA_CM_H

#include <linux/in6.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/**
 * struct rp_rdma_cm - a resolution: where is the peer's UD QP?
 * @id: rdma_cm's, NULL: none is under way
 * @finished: it came to an end; all below is there
 * @err: 0 or a negative errno
 * @attr: address vector, with a reference to our GID
 * @qpn: of the peer's UD QP
 * @qkey: of it
 * @done: called when it is finished; may sleep
 */
struct rp_rdma_cm {
	struct rdma_cm_id *id;
	bool finished;
	int err;
	struct rdma_ah_attr attr;
	u32 qpn;
	u32 qkey;
	void (*done)(struct rp_rdma_cm *cm);
};

int rp_rdma_cm_resolve(struct rp_rdma_cm *cm, const struct in6_addr *local,
		       const struct in6_addr *remote);
bool rp_rdma_cm_finished(const struct rp_rdma_cm *cm);
void rp_rdma_cm_end(struct rp_rdma_cm *cm);

int rp_rdma_cm_init(void);
void rp_rdma_cm_exit(void);

/* whom a request is for (probe.c). Return: false: no probes there */
bool rp_rdma_cm_endpoint(const struct ib_device *ib, u32 port, u32 *qpn, u32 *qkey);

#endif /* ROCEPATH_RDMA_CM_H */
