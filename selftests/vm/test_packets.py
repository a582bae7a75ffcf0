#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the device does to packets, looked at on its ports: which port, which bytes, how many.

      rp0 10.0.0.1 fd00::1
         |  p0 ---- l0  in leaf0  |       nobody answers: all packets are made by the tests, on rp0
         '- p1 ---- l1  in leaf1 -'       or at l0 and l1, and captured there
"""

import contextlib
import ipaddress
import struct
import sys

import leaves
from lab import ksft
from leaves import Captured, Counting, inject
from lib import roce
from rocepath_lab import conserved, port, rocepath_lab, show

LEAVES = (('l0', 'leaf0'), ('l1', 'leaf1'))
RP0 = '-i rp0'
UDP_DPORT = 5000
MAC_ALL = 'ffffffffffff'


@contextlib.contextmanager
def device(m, more=''):
    """The drawing; all is gone after the block, and packets were conserved in it."""
    leaves.leaves(m, more=more)
    m.run('ip link add rp0 %s type rocepath; ip link set p0 master rp0; ip link set p1 master rp0\n'
          'ip link set rp0 up; ip addr add 10.0.0.1/24 dev rp0; ip addr add fd00::1/64 dev rp0 nodad' % leaves.LINK)
    m.poll('test "$(cat /sys/class/net/rp0/carrier)" = 1', why='carrier')
    leaves.neighbours(m)
    try:
        yield
        conserved(m)
    finally:
        leaves.no_devices(m)


def out(m, lines, options='', version=4):
    """Send packets by rp0, as if its host had made them."""
    inject(m, lines, RP0, '-s %s %s' % (leaves.MAC, options), leaves.PEER_MAC,
           addresses='%s,%s' % (leaves.HERE[version], leaves.PEER[version]))


def roce_lines(count, first=0, more=''):
    """RoCE packets of so many flows: no QP of this host, so each has one path."""
    return ['0 qpn=%d psn=%d len=64 tag=%d %s' % (0x100 + i, i, i, more) for i in range(first, first + count)]


def udp_lines(count, more=''):
    """Packets of so many other UDP flows."""
    return ['0 dport=%d sport=%d len=64 csum=1 %s' % (UDP_DPORT, 1024 + 7 * i, more) for i in range(count)]


def udp_sum(frame):
    """Whether a frame's UDP or TCP checksum is right; None when it has none."""
    at, kind, _ = roce._l3(frame)  # pylint: disable=protected-access
    if kind == 0x0800:
        head, total = (frame[at] & 15) * 4, struct.unpack_from('!H', frame, at + 2)[0]
        proto, addresses = frame[at + 9], frame[at + 12:at + 20]
    else:
        head, total = 40, 40 + struct.unpack_from('!H', frame, at + 4)[0]
        proto, addresses = frame[at + 6], frame[at + 8:at + 40]
    data = frame[at + head:at + total]
    if proto == 17 and data[6:8] == b'\0\0':
        return None
    data = addresses + struct.pack('!HH', proto, len(data)) + data + bytes(len(data) & 1)
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total == 0xffff


def is_udp(frame, dport=UDP_DPORT):
    """Whether a frame is plain IPv4 UDP to that port."""
    return frame[12:14] == b'\x08\0' and frame[23] == 17 and frame[36:38] == struct.pack('!H', dport)


def solicitation(target):
    """A neighbour solicitation, as a frame in hex."""
    source, wanted = ipaddress.ip_address('fd00::1').packed, ipaddress.ip_address(target).packed
    multicast = bytes.fromhex('ff0200000000000000000001ff') + wanted[-3:]
    body = struct.pack('!BBHI', 135, 0, 0, 0) + wanted + b'\1\1' + bytes.fromhex(leaves.MAC.replace(':', ''))
    head = struct.pack('!IHBB', 6 << 28, len(body), 58, 255) + source + multicast
    return ('3333' + multicast[-4:].hex() + leaves.MAC.replace(':', '') + '86dd' + head.hex() + body.hex())


