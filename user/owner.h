/* SPDX-License-Identifier: GPL-2.0 */
/* Whose a cgroup is. */
#ifndef ROCEPATH_USER_OWNER_H
#define ROCEPATH_USER_OWNER_H

#include <stdint.h>

#define RP_OWNER_LEN 256	/* of a part of a path, at most */

/**
 * struct rp_owner - what the path of a cgroup tells
 * @unit: of systemd: a service or scope
 * @container: the beginning of its id, as `docker ps` and `crictl ps` print it
 * @job: of Slurm: its number
 */
struct rp_owner {
	char unit[RP_OWNER_LEN];
	char container[13];
	char job[24];
};

void rp_owner_find(const char *cgroup, struct rp_owner *owner);
const char *rp_owner_name(const struct rp_owner *owner, const char *cgroup, char *text);

#endif /* ROCEPATH_USER_OWNER_H */
