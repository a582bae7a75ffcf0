// SPDX-License-Identifier: GPL-2.0
/*
 * What is there already is left as it is, so that applying a policy again does not
 * disturb anybody. A device that a policy no longer names stays: QPs may be on it.
 */
#include <errno.h>
#include <string.h>

#include "../attrs.h"
#include "../key.h"
#include "../path.h"
#include "../units.h"
#include "devices.h"
#include "seen.h"

/* of each key of a device that is a setting */
static const uint16_t settings[RP_KEY_DEVICE_KEYS] = {
	[RP_KEY_DEVICE_SCHEDULER] = ROCEPATH_A_DEVICE_SCHEDULER,
	[RP_KEY_DEVICE_ENTROPY] = ROCEPATH_A_DEVICE_ENTROPY,
	[RP_KEY_DEVICE_EVS] = ROCEPATH_A_DEVICE_EVS,
	[RP_KEY_DEVICE_GAP_TIMEOUT] = ROCEPATH_A_DEVICE_GAP_TIMEOUT_US,
	[RP_KEY_DEVICE_GAP_FLOOR] = ROCEPATH_A_DEVICE_GAP_FLOOR_US,
	[RP_KEY_DEVICE_GAP_CEILING] = ROCEPATH_A_DEVICE_GAP_CEILING_US,
	[RP_KEY_DEVICE_REORDER_DEPTH] = ROCEPATH_A_DEVICE_REORDER_DEPTH,
	[RP_KEY_DEVICE_REORDER_FLOW_BYTES] = ROCEPATH_A_DEVICE_REORDER_FLOW_BYTES,
	[RP_KEY_DEVICE_REORDER_BYTES] = ROCEPATH_A_DEVICE_REORDER_BYTES,
	[RP_KEY_DEVICE_PEERS_MAX] = ROCEPATH_A_DEVICE_PEERS_MAX,
	[RP_KEY_DEVICE_HELLO_INTERVAL] = ROCEPATH_A_DEVICE_HELLO_INTERVAL_MS,
	[RP_KEY_DEVICE_HOLDDOWN] = ROCEPATH_A_DEVICE_HOLDDOWN_MS,
	[RP_KEY_DEVICE_HOLDDOWN_MAX] = ROCEPATH_A_DEVICE_HOLDDOWN_MAX_MS,
	[RP_KEY_DEVICE_MARK_MASK] = ROCEPATH_A_DEVICE_MARK_MASK,
	[RP_KEY_DEVICE_REPORT_INTERVAL] = ROCEPATH_A_DEVICE_REPORT_INTERVAL_US,
	[RP_KEY_DEVICE_REPAIR_DEPTH] = ROCEPATH_A_DEVICE_REPAIR_DEPTH,
	[RP_KEY_DEVICE_REPAIR_FLOW_BYTES] = ROCEPATH_A_DEVICE_REPAIR_FLOW_BYTES,
	[RP_KEY_DEVICE_REPAIR_BYTES] = ROCEPATH_A_DEVICE_REPAIR_BYTES,
	[RP_KEY_DEVICE_LOSS_THRESHOLD] = ROCEPATH_A_DEVICE_LOSS_PPM,
	[RP_KEY_DEVICE_PROBE_INTERVAL] = ROCEPATH_A_DEVICE_PROBE_INTERVAL_MS,
	[RP_KEY_DEVICE_PROBES_PER_SECOND] = ROCEPATH_A_DEVICE_PROBES_PER_SECOND,
};

/*
 * all that is needed on the way; @links is read again after a device was made; @made: NULL when the
 * policy is in force already, and only what came since is to be set up: what is not in @seen
 */
struct change {
	struct rp_made *made;
	struct rp_seen seen;
	struct rp_rtnl *rtnl;
	struct rp_nl *nl;
	struct rp_links links;
	const struct rp_spec *before;
	const struct rp_spec *spec;
	const struct rp_policy *policy;
};

static int complain(const struct rp_error *error)
{
	rp_complain("%s", error->text);
	return -1;
}

