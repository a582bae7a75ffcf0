/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_ENVELOPE_H
#define ROCEPATH_ENVELOPE_H

#include <linux/skbuff.h>

#include <rocepath/roce.h>

#include "core/paths.h"

struct rp_device;

/* Ethernet, one VLAN tag in the packet, IPv6 or IPv4 without options */
#define RP_ENVELOPE_MAX (14 + 4 + 40)

/**
 * struct rp_envelope - headers of a packet to a peer, up to UDP
 * @data: Ethernet to IP
 * @len: bytes of it, 0: none known yet
 * @l3: where the IP header begins
 * @sport: UDP source port, for where the EV is not in it
 * @vlan_proto: of a tag that is not in @data, 0: there is none
 * @vlan_tci: the same
 *
 * What rocepath itself has to say is sent in the envelope of the data that it
 * speaks for, so routes, neighbours and VLANs have been found by the stack already.
 */
struct rp_envelope {
	u8 data[RP_ENVELOPE_MAX];
	u8 len;
	u8 l3;
	u16 sport;
	__be16 vlan_proto;
	u16 vlan_tci;
};

/**
 * struct rp_letter - what to put into an envelope
 * @path: that it is to go
 * @bth: base transport header, see rp_letter_bth()
 * @body: behind it, NULL: to be written by rp_envelope_body()
 * @len: bytes of it, a multiple of 4
 * @hops: hop limit, 0: that of the data
 * @id: of IPv4, 0: none
 */
struct rp_letter {
	struct rp_path path;
	u8 bth[RP_BTH_LEN];
	const void *body;
	u16 len;
	u8 hops;
	u16 id;
};

void rp_letter_bth(struct rp_letter *letter, u8 opcode, u32 qpn, u32 psn);
bool rp_envelope_take(struct rp_envelope *e, const struct sk_buff *skb, u32 l3);
bool rp_envelope_reverse(struct rp_envelope *e, const struct sk_buff *skb, u32 l3,
			 const struct rp_roce *r);
struct sk_buff *rp_envelope_fill(const struct rp_envelope *e, struct rp_device *rp,
				 const struct rp_letter *letter);
void *rp_envelope_body(struct sk_buff *skb, const struct rp_letter *letter);
bool rp_envelope_close(struct sk_buff *skb);

#endif /* ROCEPATH_ENVELOPE_H */
