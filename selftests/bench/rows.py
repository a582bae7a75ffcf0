# SPDX-License-Identifier: GPL-2.0
"""What is measured between machines: ways to use two ports, and the rows of the tables."""

import collections

# How much of it is measured: a row, when its level is not above that of the way. An hour and a half buys all.
BRIEF, USUAL, WHOLE = range(3)

WAYS = {
    'port': BRIEF,
    'bond balance-rr': BRIEF,
    'bond balance-xor': USUAL,
    'bond active-backup': USUAL,
    'bond 802.3ad': BRIEF,
    'team loadbalance': BRIEF,
    'team activebackup': BRIEF,
    'ecmp per-flow': USUAL,
    'ecmp resilient': BRIEF,
    'rocepath flow': BRIEF,
    'rocepath flowlet': BRIEF,
    'rocepath spray': BRIEF,
    'rocepath adaptive': USUAL,
}
OURS = 'rocepath adaptive'      # what others are compared with

# what the two ports are like: parts of the rate, and how much longer they are, in us
CONDITIONS = {
    'equal': ((1, 1), (0, 0)),
    'longer': ((1, 1), (0, 300)),
    'unequal': ((1, 0.5), (0, 0)),
}
SAID = {
    'equal': 'equal ports',
    'longer': 'one port 300 us longer',
    'unequal': 'one port half as fast',
}

# (condition, tool, QPs): level
GOODPUT = {
    ('equal', 'write', 1): BRIEF, ('equal', 'write', 4): BRIEF, ('equal', 'write', 16): BRIEF,
    ('equal', 'read', 1): WHOLE, ('equal', 'read', 4): USUAL, ('equal', 'read', 16): WHOLE,
    ('equal', 'send', 1): WHOLE, ('equal', 'send', 4): USUAL, ('equal', 'send', 16): WHOLE,
    ('longer', 'write', 1): USUAL, ('longer', 'write', 4): USUAL,
    ('unequal', 'write', 1): USUAL, ('unequal', 'write', 4): BRIEF,
}
# (tool, beside other traffic)
LATENCY = [(tool, loaded) for tool in ('write', 'send') for loaded in (False, True)]
PERCENTILES = ('p50', 'p99', 'p99.9')
# fault: (level, what it is)
FAULTS = {
    'cut': (BRIEF, 'carrier cut, 2 s'),
    'blackhole': (USUAL, 'blackhole, 2 s'),
    'loss': (USUAL, '1 % loss, 2 s'),
    'slow': (USUAL, 'a quarter of the rate, 2 s'),
    'flap': (USUAL, 'carrier lost three times, 0.2 s each'),
}

QUICK_WAYS = ('bond balance-xor', OURS)
QUICK_ROWS = ('equal/write-4', 'send-idle', 'cut')


class Row(collections.namedtuple('Row', 'kind condition name arguments level')):
    """One row of one of the tables."""

    def step(self, way):
        """It, with one way, for people."""
        return '%s: %s %s' % (way, self.kind, self.name)


def rows():
    """Every row, those of a condition together."""
    found = [Row('goodput', condition, '%s/%s-%d' % (condition, tool, qps), (tool, qps), level)
             for (condition, tool, qps), level in GOODPUT.items()]
    found += [Row('latency', 'equal', '%s-%s' % (tool, 'loaded' if loaded else 'idle'), (tool, loaded), USUAL)
              for tool, loaded in LATENCY]
    found += [Row('fault', 'equal', kind, (kind,), level) for kind, (level, _) in FAULTS.items()]
    return sorted(found, key=lambda row: list(CONDITIONS).index(row.condition))
