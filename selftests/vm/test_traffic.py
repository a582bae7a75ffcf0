#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every kind of traffic over both ports: verbs, addresses, entropy, MTU, VLANs, RDMA-CM.

The topology is that of hosts.py. Rates are compared only within one test.
"""

import contextlib

from hosts import (PORTS, V4, V6, Captures, Stream, build, know_each_other, main, shape,
                   traffic, unbuild, watched)
from lab import ksft, perf
from lib import roce
from rocepath_lab import conserved, counted, peer, port, show

WRITE_MIDDLE, READ_REQUEST, READ_MIDDLE, ACK, ATOMIC_ACK, FETCH_ADD = 0x07, 0x0c, 0x0e, 0x11, 0x12, 0x14
SEND_MIDDLE, SEND_ONLY = 0x01, 0x04


def on_ports(*machines):
    """Where to capture, to see all that machines send and receive."""
    return [(m, name) for m in machines for name in PORTS]


def write_over_both_ports(a, b, _lab):
    """One QP writes by one path with `flow`, by both with `spray`, and so is faster.

    Where the CPU is the limit it cannot be faster: slower ports are tried then.
    """
    for rate in (10, 5, 2.5):
        rates = {}
        for m in (a, b):
            shape(m, rate)
        for scheduler in ('flow', 'spray'):
            a.run('rocepath device set rp0 scheduler %s' % scheduler)
            senders = (a,) if scheduler == 'spray' else ()
            rates[scheduler] = traffic(b, a, senders, addr=V4['b']).MBps
        ratio = rates['spray'] / rates['flow']
        ksft.say('ports of %g Mbit/s: one %.2f MB/s, both %.2f MB/s, ratio %.2f' % (
            rate, rates['flow'], rates['spray'], ratio))
        if ratio >= 1.6:
            break
    for m in (a, b):
        shape(m)
        conserved(m)
    ksft.ge(ratio, 1.6)


def write_is_valid_on_the_wire(a, b, _lab):
    """What leaves by both ports has a right ICRC, several source ports, and a flow's PSNs once each."""
    with Captures(on_ports(a)) as captures:
        traffic(b, a, (a,), addr=V4['b'])
    captures.check(WRITE_MIDDLE, ACK)
    sent = {name: {p.sport for p in captures.data['a', name] if p.opcode == WRITE_MIDDLE} for name in PORTS}
    for name in PORTS:
        ksft.ge(len(sent[name]), 8, 'source ports by %s' % name)
    psns = [p.psn for name in PORTS for p in captures.data['a', name] if p.opcode == WRITE_MIDDLE]
    ksft.eq(len(psns), len(set(psns)), 'each PSN left by one port only')


def read(a, b, _lab):
    """ib_read_bw: the responses are sprayed."""
    with Captures(on_ports(b)) as captures:
        traffic(b, a, (b,), tool='ib_read_bw', addr=V4['b'])
    captures.check(READ_REQUEST, READ_MIDDLE)
    for m in (a, b):
        conserved(m)


def send(a, b, _lab):
    """ib_send_bw, whose receiver must see them in order."""
    with Captures(on_ports(a)) as captures:
        traffic(b, a, (a,), tool='ib_send_bw', addr=V4['b'])
    captures.check(SEND_MIDDLE, ACK)
    for m in (a, b):
        conserved(m)


def atomics(a, b, _lab):
    """ib_atomic_bw: the answers are sprayed."""
    with Captures(on_ports(b)) as captures:
        traffic(b, a, (b,), tool='ib_atomic_bw', addr=V4['b'])
    captures.check(FETCH_ADD, ATOMIC_ACK)


def many_qps_both_ways(a, b, _lab):
    """16 QPs, data in both directions at once."""
    traffic(b, a, (a, b), addr=V4['b'], qps=16, size=4096, extra='-b -t 16')
    for m in (a, b):
        conserved(m)


