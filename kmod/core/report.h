/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports written and read: struct rp_wire_report with what follows it.
 */
#ifndef ROCEPATH_CORE_REPORT_H
#define ROCEPATH_CORE_REPORT_H

#include <rocepath/wire.h>
#include "window.h"

/* one path of a report, in host order */
struct rp_report_path {
	u16 path;		/* port << 8 | EV */
	u32 received;
	u32 marked;
	u32 late_us;
};

/**
 * struct rp_report_flow - one PSN space of a report, in host order
 * @qpn: that its packets are addressed to
 * @space: 0: requests, 1: responses
 * @expected: PSN that is wanted next
 * @repaired: packets that came as repairs, and not otherwise, too; wraps
 * @words: of @held in use
 * @held: bit i of word i / 32: PSN @expected + 1 + i is there
 */
struct rp_report_flow {
	u32 qpn;
	u8 space;
	u32 expected;
	u32 repaired;
	u32 words;
	u32 held[RP_REPORT_WORDS_MAX];
};

/**
 * struct rp_report_writer - a body being written: first all paths, then all flows
 * @body: RP_WIRE_BODY_MAX bytes
 * @len: written
 */
struct rp_report_writer {
	u8 *body;
	u32 len;
};

/** rp_report_begin() - an empty report for that instance. */
void rp_report_begin(struct rp_report_writer *w, void *body, u64 to, u32 interval_us);

/** rp_report_put_path() - add one, before all flows. Return: false if there is no room. */
bool rp_report_put_path(struct rp_report_writer *w, const struct rp_report_path *p);

/**
 * rp_report_put_flow() - add one
 * @w: the report
 * @f: the flow; as many of its words as fit are written, if at least one of them does
 *
 * Return: false if there is no room.
 */
bool rp_report_put_flow(struct rp_report_writer *w, const struct rp_report_flow *f);

/**
 * struct rp_report_reader - a body being read
 * @at: next byte
 * @left: bytes behind it
 * @paths: not read yet
 * @flows: not read yet
 * @to: instance that it is for
 * @interval_us: of its sender, within what is reasonable
 */
struct rp_report_reader {
	const u8 *at;
	u32 left;
	u16 paths;
	u16 flows;
	u64 to;
	u32 interval_us;
};

/**
 * rp_report_open() - check a whole body
 * @r: filled in
 * @body: of a packet whose MAC is right: which does not make it sensible
 * @len: bytes of it, which are all of them the report's
 *
 * Return: false if lengths, counts, ports or PSNs are not what a report has;
 * then nothing of it is to be used.
 */
bool rp_report_open(struct rp_report_reader *r, const void *body, u32 len);

/** rp_report_next_path() - read one. Return: false if there is none left. */
bool rp_report_next_path(struct rp_report_reader *r, struct rp_report_path *p);

/** rp_report_next_flow() - read one, after all paths. Return: false if there is none left. */
bool rp_report_next_flow(struct rp_report_reader *r, struct rp_report_flow *f);

/**
 * rp_report_window() - what a window says of its flow
 * @f: expected, repaired, words and held are filled in
 * @w: the window
 *
 * Bits up to the last held one, RP_REPORT_WORDS_MAX words of them at most.
 */
void rp_report_window(struct rp_report_flow *f, const struct rp_window *w);

#endif /* ROCEPATH_CORE_REPORT_H */
