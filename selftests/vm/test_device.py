#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The device and its ports as an operator sees them: made, changed, refused, stacked, gone.

One machine. Most tests make a device of veth pairs whose other ends are in a namespace `far`, on a
bridge, that stands for a switch with a host:

      rp0 10.0.0.1 fd00::1          far:  br0 10.0.0.2 fd00::2
         |  p0 --------------------------- l0  |
         '- p1 --------------------------- l1 -'

What leaves by one port comes back by the other, as from a switch that floods.
"""

import contextlib
import functools
import json
import signal
import sys

from lab import ksft
from leaves import Counting, no_devices
from rocepath_lab import conserved, port, ports_of, rocepath_lab, show

MAC = '02:00:00:00:00:01'
PORT_MACS = ('02:00:00:00:10:00', '02:00:00:00:10:01')
NOBODY = 'setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all '


def far(m, count=2):
    """Ports p0, p1, ... into `far`."""
    cmd = ('set -e; ip netns add far\n'
           'ip -n far link add br0 address 02:00:00:00:00:02 type bridge forward_delay 0 mcast_snooping 0\n'
           'ip -n far link set br0 up; ip -n far addr add 10.0.0.2/24 dev br0\n'
           'ip -n far addr add fd00::2/64 dev br0 nodad\n')
    for i in range(count):
        cmd += ('ip link add p{0} address {1} type veth peer name l{0} netns far\n'
                'ip -n far link set l{0} master br0 up\n').format(i, PORT_MACS[i])
    m.run(cmd)


@contextlib.contextmanager
def device(m, count=2, link='address ' + MAC):
    """A device with its ports, up; at the end of the block no packet is unaccounted for."""
    far(m, count)
    cmd = 'set -e; ip link add rp0 %s type rocepath\n' % link
    cmd += ''.join('ip link set p%d master rp0\n' % i for i in range(count)) + 'ip link set rp0 up\n'
    cmd += 'ip addr add 10.0.0.1/24 dev rp0; ip addr add fd00::1/64 dev rp0 nodad\n'
    m.run(cmd)
    if count:
        carrier(m, 'rp0', True)
    yield
    conserved(m)


def link(m, name, ns=None):
    """What ip says of an interface."""
    return m.json('ip -j -d link show dev ' + name, ns=ns)[0]


def ipv6_addresses(m, name):
    """The IPv6 addresses of an interface."""
    rows = m.json('ip -j -6 addr show dev ' + name)
    return [a['local'] for row in rows for a in row.get('addr_info', [])]


def carrier(m, name, value):
    """Wait for the carrier of an interface that is up."""
    m.poll('test "$(cat /sys/class/net/%s/carrier)" = %d' % (name, value), why='carrier of %s: %s' % (name, value))


def reaches(m, *addresses, ns=None):
    """Pings are answered."""
    for address in addresses or ('10.0.0.2', 'fd00::2'):
        m.poll(lambda a=address: m.run('ping -c 1 -W 1 %s' % a, check=False, ns=ns).rc == 0, 15, 'ping %s' % address)


def refused(m, cmd, *texts):
    """A command fails, says all of these, and changes no port."""
    ports = 'ls -l /sys/class/net/*/master 2>/dev/null | cut -d: -f2-'
    job = m.run('before=$(%s); %s; rc=$?; [ "$before" = "$(%s)" ] || echo ports changed; exit $rc' % (ports, cmd, ports),
                check=False)
    ksft.true(job.rc, '%s was not refused' % cmd)
    for text in texts:
        ksft.isin(text, job.err + job.out, cmd)
    ksft.true('ports changed' not in job.out, cmd)


def lifecycle(m):
    """Devices are made, renamed while up, deleted, and go with the module."""
    m.run('ip link add rp0 type rocepath && ip link set rp0 up')
    row = link(m, 'rp0')
    ksft.eq(row['linkinfo']['info_kind'], 'rocepath')
    ksft.eq(row['operstate'], 'DOWN')
    m.run('ip link set rp0 name rp9')
    ksft.eq([d['name'] for d in show(m, 'device')], ['rp9'])
    m.run('ip link add rp1 type rocepath; ip link del rp9')
    ksft.eq([d['name'] for d in show(m, 'device')], ['rp1'])
    refused(m, 'ip link add rp2 address 03:00:00:00:00:01 type rocepath', 'Not a unicast MAC address')
    m.run('rmmod rocepath')
    ksft.true(m.run('ip link show dev rp1', check=False).rc, 'went with the module')
    ksft.eq(show(m, 'device'), [], 'the tool loads it again by itself')
    m.run('grep -q "^rocepath " /proc/modules')


def enslaving(m):
    """Ports come up or down, leave, and get back what was theirs."""
    far(m)
    m.run('ip link add rp0 type rocepath; ip link set p0 up')
    m.poll(lambda: ipv6_addresses(m, 'p0'), why='p0 has an address')
    for name in ('p0', 'p1'):
        m.run('ip link set %s master rp0' % name)
        ksft.isin('UP', link(m, name)['flags'])
        ksft.eq(link(m, name)['master'], 'rp0')
    ksft.eq(ipv6_addresses(m, 'p0'), [], 'a port has no address of its own')
    ksft.eq(ports_of(m), ['p0', 'p1'])
    m.run('ip link set p0 master rp0')
    ksft.eq(ports_of(m), ['p0', 'p1'], 'again: no change')
    m.run('ip link set rp0 up')
    carrier(m, 'rp0', True)
    for name, mac in zip(('p0', 'p1'), PORT_MACS):
        m.run('ip link set %s nomaster' % name)
        row = link(m, name)
        ksft.eq((row.get('master'), row['address'], row['mtu']), (None, mac, 1500))
    carrier(m, 'rp0', False)
    m.run('ip link set p0 master rp0; ip link del p0')
    ksft.eq(ports_of(m), [], 'a port that is deleted leaves')
    m.run('ip link del rp0')


def refusals(m):
    """What cannot be a port, and why."""
    with device(m):
        m.run('modprobe tun; ip link add g0 type gre local 10.9.9.1 remote 10.9.9.2; ip tuntap add t0 mode tun')
        refused(m, 'ip link set lo master rp0', 'Loopback cannot be a port')
        for name in ('g0', 't0'):
            refused(m, 'ip link set %s master rp0' % name, 'Only Ethernet devices can be ports')
        m.run('ip link del g0; ip link del t0')
        refused(m, 'ip link set rp0 master rp0', 'cannot be a port of itself')
        refused(m, 'ip netns exec far ip link set l0 master rp0', 'rp0')
        m.run('ip link add d0 type dummy; ip link add m0 link d0 type macvlan')
        refused(m, 'ip link set d0 master rp0', 'Already a port')
        m.run('ip link del m0')
        m.run('ip link set d0 master rp0')
        refused(m, 'ip link add m0 link d0 type macvlan')
        m.run('ip link del d0')


def loops(m):
    """A device cannot be inside itself, however deep."""
    text = 'a device cannot be inside itself'
    with device(m):
        m.run('ip link add link rp0 name v0 type vlan id 5')
        refused(m, 'ip link set v0 master rp0', text)
        m.run('ip link add m0 link v0 type macvlan')
        refused(m, 'ip link set m0 master rp0', text)
        m.run('ip link add rp1 type rocepath; ip link set m0 master rp1')
        refused(m, 'ip link set rp1 master rp0', text)
        m.run('ip link add link rp1 name v1 type vlan id 6')
        refused(m, 'ip link set v1 master rp0', text)
        m.run('ip link del v1; ip link del rp1; ip link del m0; ip link del v0')
        m.run('ip link add b0 type bond mode active-backup; ip link set rp0 down; ip link set rp0 master b0')
        refused(m, 'ip link set b0 master rp0', text)
        m.run('ip link del b0; ip link set rp0 up')
        carrier(m, 'rp0', True)


def many_ports(m):
    """32 ports, and not one more."""
    m.run('ip link add rp0 type rocepath')
    m.put(''.join('link add d%d type dummy\n' % i for i in range(33)).encode(), '/tmp/batch')
    m.run('ip -batch /tmp/batch')
    m.put(''.join('link set d%d master rp0\n' % i for i in range(32)).encode(), '/tmp/batch')
    m.run('ip -batch /tmp/batch')
    refused(m, 'ip link set d32 master rp0', 'at most 32 ports')
    m.run('ip link set rp0 up')
    ksft.eq(show(m, 'device')[0]['ports_up'], 32)
    m.run('ip link set d7 nomaster; ip link set d32 master rp0')
    ksft.eq(port(m, 'd32')['index'], 7)
    m.run('ip link del rp0')
    m.put(''.join('link del d%d\n' % i for i in range(33)).encode(), '/tmp/batch')
    m.run('ip -batch /tmp/batch')


def moved_ports(m):
    """rtnetlink itself takes a port from a bridge, a bond or another device, and gives it to us, and back."""
    far(m)
    m.run('ip link add rp0 type rocepath; ip link add rp1 type rocepath; ip link add br1 type bridge')
    for first, then in (('br1', 'rp0'), ('rp0', 'rp1'), ('rp1', 'br1')):
        m.run('ip link set p0 master %s; ip link set p0 master %s' % (first, then))
        ksft.eq(link(m, 'p0')['master'], then)
        ksft.eq(ports_of(m, 'rp0') + ports_of(m, 'rp1'), ['p0'] if then != 'br1' else [])
    ksft.eq(link(m, 'p0')['address'], PORT_MACS[0])
    m.run('ip link del rp0; ip link del rp1; ip link del br1')


def carriers(m):
    """The device has carrier when any port has."""
    with device(m):
        for down, expected in ((0, True), (1, False)):
            m.run('ip -n far link set l%d down' % down)
            carrier(m, 'p%d' % down, False)
            carrier(m, 'rp0', expected)
        ksft.eq(link(m, 'rp0')['operstate'], 'DOWN')
        m.run('ip -n far link set l1 up')
        carrier(m, 'rp0', True)
        m.run('ip link set p1 down')
        carrier(m, 'rp0', False)
        m.run('ip link set p1 up; ip -n far link set l0 up')
        carrier(m, 'rp0', True)
        reaches(m)


def mtus(m):
    """The first port's MTU is the device's; it is pushed to ports, and cannot be changed under it."""
    far(m, 2)
    m.run('ip link set p0 mtu 4000; ip link add rp0 type rocepath; ip link set p0 master rp0; ip link set p1 master rp0')

    def are(*expected):
        ksft.eq(tuple(link(m, name)['mtu'] for name in ('rp0', 'p0', 'p1')), expected)
    are(4000, 4000, 4000)
    m.run('ip link set rp0 mtu 2000')
    are(2000, 2000, 2000)
    refused(m, 'ip link set p0 mtu 1400')
    are(2000, 2000, 2000)
    m.run('ip link set p1 nomaster')
    are(2000, 2000, 1500)
    # a VLAN cannot have a larger MTU than what it is on
    m.run('ip link set p1 up; ip link add link p1 name v1 type vlan id 9')
    refused(m, 'ip link set v1 master rp0', 'does not take the MTU')
    m.run('ip link set rp0 mtu 1500; ip link set v1 master rp0')
    refused(m, 'ip link set rp0 mtu 9000')
    ksft.eq([link(m, name)['mtu'] for name in ('rp0', 'p0', 'v1')], [1500, 1500, 1500], 'rolled back')
    m.run('ip link del rp0')
    ksft.eq(link(m, 'p0')['mtu'], 4000, 'restored')
    m.run('ip link add rp0 mtu 3000 type rocepath; ip link set p0 master rp0')
    ksft.eq([link(m, name)['mtu'] for name in ('rp0', 'p0')], [3000, 3000], 'the MTU given at creation wins')
    m.run('ip link del rp0')


def macs(m):
    """The first port's MAC is the device's, and stays when that port leaves; ports get theirs back."""
    far(m)
    m.run('ip link add rp0 type rocepath; ip link set p0 master rp0; ip link set p1 master rp0')

    def are(*expected):
        ksft.eq(tuple(link(m, name)['address'] for name in ('rp0', 'p0', 'p1')), expected)
    are(PORT_MACS[0], PORT_MACS[0], PORT_MACS[0])
    m.run('ip link set p0 nomaster')
    are(PORT_MACS[0], PORT_MACS[0], PORT_MACS[0])
    m.run('ip link set p0 master rp0; ip link set rp0 up; ip link set rp0 address 02:00:00:00:77:01')
    are(*['02:00:00:00:77:01'] * 3)
    m.run('ip link set p0 nomaster; ip link set p1 nomaster')
    are('02:00:00:00:77:01', *PORT_MACS)
    m.run('ip link del rp0; ip link add rp0 address %s type rocepath; ip link set p0 master rp0' % MAC)
    are(MAC, MAC, PORT_MACS[1])
    refused(m, 'ip link set rp0 address ff:ff:ff:ff:ff:ff')
    m.run('ip link del rp0')
    ksft.eq(link(m, 'p0')['address'], PORT_MACS[0])


def ports_later(m):
    """A device starts without ports, is configured, gets ports, loses the one whose MAC it has: its peers go on."""
    with device(m, 0, link=''):
        m.run('ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev rp0 nud permanent')
        with Counting(m) as c:
            ksft.true(m.run('ping -c 1 -W 1 10.0.0.2', check=False).rc, 'there is no port')
        ksft.eq(c.get('tx_packets', 0), c.get('tx_drop_no_port', 0), c)
        m.run('ip neigh del 10.0.0.2 dev rp0')
        for i in range(2):
            m.run('ip link add p{0} address {1} type veth peer name l{0} netns far;'
                  'ip -n far link set l{0} master br0 up; ip link set p{0} master rp0'.format(i, PORT_MACS[i]))
        reaches(m)
        neighbour = m.run('ip -n far neigh show 10.0.0.1').out.split()[4]
        ksft.eq(neighbour, PORT_MACS[0])
        m.run('ip link set p0 nomaster; ip -n far neigh replace 10.0.0.1 lladdr %s dev br0 nud permanent' % neighbour)
        reaches(m)


def vlans_above(m):
    """VLANs on the device work over all its ports, those that come later as well."""
    with device(m):
        m.run('ip -n far link add link br0 name br0.5 type vlan id 5; ip -n far link set br0.5 up;'
              'ip -n far addr add 10.0.5.2/24 dev br0.5; ip link add link rp0 name rp0.5 type vlan id 5;'
              'ip addr add 10.0.5.1/24 dev rp0.5; ip link set rp0.5 up')
        reaches(m, '10.0.5.2')
        for name in ('p0', 'p1'):
            m.run('ip link set %s nomaster' % name)
            reaches(m, '10.0.5.2')
            m.run('ip link set %s master rp0' % name)
        reaches(m, '10.0.5.2', '10.0.0.2')
        m.run('ip link del rp0.5')
        reaches(m)


def ports_are_vlans(m):
    """VLANs as ports: the tag is the port's."""
    far(m)
    cmd = 'ip link add rp0 address %s type rocepath\n' % MAC
    for i in range(2):
        cmd += ('ip link set p{0} up; ip link add link p{0} name v{0} type vlan id 9; ip link set v{0} master rp0\n'
                'ip -n far link set l{0} nomaster; ip -n far link add link l{0} name w{0} type vlan id 9\n'
                'ip -n far link set w{0} master br0 up\n').format(i)
    m.run(cmd + 'ip link set rp0 up; ip addr add 10.0.0.1/24 dev rp0; ip addr add fd00::1/64 dev rp0 nodad')
    carrier(m, 'rp0', True)
    reaches(m)
    m.run('ip -n far link set l0 down')
    carrier(m, 'v0', False)
    reaches(m)
    conserved(m)
    m.run('ip link del p0')
    ksft.eq(ports_of(m), ['v1'], 'what is below goes')
    reaches(m)
    conserved(m)
    m.run('ip link del rp0')


