// SPDX-License-Identifier: GPL-2.0
/*
 * The RoCEv2 parser. First the IP header says where UDP is and where the packet
 * ends; then one table, by BTH opcode, says what the packet is and how long it
 * must be at least.
 */
#include <rocepath/opcodes.h>

#define IP4_LEN		20
#define IP6_LEN		40
#define IP4_FRAGMENT	0x3fff	/* more fragments, or an offset */
#define PROTO_UDP	17
#define BTH_TVER	0x0f
#define PAYLOAD_MIN	((u32)(RP_BTH_LEN + RP_ICRC_LEN))
#define RETH_DMA_LEN	12	/* where the length is in it */

static enum rp_roce_verdict parse_ip4(const u8 *l3, u32 avail, struct rp_roce *r, u32 *end)
{
	u32 ihl = (l3[0] & 0xf) * 4;

	if (avail < IP4_LEN)
		return RP_ROCE_SHORT;
	if (ihl < IP4_LEN || l3[9] != PROTO_UDP || (get_unaligned_be16(l3 + 6) & IP4_FRAGMENT))
		return RP_ROCE_NOT;
	r->ipv6 = false;
	r->udp = ihl;
	*end = get_unaligned_be16(l3 + 2);
	return RP_ROCE_OK;
}

static enum rp_roce_verdict parse_ip6(const u8 *l3, u32 avail, struct rp_roce *r, u32 *end)
{
	if (avail < IP6_LEN)
		return RP_ROCE_SHORT;
	if (l3[6] != PROTO_UDP)
		return RP_ROCE_NOT;
	r->ipv6 = true;
	r->udp = IP6_LEN;
	*end = IP6_LEN + get_unaligned_be16(l3 + 4);
	return RP_ROCE_OK;
}

/* What an opcode is depends on where it goes only for the management QP. */
static enum rp_kind kind_of(const struct rp_opcode *op, u32 qpn)
{
	if (op->kind == RP_KIND_CNP || op->kind == RP_KIND_CONTROL)
		return op->kind;
	if (qpn == RP_QPN_GSI)
		return RP_KIND_DATAGRAM;
	return op->need ? op->kind : RP_KIND_OTHER;
}

static enum rp_roce_verdict parse_bth(const u8 *l3, u32 avail, u32 payload, struct rp_roce *r)
{
	u32 ext_at = r->bth + RP_BTH_LEN, room;
	const u8 *bth = l3 + r->bth, *ext = l3 + ext_at;
	const struct rp_opcode *op;

	if (avail < ext_at)
		return RP_ROCE_SHORT;
	room = avail - ext_at;
	op = &rp_opcodes[bth[0]];
	if ((bth[1] & BTH_TVER) || payload < op->need)
		return RP_ROCE_MALFORMED;
	r->opcode = bth[0];
	r->repair = bth[RP_BTH_FLAGS] & RP_BTH_REPAIR;
	r->qpn = get_unaligned_be32(bth + 4) & 0xffffff;
	r->psn = get_unaligned_be32(bth + 8) & 0xffffff;
	r->kind = kind_of(op, r->qpn);
	r->syndrome = 0;
	r->dma_len = 0;
	if (r->kind == RP_KIND_ACK) {
		if (room < RP_AETH_LEN)
			return RP_ROCE_SHORT;
		r->syndrome = ext[0];
		if (RP_AETH_TYPE(r->syndrome) != RP_AETH_ACK)
			r->kind = RP_KIND_NAK;
	} else if (r->kind == RP_KIND_READ) {
		if (room < RP_RETH_LEN)
			return RP_ROCE_SHORT;
		r->dma_len = get_unaligned_be32(ext + RETH_DMA_LEN);
	}
	return RP_ROCE_OK;
}

/*
 * Of a packet that is all there and has no whole UDP header nothing more can be said
 * than that it is not RoCE.
 */
static enum rp_roce_verdict too_little(u32 avail, u32 len)
{
	return avail < len ? RP_ROCE_SHORT : RP_ROCE_NOT;
}

enum rp_roce_verdict rp_roce_parse(const u8 *l3, u32 avail, u32 len, struct rp_roce *r)
{
	enum rp_roce_verdict verdict;
	u32 end, payload;
	const u8 *udp;

	avail = min(avail, len);
	if (!avail)
		return too_little(avail, len);
	if (l3[0] >> 4 == 4)
		verdict = parse_ip4(l3, avail, r, &end);
	else if (l3[0] >> 4 == 6)
		verdict = parse_ip6(l3, avail, r, &end);
	else
		return RP_ROCE_NOT;
	if (verdict == RP_ROCE_SHORT)
		return too_little(avail, len);
	if (verdict != RP_ROCE_OK)
		return verdict;

	udp = l3 + r->udp;
	r->bth = r->udp + RP_UDP_LEN;
	if (avail < r->bth)
		return too_little(avail, len);
	if (get_unaligned_be16(udp + 2) != RP_ROCE_PORT)
		return RP_ROCE_NOT;
	if (end > len || end < r->bth + PAYLOAD_MIN || get_unaligned_be16(udp + 4) != end - r->udp)
		return RP_ROCE_MALFORMED;
	payload = end - r->bth;
	if (payload % 4)
		return RP_ROCE_MALFORMED;
	r->icrc = end - RP_ICRC_LEN;
	return parse_bth(l3, avail, payload, r);
}
