// SPDX-License-Identifier: GPL-2.0
/*
 * The parser: each opcode, each length, each thing that is not RoCE. Packets from
 * elsewhere: test_vectors.
 */
/* SOURCES: kmod/core/roce.c selftests/unit/packet.c */
#include "unit.h"
#include "packet.h"

static u8 packet[PACKET_MAX];

/* what IBTA says of an opcode: least bytes behind the BTH, ICRC not counted */
struct opcode {
	u8 opcode;
	u8 least;
	enum rp_kind kind;
};

static const struct opcode opcodes[] = {
	{ 0x00, 0, RP_KIND_DATA },	{ 0x01, 0, RP_KIND_DATA },
	{ 0x02, 0, RP_KIND_DATA },	{ 0x03, 4, RP_KIND_DATA },
	{ 0x04, 0, RP_KIND_DATA },	{ 0x05, 4, RP_KIND_DATA },
	{ 0x06, 16, RP_KIND_DATA },	{ 0x07, 0, RP_KIND_DATA },
	{ 0x08, 0, RP_KIND_DATA },	{ 0x09, 4, RP_KIND_DATA },
	{ 0x0a, 16, RP_KIND_DATA },	{ 0x0b, 20, RP_KIND_DATA },
	{ 0x0c, 16, RP_KIND_READ },	{ 0x0d, 4, RP_KIND_RESPONSE },
	{ 0x0e, 0, RP_KIND_RESPONSE },	{ 0x0f, 4, RP_KIND_RESPONSE },
	{ 0x10, 4, RP_KIND_RESPONSE },	{ 0x11, 4, RP_KIND_ACK },
	{ 0x12, 12, RP_KIND_RESPONSE }, { 0x13, 28, RP_KIND_ATOMIC },
	{ 0x14, 28, RP_KIND_ATOMIC },	{ 0x16, 4, RP_KIND_DATA },
	{ 0x17, 4, RP_KIND_DATA },	{ 0x1c, 20, RP_KIND_ATOMIC },
	{ 0x1d, 24, RP_KIND_ATOMIC },	{ 0x20, 0, RP_KIND_DATA },
	{ 0x21, 0, RP_KIND_DATA },	{ 0x22, 0, RP_KIND_DATA },
	{ 0x23, 4, RP_KIND_DATA },	{ 0x24, 0, RP_KIND_DATA },
	{ 0x25, 4, RP_KIND_DATA },	{ 0x26, 16, RP_KIND_DATA },
	{ 0x27, 0, RP_KIND_DATA },	{ 0x28, 0, RP_KIND_DATA },
	{ 0x29, 4, RP_KIND_DATA },	{ 0x2a, 16, RP_KIND_DATA },
	{ 0x2b, 20, RP_KIND_DATA },	{ 0x64, 8, RP_KIND_DATAGRAM },
	{ 0x65, 12, RP_KIND_DATAGRAM }, { 0x81, 0, RP_KIND_CNP },
	{ 0xf2, 0, RP_KIND_CONTROL },
};

static const struct opcode *find_opcode(u8 opcode)
{
	static const struct opcode other = { .kind = RP_KIND_OTHER };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		if (opcodes[i].opcode == opcode)
			return &opcodes[i];
	return &other;
}

/* the packet, alone in memory of exactly its size */
static enum rp_roce_verdict parse_exact(u32 avail, u32 len, struct rp_roce *r)
{
	enum rp_roce_verdict verdict;
	u8 *copy = malloc(avail);

	assert_true(copy || !avail);
	memcpy(copy, packet, avail);
	verdict = rp_roce_parse(copy, avail, len, r);
	free(copy);
	return verdict;
}

static enum rp_roce_verdict parse(u32 len)
{
	struct rp_roce r;

	return parse_exact(len, len, &r);
}

