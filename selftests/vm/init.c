// SPDX-License-Identifier: GPL-2.0
/*
 * PID 1 of a lab machine: mounts what Linux programs expect, loads the modules
 * that /etc/modules names, and then serves the host (agent.c).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"

#define PORT_NAME	"rocepath.agent"

void say(const char *fmt, ...)
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

size_t read_text(const char *path, char *to, size_t size)
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

int main(void)
{
	char taint[24];
	int port = -1;

	mount_all();
	setenv("PATH", "/sbin:/bin:/usr/sbin:/usr/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("TERM", "dumb", 1);
	setenv("LC_ALL", "C", 1);
	if (sethostname("lab", 3))
		say("hostname: %s", strerror(errno));
	/* Before the first module can taint the kernel. */
	read_text("/proc/sys/kernel/tainted", taint, sizeof(taint));
	load_modules();
	lo_up();
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
	agent_serve(port, taint);
}
