#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Order: packets in every order from two ports, real queue pairs above.

      rxe0 on rp0 10.0.0.1 fd00::1        the peer is made up: its packets are injected at l0 and
         |  p0 ---- l0  in leaf0  |       l1, its hellos come from `responder`, which has the
         '- p1 ---- l1  in leaf1 -'       module's own code and the same key
"""

import itertools
import random
import sys

import leaves
from lab import ksft
from leaves import Counting, Qps, Responder, inject, send
from rocepath_lab import KEY, conserved, held, key, rocepath_lab, setup, show

# Nothing is late by itself here; where a test wants a gap to end it says so.
PATIENT = 'gap-timeout 5s'
# more receives than packets: a receiver that is slow must not look like disorder
MANY = '-r 8192'
OTHER_KEY = 'f0e0d0c0b0a090807060504030201000'
READ_REQUEST, FIRST, MIDDLE, LAST = 0x0c, 0x0d, 0x0e, 0x0f
SEQUENCE = ('out_of_seq_request', 'rcvd_seq_err')


class Rig:
    """The drawing above."""

    def __init__(self, m):
        self.m = m
        self.responder = None

    def build(self):
        """All but the QPs."""
        m = self.m
        leaves.leaves(m)
        setup(m, leaves.ports(), leaves.ADDRESSES, settings=PATIENT, link=leaves.LINK)
        leaves.neighbours(m)
        m.rxe('rp0')
        self.responder = Responder(m)
        self.responder.met()

    def device(self, settings):
        """Change settings of the device."""
        self.m.run('rocepath device set rp0 ' + settings)

    def held(self, count, timeout=10):
        """Wait until so many packets are held."""
        self.m.poll(lambda: held(self.m) == count, timeout, '%d packets held' % count)


def sequence(m):
    """Sequence errors that rxe has counted."""
    counters = m.hw_counters()
    return [counters[name] for name in SEQUENCE]


class in_order:
    """A block in which rxe sees no sequence error, and after which packets are conserved and none is held."""

    def __init__(self, m):
        self.m = m

    def __enter__(self):
        self.before = sequence(self.m)

    def __exit__(self, kind, value, trace):
        if kind:
            return
        ksft.eq(sequence(self.m), self.before, SEQUENCE)
        ksft.eq(held(self.m), 0, 'held')
        conserved(self.m)


def permuted(qpn, psn, size, more=''):
    """Every permutation of `size` SENDs, one after the other, over both ports."""
    lines = []
    for k, order in enumerate(itertools.permutations(range(size))):
        lines += [send(qpn, psn + size * k + x, size * k + x, (k + j) % 2, more) for j, x in enumerate(order)]
    return lines


def permutations(rig):
    """720 permutations of six SENDs reach the QP in order, over the wrap of the PSN."""
    m, psn = rig.m, 0xfff800
    with Qps(m, psn=psn, options=MANY) as qps, in_order(m):
        lines = permuted(qps.qpn[0], psn, 6)
        with Counting(m) as c:
            inject(m, lines)
            ksft.eq(qps.received(len(lines)), list(range(len(lines))))
        ksft.eq(c['rx_in_order'] + c['rx_released'], len(lines), c)
        ksft.eq(c['rx_held'], c['rx_released'], c)
        for name in ('p0_rx_packets', 'p1_rx_packets'):
            ksft.ge(c[name], len(lines) // 2)
        ksft.eq(qps.failed(), 0)


def permutations_ipv6(rig):
    """24 permutations of four SENDs over IPv6."""
    m = rig.m
    with Responder(m, version=6) as responder, Qps(m, psn=7, version=6) as qps, in_order(m):
        m.poll(lambda: responder.state()[0] == 'capable', 20, 'known by IPv6')
        inject(m, permuted(qps.qpn[0], 7, 4), version=6)
        ksft.eq(qps.received(96), list(range(96)))


def permutations_vlan(rig):
    """24 permutations of four SENDs with a VLAN tag, to the QP of a VLAN's GID."""
    m = rig.m
    m.run('ip link add link rp0 name rp0.7 type vlan id 7; ip addr add 10.0.7.1/24 dev rp0.7; ip link set rp0.7 up;'
          'ip neigh replace 10.0.7.2 lladdr %s dev rp0.7' % leaves.PEER_MAC)
    here = 'responder %s -d %s -v 7 -a 10.0.7.2,10.0.7.1 -k 1:%s' % (leaves.wires(), leaves.MAC, KEY)
    gid = m.gid('rxe0', '10.0.7.1')
    with leaves.Program(m, here) as responder, Qps(m, psn=7, gid=gid, options='-G 10.0.7.2') as qps, in_order(m):
        m.poll(lambda: responder.ask('state', 'capable'), 20, 'known by the VLAN')
        inject(m, permuted(qps.qpn[0], 7, 4, 'vlan=7'), options='-a 10.0.7.2,10.0.7.1')
        ksft.eq(qps.received(96), list(range(96)))
    m.run('ip link del rp0.7')


