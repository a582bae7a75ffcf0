#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Ports fail and come back under traffic, lose packets, flap; hellos do not come through.

The topology is that of hosts.py. A queue pair must never see more of it than a pause.
"""

import signal

from hosts import (PORTS, RATE, SETTINGS, V4, Stream, know_each_other, main, shape, traffic,
                   watched)
from lab import ksft
from rocepath_lab import capable, changes, conserved, counted, peer, port

CUT = 'eth1'
# The goal for the longest pause is 50 ms. An emulated CPU of a busy machine stands still for as long by itself.
GAP_GOAL_MS, GAP_MOST_MS = 50, 400


def received(m, dev='rp0'):
    """Packets that a device has received."""
    return int(m.get('/sys/class/net/%s/statistics/rx_packets' % dev))


def flows_on(m, packets, timeout=20):
    """Wait until so many more packets have come."""
    start = received(m)
    m.poll(lambda: received(m) >= start + packets, timeout, '%d packets come' % packets, interval=0.02)


def state(m, name, wanted, timeout=10):
    """Wait for the state of a port."""
    m.poll(lambda: port(m, name)['state'] == wanted, timeout, '%s is %s' % (name, wanted))


def identity(m):
    """All that must not change, whatever happens to ports."""
    link = m.json('ip -j link show dev rp0')[0]
    return m.gids('rxe0'), link['address'], link['ifindex']


def seconds_of(packets, ports=2):
    """A number of packets that takes about so long: the rate is RATE Mbit/s of 1.1 KB packets a port."""
    return int(packets * ports * RATE * 1e6 / 8 / 1100)


def cut_and_restored(a, b, lab, qps):
    """One cable is pulled at full load and plugged in again; returns figures for the record."""
    # 4 QPs keep half a second of packets before the port that is left: the QPs' timer is to be longer
    stream = Stream(b, a, seconds=300, options='-n %d -s 65536 -D 4 -u 18' % qps)
    flows_on(b, 500)
    sampler = b.sampler(['rp0', 'eth0', 'eth1'], 2)
    flows_on(b, seconds_of(2))
    cut_at = b.clock()
    lab.cut(lab.cables[1])
    state(b, CUT, 'down')
    flows_on(b, seconds_of(2, ports=1), timeout=30)
    restored_at = b.clock()
    lab.restore(lab.cables[1])
    state(a, CUT, 'up')
    state(b, CUT, 'up')
    up_at = b.clock()
    flows_on(b, seconds_of(2), timeout=30)
    samples = sampler.stop()
    stream.end()
    gap, when = samples.between(cut_at - 0.1, cut_at + 1.5).longest_gap('rp0')
    rates = [samples.between(*span).rate('rp0') / 1e6 for span in (
        (None, cut_at), (cut_at + 0.2, restored_at), (up_at + 0.2, None))]
    ksft.say('%d QPs: %.2f MB/s before the cut, %.2f without, %.2f after' % (qps, *rates))
    ksft.say('longest pause at the cut %.0f ms (goal %d ms), before it %.0f ms, at all %.0f ms' % (
        gap * 1e3, GAP_GOAL_MS, samples.between(None, cut_at).longest_gap('rp0')[0] * 1e3,
        samples.longest_gap('rp0')[0] * 1e3))
    ksft.true(when, 'there is a pause to tell of')
    ksft.le(gap * 1e3, GAP_MOST_MS)
    ksft.ge(rates[1], 0.75 * min(rates[0] / 2, RATE / 8))
    ksft.ge(rates[2], 0.85 * rates[0])
    for m in (a, b):
        conserved(m)


def cut_with_1_qp(a, b, lab):
    """A cable is pulled at full load, and plugged in again."""
    cut_and_restored(a, b, lab, 1)


def cut_with_4_qps(a, b, lab):
    """The same with 4 queue pairs."""
    cut_and_restored(a, b, lab, 4)


class UnderTraffic:
    """A stream from a to b runs during the block, and must end without an error."""

    def __init__(self, a, b, options='-n 2'):
        self.a = a
        self.b = b
        self.options = options

    def __enter__(self):
        self.before = identity(self.a), identity(self.b)
        self.stream = Stream(self.b, self.a, seconds=300, options=self.options)
        flows_on(self.b, 100)
        return self.stream

    def __exit__(self, kind, value, trace):
        if kind:
            self.stream.client.kill(signal.SIGKILL)
            self.stream.server.kill(signal.SIGKILL)
            return
        flows_on(self.b, 100, timeout=30)
        self.stream.end()
        ksft.eq((identity(self.a), identity(self.b)), self.before, 'GIDs, MAC, ifindex')


def both(machines, cmd):
    """The same command in all of them at about the same time."""
    for job in [m.spawn(cmd) for m in machines]:
        job.wait()


def admin_down(a, b, _lab):
    """A port is set down at both ends, and up again."""
    with UnderTraffic(a, b):
        both((a, b), 'ip link set eth1 down')
        for m in (a, b):
            state(m, CUT, 'down')
        with counted(a) as c:
            flows_on(b, 500)
        ksft.eq(c.get('eth1_tx_packets', 0), 0, 'a port that is down carries nothing')
        both((a, b), 'ip link set eth1 up')
        for m in (a, b):
            state(m, CUT, 'up')
        with counted(a) as c:
            flows_on(b, 500)
        ksft.ge(c.get('eth1_tx_packets', 0), 100)
    for m in (a, b):
        conserved(m)


def port_removed(a, b, _lab):
    """A port leaves the device and joins it again."""
    with UnderTraffic(a, b):
        both((a, b), 'ip link set eth1 nomaster')
        flows_on(b, 500)
        both((a, b), 'ip link set eth1 master rp0')
        for m in (a, b):
            state(m, CUT, 'up')
        with counted(a) as c:
            flows_on(b, 500)
        ksft.ge(c.get('eth1_tx_packets', 0), 100)
    for m in (a, b):
        conserved(m)


def first_port_removed(a, b, _lab):
    """The port that gave the device its MAC leaves (C12): MAC, GIDs and traffic stay; it joins again."""
    with UnderTraffic(a, b):
        both((a, b), 'ip link set eth0 nomaster')
        flows_on(b, 500)
        both((a, b), 'ip link set eth0 master rp0')
        for m in (a, b):
            state(m, 'eth0', 'up')
        flows_on(b, 500)
    for m in (a, b):
        conserved(m)


def all_ports_gone(a, b, lab):
    """All cables are pulled for a moment, then all ports leave for a moment."""
    with UnderTraffic(a, b):
        for cable in lab.cables:
            lab.cut(cable)
        for m in (a, b):
            m.poll(lambda m=m: not m.carrier('rp0'), why='rp0 has no carrier')
        for cable in lab.cables:
            lab.restore(cable)
        flows_on(b, 500, timeout=60)
        both((a, b), 'ip link set eth0 nomaster; ip link set eth1 nomaster')
        for m in (a, b):
            ksft.true(not m.carrier('rp0'))
        both((a, b), 'ip link set eth0 master rp0; ip link set eth1 master rp0')
        flows_on(b, 500, timeout=60)
    for m in (a, b):
        conserved(m)


def flaps(a, b, lab):
    """100 flaps, half of them by the cable, half by the administrator, ports in turn."""
    for m in (a, b):
        m.run('rocepath device set rp0 holddown 0ms')
    before = {name: port(a, name)['flaps'] for name in PORTS}
    with UnderTraffic(a, b):
        for i in range(50):
            name, cable = PORTS[i % 2], lab.cables[i % 2]
            lab.cut(cable)
            a.poll(lambda name=name: not a.carrier(name), why='%s without carrier' % name)
            lab.restore(cable)
            a.poll(lambda name=name: a.carrier(name), why='%s with carrier' % name)
        flows_on(b, 100, timeout=60)
        for i in range(5):
            a.run('for i in 1 2 3 4 5; do for p in eth0 eth1; do '
                  'ip link set $p down; ip link set $p up; done; done')
            flows_on(b, 50, timeout=60)
    for name in PORTS:
        ksft.ge(port(a, name)['flaps'] - before[name], 40, name)
    for m in (a, b):
        m.run('rocepath device set rp0 %s' % SETTINGS)
        conserved(m)


def low_timeout(a, b, lab):
    """Queue pairs that give up early (C8): each port is cut, and none of them gives up."""
    longest = []
    for cable, name in zip(lab.cables, PORTS):
        stream = Stream(b, a, seconds=300, options='-n 2 -s 8192 -D 2 -u 15 -r 3')
        flows_on(b, 500)
        lab.cut(cable)
        state(a, name, 'down')
        flows_on(b, 500)
        lab.restore(cable)
        for m in (a, b):
            state(m, name, 'up')
        flows_on(b, 500)
        longest.append(stream.end()[1]['longest_gap_ms'])
    ksft.say('longest times between completions: %s ms' % longest)


def loss(a, b, _lab):
    """One port loses packets; then one loses some and takes 381 ms: no lockup, all arrives."""
    for m in (a, b):
        m.run('rocepath device set rp0 gap-floor 50ms gap-ceiling 500ms')
    for options in ({'loss': '0.1%'}, {'loss': '1%'}):
        a.shape(CUT, '%gmbit' % RATE, '400us', limit=10000, **options)
        with watched(b, a, errors=True):
            server, _ = Stream(b, a, seconds=5, options='-n 2 -D 4 -u 16').wait()
        ksft.say('%s: %.2f MB/s' % (options, server['MBps']))
        ksft.ge(server['MBps'], 0.05)
    a.shape(CUT, '%gmbit' % RATE, '381ms', limit=10000, loss='0.52%')
    with watched(b, a, errors=True):
        server, _ = Stream(b, a, seconds=5, options='-n 2 -u 20').wait()
    ksft.say('381 ms and 0.52%%: %.2f MB/s' % server['MBps'])
    shape(a)
    for m in (a, b):
        m.run('rocepath device set rp0 %s' % SETTINGS)
        conserved(m)


def flapping_port_is_held_down(a, b, lab):
    """A port that came back is not used for the hold-down, which doubles."""
    for m in (a, b):
        m.run('rocepath device set rp0 holddown 5s holddown-max 60s')
    left = []
    for _ in range(3):
        lab.cut(lab.cables[1])
        state(a, CUT, 'down')
        lab.restore(lab.cables[1])
        state(a, CUT, 'holddown')
        left.append(port(a, CUT)['holddown_left_ms'])
    ksft.say('hold-downs: %s ms' % left)
    for i, ms in enumerate(left):
        ksft.le(ms, 5000 << i)
        ksft.ge(ms, 3000 << i)
    with UnderTraffic(a, b), counted(a) as c:
        flows_on(b, 300)
        ksft.eq(port(a, CUT)['state'], 'holddown')
    ksft.eq(c.get('eth1_tx_packets', 0), 0)
    state(a, CUT, 'up', timeout=30)
    state(b, CUT, 'up', timeout=30)
    for m in (a, b):
        m.run('rocepath device set rp0 %s' % SETTINGS)
    traffic(b, a, (a,), addr=V4['b'])


def hellos_do_not_arrive(a, b, _lab):
    """Control packets are dropped on the way to a: it falls back to one path, and sprays again later."""
    # Before there is traffic: to attach it throws away what is in the port's queue.
    a.run('\n'.join('tc qdisc add dev %s clsact' % p for p in PORTS))
    a.run('rocepath device set rp0 hello-interval 300ms')
    b.run('rocepath device set rp0 hello-interval 300ms')
    with watched(b, a):
        stream = Stream(b, a, seconds=300)
        capable(a, V4['b'])
        # protocol 17; the opcode behind 20 bytes of IP and 8 of UDP
        a.run('\n'.join('tc filter add dev %s ingress protocol ip u32 match ip protocol 17 0xff '
                        'match u8 0xf2 0xff at 28 action drop' % p for p in PORTS))
        a.poll(lambda: peer(a, V4['b'])['state'] == 'lost', 20, 'the peer is lost')
        before = a.counters('rp0')
        flows_on(b, 300)
        c = changes(before, a.counters('rp0'))
        ksft.eq(c.get('tx_sprayed', 0), 0)
        ksft.ge(c.get('tx_pinned', 0), 250)
        a.run('\n'.join('tc filter del dev %s ingress' % p for p in PORTS))
        capable(a, V4['b'], 20)
        before = a.counters('rp0')
        flows_on(b, 300)
        ksft.ge(changes(before, a.counters('rp0')).get('tx_sprayed', 0), 250)
        stream.end()
    a.run('\n'.join('tc qdisc del dev %s clsact' % p for p in PORTS))
    ksft.ge(a.counters('rp0')['peers_lost'], 1)
    for m in (a, b):
        m.run('rocepath device set rp0 hello-interval 1s')
    know_each_other(a, b)


TESTS = [cut_with_1_qp, cut_with_4_qps, admin_down, port_removed, first_port_removed, all_ports_gone,
         flaps, low_timeout, loss, flapping_port_is_held_down, hellos_do_not_arrive]

if __name__ == '__main__':
    main(TESTS)
