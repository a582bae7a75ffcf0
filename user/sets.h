/* SPDX-License-Identifier: GPL-2.0 */
/* How the tables of attribute sets are written. */
#ifndef ROCEPATH_USER_SETS_H
#define ROCEPATH_USER_SETS_H

#include "attrs.h"

#define NAMES(n) .names = n, .name_count = sizeof(n) / sizeof((n)[0])
#define SHOWN(k, h) .key = k, .head = h
#define NUMBER(a, w, f, k, h) \
	{ .attr = a, .wire = MNL_TYPE_##w, .form = RP_FORM_##f, SHOWN(k, h) }
#define NAMED(a, n, k, h) \
	{ .attr = a, .wire = MNL_TYPE_U32, .form = RP_FORM_ENUM, SHOWN(k, h), NAMES(n) }
#define STRING(a, k, h) { .attr = a, .wire = MNL_TYPE_NUL_STRING, SHOWN(k, h) }
#define ADDRESS(a, n, k, h) { .attr = a, .wire = MNL_TYPE_BINARY, .len = n, SHOWN(k, h) }
#define RATIO(a, w, f, o, k, h) \
	{ .attr = a, .wire = MNL_TYPE_##w, .form = RP_FORM_##f, .of = o, SHOWN(k, h) }
#define NESTED(a, s, k, h) \
	{ .attr = a, .wire = MNL_TYPE_NESTED, SHOWN(k, h), .nested = &(s) }
#define STATS(a) { .attr = a, .wire = MNL_TYPE_NESTED, .form = RP_FORM_STATS, .key = "stats" }

#endif /* ROCEPATH_USER_SETS_H */
