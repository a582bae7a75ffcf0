// SPDX-License-Identifier: GPL-2.0
/*
 * From facts about a host to what is wrong with it. A host that is right has no finding
 * that is bad; then one thing at a time is broken, and that and nothing else is found,
 * with the command that mends it.
 */
/* SOURCES: user/doctor_host.c user/doctor_port.c user/dcb.c user/units.c user/error.c */
/* SOURCES: user/rdma_ports.c user/files.c */
/* LIBS: -lmnl */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include "unit.h"
#include "../../user/doctor.h"

#define PORTS 2
#define PRIORITY 3
#define DSCP 26

static struct rp_rdma_gid gids[PORTS];
static struct rp_doctor_port ports[PORTS];
static struct rp_doctor_queue queue;
static struct rp_doctor_peer peer;
static struct rp_doctor_facts facts;

static struct rp_finding found[128];
static unsigned int count;

static void keep(void *data, const struct rp_finding *finding)
{
	assert_true(count < ARRAY_SIZE(found));
	assert_in_range(finding->state, 0, RP_DOCTOR_STATES - 1);
	assert_true(*finding->what && *finding->on && *finding->found);
	found[count++] = *finding;
}

static void judge(void)
{
	count = 0;
	rp_doctor_judge(&facts, keep, NULL);
}

static void make_port(unsigned int i)
{
	struct rp_doctor_port *p = &ports[i];

	*p = (struct rp_doctor_port){
		.rdma = { .port = 1, .state = 4, .ifindex = 2 + i, .gids = &gids[i],
			  .gid_count = 1 },
		.selected = true, .up = true, .carrier = true, .mtu = 9000, .mtu_max = 9978,
		.rdma_mtu = 4096, .mode = RP_DOCTOR_MODE_V2, .address_count = 1,
		.rp_filter = 1, .dcb = { .known = true, .pfc = 1 << PRIORITY,
					 .dscp_mapped = 1ull << DSCP },
		.cnp_priorities = 1 << PRIORITY, .rate_priorities = 1 << PRIORITY,
		.follows = RP_RDMA_FOLLOWS_YES,
	};
	p->dcb.priority[DSCP] = PRIORITY;
	snprintf(p->rdma.device, sizeof(p->rdma.device), "mlx5_%u", i);
	snprintf(p->rdma.netdev, sizeof(p->rdma.netdev), "eth%u", i);
	strcpy(p->rdma.driver, "mlx5_core");
	p->addresses[0] = (struct rp_doctor_address){
		{ [10] = 0xff, 0xff, 10, i, 0, 1 }, 96 + 24,
	};
	gids[i] = (struct rp_rdma_gid){ .index = 3, .v2 = true };
	memcpy(gids[i].address, p->addresses[0].address, RP_ADDRESS_LEN);
}

static int reset(void **state)
{
	for (unsigned int i = 0; i < PORTS; i++)
		make_port(i);
	facts = (struct rp_doctor_facts){
		.tool = "1.0", .release = "6.12", .ports = ports, .port_count = PORTS,
		.dscps = 1ull << DSCP, .policy = true, .queues = &queue, .queue_count = 1,
		.modules = { { "rocepath", true, "1.0", RP_DOCTOR_UNSIGNED },
			     { "rocepath_rdma", true, "1.0", RP_DOCTOR_UNSIGNED } },
		.btf = true, .kprobes = true, .tcx = 1, .lockdown = "none",
		.auto_flowlabels = 1, .backlog = 1000, .jit = 1, .locked_bytes = UINT64_MAX,
	};
	queue = (struct rp_doctor_queue){ "eth0", "fq", true };
	return 0;
}

/* exactly one line is not ok: it is of this kind, and says how to mend it */
static void broken(const char *what, const char *on, enum rp_doctor_state state, const char *fix)
{
	const struct rp_finding *wrong = NULL;

	judge();
	for (unsigned int i = 0; i < count; i++) {
		if (found[i].state == RP_DOCTOR_OK) {
			assert_string_equal(found[i].fix, "");
			continue;
		}
		if (wrong)
			fail_msg("%s, and %s too: %s", wrong->found, found[i].what, found[i].found);
		wrong = &found[i];
	}
	if (!wrong)
		fail_msg("nothing is wrong with %s", what);
	assert_string_equal(wrong->what, what);
	assert_string_equal(wrong->on, on);
	assert_int_equal(wrong->state, state);
	assert_string_equal(wrong->fix, fix);
}

