#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Health of hardware paths: probes over real QPs, with rdma_rxe directly on the ports.

      a                       s0  s1  s2  s3                       b
      |-- eth0 ---- a0 ------- each leaf to each ------- b0 ---- eth0 --|      rxe0 on both
      | QPs, EVs                                                        |

rocepath_rdma on both hosts. QPs of a connect to b with EVs of the plan (`rcqp`; their other ends are not
there), and what is known of these EVs is looked at.
"""

import collections
import contextlib
import os
import signal
import statistics
import struct
import subprocess
import sys
import time
import zlib

from lab import ksft, start_perf
from leaves import Program
from lib import fabric, roce
from lib.initrd import TREE
from racks import PORTS, V4, V6, inject
from rdma_lab import (INTERVAL_MS, KEY, SPORT, counters, homes, join, load, paths, probed, rdma_racks)

QPS = 16
# where virtual CPUs stand still a round trip is long anyway: four times that, and not yet silence
SLOW_MS = INTERVAL_MS * 9 // 10
RECORDED = 32       # answers that are sent again
# of include/rocepath/rdma_wire.h
PROBE, ANSWER = 65, 66
UC_SEND, UD_SEND = 0x24, 0x64      # opcodes of messages
WIRE = struct.Struct('!BBBBHHQQQ')
BTH = 12



class State:
    """The racks, the family on both hosts, and QPs of a."""

    def __init__(self, r):
        self.r = r
        self.a, self.b = load(r.a), load(r.b)
        self.a.do('device-set', steering=1)
        self.job = wants(r)
        self.homes = {}

    def find_homes(self):
        """Which spine each EV in use takes; without probes, which would be counted as well."""
        self.a.do('device-set', probe_interval_us=0)
        self.homes = homes(self.r, in_use(self.a))
        self.a.do('device-set', probe_interval_us=INTERVAL_MS * 1000)


def figure(name, value, worst='worst-is-max'):
    """Record a number that the issue asks for."""
    subprocess.run([os.path.join(TREE, 'scripts/figure'), name, str(value), worst], check=True)


def in_use(rdma):
    """The EVs that QPs sit on."""
    return sorted(ev for ev, row in paths(rdma).items() if row['qps'])


def in_state(rdma, state):
    """The EVs in use in that state."""
    return sorted(ev for ev, row in paths(rdma).items() if row['qps'] and row['state'] == state)


def wants(r, n=QPS):
    """QPs that sit on EVs, until it is stopped."""
    return Program(r.a, 'rcqp -g %d -G ::ffff:%s -n %d' % (r.a.gid('rxe0', V4['a']), V4['b'], n), 'ready')


def settled(s, n=QPS):
    """So many EVs in use answer."""
    probed(s.r.a, s.a, n)
    ksft.eq(len(in_use(s.a)), n)


def message(packet):
    """(type, instance, number) of a packet of ours, or None."""
    at, kind, _ = roce._l3(packet.frame)
    at += (40 if kind == 0x86dd else 20) + 8 + BTH
    if packet.opcode == UD_SEND:       # UD: DETH
        at += 8
    if len(packet.frame) < at + WIRE.size:
        return None
    version, kind, _, _, _, _, instance, seq, _ = WIRE.unpack_from(packet.frame, at)
    return (kind, instance, seq) if version == 1 else None


def captured(m, seconds, what='udp dst port 4791'):
    """The RoCE packets that pass a host's port for a while."""
    job = m.capture(PORTS[0], '/tmp/probe.pcap', what)
    time.sleep(seconds)
    job.kill(signal.SIGINT)
    job.wait(10, check=False)
    return roce.packets(m.get('/tmp/probe.pcap'))


@contextlib.contextmanager
def blackholed(s, what, towards=None):
    """A fault of the fabric, while it lasts."""
    s.r.fabric.blackhole(what, towards)
    try:
        yield
    finally:
        s.r.fabric.heal()


