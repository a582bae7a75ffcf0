// SPDX-License-Identifier: GPL-2.0
/*
 * The reorder window between a sender and a QP that do go-back-N as rdma_rxe
 * does, over paths of unequal length, with losses and with a receiver that is
 * not ready.
 *
 *   sender --+-- path 0 --+-- window -- QP
 *            +--  ...   --+      ^       |
 *        ^   +-- path k --+      +-seek--+
 *        +------ ACK, NAK, RNR NAK ------+
 */
/* SOURCES: kmod/core/window.c kmod/core/repaired.c */
#include "unit.h"
#include "window.h"

#define US 1000ull
#define MS 1000000ull
#define PATHS_MAX 8
#define EVENTS_MAX 8192
#define POOL 4096

enum what { DATA, ACK, NAK, RNR, SEND, GAP, RETRY };

struct event {
	u64 at;
	u64 order;
	enum what kind;
	u32 psn;
	u64 version;	/* of the timer, older ones are void */
};

#include "events.h"

struct setup {
	const char *name;
	u32 paths;
	u32 length_us[PATHS_MAX];
	u32 jitter_us;
	u32 loss_ppm;		/* of all packets, both ways */
	u32 rnr_ppm;		/* of packets that the QP would take */
	u32 floor_us;
	u32 first_psn;
	u32 total;
	u32 flight;		/* packets that the sender keeps outstanding */
	u32 reach;
};

struct sim {
	const struct setup *s;
	u64 now;
	struct event heap[EVENTS_MAX];
	u32 events;
	u64 order;

	/* sender: positions in the stream; una is the first one not acknowledged */
	u32 una, next, furthest;
	u64 send_version, retry_version, retries;

	/* receiver */
	struct rp_window w;
	struct rp_window_caps caps;
	struct rp_held *bucket[1024];
	struct rp_held pool[POOL];
	struct rp_held *spare;
	u64 gap_version;
	u32 ready[POOL];
	u32 ready_in, ready_out;
	bool delivering;

	/* the QP */
	u32 expected;
	bool nak_sent;
	u32 taken;

	u32 sent, lost, naks, rnrs, out_of_order, late_expired;
};

static void push(struct sim *m, u64 at, enum what kind, u32 psn, u64 version)
{
	struct event e = { .at = at, .kind = kind, .psn = psn, .version = version };

	require(m->events < EVENTS_MAX, "too many events");
	events_push(m->heap, &m->events, &m->order, e);
}

/* over some path; some are lost */
static void travel(struct sim *m, enum what kind, u32 psn, u32 path)
{
	u64 delay = m->s->length_us[path % m->s->paths] * US + rnd_below(m->s->jitter_us + 1) * US;

	if (rnd_below(1000000) < m->s->loss_ppm)
		m->lost++;
	else
		push(m, m->now + delay, kind, psn, 0);
}

static u32 psn_of(const struct sim *m, u32 position)
{
	return rp_psn_add(m->s->first_psn, (s32)position);
}

static u32 position_of(const struct sim *m, u32 psn)
{
	return rp_psn_diff(psn, psn_of(m, m->una)) + m->una;
}

static void arm_retry(struct sim *m)
{
	push(m, m->now + 20 * MS, RETRY, 0, ++m->retry_version);
}

static void send_soon(struct sim *m, u64 delay)
{
	push(m, m->now + delay, SEND, 0, ++m->send_version);
}

static void send_one(struct sim *m)
{
	if (m->next >= m->s->total || m->next - m->una >= m->s->flight)
		return;
	travel(m, DATA, psn_of(m, m->next), m->sent++);
	m->next++;
	m->furthest = max(m->furthest, m->next);
	send_soon(m, 2 * US);
}

static void acknowledged(struct sim *m, u32 position)
{
	if ((s32)(position - m->una) <= 0)
		return;
	m->una = position;
	m->next = max(m->next, m->una);
	arm_retry(m);
	send_soon(m, 0);
}

static void go_back(struct sim *m, u32 position, u64 pause)
{
	if ((s32)(position - m->una) < 0)
		return;
	m->una = max(m->una, position);
	m->next = m->una;
	arm_retry(m);
	send_soon(m, pause);
}

/* What the QP says passes the window on its way out. */
static void ready_add(struct sim *m, u32 psn)
{
	m->ready[m->ready_in++ % POOL] = psn;
}

