// SPDX-License-Identifier: GPL-2.0
/*
 * The reorder window. See window.h.
 *
 * Held packets are in hash buckets by PSN, all of them ahead of @expected. What
 * moves @expected forward (forward_to) looks at the PSNs that it jumps over, and
 * moves what is held of them to the ready list: so nothing is ever stranded
 * behind. What moves it back (rewind_to) makes held ones only lie farther ahead.
 */
#include "window.h"

#define BUCKETS_MIN 64
#define REACH_MAX 0x400000u
#define HALF_SPACE 0x800000u
#define STRIKES_MAX 32
/* the peak of lateness falls by 1/64 at most each 17 ms, and only while gaps close */
#define DECAY_NS 0x1000000u
#define DECAY_SHIFT 6

/*
 * Dense PSNs fall into buckets of their own (the map is one to one on the low
 * bits); so do READs, which lie a power of two apart.
 */
static struct rp_held **bucket_of(const struct rp_window *w, u32 psn)
{
	return &w->bucket[(psn ^ psn >> 6 ^ psn >> 12) & w->mask];
}

static struct rp_held *find(const struct rp_window *w, u32 psn)
{
	struct rp_held *h = w->bucket ? *bucket_of(w, psn) : NULL;

	while (h && h->psn != psn)
		h = h->next;
	return h;
}

static void insert(struct rp_window *w, struct rp_held *h)
{
	struct rp_held **at = bucket_of(w, h->psn);

	h->next = *at;
	*at = h;
}

static struct rp_held *take(struct rp_window *w, u32 psn)
{
	struct rp_held **at, *h;

	if (!w->bucket)
		return NULL;
	for (at = bucket_of(w, psn); (h = *at); at = &h->next) {
		if (h->psn == psn) {
			*at = h->next;
			h->next = NULL;
			return h;
		}
	}
	return NULL;
}

static u32 end_of(const struct rp_held *h)
{
	return rp_psn_add(h->psn, (s32)h->span);
}

static void uncount(struct rp_window *w, const struct rp_held *h)
{
	w->held--;
	w->held_bytes -= h->bytes;
}

/* Two lists in PSN order become one. */
static struct rp_held *merge(struct rp_held *a, struct rp_held *b, u32 base)
{
	struct rp_held *list = NULL, **tail = &list;

	while (a && b) {
		bool b_first = rp_psn_diff(b->psn, base) < rp_psn_diff(a->psn, base);
		struct rp_held **first = b_first ? &b : &a;

		*tail = *first;
		tail = &(*tail)->next;
		*first = *tail;
	}
	*tail = a ? a : b;
	return list;
}

/* Merge sort, bottom up: part[i] is NULL or a sorted list of 2^i. */
static struct rp_held *sort(struct rp_held *list, u32 base)
{
	struct rp_held *part[32] = { NULL };
	struct rp_held *h;
	u32 i;

	while ((h = list)) {
		list = h->next;
		h->next = NULL;
		for (i = 0; part[i]; i++) {
			h = merge(part[i], h, base);
			part[i] = NULL;
		}
		part[i] = h;
	}
	for (i = 0; i < ARRAY_SIZE(part); i++)
		list = merge(part[i], list, base);
	return list;
}

/* Take out of the buckets what is behind @expected, or everything; unsorted. */
static struct rp_held *sweep(struct rp_window *w, bool all)
{
	struct rp_held *list = NULL, **at, *h;
	u32 i;

	for (i = 0; w->bucket && i <= w->mask; i++) {
		for (at = &w->bucket[i]; (h = *at);) {
			if (!all && rp_psn_diff(h->psn, w->expected) >= 0) {
				at = &h->next;
				continue;
			}
			*at = h->next;
			h->next = list;
			list = h;
		}
	}
	return list;
}

static void make_ready(struct rp_window *w, bool all)
{
	u32 base = w->expected;

	w->ready = merge(w->ready, sort(sweep(w, all), base), base);
}

