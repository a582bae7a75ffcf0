// SPDX-License-Identifier: GPL-2.0
/*
 * Serves the host on a virtio-serial port. All is frames:
 *
 *	u8 type, u8 zero[3], u32 id, u32 length, payload	(little endian)
 *
 *	from the host			to the host
 *	'h' cookie			'H' cookie, then text: "release boot_id taint"
 *	's' shell command		'o' 'e' output and errors, 'x' s32 status as of wait()
 *	'k' s32 signal			(none; the job's 'x' follows)
 *	'p' u32 mode, path, 0, bytes	'r' s32 errno
 *	'g' path			'd' bytes ..., 'r' s32 errno
 *	'l'				'r', after all that the kernel log holds now
 *	'b' 'q'				(none: reboot, power off)
 *					'm' records of /dev/kmsg, unasked, after the first 'h'
 *
 * The id is the host's and names a job or a request. One loop does it all, and
 * nothing in it blocks; when the host reads slowly, jobs' pipes fill.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

#define FRAME_MAX	(512u << 20)
#define OUT_HIGH	(1u << 20)	/* stop reading jobs above it */
#define CHUNK		65536
#define JOBS_MAX	256		/* read from at once */

struct frame {
	uint8_t type;
	uint8_t zero[3];
	uint32_t id;
	uint32_t len;
};

struct buf {
	char *data;
	size_t off, len, cap;
};

struct job {
	struct job *next;
	uint32_t id;
	pid_t pid;		/* 0 once reaped */
	int fd[2];		/* stdout, stderr; -1 at end of file */
};

static int port, kmsg, sigs;
static int greeted;
static struct buf in, out;
static struct job *jobs;
static char boot_taint[24], boot_id[40];

/* Buffers: consumed at off, filled at len. */

static void buf_reserve(struct buf *b, size_t more)
{
	if (b->off && (b->off == b->len || b->len + more > b->cap)) {
		memmove(b->data, b->data + b->off, b->len - b->off);
		b->len -= b->off;
		b->off = 0;
	}
	if (b->len + more <= b->cap)
		return;
	b->cap = (b->len + more) * 2;
	b->data = realloc(b->data, b->cap);
	if (!b->data)
		abort();
}

static void buf_add(struct buf *b, const void *data, size_t len)
{
	buf_reserve(b, len);
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void send_frame(uint8_t type, uint32_t id, const void *data, size_t len)
{
	struct frame f = { .type = type, .id = id, .len = len };

	buf_add(&out, &f, sizeof(f));
	buf_add(&out, data, len);
}

static void send_result(uint32_t id, int err)
{
	int32_t v = err;

	send_frame('r', id, &v, sizeof(v));
}

/* Files. */

static int make_parents(char *path)
{
	char *p;

	for (p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		if (mkdir(path, 0755) && errno != EEXIST)
			return errno;
		*p = '/';
	}
	return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0)
			return errno;
		data += n;
		len -= n;
	}
	return 0;
}

static int put_file(char *data, size_t len)
{
	uint32_t mode;
	char *path = data + sizeof(mode), *end;
	int fd, err;

	if (len < sizeof(mode) + 2)
		return EINVAL;
	memcpy(&mode, data, sizeof(mode));
	end = memchr(path, 0, len - sizeof(mode));
	if (!end)
		return EINVAL;
	err = make_parents(path);
	if (err)
		return err;
	/* A new inode: the old one may be running. Not for devices and /proc. */
	if (!strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5) || !strncmp(path, "/dev/", 5))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else
		fd = unlink(path) && errno != ENOENT ? -1 :
			open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return errno;
	err = write_all(fd, end + 1, data + len - (end + 1));
	if (close(fd) && !err)
		err = errno;
	return err;
}

static void get_file(uint32_t id, const char *path)
{
	char chunk[CHUNK];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		send_result(id, errno);
		return;
	}
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		send_frame('d', id, chunk, n);
	send_result(id, n < 0 ? errno : 0);
	close(fd);
}

/* Jobs. */