def namespaces(m):
    """A device lives in the namespace that it was made in, and goes with it."""
    far(m, 1)
    m.run('ip netns add box; ip link add rp0 type rocepath; ip -n box link add rp0 type rocepath;'
          'ip link set p0 netns box; ip -n box link set p0 master rp0; ip -n box link set rp0 up;'
          'ip -n box addr add 10.0.0.1/24 dev rp0')
    reaches(m, '10.0.0.2', ns='box')
    ksft.eq(show(m, 'port'), [], 'not shown in another')
    rows = m.json('rocepath -j port show', ns='box')
    ksft.eq([row['name'] for row in rows], ['p0'])
    job = m.run('ip link set rp0 netns box', check=False)
    ksft.true(job.rc, 'moving is refused')
    ksft.eq(len(show(m, 'device')), 1)
    m.run('ip netns del box')
    m.poll('! ip -n far link show dev l0', why='the port went with the namespace')
    m.run('rmmod rocepath && modprobe rocepath')
    m.run('ip netns del far')


def stacked(m):
    """A device on a bond, a bond on devices, a device on a device: traffic passes, and can be looked at on each."""
    far(m)
    stacks = {
        'device on bond': 'ip link add b0 type bond mode active-backup miimon 100; ip link set p0 master b0;'
                          'ip link set p1 master b0; ip link add top type rocepath; ip link set b0 master top',
        'bond on devices': 'ip link add b0 type rocepath; ip link set p0 master b0; ip link add b1 type rocepath;'
                           'ip link set p1 master b1; ip link add top type bond mode active-backup miimon 100;'
                           'ip link set b0 down; ip link set b0 master top; ip link set b1 down; ip link set b1 master top',
        'device on device': 'ip link add b0 type rocepath; ip link set p0 master b0; ip link set p1 master b0;'
                            'ip link add top type rocepath; ip link set b0 master top',
    }
    for name, cmd in stacks.items():
        m.run('set -e; %s; ip link set top up; ip addr add 10.0.0.1/24 dev top' % cmd)
        carrier(m, 'top', True)
        taps = [m.capture(i, '/tmp/%s.pcap' % i, 'icmp') for i in ('top', 'b0', 'p0', 'p1')]
        reaches(m, '10.0.0.2')
        m.run('ping -c 3 -i 0.2 10.0.0.2')
        def sizes():
            return [len(m.get('/tmp/%s.pcap' % i)) for i in ('top', 'b0', 'p0', 'p1')]
        m.poll(lambda: sizes()[0] > 24 and sizes()[1] > 24 and sum(sizes()[2:]) > 48, why=name + ': seen on each')
        for tap in taps:
            tap.kill(signal.SIGINT)
            tap.wait(check=False)
        m.run('ip link del top; ip link del b0; ip link del b1 2>/dev/null; ip link set p0 up; ip link set p1 up')
    for kind in ('ipvlan mode l3', 'ipvlan mode l2', 'macvlan mode bridge'):
        m.run('ip link add rp0 type rocepath; ip link add i0 link p0 type %s' % kind)
        # either is right; hanging is not
        m.run('ip link set i0 master rp0; ip link set rp0 up; ip addr add 10.0.0.1/24 dev rp0;'
              'ping -c 1 -W 1 10.0.0.2', check=False)
        m.run('ip link del rp0; ip link del i0')


