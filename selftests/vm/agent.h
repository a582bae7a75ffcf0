/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LAB_AGENT_H
#define LAB_AGENT_H

#include <stddef.h>

/* To the kernel log. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The text of a small file, without newlines at its end; empty when there is none. */
size_t read_text(const char *path, char *to, size_t size);

/* End the machine, as reboot(2) has it. */
void leave(int how);

/* Serve the host; taint is what /proc/sys/kernel/tainted said first. */
void agent_serve(int port, const char *taint) __attribute__((noreturn));

#endif
