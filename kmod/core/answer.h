/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What comes back to a requester of one QP: acknowledges, NAKs, responses. Each
 * says that all requests before its PSN have been executed.
 *
 * By different paths an acknowledge may come after a later one, or amidst the
 * responses to a READ that followed it. rdma_rxe takes the latter for a fault and
 * ends the QP, so it is not to see it. One that rocepath said again is of no use
 * when the first came; what the QP's peer itself says again is never older than
 * what it said before, and must always get through.
 *
 * A QP that goes back, after a NAK or by its timer, sends again what may have been
 * repaired meanwhile, and is told so before it has come that far. rdma_rxe then
 * forgets where in a message it is: when it goes back once more, it sends one that
 * nobody posted, and the numbers of all that follow are off by one. So what it has
 * not sent again yet is not acknowledged to it; the peer says it again to each
 * packet that comes twice.
 */
#ifndef ROCEPATH_CORE_ANSWER_H
#define ROCEPATH_CORE_ANSWER_H

#include <rocepath/psn.h>
#include <rocepath/roce.h>

/* no QP has so many PSNs on their way: a quarter of all, half of what counts as behind */
#define RP_ANSWER_REACH 0x400000

/* so many are kept from a QP in a row; then we have missed what it sent, or was told */
#define RP_ANSWER_KEPT_MAX 64

/**
 * enum rp_answer - what it is to the QP
 * @RP_ANSWER_NEWS: of what the QP has sent
 * @RP_ANSWER_STALE: an acknowledge that must not reach the QP, which knows better
 * @RP_ANSWER_EARLY: an acknowledge that must not reach the QP yet, of what it will send again
 * @RP_ANSWER_STRANGE: of what the QP never sent, or not lately: for the QP to judge
 */
enum rp_answer {
	RP_ANSWER_NEWS,
	RP_ANSWER_STALE,
	RP_ANSWER_EARLY,
	RP_ANSWER_STRANGE,
};

/**
 * struct rp_answers - what a requester has sent and been told
 * @sent_next: PSN behind the last one that it ever sent
 * @acked_next: PSN behind the last one that it was told of
 * @again_next: PSN behind the last one that it sent again, while @back
 * @back: it went back, and has not come again to where it was
 * @early: acknowledges kept from it since it sent something
 * @stale: the same, since it was told something
 * @sent: @sent_next means something
 * @acked: @acked_next means something
 */
struct rp_answers {
	u32 sent_next;
	u32 acked_next;
	u32 again_next;
	u8 early;
	u8 stale;
	bool back;
	bool sent;
	bool acked;
};

/**
 * rp_answers_sent() - a request was sent
 * @a: of its QP
 * @next: PSN behind its last one
 *
 * Of each request, or what is believed of the QP becomes wrong. Farther from the
 * last one than anything can be that is under way: some were missed, it begins anew.
 */
void rp_answers_sent(struct rp_answers *a, u32 next);

/** rp_answers_next() - the PSN that the sender of @r wants next. */
static inline u32 rp_answers_next(const struct rp_roce *r)
{
	return r->kind == RP_KIND_NAK ? r->psn : rp_psn_add(r->psn, 1);
}

/**
 * rp_answers_heard() - one came
 * @a: of its QP
 * @r: an acknowledge, a NAK or a response
 *
 * Whoever can send UDP may guess a PSN. One that is not of what is under way
 * changes nothing of how the next genuine one is taken.
 */
enum rp_answer rp_answers_heard(struct rp_answers *a, const struct rp_roce *r);

#endif /* ROCEPATH_CORE_ANSWER_H */
