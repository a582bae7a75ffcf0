// SPDX-License-Identifier: GPL-2.0
/*
 * bench_native: what the module's pure code costs for a packet, in parts and whole.
 *
 *   tx/...      parse, look-up, pick, fix-up, keep; whole: a data packet through all of them
 *   rx/...      parse, look-up, window, counting; whole, in order and not
 *   repair/...  what reports and acknowledges cost, a packet that they speak of
 *   report/...  what a report costs, for a peer with 64 paths
 *
 * One line of JSON for each figure, see measure.h.
 */
/* SOURCES: kmod/core/roce.c kmod/core/icrc.c kmod/core/answer.c kmod/core/repair.c */
/* SOURCES: kmod/core/repaired.c kmod/core/window.c kmod/core/report.c kmod/core/sched.c */
/* SOURCES: kmod/core/pathset.c kmod/core/paths.c */
/* SOURCES: kmod/core/adapt.c kmod/core/budget.c kmod/core/health.c kmod/core/holddown.c */
/* SOURCES: selftests/unit/packet.c selftests/bench/hot.c selftests/bench/qp_table.c */
#include <stdio.h>
#include <stdlib.h>

#include "hot.h"
#include "measure.h"
#include "report.h"

#define QPS 64
#define PATHS 64
#define KEPT 256
#define ROUNDS 101
#define PACKETS 4096
#define SUBJECTS_MAX 64
#define SHUFFLED 64		/* packets of full reordering, each anywhere among so many */
#define LATE_BY 32		/* places that a late packet comes later */

static const u32 sizes[] = { 64, 1024, 4096 };
static const struct rp_sched_ops *const scheds[] = {
	&rp_sched_flow_ops, &rp_sched_flowlet_ops, &rp_sched_spray_ops, &rp_sched_adaptive_ops,
};

/* in which order PSNs come */
enum order { IN_ORDER, LATE_1, LATE_10, FULL, ORDERS };

static const char *const order_names[ORDERS] = { "in-order", "late-1%", "late-10%", "shuffled" };

/**
 * struct subject - what one figure is about
 * @hot: the host
 * @sched: for tx
 * @len: of its packets, from the IP header on
 * @order: for rx
 * @psn: next one to come
 */
struct subject {
	struct hot *hot;
	const struct rp_sched_ops *sched;
	u32 len;
	enum order order;
	u32 psn;
};

static struct measure measures[SUBJECTS_MAX];
static struct subject subjects[SUBJECTS_MAX];
static u32 subjects_n;
static struct rp_held held[PACKETS];
static u32 orders[ORDERS][PACKETS];

/* --- sending --- */

static void run_parse(void *arg, u32 packets)
{
	struct subject *s = arg;
	u32 i, sum = 0;
	struct rp_roce r;

	for (i = 0; i < packets; i++) {
		rp_roce_parse(s->hot->frame[i % HOT_FRAMES], s->len, s->len, &r);
		sum += r.qpn;
	}
	measure_sink = sum;
}

static void run_lookup(void *arg, u32 packets)
{
	struct subject *s = arg;
	const struct qp *qp = s->hot->qp;
	u32 i;

	for (i = 0; i < packets; i++)
		qp = qp_table_remote(&s->hot->table, s->hot->qp[i % QPS].address,
				     s->hot->qp[(i + !qp) % QPS].remote_qpn);
	measure_sink = qp->local_qpn;
}

static void run_pick(void *arg, u32 packets)
{
	struct subject *s = arg;
	struct rp_pathset *set = s->hot->peer->set;
	u32 i, sum = 0;

	for (i = 0; i < packets; i++)
		sum += s->sched->pick(set, &s->hot->qp[i % QPS].tx, s->len, i);
	measure_sink = sum;
}

static void run_fixup(void *arg, u32 packets)
{
	struct subject *s = arg;
	struct rp_roce r;
	u32 i;

	rp_roce_parse(s->hot->frame[0], s->len, s->len, &r);
	for (i = 0; i < packets; i++)
		hot_set_sport(s->hot, s->hot->frame[i % HOT_FRAMES], &r,
			      rp_path_sport(s->hot->peer->set->entry[i % PATHS].path));
}

static void run_keep(void *arg, u32 packets)
{
	struct subject *s = arg;
	u32 i;

	for (i = 0; i < packets; i++)
		hot_keep(s->hot, &s->hot->qp[i % QPS], i % PATHS, i);
}

static void run_clock(void *arg, u32 packets)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < packets; i++)
		sum += hot_clock();
	measure_sink = sum;
}

static void run_tx(void *arg, u32 packets)
{
	struct subject *s = arg;
	u32 i;

	for (i = 0; i < packets; i++)
		hot_tx(s->hot, s->sched, s->hot->frame[i % HOT_FRAMES], s->len, i % QPS);
}

