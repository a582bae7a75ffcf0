// SPDX-License-Identifier: GPL-2.0
/*
 * A quantity is read and printed exactly, in integers: "1.5ms" is 1500 us, and
 * 1500 us is "1.5ms". Where a unit is wanted it must be written: a bare number
 * has cost too many people a factor of a thousand.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define FRACTION_DIGITS 9
#define PPM_PER_PERCENT 10000
#define PERCENT_DIGITS 4

/* where IPv4 is in IPv6 */
static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

struct scale {
	const char *name;
	uint64_t factor;	/* in ns, bytes, bits or millionths */
};

/* from small to large */
static const struct scale times[] = {
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
};

static const struct scale sizes[] = {
	{ "B", 1 },
	{ "KiB", 1 << 10 },
	{ "MiB", 1 << 20 },
	{ "GiB", 1 << 30 },
};

static const struct scale rates[] = {
	{ "bit", 1 },
	{ "Kbit", 1000 },
	{ "Mbit", 1000000 },
	{ "Gbit", 1000000000 },
	{ "Tbit", 1000000000000 },
};

static const struct scale shares[] = {
	{ "%", PPM_PER_PERCENT },
};

static const struct unit {
	const struct scale *scales;
	unsigned int count;
	uint64_t base;		/* one of what is kept, in the scales' measure */
	const char *whole;
} units[] = {
	[RP_UNIT_US] = { times, ARRAY_SIZE(times), 1000, "microseconds" },
	[RP_UNIT_MS] = { times, ARRAY_SIZE(times), 1000000, "milliseconds" },
	[RP_UNIT_BYTES] = { sizes, ARRAY_SIZE(sizes), 1, "bytes" },
	[RP_UNIT_RATE] = { rates, ARRAY_SIZE(rates), 8, "bytes per second" },
	[RP_UNIT_PPM] = { shares, ARRAY_SIZE(shares), 1, "millionths" },
};

/* digits [ '.' digits ]: mantissa / 10^decimals; returns where it ends, or NULL */
static const char *parse_decimal(const char *text, uint64_t *mantissa, unsigned int *decimals)
{
	const char *p = text;
	bool point = false;

	*mantissa = 0;
	*decimals = 0;
	for (; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
		if (*p == '.') {
			if (p == text || !isdigit((unsigned char)p[1]))
				return NULL;
			point = true;
			continue;
		}
		if (point && ++*decimals > FRACTION_DIGITS)
			return NULL;
		if (__builtin_mul_overflow(*mantissa, 10, mantissa) ||
		    __builtin_add_overflow(*mantissa, *p - '0', mantissa))
			return NULL;
	}
	return p == text ? NULL : p;
}

static uint64_t power_of_10(unsigned int n)
{
	uint64_t value = 1;

	while (n--)
		value *= 10;
	return value;
}

static const struct scale *find_scale(const struct unit *unit, const char *name)
{
	for (unsigned int i = 0; i < unit->count; i++)
		if (!strcmp(unit->scales[i].name, name))
			return &unit->scales[i];
	return NULL;
}

/* three are enough to see what is meant; of many the last: nobody means single bits */
static int refuse_scale(const struct unit *unit, const char *text, const char *end,
			struct rp_error *error)
{
	/* the last three: nobody means single bits */
	const struct scale *scales = unit->scales + (unit->count > 4 ? unit->count - 3 : 0);
	unsigned int count = unit->count < 3 ? unit->count : 3;
	char forms[RP_TEXT_LEN * 2] = "";

	for (unsigned int i = 0; i < count; i++)
		snprintf(forms + strlen(forms), sizeof(forms) - strlen(forms), "%s%.*s%s",
			 !i ? "" : i + 1 < count ? ", " : " or ", (int)(end - text), text,
			 scales[i].name);
	if (!*end)
		return rp_error_set(error, "'%s' lacks a unit: write %s", text, forms);
	return rp_error_set(error, "'%s' has an unknown unit: write %s", text, forms);
}

/**
 * rp_unit_parse() - read a quantity with its unit
 * @unit: what @value counts
 * @text: such as "3ms", "1.5s", "4MiB"
 * @value: where the number goes
 * @error: why not, with the right form
 *
 * Return: 0, or -1 when it is no such quantity, has no unit, does not come out
 * even or does not fit.
 */
int rp_unit_parse(enum rp_unit unit, const char *text, uint64_t *value, struct rp_error *error)
{
	const struct unit *u = &units[unit];
	const struct scale *scale;
	unsigned int decimals;
	uint64_t number, divisor;
	const char *end = parse_decimal(text, &number, &decimals);

	if (!end)
		return rp_error_set(error, "'%s' is no quantity: write one such as 3%s", text,
				    u->scales[u->count / 2].name);
	scale = find_scale(u, end);
	if (!scale)
		return refuse_scale(u, text, end, error);
	if (__builtin_mul_overflow(number, scale->factor, &number) ||
	    __builtin_mul_overflow(u->base, power_of_10(decimals), &divisor))
		return rp_error_set(error, "'%s' is too large", text);
	if (number % divisor)
		return rp_error_set(error, "'%s' is not a whole number of %s", text, u->whole);
	*value = number / divisor;
	return 0;
}

