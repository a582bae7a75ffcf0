#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Who means harm: random netlink messages, of root and of users, and noise on the wire, beside honest queue pairs.

The topology is that of hosts.py. `--full` sends ten times as much, 10^6 packets of each kind.
"""

import random
import sys

from hosts import PORTS, V4, V6, Stream, build, know_each_other, main, traffic, unbuild
from lab import ksft
from lib import roce
from rocepath_lab import changes, conserved, show, unreclaimable

FULL = '--full' in sys.argv
TIMES = 10 if FULL else 1
NOBODY = 65534
KINDS = ('device', 'port', 'key', 'class')      # what only an administrator moves
OWN = ('holddown_left_ms', 'state', 'since_ms', 'stats', 'share_permille', 'peers', 'flows', 'held_bytes',
       'kept_bytes', 'flaps', 'reason', 'ports_up')
MOVING = ('qps', 'peers', 'paths', 'paths_up', 'stats')   # of RDMA devices, by themselves
FRAMES = 2000           # that are made up; each is sent so often that there are enough
SLACK_KIB = 8192        # that a kernel's own memory may differ by


def ifindex(m, name):
    return int(m.get('/sys/class/net/%s/ifindex' % name))


def nlfuzz(m, count, what='rocepath', uid=0, seed=1):
    """Send random messages; returns how many there were of each answer."""
    known = ' '.join('-i %d' % ifindex(m, name) for name in ('rp0',) + PORTS)
    words = m.run('nlfuzz -s %d %s %s %s %d' % (seed, '-u %d' % uid if uid else '', known, what, count), 300).out.split()
    answers = dict(zip(words[::2], map(int, words[1::2])))
    ksft.say('%s, user %d: %s' % (what, uid, answers))
    return answers


def settings(m):
    """What nobody but an administrator may move."""
    return [{name: value for name, value in row.items() if name not in OWN} for kind in KINDS for row in show(m, kind)]


def messages_of_users(a, b, _lab):
    """A user's messages are answered, change nothing, and no queue pair fails."""
    before = settings(a)
    stream = Stream(b, a, seconds=300, options='-n 4')
    answers = nlfuzz(a, 20000 * TIMES, uid=NOBODY)
    links = nlfuzz(a, 200 * TIMES, '-l rocepath', NOBODY)
    stream.end()
    ksft.eq(settings(a), before)
    # what may be read by all is read, the rest is refused before it is looked at
    ksft.ge(min(answers.get('ok', 0), answers.get('EPERM', 0)), 500, answers)
    ksft.eq(set(links) - {'ok', 'EPERM', 'EINVAL', 'ERANGE'}, set(), links)
    ksft.eq(links['ok'], 0, 'devices that a user made')


def messages_of_root(a, b, _lab):
    """An administrator's messages, whatever they set, leave a kernel that works and gives its memory back."""
    nlfuzz(a, 1000, seed=2)
    memory = unreclaimable(a)
    for seed in range(3, 3 + 4 * TIMES):
        answers = nlfuzz(a, 5000, seed=seed)
        ksft.ge(answers['ok'], 500, answers)
        ksft.isin('EINVAL', answers)
        ksft.isin('ERANGE', answers)
    nlfuzz(a, 100 * TIMES, '-l rocepath', seed=7)
    ksft.eq([row['name'] for row in show(a, 'device')], ['rp0'])
    unbuild(a)
    ksft.le(unreclaimable(a) - memory, SLACK_KIB, 'KiB more than before')
    build(a)
    b.run('ping -c 1 -W 5 %s' % V4['a'])
    know_each_other(a, b)
    traffic(b, a, (a,), addr=V4['b'])


def messages_about_hardware(a, b, _lab):
    """The same to rocepath_rdma, under queue pairs that it sees being made."""
    a.run('modprobe rocepath_rdma')
    def shown():
        return [{name: value for name, value in row.items() if name not in MOVING} for row in a.json('rocepath -j rdma show')]
    before = shown()
    stream = Stream(b, a, seconds=300, options='-n 4')
    answers = nlfuzz(a, 10000 * TIMES, 'rocepath_rdma', NOBODY)
    ksft.ge(min(answers.get('ok', 0), answers.get('EPERM', 0)), 200, answers)
    stream.end()
    ksft.eq(shown(), before)
    for seed in range(1, 1 + TIMES):
        answers = nlfuzz(a, 10000, 'rocepath_rdma', seed=seed)
        ksft.ge(answers['ok'], 200, answers)
    a.run('rmmod rocepath_rdma')
    traffic(b, a, (a,), addr=V4['b'])


