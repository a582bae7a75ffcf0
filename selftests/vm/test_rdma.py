#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""QPs of rdma_rxe as rocepath_rdma sets them up: label, class, timers; what it leaves alone; what it costs.

    one machine:  rxe0 on port0 (dummy) 10.0.0.1, rxe1 on port1 10.3.0.1     peers are not there

The fabric, and failure: test_rdma_fabric.py.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import time

from artifacts import module, program
from lab import Lab, ksft
from leaves import Program
from lib import roce
from lib.genl import Family
from lib.initrd import TREE

HERE, PEER = '10.0.0.1', '10.0.0.2'
SPORT = 0xc000      # of EV 0
RTS, SQD, ERR = 3, 4, 6     # as QPs say it themselves
IN_JOB = b'#!/bin/bash\nj=/tmp/cg/slurm/$1; shift; mkdir -p $j; echo $$ >$j/cgroup.procs\nexec "$@"\n'


def figure(name, value, worst):
    """Record a number that the issue asks for."""
    subprocess.run([os.path.join(TREE, 'scripts/figure'), name, str(value), worst], check=True)


class Qps(Program):
    """qpset at work."""

    def __init__(self, m, options='', before='', dev='rxe0', address=HERE, peer=PEER):
        super().__init__(m, '%s qpset -d %s -g %d -G ::ffff:%s %s' % (
            before, dev, m.gid(dev, address), peer, options), 'ready')
        self.numbers = []

    def make(self, n):
        """More of them, not connected yet."""
        self.ask('make %d' % n, 'made')
        self.numbers = [int(line.split()[2]) for line in self.job.lines() if line.startswith('qp ')]
        return self

    def connect(self, *remote):
        """To QPNs; the last one is for all that are left."""
        self.ask('connect ' + ' '.join(str(qpn) for qpn in remote or (0x777,)), 'connected')
        return self

    def show(self):
        """[(state, label, traffic class, timeout, retry)], as ibv_query_qp has them."""
        before = len(self.job.lines())
        self.ask('show', 'shown')
        rows = [line.split() for line in self.job.lines()[before:] if line.startswith('show ')]
        return [tuple(int(word) for word in row[2:]) for row in rows]


def rows(rdma, **values):
    """{QPN: row}, as the module has them."""
    return {row['qpn']: row for row in rdma.dump('qp-get', **values)}


def counters(rdma, name='rxe0'):
    """Of a device."""
    stats = rdma.do('device-get', name=name)['stats']['stat']
    return {stat['name']: stat['value'] for stat in stats}


def grown(before, after):
    """Counters that have changed, and by how much."""
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}


def clean(m, rdma):
    """As after loading."""
    rdma.do('device-set', steering=0, on_failure='notify')
    for name in ('rxe0', 'rxe1'):
        rdma.do('device-set', name=name, exempt=0)
    rdma.do('policy-set')


def port_of(label):
    """The UDP source port that a flow label makes."""
    return SPORT | ((label & 0x3fff) ^ (label >> 14))


def off_until_set(m, rdma):
    """Loaded, it changes nothing: QPs are seen, and have what they asked for."""
    clean(m, rdma)
    before = counters(rdma)
    with Qps(m, '-l 0x12345 -c 0x60 -o 17 -r 5') as q:
        q.make(2).connect()
        ksft.eq(q.show(), [(RTS, 0x12345, 0x60, 17, 5)] * 2)
        found = rows(rdma)
        ksft.eq(sorted(found), sorted(q.numbers))
        row = found[q.numbers[0]]
        ksft.say(json.dumps(row))
        ksft.eq((row['type'], row['state'], row['seen'], row['steered'], row['entropy']),
                ('rc', 'rts', 1, 0, 'asked'))
        ksft.eq((row['flow-label-asked'], row['flow-label'], row['timeout'], row['retry']),
                (0x12345, 0x12345, 17, 5))
        ksft.eq(SPORT + row['ev'], port_of(0x12345))
        ksft.eq((row['comm'], row['local'], row['remote']), ('qpset', HERE, PEER))
    m.poll(lambda: not rows(rdma), 10, 'rows go with their QPs')
    ksft.eq(grown(before, counters(rdma)), {'connected': 2, 'off': 2})
    device = rdma.do('device-get', name='rxe0')
    ksft.eq((device['driver'], device['follows'], device['hooked'], device['steering']),
            ('rxe', 'yes', 1, 0))


