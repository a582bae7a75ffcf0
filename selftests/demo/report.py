# SPDX-License-Identifier: GPL-2.0
"""What the demo tells: how far it is, the table, the files for programs."""

import json
import sys
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


def table(results, limit):
    """The table, as lines."""
    lines = ['%-30s %4s %8s %9s %15s %17s' % (
        '', 'QPs', 'MB/s', 'of limit', 'sequence errors', 'completion errors')]
    for r in results:
        lines.append('%-30s %4d %8.2f %8.0f%% %15d %17d' % (
            r.name, r.qps, r.MBps, 100 * r.MBps / limit if limit else 0, r.seq_err, r.cq_errors))
    return lines


def write_json(path, what):
    """A file for programs."""
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(what, f, indent=1)
        f.write('\n')


def fail(text):
    """End, with one line that says why."""
    print('demo: %s' % text, file=sys.stderr)
    sys.exit(1)
