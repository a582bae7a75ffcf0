// SPDX-License-Identifier: GPL-2.0
/*
 * tc filters have a handle and priorities of their own, and each is replaced in
 * place: there is one of ours or none, whoever was killed when. XDP is a pinned
 * link, which ends with its pin. What others have on a hook is not touched.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <sys/stat.h>

#include "hooks.h"

#define HANDLE 0x4791
#define PRIORITY_ADMIT 1	/* before the other one, and before those of others */
#define PRIORITY_TRAFFIC 2

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

/* it is written down first: who is killed in between leaves a clsact that will be removed */
static int make_clsact(const struct rp_hook *hook, const struct rp_maps *maps,
		       struct rp_port_state *state, struct rp_error *error)
{
	LIBBPF_OPTS(bpf_tc_hook, tc, .ifindex = hook->ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_hook, ingress, .ifindex = hook->ifindex,
		    .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = HANDLE, .priority = PRIORITY_TRAFFIC);
	bool ours = state->flags & RP_PORT_CLSACT_OURS;
	int err;

	/* no filter and no clsact are told apart by the latter's EINVAL */
	if (!ours && bpf_tc_query(&ingress, &opts) == -EINVAL) {
		state->flags |= RP_PORT_CLSACT_OURS;
		err = rp_port_remember(maps, hook->ifindex, state, error);
		if (err)
			return err;
	}
	err = bpf_tc_hook_create(&tc);
	return err && err != -EEXIST ? failed(hook->name, "clsact", err, error) : 0;
}

static bool is_ours(uint32_t id)
{
	int fd = bpf_prog_get_fd_by_id(id);
	struct bpf_prog_info info = { 0 };
	u32 len = sizeof(info);
	bool ours = false;

	if (fd < 0)
		return false;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len))
		for (unsigned int i = 0; i < RP_PROGRAMS; i++)
			ours |= !strcmp(info.name, rp_program_names[i]);
	close(fd);
	return ours;
}

static int attach_tc(const struct rp_hook *hook, enum bpf_tc_attach_point point, uint32_t priority,
		     const struct rp_programs *programs, enum rp_program program,
		     struct rp_error *error)
{
	LIBBPF_OPTS(bpf_tc_hook, tc, .ifindex = hook->ifindex, .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, there, .handle = HANDLE, .priority = priority);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = HANDLE, .priority = priority,
		    .prog_fd = programs->fd[program], .flags = BPF_TC_F_REPLACE);
	int err;

	if (!bpf_tc_query(&tc, &there)) {
		if (there.prog_id == programs->id[program])
			return 0;
		if (!is_ours(there.prog_id)) {
			rp_error_set(error, "%s: a filter of somebody else has priority %u and handle 0x%x; move it: tc filter del dev %s %s prio %u",
				     hook->name, priority, HANDLE, hook->name,
				     point == BPF_TC_EGRESS ? "egress" : "ingress", priority);
			return -EEXIST;
		}
	}
	err = bpf_tc_attach(&tc, &opts);
	return err ? failed(hook->name, rp_program_names[program], err, error) : 0;
}

static void detach_tc(int ifindex, enum bpf_tc_attach_point point, uint32_t priority)
{
	LIBBPF_OPTS(bpf_tc_hook, tc, .ifindex = ifindex, .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = HANDLE, .priority = priority);

	if (bpf_tc_query(&tc, &opts) || !is_ours(opts.prog_id))
		return;
	opts.prog_id = 0;
	opts.prog_fd = 0;
	opts.flags = 0;
	bpf_tc_detach(&tc, &opts);
}

static void link_path(int ifindex, char *path)
{
	snprintf(path, RP_PATH_LEN, RP_PIN_DIR "/links/admit-%d", ifindex);
}

static bool is_attached(int fd, uint32_t program, int ifindex)
{
	struct bpf_link_info info = { 0 };
	u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &len) && info.prog_id == program &&
	       (int)info.xdp.ifindex == ifindex;
}

/* a link whose netdevice has gone is of no more use */
static int open_link(int ifindex, const char *path)
{
	struct bpf_link_info info = { 0 };
	u32 len = sizeof(info);
	int fd = bpf_obj_get(path);

	if (fd < 0 || (!bpf_obj_get_info_by_fd(fd, &info, &len) &&
		       (int)info.xdp.ifindex == ifindex))
		return fd;
	close(fd);
	unlink(path);
	return -1;
}

static int attach_xdp_program(int ifindex, int link, const char *path, int program)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
	int err;

	if (program < 0)
		return -ENOENT;
	if (link >= 0)
		return bpf_link_update(link, program, NULL) ? -errno : 0;
	link = bpf_link_create(program, ifindex, BPF_XDP, &opts);
	if (link < 0)
		return -errno;
	err = bpf_obj_pin(link, path) ? -errno : 0;
	close(link);
	return err;
}

