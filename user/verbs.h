/* SPDX-License-Identifier: GPL-2.0 */
/* What only verbs know of a port. */
#ifndef ROCEPATH_USER_VERBS_H
#define ROCEPATH_USER_VERBS_H

#include <stdint.h>

int rp_verbs_mtu(const char *device, uint32_t port, uint32_t *active);

#endif /* ROCEPATH_USER_VERBS_H */
