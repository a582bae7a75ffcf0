/* SPDX-License-Identifier: GPL-2.0 */
/* Getting the BPF programs into the kernel, and finding those that are there. */
#ifndef ROCEPATH_USER_POLICY_PROGRAMS_H
#define ROCEPATH_USER_POLICY_PROGRAMS_H

#include "pins.h"

enum rp_program {
	RP_PROGRAM_ADMIT,		/* XDP, frames in fragments too */
	RP_PROGRAM_ADMIT_LINEAR,	/* XDP, where the driver knows no fragments */
	RP_PROGRAM_ADMIT_INGRESS,	/* tc, where XDP is not to be had */
	RP_PROGRAM_EGRESS,
	RP_PROGRAM_INGRESS,
	RP_PROGRAM_PORT_EGRESS,
	RP_PROGRAM_LOSE,		/* tc egress, while a qdisc is replaced */
	RP_PROGRAMS,
};

extern const char *const rp_program_names[RP_PROGRAMS];

/* how QPs are watched */
enum rp_census {
	RP_CENSUS_FENTRY,
	RP_CENSUS_KPROBE,
	RP_CENSUS_NONE,
};

extern const char *const rp_census_names[];

/**
 * struct rp_programs - those that policies attach
 * @fd: of each, -1: it is not there
 * @id: of each in the kernel
 */
struct rp_programs {
	int fd[RP_PROGRAMS];
	uint32_t id[RP_PROGRAMS];
};

bool rp_programs_current(struct rp_programs *programs);
int rp_programs_open(struct rp_programs *programs);
void rp_programs_close(struct rp_programs *programs);
int rp_programs_load(struct rp_programs *programs, struct rp_maps *maps, bool fresh,
		     struct rp_error *error);
enum rp_census rp_census_now(void);
bool rp_census_is_missing(void);

#endif /* ROCEPATH_USER_POLICY_PROGRAMS_H */