static int read_links(struct change *c)
{
	struct rp_error error;

	rp_links_drop(&c->links);
	return rp_links_read(c->rtnl, &c->links, &error) ? complain(&error) : 0;
}

static int check_name(const struct rp_link_info *link)
{
	if (!link || !strcmp(link->kind, "rocepath"))
		return 0;
	rp_complain("%s is there, and is no rocepath device: give the device another name",
		    link->name);
	return -1;
}

static int check_master(const struct change *c, const struct rp_link_info *link, int device)
{
	const struct rp_link_info *master;

	if (!link || !link->master || link->master == device)
		return 0;
	master = rp_links_index(&c->links, link->master);
	rp_complain("%s is a port of %s; take it out: ip link set %s nomaster", link->name,
		    master ? master->name : "something else", link->name);
	return -1;
}

static const struct rp_link_info *make_device(struct change *c, const char *name)
{
	const struct rp_link_info *link = rp_links_name(&c->links, name);
	struct rp_error error;

	if (check_name(link))
		return NULL;
	if (link)
		return link;
	if (rp_link_make(c->rtnl, name, "rocepath", &error)) {
		complain(&error);
		return NULL;
	}
	if (read_links(c))
		return NULL;
	link = rp_links_name(&c->links, name);
	if (link && c->made->count < RP_DEVICES_MAX)
		c->made->ifindex[c->made->count++] = link->ifindex;
	return link;
}

static int open_family(struct change *c)
{
	struct rp_error error;

	if (!c->nl)
		c->nl = rp_nl_new(&error);
	return c->nl ? 0 : complain(&error);
}

static int submit(struct change *c, const char *subject)
{
	int err = rp_nl_do(c->nl, NULL, NULL);

	return err ? rp_nl_explain(c->nl, err, NULL, subject), -1 : 0;
}

static void put_setting(struct nlmsghdr *nlh, const struct rp_key *key, uint16_t attr,
			const void *device)
{
	const void *field = rp_field_of(device, key);

	if (key->kind == RP_KIND_INTERFACE)
		mnl_attr_put_strz(nlh, attr, *(char *const *)field);
	else
		mnl_attr_put_u32(nlh, attr, *(const uint64_t *)field);
}

static int set_device(struct change *c, const struct rp_spec_device *device, int ifindex)
{
	const struct rp_schema *schema = rp_spec_schema.keys[RP_KEY_POLICY_DEVICES].map;
	struct nlmsghdr *nlh = rp_nl_request(c->nl, ROCEPATH_CMD_DEVICE_SET);

	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_IFINDEX, ifindex);
	for (unsigned int i = RP_KEY_DEVICE_SETTINGS; i < RP_KEY_DEVICE_KEYS; i++)
		if (rp_given(device, i))
			put_setting(nlh, &schema->keys[i], settings[i], device);
	if (!rp_given(device, RP_KEY_DEVICE_MARK_MASK))
		mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_MARK_MASK, c->policy->mark_mask);
	return submit(c, device->name);
}

/* what @before has and @port has not is taken back; returns whether there is anything to say */
static bool put_vias(struct nlmsghdr *nlh, const struct rp_spec_port *port,
		     const struct rp_spec_port *before)
{
	static const struct rp_list nothing;
	const struct rp_list *lists[] = { before ? &before->via : &nothing, &port->via };
	uint8_t via4[RP_ADDRESS4_LEN] = { 0 }, via6[RP_ADDRESS_LEN] = { 0 };
	bool has4 = false, has6 = false;

	for (unsigned int l = 0; l < 2; l++) {
		for (unsigned int i = 0; i < lists[l]->count; i++) {
			uint8_t address[RP_ADDRESS_LEN];
			bool ipv4;

			rp_address_parse(((char **)lists[l]->items)[i], address, NULL);
			ipv4 = rp_address_is_ipv4(address);
			has4 |= ipv4;
			has6 |= !ipv4;
			if (lists[l] == &port->via && ipv4)
				memcpy(via4, address + RP_ADDRESS_LEN - RP_ADDRESS4_LEN,
				       sizeof(via4));
			else if (lists[l] == &port->via)
				memcpy(via6, address, sizeof(via6));
		}
	}
	if (has4)
		mnl_attr_put(nlh, ROCEPATH_A_PORT_VIA4, sizeof(via4), via4);
	if (has6)
		mnl_attr_put(nlh, ROCEPATH_A_PORT_VIA6, sizeof(via6), via6);
	return has4 || has6;
}

