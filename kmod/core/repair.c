// SPDX-License-Identifier: GPL-2.0
/*
 * What was sent and is not known delivered. See repair.h.
 *
 * One list in the order of PSNs, no two of which are half of the PSN space
 * apart, so each can be compared with each. No entry before @waiting is lost:
 * looking for the next one to send again need not begin at the oldest.
 *
 * A packet that was sent more than once and arrived: which of its copies was it?
 * (Karn and Partridge, 1987.) It proves nothing of the time that a path takes,
 * and whether it was lost at all only the receiver can say (rp_repair_settle).
 * What an acknowledge says is newer than a report that left before it, so it
 * must not make that report's missing packets lost: @arrived_ns of a path comes
 * from reports alone.
 */
#include "repair.h"

#define HALF_SPACE 0x800000u
#define NS_PER_US 1000ull

static u32 end_of(const struct rp_sent *s)
{
	return rp_psn_add(s->psn, (s32)s->span);
}

static struct rp_sent *next_lost(struct rp_sent *s)
{
	while (s && !s->lost)
		s = s->next;
	return s;
}

static void unmark(struct rp_repair *r, struct rp_sent *s)
{
	if (!s->lost)
		return;
	s->lost = false;
	r->lost--;
	if (r->waiting == s)
		r->waiting = r->lost ? next_lost(s->next) : NULL;
}

static void unlink(struct rp_repair *r, struct rp_sent *s)
{
	unmark(r, s);
	*(s->prev ? &s->prev->next : &r->oldest) = s->next;
	*(s->next ? &s->next->prev : &r->newest) = s->prev;
	s->next = NULL;
	s->prev = NULL;
	r->packets--;
	r->bytes -= s->bytes;
}

static u32 first_psn(const struct rp_repair *r)
{
	return r->oldest ? r->oldest->psn : 0;
}

/*
 * How far is it ahead of @psn? From there the queue may reach beyond half of the
 * PSN space: only its first PSN can be compared.
 */
static s32 ahead_of(const struct rp_sent *s, u32 first, u32 psn)
{
	return rp_psn_diff(first, psn) + (s32)((s->psn - first) & RP_PSN_MASK);
}

/* Take an entry out and put it at the end of a list; returns the new end. */
static struct rp_sent **take(struct rp_repair *r, struct rp_sent *s, struct rp_sent **tail)
{
	unlink(r, s);
	*tail = s;
	return &s->next;
}

static void link_newest(struct rp_repair *r, struct rp_sent *s)
{
	s->next = NULL;
	s->prev = r->newest;
	*(r->newest ? &r->newest->next : &r->oldest) = s;
	r->newest = s;
	r->packets++;
	r->bytes += s->bytes;
	r->stats.kept++;
}

/* May it stand beside the oldest one? Less than half of the PSN space from end to end. */
static bool comparable(const struct rp_repair *r, const struct rp_sent *s)
{
	u32 queue = (r->newest->psn - r->oldest->psn) & RP_PSN_MASK;
	u32 ahead = (s->psn - r->newest->psn) & RP_PSN_MASK;

	return queue + ahead + s->span < HALF_SPACE;
}

static bool has_room(const struct rp_repair *r, const struct rp_sent *s,
		     const struct rp_repair_caps *caps)
{
	return r->packets < caps->packets && (u64)r->bytes + s->bytes <= caps->bytes &&
	       (!r->oldest || comparable(r, s));
}

struct rp_sent *rp_repair_sent(struct rp_repair *r, struct rp_sent *s,
			       const struct rp_repair_caps *caps)
{
	struct rp_sent *gone = NULL, **tail = &gone;

	s->first = s->path;
	while (r->newest && rp_psn_diff(s->psn, end_of(r->newest)) < 0) {
		tail = take(r, r->newest, tail);
		r->stats.rewound++;
	}
	while (r->oldest && !has_room(r, s, caps)) {
		tail = take(r, r->oldest, tail);
		r->stats.let_go++;
	}
	if (has_room(r, s, caps)) {
		link_newest(r, s);
	} else {
		r->stats.kept++;
		r->stats.let_go++;
		s->next = NULL;
		s->prev = NULL;
		*tail = s;
	}
	return gone;
}

