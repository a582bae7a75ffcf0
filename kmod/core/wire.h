/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control packets made and checked: header, MAC, replay. See rocepath/wire.h.
 */
#ifndef ROCEPATH_CORE_WIRE_H
#define ROCEPATH_CORE_WIRE_H

#include <rocepath/wire.h>

struct rp_key {
	u8 id;
	bool valid;
	u64 secret[2];		/* as siphash_key_t has it: two little-endian words */
};

/* keys of a device: two at once, so that a fleet can go from one to the next */
#define RP_KEYS_MAX 2

struct rp_keys {
	struct rp_key key[RP_KEYS_MAX];
	u8 active;		/* which of them hellos are made with */
};

/* addresses of a control packet, as the MAC covers them: 16 bytes each, IPv4 mapped */
struct rp_wire_addrs {
	u8 src[16];
	u8 dst[16];
};

/* how a control packet was found to be; the order is that of the counters */
enum rp_wire_verdict {
	RP_WIRE_OK,
	RP_WIRE_MALFORMED,
	RP_WIRE_VERSION_UNKNOWN,
	RP_WIRE_KEY_UNKNOWN,
	RP_WIRE_MAC_WRONG,
};

/* what a peer may say of its report interval; one gone bad must not make us wait or hurry */
#define RP_WIRE_INTERVAL_MIN_US 100u
#define RP_WIRE_INTERVAL_MAX_US 1000000u

/** rp_wire_interval_us() - a report interval as a peer says it, within what is reasonable. */
static inline u32 rp_wire_interval_us(u32 us)
{
	return clamp(us, RP_WIRE_INTERVAL_MIN_US, RP_WIRE_INTERVAL_MAX_US);
}

/** rp_keys_find() - the key of that id, NULL if there is none. */
const struct rp_key *rp_keys_find(const struct rp_keys *keys, u8 id);

/** rp_keys_slot() - where the key of that id is, or a new one would go; negative: they are full. */
int rp_keys_slot(const struct rp_keys *keys, u8 id);

/**
 * rp_wire_seal() - fill in header and MAC
 * @w: the packet from struct rp_wire on, body already behind it
 * @type: enum rp_wire_type
 * @body_len: bytes of body, a multiple of 4, at most RP_WIRE_BODY_MAX
 * @instance: of the device
 * @seq: next number
 * @key: to make the MAC with
 * @addrs: as they are in the IP header
 */
void rp_wire_seal(struct rp_wire *w, u8 type, u16 body_len, u64 instance, u64 seq,
		  const struct rp_key *key, const struct rp_wire_addrs *addrs);

/**
 * rp_wire_check() - is it ours and whole?
 * @w: what is behind the BTH
 * @len: bytes of it, without the ICRC: header and body, not one more
 * @keys: that may be used
 * @addrs: as they were in the IP header
 *
 * Constant time in the MAC. Replay is for the caller, who knows the peer.
 */
enum rp_wire_verdict rp_wire_check(const struct rp_wire *w, u32 len, const struct rp_keys *keys,
				   const struct rp_wire_addrs *addrs);

/**
 * rp_siphash() - SipHash-2-4, 64 bits
 * @data: what to hash
 * @len: bytes of it
 * @key: to hash it with
 *
 * The kernel's in the module; tests bring their own.
 */
u64 rp_siphash(const void *data, size_t len, const struct rp_key *key);

#endif /* ROCEPATH_CORE_WIRE_H */
