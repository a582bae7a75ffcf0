// SPDX-License-Identifier: GPL-2.0
/*
 * For test_wire: a frame leaves by the netdevice whose number is its mark, as what the
 * module makes does: without a socket, and received nowhere. As what is forwarded it
 * leaves when it came in by some netdevice.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

SEC("tc")
int leave(struct __sk_buff *skb)
{
	unsigned int ifindex = skb->mark;

	skb->mark = 0;
	return bpf_clone_redirect(skb, ifindex, 0) ? TC_ACT_SHOT : TC_ACT_OK;
}

/* the same, with a tag that is not in the frame, as a VLAN device on a NIC leaves it */
SEC("tc")
int leave_tagged(struct __sk_buff *skb)
{
	unsigned int ifindex = skb->mark;

	skb->mark = 0;
	if (bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), 0x1123))
		return TC_ACT_SHOT;
	return bpf_clone_redirect(skb, ifindex, 0) ? TC_ACT_SHOT : TC_ACT_OK;
}

char LICENSE[] SEC("license") = "GPL";
