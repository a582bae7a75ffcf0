/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 in a frame, for XDP and tc. The table of opcodes is the module's; that this
 * parser and kmod/core/roce.c agree on every packet is tested (selftests/bpf).
 *
 *   Ethernet | up to two VLAN tags | IPv4 with options, or IPv6 | UDP to 4791 | BTH
 *
 * Headers are read in place where they are in the linear part; where they are not
 * (frags, skbs of which only the MAC header is linear) they are copied.
 */
#ifndef ROCEPATH_BPF_PARSE_H
#define ROCEPATH_BPF_PARSE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <rocepath/opcodes.h>
#include <rocepath/policy.h>

#include "roce_packet.h"

#define VLAN_DEPTH 2
#define VLAN_LEN 4
#define IP4_FRAGMENT 0x3fff
#define IP4_OFFSET 0x1fff
#define IP6_OFFSET 0xfff8
#define BTH_TVER 0x0f
#define PAYLOAD_MIN (RP_BTH_LEN + RP_ICRC_LEN)
/* more than a sender can ask its own host for without being root, and than routers pass */
#define IP6_EXTENSIONS 8
/* where headers begin at most: VLAN tags, IPv4 options, or the longest chain that is followed */
#define OFFSET_MASK 0x3fff

/**
 * struct rp_frame - the bytes to parse
 * @data: first byte, NULL: not to be read in place
 * @end: behind the last one that is linear
 * @ctx: struct __sk_buff or struct xdp_md
 * @xdp: which of them
 * @in_place: what is not linear is not looked at
 */
struct rp_frame {
	void *data;
	void *end;
	void *ctx;
	bool xdp;
	bool in_place;
};

/* What of a packet is wanted beyond the BTH; constants, so that the rest costs nothing. */
#define RP_WANT_SOURCE		1
#define RP_WANT_DESTINATION	2
#define RP_WANT_EXTENDED	4
#define RP_WANT_ALL		7

static __always_inline u32 rp_frame_len(const struct rp_frame *f)
{
	if (f->xdp)
		return bpf_xdp_get_buff_len(f->ctx);
	return ((struct __sk_buff *)f->ctx)->len;
}

/* @size bytes at @offset, in place or in @copy; NULL: the frame is shorter */
static __always_inline void *rp_frame_at(const struct rp_frame *f, u32 offset, u32 size, void *copy)
{
	void *at;
	long err;

	offset &= OFFSET_MASK;
	if (f->data) {
		at = f->data + offset;
		if (likely(at + size <= f->end))
			return at;
	}
	if (f->in_place)
		return NULL;
	if (f->xdp)
		err = bpf_xdp_load_bytes(f->ctx, offset, copy, size);
	else
		err = bpf_skb_load_bytes(f->ctx, offset, copy, size);
	return err ? NULL : copy;
}

static __always_inline void rp_address_map4(struct rp_address *a, u32 ip4)
{
	__builtin_memset(a, 0, 10);
	a->bytes[10] = 0xff;
	a->bytes[11] = 0xff;
	*(u32 *)(a->bytes + 12) = ip4;
}

static __always_inline bool rp_is_vlan(u16 proto)
{
	return proto == bpf_htons(ETH_P_8021Q) || proto == bpf_htons(ETH_P_8021AD);
}

/* the UDP header of what is not a whole packet: does it go to 4791? */
static __always_inline bool rp_to_4791(const struct rp_frame *f, u32 offset)
{
	struct udphdr copy, *udp = rp_frame_at(f, offset, sizeof(*udp), &copy);

	return udp && udp->dest == bpf_htons(RP_ROCE_PORT);
}

/* an IPv6 header of 8 bytes or more that has another one behind it */
struct rp_ip6_extension {
	u8 next;
	u8 len;
	__be16 offset;
};

static __always_inline bool rp_ip6_extends(u8 proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING || proto == IPPROTO_DSTOPTS ||
	       proto == IPPROTO_FRAGMENT || proto == IPPROTO_AH || proto == IPPROTO_MH ||
	       proto == 139 /* HIP */ || proto == 140 /* Shim6 */;
}

/* No RoCE sender makes them, but receivers step over them, so an intruder could. */
static __always_inline enum rp_verdict rp_behind(const struct rp_frame *f, u32 offset, u32 proto)
{
	struct rp_ip6_extension copy, *x;
	int i;

	for (i = 0; i < IP6_EXTENSIONS && rp_ip6_extends(proto); i++) {
		x = rp_frame_at(f, offset, sizeof(*x), &copy);
		if (!x)
			return RP_OTHER;
		if (proto == IPPROTO_FRAGMENT) {
			if (x->offset & bpf_htons(IP6_OFFSET))
				return RP_OTHER;
			offset += 8;
		} else if (proto == IPPROTO_AH) {
			offset += (x->len + 2) * 4;
		} else {
			offset += (x->len + 1) * 8;
		}
		proto = x->next;
	}
	if (rp_ip6_extends(proto))
		return RP_EXTENDED;
	return proto == IPPROTO_UDP && rp_to_4791(f, offset) ? RP_EXTENDED : RP_OTHER;
}

