#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""No path fails a QP: paths are cut, blackholed, lossy, slow, flapping, lied about.

Over the fabric of racks.py, at full load, with the default timers of perftest: no NAK, nothing sent
again, no longer pause than an undisturbed run has beside it; and what bonding and plain ECMP do.

  test_paths.py [--full] [WORD...]    tests whose names have one of the words

Without --full some faults come once, to one QP, and only what a busy machine cannot break must
hold: no QP dies, no byte is lost, no path stays down, caps, conservation, nothing forged moves
anything. With it they come to 1 and to 8 QPs, several times, there are 1,000 flaps and 10^6 forged
packets, and all bounds must hold. Figures go to build/check/figures.json.
"""

import contextlib
import functools
import json
import os
import random
import statistics
import subprocess
import sys
import time

from hosts import Stream, tidy
from lab import ksft
from lib import fabric, roce
from lib.initrd import TREE
from racks import PORTS, SETTINGS, V4, join, racks, received, unjoin
from rocepath_lab import capable, changes, conserved, show, unreclaimable

FULL = '--full' in sys.argv
INTERVAL_MS = 10        # of reports: what this lab's clock is good for
RATE = 5                # Mbit/s of a link between leaf and spine: the machine forwards all of it
ROCEPATH = 'rocepath adaptive'
REPORTS = SETTINGS + ' report-interval %dms' % INTERVAL_MS
MESSAGE = 4096          # a completion each few ms
# Messages on their way of each QP. Where gaps are measured no queue is long, or the gap would be
# the queue, and QPs with a timer of 67 ms would send again what waits; for rates paths are full.
SHORT, FULL_PATHS = {1: 12, 8: 2}, {1: 24, 8: 3}
QPS = (1, 8) if FULL else (1,)
REPEATS = 5 if FULL else 1      # of a fault, while no machine stood still
TRIES = 15 if FULL else 1
WINDOW = 4 if FULL else 2       # seconds before and after a fault in which gaps are looked for
SECONDS = 12 if FULL else 3     # of a run whose rate is measured
FEW_PATHS = ' evs 4'    # each has a packet in each interval, as at the rates of real links
BLIND_MS = 3 * INTERVAL_MS      # until a silent path is out of use
GAP_MOST_MS = 5
STALL_MS = 30           # a machine that stands still for longer makes QPs' timers expire by itself
CONTROL_BYTES = 150     # a probe has less
DATA_BYTES = 600        # a packet of data has more than a control packet, by that


class Figures:
    """What is measured goes to the table, and to the file, with the worst of this run.

    A run without --full leaves alone what is there: it may be of a whole measurement.
    """

    def __init__(self):
        self.table = []
        path = os.path.join(TREE, 'build', 'check', 'figures.json')
        self.kept = set()
        if os.path.exists(path) and not FULL:
            with open(path, encoding='ascii') as f:
                self.kept = set(json.load(f))

    def record(self, name, value, goal='', worst='max'):
        """Note a figure."""
        ksft.say('figure %s: %g %s' % (name, value, goal))
        if name not in self.kept:
            keep = ['worst-is-' + worst] if name in (row[0] for row in self.table) else []
            subprocess.run([os.path.join(TREE, 'scripts', 'figure'), name, '%g' % value, *keep],
                           check=True)
        self.table.append((name, value, goal))

    def show(self):
        """All of them, in the end."""
        for name, value, goal in self.table:
            ksft.say('%-32s %10.4g   %s' % (name, value, goal))


FIGURES = Figures()
record = FIGURES.record


def reach(value, goal, what):
    """A rate must reach its goal: in a whole measurement, not in seconds of a busy machine."""
    if FULL:
        ksft.ge(value, goal, what)


def pause(m, seconds):
    """Let the traffic be: time itself is what is waited for."""
    end = time.monotonic() + seconds
    m.poll(lambda: time.monotonic() >= end, seconds + 1, interval=0.01)


# Load, and what became of it.

def errors(m):
    """NAKs and retransmissions that a machine has counted."""
    c = m.hw_counters()
    return c['out_of_seq_request'] + c['rcvd_seq_err'], c['completer_retry_err']


class Load:
    """A stream from a to b in a block. After it: naks, retransmits, cq_errors, and gaps by time."""

    def __init__(self, r, qps, depth=SHORT):
        self.r = r
        self.qps = qps
        self.options = '-n %d -s %d -D %d -u 14 -G 5' % (qps, MESSAGE, depth[qps])

    def __enter__(self):
        self.before = [errors(m) for m in (self.r.a, self.r.b)]
        self.stream = Stream(self.r.b, self.r.a, addr=V4, seconds=7200, options=self.options)
        self.wait(1)
        return self

    def wait(self, seconds):
        """Let it flow for a time, after it has begun to."""
        start = received(self.r.b)
        self.r.b.poll(lambda: received(self.r.b) > start + 50 or not self.stream.client.running(),
                      30, 'it flows', interval=0.01)
        pause(self.r.a, seconds)

    def counted(self):
        """(NAKs, retransmissions) up to now."""
        after = [errors(m) for m in (self.r.a, self.r.b)]
        return tuple(sum(x[i] - y[i] for x, y in zip(after, self.before)) for i in (0, 1))

    def __exit__(self, kind, value, trace):
        if kind:
            for job in (self.stream.client, self.stream.server):
                job.kill(9)
            return
        self.server, self.client = self.stream.end(check=False)
        self.naks, self.retransmits = self.counted()
        self.cq_errors = self.server['cq_errors'] + self.client['cq_errors']
        ksft.say('%d QPs: %.2f MB/s, %d NAKs, %d retransmissions, %d completion errors' % (
            self.qps, self.server['MBps'], self.naks, self.retransmits, self.cq_errors))

    def gap(self, start, end):
        """The longest time without a completion of a QP, ms, that a time has a part of."""
        gaps = list(self.client['gaps'])
        if self.cq_errors:      # all have died, and the gap has no end
            gaps.append((self.client['last'], max(0, end - self.client['last']) * 1e3))
        return max((ms for begin, ms in gaps if begin < end and begin + ms / 1e3 > start),
                   default=0)

    def whole(self):
        """No completion with an error, no byte lost or out of order."""
        for end in (self.server, self.client):
            ksft.eq((end['cq_errors'], end['missing'], end['bad']), (0, 0, 0))


JOINED = {}             # machine -> device, while ports are joined; 'how' -> how


def part(r):
    """Undo what `joined` has left."""
    JOINED.pop('how', None)
    while JOINED:
        unjoin(r, *JOINED.popitem())


@contextlib.contextmanager
def joined(r, how, settings=REPORTS):
    """Both hosts with their ports joined. They stay so, for the next test that wants the same."""
    try:
        if JOINED.get('how') != (how, settings):
            part(r)
            for m in (r.a, r.b):
                JOINED[m] = join(r, m, how, settings)
            r.a.poll('ping -c 1 -W 1 ' + V4['b'], 20)
            if how.startswith('rocepath'):
                meet(r)
            JOINED['how'] = how, settings
        elif how.startswith('rocepath'):
            settled(r)
        yield
    except Exception:
        r.fabric.heal()
        part(r)
        raise
    r.fabric.heal()


def meet(r):
    """Let a little traffic flow until each host knows that the other restores order."""
    with Load(r, 1) as load:
        capable(r.a, V4['b'])
        capable(r.b, V4['a'])
        load.wait(0.5)


def settled(r, timeout=40):
    """Wait until all paths are up, after faults are healed."""
    def look(m):
        return all(row['state'] == 'up' for row in show(m, 'path') if row.get('peer'))
    for m in (r.a, r.b):
        m.poll(lambda m=m: look(m), timeout, 'all paths of %s are up' % m.name, interval=0.3)


def rate_of(r, qps, seconds=SECONDS):
    """MB/s of a stream, the Load itself."""
    with Load(r, qps, FULL_PATHS) as load:
        load.wait(seconds)
    return load.server['MBps'], load


def with_qps(test):
    """The test, for each number of queue pairs."""
    @functools.wraps(test)
    def tested(r):
        for qps in QPS:
            test(r, qps)
    return tested


# 1: carrier; 2: blackholes.

class Stalls:
    """How long machines stood still: by a real-time task in each, that samples a clock."""

    def __init__(self, r):
        self.samplers = [m.sampler('lo', 5) for m in (r.a, r.b, r.f)]

    def longest(self):
        """End it: the longest time, ms."""
        rows = [sampler.stop().rows for sampler in self.samplers]
        return 1e3 * max(after[0] - before[0] for row in rows
                         for before, after in zip(row, row[1:]))


class Faults:
    """A fault that came and went under load, a few times while no machine stood still.

    gap                 median of the longest time without a completion, ms above undisturbed
    naks, retransmits   of the worst time
    told                median of what the fault returned
    """

    def __init__(self, r, qps, fault, is_rocepath=True):
        trials = []
        with Load(r, qps) as self.load:
            while len(trials) < TRIES and sum(t[0] <= STALL_MS for t in trials) < REPEATS:
                trials.append(self._trial(r, fault, is_rocepath))
        trials = sorted(trials)[:REPEATS]
        self.calm = trials[-1][0] <= STALL_MS
        self.naks, self.retransmits = (max(t[1][i] for t in trials) for i in (0, 1))
        self.told = statistics.median(t[4] or 0 for t in trials)
        gaps = []
        for stall, counted, at, end, told in trials:
            still, gap = self.load.gap(at - WINDOW, at - 0.02), self.load.gap(at - 0.02, end)
            ksft.say('gap %.1f ms, undisturbed %.1f; %d NAKs, %d retransmissions; a machine stood '
                     'still for %.1f ms; %s' % (gap, still, *counted, stall, told))
            gaps.append(gap - still)
        self.gap = max(0, statistics.median(gaps))

    def _trial(self, r, fault, is_rocepath):
        stalls = Stalls(r)
        self.load.wait(WINDOW)
        before, at = self.load.counted(), r.a.clock()
        told = fault()
        self.load.wait(WINDOW)
        end = r.a.clock()
        r.fabric.heal()
        if is_rocepath:
            settled(r)
        counted = [after - was for after, was in zip(self.load.counted(), before)]
        return stalls.longest(), counted, at, end, told

    def check(self, most_gap, most_told=None):
        """No QP failed; in a whole measurement, none noticed anything but a short pause."""
        self.load.whole()
        if not FULL:
            return
        ksft.true(self.calm, 'machines stood still all the time: a quiet host is needed')
        ksft.eq((self.naks, self.retransmits), (0, 0), 'NAKs, retransmissions')
        ksft.le(self.gap, most_gap, 'ms above the undisturbed gap')
        if most_told is not None:
            ksft.le(self.told, most_told)


@with_qps
def carrier_cut(r, qps):
    """One of two ports loses its carrier at full load."""
    with joined(r, ROCEPATH):
        faults = Faults(r, qps, lambda: r.fabric.cut('a-a1'))
        for m in (r.a, r.b):
            conserved(m)
    record('cut_naks', faults.naks, '0')
    record('cut_retransmits', faults.retransmits, '0')
    record('cut_gap_ms', faults.gap, '<= %d' % GAP_MOST_MS)
    faults.check(GAP_MOST_MS)


@with_qps
def carrier_cut_at_the_receiver(r, qps):
    """The same with the receiver's port: the fabric takes the peer link, some are lost."""
    with joined(r, ROCEPATH):
        faults = Faults(r, qps, lambda: r.fabric.cut('b-b1'))
    faults.check(BLIND_MS + GAP_MOST_MS)


