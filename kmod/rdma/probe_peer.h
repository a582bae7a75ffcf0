/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCEPATH_RDMA_PROBE_PEER_H
#define ROCEPATH_RDMA_PROBE_PEER_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/jhash.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rocepath_rdma.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../core/hello.h"
#include "../core/probes.h"
#include "cm.h"
#include "probe_verbs.h"

struct rp_rdma_device;
struct rp_rdma_path_change;

/* of a device; of one pair of addresses */
#define RP_PROBE_PEERS_MAX 4096
#define RP_PROBE_PATHS_MAX 8192
#define RP_PROBE_EVS_MAX 256
#define RP_PROBE_PEER_BUCKETS 256
#define RP_PROBE_PATH_BUCKETS 1024
/* hellos of hosts that we do not know yet, until the work looks at them */
#define RP_PROBE_STRANGERS 16

/**
 * struct rp_rdma_pair - two addresses, IPv4 mapped
 * @local: ours
 * @remote: the peer's
 */
struct rp_rdma_pair {
	struct in6_addr local;
	struct in6_addr remote;
};

/**
 * struct rp_rdma_path - one EV between two addresses
 * @node: in the table of the device
 * @on_peer: in the list of its peer, or of those that have none yet
 * @pair: the addresses
 * @peer: found or made by the work, NULL: not yet, or there is no room for it
 * @lane: to send by
 * @probes: of it, in those of @peer while @probed
 * @probed: it has a lane, and the peer answers
 * @witness: it is probed though no QP wants it
 * @traffic_class: of the data
 * @told: enum rocepath_rdma_path_state as it was last told
 * @users: QPs that want it
 * @unused_ns: since when there are none
 */
struct rp_rdma_path {
	struct hlist_node node;
	struct list_head on_peer;
	struct rp_rdma_pair pair;
	struct rp_rdma_peer *peer;
	struct rp_rdma_lane *lane;
	struct rp_probes_path probes;
	bool probed;
	bool witness;
	u8 traffic_class;
	u8 told;
	u32 users;
	u64 unused_ns;
};

/**
 * struct rp_rdma_peer - a pair of addresses that is probed
 * @node: in the table of the device, RCU
 * @list: in the list of the device, RCU
 * @rcu: to free it
 * @probe: of the device
 * @pair: the addresses
 * @gone: it is being taken out
 * @base: to send by without a label, NULL: not resolved
 * @paths: its EVs
 * @n_paths: how many
 * @qpn: of the peer's UD QP
 * @qkey: of it
 * @their_sink: the peer's UC QP for us
 * @sink_wanted: the peer wants one of us
 * @hello: what we know of each other
 * @hello_ns: when the next one is due
 * @turns: of hellos, over lanes
 * @probes: what probes tell
 * @seen: the peer's probes
 * @seen_of: its instance then
 * @news: in the list of those that have some
 * @sink: for the peer to send to by UC
 * @cm: resolution; of the work only, as all below
 * @attr: address vector, when there is @base
 * @since_ns: it was made, or resolved
 * @retry_ns: when to resolve again
 * @backoff_ms: after that
 * @reason: why it is as it is, for people
 */
struct rp_rdma_peer {
	struct hlist_node node;
	struct list_head list;
	struct rcu_head rcu;
	struct rp_rdma_probe *probe;
	struct rp_rdma_pair pair;

	bool gone;
	struct rp_rdma_lane *base;
	struct list_head paths;
	u32 n_paths;
	u32 qpn;
	u32 qkey;
	u32 their_sink;
	bool sink_wanted;
	struct rp_hello hello;
	u64 hello_ns;
	u32 turns;
	struct rp_probes probes;
	struct rp_probes_seen seen;
	u64 seen_of;
	struct list_head news;
	struct rp_rdma_sink *sink;

	struct rp_rdma_cm cm;
	struct rdma_ah_attr attr;
	u64 since_ns;
	u64 retry_ns;
	u32 backoff_ms;
	const char *reason;
};

/**
 * struct rp_rdma_probe - the probes of a device
 * @rdev: the port of the RDMA device
 * @list: of all
 * @verbs: the endpoint
 * @qpn: of its UD QP, 0: there is no endpoint
 * @retry_ns: when to make one again
 * @lock: for all up to @news; taken with interrupts off, for the hook asks
 * @path_table: by pair and EV
 * @peer_table: by pair; readers under RCU
 * @peers: the same, as a list; readers under RCU
 * @fresh: paths without a peer
 * @n_peers: in @peers
 * @n_paths: in @path_table
 * @n_probed: of these
 * @budget_ns: a probe may be sent from then on
 * @strangers: pairs that hellos came for
 * @n_strangers: how many
 * @news: peers whose paths have changed
 * @mutex: for what may sleep: the work, and the end
 * @work: makes and ends what the paths need
 * @news_work: tells of changes
 * @tick: when probes are sent
 * @stopping: no tick, no work any more
 */
