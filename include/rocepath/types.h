/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel types for code that also compiles outside the kernel: the pure logic
 * in kmod/core/ and bpf/, and what tests, fuzzers and benchmarks make of it.
 */
#ifndef ROCEPATH_TYPES_H
#define ROCEPATH_TYPES_H

#ifdef __KERNEL__

#include <linux/types.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#elif defined(__bpf__)

#include <stdbool.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#define NULL ((void *)0)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define fallthrough __attribute__((__fallthrough__))
#define __force
#define __packed __attribute__((__packed__))
#define __aligned(n) __attribute__((__aligned__(n)))

#define cpu_to_be16(x) bpf_htons(x)
#define cpu_to_be32(x) bpf_htonl(x)
#define be16_to_cpu(x) bpf_ntohs(x)
#define be32_to_cpu(x) bpf_ntohl(x)

#else

#include <endian.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define fallthrough __attribute__((__fallthrough__))
#define __force
#define __packed __attribute__((__packed__))
#define __aligned(n) __attribute__((__aligned__(n)))

#define cpu_to_be16(x) ((__be16)htobe16(x))
#define cpu_to_be32(x) ((__be32)htobe32(x))
#define cpu_to_be64(x) ((__be64)htobe64(x))
#define be16_to_cpu(x) be16toh((u16)(x))
#define be32_to_cpu(x) be32toh((u32)(x))
#define be64_to_cpu(x) be64toh((u64)(x))
#define cpu_to_le32(x) ((__le32)htole32(x))
#define le32_to_cpu(x) le32toh((u32)(x))

static inline u16 get_unaligned_be16(const void *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline u32 get_unaligned_be32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline u32 get_unaligned_le32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline void put_unaligned_be16(u16 v, void *p)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_unaligned_le32(u32 v, void *p)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

#endif /* __KERNEL__, __bpf__ */
#endif /* ROCEPATH_TYPES_H */