/* The QP goes on at @psn; what is held of the PSNs in between, it went past. */
static void forward_to(struct rp_window *w, u32 psn)
{
	u32 from = w->expected;
	u32 jump = (psn - from) & RP_PSN_MASK;
	struct rp_held *list = NULL, **tail = &list;

	w->expected = psn;
	rp_repaired_pass(&w->repaired, from, jump);
	if (!w->held || !jump)
		return;
	if (jump > w->mask) {
		make_ready(w, false);
		return;
	}
	for (; from != psn; from = rp_psn_add(from, 1)) {
		*tail = take(w, from);
		if (*tail)
			tail = &(*tail)->next;
	}
	w->ready = merge(w->ready, list, psn);
}

/*
 * Held ones so far ahead that they would count as behind are handed out. What
 * repairs brought, the QP has not any more or wants again.
 */
static void rewind_to(struct rp_window *w, u32 psn)
{
	w->expected = psn;
	rp_repaired_forget(&w->repaired);
	w->stats.rewinds++;
	if (w->held)
		make_ready(w, false);
}

static struct rp_awaited *run_at(const struct rp_window *w, u32 i)
{
	return &w->awaited[(w->awaited_head + i) % RP_WINDOW_AWAITED];
}

static u32 run_end(const struct rp_awaited *run)
{
	return rp_psn_add(run->psn, (s32)run->count);
}

/* Nothing is awaited any more: whatever comes passes, and what is held goes. */
static void shut(struct rp_window *w)
{
	w->open = false;
	w->awaited_n = 0;
	w->gap_ns = 0;
	if (w->held)
		make_ready(w, true);
}

/*
 * @expected moved: drop what is awaited behind it, go on to the next run when it
 * is between two. The head run starts at @expected afterwards: a requester that
 * goes back says again what it wants from there on.
 */
static void settle(struct rp_window *w)
{
	struct rp_awaited *run;
	s32 into;

	if (!w->awaited || !w->open)
		return;
	while (w->awaited_n && rp_psn_diff(w->expected, run_end(run_at(w, 0))) >= 0) {
		w->awaited_head = (w->awaited_head + 1) % RP_WINDOW_AWAITED;
		w->awaited_n--;
	}
	if (!w->awaited_n) {
		shut(w);
		return;
	}
	run = run_at(w, 0);
	into = rp_psn_diff(w->expected, run->psn);
	if (into < 0) {
		forward_to(w, run->psn);
	} else {
		run->psn = w->expected;
		run->count -= (u32)into;
	}
}

/* Runs are in PSN order: is @psn, ahead of @expected, in one? */
static bool is_awaited(const struct rp_window *w, u32 psn)
{
	u32 lo = 0, hi = w->awaited_n;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;
		const struct rp_awaited *run = run_at(w, mid);

		if (rp_psn_diff(psn, run->psn) < 0)
			hi = mid;
		else if (rp_psn_diff(psn, run_end(run)) >= 0)
			lo = mid + 1;
		else
			return true;
	}
	return false;
}

/* May a packet @ahead PSNs before its turn be held? */
static bool within_reach(const struct rp_window *w, const struct rp_held *h, u32 ahead,
			 const struct rp_window_caps *caps)
{
	u32 span = max(w->span_max, h->span);
	u64 reach = caps->packets;

	if (!reach)
		return false;
	if (w->awaited)
		return is_awaited(w, h->psn);
	if (span > 1)
		reach += (u64)RP_WINDOW_AWAITED * (span - 1);
	return ahead < reach && ahead < REACH_MAX;
}

/* Learn from a gap that closed how late packets are. */
static void fill_gap(struct rp_window *w, const struct rp_window_caps *caps, u64 now_ns)
{
	u64 ceiling = (u64)caps->gap_ceiling_us * 1000;
	u64 late = now_ns - w->gap_ns;

	if (now_ns - w->decayed_ns >= DECAY_NS) {
		w->late_ns -= w->late_ns >> DECAY_SHIFT;
		w->decayed_ns = now_ns;
	}
	late = min(late, ceiling);
	w->late_ns = max(w->late_ns, late);
	w->gap_ns = 0;
	w->strikes = 0;
	w->stats.filled++;
}

