#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the tool, built with sanitisers, without the module: usage, errors, completion, man page."""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.environ.get('PROGRAMS', os.path.join(ROOT, 'build', 'selftests')) + '/cli'
TOOL = os.path.join(OUT, 'rocepath')
# it exits with memory in hand; and a process with a secret may not be looked at
ENV = dict(os.environ, ASAN_OPTIONS='detect_leaks=0')
COMMANDS = ('doctor', 'check', 'apply', 'try', 'diff', 'show', 'clean', 'status', 'run', 'top', 'monitor', 'version', 'help')  # objects without a verb
LOADED = os.path.isdir('/sys/module/rocepath')


class Skip(Exception):
    """The test makes no sense here."""


def run(*words, stdin=b'', stdout=subprocess.PIPE):
    """(exit code, output, errors) of the tool."""
    done = subprocess.run([TOOL, *words], input=stdin, stdout=stdout, stderr=subprocess.PIPE,
                          timeout=60, check=False, env=ENV)
    return done.returncode, (done.stdout or b'').decode(), done.stderr.decode()


def true(value, what):
    """Fail unless it is true."""
    if not value:
        raise AssertionError(what)


def fails(rc, why, *words, stdin=b''):
    """The tool says why, in one line, and nothing else."""
    got, out, err = run(*words, stdin=stdin)
    line = ' '.join(words)
    true(got == rc, '%s: exit code %d: %s' % (line, got, err))
    true(not out, '%s: output: %s' % (line, out))
    true(re.fullmatch(r'rocepath: [^\n]+\n', err), '%s: not one line: %r' % (line, err))
    true(why in err, '%s: %r lacks %r' % (line, err, why))


def words_after(*words):
    """What completion offers."""
    rc, out, err = run('completion-words', *words)
    true(rc == 0 and not err, 'completion-words %s: %s' % (' '.join(words), err))
    return out.split()


def verbs():
    """Each (object, verb) that there is."""
    for name in words_after():
        if name in COMMANDS:
            yield (name,)
            continue
        for verb in words_after(name):
            yield name, verb


def keywords(*words):
    """Of a verb; after its subject, where it needs one."""
    found = [word for word in words_after(*words) if not word.startswith('@')]
    return found or words_after(*words, 'subject')


def test_usage():
    """-h and help say all that the grammar has."""
    for words in (('-h',), ('--help',), ('help',)):
        rc, out, err = run(*words)
        true(rc == 0 and not err, '%s: %d %s' % (words, rc, err))
        for name in words_after():
            true(re.search(r'^  %s\b' % name, out, re.M), '%s lacks %s' % (words, name))
    for words in verbs():
        if words[0] == 'help':
            continue
        rc, out, err = run('help', words[0])
        true(rc == 0 and not err, 'help %s: %d %s' % (words[0], rc, err))
        true('rocepath ' + ' '.join(words) in out, 'help %s lacks %s' % (words[0], words))
        for keyword in keywords(*words):
            true(re.search(r'^        %s ' % keyword, out, re.M), 'help lacks ' + keyword)
        page, section = re.search(r'^see (?:rocepath(\S*)\(\d\)(?:, ([A-Z]+),)?|docs/)', out, re.M).groups()
        if section:
            with open(os.path.join(ROOT, 'docs', 'rocepath%s.5' % page), encoding='utf-8') as file:
                true('\n.SH %s\n' % section in file.read(), 'help %s: there is no section %s' % (words[0], section))
    out = run('help', 'drop')[1]
    true('rocepath drop show [all]\n' in out, out)
    true(max(len(line) for line in run('help')[1].splitlines()) <= 100, 'lines of help are too long')


def man_page():
    """The text of the man page, without its markup."""
    with open(os.path.join(ROOT, 'docs', 'rocepath.8'), encoding='utf-8') as file:
        text = file.read()
    text = re.sub(r'\\f[A-Z]', '', text).replace('\\-', '-')
    return re.sub(r'^\.(B|I|BR|BI|IR|RI|RB) ', '', text, flags=re.M).replace('"', '')


