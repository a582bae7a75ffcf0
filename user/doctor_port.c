// SPDX-License-Identifier: GPL-2.0
/* Findings about the ports of RDMA devices. See doctor.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

/* what a packet may have beside its data: GRH or IP, UDP, BTH, the longest of the rest, ICRC */
#define ROCE_HEADERS 96
#define IB_MTU_MIN 256
#define IB_MTU_MAX 4096
#define JUMBO 4200		/* MTU that 4096 bytes of data fit into */
#define STATE_ACTIVE 4		/* of enum ib_port_state */
#define SYSCTL_ANNOUNCE 2
#define FILTER_STRICT 1
#define FILTER_LOOSE 2

/**
 * rp_doctor_fits() - the largest MTU of QPs that a netdevice's MTU has room for
 * @mtu: of the netdevice
 *
 * Return: 0: none.
 */
uint32_t rp_doctor_fits(uint32_t mtu)
{
	uint32_t fits = IB_MTU_MAX;

	while (fits >= IB_MTU_MIN && fits + ROCE_HEADERS > mtu)
		fits /= 2;
	return fits < IB_MTU_MIN ? 0 : fits;
}

static struct rp_finding of(const struct rp_doctor_port *port, const char *what,
			    enum rp_doctor_state state)
{
	return (struct rp_finding){ .what = what, .on = port->rdma.device, .state = state };
}

static void judge_link(const struct rp_doctor *d, const struct rp_doctor_port *port)
{
	struct rp_finding finding = of(port, "link", RP_DOCTOR_BAD);
	const char *netdev = port->rdma.netdev;

	if (!port->rdma.ifindex) {
		finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_find(d, &finding, "port %" PRIu32 " has no netdevice here",
			       port->rdma.port);
	} else if (!port->up) {
		rp_doctor_fix(&finding, "ip link set dev %s up", netdev);
		rp_doctor_find(d, &finding, "%s is down", netdev);
	} else if (!port->carrier) {
		rp_doctor_fix(&finding, "look at the cable, the module and the switch's port");
		rp_doctor_find(d, &finding, "%s has no carrier", netdev);
	} else if (port->rdma.state != STATE_ACTIVE) {
		rp_doctor_fix(&finding, "ip link set dev %s down && ip link set dev %s up", netdev,
			      netdev);
		rp_doctor_find(d, &finding, "%s has a carrier, but the RDMA port is not active",
			       netdev);
	} else {
		finding.state = RP_DOCTOR_OK;
		rp_doctor_find(d, &finding, "%s is up, the RDMA port is active", netdev);
	}
}

/* 10.0.0.1/24, as ip(8) wants it */
static void print_address(const struct rp_doctor_address *address, char *text)
{
	unsigned int mapped = rp_address_is_ipv4(address->address) ? 96 : 0;
	size_t len;

	rp_address_print(address->address, text);
	len = strlen(text);
	snprintf(text + len, RP_TEXT_LEN - len, "/%u", address->length - mapped);
}

static void judge_gids(const struct rp_doctor *d, const struct rp_doctor_port *port)
{
	const char *netdev = port->rdma.netdev;
	struct rp_finding finding = of(port, "gid", RP_DOCTOR_OK);
	char text[RP_TEXT_LEN];

	if (!port->address_count) {
		finding.state = RP_DOCTOR_BAD;
		rp_doctor_fix(&finding, "ip address add ADDRESS/LENGTH dev %s", netdev);
		rp_doctor_find(d, &finding, "%s has no address, so no peer can reach it", netdev);
		return;
	}
	for (unsigned int i = 0; i < port->address_count; i++) {
		const struct rp_doctor_address *address = &port->addresses[i];
		const struct rp_rdma_gid *gid = rp_rdma_port_gid(&port->rdma, address->address);

		print_address(address, text);
		if (gid) {
			finding = of(port, "gid", RP_DOCTOR_OK);
			rp_doctor_find(d, &finding, "%.*s is a GID of RoCE v2, index %" PRIu32,
				       (int)strcspn(text, "/"), text, gid->index);
			continue;
		}
		finding = of(port, "gid", RP_DOCTOR_BAD);
		rp_doctor_fix(&finding, "ip address del %s dev %s && ip address add %s dev %s",
			      text, netdev, text, netdev);
		rp_doctor_find(d, &finding, "%s has no GID of RoCE v2", text);
	}
}