static void test_right(void **state)
{
	static const char *const looked_at[] = {
		"kernel", "signing", "module", "backlog", "jit", "memlock", "pacing", "link", "gid",
		"rdma-cm", "mtu", "rp_filter", "arp", "trust", "pfc", "ecn", "entropy",
	};

	judge();
	for (unsigned int i = 0; i < count; i++) {
		if (found[i].state != RP_DOCTOR_OK)
			fail_msg("%s: %s", found[i].what, found[i].found);
		assert_string_equal(found[i].fix, "");
	}
	for (size_t w = 0; w < ARRAY_SIZE(looked_at); w++) {
		bool seen = false;

		for (unsigned int i = 0; i < count; i++)
			seen |= !strcmp(found[i].what, looked_at[w]);
		if (!seen)
			fail_msg("%s is not looked at", looked_at[w]);
	}
}

static void test_kernel(void **state)
{
	facts.btf = false;
	broken("kernel", "host", RP_DOCTOR_WARN, "boot a kernel with CONFIG_DEBUG_INFO_BTF");
	reset(NULL);
	facts.kprobes = false;
	broken("kernel", "host", RP_DOCTOR_WARN, "boot a kernel with CONFIG_KPROBES");
	reset(NULL);
	facts.tcx = 0;
	broken("kernel", "host", RP_DOCTOR_WARN, "apply a policy before jobs start");
}

static void test_modules(void **state)
{
	strcpy(facts.modules[1].version, "0.9");
	broken("module", "host", RP_DOCTOR_BAD,
	       "dkms install rocepath/1.0 && modprobe -r rocepath_rdma && modprobe rocepath_rdma");
	reset(NULL);
	facts.modules[1] = (struct rp_doctor_module){ "rocepath_rdma", false, "",
						      RP_DOCTOR_UNSIGNED };
	broken("module", "host", RP_DOCTOR_WARN, "modprobe rocepath_rdma");
	facts.modules[1].file = RP_DOCTOR_NO_MODULE;
	broken("module", "host", RP_DOCTOR_WARN,
	       "dkms install rocepath/1.0 && modprobe rocepath_rdma");
	/* nobody misses the other one, nor this one where there is no NIC */
	reset(NULL);
	facts.modules[0] = (struct rp_doctor_module){ "rocepath", false, "", RP_DOCTOR_NO_MODULE };
	facts.modules[1] = (struct rp_doctor_module){ "rocepath_rdma", false, "",
						      RP_DOCTOR_NO_MODULE };
	strcpy(ports[0].rdma.driver, "rdma_rxe");
	strcpy(ports[1].rdma.driver, "rdma_rxe");
	test_right(state);
}

static void test_signing(void **state)
{
#define ENROL "mokutil --import /var/lib/dkms/mok.pub, reboot, and: "
	static const char *const fix = ENROL "dkms install --force rocepath/1.0";

	facts.sig_enforce = 1;
	test_right(state);	/* they are loaded */
	strcpy(ports[0].rdma.driver, "rdma_rxe");
	strcpy(ports[1].rdma.driver, "rdma_rxe");
	facts.modules[1].loaded = false;
	broken("signing", "host", RP_DOCTOR_BAD, fix);
	facts.sig_enforce = 0;
	strcpy(facts.lockdown, "integrity");
	broken("signing", "host", RP_DOCTOR_BAD, fix);
	facts.modules[1].file = RP_DOCTOR_SIGNED;
	test_right(state);
	facts.modules[1].file = RP_DOCTOR_COMPRESSED;
	broken("signing", "host", RP_DOCTOR_NOT_KNOWN, "");
	facts.modules[1].file = RP_DOCTOR_SIGNED;
	strcpy(facts.lockdown, "confidentiality");
	broken("lockdown", "host", RP_DOCTOR_WARN, "boot with lockdown=integrity");
	strcpy(facts.lockdown, "");
	facts.sig_enforce = RP_DOCTOR_UNKNOWN;
	broken("signing", "host", RP_DOCTOR_NOT_KNOWN, "");
}

static void test_limits(void **state)
{
	facts.backlog = 999;
	broken("backlog", "host", RP_DOCTOR_WARN, "sysctl -w net.core.netdev_max_backlog=1000");
	facts.backlog = 1000;
	facts.dropped = 1;
	broken("backlog", "host", RP_DOCTOR_WARN, "sysctl -w net.core.netdev_max_backlog=10000");
	facts.backlog = 10000;
	test_right(state);
	facts.jit = 0;
	broken("jit", "host", RP_DOCTOR_WARN, "sysctl -w net.core.bpf_jit_enable=1");
	facts.jit = RP_DOCTOR_UNKNOWN;	/* there is no switch: it is on for good */
	test_right(state);
	facts.locked_bytes = 8 << 20;
	broken("memlock", "host", RP_DOCTOR_WARN, "ulimit -l unlimited");
}

