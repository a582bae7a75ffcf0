#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""QPs of rdma_rxe over eight distinct paths: how they are spread, and what happens when one fails.

      a                       s0 ... s7                       b
      |-- eth0 ---- a0 ------ each leaf to each ------ b0 ---- eth0 --|      rxe0 on both

rocepath_rdma on both hosts. Which EV takes which spine is found out first, and told to the plan.
"""

import collections
import json
import os
import sys
import time

from lab import ksft
from lib import fabric
from racks import V4
from rdma_lab import INTERVAL_MS, counters, homes, join, load, paths, rdma_racks
from test_rdma import IN_JOB, Qps, figure, rows

SPINES = 8
EVS = 160           # looked at, at most, to find two for each spine
EACH = 2
SENDS = 10
SQD = 4
MBIT = 2            # of a link, where that matters: more than the QPs of a path need, and less than four times that


class State:
    """The racks, the family on both hosts, and the plan."""

    def __init__(self, r):
        self.r = r
        self.a, self.b = load(r.a), load(r.b)
        self.evs = {}       # EV: number of its spine
        self.ends = []

    def plan(self):
        """Find out, and tell."""
        self.a.do('device-set', probe_interval_us=0)
        found = collections.defaultdict(list)
        for i in range(EVS):
            ev = i * 10125 % 16384
            found[homes(self.r, [ev])[ev]].append(ev)
            if len(found) == SPINES and min(len(evs) for evs in found.values()) >= EACH:
                break
        self.evs = {ev: int(spine[1:]) for spine, evs in found.items() for ev in evs[:EACH]}
        ksft.say('spines: %s' % {spine: len(evs) for spine, evs in sorted(found.items())})
        ksft.eq(sorted(self.evs.values()), sorted(list(range(SPINES)) * EACH))
        self.a.do('device-set', probe_interval_us=INTERVAL_MS * 1000)

    def tell(self, known=True):
        """The plan of a's pair, or the sequence again."""
        evs = [{'ev': ev, 'path': path} for ev, path in self.evs.items()] if known else []
        self.a.do('plan-set', device='rxe0', local=V4['a'], remote=V4['b'], evs=evs)

    def qps(self, options='', before=''):
        """A set of QPs of a."""
        return Qps(self.r.a, options, before, address=V4['a'], peer=V4['b'])

    def talking(self, n, options='-o 18'):
        """QPs of a and b, connected with each other."""
        a = self.qps(options).make(n)
        b = Qps(self.r.b, options, address=V4['b'], peer=V4['a']).make(n)
        a.connect(*b.numbers)
        b.connect(*a.numbers)
        self.ends = [a, b]
        return a, b

    def begin(self, action):
        """Nothing is left of the test before; the plan is told."""
        for end in self.ends:
            end.stop()
        self.ends = []
        self.r.fabric.heal()
        self.r.fabric.unshape()
        self.a.do('device-set', steering=1, on_failure=action)
        self.r.a.poll(lambda: not rows(self.a), 20, 'there are no QPs')
        self.tell()


def spine_counts(s, before):
    """Packets of a that each spine has had since."""
    after = s.r.fabric.packets()
    return [after[spine, 'a0'] - before[spine, 'a0'] for spine in fabric.SPINES]


def ratio(counts):
    """The maximum over the mean."""
    return max(counts) * len(counts) / sum(counts)


def sent(s, q, n):
    """What each spine has of SENDS sends by each of n QPs."""
    before = s.r.fabric.packets()
    q.ask('send %d' % SENDS, 'sent')
    s.r.a.poll(lambda: sum(spine_counts(s, before)) >= SENDS * n, 20, 'all are there')
    counts = spine_counts(s, before)
    ksft.say('packets by spine: %s' % counts)
    return counts