/* It was sent once, by a path that there is: what becomes of it is news of that path. */
static bool tells_of_path(const struct rp_sent *s)
{
	return !s->tries && s->path != RP_REPAIR_NO_PATH;
}

static void note_delivered(const struct rp_sent *s, struct rp_repair_path *path)
{
	if (tells_of_path(s)) {
		struct rp_repair_path *p = &path[s->path];

		p->delivered++;
		p->delivered_sent_ns = max(p->delivered_sent_ns, s->sent_ns);
	} else if (s->tries && s->first != RP_REPAIR_NO_PATH) {
		path[s->first].repaired++;
	}
}

static struct rp_sent **arrive(struct rp_repair *r, struct rp_sent *s, struct rp_repair_path *path,
			       struct rp_sent **tail)
{
	note_delivered(s, path);
	r->stats.arrived++;
	return take(r, s, tail);
}

struct rp_sent *rp_repair_acked(struct rp_repair *r, u32 psn, struct rp_repair_path *path)
{
	struct rp_sent *gone = NULL, **tail = &gone;

	while (r->oldest && rp_psn_diff(psn, r->oldest->psn) > 0)
		tail = arrive(r, r->oldest, path, tail);
	return gone;
}

static bool is_held(u32 bit, const u32 *held, u32 words)
{
	return bit / 32 < words && held[bit / 32] >> bit % 32 & 1;
}

struct rp_sent *rp_repair_reported(struct rp_repair *r, u32 expected, const u32 *held, u32 words,
				   struct rp_repair_path *path)
{
	struct rp_sent *gone = NULL, **tail = &gone;
	struct rp_sent *s = r->oldest, *next;
	u32 first = first_psn(r);

	for (; s; s = next) {
		s32 ahead = ahead_of(s, first, expected);

		if (ahead > 0 && (u32)ahead > words * 32)
			break;
		next = s->next;
		if (!ahead || (ahead > 0 && !is_held((u32)ahead - 1, held, words)))
			continue;
		if (tells_of_path(s))
			path[s->path].arrived_ns = max(path[s->path].arrived_ns, s->sent_ns);
		tail = arrive(r, s, path, tail);
	}
	return gone;
}

/* A part of @lost in proportion to @part of @all, so that all parts make just @lost. */
struct shares {
	u32 lost;
	u32 all;
	u32 seen;
	u32 done;
};

static u32 share(struct shares *s, u32 part)
{
	u32 before = s->done;

	s->seen += part;
	if (s->all)
		s->done = (u32)div_u64((u64)s->lost * s->seen, s->all);
	return s->done - before;
}

void rp_repair_settle(struct rp_repair *r, u32 repaired, struct rp_repair_path *path, u32 n)
{
	s32 more = (s32)(repaired - r->told);
	struct shares before = { 0 }, now = { 0 };
	u32 i;

	for (i = 0; i < n; i++) {
		before.all += path[i].repaired_before;
		now.all += path[i].repaired;
	}
	/* it may become less: what was repaired came after all, and makes up for the next ones */
	if (more > 0) {
		r->told = repaired;
		before.lost = min_t(u32, more, before.all);
		now.lost = min_t(u32, more - before.lost, now.all);
	}
	if (!before.all && !now.all)
		return;
	for (i = 0; i < n; i++) {
		struct rp_repair_path *p = &path[i];
		u32 old = share(&before, p->repaired_before), new = share(&now, p->repaired);

		p->lost += old + new;
		p->delivered += p->repaired_before - old;
		p->repaired_before = p->repaired - new;
		p->repaired = 0;
	}
}

/* Mark it lost or, when it was tried too often, take it out. */
static struct rp_sent **lose(struct rp_repair *r, struct rp_sent *s, struct rp_sent **tail)
{
	if (s->tries >= RP_REPAIR_TRIES) {
		r->stats.given_up++;
		return take(r, s, tail);
	}
	s->lost = true;
	r->lost++;
	if (!r->waiting || rp_psn_diff(s->psn, r->waiting->psn) < 0)
		r->waiting = s;
	return tail;
}

