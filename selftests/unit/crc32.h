/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_UNIT_CRC32_H
#define ROCEPATH_UNIT_CRC32_H

#include <rocepath/types.h>

/**
 * crc32_slice8() - CRC-32 of Ethernet, eight bytes a step as lib/crc32.c of the kernel does it
 * @crc: register before, neither end inverted
 * @buf: bytes
 * @len: how many
 */
u32 crc32_slice8(u32 crc, const void *buf, size_t len);

#endif /* ROCEPATH_UNIT_CRC32_H */
