// SPDX-License-Identifier: GPL-2.0
/* See repair_model.h. Slow on purpose. */
#include <stdlib.h>

#include "repair_model.h"

#define SPACE 0x1000000ll
#define HALF 0x800000ll

/* from @at to the place of @psn that is nearest to it */
static s64 way(s64 at, u32 psn)
{
	s64 d = (s64)psn - at % SPACE;

	while (d >= HALF)
		d -= SPACE;
	while (d < -HALF)
		d += SPACE;
	return d;
}

/* the same, where just half of the space is to count as ahead */
static s64 way_up(s64 at, u32 psn)
{
	s64 d = way(at, psn);

	return d == -HALF ? HALF : d;
}

static s64 end(const struct repair_packet *p)
{
	return p->at + p->span;
}

/* all that @gone names go; the others stay in order */
static u32 purge(struct repair_model *m, const bool *gone, u32 *ids)
{
	u32 i, n = 0, left = 0;

	for (i = 0; i < m->n; i++) {
		if (gone[i])
			ids[n++] = m->packet[i].id;
		else
			m->packet[left++] = m->packet[i];
	}
	m->n = left;
	return n;
}

u64 repair_model_bytes(const struct repair_model *m)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < m->n; i++)
		bytes += m->packet[i].bytes;
	return bytes;
}

u32 repair_model_lost(const struct repair_model *m)
{
	u32 i, n = 0;

	for (i = 0; i < m->n; i++)
		n += m->packet[i].lost;
	return n;
}

u32 repair_model_sent(struct repair_model *m, u32 psn, const struct repair_packet *p,
		      const struct rp_repair_caps *caps, u32 *ids)
{
	bool gone[REPAIR_PACKETS] = { false };
	struct repair_packet new = *p;
	u32 i, first = 0, last = m->n;
	s64 from = m->n ? end(&m->packet[m->n - 1]) : 1000 * SPACE;
	u64 bytes = repair_model_bytes(m);

	new.at = from + way(from, psn);
	new.first = new.path;
	while (last && end(&m->packet[last - 1]) > new.at) {
		gone[--last] = true;
		bytes -= m->packet[last].bytes;
		m->stats.rewound++;
	}
	while (first < last && (last - first >= caps->packets || bytes + new.bytes > caps->bytes ||
				end(&new) - m->packet[first].at >= HALF)) {
		gone[first] = true;
		bytes -= m->packet[first++].bytes;
		m->stats.let_go++;
	}
	m->stats.kept++;
	i = purge(m, gone, ids);
	if (m->n < caps->packets && bytes + new.bytes <= caps->bytes) {
		m->packet[m->n++] = new;
		return i;
	}
	m->stats.let_go++;
	ids[i++] = new.id;
	return i;
}

static void arrived(struct repair_model *m, const struct repair_packet *p, bool reported)
{
	struct rp_repair_path *path = &m->path[p->path];

	m->stats.arrived++;
	if (p->tries) {
		if (p->first != RP_REPAIR_NO_PATH)
			m->path[p->first].repaired++;
		return;
	}
	if (p->path == RP_REPAIR_NO_PATH)
		return;
	path->delivered++;
	if (p->sent_ns > path->delivered_sent_ns)
		path->delivered_sent_ns = p->sent_ns;
	if (reported && p->sent_ns > path->arrived_ns)
		path->arrived_ns = p->sent_ns;
}

u32 repair_model_acked(struct repair_model *m, u32 psn, u32 *ids)
{
	bool gone[REPAIR_PACKETS] = { false };
	s64 to = m->n ? m->packet[0].at + way(m->packet[0].at, psn) : 0;
	u32 i;

	for (i = 0; i < m->n; i++) {
		gone[i] = m->packet[i].at < to;
		if (gone[i])
			arrived(m, &m->packet[i], false);
	}
	return purge(m, gone, ids);
}

u32 repair_model_reported(struct repair_model *m, u32 expected, const u32 *held, u32 words,
			  u32 *ids)
{
	bool gone[REPAIR_PACKETS] = { false };
	s64 to = m->n ? m->packet[0].at + way_up(m->packet[0].at, expected) : 0;
	u32 i;

	for (i = 0; i < m->n; i++) {
		s64 bit = m->packet[i].at - to - 1;

		gone[i] = m->packet[i].at < to;
		if (bit >= 0 && bit < words * 32)
			gone[i] = held[bit / 32] & 1u << bit % 32;
		if (gone[i])
			arrived(m, &m->packet[i], true);
	}
	return purge(m, gone, ids);
}

