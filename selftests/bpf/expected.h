/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs' parser is to say of a frame: as the module's, and a walk over the headers. */
#ifndef ROCEPATH_BPF_EXPECTED_H
#define ROCEPATH_BPF_EXPECTED_H

#include "roce_packet.h"

/* the module's parser asked for more than there is */
#define EXPECTED_NOTHING ((enum rp_verdict)-1)

/**
 * expected_verdict() - what a frame is
 * @frame: from the Ethernet header on
 * @len: bytes of it
 * @l3: filled in: where the IP header is, or would be
 * @r: filled in on RP_ROCE_FRAME
 */
enum rp_verdict expected_verdict(const u8 *frame, u32 len, u32 *l3, struct rp_roce *r);

/** expected_packet() - what of @p is not as @r has it; NULL: nothing. */
const char *expected_packet(const struct rp_packet *p, const u8 *frame, u32 l3,
			    const struct rp_roce *r);

#endif /* ROCEPATH_BPF_EXPECTED_H */