/* the link of a netdevice is found by its number: the pins are of one network namespace */
static int attach_xdp(const struct rp_hook *hook, const struct rp_programs *programs)
{
	char path[RP_PATH_LEN];
	int link, err;

	mkdir(RP_PIN_DIR "/links", 0700);
	link_path(hook->ifindex, path);
	link = open_link(hook->ifindex, path);
	if (link >= 0 && (is_attached(link, programs->id[RP_PROGRAM_ADMIT], hook->ifindex) ||
			  is_attached(link, programs->id[RP_PROGRAM_ADMIT_LINEAR], hook->ifindex))) {
		close(link);
		return 0;
	}
	err = attach_xdp_program(hook->ifindex, link, path, programs->fd[RP_PROGRAM_ADMIT]);
	if (err)
		err = attach_xdp_program(hook->ifindex, link, path,
					 programs->fd[RP_PROGRAM_ADMIT_LINEAR]);
	if (link >= 0)
		close(link);
	if (err)
		unlink(path);
	return err;
}

static int attach_admit(const struct rp_hook *hook, const struct rp_programs *programs,
			const struct rp_maps *maps, struct rp_port_state *state,
			struct rp_error *error)
{
	int err = attach_xdp(hook, programs);

	state->flags &= ~(RP_PORT_ADMIT_XDP | RP_PORT_ADMIT_TC);
	if (!err) {
		detach_tc(hook->ifindex, BPF_TC_INGRESS, PRIORITY_ADMIT);
		state->flags |= RP_PORT_ADMIT_XDP;
	} else {
		/* taken by somebody, or none in this driver: then tc does it, a little later */
		err = attach_tc(hook, BPF_TC_INGRESS, PRIORITY_ADMIT, programs,
				RP_PROGRAM_ADMIT_INGRESS, error);
		if (err)
			return err;
		state->flags |= RP_PORT_ADMIT_TC;
	}
	return rp_port_remember(maps, hook->ifindex, state, error);
}

/**
 * rp_hook_attach() - attach the programs that a netdevice has to have
 * @hook: the netdevice and its roles
 * @programs: the programs
 * @maps: the maps
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_hook_attach(const struct rp_hook *hook, const struct rp_programs *programs,
		   const struct rp_maps *maps, struct rp_error *error)
{
	struct rp_port_state state;
	int err;

	rp_port_state(maps, hook->ifindex, &state);
	snprintf(state.name, sizeof(state.name), "%s", hook->name);
	err = rp_port_remember(maps, hook->ifindex, &state, error);
	if (!err)
		err = make_clsact(hook, maps, &state, error);
	/* in this order: ingress makes CNPs by sending what egress then makes one */
	if (!err && hook->roles & (RP_ROLE_TRAFFIC | RP_ROLE_GUARD))
		err = attach_tc(hook, BPF_TC_EGRESS, PRIORITY_TRAFFIC, programs,
				hook->roles & RP_ROLE_TRAFFIC ? RP_PROGRAM_EGRESS :
				RP_PROGRAM_PORT_EGRESS, error);
	if (!err && hook->roles & RP_ROLE_TRAFFIC)
		err = attach_tc(hook, BPF_TC_INGRESS, PRIORITY_TRAFFIC, programs,
				RP_PROGRAM_INGRESS, error);
	if (!err && hook->roles & RP_ROLE_PORT)
		err = attach_admit(hook, programs, maps, &state, error);
	return err;
}

/* not with the filters of somebody else in it */
static void remove_clsact(struct rp_rtnl *rtnl, int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, tc, .ifindex = ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	if (!rp_clsact_has_filters(rtnl, ifindex))
		bpf_tc_hook_destroy(&tc);
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
	char path[RP_PATH_LEN];

	rp_port_state(maps, ifindex, &state);
	if (!(roles & RP_ROLE_TRAFFIC))
		detach_tc(ifindex, BPF_TC_INGRESS, PRIORITY_TRAFFIC);
	if (!(roles & (RP_ROLE_TRAFFIC | RP_ROLE_GUARD)))
		detach_tc(ifindex, BPF_TC_EGRESS, PRIORITY_TRAFFIC);
	if (!(roles & RP_ROLE_PORT)) {
		detach_tc(ifindex, BPF_TC_INGRESS, PRIORITY_ADMIT);
		link_path(ifindex, path);
		unlink(path);
	}
	if (roles)
		return;
	if (state.flags & RP_PORT_CLSACT_OURS)
		remove_clsact(rtnl, ifindex);
	bpf_map_delete_elem(maps->fd[RP_MAP_PORTS], &ifindex);
}
