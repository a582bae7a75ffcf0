/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What RoCE needs of a host: facts, which doctor_facts.c gathers, and findings, which
 * doctor_host.c and doctor_port.c make of them. Nothing is asked while it is judged.
 */
#ifndef ROCEPATH_USER_DOCTOR_H
#define ROCEPATH_USER_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <net/if.h>

#include "dcb.h"
#include "rdma_ports.h"
#include "units.h"

#define RP_DOCTOR_ADDRESSES 16	/* of a netdevice */
#define RP_DOCTOR_UNKNOWN (-1)	/* of a setting that cannot be read */
#define RP_DOCTOR_TEXT_LEN 192

/**
 * struct rp_doctor_address - an address of a netdevice
 * @address: 16 bytes, IPv4 mapped
 * @length: of its prefix; an IPv4 prefix's and 96
 */
struct rp_doctor_address {
	uint8_t address[RP_ADDRESS_LEN];
	uint8_t length;
};

/* what QPs that rdma_cm connects use, where it is not said */
enum rp_doctor_mode {
	RP_DOCTOR_MODE_UNKNOWN,
	RP_DOCTOR_MODE_V1,
	RP_DOCTOR_MODE_V2,
};

/**
 * struct rp_doctor_port - a port of an RDMA device, and the netdevice below it
 * @rdma: as it was read
 * @selected: it was asked for; others only count where ports must get along
 * @up: the netdevice, administratively
 * @carrier: of it
 * @mtu: of it, bytes
 * @mtu_max: of it, 0: not known
 * @rdma_mtu: data of a packet that QPs may send, 0: not known
 * @mode: see enum rp_doctor_mode
 * @addresses: of the netdevice, without those that are link-local
 * @address_count: of these
 * @rp_filter: of the netdevice by itself; RP_DOCTOR_UNKNOWN, as the next ones
 * @arp_ignore: the same
 * @arp_announce: the same
 * @dcb: what its driver tells
 * @cnp_priorities: bit of each priority that CNPs are sent for, RP_DOCTOR_UNKNOWN
 * @rate_priorities: bit of each priority that CNPs slow down, RP_DOCTOR_UNKNOWN
 * @follows: whether the source port follows the flow label, as the module says or the driver's name
 */
struct rp_doctor_port {
	struct rp_rdma_port rdma;
	bool selected;
	bool up;
	bool carrier;
	uint32_t mtu, mtu_max, rdma_mtu;
	enum rp_doctor_mode mode;
	struct rp_doctor_address addresses[RP_DOCTOR_ADDRESSES];
	unsigned int address_count;
	int64_t rp_filter, arp_ignore, arp_announce;
	struct rp_dcb dcb;
	int cnp_priorities, rate_priorities;
	enum rp_rdma_follows follows;
};

/**
 * struct rp_doctor_queue - a netdevice that the policy in force paces on
 * @netdev: its name
 * @kind: of the qdisc at its root
 * @fq: that paces, in all its queues
 */
struct rp_doctor_queue {
	char netdev[IF_NAMESIZE];
	char kind[16];
	bool fq;
};

/* whether a file of a module carries a signature */
enum rp_doctor_signed {
	RP_DOCTOR_NO_MODULE,
	RP_DOCTOR_UNSIGNED,
	RP_DOCTOR_SIGNED,
	RP_DOCTOR_COMPRESSED,	/* it cannot be seen */
};

/**
 * struct rp_doctor_module - a module of ours
 * @name: its name
 * @loaded: it is
 * @version: of the one that is loaded, "": not known
 * @file: of the one that modprobe would take
 */
struct rp_doctor_module {
	const char *name;
	bool loaded;
	char version[RP_TEXT_LEN];
	enum rp_doctor_signed file;
};

enum {
	RP_DOCTOR_DEVICE_MODULE,	/* rocepath */
	RP_DOCTOR_RDMA_MODULE,		/* rocepath_rdma */
	RP_DOCTOR_MODULES,
};

/**
 * struct rp_doctor_peer - what was tried with a peer
 * @address: as it was typed, NULL: none was named
 * @from: the RDMA device
 * @tried: bytes of data in the packets of that device
 * @answered: something came back
 * @fits: the largest MTU of QPs whose packets came back whole, 0: none
 */
