// SPDX-License-Identifier: GPL-2.0
/*
 * PID 1 of a lab machine.
 *
 * Mounts what Linux programs expect, loads the modules that /etc/modules
 * names, and then serves the host on a virtio-serial port. All is frames:
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
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT_NAME	"rocepath.agent"
#define FRAME_MAX	(512u << 20)
#define OUT_HIGH	(1u << 20)	/* stop reading jobs above it */
#define CHUNK		65536

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

static int port = -1, kmsg = -1, sigs = -1;
static int greeted;
static struct buf in, out;
static struct job *jobs;
static char boot_taint[24], boot_id[40];

static void say(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n, fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	n = snprintf(line, sizeof(line), "<5>lab: ");
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(line))
		n = sizeof(line) - 1;
	if (write(fd, line, n) < 0)
		perror("kmsg");
	close(fd);
}

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

static size_t read_text(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		n = 0;
	while (n && to[n - 1] == '\n')
		n--;
	to[n] = 0;
	return n;
}

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

static void leave(int how)
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
		in.off = in.len = 0;
		usleep(10000);
	}
}

static void port_write(void)
{
	ssize_t n = write(port, out.data + out.off, out.len - out.off);

	if (n > 0)
		out.off += n;
	if (out.off == out.len)
		out.off = out.len = 0;
}

static void serve(void)
{
	struct pollfd fds[3 + 2 * 256];
	struct job *j;
	int n, i;

	forget_finished();
	fds[0] = (struct pollfd){ .fd = port, .events = POLLIN | (out.len > out.off ? POLLOUT : 0) };
	fds[1] = (struct pollfd){ .fd = sigs, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = greeted ? kmsg : -1, .events = POLLIN };
	n = 3;
	for (j = jobs; j && n < 2 * 256; j = j->next) {
		int full = out.len - out.off > OUT_HIGH;

		for (i = 0; i < 2; i++)
			fds[n++] = (struct pollfd){ .fd = full ? -1 : j->fd[i], .events = POLLIN };
	}
	if (poll(fds, n, -1) < 0)
		return;
	n = 3;
	for (j = jobs; j && n < 2 * 256; j = j->next)
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

/* Coming up. */

static const struct {
	const char *type, *dir;
} mounts[] = {
	{ "proc", "/proc" },
	{ "sysfs", "/sys" },
	{ "devtmpfs", "/dev" },
	{ "devpts", "/dev/pts" },
	{ "tmpfs", "/dev/shm" },
	{ "tmpfs", "/tmp" },
	{ "tmpfs", "/run" },
	{ "debugfs", "/sys/kernel/debug" },
	{ "tracefs", "/sys/kernel/tracing" },
	{ "bpf", "/sys/fs/bpf" },
	{ "cgroup2", "/sys/fs/cgroup" },
};

static void mount_all(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].dir, 0755);
		if (mount(mounts[i].type, mounts[i].dir, mounts[i].type, 0, NULL))
			say("mount %s: %s", mounts[i].dir, strerror(errno));
	}
	mkdir("/run/netns", 0755);
}

static void load_modules(void)
{
	char path[512];
	FILE *list = fopen("/etc/modules", "re");

	while (list && fgets(path, sizeof(path), list)) {
		int fd;

		path[strcspn(path, "\n")] = 0;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			say("module %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	if (list)
		fclose(list);
}

static void lo_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
		say("lo: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

static int open_port(void)
{
	const char *dir = "/sys/class/virtio-ports";
	char path[512], name[64];
	struct dirent *d;
	int fd = -1;
	DIR *ports = opendir(dir);

	while (ports && fd < 0 && (d = readdir(ports))) {
		snprintf(path, sizeof(path), "%s/%s/name", dir, d->d_name);
		read_text(path, name, sizeof(name));
		if (strcmp(name, PORT_NAME))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", d->d_name);
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	}
	if (ports)
		closedir(ports);
	return fd;
}

static void set_up(void)
{
	sigset_t mask;

	setenv("PATH", "/sbin:/bin:/usr/sbin:/usr/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("TERM", "dumb", 1);
	setenv("LC_ALL", "C", 1);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigs = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	read_text("/proc/sys/kernel/tainted", boot_taint, sizeof(boot_taint));
	read_text("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	if (sethostname("lab", 3))
		say("hostname: %s", strerror(errno));
	load_modules();
	lo_up();
}

int main(void)
{
	mount_all();
	set_up();
	/* The port's name comes by a control message, some time after the probe. */
	for (int i = 0; port < 0 && i < 3000; i++) {
		port = open_port();
		if (port < 0)
			usleep(10000);
	}
	if (port < 0) {
		say("no virtio-serial port " PORT_NAME);
		leave(LINUX_REBOOT_CMD_POWER_OFF);
	}
	say("agent is ready");
	for (;;)
		serve();
}
