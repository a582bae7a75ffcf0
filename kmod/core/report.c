// SPDX-License-Identifier: GPL-2.0
/*
 * Reports written and read. See report.h, and rocepath/wire.h for how they look.
 *
 * A body is checked as a whole when it is opened (rp_report_open). What reads
 * paths and flows out of it afterwards relies on that.
 */
#include "report.h"

#include <linux/rocepath.h>

#include "wire.h"

#define PATH_LEN ((u32)sizeof(struct rp_wire_report_path))
#define FLOW_LEN ((u32)sizeof(struct rp_wire_report_flow))
#define WORD_LEN ((u32)sizeof(__be32))
/* what is in the top byte of a word beside a QPN or a PSN */
#define TOP_SHIFT 24
#define SPACES 2

static struct rp_wire_report *head_of(const struct rp_report_writer *w)
{
	return (struct rp_wire_report *)w->body;
}

void rp_report_begin(struct rp_report_writer *w, void *body, u64 to, u32 interval_us)
{
	struct rp_wire_report head = {
		.to = cpu_to_be64(to),
		.interval_us = cpu_to_be32(interval_us),
	};

	w->body = body;
	w->len = sizeof(head);
	memcpy(body, &head, sizeof(head));
}

bool rp_report_put_path(struct rp_report_writer *w, const struct rp_report_path *p)
{
	struct rp_wire_report *head = head_of(w);
	struct rp_wire_report_path path = {
		.path = cpu_to_be16(p->path),
		.late_10us = cpu_to_be16((u16)min(p->late_us / 10, 0xffffu)),
		.received = cpu_to_be32(p->received),
		.marked = cpu_to_be32(p->marked),
	};

	if (head->flows || w->len + PATH_LEN > RP_WIRE_BODY_MAX)
		return false;
	memcpy(w->body + w->len, &path, PATH_LEN);
	w->len += PATH_LEN;
	head->paths = cpu_to_be16(be16_to_cpu(head->paths) + 1);
	return true;
}

bool rp_report_put_flow(struct rp_report_writer *w, const struct rp_report_flow *f)
{
	struct rp_wire_report *head = head_of(w);
	struct rp_wire_report_flow flow;
	u32 words = min_t(u32, f->words, RP_REPORT_WORDS_MAX);
	u32 i;

	if (w->len + FLOW_LEN + (words ? WORD_LEN : 0) > RP_WIRE_BODY_MAX)
		return false;
	words = min(words, (RP_WIRE_BODY_MAX - w->len - FLOW_LEN) / WORD_LEN);
	flow.qpn = cpu_to_be32((u32)f->space << TOP_SHIFT | (f->qpn & RP_PSN_MASK));
	flow.expected = cpu_to_be32(words << TOP_SHIFT | (f->expected & RP_PSN_MASK));
	flow.repaired = cpu_to_be32(f->repaired);
	memcpy(w->body + w->len, &flow, FLOW_LEN);
	w->len += FLOW_LEN;
	for (i = 0; i < words; i++) {
		put_unaligned_be32(f->held[i], w->body + w->len);
		w->len += WORD_LEN;
	}
	head->flows = cpu_to_be16(be16_to_cpu(head->flows) + 1);
	return true;
}

/* Each path's port, and how long all paths are. */
static bool check_paths(const struct rp_report_reader *r, u32 *len)
{
	u32 i;

	*len = r->paths * PATH_LEN;
	if (r->left < *len)
		return false;
	for (i = 0; i < r->paths; i++) {
		if (r->at[i * PATH_LEN] >= ROCEPATH_PORTS_MAX)
			return false;
	}
	return true;
}

/* Each flow's PSN space and bits, up to the last byte. */
static bool check_flows(const u8 *at, u32 left, u32 flows)
{
	u32 len;

	while (flows--) {
		if (left < FLOW_LEN || at[0] >= SPACES || at[4] > RP_REPORT_WORDS_MAX)
			return false;
		len = FLOW_LEN + at[4] * WORD_LEN;
		if (left < len)
			return false;
		at += len;
		left -= len;
	}
	return !left;
}

bool rp_report_open(struct rp_report_reader *r, const void *body, u32 len)
{
	struct rp_wire_report head;
	u32 paths_len;

	if (len < sizeof(head) || len > RP_WIRE_BODY_MAX)
		return false;
	memcpy(&head, body, sizeof(head));
	r->at = (const u8 *)body + sizeof(head);
	r->left = len - sizeof(head);
	r->paths = be16_to_cpu(head.paths);
	r->flows = be16_to_cpu(head.flows);
	r->to = be64_to_cpu(head.to);
	r->interval_us = rp_wire_interval_us(be32_to_cpu(head.interval_us));
	return check_paths(r, &paths_len) &&
	       check_flows(r->at + paths_len, r->left - paths_len, r->flows);
}

static void skip(struct rp_report_reader *r, u32 len)
{
	r->at += len;
	r->left -= len;
}

bool rp_report_next_path(struct rp_report_reader *r, struct rp_report_path *p)
{
	struct rp_wire_report_path path;

	if (!r->paths)
		return false;
	memcpy(&path, r->at, PATH_LEN);
	p->path = be16_to_cpu(path.path);
	p->late_us = be16_to_cpu(path.late_10us) * 10;
	p->received = be32_to_cpu(path.received);
	p->marked = be32_to_cpu(path.marked);
	r->paths--;
	skip(r, PATH_LEN);
	return true;
}

bool rp_report_next_flow(struct rp_report_reader *r, struct rp_report_flow *f)
{
	u32 i;

	if (r->paths || !r->flows)
		return false;
	f->space = r->at[0];
	f->qpn = get_unaligned_be32(r->at) & RP_PSN_MASK;
	f->words = r->at[4];
	f->expected = get_unaligned_be32(r->at + 4) & RP_PSN_MASK;
	f->repaired = get_unaligned_be32(r->at + 8);
	r->flows--;
	skip(r, FLOW_LEN);
	for (i = 0; i < f->words; i++) {
		f->held[i] = get_unaligned_be32(r->at);
		skip(r, WORD_LEN);
	}
	return true;
}

void rp_report_window(struct rp_report_flow *f, const struct rp_window *w)
{
	u32 words = 0, i;

	f->expected = w->expected;
	f->repaired = (u32)(w->stats.repairs - w->stats.overtaken);
	f->words = 0;
	if (!w->held)
		return;
	memset(f->held, 0, sizeof(f->held));
	for (i = 0; i <= w->mask; i++) {
		const struct rp_held *h;

		for (h = w->bucket[i]; h; h = h->next) {
			s32 bit = rp_psn_diff(h->psn, w->expected) - 1;

			if (bit < 0 || bit >= RP_REPORT_WORDS_MAX * 32)
				continue;
			f->held[bit / 32] |= 1u << bit % 32;
			words = max(words, (u32)bit / 32 + 1);
		}
	}
	f->words = words;
}
