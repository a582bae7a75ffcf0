// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

/**
 * rp_file_line() - read the first line of a file
 * @path: of the file
 * @line: where it goes, without its end
 * @size: of @line; what is longer is cut
 *
 * Return: 0 or a negative error number; then @line is empty.
 */
int rp_file_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	int err = file ? 0 : -errno;

	*line = '\0';
	if (!file)
		return err;
	if (!fgets(line, size, file)) {
		err = ferror(file) ? -errno : 0;
		*line = '\0';
	}
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
	return err;
}

/**
 * rp_file_number() - read a file that holds a number
 * @path: of the file
 * @number: where it goes
 *
 * Return: 0 or a negative error number; -EINVAL: it holds something else.
 */
int rp_file_number(const char *path, int64_t *number)
{
	char line[64], *end;
	int err = rp_file_line(path, line, sizeof(line));

	if (err)
		return err;
	errno = 0;
	*number = strtoll(line, &end, 0);
	return errno || end == line || *end ? -EINVAL : 0;
}
