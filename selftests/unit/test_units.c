// SPDX-License-Identifier: GPL-2.0
/* The tool's pure parts: quantities, words, the command line, JSON. */
/* SOURCES: user/units.c user/error.c user/words.c user/args.c user/help.c user/json.c */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "../../user/args.h"
#include "../../user/json.h"
#include "../../user/units.h"

static void parses(enum rp_unit unit, const char *text, uint64_t expected)
{
	struct rp_error error = { "" };
	uint64_t value = ~expected;

	require(!rp_unit_parse(unit, text, &value, &error), "%s: %s", text, error.text);
	assert_int_equal(value, expected);
}

static void refuses(enum rp_unit unit, const char *text, const char *why)
{
	struct rp_error error = { "" };
	uint64_t value;

	require(rp_unit_parse(unit, text, &value, &error), "%s was taken", text);
	require(strstr(error.text, why), "%s: '%s' lacks '%s'", text, error.text, why);
}

static void test_unit_parse(void **state)
{
	parses(RP_UNIT_US, "0us", 0);
	parses(RP_UNIT_US, "3ms", 3000);
	parses(RP_UNIT_US, "1.5ms", 1500);
	parses(RP_UNIT_US, "0.000001s", 1);
	parses(RP_UNIT_US, "4000s", 4000000000);
	parses(RP_UNIT_MS, "2s", 2000);
	parses(RP_UNIT_MS, "5000us", 5);
	parses(RP_UNIT_MS, "0.25s", 250);
	parses(RP_UNIT_BYTES, "4MiB", 4 << 20);
	parses(RP_UNIT_BYTES, "1.5KiB", 1536);
	parses(RP_UNIT_BYTES, "7B", 7);
	parses(RP_UNIT_BYTES, "2GiB", 2ull << 30);
	parses(RP_UNIT_PPM, "0.5%", 5000);
	parses(RP_UNIT_PPM, "100%", 1000000);
	parses(RP_UNIT_PPM, "0.0001%", 1);
	parses(RP_UNIT_RATE, "40Gbit", 5000000000);
	parses(RP_UNIT_RATE, "1.6Tbit", 200000000000);
	parses(RP_UNIT_RATE, "8bit", 1);
}

static void test_unit_refuse(void **state)
{
	refuses(RP_UNIT_US, "3", "write 3us, 3ms or 3s");
	refuses(RP_UNIT_US, "0", "lacks a unit");
	refuses(RP_UNIT_US, "3sec", "write 3us, 3ms or 3s");
	refuses(RP_UNIT_US, "3 ms", "unknown unit");
	refuses(RP_UNIT_US, "ms", "no quantity");
	refuses(RP_UNIT_US, "", "no quantity");
	refuses(RP_UNIT_US, "-3ms", "no quantity");
	refuses(RP_UNIT_US, "+3ms", "no quantity");
	refuses(RP_UNIT_US, ".5ms", "no quantity");
	refuses(RP_UNIT_US, "5.ms", "no quantity");
	refuses(RP_UNIT_US, "1.2.3ms", "unknown unit");
	refuses(RP_UNIT_US, "0x10ms", "unknown unit");
	refuses(RP_UNIT_US, "3msx", "unknown unit");
	refuses(RP_UNIT_US, "3KiB", "unknown unit");
	refuses(RP_UNIT_US, "0.5us", "whole number of microseconds");
	refuses(RP_UNIT_MS, "1500us", "whole number of milliseconds");
	refuses(RP_UNIT_BYTES, "64MB", "write 64B, 64KiB or 64MiB");
	refuses(RP_UNIT_BYTES, "0.3KiB", "whole number of bytes");
	refuses(RP_UNIT_US, "99999999999999999999s", "no quantity");
	refuses(RP_UNIT_US, "99999999999s", "too large");
	refuses(RP_UNIT_PPM, "0.5", "write 0.5%");
	refuses(RP_UNIT_PPM, "x%", "such as 3%");
	refuses(RP_UNIT_PPM, "0.00001%", "whole number of millionths");
	refuses(RP_UNIT_BYTES, "18446744073709551615KiB", "too large");
	refuses(RP_UNIT_US, "0.0000000001s", "no quantity");
	refuses(RP_UNIT_RATE, "40", "write 40Mbit, 40Gbit or 40Tbit");
	refuses(RP_UNIT_RATE, "40GB", "write 40Mbit, 40Gbit or 40Tbit");
	refuses(RP_UNIT_RATE, "4bit", "whole number of bytes per second");
	refuses(RP_UNIT_RATE, "0.5Kbit", "whole number of bytes per second");
}

