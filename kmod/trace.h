/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rocepath

#if !defined(ROCEPATH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ROCEPATH_TRACE_H

#include <linux/netdevice.h>
#include <linux/rocepath.h>
#include <linux/tracepoint.h>

#include "stats.h"

#define rp_path_state_symbol(state)			\
	__print_symbolic(state,				\
			 { ROCEPATH_PATH_UP, "up" },	\
			 { ROCEPATH_PATH_SUSPECT, "suspect" },	\
			 { ROCEPATH_PATH_DOWN, "down" },	\
			 { ROCEPATH_PATH_PROBATION, "probation" })

TRACE_EVENT(rocepath_pick,
	TP_PROTO(const struct net_device *dev, u32 qpn, u32 psn, u8 port, u8 ev),
	TP_ARGS(dev, qpn, psn, port, ev),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, port)
		__field(u8, ev)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->port = port;
		__entry->ev = ev;
	),
	TP_printk("ifindex=%d remote_qpn=0x%06x psn=0x%06x port=%u ev=%u",
		  __entry->ifindex, __entry->qpn, __entry->psn, __entry->port, __entry->ev)
);

TRACE_EVENT(rocepath_hold,
	TP_PROTO(const struct net_device *dev, u32 qpn, u32 psn, u32 expected, u32 held),
	TP_ARGS(dev, qpn, psn, expected, held),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, expected)
		__field(u32, held)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->expected = expected;
		__entry->held = held;
	),
	TP_printk("ifindex=%d local_qpn=0x%06x psn=0x%06x expected=0x%06x held=%u",
		  __entry->ifindex, __entry->qpn, __entry->psn, __entry->expected, __entry->held)
);

TRACE_EVENT(rocepath_release,
	TP_PROTO(const struct net_device *dev, u32 qpn, u32 psn, enum rp_count why),
	TP_ARGS(dev, qpn, psn, why),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, why)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->why = why;
	),
	TP_printk("ifindex=%d local_qpn=0x%06x psn=0x%06x why=%s",
		  __entry->ifindex, __entry->qpn, __entry->psn, __print_symbolic(__entry->why,
				   { RP_RX_RELEASED, "in_order" },
				   { RP_RX_EXPIRED, "gap_expired" },
				   { RP_RX_FLUSHED, "flushed" }))
);

TRACE_EVENT(rocepath_gap_expired,
	TP_PROTO(const struct net_device *dev, u32 qpn, u32 expected, u32 held),
	TP_ARGS(dev, qpn, expected, held),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, qpn)
		__field(u32, expected)
		__field(u32, held)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->qpn = qpn;
		__entry->expected = expected;
		__entry->held = held;
	),
	TP_printk("ifindex=%d local_qpn=0x%06x expected=0x%06x held=%u",
		  __entry->ifindex, __entry->qpn, __entry->expected, __entry->held)
);

TRACE_EVENT(rocepath_reroute,
	TP_PROTO(const struct net_device *dev, u8 from, u8 to),
	TP_ARGS(dev, from, to),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("ifindex=%d from_port=%u to_port=%u",
		  __entry->ifindex, __entry->from, __entry->to)
);

TRACE_EVENT(rocepath_path,
	TP_PROTO(const struct net_device *dev, const struct in6_addr *peer, u8 port, u8 ev,
		 u8 before, u8 state, u8 reason),
	TP_ARGS(dev, peer, port, ev, before, state, reason),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__array(u8, peer, 16)
		__field(u8, port)
		__field(u8, ev)
		__field(u8, before)
		__field(u8, state)
		__field(u8, reason)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		memcpy(__entry->peer, peer, 16);
		__entry->port = port;
		__entry->ev = ev;
		__entry->before = before;
		__entry->state = state;
		__entry->reason = reason;
	),
	TP_printk("ifindex=%d peer=%pI6c port=%u ev=%u state=%s was=%s reason=%u",
		  __entry->ifindex, __entry->peer, __entry->port, __entry->ev,
		  rp_path_state_symbol(__entry->state), rp_path_state_symbol(__entry->before),
		  __entry->reason)
);

TRACE_EVENT(rocepath_repair,
	TP_PROTO(const struct net_device *dev, u32 qpn, u32 psn, u8 from_port, u8 from_ev,
		 u8 to_port, u8 to_ev, u64 after_ns),
	TP_ARGS(dev, qpn, psn, from_port, from_ev, to_port, to_ev, after_ns),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, from_port)
		__field(u8, from_ev)
		__field(u8, to_port)
		__field(u8, to_ev)
		__field(u64, after_ns)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->from_port = from_port;
		__entry->from_ev = from_ev;
		__entry->to_port = to_port;
		__entry->to_ev = to_ev;
		__entry->after_ns = after_ns;
	),
	TP_printk("ifindex=%d remote_qpn=0x%06x psn=0x%06x lost_on=%u/%u sent_on=%u/%u after_us=%llu",
		  __entry->ifindex, __entry->qpn, __entry->psn, __entry->from_port,
		  __entry->from_ev, __entry->to_port, __entry->to_ev,
		  __entry->after_ns / 1000)
);

#endif /* ROCEPATH_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