static void held_out(struct sim *m, struct rp_held *h)
{
	ready_add(m, h->psn);
	h->next = m->spare;
	m->spare = h;
}

static void drain(struct sim *m)
{
	struct rp_held *h;

	while ((h = rp_window_next(&m->w, m->now)))
		held_out(m, h);
}

static void list_out(struct sim *m, struct rp_held *h)
{
	struct rp_held *next;

	for (; h; h = next) {
		next = h->next;
		held_out(m, h);
	}
}

static void say(struct sim *m, enum what kind, u32 psn)
{
	bool back = kind != ACK;

	if (rp_window_seek(&m->w, back ? psn : rp_psn_add(psn, 1), back))
		drain(m);
	travel(m, kind, psn, rnd());
}

static void qp_takes(struct sim *m, u32 psn)
{
	s32 ahead = rp_psn_diff(psn, m->expected);

	if (ahead < 0) {
		say(m, ACK, rp_psn_add(m->expected, -1));
	} else if (ahead > 0) {
		m->out_of_order++;
		if (!m->nak_sent) {
			m->nak_sent = true;
			m->naks++;
			say(m, NAK, m->expected);
		}
	} else if (rnd_below(1000000) < m->s->rnr_ppm) {
		m->rnrs++;
		say(m, RNR, psn);
	} else {
		m->nak_sent = false;
		m->expected = rp_psn_add(psn, 1);
		m->taken++;
		if (m->taken % 8 == 0 || m->taken == m->s->total)
			say(m, ACK, psn);
	}
}

static void deliver(struct sim *m)
{
	u64 deadline;

	while (m->ready_out != m->ready_in)
		qp_takes(m, m->ready[m->ready_out++ % POOL]);
	deadline = rp_window_deadline(&m->w, &m->caps);
	if (deadline)
		push(m, max(deadline, m->now), GAP, 0, ++m->gap_version);
}

static void arrive(struct sim *m, u32 psn)
{
	struct rp_held *h = m->spare;
	enum rp_window_verdict verdict;

	require(h, "the window keeps more than it may");
	m->spare = h->next;
	*h = (struct rp_held) { .psn = psn, .span = 1, .bytes = 1000 };
	verdict = rp_window_rx(&m->w, h, &m->caps, m->now);
	switch (verdict) {
	case RP_WINDOW_HOLD:
		break;
	case RP_WINDOW_FULL:
		list_out(m, rp_window_overflow(&m->w, h));
		break;
	case RP_WINDOW_DUPLICATE:
		h->next = m->spare;
		m->spare = h;
		break;
	default:
		held_out(m, h);
		if (verdict == RP_WINDOW_DELIVER)
			drain(m);
	}
	deliver(m);
}

static void gap(struct sim *m)
{
	if (rp_window_deadline(&m->w, &m->caps) > m->now)
		return;
	if (m->taken > m->s->total / 2)
		m->late_expired++;
	list_out(m, rp_window_release(&m->w, true));
	deliver(m);
}

static void happen(struct sim *m, struct event e)
{
	m->now = e.at;
	switch (e.kind) {
	case DATA:
		arrive(m, e.psn);
		break;
	case ACK:
		acknowledged(m, position_of(m, e.psn) + 1);
		break;
	case NAK:
		go_back(m, position_of(m, e.psn), 0);
		break;
	case RNR:
		go_back(m, position_of(m, e.psn), 1 * MS);
		break;
	case SEND:
		if (e.version == m->send_version)
			send_one(m);
		break;
	case GAP:
		if (e.version == m->gap_version && m->w.held)
			gap(m);
		break;
	case RETRY:
		if (e.version == m->retry_version && m->una < m->s->total) {
			m->retries++;
			go_back(m, m->una, 0);
		}
		break;
	}
}

static struct sim *simulate(const struct setup *s)
{
	struct sim *m = calloc(1, sizeof(*m));
	u32 i;

