// SPDX-License-Identifier: GPL-2.0
#include "answer.h"

void rp_answers_sent(struct rp_answers *a, u32 next)
{
	if (!a->sent || rp_psn_diff(next, a->sent_next) > 0)
		a->sent_next = next;
	a->sent = true;
}

enum rp_answer rp_answers_heard(struct rp_answers *a, const struct rp_roce *r)
{
	u32 next = rp_answers_next(r);
	s32 ahead = rp_psn_diff(next, a->sent_next);
	s32 news = a->acked ? rp_psn_diff(next, a->acked_next) : 1;

	if (a->acked && r->kind == RP_KIND_ACK && (news < 0 || (r->repair && !news)))
		return RP_ANSWER_STALE;
	if (!a->sent || ahead > 0 || ahead <= -RP_ANSWER_REACH)
		return RP_ANSWER_STRANGE;
	if (r->kind == RP_KIND_NAK && news < 0)
		return RP_ANSWER_STRANGE;
	if (news > 0)
		a->acked_next = next;
	a->acked = true;
	return RP_ANSWER_NEWS;
}
