/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_COMPAT_GENETLINK_H
#define ROCEPATH_COMPAT_GENETLINK_H

#include <net/genetlink.h>

/* the attributes of a dump request; genl_info_dump() came with 6.7 */
static inline struct nlattr **rp_genl_dump_attrs(struct netlink_callback *cb)
{
#ifdef RP_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif /* ROCEPATH_COMPAT_GENETLINK_H */