def test_man_page():
    """The man page has each verb and keyword, and none that does not exist."""
    text = man_page()
    sections = dict(re.findall(r'^\.SS (\w+)\n(.*?)(?=^\.S[SH] )', text, re.M | re.S))
    true(set(sections) == set(words_after()), 'sections: %s' % sorted(sections))
    real = {}
    for words in verbs():
        real.setdefault(words[0], set()).update(
            k for k in ([] if words[0] == 'help' else keywords(*words)) if k != 'dev')
    for name, body in sections.items():
        documented = set(re.findall(r'^\.T[PQ]\n([\w-]+)[ \n]', body, re.M)) - {'dev'}
        true(documented == real[name], '%s: %s, but %s' % (name, sorted(documented),
                                                         sorted(real[name])))
    synopsis = re.search(r'^\.SH SYNOPSIS\n(.*?)^\.SH', text, re.M | re.S)[1]
    for words in verbs():
        true(words[0] in synopsis and words[-1] in synopsis, 'synopsis lacks %s' % (words,))


def test_usage_errors():
    """What is not understood ends with 2, and the right form."""
    fails(2, 'did you mean device', 'devise')
    fails(2, 'ambiguous: port, peer, path', 'p', 'show')
    fails(2, 'unknown option', '-x')
    fails(2, 'unknown option', '--jsno', 'device')
    fails(2, 'write 3us, 3ms or 3s, or auto', 'device', 'set', 'rp0', 'gap-timeout', '3')
    fails(2, 'did you mean gap-timeout', 'device', 'set', 'rp0', 'gap-timout', '3ms')
    fails(2, 'evs must be 1 to 256', 'device', 'set', 'rp0', 'evs', '257')
    fails(2, 'there are sport, flowlabel, keep', 'device', 'set', 'rp0', 'entropy', 'x')
    fails(2, 'longer than 15', 'device', 'set', 'rp0', 'scheduler', 'x' * 16)
    fails(2, 'nothing to set', 'device', 'set', 'rp0')
    fails(2, 'nothing to set', 'key', 'set', 'dev', 'rp0', 'id', '1')
    fails(2, 'needs the name of a port', 'port', 'set')
    fails(2, 'id must be 0 to 63', 'class', 'set', 'dev', 'rp0', 'id', '64', 'scheduler', 'flow')
    fails(2, 'unknown keyword \'secret\'', 'key', 'set', 'dev', 'rp0', 'id', '1', 'secret', '00')
    fails(2, 'write 0.5%, or never', 'device', 'set', 'rp0', 'loss-threshold', '0.5')
    fails(2, 'report-interval must be 100us to 1s', 'device', 'set', 'rp0', 'report-interval', '2s')
    fails(2, 'such as 10.0.0.2 or fd00::2, or none', 'port', 'set', 'eth0', 'via', 'nowhere')
    path = ('path', 'set', 'dev', 'rp0', 'peer', '10.0.0.2', 'port', 'eth0')
    fails(2, 'set needs evs, such as: evs 3,7,16-31', *path)
    fails(2, 'must be 0 to 255, ranges upwards, or default', *path, 'evs', '256')
    fails(2, 'needs the address of a peer', 'path', 'discover')
    fails(2, "'rp0' is no address", 'path', 'discover', 'rp0', 'dev', 'rp0')
    fails(2, 'discover needs dev', 'path', 'discover', '10.0.0.2', '--apply')
    fails(2, 'hops must be 1 to 32', 'path', 'discover', '10.0.0.2', 'dev', 'rp0', '--hops', '33')
    fails(2, 'evs must be 1 to 256', 'rdma', 'discover', '10.0.0.2', 'dev', 'rxe0', 'evs', '257')
    fails(2, 'delay must be 100ms to 3600s', 'top', '-d', '0.05')
    fails(2, 'unknown keyword', 'top', '-2')
    fails(2, 'one word too many', 'version', 'x')
    fails(2, 'unknown object', 'help', 'nothing')
    fails(2, 'needs the name of a file', 'try')
    fails(2, 'timeout must be 1 to 86400', 'try', 'x', '--timeout', '0')
    fails(2, 'timeout \'1ms\' is not a whole number of seconds', 'try', 'x', 'timeout', '1ms')
    fails(2, 'effective is given twice', 'show', '--effective', 'effective')


