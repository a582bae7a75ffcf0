// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that others made (roce-vectors) and what rdma_rxe sent (captures):
 * what the parser says of them, their ICRC, and each of the 65,536 source ports
 * that they could be given.
 */
/* SOURCES: kmod/core/roce.c kmod/core/icrc.c */
/* SOURCES: selftests/unit/vectors.c selftests/unit/reference.c selftests/unit/crc32.c */
#include "unit.h"
#include "reference.h"
#include "vectors.h"

#define LONG_PACKET 512

static struct rp_icrc_table table;
static struct frames vectors, captures;

/*
 * A captured packet is right as it is: the parser takes it, and the ICRC on the wire
 * is what we compute.
 */
static void check_capture(const struct frame *f)
{
	u32 at = frame_l3(f, NULL), len = f->len - at;
	const u8 *l3 = f->data + at;
	struct rp_roce r;
	enum rp_roce_verdict verdict = rp_roce_parse(l3, len, len, &r);

	if (verdict == RP_ROCE_NOT)
		return;
	require(verdict == RP_ROCE_OK, "%s %s: verdict %d", f->file, f->name, verdict);
	require(r.kind != RP_KIND_OTHER, "%s %s: opcode 0x%02x is not known", f->file, f->name,
		r.opcode);
	require(rp_icrc(l3, &r) == get_unaligned_le32(l3 + r.icrc), "%s %s: ICRC", f->file,
		f->name);
}

/* The IP packets of both sets, one after the other: @at counts from 0. Return: NULL at the end. */
static const struct frame *next_packet(u32 *at)
{
	const struct frame *f;

	while (*at < vectors.count + captures.count) {
		f = *at < vectors.count ? &vectors.frame[*at] :
					  &captures.frame[*at - vectors.count];
		(*at)++;
		if (frame_l3(f, NULL))
			return f;
	}
	return NULL;
}

static void captures_are_valid(void **state)
{
	const struct frame *f;
	u32 at = vectors.count;

	assert_true(captures.count > 0);
	while ((f = next_packet(&at)))
		check_capture(f);
}

/*
 * The difference, port by port, against the CRC of the whole packet. Wrong ICRCs
 * stay as wrong as they were. Long packets, of which roce-vectors has none, take
 * too long for more than a sample of ports.
 */
static void check_all_ports(const struct frame *f)
{
	u32 at = frame_l3(f, NULL), len = f->len - at;
	const u8 *l3 = f->data + at;
	struct rp_roce r;
	u32 sport, wrong, step = len > LONG_PACKET ? 251 : 1;
	u8 *copy;

	if (rp_roce_parse(l3, len, len, &r) != RP_ROCE_OK)
		return;
	wrong = get_unaligned_le32(l3 + r.icrc) ^ ref_icrc(l3);
	copy = malloc(len);
	assert_non_null(copy);
	for (sport = rnd_below(step); sport < 0x10000; sport += step) {
		memcpy(copy, l3, len);
		rewrite_sport(&table, copy, &r, sport);
		require(get_unaligned_be16(copy + r.udp) == sport, "%s %s: port", f->file, f->name);
		require(get_unaligned_le32(copy + r.icrc) == (ref_icrc(copy) ^ wrong),
			"%s %s: ICRC at port %u", f->file, f->name, sport);
		if (get_unaligned_be16(l3 + r.udp + 6))
			require(get_unaligned_be16(copy + r.udp + 6) == ref_udp_csum(copy),
				"%s %s: UDP at port %u", f->file, f->name, sport);
		else
			require(!get_unaligned_be16(copy + r.udp + 6),
				"%s %s: UDP checksum out of 0", f->file, f->name);
	}
	free(copy);
}

static void every_source_port(void **state)
{
	const struct frame *f;
	u32 at = 0;

	while ((f = next_packet(&at)))
		check_all_ports(f);
}

static bool same(const struct rp_roce *a, const struct rp_roce *b)
{
	return a->ipv6 == b->ipv6 && a->opcode == b->opcode && a->syndrome == b->syndrome &&
	       a->kind == b->kind && a->udp == b->udp && a->bth == b->bth && a->icrc == b->icrc &&
	       a->qpn == b->qpn && a->psn == b->psn && a->dma_len == b->dma_len;
}