def sixty_four(s):
    """Every path carries 8 of 64 QPs; the hash of QPNs beside it; a second job keeps both even."""
    s.a.do('device-set', steering=0, probe_interval_us=0)
    with s.qps('-t uc') as q:
        q.make(64).connect()
        figure('hash_max_over_mean', round(ratio(sent(s, q, 64)), 3), 'worst-is-max')
    s.a.do('device-set', steering=1)
    s.tell()
    with s.qps('-t uc', '/tmp/in_job one') as q, s.qps('-t uc', '/tmp/in_job two') as more:
        q.make(64).connect()
        found = collections.Counter(row['path'] for row in rows(s.a).values())
        ksft.eq(found, {path: 8 for path in range(SPINES)})
        counts = sent(s, q, 64)
        # a few packets that are not ours may pass
        ksft.le(max(counts), 8 * SENDS + 3)
        ksft.ge(min(counts), 8 * SENDS)
        worst = max(found.values()) * SPINES / sum(found.values())
        more.make(64).connect()
        found = collections.Counter((row['cgroup'], row['path']) for row in rows(s.a).values())
        ksft.eq(found, {('/slurm/' + job, path): 8 for job in ('one', 'two') for path in range(SPINES)})
        both = sent(s, more, 64)
        ksft.le(max(both), 8 * SENDS + 3)
        figure('plan_max_over_mean', round(max(worst, *[max(found.values()) / 8]), 3), 'worst-is-max')
    s.a.do('device-set', probe_interval_us=INTERVAL_MS * 1000)


def of_type(events, kind):
    """Those events, with when they came."""
    return [(ns, row) for ns, row in events.rows if row['type'] == kind]


def results(end):
    """[(sent, received, errors)]."""
    before = len(end.job.lines())
    end.ask('result', 'results')
    return [tuple(int(word) for word in line.split()[2:])
            for line in end.job.lines()[before:] if line.startswith('result ')]


def told(s):
    """An EV that an operator takes out: new QPs avoid it, live ones move without an error, and data goes on."""
    s.begin('move')
    a, b = s.talking(16)
    a.ask('stream 2000', 'streams')
    s.r.a.poll(lambda: min(row[0] for row in results(a)) > 20, 30, 'they talk')
    found = rows(s.a)
    victim = found[a.numbers[3]]['ev']
    mine = sorted(qpn for qpn, row in found.items() if row['ev'] == victim)
    with s.a.events('events') as events:
        s.a.do('path-set', device='rxe0', local=V4['a'], remote=V4['b'], ev=victim, state='down')
        s.r.a.poll(lambda: len(of_type(events, 'moved')) == len(mine), 20, 'they have moved')
        down, = of_type(events, 'path-down')
        ksft.eq(sorted(qp['qpn'] for qp in down[1]['qp']), mine)
        ksft.eq((down[1]['ev'], down[1]['reason'], down[1]['qps']), (victim, 'told', len(mine)))
        ksft.say(json.dumps(of_type(events, 'moved')[0][1]))
        ksft.eq({row['qp'][0]['result'] for _, row in of_type(events, 'moved')}, {0})
    now = rows(s.a)
    ksft.eq([qpn for qpn, row in now.items() if row['ev'] == victim], [])
    ksft.eq([now[qpn]['moves'] for qpn in mine], [1] * len(mine))
    before = results(a)
    s.r.a.poll(lambda: all(y[0] > x[0] + 20 for x, y in zip(before, results(a))), 30, 'data goes on')
    errors = sum(row[2] for row in results(a) + results(b))
    ksft.eq(errors, 0)
    ksft.eq(s.a.do('device-get', name='rxe0')['moves'], 'yes')
    s.a.do('path-set', device='rxe0', local=V4['a'], remote=V4['b'], ev=victim, state='up')


def settled(s, n):
    """So many EVs that QPs sit on are up."""
    s.r.a.poll(lambda: len([row for row in paths(s.a).values()
                            if row['qps'] and row['state'] == 'up' and row['answered'] > 8]) >= n,
               60, '%d EVs answer' % n)


