// SPDX-License-Identifier: GPL-2.0
/*
 * Who the peer is and whether it reorders. See hello.h.
 *
 * Three things can be wrong with a hello whose MAC is right: it was received
 * before (its number says so, within an instance), it is of an instance that is
 * not proven (a restarted peer, or a recording), or it does not answer what we
 * asked last (the peer has not heard us yet). The first is dropped; the second
 * is answered, and nothing of it kept; of the third only its challenge is kept.
 * Of one that a later one overtook, no more than the proof in it is of use.
 */
#include "hello.h"

#define NS_PER_MS 1000000ull
/* what a peer may announce; a peer gone bad must not hold us for ever */
#define INTERVAL_MIN_MS 10u
#define INTERVAL_MAX_MS 60000u
#define PORTS_MAX ((u32)ROCEPATH_PORTS_MAX)
/* numbers of probes follow the clock of who sends them */
#define PROBE_AGE_NS 1000000000ull
/* spreads numbers that follow each other (Knuth, 6.4) */
#define GOLDEN_RATIO 0x9e3779b97f4a7c15ull
/* strangers are answered a thousand times a second at most */
#define STRANGER_PAUSE_NS NS_PER_MS

static u64 interval_ns(u32 ms)
{
	return clamp(ms, INTERVAL_MIN_MS, INTERVAL_MAX_MS) * NS_PER_MS;
}

/* A number that was not seen before is seen now. */
static bool is_new(struct rp_hello_seen *seen, u64 seq)
{
	u32 i;

	if (seq <= seen->floor)
		return false;
	for (i = 0; i < RP_HELLO_SEEN; i++) {
		if (seen->number[i] == seq)
			return false;
	}
	seen->floor = max(seen->floor, seen->number[seen->next]);
	seen->number[seen->next] = seq;
	seen->next = (seen->next + 1) % RP_HELLO_SEEN;
	seen->newest = max(seen->newest, seq);
	return true;
}

/* Another instance: of what it may have sent before, nobody knows how old it is. */
static void start_seen(struct rp_hello_seen *seen, u64 seq)
{
	memset(seen, 0, sizeof(*seen));
	seen->floor = seq;
	seen->newest = seq;
}

static bool answers(const struct rp_hello *h, u64 response)
{
	return response && (response == h->challenge || response == h->challenge_before);
}

/* The next challenge. The one before is still good, but never for two instances. */
static void draw(struct rp_hello *h, u64 random, bool keep)
{
	h->challenge_before = keep ? h->challenge : 0;
	h->challenge = random;
	h->asked_ns = 0;
}

/*
 * Not proven, and no proof in it: it gets an answer, for with that it can prove
 * itself. Recordings must not make us talk without end, but neither may a few of
 * them use up what a real stranger needs.
 */
static u32 stranger(struct rp_hello *h, const struct rp_wire_hello *body, u64 now_ns)
{
	if (!(be32_to_cpu(body->flags) & RP_HELLO_REPLY_WANTED))
		return RP_HELLO_UNPROVEN;
	if (h->stranger_ns && now_ns - h->stranger_ns < STRANGER_PAUSE_NS)
		return RP_HELLO_UNPROVEN;
	h->stranger_ns = now_ns ? now_ns : 1;
	return RP_HELLO_UNPROVEN | RP_HELLO_REPLY;
}

static u32 set_state(struct rp_hello *h, bool reorders, bool restarted)
{
	bool was = h->state == ROCEPATH_PEER_CAPABLE;

	h->state = reorders ? ROCEPATH_PEER_CAPABLE : ROCEPATH_PEER_PLAIN;
	if (reorders)
		return !was || restarted ? RP_HELLO_CAME : 0;
	return was ? RP_HELLO_GONE : 0;
}

/* What it says of itself. */
static u32 learn(struct rp_hello *h, const struct rp_wire_hello *body, bool restarted)
{
	u32 flags = be32_to_cpu(body->flags);

	h->theirs = be64_to_cpu(body->challenge);
	h->reports = flags & RP_HELLO_REPORTS;
	h->labels = flags & RP_HELLO_LABELS;
	h->ports = min(be32_to_cpu(body->ports), PORTS_MAX);
	h->report_interval_us = rp_wire_interval_us(be32_to_cpu(body->report_interval_us));
	return set_state(h, flags & RP_HELLO_REORDERS, restarted);
}

