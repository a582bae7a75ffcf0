// SPDX-License-Identifier: GPL-2.0
#include "hot.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "packet.h"

#define PORTS 4
#define WRITE_MIDDLE 0x07
#define QPN_FIRST 17
#define BUCKETS 4096
#define HOT_PAGE (2ul << 20)

/* in large pages, as the kernel's memory is mapped */
static void *zeroed(struct hot *hot, size_t n, size_t size)
{
	size_t bytes = n * size;

	hot->bytes += bytes;
	return hot_memory(bytes);
}

void *hot_memory(size_t bytes)
{
	size_t large = (bytes + HOT_PAGE - 1) / HOT_PAGE * HOT_PAGE;
	void *memory = aligned_alloc(HOT_PAGE, large);

	if (!memory)
		abort();
	/* where it is refused, smaller ones do */
	madvise(memory, large, MADV_HUGEPAGE);
	return memset(memory, 0, bytes);
}

static u32 qpn_of(u32 nth)
{
	return QPN_FIRST + nth;
}

/* 10.0.0.0 and on, in an IPv4 header and mapped */
static u32 address_of(const struct hot *hot, u32 nth)
{
	return 0x0a000000 + (nth & (hot->is.peers - 1));
}

static void map_address(u32 address, u8 *mapped)
{
	memset(mapped, 0, 10);
	memset(mapped + 10, 0xff, 2);
	put_unaligned_be32(address, mapped + 12);
}

static size_t lines(size_t bytes)
{
	return (bytes + 63) & ~63ul;
}

static void make_peer(struct hot *hot, struct hot_peer *peer, u32 nth)
{
	u32 n = hot->is.paths, ports_n = n < PORTS ? n : PORTS, i;
	struct rp_paths_port ports[ROCEPATH_PORTS_MAX] = { 0 };

	for (i = 0; i < ports_n; i++)
		ports[i] = (struct rp_paths_port){ .weight = 1, .evs = n / ports_n, .up = true };
	peer->set = rp_pathset_init(hot->sets + nth * lines(rp_pathset_size(n)), ports, NULL, NULL,
				    0);
	peer->heard = &hot->heard[nth * PORTS << 8];
}

static void make_qp(struct hot *hot, u32 nth)
{
	struct qp *qp = &hot->qp[nth];

	map_address(address_of(hot, nth), qp->address);
	qp->local_qpn = qpn_of(nth);
	qp->remote_qpn = qpn_of(nth);
	rp_sched_start(&qp->tx, nth * 0x9e3779b9u);
	rp_window_init_requests(&qp->window, 0, false);
	qp->peer = &hot->peer[nth & (hot->is.peers - 1)];
	qp->sent = &hot->sent[nth * hot->is.kept];
	qp->path = &hot->path[nth * hot->is.paths];
	qp_table_add(&hot->table, qp);
}

struct hot *hot_new(const struct hot_config *config)
{
	struct hot *hot = calloc(1, sizeof(*hot));
	u32 i;

	if (!hot)
		abort();
	hot->is = *config;
	hot->caps = (struct rp_window_caps){ .packets = 65536, .bytes = 64 << 20,
					     .gap_floor_us = 1000, .gap_ceiling_us = 20000 };
	rp_icrc_table_init(&hot->icrc);
	hot->peer = zeroed(hot, config->peers, sizeof(*hot->peer));
	hot->sets = zeroed(hot, config->peers, lines(rp_pathset_size(config->paths)));
	hot->heard = zeroed(hot, config->peers * PORTS << 8, sizeof(*hot->heard));
	for (i = 0; i < config->peers; i++)
		make_peer(hot, &hot->peer[i], i);
	hot->qp = zeroed(hot, config->qps, sizeof(*hot->qp));
	hot->sent = zeroed(hot, config->qps * config->kept, sizeof(*hot->sent));
	hot->path = zeroed(hot, config->qps * config->paths, sizeof(*hot->path));
	for (i = 0; i < config->qps; i++)
		make_qp(hot, i);
	return hot;
}

void hot_free(struct hot *hot)
{
	u32 i;

	for (i = 0; i < hot->is.qps; i++)
		free(hot->qp[i].window.bucket);
	free(hot->sets);
	free(hot->heard);
	free(hot->path);
	free(hot->peer);
	free(hot->qp);
	free(hot->sent);
	free(hot);
}

u32 hot_frames(struct hot *hot, u32 payload)
{
	struct packet p = { .opcode = WRITE_MIDDLE, .qpn = qpn_of(0), .len = payload };
	u32 i, len = 0;

	for (i = 0; i < HOT_FRAMES; i++) {
		p.sport = rp_path_sport(hot->peer->set->entry[i % hot->is.paths].path);
		len = packet_make(hot->frame[i], &p);
	}
	return len;
}

