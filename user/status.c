// SPDX-License-Identifier: GPL-2.0
/* What is attached to the netdevices of the policy, by us and by others. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include "commands.h"
#include "policy/apply.h"
#include "policy/attach.h"
#include "policy/hooks.h"
#include "rdma.h"
#include "rows.h"
#include "rtnl.h"
#include "units.h"

static const struct rp_column columns[] = {
	{ "netdevice", "NETDEVICE", false }, { "hook", "HOOK", false },
	{ "priority", "PRIO", true }, { "name", "WHAT", false }, { "id", "ID", true },
	{ "by", "BY", false }, { 0 },
};

static void print_row(struct rp_rows *rows, const char *netdevice, const char *hook,
		      uint32_t priority, const char *name, uint32_t id, const char *by)
{
	rp_row_begin(rows);
	rp_row_text(rows, netdevice);
	rp_row_text(rows, hook);
	rp_row_number(rows, priority, priority ? NULL : "-");
	rp_row_text(rows, name);
	rp_row_number(rows, id, id ? NULL : "-");
	rp_row_text(rows, by);
	rp_row_end(rows);
}

static const char *program_name(uint32_t id, struct bpf_prog_info *info)
{
	int fd = bpf_prog_get_fd_by_id(id);
	u32 len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (fd < 0)
		return "?";
	bpf_obj_get_info_by_fd(fd, info, &len);
	close(fd);
	return info->name;
}

/* a program is ours if it is the one that is pinned, not because of its name */
static const char *by(const struct rp_programs *programs, uint32_t id)
{
	for (unsigned int i = 0; id && i < RP_PROGRAMS; i++)
		if (programs->id[i] == id)
			return "rocepath";
	return "other";
}

struct printer {
	struct rp_rows rows;
	struct rp_programs programs;
	const char *netdevice;
};

static void print_filters(struct printer *p, struct rp_rtnl *rtnl, int ifindex)
{
	struct rp_filters filters = { 0 };
	struct bpf_prog_info info;

	rp_filters_read(rtnl, ifindex, &filters, NULL);
	for (unsigned int i = 0; i < filters.count; i++) {
		const struct rp_filter *filter = &filters.at[i];
		u32 id = filter->program;

		print_row(&p->rows, p->netdevice, filter->egress ? "tc egress" : "tc ingress",
			  filter->priority, id ? program_name(id, &info) : filter->kind, id,
			  by(&p->programs, id));
	}
	rp_filters_drop(&filters);
}

#define TCX_MAX 64	/* of the kernel */

static void print_tcx(struct printer *p, int ifindex, enum bpf_attach_type type)
{
	u32 ids[TCX_MAX], count = TCX_MAX;
	struct bpf_prog_info info;

	if (bpf_prog_query(ifindex, type, 0, NULL, ids, &count))
		return;
	for (u32 i = 0; i < count; i++)
		print_row(&p->rows, p->netdevice,
			  type == RP_TCX_EGRESS ? "tcx egress" : "tcx ingress", 0,
			  program_name(ids[i], &info), ids[i], by(&p->programs, ids[i]));
}

static void print_xdp(struct printer *p, int ifindex)
{
	struct bpf_prog_info info;
	u32 id = 0;

	if (!bpf_xdp_query_id(ifindex, 0, &id) && id)
		print_row(&p->rows, p->netdevice, "xdp", 0, program_name(id, &info), id,
			  by(&p->programs, id));
}

static void print_qdiscs(struct printer *p, const struct rp_qdiscs *qdiscs, uint32_t ifindex,
			 const struct rp_port_state *state)
{
	for (unsigned int i = 0; i < qdiscs->count; i++) {
		const struct rp_qdisc *qdisc = &qdiscs->at[i];

		if ((uint32_t)qdisc->ifindex == ifindex && !strcmp(qdisc->kind, "fq"))
			print_row(&p->rows, p->netdevice, "qdisc", 0, "fq", 0,
				  state->flags & RP_PORT_QDISC_OURS ? "rocepath" : "other");
	}
}

static void print_netdevices(struct printer *p, struct rp_rtnl *rtnl, const struct rp_maps *maps)
{
	struct rp_qdiscs qdiscs = { 0 };
	struct rp_port_state state;
	char name[IF_NAMESIZE];
	u32 ifindex;
	bool first = true;

	rp_qdiscs_read(rtnl, &qdiscs, NULL);
	for (; !bpf_map_get_next_key(maps->fd[RP_MAP_PORTS], first ? NULL : &ifindex, &ifindex);
	     first = false) {
		if (rp_port_state(maps, ifindex, &state) || !if_indextoname(ifindex, name))
			continue;
		p->netdevice = name;
		print_xdp(p, ifindex);
		print_tcx(p, ifindex, RP_TCX_INGRESS);
		print_tcx(p, ifindex, RP_TCX_EGRESS);
		print_filters(p, rtnl, ifindex);
		print_qdiscs(p, &qdiscs, ifindex, &state);
		p->netdevice = NULL;
	}
	rp_qdiscs_drop(&qdiscs);
}

