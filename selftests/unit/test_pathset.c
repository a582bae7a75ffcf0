// SPDX-License-Identifier: GPL-2.0
/*
 * All paths towards a peer: layout, the pick against one that goes from path to
 * path and asks each, and which paths are taken out for their loss.
 */
/* SOURCES: kmod/core/pathset.c kmod/core/adapt.c kmod/core/budget.c */
/* SOURCES: kmod/core/health.c kmod/core/holddown.c */
#include <math.h>

#include "unit.h"
#include "pathset.h"

#define MS 1000000ull
#define I (1 * MS)

static const struct rp_health_knobs knobs = {
	.interval_ns = I,
	.loss_ppm = 5000,
	.holddown_ms = 100,
	.holddown_max_ms = 1600,
};

static struct rp_paths_port ports[ROCEPATH_PORTS_MAX];
static u8 evs[ROCEPATH_PORTS_MAX][ROCEPATH_EVS_MAX];
static u64 now = 1000 * MS;

static void no_ports(void)
{
	memset(ports, 0, sizeof(ports));
}

static void add_port(u32 i, u16 weight, u16 n)
{
	ports[i] = (struct rp_paths_port){ .weight = weight, .evs = n, .up = true };
}

static void random_ports(void)
{
	u32 i, n = rnd() % 8 ? rnd_range(1, 6) : rnd_range(1, 32);
	u32 same = rnd() % 2 ? rnd_range(1, 64) : 0;

	no_ports();
	for (i = 0; i < n; i++) {
		u32 at = rnd_below(ROCEPATH_PORTS_MAX);

		add_port(at, rnd() % 2 ? 1 : rnd_range(1, ROCEPATH_WEIGHT_MAX),
			 same ? same : rnd_range(1, rnd() % 4 ? 16 : ROCEPATH_EVS_MAX));
		ports[at].up = rnd() % 8;
	}
}

/* Each port has its EVs in an order of its own. */
static void random_evs(void)
{
	u32 port, i, k;

	for (port = 0; port < ROCEPATH_PORTS_MAX; port++) {
		for (i = 0; i < ROCEPATH_EVS_MAX; i++)
			evs[port][i] = i;
		for (i = ROCEPATH_EVS_MAX - 1; i; i--) {
			u8 ev = evs[port][i];

			k = rnd_below(i + 1);
			evs[port][i] = evs[port][k];
			evs[port][k] = ev;
		}
	}
}

static struct rp_pathset *make(const u8 (*chosen)[ROCEPATH_EVS_MAX], const struct rp_pathset *old)
{
	void *memory = calloc(1, rp_pathset_size(rp_pathset_count(ports)));

	assert_non_null(memory);
	return rp_pathset_init(memory, ports, chosen, old, now);
}

static struct rp_pathset *make_plain(u32 n_ports, u32 n_evs)
{
	u32 i;

	no_ports();
	for (i = 0; i < n_ports; i++)
		add_port(i, 1, n_evs);
	return make(NULL, NULL);
}

static void set_state(struct rp_pathset *s, u32 index, enum rocepath_path_state state)
{
	s->entry[index].health.state = state;
	rp_pathset_publish(s, index);
}

/* Any state, ramp and factor for any path. */
static void shake(struct rp_pathset *s)
{
	u32 i, chance = rnd_range(1, 8), style = rnd_below(3);

	for (i = 0; i < s->n; i++) {
		struct rp_pathset_entry *e = &s->entry[i];

		e->health.state = rnd_below(chance) ? rnd_below(4) : ROCEPATH_PATH_UP;
		e->health.ramp = style ? RP_HEALTH_RAMP_FULL : rnd_range(1, RP_HEALTH_RAMP_FULL);
		e->factor = style == 2 ? RP_PATH_WEIGHT_MAX : rnd_range(1, RP_PATH_WEIGHT_MAX);
		rp_pathset_publish(s, i);
	}
}