static void test_labels(void **state)
{
	facts.auto_flowlabels = 0;
	test_right(state);	/* nobody has IPv6 */
	ports[1].addresses[1] = (struct rp_doctor_address){ { 0xfd, [15] = 1 }, 64 };
	ports[1].address_count = 2;
	ports[1].rdma.gids = (struct rp_rdma_gid[]){ gids[1], { { 0xfd, [15] = 1 }, 4, true } };
	ports[1].rdma.gid_count = 2;
	broken("flow-label", "host", RP_DOCTOR_WARN, "sysctl -w net.ipv6.auto_flowlabels=1");
	facts.auto_flowlabels = RP_DOCTOR_UNKNOWN;
	broken("flow-label", "host", RP_DOCTOR_NOT_KNOWN, "");
}

static void test_pacing(void **state)
{
	queue = (struct rp_doctor_queue){ "eth0", "pfifo", false };
	broken("pacing", "eth0", RP_DOCTOR_BAD, "tc qdisc replace dev eth0 root fq");
}

static void test_links(void **state)
{
	ports[1].up = false;
	broken("link", "mlx5_1", RP_DOCTOR_BAD, "ip link set dev eth1 up");
	ports[1].up = true;
	ports[1].carrier = false;
	broken("link", "mlx5_1", RP_DOCTOR_BAD,
	       "look at the cable, the module and the switch's port");
	ports[1].carrier = true;
	ports[1].rdma.state = 1;
	broken("link", "mlx5_1", RP_DOCTOR_BAD,
	       "ip link set dev eth1 down && ip link set dev eth1 up");
	ports[1].rdma.state = 4;
	ports[1].rdma.ifindex = 0;
	broken("link", "mlx5_1", RP_DOCTOR_NOT_KNOWN, "");
}

static void test_gids(void **state)
{
	static const char *const fix =
		"ip address del 10.0.0.1/24 dev eth0 && ip address add 10.0.0.1/24 dev eth0";

	gids[0].v2 = false;	/* a GID, but of RoCE v1 */
	broken("gid", "mlx5_0", RP_DOCTOR_BAD, fix);
	gids[0].v2 = true;
	gids[0].address[15]++;
	broken("gid", "mlx5_0", RP_DOCTOR_BAD, fix);
	reset(NULL);
	ports[0].address_count = 0;
	broken("gid", "mlx5_0", RP_DOCTOR_BAD, "ip address add ADDRESS/LENGTH dev eth0");
	reset(NULL);
	ports[0].mode = RP_DOCTOR_MODE_V1;
	broken("rdma-cm", "mlx5_0", RP_DOCTOR_BAD,
	       "echo 'RoCE v2' >/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode");
}

static void test_mtu(void **state)
{
	static const uint32_t fits[][2] = {
		{ 0, 0 }, { 351, 0 }, { 352, 256 }, { 607, 256 }, { 608, 512 }, { 1500, 1024 },
		{ 2143, 1024 }, { 2144, 2048 }, { 4191, 2048 }, { 4192, 4096 }, { 65535, 4096 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fits); i++)
		assert_int_equal(rp_doctor_fits(fits[i][0]), fits[i][1]);
	ports[0].mtu = 1500;
	ports[0].rdma_mtu = 1024;
	broken("mtu", "mlx5_0", RP_DOCTOR_WARN, "ip link set dev eth0 mtu 4200");
	ports[0].mtu_max = 1500;
	broken("mtu", "mlx5_0", RP_DOCTOR_WARN, "");
	reset(NULL);
	ports[0].rdma_mtu = 1024;	/* it did not follow */
	broken("mtu", "mlx5_0", RP_DOCTOR_BAD, "ip link set dev eth0 mtu 9000");
	ports[0].rdma_mtu = 0;
	broken("mtu", "mlx5_0", RP_DOCTOR_NOT_KNOWN,
	       "install libibverbs, and the provider of mlx5_core");
}

/* two ports in one subnet */
static void share(void)
{
	reset(NULL);
	for (unsigned int i = 0; i < PORTS; i++) {
		ports[i].addresses[0].address[13] = 7;
		ports[i].addresses[0].address[15] = 1 + i;
		memcpy(gids[i].address, ports[i].addresses[0].address, RP_ADDRESS_LEN);
		ports[i].rp_filter = 2;
		ports[i].arp_ignore = 1;
		ports[i].arp_announce = 2;
	}
}

