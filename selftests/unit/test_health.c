// SPDX-License-Identifier: GPL-2.0
/* The state machine of a path's health, in simulated time. */
/* SOURCES: kmod/core/budget.c kmod/core/health.c kmod/core/holddown.c */
#include <math.h>

#include "unit.h"
#include "health.h"

#define MS 1000000ull
#define I (1 * MS)

static const struct rp_health_knobs knobs = {
	.interval_ns = I,
	.loss_ppm = 5000,
	.holddown_ms = 100,
	.holddown_max_ms = 1600,
};

static struct rp_health h;
static u64 now;

static void start(bool carrier)
{
	now = 1000 * MS;
	rp_health_init(&h, carrier, now);
}

static void is(enum rocepath_path_state state, enum rocepath_path_reason reason)
{
	assert_int_equal(h.state, state);
	assert_int_equal(h.reason, reason);
	assert_int_equal(h.since_ns, now);
}

/* @silent: since it was not, nothing was heard of the peer */
static bool look(bool silent, u64 newest_ns, const struct rp_health_knobs *k, u64 now_ns)
{
	static u64 heard_ns;

	heard_ns = silent ? heard_ns : now_ns;
	return rp_health_poll(&h, &(struct rp_hearing){ heard_ns, newest_ns, silent }, k, now_ns);
}

static bool poll(void)
{
	return look(false, 0, &knobs, now);
}

static bool arrived(u32 packets, u64 sent_ns)
{
	return rp_health_arrived(&h, packets, sent_ns, now);
}

static bool lost(u32 packets, u64 sent_ns)
{
	return rp_health_lost(&h, packets, sent_ns, &knobs, now);
}

/* Poll each quarter of an interval until the state changes. Return: the time that took. */
static u64 poll_until_change(u64 most)
{
	u64 begun = now;

	while (!poll()) {
		now += I / 4;
		require(now - begun <= most, "nothing within %llu us",
			(unsigned long long)most / 1000);
	}
	return now - begun;
}

/* Send on it, and hear nothing: it goes down. */
static void silence(void)
{
	rp_health_sent(&h, now);
	poll_until_change(2 * I);
	is(ROCEPATH_PATH_SUSPECT, ROCEPATH_REASON_SILENT);
	poll_until_change(2 * I);
	is(ROCEPATH_PATH_DOWN, ROCEPATH_REASON_SILENT);
}

static bool answer(u64 rtt)
{
	u64 sent_ns = now;

	assert_true(rp_health_probe_due(&h, 0, &knobs, now));
	rp_health_probed(&h, &knobs, now);
	assert_false(rp_health_probe_due(&h, 0, &knobs, now));
	now += rtt;
	return rp_health_answered(&h, sent_ns, &knobs, now);
}

/* Through probation. Return: how long the hold-down was, in ms. */
static u32 recover(void)
{
	u64 down_ns = now;
	u32 held, i;

	assert_int_equal(h.state, ROCEPATH_PATH_DOWN);
	assert_false(rp_health_probe_due(&h, 1, &knobs, now));
	now = h.until_ns - 1;
	assert_false(poll());
	now++;
	assert_true(poll());
	is(ROCEPATH_PATH_PROBATION, ROCEPATH_REASON_HOLDDOWN_OVER);
	held = (now - down_ns) / MS;
	for (i = 1; i < RP_HEALTH_PROBES; i++) {
		assert_false(answer(I / 10));
		now += I;
	}
	assert_true(answer(I / 10));
	assert_true(h.rtt_us == I / 10 / 1000 && h.rtt_ns == now);
	is(ROCEPATH_PATH_UP, ROCEPATH_REASON_PROBES_ANSWERED);
	return held;
}

static void new_path(void **state)
{
	start(true);
	is(ROCEPATH_PATH_UP, ROCEPATH_REASON_NEW);
	assert_int_equal(h.ramp, RP_HEALTH_RAMP_FULL);
	start(false);
	is(ROCEPATH_PATH_DOWN, ROCEPATH_REASON_CARRIER);
	now += 1000000 * MS;
	assert_false(poll());
	assert_true(rp_health_carrier(&h, true, &knobs, now));
	is(ROCEPATH_PATH_PROBATION, ROCEPATH_REASON_CARRIER);
}

