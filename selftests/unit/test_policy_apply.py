#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Applies policies on this machine, in a network and mount namespace of its own.

    v0 ---- w0      the policy is about v*; w* are the far ends
    v1 ---- w1

What needs fq or RDMA is tested in machines (selftests/vm/test_policy.py). Programs are attached by TCX where this
kernel has it (6.6), else as filters of a clsact; a hook that is full shows the latter, too.
"""

import ctypes
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OUT = os.environ.get('PROGRAMS', os.path.join(ROOT, 'build', 'selftests')) + '/cli'
TOOL = os.environ.get('ROCEPATH_TOOL', os.path.join(OUT, 'rocepath'))
PINS = '/sys/fs/bpf/rocepath'
KILLS = 24
RELOADS = 50
OURS = {('ingress', 'ingress'), ('egress', 'egress')}

POLICY = '''version: 1
interfaces: ["v*"]
admit: {peers: [10.0.%d.0/24, "fd00:%d::/32"]}
classes:
  - {name: training, dscp: 26, rate: %dGbit, ecn: on}
  - {name: bulk}
default-class: bulk
rules:
  - {name: mine, match: {uid: 0}, class: training}
'''

FOREIGN = '''#include <linux/bpf.h>
__attribute__((section("xdp"), used)) int foreign(struct xdp_md *ctx) { return 2; }
char _license[] __attribute__((section("license"), used)) = "GPL";
'''


SYS_BPF = 321                   # of x86-64
BPF_PROG_LOAD, BPF_PROG_ATTACH, BPF_PROG_DETACH, BPF_PROG_QUERY = 5, 8, 9, 16
SCHED_CLS = 3
TCX = {'ingress': 46, 'egress': 47}
TCX_MAX = 63                    # programs of a hook


class Failed(Exception):
    """A command failed that should not."""


def sh(command, check=True, stdin=None, timeout=60):
    """What a shell command prints."""
    done = subprocess.run(['bash', '-c', command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, input=stdin,
                          timeout=timeout, check=False, text=True)
    if check and done.returncode:
        raise Failed('%s: %d %s%s' % (command, done.returncode, done.stdout, done.stderr))
    return done.stdout


def tool(*words, rc=0, stdin=''):
    """(output, errors) of the tool, without the warnings that this kernel has no fq, and that a clsact was made."""
    done = subprocess.run([TOOL, *words], input=stdin, capture_output=True, timeout=120, check=False, text=True)
    err = ''.join(line for line in done.stderr.splitlines(True) if 'has no fq' not in line and 'no TCX' not in line)
    if done.returncode != rc:
        raise Failed('%s: %d %s%s' % (words, done.returncode, done.stdout, err))
    return done.stdout, err


def apply(number, rc=0):
    """Apply a policy that differs from others by its number."""
    return tool('apply', '-', stdin=policy(number), rc=rc)


def policy(number):
    """A policy, as a file."""
    return POLICY % (number, number, number + 10)


def in_force(maps=True):
    """The number of the policy in force, which is whole; None: there is none."""
    done = subprocess.run([TOOL, 'show'], capture_output=True, timeout=60, check=False, text=True)
    if done.returncode:
        true('no policy is in force' in done.stderr, done.stderr)
        return None
    numbers = {int(n) for n in re.findall(r'10\.0\.(\d+)\.0|fd00:(\d+)::', done.stdout) for n in n if n}
    rates = {int(n) - 10 for n in re.findall(r'\brate: (\d+)Gbit', done.stdout)}
    true(len(numbers) == 1 and numbers == rates, 'half a policy: %s' % done.stdout)
    if not maps:
        return numbers.pop()
    active = json.loads(tool('-j', 'class', 'show')[0])
    rate = [row['rate_bytes_per_s'] for row in active if row['name'] == 'training'][0]
    true(rate * 8 == (rates.pop() + 10) * 1000000000, 'the maps hold another policy than its text')
    return numbers.pop()


def true(value, what):
    """Fail unless it is true."""
    if not value:
        raise AssertionError(what)


def equal(value, expected, what=''):
    """Fail unless they are the same."""
    true(value == expected, '%s %r is not %r' % (what, value, expected))


def bpf(command, *fields):
    """The system call, with fields of (offset, size, value); returns (result, attributes)."""
    attr = bytearray(128)
    for offset, size, value in fields:
        attr[offset:offset + size] = value.to_bytes(size, 'little')
    raw = (ctypes.c_char * len(attr)).from_buffer(attr)
    return ctypes.CDLL(None, use_errno=True).syscall(SYS_BPF, command, raw, len(attr)), attr


def tcx(device):
    """The (hook, program) of each link or program of TCX, in the order in which packets see them."""
    found = []
    for hook, kind in TCX.items():
        ids = (ctypes.c_uint32 * TCX_MAX)()
        done, attr = bpf(BPF_PROG_QUERY, (0, 4, socket.if_nametoindex(device)), (4, 4, kind), (16, 8, ctypes.addressof(ids)),
                         (24, 4, TCX_MAX))
        for i in range(int.from_bytes(attr[24:28], 'little') if not done else 0):
            found.append((hook, json.loads(sh('bpftool -j prog show id %d' % ids[i])).get('name', 'foreign')))
    return found


def fill_tcx(device, count=TCX_MAX):
    """Attach programs of somebody else, which have no names, to both hooks, where the kernel has TCX.

    Returns them, for free_tcx().
    """
    insns = ctypes.create_string_buffer(bytes([0xb7, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x95, 0, 0, 0, 0, 0, 0, 0]))
    text = ctypes.create_string_buffer(b'GPL')
    programs = []
    for kind in TCX.values():
        for _ in range(count):
            fd, _ = bpf(BPF_PROG_LOAD, (0, 4, SCHED_CLS), (4, 4, 2), (8, 8, ctypes.addressof(insns)),
                        (16, 8, ctypes.addressof(text)))
            if bpf(BPF_PROG_ATTACH, (0, 4, socket.if_nametoindex(device)), (4, 4, fd), (8, 4, kind))[0]:
                true(not programs, 'there is no place for %d programs' % count)
                return programs
            programs.append((device, kind, fd))
    return programs


def free_tcx(programs):
    """Detach them."""
    for device, kind, fd in programs:
        equal(bpf(BPF_PROG_DETACH, (0, 4, socket.if_nametoindex(device)), (4, 4, fd), (8, 4, kind))[0], 0, 'detach')
        os.close(fd)


def filters(device):
    """The (hook, program) of each filter on a clsact."""
    found = []
    for hook in ('ingress', 'egress'):
        out = sh('tc filter show dev %s %s 2>/dev/null' % (device, hook), check=False)
        found += [(hook, name) for name in re.findall(r'handle 0x\w+ (\w+)', out)]
    return found


def ours(device):
    """Those of rocepath, of which there must be no two alike."""
    found = [f for f in filters(device) + tcx(device)
             if f[1] in ('ingress', 'egress', 'admit_ingress', 'port_egress', 'lose')]
    equal(len(found), len(set(found)), 'twice the same: %s' % found)
    return set(found)


def xdp(device):
    """The name of the XDP program on a netdevice."""
    out = sh('ip -d link show %s' % device)
    found = re.search(r'prog/xdp id (\d+)', out)
    if not found:
        return None
    return json.loads(sh('bpftool -j prog show id ' + found[1]))['name']


def attached(device='v0'):
    """All is attached to a netdevice that should be, once."""
    found = ours(device)
    equal(found - {('ingress', 'admit_ingress')}, OURS, device)
    equal(found & set(tcx(device)), found if attached.by_links else set(), 'the way in which they are attached')
    true((xdp(device) in ('admit', 'admit_linear')) != (('ingress', 'admit_ingress') in found),
         'admission is there twice or not at all: %s %s' % (found, xdp(device)))


attached.by_links = True


def nothing(device='v0'):
    """Nothing of ours is left."""
    equal(ours(device), set(), device)
    true(xdp(device) in (None, 'foreign'), 'XDP is left')
    true(not os.path.exists(PINS), 'pins are left: %s' % sh('find ' + PINS, check=False))


def peers():
    """The generations that peers are kept for."""
    found = set()
    for name in ('peers4', 'peers6'):
        rows = json.loads(sh('bpftool -j map dump pinned %s/%s' % (PINS, name)))
        found |= {row['formatted']['key']['generation'] for row in rows}
    return found


def test_apply():
    """apply makes it true, says what changed, and show prints what apply takes."""
    out, err = apply(1)
    true('+ classes[training].rate: 11Gbit' in out and not err, out + err)
    for device in ('v0', 'v1'):
        attached(device)
    equal(ours('w0'), set())
    equal(os.stat(PINS).st_mode & 0o777, 0o700)
    for words in (('show',), ('show', '--effective')):
        shown = tool(*words)[0]
        equal(tool('diff', '-', stdin=shown), ('', ''))
        equal(tool('apply', '-', stdin=shown), ('', ''))
    equal(in_force(), 1)
    out, _ = apply(2)
    equal(sorted(out.splitlines()), sorted([
        '- admit.peers: 10.0.1.0/24', '- admit.peers: fd00:1::/32', '+ admit.peers: 10.0.2.0/24',
        '+ admit.peers: fd00:2::/32', '- classes[training].rate: 11Gbit', '+ classes[training].rate: 12Gbit']))
    text = sh('bpftool map dump pinned %s/active' % PINS)
    for word in ('"rate_bytes_per_s": 1500000', '"name": "training"', '"RP_ACTION_DROP"'):
        true(word in text, 'bpftool does not show ' + word)
    tool('clean')
    nothing()
    true('clsact' not in sh('tc qdisc show dev v0'), 'clsact is left')
    true('no policy' in tool('show', rc=1)[1], 'there is one still')


def test_shows():
    """Each show prints something, in text and as JSON."""
    apply(1)
    rows = json.loads(tool('-j', 'class', 'show')[0])
    equal([(row['name'], row['default']) for row in rows], [('training', 'no'), ('bulk', 'yes')])
    equal([(row['name'], row['class']) for row in json.loads(tool('-j', 'rule', 'show')[0])], [('mine', 'training')])
    reasons = {row['reason']: row['verdict'] for row in json.loads(tool('-j', 'drop', 'show')[0])}
    equal((reasons['rx_unknown_peer'], reasons['rx_unknown_qp']), ('drop', 'pass'))
    tool('apply', '-', stdin=policy(1).replace('admit: {', 'admit: {malformed: pass, '))
    reasons = {row['reason']: row['verdict'] for row in json.loads(tool('-j', 'drop', 'show')[0])}
    equal({reasons[name] for name in reasons if name.startswith('cnp_')}, {'drop'})
    equal((reasons['rx_malformed'], reasons['tx_malformed']), ('pass', 'pass'))
    if not os.path.exists('/sys/module/rocepath'):
        true(re.search(r'^a policy is in force.*\n.*\n.* training +26 ', tool()[0]), tool()[0])
        equal(json.loads(tool('-j')[0]), [])
    for words in ('qp show', 'job show'):
        equal(json.loads(tool('-j', *words.split())[0]), [], words)
    rows = json.loads(tool('-j', 'status')[0])
    equal({row['netdevice'] for row in rows}, {'v0', 'v1', '-'})
    # where the kernel has no fq, that is said
    paced = {name: 'qdisc fq' in sh('tc qdisc show dev ' + name) for name in ('v0', 'v1')}
    equal({row['netdevice']: row['name'].startswith('fq') for row in rows if row['hook'] == 'qdisc'}, paced)
    equal({row['by'] for row in rows}, {'rocepath'} if all(paced.values()) else {'rocepath', '-'})
    for words in ('class show', 'rule show', 'drop show', 'drop show all', 'status'):
        true(tool(*words.split())[0].count('\n') > 1, words)
    tool('apply', '-', stdin=policy(1).replace('["v*"]', '["v*", gone0]'))
    equal([row['name'] for row in json.loads(tool('-j', 'status')[0]) if row['netdevice'] == 'gone0'], ['not there'])
    tool('apply', '-', stdin=policy(1).replace('dscp: 26', 'dscp: 26, ack-dscp: 30, pcp: 3'))
    row = json.loads(tool('-j', 'class', 'show')[0])[0]
    equal([row[key] for key in ('dscp', 'ack_dscp', 'cnp_dscp', 'management_dscp', 'pcp', 'priority')],
          [26, 30, 48, 26, 3, None])
    tool('clean')


def test_json():
    """check and diff say as JSON what they say as lines; what prints a policy, or asks, refuses."""
    faults = policy(1).replace('dscp: 26', 'dscp: 104').replace('ecn: on', 'ecn: maybe')
    found = json.loads(tool('-j', 'check', '-', stdin=faults, rc=1)[0])
    lines = re.findall(r'^<stdin>:(\d+):(\d+): (.*)$', tool('check', '-', stdin=faults, rc=1)[1], re.M)
    true(len(lines) == 2, lines)
    equal([(row['file'], str(row['line']), str(row['column']), row['text']) for row in found],
          [('<stdin>', *line) for line in lines])
    equal(json.loads(tool('-j', 'check', '-', stdin=policy(1))[0]), [])
    slow = policy(1).replace('11Gbit', '11Mbit')
    equal([row['warning'] for row in json.loads(tool('-j', 'check', '-', stdin=slow)[0])], [True])
    equal(tool('apply', '-', stdin=slow)[1].count('warning: at rate 11Mbit'), 1)
    apply(1)
    found = json.loads(tool('diff', '-', '-j', stdin=policy(2))[0])
    equal([('-' if row['change'] == 'goes' else '+') + ' ' + row['statement'] for row in found],
          tool('diff', '-', stdin=policy(2))[0].splitlines())
    equal(json.loads(tool('-j', 'diff', '-', stdin=policy(1))[0]), [])
    for words in (('apply', '-'), ('try', '-'), ('show',), ('clean',), ('run', '-'), ('check', '-', 'effective')):
        out, err = tool('-j', *words, stdin=policy(2), rc=2)
        true('no JSON' in err and not out and err.count('\n') == 1, '%s: %s%s' % (words, out, err))
    equal(in_force(), 1)
    tool('clean')


def test_numbers():
    """A class keeps its number while it keeps its name, wherever it stands in the file."""
    apply(1)
    before = {row['name']: row['id'] for row in json.loads(tool('-j', 'class', 'show')[0])}
    text = policy(1).replace('classes:\n', 'classes:\n  - {name: first}\n').replace('  - {name: bulk}\n', '') \
                    .replace('default-class: bulk', 'default-class: first')
    tool('apply', '-', stdin=text)
    after = {row['name']: row['id'] for row in json.loads(tool('-j', 'class', 'show')[0])}
    equal(after, {'training': before['training'], 'first': before['bulk']})
    tool('clean')


def layout(name):
    """{member: offset} of a struct of the maps, by what their types say."""
    types = json.loads(sh('bpftool -j btf dump map pinned %s/jobs all' % PINS))['types']
    found = [t for t in types if t['name'] == name and t['kind'] == 'STRUCT'][0]
    return dict({m['name']: m['bits_offset'] // 8 for m in found['members']}, size=found['size'])


def test_jobs():
    """A job, as programs leave it: peers with what was exchanged, the most first."""
    apply(1)
    job, peer, window = layout('rp_job'), layout('rp_job_peer'), layout('rp_job_window')
    value = bytearray(job['size'])

    def put(offset, form, number):
        struct.pack_into(form, value, offset, number)

    for name, form, number in (('qps', 'I', 3), ('peer_count', 'I', 6), ('pattern', 'I', 5), ('message_bytes', 'Q', 65536)):
        put(job[name], form, number)
    for name, form, number in (('tx_peers', 'I', 5), ('tx_bursts', 'Q', 7), ('gaps', 'Q', 2), ('rx_messages', 'Q', 9)):
        put(job['last'] + window[name], form, number)
    for i in range(6):
        at = job['peer'] + i * peer['size']
        value[at:at + 16] = socket.inet_pton(socket.AF_INET6, '::ffff:10.0.0.%d' % (10 + i))
        if i < 5:
            for name, number in (('tx_bytes', 1000 * i + 1), ('rx_bytes', 3), ('tx_messages', i),
                                 ('window_tx_bytes', 10 * i)):
                put(at + peer[name], 'Q', number)
    sh('bpftool map update pinned %s/jobs key 7 0 0 0 value %s' % (PINS, ' '.join(str(byte) for byte in value)))
    row, = json.loads(tool('-j', 'job', 'show')[0])
    equal((row['pattern'], row['qps'], row['message_bytes'], row['tx_bytes'], row['rx_bytes']),
          ('all-to-all', 3, 65536, 10005, 15))
    equal((row['window_tx_peers'], row['window_tx_bursts'], row['window_gaps'], row['window_rx_messages']), (5, 7, 2, 9))
    equal([p['address'] for p in row['peers']], ['10.0.0.%d' % n for n in (14, 13, 12, 11, 10, 15)])
    equal([p['window_tx_bytes'] for p in row['peers']], [40, 30, 20, 10, 0, 0])
    equal(row['peers'][0], {'address': '10.0.0.14', 'window_tx_bytes': 40, 'window_rx_bytes': 0, 'tx_bytes': 4001,
                            'rx_bytes': 3, 'tx_messages': 4, 'rx_messages': 0})
    true('10.0.0.14 10.0.0.13 10.0.0.12, 2 more' in tool('job', 'show')[0], tool('job', 'show')[0])
    tool('clean')


def count(what, number, packets):
    """Have counted so many packets, on each CPU."""
    value = packets.to_bytes(8, 'little') + bytes(40)
    sh('bpftool map update pinned %s/%s key %d 0 0 0 value %s' % (PINS, what, number, ' '.join(map(str, value))))


def counted(what):
    """The packets of each class, or rule, by CPU."""
    cpus = len(json.loads(sh('bpftool -j map lookup pinned %s/events key 0 0 0 0' % PINS))['values'])
    return {row['name']: row['packets'] / cpus for row in json.loads(tool('-j', what, 'show')[0])}


def test_counts():
    """What is new begins at 0, also where it has the number of what is no more; what stays goes on counting."""
    text = policy(1) + '  - {name: theirs, match: {uid: 1}, class: bulk}\n'
    tool('apply', '-', stdin=text)
    for number in range(2):
        count('class_counters', number, 100 + number)
        count('rule_counters', number, 200 + number)
    equal((counted('class'), counted('rule')), ({'training': 100, 'bulk': 101}, {'mine': 200, 'theirs': 201}))
    tool('apply', '-', stdin=text.replace('bulk', 'other').replace('name: mine', 'name: ours'))
    equal((counted('class'), counted('rule')), ({'training': 100, 'other': 0}, {'ours': 0, 'theirs': 201}))
    tool('clean')


def test_foreign():
    """What others have attached is not touched, and what they have taken is done without."""
    sh('tc qdisc add dev v0 clsact')
    for hook in ('ingress', 'egress'):
        for priority, handle in ((1, 0x77), (2, 0x4791), (7, 1)):
            sh("tc filter add dev v0 %s prio %d handle 0x%x bpf bytecode '1,6 0 0 4294967295,' da" % (
                hook, priority, handle))
    sh('ip link set dev v0 xdpdrv obj foreign.o sec xdp')
    foreign = sorted(filters('v0'))
    for number in range(3):
        apply(number)
        equal(sorted(f for f in filters('v0') if f[1] == 'direct'), foreign)
        equal(xdp('v0'), 'foreign')
        true(('ingress', 'admit_ingress') in ours('v0'), ours('v0'))
    rows = json.loads(tool('-j', 'status')[0])
    equal(sorted((row['hook'], row['by']) for row in rows if row['netdevice'] == 'v0' and row['hook'] == 'xdp'),
          [('xdp', 'other')])
    equal(len([row for row in rows if row['by'] == 'other' and not row['hook'].startswith('tcx')]), 7)
    sh('ip link set dev v0 xdp off')
    apply(1)
    attached()
    true(xdp('v0') != 'foreign' and xdp('v0'), 'XDP is not used although it is free')
    tool('clean')
    equal(sorted(filters('v0')), foreign)
    sh('tc qdisc del dev v0 clsact')


def test_foreign_links():
    """Programs that others have on TCX run after ours, and stay."""
    programs = fill_tcx('v0', 2)
    foreign = tcx('v0')
    for number in range(3):
        apply(number)
        attached()
        equal([f[1] for f in tcx('v0') if f[0] == 'egress'], ['egress', 'foreign', 'foreign'])
        equal([f for f in tcx('v0') if f[1] == 'foreign'], foreign)
    rows = json.loads(tool('-j', 'status')[0])
    equal([(row['hook'], row['by']) for row in rows if row['netdevice'] == 'v0' and row['hook'] == 'tcx egress'],
          [('tcx egress', 'rocepath')] + 2 * [('tcx egress', 'other')])
    tool('clean')
    nothing()
    equal(tcx('v0'), foreign)
    free_tcx(programs)


def test_full():
    """Where a hook of TCX is full a filter does it; it becomes a link when there is room, and never both stay."""
    programs = fill_tcx('v0')
    apply(1)
    equal((ours('v0') - {('ingress', 'admit_ingress')}, set(tcx('v0')) & OURS), (OURS, set()))
    attached('v1')
    free_tcx(programs)
    apply(1)
    attached()
    tool('clean')
    nothing()
    true('clsact' not in sh('tc qdisc show dev v0'), 'it was forgotten that clsact is ours')


def test_clsact_of_ours():
    """Of a clsact that is made is warned once; it stays while others have filters in it."""
    for warnings in (2, 0):
        done = subprocess.run([TOOL, 'apply', '-'], input=policy(1), capture_output=True, timeout=60, check=True, text=True)
        equal(done.stderr.count('no TCX (Linux 6.6) is to be had'), warnings, done.stderr)
    sh("tc filter add dev v0 ingress prio 9 bpf bytecode '1,6 0 0 4294967295,' da")
    tool('clean')
    equal(filters('v0'), [('ingress', 'direct')])
    nothing()
    sh('tc qdisc del dev v0 clsact')


def often(times):
    """So many times; a quarter of them, when it is all done once more."""
    return times // 4 if attached.again else times


def test_reloads():
    """After many reloads there is one program for each hook, one policy, and its peers only."""
    for number in range(often(RELOADS)):
        apply(number % 7)
    for device in ('v0', 'v1'):
        attached(device)
    equal(in_force(), (often(RELOADS) - 1) % 7)
    equal(len(peers()), 1)
    tool('clean')
    nothing()


def test_together():
    """Tools that run at the same time do not disturb each other."""
    jobs = [subprocess.Popen([TOOL, 'apply', '-'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True) for _ in range(6)]
    for number, job in enumerate(jobs):
        job.stdin.write(policy(number))
        job.stdin.close()
    for job in jobs:
        equal(job.wait(120), 0, job.stderr.read())
        job.stderr.close()
    true(in_force() in range(6), in_force())
    attached()
    equal(len(peers()), 1)
    tool('clean')


def killed_after(number, seconds):
    """Start to apply a policy, and kill the tool."""
    with subprocess.Popen([TOOL, 'apply', '-'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, text=True) as job:
        job.stdin.write(policy(number))
        job.stdin.close()
        time.sleep(seconds)
        job.send_signal(signal.SIGKILL)
        job.wait(60)


def took(number):
    """How long it takes to apply a policy, in seconds."""
    begun = time.monotonic()
    apply(number)
    return time.monotonic() - begun


def test_killed():
    """Killed at any moment it leaves the old policy or the new; the next one mends what is left."""
    first = took(1)
    again = took(2)
    seen = set()
    for i in range(often(KILLS)):
        before, fresh = in_force(), i % 3 == 0
        if fresh:
            tool('clean')
            before = None
        new = 3 + i % 5 + (3 + i % 5 == before)
        killed_after(new, (first if fresh else again) * 1.1 * i / often(KILLS))
        after = in_force()
        true(after in (before, new), 'neither the old (%s) nor the new (%s): %s' % (before, new, after))
        seen.add((fresh, after == new))
        apply(1)
        for device in ('v0', 'v1'):
            attached(device)
        equal(len(peers()), 1)
        left = [name for name in os.listdir(PINS) if name in ('stage', 'next')]
        equal(left, [])
        equal(len([name for name in os.listdir(PINS) if name.startswith('programs-')]), 1)
    print('# killed: %s' % sorted(seen))
    tool('clean')
    nothing()
    true('clsact' not in sh('tc qdisc show dev v0'), 'clsact is left')


def test_failure():
    """A policy that cannot be applied leaves the old one whole."""
    apply(1)
    sh('ip link add v9 type veth peer name w9')
    fill_tcx('v9')
    sh('tc qdisc add dev v9 ingress')
    before = filters('v0'), tcx('v0'), sh('find %s | sort' % PINS)
    _, err = apply(2, rc=1)
    true('v9 has an ingress qdisc' in err and 'tc qdisc del dev v9 ingress' in err and err.count('\n') == 1, err)
    equal(in_force(), 1)
    equal(len(peers()), 1)
    equal((filters('v0'), tcx('v0'), sh('find %s | sort' % PINS)), before)
    equal(ours('v9'), set())
    tool('clean')
    apply(2, rc=1)
    nothing()
    true('clsact' not in sh('tc qdisc show dev v0'), 'clsact is left')
    true('qdisc ingress' in sh('tc qdisc show dev v9'), 'the ingress qdisc has gone')
    sh('ip link del v9')


def other_sizes():
    """A map whose values have another size."""
    os.unlink(PINS + '/qps')
    sh('bpftool map create %s/qps type hash key 8 value 12 entries 4 name qps' % PINS)


def no_layout():
    """Of before the version was written down."""
    os.unlink(PINS + '/layout')


def other_layout():
    """All sizes are the same, and what the values hold is not."""
    text = sh('bpftool map dump pinned %s/layout' % PINS)
    true(re.search(r'"version": \d+', text), 'bpftool does not show the version: ' + text)
    sh('bpftool map update pinned %s/layout key 0 0 0 0 value 255 0 0 0 0 0 0 0' % PINS)


def larger_policy():
    """The policy itself is longer than what this tool has room for."""
    size = json.loads(sh('bpftool -j map show pinned %s/active' % PINS))['bytes_value'] + 65536
    os.unlink(PINS + '/policy')
    sh('bpftool map create %s/larger type array key 4 value %d entries 1 name larger' % (PINS, size))
    sh('bpftool map create %s/policy type array_of_maps key 4 value 4 entries 1 name policy inner_map pinned %s/larger'
       % (PINS, PINS))
    sh('bpftool map update pinned %s/policy key 0 0 0 0 value pinned %s/larger' % (PINS, PINS))


def test_other_version():
    """Maps of another layout are replaced when a policy is applied, and not before."""
    for make in (other_sizes, no_layout, other_layout, larger_policy):
        apply(1)
        make()
        for words in (('qp', 'show'), ('show',), ('class', 'show')):
            _, err = tool(*words, rc=1)
            true('another version' in err and 'apply it again' in err and err.count('\n') == 1,
                 '%s: %s' % (make.__name__, err))
        attached()
        out, _ = apply(2)
        true('- classes[training].rate: 11Gbit' in out, '%s: the policy before is not known: %s' % (make.__name__, out))
        equal(in_force(), 2)
        attached()
    tool('clean')
    nothing()
    true('clsact' not in sh('tc qdisc show dev v0'), 'it was forgotten that clsact is ours')


def trying(seconds, **kwargs):
    """Start `try` of policy 2."""
    with open('two.yaml', 'w', encoding='utf-8') as file:
        file.write(policy(2))
    return subprocess.Popen([TOOL, 'try', 'two.yaml', '--timeout', str(seconds)], stdin=subprocess.PIPE,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kwargs)


def wait_for(number, seconds=10):
    """Wait until a policy is in force."""
    end = time.monotonic() + seconds
    while in_force(maps=False) != number:
        true(time.monotonic() < end, '%s is not in force, but %s' % (number, in_force(maps=False)))
        time.sleep(0.02)


def test_try():
    """try goes back by itself; not when it is confirmed; also when it, or its terminal, dies."""
    apply(1)
    with trying(1) as job:
        wait_for(2)
        equal(job.wait(20), 1)
    equal(in_force(), 1)
    with trying(60) as job:
        wait_for(2)
        job.stdin.write(b'\n')
        job.stdin.flush()
        equal(job.wait(20), 0)
    equal(in_force(), 2)
    apply(1)
    with trying(60) as job:
        wait_for(2)
        job.stdin.close()
        equal(job.wait(20), 1)
    equal(in_force(), 1)
    with trying(60) as job:
        wait_for(2)
        job.kill()
        job.wait(20)
    wait_for(1)
    tool('clean')
    with trying(1) as job:
        wait_for(2)
        equal(job.wait(20), 1)
    nothing()


def has_policy(device, seconds=1):
    """Wait until a policy is attached to a netdevice."""
    begun = time.monotonic()
    while ours(device) - {('ingress', 'admit_ingress')} != OURS:
        true(time.monotonic() - begun < seconds, 'not within %d s: %s' % (seconds, filters(device)))
        time.sleep(0.02)
    print('# %s has the policy after %.2f s' % (device, time.monotonic() - begun))


def run_follows(job):
    """What `run` sees: a netdevice that comes, another one in its place, SIGHUP, SIGTERM."""
    sh('ip link add v7 type veth peer name w7')
    has_policy('v7')
    for same_number in (False, True):
        replace('v7', same_number)
        has_policy('v7')
    equal(lacking(), [])
    sh('ip link del v7')
    with open('one.yaml', 'w', encoding='utf-8') as file:
        file.write(policy(4))
    job.send_signal(signal.SIGHUP)
    wait_for(4)
    job.terminate()
    equal(job.wait(20), 0)


def test_run():
    """run attaches the policy to netdevices that come later, within a second, and ends cleanly."""
    with open('one.yaml', 'w', encoding='utf-8') as file:
        file.write(policy(1))
    with tempfile.TemporaryDirectory() as directory:
        listener = subprocess.Popen(
            ['python3', '-c', 'import socket,sys\ns=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)\n'
             's.bind(sys.argv[1])\nprint("bound",flush=True)\nfor _ in range(2): print(s.recv(99).decode(),flush=True)',
             directory + '/notify'], stdout=subprocess.PIPE, text=True)
        equal(listener.stdout.readline(), 'bound\n')
        with subprocess.Popen([TOOL, 'run', 'one.yaml'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=dict(os.environ, NOTIFY_SOCKET=directory + '/notify')) as job:
            equal(listener.stdout.readline(), 'READY=1\n')
            try:
                run_follows(job)
            finally:
                job.kill()
        listener.terminate()
        listener.wait()
        listener.stdout.close()
    equal(in_force(), 4)
    attached()
    apply(4)
    rows = json.loads(sh('bpftool -j map dump pinned %s/ports' % PINS))
    equal(sorted(row['formatted']['value']['name'] for row in rows), ['v0', 'v1'])
    tool('clean')


def replace(device, same_number):
    """Have another netdevice of the same name, at once, and of the same number if that is wanted."""
    number = json.loads(sh('ip -j link show ' + device))[0]['ifindex']
    options = 'index %d' % number if same_number else ''
    sh('ip -batch -', stdin='link del %s\nlink add %s %s type veth peer name w%s\n' % (
        device, device, options, device[1:]))


def lacking():
    """The netdevices that status says the policy is not attached to."""
    return [row['netdevice'] for row in json.loads(tool('-j', 'status')[0]) if 'apply the policy again' in row['name']]


def test_replaced():
    """Without run, status says which netdevices came later, also in the place of others; apply attaches to them."""
    sh('ip link add v8 type veth peer name w8')
    apply(1)
    equal(lacking(), [])
    for same_number in (False, True):
        replace('v8', same_number)
        equal(lacking(), ['v8'])
        apply(1)
        equal(lacking(), [])
        equal(ours('v8') - {('ingress', 'admit_ingress')}, OURS)
    sh('ip link del v8')
    equal(lacking(), [])
    tool('clean')


def test_unknown_qp():
    """QPs are looked at, and counted, where the policy says what is done, whatever that is; else they are not."""
    for line, looks, verdict in (('', False, 'pass'), ('unknown-qp: pass', True, 'pass'), ('unknown-qp: drop', True, 'drop')):
        tool('apply', '-', stdin='version: 1\ninterfaces: [v0]\nadmit: {%s}\n' % line)
        active = json.loads(sh('bpftool -j map dump pinned %s/active' % PINS))[0]['formatted']['value']
        equal(bool(active['flags'] & 2), looks, line)
        reasons = {row['reason']: row['verdict'] for row in json.loads(tool('-j', 'drop', 'show')[0])}
        equal(reasons['rx_unknown_qp'], verdict, line)
    tool('clean')


def test_directory():
    """The directory of pins is root's alone; that of somebody else, or what is none, is not used."""
    os.mkdir(PINS)
    os.chmod(PINS, 0o1777)
    apply(1)
    equal(os.stat(PINS).st_mode & 0o7777, 0o700)
    tool('clean')
    os.mkdir(PINS)
    os.chown(PINS, 65534, 65534)
    _, err = apply(1, rc=1)
    true("not a directory of root's" in err and err.count('\n') == 1, err)
    equal(os.listdir(PINS), [])
    os.rmdir(PINS)
    os.symlink('/sys/fs/bpf', PINS)
    _, err = apply(1, rc=1)
    true("not a directory of root's" in err, err)
    os.unlink(PINS)
    nothing()