def carrier_cut_of_bonds(r):
    """Bonding beside it: it loses what was on the port, and the QP's timer has to find out."""
    gaps = []
    for mode in ('active-backup', 'balance-xor') if FULL else ('active-backup',):
        for qps in QPS:
            with joined(r, 'bond ' + mode):
                busy = busiest(r)
                faults = Faults(r, qps, lambda busy=busy: r.fabric.cut('a-a%d' % busy), False)
            ksft.say('bond %s: gap %.0f ms above, %d completion errors' % (
                mode, faults.gap, faults.load.cq_errors))
            if not faults.load.cq_errors:
                gaps.append(faults.gap)
    # a QP that has died has no gap to tell of
    if gaps:
        record('cut_gap_bond_ms', max(gaps))
    else:
        ksft.say('no QP outlived a cut below a bond: cut_gap_bond_ms is not recorded')


def busiest(r):
    """The number of a's port that carries a flow."""
    with Load(r, 1) as load:
        before = [r.a.stats(port)['tx_packets'] for port in PORTS]
        load.wait(0.5)
        moved = [r.a.stats(port)['tx_packets'] - n for port, n in zip(PORTS, before)]
    return moved.index(max(moved))


def last_data(samples, start, names):
    """When a sampled router last received data by these interfaces, after a time."""
    when = start
    for before, row in zip(samples.rows, samples.rows[1:]):
        for name in names:
            packets, size = (now - then for now, then in zip(row[1][name], before[1][name]))
            if size - packets * CONTROL_BYTES >= DATA_BYTES:
                when = row[0]
    return when