def addresses_come_and_go(m):
    """IPv4, IPv6 and link-local addresses are removed and added under traffic: the GIDs follow, nothing breaks."""
    with device(m):
        m.rxe('rp0')
        link_local = next(a['local'] for a in m.json('ip -j -6 addr show dev rp0')[0]['addr_info'] if a['scope'] == 'link')
        traffic = [m.spawn('while :; do ping -c 20 -i 0.05 -W 1 %s; done >/dev/null 2>&1' % a)
                   for a in ('10.0.0.2', 'fd00::2', 'ff02::1%rp0')]
        for address, bits in (('10.0.0.1', 24), ('fd00::1', 64), (link_local, 64)):
            for _ in range(3):
                m.gid('rxe0', address)
                m.run('ip addr del %s/%d dev rp0' % (address, bits))
                # the GID of the MAC's own link-local address stays, address or not
                if address != link_local:
                    m.poll(lambda a=address: not has_gid(m, a), why='GID of %s goes' % address)
                m.run('ip addr add %s/%d dev rp0%s' % (address, bits, ' nodad' if bits == 64 else ''))
        before = {gid for gid, _ in m.gids().values()}
        m.run('ip link set rp0 addrgenmode none; ip link set rp0 down; ip link set rp0 up; ip -6 addr flush dev rp0;'
              'ip addr add fd00::1/64 dev rp0 nodad; ip link set rp0 addrgenmode eui64; ip link set rp0 down;'
              'ip link set rp0 up; ip addr add fd00::1/64 dev rp0 nodad')
        m.poll(lambda: {gid for gid, _ in m.gids().values()} == before, why='the same GIDs')
        for job in traffic:
            job.kill()
            job.wait(check=False)
        reaches(m)
        m.run('rdma link del rxe0')


