/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_FUZZ_PARSE_MODULE_H
#define ROCEPATH_FUZZ_PARSE_MODULE_H

#include <rocepath/policy.h>
#include <rocepath/roce.h>

/**
 * parse_by_module() - kmod/parse.c, on a frame of which the first bytes are in one piece
 * @frame: from the Ethernet header on
 * @len: bytes of it
 * @linear: of these, in one piece
 * @r: filled in on RP_ROCE_OK
 * @l3: filled in: where the IP header is
 * @source: filled in on RP_ROCE_OK
 * @destination: the same
 */
enum rp_roce_verdict parse_by_module(const u8 *frame, u32 len, u32 linear, struct rp_roce *r,
				     u32 *l3, struct rp_address *source,
				     struct rp_address *destination);

#endif /* ROCEPATH_FUZZ_PARSE_MODULE_H */
