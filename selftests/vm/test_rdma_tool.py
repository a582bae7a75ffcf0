#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The tool and the module for RDMA devices: policies for QPs, what is shown of them, events.

      a: rxe0 on eth0 10.0.0.1, fd00::1 ------------- b: rxe0 on eth0 10.0.0.2, fd00::2
"""

import functools
import json
import os
import sys

from artifacts import module, program, tool
from lab import Lab, ksft, start_perf
from lib import roce
from lib.genl import Family
from lib.initrd import Kernel
from test_rdma import IN_JOB

A, B = '10.0.0.1', '10.0.0.2'
TIMEOUT = 18    # as perftest is told: 4.096 us * 2 ** 18
SPORT = 49152
POLICY = '''version: 1
interfaces: [eth0]
rdma:
  steering: on
  on-failure: notify
  probe-interval: 50ms
classes:
  - {name: bulk, dscp: 8}
  - {name: training, dscp: 26, service-level: 3, timeout: 1.07s, retry: 5, on-failure: move}
  - {name: own, entropy: asked}
  - {name: left-alone, exempt: on}
default-class: bulk
rules:
  - {name: large, match: {comm: ib_write_bw, message-min: 1MiB}, class: own}
  - {name: writers, match: {comm: ib_write_bw}, class: training}
  - {name: readers, match: {comm: ib_read_bw}, class: own}
  - {name: senders, match: {comm: ib_send_bw}, class: left-alone}
'''
JOBS = '''version: 1
interfaces: [eth0]
rdma: {steering: on}
classes:
  - {name: bulk, dscp: 8}
  - {name: training, dscp: 26, timeout: 1.07s, retry: 5}
  - {name: storage, dscp: 10, timeout: 2.14s, retry: 6}
default-class: bulk
rules:
  - {name: trains, match: {cgroup: "/slurm/train*"}, class: training}
  - {name: stores, match: {cgroup: "/slurm/store*"}, class: storage}
'''
KERNEL = JOBS[:JOBS.index('rules:')] + '''rules:
  - {name: kernel, match: {comm: rdma_cm}, class: storage}
'''
SETTINGS = ('steering', 'on_failure', 'probe_interval_us', 'probes_per_second', 'holddown_ms', 'slow_factor')


def apply(m, text=POLICY):
    """Put a policy into force."""
    m.put(text.encode(), '/tmp/policy.yaml')
    return m.run('rocepath apply /tmp/policy.yaml', timeout=120)


def clean(m):
    """Nothing that a test has left."""
    m.run('killall -q ib_write_bw ib_read_bw ib_send_bw 2>/dev/null; rocepath clean', timeout=60, check=False)
    m.run('rocepath rdma set all steering off exempt no', check=False)


def qps(m, comm=None):
    """The rows of `qp show`, those of a process."""
    return [row for row in m.json('rocepath -j qp show') if comm in (None, row['comm'])]


def device(m):
    """The only row of `rdma show`."""
    row, = m.json('rocepath -j rdma show')
    return row


def while_running(a, b, name, look):
    """Call look() while perftest has a connected QP on a; what it returned."""
    run = start_perf(b, a, name, addr=B, seconds=20, check=False)
    a.poll(lambda: any(row['state'] == 'RTS' for row in qps(a, name)), 20, 'it runs')
    try:
        return look()
    finally:
        for m in (a, b):
            m.run('killall -q %s' % name, check=False)
        run.wait()


def only_shown(a, b):
    """Until it is switched on the module shows QPs, and changes nothing in them."""
    row = device(a)
    ksft.eq((row['steering'], row['hooked'], row['follows']), (False, True, 'yes'), row)
    text = a.run('rocepath rdma show').out.splitlines()
    ksft.eq(text[0].split()[-3:], ['STEERING', 'QPS', 'STEERED'])
    ksft.eq(text[1].split()[:2] + text[1].split()[7:8], ['rxe0', '1', 'no'])
    row = while_running(a, b, 'ib_write_bw', lambda: qps(a, 'ib_write_bw')[0])
    ksft.eq((row['steered'], row['timeout'], row['timeout_asked'], row['traffic_class']),
            (False, TIMEOUT, TIMEOUT, 0), row)
    ksft.eq((row['peer'], row['type'], row['class']), (B, 'RC', None), row)


def settings(a, b):
    """What is set is shown; what is no device is refused."""
    a.run('rocepath rdma set rxe0 on-failure error probe-interval 20ms probes-per-second 77 holddown 250ms slow-factor never')
    row = device(a)
    ksft.eq([row[key] for key in SETTINGS[1:]],
            ['error', 20000, 77, 250, 0])
    a.run('rocepath rdma set all on-failure notify slow-factor 4 probe-interval never')
    row = device(a)
    ksft.eq((row['on_failure'], row['probe_interval_us'], row['slow_factor']), ('notify', 0, 4))
    job = a.run('rocepath rdma set rxe9 steering on', check=False)
    ksft.eq((job.rc, job.out), (1, ''))
    job = a.run('rocepath rdma qp-set dev rxe0 qpn 77777 exempt yes', check=False)
    ksft.eq(job.rc, 1)
    a.run('rocepath rdma set all probe-interval 10ms')


def classes(a, b):
    """Unmodified programs get what their class says, by the first rule that can be decided for a QP."""
    job = apply(a)
    ksft.eq(job.err, '')
    status = [row['name'] for row in a.json('rocepath -j status') if row['hook'] == 'rdma']
    ksft.eq(status, ['4 classes, 3 rules'])
    ksft.eq(device(a)['steering'], True)

    def look():
        b.run('timeout 20 tcpdump -Z root -i eth0 -c 50 -w /tmp/c.pcap udp dst port 4791 and src host ' + A)
        return qps(a, 'ib_write_bw')[0]
    row = while_running(a, b, 'ib_write_bw', look)
    sent = roce.packets(b.get('/tmp/c.pcap'))
    ksft.eq(({packet.sport for packet in sent}, {packet.tos >> 2 for packet in sent}), ({SPORT + row['ev']}, {26}))
    ksft.say('EV %d: source port %d, DSCP 26 on the wire' % (row['ev'], sent[0].sport))
    ksft.eq((row['class'], row['rule'], row['entropy'], row['on_failure']), ('training', 'writers', 'plan', 'move'))
    ksft.eq((row['traffic_class_asked'], row['traffic_class'] >> 2), (0, 26))
    ksft.eq((row['timeout_asked'], row['timeout'], row['retry']), (TIMEOUT, 18, 5))
    ksft.eq((row['service_level'], row['steered'], row['exempt']), (3, True, False))
    ksft.eq(row['source_port'], SPORT + row['ev'])
    row = while_running(a, b, 'ib_read_bw', lambda: qps(a, 'ib_read_bw')[0])
    ksft.eq((row['class'], row['entropy'], row['flow_label']), ('own', 'asked', row['flow_label_asked']), row)
    row = while_running(a, b, 'ib_send_bw', lambda: qps(a, 'ib_send_bw')[0])
    ksft.eq((row['steered'], row['timeout'], row['traffic_class']), (False, TIMEOUT, 0), row)
    text = a.run('rocepath qp show').out.splitlines()[0].split() if qps(a) else ['EV', 'ENTROPY', 'HEALTH']
    for head in ('EV', 'ENTROPY', 'HEALTH'):
        ksft.isin(head, text)


def jobs(a, b):
    """Two unmodified programs in two cgroups: each has its class, and no two QPs of one are on one path."""
    apply(a, JOBS)
    a.put(IN_JOB, '/tmp/in_job', 0o755)
    a.run('mkdir -p /tmp/cg; mountpoint -q /tmp/cg || mount -t cgroup2 none /tmp/cg; mkdir -p /tmp/cg/slurm')
    evs = {17 * i + 5: i % 4 for i in range(8)}
    Family(a, 'rocepath_rdma').do('plan-set', device='rxe0', local=A, remote=B,
                                  evs=[{'ev': ev, 'path': path} for ev, path in evs.items()])
    runs = [start_perf(b, a, addr=B, seconds=20, qps=4, size=4096, check=False, before='/tmp/in_job ' + job)
            for job in ('train', 'store')]
    try:
        a.poll(lambda: len([row for row in qps(a, 'ib_write_bw') if row['state'] == 'RTS']) == 8, 30, 'they run')
        rows = qps(a, 'ib_write_bw')
        b.run('timeout 20 tcpdump -Z root -i eth0 -c 400 -w /tmp/c.pcap udp dst port 4791 and src host ' + A)
    finally:
        for m in (a, b):
            m.run('killall -q ib_write_bw', check=False)
        for run in runs:
            run.wait()
    wanted = {'/slurm/train': ('training', 'trains', 26, 18, 5), '/slurm/store': ('storage', 'stores', 10, 19, 6)}
    for row in rows:
        ksft.eq((row['class'], row['rule'], row['traffic_class'] >> 2, row['timeout'], row['retry']),
                wanted[row['cgroup']])
    ksft.eq(sorted((row['cgroup'], row['path']) for row in rows),
            sorted((job, path) for job in wanted for path in range(4)))
    ksft.eq(sorted(row['ev'] for row in rows), sorted(evs))
    marks = {(p.sport - SPORT, p.tos >> 2) for p in roce.packets(b.get('/tmp/c.pcap'))}
    ksft.true(marks <= {(row['ev'], row['traffic_class'] >> 2) for row in rows}, str(marks))
    ksft.eq({dscp for _, dscp in marks}, {26, 10})


NVMET = '''set -e
modprobe nvmet-rdma
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
cd /sys/kernel/config/nvmet
truncate -s 16M /tmp/disk
mkdir subsystems/lab
echo 1 >subsystems/lab/attr_allow_any_host
mkdir subsystems/lab/namespaces/1
cd subsystems/lab/namespaces/1
echo /tmp/disk >device_path
echo 1 >buffered_io
echo 1 >enable
cd ../../../..
mkdir ports/1
echo rdma >ports/1/addr_trtype
echo ipv4 >ports/1/addr_adrfam
echo %s >ports/1/addr_traddr
echo 4420 >ports/1/addr_trsvcid
ln -s $PWD/subsystems/lab ports/1/subsystems/lab
'''
NVMET_GONE = '''cd /sys/kernel/config/nvmet
rm -f ports/1/subsystems/lab; rmdir ports/1; echo 0 >subsystems/lab/namespaces/1/enable
rmdir subsystems/lab/namespaces/1 subsystems/lab; cd /; rmmod nvmet-rdma nvmet'''


def kernel_qps(a, b):
    """QPs of the kernel, of NVMe over RDMA: they are steered, belong to nobody's job, and go with their device."""
    if a.run('modprobe -n nvme-rdma && modprobe -n nvmet-rdma', check=False).rc:
        ksft.skip('this kernel has no NVMe over RDMA')
    apply(a, KERNEL)
    b.run(NVMET % B)
    a.run('modprobe nvme-rdma\n'
          'echo transport=rdma,traddr=%s,trsvcid=4420,nqn=lab,nr_io_queues=2 >/dev/nvme-fabrics' % B, timeout=60)
    try:
        a.poll('[ -b /dev/nvme0n1 ]', 30, 'the disk')
        # and there are those of GSI and of probes, which nobody steers
        rows = qps(a, '[rdma_cm]')
        ksft.ge(len(rows), 2)
        ksft.eq({(row['state'], row['class'], row['rule'], row['entropy'], row['steered'])
                 for row in rows}, {('RTS', 'storage', 'kernel', 'plan', True)})
        ksft.eq({(row['traffic_class'] >> 2, row['timeout']) for row in rows}, {(10, 19)})
        ksft.eq(len({row['ev'] for row in rows}), len(rows))
        a.run('dd if=/dev/zero of=/dev/nvme0n1 bs=64k count=16 && dd if=/dev/nvme0n1 of=/dev/null bs=64k count=16',
              timeout=60)
    finally:
        a.run('for c in /sys/class/nvme/*/delete_controller; do echo 1 >$c; done; rmmod nvme-rdma', timeout=60,
              check=False)
        b.run(NVMET_GONE, timeout=60, check=False)
    a.poll(lambda: not qps(a, '[rdma_cm]'), 20, 'they are gone')


