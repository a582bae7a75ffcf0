// SPDX-License-Identifier: GPL-2.0
/* Where facts about a host come from: netlink, /proc and /sys. See doctor.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/pkt_sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "doctor.h"
#include "files.h"
#include "policy/apply.h"
#include "policy/attach.h"
#include "policy/hooks.h"
#include "rdma.h"
#include "reach.h"
#include "route.h"
#include "verbs.h"

#define SIGNATURE "~Module signature appended~\n"
#define IP_HEADERS 96	/* as doctor_port.c has it */

static int64_t number_at(const char *format, ...) RP_PRINTF(1, 2);

static int64_t number_at(const char *format, ...)
{
	char path[RP_FILE_PATH_LEN];
	int64_t number;
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return rp_file_number(path, &number) ? RP_DOCTOR_UNKNOWN : number;
}

/* bit of each priority that a file of mlx5's says 1 for */
static int priorities_at(const char *netdev, const char *side)
{
	int bits = 0;

	for (int i = 0; i < RP_PRIORITIES; i++) {
		int64_t on = number_at("/sys/class/net/%s/ecn/%s/enable/%d", netdev, side, i);

		if (on < 0)
			return RP_DOCTOR_UNKNOWN;
		bits |= !!on << i;
	}
	return bits;
}

static enum rp_doctor_mode mode_of(const struct rp_rdma_port *port)
{
	char path[RP_FILE_PATH_LEN], line[RP_TEXT_LEN];

	snprintf(path, sizeof(path), "/sys/kernel/config/rdma_cm/%s/ports/%u/default_roce_mode",
		 port->device, port->port);
	if (rp_file_line(path, line, sizeof(line)))
		return RP_DOCTOR_MODE_UNKNOWN;
	return strstr(line, "v2") ? RP_DOCTOR_MODE_V2 : RP_DOCTOR_MODE_V1;
}

/* those that are good on one link only are GIDs as well, and nobody's concern */
static void take_addresses(struct rp_doctor_port *port, const struct rp_addresses *addresses)
{
	for (unsigned int i = 0; i < addresses->count; i++) {
		const struct rp_address_info *info = &addresses->at[i];
		struct rp_doctor_address *to = &port->addresses[port->address_count];

		if (info->link_local || (uint32_t)info->ifindex != port->rdma.ifindex ||
		    port->address_count == RP_DOCTOR_ADDRESSES)
			continue;
		memcpy(to->address, info->address, sizeof(to->address));
		to->length = info->length;
		port->address_count++;
	}
}

static void take_port(struct rp_doctor_port *port, const struct rp_links *links,
		      const struct rp_addresses *addresses)
{
	const struct rp_link_info *link = rp_links_index(links, port->rdma.ifindex);
	const char *netdev = port->rdma.netdev;

	port->follows = rp_rdma_driver_follows(port->rdma.driver);
	if (!link)
		return;
	port->up = link->up;
	port->carrier = link->carrier;
	port->mtu = link->mtu;
	port->mtu_max = link->mtu_max;
	take_addresses(port, addresses);
	port->rp_filter = number_at("/proc/sys/net/ipv4/conf/%s/rp_filter", netdev);
	port->arp_ignore = number_at("/proc/sys/net/ipv4/conf/%s/arp_ignore", netdev);
	port->arp_announce = number_at("/proc/sys/net/ipv4/conf/%s/arp_announce", netdev);
	if (!port->selected)
		return;
	port->mode = mode_of(&port->rdma);
	if (rp_verbs_mtu(port->rdma.device, port->rdma.port, &port->rdma_mtu))
		port->rdma_mtu = 0;
	rp_dcb_read(netdev, &port->dcb);
	port->cnp_priorities = priorities_at(netdev, "roce_np");
	port->rate_priorities = priorities_at(netdev, "roce_rp");
}

static bool is_selected(const struct rp_rdma_port *port, const char *const *names,
			unsigned int count)
{
	bool selected = !count;

	for (unsigned int i = 0; i < count; i++)
		selected |= rp_rdma_port_is(port, names[i]);
	return selected;
}

/* each name must be somebody's */
static int check_names(const struct rp_doctor_facts *facts, const char *const *names,
		       unsigned int count, struct rp_error *error)
{
	for (unsigned int i = 0; i < count; i++) {
		bool found = false;

		for (unsigned int k = 0; k < facts->port_count; k++)
			found |= rp_rdma_port_is(&facts->ports[k].rdma, names[i]);
		if (!found)
			return rp_error_set(error,
					    "%s is no RDMA device, nor the netdevice of one; see: rocepath rdma show",
					    names[i]);
	}
	return 0;
}

