// SPDX-License-Identifier: GPL-2.0
/* What a policy may not say although each of its values is right. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "../units.h"
#include "value.h"

struct checker {
	const struct rp_spec *spec;
	struct rp_report *report;
};

#define complain(c, value, ...) \
	rp_report((c)->report, rp_spec_mark((c)->spec, value), __VA_ARGS__)

static unsigned int line_of(const struct checker *c, const void *value)
{
	const struct rp_mark *mark = rp_spec_mark(c->spec, value);

	return mark ? mark->line : 0;
}

static const char *file_of(const struct checker *c, const void *value)
{
	const struct rp_mark *mark = rp_spec_mark(c->spec, value);

	return mark && mark->source ? mark->source->path : "";
}

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* @name_offset: of the name in each item */
static void check_names(const struct checker *c, const struct rp_list *list, size_t size,
			size_t name_offset, const char *what)
{
	for (unsigned int i = 0; i < list->count; i++) {
		char **name = (void *)((char *)list->items + i * size + name_offset);

		for (unsigned int j = 0; j < i; j++) {
			char **first = (void *)((char *)list->items + j * size + name_offset);

			if (!same(*name, *first))
				continue;
			complain(c, name,
				 "there is a %s '%s' already, in %s:%u: give this one another name",
				 what, *name, file_of(c, first), line_of(c, first));
			break;
		}
	}
}

static const char *class_name(const void *entries, unsigned int i)
{
	const char *name = ((const struct rp_spec_class *)entries)[i].name;

	return name ? name : "";
}

static void check_class_name(const struct checker *c, char *const *name)
{
	const struct rp_list *classes = &c->spec->classes;
	const struct rp_words words = { classes->items, classes->count, class_name };
	struct rp_error error;

	if (!*name || rp_spec_class_index(c->spec, *name) >= 0 ||
	    (!c->spec->default_class && !strcmp(*name, rp_spec_default(c->spec))))
		return;
	if (classes->count)
		rp_words_unknown(&words, "class", *name, &error);
	else
		rp_error_set(&error, "unknown class '%s': there are none; add it under classes:",
			     *name);
	complain(c, name, "%s", error.text);
}

static void check_lower(const struct checker *c, const uint64_t *low, const uint64_t *high,
			const char *what, const char *limit, enum rp_unit unit)
{
	char text[RP_TEXT_LEN];

	if (*low <= *high)
		return;
	rp_unit_print(unit, *high, text);
	complain(c, low, "%s is above %s: write at most %s", what, limit, text);
}

static void check_other_dscps(const struct checker *c, const struct rp_spec_class *class)
{
	static const char why[] = "%s without dscp: say what data packets get, such as dscp: 26";

	if (rp_given(class, RP_KEY_CLASS_ACK_DSCP))
		complain(c, &class->ack_dscp, why, "ack-dscp");
	if (rp_given(class, RP_KEY_CLASS_CNP_DSCP))
		complain(c, &class->cnp_dscp, why, "cnp-dscp");
	if (rp_given(class, RP_KEY_CLASS_MANAGEMENT_DSCP))
		complain(c, &class->management_dscp, why, "management-dscp");
}

static void check_exempt(const struct checker *c, const struct rp_spec_class *class)
{
	uint64_t others = class->given >> RP_KEY_CLASS_RDMA &
			  ~(1ull << (RP_KEY_CLASS_EXEMPT - RP_KEY_CLASS_RDMA)) &
			  ~(1ull << (RP_KEY_CLASS_ON_FAILURE - RP_KEY_CLASS_RDMA));

	if (class->exempt && others)
		complain(c, &class->exempt,
			 "with exempt: on its QPs get nothing of the rest: take one of the two out");
}