def intervals_in_use(up, down, spine):
    """How long a blackholed spine was still sent data, in intervals. Both by the fabric's clock.

    up, down  samples of what it, and what the leaf behind it, received
    """
    dark = last_data(down, 0, [spine])
    return (last_data(up.between(start=dark), dark, ['a0', 'a1']) - dark) * 1e3 / INTERVAL_MS


@with_qps
def blackhole(r, qps):
    """A spine drops all, or all in one direction, with its carrier up."""
    for towards in (None, 'b', 'a') if FULL else ('b',):

        def fault(towards=towards):
            spine = spine_of_flow(r)
            up = r.fabric.sampler(spine, 2)
            down = r.fabric.sampler('b0', 2)
            r.fabric.blackhole(spine, towards)
            pause(r.f, 0.4)
            up, down = up.stop(), down.stop()
            return None if towards == 'a' else intervals_in_use(up, down, spine)

        with joined(r, ROCEPATH, REPORTS + FEW_PATHS):
            faults = Faults(r, qps, fault)
            for m in (r.a, r.b):
                conserved(m)
        ksft.say('blackhole towards %s: in use for %.1f intervals' % (towards, faults.told))
        record('blackhole_naks', faults.naks, '0')
        record('blackhole_gap_ms', faults.gap, '<= %d' % (BLIND_MS + GAP_MOST_MS))
        if towards != 'a':
            record('blackhole_intervals', faults.told, '<= 3')
        faults.check(BLIND_MS + GAP_MOST_MS, 3)