/* It was not used: that nothing is heard says nothing. */
static void idle_is_not_silent(void **state)
{
	u32 i;

	start(true);
	for (i = 0; i < 1000; i++) {
		now += I;
		assert_false(poll());
	}
	rp_health_sent(&h, now);
	now += I / 2;
	assert_false(arrived(1, now - I / 4));
	for (i = 0; i < 1000; i++) {
		now += I;
		assert_false(poll());
	}
}

static void silent_for_three_intervals(void **state)
{
	u64 sent_ns;

	start(true);
	rp_health_sent(&h, now);
	sent_ns = now;
	/* what is sent later is not what counts */
	now += I;
	rp_health_sent(&h, now);
	assert_false(poll());
	poll_until_change(I);
	is(ROCEPATH_PATH_SUSPECT, ROCEPATH_REASON_SILENT);
	assert_true(now - sent_ns < 3 * I);
	assert_true(rp_health_probe_due(&h, 0, &knobs, now));
	poll_until_change(2 * I);
	is(ROCEPATH_PATH_DOWN, ROCEPATH_REASON_SILENT);
	assert_int_equal(h.fails, 1);
	/* it arrived after all, but it is held down */
	assert_false(arrived(1, sent_ns + I));
	assert_int_equal(recover(), 100);
}

static void heard_again(void **state)
{
	u64 sent_ns;

	start(true);
	rp_health_sent(&h, now);
	sent_ns = now;
	poll_until_change(2 * I);
	/* what was sent before does not speak for it */
	assert_false(arrived(1, sent_ns - 1));
	assert_int_equal(h.state, ROCEPATH_PATH_SUSPECT);
	assert_true(arrived(1, sent_ns));
	is(ROCEPATH_PATH_UP, ROCEPATH_REASON_HEARD);
	assert_int_equal(h.ramp, RP_HEALTH_RAMP_FULL);
	assert_int_equal(h.fails, 0);

	/* and a probe does it as well */
	now += I;
	rp_health_sent(&h, now);
	poll_until_change(2 * I);
	assert_true(answer(I / 2));
	is(ROCEPATH_PATH_UP, ROCEPATH_REASON_HEARD);
	assert_int_equal(h.rtt_us, I / 2 / 1000);
}

/* A queue stands: what arrives was sent long ago, longer than 3 intervals. It works. */
static void queues_are_not_silence(void **state)
{
	u32 i;

	start(true);
	for (i = 0; i < 1000; i++) {
		rp_health_sent(&h, now);
		assert_false(poll());
		now += I / 4;
		if (i % 4 == 3)
			assert_false(arrived(10, now - 20 * I));
	}
	/* now and then a report is lost, on all paths */
	for (i = 0; i < 1000; i++) {
		rp_health_sent(&h, now);
		assert_false(look(i % 16 > 3, 0, &knobs, now));
		now += I / 4;
		if (i % 16 == 3)
			assert_false(arrived(10, now - 20 * I));
	}
}

/* With queues of 20 intervals, what was sent first comes back as late as that. */
static void patient_with_long_queues(void **state)
{
	struct rp_health_knobs patient = knobs;
	u64 sent_ns;

	patient.patience_ns = 25 * I;
	start(true);
	sent_ns = now;
	rp_health_sent(&h, sent_ns);
	for (; now < sent_ns + 21 * I; now += I / 4)
		assert_false(look(false, 0, &patient, now));
	assert_false(rp_health_arrived(&h, 1, sent_ns, now));
	rp_health_sent(&h, now);
	sent_ns = now;
	while (!look(false, 0, &patient, now))
		now += I / 4;
	is(ROCEPATH_PATH_SUSPECT, ROCEPATH_REASON_SILENT);
	assert_int_equal(now, sent_ns + 25 * I);
	/* the answer to a probe takes as long */
	sent_ns = now;
	rp_health_probed(&h, &patient, now);
	for (; now < sent_ns + 21 * I; now += I / 4)
		assert_false(look(false, 0, &patient, now));
	assert_true(rp_health_answered(&h, sent_ns, &patient, now));
	is(ROCEPATH_PATH_UP, ROCEPATH_REASON_HEARD);
}

