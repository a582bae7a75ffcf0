// SPDX-License-Identifier: GPL-2.0
#include "sim.h"

#include <assert.h>
#include <stdlib.h>

/* an acknowledge or a report, on the wire */
#define ANSWER_BYTES 90
/* 0 is never a time to the module */
#define BEGIN_PS 1000000000ull
#define CHUNK 4096
/* so many report intervals a gap lives at least, see kmod/flow.c */
#define GAP_INTERVALS 16

/* --- packets and letters --- */

u32 sim_packet_new(struct sim *sim)
{
	u32 number = sim->spare_packet, i;

	if (number == SIM_NONE) {
		number = sim->packets_n * CHUNK;
		sim->packets = realloc(sim->packets, ++sim->packets_n * sizeof(*sim->packets));
		assert(sim->packets);
		sim->packets[sim->packets_n - 1] = calloc(CHUNK, sizeof(struct packet));
		assert(sim->packets[sim->packets_n - 1]);
		for (i = 0; i < CHUNK; i++) {
			struct packet *p = sim_packet(sim, number + i);

			p->number = number + i;
			p->conn = i + 1 < CHUNK ? number + i + 1 : SIM_NONE;
		}
	}
	sim->spare_packet = sim_packet(sim, number)->conn;
	return number;
}

void sim_packet_free(struct sim *sim, u32 number)
{
	sim_packet(sim, number)->conn = sim->spare_packet;
	sim->spare_packet = number;
}

u32 sim_letter_new(struct sim *sim)
{
	u32 number = sim->spare_letter;

	if (number == SIM_NONE) {
		number = sim->letters_n++;
		sim->letters = realloc(sim->letters, sim->letters_n * sizeof(*sim->letters));
		assert(sim->letters);
		sim->letters[number] = calloc(1, sizeof(struct letter));
		assert(sim->letters[number]);
		return number;
	}
	sim->spare_letter = sim->letters[number]->next;
	return number;
}

void sim_letter_free(struct sim *sim, u32 number)
{
	sim->letters[number]->next = sim->spare_letter;
	sim->spare_letter = number;
}

/* --- QPs --- */

void sim_after(struct sim *sim, u64 ps, u32 kind, u32 id)
{
	events_add(&sim->events, sim->now_ps + ps, kind, id);
}

/* the way there without a queue, and an answer's back; the first of the equal ones */
static void measure_way(struct sim *sim, struct conn *c)
{
	u32 link[TOPOLOGY_HOPS_MAX], rate, i;
	u32 n = topology_route(&sim->fabric.top, c->from, c->to, 0, link);
	u64 there = 0;

	for (i = 0; i < n; i++) {
		u32 level = topology_level(&sim->fabric.top, link[i]);

		rate = 8000 / sim->fabric.top.tier[level].gbps;
		there += sim->fabric.link[link[i]].latency_ps + (SIM_MTU + SIM_HEADERS) * rate;
		c->back_ps += sim->fabric.link[link[i]].latency_ps + ANSWER_BYTES * rate;
	}
	rate = sim->fabric.link[link[0]].ps_per_byte;
	c->window = sim->is.window ? sim->is.window :
		    2 * (u32)((there + c->back_ps) / ((SIM_MTU + SIM_HEADERS) * rate) + 1);
}

static void connect_qps(struct sim *sim, u32 conn)
{
	struct conn *c = &sim->conn[conn];

	if (!c->back_ps)
		measure_way(sim, c);
	sender_open(sim, conn);
	receiver_open(sim, conn);
	sim->stats.bytes_max = max(sim->stats.bytes_max, sim->bytes);
}

static void disconnect_qps(struct sim *sim, u32 conn)
{
	receiver_close(sim, conn);
	sender_close(sim, conn);
}

static void start(struct sim *sim, u32 flow)
{
	struct progress *p = &sim->progress[flow];
	struct conn *c = &sim->conn[p->conn];

	if (!c->tx)
		connect_qps(sim, p->conn);
	c->tx->end += (sim->traffic.flow[flow].bytes + SIM_MTU - 1) / SIM_MTU;
	p->end = c->tx->end;
	p->next = SIM_NONE;
	if (c->first == SIM_NONE)
		c->first = flow;
	else
		sim->progress[c->last].next = flow;
	c->last = flow;
	sim_ready(sim, p->conn);
}

static void pull(struct sim *sim, u32 trigger)
{
	u32 next;

	if (trigger == TRAFFIC_NONE || ++sim->pulls[trigger] != sim->traffic.trigger[trigger].count)
		return;
	if (sim->traffic.trigger[trigger].count > 1)
		sim->stats.round_ps = sim->now_ps - BEGIN_PS;
	for (next = sim->traffic.trigger[trigger].waiting; next;
	     next = sim->traffic.flow[next - 1].next)
		start(sim, next - 1);
}

