#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Holds the YAML specifications of the netlink families against all that must agree with them.

    rocepath.yaml <-> rocepath.h            enums, names, order, types as the comments say
                  <-> kmod/netlink*.c       policies: types, ranges, what may be asked; privileges
                  <-> user/sets.c           what the tool reads
                  <-> user/commands.c       what the tool writes, and its bounds

    rocepath_rdma.yaml <-> rocepath_rdma.h
                       <-> kmod/rdma/*netlink*.c
"""

import os
import re
import sys

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UAPI = 'include/uapi/linux/'
SIZES = {'sizeof(__be32)': '4', 'sizeof(struct in6_addr)': '16'}
LIMITS = {'u8': 0xff, 'u32': 0xffffffff, 'u64': 0xffffffffffffffff}


def read(path):
    """The text of a file of the repository."""
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def upper(*words):
    """The C name of words of the specification."""
    return '_'.join(words).upper().replace('-', '_')


def plain(text):
    """C without its comments, and with one space where there was more."""
    return re.sub(r'\s+', ' ', re.sub(r'/\*.*?\*/', ' ', text, flags=re.S))


class Header:
    """Constants and enums of the uapi header."""

    def __init__(self, text, word):
        self.defines = {n: v.strip('"') for n, v in
                        re.findall(r'#define (ROCEPATH_\w+)\s+("\w+"|\d+)', text)}
        self.enums = {}
        self.comments = {}
        for name, body in re.findall(r'enum %s_(\w+) \{(.*?)\n\};' % word, text, re.S):
            self.enums[name] = self._members(body)
            self.comments[name] = dict(re.findall(r'(\w+)(?: = [^,]*)?,\s*/\* (.*?)\s\*/', body,
                                                  re.S))

    @staticmethod
    def _members(body):
        members, value = {}, 0
        for entry in plain(body).split(','):
            name, _, given = (part.strip() for part in entry.partition('='))
            if not name:
                continue
            if given:
                value = int(given) if given.isdigit() else members[given.split(' ')[0]] - 1
            members[name] = value
            value += 1
        return members

    def number(self, expression):
        """The value of a constant expression of C."""
        names = dict({n: int(v) for n, v in self.defines.items() if v.isdigit()},
                     USEC_PER_SEC=1000000)
        for members in self.enums.values():
            names.update(members)
        for text, size in SIZES.items():
            expression = expression.replace(text, size)
        expression = re.sub(r'\b(0x[0-9a-fA-F]+|\d+)[uU]?[lL]*\b', r'\1', expression)
        expression = re.sub(r'\b[A-Z]\w+\b', lambda m: str(names[m[0]]), expression)
        if not re.fullmatch(r'[0-9a-fx+\-*<>() ]+', expression):
            raise ValueError('not a number: ' + expression)
        return eval(expression, {'__builtins__': {}})  # pylint: disable=eval-used


class Spec:
    """The specification, with each set's attributes by name."""

    def __init__(self, text, header):
        self.yaml = yaml.safe_load(text)
        self.header = header
        self.definitions = {d['name']: d for d in self.yaml['definitions']}
        self.sets = {s['name']: {a['name']: a for a in s['attributes']}
                     for s in self.yaml['attribute-sets']}
        self.ops = self.yaml['operations']['list']

    def _asked(self):
        """(set, attribute) of all requests, but for what is in nests."""
        for op in self.ops:
            for kind in ('do', 'dump'):
                for attr in op.get(kind, {}).get('request', {}).get('attributes', []):
                    yield op['attribute-set'], attr

    def nested(self):
        """Sets that a request may hold a nest of."""
        attrs = [self.sets[name][attr] for name, attr in self._asked()]
        return {attr['nested-attributes'] for attr in attrs if attr['type'] == 'nest'}

    def requested(self, name):
        """Attributes of a set that some request may hold."""
        found = {attr for which, attr in self._asked() if which == name}
        if name in self.nested():
            found.update(a['name'] for a in self.sets[name].values()
                         if a['type'] != 'pad' and 'read only' not in a.get('doc', ''))
        return found

    def bounds(self, attr):
        """The least and the most that a numeric attribute may be."""
        checks = attr.get('checks', {})
        most = checks.get('max', LIMITS[attr['type']])
        if 'enum' in attr:
            most = len(self.definitions[attr['enum']]['entries']) - 1
        return self._value(checks.get('min', 0)), self._value(most)

    def length(self, attr):
        """The exact or greatest length of an attribute, or None."""
        checks = attr.get('checks', {})
        return self._value(checks.get('exact-len', checks.get('max-len')))

    def _value(self, value):
        if not isinstance(value, str):
            return value
        name, _, minus = value.partition(' - ')
        return self.definitions[name]['value'] - int(minus or 0)


