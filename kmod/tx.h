/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_TX_H
#define ROCEPATH_TX_H

#include <linux/netdevice.h>

#include "core/paths.h"
#include "stats.h"

struct rp_device;

netdev_tx_t rp_tx(struct sk_buff *skb, struct net_device *dev);
bool rp_tx_any_path(struct rp_device *rp, u32 hash, struct rp_path *path);
bool rp_tx_made(struct rp_device *rp, struct sk_buff *skb, u8 index, enum rp_count count);
void rp_tx_repair(struct rp_device *rp, struct sk_buff *skb, struct rp_path path);

int rp_tx_init(void);
void rp_tx_exit(void);

#endif /* ROCEPATH_TX_H */