/* global functions: verified once, not for each way that leads to them */
__weak __noinline int rp_behind_skb(struct __sk_buff *ctx, u32 offset, u32 proto)
{
	struct rp_frame f = { NULL, NULL, ctx, false };

	return rp_behind(&f, offset, proto);
}

__weak __noinline int rp_behind_xdp(struct xdp_md *ctx, u32 offset, u32 proto)
{
	struct rp_frame f = { NULL, NULL, ctx, true };

	return rp_behind(&f, offset, proto);
}

static __always_inline enum rp_verdict rp_parse_ip4(const struct rp_frame *f, struct rp_packet *p,
						    u32 *udp, u32 *end, u32 want)
{
	struct iphdr copy, *ip = rp_frame_at(f, p->l3, sizeof(*ip), &copy);
	u32 header;

	if (!ip)
		return RP_OTHER;
	header = ip->ihl * 4;
	if (header < sizeof(*ip) || ip->protocol != IPPROTO_UDP)
		return RP_OTHER;
	*udp = p->l3 + header;
	if (unlikely(ip->frag_off & bpf_htons(IP4_FRAGMENT))) {
		if (ip->frag_off & bpf_htons(IP4_OFFSET))
			return RP_OTHER;
		return rp_to_4791(f, *udp) ? RP_FRAGMENT : RP_OTHER;
	}
	p->ipv6 = false;
	p->tos = ip->tos;
	if (want & RP_WANT_SOURCE)
		rp_address_map4(&p->source, ip->saddr);
	if (want & RP_WANT_DESTINATION)
		rp_address_map4(&p->destination, ip->daddr);
	*end = p->l3 + bpf_ntohs(ip->tot_len);
	return RP_ROCE_FRAME;
}

static __always_inline enum rp_verdict rp_parse_ip6(const struct rp_frame *f, struct rp_packet *p,
						    u32 *udp, u32 *end, u32 want)
{
	struct ipv6hdr copy, *ip = rp_frame_at(f, p->l3, sizeof(*ip), &copy);

	if (!ip)
		return RP_OTHER;
	*udp = p->l3 + sizeof(*ip);
	if (unlikely(ip->nexthdr != IPPROTO_UDP)) {
		if (!rp_ip6_extends(ip->nexthdr))
			return RP_OTHER;
		return f->xdp ? rp_behind_xdp(f->ctx, *udp, ip->nexthdr) :
				rp_behind_skb(f->ctx, *udp, ip->nexthdr);
	}
	p->ipv6 = true;
	p->tos = bpf_ntohs(*(__be16 *)ip) >> 4;
	if (want & RP_WANT_SOURCE)
		__builtin_memcpy(&p->source, &ip->saddr, sizeof(p->source));
	if (want & RP_WANT_DESTINATION)
		__builtin_memcpy(&p->destination, &ip->daddr, sizeof(p->destination));
	*end = p->l3 + sizeof(*ip) + bpf_ntohs(ip->payload_len);
	return RP_ROCE_FRAME;
}

/* struct rp_bth and what may follow it at once */
struct rp_bth {
	u8 opcode;
	u8 flags;
	__be16 pkey;
	__be32 qpn;
	__be32 psn;
};

static __always_inline enum rp_kind rp_kind_of(const struct rp_opcode *op, u32 qpn)
{
	if (op->kind == RP_KIND_CNP || op->kind == RP_KIND_CONTROL)
		return op->kind;
	if (qpn == RP_QPN_GSI)
		return RP_KIND_DATAGRAM;
	return op->need ? op->kind : RP_KIND_OTHER;
}

static __always_inline bool rp_has_reth(enum rp_kind kind, u8 opcode)
{
	u32 operation = opcode & 0x1f;

	return kind == RP_KIND_READ ||
	       (kind == RP_KIND_DATA &&
		(operation == RP_OP_WRITE_FIRST || operation == RP_OP_WRITE_ONLY ||
		 operation == RP_OP_WRITE_ONLY_IMM));
}