static void check_class(const struct checker *c, const struct rp_spec_class *class)
{
	const struct rp_spec_pacing *all = &c->spec->pacing;

	if (rp_given(class, RP_KEY_CLASS_BURST) && !rp_given(class, RP_KEY_CLASS_RATE))
		complain(c, &class->burst, "burst without rate does nothing: add rate: 40Gbit");
	if (rp_given(class, RP_KEY_CLASS_QP_BURST) && !rp_given(class, RP_KEY_CLASS_QP_RATE))
		complain(c, &class->qp_burst,
			 "qp-burst without qp-rate does nothing: add qp-rate: 10Gbit");
	if (rp_given(class, RP_KEY_CLASS_RATE) && rp_given(class, RP_KEY_CLASS_QP_RATE))
		check_lower(c, &class->qp_rate, &class->rate, "qp-rate", "the rate of the class",
			    RP_UNIT_RATE);
	if (rp_given(class, RP_KEY_CLASS_RATE) && rp_given(all, RP_KEY_PACING_RATE))
		check_lower(c, &class->rate, &all->rate, "rate", "the rate of pacing",
			    RP_UNIT_RATE);
	else if (rp_given(class, RP_KEY_CLASS_QP_RATE) && rp_given(all, RP_KEY_PACING_RATE))
		check_lower(c, &class->qp_rate, &all->rate, "qp-rate", "the rate of pacing",
			    RP_UNIT_RATE);
	if (!rp_given(class, RP_KEY_CLASS_DSCP))
		check_other_dscps(c, class);
	check_exempt(c, class);
	if (class->dcqcn && !class->ecn)
		complain(c, &class->dcqcn,
			 "dcqcn without ecn: switches mark nothing, and no rate moves: add ecn: on");
}

static void check_match(const struct checker *c, const struct rp_spec_match *match)
{
	/* of the opcodes only send, write and read have a message */
	static const uint64_t messages = 7;

	if (rp_given(match, RP_KEY_MATCH_CGROUP) && rp_given(match, RP_KEY_MATCH_UNIT))
		complain(c, &match->unit, "a unit is a cgroup as well: take one of the two out");
	if (match->cgroup && *match->cgroup != '/' && *match->cgroup != '*')
		complain(c, &match->cgroup,
			 "a cgroup path begins with '/', or with '*': write '*/%s'",
			 match->cgroup);
	if (match->unit && strchr(match->unit, '/'))
		complain(c, &match->unit, "a unit has no '/': for a path write cgroup: '%s'",
			 match->unit);
	if (rp_given(match, RP_KEY_MATCH_MESSAGE_MIN) && rp_given(match, RP_KEY_MATCH_MESSAGE_MAX))
		check_lower(c, &match->message_min, &match->message_max, "message-min",
			    "message-max", RP_UNIT_BYTES);
	if ((rp_given(match, RP_KEY_MATCH_MESSAGE_MIN) ||
	     rp_given(match, RP_KEY_MATCH_MESSAGE_MAX)) &&
	    rp_given(match, RP_KEY_MATCH_OPCODE) && match->opcodes & ~messages)
		complain(c, &match->opcodes,
			 "only send, write and read have a message size: take the others into a rule of their own");
}

static bool matches_all(const struct rp_spec_rule *rule)
{
	return !rule->match.given;
}

/* different message sizes; programs look them up in a table of that length */
struct sizes {
	uint64_t bounds[RP_SPEC_SIZES_MAX];
	unsigned int count;
};

static void check_size(const struct checker *c, struct sizes *sizes, const uint64_t *value,
		       uint64_t bound)
{
	if (!bound)
		return;
	for (unsigned int i = 0; i < sizes->count; i++)
		if (sizes->bounds[i] == bound)
			return;
	if (sizes->count == RP_SPEC_SIZES_MAX)
		complain(c, value, "the rules have more than %d different message sizes: use fewer",
			 RP_SPEC_SIZES_MAX);
	else
		sizes->bounds[sizes->count++] = bound;
}

static void check_sizes(const struct checker *c)
{
	struct sizes sizes = { .count = 0 };

	for (unsigned int i = 0; i < c->spec->rules.count; i++) {
		const struct rp_spec_match *match = &rp_spec_rule_at(c->spec, i)->match;

		if (rp_given(match, RP_KEY_MATCH_MESSAGE_MIN))
			check_size(c, &sizes, &match->message_min, match->message_min);
		if (rp_given(match, RP_KEY_MATCH_MESSAGE_MAX))
			check_size(c, &sizes, &match->message_max, match->message_max + 1);
	}
}

