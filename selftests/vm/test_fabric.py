#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The fabric of lib/fabric.py: ECMP over 8 paths, and each fault does what it is named for.

Without rocepath: frames with chosen source ports leave a host's ports, and routers and the other
host count them.
"""

import collections
import re
import signal
import sys

from lab import ksft, perf
from lib import fabric, roce
from racks import PORTS, V4, addresses, frame, inject, racks, received, routes

SPORTS = range(49152, 49152 + 128)
UPLINKS = [(spine, leaf) for spine in fabric.SPINES for leaf in ('a0', 'a1')]
NOISE = 10          # packets that nobody sent on purpose: neighbour discovery and the like
EACH = len(SPORTS) // len(fabric.SPINES)
ECT0, CE = 2, 3


def within(value, mean, sigmas, deviation, what):
    """A count that chance decides: within so many standard deviations."""
    ksft.le(abs(value - mean), sigmas * deviation + NOISE,
            '%s: %d, not about %d' % (what, value, mean))


class Counted(collections.Counter):
    """What each router's interface has received in a block, and each host (by name)."""

    def __init__(self, r):
        super().__init__()
        self.r = r

    def _look(self):
        found = self.r.fabric.packets()
        for m in (self.r.a, self.r.b):
            found[m.name] = received(m)
        return found

    def _rest(self):
        looks = [self._look(), self._look()]

        def rests():
            looks.append(self._look())
            return sum(looks[-1].values()) - sum(looks[-2].values()) < 5
        self.r.f.poll(rests, why='no packet is on its way')
        return looks[-1]

    def __enter__(self):
        self.before = self._look()
        return self

    def __exit__(self, kind, value, trace):
        if not kind:
            self.update({at: n - self.before[at] for at, n in self._rest().items()})


def frames(sports=SPORTS, **kwargs):
    """One frame for each source port."""
    return [frame(sport, **kwargs) for sport in sports]


def spread(r, **kwargs):
    """Send one frame for each source port by each of a's ports; what was counted."""
    with Counted(r) as c:
        inject(r.a, frames(**kwargs))
    return c


def home(r, sport, version=4):
    """The spine that a source port takes from leaf a0."""
    with Counted(r) as c:
        inject(r.a, frames([sport], version=version), 0, times=50)
    return max(fabric.SPINES, key=lambda spine: c[spine, 'a0'])


def spreads_evenly(r):
    """Source ports spread over all 8 paths, by each family, in their planes; all arrives."""
    for version in (4, 6):
        c = spread(r, version=version)
        ksft.say('IPv%d: %s' % (version, {'%s-%s' % at: c[at] for at in UPLINKS}))
        for spine, leaf in UPLINKS:
            within(c[spine, leaf], EACH, 4, (EACH * 3 / 4) ** 0.5, '%s-%s' % (leaf, spine))
            within(c['b%s' % leaf[1], spine], c[spine, leaf], 0, 0, 'down in the same plane')
        within(c['b'], 2 * len(SPORTS), 0, 0, 'arrived')
        again = spread(r, version=version)
        for at in UPLINKS:
            within(again[at], c[at], 0, 0, 'the same ports take the same paths')


def spreads_by_flow_label(r):
    """Where policy wants it the IPv6 flow label chooses the path, and the source port does not."""
    r.fabric.hash_flow_label(True)
    with Counted(r) as c:
        inject(r.a, [frame(49152, version=6, label=label) for label in SPORTS], 0)
    for spine in fabric.SPINES:
        within(c[spine, 'a0'], EACH, 4, (EACH * 3 / 4) ** 0.5, spine)
    with Counted(r) as c:
        inject(r.a, frames(version=6), 0)
    ksft.ge(max(c[spine, 'a0'] for spine in fabric.SPINES), len(SPORTS), 'one path for all ports')
    r.fabric.hash_flow_label(False)


def cut_link_and_router(r):
    """What is cut has no carrier at either end; the rest is used; healed, all is as before."""
    before = spread(r)
    for what, spine in (('a0-s1', 's1'), ('s2', 's2')):
        r.fabric.cut(what)
        leaves = [link.split('-')[0] for link in ([what] if '-' in what else fabric.links_of(what))]
        for leaf in leaves:
            ksft.true(not r.f.carrier(spine, leaf), '%s-%s' % (leaf, spine))
        c = spread(r)
        for leaf in ('a0', 'a1'):
            if leaf in leaves:
                within(c[spine, leaf], 0, 0, 0, 'nothing by the link that is cut')
            else:
                within(c[spine, leaf], before[spine, leaf], 0, 0, 'others as before')
        within(c['b'], 2 * len(SPORTS), 0, 0, 'all arrives')
        r.fabric.heal(what)
        c = spread(r)
        for at in UPLINKS:
            within(c[at], before[at], 0, 0, 'as before the cut')


