// SPDX-License-Identifier: GPL-2.0
/*
 * What kmod/rx.c, flow.c and heard.c do for a QP that receives, and the QP itself: it takes
 * what it expects, asks once for what it misses, and throws away what comes after it.
 */
#include <assert.h>
#include <stdlib.h>

#include "sim.h"

static size_t bytes_of(const struct receiver *rx, u32 paths)
{
	return sizeof(*rx) + paths * sizeof(*rx->heard) +
	       (rx->window.bucket ? (rx->window.mask + 1) * sizeof(struct rp_held *) : 0);
}

void receiver_open(struct sim *sim, u32 conn)
{
	struct conn *c = &sim->conn[conn];

	c->rx = calloc(1, sizeof(*c->rx));
	assert(c->rx);
	c->rx->heard = calloc(c->tx->set->n, sizeof(*c->rx->heard));
	assert(c->rx->heard);
	rp_window_init_requests(&c->rx->window, 0, false);
	sim->bytes += bytes_of(c->rx, c->tx->set->n);
}

void receiver_close(struct sim *sim, u32 conn)
{
	struct conn *c = &sim->conn[conn];
	struct rp_held *h, *next;

	for (h = rp_window_release(&c->rx->window, false); h; h = next) {
		next = h->next;
		sim_packet_free(sim, ((struct packet *)h)->number);
	}
	sim->bytes -= bytes_of(c->rx, c->tx->set->n);
	free(rp_window_buckets(&c->rx->window, NULL, 0));
	free(c->rx->heard);
	free(c->rx);
	c->rx = NULL;
}

/* an answer of the QP; rocepath looks at it as it passes */
static void answer(struct sim *sim, u32 conn, bool nak)
{
	struct receiver *rx = sim->conn[conn].rx;

	rp_window_seek(&rx->window, rx->expected, nak);
	sim_after(sim, sim->conn[conn].back_ps,
		  (nak ? EVENT_NAK : EVENT_ACK) | rx->expected << EVENT_BITS, conn);
}

/* a packet comes to the QP. Return: it took it, or has it already, and has to say so */
static bool qp_takes(struct sim *sim, u32 conn, u32 psn)
{
	struct receiver *rx = sim->conn[conn].rx;
	s32 ahead = rp_psn_diff(psn, rx->expected);

	if (ahead < 0)
		return true;
	if (!ahead) {
		rx->expected = rp_psn_add(rx->expected, 1);
		rx->nak_sent = false;
		return true;
	}
	if (!rx->nak_sent)
		answer(sim, conn, true);
	rx->nak_sent = true;
	return false;
}

/* Return: the QP has to acknowledge */
static bool deliver_list(struct sim *sim, u32 conn, struct rp_held *h)
{
	struct rp_held *next;
	bool taken = false;

	for (; h; h = next) {
		next = h->next;
		taken |= qp_takes(sim, conn, h->psn);
		sim_packet_free(sim, ((struct packet *)h)->number);
	}
	return taken;
}

static bool deliver_next(struct sim *sim, u32 conn)
{
	struct rp_window *w = &sim->conn[conn].rx->window;
	struct rp_held *h;
	bool taken = false;

	while ((h = rp_window_next(w, sim_now_ns(sim)))) {
		h->next = NULL;
		taken |= deliver_list(sim, conn, h);
	}
	return taken;
}

static void acknowledge(struct sim *sim, u32 conn)
{
	answer(sim, conn, false);
	sim_delivered(sim, conn, sim->conn[conn].rx->expected);
}

static void make_room(struct sim *sim, struct conn *c, u32 psn)
{
	struct rp_window *w = &c->rx->window;
	u32 n = rp_window_wants(w, psn);

	if (!n)
		return;
	sim->bytes -= bytes_of(c->rx, c->tx->set->n);
	free(rp_window_buckets(w, calloc(n, sizeof(struct rp_held *)), n));
	sim->bytes += bytes_of(c->rx, c->tx->set->n);
}

static void hear(struct receiver *rx, const struct packet *p)
{
	struct heard *h = &rx->heard[p->path];

	h->received++;
	h->marked += p->marked;
	if (p->held.late_ns >= 0) {
		h->late_us += (u32)(min_t(s64, p->held.late_ns, 1000000000) / 1000);
		h->lates++;
	}
}