/* What other paths carried later has arrived: it need not be waited for. */
static void overtaken(void **state)
{
	struct rp_health_knobs patient = knobs;
	u64 sent_ns;
	u32 i;

	patient.patience_ns = 100 * I;
	start(true);
	/* nothing is known of how far others are ahead usually */
	rp_health_sent(&h, now);
	for (i = 1; i < RP_HEALTH_USUAL; i++) {
		assert_false(look(false, now, &patient, now));
		assert_false(arrived(1, ++now));
		rp_health_sent(&h, now);
	}
	assert_false(look(false, now + 50 * I, &patient, now + 50 * I));
	/* an interval is usual here: a path that few packets take */
	for (i = 0; i < 32; i++) {
		rp_health_sent(&h, now);
		now += I;
		assert_false(look(false, now, &patient, now));
		assert_false(arrived(1, now));
	}
	rp_health_sent(&h, now);
	assert_false(look(false, now + I, &patient, now + I));
	/* the peer stands still: nothing is known of the others either */
	sent_ns = now;
	now += 90 * I;
	assert_false(look(false, sent_ns + I, &patient, now));
	assert_true(look(false, sent_ns + 2 * I, &patient, now));
	is(ROCEPATH_PATH_SUSPECT, ROCEPATH_REASON_SILENT);
	/* it was late after all, and is not suspected for that again */
	assert_true(arrived(1, now));
	is(ROCEPATH_PATH_UP, ROCEPATH_REASON_HEARD);
	rp_health_sent(&h, now);
	assert_false(look(false, now + 2 * I, &patient, now + 2 * I));
	assert_false(arrived(1, now));
	/* never heard before the others are: now the slack is enough */
	for (i = 0; i < 64; i++) {
		rp_health_sent(&h, ++now);
		assert_false(arrived(1, now));
	}
	rp_health_sent(&h, now);
	assert_false(look(false, now + I / 4, &patient, now + I));
	assert_true(look(false, now + I / 4 + 1000, &patient, now + I));
}

static void dead_peer_takes_no_path_down(void **state)
{
	u32 i;

	start(true);
	rp_health_sent(&h, now);
	for (i = 0; i < 4000; i++) {
		now += I / 4;
		assert_false(look(true, 0, &knobs, now));
	}
	assert_int_equal(h.state, ROCEPATH_PATH_UP);
	/* it is heard again, but not on this path: the clock starts now */
	assert_false(poll());
	poll_until_change(2 * I);
	is(ROCEPATH_PATH_SUSPECT, ROCEPATH_REASON_SILENT);
	for (i = 0; i < 4000; i++) {
		now += I / 4;
		assert_false(look(true, 0, &knobs, now));
	}
	assert_true(poll_until_change(3 * I) >= I);
	is(ROCEPATH_PATH_DOWN, ROCEPATH_REASON_SILENT);
	/* nor does it fail in probation */
	now = h.until_ns;
	assert_true(poll());
	rp_health_probed(&h, &knobs, now);
	for (i = 0; i < 4000; i++) {
		now += I / 4;
		assert_false(look(true, 0, &knobs, now));
		if (rp_health_probe_due(&h, 0, &knobs, now))
			rp_health_probed(&h, &knobs, now);
	}
}

/* Where a report is lost, or nothing says anything, nothing is known of any path. */
static void only_what_is_heard_counts(void **state)
{
	struct rp_hearing of_peer = { 0 };
	u32 i;

	/* each second report is lost, and packets leave just after one came: READ responses */
	start(true);
	for (i = 0; i < 1000; i++) {
		of_peer.heard_ns = now;
		rp_health_sent(&h, now);
		for (; now < of_peer.heard_ns + 2 * I; now += I / 8)
			assert_false(rp_health_poll(&h, &of_peer, &knobs, now));
		assert_false(arrived(100, now - I / 8));
	}
	/* an idle peer, whose paths are probed once a second, and one does not work any more */
	for (i = 0; h.state == ROCEPATH_PATH_UP; i++) {
		require(i < 3, "it is not seen");
		of_peer.heard_ns = now + I / 10;	/* answers of the others */
		rp_health_probed(&h, &knobs, now);
		for (; now < of_peer.heard_ns + 1000 * MS; now += 125 * MS)
			if (rp_health_poll(&h, &of_peer, &knobs, now + I))
				break;
	}
	assert_int_equal(h.state, ROCEPATH_PATH_SUSPECT);
}

