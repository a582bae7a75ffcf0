// SPDX-License-Identifier: GPL-2.0
/*
 * Of each message that the module dumps those attributes are kept that it also takes, as
 * the request that would bring them about. Masters of netdevices are kept, too.
 */
#include <stdlib.h>
#include <string.h>

#include "../attrs.h"
#include "../netlink.h"
#include "snapshot.h"

#define REQUEST_LEN 512

struct request {
	enum rocepath_cmd cmd;
	size_t len;
	char attrs[REQUEST_LEN];
};

struct rp_snapshot {
	struct rp_links links;
	struct request *requests;
	unsigned int count;
};

/* what is kept of one kind of thing */
struct kind {
	enum rocepath_cmd get, set;
	const struct rp_set *fields;
	const uint16_t *attrs;
	unsigned int count;
};

static const uint16_t device_attrs[] = {
	ROCEPATH_A_DEVICE_IFINDEX, ROCEPATH_A_DEVICE_SCHEDULER, ROCEPATH_A_DEVICE_ENTROPY,
	ROCEPATH_A_DEVICE_EVS, ROCEPATH_A_DEVICE_GAP_TIMEOUT_US, ROCEPATH_A_DEVICE_GAP_FLOOR_US,
	ROCEPATH_A_DEVICE_GAP_CEILING_US, ROCEPATH_A_DEVICE_REORDER_DEPTH,
	ROCEPATH_A_DEVICE_REORDER_FLOW_BYTES, ROCEPATH_A_DEVICE_REORDER_BYTES,
	ROCEPATH_A_DEVICE_PEERS_MAX, ROCEPATH_A_DEVICE_HELLO_INTERVAL_MS,
	ROCEPATH_A_DEVICE_HOLDDOWN_MS, ROCEPATH_A_DEVICE_HOLDDOWN_MAX_MS,
	ROCEPATH_A_DEVICE_MARK_MASK, ROCEPATH_A_DEVICE_REPORT_INTERVAL_US,
	ROCEPATH_A_DEVICE_REPAIR_DEPTH, ROCEPATH_A_DEVICE_REPAIR_FLOW_BYTES,
	ROCEPATH_A_DEVICE_REPAIR_BYTES, ROCEPATH_A_DEVICE_LOSS_PPM,
	ROCEPATH_A_DEVICE_PROBE_INTERVAL_MS, ROCEPATH_A_DEVICE_PROBES_PER_SECOND,
};

static const uint16_t port_attrs[] = {
	ROCEPATH_A_PORT_IFINDEX, ROCEPATH_A_PORT_WEIGHT, ROCEPATH_A_PORT_VIA4,
	ROCEPATH_A_PORT_VIA6,
};

static const uint16_t class_attrs[] = {
	ROCEPATH_A_CLASS_DEVICE, ROCEPATH_A_CLASS_ID, ROCEPATH_A_CLASS_SCHEDULER,
};

#define KIND(name, NAME) \
	{ ROCEPATH_CMD_##NAME##_GET, ROCEPATH_CMD_##NAME##_SET, &rp_##name##_attrs, \
	  name##_attrs, sizeof(name##_attrs) / sizeof(name##_attrs[0]) }

static const struct kind kinds[] = {
	KIND(device, DEVICE), KIND(port, PORT), KIND(class, CLASS),
};

/* one dump at work */
struct dump {
	struct rp_snapshot *snapshot;
	const struct kind *kind;
};

static void put(struct request *request, uint16_t type, const void *data, size_t len)
{
	struct nlattr attr = { .nla_len = MNL_ATTR_HDRLEN + len, .nla_type = type };

	if (request->len + MNL_ATTR_HDRLEN + MNL_ALIGN(len) > sizeof(request->attrs))
		return;
	memcpy(request->attrs + request->len, &attr, sizeof(attr));
	memcpy(request->attrs + request->len + MNL_ATTR_HDRLEN, data, len);
	request->len += MNL_ATTR_HDRLEN + MNL_ALIGN(len);
}

/* a gateway that there is none of is not in the dump, and has to be in the request */
static void put_absent(struct request *request, uint16_t type)
{
	static const uint8_t none[16];

	if (request->cmd != ROCEPATH_CMD_PORT_SET)
		return;
	if (type == ROCEPATH_A_PORT_VIA4)
		put(request, type, none, 4);
	else if (type == ROCEPATH_A_PORT_VIA6)
		put(request, type, none, 16);
}

static int keep(const struct nlmsghdr *nlh, void *data)
{
	const struct dump *dump = data;
	struct rp_snapshot *s = dump->snapshot;
	struct rp_attrs attrs;
	struct request *grown;

	if (rp_attrs_message(dump->kind->fields, nlh, &attrs))
		return 0;
	grown = reallocarray(s->requests, s->count + 1, sizeof(*grown));
	if (!grown)
		return -1;
	s->requests = grown;
	grown = &s->requests[s->count++];
	memset(grown, 0, sizeof(*grown));
	grown->cmd = dump->kind->set;
	for (unsigned int i = 0; i < dump->kind->count; i++) {
		const struct nlattr *attr = attrs.at[dump->kind->attrs[i]];

		if (attr)
			put(grown, dump->kind->attrs[i], mnl_attr_get_payload(attr),
			    mnl_attr_get_payload_len(attr));
		else
			put_absent(grown, dump->kind->attrs[i]);
	}
	return 0;
}

static bool read_all(struct rp_snapshot *s, struct rp_nl *nl)
{
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct dump dump = { s, &kinds[i] };

		rp_nl_request(nl, kinds[i].get);
		if (rp_nl_dump(nl, keep, &dump))
			return false;
	}
	return true;
}

