// SPDX-License-Identifier: GPL-2.0
/*
 * How a policy comes into force:
 *
 *   1. maps and programs are there, or are made in a stage beside the old ones
 *   2. the policy is written beside the one in force (state.c)
 *   3. devices, ports and keys of the module are made
 *   4. programs are attached where they are not yet, fq is put on the ports; QPs that
 *      connect are judged by the new policy (rdma_apply.c)
 *   5. one update of a map: packets see the new policy
 *   6. programs are detached where the new policy does not want them
 *
 * Until 5 all can be taken back, and is when something fails. A tool that is killed
 * before 5 leaves the old policy in force, after it the new one; the next run mends
 * what is left of 4 or 6.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "apply.h"
#include "census.h"
#include "compile.h"
#include "devices.h"
#include "hooks.h"
#include "rdma.h"
#include "snapshot.h"
#include "state.h"

#define LINE_RATE_DEFAULT (100000000000ull / 8)
#define HORIZON_SLACK_US 1000000	/* fq's is that much later than ours */

/**
 * struct transaction - a change from one policy to another
 * @lock: held while it lasts
 * @rtnl: a socket
 * @maps: those of the new policy
 * @programs: of it
 * @loaded: the programs are new
 * @fresh: the maps are new, too
 * @staged: there is something in the stage of the pins
 * @old_programs: those that are pinned, to go back to
 * @old: the policy in force
 * @before: what it was made from, or NULL
 * @policy: the new one
 * @inner: its map
 * @made: devices that were made for it
 * @snapshot: what those that were there were set to, or NULL
 * @links: all netdevices
 * @hooks: those that the new policy is about
 */
struct transaction {
	int lock;
	struct rp_rtnl *rtnl;
	struct rp_maps maps;
	struct rp_programs programs;
	bool loaded;
	bool fresh;
	bool staged;
	struct rp_programs old_programs;
	struct rp_policy *old;
	struct rp_spec *before;
	struct rp_policy *policy;
	int inner;
	struct rp_made made;
	struct rp_snapshot *snapshot;
	struct rp_links links;
	struct rp_hooks hooks;
};

static int complain(const struct rp_error *error)
{
	rp_complain("%s", error->text);
	return -1;
}

static void end(struct transaction *t)
{
	rp_hooks_drop(&t->hooks);
	rp_links_drop(&t->links);
	if (t->inner >= 0)
		close(t->inner);
	rp_programs_close(&t->programs);
	rp_programs_close(&t->old_programs);
	rp_maps_close(&t->maps);
	rp_spec_release(t->before);
	rp_snapshot_release(t->snapshot);
	rp_rtnl_release(t->rtnl);
	free(t->old);
	free(t->policy);
	if (t->lock >= 0)
		close(t->lock);
}

static int begin(struct transaction *t)
{
	struct rp_error error;

	*t = (struct transaction){ .inner = -1, .lock = -1 };
	memset(t->maps.fd, -1, sizeof(t->maps.fd));
	memset(t->programs.fd, -1, sizeof(t->programs.fd));
	memset(t->old_programs.fd, -1, sizeof(t->old_programs.fd));
	libbpf_set_print(NULL);
	t->policy = calloc(1, sizeof(*t->policy));
	t->old = calloc(1, sizeof(*t->old));
	if (!t->policy || !t->old) {
		rp_complain("out of memory");
		return -1;
	}
	t->lock = rp_pins_lock(&error);
	if (t->lock < 0 || rp_pins_begin(&error))
		return complain(&error);
	t->rtnl = rp_rtnl_new(&error);
	return t->rtnl ? 0 : complain(&error);
}

static void read_old(struct transaction *t)
{
	if (rp_state_policy(&t->maps, t->old)) {
		memset(t->old, 0, sizeof(*t->old));
		return;
	}
	t->before = rp_state_spec(&t->maps, t->old->generation);
}

/* of another version, whose policy cannot be read: but its text can */
static void read_stale(struct transaction *t)
{
	int documents = rp_map_open(RP_MAP_DOCUMENTS);

	if (documents < 0)
		return;
	t->before = rp_state_latest(documents);
	close(documents);
}

static int open_maps(struct transaction *t)
{
	struct rp_error error;
	int err;

	if (rp_pins_are_elsewhere()) {
		rp_complain("the policy in force is of another network namespace; mount a bpffs here, or: rocepath clean");
		return -1;
	}
	err = rp_maps_open(&t->maps, &error);
	if (!err)
		read_old(t);
	else if (err == -ESTALE)
		read_stale(t);
	else if (err != -ENOENT)
		return complain(&error);
	t->fresh = err;
	return 0;
}

