/* SPDX-License-Identifier: GPL-2.0 */
/* Quantities as people write them; whatever is printed here parses again. */
#ifndef ROCEPATH_USER_UNITS_H
#define ROCEPATH_USER_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* in what the number is kept */
enum rp_unit {
	RP_UNIT_US,
	RP_UNIT_MS,
	RP_UNIT_BYTES,
	RP_UNIT_RATE,		/* bytes per second, written as bits per second */
	RP_UNIT_PPM,		/* written in percent */
};

#define RP_TEXT_LEN 64
#define RP_ADDRESS_LEN 16
#define RP_ADDRESS4_LEN 4
#define RP_EVS_MAX 256
#define RP_EVS_TEXT_LEN (4 * RP_EVS_MAX)

int rp_unit_parse(enum rp_unit unit, const char *text, uint64_t *value, struct rp_error *error);
void rp_unit_print(enum rp_unit unit, uint64_t value, char *text);
int rp_number_parse(const char *text, uint64_t *value, struct rp_error *error);
int rp_hex_parse(const char *text, size_t len, uint8_t *bytes, size_t count);
int rp_address_parse(const char *text, uint8_t *address, struct rp_error *error);
int rp_evs_parse(const char *text, uint8_t *evs, struct rp_error *error);
void rp_evs_print(const uint8_t *evs, unsigned int count, char *text, size_t size);
void rp_age_print(uint64_t ms, char *text);
void rp_duration_print(uint64_t us, char *text);
void rp_rate_print(uint64_t per_second, const char *unit, char *text);
bool rp_address_is_ipv4(const uint8_t *address);
void rp_address_print(const uint8_t *address, char *text);
void rp_fraction_print(uint64_t value, unsigned int digits, char *text);

#endif /* ROCEPATH_USER_UNITS_H */
