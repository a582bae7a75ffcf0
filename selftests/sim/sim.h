/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many hosts, each with QPs below which rocepath works, on a fabric.
 *
 *   QP: a window of PSNs,    rocepath: pick, keep          links, queues      rocepath: window,
 *   go-back-N, a timer   ->  repair, path health    ->   ================ ->  order, reports -> QP
 *        ^                                                                                      |
 *        +------------- ACKs, NAKs, reports: the latency of the way, no queue ------------------+
 *
 * kmod/core/ does what it does in the module; what kmod/ does around it is in sender.c and
 * receiver.c. A host has one port, and gives its QPs turns, a packet each, at the rate of its link.
 */
#ifndef ROCEPATH_SIM_SIM_H
#define ROCEPATH_SIM_SIM_H

#include "events.h"
#include "fabric.h"
#include "repair.h"
#include "report.h"
#include "sched.h"
#include "traffic.h"
#include "window.h"

#define SIM_MTU 4096
/* Ethernet, IPv4, UDP, BTH, ICRC; FCS, preamble, gap */
#define SIM_HEADERS (14 + 20 + 8 + 12 + 4 + 4 + 8 + 12)
#define SIM_NONE (~0u)

/**
 * struct sim_config - what is simulated
 * @sched: a scheduler of the module, NULL: no rocepath, one path for each QP
 * @evs: entropy values, 1 to 256
 * @discovered: they were chosen to lead over different links (rocepath path discover)
 * @window: PSNs that a QP has on the way at most, 0: twice what the way there and back holds
 * @interval_ns: between reports
 * @limit_ps: then it ends
 * @random: seed, not 0
 */
struct sim_config {
	const struct rp_sched_ops *sched;
	u32 evs;
	bool discovered;
	u32 window;
	u64 interval_ns;
	u64 limit_ps;
	u64 random;
};

/**
 * struct sim_stats - what happened
 * @packets: that QPs sent, again or not
 * @repairs: that rocepath sent again
 * @naks: go-back-N
 * @timeouts: of QPs
 * @held_max: packets held at once for one QP
 * @done: flows
 * @last_ps: when the last of them was
 * @round_ps: when the last barrier was passed, 0: there was none
 * @events: all that happened
 * @bytes_max: memory of QPs that were connected, at most
 */
struct sim_stats {
	u64 packets;
	u64 repairs;
	u64 naks;
	u64 timeouts;
	u32 held_max;
	u32 done;
	u64 last_ps;
	u64 round_ps;
	u64 events;
	u64 bytes_max;
};

enum sim_event { EVENT_HOP, EVENT_NIC, EVENT_START, EVENT_ACK, EVENT_NAK, EVENT_REPORT, EVENT_TICK,
		 EVENT_GAP, EVENT_TIMER };

/* an event of a QP that carries a PSN has it above the kind */
#define EVENT_BITS 8

/**
 * struct packet - on its way, or held
 * @held: when the window has it; the first, so that it is found by that
 * @sent_ns: when it was sent
 * @number: of it
 * @conn: whose
 * @bytes: on the wire
 * @path: it was sent by
 * @hop: next link
 * @hops: of them
 * @marked: CE
 * @link: its way
 */
struct packet {
	struct rp_held held;
	u64 sent_ns;
	u32 number;
	u32 conn;
	u32 bytes;
	u16 path;
	u8 hop;
	u8 hops;
	bool marked;
	u32 link[TOPOLOGY_HOPS_MAX];
};

/* what came by a path, see kmod/heard.h */
struct heard {
	u32 received;
	u32 marked;
	u32 late_us;
	u32 lates;
	u32 told;
	u32 told_late_us;
};

/**
 * struct sender - of a QP
 * @flow: for the scheduler
 * @set: paths
 * @repair: what is kept
 * @path: for @repair
 * @acked: of the QP: all before this were
 * @next: of the QP: to be sent
 * @end: of the QP: to be sent up to there
 * @idle: of the QP: @acked when its timer was last looked at
 * @turn: of repairs
 * @failures: of paths, as the queue knows
 * @arrived_ns: sending time of the newest packet that is known to have arrived
 * @reported_ns: when a report last came
 * @latency: from sending to knowing
 * @spread_us: between paths, a peak that decays
 * @odd: every second tick has a report
 * @ticking: there is a next tick
 * @timing: there is a next timer
 */
struct sender {
	struct rp_sched_flow flow;
	struct rp_pathset *set;
	struct rp_repair repair;
	struct rp_repair_path *path;
	u32 acked;
	u32 next;
	u32 end;
	u32 idle;
	u32 turn;
	u32 failures;
	u64 arrived_ns;
	u64 reported_ns;
	struct rp_usual latency;
	u32 spread_us;
	bool odd;
	bool ticking;
	bool timing;
};