static void layout(void **state)
{
	u32 round, i, k, n, port;

	for (round = 0; round < ROUNDS(2000); round++) {
		struct rp_pathset *s;
		s32 last[ROCEPATH_PORTS_MAX];
		bool chosen = rnd() % 2;

		random_ports();
		random_evs();
		s = make(chosen ? evs : NULL, NULL);
		for (n = 0, port = 0; port < ROCEPATH_PORTS_MAX; port++)
			n += ports[port].weight ? ports[port].evs : 0;
		require(s->n == n || n > RP_PATHSET_MAX, "%u paths of %u", s->n, n);
		require(s->n <= RP_PATHSET_MAX && s->n == rp_pathset_count(ports), "%u paths",
			s->n);
		memset(last, -1, sizeof(last));
		for (i = 0; i < s->n; i++) {
			const struct rp_pathset_entry *e = &s->entry[i];

			port = e->path.port;
			require(ports[port].weight && last[port] + 1 < ports[port].evs, "port %u",
				port);
			last[port]++;
			require(e->path.ev == (chosen ? evs[port][last[port]] : last[port]),
				"EV %u", e->path.ev);
			require(rp_pathset_find(s, e->path) == i, "path %u not found", i);
			require(rp_pathset_usable(s, i) == ports[port].up, "usable");
			require(e->factor == RP_PATH_WEIGHT_MAX, "factor");
			/* interleaved: nobody is two ahead while the other has any left */
			for (k = 0; k < ROCEPATH_PORTS_MAX; k++)
				if (ports[k].weight && last[k] + 1 < ports[k].evs)
					require(last[k] >= last[port] - 1, "port %u has to wait",
						k);
		}
		for (i = 0; i < 50; i++) {
			struct rp_path path = { rnd_below(32), rnd() };

			for (k = 0; k < s->n; k++)
				if (s->entry[k].path.port == path.port &&
				    s->entry[k].path.ev == path.ev)
					break;
			require(rp_pathset_find(s, path) == (k < s->n ? k : RP_PATHSET_NONE),
				"found what is not there");
		}
		free(s);
	}
}

static void too_many_are_shared_out(void **state)
{
	struct rp_pathset *s = make_plain(32, 256);

	assert_int_equal(s->n, RP_PATHSET_MAX);
	assert_int_equal(s->entry[RP_PATHSET_MAX - 1].path.ev, 31);
	free(s);
	no_ports();
	add_port(3, 1, 4);
	add_port(4, 1, 8);
	for (u32 i = 10; i < 15; i++)
		add_port(i, 1, 256);
	s = make(NULL, NULL);
	assert_int_equal(s->n, 4 + 8 + 5 * 202);
	free(s);
	no_ports();
	assert_int_equal(rp_pathset_count(ports), 0);
}

/* Weights of up to 4 leave exact ratios, and the greatest share is most of what there is. */
static void shares(void **state)
{
	struct rp_pathset *s;
	u32 round, i, k;

	for (round = 0; round < ROUNDS(5000); round++) {
		u32 most = 0;

		random_ports();
		for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
			if (ports[i].weight)
				add_port(i, rnd_range(1, 4), 1 + round % 32);
		s = make(NULL, NULL);
		for (k = 0; k < s->n; k++) {
			const struct rp_pathset_entry *a = &s->entry[0], *b = &s->entry[k];
			u32 wa = ports[a->path.port].weight, wb = ports[b->path.port].weight;

			most = b->share > most ? b->share : most;
			require(b->share && b->share * wa == a->share * wb, "%u:%u for %u:%u",
				a->share, b->share, wa, wb);
		}
		require(most > 252 && most <= RP_PATH_WEIGHT_MAX, "most %u", most);
		free(s);

		random_ports();
		s = make(NULL, NULL);
		for (most = 0, i = 0; i < s->n; i++) {
			most = s->entry[i].share > most ? s->entry[i].share : most;
			require(s->entry[i].share, "nothing for a path");
		}
		require(most > RP_PATH_WEIGHT_MAX / 2 && most <= RP_PATH_WEIGHT_MAX, "most %u",
			most);
		free(s);
	}
	no_ports();
	add_port(0, 75, 4);
	add_port(1, 25, 4);
	s = make(NULL, NULL);
	assert_int_equal(s->weight[0], 255);
	assert_int_equal(s->weight[1], 85);
	free(s);
	/* the same for each port, whatever the number of its paths */
	no_ports();
	add_port(0, 1, 4);
	add_port(1, 1, 16);
	s = make(NULL, NULL);
	assert_int_equal(s->weight[0], 256);
	assert_int_equal(s->weight[1], 64);
	free(s);
}

/* --- the pick --- */