def without_a_policy(a, b):
    """QPs of the module are shown where no policy is in force; `clean` takes all of it back."""
    apply(a)
    a.run('rocepath clean', timeout=60)
    ksft.eq(device(a)['steering'], False)
    ksft.eq([row for row in a.json('rocepath -j rdma show')][0]['on_failure'], 'notify')
    a.run('rocepath rdma set all steering on')
    row = while_running(a, b, 'ib_write_bw', lambda: qps(a, 'ib_write_bw')[0])
    ksft.eq((row['entropy'], row['class'], row['steered'], row['traffic_class']), ('plan', None, True, 0), row)


def section_gone(a, b):
    """A policy that no longer speaks of RDMA devices steers nothing; diff and show carry what is said."""
    apply(a)
    ksft.isin('probe-interval: 50ms', a.run('rocepath show').out)
    without = POLICY.replace(POLICY[POLICY.index('rdma:'):POLICY.index('classes:')], '')
    a.put(without.encode(), '/tmp/without.yaml')
    ksft.eq(a.run('rocepath diff /tmp/without.yaml').out.splitlines(),
            ['- rdma.steering: on', '- rdma.on-failure: notify', '- rdma.probe-interval: 50ms'])
    apply(a, without)
    ksft.eq(device(a)['steering'], False)


