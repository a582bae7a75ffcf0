#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make the captures in this folder anew: what rdma_rxe of a stock kernel sends.

    usage: capture.py [KERNEL]      default 6.12

Two machines, no rocepath in them, run perftest and rping over IPv4, IPv6, one VLAN tag and two. Of each
opcode the first few packets are kept; they are the test vectors that are the project's own.
"""

import collections
import os
import signal
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'vm'))

# pylint: disable=wrong-import-position
from lab import Lab  # noqa: E402

ROCE_PORT = 4791
KEEP = 2        # packets of each opcode in a file
GCC = '/lib/x86_64-linux-gnu/libgcc_s.so.1'     # pthread_exit of rping loads it

RUNS = (
    'ib_write_bw -s %(size)d',
    'ib_write_bw -s 64',
    'ib_write_bw -s %(size)d -c UC',
    'ib_read_bw -s %(size)d',
    'ib_read_bw -s 64',
    'ib_send_bw -s %(size)d',
    'ib_send_bw -s 61',
    'ib_send_bw -s %(size)d -c UC',
    'ib_send_bw -s 64 -c UD',
    'ib_atomic_bw -A FETCH_AND_ADD',
    'ib_atomic_bw -A CMP_AND_SWAP',
)

# file: addresses of both machines, path MTU
FILES = {
    'ipv4': ('10.9.0.%d', 1024),
    'ipv6': ('fd09::%d', 4096),
    'vlan': ('10.9.9.%d', 1024),
    'qinq': ('10.9.100.%d', 1024),
}


def udp_of(frame):
    """Offset of the UDP header in a frame of any number of tags, or None."""
    at = 12
    while frame[at:at + 2] in (b'\x81\x00', b'\x88\xa8'):
        at += 4
    kind, l3 = frame[at:at + 2], at + 2
    if kind == b'\x08\x00' and frame[l3 + 9] == 17:
        return l3 + (frame[l3] & 15) * 4
    if kind == b'\x86\xdd' and frame[l3 + 6] == 17:
        return l3 + 40
    return None


def trim(pcap):
    """The first packets of each opcode in a little endian capture."""
    out, seen, at = [pcap[:24]], collections.Counter(), 24
    while at < len(pcap):
        size = struct.unpack_from('<I', pcap, at + 8)[0]
        record, at = pcap[at:at + 16 + size], at + 16 + size
        frame = record[16:]
        udp = udp_of(frame)
        if udp is None or struct.unpack_from('!H', frame, udp + 2)[0] != ROCE_PORT:
            continue
        opcode = frame[udp + 8]
        seen[opcode] += 1
        if seen[opcode] <= KEEP:
            out.append(record)
    return b''.join(out), seen


def perftest(server, client, run, gids, mtu):
    """One of RUNS; what perftest has to say to itself goes over untagged IPv4."""
    cmd = run % {'size': mtu * 5 // 2} + ' -d rxe0 -n 5 -F'
    if '-c UD' not in cmd:
        cmd += ' -m %d' % mtu
    job = server.spawn('%s -x %d' % (cmd, gids[server]))
    server.poll('ss -ltn | grep -q 18515', why=cmd)
    client.run('%s -x %d %s' % (cmd, gids[client], FILES['ipv4'][0] % server.number), timeout=60)
    job.wait(60)


def rping(server, client, addr):
    """A connection by RDMA CM, so that there are management datagrams."""
    job = server.spawn('rping -s -C 2 -a %s' % addr)
    server.poll('rdma resource show cm_id | grep -q LISTEN', why='rping')
    client.run('rping -c -C 2 -a %s' % addr, timeout=60)
    job.wait(60, check=False)


def capture(a, b, name):
    """One file."""
    address, mtu = FILES[name]
    gids = {m: m.gid('rxe0', address % m.number) for m in (a, b)}
    job = a.capture('eth0', '/tmp/%s.pcap' % name)
    for run in RUNS:
        print('# %s: %s' % (name, run), flush=True)
        perftest(b, a, run, gids, mtu)
    print('# %s: rping' % name, flush=True)
    rping(b, a, address % b.number)
    job.kill(signal.SIGINT)
    job.wait(check=False)
    data, seen = trim(a.get('/tmp/%s.pcap' % name))
    with open(os.path.join(HERE, name + '.pcap'), 'wb') as f:
        f.write(data)
    print('# %s: %d bytes, opcodes %s' % (name, len(data), ' '.join('%02x' % o for o in sorted(seen))), flush=True)


def main():
    """Boot, and make all files."""
    with Lab(sys.argv[1] if len(sys.argv) > 1 else '6.12', files={GCC: GCC}) as lab:
        a, b = (lab.machine(name, nics=1, mtu=9000) for name in 'ab')
        lab.cable(a, 0, b, 0)
        lab.start()
        for m in (a, b):
            m.up('eth0', '10.9.0.%d/24' % m.number, 'fd09::%d/64' % m.number)
            m.rxe('eth0')
            m.run('modprobe 8021q')
            m.run('ip link add link eth0 name eth0.9 type vlan id 9')
            m.up('eth0.9', '10.9.9.%d/24' % m.number)
            m.run('ip link add link eth0 name eth0.100 type vlan proto 802.1ad id 100')
            m.up('eth0.100')
            m.run('ip link add link eth0.100 name eth0.100.9 type vlan id 9')
            m.up('eth0.100.9', '10.9.100.%d/24' % m.number)
        for name in FILES:
            capture(a, b, name)


if __name__ == '__main__':
    main()
