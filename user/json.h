/* SPDX-License-Identifier: GPL-2.0 */
/* Writing JSON: numbers are numbers, strings are always valid UTF-8. */
#ifndef ROCEPATH_USER_JSON_H
#define ROCEPATH_USER_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* keys may be NULL, in arrays and at the top */
struct rp_json {
	FILE *out;
	bool pretty;
	bool empty;		/* nothing yet in the object or array that is open */
	unsigned int depth;
};

void rp_json_open(struct rp_json *json, const char *key, char bracket);
void rp_json_close(struct rp_json *json, char bracket);
void rp_json_string(struct rp_json *json, const char *key, const char *value);
void rp_json_number(struct rp_json *json, const char *key, uint64_t value);
void rp_json_bool(struct rp_json *json, const char *key, bool value);
void rp_json_null(struct rp_json *json, const char *key);

#endif /* ROCEPATH_USER_JSON_H */
