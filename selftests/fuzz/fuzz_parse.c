// SPDX-License-Identifier: GPL-2.0
/*
 * All who parse packets say the same of any frame, wherever its linear part ends: the parser
 * of kmod/core, the module's way to it from a socket buffer, and the programs' parser for XDP
 * and tc. The first byte says how much is linear, the frame follows.
 */
/* SOURCES: kmod/core/roce.c selftests/bpf/expected.c */
/* SOURCES: selftests/bpf/native.c selftests/fuzz/parse_module.c */
#include "expected.h"
#include "input.h"
#include "native.h"
#include "parse_module.h"

#define ETH_LEN 14

static void check(bool right, const char *who, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "%s: ", who);
	crash(what);
}

/* The parser may be given less than the packet, and then says so, or what it says of all of it. */
static void check_part(const u8 *l3, u32 avail, u32 len, const struct rp_roce *whole,
		       enum rp_roce_verdict of_whole)
{
	u8 *part = malloc(avail);
	struct rp_roce r = { 0 };
	enum rp_roce_verdict verdict;

	memcpy(part, l3, avail);
	verdict = rp_roce_parse(part, avail, len, &r);
	free(part);
	if (verdict == RP_ROCE_SHORT)
		check(avail < len && avail < RP_ROCE_PULL, "core", "wants more of a part");
	else
		check(verdict == of_whole, "core", "another verdict of a part");
	check(verdict != RP_ROCE_OK || !memcmp(&r, whole, sizeof(r)), "core", "a part differs");
}

/* An ethertype that is not of the IP version behind it: the stack will drop it as such. */
static bool is_at_odds(const u8 *frame, u32 l3)
{
	return (get_unaligned_be16(frame + l3 - 2) == 0x86dd) != (frame[l3] >> 4 == 6);
}

static void check_module(const u8 *frame, u32 len, u32 linear, enum rp_verdict want,
			 const struct rp_roce *expected, u32 l3)
{
	struct rp_address source, destination;
	enum rp_roce_verdict verdict;
	struct rp_packet p = { 0 };
	struct rp_roce r = { 0 };
	u32 at;

	verdict = parse_by_module(frame, len, linear, &r, &at, &source, &destination);
	if (verdict == RP_ROCE_NOT && want <= RP_MALFORMED && want != RP_OTHER)
		check(is_at_odds(frame, l3), "module", "does not see RoCE");
	else if (verdict == RP_ROCE_OK)
		check(want == RP_ROCE_FRAME && !memcmp(&r, expected, sizeof(r)) && at == l3,
		      "module", "sees RoCE");
	else
		check(verdict == (want == RP_MALFORMED ? RP_ROCE_MALFORMED : RP_ROCE_NOT),
		      "module", "another verdict");
	if (verdict != RP_ROCE_OK)
		return;
	parse_by_xdp(frame, len, len, &p);
	check(!memcmp(&p.source, &source, sizeof(source)) &&
	      !memcmp(&p.destination, &destination, sizeof(destination)), "module", "addresses");
}

static void check_program(const u8 *frame, u32 len, u32 linear, enum rp_verdict want,
			  const struct rp_roce *r, u32 l3, const char *who,
			  enum rp_verdict (*parse)(const u8 *frame, u32 len, u32 linear,
						   struct rp_packet *p))
{
	const char *differs;
	struct rp_packet p;

	check(parse(frame, len, linear, &p) == want, who, "another verdict");
	if (want != RP_ROCE_FRAME)
		return;
	differs = expected_packet(&p, frame, l3, r);
	check(!differs, who, differs);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct rp_roce r = { 0 };
	u32 len = min_t(size_t, size, FRAME_MAX) - 1, linear, l3;
	const u8 *frame = data + 1;
	enum rp_verdict want;

	if (size < 1 + ETH_LEN)
		return 0;
	linear = min(ETH_LEN + (u32)data[0], len);
	want = expected_verdict(frame, len, &l3, &r);
	check(want != EXPECTED_NOTHING, "core", "wants more than there is");
	if (l3 < len && (want == RP_ROCE_FRAME || want == RP_MALFORMED))
		check_part(frame + l3, min(linear, len - l3), len - l3, &r,
			   want == RP_ROCE_FRAME ? RP_ROCE_OK : RP_ROCE_MALFORMED);
	check_module(frame, len, linear, want, &r, l3);
	check_program(frame, len, linear, want, &r, l3, "XDP", parse_by_xdp);
	check_program(frame, len, linear, want, &r, l3, "tc", parse_by_tc);
	check_program(frame, len, linear, want, &r, l3, "tc, quickly", parse_by_tc_quickly);
	return 0;
}