def refused_as_a_whole(a, b):
    """When the module refuses, the policy before stays in force, for packets and for QPs."""
    apply(a)
    a.put(POLICY.replace('probe-interval: 50ms', 'key: {id: 1, secret-file: /nonexistent}')
          .replace('retry: 5', 'retry: 6').encode(), '/tmp/bad.yaml')
    job = a.run('rocepath apply /tmp/bad.yaml', timeout=120, check=False)
    ksft.eq((job.rc, job.out), (1, ''), job.err)
    ksft.isin('retry: 5', a.run('rocepath show').out)
    row = while_running(a, b, 'ib_write_bw', lambda: qps(a, 'ib_write_bw')[0])
    ksft.eq((row['class'], row['retry']), ('training', 5))


def refused_key(a, b):
    """When the key cannot be set nothing of the file is in force, without a policy before and with one."""
    a.put(b'00112233445566778899aabbccddeeff\n', '/tmp/key', 0o600)
    a.run('rocepath rdma set all steering off probe-interval 200ms')
    for i in (1, 2):
        a.run('rocepath rdma key-set id %d secret-file /tmp/key' % i)
    bad = POLICY.replace('probe-interval: 50ms', 'probe-interval: 70ms\n  key: {id: 3, secret-file: /tmp/key}')
    a.put(bad.encode(), '/tmp/bad.yaml')
    for before in (None, POLICY):
        if before:
            apply(a, before)
        had = device(a)
        job = a.run('rocepath apply /tmp/bad.yaml', timeout=120, check=False)
        ksft.eq((job.rc, job.out), (1, ''), job.err)
        ksft.isin('two keys already', job.err)
        now = device(a)
        ksft.eq([now[name] for name in SETTINGS], [had[name] for name in SETTINGS])
        ksft.eq(sorted(key['id'] for key in a.json('rocepath -j rdma key-show')), [1, 2])
    a.run('rocepath clean; rocepath rdma key-del id 1; rocepath rdma key-del id 2')