void rp_window_init_requests(struct rp_window *w, u32 psn, bool skips)
{
	memset(w, 0, sizeof(*w));
	w->expected = psn & RP_PSN_MASK;
	w->open = true;
	w->skips = skips;
}

void rp_window_init_responses(struct rp_window *w, struct rp_awaited *awaited)
{
	memset(w, 0, sizeof(*w));
	w->awaited = awaited;
}

struct rp_held **rp_window_buckets(struct rp_window *w, struct rp_held **bucket, u32 n)
{
	struct rp_held **old = w->bucket;
	struct rp_held *list, *h;

	if (!n && w->held)
		return NULL;
	list = sweep(w, true);
	w->bucket = n ? bucket : NULL;
	w->mask = n ? n - 1 : 0;
	while ((h = list)) {
		list = h->next;
		insert(w, h);
	}
	return old;
}

u32 rp_window_wants(const struct rp_window *w, u32 psn)
{
	u32 n = w->bucket ? w->mask + 1 : 0;

	if (!w->open || rp_psn_diff(psn, w->expected) <= 0 || w->held < n)
		return 0;
	return n ? 2 * n : BUCKETS_MIN;
}

static u64 timeout_ns(const struct rp_window *w, const struct rp_window_caps *caps)
{
	u64 floor = (u64)caps->gap_floor_us * 1000;
	u64 ceiling = (u64)caps->gap_ceiling_us * 1000;
	u64 ns = max(2 * w->late_ns, floor);
	u32 i;

	if (caps->gap_fixed_us)
		return (u64)caps->gap_fixed_us * 1000;
	for (i = 0; i < w->strikes && ns < ceiling; i++)
		ns += ns >> 2;
	return min(ns, ceiling);
}

static enum rp_window_verdict hold(struct rp_window *w, struct rp_held *h,
				   const struct rp_window_caps *caps, u64 now_ns)
{
	if (!w->bucket || w->held >= caps->packets || (u64)w->held_bytes + h->bytes > caps->bytes)
		return RP_WINDOW_FULL;
	if (!w->held || rp_psn_diff(end_of(h), w->furthest) > 0)
		w->furthest = end_of(h);
	h->held_ns = now_ns;
	insert(w, h);
	w->span_max = max(w->span_max, h->span);
	w->held++;
	w->held_bytes += h->bytes;
	w->stats.held++;
	w->stats.held_max = max(w->stats.held_max, w->held);
	if (!w->gap_ns)
		w->gap_ns = now_ns ? now_ns : 1;
	return RP_WINDOW_HOLD;
}

/* The QP gets a packet: on to what is behind it. */
static void go_past(struct rp_window *w, const struct rp_held *h, u64 now_ns)
{
	/* this one itself the window does not have any more */
	rp_repaired_pass(&w->repaired, h->psn, 1);
	w->expected = rp_psn_add(h->psn, 1);
	forward_to(w, end_of(h));
	if (h->repair && h->span < RP_REPAIRED_REACH)
		rp_repaired_add(&w->repaired, h->psn, now_ns, w->repaired_ns);
}

/* Behind and not a repair: late, and repaired already? Or does the QP go back? */
static bool was_repaired(struct rp_window *w, u32 psn, const struct rp_window_caps *caps,
			 u64 now_ns)
{
	u32 by = (w->expected - psn) & RP_PSN_MASK;

	if (!rp_repaired_any(&w->repaired) || by > RP_REPAIRED_REACH)
		return false;
	if (rp_repaired_take(&w->repaired, psn, now_ns, timeout_ns(w, caps)))
		return true;
	rp_repaired_forget(&w->repaired);
	return false;
}