static int take_ports(struct rp_doctor_facts *facts, struct rp_rdma_ports *ports,
		      const char *const *names, unsigned int count, struct rp_error *error)
{
	struct rp_addresses addresses = { 0 };
	struct rp_rtnl *rtnl = rp_rtnl_new(error);
	struct rp_links links = { 0 };
	int err = !rtnl || rp_links_read(rtnl, &links, error) ||
		  rp_addresses_read(rtnl, &addresses, error);

	for (unsigned int i = 0; !err && i < ports->count; i++) {
		struct rp_doctor_port *port = &facts->ports[facts->port_count++];

		*port = (struct rp_doctor_port){
			.rdma = ports->at[i],
			.selected = is_selected(&ports->at[i], names, count),
			.cnp_priorities = RP_DOCTOR_UNKNOWN, .rate_priorities = RP_DOCTOR_UNKNOWN,
		};
		take_port(port, &links, &addresses);
	}
	rp_addresses_drop(&addresses);
	rp_links_drop(&links);
	rp_rtnl_release(rtnl);
	return err ? -1 : check_names(facts, names, count, error);
}

/* the GIDs go with the ports: they are freed with the facts */
static int read_ports(struct rp_doctor_facts *facts, const char *const *names, unsigned int count,
		      struct rp_error *error)
{
	struct rp_rdma_ports ports = { 0 };
	int err = rp_rdma_ports_read(&ports, error);

	if (!err) {
		facts->ports = calloc(ports.count ? ports.count : 1, sizeof(*facts->ports));
		err = facts->ports ? take_ports(facts, &ports, names, count, error) :
				     rp_error_set(error, "out of memory");
	}
	if (facts->port_count)
		free(ports.at);
	else
		rp_rdma_ports_drop(&ports);
	return err;
}

static int take_follows(const struct nlmsghdr *nlh, void *data)
{
	struct rp_doctor_facts *facts = data;
	struct rp_attrs attrs;

	if (rp_attrs_message(&rp_rdma_device_attrs, nlh, &attrs) ||
	    !rp_attr_number(&attrs, ROCEPATH_RDMA_A_DEVICE_FOLLOWS))
		return 0;
	for (unsigned int i = 0; i < facts->port_count; i++)
		if (!strcmp(facts->ports[i].rdma.device,
			    rp_attr_string(&attrs, ROCEPATH_RDMA_A_DEVICE_NAME)))
			facts->ports[i].follows =
				rp_attr_number(&attrs, ROCEPATH_RDMA_A_DEVICE_FOLLOWS);
	return 0;
}

/* it has looked at the driver, and not only at its name; asking would load it */
static void ask_module(struct rp_doctor_facts *facts)
{
	struct rp_nl *nl = rp_rdma_is_loaded() ? rp_nl_open(&rp_rdma_family, NULL) : NULL;

	if (!nl)
		return;
	rp_nl_request(nl, ROCEPATH_RDMA_CMD_DEVICE_GET);
	rp_nl_dump(nl, take_follows, facts);
	rp_nl_release(nl);
}

static enum rp_doctor_signed look_at_file(const char *path)
{
	char end[sizeof(SIGNATURE)] = "";
	FILE *file = fopen(path, "re");
	bool is_signed;

	if (!file)
		return RP_DOCTOR_NO_MODULE;
	is_signed = !fseek(file, -(long)strlen(SIGNATURE), SEEK_END) &&
		    fread(end, 1, strlen(SIGNATURE), file) == strlen(SIGNATURE) &&
		    !strcmp(end, SIGNATURE);
	fclose(file);
	return is_signed ? RP_DOCTOR_SIGNED : RP_DOCTOR_UNSIGNED;
}

/* the file as modules.dep names it: "updates/dkms/rocepath.ko.xz: ..." */
static enum rp_doctor_signed file_of(const char *name, const char *release)
{
	char path[RP_FILE_PATH_LEN], line[4096], file[256];
	enum rp_doctor_signed found = RP_DOCTOR_NO_MODULE;
	FILE *list;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	snprintf(file, sizeof(file), "/%s.ko", name);
	list = fopen(path, "re");
	while (list && found == RP_DOCTOR_NO_MODULE && fgets(line, sizeof(line), list)) {
		char *end = strchr(line, ':'), *at;

		if (!end)
			continue;
		*end = '\0';
		at = strstr(line, file);
		if (!at && !strncmp(line, file + 1, strlen(file + 1)))
			at = line;
		if (!at)
			continue;
		snprintf(path, sizeof(path), "/lib/modules/%s/%.96s", release, line);
		at += strlen(file) - (at == line);
		found = *at ? RP_DOCTOR_COMPRESSED : look_at_file(path);
	}
	if (list)
		fclose(list);
	return found;
}