def test_other_namespace():
    """From another network namespace, with the same BPF file system, nothing is attached, nor detached."""
    apply(1)
    before = tcx('v0'), filters('v0'), xdp('v0')
    other = 'unshare -n sh -c "ip link add v0 type veth peer name w0; ip link set v0 up; %s %s"'
    with open('two.yaml', 'w', encoding='utf-8') as file:
        file.write(policy(2))
    done = subprocess.run(['bash', '-c', other % (TOOL, 'apply two.yaml')], capture_output=True, check=False, text=True)
    true(done.returncode == 1 and 'another network namespace' in done.stderr and done.stderr.count('\n') == 1, done.stderr)
    equal((tcx('v0'), filters('v0'), xdp('v0')), before)
    equal(in_force(), 1)
    sh(other % (TOOL, 'clean'))
    true(not os.path.exists(PINS), 'pins are left')
    apply(1)
    attached()
    tool('clean')
    nothing()


def test_no_types():
    """A kernel without BTF is told from other failures, in one line."""
    if os.path.exists('/boot/vmlinux-' + os.uname().release):
        print('# the kernel itself is in /boot: its types are found there')
        return
    sh('mount -t tmpfs none /sys/kernel/btf')
    _, err = apply(1, rc=1)
    sh('umount /sys/kernel/btf')
    true('CONFIG_DEBUG_INFO_BTF' in err and err.count('\n') == 1, err)
    nothing()


