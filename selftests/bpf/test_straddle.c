// SPDX-License-Identifier: GPL-2.0
/*
 * Wherever the linear part of a packet ends, the programs' parser finds the same in it: here
 * compiled for this machine, for kernels run tests of tc programs on linear packets only.
 */
/* SOURCES: kmod/core/roce.c selftests/bpf/expected.c selftests/bpf/native.c */
/* SOURCES: selftests/unit/packet.c */
#include "unit.h"

#include "expected.h"
#include "native.h"
#include "packet.h"

typedef enum rp_verdict parser(const u8 *frame, u32 len, u32 linear, struct rp_packet *p);

static u8 frame[PACKET_MAX + 64];

static u32 make(const struct packet *p)
{
	memset(frame, 2, 12);
	put_unaligned_be16(p->ipv6 ? 0x86dd : 0x0800, frame + 12);
	return 14 + packet_make(frame + 14, p);
}

static void same_at_each(u32 len, parser *parse, const char *who)
{
	struct rp_packet whole, p;
	const char *differs;
	struct rp_roce r;
	u32 linear, l3;

	assert_int_equal(expected_verdict(frame, len, &l3, &r), RP_ROCE_FRAME);
	assert_int_equal(parse(frame, len, len, &whole), RP_ROCE_FRAME);
	for (linear = 14; linear < len; linear++) {
		require(parse(frame, len, linear, &p) == RP_ROCE_FRAME, "%s, linear %u", who,
			linear);
		differs = expected_packet(&p, frame, l3, &r);
		require(!differs, "%s, linear %u: %s", who, linear, differs);
		require(p.extended == whole.extended, "%s, linear %u: %u, not %u", who, linear,
			p.extended, whole.extended);
	}
}

/* what a rule about message sizes asks for is in the RETH, who sent a datagram in the DETH */
static void each_end(void **state)
{
	static const u8 opcodes[] = { 0x04, 0x06, 0x0a, 0x0c, 0x11, 0x64, 0x81 };
	u8 body[64];
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(opcodes); i++) {
		struct packet packet = { .ipv6 = i & 1, .opcode = opcodes[i / 2],
					 .len = sizeof(body), .body = body };
		u32 len;

		rnd_fill(body, sizeof(body));
		len = make(&packet);
		same_at_each(len, parse_by_xdp, "XDP");
		same_at_each(len, parse_by_tc, "tc");
		same_at_each(len, parse_by_tc_quickly, "tc, quickly");
	}
}

/* nothing but a BTH: what may be behind it is not there, and need not be looked for */
static void datagram_without_header(void **state)
{
	struct packet packet = { .opcode = 0x04, .qpn = 1 };
	struct rp_packet p;
	u32 len = make(&packet);

	assert_int_equal(parse_by_tc_quickly(frame, len, len, &p), RP_ROCE_FRAME);
	assert_int_equal(p.kind, RP_KIND_DATAGRAM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_end),
		cmocka_unit_test(datagram_without_header),
	};

	return unit_run(tests);
}
