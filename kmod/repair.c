// SPDX-License-Identifier: GPL-2.0
/*
 * Repair: the plumbing around core/repair.c.
 *
 * A sprayed packet leaves a clone here, which costs no copy of its data. What
 * the QP's acknowledges and the peer's reports say has arrived is let go; what
 * is lost is copied, marked as a repair, and sent by another path. Copies are
 * made under the queue's lock and sent without it.
 */
#include "repair.h"

#include <linux/slab.h>

#include "device.h"
#include "netlink.h"
#include "parse.h"
#include "path.h"
#include "peer.h"
#include "port.h"
#include "qp.h"
#include "trace.h"
#include "tx.h"

/* twice, an interval apart, for the repetition may be lost as well */
#define RP_ACK_TIMES 2

static struct rp_sent *repair_entry(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct rp_sent) > sizeof_field(struct sk_buff, cb));
	return (struct rp_sent *)skb->cb;
}

static struct sk_buff *repair_skb(struct rp_sent *s)
{
	return container_of((void *)s, struct sk_buff, cb);
}

static void repair_free(struct rp_device *rp, struct rp_sent *list)
{
	struct rp_sent *next;
	s64 bytes = 0;

	for (; list; list = next) {
		next = list->next;
		bytes += list->bytes;
		consume_skb(repair_skb(list));
	}
	if (bytes)
		percpu_counter_add_batch(&rp->kept_bytes, -bytes, READ_ONCE(rp->kept_batch));
}

struct repair_renumbering {
	const struct rp_path *was;
	const struct rp_pathset *set;
};

static u16 repair_index_now(const void *arg, u16 index)
{
	const struct repair_renumbering *r = arg;

	return rp_pathset_find(r->set, r->was[index]);
}

/*
 * The queue's indexes are those of @paths from here on, however many others there were since.
 *
 * Return: false if they cannot be: @paths are not to be used with the queue. Without memory all
 * stays as it is until the next time.
 */
static bool repair_sync(struct rp_queue *q, const struct rp_peer_paths *paths)
{
	const struct rp_pathset *set = paths->set;
	const struct repair_renumbering renumbering = { .was = q->is, .set = set };
	struct rp_repair_path *path;
	struct rp_path *is;
	u32 i;

	lockdep_assert_held(&q->lock);
	if (likely(q->generation == paths->generation))
		return true;
	/* another CPU is ahead of us, with paths that were made since we looked */
	if ((s32)(q->generation - paths->generation) > 0)
		return false;
	path = kzalloc(set->n * (sizeof(*path) + sizeof(*is)), GFP_ATOMIC | __GFP_NOWARN);
	if (!path)
		return false;
	is = (struct rp_path *)(path + set->n);
	for (i = 0; i < set->n; i++)
		is[i] = set->entry[i].path;
	rp_repair_renumber(&q->repair, repair_index_now, &renumbering, q->path, q->n, path);
	kfree(q->path);
	q->path = path;
	q->is = is;
	q->n = set->n;
	q->generation = paths->generation;
	return true;
}

/*
 * The index that a packet's path has in the queue, RP_REPAIR_NO_PATH for one that is no more.
 *
 * Return: false if there is no memory to bring the queue up to date.
 */
static bool repair_index(struct rp_queue *q, const struct rp_peer *peer,
			 const struct rp_peer_paths *paths, u16 *index)
{
	struct rp_path path = paths->set->entry[*index].path;

	lockdep_assert_held(&q->lock);
	if (likely(q->generation == paths->generation))
		return true;
	/* at least as new as what any CPU had that was here before us */
	paths = rcu_dereference(peer->paths);
	if (!repair_sync(q, paths))
		return false;
	*index = rp_pathset_find(paths->set, path);
	return true;
}

/* what became of packets goes to the paths' health */
static void repair_tell_paths(struct rp_queue *q, struct rp_device *rp, struct rp_peer *peer,
			      struct rp_peer_paths *paths, u64 now)
{
	struct rp_health_knobs knobs = rp_path_knobs(rp, peer);
	u64 oldest = now, newest = 0;
	u32 i;