static void check_rules(const struct checker *c)
{
	const struct rp_spec_rule *all = NULL;
	unsigned int rows = 0;

	for (unsigned int i = 0; i < c->spec->rules.count; i++) {
		const struct rp_spec_rule *rule = rp_spec_rule_at(c->spec, i);

		check_class_name(c, &rule->class);
		check_match(c, &rule->match);
		rows += rp_given(&rule->match, RP_KEY_MATCH_UNIT) ? 2 : 1;
		if (rows > RP_SPEC_RULES_MAX) {
			complain(c, rule,
				 "there are more than %d rules, those with a unit counted twice: use globs, or cgroup instead of unit",
				 RP_SPEC_RULES_MAX);
			break;
		}
		if (all) {
			complain(c, &rule->name,
				 "rule '%s' is never reached: '%s' in %s:%u matches everything; move it up",
				 rule->name ? rule->name : "", all->name ? all->name : "",
				 file_of(c, &all->name), line_of(c, &all->name));
			break;
		}
		if (matches_all(rule))
			all = rule;
	}
}

static void check_pacing(const struct checker *c)
{
	const struct rp_spec_pacing *all = &c->spec->pacing;

	if (rp_given(all, RP_KEY_PACING_BURST) && !rp_given(all, RP_KEY_PACING_RATE))
		complain(c, &all->burst, "burst without rate does nothing: add rate: 400Gbit");
}

static void check_dcqcn(const struct checker *c)
{
	const struct rp_spec_dcqcn *d = &c->spec->dcqcn;

	if (rp_given(d, RP_KEY_DCQCN_MIN_RATE) && d->rpg_max_rate)
		check_lower(c, &d->rpg_min_rate, &d->rpg_max_rate, "rpg_min_rate", "rpg_max_rate",
			    RP_UNIT_RATE);
	if (rp_given(d, RP_KEY_DCQCN_AI_RATE) && rp_given(d, RP_KEY_DCQCN_HAI_RATE))
		check_lower(c, &d->rpg_ai_rate, &d->rpg_hai_rate, "rpg_ai_rate", "rpg_hai_rate",
			    RP_UNIT_RATE);
}

static void check_peers(const struct checker *c)
{
	const struct rp_spec_admit *admit = &c->spec->admit;
	const struct rp_prefix *peers = admit->peers.items;
	char text[RP_TEXT_LEN];

	if (rp_given(admit, RP_KEY_ADMIT_PEERS) && !admit->peers.count)
		complain(c, &admit->peers,
			 "peers is empty, nobody would be heard: write prefixes, or leave the key out");
	if (rp_given(admit, RP_KEY_ADMIT_UNKNOWN_PEER) && admit->unknown_peer == RP_VERDICT_DROP &&
	    !admit->peers.count && !rp_given(admit, RP_KEY_ADMIT_PEERS))
		complain(c, &admit->unknown_peer,
			 "without peers all are unknown: add peers: [10.0.0.0/16]");
	for (unsigned int i = 0; i < admit->peers.count; i++)
		for (unsigned int j = 0; j < i; j++)
			if (!memcmp(&peers[i], &peers[j], sizeof(*peers))) {
				rp_prefix_print(&peers[i], text);
				complain(c, &peers[i],
					 "%s is given already, in %s:%u: take one of them out",
					 text, file_of(c, &peers[j]), line_of(c, &peers[j]));
				break;
			}
}

/* the netdevices that were named, and what as */
struct named {
	char *const *name;
	const char *what;
};

static void check_named(const struct checker *c, struct named *seen, unsigned int *count,
			char *const *name, const char *what)
{
	for (unsigned int i = 0; i < *count; i++)
		if (same(*name, *seen[i].name)) {
			complain(c, name, "%s is %s already, in %s:%u: take one of them out", *name,
				 seen[i].what, file_of(c, seen[i].name), line_of(c, seen[i].name));
			return;
		}
	if (*name)
		seen[(*count)++] = (struct named){ name, what };
}

static void check_address(const struct checker *c, char *const *address)
{
	uint8_t bytes[16];
	char text[64], *slash;
	uint64_t length = 0;
	int family;

	if (!*address)
		return;
	snprintf(text, sizeof(text), "%s", *address);
	slash = strchr(text, '/');
	if (slash)
		*slash = '\0';
	family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (!slash || inet_pton(family, text, bytes) != 1 ||
	    rp_number_parse(slash + 1, &length, NULL) || length > (family == AF_INET ? 32 : 128))
		complain(c, address,
			 "'%s' is no address with its prefix: write one such as 10.0.0.1/24",
			 *address);
}

