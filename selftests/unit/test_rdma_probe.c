// SPDX-License-Identifier: GPL-2.0
/*
 * Probes that look like the data of an RDMA device, against the parser that all share;
 * what routers quote of them; what follows from who answered.
 */
/* SOURCES: user/rdma_probe.c user/fabric.c user/units.c user/error.c */
/* SOURCES: kmod/core/icrc.c kmod/core/roce.c selftests/unit/reference.c selftests/unit/crc32.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "icrc.h"
#include <rocepath/wire.h>

#include "../../user/rdma_probe.h"

#define ETHERNET 14
#define ICMP 8
#define ICMP_EXCEEDED 11
#define ICMP6_EXCEEDED 3
#define LIMIT 3

static const struct rp_rdma_lane lanes[] = {
	{ .from = { [10] = 0xff, 0xff, 10, 1, 0, 1 }, .to = { [10] = 0xff, 0xff, 10, 2, 0, 1 },
	  .mac = { 2, 0, 0, 0, 0, 1 }, .next = { 2, 0, 0, 0, 0, 2 }, .tos = 26 << 2 },
	{ .from = { 0xfd, 1, [15] = 1 }, .to = { 0xfd, 2, [15] = 1 },
	  .mac = { 2, 0, 0, 0, 0, 1 }, .next = { 2, 0, 0, 0, 0, 2 }, .tos = 26 << 2 },
};

static void test_is_roce(void **state)
{
	uint8_t frame[RP_RDMA_PROBE_LEN];

	for (size_t l = 0; l < ARRAY_SIZE(lanes); l++) {
		const struct rp_rdma_lane *lane = &lanes[l];

		for (unsigned int i = 0; i < ROUNDS(20000); i++) {
			uint16_t ev = rnd_below(RP_RDMA_EVS), id = rnd();
			uint8_t hops = 1 + rnd_below(32), *ip = frame + ETHERNET;
			unsigned int len = rp_rdma_probe_make(lane, ev, hops, id, frame);
			struct rp_roce r;

			require(len > ETHERNET && len <= sizeof(frame), "%u bytes", len);
			len -= ETHERNET;
			require(rp_roce_parse(ip, len, len, &r) == RP_ROCE_OK, "no RoCE");
			require(r.kind == RP_KIND_CONTROL && r.qpn == RP_WIRE_QPN, "no control");
			require(r.ipv6 == (l == 1), "version");
			require(r.icrc + RP_ICRC_LEN == len, "length");
			require(get_unaligned_be16(ip + r.udp) == RP_RDMA_SPORT + ev, "EV");
			require(rp_icrc(ip, &r) == get_unaligned_le32(ip + r.icrc), "ICRC");
			require(ip[r.ipv6 ? 7 : 8] == hops, "hops");
		}
	}
}

/* on the wire bit by bit, once: IPv4 checksum, DSCP, addresses, and the label of IPv6 */
static void test_headers(void **state)
{
	uint8_t frame[RP_RDMA_PROBE_LEN], *ip = frame + ETHERNET;
	uint32_t sum = 0;

	rp_rdma_probe_make(&lanes[0], 5, 4, 0x1234, frame);
	assert_memory_equal(frame, lanes[0].next, 6);
	assert_memory_equal(frame + 6, lanes[0].mac, 6);
	assert_int_equal(get_unaligned_be16(frame + 12), 0x0800);
	assert_int_equal(ip[1], 26 << 2);
	assert_int_equal(get_unaligned_be16(ip + 4), 0x1234);
	assert_memory_equal(ip + 12, lanes[0].from + 12, 4);
	assert_memory_equal(ip + 16, lanes[0].to + 12, 4);
	for (int i = 0; i < 20; i += 2)
		sum += get_unaligned_be16(ip + i);
	assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);

	rp_rdma_probe_make(&lanes[1], 5, 4, 0x1234, frame);
	assert_int_equal(get_unaligned_be16(frame + 12), 0x86dd);
	assert_int_equal(get_unaligned_be32(ip), 6u << 28 | 26 << 22 | rp_rdma_label(5));
	assert_memory_equal(ip + 8, lanes[1].from, 16);
	assert_memory_equal(ip + 24, lanes[1].to, 16);
}

/* each EV once, and those that follow each other far apart */
static void test_sequence(void **state)
{
	static bool seen[RP_RDMA_EVS];

	for (unsigned int i = 0; i < RP_RDMA_EVS; i++) {
		uint16_t ev = rp_rdma_sequence(i);

		require(ev < RP_RDMA_EVS && !seen[ev], "EV %u", ev);
		seen[ev] = true;
	}
	for (unsigned int n = 2; n <= 64; n *= 2) {
		unsigned int upper = 0;

		for (unsigned int i = 0; i < n; i++)
			upper += rp_rdma_sequence(i) >= RP_RDMA_EVS / 2;
		assert_in_range(upper, n / 2 - 1, n / 2 + 1);
	}
}

/* as rdma_flow_label_to_udp_sport() of the kernel folds it */
static void test_label(void **state)
{
	for (unsigned int ev = 0; ev < RP_RDMA_EVS; ev++) {
		uint32_t label = rp_rdma_label(ev);
		uint16_t sport = ((label & 0x3fff) ^ (label & 0xfc000) >> 14) | 0xc000;

		require(label && label <= 0xfffff, "label 0x%x", label);
		require(sport == RP_RDMA_SPORT + ev, "EV %u: port %u", ev, sport);
	}
}