void sim_delivered(struct sim *sim, u32 conn, u32 psn)
{
	struct conn *c = &sim->conn[conn];
	u32 flow;

	while (c->first != SIM_NONE &&
	       rp_psn_diff(psn, sim->progress[c->first].end & RP_PSN_MASK) >= 0) {
		flow = c->first;
		c->first = sim->progress[flow].next;
		c->left--;
		sim->stats.done++;
		sim->stats.last_ps = sim->now_ps;
		pull(sim, sim->traffic.flow[flow].pulls);
	}
}

/* --- hosts --- */

/* the host's link is free: the next QP's turn */
static void take_turn(struct sim *sim, u32 number)
{
	struct host *host = &sim->host[number];
	u32 conn = host->first;
	struct conn *c;

	host->busy = false;
	if (conn == SIM_NONE)
		return;
	c = &sim->conn[conn];
	host->first = c->ready;
	c->queued = false;
	if (c->tx && sender_can_send(c))
		sender_send(sim, conn);
	sim_ready(sim, conn);
}

static void wake(struct sim *sim, u32 number)
{
	const struct fabric_link *link = &sim->fabric.link[number];

	if (sim->host[number].busy || sim->host[number].first == SIM_NONE)
		return;
	sim->host[number].busy = true;
	events_add(&sim->events, max(sim->now_ps, link->free_ps), EVENT_NIC, number);
}

void sim_ready(struct sim *sim, u32 conn)
{
	struct conn *c = &sim->conn[conn];
	struct host *host = &sim->host[c->from];

	if (!c->queued && c->tx && sender_can_send(c)) {
		c->queued = true;
		c->ready = SIM_NONE;
		if (host->first == SIM_NONE)
			host->first = conn;
		else
			sim->conn[host->last].ready = conn;
		host->last = conn;
	}
	wake(sim, c->from);
}

/* --- packets on their way --- */

static void hop(struct sim *sim, u32 number)
{
	struct packet *p = sim_packet(sim, number);
	u64 at;

	if (p->hop == p->hops) {
		receiver_arrived(sim, number);
		return;
	}
	at = fabric_send(&sim->fabric, p->link[p->hop++], sim->now_ps, p->bytes, &p->marked);
	if (at)
		events_add(&sim->events, at, EVENT_HOP, number);
	else
		sim_packet_free(sim, number);
}

void sim_launch(struct sim *sim, u32 number)
{
	if (sim_packet(sim, number)->hops) {
		hop(sim, number);
		return;
	}
	sim->fabric.drops++;	/* no way leads there */
	sim_packet_free(sim, number);
}

static void close_if_done(struct sim *sim, u32 conn)
{
	struct conn *c = &sim->conn[conn];

	if (c->tx && !c->left && c->tx->acked == c->tx->end)
		disconnect_qps(sim, conn);
}

static void letter(struct sim *sim, u32 number)
{
	const struct letter *l = sim->letters[number];

	sender_reported(sim, l->conn, l->body, l->len);
	sim_letter_free(sim, number);
}

static void happen(struct sim *sim, const struct event *e)
{
	u32 psn = e->kind >> EVENT_BITS;

	switch ((enum sim_event)(e->kind & ((1u << EVENT_BITS) - 1))) {
	case EVENT_HOP:
		hop(sim, e->id);
		break;
	case EVENT_NIC:
		take_turn(sim, e->id);
		break;
	case EVENT_START:
		start(sim, e->id);
		break;
	case EVENT_ACK:
		sender_acked(sim, e->id, psn, false);
		close_if_done(sim, e->id);
		break;
	case EVENT_NAK:
		sender_acked(sim, e->id, psn, true);
		break;
	case EVENT_REPORT:
		letter(sim, e->id);
		break;
	case EVENT_TICK:
		sender_tick(sim, e->id);
		break;
	case EVENT_GAP:
		receiver_gap(sim, e->id);
		break;
	case EVENT_TIMER:
		sender_timer(sim, e->id);
		break;
	}
}

/* --- all of it --- */

static int by_pair(const void *a, const void *b, void *arg)
{
	const struct traffic_flow *flow = arg, *x = &flow[*(u32 *)a], *y = &flow[*(u32 *)b];
	u64 p = (u64)x->from << 32 | x->to, q = (u64)y->from << 32 | y->to;

	return p == q ? (*(u32 *)a > *(u32 *)b) - (*(u32 *)a < *(u32 *)b) : (p > q) - (p < q);
}