static bool has_paths_to(const struct rp_spec_port *port, const char *peer)
{
	const struct rp_spec_paths *paths = port->paths.items;
	uint8_t wanted[RP_ADDRESS_LEN], address[RP_ADDRESS_LEN];

	rp_address_parse(peer, wanted, NULL);
	for (unsigned int i = 0; i < port->paths.count; i++) {
		rp_address_parse(paths[i].peer, address, NULL);
		if (!memcmp(address, wanted, sizeof(wanted)))
			return true;
	}
	return false;
}

/* a peer that the module does not know has no choice to be taken back */
static int forget_paths(struct change *c, const char *peer, int device, int ifindex)
{
	uint8_t address[RP_ADDRESS_LEN];
	int err;

	rp_address_parse(peer, address, NULL);
	rp_path_request(c->nl, device, address, ifindex, NULL, 0);
	err = rp_nl_do(c->nl, NULL, NULL);
	if (err && err != -ENOENT)
		return rp_nl_explain(c->nl, err, NULL, peer), -1;
	return 0;
}

static int choose_paths(struct change *c, const struct rp_spec_paths *paths, int device,
			int ifindex)
{
	uint8_t address[RP_ADDRESS_LEN], evs[RP_EVS_MAX];
	unsigned int count = 0;

	rp_address_parse(paths->peer, address, NULL);
	for (unsigned int i = 0; i < paths->evs.count; i++) {
		uint8_t some[RP_EVS_MAX];
		int n = rp_evs_parse(((char **)paths->evs.items)[i], some, NULL);

		memcpy(evs + count, some, n);
		count += n;
	}
	rp_path_request(c->nl, device, address, ifindex, evs, count);
	return submit(c, paths->peer);
}

static int set_paths(struct change *c, const struct rp_spec_port *port,
		     const struct rp_spec_port *before, int device, int ifindex)
{
	const struct rp_spec_paths *paths = before ? before->paths.items : NULL;

	for (unsigned int i = 0; before && i < before->paths.count; i++)
		if (!has_paths_to(port, paths[i].peer) &&
		    forget_paths(c, paths[i].peer, device, ifindex))
			return -1;
	paths = port->paths.items;
	for (unsigned int i = 0; i < port->paths.count; i++)
		if (choose_paths(c, &paths[i], device, ifindex))
			return -1;
	return 0;
}

static int set_port(struct change *c, const struct rp_spec_port *port,
		    const struct rp_spec_port *before, int device, int ifindex)
{
	struct nlmsghdr *nlh = rp_nl_request(c->nl, ROCEPATH_CMD_PORT_SET);
	bool weight = rp_given(port, RP_KEY_PORT_WEIGHT), vias;

	mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_IFINDEX, ifindex);
	if (weight)
		mnl_attr_put_u32(nlh, ROCEPATH_A_PORT_WEIGHT, port->weight);
	vias = put_vias(nlh, port, before);
	/* the module refuses a request that asks for nothing */
	if ((weight || vias) && submit(c, port->name))
		return -1;
	return set_paths(c, port, before, device, ifindex);
}

static int add_port(struct change *c, const struct rp_spec_port *port,
		    const struct rp_spec_port *before, int device)
{
	const struct rp_link_info *link = rp_links_name(&c->links, port->name);
	struct rp_error error;

	if (!link)
		return 0;	/* it may come later */
	if (check_master(c, link, device))
		return -1;
	if (!link->master && rp_link_set_master(c->rtnl, link->ifindex, device, &error))
		return complain(&error);
	if (!link->up && rp_link_set_up(c->rtnl, link->ifindex, &error))
		return complain(&error);
	if (!c->made && rp_seen_before(&c->seen, device, link->ifindex))
		return 0;
	return set_port(c, port, before, device, link->ifindex);
}

