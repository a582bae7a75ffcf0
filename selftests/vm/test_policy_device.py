#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Policies and the module: devices, ports, keys and schedulers of a policy file; ports that come later; bonds.

      rp0         far (a namespace)
       |  p0 ------ l0
       |- p1 ------ l1
       '- p2 ------ l2   comes later
"""

import re
import sys
import time

from lab import ksft
from rocepath_lab import KEY, port, rocepath_lab, show

POLICY = '''version: 1
devices:
  - name: rp0
    ports: [p0, {name: p1, weight: 3}, p2]
    addresses: [10.0.0.1/24, "fd00::1/64"]
    scheduler: spray
    evs: 8
    gap-floor: 2ms
    report-interval: 2ms
    repair-depth: 512
    repair-flow-bytes: 1MiB
    repair-bytes: 32MiB
    loss-threshold: 0.5%
    probe-interval: never
    probes-per-second: 100
    key: {id: 7, secret-file: /tmp/secret}
classes:
  - {name: bulk, scheduler: flow}
  - {name: training}
default-class: training
rules:
  - {name: b, match: {uid: 7}, class: bulk}
'''


def apply(m, text, check=True):
    """Apply a policy."""
    m.put(text.encode(), '/tmp/policy.yaml')
    return m.run('rocepath apply /tmp/policy.yaml', timeout=120, check=check)


def wire(m, number):
    """A port that may come."""
    m.run('ip link add p%d type veth peer name l%d netns far && ip -n far link set l%d up' % ((number,) * 3))


def attached(m, device):
    """What of ours is attached to a netdevice, once: (hook, program), TCX being tc."""
    found = [(row['hook'].replace('tcx', 'tc'), row['name']) for row in m.json('rocepath -j status')
             if row['netdevice'] == device and row['by'] == 'rocepath']
    ksft.eq(len(found), len(set(found)), found)
    return set(found)


def admits(found):
    """Admission, in one of its two ways."""
    return {('xdp', 'admit'), ('xdp', 'admit_linear'), ('tc ingress', 'admit_ingress')} & found


def devices(m):
    """apply makes the device with all that belongs to it; the same again changes nothing."""
    m.put(KEY.encode() + b'\n', '/tmp/secret', 0o600)
    job = apply(m, POLICY)
    ksft.isin('there is no netdevice p2', job.err)
    row = show(m, 'device')[0]
    ksft.eq((row['name'], row['scheduler'], row['evs'], row['gap_floor_us'], row['mark_mask']),
            ('rp0', 'spray', 8, 2000, 0x3f00))
    ksft.eq((row['report_interval_us'], row['repair_depth'], row['repair_flow_bytes'], row['repair_bytes'],
             row['loss_threshold_ppm'], row['probe_interval_ms'], row['probes_per_second']),
            (2000, 512, 1 << 20, 32 << 20, 5000, 0, 100))
    for words in ('show', 'show --effective'):
        ksft.eq(m.run('rocepath %s | rocepath diff -' % words).out, '')
    ksft.eq({p['name']: p['weight'] for p in show(m, 'port')}, {'p0': 1, 'p1': 3})
    ksft.eq([(k['id'], k['active']) for k in show(m, 'key', 'rp0')], [(7, True)])
    ksft.isin('10.0.0.1/24', m.run('ip addr show rp0').out)
    ksft.isin('fd00::1/64', m.run('ip addr show rp0').out)
    classes = {c['name']: c['id'] for c in m.json('rocepath -j class show')}
    ksft.eq(m.json('rocepath -j class show dev rp0'), [
        {'device': 'rp0', 'id': classes['bulk'], 'scheduler': 'flow'}])
    ksft.eq(attached(m, 'rp0'), {('tc ingress', 'ingress'), ('tc egress', 'egress')})
    for name in ('p0', 'p1'):
        found = attached(m, name)
        ksft.eq(len(admits(found)), 1, found)
        ksft.eq(found - admits(found), {('tc egress', 'port_egress'), ('qdisc', 'fq')})
    ksft.eq(apply(m, POLICY).out, '')
    ksft.eq(show(m, 'device')[0]['instance'], row['instance'])
    job = apply(m, POLICY.replace(', {name: p1, weight: 3}', '').replace(', scheduler: flow', ''))
    ksft.isin('- devices[rp0].ports[p1].name: p1', job.out)
    ksft.eq([p['name'] for p in show(m, 'port')], ['p0'])
    ksft.eq(attached(m, 'p1'), set())
    ksft.eq(m.json('rocepath -j class show dev rp0'), [])
    m.run('rocepath clean')
    ksft.eq([d['name'] for d in show(m, 'device')], ['rp0'])
    m.run('ip link del rp0')


def paths(m):
    """Gateways and paths of a port: given, changed, taken back; a peer that was chosen for stays, others do not."""
    given = POLICY.replace('[p0,', "[{name: p0, via: [10.0.0.9, 'fd00::9'], paths: "
                           "[{peer: 10.0.0.2, evs: [3, 5-7]}, {peer: 'fd00::2', evs: 1}]},").replace(
                               'report-interval', 'hello-interval: 10ms\n    report-interval')
    other = given.replace("10.0.0.9, 'fd00::9'", '10.0.0.8').replace(", {peer: 'fd00::2', evs: 1}", '')

    def state():
        row = port(m, 'p0')
        return row.get('via4'), row.get('via6'), sorted(p['address'] for p in show(m, 'peer'))

    apply(m, given)
    ksft.eq(state(), ('10.0.0.9', 'fd00::9', ['10.0.0.2', 'fd00::2']))
    ksft.eq(m.run('rocepath show | rocepath diff -').out, '')
    ksft.eq(apply(m, given).out, '')
    # a peer that nothing is heard of goes after some intervals, unless something was chosen for it
    m.run('rocepath path set dev rp0 peer 10.0.0.3 port p0 evs 1,2')
    m.run('rocepath path set dev rp0 peer 10.0.0.3 port p0 evs default')
    m.poll(lambda: '10.0.0.3' not in state()[2], 30, 'the peer without a choice is forgotten')
    ksft.eq(state()[2], ['10.0.0.2', 'fd00::2'])
    job = m.run('rocepath path set dev rp0 peer 10.0.0.4 port p0 evs default', check=False)
    ksft.isin('No such peer', job.err)
    apply(m, other)
    m.poll(lambda: state() == ('10.0.0.8', None, ['10.0.0.2']), 30, 'what is not given any more goes')
    m.run('rocepath device set rp0 peers-max 1')
    job = m.run('rocepath path set dev rp0 peer 10.0.0.5 port p0 evs 1', check=False)
    ksft.isin('raise peers-max', job.err)
    m.run('rocepath clean; ip link del rp0')


def failure(m):
    """What cannot be made leaves the old policy whole, and no device behind."""
    job = apply(m, POLICY.replace('/tmp/secret', '/nonexistent'), check=False)
    ksft.eq(job.rc, 1)
    ksft.isin('/nonexistent: No such file', job.err)
    ksft.eq(show(m, 'device'), [])
    ksft.true('no policy is in force' in m.run('rocepath show', check=False).err)
    apply(m, POLICY)
    before = m.run('rocepath show; rocepath device show rp0 | grep -v held; rocepath status').out
    more = POLICY.replace('evs: 8', 'evs: 16').replace('classes:', '  - {name: rp1, ports: [p1]}\nclasses:')
    ksft.eq(apply(m, more.replace(', {name: p1, weight: 3}', '').replace('[p1]', '[p1], evs: 3')
                  .replace('{name: rp1', '{name: far0'), check=False).rc, 0)
    m.run('ip link del far0')
    apply(m, POLICY)
    wrong = POLICY.replace('evs: 8', 'evs: 16').replace('classes:', '  - {name: l9}\nclasses:')
    m.run('ip link add l9 type dummy')
    job = apply(m, wrong, check=False)
    ksft.eq((job.rc, job.err.count('l9 is there, and is no rocepath device')), (1, 1), job.err)
    after = m.run('rocepath show; rocepath device show rp0 | grep -v held; rocepath status').out
    ksft.eq(re.sub(r'\s+', ' ', after), re.sub(r'\s+', ' ', before))
    m.run('ip link del l9; rocepath clean; ip link del rp0')


def settings(m):
    """(evs, peers-max, scheduler, mask) of rp5, its port's weight and gateway, its classes: no file names all of them."""
    row = [d for d in show(m, 'device') if d['name'] == 'rp5'][0]
    return [row[key] for key in ('evs', 'peers_max', 'scheduler', 'mark_mask')] + [
        [(p['name'], p['weight'], p.get('via4')) for p in show(m, 'port')], m.json('rocepath -j class show dev rp5')]


