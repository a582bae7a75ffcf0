/* SPDX-License-Identifier: GPL-2.0 */
/* The part of rtnetlink that policies need: netdevices, their addresses and queues. */
#ifndef ROCEPATH_USER_RTNL_H
#define ROCEPATH_USER_RTNL_H

#include <stdbool.h>
#include <stdint.h>

#include <libmnl/libmnl.h>
#include <net/if.h>

#include "error.h"

#define RP_KIND_LEN 16

/**
 * struct rp_link_info - a netdevice
 * @ifindex: its number
 * @master: that of the device it is a port of, 0: none
 * @lower: that of the one it stands on (VLAN, macvlan), 0: none
 * @name: its name
 * @kind: "rocepath", "vlan"; "" for hardware
 * @up: administratively
 * @carrier: there is one
 * @ethernet: and not loopback
 * @mtu: bytes
 * @mtu_max: that it can have, 0: not known
 * @mac: its address, zeros: not of Ethernet
 */
struct rp_link_info {
	int ifindex;
	int master;
	int lower;
	char name[IF_NAMESIZE];
	char kind[RP_KIND_LEN];
	bool up;
	bool carrier;
	bool ethernet;
	uint32_t mtu, mtu_max;
	uint8_t mac[6];
};

struct rp_links {
	struct rp_link_info *at;
	unsigned int count;
};

/**
 * struct rp_qdisc - a queueing discipline
 * @ifindex: of the netdevice
 * @handle: 0: the kernel made it by itself
 * @parent: TC_H_ROOT, or the class above
 * @kind: its name
 */
struct rp_qdisc {
	int ifindex;
	uint32_t handle;
	uint32_t parent;
	char kind[RP_KIND_LEN];
};

struct rp_qdiscs {
	struct rp_qdisc *at;
	unsigned int count;
};

/**
 * struct rp_filter - a filter on a clsact
 * @egress: and not ingress
 * @priority: of it
 * @handle: in its priority
 * @protocol: in network order
 * @program: id of its BPF program, 0: it has none
 * @kind: "bpf", "flower"
 */
struct rp_filter {
	bool egress;
	uint32_t priority;
	uint32_t handle;
	uint16_t protocol;
	uint32_t program;
	char kind[RP_KIND_LEN];
};

struct rp_filters {
	struct rp_filter *at;
	unsigned int count;
};

struct rp_rtnl;

struct rp_rtnl *rp_rtnl_new(struct rp_error *error);
void rp_rtnl_release(struct rp_rtnl *rtnl);
struct nlmsghdr *rp_rtnl_request(struct rp_rtnl *rtnl, uint16_t type, uint16_t flags,
				 size_t size, void **body);
int rp_rtnl_run(struct rp_rtnl *rtnl, int (*fn)(const struct nlmsghdr *nlh, void *data),
		void *data, const char *what, struct rp_error *error);

int rp_links_read(struct rp_rtnl *rtnl, struct rp_links *links, struct rp_error *error);
const struct rp_link_info *rp_links_name(const struct rp_links *links, const char *name);
const struct rp_link_info *rp_links_index(const struct rp_links *links, int ifindex);
void rp_links_drop(struct rp_links *links);

int rp_link_make(struct rp_rtnl *rtnl, const char *name, const char *kind,
		 struct rp_error *error);
int rp_link_delete(struct rp_rtnl *rtnl, int ifindex, struct rp_error *error);
int rp_link_set_master(struct rp_rtnl *rtnl, int ifindex, int master, struct rp_error *error);
int rp_link_set_up(struct rp_rtnl *rtnl, int ifindex, struct rp_error *error);
int rp_link_add_address(struct rp_rtnl *rtnl, int ifindex, const char *address,
			struct rp_error *error);

int rp_qdiscs_read(struct rp_rtnl *rtnl, struct rp_qdiscs *qdiscs, struct rp_error *error);
void rp_qdiscs_drop(struct rp_qdiscs *qdiscs);
int rp_qdisc_put_mq(struct rp_rtnl *rtnl, int ifindex, uint32_t handle, struct rp_error *error);
int rp_qdisc_put_fq(struct rp_rtnl *rtnl, int ifindex, uint32_t parent, uint64_t horizon_us,
		    struct rp_error *error);
int rp_qdisc_delete(struct rp_rtnl *rtnl, int ifindex, uint32_t parent, struct rp_error *error);
int rp_filters_read(struct rp_rtnl *rtnl, int ifindex, struct rp_filters *filters,
		    struct rp_error *error);
void rp_filters_drop(struct rp_filters *filters);

#endif /* ROCEPATH_USER_RTNL_H */