static void judge_mode(const struct rp_doctor *d, const struct rp_doctor_port *port)
{
	struct rp_finding finding = of(port, "rdma-cm", RP_DOCTOR_OK);

	switch (port->mode) {
	case RP_DOCTOR_MODE_V2:
		rp_doctor_find(d, &finding, "connects by RoCE v2");
		return;
	case RP_DOCTOR_MODE_V1:
		finding.state = RP_DOCTOR_BAD;
		rp_doctor_fix(&finding,
			      "echo 'RoCE v2' >/sys/kernel/config/rdma_cm/%s/ports/%u/default_roce_mode",
			      port->rdma.device, port->rdma.port);
		rp_doctor_find(d, &finding, "connects by RoCE v1, which no router passes on");
		return;
	default:
		return;		/* it is v2, unless somebody asked the kernel for something else */
	}
}

static void judge_mtu(const struct rp_doctor *d, const struct rp_doctor_port *port)
{
	uint32_t fits = rp_doctor_fits(port->mtu);
	struct rp_finding finding = of(port, "mtu", RP_DOCTOR_OK);
	bool larger = !port->mtu_max || port->mtu_max >= JUMBO;

	if (!port->rdma_mtu) {
		finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_fix(&finding, "install libibverbs, and the provider of %s",
			      *port->rdma.driver ? port->rdma.driver : "the driver");
		rp_doctor_find(d, &finding, "that of QPs cannot be read; %s has %" PRIu32,
			       port->rdma.netdev, port->mtu);
	} else if (port->rdma_mtu < fits) {
		finding.state = RP_DOCTOR_BAD;
		rp_doctor_fix(&finding, "ip link set dev %s mtu %" PRIu32, port->rdma.netdev,
			      port->mtu);
		rp_doctor_find(d, &finding, "QPs have %" PRIu32 ", %s would have room for %" PRIu32,
			       port->rdma_mtu, port->rdma.netdev, fits);
	} else if (port->rdma_mtu < IB_MTU_MAX) {
		finding.state = RP_DOCTOR_WARN;
		if (larger)
			rp_doctor_fix(&finding, "ip link set dev %s mtu %u", port->rdma.netdev,
				      JUMBO);
		rp_doctor_find(d, &finding,
			       "QPs have %" PRIu32 ", as %s has %" PRIu32 "%s", port->rdma_mtu,
			       port->rdma.netdev, port->mtu,
			       larger ? "; the fabric must have as much" : " and can have no more");
	} else {
		rp_doctor_find(d, &finding, "QPs have %" PRIu32 ", %s %" PRIu32, port->rdma_mtu,
			       port->rdma.netdev, port->mtu);
	}
}

static bool same_subnet(const struct rp_doctor_address *a, const struct rp_doctor_address *b)
{
	unsigned int bits = a->length < b->length ? a->length : b->length;

	if (rp_address_is_ipv4(a->address) != rp_address_is_ipv4(b->address))
		return false;
	for (unsigned int i = 0; i < bits; i++)
		if ((a->address[i / 8] ^ b->address[i / 8]) & 0x80 >> i % 8)
			return false;
	return true;
}

