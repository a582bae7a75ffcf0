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
 */
#ifndef ROCEPATH_CORE_HELLO_H
#define ROCEPATH_CORE_HELLO_H

#include <linux/rocepath.h>
#include "wire.h"

/**
 * struct rp_hello - one peer, as hellos show it
 * @state: plain, capable, lost
 * @instance: the peer's, 0: none known
 * @seq_seen: greatest of that instance
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
 */
struct rp_hello {
	enum rocepath_peer_state state;
	u64 instance;
	u64 seq_seen;
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
 * @reorders: we do
 * @reply: this answers one (no answer wanted)
 * @response: their challenge to send back, normally @h->theirs
 * @interval_ms: ours
 * @now_ns: the time
 *
 * Return: the sequence number to seal it with.
 */
u64 rp_hello_fill(struct rp_hello *h, struct rp_wire_hello *body, bool reorders, bool reply,
		  u64 response, u32 interval_ms, u64 now_ns);

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