def roll_back(m):
    """What fails late, or is only tried, puts back what no policy says: of hand-made devices, with a policy before or not."""
    text = """version: 1
devices:
  - {name: rp5, ports: [{name: p0, weight: 9, via: 10.0.0.7}, p1], evs: 32, peers-max: 77, scheduler: spray}
classes: [{name: c, scheduler: flow}, {name: d, scheduler: adaptive}]
"""
    m.run('ip link add rp5 type rocepath; ip link set p0 master rp5; ip link set rp5 up')
    m.run('rocepath device set rp5 evs 5 peers-max 55; rocepath port set p0 weight 5; '
          'rocepath class set dev rp5 id 0 scheduler spray; rocepath class set dev rp5 id 7 scheduler flowlet')
    # the key of a device that is there is read when it has its settings already
    wrong = text.replace('spray}', 'spray, key: {id: 9, secret-file: /nonexistent}}')
    for before in ('', 'version: 1\ninterfaces: [p1]\n'):
        if before:
            apply(m, before)
        was = settings(m)
        job = apply(m, wrong, check=False)
        ksft.eq((job.rc, 'nonexistent' in job.err), (1, True), job.err)
        ksft.eq(settings(m), was, 'failed, before: %r' % before)
        m.put(text.encode(), '/tmp/policy.yaml')
        m.run('rocepath try /tmp/policy.yaml timeout 1 </dev/null', timeout=120, check=False)
        ksft.eq(settings(m), was, 'tried, before: %r' % before)
    m.run('rocepath clean; ip link del rp5')