/* an ICMP message that quotes @quoted bytes of a probe; returns its length */
static size_t quote(const struct rp_rdma_lane *lane, uint16_t ev, uint16_t id, size_t quoted,
		    uint8_t *icmp)
{
	uint8_t frame[RP_RDMA_PROBE_LEN];

	memset(icmp, 0, ICMP);
	rp_rdma_probe_make(lane, ev, 1, id, frame);
	icmp[0] = lane == lanes ? ICMP_EXCEEDED : ICMP6_EXCEEDED;
	memcpy(icmp + ICMP, frame + ETHERNET, quoted);
	return ICMP + quoted;
}

static void test_quotes(void **state)
{
	/* what a router must quote at least: IPv4 and 8 bytes; of IPv6 all that there is */
	static const size_t least[] = { 20 + 8, 40 + 8 + 12 + 18 };
	uint8_t icmp[RP_RDMA_PROBE_LEN + ICMP];
	struct rp_rdma_quote q;

	for (size_t l = 0; l < 2; l++) {
		size_t len = quote(&lanes[l], 4711, 0xabcd, least[l], icmp);

		assert_true(rp_rdma_quote_parse(&lanes[l], icmp, len, &q));
		assert_int_equal(q.ev, 4711);
		assert_int_equal(q.id, 0xabcd);
		for (size_t cut = 0; cut < len; cut++)
			assert_false(rp_rdma_quote_parse(&lanes[l], icmp, cut, &q));
		/* of the other way, another type, another code: not ours */
		assert_false(rp_rdma_quote_parse(&lanes[1 - l], icmp, len, &q));
		icmp[1] = 1;
		assert_false(rp_rdma_quote_parse(&lanes[l], icmp, len, &q));
		icmp[1] = 0;
		icmp[0]--;
		assert_false(rp_rdma_quote_parse(&lanes[l], icmp, len, &q));
	}
}

/* no noise is read beyond its end, nor makes an EV that there is not */
static void test_noise(void **state)
{
	for (unsigned int i = 0; i < ROUNDS(200000); i++) {
		const struct rp_rdma_lane *lane = &lanes[rnd_below(2)];
		size_t len = rnd_below(RP_RDMA_PROBE_LEN), real;
		uint8_t *icmp = malloc(RP_RDMA_PROBE_LEN + ICMP), *exact;
		struct rp_rdma_quote q;

		real = quote(lane, rnd_below(RP_RDMA_EVS), rnd(), lane == lanes ? 80 : 100, icmp);
		len = len < real ? len : real;
		exact = malloc(len ? len : 1);
		memcpy(exact, icmp, len);
		for (unsigned int k = rnd_below(4); k-- && len;)
			exact[rnd_below(len)] = rnd();
		if (rp_rdma_quote_parse(lane, exact, len, &q))
			require(q.ev < RP_RDMA_EVS, "EV %u", q.ev);
		free(exact);
		free(icmp);
	}
}

static void hear(struct rp_trace *trace, unsigned int hop)
{
	trace->heard |= 1u << (hop - 1);
	trace->router[hop - 1][15] = hop;
}

/* leaf, spine, leaf, peer: one EV ends at the first leaf */
static void test_settle(void **state)
{
	struct rp_trace traces[4] = { { 0 } };

	for (int i = 0; i < 4; i++)
		for (unsigned int hop = 1; hop <= LIMIT; hop++)
			if (i != 2 || hop == 1)
				hear(&traces[i], hop);
	assert_int_equal(rp_rdma_traces_settle(traces, 4, LIMIT + 1), LIMIT + 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(traces[i].hops, i == 2 ? 0 : LIMIT + 1);
}

/* a peer that answers no ping is behind the last router that was heard */
static void test_settle_unknown(void **state)
{
	struct rp_trace traces[2] = { { 0 } };

	assert_int_equal(rp_rdma_traces_settle(traces, 2, 0), 0);
	assert_int_equal(traces[0].hops, 0);
	hear(&traces[0], 1);
	hear(&traces[0], 2);
	hear(&traces[1], 1);
	assert_int_equal(rp_rdma_traces_settle(traces, 2, 0), 3);
	assert_int_equal(traces[0].hops, 3);
	assert_int_equal(traces[1].hops, 0);
}

/* routers of the last hop that never answer are no dead ends; the hop before decides */
static void test_settle_blind(void **state)
{
	struct rp_trace traces[3] = { { 0 } };

	for (int i = 0; i < 3; i++)
		hear(&traces[i], 1);
	hear(&traces[0], 2);
	hear(&traces[1], 2);
	assert_int_equal(rp_rdma_traces_settle(traces, 3, 4), 4);
	assert_int_equal(traces[0].hops, 4);
	assert_int_equal(traces[2].hops, 0);
	memset(traces, 0, sizeof(traces));
	rp_rdma_traces_settle(traces, 3, 4);	/* nobody at all: nothing speaks against them */
	assert_int_equal(traces[0].hops, 4);
	memset(traces, 0, sizeof(traces));
	rp_rdma_traces_settle(traces, 3, 1);	/* no router in between */
	assert_int_equal(traces[2].hops, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_roce),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_sequence),
		cmocka_unit_test(test_label),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_settle_unknown),
		cmocka_unit_test(test_settle_blind),
	};

	return unit_run(tests);
}