/* Return: false: it is behind the linear part, which is all that is looked at */
static __always_inline bool rp_parse_extended(const struct rp_frame *f, struct rp_packet *p)
{
	u32 offset = p->bth + RP_BTH_LEN, copy, *field;

	if (p->kind == RP_KIND_DATAGRAM)
		offset += 4;
	else if (rp_has_reth(p->kind, p->opcode))
		offset += 12;
	else
		return true;
	field = rp_frame_at(f, offset, sizeof(copy), &copy);
	if (!field)
		return !f->in_place || offset + sizeof(copy) > rp_frame_len(f);
	p->extended = bpf_ntohl(*field);
	if (p->kind == RP_KIND_DATAGRAM)
		p->extended &= 0xffffff;
	return true;
}

static __always_inline enum rp_verdict rp_parse_bth(const struct rp_frame *f, struct rp_packet *p,
						    u32 payload, u32 want)
{
	struct rp_bth copy, *bth = rp_frame_at(f, p->bth, sizeof(*bth), &copy);
	const struct rp_opcode *op;
	u8 aeth_copy, *aeth;

	if (!bth)
		return RP_MALFORMED;
	op = &rp_opcodes[bth->opcode];
	if ((bth->flags & BTH_TVER) || payload < op->need)
		return RP_MALFORMED;
	p->opcode = bth->opcode;
	p->qpn = bpf_ntohl(bth->qpn) & 0xffffff;
	p->psn = bpf_ntohl(bth->psn) & 0xffffff;
	p->kind = rp_kind_of(op, p->qpn);
	p->syndrome = 0;
	if (p->kind == RP_KIND_ACK) {
		aeth = rp_frame_at(f, p->bth + RP_BTH_LEN, 1, &aeth_copy);
		if (!aeth)
			return RP_MALFORMED;
		p->syndrome = *aeth;
		if (RP_AETH_TYPE(p->syndrome) != RP_AETH_ACK)
			p->kind = RP_KIND_NAK;
	}
	p->extended = 0;
	if (want & RP_WANT_EXTENDED && !rp_parse_extended(f, p))
		return RP_MALFORMED;
	return RP_ROCE_FRAME;
}

/**
 * rp_parse() - find RoCEv2 in a frame
 * @f: the frame
 * @p: filled in on RP_ROCE_FRAME
 * @want: RP_WANT_*, what of @p is filled in besides
 */
static __always_inline enum rp_verdict rp_parse(const struct rp_frame *f, struct rp_packet *p,
						u32 want)
{
	struct udphdr udp_copy, *udp;
	u32 offset = ETH_HLEN, at = 0, end = 0, len;
	enum rp_verdict verdict;
	u16 proto_copy, *proto;
	u8 version_copy, *version;
	int i;

	proto = rp_frame_at(f, offset - 2, 2, &proto_copy);
	for (i = 0; i < VLAN_DEPTH && proto && unlikely(rp_is_vlan(*proto)); i++) {
		offset += VLAN_LEN;
		proto = rp_frame_at(f, offset - 2, 2, &proto_copy);
	}
	if (!proto || (*proto != bpf_htons(ETH_P_IP) && *proto != bpf_htons(ETH_P_IPV6)))
		return RP_OTHER;
	p->l3 = offset;
	version = rp_frame_at(f, offset, 1, &version_copy);
	if (!version)
		return RP_OTHER;
	if (*version >> 4 == 4)
		verdict = rp_parse_ip4(f, p, &at, &end, want);
	else if (*version >> 4 == 6)
		verdict = rp_parse_ip6(f, p, &at, &end, want);
	else
		return RP_OTHER;
	if (verdict != RP_ROCE_FRAME)
		return verdict;

	udp = rp_frame_at(f, at, sizeof(*udp), &udp_copy);
	if (!udp || udp->dest != bpf_htons(RP_ROCE_PORT))
		return RP_OTHER;
	p->source_port = bpf_ntohs(udp->source);
	p->bth = at + RP_UDP_LEN;
	len = f->end - f->data;
	if (end > len)
		len = rp_frame_len(f);
	if (end > len || end < p->bth + PAYLOAD_MIN || bpf_ntohs(udp->len) != end - at ||
	    (end - p->bth) % 4)
		return RP_MALFORMED;
	p->icrc = end - RP_ICRC_LEN;
	return rp_parse_bth(f, p, end - p->bth, want);
}

/** rp_parse_skb() - the same for tc */
__weak __noinline int rp_parse_skb(struct __sk_buff *skb, struct rp_packet *p)
{
	struct rp_frame f = { (void *)(long)skb->data, (void *)(long)skb->data_end, skb, false };

	return p ? rp_parse(&f, p, RP_WANT_ALL) : RP_OTHER;
}

