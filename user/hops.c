// SPDX-License-Identifier: GPL-2.0
/*
 * First each entropy value is asked whether it leads to the peer at all. Then
 * all of them hop by hop, until the peer itself answers. Those that do not lead
 * there are followed as well, to where they end.
 *
 * Routers answer slowly, and not always: what stays unanswered is asked again,
 * after the answers that are still on their way have had their time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/random.h>

#include "attrs.h"
#include "hops.h"
#include "netlink.h"

#define ALL_THE_WAY 64		/* hop limit of a packet that is not to be stopped */
#define TRIES 3
#define SILENT_END 2		/* hops without an answer, where a trace that leads nowhere ends */
#define WAIT_MIN_US 200000	/* for answers; longer where round trips are long */
#define WAIT_MAX_US 1000000
#define WAIT_RTTS 8
#define BUSY_PAUSE_US 10000	/* when the device's probes are used up */
#define BUSY_MAX_US 5000000

/* what was asked with a cookie */
struct question {
	struct rp_trace *trace;
	uint8_t hops;
	bool answered;
};

struct asking {
	struct rp_hops *hops;
	struct question *questions;	/* of the present round, by cookie - @cookie */
	unsigned int asked, answered, refused;
	uint32_t cookie;		/* of the first of them */
	uint32_t longest_rtt_us;
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static void take_answer(struct asking *a, struct question *q, const struct rp_attrs *attrs)
{
	const uint8_t *from = mnl_attr_get_payload(attrs->at[ROCEPATH_A_EVENT_HOP]);
	uint32_t rtt_us = rp_attr_number(attrs, ROCEPATH_A_EVENT_RTT_US);

	q->answered = true;
	a->answered++;
	if (rtt_us > a->longest_rtt_us)
		a->longest_rtt_us = rtt_us;
	if (!memcmp(from, a->hops->peer, RP_ADDRESS_LEN)) {
		q->trace->hops = q->hops;
		q->trace->rtt_us = rtt_us;
	} else if (q->hops <= RP_HOPS_MAX) {
		q->trace->heard |= 1u << (q->hops - 1);
		memcpy(q->trace->router[q->hops - 1], from, RP_ADDRESS_LEN);
	}
}

/* others may be discovering as well: only answers to what we asked are ours */
static int take_event(const struct nlmsghdr *nlh, void *data)
{
	struct asking *a = data;
	struct rp_attrs attrs;
	struct question *q;
	uint32_t n;

	if (!nlh || rp_attrs_message(&rp_event_attrs, nlh, &attrs) ||
	    rp_attr_number(&attrs, ROCEPATH_A_EVENT_TYPE) != ROCEPATH_EVENT_HOP ||
	    rp_attr_number(&attrs, ROCEPATH_A_EVENT_DEVICE) != a->hops->device ||
	    !attrs.at[ROCEPATH_A_EVENT_COOKIE] || !attrs.at[ROCEPATH_A_EVENT_HOP])
		return 0;
	n = rp_attr_number(&attrs, ROCEPATH_A_EVENT_COOKIE) - a->cookie;
	if (n >= a->asked)
		return 0;
	q = &a->questions[n];
	if (!q->answered && q->hops == rp_attr_number(&attrs, ROCEPATH_A_EVENT_HOPS) &&
	    q->trace->ev == rp_attr_number(&attrs, ROCEPATH_A_EVENT_EV))
		take_answer(a, q, &attrs);
	return 0;
}

static int listen_until(struct asking *a, uint64_t until_us)
{
	for (uint64_t now = now_us(); now < until_us; now = now_us()) {
		int err = rp_nl_wait(a->hops->listener, until_us - now, take_event, a);

		if (err)
			return err;
	}
	return 0;
}

static int send_probe(struct asking *a, const struct question *q, uint32_t cookie)
{
	const struct rp_hops *hops = a->hops;
	struct nlmsghdr *nlh = rp_nl_request(hops->nl, ROCEPATH_CMD_PROBE);

	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_DEVICE, hops->device);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_PORT, hops->ports[q->trace->port]);
	mnl_attr_put(nlh, ROCEPATH_A_PATH_PEER, RP_ADDRESS_LEN, hops->peer);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_EV, q->trace->ev);
	mnl_attr_put_u8(nlh, ROCEPATH_A_PATH_HOPS, q->hops);
	mnl_attr_put_u32(nlh, ROCEPATH_A_PATH_COOKIE, cookie);
	return rp_nl_do(hops->nl, NULL, NULL);
}

