/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters: each is named once, here; ethtool, netlink, the tool and metrics
 * all take the name from this table.
 *
 * Packets are conserved. On a device that rests,
 *
 *   tx_packets + tx_flood_copies + tx_control + tx_repaired + tx_ack_again
 *                = sum of its ports' (tx_packets + tx_dropped) + tx_left + tx_drop_*
 *   sum of its ports' rx_packets + rx_left + rx_gso_segments
 *                = rx_packets + packets held now + rx_control_* + rx_drop_*
 */
#ifndef ROCEPATH_STATS_H
#define ROCEPATH_STATS_H

#include <linux/percpu.h>
#include <linux/u64_stats_sync.h>

struct rp_device;
struct rp_port;

/* of a device */
#define RP_DEVICE_COUNTERS(C)								\
	C(TX_PACKETS, tx_packets)		/* taken from the stack */		\
	C(TX_BYTES, tx_bytes)								\
	C(TX_ROCE, tx_roce)			/* RoCEv2 among them */			\
	C(TX_SPRAYED, tx_sprayed)		/* RoCEv2 over all paths */		\
	C(TX_PINNED, tx_pinned)			/* RoCEv2 on the flow's one path */	\
	C(TX_HASHED, tx_hashed)			/* not RoCEv2: by L3+L4 hash */		\
	C(TX_MALFORMED, tx_malformed)		/* UDP 4791 but not RoCEv2: hashed */	\
	C(TX_FLOOD_COPIES, tx_flood_copies)	/* of ARP and ND, beyond the first */	\
	C(TX_REROUTED, tx_rerouted)		/* port just failed, another taken */	\
	C(TX_EV_KEPT, tx_ev_kept)		/* EV not written: no memory */		\
	C(TX_CONTROL, tx_control)		/* control packets made here */		\
	C(TX_REPAIRED, tx_repaired)		/* lost ones, sent again */		\
	C(TX_ACK_AGAIN, tx_ack_again)		/* acknowledges, said again */		\
	C(TX_LEFT, tx_left)			/* by ports that are ports no more */	\
	C(TX_DROP_NO_PORT, tx_drop_no_port)	/* no port is up */			\
	C(TX_DROP_NOMEM, tx_drop_nomem)							\
	C(RX_PACKETS, rx_packets)		/* given to the stack */		\
	C(RX_BYTES, rx_bytes)								\
	C(RX_LEFT, rx_left)			/* from ports that are ports no more */	\
	C(RX_ROCE, rx_roce)			/* RoCEv2 from ports */			\
	C(RX_IN_ORDER, rx_in_order)		/* was the PSN expected */		\
	C(RX_HELD, rx_held)			/* came early, waited */		\
	C(RX_RELEASED, rx_released)		/* waited, then came its turn */	\
	C(RX_EXPIRED, rx_expired)		/* waited, then the gap timed out */	\
	C(RX_FLUSHED, rx_flushed)		/* waited, let go for another reason */	\
	C(RX_PASSED_OLD, rx_passed_old)		/* behind: duplicate, retransmission */	\
	C(RX_PASSED_FAR, rx_passed_far)		/* too far ahead to hold */		\
	C(RX_PASSED_FULL, rx_passed_full)	/* a cap was hit */			\
	C(RX_ANSWERS, rx_answers)		/* ACK and NAK to a QP of ours */	\
	C(RX_PASSED_UNKNOWN, rx_passed_unknown)	/* no such QP here, UD, QP1, CNP, ... */\
	C(RX_GSO_SEGMENTS, rx_gso_segments)	/* made of aggregates, beyond the first */\
	C(RX_DROP_DUPLICATE, rx_drop_duplicate)	/* its PSN was held already */		\
	C(RX_DROP_REPAIRED, rx_drop_repaired)	/* repair and original both came */	\
	C(RX_DROP_ACK_STALE, rx_drop_ack_stale)	/* the QP has a later one already */	\
	C(RX_DROP_ACK_EARLY, rx_drop_ack_early)	/* of what the QP is to send again */	\
	C(RX_DROP_MALFORMED, rx_drop_malformed)	/* UDP 4791, but no RoCEv2 */		\
	C(RX_DROP_OWN, rx_drop_own)		/* our own, looped back by a switch */	\
	C(RX_DROP_GONE, rx_drop_gone)		/* held when its QP went away */	\
	C(RX_DROP_BUSY, rx_drop_busy)		/* delivery fell behind */		\
	C(RX_DROP_GSO, rx_drop_gso)		/* aggregate that could not be split */	\
	C(RX_DROP_DOWN, rx_drop_down)		/* the device is down */		\
	C(RX_CONTROL_OK, rx_control_ok)							\
	C(RX_CONTROL_MALFORMED, rx_control_malformed)					\
	C(RX_CONTROL_VERSION, rx_control_version)	/* unknown version */		\
	C(RX_CONTROL_KEY, rx_control_key)	/* made with a key we do not have */	\
	C(RX_CONTROL_MAC, rx_control_mac)	/* wrong MAC */				\
	C(RX_CONTROL_REPLAY, rx_control_replay)						\
	C(RX_CONTROL_UNPROVEN, rx_control_unproven)	/* did not answer our challenge */\
	C(RX_CONTROL_TYPE, rx_control_type)	/* unknown type */			\
	C(RX_CONTROL_PEER, rx_control_peer)	/* no room for another peer */		\
	C(GAPS_FILLED, gaps_filled)							\
	C(GAPS_EXPIRED, gaps_expired)							\
	C(REWINDS, rewinds)			/* a QP asked for older packets again */\
	C(TX_UNKEPT, tx_unkept)			/* sprayed, not kept for repair: cap, memory */\
	C(TX_FALLBACK, tx_fallback)		/* all paths to the peer were down: by carrier */\
	C(TX_REPORTS, tx_reports)		/* among tx_control */			\
	C(TX_PROBES, tx_probes)			/* among tx_control */			\
	C(PROBES_REFUSED, probes_refused)	/* the budget is spent */		\
	C(PATHS_SUSPECT, paths_suspect)							\
	C(PATHS_DOWN, paths_down)							\
	C(PATHS_BACK, paths_back)							\
	C(PATHS_NOMEM, paths_nomem)		/* no memory to lay them out */		\
	C(PATHS_UNTOLD, paths_untold)		/* changed, but too many events a second */ \
	C(PEERS_REFUSED, peers_refused)		/* cap on peers */			\
	C(PEERS_LOST, peers_lost)		/* hellos stopped */			\
	C(PEERS_RESTARTED, peers_restarted)

