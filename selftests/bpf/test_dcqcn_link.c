// SPDX-License-Identifier: GPL-2.0
/*
 * QPs under DCQCN share a slow link: the machine's rates, departures that stay once they
 * are given, RED with ECN as the kernel has it, CNPs at most one an interval. With the
 * parameters of selftests/vm/test_policy.py, whose link this is.
 *
 *   QP -- in flight at most WINDOW --> fq --> RED, LINK --> DELAY: ACK, and CNP where marked
 */
#include "unit.h"

#include <math.h>

#include "dcqcn.h"

#define USEC 1000ull
#define MSEC 1000000ull
#define SEC 1000000000ull

#define QPS_MAX 8
#define WINDOW 24		/* packets that a QP has in flight */
#define TICK (100 * USEC)
#define DELAY (3 * MSEC)
#define LINK 500000.0		/* bytes a second: 4 Mbit/s */
#define BURST 40000.0
#define PACKET 1094
#define DATA 1024
#define RED_MIN 20000.0
#define RED_MAX 140000.0
#define RED_PROBABILITY 1.0
#define RED_WEIGHT (1.0 / 32)
#define SETTLE (15 * SEC)
#define MEASURE (30 * SEC)

static const struct rp_dcqcn_params params = {
	.rpg_time_reset_us = 200000,
	.rpg_threshold = 1,
	.rpg_gd = 11,
	.rpg_ai_rate_bytes_per_s = 5000 / 8,
	.rpg_hai_rate_bytes_per_s = 50000000 / 8,
	.rpg_min_dec_fac_pct = 70,
	.rpg_min_rate_bytes_per_s = 100000 / 8,
	.rpg_max_rate_bytes_per_s = 4000000 / 8,
	.dce_tcp_g = 1000,
	.dce_tcp_rtt_us = 200000,
	.initial_alpha_value = 1023,
	.rate_reduce_monitor_period_us = 200000,
	.rate_to_set_on_first_cnp_bytes_per_s = 1000000 / 8,
	.clamp_tgt_rate = 1,
	.clamp_tgt_rate_after_time_inc = 1,
	.min_time_between_cnps_us = 200000,
};

/* departures in a ring: those that wait in fq begin at @first */
struct qp {
	struct rp_dcqcn machine;
	u64 next_ns;
	u64 cnp_sent_ns;
	u64 depart_ns[WINDOW];
	u32 first, waiting;
	u32 in_flight;
	u64 delivered;
};

struct packet {
	u32 qp;
	bool marked;
};

/* what comes back to a sender, all of it DELAY later */
struct answer {
	u64 at_ns;
	u32 qp;
	bool cnp;
};

struct bottleneck {
	struct packet queue[QPS_MAX * WINDOW];
	u32 first, count;
	double average, credit, longest;
	u64 idle_ns;
	int since_mark;
	u32 drops, marks;
};

struct net {
	struct qp qp[QPS_MAX];
	u32 qps;
	bool dcqcn;
	struct bottleneck b;
	struct answer answers[4 * QPS_MAX * WINDOW];
	u32 first, count;
	u64 now;
};

static void answer(struct net *n, u32 qp, bool cnp)
{
	assert_true(n->count < ARRAY_SIZE(n->answers));
	n->answers[(n->first + n->count++) % ARRAY_SIZE(n->answers)] =
		(struct answer) { n->now + DELAY, qp, cnp };
}

static void take_answers(struct net *n)
{
	for (; n->count && n->answers[n->first].at_ns <= n->now; n->count--) {
		const struct answer *a = &n->answers[n->first];
		struct qp *qp = &n->qp[a->qp];

		n->first = (n->first + 1) % ARRAY_SIZE(n->answers);
		if (!a->cnp) {
			qp->in_flight--;
		} else if (n->dcqcn && !rp_dcqcn_too_soon(&qp->machine, &params, n->now)) {
			rp_dcqcn_advance(&qp->machine, &params, n->now);
			rp_dcqcn_cnp(&qp->machine, &params, n->now);
		}
	}
}

/* all that the window allows gets its departure at once */
static void fill_window(struct net *n, struct qp *qp)
{
	u64 per_byte;

	for (; qp->in_flight < WINDOW; qp->in_flight++) {
		rp_dcqcn_advance(&qp->machine, &params, n->now);
		rp_dcqcn_sent(&qp->machine, &params, DATA);
		per_byte = rp_dcqcn_ns_per_byte_q20(&qp->machine);
		qp->next_ns = max(qp->next_ns, n->now);
		qp->depart_ns[(qp->first + qp->waiting++) % WINDOW] = qp->next_ns;
		qp->next_ns += per_byte * DATA >> 20;
	}
}

