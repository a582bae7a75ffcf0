# SPDX-License-Identifier: GPL-2.0
"""What happens to a port at full load, and what becomes of the work.

A fault hits the port that carries most, at both ends, for FAULT seconds. Counted is from its begin to
AFTER seconds after its end, by the clock of the client.
"""

import contextlib
import signal

from bed import let_run
from figure import figure
from hosts import Stream
from lab import PollTimeout

QPS, MESSAGE = 4, 4096
BEAT_MS, GAP_MS = 20, 5
# perftest's own timer, 67 ms. Three messages of each QP on their way: a gap is the fault, and no queue.
LOAD = '-n %d -s %d -D 3 -u 14 -G %d -B %d' % (QPS, MESSAGE, GAP_MS, BEAT_MS)
WARM, BEFORE = 0.6, 1.0     # seconds until the rate counts, and while it does
FAULT, AFTER = 2.0, 1.5
SLOW = 0.25
FLAPS, DOWN, UP = 3, 0.2, 0.4
LONG = 600                  # seconds: longer than any run
PATIENCE = 3                # seconds for what is on its way at the end


def _both(bed, command):
    """A command, where the ports are, in both machines at once."""
    jobs = [m.spawn(command, bed.namespace(m)) for m in bed.machines]
    for job in jobs:
        job.wait()


class Cut:
    """The cable is pulled: no carrier."""

    def __init__(self, bed):
        self.bed, self.port = bed, None

    def prepare(self):
        """Before there is load."""

    def inflict(self):
        """It comes to the port; returns how long it has taken."""
        self.bed.lab.cut(self.bed.cables[self.port])
        return 0

    def heal(self):
        """It goes."""
        self.bed.lab.restore(self.bed.cables[self.port])

    def clean(self):
        """After the load."""


class Flap(Cut):
    """It is pulled and plugged in again, a few times."""

    def inflict(self):
        for _ in range(FLAPS):
            super().inflict()
            let_run(self.bed.a, DOWN)
            self.heal()
            let_run(self.bed.a, UP)
        return FLAPS * (DOWN + UP)


class Blackhole(Cut):
    """All that arrives is dropped, and carrier stays."""

    action = 'drop'

    def prepare(self):
        for name in self.bed.ethernets():
            _both(self.bed, 'tc qdisc add dev %s clsact; modprobe -a cls_matchall act_gact' % name)

    def inflict(self):
        _both(self.bed, 'tc filter add dev eth%d ingress matchall action %s' % (self.port, self.action))
        return 0

    def heal(self):
        _both(self.bed, 'tc filter del dev eth%d ingress' % self.port)

    def clean(self):
        for name in self.bed.ethernets():
            _both(self.bed, 'tc qdisc del dev %s clsact' % name)


class Loss(Blackhole):
    """One in a hundred is dropped, at random."""

    action = 'pass random netrand drop 100'


class Slow(Cut):
    """The port has a quarter of its rate."""

    def inflict(self):
        for m in self.bed.machines:
            self.bed.shape_port(m, self.port, SLOW)
        return 0

    def heal(self):
        for m in self.bed.machines:
            self.bed.shape_port(m, self.port)


FAULTS = {'cut': Cut, 'blackhole': Blackhole, 'loss': Loss, 'slow': Slow, 'flap': Flap}


def _end(bed, stream):
    """What the client tells; it waits for what is on its way, but not for ever."""
    stream.client.kill(signal.SIGINT)
    with contextlib.suppress(PollTimeout):
        bed.a.poll(lambda: not stream.client.running(), PATIENCE)
    return stream.end(check=False)[1]


class Outcome:
    """What was lost from a fault's begin to the end, by what the client has told."""

    def __init__(self, client, at, end):
        self.dead = client['cq_errors']
        self.before = self._messages(client, at - BEFORE, at) / BEFORE
        self.done = self._messages(client, at, end)
        self.seconds = end - at
        gaps = [ms for begin, ms in client['gaps'] if begin < end and begin + ms / 1e3 > at]
        # a QP that has died has a gap without an end
        self.gap_ms = self.seconds * 1e3 if self.dead else max(gaps, default=GAP_MS)

    @staticmethod
    def _messages(client, start, end):
        """Completed in a time; a beat that has a part in it counts in part."""
        width, total = BEAT_MS / 1e3, 0
        for i, n in enumerate(client['beats']):
            begin = client['begin'] + i * width
            inside = min(end, begin + width) - max(start, begin)
            total += n * max(inside, 0) / width
        return total

    def lost(self):
        """How many seconds of work at the rate before."""
        return max(self.seconds - self.done / self.before, 0) if self.before else 0


def measure(bed, name, way, kind):
    """One fault."""
    fault = FAULTS[kind](bed)
    fault.prepare()
    start = bed.received()
    stream = Stream(bed.b, bed.a, {m.name: bed.address(m) for m in bed.machines}, LONG, LOAD)
    let_run(bed.a, WARM)
    fault.port = bed.busiest(start)
    let_run(bed.a, BEFORE)
    at = bed.a.clock()
    took = fault.inflict()
    let_run(bed.a, max(FAULT - took, 0))
    fault.heal()
    let_run(bed.a, AFTER)
    end = bed.a.clock()
    seen = Outcome(_end(bed, stream), at, end)
    fault.clean()
    bed.mended()
    figure('vm/fault/%s/gap/%s' % (name, way), 'ms', round(seen.gap_ms, 1))
    figure('vm/fault/%s/done/%s' % (name, way), 'MB', round(seen.done * MESSAGE / 1e6, 3), 'more')
    figure('vm/fault/%s/lost/%s' % (name, way), 's', round(seen.lost(), 2))
    figure('vm/fault/%s/dead/%s' % (name, way), 'QPs', seen.dead)
    return 'longest gap %.0f ms, %.2f s lost, %d of %d QPs dead' % (seen.gap_ms, seen.lost(), seen.dead, QPS)
