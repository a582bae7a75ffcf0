// SPDX-License-Identifier: GPL-2.0
/*
 * What comes in as a control packet: the check of anything, and the hellos of
 * somebody who has the key, in any order. Capable is only who answered.
 */
/* SOURCES: kmod/core/wire.c kmod/core/hello.c selftests/unit/siphash.c */
#include <stdio.h>
#include <stdlib.h>

#include "hello.h"

static const struct rp_keys keys = {
	.key = { { .id = 1, .valid = true, .secret = { 1, 2 } },
		 { .id = 2, .valid = true, .secret = { 3, 4 } } },
};

static const struct rp_hello_self self = { .reorders = true, .reports = true, .interval_ms = 100 };
static const struct rp_wire_addrs addrs = { .src = { 1 }, .dst = { 2 } };

/* numbers of the proven instance that came; all up to the one that it was proven with */
static bool known[256];

static void require(bool condition, const char *how)
{
	if (condition)
		return;
	fprintf(stderr, "%s\n", how);
	abort();
}

/* in memory of just its size; only whoever guesses 64 bits may pass */
static void check_noise(const u8 *data, size_t size)
{
	struct rp_wire *w = malloc(size + 1);

	memcpy(w, data, size);
	require(rp_wire_check(w, size, &keys, &addrs) != RP_WIRE_OK, "noise has a right MAC");
	free(w);
}

/* one byte says which challenge is answered, by which instance, with which number */
static void say_hello(struct rp_hello *h, u8 how, u8 seq, u64 *now, u64 *next)
{
	u8 packet[sizeof(struct rp_wire) + sizeof(struct rp_wire_hello)];
	struct rp_wire *w = (struct rp_wire *)packet;
	struct rp_wire_hello *body = (struct rp_wire_hello *)(w + 1);
	u64 answers[] = { h->challenge, h->challenge_before, 0, 12345 };
	u64 response = answers[how & 3];
	u64 instance = (how >> 2 & 3) + 1;
	bool same = instance == h->instance, old = same && known[seq];
	bool newest = !same || seq > h->seen.newest;
	u32 i;
	bool answered = response && (response == h->challenge || response == h->challenge_before);
	enum rocepath_peer_state before = h->state;
	u32 did;

	body->flags = cpu_to_be32(how >> 4 & 3);
	body->interval_ms = cpu_to_be32(how >> 6 ? 100 : 0xffffffff);
	body->ports = cpu_to_be32(how);
	body->report_interval_us = cpu_to_be32(how << 16);
	body->challenge = cpu_to_be64(*now);
	body->response = cpu_to_be64(response);
	rp_wire_seal(w, RP_WIRE_HELLO, sizeof(*body), instance, seq, &keys.key[0], &addrs);
	require(rp_wire_check(w, sizeof(packet), &keys, &addrs) == RP_WIRE_OK, "sealed, not whole");
	did = rp_hello_rx(h, w, body, ++*next, *now);
	require(!(did & RP_HELLO_COUNTED) || (answered && !old), "counted without an answer");
	require((did & RP_HELLO_COUNTED) || !answered || !newest, "an answer does not count");
	require(!old || did == RP_HELLO_REPLAYED, "a number counts twice");
	require(same || !(did & RP_HELLO_REPLAYED), "replayed of a stranger");
	for (i = 0; !same && (did & RP_HELLO_COUNTED) && i < ARRAY_SIZE(known); i++)
		known[i] = i <= seq;
	known[seq] |= instance == h->instance;
	require(h->ports <= ROCEPATH_PORTS_MAX, "more ports than there may be");
	require((did & RP_HELLO_COUNTED) || h->state == before, "moved by what did not count");
	if (did & RP_HELLO_REPLY)
		rp_hello_fill(h, body, &self, true, h->theirs, *now);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u64 now = 1000000000, next = 1000;
	struct rp_hello h;
	size_t i;

	check_noise(data, size);
	rp_hello_init(&h, next);
	memset(known, 0, sizeof(known));
	for (i = 0; i + 2 < size; i += 3) {
		struct rp_wire_hello body;

		now += data[i] * 1000000ull;
		if (data[i] & 1)
			rp_hello_fill(&h, &body, &self, false, h.theirs, now);
		say_hello(&h, data[i + 1], data[i + 2], &now, &next);
		rp_hello_poll(&h, now);
		require(h.state != ROCEPATH_PEER_CAPABLE || now < h.valid_until_ns, "not lost");
		require(h.valid_until_ns <= now + 180000000000ull, "held for too long");
	}
	return 0;
}