/* of a port */
#define RP_PORT_COUNTERS(C)								\
	C(TX_PACKETS, tx_packets)		/* the port took */			\
	C(TX_BYTES, tx_bytes)								\
	C(TX_DROPPED, tx_dropped)		/* the port refused */			\
	C(TX_LOST, tx_lost)			/* were in its queue when it went down */\
	C(RX_PACKETS, rx_packets)							\
	C(RX_BYTES, rx_bytes)

#define RP_ENUM(id, name) RP_##id,
enum rp_count {
	RP_DEVICE_COUNTERS(RP_ENUM)
	RP_COUNTS
};

#undef RP_ENUM
#define RP_ENUM(id, name) RP_PORT_##id,
enum rp_port_count {
	RP_PORT_COUNTERS(RP_ENUM)
	RP_PORT_COUNTS
};

#undef RP_ENUM

struct rp_stats {
	u64_stats_t value[RP_COUNTS];
	struct u64_stats_sync syncp;
};

struct rp_port_stats {
	u64_stats_t value[RP_PORT_COUNTS];
	struct u64_stats_sync syncp;
};

extern const char *const rp_count_name[RP_COUNTS];
extern const char *const rp_port_count_name[RP_PORT_COUNTS];

/*
 * Per CPU, with bottom halves off: nothing is shared. The packet counters of
 * one kind and their bytes go together.
 */
#define rp_stats_add(percpu, index, n) do {			\
	__auto_type __s = this_cpu_ptr(percpu);			\
								\
	u64_stats_update_begin(&__s->syncp);			\
	u64_stats_add(&__s->value[index], n);			\
	u64_stats_update_end(&__s->syncp);			\
} while (0)

#define rp_stats_packet(percpu, packets, bytes, len) do {	\
	__auto_type __s = this_cpu_ptr(percpu);			\
								\
	u64_stats_update_begin(&__s->syncp);			\
	u64_stats_inc(&__s->value[packets]);			\
	u64_stats_add(&__s->value[bytes], len);			\
	u64_stats_update_end(&__s->syncp);			\
} while (0)

void rp_stats_read(const struct rp_stats __percpu *stats, u64 *value);
void rp_port_stats_read(const struct rp_port_stats __percpu *stats, u64 *value);

#endif /* ROCEPATH_STATS_H */