def spread(m, rdma):
    """Switched on: each QP has its own EV, in its attributes and on the wire; places come back."""
    clean(m, rdma)
    rdma.do('device-set', name='rxe0', steering=1)
    capture = m.capture('port0', '/tmp/cap', 'udp port 4791')
    with Qps(m) as q:
        q.make(64).connect()
        found = rows(rdma)
        evs = [found[qpn]['ev'] for qpn in q.numbers]
        ksft.eq(len(set(evs)), 64)
        ksft.eq({row['entropy'] for row in found.values()}, {'plan'})
        ksft.eq([port_of(row[1]) - SPORT for row in q.show()], evs)
        plan = {row['ev']: row for row in rdma.dump('plan-get')}
        ksft.eq({ev: plan[ev]['qps'] for ev in evs}, {ev: 1 for ev in evs})
        q.ask('send 1', 'sent')
        m.poll(lambda: len(sent_ports(m)) >= 64, 20, 'all have sent')
        ksft.eq(sent_ports(m), {SPORT + ev for ev in evs})
    capture.kill(signal.SIGINT)
    capture.wait(check=False)
    m.poll(lambda: not rdma.dump('plan-get'), 10, 'plans go with their QPs')


def sent_ports(m):
    """UDP source ports of RoCE in the capture."""
    return {p.sport for p in roce.packets(m.get('/tmp/cap'))}


POLICY = {
    'default_class': 0,
    'class': [
        {'number': 0, 'name': 'other'},
        {'number': 3, 'name': 'training', 'dscp': 26, 'sl': 3, 'timeout': 20, 'retry': 6, 'entropy': 'plan'},
        {'number': 5, 'name': 'storage', 'dscp': 10, 'timeout': 16, 'on-failure': 'error'},
        {'number': 7, 'name': 'left', 'dscp': 46, 'exempt': 1},
    ],
    'rule': [
        {'name': 'jobs', 'class': 3, 'cgroup': '/slurm/job_*'},
        {'name': 'store', 'class': 5, 'cgroup': '/slurm/store*'},
        {'name': 'alone', 'class': 7, 'uid-min': 1234, 'uid-max': 1234},
        {'name': 'types', 'class': 5, 'qp-types': 1 << 3, 'comm': 'qps*', 'device': 'rxe?',
         'remote': '10.0.0.0', 'remote-bits': 120},
    ],
}


def classes(m, rdma):
    """Each job has its class: in the QP's attributes, in the module's rows, on the wire."""
    clean(m, rdma)
    rdma.do('policy-set', **POLICY)
    rdma.do('device-set', steering=1)
    wanted = {
        'job_17': ('training', 'jobs', (RTS, None, 26 << 2 | 1, 20, 6)),
        'store1': ('storage', 'store', (RTS, 0, 10 << 2 | 1, 16, 7)),
        'else': ('other', None, (RTS, 0, 1, 14, 7)),
    }
    for job, (name, rule, attributes) in wanted.items():
        capture = m.capture('port0', '/tmp/cap', 'udp port 4791')
        with Qps(m, '-c 1', '/tmp/in_job ' + job) as q:
            q.make(1).connect()
            row, = rows(rdma).values()
            state, label, *rest = q.show()[0]
            ksft.eq((row['class-name'], row.get('rule'), row['cgroup']), (name, rule, '/slurm/' + job))
            ksft.eq([state, *rest], [attributes[0], *attributes[2:]])
            ksft.eq(bool(label), attributes[1] is None)
            ksft.eq((row['traffic-class-asked'], row['traffic-class']), (1, attributes[2]))
            ksft.eq((row['timeout-asked'], row['timeout'], row['retry-asked'], row['retry']),
                    (14, attributes[3], 7, attributes[4]))
            ksft.eq((row['sl-asked'], row['sl']), (0, 3 if name == 'training' else 0))
            q.ask('send 1', 'sent')
            m.poll(lambda: roce.packets(m.get('/tmp/cap')), 20, 'it has sent')
            ksft.eq({p.tos for p in roce.packets(m.get('/tmp/cap'))}, {attributes[2]})
        capture.kill(signal.SIGINT)
        capture.wait(check=False)
    matched = {row['name']: row['matched'] for row in rdma.dump('rule-get')}
    ksft.eq(matched, {'jobs': 1, 'store': 1, 'alone': 0, 'types': 0})
    ksft.eq([row['name'] for row in rdma.dump('class-get')], ['other', 'training', 'storage', 'left'])
    rdma.do('policy-set', **POLICY)
    ksft.eq({row['name']: row['matched'] for row in rdma.dump('rule-get')}, matched, 'counts stay')


