// SPDX-License-Identifier: GPL-2.0
/*
 * What kmod/tx.c, repair.c, report.c, path.c and tick.c do for a QP that sends, and the QP
 * itself: a window of PSNs, go-back-N after a NAK, a timer.
 */
#include <assert.h>
#include <stdlib.h>

#include "chance.h"
#include "sim.h"

/* of a QP: longer than any queue */
#define TIMER_PS 20000000000ull
#define PATIENCE_MAX_US 1000000u
#define SLACK_SHARE 4
#define SENT_PIECE 4096
#define KEPT_PACKETS 32768
#define KEPT_BYTES (128 << 20)

static u32 psn_of(u32 position)
{
	return position & RP_PSN_MASK;
}

static u32 interval_us(const struct sim *sim)
{
	return sim->is.interval_ns / 1000;
}

static u32 patience_us(const struct sim *sim, const struct sender *tx)
{
	u32 us = tx->latency.mean_us ? rp_usual_most_us(&tx->latency) : 3 * interval_us(sim);

	return clamp(us, interval_us(sim), PATIENCE_MAX_US);
}

static struct rp_health_knobs knobs_of(const struct sim *sim, const struct sender *tx)
{
	return (struct rp_health_knobs){ .interval_ns = sim->is.interval_ns, .loss_ppm = 5000,
					 .patience_ns = patience_us(sim, tx) * 1000ull,
					 .spread_ns = 2000ull * tx->spread_us,
					 .holddown_ms = 100, .holddown_max_ms = 60000 };
}

static struct rp_repair_clock clock_of(const struct sim *sim, const struct sender *tx)
{
	u32 slack = interval_us(sim) / SLACK_SHARE, patience = patience_us(sim, tx);

	return (struct rp_repair_clock){
		.now_ns = sim_now_ns(sim), .arrived_ns = tx->arrived_ns, .slack_us = slack,
		.spread_us = 2 * tx->spread_us + 4 * tx->latency.dev_us + slack,
		.round_us = patience, .tail_us = patience + interval_us(sim),
	};
}

/* --- paths --- */

/* what the fabric makes a packet's way of: the source port, or without rocepath the QP's own */
static u32 entropy_of(const struct sim *sim, u32 conn, u16 path)
{
	const struct sender *tx = sim->conn[conn].tx;

	if (!sim->is.sched)
		return chance_mix(conn, 0xc000);
	return rp_path_sport(tx->set->entry[path].path);
}

/* Values that lead over links which no other one leads over, as far as there are such. */
static void discover(const struct sim *sim, const struct conn *c, u8 *evs, u32 *n)
{
	u32 link[TOPOLOGY_HOPS_MAX], seen[ROCEPATH_EVS_MAX][2], ev, i, found = 0, hops;

	for (ev = 0; ev < ROCEPATH_EVS_MAX && found < *n; ev++) {
		struct rp_path path = { .ev = ev };

		hops = fabric_route(&sim->fabric, c->from, c->to, rp_path_sport(path), link);
		for (i = 0; i < found; i++)
			if (seen[i][0] == link[1] && seen[i][1] == link[hops > 4 ? 2 : 0])
				break;
		if (i < found)
			continue;
		seen[found][0] = link[1];
		seen[found][1] = link[hops > 4 ? 2 : 0];
		evs[found++] = ev;
	}
	*n = found;
}

static size_t bytes_of(u32 paths)
{
	return sizeof(struct sender) + rp_pathset_size(paths) +
	       paths * sizeof(struct rp_repair_path);
}

