// SPDX-License-Identifier: GPL-2.0
#include "answer.h"

void rp_answers_sent(struct rp_answers *a, u32 next)
{
	s32 back = a->sent ? rp_psn_diff(a->sent_next, next) : 0;

	if (unlikely(back > RP_ANSWER_REACH || back < -RP_ANSWER_REACH)) {
		*a = (struct rp_answers){ 0 };
		back = 0;
	}
	a->back = back > 0;
	a->again_next = next;
	a->early = 0;
	if (!a->sent || rp_psn_diff(next, a->sent_next) > 0)
		a->sent_next = next;
	a->sent = true;
}

enum rp_answer rp_answers_heard(struct rp_answers *a, const struct rp_roce *r)
{
	u32 next = rp_answers_next(r);
	s32 ahead = rp_psn_diff(next, a->sent_next);
	s32 news = a->acked ? rp_psn_diff(next, a->acked_next) : 1;

	if (a->acked && r->kind == RP_KIND_ACK && r->repair && !news)
		return RP_ANSWER_STALE;
	if (a->acked && r->kind == RP_KIND_ACK && news < 0) {
		if (a->stale++ < RP_ANSWER_KEPT_MAX)
			return RP_ANSWER_STALE;
		a->acked = false;
		news = 1;
	}
	if (!a->sent || ahead > 0 || ahead <= -RP_ANSWER_REACH)
		return RP_ANSWER_STRANGE;
	if (r->kind == RP_KIND_NAK && news < 0)
		return RP_ANSWER_STRANGE;
	if (a->back && r->kind == RP_KIND_ACK && rp_psn_diff(next, a->again_next) > 0) {
		if (a->early++ < RP_ANSWER_KEPT_MAX)
			return RP_ANSWER_EARLY;
		a->back = false;
	}
	if (r->kind == RP_KIND_NAK) {
		a->back = ahead < 0;
		a->again_next = next;
	}
	if (news > 0)
		a->acked_next = next;
	a->acked = true;
	a->stale = 0;
	return RP_ANSWER_NEWS;
}