/* the other port with an IPv4 address in a subnet of this one, NULL: none */
static const struct rp_doctor_port *neighbour_of(const struct rp_doctor_facts *f,
						 const struct rp_doctor_port *port)
{
	for (unsigned int i = 0; i < f->port_count; i++) {
		const struct rp_doctor_port *other = &f->ports[i];

		if (other->rdma.ifindex == port->rdma.ifindex)
			continue;
		for (unsigned int a = 0; a < port->address_count; a++)
			for (unsigned int b = 0; b < other->address_count; b++)
				if (rp_address_is_ipv4(port->addresses[a].address) &&
				    same_subnet(&port->addresses[a], &other->addresses[b]))
					return other;
	}
	return NULL;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* the name of a netdevice may have a dot: then slashes are what sysctl(8) takes */
static void fix_sysctl(struct rp_finding *finding, const char *netdev, const char *key, int value)
{
	if (strchr(netdev, '.'))
		rp_doctor_fix(finding, "sysctl -w net/ipv4/conf/%s/%s=%d", netdev, key, value);
	else
		rp_doctor_fix(finding, "sysctl -w net.ipv4.conf.%s.%s=%d", netdev, key, value);
}

static void judge_filter(const struct rp_doctor *d, const struct rp_doctor_port *port,
			 const struct rp_doctor_port *neighbour)
{
	int64_t filter = larger(port->rp_filter, d->facts->rp_filter);
	struct rp_finding finding = of(port, "rp_filter", RP_DOCTOR_OK);

	if (filter < 0) {
		finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_find(d, &finding, "of %s cannot be read", port->rdma.netdev);
	} else if (neighbour && filter == FILTER_STRICT) {
		finding.state = RP_DOCTOR_BAD;
		fix_sysctl(&finding, port->rdma.netdev, "rp_filter", FILTER_LOOSE);
		rp_doctor_find(d, &finding,
			       "is strict, and %s is in the same subnet: what %s receives is dropped",
			       neighbour->rdma.netdev, port->rdma.netdev);
	} else {
		rp_doctor_find(d, &finding, "of %s is %s", port->rdma.netdev,
			       filter == FILTER_STRICT ? "strict; it has a subnet of its own" :
			       filter ? "loose" : "off");
	}
}

static void judge_arp(const struct rp_doctor *d, const struct rp_doctor_port *port,
		      const struct rp_doctor_port *neighbour)
{
	int64_t ignore = larger(port->arp_ignore, d->facts->arp_ignore);
	int64_t announce = larger(port->arp_announce, d->facts->arp_announce);
	struct rp_finding finding = of(port, "arp", RP_DOCTOR_OK);
	const char *netdev = port->rdma.netdev;

	if (!neighbour) {
		rp_doctor_find(d, &finding, "%s has a subnet of its own", netdev);
		return;
	}
	if (ignore < 1) {
		finding.state = RP_DOCTOR_BAD;
		fix_sysctl(&finding, netdev, "arp_ignore", 1);
		rp_doctor_find(d, &finding, "%s answers for the address of %s, in the same subnet",
			       netdev, neighbour->rdma.netdev);
	}
	if (announce < SYSCTL_ANNOUNCE) {
		finding = of(port, "arp", RP_DOCTOR_BAD);
		fix_sysctl(&finding, netdev, "arp_announce", SYSCTL_ANNOUNCE);
		rp_doctor_find(d, &finding, "%s asks with the address of %s, in the same subnet",
			       netdev, neighbour->rdma.netdev);
	}
	if (finding.state == RP_DOCTOR_OK)
		rp_doctor_find(d, &finding, "%s answers and asks for its own addresses only",
			       netdev);
}

/* the first priority that is protected, or what most fabrics have */
static unsigned int lossless_of(const struct rp_dcb *dcb)
{
	return dcb->pfc ? __builtin_ctz(dcb->pfc) : 3;
}

static void judge_dscps(const struct rp_doctor *d, const struct rp_doctor_port *port)
{
	uint64_t dscps = d->facts->dscps, missing = dscps & ~port->dcb.dscp_mapped;
	unsigned int priority = lossless_of(&port->dcb);
	struct rp_finding finding = of(port, "trust", RP_DOCTOR_WARN);
	const char *netdev = port->rdma.netdev;

	if (!port->dcb.dscp_mapped) {
		rp_doctor_fix(&finding, "dcb app add dev %s dscp-prio %u:%u", netdev,
			      dscps ? __builtin_ctzll(dscps) : 26, priority);
		rp_doctor_find(d, &finding,
			       "%s maps no DSCP to a priority: it trusts VLAN tags, or nothing",
			       netdev);
	} else if (missing) {
		unsigned int dscp = __builtin_ctzll(missing);

		rp_doctor_fix(&finding, "dcb app add dev %s dscp-prio %u:%u", netdev, dscp,
			      priority);
		rp_doctor_find(d, &finding, "DSCP %u of the policy has no priority on %s", dscp,
			       netdev);
	} else {
		finding.state = RP_DOCTOR_OK;
		rp_doctor_find(d, &finding, "%s maps %d DSCPs to priorities%s", netdev,
			       __builtin_popcountll(port->dcb.dscp_mapped),
			       dscps ? ", the policy's among them" : "");
	}
}

static void judge_pfc(const struct rp_doctor *d, const struct rp_doctor_port *port)
{
	struct rp_finding finding = of(port, "pfc", RP_DOCTOR_OK);
	const char *netdev = port->rdma.netdev;
	uint64_t dscps = d->facts->dscps & port->dcb.dscp_mapped;

	if (!port->dcb.pfc) {
		finding.state = RP_DOCTOR_WARN;
		rp_doctor_fix(&finding, "dcb pfc set dev %s prio-pfc %u:on", netdev,
			      lossless_of(&port->dcb));
		rp_doctor_find(d, &finding,
			       "is off on %s: what a full switch drops, QPs send again", netdev);
		return;
	}
	for (; dscps; dscps &= dscps - 1) {
		unsigned int dscp = __builtin_ctzll(dscps), priority = port->dcb.priority[dscp];

		if (port->dcb.pfc >> priority & 1)
			continue;
		finding.state = RP_DOCTOR_WARN;
		rp_doctor_fix(&finding, "dcb pfc set dev %s prio-pfc %u:on", netdev, priority);
		rp_doctor_find(d, &finding,
			       "DSCP %u of the policy is priority %u, which %s does not protect",
			       dscp, priority, netdev);
		return;
	}
	rp_doctor_find(d, &finding, "protects %d priorities of %s",
		       __builtin_popcount(port->dcb.pfc), netdev);
}

static void judge_dcb(const struct rp_doctor *d, const struct rp_doctor_port *port)
{
	struct rp_finding finding = of(port, "dcb", RP_DOCTOR_NOT_KNOWN);

	if (!port->dcb.known) {
		rp_doctor_find(d, &finding,
			       "the driver of %s tells neither trust nor PFC: ask its own tool",
			       port->rdma.netdev);
		return;
	}
	judge_dscps(d, port);
	judge_pfc(d, port);
}

static void judge_ecn(const struct rp_doctor *d, const struct rp_doctor_port *port)
{
	struct rp_finding finding = of(port, "ecn", RP_DOCTOR_OK);
	const char *netdev = port->rdma.netdev;
	int both = port->cnp_priorities & port->rate_priorities;

	if (!strcmp(port->rdma.driver, "rdma_rxe")) {
		rp_doctor_find(d, &finding, "rdma_rxe has none; dcqcn: on in a class does it");
	} else if (port->cnp_priorities < 0 || port->rate_priorities < 0) {
		finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_find(d, &finding, "the driver of %s does not show it", netdev);
	} else if (!both) {
		unsigned int priority = lossless_of(&port->dcb);

		finding.state = RP_DOCTOR_WARN;
		rp_doctor_fix(&finding,
			      "for i in np rp; do echo 1 >/sys/class/net/%s/ecn/roce_$i/enable/%u; done",
			      netdev, priority);
		rp_doctor_find(d, &finding, "no priority of %s both sends CNPs and heeds them",
			       netdev);
	} else {
		rp_doctor_find(d, &finding, "%d priorities of %s send CNPs and heed them",
			       __builtin_popcount(both), netdev);
	}
}

static void judge_source_port(const struct rp_doctor *d, const struct rp_doctor_port *port)
{
	const char *driver = *port->rdma.driver ? port->rdma.driver : "a driver without a name";
	struct rp_finding finding = of(port, "entropy", RP_DOCTOR_OK);

	switch (port->follows) {
	case RP_RDMA_FOLLOWS_YES:
		rp_doctor_find(d, &finding, "%s: the source port follows the flow label", driver);
		break;
	case RP_RDMA_FOLLOWS_NO:
		finding.state = RP_DOCTOR_WARN;
		rp_doctor_find(d, &finding,
			       "%s: the source port does not follow the flow label: QPs stay where they are hashed",
			       driver);
		break;
	default:
		finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_find(d, &finding,
			       "%s: whether the source port follows the flow label is not known",
			       driver);
	}
}

static void judge_peer(const struct rp_doctor *d, const struct rp_doctor_port *port,
		       const struct rp_doctor_peer *peer)
{
	struct rp_finding finding = of(port, "path-mtu", RP_DOCTOR_OK);
	char do_get[RP_TEXT_LEN];

	if (!peer->answered) {
		finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_fix(&finding, "ping -I %s %s", port->rdma.netdev, peer->address);
		rp_doctor_find(d, &finding, "%s does not answer", peer->address);
	} else if (peer->fits < peer->tried) {
		finding.state = RP_DOCTOR_BAD;
		rp_doctor_fix(&finding, "ip link set dev %s mtu %" PRIu32, port->rdma.netdev,
			      peer->fits ? peer->fits + ROCE_HEADERS : IB_MTU_MIN + ROCE_HEADERS);
		snprintf(do_get, sizeof(do_get), "those with %" PRIu32 " do", peer->fits);
		rp_doctor_find(d, &finding, "packets with %" PRIu32 " bytes do not get to %s, %s",
			       peer->tried, peer->address, peer->fits ? do_get : "nor smaller");
	} else {
		rp_doctor_find(d, &finding, "packets with %" PRIu32 " bytes get to %s and back",
			       peer->tried, peer->address);
	}
}

/**
 * rp_doctor_port() - judge a port
 * @d: who is told
 * @port: the port
 */
void rp_doctor_port(const struct rp_doctor *d, const struct rp_doctor_port *port)
{
	const struct rp_doctor_port *neighbour = neighbour_of(d->facts, port);

	judge_link(d, port);
	if (!port->rdma.ifindex)
		return;
	judge_gids(d, port);
	judge_mode(d, port);
	judge_mtu(d, port);
	judge_filter(d, port, neighbour);
	judge_arp(d, port, neighbour);
	judge_dcb(d, port);
	judge_ecn(d, port);
	judge_source_port(d, port);
	for (unsigned int i = 0; i < d->facts->peer_count; i++)
		if (!strcmp(d->facts->peers[i].from, port->rdma.device))
			judge_peer(d, port, &d->facts->peers[i]);
}

/**
 * rp_doctor_judge() - find what is wrong, and what would mend it
 * @facts: what is known
 * @fn: gets each finding
 * @data: for @fn
 */
void rp_doctor_judge(const struct rp_doctor_facts *facts, rp_finding_fn fn, void *data)
{
	const struct rp_doctor d = { facts, fn, data };
	struct rp_finding none = { .what = "device", .on = "host", .state = RP_DOCTOR_BAD };

	rp_doctor_host(&d);
	for (unsigned int i = 0; i < facts->port_count; i++)
		if (facts->ports[i].selected)
			rp_doctor_port(&d, &facts->ports[i]);
	if (facts->port_count)
		return;
	rp_doctor_fix(&none,
		      "modprobe the NIC's driver, or: rdma link add rxe0 type rxe netdev eth0");
	rp_doctor_find(&d, &none, "there is no RDMA device that speaks RoCE");
}