def noise(real, dice):
    """Frames: real ones changed, cut off, with other ends; random RoCE; and anything behind a real MAC header."""
    for i in range(FRAMES):
        data = bytearray(dice.choice(real))
        at = dice.randrange(14, len(data))
        if i % 4 == 0:
            data = data[:at]
        elif i % 4 == 1:
            # not the PSN and opcode of somebody's packet under way: that is a man in the middle, see docs/security.md
            data[14:42] = (b ^ (1 << dice.randrange(8) if dice.random() < 0.1 else 0) for b in data[14:42])
            data[42:54] = dice.randbytes(12)
        elif i % 4 == 2:
            data[42:] = dice.randbytes(dice.randrange(1400))
        else:
            data[12:] = dice.choice((b'\x08\x00', b'\x86\xdd', b'\x81\x00', b'\x08\x06', b'\x88\xa8')) + dice.randbytes(
                dice.randrange(1400))
        yield bytes(data)


def beside(a, b, lies, options='', count=100000 * TIMES):
    """From b's ports into a's, while honest queue pairs run; none of these may fail or stand still.

    A machine that is flooded may be late, so that queue pairs ask again: how often is said. `lies` are lines for inject, or what makes them once the queue pairs are there.
    """
    to = a.json('ip -j link show dev rp0')[0]['address']
    peers = [row['address'] for row in show(a, 'peer')]
    flows = len(show(a, 'flow'))
    stream = Stream(b, a, seconds=600, options='-n 4')
    a.poll(lambda: sum('sent_requests' in row for row in show(a, 'flow')) >= 4, 20, 'flows')
    lies = lies() if callable(lies) else lies
    b.put(('\n'.join('%d %s' % (i % 2, line) for i, line in enumerate(lies)) + '\n').encode(), '/tmp/lies')
    before, errors = a.counters('rp0'), a.sequence_errors() + b.sequence_errors()
    b.run('inject -b %s -n %d -d %s -a %s,%s %s </tmp/lies' % (
        ' '.join('-i ' + port for port in PORTS), max(1, count // len(lies)), to, V4['b'], V4['a'], options), 500)
    stream.end()
    errors = a.sequence_errors() + b.sequence_errors() - errors
    got = changes(before, a.counters('rp0'))
    ksft.say('%d sequence errors; a: %s' % (errors, {k: v for k, v in got.items() if k.startswith('rx')}))
    ksft.eq([row['address'] for row in show(a, 'peer')], peers)
    a.poll(lambda: len(show(a, 'flow')) <= flows, 30, 'the flows of the queue pairs go')
    a.poll(lambda: show(a, 'device')[0]['held_bytes'] == 0, 30, 'nothing is held')
    return got


def noise_on_the_wire(a, b, _lab):
    """Frames of all kinds: what is no RoCE is dropped by reason or goes on to the stack; all is accounted for."""
    job = b.capture('eth0', '/tmp/real.pcap', '-c 60 "udp dst port 4791 and (src host %s or src host %s)"' % (V4['b'], V6['b']))
    traffic(a, b, addr=V4['a'], seconds=2)
    traffic(a, b, addr=V6['a'], control=V4['a'], seconds=2)
    job.kill(2)
    job.wait(check=False)
    real = [data for data, _ in roce.frames(b.get('/tmp/real.pcap'))]
    ksft.ge(len(real), 50, 'real packets')
    mac = bytes.fromhex(a.json('ip -j link show dev rp0')[0]['address'].replace(':', ''))
    lies = ['raw=' + (mac + data[6:]).hex() for data in noise(real, random.Random(1)) if len(data) >= 14]
    got = beside(a, b, lies)
    ksft.ge(got.get('rx_drop_malformed', 0), 1000, got)


def strangers(a, b, _lab):
    """Random (QPN, PSN) pairs: no flow of theirs comes to be, and none of ours moves."""
    got = beside(a, b, ['len=64'], '-r %d' % (100000 * TIMES), 1)
    ksft.ge(got['rx_roce'], 50000 * TIMES, got)


def forged_answers(a, b, _lab):
    """ACKs, NAKs and CNPs to queue pairs that there are, with PSNs long behind those that these begin with.

    rdma_rxe believes an ACK of any PSN ahead: who knows that much can say it, with or without rocepath
    (docs/security.md).
    """
    dice = random.Random(2)

    def lies():
        qpns = [row['local_qpn'] for row in show(a, 'flow')]
        return ['op=%d qpn=%d psn=%d syndrome=%d len=0' % (
            dice.choice((0x11, 0x11, 0x81)), dice.choice(qpns), dice.randrange(0x820000, 0xf00000),
            dice.choice((0, 0x1f, 0x60))) for _ in range(FRAMES)]
    beside(a, b, lies)
    for m in (a, b):
        conserved(m)


TESTS = [messages_of_users, messages_of_root, messages_about_hardware, noise_on_the_wire, strangers, forged_answers]

if __name__ == '__main__':
    sys.argv = [word for word in sys.argv if word != '--full']
    main(TESTS, programs=('rcstream', 'nlfuzz', 'inject'), modules=('rocepath', 'rocepath_rdma'))