static bool takes_part(u32 weight, u32 turn)
{
	u32 bit = 128;

	turn %= RP_PATH_WEIGHT_MAX;
	if (weight == RP_PATH_WEIGHT_MAX)
		return true;
	if (!turn)
		return false;
	for (; turn % 2 == 0; turn /= 2)
		bit /= 2;
	return weight & bit;
}

static u16 naive_next(const struct rp_pathset *s, const u16 *weight, struct rp_pathset_cursor *c)
{
	u32 i, pos = c->pos, turn = c->turn;

	if (pos >= RP_PATHSET_START)
		pos = (pos - RP_PATHSET_START) * s->n / RP_PATHSET_START;
	for (i = 0; i < 2u * RP_PATH_WEIGHT_MAX * (s->n + 1); i++) {
		if (pos >= s->n) {
			pos = 0;
			turn++;
			continue;
		}
		if (takes_part(weight[pos], turn)) {
			c->pos = pos + 1;
			c->turn = turn;
			return pos;
		}
		pos++;
	}
	return RP_PATHSET_NONE;
}

static void pick_as_the_naive_one(void **state)
{
	u32 round, i;

	for (round = 0; round < ROUNDS(3000); round++) {
		struct rp_pathset_cursor a[2], b[2];
		struct rp_pathset *s;

		random_ports();
		s = make(NULL, NULL);
		rp_pathset_start(&a[0], rnd());
		rp_pathset_start(&a[1], rnd());
		if (rnd() % 2)
			a[0] = (struct rp_pathset_cursor){ rnd(), rnd() };
		memcpy(b, a, sizeof(b));
		for (i = 0; i < 300; i++) {
			u16 want, got;

			if (i % 100 == 0)
				shake(s);
			want = naive_next(s, s->weight, &b[0]);
			got = rp_pathset_next(s, &s->spray_turns, &a[0]);
			require(got == want, "path %u, not %u", got, want);
			want = naive_next(s, s->adaptive, &b[1]);
			got = rp_pathset_next(s, &s->adaptive_turns, &a[1]);
			require(got == want, "adaptive: path %u, not %u", got, want);
			if (want == RP_PATHSET_NONE)
				break;
			/* empty turns may be left out */
			require(a[0].pos == b[0].pos && !((a[0].turn ^ b[0].turn) & 0xff),
				"the turn");
		}
		free(s);
	}
}

/* While none is up, those that are least in doubt carry something. */
static bool carries(const struct rp_pathset *s, u32 index)
{
	u8 state = s->entry[index].health.state;
	u32 count[ROCEPATH_PATH_PROBATION + 1] = { 0 }, i;

	for (i = 0; i < s->n; i++)
		count[s->entry[i].health.state]++;
	if (count[ROCEPATH_PATH_UP] || state == ROCEPATH_PATH_DOWN)
		return state == ROCEPATH_PATH_UP;
	return state == ROCEPATH_PATH_SUSPECT || !count[ROCEPATH_PATH_SUSPECT];
}

static bool any_carries(const struct rp_pathset *s)
{
	u32 i;

	for (i = 0; i < s->n; i++)
		if (carries(s, i))
			return true;
	return false;
}

static void published_as_it_is(void **state)
{
	u32 round, i, usable;

	for (round = 0; round < ROUNDS(2000); round++) {
		struct rp_pathset *s;

		random_ports();
		s = make(NULL, NULL);
		shake(s);
		for (usable = 0, i = 0; i < s->n; i++) {
			const struct rp_pathset_entry *e = &s->entry[i];
			u32 weight = e->share * e->health.ramp / RP_HEALTH_RAMP_FULL;
			u32 adaptive;

			weight = max(weight, 1u);
			if (e->health.state != ROCEPATH_PATH_UP)
				weight = carries(s, i);
			adaptive = weight ? max(weight * e->factor / RP_PATH_WEIGHT_MAX, 1u) : 0;
			usable += e->health.state == ROCEPATH_PATH_UP;
			require(s->weight[i] == weight && s->adaptive[i] == adaptive,
				"%u and %u, not %u and %u", s->weight[i], s->adaptive[i], weight,
				adaptive);
		}
		require(s->usable == usable, "%u usable of %u", s->usable, usable);
		free(s);
	}
}

