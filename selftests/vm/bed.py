# SPDX-License-Identifier: GPL-2.0
"""The test bed of the demo and of benchmarks: two machines, ports between them, and what joins the ports.

      a (client)                                     b (server)
    +------------------+                           +------------------+
    | rxe0             |                           |             rxe0 |
    | rp0, bd0 or eth0 | eth0 ------ 100 us - eth0 | rp0, bd0 or eth0 |
    |                  | eth1 ------ 400 us - eth1 |                  |
    |                  |  ...  (4 ports: 100, 100, |                  |
    +------------------+          400, 700 us)     +------------------+

Each port is shaped at both ends, by netem.
"""

import contextlib
import time

from lab import CommandTimeout, LabError, start_perf
from lib.perf import PerfResult
from rocepath_lab import capable, rocepath_lab, show
from ways import way

DELAY_US = 100
LONGER_US = {1: [0], 2: [0, 300], 4: [0, 0, 300, 600]}
NETEM_LIMIT = 4000          # packets: far more than a QP has on its way
NETWORK = '10.7.0.'
# A QP of rdma_rxe has 128 packets on their way, and moves on with each message that is acknowledged: with small
# ones the ports do not run empty when a virtual CPU stands still for some milliseconds.
MESSAGE = 16384
PERF_OVERHEAD = 2           # seconds that a run takes beyond its -D, about
READY_TIMEOUT = 20
# A virtual CPU can stand still for tens of milliseconds here: that is late, not lost. And its clock is coarse, and
# the ports slow: reports once a millisecond would be what they carry.
GAPS = 'gap-floor 200ms gap-ceiling 400ms report-interval 10ms'


