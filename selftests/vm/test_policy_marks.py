#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What each kind of packet is marked with, on the wire: data, requests, ACK, CNP, QP 1, UD, IPv6, and what is sent again.

      a: rxe0 on eth0 10.0.0.1 fd00::1         b: rxe0 on h0 10.0.0.2 fd00::2
         |                                          |
         '------------------ eth0 [br0] f0 ---------'      f0 loses, or marks CE

All is captured on a's eth0: what a sends as it leaves, what b sends as it arrives. The module is not needed.
"""

import collections
import signal
import sys

from artifacts import tool
from lab import Lab, ksft, perf
from lib import roce
from rocepath_lab import LIBGCC
from test_policy import A, B, build, clean, dropped, netdevice, rows

A6, B6 = 'fd00::1', 'fd00::2'
SECONDS = 3
FRAMES = 1500       # of a capture, which is whole packets
POLICY = '''version: 1
interfaces: [%s]
admit: {peers: [10.0.0.0/24, "fd00::/64"]}
classes:
  - {name: all, dscp: 10, ack-dscp: 12, cnp-dscp: 20, management-dscp: 30, ecn: on, dcqcn: on}
default-class: all
dcqcn: {cnp_dscp: 44, min_time_between_cnps: 10ms, rpg_min_rate: 1Gbit}
'''
ECT0 = 2
DATA, REQUEST, ACK, CNP, MANAGEMENT = 10 << 2 | ECT0, 10 << 2, 12 << 2, 44 << 2, 30 << 2 | ECT0
UD_SEND, OPCODE_ACK, OPCODE_CNP, READ_REQUEST = 0x64, 0x11, 0x81, 0x0c


def kind(p):
    """What a packet is, in words."""
    if p.opcode == UD_SEND:
        return 'QP 1' if p.qpn == 1 else 'UD'
    return {OPCODE_ACK: 'ACK', OPCODE_CNP: 'CNP', READ_REQUEST: 'READ request'}.get(p.opcode) or \
        ('READ response' if READ_REQUEST < p.opcode < OPCODE_ACK else 'data')


WANTED = {'data': DATA, 'UD': DATA, 'READ response': DATA, 'READ request': REQUEST, 'ACK': ACK, 'CNP': CNP,
          'QP 1': MANAGEMENT}


def captured(a, work):
    """RoCE packets on a's wire while something is done."""
    # at once, for some of it is over before a buffer is full
    job = a.capture('eth0', '/tmp/c.pcap', '-c %d --immediate-mode udp port 4791' % FRAMES)
    work()
    job.kill(signal.SIGINT)
    job.wait(check=False)
    return roce.packets(a.get('/tmp/c.pcap'))


def check(found, *kinds):
    """All of these were seen, each packet with the mark of its kind; and their ICRC is right."""
    seen = collections.Counter((kind(p), p.tos) for p in found)
    ksft.say(', '.join('%d %s 0x%x' % (count, what, tos) for (what, tos), count in sorted(seen.items())))
    ksft.eq(roce.bad_icrc(found), [])
    # f0 is behind the capture: no CE is seen here, nor is any put there by the policy
    ksft.eq({what: tos for what, tos in seen}, {what: WANTED[what] for what, _ in seen})
    ksft.eq(len(seen), len({what for what, _ in seen}), 'one mark for each kind')
    ksft.eq(sorted(set(kinds) - {what for what, _ in seen}), [], 'kinds that were not seen')


def policy(*machines):
    """The policy on both ends."""
    for m in machines:
        m.put((POLICY % netdevice(m)).encode(), '/tmp/policy.yaml')
        m.run('rocepath apply /tmp/policy.yaml', timeout=120)


def verbs(a, b):
    """WRITE and READ with their ACKs, UD, both by IPv4 and IPv6."""
    policy(a, b)
    for addr in (B, B6):
        found = captured(a, lambda: perf(b, a, addr=addr, control=B, seconds=SECONDS, size=8192, mtu=1024))
        check(found, 'data', 'ACK')
        found += captured(a, lambda: perf(b, a, 'ib_read_bw', addr=addr, control=B, seconds=SECONDS, size=8192, mtu=1024))
        check(found, 'READ request', 'READ response')
        found += captured(a, lambda: perf(b, a, 'ib_send_bw', addr=addr, control=B, seconds=SECONDS, size=1024,
                                          mtu=1024, extra='-c UD'))
        check(found, 'UD')
        ksft.eq({p.ipv6 for p in found}, {addr == B6})
    clean(a, b)


def management(a, b):
    """The connection manager's packets to QP 1, and ACKs of what it connects."""
    policy(a, b)
    server = b.spawn('exec rping -s -a %s -C 20 -S 100' % B)
    b.poll('rdma resource show cm_id | grep -q LISTEN', why='rping listens')
    found = captured(a, lambda: a.run('rping -c -a %s -C 20 -S 100' % B, timeout=60))
    server.wait(30, check=False)
    check(found, 'QP 1', 'ACK', 'data')
    clean(a, b)


def netem(b, what):
    """f0 does that to what goes to b."""
    b.run('tc qdisc del dev f0 root', ns='fabric', check=False)
    if what:
        b.run('tc qdisc add dev f0 root netem %s' % what, ns='fabric')


def notifications(a, b):
    """CE that arrives makes CNPs, with a mark of their own."""
    policy(a, b)
    netem(b, 'loss 20% ecn')
    for addr in (B, B6):
        found = captured(a, lambda: perf(b, a, addr=addr, control=B, seconds=SECONDS, size=8192, mtu=1024))
        check(found, 'CNP', 'data', 'ACK')
    netem(b, None)
    ksft.say('%d CE, %d CNPs made, %d of them counted' % (
        dropped(b, 'ce_seen'), dropped(b, 'cnp_sent'), dropped(a, 'cnp_received')))
    ksft.ge(dropped(a, 'cnp_received'), 1)
    clean(a, b)


def again(a, b):
    """What rdma_rxe sends again is marked as it was the first time."""
    policy(a, b)
    netem(b, 'loss 3%')
    found = captured(a, lambda: perf(b, a, addr=B, seconds=SECONDS, size=8192, mtu=1024))
    netem(b, None)
    sent = collections.Counter((p.qpn, p.psn) for p in found if kind(p) == 'data')
    twice = sum(count > 1 for count in sent.values())
    ksft.say('%d of %d packets with data were sent again' % (twice, len(sent)))
    ksft.ge(twice, 10)
    check(found, 'data', 'ACK')
    ksft.ge([row for row in rows(a, 'class') if row['name'] == 'all'][0]['ecn_packets'], len(sent) + twice)
    clean(a, b)


TESTS = [verbs, management, notifications, again]


def main():
    """Two machines for all tests."""
    with Lab(files={'/bin/rocepath': tool(), LIBGCC: LIBGCC}) as lab:
        a, b = lab.machine('a', nics=1), lab.machine('b', nics=1)
        lab.cable(a, 0, b, 0)
        lab.start()
        build(a, b)
        a.run('ip addr add %s/64 dev eth0 nodad' % A6)
        b.run('ip addr add %s/64 dev h0 nodad' % B6)
        return ksft.run(TESTS, (a, b), lab, sys.argv[1:])


if __name__ == '__main__':
    sys.exit(main())
