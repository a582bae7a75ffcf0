# SPDX-License-Identifier: GPL-2.0
"""The test bed of the demo: two machines, ports between them, and what joins the ports.

      a (client)                                     b (server)
    +------------------+                           +------------------+
    | rxe0             |                           |             rxe0 |
    | rp0, bd0 or eth0 | eth0 ------ 100 us - eth0 | rp0, bd0 or eth0 |
    |                  | eth1 ------ 400 us - eth1 |                  |
    |                  |  ...  (4 ports: 100, 100, |                  |
    +------------------+          400, 700 us)     +------------------+

Each port is shaped at both ends, by netem, to the same rate.
"""

import contextlib
import os
import secrets
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'vm'))

# pylint: disable=wrong-import-position
from artifacts import module, tool  # noqa: E402
from lab import CommandTimeout, Lab, LabError, start_perf  # noqa: E402
from lib.perf import PerfResult  # noqa: E402

DELAY_US = 100
LONGER_US = {1: [0], 2: [0, 300], 4: [0, 0, 300, 600]}
NETEM_LIMIT = 4000          # packets: far more than a QP has on its way
NETWORK = '10.7.0.'
# perftest's own 67 ms would fire while packets wait in a shaped port: 4 QPs keep 512 of them there.
ACK_TIMEOUT = '-u 18'       # 4.096 us * 2^18: 1 s
# A QP of rdma_rxe has 128 packets on their way, and moves on with each message that is acknowledged: with small
# ones the ports do not run empty when a virtual CPU stands still for some milliseconds.
MESSAGE = 16384
PERF_OVERHEAD = 2           # seconds that a run takes beyond its -D, about
CAPABLE_TIMEOUT = 20
# A virtual CPU can stand still for tens of milliseconds here: that is late, not lost. And its clock is coarse, and
# the ports slow: reports once a millisecond would be what they carry.
GAPS = 'gap-floor 200ms gap-ceiling 400ms report-interval 10ms'


