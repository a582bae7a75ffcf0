/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_WIRE_PLUMBING_H
#define ROCEPATH_RDMA_WIRE_PLUMBING_H

#include <linux/in6.h>
#include <linux/rcupdate.h>
#include <rocepath/rdma_wire.h>

#include "../core/wire.h"

struct netlink_ext_ack;

/**
 * struct rp_rdma_keyring - keys of the host, RCU
 * @rcu: to free it
 * @keys: the keys
 */
struct rp_rdma_keyring {
	struct rcu_head rcu;
	struct rp_keys keys;
};

/**
 * struct rp_rdma_message - one, with room for the longest
 * @wire: its header
 * @body: by type
 */
struct rp_rdma_message {
	struct rp_wire wire;
	union {
		struct rp_rdma_wire_hello hello;
		struct rp_rdma_wire_probe probe;
		struct rp_rdma_wire_answer answer;
	} body;
} __packed;

bool rp_rdma_wire_keyed(void);
u64 rp_rdma_wire_instance(void);
bool rp_rdma_wire_seal(struct rp_rdma_message *m, u8 type, u64 seq, const struct in6_addr *local,
		       const struct in6_addr *remote);
enum rp_wire_verdict rp_rdma_wire_check(const struct rp_rdma_message *m, u32 len,
					const struct in6_addr *local,
					const struct in6_addr *remote);
u32 rp_rdma_wire_len(u8 type);

int rp_rdma_key_set(u8 id, const u8 *secret, const bool *active, struct netlink_ext_ack *extack);
int rp_rdma_key_del(u8 id, struct netlink_ext_ack *extack);
void rp_rdma_key_flush(void);
bool rp_rdma_key_at(u32 index, u8 *id, bool *active);

void rp_rdma_wire_init(void);
void rp_rdma_wire_exit(void);

#endif /* ROCEPATH_RDMA_WIRE_PLUMBING_H */
