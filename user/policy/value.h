/* SPDX-License-Identifier: GPL-2.0 */
/* Single values of a spec, as text and in the model. */
#ifndef ROCEPATH_USER_POLICY_VALUE_H
#define ROCEPATH_USER_POLICY_VALUE_H

#include "model.h"

#define RP_VALUE_LEN 256

int rp_value_parse(struct rp_spec *spec, const struct rp_key *key, const char *text,
		   void *field, struct rp_error *error);
void rp_value_print(const struct rp_key *key, const void *field, char *text);
int rp_prefix_parse(const char *text, struct rp_prefix *prefix, struct rp_error *error);
void rp_prefix_print(const struct rp_prefix *prefix, char *text);

#endif /* ROCEPATH_USER_POLICY_VALUE_H */