static void test_subnets(void **state)
{
	share();
	test_right(state);
	ports[1].rp_filter = 1;
	broken("rp_filter", "mlx5_1", RP_DOCTOR_BAD, "sysctl -w net.ipv4.conf.eth1.rp_filter=2");
	facts.rp_filter = 2;	/* the larger one counts */
	test_right(state);
	facts.rp_filter = 0;
	ports[1].rp_filter = 0;
	test_right(state);
	ports[0].arp_ignore = 0;
	broken("arp", "mlx5_0", RP_DOCTOR_BAD, "sysctl -w net.ipv4.conf.eth0.arp_ignore=1");
	facts.arp_ignore = 1;
	test_right(state);
	ports[0].arp_announce = 1;
	broken("arp", "mlx5_0", RP_DOCTOR_BAD, "sysctl -w net.ipv4.conf.eth0.arp_announce=2");
	facts.arp_announce = 2;
	test_right(state);

	/* a name with a dot; prefixes of different lengths overlap, too */
	share();
	strcpy(ports[1].rdma.netdev, "eth1.7");
	ports[1].rp_filter = 1;
	ports[1].addresses[0].length = 96 + 16;
	broken("rp_filter", "mlx5_1", RP_DOCTOR_BAD, "sysctl -w net/ipv4/conf/eth1.7/rp_filter=2");

	/* what is not judged counts as a neighbour all the same */
	share();
	ports[0].selected = false;
	ports[0].rp_filter = 1;
	ports[1].rp_filter = 1;
	broken("rp_filter", "mlx5_1", RP_DOCTOR_BAD, "sysctl -w net.ipv4.conf.eth1.rp_filter=2");

	/* two RDMA devices on one netdevice are no two ports */
	share();
	ports[1].rdma.ifindex = ports[0].rdma.ifindex;
	ports[1].rp_filter = 1;
	ports[1].arp_ignore = 0;
	test_right(state);
}

static void test_dcb(void **state)
{
	ports[0].dcb.known = false;
	broken("dcb", "mlx5_0", RP_DOCTOR_NOT_KNOWN, "");
	ports[0].dcb.known = true;
	ports[0].dcb.dscp_mapped = 0;
	broken("trust", "mlx5_0", RP_DOCTOR_WARN, "dcb app add dev eth0 dscp-prio 26:3");
	ports[0].dcb.dscp_mapped = 1;
	broken("trust", "mlx5_0", RP_DOCTOR_WARN, "dcb app add dev eth0 dscp-prio 26:3");
	ports[0].dcb.dscp_mapped = 1ull << DSCP;
	ports[0].dcb.priority[DSCP] = 5;
	broken("pfc", "mlx5_0", RP_DOCTOR_WARN, "dcb pfc set dev eth0 prio-pfc 5:on");
	ports[0].dcb.pfc = 0;
	broken("pfc", "mlx5_0", RP_DOCTOR_WARN, "dcb pfc set dev eth0 prio-pfc 3:on");
	/* without a policy nobody says which DSCPs matter */
	reset(NULL);
	facts.dscps = 0;
	ports[0].dcb.priority[DSCP] = 5;
	test_right(state);
}

static void test_ecn(void **state)
{
	ports[0].rate_priorities = RP_DOCTOR_UNKNOWN;
	broken("ecn", "mlx5_0", RP_DOCTOR_NOT_KNOWN, "");
	ports[0].rate_priorities = 1 << 4;
	broken("ecn", "mlx5_0", RP_DOCTOR_WARN,
	       "for i in np rp; do echo 1 >/sys/class/net/eth0/ecn/roce_$i/enable/3; done");
}

static void test_entropy(void **state)
{
	ports[1].follows = RP_RDMA_FOLLOWS_NO;
	broken("entropy", "mlx5_1", RP_DOCTOR_WARN, "");
	ports[1].follows = RP_RDMA_FOLLOWS_UNKNOWN;
	broken("entropy", "mlx5_1", RP_DOCTOR_NOT_KNOWN, "");
	assert_int_equal(rp_rdma_driver_follows("mlx5_core"), RP_RDMA_FOLLOWS_YES);
	assert_int_equal(rp_rdma_driver_follows("rdma_rxe"), RP_RDMA_FOLLOWS_YES);
	assert_int_equal(rp_rdma_driver_follows("ice2"), RP_RDMA_FOLLOWS_UNKNOWN);
	assert_int_equal(rp_rdma_driver_follows(""), RP_RDMA_FOLLOWS_UNKNOWN);
}

