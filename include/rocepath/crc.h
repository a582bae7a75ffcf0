/* SPDX-License-Identifier: GPL-2.0 */
/* CRC-32 of Ethernet, by nibbles: little to load, and short enough for small packets. */
#ifndef ROCEPATH_CRC_H
#define ROCEPATH_CRC_H

#include "types.h"

/** rp_crc_nibble() - move the register on by four bits of zeros. */
static inline u32 rp_crc_nibble(u32 crc)
{
	static const u32 table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};

	return crc >> 4 ^ table[crc & 0xf];
}

/** rp_crc_byte() - move the register on by a byte of data. */
static inline u32 rp_crc_byte(u32 crc, u8 byte)
{
	return rp_crc_nibble(rp_crc_nibble(crc ^ byte));
}

/** rp_crc_bytes() - move the register on by @len bytes. */
static inline u32 rp_crc_bytes(u32 crc, const u8 *p, u32 len)
{
	while (len--)
		crc = rp_crc_byte(crc, *p++);
	return crc;
}

#endif /* ROCEPATH_CRC_H */