def slow(s):
    """A path at a quarter of its speed: live QPs leave it without a completion error."""
    s.begin('move')
    s.r.fabric.shape(rate=MBIT, queue=100)
    a, b = s.talking(16)
    a.ask('stream 4000', 'streams')
    settled(s, 2 * SPINES)
    victim = rows(s.a)[a.numbers[0]]['path']
    with s.a.events('events') as events:
        s.r.fabric.rate('a0-s%d' % victim, MBIT / 4)
        s.r.a.poll(lambda: of_type(events, 'path-degraded') + of_type(events, 'path-down'), 60, 'it is slow')
        s.r.a.poll(lambda: not [row for row in rows(s.a).values() if row.get('path') == victim], 60,
                   'its QPs have left')
        ksft.say('%s' % collections.Counter(row['type'] for _, row in events.rows))
    errors = sum(row[2] for row in results(a) + results(b))
    figure('hw_move_cq_errors', errors, 'worst-is-max')
    ksft.eq(errors, 0)


def first_errors(end):
    """{QP: when its first error came, in ns}."""
    return {int(line.split()[1]): int(line.split()[2])
            for line in end.job.lines() if line.startswith('error ')}


def error(s):
    """A spine blackholed: the right QPs are told of, and end at once; new ones avoid it; the others go on.

    Only what goes to b is lost: a has no say in which path acknowledges take.
    """
    s.begin('error')
    a, b = s.talking(16)
    a.ask('stream 4000', 'streams')
    settled(s, 2 * SPINES)
    found = rows(s.a)
    victim = found[a.numbers[0]]['path']
    mine = [qpn for qpn in a.numbers if found[qpn]['path'] == victim]
    with s.a.events('events') as events:
        s.r.fabric.blackhole('s%d' % victim, towards='b')
        s.r.a.poll(lambda: len(of_type(events, 'errored')) == len(mine), 60, 'they have ended')
        down = of_type(events, 'path-down')
    told_of = sorted(qp['qpn'] for _, row in down for qp in row.get('qp', []))
    ksft.eq(told_of, sorted(mine))
    ksft.eq({row['path'] for _, row in down}, {victim})
    ksft.eq({qp['comm'] for _, row in down for qp in row['qp']}, {'qpset'})
    s.r.a.poll(lambda: len(first_errors(a)) >= len(mine), 10, 'the application knows')
    ended = {a.numbers[i]: ns for i, ns in first_errors(a).items()}
    ksft.eq(sorted(ended), sorted(mine))
    when = {qp['qpn']: row['time-ns'] for _, row in down for qp in row['qp']}
    worst = max(ended[qpn] - when[qpn] for qpn in mine) / 1e6
    figure('hw_error_ms', round(max(worst, 0), 2), 'worst-is-max')
    ksft.say('completion errors %.1f ms after the event' % worst)
    ksft.le(worst, 50)
    with s.qps() as q:
        q.make(14).connect()
        ksft.eq(collections.Counter(rows(s.a)[qpn]['path'] for qpn in q.numbers),
                {path: 2 for path in range(SPINES) if path != victim})
    before = results(a)
    s.r.a.poll(lambda: all(y[0] > x[0] for qpn, x, y in zip(a.numbers, before, results(a)) if qpn not in mine),
               30, 'the others go on')


def default(s):
    """The same without: how long the transport itself takes, with the timeout that NCCL asks for.

    It also asks for 7 retries, with which rdma_rxe goes on for ever.
    """
    s.begin('notify')
    a, _ = s.talking(16, '-o 20 -r 6')
    a.ask('stream 4000', 'streams')
    settled(s, 2 * SPINES)
    found = rows(s.a)
    victim = found[a.numbers[0]]['path']
    mine = [qpn for qpn in a.numbers if found[qpn]['path'] == victim]
    with s.a.events('events') as events:
        s.r.fabric.blackhole('s%d' % victim, towards='b')
        s.r.a.poll(lambda: of_type(events, 'path-down'), 30, 'it is found')
        down = of_type(events, 'path-down')[0][1]['time-ns']
    s.r.a.poll(lambda: len(first_errors(a)) >= len(mine), 90, 'the application knows')
    took = min(first_errors(a).values()) - down
    figure('hw_error_default_ms', round(took / 1e6), 'worst-is-min')
    ksft.ge(took / 1e9, 5)