def blackhole_of_others(r):
    """Plain ECMP and bonding beside it: they never recover, while carrier is up."""
    for how in ('port', 'bond active-backup', 'bond balance-xor') if FULL else ('port',):
        with joined(r, how):
            with Load(r, 1) as load:
                used = spine_of_flow(r)
                r.fabric.blackhole(used, 'b')
                at = received(r.b)
                pause(r.b, 4)
                stuck = received(r.b) - at
                r.fabric.heal()
            ksft.say('%s: a blackholed spine let %d packets in 4 s through' % (how, stuck))
            ksft.ge(load.retransmits, 1, 'it noticed')


def spine_of_flow(r):
    """The spine that most of the traffic of a takes."""
    before = r.fabric.packets()
    pause(r.f, 0.5)
    moved = changes(before, r.fabric.packets())
    return max(fabric.SPINES,
               key=lambda spine: sum(moved.get((spine, leaf), 0) for leaf in ('a0', 'a1')))


# 3: loss.

@with_qps
def loss_on_one_path(r, qps):
    """A spine loses one packet in a hundred, or in twenty: what is left is used whole."""
    with joined(r, ROCEPATH):
        r.fabric.cut('s1')
        rest, _ = rate_of(r, qps)
        r.fabric.heal()
        settled(r)
        for percent in (1, 5) if FULL else (1,):
            r.fabric.loss('s1', percent)
            lossy, load = rate_of(r, qps)
            r.fabric.heal()
            settled(r)
            load.whole()
            ksft.say('%d %%: %.2f MB/s of %.2f' % (percent, lossy, rest))
            record('loss%d_ratio' % percent, lossy / rest, '>= 0.95', 'min')
            reach(lossy / rest, 0.95, '%d %%' % percent)


