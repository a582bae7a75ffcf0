// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <libsmartcols/libsmartcols.h>

#include "attrs.h"
#include "error.h"
#include "rates.h"
#include "table.h"
#include "view.h"

#define ROWS_MAX 200		/* of one kind: what is further down is idle */
#define CELLS_MAX 14

/* a table that is being filled, and the tones of its lines */
struct section {
	struct libscols_table *table;
	enum rp_tone tones[ROWS_MAX];
	size_t count, left_out;
};

/* texts of one row; each cell points into its own, or elsewhere */
struct cells {
	char text[CELLS_MAX][RP_TEXT_LEN];
	const char *at[CELLS_MAX];
	unsigned int count;
};

static void add_line(struct rp_view *view, enum rp_tone tone, const char *text, size_t len)
{
	if (view->count == view->room) {
		view->room = 2 * view->room + 64;
		view->lines = reallocarray(view->lines, view->room, sizeof(*view->lines));
	}
	if (view->lines)
		view->lines[view->count] = (struct rp_line){ tone, strndup(text, len) };
	if (!view->lines || !view->lines[view->count++].text) {
		rp_complain("out of memory");
		exit(RP_EXIT_FAILURE);
	}
}

static void add_text(struct rp_view *view, const char *text)
{
	add_line(view, RP_TONE_PLAIN, text, strlen(text));
}

static void string(struct cells *cells, const char *text)
{
	cells->at[cells->count++] = text;
}

static char *cell(struct cells *cells)
{
	char *text = cells->text[cells->count];

	string(cells, text);
	return text;
}

static void number(struct cells *cells, uint64_t value)
{
	snprintf(cell(cells), RP_TEXT_LEN, "%" PRIu64, value);
}

static void rate(struct cells *cells, uint64_t value, const char *unit)
{
	rp_rate_print(value, unit, cell(cells));
}

/* hundredths of a percent are enough for people */
static void share(struct cells *cells, uint32_t ppm)
{
	char *text = cell(cells);

	rp_fraction_print(((uint64_t)ppm + 50) / 100, 2, text);
	strcat(text, "%");
}

static void address(struct cells *cells, const uint8_t *address)
{
	rp_address_print(address, cell(cells));
}

static void word(struct cells *cells, const struct rp_set *set, uint16_t attr, uint32_t value)
{
	const struct rp_field *field = rp_attr_field(set, attr);

	if (value < field->name_count)
		string(cells, field->names[value]);
	else
		snprintf(cell(cells), RP_TEXT_LEN, "unknown-%" PRIu32, value);
}

static void add_cells(struct section *section, const struct cells *cells, enum rp_tone tone)
{
	rp_table_line(section->table, cells->at, cells->count);
	section->tones[section->count++] = tone;
}

/* counts those that find no room */
static bool is_full(struct section *section)
{
	if (section->count < ROWS_MAX)
		return false;
	section->left_out++;
	return true;
}

static struct section begin(const char *const *heads, const bool *right)
{
	return (struct section){ .table = rp_table_text(heads, right) };
}

/* an empty table is not worth its heading */
static void end(struct rp_view *view, struct section *section)
{
	char *text, *line, *rest, more[RP_TEXT_LEN];
	size_t i = 0;

	if (!section->count) {
		scols_unref_table(section->table);
		return;
	}
	add_text(view, "");
	text = rp_table_string(section->table);
	for (rest = text; (line = strsep(&rest, "\n")) && i <= section->count; i++)
		add_line(view, i ? section->tones[i - 1] : RP_TONE_HEAD, line, strlen(line));
	free(text);
	if (!section->left_out)
		return;
	snprintf(more, sizeof(more), "... and %zu that do less", section->left_out);
	add_text(view, more);
}