static void prints(enum rp_unit unit, uint64_t value, const char *expected)
{
	char text[RP_TEXT_LEN];

	rp_unit_print(unit, value, text);
	assert_string_equal(text, expected);
}

static void test_unit_print(void **state)
{
	prints(RP_UNIT_RATE, 5000000000, "40Gbit");
	prints(RP_UNIT_RATE, 312500000, "2.5Gbit");
	prints(RP_UNIT_RATE, 1, "8bit");
	prints(RP_UNIT_RATE, 0, "0bit");
	prints(RP_UNIT_RATE, 1234567891, "9876543.128Kbit");
	prints(RP_UNIT_US, 0, "0us");
	prints(RP_UNIT_US, 999, "999us");
	prints(RP_UNIT_US, 1000, "1ms");
	prints(RP_UNIT_US, 1500, "1.5ms");
	prints(RP_UNIT_US, 1234567, "1234.567ms");
	prints(RP_UNIT_US, 60000000, "60s");
	prints(RP_UNIT_MS, 0, "0ms");
	prints(RP_UNIT_MS, 100, "100ms");
	prints(RP_UNIT_MS, 1001, "1.001s");
	prints(RP_UNIT_BYTES, 0, "0B");
	prints(RP_UNIT_BYTES, 1025, "1025B");
	prints(RP_UNIT_BYTES, 1536 << 10, "1.5MiB");
	prints(RP_UNIT_BYTES, 16 << 20, "16MiB");
	prints(RP_UNIT_PPM, 0, "0%");
	prints(RP_UNIT_PPM, 5000, "0.5%");
	prints(RP_UNIT_PPM, 1000000, "100%");
}

/* what is printed parses again, to the same number */
static void test_unit_round_trip(void **state)
{
	static const enum rp_unit units[] = {
		RP_UNIT_US, RP_UNIT_MS, RP_UNIT_BYTES, RP_UNIT_PPM, RP_UNIT_RATE
	};

	for (int i = 0; i < ROUNDS(1000000); i++) {
		enum rp_unit unit = units[i % ARRAY_SIZE(units)];
		uint64_t before = rnd() >> rnd_below(32), after = ~before;
		char text[RP_TEXT_LEN];

		if (i & 1)
			before = before / 1000 * 1000;
		rp_unit_print(unit, before, text);
		require(!rp_unit_parse(unit, text, &after, NULL) && after == before,
			"%" PRIu64 " -> %s -> %" PRIu64, before, text, after);
	}
}

/* no text whatever leads astray */
static void test_unit_garbage(void **state)
{
	static const char alphabet[] = "0123456789.usmKiMGB% -+,:xe\xff";

	for (int i = 0; i < ROUNDS(1000000); i++) {
		size_t len = rnd_below(24);
		struct rp_error error;
		uint8_t bytes[RP_EVS_MAX];
		uint64_t value;
		char *text = malloc(len + 1);

		for (size_t c = 0; c < len; c++)
			text[c] = alphabet[rnd_below(sizeof(alphabet) - 1)];
		text[len] = '\0';
		for (int unit = RP_UNIT_US; unit <= RP_UNIT_PPM; unit++)
			rp_unit_parse(unit, text, &value, &error);
		rp_number_parse(text, &value, &error);
		rp_evs_parse(text, bytes, &error);
		rp_address_parse(text, bytes, &error);
		free(text);
	}
}

