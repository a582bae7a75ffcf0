// SPDX-License-Identifier: GPL-2.0
/*
 * The live view on terminals of our own: large, tiny, without colours, without
 * any abilities, and none at all. What is drawn is read from the other end.
 */
/* SOURCES: user/screen.c user/error.c */
/* LIBS: -lncursesw -lutil */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/wait.h>

#include "unit.h"
#include "../../user/error.h"
#include "../../user/screen.h"
#include "../../user/view.h"

#define LINES_SHOWN 100
#define LONGEST_MS 30000
#define HEADING "the heading"

/* exit codes of the child beside those of the tool */
enum { NO_SCREEN = 3, TOOK_TOO_LONG };

/* ends at a key, or when its terminal is gone; runs in the child */
static int show(unsigned int ms)
{
	struct rp_line lines[LINES_SHOWN];
	struct rp_view view = { .lines = lines, .count = LINES_SHOWN };
	char texts[LINES_SHOWN][64];
	struct rp_screen *screen;
	struct rp_error error;
	bool more;

	for (int i = 0; i < LINES_SHOWN; i++) {
		snprintf(texts[i], sizeof(texts[i]), "line %d of the view", i);
		lines[i] = (struct rp_line){ i % 4, i ? texts[i] : (char *)HEADING };
	}
	screen = rp_screen_new(&error);
	if (!screen)
		return strstr(error.text, "rocepath top -1") ? NO_SCREEN : RP_EXIT_FAILURE;
	rp_screen_draw(screen, &view);
	more = rp_screen_wait(screen, &view, ms);
	rp_screen_release(screen);
	return more ? TOOK_TOO_LONG : RP_EXIT_OK;
}

/* a terminal, with somebody behind it */
struct terminal {
	int fd;
	pid_t pid;
	char seen[1 << 16];
	size_t len;
};

static void start(struct terminal *t, const char *term, int rows, int columns, unsigned int ms)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };

	memset(t, 0, sizeof(*t));
	fflush(stdout);
	t->pid = forkpty(&t->fd, NULL, NULL, &size);
	assert_true(t->pid >= 0);
	if (t->pid)
		return;
	setenv("TERM", term, 1);
	unsetenv("LINES");
	unsetenv("COLUMNS");
	_exit(show(ms));
}

static bool read_soon(struct terminal *t, int ms)
{
	struct pollfd fd = { t->fd, POLLIN, 0 };
	ssize_t got;

	if (poll(&fd, 1, ms) <= 0)
		return false;
	got = read(t->fd, t->seen + t->len, sizeof(t->seen) - 1 - t->len);
	if (got <= 0)
		return false;
	t->len += got;
	return true;
}

static bool read_some(struct terminal *t)
{
	return read_soon(t, LONGEST_MS);
}

static void see(struct terminal *t, const char *text)
{
	while (!strstr(t->seen, text))
		require(read_some(t), "'%s' was not drawn, but:\n%s", text, t->seen);
}

/* only what is drawn from now on counts */
static void press(struct terminal *t, const char *keys)
{
	memset(t->seen, 0, t->len);
	t->len = 0;
	assert_int_equal(write(t->fd, keys, strlen(keys)), strlen(keys));
}

static int end(struct terminal *t)
{
	int status;

	while (read_some(t))
		;
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	close(t->fd);
	require(WIFEXITED(status), "it died of signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static struct terminal t;

static void test_draw(void **state)
{
	static const char *const terms[] = { "xterm", "vt100", "linux" };

	for (unsigned int i = 0; i < ARRAY_SIZE(terms); i++) {
		start(&t, terms[i], 24, 80, LONGEST_MS);
		see(&t, HEADING);
		see(&t, "line 22 of the view");
		see(&t, "q: quit");
		assert_null(strstr(t.seen, "line 23 of the view"));
		/* red for what is bad, where there is red */
		if (!strcmp(terms[i], "vt100"))
			assert_null(strstr(t.seen, "\033[31m"));
		else
			assert_non_null(strstr(t.seen, "\033[31m"));
		press(&t, "q");
		assert_int_equal(end(&t), RP_EXIT_OK);
	}
}

static void test_scroll(void **state)
{
	start(&t, "linux", 24, 80, LONGEST_MS);
	see(&t, "line 22 of the view");
	press(&t, "\033[6~");	/* page down */
	see(&t, "44");
	for (int i = 0; i < 10; i++)
		press(&t, "\033[6~");
	see(&t, "99");
	press(&t, "\033[1~");	/* home */
	see(&t, "line 1 of the view");
	press(&t, "\033[C");	/* right: only the difference is drawn */
	see(&t, "\033");
	press(&t, "Q");
	assert_int_equal(end(&t), RP_EXIT_OK);
}

static void test_small(void **state)
{
	static const int sizes[][2] = { { 1, 1 }, { 2, 80 }, { 24, 5 }, { 3, 19 } };

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		start(&t, "vt100", sizes[i][0], sizes[i][1], LONGEST_MS);
		see(&t, "t");
		assert_null(strstr(t.seen, "view"));
		press(&t, "\033[B\033[6~q");
		assert_int_equal(end(&t), RP_EXIT_OK);
	}
	start(&t, "vt100", 4, 20, LONGEST_MS);
	see(&t, "line 2 of");
	press(&t, "q");
	assert_int_equal(end(&t), RP_EXIT_OK);
}

static void test_resize(void **state)
{
	struct winsize size = { .ws_row = 30, .ws_col = 100 };

	start(&t, "linux", 2, 80, LONGEST_MS);
	see(&t, "too small");
	assert_int_equal(ioctl(t.fd, TIOCSWINSZ, &size), 0);
	/* ncurses does not wake up for a signal that comes just before it waits */
	for (int i = 0; i < 100 && !strstr(t.seen, "line 28 of the view"); i++) {
		assert_int_equal(kill(t.pid, SIGWINCH), 0);
		read_soon(&t, 100);
	}
	assert_non_null(strstr(t.seen, "line 28 of the view"));
	press(&t, "q");
	assert_int_equal(end(&t), RP_EXIT_OK);
}

static void test_time_passes(void **state)
{
	start(&t, "linux", 24, 80, 100);
	assert_int_equal(end(&t), TOOK_TOO_LONG);
	start(&t, "linux", 24, 80, LONGEST_MS);
	see(&t, "q: quit");
	press(&t, " ");
	assert_int_equal(end(&t), TOOK_TOO_LONG);
}

/* it does not stay behind, busy, when its terminal is closed */
static void test_hangup(void **state)
{
	int status;

	start(&t, "linux", 24, 80, LONGEST_MS);
	see(&t, "q: quit");
	close(t.fd);
	assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGHUP :
		    WEXITSTATUS(status) == RP_EXIT_OK);
}

static void test_no_terminal(void **state)
{
	int status;
	pid_t pid;

	start(&t, "no-such-terminal", 24, 80, LONGEST_MS);
	assert_int_equal(end(&t), NO_SCREEN);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		freopen("/dev/null", "r", stdin);
		freopen("/dev/null", "w", stdout);
		_exit(show(LONGEST_MS));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), NO_SCREEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_draw),
		cmocka_unit_test(test_scroll),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_time_passes),
		cmocka_unit_test(test_hangup),
		cmocka_unit_test(test_no_terminal),
	};

	return unit_run(tests);
}
