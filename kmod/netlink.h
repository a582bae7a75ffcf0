/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_NETLINK_H
#define ROCEPATH_NETLINK_H

#include <linux/rocepath.h>
#include <net/genetlink.h>

struct in6_addr;
struct rp_device;
struct rp_hop;
struct rp_pathset_entry;
struct rp_port;

extern struct genl_family rp_genl_family;

/* events; netlink_event.c */
void rp_event_port(const struct rp_port *port, enum rocepath_event event, const char *reason);
void rp_event_peer(const struct rp_device *rp, const struct in6_addr *address,
		   enum rocepath_event event, const char *reason);
void rp_event_path(const struct rp_port *port, const struct in6_addr *peer,
		   const struct rp_pathset_entry *p, u8 before, u64 took_ns);
void rp_event_hop(const struct rp_device *rp, const struct rp_hop *hop,
		  const struct in6_addr *router);
void rp_event_cap(struct rp_device *rp, const char *reason);

/* what the handlers share; netlink.c */
struct rp_device *rp_nl_device(struct genl_info *info, int attr);
int rp_nl_dump_devices(struct sk_buff *skb, struct netlink_callback *cb, int filter_attr,
		       int (*one)(struct sk_buff *skb, struct netlink_callback *cb,
				  struct rp_device *rp));
void *rp_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
int rp_nl_put_stats(struct sk_buff *skb, int attr, const char *const *name, const u64 *value,
		    int n);

/* handlers; netlink_device.c */
extern const struct nla_policy rp_nl_device_policy[ROCEPATH_A_DEVICE_MAX + 1];
int rp_nl_device_get(struct sk_buff *skb, struct genl_info *info);
int rp_nl_device_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_nl_device_set(struct sk_buff *skb, struct genl_info *info);

/* handlers; netlink_port.c */
extern const struct nla_policy rp_nl_port_policy[ROCEPATH_A_PORT_MAX + 1];
int rp_nl_port_get(struct sk_buff *skb, struct genl_info *info);
int rp_nl_port_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_nl_port_set(struct sk_buff *skb, struct genl_info *info);

/* handlers; netlink_path.c */
extern const struct nla_policy rp_nl_path_policy[ROCEPATH_A_PATH_MAX + 1];
int rp_nl_path_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_nl_path_set(struct sk_buff *skb, struct genl_info *info);
int rp_nl_probe(struct sk_buff *skb, struct genl_info *info);

/* handlers; netlink_peer.c */
extern const struct nla_policy rp_nl_peer_policy[ROCEPATH_A_PEER_MAX + 1];
extern const struct nla_policy rp_nl_flow_policy[ROCEPATH_A_FLOW_MAX + 1];
int rp_nl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_nl_flow_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* handlers; netlink_key.c */
extern const struct nla_policy rp_nl_key_policy[ROCEPATH_A_KEY_MAX + 1];
extern const struct nla_policy rp_nl_class_policy[ROCEPATH_A_CLASS_MAX + 1];
int rp_nl_key_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_nl_key_set(struct sk_buff *skb, struct genl_info *info);
int rp_nl_key_del(struct sk_buff *skb, struct genl_info *info);
int rp_nl_class_dump(struct sk_buff *skb, struct netlink_callback *cb);
int rp_nl_class_set(struct sk_buff *skb, struct genl_info *info);

int rp_netlink_init(void);
void rp_netlink_exit(void);

#endif /* ROCEPATH_NETLINK_H */