/* --- receiving --- */

/* one QP, for only within one there is an order */
static void run_rx(void *arg, u32 packets)
{
	struct subject *s = arg;
	u32 i, due = 0;

	for (i = 0; i < packets; i++)
		due += hot_rx(s->hot, s->hot->frame[i % HOT_FRAMES], s->len, 0,
			      rp_psn_add(s->psn, (s32)orders[s->order][i]), &held[i]);
	s->psn = rp_psn_add(s->psn, (s32)packets);
	/* what it claims to measure must have happened */
	if (due != packets)
		abort();
}

static void run_window(void *arg, u32 packets)
{
	struct subject *s = arg;
	struct rp_window *w = &s->hot->qp[1].window;
	u32 i;

	for (i = 0; i < packets; i++) {
		held[i] = (struct rp_held){ .span = 1, .bytes = 4352,
				.psn = rp_psn_add(s->psn, (s32)orders[s->order][i]) };
		if (rp_window_rx(w, &held[i], &s->hot->caps, i) == RP_WINDOW_DELIVER)
			while (w->held && rp_window_next(w, i))
				;
	}
	s->psn = rp_psn_add(s->psn, (s32)packets);
}

static void run_heard(void *arg, u32 packets)
{
	struct subject *s = arg;
	struct rp_roce r = { .udp = 20 };
	u32 i;

	for (i = 0; i < packets; i++)
		hot_heard(s->hot->qp, s->hot->frame[i % HOT_FRAMES], &r, 0);
}

/* --- repair and reports --- */

/* packets kept, and reports that say of each second one that it is there, then of all */
static void run_reported(void *arg, u32 packets)
{
	struct subject *s = arg;
	static const struct rp_repair_caps caps = { .packets = KEPT, .bytes = 128 << 20 };
	struct rp_repair_clock clock = { .slack_us = 250, .spread_us = 1000, .round_us = 3000,
					 .tail_us = 4000 };
	struct qp *qp = &s->hot->qp[QPS - 1];
	struct rp_sent *sent = qp->sent;
	struct rp_repair queue = { 0 };
	u32 bits[KEPT / 32], i, k;

	memset(bits, 0xaa, sizeof(bits));
	for (i = 0; i < packets; i += KEPT) {
		for (k = 0; k < KEPT; k++) {
			sent[k] = (struct rp_sent){ .psn = i + k, .span = 1, .bytes = 4352,
						    .path = k % PATHS, .sent_ns = k };
			rp_repair_sent(&queue, &sent[k], &caps);
		}
		rp_repair_reported(&queue, i, bits, KEPT / 32, qp->path);
		rp_repair_settle(&queue, 0, qp->path, PATHS);
		rp_repair_find_lost(&queue, rp_repair_horizon(i, KEPT / 32), &clock, qp->path);
		rp_repair_reported(&queue, i + KEPT, bits, 0, qp->path);
	}
}

static void write_report(const struct hot *hot, struct rp_report_writer *w, u8 *body, u32 seq)
{
	struct rp_report_path p = { .received = seq, .late_us = 10 };
	struct rp_report_flow f = { .qpn = 17 };
	u32 i;

	rp_report_begin(w, body, 1, 1000);
	for (i = 0; i < PATHS; i++) {
		const struct rp_path *path = &hot->peer->set->entry[i].path;

		p.path = path->port << 8 | path->ev;
		if (w->len > RP_WIRE_BODY_MAX / 2 || !rp_report_put_path(w, &p))
			break;
	}
	rp_report_window(&f, &hot->qp[0].window);
	rp_report_put_flow(w, &f);
}

static void run_report_write(void *arg, u32 reports)
{
	struct subject *s = arg;
	u8 body[RP_WIRE_BODY_MAX];
	struct rp_report_writer w;
	u32 i;

	for (i = 0; i < reports; i++)
		write_report(s->hot, &w, body, i);
	measure_sink = w.len;
}