def same_source_port(a, b, _lab):
    """64 QPs that all have one source port use both ports equally, each of them."""
    with Captures([(a, 'rp0')] + on_ports(a), count=0, heads=True) as captures, watched(b, a, (a,)):
        Stream(b, a, seconds=6, options='-n 64 -s 8192 -D 2 -f 0x12345').wait()
    sent = {where: [p for p in packets if p.opcode <= SEND_ONLY]
            for (_, where), packets in captures.data.items()}
    ksft.eq(len({p.sport for p in sent['rp0']}), 1, 'source ports before the device')
    by_qp = {p.qpn: [0, 0] for p in sent['rp0']}
    ksft.eq(len(by_qp), 64)
    for i, name in enumerate(PORTS):
        for p in sent[name]:
            by_qp[p.qpn][i] += 1
    for qpn, counts in by_qp.items():
        ksft.ge(sum(counts), 100, 'QP %d' % qpn)
        # One packet more or less is not to be avoided, nor one that tcpdump missed.
        ksft.le(abs(counts[0] - counts[1]), 0.05 * sum(counts) + 2, 'QP %d: %s' % (qpn, counts))


def weights(a, b, _lab):
    """Ports of weight 3 and 1 carry three quarters and one."""
    a.run('rocepath port set eth0 weight 3')
    traffic(b, a, (a,), (3, 1), addr=V4['b'])
    a.run('rocepath port set eth0 weight 1')
    traffic(b, a, (a,), addr=V4['b'])


def all_paths_are_told_of(a, b, _lab):
    """More paths than one report has room for: each is reported in its turn, none looks silent."""
    def paths():
        return {(row['port'], row['ev']): row for row in show(a, 'path', 'rp0') if row['peer'] == V4['b']}
    a.run('rocepath device set rp0 evs 64')
    before = {path: row['fails'] for path, row in paths().items()}
    traffic(b, a, (a,), addr=V4['b'])
    after = paths()
    ksft.eq(len(after), 128)
    ksft.eq([path for path, row in after.items() if not row['received']], [], 'not reported')
    # one may fail because a machine stood still; those of the end would all
    failed = [path for path, row in after.items() if row['fails'] > before.get(path, 0)]
    ksft.le(len(failed), 8, failed)
    a.run('rocepath device set rp0 evs 16')


def ipv6_by_flow_label(a, b, _lab):
    """IPv6: the flow label is the entropy, the source port stays; and the other way round."""
    know_each_other(a, b, V6)
    for entropy in ('flowlabel', 'sport', 'keep'):
        a.run('rocepath device set rp0 entropy %s' % entropy)
        with Captures(on_ports(a)) as captures:
            traffic(b, a, (a,), addr=V6['b'], control=V4['b'])
        found = [p for p in captures.check(WRITE_MIDDLE) if p.opcode == WRITE_MIDDLE]
        labels, sports = {p.flowlabel for p in found}, {p.sport for p in found}
        ksft.say('%s: %d labels, %d source ports' % (entropy, len(labels), len(sports)))
        ksft.true(len(labels) >= 16 if entropy == 'flowlabel' else len(labels) == 1, entropy)
        ksft.true(len(sports) >= 16 if entropy == 'sport' else len(sports) == 1, entropy)
    a.run('rocepath device set rp0 entropy sport')


def watched_by_tcpdump(a, b, _lab):
    """With tcpdump on the device and on its ports the packets are clones: none is written to.

    Above, all packets of a QP have the source port that rxe gave them; below, several; the
    receiver checks each byte and each ICRC.
    """
    with watched(b, a, (a,)), Captures([(a, 'rp0')] + on_ports(a) + on_ports(b), count=400) as captures:
        Stream(b, a, seconds=4, options='-n 2').wait()
    captures.check(SEND_MIDDLE)
    above = [p for p in captures.data['a', 'rp0'] if p.opcode == SEND_MIDDLE]
    below = [p for name in PORTS for p in captures.data['a', name] if p.opcode == SEND_MIDDLE]
    for qpn in {p.qpn for p in above}:
        ksft.eq(len({p.sport for p in above if p.qpn == qpn}), 1, 'source ports above, QP %d' % qpn)
        ksft.ge(len({p.sport for p in below if p.qpn == qpn}), 8, 'source ports below, QP %d' % qpn)