static void show_devices(struct rp_view *view, const struct rp_rates *rates)
{
	static const char *const heads[] = { "DEVICE", "SCHEDULER", "PORTS", "PEERS", "FLOWS",
		"TX", "RX", "HELD", "KEPT", "REORDERED/s", "REPAIRED/s", "REROUTED/s",
		"DROPPED/s", NULL };
	static const bool right[] = { false, false, true, true, true, true, true, true, true, true,
		true, true, true };
	struct section section = begin(heads, right);

	for (size_t i = 0; i < rates->now->devices.count; i++) {
		const struct rp_device_rate *r = &rates->devices[i];
		const struct rp_device_row *row = r->now;
		struct cells c = { .count = 0 };

		if (is_full(&section))
			continue;
		string(&c, row->name);
		string(&c, row->scheduler);
		snprintf(cell(&c), RP_TEXT_LEN, "%u/%u", row->ports_up, row->ports);
		number(&c, row->peers);
		number(&c, row->flows);
		rate(&c, r->tx_bits, "bit");
		rate(&c, r->rx_bits, "bit");
		rate(&c, row->held_bytes, "B");
		rate(&c, row->kept_bytes, "B");
		rate(&c, r->held, "");
		rate(&c, r->repaired, "");
		rate(&c, r->rerouted, "");
		rate(&c, r->dropped, "");
		add_cells(&section, &c, !row->ports_up ? RP_TONE_BAD :
			  row->ports_up < row->ports || r->dropped ? RP_TONE_WARN : RP_TONE_PLAIN);
	}
	end(view, &section);
}

static void show_ports(struct rp_view *view, const struct rp_rates *rates)
{
	static const char *const heads[] = { "DEVICE", "PORT", "STATE", "SINCE", "SHARE", "TX",
		"RX", "TX-PACKETS/s", "RX-PACKETS/s", "LOST/s", NULL };
	static const bool right[] = { false, false, false, true, true, true, true, true, true,
		true };
	static const enum rp_tone tones[] = {
		[ROCEPATH_PORT_HOLDDOWN] = RP_TONE_WARN, [ROCEPATH_PORT_DOWN] = RP_TONE_BAD,
	};
	struct section section = begin(heads, right);

	for (size_t i = 0; i < rates->now->ports.count; i++) {
		const struct rp_port_rate *r = &rates->ports[i];
		const struct rp_port_row *row = r->now;
		struct cells c = { .count = 0 };

		if (is_full(&section))
			continue;
		string(&c, rp_rates_device(rates, row->device));
		string(&c, row->name);
		word(&c, &rp_port_attrs, ROCEPATH_A_PORT_STATE, row->state);
		rp_age_print(row->since_ms, cell(&c));
		share(&c, row->share_permille * 1000);
		rate(&c, r->tx_bits, "bit");
		rate(&c, r->rx_bits, "bit");
		rate(&c, r->tx_packets, "");
		rate(&c, r->rx_packets, "");
		rate(&c, r->lost, "");
		add_cells(&section, &c, row->state > ROCEPATH_PORT_DOWN ? RP_TONE_PLAIN :
			  tones[row->state]);
	}
	end(view, &section);
}

/* what only a peer that reports can say */
static void add_reported(struct cells *c, const struct rp_path_rate *r)
{
	if (!r->now->has_peer) {
		for (int i = 0; i < 8; i++)
			string(c, "-");
		return;
	}
	word(c, &rp_path_attrs, ROCEPATH_A_PATH_REASON, r->now->reason);
	rp_age_print(r->now->since_ms, cell(c));
	rate(c, r->packets, "");
	share(c, r->loss_ppm);
	share(c, r->marked_ppm);
	if (r->now->rtt_us) {
		rp_duration_print(r->now->rtt_us, cell(c));
		rp_age_print(r->now->rtt_age_ms, cell(c));
	} else {
		string(c, "-");
		string(c, "-");
	}
	if (r->now->has_late)
		rp_duration_print(r->now->late_us, cell(c));
	else
		string(c, "-");
}

static void show_paths(struct rp_view *view, const struct rp_rates *rates)
{
	static const char *const heads[] = { "DEVICE", "PEER", "PORT", "EV", "STATE", "SHARE",
		"REASON", "SINCE", "PACKETS/s", "LOSS", "CE", "RTT", "RTT-AGE",
		"LATE", NULL };
	static const bool right[] = { false, false, false, true, false, true, false, true, true,
		true, true, true, true, true };
	static const enum rp_tone tones[] = {
		[ROCEPATH_PATH_SUSPECT] = RP_TONE_WARN, [ROCEPATH_PATH_DOWN] = RP_TONE_BAD,
		[ROCEPATH_PATH_PROBATION] = RP_TONE_WARN,
	};
	struct section section = begin(heads, right);

	for (size_t i = 0; i < rates->now->paths.count; i++) {
		const struct rp_path_rate *r = &rates->paths[i];
		const struct rp_path_row *row = r->now;
		struct cells c = { .count = 0 };

		if (is_full(&section))
			continue;
		string(&c, rp_rates_device(rates, row->device));
		if (row->has_peer)
			address(&c, row->peer);
		else
			string(&c, "-");
		string(&c, row->port_name);
		number(&c, row->ev);
		word(&c, &rp_path_attrs, ROCEPATH_A_PATH_STATE, row->state);
		share(&c, row->share_ppm);
		add_reported(&c, r);
		add_cells(&section, &c, row->state > ROCEPATH_PATH_PROBATION ? RP_TONE_PLAIN :
			  tones[row->state]);
	}
	end(view, &section);
}

