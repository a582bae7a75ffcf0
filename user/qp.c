// SPDX-License-Identifier: GPL-2.0
/*
 * The census: queue pairs, whose they are, and how fast they may send. Where the module
 * for RDMA devices is loaded, what it has set in them; and those that only it knows.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "commands.h"
#include "limit.h"
#include "owner.h"
#include "policy/state.h"
#include "rows.h"
#include "steered.h"
#include "units.h"

static const char *const types[] = {
	[RP_QP_SMI] = "SMI", [RP_QP_GSI] = "GSI", [RP_QP_RC] = "RC", [RP_QP_UC] = "UC",
	[RP_QP_UD] = "UD", [RP_QP_RAW_PACKET] = "RAW", [RP_QP_XRC_INI] = "XRC_INI",
	[RP_QP_XRC_TGT] = "XRC_TGT",
};

static const char *const states[] = {
	[RP_QP_RESET] = "RESET", [RP_QP_INIT] = "INIT", [RP_QP_RTR] = "RTR", [RP_QP_RTS] = "RTS",
	[RP_QP_SQD] = "SQD", [RP_QP_SQE] = "SQE", [RP_QP_ERR] = "ERR",
};

#define RP_SPORT_MIN 49152	/* of EV 0 */

#define NAME_OF(names, i) ((size_t)(i) < ARRAY_SIZE(names) && (names)[i] ? (names)[i] : "other")

struct census {
	struct rp_maps maps;
	const struct rp_policy *policy;
	struct rp_qp_tx *tx;		/* sorted by their QPs */
	unsigned int tx_count;
	u64 now_ns;
	struct rp_steered steered;
};

static int compare_tx(const void *a, const void *b)
{
	return memcmp(&((const struct rp_qp_tx *)a)->qp, &((const struct rp_qp_tx *)b)->qp,
		      sizeof(struct rp_qp_key));
}

static void read_tx(struct census *c)
{
	int fd = c->maps.fd[RP_MAP_QP_TX];
	struct rp_wire_qp key;
	bool first = true;

	c->tx = calloc(RP_QPS_MAX, sizeof(*c->tx));
	for (; c->tx && c->tx_count < RP_QPS_MAX &&
	     !bpf_map_get_next_key(fd, first ? NULL : &key, &key); first = false)
		if (!bpf_map_lookup_elem(fd, &key, &c->tx[c->tx_count]))
			c->tx_count++;
	if (c->tx)
		qsort(c->tx, c->tx_count, sizeof(*c->tx), compare_tx);
}

static const struct rp_qp_tx *find_tx(const struct census *c, const struct rp_qp_key *key)
{
	const struct rp_qp_tx wanted = { .qp = *key };

	return c->tx ? bsearch(&wanted, c->tx, c->tx_count, sizeof(wanted), compare_tx) : NULL;
}

static void print_peer(struct rp_rows *rows, const struct rp_qp *qp)
{
	static const struct rp_address unknown;
	char text[RP_TEXT_LEN];

	if (memcmp(&qp->remote, &unknown, sizeof(unknown))) {
		rp_address_print(qp->remote.bytes, text);
		rp_row_text(rows, text);
	} else {
		rp_row_text(rows, NULL);
	}
	if (qp->remote_qpn)
		rp_row_number(rows, qp->remote_qpn, NULL);
	else
		rp_row_text(rows, NULL);
}

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

/* of a QP of the kernel the module knows who made it, which is what rules match */
static void print_process(struct rp_rows *rows, const struct rp_qp *qp,
			  const struct rp_attrs *steered)
{
	const char *maker = rp_attr_string(steered, ROCEPATH_RDMA_A_QP_COMM);
	char text[RP_TEXT_LEN];

	snprintf(text, sizeof(text), "[%s]", *maker ? maker : "kernel");
	rp_row_text(rows, qp->pid ? qp->comm : text);
	rp_row_number(rows, qp->pid, NULL);
}

