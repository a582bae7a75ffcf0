/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The health of one path towards one peer: whether it carries data, and why.
 *
 *        overtaken, or unheard for @patience_ns, or a packet lost and nothing since
 *        UP  ---------------------------------------------------->  SUSPECT
 *        ^ ^------------- something sent on it arrived -----------/    |
 *        |                                                             | unheard for
 *   ramp |                                                             | 2 intervals more
 *        |   probes answered, RP_HEALTH_PROBES in a row                v
 *   PROBATION  <----------------------------------------------------  DOWN
 *        \--------- a probe was lost, or data was ------------------->/
 *
 * A path is also taken down for its loss rate while it still carries packets,
 * and for the carrier of its port. DOWN lasts for a hold-down, which doubles
 * each time that the path fails again soon after it came back. Then it is on
 * probation: probed, once an interval. Each probation that fails doubles the pause
 * to the next one, up to RP_HEALTH_RETRY_MS: what stays dead costs little. When it comes up it does not get its
 * whole share at once (ramp).
 *
 * Evidence, not silence, is what counts: a path that nothing was sent on is
 * not unheard, and how long it is unheard is known when something is heard of the
 * peer: a report that is lost, a peer that stands still or dies is no path's fault.
 * A path is overtaken when
 * what other paths of its port carried later is known to have arrived, and nothing
 * is heard of it: later by more than is usual for it (mean and 4 deviations, as in
 * TCP's timer), and by a quarter of an interval at least; or what other ports did,
 * by the difference between ports and an interval more. Who stands still for a
 * while, the peer or we, delays all paths, and none is overtaken. A path that is suspect carries no
 * more data; with a report each interval that makes 3 of them from its death at
 * most. Where no other path tells, it takes 1 1/2 intervals and more, or
 * @patience_ns where queues delay for longer.
 *
 * Pure: time is passed in, all calls for one path are serialised by the caller
 * but for rp_health_sent().
 */
#ifndef ROCEPATH_CORE_HEALTH_H
#define ROCEPATH_CORE_HEALTH_H

#include <rocepath/types.h>
#include <linux/rocepath.h>

#include "usual.h"

/* answered probes in a row that end a probation */
#define RP_HEALTH_PROBES 3
/* a path that is dead is tried that often, at least */
#define RP_HEALTH_RETRY_MS 2000u
/* so often what is usual for a path has to be seen before it is relied on */
#define RP_HEALTH_USUAL 8
/* the full share, for @ramp */
#define RP_HEALTH_RAMP_FULL 256

/**
 * struct rp_health_knobs - the same for all paths of a device
 * @interval_ns: of reports, and of probes of a doubtful path
 * @patience_ns: what is sent is heard of by then, queues and the wait for a report included
 * @spread_ns: what leaves by different ports may overtake each other by so much
 * @loss_ppm: a path that loses more is taken out, 0: never for loss
 * @holddown_ms: first hold-down
 * @holddown_max_ms: where damping ends
 * @phase: when the turns of idle paths to this peer are, see rp_budget_turn()
 */
struct rp_health_knobs {
	u64 interval_ns;
	u64 patience_ns;
	u64 spread_ns;
	u32 loss_ppm;
	u32 holddown_ms;
	u32 holddown_max_ms;
	u32 phase;
};

/**
 * struct rp_hearing - what is heard of the peer by all paths
 * @heard_ns: when something was last: a report, the answer to a probe
 * @newest_ns: what was sent by other paths at that time has arrived
 * @silent: nothing was for so long that it may be dead
 */
struct rp_hearing {
	u64 heard_ns;
	u64 newest_ns;
	bool silent;
};

/**
 * struct rp_health - of one path
 * @state: may it carry data? UP: yes. SUSPECT, PROBATION: probes only. DOWN: nothing
 * @reason: why it is in that state
 * @since_ns: since when
 * @until_ns: end of the hold-down, in DOWN; U64_MAX while its port has no carrier; in SUSPECT
 *	when it goes down
 * @unheard_ns: when the first packet was sent that nothing was heard of since; 0: there is none;
 *	in SUSPECT when that was sent which is missing
 * @overtaken_us: so much later was sent what is known to have arrived by other paths than what
 *	@unheard_ns tells of, as rp_health_poll() last saw it
 * @usual: what @overtaken_us is when the path is heard of
 * @usual_of: how often that was seen, up to RP_HEALTH_USUAL
 * @arrived_ns: sending time of the newest packet that is known to have arrived
 * @delivered: packets known delivered, decayed together with @lost
 * @lost: packets known lost
 * @fresh_delivered: of those that rp_health_poll() has not seen yet
 * @fresh_lost: of those that rp_health_poll() has not seen yet
 * @excess: losses above the accepted rate, in millionths of a packet, lately
 * @excess_lost: losses since @excess was last 0
 * @excess_packets: packets since then
 * @delivered_total: for people
 * @lost_total: for people
 * @marked_total: of the delivered ones with CE, for people
 * @rtt_us: smoothed, from probes, 0: not known
 * @rtt_ns: when that was last measured: a path that carries data is not probed
 * @late_us: how much later than the fastest path it delivers, as the receiver says
 * @late_ns: when it last said so
 * @probe_sent_ns: of the probe that is out, 0: none is
 * @probe_due_ns: when the next one may go out
 * @phase: when its turn is among the paths to its peer while it is idle
 * @turn_ns: when that is next, as was last found out
 * @answered: probes in a row that were, in PROBATION
 * @hold_ms: length of the last hold-down
 * @retry_ms: of the last one after a probation that failed, 0: none did since it was up
 * @fails: times it went down
 * @up_ns: when it last came up
 * @lossy: it was taken out for its loss rate and has not come up again
 * @ramp: of its share, of RP_HEALTH_RAMP_FULL
 * @ramped_ns: when @ramp was last raised
 */
struct rp_health {
	u8 state;		/* enum rocepath_path_state */
	u8 reason;		/* enum rocepath_path_reason */
	u8 answered;
	bool lossy;
	u8 usual_of;
	u16 ramp;
	u32 fails;
	u32 hold_ms;
	u32 retry_ms;
	u32 delivered;
	u32 lost;
	u32 fresh_delivered;
	u32 fresh_lost;
	u32 excess;
	u32 excess_lost;
	u32 excess_packets;
	u32 overtaken_us;
	struct rp_usual usual;
	u32 rtt_us;
	u32 late_us;
	u32 phase;
	u64 rtt_ns;
	u64 late_ns;
	u64 turn_ns;
	u64 since_ns;
	u64 until_ns;
	u64 up_ns;
	u64 unheard_ns;
	u64 arrived_ns;
	u64 probe_sent_ns;
	u64 probe_due_ns;
	u64 ramped_ns;
	u64 delivered_total;
	u64 lost_total;
	u64 marked_total;
};

/** rp_health_init() - a new path: up, or down if its port has no carrier. */
void rp_health_init(struct rp_health *h, bool carrier, u64 now_ns);

/**
 * rp_health_sent() - a packet leaves on it
 * @h: the path
 * @sent_ns: when; in the future for one that waits for its departure
 *
 * The one call that is not serialised: senders of all flows make it for each
 * packet. It writes once for each time that something is heard, and when one
 * leaves before those that wait.
 */
static inline void rp_health_sent(struct rp_health *h, u64 sent_ns)
{
	u64 unheard_ns = READ_ONCE(h->unheard_ns);

	if (unlikely(!unheard_ns || unheard_ns > sent_ns))
		WRITE_ONCE(h->unheard_ns, sent_ns);
}

/**
 * rp_health_arrived() - packets are known to have arrived
 * @h: the path
 * @packets: so many, 0: some; not counted for the loss rate
 * @sent_ns: when the newest of them was sent; not later than that of all that did, or it is no
 *	news of the path and only counts. One that was to depart later did not wait: it is here
 * @now_ns: the time
 *
 * Return: true if the state changed.
 */
bool rp_health_arrived(struct rp_health *h, u32 packets, u64 sent_ns, u64 now_ns);

/**
 * rp_health_lost() - packets are known to be lost
 * @h: the path
 * @packets: so many
 * @sent_ns: when the newest of them was sent
 * @knobs: of the device
 * @now_ns: the time
 *
 * One that was followed by others which arrived only counts for the loss rate;
 * one that nothing followed makes the path suspect.
 *
 * Return: true if the state changed.
 */
bool rp_health_lost(struct rp_health *h, u32 packets, u64 sent_ns,
		    const struct rp_health_knobs *knobs, u64 now_ns);

/** rp_health_loss_ppm() - the loss rate lately, in millionths: right to 0.1 % of all packets. */
u32 rp_health_loss_ppm(const struct rp_health *h);

/**
 * rp_health_excess_ppm() - does it lose too much?
 * @h: the path
 *
 * Sooner than rp_health_loss_ppm() would tell: at twice the accepted rate after
 * some 10 losses, whatever came before. To be asked after rp_health_poll().
 *
 * Return: the loss rate since it began to lose too much, 0: it does not.
 */
u32 rp_health_excess_ppm(const struct rp_health *h);

/**
 * rp_health_exceeds() - does it lose more than that rate, too, by more than chance?
 * @h: the path
 * @loss_ppm: the rate
 */
bool rp_health_exceeds(const struct rp_health *h, u32 loss_ppm);

/**
 * rp_health_take_out() - it loses too much: down, for RP_REASON_LOSS
 * @h: the path, UP
 * @knobs: of the device
 * @now_ns: the time
 *
 * Which paths to take out is decided over all of them, see rp_pathset_poll():
 * loss that all have in common is no path's fault.
 */
void rp_health_take_out(struct rp_health *h, const struct rp_health_knobs *knobs, u64 now_ns);

/**
 * rp_health_carrier() - its port lost or got its carrier
 * @h: the path
 * @carrier: it has one, and has served its own hold-down
 * @knobs: of the device
 * @now_ns: the time
 *
 * Return: true if the state changed.
 */
bool rp_health_carrier(struct rp_health *h, bool carrier, const struct rp_health_knobs *knobs,
		       u64 now_ns);

/**
 * rp_health_probe_due() - is it time for a probe?
 * @h: the path
 * @idle_ns: a path that is UP and not heard of is probed so often, 0: never. First after
 *	half to one and a half of that, for each has a turn of its own
 * @knobs: of the device
 * @now_ns: the time
 *
 * In SUSPECT at once and then once an interval, in PROBATION once an interval.
 */
bool rp_health_probe_due(struct rp_health *h, u64 idle_ns,
			 const struct rp_health_knobs *knobs, u64 now_ns);

/** rp_health_probed() - a probe was sent. */
void rp_health_probed(struct rp_health *h, const struct rp_health_knobs *knobs, u64 now_ns);

/**
 * rp_health_answered() - a probe was answered
 * @h: the path
 * @sent_ns: when that one was sent
 * @knobs: of the device
 * @now_ns: the time
 *
 * Return: true if the state changed.
 */
bool rp_health_answered(struct rp_health *h, u64 sent_ns, const struct rp_health_knobs *knobs,
			u64 now_ns);

/**
 * rp_health_poll() - time passed
 * @h: the path
 * @of_peer: what is heard of the peer
 * @knobs: of the device
 * @now_ns: the time
 *
 * Return: true if the state changed.
 */
bool rp_health_poll(struct rp_health *h, const struct rp_hearing *of_peer,
		    const struct rp_health_knobs *knobs, u64 now_ns);

#endif /* ROCEPATH_CORE_HEALTH_H */