/* Nothing for the window. A repair goes no farther. */
static enum rp_window_verdict pass(struct rp_window *w, const struct rp_held *h)
{
	if (!h->repair)
		return RP_WINDOW_PASS;
	w->stats.needless++;
	return RP_WINDOW_DUPLICATE;
}

static enum rp_window_verdict behind(struct rp_window *w, const struct rp_held *h,
				     const struct rp_window_caps *caps, u64 now_ns)
{
	if (h->repair || !was_repaired(w, h->psn, caps, now_ns))
		return pass(w, h);
	w->stats.overtaken++;
	return RP_WINDOW_DUPLICATE;
}

/*
 * By how much did the packet that was sent right after it overtake it? A sender
 * that sprays sent that over another path. The gap's age would not do: of several
 * late ones behind each other it is the pause between them.
 */
static s64 lateness(const struct rp_window *w, const struct rp_held *h, u64 now_ns)
{
	const struct rp_held *successor;

	if (h->repair)
		return RP_LATE_UNKNOWN;
	if (!w->held || rp_psn_diff(h->psn, w->furthest) >= 0)
		return 0;
	successor = find(w, end_of(h));
	return successor ? (s64)(now_ns - successor->held_ns) : RP_LATE_UNKNOWN;
}

/* The window has that PSN: one of the two may be the repair of the other. */
static enum rp_window_verdict twice(struct rp_window *w, struct rp_held *has,
				    const struct rp_held *h)
{
	if (h->repair) {
		w->stats.needless++;
	} else if (has->repair) {
		w->stats.overtaken++;
		has->repair = false;
	}
	return RP_WINDOW_DUPLICATE;
}

static enum rp_window_verdict ahead(struct rp_window *w, struct rp_held *h, u32 by,
				    const struct rp_window_caps *caps, u64 now_ns)
{
	struct rp_held *has = w->held ? find(w, h->psn) : NULL;
	enum rp_window_verdict verdict;

	if (has)
		return twice(w, has, h);
	if (!within_reach(w, h, by, caps))
		return pass(w, h);
	h->late_ns = lateness(w, h, now_ns);
	verdict = hold(w, h, caps, now_ns);
	/* not worth letting all go that is held: it will be repaired again */
	if (verdict == RP_WINDOW_FULL && h->repair)
		return pass(w, h);
	w->stats.repairs += h->repair;
	return verdict;
}

enum rp_window_verdict rp_window_rx(struct rp_window *w, struct rp_held *h,
				    const struct rp_window_caps *caps, u64 now_ns)
{
	s32 diff = rp_psn_diff(h->psn, w->expected);

	h->late_ns = RP_LATE_UNKNOWN;
	if (h->repair)
		w->repaired_ns = timeout_ns(w, caps);
	if (diff < 0)
		return behind(w, h, caps, now_ns);
	if (!w->open || !h->span || h->span >= HALF_SPACE)
		return pass(w, h);
	if (diff > 0)
		return ahead(w, h, (u32)diff, caps, now_ns);
	if (w->gap_ns)
		fill_gap(w, caps, now_ns);
	w->stats.repairs += h->repair;
	h->late_ns = lateness(w, h, now_ns);
	w->span_max = max(w->span_max, h->span);
	go_past(w, h, now_ns);
	settle(w);
	return RP_WINDOW_DELIVER;
}

struct rp_held *rp_window_next(struct rp_window *w, u64 now_ns)
{
	struct rp_held *h = w->ready;

	if (h) {
		w->ready = h->next;
	} else if (w->open && w->held) {
		h = take(w, w->expected);
		if (h) {
			go_past(w, h, now_ns);
			w->gap_ns = 0;
		}
	}
	if (h) {
		h->next = NULL;
		uncount(w, h);
		settle(w);
	} else if (w->held && !w->gap_ns) {
		w->gap_ns = now_ns ? now_ns : 1;
	}
	return h;
}