static void each_opcode(void **state)
{
	u32 opcode, ipv6, len, size;
	struct rp_roce r;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct opcode *want = find_opcode(opcode);

		for (ipv6 = 0; ipv6 < 2; ipv6++) {
			for (len = 0; len < 64; len += 4) {
				struct packet p = { .ipv6 = ipv6,
						    .opcode = opcode,
						    .qpn = 0xabcdef,
						    .psn = 0xfedcba,
						    .len = len };

				size = packet_make(packet, &p);
				if (len < want->least) {
					assert_int_equal(parse(size), RP_ROCE_MALFORMED);
					continue;
				}
				assert_int_equal(parse_exact(size, size, &r), RP_ROCE_OK);
				assert_int_equal(r.kind, want->kind);
				assert_int_equal(r.opcode, opcode);
				assert_int_equal(r.qpn, 0xabcdef);
				assert_int_equal(r.psn, 0xfedcba);
				assert_int_equal(r.ipv6, ipv6);
				assert_int_equal(r.udp, ipv6 ? 40 : 20);
				assert_int_equal(r.bth, r.udp + 8);
				assert_int_equal(r.icrc, size - 4);
			}
		}
	}
}

/* Of BTH byte 4 one bit is the mark of a repair; none of them is the QPN's. */
static void each_flag(void **state)
{
	struct packet p = { .qpn = 0xabcdef, .len = 64 };
	struct rp_roce r;
	u32 i, size;

	for (i = 0; i < 2 * 256; i++) {
		p.ipv6 = i / 256;
		size = packet_make(packet, &p);
		packet[(p.ipv6 ? 48 : 28) + RP_BTH_FLAGS] = i % 256;
		assert_int_equal(parse_exact(size, size, &r), RP_ROCE_OK);
		assert_int_equal(r.repair, i & RP_BTH_REPAIR);
		assert_int_equal(r.qpn, 0xabcdef);
	}
}

static void management_is_datagram(void **state)
{
	struct packet p = { .qpn = RP_QPN_GSI, .len = 28 };
	struct rp_roce r;
	u32 opcode, size;

	for (opcode = 0; opcode < 256; opcode++) {
		p.opcode = opcode;
		size = packet_make(packet, &p);
		assert_int_equal(parse_exact(size, size, &r), RP_ROCE_OK);
		if (opcode == RP_OPCODE_CNP)
			assert_int_equal(r.kind, RP_KIND_CNP);
		else if (opcode == RP_OPCODE_CONTROL)
			assert_int_equal(r.kind, RP_KIND_CONTROL);
		else
			assert_int_equal(r.kind, RP_KIND_DATAGRAM);
	}
}

static void each_syndrome(void **state)
{
	u8 aeth[4] = { 0 };
	struct packet p = { .opcode = RP_OP_ACK, .qpn = 7, .len = 4, .body = aeth };
	struct rp_roce r;
	u32 syndrome, size;

	for (syndrome = 0; syndrome < 256; syndrome++) {
		aeth[0] = syndrome;
		size = packet_make(packet, &p);
		assert_int_equal(parse_exact(size, size, &r), RP_ROCE_OK);
		assert_int_equal(r.syndrome, syndrome);
		/* bit 7 is reserved; 0 ACK, 1 RNR NAK, 2 reserved, 3 NAK */
		assert_int_equal(r.kind, (syndrome & 0x7f) < 0x20 ? RP_KIND_ACK : RP_KIND_NAK);
	}
}

static void read_and_its_span(void **state)
{
	u8 reth[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x00, 0x01, 0x00, 0x01 };
	struct packet p = { .opcode = RP_OP_READ_REQUEST, .qpn = 7, .len = 16, .body = reth };
	u32 size = packet_make(packet, &p);
	struct rp_roce r;

	assert_int_equal(parse_exact(size, size, &r), RP_ROCE_OK);
	assert_int_equal(r.dma_len, 0x10001);
	assert_int_equal(rp_roce_span(&r, 1024), 65);
	assert_int_equal(rp_roce_span(&r, 4096), 17);
	r.dma_len = 0;
	assert_int_equal(rp_roce_span(&r, 1024), 1);
	r.dma_len = 1024;
	assert_int_equal(rp_roce_span(&r, 1024), 1);
	r.dma_len = 0xffffffff;
	assert_int_equal(rp_roce_span(&r, 256), 0x7fffff);
	r.kind = RP_KIND_DATA;
	assert_int_equal(rp_roce_span(&r, 256), 1);
}

