#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The demo: one RoCE queue pair over every port, and a cable pulled under it.

    demo.py [--ports 2|4] [--out build/demo]      the table, cut.png and report.json
    demo.py --accept                              all figures that a release is held against
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'vm'))

# pylint: disable=wrong-import-position
import accept  # noqa: E402
import cut  # noqa: E402
import plot  # noqa: E402
from bed import Bed, LabError, PERF_OVERHEAD  # noqa: E402
from pace import Pace  # noqa: E402
from report import fail, table, write_json  # noqa: E402
from result import Result  # noqa: E402

# The ports' sum must stay well below what the emulated machines forward unshaped.
PORT_MBIT = {2: 10, 4: 5}
SECONDS = 5
JOIN_SECONDS = 6
REPEATS = 3                 # of what ratios are made of
# (how the ports are joined, the name in the table, its QPs and how often each is run)
WAYS = (
    ('port', 'one port', ((1, REPEATS), (4, 1))),
    ('bond balance-rr', 'bonding balance-rr', ((1, 1), (4, 1))),
    ('bond balance-xor', 'bonding balance-xor layer3+4', ((1, 1), (4, 1))),
    ('rocepath flow', 'rocepath flow', ((1, 1), (4, 1))),
    ('rocepath spray', 'rocepath spray', ((1, REPEATS), (4, 1))),
)
CUTS = {'bond balance-xor': 'bonding balance-xor', 'rocepath spray': 'rocepath spray'}


def _step(name, qps):
    return '%s, %d QP%s' % (name, qps, 's' if qps > 1 else '')


def _steps():
    steps = [('two machines boot', 15)]
    for how, name, runs in WAYS:
        for qps, times in runs:
            first = JOIN_SECONDS if qps == runs[0][0] else 0
            steps.append((_step(name, qps), first + times * (SECONDS + PERF_OVERHEAD)))
        if how in CUTS:
            steps.append((name + ', a cable is pulled', cut.SECONDS + 5))
    return steps


def _run_way(bed, pace, way, results, cuts):
    """All runs with the ports joined in one way."""
    how, name, runs = way
    pace.start(_step(name, runs[0][0]))
    with bed.joined(how):
        for qps, times in runs:
            if qps != runs[0][0]:
                pace.start(_step(name, qps))
            result = Result(name, qps)
            for _ in range(times):
                result.run(bed, seconds=SECONDS)
            results.append(result)
            pace.result('%.2f MB/s' % result.MBps)
        if how in CUTS:
            pace.start(name + ', a cable is pulled')
            cuts[how] = seen = cut.run(bed, CUTS[how])
            pace.result('longest gap %.0f ms, %.2f -> %.2f -> %.2f MB/s, %d completion errors' % (
                seen.gap_ms, seen.before / 1e6, seen.during / 1e6, seen.after / 1e6, seen.cq_errors))


def _report(bed, mbit, results, cuts):
    """What report.json holds."""
    rates = {(r.name, r.qps): r.MBps for r in results}
    one, limit = rates['one port', 1], rates['one port', 1] * bed.ports
    ours, theirs = cuts['rocepath spray'], cuts['bond balance-xor']
    return {
        'kernel': bed.lab.kernel.release, 'ports': bed.ports, 'port_mbps': mbit,
        'one_port_MBps': round(one, 3), 'limit_MBps': round(limit, 3),
        'runs': [r.as_dict() for r in results],
        'spray_ratio': round(rates['rocepath spray', 1] / limit, 4) if limit else 0,
        'cut': {'cq_errors': ours.cq_errors, 'seq_err': ours.seq_err,
                'longest_gap_ms': round(ours.gap_ms, 1), 'bond_longest_gap_ms': round(theirs.gap_ms, 1)},
        'recovered_ratio': round(ours.recovered, 4)}


def _ending(report, results, out, picture):
    print('\n%d ports of %g Mbit/s, one of them %s longer; ib_write_bw over rdma_rxe, linux %s, unpatched\n' % (
        report['ports'], report['port_mbps'], '300 us' if report['ports'] == 2 else '300 us and one 600 us',
        report['kernel']))
    print('\n'.join(table(results, report['limit_MBps'])))
    print('\nOne queue pair over all ports carries %.0f %% of what they carry together, and nothing arrives out of order.'
          % (100 * report['spray_ratio']))
    print('With a cable pulled at full load the transfer stood still for %.0f ms (bonding: %.0f ms) and went on; '
          'the repaired cable\nbrought back %.0f %% of the rate.' % (
              report['cut']['longest_gap_ms'], report['cut']['bond_longest_gap_ms'], 100 * report['recovered_ratio']))
    print('\nThe picture: %s   For programs: %s' % (
        os.path.relpath(picture), os.path.relpath(os.path.join(out, 'report.json'))), flush=True)


def demo(args):
    """Measure, tell, draw."""
    results, cuts = [], {}
    pace = Pace(_steps())
    mbit = args.mbit or PORT_MBIT[args.ports]
    bed = Bed(args.ports, args.kernel, workdir=os.path.join(args.out, 'vm'))
    with bed.lab:
        pace.start('two machines boot')
        bed.start()
        bed.shape(args.ports, mbit)
        pace.result('linux %s' % bed.lab.kernel.release)
        for way in WAYS:
            _run_way(bed, pace, way, results, cuts)
    report = _report(bed, mbit, results, cuts)
    write_json(os.path.join(args.out, 'report.json'), report)
    picture = plot.draw(args.out, cuts['rocepath spray'], cuts['bond balance-xor'], report['one_port_MBps'])
    _ending(report, results, args.out, picture)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ports', type=int, choices=sorted(PORT_MBIT), default=2)
    parser.add_argument('--out', default='build/demo', help='directory for what is made (default: %(default)s)')
    parser.add_argument('--kernel', default='6.12', help='series (default: %(default)s)')
    parser.add_argument('--mbit', type=float, help='rate of a port (default: 10, with 4 ports 5)')
    parser.add_argument('--accept', action='store_true', help='measure each figure three times; assert nothing')
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    try:
        if args.accept:
            accept.accept(args, PORT_MBIT)
        else:
            demo(args)
    except (LabError, OSError) as e:
        fail(e)
    return 0


if __name__ == '__main__':
    sys.exit(main())