static void equal_paths_once_a_turn(void **state)
{
	u32 round, i, k;

	for (round = 0; round < ROUNDS(300); round++) {
		struct rp_pathset *s = make_plain(rnd_range(1, 8), rnd_range(1, 128));
		u32 count[RP_PATHSET_MAX] = { 0 };
		struct rp_pathset_cursor c;

		rp_pathset_start(&c, rnd());
		for (k = 1; k <= 3; k++) {
			for (i = 0; i < s->n; i++)
				count[rp_pathset_next(s, &s->spray_turns, &c)]++;
			for (i = 0; i < s->n; i++)
				require(count[i] == k, "path %u: %u times in %u turns", i, count[i],
					k);
		}
		free(s);
	}
}

/* Over RP_PATH_WEIGHT_MAX turns each path exactly as often as it weighs, and evenly. */
static void weights_are_exact(void **state)
{
	double due, off, worst = 0;
	u32 round, i, k, sum;
	struct rp_pathset *s;

	for (round = 0; round < ROUNDS(1000); round++) {
		u32 count[RP_PATHSET_MAX] = { 0 };
		struct rp_pathset_cursor c = { 0 };

		random_ports();
		s = make(NULL, NULL);
		for (sum = 0, i = 0; i < s->n; i++)
			sum += s->weight[i];
		for (k = 0; k < sum; k++)
			count[rp_pathset_next(s, &s->spray_turns, &c)]++;
		for (i = 0; i < s->n; i++)
			require(count[i] == s->weight[i], "path %u: %u of %u", i, count[i],
				s->weight[i]);
		free(s);
	}
	no_ports();
	add_port(0, 75, 1);
	add_port(1, 25, 1);
	struct rp_pathset_cursor c = { 0 };
	u32 count[2] = { 0 };

	s = make(NULL, NULL);
	for (k = 1; k <= 10 * 340; k++) {
		count[rp_pathset_next(s, &s->spray_turns, &c)]++;
		due = k / 4.0;
		off = fabs(count[1] - due);
		worst = max(worst, off);
	}
	assert_int_equal(count[0], 2550);
	assert_int_equal(count[1], 850);
	printf("# 3:1, never off by more than %.2f packets\n", worst);
	assert_true(worst < 3);
	free(s);
}

/* Many flows of one packet: each path as often as it weighs. */
static void short_flows_are_even(void **state)
{
	struct rp_pathset *s = make_plain(4, 16);
	u32 count[64] = { 0 }, i, n = 640000;

	for (i = 0; i < n; i++) {
		struct rp_pathset_cursor c;

		rp_pathset_start(&c, rnd());
		count[rp_pathset_next(s, &s->spray_turns, &c)]++;
	}
	for (i = 0; i < 64; i++)
		assert_in_range(count[i], n / 64 * 0.94, n / 64 * 1.06);
	free(s);
}

/* --- one path per flow --- */

static void pin_stays(void **state)
{
	u32 round, i, k;

	for (round = 0; round < ROUNDS(3000); round++) {
		u16 home[32], at;
		u32 hash[32], index;
		struct rp_pathset *s;

		random_ports();
		s = make(NULL, NULL);
		shake(s);
		for (k = 0; k < 32; k++) {
			hash[k] = rnd();
			home[k] = rp_pathset_pin(s, hash[k]);
			require(home[k] == RP_PATHSET_NONE ? !any_carries(s) :
				home[k] < s->n && carries(s, home[k]),
				"pinned to %u", home[k]);
		}
		for (i = 0; i < 20 && s->usable > 1; i++) {
			enum rocepath_path_state was;

			index = rnd_below(s->n);
			was = s->entry[index].health.state;
			if (was != ROCEPATH_PATH_UP)
				continue;
			set_state(s, index, ROCEPATH_PATH_DOWN);
			for (k = 0; k < 32; k++) {
				at = rp_pathset_pin(s, hash[k]);
				require(at != index && s->weight[at], "pinned to what is down");
				require(home[k] == index || at == home[k],
					"moved from %u to %u because of %u", home[k], at, index);
			}
			set_state(s, index, was);
			for (k = 0; k < 32; k++)
				require(rp_pathset_pin(s, hash[k]) == home[k], "did not come back");
		}
		free(s);
	}
}

