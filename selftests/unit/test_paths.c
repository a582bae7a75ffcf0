// SPDX-License-Identifier: GPL-2.0
/*
 * The table of ports: shares of buckets against exact quotas (in floating point, as
 * the kernel may not) and against what must not move; source ports and flow labels.
 */
/* SOURCES: kmod/core/paths.c */
#include <math.h>

#include "unit.h"
#include "paths.h"

struct config {
	struct rp_paths_port port[ROCEPATH_PORTS_MAX];
};

static void set_port(struct config *c, u32 i, u32 weight, bool up)
{
	c->port[i] = (struct rp_paths_port){ .weight = weight,
					     .evs = weight ? rnd_range(1, ROCEPATH_EVS_MAX) : 0,
					     .up = up };
}

static struct config random_config(void)
{
	struct config c = { 0 };
	u32 i, chance = rnd_range(1, 8), style = rnd_below(3);

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		if (rnd_below(chance))
			continue;
		if (style == 0)
			set_port(&c, i, 1, true);
		else if (style == 1)
			set_port(&c, i, rnd_range(1, 8) * 25, rnd_below(4));
		else
			set_port(&c, i, rnd_range(1, ROCEPATH_WEIGHT_MAX), rnd_below(4));
	}
	return c;
}

static bool is_up(const struct config *c, u32 i)
{
	return c->port[i].weight && c->port[i].up;
}

static u32 up_weight(const struct config *c)
{
	u32 i, sum = 0;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		sum += is_up(c, i) ? c->port[i].weight : 0;
	return sum;
}

static void check_shares(const struct config *c, const struct rp_paths *p)
{
	u32 i, up = 0, total = 0, sum = up_weight(c);

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		double due = is_up(c, i) ? 1e6 * c->port[i].weight / sum : 0;
		u32 share = rp_paths_share(p, i, 1000000);

		up += is_up(c, i);
		total += share;
		require(fabs(share - due) < 1, "port %u: %u of %f millionths", i, share, due);
		require(!c->port[i].weight || p->evs[i] == c->port[i].evs, "EVs");
	}
	require(up == p->ports_up, "%u ports up", p->ports_up);
	require(up ? total > 1000000 - up : !total, "%u millionths", total);
}

static u32 bucket_count(const struct rp_paths *p, u32 port)
{
	u32 i, n = 0;

	for (i = 0; i < RP_PATHS_BUCKETS; i++)
		n += p->bucket[i] == port;
	return n;
}

static void check_buckets(const struct config *c, const struct rp_paths *p)
{
	u32 i, sum = 0, up = up_weight(c), total = 0;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		sum += c->port[i].weight;
	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		u32 n = bucket_count(p, i);

		total += n;
		require(!n || is_up(c, i), "%u buckets of port %u, which is not up", n, i);
		/* its own are exact to less than one, and so are those lent to it */
		if (is_up(c, i))
			require(fabs(n - (double)c->port[i].weight * RP_PATHS_BUCKETS / up) <
					(sum == up ? 1 : 2),
				"port %u has %u buckets", i, n);
	}
	require(total == RP_PATHS_BUCKETS, "%u buckets", total);
}

static void random_weights(void **state)
{
	struct rp_paths p;
	u32 i;

	for (i = 0; i < ROUNDS(20000); i++) {
		struct config c = random_config();

		rp_paths_build(&p, c.port);
		check_shares(&c, &p);
		if (up_weight(&c))
			check_buckets(&c, &p);
	}
}

static void known_tables(void **state)
{
	struct config c = { 0 };
	struct rp_paths p;

	rp_paths_build(&p, c.port);
	assert_int_equal(p.ports_up, 0);
	assert_int_equal(rp_paths_share(&p, 5, 1000), 0);

	set_port(&c, 5, 200, true);
	rp_paths_build(&p, c.port);
	assert_int_equal(rp_paths_share(&p, 5, 1000), 1000);
	assert_int_equal(bucket_count(&p, 5), RP_PATHS_BUCKETS);

	/* 400, 100 and 100 Gbit/s in units of 4 */
	set_port(&c, 5, 100, true);
	set_port(&c, 6, 25, true);
	set_port(&c, 31, 25, true);
	rp_paths_build(&p, c.port);
	assert_int_equal(rp_paths_share(&p, 5, 1000), 666);
	assert_int_equal(rp_paths_share(&p, 6, 1000), 166);

	c.port[5].up = false;
	rp_paths_build(&p, c.port);
	assert_int_equal(p.ports_up, 2);
	assert_int_equal(rp_paths_share(&p, 5, 1000), 0);
	assert_int_equal(rp_paths_share(&p, 6, 1000), 500);
	assert_in_range(bucket_count(&p, 6), RP_PATHS_BUCKETS / 2 - 1, RP_PATHS_BUCKETS / 2 + 1);
}

/*
 * Ports fail and come back: what is on a port that stays up stays, and when all are
 * back all is as it was.
 */
