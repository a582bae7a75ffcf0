// SPDX-License-Identifier: GPL-2.0
/*
 * Another source port by difference gives the ICRC and the UDP checksum that all of the
 * packet would give, whatever the packet. New port, how much longer to make it, whether there
 * is a UDP checksum; the packet follows, from the IP header on.
 */
/* SOURCES: kmod/core/icrc.c kmod/core/roce.c selftests/unit/reference.c selftests/unit/crc32.c */
#include "input.h"
#include "reference.h"

#define PACKET_MAX 65535

static const struct rp_icrc_table *table(void)
{
	static struct rp_icrc_table *t;

	if (!t) {
		t = malloc(sizeof(*t));
		rp_icrc_table_init(t);
	}
	return t;
}

/* Words are added in front of the ICRC; lengths that fitted before fit afterwards. */
static u32 stretch(u8 *l3, struct rp_roce *r, u32 len)
{
	u32 by = min(len, (PACKET_MAX - (r->icrc + RP_ICRC_LEN)) & ~3u);
	u32 payload = r->icrc + RP_ICRC_LEN + by - r->udp, i;

	for (i = 0; i < by; i++)
		l3[r->icrc + i] = i * 7;
	put_unaligned_be16(r->ipv6 ? payload : r->udp + payload, l3 + (r->ipv6 ? 4 : 2));
	put_unaligned_be16(payload, l3 + r->udp + 4);
	r->icrc += by;
	return r->icrc + RP_ICRC_LEN;
}

static void check(u8 *l3, const struct rp_roce *r, u16 sport, bool csum)
{
	if (rp_icrc(l3, r) != ref_icrc(l3))
		crash("the ICRC differs");
	ref_seal(l3, csum);
	rewrite_sport(table(), l3, r, sport);
	if (get_unaligned_be16(l3 + r->udp) != sport)
		crash("another port");
	if (get_unaligned_le32(l3 + r->icrc) != ref_icrc(l3))
		crash("by difference the ICRC differs");
	if (get_unaligned_be16(l3 + r->udp + 6) != (csum ? ref_udp_csum(l3) : 0))
		crash("by difference the UDP checksum differs");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	u16 sport = word(&in), more = word(&in);
	u32 how = byte(&in);
	bool csum = how & 1;
	struct rp_roce r, again;
	u32 len = in.left;
	u8 *l3;

	if (rp_roce_parse(in.at, len, len, &r) != RP_ROCE_OK)
		return 0;
	l3 = malloc(PACKET_MAX);
	memcpy(l3, in.at, r.icrc + RP_ICRC_LEN);
	/* of all lengths, but short ones are quicker */
	len = stretch(l3, &r, (how & 0x80 ? more : more % 512) & ~3u);
	if (rp_roce_parse(l3, len, len, &again) != RP_ROCE_OK || again.icrc != r.icrc)
		crash("longer it is another packet");
	check(l3, &r, sport, csum);
	free(l3);
	return 0;
}
