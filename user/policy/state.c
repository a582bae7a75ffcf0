// SPDX-License-Identifier: GPL-2.0
/*
 * A policy is prepared beside the one in force: its text, its peers under its own
 * generation, and an inner map of its own. Then one update of the outer map makes
 * it the one that packets see.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "load.h"
#include "state.h"

#define GENERATION_BITS 32	/* of it, in front of a peer's address */
#define MAPPED_BITS 96

static int failed(const char *what, struct rp_error *error)
{
	int err = -errno;

	rp_error_set(error, "%s: %s", what, strerror(-err));
	return err;
}

/**
 * rp_state_policy() - read the policy in force
 * @maps: the maps
 * @policy: where it goes
 *
 * Return: 0; -ENOENT: there is none; -ESTALE: it is another version's; or another negative error
 * number.
 */
int rp_state_policy(const struct rp_maps *maps, struct rp_policy *policy)
{
	int fd = rp_map_inner(maps), err;
	u32 zero = 0;

	if (fd < 0)
		return fd;
	err = bpf_map_lookup_elem(fd, &zero, policy) ? -errno : 0;
	close(fd);
	return err || policy->version == RP_POLICY_VERSION ? err : -ESTALE;
}

static struct rp_spec *parse(const struct rp_document *document)
{
	if (!document->generation || document->len > sizeof(document->text))
		return NULL;
	return rp_spec_parse("<in force>", document->text, document->len);
}

/**
 * rp_state_spec() - read what a policy was made from
 * @maps: the maps
 * @generation: of the policy
 *
 * Return: the policy as its files said it, or NULL.
 */
struct rp_spec *rp_state_spec(const struct rp_maps *maps, uint64_t generation)
{
	struct rp_document *document = malloc(sizeof(*document));
	struct rp_spec *spec = NULL;
	u32 slot = generation % 2;

	if (document && !bpf_map_lookup_elem(maps->fd[RP_MAP_DOCUMENTS], &slot, document) &&
	    document->generation == generation)
		spec = parse(document);
	free(document);
	return spec;
}

/**
 * rp_state_latest() - read the newest policy of another version, whose maps cannot be read
 * @documents: its map of texts
 *
 * Return: the policy as its files said it, or NULL.
 */
struct rp_spec *rp_state_latest(int documents)
{
	struct rp_document *document = calloc(2, sizeof(*document));
	struct rp_spec *spec = NULL;

	for (u32 slot = 0; document && slot < 2; slot++)
		bpf_map_lookup_elem(documents, &slot, &document[slot]);
	if (document)
		spec = parse(&document[document[1].generation > document[0].generation]);
	free(document);
	return spec;
}

static int write_document(const struct rp_maps *maps, const char *text, uint64_t generation,
			  struct rp_error *error)
{
	struct rp_document *document = calloc(1, sizeof(*document));
	u32 slot = generation % 2;
	int err = 0;

	if (!document)
		return failed("the text of the policy", error);
	document->generation = generation;
	document->len = strlen(text);
	if (document->len > sizeof(document->text)) {
		rp_error_set(error, "the policy is longer than %zu KiB: use prefixes and globs",
			     sizeof(document->text) >> 10);
		err = -E2BIG;
	} else {
		memcpy(document->text, text, document->len);
		if (bpf_map_update_elem(maps->fd[RP_MAP_DOCUMENTS], &slot, document, BPF_ANY))
			err = failed("the text of the policy", error);
	}
	free(document);
	return err;
}

static int write_peer(const struct rp_maps *maps, const struct rp_prefix *prefix,
		      uint64_t generation)
{
	static const struct rp_peer peer = { .action = RP_ACTION_PASS };
	struct rp_peer4_key key4 = { .generation = generation };
	struct rp_peer6_key key6 = { .generation = generation };

	/* ::/0 and the like hold all of IPv4, which no prefix of mapped addresses would say */
	if (prefix->length >= MAPPED_BITS && !memcmp(prefix->address + 10, "\xff\xff", 2)) {
		key4.prefix_bits = GENERATION_BITS + prefix->length - MAPPED_BITS;
		memcpy(key4.address, prefix->address + 12, sizeof(key4.address));
		return bpf_map_update_elem(maps->fd[RP_MAP_PEERS4], &key4, &peer, BPF_ANY);
	}
	key6.prefix_bits = GENERATION_BITS + prefix->length;
	memcpy(key6.address, prefix->address, sizeof(key6.address));
	return bpf_map_update_elem(maps->fd[RP_MAP_PEERS6], &key6, &peer, BPF_ANY);
}

static int write_peers(const struct rp_maps *maps, const struct rp_spec *spec,
		       uint64_t generation, struct rp_error *error)
{
	const struct rp_prefix *peers = spec->admit.peers.items;

	for (unsigned int i = 0; i < spec->admit.peers.count; i++)
		if (write_peer(maps, &peers[i], generation))
			return failed("the peers of the policy", error);
	return 0;
}