def shuffled(rig):
    """2000 SENDs, each at most 32 places from its own, to an RC and a UC QP; packets of both mixed."""
    m, psn, count, dice = rig.m, 0xfffc00, 2000, random.Random(2)
    with Qps(m, psn=psn, options=MANY) as rc, Qps(m, psn=psn, options='-u ' + MANY) as uc, in_order(m):
        order = sorted(range(count), key=lambda i: i + 32 * dice.random())
        lines = []
        for i in order:
            lines.append(send(rc.qpn[0], psn + i, i, dice.randrange(2)))
            lines.append(send(uc.qpn[0], psn + i, i, dice.randrange(2), 'op=0x24'))
        inject(m, lines)
        ksft.eq(rc.received(count), list(range(count)))
        ksft.eq(uc.received(count), list(range(count)))


def duplicates(rig):
    """What is held comes once more: dropped. What was delivered comes once more: passes, for the QP to answer."""
    m = rig.m
    with Qps(m) as qps, in_order(m):
        ahead = [send(qps.qpn[0], i, i, i % 2) for i in range(1, 6)]
        with Counting(m) as c:
            inject(m, ahead + ahead)
            rig.held(5)
            inject(m, [send(qps.qpn[0], 0)])
            ksft.eq(qps.received(6), list(range(6)))
        ksft.eq((c['rx_drop_duplicate'], c['rx_held'], c['rx_released']), (5, 5, 5), c)
        with Counting(m) as c:
            inject(m, [send(qps.qpn[0], 0)] + ahead)
            c.wait('rx_passed_old', 6)
        ksft.eq(c['rx_passed_old'], 6, c)
        ksft.eq(qps.tags(), list(range(6)))


def far_ahead(rig):
    """A PSN too far ahead passes and moves nothing; so does one half the space away."""
    m = rig.m
    with Qps(m) as qps:
        for far in (5000, 0x7fffff, 0x800000, 0xc00000):
            with Counting(m) as c:
                inject(m, [send(qps.qpn[0], far, 99)])
            ksft.eq(c.get('rx_passed_far', 0) + c.get('rx_passed_old', 0), 1, 'PSN %#x: %s' % (far, c))
            ksft.eq(c.get('rx_held', 0), 0)
        with in_order(m):
            inject(m, [send(qps.qpn[0], i, i, i % 2) for i in (2, 1, 0, 4, 3)])
            ksft.eq(qps.received(5), list(range(5)))


def gap_timeout(rig):
    """A gap that does not close ends: held packets go on in order, the QP asks, and gets all again."""
    m = rig.m
    rig.device('gap-timeout 100ms')
    before = sequence(m)[0]
    with Qps(m) as qps:
        with Counting(m) as c:
            inject(m, [send(qps.qpn[0], i, i, i % 2) for i in (3, 1, 2)])
            c.wait('gaps_expired', 1)
            rig.held(0)
        ksft.eq((c['rx_expired'], c['gaps_expired']), (3, 1), c)
        ksft.eq(sequence(m)[0], before + 1, 'one NAK')
        ksft.eq(qps.counts(), [0])
        inject(m, [send(qps.qpn[0], i, i, i % 2) for i in (0, 1, 2, 3)])
        ksft.eq(qps.received(4), list(range(4)))
    with Qps(m, options='-u') as qps:
        with Counting(m) as c:
            inject(m, [send(qps.qpn[0], i, i, i % 2, 'op=0x24') for i in (3, 1, 2)])
            ksft.eq(qps.received(3), [1, 2, 3])
        ksft.eq((c['rx_expired'], c['gaps_expired']), (3, 1), c)
        inject(m, [send(qps.qpn[0], i, i, i % 2, 'op=0x24') for i in (5, 4)])
        ksft.eq(qps.received(5), [1, 2, 3, 4, 5])
    rig.device(PATIENT)
    conserved(m)


def uc_sends(qpn, numbers):
    """SENDs to a UC QP, each with its PSN as its tag, over both ports."""
    return [send(qpn, i, i, i % 2, 'op=0x24') for i in numbers]


