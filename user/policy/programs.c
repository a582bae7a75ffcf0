// SPDX-License-Identifier: GPL-2.0
/*
 * The programs are in the tool, and are loaded when those of this build are not
 * pinned yet. The census (programs on functions of ib_core) is tried in the ways
 * that there are, best first; without ib_core there is nothing to watch, and without
 * its types nothing that can be.
 *
 * What libbpf and the verifier say goes into a file; the user gets one line.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>

#include "programs.h"
#include "rocepath.skel.h"

#define LOG "/run/rocepath-bpf.log"
#define CENSUS "census_"
#define CENSUS_KPROBE CENSUS "kprobe_"

const char *const rp_program_names[RP_PROGRAMS] = {
	"admit", "admit_linear", "admit_ingress", "egress", "ingress", "port_egress", "lose",
};

const char *const rp_census_names[] = { "fentry", "kprobe", "none" };

static FILE *log_file;

static int print_log(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	return log_file ? vfprintf(log_file, format, args) : 0;
}

static bool has_ib_core(void)
{
	return !access("/sys/module/ib_core", F_OK) || !access("/sys/class/infiniband", F_OK);
}

/* of a module, or built in; kprobes need them too, to find fields by name */
static bool has_ib_core_types(void)
{
	struct btf *btf;
	bool found;

	if (!access("/sys/kernel/btf/ib_core", F_OK))
		return true;
	btf = btf__load_vmlinux_btf();
	found = btf && btf__find_by_name_kind(btf, "ib_qp", BTF_KIND_STRUCT) > 0;
	btf__free(btf);
	return found;
}

static bool has_types(void)
{
	struct btf *btf = btf__load_vmlinux_btf();

	btf__free(btf);
	return btf;
}

/* FNV-1a: the same programs with the same configuration have the same name */
static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	while (len--)
		h = (h ^ *bytes++) * 0x100000001b3ull;
	return h;
}

static void directory_of(const char *above, char *path)
{
	uint32_t netns = rp_netns_number();
	size_t len;
	const void *elf = rocepath_bpf__elf_bytes(&len);
	uint64_t h = hash(0xcbf29ce484222325ull, elf, len);

	h = hash(h, &netns, sizeof(netns));
	snprintf(path, RP_PATH_LEN, "%s/programs-%016" PRIx64, above, h);
}

static int open_programs(const char *directory, struct rp_programs *programs)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < RP_PROGRAMS; i++) {
		struct bpf_prog_info info = { 0 };
		char path[2 * RP_PATH_LEN];
		u32 len = sizeof(info);

		programs->id[i] = 0;
		snprintf(path, sizeof(path), "%s/%s", directory, rp_program_names[i]);
		programs->fd[i] = bpf_obj_get(path);
		if (programs->fd[i] < 0)
			continue;
		found++;
		if (!bpf_obj_get_info_by_fd(programs->fd[i], &info, &len))
			programs->id[i] = info.id;
	}
	return found ? 0 : -ENOENT;
}

static int find_directory(char *path)
{
	DIR *dir = opendir(RP_PIN_DIR);
	const struct dirent *entry;
	int err = -ENOENT;

	if (!dir)
		return -errno;
	while (err && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "programs-", 9) && strlen(entry->d_name) < 32) {
			snprintf(path, RP_PATH_LEN, RP_PIN_DIR "/%.32s", entry->d_name);
			err = 0;
		}
	closedir(dir);
	return err;
}

/**
 * rp_programs_open() - open the programs that are pinned, whichever they are
 * @programs: where they go
 *
 * Return: 0 or -ENOENT.
 */
int rp_programs_open(struct rp_programs *programs)
{
	char path[RP_PATH_LEN];
	int err = find_directory(path);

	memset(programs->fd, -1, sizeof(programs->fd));
	return err ? err : open_programs(path, programs);
}

/**
 * rp_census_now() - how QPs are watched
 */
enum rp_census rp_census_now(void)
{
	DIR *dir = opendir(RP_PIN_DIR "/links");
	enum rp_census census = RP_CENSUS_NONE;
	const struct dirent *entry;