def arp_request():
    """An ARP request, as a frame in hex."""
    mac = leaves.MAC.replace(':', '')
    return MAC_ALL + mac + '0806' + '0001080006040001' + mac + '0a000001' + '000000000000' + '0a000063'


def floods(m):
    """ARP and ND leave by every port, tagged or not, as far as it is up; other multicast by one."""
    with device(m):
        frames = {'arp': arp_request(), 'nd': solicitation('fd00::63'),
                  'tagged arp': arp_request()[:24] + '81000005' + arp_request()[24:]}
        mld = '333300000016' + leaves.MAC.replace(':', '') + '0800' + arp_request()[28:]
        for name, frame in frames.items():
            with Captured(m, LEAVES) as captured, Counting(m) as c:
                out(m, ['0 raw=' + frame])
                captured.wait(lambda f, begin=frame: f.hex().startswith(begin), 2)
            for leaf, _ in LEAVES:
                found = [f for f in captured.frames[leaf] if f.hex().startswith(frame)]
                ksft.eq(len(found), 1, '%s on %s' % (name, leaf))
            ksft.ge(c['tx_flood_copies'], 1)
        with Captured(m, LEAVES) as captured:
            out(m, ['0 raw=' + mld] * 4)
            captured.wait(lambda f: f.hex().startswith(mld), 4)
        counts = [sum(f.hex().startswith(mld) for f in captured.frames[leaf]) for leaf, _ in LEAVES]
        ksft.eq(sorted(counts), [0, 4], 'not flooded')
        m.run('ip -n leaf1 link set l1 down')
        m.poll(lambda: port(m, 'p1')['state'] == 'down', why='p1 is down')
        with Counting(m) as c:
            out(m, ['0 raw=' + frames['arp']])
        ksft.eq((c.get('tx_flood_copies', 0), c.get('p1_tx_packets', 0)), (0, 0), c)


def where(captured, key):
    """flow -> leaf, for frames that `key` knows."""
    found = {}
    for leaf, frames in captured.frames.items():
        for frame in frames:
            flow = key(frame)
            if flow is not None:
                found.setdefault(flow, set()).add(leaf)
    return found


def udp_flow(frame):
    """The source port of one of our UDP packets."""
    return struct.unpack_from('!H', frame, 34)[0] if is_udp(frame) else None


def roce_flow(frame):
    """The QPN of one of our RoCE packets."""
    packet = roce.parse(frame)
    return packet.qpn if packet and packet.opcode == leaves.SEND_ONLY else None


def hashes(m):
    """Flows are spread over the ports and keep theirs; only those of a failed port move, and they return."""
    with device(m):
        m.run('rocepath device set rp0 holddown 0ms')
        for lines, key in ((udp_lines(64), udp_flow), (roce_lines(64), roce_flow)):
            def look(leaves_up=LEAVES, lines=lines, key=key):
                with Captured(m, leaves_up) as captured:
                    out(m, lines * 2)
                    captured.wait(lambda f: key(f) is not None, 128)
                return where(captured, key)
            before = look()
            ksft.eq((len(before), max(len(v) for v in before.values())), (64, 1), 'one port each')
            ksft.true(16 <= sum(v == {'l0'} for v in before.values()) <= 48, before)
            m.run('ip -n leaf1 link set l1 down')
            m.poll(lambda: port(m, 'p1')['state'] == 'down', why='p1 is down')
            ksft.eq(set(map(tuple, look(LEAVES[:1]).values())), {('l0',)})
            m.run('ip -n leaf1 link set l1 up')
            m.poll(lambda: port(m, 'p1')['state'] == 'up', why='p1 is up')
            ksft.eq(look(), before, 'as it was')


