// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "../units.h"
#include "value.h"

#define MAPPED_BITS 96	/* of ::ffff:0:0/96, where IPv4 is */

static int parse_name(const struct rp_key *key, const char *text, struct rp_error *error)
{
	size_t len = strlen(text);

	if (!len || len > key->max)
		return rp_error_set(error, "%s '%s' must have 1 to %u characters", key->name, text,
				    (unsigned int)key->max);
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
			return rp_error_set(error,
					    "%s '%s' may only have letters a to z, digits, '-', '_' and '.'",
					    key->name, text);
	return 0;
}

static int parse_text(const struct rp_key *key, const char *text, struct rp_error *error)
{
	if (!*text)
		return rp_error_set(error, "%s is empty: write one such as %s", key->name,
				    key->example);
	if (strlen(text) > key->max)
		return rp_error_set(error, "%s is longer than %u bytes", key->name,
				    (unsigned int)key->max);
	for (const char *p = text; *p; p++)
		if (iscntrl((unsigned char)*p) ||
		    (key->kind == RP_KIND_INTERFACE && (isspace((unsigned char)*p) || *p == '/')))
			return rp_error_set(error, "%s has a character that no such name has",
					    key->name);
	return 0;
}

static enum rp_unit unit_of(const struct rp_key *key)
{
	return key->kind == RP_KIND_US ? RP_UNIT_US : key->kind == RP_KIND_MS ? RP_UNIT_MS :
	       key->kind == RP_KIND_RATE ? RP_UNIT_RATE :
	       key->kind == RP_KIND_PPM ? RP_UNIT_PPM : RP_UNIT_BYTES;
}

static bool has_unit(const struct rp_key *key)
{
	return key->kind == RP_KIND_US || key->kind == RP_KIND_MS || key->kind == RP_KIND_BYTES ||
	       key->kind == RP_KIND_RATE || key->kind == RP_KIND_PPM;
}

static int check_range(const struct rp_key *key, uint64_t number, struct rp_error *error)
{
	char least[RP_TEXT_LEN], most[RP_TEXT_LEN];

	if (number >= key->min && number <= key->max)
		return 0;
	if (!has_unit(key))
		return rp_error_set(error, "%s must be %" PRIu64 " to %" PRIu64, key->name,
				    key->min, key->max);
	rp_unit_print(unit_of(key), key->min, least);
	rp_unit_print(unit_of(key), key->max, most);
	return rp_error_set(error, "%s must be %s to %s", key->name, least, most);
}

/* a ToS byte where a DSCP belongs is the usual mistake */
static int parse_dscp(const struct rp_key *key, const char *text, uint64_t *number,
		      struct rp_error *error)
{
	struct rp_error why;

	if (rp_number_parse(text, number, &why))
		return rp_error_set(error, "%s %s: write a DSCP, 0 to 63", key->name, why.text);
	if (*number <= 63)
		return 0;
	if (*number > 255)
		return rp_error_set(error, "%s must be 0 to 63", key->name);
	if (*number & 3)
		return rp_error_set(error,
				    "%s must be 0 to 63; %s is the ToS byte of DSCP %u with ECN %u: write %u",
				    key->name, text, (unsigned int)*number >> 2,
				    (unsigned int)*number & 3, (unsigned int)*number >> 2);
	return rp_error_set(error, "%s must be 0 to 63; %s is the ToS byte of DSCP %u: write %u",
			    key->name, text, (unsigned int)*number >> 2,
			    (unsigned int)*number >> 2);
}

static int parse_quantity(const struct rp_key *key, const char *text, uint64_t *number,
			  struct rp_error *error)
{
	struct rp_error why;
	int err;

	if (key->zero && !strcmp(text, key->zero)) {
		*number = 0;
		return 0;
	}
	if (has_unit(key))
		err = rp_unit_parse(unit_of(key), text, number, &why);
	else
		err = rp_number_parse(text, number, &why);
	if (err)
		return rp_error_set(error, "%s %s%s%s", key->name, why.text,
				    key->zero ? ", or " : "", key->zero ? key->zero : "");
	return check_range(key, *number, error);
}

static int parse_switch(const struct rp_key *key, const char *text, uint64_t *number,
			struct rp_error *error)
{
	static const char *const words[] = { "off", "on", "no", "yes", "false", "true" };

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(text, words[i])) {
			*number = i % 2;
			return 0;
		}
	return rp_error_set(error, "%s is '%s': write on or off", key->name, text);
}

static int parse_choice(const struct rp_key *key, const char *text, uint64_t *number,
			struct rp_error *error)
{
	struct rp_words words = rp_key_choices(key);
	int found = rp_words_exact(&words, text);
	struct rp_error why;

	if (found < 0) {
		rp_words_unknown(&words, "word", text, &why);
		return rp_error_set(error, "%s: %s", key->name, why.text);
	}
	if (key->kind == RP_KIND_CHOICES)
		*number |= 1ull << found;
	else
		*number = found;
	return 0;
}

static int parse_length(const char *text, unsigned int max, unsigned int *length)
{
	uint64_t number;

	if (rp_number_parse(text, &number, NULL) || number > max)
		return -1;
	*length = number;
	return 0;
}

static bool has_host_bits(const struct rp_prefix *prefix)
{
	for (unsigned int bit = prefix->length; bit < 128; bit++)
		if (prefix->address[bit / 8] & (0x80 >> bit % 8))
			return true;
	return false;
}

static void clear_host_bits(struct rp_prefix *prefix)
{
	for (unsigned int bit = prefix->length; bit < 128; bit++)
		prefix->address[bit / 8] &= ~(0x80 >> bit % 8);
}