def exempt(m, rdma):
    """A class, a QP and a device may be exempt."""
    clean(m, rdma)
    rdma.do('policy-set', default_class=1, **{
        'class': [{'number': 1, 'name': 'all', 'dscp': 26, 'timeout': 20, 'entropy': 'plan'},
                  {'number': 7, 'name': 'left', 'dscp': 46, 'exempt': 1}],
        'rule': [{'name': 'job', 'class': 7, 'cgroup': '/slurm/left'}]})
    rdma.do('device-set', steering=1)
    asked = [(RTS, 0, 0, 14, 7)]
    with Qps(m, '', '/tmp/in_job left') as q:
        ksft.eq(q.make(1).connect().show(), asked)
        row, = rows(rdma).values()
        ksft.eq((row['class-name'], row['steered'], row['on-failure']), ('left', 0, 'notify'))
    with Qps(m) as q:
        ksft.eq(q.make(1).connect().show()[0][2:], (26 << 2, 20, 7))
        rdma.do('qp-set', device='rxe0', qpn=q.numbers[0], exempt=1)
        ksft.eq([row['exempt'] for row in rows(rdma).values()], [1])
        ksft.eq(q.show()[0][2:], (26 << 2, 20, 7), 'what was set stays')
    rdma.do('device-set', name='rxe0', exempt=1)
    with Qps(m) as q, Qps(m, dev='rxe1', address='10.3.0.1', peer='10.3.0.2') as other:
        ksft.eq(q.make(1).connect().show(), asked)
        ksft.eq(other.make(1).connect().show()[0][2:], (26 << 2, 20, 7), 'the other device is not')
        ksft.eq({row['device'] for row in rdma.dump('qp-get', device='rxe1')}, {'rxe1'})


def types(m, rdma):
    """UC has no timers; UD is left alone; what a driver must refuse it still refuses."""
    clean(m, rdma)
    rdma.do('policy-set', default_class=1, **{
        'class': [{'number': 1, 'name': 'all', 'dscp': 26, 'timeout': 20, 'retry': 3, 'entropy': 'plan'}]})
    rdma.do('device-set', steering=1)
    before = counters(rdma)
    with Qps(m, '-t uc') as q:
        q.make(2).connect()
        ksft.eq([row[0:1] + row[2:3] for row in q.show()], [(RTS, 26 << 2)] * 2)
        ksft.eq([(row['type'], 'timeout' in row, row['steered']) for row in rows(rdma).values()],
                [('uc', False, 1)] * 2)
    ksft.eq(grown(before, counters(rdma)),
            {'connected': 2, 'steered': 2, 'label_set': 2, 'traffic_class_set': 2})
    before = counters(rdma)
    with Qps(m, '-t ud') as q:
        ksft.eq(q.make(2).connect().show()[0][0], RTS)
        ksft.eq(rows(rdma), {})
    ksft.eq(grown(before, counters(rdma)), {'qp_type': 2})
    with Qps(m) as q:
        first, second = (int(word) for word in q.ask('wrong'))
        ksft.true(first and second, 'refused with %d and %d' % (first, second))