/*
 * Behind the last byte given is unmapped to ASan: the packet, cut off anywhere, in
 * memory of exactly that size.
 */
static void check_truncations(const struct frame *f)
{
	u32 at = frame_l3(f, NULL), len = f->len - at;
	const u8 *l3 = f->data + at;
	struct rp_roce whole, r;
	enum rp_roce_verdict verdict = rp_roce_parse(l3, len, len, &whole), got;
	u32 cut, end = ref_end(l3);
	u8 *copy;

	for (cut = 0; cut < len; cut++) {
		copy = malloc(cut);
		assert_true(copy || !cut);
		memcpy(copy, l3, cut);
		got = rp_roce_parse(copy, cut, cut, &r);
		require(cut >= end ? got == verdict : got != RP_ROCE_OK && got != RP_ROCE_SHORT,
			"%s %s cut to %u: %d", f->file, f->name, cut, got);
		got = rp_roce_parse(copy, cut, len, &r);
		require(got == RP_ROCE_SHORT || got == verdict, "%s %s, %u bytes of it: %d",
			f->file, f->name, cut, got);
		require(cut < RP_ROCE_PULL || got == verdict, "%s %s, %u bytes are not enough",
			f->file, f->name, cut);
		if (got == RP_ROCE_OK)
			require(same(&r, &whole), "%s %s, %u bytes of it differ", f->file, f->name,
				cut);
		free(copy);
	}
}

static void cut_off_anywhere(void **state)
{
	const struct frame *f;
	u32 at = 0;

	while ((f = next_packet(&at)))
		check_truncations(f);
}

/* ICRC and bounds of whatever the parser lets through, for packets with a few bytes changed. */
static void check_mutations(const struct frame *f)
{
	u32 at = frame_l3(f, NULL), len = f->len - at;
	const u8 *l3 = f->data + at;
	u8 *copy = malloc(len);
	struct rp_roce r;
	u32 i, n;

	assert_non_null(copy);
	for (i = 0; i < ROUNDS(3000); i++) {
		memcpy(copy, l3, len);
		for (n = rnd_range(1, 4); n; n--)
			copy[rnd_below(rnd() % 2 ? min(len, 64u) : len)] = rnd();
		if (rp_roce_parse(copy, len, len, &r) != RP_ROCE_OK)
			continue;
		require(r.udp == ref_udp(copy) && r.bth == r.udp + 8, "%s %s: start", f->file,
			f->name);
		require(r.icrc + 4 == ref_end(copy) && r.icrc + 4 <= len, "%s %s: end", f->file,
			f->name);
		require(rp_icrc(copy, &r) == ref_icrc(copy), "%s %s: ICRC", f->file, f->name);
	}
	free(copy);
}

static void bytes_changed(void **state)
{
	const struct frame *f;
	u32 at = 0;

	while ((f = next_packet(&at)))
		check_mutations(f);
}

#define COLUMNS 14

static u32 split(char *line, char **column)
{
	u32 n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	while (n < COLUMNS && line)
		column[n++] = strsep(&line, "\t");
	return n;
}

static FILE *open_table(const char *name)
{
	char path[4096];
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", vectors_dir(), name);
	in = fopen(path, "r");
	if (!in)
		fail_msg("%s: cannot be read", path);
	return in;
}

enum column {
	C_FILE,
	C_NAME,
	C_KIND,
	C_L3,
	C_VLAN,
	C_OPCODE,
	C_QPN,
	C_PSN,
	C_TOS,
	C_SPORT,
	C_LEN,
	C_ICRC,
	C_STATUS,
	C_UDP
};

