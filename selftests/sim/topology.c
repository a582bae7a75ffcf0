// SPDX-License-Identifier: GPL-2.0
#include "topology.h"

#include <stdio.h>
#include <strings.h>

#include "text.h"

#define HOSTS_MAX (1u << 20)
#define LATENCY_NS 1000

/* what a fabric has of everything, as it follows from sizes and radices */
static u32 leaves(const struct topology *top)
{
	return top->hosts / top->tier[0].radix_down;
}

static u32 leaves_of_pod(const struct topology *top)
{
	return top->podsize / top->tier[0].radix_down;
}

static u32 pods(const struct topology *top)
{
	return top->hosts / top->podsize;
}

static void number_links(struct topology *top)
{
	struct topology_tier *tier = top->tier;

	tier[0].links = top->hosts;
	tier[1].first = top->hosts;
	tier[1].links = leaves(top) * tier[0].radix_up;
	tier[2].first = tier[1].first + tier[1].links;
	tier[2].links = top->tiers == 3 ? pods(top) * tier[0].radix_up * tier[1].radix_up : 0;
	top->links = tier[2].first + tier[2].links;
}

static bool read_key(struct topology *top, struct topology_tier *tier, struct text *t)
{
	static const struct {
		const char *key;
		size_t offset;
		u32 to;
	} keys[] = {
		{ "Downlink_speed_Gbps", offsetof(struct topology_tier, gbps), 100000 },
		{ "Radix_Down", offsetof(struct topology_tier, radix_down), 65536 },
		{ "Radix_Up", offsetof(struct topology_tier, radix_up), 65536 },
		{ "Downlink_Latency_ns", offsetof(struct topology_tier, latency_ns), 100000000 },
		{ "Switch_Latency_ns", offsetof(struct topology_tier, switch_ns), 100000000 },
	};
	u64 value;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcasecmp(t->word, keys[i].key))
			continue;
		if (!tier)
			return text_fail(t, "%s belongs behind a line 'Tier n'", t->word);
		if (!text_number(t, i == ARRAY_SIZE(keys) - 1 ? 0 : 1, keys[i].to, &value))
			return false;
		*(u32 *)((char *)tier + keys[i].offset) = value;
		return true;
	}
	if (!strcasecmp(t->word, "Oversubscribed"))
		return text_number(t, 1, 65536, &value);
	if (!strcasecmp(t->word, "Bundle"))
		return text_number(t, 1, 1, &value);
	return text_fail(t, "'%s' is nothing that a topology has", t->word);
}

static bool read_line(struct topology *top, struct topology_tier **tier, struct text *t)
{
	u64 value;

	if (!strcasecmp(t->word, "Nodes")) {
		if (!text_number(t, 2, HOSTS_MAX, &value))
			return false;
		top->hosts = value;
	} else if (!strcasecmp(t->word, "Tiers")) {
		if (!text_number(t, 2, TOPOLOGY_TIERS_MAX, &value))
			return false;
		top->tiers = value;
	} else if (!strcasecmp(t->word, "Podsize")) {
		if (!text_number(t, 1, HOSTS_MAX, &value))
			return false;
		top->podsize = value;
	} else if (!strcasecmp(t->word, "Tier")) {
		if (!text_number(t, 0, TOPOLOGY_TIERS_MAX - 1, &value))
			return false;
		*tier = &top->tier[value];
	} else {
		return read_key(top, *tier, t);
	}
	return true;
}

static bool is_whole(const struct topology *top, struct text *t)
{
	const struct topology_tier *tier = top->tier;
	u32 i, top_tier = top->tiers - 1;

	if (!top->hosts || !top->tiers || !top->podsize)
		return text_fail(t, "Nodes, Tiers or Podsize is missing");
	for (i = 0; i < top->tiers; i++) {
		if (!tier[i].gbps || !tier[i].radix_down || !tier[i].latency_ns)
			return text_fail(t, "tier %u has no speed, latency or Radix_Down", i);
		if (i < top_tier && !tier[i].radix_up)
			return text_fail(t, "tier %u has no Radix_Up", i);
	}
	if (top->hosts % top->podsize || top->podsize % tier[0].radix_down)
		return text_fail(t, "Podsize does not divide Nodes, or Radix_Down not Podsize");
	if (top->tiers == 2 && top->podsize != top->hosts)
		return text_fail(t, "with two tiers Podsize is the number of Nodes");
	if (tier[1].radix_down != leaves_of_pod(top))
		return text_fail(t, "Radix_Down of tier 1 is not %u, the leaves of a pod",
				 leaves_of_pod(top));
	if (top->tiers == 3 && tier[2].radix_down != pods(top))
		return text_fail(t, "Radix_Down of tier 2 is not %u, the pods", pods(top));
	return true;
}

