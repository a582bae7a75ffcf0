#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Machines, devices, modules and keys come and go while queue pairs live.

The topology is that of hosts.py.
"""

import signal
import time

from hosts import (PORTS, RATE, V4, Stream, build, know_each_other, main, shape, traffic,
                   unbuild, watched)
from lab import ksft, start_perf
from rocepath_lab import capable, changes, conserved, key, peer, show

REMOVAL_S = 10      # at most, for a device or the module to go
RDMA = ('rdma_rxe', 'rdma_ucm', 'ib_uverbs', 'rdma_cm', 'iw_cm', 'ib_cm', 'ib_core')
OTHER_KEY = 'f0e0d0c0b0a090807060504030201000'
LIVE = 64


def begin_removal(m, cmd):
    """Start what removes a device; returns what waits for its end, which must come soon."""
    begin = time.monotonic()
    job = m.spawn(cmd)

    def end():
        m.poll(lambda: job.rc is not None, REMOVAL_S, '`%s` ends' % cmd)
        job.wait()
        ksft.say('`%s` took %.1f s' % (cmd, time.monotonic() - begin))
    return end


def moved(a, b, packets=300):
    """What a's counters did while so many packets came to b."""
    before, start = a.counters('rp0'), b.stats('rp0')['rx_packets']
    b.poll(lambda: b.stats('rp0')['rx_packets'] >= start + packets, 30, '%d packets come' % packets)
    return changes(before, a.counters('rp0'))


def device_made_anew(a, b, _lab):
    """The peer's device is deleted and made again: the restart is noticed, then it is sprayed to."""
    before = a.counters('rp0')
    unbuild(b)
    build(b)
    b.run('ping -c 1 -W 5 %s' % V4['a'])
    run = start_perf(b, a, addr=V4['b'], seconds=6)
    a.poll(lambda: changes(before, a.counters('rp0')).get('peers_restarted'), why='the restart is noticed')
    capable(a, V4['b'])
    capable(b, V4['a'])
    ksft.eq(peer(a, V4['b'])['restarts'], 1)
    c = moved(a, b)
    ksft.ge(c.get('tx_sprayed', 0), 200)
    run.wait()
    traffic(b, a, (a,), addr=V4['b'])


def peer_reboots(a, b, _lab):
    """The peer's power goes under traffic: it is lost, and after its boot all is as before."""
    # A machine that is booting takes no packets, and a NIC that cannot send complains; so they give up soon.
    a.allow('NETDEV WATCHDOG')
    stream = Stream(b, a, seconds=300, options='-n 4 -u 16 -r 2')
    moved(a, b)
    b.reset()
    stream.client.kill(signal.SIGKILL)
    a.poll(lambda: peer(a, V4['b']).get('state') != 'capable', 20, 'the peer is lost')
    shape(b)
    build(b)
    b.run('ping -c 1 -W 5 %s' % V4['a'])
    know_each_other(a, b)
    traffic(b, a, (a,), addr=V4['b'])
    traffic(a, b, (b,), addr=V4['a'])
    conserved(a)
    conserved(b)


def cm_ids(a, b):
    """Connections by RDMA-CM that live, and a listener; returns both ends' jobs."""
    server = b.spawn('exec cmids %s %d' % (V4['b'], LIVE))
    b.poll('rdma resource show cm_id | grep -q LISTEN', why='cmids listens')
    client = a.spawn('exec cmids %s %d connect' % (V4['b'], LIVE))
    for m, job in ((b, server), (a, client)):
        m.poll(lambda job=job: 'ready' in job.lines() or job.rc is not None, 60, 'cmids is ready')
        if job.rc is not None:
            job.wait()
    return server, client


def told_once(job, ids):
    """Each id had one event of the removal."""
    job.wait(30)
    ksft.say(job.out.strip() + ' ' + job.err.strip()[:200])
    words = job.lines()[-1].split()
    c = dict(zip(words[::2], map(int, words[1::2])))
    ksft.eq((c['ids'], c['told'], c['twice']), (ids, ids, 0))


def removed_in_use(a, b, lab, cmd):
    """A device goes that has a listener, live connections and traffic.

    Those by RDMA-CM are told, once each. A program that has only opened the device is not told:
    rdma_rxe cannot take a device from one, so that the removal waits for it, as it would above
    any netdevice. It is ended here when the others were told.
    """
    server, client = cm_ids(a, b)
    stream = Stream(b, a, seconds=300, options='-n %d -s 4096 -D 2' % LIVE)
    moved(a, b)
    ended = begin_removal(b, cmd)
    told_once(server, LIVE + 1)
    for job in (stream.server, stream.client, client):
        job.kill(signal.SIGKILL)
    ended()
    ksft.eq(b.run('rdma link show').out.strip(), '')
    ksft.true(b.run('ip link show rp0', check=False).rc, 'rp0 is gone')
    for name in PORTS:
        ksft.true('master' not in b.json('ip -j link show dev %s' % name)[0], name)
    a.poll(lambda: stream.client.rc is not None and client.rc is not None, 30, 'the clients end')
    lab.check_logs()


