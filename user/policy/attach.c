// SPDX-License-Identifier: GPL-2.0
/*
 * A link is pinned by the name of its program and the number of its netdevice, the pins
 * being of one network namespace: there is one of ours or none, whoever was killed when.
 * Another program takes its place in it in one step. It ends with its pin, or its
 * netdevice.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <sys/stat.h>

#include "attach.h"

#define LOOPBACK 1		/* each namespace has it */
#define BEFORE_ALL (1u << 3)	/* BPF_F_BEFORE, of no other program */

/* where a link belongs */
struct place {
	int ifindex;
	enum bpf_attach_type type;
	unsigned int flags;
	char path[RP_PATH_LEN];
};

static void link_path(enum rp_program program, int ifindex, char *path)
{
	/* XDP has one place for both kinds of admission */
	if (program == RP_PROGRAM_ADMIT_LINEAR)
		program = RP_PROGRAM_ADMIT;
	snprintf(path, RP_PATH_LEN, RP_PIN_DIR "/links/%s-%d", rp_program_names[program], ifindex);
}

/* what there is to know of links of XDP and of TCX begins with the same */
static bool read_link(int link, int ifindex, uint32_t *program)
{
	struct bpf_link_info info = { 0 };
	u32 len = sizeof(info);

	if (link < 0 || bpf_obj_get_info_by_fd(link, &info, &len) ||
	    (int)info.xdp.ifindex != ifindex)
		return false;
	*program = info.prog_id;
	return true;
}

/* a link whose netdevice has gone is of no more use */
static int open_link(const struct place *place, uint32_t *program)
{
	int link = bpf_obj_get(place->path);

	if (link < 0 || read_link(link, place->ifindex, program))
		return link;
	close(link);
	unlink(place->path);
	return -1;
}

static int attach_program(const struct place *place, int link, int program)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = place->flags);
	int err;

	if (program < 0)
		return -ENOENT;
	if (link >= 0)
		return bpf_link_update(link, program, NULL) ? -errno : 0;
	link = bpf_link_create(program, place->ifindex, place->type, &opts);
	if (link < 0)
		return -errno;
	err = bpf_obj_pin(link, place->path) ? -errno : 0;
	close(link);
	return err;
}

/* the first of two programs that can be attached; one that is already is left alone */
static int attach(const struct place *place, const struct rp_programs *programs,
		  enum rp_program first, enum rp_program second)
{
	uint32_t there = 0;
	int link, err;

	mkdir(RP_PIN_DIR "/links", 0700);
	link = open_link(place, &there);
	if (link >= 0 && (there == programs->id[first] || there == programs->id[second])) {
		close(link);
		return 0;
	}
	err = attach_program(place, link, programs->fd[first]);
	if (err && second != first)
		err = attach_program(place, link, programs->fd[second]);
	if (link >= 0)
		close(link);
	if (err)
		unlink(place->path);
	return err;
}

/**
 * rp_has_tcx() - does the kernel have TCX?
 *
 * Return: 1, 0, or -EPERM: it may not be asked.
 */
int rp_has_tcx(void)
{
	u32 count = 0;

	if (!bpf_prog_query(LOOPBACK, RP_TCX_EGRESS, 0, NULL, NULL, &count))
		return 1;
	return errno == EPERM || errno == EACCES ? -EPERM : 0;
}

/**
 * rp_attach_xdp() - have admission on a netdevice by XDP
 * @programs: the programs
 * @ifindex: the netdevice
 *
 * Return: 0, or a negative error number: the hook is taken, or the driver has none.
 */
int rp_attach_xdp(const struct rp_programs *programs, int ifindex)
{
	struct place place = {
		.ifindex = ifindex, .type = BPF_XDP, .flags = XDP_FLAGS_DRV_MODE,
	};

	link_path(RP_PROGRAM_ADMIT, ifindex, place.path);
	return attach(&place, programs, RP_PROGRAM_ADMIT, RP_PROGRAM_ADMIT_LINEAR);
}

/**
 * rp_attach_tcx() - have a program on a netdevice by TCX, before those of others
 * @programs: the programs
 * @program: which one
 * @ifindex: the netdevice
 * @egress: where
 *
 * Unlike a clsact it takes no queue of the netdevice down, so nothing that waits is lost.
 *
 * Return: 0, or a negative error number: the kernel is older than 6.6, or the hook full.
 */
int rp_attach_tcx(const struct rp_programs *programs, enum rp_program program, int ifindex,
		  bool egress)
{
	struct place place = {
		.ifindex = ifindex, .type = egress ? RP_TCX_EGRESS : RP_TCX_INGRESS,
		.flags = BEFORE_ALL,
	};

	link_path(program, ifindex, place.path);
	return attach(&place, programs, program, program);
}

/**
 * rp_is_attached() - is there a link of a program?
 * @program: the program
 * @ifindex: the netdevice; one that has taken the number of another has none of its links
 */
bool rp_is_attached(enum rp_program program, int ifindex)
{
	char path[RP_PATH_LEN];
	uint32_t id;
	bool there;
	int link;

	link_path(program, ifindex, path);
	link = bpf_obj_get(path);
	there = read_link(link, ifindex, &id);
	if (link >= 0)
		close(link);
	return there;
}

/**
 * rp_detach() - end the link of a program, if there is one
 * @program: the program
 * @ifindex: the netdevice
 */
void rp_detach(enum rp_program program, int ifindex)
{
	char path[RP_PATH_LEN];
	int link;

	link_path(program, ifindex, path);
	link = bpf_obj_get(path);
	if (link < 0)
		return;
	/* at once: what a pin held ends somewhat later */
	bpf_link_detach(link);
	close(link);
	unlink(path);
}

/**
 * rp_hold() - have RoCE that leaves by a netdevice lost, and not refused, for a moment
 * @programs: the programs
 * @ifindex: the netdevice
 *
 * The link is not pinned: it ends with whoever is killed. Packets that had passed the hook
 * are in the queue when this returns.
 *
 * Return: for rp_release(); negative where the kernel has no TCX, nor a need for it.
 */
int rp_hold(const struct rp_programs *programs, int ifindex)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = BEFORE_ALL);

	if (programs->fd[RP_PROGRAM_LOSE] < 0)
		return -ENOENT;
	return bpf_link_create(programs->fd[RP_PROGRAM_LOSE], ifindex, RP_TCX_EGRESS, &opts);
}

/**
 * rp_release() - let RoCE pass again
 * @held: what rp_hold() returned
 */
void rp_release(int held)
{
	if (held >= 0)
		close(held);
}