	if (!dir)
		return census;
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, CENSUS_KPROBE, strlen(CENSUS_KPROBE)))
			census = RP_CENSUS_KPROBE;
		else if (!strncmp(entry->d_name, CENSUS, strlen(CENSUS)))
			census = RP_CENSUS_FENTRY;
	closedir(dir);
	return census;
}

/**
 * rp_census_is_missing() - whether there are QPs to watch, and nothing does
 */
bool rp_census_is_missing(void)
{
	return has_ib_core() && rp_census_now() == RP_CENSUS_NONE;
}

/**
 * rp_programs_current() - whether the programs of this build are pinned
 * @programs: where they go if so
 *
 * They are loaded anew when ib_core came after them, too.
 */
bool rp_programs_current(struct rp_programs *programs)
{
	char path[RP_PATH_LEN];

	memset(programs->fd, -1, sizeof(programs->fd));
	if (rp_census_is_missing())
		return false;
	directory_of(RP_PIN_DIR, path);
	return !open_programs(path, programs);
}

/**
 * rp_programs_close() - close programs
 * @programs: the programs, may be closed
 */
void rp_programs_close(struct rp_programs *programs)
{
	for (unsigned int i = 0; i < RP_PROGRAMS; i++) {
		if (programs->fd[i] >= 0)
			close(programs->fd[i]);
		programs->fd[i] = -1;
	}
}

static bool wanted(const char *name, enum rp_census census)
{
	bool kprobe = !strncmp(name, CENSUS_KPROBE, strlen(CENSUS_KPROBE));

	if (strncmp(name, CENSUS, strlen(CENSUS)))
		return true;
	return census == RP_CENSUS_KPROBE ? kprobe : census == RP_CENSUS_FENTRY && !kprobe;
}

static int reuse_maps(struct bpf_object *object, const struct rp_maps *maps)
{
	for (unsigned int i = 0; i < RP_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, rp_map_names[i]);
		int err = map ? bpf_map__reuse_fd(map, maps->fd[i]) : -ENOENT;

		if (err)
			return err;
	}
	return 0;
}

static struct rocepath_bpf *load(const struct rp_maps *maps, enum rp_census census)
{
	struct rocepath_bpf *skel = rocepath_bpf__open();
	struct bpf_program *program;
	int err = 0;

	if (!skel)
		return NULL;
	/* whose sockets may send */
	skel->rodata->netns_inum = rp_netns_number();
	bpf_object__for_each_program(program, skel->obj)
		bpf_program__set_autoload(program, wanted(bpf_program__name(program), census));
	if (maps)
		err = reuse_maps(skel->obj, maps);
	if (!err)
		err = rocepath_bpf__load(skel);
	if (!err)
		return skel;
	rocepath_bpf__destroy(skel);
	errno = -err;
	return NULL;
}

/* their links are pinned at once: the stage keeps them if all goes well */
static int attach_census(struct bpf_object *object)
{
	struct bpf_program *program;
	char path[RP_PATH_LEN];

	bpf_object__for_each_program(program, object) {
		const char *name = bpf_program__name(program);
		struct bpf_link *link;
		int err;

		if (strncmp(name, CENSUS, strlen(CENSUS)) || !bpf_program__autoload(program))
			continue;
		link = bpf_program__attach(program);
		if (!link)
			return -errno;
		snprintf(path, sizeof(path), RP_STAGE "/links/%s", name);
		err = bpf_link__pin(link, path);
		if (!err)
			bpf_link__disconnect(link);
		bpf_link__destroy(link);
		if (err)
			return err;
	}
	return 0;
}

static int pin_programs(struct bpf_object *object)
{
	char directory[RP_PATH_LEN], path[2 * RP_PATH_LEN];

	directory_of(RP_STAGE, directory);
	if (mkdir(directory, 0700))
		return -errno;
	for (unsigned int i = 0; i < RP_PROGRAMS; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(object, rp_program_names[i]);
		int err;

		if (!program)
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, rp_program_names[i]);
		err = bpf_program__pin(program, path);
		if (err)
			return err;
	}
	return 0;
}