/* flows between the same two hosts share their QPs */
static void make_conns(struct sim *sim)
{
	const struct traffic *m = &sim->traffic;
	u32 *order = calloc(m->n, sizeof(*order)), i;
	struct conn *c = NULL;

	sim->conn = calloc(m->n, sizeof(*sim->conn));
	assert(order && sim->conn);
	for (i = 0; i < m->n; i++)
		order[i] = i;
	qsort_r(order, m->n, sizeof(*order), by_pair, m->flow);
	for (i = 0; i < m->n; i++) {
		const struct traffic_flow *f = &m->flow[order[i]];

		if (!c || c->from != f->from || c->to != f->to) {
			c = &sim->conn[sim->conns++];
			*c = (struct conn){ .from = f->from, .to = f->to, .first = SIM_NONE };
		}
		c->left++;
		sim->progress[order[i]].conn = c - sim->conn;
	}
	free(order);
}

void sim_init(struct sim *sim, const struct sim_config *is, const struct topology *top,
	      const struct traffic *traffic)
{
	u32 gap_us = GAP_INTERVALS * (u32)(is->interval_ns / 1000), i;

	memset(sim, 0, sizeof(*sim));
	sim->is = *is;
	sim->traffic = *traffic;
	sim->spare_packet = SIM_NONE;
	sim->spare_letter = SIM_NONE;
	sim->now_ps = BEGIN_PS;
	sim->caps = (struct rp_window_caps){ .packets = 32768, .bytes = 128 << 20,
					     .gap_floor_us = max(1000u, gap_us),
					     .gap_ceiling_us = max(20000u, gap_us) };
	fabric_init(&sim->fabric, top);
	sim->progress = calloc(traffic->n, sizeof(*sim->progress));
	sim->pulls = calloc(traffic->triggers, sizeof(*sim->pulls));
	sim->host = calloc(top->hosts, sizeof(*sim->host));
	assert(sim->progress && sim->pulls && sim->host);
	for (i = 0; i < top->hosts; i++)
		sim->host[i].first = SIM_NONE;
	make_conns(sim);
	for (i = 0; i < traffic->n; i++) {
		const struct traffic_flow *f = &traffic->flow[i];

		if (f->trigger == TRAFFIC_NONE)
			events_add(&sim->events, BEGIN_PS + f->start_ps, EVENT_START, i);
	}
}

void sim_run(struct sim *sim)
{
	struct event e;

	while (sim->stats.done < sim->traffic.n && events_take(&sim->events, &e)) {
		sim->now_ps = e.at;
		if (e.at > BEGIN_PS + sim->is.limit_ps)
			break;
		sim->stats.events++;
		happen(sim, &e);
	}
	sim->stats.last_ps -= min(sim->stats.last_ps, BEGIN_PS);
}

void sim_free(struct sim *sim)
{
	struct rp_sent *next;
	u32 i;

	for (i = 0; i < sim->conns; i++)
		if (sim->conn[i].tx)
			disconnect_qps(sim, i);
	for (; sim->sent; sim->sent = next) {
		next = sim->sent->next;
		free(sim->sent);
	}
	for (i = 0; i < sim->packets_n; i++)
		free(sim->packets[i]);
	for (i = 0; i < sim->letters_n; i++)
		free(sim->letters[i]);
	free(sim->packets);
	free(sim->letters);
	free(sim->conn);
	free(sim->host);
	free(sim->pulls);
	free(sim->progress);
	events_free(&sim->events);
	fabric_free(&sim->fabric);
	traffic_free(&sim->traffic);
}

static u64 *counts(u32 n)
{
	u64 *bytes = calloc(n, sizeof(*bytes));

	assert(bytes);
	return bytes;
}

u64 sim_ideal_ps(const struct sim *sim)
{
	const struct topology *top = &sim->fabric.top;
	u32 leaf = top->tier[0].radix_down, pod = top->podsize, i;
	u64 *sent = counts(top->hosts), *got = counts(top->hosts), *up = counts(top->hosts);
	u64 *down = counts(top->hosts), *pod_up = counts(top->hosts);
	u64 *pod_down = counts(top->hosts), ps;

	for (i = 0; i < sim->traffic.n; i++) {
		const struct traffic_flow *f = &sim->traffic.flow[i];
		u64 bytes = (f->bytes + SIM_MTU - 1) / SIM_MTU * (SIM_MTU + SIM_HEADERS);

		sent[f->from] += bytes;
		got[f->to] += bytes;
		if (f->from / leaf != f->to / leaf) {
			up[f->from / leaf] += bytes;
			down[f->to / leaf] += bytes;
		}
		if (f->from / pod != f->to / pod) {
			pod_up[f->from / pod] += bytes;
			pod_down[f->to / pod] += bytes;
		}
	}
	ps = fabric_ideal_ps(&sim->fabric, sent, got, up, down, pod_up, pod_down);
	free(sent);
	free(got);
	free(up);
	free(down);
	free(pod_up);
	free(pod_down);
	return ps;
}