struct rp_doctor_peer {
	const char *address;
	const char *from;
	uint32_t tried;
	bool answered;
	uint32_t fits;
};

/**
 * struct rp_doctor_facts - all that is judged
 * @tool: version of the tool
 * @release: of the kernel
 * @ports: of RDMA devices, all of the host
 * @port_count: of them
 * @queues: where pacing is wanted
 * @queue_count: of them
 * @policy: there is one in force
 * @dscps: bit of each DSCP that its classes set
 * @modules: ours
 * @btf: the kernel tells its types
 * @kprobes: the kernel has them
 * @tcx: the kernel has it, RP_DOCTOR_UNKNOWN: may not be asked
 * @sig_enforce: only signed modules load
 * @lockdown: "none", "integrity", "confidentiality"; "": not known
 * @rp_filter: of all netdevices
 * @arp_ignore: the same
 * @arp_announce: the same
 * @auto_flowlabels: of IPv6
 * @backlog: net.core.netdev_max_backlog
 * @dropped: packets that it was too short for
 * @jit: net.core.bpf_jit_enable
 * @locked_bytes: memory that a process may lock; UINT64_MAX: all
 * @peers: tries with a peer
 * @peer_count: of them
 */
struct rp_doctor_facts {
	const char *tool;
	const char *release;
	struct rp_doctor_port *ports;
	unsigned int port_count;
	struct rp_doctor_queue *queues;
	unsigned int queue_count;
	bool policy;
	uint64_t dscps;
	struct rp_doctor_module modules[RP_DOCTOR_MODULES];
	bool btf, kprobes;
	int64_t tcx, sig_enforce;
	char lockdown[RP_TEXT_LEN];
	int64_t rp_filter, arp_ignore, arp_announce;
	int64_t auto_flowlabels, backlog, dropped, jit;
	uint64_t locked_bytes;
	struct rp_doctor_peer *peers;
	unsigned int peer_count;
};

enum rp_doctor_state {
	RP_DOCTOR_OK,
	RP_DOCTOR_NOT_KNOWN,
	RP_DOCTOR_WARN,		/* works, and could be better */
	RP_DOCTOR_BAD,		/* does not work, or not for long */
	RP_DOCTOR_STATES
};

/**
 * struct rp_finding - one line
 * @what: was looked at
 * @on: a device; "host"
 * @state: how it is
 * @found: why
 * @fix: the command that mends it, or what is to be done; "": nothing
 */
struct rp_finding {
	const char *what;
	const char *on;
	enum rp_doctor_state state;
	char found[RP_DOCTOR_TEXT_LEN];
	char fix[RP_DOCTOR_TEXT_LEN];
};

typedef void (*rp_finding_fn)(void *data, const struct rp_finding *finding);

/**
 * struct rp_doctor - who judges, and who is told
 * @facts: what is known
 * @fn: gets each finding
 * @data: for @fn
 */
struct rp_doctor {
	const struct rp_doctor_facts *facts;
	rp_finding_fn fn;
	void *data;
};

extern const char *const rp_doctor_state_names[RP_DOCTOR_STATES];

void rp_doctor_find(const struct rp_doctor *d, struct rp_finding *finding, const char *format, ...)
	RP_PRINTF(3, 4);
void rp_doctor_fix(struct rp_finding *finding, const char *format, ...) RP_PRINTF(2, 3);
void rp_doctor_judge(const struct rp_doctor_facts *facts, rp_finding_fn fn, void *data);
void rp_doctor_host(const struct rp_doctor *d);
void rp_doctor_port(const struct rp_doctor *d, const struct rp_doctor_port *port);
uint32_t rp_doctor_fits(uint32_t mtu);

int rp_doctor_gather(struct rp_doctor_facts *facts, const char *const *names, unsigned int count,
		     struct rp_error *error);
void rp_doctor_ask_peer(struct rp_doctor_facts *facts, const char *peer);
void rp_doctor_drop(struct rp_doctor_facts *facts);

#endif /* ROCEPATH_USER_DOCTOR_H */