	lockdep_assert_held(&q->lock);
	spin_lock(&peer->lock);
	for (i = 0; i < q->n; i++) {
		struct rp_repair_path *p = &q->path[i];
		struct rp_pathset_entry *e = &paths->set->entry[i];
		u8 before = e->health.state;

		if (p->delivered) {
			oldest = min(oldest, p->delivered_sent_ns);
			newest = max(newest, p->arrived_ns);
		}
		if (rp_pathset_account(paths->set, i, p, &knobs, now))
			rp_path_changed(rp, peer, e, before, now);
	}
	spin_unlock(&peer->lock);
	if (oldest != now)
		rp_peer_arrived(peer, newest, oldest, now);
}

/*
 * Make copies of what is lost, @most of them, each to go by another path than it did. They
 * say nothing of that path: what came after all is dropped by the receiver, and not reported of.
 */
static void repair_collect(struct rp_queue *q, struct rp_qp *qp, struct rp_device *rp,
			   const struct rp_pathset *set, u64 now, u32 most,
			   struct sk_buff_head *out)
{
	struct rp_sent *s;

	lockdep_assert_held(&q->lock);
	for (; most && (s = rp_repair_next(&q->repair)); most--) {
		u16 index = rp_pathset_other(set, s->path, q->turn++);
		struct rp_path was = {};
		struct sk_buff *copy;

		if (index == RP_PATHSET_NONE)
			return;
		copy = skb_copy(repair_skb(s), GFP_ATOMIC | __GFP_NOWARN);
		if (!copy)
			return;
		if (s->path != RP_REPAIR_NO_PATH)
			was = set->entry[s->path].path;
		trace_rocepath_repair(rp->dev, qp->remote_qpn, s->psn, was.port, was.ev,
				      set->entry[index].path.port, set->entry[index].path.ev,
				      now - min(s->sent_ns, now));
		memset(copy->cb, 0, sizeof(copy->cb));
		*(struct rp_path *)copy->cb = set->entry[index].path;
		__skb_queue_tail(out, copy);
		rp_repair_resent(&q->repair, s, index, now);
	}
}

static void repair_send(struct rp_device *rp, struct sk_buff_head *out)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(out))) {
		struct rp_path path = *(struct rp_path *)skb->cb;

		memset(skb->cb, 0, sizeof(skb->cb));
		rp_tx_repair(rp, skb, path);
	}
}

/**
 * rp_queue_init() - of a new QP
 * @q: zeroed
 *
 * Context: any.
 */
void rp_queue_init(struct rp_queue *q)
{
	spin_lock_init(&q->lock);
}

/**
 * rp_queue_close() - the QP is gone
 * @q: that no packet can find any more
 * @rp: the device that it was bound to
 *
 * Context: process; after a grace period since the QP was taken out of the table.
 */
void rp_queue_close(struct rp_queue *q, struct rp_device *rp)
{
	spin_lock_bh(&q->lock);
	q->dead = true;
	repair_free(rp, rp_repair_clear(&q->repair));
	spin_unlock_bh(&q->lock);
	kfree(q->path);
	q->path = NULL;
}

/**
 * rp_queue_snapshot() - the queue as it is, for people
 * @q: the queue
 * @repair: its pointers must not be followed
 *
 * Context: any but hard irq.
 */
void rp_queue_snapshot(struct rp_queue *q, struct rp_repair *repair)
{
	spin_lock_bh(&q->lock);
	*repair = q->repair;
	spin_unlock_bh(&q->lock);
}

/* it leaves without being kept, but what is said of it is an answer all the same */
static void repair_note_sent(struct rp_queue *q, u32 next)
{
	spin_lock(&q->lock);
	rp_answers_sent(&q->answers, next);
	spin_unlock(&q->lock);
}

/* PSN behind the last one that a packet uses up */
static u32 repair_next_psn(const struct rp_qp *qp, u32 space, const struct rp_roce *r)
{
	u32 span = space == RP_REQUESTS ? rp_roce_span(r, qp->path_mtu) : 1;

	return rp_psn_add(r->psn, (s32)span);
}

/**
 * rp_repair_pass() - a packet leaves that is not kept: by no path of the peer's, or one that is
 * not reported of
 * @qp: the QP
 * @space: of its PSNs
 * @r: parsed
 *
 * Costs nothing until the first one is kept.
 *
 * Context: bottom halves off.
 */
