// SPDX-License-Identifier: GPL-2.0
/*
 * How weights become a table. Buckets are shared out by largest remainder: exact
 * to less than one. Buckets and ports are matched by a fixed affinity of each
 * pair (rendezvous hashing, with quotas), so that few flows move when the set of
 * ports changes.
 */
#include "paths.h"

#define NOBODY 0xff

/**
 * struct match - buckets that are looking for ports
 * @bucket: the port of each bucket, NOBODY while it is looking
 * @looking: bit set of the buckets that take part
 * @ports: bit set of the ports that take part
 * @quota: buckets that each port is to get, in sum as many as there are in @looking
 * @have: buckets that it has got
 */
struct match {
	u8 *bucket;
	u32 looking[RP_PATHS_BUCKETS / 32];
	u32 ports;
	u16 quota[ROCEPATH_PORTS_MAX];
	u16 have[ROCEPATH_PORTS_MAX];
};

static bool in_set(u32 set, unsigned int i)
{
	return set >> i & 1;
}

/* The port of @set that is the farthest below its quota of @total. */
static unsigned int neediest(const u16 *share, const struct rp_paths_port *ports, u32 set,
			     u32 total, u32 weights)
{
	unsigned int i, who = 0;
	s32 lack, most = -0x7fffffff;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		if (!in_set(set, i))
			continue;
		lack = (s32)(ports[i].weight * total) - (s32)(share[i] * weights);
		if (lack > most) {
			most = lack;
			who = i;
		}
	}
	return who;
}

/* Share out @total by weight among the ports of @set. */
static void share_out(u16 *share, const struct rp_paths_port *ports, u32 set, u32 total)
{
	u32 weights = 0, given;
	unsigned int i;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		share[i] = 0;
		weights += in_set(set, i) ? ports[i].weight : 0;
	}
	for (given = 0; set && given < total; given++)
		share[neediest(share, ports, set, total, weights)]++;
}

/* Distinct for distinct pairs: each step can be undone. */
static u32 affinity(u32 bucket, u32 port)
{
	u32 x = (bucket << 8 | port) + 1;

	x = (x ^ x >> 16) * 0x85ebca6bu;
	x = (x ^ x >> 13) * 0xc2b2ae35u;
	return x ^ x >> 16;
}

/* The port that @bucket likes best of those that it likes less than @limit. */
static unsigned int best_port(const struct match *m, u32 bucket, u64 limit)
{
	unsigned int i, who = 0;
	s64 best = -1;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		s64 a = affinity(bucket, i);

		if (in_set(m->ports, i) && a < (s64)limit && a > best) {
			best = a;
			who = i;
		}
	}
	return who;
}

/* The bucket of @port that it likes least, @bucket among them. */
static u32 worst_bucket(const struct match *m, u32 port, u32 bucket)
{
	u32 i, least = affinity(bucket, port);

	for (i = 0; i < RP_PATHS_BUCKETS; i++) {
		if (m->bucket[i] != port || !in_set(m->looking[i / 32], i % 32))
			continue;
		if (affinity(i, port) < least) {
			least = affinity(i, port);
			bucket = i;
		}
	}
	return bucket;
}

/*
 * Deferred acceptance (Gale and Shapley): a bucket asks ports in the order of
 * its liking; a port that has its quota sends away whom it likes least, who
 * asks on. The outcome does not depend on who asks first.
 */
static void place(struct match *m, u32 bucket)
{
	u64 limit = 1ull << 32;

	for (;;) {
		unsigned int port = best_port(m, bucket, limit);
		u32 worst;

		if (m->have[port] < m->quota[port]) {
			m->have[port]++;
			m->bucket[bucket] = port;
			return;
		}
		worst = worst_bucket(m, port, bucket);
		m->bucket[bucket] = port;
		m->bucket[worst] = NOBODY;
		limit = affinity(worst, port);
		bucket = worst;
	}
}

/* Find a port of @set for each bucket whose port is not of it. */
static void match_buckets(struct rp_paths *p, const struct rp_paths_port *ports, u32 set)
{
	struct match m = { .bucket = p->bucket, .ports = set };
	u32 i, looking = 0;

	for (i = 0; i < RP_PATHS_BUCKETS; i++) {
		if (p->bucket[i] != NOBODY && in_set(set, p->bucket[i]))
			continue;
		p->bucket[i] = NOBODY;
		m.looking[i / 32] |= 1u << i % 32;
		looking++;
	}
	share_out(m.quota, ports, set, looking);
	for (i = 0; i < RP_PATHS_BUCKETS; i++)
		if (in_set(m.looking[i / 32], i % 32))
			place(&m, i);
}

/*
 * First to their owners, whether these are up or not; then those of ports that are
 * down to the others.
 */
static void build_buckets(struct rp_paths *p, const struct rp_paths_port *ports, u32 all, u32 up)
{
	memset(p->bucket, NOBODY, sizeof(p->bucket));
	match_buckets(p, ports, all);
	if (up != all)
		match_buckets(p, ports, up);
}

void rp_paths_build(struct rp_paths *p, const struct rp_paths_port *ports)
{
	u32 all = 0, up = 0;
	unsigned int i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		if (!ports[i].weight)
			continue;
		p->evs[i] = ports[i].evs;
		all |= 1u << i;
		if (!ports[i].up)
			continue;
		up |= 1u << i;
		p->ports_up++;
		p->weight[i] = ports[i].weight;
		p->weights += ports[i].weight;
	}
	if (up)
		build_buckets(p, ports, all, up);
}

u32 rp_paths_share(const struct rp_paths *p, u8 port, u32 whole)
{
	return p->weights ? div_u64((u64)p->weight[port] * whole, p->weights) : 0;
}

/* (port, EV) as one number of 13 bits */
static u32 path_number(struct rp_path path)
{
	return path.port << 8 | path.ev;
}

/*
 * Multiplication by an odd number loses nothing. These two were searched for:
 * of 16 successive EVs, fabrics that hash any 2 to 4 successive bits, or the XOR
 * of all groups of up to 8 bits, see more than half of all values. The inverses
 * are modulo 2^14 and 2^20.
 */
#define SPORT_FACTOR		0x1ddd
#define SPORT_INVERSE		0x2275u
#define FLOWLABEL_FACTOR	0x6e90f
#define FLOWLABEL_INVERSE	0xee5efu

#define PATH_NUMBERS		(ROCEPATH_PORTS_MAX * ROCEPATH_EVS_MAX)

u16 rp_path_sport(struct rp_path path)
{
	return 0xc000 | (path_number(path) * SPORT_FACTOR & 0x3fff);
}

u32 rp_path_flowlabel(struct rp_path path)
{
	return (path_number(path) + 1) * FLOWLABEL_FACTOR & 0xfffff;
}

static bool path_of_number(u32 number, struct rp_path *path)
{
	if (number >= PATH_NUMBERS)
		return false;
	path->port = number >> 8;
	path->ev = number & 0xff;
	return true;
}

bool rp_path_of_sport(u16 sport, struct rp_path *path)
{
	return (sport & 0xc000) == 0xc000 &&
	       path_of_number((sport & 0x3fff) * SPORT_INVERSE & 0x3fff, path);
}

bool rp_path_of_flowlabel(u32 label, struct rp_path *path)
{
	return path_of_number(((label * FLOWLABEL_INVERSE) & 0xfffff) - 1, path);
}
