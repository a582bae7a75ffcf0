/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What rocepath_rdma says to rocepath_rdma, over QPs that both made for that.
 *
 * Messages are struct rp_wire and a body, as those of wire.h, with types of
 * their own; header, MAC, numbers and the challenges of hellos are the same.
 * They are the payload of UD or UC SENDs, so BTH and ICRC are the NIC's. The MAC
 * covers the addresses of the RoCE packet.
 *
 * A host listens for rdma_cm's service ID resolution (RDMA_PS_UDP) on port
 * RP_RDMA_CM_PORT, and answers with QPN and Q_Key of its UD QP. That is not
 * authenticated, and says no more than where to send hellos to.
 */
#ifndef ROCEPATH_RDMA_WIRE_H
#define ROCEPATH_RDMA_WIRE_H

#include "wire.h"

/* of rdma_cm's own port space, no UDP port: that of RoCEv2 there, which nobody else will want */
#define RP_RDMA_CM_PORT 4791

/**
 * enum rp_rdma_wire_type - continues enum rp_wire_type
 * @RP_RDMA_WIRE_HELLO: struct rp_rdma_wire_hello
 * @RP_RDMA_WIRE_PROBE: struct rp_rdma_wire_probe, to be answered
 * @RP_RDMA_WIRE_ANSWER: struct rp_rdma_wire_answer
 */
enum rp_rdma_wire_type {
	RP_RDMA_WIRE_HELLO = 64,
	RP_RDMA_WIRE_PROBE = 65,
	RP_RDMA_WIRE_ANSWER = 66,
};

/* struct rp_rdma_wire_hello.flags */
#define RP_RDMA_HELLO_SINK_WANTED 0x1	/* the sender needs a UC QP to send to */

/**
 * struct rp_rdma_wire_hello - body of RP_RDMA_WIRE_HELLO
 * @hello: as between devices; RP_HELLO_REORDERS: the sender answers probes
 * @sink: QPN of the sender's UC QP that is connected to the receiver, 0: there is none
 * @flags: RP_RDMA_HELLO_*
 */
struct rp_rdma_wire_hello {
	struct rp_wire_hello hello;
	__be32 sink;
	__be32 flags;
} __packed;

/**
 * struct rp_rdma_wire_probe - body of RP_RDMA_WIRE_PROBE
 * @number: one more than that of the last probe to this peer
 * @ev: that it is sent with, for who looks at it on its way
 * @reserved: 0
 */
struct rp_rdma_wire_probe {
	__be32 number;
	__be16 ev;
	__be16 reserved;
} __packed;

/**
 * struct rp_rdma_wire_answer - body of RP_RDMA_WIRE_ANSWER: what arrived from the one it is sent to
 * @to: the instance that it is about; another one has restarted, and is not meant
 * @number: of the probe that it answers
 * @newest: greatest number received
 * @before: bit i: @newest - 1 - i was received
 */
struct rp_rdma_wire_answer {
	__be64 to;
	__be32 number;
	__be32 newest;
	__be64 before;
} __packed;

/* of the longest message; with all headers it fits into the least MTU of RoCE, 256 bytes */
#define RP_RDMA_WIRE_MAX (sizeof(struct rp_wire) + sizeof(struct rp_rdma_wire_hello))

#endif /* ROCEPATH_RDMA_WIRE_H */