bool topology_read(struct topology *top, struct text *t)
{
	struct topology_tier *tier = NULL;

	memset(top, 0, sizeof(*top));
	while (text_line(t)) {
		text_word(t);
		if (!read_line(top, &tier, t))
			return false;
		if (text_word(t))
			return text_fail(t, "'%s' is one word too many", t->word);
	}
	if (!is_whole(top, t))
		return false;
	number_links(top);
	return true;
}

/* the greatest power of two whose square, or cube, is not more */
static u32 root(u32 n, u32 power)
{
	u32 r = 1;

	while ((power == 2 ? 4 * r * r : 8 * r * r * r) <= n)
		r *= 2;
	return r;
}

void topology_make(struct topology *top, u32 tiers, u32 hosts, u32 gbps)
{
	u32 leaf = tiers == 3 ? root(hosts, 3) : root(hosts, 2), i;

	memset(top, 0, sizeof(*top));
	top->hosts = hosts;
	top->tiers = tiers;
	top->podsize = tiers == 3 ? leaf * leaf : hosts;
	for (i = 0; i < tiers; i++)
		top->tier[i] = (struct topology_tier){ .gbps = gbps, .radix_down = leaf,
						       .radix_up = leaf, .latency_ns = LATENCY_NS };
	top->tier[1].radix_down = leaves_of_pod(top);
	if (tiers == 3)
		top->tier[2].radix_down = pods(top);
	top->tier[tiers - 1].radix_up = 0;
	number_links(top);
}

void topology_write(const struct topology *top, const char *file)
{
	FILE *f = fopen(file, "w");
	u32 i;

	if (!f) {
		perror(file);
		return;
	}
	fprintf(f, "Nodes %u\nTiers %u\nPodsize %u\n", top->hosts, top->tiers, top->podsize);
	for (i = 0; i < top->tiers; i++) {
		const struct topology_tier *tier = &top->tier[i];

		fprintf(f, "\nTier %u\nDownlink_speed_Gbps %u\nRadix_Down %u\n", i, tier->gbps,
			tier->radix_down);
		if (tier->radix_up)
			fprintf(f, "Radix_Up %u\n", tier->radix_up);
		fprintf(f, "Downlink_Latency_ns %u\nSwitch_Latency_ns %u\n", tier->latency_ns,
			tier->switch_ns);
	}
	fclose(f);
}

static u32 leaf_of(const struct topology *top, u32 host)
{
	return host / top->tier[0].radix_down;
}

u32 topology_choices(const struct topology *top, u32 from, u32 to)
{
	if (leaf_of(top, from) == leaf_of(top, to))
		return 1;
	if (from / top->podsize == to / top->podsize)
		return top->tier[0].radix_up;
	return top->tier[0].radix_up * top->tier[1].radix_up;
}

u32 topology_route(const struct topology *top, u32 from, u32 to, u32 choice, u32 *link)
{
	const struct topology_tier *tier = top->tier;
	u32 radix = tier[0].radix_up, u = choice % radix, v = choice / radix, n = 0;
	u32 leaf = leaf_of(top, from), pod = from / top->podsize;
	u32 to_leaf = leaf_of(top, to), to_pod = to / top->podsize;

	link[n++] = from;
	if (leaf != to_leaf) {
		link[n++] = tier[1].first + leaf * radix + u;
		if (pod != to_pod) {
			u32 up = tier[1].radix_up;

			link[n++] = tier[2].first + (pod * radix + u) * up + v;
			link[n++] = top->links + tier[2].first + (to_pod * radix + u) * up + v;
		}
		link[n++] = top->links + tier[1].first + to_leaf * radix + u;
	}
	link[n++] = top->links + to;
	return n;
}

u32 topology_level(const struct topology *top, u32 link)
{
	u32 up = link % top->links;

	if (up < top->tier[1].first)
		return 0;
	return up < top->tier[2].first ? 1 : 2;
}
