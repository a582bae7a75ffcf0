// SPDX-License-Identifier: GPL-2.0
/*
 * The key comes first, for a file may be missing; until then nothing was changed. Then the
 * module takes classes and rules in one message: QPs that connect see the policy before or the
 * new one. Its settings of devices follow; those that a policy no longer names keep theirs,
 * but nothing is steered once no policy asks for it. What was done before something failed
 * is undone by the caller, with this and a snapshot.
 */
#include <errno.h>
#include <string.h>

#include "../attrs.h"
#include "../key.h"
#include "../netlink.h"
#include "../rdma.h"
#include "rdma.h"

#define SETTINGS ((1ull << RP_KEY_RDMA_SETTINGS) - 1)

static int submit(struct rp_nl *nl, const char *subject)
{
	int err = rp_nl_do(nl, NULL, NULL);

	return err ? rp_nl_explain(nl, err, NULL, subject), -1 : 0;
}

static int set_all(struct rp_nl *nl, const struct rp_spec_rdma *rdma)
{
	struct nlmsghdr *nlh;

	if (!(rdma->given & SETTINGS))
		return 0;
	nlh = rp_nl_request(nl, ROCEPATH_RDMA_CMD_DEVICE_SET);
	rp_rdma_put_settings(nlh, &rdma->set, rdma->given);
	return submit(nl, "rdma");
}

/* one that is not there may come later: `run` sets it then */
static int set_device(struct rp_nl *nl, const struct rp_spec_rdma_device *device)
{
	struct nlmsghdr *nlh = rp_nl_request(nl, ROCEPATH_RDMA_CMD_DEVICE_SET);
	int err;

	mnl_attr_put_strz(nlh, ROCEPATH_RDMA_A_DEVICE_NAME, device->name);
	rp_rdma_put_settings(nlh, &device->set, device->given >> RP_KEY_RDMA_DEVICE_SETTINGS);
	err = rp_nl_do(nl, NULL, NULL);
	if (err == -ENODEV) {
		rp_complain("warning: there is no RDMA device %s; apply again when it comes",
			    device->name);
		return 0;
	}
	return err ? rp_nl_explain(nl, err, NULL, device->name), -1 : 0;
}

struct key_search {
	uint8_t id;
	bool found;
};

static int match_key(const struct nlmsghdr *nlh, void *data)
{
	struct key_search *search = data;
	struct rp_attrs attrs;

	if (!rp_attrs_message(&rp_rdma_key_attrs, nlh, &attrs) &&
	    rp_attr_number(&attrs, ROCEPATH_RDMA_A_KEY_ID) == search->id)
		search->found = true;
	return 0;
}

/* as with devices of the other module: a key that is there stays as it is */
static int set_key(struct rp_nl *nl, const struct rp_spec_secret *key)
{
	uint8_t secret[ROCEPATH_RDMA_KEY_LEN];
	struct key_search search = { key->id, false };
	struct nlmsghdr *nlh;
	int err;

	if (!key->file)
		return 0;
	rp_nl_request(nl, ROCEPATH_RDMA_CMD_KEY_GET);
	err = rp_nl_dump(nl, match_key, &search);
	if (err)
		return rp_nl_explain(nl, err, NULL, "key"), -1;
	if (search.found)
		return 0;
	if (rp_secret_read(key->file, secret))
		return -1;
	nlh = rp_nl_request(nl, ROCEPATH_RDMA_CMD_KEY_SET);
	mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_KEY_ID, key->id);
	mnl_attr_put(nlh, ROCEPATH_RDMA_A_KEY_SECRET, sizeof(secret), secret);
	explicit_bzero(secret, sizeof(secret));
	err = submit(nl, "key");
	rp_nl_forget(nl);
	return err;
}

static int set_devices(struct rp_nl *nl, const struct rp_spec *spec)
{
	int err = set_all(nl, &spec->rdma);

	for (unsigned int i = 0; !err && i < spec->rdma.devices.count; i++)
		err = set_device(nl, rp_spec_rdma_at(spec, i));
	return err;
}

static int stop_steering(struct rp_nl *nl)
{
	struct nlmsghdr *nlh = rp_nl_request(nl, ROCEPATH_RDMA_CMD_DEVICE_SET);

	mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_DEVICE_STEERING, 0);
	return submit(nl, "rdma");
}

static bool has_section(const struct rp_spec *spec)
{
	return spec && rp_given(spec, RP_KEY_POLICY_RDMA);
}

/**
 * rp_rdma_apply() - have the module judge QPs by a policy, or complain
 * @before: the policy in force, or NULL
 * @spec: the new one, filled
 * @policy: the same, compiled
 *
 * Without the module it is not enforced, which is said if the policy asks for it.
 *
 * Return: 0 or -1.
 */
int rp_rdma_apply(const struct rp_spec *before, const struct rp_spec *spec,
		  const struct rp_policy *policy)
{
	static const char not_enforced[] =
		"warning: what it says of QPs of RDMA devices is not enforced: %s, apply again";
	bool wanted = rp_rdma_wanted(spec);
	struct rp_error error;
	struct rp_nl *nl;
	int err;

	/* the kernel loads it for who asks */
	nl = wanted || rp_rdma_is_loaded() ? rp_nl_open(&rp_rdma_family, &error) : NULL;
	if (!nl && wanted)
		rp_complain(not_enforced, error.text);
	if (!nl)
		return 0;
	err = set_key(nl, &spec->rdma.key);
	if (!err) {
		rp_rdma_put_policy(rp_nl_request(nl, ROCEPATH_RDMA_CMD_POLICY_SET), spec, policy);
		err = submit(nl, "rdma");
	}
	if (!err && has_section(spec))
		err = set_devices(nl, spec);
	else if (!err && has_section(before))
		err = stop_steering(nl);
	rp_nl_release(nl);
	return err;
}

/**
 * rp_rdma_refresh() - set devices that came since the policy was applied
 * @spec: the policy in force, filled
 */
void rp_rdma_refresh(const struct rp_spec *spec)
{
	struct rp_nl *nl = has_section(spec) && rp_rdma_is_loaded() ?
			   rp_nl_open(&rp_rdma_family, NULL) : NULL;

	if (!nl)
		return;
	if (!set_key(nl, &spec->rdma.key))
		set_devices(nl, spec);
	rp_nl_release(nl);
}

/**
 * rp_rdma_remove() - have the module judge QPs by no policy
 * @before: the policy in force, or NULL
 */
void rp_rdma_remove(const struct rp_spec *before)
{
	struct rp_nl *nl = rp_rdma_is_loaded() ? rp_nl_open(&rp_rdma_family, NULL) : NULL;

	if (!nl)
		return;
	rp_nl_request(nl, ROCEPATH_RDMA_CMD_POLICY_SET);
	submit(nl, "rdma");
	if (has_section(before))
		stop_steering(nl);
	rp_nl_release(nl);
}
