// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "pins.h"

#define BPFFS "/sys/fs/bpf"
#define LOCK "/run/rocepath.lock"
#define ENTRY_LEN (sizeof(RP_PIN_DIR) + 2 * NAME_MAX)

const char *const rp_map_names[RP_MAPS] = {
	"policy", "peers4", "peers6", "qps", "qp_tx", "qp_rx", "jobs", "job_index", "pacers",
	"class_counters", "rule_counters", "events", "documents", "ports",
	"layout",
};

/* the layout; one that differs is another version's */
static const struct {
	uint32_t key, value;
} sizes[RP_MAPS] = {
	[RP_MAP_POLICY] = { sizeof(u32), sizeof(u32) },
	[RP_MAP_PEERS4] = { sizeof(struct rp_peer4_key), sizeof(struct rp_peer) },
	[RP_MAP_PEERS6] = { sizeof(struct rp_peer6_key), sizeof(struct rp_peer) },
	[RP_MAP_QPS] = { sizeof(struct rp_qp_key), sizeof(struct rp_qp) },
	[RP_MAP_QP_TX] = { sizeof(struct rp_wire_qp), sizeof(struct rp_qp_tx) },
	[RP_MAP_QP_RX] = { sizeof(struct rp_wire_qp), sizeof(struct rp_qp_rx) },
	[RP_MAP_JOBS] = { sizeof(u32), sizeof(struct rp_job) },
	[RP_MAP_JOB_INDEX] = { sizeof(u64), sizeof(u32) },
	[RP_MAP_PACERS] = { sizeof(u32), sizeof(struct rp_pacer) },
	[RP_MAP_CLASS_COUNTERS] = { sizeof(u32), sizeof(struct rp_counter) },
	[RP_MAP_RULE_COUNTERS] = { sizeof(u32), sizeof(struct rp_counter) },
	[RP_MAP_EVENTS] = { sizeof(u32), sizeof(struct rp_events) },
	[RP_MAP_DOCUMENTS] = { sizeof(u32), sizeof(struct rp_document) },
	[RP_MAP_PORTS] = { sizeof(u32), sizeof(struct rp_port_state) },
	[RP_MAP_LAYOUT] = { sizeof(u32), sizeof(struct rp_layout) },
};

static int failed(const char *path, struct rp_error *error)
{
	int err = -errno;

	rp_error_set(error, "%s: %s%s", path, strerror(-err),
		     err == -EPERM || err == -EACCES ? "; run it as root" : "");
	return err;
}

/* calls @fn for each entry, until it fails */
static int each_entry(const char *directory,
		      int (*fn)(const char *path, const char *name, bool is_dir))
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	char path[ENTRY_LEN];
	struct stat stat;
	int err = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) >=
		    sizeof(path))
			continue;
		if (!lstat(path, &stat))
			err = fn(path, entry->d_name, S_ISDIR(stat.st_mode));
	}
	closedir(dir);
	return err;
}

static int remove_entry(const char *path, const char *name, bool is_dir)
{
	(void)name;
	if (!is_dir)
		return unlink(path) && errno != ENOENT ? -errno : 0;
	each_entry(path, remove_entry);
	return rmdir(path) && errno != ENOENT ? -errno : 0;
}

static int move_link(const char *path, const char *name, bool is_dir)
{
	char to[ENTRY_LEN];

	(void)is_dir;
	snprintf(to, sizeof(to), RP_PIN_DIR "/links/%s", name);
	return rename(path, to) ? -errno : 0;
}

/* the directory of links has those of ports in it already: only what is in it moves */
static int move_entry(const char *path, const char *name, bool is_dir)
{
	char to[ENTRY_LEN];
	int err;

	if (is_dir && !strcmp(name, "links")) {
		mkdir(RP_PIN_DIR "/links", 0700);
		err = each_entry(path, move_link);
		return err ? err : remove_entry(path, name, true);
	}
	snprintf(to, sizeof(to), RP_PIN_DIR "/%s", name);
	if (is_dir)
		remove_entry(to, name, true);
	return rename(path, to) ? -errno : 0;
}

