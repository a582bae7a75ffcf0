// SPDX-License-Identifier: GPL-2.0
#include "qp_table.h"

#define MASK ((1u << QP_TABLE_BITS) - 1)

static u32 rotate(u32 x, u32 by)
{
	return x << by | x >> (32 - by);
}

/* Four words and a seed as the kernel's jhash2 takes them (Jenkins, lookup3). */
static u32 hash_remote(const u8 *address, u32 seed)
{
	u32 k[4], a, b, c;

	memcpy(k, address, sizeof(k));
	c = 0xdeadbeef + (4 << 2) + seed;
	a = c + k[0];
	b = c + k[1];
	c += k[2];
	a -= c; a ^= rotate(c, 4); c += b;
	b -= a; b ^= rotate(a, 6); a += c;
	c -= b; c ^= rotate(b, 8); b += a;
	a -= c; a ^= rotate(c, 16); c += b;
	b -= a; b ^= rotate(a, 19); a += c;
	c -= b; c ^= rotate(b, 4); b += a;
	a += k[3];
	c ^= b; c -= rotate(b, 14);
	a ^= c; a -= rotate(c, 11);
	b ^= a; b -= rotate(a, 25);
	c ^= b; c -= rotate(b, 16);
	a ^= c; a -= rotate(c, 4);
	b ^= a; b -= rotate(a, 14);
	c ^= b; c -= rotate(b, 24);
	return c & MASK;
}

/* hash_32() */
static u32 hash_local(u32 qpn)
{
	return qpn * 0x61c88647u >> (32 - QP_TABLE_BITS);
}

void qp_table_add(struct qp_table *t, struct qp *qp)
{
	struct qp **local = &t->by_local[hash_local(qp->local_qpn)];
	struct qp **remote = &t->by_remote[hash_remote(qp->address, qp->remote_qpn)];

	qp->by_local = *local;
	*local = qp;
	qp->by_remote = *remote;
	*remote = qp;
}

struct qp *qp_table_local(const struct qp_table *t, const u8 *address, u32 qpn)
{
	struct qp *qp = t->by_local[hash_local(qpn)];

	while (qp && (qp->local_qpn != qpn || memcmp(qp->address, address, 16)))
		qp = qp->by_local;
	return qp;
}

struct qp *qp_table_remote(const struct qp_table *t, const u8 *address, u32 qpn)
{
	struct qp *qp = t->by_remote[hash_remote(address, qpn)];

	while (qp && (qp->remote_qpn != qpn || memcmp(qp->address, address, 16)))
		qp = qp->by_remote;
	return qp;
}
