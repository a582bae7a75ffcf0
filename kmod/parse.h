/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_PARSE_H
#define ROCEPATH_PARSE_H

#include <linux/in6.h>
#include <linux/skbuff.h>
#include <rocepath/roce.h>

__be16 rp_parse_l3(const struct sk_buff *skb, u32 offset, __be16 proto, u32 *l3);
enum rp_roce_verdict rp_parse(struct sk_buff *skb, u32 offset, __be16 proto, struct rp_roce *r,
			      u32 *l3);
void rp_parse_addresses(const u8 *l3, bool ipv6, struct in6_addr *src, struct in6_addr *dst);

#endif /* ROCEPATH_PARSE_H */
