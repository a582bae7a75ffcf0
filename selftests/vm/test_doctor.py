#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""rocepath doctor: what is broken it names, and the command that it prints mends it.

      a: rxe0 on eth0 10.0.0.1/24 ----------- b: eth0 10.0.0.3/24
         rxe1 on eth1 10.0.0.2/24 -----------    eth1 10.0.0.4/24

Both ports of a are in one subnet, as in hosts with a flat RoCE network.
"""

import json
import os
import sys

from artifacts import module, tool
from lab import Lab, ksft
from lib.initrd import Kernel

MTU = 4200
GOOD = '''
for i in eth0 eth1; do
    for s in rp_filter=2 arp_ignore=1 arp_announce=2; do sysctl -qw net.ipv4.conf.$i.$s; done
done
for s in rp_filter arp_ignore arp_announce; do sysctl -qw net.ipv4.conf.all.$s=0; done
'''
POLICY = '''version: 1
interfaces: [eth0]
classes: [{name: slow, rate: 10Gbit, dscp: 26}]
default-class: slow
'''


def doctor(m, words=''):
    """What is not ok, by (what, on). The exit code says whether something is bad, and text the same as JSON."""
    job = m.run('ulimit -l unlimited; rocepath -j doctor ' + words, check=False)
    rows = json.loads(job.out)
    bad = [row for row in rows if row['state'] == 'bad']
    ksft.eq((job.rc, job.err), (1 if bad else 0, ''), bad)
    for row in rows:
        ksft.true(row['state'] in ('ok', 'warn', 'bad', 'unknown') and row['found'], row)
        ksft.true(row['state'] != 'ok' or row['fix'] is None, row)
    return {(row['what'], row['on']): row for row in rows if row['state'] != 'ok'}, rows


def usual(m):
    """What is not ok in a machine that is right: virtual NICs tell nothing of DCB, old kernels have no TCX."""
    found, rows = doctor(m)
    old = {('kernel', 'host')} if m.lab.kernel.release.startswith('6.1.') else set()
    ksft.eq({key for key, row in found.items() if row['state'] in ('bad', 'warn')}, old)
    return set(found) - old, rows


def mends(m, what, on, state, how, words=''):
    """Break a thing: doctor names it, and nothing else; do what it says: nothing is left."""
    before = set(doctor(m, words)[0])
    m.run(how)
    found, _ = doctor(m, words)
    ksft.eq(set(found) - before, {(what, on)}, how)
    row = found[what, on]
    ksft.eq(row['state'], state, row)
    text = m.run('rocepath doctor ' + words, check=False).out
    ksft.isin(row['fix'], text)
    ksft.say('%s: %s: %s' % (what, row['found'], row['fix']))
    m.run(row['fix'])
    if what == 'link':
        m.poll(lambda: (what, on) not in doctor(m, words)[0], 10, 'the link is up')
    ksft.eq(set(doctor(m, words)[0]), before, 'after ' + row['fix'])


def right(a, b):
    """A host that is right: each thing was looked at, nothing is bad, each address is a GID."""
    not_known, rows = usual(a)
    ksft.say('not known: %s' % sorted(not_known))
    ksft.eq(not_known - {('signing', 'host')}, {('dcb', 'rxe0'), ('dcb', 'rxe1')})
    looked_at = {row['what'] for row in rows}
    for what in ('kernel', 'signing', 'module', 'backlog', 'jit', 'memlock', 'link', 'gid', 'mtu', 'rp_filter',
                 'arp', 'ecn', 'entropy', 'flow-label'):
        ksft.isin(what, looked_at)
    gids = [row['found'] for row in rows if row['what'] == 'gid']
    for address in ('10.0.0.1', '10.0.0.2', 'fd00::1'):
        ksft.true(any(found.startswith(address + ' is a GID of RoCE v2') for found in gids), gids)
    mtu = [row['found'] for row in rows if row['what'] == 'mtu']
    ksft.eq(mtu, ['QPs have 4096, eth%d %d' % (i, MTU) for i in range(2)])


def one_device(a, b):
    """Devices are named as they are, or as their netdevices; one that is none is refused."""
    for words, devices in (('rxe1', {'rxe1'}), ('eth1', {'rxe1'}), ('rxe0 eth1', {'rxe0', 'rxe1'})):
        _, rows = doctor(a, words)
        ksft.eq({row['on'] for row in rows} - {'host'}, devices)
    job = a.run('rocepath doctor rxe0 rxe9', check=False)
    ksft.eq((job.rc, job.out), (1, ''))
    ksft.isin('rxe9 is no RDMA device', job.err)


def ports_of_one_subnet(a, b):
    """What keeps two ports in one subnet from being two."""
    for key, value, what in (('rp_filter', 1, 'rp_filter'), ('arp_ignore', 0, 'arp'), ('arp_announce', 1, 'arp')):
        mends(a, what, 'rxe1', 'bad', 'sysctl -w net.ipv4.conf.eth1.%s=%d' % (key, value))
    # that of all counts as well
    a.run('sysctl -w net.ipv4.conf.eth0.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0 net.ipv4.conf.all.rp_filter=1')
    found, _ = doctor(a)
    for i in range(2):
        ksft.eq(found['rp_filter', 'rxe%d' % i]['state'], 'bad')
        a.run(found['rp_filter', 'rxe%d' % i]['fix'])
    usual(a)


def link(a, b):
    """A netdevice that is down."""
    mends(a, 'link', 'rxe1', 'bad', 'ip link set eth1 down')
    a.run('ip addr show dev eth1 | grep -q 10.0.0.2')


def address(a, b):
    """A port without an address has no GID that peers could reach."""
    a.run('ip addr del 10.0.0.2/24 dev eth1')
    found, _ = doctor(a)
    row = found['gid', 'rxe1']
    ksft.eq((row['state'], row['fix']), ('bad', 'ip address add ADDRESS/LENGTH dev eth1'))
    a.run(row['fix'].replace('ADDRESS/LENGTH', '10.0.0.2/24'))
    usual(a)


def mtu(a, b):
    """QPs with short packets."""
    mends(a, 'mtu', 'rxe1', 'warn', 'ip link set dev eth1 mtu 1500')
    ksft.isin('mtu %d' % MTU, a.run('ip link show dev eth1').out)


def limits(a, b):
    """Limits of the host."""
    mends(a, 'backlog', 'host', 'warn', 'sysctl -w net.core.netdev_max_backlog=10')
    mends(a, 'flow-label', 'host', 'warn', 'sysctl -w net.ipv6.auto_flowlabels=0')
    job = a.run('ulimit -l 64; rocepath -j doctor', check=False)
    row = next(row for row in json.loads(job.out) if row['what'] == 'memlock')
    ksft.eq((row['state'], row['fix']), ('warn', 'ulimit -l unlimited'))
    if a.run('sysctl -w net.core.bpf_jit_enable=0', check=False).rc == 0 and \
            a.get('/proc/sys/net/core/bpf_jit_enable').strip() == b'0':
        a.run('sysctl -w net.core.bpf_jit_enable=1')
        mends(a, 'jit', 'host', 'warn', 'sysctl -w net.core.bpf_jit_enable=0')


def pacing(a, b):
    """A policy that paces, and somebody who puts another qdisc there."""
    a.put(POLICY.encode(), '/tmp/policy.yaml')
    a.run('rocepath apply /tmp/policy.yaml', timeout=120)
    found, rows = doctor(a)
    ksft.true(('pacing', 'eth0') not in found and any(row['what'] == 'pacing' for row in rows), rows)
    mends(a, 'pacing', 'eth0', 'bad', 'tc qdisc replace dev eth0 root pfifo')
    a.run('rocepath clean', timeout=60)
    ksft.true(not any(row['what'] == 'pacing' for row in doctor(a)[1]))


def modules(a, b):
    """One that is not loaded is no fault with soft-RoCE; one that is has the tool's version."""
    _, rows = doctor(a)
    said = [row['found'] for row in rows if row['what'] == 'module']
    ksft.true(any('rocepath_rdma is not loaded' in found for found in said), said)
    a.run('modprobe rocepath')
    _, rows = doctor(a)
    version = a.run('cat /sys/module/rocepath/version').out.strip()
    ksft.true(any(row['found'] == 'rocepath is loaded, version ' + version for row in rows), rows)
    a.run('rmmod rocepath')


