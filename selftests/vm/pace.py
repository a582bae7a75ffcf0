# SPDX-License-Identifier: GPL-2.0
"""How far something is that takes long, and how long it will take."""

import time


class Pace:
    """Says what is being done, and how much time is left. Steps are (name, seconds expected)."""

    def __init__(self, steps):
        self.steps = list(steps)
        self.total = sum(seconds for _, seconds in self.steps)
        self.done = 0
        self.begin = time.monotonic()
        self._step_began = self.begin

    def left(self):
        """Seconds left: what was planned, corrected by how slow it went up to now."""
        spent = time.monotonic() - self.begin
        slowness = max(spent / self.done, 0.8) if self.done > 20 else 1
        return (self.total - self.done) * slowness

    def start(self, name):
        """The step of that name begins; the one before has ended."""
        while self.steps and self.steps[0][0] != name:
            self.done += self.steps.pop(0)[1]
        self._say('%s ...' % name)

    def _say(self, text):
        left = self.left()
        print('[%d:%02d left] %s' % (left // 60, left % 60, text), flush=True)

    def result(self, text):
        """What the step came to."""
        if self.steps:
            self.done += self.steps.pop(0)[1]
        print('            %s' % text, flush=True)