static void one_lost_packet(void **state)
{
	start(true);
	rp_health_sent(&h, now);
	assert_false(arrived(10, now));
	assert_false(lost(1, now - 1));
	assert_int_equal(h.state, ROCEPATH_PATH_UP);
	assert_int_equal(h.lost_total, 1);
	assert_int_equal(rp_health_loss_ppm(&h), 1000000 / 11);

	/* nothing followed: the path may be dead */
	now += I;
	assert_true(lost(1, now - 1));
	is(ROCEPATH_PATH_SUSPECT, ROCEPATH_REASON_SILENT);
	assert_false(lost(1, now));
	assert_false(arrived(1, now - 2));
	assert_true(arrived(1, now));
	is(ROCEPATH_PATH_UP, ROCEPATH_REASON_HEARD);
}

static void carrier_goes_and_comes(void **state)
{
	start(true);
	assert_false(rp_health_carrier(&h, true, &knobs, now));
	assert_true(rp_health_carrier(&h, false, &knobs, now));
	is(ROCEPATH_PATH_DOWN, ROCEPATH_REASON_CARRIER);
	assert_false(rp_health_carrier(&h, false, &knobs, now));
	now += 100000 * MS;
	assert_false(poll());
	assert_true(rp_health_carrier(&h, true, &knobs, now));
	is(ROCEPATH_PATH_PROBATION, ROCEPATH_REASON_CARRIER);

	/* while it is held down for another reason: that it stays down is no news */
	start(true);
	silence();
	assert_false(rp_health_carrier(&h, false, &knobs, now));
	assert_int_equal(h.reason, ROCEPATH_REASON_CARRIER);
	now += 100000 * MS;
	assert_false(poll());
	assert_true(rp_health_carrier(&h, true, &knobs, now));
}

static void probation_fails(void **state)
{
	u32 i;

	start(true);
	silence();
	for (i = 0; i < 4; i++) {
		now = h.until_ns;
		assert_true(poll());
		assert_false(answer(I / 10));
		now += I;
		rp_health_probed(&h, &knobs, now);
		poll_until_change(4 * I);
		is(ROCEPATH_PATH_DOWN, ROCEPATH_REASON_PROBE_LOST);
		/* it never came up, so that is no flap; but it is tried less and less often */
		assert_int_equal(h.until_ns - now, (100 << i) * MS);
		assert_int_equal(h.fails, 1);
	}
	/* up to a limit */
	for (i = 0; i < 20; i++) {
		now = h.until_ns;
		assert_true(poll());
		rp_health_probed(&h, &knobs, now);
		poll_until_change(4 * I);
	}
	assert_int_equal(h.until_ns - now, min(knobs.holddown_max_ms, RP_HEALTH_RETRY_MS) * MS);
	now = h.until_ns;
	assert_true(poll());
	assert_false(lost(1, now - 1));
	now += I;
	assert_true(lost(1, now - 1));
	is(ROCEPATH_PATH_DOWN, ROCEPATH_REASON_SILENT);
	recover();
}

/* An answer to a probe that is not the one that is out says nothing in probation. */
static void stale_answers(void **state)
{
	u64 old;

	start(true);
	rp_health_sent(&h, now);
	poll_until_change(2 * I);
	old = now;
	rp_health_probed(&h, &knobs, now);
	poll_until_change(3 * I);
	now = h.until_ns;
	assert_true(poll());
	assert_false(rp_health_answered(&h, old, &knobs, now));
	assert_int_equal(h.answered, 0);
	rp_health_probed(&h, &knobs, now);
	assert_false(rp_health_answered(&h, now, &knobs, now));
	assert_false(rp_health_answered(&h, now, &knobs, now));
	assert_false(rp_health_answered(&h, now, &knobs, now));
	assert_int_equal(h.answered, 1);
	/* nor one from the future */
	assert_false(rp_health_answered(&h, now + 1, &knobs, now));
}