def test_foreign_qdisc():
    """A qdisc that somebody put where ours was stays."""
    apply(1)
    index = socket.if_nametoindex('v0')
    key = ' '.join(map(str, index.to_bytes(4, 'little')))
    value = b'v0'.ljust(16, b'\0') + b'noqueue'.ljust(16, b'\0') + (2).to_bytes(8, 'little')
    for again in (apply, tool):
        sh('bpftool map update pinned %s/ports key %s value %s' % (PINS, key, ' '.join(map(str, value))))
        sh('tc qdisc replace dev v0 root handle 77: pfifo limit 77')
        _, err = apply(2) if again is apply else tool('clean')
        true('v0 has the qdisc pfifo' in err, err)
        true('pfifo 77: root' in sh('tc qdisc show dev v0'), 'it has gone')
    sh('tc qdisc del dev v0 root')


def test_large_mtu():
    """Attaching works, or tc is used, at any MTU."""
    for mtu in (1500, 3498, 4200, 9000):
        sh('ip link set v0 mtu %d; ip link set w0 mtu %d' % (mtu, mtu))
        apply(1)
        attached()
        tool('clean')
    sh('ip link set v0 mtu 1500; ip link set w0 mtu 1500')


def test_no_privilege():
    """Without privilege it says so, in one line; also where that there is no policy could be meant."""
    apply(1)
    for words in (('diff', '-'), ('class', 'show'), ('show',), ('try', '-')):
        done = subprocess.run(['setpriv', '--reuid', '65534', '--clear-groups', TOOL, *words], input=policy(2),
                              capture_output=True, timeout=60, check=False, text=True)
        true(done.returncode == 1 and 'run it as root' in done.stderr and not done.stdout, '%s: %s%s' % (
            words, done.stdout, done.stderr))
        equal(done.stderr.count('\n'), 1, words)
    equal(in_force(), 1)
    tool('clean')
    if not os.path.isdir('/sys/module/rocepath'):
        true('no policy is in force' in tool('class', 'show', rc=1)[1], 'class show speaks of the module alone')
    done = subprocess.run(['setpriv', '--reuid', '65534', '--clear-groups', TOOL, 'apply', '-'], input=policy(1),
                          capture_output=True, timeout=60, check=False, text=True)
    true(done.returncode == 1 and 'run it as root' in done.stderr, done.stderr)
    equal(done.stderr.count('\n'), 1)


