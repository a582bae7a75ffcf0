#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The tool against the module: what it shows, says and advises. One machine.

      rp0         far (a namespace)
       |  p0 ------ l0
       '- p1 ------ l1
"""

import contextlib
import json
import sys

from lab import ksft
from rocepath_lab import key, port, rocepath_lab, show


@contextlib.contextmanager
def device(m):
    """The device of the drawing, up; gone after the block."""
    m.run('''set -e; ip netns add far; ip link add rp0 type rocepath
        for i in 0 1; do
            ip link add p$i type veth peer name l$i netns far
            ip -n far link set l$i up; ip link set p$i master rp0
        done
        ip link set rp0 up''')
    m.poll(lambda: [p['state'] for p in show(m, 'port')] == ['up', 'up'], why='ports are up')
    try:
        yield
    finally:
        m.run('ip link del rp0; ip netns del far')
    m.poll('! ls /sys/class/net | grep -q "^p[0-9]"', why='ports are gone')


def overview(m):
    """The overview of the device, as JSON."""
    rows = m.json('rocepath -j')
    ksft.eq([row['name'] for row in rows], ['rp0'])
    return rows[0]


def advised(m, *texts):
    """These and no other advices are given, in text as in JSON."""
    advice = overview(m)['advice']
    ksft.eq(len(advice), len(texts), advice)
    shown = m.run('rocepath').out
    for line, text in zip(advice, texts):
        ksft.isin(text, line)
        ksft.isin('  ! ', shown)
    if not texts:
        ksft.isin('nothing is wrong', shown)


def nothing_yet(m):
    """Without a device the tool says how to make one."""
    ksft.isin('ip link add rp0 type rocepath', m.run('rocepath').out)
    ksft.eq(m.json('rocepath -j'), [])
    for what in ('device', 'port', 'peer', 'path', 'flow', 'key', 'class'):
        job = m.run('rocepath %s show' % what)
        ksft.eq((job.out, job.err.count('\n')), ('', 1), job.err)
        ksft.eq(m.json('rocepath -j %s show' % what), [])


def what_to_do(m):
    """The overview sees what is wrong and names the next step, which then helps."""
    with device(m):
        advised(m, 'rocepath key set dev rp0 id 1 secret-file FILE')
        key(m)
        advised(m)
        ksft.eq(overview(m)['key_ids'], [1])
        m.run('ip link set p1 down')
        m.poll(lambda: port(m, 'p1')['state'] == 'down')
        advised(m, 'ip link set p1 up')
        ksft.isin('1 of 2 ports up', m.run('rocepath').out)
        m.run('ip link set p1 up')
        m.poll(lambda: port(m, 'p1')['state'] == 'up')
        m.run('ip -n far link set l0 down')
        m.poll(lambda: port(m, 'p0')['state'] == 'down')
        advised(m, 'p0 is down (no carrier)')
        m.run('ip link set rp0 down; ip link set p0 nomaster; ip link set p1 nomaster')
        advised(m, 'ip link set rp0 up', 'ip link set eth0 master rp0')


def settings_round_trip(m):
    """What `device show` prints sets the same again, value by value."""
    with device(m):
        m.run('rocepath device set rp0 gap-timeout 1.5ms mark-mask 0x3f00 reorder-bytes 96MiB '
              'holddown 1.25s entropy flowlabel scheduler flow report-interval 2.5ms loss-threshold 0.25% '
              'probe-interval never repair-depth 100')
        lines = dict(line.split(None, 1) for line in m.run('rocepath device show rp0').out.splitlines())
        for name, value in (('gap-timeout', '1.5ms'), ('mark-mask', '0x3f00'), ('reorder-bytes', '96MiB'),
                            ('holddown', '1.25s'), ('entropy', 'flowlabel'), ('scheduler', 'flow'),
                            ('report-interval', '2.5ms'), ('loss-threshold', '0.25%'),
                            ('probe-interval', 'never'), ('repair-depth', '100')):
            ksft.eq(lines[name], value)
        before = show(m, 'device')[0]
        words = m.run('rocepath completion-words device set rp0').out.split()
        ksft.ge(len(words), 21)
        m.run('rocepath device set rp0 ' + ' '.join('%s %s' % (w, lines[w]) for w in words))
        after = show(m, 'device')[0]
        for row in (before, after):
            del row['stats']
        ksft.eq(after, before)


def gateways(m):
    """A port has a gateway for each family, until it has none."""
    def via():
        row = port(m, 'p0')
        return row.get('via4', 'none'), row.get('via6', 'none')
    with device(m):
        ksft.eq(via(), ('none', 'none'))
        m.run('rocepath port set p0 via 192.0.2.9; rocepath port set p0 via fd00::9 weight 2')
        ksft.eq((*via(), port(m, 'p0')['weight']), ('192.0.2.9', 'fd00::9', 2))
        m.run('rocepath port set p0 via none')
        ksft.eq(via(), ('none', 'none'))


def paths_of_nobody(m):
    """What asks for a peer that is not there is refused, and says what would be."""
    with device(m):
        for words in ('path set dev rp0 peer 192.0.2.1 port p0 evs default', 'path discover 192.0.2.1 dev rp0'):
            job = m.run('rocepath ' + words, check=False)
            ksft.eq((job.rc, job.out), (1, ''), words)
            ksft.isin('No such peer', job.err)
        job = m.run('rocepath path show peer 192.0.2.1')
        ksft.eq((job.out, job.err.count('\n')), ('', 1), job.err)
        ksft.eq({row['state'] for row in show(m, 'path')}, {'up'})


def live_view(m):
    """`top -1` has the device and its ports; without a terminal it says how to get it."""
    with device(m):
        text = m.run('rocepath top -1 -d 0.1 dev rp0').out
        for word in ('DEVICE SCHEDULER', 'rp0', 'p0', 'p1'):
            ksft.isin(word, text)
        found = m.json('rocepath top -j -d 0.1')
        ksft.eq([row['name'] for row in found['ports']], ['p0', 'p1'])
        ksft.isin('rocepath top -1', m.run('rocepath top', check=False).err)


def key_rotation(m):
    """A new key is added unused, made active, and the old one deleted."""
    def keys():
        return {row['id']: row['active'] for row in show(m, 'key', 'rp0')}
    with device(m):
        key(m)
        ksft.eq(keys(), {1: True})
        m.run("printf '0123456789abcdef' | rocepath key set dev rp0 id 2 secret-file - active no")
        ksft.eq(keys(), {1: True, 2: False})
        m.run('rocepath key set dev rp0 id 2 active yes')
        ksft.eq(keys(), {1: False, 2: True})
        ksft.isin('key 2 (active), 1' if overview(m)['key_ids'] == [2, 1] else 'key 1, 2 (active)',
                  m.run('rocepath').out)
        m.run('rocepath key del dev rp0 id 1')
        ksft.eq(keys(), {2: True})


def classes(m):
    """A class has a scheduler of its own until that is deleted."""
    with device(m):
        m.run('rocepath class set dev rp0 id 63 scheduler flow')
        ksft.eq(show(m, 'class', 'rp0'), [{'device': 'rp0', 'id': 63, 'scheduler': 'flow'}])
        m.run('rocepath class del dev rp0 id 63')
        ksft.eq(show(m, 'class', 'rp0'), [])


def counters(m):
    """`stats show` has what ethtool has, by the same names."""
    with device(m):
        rows = m.json('rocepath -j stats show')
        ksft.eq([(row['kind'], row['name']) for row in rows], [('device', 'rp0'), ('port', 'p0'), ('port', 'p1')])
        names = set(m.counters('rp0'))
        for row in rows:
            prefix = row['name'] + '_' if row['kind'] == 'port' else ''
            for name in row['stats']:
                ksft.isin(prefix + name, names)
                names.discard(prefix + name)
        ksft.eq(names, set(), 'only ethtool has them')
        ksft.eq([row['name'] for row in m.json('rocepath -j stats show p1')], ['p1'])
        ksft.isin('no rocepath device', m.run('rocepath stats show lo', check=False).err)


def events(m):
    """`monitor` prints each event once, as text and as JSON, of one device or of all."""
    with device(m):
        m.run('ip link add rp1 type rocepath')
        every, text, other = (m.spawn('rocepath ' + words)
                              for words in ('-j monitor', 'monitor dev rp0', 'monitor dev rp1'))
        # it listens as soon as its socket is in a group; the other sockets of the family are in none
        m.poll('[ $(grep -cE "^[0-9a-f]+ 16 +[0-9]+ +0*[1-9a-f]" /proc/net/netlink) -ge 3 ]', why='monitors listen')
        m.run('ip -n far link set l1 down')
        m.poll(lambda: 'p1 ' in text.out or 'p1:' in text.out, why='the event')
        ksft.isin(' rp0 port-down p1: no carrier', text.lines()[0])
        m.poll(lambda: every.lines())
        event = json.loads(every.lines()[0])
        ksft.eq((event['type'], event['device'], event['port'], event['reason']),
                ('port-down', 'rp0', 'p1', 'no carrier'))
        ksft.le(abs(event['time_ns'] / 1e9 - float(m.run('date +%s').out)), 60)
        ksft.eq(other.out, '')
        for job in (every, text, other):
            job.kill()
            job.wait(check=False)
        m.run('ip link del rp1')


def completion(m):
    """Names of devices and ports are completed."""
    with device(m):
        for words, expected in (('device set', ['rp0']), ('port set', ['p0', 'p1']), ('stats show', ['rp0', 'p0', 'p1']),
                                ('key set dev', ['rp0'])):
            ksft.eq(m.run('rocepath completion-words ' + words).out.split(), expected, words)


TESTS = [nothing_yet, what_to_do, settings_round_trip, gateways, paths_of_nobody, live_view, key_rotation, classes, counters, events, completion]


def main():
    """One machine for all tests."""
    with rocepath_lab() as lab:
        m = lab.machine('tool', nics=0)
        lab.start()
        m.run('modprobe rocepath')
        return ksft.run(TESTS, (m,), lab)


if __name__ == '__main__':
    sys.exit(main())
