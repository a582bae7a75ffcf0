#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The BPF programs on stock kernels: they load with the maximal policy, and the census is right.

    one machine:  rxe0 on port0 (dummy) 10.0.0.1        its QPs' peers (10.0.0.2) are not there

`load` (selftests/bpf/load.c) loads all programs, attaches the census, and prints what that knows.
test_bpf.py --full: a thousand QPs, and by kprobes as well.
"""

import json
import os
import subprocess
import sys

from artifacts import program
from lab import Lab, ksft
from leaves import Program
from lib.initrd import TREE

LIMIT = 1000000     # instructions that the verifier goes through at most
PEER = '00000000000000000000ffff0a000002'


class Census(Program):
    """`load` at work, and what it knows."""

    def __init__(self, m, options=''):
        super().__init__(m, 'env ROCEPATH_LIBBPF_LOG=1 load --stay ' + options, 'attached')
        self.insns = json.loads(self.job.lines()[0])

    def look(self):
        """All rows, and some counts."""
        return json.loads(' '.join(self.ask('census')))


def figure(name, value, worst):
    """Record a number that the issue asks for."""
    subprocess.run([os.path.join(TREE, 'scripts/figure'), name, str(value), worst], check=True)


def instructions(m, census):
    """All programs, the maximal policy: below half of what the verifier takes."""
    for name, count in sorted(census.insns.items()):
        ksft.say('%s: %s: %d instructions verified' % (m.run('uname -r').out.strip(), name, count))
    worst = max(census.insns.values())
    figure('bpf_insns_max', worst, 'worst-is-max')
    ksft.true(worst < LIMIT / 2, '%d instructions' % worst)
    ksft.true('egress' in census.insns and any(name.endswith('destroy') for name in census.insns))


def rcqp(m, qps, options='', before=''):
    """QPs of one process: the program, and their numbers."""
    job = Program(m, '%s rcqp -g %d -G ::ffff:10.0.0.2 -n %d %s' % (
        before, m.gid('rxe0', '10.0.0.1'), qps, options), 'ready')
    return job, [int(line.split()[2]) for line in job.job.lines() if line.startswith('qp ')]


def mine(census):
    """The rows of those."""
    return [q for q in census.look()['qps'] if q['comm'] == 'rcqp']


def owners(m, census):
    """What is known of QPs of a process in a cgroup."""
    m.run('mkdir -p /tmp/cg && mount -t cgroup2 none /tmp/cg; mkdir -p /tmp/cg/slurm/job_17')
    m.put(b'#!/bin/bash\necho $$ >/tmp/cg/slurm/job_17/cgroup.procs\nexec "$@"\n', '/tmp/in_job', 0o755)
    job, numbers = rcqp(m, 3, '', '/tmp/in_job')
    before = census.look()
    found = {q['qpn']: q for q in mine(census)}
    ksft.say(json.dumps(list(found.values())[:1]))
    ksft.eq(sorted(found), sorted(numbers))
    ifindex = int(m.get('/sys/class/net/port0/ifindex'))
    for number in numbers:
        q = found[number]
        ksft.eq((q['device'], q['uid'], q['type'], q['state'], q['ifindex']), ('rxe0', 0, 2, 3, ifindex))
        ksft.eq((q['remote'], q['mtu'], q['cgroup']), (PEER, 1024, '/slurm/job_17'))
        ksft.true(q['remote_qpn'] > 0 and q['pid'] > 0 and q['job'] < 1024 and q['job_peer'] == 0, str(q))
    job.stop()
    m.poll(lambda: not mine(census), 20, 'they are gone')
    after = census.look()
    # the peer's QP is the same for all of them: one row
    ksft.eq((before['qp_tx'] - after['qp_tx'], before['qp_rx'] - after['qp_rx']), (1, 3))


def deep(m, census):
    """Of a cgroup that is deep down the path begins at the root, whatever is missing at its end."""
    names = ['level%d' % i for i in range(20)]
    path = '/tmp/cg/' + '/'.join(names)
    m.run('mkdir -p /tmp/cg; mountpoint -q /tmp/cg || mount -t cgroup2 none /tmp/cg; mkdir -p ' + path)
    m.put(b'#!/bin/bash\necho $$ >%s/cgroup.procs\nexec "$@"\n' % path.encode(), '/tmp/deep', 0o755)
    job, _ = rcqp(m, 1, '', '/tmp/deep')
    found = mine(census)[0]['cgroup']
    ksft.say(found)
    ksft.eq(found, '/' + '/'.join(names[:found.count('/')]))
    ksft.ge(found.count('/'), 15)
    job.stop()


def thousand(m, census):
    """1,000 QPs come and go; numbers are used again; killed processes leave nothing."""
    errors, start = 0, census.look()
    for i in range(4):
        job, numbers = rcqp(m, 250)
        found = mine(census)
        errors += len(set(numbers) ^ {q['qpn'] for q in found})
        errors += sum(q['state'] != 3 or q['remote'] != PEER for q in found)
        if i % 2:
            job.job.kill(9)
        else:
            job.tell('quit')
        job.job.wait(60, check=False)
        m.poll(lambda: not mine(census), 30, 'they are gone')
    end = census.look()
    errors += abs(end['created'] - start['created'] - 1000)
    errors += abs(end['destroyed'] - start['destroyed'] - 1000)
    errors += abs(end['qp_tx'] - start['qp_tx']) + abs(end['qp_rx'] - start['qp_rx'])
    errors += end['full']
    figure('census_errors', errors, 'worst-is-max')
    ksft.eq(errors, 0)


def removal(m, census):
    """The RDMA device goes with QPs on it, and comes again."""
    job, _ = rcqp(m, 20)
    # rdma_rxe cannot take a device from a program that has it open: its removal waits for the end of that
    removed = m.spawn('rdma link del rxe0')
    job.stop()
    removed.wait(30)
    m.poll(lambda: not [q for q in census.look()['qps'] if q['device'] == 'rxe0'], 30,
           'its QPs are gone')
    m.rxe('port0')


SHORT = [instructions, owners, deep, removal]
FULL = [instructions, owners, deep, thousand, removal]


def main():
    """On 6.1 and 6.12 by fentry; with --full a thousand QPs, and by kprobes as well."""
    bad, full = False, '--full' in sys.argv
    words = [word for word in sys.argv[1:] if word != '--full']
    ways = [('6.1', ''), ('6.12', '')] + [('6.12', '--kprobes')] * full
    for kernel, options in ways:
        files = {'/bin/load': program('bpf/plain/load'), '/bin/rcqp': program('rcqp')}
        with Lab(kernel, files=files) as lab:
            m = lab.machine('a', nics=0)
            lab.start()
            m.run('ip link add port0 type dummy')
            m.up('port0', '10.0.0.1/24')
            m.run('ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev port0 nud permanent')
            m.rxe('port0')
            census = Census(m, options)
            bad |= bool(ksft.run(FULL if full else SHORT, (m, census), lab, words))
            census.stop()
    sys.exit(bad)


if __name__ == '__main__':
    main()
