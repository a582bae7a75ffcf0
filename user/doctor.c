// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "doctor.h"
#include "rows.h"

struct printer {
	struct rp_rows rows;
	bool bad;
};

static const struct rp_column columns[] = {
	{ "what", "WHAT", false }, { "on", "ON", false }, { "state", "IS", false },
	{ "found", "FOUND", false }, { "fix", "DO", false }, { 0 },
};

static void print_finding(void *data, const struct rp_finding *finding)
{
	struct printer *p = data;

	rp_row_begin(&p->rows);
	rp_row_text(&p->rows, finding->what);
	rp_row_text(&p->rows, finding->on);
	rp_row_text(&p->rows, rp_doctor_state_names[finding->state]);
	rp_row_text(&p->rows, finding->found);
	rp_row_text(&p->rows, *finding->fix ? finding->fix : NULL);
	rp_row_end(&p->rows);
	p->bad |= finding->state == RP_DOCTOR_BAD;
}

/**
 * rp_doctor() - rocepath doctor [DEV]... [peer ADDRESS]
 * @cli: this run
 * @args: the command line
 *
 * Return: an exit code; RP_EXIT_FAILURE when something is bad.
 */
int rp_doctor(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_doctor_facts facts = { .tool = RP_VERSION };
	const char *peer = rp_args_text(args, "peer");
	struct printer p = { .bad = false };
	struct rp_error error;

	if (peer && geteuid()) {
		rp_complain("a peer is asked by ICMP; it needs CAP_NET_RAW: run it as root");
		return RP_EXIT_FAILURE;
	}
	if (rp_doctor_gather(&facts, args->subjects, args->subject_count, &error)) {
		rp_complain("%s", error.text);
		rp_doctor_drop(&facts);
		return RP_EXIT_FAILURE;
	}
	if (peer)
		rp_doctor_ask_peer(&facts, peer);
	rp_rows_begin(&p.rows, &cli->format, columns);
	rp_doctor_judge(&facts, print_finding, &p);
	rp_rows_end(&p.rows, "nothing was looked at");
	rp_doctor_drop(&facts);
	return p.bad ? RP_EXIT_FAILURE : RP_EXIT_OK;
}
