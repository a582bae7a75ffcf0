/* SPDX-License-Identifier: GPL-2.0 */
/* Where policies come from. */
#ifndef ROCEPATH_USER_POLICY_LOAD_H
#define ROCEPATH_USER_POLICY_LOAD_H

#include "model.h"

#define RP_SPEC_FILE "/etc/rocepath/rocepath.yaml"
#define RP_SPEC_DIR "/etc/rocepath/conf.d"

struct rp_spec *rp_spec_load(const char *path);
struct rp_spec *rp_spec_load_json(const char *path, struct rp_json *json);
struct rp_spec *rp_spec_parse(const char *name, const char *text, size_t len);

#endif /* ROCEPATH_USER_POLICY_LOAD_H */