void sender_open(struct sim *sim, u32 conn)
{
	struct rp_paths_port ports[ROCEPATH_PORTS_MAX] = { { .weight = 1, .up = true } };
	static u8 evs[ROCEPATH_PORTS_MAX][ROCEPATH_EVS_MAX];
	struct conn *c = &sim->conn[conn];
	struct sender *tx = calloc(1, sizeof(*tx));
	u32 n = sim->is.sched ? sim->is.evs : 1, i;

	assert(tx);
	for (i = 0; i < n; i++)
		evs[0][i] = i;
	if (sim->is.sched && sim->is.discovered)
		discover(sim, c, evs[0], &n);
	ports[0].evs = n;
	tx->set = rp_pathset_init(calloc(1, rp_pathset_size(n)), ports,
				  (const u8 (*)[ROCEPATH_EVS_MAX])evs, NULL, sim_now_ns(sim));
	tx->path = calloc(n, sizeof(*tx->path));
	assert(tx->set && tx->path);
	rp_sched_start(&tx->flow, chance_mix(conn, sim->is.random));
	tx->reported_ns = sim_now_ns(sim);
	sim->bytes += bytes_of(n);
	c->tx = tx;
}

static void spare(struct sim *sim, struct rp_sent *list)
{
	struct rp_sent *next;

	for (; list; list = next) {
		next = list->next;
		list->next = sim->spare_sent;
		sim->spare_sent = list;
	}
}

void sender_close(struct sim *sim, u32 conn)
{
	struct sender *tx = sim->conn[conn].tx;

	sim->bytes -= bytes_of(tx->set->n);
	spare(sim, rp_repair_clear(&tx->repair));
	free(tx->set);
	free(tx->path);
	free(tx);
	sim->conn[conn].tx = NULL;
}

/* --- packets --- */

bool sender_can_send(const struct conn *c)
{
	return c->tx->next != c->tx->end && c->tx->next - c->tx->acked < c->window;
}

static void launch(struct sim *sim, u32 conn, u32 psn, u16 path, bool repair)
{
	struct conn *c = &sim->conn[conn];
	u32 number = sim_packet_new(sim);
	struct packet *p = sim_packet(sim, number);

	p->held = (struct rp_held){ .psn = psn, .span = 1, .bytes = SIM_MTU, .repair = repair };
	p->sent_ns = sim_now_ns(sim);
	p->conn = conn;
	p->bytes = SIM_MTU + SIM_HEADERS;
	p->path = path;
	p->hop = 0;
	p->marked = false;
	p->hops = fabric_route(&sim->fabric, c->from, c->to, entropy_of(sim, conn, path), p->link);
	sim_launch(sim, number);
}

/* the first of each piece only holds the pieces together */
static void make_sent(struct sim *sim)
{
	struct rp_sent *piece = calloc(SENT_PIECE, sizeof(*piece));
	u32 i;

	assert(piece);
	piece->next = sim->sent;
	sim->sent = piece;
	for (i = 1; i < SENT_PIECE; i++) {
		piece[i].next = sim->spare_sent;
		sim->spare_sent = &piece[i];
	}
}

static struct rp_sent *new_sent(struct sim *sim)
{
	struct rp_sent *s;

	if (!sim->spare_sent)
		make_sent(sim);
	s = sim->spare_sent;
	sim->spare_sent = s->next;
	return s;
}

static void keep(struct sim *sim, struct sender *tx, u32 psn, u16 path)
{
	static const struct rp_repair_caps caps = { .packets = KEPT_PACKETS, .bytes = KEPT_BYTES };
	struct rp_sent *s = new_sent(sim);

	*s = (struct rp_sent){ .psn = psn, .span = 1, .bytes = SIM_MTU, .path = path,
			       .sent_ns = sim_now_ns(sim) };
	spare(sim, rp_repair_sent(&tx->repair, s, &caps));
}

static void start_clocks(struct sim *sim, u32 conn)
{
	struct sender *tx = sim->conn[conn].tx;

	if (!tx->timing) {
		tx->timing = true;
		tx->idle = tx->acked;
		sim_after(sim, TIMER_PS, EVENT_TIMER, conn);
	}
	if (tx->ticking || !sim->is.sched)
		return;
	tx->ticking = true;
	sim_after(sim, sim->is.interval_ns * 500, EVENT_TICK, conn);
}