static void check_manifest_line(char **c)
{
	const struct frame *f = frames_find(&vectors, c[C_NAME]);
	u8 wire[4];
	u32 at, tags;
	struct rp_roce r;
	enum rp_roce_verdict verdict;
	const u8 *l3;

	require(f && f->len == strtoul(c[C_LEN], NULL, 0), "%s: not found, or of another length",
		c[C_NAME]);
	at = frame_l3(f, &tags);
	if (!strcmp(c[C_L3], "v1")) {
		assert_int_equal(at, 0);
		return;
	}
	l3 = f->data + at;
	assert_int_equal(tags, c[C_VLAN][0] == '[');
	verdict = rp_roce_parse(l3, f->len - at, f->len - at, &r);
	if (get_unaligned_be16(l3 + ref_udp(l3) + 4) != ref_end(l3) - ref_udp(l3)) {
		assert_int_equal(verdict, RP_ROCE_MALFORMED);
		return;
	}
	require(verdict == RP_ROCE_OK, "%s: verdict %d", c[C_NAME], verdict);
	assert_int_equal(r.ipv6, !strcmp(c[C_L3], "v6"));
	assert_int_equal(r.qpn, strtoul(c[C_QPN], NULL, 0));
	assert_int_equal(r.psn, strtoul(c[C_PSN], NULL, 0));
	assert_int_equal(get_unaligned_be16(l3 + r.udp), strtoul(c[C_SPORT], NULL, 0));
	assert_int_equal(hex_bytes(c[C_ICRC], wire, 4), 4);
	assert_memory_equal(wire, l3 + r.icrc, 4);
	require((rp_icrc(l3, &r) == get_unaligned_le32(wire)) == !strcmp(c[C_STATUS], "VALID"),
		"%s: is not %s", c[C_NAME], c[C_STATUS]);
	if (!strcmp(c[C_UDP], "ok") && !strcmp(c[C_STATUS], "VALID"))
		assert_int_equal(get_unaligned_be16(l3 + r.udp + 6), ref_udp_csum(l3));
}

static void manifest_agrees(void **state)
{
	char line[4096], *column[COLUMNS];
	u32 lines = 0;
	FILE *in;

	in = open_table("manifest.tsv");
	assert_non_null(fgets(line, sizeof(line), in)); /* the heads */
	for (; fgets(line, sizeof(line), in); lines++) {
		require(split(line, column) == COLUMNS, "manifest.tsv:%u: columns", lines + 2);
		check_manifest_line(column);
	}
	fclose(in);
	assert_int_equal(lines, vectors.count);
}

static void check_derived_line(char **c)
{
	const struct frame *f = frames_find(&vectors, c[0]);
	static u8 want[65536];
	u8 copy[4096];
	struct rp_roce r;
	u32 at;

	require(f && f->len <= sizeof(copy), "%s: not found", c[0]);
	assert_int_equal(hex_bytes(c[4], want, sizeof(want)), f->len);
	memcpy(copy, f->data, f->len);
	at = frame_l3(f, NULL);
	assert_int_equal(rp_roce_parse(copy + at, f->len - at, f->len - at, &r), RP_ROCE_OK);
	rewrite_sport(&table, copy + at, &r, strtoul(c[1], NULL, 0));
	require(!memcmp(copy, want, f->len), "%s at port %s: another frame", c[0], c[1]);
}

static void derived_frames_agree(void **state)
{
	static char line[65536];
	char *column[COLUMNS];
	u32 lines = 0;
	FILE *in;

	in = open_table("derived_sport_rewrite.tsv");
	while (fgets(line, sizeof(line), in)) {
		if (line[0] == '#')
			continue;
		require(split(line, column) == 5, "derived_sport_rewrite.tsv: columns");
		check_derived_line(column);
		lines++;
	}
	fclose(in);
	assert_true(lines > 0);
}

#define WANT_VECTORS 2 /* the first tests */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(manifest_agrees),
		cmocka_unit_test(derived_frames_agree),
		cmocka_unit_test(captures_are_valid),
		cmocka_unit_test(every_source_port),
		cmocka_unit_test(cut_off_anywhere),
		cmocka_unit_test(bytes_changed),
	};
	int failed;

	rp_icrc_table_init(&table);
	frames_load(&captures, captures_dir(), ".pcap");
	if (vectors_dir())
		frames_load(&vectors, vectors_dir(), ".hex");
	else
		printf("# roce-vectors is not there: the project's own captures stand in\n");
	printf("# %u frames of roce-vectors, %u of the project's own captures\n", vectors.count,
	       captures.count);
	fflush(stdout);
	failed = unit_run_from(tests, vectors_dir() ? 0 : WANT_VECTORS);
	frames_free(&vectors);
	frames_free(&captures);
	return failed;
}