def path_mtu(a, b):
    """Something on the way that drops large packets; and a peer that says nothing."""
    def broken():
        return doctor(a, 'rxe0 peer 10.0.0.3')
    found, rows = broken()
    ksft.true(any(row['what'] == 'path-mtu' and row['state'] == 'ok' for row in rows), rows)
    b.run('tc qdisc add dev eth0 clsact; tc filter add dev eth0 ingress matchall action police '
          'rate 1gbit burst 1m mtu 1600 conform-exceed drop/ok')
    found, _ = broken()
    row = found['path-mtu', 'rxe0']
    ksft.say('%s: %s' % (row['found'], row['fix']))
    ksft.eq((row['state'], row['fix']), ('bad', 'ip link set dev eth0 mtu 1120'))
    ksft.isin('those with 1024 do', row['found'])
    a.run(row['fix'])
    found, _ = broken()
    ksft.true(('path-mtu', 'rxe0') not in found, found)
    b.run('tc qdisc del dev eth0 clsact')
    a.run('ip link set dev eth0 mtu %d' % MTU)
    found, _ = doctor(a, 'rxe0 peer 10.0.0.99')
    ksft.eq(found['path-mtu', 'rxe0']['state'], 'unknown')


def shown_without_module(a, b):
    """`rdma show` needs no module, and says what one would add."""
    rows = a.json('rocepath -j rdma show')
    ksft.eq([(row['device'], row['netdev'], row['driver'], row['state'], row['follows']) for row in rows],
            [('rxe%d' % i, 'eth%d' % i, 'rdma_rxe', 'active', 'yes') for i in range(2)])
    ksft.isin('10.0.0.2', [gid['address'] for gid in rows[1]['gids'] if gid['roce_v2']])
    job = a.run('rocepath rdma show')
    ksft.isin('modprobe rocepath_rdma', job.err)
    ksft.eq(len(job.out.splitlines()), 3, job.out)
    ksft.isin('source port follows flow label', a.run('rocepath rdma show rxe1').out)
    ksft.eq(a.run('rocepath rdma show rxe9', check=False).rc, 1)


