// SPDX-License-Identifier: GPL-2.0
/*
 * Programs are attached by links where the kernel has them: XDP, and TCX since 6.6
 * (attach.c). Elsewhere they are tc filters in a clsact, known by their handle and the
 * name of their program, and each is replaced in place: there is one of ours or none,
 * whoever was killed when. They take the first priority that nobody uses in another way,
 * to come before those of others. What others have on a hook is not touched.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_sched.h>

#include "attach.h"
#include "hooks.h"

#define HANDLE 0x4791
#define PRIORITY_ADMIT 1	/* at least: before the other one */
#define PRIORITY_TRAFFIC 2
#define PRIORITY_MAX 0xffff

/* where tc programs belong */
static const struct {
	bool egress;
	uint32_t priority;
} places[RP_PROGRAMS] = {
	[RP_PROGRAM_ADMIT_INGRESS] = { false, PRIORITY_ADMIT },
	[RP_PROGRAM_EGRESS] = { true, PRIORITY_TRAFFIC },
	[RP_PROGRAM_INGRESS] = { false, PRIORITY_TRAFFIC },
	[RP_PROGRAM_PORT_EGRESS] = { true, PRIORITY_TRAFFIC },
};

/* a netdevice, and what is needed to attach programs to it */
struct attaching {
	struct rp_rtnl *rtnl;
	const struct rp_qdiscs *qdiscs;
	const struct rp_hook *hook;
	const struct rp_programs *programs;
	const struct rp_maps *maps;
	struct rp_port_state state;
	struct rp_error *error;
};

static int failed(const char *name, const char *what, int err, struct rp_error *error)
{
	rp_error_set(error, "%s: %s: %s", name, what, strerror(-err));
	return err;
}

/**
 * rp_port_state() - what was done to a netdevice
 * @maps: the maps
 * @ifindex: the netdevice
 * @state: where it goes; zeros when nothing was
 *
 * Return: 0 or -ENOENT.
 */
int rp_port_state(const struct rp_maps *maps, uint32_t ifindex, struct rp_port_state *state)
{
	memset(state, 0, sizeof(*state));
	return bpf_map_lookup_elem(maps->fd[RP_MAP_PORTS], &ifindex, state) ? -errno : 0;
}

/**
 * rp_port_remember() - write down what is about to be done to a netdevice
 * @maps: the maps
 * @ifindex: the netdevice
 * @state: what
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_port_remember(const struct rp_maps *maps, uint32_t ifindex,
		     const struct rp_port_state *state, struct rp_error *error)
{
	if (!bpf_map_update_elem(maps->fd[RP_MAP_PORTS], &ifindex, state, BPF_ANY))
		return 0;
	return failed(state->name, "too many netdevices", -errno, error);
}

static const struct rp_qdisc *clsact_of(const struct rp_qdiscs *qdiscs, int ifindex)
{
	for (unsigned int i = 0; i < qdiscs->count; i++)
		if (qdiscs->at[i].ifindex == ifindex && qdiscs->at[i].parent == TC_H_CLSACT)
			return &qdiscs->at[i];
	return NULL;
}

/* it is written down first: who is killed in between leaves a clsact that will be removed */
static int make_clsact(struct attaching *a)
{
	LIBBPF_OPTS(bpf_tc_hook, tc, .ifindex = a->hook->ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	const struct rp_hook *hook = a->hook;
	const struct rp_qdisc *there = clsact_of(a->qdiscs, hook->ifindex);
	int err;

	if (there && strcmp(there->kind, "clsact")) {
		rp_error_set(a->error,
			     "%s has an ingress qdisc, which leaves no room for clsact; remove it: tc qdisc del dev %s ingress",
			     hook->name, hook->name);
		return -EBUSY;
	}
	if (there)
		return 0;
	a->state.flags |= RP_PORT_CLSACT_OURS;
	err = rp_port_remember(a->maps, hook->ifindex, &a->state, a->error);
	if (err)
		return err;
	err = bpf_tc_hook_create(&tc);
	if (err && err != -EEXIST)
		return failed(hook->name, "clsact", err, a->error);
	if (!err)
		rp_complain("warning: %s: no TCX (Linux 6.6) is to be had, and a clsact replaces the queue: what waited is lost, and QPs of rdma_rxe that were sending may have ended; the next apply does neither",
			    hook->name);
	return 0;
}

static bool has_name(uint32_t id, const char *name)
{
	int fd = bpf_prog_get_fd_by_id(id);
	struct bpf_prog_info info = { 0 };
	u32 len = sizeof(info);
	bool same;

	if (fd < 0)
		return false;
	same = !bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, name);
	close(fd);
	return same;
}

