// SPDX-License-Identifier: GPL-2.0
#include "traffic.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "chance.h"
#include "text.h"

#define HOSTS_MAX (1u << 20)
#define FLOWS_MAX (1u << 28)
#define TRIGGERS_MAX FLOWS_MAX

static void room(struct traffic *m, u32 hosts, u32 flows, u32 triggers)
{
	m->hosts = hosts;
	m->n = 0;
	m->triggers = triggers + 1;
	m->flow = calloc(flows + 1, sizeof(*m->flow));
	m->trigger = calloc(m->triggers, sizeof(*m->trigger));
	assert(m->flow && m->trigger);
}

void traffic_free(struct traffic *m)
{
	free(m->flow);
	free(m->trigger);
}

/* flows that wait for a trigger, in a list */
static void tie(struct traffic *m)
{
	u32 i;

	for (i = m->n; i--;) {
		struct traffic_flow *f = &m->flow[i];

		if (f->trigger == TRAFFIC_NONE)
			continue;
		f->next = m->trigger[f->trigger].waiting;
		m->trigger[f->trigger].waiting = i + 1;
	}
}

static struct traffic_flow *add(struct traffic *m, u32 from, u32 to, u64 bytes)
{
	struct traffic_flow *f = &m->flow[m->n++];

	*f = (struct traffic_flow){ .from = from, .to = to, .id = m->n, .bytes = bytes };
	return f;
}

/* --- reading --- */

static bool read_pair(struct traffic *m, struct traffic_flow *f, struct text *t)
{
	char *end;

	f->from = strtoul(t->word, &end, 10);
	if (end == t->word || strncmp(end, "->", 2))
		return text_fail(t, "'%s' is no pair of hosts, as in 0->1", t->word);
	f->to = strtoul(end + 2, &end, 10);
	if (*end || end[-1] == '>')
		return text_fail(t, "'%s' is no pair of hosts, as in 0->1", t->word);
	if (f->from >= m->hosts || f->to >= m->hosts)
		return text_fail(t, "there are %u hosts, from 0 on", m->hosts);
	if (f->from == f->to)
		return text_fail(t, "host %u sends to itself", f->from);
	return true;
}

static bool read_trigger_of(struct traffic *m, u32 *trigger, struct text *t)
{
	u64 number;

	if (!text_number(t, 1, m->triggers - 1, &number))
		return false;
	*trigger = number;
	return true;
}

static bool read_attribute(struct traffic *m, struct traffic_flow *f, bool *starts, struct text *t)
{
	u64 number;

	if (!strcmp(t->word, "id")) {
		if (!text_number(t, 1, ~0u, &number))
			return false;
		f->id = number;
	} else if (!strcmp(t->word, "start")) {
		*starts = true;
		return text_number(t, 0, 1ull << 62, &f->start_ps);
	} else if (!strcmp(t->word, "size")) {
		return text_number(t, 1, 1ull << 40, &f->bytes);
	} else if (!strcmp(t->word, "trigger")) {
		*starts = true;
		return read_trigger_of(m, &f->trigger, t);
	} else if (!strcmp(t->word, "recv_done_trigger") ||
		   !strcmp(t->word, "send_done_trigger")) {
		return read_trigger_of(m, &f->pulls, t);
	} else if (!strcmp(t->word, "prio")) {
		return text_number(t, 0, ~0u, &number);
	} else {
		return text_fail(t, "'%s' is nothing that a connection has", t->word);
	}
	return true;
}

static bool read_flow(struct traffic *m, u32 flows, struct text *t)
{
	struct traffic_flow *f;
	bool starts = false;

	if (m->n == flows)
		return text_fail(t, "one more than the %u connections that were said", flows);
	f = add(m, 0, 0, 0);
	if (!read_pair(m, f, t))
		return false;
	while (text_word(t))
		if (!read_attribute(m, f, &starts, t))
			return false;
	if (!starts)
		return text_fail(t, "no start and no trigger");
	return f->bytes || text_fail(t, "no size");
}

static bool read_trigger(struct traffic *m, struct text *t)
{
	u64 id = 0, count = 1;

	while (text_word(t)) {
		if (!strcmp(t->word, "id")) {
			if (!text_number(t, 1, m->triggers - 1, &id))
				return false;
		} else if (!strcmp(t->word, "count")) {
			if (!text_number(t, 1, FLOWS_MAX, &count))
				return false;
		} else if (strcmp(t->word, "oneshot") && strcmp(t->word, "barrier")) {
			return text_fail(t, "'%s' is no trigger: oneshot, barrier", t->word);
		}
	}
	if (!id)
		return text_fail(t, "a trigger without an id");
	m->trigger[id].count = count;
	return true;
}

/* Nodes, Connections, Triggers; up to the first line that is something else */
static bool read_head(struct text *t, u64 *hosts, u64 *flows, u64 *triggers)
{
	bool ok = true;

	*hosts = 0;
	*flows = 0;
	*triggers = 0;
	while (ok && text_line(t)) {
		text_word(t);
		if (!strcmp(t->word, "Nodes"))
			ok = text_number(t, 2, HOSTS_MAX, hosts);
		else if (!strcmp(t->word, "Connections"))
			ok = text_number(t, 1, FLOWS_MAX, flows);
		else if (!strcmp(t->word, "Triggers"))
			ok = text_number(t, 0, TRIGGERS_MAX, triggers);
		else
			return *hosts && *flows ? true :
			       text_fail(t, "Nodes and Connections must come before '%s'", t->word);
	}
	return ok && text_fail(t, "no connection");
}

