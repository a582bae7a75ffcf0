# SPDX-License-Identifier: GPL-2.0
"""What the tests of rocepath share: a lab that has it, devices, peers, and the books that must balance."""

import contextlib

from artifacts import module, program, tool
from lab import Lab, PollTimeout, ksft
from lib.initrd import Kernel

KEY = '000102030405060708090a0b0c0d0e0f'
LIBGCC = '/lib/x86_64-linux-gnu/libgcc_s.so.1'  # pthread_exit of rping loads it

# A virtual CPU may stand still for tens of milliseconds: wait longer for what is late than a real
# host would.
SLOW = 'gap-floor 200ms gap-ceiling 400ms report-interval 10ms'


def rocepath_lab(kernel=None, files=None, programs=(), modules=('rocepath',), **kwargs):
    """A Lab whose machines have the module, the tool and these programs (as /bin/NAME)."""
    found = Kernel.find(kernel) if kernel else None
    files = dict(files or {}, **{'/bin/rocepath': tool(), LIBGCC: LIBGCC})
    files.update(('/bin/' + name, program(name)) for name in programs)
    lab = Lab(kernel, files=files, **kwargs)
    lab.modules += [module(found or lab.kernel, name) for name in modules]
    return lab


def key(m, dev='rp0', number=1, secret=KEY, more=''):
    """Give a device a key."""
    m.put(secret.encode() + b'\n', '/tmp/key', 0o600)
    m.run('rocepath key set dev %s id %d secret-file /tmp/key %s' % (dev, number, more))


def setup(m, ports, addresses=(), dev='rp0', settings=SLOW, with_key=True, mtu=None, link=''):
    """Make a device of these ports, up, with addresses, settings and a key."""
    cmd = 'set -e; modprobe ib_core; modprobe rocepath; ip link add %s %s type rocepath\n' % (dev, link)
    cmd += ''.join('ip link set %s master %s\n' % (port, dev) for port in ports)
    if settings:
        cmd += 'rocepath device set %s %s' % (dev, settings)
    m.run(cmd)
    if with_key:
        key(m, dev)
    m.run('ip link set %s up%s' % (dev, ' mtu %d' % mtu if mtu else ''))
    if ports:
        m.up(dev, *addresses)
    else:
        m.run('\n'.join('ip addr add %s dev %s' % (address, dev) for address in addresses))


def show(m, what, dev=None):
    """The rows of `rocepath WHAT show`: of 'device', 'port', 'peer', 'path', 'flow', 'key'."""
    rows = m.json('rocepath -j %s show%s' % (what, ' dev ' + dev if dev else '')) or []
    return rows if isinstance(rows, list) else [rows]


def port(m, name):
    """What is known of one port."""
    return next(row for row in show(m, 'port') if row['name'] == name)


def peer(m, address):
    """What is known of one peer, or an empty dict."""
    return next((row for row in show(m, 'peer') if row['address'] == address), {})


def capable(m, address, timeout=15):
    """Wait until a peer has said that it restores order."""
    m.poll(lambda: peer(m, address).get('state') == 'capable', timeout, 'peer %s is capable' % address)


def ports_of(m, dev='rp0'):
    """The names of a device's ports."""
    return [row['name'] for row in show(m, 'port', dev)]


def held(m, dev='rp0'):
    """Packets that the device's flows hold now."""
    return sum(row[way]['held'] for row in show(m, 'flow', dev)
               for way in ('requests', 'responses') if way in row)


def balance(c, held_now, ports):
    """Both equations of kmod/stats.h, as (left, right) pairs, from `counters` of a device."""
    def total(prefix):
        return sum(value for name, value in c.items() if name.startswith(prefix))

    def of_ports(name):
        return sum(c['%s_%s' % (p, name)] for p in ports)
    sent = (c['tx_packets'] + c['tx_flood_copies'] + c['tx_control'] + c['tx_repaired'] +
            c['tx_ack_again'],
            of_ports('tx_packets') + of_ports('tx_dropped') + c['tx_left'] + total('tx_drop_'))
    received = (of_ports('rx_packets') + c['rx_left'] + c['rx_gso_segments'],
                c['rx_packets'] + held_now + total('rx_control_') + total('rx_drop_'))
    return sent, received


def conserved(m, dev='rp0', timeout=10):
    """Assert that no packet of the device is unaccounted for.

    Only a device at rest balances: what came between two reads is seen once. So it is
    looked at until two looks are the same, and then must balance exactly.
    """
    def look():
        return m.counters(dev), held(m, dev)

    state = [look()]

    def rests():
        state.append(look())
        return state[-1] == state[-2] or all(a == b for a, b in balance(*state[-1], ports))
    ports = ports_of(m, dev)
    try:
        m.poll(rests, timeout, '%s comes to rest' % dev)
    except PollTimeout:
        ksft.say('%s: the last two looks at %s differ by %s, held %d' % (
            m.name, dev, changes(state[-2][0], state[-1][0]), state[-1][1]))
    for what, (left, right) in zip(('sent', 'received'), balance(*state[-1], ports)):
        ksft.eq(left, right, '%s: %s: packets %s are not conserved: %s' % (
            m.name, dev, what, {k: v for k, v in state[-1][0].items() if v}))


def changes(before, after):
    """The counters that differ, by how much."""
    return {name: value - before.get(name, 0) for name, value in after.items()
            if value != before.get(name, 0)}


def unreclaimable(m):
    """KiB that a kernel does not get back by itself."""
    return next(int(line.split()[1]) for line in m.get('/proc/meminfo').decode().splitlines()
                if line.startswith('SUnreclaim'))


@contextlib.contextmanager
def counted(m, dev='rp0'):
    """A dict that holds, after the block, the counters of the device that changed in it."""
    before, out = m.counters(dev), {}
    yield out
    out.update(changes(before, m.counters(dev)))


def remove(m, dev='rp0', rxe=None):
    """Delete a device, and its soft-RoCE device first."""
    if rxe:
        m.run('rdma link del %s' % rxe)
    m.run('ip link del %s' % dev)
