/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rocepath

#if !defined(ROCEPATH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ROCEPATH_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>

#include "stats.h"

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

#endif /* ROCEPATH_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