@with_qps
def loss_on_all_paths(r, qps):
    """All links lose one packet in a thousand."""
    with joined(r, ROCEPATH):
        whole, _ = rate_of(r, qps)
        for spine in fabric.SPINES:
            r.fabric.loss(spine, 0.1)
        lossy, load = rate_of(r, qps)
        load.whole()
    ksft.say('0.1 %%: %.2f MB/s of %.2f' % (lossy, whole))
    record('loss01_all_ratio', lossy / whole, '>= 0.9', 'min')
    reach(lossy / whole, 0.9, 'loss on all')


def loss_without(r):
    """One packet in a hundred without rocepath: go-back-N."""
    with joined(r, 'port'):
        whole, _ = rate_of(r, 1)
        for spine in fabric.SPINES:
            r.fabric.loss(spine, 1)
        lossy, _ = rate_of(r, 1)
    ksft.say('plain, 1 %%: %.3f MB/s of %.3f' % (lossy, whole))
    record('loss1_plain_ratio', lossy / whole, '', 'min')


# 4: a slow link.

@with_qps
def slow_link(r, qps):
    """A link falls to a quarter of its speed: within 100 ms all links are full; no oscillation."""
    seconds = 30 if FULL else 4
    with joined(r, ROCEPATH):
        with Load(r, qps, FULL_PATHS) as load:
            sampler = r.b.sampler('rp0')
            shares = {spine: r.fabric.sampler(spine, 100) for spine in fabric.SPINES}
            load.wait(3)
            slow_at = r.b.clock()
            r.fabric.rate('a0-s1', RATE / 4)
            shared_at = r.f.clock()
            load.wait(seconds)
            shares = {spine: s.stop() for spine, s in shares.items()}
            samples = sampler.stop()
            r.fabric.heal()
        load.whole()
        settled(r)
    before = samples.between(None, slow_at).busy().rate()
    after = samples.between(slow_at + 0.1, slow_at + seconds - 0.5).rate()
    links = 2 * len(fabric.SPINES)
    ratio = after / (before * (links - 0.75) / links)
    filled = before / (links * RATE * 1e6 / 8)
    ksft.say('%.2f MB/s before, %.2f with one link at a quarter' % (before / 1e6, after / 1e6))
    deviation = share_deviation(shares, shared_at)
    reach(filled, 0.85, 'of all links full before: else nothing is slow')
    if filled >= 0.85:
        record('slow_link_ratio', ratio, '>= 0.95', 'min')
        record('slow_link_share_stddev_pct', deviation, '< 5')
    else:
        ksft.say('links were only %.0f %% full: slow_link_ratio is not recorded' % (100 * filled))
    reach(ratio, 0.95, 'of what links can carry')
    if FULL:
        ksft.le(deviation, 5)


def share_deviation(shares, start, window=1.0, settle=1.0):
    """The standard deviation of a link's part of the traffic, in % of all; the worst link's."""
    rates = {}
    for spine, samples in shares.items():
        for leaf in ('a0', 'a1'):
            rates[spine, leaf] = [rate for _, rate in
                                  samples.between(start + settle).rates(window, leaf)]
    count = min(len(row) for row in rates.values())
    totals = [sum(row[i] for row in rates.values()) or 1 for i in range(count)]
    parts = {at: [100 * row[i] / totals[i] for i in range(count)] for at, row in rates.items()}
    for at, row in parts.items():
        ksft.say('%s-%s: %.1f %% of the traffic, standard deviation %.2f' % (
            at[1], at[0], statistics.mean(row), statistics.pstdev(row)))
    return max(statistics.pstdev(row) for row in parts.values())


# Gateways of the ports' own.

def own_gateways(r):
    """Each port has its own gateway, resolved by that port; both carry data, one alone goes on."""
    part(r)
    r.fabric.gateways(anycast=False)
    try:
        for m in (r.a, r.b):
            JOINED[m] = join(r, m, ROCEPATH, REPORTS, via=True)
        meet(r)
        with Load(r, 1) as load:
            load.wait(1)
            carried = {row['port']: row['delivered'] for row in show(r.a, 'path') if row.get('peer')}
            r.fabric.cut('a-a1')
            load.wait(1)
            before = received(r.b)
            load.wait(0.5)
            ksft.ge(received(r.b) - before, 50, 'packets by one port')
            r.fabric.heal()
        load.whole()
        ksft.say('delivered by each port: %s' % carried)
        ksft.true(sorted(carried) == list(PORTS) and min(carried.values()) > 0, carried)
        settled(r)
    finally:
        r.fabric.heal()
        part(r)
        r.fabric.gateways(anycast=True)


