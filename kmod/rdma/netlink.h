/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_NETLINK_H
#define ROCEPATH_RDMA_NETLINK_H

#include <linux/rocepath_rdma.h>
#include <net/genetlink.h>

struct rp_rdma_device;
struct rp_rdma_qp;

extern struct genl_family rp_rdma_family;

/* what the handlers share; netlink.c */
struct rp_rdma_device *rp_rdma_nl_device(struct genl_info *info, int name, int port);
bool rp_rdma_nl_wanted(const struct rp_rdma_device *rdev, const struct nlattr *name);
void *rp_rdma_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
int rp_rdma_nl_dump_devices(struct sk_buff *skb, struct netlink_callback *cb, int name,
			    int (*one)(struct sk_buff *skb, struct netlink_callback *cb,
				       struct rp_rdma_device *rdev));
int rp_rdma_nl_put_stats(struct sk_buff *skb, int attr, const struct rp_rdma_device *rdev);

/* handlers; netlink_device.c */
extern const struct nla_policy rp_nl_device_policy[ROCEPATH_RDMA_A_DEVICE_MAX + 1];
int rp_rdma_nl_device_get(struct sk_buff *skb, struct genl_info *info);
int rp_rdma_nl_device_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_rdma_nl_device_set(struct sk_buff *skb, struct genl_info *info);

/* handlers; netlink_policy.c */
extern const struct nla_policy rp_nl_class_policy[ROCEPATH_RDMA_A_CLASS_MAX + 1];
extern const struct nla_policy rp_nl_rule_policy[ROCEPATH_RDMA_A_RULE_MAX + 1];
extern const struct nla_policy rp_nl_policy_policy[ROCEPATH_RDMA_A_POLICY_MAX + 1];
int rp_rdma_nl_policy_get(struct sk_buff *skb, struct genl_info *info);
int rp_rdma_nl_policy_set(struct sk_buff *skb, struct genl_info *info);
int rp_rdma_nl_class_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_rdma_nl_rule_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* handlers; netlink_plan.c */
extern const struct nla_policy rp_nl_plan_ev_policy[ROCEPATH_RDMA_A_PLAN_EV_MAX + 1];
extern const struct nla_policy rp_nl_plan_policy[ROCEPATH_RDMA_A_PLAN_MAX + 1];
int rp_rdma_nl_plan_set(struct sk_buff *skb, struct genl_info *info);
int rp_rdma_nl_plan_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_rdma_nl_path_set(struct sk_buff *skb, struct genl_info *info);

/* handlers; netlink_qp.c */
extern const struct nla_policy rp_nl_qp_policy[ROCEPATH_RDMA_A_QP_MAX + 1];
int rp_rdma_nl_qp_put_brief(struct sk_buff *skb, const struct rp_rdma_qp *row);
int rp_rdma_nl_qp_get(struct sk_buff *skb, struct genl_info *info);
int rp_rdma_nl_qp_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_rdma_nl_qp_set(struct sk_buff *skb, struct genl_info *info);

/* handlers; probe_netlink.c */
extern const struct nla_policy rp_nl_path_policy[ROCEPATH_RDMA_A_PATH_MAX + 1];
extern const struct nla_policy rp_nl_peer_policy[ROCEPATH_RDMA_A_PEER_MAX + 1];
extern const struct nla_policy rp_nl_key_policy[ROCEPATH_RDMA_A_KEY_MAX + 1];
int rp_rdma_nl_path_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_rdma_nl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_rdma_nl_key_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_rdma_nl_key_set(struct sk_buff *skb, struct genl_info *info);
int rp_rdma_nl_key_del(struct sk_buff *skb, struct genl_info *info);

int rp_rdma_netlink_init(void);
void rp_rdma_netlink_exit(void);

#endif /* ROCEPATH_RDMA_NETLINK_H */