def has_gid(m, address):
    """Whether the device's GID table has an address."""
    try:
        m.gid('rxe0', address, timeout=0)
        return True
    except Exception:  # pylint: disable=broad-except
        return False


def flaps(m):
    """100 flaps leave MAC, ifindex and the GID table as they were."""
    with device(m):
        m.rxe('rp0')
        m.poll(lambda: len(m.gids()) >= 3, why='GIDs of IPv4, IPv6 and link-local')
        before = (link(m, 'rp0')['ifindex'], link(m, 'rp0')['address'], m.gids())
        for i in range(2):
            m.put(('link set l%d down\nlink set l%d up\n' % (i, i) * 25).encode(), '/tmp/carrier')
            m.put(('link set p%d down\nlink set p%d up\n' % (i, i) * 25).encode(), '/tmp/admin')
            m.run('ip -n far -batch /tmp/carrier; ip -batch /tmp/admin', 60)
        for i in range(2):
            carrier(m, 'p%d' % i, True)
        ksft.eq((link(m, 'rp0')['ifindex'], link(m, 'rp0')['address'], m.gids()), before)
        ksft.ge(port(m, 'p0')['flaps'], 25)
        reaches(m)
        m.run('rdma link del rxe0')


def damping(m):
    """A port that comes back is held down, twice as long each time; alone it is used all the same; it ends."""
    with device(m):
        m.run('rocepath device set rp0 holddown 4s holddown-max 60s')
        for expected in (4, 8, 16, 32, 60, 60):
            m.run('ip -n far link set l0 down')
            m.poll(lambda: port(m, 'p0')['state'] == 'down', why='down')
            m.run('ip -n far link set l0 up')
            m.poll(lambda: port(m, 'p0')['state'] == 'holddown', why='held down')
            left = port(m, 'p0')['holddown_left_ms'] / 1000
            ksft.true(expected / 2 < left <= expected, 'held down for %g s, not %g' % (left, expected))
        ksft.eq(port(m, 'p0')['share_permille'], 0)
        ksft.eq(port(m, 'p1')['share_permille'], 1000)
        m.run('ip -n far link set l1 down')
        m.poll(lambda: port(m, 'p0')['share_permille'] == 1000, why='the only port left is used')
        carrier(m, 'rp0', True)
        reaches(m)
        m.run('ip -n far link set l1 up')


