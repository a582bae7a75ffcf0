// SPDX-License-Identifier: GPL-2.0
/* The parser of the programs alone, for test_parse: what it says of a frame. */
#include <linux/pkt_cls.h>

#include "parse.h"

struct rp_packet packet;
u32 verdict;

SEC("xdp.frags")
int parse_xdp(struct xdp_md *ctx)
{
	struct rp_frame f = { (void *)(long)ctx->data, (void *)(long)ctx->data_end, ctx, true };
	struct rp_packet p = {};

	verdict = rp_parse(&f, &p, RP_WANT_ALL);
	packet = p;
	return XDP_PASS;
}

SEC("tc")
int parse_tc(struct __sk_buff *skb)
{
	struct rp_packet p = {};

	verdict = rp_parse_skb(skb, &p);
	packet = p;
	return TC_ACT_OK;
}

char LICENSE[] SEC("license") = "GPL";
