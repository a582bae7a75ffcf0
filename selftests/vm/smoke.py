#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Whether both modules work on a kernel at all: what scripts/matrix runs on each that it can boot.

The topology is that of hosts.py. $ROCEPATH_KERNEL says which kernel, $ROCEPATH_MODULES where the modules for it are.
"""

from hosts import V4, Stream, build, know_each_other, main, traffic, unbuild
from lab import ksft
from lib.genl import Family
from rocepath_lab import conserved, show
from test_failure import CUT, UnderTraffic, flows_on, state

MODULES = ('rocepath', 'rocepath_rdma')


def loaded(m):
    """Which of the modules are."""
    names = {line.split()[0] for line in m.get('/proc/modules').decode().splitlines()}
    return [name for name in MODULES if name in names]


def streams(rdma):
    """The rows of a Stream's QPs."""
    return [row for row in rdma.dump('qp-get') if row.get('comm') == 'rcstream']


def one_qp_by_two_ports(a, b, _lab):
    """One QP writes, with its data spread over both ports, and sees no sequence error."""
    traffic(b, a, (a,), addr=V4['b'])
    for m in (a, b):
        conserved(m)


def qps_are_seen(a, b, _lab):
    """rocepath_rdma sees QPs connect, and gives them an entropy value when it is to; they carry data with it."""
    for m in (a, b):
        m.run('modprobe rocepath_rdma')
    rdma = Family(a, 'rocepath_rdma')
    for steering in (0, 1):
        rdma.do('device-set', steering=steering)
        stream = Stream(b, a, seconds=300, options='-n 2')
        flows_on(b, 200)
        rows = streams(rdma)
        ksft.say(rows)
        ksft.eq([(row['remote'], row['state'], row['seen'], row['steered']) for row in rows],
                [(V4['b'], 'rts', 1, steering)] * 2)
        stream.end()
        a.poll(lambda: not streams(rdma), why='rows go with their QPs')
    ksft.eq([loaded(m) for m in (a, b)], [list(MODULES)] * 2)


def port_cut(a, b, lab):
    """A cable is pulled under traffic and plugged in again: no QP has an error, no packet is unaccounted for."""
    with UnderTraffic(a, b):
        lab.cut(lab.cables[1])
        for m in (a, b):
            state(m, CUT, 'down')
        flows_on(b, 500, timeout=40)
        lab.restore(lab.cables[1])
        for m in (a, b):
            state(m, CUT, 'up')
    for m in (a, b):
        conserved(m)


def removal(a, b, _lab):
    """Devices and modules go, nothing of them stays, and they come back."""
    for m in (a, b):
        unbuild(m)
        m.run('modprobe rocepath_rdma; rmmod rocepath_rdma && rmmod rocepath')
        ksft.eq(loaded(m), [])
        ksft.true(m.run('ip link show rp0', check=False).rc, 'rp0 is gone')
        build(m)
        ksft.eq([d['name'] for d in show(m, 'device')], ['rp0'])
    know_each_other(a, b)
    traffic(b, a, (a,), addr=V4['b'])


if __name__ == '__main__':
    main([one_qp_by_two_ports, qps_are_seen, port_cut, removal], programs=('rcstream', 'genl'), modules=MODULES)