/**
 * rp_prefix_parse() - read an address with the length of its prefix
 * @text: such as "10.0.0.0/8", "fd00::1"
 * @prefix: where it goes
 * @error: why not, with the right form
 *
 * Return: 0 or -1.
 */
int rp_prefix_parse(const char *text, struct rp_prefix *prefix, struct rp_error *error)
{
	char address[INET6_ADDRSTRLEN], right[RP_TEXT_LEN];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	unsigned int bits = 128, length;

	memset(prefix, 0, sizeof(*prefix));
	if (len < sizeof(address)) {
		memcpy(address, text, len);
		address[len] = '\0';
		if (inet_pton(AF_INET, address, prefix->address + 12) == 1) {
			memset(prefix->address + 10, 0xff, 2);
			bits = 32;
		} else if (inet_pton(AF_INET6, address, prefix->address) != 1) {
			bits = 0;
		}
	}
	length = bits;
	if (len >= sizeof(address) || !bits)
		return rp_error_set(error,
				    "'%s' is no address: write one such as 10.0.0.0/16 or fd00::/64",
				    text);
	if (slash && parse_length(slash + 1, bits, &length))
		return rp_error_set(error, "the prefix of '%s' must be 0 to %u bits long", text,
				    bits);
	prefix->length = length + (bits == 32 ? MAPPED_BITS : 0);
	if (!has_host_bits(prefix))
		return 0;
	clear_host_bits(prefix);
	rp_prefix_print(prefix, right);
	return rp_error_set(error, "'%s' has bits behind its prefix: write %s", text, right);
}

/**
 * rp_prefix_print() - print a prefix
 * @prefix: the prefix
 * @text: RP_TEXT_LEN bytes
 */
void rp_prefix_print(const struct rp_prefix *prefix, char *text)
{
	bool ipv4 = prefix->length >= MAPPED_BITS &&
		    !memcmp(prefix->address, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	size_t len;

	rp_address_print(prefix->address, text);
	len = strlen(text);
	snprintf(text + len, RP_TEXT_LEN - len, "/%u", prefix->length - (ipv4 ? MAPPED_BITS : 0));
}

/**
 * rp_value_parse() - read a value
 * @spec: whose it is
 * @key: what it is
 * @text: as it stands in the file
 * @field: where it goes
 * @error: why not, and what would be right
 *
 * Return: 0 or -1.
 */
int rp_value_parse(struct rp_spec *spec, const struct rp_key *key, const char *text,
		   void *field, struct rp_error *error)
{
	switch (key->kind) {
	case RP_KIND_NAME:
	case RP_KIND_INTERFACE:
	case RP_KIND_TEXT:
		if (key->kind == RP_KIND_NAME ? parse_name(key, text, error) :
		    parse_text(key, text, error))
			return -1;
		*(char **)field = rp_spec_text(spec, text);
		return 0;
	case RP_KIND_DSCP:
		return parse_dscp(key, text, field, error);
	case RP_KIND_SWITCH:
		return parse_switch(key, text, field, error);
	case RP_KIND_CHOICE:
	case RP_KIND_CHOICES:
		return parse_choice(key, text, field, error);
	case RP_KIND_PREFIX:
		return rp_prefix_parse(text, field, error);
	default:
		return parse_quantity(key, text, field, error);
	}
}

static void print_choices(const struct rp_key *key, uint64_t bits, char *text)
{
	size_t len = 1;

	strcpy(text, "[");
	for (unsigned int i = 0; key->choices[i]; i++)
		if (bits >> i & 1)
			len += snprintf(text + len, RP_VALUE_LEN - len, "%s%s", len > 1 ? ", " : "",
					key->choices[i]);
	snprintf(text + len, RP_VALUE_LEN - len, "]");
}

/* plain where YAML reads it back as the same text */
static void print_text(const char *value, char *text)
{
	bool plain = isalnum((unsigned char)*value) || *value == '/';
	size_t len = 0;

	for (const char *p = value; *p; p++)
		plain = plain && (isalnum((unsigned char)*p) || strchr("-_./@+", *p));
	if (plain) {
		snprintf(text, RP_VALUE_LEN, "%s", value);
		return;
	}
	text[len++] = '\'';
	for (const char *p = value; *p && len < RP_VALUE_LEN - 3; p++) {
		if (*p == '\'')
			text[len++] = '\'';
		text[len++] = *p;
	}
	text[len++] = '\'';
	text[len] = '\0';
}

/**
 * rp_value_print() - print a value as it would be written in a file
 * @key: what it is
 * @field: the value
 * @text: RP_VALUE_LEN bytes
 */
void rp_value_print(const struct rp_key *key, const void *field, char *text)
{
	uint64_t number = 0;

	if (key->kind == RP_KIND_PREFIX) {
		rp_prefix_print(field, text);
		return;
	}
	if (key->kind == RP_KIND_NAME || key->kind == RP_KIND_INTERFACE ||
	    key->kind == RP_KIND_TEXT) {
		print_text(*(char *const *)field, text);
		return;
	}
	memcpy(&number, field, sizeof(number));
	if (!number && key->zero)
		strcpy(text, key->zero);
	else if (key->kind == RP_KIND_SWITCH)
		strcpy(text, number ? "on" : "off");
	else if (key->kind == RP_KIND_CHOICE)
		strcpy(text, key->choices[number]);
	else if (key->kind == RP_KIND_CHOICES)
		print_choices(key, number, text);
	else if (has_unit(key))
		rp_unit_print(unit_of(key), number, text);
	else if (!strcmp(key->name, "mark-mask"))
		sprintf(text, "0x%" PRIx64, number);
	else
		sprintf(text, "%" PRIu64, number);
}
