/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_PAIR_H
#define ROCEPATH_RDMA_PAIR_H

#include <linux/in6.h>
#include <linux/types.h>

#include "../core/plan.h"

struct rp_rdma_device;
struct rp_rdma_qp;

/**
 * struct rp_rdma_ev_info - one EV of a pair of addresses, for who shows it
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @kind: enum rocepath_rdma_plan_kind
 * @ev: the EV
 * @path: number of its path, if @has_path
 * @has_path: discovery knows it
 * @weight: 0: not given to QPs now
 * @told_down: an operator has taken it out
 * @qps: that sit on it
 */
struct rp_rdma_ev_info {
	struct in6_addr local;
	struct in6_addr remote;
	u32 kind;
	u32 path;
	u16 ev;
	u16 weight;
	bool has_path;
	bool told_down;
	u32 qps;
};

/**
 * struct rp_rdma_rows - some QPs at one moment, each with a reference
 * @n: how many
 * @row: which
 */
struct rp_rdma_rows {
	u32 n;
	struct rp_rdma_qp **row;
};

struct rp_rdma_pairs *rp_rdma_pairs_new(void);
void rp_rdma_pairs_release(struct rp_rdma_pairs *pairs);
u32 rp_rdma_pairs_count(const struct rp_rdma_device *rdev);

bool rp_rdma_pair_take(struct rp_rdma_qp *row, u64 job);
bool rp_rdma_pair_take_at(struct rp_rdma_qp *row, u64 job, u16 ev);
void rp_rdma_pair_give_back(struct rp_rdma_qp *row);
bool rp_rdma_pair_move_begin(struct rp_rdma_qp *row, struct rp_plan_place *to);
void rp_rdma_pair_move_end(struct rp_rdma_qp *row, struct rp_plan_place *to, bool moved);

void rp_rdma_pair_weigh(struct rp_rdma_device *rdev, const struct in6_addr *local,
			const struct in6_addr *remote, u16 ev, u16 health);
int rp_rdma_pair_tell(struct rp_rdma_device *rdev, const struct in6_addr *local,
		      const struct in6_addr *remote, u16 ev, bool down);
bool rp_rdma_pair_ev(struct rp_rdma_device *rdev, const struct in6_addr *local,
		     const struct in6_addr *remote, u16 ev, struct rp_rdma_ev_info *info);
bool rp_rdma_pair_at(struct rp_rdma_device *rdev, unsigned long *bucket, unsigned long *index,
		     struct rp_rdma_ev_info *info);
int rp_rdma_pair_rows(struct rp_rdma_device *rdev, const struct in6_addr *local,
		      const struct in6_addr *remote, u16 ev, struct rp_rdma_rows *rows);
int rp_rdma_pair_set(struct rp_rdma_device *rdev, const struct in6_addr *local,
		     const struct in6_addr *remote, struct rp_plan *plan);
struct rp_plan *rp_rdma_plan_new(u32 evs);
int rp_rdma_plan_room(struct rp_plan *plan, gfp_t gfp);
int rp_rdma_plan_room_all(struct rp_plan *plan, gfp_t gfp);
void rp_rdma_plan_release(struct rp_plan *plan);

#endif /* ROCEPATH_RDMA_PAIR_H */