static void job_exec(const char *cmd, int o, int e)
{
	struct rlimit core = { 0, 0 };
	sigset_t none;
	int null = open("/dev/null", O_RDONLY);

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setrlimit(RLIMIT_CORE, &core);
	dup2(null, 0);
	dup2(o, 1);
	dup2(e, 2);
	execl("/bin/bash", "bash", "-c", cmd, (char *)NULL);
	dprintf(2, "lab: no /bin/bash: %s\n", strerror(errno));
	_exit(127);
}

static void job_start(uint32_t id, const char *cmd)
{
	struct job *j = calloc(1, sizeof(*j));
	int o[2], e[2], status = 127 << 8;

	if (!j || pipe2(o, O_CLOEXEC) || pipe2(e, O_CLOEXEC)) {
		say("job %u: %s", id, strerror(errno));
		send_frame('x', id, &status, sizeof(status));
		free(j);
		return;
	}
	j->pid = fork();
	if (!j->pid)
		job_exec(cmd, o[1], e[1]);
	close(o[1]);
	close(e[1]);
	if (j->pid < 0) {
		say("job %u: fork: %s", id, strerror(errno));
		send_frame('x', id, &status, sizeof(status));
		close(o[0]);
		close(e[0]);
		free(j);
		return;
	}
	fcntl(o[0], F_SETFL, O_NONBLOCK);
	fcntl(e[0], F_SETFL, O_NONBLOCK);
	j->id = id;
	j->fd[0] = o[0];
	j->fd[1] = e[0];
	j->next = jobs;
	jobs = j;
}

/* Returns 1 when there may be more. */
static int job_read(struct job *j, int which)
{
	char chunk[CHUNK];
	ssize_t n;

	if (j->fd[which] < 0)
		return 0;
	n = read(j->fd[which], chunk, sizeof(chunk));
	if (n > 0) {
		send_frame(which ? 'e' : 'o', j->id, chunk, n);
		return 1;
	}
	if (!n || errno != EAGAIN) {
		close(j->fd[which]);
		j->fd[which] = -1;
	}
	return 0;
}

static void job_exited(struct job *j, int status)
{
	int32_t v = status;

	/*
	 * What the job itself wrote is in the pipes by now. A daemon that it
	 * left behind may hold them open and write on: bounded, then later.
	 */
	for (int i = 0; i < 64 && job_read(j, 0); i++)
		;
	for (int i = 0; i < 64 && job_read(j, 1); i++)
		;
	send_frame('x', j->id, &v, sizeof(v));
	j->pid = 0;
}