u64 hot_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void hot_set_sport(const struct hot *hot, u8 *l3, const struct rp_roce *r, u16 sport)
{
	u8 *udp = l3 + r->udp;
	u16 from = get_unaligned_be16(udp);
	__sum16 check;
	u32 icrc;

	if (from == sport)
		return;
	icrc = get_unaligned_le32(l3 + r->icrc);
	icrc ^= rp_icrc_delta(&hot->icrc, from ^ sport, r->icrc - r->udp - 2);
	put_unaligned_le32(icrc, l3 + r->icrc);
	put_unaligned_be16(sport, udp);
	memcpy(&check, udp + 6, sizeof(check));
	if (check) {
		check = rp_csum_replace2(check, cpu_to_be16(from), cpu_to_be16(sport));
		memcpy(udp + 6, &check, sizeof(check));
	}
}

void hot_keep(struct hot *hot, struct qp *qp, u16 path, u64 now)
{
	static const struct rp_repair_caps caps = { .packets = 32768, .bytes = 128 << 20 };
	u32 kept = hot->is.kept, psn = qp->sent_psn;
	struct rp_sent *s = &qp->sent[psn & (kept - 1)];

	*s = (struct rp_sent){ .psn = psn, .span = 1, .bytes = 4352, .path = path, .sent_ns = now };
	qp->sent_psn = rp_psn_add(psn, 1);
	rp_answers_sent(&qp->answers, qp->sent_psn);
	rp_repair_sent(&qp->queue, s, &caps);
	if (qp->queue.packets == kept)
		rp_repair_acked(&qp->queue, rp_psn_add(psn, -(s32)(kept / 2)), qp->path);
}

void hot_tx(struct hot *hot, const struct rp_sched_ops *sched, u8 *l3, u32 len, u32 nth)
{
	u64 now = hot_clock();
	struct rp_pathset *set;
	struct rp_roce r;
	struct qp *qp;
	u8 to[16];
	u16 index;

	put_unaligned_be32(address_of(hot, nth), l3 + 16);
	put_unaligned_be32(qpn_of(nth), l3 + 32);
	if (rp_roce_parse(l3, len, len, &r) != RP_ROCE_OK)
		abort();
	map_address(get_unaligned_be32(l3 + 16), to);
	qp = qp_table_remote(&hot->table, to, r.qpn);
	set = qp->peer->set;
	index = sched->pick(set, &qp->tx, len, now);
	hot_set_sport(hot, l3, &r, rp_path_sport(set->entry[index].path));
	rp_health_sent(&set->entry[index].health, now);
	hot_keep(hot, qp, index, now);
}

void hot_heard(const struct qp *qp, const u8 *l3, const struct rp_roce *r, s64 late_ns)
{
	struct hot_heard *heard = qp->peer->heard;
	struct rp_path path;

	if (!rp_path_of_sport(get_unaligned_be16(l3 + r->udp), &path))
		return;
	heard += path.port << 8 | path.ev;
	heard->received++;
	if (late_ns >= 0) {
		heard->late_us += (u32)(late_ns / 1000);
		heard->lates++;
	}
}

static void make_room(struct rp_window *w, u32 psn)
{
	u32 n = rp_window_wants(w, psn);

	if (n && n <= BUCKETS)
		free(rp_window_buckets(w, calloc(n, sizeof(struct rp_held *)), n));
}

u32 hot_rx(struct hot *hot, u8 *l3, u32 len, u32 nth, u32 psn, struct rp_held *held)
{
	enum rp_window_verdict verdict;
	struct rp_window *w;
	struct rp_roce r;
	struct qp *qp;
	u32 due = 0;
	u64 now = 0;
	u8 from[16];

	put_unaligned_be32(address_of(hot, nth), l3 + 12);
	put_unaligned_be32(qpn_of(nth), l3 + 32);
	put_unaligned_be32(psn, l3 + 36);
	if (rp_roce_parse(l3, len, len, &r) != RP_ROCE_OK)
		abort();
	map_address(get_unaligned_be32(l3 + 12), from);
	qp = qp_table_local(&hot->table, from, r.qpn);
	w = &qp->window;
	*held = (struct rp_held){ .psn = r.psn, .span = rp_roce_span(&r, 4096), .bytes = 4352,
				  .repair = r.repair };
	if (w->held || r.psn != w->expected) {
		now = hot_clock();
		make_room(w, r.psn);
	}
	verdict = rp_window_rx(w, held, &hot->caps, now);
	if (verdict == RP_WINDOW_DELIVER || verdict == RP_WINDOW_HOLD)
		hot_heard(qp, l3, &r, held->late_ns);
	if (verdict == RP_WINDOW_DELIVER) {
		due = 1;
		while (w->held && rp_window_next(w, now))
			due++;
	}
	return due;
}