static void ramp(void **state)
{
	u32 i;

	start(true);
	silence();
	recover();
	for (i = 1; i < 8; i++) {
		assert_int_equal(h.ramp, i * RP_HEALTH_RAMP_FULL / 8);
		now += I;
		assert_false(poll());
	}
	assert_int_equal(h.ramp, RP_HEALTH_RAMP_FULL);
	now += I;
	assert_false(poll());
	assert_int_equal(h.ramp, RP_HEALTH_RAMP_FULL);
}

static void flapping_earns_more(void **state)
{
	static const u32 held_ms[] = { 100, 200, 400, 800, 1600, 1600, 1600 };
	u32 i;

	start(true);
	for (i = 0; i < ARRAY_SIZE(held_ms); i++) {
		silence();
		assert_int_equal(recover(), held_ms[i]);
		now += 20 * MS;
	}
	assert_int_equal(h.fails, ARRAY_SIZE(held_ms));
	/* 1600 + 800 ms up: a quarter of it, twice */
	now += 2400 * MS;
	silence();
	assert_int_equal(recover(), 800);
	now += 100000 * MS;
	silence();
	assert_int_equal(recover(), 100);
}

static void probes_when_idle(void **state)
{
	u64 heard_ns;
	u32 i;

	start(true);
	assert_false(rp_health_probe_due(&h, 0, &knobs, now));
	assert_true(rp_health_probe_due(&h, 100 * MS, &knobs, now));
	/* each when its turn is: 50 to 150 ms after it was last heard of, then once in 100 ms */
	h.phase = rnd();
	rp_health_probed(&h, &knobs, now);
	assert_false(rp_health_answered(&h, now, &knobs, now + I / 4));
	heard_ns = now;
	for (i = 0; i < 5; i++) {
		while (!rp_health_probe_due(&h, 100 * MS, &knobs, now))
			now += MS / 10;
		require(now - heard_ns >= (i ? 99 : 50) * MS &&
			now - heard_ns <= (i ? 101 : 151) * MS, "after %llu us",
			(unsigned long long)(now - heard_ns) / 1000);
		heard_ns = now;
		rp_health_probed(&h, &knobs, now);
		assert_false(rp_health_answered(&h, now, &knobs, now + I / 4));
	}
	now += 200 * MS;
	/* one that is not answered makes it suspect, and it is probed at once */
	rp_health_probed(&h, &knobs, now);
	poll_until_change(2 * I);
	is(ROCEPATH_PATH_SUSPECT, ROCEPATH_REASON_SILENT);
	assert_true(rp_health_probe_due(&h, 0, &knobs, now));
	rp_health_probed(&h, &knobs, now);
	now += I - 1;
	assert_false(rp_health_probe_due(&h, 0, &knobs, now));
	now++;
	assert_true(rp_health_probe_due(&h, 0, &knobs, now));
}

/* So many packets with so much loss, in reports of @batch. */
static void traffic(u32 packets, double loss, u32 batch)
{
	u32 i, k, gone;

	for (i = 0; i < packets; i += batch) {
		for (gone = 0, k = 0; k < batch; k++)
			gone += rnd() < loss * 4294967296.0;
		now += I;
		arrived(batch - gone, now);
		lost(gone, now - 1);
		poll();
	}
}

/* The true rate, to 0.1 % of all packets by 2 standard deviations; here by 5 at the very worst. */
static void loss_rate(void **state)
{
	static const double rate[] = { 0, 0.0001, 0.001, 0.005, 0.01 };
	static const u32 batch[] = { 1, 12, 1000, 100000 };
	double mean, off, worst = 0;
	u32 i, k, n;

	for (i = 0; i < ARRAY_SIZE(rate); i++) {
		for (k = 0; k < ARRAY_SIZE(batch); k++) {
			start(true);
			traffic(60000, 0.05, batch[k]);
			traffic(600000, rate[i], batch[k]);
			for (mean = 0, n = 0; n < 20; n++) {
				traffic(20000, rate[i], batch[k]);
				off = rp_health_loss_ppm(&h) / 1e6 - rate[i];
				worst = max(worst, fabs(off));
				mean += off / 20;
			}
			require(fabs(mean) < 0.0008, "%f: off by %f on average", rate[i], mean);
		}
	}
	printf("# loss rate: off by at most %.3f %%\n", worst * 100);
	assert_true(worst < 0.002);
	for (mean = 0, n = 0; n < 100; n++) {
		start(true);
		traffic(200000, 0.01, 100);
		off = rp_health_loss_ppm(&h) / 1e6 - 0.01;
		mean += off * off / 100;
	}
	printf("# at 1 %%: standard deviation %.4f %%\n", sqrt(mean) * 100);
	assert_true(sqrt(mean) < 0.0005);
}

