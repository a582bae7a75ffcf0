/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_USER_KEY_H
#define ROCEPATH_USER_KEY_H

#include <stdint.h>

int rp_secret_read(const char *path, uint8_t *secret);

#endif /* ROCEPATH_USER_KEY_H */