static const struct rp_spec_device *device_before(const struct change *c, const char *name)
{
	for (unsigned int i = 0; c->before && i < c->before->devices.count; i++)
		if (!strcmp(rp_spec_device_at(c->before, i)->name, name))
			return rp_spec_device_at(c->before, i);
	return NULL;
}

static const struct rp_spec_port *find_port(const struct rp_spec_device *device, const char *name)
{
	const struct rp_spec_port *ports = device ? device->ports.items : NULL;

	for (unsigned int i = 0; device && i < device->ports.count; i++)
		if (!strcmp(ports[i].name, name))
			return &ports[i];
	return NULL;
}

static int add_ports(struct change *c, const struct rp_spec_device *device, int ifindex)
{
	const struct rp_spec_device *before = device_before(c, device->name);
	const struct rp_spec_port *ports = device->ports.items;

	for (unsigned int i = 0; i < device->ports.count; i++)
		if (add_port(c, &ports[i], find_port(before, ports[i].name), ifindex))
			return -1;
	return 0;
}

struct key_search {
	uint32_t device;
	uint8_t id;
	bool found;
};

static int match_key(const struct nlmsghdr *nlh, void *data)
{
	struct key_search *search = data;
	struct rp_attrs attrs;

	if (!rp_attrs_message(&rp_key_attrs, nlh, &attrs) &&
	    rp_attr_number(&attrs, ROCEPATH_A_KEY_DEVICE) == search->device &&
	    rp_attr_number(&attrs, ROCEPATH_A_KEY_ID) == search->id)
		search->found = true;
	return 0;
}

/* a key that is there may be in use, and need not be the active one: it stays as it is */
static int set_key(struct change *c, const struct rp_spec_device *device, int ifindex)
{
	struct key_search search = { .device = ifindex, .id = device->key.id };
	uint8_t secret[ROCEPATH_KEY_LEN];
	struct nlmsghdr *nlh;
	int err;

	rp_nl_request(c->nl, ROCEPATH_CMD_KEY_GET);
	err = rp_nl_dump(c->nl, match_key, &search);
	if (err)
		return rp_nl_explain(c->nl, err, NULL, device->name), -1;
	if (search.found)
		return 0;
	if (rp_secret_read(device->key.file, secret))
		return -1;
	nlh = rp_nl_request(c->nl, ROCEPATH_CMD_KEY_SET);
	mnl_attr_put_u32(nlh, ROCEPATH_A_KEY_DEVICE, ifindex);
	mnl_attr_put_u8(nlh, ROCEPATH_A_KEY_ID, device->key.id);
	mnl_attr_put(nlh, ROCEPATH_A_KEY_SECRET, sizeof(secret), secret);
	explicit_bzero(secret, sizeof(secret));
	err = submit(c, device->name);
	rp_nl_forget(c->nl);
	return err;
}

/* those that the policy before named, and this one does not */
static int release_ports(struct change *c, const struct rp_spec_device *device, int ifindex)
{
	const struct rp_spec_device *before = device_before(c, device->name);
	const struct rp_spec_port *ports = before ? before->ports.items : NULL;
	struct rp_error error;

	for (unsigned int i = 0; before && i < before->ports.count; i++) {
		const struct rp_link_info *link = rp_links_name(&c->links, ports[i].name);

		if (!link || link->master != ifindex || find_port(device, ports[i].name))
			continue;
		if (rp_link_set_master(c->rtnl, link->ifindex, 0, &error))
			return complain(&error);
	}
	return 0;
}

static const char *scheduler_of(const struct rp_spec *spec, const char *name)
{
	int i = spec ? rp_spec_class_index(spec, name) : -1;

	return i < 0 ? NULL : rp_spec_class_at(spec, i)->scheduler;
}

static bool is_named(const struct rp_spec *spec, const char *name)
{
	for (unsigned int i = 0; i < spec->devices.count; i++)
		if (!strcmp(rp_spec_device_at(spec, i)->name, name))
			return true;
	return false;
}

