/* SPDX-License-Identifier: GPL-2.0 */
/* Quantities as people write them; whatever is printed here parses again. */
#ifndef ROCEPATH_USER_UNITS_H
#define ROCEPATH_USER_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* in what the number is kept */
enum rp_unit {
	RP_UNIT_US,
	RP_UNIT_MS,
	RP_UNIT_BYTES,
	RP_UNIT_RATE,		/* bytes per second, written as bits per second */
};

#define RP_TEXT_LEN 64

int rp_unit_parse(enum rp_unit unit, const char *text, uint64_t *value, struct rp_error *error);
void rp_unit_print(enum rp_unit unit, uint64_t value, char *text);
int rp_number_parse(const char *text, uint64_t *value, struct rp_error *error);
int rp_hex_parse(const char *text, size_t len, uint8_t *bytes, size_t count);
void rp_age_print(uint64_t ms, char *text);
void rp_address_print(const uint8_t *address, char *text);
void rp_fraction_print(uint64_t value, unsigned int digits, char *text);

#endif /* ROCEPATH_USER_UNITS_H */