class Result:
    """One or more runs of one kind: rates in MB/s of payload, and what went wrong in them."""

    def __init__(self, name, qps):
        self.name = name
        self.qps = qps
        self.rates = []
        self.seq_err = 0
        self.cq_errors = 0

    @property
    def MBps(self):  # pylint: disable=invalid-name
        """The median rate."""
        return sorted(self.rates)[len(self.rates) // 2]

    def add(self, rate, seq_err, cq_errors):
        """One more run."""
        self.rates.append(rate)
        self.seq_err += seq_err
        self.cq_errors += cq_errors

    def as_dict(self):
        """As report.json has it."""
        return {'name': self.name, 'qps': self.qps, 'MBps': round(self.MBps, 3),
                'seq_err': self.seq_err, 'cq_errors': self.cq_errors}


class Bed:
    """Two machines a and b with `nics` cables; `ports` of them in use, each `mbit` fast."""

    def __init__(self, nics, kernel='6.12', workdir=None):
        self.lab = Lab(kernel, files={'/bin/rocepath': tool()}, workdir=workdir)
        self.lab.modules.append(module(self.lab.kernel))
        self.a = self.lab.machine('a', nics=nics)
        self.b = self.lab.machine('b', nics=nics)
        self.cables = [self.lab.cable(self.a, i, self.b, i) for i in range(nics)]
        self.machines = (self.a, self.b)
        self.secret = secrets.token_hex(16).encode()
        self.ports = 0
        self.mbit = 0

    def start(self):
        """Boot."""
        self.lab.start()
        for m in self.machines:
            m.run('modprobe rocepath && modprobe bonding max_bonds=0', timeout=60)
            m.put(self.secret, '/tmp/key', 0o600)

    def shape(self, ports, mbit):
        """Use that many ports, each with its delay, and none of the other NICs."""
        self.ports, self.mbit = ports, mbit
        for m in self.machines:
            for i in range(m.nics):
                m.run('ip link set eth%d %s' % (i, 'up' if i < ports else 'down'))
            for i in range(ports):
                m.shape('eth%d' % i, '%gmbit' % mbit if mbit else None,
                        '%dus' % (DELAY_US + LONGER_US[ports][i]), limit=NETEM_LIMIT)

    def ethernets(self):
        """The names of the ports in use."""
        return ['eth%d' % i for i in range(self.ports)]

    def address(self, m):
        """The address of a machine, whatever has it."""
        return '%s%d' % (NETWORK, m.number)

    # What joins the ports. Each is set up on one machine, and gives the name of the device.

    def _one_port(self, _m):
        return 'eth0'

    def _bond(self, m, mode):
        cmd = 'ip link add bd0 type bond mode %s miimon 100%s\n' % (
            mode, ' xmit_hash_policy layer3+4' if 'xor' in mode else '')
        for name in self.ethernets():
            cmd += 'ip link set %s down; ip link set %s master bd0\n' % (name, name)
        m.run('set -e\n' + cmd)
        return 'bd0'

    def _rocepath(self, m, scheduler):
        cmd = 'ip link add rp0 type rocepath\n'
        for name in self.ethernets():
            cmd += 'ip link set %s up; ip link set %s master rp0\n' % (name, name)
        cmd += 'rocepath device set rp0 scheduler %s %s\n' % (scheduler, GAPS)
        cmd += 'rocepath key set dev rp0 id 1 secret-file /tmp/key\n'
        m.run('set -e\n' + cmd)
        return 'rp0'

    def _make(self, m, how):
        kind, _, argument = how.partition(' ')
        make = {'port': self._one_port, 'bond': self._bond, 'rocepath': self._rocepath}[kind]
        return make(m, argument) if argument else make(m)

    @contextlib.contextmanager
    def joined(self, how, how_b=None):
        """Join the ports of both machines: 'port', 'bond MODE' or 'rocepath SCHEDULER'.

        `how_b` is for b, when that is another. Gives the names of the two devices.
        """
        names = []
        try:
            for m, way in ((self.a, how), (self.b, how_b or how)):
                names.append(self._make(m, way))
                m.up(names[-1], self.address(m) + '/24')
                m.rxe(names[-1])
            self.a.poll('ping -c 1 -W 1 ' + self.address(self.b))
            if 'spray' in how and not how_b:
                self.wait_capable()
            yield names
        finally:
            for m, name in zip(self.machines, names):
                self._unjoin(m, name)

    def _unjoin(self, m, name):
        cmd = 'rdma link del rxe0; ip addr flush dev %s; ' % name
        if name != 'eth0':
            cmd += 'ip link del %s; ' % name
        m.run(cmd + ' '.join('ip link set %s up;' % e for e in self.ethernets()))

    def wait_capable(self):
        """Let traffic flow until each machine knows that the other one reorders."""
        def capable(m):
            return any(p['state'] == 'capable' for p in peers(m))

        run = self.start_run(seconds=3)
        for m in self.machines:
            m.poll(lambda m=m: capable(m), CAPABLE_TIMEOUT, 'the peer says that it reorders')
        run.wait()

    # Runs.

    def start_run(self, tool_name='ib_write_bw', qps=1, seconds=5, extra=ACK_TIMEOUT,
                  size=MESSAGE):
        """Start perftest from a to b."""
        return start_perf(self.b, self.a, tool_name, self.address(self.b), seconds=seconds, qps=qps,
                          check=False, extra=extra, size=size)

    def sequence_errors(self):
        """Of both machines, since their rxe0 was made."""
        return sum(m.sequence_errors() for m in self.machines)

    def run(self, result, tool_name='ib_write_bw', seconds=5):
        """A run to its end, added to the result. A run that hangs or fails has carried nothing."""
        before = self.sequence_errors()
        done = finish(self.start_run(tool_name, result.qps, seconds), seconds + 15)
        result.add(done.MBps, self.sequence_errors() - before, done.cq_errors)
        return done.MBps


def finish(perf, timeout):
    """The result of a run, also of one that does not come to its end."""
    try:
        return perf.wait(timeout)
    except CommandTimeout:
        perf.server.kill(9)
        perf.server.wait(check=False)
        return PerfResult(perf.tool, perf.client, perf.server)


def peers(m):
    """What `rocepath peer show` says."""
    found = m.json('rocepath -j peer show')
    return found if isinstance(found, list) else next(iter(found.values()), [])


__all__ = ['Bed', 'LabError', 'PERF_OVERHEAD', 'Result', 'finish', 'peers']
