/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_HOOK_H
#define ROCEPATH_RDMA_HOOK_H

const char *rp_rdma_hook_reason(void);
void rp_rdma_hook_init(void);
void rp_rdma_hook_exit(void);

#endif /* ROCEPATH_RDMA_HOOK_H */
