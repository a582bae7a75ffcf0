/* SPDX-License-Identifier: GPL-2.0 */
/* Programs on netdevices by links, which are pinned. */
#ifndef ROCEPATH_USER_POLICY_ATTACH_H
#define ROCEPATH_USER_POLICY_ATTACH_H

#include "programs.h"

/* enum bpf_attach_type of 6.6; older headers do not have them */
#define RP_TCX_INGRESS 46
#define RP_TCX_EGRESS 47

int rp_has_tcx(void);
int rp_attach_xdp(const struct rp_programs *programs, int ifindex);
int rp_attach_tcx(const struct rp_programs *programs, enum rp_program program, int ifindex,
		  bool egress);
bool rp_is_attached(enum rp_program program, int ifindex);
void rp_detach(enum rp_program program, int ifindex);
int rp_hold(const struct rp_programs *programs, int ifindex);
void rp_release(int held);

#endif /* ROCEPATH_USER_POLICY_ATTACH_H */