static int drop_old_programs(const char *path, const char *name, bool is_dir)
{
	char next[ENTRY_LEN];

	snprintf(next, sizeof(next), RP_NEXT "/%s", name);
	if (!is_dir || strncmp(name, "programs-", 9) || !access(next, F_OK))
		return 0;
	return remove_entry(path, name, true);
}

static int move_next(void)
{
	int err = access(RP_NEXT, F_OK) ? 0 : each_entry(RP_PIN_DIR, drop_old_programs);

	/* a rename while a directory is read may hide an entry: until there is none */
	while (!err && !access(RP_NEXT, F_OK)) {
		err = each_entry(RP_NEXT, move_entry);
		if (!err && !rmdir(RP_NEXT))
			break;
		if (!err && errno != ENOTEMPTY)
			err = -errno;
	}
	return err;
}

static int check_bpffs(struct rp_error *error)
{
	struct statfs fs;

	if (statfs(BPFFS, &fs))
		return failed(BPFFS, error);
	if (fs.f_type == BPF_FS_MAGIC)
		return 0;
	rp_error_set(error,
		     "there is no BPF file system; mount it: mount -t bpf -o mode=0700 none " BPFFS);
	return -ENODEV;
}

/**
 * rp_pins_lock() - let only one tool change things at a time
 * @error: why not
 *
 * Return: a file descriptor that holds the lock until the process ends, or a negative error
 * number.
 */
int rp_pins_lock(struct rp_error *error)
{
	int fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return failed(LOCK, error);
	if (flock(fd, LOCK_EX)) {
		close(fd);
		return failed(LOCK, error);
	}
	return fd;
}

/* on a bpffs that all may write to somebody else may have been first, or hold it open */
static int make_directory(struct rp_error *error)
{
	struct stat stat;

	if (mkdir(RP_PIN_DIR, 0700) && errno != EEXIST)
		return failed(RP_PIN_DIR, error);
	if (lstat(RP_PIN_DIR, &stat))
		return failed(RP_PIN_DIR, error);
	if (!S_ISDIR(stat.st_mode) || stat.st_uid != geteuid()) {
		rp_error_set(error, RP_PIN_DIR
			     " is not a directory of root's; look who made it, and remove it");
		return -EPERM;
	}
	if ((stat.st_mode & 07777) != 0700 && chmod(RP_PIN_DIR, 0700))
		return failed(RP_PIN_DIR, error);
	return 0;
}

/**
 * rp_pins_begin() - make the directory, and end what somebody was killed in
 * @error: why not
 *
 * Context: holding the lock.
 *
 * Return: 0 or a negative error number.
 */
int rp_pins_begin(struct rp_error *error)
{
	int err = check_bpffs(error);

	if (err)
		return err;
	err = make_directory(error);
	if (err)
		return err;
	rp_pins_abandon();
	errno = -move_next();
	return errno ? failed(RP_NEXT, error) : 0;
}

/**
 * rp_pins_make_stage() - make a directory for what is new
 * @directory: below RP_STAGE, or RP_STAGE
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_pins_make_stage(const char *directory, struct rp_error *error)
{
	return mkdir(directory, 0700) && errno != EEXIST ? failed(directory, error) : 0;
}

/**
 * rp_pins_commit() - what is in the stage takes the place of the old
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_pins_commit(struct rp_error *error)
{
	if (rename(RP_STAGE, RP_NEXT))
		return failed(RP_STAGE, error);
	errno = -move_next();
	return errno ? failed(RP_NEXT, error) : 0;
}

/**
 * rp_pins_abandon() - forget what is in the stage
 */
void rp_pins_abandon(void)
{
	remove_entry(RP_STAGE, "", true);
	unlink(RP_STAGE "-active");
}