def caps(rig):
    """Depth, bytes of a flow and bytes of the device: each holds, is counted, and tells the monitor."""
    m = rig.m
    with Qps(m, 2, options='-u') as qps:
        rig.device('reorder-depth 8')
        with Counting(m) as c:
            inject(m, uc_sends(qps.qpn[0], range(1, 20)))
            c.wait('rx_passed_far', 12)
        ksft.eq((c['rx_held'], c['rx_passed_far']), (7, 12), c)
        inject(m, [send(qps.qpn[0], 0, 0, 0, 'op=0x24')])
        rig.held(0)
        rig.device('reorder-depth 4096')
    for setting, restore in (('reorder-flow-bytes 64KiB', 'reorder-flow-bytes 16MiB'),
                             ('reorder-bytes 64KiB', 'reorder-bytes 256MiB')):
        rig.device(setting)
        with leaves.Program(m, 'rocepath monitor') as monitor, Qps(m, 2, options='-u') as qps:
            with Counting(m) as c:
                inject(m, uc_sends(qps.qpn[0], range(1, 300)))
                c.wait('rx_passed_full', 1)
                ksft.le(show(m, 'device')[0]['held_bytes'], 65536, setting)
            most = next(f for f in show(m, 'flow') if f['local_qpn'] == qps.qpn[0])['requests']['held_max']
            rig.device('gap-timeout 50ms')
            rig.held(0)
            ksft.eq(qps.received(299), list(range(1, 300)), setting)
            rig.device(PATIENT)
            # the one that meets the full window belongs into the middle of it
            with Counting(m) as c:
                middle = most // 2
                inject(m, uc_sends(qps.qpn[1], [i for i in range(1, most + 2) if i != middle] + [middle]))
                ksft.eq(qps.received(most + 1, 1), list(range(1, most + 2)), setting)
            ksft.eq((c['rx_held'], c['rx_flushed'], c['rx_passed_full']), (most, most, 1), setting)
            m.poll(lambda: 'cap-hit' in monitor.job.out, why='cap event')
        rig.device(restore)
    conserved(m)


def nothing_else_waits(rig):
    """ACK, NAK, RNR NAK, CNP, UD and QP1 pass while data is held."""
    m = rig.m
    with Qps(m) as qps, in_order(m):
        inject(m, [send(qps.qpn[0], 1, 1)])
        rig.held(1)
        others = ['op=0x11 psn=5', 'op=0x11 syndrome=0x60 psn=5', 'op=0x11 syndrome=0x21 psn=5', 'op=0x81 psn=0',
                  'op=0x64 psn=9', 'op=0x64 psn=9 qpn=1']
        with Counting(m) as c:
            inject(m, ['%d qpn=%d %s' % (i % 2, qps.qpn[0], other) for i, other in enumerate(others)])
            m.poll(lambda: held(m) == 1, why='still held')
        ksft.eq((c['rx_answers'], c['rx_passed_unknown']), (3, 3), c)
        ksft.eq(c['rx_packets'], len(others), c)
        inject(m, [send(qps.qpn[0], 0, 0)])
        ksft.eq(qps.received(2), [0, 1])


def local_forgery(rig):
    """NAKs that another user of this host makes up do not move a QP's window."""
    m = rig.m
    with Qps(m) as qps, in_order(m):
        inject(m, [send(qps.qpn[0], i, i, i % 2) for i in range(10)])
        qps.received(10)
        before = show(m, 'flow')[0]['requests']
        with Counting(m) as c:
            inject(m, ['0 op=0x11 syndrome=%#x qpn=0x777 psn=5' % s for s in (0x60, 0x21)], '-i rp0',
                   '-s ' + leaves.MAC, leaves.PEER_MAC, addresses='10.0.0.1,10.0.0.2')
            c.wait('tx_roce', 2)
        ksft.eq(c.get('rewinds', 0), 0, c)
        ksft.eq(show(m, 'flow')[0]['requests'], before)


def read_requests(rig):
    """A READ request uses up as many PSNs as it will have responses."""
    m = rig.m
    with Qps(m) as qps, in_order(m):
        read = 'op=%d len=0 dma=3000 va=%d rkey=%d qpn=%d' % (READ_REQUEST, qps.address, qps.rkey, qps.qpn[0])
        inject(m, ['0 psn=1 ' + read, send(qps.qpn[0], 7, 7, 1), '1 psn=4 ' + read])
        rig.held(3)
        inject(m, [send(qps.qpn[0], 0, 0)])
        ksft.eq(qps.received(2), [0, 7])
        ksft.eq(show(m, 'flow')[0]['requests']['expected'], 8)


