/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests hold the project's code against: the same things done the long
 * way, over the whole packet, sharing nothing with it.
 */
#ifndef ROCEPATH_UNIT_REFERENCE_H
#define ROCEPATH_UNIT_REFERENCE_H

#include "icrc.h"

/** ref_udp() - bytes from the IP header @l3 to the UDP header. */
u32 ref_udp(const u8 *l3);

/** ref_end() - bytes from the IP header @l3 to the end of the packet, by the IP length. */
u32 ref_end(const u8 *l3);

/** ref_icrc() - the ICRC of a packet, as the number that is sent little endian. */
u32 ref_icrc(const u8 *l3);

/** ref_udp_csum() - the UDP checksum of a packet, 0xffff for 0, in CPU order. */
u16 ref_udp_csum(const u8 *l3);

/**
 * ref_seal() - put a right IP header checksum (IPv4) and ICRC, and, if @csum, UDP checksum
 * into a packet.
 */
void ref_seal(u8 *l3, bool csum);

/**
 * rewrite_sport() - give a packet another source port, as a device does it: by difference
 * @t: the table
 * @l3: the packet, changed in place
 * @r: the same, parsed
 * @sport: the new port
 */
void rewrite_sport(const struct rp_icrc_table *t, u8 *l3, const struct rp_roce *r, u16 sport);

#endif /* ROCEPATH_UNIT_REFERENCE_H */
