# SPDX-License-Identifier: GPL-2.0
"""One machine whose ports end in namespaces, where packets are made and looked at.

      rp0 10.0.0.1 fd00::1 02:..:01       a peer 10.0.0.2 fd00::2 02:..:02 that is not there:
         |  p0 ---- l0  in leaf0  |       `inject` sends what it would send, `responder`
         '- p1 ---- l1  in leaf1 -'       says its hellos
"""

import itertools
import signal

from lab import PollTimeout, ksft
from lib import roce
from rocepath_lab import KEY, changes, show

MAC = '02:00:00:00:00:01'
PEER_MAC = '02:00:00:00:00:02'
LINK = 'address ' + MAC
HERE = {4: '10.0.0.1', 6: 'fd00::1'}
PEER = {4: '10.0.0.2', 6: 'fd00::2'}
ADDRESSES = ('10.0.0.1/24', 'fd00::1/64')
PROGRAMS = ('inject', 'responder', 'rcqp')
SEND_ONLY = 0x04

_numbers = itertools.count(1)


def leaves(m, count=2, more=''):
    """Make pN in the machine, and its other end lN, up, in the namespace leafN.

    pN is not up until it is a port: so it never sends anything of its own.
    """
    cmd = 'set -e; echo 100000 >/proc/sys/net/core/netdev_max_backlog\n'
    for i in range(count):
        cmd += ('ip netns add leaf{0}\n'
                'ip netns exec leaf{0} sh -c "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6;'
                ' echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6"\n'
                'ip link add p{0} {1} type veth peer name l{0} {1} netns leaf{0}\n'
                'ip -n leaf{0} link set l{0} up\n').format(i, more)
    m.run(cmd)


def no_devices(m):
    """Whatever a test has left of devices and namespaces goes."""
    m.run('rdma link del rxe0; for d in $(ip -o link show type rocepath | cut -d: -f2); do ip link del $d; done;'
          'for n in $(ip netns | cut -d" " -f1); do ip netns del $n; done;'
          'for t in veth dummy bond bridge vlan; do for d in $(ip -o link show type $t | cut -d: -f2 | cut -d@ -f1);'
          'do ip link del $d; done; done', check=False)
    m.poll('! ls /sys/class/net | grep -q "^p[0-9]"', why='ports are gone')


def ports(count=2):
    """Names of the ports that `leaves` made."""
    return ['p%d' % i for i in range(count)]


def no_devices(m):
    """Whatever a test has left of devices and namespaces goes."""
    m.run('rdma link del rxe0; for d in $(ip -o link show type rocepath | cut -d: -f2); do ip link del $d; done;'
          'for n in $(ip netns | cut -d" " -f1); do ip netns del $n; done;'
          'for t in veth dummy bond bridge vlan; do for d in $(ip -o link show type $t | cut -d: -f2 | cut -d@ -f1);'
          'do ip link del $d; done; done', check=False)
    m.poll('! ls /sys/class/net | grep -q "^p[0-9]"', why='ports are gone')


def ports(count=2):
    """Names of the ports that `leaves` made."""
    return ['p%d' % i for i in range(count)]


def no_leaves(m, count=2):
    """Undo `leaves`."""
    m.run('for i in %s; do ip link del p$i; ip netns del leaf$i; done 2>/dev/null' % ' '.join(map(str, range(count))),
          check=False)
    m.poll('! ls /sys/class/net | grep -q "^p[0-9]"', why='ports are gone')


def neighbours(m, dev='rp0'):
    """The peer is known, so nobody asks for it."""
    m.run('ip neigh replace %s lladdr %s dev %s; ip neigh replace %s lladdr %s dev %s' % (
        PEER[4], PEER_MAC, dev, PEER[6], PEER_MAC, dev))


def wires(count=2):
    """The far ends of the ports, as inject and responder name them."""
    return ' '.join('-i leaf%d:l%d' % (i, i) for i in range(count))


def inject(m, lines, where=None, options='', dmac=MAC, version=4, addresses=None, timeout=120):
    """Send a list of packets (see inject.c) from the far ends of the ports, or from `where`."""
    path = '/tmp/list.%d' % next(_numbers)
    m.put(('\n'.join(lines) + '\n').encode(), path)
    where = wires() if where is None else where
    addresses = addresses or '%s,%s' % (PEER[version], HERE[version])
    out = m.run('inject %s -d %s -a %s %s <%s && rm %s' % (where, dmac, addresses, options, path, path), timeout).out
    ksft.eq(int(out), len(lines), 'packets injected')


class Counting(dict):
    """What a device's counters grow by in a block: complete after it; `wait` looks while it runs."""

    def __init__(self, m, dev='rp0'):
        super().__init__()
        self.m = m
        self.dev = dev

    def __enter__(self):
        self.before = self.m.counters(self.dev)
        return self

    def look(self):
        """Bring it up to date."""
        self.clear()
        self.update(changes(self.before, self.m.counters(self.dev)))
        return self

    def wait(self, name, count, timeout=15):
        """Wait until a counter has grown by so much."""
        try:
            self.m.poll(lambda: self.look().get(name, 0) >= count, timeout)
        except PollTimeout:
            ksft.fail('%s did not come to %d: %s' % (name, count, dict(self)))

    def __exit__(self, kind, value, trace):
        if not kind:
            self.look()