static bool has_device(const struct rp_links *links)
{
	for (unsigned int i = 0; i < links->count; i++)
		if (!strcmp(links->at[i].kind, "rocepath"))
			return true;
	return false;
}

/**
 * rp_snapshot_take() - keep what devices are set to
 * @rtnl: a socket
 *
 * Return: it, or NULL: there is no device, or it cannot be read.
 */
struct rp_snapshot *rp_snapshot_take(struct rp_rtnl *rtnl)
{
	struct rp_snapshot *s = calloc(1, sizeof(*s));
	struct rp_nl *nl = NULL;
	struct rp_error error;

	if (s && !rp_links_read(rtnl, &s->links, NULL) && has_device(&s->links))
		nl = rp_nl_new(&error);
	if (!nl || !read_all(s, nl)) {
		rp_snapshot_release(s);
		s = NULL;
	}
	rp_nl_release(nl);
	return s;
}

/* before the settings of ports: those that were taken out have lost them */
static void restore_masters(const struct rp_snapshot *s, struct rp_rtnl *rtnl)
{
	struct rp_links now = { 0 };

	if (rp_links_read(rtnl, &now, NULL))
		return;
	for (unsigned int i = 0; i < s->links.count; i++) {
		const struct rp_link_info *then = &s->links.at[i];
		const struct rp_link_info *link = rp_links_index(&now, then->ifindex);

		if (!link || link->master == then->master)
			continue;
		if (link->master)
			rp_link_set_master(rtnl, then->ifindex, 0, NULL);
		if (then->master)
			rp_link_set_master(rtnl, then->ifindex, then->master, NULL);
	}
	rp_links_drop(&now);
}

static void bring_back(struct rp_nl *nl, const struct request *request)
{
	struct nlmsghdr *nlh = rp_nl_request(nl, request->cmd);

	memcpy(mnl_nlmsg_get_payload_tail(nlh), request->attrs, request->len);
	nlh->nlmsg_len += request->len;
	rp_nl_do(nl, NULL, NULL);
}

static bool same_class(const struct request *a, const struct request *b)
{
	/* device and number are the first two */
	return a->cmd == b->cmd && !memcmp(a->attrs, b->attrs, 2 * (MNL_ATTR_HDRLEN + 4));
}

/* classes that got a scheduler since */
static void forget_classes(const struct rp_snapshot *s, struct rp_nl *nl)
{
	struct rp_snapshot now = { .count = 0 };
	struct dump dump = { &now, &kinds[2] };

	rp_nl_request(nl, ROCEPATH_CMD_CLASS_GET);
	rp_nl_dump(nl, keep, &dump);
	for (unsigned int i = 0; i < now.count; i++) {
		bool known = false;

		for (unsigned int k = 0; k < s->count; k++)
			known |= same_class(&now.requests[i], &s->requests[k]);
		if (known)
			continue;
		now.requests[i].len = 2 * (MNL_ATTR_HDRLEN + 4);
		put(&now.requests[i], ROCEPATH_A_CLASS_SCHEDULER, "", 1);
		bring_back(nl, &now.requests[i]);
	}
	free(now.requests);
}

/**
 * rp_snapshot_restore() - set devices that are there still to what they were set to
 * @snapshot: from rp_snapshot_take(), or NULL
 * @rtnl: a socket
 */
void rp_snapshot_restore(struct rp_snapshot *snapshot, struct rp_rtnl *rtnl)
{
	struct rp_error error;
	struct rp_nl *nl;

	if (!snapshot)
		return;
	nl = rp_nl_new(&error);
	if (!nl)
		return;
	restore_masters(snapshot, rtnl);
	forget_classes(snapshot, nl);
	for (unsigned int i = 0; i < snapshot->count; i++)
		bring_back(nl, &snapshot->requests[i]);
	rp_nl_release(nl);
}

/**
 * rp_snapshot_release() - free a snapshot
 * @snapshot: from rp_snapshot_take(), or NULL
 */
void rp_snapshot_release(struct rp_snapshot *snapshot)
{
	if (!snapshot)
		return;
	rp_links_drop(&snapshot->links);
	free(snapshot->requests);
	free(snapshot);
}
