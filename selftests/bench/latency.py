# SPDX-License-Identifier: GPL-2.0
"""How long small messages take between the two machines of a bed, idle and beside other traffic."""

import contextlib

from bed import LabError, finish
from figure import figure
from hosts import Stream
from rows import PERCENTILES

ITERATIONS = 500
SIZE = 64
SECONDS = 40                # after which a run has hung
# Both ports are busy all the time, and what waits in front of them is short.
LOAD = '-n 4 -s 4096 -D 1 -u 18'
AT = dict(zip(PERCENTILES, (4, 7, 8)))              # where they are in perftest's row


@contextlib.contextmanager
def _loaded(bed):
    stream = Stream(bed.b, bed.a, {m.name: bed.address(m) for m in bed.machines}, 10 * SECONDS, LOAD)
    try:
        yield
    finally:
        stream.end(check=False)


def measure(bed, name, way, tool, loaded):
    """One run; what is told is half a round trip, as perftest has it."""
    with _loaded(bed) if loaded else contextlib.nullcontext():
        done = finish(bed.start_run('ib_%s_lat' % tool, seconds=SECONDS, size=SIZE, iterations=ITERATIONS), SECONDS)
    if len(done.row) <= max(AT.values()):
        raise LabError('ib_%s_lat did not come to its end: %s' % (tool, ' '.join(done.out[-200:].split())))
    for what, at in AT.items():
        figure('vm/latency/%s/%s/%s' % (name, what, way), 'us', done.row[at])
    return ' / '.join('%.0f' % done.row[at] for at in AT.values()) + ' us'
