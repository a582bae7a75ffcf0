/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_CONTROL_H
#define ROCEPATH_CONTROL_H

#include <linux/types.h>

#include "core/paths.h"

struct sk_buff;
struct work_struct;

struct rp_device;
struct rp_peer;
struct rp_wire_probe;
struct rp_keyring;
struct rp_roce;
struct sk_buff;
struct work_struct;

void rp_control_rx(struct rp_device *rp, const struct sk_buff *skb, u32 l3,
		   const struct rp_roce *r);
bool rp_control_send(struct rp_device *rp, struct rp_peer *peer, u8 type, const void *body, u16 len,
		     const struct rp_path *path);
bool rp_control_send_hop(struct rp_device *rp, struct rp_peer *peer,
			 const struct rp_wire_probe *body, struct rp_path path, u8 hops, u16 id);
void rp_control_ports_changed(struct rp_device *rp);
void rp_control_rekeyed(struct rp_device *rp, const struct rp_keyring *ring);
void rp_control_hello_work(struct work_struct *work);

#endif /* ROCEPATH_CONTROL_H */
