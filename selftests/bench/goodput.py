# SPDX-License-Identifier: GPL-2.0
"""Goodput of perftest between the two machines of a bed, and what it costs their kernels."""

from bed import finish, let_run
from figure import figure

SECONDS = 3
PATIENCE = 5                # seconds more, then a run has hung
# Messages of a QP on their way: 256 packets of all QPs together, or less, so that what waits in front of
# one port alone is gone long before a QP's timer ends.
DEPTH = {1: 16, 4: 4, 16: 1}
SETTLE, COUNTED = 0.7, 1.3  # seconds of a run until its cost is counted, and while it is
TICK_NS = 1e9 / 100         # of /proc/stat
KERNEL = (2, 5, 6)          # system, irq, softirq: perftest itself only polls


def _cost(bed):
    """(ns that both kernels have worked, bytes that both devices have received)."""
    worked = moved = 0
    for m in bed.machines:
        ticks = m.get('/proc/stat').split(b'\n', 1)[0].split()[1:]
        worked += sum(int(ticks[i]) for i in KERNEL) * TICK_NS
        moved += int(m.get('/sys/class/net/%s/statistics/rx_bytes' % bed.ways[m].device))
    return worked, moved


def measure(bed, name, way, tool, qps):
    """One run."""
    run = bed.start_run('ib_%s_bw' % tool, qps, SECONDS, extra='-t %d' % DEPTH[qps])
    let_run(bed.a, SETTLE)
    before = _cost(bed)
    let_run(bed.a, COUNTED)
    after = _cost(bed)
    done = finish(run, SECONDS + PATIENCE)
    figure('vm/goodput/%s/%s' % (name, way), 'MB/s', round(done.MBps, 3), 'more')
    moved = after[1] - before[1]
    if done.MBps and moved:
        figure('vm/cpu/%s/%s' % (name, way), 'ns/byte', round((after[0] - before[0]) / moved, 1))
    errors = ', %d completion errors' % done.cq_errors if done.cq_errors else ''
    return '%.2f MB/s%s' % (done.MBps, errors)