/* packets that @lost names are to be sent again, or are given up */
static u32 lose(struct repair_model *m, const bool *lost, u32 *ids)
{
	bool gone[REPAIR_PACKETS] = { false };
	u32 i;

	for (i = 0; i < m->n; i++) {
		if (!lost[i] || m->packet[i].lost)
			continue;
		m->packet[i].lost = true;
		gone[i] = m->packet[i].tries == RP_REPAIR_TRIES;
		m->stats.given_up += gone[i];
	}
	return purge(m, gone, ids);
}

u32 repair_model_find_lost(struct repair_model *m, u32 horizon,
			   const struct rp_repair_clock *clock, u32 *ids)
{
	s64 to = m->n ? m->packet[0].at + way_up(m->packet[0].at, horizon) : 0;
	bool lost[REPAIR_PACKETS] = { false };
	u32 i, j;

	for (i = 0; i < m->n; i++) {
		struct repair_packet *p = &m->packet[i];
		static struct rp_repair_path none;
		struct rp_repair_path *path = p->path == RP_REPAIR_NO_PATH ? &none :
									     &m->path[p->path];
		u64 tail = (u64)clock->tail_us * 1000, round = (u64)clock->round_us * 1000;

		for (j = 0; j < p->tries; j++) {
			tail *= 2;
			round *= 2;
		}
		if (p->at < to)
			lost[i] = (round && clock->now_ns >= p->sent_ns + round) ||
				  path->arrived_ns > p->sent_ns + clock->slack_us * 1000ull ||
				  clock->arrived_ns > p->sent_ns + clock->spread_us * 1000ull;
		if (clock->now_ns >= p->sent_ns + tail)
			lost[i] = true;
		if (p->lost || !lost[i])
			continue;
		if (!p->tries && p->path != RP_REPAIR_NO_PATH) {
			p->first = p->path;
			path->lost_sent_ns = max(path->lost_sent_ns, p->sent_ns);
		}
		if (p->tries == RP_REPAIR_TRIES && p->first != RP_REPAIR_NO_PATH)
			m->path[p->first].lost++;
	}
	return lose(m, lost, ids);
}

u32 repair_model_path_failed(struct repair_model *m, u32 failed, u32 *ids)
{
	bool lost[REPAIR_PACKETS];
	u32 i;

	for (i = 0; i < m->n; i++) {
		lost[i] = m->packet[i].path != RP_REPAIR_NO_PATH &&
			  failed >> m->packet[i].path & 1;
		if (lost[i] && !m->packet[i].lost && !m->packet[i].tries)
			m->packet[i].first = RP_REPAIR_NO_PATH;
	}
	return lose(m, lost, ids);
}

void repair_model_renumber(struct repair_model *m, const u16 *now)
{
	struct rp_repair_path path[REPAIR_PATHS] = { 0 };
	u32 i;

	for (i = 0; i < REPAIR_PATHS; i++)
		if (now[i] != RP_REPAIR_NO_PATH)
			path[now[i]] = m->path[i];
	memcpy(m->path, path, sizeof(path));
	for (i = 0; i < m->n; i++) {
		struct repair_packet *p = &m->packet[i];
		bool gone = p->path != RP_REPAIR_NO_PATH && now[p->path] == RP_REPAIR_NO_PATH;

		if (p->first != RP_REPAIR_NO_PATH)
			p->first = now[p->first];
		if (p->path != RP_REPAIR_NO_PATH)
			p->path = now[p->path];
		p->lost |= gone && p->tries < RP_REPAIR_TRIES;
	}
}

void repair_model_settle(struct repair_model *m, u32 repaired, u32 *lost, u32 *late)
{
	u32 before = 0, now = 0, i;
	s64 more = (s32)(repaired - m->told);

	for (i = 0; i < REPAIR_PATHS; i++) {
		before += m->path[i].repaired_before;
		now += m->path[i].repaired;
	}
	if (more > 0)
		m->told = repaired;
	*lost = more <= 0 ? 0 : more < before + now ? more : before + now;
	*late = *lost < before ? before - *lost : 0;
}

u32 repair_model_clear(struct repair_model *m, u32 *ids)
{
	bool gone[REPAIR_PACKETS];
	u32 i;

	for (i = 0; i < m->n; i++)
		gone[i] = true;
	m->stats.let_go += m->n;
	return purge(m, gone, ids);
}

u32 repair_model_next(const struct repair_model *m)
{
	u32 i;

	for (i = 0; i < m->n && !m->packet[i].lost; i++)
		;
	return i;
}

void repair_model_resent(struct repair_model *m, u16 path, u64 now_ns)
{
	struct repair_packet *p = &m->packet[repair_model_next(m)];

	p->lost = false;
	p->tries++;
	p->path = path;
	p->sent_ns = now_ns;
	m->stats.repaired++;
}