/* what was done to netdevices is to be undone one day, whoever did it */
static void carry_over(const struct transaction *t)
{
	int old = rp_map_open(RP_MAP_PORTS);
	struct rp_port_state state;
	uint32_t ifindex;
	bool first = true;

	if (old < 0)
		return;
	for (; !bpf_map_get_next_key(old, first ? NULL : &ifindex, &ifindex); first = false)
		if (!bpf_map_lookup_elem(old, &ifindex, &state))
			bpf_map_update_elem(t->maps.fd[RP_MAP_PORTS], &ifindex, &state, BPF_ANY);
	close(old);
}

static int open_programs(struct transaction *t)
{
	struct rp_error error;

	rp_programs_open(&t->old_programs);
	if (!t->fresh && rp_programs_current(&t->programs))
		return 0;
	rp_programs_close(&t->programs);
	t->loaded = true;
	t->staged = true;
	if (rp_programs_load(&t->programs, &t->maps, t->fresh, &error))
		return complain(&error);
	if (!t->fresh)
		return 0;
	carry_over(t);
	if (t->before)
		return 0;
	/* without a policy they let all pass: so what is done next is written down for good */
	t->staged = false;
	return rp_pins_commit(&error) ? complain(&error) : 0;
}

static uint64_t speed_of(const char *name)
{
	char path[64];
	long mbit = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/net/%s/speed", name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%ld", &mbit) != 1 || mbit < 0)
		mbit = 0;
	fclose(file);
	return mbit * 1000000ull / 8;
}

static uint64_t line_rate(const struct transaction *t, const struct rp_spec *spec)
{
	uint64_t fastest = 0;

	for (unsigned int i = 0; i < t->hooks.count; i++) {
		uint64_t speed = t->hooks.at[i].roles & RP_ROLE_PORT ?
				 speed_of(t->hooks.at[i].name) : 0;

		fastest = speed > fastest ? speed : fastest;
	}
	return fastest ? fastest : spec->pacing.rate ? spec->pacing.rate : LINE_RATE_DEFAULT;
}

static int find_hooks(struct transaction *t, const struct rp_spec *spec)
{
	struct rp_error error;

	rp_hooks_drop(&t->hooks);
	rp_links_drop(&t->links);
	if (rp_links_read(t->rtnl, &t->links, &error))
		return complain(&error);
	rp_hooks_find(spec, &t->links, &t->hooks);
	return 0;
}

static int prepare(struct transaction *t, const struct rp_spec *spec, const char *text)
{
	struct rp_error error;

	if (find_hooks(t, spec))
		return -1;
	rp_compile(spec, t->old->generation ? t->old : NULL, line_rate(t, spec), t->policy);
	t->policy->generation = t->old->generation + 1;
	t->inner = rp_state_prepare(&t->maps, spec, text, t->policy, &error);
	return t->inner < 0 ? complain(&error) : 0;
}

/* where somebody has a qdisc of his own the policy is in force, but does not pace */
static void pace(struct transaction *t, const struct rp_hook *hook, const struct rp_qdiscs *qdiscs)
{
	struct rp_error error;

	if (rp_pace(t->rtnl, qdiscs, hook, &t->programs, &t->maps,
		    t->policy->horizon_ns / 1000 + HORIZON_SLACK_US, &error))
		rp_complain("warning: %s", error.text);
}

static int attach(struct transaction *t)
{
	struct rp_qdiscs qdiscs = { 0 };
	struct rp_error error;
	int err = 0;

	if (rp_qdiscs_read(t->rtnl, &qdiscs, &error))
		return complain(&error);
	for (unsigned int i = 0; !err && i < t->hooks.count; i++) {
		const struct rp_hook *hook = &t->hooks.at[i];

		err = rp_hook_attach(t->rtnl, &qdiscs, hook, &t->programs, &t->maps, &error);
		if (err)
			complain(&error);
		else if (hook->roles & RP_ROLE_PORT)
			pace(t, hook, &qdiscs);
	}
	rp_qdiscs_drop(&qdiscs);
	return err;
}

/* as far as it goes: what is wrong was said already */
static void attach_again(struct transaction *t)
{
	struct rp_qdiscs qdiscs = { 0 };

	if (rp_qdiscs_read(t->rtnl, &qdiscs, NULL))
		return;
	for (unsigned int i = 0; i < t->hooks.count; i++)
		rp_hook_attach(t->rtnl, &qdiscs, &t->hooks.at[i], &t->programs, &t->maps, NULL);
	rp_qdiscs_drop(&qdiscs);
}

/* the numbers of netdevices that something was done to; a walk does not survive deletions */
static unsigned int touched(const struct rp_maps *maps, uint32_t *ports, unsigned int max)
{
	unsigned int count = 0;

	while (count < max && !bpf_map_get_next_key(maps->fd[RP_MAP_PORTS],
						    count ? &ports[count - 1] : NULL,
						    &ports[count]))
		count++;
	return count;
}