def port(s):
    """The port itself loses its carrier: all its QPs are told of at once, and end."""
    s.begin('error')
    a, _ = s.talking(8)
    a.ask('stream 4000', 'streams')
    with s.a.events('events') as events:
        s.r.fabric.cut('a-a0')
        s.r.a.poll(lambda: len(of_type(events, 'errored')) == 8, 30, 'they have ended')
        down = of_type(events, 'port-down')[0][1]
        ksft.eq(sorted(qp['qpn'] for qp in down['qp']), sorted(a.numbers))
        s.r.a.poll(lambda: len(first_errors(a)) == 8, 10, 'the application knows')
        s.r.fabric.heal()
        s.r.a.poll(lambda: of_type(events, 'port-up'), 30, 'it is back')


def stuck(s):
    """QPs that cannot drain are destroyed while they are being moved; their end waits, and not for long."""
    s.begin('move')
    before = counters(s.a)
    for i in range(3):
        # the other ends are not there, and without a timeout they wait for ever
        with s.qps('-o 0') as q:
            q.make(8).connect()
            q.ask('send 2', 'sent')
            with s.a.events('events') as events:
                for ev in {row['ev'] for row in rows(s.a).values()}:
                    s.a.do('path-set', device='rxe0', local=V4['a'], remote=V4['b'], ev=ev, state='down')
                s.r.a.poll(lambda: {row[0] for row in q.show()[:7]} == {SQD}, 20, 'they drain')
                began = time.monotonic()
                q.ask('destroy', 'destroyed')
                took = time.monotonic() - began
                s.r.a.poll(lambda: len(of_type(events, 'moved')) >= 7, 20, 'who moves them has given up')
            ksft.le(took, 5)
        s.r.a.poll(lambda: not rows(s.a), 20, 'they are gone')
        for ev in s.evs:
            s.a.do('path-set', device='rxe0', local=V4['a'], remote=V4['b'], ev=ev, state='up')
    after = counters(s.a)
    ksft.say('%d waited' % (after['waited'] - before['waited']))
    ksft.ge(after['waited'] - before['waited'], 3)
    # as a process that is killed, and while the module goes
    with s.qps('-o 0') as q:
        q.make(8).connect()
        q.ask('send 2', 'sent')
        for ev in {row['ev'] for row in rows(s.a).values()}:
            s.a.do('path-set', device='rxe0', local=V4['a'], remote=V4['b'], ev=ev, state='down')
        s.r.a.poll(lambda: {row[0] for row in q.show()[:7]} == {SQD}, 20, 'they drain')
        q.job.kill(9)
        q.job.wait(20, check=False)
    s.r.a.poll(lambda: not rows(s.a), 20, 'they are gone')
    for ev in s.evs:
        s.a.do('path-set', device='rxe0', local=V4['a'], remote=V4['b'], ev=ev, state='up')


def goes(s):
    """The module goes while it moves QPs, and ends those of a dead port: nothing hangs, the QPs stay."""
    s.begin('move')
    with s.qps('-o 0') as q:
        q.make(8).connect()
        q.ask('send 2', 'sent')
        for ev in {row['ev'] for row in rows(s.a).values()}:
            s.a.do('path-set', device='rxe0', local=V4['a'], remote=V4['b'], ev=ev, state='down')
        s.r.a.poll(lambda: {row[0] for row in q.show()[:7]} == {SQD}, 20, 'they drain')
        s.r.a.run('rmmod rocepath_rdma')
        ksft.eq(len(q.show()), 8)
    s.a = load(s.r.a)


TESTS = [sixty_four, told, stuck, slow, error, default, port, goes]


def main():
    """On 6.12."""
    fabric.widen(SPINES)
    r = rdma_racks(os.environ.get('ROCEPATH_KERNEL'), programs=('qpset',))
    with r.lab as lab:
        lab.start()
        r.fabric.build()
        for m in (r.a, r.b):
            join(m)
            m.put(IN_JOB, '/tmp/in_job', 0o755)
        r.a.run('mkdir -p /tmp/cg && mount -t cgroup2 none /tmp/cg; mkdir -p /tmp/cg/slurm')
        s = State(r)
        began = time.monotonic()
        s.plan()
        ksft.say('the plan took %.0f s' % (time.monotonic() - began))
        sys.exit(ksft.run(TESTS, (s,), lab, sys.argv[1:]))


if __name__ == '__main__':
    main()
