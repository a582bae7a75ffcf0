#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the operator sees of a fabric: path discovery, events of paths, the live view.

Over the fabric of racks.py, whose paths are known: 2 ports x 4 spines.
"""

import contextlib
import functools
import itertools
import sys

from hosts import Stream, tidy
from lab import ksft
from lib import fabric
from racks import PORTS, SETTINGS, V4, V6, join, racks
from rocepath_lab import capable, show

EVS = 16                # of a port
RATE = 5                # Mbit/s of a link between leaf and spine: the machine forwards all of it
STREAM = '-n 1 -s 4096 -D 24'
DISCOVER = 'rocepath path discover %s dev rp0 '


@contextlib.contextmanager
def traffic(r, addr=None):
    """A stream from a to b in a block."""
    stream = Stream(r.b, r.a, addr=addr or V4, seconds=600, options=STREAM)
    for m, other in ((r.a, r.b), (r.b, r.a)):
        capable(m, (addr or V4)[other.name], 30)
    yield stream
    server, client = stream.end(check=False)
    ksft.eq((server['cq_errors'], client['cq_errors']), (0, 0))


def discover(r, peer, more=''):
    """What discovery finds, as JSON: its ports by name, its paths by (port, routers)."""
    found = r.a.json('rocepath -j path discover %s dev rp0 %s' % (peer, more), timeout=60)
    paths = {(path['port'], tuple(path['routers'])): path for path in found['paths']}
    ksft.eq(len(paths), len(found['paths']), 'distinct paths')
    for name, path in sorted(paths.items()):
        ksft.say('%s %s: %d EVs, %s chosen' % (*name, len(path['evs']), path['chosen']))
    return {port['port']: port for port in found['ports']}, paths, found['applied']


def real_paths(version=4, spines=fabric.SPINES):
    """Those that the fabric has, as `discover` names them."""
    return {(port, tuple(fabric.router_address(router, version)
                         for router in ('a%d' % i, spine, 'b%d' % i)))
            for (i, port), spine in itertools.product(enumerate(PORTS), spines)}


def even(ports, paths, each):
    """So many of each path are chosen, and nothing else."""
    for path in paths.values():
        ksft.eq(len(path['chosen']), each if path['reached'] else 0, path)
        ksft.true(set(path['chosen']) <= set(path['evs']), path)
    for name, port in ports.items():
        chosen = itertools.chain(*(path['chosen'] for key, path in paths.items() if key[0] == name))
        ksft.eq(port['chosen'], sorted(chosen))


def finds_each_path(r):
    """Each path of the fabric is found, its routers in order, and as many EVs of each are chosen."""
    with traffic(r):
        pass
    ports, paths, applied = discover(r, V4['b'])
    ksft.eq(set(paths), real_paths())
    ksft.eq([port['reached'] for port in ports.values()], [64, 64])
    even(ports, paths, EVS // 4)
    ksft.eq(applied, False)
    text = r.a.run(DISCOVER % V4['b'], timeout=60).out
    for port in PORTS:
        ksft.isin('rocepath path set dev rp0 peer %s port %s evs ' % (V4['b'], port), text)
    dot = r.a.run(DISCOVER % V4['b'] + '--dot', timeout=60).out
    ksft.isin('"%s" -> "%s" [label=' % (fabric.router_address('a1'), fabric.router_address('s3')), dot)


def finds_ipv6_paths(r):
    """The same by IPv6."""
    with traffic(r, V6):
        pass
    ports, paths, _ = discover(r, V6['b'])
    ksft.eq(set(paths), real_paths(6))
    even(ports, paths, EVS // 4)


def chosen(r):
    """The EVs that paths to b use now, by port."""
    found = {}
    for row in show(r.a, 'path', 'rp0'):
        if row.get('peer') == V4['b']:
            found.setdefault(row['port'], []).append(row['ev'])
    return {port: sorted(evs) for port, evs in found.items()}


def uses_what_it_chose(r):
    """After --apply a QP loads all spines alike; and the usual EVs come back."""
    with traffic(r):
        ports, _, applied = discover(r, V4['b'], 'apply')
        ksft.eq(applied, True)
        ksft.eq(chosen(r), {name: port['chosen'] for name, port in ports.items()})
        before = r.fabric.packets()
        r.a.poll(lambda: sum(r.fabric.packets()[s, 'a0'] - before[s, 'a0'] for s in fabric.SPINES) > 2000,
                 60, 'it flows', interval=0.5)
        after = r.fabric.packets()
    for leaf in ('a0', 'a1'):
        sent = [after[spine, leaf] - before[spine, leaf] for spine in fabric.SPINES]
        ksft.say('%s to the spines: %s' % (leaf, sent))
        ksft.le(max(sent) / min(sent), 1.25, 'spines of %s are loaded alike' % leaf)
    for port in PORTS:
        r.a.run('rocepath path set dev rp0 peer %s port %s evs default' % (V4['b'], port))
    ksft.eq(chosen(r), {port: list(range(EVS)) for port in PORTS})


def says_when_routers_are_silent(r):
    """A spine that never answers could not be told from lost answers: nothing is changed."""
    r.f.run('\n'.join('tc -n s1 filter add dev %s egress protocol ip pref 5 u32 '
                      'match ip protocol 1 0xff action drop' % leaf for leaf in fabric.LEAVES))
    job = r.a.run(DISCOVER % V4['b'] + '--apply', timeout=60)
    r.f.run('\n'.join('tc -n s1 filter del dev %s egress pref 5' % leaf for leaf in fabric.LEAVES))
    for port in PORTS:
        ksft.isin('%s: too many answers of routers are missing' % port, job.err)
    ksft.true('rocepath path set' not in job.out, job.out)
    ksft.eq(chosen(r), {port: list(range(EVS)) for port in PORTS})


def shows_a_dead_spine(r):
    """It is in the events, in the live view and in what discovery finds, and no EV by it is chosen."""
    with traffic(r):
        monitor = r.a.spawn('rocepath monitor dev rp0')
        r.a.poll('grep -qE "^[0-9a-f]+ 16 +[0-9]+ +0*[1-9a-f]" /proc/net/netlink', why='it listens')
        r.fabric.blackhole('s2')
        r.a.poll(lambda: ' to %s down: ' % V4['b'] in monitor.out, 20, 'the event')
        line = next(line for line in monitor.lines() if ' down: ' in line)
        ksft.say(line)
        ksft.true(any(' rp0 path %s/' % port in line for port in PORTS), line)
        ksft.isin('found after', line)
        monitor.kill()
        monitor.wait(check=False)
        r.a.poll(lambda: sum(row['state'] == 'down' for row in show(r.a, 'path', 'rp0')) >= 2,
                 20, 'paths are down')
        top = r.a.json('rocepath -j top -d 1')
        ksft.true(top['paths'][0]['state'] != 'up', top['paths'][0])
        ksft.ge(top['flows'][0]['packets_per_s'], 50)
        ksft.ge(min(port['tx_bits_per_s'] for port in top['ports']), 100000)
        ksft.eq([row['name'] for row in top['devices']], ['rp0'])
        ports, paths, _ = discover(r, V4['b'])
        text = r.a.run('rocepath top -1').out
    r.fabric.heal()
    for head in ('DEVICE SCHEDULER', 'DEVICE PORT', 'DEVICE PEER', 'REPAIRED/s'):
        ksft.isin(head, text)
    ksft.eq({name for name, path in paths.items() if path['reached']},
            real_paths(spines=[s for s in fabric.SPINES if s != 's2']))
    ksft.eq({name[1] for name, path in paths.items() if not path['reached']},
            {(fabric.router_address(leaf),) for leaf in ('a0', 'a1')}, 'where the others end')
    even(ports, paths, EVS // 3)


TESTS = [finds_each_path, finds_ipv6_paths, uses_what_it_chose, says_when_routers_are_silent,
         shows_a_dead_spine]


def main():
    """One lab for all tests."""
    r = racks(programs=('rcstream',))
    with r.lab as lab:
        lab.start()
        r.fabric.build()
        r.fabric.shape(rate=RATE)
        for m in (r.a, r.b):
            join(r, m, 'rocepath spray', SETTINGS + ' report-interval 10ms evs %d' % EVS)

        def one(test):
            @functools.wraps(test)
            def wrapped(_a, _b):
                try:
                    test(r)
                finally:
                    r.fabric.heal()
            return tidy(wrapped)
        return ksft.run([one(test) for test in TESTS], (r.a, r.b), lab)


if __name__ == '__main__':
    sys.exit(main())
