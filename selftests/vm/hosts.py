# SPDX-License-Identifier: GPL-2.0
"""Two machines with soft-RoCE on a device of two ports each.

      a: rxe0 on rp0 10.0.0.1, fd00::1          b: rxe0 on rp0 10.0.0.2, fd00::2
         |  eth0 --------- `rate`, 100 us --------- eth0  |
         '- eth1 --------- `rate`, 400 us --------- eth1 -'

What is said of each run: no completion error, no sequence error in either machine, and the data
spread over both ports by their weights, within 5 %.
"""

import collections
import contextlib
import functools
import json
import signal
import sys

from lab import ksft, perf, start_perf
from lib import roce
from lib.perf import ACK_TIMEOUT
from rocepath_lab import capable, counted, peer, rocepath_lab, setup

PORTS = ('eth0', 'eth1')
DELAYS = ('100us', '400us')
V4 = {'a': '10.0.0.1', 'b': '10.0.0.2'}
V6 = {'a': 'fd00::1', 'b': 'fd00::2'}
RATE = 10       # Mbit/s of a port: little enough that not the emulated CPU is the limit
# What is late here has waited for a CPU, and comes; nothing is lost that a test did not lose.
SETTINGS = 'gap-floor 500ms gap-ceiling 900ms holddown 100ms holddown-max 1s report-interval 10ms probe-interval never'
DULL = ('tx_bytes', 'rx_bytes', 'tx_packets', 'rx_packets', 'tx_roce', 'rx_roce', 'rx_in_order')
LEFTOVERS = ('rcstream', 'cmids', 'rping', 'tcpdump', 'ib_write_bw', 'ib_read_bw', 'ib_send_bw',
             'ib_atomic_bw')


def shape(m, rate=RATE, **kwargs):
    """Shape the ports; one of them is longer."""
    for port, delay in zip(PORTS, DELAYS):
        m.shape(port, '%gmbit' % rate, delay, limit=10000, **kwargs)


def build(m, ports=PORTS, **kwargs):
    """The device of the drawing."""
    setup(m, ports, (V4[m.name] + '/24', V6[m.name] + '/64'), settings=SETTINGS, **kwargs)
    m.rxe('rp0')


def unbuild(m):
    """Without it again."""
    m.run('rdma link del rxe0; ip link del rp0')


def know_each_other(a, b, addr=None):
    """Both know that the other restores order; a little traffic says so if they do not."""
    addr = addr or V4

    def both():
        return all(peer(m, addr[other]).get('state') == 'capable' for m, other in ((a, 'b'), (b, 'a')))
    if both():
        return
    run = start_perf(b, a, addr=addr['b'], control=V4['b'], seconds=3, size=4096)
    capable(a, addr['b'])
    capable(b, addr['a'])
    run.wait()


def shares(c, weights=(1, 1)):
    """Each port's part of the packets sent, relative to what its weight says: 1.0 is right."""
    sent = [c.get('%s_tx_packets' % port, 0) for port in PORTS]
    return [n * sum(weights) / (sum(sent) * w) for n, w in zip(sent, weights)]


def check_shares(c, weights=(1, 1), what=''):
    """Within 5 % of the weights; acknowledges and the like, a path each, may lie as they happen to."""
    sprayed = c.get('tx_sprayed', 0)
    tolerance = 0.05 + (c.get('tx_pinned', 0) / sprayed if sprayed else 0)
    for port, share in zip(PORTS, shares(c, weights)):
        ksft.true(abs(share - 1) <= tolerance, '%s: %s has %.3f of its share: %s' % (what, port, share, c))


class Captures:
    """tcpdump on interfaces, until there are `count` packets of each or the block ends.

    where is a row of (machine, interface); data has their packets. count 0 is no limit. Where
    only the heads of packets are kept, their ICRC cannot be checked.
    """

    def __init__(self, where, count=300, expression='', heads=False):
        self.where = where
        self.options = '-c %d ' % count if count else ''
        self.snaplen = 100 if heads else 0
        self.expression = expression
        self.jobs = []
        self.data = {}

    def __enter__(self):
        for m, ifname in self.where:
            self.jobs.append(m.capture(ifname, '/tmp/%s.pcap' % ifname,
                                       '-B 8192 %s%s' % (self.options, self.expression), self.snaplen))
        return self

    def __exit__(self, kind, value, trace):
        for (m, ifname), job in zip(self.where, self.jobs):
            job.kill(signal.SIGINT)
            job.wait(check=False)
            if not kind:
                self.data[m.name, ifname] = roce.packets(m.get('/tmp/%s.pcap' % ifname))
            m.run('rm -f /tmp/%s.pcap' % ifname)

    def check(self, *opcodes):
        """All ICRCs are right, and these opcodes were seen; returns all packets."""
        found = [p for packets in self.data.values() for p in packets]
        bad = roce.bad_icrc(found)
        seen = collections.Counter(p.opcode for p in found)
        ksft.say('captured %d RoCE packets, %d bad; opcodes %s; %s' % (
            len(found), len(bad), ' '.join('%02x:%d' % i for i in sorted(seen.items())), roce.VERIFIERS))
        ksft.eq(bad, [])
        for opcode in opcodes:
            ksft.isin(opcode, seen)
        return found


