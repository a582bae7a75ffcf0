/* SPDX-License-Identifier: GPL-2.0 */
/* The small files of /proc and /sys. */
#ifndef ROCEPATH_USER_FILES_H
#define ROCEPATH_USER_FILES_H

#include <stddef.h>
#include <stdint.h>

#define RP_FILE_PATH_LEN 192

int rp_file_line(const char *path, char *line, size_t size);
int rp_file_number(const char *path, int64_t *number);

#endif /* ROCEPATH_USER_FILES_H */
