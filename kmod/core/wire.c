// SPDX-License-Identifier: GPL-2.0
/*
 * Control packets made and checked. See wire.h and rocepath/wire.h.
 */
#ifdef __KERNEL__
#include <linux/siphash.h>
#endif
#include "wire.h"

/* What the MAC covers, in one piece, as SipHash wants it. */
struct covered {
	struct rp_wire_addrs addrs;
	struct rp_wire header;
	u8 body[RP_WIRE_BODY_MAX];
} __aligned(8);

#ifdef __KERNEL__
u64 rp_siphash(const void *data, size_t len, const struct rp_key *key)
{
	siphash_key_t k = { { key->secret[0], key->secret[1] } };

	return siphash(data, len, &k);
}
#endif

const struct rp_key *rp_keys_find(const struct rp_keys *keys, u8 id)
{
	u32 i;

	for (i = 0; i < RP_KEYS_MAX; i++) {
		if (keys->key[i].valid && keys->key[i].id == id)
			return &keys->key[i];
	}
	return NULL;
}

int rp_keys_slot(const struct rp_keys *keys, u8 id)
{
	int i, free = -1;

	for (i = 0; i < RP_KEYS_MAX; i++) {
		if (!keys->key[i].valid)
			free = i;
		else if (keys->key[i].id == id)
			return i;
	}
	return free;
}

static __be64 mac_of(const struct rp_wire *w, u16 body_len, const struct rp_key *key,
		     const struct rp_wire_addrs *addrs)
{
	struct covered c;

	c.addrs = *addrs;
	c.header = *w;
	c.header.mac = 0;
	memcpy(c.body, w + 1, body_len);
	return cpu_to_be64(rp_siphash(&c, offsetof(struct covered, body) + body_len, key));
}

void rp_wire_seal(struct rp_wire *w, u8 type, u16 body_len, u64 instance, u64 seq,
		  const struct rp_key *key, const struct rp_wire_addrs *addrs)
{
	memset(w, 0, sizeof(*w));
	w->version = RP_WIRE_VERSION;
	w->type = type;
	w->key_id = key->id;
	w->body_len = cpu_to_be16(body_len);
	w->instance = cpu_to_be64(instance);
	w->seq = cpu_to_be64(seq);
	w->mac = mac_of(w, body_len, key, addrs);
}

enum rp_wire_verdict rp_wire_check(const struct rp_wire *w, u32 len, const struct rp_keys *keys,
				   const struct rp_wire_addrs *addrs)
{
	const struct rp_key *key;
	u16 body_len;

	if (len < sizeof(*w))
		return RP_WIRE_MALFORMED;
	if (w->version != RP_WIRE_VERSION)
		return RP_WIRE_VERSION_UNKNOWN;
	body_len = be16_to_cpu(w->body_len);
	if (body_len % 4 || body_len > RP_WIRE_BODY_MAX || len != sizeof(*w) + body_len)
		return RP_WIRE_MALFORMED;
	key = rp_keys_find(keys, w->key_id);
	if (!key)
		return RP_WIRE_KEY_UNKNOWN;
	/* 64 bits compared at once: no time to learn from */
	if (w->mac != mac_of(w, body_len, key, addrs))
		return RP_WIRE_MAC_WRONG;
	return RP_WIRE_OK;
}
