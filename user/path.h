/* SPDX-License-Identifier: GPL-2.0 */
/* Which entropy values are used towards a peer. */
#ifndef ROCEPATH_USER_PATH_H
#define ROCEPATH_USER_PATH_H

#include <stdint.h>

struct rp_nl;

void rp_path_request(struct rp_nl *nl, uint32_t device, const uint8_t *peer, uint32_t port,
		     const uint8_t *evs, unsigned int count);

#endif /* ROCEPATH_USER_PATH_H */
