// SPDX-License-Identifier: GPL-2.0
/*
 * Secrets come from a file or a pipe, never from the command line, where all
 * users could read them; and no copy of one outlives the request.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/stat.h>

#include "commands.h"
#include "key.h"
#include "units.h"

#define HEX_LEN (2 * ROCEPATH_KEY_LEN)
#define FILE_MAX (HEX_LEN + 3)	/* and a line end, and one more to see that there is more */
#define MAKE_ONE "make one: (umask 077; openssl rand -hex 16 >FILE)"

/**
 * rp_key_show() - rocepath key show [dev DEV]
 * @cli: this run
 * @args: the command line
 */
int rp_key_show(struct rp_cli *cli, const struct rp_args *args)
{
	static const struct rp_listing listing = {
		ROCEPATH_CMD_KEY_GET, &rp_key_attrs, ROCEPATH_A_KEY_DEVICE,
		"no key: nothing is sprayed; set one: rocepath key set dev DEV id 1 secret-file FILE",
	};

	return rp_cli_list(cli, args, &listing);
}

static int open_secret(const char *path)
{
	struct stat stat;
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

	if (fd < 0) {
		rp_complain("%s: %s; " MAKE_ONE, path, strerror(errno));
		return -1;
	}
	if (isatty(fd)) {
		rp_complain("a terminal would show the secret: give a file, or a pipe to -");
		return -1;
	}
	if (!fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_mode & 0077)
		rp_complain("warning: others may read %s: chmod 600 %s", path, path);
	return fd;
}

static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t got = read(fd, text + len, size - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		len += got;
	}
	return len;
}

/* 16 bytes are the secret itself; all else must be hex, with or without a line end */
static int parse_secret(const char *text, size_t len, uint8_t *secret)
{
	if (len == ROCEPATH_KEY_LEN) {
		memcpy(secret, text, len);
		return 0;
	}
	while (len > HEX_LEN && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	return rp_hex_parse(text, len, secret, ROCEPATH_KEY_LEN);
}

/**
 * rp_secret_read() - read a key's secret from a file, or complain
 * @path: of the file; "-" is standard input
 * @secret: ROCEPATH_KEY_LEN bytes, to be overwritten after use
 *
 * Return: an exit code.
 */
int rp_secret_read(const char *path, uint8_t *secret)
{
	int fd = open_secret(path), ret = RP_EXIT_FAILURE;
	char text[FILE_MAX];
	ssize_t len;

	prctl(PR_SET_DUMPABLE, 0);	/* no core file, no ptrace */
	if (fd < 0)
		return RP_EXIT_FAILURE;
	len = read_all(fd, text, sizeof(text));
	if (len < 0)
		rp_complain("%s: %s", path, strerror(errno));
	else if (parse_secret(text, len, secret))
		rp_complain("%s holds no key of 32 hex digits or 16 bytes; " MAKE_ONE, path);
	else
		ret = RP_EXIT_OK;
	explicit_bzero(text, sizeof(text));
	if (fd != STDIN_FILENO)
		close(fd);
	return ret;
}

static struct nlmsghdr *request(struct rp_cli *cli, const struct rp_args *args,
				enum rocepath_cmd cmd)
{
	struct nlmsghdr *nlh;
	uint32_t ifindex;

	if (rp_cli_connect(cli) ||
	    rp_cli_ifindex(rp_args_text(args, "dev"), RP_ARG_DEVICE, &ifindex))
		return NULL;
	nlh = rp_nl_request(cli->nl, cmd);
	mnl_attr_put_u32(nlh, ROCEPATH_A_KEY_DEVICE, ifindex);
	mnl_attr_put_u8(nlh, ROCEPATH_A_KEY_ID, rp_args_get(args, "id")->number);
	return nlh;
}

static int send_key(struct rp_cli *cli, const struct rp_args *args, const uint8_t *secret)
{
	const struct rp_value *active = rp_args_get(args, "active");
	struct nlmsghdr *nlh = request(cli, args, ROCEPATH_CMD_KEY_SET);
	int ret;

	if (!nlh)
		return RP_EXIT_FAILURE;
	if (secret)
		mnl_attr_put(nlh, ROCEPATH_A_KEY_SECRET, ROCEPATH_KEY_LEN, secret);
	if (active)
		mnl_attr_put_u8(nlh, ROCEPATH_A_KEY_ACTIVE, active->number);
	ret = rp_cli_change(cli, args, rp_args_text(args, "dev"));
	rp_nl_forget(cli->nl);
	return ret;
}

/**
 * rp_key_set() - rocepath key set dev DEV id N [secret-file FILE] [active yes|no]
 * @cli: this run
 * @args: the command line
 */
int rp_key_set(struct rp_cli *cli, const struct rp_args *args)
{
	const char *path = rp_args_text(args, "secret-file");
	uint8_t secret[ROCEPATH_KEY_LEN];
	int ret;

	if (!path && !rp_args_get(args, "active")) {
		rp_complain("nothing to set: add secret-file FILE, or active yes");
		return RP_EXIT_USAGE;
	}
	if (!path)
		return send_key(cli, args, NULL);
	ret = rp_secret_read(path, secret);
	if (!ret)
		ret = send_key(cli, args, secret);
	explicit_bzero(secret, sizeof(secret));
	return ret;
}

/**
 * rp_key_del() - rocepath key del dev DEV id N
 * @cli: this run
 * @args: the command line
 */
int rp_key_del(struct rp_cli *cli, const struct rp_args *args)
{
	if (!request(cli, args, ROCEPATH_CMD_KEY_DEL))
		return RP_EXIT_FAILURE;
	return rp_cli_change(cli, args, rp_args_text(args, "dev"));
}