void rp_repair_pass(struct rp_qp *qp, u32 space, const struct rp_roce *r)
{
	struct rp_queue *q = &qp->queue[space];

	if (READ_ONCE(q->answers.sent))
		repair_note_sent(q, repair_next_psn(qp, space, r));
}

/**
 * rp_repair_keep() - a packet is about to leave by a path: keep it
 * @qp: whose it is
 * @space: its PSN space
 * @peer: of it
 * @paths: of the peer
 * @skb: the packet, as it will be on the wire
 * @r: parsed
 * @index: of the path
 * @sent_ns: when
 *
 * Context: bottom halves off, RCU.
 */
void rp_repair_keep(struct rp_qp *qp, u32 space, const struct rp_peer *peer,
		    const struct rp_peer_paths *paths, const struct sk_buff *skb,
		    const struct rp_roce *r, u16 index, u64 sent_ns)
{
	struct rp_device *rp = rcu_dereference(qp->rp);
	struct rp_queue *q = &qp->queue[space];
	struct rp_repair_caps caps = rp->repair_caps;
	u32 next = repair_next_psn(qp, space, r);
	struct rp_sent *s, *gone;
	struct sk_buff *kept;

	if (unlikely(!caps.packets)) {	/* nothing is to be kept */
		repair_note_sent(q, next);
		return;
	}
	if (READ_ONCE(q->repair.bytes) + skb->truesize >
	    rp_device_left(&rp->kept_bytes, READ_ONCE(rp->repair_bytes))) {
		rp_count(rp, RP_TX_UNKEPT);
		repair_note_sent(q, next);
		rp_event_cap(rp, "no room to keep packets for repair: see repair-bytes");
		return;
	}
	kept = skb_clone((struct sk_buff *)skb, GFP_ATOMIC | __GFP_NOWARN);
	if (!kept) {
		rp_count(rp, RP_TX_UNKEPT);
		repair_note_sent(q, next);
		return;
	}
	s = repair_entry(kept);
	*s = (struct rp_sent){
		.psn = r->psn,
		.span = rp_psn_diff(next, r->psn),
		.bytes = kept->truesize,
		.path = index,
		.sent_ns = sent_ns,
	};
	spin_lock(&q->lock);
	rp_answers_sent(&q->answers, next);
	if (unlikely(q->dead || !repair_index(q, peer, paths, &s->path))) {
		spin_unlock(&q->lock);
		rp_count(rp, RP_TX_UNKEPT);
		consume_skb(kept);
		return;
	}
	percpu_counter_add_batch(&rp->kept_bytes, s->bytes, READ_ONCE(rp->kept_batch));
	gone = rp_repair_sent(&q->repair, s, &caps);
	spin_unlock(&q->lock);
	if (unlikely(gone))
		repair_free(rp, gone);
}

/**
 * rp_repair_answered() - the QP's peer said something about what the QP has sent
 * @qp: the QP, to a peer that reports
 * @r: an acknowledge, a NAK or a response
 *
 * After a NAK the QP goes back by itself: what is kept is of no use any more, and
 * says nothing of paths.
 *
 * Context: softirq, RCU.
 */
enum rp_answer rp_repair_answered(struct rp_qp *qp, const struct rp_roce *r)
{
	struct rp_device *rp = rcu_dereference(qp->rp);
	struct rp_queue *q = &qp->queue[RP_REQUESTS];
	struct rp_sent *gone = NULL, *rewound = NULL;
	enum rp_answer answer;

	spin_lock(&q->lock);
	answer = rp_answers_heard(&q->answers, r);
	if (answer == RP_ANSWER_NEWS && q->repair.packets) {
		gone = rp_repair_acked(&q->repair, rp_answers_next(r), q->path);
		if (r->kind == RP_KIND_NAK)
			rewound = rp_repair_clear(&q->repair);
	}
	spin_unlock(&q->lock);
	repair_free(rp, gone);
	repair_free(rp, rewound);
	return answer;
}

/**
 * rp_repair_report() - the peer reported what has arrived of a flow
 * @qp: that sends it
 * @peer: who reports
 * @f: what
 * @now_ns: the time
 *
 * Context: softirq, RCU.
 */
