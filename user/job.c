// SPDX-License-Identifier: GPL-2.0
/* Jobs: cgroups that have queue pairs, and the pattern that their traffic makes. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "commands.h"
#include "owner.h"
#include "policy/state.h"
#include "rows.h"
#include "units.h"

#define SILENT_WINDOWS 3
#define PEERS_NAMED 3		/* in the table */

static const char *const patterns[] = {
	[RP_PATTERN_UNKNOWN] = "unknown", [RP_PATTERN_IDLE] = "idle",
	[RP_PATTERN_POINT_TO_POINT] = "point-to-point", [RP_PATTERN_RING] = "ring",
	[RP_PATTERN_TREE] = "tree", [RP_PATTERN_ALL_TO_ALL] = "all-to-all",
	[RP_PATTERN_INCAST] = "incast", [RP_PATTERN_BROADCAST] = "broadcast",
};

_Static_assert(ARRAY_SIZE(patterns) == RP_PATTERNS, "each pattern has a name");

/* the path is with each of its QPs */
static void find_cgroup(const struct rp_maps *maps, u64 cgroup_id, char *cgroup)
{
	int fd = maps->fd[RP_MAP_QPS];
	struct rp_qp_key key;
	bool first = true;
	struct rp_qp qp;

	*cgroup = '\0';
	for (; !bpf_map_get_next_key(fd, first ? NULL : &key, &key); first = false)
		if (!bpf_map_lookup_elem(fd, &key, &qp) &&
		    qp.cgroup_id == cgroup_id) {
			snprintf(cgroup, RP_CGROUP_LEN, "%s", qp.cgroup);
			return;
		}
}

static u64 exchanged(const struct rp_job_peer *peer)
{
	return peer->tx_bytes + peer->rx_bytes;
}

/* the most first */
static int compare_peers(const void *a, const void *b)
{
	u64 of_x = exchanged(a), of_y = exchanged(b);

	return of_x < of_y ? 1 : of_x > of_y ? -1 : 0;
}

/* Return: how many, those without traffic among them. */
static unsigned int sort_peers(struct rp_job *job)
{
	unsigned int count = min(job->peer_count, RP_JOB_PEERS_MAX);

	qsort(job->peer, count, sizeof(*job->peer), compare_peers);
	return count;
}

static void print_totals(struct rp_rows *rows, const struct rp_job *job, unsigned int peers)
{
	u64 tx = 0, rx = 0;

	for (unsigned int i = 0; i < peers; i++) {
		tx += job->peer[i].tx_bytes;
		rx += job->peer[i].rx_bytes;
	}
	rp_row_number(rows, tx, NULL);
	rp_row_number(rows, rx, NULL);
}

/* "10.0.0.2 10.0.0.3 10.0.0.4, 5 more" */
static void name_peers(const struct rp_job *job, unsigned int peers, FILE *out)
{
	char address[RP_TEXT_LEN];
	unsigned int named;

	while (peers && !exchanged(&job->peer[peers - 1]))
		peers--;
	named = min(peers, PEERS_NAMED);
	for (unsigned int i = 0; i < named; i++) {
		rp_address_print(job->peer[i].address.bytes, address);
		fprintf(out, "%s%s", i ? " " : "", address);
	}
	if (peers > named)
		fprintf(out, ", %u more", peers - named);
}

static void list_peers(const struct rp_job *job, unsigned int peers, struct rp_json *json)
{
	char address[RP_TEXT_LEN];

	for (unsigned int i = 0; i < peers; i++) {
		const struct rp_job_peer *peer = &job->peer[i];

		rp_address_print(peer->address.bytes, address);
		rp_json_open(json, NULL, '{');
		rp_json_string(json, "address", address);
		rp_json_number(json, "window_tx_bytes", peer->window_tx_bytes);
		rp_json_number(json, "window_rx_bytes", peer->window_rx_bytes);
		rp_json_number(json, "tx_bytes", peer->tx_bytes);
		rp_json_number(json, "rx_bytes", peer->rx_bytes);
		rp_json_number(json, "tx_messages", peer->tx_messages);
		rp_json_number(json, "rx_messages", peer->rx_messages);
		rp_json_close(json, '}');
	}
	rp_json_close(json, ']');
}

static void print_peers(struct rp_rows *rows, const struct rp_job *job, unsigned int peers)
{
	char text[PEERS_NAMED * RP_TEXT_LEN + 32] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct rp_json *json;

	if (out) {
		name_peers(job, peers, out);
		fclose(out);
	}
	json = rp_row_list(rows, text);
	if (json)
		list_peers(job, peers, json);
}