static void test_number(void **state)
{
	struct rp_error error;
	uint64_t value;

	assert_int_equal(rp_number_parse("0x3f00", &value, &error), 0);
	assert_int_equal(value, 0x3f00);
	assert_int_equal(rp_number_parse("18446744073709551615", &value, &error), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(rp_number_parse("010", &value, &error), 0);
	assert_int_equal(value, 10);
	assert_int_equal(rp_number_parse("18446744073709551616", &value, &error), -1);
	assert_int_equal(rp_number_parse("", &value, &error), -1);
	assert_int_equal(rp_number_parse("0x", &value, &error), -1);
	assert_int_equal(rp_number_parse("1f", &value, &error), -1);
	assert_int_equal(rp_number_parse("-1", &value, &error), -1);
	assert_int_equal(rp_number_parse("0xfg", &value, &error), -1);
}

static void test_hex(void **state)
{
	uint8_t bytes[4];

	assert_int_equal(rp_hex_parse("00ffAa19", 8, bytes, 4), 0);
	assert_memory_equal(bytes, "\x00\xff\xaa\x19", 4);
	assert_int_equal(rp_hex_parse("00ffAa1", 7, bytes, 4), -1);
	assert_int_equal(rp_hex_parse("00ffAa190", 9, bytes, 4), -1);
	assert_int_equal(rp_hex_parse("00ffAa1g", 8, bytes, 4), -1);
}

static void test_age_and_address(void **state)
{
	static const uint8_t four[16] = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 2 };
	static const uint8_t six[16] = { 0xfd, [15] = 1 };
	char text[RP_TEXT_LEN];

	rp_age_print(3450, text);
	assert_string_equal(text, "3.4s");
	rp_age_print(59999, text);
	assert_string_equal(text, "59s");
	rp_age_print(3 * 3600000 + 120000, text);
	assert_string_equal(text, "3h2m");
	rp_age_print(UINT64_MAX, text);
	assert_non_null(strchr(text, 'd'));
	rp_address_print(four, text);
	assert_string_equal(text, "10.0.0.2");
	rp_address_print(six, text);
	assert_string_equal(text, "fd00::1");
}

static void rounds(void (*print)(uint64_t, char *), uint64_t value, const char *expected)
{
	char text[RP_TEXT_LEN];

	print(value, text);
	assert_string_equal(text, expected);
}

static void print_packets(uint64_t value, char *text)
{
	rp_rate_print(value, "p", text);
}

static void test_rounded(void **state)
{
	rounds(rp_duration_print, 0, "0us");
	rounds(rp_duration_print, 999, "999us");
	rounds(rp_duration_print, 2937, "2.94ms");
	rounds(rp_duration_print, 29370, "29.4ms");
	rounds(rp_duration_print, 293700, "294ms");
	rounds(rp_duration_print, 3000000, "3s");
	rounds(rp_duration_print, UINT32_MAX, "4295s");
	rounds(print_packets, 0, "0p");
	rounds(print_packets, 999, "999p");
	rounds(print_packets, 1000, "1kp");
	rounds(print_packets, 12345, "12.3kp");
	rounds(print_packets, 394500000000, "395Gp");
	rounds(print_packets, UINT64_MAX, "18447Pp");
}

static void test_address(void **state)
{
	uint8_t address[RP_ADDRESS_LEN];
	struct rp_error error;
	char text[RP_TEXT_LEN];

	assert_int_equal(rp_address_parse("10.0.0.2", address, &error), 0);
	assert_true(rp_address_is_ipv4(address));
	rp_address_print(address, text);
	assert_string_equal(text, "10.0.0.2");
	assert_int_equal(rp_address_parse("fd00::1", address, &error), 0);
	assert_false(rp_address_is_ipv4(address));
	rp_address_print(address, text);
	assert_string_equal(text, "fd00::1");
	assert_int_equal(rp_address_parse("10.0.0.256", address, &error), -1);
	assert_non_null(strstr(error.text, "such as 10.0.0.2"));
	assert_int_equal(rp_address_parse("", address, &error), -1);
}

static void refuses_evs(const char *list, const char *why)
{
	struct rp_error error = { "" };
	uint8_t evs[RP_EVS_MAX];

	require(rp_evs_parse(list, evs, &error) < 0, "%s was taken", list);
	require(strstr(error.text, why), "%s: '%s' lacks '%s'", list, error.text, why);
}

