/* SPDX-License-Identifier: GPL-2.0 */
/* A fabric as a graph for dot(1). */
#ifndef ROCEPATH_USER_GRAPH_H
#define ROCEPATH_USER_GRAPH_H

#include <stdio.h>

struct rp_fabric;

int rp_graph_print(const struct rp_fabric *fabric, const char *device, const char *peer,
		   const char *const *ports, FILE *out);

#endif /* ROCEPATH_USER_GRAPH_H */
