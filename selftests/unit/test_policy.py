#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Reads policy files with the tool, built with sanitisers: each complaint, the examples, what is printed reads again.

policy/faults has wrong files, each with what must be said about it, policy/warnings some that are right, but will
hardly do what they are for; `test_policy.py --write` says it anew, to be looked at before it is committed.
"""

import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OUT = os.environ.get('PROGRAMS', os.path.join(ROOT, 'build', 'selftests')) + '/cli'
TOOL = os.path.join(OUT, 'rocepath')
FAULTS = os.path.join(HERE, 'policy', 'faults')
WARNINGS = os.path.join(HERE, 'policy', 'warnings')
EXAMPLES = sorted(glob.glob(os.path.join(ROOT, 'docs', 'examples', '*.yaml')))
ENV = dict(os.environ, ASAN_OPTIONS='detect_leaks=1')
MUTATIONS = 300


def check(text, *words):
    """(exit code, output, errors) of `rocepath check` of a text."""
    done = subprocess.run([TOOL, 'check', '-', *words], input=text.encode('utf-8', 'surrogateescape'),
                          capture_output=True, timeout=60, check=False, env=ENV)
    err = done.stderr.decode('utf-8', 'surrogateescape')
    # of the kernel, not of the file
    err = re.sub('^rocepath: note: this kernel has no TCX .*\n', '', err)
    return done.returncode, done.stdout.decode('utf-8', 'surrogateescape'), err


def true(value, what):
    """Fail unless it is true."""
    if not value:
        raise AssertionError(what)


def read(path):
    """A file's text, whatever bytes it has."""
    with open(path, encoding='utf-8', errors='surrogateescape', newline='') as file:
        return file.read()


def cases(path):
    """Each (name, file, complaints)."""
    for part in read(path).split('=== ')[1:]:
        name, rest = part.split('\n', 1)
        text, said = rest.split('~~~\n', 1)
        yield name, text, said


def write():
    """Say anew what is said about each file."""
    for path in (FAULTS, WARNINGS):
        parts = ['=== %s\n%s~~~\n%s' % (name, text, check(text)[2]) for name, text, _ in cases(path)]
        with open(path, 'w', encoding='utf-8', errors='surrogateescape', newline='') as file:
            file.write(''.join(parts))


def test_faults():
    """What is wrong is said with its place and what would be right, to the character."""
    for name, text, said in cases(FAULTS):
        rc, out, err = check(text)
        true(rc == 1 and not out, '%s: %d %s' % (name, rc, out))
        true(err == said, '%s:\n%s\nbut expected:\n%s' % (name, err, said))
        true(re.match(r'<stdin>:(\d+:\d+:)? ', err), '%s: no place: %s' % (name, err))


def test_warnings():
    """What is right but hardly meant is said with its place as well, and all the same accepted."""
    for name, text, said in cases(WARNINGS):
        rc, out, err = check(text)
        true(rc == 0 and not out, '%s: %d %s' % (name, rc, out))
        true(err == said, '%s:\n%s\nbut expected:\n%s' % (name, err, said))
        rc, out, err = check(text, '-j')
        found = ['<stdin>:%(line)d:%(column)d: warning: %(text)s' % row for row in json.loads(out) if row['warning']]
        true(rc == 0 and found == re.findall('^<stdin>.*', said, re.M), '%s: %s' % (name, out))


def messages():
    """The formats of all complaints about what a file says."""
    for path in ('read', 'check', 'value', 'warn'):
        text = read(os.path.join(ROOT, 'user', 'policy', path + '.c'))
        text = re.sub(r'"\s*PRI[ux]64\s*"', 'lu', text)
        text = re.sub(r'"\s*PRI[ux]64', 'lu"', text)
        for call in re.finditer(r'(?:rp_report|complain|rp_error_set|warn)\((.*?)\);', text, re.S):
            found = re.search(r'"((?:[^"\\]|\\.)*)"', call[1])
            if found and found[1] not in ('%s', 'out of memory'):
                yield found[1]


def test_each_message():
    """No complaint is without a test."""
    said = '\n'.join(complaint for path in (FAULTS, WARNINGS) for _, _, complaint in cases(path)) + test_two_files.said
    for message in messages():
        pattern = re.sub(r'%+\\?-?\d*[a-z]+', '.*', re.escape(message).replace(r'\%', '%'))
        true(re.search(pattern, said), 'no fault makes it say: %s' % message)


def load(*files):
    """(exit code, errors) of `rocepath check` with these as /etc/rocepath, in a mount namespace."""
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(directory + '/conf.d')
        for path, text in files:
            with open(os.path.join(directory, path), 'w', encoding='utf-8') as file:
                file.write(text)
        script = 'mkdir -p /etc/rocepath && mount --bind %s /etc/rocepath && exec %s check' % (directory, TOOL)
        done = subprocess.run(['unshare', '-m', 'bash', '-c', script], capture_output=True, timeout=60,
                              check=False, env=ENV)
    return done.returncode, done.stderr.decode()