def refused_rtr(m, rdma):
    """A QP that the driver refuses, and that connects then, has one place; connected, it keeps it when refused again."""
    clean(m, rdma)
    rdma.do('device-set', steering=1)
    with Qps(m) as q:
        q.make(3).ask('refuse', 'refused')
        ksft.true(all(int(line.split()[2]) for line in q.job.lines() if line.startswith('refused ')), 'refused')
        q.connect()
        had = {qpn: row['ev'] for qpn, row in rows(rdma).items()}
        ksft.eq(len(set(had.values())), 3)
        shown = q.show()
        q.ask('refuse', 'refused')
        ksft.eq({qpn: row['ev'] for qpn, row in rows(rdma).items()}, had)
        ksft.eq(sorted(row['ev'] for row in rdma.dump('plan-get') if row['qps']), sorted(had.values()))
        ksft.eq(q.show(), shown)
    ksft.eq((rows(rdma), rdma.dump('plan-get')), ({}, []))


def keyless(m, rdma):
    """Without a key no peer is looked for; what is wanted is known all the same, until its QPs go, or a key comes."""
    clean(m, rdma)
    rdma.do('device-set', steering=1)
    with Qps(m) as q:
        q.make(3).connect()
        wanted = sorted(row['ev'] for row in rows(rdma).values())
        ksft.eq(sorted(row['ev'] for row in rdma.dump('path-get')), wanted)
        # the work would have run four times
        time.sleep(1)
        ksft.eq(rdma.dump('peer-get'), [])
        rdma.do('key-set', id=1, secret=bytes(16))
        m.poll(lambda: [row['remote'] for row in rdma.dump('peer-get')] == [PEER], 10, 'it is looked for')
        rdma.do('key-del', id=1)
        q.ask('destroy', 'destroyed')
    with Qps(m, dev='rxe1', address='10.3.0.1', peer='10.3.0.2') as q:
        q.make(3).connect()
        ksft.eq(len([row for row in rdma.dump('path-get') if row['device'] == 'rxe1']), 3)
        q.ask('destroy', 'destroyed')
    ksft.eq([row for row in rdma.dump('path-get') if row['device'] == 'rxe1'], [], 'nothing is kept')


def refused(m, rdma):
    """Requests that cannot be, each with a reason; and those of users who may not."""
    clean(m, rdma)
    for words, command, values in (
            ('No such RDMA device', 'device-get', {'name': 'nope'}),
            ('Which RDMA device is exempt', 'device-set', {'exempt': 1}),
            ('a number and a name', 'policy-set', {'class': [{'number': 1}]}),
            ('same number', 'policy-set', {'class': [{'number': 1, 'name': 'a'}, {'number': 1, 'name': 'b'}]}),
            ('class is not among', 'policy-set', {'rule': [{'name': 'r', 'class': 1}]}),
            ('default class is not', 'policy-set', {'default_class': 1}),
            ('named twice', 'plan-set', {'device': 'rxe0', 'local': HERE, 'remote': PEER,
                                         'evs': [{'ev': 1, 'path': 1}, {'ev': 1, 'path': 2}]}),
            ('does not have this address', 'plan-set', {'device': 'rxe0', 'local': PEER, 'remote': HERE}),
            ('does not have this EV', 'path-set', {'device': 'rxe0', 'local': HERE, 'remote': PEER,
                                                   'ev': 1, 'state': 'down'}),
            ('No QP of this number', 'qp-set', {'device': 'rxe0', 'qpn': 0xfffff, 'exempt': 1}),
    ):
        ksft.isin(words, rdma.refusal(command, **values))
    ksft.eq(rdma.do('policy-get'), {'generation': 0, 'classes': 0, 'rules': 0})
    may_not = m.run("su -s /bin/bash nobody -c 'genl rocepath_rdma %d dump -; genl rocepath_rdma events listen'"
                    " </dev/null" % rdma.commands['qp-get'][0], check=False)
    ksft.true('ready' not in may_not.out and may_not.err, may_not.err)