static void check_via(const struct checker *c, const struct rp_spec_port *port)
{
	char *const *via = port->via.items;
	unsigned int seen[2] = { 0, 0 };

	for (unsigned int i = 0; i < port->via.count; i++) {
		uint8_t address[RP_ADDRESS_LEN];
		struct rp_error error;

		if (!via[i])
			continue;
		if (rp_address_parse(via[i], address, &error))
			complain(c, &via[i], "via: %s", error.text);
		else if (seen[rp_address_is_ipv4(address)]++)
			complain(c, &via[i],
				 "a port has one gateway for IPv4 and one for IPv6: take one of them out");
	}
}

static void check_evs(const struct checker *c, const struct rp_spec_paths *paths)
{
	char *const *item = paths->evs.items;
	bool seen[RP_EVS_MAX] = { false };

	for (unsigned int i = 0; i < paths->evs.count; i++) {
		uint8_t evs[RP_EVS_MAX];
		struct rp_error error;
		int count = item[i] ? rp_evs_parse(item[i], evs, &error) : 0;

		if (count < 0)
			complain(c, &item[i], "evs: %s", error.text);
		for (int j = 0; j < count; j++) {
			if (seen[evs[j]]) {
				complain(c, &item[i], "evs has %u twice: take one out", evs[j]);
				break;
			}
			seen[evs[j]] = true;
		}
	}
	if (rp_given(paths, RP_KEY_PATHS_EVS) && !paths->evs.count)
		complain(c, &paths->evs,
			 "evs is empty: write some such as [3, 7, 16-31], or leave the peer out");
}

static bool same_peer(const char *a, const char *b)
{
	uint8_t one[RP_ADDRESS_LEN], other[RP_ADDRESS_LEN];

	return a && b && !rp_address_parse(a, one, NULL) && !rp_address_parse(b, other, NULL) &&
	       !memcmp(one, other, sizeof(one));
}

static void check_paths(const struct checker *c, const struct rp_spec_port *port)
{
	const struct rp_spec_paths *paths = port->paths.items;

	for (unsigned int i = 0; i < port->paths.count; i++) {
		uint8_t address[RP_ADDRESS_LEN];
		struct rp_error error;

		if (paths[i].peer && rp_address_parse(paths[i].peer, address, &error))
			complain(c, &paths[i].peer, "peer: %s", error.text);
		for (unsigned int j = 0; j < i; j++)
			if (same_peer(paths[i].peer, paths[j].peer)) {
				complain(c, &paths[i].peer,
					 "the paths to %s are given already, in %s:%u: take one of them out",
					 paths[i].peer, file_of(c, &paths[j].peer),
					 line_of(c, &paths[j].peer));
				break;
			}
		check_evs(c, &paths[i]);
	}
}

static void check_device(const struct checker *c, const struct rp_spec_device *device,
			 struct named *seen, unsigned int *count)
{
	const struct rp_spec_port *ports = device->ports.items;

	check_named(c, seen, count, &device->name, "a device");
	for (unsigned int i = 0; i < device->ports.count; i++) {
		check_named(c, seen, count, &ports[i].name, "a port");
		check_via(c, &ports[i]);
		check_paths(c, &ports[i]);
	}
	for (unsigned int i = 0; i < device->addresses.count; i++)
		check_address(c, (char *const *)device->addresses.items + i);
	if (rp_given(device, RP_KEY_DEVICE_GAP_FLOOR) &&
	    rp_given(device, RP_KEY_DEVICE_GAP_CEILING))
		check_lower(c, &device->gap_floor, &device->gap_ceiling, "gap-floor", "gap-ceiling",
			    RP_UNIT_US);
	if (rp_given(device, RP_KEY_DEVICE_HOLDDOWN) &&
	    rp_given(device, RP_KEY_DEVICE_HOLDDOWN_MAX))
		check_lower(c, &device->holddown, &device->holddown_max, "holddown", "holddown-max",
			    RP_UNIT_MS);
	if (rp_given(device, RP_KEY_DEVICE_REPAIR_FLOW_BYTES) &&
	    rp_given(device, RP_KEY_DEVICE_REPAIR_BYTES))
		check_lower(c, &device->repair_flow_bytes, &device->repair_bytes,
			    "repair-flow-bytes", "repair-bytes", RP_UNIT_BYTES);
	if (device->key.file && *device->key.file != '/')
		complain(c, &device->key.file,
			 "secret-file must be an absolute path: write /etc/rocepath/%s",
			 device->key.file);
}