static void print_owner(struct rp_rows *rows, const struct rp_qp *qp)
{
	char text[RP_OWNER_LEN];
	struct rp_owner owner;

	rp_owner_find(qp->cgroup, &owner);
	rp_row_number(rows, qp->uid, NULL);
	rp_row_text(rows, known(rp_owner_name(&owner, qp->cgroup, text)));
	rp_row_number(rows, qp->cgroup_id, NULL);
	rp_row_text(rows, known(qp->cgroup));
	rp_row_text(rows, known(owner.unit));
	rp_row_text(rows, known(owner.container));
	rp_row_text(rows, known(owner.job));
}

static struct rp_limit find_limit(const struct census *c, const struct rp_qp_tx *tx)
{
	struct rp_pacer pacer = { 0 }, total = { 0 };
	u32 all = RP_CLASSES_MAX;

	bpf_map_lookup_elem(c->maps.fd[RP_MAP_PACERS], &all, &total);
	if (tx->class < RP_CLASSES_MAX)
		bpf_map_lookup_elem(c->maps.fd[RP_MAP_PACERS], &tx->class, &pacer);
	return rp_limit_of(c->policy, tx, &pacer, &total, c->now_ns);
}

/* as it was when it connected, where that is known; else of the packets that it sent */
static const char *class_name(const char *of_packets, const struct rp_attrs *steered)
{
	const char *name = rp_attr_string(steered, ROCEPATH_RDMA_A_QP_CLASS_NAME);

	return *name ? name : of_packets;
}

static void print_rate(struct rp_rows *rows, const struct census *c, const struct rp_qp_tx *tx,
		       const struct rp_attrs *steered)
{
	const struct rp_class *class = NULL;
	struct rp_limit limit = { 0, "unlimited" };
	const char *of_packets;
	char text[RP_TEXT_LEN];

	if (tx && c->policy && tx->class < c->policy->class_count)
		class = &c->policy->class[tx->class];
	if (tx && c->policy)
		limit = find_limit(c, tx);
	of_packets = class && tx->packets ? class->name : NULL;
	rp_row_text(rows, class_name(of_packets, steered));
	rp_row_text(rows, of_packets);
	rp_unit_print(RP_UNIT_RATE, limit.rate_bytes_per_s, text);
	rp_row_number(rows, limit.rate_bytes_per_s, limit.rate_bytes_per_s ? text : "-");
	rp_row_text(rows, limit.why);
	rp_row_number(rows, tx ? tx->dcqcn.cnps : 0, NULL);
	rp_row_number(rows, tx ? tx->packets : 0, NULL);
	rp_row_number(rows, tx ? tx->bytes : 0, NULL);
}

static const struct rp_column columns[] = {
	{ "device", "DEVICE", false }, { "qpn", "QPN", true }, { "type", "TYPE", false },
	{ "state", "STATE", false }, { "peer", "PEER", false }, { "peer_qpn", "PEER-QPN", true },
	{ "comm", "PROCESS", false }, { "pid", "PID", true }, { "uid", NULL, true },
	{ "owner", "OWNER", false }, { "cgroup_id", NULL, true }, { "cgroup", NULL, false },
	{ "unit", NULL, false }, { "container", NULL, false }, { "slurm_job", NULL, false },
	{ "class", "CLASS", false }, { "packet_class", NULL, false },
	{ "rate_bytes_per_s", "RATE", true }, { "why", "WHY", false },
	{ "cnps", NULL, true }, { "packets", NULL, true }, { "bytes", NULL, true },
	{ "source_port", NULL, true }, { "age_ms", NULL, true },
	{ "ev", "EV", true }, { "entropy", "ENTROPY", false }, { "path", NULL, true },
	{ "path_state", "HEALTH", false }, { "steered", NULL, false }, { "exempt", NULL, false },
	{ "rule", NULL, false }, { "on_failure", NULL, false },
	{ "flow_label_asked", NULL, true }, { "flow_label", NULL, true },
	{ "traffic_class_asked", NULL, true }, { "traffic_class", NULL, true },
	{ "service_level_asked", NULL, true }, { "service_level", NULL, true },
	{ "timeout_asked", NULL, true }, { "timeout", NULL, true },
	{ "retry_asked", NULL, true }, { "retry", NULL, true }, { "moves", NULL, true }, { 0 },
};