/**
 * struct receiver - of a QP
 * @window: of rocepath
 * @heard: by path
 * @expected: of the QP
 * @nak_sent: of the QP
 * @waiting_gap: there is an event for the gap
 * @news: since the last report
 * @report_next: path that the next report begins with
 */
struct receiver {
	struct rp_window window;
	struct heard *heard;
	u32 expected;
	bool nak_sent;
	bool waiting_gap;
	bool news;
	u32 report_next;
};

/**
 * struct conn - one direction of two connected QPs
 * @from: host
 * @to: host
 * @left: flows that are not done
 * @first: flow that is under way
 * @last: flow that was added last
 * @back_ps: what an ACK takes
 * @window: PSNs on the way at most
 * @ready: next of the host's QPs that wait for their turn
 * @queued: it is one of them
 * @tx: NULL while it is not connected
 * @rx: the same
 */
struct conn {
	u32 from;
	u32 to;
	u32 left;
	u32 first;
	u32 last;
	u32 window;
	u32 ready;
	bool queued;
	u64 back_ps;
	struct sender *tx;
	struct receiver *rx;
};

/* a host's link gives turns to the QPs that have something to send */
struct host {
	u32 first;
	u32 last;
	bool busy;
};

/* a flow that was started: where it ends in its QP's PSNs, and what comes after it */
struct progress {
	u32 conn;
	u32 end;
	u32 next;
	u32 pulled;
};

/* a report on its way */
struct letter {
	u32 conn;
	u32 len;
	u32 next;
	u8 body[RP_WIRE_BODY_MAX];
};

struct sim {
	struct sim_config is;
	struct fabric fabric;
	struct traffic traffic;
	struct events events;
	struct sim_stats stats;
	u64 now_ps;
	u64 bytes;
	struct rp_window_caps caps;
	struct host *host;
	struct conn *conn;
	u32 conns;
	struct progress *progress;	/* of each flow */
	u32 *pulls;			/* of each trigger */
	struct packet **packets;	/* in pieces, for they must not move */
	u32 packets_n;
	u32 spare_packet;
	struct rp_sent *sent;		/* the same */
	struct rp_sent *spare_sent;
	struct letter **letters;
	u32 letters_n;
	u32 spare_letter;
};

/** sim_init() - @top and @traffic are the sim's from here on. */
void sim_init(struct sim *sim, const struct sim_config *is, const struct topology *top,
	      const struct traffic *traffic);

/** sim_run() - until all is done, or time is up. */
void sim_run(struct sim *sim);

/** sim_free() */
void sim_free(struct sim *sim);

/** sim_ideal_ps() - no schedule is faster: bytes over capacity. */
u64 sim_ideal_ps(const struct sim *sim);

/** sim_now_ns() - as the module has it. */
static inline u64 sim_now_ns(const struct sim *sim)
{
	return sim->now_ps / 1000;
}

/** sim_after() - something will happen to a QP. */
void sim_after(struct sim *sim, u64 ps, u32 kind, u32 id);

/** sim_ready() - a QP may have something to send. */
void sim_ready(struct sim *sim, u32 conn);

/** sim_packet() - of that number. */
static inline struct packet *sim_packet(const struct sim *sim, u32 number)
{
	return &sim->packets[number >> 12][number & 4095];
}

/** sim_packet_new() - Return: its number. */
u32 sim_packet_new(struct sim *sim);

/** sim_packet_free() */
void sim_packet_free(struct sim *sim, u32 number);

/** sim_letter_new() - Return: its number. */
u32 sim_letter_new(struct sim *sim);

/** sim_letter_free() */
void sim_letter_free(struct sim *sim, u32 number);

/** sim_delivered() - the QP of a receiver got all before that PSN. */
void sim_delivered(struct sim *sim, u32 conn, u32 psn);

/** sim_launch() - a packet leaves its host. */
void sim_launch(struct sim *sim, u32 number);

/* sender.c */
void sender_open(struct sim *sim, u32 conn);
void sender_close(struct sim *sim, u32 conn);
bool sender_can_send(const struct conn *c);
void sender_send(struct sim *sim, u32 conn);
void sender_acked(struct sim *sim, u32 conn, u32 psn, bool nak);
void sender_reported(struct sim *sim, u32 conn, const u8 *body, u32 len);
void sender_tick(struct sim *sim, u32 conn);
void sender_timer(struct sim *sim, u32 conn);

/* receiver.c */
void receiver_open(struct sim *sim, u32 conn);
void receiver_close(struct sim *sim, u32 conn);
void receiver_arrived(struct sim *sim, u32 number);
void receiver_gap(struct sim *sim, u32 conn);
void receiver_report(struct sim *sim, u32 conn);

#endif /* ROCEPATH_SIM_SIM_H */
