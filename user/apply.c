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

#define TIMEOUT_DEFAULT 120

/**
 * rp_policy_apply() - rocepath apply [FILE]
 * @cli: this run
 * @args: the command line
 */
int rp_policy_apply(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_spec *spec = rp_spec_load(args->subject);
	int ret;

	(void)cli;
	if (!spec)
		return RP_EXIT_FAILURE;
	ret = rp_apply(spec);
	rp_spec_release(spec);
	return ret;
}

/* does not depend on the terminal, nor on the process that waits there */
static int guard(int confirmed, unsigned int seconds, struct rp_spec *before)
{
	struct pollfd poll_fd = { .fd = confirmed, .events = POLLIN };
	char byte;
	int got;

	setsid();
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	do
		got = poll(&poll_fd, 1, seconds * 1000);
	while (got < 0 && errno == EINTR);
	if (got > 0 && read(confirmed, &byte, 1) == 1)
		return RP_EXIT_OK;
	rp_complain("not confirmed: the policy before is put back");
	return (before ? rp_apply(before) : rp_remove()) ? RP_EXIT_USAGE : RP_EXIT_FAILURE;
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

static int try_until(unsigned int seconds, struct rp_spec *before)
{
	int pipe_fds[2], status;
	pid_t child;
	bool keep;

	if (pipe(pipe_fds)) {
		rp_complain("pipe: %s", strerror(errno));
		return RP_EXIT_FAILURE;
	}
	fflush(stdout);
	child = fork();
	if (!child) {
		close(pipe_fds[1]);
		_exit(guard(pipe_fds[0], seconds, before));
	}
	close(pipe_fds[0]);
	if (child < 0) {
		rp_complain("fork: %s; the policy before is put back", strerror(errno));
		return before ? rp_apply(before) : rp_remove(), RP_EXIT_FAILURE;
	}
	keep = wait_for_enter(child, seconds);
	signal(SIGPIPE, SIG_IGN);
	if (keep && write(pipe_fds[1], "\n", 1) != 1)
		keep = false;
	close(pipe_fds[1]);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status))
		return RP_EXIT_FAILURE;
	rp_complain("kept");
	return RP_EXIT_OK;
}

/**
 * rp_policy_try() - rocepath try FILE [timeout SECONDS]
 * @cli: this run
 * @args: the command line
 */
int rp_policy_try(struct rp_cli *cli, const struct rp_args *args)
{
	const struct rp_value *timeout = rp_args_get(args, "timeout");
	struct rp_spec *spec = rp_spec_load(args->subject);
	struct rp_spec *before;
	int ret;

	(void)cli;
	if (!spec)
		return RP_EXIT_FAILURE;
	before = rp_in_force_quiet();
	ret = rp_apply(spec);
	if (!ret)
		ret = try_until(timeout ? timeout->number : TIMEOUT_DEFAULT, before);
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
	(void)cli;
	(void)args;
	return rp_remove();
}
