#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""soak.py [SECONDS [SEED]]: mixed traffic, random faults and random settings, for as long as it is told.

The topology is that of hosts.py. Traffic comes in bouts: streams whose every byte is checked, beside WRITEs,
READs, atomics or SENDs of perftest, in both directions. All the while a fault or a setting changes every
second or so, on either host, but one port always works. After each bout the books of both devices must balance to
the packet. It prints a line for each bout, at the end the sum as JSON, and fails when a queue pair failed, a byte was wrong, a
packet is not accounted for, or the kernel's memory grows.
"""

import collections
import json
import random
import sys
import time

from hosts import DELAYS, PORTS, RATE, V4, V6, Stream, build, know_each_other, shape
from lab import ksft, start_perf
from rocepath_lab import KEY, capable, changes, conserved, key, rocepath_lab, unreclaimable

BOUT_S = 20
TOOLS = ('ib_write_bw', 'ib_read_bw', 'ib_send_bw', 'ib_atomic_bw')
GROWTH_KIB_PER_BOUT = 64        # of a kernel's memory, in the second half, that is noise
SCHEDULERS = ('flow', 'flowlet', 'spray', 'adaptive')
SETTINGS = {
    'scheduler': SCHEDULERS,
    'evs': (1, 2, 7, 16, 64, 256),
    'entropy': ('sport', 'keep', 'flowlabel'),
    'report-interval': ('5ms', '10ms', '50ms'),
    'probe-interval': ('100ms', '1s', 'never'),
    'reorder-depth': (64, 512, 4096),
    'repair-depth': (0, 64, 1024),
    'loss-threshold': ('0%', '1%', '5%'),
    'gap-floor': ('100ms', '500ms'),
}


class Trouble:
    """One thing after another, of which at most one hurts the ports at a time."""

    def __init__(self, a, b, lab, dice):
        self.hosts, self.lab, self.dice = (a, b), lab, dice
        self.counts = collections.Counter()
        self.undo = None
        self.keys = 0

    def calm(self):
        """All ports work again."""
        if self.undo:
            self.undo()
        self.undo = None

    def cut(self, _m, nic):
        """A cable."""
        self.lab.cut(self.lab.cables[nic])
        self.undo = lambda: self.lab.restore(self.lab.cables[nic])

    def one_end(self, m, nic):
        """Only one end has no carrier."""
        m.set_link(nic, False)
        self.undo = lambda: m.set_link(nic, True)

    def weather(self, what):
        """A fault that netem can make of what leaves by a port."""
        def fault(m, nic):
            kwargs = dict(rate='%gmbit' % RATE, delay=DELAYS[nic], limit=10000)
            m.shape(PORTS[nic], **dict(kwargs, **what))
            self.undo = lambda: m.shape(PORTS[nic], **kwargs)
        return fault

    def leave(self, m, nic):
        """A port leaves the device and comes back."""
        m.run('ip link set %s nomaster' % PORTS[nic])
        self.undo = lambda: m.run('ip link set %s master rp0' % PORTS[nic])

    def still(self, m, _nic):
        """All virtual CPUs stand still for some tenths of a second."""
        m.stop()
        time.sleep(self.dice.uniform(0.05, 0.4))
        m.cont()

    def clock(self, m, _nic):
        """The clock of the day jumps, by up to a day."""
        m.run('date -s @$(($(date +%%s) + %d)) >/dev/null' % self.dice.randint(-86400, 86400))

    def setting(self, m, _nic):
        """One of a device."""
        name = self.dice.choice(sorted(SETTINGS))
        m.run('rocepath device set rp0 %s %s' % (name, self.dice.choice(SETTINGS[name])))

    def weight(self, m, nic):
        """Of a port."""
        m.run('rocepath port set %s weight %d' % (PORTS[nic], self.dice.choice((1, 1, 2, 5))))

    def rotate(self, _m, _nic):
        """Both hosts get another key, one after the other."""
        self.keys += 1
        new, old = 1 + self.keys % 2, 2 - self.keys % 2
        for m in self.hosts:
            key(m, number=new, secret=KEY[::-1] if new == 2 else KEY, more='active no')
        for m in self.hosts:
            m.run('rocepath key set dev rp0 id %d active yes' % new)
        for m in self.hosts:
            m.run('rocepath key del dev rp0 id %d 2>/dev/null; true' % old)

    def step(self):
        """The next one."""
        faults = {
            'cut': self.cut, 'one end': self.one_end, 'port left': self.leave,
            'loss 1%': self.weather({'loss': '1%'}), 'loss 5%': self.weather({'loss': '5%'}),
            'blackhole': self.weather({'loss': '100%'}), 'slow': self.weather({'rate': '%gmbit' % (RATE / 4)}),
            'longer': self.weather({'delay': '20ms 5ms'}),
        }
        others = {'stood still': self.still, 'clock jumped': self.clock, 'setting': self.setting, 'weight': self.weight,
                  'key': self.rotate}
        name = self.dice.choice(sorted(faults) + sorted(others) + ['setting'] * 3)
        if name in faults or self.dice.random() < 0.5:
            self.calm()
        self.counts[name] += 1
        faults.get(name, others.get(name))(self.dice.choice(self.hosts), self.dice.randrange(2))


def bout(a, b, trouble, dice, seconds=BOUT_S):
    """One stretch of traffic; returns what it was."""
    server, client = (a, b) if dice.random() < 0.5 else (b, a)
    addr = dice.choice((V4, V6))
    tool = dice.choice(TOOLS)
    stream = Stream(server, client, seconds=600, options='-n %d -s %d -D %d' % (
        dice.choice((1, 4, 16)), dice.choice((256, 4096, 65536)), dice.choice((2, 8))))
    beside = start_perf(client, server, tool, addr=addr[client.name], control=V4[client.name], seconds=seconds,
                        qps=dice.choice((1, 2)), size=dice.choice((64, 4096, 65536)), check=False)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        trouble.step()
        time.sleep(dice.uniform(0.2, 1.5))
    trouble.calm()
    received, sent = stream.end()
    result = beside.wait(seconds + 120)
    ksft.eq(result.cq_errors, 0, tool)
    return tool, sent['messages'], received['bad'] + received['missing']


def soak(a, b, lab, seconds, seed):
    """Bout after bout."""
    dice = random.Random(seed)
    trouble = Trouble(a, b, lab, dice)
    begin = time.monotonic()
    used, packets, wrong, bouts = [], 0, 0, 0
    for m in (a, b):
        m.allow('NETDEV WATCHDOG')
    while time.monotonic() < begin + seconds:
        before = [m.counters('rp0') for m in (a, b)]
        tool, messages, bad = bout(a, b, trouble, dice)
        for m in (a, b):
            capable(m, V4['b' if m is a else 'a'], 30)
            conserved(m)
        lab.check_logs()
        moved = [changes(c, m.counters('rp0')) for c, m in zip(before, (a, b))]
        packets += sum(c.get('rx_packets', 0) for c in moved)
        wrong += bad
        bouts += 1
        used.append([unreclaimable(m) for m in (a, b)])
        ksft.say('%5d of %d s: %s and %d messages, %d packets, %d faults and changes so far, %d sequence errors, memory %s KiB' % (
            time.monotonic() - begin, seconds, tool, messages, packets, sum(trouble.counts.values()),
            a.sequence_errors() + b.sequence_errors(), used[-1]))
    half = used[len(used) // 2:]
    grown = [after - before for before, after in zip(half[0], half[-1])]
    print(json.dumps({'seconds': round(time.monotonic() - begin), 'seed': seed, 'bouts': bouts, 'packets': packets,
                      'wrong_or_misordered': wrong, 'faults': dict(trouble.counts), 'memory_grown_kib': grown}), flush=True)
    ksft.eq(wrong, 0)
    ksft.le(max(grown), 4096 + GROWTH_KIB_PER_BOUT * len(half), 'KiB more')


def main():
    """A lab, and the soak in it."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 3600
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    ksft.say('soak of %d s, seed %d' % (seconds, seed))
    with rocepath_lab(programs=('rcstream',)) as lab:
        a, b = lab.machine('a', nics=2), lab.machine('b', nics=2)
        for nic in range(2):
            lab.cable(a, nic, b, nic)
        lab.start()
        for m in (a, b):
            shape(m)
            build(m)
        know_each_other(a, b)

        def whole(a, b, lab):
            soak(a, b, lab, seconds, seed)
        whole.__name__ = 'soak'
        sys.exit(ksft.run([whole], (a, b, lab), lab, ()))


if __name__ == '__main__':
    main()