def failed_ports(m):
    """A port without carrier, down, taken away or deleted gets not one packet more."""
    with device(m):
        m.run('rocepath device set rp0 holddown 0ms')
        for down, up in (('ip link set p1 down', 'ip link set p1 up'),
                         ('ip -n leaf1 link set l1 down', 'ip -n leaf1 link set l1 up'),
                         ('ip link set p1 nomaster', 'ip link set p1 master rp0'),
                         ('ip link del p1', '')):
            m.run(down)
            carrier_gone(m)
            with Counting(m) as c:
                out(m, roce_lines(64) + udp_lines(64))
            ksft.eq((c.get('p1_tx_packets', 0), c.get('tx_drop_no_port', 0)), (0, 0), down)
            ksft.ge(c['p0_tx_packets'], 128, down)
            if up:
                m.run(up)
                m.poll(lambda: port(m, 'p1')['state'] == 'up', why='p1 is up')
                with Counting(m) as c:
                    out(m, roce_lines(64) + udp_lines(64))
                ksft.ge(c['p1_tx_packets'], 32, up)
        m.run('ip link set p0 down')
        with Counting(m) as c:
            out(m, roce_lines(10) + udp_lines(10))
        # without carrier the stack itself soon gives the device nothing more
        ksft.eq(c.get('tx_drop_no_port', 0), c.get('tx_packets', 0))
        ksft.eq(c.get('p0_tx_packets', 0), 0, 'no port is left')
        m.run('ip netns del leaf1; ip link set p0 up')


def carrier_gone(m):
    """Wait until p1 is no port that is up."""
    m.poll(lambda: all(row['state'] == 'down' for row in show(m, 'port') if row['name'] == 'p1'), why='p1 is out')


def lost(m):
    """What was in the queue of a port that failed is counted, to the packet."""
    with device(m):
        for down, up in (('ip -n leaf1 link set l1 down', 'ip -n leaf1 link set l1 up'),
                         ('ip link set p1 down', 'ip link set p1 up')):
            m.run('tc qdisc replace dev p1 root netem delay 60s limit 1000')
            with Counting(m) as c:
                out(m, roce_lines(64))
                queued = m.json('tc -s -j qdisc show dev p1')[0]['qlen']
                m.run(down)
                carrier_gone(m)
            ksft.ge(queued, 16)
            # the stack may have said something by itself in between
            most = queued + c.get('tx_hashed', 0) + c.get('tx_flood_copies', 0)
            ksft.true(queued <= c['p1_tx_lost'] <= most, '%s: %d queued: %s' % (down, queued, c))
            m.run('tc qdisc del dev p1 root; ' + up)
            m.run('rocepath device set rp0 holddown 0ms')
            m.poll(lambda: port(m, 'p1')['state'] in ('up', 'holddown'), why='p1 is back')
        with Counting(m) as c:
            out(m, roce_lines(64))
            m.run('ip -n leaf1 link set l1 down')
            carrier_gone(m)
        ksft.eq(c.get('p1_tx_lost', 0), 0, 'nothing was in the queue')


def own_frames(m):
    """Frames with our own MAC that come back are dropped and counted; those of others are not."""
    with device(m):
        with Counting(m) as c:
            inject(m, roce_lines(5), options='-s ' + leaves.MAC)
            inject(m, roce_lines(3))
            c.wait('rx_drop_own', 5)
        ksft.eq((c['rx_drop_own'], c['rx_packets']), (5, 3), c)


def detects_duplicates(m):
    """Duplicate address detection finds an address that another has, and takes its own looped back for none."""
    with device(m):
        # a switch: what leaves by one port comes back by the other
        m.run('ip -n leaf0 link add x0 type veth peer name x1 netns leaf1;'
              'ip -n leaf0 link set x0 up; ip -n leaf1 link set x1 up;'
              'for i in 0 1; do ip -n leaf$i link add br0 type bridge mcast_snooping 0 forward_delay 0;'
              'ip -n leaf$i link set l$i master br0; ip -n leaf$i link set x$i master br0; ip -n leaf$i link set br0 up; done')
        with Counting(m) as c:
            m.run('ip addr add fd00::5/64 dev rp0')
            m.poll('ip -6 addr show dev rp0 | grep fd00::5 | grep -qv tentative', why='the address is good')
        ksft.ge(c['rx_drop_own'], 1, 'it was looped back')
        m.run('ip netns exec leaf1 sh -c "echo 0 >/proc/sys/net/ipv6/conf/br0/disable_ipv6";'
              'ip -n leaf1 addr add fd00::6/64 dev br0 nodad; ip addr add fd00::6/64 dev rp0')
        m.poll('ip -6 addr show dev rp0 | grep fd00::6 | grep -q dadfailed', why='found')
        m.run('ip -n leaf0 link del x0')


