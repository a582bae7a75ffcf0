// SPDX-License-Identifier: GPL-2.0
/*
 * The programs' parser, compiled for this machine: the source that clang makes BPF of, with
 * helpers of our own. What is read in place ends where a page does, and the next one is not
 * there, so that a byte too many is a fault here as it is to the verifier.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <bpf/bpf_endian.h>
#include <rocepath/types.h>

struct __sk_buff;
struct xdp_md;

static const u8 *frame_all;
static u32 frame_len;

static long load_bytes(u32 offset, void *to, u32 len)
{
	if (offset > frame_len || len > frame_len - offset)
		return -EFAULT;
	memcpy(to, frame_all + offset, len);
	return 0;
}

static long bpf_xdp_load_bytes(struct xdp_md *ctx, u32 offset, void *to, u32 len)
{
	return load_bytes(offset, to, len);
}

static long bpf_skb_load_bytes(const void *ctx, u32 offset, void *to, u32 len)
{
	return load_bytes(offset, to, len);
}

static u64 bpf_xdp_get_buff_len(struct xdp_md *ctx)
{
	return frame_len;
}

/* programs read packets at any address: where a CPU cannot, the verifier refuses them */
#define ANY_ADDRESS __attribute__((no_sanitize("alignment")))
#undef __always_inline
#define __always_inline inline ANY_ADDRESS __attribute__((__always_inline__))
#define __noinline ANY_ADDRESS __attribute__((__noinline__))
#define __weak __attribute__((__weak__))
#define SEC(name)

#include "parse.bpf.c"

#include "native.h"

/* Return: @linear bytes at the end of a page below 4 GiB */
static u8 *in_place(const u8 *frame, u32 len, u32 linear)
{
	static u8 *page;

	if (!page) {
		page = mmap(NULL, 2 * FRAME_MAX, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
		if (page == MAP_FAILED || mprotect(page + FRAME_MAX, FRAME_MAX, PROT_NONE))
			abort();
	}
	frame_all = frame;
	frame_len = len;
	return memcpy(page + FRAME_MAX - linear, frame, linear);
}

static struct __sk_buff skb_of(const u8 *frame, u32 len, u32 linear)
{
	u8 *data = in_place(frame, len, linear);

	return (struct __sk_buff){
		.data = (long)data, .data_end = (long)data + linear, .len = len,
	};
}

enum rp_verdict parse_by_xdp(const u8 *frame, u32 len, u32 linear, struct rp_packet *p)
{
	u8 *data = in_place(frame, len, linear);
	struct xdp_md ctx = { .data = (long)data, .data_end = (long)data + linear };

	parse_xdp(&ctx);
	*p = packet;
	return verdict;
}

enum rp_verdict parse_by_tc(const u8 *frame, u32 len, u32 linear, struct rp_packet *p)
{
	struct __sk_buff skb = skb_of(frame, len, linear);

	parse_tc(&skb);
	*p = packet;
	return verdict;
}

ANY_ADDRESS
enum rp_verdict parse_by_tc_quickly(const u8 *frame, u32 len, u32 linear, struct rp_packet *p)
{
	struct __sk_buff skb = skb_of(frame, len, linear);

	memset(p, 0, sizeof(*p));
	return rp_parse_skb_quickly(&skb, p, RP_WANT_ALL);
}