static void trim_zeros(char *text)
{
	char *end = text + strlen(text);

	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
}

/**
 * rp_fraction_print() - print a number that has a fixed number of decimals
 * @value: the number times 10^@digits
 * @digits: how many of its digits are decimals, at most 9
 * @text: RP_TEXT_LEN bytes
 */
void rp_fraction_print(uint64_t value, unsigned int digits, char *text)
{
	uint64_t one = power_of_10(digits);

	if (!digits) {
		snprintf(text, RP_TEXT_LEN, "%" PRIu64, value);
		return;
	}
	snprintf(text, RP_TEXT_LEN, "%" PRIu64 ".%0*" PRIu64, value / one, (int)digits,
		 value % one);
	trim_zeros(text);
}

/* three decimals at most, and none lost */
static bool print_scaled(const struct unit *unit, const struct scale *scale, uint64_t value,
			 char *text)
{
	uint64_t ratio = scale->factor / unit->base;
	uint64_t whole, rest;

	if (!ratio || value < ratio)
		return false;
	whole = value / ratio;
	rest = value % ratio * 1000;
	if (rest % ratio || whole > UINT64_MAX / 1000 - 1)
		return false;
	rp_fraction_print(whole * 1000 + rest / ratio, 3, text);
	strcat(text, scale->name);
	return true;
}

/**
 * rp_unit_print() - print a quantity in the largest unit that loses nothing
 * @unit: what @value counts
 * @value: the quantity
 * @text: RP_TEXT_LEN bytes
 */
void rp_unit_print(enum rp_unit unit, uint64_t value, char *text)
{
	const struct unit *u = &units[unit];
	unsigned int i;

	if (unit == RP_UNIT_PPM) {
		rp_fraction_print(value, PERCENT_DIGITS, text);
		strcat(text, "%");
		return;
	}
	for (i = u->count; i--;)
		if (print_scaled(u, &u->scales[i], value, text))
			return;
	for (i = 0; u->scales[i].factor < u->base; i++)
		;
	if (unit == RP_UNIT_RATE) {	/* in the bits that it is written in */
		value *= u->base;
		i = 0;
	}
	snprintf(text, RP_TEXT_LEN, "%" PRIu64 "%s", value, u->scales[i].name);
}

/* 16: it is none */
static unsigned int digit_of(unsigned char c)
{
	if (isdigit(c))
		return c - '0';
	return isxdigit(c) ? (c | 0x20) - 'a' + 10 : 16;
}

/**
 * rp_number_parse() - read a plain number, decimal or with 0x
 * @text: the number
 * @value: where it goes
 * @error: why not
 *
 * Return: 0 or -1.
 */
int rp_number_parse(const char *text, uint64_t *value, struct rp_error *error)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	unsigned int base = hex ? 16 : 10;
	const char *p = hex ? text + 2 : text;

	*value = 0;
	if (!*p)
		return rp_error_set(error, "'%s' is no number", text);
	for (; *p; p++) {
		unsigned int digit = digit_of(*p);

		if (digit >= base)
			return rp_error_set(error, "'%s' is no number", text);
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, digit, value))
			return rp_error_set(error, "'%s' is too large", text);
	}
	return 0;
}

/**
 * rp_hex_parse() - read bytes written as hex digits
 * @text: two digits for each byte, need not end in NUL
 * @len: how many characters
 * @bytes: where the bytes go
 * @count: how many bytes are wanted
 *
 * Return: 0, or -1 when there are more or fewer digits, or something else.
 */
int rp_hex_parse(const char *text, size_t len, uint8_t *bytes, size_t count)
{
	if (len != 2 * count)
		return -1;
	for (size_t i = 0; i < len; i++) {
		unsigned int digit = digit_of(text[i]);

		if (digit > 15)
			return -1;
		bytes[i / 2] = i % 2 ? bytes[i / 2] | digit : digit << 4;
	}
	return 0;
}

/* [first, last] of one entry of a list; returns where it ends, or NULL */
static const char *parse_span(const char *text, unsigned int *first, unsigned int *last)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	*first = *last = strtoul(text, &end, 10);
	if (*end == '-') {
		text = end + 1;
		if (!isdigit((unsigned char)*text))
			return NULL;
		*last = strtoul(text, &end, 10);
	}
	return end;
}

/**
 * rp_evs_parse() - read a list of entropy values
 * @text: such as "3,7,16-31"
 * @evs: RP_EVS_MAX bytes, in the order given
 * @error: why not
 *
 * Return: how many there are, or -1.
 */
int rp_evs_parse(const char *text, uint8_t *evs, struct rp_error *error)
{
	bool seen[RP_EVS_MAX] = { false };
	unsigned int first, last;
	int count = 0;

	for (const char *p = text;; p++) {
		p = parse_span(p, &first, &last);
		if (!p || (*p && *p != ','))
			return rp_error_set(error, "'%s' is no list: write one such as 3,7,16-31",
					    text);
		if (first > last || last >= RP_EVS_MAX)
			return rp_error_set(error, "must be 0 to %d, ranges upwards",
					    RP_EVS_MAX - 1);
		for (; first <= last; first++) {
			if (seen[first])
				return rp_error_set(error, "has %u twice", first);
			seen[first] = true;
			evs[count++] = first;
		}
		if (!*p)
			return count;
	}
}

