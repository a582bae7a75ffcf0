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
 *
 * Types from 16 on are for reports, from 32 on for probes. An unknown type of
 * the right version and MAC is counted and dropped.
 */
enum rp_wire_type {
	RP_WIRE_HELLO = 1,
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

/**
 * struct rp_wire_hello - body of RP_WIRE_HELLO
 * @flags: RP_HELLO_*
 * @interval_ms: the sender's hello interval; after RP_WIRE_HELLO_MISSES of them without
 *	a hello it is gone
 * @challenge: to be sent back in @response of the next hello
 * @response: the challenge last heard from the receiver, or 0
 */
struct rp_wire_hello {
	__be32 flags;
	__be32 interval_ms;
	__be64 challenge;
	__be64 response;
} __packed;

#define RP_WIRE_BODY_MAX	768
#define RP_WIRE_HELLO_MISSES	3

#endif /* ROCEPATH_WIRE_H */