def read_responses(rig):
    """Responses to our READs come in order, whatever their order."""
    m, psn = rig.m, 0xfffffc
    with Qps(m, psn=psn) as qps, in_order(m):
        for n in range(4):
            order = list(range(8))
            random.Random(n).shuffle(order)
            with Counting(m) as c:
                qps.tell('read 0 8192')
                m.poll(lambda: show(m, 'flow')[0]['responses']['expected'] == (psn + 8 * n) & 0xffffff,
                       why='the READ has left')
                inject(m, ['%d qpn=%d psn=%d len=1024 op=%d' % (
                    i % 2, qps.qpn[0], (psn + 8 * n + i) & 0xffffff,
                    FIRST if i == 0 else LAST if i == 7 else MIDDLE) for i in order])
                m.poll(lambda: qps.done() == n + 1, why='READ %d' % n)
            ksft.eq(c['rx_in_order'] + c.get('rx_released', 0), 8, c)
        ksft.eq(qps.failed(), 0)


def qp_destroyed(rig):
    """A QP goes while its packets are held: they are dropped, counted, and their memory returns."""
    m = rig.m
    with Qps(m, 64, options='-r 32') as qps:
        for i in range(4):
            with Counting(m) as c:
                inject(m, [send(qps.qpn[i], n, n, n % 2) for n in range(1, 11)])
                rig.held(10)
                qps.ask('destroy %d' % i, 'destroyed')
                m.poll(lambda: show(m, 'device')[0]['held_bytes'] == 0, why='memory returns')
            ksft.eq(c.get('rx_drop_gone'), 10, c)
        inject(m, [send(q, n, n, n % 2) for q in qps.qpn[4:] for n in range(1, 4)])
        rig.held(3 * 60)
    m.poll(lambda: show(m, 'device')[0]['held_bytes'] == 0, why='all gone at once')
    m.poll(lambda: show(m, 'flow') == [], why='no flow is left')
    conserved(m)


def ports_fail(rig):
    """Ports go down or go away while packets that they brought are held."""
    m = rig.m
    for how, back in (('ip link set p1 down', 'ip link set p1 up'),
                      ('ip -n leaf1 link set l1 down', 'ip -n leaf1 link set l1 up'),
                      ('ip link set p1 nomaster', 'ip link set p1 master rp0')):
        with Qps(m) as qps:
            inject(m, [send(qps.qpn[0], i, i, 1) for i in range(1, 30)])
            rig.held(29)
            m.run(how)
            # a failed port makes flows hurry: they are held on or let go, but not lost
            inject(m, [send(qps.qpn[0], i, i, 0) for i in range(30)])
            ksft.eq(qps.received(30), list(range(30)), how)
            m.run(back)
            m.poll('test $(cat /sys/class/net/p1/carrier) = 1', why='p1 is back')
    with Qps(m) as qps:
        inject(m, [send(qps.qpn[0], i, i, 1) for i in range(1, 30)])
        rig.held(29)
        rig.responder.stop()
        m.run('ip link del p1')
        inject(m, [send(qps.qpn[0], i, i, 0) for i in range(30)], '-i leaf0:l0')
        ksft.eq(qps.received(30), list(range(30)), 'p1 deleted')
        # and all of it at once
        inject(m, [send(qps.qpn[0], i, i, 0) for i in range(31, 60)], '-i leaf0:l0')
        m.run('ip link del p0')
    m.run('ip netns del leaf0; ip netns del leaf1')
    m.run('rdma link del rxe0; ip link del rp0')
    rig.build()


def strangers(rig):
    """100,000 packets to random QPNs with random PSNs: no state grows, and who is honest does not notice."""
    m = rig.m
    with Qps(m, psn=100) as qps:
        inject(m, permuted(qps.qpn[0], 100, 3))
        qps.received(18)
        flows, peers = len(show(m, 'flow')), len(show(m, 'peer'))
        with Counting(m) as c:
            job = m.spawn('inject %s -r 100000 -d %s -a 10.0.0.2,10.0.0.1' % (leaves.wires(), leaves.MAC))
            with in_order(m):
                inject(m, permuted(qps.qpn[0], 118, 4))
                ksft.eq(qps.received(18 + 96, timeout=60)[18:], list(range(96)))
                job.wait(240)
        ksft.ge(c['rx_roce'], 100096, c)
        ksft.eq(c.get('rx_drop_busy', 0), 0)
        ksft.eq((len(show(m, 'flow')), len(show(m, 'peer'))), (flows, peers))
        ksft.eq(show(m, 'device')[0]['held_bytes'], 0)


