/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probes between hosts, for the EVs that QPs sit on: what the rest of the module
 * sees of them.
 *
 * rp_rdma_probe_want() and _unwant() take no lock that sleeps: the hook calls
 * them. What comes of it is told to rp_rdma_paths_changed() (failure.h).
 */
#ifndef ROCEPATH_RDMA_PROBE_H
#define ROCEPATH_RDMA_PROBE_H

#include <linux/in6.h>
#include <linux/rocepath_rdma.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct rp_rdma_device;
struct rp_rdma_prober;

#define RP_RDMA_PROBE_INTERVAL_US	10000
#define RP_RDMA_PROBE_INTERVAL_US_MIN	1000
#define RP_RDMA_PROBE_INTERVAL_US_MAX	10000000
#define RP_RDMA_PROBES_PER_SECOND	20000
#define RP_RDMA_PROBES_PER_SECOND_MIN	10
#define RP_RDMA_PROBES_PER_SECOND_MAX	1000000
#define RP_RDMA_PROBE_HOLDDOWN_MS	1000
#define RP_RDMA_PROBE_HOLDDOWN_MS_MAX	60000
#define RP_RDMA_PROBE_SLOW_FACTOR	4
#define RP_RDMA_PROBE_SLOW_FACTOR_MAX	1000

/**
 * struct rp_rdma_probe_knobs - of a device's probes
 * @interval_us: of each EV in use, which is probed twice in it; 0: no probes
 * @per_second: probes of the device, at most
 * @holddown_ms: first one of a path that came back
 * @slow_factor: round trip so many times that of others: degraded; 0: never
 */
struct rp_rdma_probe_knobs {
	u32 interval_us;
	u32 per_second;
	u32 holddown_ms;
	u32 slow_factor;
};

/* the knobs of a device that nobody set any for */
#define RP_RDMA_PROBE_KNOBS ((struct rp_rdma_probe_knobs){	\
	.interval_us = RP_RDMA_PROBE_INTERVAL_US,		\
	.per_second = RP_RDMA_PROBES_PER_SECOND,		\
	.holddown_ms = RP_RDMA_PROBE_HOLDDOWN_MS,		\
	.slow_factor = RP_RDMA_PROBE_SLOW_FACTOR,		\
})

/**
 * struct rp_rdma_path_change - what became of one EV between two addresses
 * @ev: the EV
 * @state: enum rocepath_rdma_path_state, what it is now
 * @before: and was
 * @reason: enum rocepath_rdma_path_reason
 * @took_us: since the first probe was sent that nothing was heard of
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
 * @users: QPs that want it probed
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

/* what is counted of a device's probes; names are in rp_rdma_probe_count_names */
enum rp_rdma_probe_count {
	RP_RDMA_PROBES_SENT,
	RP_RDMA_PROBES_ANSWERED,	/* probes of others, by us */
	RP_RDMA_PROBES_DELAYED,		/* by the budget */
	RP_RDMA_PROBES_UNSENT,		/* the send queue was full */
	RP_RDMA_PROBE_RX_OK,
	RP_RDMA_PROBE_RX_MALFORMED,
	RP_RDMA_PROBE_RX_VERSION,
	RP_RDMA_PROBE_RX_KEY,
	RP_RDMA_PROBE_RX_MAC,
	RP_RDMA_PROBE_RX_REPLAY,
	RP_RDMA_PROBE_RX_UNPROVEN,
	RP_RDMA_PROBE_RX_TYPE,
	RP_RDMA_PROBE_RX_PEER,		/* there was no room for a peer more */
	RP_RDMA_PROBE_PATHS_REFUSED,	/* EVs that are not probed: there was no room */
	RP_RDMA_PROBE_PATHS_DOWN,
	RP_RDMA_PROBE_PATHS_DEGRADED,
	RP_RDMA_PROBE_PATHS_BACK,
	RP_RDMA_PROBE_PEERS_LOST,
	RP_RDMA_PROBE_PEERS_UNREACHED,	/* resolutions that failed */
	RP_RDMA_PROBE_COUNTS
};

extern const char *const rp_rdma_probe_count_names[RP_RDMA_PROBE_COUNTS];

/* an identity only: see rp_rdma_probe_owns() */
void rp_rdma_probe_qp_event(struct ib_event *event, void *context);

/**
 * rp_rdma_probe_owns() - is it a QP of the probes?
 * @qp: the QP
 *
 * The hook leaves these alone: their labels are what is probed.
 */
static inline bool rp_rdma_probe_owns(const struct ib_qp *qp)
{
	return qp->event_handler == rp_rdma_probe_qp_event;
}

/* --- device.h or main.c calls these --- */

int rp_rdma_probe_init(void);
void rp_rdma_probe_exit(void);
struct rp_rdma_prober *rp_rdma_probe_new(struct rp_rdma_device *device, struct ib_device *ib,
					 u32 port, const struct rp_rdma_probe_knobs *knobs);
void rp_rdma_probe_free(struct rp_rdma_prober *prober);

/* --- for QPs --- */

bool rp_rdma_probe_want(struct rp_rdma_prober *prober, const struct in6_addr *local,
			const struct in6_addr *remote, u16 ev, u8 traffic_class);
void rp_rdma_probe_unwant(struct rp_rdma_prober *prober, const struct in6_addr *local,
			  const struct in6_addr *remote, u16 ev);
u8 rp_rdma_probe_state(struct rp_rdma_prober *prober, const struct in6_addr *local,
		       const struct in6_addr *remote, u16 ev);

/* --- for netlink --- */

void rp_rdma_probe_set(struct rp_rdma_prober *prober, const struct rp_rdma_probe_knobs *knobs);
u64 rp_rdma_probe_counter(const struct rp_rdma_prober *prober, enum rp_rdma_probe_count count);
u32 rp_rdma_probe_peers(struct rp_rdma_prober *prober);
bool rp_rdma_probe_path_at(struct rp_rdma_prober *prober, unsigned long *cursor,
			   struct rp_rdma_path_info *info);
bool rp_rdma_probe_peer_at(struct rp_rdma_prober *prober, unsigned long *cursor,
			   struct rp_rdma_peer_info *info);
const char *rp_rdma_probe_trouble(const struct rp_rdma_prober *prober);

#endif /* ROCEPATH_RDMA_PROBE_H */