static const struct rp_filter *find_filter(const struct rp_filters *filters, bool egress,
					   enum rp_program program)
{
	for (unsigned int i = 0; i < filters->count; i++) {
		const struct rp_filter *filter = &filters->at[i];

		if (filter->egress == egress && filter->handle == HANDLE && filter->program &&
		    has_name(filter->program, rp_program_names[program]))
			return filter;
	}
	return NULL;
}

/* filters of one kind and protocol may share a priority, if they have different handles */
static bool is_taken(const struct rp_filters *filters, bool egress, uint32_t priority)
{
	for (unsigned int i = 0; i < filters->count; i++) {
		const struct rp_filter *filter = &filters->at[i];

		if (filter->egress == egress && filter->priority == priority &&
		    (filter->handle == HANDLE || strcmp(filter->kind, "bpf") ||
		     filter->protocol != htons(ETH_P_ALL)))
			return true;
	}
	return false;
}

static int attach_filter(struct attaching *a, enum rp_program program)
{
	LIBBPF_OPTS(bpf_tc_hook, tc, .ifindex = a->hook->ifindex,
		    .attach_point = places[program].egress ? BPF_TC_EGRESS : BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = HANDLE, .prog_fd = a->programs->fd[program]);
	uint32_t priority = places[program].priority;
	bool egress = places[program].egress;
	struct rp_filters filters = { 0 };
	const struct rp_filter *there;
	int err = make_clsact(a);

	if (!err)
		err = rp_filters_read(a->rtnl, a->hook->ifindex, &filters, a->error);
	if (err)
		return err;
	there = find_filter(&filters, egress, program);
	if (there) {
		opts.priority = there->priority;
		opts.flags = BPF_TC_F_REPLACE;
	} else {
		while (priority < PRIORITY_MAX && is_taken(&filters, egress, priority))
			priority++;
		opts.priority = priority;
	}
	if (!there || there->program != a->programs->id[program])
		err = bpf_tc_attach(&tc, &opts);
	rp_filters_drop(&filters);
	return err ? failed(a->hook->name, rp_program_names[program], err, a->error) : 0;
}

static void detach_filter(struct rp_rtnl *rtnl, int ifindex, enum rp_program program)
{
	LIBBPF_OPTS(bpf_tc_hook, tc, .ifindex = ifindex,
		    .attach_point = places[program].egress ? BPF_TC_EGRESS : BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = HANDLE);
	struct rp_filters filters = { 0 };
	const struct rp_filter *there;

	if (!rp_filters_read(rtnl, ifindex, &filters, NULL)) {
		there = find_filter(&filters, places[program].egress, program);
		if (there) {
			opts.priority = there->priority;
			bpf_tc_detach(&tc, &opts);
		}
	}
	rp_filters_drop(&filters);
}

/* the new way first: a packet may pass both for a moment, but none passes without */
static int attach_tc(struct attaching *a, enum rp_program program)
{
	int ifindex = a->hook->ifindex;

	if (rp_attach_tcx(a->programs, program, ifindex, places[program].egress))
		return attach_filter(a, program);
	detach_filter(a->rtnl, ifindex, program);
	return 0;
}

static void detach_tc(struct rp_rtnl *rtnl, int ifindex, enum rp_program program)
{
	rp_detach(program, ifindex);
	detach_filter(rtnl, ifindex, program);
}

static int attach_admit(struct attaching *a)
{
	int err;

	a->state.flags &= ~(RP_PORT_ADMIT_XDP | RP_PORT_ADMIT_TC);
	if (!rp_attach_xdp(a->programs, a->hook->ifindex)) {
		detach_tc(a->rtnl, a->hook->ifindex, RP_PROGRAM_ADMIT_INGRESS);
		a->state.flags |= RP_PORT_ADMIT_XDP;
	} else {
		/* taken by somebody, or none in this driver: then tc does it, a little later */
		err = attach_tc(a, RP_PROGRAM_ADMIT_INGRESS);
		if (err)
			return err;
		a->state.flags |= RP_PORT_ADMIT_TC;
	}
	return rp_port_remember(a->maps, a->hook->ifindex, &a->state, a->error);
}