# 5: flaps.

def flaps(r):
    """Random links and routers are cut or blackholed, and healed, all the time."""
    count = 1000 if FULL else 10
    choose = random.Random(4)
    what = fabric.links()[:4] + fabric.fabric_links() + list(fabric.SPINES)
    with joined(r, ROCEPATH):
        before = [identity(m) for m in (r.a, r.b)]
        memory = [unreclaimable(m) for m in (r.a, r.b)]
        with Load(r, 8 if FULL else 1) as load:
            for i in range(count):
                victim = choose.choice(what)
                fault = r.fabric.cut if choose.random() < 0.5 else r.fabric.blackhole
                fault(victim)
                pause(r.f, choose.uniform(0, 0.2))
                r.fabric.heal()
                if i % 100 == 99:
                    ksft.say('%d flaps, %s' % (i + 1, load.counted()))
            load.wait(1)
        settled(r, 120)
        for m in (r.a, r.b):
            conserved(m)
        after = [identity(m) for m in (r.a, r.b)]
        grown = [unreclaimable(m) - was for m, was in zip((r.a, r.b), memory)]
    record('flaps', count, '', 'min')
    record('flaps_cq_errors', load.cq_errors, '0')
    ksft.say('memory of the kernel has grown by %s KiB' % grown)
    load.whole()
    ksft.eq(after, before, 'GIDs, MAC')
    ksft.le(max(grown), 4096, 'KiB more')


def identity(m):
    """All that must not change, whatever happens to paths."""
    return m.gids('rxe0'), m.json('ip -j link show dev rp0')[0]['address']


# 6: forgeries.

def control_packets(r):
    """Control packets that a has sent to b, as leaf b0 passes them on."""
    job = r.f.capture('b', '/tmp/control.pcap',
                      'udp dst port 4791 and udp[8] == 0x%x' % roce.CONTROL, ns='b0')
    with Load(r, 1) as load:
        load.wait(2)
    job.kill(2)
    job.wait(check=False)
    return [data for data, _ in roce.frames(r.f.get('/tmp/control.pcap'))]


def forgeries(real, count, choose):
    """Replayed, truncated, changed, and random ones."""
    for i in range(count):
        data = bytearray(choose.choice(real))
        at = choose.randrange(54, len(data))
        if i % 4 == 1:
            data = data[:at]
        elif i % 4 == 2:
            data[at] ^= 1 << choose.randrange(8)
        elif i % 4 == 3:
            data[58:] = choose.randbytes(len(data) - 58)
        yield bytes(data)


def path_states(m):
    """What nobody may move: state and number of failures of each path, and the peers."""
    paths = ('peer', 'port', 'ev', 'state', 'fails')
    peers = ('address', 'state', 'instance', 'restarts')
    return [[row.get(name) for name in names]
            for what, names in (('path', paths), ('peer', peers)) for row in show(m, what)]