#define NAMED_MAX (16 * (1 + 32) + 64)

static void check_interfaces(const struct checker *c)
{
	const struct rp_spec *spec = c->spec;
	char *const *interfaces = spec->interfaces.items;
	struct named seen[NAMED_MAX];
	unsigned int count = 0;

	for (unsigned int i = 0; i < spec->devices.count; i++)
		check_device(c, rp_spec_device_at(spec, i), seen, &count);
	for (unsigned int i = 0; i < spec->interfaces.count; i++)
		check_named(c, seen, &count, &interfaces[i], "named");
}

static bool is_contiguous(uint64_t mask)
{
	return !(mask & (mask + (mask & -mask)));
}

static void check_mask(const struct checker *c)
{
	const struct rp_spec *spec = c->spec;
	unsigned int classes = spec->classes.count + !spec->default_class;

	if (rp_given(spec, RP_KEY_POLICY_MARK_MASK) && spec->mark_mask) {
		if (!is_contiguous(spec->mark_mask))
			complain(c, &spec->mark_mask,
				 "the bits of a mark mask must be next to each other: write one such as 0x3f00");
		else if (classes > 1u << __builtin_popcountll(spec->mark_mask) &&
			 __builtin_popcountll(spec->mark_mask) < 16)
			complain(c, &spec->mark_mask,
				 "mark-mask has %d bits, too few for %u classes: write one such as 0x3f00",
				 __builtin_popcountll(spec->mark_mask), classes);
	}
	for (unsigned int i = 0; i < spec->devices.count; i++) {
		const struct rp_spec_device *device = rp_spec_device_at(spec, i);

		if (rp_given(device, RP_KEY_DEVICE_MARK_MASK) &&
		    rp_given(spec, RP_KEY_POLICY_MARK_MASK) && device->mark_mask != spec->mark_mask)
			complain(c, &device->mark_mask,
				 "mark-mask differs from that of the policy, 0x%x: leave it out here",
				 (unsigned int)spec->mark_mask);
	}
}

static void check_rdma(const struct checker *c)
{
	const struct rp_spec_rdma *rdma = &c->spec->rdma;

	check_names(c, &rdma->devices, sizeof(struct rp_spec_rdma_device),
		    offsetof(struct rp_spec_rdma_device, name), "RDMA device");
	if (rdma->set.steering && rdma->set.exempt)
		complain(c, &rdma->set.exempt,
			 "with exempt: on nothing is steered: take one of the two out");
	if (rdma->key.file && *rdma->key.file != '/')
		complain(c, &rdma->key.file,
			 "secret-file must be an absolute path: write /etc/rocepath/%s",
			 rdma->key.file);
}

/**
 * rp_spec_check() - find what a policy may not say
 * @spec: one that was read without complaints
 * @report: where complaints go
 */
void rp_spec_check(const struct rp_spec *spec, struct rp_report *report)
{
	const struct checker c = { spec, report };

	if (spec->version != RP_SPEC_VERSION)
		complain(&c, &spec->version,
			 "version %" PRIu64 " is not known: this tool knows version %d",
			 spec->version, RP_SPEC_VERSION);
	check_names(&c, &spec->classes, sizeof(struct rp_spec_class),
		    offsetof(struct rp_spec_class, name), "class");
	check_names(&c, &spec->rules, sizeof(struct rp_spec_rule),
		    offsetof(struct rp_spec_rule, name), "rule");
	for (unsigned int i = 0; i < spec->classes.count; i++)
		check_class(&c, rp_spec_class_at(spec, i));
	if (spec->default_class)
		check_class_name(&c, &spec->default_class);
	else if (spec->classes.count == RP_SPEC_CLASSES_MAX &&
		 rp_spec_class_index(spec, rp_spec_default(spec)) < 0)
		complain(&c, &spec->classes,
			 "with %d classes there is no room for another one: say which is the default-class",
			 RP_SPEC_CLASSES_MAX);
	check_rules(&c);
	check_sizes(&c);
	check_pacing(&c);
	check_dcqcn(&c);
	check_peers(&c);
	check_interfaces(&c);
	check_mask(&c);
	check_rdma(&c);
}