def finds(s):
    """Hosts find each other; each EV in use is probed and answered, and a few more for the peer's sake."""
    settled(s)
    rows = paths(s.a)
    for ev in in_use(s.a):
        row = rows[ev]
        ksft.eq((row['local'], row['remote'], row['device'], row['reason']),
                (V4['a'], V4['b'], 'rxe0', 'new'))
        ksft.true(0 < row['rtt-us'] < 1000000, str(row))
        ksft.le(row['sent'] - row['answered'], 8, str(row))
    peer, = s.a.dump('peer-get')
    ksft.eq((peer['state'], peer['remote'], peer['evs'], peer['key-id']), ('capable', V4['b'], QPS, 1))
    # b has no QPs of its own: it probes what it needs to know whether a lives
    s.r.b.poll(lambda: len(paths(s.b)) == 4, why='witnesses')
    ksft.eq(in_use(s.b), [])


def ports_of(packets):
    """{source port: UC packets}."""
    return collections.Counter(p.sport for p in packets if p.opcode == UC_SEND)


def on_the_wire(s):
    """Probes of an EV leave with its source port, and look like data: a valid ICRC, nothing else."""
    sent = captured(s.r.a, 2, 'src %s and udp dst port 4791' % V4['a'])
    ksft.eq(len(roce.bad_icrc(sent)), 0)
    ports = ports_of(sent)
    rows = paths(s.a)
    ksft.eq(sorted(port - SPORT for port in ports), sorted(rows))
    probes = [p for p in sent if message(p) and message(p)[0] == PROBE]
    for ev in in_use(s.a):
        ksft.true(any(p.sport == SPORT + ev for p in probes), 'a probe of EV %d' % ev)
    ksft.say('%d packets in 2 s, %d probes, %d source ports' % (len(sent), len(probes), len(ports)))
    # two in an interval, of each EV; a busy host sends less
    ksft.le(len(probes), len(rows) * 2 * 2.5 * 1000 / INTERVAL_MS)


def die(s, spine, hit):
    """A spine swallows all, until its EVs are down; intervals that it took, of each."""
    mine = in_use(s.a)
    with s.a.events('events') as events, blackholed(s, spine):
        s.r.a.poll(lambda: in_state(s.a, 'down') == hit, 20, 'EVs %s are down' % hit)
        # and no other
        time.sleep(5 * INTERVAL_MS / 1000)
        up = [ev for ev in mine if ev not in hit]
        s.r.a.poll(lambda: in_state(s.a, 'up') == up, 5, 'the others are up')
        rows = [row for _, row in events.rows if row['type'] == 'path-down' and row.get('ev') in mine]
    ksft.eq(sorted({row['ev'] for row in rows}), hit)
    ksft.eq({(row['reason'], row['remote'], row['device']) for row in rows}, {('silent', V4['b'], 'rxe0')})
    s.r.a.poll(lambda: in_state(s.a, 'up') == mine, 30, 'all are up again')
    # the first probe that was lost left half an interval after the last that was not
    took = [row['took-us'] / 1000 / INTERVAL_MS + 0.5 for row in rows]
    ksft.say('%s: EVs %s down after %s intervals' % (spine, hit, ['%.2f' % t for t in took]))
    return took


def dead_spine(s):
    """A spine swallows all: exactly its EVs go down, within 3 intervals; and come back when it is repaired.

    Three spines, one after the other; a machine that stands still meanwhile makes one of them take longer.
    """
    mine = in_use(s.a)
    spines = {spine: sorted(ev for ev in mine if s.homes[ev] == spine) for spine in fabric.SPINES}
    ksft.say('EVs at spines: %s' % spines)
    before = counters(s.a)['paths_down']
    rounds = [max(die(s, spine, hit)) for spine, hit in spines.items() if 0 < len(hit) < len(mine)][:3]
    ksft.ge(len(rounds), 2, 'EVs are at too few spines')
    figure('hw_blackhole_intervals', statistics.median(rounds))
    ksft.le(statistics.median(rounds), 3)
    ksft.ge(counters(s.a)['paths_down'], before + len(rounds))