def late(m):
    """`run` has hot-added ports and late devices within a second; it does not fight who takes them away."""
    m.put(POLICY.encode(), '/tmp/policy.yaml')
    job = m.spawn('exec rocepath run /tmp/policy.yaml')
    m.poll(lambda: 'rp0' in [d['name'] for d in show(m, 'device')] and attached(m, 'p1'), why='it is applied')
    out = m.run('''ip link add p2 type veth peer name l2 netns far; ip -n far link set l2 up
        begun=$(cut -d" " -f1 /proc/uptime)
        pin=/sys/fs/bpf/rocepath/links/port_egress-$(cat /sys/class/net/p2/ifindex)
        until [ -e $pin ] || tc filter show dev p2 egress 2>/dev/null | grep -q port_egress; do sleep 0.05; done
        until tc qdisc show dev p2 | grep -q 'qdisc fq'; do sleep 0.05; done
        echo $begun $(cut -d" " -f1 /proc/uptime)''').out.split()
    took = float(out[1]) - float(out[0])
    ksft.say('a port that was added has the policy, and fq, after %.2f s' % took)
    ksft.eq(port(m, 'p2')['weight'], 1)
    ksft.le(took, 1)
    m.run('ip link del rp0; ip link del p2')
    # that something does not happen can only be waited for: `run` looks twice a second
    time.sleep(1)
    ksft.eq(show(m, 'device'), [])
    m.run('ip link add rp0 type rocepath')
    m.poll(lambda: {p['name'] for p in show(m, 'port')} == {'p0', 'p1'} and
           ('tc egress', 'egress') in attached(m, 'rp0'), 10, 'the late device has the policy')
    row = show(m, 'device')[0]
    ksft.eq((row['evs'], row['gap_floor_us'], row['mark_mask']), (8, 2000, 0x3f00))
    ksft.eq([k['id'] for k in show(m, 'key', 'rp0')], [7])
    ksft.eq(port(m, 'p1')['weight'], 3)
    ksft.isin('10.0.0.1/24', m.run('ip addr show rp0').out)
    ksft.eq([c['scheduler'] for c in m.json('rocepath -j class show dev rp0')], ['flow'])
    # what somebody changes by hand stays; what comes back by hand is as the policy says
    m.run('rocepath device set rp0 evs 4')
    m.run('ip link set p1 nomaster')
    time.sleep(1)
    m.run('ip link set p1 master rp0')
    m.poll(lambda: port(m, 'p1')['weight'] == 3, 10, 'the port has its weight again')
    ksft.eq(show(m, 'device')[0]['evs'], 4)
    job.kill(15)
    job.wait(check=False)
    ksft.eq(attached(m, 'rp0'), {('tc ingress', 'ingress'), ('tc egress', 'egress')})
    m.run('rocepath clean; ip link del rp0')