/**
 * rp_evs_print() - print a list of entropy values, to be parsed again
 * @evs: the list
 * @count: of them
 * @text: where it goes
 * @size: of @text; RP_EVS_TEXT_LEN is always enough
 */
void rp_evs_print(const uint8_t *evs, unsigned int count, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (unsigned int i = 0, last; i < count && len < size; i = last + 1) {
		for (last = i; last + 1 < count && evs[last + 1] == evs[last] + 1; last++)
			;
		len += snprintf(text + len, size - len, "%s%u", i ? "," : "", evs[i]);
		if (last > i && len < size)
			len += snprintf(text + len, size - len, "%c%u", last > i + 1 ? '-' : ',',
					evs[last]);
	}
}

/* three digits, of which some may be decimals */
static void print_rounded(uint64_t value, uint64_t one, const char *prefix, const char *unit,
			  char *text)
{
	unsigned int digits = value >= 100 * one ? 0 : value >= 10 * one ? 1 : 2;
	uint64_t rounded = value / one * power_of_10(digits) +
			   (value % one * power_of_10(digits) + one / 2) / one;

	rp_fraction_print(one == 1 ? value : rounded, one == 1 ? 0 : digits, text);
	snprintf(text + strlen(text), RP_TEXT_LEN - strlen(text), "%s%s", prefix, unit);
}

/**
 * rp_duration_print() - print how long something took, for people: rounded
 * @us: microseconds
 * @text: RP_TEXT_LEN bytes
 */
void rp_duration_print(uint64_t us, char *text)
{
	if (us < 1000)
		print_rounded(us, 1, "us", "", text);
	else if (us < 1000000)
		print_rounded(us, 1000, "ms", "", text);
	else
		print_rounded(us, 1000000, "s", "", text);
}

/**
 * rp_rate_print() - print how many there are in a second, for people: rounded
 * @per_second: so many
 * @unit: of what, may be empty
 * @text: RP_TEXT_LEN bytes
 */
void rp_rate_print(uint64_t per_second, const char *unit, char *text)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };
	unsigned int i = 0;
	uint64_t one = 1;

	for (; i + 1 < ARRAY_SIZE(prefixes) && per_second / 1000 >= one; i++)
		one *= 1000;
	print_rounded(per_second, one, prefixes[i], unit, text);
}

/**
 * rp_age_print() - print how long ago, for people: two units at most
 * @ms: milliseconds
 * @text: RP_TEXT_LEN bytes
 */
void rp_age_print(uint64_t ms, char *text)
{
	uint64_t s = ms / 1000;

	if (s < 10)
		snprintf(text, RP_TEXT_LEN, "%" PRIu64 ".%" PRIu64 "s", s, ms % 1000 / 100);
	else if (s < 60)
		snprintf(text, RP_TEXT_LEN, "%" PRIu64 "s", s);
	else if (s < 3600)
		snprintf(text, RP_TEXT_LEN, "%" PRIu64 "m%" PRIu64 "s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(text, RP_TEXT_LEN, "%" PRIu64 "h%" PRIu64 "m", s / 3600, s / 60 % 60);
	else
		snprintf(text, RP_TEXT_LEN, "%" PRIu64 "d%" PRIu64 "h", s / 86400, s / 3600 % 24);
}

/**
 * rp_address_is_ipv4() - whether a RoCE address is one of IPv4, mapped
 * @address: 16 bytes
 */
bool rp_address_is_ipv4(const uint8_t *address)
{
	return !memcmp(address, mapped, sizeof(mapped));
}

/**
 * rp_address_print() - print a RoCE address
 * @address: 16 bytes; IPv4 is mapped into ::ffff:0:0/96 and printed as IPv4
 * @text: RP_TEXT_LEN bytes
 */
void rp_address_print(const uint8_t *address, char *text)
{
	if (rp_address_is_ipv4(address))
		inet_ntop(AF_INET, address + sizeof(mapped), text, RP_TEXT_LEN);
	else
		inet_ntop(AF_INET6, address, text, RP_TEXT_LEN);
}

/**
 * rp_address_parse() - read a RoCE address
 * @text: IPv4 or IPv6
 * @address: 16 bytes; IPv4 is mapped into ::ffff:0:0/96
 * @error: why not
 *
 * Return: 0 or -1.
 */
int rp_address_parse(const char *text, uint8_t *address, struct rp_error *error)
{
	memcpy(address, mapped, sizeof(mapped));
	if (inet_pton(AF_INET, text, address + sizeof(mapped)) == 1 ||
	    inet_pton(AF_INET6, text, address) == 1)
		return 0;
	return rp_error_set(error, "'%s' is no address: write one such as 10.0.0.2 or fd00::2",
			    text);
}