/* a port that nothing can be sent by is one whose paths lead nowhere */
static int ask(struct asking *a, struct rp_trace *trace, uint8_t limit)
{
	struct question *q = &a->questions[a->asked];
	uint64_t give_up = now_us() + BUSY_MAX_US;
	int err;

	*q = (struct question){ trace, limit, false };
	a->asked++;
	for (;;) {
		err = send_probe(a, q, a->cookie + (q - a->questions));
		if (err == -ENOTCONN) {
			q->answered = true;
			a->answered++;
			a->refused++;
			return 0;
		}
		if (err != -EBUSY || now_us() >= give_up)
			return err;
		err = listen_until(a, now_us() + BUSY_PAUSE_US);
		if (err)
			return err;
	}
}

/* heard of nobody for so long that it ends before this hop */
static bool has_ended(const struct rp_trace *trace, unsigned int limit)
{
	uint32_t lately = (1u << SILENT_END) - 1;

	return limit > SILENT_END && !(trace->heard >> (limit - 1 - SILENT_END) & lately);
}

/* whether there is something to be found at that hop limit, still */
static bool is_open(const struct rp_trace *trace, unsigned int limit, bool leads)
{
	if (limit == ALL_THE_WAY)
		return !trace->hops;
	if ((trace->hops && trace->hops <= limit) || trace->heard >> (limit - 1) & 1)
		return false;
	return leads || !has_ended(trace, limit);
}

static uint64_t time_for_answers(const struct asking *a)
{
	uint64_t us = (uint64_t)a->longest_rtt_us * WAIT_RTTS;

	if (!us || us > WAIT_MAX_US)
		return WAIT_MAX_US;
	return us < WAIT_MIN_US ? WAIT_MIN_US : us;
}

static void show_progress(const struct asking *a, unsigned int limit)
{
	if (a->hops->progress)
		a->hops->progress(limit, a->answered, a->asked);
}

/* asks all that are open once, and waits until they answered or had their time */
static int ask_all(struct asking *a, unsigned int limit, const bool *leads)
{
	uint64_t next = now_us(), until;
	int err = 0;

	a->cookie += a->asked;
	a->asked = 0;
	a->answered = 0;
	for (unsigned int i = 0; !err && i < a->hops->count; i++) {
		if (!is_open(&a->hops->traces[i], limit, leads[i]))
			continue;
		err = ask(a, &a->hops->traces[i], limit);
		next += 1000000 / a->hops->per_second;
		if (!err)
			err = listen_until(a, next);
		show_progress(a, limit);
	}
	for (until = now_us() + time_for_answers(a);
	     !err && a->answered < a->asked && now_us() < until;) {
		err = rp_nl_wait(a->hops->listener, until - now_us(), take_event, a);
		show_progress(a, limit);
	}
	return err;
}

static int ask_hop(struct asking *a, unsigned int limit, const bool *leads)
{
	int err = 0;

	for (int i = 0; i < TRIES && !err; i++) {
		err = ask_all(a, limit, leads);
		if (a->answered == a->asked)
			break;
	}
	return err;
}

/* the peer is the last: what was heard behind it was another path, before a change */
static void settle(struct rp_hops *hops)
{
	for (unsigned int i = 0; i < hops->count; i++) {
		struct rp_trace *t = &hops->traces[i];

		if (t->hops > hops->far)	/* it leads there, but from how far is not known */
			t->hops = hops->far + 1 < RP_HOPS_MAX ? hops->far + 1 : RP_HOPS_MAX;
		for (unsigned int h = t->hops ? t->hops - 1 : RP_HOPS_MAX; h < RP_HOPS_MAX; h++) {
			t->heard &= ~(1u << h);
			memset(t->router[h], 0, RP_ADDRESS_LEN);
		}
	}
}

/**
 * rp_hops_trace() - find the routers that each entropy value takes
 * @hops: what to ask; its traces are filled in
 *
 * Return: 0 or a negative error number of the last request.
 */
int rp_hops_trace(struct rp_hops *hops)
{
	struct asking a = { .hops = hops };
	bool *leads = calloc(hops->count, sizeof(*leads));
	int err;

	a.questions = calloc(hops->count, sizeof(*a.questions));
	if (!leads || !a.questions || getrandom(&a.cookie, sizeof(a.cookie), 0) < 0) {
		free(leads);
		free(a.questions);
		return -ENOMEM;
	}
	err = ask_hop(&a, ALL_THE_WAY, leads);
	if (!err && a.refused == hops->count)	/* the kernel has said why */
		err = -ENOTCONN;
	for (unsigned int i = 0; i < hops->count; i++)
		leads[i] = hops->traces[i].hops;
	for (unsigned int limit = 1; !err && limit <= hops->far; limit++)
		err = ask_hop(&a, limit, leads);
	settle(hops);
	free(leads);
	free(a.questions);
	return err;
}