static void read_module(struct rp_doctor_module *m, const char *name, const char *release)
{
	char path[RP_FILE_PATH_LEN];

	m->name = name;
	snprintf(path, sizeof(path), "/sys/module/%s", name);
	m->loaded = !access(path, F_OK);
	snprintf(path, sizeof(path), "/sys/module/%s/version", name);
	rp_file_line(path, m->version, sizeof(m->version));
	m->file = file_of(name, release);
}

/* "none [integrity] confidentiality" */
static void read_lockdown(char *text)
{
	char line[RP_TEXT_LEN], *begin, *end;

	*text = '\0';
	if (rp_file_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return;
	begin = strchr(line, '[');
	end = begin ? strchr(begin, ']') : NULL;
	if (end)
		snprintf(text, RP_TEXT_LEN, "%.*s", (int)(end - begin - 1), begin + 1);
}

/* the second column, in hex, of each CPU */
static int64_t read_dropped(void)
{
	FILE *file = fopen("/proc/net/softnet_stat", "re");
	uint64_t dropped;
	int64_t sum = 0;

	if (!file)
		return RP_DOCTOR_UNKNOWN;
	while (fscanf(file, "%*x %" SCNx64 "%*[^\n]", &dropped) == 1)
		sum += dropped;
	fclose(file);
	return sum;
}

static void read_host(struct rp_doctor_facts *facts)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	char line[RP_TEXT_LEN];

	read_module(&facts->modules[RP_DOCTOR_DEVICE_MODULE], "rocepath", facts->release);
	read_module(&facts->modules[RP_DOCTOR_RDMA_MODULE], "rocepath_rdma", facts->release);
	facts->btf = !access("/sys/kernel/btf/vmlinux", F_OK);
	facts->kprobes = !access("/sys/bus/event_source/devices/kprobe", F_OK) ||
			 !access("/proc/sys/debug/kprobes-optimization", F_OK);
	facts->tcx = rp_has_tcx();
	if (facts->tcx < 0)
		facts->tcx = RP_DOCTOR_UNKNOWN;
	facts->sig_enforce = rp_file_line("/sys/module/module/parameters/sig_enforce", line,
					  sizeof(line)) ? RP_DOCTOR_UNKNOWN : *line == 'Y';
	read_lockdown(facts->lockdown);
	facts->rp_filter = number_at("/proc/sys/net/ipv4/conf/all/rp_filter");
	facts->arp_ignore = number_at("/proc/sys/net/ipv4/conf/all/arp_ignore");
	facts->arp_announce = number_at("/proc/sys/net/ipv4/conf/all/arp_announce");
	facts->auto_flowlabels = number_at("/proc/sys/net/ipv6/auto_flowlabels");
	facts->backlog = number_at("/proc/sys/net/core/netdev_max_backlog");
	facts->jit = number_at("/proc/sys/net/core/bpf_jit_enable");
	facts->dropped = read_dropped();
	getrlimit(RLIMIT_MEMLOCK, &limit);
	facts->locked_bytes = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

static bool wants_pacing(const struct rp_spec *spec)
{
	bool paces = rp_given(&spec->pacing, RP_KEY_PACING_RATE);

	for (unsigned int i = 0; i < spec->classes.count; i++) {
		const struct rp_spec_class *class = rp_spec_class_at(spec, i);

		paces |= class->rate || class->qp_rate || class->dcqcn;
	}
	return paces;
}

/* of an mq each queue has a qdisc of its own */
static void take_queue(struct rp_doctor_queue *queue, const struct rp_hook *hook,
		       const struct rp_qdiscs *qdiscs)
{
	unsigned int children = 0, fqs = 0;

	snprintf(queue->netdev, sizeof(queue->netdev), "%s", hook->name);
	for (unsigned int i = 0; i < qdiscs->count; i++) {
		const struct rp_qdisc *qdisc = &qdiscs->at[i];

		if (qdisc->ifindex != hook->ifindex || !strcmp(qdisc->kind, "clsact"))
			continue;
		if (qdisc->parent == TC_H_ROOT) {
			snprintf(queue->kind, sizeof(queue->kind), "%s", qdisc->kind);
		} else {
			children++;
			fqs += !strcmp(qdisc->kind, "fq");
		}
	}
	queue->fq = !strcmp(queue->kind, "fq") ||
		    (!strcmp(queue->kind, "mq") && children && fqs == children);
}

static void find_queues(struct rp_doctor_facts *facts, const struct rp_spec *spec)
{
	struct rp_rtnl *rtnl = rp_rtnl_new(NULL);
	struct rp_qdiscs qdiscs = { 0 };
	struct rp_hooks hooks = { 0 };
	struct rp_links links = { 0 };

	if (rtnl && !rp_links_read(rtnl, &links, NULL) && !rp_qdiscs_read(rtnl, &qdiscs, NULL)) {
		rp_hooks_find(spec, &links, &hooks);
		facts->queues = calloc(hooks.count ? hooks.count : 1, sizeof(*facts->queues));
		for (unsigned int i = 0; facts->queues && i < hooks.count; i++)
			if (hooks.at[i].roles & RP_ROLE_PORT)
				take_queue(&facts->queues[facts->queue_count++], &hooks.at[i],
					   &qdiscs);
		rp_hooks_drop(&hooks);
	}
	rp_qdiscs_drop(&qdiscs);
	rp_links_drop(&links);
	rp_rtnl_release(rtnl);
}

static void read_policy(struct rp_doctor_facts *facts)
{
	struct rp_spec *spec;

	if (rp_in_force_if_any(&spec) || !spec)
		return;
	facts->policy = true;
	rp_spec_fill(spec);
	for (unsigned int i = 0; i < spec->classes.count; i++) {
		const struct rp_spec_class *class = rp_spec_class_at(spec, i);

		if (rp_given(class, RP_KEY_CLASS_DSCP) && class->dscp)
			facts->dscps |= 1ull << class->dscp;
	}
	if (wants_pacing(spec))
		find_queues(facts, spec);
	rp_spec_release(spec);
}

/**
 * rp_doctor_gather() - find out how the host is
 * @facts: zeroed, but for @tool; rp_doctor_drop() frees what they hold
 * @names: of RDMA devices or their netdevices, that are to be judged
 * @count: of them, 0: all are
 * @error: why not
 *
 * Return: 0 or -1.
 */
int rp_doctor_gather(struct rp_doctor_facts *facts, const char *const *names, unsigned int count,
		     struct rp_error *error)
{
	static struct utsname kernel;

	uname(&kernel);
	facts->release = kernel.release;
	if (read_ports(facts, names, count, error))
		return -1;
	ask_module(facts);
	read_host(facts);
	read_policy(facts);
	return 0;
}

static void try_peer(const struct rp_doctor_port *port, const struct rp_reach *reach,
		     struct rp_doctor_peer *peer)
{
	peer->from = port->rdma.device;
	peer->tried = port->rdma_mtu ? port->rdma_mtu : rp_doctor_fits(port->mtu);
	peer->answered = rp_reach_size(reach, IP_HEADERS) > 0;
	for (uint32_t mtu = peer->tried; peer->answered && mtu >= 256 && !peer->fits; mtu /= 2)
		if (rp_reach_size(reach, mtu + IP_HEADERS) > 0)
			peer->fits = mtu;
}

/**
 * rp_doctor_ask_peer() - try how large packets may be on the way to a peer
 * @facts: gathered
 * @peer: its address, known to be one
 *
 * By each port that is to be judged and has an address of the same kind. Needs root.
 */
void rp_doctor_ask_peer(struct rp_doctor_facts *facts, const char *peer)
{
	uint8_t to[RP_ADDRESS_LEN];

	rp_address_parse(peer, to, NULL);
	facts->peers = calloc(facts->port_count ? facts->port_count : 1, sizeof(*facts->peers));
	for (unsigned int i = 0; facts->peers && i < facts->port_count; i++) {
		const struct rp_doctor_port *port = &facts->ports[i];
		unsigned int a = 0;

		while (a < port->address_count && rp_address_is_ipv4(to) !=
		       rp_address_is_ipv4(port->addresses[a].address))
			a++;
		if (port->selected && a < port->address_count) {
			const struct rp_reach reach = {
				port->rdma.netdev, port->addresses[a].address, to, 0,
			};

			facts->peers[facts->peer_count].address = peer;
			try_peer(port, &reach, &facts->peers[facts->peer_count++]);
		}
	}
}

/**
 * rp_doctor_drop() - free what facts hold
 * @facts: the facts
 */
void rp_doctor_drop(struct rp_doctor_facts *facts)
{
	for (unsigned int i = 0; i < facts->port_count; i++)
		free(facts->ports[i].rdma.gids);
	free(facts->ports);
	free(facts->queues);
	free(facts->peers);
}