static void show_classes(struct rp_view *view, const struct rp_rates *rates)
{
	static const char *const heads[] = { "DEVICE", "CLASS", "SCHEDULER", NULL };
	static const bool right[] = { false, true, false };
	struct section section = begin(heads, right);

	for (size_t i = 0; i < rates->now->classes.count; i++) {
		const struct rp_class_row *row = (struct rp_class_row *)rates->now->classes.at + i;
		struct cells c = { .count = 0 };

		if (is_full(&section))
			continue;
		string(&c, rp_rates_device(rates, row->device));
		number(&c, row->id);
		string(&c, row->scheduler);
		add_cells(&section, &c, RP_TONE_PLAIN);
	}
	end(view, &section);
}

static void show_flows(struct rp_view *view, const struct rp_rates *rates)
{
	static const char *const heads[] = { "DEVICE", "PEER", "QPN", "PEER-QPN", "TYPE",
		"PACKETS/s", "RATE", "SPRAYED", "HELD", "KEPT", "REPAIRED/s", NULL };
	static const bool right[] = { false, false, true, true, false, true, true, true, true,
		true, true };
	struct section section = begin(heads, right);

	for (size_t i = 0; i < rates->now->flows.count; i++) {
		const struct rp_flow_rate *r = &rates->flows[i];
		const struct rp_flow_row *row = r->now;
		struct cells c = { .count = 0 };

		if (is_full(&section))
			continue;
		string(&c, rp_rates_device(rates, row->device));
		address(&c, row->peer);
		number(&c, row->local_qpn);
		number(&c, row->remote_qpn);
		word(&c, &rp_flow_attrs, ROCEPATH_A_FLOW_QP_TYPE, row->type);
		rate(&c, r->packets, "");
		rate(&c, r->bits, "bit");
		share(&c, r->sprayed_ppm);
		number(&c, row->held);
		number(&c, row->kept);
		rate(&c, r->repaired, "");
		add_cells(&section, &c, r->repaired ? RP_TONE_WARN : RP_TONE_PLAIN);
	}
	end(view, &section);
	if (rates->now->flows_hidden)
		add_text(view, "queue pairs are shown only with CAP_NET_ADMIN: run it as root");
}

/**
 * rp_view_make() - write rates as lines
 * @view: the lines; rp_view_release() frees them
 * @rates: the rates
 */
void rp_view_make(struct rp_view *view, const struct rp_rates *rates)
{
	char took[RP_TEXT_LEN], text[RP_TEXT_LEN * 2];

	memset(view, 0, sizeof(*view));
	rp_duration_print(rates->interval_us, took);
	snprintf(text, sizeof(text), "rocepath top, rates over %s", took);
	add_text(view, text);
	if (!rates->now->devices.count)
		add_text(view, "no rocepath device; make one: ip link add rp0 type rocepath");
	show_devices(view, rates);
	show_ports(view, rates);
	show_paths(view, rates);
	show_classes(view, rates);
	show_flows(view, rates);
}

/**
 * rp_view_print() - print the lines
 * @view: the lines
 * @out: where
 */
void rp_view_print(const struct rp_view *view, FILE *out)
{
	for (size_t i = 0; i < view->count; i++)
		fprintf(out, "%s\n", view->lines[i].text);
}

/**
 * rp_view_release() - free the lines
 * @view: made, or zeroed
 */
void rp_view_release(struct rp_view *view)
{
	while (view->count)
		free(view->lines[--view->count].text);
	free(view->lines);
	memset(view, 0, sizeof(*view));
}
