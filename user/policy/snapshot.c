// SPDX-License-Identifier: GPL-2.0
/*
 * Of each message that a module dumps those attributes are kept that it also takes, as
 * the request that would bring them about. Masters of netdevices are kept, too. Of a key only
 * its number is told: one that was not there goes.
 */
#include <stdlib.h>
#include <string.h>

#include "../attrs.h"
#include "../netlink.h"
#include "../rdma.h"
#include "snapshot.h"

#define REQUEST_LEN 512

struct request {
	uint8_t cmd;
	size_t len;
	char attrs[REQUEST_LEN];
};

/* of one family */
struct requests {
	struct request *at;
	unsigned int count;
};

/* keys of RDMA devices by their numbers */
struct keys {
	bool known[UINT8_MAX + 1];
};

struct rp_snapshot {
	struct rp_links links;
	struct requests devices;
	bool knows_rdma;
	struct requests rdma;
	struct keys keys;
};

/* what is kept of one kind of thing */
struct kind {
	uint8_t get, set;
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

#define RDMA(name) ROCEPATH_RDMA_A_DEVICE_##name

static const uint16_t rdma_attrs[] = {
	RDMA(NAME), RDMA(PORT), RDMA(STEERING), RDMA(EXEMPT), RDMA(ON_FAILURE),
	RDMA(PROBE_INTERVAL_US), RDMA(PROBES_PER_SECOND), RDMA(HOLDDOWN_MS), RDMA(SLOW_FACTOR),
};

static const struct kind rdma_kind = {
	ROCEPATH_RDMA_CMD_DEVICE_GET, ROCEPATH_RDMA_CMD_DEVICE_SET, &rp_rdma_device_attrs,
	rdma_attrs, sizeof(rdma_attrs) / sizeof(rdma_attrs[0])
};

/* one dump at work */
struct dump {
	struct requests *requests;
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
static void put_absent(struct request *request, const struct kind *kind, uint16_t type)
{
	static const uint8_t none[16];

	if (kind->attrs != port_attrs)
		return;
	if (type == ROCEPATH_A_PORT_VIA4)
		put(request, type, none, 4);
	else if (type == ROCEPATH_A_PORT_VIA6)
		put(request, type, none, 16);
}

static int keep(const struct nlmsghdr *nlh, void *data)
{
	const struct dump *dump = data;
	struct requests *s = dump->requests;
	struct rp_attrs attrs;
	struct request *grown;

	if (rp_attrs_message(dump->kind->fields, nlh, &attrs))
		return 0;
	grown = reallocarray(s->at, s->count + 1, sizeof(*grown));
	if (!grown)
		return -1;
	s->at = grown;
	grown = &s->at[s->count++];
	memset(grown, 0, sizeof(*grown));
	grown->cmd = dump->kind->set;
	for (unsigned int i = 0; i < dump->kind->count; i++) {
		const struct nlattr *attr = attrs.at[dump->kind->attrs[i]];

		if (attr)
			put(grown, dump->kind->attrs[i], mnl_attr_get_payload(attr),
			    mnl_attr_get_payload_len(attr));
		else
			put_absent(grown, dump->kind, dump->kind->attrs[i]);
	}
	return 0;
}

static bool read_kind(struct requests *requests, struct rp_nl *nl, const struct kind *kind)
{
	struct dump dump = { requests, kind };

	rp_nl_request(nl, kind->get);
	return !rp_nl_dump(nl, keep, &dump);
}

static bool read_devices(struct requests *requests, struct rp_nl *nl)
{
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!read_kind(requests, nl, &kinds[i]))
			return false;
	return true;
}

static int keep_key(const struct nlmsghdr *nlh, void *data)
{
	struct keys *keys = data;
	struct rp_attrs attrs;

	if (!rp_attrs_message(&rp_rdma_key_attrs, nlh, &attrs))
		keys->known[(uint8_t)rp_attr_number(&attrs, ROCEPATH_RDMA_A_KEY_ID)] = true;
	return 0;
}

static bool read_keys(struct keys *keys, struct rp_nl *nl)
{
	rp_nl_request(nl, ROCEPATH_RDMA_CMD_KEY_GET);
	return !rp_nl_dump(nl, keep_key, keys);
}

static bool has_device(const struct rp_links *links)
{
	for (unsigned int i = 0; i < links->count; i++)
		if (!strcmp(links->at[i].kind, "rocepath"))
			return true;
	return false;
}

static void drop(struct requests *requests)
{
	free(requests->at);
	*requests = (struct requests){ 0 };
}

static void take_devices(struct rp_snapshot *s)
{
	struct rp_nl *nl = has_device(&s->links) ? rp_nl_new(NULL) : NULL;

	if (nl && !read_devices(&s->devices, nl))
		drop(&s->devices);
	rp_nl_release(nl);
}

static void take_rdma(struct rp_snapshot *s)
{
	struct rp_nl *nl;

	/* it is not loaded for that, and if it will be, it has nothing of before */
	s->knows_rdma = !rp_rdma_is_loaded();
	if (s->knows_rdma)
		return;
	nl = rp_nl_open(&rp_rdma_family, NULL);
	s->knows_rdma = nl && read_kind(&s->rdma, nl, &rdma_kind) && read_keys(&s->keys, nl);
	rp_nl_release(nl);
}

/**
 * rp_snapshot_take() - keep what devices, and RDMA devices, are set to
 * @rtnl: a socket
 *
 * Return: it, with what could be read; or NULL.
 */
struct rp_snapshot *rp_snapshot_take(struct rp_rtnl *rtnl)
{
	struct rp_snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (rp_links_read(rtnl, &s->links, NULL)) {
		rp_snapshot_release(s);
		return NULL;
	}
	take_devices(s);
	take_rdma(s);
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
static void forget_classes(const struct requests *then, struct rp_nl *nl)
{
	struct requests now = { .count = 0 };

	read_kind(&now, nl, &kinds[2]);
	for (unsigned int i = 0; i < now.count; i++) {
		bool known = false;

		for (unsigned int k = 0; k < then->count; k++)
			known |= same_class(&now.at[i], &then->at[k]);
		if (known)
			continue;
		now.at[i].len = 2 * (MNL_ATTR_HDRLEN + 4);
		put(&now.at[i], ROCEPATH_A_CLASS_SCHEDULER, "", 1);
		bring_back(nl, &now.at[i]);
	}
	drop(&now);
}

static void bring_all_back(struct rp_nl *nl, const struct requests *requests)
{
	for (unsigned int i = 0; i < requests->count; i++)
		bring_back(nl, &requests->at[i]);
}

static void restore_devices(const struct rp_snapshot *s, struct rp_rtnl *rtnl)
{
	struct rp_nl *nl = s->devices.count ? rp_nl_new(NULL) : NULL;

	if (!nl)
		return;
	restore_masters(s, rtnl);
	forget_classes(&s->devices, nl);
	bring_all_back(nl, &s->devices);
	rp_nl_release(nl);
}

/* keys that were set since */
static void forget_keys(const struct keys *then, struct rp_nl *nl)
{
	struct keys now = { .known = { false } };

	read_keys(&now, nl);
	for (unsigned int id = 0; id <= UINT8_MAX; id++) {
		if (!now.known[id] || then->known[id])
			continue;
		mnl_attr_put_u8(rp_nl_request(nl, ROCEPATH_RDMA_CMD_KEY_DEL),
				ROCEPATH_RDMA_A_KEY_ID, id);
		rp_nl_do(nl, NULL, NULL);
	}
}

static void restore_rdma(const struct rp_snapshot *s)
{
	struct rp_nl *nl = s->knows_rdma && rp_rdma_is_loaded() ?
			   rp_nl_open(&rp_rdma_family, NULL) : NULL;

	if (!nl)
		return;
	forget_keys(&s->keys, nl);
	bring_all_back(nl, &s->rdma);
	rp_nl_release(nl);
}

/**
 * rp_snapshot_restore() - set devices that are there still to what they were set to
 * @snapshot: from rp_snapshot_take(), or NULL
 * @rtnl: a socket
 */
void rp_snapshot_restore(struct rp_snapshot *snapshot, struct rp_rtnl *rtnl)
{
	if (!snapshot)
		return;
	restore_devices(snapshot, rtnl);
	restore_rdma(snapshot);
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
	drop(&snapshot->devices);
	drop(&snapshot->rdma);
	free(snapshot);
}