static bool has_fq(const struct rp_qdiscs *qdiscs, int ifindex)
{
	for (unsigned int i = 0; i < qdiscs->count; i++)
		if (qdiscs->at[i].ifindex == ifindex && !strcmp(qdiscs->at[i].kind, "fq"))
			return true;
	return false;
}

/* it came after the policy was applied, or somebody has taken programs of ours away */
static void print_unattached(struct printer *p, struct rp_rtnl *rtnl, const struct rp_hook *hook)
{
	const char *program = rp_hook_lacks(rtnl, hook);
	char what[RP_TEXT_LEN];

	if (!program)
		return;
	snprintf(what, sizeof(what), "no %s: apply the policy again", program);
	print_row(&p->rows, hook->name, "-", 0, what, 0, "-");
}

/*
 * What the policy names and does not have: netdevices that are not there, or came later, and
 * ports that cannot pace.
 */
static void print_lacking(struct printer *p, struct rp_rtnl *rtnl)
{
	struct rp_qdiscs qdiscs = { 0 };
	struct rp_links links = { 0 };
	struct rp_hooks hooks = { 0 };
	struct rp_spec *spec = NULL;

	if (!rp_in_force_if_any(&spec) && spec && !rp_links_read(rtnl, &links, NULL) &&
	    !rp_qdiscs_read(rtnl, &qdiscs, NULL)) {
		rp_hooks_find(spec, &links, &hooks);
		for (unsigned int i = 0; i < hooks.count; i++) {
			print_unattached(p, rtnl, &hooks.at[i]);
			if (hooks.at[i].roles & RP_ROLE_PORT &&
			    !has_fq(&qdiscs, hooks.at[i].ifindex))
				print_row(&p->rows, hooks.at[i].name, "qdisc", 0,
					  "no fq: not paced", 0, "-");
		}
		for (unsigned int i = 0; i < hooks.missing_count; i++)
			print_row(&p->rows, hooks.missing[i], "-", 0, "not there", 0, "-");
	}
	rp_hooks_drop(&hooks);
	rp_qdiscs_drop(&qdiscs);
	rp_links_drop(&links);
	rp_spec_release(spec);
}

static int print_policy(const struct nlmsghdr *nlh, void *data)
{
	struct printer *p = data;
	char what[RP_TEXT_LEN];
	struct rp_attrs attrs;
	int err = rp_attrs_message(&rp_rdma_policy_attrs, nlh, &attrs);

	if (err)
		return err;
	snprintf(what, sizeof(what), "%u classes, %u rules",
		 (unsigned int)rp_attr_number(&attrs, ROCEPATH_RDMA_A_POLICY_CLASSES),
		 (unsigned int)rp_attr_number(&attrs, ROCEPATH_RDMA_A_POLICY_RULES));
	print_row(&p->rows, "-", "rdma", 0, what, 0, "rocepath");
	return 0;
}

/* what QPs that connect are judged by, where the module for RDMA devices is loaded */
static void print_rdma(struct printer *p)
{
	struct rp_nl *nl = rp_rdma_is_loaded() ? rp_nl_open(&rp_rdma_family, NULL) : NULL;

	if (!nl)
		return;
	rp_nl_request(nl, ROCEPATH_RDMA_CMD_POLICY_GET);
	rp_nl_do(nl, print_policy, p);
	rp_nl_release(nl);
}

/**
 * rp_status() - rocepath status
 * @cli: this run
 * @args: the command line
 */
int rp_status(struct rp_cli *cli, const struct rp_args *args)
{
	struct printer p = { .netdevice = "" };
	struct rp_rtnl *rtnl;
	struct rp_error error;
	struct rp_maps maps;

	(void)args;
	libbpf_set_print(NULL);
	if (rp_maps_open(&maps, &error)) {
		rp_complain("%s", error.text);
		return RP_EXIT_FAILURE;
	}
	rtnl = rp_rtnl_new(&error);
	if (!rtnl) {
		rp_complain("%s", error.text);
		rp_maps_close(&maps);
		return RP_EXIT_FAILURE;
	}
	rp_programs_open(&p.programs);
	rp_rows_begin(&p.rows, &cli->format, columns);
	print_netdevices(&p, rtnl, &maps);
	print_lacking(&p, rtnl);
	print_row(&p.rows, "-", "census", 0, rp_census_names[rp_census_now()], 0, "rocepath");
	print_rdma(&p);
	rp_rows_end(&p.rows, "nothing is attached");
	rp_programs_close(&p.programs);
	rp_rtnl_release(rtnl);
	rp_maps_close(&maps);
	return RP_EXIT_OK;
}