def forged_hellos(rig):
    """Hellos that are wrong are counted by reason, and change nothing."""
    m, responder = rig.m, rig.responder
    responder.met()
    before = show(m, 'peer')
    kinds = {'mac': 'rx_control_mac', 'key': 'rx_control_key', 'version': 'rx_control_version',
             'type': 'rx_control_type', 'short': 'rx_control_malformed', 'long': 'rx_control_malformed',
             'plain': 'rx_control_malformed', 'replay': 'rx_control_replay'}
    for kind, name in kinds.items():
        with Counting(m) as c:
            responder.tell('replay' if kind == 'replay' else 'forge ' + kind)
            c.wait(name, 1)
        ksft.eq({n: v for n, v in c.items() if n in kinds.values()}, {name: 1}, kind)
    after = show(m, 'peer')
    for row in before + after:
        # time goes on, and QPs of the tests before leave
        del row['hello_age_ms'], row['rtt_us'], row['flows']
    ksft.eq(after, before)
    conserved(m)


def sprayed(rig, count=64):
    """How many of so many sends of a UC QP were sprayed."""
    m = rig.m
    with Qps(m, options='-u') as qps:
        with Counting(m) as c:
            qps.tell('send 0 %d' % count)
            m.poll(lambda: qps.done() == count, why='sent')
            c.wait('tx_roce', count)
    return c.get('tx_sprayed', 0), c


def keys(rig):
    """Without a key nothing is sprayed; two keys at once carry a fleet from one to the next."""
    m = rig.m
    rig.responder.met()
    n, c = sprayed(rig)
    ksft.eq(n, 64, c)
    for port in ('p0', 'p1'):
        ksft.eq(c['%s_tx_packets' % port] >= 32, True, c)
    m.run('rocepath key del dev rp0 id 1')
    ksft.eq(sprayed(rig)[0], 0, 'without a key')
    conserved(m)
    key(m)
    rig.responder.met()
    m.poll(lambda: sprayed(rig, 8)[0] == 8, 20, 'sprayed again')
    rig.responder.stop()
    with Responder(m, keys=((1, KEY), (2, OTHER_KEY))) as responder:
        responder.met()
        with Counting(m) as c:
            key(m, number=2, secret=OTHER_KEY)
            m.poll(lambda: responder.state()[3] == 2, 20, 'hellos by the new key')
            ksft.eq(sprayed(rig)[0], 64, 'one end has moved')
            responder.tell('active 2')
            m.poll(lambda: show(m, 'peer')[0]['key_id'] == 2, 20, 'the other too')
            m.run('rocepath key del dev rp0 id 1')
            ksft.eq(sprayed(rig)[0], 64, 'the old key is gone')
        ksft.eq({n: v for n, v in c.items() if n in ('peers_lost', 'rx_control_key', 'rx_control_mac')}, {})
        m.run('rocepath key set dev rp0 id 1 secret-file /tmp/key && rocepath key del dev rp0 id 2')
    m.run('rocepath key del dev rp0 id 1')
    key(m)
    rig.responder = Responder(m)
    rig.responder.met()


def silence(rig):
    """Hellos stop: the peer is lost, flows keep to one path, what it sends is kept in order still; it returns."""
    m = rig.m
    with leaves.Program(m, 'rocepath monitor') as monitor:
        rig.responder.tell('mute')
        m.poll(lambda: 'peer-lost' in monitor.job.out, 30, 'lost')
        ksft.eq(sprayed(rig)[0], 0, 'lost')
        rig.responder.tell('speak')
        m.poll(lambda: sprayed(rig, 8)[0] == 8, 30, 'back')
        rig.responder.tell('restart')
        m.poll(lambda: 'peer-restart' in monitor.job.out, 30, 'restart')
        rig.responder.met()
    ksft.ge(show(m, 'peer')[0]['restarts'], 1)
    conserved(m)


TESTS = [permutations, permutations_ipv6, permutations_vlan, shuffled, duplicates, far_ahead, gap_timeout, caps,
         nothing_else_waits, local_forgery, read_requests, read_responses, qp_destroyed, strangers, forged_hellos, keys, silence,
         ports_fail]


def main():
    """One machine, one rig for all tests."""
    with rocepath_lab(programs=leaves.PROGRAMS) as lab:
        m = lab.machine('m')
        lab.start()
        rig = Rig(m)
        rig.build()
        sys.exit(ksft.run(TESTS, (rig,), lab))


if __name__ == '__main__':
    main()
