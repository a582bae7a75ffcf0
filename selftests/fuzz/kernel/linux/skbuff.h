/* SPDX-License-Identifier: GPL-2.0 */
/* What kmod/parse.c knows of a socket buffer, for the fuzzer that runs it outside the kernel. */
#ifndef ROCEPATH_FUZZ_SKBUFF_H
#define ROCEPATH_FUZZ_SKBUFF_H

#include <stdlib.h>

#include <rocepath/types.h>

/* so that the IP header behind Ethernet's is aligned */
#define NET_IP_ALIGN 2

/**
 * struct sk_buff - a packet of which only the first bytes are linear
 * @data: those, in memory of just their size
 * @len: bytes of the packet
 * @data_len: of these, behind the linear ones
 * @packet: all of it
 */
struct sk_buff {
	unsigned char *data;
	u32 len;
	u32 data_len;
	const u8 *packet;
};

static inline u32 skb_headlen(const struct sk_buff *skb)
{
	return skb->len - skb->data_len;
}

static inline void *skb_header_pointer(const struct sk_buff *skb, u32 offset, u32 len, void *buffer)
{
	if (offset + len <= skb_headlen(skb))
		return skb->data + offset;
	if (offset + len > skb->len)
		return NULL;
	memcpy(buffer, skb->packet + offset, len);
	return buffer;
}

static inline void skb_free_head(struct sk_buff *skb)
{
	if (skb->data)
		free(skb->data - NET_IP_ALIGN);
}

static inline void skb_set_headlen(struct sk_buff *skb, u32 len)
{
	skb_free_head(skb);
	skb->data = (u8 *)malloc(NET_IP_ALIGN + len) + NET_IP_ALIGN;
	memcpy(skb->data, skb->packet, len);
	skb->data_len = skb->len - len;
}

static inline bool pskb_may_pull(struct sk_buff *skb, u32 len)
{
	if (len > skb->len)
		return false;
	if (len > skb_headlen(skb))
		skb_set_headlen(skb, len);
	return true;
}

#endif /* ROCEPATH_FUZZ_SKBUFF_H */