class Family:
    """A family: its name, header and specification, and where the kernel's side of it is."""

    def __init__(self, word, directory, files):
        self.word, self.directory, self.files = word, directory, files
        self.header = Header(read(UAPI + word + '.h'), word)
        self.spec = Spec(read(UAPI + word + '.yaml'), self.header)

    def attribute(self, name):
        """What C names of attributes of a set begin with."""
        return upper(self.word, 'a', name)


ROCEPATH = Family('rocepath', 'kmod', r'netlink\w*\.c')
RDMA = Family('rocepath_rdma', 'kmod/rdma', r'\w*netlink\w*\.c')
HEADER, SPECIFIED = ROCEPATH.header, ROCEPATH.spec


def equal(a, b, what):
    """Fail unless they are the same."""
    if a != b:
        raise AssertionError('%s: %r, but %r' % (what, a, b))


def test_names(family):
    """The family, its version, its group and its constants are the header's."""
    spec = family.spec.yaml
    expected = {upper(family.word, 'family-name'): spec['name'],
                upper(family.word, 'family-version'): '1'}
    for group in spec['mcast-groups']['list']:
        expected[upper(family.word, 'mcgrp', group['name'])] = group['name']
    for definition in spec['definitions']:
        if definition['type'] == 'const':
            expected[upper(family.word, definition['name'])] = str(definition['value'])
    equal(family.header.defines, expected, 'constants')


def test_enums(family):
    """Each enum has the same entries, in the same order."""
    seen = set()
    for definition in family.spec.yaml['definitions']:
        if definition['type'] != 'enum':
            continue
        name = upper(definition['enum-name']).lower().removeprefix(family.word + '_')
        prefix = definition.get('name-prefix', '%s-%s-' % (family.word, definition['name']))
        entries = {upper(prefix.rstrip('-'), e['name']): i
                   for i, e in enumerate(definition['entries'])}
        equal(family.header.enums[name], entries, 'enum ' + name)
        seen.add(name)
    others = {n for n in family.header.enums if n != 'cmd' and not n.startswith('a_')}
    equal(others, seen, 'enums')


def test_commands(family):
    """Each command has its number."""
    prefix = upper(family.word, 'cmd')
    members = {prefix + '_UNSPEC': 0}
    for i, op in enumerate(family.spec.ops, 1):
        members[upper(prefix, op['name'])] = i
    last = len(family.spec.ops)
    members.update({'__%s_MAX' % prefix: last + 1, prefix + '_MAX': last})
    equal(family.header.enums['cmd'], members, 'commands')


def test_attribute_numbers(family):
    """Each attribute has its number."""
    for name, attrs in family.spec.sets.items():
        prefix = family.attribute(name)
        members = {prefix + '_UNSPEC': 0}
        members.update({upper(prefix, a): i for i, a in enumerate(attrs, 1)})
        members.update({'__%s_MAX' % prefix: len(attrs) + 1, prefix + '_MAX': len(attrs)})
        equal(family.header.enums[upper('a', name).lower()], members, 'attributes of ' + name)
    equal({n for n in family.header.enums if n.startswith('a_')},
          {upper('a', n).lower() for n in family.spec.sets}, 'attribute sets')


def comment_of(family, attr):
    """What the header's comment must begin with."""
    if attr['type'] == 'nest':
        return 'nest of ' + upper('a', attr['nested-attributes']).lower()
    if 'exact-len' in attr.get('checks', {}):
        return '%d bytes' % family.spec.length(attr)
    return attr['type']


def test_attribute_types(family):
    """Types and enums are those that the header's comments name."""
    for name, attrs in family.spec.sets.items():
        comments = family.header.comments[upper('a', name).lower()]
        for attr in attrs.values():
            if attr['type'] == 'pad':
                continue
            what = upper(family.attribute(name), attr['name'])
            comment = comments[what]
            equal(re.match(r'nest of \w+|\d+ bytes|\w+', comment)[0], comment_of(family, attr), what)
            enum = re.search(r'(?<!bit )enum %s_(\w+)' % family.word, comment)
            equal(enum and enum[1].replace('_', '-'), attr.get('enum'), what)


