# SPDX-License-Identifier: GPL-2.0
"""What was measured between machines (vm/...), in tables for docs/benchmarks.md."""

from rows import FAULTS, GOODPUT, LATENCY, OURS, PERCENTILES, SAID, WAYS
from tables import table

HEAD = """\
## Between machines

Two virtual machines with two ports of 10 Mbit/s each, by rdma_rxe; rocepath and what one would take instead, in one
run. **~** is what cannot be told apart from %s: spreads overlap, or there is one repetition. `make bench-vm`
measures most rows of some ways and few of the others, with `BENCH_WHOLE=1` all of all.

* *bond*: miimon 100; balance-xor and 802.3ad with layer3+4. *team*: teamd, with the ethtool link watch; loadbalance
  hashes addresses and ports. All are at both ends.
* *ecmp*: routes by both ports, hashed over layer 4, in a router that each host has to itself: rdma_rxe asks for a
  route out of its own device. The kernel takes ports without carrier out; no BFD, nor anybody else, looks at paths.
* *rocepath*: with a key, as it comes but for the times that this lab's clock wants (gap-floor 200 ms,
  report-interval 10 ms).
"""


def _cell(f, prefix, way, digits):
    name, ours = '%s/%s' % (prefix, way), '%s/%s' % (prefix, OURS)
    if name not in f.all:
        return ''
    mark = ''
    if way != OURS:
        # of one repetition nobody knows the spread
        mark = '~' if f.all[name]['n'] < 2 else f.told_apart(name, ours)
    return '%s %s' % (f.text(name, digits), mark)


def _table(f, corner, columns):
    """A row for each way that has one, or no table; columns are (head, prefix of the figures' names, digits)."""
    columns = [column for column in columns if any('%s/%s' % (column[1], way) in f.all for way in WAYS)]
    rows = [[way] + [_cell(f, prefix, way, digits) for _, prefix, digits in columns] for way in WAYS]
    if columns:
        yield table([corner] + [head for head, _, _ in columns], [row for row in rows if any(row[1:])])


def _goodput(f):
    yield '### Goodput\n'
    for condition, said in SAID.items():
        columns = [('%s, %d QPs' % (tool, qps), 'vm/goodput/%s/%s-%d' % (where, tool, qps), 2)
                   for where, tool, qps in GOODPUT if where == condition]
        yield from _table(f, 'MB/s, ' + said, columns)
    yield 'Drawn in `build/bench/vm-goodput.png`.\n'
    yield '### CPU\n'
    yield ('What both kernels work (system and softirq, by /proc/stat) for each byte that arrives at either; what '
           'perftest does with its time is not in it.\n')
    yield from _table(f, 'ns a byte', [('%s, %d QPs' % (tool, qps), 'vm/cpu/%s/%s-%d' % (where, tool, qps), 0)
                                       for where, tool, qps in GOODPUT if where == 'equal'])


def _latency(f):
    yield '### Latency\n'
    yield ('Half of a round trip of 64 bytes, 500 of them, so that p99.9 is the longest. Loaded: 4 other QPs, one '
           'message of 4096 bytes each on its way. Both ends poll, and take turns with what carries their messages.\n')
    for tool, loaded in LATENCY:
        name = '%s-%s' % (tool, 'loaded' if loaded else 'idle')
        columns = [(what, 'vm/latency/%s/%s' % (name, what), 0) for what in PERCENTILES]
        yield from _table(f, 'us, ib_%s_lat, %s' % (tool, 'loaded' if loaded else 'idle'), columns)


def _faults(f):
    yield '### Faults\n'
    yield ('On the port that carries most, at both ends, under 4 QPs with three messages of 4096 bytes each on their '
           'way and timers of 67 ms. Counted until 1.5 s after it. Longest gap: without a completion of one QP; of a QP '
           'that died, until the end. Lost work: seconds of the rate just before. Who has used two ports loses one of '
           '2 s by half of the ports alone; who keeps one to spare loses nothing then, but half of the rate always. '
           'Done: what was completed meanwhile.\n')
    for kind, (_, said) in FAULTS.items():
        columns = [(head, 'vm/fault/%s/%s' % (kind, what), digits)
                   for head, what, digits in (('longest gap, ms', 'gap', 0), ('lost work, s', 'lost', 2),
                                              ('done, MB', 'done', 2), ('QPs that died', 'dead', 0))]
        yield from _table(f, said, columns)
    yield 'Drawn in `build/bench/vm-gap.png`.\n'


def between(f):
    """All of it; nothing where nothing was measured."""
    if not any(name.startswith('vm/') for name in f.all):
        return
    yield HEAD % OURS
    yield from _goodput(f)
    yield from _latency(f)
    yield from _faults(f)