static void failures_move_only_their_own(void **state)
{
	struct rp_paths before, after;
	u32 i, k, b;

	for (i = 0; i < ROUNDS(5000); i++) {
		struct config c = random_config(), changed;

		rp_paths_build(&before, c.port);
		changed = c;
		for (k = 0; k < ROCEPATH_PORTS_MAX; k++)
			if (rnd() % 2)
				changed.port[k].up = rnd() % 2;
		rp_paths_build(&after, changed.port);
		if (!before.ports_up || !after.ports_up)
			continue;
		/* owners: the table with all ports up */
		for (k = 0; k < ROCEPATH_PORTS_MAX; k++)
			c.port[k].up = true;
		rp_paths_build(&before, c.port);
		for (b = 0; b < RP_PATHS_BUCKETS; b++)
			if (is_up(&changed, before.bucket[b]))
				require(after.bucket[b] == before.bucket[b],
					"bucket %u moved from port %u, which is up", b,
					before.bucket[b]);
	}
}

/*
 * One more port: few move but to it. Not more than twice the least number, and what
 * rounding makes.
 */
static void few_move_for_another_port(void **state)
{
	struct rp_paths before, after;
	u32 i, b;

	for (i = 0; i < ROUNDS(5000); i++) {
		struct config c = random_config();
		u32 add = rnd_below(ROCEPATH_PORTS_MAX), moved = 0, to_it;

		for (b = 0; b < ROCEPATH_PORTS_MAX; b++)
			c.port[b].up = true;
		set_port(&c, add, 0, false);
		rp_paths_build(&before, c.port);
		if (!before.ports_up)
			continue;
		set_port(&c, add, rnd_range(1, ROCEPATH_WEIGHT_MAX), true);
		rp_paths_build(&after, c.port);
		for (b = 0; b < RP_PATHS_BUCKETS; b++)
			moved += before.bucket[b] != after.bucket[b];
		to_it = bucket_count(&after, add);
		require(moved <= 2 * to_it + 2 * before.ports_up,
			"%u moved, %u to the new port of %u", moved, to_it, after.ports_up);
	}
}

static void ports_and_labels_are_distinct(void **state)
{
	static bool sport[0x10000], label[1 << 20];
	u32 port, ev;

	for (port = 0; port < ROCEPATH_PORTS_MAX; port++) {
		for (ev = 0; ev < ROCEPATH_EVS_MAX; ev++) {
			struct rp_path path = { port, ev };
			u16 s = rp_path_sport(path);
			u32 l = rp_path_flowlabel(path);

			require(s >= 0xc000 && !sport[s], "source port %u", s);
			require(l && l < 1 << 20 && !label[l], "flow label %u", l);
			sport[s] = true;
			label[l] = true;
		}
	}
}

/* Each path comes back from what it is written as, and nothing else is a path. */
static void paths_come_back(void **state)
{
	u32 entropy, sports = 0, labels = 0;
	struct rp_path path;

	for (entropy = 0; entropy < 0x10000; entropy++) {
		if (!rp_path_of_sport(entropy, &path))
			continue;
		sports++;
		require(path.port < ROCEPATH_PORTS_MAX && rp_path_sport(path) == entropy,
			"source port %u is not that of port %u, EV %u", entropy, path.port,
			path.ev);
	}
	for (entropy = 0; entropy < 1 << 20; entropy++) {
		if (!rp_path_of_flowlabel(entropy, &path))
			continue;
		labels++;
		require(path.port < ROCEPATH_PORTS_MAX && rp_path_flowlabel(path) == entropy,
			"flow label %u is not that of port %u, EV %u", entropy, path.port,
			path.ev);
	}
	assert_int_equal(sports, ROCEPATH_PORTS_MAX * ROCEPATH_EVS_MAX);
	assert_int_equal(labels, ROCEPATH_PORTS_MAX * ROCEPATH_EVS_MAX);
}

/* XOR of all groups of @bits in @x */
static u32 fold(u32 x, u32 bits)
{
	u32 sum = 0;

	for (; x; x >>= bits)
		sum ^= x & ((1 << bits) - 1);
	return sum;
}

/*
 * A fabric that hashes few bits, or few of an XOR of all, sees 16 EVs of a port as at
 * least half of all values.
 */
static void check_spread(u32 (*entropy)(struct rp_path path), u32 width, u32 port)
{
	u32 bits, at, ev;

	for (bits = 2; bits <= 4; bits++) {
		u32 mask = (1 << bits) - 1;

		for (at = 0; at + bits <= width; at++) {
			u32 seen = 0;

			for (ev = 0; ev < 16; ev++)
				seen |= 1u << (entropy((struct rp_path){ port, ev }) >> at & mask);
			require(2 * (u32)__builtin_popcount(seen) > mask,
				"port %u: %u bits from %u on", port, bits, at);
		}
		for (at = bits; at <= 8; at++) {
			u32 seen = 0;

			for (ev = 0; ev < 16; ev++)
				seen |= 1u
					<< (fold(entropy((struct rp_path){ port, ev }), at) & mask);
			require(2 * (u32)__builtin_popcount(seen) > mask,
				"port %u: %u bits of groups of %u", port, bits, at);
		}
	}
}

static u32 sport_of(struct rp_path path)
{
	return rp_path_sport(path) & 0x3fff;
}

static void few_bits_differ(void **state)
{
	u32 port;

	for (port = 0; port < ROCEPATH_PORTS_MAX; port++) {
		check_spread(sport_of, 14, port);
		check_spread(rp_path_flowlabel, 20, port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_tables),
		cmocka_unit_test(random_weights),
		cmocka_unit_test(failures_move_only_their_own),
		cmocka_unit_test(few_move_for_another_port),
		cmocka_unit_test(ports_and_labels_are_distinct),
		cmocka_unit_test(paths_come_back),
		cmocka_unit_test(few_bits_differ),
	};

	return unit_run(tests);
}