/* After a long time without any: at twice the accepted rate it is told after some ten. */
static void excess_is_told_soon(void **state)
{
	u32 i, packets, sum = 0, most = 0, n = 1000, wrong = 0;

	for (i = 0; i < n; i++) {
		start(true);
		traffic(100000, 0, 10000);
		for (packets = 0; !rp_health_excess_ppm(&h); packets += 10) {
			traffic(10, 0.01, 10);
			require(packets < 20000, "not told");
		}
		sum += packets;
		most = max(most, packets);
		require(rp_health_excess_ppm(&h) > 5000, "told to be less than what is accepted");
	}
	printf("# 1 %% told after %u packets, at most %u\n", sum / n, most);
	assert_true(sum / n < 1400);
	/* at 5 % much sooner; a fifth of what is accepted hardly ever, a single burst never */
	start(true);
	traffic(100000, 0, 10000);
	traffic(400, 0.05, 10);
	assert_true(rp_health_excess_ppm(&h));
	start(true);
	for (i = 0; i < ROUNDS(1000000); i++) {
		traffic(10, 0.001, 10);
		if (!rp_health_excess_ppm(&h))
			continue;
		wrong++;
		start(true);
	}
	printf("# 0.1 %% is too much: %u times in %u losses\n", wrong, i / 100);
	assert_true(wrong <= 2);
	arrived(10, ++now);
	lost(100000, now - 1);
	assert_false(poll());
	assert_int_equal(rp_health_excess_ppm(&h), 0);
}

static void taken_out(void **state)
{
	start(true);
	traffic(5000, 0.05, 10);
	rp_health_take_out(&h, &knobs, now);
	is(ROCEPATH_PATH_DOWN, ROCEPATH_REASON_LOSS);
	assert_true(h.lossy);
	assert_int_equal(recover(), 100);
	assert_false(h.lossy);
	assert_int_equal(rp_health_loss_ppm(&h), 0);
	assert_int_equal(rp_health_excess_ppm(&h), 0);
	rp_health_take_out(&h, &knobs, now);
	assert_int_equal(recover(), 200);
}

/*
 * Any events. A path that works comes up, and one that does not is out of use
 * after 3 intervals; each change is told, has a reason that fits, and damping
 * stays within its bounds.
 */
struct life {
	bool works;
	bool carrier;
	bool silent;
	u64 works_since;
	u64 dead_sent;
	u64 probe_ns;
	u8 state;
};

static bool fits(u8 state, u8 reason)
{
	switch (state) {
	case ROCEPATH_PATH_UP:
		return reason == ROCEPATH_REASON_NEW || reason == ROCEPATH_REASON_HEARD ||
		       reason == ROCEPATH_REASON_PROBES_ANSWERED;
	case ROCEPATH_PATH_SUSPECT:
		return reason == ROCEPATH_REASON_SILENT;
	case ROCEPATH_PATH_DOWN:
		return reason == ROCEPATH_REASON_SILENT || reason == ROCEPATH_REASON_CARRIER ||
		       reason == ROCEPATH_REASON_LOSS || reason == ROCEPATH_REASON_PROBE_LOST;
	default:
		return reason == ROCEPATH_REASON_HOLDDOWN_OVER ||
		       reason == ROCEPATH_REASON_CARRIER;
	}
}

static bool follows(u8 before, u8 after)
{
	switch (after) {
	case ROCEPATH_PATH_UP:
		return before == ROCEPATH_PATH_SUSPECT || before == ROCEPATH_PATH_PROBATION;
	case ROCEPATH_PATH_SUSPECT:
		return before == ROCEPATH_PATH_UP;
	case ROCEPATH_PATH_PROBATION:
		return before == ROCEPATH_PATH_DOWN;
	default:
		return true;
	}
}