def before_and_after(m, rdma):
    """QPs from before the module are left alone, and outlive it."""
    clean(m, rdma)
    m.run('rmmod rocepath_rdma')
    with Qps(m) as old:
        old.make(3).connect()
        asked = old.show()
        m.run('modprobe rocepath_rdma')
        rdma.do('device-set', steering=1, on_failure='error')
        ksft.eq(rows(rdma), {})
        one = rdma.do('qp-get', device='rxe0', qpn=old.numbers[0])
        ksft.eq((one['seen'], one['state'], one['remote'], one['steered']), (0, 'rts', PEER, 0))
        ksft.isin('No QP', rdma.refusal('qp-set', device='rxe0', qpn=old.numbers[0], exempt=1))
        with Qps(m) as new:
            new.make(3).connect()
            ksft.eq(len(rows(rdma)), 3)
            ksft.eq(old.show(), asked)
            had = new.show()
            m.run('rmmod rocepath_rdma')
            ksft.eq((old.show(), new.show()), (asked, had), 'nothing changes when it goes')
    m.run('modprobe rocepath_rdma')


def thousand(m, rdma):
    """1,000 QPs come and go while the policy changes."""
    clean(m, rdma)
    rdma.do('device-set', steering=1)
    loop = m.spawn('qploop -g %d -G ::ffff:%s 1000 0 </dev/null' % (m.gid('rxe0', HERE), PEER))
    changes = 0
    while loop.running():
        rdma.do('policy-set', **(POLICY if changes % 2 else {}))
        rdma.dump('qp-get')
        changes += 1
    loop.wait(check=False)
    ksft.say('%d policies meanwhile' % changes)
    ksft.ge(changes, 5)
    m.poll(lambda: not rows(rdma), 20, 'no row is left')
    ksft.eq(rdma.dump('plan-get'), [])
    ksft.ge(counters(rdma)['connected'], 1000)
    ksft.eq(counters(rdma)['untracked'], 0)


def removal(m, rdma):
    """The device goes with QPs on it, and comes again; so does its driver."""
    clean(m, rdma)
    rdma.do('device-set', steering=1)
    with Qps(m) as q:
        q.make(20).connect()
        # rdma_rxe cannot take a device from a program that has it open: its removal waits for that
        removed = m.spawn('rdma link del rxe0')
    removed.wait(30)
    ksft.eq([row['name'] for row in rdma.dump('device-get')], ['rxe1'])
    ksft.eq(rows(rdma), {})
    m.run('rdma link del rxe1; rmmod rdma_rxe; modprobe rdma_rxe')
    ksft.eq(rdma.dump('device-get'), [])
    m.rxe('port0', 'rxe0')
    m.rxe('port1', 'rxe1')
    with Qps(m) as q:
        q.make(1).connect()
        ksft.eq([row['steered'] for row in rows(rdma).values()], [1], 'settings are for those to come, too')


def failing(m, rdma):
    """EVs that an operator takes out: error ends their QPs; move waits until they drain, and their end does not hang."""
    clean(m, rdma)
    rdma.do('device-set', steering=1, on_failure='error')
    # nobody acknowledges, and without a timeout they wait for ever
    with Qps(m, '-o 0') as q:
        q.make(4).connect()
        q.ask('send 2', 'sent')
        evs = [rows(rdma)[qpn]['ev'] for qpn in q.numbers]
        with rdma.events('events') as events:
            rdma.do('path-set', device='rxe0', local=HERE, remote=PEER, ev=evs[1], state='down')
            m.poll(lambda: [row for _, row in events.rows if row['type'] == 'errored'], 10, 'it has ended')
            down = [row for _, row in events.rows if row['type'] == 'path-down'][0]
        ksft.eq(([qp['qpn'] for qp in down['qp']], down['reason']), ([q.numbers[1]], 'told'))
        ksft.eq([row[0] for row in q.show()], [RTS, ERR, RTS, RTS])
        m.poll(lambda: [line for line in q.job.lines() if line.startswith('error 1 ')], 10, 'it knows')
        rdma.do('qp-set', device='rxe0', qpn=q.numbers[2], exempt=1)
        rdma.do('path-set', device='rxe0', local=HERE, remote=PEER, ev=evs[2], state='down')
        rdma.do('device-set', on_failure='move')
        rdma.do('path-set', device='rxe0', local=HERE, remote=PEER, ev=evs[3], state='down')
        m.poll(lambda: q.show()[3][0] == SQD or counters(rdma)['move_failed'], 10, 'it is told to move')
        ksft.eq([row[0] for row in q.show()[:3]], [RTS, ERR, RTS], 'one is exempt')
        q.ask('destroy', 'destroyed')
    m.poll(lambda: not rows(rdma), 10, 'they are gone')
    ksft.say('%s: moves: %s, waited: %d' % (m.run('uname -r').out.strip(), rdma.do('device-get', name='rxe0')['moves'],
                                           counters(rdma)['waited']))


