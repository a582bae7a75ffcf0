# SPDX-License-Identifier: GPL-2.0
"""Throughput over time, as the receiving machine saw it by its own clock."""

import signal


class Samples:
    """A row of (seconds, {interface: (rx packets, rx bytes)}), by the machine's monotonic clock."""

    def __init__(self, ifnames, rows):
        self.ifnames = ifnames
        self.rows = rows

    def total(self, row, ifname=None):
        """The (packets, bytes) of a row: of one interface, or of all."""
        which = [ifname] if ifname else self.ifnames
        return tuple(sum(row[1][name][i] for name in which) for i in (0, 1))

    def between(self, start=None, end=None):
        """The samples from `start` to `end`, in seconds by the machine's clock."""
        return Samples(self.ifnames, [r for r in self.rows if (start is None or r[0] >= start)
                                      and (end is None or r[0] <= end)])

    def busy(self, ifname=None, min_packets=1):
        """The samples from the first to the last between which traffic flowed."""
        moved = [i for i in range(1, len(self.rows))
                 if self.total(self.rows[i], ifname)[0] - self.total(self.rows[i - 1], ifname)[0] >= min_packets]
        return Samples(self.ifnames, self.rows[moved[0] - 1:moved[-1] + 1] if moved else [])

    def rate(self, ifname=None):
        """The mean rate, in bytes per second on the wire (frames without FCS)."""
        if len(self.rows) < 2:
            return 0.0
        first, last = self.rows[0], self.rows[-1]
        return (self.total(last, ifname)[1] - self.total(first, ifname)[1]) / (last[0] - first[0])

    def rates(self, window=0.1, ifname=None):
        """The rate over time: [(seconds at the window's end, bytes per second)]."""
        out, start = [], 0
        for i, row in enumerate(self.rows):
            span = row[0] - self.rows[start][0]
            if span >= window:
                moved = self.total(row, ifname)[1] - self.total(self.rows[start], ifname)[1]
                out.append((row[0], moved / span))
                start = i
        return out

    def longest_gap(self, ifname=None, min_packets=1):
        """The longest time in which nothing came: (seconds, when it began), (0, None) if never.

        Fewer than `min_packets` in a sample count as nothing: pass more than background traffic
        has. The figure is exact to two sampling periods.
        """
        longest, when, last = 0.0, None, None
        for before, row in zip(self.rows, self.rows[1:]):
            moved = self.total(row, ifname)[0] - self.total(before, ifname)[0]
            if moved >= min_packets:
                if last is not None and before[0] - last > longest:
                    longest, when = before[0] - last, last
                last = row[0]
        if last is not None and self.rows[-1][0] - last > longest:
            longest, when = self.rows[-1][0] - last, last
        return longest, when


class Sampler:
    """A sampler that runs in a machine."""

    count = 0

    def __init__(self, machine, ifnames, period_ms, ns=None):
        Sampler.count += 1
        self.machine = machine
        self.ifnames = ifnames
        self.path = '/tmp/samples.%d' % Sampler.count
        self.job = machine.spawn('exec sampler %d %s >%s' % (period_ms, ' '.join(ifnames), self.path), ns)

    def stop(self):
        """End it and return its Samples."""
        self.job.kill(signal.SIGTERM)
        self.job.wait()
        text = self.machine.get(self.path).decode()
        self.machine.run('rm ' + self.path)
        rows = []
        for line in text.splitlines():
            words = [int(w) for w in line.split()]
            pairs = zip(words[1::2], words[2::2])
            rows.append((words[0] / 1e9, dict(zip(self.ifnames, pairs))))
        return Samples(self.ifnames, rows)
