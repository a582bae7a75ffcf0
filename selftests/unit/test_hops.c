// SPDX-License-Identifier: GPL-2.0
/* Hop-limited probes that are out: each is answered once, by who it went to, in time. */
/* SOURCES: kmod/core/hops.c */
#include "unit.h"
#include "hops.h"

#define SECOND 1000000000ull

static struct rp_hops h;
static u64 now = 1000 * SECOND;

static void start(void)
{
	memset(&h, 0, sizeof(h));
}

static void put(u16 id, u8 peer)
{
	struct rp_hop hop = { .hops = 3, .id = id, .cookie = id * 7, .sent_ns = now };

	hop.peer.s6_addr[15] = peer;
	rp_hops_put(&h, &hop);
}

static bool take(u16 id, u8 peer)
{
	struct rp_hop hop = { .hops = 9 };
	struct in6_addr address = { .s6_addr[15] = peer };
	bool taken = rp_hops_take(&h, id, &address, now, &hop);

	if (taken)
		assert_true(hop.id == id && hop.peer.s6_addr[15] == peer && hop.hops == 3 &&
			    hop.cookie == id * 7u);
	return taken;
}

static void test_once(void **state)
{
	start();
	assert_false(take(0, 0));
	put(5, 1);
	put(5, 2);
	put(6, 1);
	assert_false(take(6, 2));
	assert_true(take(5, 2));
	assert_false(take(5, 2));
	assert_true(take(5, 1));
	assert_true(take(6, 1));
	assert_false(take(6, 1));
}

static void test_expires(void **state)
{
	start();
	put(5, 1);
	now += RP_HOP_LIFE_NS;
	put(6, 1);
	assert_true(take(5, 1));
	put(5, 1);
	now += RP_HOP_LIFE_NS + 1;
	/* whatever was sent since */
	put(7, 1);
	assert_false(take(5, 1));
	assert_false(take(6, 1));
	assert_true(take(7, 1));
}

static void test_bounded(void **state)
{
	u32 i;

	start();
	for (i = 0; i < 3 * RP_HOPS_MAX; i++)
		put(i, 1);
	for (i = 0; i < 3 * RP_HOPS_MAX; i++)
		assert_int_equal(take(i, 1), i >= 2 * RP_HOPS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_expires),
		cmocka_unit_test(test_bounded),
	};

	return unit_run(tests);
}
