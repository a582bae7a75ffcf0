/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_CONTROL_H
#define ROCEPATH_CONTROL_H

#include <linux/types.h>

struct rp_device;
struct rp_keyring;
struct rp_roce;
struct sk_buff;
struct work_struct;

void rp_control_rx(struct rp_device *rp, const struct sk_buff *skb, u32 l3,
		   const struct rp_roce *r);
void rp_control_rekeyed(struct rp_device *rp, const struct rp_keyring *ring);
void rp_control_hello_work(struct work_struct *work);

#endif /* ROCEPATH_CONTROL_H */
