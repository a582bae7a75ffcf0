/* SPDX-License-Identifier: GPL-2.0 */
/* The routers that a path of a fabric takes, for people and as JSON. */
#ifndef ROCEPATH_USER_ROUTERS_H
#define ROCEPATH_USER_ROUTERS_H

#include "fabric.h"
#include "json.h"

#define RP_ROUTERS_TEXT_LEN (RP_HOPS_MAX * 46)	/* each an address and a space */

void rp_routers_print(const struct rp_fabric_path *path, char *text);
void rp_routers_json(const struct rp_fabric_path *path, struct rp_json *json);

#endif /* ROCEPATH_USER_ROUTERS_H */