static u32 ack(bool ipv6, u32 options)
{
	struct packet p = {
		.ipv6 = ipv6, .options = options, .opcode = RP_OP_ACK, .qpn = 7, .len = 4
	};

	return packet_make(packet, &p);
}

static void options_and_padding(void **state)
{
	u32 options, size;
	struct rp_roce r;

	for (options = 0; options <= 40; options += 4) {
		size = ack(false, options);
		/* Ethernet pads to 46 bytes and may do more */
		memset(packet + size, 0xaa, 64);
		assert_int_equal(parse_exact(size + 64, size + 64, &r), RP_ROCE_OK);
		assert_int_equal(r.udp, 20 + options);
		assert_int_equal(r.icrc, size - 4);
	}
	size = ack(true, 0);
	assert_int_equal(parse_exact(size + 64, size + 64, &r), RP_ROCE_OK);
	assert_int_equal(r.icrc, size - 4);
}

/* one byte of a good packet changed, and what it is then */
static void not_roce(void **state)
{
	static const struct {
		bool ipv6;
		u8 at, value;
		enum rp_roce_verdict want;
	} table[] = {
		{ false, 0, 0x35, RP_ROCE_NOT }, /* version */
		{ false, 0, 0x44, RP_ROCE_NOT }, /* header length 16 */
		{ false, 0, 0x40, RP_ROCE_NOT }, /* 0 */
		{ false, 6, 0x20, RP_ROCE_NOT }, /* more fragments */
		{ false, 6, 0x01, RP_ROCE_NOT }, /* offset, high */
		{ false, 7, 0x01, RP_ROCE_NOT }, /* offset, low */
		{ false, 6, 0x00, RP_ROCE_OK }, /* may be fragmented, is not */
		{ false, 9, 6, RP_ROCE_NOT }, /* TCP */
		{ false, 22, 0, RP_ROCE_NOT }, /* destination port */
		{ false, 23, 0, RP_ROCE_NOT },
		{ false, 2, 0x10, RP_ROCE_MALFORMED }, /* IP length beyond the packet */
		{ false, 3, 51, RP_ROCE_MALFORMED }, /* UDP length is another */
		{ false, 25, 0x1d, RP_ROCE_MALFORMED },
		{ false, 25, 0x1b, RP_ROCE_MALFORMED },
		{ false, 29, 0x41, RP_ROCE_MALFORMED }, /* transport version 1 */
		{ false, 29, 0x7f, RP_ROCE_MALFORMED },
		{ false, 29, 0xf0, RP_ROCE_OK }, /* solicited, migration, pad */
		{ true, 0, 0x70, RP_ROCE_NOT },
		{ true, 6, 0, RP_ROCE_NOT }, /* hop-by-hop options */
		{ true, 6, 44, RP_ROCE_NOT }, /* fragment */
		{ true, 42, 0, RP_ROCE_NOT },
		{ true, 4, 1, RP_ROCE_MALFORMED },
		{ true, 5, 0, RP_ROCE_MALFORMED }, /* jumbogram */
		{ true, 45, 0, RP_ROCE_MALFORMED },
		{ true, 49, 0x01, RP_ROCE_MALFORMED },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		u32 size = ack(table[i].ipv6, 0);

		assert_int_equal(parse(size), RP_ROCE_OK);
		packet[table[i].at] = table[i].value;
		require(parse(size) == table[i].want, "IPv%d, byte %u: %d", table[i].ipv6 ? 6 : 4,
			table[i].at, parse(size));
	}
}

