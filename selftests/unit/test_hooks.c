// SPDX-License-Identifier: GPL-2.0
/* Which netdevices a policy is about, and for what each is: each packet is looked at once. */
/* SOURCES: user/policy/model.c user/policy/read.c user/policy/schema.c user/policy/value.c */
/* SOURCES: user/policy/source.c user/policy/check.c user/policy/print.c user/policy/find.c */
/* SOURCES: user/json.c user/units.c user/words.c user/error.c user/rtnl.c */
/* LIBS: -lyaml -lmnl */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "../../user/policy/hooks.h"

#define PORT (RP_ROLE_PORT | RP_ROLE_GUARD)
#define PLAIN (RP_ROLE_TRAFFIC | RP_ROLE_PORT)

/* rp0 with eth0, to which the file adds eth2; eth1 alone; bond0 with eth3 */
static struct rp_link_info netdevices[] = {
	{ .ifindex = 1, .name = "lo" },
	{ .ifindex = 2, .name = "eth0", .master = 6, .ethernet = true },
	{ .ifindex = 3, .name = "eth1", .ethernet = true },
	{ .ifindex = 4, .name = "eth2", .ethernet = true },
	{ .ifindex = 5, .name = "eth3", .master = 7, .ethernet = true },
	{ .ifindex = 6, .name = "rp0", .kind = "rocepath", .ethernet = true },
	{ .ifindex = 7, .name = "bond0", .kind = "bond", .ethernet = true },
};

static const struct rp_links links = { netdevices, ARRAY_SIZE(netdevices) };

static struct rp_spec *spec;
static struct rp_hooks hooks;

static void find(const char *text)
{
	struct rp_report report = { .out = stderr };

	spec = rp_spec_new();
	rp_spec_read(spec, rp_source_new("test", text, strlen(text)), &report);
	rp_spec_check(spec, &report);
	assert_int_equal(report.errors, 0);
	rp_hooks_find(spec, &links, &hooks);
}

static void done(void)
{
	rp_hooks_drop(&hooks);
	rp_spec_release(spec);
}

static void plain(void **state)
{
	find("version: 1\ninterfaces: [eth1, bond0, \"ib*\"]\n");
	assert_int_equal(rp_hooks_roles(&hooks, 3), PLAIN);
	assert_int_equal(rp_hooks_roles(&hooks, 7), RP_ROLE_TRAFFIC);
	assert_int_equal(rp_hooks_roles(&hooks, 5), RP_ROLE_PORT);
	assert_int_equal(rp_hooks_roles(&hooks, 4), 0);
	assert_int_equal(hooks.missing_count, 1);
	assert_string_equal(hooks.missing[0], "ib*");
	assert_int_equal(hooks.port_count, 0);
	done();
}

/* ports that are there, and those that are about to be; whether the device is in the file or not */
static void ports_are_not_interfaces(void **state)
{
	find("version: 1\ndevices:\n  - {name: rp0, ports: [eth0, eth2]}\n"
	     "interfaces: [\"eth*\"]\n");
	assert_int_equal(rp_hooks_roles(&hooks, 6), RP_ROLE_TRAFFIC);
	assert_int_equal(rp_hooks_roles(&hooks, 2), PORT);
	assert_int_equal(rp_hooks_roles(&hooks, 3), PLAIN);
	assert_int_equal(rp_hooks_roles(&hooks, 4), 0);
	assert_int_equal(hooks.port_count, 2);
	assert_string_equal(hooks.ports[0], "eth0");
	assert_string_equal(hooks.ports[1], "eth2");
	done();
	find("version: 1\ninterfaces: [\"*\"]\n");
	assert_int_equal(rp_hooks_roles(&hooks, 6), RP_ROLE_TRAFFIC);
	assert_int_equal(rp_hooks_roles(&hooks, 2), PORT);
	assert_int_equal(rp_hooks_roles(&hooks, 4), PLAIN);
	assert_int_equal(rp_hooks_roles(&hooks, 1), 0);
	assert_int_equal(hooks.port_count, 1);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(ports_are_not_interfaces),
	};

	return unit_run(tests);
}