def device_deleted_in_use(a, b, lab):
    """ip link del with 64 + 64 live queue pairs, traffic and a listener (C6): soon done, each told once."""
    removed_in_use(a, b, lab, 'ip link del rp0')
    build(b)
    b.run('ping -c 1 -W 5 %s' % V4['a'])
    know_each_other(a, b)
    traffic(b, a, (a,), addr=V4['b'])


def module_removed_in_use(a, b, lab):
    """rmmod with the same alive; loaded again it works."""
    removed_in_use(a, b, lab, 'rmmod rocepath')
    build(b)
    b.run('ping -c 1 -W 5 %s' % V4['a'])
    know_each_other(a, b)
    traffic(b, a, (a,), addr=V4['b'])


def reorders(m, wanted):
    """Whether a device of m says that it restores order."""
    m.run('ip link add rpx type rocepath')
    ksft.eq(show(m, 'device')[0]['reorders'], wanted)
    m.run('ip link del rpx')


def module_before_ib_core(a, b, _lab):
    """rocepath is there before ib_core, and stays when ib_core goes: QPs are seen all the same."""
    for m in (a, b):
        unbuild(m)
        m.run('rmmod rocepath; rmmod %s; insmod $(modinfo -n rocepath)' % ' '.join(RDMA))
    for _ in range(2):
        for m in (a, b):
            reorders(m, False)
            m.run('modprobe rdma_rxe; modprobe rdma_ucm')
            reorders(m, True)
            build(m)
        know_each_other(a, b)
        traffic(b, a, (a,), addr=V4['b'])
        for m in (a, b):
            conserved(m)
            unbuild(m)
            m.run('rmmod %s' % ' '.join(RDMA))
    for m in (a, b):
        m.run('modprobe rdma_rxe; modprobe rdma_ucm')
        build(m)
    know_each_other(a, b)


def key_rotation(a, b, _lab):
    """A second key comes, takes over, the first goes, under traffic: it is sprayed all the while."""
    with watched(b, a) as books:
        stream = Stream(b, a, seconds=300, options='-n 2')
        capable(a, V4['b'])
        for m in (a, b):
            key(m, number=2, secret=OTHER_KEY, more='active no')
        for m in (a, b):
            m.run('rocepath key set dev rp0 id 2 active yes')
        for m, other in ((a, V4['b']), (b, V4['a'])):
            m.poll(lambda m=m, other=other: peer(m, other)['key_id'] == 2, 20, 'hellos with the new key')
        for m in (a, b):
            m.run('rocepath key del dev rp0 id 1')
            ksft.eq([k['id'] for k in show(m, 'key', 'rp0')], [2])
        # Longer than a peer is believed without a hello: three of their intervals.
        moved(a, b, int(5 * 2 * RATE * 1e6 / 8 / 1100))
        stream.end()
    for m in (a, b):
        ksft.eq(books[m.name].get('peers_lost', 0), 0)
        ksft.eq(books[m.name].get('rx_control_key', 0), 0)
        ksft.eq(books[m.name].get('rx_control_mac', 0), 0)
    ksft.le(books['a'].get('tx_pinned', 0), 20)
    for m in (a, b):
        key(m)
        m.run('rocepath key del dev rp0 id 2')
        conserved(m)
    know_each_other(a, b)


def wrong_key(a, b, _lab):
    """Hosts whose keys differ do not spray, and say so in a counter."""
    key(b, number=1, secret=OTHER_KEY)
    for m, other in ((a, V4['b']), (b, V4['a'])):
        m.poll(lambda m=m, other=other: peer(m, other)['state'] != 'capable', 20, 'not believed any more')
    before = a.counters('rp0'), b.counters('rp0')
    run = start_perf(b, a, addr=V4['b'], seconds=4)
    b.poll(lambda: changes(before[1], b.counters('rp0')).get('rx_control_mac'), 20, 'a wrong MAC is counted')
    run.wait()
    ksft.eq(changes(before[0], a.counters('rp0')).get('tx_sprayed', 0), 0)
    key(b)
    know_each_other(a, b)


TESTS = [device_made_anew, peer_reboots, device_deleted_in_use, module_removed_in_use,
         module_before_ib_core, key_rotation, wrong_key]

if __name__ == '__main__':
    main(TESTS, programs=('rcstream', 'cmids'))