/* by which bits of the mark the device tells classes; those of the file have it already */
static int set_mark_mask(struct change *c, const struct rp_link_info *link)
{
	struct nlmsghdr *nlh;

	if (is_named(c->spec, link->name))
		return 0;
	nlh = rp_nl_request(c->nl, ROCEPATH_CMD_DEVICE_SET);
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_IFINDEX, link->ifindex);
	mnl_attr_put_u32(nlh, ROCEPATH_A_DEVICE_MARK_MASK, c->policy->mark_mask);
	return submit(c, link->name);
}

/* a class that has none, or no longer, is scheduled as the device */
static int set_schedulers(struct change *c, const struct rp_link_info *link)
{
	bool masked = false;

	for (unsigned int i = 0; i < c->policy->class_count; i++) {
		const char *name = c->policy->class[i].name;
		const char *scheduler = scheduler_of(c->spec, name);
		struct nlmsghdr *nlh;

		if (!scheduler && !scheduler_of(c->before, name))
			continue;
		if (!masked && set_mark_mask(c, link))
			return -1;
		masked = true;
		nlh = rp_nl_request(c->nl, ROCEPATH_CMD_CLASS_SET);
		mnl_attr_put_u32(nlh, ROCEPATH_A_CLASS_DEVICE, link->ifindex);
		mnl_attr_put_u32(nlh, ROCEPATH_A_CLASS_ID, i);
		mnl_attr_put_strz(nlh, ROCEPATH_A_CLASS_SCHEDULER, scheduler ? scheduler : "");
		if (submit(c, link->name))
			return -1;
	}
	return 0;
}

static int apply_device(struct change *c, const struct rp_spec_device *device)
{
	const struct rp_link_info *link = make_device(c, device->name);
	int ifindex, err;
	struct rp_error error;
	bool up;

	if (!link || open_family(c))
		return -1;
	ifindex = link->ifindex;
	up = link->up;
	err = set_device(c, device, ifindex);
	if (!err)
		err = release_ports(c, device, ifindex);
	if (!err)
		err = add_ports(c, device, ifindex);
	if (!err && device->key.file)
		err = set_key(c, device, ifindex);
	if (!err && !up && rp_link_set_up(c->rtnl, ifindex, &error))
		err = complain(&error);
	for (unsigned int i = 0; !err && i < device->addresses.count; i++)
		if (rp_link_add_address(c->rtnl, ifindex, ((char **)device->addresses.items)[i],
					&error))
			err = complain(&error);
	return err;
}

static bool is_done(const struct change *c, int device)
{
	return !c->made && rp_seen_before(&c->seen, device, 0);
}

/* of all rocepath devices, those that somebody made by hand, too */
static int apply_classes(struct change *c)
{
	for (unsigned int i = 0; i < c->links.count; i++) {
		const struct rp_link_info *link = &c->links.at[i];

		if (strcmp(link->kind, "rocepath") || is_done(c, link->ifindex))
			continue;
		if (open_family(c) || set_schedulers(c, link))
			return -1;
	}
	return 0;
}

/* what is there now is set up */
static int keep_seen(struct change *c)
{
	struct rp_seen seen;

	if (!c->nl || read_links(c))
		return c->nl ? -1 : 0;
	if (!rp_seen_read(c->nl, &c->links, &seen))
		rp_seen_keep(&seen);
	return 0;
}

static int apply_devices(struct change *c)
{
	for (unsigned int i = 0; i < c->spec->devices.count; i++)
		if (apply_device(c, rp_spec_device_at(c->spec, i)))
			return -1;
	return apply_classes(c) ? -1 : keep_seen(c);
}

/* a device that came since is set up as a whole, of others the ports that came */
static int refresh_device(struct change *c, const struct rp_spec_device *device)
{
	const struct rp_link_info *link = rp_links_name(&c->links, device->name);

	if (!link || strcmp(link->kind, "rocepath"))
		return 0;
	return is_done(c, link->ifindex) ? add_ports(c, device, link->ifindex) :
	       apply_device(c, device);
}

static bool has_rocepath(const struct change *c)
{
	for (unsigned int i = 0; i < c->links.count; i++)
		if (!strcmp(c->links.at[i].kind, "rocepath"))
			return true;
	return false;
}

