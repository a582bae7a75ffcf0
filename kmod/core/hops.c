// SPDX-License-Identifier: GPL-2.0
#include "hops.h"

void rp_hops_put(struct rp_hops *h, const struct rp_hop *hop)
{
	h->hop[h->next] = *hop;
	h->next = (h->next + 1) % RP_HOPS_MAX;
}

bool rp_hops_take(struct rp_hops *h, u16 id, const struct in6_addr *peer, u64 now_ns,
		  struct rp_hop *hop)
{
	u32 i;

	for (i = 0; i < RP_HOPS_MAX; i++) {
		struct rp_hop *at = &h->hop[i];

		if (!at->hops || at->id != id || memcmp(&at->peer, peer, sizeof(*peer)) ||
		    now_ns > at->sent_ns + RP_HOP_LIFE_NS)
			continue;
		*hop = *at;
		at->hops = 0;
		return true;
	}
	return false;
}