static bool check_triggers(const struct traffic *m, struct text *t)
{
	u32 i;

	for (i = 0; i < m->n; i++) {
		const struct traffic_flow *f = &m->flow[i];

		if (f->trigger != TRAFFIC_NONE && !m->trigger[f->trigger].count)
			return text_fail(t, "connection %u waits for trigger %u: there is none",
					 f->id, f->trigger);
	}
	return true;
}

bool traffic_read(struct traffic *m, struct text *t)
{
	u64 hosts, flows, triggers;
	bool ok;

	memset(m, 0, sizeof(*m));
	if (!read_head(t, &hosts, &flows, &triggers))
		return false;
	room(m, hosts, flows, triggers);
	do {
		ok = !strcmp(t->word, "trigger") ? read_trigger(m, t) : read_flow(m, flows, t);
	} while (ok && text_line(t) && text_word(t));
	if (ok && m->n != flows)
		ok = text_fail(t, "%u connections, not %llu", m->n, (unsigned long long)flows);
	ok = ok && check_triggers(m, t);
	if (ok)
		tie(m);
	else
		traffic_free(m);
	return ok;
}

/* --- writing --- */

void traffic_write(const struct traffic *m, const char *file)
{
	FILE *out = fopen(file, "w");
	u32 i, triggers = 0;

	if (!out) {
		perror(file);
		return;
	}
	for (i = 1; i < m->triggers; i++)
		triggers += !!m->trigger[i].count;
	fprintf(out, "Nodes %u\nConnections %u\n", m->hosts, m->n);
	if (triggers)
		fprintf(out, "Triggers %u\n", triggers);
	for (i = 0; i < m->n; i++) {
		const struct traffic_flow *f = &m->flow[i];

		fprintf(out, "%u->%u id %u", f->from, f->to, f->id);
		if (f->trigger != TRAFFIC_NONE)
			fprintf(out, " trigger %u", f->trigger);
		else
			fprintf(out, " start %llu", (unsigned long long)f->start_ps);
		fprintf(out, " size %llu", (unsigned long long)f->bytes);
		if (f->pulls != TRAFFIC_NONE)
			fprintf(out, " recv_done_trigger %u", f->pulls);
		fputc('\n', out);
	}
	for (i = 1; i < m->triggers; i++) {
		if (m->trigger[i].count == 1)
			fprintf(out, "trigger id %u oneshot\n", i);
		else if (m->trigger[i].count)
			fprintf(out, "trigger id %u barrier count %u\n", i, m->trigger[i].count);
	}
	fclose(out);
}

/* --- making --- */

static u32 *shuffled(u32 n, u64 *random)
{
	u32 *order = calloc(n, sizeof(*order)), i;

	assert(order);
	for (i = 0; i < n; i++) {
		u32 k = chance_below(random, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	return order;
}

/* along a ring of all hosts, so that none sends to itself */
void traffic_permutation(struct traffic *m, u32 hosts, u64 bytes, u32 rounds, u64 *random)
{
	u32 *ring = shuffled(hosts, random), round, i;

	room(m, hosts, hosts * rounds, rounds);
	for (round = 0; round < rounds; round++) {
		if (round)
			m->trigger[round].count = hosts;
		for (i = 0; i < hosts; i++) {
			struct traffic_flow *f = add(m, ring[i], ring[(i + 1) % hosts], bytes);

			f->trigger = round;
			f->pulls = round + 1 < rounds ? round + 1 : TRAFFIC_NONE;
		}
	}
	tie(m);
	free(ring);
}

void traffic_incast(struct traffic *m, u32 hosts, u32 senders, u64 bytes)
{
	u32 i;

	assert(senders < hosts);
	room(m, hosts, senders, 0);
	for (i = 0; i < senders; i++)
		add(m, hosts - 1 - i * ((hosts - 1) / senders), 0, bytes);
}

void traffic_ring(struct traffic *m, u32 hosts, u64 bytes, u64 *random)
{
	u32 *ring = shuffled(hosts, random), steps = 2 * (hosts - 1), step, i;

	room(m, hosts, hosts * steps, hosts * steps);
	for (step = 0; step < steps; step++) {
		for (i = 0; i < hosts; i++) {
			u32 before = (step - 1) * hosts + (i + hosts - 1) % hosts;
			struct traffic_flow *f = add(m, ring[i], ring[(i + 1) % hosts],
						     max(bytes / hosts, (u64)1));

			if (step) {
				f->trigger = before + 1;
				m->trigger[f->trigger].count = 1;
			}
			if (step + 1 < steps)
				f->pulls = f->id;
		}
	}
	tie(m);
	free(ring);
}

void traffic_all_to_all(struct traffic *m, u32 hosts, u64 bytes, u32 at_once)
{
	u32 round, i;

	room(m, hosts, hosts * (hosts - 1), hosts * (hosts - 1));
	for (round = 1; round < hosts; round++) {
		for (i = 0; i < hosts; i++) {
			struct traffic_flow *f = add(m, i, (i + round) % hosts, bytes);

			if (round > at_once) {
				f->trigger = f->id - at_once * hosts;
				m->trigger[f->trigger].count = 1;
			}
			if (round + at_once < hosts)
				f->pulls = f->id;
		}
	}
	tie(m);
}