def by_hand(m):
    """A device that somebody made is told the bits of classes, if a class has a scheduler."""
    m.run('ip link add rp5 type rocepath; ip link set p0 master rp5; ip link set rp5 up')
    apply(m, 'version: 1\ninterfaces: [rp5]\nmark-mask: 0xf0000\n')
    ksft.eq(show(m, 'device')[0]['mark_mask'], 0)
    apply(m, 'version: 1\ninterfaces: [rp5]\nmark-mask: 0xf0000\nclasses: [{name: c, scheduler: flow}]\n')
    ksft.eq(show(m, 'device')[0]['mark_mask'], 0xf0000)
    ksft.eq([c['scheduler'] for c in m.json('rocepath -j class show dev rp5')], ['flow'])
    m.run('rocepath clean; ip link del rp5')


def stacked(m):
    """A bond, a VLAN on it, a team: tc on what has the address, admission and fq at the bottom."""
    for kind in ('bond', 'team'):
        m.run('ip link add top type %s; ip link set p0 down; ip link set p0 master top; ip link set p1 down; '
              'ip link set p1 master top; ip link set top up; ip link add link top name top.184 type vlan id 184; '
              'ip link set top.184 up' % kind)
        apply(m, 'version: 1\ninterfaces: [top.184]\n')
        ksft.eq(attached(m, 'top.184'), {('tc ingress', 'ingress'), ('tc egress', 'egress')}, kind)
        ksft.eq(attached(m, 'top'), set(), kind)
        for name in ('p0', 'p1'):
            found = attached(m, name)
            ksft.eq(len(admits(found)), 1, '%s: %s' % (kind, found))
            ksft.eq(found - admits(found), {('qdisc', 'fq')}, kind)
        m.run('rocepath clean; ip link del top.184; ip link del top')
        ksft.eq(m.run('tc qdisc show dev p0').out.count('clsact'), 0)


TESTS = [devices, paths, failure, roll_back, late, by_hand, stacked]


def main():
    """One machine for all tests."""
    with rocepath_lab() as lab:
        m = lab.machine('policy', nics=0)
        lab.start()
        m.run('modprobe rocepath; ip netns add far')
        for number in (0, 1):
            wire(m, number)
        return ksft.run(TESTS, (m,), lab)


if __name__ == '__main__':
    sys.exit(main())