def cut_host(r):
    """A host's port is cut: both ends see it, and what is for it arrives by the other port."""
    r.fabric.cut('b-b1')
    for m, name, ns in ((r.b, 'eth1', None), (r.f, 'b', 'b1')):
        m.poll(lambda m=m, name=name, ns=ns: not m.carrier(name, ns),
               why='%s without carrier' % name)
    c = spread(r)
    within(c['b0', 'b1'], len(SPORTS), 0, 0, 'by the peer link')
    within(c['b'], 2 * len(SPORTS), 0, 0, 'all arrives')
    r.fabric.heal('b-b1')
    r.b.poll(lambda: r.b.carrier('eth1'), why='eth1 is back')
    c = spread(r)
    within(c['b0', 'b1'], 0, 0, 0, 'not by the peer link')


def blackhole(r):
    """A direction of a link, a router: what took it is lost, all else is not; carrier stays."""
    before = spread(r)
    back = [frame(sport, src='b') for sport in SPORTS]
    for what, towards, lost, lost_back in (
            ('a0-s1', 'b', before['s1', 'a0'], False), ('a0-s1', 'a', 0, True),
            ('a-a0', 'b', len(SPORTS), False),
            ('s3', None, before['s3', 'a0'] + before['s3', 'a1'], True)):
        r.fabric.blackhole(what, towards)
        ksft.true(r.f.carrier('s1', 'a0') and r.f.carrier('s3', 'a0') and r.a.carrier('eth0'))
        c = spread(r)
        with Counted(r) as d:
            inject(r.b, back)
        ksft.say('%s towards %s: %d of %d arrive, back %d' % (
            what, towards, c['b'], 2 * len(SPORTS), d['a']))
        within(c['b'], 2 * len(SPORTS) - lost, 0, 0, 'arrived')
        if lost_back:
            ksft.le(d['a'], 2 * len(SPORTS) - EACH // 2, 'the way back is lost, too')
        else:
            within(d['a'], 2 * len(SPORTS), 0, 0, 'the way back')
        r.fabric.heal()
    within(spread(r)['b'], 2 * len(SPORTS), 0, 0, 'healed')


def loss(r):
    """A link loses the part that it is to lose, of both families, and no other does."""
    for version, percent in ((4, 5), (6, 1)):
        spine = home(r, SPORTS[0], version)
        r.fabric.loss('a0-' + spine, percent, 'b')
        count = 3000
        with Counted(r) as c:
            inject(r.a, frames([SPORTS[0]], version=version), 0, times=count)
        lost = count - c['b']
        ksft.say('%d %% of %d: %d lost' % (percent, count, lost))
        within(lost, count * percent / 100, 5, (count * percent / 100) ** 0.5, 'lost')
        with Counted(r) as c:
            inject(r.a, frames([SPORTS[0]], version=version), 1, times=300)
        within(c['b'], 300, 0, 0, 'by the other leaf')
        r.fabric.heal()


def rate_and_marks(r):
    """A link is as fast as it is to be, and RED marks what waits too long."""
    link = 'a0-' + home(r, SPORTS[0])
    count, rates = 400, []
    data = frame(SPORTS[0], bytes(1000), tos=ECT0)
    for mbit, ecn in ((4, False), (1, False), (4, True)):
        r.fabric.shape(link, 4, ecn=ecn)
        if mbit != 4:
            r.fabric.rate(link, mbit)
        sampler = r.b.sampler('eth0')
        job = r.b.capture('eth0', '/tmp/fabric.pcap', 'udp dst port 4791')
        with Counted(r) as c:
            inject(r.a, [data], 0, times=count)
        job.kill(signal.SIGINT)
        job.wait(check=False)
        rates.append(sampler.stop().busy().rate() * 8 / 1e6)
        found = [data for data, _ in roce.frames(r.b.get('/tmp/fabric.pcap'))]
        marked = sum(data[15] & 3 == CE for data in found)
        ksft.say('%g Mbit/s%s: %.2f Mbit/s, %d of %d, %d marked' % (
            mbit, ' with ECN' if ecn else '', rates[-1], c['b'], count, marked))
        within(c['b'], count, 0, 0, 'all waited for their turn')
        ksft.le(abs(rates[-1] / mbit - 1), 0.25, 'the rate')
        # It drains while it fills; far more than MARK_ALL wait.
        ksft.true(marked >= count / 4 if ecn else not marked, '%d marked' % marked)
    r.fabric.heal()
    r.fabric.unshape()


def order(r):
    """Packets of one source port stay in order, shaped or not, also while the rate changes."""
    link = 'a0-' + home(r, SPORTS[0])
    data = [frame(SPORTS[0], i.to_bytes(4, 'big') + bytes(28)) for i in range(500)]
    for rate in (None, 0.5):
        if rate:
            r.fabric.shape(link, rate)
        job = r.b.capture('eth0', '/tmp/fabric.pcap', 'udp dst port 4791')
        with Counted(r) as c:
            inject(r.a, data, 0)
            if rate:
                r.fabric.rate(link, 2 * rate)
        job.kill(signal.SIGINT)
        job.wait(check=False)
        numbers = [int.from_bytes(found[42:46], 'big')
                   for found, _ in roce.frames(r.b.get('/tmp/fabric.pcap'))]
        within(c['b'], len(data), 0, 0, 'all arrive')
        # A busy machine's tcpdump may miss some.
        ksft.ge(len(numbers), len(data) // 2, 'captured')
        ksft.eq(numbers, sorted(set(numbers)), 'in order, each once')
    r.fabric.heal()
    r.fabric.unshape()


def delay(r):
    """A delay is added at each end of each link."""
    def rtt():
        out = r.a.run('ping -c 5 -i 0.2 -q ' + V4['b']).out
        return float(re.search(r'= ([\d.]+)/', out).group(1))
    before = rtt()
    r.fabric.shape(delay='20ms')
    after = rtt()
    r.fabric.unshape()
    ksft.say('least RTT %.1f ms, with 20 ms on each of 4 links %.1f ms' % (before, after))
    ksft.ge(after, 80)
    ksft.le(after, before + 80 + 60)


def routers_tell_who_they_are(r):
    """Each of many packets with a short life is answered by the router where it ends."""
    for version in (4, 6):
        job = r.a.capture('any', '/tmp/icmp.pcap', 'icmp or icmp6')
        with Counted(r) as c:
            for ttl in (1, 2, 3):
                inject(r.a, frames(version=version, ttl=ttl), 0)
        job.kill(signal.SIGINT)
        job.wait(check=False)
        counts = told(r, version)
        ksft.say('IPv%d: %s' % (version, dict(counts)))
        within(counts['a0'], len(SPORTS), 0, 0, 'a0 answers')
        within(counts['b0'], len(SPORTS), 0, 0, 'b0 answers')
        for spine in fabric.SPINES:
            # those that ended there, and as many that went on to b0
            within(2 * counts[spine], c[spine, 'a0'], 0, 0, spine + ' answers')


def told(r, version):
    """Who said that a packet's time was exceeded, and how often."""
    out = r.a.run('tcpdump -Z root -nr /tmp/icmp.pcap 2>/dev/null | grep -i "time exceeded"',
                  check=False).out
    names = {fabric.router_address(router, version): router for router in fabric.ROUTERS}
    return collections.Counter(names.get(line.split(' > ')[0].split()[-1])
                               for line in out.splitlines())


def own_gateways(r):
    """Each leaf has a MAC of its own, when it is to."""
    for anycast in (False, True):
        r.fabric.gateways(anycast)
        macs = []
        for port in range(2):
            name, gateway = PORTS[port], fabric.gateway('a', port)
            r.a.run('ip neigh flush dev %s; ping -c 1 -W 2 -I %s %s' % (name, name, gateway))
            found = r.a.json('ip -j neigh show %s dev %s' % (gateway, name))
            macs.append(found[0]['lladdr'])
        ksft.eq(macs[0] == macs[1], anycast, str(macs))


def capacity(r):
    """What the machine forwards unshaped, for the record: rates of links are chosen well below."""
    for qps in (1, 4):
        result = perf(r.b, r.a, addr=V4['b'], seconds=4, size=16384, qps=qps)
        ksft.say('unshaped, %d QPs: %.2f MB/s' % (qps, result.MBps))


TESTS = [spreads_evenly, spreads_by_flow_label, cut_link_and_router, cut_host, blackhole, loss,
         rate_and_marks, order, delay, routers_tell_who_they_are, own_gateways, capacity]


def main():
    """All share one lab."""
    r = racks(programs=('inject',))
    with r.lab:
        r.lab.start()
        r.fabric.build()
        for m in (r.a, r.b):
            for port in PORTS:
                m.up(port, *addresses(m))
            routes(m, PORTS[0])
            # It owns the UDP port: nobody answers that it is closed.
            m.rxe(PORTS[0])
        r.a.poll('ping -c 1 -W 1 ' + V4['b'])
        sys.exit(ksft.run(TESTS, (r,), r.lab))


if __name__ == '__main__':
    main()
