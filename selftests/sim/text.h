/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text files of lines of words, and what is wrong with them: FILE:LINE:COLUMN: what.
 * Empty lines, and those that begin with #, are not seen.
 */
#ifndef ROCEPATH_SIM_TEXT_H
#define ROCEPATH_SIM_TEXT_H

#include <rocepath/types.h>

/**
 * struct text - a text being read
 * @name: of the file
 * @all: its bytes
 * @next: behind the line
 * @at: behind the word
 * @line: number of the line
 * @start: of the line
 * @word: the last one, as it was read
 * @word_at: where it begins, a column
 * @error: what is wrong with it, empty if nothing is
 */
struct text {
	const char *name;
	char *all;
	char *next;
	char *at;
	char *start;
	u32 line;
	u32 word_at;
	char word[64];
	char error[256];
};

/** text_open() - read a file. Return: false if it cannot be, with @t->error. */
bool text_open(struct text *t, const char *file);

/** text_of() - of a string, called @name. */
void text_of(struct text *t, const char *name, const char *string);

/** text_close() */
void text_close(struct text *t);

/** text_line() - go to the next line. Return: false at the end. */
bool text_line(struct text *t);

/** text_word() - the next word of the line, in @t->word. Return: false if there is none left. */
bool text_word(struct text *t);

/** text_number() - the next word is a number from @from to @to. Return: false if it is not. */
bool text_number(struct text *t, u64 from, u64 to, u64 *number);

/** text_fail() - say what is wrong, at the last word. Return: false. */
bool text_fail(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* ROCEPATH_SIM_TEXT_H */