static void wait_for_gap(struct sim *sim, u32 conn)
{
	struct receiver *rx = sim->conn[conn].rx;
	u64 deadline = rp_window_deadline(&rx->window, &sim->caps);

	if (!deadline || rx->waiting_gap)
		return;
	rx->waiting_gap = true;
	sim_after(sim, (max(deadline, sim_now_ns(sim)) - sim_now_ns(sim) + 1) * 1000, EVENT_GAP,
		  conn);
}

/* through the window */
static bool order(struct sim *sim, struct packet *p)
{
	u32 conn = p->conn;
	struct conn *c = &sim->conn[conn];
	struct rp_window *w = &c->rx->window;
	enum rp_window_verdict verdict;

	if (p->held.psn != w->expected)
		make_room(sim, c, p->held.psn);
	verdict = rp_window_rx(w, &p->held, &sim->caps, sim_now_ns(sim));
	c->rx->news = true;
	if (verdict == RP_WINDOW_DELIVER || verdict == RP_WINDOW_HOLD)
		hear(c->rx, p);
	switch (verdict) {
	case RP_WINDOW_HOLD:
		sim->stats.held_max = max(sim->stats.held_max, w->held);
		return false;
	case RP_WINDOW_DUPLICATE:
		sim_packet_free(sim, p->number);
		return false;
	case RP_WINDOW_FULL:
		return deliver_list(sim, conn, rp_window_overflow(w, &p->held));
	default:
		p->held.next = NULL;
		return deliver_list(sim, conn, &p->held) | deliver_next(sim, conn);
	}
}

void receiver_arrived(struct sim *sim, u32 number)
{
	struct packet *p = sim_packet(sim, number);
	u32 conn = p->conn;
	bool taken;

	if (!sim->conn[conn].rx) {
		sim_packet_free(sim, number);
		return;
	}
	if (sim->is.sched) {
		taken = order(sim, p);
		wait_for_gap(sim, conn);
	} else {
		taken = qp_takes(sim, conn, p->held.psn);
		sim_packet_free(sim, number);
	}
	if (taken)
		acknowledge(sim, conn);
}

void receiver_gap(struct sim *sim, u32 conn)
{
	struct receiver *rx = sim->conn[conn].rx;
	u64 deadline;

	if (!rx)
		return;
	rx->waiting_gap = false;
	deadline = rp_window_deadline(&rx->window, &sim->caps);
	if (deadline && deadline <= sim_now_ns(sim) &&
	    deliver_list(sim, conn, rp_window_release(&rx->window, true)))
		acknowledge(sim, conn);
	else
		wait_for_gap(sim, conn);
}

/* Return: the path, if something came by it since the last report */
static bool report_path(struct heard *h, struct rp_report_path *p)
{
	if (h->received == h->told)
		return false;
	if (h->lates)
		h->told_late_us = h->late_us / h->lates;
	h->lates = 0;
	h->late_us = 0;
	p->received = h->received;
	p->marked = h->marked;
	p->late_us = h->told_late_us;
	return true;
}

/* paths that something came by, while there is room; the next report begins where this one ends */
static void write_paths(struct conn *c, struct rp_report_writer *w)
{
	u32 n = c->tx->set->n, i, index;
	struct rp_report_path p;

	for (i = 0; i < n; i++) {
		const struct rp_path *path;

		index = (c->rx->report_next + i) % n;
		path = &c->tx->set->entry[index].path;
		p.path = path->port << 8 | path->ev;
		if (w->len > RP_WIRE_BODY_MAX / 2)
			break;
		if (report_path(&c->rx->heard[index], &p) && rp_report_put_path(w, &p))
			c->rx->heard[index].told = p.received;
	}
	c->rx->report_next = (c->rx->report_next + i) % n;
}

void receiver_report(struct sim *sim, u32 conn)
{
	struct conn *c = &sim->conn[conn];
	u32 number = sim_letter_new(sim);
	struct letter *letter = sim->letters[number];
	struct rp_report_flow f = { .qpn = 1 };
	struct rp_report_writer w;

	rp_report_begin(&w, letter->body, 0, sim->is.interval_ns / 1000);
	write_paths(c, &w);
	if (c->rx->news) {
		rp_report_window(&f, &c->rx->window);
		rp_report_put_flow(&w, &f);
		c->rx->news = c->rx->window.held;
	}
	letter->conn = conn;
	letter->len = w.len;
	sim_after(sim, c->back_ps, EVENT_REPORT, number);
}
