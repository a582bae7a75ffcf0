/* SPDX-License-Identifier: GPL-2.0 */
/* Looking words up as people type them: shortened, or misspelt. */
#ifndef ROCEPATH_USER_WORDS_H
#define ROCEPATH_USER_WORDS_H

#include "error.h"

/* the words to choose from: the name of each of @count entries */
struct rp_words {
	const void *entries;
	unsigned int count;
	const char *(*name)(const void *entries, unsigned int i);
};

int rp_words_find(const struct rp_words *words, const char *what, const char *word,
		  struct rp_error *error);
int rp_words_exact(const struct rp_words *words, const char *word);
int rp_words_unknown(const struct rp_words *words, const char *what, const char *word,
		     struct rp_error *error);

#endif /* ROCEPATH_USER_WORDS_H */