void sender_send(struct sim *sim, u32 conn)
{
	struct sender *tx = sim->conn[conn].tx;
	u32 psn = psn_of(tx->next);
	u16 path = 0;

	start_clocks(sim, conn);
	if (sim->is.sched) {
		path = sim->is.sched->pick(tx->set, &tx->flow, SIM_MTU, sim_now_ns(sim));
		if (path == RP_PATHSET_NONE)
			path = 0;
		rp_health_sent(&tx->set->entry[path].health, sim_now_ns(sim));
		keep(sim, tx, psn, path);
	}
	tx->next++;
	sim->stats.packets++;
	launch(sim, conn, psn, path, false);
}

static void resend(struct sim *sim, u32 conn)
{
	struct sender *tx = sim->conn[conn].tx;
	u32 left = rp_repair_batch(&tx->repair);
	struct rp_sent *s;

	for (; left && (s = rp_repair_next(&tx->repair)); left--) {
		u16 path = rp_pathset_other(tx->set, s->path, tx->turn++);

		if (path == RP_PATHSET_NONE)
			return;
		rp_repair_resent(&tx->repair, s, path, sim_now_ns(sim));
		sim->stats.repairs++;
		launch(sim, conn, s->psn, path, true);
	}
}

/* --- what is heard --- */

void sender_acked(struct sim *sim, u32 conn, u32 psn, bool nak)
{
	struct conn *c = &sim->conn[conn];
	struct sender *tx = c->tx;
	s32 news;

	if (!tx)
		return;
	news = rp_psn_diff(psn, psn_of(tx->acked));
	if (news > 0)
		tx->acked += news;
	if (sim->is.sched) {
		spare(sim, rp_repair_acked(&tx->repair, psn, tx->path));
		if (nak)
			spare(sim, rp_repair_clear(&tx->repair));
	}
	if (nak && news >= 0) {
		sim->stats.naks++;
		tx->next = tx->acked;
	}
	sim_ready(sim, conn);
}

static void learn_latency(struct sender *tx, u64 newest_ns, u64 oldest_ns, u64 now)
{
	u32 us = (now - oldest_ns) / 1000;

	tx->arrived_ns = max(tx->arrived_ns, newest_ns);
	if (tx->latency.mean_us)
		rp_usual_learn(&tx->latency, us);
	else
		rp_usual_begin(&tx->latency, us);
}

/* what became of packets goes to the paths' health */
static void tell_paths(struct sim *sim, struct sender *tx)
{
	struct rp_health_knobs knobs = knobs_of(sim, tx);
	u64 now = sim_now_ns(sim), oldest = now, newest = 0;
	u32 i;

	for (i = 0; i < tx->set->n; i++) {
		struct rp_repair_path *p = &tx->path[i];

		if (p->delivered) {
			oldest = min(oldest, p->delivered_sent_ns);
			newest = max(newest, p->arrived_ns);
		}
		rp_pathset_account(tx->set, i, p, &knobs, now);
	}
	if (oldest != now)
		learn_latency(tx, newest, oldest, now);
}

static void reported_paths(struct sim *sim, struct sender *tx, struct rp_report_reader *r)
{
	struct rp_health_knobs knobs = knobs_of(sim, tx);
	u32 spread = 0, i;
	struct rp_report_path p;

	while (rp_report_next_path(r, &p)) {
		struct rp_path path = { .port = p.path >> 8, .ev = p.path & 0xff };
		u16 index = rp_pathset_find(tx->set, path);
		struct rp_pathset_entry *e = &tx->set->entry[index];

		if (index == RP_PATHSET_NONE)
			continue;
		e->health.late_us = p.late_us;
		e->marked = p.marked;
		e->received = p.received;
	}
	rp_sched_feedback(tx->set, &knobs, sim_now_ns(sim));
	for (i = 0; i < tx->set->n; i++)
		if (tx->set->entry[i].health.state == ROCEPATH_PATH_UP)
			spread = max(spread, tx->set->entry[i].health.late_us);
	tx->spread_us = max(spread, tx->spread_us - tx->spread_us / 8);
	tx->reported_ns = sim_now_ns(sim);
}