def slow_receiver(a, b, _lab):
    """Receiver not ready: its NAKs are no loss, and nothing waits for a gap."""
    before = a.hw_counters()['rcvd_rnr_err']
    # What follows the message that was refused is out of sequence, with one port as well.
    with watched(b, a, (a,), errors=True) as books:
        Stream(b, a, seconds=4, options='-D 2 -T 1 -s 4096', slow_us=20000).wait()
    rnr = a.hw_counters()['rcvd_rnr_err'] - before
    ksft.say('%d RNR NAKs' % rnr)
    ksft.ge(rnr, 5)
    for name in ('rx_expired', 'gaps_expired', 'rx_passed_full', 'peers_lost'):
        ksft.eq(books['b'].get(name, 0), 0, name)
    ksft.eq({port(a, name)['state'] for name in PORTS}, {'up'})
    for m in (a, b):
        conserved(m)


def big_packets(a, b, _lab):
    """Device MTU 9000, path MTU 4096: and 1024 on the same device."""
    for m in (a, b):
        m.run('ip link set rp0 mtu 9000')
        for name in PORTS:
            ksft.eq(m.json('ip -j link show dev %s' % name)[0]['mtu'], 9000)
    with Captures(on_ports(a), count=100) as captures:
        traffic(b, a, (a,), addr=V4['b'], mtu=4096)
    ksft.ge(max(len(p.frame) for p in captures.check(WRITE_MIDDLE)), 4096)
    traffic(b, a, (b,), tool='ib_read_bw', addr=V4['b'], mtu=4096)
    traffic(b, a, (a,), addr=V4['b'], mtu=1024)
    for m in (a, b):
        m.run('ip link set rp0 mtu 1500')


def rping(server, client, addr, count=30):
    """A connection by RDMA-CM; the client checks the data that comes back."""
    job = server.spawn('exec rping -s -a %s -C %d -S 2000' % (addr, count))
    server.poll('rdma resource show cm_id | grep -q LISTEN', why='rping listens')
    client.run('rping -c -a %s -C %d -S 2000 -V' % (addr, count), timeout=60)
    job.wait(30, check=False)


def rdma_cm(a, b, _lab):
    """rping by IPv4 and IPv6: connections by RDMA-CM, by datagrams, whose data must come back right."""
    with watched(b, a) as books:
        for addr in (V4, V6):
            rping(b, a, addr['b'], 100)
    for m in (a, b):
        ksft.ge(books[m.name].get('tx_sprayed', 0), 100, m.name)


def over_vlan(a, b, upper, addresses, tags):
    """Writes and rping over an interface above the device."""
    addr = {'a': addresses % 1, 'b': addresses % 2}
    for m in (a, b):
        m.up(upper, addr[m.name] + '/24')
    with Captures(on_ports(a)) as captures, watched(b, a):
        know_each_other(a, b, addr)
        rping(b, a, addr['b'])
    found = captures.check()
    ksft.eq({p.tags for p in found if p.opcode != roce.CONTROL}, {tags})
    traffic(b, a, (a,), addr=addr['b'])
    return found


def vlan_above(a, b, _lab):
    """A VLAN above the device: its own GID, tags on the wire, both ports, rping, RDMA-CM."""
    for m in (a, b):
        m.run('modprobe 8021q; ip link add link rp0 name rp0.9 type vlan id 9')
    found = over_vlan(a, b, 'rp0.9', '10.9.9.%d', (9,))
    ksft.isin((9,), {p.tags for p in found if p.opcode == roce.CONTROL}, 'hellos have the tag as well')
    for m in (a, b):
        conserved(m)
        m.run('ip link del rp0.9')