def policy_without_module(a, b):
    """A policy for QPs says so where nobody enforces it; one that asks for nothing does not."""
    a.run('mv $(find /lib/modules -name rocepath_rdma.ko) /tmp')
    a.put((POLICY + 'rdma: {steering: on}\n').encode(), '/tmp/policy.yaml')
    job = a.run('rocepath apply /tmp/policy.yaml', timeout=120)
    ksft.isin('is not enforced: the kernel module for RDMA devices is not loaded', job.err)
    ksft.isin('+ rdma.steering: on', job.out)
    ksft.isin('steering: on', a.run('rocepath show').out)
    a.put(POLICY.encode(), '/tmp/policy.yaml')
    job = a.run('rocepath apply /tmp/policy.yaml', timeout=120)
    ksft.eq((job.out, job.err), ('- rdma.steering: on\n', ''))
    a.run('rocepath clean', timeout=60)


def signing(a, b):
    """A kernel that takes only signed modules; ours are not, and it does not take them."""
    a.run('mount -t securityfs none /sys/kernel/security')
    if not a.run('echo integrity >/sys/kernel/security/lockdown', check=False).rc == 0:
        ksft.skip('this kernel has no lockdown')
    found, _ = doctor(a)
    row = found['signing', 'host']
    ksft.say('%s: %s' % (row['found'], row['fix']))
    ksft.eq(row['state'], 'bad')
    ksft.isin('mokutil --import', row['fix'])
    ksft.true(a.run('modprobe rocepath', check=False).rc != 0, 'the kernel takes it')
    a.allow('Lockdown: ')


TESTS = [right, one_device, ports_of_one_subnet, link, address, mtu, limits, pacing, modules, path_mtu,
         shown_without_module, policy_without_module, signing]


def main():
    """One lab for all tests; what one has broken the next one mends first."""
    kernel = Kernel.find(os.environ.get('ROCEPATH_KERNEL') or '6.12')
    built = module(kernel)
    modules_built = [built, os.path.join(os.path.dirname(built), 'rocepath_rdma.ko')]
    with Lab(kernel.dir, files={'/bin/rocepath': tool()}, modules=modules_built) as lab:
        a, b = lab.machine('a', nics=2), lab.machine('b', nics=2)
        for i in range(2):
            lab.cable(a, i, b, i)
        lab.start()
        for m, first in ((a, 1), (b, 3)):
            for i in range(2):
                m.run('ip link set eth%d mtu %d' % (i, MTU))
                m.up('eth%d' % i, '10.0.0.%d/24' % (first + i), *(['fd00::%d/64' % first] if not i else []))
        a.run(GOOD)
        a.rxe('eth0', 'rxe0')
        a.rxe('eth1', 'rxe1')
        sys.exit(ksft.run(TESTS, (a, b), lab))


if __name__ == '__main__':
    main()
