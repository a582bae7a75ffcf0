# SPDX-License-Identifier: GPL-2.0
"""RoCEv2 packets in captures, and whether their ICRC is right.

The ICRC is computed here over the whole packet, by zlib, from the text of the IBTA's annex A17: nothing of
the module's way to fix it up is used. Where the vectors of other people are at hand ($ROCEPATH_VECTORS, or
roce-vectors in the folder `shared` beside the tree) their verifier has a second look.
"""

import collections
import importlib.util
import os
import struct
import zlib

from .initrd import TREE

ROCE_PORT = 4791
CONTROL = 0xf2      # the opcode of rocepath's own packets
TAGS = (0x8100, 0x88a8)

Packet = collections.namedtuple('Packet', 'tags ipv6 flowlabel tos sport opcode qpn psn acked icrc_ok frame')


def frames(pcap):
    """The frames of a classic little-endian capture of Ethernet, with their original length."""
    if pcap[:4] not in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1') or pcap[20] != 1:
        raise ValueError('not a capture of Ethernet as tcpdump writes it')
    at = 24
    while at + 16 <= len(pcap):
        size, full = struct.unpack_from('<II', pcap, at + 8)
        yield pcap[at + 16:at + 16 + size], full
        at += 16 + size


def _l3(frame):
    """Where the IP header begins, the EtherType before it, and the VLAN tags on the way."""
    at, tags = 14, []
    kind, = struct.unpack_from('!H', frame, 12)
    while kind in TAGS:
        tag, kind = struct.unpack_from('!HH', frame, at)
        tags.append(tag & 0xfff)
        at += 4
    return at, kind, tuple(tags)


def _masked(head, ipv6):
    """The IP header as the ICRC sees it: what may change on the way is all ones."""
    head = bytearray(head)
    if ipv6:
        head[0] |= 0x0f
        head[1] = head[2] = head[3] = head[7] = 0xff
    else:
        head[1] = head[8] = head[10] = head[11] = 0xff
    return head


def parse(frame):
    """A frame as a Packet; None when it is not RoCEv2. icrc_ok is None when the capture is cut short."""
    at, kind, tags = _l3(frame)
    ipv6 = kind == 0x86dd
    if ipv6:
        head, total, proto = 40, 40 + struct.unpack_from('!H', frame, at + 4)[0], frame[at + 6]
        tos = struct.unpack_from('!H', frame, at)[0] >> 4 & 0xff
    elif kind == 0x0800:
        head, total, proto = (frame[at] & 15) * 4, struct.unpack_from('!H', frame, at + 2)[0], frame[at + 9]
        tos = frame[at + 1]
    else:
        return None
    udp = at + head
    if proto != 17 or len(frame) < udp + 20:
        return None
    sport, dport = struct.unpack_from('!HH', frame, udp)
    if dport != ROCE_PORT:
        return None
    bth = udp + 8
    good = None
    if len(frame) >= at + total:
        rest = bytearray(frame[udp:at + total])
        rest[6] = rest[7] = rest[12] = 0xff
        good = zlib.crc32(b'\xff' * 8 + _masked(frame[at:udp], ipv6) + rest[:-4]) == \
            struct.unpack_from('<I', rest, len(rest) - 4)[0]
    return Packet(tags, ipv6, struct.unpack_from('!I', frame, at)[0] & 0xfffff if ipv6 else 0, tos, sport,
                  frame[bth], int.from_bytes(frame[bth + 5:bth + 8], 'big'),
                  int.from_bytes(frame[bth + 9:bth + 12], 'big'), bool(frame[bth + 8] & 0x80), good, frame)


def packets(pcap):
    """The RoCEv2 packets of a capture."""
    return [p for p in (parse(frame) for frame, _ in frames(pcap)) if p]


def _other_verifier():
    folder = os.environ.get('ROCEPATH_VECTORS') or os.path.join(TREE, '..', 'shared', 'roce-vectors')
    path = os.path.join(folder, 'icrc_verify.py')
    if not os.path.exists(path):
        return None
    spec = importlib.util.spec_from_file_location('icrc_verify', path)
    verifier = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(verifier)
    return verifier


_OTHER = _other_verifier()
VERIFIERS = 'our own verifier' + (' and icrc_verify.py' if _OTHER else ' (icrc_verify.py is not here)')


def bad_icrc(found):
    """Those of the packets whose ICRC is wrong by any verifier, or that are cut short."""
    bad = [p for p in found if not p.icrc_ok]
    if _OTHER:
        bad += [p for p in found if p.icrc_ok and not _OTHER.check(p.frame)['ok']]
    return bad