static void test_evs(void **state)
{
	uint8_t evs[RP_EVS_MAX];
	char text[RP_EVS_TEXT_LEN];

	assert_int_equal(rp_evs_parse("3,7,16-18", evs, NULL), 5);
	assert_memory_equal(evs, "\x03\x07\x10\x11\x12", 5);
	rp_evs_print(evs, 5, text, sizeof(text));
	assert_string_equal(text, "3,7,16-18");
	assert_int_equal(rp_evs_parse("255,0", evs, NULL), 2);
	assert_memory_equal(evs, "\xff\x00", 2);
	assert_int_equal(rp_evs_parse("0-255", evs, NULL), 256);
	rp_evs_print(evs, 256, text, sizeof(text));
	assert_string_equal(text, "0-255");
	refuses_evs("", "write one such as 3,7,16-31");
	refuses_evs("3,", "write one such as");
	refuses_evs("3;4", "write one such as");
	refuses_evs("3-", "write one such as");
	refuses_evs("-3", "write one such as");
	refuses_evs("256", "must be 0 to 255");
	refuses_evs("9-8", "ranges upwards");
	refuses_evs("99999999999999999999", "must be 0 to 255");
	refuses_evs("3,1-5", "has 3 twice");
}

/* what is printed parses again, to the same list */
static void test_evs_round_trip(void **state)
{
	for (int i = 0; i < ROUNDS(20000); i++) {
		uint8_t before[RP_EVS_MAX], after[RP_EVS_MAX];
		char text[RP_EVS_TEXT_LEN];
		int count = 0;

		for (unsigned int ev = 0; ev < RP_EVS_MAX; ev++)
			if (rnd_below(i % 8 + 1))
				before[count++] = ev;
		for (int n = count; i % 2 && n > 1; n--) {
			unsigned int other = rnd_below(n);
			uint8_t ev = before[n - 1];

			before[n - 1] = before[other];
			before[other] = ev;
		}
		if (!count)
			continue;
		rp_evs_print(before, count, text, sizeof(text));
		require(rp_evs_parse(text, after, NULL) == count && !memcmp(before, after, count),
			"%s", text);
	}
}

static int run_nothing(struct rp_cli *cli, const struct rp_args *args)
{
	return 0;
}

static const char *const colours[] = { "red", "green", "blue", NULL };
static const struct rp_keyword keywords[] = {
	{ .name = "count", .type = RP_ARG_NUMBER, .min = 1, .max = 256, .example = "16" },
	{ .name = "timeout", .type = RP_ARG_US, .max = 1000000, .zero = "auto", .example = "3ms" },
	{ .name = "colour", .type = RP_ARG_CHOICE, .choices = colours, .example = "red" },
	{ .name = "mask", .type = RP_ARG_NUMBER, .example = "0x3f00" },
};

static const struct rp_keyword needed[] = {
	{ .name = "dev", .type = RP_ARG_DEVICE, .required = true, .example = "DEV" },
	{ .name = "file", .type = RP_ARG_FILE, .example = "FILE" },
	{ .name = "once", .letter = '1', .type = RP_ARG_FLAG },
	{ .name = "delay", .letter = 'd', .type = RP_ARG_DELAY, .min = 100, .max = 60000,
	  .example = "2" },
	{ .name = "via", .type = RP_ARG_ADDRESS, .zero = "none", .example = "10.0.0.1" },
	{ .name = "evs", .type = RP_ARG_EVS, .zero = "default", .example = "3,7" },
};

static const struct rp_verb verbs[] = {
	{ .name = "show", .subject = RP_ARG_DEVICE, .run = run_nothing },
	{ .name = "set", .subject = RP_ARG_DEVICE, .subject_required = true, .changes = true,
	  .keywords = keywords, .keyword_count = 4, .run = run_nothing },
	{ .name = "settle", .keywords = needed, .keyword_count = ARRAY_SIZE(needed),
	  .run = run_nothing },
	{ .name = "find", .subject = RP_ARG_PEER, .subject_required = true, .keywords = needed + 1,
	  .keyword_count = ARRAY_SIZE(needed) - 1, .run = run_nothing },
};

static const struct rp_verb alone[] = { { .name = "", .run = run_nothing } };

static const struct rp_object objects[] = {
	{ .name = "device", .verbs = verbs, .verb_count = ARRAY_SIZE(verbs) },
	{ .name = "port", .verbs = verbs, .verb_count = 1 },
	{ .name = "peer", .verbs = verbs, .verb_count = 1 },
	{ .name = "monitor", .verbs = alone, .verb_count = 1 },
};