def one_way(s):
    """Only answers are lost by a spine: nothing goes down."""
    before = counters(s.a)['paths_down']
    spine = s.homes[in_use(s.a)[0]]
    with blackholed(s, spine, towards='a'):
        time.sleep(20 * INTERVAL_MS / 1000)
    ksft.eq(counters(s.a)['paths_down'], before)
    ksft.eq(in_state(s.a, 'down'), [])


def icrc(frame):
    """The frame with a right ICRC."""
    rest = bytearray(frame[34:-4])
    rest[6] = rest[7] = rest[12] = 0xff
    value = zlib.crc32(b'\xff' * 8 + roce._masked(frame[14:34], False) + rest)
    return frame[:-4] + struct.pack('<I', value)


def forged(packet, seq):
    """A message with another number, and a MAC that was right for its own; 0: with that."""
    frame = bytearray(packet.frame)
    if seq:
        struct.pack_into('!Q', frame, 34 + 8 + BTH + 16, message(packet)[2] + seq)
    return icrc(bytes(frame))


def replayed(s):
    """Recorded answers, and forged ones, are counted, and bring no path back."""
    taken = captured(s.r.b, 2, 'src %s and udp dst port 4791' % V4['b'])
    answers = [p for p in taken if p.opcode == UC_SEND and message(p) and message(p)[0] == ANSWER][-RECORDED:]
    ksft.true(len(answers) == RECORDED, '%d answers' % len(answers))
    mine = in_use(s.a)
    with blackholed(s, s.homes[mine[0]]):
        hit = sorted(ev for ev in mine if s.homes[ev] == s.homes[mine[0]])
        s.r.a.poll(lambda: in_state(s.a, 'down') == hit, 20, 'EVs %s are down' % hit)
        before = counters(s.a)
        for seq in (0, 10 ** 15):
            inject(s.r.b, [forged(p, seq) for p in answers], 0)
        # of a burst some are lost, for a sink has few receives posted
        for name in ('rx_replay', 'rx_mac'):
            s.r.a.poll(lambda name=name: counters(s.a)[name] - before[name] >= RECORDED // 4, 10, name)
        time.sleep(5 * INTERVAL_MS / 1000)
        after = counters(s.a)
        ksft.say({name: after[name] - before[name] for name in after if after[name] != before[name]})
        rows = paths(s.a)
        ksft.eq({rows[ev]['state'] for ev in hit} - {'down', 'probation'}, set(), str(rows))
        ksft.eq([ev for ev in mine if rows[ev]['state'] in ('down', 'probation')], hit)
    s.r.a.poll(lambda: in_state(s.a, 'up') == mine, 30, 'all are up again')


def dead_peer(s):
    """The peer stands still for seconds, and is lost: no path goes down. It comes back, and is found again."""
    before = counters(s.a)
    with s.a.events('events') as events:
        s.r.b.stop()
        try:
            s.r.a.poll(lambda: s.a.dump('peer-get')[0]['state'] == 'lost', 20, 'it is lost')
            ksft.eq(len(in_state(s.a, 'unknown')), QPS)
        finally:
            s.r.b.cont()
        s.r.a.poll(lambda: s.a.dump('peer-get')[0]['state'] == 'capable', 60, 'it is back')
        settled(s)
        ksft.eq([row for _, row in events.rows if row['type'] == 'path-down'], [])
    after = counters(s.a)
    ksft.eq((after['paths_down'], after['peers_lost']), (before['paths_down'], before['peers_lost'] + 1))


def slow_spine(s):
    """A path that is slow and not dead is degraded; and as fast as the others again, it is not."""
    count = collections.Counter(s.homes[ev] for ev in in_use(s.a))
    spine = min(count, key=count.get)
    hit = sorted(ev for ev in in_use(s.a) if s.homes[ev] == spine)
    with s.a.events('events') as events:
        s.r.fabric.shape('a0-' + spine, delay='%dms' % SLOW_MS)
        try:
            s.r.a.poll(lambda: in_state(s.a, 'degraded') == hit, 60, 'EVs %s are degraded' % hit)
            rows = [row for _, row in events.rows if row['type'] == 'path-degraded' and row['ev'] in hit]
            ksft.say('degraded: RTT %s us' % sorted(row['rtt-us'] for row in rows))
            ksft.eq(rows[0]['reason'], 'slow')
        finally:
            s.r.fabric.unshape()
        s.r.a.poll(lambda: in_state(s.a, 'degraded') == [], 60, 'none is degraded')
    s.r.a.poll(lambda: in_state(s.a, 'up') == in_use(s.a), 30, 'all are up')


def slow_spines(s):
    """Where most paths are slow they are degraded all the same, and those that are not are left."""
    spine = s.homes[in_use(s.a)[0]]
    fast = sorted(ev for ev in in_use(s.a) if s.homes[ev] == spine)
    hit = [ev for ev in in_use(s.a) if ev not in fast]
    for other in fabric.SPINES:
        if other != spine:
            s.r.fabric.shape('a0-' + other, delay='%dms' % SLOW_MS)
    try:
        s.r.a.poll(lambda: in_state(s.a, 'degraded') == hit, 120, 'EVs %s are degraded' % hit)
    finally:
        s.r.fabric.unshape()
    s.r.a.poll(lambda: in_state(s.a, 'up') == in_use(s.a), 60, 'all are up')


def over_ipv6(s):
    """Between IPv6 addresses: found, probed by each EV's source port with its label, and a dead spine is found out."""
    def mine():
        return {row['ev']: row for row in s.a.dump('path-get') if row['remote'] == V6['b'] and row['qps']}

    def in_order(n):
        rows = mine().values()
        return len([row for row in rows if row['state'] == 'up' and row['answered'] > 4]) == n

    cmd = 'rcqp -g %d -G %s -n 8' % (s.r.a.gid('rxe0', V6['a']), V6['b'])
    with Program(s.r.a, cmd, 'ready'):
        s.r.a.poll(lambda: in_order(8), 60, 'they answer')
        peer, = [row for row in s.a.dump('peer-get') if row['remote'] == V6['b']]
        ksft.eq((peer['local'], peer['state'], peer['evs']), (V6['a'], 'capable', 8))
        sent = captured(s.r.a, 2, 'ip6 and src %s and udp dst port 4791' % V6['a'])
        ksft.eq(len(roce.bad_icrc(sent)), 0)
        probes = {p.sport - SPORT for p in sent if message(p) and message(p)[0] == PROBE}
        ksft.true(set(mine()) <= probes, '%s of %s' % (sorted(mine()), sorted(probes)))
        # 20 bits behind version and traffic class; each EV has the label that makes it
        labels = {p.sport - SPORT: struct.unpack_from('!I', p.frame, 14)[0] & 0xfffff for p in sent
                  if message(p) and message(p)[0] == PROBE}
        ksft.eq({ev: (label & 0x3fff) ^ (label >> 14) for ev, label in labels.items()}, {ev: ev for ev in labels})
        s.a.do('device-set', probe_interval_us=0)
        where = homes(s.r, sorted(mine()), 6)
        s.a.do('device-set', probe_interval_us=INTERVAL_MS * 1000)
        s.r.a.poll(lambda: in_order(8), 60, 'they answer again')
        spine = where[min(where)]
        hit = sorted(ev for ev in where if where[ev] == spine)
        with blackholed(s, spine):
            s.r.a.poll(lambda: sorted(ev for ev, row in mine().items() if row['state'] == 'down') == hit, 20,
                       'EVs %s are down' % hit)
        s.r.a.poll(lambda: all(row['state'] == 'up' for row in mine().values()), 30, 'all are up again')
    settled(s)


def restarts(s):
    """The peer's module goes and comes: another instance, found by itself."""
    instance = s.a.dump('peer-get')[0]['instance']
    s.r.b.run('rmmod rocepath_rdma')
    load(s.r.b)
    s.r.a.poll(lambda: s.a.dump('peer-get')[0].get('instance') not in (0, instance), 60, 'another instance')
    settled(s)
    ksft.eq(in_state(s.a, 'down'), [])


def other_key(s):
    """With another key, or none, nothing is believed: paths are unknown, and hellos are counted."""
    s.b.do('key-set', id=1, secret=bytes(16))
    s.r.a.poll(lambda: s.a.dump('peer-get')[0]['state'] != 'capable', 20, 'not capable')
    s.r.a.poll(lambda: counters(s.b)['rx_mac'] > 0, 20, 'wrong MACs')
    ksft.eq(in_state(s.a, 'down'), [])
    s.r.a.poll(lambda: len(in_state(s.a, 'unknown')) == QPS, 10, 'all are unknown')
    s.b.do('key-del')
    time.sleep(1)
    s.b.do('key-set', id=1, secret=KEY)
    s.r.a.poll(lambda: s.a.dump('peer-get')[0]['state'] == 'capable', 90, 'capable')
    settled(s)


def port_down(s):
    """The port's netdevice goes down and up: QPs end in error, and the endpoint is made anew."""
    endpoint = s.r.a.json('rdma -j res show qp link rxe0 type UD')[0]['lqpn']
    s.r.a.run('ip link set eth0 down')
    s.r.a.poll(lambda: len(in_state(s.a, 'unknown')) == QPS, 20, 'nothing is known')
    ksft.eq(in_state(s.a, 'down'), [])
    s.r.a.run('ip link set eth0 up')
    s.r.a.run('ip route replace default via %s dev eth0' % fabric.gateway('a'))
    s.r.a.poll(lambda: s.a.dump('peer-get')[0]['state'] == 'capable', 90, 'capable')
    settled(s)
    ksft.true(s.r.a.json('rdma -j res show qp link rxe0 type UD')[0]['lqpn'] != endpoint, 'a new QP')


def device_goes(s):
    """The RDMA device goes in the middle of it, and comes back."""
    s.job.stop()
    s.r.a.run('rdma link del rxe0')
    ksft.eq(s.a.dump('path-get'), [])
    s.r.a.rxe(PORTS[0])
    s.job = wants(s.r)
    settled(s)


def by_ud(s):
    """The way of drivers whose UD follows the label: all is found, though rdma_rxe sends it by one port."""
    s.job.stop()
    for m in (s.r.a, s.r.b):
        m.run('rmmod rocepath_rdma')
    s.a, s.b = load(s.r.a, 'probe_by=1'), load(s.r.b, 'probe_by=1')
    s.a.do('device-set', steering=1)
    s.job = wants(s.r)
    settled(s)
    sent = captured(s.r.a, 1, 'src %s and udp dst port 4791' % V4['a'])
    ksft.eq({p.opcode for p in sent if message(p)}, {UD_SEND})


def module_goes(s):
    """rmmod while QPs are probed, and others carry data, at both ends: which does not notice."""
    load_of = start_perf(s.r.b, s.r.a, addr=V4['b'], seconds=6, qps=2)
    s.r.a.poll(lambda: len(in_use(s.a)) >= QPS, why='EVs in use')
    time.sleep(1)
    for m in (s.r.a, s.r.b):
        m.run('rmmod rocepath_rdma')
    result = load_of.wait()
    ksft.eq(result.cq_errors, 0)
    ksft.ge(result.MBps, 0.1)
    s.job.stop()


TESTS = [finds, on_the_wire, dead_spine, one_way, dead_peer, slow_spine, slow_spines, replayed, over_ipv6, restarts,
         other_key, port_down, device_goes, by_ud, module_goes]


def main():
    """All tests, in one lab."""
    r = rdma_racks(programs=['rcqp'])
    with r.lab:
        r.lab.start()
        r.fabric.build()
        for m in (r.a, r.b):
            join(m)
        r.a.run('ping -c 3 %s' % V4['b'])
        state = State(r)
        state.find_homes()
        settled(state)
        return ksft.run(TESTS, (state,), r.lab)


if __name__ == '__main__':
    sys.exit(main())