def good(packets, sports=None):
    """All of these RoCE packets have a right ICRC, a right UDP checksum or none, and a path's source port."""
    ksft.eq(roce.bad_icrc(packets), [])
    for p in packets:
        ksft.true(udp_sum(p.frame) is not False, 'UDP checksum of PSN %d' % p.psn)
        if sports is not None:
            ksft.isin(p.sport, sports)


def path_sports(m):
    """The source ports that paths have, by far end."""
    found = {}
    for row in show(m, 'path'):
        found.setdefault('l' + row['port'][1:], set()).add(row['sport'])
    return found


def shared_pages(m):
    """Only the MAC header is linear, the rest in pages of the sender: all is parsed, none of them is written to."""
    with device(m):
        sports = path_sports(m)
        for tap in (False, True):
            taps = LEAVES + (('rp0', None),) if tap else LEAVES
            for more in ('', 'csum=1', 'csum=1 vlan=5'):
                lines = roce_lines(40, more='len=1000 ' + more)
                with Captured(m, taps) as captured:
                    out(m, lines, '-t')
                    captured.wait(roce_flow, 40, 'l0', 'l1')
                for leaf, _ in LEAVES:
                    good([p for p in captured.packets[leaf] if p.opcode == leaves.SEND_ONLY], sports[leaf])
                ksft.eq(sorted(p.psn for l, _ in LEAVES for p in captured.packets[l]), list(range(40)), more)


def clones(m):
    """Who looks at the device sees the packet as its host made it; who looks at a port, as it left."""
    with device(m):
        sports = path_sports(m)
        m.run('ip link add d0 type dummy; ip link set d0 up; tc qdisc add dev rp0 clsact;'
              'tc filter add dev rp0 egress matchall action mirred egress mirror dev d0')
        for version in (4, 6):
            with Captured(m, LEAVES + (('rp0', None), ('d0', None))) as captured:
                out(m, roce_lines(50, more='csum=1 sport=49152 len=500'), version=version)
                captured.wait(roce_flow, 50, 'l0', 'l1')
                for tap in ('rp0', 'd0'):
                    captured.wait(roce_flow, 50, tap)
            for tap in ('rp0', 'd0'):
                found = [p for p in captured.packets[tap] if p.opcode == leaves.SEND_ONLY]
                ksft.eq(len(found), 50, tap)
                good(found, {49152})
            for leaf, _ in LEAVES:
                good(captured.packets[leaf], sports[leaf])
            ksft.eq(sum(len(captured.packets[l]) for l, _ in LEAVES), 50)
        m.run('ip link del d0')


def flow_labels(m):
    """With IPv6 the flow label can be what differs: then the ports and the ICRC stay as they were."""
    with device(m):
        m.run('rocepath device set rp0 entropy flowlabel')
        for entropy, label in (('flowlabel', True), ('keep', False)):
            m.run('rocepath device set rp0 entropy ' + entropy)
            with Captured(m, LEAVES) as captured:
                out(m, roce_lines(60, more='csum=1 sport=50000'), version=6)
                captured.wait(roce_flow, 60, 'l0', 'l1')
            found = [p for l, _ in LEAVES for p in captured.packets[l]]
            good(found, {50000})
            ksft.eq(len({p.flowlabel for p in found}) > 8, label, entropy)