/* what the module says, in the order of the columns from "ev" on */
static const uint16_t steered_attrs[] = {
	ROCEPATH_RDMA_A_QP_EV, ROCEPATH_RDMA_A_QP_ENTROPY, ROCEPATH_RDMA_A_QP_PATH,
	ROCEPATH_RDMA_A_QP_PATH_STATE, ROCEPATH_RDMA_A_QP_STEERED, ROCEPATH_RDMA_A_QP_EXEMPT,
	ROCEPATH_RDMA_A_QP_RULE, ROCEPATH_RDMA_A_QP_ON_FAILURE,
	ROCEPATH_RDMA_A_QP_FLOW_LABEL_ASKED, ROCEPATH_RDMA_A_QP_FLOW_LABEL,
	ROCEPATH_RDMA_A_QP_TRAFFIC_CLASS_ASKED, ROCEPATH_RDMA_A_QP_TRAFFIC_CLASS,
	ROCEPATH_RDMA_A_QP_SL_ASKED, ROCEPATH_RDMA_A_QP_SL,
	ROCEPATH_RDMA_A_QP_TIMEOUT_ASKED, ROCEPATH_RDMA_A_QP_TIMEOUT,
	ROCEPATH_RDMA_A_QP_RETRY_ASKED, ROCEPATH_RDMA_A_QP_RETRY, ROCEPATH_RDMA_A_QP_MOVES,
};

static void print_steered(struct rp_rows *rows, const struct rp_attrs *steered)
{
	for (size_t i = 0; i < ARRAY_SIZE(steered_attrs); i++) {
		const struct rp_field *field = rp_attr_field(&rp_rdma_qp_attrs, steered_attrs[i]);
		const struct nlattr *attr = steered->at[steered_attrs[i]];
		char text[RP_TEXT_LEN];

		if (attr && field->form == RP_FORM_BOOL)
			rp_row_bool(rows, rp_attr_number(steered, field->attr));
		else if (!attr || field->wire == MNL_TYPE_NUL_STRING ||
			 field->form == RP_FORM_ENUM)
			rp_row_text(rows, attr ? rp_table_cell(field, attr, text) : NULL);
		else
			rp_row_number(rows, rp_attr_number(steered, steered_attrs[i]), NULL);
	}
}

static void print_qp(struct rp_rows *rows, const struct census *c, const struct rp_qp_key *key,
		     const struct rp_qp *qp)
{
	struct rp_attrs steered;

	rp_steered_attrs(rp_steered_find(&c->steered, qp->device, key->qpn), &steered);
	rp_row_begin(rows);
	rp_row_text(rows, qp->device);
	rp_row_number(rows, key->qpn, NULL);
	rp_row_text(rows, NAME_OF(types, qp->type));
	rp_row_text(rows, NAME_OF(states, qp->state));
	print_peer(rows, qp);
	print_process(rows, qp, &steered);
	print_owner(rows, qp);
	print_rate(rows, c, find_tx(c, key), &steered);
	rp_row_number(rows, qp->udp_source_port, NULL);
	rp_row_number(rows, c->now_ns > qp->created_ns ?
		      (c->now_ns - qp->created_ns) / 1000000 : 0, NULL);
	print_steered(rows, &steered);
	rp_row_end(rows);
}