def failback(m):
    """A port is used again when its hold-down ends; the monitor says when."""
    with device(m):
        m.run('rocepath device set rp0 holddown 700ms')
        monitor = m.spawn('exec rocepath -j monitor')

        def events():
            return [json.loads(line) for line in monitor.lines()]

        def of(kind):
            return [e for e in events() if e['type'] == kind and e['port'] == 'p0']
        # it must listen before something happens
        m.poll(lambda: m.run('ip -n far link set l1 down; ip -n far link set l1 up').rc == 0 and events(), why='monitor')
        m.run('ip -n far link set l0 down')
        m.poll(lambda: of('port-down'), why='port-down')
        m.run('ip -n far link set l0 up')
        m.poll(lambda: of('port-up'), why='port-up')
        held, up = of('port-holddown')[0], of('port-up')[0]
        ksft.ge(up['time_ns'] - held['time_ns'], 700e6)
        ksft.eq([e['device'] for e in of('port-down')], ['rp0'])
        ksft.ge(len(of('port-down')[0]['reason']), 3)
        ksft.eq(port(m, 'p0')['state'], 'up')
        monitor.kill(signal.SIGTERM)
        monitor.wait(check=False)


def settings(m):
    """Settings that cannot be are refused, each with its reason, and nothing of the request is kept."""
    with device(m):
        before = show(m, 'device')[0]
        for words, text in (
                ('gap-floor 30ms gap-ceiling 20ms evs 4', 'above its ceiling'),
                ('gap-floor 10s evs 4', 'above its ceiling'),
                ('holddown 50s holddown-max 20s evs 4', 'longer than the longest'),
                ('mark-mask 0x5 evs 4', 'next to each other'),
                ('evs 0', 'evs'), ('evs 257', 'evs'), ('scheduler fastest evs 4', 'scheduler'),
                ('hello-interval 1ms', 'hello-interval'), ('reorder-depth 0', 'reorder-depth')):
            refused(m, 'rocepath device set rp0 ' + words, text)
        after = show(m, 'device')[0]
        ksft.eq({k: after[k] for k in after if k != 'stats'}, {k: before[k] for k in before if k != 'stats'})
        refused(m, 'rocepath device set p0 evs 4', 'ip link add')
        refused(m, 'rocepath port set rp0 weight 2', 'port')
        refused(m, 'rocepath port set p0 weight 0', 'weight')
        refused(m, 'rocepath key del dev rp0 id 3')
        m.run('umask 077; for i in 1 2 3; do echo 0123456789abcdef0123456789abcde$i >/tmp/key$i; done')
        for i in (1, 2):
            m.run('rocepath key set dev rp0 id %d secret-file /tmp/key%d' % (i, i))
        refused(m, 'rocepath key set dev rp0 id 3 secret-file /tmp/key3', 'two keys')
        ksft.eq([(k['id'], k['active']) for k in sorted(show(m, 'key'), key=lambda k: k['id'])], [(1, False), (2, True)])
        m.run('rocepath port set p0 weight 3; rocepath device set rp0 evs 4')
        ksft.eq((port(m, 'p0')['share_permille'], len(show(m, 'path'))), (750, 8))