/* net/sched/sch_red.c: Floyd's, marks spread evenly; "harddrop" above the maximum */
static bool red_marks(struct bottleneck *b, u64 now, bool *drop)
{
	double chance;

	if (!b->count)
		b->average *= pow(1 - RED_WEIGHT, (now - b->idle_ns) * LINK / PACKET / SEC);
	b->average += (b->count * PACKET - b->average) * RED_WEIGHT;
	*drop = b->average >= RED_MAX;
	if (b->average < RED_MIN || *drop) {
		b->since_mark = -1;
		return false;
	}
	chance = RED_PROBABILITY * (b->average - RED_MIN) / (RED_MAX - RED_MIN);
	if (++b->since_mark <= 0 || rnd_below(1 << 20) * (1 - b->since_mark * chance) >=
				    chance * (1 << 20))
		return false;
	b->since_mark = 0;
	return true;
}

static void arrive(struct net *n, u32 qp)
{
	struct bottleneck *b = &n->b;
	bool drop, marked = red_marks(b, n->now, &drop);

	if (drop) {
		b->drops++;
		answer(n, qp, false);
		return;
	}
	b->marks += marked;
	b->queue[(b->first + b->count++) % ARRAY_SIZE(b->queue)] = (struct packet) { qp, marked };
	b->longest = max(b->longest, (double)b->count * PACKET);
}

static void depart(struct net *n, u32 index)
{
	struct qp *qp = &n->qp[index];

	for (; qp->waiting && qp->depart_ns[qp->first] <= n->now; qp->waiting--) {
		qp->first = (qp->first + 1) % WINDOW;
		arrive(n, index);
	}
}

static void deliver(struct net *n)
{
	struct bottleneck *b = &n->b;

	b->credit = min(b->credit + LINK * TICK / SEC, BURST);
	for (; b->count && b->credit >= PACKET; b->count--) {
		const struct packet *p = &b->queue[b->first];
		struct qp *qp = &n->qp[p->qp];

		b->first = (b->first + 1) % ARRAY_SIZE(b->queue);
		b->credit -= PACKET;
		b->idle_ns = n->now;
		qp->delivered += DATA;
		answer(n, p->qp, false);
		if (!p->marked || n->now < qp->cnp_sent_ns +
					   params.min_time_between_cnps_us * USEC)
			continue;
		qp->cnp_sent_ns = n->now;
		answer(n, p->qp, true);
	}
}

/* @stall: for how long at most nobody sends, three times a second: virtual CPUs */
static void run(struct net *n, u64 length, u64 stall)
{
	u64 end = n->now + length, stalled = 0;
	u32 i, k;

	for (; n->now < end; n->now += TICK) {
		if (stall && !rnd_below(3333))
			stalled = n->now + rnd_below(stall);
		if (n->now >= stalled) {
			take_answers(n);
			for (i = 0, k = rnd_below(n->qps); i < n->qps; i++)
				fill_window(n, &n->qp[(i + k) % n->qps]);
			for (i = 0; i < n->qps; i++)
				depart(n, (i + k) % n->qps);
		}
		deliver(n);
	}
}

static void measure(u32 qps, bool dcqcn, u64 stall, double *jain, double *used, struct net *n)
{
	double sum = 0, squares = 0, got;
	u32 i;

	memset(n, 0, sizeof(*n));
	n->qps = qps;
	n->dcqcn = dcqcn;
	n->now = 1000 * SEC;
	run(n, SETTLE, stall);
	for (i = 0; i < qps; i++)
		n->qp[i].delivered = 0;
	n->b.drops = 0;
	n->b.marks = 0;
	n->b.longest = 0;
	run(n, MEASURE, stall);
	for (i = 0; i < qps; i++) {
		got = n->qp[i].delivered;
		sum += got;
		squares += got * got;
	}
	*jain = sum * sum / (qps * squares);
	*used = sum * PACKET / DATA / (LINK * MEASURE / SEC);
	print_message("# %u QPs, DCQCN %s, stalls of up to %llu ms: Jain %.3f, utilisation %.3f\n",
		      qps, dcqcn ? "on" : "off", (unsigned long long)(stall / MSEC), *jain, *used);
	print_message("#   %u drops, %u marks, a queue of %.0f bytes\n", n->b.drops, n->b.marks,
		      n->b.longest);
}

static void shares(void **state)
{
	static const u64 stalls[] = { 0, 100 * MSEC };
	double jain, used;
	struct net n;
	u32 i, qps;

	for (i = 0; i < ARRAY_SIZE(stalls); i++) {
		for (qps = 2; qps <= QPS_MAX; qps += QPS_MAX - 2) {
			measure(qps, true, stalls[i], &jain, &used, &n);
			require(jain >= 0.95, "Jain %.3f", jain);
			require(used >= 0.9, "utilisation %.3f", used);
			require(!n.b.drops, "%u drops", n.b.drops);
			require(n.b.longest < RED_MAX, "a queue of %.0f bytes", n.b.longest);
		}
		measure(QPS_MAX, false, stalls[i], &jain, &used, &n);
		require(n.b.drops, "nothing is lost without it");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
	};

	return unit_run(tests);
}
