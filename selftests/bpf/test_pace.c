// SPDX-License-Identifier: GPL-2.0
/*
 * Pacing, simulated: QPs that have so much in flight and send the next packet when one
 * has left, as rdma_rxe's do, and a port that holds packets until their departure.
 */
#include "unit.h"

#include <rocepath/policy_derive.h>

#include "pace.h"

#define QPS 32
#define FLIGHT 64
#define SEC 1000000000ull
#define MSEC 1000000ull

struct sender {
	struct rp_qp_tx tx;
	u32 bytes;		/* of a packet */
	u32 flight;		/* packets */
	u64 every;		/* ns between packets at least; 0: as fast as it may */
	u64 leaves[FLIGHT];	/* when those in flight do; ~0: none */
	u64 next;		/* when it has the next one */
	u64 sent;		/* bytes that have left in the measured time */
};

static struct rp_policy policy;
static struct rp_pacer pacer, total;
static struct sender senders[QPS];
static u32 count;
static u64 now, most_waiting;

static void begin(u64 class_rate, u64 qp_rate, u64 total_rate, u32 qps)
{
	u32 i;

	memset(&policy, 0, sizeof(policy));
	memset(&pacer, 0, sizeof(pacer));
	memset(&total, 0, sizeof(total));
	memset(senders, 0, sizeof(senders));
	policy.horizon_ns = 8 * SEC;
	policy.class_count = 1;
	policy.class[0].class_rate.rate_bytes_per_s = class_rate;
	policy.class[0].qp_rate.rate_bytes_per_s = qp_rate;
	policy.total_rate.rate_bytes_per_s = total_rate;
	rp_policy_derive(&policy);
	count = qps;
	now = 1000 * SEC;
	for (i = 0; i < qps; i++) {
		senders[i].bytes = 1024;
		senders[i].flight = FLIGHT;
		memset(senders[i].leaves, 0xff, sizeof(senders[i].leaves));
		senders[i].next = now;
	}
}

/* the kernel's clock ticks every 4 ms */
static u64 pace(struct sender *s)
{
	struct rp_time time = { .tick_ns = now / (4 * MSEC) * (4 * MSEC), .now_ns = now };
	u64 depart = rp_pace(&policy, &policy.class[0], &pacer, &total, &s->tx, s->bytes, &time);

	require(depart <= time.tick_ns + policy.horizon_ns, "later than the horizon");
	return max(depart, now);
}

/* the earliest of all things that can happen; moves on to it */
static void step(u64 measure_from)
{
	struct sender *s, *who = NULL;
	u32 i, k, slot = 0;
	u64 first = ~0ull;
	bool leaves = false;

	for (i = 0; i < count; i++) {
		u32 used = 0;

		s = &senders[i];
		for (k = 0; k < s->flight; k++) {
			used += s->leaves[k] != ~0ull;
			if (s->leaves[k] < first) {
				first = s->leaves[k];
				who = s;
				slot = k;
				leaves = true;
			}
		}
		if (used < s->flight && s->next < first) {
			first = s->next;
			who = s;
			leaves = false;
		}
	}
	now = max(now, first);
	if (leaves) {
		who->leaves[slot] = ~0ull;
		if (now >= measure_from)
			who->sent += who->bytes;
		who->next = max(who->next, now);
		return;
	}
	for (k = 0; who->leaves[k] != ~0ull; k++)
		;
	who->leaves[k] = pace(who);
	most_waiting = max(most_waiting, who->leaves[k] - now);
	who->next = now + who->every;
}

static double run_for(u64 warm_up, u64 time)
{
	u64 from = now + warm_up, to = from + time, sum = 0;
	u32 i;

	while (now < to)
		step(from);
	for (i = 0; i < count; i++)
		sum += senders[i].sent;
	return sum * 1e9 / time;
}

static double jain(void)
{
	double sum = 0, squares = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		sum += senders[i].sent;
		squares += (double)senders[i].sent * senders[i].sent;
	}
	return sum * sum / (count * squares);
}

static void near(double have, double want, double part, const char *what)
{
	require(have > want * (1 - part) && have < want * (1 + part), "%s: %.0f, not %.0f", what,
		have, want);
}