/* nobody closes the windows of a job that is silent */
static const char *pattern_of(const struct rp_job *job, u64 window_ns)
{
	struct timespec now;
	u64 now_ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
	if (job->message_ns && window_ns && now_ns > job->message_ns + SILENT_WINDOWS * window_ns)
		return patterns[RP_PATTERN_IDLE];
	return job->pattern < RP_PATTERNS ? patterns[job->pattern] : "other";
}

static void print_job(struct rp_rows *rows, const struct rp_maps *maps, struct rp_job *job,
		      u64 window_ns)
{
	char cgroup[RP_CGROUP_LEN], text[RP_OWNER_LEN];
	struct rp_owner owner;
	unsigned int peers = sort_peers(job);
	const char *name;

	find_cgroup(maps, job->cgroup_id, cgroup);
	rp_owner_find(cgroup, &owner);
	name = rp_owner_name(&owner, cgroup, text);
	rp_row_begin(rows);
	rp_row_text(rows, *name ? name : NULL);
	rp_row_number(rows, job->cgroup_id, NULL);
	rp_row_text(rows, *cgroup ? cgroup : NULL);
	rp_row_text(rows, *owner.unit ? owner.unit : NULL);
	rp_row_text(rows, *owner.container ? owner.container : NULL);
	rp_row_text(rows, *owner.job ? owner.job : NULL);
	rp_row_number(rows, job->qps, NULL);
	rp_row_text(rows, pattern_of(job, window_ns));
	rp_row_number(rows, job->last.tx_peers, NULL);
	rp_row_number(rows, job->last.rx_peers, NULL);
	rp_row_number(rows, job->last.tx_bytes, NULL);
	rp_row_number(rows, job->last.rx_bytes, NULL);
	rp_row_number(rows, job->last.tx_messages, NULL);
	rp_row_number(rows, job->last.rx_messages, NULL);
	rp_row_number(rows, job->last.tx_bursts, NULL);
	rp_row_number(rows, job->last.echoes, NULL);
	rp_row_number(rows, job->last.gaps, NULL);
	rp_row_number(rows, job->message_bytes, NULL);
	print_totals(rows, job, peers);
	print_peers(rows, job, peers);
	rp_row_number(rows, job->windows, NULL);
	rp_row_end(rows);
}

/**
 * rp_job_show() - rocepath job show
 * @cli: this run
 * @args: the command line
 */
int rp_job_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_column columns[] = {
		{ "owner", "JOB", false }, { "cgroup_id", NULL, true }, { "cgroup", NULL, false },
		{ "unit", NULL, false }, { "container", NULL, false }, { "slurm_job", NULL, false },
		{ "qps", "QPS", true }, { "pattern", "PATTERN", false },
		{ "window_tx_peers", "TO", true }, { "window_rx_peers", "FROM", true },
		{ "window_tx_bytes", NULL, true }, { "window_rx_bytes", NULL, true },
		{ "window_tx_messages", NULL, true }, { "window_rx_messages", NULL, true },
		{ "window_tx_bursts", NULL, true }, { "window_echoes", NULL, true },
		{ "window_gaps", NULL, true }, { "message_bytes", "MESSAGE", true },
		{ "tx_bytes", "SENT", true }, { "rx_bytes", "RECEIVED", true },
		{ "peers", "MOST WITH", false }, { "windows", NULL, true }, { 0 },
	};
	struct rp_policy *policy = calloc(1, sizeof(*policy));
	struct rp_job *job = calloc(1, sizeof(*job));
	struct rp_error error;
	struct rp_maps maps;
	struct rp_rows rows;

	(void)args;
	libbpf_set_print(NULL);
	if (!job || !policy || rp_maps_open(&maps, &error)) {
		rp_complain("%s", job && policy ? error.text : "out of memory");
		free(job);
		free(policy);
		return RP_EXIT_FAILURE;
	}
	rp_state_policy(&maps, policy);
	rp_rows_begin(&rows, &cli->format, columns);
	for (u32 i = 0; i < RP_JOBS_MAX; i++)
		if (!bpf_map_lookup_elem(maps.fd[RP_MAP_JOBS], &i, job) && job->qps)
			print_job(&rows, &maps, job, policy->pattern_window_ns);
	rp_rows_end(&rows, "no cgroup has a queue pair");
	rp_maps_close(&maps);
	free(job);
	free(policy);
	return RP_EXIT_OK;
}
