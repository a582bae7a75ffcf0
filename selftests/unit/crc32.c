// SPDX-License-Identifier: GPL-2.0
#include "crc32.h"

static u32 table[8][256];

static void __attribute__((constructor)) fill_table(void)
{
	unsigned int i, k;

	for (i = 0; i < 256; i++) {
		u32 crc = i;

		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
		table[0][i] = crc;
	}
	for (k = 1; k < 8; k++)
		for (i = 0; i < 256; i++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

u32 crc32_slice8(u32 crc, const void *buf, size_t len)
{
	const u8 *p = buf;

	for (; len >= 8; len -= 8, p += 8) {
		u32 a = crc ^ get_unaligned_le32(p);
		u32 b = get_unaligned_le32(p + 4);

		crc = table[7][a & 0xff] ^ table[6][a >> 8 & 0xff] ^ table[5][a >> 16 & 0xff] ^
		      table[4][a >> 24] ^ table[3][b & 0xff] ^ table[2][b >> 8 & 0xff] ^
		      table[1][b >> 16 & 0xff] ^ table[0][b >> 24];
	}
	while (len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return crc;
}
