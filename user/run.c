// SPDX-License-Identifier: GPL-2.0
/*
 * Nothing depends on this process: what is applied goes on working without it. It
 * only sees netdevices come and go (hot-added ports, devices that are made late) and
 * ib_core or rocepath_rdma being loaded, and has the policy in force attached to them.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <sys/signalfd.h>

#include "commands.h"
#include "notify.h"
#include "policy/apply.h"
#include "policy/load.h"
#include "policy/programs.h"
#include "rdma.h"

#define SETTLE_MS 50	/* a netdevice comes with several messages */
#define LOOK_MS 500	/* for what sends no message */

struct watch {
	struct mnl_socket *links;
	int signals;
};

static int open_links(struct watch *w)
{
	w->links = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (w->links && !mnl_socket_bind(w->links, RTMGRP_LINK, MNL_SOCKET_AUTOPID))
		return 0;
	rp_complain("rtnetlink: %s", strerror(errno));
	return -1;
}

static int open_signals(struct watch *w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (w->signals >= 0)
		return 0;
	rp_complain("signals: %s", strerror(errno));
	return -1;
}

/* what they say does not matter: all is looked at anew; lost ones are as good */
static void drain(struct watch *w)
{
	char buffer[16384];

	while (mnl_socket_recvfrom(w->links, buffer, sizeof(buffer)) > 0 || errno == ENOBUFS)
		;
}

static void reload(const char *path)
{
	struct rp_spec *spec;

	rp_notify("RELOADING=1");
	spec = rp_spec_load(path);
	if (spec)
		rp_apply(spec);
	rp_spec_release(spec);
	rp_notify("READY=1");
}

/* the programs that watch QPs are loaded once there is something to watch; that is tried once */
static void look_for_ib_core(bool *missing)
{
	bool was_missing = *missing;
	struct rp_spec *spec;

	*missing = rp_census_is_missing();
	if (!*missing || was_missing)
		return;
	if (!rp_in_force_if_any(&spec) && spec)
		rp_apply(spec);
	rp_spec_release(spec);
	*missing = rp_census_is_missing();
}

/* QPs that connect before it is applied again are nobody's */
static void look_for_module(bool *missing)
{
	bool was_missing = *missing;
	struct rp_spec *spec;

	*missing = !rp_rdma_is_loaded();
	if (*missing || !was_missing)
		return;
	if (!rp_in_force_if_any(&spec) && spec)
		rp_apply(spec);
	rp_spec_release(spec);
}

/* returns whether to go on */
static bool take_signal(const struct watch *w, const char *path)
{
	struct signalfd_siginfo info;

	if (read(w->signals, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo != SIGHUP)
		return false;
	reload(path);
	return true;
}

static void follow(struct watch *w, const char *path)
{
	struct pollfd fds[] = {
		{ .fd = mnl_socket_get_fd(w->links), .events = POLLIN },
		{ .fd = w->signals, .events = POLLIN },
	};
	bool missing = rp_census_is_missing(), no_module = !rp_rdma_is_loaded();

	for (;;) {
		if (poll(fds, 2, LOOK_MS) < 0 && errno != EINTR)
			return;
		if (fds[1].revents && !take_signal(w, path))
			return;
		if (fds[0].revents) {
			poll(NULL, 0, SETTLE_MS);
			drain(w);
			rp_refresh();
		} else {
			look_for_ib_core(&missing);
			look_for_module(&no_module);
		}
		fflush(stdout);
	}
}

/**
 * rp_run() - rocepath run [FILE]
 * @cli: this run
 * @args: the command line
 */
int rp_run(struct rp_cli *cli, const struct rp_args *args)
{
	struct watch w = { .signals = -1 };
	struct rp_spec *spec;
	int ret;

	if (rp_cli_text_only(cli))
		return RP_EXIT_USAGE;
	if (open_links(&w) || open_signals(&w))
		return RP_EXIT_FAILURE;
	spec = rp_spec_load(args->subject);
	ret = spec ? rp_apply(spec) : RP_EXIT_FAILURE;
	rp_spec_release(spec);
	if (ret)
		return ret;
	fflush(stdout);
	rp_notify("READY=1");
	follow(&w, args->subject);
	rp_notify("STOPPING=1");
	mnl_socket_close(w.links);
	close(w.signals);
	return RP_EXIT_OK;
}
