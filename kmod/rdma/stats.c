// SPDX-License-Identifier: GPL-2.0
#include "stats.h"

#define RP_NAME(id, name) [RP_RDMA_##id] = #name,
const char *const rp_rdma_count_name[RP_RDMA_COUNTS] = {
	RP_RDMA_COUNTERS(RP_NAME)
};