#define PORTS_MAX 256	/* of the map */

static void detach(struct transaction *t)
{
	uint32_t ports[PORTS_MAX];
	unsigned int count = touched(&t->maps, ports, PORTS_MAX);

	for (unsigned int i = 0; i < count; i++) {
		unsigned int roles = rp_hooks_roles(&t->hooks, ports[i]);

		if (!(roles & RP_ROLE_PORT))
			rp_unpace(t->rtnl, ports[i], &t->programs, &t->maps);
		rp_hook_detach(t->rtnl, ports[i], &t->maps, roles);
	}
}

/* what was done where is not known: all that is ours is found by its name */
static void detach_everywhere(struct transaction *t)
{
	if (rp_links_read(t->rtnl, &t->links, NULL))
		return;
	for (unsigned int i = 0; i < t->links.count; i++)
		rp_hook_detach(t->rtnl, t->links.at[i].ifindex, &t->maps, 0);
}

/* back to what was before @spec: the old policy never went out of force */
static void roll_back(struct transaction *t, const struct rp_spec *spec)
{
	struct rp_made none = { .count = 0 };

	rp_devices_undo(t->rtnl, &t->made);
	if (t->before) {
		rp_spec_fill(t->before);
		if (!find_hooks(t, t->before)) {
			if (t->loaded) {
				rp_programs_close(&t->programs);
				t->programs = t->old_programs;
				memset(t->old_programs.fd, -1, sizeof(t->old_programs.fd));
			}
			rp_compile(t->before, t->old,
				   t->old->dcqcn.line_rate_bytes_per_s, t->policy);
			rp_devices_apply(t->rtnl, NULL, t->before, t->policy, &none);
			attach_again(t);
			rp_rdma_apply(spec, t->before, t->policy);
		}
	} else {
		rp_rdma_remove(spec);
		rp_hooks_drop(&t->hooks);
	}
	/* what the file before does not say, too */
	rp_snapshot_restore(t->snapshot, t->rtnl);
	if (t->maps.fd[RP_MAP_PORTS] >= 0)
		detach(t);
	if (t->maps.fd[RP_MAP_PEERS4] >= 0)
		rp_state_forget(&t->maps, t->old->generation);
	rp_pins_abandon();
	if (!t->before && t->fresh)
		rp_pins_remove(NULL);
}

static void pin_active(const struct transaction *t)
{
	bpf_obj_pin(t->inner, RP_STAGE "-active");
	rename(RP_STAGE "-active", RP_PIN_DIR "/active");
}

/* the last step that can fail; what was switched already is switched back */
static int commit(struct transaction *t)
{
	int before = t->staged && !t->fresh ? rp_map_inner(&t->maps) : -1;
	struct rp_error error;
	int err = rp_state_switch(&t->maps, t->inner, &error);

	if (!err && t->staged) {
		err = rp_pins_commit(&error);
		if (err && before >= 0)
			rp_state_switch(&t->maps, before, NULL);
	}
	if (before >= 0)
		close(before);
	return err ? complain(&error) : 0;
}

static void say_missing(const struct transaction *t, const struct rp_spec *spec)
{
	if (!t->hooks.count && !t->hooks.missing_count && !rp_given(spec, RP_KEY_POLICY_RDMA))
		rp_complain("warning: the policy names no netdevice: add interfaces: [eth0]");
	for (unsigned int i = 0; i < t->hooks.port_count; i++)
		rp_complain("warning: %s is a port of a device, which has the policy: no interface",
			    t->hooks.ports[i]);
	for (unsigned int i = 0; i < t->hooks.missing_count; i++)
		rp_complain("warning: there is no netdevice %s; apply again when it comes (or run)",
			    t->hooks.missing[i]);
}

static void read_census(const struct transaction *t)
{
	int err = rp_census_read(&t->maps);

	if (err && err != -EPROTONOSUPPORT)
		rp_complain("warning: the queue pairs that are there cannot be read: %s",
			    strerror(-err));
}

static int change(struct transaction *t, const struct rp_spec *spec, const char *text)
{
	int err = prepare(t, spec, text);

	t->snapshot = rp_snapshot_take(t->rtnl);
	if (!err)
		err = rp_devices_check(t->rtnl, spec);
	if (!err)
		err = rp_devices_apply(t->rtnl, t->before, spec, t->policy, &t->made);
	if (!err)
		err = find_hooks(t, spec);	/* with the devices that were made */
	if (!err)
		err = attach(t);
	/* before the policy may want to know them */
	if (!err && t->loaded)
		read_census(t);
	if (!err)
		err = rp_rdma_apply(t->before, spec, t->policy);
	return err ? err : commit(t);
}

