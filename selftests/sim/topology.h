/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fat trees of two tiers (leaf and spine) or three, as htsim's .topo files describe them:
 *
 *   Nodes 1024            hosts
 *   Tiers 3
 *   Podsize 64            hosts of a pod; of a leaf-spine fabric, all
 *   Tier 0                then for each tier, from the leaves up:
 *   Downlink_speed_Gbps 100
 *   Radix_Down 8
 *   Radix_Up 8            not for the highest one
 *   Downlink_Latency_ns 1000
 *   Switch_Latency_ns 0
 *
 * Oversubscribed and Bundle may be there, too; what they say must follow from the radices.
 *
 *   spine or core    tier 2          level 2 links, up and down
 *   aggregation      tier 1          level 1 links
 *   leaf             tier 0          level 0 links
 *   hosts
 *
 * Leaf port u goes to aggregation switch u of the pod, and its port v to core u * radix + v.
 */
#ifndef ROCEPATH_SIM_TOPOLOGY_H
#define ROCEPATH_SIM_TOPOLOGY_H

#include <rocepath/types.h>

#define TOPOLOGY_TIERS_MAX 3
#define TOPOLOGY_HOPS_MAX (2 * TOPOLOGY_TIERS_MAX)

struct text;

/**
 * struct topology_tier - switches of one tier, and the links below them
 * @gbps: of a link
 * @radix_down: links of a switch
 * @radix_up: links of a switch
 * @latency_ns: of a link
 * @switch_ns: of a switch
 * @first: number of the first of these links, upwards
 * @links: of them, upwards; as many go down
 */
struct topology_tier {
	u32 gbps;
	u32 radix_down;
	u32 radix_up;
	u32 latency_ns;
	u32 switch_ns;
	u32 first;
	u32 links;
};

/**
 * struct topology - the fabric
 * @hosts: of it
 * @tiers: 2 or 3
 * @podsize: hosts of a pod
 * @tier: from the leaves up
 * @links: upwards; the link down beside number i has number @links + i
 */
struct topology {
	u32 hosts;
	u32 tiers;
	u32 podsize;
	struct topology_tier tier[TOPOLOGY_TIERS_MAX];
	u32 links;
};

/** topology_read() - from a text. Return: false if it is none, with @t->error. */
bool topology_read(struct topology *top, struct text *t);

/**
 * topology_make() - a fabric in which all hosts can send at full rate
 * @top: filled in
 * @tiers: 2 or 3
 * @hosts: a power of two, 32 at least
 * @gbps: of each link
 */
void topology_make(struct topology *top, u32 tiers, u32 hosts, u32 gbps);

/** topology_write() - as a text that topology_read() reads. */
void topology_write(const struct topology *top, const char *file);

/** topology_choices() - equal paths from host to host. */
u32 topology_choices(const struct topology *top, u32 from, u32 to);

/**
 * topology_route() - links that lead from host to host
 * @top: the fabric
 * @from: a host
 * @to: another one
 * @choice: which of the equal paths, less than topology_choices()
 * @link: filled in, TOPOLOGY_HOPS_MAX at most
 *
 * Return: how many.
 */
u32 topology_route(const struct topology *top, u32 from, u32 to, u32 choice, u32 *link);

/** topology_level() - of a link: 0 between hosts and leaves. */
u32 topology_level(const struct topology *top, u32 link);

#endif /* ROCEPATH_SIM_TOPOLOGY_H */
