// SPDX-License-Identifier: GPL-2.0
/* What comes back to a requester: what its QP may see of it, and what guesses can do. */
/* SOURCES: kmod/core/answer.c */
#include "unit.h"
#include "answer.h"

static enum rp_answer hear(struct rp_answers *a, enum rp_kind kind, u32 psn, bool repair)
{
	struct rp_roce r = { .kind = kind, .psn = psn & RP_PSN_MASK, .repair = repair };

	return rp_answers_heard(a, &r);
}

static void test_in_order(void **state)
{
	struct rp_answers a = {};
	u32 psn;

	require(hear(&a, RP_KIND_ACK, 5, false) == RP_ANSWER_STRANGE, "nothing was sent");
	for (psn = 0xffff00; psn != 0x1000100; psn++) {
		rp_answers_sent(&a, (psn + 1) & RP_PSN_MASK);
		require(hear(&a, RP_KIND_ACK, psn, false) == RP_ANSWER_NEWS, "PSN %x", psn);
		require(hear(&a, RP_KIND_ACK, psn + 1, false) == RP_ANSWER_STRANGE, "not sent yet");
	}
}

/* an acknowledge that comes amidst the responses to a later READ ends a QP of rdma_rxe */
static void test_late_acknowledges(void **state)
{
	struct rp_answers a = {};

	rp_answers_sent(&a, 13);
	require(hear(&a, RP_KIND_ACK, 9, false) == RP_ANSWER_NEWS, "SEND");
	require(hear(&a, RP_KIND_RESPONSE, 11, false) == RP_ANSWER_NEWS, "first of the READ");
	require(hear(&a, RP_KIND_ACK, 10, false) == RP_ANSWER_STALE, "late");
	require(hear(&a, RP_KIND_ACK, 10, true) == RP_ANSWER_STALE, "late, said again");
	require(hear(&a, RP_KIND_RESPONSE, 12, false) == RP_ANSWER_NEWS, "last of the READ");
}

/* rocepath's own repetition goes when the first came; the QP's peer's own gets through */
static void test_said_again(void **state)
{
	struct rp_answers a = {};

	rp_answers_sent(&a, 20);
	require(hear(&a, RP_KIND_ACK, 7, true) == RP_ANSWER_NEWS, "the first was lost");
	require(hear(&a, RP_KIND_ACK, 7, true) == RP_ANSWER_STALE, "the second repetition");
	require(hear(&a, RP_KIND_ACK, 7, false) == RP_ANSWER_NEWS, "the peer's own");
}

static void test_naks(void **state)
{
	struct rp_answers a = {};

	rp_answers_sent(&a, 20);
	require(hear(&a, RP_KIND_NAK, 8, false) == RP_ANSWER_NEWS, "wants 8");
	require(hear(&a, RP_KIND_ACK, 6, false) == RP_ANSWER_STALE, "7 was acknowledged by it");
	require(hear(&a, RP_KIND_NAK, 5, false) == RP_ANSWER_STRANGE,
		"an old one is the QP's to judge");
	require(hear(&a, RP_KIND_NAK, 8, false) == RP_ANSWER_NEWS, "the same again");
}

/* an acknowledge of what will be sent again makes rdma_rxe lose its place in a message */
static void test_going_back(void **state)
{
	struct rp_answers a = {};
	u32 i;

	rp_answers_sent(&a, 20);
	require(hear(&a, RP_KIND_NAK, 8, false) == RP_ANSWER_NEWS, "wants 8");
	require(hear(&a, RP_KIND_ACK, 11, false) == RP_ANSWER_EARLY, "repaired meanwhile");
	rp_answers_sent(&a, 9);
	require(hear(&a, RP_KIND_ACK, 9, false) == RP_ANSWER_EARLY, "only 8 was sent again");
	require(hear(&a, RP_KIND_ACK, 8, false) == RP_ANSWER_NEWS, "that one");
	rp_answers_sent(&a, 12);
	require(hear(&a, RP_KIND_ACK, 11, false) == RP_ANSWER_NEWS, "said again to the copy");
	rp_answers_sent(&a, 20);
	require(hear(&a, RP_KIND_ACK, 19, false) == RP_ANSWER_NEWS, "back where it was");
	/* by its timer, without a word */
	rp_answers_sent(&a, 30);
	rp_answers_sent(&a, 21);
	require(hear(&a, RP_KIND_ACK, 25, false) == RP_ANSWER_EARLY, "it goes back");
	require(hear(&a, RP_KIND_RESPONSE, 25, false) == RP_ANSWER_NEWS, "a response is wanted");
	/* it went on by a way that we do not see */
	for (i = 1; i < RP_ANSWER_KEPT_MAX; i++)
		require(hear(&a, RP_KIND_ACK, 28, false) == RP_ANSWER_EARLY, "%u", i);
	require(hear(&a, RP_KIND_ACK, 28, false) == RP_ANSWER_NEWS, "it waits for this");
}