def kernel_text(family):
    """All of the kernel's netlink code, without comments."""
    directory = os.path.join(ROOT, family.directory)
    files = sorted(f for f in os.listdir(directory) if re.fullmatch(family.files, f))
    if not files:
        raise AssertionError('no netlink code in ' + family.directory)
    return plain(''.join(read(os.path.join(family.directory, f)) for f in files))


def policy_of(family, entry, ranges):
    """(type, least, most, length) of one policy entry; None where it does not say."""
    macro = re.match(r'NLA_POLICY_(MIN|MAX|FULL_RANGE|EXACT_LEN)\((.*)\)$', entry)
    if not macro:
        kind = re.search(r'\.type = NLA_(\w+)', entry)[1].lower()
        length = re.search(r'\.len = ([^},]+)', entry)
        length = length and family.header.number(length[1].strip())
        return {'nul_string': 'string', 'nested': 'nest'}.get(kind, kind), 0, LIMITS.get(kind), length
    if macro[1] == 'EXACT_LEN':
        return 'binary', None, None, family.header.number(macro[2])
    kind, bound = (part.strip() for part in macro[2].split(','))
    kind = kind.removeprefix('NLA_').lower()
    if macro[1] == 'FULL_RANGE':
        return (kind,) + ranges[bound.lstrip('&')] + (None,)
    bound = family.header.number(bound)
    return (kind, bound, LIMITS[kind], None) if macro[1] == 'MIN' else (kind, 0, bound, None)


def kernel_ranges(family, text):
    """Named ranges of numbers."""
    ranges = {}
    for name, body in re.findall(r'struct netlink_range_validation (\w+) = \{(.*?)\};', text):
        ends = dict(re.findall(r'\.(min|max) = ([^,}]+)', body))
        ranges[name] = (family.header.number(ends.get('min', '0').strip()),
                        family.header.number(ends['max'].strip()))
    return ranges


def test_kernel_policies(family):
    """The kernel takes what may be requested, of the type and in the range specified."""
    text = kernel_text(family)
    ranges = kernel_ranges(family, text)
    policies = re.findall(r'nla_policy rp_nl_(\w+)_policy\[\w+ \+ 1\] = \{(.*?),? \};', text)
    asked = {op['attribute-set'] for op in family.spec.ops if 'event' not in op}
    asked = {upper(name).lower() for name in asked | family.spec.nested()}
    equal({name for name, _ in policies}, asked, 'policies')
    for name, body in policies:
        name = name.replace('_', '-')
        entries = dict(re.findall(r'\[%s_(\w+)\] = (.*?)(?:, (?=\[)|$)' % upper(family.word, 'a'), body))
        wanted = {upper(name, a) for a in family.spec.requested(name)}
        equal(set(entries), wanted, 'what the kernel takes of ' + name)
        for c_name, entry in entries.items():
            attr = next(a for a in family.spec.sets[name].values() if upper(name, a['name']) == c_name)
            kind, least, most, length = policy_of(family, entry, ranges)
            equal(kind, attr['type'], 'type of ' + c_name)
            equal(length, family.spec.length(attr), 'length of ' + c_name)
            if kind in LIMITS:
                equal((least, most), family.spec.bounds(attr), 'range of ' + c_name)


def test_kernel_operations(family):
    """The kernel has each operation, as do, as dump, and with the privilege specified."""
    found = {}
    for kind, name, attrs, do, dump in re.findall(
            r'RP_OP_(GET|ADMIN)\((\w+), (\w+), (\w+), (\w+)\)', kernel_text(family)):
        if name.isupper():
            found[name] = (kind == 'ADMIN', attrs, do != 'NULL', dump != 'NULL')
    wanted = {upper(op['name']): ('admin-perm' in op.get('flags', []), op['attribute-set'],
                                  'do' in op, 'dump' in op)
              for op in family.spec.ops if 'event' not in op}
    equal(found, wanted, 'operations')


WIRES = {'NUMBER': None, 'NAMED': 'u32', 'STRING': 'string', 'ADDRESS': 'binary',
         'NESTED': 'nest', 'STATS': 'nest', 'RATIO': None}