static void pins_by_weight(void **state)
{
	static const u16 weight[] = { 100, 100, 50, 25 };
	u32 count[64] = { 0 }, sum[4] = { 0 }, i, n = ROUNDS(2000000);
	struct rp_pathset *s;
	double due;

	no_ports();
	for (i = 0; i < 4; i++)
		add_port(i, weight[i], 16);
	s = make(NULL, NULL);
	for (i = 0; i < n; i++)
		count[rp_pathset_pin(s, rnd())]++;
	for (i = 0; i < 64; i++)
		sum[s->entry[i].path.port] += count[i];
	for (i = 0; i < 4; i++) {
		due = n * weight[i] / 275.0;
		require(fabs(sum[i] - due) < due * 0.05, "port %u: %u flows, not %.0f", i, sum[i],
			due);
	}
	for (i = 0; i < 64; i++) {
		due = sum[s->entry[i].path.port] / 16.0;
		require(fabs(count[i] - due) < 6 * sqrt(due), "path %u: %u, not %.0f", i, count[i],
			due);
	}
	free(s);
}

static void another_path_for_a_repair(void **state)
{
	u32 round, k, i;

	for (round = 0; round < ROUNDS(3000); round++) {
		bool others = false, same = false;
		struct rp_pathset *s;
		u32 index;
		u8 port;

		random_ports();
		s = make(NULL, NULL);
		shake(s);
		index = rnd_below(s->n);
		port = s->entry[index].path.port;
		for (i = 0; i < s->n; i++) {
			if (i == index || !s->weight[i])
				continue;
			others |= s->entry[i].path.port != port;
			same |= s->entry[i].path.port == port;
		}
		for (k = 0; k < 50; k++) {
			u16 at = rp_pathset_other(s, index, rnd());

			if (!others && !same) {
				require(at == (s->weight[index] ? index : RP_PATHSET_NONE),
					"out of nothing: %u", at);
				continue;
			}
			require(at < s->n && at != index && s->weight[at], "repair over %u", at);
			/* of another port, but where there are many of this one, hardly others */
			require(!others || s->n > 64 || s->entry[at].path.port != port,
				"the same port");
		}
		/* it was sent by one that is no more */
		i = rp_pathset_other(s, RP_PATHSET_NONE, rnd());
		require(others || same || s->weight[index] ? i < s->n && s->weight[i] :
							     i == RP_PATHSET_NONE, "over %u", i);
		free(s);
	}
}

static void repairs_are_spread(void **state)
{
	struct rp_pathset *s = make_plain(4, 8);
	u32 count[32] = { 0 }, turn, i;

	s->entry[5].factor = 16;
	rp_pathset_publish(s, 5);
	for (turn = 0; turn < 24000; turn++)
		count[rp_pathset_other(s, 0, turn)]++;
	for (i = 0; i < 32; i++) {
		if (i % 4 == 0)
			assert_int_equal(count[i], 0);
		else if (i == 5)	/* where a queue stands */
			assert_in_range(count[i], 0, 200);
		else
			assert_in_range(count[i], 850, 1250);
	}
	free(s);
}

/* --- ports come and go --- */

static void ports_change(void **state)
{
	struct rp_pathset *s = make_plain(2, 4), *next;
	u32 i;

	rp_health_lost(&s->entry[2].health, 7, 0, &knobs, now);
	s->entry[2].factor = 99;
	ports[1].up = false;
	rp_pathset_ports(s, ports, &knobs, now);
	assert_int_equal(s->usable, 4);
	for (i = 0; i < 8; i++)
		assert_int_equal(s->entry[i].health.reason,
				 i % 2 ? ROCEPATH_REASON_CARRIER : ROCEPATH_REASON_NEW);
	ports[0].up = false;
	rp_pathset_ports(s, ports, &knobs, now);
	assert_int_equal(s->usable, 0);
	assert_int_equal(rp_pathset_pin(s, 1234), RP_PATHSET_NONE);
	assert_int_equal(rp_pathset_other(s, 0, 1), RP_PATHSET_NONE);
	assert_int_equal(rp_pathset_next(s, &s->spray_turns, &(struct rp_pathset_cursor){ 0 }),
			 RP_PATHSET_NONE);
	ports[0].up = true;
	ports[1].up = true;
	rp_pathset_ports(s, ports, &knobs, now);
	for (i = 0; i < 8; i++)
		assert_int_equal(s->entry[i].health.state, ROCEPATH_PATH_PROBATION);

	/* another weight, another port: what there was is known still */
	ports[1].weight = 2;
	rp_pathset_ports(s, ports, &knobs, now);
	assert_int_equal(s->entry[0].share, 128);
	assert_int_equal(s->entry[1].share, 256);
	add_port(7, 1, 2);
	next = make(NULL, s);
	assert_int_equal(next->n, 10);
	i = rp_pathset_find(next, (struct rp_path){ 0, 1 });
	assert_int_equal(next->entry[i].health.lost_total, 7);
	assert_int_equal(next->entry[i].factor, 99);
	assert_int_equal(next->usable, 2);
	free(next);
	free(s);
}

