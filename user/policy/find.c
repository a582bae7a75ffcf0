// SPDX-License-Identifier: GPL-2.0
/*
 * Which netdevices a policy is about. RoCE is sent on the one that has the address:
 * a device, a bond, a VLAN, or a plain netdevice. The wire is behind those at the
 * bottom: only they have a queue to pace in, and XDP.
 *
 *   bond.7          TRAFFIC          rp0             TRAFFIC
 *     bond                             eth0  eth1    PORT GUARD
 *       eth0 eth1   PORT             eth2            TRAFFIC PORT
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"

#define DEPTH_MAX 8	/* as the kernel's own */

static void *grow(void *at, unsigned int count, size_t size)
{
	void *grown = reallocarray(at, count + 1, size);

	if (grown)
		return grown;
	rp_complain("out of memory");
	exit(RP_EXIT_FAILURE);
}

static void add(struct rp_hooks *hooks, const struct rp_link_info *link, unsigned int roles)
{
	for (unsigned int i = 0; i < hooks->count; i++)
		if (hooks->at[i].ifindex == link->ifindex) {
			hooks->at[i].roles |= roles;
			return;
		}
	hooks->at = grow(hooks->at, hooks->count, sizeof(*hooks->at));
	hooks->at[hooks->count] = (struct rp_hook){ .ifindex = link->ifindex, .roles = roles };
	memcpy(hooks->at[hooks->count++].name, link->name, sizeof(link->name));
}

static void add_missing(struct rp_hooks *hooks, const char *name)
{
	hooks->missing = grow(hooks->missing, hooks->missing_count, sizeof(*hooks->missing));
	hooks->missing[hooks->missing_count++] = name;
}

static bool stands_on_others(const struct rp_link_info *link)
{
	static const char *const kinds[] = { "rocepath", "bond", "team", "bridge" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(link->kind, kinds[i]))
			return true;
	return link->lower;
}

static void add_below(struct rp_hooks *hooks, const struct rp_links *links,
		      const struct rp_link_info *top, unsigned int depth)
{
	bool is_device = !strcmp(top->kind, "rocepath");

	if (!stands_on_others(top)) {
		add(hooks, top, RP_ROLE_PORT);
		return;
	}
	for (unsigned int i = 0; depth < DEPTH_MAX && i < links->count; i++) {
		const struct rp_link_info *link = &links->at[i];

		if (link == top || (link->master != top->ifindex && link->ifindex != top->lower))
			continue;
		if (is_device)
			add(hooks, link, RP_ROLE_GUARD);
		add_below(hooks, links, link, depth + 1);
	}
}

static void add_top(struct rp_hooks *hooks, const struct rp_links *links,
		    const struct rp_link_info *link)
{
	add(hooks, link, RP_ROLE_TRAFFIC);
	add_below(hooks, links, link, 0);
}

static void add_port(struct rp_hooks *hooks, const char *name)
{
	for (unsigned int i = 0; i < hooks->port_count; i++)
		if (!strcmp(hooks->ports[i], name))
			return;
	hooks->ports = grow(hooks->ports, hooks->port_count, sizeof(*hooks->ports));
	hooks->ports[hooks->port_count++] = name;
}

/* or it will be one in a moment */
static bool is_port(const struct rp_spec *spec, const struct rp_links *links,
		    const struct rp_link_info *link)
{
	const struct rp_link_info *master = rp_links_index(links, link->master);

	if (link->master && master && !strcmp(master->kind, "rocepath"))
		return true;
	for (unsigned int i = 0; i < spec->devices.count; i++) {
		const struct rp_spec_device *device = rp_spec_device_at(spec, i);
		const struct rp_spec_port *ports = device->ports.items;

		for (unsigned int k = 0; k < device->ports.count; k++)
			if (!strcmp(ports[k].name, link->name))
				return true;
	}
	return false;
}

/* on a port of a device packets would be classified, and paced, a second time */
static void add_matching(struct rp_hooks *hooks, const struct rp_spec *spec,
			 const struct rp_links *links, const char *pattern)
{
	bool found = false;

	for (unsigned int i = 0; i < links->count; i++) {
		const struct rp_link_info *link = &links->at[i];

		if (!link->ethernet || fnmatch(pattern, link->name, 0))
			continue;
		found = true;
		if (is_port(spec, links, link))
			add_port(hooks, link->name);
		else
			add_top(hooks, links, link);
	}
	if (!found)
		add_missing(hooks, pattern);
}

static void add_device(struct rp_hooks *hooks, const struct rp_links *links,
		       const struct rp_spec_device *device)
{
	const struct rp_link_info *link = rp_links_name(links, device->name);
	const struct rp_spec_port *ports = device->ports.items;

	if (link)
		add_top(hooks, links, link);
	else
		add_missing(hooks, device->name);
	for (unsigned int i = 0; i < device->ports.count; i++)
		if (!rp_links_name(links, ports[i].name))
			add_missing(hooks, ports[i].name);
}

/**
 * rp_hooks_find() - find the netdevices of a policy
 * @spec: the policy
 * @links: all netdevices
 * @hooks: where they go; names in it belong to @spec and @links
 */
void rp_hooks_find(const struct rp_spec *spec, const struct rp_links *links,
		   struct rp_hooks *hooks)
{
	char *const *interfaces = spec->interfaces.items;

	*hooks = (struct rp_hooks){ 0 };
	for (unsigned int i = 0; i < spec->devices.count; i++)
		add_device(hooks, links, rp_spec_device_at(spec, i));
	for (unsigned int i = 0; i < spec->interfaces.count; i++)
		add_matching(hooks, spec, links, interfaces[i]);
}

/**
 * rp_hooks_roles() - what a netdevice is for
 * @hooks: those of the policy
 * @ifindex: the netdevice
 *
 * Return: 0 when the policy is not about it.
 */
unsigned int rp_hooks_roles(const struct rp_hooks *hooks, int ifindex)
{
	for (unsigned int i = 0; i < hooks->count; i++)
		if (hooks->at[i].ifindex == ifindex)
			return hooks->at[i].roles;
	return 0;
}

/**
 * rp_hooks_drop() - free what rp_hooks_find() found
 * @hooks: the netdevices
 */
void rp_hooks_drop(struct rp_hooks *hooks)
{
	free(hooks->at);
	free(hooks->missing);
	free(hooks->ports);
	*hooks = (struct rp_hooks){ 0 };
}
