// SPDX-License-Identifier: GPL-2.0
/*
 * A device that somebody deletes and makes again, or a port that he takes out and puts back,
 * has none of its settings any more. What was set up and stayed is left as it is: somebody
 * may have changed it since.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../attrs.h"
#include "seen.h"

/* what there was when all was set up last */
static struct rp_seen kept;

static int add(struct rp_seen *seen, int device, uint64_t instance, int port)
{
	struct rp_seen_one *grown = reallocarray(seen->at, seen->count + 1, sizeof(*grown));

	if (!grown)
		return -1;
	seen->at = grown;
	seen->at[seen->count++] = (struct rp_seen_one){ device, instance, port };
	return 0;
}

static int take_device(const struct nlmsghdr *nlh, void *data)
{
	struct rp_attrs attrs;

	if (rp_attrs_message(&rp_device_attrs, nlh, &attrs))
		return 0;
	return add(data, rp_attr_number(&attrs, ROCEPATH_A_DEVICE_IFINDEX),
		   rp_attr_number(&attrs, ROCEPATH_A_DEVICE_INSTANCE), 0);
}

/**
 * rp_seen_read() - find the devices that are there, and their ports
 * @nl: a socket
 * @links: all netdevices
 * @seen: where they go
 *
 * Return: 0 or a negative error number.
 */
int rp_seen_read(struct rp_nl *nl, const struct rp_links *links, struct rp_seen *seen)
{
	unsigned int devices;
	int err;

	*seen = (struct rp_seen){ 0 };
	rp_nl_request(nl, ROCEPATH_CMD_DEVICE_GET);
	err = rp_nl_dump(nl, take_device, seen);
	devices = seen->count;
	for (unsigned int i = 0; !err && i < links->count; i++)
		for (unsigned int k = 0; k < devices; k++)
			if (links->at[i].master == seen->at[k].device)
				add(seen, seen->at[k].device, seen->at[k].instance,
				    links->at[i].ifindex);
	errno = -err;
	return err;
}

/**
 * rp_seen_keep() - all of them are set up now
 * @seen: from rp_seen_read(); it is used up
 */
void rp_seen_keep(struct rp_seen *seen)
{
	rp_seen_drop(&kept);
	kept = *seen;
	*seen = (struct rp_seen){ 0 };
}

static bool has(const struct rp_seen *seen, const struct rp_seen_one *one)
{
	for (unsigned int i = 0; i < seen->count; i++)
		if (seen->at[i].device == one->device && seen->at[i].instance == one->instance &&
		    seen->at[i].port == one->port)
			return true;
	return false;
}

/**
 * rp_seen_before() - was a device, or a port of it, set up already?
 * @now: what there is
 * @device: the device
 * @port: the port, 0: the device itself
 */
bool rp_seen_before(const struct rp_seen *now, int device, int port)
{
	for (unsigned int i = 0; i < now->count; i++)
		if (now->at[i].device == device && now->at[i].port == port)
			return has(&kept, &now->at[i]);
	return false;
}

/**
 * rp_seen_drop() - free what rp_seen_read() found
 * @seen: the devices
 */
void rp_seen_drop(struct rp_seen *seen)
{
	free(seen->at);
	*seen = (struct rp_seen){ 0 };
}