/* whatever is guessed of what is not under way, the next genuine one gets through */
static void test_guesses(void **state)
{
	u32 round, i;

	for (round = 0; round < ROUNDS(200000); round++) {
		u32 first = rnd() & RP_PSN_MASK, flight = rnd_range(1, 4096);
		struct rp_answers a = {};

		if (rnd() % 2) {	/* acknowledged before, or the very first */
			rp_answers_sent(&a, first);
			hear(&a, RP_KIND_ACK, first - 1, false);
		}
		rp_answers_sent(&a, (first + flight) & RP_PSN_MASK);
		for (i = 0; i < 8; i++) {
			u32 psn = first + flight + rnd_below(RP_PSN_MASK - flight);
			enum rp_kind kind = rnd() % 3 ? RP_KIND_ACK :
					    rnd() % 2 ? RP_KIND_NAK : RP_KIND_RESPONSE;

			/* a NAK names the PSN that it wants, the others the one that they had */
			if (hear(&a, kind, psn + (kind == RP_KIND_NAK), rnd() % 2) ==
			    RP_ANSWER_NEWS && kind == RP_KIND_NAK)	/* the QP goes back */
				rp_answers_sent(&a, (first + flight) & RP_PSN_MASK);
		}
		require(hear(&a, RP_KIND_ACK, first + rnd_below(flight), false) == RP_ANSWER_NEWS,
			"first %x, %u under way", first, flight);
	}
}

/* It sent on without being seen, by however many PSNs: its acknowledges get through soon again. */
static void test_missed(void **state)
{
	u32 round, i, kept;

	for (round = 0; round < ROUNDS(200000); round++) {
		u32 first = rnd() & RP_PSN_MASK, missed = rnd() & RP_PSN_MASK;
		u32 flight = rnd_range(1, 64), psn = (first + missed) & RP_PSN_MASK;
		struct rp_answers a = {};

		rp_answers_sent(&a, first);
		hear(&a, RP_KIND_ACK, first - 1, false);
		/* the peer has said something meanwhile, or not */
		for (i = rnd() % 4; i; i--)
			hear(&a, RP_KIND_ACK, first + rnd_below(missed + 1), rnd() % 2);
		rp_answers_sent(&a, (psn + flight) & RP_PSN_MASK);
		for (kept = 0; hear(&a, RP_KIND_ACK, psn, false) == RP_ANSWER_STALE; kept++)
			require(kept < RP_ANSWER_KEPT_MAX, "%u PSNs were missed", missed);
		for (i = 0; i < flight; i++)
			require(hear(&a, RP_KIND_ACK, psn + i, false) != RP_ANSWER_STALE,
				"%u PSNs were missed, %u of %u", missed, i, flight);
	}
}

/* What is stale is kept back however much of it there is, while the QP goes on. */
static void test_stale(void **state)
{
	struct rp_answers a = {};
	u32 psn, i;

	for (psn = 1000; psn < 1100; psn++) {
		rp_answers_sent(&a, psn + 1);
		require(hear(&a, RP_KIND_ACK, psn, false) == RP_ANSWER_NEWS, "PSN %u", psn);
		for (i = 1; i <= RP_ANSWER_KEPT_MAX; i++)
			require(hear(&a, RP_KIND_ACK, psn - i, false) == RP_ANSWER_STALE,
				"%u before %u", i, psn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_late_acknowledges),
		cmocka_unit_test(test_said_again),
		cmocka_unit_test(test_naks),
		cmocka_unit_test(test_going_back),
		cmocka_unit_test(test_guesses),
		cmocka_unit_test(test_missed),
		cmocka_unit_test(test_stale),
	};

	return unit_run(tests);
}
