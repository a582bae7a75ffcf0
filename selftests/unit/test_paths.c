// SPDX-License-Identifier: GPL-2.0
/*
 * The table of paths: shares and interleaving against exact quotas (in floating
 * point, as the kernel may not), buckets against what must not move.
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

/* the naive way: does a turn of @slots give each port an exact share? */
static bool divides(const struct config *c, u32 slots)
{
	u32 i, sum = up_weight(c);

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		if (is_up(c, i) && c->port[i].weight * slots % sum)
			return false;
	return true;
}

static u32 model_slots(const struct config *c)
{
	u32 slots = 1;

	if (!up_weight(c))
		return 0;
	while (slots < RP_PATHS_SLOTS && !divides(c, slots))
		slots++;
	return slots;
}

static void check_shares(const struct config *c, const struct rp_paths *p)
{
	u32 i, up = 0, total = 0, sum = up_weight(c);
	bool all_above_one = true;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		all_above_one &= !is_up(c, i) || c->port[i].weight * p->slots >= sum;
	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		double quota = is_up(c, i) ? (double)c->port[i].weight * p->slots / sum : 0;

		up += is_up(c, i);
		total += p->share[i];
		require(is_up(c, i) ? p->share[i] >= 1 : !p->share[i], "port %u has %u slots", i,
			p->share[i]);
		/* what small ports get in any case, the others give, together less than one each */
		require(fabs(p->share[i] - quota) < (all_above_one ? 1 : ROCEPATH_PORTS_MAX),
			"port %u has %u slots, %f are due", i, p->share[i], quota);
		require(!divides(c, p->slots) || fabs(p->share[i] - quota) < 0.001, "not exact");
		require(!c->port[i].weight || p->evs[i] == c->port[i].evs, "EVs");
	}
	require(total == p->slots && up == p->ports_up, "%u slots shared out of %u, %u ports",
		total, p->slots, up);
	require(p->slots == model_slots(c), "%u slots, not %u", p->slots, model_slots(c));
}

/* After any number of slots each port had what is due to it, but for little. */
static void check_interleaving(const struct rp_paths *p)
{
	u32 count[ROCEPATH_PORTS_MAX] = { 0 }, pos, i;

	for (pos = 0; pos < p->slots; pos++) {
		u32 port = p->slot[pos].port;

		require(port < ROCEPATH_PORTS_MAX && p->share[port],
			"slot of a port that is not up");
		require(p->slot[pos].nth == count[port], "slot %u is the %uth of port %u", pos,
			count[port], port);
		count[port]++;
		for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
			double due = (double)p->share[i] * (pos + 1) / p->slots;

			require(count[i] - due < 1 && due - count[i] < 2,
				"port %u: %u of %f after %u slots", i, count[i], due, pos + 1);
		}
	}
	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		require(count[i] == p->share[i], "port %u has not its share", i);
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
		if (!up_weight(&c)) {
			require(!p.ports_up && !p.slots, "paths out of nothing");
			continue;
		}
		check_shares(&c, &p);
		check_interleaving(&p);
		check_buckets(&c, &p);
	}
}

static void known_tables(void **state)
{
	struct config c = { 0 };
	struct rp_paths p;
	u32 i;

	rp_paths_build(&p, c.port);
	assert_int_equal(p.ports_up, 0);
	assert_int_equal(p.slots, 0);

	set_port(&c, 5, 200, true);
	rp_paths_build(&p, c.port);
	assert_int_equal(p.slots, 1);
	assert_int_equal(p.slot[0].port, 5);
	assert_int_equal(bucket_count(&p, 5), RP_PATHS_BUCKETS);

	/* 400, 100 and 100 Gbit/s in units of 4: four, one, one, spread out */
	set_port(&c, 5, 100, true);
	set_port(&c, 6, 25, true);
	set_port(&c, 31, 25, true);
	rp_paths_build(&p, c.port);
	assert_int_equal(p.slots, 6);
	assert_int_equal(p.share[5], 4);
	assert_int_equal(p.share[6], 1);
	for (i = 0; i < 6; i++)
		if (p.slot[i].port != 5)
			assert_int_equal(p.slot[(i + 1) % 6].port, 5);

	c.port[5].up = false;
	rp_paths_build(&p, c.port);
	assert_int_equal(p.slots, 2);
	assert_int_equal(p.ports_up, 2);
	assert_in_range(bucket_count(&p, 6), RP_PATHS_BUCKETS / 2 - 1, RP_PATHS_BUCKETS / 2 + 1);
}

/* The greatest port beside 31 smallest: all have a slot, and the greatest has what is left. */
static void smallest_have_a_slot(void **state)
{
	struct config c = { 0 };
	struct rp_paths p;
	u32 i;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		set_port(&c, i, i ? 1 : ROCEPATH_WEIGHT_MAX, true);
	rp_paths_build(&p, c.port);
	assert_int_equal(p.slots, RP_PATHS_SLOTS);
	for (i = 1; i < ROCEPATH_PORTS_MAX; i++)
		assert_int_equal(p.share[i], 1);
	assert_int_equal(p.share[0], RP_PATHS_SLOTS - 31);
	check_interleaving(&p);
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

/* n % evs without a division, wherever it could go wrong */
static void ev_is_the_remainder(void **state)
{
	struct config c = { 0 };
	struct rp_paths p;
	u32 evs, n;

	c.port[3] = (struct rp_paths_port){ .weight = 1, .up = true };
	for (evs = 1; evs <= ROCEPATH_EVS_MAX; evs++) {
		c.port[3].evs = evs;
		rp_paths_build(&p, c.port);
		for (n = 0; n < 1 << 24;
		     n += n < 1 << 16 || n > (1 << 24) - 4096 ? 1 : rnd_range(1, 4096))
			require(rp_paths_ev(&p, 3, n) == n % evs, "%u %% %u", n, evs);
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
		cmocka_unit_test(smallest_have_a_slot),
		cmocka_unit_test(random_weights),
		cmocka_unit_test(failures_move_only_their_own),
		cmocka_unit_test(few_move_for_another_port),
		cmocka_unit_test(ev_is_the_remainder),
		cmocka_unit_test(ports_and_labels_are_distinct),
		cmocka_unit_test(few_bits_differ),
	};

	return unit_run(tests);
}
