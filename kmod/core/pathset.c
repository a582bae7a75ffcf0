// SPDX-License-Identifier: GPL-2.0
#include "pathset.h"
#include "budget.h"

#define WORD_BITS 32
#define WEIGHT_BITS 8
/* the planes behind those of the bits */
#define PLANE_WHOLE WEIGHT_BITS
#define PLANE_ANY (WEIGHT_BITS + 1)
/* planes that turns go through */
#define TURN_PLANES ((1u << PLANE_ANY) - 1)
/* a flow asks for so many paths by its hash before it takes what is next */
#define PIN_TRIES 8
/* a repair looks at so many paths for one of another port */
#define OTHER_TRIES 64

static u32 words(u32 n)
{
	return (n + WORD_BITS - 1) / WORD_BITS;
}

static u32 lowest(u32 bits)
{
	return __builtin_ctz(bits);
}

/* --- picking --- */

/* The next path from @pos on in a plane, RP_PATHSET_NONE behind the last. */
static u32 next_in_plane(const struct rp_pathset *s, const struct rp_pathset_turns *t, u32 plane,
			 u32 pos)
{
	const u32 *word = t->word + plane * words(s->n);
	u32 i = pos / WORD_BITS, rest, bits;

	if (pos >= s->n)
		return RP_PATHSET_NONE;
	bits = READ_ONCE(word[i]) & ~0u << pos % WORD_BITS;
	if (bits)
		return i * WORD_BITS + lowest(bits);
	rest = READ_ONCE(t->summary[plane]) & ~1u << i;
	while (rest) {
		i = lowest(rest);
		bits = READ_ONCE(word[i]);
		if (bits)
			return i * WORD_BITS + lowest(bits);
		rest &= rest - 1;	/* just emptied */
	}
	return RP_PATHSET_NONE;
}

/* The same, going on at the beginning. */
static u32 next_around(const struct rp_pathset *s, u32 pos)
{
	u32 i = next_in_plane(s, &s->spray_turns, PLANE_ANY, pos);

	return i == RP_PATHSET_NONE ? next_in_plane(s, &s->spray_turns, PLANE_ANY, 0) : i;
}

/* Odd turns have the plane of the highest bit, each second of the others the next, and so on. */
static u32 plane_of(u32 turn)
{
	return lowest(turn | 1u << WEIGHT_BITS);
}

/*
 * The turn after @turn, but for turns that are empty for sure: with the highest
 * p planes empty, all that are no multiples of 2^p.
 */
static u32 turn_after(u32 turn, u32 filled)
{
	u32 first = lowest(filled);

	return (turn | ((1u << first) - 1)) + 1;
}

void rp_pathset_start(struct rp_pathset_cursor *c, u32 hash)
{
	c->pos = RP_PATHSET_START | (hash & (RP_PATHSET_START - 1));
	c->turn = hash >> 16;
}

u16 rp_pathset_next(const struct rp_pathset *s, const struct rp_pathset_turns *turns,
		    struct rp_pathset_cursor *c)
{
	u32 pos = READ_ONCE(c->pos), turn = READ_ONCE(c->turn);
	u32 filled = READ_ONCE(turns->filled) & TURN_PLANES, tries, i;

	if (unlikely(pos >= RP_PATHSET_START))
		pos = (pos - RP_PATHSET_START) * s->n / RP_PATHSET_START;
	/* of two turns after each other one is not empty, unless weights change just now */
	for (tries = 0; filled && tries < 4; tries++) {
		i = next_in_plane(s, turns, plane_of(turn), pos);
		if (i != RP_PATHSET_NONE) {
			WRITE_ONCE(c->pos, i + 1);
			if (tries)
				WRITE_ONCE(c->turn, turn);
			return i;
		}
		turn = turn_after(turn, filled);
		pos = 0;
	}
	return next_in_plane(s, turns, PLANE_ANY, 0);
}

