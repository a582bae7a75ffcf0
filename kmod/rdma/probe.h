/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probes between hosts, for the EVs that QPs sit on: what the rest of the module
 * sees of them. Knobs are those of struct rp_rdma_settings, read as they are
 * needed; what is found out goes to rp_rdma_paths_changed().
 */
#ifndef ROCEPATH_RDMA_PROBE_H
#define ROCEPATH_RDMA_PROBE_H

#include <linux/in6.h>
#include <linux/rocepath_rdma.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct rp_rdma_device;

/**
 * struct rp_rdma_path_change - what became of one EV between two addresses
 * @ev: the EV
 * @state: enum rocepath_rdma_path_state, what it is now
 * @before: and was
 * @reason: enum rocepath_rdma_path_reason
 * @took_us: since the first probe was sent that nothing was heard of, 0: none
 * @rtt_us: 0: not known
 */
struct rp_rdma_path_change {
	u16 ev;
	u8 state;
	u8 before;
	u8 reason;
	u32 took_us;
	u32 rtt_us;
};

/**
 * struct rp_rdma_path_info - one EV between two addresses, for who shows it
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @ev: the EV
 * @state: enum rocepath_rdma_path_state
 * @reason: enum rocepath_rdma_path_reason
 * @users: QPs that want it probed; 0: it is there so that the peer's silence is not a path's
 * @since_ms: in this state for so long
 * @rtt_us: 0: nothing was answered yet
 * @loss_ppm: lately
 * @fails: times it went down
 * @sent: probes
 * @answered: of these
 */
struct rp_rdma_path_info {
	struct in6_addr local;
	struct in6_addr remote;
	u16 ev;
	u8 state;
	u8 reason;
	u32 users;
	u64 since_ms;
	u32 rtt_us;
	u32 loss_ppm;
	u32 fails;
	u64 sent;
	u64 answered;
};

/**
 * struct rp_rdma_peer_info - one pair of addresses, for who shows it
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @state: enum rocepath_rdma_peer_state
 * @reason: why it is in that state
 * @instance: 0: none heard
 * @key_id: of its last hello
 * @hello_age_ms: since that, U64_MAX: there was none
 * @evs: in use
 */
struct rp_rdma_peer_info {
	struct in6_addr local;
	struct in6_addr remote;
	u8 state;
	const char *reason;
	u64 instance;
	u8 key_id;
	u64 hello_age_ms;
	u32 evs;
};

/* its address is what the QPs of the probes have as their context */
extern const u8 rp_rdma_probe_mark;

/**
 * rp_rdma_probe_owns() - is it a QP of the probes?
 * @qp: the QP
 *
 * The hook leaves these alone: their labels are what is probed.
 */
static inline bool rp_rdma_probe_owns(const struct ib_qp *qp)
{
	return qp->qp_context == &rp_rdma_probe_mark;
}

/* for QPs; the hook's context will do */
bool rp_rdma_probe_want(struct rp_rdma_device *rdev, const struct in6_addr *local,
			const struct in6_addr *remote, u16 ev, u8 traffic_class);
void rp_rdma_probe_unwant(struct rp_rdma_device *rdev, const struct in6_addr *local,
			  const struct in6_addr *remote, u16 ev);
u8 rp_rdma_probe_state(struct rp_rdma_device *rdev, const struct in6_addr *local,
		       const struct in6_addr *remote, u16 ev);

/* for netlink */
bool rp_rdma_probe_path_at(struct rp_rdma_device *rdev, unsigned long *cursor,
			   struct rp_rdma_path_info *info);
bool rp_rdma_probe_peer_at(struct rp_rdma_device *rdev, unsigned long *cursor,
			   struct rp_rdma_peer_info *info);
u32 rp_rdma_probe_peers(struct rp_rdma_device *rdev);

/* for who makes devices, and for keys */
int rp_rdma_probe_start(struct rp_rdma_device *rdev);
void rp_rdma_probe_stop(struct rp_rdma_device *rdev);
void rp_rdma_probe_rekeyed(bool keyed);
int rp_rdma_probe_init(void);
void rp_rdma_probe_exit(void);

/**
 * rp_rdma_paths_changed() - probes have found out something (failure.c)
 * @rdev: the port
 * @local: IPv4 mapped
 * @remote: IPv4 mapped
 * @change: the EVs
 * @n: how many
 *
 * Changes of one moment between two addresses come together, DOWN and DEGRADED
 * as well as UP and UNKNOWN, which both end these.
 *
 * Context: process, no lock held; never after rp_rdma_probe_stop().
 */
void rp_rdma_paths_changed(struct rp_rdma_device *rdev, const struct in6_addr *local,
			   const struct in6_addr *remote,
			   const struct rp_rdma_path_change *change, u32 n);

#endif /* ROCEPATH_RDMA_PROBE_H */