/* --- what is polled --- */

struct seen {
	u32 changes;
	u16 index;
	u8 before;
};

static void saw(void *arg, u16 index, u8 before)
{
	struct seen *seen = arg;

	seen->changes++;
	seen->index = index;
	seen->before = before;
}

/* One report: each usable path got so many packets and lost some of them. */
static void report(struct rp_pathset *s, u32 packets, const double *loss, struct seen *seen)
{
	u32 i, k, gone;

	now += I;
	for (i = 0; i < s->n; i++) {
		struct rp_health *h = &s->entry[i].health;

		if (!rp_pathset_usable(s, i))
			continue;
		for (gone = 0, k = 0; k < packets; k++)
			gone += rnd() < loss[i] * 4294967296.0;
		rp_health_arrived(h, packets - gone, now, now);
		rp_health_lost(h, gone, now - 1, &knobs, now);
	}
	rp_pathset_poll(s, now, false, &knobs, now, saw, seen);
}

static u32 count_out(const struct rp_pathset *s)
{
	return s->n - s->usable;
}

/* 1 % on one of four is found after about 1,000 packets, and nothing else is. */
static void lossy_path_is_found(void **state)
{
	u32 seed, packets, sum = 0, most = 0, n = ROUNDS(1000), wrong = 0;
	double loss[4] = { 0, 0, 0.01, 0 };

	for (seed = 0; seed < n; seed++) {
		struct rp_pathset *s = make_plain(4, 1);
		struct seen seen = { 0 };

		for (packets = 0; packets < 20000 && !seen.changes; packets += 10)
			report(s, 10, loss, &seen);
		require(seen.changes == 1 && seen.index == 2, "not found");
		require(seen.before == ROCEPATH_PATH_UP && count_out(s) == 1, "not out");
		require(s->entry[2].health.reason == ROCEPATH_REASON_LOSS, "no reason");
		sum += packets;
		most = max(most, packets);
		free(s);
	}
	printf("# 1 %% on one of four: found after %u packets, at most %u\n", sum / n, most);
	assert_true(sum / n < 1400);

	/* with 0.1 % on all it takes as long, and others stay */
	for (sum = 0, seed = 0; seed < n; seed++) {
		static const double background[4] = { 0.001, 0.001, 0.001, 0.001 };
		struct rp_pathset *s = make_plain(4, 1);
		struct seen seen = { 0 };

		for (packets = 0; packets < 2000; packets += 10)
			report(s, 10, background, &seen);
		wrong += seen.changes;
		memcpy(loss, background, sizeof(loss));
		loss[1] = 0.01;
		seen.changes = 0;
		for (packets = 0; packets < 20000 && !seen.changes; packets += 10)
			report(s, 10, loss, &seen);
		wrong += seen.index != 1;
		sum += packets;
		free(s);
	}
	printf("# with 0.1 %% on all: after %u packets, %u of %u wrong\n", sum / n, wrong, n);
	assert_true(sum / n < 1500);
	assert_true(wrong <= 3);
}

static void common_loss_is_no_paths_fault(void **state)
{
	static const double rate[] = { 0.001, 0.01, 0.05 };
	double loss[8], mean;
	u32 seed, i, k, out[3] = { 0 }, n = ROUNDS(200);

	for (k = 0; k < 3; k++) {
		for (i = 0; i < 8; i++)
			loss[i] = rate[k];
		for (seed = 0; seed < n; seed++) {
			struct rp_pathset *s = make_plain(2, 4);
			struct seen seen = { 0 };

			for (i = 0; i < 500; i++)
				report(s, 20, loss, &seen);
			out[k] += seen.changes;
			require(s->usable >= 4, "%u usable", s->usable);
			free(s);
		}
		mean = (double)out[k] / n;
		printf("# %.1f %% on all 8, 10,000 packets each: %.2f taken out\n", rate[k] * 100,
		       mean);
	}
	assert_true(out[0] <= 2);
	/* few rounds are no mean */
	assert_true(out[1] < n / 2 + 8 && out[2] < n / 2 + 8);
}