/* When patience with it ends. Each time that it was sent again without an answer, twice as long. */
static u64 patient_until(const struct rp_sent *s, u32 us)
{
	return s->sent_ns + (us * NS_PER_US << s->tries);
}

static bool is_lost(const struct rp_sent *s, bool spoken_of, const struct rp_repair_clock *clock,
		    const struct rp_repair_path *path)
{
	if (clock->now_ns >= patient_until(s, clock->tail_us))
		return true;
	if (!spoken_of)
		return false;
	if (clock->round_us && clock->now_ns >= patient_until(s, clock->round_us))
		return true;
	return (s->path != RP_REPAIR_NO_PATH &&
		path[s->path].arrived_ns > s->sent_ns + clock->slack_us * NS_PER_US) ||
	       clock->arrived_ns > s->sent_ns + clock->spread_us * NS_PER_US;
}

static void note_missing(const struct rp_sent *s, struct rp_repair_path *path)
{
	struct rp_repair_path *p = &path[s->path];

	p->lost_sent_ns = max(p->lost_sent_ns, s->sent_ns);
}

struct rp_sent *rp_repair_find_lost(struct rp_repair *r, u32 horizon,
				    const struct rp_repair_clock *clock,
				    struct rp_repair_path *path)
{
	struct rp_sent *gone = NULL, **tail = &gone;
	struct rp_sent *s = r->oldest, *next;
	u32 first = first_psn(r);

	for (; s; s = next) {
		bool spoken_of = ahead_of(s, first, horizon) < 0;

		next = s->next;
		if (s->lost || !is_lost(s, spoken_of, clock, path))
			continue;
		if (tells_of_path(s))
			note_missing(s, path);
		else if (s->tries >= RP_REPAIR_TRIES && s->first != RP_REPAIR_NO_PATH)
			path[s->first].lost++;
		tail = lose(r, s, tail);
	}
	return gone;
}

struct rp_sent *rp_repair_path_failed(struct rp_repair *r, bool (*failed)(void *arg, u16 path),
				      void *arg)
{
	struct rp_sent *gone = NULL, **tail = &gone;
	struct rp_sent *s = r->oldest, *next;

	for (; s; s = next) {
		next = s->next;
		if (s->lost || s->path == RP_REPAIR_NO_PATH || !failed(arg, s->path))
			continue;
		if (!s->tries)
			s->first = RP_REPAIR_NO_PATH;
		tail = lose(r, s, tail);
	}
	return gone;
}

void rp_repair_renumber(struct rp_repair *r, u16 (*now)(const void *arg, u16 path),
			const void *arg, const struct rp_repair_path *before, u32 n,
			struct rp_repair_path *path)
{
	struct rp_sent *s;
	u32 i;

	for (i = 0; i < n; i++) {
		u16 to = now(arg, i);

		if (to != RP_REPAIR_NO_PATH)
			path[to] = before[i];
	}
	for (s = r->oldest; s; s = s->next) {
		if (s->first != RP_REPAIR_NO_PATH)
			s->first = now(arg, s->first);
		if (s->path == RP_REPAIR_NO_PATH)
			continue;
		s->path = now(arg, s->path);
		/* one that was tried often enough may still arrive */
		if (s->path == RP_REPAIR_NO_PATH && !s->lost && s->tries < RP_REPAIR_TRIES)
			lose(r, s, NULL);
	}
}

struct rp_sent *rp_repair_next(const struct rp_repair *r)
{
	return r->waiting;
}

void rp_repair_resent(struct rp_repair *r, struct rp_sent *s, u16 path, u64 now_ns)
{
	unmark(r, s);
	s->tries++;
	s->path = path;
	s->sent_ns = now_ns;
	r->stats.repaired++;
}

u64 rp_repair_deadline(const struct rp_repair *r, u32 tail_us)
{
	const struct rp_sent *s = r->oldest;

	while (s && s->lost)
		s = s->next;
	return s ? patient_until(s, tail_us) : 0;
}

struct rp_sent *rp_repair_clear(struct rp_repair *r)
{
	struct rp_sent *gone = NULL, **tail = &gone;

	while (r->oldest) {
		tail = take(r, r->oldest, tail);
		r->stats.let_go++;
	}
	return gone;
}
