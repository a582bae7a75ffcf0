# SPDX-License-Identifier: GPL-2.0
"""The figures that a release is held against, each a median of three. Asserts nothing."""

import os

import cut
from bed import Bed
from report import write_json
from result import Result

REPEATS = 3
SECONDS = 5
TOOLS = ('ib_write_bw', 'ib_send_bw', 'ib_read_bw')
GOALS = {2: 0.95, 4: 0.90}


class Figures:
    """What was measured, beside its goal."""

    def __init__(self, path):
        self.path = path
        self.rows = []

    def add(self, name, value, goal, good, runs=None):
        """One figure. It is written at once, so that a run that breaks off leaves what it has."""
        row = {'name': name, 'value': value, 'goal': goal, 'good': bool(good)}
        if runs is not None:
            row['runs'] = runs
        self.rows.append(row)
        print('%-4s %-44s %10s   goal %-10s %s' % (
            'ok' if good else 'MISS', name, value, goal, runs if runs is not None else ''), flush=True)
        write_json(self.path, {'figures': self.rows})

    def at_least(self, name, value, goal, runs=None):
        """More is better."""
        self.add(name, round(value, 4), '>= %g' % goal, value >= goal, runs)

    def at_most(self, name, value, goal, runs=None):
        """Less is better."""
        self.add(name, round(value, 4), '<= %g' % goal, value <= goal, runs)


def median(values):
    """The median, the upper one of an even number."""
    values = sorted(values)
    return values[len(values) // 2]


def _measure(bed, name, tool):
    result = Result(name, 1)
    for _ in range(REPEATS):
        result.run(bed, tool, SECONDS)
    return result


def _rounded(values):
    return [round(v, 3) for v in values]


def _rates(bed, figures, ports):
    """Ratios of spraying; returns the rate of one port for writes."""
    with bed.joined('port'):
        one = {tool: _measure(bed, 'one port', tool) for tool in TOOLS}
    print('     one port: %s' % {t: _rounded(r.rates) for t, r in one.items()}, flush=True)
    with bed.joined('rocepath spray'):
        for tool in TOOLS:
            spray = _measure(bed, 'spray', tool)
            limit = one[tool].MBps * ports
            figures.at_least('spray_ratio %d ports %s' % (ports, tool), spray.MBps / limit if limit else 0,
                             GOALS[ports], _rounded(spray.rates))
            figures.at_most('seq_err %d ports %s' % (ports, tool), spray.seq_err, 0)
            figures.at_most('cq_errors %d ports %s' % (ports, tool), spray.cq_errors, 0)
    return one['ib_write_bw'].MBps


def _peer_without(bed, figures, one):
    """A peer that does not have the module, and receives on both ports."""
    with bed.joined('rocepath flow', 'bond balance-xor'):
        flow = _measure(bed, 'flow', 'ib_write_bw')
    ratio = flow.MBps / one if one else 0
    figures.add('peer without the module, of one port', round(ratio, 4), '0.95..1.05', 0.95 <= ratio <= 1.05,
                _rounded(flow.rates))
    figures.at_most('peer without the module, seq_err', flow.seq_err, 0)
    figures.at_most('peer without the module, cq_errors', flow.cq_errors, 0)


def _cuts(bed, figures):
    """A cable pulled and plugged in again, beside bonding."""
    with bed.joined('rocepath spray'):
        ours = [cut.run(bed, 'rocepath spray') for _ in range(REPEATS)]
    gaps = [c.gap_ms for c in ours]
    figures.at_most('cut, longest gap ms', median(gaps), 50, _rounded(gaps))
    figures.at_most('cut, cq_errors', sum(c.cq_errors for c in ours), 0)
    figures.add('cut, seq_err', [c.seq_err for c in ours], 'told', True)
    figures.at_least('cut, recovered_ratio', median(c.recovered for c in ours), 0.95,
                     _rounded(c.recovered for c in ours))
    with bed.joined('bond balance-xor'):
        theirs = [cut.run(bed, 'bonding').gap_ms for _ in range(REPEATS)]
    figures.add('cut, longest gap ms of bonding balance-xor', round(median(theirs), 1), 'told', True,
                _rounded(theirs))


def accept(args, port_mbit):
    """Measure all."""
    figures = Figures(os.path.join(args.out, 'accept.json'))
    bed = Bed(4, args.kernel, workdir=os.path.join(args.out, 'vm'))
    with bed.lab:
        bed.start()
        bed.shape(2, args.mbit or port_mbit[2])
        one = _rates(bed, figures, 2)
        _peer_without(bed, figures, one)
        _cuts(bed, figures)
        bed.shape(4, (args.mbit or 2 * port_mbit[4]) / 2)
        _rates(bed, figures, 4)
    print('written to %s' % os.path.relpath(figures.path), flush=True)
