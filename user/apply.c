// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/wait.h>

#include "commands.h"
#include "policy/apply.h"
#include "policy/load.h"
#include "policy/snapshot.h"

#define TIMEOUT_DEFAULT 120

/**
 * rp_policy_apply() - rocepath apply [FILE]
 * @cli: this run
 * @args: the command line
 */
int rp_policy_apply(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_spec *spec;
	int ret;

	if (rp_cli_text_only(cli))
		return RP_EXIT_USAGE;
	spec = rp_spec_load(args->subject);
	if (!spec)
		return RP_EXIT_FAILURE;
	ret = rp_apply(spec);
	rp_spec_release(spec);
	return ret;
}

/* what the one who waits at the terminal tells the guard; its end says that it is gone */
enum {
	APPLIED = 'a',	/* the time runs */
	KEEP = 'k',
};

static void ignore_signals(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM, SIGPIPE };

	for (unsigned int i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

static int put_back(struct rp_spec *before, struct rp_snapshot *snapshot)
{
	int ret = before ? rp_apply(before) : rp_remove();
	struct rp_rtnl *rtnl = rp_rtnl_new(NULL);

	if (rtnl)
		rp_snapshot_restore(snapshot, rtnl);
	rp_rtnl_release(rtnl);
	return ret;
}

/* does not depend on the terminal, nor on the process that waits there */
static int guard(int told, unsigned int seconds, struct rp_spec *before,
		 struct rp_snapshot *snapshot)
{
	struct pollfd poll_fd = { .fd = told, .events = POLLIN };
	int timeout_ms = -1, got;
	char what;

	setsid();
	ignore_signals();
	for (;;) {
		got = poll(&poll_fd, 1, timeout_ms);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || read(told, &what, 1) != 1)
			break;
		if (what == KEEP)
			return RP_EXIT_OK;
		timeout_ms = seconds * 1000;
	}
	rp_complain("not confirmed: the policy before is put back");
	return put_back(before, snapshot) ? RP_EXIT_USAGE : RP_EXIT_FAILURE;
}

/* Enter keeps the policy; all else, and no more input, does not */
static bool wait_for_enter(pid_t child, unsigned int seconds)
{
	struct pollfd poll_fd = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	fprintf(stderr, "rocepath: press Enter within %u s to keep it\n", seconds);
	for (unsigned int i = 0; i < seconds * 10; i++) {
		if (poll(&poll_fd, 1, 100) > 0)
			return read(STDIN_FILENO, &byte, 1) == 1 && byte == '\n';
		if (waitpid(child, NULL, WNOHANG | WNOWAIT) > 0)
			return false;
	}
	return false;
}

static bool tell(int fd, char what)
{
	return write(fd, &what, 1) == 1;
}

/* returns an exit code; @fd: to the guard */
static int apply_and_wait(struct rp_spec *spec, pid_t child, int fd, unsigned int seconds)
{
	if (rp_apply(spec)) {
		tell(fd, KEEP);
		return RP_EXIT_FAILURE;
	}
	fflush(stdout);
	if (!tell(fd, APPLIED) || !wait_for_enter(child, seconds) || !tell(fd, KEEP))
		return RP_EXIT_FAILURE;
	rp_complain("kept");
	return RP_EXIT_OK;
}

/* the guard is there before the policy is, so that nothing can come between */
static int try_policy(struct rp_spec *spec, struct rp_spec *before,
		      struct rp_snapshot *snapshot, unsigned int seconds)
{
	int fds[2], ret, status;
	pid_t child;

	if (pipe(fds)) {
		rp_complain("pipe: %s", strerror(errno));
		return RP_EXIT_FAILURE;
	}
	child = fork();
	if (child < 0) {
		rp_complain("fork: %s", strerror(errno));
		return RP_EXIT_FAILURE;
	}
	if (!child) {
		close(fds[1]);
		_exit(guard(fds[0], seconds, before, snapshot));
	}
	close(fds[0]);
	signal(SIGPIPE, SIG_IGN);
	ret = apply_and_wait(spec, child, fds[1], seconds);
	close(fds[1]);
	waitpid(child, &status, 0);
	return ret;
}

/**
 * rp_policy_try() - rocepath try FILE [timeout SECONDS]
 * @cli: this run
 * @args: the command line
 */
int rp_policy_try(struct rp_cli *cli, const struct rp_args *args)
{
	const struct rp_value *timeout = rp_args_get(args, "timeout");
	struct rp_spec *spec;
	struct rp_rtnl *rtnl;
	struct rp_snapshot *snapshot;
	struct rp_spec *before;
	int ret;

	if (rp_cli_text_only(cli))
		return RP_EXIT_USAGE;
	spec = rp_spec_load(args->subject);
	rtnl = rp_rtnl_new(NULL);
	if (!spec || !rtnl || rp_in_force_if_any(&before)) {
		rp_rtnl_release(rtnl);
		rp_spec_release(spec);
		return RP_EXIT_FAILURE;
	}
	snapshot = rp_snapshot_take(rtnl);
	rp_rtnl_release(rtnl);
	ret = try_policy(spec, before, snapshot, timeout ? timeout->number : TIMEOUT_DEFAULT);
	rp_snapshot_release(snapshot);
	rp_spec_release(before);
	rp_spec_release(spec);
	return ret;
}

/**
 * rp_policy_clean() - rocepath clean
 * @cli: this run
 * @args: the command line
 */
int rp_policy_clean(struct rp_cli *cli, const struct rp_args *args)
{
	(void)args;
	return rp_cli_text_only(cli) ? RP_EXIT_USAGE : rp_remove();
}