	m->s = s;
	m->expected = s->first_psn;
	m->caps = (struct rp_window_caps) { s->reach, 1 << 30, 0, s->floor_us, 10000 };
	rp_window_init_requests(&m->w, s->first_psn, false);
	rp_window_buckets(&m->w, m->bucket, ARRAY_SIZE(m->bucket));
	for (i = 0; i < POOL; i++) {
		m->pool[i].next = m->spare;
		m->spare = &m->pool[i];
	}
	arm_retry(m);
	send_soon(m, 0);
	while (m->una < s->total) {
		require(m->events && m->now < 1000000 * MS, "%s: stuck at %u of %u", s->name,
			m->una, s->total);
		happen(m, events_pop(m->heap, &m->events));
	}
	require(m->taken == s->total, "%s: the QP took %u of %u", s->name, m->taken, s->total);
	print_message("# %s: %u ms, %u sent for %u, %u lost, %u NAKs, %u RNR NAKs\n", s->name,
		      (u32)(m->now / MS), m->sent, s->total, m->lost, m->naks, m->rnrs);
	print_message("#   %u out of order, %u retries, %u expired, %u rewinds, %u held at most\n",
		      m->out_of_order, (u32)m->retries, (u32)m->w.stats.expired,
		      (u32)m->w.stats.rewinds, m->w.stats.held_max);
	return m;
}

static const struct setup plain = {
	.name = "no loss, 2 paths",
	.paths = 2,
	.length_us = { 100, 400 },
	.jitter_us = 200,
	.floor_us = 2000,
	.first_psn = 0xffff00,
	.total = ROUNDS(500000),
	.flight = 512,
	.reach = 1024,
};

static void test_no_loss(void **state)
{
	struct setup s = plain;
	struct sim *m;
	u32 paths;

	for (paths = 1; paths <= PATHS_MAX; paths *= 2) {
		u32 i;

		for (i = 0; i < paths; i++)
			s.length_us[i] = 50 + 100 * i;
		s.name = "no loss";
		s.paths = paths;
		m = simulate(&s);
		assert_int_equal(m->sent, s.total);
		assert_int_equal(m->naks, 0);
		assert_int_equal(m->out_of_order, 0);
		assert_int_equal(m->w.stats.expired, 0);
		assert_true(m->w.stats.held_max > 50);
		free(m);
	}
}

/* With a floor far below the lateness, a few gaps expire, until it is known. */
static void test_learns_lateness(void **state)
{
	struct setup s = plain;
	struct sim *m;

	s.name = "low floor";
	s.floor_us = 20;
	m = simulate(&s);
	assert_in_range(m->w.stats.expired, 1, 40);
	assert_int_equal(m->late_expired, 0);
	free(m);
}

/* A loss costs one NAK at most; the timer of the sender is for tails and lost NAKs. */
static void test_losses(void **state)
{
	static const u32 ppm[] = { 100, 1000, 10000 };
	struct setup s = plain;
	struct sim *m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ppm); i++) {
		s.name = "losses";
		s.total = ppm[i] < 1000 ? 200000 : ROUNDS(200000);
		s.loss_ppm = ppm[i];
		m = simulate(&s);
		assert_true(m->lost);
		assert_in_range(m->naks, 1, m->lost);
		assert_true(m->retries <= 2 + m->lost / 10);
		assert_int_equal(m->w.stats.held_max <= s.reach, 1);
		free(m);
	}
}

static void test_not_ready(void **state)
{
	struct setup s = plain;
	struct sim *m;

	s.name = "receiver not ready";
	s.total = 100000;
	s.rnr_ppm = 500;
	m = simulate(&s);
	assert_true(m->rnrs);
	/* what was in flight behind it is of no use, as without the window */
	assert_in_range(m->naks, 0, m->rnrs);
	assert_int_equal(m->retries, 0);
	free(m);

	s.name = "receiver not ready, losses";
	s.loss_ppm = 1000;
	m = simulate(&s);
	assert_in_range(m->naks, 1, m->lost + m->rnrs);
	free(m);
}

/* More in flight than the window may hold: slower, but all arrives. */
static void test_small_window(void **state)
{
	struct setup s = plain;
	struct sim *m;

	s.name = "small window";
	s.total = ROUNDS(50000);
	s.reach = 16;
	m = simulate(&s);
	assert_in_range(m->w.stats.held_max, 1, 16);
	free(m);
	s.name = "small window, losses";
	s.loss_ppm = 1000;
	free(simulate(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_loss),
		cmocka_unit_test(test_learns_lateness),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_not_ready),
		cmocka_unit_test(test_small_window),
	};

	return unit_run(tests);
}