WRITTEN_ONLY = {'KEY_SECRET', 'PATH_EVS', 'PATH_HOPS', 'PATH_COOKIE'}
# what is not simply the value of a keyword, and where it is made
MADE_IN = {'PORT_VIA6': 'port.c', 'PATH_EV': 'hops.c', 'PATH_HOPS': 'hops.c', 'PATH_COOKIE': 'hops.c'}


def test_tool_reads():
    """The tool reads each attribute, of its type, but for those that the kernel never sends."""
    found = {}
    for macro, name, rest in re.findall(
            r'\b(NUMBER|NAMED|STRING|ADDRESS|NESTED|STATS|RATIO)\(ROCEPATH_A_(\w+)(.*?)\),',
            plain(read('user/sets.c'))):
        found[name] = WIRES[macro] or rest.split(',')[1].strip().lower()
    wanted = {upper(s, a['name']): a['type'] for s, attrs in SPECIFIED.sets.items()
              for a in attrs.values() if a['type'] != 'pad'}
    for name in WRITTEN_ONLY | {'STATS_STAT'}:
        del wanted[name]
    equal(found, wanted, 'what the tool reads')


def test_tool_names():
    """The tool's words for enum values are those of the specification."""
    text = plain(read('user/sets.c'))
    for definition in SPECIFIED.yaml['definitions']:
        if definition['type'] != 'enum':
            continue
        array = 'rp_%s_names' % definition['name'].replace('-', '_')
        body = re.search(re.escape(array) + r'\[\] = \{(.*?)\};', text, re.S)[1]
        prefix = definition.get('name-prefix', 'rocepath-%s-' % definition['name']).rstrip('-')
        equal(re.findall(r'\[(\w+)\] = "([\w-]+)"', body),
              [(upper(prefix, e['name']), e['name']) for e in definition['entries']], array)


def keywords():
    """(attribute, C text) of each keyword of the tool that sets one."""
    text = plain(read('user/commands.c').replace('\\\n', '\n'))
    for body in re.findall(r'\{\s*\.name = "[^{}]*?\}', text, re.S):
        attr = re.search(r'\.attr = ROCEPATH_A_(\w+)', body)
        if attr:
            yield attr[1], body


def test_tool_writes():
    """The tool can set whatever a request may hold, within the same bounds."""
    text = read('user/commands.c')
    macros = dict(re.findall(r'#define (MAX_\w+) (\d+)', text))
    attrs = {upper(s, a['name']): a for s, found in SPECIFIED.sets.items() for a in found.values()}
    seen = set()
    for name, body in keywords():
        seen.add(name)
        attr = attrs[name]
        if attr['type'] not in LIMITS or re.search('RP_ARG_(DEVICE|PORT)', body):
            continue
        ends = dict(re.findall(r'\.(min|max) = ([^,}]+)', body))
        most = ends.get('max', '0').strip()
        most = HEADER.number(macros.get(most, most)) or LIMITS[attr['type']]
        if 'RP_ARG_CHOICE' in body:
            most = SPECIFIED.bounds(attr)[1]
        equal((HEADER.number(ends.get('min', '0').strip()), most), SPECIFIED.bounds(attr),
              'bounds of the keyword of ' + name)
    for name, file in MADE_IN.items():
        if 'ROCEPATH_A_%s,' % name not in read('user/' + file):
            raise AssertionError('user/%s does not set %s' % (file, name))
    for name in SPECIFIED.sets:
        for attr in SPECIFIED.requested(name) - {'ifindex', 'device'}:
            if upper(name, attr) not in seen | set(MADE_IN):
                raise AssertionError('no keyword sets ' + upper(name, attr))


OF_FAMILIES = [test_names, test_enums, test_commands, test_attribute_numbers, test_attribute_types,
               test_kernel_policies, test_kernel_operations]
TESTS = [(test, (family,)) for family in (ROCEPATH, RDMA) for test in OF_FAMILIES] + \
        [(test, ()) for test in (test_tool_reads, test_tool_names, test_tool_writes)]


def main():
    """Run all; KTAP to stdout."""
    failed = 0
    print('KTAP version 1\n1..%d' % len(TESTS))
    for number, (test, args) in enumerate(TESTS, 1):
        name = ' '.join([test.__name__, *(family.word for family in args)])
        try:
            test(*args)
        except (AssertionError, LookupError, TypeError, ValueError) as error:
            failed += 1
            print('# %s: %s' % (type(error).__name__, error))
            print('not ok %d %s' % (number, name))
        else:
            print('ok %d %s' % (number, name))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
