#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""No memory: each allocation that a command makes in the kernel fails once, and packets' now and then.

Needs a kernel with fault injection, as `make check-debug` has. The topology is that of hosts.py.
"""

import collections
import json
import random
import re

from hosts import PORTS, V4, Stream, main
from lab import ksft
from rocepath_lab import capable, conserved, counted, show

DEBUGFS = '/sys/kernel/debug'
MANY = 2000             # allocations of one command: more means that it does not end
SHARE = 5               # per cent of the module's allocations that fail under traffic
FAULTS = 1000000        # that a kernel may make of each kind: it counts down from there
# What the kernel says when memory is short is no complaint about us.
SHORT = r'FAULT_INJECTION|page allocation failure|Call Trace|SLUB: Unable'

# A command, and what undoes it.
Step = collections.namedtuple('Step', 'do undo')
STEPS = (
    Step('ip link add rpf type rocepath', 'ip link del rpf'),
    Step('rocepath device set rpf scheduler adaptive evs 8 report-interval 20ms',
         'rocepath device set rpf scheduler spray evs 16 report-interval 1ms'),
    Step('rocepath key set dev rpf id 1 secret-file /tmp/key', 'rocepath key del dev rpf id 1'),
    Step('ip link set rpf up', 'ip link set rpf down'),
    Step('ip link set vf0 master rpf', 'ip link set vf0 nomaster'),
    Step('rocepath port set vf0 weight 7', 'rocepath port set vf0 weight 1'),
    Step('ip link set vf0 nomaster', 'ip link set vf0 master rpf'),
    Step('rocepath -j device show', ''),
    Step('rocepath -j port show', ''),
    Step('rocepath -j peer show', ''),
    Step('rocepath -j path show', ''),
    Step('rocepath -j flow show', ''),
    Step('ethtool -S rpf', ''),
    Step('ip link del rpf', 'ip link add rpf type rocepath'),
)
LOOK = 'rocepath -j device show; rocepath -j port show; rocepath -j key show'
# of devices, ports and keys: what nobody has set
VOLATILE = ('ifindex', 'instance', 'stats', 'flaps', 'state', 'holddown_left_ms', 'share_permille', 'peers')


def settings(text):
    """What LOOK shows of the device and its port, but for what changes by itself."""
    rows, at, decoder = [], 0, json.JSONDecoder()
    while at < len(text):
        found, end = decoder.raw_decode(text[at:])
        rows += found
        at += end + len(text[at + end:]) - len(text[at + end:].lstrip())
    return [{name: value for name, value in row.items() if name not in VOLATILE} for row in rows
            if 'rpf' in row.values() or row.get('name') == 'vf0']


def quiet(m):
    """The kernel need not tell of each fault; any allocation may fail, those that could wait as well."""
    m.run('mount -t debugfs none {0} 2>/dev/null; cd {0}; for f in failslab fail_page_alloc fail_function; do\n'
          'echo 0 >$f/verbose; [ ! -e $f/ignore-gfp-wait ] || echo N >$f/ignore-gfp-wait\n'
          'done; echo N >fail_page_alloc/ignore-gfp-highmem; echo 0 >fail_page_alloc/min-order'.format(DEBUGFS))
    m.allow(SHORT)


def fail_nth(m, step, n, before, after):
    """The n-th allocation fails. Returns whether there was one, and whether the command did without."""
    run = m.run('failnth %d /tmp/failed %s >/dev/null 2>/tmp/why; rc=$?; %s; exit $rc' % (n, step.do, LOOK),
                check=False)
    call, _ = m.get('/tmp/failed').decode().split()
    what = '%s: allocation %d, in %s' % (step.do, n, call)
    ksft.true(run.rc < 124, '%s: ended by %d' % (what, run.rc))
    if run.rc:
        ksft.true(m.get('/tmp/why').strip(), what + ': no word of why it failed')
    ksft.eq(settings(run.out), before if run.rc else after, what)
    if not run.rc and step.undo:
        m.run(step.undo)
    return call != 'none', not run.rc


def commands(a, _b, _lab):
    """Each command either does what it should, or says why not and leaves all as it was."""
    quiet(a)
    a.run('ip link add vf0 type veth peer vf1; ip link set vf1 up')
    for step in STEPS:
        if step.undo:
            a.run('%s; %s' % (step.do, step.undo))
        before = settings(a.run(LOOK).out)
        a.run(step.do)
        after = settings(a.run(LOOK).out)
        if step.undo:
            a.run(step.undo)
        did = failed = 0
        for n in range(1, MANY):
            reached, done = fail_nth(a, step, n, before, after)
            if not reached:
                break
            did, failed = did + done, failed + (not done)
        ksft.true(not reached, '%s: more than %d allocations' % (step.do, MANY))
        ksft.ge(did + failed, 1, '%s: allocations that failed' % step.do)
        ksft.say('%s: %d allocations failed: %d times it failed, %d times it did without' % (
            step.do, did + failed, failed, did))
        if step.undo:
            a.run(step.do)
    a.run('ip link del vf0')


POLICY = '''version: 1
interfaces: ["vf*"]
admit: {peers: [10.0.%d.0/24]}
classes:
  - {name: training, dscp: 26, rate: %dMbit, ecn: on}
  - {name: bulk}
default-class: bulk
rules:
  - {name: mine, match: {uid: 0}, class: training}
'''
POINTS = 24             # allocations of an apply that fail, of the thousands that there are


def in_force(m):
    """The number of the policy in force, which must be whole."""
    numbers = set(re.findall(r'10\.0\.(\d+)\.0/24|\brate: (\d+)Mbit', m.run('rocepath show').out))
    found = {n for pair in numbers for n in pair if n}
    ksft.eq(len(found), 1, 'half a policy: %s' % found)
    return int(found.pop())


def policies(a, _b, _lab):
    """Applying one policy after another, with an allocation that fails: the old one is in force, or the new one."""
    quiet(a)
    a.run('ip link add vf0 type veth peer vf1; ip link set vf0 up; ip link set vf1 up')
    for n in (1, 2):
        a.put((POLICY % (n, n)).encode(), '/tmp/policy%d' % n)
    a.run('rocepath apply /tmp/policy1', 300)
    a.run('failnth 100000000 /tmp/failed rocepath apply /tmp/policy2', 600)
    _, all_of_it = a.get('/tmp/failed').decode().split()
    dice = random.Random(1)
    outcomes = collections.Counter()
    for i in range(POINTS):
        if in_force(a) != 1:
            a.run('rocepath apply /tmp/policy1', 300)
        n = 1 + int(int(all_of_it) * (i + dice.random()) / POINTS)
        run = a.run('failnth %d /tmp/failed rocepath apply /tmp/policy2 >/dev/null' % n, 600, check=False)
        call, _ = a.get('/tmp/failed').decode().split()
        ksft.true(run.rc < 124, 'allocation %d, in %s: ended by %d' % (n, call, run.rc))
        ksft.true(not run.rc or run.err.strip(), 'allocation %d, in %s: no word of why it failed' % (n, call))
        ksft.eq(in_force(a), 1 if run.rc else 2, 'allocation %d, in %s: rc %d: %s' % (n, call, run.rc, run.err))
        outcomes[call, 'failed' if run.rc else 'did without'] += 1
    ksft.say('of %s allocations, %d failed: %s' % (all_of_it, POINTS, dict(outcomes)))
    ksft.ge(sum(count for (call, _), count in outcomes.items() if call != 'none'), POINTS // 2)
    a.run('rocepath clean; ip link del vf0', 300)


def fail_in_module(m, kind, share=SHARE):
    """A share of the allocations that the module makes fails, whoever it makes them for."""
    section = int(m.get('/sys/module/rocepath/sections/.text'), 16)
    size = int(m.get('/sys/module/rocepath/coresize'))
    where = '%s/%s/' % (DEBUGFS, kind)
    for name, value in (('require-start', '0x%x' % section), ('require-end', '0x%x' % (section + size)),
                        ('stacktrace-depth', 16), ('ignore-gfp-wait', 0), ('task-filter', 'N'), ('space', 0),
                        ('times', FAULTS), ('interval', 1), ('probability', share)):
        m.run('[ ! -e {0} ] || echo {1} >{0}'.format(where + name, value))


def faults(m, kind):
    """How many allocations have failed since `fail_in_module`."""
    return FAULTS - int(m.get('%s/%s/times' % (DEBUGFS, kind)))


def no_memory(kind):
    def test(a, b, _lab):
        """Under traffic a share of what the module allocates is refused: packets are counted, QPs go on."""
        for m in (a, b):
            quiet(m)
        with counted(a) as sent, counted(b) as got:
            stream = Stream(b, a, seconds=300, options='-n 4')
            for m in (a, b):
                fail_in_module(m, kind)
            start = b.stats('rp0')['rx_packets']
            b.poll(lambda: b.stats('rp0')['rx_packets'] > start + 5000, 120, 'it goes on')
            failed = [faults(m, kind) for m in (a, b)]
            for m in (a, b):
                fail_in_module(m, kind, 0)
            stream.end()
        for m in (a, b):
            conserved(m)
        ksft.say('allocations that failed: %s' % failed)
        ksft.ge(min(failed), 1, 'allocations that failed')
        ksft.say('a: %s' % sent)
        ksft.say('b: %s' % got)
        capable(a, V4['b'])
        ksft.true(all(row['state'] in ('up', 'probation') for row in show(a, 'path') if row.get('peer')),
                  'no path is down')
    test.__name__ = 'no_memory_' + kind
    return test


def ports_come_and_go(a, b, _lab):
    """The same while ports leave and join, and keys and peers change: all that allocates."""
    for m in (a, b):
        quiet(m)
    stream = Stream(b, a, seconds=300, options='-n 4')
    for m in (a, b):
        fail_in_module(m, 'failslab', 2)
    refused = 0
    for _ in range(20):
        for port in PORTS:
            a.run('ip link set %s nomaster' % port)
            while a.run('ip link set %s master rp0' % port, check=False).rc:
                refused += 1
                ksft.true(refused < 1000, 'a port is refused for ever')
    for m in (a, b):
        fail_in_module(m, 'failslab', 0)
    start = b.stats('rp0')['rx_packets']
    b.poll(lambda: b.stats('rp0')['rx_packets'] > start + 500, 60, 'it goes on')
    ksft.say('%d times a port was refused' % refused)
    stream.end()
    for m in (a, b):
        conserved(m)


if __name__ == '__main__':
    main([commands, policies, no_memory('failslab'), no_memory('fail_page_alloc'), ports_come_and_go],
         programs=('rcstream', 'failnth'))