/* The worst first, and never more than half. */
static void never_more_than_half(void **state)
{
	double loss[8] = { 0.2, 0, 0.1, 0, 0, 0.3, 0, 0 };
	struct rp_pathset *s = make_plain(8, 1);
	struct seen seen = { 0 };
	u32 i;

	for (i = 0; i < 50; i++)
		report(s, 50, loss, &seen);
	assert_int_equal(count_out(s), 3);
	assert_int_equal(s->weight[0] + s->weight[2] + s->weight[5], 0);
	/* five of eight lose: not more than half can go */
	loss[1] = 0.2;
	loss[3] = 0.2;
	for (i = 0; i < 50; i++)
		report(s, 50, loss, &seen);
	assert_int_equal(count_out(s), 4);
	free(s);

	s = make_plain(1, 1);
	seen.changes = 0;
	for (i = 0; i < 100; i++)
		report(s, 50, loss, &seen);
	assert_int_equal(seen.changes, 0);
	free(s);

	s = make_plain(2, 1);
	loss[0] = 0;
	loss[1] = 0.05;
	for (i = 0; i < 100; i++)
		report(s, 50, loss, &seen);
	assert_int_equal(count_out(s), 1);
	assert_int_equal(seen.index, 1);
	free(s);
}

static void all_silent(void **state)
{
	struct rp_pathset *s = make_plain(2, 4);
	struct seen seen = { 0 };
	u32 i, k;

	for (i = 0; i < s->n; i++)
		rp_health_sent(&s->entry[i].health, now);
	/* the peer is gone: all stay */
	for (k = 0; k < 100; k++) {
		now += I / 2;
		rp_pathset_poll(s, 0, true, &knobs, now, saw, &seen);
	}
	assert_int_equal(seen.changes, 0);
	assert_int_equal(s->usable, 8);
	/* it is there, but nothing that we send arrives */
	for (k = 0; k < 20; k++) {
		now += I / 2;
		rp_pathset_poll(s, now, false, &knobs, now, saw, &seen);
	}
	assert_int_equal(seen.changes, 16);
	assert_int_equal(s->usable, 0);
	assert_int_equal(rp_pathset_pin(s, rnd()), RP_PATHSET_NONE);
	/* and comes back, at an eighth of its share first */
	for (k = 0; k < 400; k++) {
		now += I / 2;
		rp_pathset_poll(s, now, false, &knobs, now, NULL, NULL);
		for (i = 0; i < s->n; i++) {
			struct rp_health *h = &s->entry[i].health;
			u32 usable = s->usable;

			if (!rp_health_probe_due(h, 0, &knobs, now))
				continue;
			rp_health_probed(h, &knobs, now);
			if (!rp_health_answered(h, now, &knobs, now))
				continue;
			rp_pathset_publish(s, i);
			assert_int_equal(s->weight[i], 32);
			assert_int_equal(s->usable, usable + 1);
		}
	}
	assert_int_equal(s->usable, 8);
	for (i = 0; i < s->n; i++)
		assert_int_equal(s->weight[i], 256);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),
		cmocka_unit_test(too_many_are_shared_out),
		cmocka_unit_test(shares),
		cmocka_unit_test(pick_as_the_naive_one),
		cmocka_unit_test(published_as_it_is),
		cmocka_unit_test(equal_paths_once_a_turn),
		cmocka_unit_test(weights_are_exact),
		cmocka_unit_test(short_flows_are_even),
		cmocka_unit_test(pin_stays),
		cmocka_unit_test(pins_by_weight),
		cmocka_unit_test(another_path_for_a_repair),
		cmocka_unit_test(repairs_are_spread),
		cmocka_unit_test(ports_change),
		cmocka_unit_test(lossy_path_is_found),
		cmocka_unit_test(common_loss_is_no_paths_fault),
		cmocka_unit_test(never_more_than_half),
		cmocka_unit_test(all_silent),
	};

	return unit_run(tests);
}
