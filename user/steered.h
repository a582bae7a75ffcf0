/* SPDX-License-Identifier: GPL-2.0 */
/* QPs as the module for RDMA devices has them: what was asked for, and what was set. */
#ifndef ROCEPATH_USER_STEERED_H
#define ROCEPATH_USER_STEERED_H

#include "rdma.h"

/**
 * struct rp_steered_qp - one QP
 * @device: name of its RDMA device, inside @nlh
 * @qpn: its number
 * @nlh: what the module said of it
 * @found: somebody asked for it
 */
struct rp_steered_qp {
	const char *device;
	uint32_t qpn;
	struct nlmsghdr *nlh;
	bool found;
};

/**
 * struct rp_steered - all that the module has, sorted
 * @there: the module is loaded and may be asked
 */
struct rp_steered {
	struct rp_steered_qp *at;
	size_t count, room;
	bool there;
};

void rp_steered_read(struct rp_steered *steered);
void rp_steered_drop(struct rp_steered *steered);
struct rp_steered_qp *rp_steered_find(const struct rp_steered *steered, const char *device,
				      uint32_t qpn);
void rp_steered_attrs(const struct rp_steered_qp *qp, struct rp_attrs *attrs);

#endif /* ROCEPATH_USER_STEERED_H */
