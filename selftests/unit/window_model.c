// SPDX-License-Identifier: GPL-2.0
/* See window_model.h. Slow on purpose. */
#include <stdlib.h>

#include "window_model.h"

#define SPACE 0x1000000ll
#define HALF 0x800000ll

/* one for all: nothing is set in it outside of what the model in use awaits */
static u8 awaited_map[SPACE];

struct model *model_new(bool responses, u32 psn, bool skips)
{
	struct model *m = calloc(1, sizeof(*m));

	m->expected = psn + (1ll << 20) * SPACE;
	m->responses = responses;
	m->open = !responses;
	m->skips = skips;
	if (responses)
		m->awaited = awaited_map;
	return m;
}

/* where on the line @psn is: the place nearest to the expected one */
static s64 place(const struct model *m, u32 psn)
{
	s64 at = m->expected - m->expected % SPACE + psn % SPACE;

	while (at - m->expected >= HALF)
		at -= SPACE;
	while (at - m->expected < -HALF)
		at += SPACE;
	return at;
}

static u8 *await_bit(struct model *m, s64 at)
{
	return &m->awaited[at % SPACE];
}

/* the QP is past each packet before the expected one; with nothing awaited, past all */
static void overtake(struct model *m)
{
	u32 i;

	for (i = 0; i < m->n; i++) {
		if (m->packet[i].at < m->expected || !m->open)
			m->packet[i].over = true;
	}
}

static void close_all(struct model *m)
{
	while (m->expected < m->awaited_end)
		*await_bit(m, --m->awaited_end) = 0;
	m->open = false;
	m->gap_ns = 0;
	overtake(m);
}

void model_free(struct model *m)
{
	if (m->responses)
		close_all(m);
	free(m);
}

static void go_past(struct model *m, s64 to)
{
	s64 at;

	if (m->responses) {
		for (at = m->expected; at < to && at < m->awaited_end; at++)
			*await_bit(m, at) = 0;
		while (to < m->awaited_end && !*await_bit(m, to))
			to++;
	}
	m->expected = to;
	if (m->responses && to >= m->awaited_end)
		close_all(m);
	overtake(m);
}

/* What is so far ahead that 24 bits cannot tell it from behind, is behind. */
static void go_back(struct model *m, s64 to)
{
	u32 i;

	m->expected = to;
	m->repaired_n = 0;
	m->rewinds++;
	m->gap_ns = 0;
	for (i = 0; i < m->n; i++) {
		if (m->packet[i].at - to >= HALF)
			m->packet[i].at -= SPACE;
	}
	overtake(m);
}

static bool reachable(struct model *m, s64 at, u32 span, const struct rp_window_caps *caps)
{
	u32 most = span > m->span_max ? span : m->span_max;
	s64 reach = caps->packets + 256ll * (most > 1 ? most - 1 : 0);

	if (!caps->packets)
		return false;
	if (m->responses)
		return at < m->awaited_end && *await_bit(m, at);
	if (reach > HALF / 2)
		reach = HALF / 2;
	return at - m->expected < reach;
}

static void add(struct model *m, s64 at, u32 span, u32 bytes, u32 id)
{
	struct model_packet p = { .at = at, .span = span, .bytes = bytes, .id = id };

	if (m->n == MODEL_PACKETS)
		abort();
	m->packet[m->n++] = p;
}

static struct model_packet drop(struct model *m, u32 i)
{
	struct model_packet p = m->packet[i];

	m->packet[i] = m->packet[--m->n];
	return p;
}

static void forget(struct model *m, u32 i)
{
	for (m->repaired_n--; i < m->repaired_n; i++)
		m->repaired[i] = m->repaired[i + 1];
}

/* a half takes what comes for half of the time; two of them are remembered */
static void remember(struct model *m, s64 at, u32 span, u64 now_ns)
{
	u64 since_ns = 0;
	u32 i;

	if (span >= RP_REPAIRED_REACH)
		return;
	for (i = 0; i < m->repaired_n;) {
		if (m->expected - m->repaired[i].at > RP_REPAIRED_REACH)
			forget(m, i);
		else if (m->repaired[i++].half == m->half)
			since_ns = m->repaired[i - 1].since_ns;
	}
	if (since_ns && now_ns - since_ns >= m->repaired_ns / 2) {
		for (i = m->repaired_n; i-- > 0;) {
			if (m->repaired[i].half != m->half)
				forget(m, i);
		}
		m->half++;
		since_ns = 0;
	}
	m->repaired[m->repaired_n++] = (struct model_repaired) {
		.at = at, .half = m->half, .since_ns = since_ns ? since_ns : now_ns,
	};
}

/* the late one that was repaired; anything else that is behind ends all memory of repairs */
static bool overtaken(struct model *m, s64 at, u64 timeout_ns, u64 now_ns)
{
	u32 i;

	if (m->expected - at > RP_REPAIRED_REACH)
		return false;
	for (i = 0; i < m->repaired_n; i++) {
		if (m->repaired[i].at != at || now_ns >= m->repaired[i].since_ns + timeout_ns)
			continue;
		forget(m, i);
		m->overtaken++;
		return true;
	}
	m->repaired_n = 0;
	return false;
}

/* what the window has no use for: a repair ends there */
static enum rp_window_verdict pass(struct model *m, bool repair)
{
	m->needless += repair;
	return repair ? RP_WINDOW_DUPLICATE : RP_WINDOW_PASS;
}

