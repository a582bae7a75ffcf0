# SPDX-License-Identifier: GPL-2.0
"""A generic netlink family as its YAML specification describes it, in a machine that has /bin/genl.

    rdma = Family(m, 'rocepath_rdma')
    rdma.do('device-set', name='rxe0', steering=1)
    for row in rdma.dump('path-get'):       # {'device': 'rxe0', 'state': 'up', ...}
    with rdma.events('events') as events:   # events.rows: [(ns, {...})], of CLOCK_REALTIME

Enums are words, addresses of 16 bytes are text, other binaries are bytes.
"""

import contextlib
import ipaddress
import os
import struct

import yaml

from .initrd import TREE

NUMBERS = {'u8': '<B', 'u16': '<H', 'u32': '<I', 'u64': '<Q'}


def _text(address):
    """Of 16 bytes."""
    found = ipaddress.IPv6Address(address)
    return str(found.ipv4_mapped or found)


def _packed(address):
    """16 bytes of an address."""
    found = ipaddress.ip_address(address)
    return bytes(10) + b'\xff\xff' + found.packed if found.version == 4 else found.packed


class Events:
    """What a listener has heard."""

    def __init__(self, family, job, sets):
        self.family, self.job, self.sets = family, job, sets

    @property
    def rows(self):
        """[(when it came, attributes)]."""
        lines = [line.split() for line in self.job.lines() if line != 'ready']
        return [(int(ns), self.family.decode(self.sets, bytes.fromhex(data))) for ns, data in lines]


class Family:
    """A family in machine `m`."""

    def __init__(self, m, name):
        self.m, self.name = m, name
        path = os.path.join(TREE, 'include/uapi/linux/%s.yaml' % name)
        with open(path, encoding='utf-8') as file:
            spec = yaml.safe_load(file)
        self.enums = {d['name']: [e['name'] if isinstance(e, dict) else e for e in d['entries']]
                      for d in spec['definitions'] if d['type'] == 'enum'}
        self.sets = {s['name']: s['attributes'] for s in spec['attribute-sets']}
        # Commands are numbered from 1, as the header does it.
        self.commands = {op['name']: (i + 1, op.get('attribute-set'))
                         for i, op in enumerate(spec['operations']['list'])}

    def _value(self, attribute, data):
        kind = attribute['type']
        if kind in NUMBERS:
            value = struct.unpack(NUMBERS[kind], data)[0]
            return self.enums[attribute['enum']][value] if 'enum' in attribute else value
        if kind == 'string':
            return data.rstrip(b'\0').decode()
        if kind == 'nest':
            return self.decode(attribute['nested-attributes'], data)
        return _text(data) if len(data) == 16 else data

    def decode(self, which, data):
        """A dict of the attributes of a set; those that may come more than once are lists."""
        found, at = {}, 0
        while at < len(data):
            length, kind = struct.unpack_from('<HH', data, at)
            attribute = self.sets[which][(kind & 0x3fff) - 1]
            if attribute['type'] != 'pad':
                value = self._value(attribute, data[at + 4:at + length])
                if attribute.get('multi-attr'):
                    found.setdefault(attribute['name'], []).append(value)
                else:
                    found[attribute['name']] = value
            at += (length + 3) & ~3
        return found

    def _bytes(self, attribute, value):
        kind = attribute['type']
        if kind in NUMBERS:
            if isinstance(value, str):
                value = self.enums[attribute['enum']].index(value)
            return struct.pack(NUMBERS[kind], value)
        if kind == 'string':
            return value.encode() + b'\0'
        if kind == 'nest':
            return self.encode(attribute['nested-attributes'], value)
        return value if isinstance(value, bytes) else _packed(value)

    def encode(self, which, values):
        """The reverse of decode; names may have _ for -."""
        data = b''
        for name, value in values.items():
            kind = next(i for i, a in enumerate(self.sets[which]) if a['name'] == name.replace('_', '-'))
            attribute = self.sets[which][kind]
            flag = 0x8000 if attribute['type'] == 'nest' else 0
            for one in value if isinstance(value, list) else [value]:
                body = self._bytes(attribute, one)
                data += struct.pack('<HH', 4 + len(body), (kind + 1) | flag) + body
                data += bytes(-len(body) % 4)
        return data

    def _run(self, command, how, values, check=True):
        number, which = self.commands[command]
        data = self.encode(which, values).hex() or '-'
        result = self.m.run('genl %s %d %s %s' % (self.name, number, how, data), check=check)
        return result, [self.decode(which, bytes.fromhex(line)) for line in result.out.split()]

    def do(self, command, **values):
        """A request; what it answers, or None. Raises when it is refused."""
        rows = self._run(command, 'do', values)[1]
        return rows[0] if rows else None

    def refusal(self, command, **values):
        """The kernel's words to a request that it is to refuse, '' if it did not."""
        result = self._run(command, 'do', values, check=False)[0]
        return result.err.strip() if result.rc else ''

    def dump(self, command, **values):
        """All rows."""
        return self._run(command, 'dump', values)[1]

    @contextlib.contextmanager
    def events(self, group, which='event'):
        """Listen to a multicast group."""
        job = self.m.spawn('exec genl %s %s listen' % (self.name, group))
        self.m.poll(lambda: 'ready' in job.lines(), 10, 'listens')
        try:
            yield Events(self, job, which)
        finally:
            job.kill()
            job.wait(10, check=False)