void sender_reported(struct sim *sim, u32 conn, const u8 *body, u32 len)
{
	struct sender *tx = sim->conn[conn].tx;
	struct rp_repair_clock clock;
	struct rp_report_reader r;
	struct rp_report_flow f;

	if (!tx)
		return;
	if (!rp_report_open(&r, body, len))
		abort();
	reported_paths(sim, tx, &r);
	while (rp_report_next_flow(&r, &f)) {
		spare(sim, rp_repair_reported(&tx->repair, f.expected, f.held, f.words, tx->path));
		rp_repair_settle(&tx->repair, f.repaired, tx->path, tx->set->n);
		tell_paths(sim, tx);
		clock = clock_of(sim, tx);
		spare(sim, rp_repair_find_lost(&tx->repair, rp_repair_horizon(f.expected, f.words),
					       &clock, tx->path));
		tell_paths(sim, tx);
		resend(sim, conn);
	}
}

/* --- time passes --- */

static bool is_on_failed(void *arg, u16 index)
{
	return !rp_pathset_usable(arg, index);
}

/* a probe is answered if its way works */
static void probe(struct sim *sim, u32 conn, u32 index)
{
	struct sender *tx = sim->conn[conn].tx;
	struct rp_health *h = &tx->set->entry[index].health;
	struct rp_health_knobs knobs = knobs_of(sim, tx);
	u32 link[TOPOLOGY_HOPS_MAX], n;
	u64 now = sim_now_ns(sim);

	if (!rp_health_probe_due(h, 0, &knobs, now))
		return;
	rp_health_probed(h, &knobs, now);
	n = fabric_route(&sim->fabric, sim->conn[conn].from, sim->conn[conn].to,
			 entropy_of(sim, conn, index), link);
	while (n--)
		if (sim->fabric.link[link[n]].state != FABRIC_UP)
			return;
	if (rp_health_answered(h, now, &knobs, now))
		rp_pathset_publish(tx->set, index);
}

static void poll_repair(struct sim *sim, u32 conn)
{
	struct sender *tx = sim->conn[conn].tx;
	struct rp_repair_clock clock = clock_of(sim, tx);

	if (!tx->repair.packets)
		return;
	if (tx->failures != tx->set->failures)
		spare(sim, rp_repair_path_failed(&tx->repair, is_on_failed, tx->set));
	tx->failures = tx->set->failures;
	if (tx->repair.oldest && rp_repair_deadline(&tx->repair, clock.tail_us) <= clock.now_ns)
		spare(sim, rp_repair_find_lost(&tx->repair, tx->repair.oldest->psn, &clock,
					       tx->path));
	tell_paths(sim, tx);
	resend(sim, conn);
}

void sender_tick(struct sim *sim, u32 conn)
{
	struct sender *tx = sim->conn[conn].tx;
	struct rp_health_knobs knobs;
	bool silent;
	u32 i;

	if (!tx)
		return;
	knobs = knobs_of(sim, tx);
	silent = sim_now_ns(sim) - tx->reported_ns > 2 * sim->is.interval_ns;
	rp_pathset_poll(tx->set, tx->reported_ns, silent, &knobs, sim_now_ns(sim), NULL, NULL);
	poll_repair(sim, conn);
	for (i = 0; i < tx->set->n; i++)
		probe(sim, conn, i);
	tx->odd = !tx->odd;
	if (tx->odd)
		receiver_report(sim, conn);
	tx->ticking = tx->acked != tx->end;
	if (tx->ticking)
		sim_after(sim, sim->is.interval_ns * 500, EVENT_TICK, conn);
}

/* the QP's own: nothing was acknowledged for so long */
void sender_timer(struct sim *sim, u32 conn)
{
	struct sender *tx = sim->conn[conn].tx;

	if (!tx)
		return;
	if (tx->acked == tx->idle && tx->next != tx->acked) {
		sim->stats.timeouts++;
		tx->next = tx->acked;
		sim_ready(sim, conn);
	}
	tx->idle = tx->acked;
	tx->timing = tx->acked != tx->end;
	if (tx->timing)
		sim_after(sim, TIMER_PS, EVENT_TIMER, conn);
}