/**
 * rp_hook_attach() - attach the programs that a netdevice has to have
 * @rtnl: a socket
 * @qdiscs: all that there are
 * @hook: the netdevice and its roles
 * @programs: the programs
 * @maps: the maps
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_hook_attach(struct rp_rtnl *rtnl, const struct rp_qdiscs *qdiscs,
		   const struct rp_hook *hook, const struct rp_programs *programs,
		   const struct rp_maps *maps, struct rp_error *error)
{
	struct attaching a = {
		.rtnl = rtnl, .qdiscs = qdiscs, .hook = hook, .programs = programs, .maps = maps,
		.error = error,
	};
	int err;

	rp_port_state(maps, hook->ifindex, &a.state);
	snprintf(a.state.name, sizeof(a.state.name), "%s", hook->name);
	err = rp_port_remember(maps, hook->ifindex, &a.state, error);
	/*
	 * In this order: ingress makes CNPs by sending what egress then makes one, and of two
	 * links on a hook the later one comes before: admission.
	 */
	if (!err && hook->roles & RP_ROLE_TRAFFIC)
		err = attach_tc(&a, RP_PROGRAM_EGRESS);
	if (!err && hook->roles & RP_ROLE_GUARD)
		err = attach_tc(&a, RP_PROGRAM_PORT_EGRESS);
	if (!err && hook->roles & RP_ROLE_TRAFFIC)
		err = attach_tc(&a, RP_PROGRAM_INGRESS);
	if (!err && hook->roles & RP_ROLE_PORT)
		err = attach_admit(&a);
	return err;
}

/* by a link, or by a filter */
static bool has_program(struct rp_rtnl *rtnl, int ifindex, enum rp_program program)
{
	struct rp_filters filters = { 0 };
	bool found = rp_is_attached(program, ifindex);

	if (!found && !rp_filters_read(rtnl, ifindex, &filters, NULL))
		found = find_filter(&filters, places[program].egress, program);
	rp_filters_drop(&filters);
	return found;
}

/**
 * rp_hook_lacks() - is there a program that a netdevice should have, and has not?
 * @rtnl: a socket
 * @hook: the netdevice and its roles
 *
 * It came after the policy was applied, perhaps in the place of another one of its name.
 *
 * Return: the name of the program, or NULL.
 */
const char *rp_hook_lacks(struct rp_rtnl *rtnl, const struct rp_hook *hook)
{
	int ifindex = hook->ifindex;

	if (hook->roles & RP_ROLE_TRAFFIC && !has_program(rtnl, ifindex, RP_PROGRAM_EGRESS))
		return rp_program_names[RP_PROGRAM_EGRESS];
	if (hook->roles & RP_ROLE_TRAFFIC && !has_program(rtnl, ifindex, RP_PROGRAM_INGRESS))
		return rp_program_names[RP_PROGRAM_INGRESS];
	if (hook->roles & RP_ROLE_GUARD && !has_program(rtnl, ifindex, RP_PROGRAM_PORT_EGRESS))
		return rp_program_names[RP_PROGRAM_PORT_EGRESS];
	if (hook->roles & RP_ROLE_PORT && !rp_is_attached(RP_PROGRAM_ADMIT, ifindex) &&
	    !has_program(rtnl, ifindex, RP_PROGRAM_ADMIT_INGRESS))
		return rp_program_names[RP_PROGRAM_ADMIT];
	return NULL;
}

/* not with the filters of somebody else in it */
static void remove_clsact(struct rp_rtnl *rtnl, int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, tc, .ifindex = ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	struct rp_filters filters = { 0 };

	if (!rp_filters_read(rtnl, ifindex, &filters, NULL) && !filters.count)
		bpf_tc_hook_destroy(&tc);
	rp_filters_drop(&filters);
}

/**
 * rp_hook_detach() - detach the programs that a netdevice should no longer have
 * @rtnl: a socket
 * @ifindex: the netdevice
 * @maps: the maps
 * @roles: those that it keeps; 0: what was done to it is forgotten, too
 */
void rp_hook_detach(struct rp_rtnl *rtnl, uint32_t ifindex, const struct rp_maps *maps,
		    unsigned int roles)
{
	struct rp_port_state state;

	rp_port_state(maps, ifindex, &state);
	if (!(roles & RP_ROLE_TRAFFIC)) {
		detach_tc(rtnl, ifindex, RP_PROGRAM_INGRESS);
		detach_tc(rtnl, ifindex, RP_PROGRAM_EGRESS);
	}
	if (!(roles & RP_ROLE_GUARD))
		detach_tc(rtnl, ifindex, RP_PROGRAM_PORT_EGRESS);
	if (!(roles & RP_ROLE_PORT)) {
		detach_tc(rtnl, ifindex, RP_PROGRAM_ADMIT_INGRESS);
		rp_detach(RP_PROGRAM_ADMIT, ifindex);
	}
	if (roles)
		return;
	if (state.flags & RP_PORT_CLSACT_OURS)
		remove_clsact(rtnl, ifindex);
	bpf_map_delete_elem(maps->fd[RP_MAP_PORTS], &ifindex);
}
