#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""test_lives.py [--rounds N [--seed S]]: devices, ports, modules and namespaces are made and taken away, in random order.

The topology is that of hosts.py. Each round takes something away under live queue pairs: none may take longer to go
than REMOVAL_S, and after each all works again. The kernel's memory is flat.
"""

import argparse
import collections
import random
import signal
import sys
import time

from hosts import PORTS, V4, Stream, build, know_each_other, main, shape, unbuild
from lab import ksft
from rocepath_lab import conserved, held, show, unreclaimable

REMOVAL_S = 10
ROUNDS = 12
GROWTH_KIB = 2048       # in each half of the rounds, that is noise
VETHS = ('v0', 'v1')

options = argparse.ArgumentParser()
options.add_argument('--rounds', type=int, default=ROUNDS)
options.add_argument('--seed', type=int, default=1)


def memory(m):
    """What a kernel does not get back, without what it would when asked."""
    m.run('echo 3 >/proc/sys/vm/drop_caches')
    return unreclaimable(m)


class Lives:
    """What may happen to host b, while host a sends to it and it to a."""

    def __init__(self, a, b, lab, dice):
        self.a, self.b, self.lab, self.dice = a, b, lab, dice
        self.streams = []
        self.slowest = collections.Counter()

    def begin(self):
        """Queue pairs that live."""
        self.streams = [Stream(self.b, self.a, seconds=600, options='-n 4 -D 4')]
        start = self.b.stats('rp0')['rx_packets']
        self.b.poll(lambda: self.b.stats('rp0')['rx_packets'] > start + 100, 30, 'packets come')

    def end(self):
        """The queue pairs are killed, wherever they are."""
        for stream in self.streams:
            for job in (stream.client, stream.server):
                job.kill(signal.SIGKILL)
        for stream in self.streams:
            self.a.poll(lambda stream=stream: stream.client.rc is not None and stream.server.rc is not None, 30, 'they end')
        self.streams = []

    def goes(self, cmd):
        """Something goes, with whoever uses it; soon."""
        begin = time.monotonic()
        job = self.b.spawn(cmd)
        # rdma_rxe waits for who has opened it
        self.b.run('killall -9 rcstream; true')
        self.b.poll(lambda: job.rc is not None, REMOVAL_S, '`%s` ends' % cmd)
        job.wait()
        name = cmd.split('/')[0]
        self.slowest[name] = max(self.slowest[name], time.monotonic() - begin)

    def device(self):
        """ip link del."""
        self.goes('ip link del rp0')
        build(self.b)

    def module(self):
        """rmmod."""
        self.goes('rmmod rocepath')
        build(self.b)

    def rxe(self):
        """The RDMA device goes, and its queue pairs with it."""
        self.goes('rdma link del rxe0')
        self.b.rxe('rp0')

    def ports(self):
        """All ports leave, one after the other, and come back."""
        for name in self.dice.sample(PORTS, 2):
            self.goes_on('ip link set %s nomaster' % name)
        for name in self.dice.sample(PORTS, 2):
            self.goes_on('ip link set %s master rp0' % name)

    def goes_on(self, cmd):
        """What queue pairs survive."""
        self.b.run(cmd, REMOVAL_S)

    def driver(self):
        """The driver of a port goes: it is hot unplugged, as far as the kernel can tell."""
        name = self.dice.choice(PORTS)
        dev = self.b.run('basename $(readlink -f /sys/class/net/%s/device)' % name).out.strip()
        drv = '/sys/bus/virtio/drivers/virtio_net'
        self.goes_on('echo %s >%s/unbind' % (dev, drv))
        ksft.true(name not in [row['name'] for row in show(self.b, 'port')], name + ' is no port any more')
        self.goes_on('echo %s >%s/bind' % (dev, drv))
        self.b.poll('ip link show %s' % name, why='%s is back' % name)
        shape(self.b)
        self.goes_on('ip link set %s master rp0' % name)

    def namespace(self):
        """A network namespace with a device in it, up, with a key and ports of veth that send, goes."""
        m = self.b
        m.run('set -e; ip netns add life\n' + ''.join(
            'ip link add %s type veth peer p%s netns life; ip link set %s up\n' % (v, v, v) for v in VETHS) +
            'ip -n life link add rpl type rocepath\n' +
            ''.join('ip -n life link set p%s master rpl; ip -n life link set p%s up\n' % (v, v) for v in VETHS) +
            'ip -n life addr add 10.9.0.1/24 dev rpl; ip -n life link set rpl up; ip netns exec life ping -c 1 -W 1 10.9.0.2; true')
        self.goes_namespace()

    def goes_namespace(self):
        """Its devices go by and by, in a worker of the kernel."""
        begin = time.monotonic()
        self.b.run('ip netns del life')
        self.b.poll('! ip link show %s' % VETHS[0], REMOVAL_S, 'the namespace goes')
        self.slowest['ip netns del'] = max(self.slowest['ip netns del'], time.monotonic() - begin)

    def full(self):
        """A device goes whose reorder buffers hold what waits for a port that is far behind."""
        self.a.shape(PORTS[0], '10mbit', '300ms', limit=10000)
        self.b.poll(lambda: held(self.b), 20, 'packets are held', interval=0.02)
        self.goes('ip link del rp0')
        shape(self.a)
        build(self.b)

    def peer_still(self):
        """The peer stands still for two seconds, with questions open to it."""
        self.a.stop()
        time.sleep(2)
        self.a.cont()

    def round(self):
        """One of these; then all must work."""
        what = self.dice.choice((self.device, self.module, self.rxe, self.ports, self.driver, self.namespace, self.full,
                                 self.peer_still))
        if not self.streams:
            self.begin()
        what()
        if what in (self.ports, self.namespace, self.peer_still, self.driver) and self.dice.random() < 0.7:
            start = self.b.stats('rp0')['rx_packets']
            self.b.poll(lambda: self.b.stats('rp0')['rx_packets'] > start + 50, 60, 'queue pairs go on after ' + what.__name__)
            return what.__name__
        self.end()
        self.b.run('ping -c 1 -W 5 %s; true' % V4['a'])
        know_each_other(self.a, self.b)
        return what.__name__


def lives(args):
    """The test, of so many rounds."""
    def test(a, b, lab):
        dice = random.Random(args.seed)
        life = Lives(a, b, lab, dice)
        for m in (a, b):
            m.allow('NETDEV WATCHDOG')
        counts, used, begin = collections.Counter(), [], time.monotonic()
        for n in range(args.rounds):
            counts[life.round()] += 1
            if n in (args.rounds // 3, 2 * args.rounds // 3) or n == args.rounds - 1:
                life.end()
                used.append([memory(m) for m in (a, b)])
            if n % 10 == 9 or n == args.rounds - 1:
                lab.check_logs()
                ksft.say('%d of %d rounds, %d s: %s' % (n + 1, args.rounds, time.monotonic() - begin, dict(counts)))
        know_each_other(a, b)
        for m in (a, b):
            conserved(m)
            unbuild(m)
            ksft.eq(show(m, 'device'), [])
            build(m)
        ksft.say('slowest to go: %s' % {name: round(s, 1) for name, s in life.slowest.items()})
        ksft.say('memory that is not got back: %s KiB' % used)
        ksft.le(max(last - first for first, last in zip(used[0], used[-1])), 2 * GROWTH_KIB, used)
    test.__name__ = 'lives'
    return test


if __name__ == '__main__':
    known, sys.argv[1:] = options.parse_known_args()
    main([lives(known)])