static void run_report_read(void *arg, u32 reports)
{
	struct rp_health_knobs knobs = { .interval_ns = 1000000, .patience_ns = 3000000,
					 .loss_ppm = 5000, .holddown_ms = 100,
					 .holddown_max_ms = 60000 };
	struct subject *s = arg;
	struct rp_pathset *set = s->hot->peer->set;
	u8 body[RP_WIRE_BODY_MAX];
	struct rp_report_writer w;
	struct rp_report_reader r;
	struct rp_report_path p;
	struct rp_report_flow f;
	u64 now = hot_clock();
	u32 i;

	write_report(s->hot, &w, body, 1);
	for (i = 0; i < reports; i++) {
		if (!rp_report_open(&r, body, w.len))
			abort();
		while (rp_report_next_path(&r, &p)) {
			u16 index = rp_pathset_find(set, (struct rp_path){ p.path >> 8, p.path });
			struct rp_repair_path news = {
				.delivered = 1, .delivered_sent_ns = now, .arrived_ns = now,
			};

			set->entry[index].received++;
			set->entry[index].health.late_us = p.late_us;
			rp_pathset_account(set, index, &news, &knobs, now);
		}
		while (rp_report_next_flow(&r, &f))
			measure_sink = f.expected;
		now += knobs.interval_ns;
		rp_sched_feedback(set, &knobs, now);
		rp_pathset_poll(set, now, false, &knobs, now, NULL, NULL);
	}
}

/* --- all of them --- */

static struct subject *add(struct hot *hot, void (*run)(void *arg, u32 packets), u32 packets)
{
	struct subject *s = &subjects[subjects_n];

	measures[subjects_n++] = (struct measure){ .run = run, .arg = s, .packets = packets };
	s->hot = hot;
	return s;
}

#define NAME(...) snprintf(measures[subjects_n - 1].name, sizeof(measures->name), __VA_ARGS__)

static struct hot *host(void)
{
	struct hot_config config = { .qps = QPS, .peers = 1, .paths = PATHS, .kept = KEPT };
	struct hot *hot = hot_new(&config);
	u32 i;

	/* with buckets, as a flow that was ever out of order has */
	for (i = 0; i < 2; i++)
		rp_window_buckets(&hot->qp[i].window, calloc(512, sizeof(struct rp_held *)), 512);
	return hot;
}

static struct subject *add_sized(void (*run)(void *arg, u32 packets), u32 payload)
{
	struct subject *s = add(host(), run, PACKETS);

	s->len = hot_frames(s->hot, payload);
	return s;
}

static void add_size(u32 payload)
{
	u32 k;

	add_sized(run_parse, payload);
	NAME("tx/parse/%u", payload);
	add_sized(run_fixup, payload);
	NAME("tx/fixup/%u", payload);
	for (k = 0; k < ARRAY_SIZE(scheds); k++) {
		add_sized(run_tx, payload)->sched = scheds[k];
		NAME("tx/whole/%s/%u", scheds[k]->name, payload);
	}
	for (k = 0; k < ORDERS; k++) {
		add_sized(run_rx, payload)->order = k;
		NAME("rx/whole/%s/%u", order_names[k], payload);
	}
}

static void add_parts(void)
{
	struct hot *hot = host();
	u32 k;

	hot_frames(hot, 4096);
	add(hot, run_lookup, PACKETS);
	NAME("tx/lookup");
	add(hot, run_clock, PACKETS);
	NAME("tx/clock");
	for (k = 0; k < ARRAY_SIZE(scheds); k++) {
		add(host(), run_pick, PACKETS)->sched = scheds[k];
		NAME("tx/pick/%s", scheds[k]->name);
	}
	add(host(), run_keep, PACKETS);
	NAME("tx/keep-and-ack");
	add(hot, run_heard, PACKETS);
	NAME("rx/heard");
	for (k = 0; k < ORDERS; k++) {
		add(host(), run_window, PACKETS)->order = k;
		NAME("rx/window/%s", order_names[k]);
	}
	add(hot, run_reported, PACKETS);
	NAME("repair/keep-and-reported");
	add(host(), run_report_write, 64);
	NAME("report/write");
	add(host(), run_report_read, 64);
	NAME("report/read-and-adapt");
}

static void swap(u32 *a, u32 *b)
{
	u32 c = *a;

	*a = *b;
	*b = c;
}

/* one packet in @each comes LATE_BY places late, at another place of each run */
static void make_late(u32 *order, u32 each)
{
	u32 at, k;

	for (at = 0; at + each <= PACKETS; at += each) {
		for (k = 0; k < LATE_BY && at + k + 1 < PACKETS; k++)
			swap(&order[at + k], &order[at + k + 1]);
	}
}

static void make_orders(void)
{
	u32 *full = orders[FULL], i, k;

	for (k = 0; k < ORDERS; k++)
		for (i = 0; i < PACKETS; i++)
			orders[k][i] = i;
	make_late(orders[LATE_1], 100);
	make_late(orders[LATE_10], 10);
	for (i = 0; i < PACKETS; i++)
		swap(&full[i], &full[i / SHUFFLED * SHUFFLED + random() % SHUFFLED]);
}

int main(void)
{
	u32 i;

	srandom(1);
	make_orders();
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		add_size(sizes[i]);
	add_parts();
	measure_all(measures, subjects_n, ROUNDS);
	return 0;
}
