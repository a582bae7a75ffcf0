// SPDX-License-Identifier: GPL-2.0
/*
 * load [--kprobes | --no-census]: load all programs with the maximal policy, print how many
 * instructions the verifier went through for each, one JSON object. --stay: attach the
 * census, and answer each line that is read with "census" and what it knows.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs.h"

static bool is_census(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__name(prog), "census", 6);
}

static bool is_kprobe(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__name(prog), "census_kprobe", 13);
}

static void print_address(const struct rp_address *a)
{
	unsigned int i;

	for (i = 0; i < sizeof(a->bytes); i++)
		printf("%02x", a->bytes[i]);
}

static u64 entries(const struct bpf_map *map)
{
	char key[64], next[64];
	void *at = NULL;
	u64 n = 0;

	for (; !bpf_map_get_next_key(bpf_map__fd(map), at, next); n++) {
		memcpy(key, next, sizeof(key));
		at = key;
	}
	return n;
}

static void print_census(struct rocepath_bpf *skel)
{
	struct rp_qp_key key, *at = NULL, next;
	const char *comma = "";
	struct rp_qp qp;

	printf("census {\"created\":%llu,\"destroyed\":%llu,\"full\":%llu,",
	       (unsigned long long)event_count(skel, RP_EVENT_qp_created),
	       (unsigned long long)event_count(skel, RP_EVENT_qp_destroyed),
	       (unsigned long long)event_count(skel, RP_EVENT_qp_table_full));
	printf("\"qp_tx\":%llu,\"qp_rx\":%llu,\"qps\":[",
	       (unsigned long long)entries(skel->maps.qp_tx),
	       (unsigned long long)entries(skel->maps.qp_rx));
	while (!bpf_map_get_next_key(bpf_map__fd(skel->maps.qps), at, &next)) {
		key = next;
		at = &key;
		if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.qps), &key, &qp))
			continue;
		printf("%s{\"device\":\"%s\",\"qpn\":%u,\"pid\":%u,\"uid\":%u,\"comm\":\"%s\",",
		       comma, qp.device, key.qpn, qp.pid, qp.uid, qp.comm);
		printf("\"cgroup\":\"%s\",\"cgroup_id\":%llu,", qp.cgroup,
		       (unsigned long long)qp.cgroup_id);
		printf("\"type\":%u,\"state\":%u,\"ifindex\":%u,", qp.type, qp.state, qp.ifindex);
		printf("\"remote_qpn\":%u,\"sport\":%u,\"mtu\":%u,", qp.remote_qpn,
		       qp.udp_source_port, qp.path_mtu_bytes);
		printf("\"job\":%u,\"job_peer\":%u,\"remote\":\"", qp.job, qp.job_peer);
		print_address(&qp.remote);
		printf("\"}");
		comma = ",";
	}
	printf("]}\n");
	fflush(stdout);
}

static int attach_census(struct rocepath_bpf *skel)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj) {
		if (!is_census(prog) || !bpf_program__autoload(prog))
			continue;
		if (!bpf_program__attach(prog)) {
			fprintf(stderr, "load: %s: not attached: %s\n", bpf_program__name(prog),
				strerror(errno));
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	bool kprobes = false, census = true, stay = false;
	struct rocepath_bpf *skel = rocepath_bpf__open();
	static struct rp_policy policy;
	struct bpf_program *prog;
	const char *comma = "";
	char *line = NULL;
	size_t size = 0;
	int i, err;

	for (i = 1; i < argc; i++) {
		kprobes |= !strcmp(argv[i], "--kprobes");
		census &= strcmp(argv[i], "--no-census") != 0;
		stay |= !strcmp(argv[i], "--stay");
	}
	if (!skel)
		return 1;
	if (!getenv("ROCEPATH_LIBBPF_LOG"))
		libbpf_set_print(NULL);
	bpf_object__for_each_program(prog, skel->obj)
		if (is_census(prog))
			bpf_program__set_autoload(prog, census && is_kprobe(prog) == kprobes);
	err = rocepath_bpf__load(skel);
	if (err) {
		fprintf(stderr, "load: %s (ROCEPATH_LIBBPF_LOG=1 says more)\n", strerror(-err));
		return 1;
	}
	policy_maximal(&policy);
	policy_set(skel, &policy);
	printf("{");
	bpf_object__for_each_program(prog, skel->obj) {
		struct bpf_prog_info info = {};
		u32 len = sizeof(info);

		if (!bpf_program__autoload(prog))
			continue;
		bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len);
		printf("%s\"%s\":%u", comma, bpf_program__name(prog), info.verified_insns);
		comma = ",";
	}
	printf("}\n");
	fflush(stdout);
	if (!stay)
		return 0;
	if (attach_census(skel))
		return 1;
	printf("attached\n");
	fflush(stdout);
	while (getline(&line, &size, stdin) > 0)
		print_census(skel);
	return 0;
}
