/* SPDX-License-Identifier: GPL-2.0 */
/* A terminal that shows lines, and says which key was pressed. */
#ifndef ROCEPATH_USER_SCREEN_H
#define ROCEPATH_USER_SCREEN_H

#include <stdbool.h>

struct rp_error;
struct rp_screen;
struct rp_view;

struct rp_screen *rp_screen_new(struct rp_error *error);
void rp_screen_draw(struct rp_screen *screen, const struct rp_view *view);
bool rp_screen_wait(struct rp_screen *screen, const struct rp_view *view, unsigned int ms);
void rp_screen_release(struct rp_screen *screen);

#endif /* ROCEPATH_USER_SCREEN_H */