/* both lengths agree, but no RoCE packet is that long */
static void odd_lengths(void **state)
{
	u32 ipv6, udp, size, len;

	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		udp = ipv6 ? 40 : 20;
		for (len = 0; len < 64; len++) {
			size = ack(ipv6, 0);
			memset(packet + size, 0, 64);
			put_unaligned_be16(len, packet + udp + 4);
			put_unaligned_be16(ipv6 ? len : udp + len, packet + (ipv6 ? 4 : 2));
			require(parse(size + 64) == (len >= 28 && len % 4 == 0 ? RP_ROCE_OK :
										 RP_ROCE_MALFORMED),
				"UDP length %u", len);
		}
	}
}

static void cut_off_anywhere(void **state)
{
	static const u8 kinds[] = { RP_OP_SEND_ONLY, RP_OP_READ_REQUEST, RP_OP_ACK,
				    RP_OP_CMP_SWAP };
	u32 i, ipv6, cut, size, needs;
	struct rp_roce r;

	for (i = 0; i < ARRAY_SIZE(kinds) * 2; i++) {
		struct packet p = { .ipv6 = i % 2,
				    .options = i % 2 ? 0 : 40,
				    .opcode = kinds[i / 2],
				    .qpn = 9,
				    .len = 64 };

		size = packet_make(packet, &p);
		ipv6 = p.ipv6;
		needs = (ipv6 ? 40 : 60) + 8 + 12;
		needs += p.opcode == RP_OP_READ_REQUEST ? 16 : p.opcode == RP_OP_ACK ? 4 : 0;
		assert_true(needs <= RP_ROCE_PULL);
		for (cut = 0; cut < size; cut++) {
			enum rp_roce_verdict whole = cut < (ipv6 ? 48 : 68) ? RP_ROCE_NOT :
									      RP_ROCE_MALFORMED;

			require(parse_exact(cut, cut, &r) == whole, "%u bytes long", cut);
			require(parse_exact(cut, size, &r) ==
					(cut < needs ? RP_ROCE_SHORT : RP_ROCE_OK),
				"%u bytes there", cut);
		}
	}
}

/* Whatever comes, what is found lies inside. */
static void random_bytes(void **state)
{
	struct rp_roce r;
	u32 i, n, len, avail, found = 0;

	for (i = 0; i < ROUNDS(3000000); i++) {
		struct packet p = { .ipv6 = rnd() % 2,
				    .options = rnd() % 4 ? 0 : rnd_below(11) * 4,
				    .opcode = rnd() % 2 ? rnd_below(0x20) : rnd(),
				    .qpn = rnd(),
				    .len = rnd_below(12) * 4 };

		len = packet_make(packet, &p);
		for (n = rnd_below(4); n; n--)
			packet[rnd_below(len)] = rnd();
		len = rnd() % 4 ? len : rnd_below(len + 8);
		avail = rnd() % 2 ? len : rnd_below(len + 1);
		if (parse_exact(avail, len, &r) != RP_ROCE_OK)
			continue;
		found++;
		require(r.bth == r.udp + 8 && r.udp >= 20 && r.udp <= 60, "start");
		require(r.bth + 12u <= avail && r.bth + 12u <= r.icrc, "BTH");
		require(r.icrc + 4 <= len && (r.icrc - r.bth) % 4 == 0, "end");
		require(r.qpn < 1 << 24 && r.psn < 1 << 24 && r.kind <= RP_KIND_OTHER, "numbers");
		require(r.kind == RP_KIND_READ || !r.dma_len, "length of what is no READ");
		require(r.kind == RP_KIND_ACK || r.kind == RP_KIND_NAK || !r.syndrome,
			"syndrome of what is no ACK");
	}
	assert_true(found > i / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_opcode),
		cmocka_unit_test(each_flag),
		cmocka_unit_test(management_is_datagram),
		cmocka_unit_test(each_syndrome),
		cmocka_unit_test(read_and_its_span),
		cmocka_unit_test(options_and_padding),
		cmocka_unit_test(not_roce),
		cmocka_unit_test(odd_lengths),
		cmocka_unit_test(cut_off_anywhere),
		cmocka_unit_test(random_bytes),
	};

	return unit_run(tests);
}
