// SPDX-License-Identifier: GPL-2.0
/*
 * rocepath top: sample.c looks at the counters, rates.c compares two looks,
 * view.c writes lines, screen.c shows them.
 */
#include <time.h>

#include "commands.h"
#include "rates.h"
#include "screen.h"
#include "view.h"

#define DELAY_MS 1000
#define FIRST_MS 250		/* the first rates are wanted soon */

/**
 * struct top - one run of the command
 * @nl: the socket
 * @device: ifindex of the only one wanted, 0: all are
 * @delay_ms: between two looks
 * @before: the earlier look
 * @now: the later one
 * @rates: between them
 */
struct top {
	struct rp_nl *nl;
	uint32_t device;
	unsigned int delay_ms;
	struct rp_sample before, now;
	struct rp_rates rates;
};

static void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static int look(struct top *top)
{
	int err;

	rp_rates_release(&top->rates);
	rp_sample_release(&top->before);
	top->before = top->now;
	top->now = (struct rp_sample){ 0 };
	err = rp_sample_take(top->nl, top->device, &top->now);
	return err ? err : rp_rates_make(&top->rates, &top->before, &top->now);
}

static int print_once(struct rp_cli *cli, struct top *top)
{
	struct rp_json json = { stdout, cli->format.pretty, true, 0 };
	struct rp_view view;
	int err = look(top);

	if (err)
		return err;
	sleep_ms(top->delay_ms);
	err = look(top);
	if (err)
		return err;
	if (cli->format.json) {
		rp_rates_json(&top->rates, &json);
		return 0;
	}
	rp_view_make(&view, &top->rates);
	rp_view_print(&view, stdout);
	rp_view_release(&view);
	return 0;
}

static int show(struct top *top, struct rp_screen *screen)
{
	struct rp_view view = { 0 };
	unsigned int ms = top->delay_ms < FIRST_MS ? top->delay_ms : FIRST_MS;
	int err;

	do {
		err = look(top);
		if (err)
			break;
		rp_view_release(&view);
		rp_view_make(&view, &top->rates);
		rp_screen_draw(screen, &view);
		if (top->before.time_us)
			ms = top->delay_ms;
	} while (rp_screen_wait(screen, &view, ms));
	rp_view_release(&view);
	return err;
}

static int show_live(struct top *top, int *err)
{
	struct rp_error error;
	struct rp_screen *screen = rp_screen_new(&error);

	if (!screen) {
		rp_complain("%s", error.text);
		return RP_EXIT_FAILURE;
	}
	*err = show(top, screen);
	rp_screen_release(screen);
	return RP_EXIT_OK;
}

/**
 * rp_top() - rocepath top [dev DEV] [-1] [-d SECONDS]
 * @cli: this run
 * @args: the command line
 */
int rp_top(struct rp_cli *cli, const struct rp_args *args)
{
	const struct rp_value *delay = rp_args_get(args, "delay");
	const char *device = rp_args_text(args, "dev");
	struct top top = { .delay_ms = delay ? delay->number : DELAY_MS };
	int ret = RP_EXIT_OK, err = 0;

	if (rp_cli_connect(cli) || (device && rp_cli_device(cli, device, &top.device)))
		return RP_EXIT_FAILURE;
	top.nl = cli->nl;
	if (rp_args_get(args, "once") || cli->format.json)
		err = print_once(cli, &top);
	else
		ret = show_live(&top, &err);
	if (err)
		ret = rp_nl_explain(cli->nl, err, args, device);
	rp_rates_release(&top.rates);
	rp_sample_release(&top.before);
	rp_sample_release(&top.now);
	return ret;
}