def forged(r):
    """Forged, replayed, truncated control packets, from the wire and a local user: none counts."""
    total = 1000000 if FULL else 10000
    choose = random.Random(6)
    with joined(r, ROCEPATH):
        real = control_packets(r)
        ksft.ge(len(real), 20, 'control packets to forge from')
        settled(r)
        lies = list(forgeries(real, 1000, choose))
        before, counters = path_states(r.b), r.b.counters('rp0')
        sent = from_the_wire(r, lies, total * 8 // 10)
        sent += from_a_user(r, total // 10)
        after = path_states(r.b)
        # Here a path may fail that honest packets are crowded out of, but no QP.
        with Load(r, 1) as load:
            sent += from_the_wire(r, lies, total // 10)
            load.wait(0.5)
        grown = changes(counters, r.b.counters('rp0'))
    load.whole()
    refused = {name: n for name, n in grown.items()
               if name.startswith(('rx_control_', 'rx_drop_malformed')) and name != 'rx_control_ok'}
    moved = sum(x != y for x, y in zip(before, after)) + abs(len(before) - len(after))
    ksft.say('%d sent, refused: %s' % (sent, refused))
    record('forged_sent', sent, '', 'min')
    record('forged_moved', moved, '0')
    ksft.eq(moved, 0, 'state moved: %s %s' % (before, after))
    # The rest was lost on its way to a machine that could not keep up.
    ksft.ge(sum(refused.values()), (0.5 if FULL else 0.3) * sent, 'counted')


def from_the_wire(r, frames, count):
    """From leaf b0, again and again."""
    lines = ['0 raw=' + data.hex() for data in frames]
    r.f.put(('\n'.join(lines) + '\n').encode(), '/tmp/lies')
    times = max(1, count // len(lines))
    r.f.run('inject -i b0:b -n %d </tmp/lies' % times, 600)
    return times * len(lines)


def from_a_user(r, count):
    """From a's sockets, without any privilege: like control packets but for the MAC."""
    bth = bytes([roce.CONTROL, 0, 0xff, 0xff, 0, 0xff, 0xff, 0xfe, 0, 0, 0, 0])
    r.a.put((bth + bytes(range(84))) * 1000, '/tmp/datagrams')
    # Each write is a datagram.
    cmd = 'for ((i = 0; i < %d; i++)); do dd if=/tmp/datagrams bs=96 2>/dev/null; done' % (
        count // 1000)
    # In a user namespace of its own it has no capability here.
    r.a.run("busybox unshare -U bash -c '%s >/dev/udp/%s/4791'" % (cmd, V4['b']), 600)
    return count // 1000 * 1000


# 7: caps.

def queues(m):
    """What the repair queues of a machine's flows count, added up."""
    rows = [row[way] for row in show(m, 'flow') for way in ('sent_requests', 'sent_responses')
            if way in row]
    return {name: sum(row[name] for row in rows) for name in (rows[0] if rows else ())}


def caps(r):
    """Memory for repair and for order stays within its caps, the least there are; books add up."""
    keep, hold, over = 65536, 65536, 0
    settings = REPORTS + ' repair-bytes %dB reorder-bytes %dB' % (keep, hold)
    with joined(r, ROCEPATH, settings):
        with Load(r, 8, {8: 4}) as load:
            for spine in fabric.SPINES:
                r.fabric.loss(spine, 1)
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                over += show(r.a, 'device')[0]['kept_bytes'] > keep
                over += show(r.b, 'device')[0]['held_bytes'] > hold
            r.fabric.heal()
            load.wait(0.5)
            flows = queues(r.a)
        c, d = r.a.counters('rp0'), r.b.counters('rp0')
        r.b.poll(lambda: not show(r.b, 'device')[0]['held_bytes'], why='nothing is held')
        for m in (r.a, r.b):
            conserved(m)
    load.whole()
    ksft.say('flows: %s; not kept %d, repaired %d, held %d' % (
        flows, c['tx_unkept'], c['tx_repaired'], d['rx_held']))
    record('caps_exceeded', over, '0')
    ksft.eq(over, 0)
    ksft.ge(c['tx_unkept'] + flows['let_go'], 1, 'the cap was hit')
    ksft.le(flows['repaired'], c['tx_repaired'], 'repaired by flows that live, by all')
    ksft.eq(d['rx_held'], d['rx_released'] + d['rx_expired'] + d['rx_flushed'], 'held ones, later')


TESTS = [carrier_cut, blackhole, loss_on_one_path, slow_link, own_gateways, flaps, forged, caps]
MORE = [carrier_cut_at_the_receiver, loss_on_all_paths, carrier_cut_of_bonds, blackhole_of_others,
        loss_without]


def main():
    """All share one lab."""
    r = racks(programs=('rcstream', 'inject'))
    with r.lab:
        r.lab.start()
        r.fabric.build()
        r.fabric.shape(rate=RATE)
        for m in (r.a, r.b):
            m.run('modprobe bonding max_bonds=0')

        def one(test):
            @functools.wraps(test)
            def wrapped(_a, _b):
                test(r)
            return tidy(wrapped)
        words = [word for word in sys.argv[1:] if word != '--full']
        tests = TESTS + (MORE if FULL or words else [])
        rc = ksft.run([one(test) for test in tests], (r.a, r.b), r.lab, words)
        FIGURES.show()
        sys.exit(rc)


if __name__ == '__main__':
    main()