static void test_peer(void **state)
{
	facts.peers = &peer;
	facts.peer_count = 1;
	peer = (struct rp_doctor_peer){ "10.0.9.9", "mlx5_1", 4096, true, 4096 };
	test_right(state);
	peer.fits = 1024;
	broken("path-mtu", "mlx5_1", RP_DOCTOR_BAD, "ip link set dev eth1 mtu 1120");
	peer.answered = false;
	broken("path-mtu", "mlx5_1", RP_DOCTOR_NOT_KNOWN, "ping -I eth1 10.0.9.9");
}

static void test_no_device(void **state)
{
	facts.port_count = 0;
	judge();
	assert_string_equal(found[count - 1].what, "device");
	assert_int_equal(found[count - 1].state, RP_DOCTOR_BAD);
}

/* what the kernel answers when it is asked for DCB */
static struct nlmsghdr *dcb_answer(char *buffer, uint8_t pfc, unsigned int apps)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct dcbmsg *dcbmsg;
	struct nlattr *ieee, *table;
	struct ieee_pfc settings = { .pfc_cap = 8, .pfc_en = pfc };

	nlh->nlmsg_type = RTM_GETDCB;
	dcbmsg = mnl_nlmsg_put_extra_header(nlh, sizeof(*dcbmsg));
	dcbmsg->cmd = DCB_CMD_IEEE_GET;
	mnl_attr_put_strz(nlh, DCB_ATTR_IFNAME, "eth0");
	ieee = mnl_attr_nest_start(nlh, DCB_ATTR_IEEE);
	mnl_attr_put(nlh, DCB_ATTR_IEEE_PFC, sizeof(settings), &settings);
	table = mnl_attr_nest_start(nlh, DCB_ATTR_IEEE_APP_TABLE);
	for (unsigned int i = 0; i < apps; i++) {
		/* DSCPs, and one that is no DSCP's */
		struct dcb_app app = { i ? IEEE_8021QAZ_APP_SEL_DSCP : 1, i % 8, i };

		mnl_attr_put(nlh, DCB_ATTR_IEEE_APP, sizeof(app), &app);
	}
	mnl_attr_nest_end(nlh, table);
	mnl_attr_nest_end(nlh, ieee);
	return nlh;
}

static void test_dcb_answers(void **state)
{
	char buffer[4096] __attribute__((aligned(8)));
	struct nlmsgerr *error;
	struct nlmsghdr *nlh;
	struct rp_dcb dcb;

	nlh = dcb_answer(buffer, 0x18, 40);
	assert_int_equal(rp_dcb_parse(buffer, nlh->nlmsg_len, &dcb), 0);
	assert_true(dcb.known);
	assert_int_equal(dcb.pfc, 0x18);
	assert_int_equal(dcb.dscp_mapped, (1ull << 40) - 2);
	assert_int_equal(dcb.priority[26], 2);

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = NLMSG_ERROR;
	error = mnl_nlmsg_put_extra_header(nlh, sizeof(*error));
	error->error = -EOPNOTSUPP;
	assert_int_equal(rp_dcb_parse(buffer, nlh->nlmsg_len, &dcb), -EOPNOTSUPP);
	assert_false(dcb.known);

	/* whatever comes, it is not read beyond its end */
	for (unsigned int i = 0; i < ROUNDS(100000); i++) {
		size_t len;
		char *exact;

		nlh = dcb_answer(buffer, rnd(), rnd_below(20));
		len = nlh->nlmsg_len;
		for (unsigned int k = rnd_below(4); k--;)
			buffer[rnd_below(8) ? rnd_below(len) : rnd_below(4)] = rnd();
		len = rnd_below(4) ? len : rnd_below(len);
		exact = malloc(len ? len : 1);
		memcpy(exact, buffer, len);
		rp_dcb_parse(exact, len, &dcb);
		free(exact);
	}
}

#define TEST(name) cmocka_unit_test_setup(test_##name, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(right), TEST(kernel), TEST(modules), TEST(signing), TEST(limits), TEST(labels),
		TEST(pacing), TEST(links), TEST(gids), TEST(mtu), TEST(subnets), TEST(dcb),
		TEST(ecn), TEST(entropy), TEST(peer), TEST(no_device), TEST(dcb_answers),
	};

	return unit_run(tests);
}
