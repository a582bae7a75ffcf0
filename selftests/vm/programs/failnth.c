// SPDX-License-Identifier: GPL-2.0
/*
 * failnth N RESULT COMMAND...: run a command, and let the N-th allocation that the kernel makes for it fail.
 *
 * Of the system calls by which a tool speaks to the module and to BPF, all others are left alone: what
 * happens to a program without memory is not the question. Writes "CALL I" to RESULT: the I-th allocation
 * failed in that call; or "none I", there were only so many. Exits as the command did, 128 and more for a
 * signal. Needs a kernel with CONFIG_FAULT_INJECTION; counts all that can be made to fail there (slab, pages,
 * functions).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct call {
	long number;
	const char *name;
} calls[] = {
	{ SYS_sendmsg, "sendmsg" },
	{ SYS_sendto, "sendto" },
	{ SYS_recvmsg, "recvmsg" },
	{ SYS_bpf, "bpf" },
	{ SYS_perf_event_open, "perf_event_open" },
	{ SYS_finit_module, "finit_module" },
	{ SYS_init_module, "init_module" },
};

static __attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...)
{
	va_list args;

	fputs("failnth: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(errno));
	exit(125);
}

static const char *name_of(long number)
{
	const struct call *c;

	for (c = calls; c < calls + sizeof(calls) / sizeof(*calls); c++)
		if (c->number == number)
			return c->name;
	return NULL;
}

static void arm(int fd, long n)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%ld", n);

	if (pwrite(fd, text, len, 0) != len)
		die("fail-nth");
}

/* what is left of it; 0: it has failed */
static long disarm(int fd)
{
	char text[24] = "";
	long left;

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		die("fail-nth");
	left = atol(text);
	arm(fd, 0);
	return left;
}

static int open_fail_nth(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/fail-nth", pid, pid);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die("%s", path);
	return fd;
}

static void tell(const char *path, const char *call, long i)
{
	FILE *out = fopen(path, "w");

	if (!out || fprintf(out, "%s %ld\n", call, i) < 0 || fclose(out))
		die("%s", path);
}

/* Until it ends: each call is stopped at twice. Returns its status. */
static int watch(pid_t pid, long n, const char *result)
{
	const char *call = NULL, *failed = NULL;
	int status, fd = open_fail_nth(pid), sent;
	struct user_regs_struct regs;
	long left = n;

	for (sent = 0;; sent = 0) {
		if (waitpid(pid, &status, 0) != pid)
			die("waitpid");
		if (WIFEXITED(status) || WIFSIGNALED(status))
			break;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
				die("PTRACE_GETREGS");
			if (call && left) {
				left = disarm(fd);
				failed = left ? NULL : call;
			}
			call = call ? NULL : name_of(regs.orig_rax);
			if (call && left && (long)regs.rax == -ENOSYS)
				arm(fd, left);
			else
				call = NULL;
		} else if (WSTOPSIG(status) != SIGTRAP) {
			sent = WSTOPSIG(status);
		}
		if (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)sent))
			die("PTRACE_SYSCALL");
	}
	tell(result, failed ? failed : "none", n - left);
	return status;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;
	long n;

	if (argc < 4 || (n = atol(argv[1])) < 1) {
		fprintf(stderr, "usage: failnth N RESULT COMMAND...\n");
		return 125;
	}
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			die("PTRACE_TRACEME");
		execvp(argv[3], argv + 3);
		die("%s", argv[3]);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die("%s", argv[3]);
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) ||
	    ptrace(PTRACE_SYSCALL, pid, NULL, NULL))
		die("ptrace");
	status = watch(pid, n, argv[2]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