def qinq_above(a, b, _lab):
    """Two tags above the device."""
    for m in (a, b):
        m.run('ip link add link rp0 name rp0.100 type vlan proto 802.1ad id 100; ip link set rp0.100 up; '
              'ip link add link rp0.100 name rp0.100.9 type vlan id 9')
    over_vlan(a, b, 'rp0.100.9', '10.9.100.%d', (100, 9))
    for m in (a, b):
        m.run('ip link del rp0.100')


@contextlib.contextmanager
def rebuilt(*machines):
    """The device of the drawing again after a block that has another topology, however it ends."""
    for m in machines:
        unbuild(m)
    try:
        yield
    finally:
        for m in machines:
            m.run('rdma link del rxe0; ip link del rp0; ip link del bond0; '
                  'ip link del eth0.7; ip link del eth1.7; true')
            shape(m)
            build(m)


def above_vlans(a, b, _lab):
    """The ports are VLANs themselves.

    Not by RDMA-CM: ib_core takes a GID of a netdevice above VLANs for one of that VLAN, and
    rdma_rxe reports its packets as untagged, so that it finds none for them. It is no better
    above a bond.
    """
    with rebuilt(a, b):
        for m in (a, b):
            m.run('\n'.join('ip link add link %s name %s.7 type vlan id 7; ip link set %s up' % (p, p, p)
                            for p in PORTS))
            build(m, ports=['%s.7' % p for p in PORTS])
        know_each_other(a, b)
        with Captures(on_ports(a)) as captures, counted(a) as c:
            traffic(b, a, addr=V4['b'])
        ksft.eq({p.tags for p in captures.check(WRITE_MIDDLE)}, {(7,)})
        sent = [c['%s.7_tx_packets' % name] for name in PORTS]
        ksft.le(abs(sent[0] - sent[1]), 0.05 * sum(sent), sent)
        for m in (a, b):
            conserved(m)
    know_each_other(a, b)


def peer_without_the_module(a, b, _lab):
    """b has a bond over the same cables: it is not sprayed to, and is as fast as one port."""
    with rebuilt(b):
        b.run('modprobe bonding; ip link add bond0 type bond mode balance-xor xmit_hash_policy layer2+3\n'
              'ip link set bond0 type bond miimon 100; ip link set eth0 down; ip link set eth1 down\n'
              'ip link set eth0 master bond0; ip link set eth1 master bond0')
        b.up('bond0', V4['b'] + '/24')
        shape(b)
        b.rxe('bond0')
        before = [m.sequence_errors() for m in (a, b)]
        a.poll('ping -c 1 -W 1 %s' % V4['b'])
        with counted(a) as c:
            result = perf(b, a, addr=V4['b'])
            perf(b, a, tool='ib_send_bw', addr=V4['b'])
            perf(b, a, tool='ib_read_bw', addr=V4['b'])
        # The one port, at both ends: else the bond would send its ACKs to where nobody listens.
        for m, device in ((a, 'rp0'), (b, 'bond0')):
            m.run('ip link set eth1 nomaster')
            ksft.true(m.carrier(device))
        one = perf(b, a, addr=V4['b'])
        a.run('ip link set eth1 master rp0')
        ksft.say('without the module %.3f MB/s, one port %.3f MB/s' % (result.MBps, one.MBps))
        ksft.eq(c.get('tx_sprayed', 0), 0)
        ksft.true(peer(a, V4['b']).get('state') in (None, 'plain', 'lost'), peer(a, V4['b']))
        ksft.eq([m.sequence_errors() for m in (a, b)], before, 'sequence errors')
        ksft.ge(result.MBps, 0.95 * one.MBps)
        ksft.le(result.MBps, 1.05 * one.MBps)
    conserved(a)
    know_each_other(a, b)


TESTS = [write_over_both_ports, write_is_valid_on_the_wire, read, send, atomics, many_qps_both_ways,
         same_source_port, weights, all_paths_are_told_of, ipv6_by_flow_label, watched_by_tcpdump, slow_receiver,
         big_packets, rdma_cm, vlan_above, qinq_above, above_vlans, peer_without_the_module]

if __name__ == '__main__':
    main(TESTS)
