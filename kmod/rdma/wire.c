// SPDX-License-Identifier: GPL-2.0
/*
 * What is said between hosts, sealed and checked: the keys, which are those of
 * the host, and the instance, drawn when the module is loaded.
 */
#include "wire.h"

#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/rocepath_rdma.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "probe.h"

static DEFINE_MUTEX(key_mutex);
static struct rp_rdma_keyring __rcu *keyring;
static u64 instance;

/** rp_rdma_wire_keyed() - is there a key? Without one nothing is said. */
bool rp_rdma_wire_keyed(void)
{
	return rcu_access_pointer(keyring);
}

/** rp_rdma_wire_instance() - ours. */
u64 rp_rdma_wire_instance(void)
{
	return instance;
}

/**
 * rp_rdma_wire_len() - bytes of a message
 * @type: enum rp_rdma_wire_type
 *
 * Return: header and body, 0: there is no such type.
 */
u32 rp_rdma_wire_len(u8 type)
{
	switch (type) {
	case RP_RDMA_WIRE_HELLO:
		return sizeof(struct rp_wire) + sizeof(struct rp_rdma_wire_hello);
	case RP_RDMA_WIRE_PROBE:
		return sizeof(struct rp_wire) + sizeof(struct rp_rdma_wire_probe);
	case RP_RDMA_WIRE_ANSWER:
		return sizeof(struct rp_wire) + sizeof(struct rp_rdma_wire_answer);
	default:
		return 0;
	}
}

static void wire_addrs(struct rp_wire_addrs *addrs, const struct in6_addr *src,
		       const struct in6_addr *dst)
{
	memcpy(addrs->src, src, sizeof(addrs->src));
	memcpy(addrs->dst, dst, sizeof(addrs->dst));
}

/**
 * rp_rdma_wire_seal() - make a message ready to be sent
 * @m: its body is there
 * @type: enum rp_rdma_wire_type
 * @seq: its number
 * @local: address that it is sent from
 * @remote: to that
 *
 * Context: any.
 * Return: false if there is no key.
 */
bool rp_rdma_wire_seal(struct rp_rdma_message *m, u8 type, u64 seq, const struct in6_addr *local,
		       const struct in6_addr *remote)
{
	const struct rp_rdma_keyring *ring;
	struct rp_wire_addrs addrs;

	wire_addrs(&addrs, local, remote);
	rcu_read_lock();
	ring = rcu_dereference(keyring);
	if (ring)
		rp_wire_seal(&m->wire, type, rp_rdma_wire_len(type) - sizeof(m->wire), instance,
			     seq, &ring->keys.key[ring->keys.active], &addrs);
	rcu_read_unlock();
	return ring;
}

/**
 * rp_rdma_wire_check() - is it a message of ours, and whole?
 * @m: what came
 * @len: bytes of it
 * @local: address that it came to
 * @remote: from that
 *
 * The body is that of its type, where the type is known.
 *
 * Context: any.
 */
enum rp_wire_verdict rp_rdma_wire_check(const struct rp_rdma_message *m, u32 len,
					const struct in6_addr *local,
					const struct in6_addr *remote)
{
	static const struct rp_keys no_keys;
	const struct rp_rdma_keyring *ring;
	enum rp_wire_verdict verdict;
	struct rp_wire_addrs addrs;
	u32 want;

	wire_addrs(&addrs, remote, local);
	rcu_read_lock();
	ring = rcu_dereference(keyring);
	verdict = rp_wire_check(&m->wire, len, ring ? &ring->keys : &no_keys, &addrs);
	rcu_read_unlock();
	if (verdict != RP_WIRE_OK)
		return verdict;
	/* longer is of a later version, that knows more to say */
	want = rp_rdma_wire_len(m->wire.type);
	return want && len < want ? RP_WIRE_MALFORMED : RP_WIRE_OK;
}

/* --- keys --- */

static void key_free_rcu(struct rcu_head *head)
{
	kfree_sensitive(container_of(head, struct rp_rdma_keyring, rcu));
}

/* publish @ring, NULL for none, and let hellos made with it go out at once */
static void key_replace(struct rp_rdma_keyring *ring)
{
	struct rp_rdma_keyring *old = rcu_replace_pointer(keyring, ring,
							  lockdep_is_held(&key_mutex));

	if (old)
		call_rcu(&old->rcu, key_free_rcu);
	rp_rdma_probe_rekeyed(!!ring);
}

