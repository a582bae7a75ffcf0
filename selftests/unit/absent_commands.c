// SPDX-License-Identifier: GPL-2.0
/* Commands that want more than a test of the tool's netlink side links. */
#include "../../user/commands.h"

static int absent(struct rp_cli *cli, const struct rp_args *args)
{
	return 0;
}

#define ABSENT(name) \
	int name(struct rp_cli *cli, const struct rp_args *args) __attribute__((alias("absent")))
ABSENT(rp_version);
ABSENT(rp_help);
ABSENT(rp_check);
ABSENT(rp_policy_apply);
ABSENT(rp_policy_try);
ABSENT(rp_policy_diff);
ABSENT(rp_policy_show);
ABSENT(rp_policy_clean);
ABSENT(rp_rule_show);
ABSENT(rp_drop_show);
ABSENT(rp_qp_show);
ABSENT(rp_job_show);
ABSENT(rp_status);
ABSENT(rp_run);
ABSENT(rp_doctor);
ABSENT(rp_rdma_discover);

int rp_policy_classes(struct rp_cli *cli)
{
	return 0;
}

bool rp_policy_is_in_force(void)
{
	return false;
}
