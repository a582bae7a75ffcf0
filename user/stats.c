// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "units.h"

struct stats {
	const char *only;	/* of this device or port, NULL: of all */
	bool port;		/* ports are being listed, not devices */
	unsigned int found;
	struct rp_json json;
	struct libscols_table *table;	/* NULL: JSON */
};

static void add_line(struct libscols_table *table, const char *owner, const struct nlattr *stat)
{
	struct rp_attrs attrs;
	char text[RP_TEXT_LEN];

	if (rp_attrs_nested(&rp_stat_attrs, stat, &attrs))
		return;
	snprintf(text, sizeof(text), "%" PRIu64, rp_attr_number(&attrs, ROCEPATH_A_STAT_VALUE));
	rp_table_line(table, (const char *const[]){
		owner, rp_attr_string(&attrs, ROCEPATH_A_STAT_NAME), text }, 3);
}

static void add_lines(struct libscols_table *table, const char *owner, const struct nlattr *list)
{
	const struct nlattr *stat;

	mnl_attr_for_each_nested(stat, list)
		if (mnl_attr_get_type(stat) == ROCEPATH_A_STATS_STAT)
			add_line(table, owner, stat);
}

static void add_json(struct stats *stats, const struct rp_set *set, const struct rp_attrs *attrs)
{
	struct rp_attrs chosen = { 0 };

	/* only what the counters are of, and they themselves */
	if (stats->port) {
		chosen.at[ROCEPATH_A_PORT_DEVICE] = attrs->at[ROCEPATH_A_PORT_DEVICE];
		chosen.at[ROCEPATH_A_PORT_NAME] = attrs->at[ROCEPATH_A_PORT_NAME];
		chosen.at[ROCEPATH_A_PORT_STATS] = attrs->at[ROCEPATH_A_PORT_STATS];
	} else {
		chosen.at[ROCEPATH_A_DEVICE_NAME] = attrs->at[ROCEPATH_A_DEVICE_NAME];
		chosen.at[ROCEPATH_A_DEVICE_STATS] = attrs->at[ROCEPATH_A_DEVICE_STATS];
	}
	rp_json_open(&stats->json, NULL, '{');
	rp_json_string(&stats->json, "kind", stats->port ? "port" : "device");
	rp_table_json(&stats->json, set, &chosen);
	rp_json_close(&stats->json, '}');
}

static int add(const struct nlmsghdr *nlh, void *data)
{
	struct stats *stats = data;
	const struct rp_set *set = stats->port ? &rp_port_attrs : &rp_device_attrs;
	struct rp_attrs attrs;
	const char *name;
	const struct nlattr *list;
	int err = rp_attrs_message(set, nlh, &attrs);

	if (err)
		return err;
	name = rp_attr_string(&attrs, stats->port ? ROCEPATH_A_PORT_NAME : ROCEPATH_A_DEVICE_NAME);
	list = attrs.at[stats->port ? ROCEPATH_A_PORT_STATS : ROCEPATH_A_DEVICE_STATS];
	if (!list || (stats->only && strcmp(stats->only, name)))
		return 0;
	stats->found++;
	if (stats->table)
		add_lines(stats->table, name, list);
	else
		add_json(stats, set, &attrs);
	return 0;
}

static int collect(struct rp_cli *cli, struct stats *stats)
{
	int err;

	rp_nl_request(cli->nl, ROCEPATH_CMD_DEVICE_GET);
	err = rp_nl_dump(cli->nl, add, stats);
	if (err)
		return err;
	stats->port = true;
	rp_nl_request(cli->nl, ROCEPATH_CMD_PORT_GET);
	return rp_nl_dump(cli->nl, add, stats);
}

/**
 * rp_stats_show() - rocepath stats show [DEV|PORT]
 * @cli: this run
 * @args: the command line
 */
int rp_stats_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const char *const heads[] = { "OF", "COUNTER", "VALUE", NULL };
	static const bool right[] = { false, false, true };
	struct stats stats = {
		.only = args->subject, .json = { stdout, cli->format.pretty, true, 0 },
	};
	int err;

	if (rp_cli_connect(cli))
		return RP_EXIT_FAILURE;
	if (cli->format.json)
		rp_json_open(&stats.json, NULL, '[');
	else
		stats.table = rp_table_text(heads, right);
	err = collect(cli, &stats);
	if (cli->format.json)
		rp_json_close(&stats.json, ']');
	else
		rp_table_print(stats.table, true);
	if (err)
		return rp_nl_explain(cli->nl, err, args, NULL);
	if (stats.found || !stats.only)
		return RP_EXIT_OK;
	rp_complain("%s is no rocepath device and no port of one; see: rocepath", stats.only);
	return RP_EXIT_FAILURE;
}