static int pin_maps(struct bpf_object *object)
{
	const struct rp_layout layout = {
		.version = RP_POLICY_VERSION, .netns = rp_netns_number(),
	};
	const struct bpf_map *said = bpf_object__find_map_by_name(object, "layout");
	char path[RP_PATH_LEN];
	u32 zero = 0;

	if (!said || bpf_map_update_elem(bpf_map__fd(said), &zero, &layout, BPF_ANY))
		return said ? -errno : -ENOENT;

	for (unsigned int i = 0; i < RP_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, rp_map_names[i]);

		snprintf(path, sizeof(path), RP_STAGE "/%s", rp_map_names[i]);
		if (!map || bpf_obj_pin(bpf_map__fd(map), path))
			return map ? -errno : -ENOENT;
	}
	return 0;
}

/* best first */
static struct rocepath_bpf *load_best(const struct rp_maps *maps)
{
	enum rp_census census = has_ib_core() && has_ib_core_types() ? RP_CENSUS_FENTRY :
				RP_CENSUS_NONE;

	for (;; census++) {
		struct rocepath_bpf *skel = load(maps, census);
		int err = skel ? -attach_census(skel->obj) : errno;

		if (skel && !err)
			return skel;
		rocepath_bpf__destroy(skel);
		rp_pins_abandon();
		errno = err;
		if (census == RP_CENSUS_NONE || rp_pins_make_stage(RP_STAGE, NULL) ||
		    rp_pins_make_stage(RP_STAGE "/links", NULL))
			return NULL;
	}
}

static bool census_is_staged(void)
{
	return !access(RP_STAGE "/links/" CENSUS "destroy", F_OK) ||
	       !access(RP_STAGE "/links/" CENSUS_KPROBE "destroy", F_OK);
}

static int fill_stage(struct rp_programs *programs, struct rp_maps *maps, bool fresh)
{
	struct rocepath_bpf *skel = load_best(fresh ? NULL : maps);
	char directory[RP_PATH_LEN];
	int err = skel ? pin_programs(skel->obj) : -errno;

	if (!err && fresh)
		err = pin_maps(skel->obj);
	for (unsigned int i = 0; !err && fresh && i < RP_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(skel->obj, rp_map_names[i]);

		maps->fd[i] = fcntl(bpf_map__fd(map), F_DUPFD_CLOEXEC, 3);
	}
	rocepath_bpf__destroy(skel);
	directory_of(RP_STAGE, directory);
	return err ? err : open_programs(directory, programs);
}

/**
 * rp_programs_load() - load the programs into the stage of the pins
 * @programs: where they go
 * @maps: those to use, or where new ones go
 * @fresh: new ones are wanted
 * @error: why not
 *
 * Return: 0 or a negative error number.
 */
int rp_programs_load(struct rp_programs *programs, struct rp_maps *maps, bool fresh,
		     struct rp_error *error)
{
	int err;

	if (!has_types()) {
		rp_error_set(error,
			     "the kernel says nothing of its types, which the programs need: it is built without CONFIG_DEBUG_INFO_BTF");
		return -ENOTSUP;
	}
	err = rp_pins_make_stage(RP_STAGE, error);
	if (!err)
		err = rp_pins_make_stage(RP_STAGE "/links", error);
	if (err)
		return err;
	log_file = fopen(LOG, "we");
	libbpf_set_print(print_log);
	err = fill_stage(programs, maps, fresh);
	if (log_file)
		fclose(log_file);
	log_file = NULL;
	libbpf_set_print(NULL);
	if (err)
		rp_error_set(error,
			     "the kernel does not take the programs: %s%s; what it says is in " LOG,
			     strerror(-err), err == -EPERM ? " (run it as root)" : "");
	else if (has_ib_core() && !has_ib_core_types())
		rp_complain("warning: the kernel says nothing of ib_core's types, so queue pairs are not watched: it is built without CONFIG_DEBUG_INFO_BTF_MODULES");
	else if (has_ib_core() && !census_is_staged())
		rp_complain("warning: this kernel lets no queue pairs be watched; see " LOG);
	else
		unlink(LOG);
	return err;
}
