// SPDX-License-Identifier: GPL-2.0
/*
 * The names that systemd, the container runtimes and Slurm give to cgroups:
 *
 *   /system.slice/vllm@7.service
 *   /system.slice/slurmstepd.scope/job_4711/step_0/user/task_0
 *   /slurm/uid_1000/job_4711/step_batch
 *   /system.slice/docker-0123...cdef.scope
 *   /docker/0123...cdef
 *   /kubepods.slice/kubepods-burstable.slice/.../cri-containerd-0123...cdef.scope
 *   /machine.slice/libpod-0123...cdef.scope/container
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "owner.h"

#define ID_LEN 64	/* hex digits of a container's id */

static bool ends_with(const char *part, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && !memcmp(part + len - n, suffix, n);
}

static void take_unit(const char *part, size_t len, struct rp_owner *owner)
{
	if (ends_with(part, len, ".service") || ends_with(part, len, ".scope"))
		snprintf(owner->unit, sizeof(owner->unit), "%.*s", (int)len, part);
}

static void take_container(const char *part, size_t len, struct rp_owner *owner)
{
	size_t digits = 0;

	for (size_t i = 0; i < len; i++) {
		digits = isxdigit((unsigned char)part[i]) ? digits + 1 : 0;
		if (digits == ID_LEN) {
			snprintf(owner->container, sizeof(owner->container), "%.12s",
				 part + i + 1 - ID_LEN);
			return;
		}
	}
}

static void take_job(const char *part, size_t len, struct rp_owner *owner)
{
	if (len < 5 || len - 4 >= sizeof(owner->job) || memcmp(part, "job_", 4))
		return;
	for (size_t i = 4; i < len; i++)
		if (!isdigit((unsigned char)part[i]))
			return;
	snprintf(owner->job, sizeof(owner->job), "%.*s", (int)len - 4, part + 4);
}

/**
 * rp_owner_find() - tell from the path of a cgroup whose it is
 * @cgroup: its path, from the root of the hierarchy on
 * @owner: what was found; empty texts: it was not
 */
void rp_owner_find(const char *cgroup, struct rp_owner *owner)
{
	memset(owner, 0, sizeof(*owner));
	while (*cgroup) {
		size_t len = strcspn(cgroup, "/");

		take_unit(cgroup, len, owner);
		take_container(cgroup, len, owner);
		take_job(cgroup, len, owner);
		cgroup += len + (cgroup[len] == '/');
	}
}

/**
 * rp_owner_name() - the shortest name that tells
 * @owner: of a cgroup
 * @cgroup: its path
 * @text: RP_OWNER_LEN bytes, may be used or not
 */
const char *rp_owner_name(const struct rp_owner *owner, const char *cgroup, char *text)
{
	if (*owner->job)
		snprintf(text, RP_OWNER_LEN, "job %s", owner->job);
	else if (*owner->container)
		snprintf(text, RP_OWNER_LEN, "container %s", owner->container);
	else if (*owner->unit)
		snprintf(text, RP_OWNER_LEN, "%s", owner->unit);
	else
		return cgroup;
	return text;
}
