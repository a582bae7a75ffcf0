// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "words.h"

#define WORD_MAX 32	/* longer ones are not compared */
#define LIST_LEN 320
#define CLOSEST 3	/* more would be noise */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance, in one row */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[WORD_MAX + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned int replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
		}
	}
	return row[lb];
}

/* how unlike: 0 and 1 are kept for words that contain each other */
static unsigned int unlike(const char *word, const char *name)
{
	unsigned int d = distance(word, name);

	if (d > 1 && strlen(word) > 1 && (strstr(name, word) || strstr(word, name)))
		return 1;
	return d;
}

static void append(char *list, const char *name, const char *separator)
{
	size_t len = strlen(list);

	snprintf(list + len, LIST_LEN - len, "%s%s", len ? separator : "", name);
}

static void list_prefixed(const struct rp_words *words, const char *word, char *list)
{
	*list = '\0';
	for (unsigned int i = 0; i < words->count; i++)
		if (!strncmp(words->name(words->entries, i), word, strlen(word)))
			append(list, words->name(words->entries, i), ", ");
}

static unsigned int list_closest(const struct rp_words *words, const char *word, char *list)
{
	unsigned int limit = least(strlen(word) / 3 + 1, 4), found = 0;

	*list = '\0';
	for (unsigned int d = 0; d <= limit; d++)
		for (unsigned int i = 0; i < words->count && found < CLOSEST; i++) {
			const char *name = words->name(words->entries, i);

			if (unlike(word, name) != d)
				continue;
			append(list, name, " or ");
			found++;
		}
	return found;
}

/**
 * rp_words_unknown() - refuse a word, and name those that may have been meant
 * @words: the right ones
 * @what: what they are, for the message
 * @word: the wrong one
 * @error: where the message goes
 *
 * Return: -1.
 */
int rp_words_unknown(const struct rp_words *words, const char *what, const char *word,
		     struct rp_error *error)
{
	char list[LIST_LEN];

	if (!words->count)
		return rp_error_set(error, "'%s' is one word too many", word);
	if (list_closest(words, word, list))
		return rp_error_set(error, "unknown %s '%s': did you mean %s?", what, word, list);
	list_prefixed(words, "", list);
	return rp_error_set(error, "unknown %s '%s': there are %s", what, word, list);
}

/**
 * rp_words_exact() - find a word that may not be shortened
 * @words: the right ones
 * @word: the word
 *
 * Return: its index or -1.
 */
int rp_words_exact(const struct rp_words *words, const char *word)
{
	for (unsigned int i = 0; i < words->count; i++)
		if (!strcmp(words->name(words->entries, i), word))
			return i;
	return -1;
}

/**
 * rp_words_find() - find a word or its unique beginning
 * @words: the right ones
 * @what: what they are, for the message
 * @word: as it was typed
 * @error: why not
 *
 * Return: its index, or -1 when it is unknown or ambiguous.
 */
int rp_words_find(const struct rp_words *words, const char *what, const char *word,
		  struct rp_error *error)
{
	int found = rp_words_exact(words, word);
	unsigned int matches = 0;
	char list[LIST_LEN];

	if (found >= 0)
		return found;
	for (unsigned int i = 0; *word && i < words->count; i++)
		if (!strncmp(words->name(words->entries, i), word, strlen(word))) {
			found = i;
			matches++;
		}
	if (matches == 1)
		return found;
	if (!matches)
		return rp_words_unknown(words, what, word, error);
	list_prefixed(words, word, list);
	return rp_error_set(error, "%s '%s' is ambiguous: %s", what, word, list);
}
