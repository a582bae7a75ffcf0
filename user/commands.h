/* SPDX-License-Identifier: GPL-2.0 */
/* What the tool can do. */
#ifndef ROCEPATH_USER_COMMANDS_H
#define ROCEPATH_USER_COMMANDS_H

#include "cli.h"

#define RP_RDMA_VERBS 11

extern const struct rp_grammar rp_grammar;
extern const struct rp_verb rp_rdma_verbs[RP_RDMA_VERBS];

int rp_device_show(struct rp_cli *cli, const struct rp_args *args);
int rp_device_set(struct rp_cli *cli, const struct rp_args *args);
int rp_port_show(struct rp_cli *cli, const struct rp_args *args);
int rp_port_set(struct rp_cli *cli, const struct rp_args *args);
int rp_peer_show(struct rp_cli *cli, const struct rp_args *args);
int rp_path_show(struct rp_cli *cli, const struct rp_args *args);
int rp_path_set(struct rp_cli *cli, const struct rp_args *args);
int rp_path_discover(struct rp_cli *cli, const struct rp_args *args);
int rp_flow_show(struct rp_cli *cli, const struct rp_args *args);
int rp_key_show(struct rp_cli *cli, const struct rp_args *args);
int rp_key_set(struct rp_cli *cli, const struct rp_args *args);
int rp_key_del(struct rp_cli *cli, const struct rp_args *args);
int rp_class_show(struct rp_cli *cli, const struct rp_args *args);
int rp_class_set(struct rp_cli *cli, const struct rp_args *args);
int rp_class_del(struct rp_cli *cli, const struct rp_args *args);
int rp_stats_show(struct rp_cli *cli, const struct rp_args *args);
int rp_top(struct rp_cli *cli, const struct rp_args *args);
int rp_monitor(struct rp_cli *cli, const struct rp_args *args);
int rp_check(struct rp_cli *cli, const struct rp_args *args);
int rp_policy_apply(struct rp_cli *cli, const struct rp_args *args);
int rp_policy_try(struct rp_cli *cli, const struct rp_args *args);
int rp_policy_diff(struct rp_cli *cli, const struct rp_args *args);
int rp_policy_show(struct rp_cli *cli, const struct rp_args *args);
int rp_rule_show(struct rp_cli *cli, const struct rp_args *args);
int rp_drop_show(struct rp_cli *cli, const struct rp_args *args);
int rp_qp_show(struct rp_cli *cli, const struct rp_args *args);
int rp_job_show(struct rp_cli *cli, const struct rp_args *args);
int rp_status(struct rp_cli *cli, const struct rp_args *args);
int rp_run(struct rp_cli *cli, const struct rp_args *args);
int rp_policy_classes(struct rp_cli *cli);
bool rp_policy_is_in_force(void);
int rp_policy_clean(struct rp_cli *cli, const struct rp_args *args);
int rp_doctor(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_show(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_set(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_discover(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_plan_show(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_path_show(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_path_set(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_peer_show(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_qp_set(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_key_show(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_key_set(struct rp_cli *cli, const struct rp_args *args);
int rp_rdma_key_del(struct rp_cli *cli, const struct rp_args *args);
int rp_version(struct rp_cli *cli, const struct rp_args *args);
int rp_help(struct rp_cli *cli, const struct rp_args *args);
int rp_overview(struct rp_cli *cli);

#endif /* ROCEPATH_USER_COMMANDS_H */
