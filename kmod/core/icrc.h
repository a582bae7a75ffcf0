/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The invariant CRC of RoCEv2 (IBTA annex A17.3.3), whole and by difference.
 */
#ifndef ROCEPATH_CORE_ICRC_H
#define ROCEPATH_CORE_ICRC_H

#include <rocepath/roce.h>

/*
 * The table covers what a RoCE packet can have behind its source port: the
 * rest of UDP, BTH, the longest headers, 4096 bytes, ICRC excluded. Longer
 * packets (none that a QP makes) are computed without it.
 */
#define RP_ICRC_TABLE_WORDS 1088

/* for each length in words, for each nibble of the port: what it does to the CRC */
struct rp_icrc_table {
	u32 delta[RP_ICRC_TABLE_WORDS][4][16];
};

/**
 * rp_icrc_table_init() - fill in a table, once
 * @t: 272 KiB, by the caller
 */
void rp_icrc_table_init(struct rp_icrc_table *t);

/**
 * rp_icrc_delta() - what another source port changes in the ICRC
 * @t: an initialised table
 * @change: old source port XOR new one, in CPU order of the 16-bit number
 * @behind: bytes between the source port and the ICRC: destination port to pad, a multiple of 4
 *	less 2
 *
 * CRC is linear: the new ICRC is the old one XOR the result. Both are numbers
 * as the CRC has them; on the wire the ICRC is little endian.
 *
 * Context: any. Four table look-ups; some hundred steps for a packet longer than the table.
 */
u32 rp_icrc_delta(const struct rp_icrc_table *t, u16 change, u32 behind);

/**
 * rp_icrc() - the ICRC of a whole packet
 * @l3: the IP header, the packet linear up to @r->icrc
 * @r: the packet, parsed
 *
 * For control packets and tests; a pass over all bytes.
 */
u32 rp_icrc(const u8 *l3, const struct rp_roce *r);

/**
 * rp_csum_replace2() - update a ones' complement checksum (RFC 1624, equation 3)
 * @check: the checksum field as it is in memory; never becomes 0, as UDP wants it
 * @from: the 16 bits before, as in memory
 * @to: and after
 */
static inline __sum16 rp_csum_replace2(__sum16 check, __be16 from, __be16 to)
{
	u32 sum = (u16)~(__force u16)check + (u16)~(__force u16)from + (__force u16)to;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (u16)~sum;
	return (__force __sum16)(sum ? sum : 0xffff);
}

#endif /* ROCEPATH_CORE_ICRC_H */