static void told(struct life *l, bool changed)
{
	require(changed == (h.state != l->state), "%u to %u, said to be %d", l->state, h.state,
		changed);
	require(fits(h.state, h.reason), "state %u for reason %u", h.state, h.reason);
	require(!changed || follows(l->state, h.state), "%u to %u", l->state, h.state);
	require(h.hold_ms <= knobs.holddown_max_ms, "held for %u ms", h.hold_ms);
	require(h.ramp && h.ramp <= RP_HEALTH_RAMP_FULL, "ramp %u", h.ramp);
	l->state = h.state;
}

static void send_data(struct life *l)
{
	u64 sent_ns = now;

	if (h.state != ROCEPATH_PATH_UP)
		return;
	rp_health_sent(&h, now);
	if (l->works && l->carrier && !l->silent)
		told(l, arrived(rnd_range(1, 20), sent_ns));
	else if (!l->dead_sent && !l->silent)
		l->dead_sent = now;
}

static void send_probe(struct life *l)
{
	u64 sent_ns = now;

	if (!rp_health_probe_due(&h, 50 * MS, &knobs, now))
		return;
	if (h.state == ROCEPATH_PATH_UP && !l->works && !l->silent && !l->dead_sent)
		l->dead_sent = now;
	rp_health_probed(&h, &knobs, now);
	if (l->works && l->carrier && !l->silent)
		told(l, rp_health_answered(&h, sent_ns, &knobs, now));
}

static void fate(struct life *l)
{
	switch (rnd_below(4000)) {
	case 0:
		l->works = !l->works;
		break;
	case 1:
		l->carrier = !l->carrier;
		told(l, rp_health_carrier(&h, l->carrier, &knobs, now));
		break;
	case 2:
		l->silent = !l->silent;
		break;
	case 3:
		told(l, lost(rnd_range(1, 3), now - rnd_below(2 * I)));
		l->works_since = now;
		break;
	case 4:
		if (h.state == ROCEPATH_PATH_UP && rnd() % 8 == 0) {
			rp_health_take_out(&h, &knobs, now);
			told(l, true);
			l->works_since = now;
		}
		break;
	default:
		return;
	}
	if (!l->works || !l->carrier || l->silent)
		l->works_since = now;
	if (l->works || l->silent || !l->carrier)
		l->dead_sent = 0;
}

static void random_life(void **state)
{
	struct life l = { .works = true, .carrier = true };
	u32 i, ups = 0;
	u64 most;

	start(true);
	l.works_since = now;
	for (i = 0; i < ROUNDS(4000000); i++) {
		now += rnd_range(I / 8, I / 4);
		fate(&l);
		if (rnd() % 4)
			send_data(&l);
		send_probe(&l);
		told(&l, look(l.silent, 0, &knobs, now));
		ups += h.state == ROCEPATH_PATH_UP;
		if (h.state != ROCEPATH_PATH_UP || l.silent)
			l.dead_sent = 0;
		require(!l.dead_sent || now - l.dead_sent <= 3 * I, "dead, and used for %llu us",
			(unsigned long long)(now - l.dead_sent) / 1000);
		if (!l.works || !l.carrier || l.silent)
			l.works_since = now;
		most = (knobs.holddown_max_ms + 100) * MS;
		require(h.state != ROCEPATH_PATH_DOWN || now - l.works_since < most,
			"works and stays down");
	}
	assert_true(ups > i / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_path),
		cmocka_unit_test(idle_is_not_silent),
		cmocka_unit_test(silent_for_three_intervals),
		cmocka_unit_test(heard_again),
		cmocka_unit_test(queues_are_not_silence),
		cmocka_unit_test(patient_with_long_queues),
		cmocka_unit_test(overtaken),
		cmocka_unit_test(dead_peer_takes_no_path_down),
		cmocka_unit_test(only_what_is_heard_counts),
		cmocka_unit_test(one_lost_packet),
		cmocka_unit_test(carrier_goes_and_comes),
		cmocka_unit_test(probation_fails),
		cmocka_unit_test(stale_answers),
		cmocka_unit_test(ramp),
		cmocka_unit_test(flapping_earns_more),
		cmocka_unit_test(probes_when_idle),
		cmocka_unit_test(loss_rate),
		cmocka_unit_test(excess_is_told_soon),
		cmocka_unit_test(taken_out),
		cmocka_unit_test(random_life),
	};

	return unit_run(tests);
}
