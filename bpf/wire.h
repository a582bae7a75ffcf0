/* SPDX-License-Identifier: GPL-2.0 */
/* What ingress and egress say to each other about a CNP that is to be made of a clone. */
#ifndef ROCEPATH_BPF_WIRE_H
#define ROCEPATH_BPF_WIRE_H

/* in skb->mark: only root can set it, and only on what has a socket, which the clone has not */
#define RP_CNP_MARK 0x52504350u
/*
 * Its EtherType (local experimental, IEEE 802) until egress has made a CNP of it. Were
 * egress not there, the clone would leave as a frame that nobody looks into.
 */
#define RP_CNP_ETHERTYPE 0x88b5

#endif /* ROCEPATH_BPF_WIRE_H */