def plan_and_paths(a, b):
    """Discovery, over a cable: one path. QPs are on its EVs, and one that is told to be down is left."""
    apply(a)
    found = a.json('rocepath -j rdma discover %s dev rxe0 evs 8 apply' % B, timeout=60)
    ksft.eq((found['distance'], found['seen'], found['applied'], len(found['paths'])), (1, True, True, 1), found)
    evs = set(found['paths'][0]['evs'])
    plan = a.json('rocepath -j rdma plan dev rxe0 peer ' + B)
    ksft.eq(({row['ev'] for row in plan}, {row['kind'] for row in plan}), (evs, {'paths'}))

    def look():
        row = qps(a, 'ib_write_bw')[0]
        ksft.isin(row['ev'], evs)
        ksft.eq([p['qps'] for p in a.json('rocepath -j rdma plan') if p['ev'] == row['ev']], [1])
        ksft.isin(row['ev'], [p['ev'] for p in a.json('rocepath -j rdma path peer ' + B)])
        a.run('rocepath rdma qp-set dev rxe0 qpn %d exempt yes' % row['qpn'])
        ksft.eq(qps(a, 'ib_write_bw')[0]['exempt'], True)
        return row
    while_running(a, b, 'ib_write_bw', look)
    ksft.eq(a.json('rocepath -j rdma plan peer 10.9.9.9'), [])
    a.run('rocepath rdma path-set dev rxe0 from %s peer %s ev %d state down' % (A, B, min(evs)), check=False)


def keys(a, b):
    """Keys are set, shown without their secrets, and forgotten; with one, both see each other as peers."""
    a.put(b'00112233445566778899aabbccddeeff\n', '/tmp/key', 0o600)
    b.put(b'00112233445566778899aabbccddeeff\n', '/tmp/key', 0o600)
    for m in (a, b):
        m.run('rocepath rdma key-set id 7 secret-file /tmp/key')
        ksft.eq(m.json('rocepath -j rdma key-show'), [{'id': 7, 'active': True}])
    a.run('rocepath rdma set all steering on')
    b.run('rocepath rdma set all steering on')

    def look():
        a.poll(lambda: [row for row in a.json('rocepath -j rdma peer') if (row['address'], row['state']) == (B, 'capable')],
               15, 'b answers')
        a.poll(lambda: qps(a, 'ib_write_bw')[0]['path_state'] == 'up', 10, 'its path is up')
        path = [row for row in a.json('rocepath -j rdma path') if row['qps']]
        ksft.ge(path[0]['answered'], 1)
        ksft.isin('rtt_us', path[0])
    while_running(a, b, 'ib_write_bw', look)
    for m in (a, b):
        m.run('rocepath rdma key-del id 7')
        ksft.eq(m.json('rocepath -j rdma key-show'), [])


