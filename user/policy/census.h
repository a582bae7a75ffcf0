/* SPDX-License-Identifier: GPL-2.0 */
/* QPs that were there before the programs that watch them. */
#ifndef ROCEPATH_USER_POLICY_CENSUS_H
#define ROCEPATH_USER_POLICY_CENSUS_H

#include "pins.h"

int rp_census_read(const struct rp_maps *maps);

#endif /* ROCEPATH_USER_POLICY_CENSUS_H */
