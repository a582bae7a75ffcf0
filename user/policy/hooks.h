/* SPDX-License-Identifier: GPL-2.0 */
/* Where the programs are attached. */
#ifndef ROCEPATH_USER_POLICY_HOOKS_H
#define ROCEPATH_USER_POLICY_HOOKS_H

#include "../rtnl.h"
#include "model.h"
#include "programs.h"

/* what a netdevice is for */
#define RP_ROLE_TRAFFIC	0x1	/* RoCE is sent and received on it: egress and ingress */
#define RP_ROLE_PORT	0x2	/* the wire is behind it: admit, and fq */
#define RP_ROLE_GUARD	0x4	/* a port of a device: nobody may send past the device */

struct rp_hook {
	int ifindex;
	char name[IF_NAMESIZE];
	unsigned int roles;
};

/**
 * struct rp_hooks - netdevices and their roles
 * @at: each netdevice once
 * @count: of them
 * @missing: names in the policy that no netdevice has
 * @missing_count: of them
 * @ports: names of those that a pattern matches and that are ports of a device: that has the policy
 * @port_count: of them
 */
struct rp_hooks {
	struct rp_hook *at;
	unsigned int count;
	const char **missing;
	unsigned int missing_count;
	const char **ports;
	unsigned int port_count;
};

void rp_hooks_find(const struct rp_spec *spec, const struct rp_links *links,
		   struct rp_hooks *hooks);
unsigned int rp_hooks_roles(const struct rp_hooks *hooks, int ifindex);
void rp_hooks_drop(struct rp_hooks *hooks);

int rp_port_state(const struct rp_maps *maps, uint32_t ifindex, struct rp_port_state *state);
int rp_port_remember(const struct rp_maps *maps, uint32_t ifindex,
		     const struct rp_port_state *state, struct rp_error *error);

int rp_hook_attach(struct rp_rtnl *rtnl, const struct rp_qdiscs *qdiscs,
		   const struct rp_hook *hook, const struct rp_programs *programs,
		   const struct rp_maps *maps, struct rp_error *error);
const char *rp_hook_lacks(struct rp_rtnl *rtnl, const struct rp_hook *hook);
void rp_hook_detach(struct rp_rtnl *rtnl, uint32_t ifindex, const struct rp_maps *maps,
		    unsigned int roles);

int rp_pace(struct rp_rtnl *rtnl, const struct rp_qdiscs *qdiscs, const struct rp_hook *hook,
	    const struct rp_programs *programs, const struct rp_maps *maps, uint64_t horizon_us,
	    struct rp_error *error);
void rp_unpace(struct rp_rtnl *rtnl, uint32_t ifindex, const struct rp_programs *programs,
	       const struct rp_maps *maps);

#endif /* ROCEPATH_USER_POLICY_HOOKS_H */
