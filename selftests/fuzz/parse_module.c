// SPDX-License-Identifier: GPL-2.0
/* The module's way from a socket buffer to the parser, with socket buffers of our own. */
#include "../../kmod/parse.c"

#include "parse_module.h"

enum rp_roce_verdict parse_by_module(const u8 *frame, u32 len, u32 linear, struct rp_roce *r,
				     u32 *l3, struct rp_address *source,
				     struct rp_address *destination)
{
	struct sk_buff skb = { .len = len, .packet = frame };
	struct in6_addr from, to;
	enum rp_roce_verdict verdict;
	__be16 proto;

	memcpy(&proto, frame + ETH_HLEN - sizeof(proto), sizeof(proto));
	skb_set_headlen(&skb, linear);
	verdict = rp_parse(&skb, ETH_HLEN, proto, r, l3);
	if (verdict == RP_ROCE_OK) {
		rp_parse_addresses(skb.data + *l3, r->ipv6, &from, &to);
		memcpy(source, &from, sizeof(from));
		memcpy(destination, &to, sizeof(to));
	}
	skb_free_head(&skb);
	return verdict;
}
