/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RX_H
#define ROCEPATH_RX_H

#include <linux/netdevice.h>

struct rp_device;

rx_handler_result_t rp_rx_handler(struct sk_buff **pskb);
void rp_rx_deliver(struct rp_device *rp, struct sk_buff *skb);

#endif /* ROCEPATH_RX_H */