/* It answered: all that it says holds. */
static u32 count(struct rp_hello *h, const struct rp_wire *w, const struct rp_wire_hello *body,
		 u64 random, u64 now_ns)
{
	u64 instance = be64_to_cpu(w->instance);
	u64 response = be64_to_cpu(body->response);
	u64 seq = be64_to_cpu(w->seq);
	bool another = instance != h->instance;
	bool restarted = another && h->instance;
	u32 bits = RP_HELLO_COUNTED;

	if (response == h->challenge && h->asked_ns)
		h->rtt_us = (u32)div_u64(now_ns - h->asked_ns, 1000);
	if (another || response == h->challenge)
		draw(h, random, !another);
	else
		h->challenge_before = 0;
	if (restarted) {
		h->restarts++;
		bits |= RP_HELLO_RESTARTED;
	}
	if (another) {
		h->instance = instance;
		h->report_seq = seq;
		h->probe_newest = seq;
		memset(h->probe_seen, 0, sizeof(h->probe_seen));
		start_seen(&h->seen, seq);
	}
	h->key_id = w->key_id;
	h->heard_ns = now_ns;
	h->valid_until_ns = now_ns;
	h->valid_until_ns += RP_WIRE_HELLO_MISSES * interval_ns(be32_to_cpu(body->interval_ms));
	if (seq == h->seen.newest)
		bits |= learn(h, body, restarted);
	/* whom we have just come to know may not know us yet */
	if (another || (be32_to_cpu(body->flags) & RP_HELLO_REPLY_WANTED))
		bits |= RP_HELLO_REPLY;
	return bits;
}

void rp_hello_init(struct rp_hello *h, u64 random)
{
	memset(h, 0, sizeof(*h));
	h->state = ROCEPATH_PEER_PLAIN;
	h->challenge = random;
}

u32 rp_hello_rx(struct rp_hello *h, const struct rp_wire *w, const struct rp_wire_hello *body,
		u64 random, u64 now_ns)
{
	u64 instance = be64_to_cpu(w->instance);
	u64 seq = be64_to_cpu(w->seq);
	bool proof = answers(h, be64_to_cpu(body->response));

	if (!instance)
		return RP_HELLO_UNPROVEN;
	if (instance == h->instance && !is_new(&h->seen, seq))
		return RP_HELLO_REPLAYED;
	if (proof)
		return count(h, w, body, random, now_ns);
	if (instance != h->instance)
		return stranger(h, body, now_ns);
	if (seq == h->seen.newest)
		h->theirs = be64_to_cpu(body->challenge);
	if (be32_to_cpu(body->flags) & RP_HELLO_REPLY_WANTED)
		return RP_HELLO_UNPROVEN | RP_HELLO_REPLY;
	return RP_HELLO_UNPROVEN;
}

u64 rp_hello_next_seq(struct rp_hello *h, u64 now_ns)
{
	h->seq_sent = max(h->seq_sent + 1, now_ns);
	return h->seq_sent;
}

u64 rp_hello_fill(struct rp_hello *h, struct rp_wire_hello *body, const struct rp_hello_self *self,
		  bool reply, u64 response, u64 now_ns)
{
	u32 flags = (self->reorders ? RP_HELLO_REORDERS : 0) |
		    (self->reports ? RP_HELLO_REPORTS : 0) | (self->labels ? RP_HELLO_LABELS : 0) |
		    (reply ? 0 : RP_HELLO_REPLY_WANTED);

	body->flags = cpu_to_be32(flags);
	body->interval_ms = cpu_to_be32(self->interval_ms);
	body->challenge = cpu_to_be64(h->challenge);
	body->response = cpu_to_be64(response);
	body->ports = cpu_to_be32(self->ports);
	body->report_interval_us = cpu_to_be32(self->report_interval_us);
	if (!reply)
		h->asked_ns = now_ns;
	if (self->reorders && response) {
		u64 until = now_ns + 2 * RP_WIRE_HELLO_MISSES * interval_ns(self->interval_ms);

		h->hold_until_ns = max(h->hold_until_ns, until);
	}
	return rp_hello_next_seq(h, now_ns);
}

/* Of the instance that has proven itself, and lately. */
static bool is_proven(const struct rp_hello *h, const struct rp_wire *w, u64 now_ns)
{
	u64 instance = be64_to_cpu(w->instance);

	return instance && instance == h->instance && now_ns < h->valid_until_ns;
}

bool rp_hello_accepts(struct rp_hello *h, const struct rp_wire *w, u64 now_ns)
{
	u64 seq = be64_to_cpu(w->seq);
	u64 *seen = &h->probe_seen[seq * GOLDEN_RATIO >> 32 & (RP_HELLO_SEEN - 1)];

	if (!is_proven(h, w, now_ns) || seq + PROBE_AGE_NS < h->probe_newest || *seen == seq)
		return false;
	*seen = seq;
	h->probe_newest = max(h->probe_newest, seq);
	return true;
}

bool rp_hello_accepts_report(struct rp_hello *h, const struct rp_wire *w, u64 now_ns)
{
	u64 seq = be64_to_cpu(w->seq);

	if (!is_proven(h, w, now_ns) || seq <= h->report_seq)
		return false;
	h->report_seq = seq;
	return true;
}

void rp_hello_forget(struct rp_hello *h, u64 random)
{
	u64 hold_until_ns = h->hold_until_ns, seq_sent = h->seq_sent;

	rp_hello_init(h, random);
	h->hold_until_ns = hold_until_ns;
	h->seq_sent = seq_sent;
}

bool rp_hello_poll(struct rp_hello *h, u64 now_ns)
{
	if (h->state != ROCEPATH_PEER_CAPABLE || now_ns < h->valid_until_ns)
		return false;
	h->state = ROCEPATH_PEER_LOST;
	return true;
}