static void reap(void)
{
	struct signalfd_siginfo si;
	struct job *j;
	pid_t pid;
	int status;

	while (read(sigs, &si, sizeof(si)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (j = jobs; j && j->pid != pid; j = j->next)
			;
		if (j)
			job_exited(j, status);
	}
}

static void forget_finished(void)
{
	struct job **p = &jobs, *j;

	while ((j = *p)) {
		if (j->pid || j->fd[0] >= 0 || j->fd[1] >= 0) {
			p = &j->next;
			continue;
		}
		*p = j->next;
		free(j);
	}
}

static void job_kill(uint32_t id, const char *data, size_t len)
{
	int32_t sig = SIGKILL;
	struct job *j;

	if (len >= sizeof(sig))
		memcpy(&sig, data, sizeof(sig));
	for (j = jobs; j; j = j->next)
		if (j->id == id && j->pid)
			kill(-j->pid, sig);
}

/* The kernel log. Returns 1 when there may be more. */
static int pass_kmsg(void)
{
	char rec[8192];
	ssize_t n = read(kmsg, rec, sizeof(rec));

	if (n > 0)
		send_frame('m', 0, rec, n);
	else if (n < 0 && errno == EPIPE)
		say("log records were lost");
	else
		return 0;
	return 1;
}

static void hello(uint32_t id, const char *cookie, size_t len)
{
	struct utsname u;
	char text[384];
	int n;

	uname(&u);
	if (len > 64)
		len = 64;
	n = snprintf(text + len, sizeof(text) - len, " %s %s %s", u.release, boot_id, boot_taint);
	/* The cookie, at the front, tells the host that this is no stale frame. */
	memcpy(text, cookie, len);
	send_frame('H', id, text, len + n);
	greeted = 1;
}

void leave(int how)
{
	sync();
	reboot(how);
}

static void handle(struct frame *f, char *data)
{
	switch (f->type) {
	case 'h':
		hello(f->id, data, f->len);
		break;
	case 's':
		job_start(f->id, data);
		break;
	case 'k':
		job_kill(f->id, data, f->len);
		break;
	case 'p':
		send_result(f->id, put_file(data, f->len));
		break;
	case 'g':
		get_file(f->id, data);
		break;
	case 'l':
		while (pass_kmsg())
			;
		send_result(f->id, 0);
		break;
	case 'b':
		leave(LINUX_REBOOT_CMD_RESTART);
		break;
	case 'q':
		leave(LINUX_REBOOT_CMD_POWER_OFF);
		break;
	default:
		say("unknown frame type %#x", f->type);
	}
}

static void handle_input(void)
{
	struct frame f;
	char *data, keep;

	while (in.len - in.off >= sizeof(f)) {
		memcpy(&f, in.data + in.off, sizeof(f));
		if (f.len > FRAME_MAX) {
			say("frame of %u bytes", f.len);
			in.off = in.len;
			return;
		}
		buf_reserve(&in, sizeof(f) + f.len + 1 - (in.len - in.off));
		if (in.len - in.off < sizeof(f) + f.len)
			return;
		/* Texts come without a 0; lend them the next frame's first byte. */
		data = in.data + in.off + sizeof(f);
		keep = data[f.len];
		data[f.len] = 0;
		handle(&f, data);
		data[f.len] = keep;
		in.off += sizeof(f) + f.len;
	}
}

static void port_read(void)
{
	ssize_t n;

	buf_reserve(&in, CHUNK);
	n = read(port, in.data + in.len, in.cap - in.len);
	if (n > 0) {
		in.len += n;
		handle_input();
	} else if (!n) {
		/* Nobody at the other end. */
		in.off = 0;
		in.len = 0;
		usleep(10000);
	}
}

static void port_write(void)
{
	ssize_t n = write(port, out.data + out.off, out.len - out.off);

	if (n > 0)
		out.off += n;
	if (out.off == out.len) {
		out.off = 0;
		out.len = 0;
	}
}

static void serve(void)
{
	struct pollfd fds[3 + 2 * JOBS_MAX];
	int full = out.len - out.off > OUT_HIGH;
	struct job *j;
	int n, i;

	forget_finished();
	fds[0] = (struct pollfd){ .fd = port, .events = POLLIN };
	if (out.len > out.off)
		fds[0].events |= POLLOUT;
	fds[1] = (struct pollfd){ .fd = sigs, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = greeted && !full ? kmsg : -1, .events = POLLIN };
	n = 3;
	for (j = jobs; j && n < 3 + 2 * JOBS_MAX; j = j->next)
		for (i = 0; i < 2; i++)
			fds[n++] = (struct pollfd){ .fd = full ? -1 : j->fd[i], .events = POLLIN };
	if (poll(fds, n, -1) < 0)
		return;
	n = 3;
	for (j = jobs; j && n < 3 + 2 * JOBS_MAX; j = j->next)
		for (i = 0; i < 2; i++)
			if (fds[n++].revents)
				job_read(j, i);
	if (fds[1].revents)
		reap();
	if (fds[2].revents)
		pass_kmsg();
	if (fds[0].revents & POLLOUT)
		port_write();
	if (fds[0].revents & (POLLIN | POLLHUP))
		port_read();
}

void agent_serve(int port_fd, const char *taint)
{
	sigset_t mask;

	port = port_fd;
	snprintf(boot_taint, sizeof(boot_taint), "%s", taint);
	read_text("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigs = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	say("agent is ready");
	for (;;)
		serve();
}
