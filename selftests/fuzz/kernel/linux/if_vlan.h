/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_FUZZ_IF_VLAN_H
#define ROCEPATH_FUZZ_IF_VLAN_H

#include <linux/if_ether.h>
#include <rocepath/types.h>

#define VLAN_HLEN 4

struct vlan_hdr {
	__be16 h_vlan_TCI;
	__be16 h_vlan_encapsulated_proto;
};

static inline bool eth_type_vlan(__be16 type)
{
	return type == cpu_to_be16(ETH_P_8021Q) || type == cpu_to_be16(ETH_P_8021AD);
}

#endif /* ROCEPATH_FUZZ_IF_VLAN_H */