class Bed:
    """Two machines a and b with `nics` cables; `ports` of them in use. More arguments are rocepath_lab's."""

    def __init__(self, nics, kernel=None, **kwargs):
        self.lab = rocepath_lab(kernel, **kwargs)
        self.a = self.lab.machine('a', nics=nics)
        self.b = self.lab.machine('b', nics=nics)
        self.cables = [self.lab.cable(self.a, i, self.b, i) for i in range(nics)]
        self.machines = (self.a, self.b)
        self.ports = 0
        self.links = []             # (Mbit/s or None, us) of each port in use
        self.ways = {}              # machine -> Way, while ports are joined
        self.gids = None            # of b and a, then

    def start(self):
        """Boot."""
        self.lab.start()

    # Ports.

    def shape(self, ports, mbit, longer_us=None):
        """Use that many ports, each with its rate (or one for all) and delay, and none of the other NICs."""
        self.ports = ports
        longer_us = longer_us or LONGER_US[ports]
        rates = mbit if isinstance(mbit, (list, tuple)) else [mbit] * ports
        self.links = [(rate, DELAY_US + more) for rate, more in zip(rates, longer_us)]
        for m in self.machines:
            if m not in self.ways:
                m.run('\n'.join('ip link set eth%d %s' % (i, 'up' if i < ports else 'down') for i in range(m.nics)))
            self._shape(m)

    def _shape(self, m):
        for i in range(self.ports):
            self.shape_port(m, i)

    def shape_port(self, m, port, part=1):
        """Give a machine's end of a cable its rate, or a part of it, and its delay; what waits there stays."""
        mbit, delay_us = self.links[port]
        m.shape('eth%d' % port, '%gmbit' % (mbit * part) if mbit else None, '%dus' % delay_us, limit=NETEM_LIMIT,
                ns=self.namespace(m))

    def namespace(self, m):
        """Where a machine's ports are now."""
        return self.ways[m].namespace if m in self.ways else None

    def ethernets(self):
        """The names of the ports in use."""
        return ['eth%d' % i for i in range(self.ports)]

    def address(self, m):
        """The address of a machine, whatever has it."""
        return '%s%d' % (NETWORK, m.number)

    def received(self):
        """Bytes that b has received on each port."""
        return [self.b.stats(name, self.namespace(self.b))['rx_bytes'] for name in self.ethernets()]

    def busiest(self, start):
        """The port that carries most since `start`, as `received` had it; the last one of equals."""
        moved = [now - then for now, then in zip(self.received(), start)]
        most = max(moved)
        return max(i for i, n in enumerate(moved) if n > 0.8 * most)

    # What joins them.

    def join(self, how, how_b=None, settings=GAPS):
        """Join the ports of both machines in a way (ways.py); `how_b` is for b, when that is another."""
        for m, name in ((self.a, how), (self.b, how_b or how)):
            self.ways[m] = way(name, m, self.ethernets(), settings)
            self.ways[m].make()
            if self.ways[m].namespace:      # moving there has taken the qdisc
                self._shape(m)
            m.up(self.ways[m].device, self.address(m) + '/24')
            m.rxe(self.ways[m].device)
        for m in self.machines:
            m.poll(self.ways[m].ready, READY_TIMEOUT, '%s uses all ports' % how)
        self.a.poll('ping -c 1 -W 1 ' + self.address(self.b), READY_TIMEOUT)
        self.gids = tuple(m.gid('rxe0', self.address(m)) for m in (self.b, self.a))
        if how.startswith('rocepath') and not how_b:
            self._wait_capable()

    def part(self):
        """Undo `join`."""
        for m in list(self.ways):
            m.run('rdma link del rxe0', check=False)
            undone = self.ways.pop(m)
            undone.unmake()
            m.run(' '.join('ip link set %s up;' % name for name in self.ethernets()))
            if undone.namespace:
                self._shape(m)

    @contextlib.contextmanager
    def joined(self, how, how_b=None, settings=GAPS):
        """`join` and `part`, around a block."""
        try:
            self.join(how, how_b, settings)
            yield
        except Exception:
            with contextlib.suppress(LabError):
                self.part()
            raise
        self.part()

    def _wait_capable(self):
        """Let traffic flow until each machine knows that the other one reorders."""
        run = self.start_run(seconds=3)
        capable(self.a, self.address(self.b), READY_TIMEOUT)
        capable(self.b, self.address(self.a), READY_TIMEOUT)
        run.wait()

    def mended(self, timeout=40):
        """After a fault: whoever is to be told is told, and all ports are in use again."""
        for m in self.machines:
            for name in self.ethernets():
                m.poll(lambda m=m, name=name: m.carrier(name, self.namespace(m)), why='carrier of ' + name)
            self.ways[m].mended()
            m.poll(self.ways[m].ready, timeout, 'all ports are in use')
            if self.ways[m].device == 'rp0':
                m.poll(lambda m=m: all(row['state'] == 'up' for row in show(m, 'path') if row.get('peer')), timeout,
                       'all paths of %s are up' % m.name, interval=0.3)

    # Runs.

    def start_run(self, tool_name='ib_write_bw', qps=1, seconds=5, size=MESSAGE, **kwargs):
        """Start perftest from a to b."""
        return start_perf(self.b, self.a, tool_name, self.address(self.b), gid=self.gids, seconds=seconds,
                          qps=qps, check=False, size=size, **kwargs)

    def sequence_errors(self):
        """Of both machines, since their rxe0 was made."""
        return sum(m.sequence_errors() for m in self.machines)


def finish(perf, timeout):
    """The result of a run, also of one that does not come to its end."""
    try:
        return perf.wait(timeout)
    except CommandTimeout:
        perf.server.kill(9)
        perf.server.wait(check=False)
        return PerfResult(perf.tool, perf.client, perf.server)


def let_run(m, seconds):
    """Let the traffic be, and start nothing in the machine that would disturb it."""
    end = time.monotonic() + seconds
    m.poll(lambda: time.monotonic() >= end, timeout=seconds + 1, interval=0.01)


__all__ = ['Bed', 'LabError', 'PERF_OVERHEAD', 'finish', 'let_run']