class Program:
    """A program in the machine that obeys lines on its stdin."""

    def __init__(self, m, cmd, ready=None):
        self.m = m
        self.fifo = '/tmp/fifo.%d' % next(_numbers)
        self.seen = 0
        m.run('mkfifo ' + self.fifo)
        self.job = m.spawn('exec %s <>%s' % (cmd, self.fifo))
        if ready:
            self.m.poll(lambda: ready in self.job.lines() or not self.job.running(), 30, '%s is ready' % cmd)
            if not self.job.running():
                self.job.wait()

    def tell(self, line):
        """Send a line."""
        self.m.run("echo '%s' >%s" % (line, self.fifo))

    def ask(self, line, prefix=None):
        """Send a line, and wait for the one that answers it; returns its words, without the first."""
        prefix = prefix or line.split()[0]

        def answer():
            lines = self.job.lines()
            for i in range(self.seen, len(lines)):
                words = lines[i].split()
                if words and words[0] == prefix:
                    self.seen = i + 1
                    return words
            return None if self.job.running() else self.job.wait()
        self.tell(line)
        return self.m.poll(answer, 20, '%s answers %s' % (self.job.cmd, line), interval=0.01)[1:]

    def stop(self):
        """End it."""
        self.job.kill(signal.SIGTERM)
        self.job.wait(check=False)
        self.m.run('rm -f ' + self.fifo)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.stop()


class Responder(Program):
    """The peer's hellos."""

    def __init__(self, m, keys=((1, KEY),), version=4, options='', count=2):
        super().__init__(m, 'responder %s -d %s -a %s,%s %s %s' % (
            wires(count), MAC, PEER[version], HERE[version],
            ' '.join('-k %d:%s' % key for key in keys), options))

    def tell(self, line):
        """Send a command, and wait until it is done."""
        before = sum(1 for done in self.job.lines() if done == 'done ' + line)
        super().tell(line)
        self.m.poll(lambda: sum(1 for done in self.job.lines() if done == 'done ' + line) > before
                    or not self.job.running(), why='responder obeys ' + line, interval=0.01)
        if not self.job.running():
            self.job.wait()

    def state(self):
        """What it thinks of the device: (state, came, restarts, key)."""
        self.tell('state')
        words = [line for line in self.job.lines() if ' came ' in line][-1].split()
        return words[0], int(words[2]), int(words[4]), int(words[6])

    def met(self, timeout=20):
        """Wait until each has proved itself to the other."""
        self.m.poll(lambda: self.state()[0] == 'capable', timeout, 'the device has proved itself')
        self.m.poll(lambda: 'capable' in [row['state'] for row in show(self.m, 'peer')], timeout,
                    'the responder has proved itself')


class Qps(Program):
    """Queue pairs on rxe0 whose other end is the peer."""

    def __init__(self, m, count=1, psn=0, version=4, options='', gid=None):
        if gid is None:
            gid = m.gid('rxe0', HERE[version])
        super().__init__(m, 'rcqp -g %d -G %s -n %d -p %d %s' % (gid, PEER[version], count, psn, options), 'ready')
        words = [line.split() for line in self.job.lines()]
        self.qpn = [int(w[2]) for w in words if w[0] == 'qp']
        self.address, self.rkey = next((int(w[1]), int(w[2])) for w in words if w[0] == 'mr')

    def counts(self):
        """How much each has received."""
        return [int(n) for n in self.ask('count')]

    def tags(self, i=0):
        """What one has received, in order."""
        return [int(n) for n in self.ask('tags %d' % i)]

    def received(self, count, i=0, timeout=30):
        """Wait until one has received so many; returns their tags."""
        try:
            self.m.poll(lambda: self.counts()[i] >= count, timeout)
        except PollTimeout:
            ksft.fail('QP %d received %d of %d packets, %s ...; device: %s' % (
                i, self.counts()[i], count, self.tags(i)[:20], {k: v for k, v in self.m.counters('rp0').items() if v}))
        return self.tags(i)

    def failed(self):
        """Completions with an error."""
        return int(self.ask('failed')[0])

    def done(self, i=0):
        """Sends and READs that completed."""
        return int(self.ask('done %d' % i, 'done_%d' % i)[0])


class Captured:
    """tcpdump on (interface, namespace)s while the block runs; `frames` and `packets` (RoCEv2) by interface."""

    def __init__(self, m, where, expression='', snaplen=0):
        self.m = m
        self.where = [w if isinstance(w, tuple) else (w, None) for w in where]
        self.expression = expression
        self.snaplen = snaplen
        self.jobs, self.frames, self.packets = [], {}, {}

    def __enter__(self):
        for ifname, ns in self.where:
            self.jobs.append(self.m.capture(ifname, '/tmp/%s.pcap' % ifname, self.expression, self.snaplen, ns))
        return self

    def wait(self, key, count, *ifnames, timeout=20):
        """Wait until so many frames for which `key` is true are in the files of these interfaces (or all)."""
        ifnames = ifnames or [ifname for ifname, _ in self.where]

        def found():
            return sum(bool(key(frame)) for ifname in ifnames for frame in self.read(ifname))
        try:
            self.m.poll(lambda: found() >= count, timeout)
        except PollTimeout:
            ksft.fail('%d of %d frames on %s' % (found(), count, ifnames))

    def read(self, ifname):
        """The frames captured on an interface up to now."""
        data = self.m.get('/tmp/%s.pcap' % ifname)
        return [frame for frame, _ in roce.frames(data)] if len(data) >= 24 else []

    def __exit__(self, kind, value, trace):
        for (ifname, _), job in zip(self.where, self.jobs):
            job.kill(signal.SIGINT)
            job.wait(check=False)
            if not kind:
                self.frames[ifname] = self.read(ifname)
                self.packets[ifname] = [p for p in map(roce.parse, self.frames[ifname]) if p]
            self.m.run('rm -f /tmp/%s.pcap' % ifname)


def send(qpn, psn, tag=0, port=0, more=''):
    """A line of inject's list: a SEND of one packet."""
    return '%d op=%d qpn=%d psn=%d tag=%d %s' % (port, SEND_ONLY, qpn, psn & 0xffffff, tag, more)