static const struct rp_grammar grammar = { objects, 4 };

/* splits at spaces, into memory of its own */
static int parse(const char *line, struct rp_args *args, struct rp_error *error)
{
	static char copy[256];
	char *words[32];
	int count = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		words[count++] = w;
	return rp_args_parse(&grammar, count, words, args, error);
}

static void accepts(const char *line, struct rp_args *args)
{
	struct rp_error error = { "" };

	require(!parse(line, args, &error), "%s: %s", line, error.text);
}

static void rejects(const char *line, const char *why)
{
	struct rp_error error = { "" };
	struct rp_args args;

	require(parse(line, &args, &error), "'%s' was taken", line);
	require(strstr(error.text, why), "'%s': '%s' lacks '%s'", line, error.text, why);
}

static void test_args_accept(void **state)
{
	struct rp_args args;

	accepts("device", &args);
	assert_ptr_equal(args.verb, &verbs[0]);
	assert_null(args.subject);
	accepts("d sh rp0", &args);
	assert_string_equal(args.subject, "rp0");
	accepts("device show dev rp0", &args);
	assert_string_equal(args.subject, "rp0");
	accepts("dev set rp0 timeout 1.5ms count 256 colour g mask 0xffffffff", &args);
	assert_int_equal(args.count, 4);
	assert_int_equal(rp_args_get(&args, "timeout")->number, 1500);
	assert_int_equal(rp_args_get(&args, "count")->number, 256);
	assert_int_equal(rp_args_get(&args, "colour")->number, 1);
	assert_int_equal(rp_args_get(&args, "mask")->number, 0xffffffff);
	accepts("dev set rp0 timeout auto", &args);
	assert_int_equal(rp_args_get(&args, "timeout")->number, 0);
	assert_null(rp_args_get(&args, "count"));
	accepts("device settle dev rp0 file -", &args);
	assert_string_equal(rp_args_text(&args, "file"), "-");
	accepts("device settle once delay 2.5 dev rp0", &args);
	assert_int_equal(rp_args_get(&args, "once")->number, 1);
	assert_int_equal(rp_args_get(&args, "delay")->number, 2500);
	accepts("device settle -1 --dev rp0 -d 200ms", &args);
	assert_int_equal(rp_args_get(&args, "once")->number, 1);
	assert_int_equal(rp_args_get(&args, "delay")->number, 200);
	accepts("device settle dev rp0 via fd00::1 evs 1-3", &args);
	assert_string_equal(rp_args_text(&args, "via"), "fd00::1");
	accepts("device settle dev rp0 via none evs default", &args);
	accepts("device find 10.0.0.2 --once", &args);
	assert_string_equal(args.subject, "10.0.0.2");
	accepts("monitor", &args);
	assert_ptr_equal(args.verb, &alone[0]);
}

static void test_args_reject(void **state)
{
	rejects("p show", "ambiguous: port, peer");
	rejects("devise", "did you mean device?");
	rejects("zzz", "there are device, port, peer, monitor");
	rejects("device se rp0", "ambiguous: set, settle");
	rejects("device del rp0", "unknown verb 'del'");
	rejects("device set", "needs the name of a device");
	rejects("device set rp0", "nothing to set");
	rejects("device set rp0 count", "count needs a value, such as 16");
	rejects("device set rp0 count 0", "count must be 1 to 256");
	rejects("device set rp0 count 257", "count must be 1 to 256");
	rejects("device set rp0 count 4294967297", "count must be 1 to 256");
	rejects("device set rp0 mask 4294967296", "mask must be");
	rejects("device set rp0 timeout 2s", "timeout must be 0us to 1s");
	rejects("device set rp0 timeout 3", "write 3us, 3ms or 3s, or auto");
	rejects("device set rp0 timeuot 3ms", "did you mean timeout?");
	rejects("device set rp0 time 3ms", "did you mean timeout?");
	rejects("device set rp0 colour pink", "there are red, green, blue");
	rejects("device set rp0 count 1 count 2", "given twice");
	rejects("device set averyveryverylongname count 1", "longer than 15");
	rejects("device settle file x", "settle needs dev");
	rejects("device settle dev rp0 -1 --once", "once is given twice");
	rejects("device settle dev rp0 -d", "delay needs a value, such as 2");
	rejects("device settle dev rp0 -d 0.01", "delay must be 100ms to 60s");
	rejects("device settle dev rp0 -d 2x", "unknown unit");
	rejects("device settle dev rp0 -d 1.2.3", "unknown unit");
	rejects("device settle dev rp0 -x", "unknown keyword '-x'");
	rejects("device settle dev rp0 via 10.0.0", "such as 10.0.0.2 or fd00::2, or none");
	rejects("device settle dev rp0 evs 300", "must be 0 to 255, ranges upwards, or default");
	rejects("device find", "find needs the address of a peer");
	rejects("device find --once", "find needs the address of a peer");
	rejects("device find rp0", "'rp0' is no address");
	rejects("device show rp0 rp1", "one word too many");
	rejects("monitor now", "one word too many");
}