# the last of ten rules matches, and everything is set
COSTLY = {
    'class': [{'number': 1, 'name': 'all', 'dscp': 26, 'sl': 3, 'timeout': 20, 'retry': 6, 'entropy': 'plan'}],
    'rule': [{'name': 'r%d' % i, 'class': 1, 'cgroup': '/slurm/job_%d/*' % i} for i in range(9)] +
            [{'name': 'last', 'class': 1, 'comm': 'qp*'}],
}


def cost(m, rdma):
    """The time that a QP needs to connect, with and without, in turns."""
    clean(m, rdma)
    times = {False: [], True: []}
    with Qps(m) as q, Qps(m) as others:
        for turn in range(24):
            on = bool(turn % 2)
            m.run('modprobe rocepath_rdma' if on else 'rmmod rocepath_rdma')
            if on:
                rdma.do('policy-set', **COSTLY)
                rdma.do('device-set', steering=1)
                # it is not the first one to that peer
                others.make(1).connect()
            # what loading and unloading leave to be done later, and translated anew by QEMU
            q.ask('time 200')
            times[on].append([int(word) for word in q.ask('time 200')])
            others.ask('destroy', 'destroyed')
    for i, what in enumerate(('RTR and RTS', 'all of it')):
        plain, ours = (statistics.median(row[i] for row in times[on]) for on in (False, True))
        ksft.say('%s: %.1f us without, %.1f us with: %.3f' % (what, plain / 1e3, ours / 1e3, ours / plain))
    figure('connect_cost_ratio', round(ours / plain, 4), 'worst-is-max')
    # the goal is 1.05, for a quiet host: see the figure
    ksft.le(ours / plain, 1.25)


KERNELS = os.environ.get('ROCEPATH_KERNEL', '6.12 6.1').split()
COST = [cost]
TESTS = [off_until_set, spread, classes, exempt, types, refused_rtr, keyless, refused, before_and_after, thousand, failing, removal]


def run(kernel, tests, words, smp=2):
    """Some tests in a machine of a kernel. Returns whether one failed."""
    files = {'/bin/' + name: program(name) for name in ('genl', 'qpset', 'qploop')}
    with Lab(kernel, files=files) as lab:
        lab.modules += [module(lab.kernel, 'rocepath_rdma'), module(lab.kernel)]
        m = lab.machine('a', nics=0, smp=smp)
        lab.start()
        if tests is not COST:
            # which has probes at the same places
            m.run('modprobe rocepath')
        m.put(IN_JOB, '/tmp/in_job', 0o755)
        m.run('mkdir -p /tmp/cg && mount -t cgroup2 none /tmp/cg; mkdir -p /tmp/cg/slurm; modprobe rocepath_rdma;'
              'ip link add port0 type dummy; ip link add port1 type dummy')
        for i, net in enumerate(('10.0.0', '10.3.0')):
            m.up('port%d' % i, net + '.1/24')
            m.run('ip neigh add %s.2 lladdr 02:00:00:00:00:02 dev port%d nud permanent' % (net, i))
            m.rxe('port%d' % i, 'rxe%d' % i)
        return bool(ksft.run(tests, (m, Family(m, 'rocepath_rdma')), lab, words))


def main():
    """On both kernels; what it costs on one CPU, for ib_core waits for a work that any other may do."""
    bad = False
    for kernel in KERNELS:
        bad |= run(kernel, TESTS, sys.argv[1:])
    bad |= run(KERNELS[0], COST, sys.argv[1:], smp=1)
    sys.exit(bad)


if __name__ == '__main__':
    main()