static struct rp_rdma_keyring *key_copy(void)
{
	struct rp_rdma_keyring *ring = kzalloc(sizeof(*ring), GFP_KERNEL), *old;

	old = rcu_dereference_protected(keyring, lockdep_is_held(&key_mutex));
	if (ring && old)
		ring->keys = old->keys;
	return ring;
}

/* Return: 0, or why it cannot be */
static int key_change(struct rp_keys *keys, u8 id, const u8 *secret, const bool *active,
		      struct netlink_ext_ack *extack)
{
	bool first = !rcu_access_pointer(keyring);
	int slot = rp_keys_slot(keys, id);
	struct rp_key *key;

	if (slot < 0) {
		NL_SET_ERR_MSG(extack, "There are two keys already: delete the older one first");
		return -EINVAL;
	}
	key = &keys->key[slot];
	if (!secret && !key->valid) {
		NL_SET_ERR_MSG(extack, "A new key needs a secret of 16 bytes");
		return -EINVAL;
	}
	key->id = id;
	key->valid = true;
	if (secret) {
		key->secret[0] = get_unaligned_le64(secret);
		key->secret[1] = get_unaligned_le64(secret + 8);
	}
	/* the first one must be active; after that the newest is, unless told otherwise */
	if (first || (active ? *active : !!secret))
		keys->active = slot;
	return 0;
}

/**
 * rp_rdma_key_set() - a key more, or another secret for one
 * @id: its name
 * @secret: ROCEPATH_RDMA_KEY_LEN bytes, NULL: as it is
 * @active: whether it is the one to send with, NULL: if it has a new secret
 * @extack: why not
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rp_rdma_key_set(u8 id, const u8 *secret, const bool *active, struct netlink_ext_ack *extack)
{
	struct rp_rdma_keyring *ring;
	int err;

	mutex_lock(&key_mutex);
	ring = key_copy();
	err = ring ? key_change(&ring->keys, id, secret, active, extack) : -ENOMEM;
	if (err)
		kfree_sensitive(ring);
	else
		key_replace(ring);
	mutex_unlock(&key_mutex);
	return err;
}

/**
 * rp_rdma_key_del() - a key less
 * @id: its name
 * @extack: why not
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int rp_rdma_key_del(u8 id, struct netlink_ext_ack *extack)
{
	struct rp_rdma_keyring *ring;
	int slot, other, err = 0;

	mutex_lock(&key_mutex);
	ring = key_copy();
	if (!ring) {
		err = -ENOMEM;
		goto out;
	}
	slot = rp_keys_slot(&ring->keys, id);
	if (slot < 0 || !ring->keys.key[slot].valid) {
		NL_SET_ERR_MSG(extack, "There is no key with this id");
		kfree_sensitive(ring);
		err = -ENOENT;
		goto out;
	}
	memset(&ring->keys.key[slot], 0, sizeof(ring->keys.key[slot]));
	other = RP_KEYS_MAX - 1 - slot;
	if (ring->keys.key[other].valid) {
		ring->keys.active = other;
	} else {
		kfree_sensitive(ring);
		ring = NULL;
	}
	key_replace(ring);
out:
	mutex_unlock(&key_mutex);
	return err;
}

/** rp_rdma_key_flush() - no key any more. Context: process. */
void rp_rdma_key_flush(void)
{
	mutex_lock(&key_mutex);
	key_replace(NULL);
	mutex_unlock(&key_mutex);
}

/**
 * rp_rdma_key_at() - one of the keys, for who shows them
 * @index: below RP_KEYS_MAX
 * @id: its name
 * @active: is it the one to send with?
 *
 * Context: any.
 * Return: false if there is none.
 */
bool rp_rdma_key_at(u32 index, u8 *id, bool *active)
{
	const struct rp_rdma_keyring *ring;
	bool valid = false;

	rcu_read_lock();
	ring = rcu_dereference(keyring);
	if (ring && index < RP_KEYS_MAX) {
		valid = ring->keys.key[index].valid;
		*id = ring->keys.key[index].id;
		*active = ring->keys.active == index;
	}
	rcu_read_unlock();
	return valid;
}

/** rp_rdma_wire_init() - draw our instance. */
void rp_rdma_wire_init(void)
{
	instance = get_random_u64() | 1;
}

/** rp_rdma_wire_exit() - nobody sends any more: the keys go. */
void rp_rdma_wire_exit(void)
{
	kfree_sensitive(rcu_dereference_protected(keyring, true));
	RCU_INIT_POINTER(keyring, NULL);
	/* of those before */
	rcu_barrier();
}
