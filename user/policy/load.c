// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"

static int add_file(struct rp_spec *spec, const char *path, struct rp_report *report)
{
	struct rp_error error;
	struct rp_source *source = rp_source_read(path, &error);

	if (!source) {
		rp_complain("%s", error.text);
		report->errors++;
		return -1;
	}
	return rp_spec_read(spec, source, report);
}

static int is_yaml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return *entry->d_name != '.' && dot && !strcmp(dot, ".yaml");
}

/* in the order of their names, as others do with such directories */
static void add_directory(struct rp_spec *spec, struct rp_report *report)
{
	struct dirent **entries;
	int count = scandir(RP_SPEC_DIR, &entries, is_yaml, alphasort);

	if (count < 0 && errno != ENOENT) {
		rp_complain(RP_SPEC_DIR ": %s", strerror(errno));
		report->errors++;
	}
	for (int i = 0; i < count; i++) {
		char path[sizeof(RP_SPEC_DIR) + 1 + sizeof(entries[i]->d_name)];

		snprintf(path, sizeof(path), "%s/%s", RP_SPEC_DIR, entries[i]->d_name);
		add_file(spec, path, report);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static struct rp_spec *finish(struct rp_spec *spec, struct rp_report *report)
{
	if (!report->errors)
		rp_spec_check(spec, report);
	if (!report->errors)
		return spec;
	rp_spec_release(spec);
	return NULL;
}

/* what policies are made of by people, and not by us */
static struct rp_spec *finish_files(struct rp_spec *spec, struct rp_report *report)
{
	spec = finish(spec, report);
	if (spec)
		rp_spec_warn(spec, report);
	return spec;
}

static struct rp_spec *begin(void)
{
	struct rp_spec *spec = rp_spec_new();

	if (!spec)
		rp_complain("out of memory");
	return spec;
}

/**
 * rp_spec_load() - read and check a spec, and complain
 * @path: one file, "-": standard input; NULL: the files in /etc/rocepath
 *
 * Return: a policy that is right, or NULL.
 */
struct rp_spec *rp_spec_load(const char *path)
{
	return rp_spec_load_json(path, NULL);
}

/**
 * rp_spec_load_json() - the same, for programs
 * @path: as in rp_spec_load()
 * @json: where what is wrong in files goes, an object for each; NULL: as lines to stderr
 *
 * Return: a policy that is right, or NULL.
 */
struct rp_spec *rp_spec_load_json(const char *path, struct rp_json *json)
{
	struct rp_report report = { .out = stderr, .json = json };
	struct rp_spec *spec = begin();

	if (!spec)
		return NULL;
	if (path) {
		add_file(spec, path, &report);
	} else {
		if (!access(RP_SPEC_FILE, F_OK))
			add_file(spec, RP_SPEC_FILE, &report);
		add_directory(spec, &report);
		if (!spec->sources && !report.errors) {
			rp_complain("there is no " RP_SPEC_FILE ": write one, or name a file");
			report.errors++;
		}
	}
	return finish_files(spec, &report);
}

/**
 * rp_spec_parse() - read and check a policy that is in memory, and complain
 * @name: where it came from
 * @text: the policy
 * @len: of @text
 *
 * Return: a policy that is right, or NULL.
 */
struct rp_spec *rp_spec_parse(const char *name, const char *text, size_t len)
{
	struct rp_source *source = rp_source_new(name, text, len);
	struct rp_report report = { .out = stderr };
	struct rp_spec *spec = source ? begin() : NULL;

	if (!spec) {
		rp_source_release(source);
		return NULL;
	}
	rp_spec_read(spec, source, &report);
	return finish(spec, &report);
}
