# SPDX-License-Identifier: GPL-2.0
"""A cable is pulled under full load, and plugged in again."""

from bed import LabError, finish, let_run
from progress import Progress, longest_gap, rate

SECONDS = 11                # of the whole run
WARM = 1.0                  # after the start, until we look which port carries most
BEFORE, CUT = 2.0, 2.5      # seconds of full load, and without the cable
COUNTED = 1.5               # the end of BEFORE, from which the rate is taken
SETTLE = 1.0                # after the repair, until the rate counts
# Bounds what waits in the port that is left, and would arrive in vain before what was lost. The ACK timeout is
# perftest's own, 67 ms, so that bonding is not slower than it must be.
LOAD = {'extra': '-t 3'}
STARTED_BYTES = 100000


class Cut:
    """What was seen. Times are seconds by b's monotonic clock, rates bytes of payload per second.

    written     [(when, bytes)] that reached b's memory
    samples     of what b's ports received, every 10 ms
    """

    def __init__(self, name, written, samples, ifname):
        self.name = name
        self.written = written
        self.samples = samples
        self.ifname = ifname
        self.cut_at = self.repaired_at = 0.0
        self.cq_errors = self.seq_err = 0

    @property
    def gap_ms(self):
        """The longest time without progress while the client ran."""
        return longest_gap(self.written)[0] * 1e3

    @property
    def gap_at(self):
        """When that began."""
        return longest_gap(self.written)[1]

    @property
    def before(self):
        """The rate before the cut."""
        return rate(self.written, self.cut_at - COUNTED, self.cut_at)

    @property
    def during(self):
        """The rate without the cable."""
        return rate(self.written, self.cut_at + 0.5, self.repaired_at)

    @property
    def after(self):
        """The rate after the repair, up to where the client began to end."""
        end = self.written[-1][0] if self.written else 0
        start = self.repaired_at + SETTLE
        return rate(self.written, start, end - 0.2) if end - 0.2 > start else 0.0

    @property
    def recovered(self):
        """The rate after the repair, compared with that before the cut."""
        return self.after / self.before if self.before else 0.0


def run(bed, name, qps=1):
    """Run traffic, cut the port that carries most, repair it. Returns a Cut."""
    a, b = bed.a, bed.b
    errors = bed.sequence_errors()
    sampler = b.sampler(bed.ethernets(), 10)
    progress = Progress(b)
    start = bed.received()
    perf = bed.start_run(qps=qps, seconds=SECONDS, **LOAD)
    b.poll(lambda: sum(bed.received()) > sum(start) + STARTED_BYTES or not perf.running(), why='traffic')
    let_run(b, WARM)
    port = bed.busiest(start)
    let_run(b, BEFORE)
    bed.lab.cut(bed.cables[port])
    cut_by = b.clock()
    let_run(b, CUT)
    repaired_at = b.clock()
    bed.lab.restore(bed.cables[port])
    cq_errors = finish(perf, SECONDS + 20).cq_errors
    cut = Cut(name, progress.stop(), sampler.stop(), 'eth%d' % port)
    if not cut.written:
        raise LabError('%s: nothing was written while the cable was pulled' % name)
    cut.cq_errors, cut.repaired_at = cq_errors, repaired_at
    cut.cut_at = _last_packet(cut.samples, cut.ifname, cut_by - BEFORE, cut_by)
    cut.seq_err = bed.sequence_errors() - errors
    for m in (a, b):
        m.poll(lambda m=m: m.carrier(cut.ifname), why='the repaired port')
    return cut


def _last_packet(samples, ifname, start, end):
    """When a port received the last packet, between two moments; else the second one."""
    rows = samples.between(start, end + 0.1).rows
    moved = [after[0] for before, after in zip(rows, rows[1:])
             if samples.total(after, ifname)[0] > samples.total(before, ifname)[0]]
    return moved[-1] if moved else end
