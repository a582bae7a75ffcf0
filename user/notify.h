/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_USER_NOTIFY_H
#define ROCEPATH_USER_NOTIFY_H

void rp_notify(const char *state);

#endif /* ROCEPATH_USER_NOTIFY_H */
