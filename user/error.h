/* SPDX-License-Identifier: GPL-2.0 */
/* How things go wrong: one line on stderr, which names the next step. */
#ifndef ROCEPATH_USER_ERROR_H
#define ROCEPATH_USER_ERROR_H

#define RP_PRINTF(a, b) __attribute__((format(printf, a, b)))

/* exit codes of the tool */
enum {
	RP_EXIT_OK,
	RP_EXIT_FAILURE,
	RP_EXIT_USAGE,
};

struct rp_error {
	char text[384];
};

int rp_error_set(struct rp_error *error, const char *format, ...) RP_PRINTF(2, 3);
void rp_complain(const char *format, ...) RP_PRINTF(1, 2);

#endif /* ROCEPATH_USER_ERROR_H */
