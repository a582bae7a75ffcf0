#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What benchmarks conclude from what they have measured: without a machine, from figures made up here."""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BENCH = os.path.join(ROOT, 'selftests', 'bench')
sys.path[:0] = [BENCH, os.path.join(ROOT, 'selftests', 'vm')]

# pylint: disable=wrong-import-position
import machine_tables  # noqa: E402
import rows  # noqa: E402
from faults import AFTER, BEAT_MS, BEFORE, GAP_MS, Outcome  # noqa: E402
from pace import Pace  # noqa: E402
from tables import Figures  # noqa: E402

MACHINE = {'processor': 'made up', 'cache': '', 'cpus': 1, 'memory_mb': 1, 'virtual': False, 'kernel': '6'}


def of(value, low=None, high=None, n=3, **more):
    """A figure of bench.json."""
    return dict({'unit': 'ms', 'value': value, 'low': low or value, 'high': high or value, 'n': n}, **more)


def near(a, b):
    """But for rounding."""
    assert abs(a - b) < 1e-6, '%r is not %r' % (a, b)


def client(pattern, gaps=(), dead=0, begin=100.0):
    """What rcstream tells; pattern is a row of (seconds, messages in each beat)."""
    beats = [n for seconds, n in pattern for _ in range(round(seconds * 1e3 / BEAT_MS))]
    return {'begin': begin, 'beats': beats, 'gaps': list(gaps), 'cq_errors': dead}


def nothing_is_lost_at_the_same_rate():
    """An undisturbed run."""
    seen = Outcome(client([(10, 4)]), 103, 103 + AFTER)
    near(seen.before, 4 / BEAT_MS * 1e3)
    near(seen.lost(), 0)
    near(seen.gap_ms, GAP_MS)


def half_of_the_rate_for_two_seconds_is_one_second():
    """Wherever beats begin; and one that has a part in it counts in part."""
    for begin in (100, 100.007):
        near(Outcome(client([(2, 4), (2, 2), (2, 4)], begin=begin), begin + 2, begin + 5).lost(), 1)
    half = BEAT_MS / 2e3
    near(Outcome(client([(10, 4)]), 102 + half, 102 + 2 * half).done, 2)


def gaps_count_that_the_fault_has_a_part_of():
    """Not those that ended before, nor those that begin after."""
    gaps = [(100.5, 900.0), (101.9, 200.0), (103.0, 50.0), (105.5, 700.0)]
    near(Outcome(client([(10, 4)], gaps), 102, 105).gap_ms, 200)


def the_gap_of_a_dead_queue_pair_has_no_end():
    """So it lasts until the end of what is looked at."""
    near(Outcome(client([(10, 4)], [(102.1, 20.0)], dead=1), 102, 105).gap_ms, 3000)


def no_work_before_is_none_lost():
    """As with balance-rr, which may carry nothing at all."""
    near(Outcome(client([(10, 0)]), 101 + BEFORE, 104).lost(), 0)


def every_step_has_a_row_and_levels_grow():
    """Of each kind there are rows; a level has all of those below it."""
    sizes = [len([row for row in rows.rows() if row.level <= level]) for level in (rows.BRIEF, rows.USUAL, rows.WHOLE)]
    assert 0 < sizes[0] < sizes[1] < sizes[2], sizes
    names = [(row.kind, row.name) for row in rows.rows()]
    assert len(set(names)) == len(names)
    assert {row.kind for row in rows.rows() if row.name in rows.QUICK_ROWS} == {'goodput', 'latency', 'fault'}
    assert set(rows.QUICK_WAYS) <= set(rows.WAYS)


def tables_mark_what_cannot_be_told_apart():
    """Spreads that overlap ours, and those that nobody knows; nothing is marked beside itself."""
    prefix = 'vm/fault/cut/gap/'
    figures = Figures({'figures': {prefix + rows.OURS: of(10, 8, 12), prefix + 'port': of(11, 9, 13),
                                   prefix + 'bond balance-xor': of(30, 20, 40), prefix + 'ecmp per-flow': of(30, n=1)}})
    lines = '\n'.join(machine_tables.between(figures)).splitlines()
    found = {line.split('|')[1].strip(): line for line in lines if line.startswith('| ')}
    for way in ('port', 'ecmp per-flow'):
        assert found[way].rstrip(' |').endswith('~'), found[way]
    assert '~' not in found['bond balance-xor'] + found[rows.OURS]
    assert 'team loadbalance' not in found


def output(script, *args):
    """What a script of selftests/bench prints."""
    return subprocess.run([os.path.join(BENCH, script), *args], stdout=subprocess.PIPE, text=True, check=True).stdout


def compare(old, new):
    """What bench-compare says of each figure: {name: (mark, ratio)}."""
    with tempfile.TemporaryDirectory() as where:
        paths = [os.path.join(where, name) for name in ('old', 'new')]
        for path, figures in zip(paths, (old, new)):
            with open(path, 'w', encoding='utf-8') as f:
                json.dump({'machine': MACHINE, 'figures': figures}, f)
        out = output('compare', *paths)
    return {line[9:].split('  ')[0].strip(): (line[0], float(line[1:8])) for line in out.splitlines() if line[0] != '#'}


def compare_knows_which_is_better():
    """Twice the latency is worse, twice the goodput is better; within the spread nobody can say."""
    said = compare({'less': of(10), 'more': of(10, better='more'), 'wide': of(10, 1, 30), 'none': of(0)},
                   {'less': of(20), 'more': of(20, better='more'), 'wide': of(20, 5, 30), 'none': of(1)})
    assert said == {'less': ('+', 2), 'more': ('-', 0.5), 'wide': (' ', 2)}, said


def document_has_the_parts_that_there_are():
    """A bench.json of one part alone makes a page."""
    figures = {'vm/goodput/equal/write-4/%s' % way: of(2, 1, 3) for way in rows.WAYS}
    with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
        json.dump({'machine': MACHINE, 'figures': figures, 'parts': {
            'vm': {'commit': 'x', 'date': '2000-01-01', 'repetitions': 3, 'skipped': []}}}, f)
        f.flush()
        text = output('document', f.name)
    for wanted in ('## Between machines', '| team loadbalance |', 'equal ports'):
        assert wanted in text, wanted


def time_left_is_that_of_steps_to_come():
    """At first as planned."""
    pace = Pace([('one', 10), ('two', 20)])
    near(pace.left(), 30)
    pace.result('done')
    near(pace.left(), 20)


TESTS = [
    nothing_is_lost_at_the_same_rate, half_of_the_rate_for_two_seconds_is_one_second,
    gaps_count_that_the_fault_has_a_part_of, the_gap_of_a_dead_queue_pair_has_no_end, no_work_before_is_none_lost,
    every_step_has_a_row_and_levels_grow, tables_mark_what_cannot_be_told_apart,
    compare_knows_which_is_better, document_has_the_parts_that_there_are, time_left_is_that_of_steps_to_come,
]


def main():
    """Run all; KTAP to stdout."""
    failed = 0
    print('KTAP version 1\n1..%d' % len(TESTS))
    for number, test in enumerate(TESTS, 1):
        try:
            test()
        except (AssertionError, LookupError, TypeError, ValueError, subprocess.CalledProcessError) as error:
            failed += 1
            print('# %s: %s' % (type(error).__name__, error))
            print('not ok %d %s' % (number, test.__name__))
        else:
            print('ok %d %s' % (number, test.__name__))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