static enum rp_window_verdict deliver(struct model *m, s64 at, u32 span, bool repair, u64 now_ns)
{
	if (m->gap_ns)
		m->filled++;
	m->gap_ns = 0;
	if (span > m->span_max)
		m->span_max = span;
	go_past(m, at + span);
	if (repair) {
		m->repairs++;
		remember(m, at, span, now_ns);
	}
	return RP_WINDOW_DELIVER;
}

static enum rp_window_verdict second(struct model *m, struct model_packet *has, bool repair)
{
	if (repair)
		m->needless++;
	else if (has->repair)
		m->overtaken++;
	has->repair = has->repair && repair;
	return RP_WINDOW_DUPLICATE;
}

enum rp_window_verdict model_rx(struct model *m, const struct rp_held *h, u32 id, bool buckets,
				const struct rp_window_caps *caps, u64 timeout_ns, u64 now_ns)
{
	s64 at = place(m, h->psn);
	u32 i;

	if (h->repair)
		m->repaired_ns = timeout_ns;
	if (at < m->expected && !h->repair && overtaken(m, at, timeout_ns, now_ns))
		return RP_WINDOW_DUPLICATE;
	if (!m->open || at < m->expected || h->span == 0 || h->span >= HALF)
		return pass(m, h->repair);
	if (at == m->expected)
		return deliver(m, at, h->span, h->repair, now_ns);
	for (i = 0; i < m->n; i++) {
		if (m->packet[i].at == at && !m->packet[i].over)
			return second(m, &m->packet[i], h->repair);
	}
	if (!reachable(m, at, h->span, caps))
		return pass(m, h->repair);
	if (!buckets || m->n >= caps->packets || model_bytes(m) + (u64)h->bytes > caps->bytes)
		return h->repair ? pass(m, true) : RP_WINDOW_FULL;
	add(m, at, h->span, h->bytes, id);
	m->packet[m->n - 1].repair = h->repair;
	m->repairs += h->repair;
	if (h->span > m->span_max)
		m->span_max = h->span;
	if (!m->gap_ns)
		m->gap_ns = now_ns;
	return RP_WINDOW_HOLD;
}

/* the first of those that the QP went past, or of all */
static u32 first(const struct model *m, bool over)
{
	u32 i, best = m->n;

	for (i = 0; i < m->n; i++) {
		if ((m->packet[i].over || !over) &&
		    (best == m->n || m->packet[i].at < m->packet[best].at))
			best = i;
	}
	return best;
}

s64 model_next(struct model *m, u64 now_ns)
{
	struct model_packet p;
	u32 i = first(m, true);

	if (i < m->n)
		return drop(m, i).id;
	for (i = 0; i < m->n && m->open; i++) {
		if (m->packet[i].at != m->expected)
			continue;
		p = drop(m, i);
		m->gap_ns = 0;
		go_past(m, p.at + p.span);
		if (p.repair)
			remember(m, p.at, p.span, now_ns);
		return p.id;
	}
	if (!m->n)
		m->gap_ns = 0;
	else if (!m->gap_ns)
		m->gap_ns = now_ns;
	return -1;
}

static u32 let_go(struct model *m, u32 *ids)
{
	s64 end = m->expected;
	u32 n = 0;

	while (m->n) {
		struct model_packet p = drop(m, first(m, false));

		end = p.at + p.span;
		ids[n++] = p.id;
	}
	if (m->skips && end > m->expected)
		m->expected = end;
	m->gap_ns = 0;
	return n;
}

u32 model_release(struct model *m, bool expired, u32 *ids)
{
	if (expired && m->n)
		m->expired++;
	return let_go(m, ids);
}

u32 model_overflow(struct model *m, u32 psn, u32 span, u32 id, u32 *ids)
{
	add(m, place(m, psn), span, 0, id);
	return let_go(m, ids);
}

bool model_seek(struct model *m, u32 psn, bool back)
{
	s64 at = place(m, psn);

	if (m->responses || at == m->expected || (at < m->expected && !back))
		return false;
	if (at < m->expected) {
		go_back(m, at);
	} else {
		m->forwards++;
		go_past(m, at);
	}
	m->gap_ns = 0;
	return true;
}

static u32 runs(struct model *m)
{
	s64 at;
	u32 n = 0;

	for (at = m->expected; at < m->awaited_end; at++)
		n += *await_bit(m, at) && (at == m->expected || !*await_bit(m, at - 1));
	return n;
}

bool model_await(struct model *m, u32 psn, u32 count)
{
	s64 at = place(m, psn), i;
	bool moved = false;

	if (!m->responses || !count || count >= HALF)
		return false;
	if (m->open && at >= m->expected && at - m->expected + count >= HALF)
		close_all(m);
	if (!m->open) {
		if (at < m->expected)
			m->repaired_n = 0;
		m->open = true;
		m->expected = at;
		m->awaited_end = at;
		moved = true;
	}
	while (m->awaited_end > at && m->awaited_end > m->expected)
		*await_bit(m, --m->awaited_end) = 0;
	if (at < m->expected) {
		go_back(m, at);
		m->awaited_end = at;
		moved = true;
	}
	if (runs(m) == RP_WINDOW_AWAITED && !*await_bit(m, at - 1)) {
		close_all(m);
		return true;
	}
	for (i = at; i < at + count; i++)
		*await_bit(m, i) = 1;
	m->awaited_end = at + count;
	return moved;
}

u32 model_bytes(const struct model *m)
{
	u32 i, bytes = 0;

	for (i = 0; i < m->n; i++)
		bytes += m->packet[i].bytes;
	return bytes;
}