def aggregates(m):
    """Receive offloads on the ports glue RoCE packets together: they are taken apart, each as it was."""
    # what a socket of this host would get is only made into lists: and rdma_rxe has one
    for offload, socket in (('rx-udp-gro-forwarding', 'rmmod rdma_rxe'), ('rx-gro-list', 'modprobe rdma_rxe')):
        m.run(socket)
        for version in (4, 6):
            with device(m):
                # packets wait for each other a while, or one at a time would be received
                m.run('set -e; for i in 0 1; do ethtool -K p$i gro on %s on;'
                      'echo 20000000 >/sys/class/net/p$i/gro_flush_timeout; done' % offload)
                lines = ['%d qpn=%d psn=%d len=1000 csum=1 sport=%d' % (i % 2, 0x100 + i // 100, i, 50000 + i % 2)
                         for i in range(400)]
                with Captured(m, (('rp0', None),)) as captured, Counting(m) as c:
                    inject(m, lines, version=version)
                    captured.wait(roce_flow, 400)
                found = [p for p in captured.packets['rp0'] if p.opcode == leaves.SEND_ONLY]
                good(found)
                for p in (0, 1):
                    ksft.eq([q.psn for q in found if q.psn % 2 == p], list(range(p, 400, 2)), 'each once, in order')
                ksft.say('%s, IPv%d: %d aggregates were taken apart into %d more packets' % (
                    offload, version, 400 - c.get('rx_gso_segments', 0), c.get('rx_gso_segments', 0)))
                ksft.ge(c.get('rx_gso_segments', 0), 1, 'nothing was aggregated: nothing was tested')
                ksft.eq(c.get('rx_drop_gso', 0), 0)


def checksums(m):
    """Checksums that are left to the hardware are right at the peer, with and without such hardware."""
    with device(m):
        for offload in ('on', 'off'):
            m.run('for i in 0 1; do ethtool -K p$i tx %s; done' % offload)
            for csum in (1, 2):
                lines = roce_lines(40, more='len=999 csum=%d' % csum) + \
                    [line.replace('csum=1', 'csum=%d' % csum) for line in udp_lines(40)]
                with Captured(m, LEAVES) as captured:
                    out(m, lines, '-v')
                    captured.wait(lambda f: roce_flow(f) or is_udp(f), 80)
                frames = [f for l, _ in LEAVES for f in captured.frames[l]]
                packets = [p for l, _ in LEAVES for p in captured.packets[l]]
                ksft.eq((len(packets), roce.bad_icrc(packets)), (40, []))
                if offload == 'on' and csum == 2:
                    continue    # nothing in this machine fills them in: it is the peer's hardware that would look
                for f in frames:
                    if is_udp(f) or roce_flow(f):
                        ksft.eq(udp_sum(f), True, 'tx %s, csum %d: %s' % (offload, csum, f.hex()))


def sockets(m):
    """What sockets send is right at the peer when a port has no checksum hardware, also while the other has."""
    with device(m):
        m.run('ethtool -K p1 tx off')
        with Captured(m, LEAVES) as captured:
            m.run('for i in $(seq 40); do echo $i 0123456789 >/dev/udp/10.0.0.2/%d; done' % UDP_DPORT)
            captured.wait(is_udp, 40)
        ksft.ge(len([f for f in captured.frames['l1'] if is_udp(f)]), 5)
        for f in captured.frames['l1']:
            if is_udp(f):
                ksft.eq(udp_sum(f), True, f.hex())


def departure_times(m):
    """With time stamps on and fq on the ports nothing is late or early: no packet hits the horizon."""
    with device(m):
        m.run('for i in 0 1; do tc qdisc replace dev p$i root fq; done')
        m.run('ip netns add in; ip link add i0 type veth peer name i1 netns in; ip link set i0 up; ip -n in link set i1 up;'
              'ip addr add 10.1.0.1/24 dev i0; ip -n in addr add 10.1.0.2/24 dev i1; ip -n in route add default via 10.1.0.1;'
              'echo 1 >/proc/sys/net/ipv4/ip_forward')
        # ping sets SO_TIMESTAMP, which stamps all that is received; what is forwarded was received
        with Captured(m, LEAVES, 'icmp') as captured:
            job = m.spawn('ping -c 50 -i 0.02 -W 1 10.0.0.2')
            m.run('ping -c 50 -i 0.02 -W 1 10.0.0.2', check=False, ns='in')
            job.wait(check=False)
            captured.wait(len, 100)
        for name in ('p0', 'p1'):
            ksft.eq(m.qdisc(name).get('horizon_drops', 0), 0)
        m.run('ip link del i0; ip netns del in')


def queues(m):
    """Ports with several queues: packets of different flows use more than one."""
    with device(m, more='numtxqueues 4 numrxqueues 4'):
        m.run('for i in 0 1; do tc qdisc replace dev p$i root handle 1: mq;'
              'for q in 1 2 3 4; do tc qdisc replace dev p$i parent 1:$q fq; done; done')
        out(m, roce_lines(200))
        for name in ('p0', 'p1'):
            used = [row['packets'] for row in m.json('tc -j -s qdisc show dev ' + name) if row['kind'] == 'fq']
            ksft.ge(sum(n > 5 for n in used), 2, '%s: %s' % (name, used))


def malformed(m):
    """UDP 4791 that is no RoCE is dropped; what is cut too short to be UDP passes. Neither changes anything."""
    with device(m):
        good_frame = ('%s%s0800' % (leaves.MAC.replace(':', ''), leaves.PEER_MAC.replace(':', '')) +
                      '4500003c00004000401126af0a0000020a000001' + 'c00012b700280000' + '04' + '00' * 31)
        cuts = [good_frame[:2 * n] for n in range(15, len(good_frame) // 2, 3)]
        with Counting(m) as c:
            inject(m, ['%d raw=%s' % (i % 2, cut) for i, cut in enumerate(cuts)])
            m.poll(lambda: sum(c.look().get(n, 0) for n in ('rx_packets', 'rx_drop_malformed')) >= len(cuts))
        ksft.ge(c['rx_drop_malformed'], 1, c)
        ksft.ge(c['rx_packets'], 1, c)
        ksft.eq(c['rx_packets'] + c['rx_drop_malformed'], len(cuts), c)
        out(m, ['0 raw=%s' % cut for cut in cuts])


def storm(m):
    """Ports fail and return, settings and weights change, under load from both sides: all is accounted for."""
    change = ('ip -n leaf1 link set l1 down; rocepath device set rp0 evs $((7 * i)) scheduler flow;'
              'ip -n leaf1 link set l1 up; rocepath port set p0 weight $i; ip link set p1 down;'
              'rocepath device set rp0 scheduler spray entropy keep; rocepath device set rp0 entropy sport; ip link set p1 up;'
              'ip link set p1 nomaster; ip link set p1 master rp0;')
    with device(m):
        m.run('rocepath device set rp0 holddown 0ms')
        m.put(('\n'.join(roce_lines(64) + udp_lines(64)) + '\n').encode(), '/tmp/storm')
        rounds = 0
        with Counting(m) as c:
            jobs = [m.spawn('exec inject -i rp0 -n 150 -s %s -d %s -a 10.0.0.1,10.0.0.2 </tmp/storm' % (
                leaves.MAC, leaves.PEER_MAC)) for _ in range(2)]
            jobs.append(m.spawn('exec inject -i leaf0:l0 -r 30000 -d %s' % leaves.MAC))
            while rounds < 2 or any(job.running() for job in jobs):
                m.run('set -e; for i in 1 2 3; do %s done' % change, 60)
                rounds += 1
        ksft.say('%d rounds' % rounds)
        ksft.ge(c['tx_roce'], 2 * 64 * 150, c)
        ksft.eq(c['rx_roce'], 30000, c)


TESTS = [floods, hashes, failed_ports, lost, own_frames, detects_duplicates, shared_pages, clones, flow_labels,
         aggregates, checksums, sockets, departure_times, queues, malformed,
         storm]


def main():
    """One machine for all tests."""
    with rocepath_lab(programs=('inject',)) as lab:
        m = lab.machine('m')
        lab.start()
        m.run('modprobe ib_core; modprobe rocepath; modprobe veth')
        sys.exit(ksft.run(TESTS, (m,), lab))


if __name__ == '__main__':
    main()
