/* SPDX-License-Identifier: GPL-2.0 */
/* net/gso.h was split off from linux/netdevice.h in 6.5. */
#ifndef ROCEPATH_COMPAT_GSO_H
#define ROCEPATH_COMPAT_GSO_H

#if __has_include_next(<net/gso.h>)
#include_next <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#endif /* ROCEPATH_COMPAT_GSO_H */
