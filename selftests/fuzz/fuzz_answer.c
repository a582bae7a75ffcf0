// SPDX-License-Identifier: GPL-2.0
/*
 * What answers are to a requester, beside a model whose positions do not wrap. The requester
 * is honest: it has no more on its way than a QP may. Answers come from anybody.
 */
/* SOURCES: kmod/core/answer.c */
#include "answer.h"
#include "input.h"

/* positions of the model: PSNs that were never cut to 24 bits */
struct model {
	s64 sent;
	s64 acked;
	s64 again;
	u32 early;
	bool back;
	bool any_sent;
	bool any_acked;
};

/* the position nearest to @near that has this PSN */
static s64 position(s64 near, u32 psn)
{
	return near + rp_psn_diff(psn, near & RP_PSN_MASK);
}

static void send_more(struct input *in, struct rp_answers *a, struct model *m)
{
	s64 next = m->any_sent ? m->sent + word(in) * (byte(in) % 64) : word(in) << 8;
	s64 oldest = m->any_acked ? m->acked : next;

	if (next - oldest >= RP_ANSWER_REACH)
		return;
	if (byte(in) & 1)	/* it goes back and sends again */
		next -= min((s64)word(in), next - oldest);
	rp_answers_sent(a, next & RP_PSN_MASK);
	m->back = m->any_sent && next < m->sent;
	m->again = next;
	m->early = 0;
	m->sent = m->any_sent ? max(m->sent, next) : next;
	m->any_sent = true;
}

static enum rp_answer expected(const struct model *m, const struct rp_roce *r, s64 next, s64 news)
{
	if (m->any_acked && r->kind == RP_KIND_ACK && (news < 0 || (r->repair && !news)))
		return RP_ANSWER_STALE;
	if (!m->any_sent || next > m->sent || next <= m->sent - RP_ANSWER_REACH)
		return RP_ANSWER_STRANGE;
	if (r->kind == RP_KIND_NAK && news < 0)
		return RP_ANSWER_STRANGE;
	if (m->back && r->kind == RP_KIND_ACK && next > m->again && m->early < RP_ANSWER_EARLY_MAX)
		return RP_ANSWER_EARLY;
	return RP_ANSWER_NEWS;
}

static u32 psn(struct input *in, const struct model *m)
{
	u32 how = byte(in);

	if (how & 0x80)
		return (m->acked + how % 32 - 16) & RP_PSN_MASK;
	if (how & 0x40)
		return (m->sent + how % 32 - 16) & RP_PSN_MASK;
	return word(in) << 8 | byte(in);
}

static void hear(struct input *in, struct rp_answers *a, struct model *m)
{
	static const enum rp_kind kinds[] = { RP_KIND_ACK, RP_KIND_NAK, RP_KIND_RESPONSE };
	u32 how = byte(in);
	struct rp_roce r = { .kind = kinds[how % 3], .repair = how & 0x80, .psn = psn(in, m) };
	struct rp_answers before = *a;
	s64 next = position(m->sent, rp_answers_next(&r));
	/* ahead or behind is what is nearer, and that to each mark for itself */
	s64 news = m->any_acked ? position(m->acked, rp_answers_next(&r)) - m->acked : 1;
	enum rp_answer answer = rp_answers_heard(a, &r);

	if (answer != expected(m, &r, next, news))
		crash("another answer");
	before.early += answer == RP_ANSWER_EARLY;
	if (answer != RP_ANSWER_NEWS && memcmp(a, &before, sizeof(*a)))
		crash("what is no news changed something");
	m->early += answer == RP_ANSWER_EARLY;
	if (answer != RP_ANSWER_NEWS)
		return;
	if (r.kind == RP_KIND_ACK && m->back && next > m->again)
		m->back = false;
	if (r.kind == RP_KIND_NAK) {
		m->back = next < m->sent;
		m->again = next;
	}
	m->acked = m->any_acked ? max(m->acked, next) : next;
	m->any_acked = true;
}

/* Whatever came: when the QP is where it was, an acknowledge of the last is news, now and twice. */
static void check(const struct rp_answers *a, const struct model *m)
{
	struct rp_roce last = { .kind = RP_KIND_ACK, .psn = rp_psn_add(a->sent_next, -1) };
	struct rp_answers copy = *a;

	if (m->any_sent && !m->back && (a->sent_next != (m->sent & RP_PSN_MASK) ||
			    rp_answers_heard(&copy, &last) != RP_ANSWER_NEWS ||
			    rp_answers_heard(&copy, &last) != RP_ANSWER_NEWS))
		crash("the newest acknowledge is no news");
	if (m->any_acked && (a->acked_next != (m->acked & RP_PSN_MASK) || m->acked > m->sent))
		crash("told of what was never sent");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct rp_answers a;
	struct model m = { 0 };

	memset(&a, 0, sizeof(a));
	while (in.left) {
		if (byte(&in) & 1)
			send_more(&in, &a, &m);
		else
			hear(&in, &a, &m);
		check(&a, &m);
	}
	return 0;
}