/* with the types, so that bpftool prints names */
static int make_inner(const struct rp_maps *maps)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	struct bpf_map_info info = { 0 };
	u32 len = sizeof(info);
	struct btf *btf = NULL;
	int fd;

	if (!bpf_obj_get_info_by_fd(maps->fd[RP_MAP_DOCUMENTS], &info, &len) && info.btf_id)
		btf = btf__load_from_kernel_by_id(info.btf_id);
	if (btf) {
		int value = btf__find_by_name_kind(btf, "rp_policy", BTF_KIND_STRUCT);

		if (value > 0) {
			opts.btf_fd = bpf_btf_get_fd_by_id(info.btf_id);
			opts.btf_key_type_id = info.btf_key_type_id;
			opts.btf_value_type_id = value;
		}
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rp_policy", sizeof(u32),
			    sizeof(struct rp_policy), 1, &opts);
	if (opts.btf_fd > 0)
		close(opts.btf_fd);
	btf__free(btf);
	return fd;
}

/**
 * rp_state_prepare() - write all that a policy needs, without making it seen
 * @maps: the maps
 * @spec: what it was made from
 * @text: the same, as its files said it
 * @policy: the policy, with its generation
 * @error: why not
 *
 * Return: the inner map for rp_state_switch(), or a negative error number.
 */
int rp_state_prepare(const struct rp_maps *maps, const struct rp_spec *spec, const char *text,
		     const struct rp_policy *policy, struct rp_error *error)
{
	u32 zero = 0;
	int fd, err;

	/* who was killed may have left some */
	rp_state_forget(maps, policy->generation - 1);
	err = write_document(maps, text, policy->generation, error);
	if (!err)
		err = write_peers(maps, spec, policy->generation, error);
	if (err)
		return err;
	fd = make_inner(maps);
	if (fd < 0)
		return failed("the map of the policy", error);
	if (!bpf_map_update_elem(fd, &zero, policy, BPF_ANY))
		return fd;
	err = failed("the map of the policy", error);
	close(fd);
	return err;
}

/**
 * rp_state_switch() - make a policy the one in force
 * @maps: the maps
 * @inner: from rp_state_prepare()
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_state_switch(const struct rp_maps *maps, int inner, struct rp_error *error)
{
	u32 zero = 0;

	if (bpf_map_update_elem(maps->fd[RP_MAP_POLICY], &zero, &inner, BPF_ANY))
		return failed("the switch to the new policy", error);
	return 0;
}

static void clear(int fd, u32 key, size_t size)
{
	int cpus = libbpf_num_possible_cpus();
	void *zeros = cpus > 0 ? calloc(cpus, (size + 7) & ~7ul) : NULL;

	if (zeros)
		bpf_map_update_elem(fd, &key, zeros, BPF_ANY);
	free(zeros);
}

static const char *rule_name(const struct rp_policy *policy, u32 number)
{
	for (u32 i = 0; i < policy->rule_count; i++)
		if (policy->rule[i].number == number)
			return policy->rule[i].name;
	return "";
}

/**
 * rp_state_begin_counts() - classes and rules that are new begin at 0
 * @maps: the maps
 * @old: the policy before; zeros: there was none
 * @policy: the policy in force
 *
 * They may have the number of one that is no more.
 */
void rp_state_begin_counts(const struct rp_maps *maps, const struct rp_policy *old,
			   const struct rp_policy *policy)
{
	for (u32 i = 0; i < RP_CLASSES_MAX; i++) {
		if (!strcmp(old->class[i].name, policy->class[i].name))
			continue;
		clear(maps->fd[RP_MAP_CLASS_COUNTERS], i, sizeof(struct rp_counter));
		clear(maps->fd[RP_MAP_PACERS], i, sizeof(struct rp_pacer));
	}
	for (u32 i = 0; i < RP_RULES_MAX; i++)
		if (strcmp(rule_name(old, i), rule_name(policy, i)))
			clear(maps->fd[RP_MAP_RULE_COUNTERS], i, sizeof(struct rp_counter));
}

/* @size: of a key; the generation stands behind its length. A walk does not survive deletions */
static void forget_peers(int fd, uint32_t kept, size_t size)
{
	char *keys = calloc(RP_PEERS_MAX + 1, size);
	unsigned int count = 0;
	const char *last = NULL;

	while (keys && count < RP_PEERS_MAX &&
	       !bpf_map_get_next_key(fd, last, keys + count * size)) {
		last = keys + count * size;
		count++;
	}
	for (unsigned int i = 0; i < count; i++)
		if (((struct rp_peer4_key *)(keys + i * size))->generation != kept)
			bpf_map_delete_elem(fd, keys + i * size);
	free(keys);
}

/**
 * rp_state_forget() - remove the peers of all policies but the one in force
 * @maps: the maps
 * @kept: the generation of that
 */
void rp_state_forget(const struct rp_maps *maps, uint64_t kept)
{
	forget_peers(maps->fd[RP_MAP_PEERS4], kept, sizeof(struct rp_peer4_key));
	forget_peers(maps->fd[RP_MAP_PEERS6], kept, sizeof(struct rp_peer6_key));
}