def permissions(m):
    """Who is not admin of the network may look, but not at keys and flows, and may change nothing."""
    with device(m):
        m.run('umask 077; echo 0123456789abcdef0123456789abcdef >/tmp/key; chmod 644 /tmp/key')
        for words in ('device set rp0 evs 4', 'port set p0 weight 2', 'key show', 'flow show', 'key del dev rp0 id 1',
                      'key set dev rp0 id 1 secret-file /tmp/key', 'class set dev rp0 id 1 scheduler flow'):
            refused(m, NOBODY + 'rocepath ' + words, 'CAP_NET_ADMIN')
        m.run(NOBODY + "sh -ec 'for i in device port peer path class stats; do rocepath $i show; done'")
        ksft.eq((show(m, 'key'), port(m, 'p0')['weight'], show(m, 'device')[0]['evs']), ([], 1, 16))


def quickly(m, times=200):
    """Devices made, used and deleted in a row, under traffic: all references are given back."""
    far(m)
    once = ('link add rp0 address %s up type rocepath\naddr add 10.0.0.1/24 dev rp0\nlink set p{} master rp0\n'
            'neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev rp0\nlink del rp0\n' % MAC)
    m.put(''.join(once.format(i % 2) for i in range(times)).encode(), '/tmp/batch')
    here = m.spawn('while :; do ping -c 10 -i 0.01 -W 1 10.0.0.2; done >/dev/null 2>&1')
    there = m.spawn('while :; do ping -c 10 -i 0.01 -W 1 10.0.0.1; done >/dev/null 2>&1', ns='far')
    m.run('ip -batch /tmp/batch', 200)
    for job in (here, there):
        job.kill()
        job.wait(check=False)
    # ports first, and the namespace of their other ends
    for cmd in ('ip link del p0; ip link del p1; ip link del rp0', 'ip netns del far; ip link del rp0'):
        m.run('ip netns del far 2>/dev/null', check=False)
        m.poll('! ls /sys/class/net | grep -q "^p[0-9]"', why='ports are gone')
        far(m)
        m.run('ip link add rp0 type rocepath; ip link set p0 master rp0; ip link set p1 master rp0; ip link set rp0 up;'
              'ip addr add 10.0.0.1/24 dev rp0')
        reaches(m, '10.0.0.2')
        m.run(cmd)
    m.run('ip netns del far 2>/dev/null', check=False)
    m.poll('! ls /sys/class/net | grep -q "^p[0-9]"', why='ports are gone')
    m.run('rmmod rocepath && modprobe rocepath')


TESTS = [lifecycle, enslaving, refusals, loops, many_ports, moved_ports, carriers, mtus, macs, ports_later, vlans_above,
         ports_are_vlans, namespaces, stacked, addresses_come_and_go, flaps, damping, failback, settings, permissions,
         quickly]


def tidy(test):
    """The test, and after it nothing of it is left."""
    @functools.wraps(test)
    def run(m):
        try:
            test(m)
        finally:
            no_devices(m)
    return run


def main():
    """One machine for all tests."""
    with rocepath_lab(files={'/bin/setpriv': '/usr/bin/setpriv'}) as lab:
        m = lab.machine('m')
        lab.start()
        m.run('modprobe ib_core; modprobe rocepath; modprobe veth; modprobe bonding max_bonds=0')
        sys.exit(ksft.run([tidy(test) for test in TESTS], (m,), lab))


if __name__ == '__main__':
    main()