struct words {
	char text[512];
};

static void collect(void *data, enum rp_arg_type type, const char *word)
{
	struct words *words = data;
	size_t len = strlen(words->text);

	snprintf(words->text + len, sizeof(words->text) - len, "%s%s", len ? " " : "",
		 word ? word : type == RP_ARG_FILE ? "<file>" : "<device>");
}

static void completes(const char *line, const char *expected)
{
	struct words words = { "" };
	char copy[256], *typed[32];
	int count = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		typed[count++] = w;
	rp_complete(&grammar, count, typed, collect, &words);
	assert_string_equal(words.text, expected);
}

static void test_complete(void **state)
{
	completes("", "device port peer monitor");
	completes("device", "show set settle find");
	completes("device set", "<device>");
	completes("device set rp0", "count timeout colour mask");
	completes("d set rp0 timeout", "3ms auto");
	completes("device set rp0 colour", "red green blue");
	completes("device set rp0 colour red", "count timeout mask");
	completes("device set rp0 wrong", "");
	completes("device settle dev", "<device>");
	completes("device settle dev rp0 file", "<file>");
	completes("device settle dev rp0 once", "file delay via evs");
	completes("device settle -1 dev rp0", "file delay via evs");
	completes("device settle once -d", "2");
	completes("device settle evs 3 via", "10.0.0.1 none");
	completes("nothing", "");
	completes("monitor", "");
}

static void test_json(void **state)
{
	char *text;
	size_t len;
	struct rp_json json = { open_memstream(&text, &len), false, true, 0 };
	static const char begins[] = "[{\"s\":\"a\\\"\\\\\\u000a\\u0001\\u007f\xc3\xa9\\ufffd";
	static const char ends[] =
		"\\ufffd\\ufffd\\ufffd\",\"n\":9007199254740993,\"z\":null,\"e\":[]},{},false]\n";

	rp_json_open(&json, NULL, '[');
	rp_json_open(&json, NULL, '{');
	rp_json_string(&json, "s", "a\"\\\n\x01\x7f\xc3\xa9\xc0\xed\xa0\x80");
	rp_json_number(&json, "n", (1ull << 53) + 1);
	rp_json_null(&json, "z");
	rp_json_open(&json, "e", '[');
	rp_json_close(&json, ']');
	rp_json_close(&json, '}');
	rp_json_open(&json, NULL, '{');
	rp_json_close(&json, '}');
	rp_json_bool(&json, NULL, false);
	rp_json_close(&json, ']');
	fclose(json.out);
	assert_int_equal(len, strlen(begins) + strlen(ends));
	assert_memory_equal(text, begins, strlen(begins));
	assert_string_equal(text + strlen(begins), ends);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_parse),
		cmocka_unit_test(test_unit_refuse),
		cmocka_unit_test(test_unit_print),
		cmocka_unit_test(test_unit_round_trip),
		cmocka_unit_test(test_unit_garbage),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_hex),
		cmocka_unit_test(test_age_and_address),
		cmocka_unit_test(test_rounded),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_evs),
		cmocka_unit_test(test_evs_round_trip),
		cmocka_unit_test(test_args_accept),
		cmocka_unit_test(test_args_reject),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_json),
	};

	return unit_run(tests);
}
