#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The oldest kernel that is supported, 6.1: it sprays, writes, reads, and survives a cut.

The topology is that of hosts.py.
"""

import signal

from hosts import V4, Captures, Stream, main, traffic
from lab import ksft
from rocepath_lab import conserved, counted, port


def write(a, b, _lab):
    """ib_write_bw over both ports; what is on the wire is right."""
    with Captures([(a, 'eth0'), (a, 'eth1')]) as captures:
        traffic(b, a, (a,), addr=V4['b'])
    captures.check(0x07)


def read(a, b, _lab):
    """ib_read_bw over both ports."""
    traffic(b, a, (b,), tool='ib_read_bw', addr=V4['b'])


def cut(a, b, lab):
    """A cable is pulled and plugged in again under traffic."""
    stream = Stream(b, a, seconds=300, options='-n 2')
    for up in (False, True):
        (lab.restore if up else lab.cut)(lab.cables[1])
        for m in (a, b):
            m.poll(lambda m=m, up=up: port(m, 'eth1')['state'] == ('up' if up else 'down'), 10,
                   'eth1 notices')
        with counted(a) as c:
            start = b.stats('rp0')['rx_packets']
            b.poll(lambda start=start: b.stats('rp0')['rx_packets'] > start + 500, 30, 'it goes on')
        ksft.eq(c.get('eth1_tx_packets', 0) > 100, up)
    stream.end()
    for m in (a, b):
        conserved(m)


def removal(a, b, lab):
    """The device and the module go, with queue pairs alive."""
    stream = Stream(b, a, seconds=300, options='-n 4')
    start = b.stats('rp0')['rx_packets']
    b.poll(lambda: b.stats('rp0')['rx_packets'] > start + 200, 30, 'traffic')
    job = b.spawn('ip link del rp0')
    b.poll(lambda: b.run('ip link show rp0', check=False).rc, 10, 'rp0 goes')
    for end in (stream.server, stream.client):
        end.kill(signal.SIGKILL)
    job.wait(10)
    a.poll(lambda: stream.client.rc is not None, 30, 'the client ends')
    for m in (a, b):
        m.run('rmmod rocepath')
    lab.check_logs()


TESTS = [write, read, cut, removal]

if __name__ == '__main__':
    main(TESTS, kernel='6.1')
