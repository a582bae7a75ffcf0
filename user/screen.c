// SPDX-License-Identifier: GPL-2.0
#include <ncurses.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "screen.h"
#include "view.h"

#define LEAST_LINES 4
#define LEAST_COLUMNS 20
#define GONE_MS 50	/* no key so long before its time: nobody is there any more */
#define KEYS "q: quit, space: now, arrows and pages: scroll"

/**
 * struct rp_screen - the terminal
 * @terminal: of ncurses
 * @top: first line of the view that is shown, the heading aside
 * @left: first column
 */
struct rp_screen {
	SCREEN *terminal;
	size_t top, left;
};

/* tones are pairs of the same number; without colours they are attributes */
static int look_of(enum rp_tone tone)
{
	static const int plain[] = {
		[RP_TONE_HEAD] = A_REVERSE, [RP_TONE_WARN] = A_BOLD,
		[RP_TONE_BAD] = A_BOLD | A_UNDERLINE,
	};

	if (tone == RP_TONE_PLAIN || tone == RP_TONE_HEAD || !has_colors())
		return plain[tone];
	return COLOR_PAIR(tone);
}

static void use_colors(void)
{
	if (!has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(RP_TONE_WARN, COLOR_YELLOW, -1);
	init_pair(RP_TONE_BAD, COLOR_RED, -1);
}

/**
 * rp_screen_new() - take the terminal
 * @error: why not, and what to do
 *
 * Return: the screen or NULL.
 */
struct rp_screen *rp_screen_new(struct rp_error *error)
{
	struct rp_screen *screen = calloc(1, sizeof(*screen));

	if (screen && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		screen->terminal = newterm(NULL, stdout, stdin);
	if (!screen || !screen->terminal) {
		rp_error_set(error, "no terminal to draw on; print it once: rocepath top -1");
		free(screen);
		return NULL;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	use_colors();
	return screen;
}

static void draw_line(const struct rp_screen *screen, int y, const struct rp_line *line)
{
	size_t skip = 0;
	int look = look_of(line->tone);

	while (skip < screen->left && line->text[skip])
		skip++;
	attron(look);
	mvaddnstr(y, 0, line->text + skip, COLS);
	if (line->tone == RP_TONE_HEAD)
		for (int x = getcurx(stdscr); getcury(stdscr) == y && x < COLS - 1; x++)
			addch(' ');
	attroff(look);
}

static size_t lines_below(const struct rp_view *view)
{
	return view->count > 1 ? view->count - 1 : 0;
}

static void stay_inside(struct rp_screen *screen, const struct rp_view *view)
{
	size_t shown = LINES - 2, lines = lines_below(view);

	if (screen->top + shown > lines)
		screen->top = lines > shown ? lines - shown : 0;
}

/**
 * rp_screen_draw() - show lines
 * @screen: the terminal
 * @view: the lines; the first one stays on top when the others scroll
 */
void rp_screen_draw(struct rp_screen *screen, const struct rp_view *view)
{
	int rows, columns;

	erase();
	getmaxyx(stdscr, rows, columns);
	if (rows < LEAST_LINES || columns < LEAST_COLUMNS) {
		mvaddnstr(0, 0, "too small", columns);
		refresh();
		return;
	}
	stay_inside(screen, view);
	if (view->count)
		draw_line(screen, 0, &view->lines[0]);
	for (int y = 1; y < rows - 1 && screen->top + y < view->count; y++)
		draw_line(screen, y, &view->lines[screen->top + y]);
	mvaddnstr(rows - 1, 0, KEYS, columns - 1);
	refresh();
}

static void scroll_by(struct rp_screen *screen, int key)
{
	size_t page = getmaxy(stdscr) > LEAST_LINES ? getmaxy(stdscr) - 2 : 1;

	switch (key) {
	case KEY_UP:
		screen->top -= !!screen->top;
		break;
	case KEY_DOWN:
		screen->top++;
		break;
	case KEY_PPAGE:
		screen->top -= screen->top < page ? screen->top : page;
		break;
	case KEY_NPAGE:
		screen->top += page;
		break;
	case KEY_HOME:
		screen->top = 0;
		screen->left = 0;
		break;
	case KEY_LEFT:
		screen->left -= screen->left < 8 ? screen->left : 8;
		break;
	case KEY_RIGHT:
		screen->left += 8;
		break;
	}
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/**
 * rp_screen_wait() - wait until it is time to draw anew
 * @screen: the terminal
 * @view: what is shown, and is drawn again when it scrolls or the terminal changes its size
 * @ms: how long
 *
 * Return: false when the user has seen enough, or is gone.
 */
bool rp_screen_wait(struct rp_screen *screen, const struct rp_view *view, unsigned int ms)
{
	uint64_t until = now_ms() + ms;

	for (uint64_t now = now_ms(); now < until; now = now_ms()) {
		int key;

		timeout(until - now);
		key = getch();
		if (key == 'q' || key == 'Q' || key == 3)
			return false;
		if (key == ' ' || key == '\n')
			return true;
		if (key == ERR && now_ms() + GONE_MS < until)
			return false;
		scroll_by(screen, key);
		if (key != ERR)
			rp_screen_draw(screen, view);
	}
	return true;
}

/**
 * rp_screen_release() - give the terminal back
 * @screen: the terminal or NULL
 */
void rp_screen_release(struct rp_screen *screen)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen->terminal);
	free(screen);
}