static int refresh_devices(struct change *c)
{
	int err;

	if (!has_rocepath(c))
		return 0;
	err = open_family(c);
	if (!err && rp_seen_read(c->nl, &c->links, &c->seen))
		return rp_complain("the devices cannot be read: %s", strerror(errno)), -1;
	for (unsigned int i = 0; !err && i < c->spec->devices.count; i++)
		err = refresh_device(c, rp_spec_device_at(c->spec, i));
	if (!err)
		err = apply_classes(c);
	return err ? err : keep_seen(c);
}

/* a port that another device of the old policy gives up is free by then */
static bool is_given_up(const struct change *c, const struct rp_link_info *link)
{
	const struct rp_link_info *master = rp_links_index(&c->links, link->master);

	return master && !strcmp(master->kind, "rocepath") && is_named(c->spec, master->name);
}

static int check_device(struct change *c, const struct rp_spec_device *device)
{
	const struct rp_link_info *link = rp_links_name(&c->links, device->name);
	const struct rp_spec_port *ports = device->ports.items;
	uint8_t secret[ROCEPATH_KEY_LEN];
	int err = check_name(link);

	for (unsigned int i = 0; !err && i < device->ports.count; i++) {
		const struct rp_link_info *port = rp_links_name(&c->links, ports[i].name);

		if (port && !is_given_up(c, port))
			err = check_master(c, port, link ? link->ifindex : 0);
	}
	/* of a key that is there nobody reads the file */
	if (!err && !link && device->key.file) {
		err = rp_secret_read(device->key.file, secret) ? -1 : 0;
		explicit_bzero(secret, sizeof(secret));
	}
	return err;
}

/**
 * rp_devices_check() - find what can be seen to go wrong before anything is changed, or complain
 * @rtnl: a socket
 * @spec: the policy
 *
 * Return: 0 or -1.
 */
int rp_devices_check(struct rp_rtnl *rtnl, const struct rp_spec *spec)
{
	struct change c = { .rtnl = rtnl, .spec = spec };
	int err = read_links(&c);

	for (unsigned int i = 0; !err && i < spec->devices.count; i++)
		err = check_device(&c, rp_spec_device_at(spec, i));
	rp_links_drop(&c.links);
	return err;
}

/**
 * rp_devices_apply() - make devices, ports, keys and schedulers as a policy says, or complain
 * @rtnl: a socket
 * @before: the policy in force, or NULL
 * @spec: the policy
 * @policy: the same, compiled
 * @made: gets the devices that were not there
 *
 * Return: 0 or -1.
 */
int rp_devices_apply(struct rp_rtnl *rtnl, const struct rp_spec *before,
		     const struct rp_spec *spec, const struct rp_policy *policy,
		     struct rp_made *made)
{
	struct change c = {
		.made = made, .rtnl = rtnl, .before = before, .spec = spec, .policy = policy,
	};
	int err = read_links(&c);

	if (!err)
		err = apply_devices(&c);
	rp_links_drop(&c.links);
	rp_nl_release(c.nl);
	return err;
}

/**
 * rp_devices_refresh() - set up devices and ports that came since this process did, or complain
 * @rtnl: a socket
 * @spec: the policy in force
 * @policy: the same, compiled
 *
 * A device that has gone is not made again: somebody may be about to unload the module.
 *
 * Return: 0 or -1.
 */
int rp_devices_refresh(struct rp_rtnl *rtnl, const struct rp_spec *spec,
		       const struct rp_policy *policy)
{
	struct change c = { .rtnl = rtnl, .before = spec, .spec = spec, .policy = policy };
	int err = read_links(&c);

	if (!err)
		err = refresh_devices(&c);
	rp_seen_drop(&c.seen);
	rp_links_drop(&c.links);
	rp_nl_release(c.nl);
	return err;
}

/**
 * rp_devices_undo() - delete devices that were made for nothing
 * @rtnl: a socket
 * @made: the devices
 */
void rp_devices_undo(struct rp_rtnl *rtnl, const struct rp_made *made)
{
	for (unsigned int i = 0; i < made->count; i++)
		rp_link_delete(rtnl, made->ifindex[i], NULL);
}
