/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What two devices know of each other, from hellos. Pure: time and random
 * numbers are passed in, packets are structs.
 *
 * A hello with a right MAC may still be a recording. So it counts only if it
 * carries back our challenge, which is drawn anew each time that it was
 * answered. Each side asks once an interval and answers at once.
 *
 *   A                                   B
 *   challenge a, wants a reply   ->     a stranger: answers, believes nothing
 *   proven: CAME                 <-     challenge b, response a
 *   challenge a', response b     ->     proven: CAME; says so once more
 *   counted                      <-     challenge b', response a'
 *
 * All control packets of an instance share one row of numbers, that follows the
 * clock of its sender, so that it goes on where a peer was forgotten. Packets
 * overtake each other on unequal paths. So which hellos were seen is known by the
 * last RP_HELLO_SEEN numbers themselves (a bitmap behind the greatest one, as in RFC
 * 6479, needs numbers without holes); what is not greater than one that was
 * forgotten since is too old. Of reports only the newest counts.
 *
 * Probes are many, and by a slow path hundreds may overtake one. A recording of one
 * moves nothing, its cookie being used up; it could make us answer. So numbers of
 * probes of the last second are good, but those that are remembered.
 */
#ifndef ROCEPATH_CORE_HELLO_H
#define ROCEPATH_CORE_HELLO_H

#include <linux/rocepath.h>
#include "wire.h"

/* numbers that are remembered: so many packets may overtake one */
#define RP_HELLO_SEEN 64

/**
 * struct rp_hello_seen - numbers of control packets that were received
 * @newest: the greatest
 * @floor: that and all below count as seen
 * @next: where in @number the next one goes
 * @number: the last ones; 0: none
 */
struct rp_hello_seen {
	u64 newest;
	u64 floor;
	u32 next;
	u64 number[RP_HELLO_SEEN];
};

/**
 * struct rp_hello_self - what we say of ourselves
 * @reorders: we restore order
 * @reports: we report what arrives, and repair what we hear of
 * @labels: our paths are IPv6 flow labels, where there are any
 * @interval_ms: of our hellos
 * @ports: ours are numbered below that
 * @report_interval_us: of our reports
 */
struct rp_hello_self {
	bool reorders;
	bool reports;
	bool labels;
	u32 interval_ms;
	u32 ports;
	u32 report_interval_us;
};

/**
 * struct rp_hello - one peer, as hellos show it
 * @state: plain, capable, lost
 * @instance: the peer's, 0: none known
 * @seen: numbers of hellos of that instance
 * @probe_newest: the greatest number of a probe or an answer
 * @probe_seen: some numbers of these, each where its hash says
 * @report_seq: of the newest report of that instance
 * @seq_sent: of ours to it; follows the clock, and so goes on where a forgotten peer comes again
 * @challenge: ours, outstanding
 * @challenge_before: the one before, good once more while its answer is on the way
 * @theirs: their challenge, that our next hello answers
 * @valid_until_ns: capable until then
 * @hold_until_ns: the peer may think until then that we reorder, so we must
 * @asked_ns: when @challenge was last sent with an answer wanted, for the round-trip time; 0: never
 * @heard_ns: when the last hello counted
 * @stranger_ns: when a hello of an unknown instance was last answered (one each millisecond)
 * @rtt_us: of the last answered one
 * @restarts: times that another instance showed up
 * @key_id: of the last one that counted
 * @reports: it reports what arrives, and repairs what it hears of
 * @labels: its paths are IPv6 flow labels, where there are any
 * @ports: its ports are numbered below that
 * @report_interval_us: its
 */
struct rp_hello {
	enum rocepath_peer_state state;
	u64 instance;
	struct rp_hello_seen seen;
	u64 probe_newest;
	u64 probe_seen[RP_HELLO_SEEN];
	u64 report_seq;
	u64 seq_sent;
	u64 challenge;
	u64 challenge_before;
	u64 theirs;
	u64 valid_until_ns;
	u64 hold_until_ns;
	u64 asked_ns;
	u64 heard_ns;
	u64 stranger_ns;
	u32 rtt_us;
	u32 restarts;
	u8 key_id;
	bool reports;
	bool labels;
	u32 ports;
	u32 report_interval_us;
};

/* what one received hello led to; a set of bits */
#define RP_HELLO_COUNTED	0x01	/* it answered our challenge */
#define RP_HELLO_REPLY		0x02	/* send one back now */
#define RP_HELLO_CAME		0x04	/* event: became capable */
#define RP_HELLO_RESTARTED	0x08	/* event: another instance */
#define RP_HELLO_REPLAYED	0x10	/* dropped: number seen before */
#define RP_HELLO_UNPROVEN	0x20	/* right MAC, but did not answer our challenge */
#define RP_HELLO_GONE		0x40	/* event: was capable, says that it reorders no longer */

/**
 * rp_hello_init() - a new peer
 * @h: filled in
 * @random: for the first challenge, not 0
 */
void rp_hello_init(struct rp_hello *h, u64 random);

/**
 * rp_hello_rx() - a hello with a right MAC came
 * @h: the peer
 * @w: its header
 * @body: its body
 * @random: for the next challenge, not 0
 * @now_ns: the time
 *
 * Return: RP_HELLO_* bits. With RP_HELLO_REPLY, answer with the challenge in
 * @body (it is not always @h->theirs: a stranger's is not kept).
 */
u32 rp_hello_rx(struct rp_hello *h, const struct rp_wire *w, const struct rp_wire_hello *body,
		u64 random, u64 now_ns);

/**
 * rp_hello_fill() - make the body of a hello to send, and note that it was sent
 * @h: the peer
 * @body: filled in
 * @self: what to say
 * @reply: this answers one (no answer wanted)
 * @response: their challenge to send back, normally @h->theirs
 * @now_ns: the time
 *
 * Return: the sequence number to seal it with.
 */
u64 rp_hello_fill(struct rp_hello *h, struct rp_wire_hello *body, const struct rp_hello_self *self,
		  bool reply, u64 response, u64 now_ns);

/**
 * rp_hello_next_seq() - the number for a report or a probe
 * @h: the peer that it goes to
 * @now_ns: the time
 */
u64 rp_hello_next_seq(struct rp_hello *h, u64 now_ns);

/**
 * rp_hello_accepts() - may a probe or an answer with a right MAC be believed?
 * @h: the peer
 * @w: its header
 * @now_ns: the time
 *
 * Return: true if it is of the instance that has proven itself, and lately, and
 * its number is of the last second and was not seen before, as far as is remembered.
 */
bool rp_hello_accepts(struct rp_hello *h, const struct rp_wire *w, u64 now_ns);

/**
 * rp_hello_accepts_report() - the same for a report, of which only the newest one counts
 * @h: the peer
 * @w: its header
 * @now_ns: the time
 *
 * Return: as rp_hello_accepts(), false as well if a later report came before it.
 */
bool rp_hello_accepts_report(struct rp_hello *h, const struct rp_wire *w, u64 now_ns);

/**
 * rp_hello_forget() - we have no key any more: the peer is a plain one
 * @h: the peer
 * @random: for the next challenge, not 0
 *
 * What it may still believe of us, and our numbers, go on.
 */
void rp_hello_forget(struct rp_hello *h, u64 random);

/**
 * rp_hello_poll() - time passed
 * @h: the peer
 * @now_ns: the time
 *
 * Return: true if the peer was just lost.
 */
bool rp_hello_poll(struct rp_hello *h, u64 now_ns);

#endif /* ROCEPATH_CORE_HELLO_H */