static void rates(void **state)
{
	static const u64 mbit[] = { 10, 20, 30, 1000, 400000 };
	u32 i, qps;

	for (i = 0; i < ARRAY_SIZE(mbit); i++)
		for (qps = 1; qps <= ROUNDS(16); qps *= 4) {
			u64 rate = mbit[i] * 125000, time = 6000 * 1024 * SEC / rate * qps;
			double fair;

			begin(rate, 0, 0, qps);
			near(run_for(time / 4, time), rate, 0.01, "class");
			fair = jain();
			require(fair > 0.99, "%u QPs: Jain %f", qps, fair);
			begin(0, rate / qps, 0, qps);
			near(run_for(time / 4, time), rate, 0.01, "QP");
			begin(0, 0, rate, qps);
			near(run_for(time / 4, time), rate, 0.01, "all");
		}
}

/* by bytes, whatever the packets' size and how many are in flight */
static void fair_by_bytes(void **state)
{
	double fair, used;
	u32 i;

	begin(20 * 125000, 0, 0, 8);
	for (i = 0; i < 8; i++) {
		senders[i].bytes = i % 2 ? 256 : 4096;
		senders[i].flight = i % 4 < 2 ? 64 : 24;
	}
	used = run_for(2 * SEC, 10 * SEC);
	fair = jain();
	print_message("# 256 and 4096 bytes, 24 and 64 in flight: Jain %.3f, used %.3f\n", fair,
		      used / (20 * 125000));
	near(used, 20 * 125000, 0.02, "used");
	require(fair >= 0.95, "Jain %f", fair);
}

/* who wants little gets it, the others share the rest; nothing is left unused */
static void work_conserving(void **state)
{
	double used;
	u32 i;

	begin(20 * 125000, 0, 0, 4);
	senders[3].every = 8 * MSEC;		/* 1 Mbit/s */
	used = run_for(2 * SEC, 10 * SEC);
	print_message("# used %.3f, the small one has %.3f of what it wants\n",
		      used / (20 * 125000), senders[3].sent * 8 / 10.0 / 1.024e6);
	near(used, 20 * 125000, 0.02, "used");
	near(senders[3].sent, 10 * 128000, 0.1, "the small one");
	for (i = 0; i < 3; i++)
		near(senders[i].sent, (20 * 125000 - 128000) * 10 / 3, 0.1, "a large one");
}

/* all want little, but together more than there is */
static void many_small(void **state)
{
	double used;
	u32 i;

	begin(10 * 125000, 0, 0, QPS);
	for (i = 0; i < QPS; i++) {
		senders[i].every = 13 * MSEC;		/* twice the rate, together */
		senders[i].next += i * 400000;
	}
	used = run_for(4 * SEC, 20 * SEC);
	print_message("# used %.3f, Jain %.3f\n", used / (10 * 125000), jain());
	near(used, 10 * 125000, 0.05, "used");
	require(jain() >= 0.95, "Jain %f", jain());
}

/* so many QPs that the horizon is reached: they slow down; nothing is later, the clock waits */
static void horizon(void **state)
{
	begin(125000, 0, 0, QPS);
	policy.horizon_ns = SEC;
	most_waiting = 0;
	run_for(SEC, 10 * SEC);
	assert_in_range(most_waiting, SEC - 4 * MSEC, SEC);
	require(senders[0].tx.class_turn.next_ns <= now + SEC + SEC / 2, "the clock has run away");
}

/* a pause is not made up for by more than the burst */
static void burst(void **state)
{
	u64 sent = 0, at;

	begin(1250000, 0, 0, 1);
	policy.class[0].class_rate.burst_bytes = 64 * 1024;
	rp_policy_derive(&policy);
	run_for(SEC, SEC);
	now += 10 * SEC;
	do {
		at = pace(&senders[0]);
		sent += 1024;
	} while (at == now);
	assert_in_range(sent, 64 * 1024, 67 * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),
		cmocka_unit_test(fair_by_bytes),
		cmocka_unit_test(work_conserving),
		cmocka_unit_test(many_small),
		cmocka_unit_test(horizon),
		cmocka_unit_test(burst),
	};

	return unit_run(tests);
}
