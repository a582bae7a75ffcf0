/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control packets: what rocepath says to rocepath.
 *
 * To the fabric they are data: IP addresses, VLAN, UDP source port (entropy
 * value) and destination port 4791 are those of the RoCE traffic that they
 * speak for, a BTH and a valid ICRC are in place. A host without rocepath sees
 * a manufacturer's opcode for a QPN that no one has and drops it in silence.
 *
 *   IP | UDP | BTH | struct rp_wire | body, by type | ICRC
 *
 *   BTH: opcode RP_OPCODE_CONTROL, P_Key 0xffff, destination QPN RP_WIRE_QPN, PSN 0
 *
 * All fields are big endian. The MAC is SipHash-2-4 (64 bits) under the key
 * named by key_id over: source address, destination address (16 bytes each,
 * IPv4 as ::ffff:a.b.c.d), then struct rp_wire with mac = 0, then the body. So
 * a packet cannot be reflected, nor used between other hosts. An (instance,
 * seq) counts once; an instance is taken only from a hello that answers a
 * challenge of ours, so an old recording moves nothing.
 */
#ifndef ROCEPATH_WIRE_H
#define ROCEPATH_WIRE_H

#include "types.h"

#define RP_WIRE_VERSION	1
#define RP_WIRE_QPN	0xfffffeu
#define RP_WIRE_KEY_LEN	16

/**
 * enum rp_wire_type - what the body is
 * @RP_WIRE_HELLO: struct rp_wire_hello
 * @RP_WIRE_REPORT: struct rp_wire_report
 * @RP_WIRE_PROBE: struct rp_wire_probe, to be answered
 * @RP_WIRE_PROBE_REPLY: struct rp_wire_probe as it came
 *
 * An unknown type of the right version and MAC is counted and dropped.
 */
enum rp_wire_type {
	RP_WIRE_HELLO = 1,
	RP_WIRE_REPORT = 16,
	RP_WIRE_PROBE = 32,
	RP_WIRE_PROBE_REPLY = 33,
};

/**
 * struct rp_wire - the header of each control packet
 * @version: RP_WIRE_VERSION
 * @type: enum rp_wire_type
 * @key_id: which key the MAC was made with
 * @reserved: 0 when sent, ignored when received (but covered by @mac)
 * @body_len: bytes of the body, a multiple of 4
 * @reserved2: as @reserved
 * @instance: drawn at random when the device was made; another one means a restart
 * @seq: greater than that of all packets before it of this instance to this peer
 * @mac: see above
 */
struct rp_wire {
	u8 version;
	u8 type;
	u8 key_id;
	u8 reserved;
	__be16 body_len;
	__be16 reserved2;
	__be64 instance;
	__be64 seq;
	__be64 mac;
} __packed;

/* struct rp_wire_hello.flags */
#define RP_HELLO_REORDERS	0x1	/* the sender restores order for what it receives */
#define RP_HELLO_REPLY_WANTED	0x2	/* answer at once */
#define RP_HELLO_REPORTS	0x4	/* the sender reports what arrives, and repairs */
#define RP_HELLO_LABELS		0x8	/* the sender's paths are flow labels, where it is IPv6 */

/**
 * struct rp_wire_hello - body of RP_WIRE_HELLO
 * @flags: RP_HELLO_*
 * @interval_ms: the sender's hello interval; after RP_WIRE_HELLO_MISSES of them without
 *	a hello it is gone
 * @challenge: to be sent back in @response of the next hello
 * @response: the challenge last heard from the receiver, or 0
 * @ports: the sender's ports are numbered below that
 * @report_interval_us: the sender's
 */
struct rp_wire_hello {
	__be32 flags;
	__be32 interval_ms;
	__be64 challenge;
	__be64 response;
	__be32 ports;
	__be32 report_interval_us;
} __packed;

/**
 * struct rp_wire_report - body of RP_WIRE_REPORT: what arrived from the one it is sent to
 * @to: the instance that it is about; another one has restarted, and is not meant
 * @interval_us: the sender's report interval
 * @paths: of struct rp_wire_report_path, that follow
 * @flows: of struct rp_wire_report_flow, each with its bits, that follow the paths
 *
 * Each report stands for itself: counters go on from report to report, and what
 * it says of a flow is true of the moment. So lost ones do no harm, and one that
 * was overtaken (by @seq) is dropped.
 */
struct rp_wire_report {
	__be64 to;
	__be32 interval_us;
	__be16 paths;
	__be16 flows;
} __packed;

/**
 * struct rp_wire_report_path - one path that packets came on since the last report
 * @path: number of the path, as its sender numbers them: port << 8 | EV
 * @late_10us: how late its packets come, smoothed: behind those that were sent after them
 * @received: RoCE packets received on it, of any kind; goes on and wraps
 * @marked: of these with CE; goes on and wraps
 */
struct rp_wire_report_path {
	__be16 path;
	__be16 late_10us;
	__be32 received;
	__be32 marked;
} __packed;

/**
 * struct rp_wire_report_flow - one PSN space that packets came in since the last report
 * @qpn: QPN that its packets are addressed to; in the top byte the PSN space (0: requests,
 *	1: responses)
 * @expected: PSN that the receiver wants next; in the top byte the number of words of
 *	bits that follow
 * @repaired: packets that came as repairs and not as what they repair, too; wraps
 *
 * Bits: __be32 words; bit i (the least first) of word i / 32: PSN @expected + 1 + i
 * is there already. PSNs behind the bits are not spoken of.
 */
struct rp_wire_report_flow {
	__be32 qpn;
	__be32 expected;
	__be32 repaired;
} __packed;

/* as many bits for a flow as there are PSNs in 300 us at 400 Gb/s and 4096 bytes, rounded up */
#define RP_REPORT_WORDS_MAX	128

/**
 * struct rp_wire_probe - body of RP_WIRE_PROBE and of the answer
 * @path: number of the path that it is sent on
 * @hops: hop limit that it was sent with, 0: the usual one
 * @reserved: 0
 * @cookie: the sender's, comes back as it is; not to be guessed
 */
struct rp_wire_probe {
	__be16 path;
	u8 hops;
	u8 reserved;
	__be64 cookie;
} __packed;

/* with all headers a control packet fits into IPv6's least MTU, 1280 bytes */
#define RP_WIRE_BODY_MAX	1152
#define RP_WIRE_HELLO_MISSES	3

#endif /* ROCEPATH_WIRE_H */