def test_no_module():
    """Without the module each command says how to load it."""
    if LOADED:
        raise Skip('the module is loaded')
    key = b'00112233445566778899aabbccddeeff'
    step = 'modprobe rocepath'
    fails(1, step)
    fails(1, step, '-j')
    fails(1, step, '-j', 'device')
    for words in ('device show', 'device show rp0', 'device set rp0 evs 3', 'port show dev rp0',
                  'port set eth0 weight 1', 'peer show', 'path show peer fd00::1', 'flow show',
                  'path discover 10.0.0.2 dev rp0 --apply', 'top -1 -d 0.1', 'top',
                  'path set dev rp0 peer 10.0.0.2 port eth0 evs 3', 'port set eth0 via none', 'key show',
                  'key del dev rp0 id 1', 'class show', 'class del dev rp0 id 1', 'stats show',
                  'class set dev rp0 id 1 scheduler flow', 'monitor',
                  'key set dev rp0 id 1 secret-file -'):
        fails(1, step, *words.split(), stdin=key)
        fails(1, step, *words.split(), '-j', stdin=key)


def test_secrets():
    """A secret is 32 hex digits or 16 bytes; one that others may read is warned of."""
    words = ('key', 'set', 'dev', 'nosuchdevice', 'id', '1', 'secret-file')
    hexa = b'00112233445566778899aabbccddeeff'
    for bad in (b'', b'0' * 31, b'0' * 33, b'0' * 34, b'0' * 4096, b'g' * 32, b'x' * 15, b'x' * 17,
                b'x' * 20, b' ' + hexa, hexa + b' '):
        fails(1, 'holds no key', *words, '-', stdin=bad)
    for good in (hexa, hexa + b'\n', hexa.upper() + b'\r\n', b'\0' * 16, b'x' * 15 + b'\n'):
        rc, out, err = run(*words, '-', stdin=good)
        true(rc == 1 and not out and 'holds no key' not in err, '%r: %s' % (good, err))
    fails(1, 'No such file', *words, '/nonexistent')
    fails(1, 'Is a directory', *words, '/')
    with tempfile.NamedTemporaryFile() as file:
        file.write(hexa)
        file.flush()
        os.chmod(file.name, 0o640)
        true('chmod 600 ' + file.name in run(*words, file.name)[2], 'no warning')
        os.chmod(file.name, 0o600)
        true('chmod' not in run(*words, file.name)[2], 'warned of nothing')


def test_version():
    """Versions, as text and as JSON."""
    with open(os.path.join(ROOT, 'VERSION'), encoding='ascii') as file:
        version = file.read().strip()
    for option in ('-V', '--version'):
        true(run(option) == (0, 'rocepath %s\n' % version, ''), option)
    rc, out, _ = run('version')
    true(rc == 0 and version in out, out)
    for words in ('-j version', '-p version', '-jp version', 'version -j', 'version --pretty'):
        rc, out, _ = run(*words.split())
        parsed = json.loads(out)
        true(rc == 0 and parsed['tool'] == version, out)
        true((parsed['kernel_family_version'] is None) or LOADED, out)


def test_full_disk():
    """Output that cannot be written is a failure."""
    with open('/dev/full', 'wb') as full:
        rc, _, err = run('help', stdout=full)
    true(rc == 1 and 'could not be written' in err, '%d %s' % (rc, err))


def complete(*words):
    """What bash would offer for the last of the words."""
    script = '''
        PATH=%s:$PATH
        source %s/user/rocepath.bash-completion
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _rocepath; printf '%%s\\n' "${COMPREPLY[@]}"''' % (OUT, ROOT)
    done = subprocess.run(['bash', '-c', script, 'bash', 'rocepath', *words],
                          capture_output=True, timeout=60, check=True)
    true(not done.stderr, done.stderr.decode())
    return done.stdout.decode().split()


