#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A policy on a netdevice with several queues: each gets fq, QPs use more than one, and rates hold.

      a: rxe0 on eth0 10.0.0.1, two queues --------- b: rxe0 on eth0 10.0.0.2

The module is not needed.
"""

import json
import sys

from artifacts import tool
from lab import Lab, ksft, perf

A, B = '10.0.0.1', '10.0.0.2'
MBIT = 10
QPS = 8
POLICY = '''version: 1
interfaces: [eth0]
classes:
  - {name: paced, rate: %dMbit, burst: 2KiB}
default-class: paced
''' % MBIT


def qdiscs(m):
    """All qdiscs of eth0, with their counters."""
    return json.loads(m.run('tc -j -s qdisc show dev eth0').out)


def kinds(m):
    """Which kinds of qdisc eth0 has, the root first."""
    return [row['kind'] for row in qdiscs(m) if row['kind'] not in ('clsact', 'ingress')]


def queues(a, b):
    """Each queue is paced by an fq of its own; clean puts back what was there."""
    before = kinds(a)
    ksft.eq(before[0], 'mq')
    count = len(before) - 1
    ksft.ge(count, 2, 'several queues')
    a.put(POLICY.encode(), '/tmp/policy.yaml')
    a.run('rocepath apply /tmp/policy.yaml', timeout=120)
    ksft.eq(kinds(a), ['mq'] + ['fq'] * count)
    got = perf(b, a, addr=B, seconds=10, qps=QPS, size=16384, mtu=1024).MBps * 8
    leaves = [row for row in qdiscs(a) if row['kind'] == 'fq']
    ksft.say('%d QPs, %d Mbit/s for all: %.2f Mbit/s; packets by queue: %s' % (
        QPS, MBIT, got, ', '.join(str(row['packets']) for row in leaves)))
    ksft.le(abs(got / MBIT - 1), 0.05)
    ksft.ge(len([row for row in leaves if row['packets'] > 100]), 2, 'queues that are used')
    ksft.eq(sum(row['drops'] + row.get('horizon_drops', 0) for row in leaves), 0)
    a.run('rocepath clean')
    ksft.eq(kinds(a), before)


def main():
    """Two machines, of which one has a NIC with as many queues as CPUs."""
    with Lab(files={'/bin/rocepath': tool()}) as lab:
        a, b = lab.machine('a', nics=1, nic='vmxnet3'), lab.machine('b', nics=1)
        lab.cable(a, 0, b, 0)
        lab.start()
        if a.run('modprobe vmxnet3', check=False).rc:
            print('1..0 # SKIP this kernel has no vmxnet3, whose NIC has several queues in QEMU')
            return 4
        for m, address in ((a, A), (b, B)):
            m.up('eth0', address + '/24')
            m.rxe('eth0')
        return ksft.run([queues], (a, b), lab)


if __name__ == '__main__':
    sys.exit(main())