TESTS = [test_apply, test_shows, test_jobs, test_json, test_numbers, test_counts, test_foreign, test_reloads, test_together, test_killed, test_failure,
         test_other_version, test_try, test_run, test_replaced, test_unknown_qp, test_directory, test_other_namespace, test_no_types, test_foreign_qdisc, test_large_mtu, test_no_privilege]
LINKS = [test_foreign_links, test_full]
FILTERS = [test_apply, test_foreign, test_clsact_of_ours, test_reloads, test_killed, test_failure, test_other_version]


def plan():
    """(name, test) of what is tested: with TCX, and once more with all its places taken; without it, as it is."""
    tests = TESTS + LINKS if attached.by_links else TESTS + FILTERS[2:3]
    for test in tests:
        yield test.__name__, test
    if not attached.by_links:
        return
    full = [fill_tcx(device) for device in ('v0', 'v1')]
    attached.by_links, attached.again = False, True
    for test in FILTERS:
        yield test.__name__ + ', by filters', test
    for programs in full:
        free_tcx(programs)


def inside():
    """Run all tests, in namespaces of their own; KTAP to stdout."""
    sh('mount -t bpf bpf /sys/fs/bpf; mount -t tmpfs tmpfs /run; ip link set lo up')
    for i in range(2):
        sh('ip link add v%d type veth peer name w%d; ip link set v%d up; ip link set w%d up' % (i, i, i, i))
    failed = 0
    programs = fill_tcx('v0', 1)
    attached.by_links, attached.again = bool(programs), False
    free_tcx(programs)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        with open('foreign.c', 'w', encoding='ascii') as file:
            file.write(FOREIGN)
        sh('clang -O2 -g -target bpf -idirafter /usr/include/$(gcc -dumpmachine) -c foreign.c -o foreign.o')
        number = 0
        for name, test in plan():
            if sys.argv[2:] and not any(word in name for word in sys.argv[2:]):
                continue
            number += 1
            try:
                test()
                print('ok %d %s' % (number, name))
            except (AssertionError, Failed, LookupError, TypeError, ValueError, OSError,
                    subprocess.SubprocessError) as error:
                failed += 1
                print('# %s' % str(error).replace('\n', '\n# '))
                print('not ok %d %s' % (number, name))
                subprocess.run([TOOL, 'clean'], stderr=subprocess.DEVNULL, check=False)
            sys.stdout.flush()
        print('1..%d' % number)
        os.chdir('/')
    return 1 if failed else 0


def main():
    """Build the tool, and go into namespaces."""
    if sys.argv[1:2] == ['--inside']:
        return inside()
    print('KTAP version 1')
    if os.geteuid():
        print('1..0 # SKIP it needs root')
        return 4
    if subprocess.run(['unshare', '-n', '-m', 'mount', '-t', 'bpf', 'bpf', '/sys/fs/bpf'], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        print('1..0 # SKIP BPF or namespaces are not permitted here')
        return 4
    if 'ROCEPATH_TOOL' not in os.environ:
        subprocess.run(['make', '-s', '-C', ROOT + '/user', 'O=' + OUT, 'SAN=1'], check=True, stdout=sys.stderr)
    sys.stdout.flush()
    return subprocess.run(['unshare', '-n', '-m', sys.executable, __file__, '--inside', *sys.argv[1:]],
                          check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