void rp_repair_report(struct rp_qp *qp, struct rp_peer *peer, const struct rp_report_flow *f,
		      u64 now_ns)
{
	struct rp_device *rp = rcu_dereference(qp->rp);
	struct rp_peer_paths *paths = rcu_dereference(peer->paths);
	struct rp_queue *q = &qp->queue[f->space];
	struct rp_repair_clock clock;
	struct sk_buff_head out;
	struct rp_sent *gone, *tired;

	if (!paths)
		return;
	__skb_queue_head_init(&out);
	spin_lock(&q->lock);
	/* what arrived may have been let go by acknowledges, and its report is yet to come */
	if (q->dead || (!q->repair.packets && !q->path) || !repair_sync(q, paths)) {
		spin_unlock(&q->lock);
		return;
	}
	gone = rp_repair_reported(&q->repair, f->expected, f->held, f->words, q->path);
	rp_repair_settle(&q->repair, f->repaired, q->path, q->n);
	repair_tell_paths(q, rp, peer, paths, now_ns);
	rp_peer_clock(peer, rp, now_ns, &clock);
	tired = rp_repair_find_lost(&q->repair, rp_repair_horizon(f->expected, f->words),
				    &clock, q->path);
	repair_tell_paths(q, rp, peer, paths, now_ns);
	repair_collect(q, qp, rp, paths->set, now_ns, rp_repair_batch(&q->repair), &out);
	spin_unlock(&q->lock);
	repair_free(rp, gone);
	repair_free(rp, tired);
	repair_send(rp, &out);
}

static bool repair_is_on_failed(void *arg, u16 index)
{
	return !rp_pathset_usable(arg, index);
}

/* once for each time that paths failed: all that is on them is lost */
static struct rp_sent *repair_leave_failed(struct rp_queue *q, struct rp_pathset *set)
{
	u32 failures = READ_ONCE(set->failures);

	lockdep_assert_held(&q->lock);
	if (likely(q->failures == failures))
		return NULL;
	q->failures = failures;
	return rp_repair_path_failed(&q->repair, repair_is_on_failed, set);
}

static bool repair_poll_queue(struct rp_qp *qp, struct rp_queue *q, struct rp_peer *peer,
			      u64 now_ns)
{
	struct rp_device *rp = rcu_dereference(qp->rp);
	struct rp_peer_paths *paths = rcu_dereference(peer->paths);
	struct rp_sent *left = NULL, *tired = NULL;
	struct rp_repair_clock clock;
	struct sk_buff_head out;
	bool busy;

	__skb_queue_head_init(&out);
	spin_lock(&q->lock);
	busy = q->repair.packets;
	if (busy && paths && !q->dead && repair_sync(q, paths)) {
		left = repair_leave_failed(q, paths->set);
		rp_peer_clock(peer, rp, now_ns, &clock);
		if (q->repair.oldest && rp_repair_deadline(&q->repair, clock.tail_us) <= now_ns)
			tired = rp_repair_find_lost(&q->repair, q->repair.oldest->psn, &clock,
						    q->path);
		repair_tell_paths(q, rp, peer, paths, now_ns);
		repair_collect(q, qp, rp, paths->set, now_ns, rp_repair_batch(&q->repair), &out);
	}
	spin_unlock(&q->lock);
	repair_free(rp, left);
	repair_free(rp, tired);
	repair_send(rp, &out);
	return busy;
}

/**
 * rp_repair_poll() - time passed: is the tail of a burst lost?
 * @qp: a QP
 * @peer: of it
 * @now_ns: the time
 *
 * Context: bottom halves off, RCU.
 * Return: true while anything is kept.
 */
bool rp_repair_poll(struct rp_qp *qp, struct rp_peer *peer, u64 now_ns)
{
	bool requests = repair_poll_queue(qp, &qp->queue[RP_REQUESTS], peer, now_ns);

	return repair_poll_queue(qp, &qp->queue[RP_RESPONSES], peer, now_ns) || requests;
}

struct repair_port {
	struct rp_device *rp;
	u8 port;
};

struct repair_path {
	const struct rp_pathset *set;
	u8 port;
};

static bool repair_is_of_port(void *arg, u16 index)
{
	const struct repair_path *p = arg;

	return p->set->entry[index].path.port == p->port;
}