struct rp_rdma_probe {
	struct rp_rdma_device *rdev;
	struct list_head list;
	struct rp_rdma_verbs verbs;
	u32 qpn;
	u64 retry_ns;

	spinlock_t lock;
	struct hlist_head path_table[RP_PROBE_PATH_BUCKETS];
	struct hlist_head peer_table[RP_PROBE_PEER_BUCKETS];
	struct list_head peers;
	struct list_head fresh;
	u32 n_peers;
	u32 n_paths;
	u32 n_probed;
	u64 budget_ns;
	struct rp_rdma_pair strangers[RP_PROBE_STRANGERS];
	u32 n_strangers;
	struct list_head news;

	struct mutex mutex;
	struct delayed_work work;
	struct work_struct news_work;
	struct hrtimer tick;
	bool stopping;
};

/**
 * struct rp_rdma_letter - a message that is about to be sent
 * @lane: held
 * @slot: with the body in it
 * @seq: its number
 * @qpn: where to
 * @qkey: of that
 * @type: enum rp_rdma_wire_type
 */
struct rp_rdma_letter {
	struct rp_rdma_lane *lane;
	struct rp_rdma_slot *slot;
	u64 seq;
	u32 qpn;
	u32 qkey;
	u8 type;
};

/* the body of a letter, to be filled in */
static inline struct rp_rdma_message *rp_rdma_letter_message(const struct rp_rdma_letter *letter)
{
	return (struct rp_rdma_message *)letter->slot->data;
}

static inline u32 rp_rdma_pair_hash(const struct rp_rdma_pair *pair, u32 initval)
{
	return jhash2((const u32 *)pair, sizeof(*pair) / sizeof(u32), initval);
}

static inline bool rp_rdma_pair_equal(const struct rp_rdma_pair *a, const struct rp_rdma_pair *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* probe_path.c: table and life of paths */
struct rp_rdma_path *rp_rdma_path_find(struct rp_rdma_probe *probe,
				       const struct rp_rdma_pair *pair, u16 ev);
struct rp_rdma_path *rp_rdma_path_new(struct rp_rdma_probe *probe, const struct rp_rdma_pair *pair,
				      u16 ev);
u8 rp_rdma_path_state(const struct rp_rdma_path *path);
void rp_rdma_path_unprobe(struct rp_rdma_path *path);
struct rp_rdma_lane *rp_rdma_path_take_lane(struct rp_rdma_path *path);
void rp_rdma_path_work(struct rp_rdma_path *path);
bool rp_rdma_path_is_idle(const struct rp_rdma_path *path, u64 now);
struct rp_rdma_lane *rp_rdma_path_unlink(struct rp_rdma_probe *probe, struct rp_rdma_path *path);

/* probe_peer.c: table and life of peers */
struct rp_rdma_peer *rp_rdma_peer_find(struct rp_rdma_probe *probe,
				       const struct rp_rdma_pair *pair);
void rp_rdma_peers_work(struct rp_rdma_probe *probe, u64 now);
void rp_rdma_peers_unresolve(struct rp_rdma_probe *probe);
void rp_rdma_peers_free(struct rp_rdma_probe *probe);

/* probe_talk.c: what is sent and received */
bool rp_rdma_letter_begin(struct rp_rdma_peer *peer, struct rp_rdma_lane *lane, u8 type,
			  struct rp_rdma_letter *letter);
void rp_rdma_letter_send(const struct rp_rdma_peer *peer, const struct rp_rdma_letter *letter);
void rp_rdma_hello(struct rp_rdma_peer *peer, u64 now);
void rp_rdma_message_rx(void *arg, const struct rp_rdma_message *m, u32 len,
			const struct in6_addr *local, const struct in6_addr *remote);
struct rp_probes_knobs rp_rdma_probe_knobs(const struct rp_rdma_probe *probe);

/* probe.c: of the device */
void rp_rdma_probe_news(void *arg, struct rp_probes_path *path, u8 before);
void rp_rdma_probe_wake(struct rp_rdma_probe *probe);
void rp_rdma_peer_tell(struct rp_rdma_peer *peer);

#endif /* ROCEPATH_RDMA_PROBE_PEER_H */