/* one that no census has, as the module knows it */
static void print_unknown(struct rp_rows *rows, const struct census *c,
			  const struct rp_steered_qp *of)
{
	struct rp_attrs attrs;
	struct rp_qp qp = { .ifindex = 0 };

	rp_steered_attrs(of, &attrs);
	qp.pid = rp_attr_number(&attrs, ROCEPATH_RDMA_A_QP_PID);
	qp.uid = rp_attr_number(&attrs, ROCEPATH_RDMA_A_QP_UID);
	qp.cgroup_id = rp_attr_number(&attrs, ROCEPATH_RDMA_A_QP_CGROUP_ID);
	qp.remote_qpn = rp_attr_number(&attrs, ROCEPATH_RDMA_A_QP_REMOTE_QPN);
	snprintf(qp.comm, sizeof(qp.comm), "%s", rp_attr_string(&attrs, ROCEPATH_RDMA_A_QP_COMM));
	snprintf(qp.cgroup, sizeof(qp.cgroup), "%s",
		 rp_attr_string(&attrs, ROCEPATH_RDMA_A_QP_CGROUP));
	if (attrs.at[ROCEPATH_RDMA_A_QP_REMOTE])
		memcpy(&qp.remote, mnl_attr_get_payload(attrs.at[ROCEPATH_RDMA_A_QP_REMOTE]),
		       sizeof(qp.remote));
	rp_row_begin(rows);
	rp_row_text(rows, of->device);
	rp_row_number(rows, of->qpn, NULL);
	/* numbered as those of the census, but for those of drivers */
	rp_row_text(rows, NAME_OF(types, rp_attr_number(&attrs, ROCEPATH_RDMA_A_QP_TYPE)));
	rp_row_text(rows, NAME_OF(states, rp_attr_number(&attrs, ROCEPATH_RDMA_A_QP_STATE)));
	print_peer(rows, &qp);
	print_process(rows, &qp, &attrs);
	print_owner(rows, &qp);
	print_rate(rows, c, NULL, &attrs);
	rp_row_number(rows, attrs.at[ROCEPATH_RDMA_A_QP_EV] ? RP_SPORT_MIN +
		      rp_attr_number(&attrs, ROCEPATH_RDMA_A_QP_EV) : 0, NULL);
	rp_row_text(rows, NULL);
	print_steered(rows, &attrs);
	rp_row_end(rows);
}

static void print_qps(struct rp_rows *rows, const struct census *c)
{
	int fd = c->maps.fd[RP_MAP_QPS];
	struct rp_qp_key key;
	bool first = true;
	struct rp_qp qp;

	for (; fd >= 0 && !bpf_map_get_next_key(fd, first ? NULL : &key, &key); first = false)
		if (!bpf_map_lookup_elem(fd, &key, &qp))
			print_qp(rows, c, &key, &qp);
	for (size_t i = 0; i < c->steered.count; i++)
		if (!c->steered.at[i].found)
			print_unknown(rows, c, &c->steered.at[i]);
}

/**
 * rp_qp_show() - rocepath qp show
 * @cli: this run
 * @args: the command line
 */
int rp_qp_show(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_policy *policy = calloc(1, sizeof(*policy));
	struct census c = { .tx = NULL };
	struct rp_error error;
	struct timespec now;
	struct rp_rows rows;

	(void)args;
	libbpf_set_print(NULL);
	memset(c.maps.fd, -1, sizeof(c.maps.fd));
	rp_steered_read(&c.steered);
	if (!policy || (rp_maps_open(&c.maps, &error) && !c.steered.there)) {
		rp_complain("%s", policy ? error.text : "out of memory");
		rp_steered_drop(&c.steered);
		free(policy);
		return RP_EXIT_FAILURE;
	}
	if (c.maps.fd[RP_MAP_QPS] >= 0) {
		if (!rp_state_policy(&c.maps, policy))
			c.policy = policy;
		read_tx(&c);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	c.now_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
	rp_rows_begin(&rows, &cli->format, columns);
	print_qps(&rows, &c);
	rp_rows_end(&rows, "there is no queue pair");
	rp_maps_close(&c.maps);
	rp_steered_drop(&c.steered);
	free(c.tx);
	free(policy);
	return RP_EXIT_OK;
}