/**
 * rp_pins_remove() - remove all pins
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_pins_remove(struct rp_error *error)
{
	errno = -remove_entry(RP_PIN_DIR, "", true);
	return errno ? failed(RP_PIN_DIR, error) : 0;
}

static bool has_sizes(int fd, size_t key, size_t value)
{
	struct bpf_map_info info = { 0 };
	u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &len) && info.key_size == key &&
	       info.value_size == value;
}

static bool has_layout(int fd, enum rp_map map)
{
	return has_sizes(fd, sizes[map].key, sizes[map].value);
}

/* sizes may be the same by chance: what counts is what the one who made them wrote down */
static bool is_ours(const struct rp_maps *maps)
{
	struct rp_layout layout = { 0 };
	u32 zero = 0;
	int inner;

	if (bpf_map_lookup_elem(maps->fd[RP_MAP_LAYOUT], &zero, &layout) ||
	    layout.version != RP_POLICY_VERSION)
		return false;
	inner = rp_map_inner(maps);
	if (inner >= 0)
		close(inner);
	return inner != -ESTALE;
}

/**
 * rp_map_open() - open one map that is pinned
 * @map: which
 *
 * Return: a file descriptor; -1: there is none, or it is another version's.
 */
int rp_map_open(enum rp_map map)
{
	char path[RP_PATH_LEN];
	int fd;

	snprintf(path, sizeof(path), RP_PIN_DIR "/%s", rp_map_names[map]);
	fd = bpf_obj_get(path);
	if (fd >= 0 && !has_layout(fd, map)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/**
 * rp_map_inner() - open the map of the policy in force
 * @maps: the maps
 *
 * Return: a file descriptor; -ENOENT: there is none; -ESTALE: its value is not a struct rp_policy;
 * or another negative error number.
 */
int rp_map_inner(const struct rp_maps *maps)
{
	u32 zero = 0, id;
	int fd;

	if (bpf_map_lookup_elem(maps->fd[RP_MAP_POLICY], &zero, &id))
		return -errno;
	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0)
		return -errno;
	if (has_sizes(fd, sizeof(u32), sizeof(struct rp_policy)))
		return fd;
	close(fd);
	return -ESTALE;
}

/**
 * rp_netns_number() - inode of this network namespace
 */
uint32_t rp_netns_number(void)
{
	struct stat stat_ns;

	return stat("/proc/self/ns/net", &stat_ns) ? 0 : stat_ns.st_ino;
}

/**
 * rp_pins_are_elsewhere() - whether there are pins, and they are about another network namespace
 *
 * Netdevices have other numbers there.
 */
bool rp_pins_are_elsewhere(void)
{
	struct rp_layout layout = { 0 };
	int fd = rp_map_open(RP_MAP_LAYOUT);
	u32 zero = 0;

	if (fd < 0)
		return false;
	bpf_map_lookup_elem(fd, &zero, &layout);
	close(fd);
	return layout.netns && layout.netns != rp_netns_number();
}

static int stale(struct rp_maps *maps, struct rp_error *error)
{
	rp_maps_close(maps);
	rp_error_set(error,
		     "the policy in force is of another version of the tool: apply it again with this one");
	return -ESTALE;
}

/**
 * rp_maps_open() - open the maps that are pinned
 * @maps: where they go
 * @error: why not
 *
 * Return: 0; -ENOENT: there are none; -ESTALE: they are another version's; or another negative
 * error number.
 */
int rp_maps_open(struct rp_maps *maps, struct rp_error *error)
{
	char path[RP_PATH_LEN];

	memset(maps->fd, -1, sizeof(maps->fd));
	for (unsigned int i = 0; i < RP_MAPS; i++) {
		snprintf(path, sizeof(path), RP_PIN_DIR "/%s", rp_map_names[i]);
		maps->fd[i] = bpf_obj_get(path);
		if (maps->fd[i] < 0) {
			int err = -errno;

			if (i && err == -ENOENT)
				return stale(maps, error);
			if (err == -ENOENT)
				rp_error_set(error,
					     "no policy is in force; apply one: rocepath apply FILE");
			else
				failed(path, error);
			rp_maps_close(maps);
			return err;
		}
		if (!has_layout(maps->fd[i], i))
			return stale(maps, error);
	}
	return is_ours(maps) ? 0 : stale(maps, error);
}

/**
 * rp_maps_close() - close the maps
 * @maps: the maps, may be closed
 */
void rp_maps_close(struct rp_maps *maps)
{
	for (unsigned int i = 0; i < RP_MAPS; i++) {
		if (maps->fd[i] >= 0)
			close(maps->fd[i]);
		maps->fd[i] = -1;
	}
}