def test_completion():
    """bash completes objects, verbs, keywords, values, options and files."""
    true(complete('') == words_after(), complete(''))
    true(complete('-p', 'pe') == ['peer'], complete('-p', 'pe'))
    true(complete('--js') == ['--json'], complete('--js'))
    true(complete('device', 's') == ['show', 'set'], complete('device', 's'))
    true(complete('device', 'set', 'rp0', 'gap-f') == ['gap-floor'], 'keyword')
    true(complete('device', 'set', 'rp0', 'entropy', '') == ['sport', 'flowlabel', 'keep'], 'value')
    true(complete('path', '-j', 'show', 'pe') == ['peer'], 'an option between')
    true(complete('check', '--') == [], complete('check', '--'))
    true('effective' in complete('check', 'x.yaml', ''), 'a flag')
    true(complete('check', 'x.yaml', 'effective', '') == [], 'a flag twice')
    true(complete('try', 'x.yaml', '--timeout', '') == ['120s'], 'a value')
    true('evs' not in complete('device', 'set', 'rp0', 'evs', '3', ''), 'given twice')
    with tempfile.TemporaryDirectory() as directory:
        open(directory + '/secret', 'w', encoding='ascii').close()
        found = complete('key', 'set', 'dev', 'rp0', 'secret-file', directory + '/s')
        true(found == [directory + '/secret'], found)


def test_install():
    """install puts the tool, its man page and its completion under DESTDIR."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(['make', '-s', '-C', ROOT + '/user', 'O=' + OUT, 'SAN=1', 'PREFIX=/usr',
                        'DESTDIR=' + directory, 'install'], check=True, stdout=subprocess.DEVNULL)
        for path in ('sbin/rocepath', 'share/man/man8/rocepath.8', 'share/man/man5/rocepath.yaml.5',
                     'lib/systemd/system/rocepath.service',
                     'share/bash-completion/completions/rocepath'):
            true(os.path.isfile('%s/usr/%s' % (directory, path)), path)


def test_unit():
    """The systemd unit starts what was installed, wherever that is; by default, too."""
    for prefix in ([], ['PREFIX=/usr'], ['PREFIX=/opt/rocepath']):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(['make', '-s', '-C', ROOT + '/user', 'O=' + OUT, 'SAN=1', 'DESTDIR=' + directory, 'install']
                           + prefix, check=True, stdout=subprocess.DEVNULL)
            found = subprocess.run(['find', directory, '-name', 'rocepath.service'], capture_output=True, check=True, text=True)
            with open(found.stdout.strip(), encoding='ascii') as file:
                programs = re.findall(r'^Exec\w+=(\S+)', file.read(), re.M)
            true(len(programs) == 2, programs)
            for path in programs:
                true(os.access(directory + path, os.X_OK), '%s: %s is not there' % (prefix, path))


TESTS = [test_usage, test_man_page, test_usage_errors, test_no_module, test_secrets, test_version,
         test_full_disk, test_completion, test_install, test_unit]


def main():
    """Build the tool, run all tests; KTAP to stdout."""
    subprocess.run(['make', '-s', '-C', ROOT + '/user', 'O=' + OUT, 'SAN=1'], check=True,
                   stdout=sys.stderr)
    failed = 0
    print('KTAP version 1\n1..%d' % len(TESTS))
    for number, test in enumerate(TESTS, 1):
        try:
            test()
        except Skip as why:
            print('ok %d %s # SKIP %s' % (number, test.__name__, why))
        except (AssertionError, LookupError, TypeError, ValueError, OSError,
                subprocess.SubprocessError) as error:
            failed += 1
            print('# %s' % str(error).replace('\n', '\n# '))
            print('not ok %d %s' % (number, test.__name__))
        else:
            print('ok %d %s' % (number, test.__name__))
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