/*
 * The same, in line: what is not found in the linear part is looked for once more, or the
 * verifier would have to follow each header by two ways.
 */
static __always_inline int rp_parse_skb_quickly(struct __sk_buff *skb, struct rp_packet *p,
						u32 want)
{
	struct rp_frame f = { (void *)(long)skb->data, (void *)(long)skb->data_end, skb, false,
			      true };
	int verdict = rp_parse(&f, p, want);

	if (verdict != RP_ROCE_FRAME && unlikely(f.end - f.data < skb->len))
		verdict = rp_parse_skb(skb, p);
	return verdict;
}

/** rp_is_data() - does it carry data of an application? Those are paced, and notified of. */
static __always_inline bool rp_is_data(enum rp_kind kind)
{
	return kind == RP_KIND_DATA || kind == RP_KIND_RESPONSE || kind == RP_KIND_DATAGRAM;
}

/** rp_payload() - bytes of an application's data in it, pad included */
static __always_inline u32 rp_payload(const struct rp_packet *p)
{
	u32 all = p->icrc + RP_ICRC_LEN - p->bth, need = rp_opcodes[p->opcode].need;

	return all > need ? all - need : 0;
}

/* For each operation: is it the last packet of a message? */
#define RP_ENDS_MESSAGE ( \
	1u << RP_OP_SEND_LAST | 1u << RP_OP_SEND_LAST_IMM | 1u << RP_OP_SEND_ONLY | \
	1u << RP_OP_SEND_ONLY_IMM | 1u << RP_OP_WRITE_LAST | 1u << RP_OP_WRITE_LAST_IMM | \
	1u << RP_OP_WRITE_ONLY | 1u << RP_OP_WRITE_ONLY_IMM | 1u << RP_OP_READ_RESPONSE_LAST | \
	1u << RP_OP_READ_RESPONSE_ONLY | 1u << RP_OP_ATOMIC_ACK | 1u << RP_OP_SEND_LAST_INV | \
	1u << RP_OP_SEND_ONLY_INV)

/* The same of the first one: what was counted of a message that never ended is forgotten. */
#define RP_BEGINS_MESSAGE ( \
	1u << RP_OP_SEND_FIRST | 1u << RP_OP_SEND_ONLY | 1u << RP_OP_SEND_ONLY_IMM | \
	1u << RP_OP_WRITE_FIRST | 1u << RP_OP_WRITE_ONLY | 1u << RP_OP_WRITE_ONLY_IMM | \
	1u << RP_OP_READ_RESPONSE_FIRST | 1u << RP_OP_READ_RESPONSE_ONLY | \
	1u << RP_OP_ATOMIC_ACK | 1u << RP_OP_SEND_ONLY_INV)

/** rp_begins_message() - is it the first packet of a message? */
static __always_inline bool rp_begins_message(u8 opcode)
{
	return RP_BEGINS_MESSAGE >> (opcode & 0x1f) & 1;
}

/** rp_ends_message() - is it the last packet of a message? */
static __always_inline bool rp_ends_message(u8 opcode)
{
	return RP_ENDS_MESSAGE >> (opcode & 0x1f) & 1;
}

/** rp_group_of() - as rules name it */
static __always_inline enum rp_group rp_group_of(const struct rp_packet *p)
{
	/* one more than can be asked for: 16 bytes would go to a section that BTF knows not */
	static const u8 of_kind[17] = {
		[RP_KIND_DATA] = RP_GROUP_SEND,
		[RP_KIND_READ] = RP_GROUP_READ,
		[RP_KIND_ATOMIC] = RP_GROUP_ATOMIC,
		[RP_KIND_RESPONSE] = RP_GROUP_RESPONSE,
		[RP_KIND_ACK] = RP_GROUP_ACK,
		[RP_KIND_NAK] = RP_GROUP_ACK,
		[RP_KIND_CNP] = RP_GROUP_CNP,
		[RP_KIND_DATAGRAM] = RP_GROUP_SEND,
		[RP_KIND_CONTROL] = RP_GROUP_OTHER,
		[RP_KIND_OTHER] = RP_GROUP_OTHER,
	};
	u32 operation = p->opcode & 0x1f;

	if (p->kind == RP_KIND_DATA && operation >= RP_OP_WRITE_FIRST &&
	    operation <= RP_OP_WRITE_ONLY_IMM)
		return RP_GROUP_WRITE;
	if (p->kind == RP_KIND_DATAGRAM && p->qpn == RP_QPN_GSI)
		return RP_GROUP_MANAGEMENT;
	return of_kind[p->kind & 15];
}

#endif /* ROCEPATH_BPF_PARSE_H */