static void repair_queue_port_failed(struct rp_qp *qp, struct rp_queue *q,
				     struct rp_peer_paths *paths, const struct repair_port *p)
{
	struct repair_path failed = { .set = paths->set, .port = p->port };
	struct sk_buff_head out;
	struct rp_sent *tired;

	__skb_queue_head_init(&out);
	spin_lock(&q->lock);
	if (!q->repair.packets || q->dead || !repair_sync(q, paths)) {
		spin_unlock(&q->lock);
		return;
	}
	tired = rp_repair_path_failed(&q->repair, repair_is_of_port, &failed);
	repair_collect(q, qp, p->rp, paths->set, ktime_get_ns(), q->repair.lost, &out);
	spin_unlock(&q->lock);
	repair_free(p->rp, tired);
	repair_send(p->rp, &out);
}

static int repair_qp_port_failed(struct rp_qp *qp, void *arg)
{
	const struct repair_port *p = arg;
	struct rp_peer_paths *paths;
	struct rp_peer *peer;
	int i;

	if (rcu_access_pointer(qp->rp) != p->rp)
		return 0;
	peer = rcu_dereference(qp->peer);
	paths = peer ? rcu_dereference(peer->paths) : NULL;
	if (!paths)
		return 0;
	local_bh_disable();
	for (i = 0; i < RP_SPACES; i++)
		repair_queue_port_failed(qp, &qp->queue[i], paths, p);
	rp_ack_again(qp, peer);
	local_bh_enable();
	return 0;
}

/**
 * rp_repair_port_failed() - what was on this port and is not known delivered is sent again, at once
 * @rp: the device, whose paths know of the failure already
 * @port: number of the port
 *
 * Context: process.
 */
void rp_repair_port_failed(struct rp_device *rp, u8 port)
{
	struct repair_port p = { .rp = rp, .port = port };
	unsigned long cursor = 0;

	rp_qp_for_each(repair_qp_port_failed, &p, &cursor);
}

/**
 * rp_ack_sent() - an acknowledge is about to leave
 * @qp: whose it is
 * @skb: the packet, headers linear
 * @l3: bytes from its data to the IP header
 * @r: parsed
 * @index: of the path that it goes by
 *
 * Context: bottom halves off.
 */
void rp_ack_sent(struct rp_qp *qp, const struct sk_buff *skb, u32 l3, const struct rp_roce *r,
		 u16 index)
{
	struct rp_last_ack *ack = &qp->last_ack;

	if (r->icrc - r->bth != RP_ACK_LEN || l3 + r->icrc > skb_headlen(skb))
		return;
	spin_lock(&ack->lock);
	memcpy(ack->bytes, skb->data + l3 + r->bth, RP_ACK_LEN);
	ack->index = index;
	ack->again = RP_ACK_TIMES;
	spin_unlock(&ack->lock);
}

/**
 * rp_ack_again() - say the last acknowledge again, by another path
 * @qp: the QP
 * @peer: of it
 *
 * Context: bottom halves off, RCU.
 */
void rp_ack_again(struct rp_qp *qp, struct rp_peer *peer)
{
	struct rp_device *rp = rcu_dereference(qp->rp);
	struct rp_peer_paths *paths = rcu_dereference(peer->paths);
	struct rp_last_ack *ack = &qp->last_ack;
	struct rp_letter letter = { .len = RP_ACK_LEN - RP_BTH_LEN };
	u8 bytes[RP_ACK_LEN];
	u16 index;

	if (!paths || !READ_ONCE(ack->again))
		return;
	spin_lock(&ack->lock);
	if (!ack->again) {
		spin_unlock(&ack->lock);
		return;
	}
	ack->again--;
	memcpy(bytes, ack->bytes, sizeof(bytes));
	index = ack->index < paths->set->n ? ack->index : 0;
	spin_unlock(&ack->lock);
	index = rp_pathset_other(paths->set, index, qp->queue[RP_RESPONSES].turn++);
	if (index == RP_PATHSET_NONE)
		return;
	letter.path = paths->set->entry[index].path;
	memcpy(letter.bth, bytes, RP_BTH_LEN);
	letter.bth[RP_BTH_FLAGS] |= RP_BTH_REPAIR;
	letter.body = bytes + RP_BTH_LEN;
	rp_peer_send(rp, peer, &letter, RP_TX_ACK_AGAIN);
}