static void finish(struct transaction *t, const struct rp_spec *spec)
{
	detach(t);
	pin_active(t);
	rp_state_begin_counts(&t->maps, t->old, t->policy);
	rp_state_forget(&t->maps, t->policy->generation);
	say_missing(t, spec);
	if (t->before)
		rp_spec_fill(t->before);
	rp_spec_diff(t->before, spec, stdout);
}

/* as its files said it: defaults may be others in another version */
static char *text_of(const struct rp_spec *spec)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (out)
		rp_spec_print(spec, out);
	if (!out || fclose(out)) {
		rp_complain("out of memory");
		exit(RP_EXIT_FAILURE);
	}
	return text;
}

/**
 * rp_apply() - make a policy the one in force, print what changed, or complain
 * @spec: one that is right; filled by this
 *
 * Return: an exit code; when it failed the policy before is in force still.
 */
int rp_apply(struct rp_spec *spec)
{
	char *text = text_of(spec);
	int ret = RP_EXIT_FAILURE;
	struct transaction t;

	rp_spec_fill(spec);
	if (!begin(&t) && !open_maps(&t)) {
		if (open_programs(&t) || change(&t, spec, text)) {
			roll_back(&t, spec);
		} else {
			finish(&t, spec);
			ret = RP_EXIT_OK;
		}
	}
	end(&t);
	free(text);
	return ret;
}

/**
 * rp_refresh() - attach the policy in force where it is not yet, or complain
 *
 * Netdevices came or went since it was applied, or ib_core did.
 *
 * Return: an exit code.
 */
int rp_refresh(void)
{
	int ret = RP_EXIT_FAILURE;
	struct transaction t;

	if (!begin(&t) && !open_maps(&t) && t.before && !rp_programs_open(&t.programs)) {
		memcpy(t.policy, t.old, sizeof(*t.policy));
		rp_spec_fill(t.before);
		if (!rp_devices_refresh(t.rtnl, t.before, t.policy) &&
		    !find_hooks(&t, t.before) && !attach(&t)) {
			detach(&t);
			rp_rdma_refresh(t.before);
			ret = RP_EXIT_OK;
		}
	}
	end(&t);
	return ret;
}

/**
 * rp_remove() - take the policy out of force, and put back what was before, or complain
 *
 * Return: an exit code.
 */
int rp_remove(void)
{
	int ret = RP_EXIT_FAILURE;
	struct rp_error error;
	struct transaction t;

	/* links end with their pins; numbers of netdevices are others here */
	if (!begin(&t) && rp_pins_are_elsewhere()) {
		ret = rp_pins_remove(&error) ? complain(&error), RP_EXIT_FAILURE : RP_EXIT_OK;
	} else if (t.rtnl && !open_maps(&t)) {
		rp_programs_open(&t.programs);
		rp_rdma_remove(t.before);
		if (t.maps.fd[RP_MAP_PORTS] < 0)
			t.maps.fd[RP_MAP_PORTS] = rp_map_open(RP_MAP_PORTS);
		if (t.maps.fd[RP_MAP_PORTS] >= 0)
			detach(&t);
		else
			detach_everywhere(&t);
		if (rp_pins_remove(&error))
			complain(&error);
		else
			ret = RP_EXIT_OK;
	}
	end(&t);
	return ret;
}

/* Return: 0; -ENOENT: there is none; or another negative error number. */
static int in_force(struct rp_spec **spec, struct rp_error *error)
{
	struct rp_policy *policy = calloc(1, sizeof(*policy));
	struct rp_maps maps;
	int err = -ENOMEM;

	*spec = NULL;
	libbpf_set_print(NULL);
	rp_error_set(error, "out of memory");
	if (policy)
		err = rp_maps_open(&maps, error);
	if (!err) {
		rp_error_set(error, "no policy is in force; apply one: rocepath apply FILE");
		err = rp_state_policy(&maps, policy);
		if (!err)
			*spec = rp_state_spec(&maps, policy->generation);
		rp_maps_close(&maps);
	}
	free(policy);
	return err || *spec ? err : -ENOENT;
}

/**
 * rp_in_force() - read what the policy in force was made from, or complain
 *
 * Return: the policy or NULL.
 */
struct rp_spec *rp_in_force(void)
{
	struct rp_error error;
	struct rp_spec *spec;

	if (in_force(&spec, &error))
		rp_complain("%s", error.text);
	return spec;
}

/**
 * rp_in_force_if_any() - read what the policy in force was made from, or complain
 * @spec: gets it, NULL where there is none
 *
 * That it may not be read does not mean that there is none.
 *
 * Return: 0 or -1.
 */
int rp_in_force_if_any(struct rp_spec **spec)
{
	struct rp_error error;
	int err = in_force(spec, &error);

	return err && err != -ENOENT ? complain(&error) : 0;
}