def events(a, b):
    """A port that goes down: the event has its QPs, their process, and whose it is; in text and in JSON."""
    apply(a)
    a.run('mkdir -p /tmp/cg; mount -t cgroup2 none /tmp/cg 2>/dev/null; mkdir -p /tmp/cg/job_42', check=False)
    qploop = a.spawn('echo $$ >/tmp/cg/job_42/cgroup.procs; sleep 1000 | qploop -g %d -G ::ffff:%s 0 3' % (
        a.gid('rxe0', A), B))
    a.poll(lambda: 'ready' in qploop.out, 20, 'the QPs are there')
    qpns = sorted(int(line.split()[1]) for line in qploop.lines() if line.startswith('qp '))
    ksft.eq(sorted(row['qpn'] for row in qps(a, 'qploop')), qpns)
    text, lines = a.spawn('rocepath monitor rdma rxe0'), a.spawn('rocepath -j monitor')
    a.poll('[ $(grep -cE "^[0-9a-f]+ 16 +[0-9]+ +0*[1-9a-f]" /proc/net/netlink) -ge 2 ]', why='they listen')
    a.run('ip link set eth0 down')
    a.poll(lambda: ' port 1 down' in text.out and 'port-down' in lines.out, 10, 'the event')
    line = next(line for line in text.lines() if ' port 1 down' in line)
    ksft.say(line)
    ksft.isin('carrier; 3 QPs: ', line)
    for qpn in qpns:
        ksft.isin('%d of qploop ' % qpn, line)
    ksft.isin(' in job 42', line)
    event = next(e for e in map(json.loads, lines.lines()) if e['type'] == 'port-down')
    ksft.eq((event['device'], event['port'], event['qps'], event['more']), ('rxe0', 1, 3, False))
    ksft.eq(sorted((qp['qpn'], qp['comm']) for qp in event['qp_list']), [(qpn, 'qploop') for qpn in qpns])
    a.run('ip link set eth0 up; ip addr add fd00::1/64 dev eth0 nodad')
    a.poll(lambda: ' port 1 up' in text.out, 10, 'and up again')
    for job in (text, lines):
        job.kill()
        job.wait(check=False)
    a.run('killall -q sleep qploop', check=False)
    qploop.wait(check=False)


def follows_the_module(a, b):
    """`rocepath run` has the policy judged by a module that is loaded later."""
    a.run('rmmod rocepath_rdma; mv $(find /lib/modules -name rocepath_rdma.ko) /tmp')
    a.put(POLICY.encode(), '/tmp/policy.yaml')
    job = a.spawn('rocepath run /tmp/policy.yaml')
    a.poll(lambda: 'is not enforced' in job.err, 60, 'it says so')
    a.run('insmod /tmp/rocepath_rdma.ko')
    a.poll(lambda: device(a).get('steering') is True, 20, 'it is in force')
    job.kill(15)
    job.wait(check=False)


TESTS = [only_shown, settings, classes, jobs, kernel_qps, without_a_policy, section_gone, refused_as_a_whole,
         refused_key, plan_and_paths, keys, events, follows_the_module]


def main():
    """One lab for all tests."""
    kernel = Kernel.find(os.environ.get('ROCEPATH_KERNEL') or '6.12')
    built = os.path.join(os.path.dirname(module(kernel)), 'rocepath_rdma.ko')
    files = {'/bin/rocepath': tool(), '/bin/qploop': program('qploop'), '/bin/genl': program('genl')}
    with Lab(kernel.dir, files=files, modules=[built]) as lab:
        a, b = lab.machine('a', nics=1), lab.machine('b', nics=1)
        lab.cable(a, 0, b, 0)
        lab.start()
        for m, n in ((a, 1), (b, 2)):
            m.up('eth0', '10.0.0.%d/24' % n, 'fd00::%d/64' % n)
            m.rxe('eth0')
            m.run('modprobe rocepath_rdma')

        def tidy(test):
            @functools.wraps(test)
            def wrapped(one, other):
                try:
                    test(one, other)
                finally:
                    for m in (one, other):
                        clean(m)
            return wrapped
        sys.exit(ksft.run([tidy(test) for test in TESTS], (a, b), lab))


if __name__ == '__main__':
    main()