def test_two_files():
    """conf.d adds to lists, in the order of names; nothing is said twice."""
    if os.geteuid():
        raise PermissionError('it needs root')
    main = 'version: 1\nclasses:\n  - name: a\npacing: {rate: 1Gbit}\n'
    rule = 'version: 1\nrules:\n  - {name: %s, %sclass: a}\n'
    rc, err = load(('rocepath.yaml', main), ('conf.d/1.yaml', rule % ('x', 'match: {uid: 1}, ')),
                   ('conf.d/2.yaml', rule % ('y', '')), ('conf.d/README', 'not read'))
    true(rc == 0 and not err, err)
    rc, err = load(('rocepath.yaml', main), ('conf.d/2.yaml', rule % ('x', 'match: {uid: 1}, ')),
                   ('conf.d/1.yaml', rule % ('y', '')))
    true(rc == 1 and '/etc/rocepath/conf.d/2.yaml:3:12: rule \'x\' is never reached' in err, err)
    rc, err = load(('rocepath.yaml', main), ('conf.d/1.yaml', 'version: 1\nclasses:\n  - name: a\n'))
    true(rc == 1 and "conf.d/1.yaml:3:11: there is a class 'a' already, in /etc/rocepath/rocepath.yaml:3" in err, err)
    rc, err = load(('rocepath.yaml', main), ('conf.d/1.yaml', 'version: 1\npacing: {rate: 2Gbit}\n'))
    true(rc == 1 and 'pacing is already given in /etc/rocepath/rocepath.yaml:4' in err, err)
    test_two_files.said = err
    rc, err = load()
    true(rc == 1 and 'there is no /etc/rocepath/rocepath.yaml' in err, err)


test_two_files.said = ''


def test_examples():
    """Each example is right, and what is printed of it reads again and means the same."""
    true(len(EXAMPLES) >= 5, 'examples: %s' % EXAMPLES)
    for path in EXAMPLES:
        rc, full, err = check(read(path), 'effective')
        true(rc == 0 and not err, '%s: %s' % (path, err))
        rc, again, err = check(full, '--effective')
        true(rc == 0 and not err and again == full, '%s: %s\n%s' % (path, err, again))


def test_defaults():
    """Each default of pacing, patterns and DCQCN stands in the man page, where its key does."""
    out = check('version: 1\n', 'effective')[1]
    page = read(os.path.join(ROOT, 'docs', 'rocepath.yaml.5')).replace('\\fR|\\fI', '|')
    said = dict(re.findall(r'^\.BI (\S+): .*\n((?:(?!\.T[PQ]|\.PP|\.S[HS]).*\n)*)', page, re.M))
    count = 0
    for section in ('pacing', 'patterns', 'dcqcn'):
        for key, value in re.findall(r'^  (\S+): (\S+)$', re.search(r'^%s:\n((?:  .*\n)+)' % section, out, re.M)[1], re.M):
            true(re.search(r'[Dd]efault\n?(?:\.BR? | )%s\b' % re.escape(value), said[key]),
                 '%s.%s is %s by default, and the man page says: %s' % (section, key, value, said[key]))
            count += 1
    true(count == 22, '%d defaults' % count)


def test_mutations():
    """Whatever a file says, the tool accepts it or complains; it neither crashes nor leaks."""
    chance = random.Random(4791)
    texts = [read(path) for path in EXAMPLES]
    for _ in range(MUTATIONS):
        text = list(chance.choice(texts))
        for _ in range(chance.randint(1, 8)):
            at = chance.randrange(len(text))
            what = chance.randrange(4)
            if what == 0:
                text[at] = chance.choice('-:[]{}#&*!|>\'"%@`,? \n\t0aé\0')
            elif what == 1:
                del text[at:at + chance.randint(1, 20)]
            elif what == 2:
                text[at:at] = text[at:at + chance.randint(1, 40)] * chance.randint(1, 3)
            else:
                text[at:at] = chance.choice(['&a ', '*a', '- ', '{', '[', ': ', '"', '!!int ', '---\n', '...\n'])
        rc, out, err = check(''.join(text))
        err = re.sub(r'^<stdin>:\d+:\d+: warning: .*\n.*\n.*\n', '', err, flags=re.M)
        true(rc in (0, 1) and not out, 'exit code %d: %s' % (rc, err))
        true('Sanitizer' not in err and 'runtime error' not in err, err + ''.join(text))
        true((rc == 0) == (not err), 'exit code %d: %s' % (rc, err))


def test_bounds():
    """A file that is too long, or deep, or wide is refused."""
    true('longer than' in check('version: 1\n' + '#' * (256 << 10))[2], 'long')
    true(check('version: 1\nclasses: ' + '[' * 5000)[0] == 1, 'deep')
    rc, _, err = check('version: 1\nclasses: &a [*a]\n')
    true(rc == 1 and 'Sanitizer' not in err, err)
    many = 'version: 1\nadmit:\n  peers: [%s]\n' % ', '.join('10.%d.%d.0/24' % (i >> 8, i & 255) for i in range(5000))
    true('more than 4096' in check(many)[2], 'wide')
    rc, _, err = check('version: 1\ninterfaces: [%s]\n' % ', '.join(['a/b'] * 50))
    true(err.count('a character') == 20 and 'there is more' in err, err)


TESTS = [test_faults, test_warnings, test_two_files, test_each_message, test_examples, test_defaults, test_mutations, test_bounds]


def main():
    """Build the tool, run all tests; KTAP to stdout."""
    subprocess.run(['make', '-s', '-C', ROOT + '/user', 'O=' + OUT, 'SAN=1'], check=True, stdout=sys.stderr)
    if sys.argv[1:] == ['--write']:
        write()
        return 0
    failed = 0
    print('KTAP version 1\n1..%d' % len(TESTS))
    for number, test in enumerate(TESTS, 1):
        try:
            test()
        except PermissionError as why:
            print('ok %d %s # SKIP %s' % (number, test.__name__, why))
        except (AssertionError, LookupError, TypeError, ValueError, OSError, subprocess.SubprocessError) as error:
            failed += 1
            print('# %s' % str(error).replace('\n', '\n# '))
            print('not ok %d %s' % (number, test.__name__))
        else:
            print('ok %d %s' % (number, test.__name__))
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
