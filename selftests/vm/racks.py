# SPDX-License-Identifier: GPL-2.0
"""Two hosts, machines a and b, in two racks of the fabric of lib/fabric.py, machine f."""

import collections
import struct

from lab import ksft
from lib import fabric
from lib.fabric import Fabric
from rocepath_lab import rocepath_lab, setup

PORTS = ('eth0', 'eth1')
V4 = {host: fabric.address(host) for host in fabric.RACKS}
V6 = {host: fabric.address(host, 6) for host in fabric.RACKS}
# What arrives late has waited for a CPU; what is lost is repaired long before.
SETTINGS = 'gap-floor 200ms gap-ceiling 400ms holddown 200ms holddown-max 2s'

Racks = collections.namedtuple('Racks', 'lab a b f fabric')


def racks(kernel=None, programs=(), **kwargs):
    """A lab with the three machines, not started."""
    lab = rocepath_lab(kernel, programs=programs, **kwargs)
    hosts = {name: lab.machine(name, nics=2) for name in ('a', 'b')}
    # One CPU forwards more than two that wait for each other, and lets nothing overtake.
    f = lab.machine('f', nics=4, smp=1)
    Fabric.cable(lab, f, hosts)
    return Racks(lab, hosts['a'], hosts['b'], f, Fabric(f, hosts))


def addresses(m):
    """With prefix lengths."""
    return V4[m.name] + '/24', V6[m.name] + '/64'


def received(m):
    """Packets that a host's ports have received."""
    return sum(int(m.get('/sys/class/net/%s/statistics/rx_packets' % port)) for port in PORTS)


def routes(m, dev):
    """To the other rack, by the anycast gateway."""
    m.run('ip route replace default via %s dev %s; ip -6 route replace default via %s dev %s' % (
        fabric.gateway(m.name), dev, fabric.gateway(m.name, version=6), dev))


def join(r, m, how, settings=SETTINGS, via=False):
    """Join a host's ports, make rxe0 on top. Returns the device.

    how  'port', 'bond MODE' or 'rocepath SCHEDULER'
    via  a gateway of its own for each port, not the anycast one; the fabric is to be told as well
    """
    kind, _, argument = how.partition(' ')
    if kind == 'port':
        dev = PORTS[0]
        m.up(dev, *addresses(m))
    elif kind == 'bond':
        dev = 'bd0'
        # Either leaf may deliver; a backup port that drops it would be no fault of bonding's.
        more = 'xmit_hash_policy layer3+4' if 'xor' in argument else 'all_slaves_active 1'
        m.run('set -e; ip link add bd0 type bond mode %s miimon 100 %s\n' % (argument, more) +
              ''.join('ip link set {0} down; ip link set {0} master bd0\n'.format(port)
                      for port in PORTS))
        m.up(dev, *addresses(m))
        r.fabric.neighbours(m.name, m.mac(0))
    else:
        dev = 'rp0'
        setup(m, PORTS, addresses(m), settings='scheduler %s %s' % (argument, settings))
        if via:
            m.run('\n'.join('rocepath port set %s via %s' % (
                port, fabric.gateway(m.name, i, version))
                            for i, port in enumerate(PORTS) for version in (4, 6)))
    routes(m, dev)
    m.rxe(dev)
    return dev


def unjoin(r, m, dev):
    """Undo `join`."""
    if dev == 'bd0':
        r.fabric.neighbours(m.name)
    cmd = 'rdma link del rxe0; ip addr flush dev %s; ' % dev
    if dev not in PORTS:
        cmd += 'ip link del %s; ' % dev
    m.run(cmd + ' '.join('ip link set %s up;' % port for port in PORTS))


def frame(sport, payload=bytes(16), src='a', version=4, label=0, ttl=64, tos=0,
          mac=fabric.ANYCAST_MAC):
    """A frame from one host to the other, to RoCE's UDP port; no valid RoCE, rdma_rxe drops it.

    It has 16 bytes at least: with less than a BTH rdma_rxe puts a QP that it never got.
    """
    dst = 'b' if src == 'a' else 'a'
    udp = struct.pack('!HHHH', sport, 4791, 8 + len(payload), 0) + payload
    ends = bytes().join(fabric.packed(host, version) for host in (src, dst))
    if version == 6:
        ip = struct.pack('!IHBB', 6 << 28 | tos << 20 | label, len(udp), 17, ttl) + ends
    else:
        ip = struct.pack('!BBHHHBBH', 0x45, tos, 20 + len(udp), 0, 0, ttl, 17, 0) + ends
        total = sum(struct.unpack('!10H', ip))
        while total >> 16:
            total = (total & 0xffff) + (total >> 16)
        ip = ip[:10] + struct.pack('!H', total ^ 0xffff) + ip[12:]
    head = bytes.fromhex(mac.replace(':', '')) + b'\x02\x00\x00\x00\x00\x02'
    return head + (b'\x86\xdd' if version == 6 else b'\x08\x00') + ip + udp


def inject(m, frames, port=None, times=1):
    """Send frames: by one port (its number), or, when None, each by both; each so many times."""
    where = PORTS if port is None else (PORTS[port],)
    lines = ['%d raw=%s' % (i, data.hex()) for data in frames for i in range(len(where))]
    m.put(('\n'.join(lines) + '\n').encode(), '/tmp/frames')
    out = m.run('inject -n %d %s </tmp/frames' % (
        times, ' '.join('-i ' + name for name in where)), 120).out
    ksft.eq(int(out), len(lines), 'frames injected')
