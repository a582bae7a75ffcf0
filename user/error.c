// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

/**
 * rp_error_set() - say why something was refused
 * @error: where the line is kept; NULL drops it
 * @format: as of printf(), without a newline
 *
 * Return: -1, so that a parser can return it at once.
 */
int rp_error_set(struct rp_error *error, const char *format, ...)
{
	va_list args;

	if (!error)
		return -1;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -1;
}

/**
 * rp_complain() - print one line to stderr, under the name of the tool
 * @format: as of printf(), without a newline
 */
void rp_complain(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("rocepath: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}
