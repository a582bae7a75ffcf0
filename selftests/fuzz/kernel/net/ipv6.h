/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_FUZZ_IPV6_H
#define ROCEPATH_FUZZ_IPV6_H

#include <rocepath/types.h>

static inline void ipv6_addr_set_v4mapped(const __be32 address, struct in6_addr *mapped)
{
	mapped->s6_addr32[0] = 0;
	mapped->s6_addr32[1] = 0;
	mapped->s6_addr32[2] = cpu_to_be32(0xffff);
	mapped->s6_addr32[3] = address;
}

#endif /* ROCEPATH_FUZZ_IPV6_H */
