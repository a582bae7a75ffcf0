# SPDX-License-Identifier: GPL-2.0
"""When the payload of RDMA writes reached the memory of the receiver.

Packets that arrive on a port are not progress: a QP throws away what comes out of order.
So what is traced is soft-RoCE copying payload to memory.
"""

import os

TRACING = '/sys/kernel/tracing'
EVENT = 'demo/progress'
BUFFER_KB = 16384           # for each CPU; an event takes about 40 bytes


class Progress:
    """Traces a machine. stop() gives [(seconds by its monotonic clock, bytes)]."""

    def __init__(self, m):
        self.m = m
        self._end(check=False)
        m.run('cd %s && echo mono >trace_clock && echo %d >buffer_size_kb && echo >trace && '
              "echo 'p:%s rdma_rxe:rxe_mr_copy len=%%cx:u32' >>kprobe_events && "
              'echo 1 >events/%s/enable && echo 1 >tracing_on' % (TRACING, BUFFER_KB, EVENT, EVENT))

    def _end(self, check=True):
        self.m.run('cd %s && echo 0 >events/%s/enable && echo -:%s >>kprobe_events' % (
            TRACING, EVENT, EVENT), check=check)

    def stop(self):
        """End it; what has been written when."""
        name = os.path.basename(EVENT)
        self.m.run('echo 0 >%s/tracing_on' % TRACING)
        self.m.run("sed -n 's/.* \\([0-9.]*\\): %s: .*len=\\([0-9]*\\).*/\\1 \\2/p' %s/trace >/tmp/progress" % (
            name, TRACING), timeout=60)
        text = self.m.get('/tmp/progress').decode()
        self._end()
        self.m.run('rm /tmp/progress; cd %s; echo >trace; echo 1408 >buffer_size_kb; echo 1 >tracing_on' % TRACING)
        return sorted((float(t), int(n)) for t, n in (line.split() for line in text.splitlines()))


def longest_gap(written):
    """The longest time in which nothing was written: (seconds, when it began)."""
    gaps = [(after[0] - before[0], before[0]) for before, after in zip(written, written[1:])]
    return max(gaps, default=(0.0, None))


def rate(written, start, end):
    """The mean rate in a time, in bytes per second."""
    return sum(n for t, n in written if start <= t < end) / (end - start)


def rates(written, window=0.05, step=0.01):
    """The rate over time, in moving windows: [(seconds at the window's middle, bytes per second)]."""
    if not written:
        return []
    out, head, tail, inside = [], 0, 0, 0
    t = written[0][0]
    while t < written[-1][0]:
        while head < len(written) and written[head][0] < t + window / 2:
            inside += written[head][1]
            head += 1
        while tail < head and written[tail][0] < t - window / 2:
            inside -= written[tail][1]
            tail += 1
        out.append((t, inside / window))
        t += step
    return out
