#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Paths of an RDMA device whose data the kernel does not send, found from user space.

Over the fabric of racks.py, with rdma_rxe on eth0 itself: by leaf a0, 4 spines, leaf b0.
"""

import functools
import json
import signal
import sys

from lab import ksft
from lib import fabric, roce
from racks import V4, V6, frame, inject, join, racks

SPORT = 49152
EVS = 64
HOPS = 4
DISCOVER = 'rocepath -j rdma discover %s dev rxe0 '
POLICY = '''version: 1
interfaces: [eth0]
classes: [{name: marked, dscp: 26}]
default-class: marked
'''


def discover(r, peer, more=''):
    """What is found, as JSON: paths by their routers."""
    found = r.a.json(DISCOVER % peer + more, timeout=60)
    paths = {tuple(path['routers']): path for path in found['paths']}
    ksft.eq(len(paths), len(found['paths']), 'distinct paths')
    for routers, path in sorted(paths.items()):
        ksft.say('%s: %d EVs, reached %s' % (' '.join(routers), len(path['evs']), path['reached']))
    return found, paths


def real_paths(version=4, spines=fabric.SPINES):
    """Those that the fabric has from the port, as `discover` names them."""
    return {tuple(fabric.router_address(router, version) for router in ('a0', spine, 'b0')) for spine in spines}


def finds_each_path(r):
    """Each path, its routers in order; as many EVs as were tried, and the distance."""
    for version, peer in ((4, V4['b']), (6, V6['b'])):
        found, paths = discover(r, peer)
        ksft.eq(set(paths), real_paths(version))
        ksft.eq(sum(len(path['evs']) for path in paths.values()), EVS)
        ksft.eq((found['distance'], found['assumed'], found['seen'], found['applied']), (HOPS, False, True, False))
        ksft.eq((found['device'], found['netdev'], found['from']), ('rxe0', 'eth0', V6['a'] if version == 6 else V4['a']))
    text = r.a.run('rocepath rdma discover %s dev rxe0' % V4['b'], timeout=60).out
    ksft.isin('rocepath rdma discover %s dev rxe0 apply' % V4['b'], text)
    dot = r.a.run('rocepath rdma discover %s dev rxe0 dot' % V4['b'], timeout=60).out
    for spine in fabric.SPINES:
        ksft.isin('"%s" -> "%s"' % (fabric.router_address('a0'), fabric.router_address(spine)), dot)


def as_the_data_goes(r):
    """What has the source port of an EV takes the path that was found for it, and no other."""
    _, paths = discover(r, V4['b'])
    for routers, path in paths.items():
        spine = next(s for s in fabric.SPINES if fabric.router_address(s) == routers[1])
        before = r.fabric.packets()
        for ev in path['evs'][:3]:
            inject(r.a, [frame(SPORT + ev)], port=0, times=40)
        after = r.fabric.packets()
        got = {s: after[s, 'a0'] - before[s, 'a0'] for s in fabric.SPINES}
        ksft.eq([s for s, n in got.items() if n >= 40], [spine], got)


def under_a_policy(r):
    """The policy drops UDP 4791 of processes. These probes get past it, with the DSCP of its class, and are RoCE."""
    r.a.put(POLICY.encode(), '/tmp/policy.yaml')
    r.a.run('rocepath apply /tmp/policy.yaml', timeout=120)
    before = r.a.json('rocepath -j drop show all')
    capture = r.f.capture('a', '/tmp/probes.pcap', 'udp dst port 4791', ns='a0')
    _, paths = discover(r, V4['b'])
    r.f.poll(lambda: len(roce.packets(r.f.get('/tmp/probes.pcap'))) >= EVS * (HOPS - 1), 20, 'the capture is written')
    capture.kill(signal.SIGINT)
    capture.wait(check=False)
    found = roce.packets(r.f.get('/tmp/probes.pcap'))
    counted = {row['reason']: row['packets'] for row in r.a.json('rocepath -j drop show all')}
    r.a.run('rocepath clean', timeout=60)
    ksft.eq(set(paths), real_paths())
    ksft.eq(counted['tx_local_process'], next(row['packets'] for row in before if row['reason'] == 'tx_local_process'))
    ksft.eq({packet.tos for packet in found}, {26 << 2})
    ksft.eq({packet.opcode for packet in found}, {roce.CONTROL})
    ksft.eq({packet.sport - SPORT for packet in found}, {ev for path in paths.values() for ev in path['evs']})
    ksft.eq(roce.bad_icrc(found), [])


def a_dead_spine(r):
    """EVs that lead by it are seen not to get there, and the others make up the paths."""
    r.fabric.blackhole('s2')
    found, paths = discover(r, V4['b'])
    ksft.eq({name for name, path in paths.items() if path['reached']},
            real_paths(spines=[s for s in fabric.SPINES if s != 's2']))
    ksft.eq([name for name, path in paths.items() if not path['reached']], [(fabric.router_address('a0'),)])
    ksft.eq(found['seen'], True)


def routers_are_silent(r):
    """Where no spine answers nothing is concluded, and it is said that the sequence stays."""
    r.f.run('\n'.join('for i in a0 a1; do tc -n %s filter add dev $i egress protocol ip pref 5 u32 '
                      'match ip src %s action drop; done' % (spine, fabric.router_address(spine))
                      for spine in fabric.SPINES))
    job = r.a.run('rocepath rdma discover %s dev rxe0 apply' % V4['b'], timeout=60, check=False)
    r.f.run('\n'.join('for i in a0 a1; do tc -n %s filter del dev $i egress pref 5; done' % spine
                      for spine in fabric.SPINES))
    ksft.eq(job.rc, 1)
    ksft.isin('routers do not answer at some hop', job.err)
    ksft.isin('the sequence of EVs stays', job.err)


def a_peer_that_answers_no_ping(r):
    """What routers say is shown, but where it ends is not known, so nothing is concluded."""
    r.b.run('sysctl -qw net.ipv4.icmp_echo_ignore_all=1')
    job = r.a.run(DISCOVER % V4['b'] + 'apply', timeout=60, check=False)
    r.b.run('sysctl -qw net.ipv4.icmp_echo_ignore_all=0')
    found = json.loads(job.out)
    ksft.eq((job.rc, found['distance'], found['assumed'], found['seen'], found['applied']), (1, HOPS, True, False, False))
    ksft.eq({tuple(path['routers']) for path in found['paths']}, real_paths())
    ksft.isin('answers no ping', job.err)


def refusals(r):
    """What cannot be is said in a line."""
    for words, why in (('%s dev rxe9' % V4['b'], 'there is no RDMA device rxe9'),
                       ('%s dev rxe0 from 10.9.9.9' % V4['b'], 'has no GID of RoCE v2 with 10.9.9.9'),
                       ('%s dev rxe0' % '10.1.0.77', 'does not answer')):
        job = r.a.run('rocepath rdma discover ' + words, timeout=60, check=False)
        ksft.eq((job.rc, job.out), (1, ''))
        ksft.isin(why, job.err)


TESTS = [finds_each_path, as_the_data_goes, under_a_policy, a_dead_spine, routers_are_silent,
         a_peer_that_answers_no_ping, refusals]


def main():
    """One lab for all tests."""
    r = racks(programs=('inject',))
    with r.lab as lab:
        lab.start()
        r.fabric.build()
        for m in (r.a, r.b):
            join(r, m, 'port')

        def one(test):
            @functools.wraps(test)
            def wrapped(_a, _b):
                try:
                    test(r)
                finally:
                    r.fabric.heal()
            return wrapped
        sys.exit(ksft.run([one(test) for test in TESTS], (r.a, r.b), lab))


if __name__ == '__main__':
    main()
