// SPDX-License-Identifier: GPL-2.0
/*
 * Paced packets carry the time when they may leave; fq on the ports holds them until
 * then. A qdisc that the kernel chose by itself is replaced, and comes back when ours
 * is deleted; one that somebody configured stays, and packets are not paced there
 * unless it is fq. What waits in a qdisc that is replaced is lost, and must not be more.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/pkt_sched.h>

#include "attach.h"
#include "hooks.h"

#define MQ_HANDLE TC_H_MAKE(0x47910000, 0)
#define QUEUES_MAX 256

static const struct rp_qdisc *root_of(const struct rp_qdiscs *qdiscs, int ifindex)
{
	for (unsigned int i = 0; i < qdiscs->count; i++)
		if (qdiscs->at[i].ifindex == ifindex && qdiscs->at[i].parent == TC_H_ROOT)
			return &qdiscs->at[i];
	return NULL;
}

/* how many classes of an mq there are */
static unsigned int queues_of(const struct rp_qdiscs *qdiscs, const struct rp_qdisc *root)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < qdiscs->count; i++)
		if (qdiscs->at[i].ifindex == root->ifindex && qdiscs->at[i].parent != TC_H_ROOT &&
		    TC_H_MAJ(qdiscs->at[i].parent) == TC_H_MAJ(root->handle))
			count++;
	return count < QUEUES_MAX ? count : QUEUES_MAX;
}

static int put_fqs(struct rp_rtnl *rtnl, const struct rp_qdiscs *qdiscs,
		   const struct rp_qdisc *root, uint64_t horizon_us, struct rp_error *error)
{
	unsigned int queues = queues_of(qdiscs, root);
	int err;

	if (strcmp(root->kind, "mq"))
		return rp_qdisc_put_fq(rtnl, root->ifindex, TC_H_ROOT, horizon_us, error);
	/* the kernel's own mq has no handle, so its classes have no names */
	err = root->handle ? 0 : rp_qdisc_put_mq(rtnl, root->ifindex, MQ_HANDLE, error);
	for (unsigned int i = 1; !err && i <= queues; i++)
		err = rp_qdisc_put_fq(rtnl, root->ifindex, TC_H_MAKE(MQ_HANDLE, i), horizon_us,
				      error);
	return err;
}

/* ours is there already: it is only changed */
static bool has_fq(const struct rp_qdiscs *qdiscs, const struct rp_qdisc *root)
{
	unsigned int fqs = 0;

	if (strcmp(root->kind, "mq"))
		return root->handle && !strcmp(root->kind, "fq");
	for (unsigned int i = 0; i < qdiscs->count; i++)
		if (qdiscs->at[i].ifindex == root->ifindex && !strcmp(qdiscs->at[i].kind, "fq"))
			fqs++;
	return root->handle && fqs >= queues_of(qdiscs, root);
}

/* somebody may have put a qdisc of his own there since */
static bool may_be_ours(const struct rp_qdisc *root)
{
	return !root || !root->handle || !strcmp(root->kind, "fq") ||
	       (!strcmp(root->kind, "mq") && root->handle == MQ_HANDLE);
}

static int put_fq(struct rp_rtnl *rtnl, const struct rp_qdiscs *qdiscs,
		  const struct rp_qdisc *root, const struct rp_programs *programs,
		  uint64_t horizon_us, struct rp_error *error)
{
	int held = has_fq(qdiscs, root) ? -1 : rp_hold(programs, root->ifindex);
	int err = put_fqs(rtnl, qdiscs, root, horizon_us, error);

	rp_release(held);
	return err;
}

/**
 * rp_pace() - have fq on a port
 * @rtnl: a socket
 * @qdiscs: all that there are
 * @hook: the port
 * @programs: the programs
 * @maps: the maps
 * @horizon_us: of fq
 * @error: why not; also set, with -EBUSY, when somebody's own qdisc is there
 *
 * Return: 0 or a negative error number.
 */
int rp_pace(struct rp_rtnl *rtnl, const struct rp_qdiscs *qdiscs, const struct rp_hook *hook,
	    const struct rp_programs *programs, const struct rp_maps *maps, uint64_t horizon_us,
	    struct rp_error *error)
{
	const struct rp_qdisc *root = root_of(qdiscs, hook->ifindex);
	/* virtual netdevices have none at all */
	const struct rp_qdisc none = { .ifindex = hook->ifindex, .kind = "noqueue" };
	struct rp_port_state state;
	int err;

	if (!root)
		root = &none;
	rp_port_state(maps, hook->ifindex, &state);
	if (state.flags & RP_PORT_QDISC_OURS && !may_be_ours(root)) {
		state.flags &= ~RP_PORT_QDISC_OURS;
		rp_port_remember(maps, hook->ifindex, &state, NULL);
	}
	if (!(state.flags & RP_PORT_QDISC_OURS)) {
		if (!strcmp(root->kind, "fq"))
			return 0;
		if (root->handle) {
			rp_error_set(error,
				     "%s has the qdisc %s, so nothing is paced there; remove it: tc qdisc del dev %s root",
				     hook->name, root->kind, hook->name);
			return -EBUSY;
		}
		state.flags |= RP_PORT_QDISC_OURS;
		snprintf(state.qdisc_before, sizeof(state.qdisc_before), "%s", root->kind);
		err = rp_port_remember(maps, hook->ifindex, &state, error);
		if (err)
			return err;
	}
	err = put_fq(rtnl, qdiscs, root, programs, horizon_us, error);
	if (err)
		rp_unpace(rtnl, hook->ifindex, programs, maps);
	return err;
}

/**
 * rp_unpace() - put back the qdisc that was on a port
 * @rtnl: a socket
 * @ifindex: the port
 * @programs: the programs
 * @maps: the maps
 */
void rp_unpace(struct rp_rtnl *rtnl, uint32_t ifindex, const struct rp_programs *programs,
	       const struct rp_maps *maps)
{
	struct rp_qdiscs qdiscs = { 0 };
	const struct rp_qdisc *root;
	struct rp_port_state state;
	int held;

	if (rp_port_state(maps, ifindex, &state) || !(state.flags & RP_PORT_QDISC_OURS) ||
	    rp_qdiscs_read(rtnl, &qdiscs, NULL))
		return;
	root = root_of(&qdiscs, ifindex);
	if (may_be_ours(root)) {
		held = rp_hold(programs, ifindex);
		rp_qdisc_delete(rtnl, ifindex, TC_H_ROOT, NULL);
		rp_release(held);
	} else {
		rp_complain("warning: %s has the qdisc %s now, which stays", state.name,
			    root->kind);
	}
	rp_qdiscs_drop(&qdiscs);
	state.flags &= ~RP_PORT_QDISC_OURS;
	rp_port_remember(maps, ifindex, &state, NULL);
}