@contextlib.contextmanager
def watched(server, client, senders=(), weights=(1, 1), errors=False):
    """Around traffic: no sequence error (but with `errors`), and the senders use both ports."""
    machines = (server, client)
    before = [m.sequence_errors() for m in machines]
    with contextlib.ExitStack() as stack:
        books = {m.name: stack.enter_context(counted(m)) for m in machines}
        yield books
    lost = {'%s>%s %s' % (m.name, other.name, port): books[m.name].get(port + '_tx_packets', 0) -
            books[other.name].get(port + '_rx_packets', 0)
            for m, other in ((server, client), (client, server)) for port in PORTS}
    ksft.say('on the way: %s' % lost)
    for m in machines:
        ksft.say('%s: %s' % (m.name, ' '.join('%s %d' % (k, v) for k, v in books[m.name].items()
                                              if not k.endswith(DULL))))
    if not errors:
        ksft.eq([m.sequence_errors() for m in machines], before, 'sequence errors')
    for m in senders:
        ksft.ge(books[m.name].get('tx_sprayed', 0), 100, m.name)
        check_shares(books[m.name], weights, m.name)


def traffic(server, client, senders=(), weights=(1, 1), **kwargs):
    """Run perftest, check what the head of this file says; returns its result.

    senders are those that send the data.
    """
    with watched(server, client, senders, weights):
        result = perf(server, client, **kwargs)
    ksft.say('%s: %.2f MB/s' % (result.tool, result.MBps))
    return result


class Stream:
    """rcstream from a client to a server, under way; options are rcstream's."""

    def __init__(self, server, client, addr=None, seconds=4, options='', slow_us=0):
        self.seconds = seconds
        addr = addr or V4
        cmd = 'exec rcstream -g %%d -t %d -u %d %s' % (seconds, ACK_TIMEOUT, options)
        self.server = server.spawn(cmd % server.gid('rxe0', addr[server.name]) + ' -S %d' % slow_us)
        server.poll(lambda: self.server.rc is not None or
                    server.run('ss -Hltn sport = :18400').out, why='rcstream listens')
        self.client = client.spawn(cmd % client.gid('rxe0', addr[client.name]) + ' ' + addr[server.name])

    def end(self, check=True):
        """Let it end now; as `wait`."""
        self.client.kill(signal.SIGINT)
        self.seconds = 20
        return self.wait(check)

    def wait(self, check=True):
        """The end: what both ends say, as a pair of dicts (server's, client's)."""
        ends = []
        for name, job in (('client', self.client), ('server', self.server)):
            job.wait(self.seconds + 40, check=False)
            if not job.out:
                ksft.fail('rcstream %s: rc %s: %s' % (name, job.rc, job.err))
            ends.append(json.loads(job.out))
            ksft.say('%s: %s' % (name, {key: value for key, value in ends[-1].items() if key not in ('gaps', 'beats')}))
        client, server = ends
        if check:
            for end in ends:
                ksft.eq((end['cq_errors'], end['error'], end['missing'], end['bad']), (0, '', 0, 0))
            ksft.eq(server['messages'], client['messages'])
            ksft.ge(server['least'], 1, 'each QP moved')
        return server, client


def tidy(test):
    """The test, but when it fails nothing that it has started runs on."""
    @functools.wraps(test)
    def tidied(*args):
        try:
            test(*args)
        except Exception:
            for m in args[:2]:
                if m.alive():
                    m.run('killall -9 %s; true' % ' '.join(LEFTOVERS))
            raise
    return tidied


def main(tests, kernel=None, rate=RATE, nics=2, programs=('rcstream',), **kwargs):
    """The tests share one lab; each is called with (a, b, lab)."""
    with rocepath_lab(kernel, programs=programs, **kwargs) as lab:
        a, b = lab.machine('a', nics=nics), lab.machine('b', nics=nics)
        for nic in range(nics):
            lab.cable(a, nic, b, nic)
        lab.start()
        for m in (a, b):
            shape(m, rate)
            build(m)
        know_each_other(a, b)
        sys.exit(ksft.run([tidy(test) for test in tests], (a, b, lab), lab))
