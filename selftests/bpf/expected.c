// SPDX-License-Identifier: GPL-2.0
#include "expected.h"

#define DEPTH 2
#define EXTENSIONS 8

static u32 l3_of(const u8 *frame, u32 len, bool *ip)
{
	u32 at = 12, tags = 0;
	u16 type;

	*ip = false;
	for (; at + 2 <= len; at += 4, tags++) {
		type = get_unaligned_be16(frame + at);
		if ((type != 0x8100 && type != 0x88a8) || tags == DEPTH) {
			*ip = type == 0x0800 || type == 0x86dd;
			break;
		}
	}
	return at + 2;
}

static bool extends(u8 proto)
{
	return proto == 0 || proto == 43 || proto == 44 || proto == 51 || proto == 60 ||
	       proto == 135 || proto == 139 || proto == 140;
}

static bool to_4791(const u8 *l3, u32 len, u32 at)
{
	return at + 8 <= len && get_unaligned_be16(l3 + at + 2) == RP_ROCE_PORT;
}

/* what the module's parser calls "not RoCE" */
static enum rp_verdict walk4(const u8 *l3, u32 len)
{
	u32 at = (l3[0] & 15) * 4;

	if (len < 20 || at < 20 || l3[9] != 17 || (get_unaligned_be16(l3 + 6) & 0x1fff))
		return RP_OTHER;
	return (get_unaligned_be16(l3 + 6) & 0x2000) && to_4791(l3, len, at) ? RP_FRAGMENT :
									       RP_OTHER;
}

static enum rp_verdict walk6(const u8 *l3, u32 len)
{
	u32 at = 40, n = 0, size;
	u8 proto;

	if (len < 40 || !extends(l3[6]))
		return RP_OTHER;
	for (proto = l3[6]; extends(proto) && n < EXTENSIONS; n++) {
		if (at + 4 > len)
			return RP_OTHER;
		if (proto == 44 && (get_unaligned_be16(l3 + at + 2) & 0xfff8))
			return RP_OTHER;
		if (proto == 44)
			size = 8;
		else if (proto == 51)
			size = (l3[at + 1] + 2) * 4;
		else
			size = (l3[at + 1] + 1) * 8;
		proto = l3[at];
		at += size;
	}
	if (extends(proto))
		return RP_EXTENDED;
	return proto == 17 && to_4791(l3, len, at) ? RP_EXTENDED : RP_OTHER;
}

enum rp_verdict expected_verdict(const u8 *frame, u32 len, u32 *l3, struct rp_roce *r)
{
	bool ip;

	*l3 = l3_of(frame, len, &ip);
	if (!ip || *l3 >= len)
		return RP_OTHER;
	switch (rp_roce_parse(frame + *l3, len - *l3, len - *l3, r)) {
	case RP_ROCE_OK:
		return RP_ROCE_FRAME;
	case RP_ROCE_MALFORMED:
		return RP_MALFORMED;
	case RP_ROCE_NOT:
		if (frame[*l3] >> 4 == 4)
			return walk4(frame + *l3, len - *l3);
		return frame[*l3] >> 4 == 6 ? walk6(frame + *l3, len - *l3) : RP_OTHER;
	default:	/* it has all that there is */
		return EXPECTED_NOTHING;
	}
}

const char *expected_packet(const struct rp_packet *p, const u8 *frame, u32 l3,
			    const struct rp_roce *r)
{
	const u8 *ip = frame + l3;
	u32 tos = r->ipv6 ? (get_unaligned_be16(ip) >> 4 & 0xff) : ip[1];
	struct rp_address source = { .bytes = { [10] = 0xff, 0xff } }, destination = source;

	if (r->ipv6) {
		memcpy(source.bytes, ip + 8, 16);
		memcpy(destination.bytes, ip + 24, 16);
	} else {
		memcpy(source.bytes + 12, ip + 12, 4);
		memcpy(destination.bytes + 12, ip + 16, 4);
	}
	if (p->l3 != l3 || p->bth != l3 + r->bth || p->icrc != l3 + r->icrc)
		return "offsets";
	if (p->qpn != r->qpn || p->psn != r->psn || p->opcode != r->opcode)
		return "BTH";
	if (p->kind != r->kind || p->syndrome != r->syndrome)
		return "kind";
	if (p->ipv6 != r->ipv6 || p->tos != tos)
		return "IP";
	if (p->source_port != get_unaligned_be16(ip + r->udp))
		return "source port";
	if (memcmp(&p->source, &source, sizeof(source)) ||
	    memcmp(&p->destination, &destination, sizeof(destination)))
		return "addresses";
	if (r->kind == RP_KIND_READ && p->extended != r->dma_len)
		return "length";
	return NULL;
}