/* Steps of a sequence that two hashes share only if they are the same. */
static u32 mix(u32 x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

static u32 scale(u32 hash, u32 n)
{
	return (u64)hash * n >> 32;
}

u16 rp_pathset_pin(const struct rp_pathset *s, u32 hash)
{
	u32 tries, i = 0;

	if (unlikely(!READ_ONCE(s->spray_turns.filled)))
		return RP_PATHSET_NONE;
	for (tries = 0; tries < PIN_TRIES; tries++) {
		hash = mix(hash + 0x9e3779b9u);
		i = scale(hash, s->n);
		/* the low bits are not those that the index comes from */
		if ((hash & (RP_PATH_WEIGHT_MAX - 1)) < READ_ONCE(s->weight[i]))
			return i;
	}
	return next_around(s, i);
}

u16 rp_pathset_other(const struct rp_pathset *s, u16 index, u32 turn)
{
	u32 tries, i, hash = turn, spare = RP_PATHSET_NONE;
	u8 port = index == RP_PATHSET_NONE ? ROCEPATH_PORTS_MAX : s->entry[index].path.port;

	/* first by weight, that repairs do not go where a queue stands */
	for (tries = 0; tries < PIN_TRIES; tries++) {
		hash = mix(hash + 0x9e3779b9u);
		i = scale(hash, s->n);
		if (s->entry[i].path.port != port &&
		    (hash & (RP_PATH_WEIGHT_MAX - 1)) < READ_ONCE(s->adaptive[i]))
			return i;
	}
	i = scale(hash, s->n);
	for (tries = 0; tries < OTHER_TRIES; tries++) {
		i = next_around(s, i);
		if (i == RP_PATHSET_NONE)
			break;
		if (s->entry[i].path.port != port)
			return i;
		if (i != index)
			spare = i;
		i++;
	}
	if (spare != RP_PATHSET_NONE)
		return spare;
	return index != RP_PATHSET_NONE && rp_pathset_usable(s, index) ? index : RP_PATHSET_NONE;
}

/* --- publishing --- */

static void put_bit(const struct rp_pathset *s, struct rp_pathset_turns *t, u32 plane, u32 index,
		    bool on)
{
	u32 i = index / WORD_BITS, bit = 1u << index % WORD_BITS;
	u32 *word = t->word + plane * words(s->n) + i;
	u32 bits = on ? *word | bit : *word & ~bit;
	u32 summary = t->summary[plane];

	if (bits == *word)
		return;
	WRITE_ONCE(*word, bits);
	summary = bits ? summary | 1u << i : summary & ~(1u << i);
	WRITE_ONCE(t->summary[plane], summary);
	WRITE_ONCE(t->filled, summary ? t->filled | 1u << plane : t->filled & ~(1u << plane));
}

static void put_weight(const struct rp_pathset *s, struct rp_pathset_turns *t, u16 *weight,
		       u32 index, u32 value)
{
	bool whole = value == RP_PATH_WEIGHT_MAX;
	u32 plane;

	if (weight[index] == value)
		return;
	for (plane = 0; plane < WEIGHT_BITS; plane++)
		put_bit(s, t, plane, index, whole || value >> (WEIGHT_BITS - 1 - plane) & 1);
	put_bit(s, t, PLANE_WHOLE, index, whole);
	put_bit(s, t, PLANE_ANY, index, value);
	WRITE_ONCE(weight[index], value);
}

/* A part of a part; what is usable gets something. */
static u32 part(u32 whole, u32 of)
{
	return whole ? max(whole * of / RP_PATH_WEIGHT_MAX, 1u) : 0;
}

static void put_weights(struct rp_pathset *s, u32 index, u32 weight, u32 adaptive)
{
	put_weight(s, &s->spray_turns, s->weight, index, weight);
	put_weight(s, &s->adaptive_turns, s->adaptive, index, adaptive);
}

/* RP_PATHSET_NONE: none is in any of them */
static u32 least_doubtful(const struct rp_pathset *s)
{
	static const u8 states[] = { ROCEPATH_PATH_SUSPECT, ROCEPATH_PATH_PROBATION };
	u32 k, i;

	for (k = 0; k < ARRAY_SIZE(states); k++)
		for (i = 0; i < s->n; i++)
			if (s->entry[i].health.state == states[k])
				return states[k];
	return RP_PATHSET_NONE;
}

/* While no path is up, those carry what there is that are least in doubt. */
static void resort(struct rp_pathset *s)
{
	u32 state = s->usable ? RP_PATHSET_NONE : least_doubtful(s), i;

	if (!s->last_resort && state == RP_PATHSET_NONE)
		return;
	for (i = 0; i < s->n; i++) {
		u32 weight = s->entry[i].health.state == state;

		if (s->entry[i].health.state != ROCEPATH_PATH_UP)
			put_weights(s, i, weight, weight);
	}
	s->last_resort = state != RP_PATHSET_NONE;
}

void rp_pathset_publish(struct rp_pathset *s, u16 index)
{
	struct rp_pathset_entry *e = &s->entry[index];
	bool up = e->health.state == ROCEPATH_PATH_UP && e->share;
	u32 weight = up ? part(e->share, e->health.ramp) : 0;

	put_weights(s, index, weight, part(weight, e->factor));
	if (e->published && !up)
		WRITE_ONCE(s->failures, s->failures + 1);
	WRITE_ONCE(s->usable, s->usable + up - e->published);
	e->published = up;
	resort(s);
}

/* --- layout --- */

size_t rp_pathset_size(u32 n)
{
	return sizeof(struct rp_pathset) +
	       n * (sizeof(struct rp_pathset_entry) + 3 * sizeof(u16)) + sizeof(u32) +
	       2 * RP_PATHSET_PLANES * words(n) * sizeof(u32);
}

static u32 capped(const struct rp_paths_port *port, u32 cap)
{
	u32 evs = port->weight ? port->evs : 0;

	return min(evs, cap);
}

static u32 count_capped(const struct rp_paths_port *ports, u32 cap)
{
	u32 i, n = 0;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		n += capped(&ports[i], cap);
	return n;
}

/* Of each port's EVs so many at most. */
static u32 evs_cap(const struct rp_paths_port *ports)
{
	u32 cap = ROCEPATH_EVS_MAX;

	while (count_capped(ports, cap) > RP_PATHSET_MAX)
		cap--;
	return cap;
}

u32 rp_pathset_count(const struct rp_paths_port *ports)
{
	return count_capped(ports, evs_cap(ports));
}

static u32 common_divisor(u32 a, u32 b)
{
	while (b) {
		u32 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * A path's share is its port's weight divided by the port's EVs. As whole numbers
 * in exactly that ratio where RP_PATH_WEIGHT_MAX allows, else as close as it does.
 */
static void make_shares(u16 *share, const struct rp_paths_port *ports, u32 cap)
{
	u32 raw[ROCEPATH_PORTS_MAX] = { 0 }, divisor = 0, most = 0, evs = 0, i;

	for (i = 0; i < ROCEPATH_PORTS_MAX; i++)
		evs = max(evs, capped(&ports[i], cap));
	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		if (!ports[i].weight)
			continue;
		raw[i] = ports[i].weight * evs * RP_PATH_WEIGHT_MAX / capped(&ports[i], cap);
		divisor = common_divisor(raw[i], divisor);
		most = max(most, raw[i]);
	}
	for (i = 0; i < ROCEPATH_PORTS_MAX; i++) {
		if (!ports[i].weight)
			share[i] = 0;
		else if (most / divisor <= RP_PATH_WEIGHT_MAX)
			share[i] = raw[i] / divisor * (RP_PATH_WEIGHT_MAX / (most / divisor));
		else
			share[i] = max((u32)div_u64((u64)raw[i] * RP_PATH_WEIGHT_MAX + most / 2,
						    most), 1u);
	}
}

static struct rp_pathset *carve(void *memory, u32 n)
{
	struct rp_pathset *s = memory;
	u32 planes = RP_PATHSET_PLANES * words(n);

	s->n = n;
	s->entry = (struct rp_pathset_entry *)(s + 1);
	s->spray_turns.word = (u32 *)(s->entry + n);
	s->adaptive_turns.word = s->spray_turns.word + planes;
	s->weight = (u16 *)(s->adaptive_turns.word + planes);
	s->adaptive = s->weight + n;
	s->order = s->adaptive + n;
	return s;
}

static u32 path_key(struct rp_path path)
{
	return path.port << 8 | path.ev;
}

/* Insertion from the back, and runs of it are in order already: cheap for what it gets. */
static void put_in_order(struct rp_pathset *s, u32 sorted, u16 index)
{
	u32 key = path_key(s->entry[index].path);

	while (sorted && path_key(s->entry[s->order[sorted - 1]].path) > key) {
		s->order[sorted] = s->order[sorted - 1];
		sorted--;
	}
	s->order[sorted] = index;
}

static void init_entry(struct rp_pathset_entry *e, struct rp_path path, bool up,
		       const struct rp_pathset *old, u64 now_ns)
{
	u16 was = old ? rp_pathset_find(old, path) : RP_PATHSET_NONE;

	if (was != RP_PATHSET_NONE) {
		*e = old->entry[was];
		e->published = false;
		return;
	}
	e->path = path;
	e->factor = RP_PATH_WEIGHT_MAX;
	rp_adapt_init(&e->adapt, now_ns);
	rp_health_init(&e->health, up, now_ns);
	e->health.phase = rp_budget_phase(path_key(path));
}

struct rp_pathset *rp_pathset_init(void *memory, const struct rp_paths_port *ports,
				   const u8 evs[][ROCEPATH_EVS_MAX],
				   const struct rp_pathset *old, u64 now_ns)
{
	struct rp_pathset *s = carve(memory, rp_pathset_count(ports));
	u32 cap = evs_cap(ports), i = 0, nth, port;
	u16 share[ROCEPATH_PORTS_MAX];

	s->failures = old ? old->failures : 0;
	for (port = 0; old && port < ROCEPATH_PORTS_MAX; port++)
		s->newest_ns[port] = old->newest_ns[port];
	make_shares(share, ports, cap);
	for (nth = 0; nth < cap; nth++) {
		for (port = 0; port < ROCEPATH_PORTS_MAX; port++) {
			struct rp_path path = { .port = port, .ev = evs ? evs[port][nth] : nth };

			if (!ports[port].weight || nth >= ports[port].evs)
				continue;
			init_entry(&s->entry[i], path, ports[port].up, old, now_ns);
			s->entry[i].share = share[port];
			rp_pathset_publish(s, i++);
		}
	}
	for (port = 0, nth = 0; port < ROCEPATH_PORTS_MAX; port++)
		for (i = 0; i < s->n; i++)
			if (s->entry[i].path.port == port)
				put_in_order(s, nth++, i);
	return s;
}

u16 rp_pathset_find(const struct rp_pathset *s, struct rp_path path)
{
	u32 lo = 0, hi = s->n, key = path_key(path);

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;
		u32 at = path_key(s->entry[s->order[mid]].path);

		if (at == key)
			return s->order[mid];
		if (at < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return RP_PATHSET_NONE;
}

bool rp_pathset_account(struct rp_pathset *s, u16 index, struct rp_repair_path *p,
			const struct rp_health_knobs *knobs, u64 now_ns)
{
	struct rp_pathset_entry *e = &s->entry[index];
	u64 *newest_ns = &s->newest_ns[e->path.port];
	bool changed = false;

	if (p->delivered) {
		e->traced_ns = now_ns;
		*newest_ns = max(*newest_ns, min(p->arrived_ns, now_ns));
		changed |= rp_health_arrived(&e->health, p->delivered, p->delivered_sent_ns,
					     now_ns);
	}
	if (p->lost)
		changed |= rp_health_lost(&e->health, p->lost, p->lost_sent_ns, knobs, now_ns);
	p->delivered = 0;
	p->lost = 0;
	if (changed)
		rp_pathset_publish(s, index);
	return changed;
}

/* --- time passes --- */

void rp_pathset_ports(struct rp_pathset *s, const struct rp_paths_port *ports,
		      const struct rp_health_knobs *knobs, u64 now_ns)
{
	u16 share[ROCEPATH_PORTS_MAX];
	u32 i;

	make_shares(share, ports, evs_cap(ports));
	for (i = 0; i < s->n; i++) {
		struct rp_pathset_entry *e = &s->entry[i];

		rp_health_carrier(&e->health, ports[e->path.port].up, knobs, now_ns);
		e->share = share[e->path.port];
		rp_pathset_publish(s, i);
	}
}

/* Does it lose more than twice what the other usable paths lose, in the median? */
static bool stands_out(const struct rp_pathset *s, u32 index)
{
	u32 i, others = 0, below = 0;

	for (i = 0; i < s->n; i++) {
		if (i == index || !s->entry[i].published)
			continue;
		others++;
		below += rp_health_exceeds(&s->entry[index].health,
					   2 * rp_health_loss_ppm(&s->entry[i].health));
	}
	return 2 * below > others;
}

static u32 worst_path(const struct rp_pathset *s)
{
	u32 i, worst = RP_PATHSET_NONE, most = 0;

	for (i = 0; i < s->n; i++) {
		u32 loss_ppm = rp_health_excess_ppm(&s->entry[i].health);

		if (loss_ppm > most && s->entry[i].published && stands_out(s, i)) {
			worst = i;
			most = loss_ppm;
		}
	}
	return worst;
}

static u32 count_lossy(const struct rp_pathset *s)
{
	u32 i, n = 0;

	for (i = 0; i < s->n; i++)
		n += s->entry[i].health.lossy;
	return n;
}

static void take_out_lossy(struct rp_pathset *s, const struct rp_health_knobs *knobs, u64 now_ns,
			   void (*changed)(void *arg, u16 index, u8 before), void *arg)
{
	u32 worst, lossy;

	while ((worst = worst_path(s)) != RP_PATHSET_NONE) {
		lossy = count_lossy(s);
		if (2 * (lossy + 1) > lossy + s->usable)
			return;
		rp_health_take_out(&s->entry[worst].health, knobs, now_ns);
		rp_pathset_publish(s, worst);
		if (changed)
			changed(arg, worst, ROCEPATH_PATH_UP);
	}
}

/* Ports differ in queues and cables: only so much before the newest it has arrived by each. */
static u64 newest_elsewhere(const struct rp_pathset *s, const struct rp_health_knobs *knobs)
{
	u64 newest_ns = 0;
	u32 port;

	for (port = 0; port < ROCEPATH_PORTS_MAX; port++)
		newest_ns = max(newest_ns, s->newest_ns[port]);
	return newest_ns - min(newest_ns, knobs->interval_ns + knobs->spread_ns);
}

void rp_pathset_poll(struct rp_pathset *s, u64 heard_ns, bool silent,
		     const struct rp_health_knobs *knobs, u64 now_ns,
		     void (*changed)(void *arg, u16 index, u8 before), void *arg)
{
	u64 elsewhere_ns = newest_elsewhere(s, knobs);
	bool any_lossy = false;
	u32 i;

	for (i = 0; i < s->n; i++) {
		const struct rp_hearing of_peer = {
			.heard_ns = heard_ns, .silent = silent,
			.newest_ns = max(s->newest_ns[s->entry[i].path.port], elsewhere_ns),
		};
		struct rp_health *h = &s->entry[i].health;
		u8 before = h->state;
		u16 ramp = h->ramp;
		bool news = rp_health_poll(h, &of_peer, knobs, now_ns);

		if (news || h->ramp != ramp)
			rp_pathset_publish(s, i);
		if (news && changed)
			changed(arg, i, before);
		any_lossy |= rp_health_excess_ppm(h);
	}
	if (any_lossy)
		take_out_lossy(s, knobs, now_ns, changed, arg);
}