u64 rp_window_deadline(const struct rp_window *w, const struct rp_window_caps *caps)
{
	return w->gap_ns ? w->gap_ns + timeout_ns(w, caps) : 0;
}

u32 rp_window_timeout_us(const struct rp_window *w, const struct rp_window_caps *caps)
{
	return (u32)div_u64(timeout_ns(w, caps), 1000);
}

/* All that is held and @extra, in PSN order. */
static struct rp_held *let_go(struct rp_window *w, struct rp_held *extra)
{
	u32 base = w->expected;
	struct rp_held *list, *h;
	u32 end = base;

	list = w->held ? merge(w->ready, sort(sweep(w, true), base), base) : NULL;
	if (extra) {
		extra->next = NULL;
		list = merge(list, extra, base);
	}
	w->ready = NULL;
	w->held = 0;
	w->held_bytes = 0;
	w->gap_ns = 0;
	for (h = list; h; h = h->next)
		end = end_of(h);
	if (w->skips && rp_psn_diff(end, base) > 0) {
		rp_repaired_pass(&w->repaired, base, (end - base) & RP_PSN_MASK);
		w->expected = end;
	}
	return list;
}

struct rp_held *rp_window_release(struct rp_window *w, bool expired)
{
	if (expired && w->held) {
		w->stats.expired++;
		if (w->strikes < STRIKES_MAX)
			w->strikes++;
	}
	return let_go(w, NULL);
}

struct rp_held *rp_window_overflow(struct rp_window *w, struct rp_held *h)
{
	return let_go(w, h);
}

bool rp_window_seek(struct rp_window *w, u32 psn, bool back)
{
	s32 diff = rp_psn_diff(psn, w->expected);

	if (w->awaited || !diff || (diff < 0 && !back))
		return false;
	if (diff > 0) {
		forward_to(w, psn & RP_PSN_MASK);
		w->stats.forwards++;
	} else {
		rewind_to(w, psn & RP_PSN_MASK);
	}
	w->gap_ns = 0;
	return true;
}

/* What was awaited from @psn on, which is not behind @expected, is no more. */
static void forget_from(struct rp_window *w, u32 psn)
{
	struct rp_awaited *run;

	while (w->awaited_n && rp_psn_diff(run_at(w, w->awaited_n - 1)->psn, psn) >= 0)
		w->awaited_n--;
	if (!w->awaited_n)
		return;
	run = run_at(w, w->awaited_n - 1);
	if (rp_psn_diff(psn, run_end(run)) < 0)
		run->count = (psn - run->psn) & RP_PSN_MASK;
}

static bool add_run(struct rp_window *w, u32 psn, u32 count)
{
	struct rp_awaited *run;

	if (w->awaited_n) {
		run = run_at(w, w->awaited_n - 1);
		if (run_end(run) == psn) {
			run->count += count;
			return true;
		}
	}
	if (w->awaited_n == RP_WINDOW_AWAITED)
		return false;
	run = run_at(w, w->awaited_n++);
	run->psn = psn;
	run->count = count;
	return true;
}

bool rp_window_await(struct rp_window *w, u32 psn, u32 count)
{
	s32 ahead;

	psn &= RP_PSN_MASK;
	if (!w->awaited || !count || count >= HALF_SPACE)
		return false;
	/* a view so old that PSNs cannot be compared with it any more */
	ahead = rp_psn_diff(psn, w->expected);
	if (w->open && ahead >= 0 && (u32)ahead + count >= HALF_SPACE)
		shut(w);
	if (!w->open) {
		rp_repaired_pass(&w->repaired, w->expected, (psn - w->expected) & RP_PSN_MASK);
		w->open = true;
		w->expected = psn;
		return add_run(w, psn, count);
	}
	if (ahead < 0) {
		w->awaited_n = 0;
		w->gap_ns = 0;
		rewind_to(w, psn);
		return add_run(w, psn, count);
	}
	forget_from(w, psn);
	if (add_run(w, psn, count))
		return false;
	shut(w);
	return true;
}
